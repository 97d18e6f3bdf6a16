"""live.py BUILD - the inspector while plugins change: versions are tried in a copy of the process, come in and go.

An event stream and a connection that is kept open live through all of it, the new fields are told, and what crashes is.
"""
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

from host import Host

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
INI = """
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


def fields(host):
    return [field["name"] for kind in host.call("backplane.types") if kind["type"] == "spin" for field in kind["fields"]]


def main():
    folder = tempfile.mkdtemp(prefix="inspector-")
    build_spin(folder)
    with Host(sys.argv[1], INI % os.path.join(os.path.abspath(sys.argv[1]), "plugins"), folder) as host:
        told = []
        stream = host.events("backplane.watch+watch", {"every_ms": 50})

        def listen():
            for event in stream:
                told.append(event)
        threading.Thread(target=listen, daemon=True).start()
        kept = http.client.HTTPConnection("127.0.0.1", host.port, timeout=60)

        def ask_on_kept():
            kept.request("POST", "/", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "backplane.plugins"}))
            return {plugin["name"]: plugin for plugin in json.loads(kept.getresponse().read())["result"]}
        check("spin" in ask_on_kept(), "there is no plugin spin")
        socket = kept.sock

        rename = ('{BP_FIELD_OF(struct spin, speed)', '{BP_FIELD_OF(struct spin, speed), .doc = "new"')
        added = ("struct spin { float *angle; ", "struct spin { float *extra, *angle; ")
        field = ("static const bp_field_t fields[] = {", "static const bp_field_t fields[] = {\n    {BP_FIELD_OF(struct spin, extra)},")
        build_spin(folder, added, field)
        host.until(lambda: "extra" in fields(host), "the new field is not told")
        check(fields(host) == ["extra", "angle", "speed"], str(fields(host)))
        host.must_step()
        before = len(told)
        host.until(lambda: len(told) > before + 2, "the stream does not outlive a trial and a reload")
        check("spin" in ask_on_kept() and kept.sock is socket, "a connection does not outlive a trial and a reload")

        check(rename[0] in open(os.path.join(folder, "spin.c"), encoding="utf-8").read(), "the source has changed")
        build_spin(folder, ("    float dt = ", "    *(volatile int *)1 = 1;\n    float dt = "))
        host.until(lambda: "not reloaded" in host.output() or "refused" in host.output() or "stays" in host.output(),
                   "nothing is said of a version that crashes")
        check(fields(host) == ["extra", "angle", "speed"], "a version that crashes has come in")
        before = len(told)
        host.until(lambda: len(told) > before + 2, "the stream does not outlive a trial that crashes")
        stream = None
        kept.close()
    shutil.rmtree(folder)
    print("passed: what is reloaded is seen, and nothing is cut off")


main()
