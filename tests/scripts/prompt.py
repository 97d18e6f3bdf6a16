"""prompt.py PROGRAM INI OWN_INI WORDS_INI - the prompt below the output of a run in real time, as a person at a terminal has it.

A pseudo terminal with the program behind it: what comes is put on a screen of our own (a line at a time, with \\r and
"erase to the end of the line" obeyed), and what a person would read there is compared. Prints a line for each thing that
is so, and ends with 1 where one is not.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

PATIENCE = 60  # seconds


class Terminal:
    def __init__(self, arguments, kept, places=None, columns=None):
        """`kept` is the file of the history; without one it goes where the variables in `places` say."""
        environment = dict(os.environ, TERM="xterm", LC_ALL="C")
        for name in ("BACKPLANE_HISTORY", "XDG_STATE_HOME", "HOME", "NO_COLOR", "LC_CTYPE", "LANG"):
            environment.pop(name, None)
        environment.update({"BACKPLANE_HISTORY": kept} if places is None else places)
        self.pid, self.fd = pty.fork()
        if self.pid == 0 and columns is not None:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        if self.pid == 0:
            os.execve(arguments[0], arguments, environment)
        self.raw = b""
        self.seen = 0

    def read(self, seconds):
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return True
        try:
            got = os.read(self.fd, 65536)
        except OSError:
            return False
        self.raw += got
        return bool(got)

    def screen(self):
        """The lines as they stand on the screen."""
        lines, line, at = [], [], 0
        text = self.raw.decode("utf-8", "replace")
        for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|[\s\S]", text):
            if part == "\n":
                lines.append("".join(line))
                line, at = [], 0
            elif part == "\r":
                at = 0
            elif part == "\b":
                at = max(0, at - 1)
            elif part.startswith("\x1b["):
                if part.endswith("K") or part.endswith("J"):
                    del line[at:]
                elif part.endswith("G"):
                    at = int(part[2:-1] or 1) - 1
                elif part.endswith("C"):
                    at += int(part[2:-1] or 1)
            elif part.startswith("\x1b"):
                pass
            else:
                line += [" "] * (at + 1 - len(line))
                line[at] = part
                at += 1
        return lines + ["".join(line)]

    def hear(self, pattern, what):
        """Until a line that is new on the screen matches."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            lines = self.screen()
            for number in range(self.seen, len(lines)):
                if re.search(pattern, lines[number]):
                    self.seen = number
                    print("so:", what)
                    return lines[number]
            if not self.read(0.1) and not re.search(pattern, "\n".join(self.screen()[self.seen:])):
                break
        fail(f"not so: {what} ({pattern})", self)

    def listens(self):
        """Until the program reads keys one by one: what is typed before is shown by the system, a TAB as blanks."""
        until = time.monotonic() + PATIENCE
        while termios.tcgetattr(self.fd)[3] & termios.ECHO and time.monotonic() < until:
            time.sleep(0.01)

    def type(self, text):
        """Keys that are no letters wait until the program reads them one by one."""
        if re.search("[\\x04\\x15\\x1b\\t]", text):
            self.listens()
        os.write(self.fd, text.encode())

    def end(self):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            alive = self.read(0.1)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                return os.waitstatus_to_exitcode(status)
            if not alive:
                time.sleep(0.05)
        os.kill(self.pid, signal.SIGKILL)
        fail("not so: it ends", self)


def fail(sentence, terminal):
    print(sentence)
    print("\n".join(terminal.screen()))
    print(repr(terminal.raw[-300:]))
    sys.exit(1)


