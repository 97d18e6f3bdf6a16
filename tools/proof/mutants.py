#!/usr/bin/env python3
"""mutants.py - do the tests notice planted faults?

Takes a sample of the lines of host/ and plugins/ (the same for the same seed), plants one fault (places.py) in each in a copy of the
tree, builds what changed, and runs the suites that reach the line (coverage.py), fast ones first, until one fails. A fault that
all of them pass has survived: a test is missing, or the fault changes nothing, and then tests/mutants.txt says why.

Faults whose object file is byte for byte that of the sources are counted as equivalent without a word. Results are kept in
build/mutants/results.jsonl, so that a run that was ended goes on where it was; --retry runs the survivors again.

A planted fault may kill any process or write anywhere, so suites run in a namespace of their own, where nothing but the copy can be
written and only its own processes are seen; that wants unshare and the right to mount.

tests/mutants.txt: a line with the key of the fault, then what it is, then indented lines with the reason why no test can see it.
"""
import argparse
import collections
import fnmatch
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import coverage  # noqa: E402
import places  # noqa: E402
import suites  # noqa: E402

WORK = "build/mutants"
# Folders that the rest stands on, and the share of faults that is wanted to be noticed there, in percent.
WANTED, WANTED_MORE = 85, 95
MORE_IN = ("host/store", "host/property", "host/plugin", "host/reload")
MORE_FILES = ("host/base/field.c",)
NOT_BUILT = ("_win32.c", "_none.c", "_win32.h")
LIMIT_MEMORY = 6 << 30

JAIL = r"""
mount --make-rprivate / && mount -t proc proc /proc && mount --bind "$1" "$1" && mount --bind "$2" /tmp &&
mount -o remount,bind,ro / && cd "$1" || exit 125
ulimit -v "$3"
shift 3
TMPDIR=/tmp
export TMPDIR
"$@"
"""


class Workshop:
    """The copy of the tree in which faults are planted."""

    def __init__(self, tree, jobs):
        self.tree, self.jobs = tree, jobs
        if os.path.realpath(tree).startswith("/tmp/"):
            sys.exit("mutants: suites get a /tmp of their own, so the tree must lie elsewhere")
        self.copy = os.path.join(tree, WORK, "tree")
        self.temporary = os.path.join(tree, WORK, "tmp")
        os.makedirs(self.temporary, exist_ok=True)
        self.jail = ["unshare", "-p", "-m", "-f", "--kill-child", "sh", "-c", JAIL, "sh", self.copy, self.temporary,
                     str(LIMIT_MEMORY >> 10)]
        self.objects, self.originals = {}, {}

    def original(self, name):
        """The text of a file of the copy before any fault was planted in it; the tree may go on changing meanwhile."""
        if name not in self.originals:
            with open(os.path.join(self.copy, name)) as file:
                self.originals[name] = file.read()
        return self.originals[name]

    def bring_up_to_date(self):
        """Copy what differs, remove what has gone, build, and see that a jail can be had."""
        names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=self.tree, capture_output=True, text=True,
                               check=True).stdout.split("\n")
        names = {name for name in names if name and os.path.isfile(os.path.join(self.tree, name))}
        for folder, folders, files in os.walk(self.copy):
            if folder == self.copy:
                folders[:] = [name for name in folders if name != "build"]
            for file in files:
                if os.path.relpath(os.path.join(folder, file), self.copy) not in names:
                    os.unlink(os.path.join(folder, file))
        for name in names:
            old, new = os.path.join(self.copy, name), os.path.join(self.tree, name)
            if not os.path.exists(old) or read_bytes(old) != read_bytes(new):
                os.makedirs(os.path.dirname(old), exist_ok=True)
                shutil.copy(new, old)
        problem = self.make("test-parts")
        if problem:
            sys.exit(f"mutants: the tree without faults does not build:\n{problem}")
        if subprocess.run(self.jail + ["true"]).returncode != 0:
            sys.exit("mutants: no namespace of its own can be had (unshare, mount): faults could harm the machine")

    def make(self, *targets):
        done = subprocess.run(["make", "-s", f"-j{self.jobs}", "BUILD=build", "WARN=-w"] + list(targets), cwd=self.copy,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return "" if done.returncode == 0 else (done.stdout + done.stderr)[-2000:] or "make failed"

    def object_of(self, name):
        if name.startswith("host/") and name.endswith(".c"):
            return "build/obj/" + name[:-2] + ".o"
        if name.startswith("plugins/") and name.endswith(".c"):
            return "build/static/" + name.split("/")[1] + ".o"
        return None

    def code_of(self, name):
        """A digest of the code that a source file becomes, without what is only there for debuggers."""
        stripped = os.path.join(self.copy, "build", "stripped.o")
        subprocess.run(["objcopy", "--strip-debug", os.path.join(self.copy, self.object_of(name)), stripped], check=True)
        return hashlib.sha256(read_bytes(stripped)).hexdigest()

    def plant(self, place):
        """Returns "", or "same code" or "does not compile"."""
        target = self.object_of(place.file)
        if target and place.file not in self.objects:
            self.make(target)
            self.objects[place.file] = self.code_of(place.file)
        text = places.planted(self.original(place.file), place)
        with open(os.path.join(self.copy, place.file), "w") as file:
            file.write(text)
        if target:
            if self.make(target):
                return "does not compile"
            if self.code_of(place.file) == self.objects[place.file]:
                return "same code"
        return "does not compile" if self.make("test-parts") else ""

    def take_out(self, place):
        with open(os.path.join(self.copy, place.file), "w") as file:
            file.write(self.original(place.file))

    def run(self, name, limit):
        # In a namespace of their own the numbers of processes come again, and with them names of scratch files.
        for folder in (self.temporary, os.path.join(self.copy, "build", "scratch")):
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder, exist_ok=True)
        return suites.run(self.copy, "build", name, limit, 3, self.jail)


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


