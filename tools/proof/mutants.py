#!/usr/bin/env python3
"""mutants.py - do the tests notice planted faults?

Takes a sample of the lines of host/ and plugins/ (the same for the same seed) and plants one fault (places.py) in each, all of them
in one copy of the tree, which is built once: PLANTED_FAULT chooses the fault when a program starts. Every test runs once without
a fault and writes down which places it comes to; then each fault is tried with the tests that come to its place, fast ones
first, until one fails. Tests are those of the test program, and after them the scripts of tests/scripts, each as a whole: much of
the program is reached by them alone. A fault that all of them pass has survived: a test is missing, or the fault changes nothing,
and then tests/mutants.txt says why.

What is in the copy stays there: faults of the next sample are added to those of the last one, so that files without new ones are
not built again, and tests that are as they were run without a fault once for all samples.

Survivors whose object file is byte for byte that of the sources count as equivalent without a word. Results are kept in
build/mutants/results.jsonl, so that a run that was ended goes on where it was; --retry runs the survivors again.

A planted fault may kill any process or write anywhere, so tests run in a namespace of their own, where nothing but folders of their
own can be written, only their own processes are seen, and no network but their own; that wants unshare and the right to mount.

tests/mutants.txt: a line with the key of the fault, then what it is, then indented lines with the reason why no test can see it.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import glob
import hashlib
import json
import os
import pickle
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
# Scripts that are not run: those of another system, of the source and of what the compiler made of it, which faults change.
SCRIPTS_NOT_RUN = {"script:windows", "script:statics", "script:checks", "script:public"}
LIMIT_MEMORY = 6 << 30
# Of suite history: 2,000 visits take a minute, and fewer come to the same places.
VISITS = "100"
# How many faults a copy can have: PLANTED_H has room for so many.
PLACES_MOST = 65536
BITS = bytes([ord("0")] + [ord("1")] * 255)
SAME_CODE = ["cc", "-std=c11", "-O2", "-w", "-ffp-contract=off", "-Iplugin_api", "-Ihost", "-x", "c", "-c", "-", "-o"]

# The copy is seen at /mnt, wherever the tree lies, since suites get a /tmp of their own; what they write there goes with the namespace.
JAIL = r"""
ip link set lo up; mount --make-rprivate / && mount -t proc proc /proc && mount --bind "$2" /media && mount -t tmpfs tmpfs /srv &&
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
extern int *__errno_location(void);
__attribute__((weak)) int planted_fault = -1;
__attribute__((weak)) volatile unsigned char *planted_seen;
__attribute__((weak, noinline)) void planted_start(void)
{
    const char *seen = getenv("PLANTED_SEEN"), *fault = getenv("PLANTED_FAULT");
    if (seen) {
        int number = *__errno_location();
        long file = syscall(SYS_openat, -100, seen, 02000002 /* O_RDWR | O_CLOEXEC */, 0);
        /* At one place of a process, so that libraries that come and go leave no pages behind. */
        long at = file < 0 ? -1 : syscall(SYS_mmap, 0x10a000000000L, 65536L, 3L /* read, write */,
                                          0x100001L /* shared, this address, unless it is taken */, file, 0L);
        if (at > 0 || (file >= 0 && *__errno_location() == 17 /* EEXIST: another library of this process has it there */))
            planted_seen = (volatile unsigned char *)0x10a000000000L;
        if (file >= 0)
            syscall(SYS_close, file);
        *__errno_location() = number;
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
        self.numbers, self.left_out = {}, set()
        self.imports = subprocess.run(["pkg-config", "--exists", "assimp"]).returncode == 0
        self.copy = os.path.join(tree, WORK, "tree")
        self.shared = os.path.join(tree, WORK, "seen")
        os.makedirs(self.shared, exist_ok=True)
        os.makedirs(os.path.join(self.copy, "build", "scratch"), exist_ok=True)
        self.jail = ["unshare", "-p", "-m", "-n", "-f", "--kill-child", "sh", "-c", JAIL, "sh", self.copy, self.shared,
                     str(LIMIT_MEMORY >> 10)]
        if subprocess.run(self.jail + ["true"]).returncode != 0:
            sys.exit("mutants: no namespace of its own can be had (unshare, mount): faults could harm the machine")

    def plant(self, sampled, found):
        """Make the copy that of the tree with these faults in it, and with those that it has already, and build.

        A fault keeps its number, whatever else is planted. Returns {key: number} of those that compile.
        """
        path = os.path.join(self.tree, WORK, "numbers.json")
        known = read_json(path, {"numbers": {}, "left_out": []})
        self.numbers, self.left_out = known["numbers"], set(known["left_out"])
        chosen = {place.key for place in sampled}
        planted, by_file = list(sampled), collections.defaultdict(list)
        for place in planted:
            by_file[place.file].append(place)
            self.numbers.setdefault(place.key, len(self.numbers) + 1)
        if len(self.numbers) >= PLACES_MOST:
            sys.exit(f"mutants: too many faults have been planted here: remove {WORK}")
        for place in found:
            if place.key in self.numbers and place.key not in chosen and \
                    not any(places.overlap(place, other) for other in by_file[place.file]):
                planted.append(place)
                by_file[place.file].append(place)
        for _ in range(20):
            self.bring_up_to_date([(self.numbers[place.key], place) for place in planted if place.key not in self.left_out])
            problem = self.make("test-parts", "built", *(["build/backplane-import", "build/import-check"] if self.imports else []))
            with open(path, "w") as file:
                json.dump({"numbers": self.numbers, "left_out": sorted(self.left_out)}, file)
            if not problem:
                return {place.key: self.numbers[place.key] for place in planted if place.key not in self.left_out}
            wrong = {(file, int(line)) for file, line in re.findall(r"^([\w/.]+):(\d+):\d+: error", problem, flags=re.M)}
            bad = {place.key for place in planted for file, line in wrong
                   if place.file == file and place.line - 1 <= line <= place.line + place.old.count("\n") + 8} - self.left_out
            if not bad:
                sys.exit(f"mutants: the tree does not build:\n{problem[-4000:]}")
            self.left_out |= bad
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

    def tests(self):
        """{name of a test, its file in front of it: what its file is}, in the order of the program's suites; then the scripts."""
        listed = subprocess.run([os.path.join("build", "tests")], cwd=self.copy, env=dict(os.environ, TESTS_ONLY="?"),
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout
        texts = {os.path.basename(path): hashlib.sha256(read_bytes(path)).hexdigest()
                 for path in glob.glob(os.path.join(self.copy, "tests", "**", "*.c"), recursive=True)}
        found = {name: texts[name.split(":")[0]] for name in re.findall(r"^\w+\.c:\w+$", listed, flags=re.M)}
        for name in suites.scripts(self.copy):
            if name not in SCRIPTS_NOT_RUN:
                found[name] = hashlib.sha256(b"".join(map(read_bytes, suites.files_of(self.copy, name)))).hexdigest()
        return found

    def see(self, name, limit):
        """Run a test or script without a fault; (result, seconds, output, the places that it came to: bit N is fault N)."""
        seen = os.path.join(self.shared, re.sub(r"\W", "-", name))
        with open(seen, "wb") as file:
            file.truncate(PLACES_MOST)
        for _ in range(2):  # A machine that is busy may fail one that waits for something.
            done = self.run([name], limit, {"PLANTED_SEEN": "/media/" + os.path.basename(seen)})
            if done[0] == "passed":
                break
        bits = read_bytes(seen)
        os.unlink(seen)
        return done + (int(bits[::-1].translate(BITS), 2),)

    def run(self, names, limit, more):
        """Run tests, or one script, in a namespace of their own."""
        more = {"HISTORY_VISITS": VISITS, **more}
        if names[0].startswith(suites.SCRIPT):
            return suites.run(self.copy, "build", names[0], limit, 3, self.jail, more)
        return suites.run(self.copy, "build", None, limit, 3, self.jail, {"TESTS_ONLY": " ".join(names), **more})


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def read_json(path, otherwise):
    if not os.path.exists(path):
        return otherwise
    with open(path) as file:
        return json.load(file)


# --- what to plant -------------------------------------------------------------------------------------------------


def all_places(tree):
    """The places of all files, first ones of a key alone. What a file has is remembered while the file is as it was."""
    names = subprocess.run(["git", "ls-files", "host", "plugins"], cwd=tree, capture_output=True, text=True, check=True).stdout.split()
    path = os.path.join(tree, WORK, "places.pickle")
    reader = hashlib.sha256(read_bytes(places.__file__)).hexdigest()
    known = pickle.loads(read_bytes(path)) if os.path.exists(path) else {}
    if known.get("reader") != reader:
        known = {"reader": reader}
    found, keys = [], set()
    for name in names:
        if not name.endswith((".c", ".h")) or name.endswith(NOT_BUILT):
            continue
        state = hashlib.sha256(read_bytes(os.path.join(tree, name))).hexdigest()
        if known.get(name, ("",))[0] != state:
            known[name] = (state, [tuple(place) for place in places.places_of(tree, name)])
        for place in map(places.Place._make, known[name][1]):
            if place.key not in keys:
                keys.add(place.key)
                found.append(place)
    with open(path, "wb") as file:
        pickle.dump(known, file)
    return found


def is_in(name, parts):
    return any(fnmatch.fnmatch(name, pattern) or name.startswith(pattern) for pattern in parts)


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


def failing(workshop, names, number, seconds):
    """The test of these that fails, twice: a machine that is busy may fail one that waits for something. Or "".

    A program that was ended, or that the fault ended, says of no test that it failed: the other time decides which it was.
    """
    both = set()
    script = names[0].startswith(suites.SCRIPT)
    for patience in (1, 3):
        result, _, output = workshop.run(names, patience * (20 + (3 if script else 8) * seconds), {"PLANTED_FAULT": str(number)})
        if result == "passed":
            return ""
        failed = set(names) if script else set(FAILED.findall(output))
        if both and failed and not both & failed:
            return ""
        both = both & failed or both | failed
        names = [name for name in names if script or name.split(":")[-1] in failed] or names
    return min(both, default=result)


def batches(names, seen):
    """Tests in portions: small ones first, since most faults are noticed at once."""
    portion, seconds, enough = [], 0, 0.3
    for name in names:
        portion.append(name)
        seconds += seen[name].seconds
        if seconds >= enough or name.startswith(suites.SCRIPT):
            yield portion, seconds
            portion, seconds, enough = [], 0, min(enough * 2, 20)
    if portion:
        yield portion, seconds


def try_fault(workshop, place, number, seen, nearby, most, passed):
    """Try a fault with the tests that come to its place, at most for `most` seconds, but for those that it has `passed`, to which
    others are added: fast ones first, and those that come to many of the places `nearby`, those of the same file; where others
    have passed, then those first of whose places many are nearby; scripts last. Returns the result, and whether all these have run."""
    names = [name for name in seen if seen[name].places >> number & 1]

    def rank_of(name):
        near = (seen[name].places & nearby).bit_count()
        return (0.05 + seen[name].seconds) / near * (seen[name].places.bit_count() if passed else 1)

    left, all_run = most, True
    todo = sorted((name for name in names if name not in passed), key=lambda name: (name.startswith(suites.SCRIPT), rank_of(name)))
    for portion, seconds in batches(todo, seen):
        if left <= 0:
            all_run = False
            break
        left -= seconds
        how = failing(workshop, portion, number, seconds)
        if how:
            return {"result": "noticed", "by": how}, True
        passed.update(portion)
    if workshop.same_code(place):
        return {"result": "same code"}, True
    return {"result": "survived" if names else "not reached", "tests": len(names)}, all_run


# What a test did without a fault.
Test = collections.namedtuple("Test", "seconds places")


def see_all(workshop, names, todo):
    """{name: Test} of the tests that pass without a fault. What was seen of a test whose file is as it was is known already, unless
    there are faults to be tried that were not planted then. `names` is {name: what its file is}."""
    path = os.path.join(workshop.tree, WORK, "seen.json")
    known, needed = read_json(path, {}), max(todo, default=0)
    planted = max(workshop.numbers.values(), default=0)
    missing = [name for name in names if known.get(name, {}).get("file") != names[name] or known[name]["planted"] < needed]
    lock, done = threading.Lock(), []

    def see(name):
        result, seconds, output, seen = workshop.see(name, 1200)
        if result != "passed":
            why = [line for line in output.split("\n") if FAILED.search(line)] or output.split("\n")[-3:]
            print(f"mutants: {name} is left out, it has {result} without a fault:\n" + "\n".join(why[:3]), file=sys.stderr, flush=True)
        with lock:
            known[name] = {"file": names[name], "planted": planted, "seconds": round(seconds, 3), "places": f"{seen:x}",
                           "passed": result == "passed"}
            done.append(name)
            if len(done) % 100 == 0 or len(done) == len(missing):
                with open(path, "w") as file:
                    json.dump(known, file)

    if missing:
        print(f"mutants: {len(missing)} tests run without a fault", flush=True)
    missing.sort(key=lambda name: -known.get(name, {}).get("seconds", 0))
    with concurrent.futures.ThreadPoolExecutor(workshop.jobs) as pool:
        list(pool.map(see, missing))
    seen = {name: Test(known[name]["seconds"], int(known[name]["places"], 16)) for name in names if known[name]["passed"]}
    if len(seen) < len(names) // 2:
        sys.exit("mutants: too few tests pass without a fault")
    return seen


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
    parser.add_argument("--most", type=float, default=600, metavar="SECONDS",
                        help="how long tests run for one fault; one that is not noticed by then has survived (600)")
    parser.add_argument("--tests", nargs="+", default=[], metavar="NAME",
                        help="just these tests or scripts, or those of these files: test_store.c test_base.c:name script:docs")
    parser.add_argument("--json", default=os.path.join(WORK, "report.json"), help="where all results go as JSON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    return parser.parse_args()


def run_all(workshop, chosen, found, sampled, todo, results, path):
    numbers = workshop.plant(sampled, found)
    names = {name: state for name, state in workshop.tests().items() if not chosen.tests or is_in(name, chosen.tests)}
    seen = see_all(workshop, names, [numbers[place.key] for place in todo if place.key in numbers])
    lock, begun, by_file, passed = threading.Lock(), time.monotonic(), collections.defaultdict(int), collections.defaultdict(set)
    for place in found:
        by_file[place.file] |= 1 << numbers[place.key] if place.key in numbers else 0
    print(f"mutants: {len(seen)} tests, {sum(test.seconds for test in seen.values()):.0f} s", flush=True)

    def work(place, most, last):
        began = time.monotonic()
        done, decided = {"result": "does not compile"}, True
        if place.key in numbers:
            done, decided = try_fault(workshop, place, numbers[place.key], seen, by_file[place.file], most,
                                      passed[place.key])
        done["key"] = place.key
        said = f"noticed by {done['by']}" if "by" in done else done["result"].upper()
        with lock:
            print(f"[{time.monotonic() - begun:.0f} s, {time.monotonic() - began:.0f} s] {said}"
                  f"{'' if last or decided else ' SO FAR'}: {describe(place)}", flush=True)
            if last or decided:
                results[place.key] = done
                with open(path, "a") as file:
                    file.write(json.dumps(done) + "\n")

    # Most are noticed in no time; then come those that need more.
    with concurrent.futures.ThreadPoolExecutor(workshop.jobs) as pool:
        for most, last in ((min(10, chosen.most), False), (chosen.most, True)):
            list(pool.map(lambda place: work(place, most, last), [place for place in todo if place.key not in results]))


def main():
    chosen = arguments()
    tree = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
    os.chdir(tree)
    os.makedirs(WORK, exist_ok=True)
    path = os.path.join(WORK, "results.jsonl")
    results, equivalents = read_results(path), read_equivalents(tree)
    found = all_places(tree)
    within = [place for place in found if not chosen.only or is_in(place.file, chosen.only)]
    sampled = [p for p in found if p.key in chosen.keys] if chosen.keys else sample(within, chosen.seed, chosen.sample)
    again = ("survived", "not reached") if chosen.retry else ()
    todo = [p for p in sampled if chosen.keys or p.key not in results or
            (results[p.key]["result"] in again and p.key not in equivalents)]
    for place in todo:
        results.pop(place.key, None)
    if todo and not chosen.report:
        run_all(Workshop(tree, chosen.jobs), chosen, found, sampled, todo, results, path)
    for place in sampled:
        if results.get(place.key, {}).get("result") in ("survived", "not reached") and place.key not in equivalents:
            print(f"{results[place.key]['result']}: {describe(place)}")
    write_report(sampled, results, equivalents, sys.stdout)
    write_json(chosen.json, sampled, results, equivalents)


if __name__ == "__main__":
    main()
