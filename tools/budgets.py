#!/usr/bin/env python3
"""budgets.py check|record|compare|explain - instructions of hot paths, counted by callgrind.

    tools/budgets.py check   BUILD/bench --compiler "$CC" --flags "..."   every path within 3 % of bench/budgets.json?
    tools/budgets.py record  BUILD/bench --compiler "$CC" --flags "..."   write today's counts into bench/budgets.json
    tools/budgets.py compare OLD.json [NEW.json]                          two such files, path by path
    tools/budgets.py explain OLD/bench NEW/bench PATH...                  two builds: which functions take more or less

`BUILD/bench --paths` (bench/paths.c) runs each path between entry and exit of a function that callgrind is told to
count, so the counts repeat to the instruction. They depend on the compiler and its flags: a record is kept for each
pair of the two, and where there is none for today's, `check` says so and passes; so it does without valgrind.

What lies in our own libraries is counted; what lies in those of the system (memcpy, strcmp, malloc) is counted apart,
because it depends on the C library, on the processor, and on where the linker has put a string. It may grow by half
and 30 instructions an item, which tells an allocation that was not there before, and is looked at only where library
and processor are those of the record.

`--file` stands for bench/budgets.json. A path may grow by 3 %, and by a fifth of an instruction an item in any case.
"""
import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GROWTH, SLACK, SYSTEM_GROWTH, SYSTEM_SLACK = 0.03, 0.2, 0.5, 30
COST = re.compile(r"^(?:0x[0-9a-f]+|\d+) (\d+)$")


# --- counting ---------------------------------------------------------------------------------------------------

def read_part(path, own):
    """Self costs of one callgrind file: in objects below the folder `own`, in others, and a dict by function."""
    inside, outside, by_function = 0, 0, {}
    called = False
    where = name = ""
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if line.startswith("ob="):
                where = line[3:]
            elif line.startswith("fn="):
                name = line[3:]
            elif line.startswith("calls="):
                called = True
            else:
                cost = COST.match(line)
                if cost is None:
                    continue
                if called:  # the line after calls= is what the callee took: its own lines have that already
                    called = False
                    continue
                instructions = int(cost.group(1))
                if where.startswith(own):
                    inside += instructions
                else:
                    outside += instructions
                by_function[name] = by_function.get(name, 0) + instructions
    return inside, outside, by_function


def count(bench):
    """{path: {"items", "own", "system", "functions"}} of one run under callgrind."""
    own = os.path.dirname(os.path.abspath(bench)) + os.sep
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "counts")
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out, "--collect-atstart=no",
                   "--toggle-collect=paths_count", "--dump-after=paths_count", "--compress-strings=no",
                   "--compress-pos=no", os.path.abspath(bench), "--paths"]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if run.returncode != 0:
            sys.exit("budgets: the paths could not be run:\n" + run.stderr[-2000:])
        paths = [line.split() for line in run.stdout.splitlines()]
        counts = {}
        for number, (name, items) in enumerate(paths, 1):
            inside, outside, functions = read_part(out + ".%d" % number, own)
            if inside == 0:
                sys.exit("budgets: nothing was counted of '%s'; is paths_count still in bench/paths.c?" % name)
            counts[name] = {"items": int(items), "own": inside, "system": outside, "functions": functions}
    return counts


# --- what counts depend on --------------------------------------------------------------------------------------

