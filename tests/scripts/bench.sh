#!/bin/sh
# bench.sh BUILD - every case of the benchmarks runs to its end, with next to nothing in it. What it takes is not looked
# at: figures belong to `make bench`.
set -eu

bench=$1/bench
[ -x "$bench" ] || { echo "skipped: there is no $bench in this build"; exit 0; }
output=$(mktemp)
trap 'rm -f "$output"' EXIT
"$bench" --quick --sizes 10 >"$output" 2>&1 || { cat "$output"; exit 1; }
for group in simulate list/append list/iterate memory/list property messages; do
    grep -q "^$group/" "$output" || { echo "no figure of $group"; cat "$output"; exit 1; }
done
tail -n 1 "$output"
