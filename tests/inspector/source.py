"""source.py BUILD - a plugin's source is changed, tried on a clone, kept or not: backplane.try with a plugin that is
given as its source."""
import os
import shutil
import sys
import tempfile

from host import ROOT, Host, Refused

INI = """
[host]
plugin_path = %s
plugins = inspector ./spin.c
history = 64 MiB
[plugin inspector]
port = 0
[world main]
step_rate = 60
components = spin
[spawn main ten]
count = 10
components = spin
"""


def check(truth, what):
    if not truth:
        raise AssertionError(what)


def main():
    folder = tempfile.mkdtemp(prefix="source-")
    with open(os.path.join(ROOT, "examples", "plugin", "spin.c"), encoding="utf-8") as file:
        source = file.read()

    def write(text):
        with open(os.path.join(folder, "spin.c"), "w", encoding="utf-8") as file:
            file.write(text)
    write(source)
    with Host(sys.argv[1], INI % os.path.abspath(sys.argv[1] + "/plugins"), folder) as host:
        write(source.replace("c.speed[i] * dt", "2 * c.speed[i] * dt"))
        tried = host.call("backplane.try", {"plugins": ["spin"], "steps": 30})
        told = [(each["component"], each["field"], each["entities"]) for each in tried["differences"]]
        check(told == [("spin", "angle", 10)], f"a source that is tried makes the difference {told}")
        check(abs(tried["differences"][0]["largest"] - 0.5) < 1e-3, "angles grow otherwise than by the new source")
        check(host.call("backplane.reloads") == [], "a version that was only tried has come in")
        host.call("backplane.keep")
        check("reloaded spin" in host.call("backplane.reloads")[0]["text"], "what was tried is not kept")
        write(source.replace("c.speed[i] * dt", "c.speed[i] * "))
        try:
            host.call("backplane.try", {"plugins": ["spin"], "steps": 30})
            raise AssertionError("a source that does not compile is tried")
        except Refused as why:
            check("spin.c" in str(why), f"the compiler is not quoted: {why}")
        host.must_step()
    shutil.rmtree(folder)


main()