def main():
    program, ini, kept = sys.argv[1], sys.argv[2], os.path.join(os.path.dirname(os.path.abspath(sys.argv[2])), "kept")
    run = Terminal([program, "run", ini, "--real-time", "--show", "main/wheel.spin.angle"], kept)
    run.hear(r"^help lists the commands, quit ends the run", "the run says that there is a prompt")
    run.hear(r"^ +[0-9.]+ s +main/wheel.spin.angle = ", "a property is shown once a second")
    run.type("get main/wh")
    run.hear(r"^backplane> get main/wh$", "what is typed stands behind the prompt")
    run.hear(r"^ +[0-9.]+ s +main/wheel.spin.angle = ", "the property is shown meanwhile")
    run.hear(r"^backplane> get main/wh$", "and what was typed stands below it again")
    for line in run.screen():
        if " s  main/wheel.spin.angle" in line and "backplane>" in line:
            fail(f"not so: output and prompt each have lines of their own: {line}", run)
    run.type("eel.spin.speed\r")
    run.hear(r"^2\.5$", "a command is done while the world runs")
    run.type("set main/wheel.spin.speed 0\r")
    run.type("watch main/wheel.spin.speed\r")
    run.hear(r"^  step [0-9]+: main/wheel.spin.speed = 0$", "what is watched is shown once a second")
    first = run.hear(r"^  step [0-9]+: main/wheel.spin.speed = 0$", "again")
    number = int(re.search(r"step ([0-9]+)", first).group(1))
    if number < 30:
        fail(f"not so: steps are taken while the prompt waits: {number}", run)
    run.type("find main spin.speed < 1\r")
    run.hear(r"wheel", "find finds")
    run.type("reload spin\r")
    run.hear(r"^reloaded spin .*: pause ", "a plugin is reloaded while the world runs, and that is answered")
    run.type("reload nobody\r")
    run.hear(r"no plugin 'nobody' is loaded", "a plugin that is none is told")
    library = os.path.join(os.path.dirname(ini), "spin.so")
    with open(library + ".new", "w", encoding="ascii") as file:
        file.write("no library\n")
    os.rename(library, library + ".kept")
    os.rename(library + ".new", library)
    run.type("reload spin\r")
    run.hear(r"not reloaded.*spin", "what is no library is refused while the world runs")
    os.rename(library + ".kept", library)
    run.type("get main/wheel.spin.speed\r")
    run.hear(r"^0$", "values are what they were")
    run.type("nonsense\r")
    run.hear(r"no command 'nonsense'", "a command that is none is told")
    run.type("\x03")
    if run.end() != 0:
        fail("not so: Ctrl-C ends the run in good order", run)
    run.hear(r"^World +Unit +Plugin", "after Ctrl-C the report is printed")

    again = Terminal([program, "run", ini, "--real-time"], kept)
    again.hear(r"^backplane>", "another session has its prompt")
    again.type("\x1b[A" * 6)
    again.hear(r"^backplane> find main spin.speed < 1 *$", "the history has the lines of the session before")
    again.type("\r")
    again.hear(r"^0 entities$", "and does them")
    again.type("quit\r")
    if again.end() != 0:
        fail("not so: quit ends the run", again)
    again.hear(r"^World +Unit +Plugin", "after quit the report is printed")

    killed = Terminal([program, "console", ini], kept)
    killed.hear(r"^backplane>", "a console has its prompt")
    killed.type("stats\r")
    killed.hear(r"^World", "stats are printed")
    killed.hear(r"^backplane>", "the prompt is back")
    os.kill(killed.pid, signal.SIGKILL)
    killed.end()
    with open(kept, encoding="utf-8") as file:
        if "stats" not in file.read():
            fail("not so: the history is kept of a console that was killed", killed)
    print("so: the history is kept of a console that was killed")

    own = Terminal([program, "console", sys.argv[3]], kept)
    own.hear(r"^backplane>", "a console whose world has a component of its own has its prompt")
    own.type("get main.gr\t")
    own.hear(r"^backplane> get main.gravity_law$", "behind a world's name and a dot TAB offers its own components")
    own.type(".const\t")
    own.hear(r"^backplane> get main.gravity_law.constant *$", "and behind those their properties")
    own.type("\r")
    own.hear(r"^6\.6743e-11$", "which is a path that get takes")
    own.type("quit\r")
    if own.end() != 0:
        fail("not so: quit ends the console", own)
    complete_words(program, sys.argv[4], kept)
    keep_history(program, sys.argv[3], os.path.dirname(kept))
    show_progress(program, ini, kept)
    style_words(program, sys.argv[4], kept)
    narrow(program, ini, sys.argv[4], kept)
    try_changes(program, ini, kept)


