#!/usr/bin/env python3
"""benchmarks.py [--check] [--publish RESULTS.json] [--add RESULTS.json] - docs/benchmarks.md and its curves, from what `bench` has measured.

    make bench                                               measures, into bench/results/bench.json
    tools/benchmarks.py --publish bench/results/bench.json   keeps that run as bench/results/published.json, and writes
    tools/benchmarks.py --add SOME.json                      puts the figures of a run with --filter in the place of those
                                                             that were published, and writes when they were measured
    tools/benchmarks.py                                      writes docs/benchmarks.md and docs/benchmarks/*.svg
    tools/benchmarks.py --check                              are they what this tool writes?

What people have written is in bench/benchmarks.template.md. It may hold these, in double braces:

    machine               what the run was made on, when, and by which command
    table GLOB ... [| sizes N ...]   figures whose names match, a row each; one column for each size
    plot NAME             a curve of PLOTS below
    behind                figures over their bounds, with the reasons that stand as `why`
    floors                figures that take more than twice their floor and have no bound
    why NAME: TEXT        the reason for a figure over its bound; left out where it is kept
    value NAME SIZE, ratio NAME SIZE, budget PATH    one number, within a line
"""
import argparse
import fnmatch
import json
import math
import os
import re
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TEMPLATE = os.path.join(ROOT, "bench", "benchmarks.template.md")
PUBLISHED = os.path.join(ROOT, "bench", "results", "published.json")
BUDGETS = os.path.join(ROOT, "bench", "budgets.json")
PAGE = os.path.join(ROOT, "docs", "benchmarks.md")
CURVES = os.path.join(ROOT, "docs", "benchmarks")
KEPT = ("name", "run_name", "run_type", "aggregate_name", "repetitions", "real_time", "time_unit", "size", "unit",
        "value", "value_low", "value_high", "of_all", "floor_value", "ratio", "ratio_low", "ratio_high", "bytes_held",
        "bytes_held_bound", "bound", "bound_unit", "bound_ratio", "bound_than", "bound_kept")

