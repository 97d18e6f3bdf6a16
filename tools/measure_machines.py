#!/usr/bin/env python3
"""measure_machines.py BUILD [--count N] [--steps N] [--svg FILE] - what a split world costs on this machine, and what that
comes to on more of them.

Runs examples/gas with N particles (1,000,000) on one rank and on two by mpirun, in turn, three times, and prints the
medians: the steps' time without the first three, what looking, packing and unpacking take, and the bytes that are sent.
Then bench/plugins/swap.c on two ranks, whose entities of 64 bytes all go to the other rank in each step, N / 5 of them;
and a new version of the gas that comes in while it runs, on one rank and on four, with 2,000 particles on each.

Then computes, from these and from a latency and a bandwidth that are parameters (--latency in microseconds, --bandwidth
in GB/s), a step of so many particles on more ranks, each on a processor of its own, as a table in Markdown and, with
--svg, a plot. A computed step is the particles' share of the loop, packing and unpacking copies, and sending them to
eight neighbours, beside three sums over all ranks of log2(ranks) messages each. What the model leaves out: particles
that crowd together, memory that two processors share, and the network's own crowding."""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

RANKS = [1, 2, 4, 16, 64, 256, 1024]
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]


def median(values):
    return sorted(values)[len(values) // 2]


def run(program, ini, ranks, steps):
    start = MPIRUN + ["-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run(start + [program, "run", ini, "--steps", str(steps), "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def told(report, name):
    """What the system split says under that name: a number for each rank."""
    split = [unit for unit in report["reports"] if unit["unit"] == "split"][0]
    if name in split["values"]:
        return [split["values"][name]] * report.get("ranks", 1)
    return [row[name] for table in split["tables"] for row in table["rows"]]


def measure(build, count, steps, scratch):
    """Medians of three runs on one rank and on two."""
    program, ini = os.path.join(build, "backplane"), os.path.join(scratch, "gas.ini")
    build_gas(os.path.join(scratch, "gas.so"))
    side = math.sqrt(count / 4000)
    with open(ini, "w", encoding="utf-8") as file:
        file.write(f"[host]\nplugins = mpi ./gas.so\n[plugin mpi]\nposition = particle.position\n"
                   f"halo = 1\n[plugin gas]\ncount = {count}\nbox = {120 * side:.3f} {80 * side:.3f} 0\n"
                   "[world main]\nplace = split\nstep_rate = 100\ncomponents = particle\nsystems = gas\n")
    first = 3  # steps that are not counted: particles are made and dealt out, memory is touched
    ranks = {1: [], 2: []}
    for _ in range(3):
        for number, pairs in ranks.items():
            pairs.append((run(program, ini, number, first), run(program, ini, number, first + steps)))
    each = {number: median([b["nanoseconds"] - a["nanoseconds"] for a, b in pairs]) / steps
            for number, pairs in ranks.items()}
    packing = "seconds of packing and unpacking"
    pairs = ranks[2]
    copies = [sum(told(b, "copies of others'")) for _, b in pairs]
    sent = [sum(told(b, "bytes sent")) - sum(told(a, "bytes sent")) for a, b in pairs]
    looked = [sum(told(b, packing)) - sum(told(a, packing)) for a, b in pairs]
    moved, changed = "of those, of entities that left", "of those, of values of copies that changed"
    extra = [(s - sum(told(b, moved)) + sum(told(a, moved))) / (sum(told(b, changed)) - sum(told(a, changed)))
             for s, (a, b) in zip(sent, pairs)]
    return {
        "extra": median(extra),
        "kept": median([sum(told(b, "bytes of bookkeeping")) / (count + sum(told(b, "copies of others'")))
                        for _, b in pairs]),
        "cut": median([max(told(b, "seconds of cutting space")) / max(told(b, "times that space was cut"))
                       for _, b in pairs]),
        "one": each[1],
        "two": each[2],
        "copies": median(copies),
        "copy": median([s / steps / c for s, c in zip(sent, copies)]),
        "looking": median([p * 1e9 / (count * steps) for p in looked]),
        "area": 120 * 80 * side * side,
    }


def build_gas(file, source="examples/gas"):
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-ffp-contract=off", "-Iplugin_api", "-Iexamples/gas"]
                   + [os.path.join(source, "gas.c")]
                   + [os.path.join("examples/gas", f) for f in os.listdir("examples/gas") if f.endswith(".c") and f != "gas.c"]
                   + ["-o", file, "-lm"], check=True)


def measure_moving(build, count, steps, scratch):
    """Nanoseconds of packing or unpacking an entity of 64 bytes that changes its rank, and GB/s of its columns."""
    program, ini = os.path.join(build, "backplane"), os.path.join(scratch, "swap.ini")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-Iplugin_api", "bench/plugins/swap.c", "-o", os.path.join(scratch, "swap.so")],
                   check=True)
    with open(ini, "w", encoding="utf-8") as file:
        file.write(f"[host]\nplugins = mpi ./swap.so\n[plugin mpi]\nposition = body.place\nevery = 0\n[plugin swap]\n"
                   f"count = {count}\n[world main]\nplace = split\ncomponents = body\nsystems = swap\n")
    each, rates = [], []
    for _ in range(5):
        a, b = run(program, ini, 2, 5), run(program, ini, 2, 5 + steps)

        def more(name, a=a, b=b):
            return sum(told(b, name)) - sum(told(a, name))
        moved = more("came from others") + more("left for others")
        if moved < 1.9 * count * steps:
            sys.exit(f"of {count} entities only {moved / 2 / steps:.0f} change their rank in a step")
        each.append(more("seconds of packing and unpacking") / moved * 1e9)
        rates.append(moved * 64 / more("seconds of copying columns of what moved") / 1e9)
    return median(each), median(rates)


