#!/bin/sh
# dist.sh BUILD - the archive of tools/dist.sh is the same each time, and what is unpacked in an empty folder runs.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "dist: $*"; exit 1; }
version=$(sed -n 's/^.define BACKPLANE_VERSION "\(.*\)"/\1/p' "$source/host/backplane.h")
name=backplane-$version-linux-$(uname -m)

"$source/tools/dist.sh" "$build" "$scratch/first" "$version" >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "no archive"; }
sleep 1 # another time is in the clock
"$source/tools/dist.sh" "$build" "$scratch/second" "$version" >"$scratch/log" 2>&1
for file in "$scratch"/first/*; do
    cmp "$file" "$scratch/second/$(basename "$file")" || fail "$(basename "$file") is another one the second time"
done
mkdir "$scratch/empty"
tar -C "$scratch/empty" -xzf "$scratch/first/$name.tar.gz"
! grep -rl "$source" "$scratch/empty/$name/lib/pkgconfig" "$scratch/empty/$name/lib/cmake" || fail "the place of the build is written in these"
cd "$scratch/empty/$name"
[ "$(bin/backplane --version | head -1 | grep -c "$version")" = 1 ] || fail "--version does not say $version"
mkdir -p share/backplane/build
bin/backplane run share/backplane/config/solar_system.ini --steps 100 >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "the solar system does not run"; }
grep -q '100 steps' "$scratch/log" || { cat "$scratch/log"; fail "the solar system came to something else"; }
