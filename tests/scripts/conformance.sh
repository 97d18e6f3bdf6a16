#!/bin/sh
# conformance.sh BUILD - the conformance suite can be run over anybody's plugin, as
# tests/conformance/README.md says.
#
# It passes the smallest plugin, and fails one that is the same but for a loop that depends on how rows
# are cut.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "conformance: $*"; exit 1; }

[ -x "$build/tests" ] || fail "$build/tests is missing; run make test-program first"
cc -shared -fPIC -I "$source/plugin_api" "$source/examples/plugin/spin.c" -o "$scratch/spin.so"
sed -e 's/speed\[i\] \* dt/speed[i] * dt * (float)run->count/' \
    -e 's/{.name = "spin",/{.name = "spin", .flags = BP_COMPONENT_PARALLEL,/' "$source/examples/plugin/spin.c" >"$scratch/bad.c"
cc -shared -fPIC -I "$source/plugin_api" "$scratch/bad.c" -o "$scratch/bad.so"

cc -shared -fPIC -I "$source/plugin_api" "$source/examples/plugin/inventory.c" -o "$scratch/inventory.so"

# The paths in the tests are relative to the root.
cd "$source"
said=$scratch/said
BACKPLANE_CONFORMANCE=$scratch/spin.so "$build/tests" conformance >"$said" 2>&1 || { cat "$said"; fail "spin.c does not pass"; }
checks=$(sed -n 's/^100%: Checks: \([0-9]*\),.*/\1/p' "$said")
[ "${checks:-0}" -ge 20 ] || { cat "$said"; fail "hardly anything was checked"; }
BACKPLANE_CONFORMANCE=$scratch/inventory.so "$build/tests" conformance >"$said" 2>&1 || { cat "$said"; fail "inventory.c does not pass"; }
if BACKPLANE_CONFORMANCE="$scratch/spin.so $scratch/bad.so" "$build/tests" conformance >"$said" 2>&1; then
    fail "a plugin that cannot be loaded passes"
fi
if BACKPLANE_CONFORMANCE=$scratch/bad.so "$build/tests" conformance >"$said" 2>&1; then
    fail "a loop that depends on how rows are cut passes"
fi
grep -q "component 'spin' of .*bad.so: .*threads" "$said" || { cat "$said"; fail "what is wrong is not said"; }
echo "$checks checks of spin.c"
