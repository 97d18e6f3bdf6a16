#!/bin/sh
# embed.sh BUILD - the programs of examples/embed, built from the tree as it lies there: against the
# static library, against the shared one, and with the plugin linked in. All print the same. (install.sh
# does it from an installed prefix.)
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "embed: $*"; exit 1; }

cd "$source"
warnings="-std=c11 -Wall -Wextra -Wpedantic -Wshadow -Werror"
libraries="$(pkg-config --libs inih) -ldl -lm -pthread"
# shellcheck disable=SC2086
{
    cc $warnings -Iplugin_api -Ihost examples/embed/main.c "$build/libbackplane.a" -o "$scratch/static" $libraries
    cc $warnings -Iplugin_api -Ihost examples/embed/main.c "$build/libbackplane.so" -o "$scratch/shared" -Wl,-rpath,"$scratch"
    cc $warnings -DBP_STATIC_PLUGINS -Iplugin_api -Ihost examples/embed/release.c plugins/point_mass/*.c "$build/libbackplane.a" \
        -o "$scratch/release" $libraries
}
ln -s "$build/libbackplane.so" "$scratch/libbackplane.so.0"

expected="after one second: 1.000 0.000 0.000"
for program in "static $build/plugins/point_mass" "shared $build/plugins/point_mass.so" release; do
    # shellcheck disable=SC2086
    said=$(cd / && "$scratch"/$program) || fail "$program fails"
    [ "$said" = "$expected" ] || fail "$program says '$said' instead of '$expected'"
done
if "$scratch/static" "$scratch/no_such_plugin" 2>"$scratch/error" >&2; then
    fail "a missing plugin is no failure"
fi
grep -q no_such_plugin "$scratch/error" || fail "a missing plugin is not named: $(cat "$scratch/error")"

echo "static, shared and linked in"
