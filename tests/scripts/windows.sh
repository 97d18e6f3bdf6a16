#!/bin/sh
# windows.sh BUILD - what is built for Windows works there: a scene steps, a plugin is reloaded under it, the program
# runs, and the plugins of Windows do as those of this machine, which are in BUILD.
#
# Needs mingw to build and wine to run, and is skipped without them. This is a short set: `make test-windows` has more.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
for command in x86_64-w64-mingw32-gcc wine; do
    command -v "$command" >/dev/null || { echo "windows: skipped, $command is not installed"; exit 0; }
done
scratch=$(mktemp -d)
export WINEPREFIX="$scratch/wine" WINEARCH=win64 WINEDEBUG=-all DISPLAY=
trap 'wineserver -k >/dev/null 2>&1 || true; rm -rf "$scratch"' EXIT
fail() { echo "windows: $1"; exit 1; }

make -s -j"$(nproc 2>/dev/null || echo 1)" -C "$source" windows
cd "$source"
wine build/windows/embed.exe build/windows/plugins/point_mass.dll >"$scratch/embed" 2>"$scratch/log" || { cat "$scratch/log"; fail "embed.exe failed"; }
tr -d '\r' <"$scratch/embed" | grep -qx 'after one second: 1.000 0.000 0.000' || { cat "$scratch/embed"; fail "embed.exe came to something else"; }
wine build/windows/reload.exe build/windows/plugins/point_mass.dll build/windows/point_mass_2.dll "$scratch" >"$scratch/reload" 2>"$scratch/log" ||
    { cat "$scratch/reload" "$scratch/log"; fail "reload.exe failed"; }
tr -d '\r' <"$scratch/reload"
! find "$scratch" -name 'backplane-*' | grep . || fail "copies of libraries were left behind"
