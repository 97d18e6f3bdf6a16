"""live.py BUILD - the inspector while plugins change: versions are tried in a copy of the process, come in and go.

An event stream and a connection that is kept open live through all of it, the new fields are told, and what crashes is.
"""
import http.client
import json
import os
import shutil
import sys
import tempfile
import threading

from host import Host
from spin import SPIN, build_spin, check


def fields(host):
    return [field["name"] for kind in host.call("backplane.types") if kind["type"] == "spin" for field in kind["fields"]]


def main():
    folder = tempfile.mkdtemp(prefix="inspector-")
    build_spin(folder)
    with Host(sys.argv[1], SPIN % os.path.join(os.path.abspath(sys.argv[1]), "plugins"), folder) as host:
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
