"""suites.py - what can be run to test this tree: the suites of the test program and the scripts of tests/scripts.

A suite is named as suite_create names it; a script by its file, with "script:" in front of it.
"""
import glob
import os
import re
import signal
import subprocess
import time

SCRIPT = "script:"


def suites(tree):
    """The names of all suites, in alphabetical order."""
    names = set()
    for path in glob.glob(os.path.join(tree, "tests", "**", "*.c"), recursive=True):
        with open(path) as file:
            names.update(re.findall(r'suite_create\("(\w+)"\)', file.read()))
    return sorted(names)


def scripts(tree):
    """The names of all scripts."""
    files = glob.glob(os.path.join(tree, "tests", "scripts", "*.sh"))
    return sorted(SCRIPT + os.path.basename(file)[:-3] for file in files if not file.endswith("/all.sh"))


def files_of(tree, script):
    """The files that a script is made of, and all those that scripts run."""
    helpers = (path for folder in ("scripts", "inspector") for ending in ("*.py", "*.json", "parts/*")
               for path in glob.glob(os.path.join(tree, "tests", folder, ending)))
    return [os.path.join(tree, "tests", "scripts", script[len(SCRIPT):] + ".sh")] + sorted(helpers)


def command(build, name):
    """The command that runs one of them, or all suites, in the folder of the tree."""
    if name and name.startswith(SCRIPT):
        return ["sh", os.path.join("tests", "scripts", name[len(SCRIPT):] + ".sh"), build]
    return [os.path.join(build, "tests")]


def run(tree, build, name, limit, multiplier, around=(), more=None):
    """Run a suite or script, or all suites where there is no name, at most `limit` seconds.

    `around` is a command that runs commands, `more` are variables of its environment. Returns ("passed", "failed" or
    "too long", seconds, the end of what it printed).
    """
    environment = dict(os.environ, CK_TIMEOUT_MULTIPLIER=str(multiplier), CK_FORK="yes")
    environment.pop("TESTS_HALF", None)
    environment.update(more or {})
    if name and not name.startswith(SCRIPT):
        environment["CK_RUN_SUITE"] = name
    os.makedirs(os.path.join(tree, build, "scratch"), exist_ok=True)
    began = time.monotonic()
    process = subprocess.Popen(list(around) + command(build, name), cwd=tree, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output = process.communicate(timeout=limit)[0]
        result = "passed" if process.returncode == 0 else "failed"
    except subprocess.TimeoutExpired:
        result = "too long"
        output = end(process)
    return result, time.monotonic() - began, output.decode(errors="replace")[-20000:]


def end(process):
    """End a process with all of its group. Check passes SIGTERM on to the test that it runs, which has a group of its own."""
    for number, patience in ((signal.SIGTERM, 3), (signal.SIGKILL, 10)):
        try:
            os.killpg(process.pid, number)
            return process.communicate(timeout=patience)[0]
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
    return b""
