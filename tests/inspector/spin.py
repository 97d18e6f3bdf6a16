"""spin.py - the example plugin examples/plugin/spin.c, changed and built while a host runs it."""
import os
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SPIN = """
[host]
plugins = ./spin.so inspector
plugin_path = %s
hot_reload = on
[plugin inspector]
port = 0
[world main]
step_rate = 200
components = spin
[spawn main some]
count = 10
components = spin
spin.speed = 2
"""


def check(truth, what):
    if not truth:
        raise AssertionError(what)


def build_spin(folder, *changes):
    """The example plugin with some texts of it exchanged, put in place whole."""
    with open(os.path.join(ROOT, "examples", "plugin", "spin.c"), encoding="utf-8") as file:
        source = file.read()
    for before, after in changes:
        check(before in source, f"examples/plugin/spin.c has no {before!r} any more")
        source = source.replace(before, after)
    with open(os.path.join(folder, "spin.c"), "w", encoding="utf-8") as file:
        file.write(source)
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run(compiler + ["-shared", "-fPIC", "-I", os.path.join(ROOT, "plugin_api"), os.path.join(folder, "spin.c"),
                               "-o", os.path.join(folder, "spin.new")], check=True)
    os.replace(os.path.join(folder, "spin.new"), os.path.join(folder, "spin.so"))
