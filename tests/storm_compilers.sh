#!/bin/sh
# storm_compilers.sh BUILD [SEEDS] - storms come to the same in programs of gcc and of clang.
#
# The tests are built in BUILD/gcc and BUILD/clang and go through the same seeds (tests/reload/test_storm.c), each of which
# comes to a number made of all values after each event. Takes some minutes, so this is no part of `make test`:
# `make storm-compilers`.
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
build=$(cd "$1" && pwd)
seeds=${2:-200}
cd "$source"
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD || true

for compiler in gcc clang; do
    make -s -j"$(nproc 2>/dev/null || echo 1)" CC="$compiler" BUILD="${build#"$source"/}/$compiler" test-parts
done

# Both at the same time. Does what a program runs say that it is well? Else its output is shown.
run()
{
    mkdir -p "$1/scratch"
    rm -f "$1/storms"
    STORM_HASHES="$1/storms" STORM_SEEDS="$seeds" CK_RUN_SUITE=storm "$1/tests" >"$1/storms.log" && return
    cat "$1/storms.log"
    return 1
}

run "$build/gcc" & other=$!
run "$build/clang" && status=0 || status=1
wait "$other" || status=1
[ "$status" -eq 0 ] || exit 1
cmp "$build/gcc/storms" "$build/clang/storms" || { echo "storms: gcc and clang come to different results"; exit 1; }
echo "storms: $(wc -l <"$build/gcc/storms") seeds come to the same with gcc and clang"
