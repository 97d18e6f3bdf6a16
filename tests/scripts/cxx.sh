#!/bin/sh
# cxx.sh BUILD - the plugin of README.md, as it stands, is C++20 too: it compiles without a warning and is loaded.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
compilers=""
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || continue
    $compiler -std=c++20 -x c++ -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -shared -fPIC -I "$source/plugin_api" \
        "$source/examples/plugin/spin.c" -o "$scratch/spin.so"
    "$build/backplane" check "$scratch/spin.so" >"$scratch/said" || { cat "$scratch/said"; exit 1; }
    grep -q "component 'spin': 2 properties" "$scratch/said" || { cat "$scratch/said"; echo "$compiler: it lacks its properties"; exit 1; }
    compilers="$compilers $compiler"
done
[ -n "$compilers" ] || { echo "cxx: skipped, there is no C++ compiler"; exit 0; }
echo "compiled without a warning and loaded:$compilers"
