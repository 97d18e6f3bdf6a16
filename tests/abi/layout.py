#!/usr/bin/env python3
"""layout.py - what the headers of the contract lay down, as text, and whether later headers keep to it.

    layout.py FOLDER                 print every struct, with offset, size and declaration of each member, and every
                                     constant, of the headers in FOLDER
    layout.py FOLDER --keeps FILE    compare with such a text: what is in FILE must be there, at the same place, with
                                     the same declaration; structs may only have grown at their end, those that are
                                     passed by value not even that

Exit status: 0 it is kept, 1 it is not (a line for each difference), 2 the headers cannot be read.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# Passed by value, kept in arrays by plugins, or of a fixed size by their contract.
FIXED = re.compile(r'bp_(entity|vec\d|quat|dvec\d|mat4|colour|list|value|property|path|ref|spawn|record|world_head|'
                   r'run_head|inline_found|table_list|\w+_list)_t$')


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(2)


def run(arguments, text=None):
    done = subprocess.run(arguments, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(done.stderr)
    return done.stdout


def split(body):
    """The parts of a struct's body, cut at semicolons outside braces."""
    parts, depth, part = [], 0, ''
    for letter in body:
        depth += (letter == '{') - (letter == '}')
        if letter == ';' and depth == 0:
            parts.append(' '.join(part.split()))
            part = ''
        else:
            part += letter
    return [part for part in parts if part]


def members(part):
    """Names and declarations of one part: float x, y is two."""
    function = re.search(r'\(\s*(?:__cdecl\s*)?\*\s*(\w+)\s*\)', part)
    if function:
        return [(function.group(1), part)]
    if '{' in part:
        return [(re.search(r'(\w+)\s*$', part).group(1), part)]
    names = re.findall(r'(\w+)\s*(?:\[[^\]]*\]\s*)?(?=,|$)', part)
    return [(name, part) for name in names]


def structs(text):
    for match in re.finditer(r'typedef (struct|union) (\w+)\s*\{', text):
        if not match.group(2).startswith('bp_'):
            continue
        depth, at = 1, match.end()
        while depth > 0:
            depth += (text[at] == '{') - (text[at] == '}')
            at += 1
        yield match.group(2), [m for part in split(text[match.end():at - 1]) for m in members(part)]
    for match in re.finditer(r'struct (bp_lists_o)\s*\{(.*?)\n\};', text, re.S):
        yield match.group(1), [m for part in split(match.group(2)) for m in members(part)]


def constants(text):
    for match in re.finditer(r'enum(?: \w+)?\s*\{(.*?)\}', text, re.S):
        yield from re.findall(r'(BP_\w+)', re.sub(r'=[^,]*', '', match.group(1)))


def layout(folder):
    folder = pathlib.Path(folder).resolve()
    names = sorted(path.name for path in folder.glob('bp_*.h'))
    include = ''.join(f'#include "{name}"\n' for name in names)
    text = run(['cc', '-E', '-P', '-std=c11', f'-I{folder}', '-'], include)
    lines = []
    for name, found in structs(text):
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for member, declared in found:
            declared = declared.replace('\\', '\\\\').replace('"', '\\"')
            lines.append(f'printf("{name}.{member} %zu %zu: {declared}\\n", offsetof({name}, {member}), '
                         f'sizeof((({name} *)0)->{member}));')
    for name in constants(text):
        lines.append(f'printf("{name} = %lld\\n", (long long){name});')
    source = f'{include}#include <stdio.h>\nint main(void) {{\n' + '\n'.join(lines) + '\nreturn 0; }\n'
    with tempfile.TemporaryDirectory() as scratch:
        run(['cc', '-std=c11', '-w', f'-I{folder}', '-x', 'c', '-', '-o', f'{scratch}/layout'], source)
        return run([f'{scratch}/layout']).splitlines()


def spare(key):
    return key.rsplit('.', 1)[-1].startswith(('reserved', 'padding'))


def differences(frozen, present):
    now = dict(line.split(' ', 1) for line in present)
    was = dict(line.split(' ', 1) for line in frozen)
    room = {}  # of each struct: the bytes that later members may take
    for key, rest in was.items():
        if key not in now:
            if not spare(key):
                yield f'{key} has gone'
        elif '.' not in key and '=' not in rest:
            room[key] = [] if FIXED.match(key) else [(int(rest), 1 << 32)]
            if int(now[key]) < int(rest) or (FIXED.match(key) and int(now[key]) != int(rest)):
                yield f'{key} had {rest} bytes; it has {now[key]}'
        elif now[key] != rest and not spare(key):
            yield f'{key} was "{rest}"; it is "{now[key]}"'
        if spare(key):
            offset, size = map(int, rest.split(':')[0].split())
            room.setdefault(key.split('.')[0], []).append((offset, offset + size))
    for key, rest in now.items():
        if '.' in key and key not in was and key.split('.')[0] in was:
            offset = int(rest.split(' ', 1)[0])
            if not any(begin <= offset < end for begin, end in room.get(key.split('.')[0], [])):
                yield f'{key} is new, and not behind what there was'


def main():
    arguments = sys.argv[1:]
    if len(arguments) == 1:
        print('\n'.join(layout(arguments[0])))
        return 0
    if len(arguments) == 3 and arguments[1] == '--keeps':
        frozen = pathlib.Path(arguments[2]).read_text(encoding='utf-8').splitlines()
        found = list(differences(frozen, layout(arguments[0])))
        print('\n'.join(found), end='\n' if found else '')
        return 1 if found else 0
    fail(__doc__)
    return 2


sys.exit(main())
