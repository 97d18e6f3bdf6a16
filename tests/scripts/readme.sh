#!/bin/sh
# readme.sh BUILD - README.md says what is so.
#
# Two rules, and README.md is written so that they find everything:
#   - a block ```c whose first line is "/* NAME.c ..." is a listing of examples/*/NAME.c and must equal it;
#   - a block ```sh and a block ``` with nothing but blank lines between them are commands and what they print.
#     They are run in a copy of the tree's root. Commands that build spin must print just that; elsewhere
#     numbers may differ in the fourth digit, since C libraries round differently, and "..." may be any word.
# The listing of spin.c, of at most 40 lines, and commands that build and run it must be among them.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
readme=$source/README.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "README.md: $*"; exit 1; }

[ -f "$readme" ] || fail "there is none; it must hold a listing of spin.c, commands that build and run it, and what they print"

# Take the README apart: N.kind, N.text for the N-th fenced block, N.joined where only blank lines part
# it from the one before.
awk -v out="$scratch" '
    /^```/ && !inside { inside = 1; n++; kind = substr($0, 4); print kind > (out "/" n ".kind"); file = out "/" n ".text"
                        printf "" > file; if (n > 1 && !prose) printf "" > (out "/" n ".joined"); next }
    /^```$/ && inside { inside = 0; prose = 0; close(file); next }
    inside { print > file; next }
    /[^ \t]/ { prose = 1 }
    END { print n + 0 > (out "/count"); if (inside) print "block " n " is not closed" > (out "/open") }
' "$readme"
[ ! -f "$scratch/open" ] || fail "$(cat "$scratch/open")"
count=$(cat "$scratch/count")

# --- listings ------------------------------------------------------------------------------------------
listings=""
i=0
while [ $i -lt "$count" ]; do
    i=$((i + 1))
    [ "$(cat "$scratch/$i.kind")" = c ] || continue
    name=$(sed -n '1s|^/\* \([a-z_]*\.c\) .*|\1|p' "$scratch/$i.text")
    [ -n "$name" ] || continue
    same=""
    for file in "$source"/examples/*/"$name"; do
        [ -f "$file" ] || fail "the listing of $name belongs to no file in examples/"
        cmp -s "$scratch/$i.text" "$file" && same=$file
    done
    [ -n "$same" ] || { diff "$file" "$scratch/$i.text" || :; fail "the listing of $name is not what examples/*/$name is"; }
    listings="$listings $name"
    if [ "$name" = spin.c ]; then
        lines=$(wc -l <"$scratch/$i.text")
        [ "$lines" -le 40 ] || fail "spin.c has $lines lines; at most 40 are promised"
    fi
done
case "$listings " in
*" spin.c "*) ;;
*) fail "there is no listing of the plugin: a block \`\`\`c that begins with '/* spin.c'" ;;
esac

# --- commands ------------------------------------------------------------------------------------------
root=$scratch/root
mkdir -p "$root/build"
cp -R "$source/examples" "$source/config" "$root"
find "$root/examples" -name '*.so' -exec rm -f {} +
ln -s "$source/plugin_api" "$source/host" "$source/plugins" "$source/docs" "$root"
ln -s "$build/backplane" "$build/plugins" "$root/build"
for library in "$build"/libbackplane.*; do
    ln -s "$library" "$root/build"
done

# Word by word; numbers may differ a little.
alike() {
    awk -v wanted="$1" '
        function near(a, b) { if (a == b || b == "...") return 1
            if (a !~ number || b !~ number) return 0
            d = a - b; if (d < 0) d = -d; s = a < 0 ? -a : a; return d <= 0.0002 * s + 1e-12 }
        BEGIN { number = "^[-+]?[0-9]*[.]?[0-9]+(e[-+]?[0-9]+)?$" }
        { line = $0
          if ((getline other < wanted) <= 0) exit bad = 1
          if (split(line, a) != (n = split(other, b))) exit bad = 1
          for (i = 1; i <= n; i++) if (!near(a[i], b[i])) exit bad = 1 }
        END { if (!bad && (getline other < wanted) > 0) bad = 1; exit bad }' "$2"
}

# Everything in the tree but what lies in build/, with the bytes of the files.
listed() {
    (cd "$root" && find . -path ./build -prune -o \( -type f -exec cksum {} + \) -o -print | sort)
}
before=$(listed)

runs=0
spins=0
i=1
while [ $i -lt "$count" ]; do
    commands=$scratch/$i.text
    kind=$(cat "$scratch/$i.kind")
    i=$((i + 1))
    if [ "$kind" != sh ] || [ ! -f "$scratch/$i.joined" ] || [ -n "$(cat "$scratch/$i.kind")" ]; then
        continue
    fi
    runs=$((runs + 1))
    (cd "$root" && sh -e "$commands") >"$scratch/output" 2>"$scratch/errors" </dev/null || {
        cat "$commands" "$scratch/output" "$scratch/errors"
        fail "these commands fail"
    }
    [ "$(listed)" = "$before" ] || { cat "$commands"; fail "these commands do not leave the tree as it was"; }
    [ ! -s "$scratch/errors" ] || { cat "$commands" "$scratch/errors"; fail "these commands complain"; }
    if grep -q spin "$commands" && ! grep -q reload "$commands"; then
        spins=$((spins + 1))
        grep -q '^cc -shared -fPIC -I plugin_api .*spin\.c -o .*spin\.so$' "$commands" || fail "spin.c is not built with one plain cc -shared"
        cmp -s "$scratch/output" "$scratch/$i.text" && continue
    else
        alike "$scratch/$i.text" "$scratch/output" && continue
    fi
    cat "$commands"
    diff "$scratch/$i.text" "$scratch/output" || :
    fail "these commands print something else"
done
[ $spins -gt 0 ] || fail "no block of commands that builds and runs spin, followed by what it prints"
echo "$(echo "$listings" | wc -w) listings, $runs blocks of commands"