# Curves: title, label of the x axis, key of the figures, and figures with what to call them; those with a `-` before
# their label are drawn as floors, dashed.
PLOTS = {
    "look_up": ("One float of entities in random order", "entities", "value", [
        ("look_up/loop", "-plain loop"), ("look_up/by_batch", "by batch"), ("look_up/one_by_one", "one by one"),
        ("look_up/inline", "inline")]),
    "scattered": ("One float of entities in random order: set", "entities", "value", [
        ("scattered/loop_set", "-plain loop"), ("scattered/set_by_batch", "by batch"),
        ("scattered/set_one_by_one", "one by one"), ("scattered_50/set_by_batch", "by batch, 50 prototypes"),
        ("scattered_50/set_one_by_one", "one by one, 50 prototypes")]),
    "add_remove": ("A component comes and goes, shuffled before each pass", "entities", "value", [
        ("add_remove_shuffled/loop_pairs", "-hand-written, one by one"),
        ("add_remove_shuffled/loop_ahead", "-hand-written, fetched ahead"),
        ("add_remove_shuffled/one_by_one", "one by one"), ("add_remove_shuffled/by_batch", "by batch")]),
    "add_remove_in_order": ("A component comes and goes, in the order of the rows", "entities", "value", [
        ("add_remove/loop_pairs", "-hand-written, one by one"), ("add_remove/one_by_one", "one by one"),
        ("add_remove/by_batch", "by batch")]),
    "create": ("Creating entities of 40 bytes in fresh memory", "entities", "value", [
        ("spawn/fresh/first_touch", "-first touch of as many bytes"), ("spawn/fresh/by_count", "by count"),
        ("spawn/fresh/one_by_one", "one by one")]),
    "destroy": ("Destroying them, collection included", "entities", "value", [
        ("entity/destroy_rows/loop", "-hand-written swap-erase"), ("entity/destroy_rows/by_count", "by count"),
        ("entity/destroy_rows/one_by_one", "one by one")]),
    "simulate": ("A step of point masses", "entities", "value", [
        ("simulate/loop_same_arrays", "-the same loop by itself"), ("simulate/plugin", "a step of the world")]),
    "index_time": ("The index test: time of one entity with all that happens to it", "entities made in all", "value", [
        ("index_test/loop", "-hand-written"), ("index_test/one_by_one", "one by one"),
        ("index_test/by_composition", "by composition"), ("index_alone/one_by_one", "index alone, one by one"),
        ("index_alone/by_composition", "index alone, by composition"),
        ("index_old/old_index", "the article's old index")]),
    "index_bytes": ("The index test: bytes held in the end", "entities made in all", "bytes_held", [
        ("index_test/one_by_one", "one by one"), ("index_test/by_composition", "by composition"),
        ("index_alone/one_by_one", "index alone"), ("index_old/old_index", "the article's old index")]),
    "memory": ("Bytes of an entity beyond its fields", "entities", "value", [
        ("memory/entity/resident", "resident, made in bulk"),
        ("memory/entity/resident_grown", "resident, made one by one"),
        ("memory/entity/resident_churned", "resident, all made twice"),
        ("memory/entity/allocated", "allocated, made in bulk")]),
    "churn_bytes": ("Bytes of an entity beyond its fields after 600 steps of churn", "entities", "value", [
        ("churn/0.1_percent/memory_allocated", "0.1 % a step"), ("churn/1_percent/memory_allocated", "1 % a step"),
        ("churn/5_percent/memory_allocated", "5 % a step")]),
    "death": ("The longest step after many have died at once", "entities before", "value", [
        ("mass_death/a_fifth/longest_step", "a fifth"), ("mass_death/half/longest_step", "half"),
        ("mass_death/all/longest_step", "all")]),
    "waning_at_once": ("Dead rows after many have died at once, in per cent of the living", "steps since", "value", [
        ("waning/a_fifth/dead_rows", "a fifth of a million"), ("waning/half/dead_rows", "half"),
        ("waning/nine_tenths/dead_rows", "nine tenths")]),
    "waning_each_step": ("Dead rows while some die in each step and others come", "steps", "value", [
        ("waning/0.1_percent/dead_rows", "0.1 % of a million"), ("waning/1_percent/dead_rows", "1 %"),
        ("waning/5_percent/dead_rows", "5 %")]),
    "worlds_time": ("The same entities dealt over many worlds: time of one", "worlds", "value", [
        ("worlds/create", "create"), ("worlds/destroy", "destroy"), ("worlds/step", "a step")]),
    "worlds_bytes": ("The same entities dealt over many worlds: bytes of one beyond its fields", "worlds", "value", [
        ("worlds/memory", "allocated")]),
    "systems": ("Many systems: one's share of a step", "systems", "value", [
        ("systems/calls", "-an empty call"), ("systems/step", "a step"), ("systems/first_step", "the first step")]),
}


# --- results ----------------------------------------------------------------------------------------------------

class Results:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            root = json.load(file)
        self.context = root["context"]
        self.instructions = root["instructions"]
        self.figures = {}  # name -> {size: figure}, in the order of the run
        for figure in root["benchmarks"]:
            if figure["aggregate_name"] == "median":
                name = figure["run_name"].rsplit("/", 1)[0]
                self.figures.setdefault(name, {})[figure["size"]] = figure

    def at(self, name, size):
        return self.figures.get(name, {}).get(size)


def budgets():
    """Instructions an item of each hot path, as they are recorded today for the first compiler."""
    with open(BUDGETS, encoding="utf-8") as file:
        record = json.load(file)["records"][0]
    paths = {name: (entry["own"] + entry["system"]) / entry["items"] for name, entry in record["paths"].items()}
    return {"compiler": record["compiler"], "paths": {name: round(each, 1) for name, each in paths.items()}}


