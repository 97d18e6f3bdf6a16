#!/usr/bin/env python3
"""mutants.py - do the tests notice planted faults?

Takes a sample of the lines of host/ and plugins/ (the same for the same seed) and plants one fault (places.py) in each, all of them
in one copy of the tree, which is built once: PLANTED_FAULT chooses the fault when a program starts. Every suite runs once without
a fault and writes down which places it comes to; then each fault is tried with the suites that come to its place, fast ones
first, until one fails. A fault that all of them pass has survived: a test is missing, or the fault changes nothing, and then
tests/mutants.txt says why.

Survivors whose object file is byte for byte that of the sources count as equivalent without a word. Results are kept in
build/mutants/results.jsonl, so that a run that was ended goes on where it was; --retry runs the survivors again.

A planted fault may kill any process or write anywhere, so suites run in a namespace of their own, where nothing but folders of their
own can be written and only their own processes are seen; that wants unshare and the right to mount.

tests/mutants.txt: a line with the key of the fault, then what it is, then indented lines with the reason why no test can see it.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import coverage  # noqa: E402
import places  # noqa: E402
import suites  # noqa: E402

WORK = "build/mutants"
# Folders that the rest stands on, and the share of faults that is wanted to be noticed there, in percent.
WANTED, WANTED_MORE = 85, 95
MORE_IN = ("host/store", "host/property", "host/plugin", "host/reload")
MORE_FILES = ("host/base/convert.c", "host/base/convert_many.c", "host/base/field.c")
NOT_BUILT = ("_win32.c", "_none.c", "_win32.h")
LIMIT_MEMORY = 6 << 30
SAME_CODE = ["cc", "-std=c11", "-O2", "-w", "-ffp-contract=off", "-Iplugin_api", "-Ihost", "-x", "c", "-c", "-", "-o"]

# The copy is seen at /mnt, wherever the tree lies, since suites get a /tmp of their own; what they write there goes with the namespace.
JAIL = r"""
mount --make-rprivate / && mount -t proc proc /proc && mount --bind "$2" /media && mount -t tmpfs tmpfs /srv &&
mkdir /srv/written /srv/work && mount -t overlay overlay -o "lowerdir=$1,upperdir=/srv/written,workdir=/srv/work" /mnt &&
cd /mnt && mount -t tmpfs tmpfs /tmp && mount -o remount,bind,ro / || exit 125
ulimit -v "$3"
shift 3
TMPDIR=/tmp
export TMPDIR
"$@"
"""

# What a file with faults in it begins with: no headers that ask what the file defines later. Each image that has such a file in it has
# variables of its own. Calls of the system go past the linker's doubles (tests/system/calls.c), which count them.
PLANTED_H = r"""
#ifndef PLANTED_H
#define PLANTED_H
#include <stdbool.h>
#include <sys/syscall.h>
extern char *getenv(const char *name);
extern int atoi(const char *text);
extern long syscall(long number, ...);
__attribute__((weak)) int planted_fault = -1;
__attribute__((weak)) volatile unsigned char *planted_seen;
__attribute__((weak, noinline)) void planted_start(void)
{
    const char *seen = getenv("PLANTED_SEEN"), *fault = getenv("PLANTED_FAULT");
    if (seen) {
        long file = syscall(SYS_openat, -100, seen, 02000002 /* O_RDWR | O_CLOEXEC */, 0);
        long at = file < 0 ? -1 : syscall(SYS_mmap, 0L, 65536L, 3L /* read, write */, 1L /* shared */, file, 0L);
        if (file >= 0)
            syscall(SYS_close, file);
        if (at > 0)
            planted_seen = (volatile unsigned char *)at;
    }
    planted_fault = fault ? atoi(fault) : 0;
}
static inline bool planted(int number)
{
    if (planted_fault < 0)
        planted_start();
    if (planted_seen)
        planted_seen[number] = 1;
    return planted_fault == number;
}
#endif
"""


class Workshop:
    """The copy of the tree that has the faults of a sample in it."""

    def __init__(self, tree, jobs):
        self.tree, self.jobs = tree, jobs
        self.copy = os.path.join(tree, WORK, "tree")
        self.shared = os.path.join(tree, WORK, "seen")
        os.makedirs(self.shared, exist_ok=True)
        os.makedirs(os.path.join(self.copy, "build", "scratch"), exist_ok=True)
        self.jail = ["unshare", "-p", "-m", "-f", "--kill-child", "sh", "-c", JAIL, "sh", self.copy, self.shared,
                     str(LIMIT_MEMORY >> 10)]
        if subprocess.run(self.jail + ["true"]).returncode != 0:
            sys.exit("mutants: no namespace of its own can be had (unshare, mount): faults could harm the machine")

    def plant(self, sampled):
        """Make the copy that of the tree with all faults in it, and build. Returns {key: number} of those that compile."""
        numbers = {place.key: number for number, place in enumerate(sampled, 1)}
        left_out = set()
        for _ in range(20):
            self.bring_up_to_date([(numbers[place.key], place) for place in sampled if place.key not in left_out])
            problem = self.make("test-parts")
            if not problem:
                return {key: number for key, number in numbers.items() if key not in left_out}
            wrong = {(file, int(line)) for file, line in re.findall(r"^([\w/.]+):(\d+):\d+: error", problem, flags=re.M)}
            bad = {place.key for place in sampled for file, line in wrong
                   if place.file == file and place.line - 1 <= line <= place.line + place.old.count("\n") + 8} - left_out
            if not bad:
                sys.exit(f"mutants: the tree does not build:\n{problem[-4000:]}")
            left_out |= bad
        return sys.exit("mutants: too many faults do not compile")

    def bring_up_to_date(self, numbered):
        """Write what differs from the copy, remove what has gone."""
        names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=self.tree, capture_output=True, text=True,
                               check=True).stdout.split("\n")
        texts = {name: read_bytes(os.path.join(self.tree, name)) for name in names
                 if name and os.path.isfile(os.path.join(self.tree, name))}
        by_file = collections.defaultdict(list)
        for number, place in numbered:
            by_file[place.file].append((number, place))
        for name, here in by_file.items():
            text = places.with_switches(texts[name].decode(), here)
            texts[name] = ('#include "planted.h"\n#line 1\n' + text).encode()
        texts["plugin_api/planted.h"] = PLANTED_H.encode()
        for folder, folders, files in os.walk(self.copy):
            if folder == self.copy:
                folders[:] = [name for name in folders if name != "build"]
            for file in files:
                if os.path.relpath(os.path.join(folder, file), self.copy) not in texts:
                    os.unlink(os.path.join(folder, file))
        state = hashlib.sha256()
        for name, text in sorted(texts.items()):
            if name.startswith(("host/", "plugin", "tests/", "Makefile")):
                state.update(name.encode() + b"\0" + text)
        self.state = state.hexdigest()
        for name, text in texts.items():
            path = os.path.join(self.copy, name)
            if not os.path.exists(path) or read_bytes(path) != text:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(text)
                shutil.copymode(os.path.join(self.tree, name), path) if name != "plugin_api/planted.h" else None

    def make(self, *targets):
        # What is built is run a few times: less is optimised, and debuggers get nothing.
        settings = ["BUILD=build", "WARN=-w -g0 -O1"] + (["CC=ccache cc"] if shutil.which("ccache") else [])
        done = subprocess.run(["make", "-s", "-k", f"-j{self.jobs}"] + settings + list(targets), cwd=self.copy,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return "" if done.returncode == 0 else done.stdout + done.stderr or "make failed"

    def same_code(self, place):
        """Does the compiler make the same of a file with the fault in it?"""
        if not place.file.endswith(".c"):
            return False
        with open(os.path.join(self.tree, place.file)) as file:
            source = file.read()
        codes = []
        for text in (source, places.planted(source, place)):
            with tempfile.NamedTemporaryFile(suffix=".o") as made:
                done = subprocess.run(SAME_CODE + [made.name, "-iquote", os.path.dirname(place.file)], cwd=self.tree,
                                      input=text.encode(), capture_output=True)
                if done.returncode != 0:
                    return False
                codes.append(read_bytes(made.name))
        return codes[0] == codes[1]

    def see(self, name, limit):
        """Run a suite without a fault; (result, seconds, output, the numbers of the places that it came to)."""
        seen = os.path.join(self.shared, name.replace(":", "-"))
        with open(seen, "wb") as file:
            file.write(bytes(65536))
        done = suites.run(self.copy, "build", name, limit, 3, self.jail, {"PLANTED_SEEN": "/media/" + os.path.basename(seen)})
        return done + ({number for number, byte in enumerate(read_bytes(seen)) if byte},)

    def run(self, name, number, limit):
        return suites.run(self.copy, "build", name, limit, 3, self.jail, {"PLANTED_FAULT": str(number)})


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
    """One place of each line, lines in an order that only the seed and the line decide; of each line one of its operators.

    Places that cover others in part are left out: both cannot be in one build.
    """
    lines = collections.defaultdict(list)
    for place in found:
        lines[(place.function, place.text)].append(place)
    chosen = []
    for (function, text), here in lines.items():
        operator = min({place.operator for place in here}, key=lambda name: rank(seed, function, text, name))
        place = min((place for place in here if place.operator == operator), key=lambda one: rank(seed, one.key))
        chosen.append((rank(seed, function, text), place))
    taken, by_file = [], collections.defaultdict(list)
    for _, place in sorted(chosen, key=lambda pair: pair[0]):
        if len(taken) < size and not any(places.overlap(place, other) for other in by_file[place.file]):
            taken.append(place)
            by_file[place.file].append(place)
    return taken


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


FAILED = re.compile(r":[FE]:[^:]*:(\w+):")


def failing(workshop, name, number, suite):
    """The test of a suite that fails, twice: a machine that is busy may fail one that waits for something. Or ""."""
    how = []
    for _ in range(2):
        result, _, output = workshop.run(name, number, 30 + 8 * suite.seconds)
        found = set(FAILED.findall(output)) - suite.fails or {result} - suite.fails - {"passed"}
        if not found or (suite.fails and found == {"failed"}):
            return ""
        how.append(found)
        if result == "too long":
            return result
    both = sorted(how[0] & how[1])
    return both[0] if both else ""


def try_fault(workshop, place, number, seen, nearby, most):
    """Try a fault with the suites that come to its place, at most for `most` seconds: fast ones first, and those that come to many
    of the places `nearby`, those of the same file."""
    names = [name for name in seen if number in seen[name].numbers]
    names.sort(key=lambda name: seen[name].seconds / len(seen[name].numbers & nearby))
    spent = 0
    for name in names:
        spent += seen[name].seconds
        if spent > most and spent > seen[name].seconds:
            break
        how = failing(workshop, name, number, seen[name])
        if how:
            return {"result": "noticed", "by": name, "how": how}
    if workshop.same_code(place):
        return {"result": "same code"}
    return {"result": "survived" if names else "not reached"}


# What a suite did without a fault: `fails` are the tests that fail in the namespace.
Suite = collections.namedtuple("Suite", "seconds numbers fails")


def see_all(workshop, names):
    """{name: Suite} of the suites that run without a fault; what was seen of these very sources is known already."""
    seen, path = {}, os.path.join(workshop.tree, WORK, "seen.json")
    if os.path.exists(path):
        with open(path) as file:
            known = json.load(file)
        for name, (seconds, numbers, fails) in known["suites"].items() if known["state"] == workshop.state else ():
            seen[name] = Suite(seconds, set(numbers), set(fails))

    def see(name):
        result, seconds, output, numbers = workshop.see(name, 900)
        fails = set(FAILED.findall(output))
        if result == "passed" or fails:
            seen[name] = Suite(seconds, numbers, fails)
        if result != "passed":
            print(f"mutants: {name} has {result} without a fault:\n{output}", file=sys.stderr)

    with concurrent.futures.ThreadPoolExecutor(workshop.jobs) as pool:
        list(pool.map(see, [name for name in names if name not in seen]))
    if len(seen) < len(names) * 3 // 4:
        sys.exit("mutants: too few suites pass without a fault")
    with open(path, "w") as file:
        json.dump({"state": workshop.state, "suites": {name: (suite.seconds, sorted(suite.numbers), sorted(suite.fails))
                                                       for name, suite in seen.items()}}, file)
    return {name: seen[name] for name in names if name in seen}


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
    parser.add_argument("--most", type=float, default=120, metavar="SECONDS",
                        help="how long suites run for one fault; one that is not noticed by then has survived (120)")
    parser.add_argument("--suites", nargs="+", default=[], help="just these suites")
    parser.add_argument("--scripts", action="store_true", help="run tests/scripts too")
    parser.add_argument("--json", default=os.path.join(WORK, "report.json"), help="where all results go as JSON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    return parser.parse_args()


def run_all(workshop, chosen, sampled, todo, results, path):
    numbers = workshop.plant(sampled)
    names = chosen.suites or suites.suites(workshop.tree) + (suites.scripts(workshop.tree) if chosen.scripts else [])
    seen, lock, begun = see_all(workshop, names), threading.Lock(), time.monotonic()
    print(f"mutants: {len(seen)} suites, {sum(suite.seconds for suite in seen.values()):.0f} s", flush=True)

    def work(place, most, last):
        began = time.monotonic()
        done = {"result": "does not compile"}
        if place.key in numbers:
            nearby = {numbers[other.key] for other in sampled if other.file == place.file and other.key in numbers}
            done = try_fault(workshop, place, numbers[place.key], seen, nearby, most)
        done["key"] = place.key
        said = f"{done['result']} by {done['by']} ({done['how']})" if "by" in done else done["result"].upper()
        with lock:
            print(f"[{time.monotonic() - begun:.0f} s, {time.monotonic() - began:.0f} s] {said}"
                  f"{'' if last or done['result'] != 'survived' else ' SO FAR'}: {describe(place)}", flush=True)
            if last or done["result"] != "survived":
                results[place.key] = done
                with open(path, "a") as file:
                    file.write(json.dumps(done) + "\n")

    # Most are noticed in no time; then come those that need more.
    with concurrent.futures.ThreadPoolExecutor(workshop.jobs) as pool:
        for most, last in ((chosen.most / 10, False), (chosen.most, True)):
            list(pool.map(lambda place: work(place, most, last), [place for place in todo if place.key not in results]))


def main():
    chosen = arguments()
    tree = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
    os.chdir(tree)
    os.makedirs(WORK, exist_ok=True)
    path = os.path.join(WORK, "results.jsonl")
    results, equivalents = read_results(path), read_equivalents(tree)
    found = all_places(tree, chosen.only)
    sampled = [p for p in found if p.key in chosen.keys] if chosen.keys else sample(found, chosen.seed, chosen.sample)
    again = ("survived", "not reached") if chosen.retry else ()
    todo = [p for p in sampled if chosen.keys or p.key not in results or
            (results[p.key]["result"] in again and p.key not in equivalents)]
    for place in todo:
        results.pop(place.key, None)
    if todo and not chosen.report:
        run_all(Workshop(tree, chosen.jobs), chosen, sampled, todo, results, path)
    for place in sampled:
        if results.get(place.key, {}).get("result") in ("survived", "not reached") and place.key not in equivalents:
            print(f"{results[place.key]['result']}: {describe(place)}")
    write_report(sampled, results, equivalents, sys.stdout)
    write_json(chosen.json, sampled, results, equivalents)


if __name__ == "__main__":
    main()