# --- what to plant -------------------------------------------------------------------------------------------------


def all_places(tree, only):
    names = subprocess.run(["git", "ls-files", "host", "plugins"], cwd=tree, capture_output=True, text=True, check=True).stdout.split()
    found, keys = [], set()
    for name in names:
        wanted = not only or any(fnmatch.fnmatch(name, pattern) or name.startswith(pattern) for pattern in only)
        if not name.endswith((".c", ".h")) or name.endswith(NOT_BUILT) or not wanted:
            continue
        for place in places.places_of(tree, name):
            if place.key not in keys:
                keys.add(place.key)
                found.append(place)
    return found


def rank(seed, *parts):
    return hashlib.sha256("\0".join((str(seed),) + parts).encode()).hexdigest()


def sample(found, seed, size):
    """One place of each line, lines in an order that only the seed and the line decide; of each line one of its operators."""
    lines = collections.defaultdict(list)
    for place in found:
        lines[(place.function, place.text)].append(place)
    chosen = []
    for (function, text), here in lines.items():
        operator = min({place.operator for place in here}, key=lambda name: rank(seed, function, text, name))
        place = min((place for place in here if place.operator == operator), key=lambda one: rank(seed, one.key))
        chosen.append((rank(seed, function, text), place))
    return [place for _, place in sorted(chosen, key=lambda pair: pair[0])][:size]


def read_equivalents(tree):
    """{key: reason} of tests/mutants.txt."""
    found, key = {}, None
    path = os.path.join(tree, "tests", "mutants.txt")
    if not os.path.exists(path):
        return found
    with open(path) as file:
        for line in file:
            match = re.match(r"([0-9a-f]{16}) ", line)
            if match:
                key = match.group(1)
                found[key] = ""
            elif line.startswith((" ", "\t")) and key:
                found[key] += line.strip() + " "
            elif line.strip() == "" or line.startswith("#"):
                key = None
    return found


# --- one fault ------------------------------------------------------------------------------------------------------


def reaching(reach, place, usable):
    """The suites that reach a place, fast ones first."""
    found = []
    for name, counts in reach.items():
        lines = counts["files"].get(place.file, {"lines": {}})["lines"]
        before = [int(number) for number in lines if int(number) <= place.line]
        if name in usable and before and lines[str(max(before))] > 0:
            found.append(name)
    return sorted(found, key=lambda name: usable[name])


def failing(workshop, name, limit):
    """The test of a suite that fails, twice: a machine that is busy may fail one that waits for something. Or ""."""
    how = []
    for _ in range(2):
        result, _, output = workshop.run(name, limit)
        if result == "passed":
            return ""
        how.append(set(re.findall(r":[FE]:[^:]*:(\w+):", output)) or {result})
        if result == "too long":
            return result
    both = sorted(how[0] & how[1])
    return both[0] if both else ""


def try_fault(workshop, place, names, usable):
    problem = workshop.plant(place)
    if problem:
        return {"result": problem}
    for name in names:
        how = failing(workshop, name, 10 + 8 * usable[name])
        if how:
            return {"result": "noticed", "by": name, "how": how}
    return {"result": "survived" if names else "not reached"}


def measure_suites(workshop, names):
    """{name: seconds} of those that pass without a fault."""
    usable = {}
    for name in names:
        result, seconds, output = workshop.run(name, 600)
        if result == "passed":
            usable[name] = seconds
        else:
            print(f"mutants: {name} is left out: without a fault it has {result}:\n{output}", file=sys.stderr)
    if len(usable) < len(names) * 3 // 4:
        sys.exit("mutants: too few suites pass without a fault")
    return usable


# --- the report ------------------------------------------------------------------------------------------------------


def folder_of(name):
    return name if name in MORE_FILES else coverage.folder_of(name)