def style_words(program, ini, kept):
    """Headings are bold, and trees have lines, where the terminal knows how."""
    for variables, bold, drawn in (({}, True, False), ({"TERM": "dumb"}, False, False), ({"TERM": ""}, False, False),
                                   ({"NO_COLOR": "1"}, False, False), ({"NO_COLOR": ""}, True, False),
                                   ({"LC_ALL": "C.UTF-8"}, True, True), ({"LC_ALL": "en.utf8"}, True, True),
                                   ({"LC_ALL": "", "LC_CTYPE": "en.UTF8"}, True, True),
                                   ({"LC_ALL": "", "LANG": "en.utf-8"}, True, True),
                                   ({"LC_ALL": "C", "LANG": "en.utf-8"}, True, False), ({"LC_ALL": ""}, True, False)):
        console = Terminal([program, "console", ini], None, dict({"BACKPLANE_HISTORY": kept}, **variables))
        console.hear(r"^backplane>", "a console has its prompt")
        console.type("stats\r")
        console.hear(r"World +Steps", "a table is printed")
        console.type("tree main\r")
        console.hear(r"moon #1:1", "a tree is drawn")
        console.type("quit\r")
        if console.end() != 0:
            fail(f"not so: a console with {variables} ends in good order", console)
        if (b"\x1b[1m" in console.raw) != bold:
            fail(f"not so: with {variables} headings are bold or plain", console)
        if ("\u2514" in console.raw.decode("utf-8", "replace")) != drawn:
            fail(f"not so: with {variables} a tree has lines or letters", console)
    print("so: headings and trees are as the terminal is")


def narrow(program, ini, words, kept):
    """On a narrow terminal a bar is cut, and words that TAB shows stand below each other."""
    run = Terminal([program, "run", ini, "--steps", "300000"], kept, columns=24)
    run.hear(r"^\[[#.]{1,22}$", "the bar of a narrow terminal is cut")
    if run.end() != 0:
        fail("not so: the run ends in good order", run)
    console = Terminal([program, "console", words], kept, columns=12)
    console.hear(r"^backplane>", "a narrow console has its prompt")
    console.type("h\t")
    console.hear(r"^help *$", "TAB shows a word in a line of its own")
    console.hear(r"^history *$", "and the next one below it")
    console.type("\x15un\t")
    console.hear(r"^unload_plugin *$", "a word that is wider than the terminal too")
    console.type("\x15quit\r")
    if console.end() != 0:
        fail("not so: a narrow console ends in good order", console)


def try_changes(program, ini, kept):
    """At a prompt what was tried is told with what it costs. A reload that is refused is told, and nothing has changed."""
    library = os.path.join(os.path.dirname(ini), "spin.so")
    console = Terminal([program, "console", ini], kept)
    console.hear(r"^backplane>", "a console has its prompt")
    console.type("try 20 set main/wheel.spin.speed 1\r")
    console.hear(r"^[0-9.e+-]+ ms a step with the change, [0-9.e+-]+ without$", "a change that was tried is told with its time")
    os.kill(console.pid, signal.SIGWINCH)
    console.type("try spin 20\r")
    console.hear(r"^it runs beside the host now", "a plugin runs beside the host")
    console.type("step 20\r")
    console.hear(r"^no difference 20 steps beside the host; that was all", "the steps of both are told")
    console.hear(r"^[0-9.e+-]+ ms a step, the host's own [0-9.e+-]+$", "with their time")
    console.type("drop\r")
    console.hear(r"^dropped$", "and it is dropped")
    with open(library + ".new", "w", encoding="ascii") as file:
        file.write("no library\n")
    os.rename(library, library + ".kept")
    os.rename(library + ".new", library)
    console.type("reload spin\r")
    console.hear(r"not reloaded, and nothing has changed: .*spin", "what is no library is refused")
    console.type("get main/wheel.spin.speed\r")
    console.hear(r"^2\.5$", "and values are what they were")
    os.rename(library + ".kept", library)
    console.type("quit\r")
    if console.end() != 0:
        fail("not so: quit ends the console", console)


def keep_history(program, ini, folder):
    """The history lies in the user's folder for states, which is made where there is none."""
    for places, path in (({"XDG_STATE_HOME": folder + "/a/states"}, "a/states/backplane/history"),
                         ({"HOME": folder + "/home"}, "home/.local/state/backplane/history"),
                         ({"XDG_STATE_HOME": "b", "HOME": folder + "/other"}, "other/.local/state/backplane/history"),
                         ({"HOME": "relative"}, None), ({}, None), ({"BACKPLANE_HISTORY": "x" * 5000}, None),
                         ({"BACKPLANE_HISTORY": ""}, None),
                         ({"XDG_STATE_HOME": "/dev/null/states"}, None), ({"XDG_STATE_HOME": "/" + "x" * 5000}, None)):
        before = sorted(os.listdir(folder))
        terminal = Terminal([program, "console", ini], None, places)
        terminal.hear(r"^backplane>", "a console has its prompt")
        terminal.type("worlds\r")
        terminal.hear(r"^main ", "and does a command")
        terminal.type("quit\r")
        if terminal.end() != 0:
            fail(f"not so: a console with {places} ends in good order", terminal)
        if path is None and sorted(os.listdir(folder)) != before:
            fail(f"not so: no history is kept with {places}", terminal)
        if path is not None and "worlds" not in open(os.path.join(folder, path), encoding="utf-8").read():
            fail(f"not so: with {places} the history is in {path}", terminal)
    print("so: the history is kept where the user's states are")