def measured(path):
    """The context of a run and its medians."""
    with open(path, encoding="utf-8") as file:
        root = json.load(file)
    return root["context"], [{k: f[k] for k in KEPT if k in f} for f in root["benchmarks"]
                             if f["aggregate_name"] == "median"]


def publish(path):
    keep(*measured(path))


def add(path):
    """Figures of courses that a second run has measured stand for those of the first."""
    context, figures = measured(PUBLISHED)
    later, more = measured(path)
    courses = {f["run_name"].split("/")[0] for f in more}
    context["added"] = [a for a in context.get("added", []) if not courses.intersection(a["courses"])]
    context["added"].append({"courses": sorted(courses), "date": later["date"], "load_avg": later["load_avg"]})
    keep(context, [f for f in figures if f["run_name"].split("/")[0] not in courses] + more)


def keep(context, figures):
    os.makedirs(os.path.dirname(PUBLISHED), exist_ok=True)
    context, counts = (json.dumps(o, separators=(",", ":")) for o in (context, budgets()))
    with open(PUBLISHED, "w", encoding="utf-8") as file:
        file.write('{\n"context": %s,\n"instructions": %s,\n"benchmarks": [\n' % (context, counts))
        file.write(",\n".join(json.dumps(f, separators=(",", ":")) for f in figures))
        file.write("\n]\n}\n")


def folded(text, indent=""):
    return textwrap.fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


# --- numbers as people read them --------------------------------------------------------------------------------

