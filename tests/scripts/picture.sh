#!/bin/sh
# picture.sh BUILD - the PNG that the plugin picture writes: whole, of the size wanted, the same each time, and
# refused at the start where it cannot be. Where BUILD has no plugin picture (no libpng), there is nothing to check.
set -eu

build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
[ -f "$build/plugins/picture.so" ] || { echo "picture is not built"; exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "picture: $*"
    exit 1
}

# small FILE - config/bubbles.ini with few sprites, writing to FILE
small() {
    sed -e "s,^file = .*,file = $scratch/$1," -e 's/^steps = .*/steps = 20/' -e 's/^count = 1000000/count = 2000/' -e 's/^width = .*/width = 300/' \
        -e 's/^height = .*/height = 200/' "$source/config/bubbles.ini" >"$scratch/small.ini"
}

for name in first second; do
    small "$name.png"
    "$build/backplane" run "$scratch/small.ini" --steps 20 >"$scratch/said" 2>&1 || { cat "$scratch/said"; fail "the run fails"; }
    grep -q "$name.png: 2020 sprites" "$scratch/said" || { cat "$scratch/said"; fail "the report does not tell of the picture"; }
done
cmp "$scratch/first.png" "$scratch/second.png" || fail "the same run gives two pictures"
[ ! -e "$scratch/first.png.part" ] || fail "an unfinished file is left"

# Fewer steps than the ini says leave what a whole run has made.
small first.png
"$build/backplane" run "$scratch/small.ini" --steps 5 >"$scratch/said" 2>&1 || { cat "$scratch/said"; fail "a short run fails"; }
cmp "$scratch/first.png" "$scratch/second.png" || fail "a short run replaces the picture of a whole one"
[ -f "$scratch/first.partial.png" ] || fail "a short run leaves no picture"
grep -q 'first.partial.png: 2020 sprites, after 5 of 20 steps' "$scratch/said" || { cat "$scratch/said"; fail "the report does not say what was run"; }

# Signature, and width and height of the first chunk; and the last chunk is there.
head=$(od -An -tx1 -N24 "$scratch/first.png" | tr -d ' \n')
[ "$head" = 89504e470d0a1a0a0000000d494844520000012c000000c8 ] || fail "the file begins with $head"
tail -c 8 "$scratch/first.png" | od -An -c | grep -q 'I *E *N *D' || fail "the file has no end"

# A host that has gone back paints the moment at which it is, with that moment's number.
small early.png
sed -i -e 's/^steps = .*/steps = 15/' "$scratch/small.ini"
"$build/backplane" run "$scratch/small.ini" >/dev/null 2>&1 || fail "a run of 15 steps fails"
small early.png
sed -i -e "s,/early.png,/back.png," -e 's/^steps = .*/steps = 15\nhistory = 64 MiB/' "$scratch/small.ini"
printf 'step 20\nback 5\n' | "$build/backplane" console "$scratch/small.ini" >"$scratch/said" 2>&1 ||
    { cat "$scratch/said"; fail "going back fails"; }
cmp "$scratch/early.png" "$scratch/back.png" || fail "a picture of the past is not that of its moment"

# No step, no picture; and what cannot be written is told before the first step.
small none.png
"$build/backplane" run "$scratch/small.ini" --steps 0 >/dev/null 2>&1 || fail "no steps are refused"
[ ! -e "$scratch/none.png" ] || fail "a picture is written without a step"
small missing/folder.png
if "$build/backplane" run "$scratch/small.ini" --steps 1 >/dev/null 2>"$scratch/said"; then
    fail "a folder that is missing is not noticed"
fi
grep -q "cannot write .*missing/folder.png" "$scratch/said" || { cat "$scratch/said"; fail "the message does not name the file"; }
echo "the picture is as it should be"