def show_progress(program, ini, kept):
    run = Terminal([program, "run", ini, "--steps", "300000"], kept)
    run.hear(r"^\[[#.]{40}\] +[0-9]+%  step [0-9]+ of 300000  [0-9].* left", "a bar tells how far a run is, and how long it will be")
    if run.end() != 0:
        fail("not so: the run ends in good order", run)
    run.hear(r"^300000 steps with", "the report is printed")
    if any(line.startswith("[#") for line in run.screen()):
        fail("not so: the bar has gone then", run)


# What is typed, and what stands behind the prompt after TAB.
COMPLETED = [
    ("plu", "plugins"), ("plugins debug", "plugins debug_name"), ("help unw", "help unwatch"),
    ("entities ma", "entities main"), ("save oth", "save other"), ("tree ma", "tree main"),
    ("tree main ear", "tree main earth"), ("spawn a.json oth", "spawn a.json other"),
    ("plugins debug_name", "plugins debug_name"),
    ("get ma", "get main/"), ("get main/ea", "get main/earth"), ("get main/#0", "get main/#0:1"),
    ("get main/earth.bo", "get main/earth.body"), ("get main/earth.body.ma", "get main/earth.body.mass"),
    ("set main/earth.lamp.co", "set main/earth.lamp.colour"), ("set main/earth.lamp.colour gr", "set main/earth.lamp.colour gre"),
    ("set main/earth.lamp.colour b", "set main/earth.lamp.colour blue"),
    ("destroy main/earth main/moo", "destroy main/earth main/moon"), ("load oth", "load other"),
    ("get main/twi", "get main/twin"), ("get main/earth", "get main/earth"),
]
# What leads nowhere stays as it is.
NOT_COMPLETED = [
    "zebra", "get main/tw", "get nowhere/ea", "get main/nobody.bo", "get main/earth.body.mass.x", "set nobody ", "set main/earth.lamp.colour z",
    "set main/earth ", "tree nowhere ea", "frobnicate ma", "spawn a.json other m", "get " + "x" * 300, "tree main earth m",
    "get " + "y" * 300 + "/e", "set " + "z" * 300 + " a",
    "get a b", "set main/nobody.lamp.colour g", "set main/earth.lamp g", "set main/earth.body.position x", "frobnicatefrobnicate ma",
    "get main/two w",
]


def complete_words(program, ini, kept):
    """TAB behind each kind of word; the line is then erased (Ctrl-U)."""
    console = Terminal([program, "console", ini], kept)
    console.hear(r"^backplane>", "a console of two worlds has its prompt")
    for typed, whole in COMPLETED:
        console.type(typed + "\t")
        console.hear("^backplane> " + re.escape(whole) + " *$", f"TAB completes {typed!r}")
        console.type("\x15")
        console.hear(r"^backplane> *$", "the line is erased")
    for typed in NOT_COMPLETED:
        console.type(typed + "\t" + "\x15mark\r")
        console.hear("under which name", f"TAB adds nothing to {typed[:40]!r}")
    console.type("get main/earth.body.\t")
    console.hear(r"main/earth.body.mass +main/earth.body.position", "TAB shows the words where there are several")
    console.type("\x15get crowd/#1\t")
    console.hear(r"crowd/#1\d*:1 +crowd/#1\d*:1", "TAB shows some of very many words")
    console.type("\x15  \r\u00e9mark\r")
    console.hear("under which name", "bytes that are no letters of the locale are passed over")
    console.type("\x04")
    if console.end() != 0:
        fail("not so: Ctrl-D ends the console in good order", console)
    print("so: Ctrl-D ends the console")



main()
