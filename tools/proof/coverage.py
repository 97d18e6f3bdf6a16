#!/usr/bin/env python3
"""coverage.py - which lines and branches the tests run, by folder.

Builds into build/coverage with COVERAGE=1, runs the suites in two halves beside each other and then the scripts, all in
one count, which is kept in counts.json there for as long as the sources are the same. Copies of the process (trials)
and closed plugins count too: see counts_program.c.

What fails is named, and its counts are taken all the same. Needs gcc with its gcov.

--conditions asks more of what decides whether a reload is taken, and whether a value and a library are (WEIGHED in the
Makefile): each condition of a decision has to be seen to decide it by itself, once true and once false (modified
condition/decision). gcc 12 cannot note that; clang 19 does, into build/conditions, all suites and scripts in one count.
"""
import argparse
import collections
import concurrent.futures
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import suites  # noqa: E402

BUILD = "build/coverage"
COUNTED = ("host/", "plugins/")
WANTED_LINES, WANTED_BRANCHES = 95.0, 90.0
# Scripts that build a tree of their own, or look into what the compiler made, which counting changes.
NOT_COUNTED = {"script:windows", "script:statics", "script:install", "script:checks"}
CLANG = os.environ.get("CLANG", "clang-19")
# Of suite history. So many visits run the lines that 2,000 run, and counters that threads share are slow.
VISITS = "20"


def sources_state(tree):
    """A text that changes with any file that the counts depend on."""
    state = hashlib.sha256()
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "host", "plugins", "plugin_api", "tests", "Makefile"],
                           cwd=tree, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in sorted(names):
        path = os.path.join(tree, name)
        if name and os.path.isfile(path):
            with open(path, "rb") as file:
                state.update(name.encode() + b"\0" + file.read())
    return state.hexdigest()


def build(tree, jobs):
    """Build everything that the suites run. Counting code gets other warnings than optimised code, so none are asked for."""
    subprocess.run(["make", "-s", f"-j{jobs}", f"BUILD={BUILD}", "COVERAGE=1", "WARN=-w", "test-parts",
                    f"{BUILD}/libbackplane.so"], cwd=tree, check=True)


def files_of(tree, ending):
    return glob.glob(os.path.join(tree, BUILD, "**", "*" + ending), recursive=True)


def add_lines(counts, tree, lines):
    """Add what gcov says of one file: hits of lines, and of the branches of each function's lines."""
    for line in lines:
        number = str(line["line_number"])
        counts["lines"][number] = counts["lines"].get(number, 0) + line["count"]
        if line["branches"]:
            key = f"{number} {line.get('function_name', '')}"
            taken = [branch["count"] for branch in line["branches"]]
            before = counts["branches"].get(key, [])
            wider, other = (taken, before) if len(taken) >= len(before) else (before, taken)
            counts["branches"][key] = [n + (other[i] if i < len(other) else 0) for i, n in enumerate(wider)]


def read_counts(tree, data):
    """{file: {"lines": {line: hits}, "branches": {line and function: [hits]}}} from files of counts, or of notes (then all 0)."""
    found = {}
    for start in range(0, len(data), 200):
        output = subprocess.run(["gcov", "--json-format", "--stdout", "-b"] + data[start:start + 200], cwd=os.path.join(tree, BUILD),
                                capture_output=True, text=True).stdout
        for text in output.splitlines():
            for file in json.loads(text)["files"]:
                name = os.path.relpath(file["file"], tree)
                if name.startswith(COUNTED) and os.path.exists(file["file"]):
                    add_lines(found.setdefault(name, {"lines": {}, "branches": {}}), tree, file["lines"])
    return found


