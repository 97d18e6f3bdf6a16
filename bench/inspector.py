#!/usr/bin/env python3
"""inspector.py BUILD [--quick] - what the inspector costs, with a million entities: config/bubbles.ini.

    python3 bench/inspector.py build

Needs a build with the inspector; for the lines about the page, chromium with its driver. Prints a table of medians with
their bounds; "!" marks what is over its bound. Every ratio is of runs or of seconds that follow each other in turn, on
one machine.

    steps, nobody looks      whole runs of the program with --inspect and without
    steps, 100 properties    steps a second, as fast as they go: 100 properties are streamed at 10 Hz, then not, in turn
    steps, and the page      the same, and the page open in a browser on the same processors
    get, mutate              from the request to the answer, while the world steps at 60 Hz; less what a step takes on
                             average, since nothing is answered within one
    query                    a condition on one field of all rows, the world stopped; beside a plain loop over one
                             column that lists the same entities, compiled with -O3. What a call of any kind takes,
                             measured in turn with it, is taken off
    first sight              from opening the page to its first rows
    heap, bundle             of the page
"""
import ctypes
import gzip
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("inspector", "browser"):
    sys.path.insert(0, os.path.join(HERE, "..", "tests", folder))
from driver import Browser  # noqa: E402
from host import Host, config  # noqa: E402

FLOOR = """
#include <stdint.h>
#include <stddef.h>
uint32_t scan(const float *values, const uint64_t *entities, uint32_t count, float over, uint64_t *found)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        found[n] = entities[i];
        n += values[i] > over;
    }
    return n;
}
"""
FAST = 10000  # times real time: as fast as steps go

results = []


def tell(name, value, unit, bound):
    results.append((name, value, bound))
    print(f"{'!' if value > bound else ' '} {name:34} {value:10.3f} {unit:6} at most {bound}", flush=True)


