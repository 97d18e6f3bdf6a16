"""places.py - the places of a C file where a fault can be planted, and the text that each fault puts there.

A tokenizer, and a reader of statements inside function bodies; no preprocessor, so macros are left as they are. A Place
replaces the characters from `start` to `end` of the file by `new`; line numbers stay the same. From `begin` to `finish` is the
expression, condition or statement around it: with_switches() puts that text and the one with the fault there, of which
planted(NUMBER) chooses when the program runs. So one build has all the faults of a sample.

Operators:
  comparison      a < b becomes a <= b, a == b becomes a != b, and so on
  logic           && and || change places, ! goes
  off by one      an integer literal is one more or one less, + and - change places, ++ and -- too
  dropped call    a call that is a statement is not made
  dropped free    likewise, of functions whose names say that they give something back
  dropped change  an assignment is not made
  dropped path    the branch of an `if` is never taken; where it leaves the function or the loop this is a dropped error path
  lost error      a function of results returns BP_OK instead of what it found
  swapped order   two statements in a row, of which one writes or is given what the other names, change places
"""
import collections
import hashlib
import os
import re

Place = collections.namedtuple("Place", "file line function operator old new start end text key begin finish form")
Fault = collections.namedtuple("Fault", "operator old new start end function begin finish form")
Token = collections.namedtuple("Token", "text start end")