def merge(into, counts):
    for name, file in counts.items():
        mine = into.setdefault(name, {"lines": {}, "branches": {}})
        for number, hits in file["lines"].items():
            mine["lines"][number] = mine["lines"].get(number, 0) + hits
        for key, taken in file["branches"].items():
            before = mine["branches"].get(key, [0] * len(taken))
            width = max(len(before), len(taken))
            mine["branches"][key] = [(before[i] if i < len(before) else 0) + (taken[i] if i < len(taken) else 0) for i in range(width)]


def around_compilers(tree, folder, last):
    """The environment in which scripts link their own programs to our counting library: what they call as cc gets the
    options `last`, with which the library's counters come; and what they call as make knows that it counts."""
    beside = os.path.join(tree, folder, "compilers")
    os.makedirs(beside, exist_ok=True)
    path = os.environ["PATH"].replace(beside + ":", "")
    for name in ("cc", "gcc", "c++", "g++", CLANG):
        compiler = shutil.which(name, path=path)
        if compiler:
            with open(os.path.join(beside, name), "w") as file:
                file.write(f'#!/bin/sh\nexec {compiler} "$@" {last}\n')
            os.chmod(file.name, 0o755)
    return {"PATH": beside + ":" + path, "HISTORY_VISITS": VISITS}


def run_counted(tree, name, title, environment):
    """Run a script, or suites where there is no name, and say how long it took and what failed."""
    result, seconds, output = suites.run(tree, BUILD, name, 3600, 20, more=environment)
    print(f"  {seconds:7.2f} s  {title}", file=sys.stderr)
    if result != "passed":
        print(f"coverage: {title}: {result} while being counted:\n{output}", file=sys.stderr)


def run_halves(tree, environment):
    """Run all suites, in two processes that take what the other one has not begun."""
    taken = os.path.join(tree, BUILD, "taken")
    shutil.rmtree(taken, ignore_errors=True)
    os.makedirs(taken)
    def run_half(half):
        run_counted(tree, "", f"half {half} of all suites", dict(environment, TESTS_HALF=half, TESTS_TAKEN=taken))

    with concurrent.futures.ThreadPoolExecutor() as beside:
        list(beside.map(run_half, "12"))


def count_all(tree, jobs, with_scripts=True):
    """The counts of all suites and scripts together, of files that nothing runs as well."""
    path = os.path.join(tree, BUILD, "counts.json")
    state = sources_state(tree) + (" with scripts" if with_scripts else "")
    if os.path.exists(path):
        with open(path) as file:
            kept = json.load(file)
        if kept["state"] == state:
            return kept["files"]
    build(tree, jobs)
    for old in files_of(tree, ".gcda"):
        os.unlink(old)
    environment = dict(around_compilers(tree, BUILD, "-lgcov"), COVERAGE="1")
    run_halves(tree, environment)
    for name in suites.scripts(tree) if with_scripts else []:
        if name not in NOT_COUNTED:
            run_counted(tree, name, name, environment)
    total = read_counts(tree, [note for note in files_of(tree, ".gcno") if "/tests/" not in note])
    merge(total, read_counts(tree, files_of(tree, ".gcda")))
    with open(path, "w") as file:
        json.dump({"state": state, "files": total}, file)
    return total


def folder_of(name):
    return "/".join(name.split("/")[:2]) if name.count("/") > 1 else name.split("/")[0]


def table(total):
    """Figures by folder: (folder, lines, lines run, branches, branches taken)."""
    rows = collections.defaultdict(lambda: [0, 0, 0, 0])
    for name, file in total.items():
        for folder in (folder_of(name), name.split("/")[0] + " (all)"):
            row = rows[folder]
            row[0] += len(file["lines"])
            row[1] += sum(1 for hits in file["lines"].values() if hits > 0)
            row[2] += sum(len(taken) for taken in file["branches"].values())
            row[3] += sum(1 for taken in file["branches"].values() for hits in taken if hits > 0)
    return [(folder, *rows[folder]) for folder in sorted(rows)]


def share(part, whole):
    return 100.0 * part / whole if whole > 0 else 100.0