def measure_reload(build, ranks, scratch):
    """The longest pause of a rank, in milliseconds, as a new version of the gas comes in: the median of five."""
    program, pauses = os.path.join(build, "backplane"), []
    ini, plugin, new = (os.path.join(scratch, name) for name in ("live.ini", "live/gas.so", "live/new.so"))
    os.makedirs(os.path.dirname(plugin), exist_ok=True)
    with open("examples/gas/gas.c", encoding="utf-8") as file, open(os.path.join(scratch, "gas.c"), "w", encoding="utf-8") as out:
        out.write(file.read().replace('"1.0"', '"1.1"'))
    side = math.sqrt(ranks * 2000 / 4000)
    with open(ini, "w", encoding="utf-8") as file:
        file.write(f"[host]\nplugins = mpi ./live/gas.so\nhot_reload = on\ntrial = off\n[plugin mpi]\nposition = particle.position\n"
                   f"halo = 1\n[plugin gas]\ncount = {ranks * 2000}\nbox = {120 * side:.3f} {80 * side:.3f} 0\n"
                   "[world main]\nplace = split\nstep_rate = 100\ncomponents = particle\nsystems = gas\n")
    for _ in range(5):
        build_gas(plugin)
        build_gas(new, scratch)
        with subprocess.Popen(MPIRUN + ["-n", str(ranks), program, "run", ini, "--steps", "300", "--real-time"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as job:
            time.sleep(1)
            os.replace(new, plugin)
            said = job.communicate()[1]
        found = [float(pause) for pause in re.findall(r"reloaded gas 1.0 -> 1.1: pause ([0-9.]+) ms", said)]
        if len(found) != ranks:
            sys.exit(f"{len(found)} of {ranks} ranks have reloaded:\n{said}")
        pauses.append(max(found))
    return median(pauses)


def compute(m, count, ranks, latency, bandwidth):
    """Milliseconds of a step on so many ranks, and the copies of one of them."""
    own, area = count / ranks, m["area"] / ranks
    per_entity = (m["one"]) / count
    edge = math.sqrt(area)
    copies = 0 if ranks == 1 else (4 * edge + 4) * count / m["area"]
    looking = 0 if ranks == 1 else own * m["looking"]
    network = 0 if ranks == 1 else (8 + 3 * math.log2(ranks)) * latency * 1e3 + copies * m["copy"] / bandwidth
    return (own * per_entity + looking + network) / 1e6, copies


def plot(rows, file, title):
    width, height, left, top = 680, 410, 50, 60
    most, least = max(r[1] for r in rows), min(r[1] / 2 for r in rows)

    def at(ranks, ms):
        x = left + (width - left - 70) * math.log2(ranks) / math.log2(RANKS[-1])
        y = top + (height - top - 50) * math.log(most / ms) / math.log(most / least)
        return x, y

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
             f'font-size="12"><rect width="100%" height="100%" fill="white"/><text x="{left}" y="22">{title}</text>']
    for ranks, ms, ideal in rows:
        x, y = at(ranks, ms)
        lines.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{height - 50}" stroke="#ddd"/>'
                     f'<text x="{x:.1f}" y="{height - 32}" text-anchor="middle">{ranks}</text>'
                     f'<text x="{x + 4:.1f}" y="{y - 6:.1f}">{ms:.3g} ms</text>')
    for column, colour in ((2, "#999"), (1, "#c33")):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(r[0], max(r[column], least)) for r in rows))
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    lines.append(f'<text x="{left}" y="{height - 10}">ranks; red: computed, grey: the loop divided by the ranks</text></svg>')
    with open(file, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--count", type=int, default=1000000)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--latency", type=float, default=2)
    parser.add_argument("--bandwidth", type=float, default=12.5)
    parser.add_argument("--svg")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with tempfile.TemporaryDirectory() as scratch:
        m = measure(build, options.count, options.steps, scratch)
        each, rate = measure_moving(build, options.count // 5, options.steps, scratch)
        one, four = (measure_reload(build, ranks, scratch) for ranks in (1, 4))
    print(f"measured, {options.count} particles, {options.steps} steps, two processors:\n")
    print("| | |\n| --- | --- |")
    print(f"| a step on one rank | {m['one'] / 1e6:.1f} ms |")
    print(f"| on two ranks | {m['two'] / 1e6:.1f} ms, {m['two'] / m['one']:.2f} of one |")
    print(f"| copies of both together | {m['copies']:.0f} |")
    print(f"| bytes sent for each copy | {m['copy']:.1f} |")
    print(f"| of the bytes of fields that have changed | {m['extra']:.2f} |")
    print(f"| bytes of bookkeeping for each entity | {m['kept']:.1f} |")
    print(f"| cutting space, once | {m['cut'] * 1e3:.1f} ms |")
    print(f"| looking, packing and unpacking, for each entity of the world | {m['looking']:.1f} ns |")
    print(f"| packing or unpacking an entity of 64 bytes that moves | {each:.1f} ns |")
    print(f"| of that its columns, out of rows and into rows | {rate:.1f} GB/s |")
    print(f"| the pause of a reload on one rank | {one:.2f} ms |")
    print(f"| agreed over four ranks, the longest | {four:.2f} ms |\n")
    print(f"computed, {options.latency:g} us from rank to rank, {options.bandwidth:g} GB/s:\n")
    print("| ranks | entities of each | copies of each | a step | of the time of one |\n| --- | --- | --- | --- | --- |")
    rows = []
    for ranks in RANKS:
        ms, copies = compute(m, options.count, ranks, options.latency, options.bandwidth)
        rows.append((ranks, ms, m["one"] / 1e6 / ranks))
        print(f"| {ranks} | {options.count // ranks} | {copies:.0f} | {ms:.3g} ms | {ms / rows[0][1]:.4f} |")
    if options.svg:
        plot(rows, options.svg, f"computed: a step of {options.count} particles on more ranks")


if __name__ == "__main__":
    main()
