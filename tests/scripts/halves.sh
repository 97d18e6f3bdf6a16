#!/bin/sh
# halves.sh BUILD - the two halves of the tests (tests/main.c), and what helps them, have each test once between them,
# in whichever order they take what they share, and each half by itself has what the other one has not.
#
# TESTS_ONLY=? lists tests and runs none.
set -eu

build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# names HALF FOLDER: of a half, or of all where it is empty. Without a folder nothing is shared.
names() {
    if [ -n "$1" ]; then export TESTS_HALF="$1"; else unset TESTS_HALF; fi
    if [ -n "$2" ]; then export TESTS_TAKEN="$2"; else unset TESTS_TAKEN; fi
    TESTS_ONLY=? "$build/tests" | grep '\.c:' || true # what helps them may have nothing left
}

# expect WHAT: the lists in $scratch/parts are together the one of all tests
expect() {
    [ "$(sort "$scratch/parts")" = "$(sort "$scratch/all")" ] || {
        echo "halves: $1: not each test once"
        sort "$scratch/all" >"$scratch/left"
        sort "$scratch/parts" | diff "$scratch/left" - | head -20
        exit 1
    }
}

names "" "" >"$scratch/all"
[ "$(wc -l <"$scratch/all")" -gt 1000 ] || { echo "halves: the tests are not listed"; exit 1; }
for order in "1 2" "2 1" "0 1 2" "2 0 1"; do
    mkdir "$scratch/taken"
    for half in $order; do names "$half" "$scratch/taken"; done >"$scratch/parts"
    expect "with halves in the order $order"
    rm -r "$scratch/taken"
done
{ names 1 ""; names 2 ""; } >"$scratch/parts"
expect "with nothing shared"