def write_table(rows, out):
    print(f"{'folder':<24} {'lines':>7} {'run':>7} {'':>7} {'branches':>9} {'taken':>7}", file=out)
    for folder, lines, run, branches, taken in rows:
        low = share(run, lines) < WANTED_LINES or share(taken, branches) < WANTED_BRANCHES
        print(f"{folder:<24} {lines:>7} {run:>7} {share(run, lines):>6.1f}% {branches:>9} {taken:>7} {share(taken, branches):>6.1f}%"
              f"{'  below ' + format(WANTED_LINES, '.0f') + ' / ' + format(WANTED_BRANCHES, '.0f') if low else ''}", file=out)


def write_missing(total, files, out):
    """The lines of some files that nothing runs, and those where a branch is never taken."""
    for name in sorted(total):
        if not any(part in name for part in files):
            continue
        never = [number for number, hits in total[name]["lines"].items() if hits == 0]
        partly = {key.split()[0] for key, taken in total[name]["branches"].items() if 0 in taken and any(taken)}
        with open(name) as file:
            text = file.readlines()
        for number in sorted({int(n) for n in never} | {int(n) for n in partly}):
            mark = "never " if str(number) in never else "partly"
            print(f"{name}:{number}: {mark} {text[number - 1].rstrip()}", file=out)


# --- conditions ---

CONDITIONS = "build/conditions"
WEIGHED = ("host/reload/", "host/base/convert", "host/plugin/image")
LLVM = ("llvm-profdata-19", "llvm-cov-19")


def need_clang():
    """Ask for what is missing, or end with the command that installs it."""
    if all(shutil.which(tool) for tool in (CLANG,) + LLVM):
        return
    command = ["apt-get", "install", "-y", "--no-install-recommends", "clang-19", "llvm-19", "libclang-rt-19-dev"]
    if os.geteuid() != 0 or not shutil.which("apt-get") or subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit("coverage: --conditions needs clang 19 with its runtime and llvm 19: sudo " + " ".join(command))


def run_weighed(tree, jobs, with_scripts, only):
    """Build with clang and run everything; the file of merged counts."""
    counts = os.path.join(tree, CONDITIONS, "counts")
    subprocess.run(["make", "-s", f"-j{jobs}", f"BUILD={CONDITIONS}", f"CC={CLANG}", "CONDITIONS=1", "WARN=-w", "test-parts"],
                   cwd=tree, check=True)
    if not only:
        shutil.rmtree(counts, ignore_errors=True)
    os.makedirs(counts, exist_ok=True)
    # One file for each program, which each process adds to.
    os.environ["LLVM_PROFILE_FILE"] = os.path.join(counts, "%m.profraw")
    runtime = subprocess.run([CLANG, f"-print-file-name=libclang_rt.profile-{os.uname().machine}.a"],
                             capture_output=True, text=True, check=True).stdout.strip()
    last = f"-L{os.path.dirname(runtime)} -l:{os.path.basename(runtime)}"
    more = dict(around_compilers(tree, CONDITIONS, last), CONDITIONS="1", CC=CLANG)
    names = suites.suites(tree) + ([n for n in suites.scripts(tree) if n not in NOT_COUNTED] if with_scripts else [])
    for name in only or names:
        result, seconds, output = suites.run(tree, CONDITIONS, name, 1800, 20, more=more)
        print(f"  {seconds:7.2f} s  {name}", file=sys.stderr)
        if result != "passed":
            print(f"coverage: {name}: {result} while being counted:\n{output}", file=sys.stderr)
    merged = os.path.join(counts, "all.profdata")
    subprocess.run([LLVM[0], "merge", "--failure-mode=all", "-o", merged] + glob.glob(os.path.join(counts, "*.profraw")), check=True)
    return merged


