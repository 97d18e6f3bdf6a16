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
    folder=${build#"$source"/}/$compiler
    make -s -j"$(nproc 2>/dev/null || echo 1)" CC="$compiler" BUILD="$folder" test-parts
    mkdir -p "$folder/scratch"
    rm -f "$folder/storms"
    STORM_HASHES="$folder/storms" STORM_SEEDS="$seeds" CK_RUN_SUITE=storm "$folder/tests" >"$folder/storms.log" ||
        { cat "$folder/storms.log"; exit 1; }
done
cmp "$build/gcc/storms" "$build/clang/storms" || { echo "storms: gcc and clang come to different results"; exit 1; }
echo "storms: $(wc -l <"$build/gcc/storms") seeds come to the same with gcc and clang"
