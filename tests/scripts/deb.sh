#!/bin/sh
# deb.sh BUILD - the Debian packages of tools/deb.sh are the same each time, lintian finds no error in them, and what they
# bring runs in an empty root.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "deb: $*"; [ ! -s "$scratch/log" ] || cat "$scratch/log"; exit 1; }
for command in dpkg-deb dpkg-shlibdeps; do
    command -v "$command" >/dev/null 2>&1 || { echo "deb: skipped, there is no $command"; exit 0; }
done
version=$(sed -n 's/^.define BACKPLANE_VERSION "\(.*\)"/\1/p' "$source/host/backplane.h")

export DPKG_DEB_COMPRESSOR_LEVEL=1 # sooner; it is the same both times
for time in first second; do
    "$source/tools/deb.sh" "$build" "$scratch/$time" "$version" >"$scratch/log" 2>&1 || fail "no packages"
    sleep 1 # another time is in the clock
done
for file in "$scratch"/first/*; do
    cmp "$file" "$scratch/second/$(basename "$file")" || fail "$(basename "$file") is another one the second time"
    dpkg-deb -x "$file" "$scratch/root"
done
[ "$(find "$scratch/first" -name '*.deb' | wc -l)" = 3 ] || fail "there should be three packages"
if command -v lintian >/dev/null 2>&1; then
    lintian --allow-root --fail-on error "$scratch"/first/*.deb >"$scratch/log" 2>&1 || fail "lintian finds errors"
fi
dpkg-deb -f "$scratch"/first/backplane_*.deb Depends | grep -q libinih1 || fail "the package does not say what it needs"

mkdir "$scratch/empty" # nothing but what was unpacked, and no file of the source
cd "$scratch/empty"
"$scratch/root/usr/bin/backplane" run "$scratch/root/usr/share/backplane/config/solar_system.ini" --steps 100 >"$scratch/log" 2>&1 ||
    fail "the solar system does not run"
grep -q '100 steps' "$scratch/log" || fail "the solar system came to something else"
# shellcheck disable=SC2046 # words
cc "$source/examples/embed/main.c" $(PKG_CONFIG_PATH="$scratch/root/usr/lib/pkgconfig" pkg-config --cflags --libs backplane) \
    -o "$scratch/embed" >"$scratch/log" 2>&1 || fail "a program does not build"
said=$(LD_LIBRARY_PATH="$scratch/root/usr/lib" "$scratch/embed" "$scratch/root/usr/lib/backplane/plugins/point_mass")
[ "$said" = "after one second: 1.000 0.000 0.000" ] || fail "a program says '$said'"
