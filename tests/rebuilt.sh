#!/bin/sh
# rebuilt.sh BUILD - two builds of the same source, in folders of other names, give the same archives and packages, and
# what is in them can be built and found.
#
# Each is a clean clone of the last commit, built without a cache of compilations. Takes some minutes, so this is no part
# of `make test`: `make test-rebuilt`. BUILD is not used but for its place: the archives stay in BUILD/rebuilt.
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "rebuilt: $*"; [ ! -s "$scratch/log" ] || tail -30 "$scratch/log"; exit 1; }
export CCACHE_DISABLE=1
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD || true
rm -rf "$build/rebuilt"

for folder in one another_of_a_longer_name; do
    git clone -q "$source" "$scratch/$folder"
    mkdir -p "$build/rebuilt/$folder"
    (cd "$scratch/$folder" && make -s -j"$(nproc 2>/dev/null || echo 1)" built &&
        version=$(sed -n 's/^.define BACKPLANE_VERSION "\(.*\)"/\1/p' host/backplane.h) &&
        tools/dist.sh build "$build/rebuilt/$folder" "$version" && tools/deb.sh build "$build/rebuilt/$folder" "$version") \
        >"$scratch/log" 2>&1 || fail "the clone does not build"
done
for file in "$build"/rebuilt/one/*; do
    cmp "$file" "$build/rebuilt/another_of_a_longer_name/$(basename "$file")" || fail "$(basename "$file") is another one from another folder"
    echo "the same bytes: $(basename "$file")"
done
[ "$(find "$build/rebuilt/one" -type f | wc -l)" -ge 4 ] || fail "there should be an archive and three packages"
for script in install dist deb; do
    (cd "$scratch/one" && sh "tests/scripts/$script.sh" build) >"$scratch/log" 2>&1 || fail "$script.sh fails in the clone"
    echo "passes in the clone: $script.sh"
done
