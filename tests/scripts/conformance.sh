#!/bin/sh
# conformance.sh BUILD - the conformance suite can be run over any plugin, as
# tests/conformance/README.md says.
#
# It passes the smallest plugin, and fails one that is the same but for a loop that depends on how rows
# are cut.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/temporary"
export TMPDIR="$scratch/temporary"
fail() { echo "conformance: $*"; exit 1; }

[ -x "$build/tests" ] || fail "$build/tests is missing; run make test-program first"
cc -shared -fPIC -I "$source/plugin_api" "$source/examples/plugin/spin.c" -o "$scratch/spin.so"
sed -e 's/speed\[i\] \* dt/speed[i] * dt * (float)run->count/' \
    -e 's/{.doc = "an angle that grows",/{.flags = BP_COMPONENT_PARALLEL, .doc = "an angle that grows",/' "$source/examples/plugin/spin.c" >"$scratch/bad.c"
cc -shared -fPIC -I "$source/plugin_api" "$scratch/bad.c" -o "$scratch/bad.so"

for name in inventory team; do
    cc -shared -fPIC -I "$source/plugin_api" "$source/examples/plugin/$name.c" -o "$scratch/$name.so"
done

# The paths in the tests are relative to the root.
cd "$source"
said=$scratch/said
BACKPLANE_CONFORMANCE=$scratch/spin.so "$build/tests" conformance >"$said" 2>&1 || { cat "$said"; fail "spin.c does not pass"; }
checks=$(sed -n 's/^100%: Checks: \([0-9]*\),.*/\1/p' "$said")
[ "${checks:-0}" -ge 20 ] || { cat "$said"; fail "hardly anything was checked"; }
for name in inventory team; do
    BACKPLANE_CONFORMANCE=$scratch/$name.so "$build/tests" conformance >"$said" 2>&1 ||
        { cat "$said"; fail "$name.c does not pass"; }
done
if BACKPLANE_CONFORMANCE="$scratch/spin.so $scratch/bad.so" "$build/tests" conformance >"$said" 2>&1; then
    fail "a plugin that cannot be loaded passes"
fi
if BACKPLANE_CONFORMANCE=$scratch/bad.so "$build/tests" conformance >"$said" 2>&1; then
    fail "a loop that depends on how rows are cut passes"
fi
grep -q "component 'spin' of .*bad.so: .*threads" "$said" || { cat "$said"; fail "what is wrong is not said"; }

# The same questions by the program, each in a process of its own.
check() { "$build/backplane" check "$@" >"$said" 2>&1; }
expect() { grep -qF -- "$1" "$said" || { cat "$said"; fail "check does not say: $1"; }; }
for name in bad crash hang exits older; do mkdir "$scratch/$name"; done
mv "$scratch/bad.so" "$scratch/bad/spin.so"
check "$scratch/spin.so" --level 5 || { cat "$said"; fail "check complains of spin.c"; }
expect "component 'spin': 25 checks up to level 5, and nothing to complain of"
! check "$scratch/bad/spin.so" --level 5 || fail "a loop that depends on how rows are cut passes check"
expect "error: level 5: component 'spin': steps alike on any number of threads: on 3 threads the values differ"
expect "what to do: a parallel loop works on its own range of rows alone"
check "$scratch/bad/spin.so" --level 4 || { cat "$said"; fail "level 4 asks what belongs to level 5"; }

# Values that have names are given by them, and hidden fields are no properties.
cat >"$scratch/marks.c" <<'END'
#include <bp_plugin.h>
static const bp_field_t fields[] = {
    {.name = "state", .type = BP_I16, .values = "idle=-3 walking running=100", .initial = "walking"},
    {.name = "marks", .type = BP_U64, .flags = BP_FIELD_BITS, .values = "a b=63 c=5", .initial = "a|b"},
    {.name = "all", .type = BP_U8, .count = 3, .values = "x y z", .initial = "y"},
    {.name = "own", .type = BP_F32, .flags = BP_FIELD_HIDDEN, .initial = "3"},
};
static const bp_component_i components[] = {{.fields = BP_LIST(fields)}};
BP_PLUGIN(marks) = {.version = "1", .components = BP_LIST(components)};
END
cc -shared -fPIC -I "$source/plugin_api" "$scratch/marks.c" -o "$scratch/marks.so"
check "$scratch/marks.so" --level 5 || { cat "$said"; fail "check complains of named values"; }
expect "component 'marks': 3 properties, stored by the world"
expect "component 'marks': 25 checks up to level 5, and nothing to complain of"

# build NAME SED - spin.c, changed, in a folder of its own
build() {
    sed -e "$2" "$source/examples/plugin/spin.c" >"$scratch/$1.c"
    cc -shared -fPIC -I "$source/plugin_api" "$scratch/$1.c" -o "$scratch/$1/spin.so"
}
build crash 's/float dt = .*/float dt = *(volatile float *)8;/'
! check "$scratch/crash/spin.so" --level 3 || fail "a crash passes"
expect "error: level 3: component 'spin': never mixes entities up between steps: it crashed (signal 11)"
build exits 's/#include <bp_plugin.h>/&\n#include <stdlib.h>/; s/float dt = .*/float dt = 0; exit(0);/'
! check "$scratch/exits/spin.so" --level 3 || fail "a plugin that ends the process passes"

# An older version that it takes over from, and one whose values do not fit.
build older 's/const float \*speed/const double *speed/; s/c.speed\[i\]/(float)c.speed[i]/'
check "$scratch/spin.so" --from "$scratch/older/spin.so" || { cat "$said"; fail "a float does not take over from a double"; }
build older 's/const float \*speed/const char *const *speed/; s/c.speed\[i\]/1/; s/.initial = "1", .min = "0", //'
! check "$scratch/spin.so" --from "$scratch/older/spin.so" --json || fail "a number takes over from a text"
python3 - "$said" <<'END' || { cat "$said"; fail "the findings are no JSON that says so"; }
import json, sys
told = json.load(open(sys.argv[1]))
found = [f for f in told["findings"] if f["severity"] == "error"]
assert not told["passed"] and len(found) == 1, found
assert found[0]["level"] == 4 and found[0]["component"] == "spin" and "it is refused" in found[0]["text"]
assert "state_form" in found[0]["advice"] and "older/spin.so" in found[0]["text"]
END
sed 's/{\.doc = "an angle/{.name = "whirl", .doc = "an angle/' "$source/examples/plugin/spin.c" >"$scratch/older.c"
cc -shared -fPIC -I "$source/plugin_api" "$scratch/older.c" -o "$scratch/older/spin.so"
! check "$scratch/spin.so" --from "$scratch/older/spin.so" || fail "a component that has gone passes"
expect "error: from $scratch/older/spin.so: component 'whirl' has gone: a world that has it refuses this version"
! check "$scratch/spin.so" --from "$scratch/nowhere.so" || fail "an older version that is not there passes"
expect "the older version $scratch/nowhere.so cannot be read"
[ "$(grep -c nowhere "$said")" = 1 ] || { cat "$said"; fail "it says it more than once"; }
! check "$scratch/spin.so" --level 6 || fail "there is no level 6"
expect "--level takes a number from 1 to 5"
! check "$scratch/spin.so" --lvel 2 || fail "an option is made up"
expect "did you mean '--level'?"
[ -z "$(find "$TMPDIR" -maxdepth 1 -name 'backplane-check-*')" ] || fail "folders of answers are left"
echo "$checks checks of spin.c, by the tests and by the program"
