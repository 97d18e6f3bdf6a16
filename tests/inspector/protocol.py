"""protocol.py BUILD [--write] - docs/protocol.md, run as it stands: each listing of the shell, against the answer below.

The first host is that of the document. "..." in an answer stands for any value, at the end of an array for any more of
it, and as a key for any more members. With --write the answers are put in anew: what differs between two hosts, or is
long, is left out. Every method that the server has must be there, and none that it has not.
"""
import json
import os
import re
import subprocess
import sys

from host import Host

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
DOCUMENT = os.path.join(ROOT, "docs", "protocol.md")
PAIR = re.compile(r"```sh\n(?P<command>[^`]*)```\n\n```json\n(?P<answer>[^`]*)```")
ANY = "..."
LONGEST = 3  # items of an array that are shown
CHANGING = {"step", "time", "spent", "seconds", "steps", "bytes", "structure", "revision", "watch", "now", "last", "keyframes"}


def check(truth, what):
    if not truth:
        raise AssertionError(what)


def fits(told, wanted):
    if wanted == ANY:
        return True
    if isinstance(wanted, dict) and isinstance(told, dict):
        return (set(told) == set(wanted) or ANY in wanted and set(wanted) - {ANY} <= set(told)) and \
            all(key == ANY or fits(told[key], value) for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(told, list):
        open_end = wanted[-1:] == [ANY] and len(told) != len(wanted)
        items = wanted[:-1] if open_end else wanted
        return (len(told) >= len(items) if open_end else len(told) == len(items)) and all(map(fits, told, items))
    return told == wanted


def shortened(one, other):
    """What two hosts agree on."""
    if isinstance(one, dict) and isinstance(other, dict) and set(one) == set(other):
        outside = {key for key in one if key in ("path", "url", "value") and str(one[key]).startswith(("/", "http"))}
        outside |= {key for key in one if key in CHANGING and isinstance(one[key], (int, float))}
        return {key: ANY if key in outside else shortened(one[key], other[key]) for key in one}
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        simple = not any(isinstance(item, (dict, list)) for item in one)
        most = 16 if simple else LONGEST
        return [shortened(a, b) for a, b in zip(one[:most], other)] + ([ANY] if len(one) > most else [])
    return one if one == other else ANY


def answers(build, commands, functions):
    with open(os.path.join(ROOT, "examples", "scenes", "harbour.ini"), encoding="utf-8") as file:
        ini = file.read().replace("../../", ROOT + "/").replace("scenes = ", f"scenes = {ROOT}/examples/scenes/")
    ini = ini.replace("plugins = ", "history = 256 MiB\nplugins = inspector ", 1) + "\n[plugin inspector]\nport = 0\n"
    with Host(build, ini) as host:
        methods = [method["name"] for method in host.call("rpc.discover")["methods"]]
        told = []
        for command in commands:
            script = (functions + command).replace(":15702", f":{host.port}")
            text = subprocess.run(["sh", "-c", script], check=True, capture_output=True, text=True).stdout.strip()
            text = text[5:] if text.startswith("data:") else text
            told.append(text if text == "BPPT" else json.loads(text))
    return told, methods


def main():
    with open(DOCUMENT, encoding="utf-8") as file:
        document = file.read()
    functions = re.search(r"```sh\n(ask\(\)[^`]*)```", document).group(1)
    pairs = list(PAIR.finditer(document))
    commands = [pair.group("command") for pair in pairs]
    told, methods = answers(sys.argv[1], commands, functions)
    headings = re.findall(r"^### (\S+)$", document, re.MULTILINE)
    check(set(headings) == set(methods), f"not in the document: {sorted(set(methods) - set(headings))}; "
                                         f"not in the server: {sorted(set(headings) - set(methods))}")
    if "--write" in sys.argv:
        again = answers(sys.argv[1], commands, functions)[0]
        for pair, one, other in reversed(list(zip(pairs, told, again))):
            text = json.dumps(shortened(one, other), indent=1, ensure_ascii=False)
            text = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: "[" + re.sub(r",\s+", ", ", m.group(1)) + "]", text)
            document = document[:pair.start("answer")] + text + "\n" + document[pair.end("answer"):]
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(document)
        return
    for pair, answer in zip(pairs, told):
        check(fits(answer, json.loads(pair.group("answer"))),
              f"docs/protocol.md: {pair.group('command')}was answered {json.dumps(answer)}")
    print(f"{len(pairs)} listings, {len(methods)} methods")


main()