def conditions_of(file):
    """The conditions of a file: (line, column, what is not shown), "" where all is. One that decides alone has to be true once
    and false once, one of several has to be seen to decide. What a decision begins with and the compiler knows, since it is
    about the machine, is none: it is neither true nor false where what stands behind it is."""
    found = []
    decisions = file.get("mcdc_records", [])
    for line, column, end_line, end_column, *_, shown in decisions:
        inner = sorted({tuple(b[:6]) for b in file["branches"] if (line, column) <= tuple(b[:2]) and tuple(b[2:4]) <= (end_line, end_column)})
        for i, is_shown in enumerate(shown):
            if i == 0 and len(inner) == len(shown) and sum(inner[0][4:6]) == 0 and any(sum(one[4:6]) for one in inner):
                continue
            place = inner[i][:2] if len(inner) == len(shown) else (line, column)
            found.append((*place, "" if is_shown else f"condition {i + 1} of {len(shown)} never decides"))
    for line, column, end_line, end_column, if_true, if_false, *_ in file["branches"]:
        if not any(tuple(d[:2]) <= (line, column) and (end_line, end_column) <= tuple(d[2:4]) for d in decisions):
            never = [text for count, text in ((if_true, "never true"), (if_false, "never false")) if count == 0]
            found.append((line, column, ", ".join(never)))
    return found


def report_conditions(tree, merged, parts, out):
    """A table by file, or what is not shown in the files with one of `parts` in their names."""
    objects = [os.path.join(tree, CONDITIONS, name) for name in ("tests", "backplane")]
    exported = subprocess.run([LLVM[1], "export", objects[0], "-object", objects[1], f"-instr-profile={merged}"],
                              capture_output=True, text=True, check=True).stdout
    total = [0, 0]
    for file in sorted(json.loads(exported)["data"][0]["files"], key=lambda one: one["filename"]):
        name = os.path.relpath(file["filename"], tree)
        found = conditions_of(file)
        if not found or not name.startswith(WEIGHED) or (parts and not any(part in name for part in parts)):
            continue
        shown = sum(1 for *_, missing in found if not missing)
        total = [total[0] + len(found), total[1] + shown]
        if not parts:
            print(f"{name:<36} {len(found):>6} {shown:>6} {share(shown, len(found)):>6.1f}%", file=out)
            continue
        with open(file["filename"]) as source:
            text = source.readlines()
        for line, column, missing in sorted(found):
            if missing:
                print(f"{name}:{line}:{column}: {missing}: {text[line - 1].strip()}", file=out)
    print(f"{'conditions, and those shown to decide':<36} {total[0]:>6} {total[1]:>6} {share(total[1], total[0]):>6.1f}%", file=out)


def main():
    arguments = argparse.ArgumentParser(description="Lines and branches that the tests run, by folder.")
    arguments.add_argument("--json", help="write the table to this file too")
    arguments.add_argument("--missing", nargs="+", default=[], metavar="PART", help="list what is not run in files with PART in their name")
    arguments.add_argument("--conditions", action="store_true", help="modified condition/decision of what reloads, converts and judges")
    arguments.add_argument("--only", nargs="+", default=[], metavar="NAME", help="with --conditions: add what these suites show")
    arguments.add_argument("--no-scripts", action="store_true", help="suites only")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    chosen = arguments.parse_args()
    tree = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
    os.chdir(tree)
    if chosen.conditions:
        need_clang()
        report_conditions(tree, run_weighed(tree, chosen.jobs, not chosen.no_scripts, chosen.only), chosen.missing, sys.stdout)
        return
    total = count_all(tree, chosen.jobs, not chosen.no_scripts)
    rows = table(total)
    if chosen.missing:
        write_missing(total, chosen.missing, sys.stdout)
        return
    write_table(rows, sys.stdout)
    if chosen.json:
        with open(chosen.json, "w") as file:
            json.dump([dict(zip(("folder", "lines", "lines_run", "branches", "branches_taken"), row)) for row in rows], file, indent=1)


if __name__ == "__main__":
    main()
