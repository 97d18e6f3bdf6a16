#!/bin/sh
# apart.sh BUILD ASAN - what `make test` leaves out of the tests in BUILD because those in ASAN run it (tests/chosen.c)
# is run there, so that each case of each test runs once at least.
#
# TESTS_ONLY=?? lists cases and runs none.
set -eu

[ $# = 2 ] || { echo "usage: tests/apart.sh BUILD ASAN" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset TESTS_HALF TESTS_TAKEN TESTS_APART TESTS_ALL
export TESTS_ONLY=??

"$1/tests" | grep '\.c:' | sort -u >"$scratch/all"
{ TESTS_APART=1 "$1/tests"; "$2/tests"; } | grep '\.c:' | sort -u >"$scratch/run"
[ "$(wc -l <"$scratch/all")" -gt 1000 ] || { echo "apart: the cases are not listed"; exit 1; }
comm -23 "$scratch/all" "$scratch/run" >"$scratch/left_out"
[ ! -s "$scratch/left_out" ] || {
    echo "apart: in neither program; their rows belong into \`only_here\` of tests/chosen.c:"
    sed 's/^/    /' "$scratch/left_out"
    exit 1
}