SCALES = {"ns": (("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9)),
          "bytes": (("B", 1), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9))}


def digits(value):
    if value == 0:
        return "0"
    text = "%.*f" % (max(0, 2 - int(math.floor(math.log10(abs(value))))), value)
    return text.rstrip("0").rstrip(".") if "." in text and abs(value) < 0.1 else text


def quantity(value, unit):
    if unit == "percent":
        return digits(value) + " %"
    if unit == "steps":
        return "%d steps" % value
    scale = [s for s in SCALES[unit] if abs(value) >= 0.9995 * s[1]] or [SCALES[unit][0]]
    name, factor = scale[-1]
    if abs(value) < 10000 and name not in ("ns", "B") and not value >= 2 * factor:
        name, factor = scale[-2]  # 1,300 ns rather than 1.30 us
    return digits(value / factor) + " " + name


def size_text(size):
    for factor, letter in ((1000000, " M"), (1000, " k")):
        if size >= factor:
            return ("%g" % (size / factor)) + letter
    return str(size)


def range_text(low, high):
    return size_text(low) if low == high else "%s to %s" % (size_text(low), size_text(high))


def bound_text(figure):
    texts = []
    if "bound" in figure:
        if figure["bound_unit"] == "ratio":
            texts.append("%g x" % figure["bound"] + (" of %s" % figure["bound_than"] if "bound_than" in figure else ""))
        else:
            texts.append(quantity(figure["bound"], figure["unit"]))
    if "bytes_held_bound" in figure:
        texts.append(quantity(figure["bytes_held_bound"], "bytes") + " held")
    return ", ".join(texts)


def cell(figure):
    if figure is None:
        return ""
    text = quantity(figure["value"], figure["unit"])
    if "ratio" in figure:
        text += ", %s x" % digits(figure["ratio"])
    if "bytes_held" in figure:
        text += ", %s" % quantity(figure["bytes_held"], "bytes")
    return "**%s**" % text if figure.get("bound_kept") == 0 else text


# --- tables -----------------------------------------------------------------------------------------------------

def bounds_of(by_size, sizes):
    """One text for all sizes that are shown: "17 ns to 100 k; 1 x from 1 M"."""
    parts = []
    for size in sizes:
        text = bound_text(by_size[size]) if size in by_size else None
        if text is None:
            continue
        if parts and parts[-1][0] == text:
            parts[-1][2] = size
        else:
            parts.append([text, size, size])
    told = [p for p in parts if p[0]]
    if len(told) == 1 and len(parts) == 1:
        return told[0][0]
    return "; ".join("%s at %s" % (text, range_text(low, high)) for text, low, high in told)


def table(results, words):
    globs, _, option = " ".join(words).partition("|")
    globs = globs.split()
    names = [n for n in results.figures if any(fnmatch.fnmatchcase(n, g) for g in globs)]
    if not names:
        return "(not in this run)"
    wanted = [int(w) for w in option.split()[1:]] if option.split()[:1] == ["sizes"] else None
    sizes = sorted({s for n in names for s in results.figures[n] if wanted is None or s in wanted})
    lines = ["| | " + " | ".join(size_text(s) for s in sizes) + " | wanted |", "| --- |" + " --- |" * (len(sizes) + 1)]
    for name in names:
        by_size = results.figures[name]
        cells = [name] + [cell(by_size.get(s)) for s in sizes] + [bounds_of(by_size, sizes)]
        lines.append("| %s |" % " | ".join(cells))
    return "\n".join(lines)


def excess(figure):
    """How many times its bound a figure is."""
    over = 0
    if "bound" in figure:
        over = (figure["bound_ratio"] if figure["bound_unit"] == "ratio" else figure["value"]) / figure["bound"]
    if "bytes_held_bound" in figure:
        over = max(over, figure["bytes_held"] / figure["bytes_held_bound"])
    return over


def behind(results, reasons):
    rows = []
    for name, by_size in results.figures.items():
        over = [f for f in by_size.values() if f.get("bound_kept") == 0]
        if over:
            rows.append((max(excess(f) for f in over), name, over, sum("bound_kept" in f for f in by_size.values())))
    kept = sum(f.get("bound_kept") == 1 for by_size in results.figures.values() for f in by_size.values())
    over_count = sum(len(r[2]) for r in rows)
    lines = ["%d of %d figures with a bound keep it. These do not, the farthest first:" % (kept, kept + over_count), "",
             "| | where | measured | wanted | times |", "| --- | --- | --- | --- | --- |"]
    for most, name, over, _ in sorted(rows, key=lambda r: -r[0]):
        worst = max(over, key=excess)
        sizes = sorted(f["size"] for f in over)
        measured = "%s at %s" % (cell(worst).strip("*"), size_text(worst["size"]))
        cells = (name, range_text(sizes[0], sizes[-1]), measured, bound_text(worst), digits(most))
        lines.append("| %s |" % " | ".join(cells))
    told = [(name, text) for name, text in reasons if any(fnmatch.fnmatchcase(r[1], name) for r in rows)]
    if told:
        lines += ["", "Why:", ""] + [folded("* **%s** - %s" % pair, "  ") for pair in told]
    return "\n".join(lines if rows else ["All %d figures with a bound keep it." % kept])


def floors(results):
    rows = []
    for name, by_size in results.figures.items():
        largest = by_size[max(by_size)]
        if largest.get("ratio", 0) > 2 and "bound_kept" not in largest:
            rows.append((largest["ratio"], name, largest))
    lines = ["| | at | measured | floor | ratio |", "| --- | --- | --- | --- | --- |"]
    for ratio, name, figure in sorted(rows, key=lambda r: -r[0]):
        value, floor = (quantity(figure[key], figure["unit"]) for key in ("value", "floor_value"))
        lines.append("| %s |" % " | ".join((name, size_text(figure["size"]), value, floor, digits(ratio))))
    return "\n".join(lines if rows else ["(none in this run)"])


def cache_text(cache):
    kind = {"Data": "d", "Instruction": "i"}.get(cache["type"], "")
    size = "%d KiB" % (cache["size"] >> 10) if cache["size"] < 1 << 20 else "%g MiB" % (cache["size"] / (1 << 20))
    return "L%d%s %s" % (cache["level"], kind, size)


def machine(results):
    c = results.context
    text = "`%s` on %s, %d processors" % (c["command"], c["cpu_model"] or "an unknown processor", c["num_cpus"])
    text = ", ".join([text] + [cache_text(k) for k in c["caches"]])
    text += "; %s; %s, load %.2f at its end." % (c["compiler"], c["date"][:10], c["load_avg"][0])
    if c.get("quick"):
        text += " A quick run: few repetitions, nothing above a million; figures for a first look."
    if c["load_avg"][0] > c["num_cpus"] + 0.5:
        text += " **The machine was busy with other work: times are too long by a factor, and ratios differ too.**"
    for a in c.get("added", []):
        text += " Measured later, on %s, load %.2f: %s." % (a["date"][:10], a["load_avg"][0], ", ".join(a["courses"]))
    return folded(text)


# --- curves -----------------------------------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 400, 62, 210, 46, 46
# Colours of lines and their dots, and of floors, on light and on dark ground.
LIGHT = (("#0969da", "#bc4c00", "#1a7f37", "#8250df", "#bf3989", "#9a6700"), ("#6e7781", "#8c959f"))
DARK = (("#58a6ff", "#f0883e", "#56d364", "#bc8cff", "#f778ba", "#e3b341"), ("#8b949e", "#6e7681"))


def colour_rules(colours):
    rules = []
    for kinds, all_of_kind in (("sd", colours[0]), ("fe", colours[1])):
        for i, colour in enumerate(all_of_kind):
            rules.append(".%s%d { stroke: %s } .%s%d { fill: %s }" % (kinds[0], i, colour, kinds[1], i, colour))
    return "\n  ".join(rules)


STYLE = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #3d444d }
  .title { font-size: 14px; font-weight: 600; fill: #1f2328 }
  .back { fill: #ffffff; stroke: #d1d9e0 }
  .grid { stroke: #e4e9ee; stroke-width: 1 } .minor { stroke: #f3f5f7; stroke-width: 1 }
  .line { fill: none; stroke-width: 2.2; stroke-linejoin: round } .floor { stroke-dasharray: 5 4; stroke-width: 1.6 }
  .lead { stroke: #b6c0ca; stroke-width: 1; fill: none }
  %s
  @media (prefers-color-scheme: dark) {
  text { fill: #adbac7 } .title { fill: #e6edf3 } .back { fill: #0d1117; stroke: #30363d }
  .grid { stroke: #262c34 } .minor { stroke: #171c23 } .lead { stroke: #4a535d }
  %s
  }
""" % (colour_rules(LIGHT), colour_rules(DARK))


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


HEAD = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" '
        'aria-label="%s">')
LINE = '<line class="%s" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>'
TEXT = '<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>'
DOT = '<circle class="%s" cx="%.1f" cy="%.1f" r="%.1f"><title>%s</title></circle>'


class Axis:
    """A logarithmic axis from `low` to `high`, between two places of the picture."""

    def __init__(self, values, start, end, least_decades):
        low, high = math.log10(min(values)), math.log10(max(values))
        margin = max(0.04 * (high - low), (least_decades - (high - low)) / 2, 0.02)
        self.low, self.high = low - margin, high + margin
        self.start, self.end = start, end

    def at(self, value):
        return self.start + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self):
        """Decades with a text, and where there are few of them twos and fives; the others without."""
        few = self.high - self.low < 2.2
        for exponent in range(math.floor(self.low), math.ceil(self.high) + 1):
            for digit in range(1, 10):
                value = digit * 10.0 ** exponent
                if self.low <= math.log10(value) <= self.high:
                    yield value, digit == 1 or few and digit in (2, 5), digit == 1


def spread(places, gap, low, high):
    """Places of labels, moved apart so that two are never nearer than `gap`."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    placed = list(places)
    for _ in range(200):
        moved = False
        for a, b in zip(order, order[1:]):
            lack = gap - (placed[b] - placed[a])
            if lack > 0.01:
                placed[a] -= lack / 2
                placed[b] += lack / 2
                moved = True
        placed = [min(max(p, low), high) for p in placed]
        if not moved:
            break
    return placed


def lines_of(results, key, figures):
    """[(label, is a floor, unit, [(size, value)])] of those that the run has."""
    lines = []
    for name, label in figures:
        by_size = results.figures.get(name, {})
        points = [(size, by_size[size][key]) for size in sorted(by_size) if by_size[size].get(key, 0) > 0]
        if points:
            unit = "bytes" if key == "bytes_held" else by_size[points[0][0]]["unit"]
            lines.append((label.lstrip("-"), label.startswith("-"), unit, points))
    return lines


def draw_grid(x, y, unit):
    out = []
    for value, told, decade in y.ticks():
        place = y.at(value)
        out.append(LINE % ("grid" if decade else "minor", LEFT, WIDTH - RIGHT, place, place))
        if told:
            out.append(TEXT % (LEFT - 7, place + 4, "end", tick_text(value, unit)))
    for value, told, decade in x.ticks():
        place = x.at(value)
        out.append(LINE % ("grid" if decade else "minor", place, place, TOP, HEIGHT - BOTTOM))
        if told:
            out.append(TEXT % (place, HEIGHT - BOTTOM + 17, "middle", size_text(round(value))))
    return out


def plot(results, title, x_label, key, figures):
    lines = lines_of(results, key, figures)
    if not lines:
        return None
    x = Axis([p[0] for line in lines for p in line[3]], LEFT, WIDTH - RIGHT, 0.5)
    y = Axis([p[1] for line in lines for p in line[3]], HEIGHT - BOTTOM, TOP, 1.0)
    out = [HEAD % (WIDTH, HEIGHT, WIDTH, HEIGHT, escape(title)), "<style>%s</style>" % STYLE,
           '<rect class="back" x="0.5" y="0.5" width="%d" height="%d" rx="8"/>' % (WIDTH - 1, HEIGHT - 1),
           '<text class="title" x="16" y="26">%s</text>' % escape(title)]
    out += draw_grid(x, y, lines[0][2])
    out.append(TEXT % ((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "middle", escape(x_label)))
    out += draw_lines(lines, x, y)
    out.append("</svg>")
    return "\n".join(out) + "\n"


def tick_text(value, unit):
    if unit in SCALES:
        name, factor = [s for s in SCALES[unit] if value >= 0.999 * s[1]][-1] if value >= 0.999 else SCALES[unit][0]
        return "%g %s" % (round(value / factor, 6), name)
    return "%g%s" % (round(value, 6), " %" if unit == "percent" else "")


def draw_lines(lines, x, y):
    out, ends, colours, floor_count = [], [], [], 0
    for label, is_floor, unit, points in lines:
        number = floor_count % 2 if is_floor else len(colours) - floor_count
        colours.append(("f%d" % number, "e%d" % number) if is_floor else ("s%d" % (number % 6), "d%d" % (number % 6)))
        floor_count += is_floor
        places = [(x.at(size), y.at(value)) for size, value in points]
        path = " ".join("%s%.1f %.1f" % ("M" if i == 0 else "L", *place) for i, place in enumerate(places))
        out.append('<path class="line %s%s" d="%s"/>' % (colours[-1][0], " floor" if is_floor else "", path))
        for (size, value), (px, py) in zip(points, places):
            told = "%s, %s: %s" % (escape(label), size_text(size), quantity(value, unit))
            out.append(DOT % (colours[-1][1], px, py, 2.4 if is_floor else 3.2, told))
        ends.append(places[-1])
    labels = spread([end[1] for end in ends], 16, TOP + 4, HEIGHT - BOTTOM)
    for (label, _, unit, points), end, place, colour in zip(lines, ends, labels, colours):
        at = WIDTH - RIGHT + 16
        out.append('<path class="lead" d="M%.1f %.1f L%.1f %.1f"/>' % (end[0] + 5, end[1], at - 4, place))
        out.append('<circle class="%s" cx="%.1f" cy="%.1f" r="3.6"/>' % (colour[1], at + 2, place))
        out.append('<text x="%.1f" y="%.1f">%s</text>' % (at + 10, place + 4, escape(label)))
    return out


# --- the page ---------------------------------------------------------------------------------------------------

def inline(results, match):
    words = match.group(1).split()
    if words[0] == "budget":
        count = results.instructions["paths"].get(words[1])
        return "(not in this run)" if count is None else "%d" % count if count >= 20 else digits(count)
    if words[0] in ("value", "ratio"):
        figure = results.at(words[1], int(words[2]))
        if figure is None or words[0] == "ratio" and "ratio" not in figure:
            return "(not in this run)"
        return quantity(figure["value"], figure["unit"]) if words[0] == "value" else digits(figure["ratio"])
    sys.exit("benchmarks: '%s' in the template is nothing that this tool knows" % match.group(0))


def block(results, words, reasons, curves):
    if words[0] == "machine":
        return machine(results)
    if words[0] == "table":
        return table(results, words[1:])
    if words[0] == "behind":
        return behind(results, reasons)
    if words[0] == "floors":
        return floors(results)
    if words[0] == "plot":
        if words[1] not in PLOTS:
            sys.exit("benchmarks: there is no plot '%s'; there are %s" % (words[1], ", ".join(PLOTS)))
        title, *rest = PLOTS[words[1]]
        curves[words[1] + ".svg"] = plot(results, title, *rest)
        return "![%s](benchmarks/%s.svg)" % (title, words[1]) if curves[words[1] + ".svg"] else "(not in this run)"
    return None


HEADING = ("<!-- Written by tools/benchmarks.py from bench/benchmarks.template.md and bench/results/published.json:\n"
           "change those. -->\n")


def write_page(results):
    """The page, and its curves by file name."""
    with open(TEMPLATE, encoding="utf-8") as file:
        template = file.read()
    why = re.compile(r"^\{\{why (\S+): (.*?)\}\}\n", re.M | re.S)
    reasons = [(m.group(1), " ".join(m.group(2).split())) for m in why.finditer(template)]
    reasons = [(name, re.sub(r"\{\{(.*?)\}\}", lambda m: inline(results, m), text)) for name, text in reasons]
    template = why.sub("", template)
    curves, out = {}, []
    for line in template.split("\n"):
        alone = re.fullmatch(r"\{\{(.*)\}\}", line)
        text = block(results, alone.group(1).split(), reasons, curves) if alone else None
        out.append(text if text is not None else re.sub(r"\{\{(.*?)\}\}", lambda m: inline(results, m), line))
    return HEADING + "\n".join(out), {name: text for name, text in curves.items() if text}


def read(path):
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--publish", metavar="RESULTS.json")
    parser.add_argument("--add", metavar="RESULTS.json")
    options = parser.parse_args()
    if options.publish:
        publish(options.publish)
    if options.add:
        add(options.add)
    if not os.path.exists(PUBLISHED):
        print("benchmarks: no run was published yet; --publish does that")
        return 0 if options.check else 1
    page, curves = write_page(Results(PUBLISHED))
    files = {PAGE: page, **{os.path.join(CURVES, name): text for name, text in curves.items()}}
    if options.check:
        stale = [os.path.relpath(path, ROOT) for path, text in files.items() if read(path) != text]
        if stale:
            print("benchmarks: %s is not what tools/benchmarks.py writes;" % ", ".join(stale),
                  "change bench/benchmarks.template.md and run that")
        return 1 if stale else 0
    os.makedirs(CURVES, exist_ok=True)
    for path, text in files.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    print("docs/benchmarks.md and %d curves" % len(curves))
    return 0


if __name__ == "__main__":
    sys.exit(main())