def compiler_of(command):
    """Its own words on its version, without the name that it was called by: "gcc (Debian 12.2.0-14) 12.2.0"."""
    try:
        told = subprocess.run(command.split() + ["--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        sys.exit("budgets: '%s --version' does not work" % command)
    first = told.splitlines()[0] if told else "? ?"
    kind = "clang" if "clang" in first else "gcc" if "Free Software" in told else first.split()[0]
    return kind + " " + first.split(" ", 1)[1]


def system():
    """C library and processor, on which the choice among several memcpy depends."""
    model = ""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    except OSError:
        pass
    return " ".join(platform.libc_ver()) + ", " + (model or platform.machine())


def read_records(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return json.load(file)["records"]


def find(records, compiler, flags):
    return next((r for r in records if r["compiler"] == compiler and r["flags"] == flags), None)


# --- commands ---------------------------------------------------------------------------------------------------

def each(entry, part="own"):
    return entry[part] / entry["items"]


def has_grown(before, now, same_system):
    old, new = each(before), each(now)
    if new > old * (1 + GROWTH) and new > old + SLACK:
        return "takes %.1f instructions an item, %+.1f %%; its budget is %.1f" % (new, 100 * (new / old - 1), old)
    old, new = each(before, "system"), each(now, "system")
    if same_system and new > old * (1 + SYSTEM_GROWTH) + SYSTEM_SLACK:
        return "takes %.1f instructions an item in the system's libraries, where its budget is %.1f" % (new, old)
    return None


def most_of(entry):
    functions = sorted(entry["functions"].items(), key=lambda f: -f[1])[:6]
    return ", ".join("%s %.1f" % (name, cost / entry["items"]) for name, cost in functions)


def check(options):
    if shutil.which("valgrind") is None:
        print("budgets: skipped, because valgrind is not here")
        return 0
    compiler = compiler_of(options.compiler)
    record = find(read_records(options.file), compiler, options.flags)
    if record is None:
        print("budgets: skipped, because %s has no counts of '%s' with these flags; 'make budgets-record' takes them"
              % (os.path.relpath(options.file, ROOT), compiler))
        return 0
    counts = count(options.bench)
    same = record["system"] == system()
    failed = 0
    shrunk = []
    for name, now in counts.items():
        before = record["paths"].get(name)
        if before is None:
            failed += 1
            print("FAILED: %s has no budget; 'make budgets-record' gives it one" % name)
            continue
        grown = has_grown(before, now, same)
        if grown is not None:
            failed += 1
            print("FAILED: %s %s" % (name, grown))
            print("    most of them now: " + most_of(now))
        elif each(now) < each(before) * (1 - GROWTH):
            shrunk.append("%s %.1f to %.1f" % (name, each(before), each(now)))
    for name in record["paths"]:
        if name not in counts:
            failed += 1
            print("FAILED: %s has a budget, but there is no such path any more" % name)
    if shrunk:
        print("less than their budgets (make budgets-record keeps it so): " + "; ".join(shrunk))
    if failed:
        print("where that is meant, 'make budgets-record' records the counts anew; bench/paths.c has the paths")
    print("%d passed, %d failed" % (len(counts) - min(failed, len(counts)), failed))
    return 1 if failed else 0


def record(options):
    if shutil.which("valgrind") is None:
        sys.exit("budgets: valgrind is needed to count")
    compiler = compiler_of(options.compiler)
    records = read_records(options.file)
    counts = count(options.bench)
    new = {"compiler": compiler, "flags": options.flags, "system": system(),
           "paths": {name: {k: entry[k] for k in ("items", "own", "system")} for name, entry in counts.items()}}
    old = find(records, compiler, options.flags)
    if old is not None:
        show(old, new)
        records.remove(old)
    records.append(new)
    records.sort(key=lambda r: (r["compiler"], r["flags"]))
    write_records(options.file, records)
    print("%d paths, %s: recorded in %s" % (len(counts), compiler, os.path.relpath(options.file)))
    return 0


def record_text(r):
    head = ["%s: %s" % (json.dumps(k), json.dumps(r[k])) for k in ("compiler", "flags", "system")]
    paths = ["   %s: %s" % (json.dumps(name), json.dumps(entry)) for name, entry in r["paths"].items()]
    return "\n {" + ",\n  ".join(head) + ',\n  "paths": {\n' + ",\n".join(paths) + "\n  }}"


def write_records(path, records):
    """A line a path, so that a change of one shows as one."""
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"records": [' + ",".join(record_text(r) for r in records) + "\n]}\n")


def show(old, new):
    print("%-28s %10s %10s %10s   (in the system's libraries)" % ("instructions an item", "before", "now", ""))
    for name, now in new["paths"].items():
        before = old["paths"].get(name)
        if before is None:
            print("%-28s %10s %10.1f" % (name, "-", each(now)))
        else:
            a, b = each(before), each(now)
            mark = "  more than 3 % and two instructions" if b > a * (1 + GROWTH) and b > a + 2 else ""
            print("%-28s %10.1f %10.1f %+8.1f %%   (%.1f, %.1f)%s"
                  % (name, a, b, 100 * (b / a - 1), each(before, "system"), each(now, "system"), mark))
    for name in old["paths"]:
        if name not in new["paths"]:
            print("%-28s %10.1f %10s" % (name, each(old["paths"][name]), "gone"))


def compare(options):
    for new in read_records(options.new):
        old = find(read_records(options.old), new["compiler"], new["flags"])
        if old is None:
            print("no counts of %s, %s in %s" % (new["compiler"], new["flags"], options.old))
        else:
            print(new["compiler"] + ", " + new["flags"])
            show(old, new)
    return 0


def explain_builds(options):
    old, new = count(options.old), count(options.new)
    for path in options.paths:
        if path not in old or path not in new:
            sys.exit("budgets: both builds must have the path '%s'; the new one has %s" % (path, ", ".join(new)))
        before, now = (side[path] for side in (old, new))
        print("%s: %.1f to %.1f instructions an item" % (path, each(before), each(now)))
        moved = {name: now["functions"].get(name, 0) / now["items"] - before["functions"].get(name, 0) / before["items"]
                 for name in {**before["functions"], **now["functions"]}}
        for name in sorted(moved, key=lambda name: -abs(moved[name]))[:8]:
            if abs(moved[name]) >= 0.05:
                print("    %+8.1f %s" % (moved[name], name))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="check|record|compare|explain")
    usual = os.path.join(ROOT, "bench", "budgets.json")
    for name, function in (("check", check), ("record", record)):
        command = commands.add_parser(name)
        command.add_argument("bench")
        command.add_argument("--compiler", default="cc")
        command.add_argument("--flags", default="")
        command.add_argument("--file", default=usual)
        command.set_defaults(run=function)
    command = commands.add_parser("compare")
    command.add_argument("old")
    command.add_argument("new", nargs="?", default=usual)
    command.set_defaults(run=compare)
    command = commands.add_parser("explain")
    command.add_argument("old")
    command.add_argument("new")
    command.add_argument("paths", nargs="+")
    command.set_defaults(run=explain_builds)
    options = parser.parse_args()
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
