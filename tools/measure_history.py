#!/usr/bin/env python3
"""measure_history.py BUILD [TIMES] - what recording costs a run, and what looking through a recording takes.

Runs the program in turn with and without, TIMES times (5), and prints the medians of the processor's time of the whole
process, their ratio and what is wanted:

    recorded  the solar system, 970,104 steps: with --record, beside without; and the size of the file
    bisect    something that comes to be so early, in the middle and late in 10,000 steps of 100,000 entities that all
              move: `backplane bisect`, beside the run itself
    when      the same in a console with a past: `when`, which puts the question to each of 1,000 steps, beside going
              from step to step

docs/benchmarks.md has the figures."""
import os
import resource
import subprocess
import sys
import tempfile


def seconds(command, text=None):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=text, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def median(values):
    return sorted(values)[len(values) // 2]


def compare(name, wanted, times, one, other):
    pairs = [(seconds(*one), seconds(*other)) for _ in range(times)]
    a, b = (median([pair[i] for pair in pairs]) for i in (0, 1))
    print(f"{name:24}{a:8.2f} s {b:8.2f} s {a / b:8.2f}   wanted {wanted}", flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: tools/measure_history.py BUILD [TIMES]")
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    build = os.path.abspath(sys.argv[1])
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    program = os.path.join(build, "backplane")
    os.chdir(source)
    with tempfile.TemporaryDirectory() as scratch:
        sun, record = os.path.join(source, "config/solar_system.ini"), os.path.join(scratch, "sun.rec")
        run = [program, "run", sun]
        compare("recorded", 1.15, times, (run + ["--record", record],), (run,))
        print(f"{'':24}{os.path.getsize(record) / 1e6:8.2f} MB                     wanted 50")

        plugin, ini = os.path.join(scratch, "spin.so"), os.path.join(scratch, "spin.ini")
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-I", "plugin_api", "examples/plugin/spin.c", "-o", plugin],
                       check=True)
        with open(ini, "w", encoding="utf-8") as file:
            file.write("[host]\nplugins = ./spin.so\nhistory = 512 MiB\n[world main]\ncomponents = spin\nstep_rate = 64\n"
                       "[spawn main wheels]\ncount = 100000\ncomponents = spin\n")
        record = os.path.join(scratch, "spin.rec")
        run = [program, "run", ini, "--steps", "10000"]
        subprocess.run(run + ["--record", record], check=True, stdout=subprocess.DEVNULL)
        for name, angle in (("early", 10), ("in the middle", 78), ("late", 155)):
            compare(f"bisect, {name}", 1.3, times, ([program, "bisect", record, f"main spin.angle > {angle}"],), (run,))

        console = [program, "console", ini]
        forth = "step 1000\ngoto 0\n" + "forward 1\n" * 1000
        compare("when", "one pass more", times, (console, "step 1000\nwhen main spin.angle > 15.6\n"), (console, forth))


if __name__ == "__main__":
    main()