def write_report(sampled, results, equivalents, out):
    rows = collections.defaultdict(collections.Counter)
    for place in sampled:
        done = results.get(place.key)
        if done is None:
            continue
        kind = "listed" if done["result"] in ("survived", "not reached") and place.key in equivalents else done["result"]
        rows[folder_of(place.file)][kind] += 1
        rows["all"][kind] += 1
    print(f"{'folder':<24} {'planted':>8} {'noticed':>8} {'survived':>9} {'unreached':>10} {'same':>6}  share", file=out)
    for folder in sorted(rows, key=lambda name: (name == "all", name)):
        row = rows[folder]
        planted = row["noticed"] + row["survived"] + row["not reached"]
        wanted = WANTED_MORE if folder.startswith(MORE_IN) or folder in MORE_FILES else WANTED
        share = coverage.share(row["noticed"], planted)
        print(f"{folder:<24} {planted:>8} {row['noticed']:>8} {row['survived']:>9} {row['not reached']:>10} "
              f"{row['same code'] + row['listed']:>6} {share:>5.1f}%{'' if share >= wanted else f'  below {wanted}'}", file=out)


def describe(place):
    old, new = " ".join(place.old.split()), " ".join(place.new.split())
    if len(old) > 60:
        old, new = old[:57] + "...", new[:57] + "..."
    return f"{place.key} {place.file}:{place.line} {place.function}: {place.operator}: {old} -> {new}\n    in: {place.text}"


def write_json(path, sampled, results, equivalents):
    rows = []
    for place in sampled:
        if place.key in results:
            rows.append({"key": place.key, "file": place.file, "line": place.line, "function": place.function,
                         "operator": place.operator, "old": place.old, "new": place.new, "reason": equivalents.get(place.key),
                         **{k: v for k, v in results[place.key].items() if k != "key"}})
    with open(path, "w") as file:
        json.dump(rows, file, indent=1)


# --- all --------------------------------------------------------------------------------------------------------------


def read_results(path):
    results = {}
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                done = json.loads(line)
                results[done["key"]] = done
    return results


def arguments():
    parser = argparse.ArgumentParser(description="Plants faults and runs the tests that reach them.")
    parser.add_argument("--sample", type=int, default=400, help="how many lines (400)")
    parser.add_argument("--seed", type=int, default=1, help="which lines (1)")
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="files that begin with, or match, one of these")
    parser.add_argument("--keys", nargs="+", default=[], help="just these faults, again")
    parser.add_argument("--retry", action="store_true", help="run survivors again")
    parser.add_argument("--report", action="store_true", help="run nothing, report what is known")
    parser.add_argument("--old-reach", action="store_true", help="take the counts of suites as they were last measured")
    parser.add_argument("--scripts", action="store_true", help="run tests/scripts too where no suite notices")
    parser.add_argument("--json", default=os.path.join(WORK, "report.json"), help="where all results go as JSON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    return parser.parse_args()


def load_reach(tree, chosen):
    if not chosen.old_reach:
        return coverage.reach(tree, chosen.jobs, chosen.scripts)
    folder, found = os.path.join(tree, coverage.BUILD, "reach"), {}
    for name in suites.suites(tree) + (suites.scripts(tree) if chosen.scripts else []):
        path = os.path.join(folder, name.replace(":", "-") + ".json")
        if os.path.exists(path):
            with open(path) as file:
                found[name] = json.load(file)
    return found


def run_all(workshop, chosen, todo, results, path):
    reach = load_reach(workshop.tree, chosen)
    usable = measure_suites(workshop, [name for name in reach if not name.startswith(suites.SCRIPT)])
    usable.update({name: 1000 + counts["seconds"] for name, counts in reach.items() if name.startswith(suites.SCRIPT)})
    for number, place in enumerate(todo, 1):
        began = time.monotonic()
        try:
            done = dict(try_fault(workshop, place, reaching(reach, place, usable), usable), key=place.key)
        finally:
            workshop.take_out(place)
        results[place.key] = done
        with open(path, "a") as file:
            file.write(json.dumps(done) + "\n")
        said = f"{done['result']} by {done['by']} ({done['how']})" if "by" in done else done["result"].upper()
        print(f"[{number}/{len(todo)} {time.monotonic() - began:.0f} s] {said}: {describe(place)}", flush=True)


def main():
    chosen = arguments()
    tree = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
    os.chdir(tree)
    os.makedirs(WORK, exist_ok=True)
    path = os.path.join(WORK, "results.jsonl")
    results, equivalents = read_results(path), read_equivalents(tree)
    workshop = Workshop(tree, chosen.jobs)
    if not chosen.report:
        workshop.bring_up_to_date()
    found = all_places(tree, chosen.only)
    sampled = [p for p in found if p.key in chosen.keys] if chosen.keys else sample(found, chosen.seed, chosen.sample)
    again = ("survived", "not reached") if chosen.retry else ()
    todo = [p for p in sampled if chosen.keys or p.key not in results or
            (results[p.key]["result"] in again and p.key not in equivalents)]
    if todo and not chosen.report:
        run_all(workshop, chosen, todo, results, path)
    for place in sampled:
        if results.get(place.key, {}).get("result") in ("survived", "not reached") and place.key not in equivalents:
            print(f"{results[place.key]['result']}: {describe(place)}")
    write_report(sampled, results, equivalents, sys.stdout)
    write_json(chosen.json, sampled, results, equivalents)


if __name__ == "__main__":
    main()