PATTERN = re.compile(r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<text>L?"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<number>(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)\w*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])
""", re.X | re.S | re.M)

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
STEPS = {"++": "--", "--": "++", "+=": "-=", "-=": "+="}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
GIVES_BACK = re.compile(r"(^|_)(free|close|destroy|release|drop|end|unmap|munmap|remove|discard|stop|join|unlock|clear|forget|retire)(_|$)")
LEAVES = {"return", "break", "continue", "goto"}
# How tightly binary operators bind.
BINDS = {"||": 3, "&&": 4, "|": 5, "^": 6, "&": 7, "==": 8, "!=": 8, "<": 9, "<=": 9, ">": 9, ">=": 9, "<<": 10, ">>": 10,
         "+": 11, "-": 11, "*": 12, "/": 12, "%": 12, "?": 2, ":": 2, ",": 0, ";": 0, **{sign: 1 for sign in ASSIGNMENTS}}
KEYWORDS = {"if", "else", "for", "while", "do", "switch", "case", "default", "return", "break", "continue", "goto", "sizeof"}


def tokens_of(source):
    found = []
    for match in PATTERN.finditer(source):
        if match.lastgroup != "space":
            found.append(Token(match.group(), match.start(), match.end()))
    return found


class Reader:
    """Reads the functions of one file; `self.faults` collects Faults."""

    def __init__(self, source):
        self.source = source
        self.tokens = tokens_of(source)
        self.at = 0
        self.faults = []
        self.function = ""
        self.returns_result = False
        self.read_file()

    def text(self, offset=0):
        at = self.at + offset
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def skip_group(self):
        """From an opening bracket to behind its end."""
        depth = 0
        while self.at < len(self.tokens):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(self.text(), 0)
            self.at += 1
            if depth == 0:
                return

    def read_file(self):
        begin = 0
        while self.at < len(self.tokens):
            if self.text() == "{" and self.text(-1) == ")":
                head = [token.text for token in self.tokens[begin:self.at]]
                self.function = head[head.index("(") - 1]
                self.returns_result = "bp_result_t" in head[:head.index("(")]
                self.read_block()
                begin = self.at
            elif self.text() in ("{", "(", "["):
                self.skip_group()
            else:
                self.at += 1
                if self.text(-1) == ";":
                    begin = self.at

    def fault(self, operator, new, start, end, form="statement", around=None):
        """`around`: from where to where the expression reaches of which a part is replaced."""
        begin, finish = around or (start, end)
        self.faults.append(Fault(operator, self.source[start:end], new, start, end, self.function, begin, finish, form))

    # --- statements ---

    def read_block(self):
        """A block from { to behind }: its statements; whether its last one leaves."""
        self.at += 1
        before, leaves = None, False
        while self.at < len(self.tokens) and self.text() != "}":
            begin = self.at
            kind, leaves = self.read_statement()
            span = (self.tokens[begin].start, self.tokens[self.at - 1].end)
            if kind == "simple" and before is not None and self.depend(before, span):
                self.fault("swapped order", self.source[span[0]:span[1]] + self.source[before[1]:span[0]] +
                           self.source[before[0]:before[1]], before[0], span[1])
            before = span if kind == "simple" else None
        self.at += 1
        return leaves

    def depend(self, first, second):
        """May the order of two statements (spans of the source) matter? Where one assigns, the other must name what it writes."""
        texts = [self.source[span[0]:span[1]] for span in (first, second)]
        if all(text.startswith(("memory_free(", "memory_free_text(")) for text in texts):
            return False  # blocks may be given back in any order
        written = [re.match(r"[\s*(]*([\w.>\[\]-]+)\s*(?:[-+*/|&^%]|<<|>>)?=[^=]", text) for text in texts]
        if not any(written):
            names = [set(re.findall(r"[A-Za-z_]\w*", text[text.find("("):])) for text in texts]
            return bool(names[0] & names[1])
        return any(match and re.search(r"\b" + re.escape(match.group(1)), other) or
                   (match and "(" in other and re.search(r"\b" + re.escape(re.match(r"\w*", match.group(1)).group()) + r"\b(?!->|\.)", other))
                   for match, other in zip(written, reversed(texts)))

    def read_statement(self):
        """Returns its kind ("simple" for a call or an assignment) and whether it leaves the function or loop."""
        word = self.text()
        if word == "{":
            return "block", self.read_block()
        if word in ("if", "while", "switch", "for"):
            return self.read_controlled(word)
        if word == "do":
            self.at += 1
            self.read_statement()
            self.read_plain()
            return "loop", False
        if word == "else":
            self.at += 1
            self.read_statement()
            return "else", False
        if word in ("case", "default") or (self.text(1) == ":" and word not in KEYWORDS and word != "?"):
            while self.text() != ":":
                self.at += 1
            self.at += 1
            return "label", False
        return self.read_plain()

    def read_controlled(self, word):
        self.at += 1
        begin = self.at
        self.skip_group()
        condition = self.tokens[begin:self.at]
        self.read_expression(condition)
        leaves = self.read_statement()[1]
        if word == "if":
            start, end = condition[0].start, condition[-1].end
            self.fault("dropped path", f"({self.source[start:end]} && 0)", start, end, "condition")
            if leaves:
                return "if", False
        return word, False

    def read_plain(self):
        begin, depth = self.at, 0
        while self.at < len(self.tokens):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(self.text(), 0)
            self.at += 1
            if depth == 0 and self.text(-1) == ";":
                break
        tokens = self.tokens[begin:self.at]
        self.read_expression(tokens)
        first = tokens[0].text
        if first == "return":
            self.read_return(tokens)
        if first in LEAVES:
            return "leave", True
        if first in ("PREFETCH", "PREFETCH_TO_WRITE"):  # which changes nothing but the time that something takes
            return "declaration", False
        kind = self.kind_of(tokens)
        start, end = tokens[0].start, tokens[-1].end
        if kind == "call":
            name = next((t.text for t in reversed(tokens[:self.last_call(tokens)]) if t.text.isidentifier()), "")
            self.fault("dropped free" if GIVES_BACK.search(name) else "dropped call", "(void)0;", start, end)
        elif kind == "change":
            self.fault("dropped change", "(void)0;", start, end)
        return ("simple" if kind != "" else "declaration"), False

    def read_return(self, tokens):
        value = [t.text for t in tokens[1:-1]]
        if self.returns_result and value and value != ["BP_OK"]:
            start, end = tokens[1].start, tokens[-2].end
            text = self.source[start:end]
            self.fault("lost error", f"((void)({text}), BP_OK)" if len(value) > 1 else "BP_OK", start, end, "expression")

    @staticmethod
    def last_call(tokens):
        """The index of the bracket that opens the arguments of the last call of a.b(c)->d(e);"""
        depth, last = 0, 0
        for i, token in enumerate(tokens):
            if token.text == "(" and depth == 0:
                last = i
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.text, 0)
        return last

    @staticmethod
    def kind_of(tokens):
        """call, change, or nothing for declarations and what else is no such statement."""
        at, depth, called = 0, 0, False
        if tokens[0].text == "(" and [t.text for t in tokens[1:3]] == ["void", ")"]:
            at = 3
        while tokens[at].text in ("*", "(", "++", "--", "&"):
            if tokens[at].text in ("++", "--"):
                return "change"
            at += 1
            depth += tokens[at - 1].text == "("
        if not tokens[at].text.isidentifier() or tokens[at].text in KEYWORDS:
            return ""
        at += 1
        while at < len(tokens):
            text = tokens[at].text
            if text in ("(", "["):
                called = text == "("
                level = 0
                while True:
                    level += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(tokens[at].text, 0)
                    at += 1
                    if level == 0:
                        break
            elif text in (".", "->"):
                called = False
                at += 2
            elif text == ")" and depth > 0:
                depth -= 1
                at += 1
            else:
                break
        text = tokens[at].text if at < len(tokens) else ""
        if text in ASSIGNMENTS or text in ("++", "--"):
            return "change"
        return "call" if text == ";" and called else ""

    # --- expressions ---

    def read_expression(self, tokens):
        for i, token in enumerate(tokens):
            before = tokens[i - 1].text if i > 0 else ""
            operand = is_operand(before)
            new = COMPARISONS.get(token.text) or LOGIC.get(token.text)
            if new:
                kind = "comparison" if token.text in COMPARISONS else "logic"
                self.fault(kind, new, token.start, token.end, "expression", around(tokens, i))
            elif token.text == "!":
                self.fault("logic", "!!", token.start, token.end, "expression", (token.start, after_operand(tokens, i + 1)))
            elif token.text in ("+=", "-="):
                self.fault("off by one", STEPS[token.text], token.start, token.end, "expression", around(tokens, i))
            elif token.text in STEPS:
                scope = (before_operand(tokens, i - 1), token.end) if operand else (token.start, after_operand(tokens, i + 1))
                self.fault("off by one", STEPS[token.text], token.start, token.end, "expression", scope)
            elif token.text in ("+", "-") and operand and before != "return":
                other = "-" if token.text == "+" else "+"
                self.fault("off by one", other, token.start, token.end, "expression", around(tokens, i))
            elif re.fullmatch(r"\d+[uU]?", token.text):
                self.fault("off by one", self.other_number(token), token.start, token.end, "expression")

    @staticmethod
    def other_number(token):
        digits = token.text.rstrip("uU")
        less = int(digits) > 0 and token.start % 2 == 0
        return str(int(digits) + (-1 if less else 1)) + token.text[len(digits):]


def is_operand(text):
    """Can a token be the end of an operand? One more sign is then a binary operator."""
    return text in (")", "]") or (text.isidentifier() and text not in KEYWORDS) or text[:1].isdigit() or text[-1:] in ("'", '"')


def around(tokens, i):
    """From where to where the expression reaches whose operator is tokens[i]."""
    binds, depth, first = BINDS[tokens[i].text], 0, i
    while first > 0:
        text = tokens[first - 1].text
        if depth == 0 and (text in "([{" or text in LEAVES or
                           (text in BINDS and BINDS[text] < binds and (first < 2 or is_operand(tokens[first - 2].text)))):
            break
        depth += {")": 1, "]": 1, "}": 1, "(": -1, "[": -1, "{": -1}.get(text, 0)
        first -= 1
    last, depth = i, 0
    while last + 1 < len(tokens):
        text = tokens[last + 1].text
        if depth == 0 and (text in ")]}" or (text in BINDS and BINDS[text] <= binds and
                                             (is_operand(tokens[last].text) or text in ",;?:"))):
            break
        depth += {")": -1, "]": -1, "}": -1, "(": 1, "[": 1, "{": 1}.get(text, 0)
        last += 1
    return tokens[first].start, tokens[last].end


def before_operand(tokens, i):
    """Where the operand starts that ends with tokens[i]: a name, what it is a part of, brackets behind it."""
    depth = 0
    while True:
        depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(tokens[i].text, 0)
        before = tokens[i - 1].text if i > 0 else ""
        bracket_of_more = tokens[i].text in "([" and (before in ")]" or before.isidentifier()) and before not in KEYWORDS
        if depth == 0 and not (before in (".", "->") or tokens[i].text in (".", "->") or bracket_of_more):
            return tokens[i].start
        i -= 1


def after_operand(tokens, i):
    """Where the operand ends that starts with tokens[i]."""
    while tokens[i].text in ("!", "*", "-", "~", "&", "++", "--"):
        i += 1
    depth = 0
    while True:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(tokens[i].text, 0)
        after = tokens[i + 1].text if i + 1 < len(tokens) else ""
        if depth == 0 and not (after in (".", "->", "(", "[") or tokens[i].text in (".", "->")):
            return tokens[i].end
        i += 1


def places_of(tree, name):
    """All places of the file `name` of a tree. Keys do not depend on the file's folder nor on the lines around the place."""
    with open(os.path.join(tree, name)) as file:
        source = file.read()
    lines = source.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found, seen = [], collections.Counter()
    for fault in sorted(Reader(source).faults, key=lambda fault: (fault.start, fault.operator, fault.end)):
        line = next(i for i, begin in enumerate(starts) if begin > fault.start)
        text = lines[line - 1].strip()
        same = (fault.function, fault.operator, fault.old, fault.new, text)
        seen[same] += 1
        key = hashlib.sha256("\0".join(same + (str(seen[same]),)).encode()).hexdigest()[:16]
        found.append(Place(name, line, fault.function, fault.operator, fault.old, fault.new, fault.start, fault.end, text, key,
                           fault.begin, fault.finish, fault.form))
    return found


def planted(source, place):
    """The text of a file with the fault in it."""
    newlines = place.old.count("\n") - place.new.count("\n")
    return source[:place.start] + place.new + "\n" * max(newlines, 0) + source[place.end:]


def overlap(one, other):
    """Do two places of a file cover each other in part, so that not both can be switched in one build?"""
    first, second = sorted((one, other), key=lambda place: (place.begin, -place.finish))
    return second.begin < first.finish and (second.finish > first.finish or
                                            (second.begin, second.finish) == (first.begin, first.finish))


def flat(text):
    """A text of C in one line."""
    return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S))


def with_switches(source, numbered):
    """The text of a file with all of [(number, place)] in it; no two of them overlap, one may lie in another."""
    return switched(source, 0, len(source), sorted(numbered, key=lambda pair: (pair[1].begin, -pair[1].finish)))


def switched(source, start, end, numbered):
    text, at = "", start
    while numbered:
        number, place = numbered[0]
        inner = [pair for pair in numbered[1:] if pair[1].begin < place.finish]
        numbered = [pair for pair in numbered[1:] if pair[1].begin >= place.finish]
        old = switched(source, place.begin, place.finish, inner)
        new = flat(source[place.begin:place.start] + place.new + source[place.end:place.finish])
        text += source[at:place.begin] + switch(number, place, old, new)
        at = place.finish
    return text + source[at:end]


def switch(number, place, old, new):
    if place.form == "condition":
        return f"({old} && !planted({number}))"
    if place.form == "expression":
        return f"(planted({number}) ? {new} : {old})"
    return f"{{ if (planted({number})) {{ {new} }} else {{ {old} }} }}"