def post(connection, method, params):
    connection.request("POST", "/", json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    return json.loads(connection.getresponse().read())["result"]


class Stream:
    """100 properties at 10 Hz, read by a thread and thrown away."""

    def __init__(self, host):
        self.host, self.stop = host, False
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        values = [{"entity": f"#{i}:1", "property": "position.x"} for i in range(1000, 1100)]
        for _ in self.host.events("backplane.watch+watch", {"values": values, "every_ms": 100}):
            if self.stop:
                return

    def close(self):
        self.stop = True
        self.thread.join()


def steps_a_second(host, seconds):
    begin, at = time.monotonic(), host.steps()
    time.sleep(seconds)
    return (host.steps() - at) / (time.monotonic() - begin)


def whole_runs(build, folder, rounds, steps):
    """Nanoseconds of whole runs, with the inspector over without."""
    with_it = config(build, "bubbles", folder, steps=f"steps = {steps}")
    inis = {"with": with_it, "without": with_it.replace("inspector ", "").replace("[plugin inspector]\nport = 0\n", "")}
    for name, text in inis.items():
        with open(os.path.join(folder, name + ".ini"), "w", encoding="utf-8") as file:
            file.write(text)

    def run(name):
        said = subprocess.run([os.path.join(build, "backplane"), "run", os.path.join(folder, name + ".ini"), "--json"],
                              check=True, capture_output=True, text=True).stdout
        return json.loads(said)["nanoseconds"]
    ratios = []
    for _ in range(rounds):
        without = run("without")
        ratios.append(run("with") / without)
    return statistics.median(ratios)


def in_turn(host, rounds, begin, end):
    """Steps a second without over with what `begin` begins."""
    ratios = []
    for _ in range(rounds):
        without = steps_a_second(host, 1.5)
        something = begin()
        time.sleep(0.5)
        ratios.append(without / steps_a_second(host, 1.5))
        end(something)
    return statistics.median(ratios)


def latency(host, method, params, count):
    """Milliseconds of the 99th percentile."""
    connection = http.client.HTTPConnection("127.0.0.1", host.port)
    times = []
    for i in range(count):
        begin = time.perf_counter()
        post(connection, method, params(i))
        times.append(time.perf_counter() - begin)
    connection.close()
    return sorted(times)[int(count * 0.99)] * 1e3


def plain_scan(folder, rows, over):
    """Milliseconds of the floor."""
    source, library = os.path.join(folder, "floor.c"), os.path.join(folder, "floor.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write(FLOOR)
    subprocess.run(["cc", "-O3", "-shared", "-fPIC", source, "-o", library], check=True)
    floor = ctypes.CDLL(library)
    values = (ctypes.c_float * rows)(*([0.0] * rows))
    entities, found = (ctypes.c_uint64 * rows)(), (ctypes.c_uint64 * rows)()
    times = []
    for _ in range(21):
        begin = time.perf_counter()
        floor.scan(values, entities, rows, ctypes.c_float(over), found)
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3


def bundle_size(host):
    """Bytes of the page and of what it names, as they are sent to a browser that takes them compressed."""
    def get(path):
        _, _, body = host.request("GET", path, headers={"Accept-Encoding": "gzip"})
        return body
    page = get("/")
    names = re.findall(r'(?:src|href)="([^"]+)"', gzip.decompress(page).decode() if page[:2] == b"\x1f\x8b" else page.decode())
    return len(page) + sum(len(get("/" + name.lstrip("/"))) for name in names)


def main():
    build = os.path.abspath(sys.argv[1])
    quick = "--quick" in sys.argv
    rounds = 1 if quick else 7
    folder = tempfile.mkdtemp(prefix="bench-")
    tell("steps, nobody looks", whole_runs(build, folder, rounds, 30 if quick else 300), "x", 1.01)
    with Host(build, config(build, "bubbles", folder), folder) as host:
        host.call("backplane.speed", {"speed": FAST})
        tell("steps, 100 properties at 10 Hz", in_turn(host, rounds, lambda: Stream(host), Stream.close), "x", 1.05)
        try:
            with Browser(folder, 1280, 900) as browser:
                sights = []

                def open_page():
                    stream, begin = Stream(host), time.monotonic()
                    browser.open(f"http://127.0.0.1:{host.port}/")
                    browser.until("return document.querySelectorAll('.entities .row').length > 10")
                    sights.append(time.monotonic() - begin)
                    return stream

                def close_page(stream):
                    browser.open("about:blank")
                    stream.close()
                tell("steps, and the page", in_turn(host, rounds, open_page, close_page), "x", 1.05)
                host.call("backplane.speed", {"speed": 1})
                close_page(open_page())
                stream = open_page()
                tell("first sight", statistics.median(sights[-2:]), "s", 1)
                time.sleep(3)
                heap = browser.run("return performance.memory.usedJSHeapSize")
                tell("heap of the page", heap / 1e6, "MB", 100)
                close_page(stream)
        except RuntimeError as error:
            print("  the page is left out:", error)
        tell("bundle, compressed", bundle_size(host) / 1e3, "KB", 300)
        host.call("backplane.speed", {"speed": 1})
        time.sleep(0.5)
        path = "main/#1000:1.position.x"
        world = host.call("backplane.worlds")[0]
        spent = world["spent"] / world["step"] * 1e3
        count = 100 if quick else 2000
        tell("get, less a step", latency(host, "backplane.get", lambda i: {"path": path}, count) - spent, "ms", 2)
        tell("mutate, less a step", latency(host, "backplane.set", lambda i: {"path": path, "value": i % 7}, count) - spent,
             "ms", 2)
        host.call("backplane.pause")
        rows = host.call("backplane.worlds")[0]["entities"]
        connection = http.client.HTTPConnection("127.0.0.1", host.port)
        times, calls = [], []
        for _ in range(5 if quick else 41):
            for kept, method, params in [(times, "backplane.query", {"where": "position.x > 79.9", "count": 0}),
                                         (calls, "backplane.get", {"path": path})]:
                begin = time.perf_counter()
                post(connection, method, params)
                kept.append(time.perf_counter() - begin)
        scan = (statistics.median(times) - statistics.median(calls)) * 1e3
        plain = plain_scan(folder, rows, 79.9)
        print(f"  a query over {rows} rows takes {statistics.median(times) * 1e3:.2f} ms, of which a call that asks for one "
              f"value takes {statistics.median(calls) * 1e3:.2f}; a plain scan {plain:.2f}")
        tell("query over a plain scan", scan / plain, "x", 1.5)
    return 0


sys.exit(main())
