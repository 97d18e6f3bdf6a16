#!/bin/sh
# schema.sh BUILD - the schema that `backplane schema` prints, asked by a validator that is not ours.
#
# The schema itself must be one; every scene that ships must be valid and compile; and of the scenes of
# schema_cases.json the right ones must be valid and compile, the wrong ones neither. Needs Python with
# jsonschema (Debian: python3-jsonschema); without it, it says so and does nothing.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "schema: $*"; exit 1; }

if ! python3 -c 'import jsonschema' 2>/dev/null; then
    echo "schema: skipped, Python has no jsonschema (Debian: python3-jsonschema)"
    exit 0
fi

"$build/backplane" schema >"$scratch/schema.json" || fail "backplane schema fails"
"$build/backplane" schema "$source/config/solar_system.ini" >"$scratch/of_ini.json" || fail "backplane schema INI fails"
! cmp -s "$scratch/schema.json" "$scratch/of_ini.json" || fail "the schema of an ini has the plugins of the program"

set --
while read -r scene; do
    set -- "$@" "$scene"
done <<END
$(find "$source/config" "$source/examples" -name '*.json' ! -path '*/pickaxe/*' | sort)
END
# A scene of two worlds, with a component of its own plugin.
${CC:-cc} -shared -fPIC -I "$source/plugin_api" "$source/examples/pickaxe/weapon.c" -o "$scratch/weapon.so" || fail "weapon.c does not compile"
cp -R "$source/examples/pickaxe" "$scratch"
sed -i 's|\.\./\.\./build/weapon|../weapon|' "$scratch/pickaxe/pickaxe.ini"
"$build/backplane" schema "$scratch/pickaxe/pickaxe.ini" >"$scratch/pickaxe_schema.json" || fail "no schema of pickaxe.ini"
echo '[[true, true, {}]]' >"$scratch/one_case"
python3 "$source/tests/scripts/schema.py" "$scratch/pickaxe_schema.json" "$scratch/one_case" "$build/backplane" "$scratch" --ini "$scratch/pickaxe/pickaxe.ini" "$scratch/pickaxe/pickaxe.json"
# Values of every shape: a plugin of the tests.
${CC:-cc} -shared -fPIC -I "$source/plugin_api" "$source/tests/program/plugins/cargo.c" -o "$scratch/cargo.so" || fail "cargo.c does not compile"
printf '[host]\nplugins = ./cargo.so\n' >"$scratch/cargo.ini"
"$build/backplane" schema "$scratch/cargo.ini" >"$scratch/cargo_schema.json" || fail "backplane schema cargo.ini fails"
python3 "$source/tests/scripts/schema.py" "$scratch/cargo_schema.json" "$source/tests/scripts/schema_values.json" "$build/backplane" "$scratch" --ini "$scratch/cargo.ini"
# A property that is called type.
cat >"$scratch/kind.c" <<'END'
#include <bp_plugin.h>
static const bp_field_t fields[] = {{.name = "type", .type = BP_U8, .max = "9"}};
static const bp_component_i components[] = {{.name = "kind", .fields = BP_LIST(fields)}, {.name = "other"}};
BP_PLUGIN(kind) = {.version = "1", .components = BP_LIST(components)};
END
${CC:-cc} -shared -fPIC -I "$source/plugin_api" "$scratch/kind.c" -o "$scratch/kind.so" || fail "kind.c does not compile"
printf '[host]\nplugins = ./kind.so\n' >"$scratch/kind.ini"
cat >"$scratch/kind_cases" <<'END'
[[true, true, {"entities": [{"components": {"kind": {"type": 8}}}]}],
 [true, true, {"entities": [{"components": {"kind": {"type": "kind"}, "a": {"type": "kind"}, "b": {"type": "other"}}}]}],
 [true, true, {"entities": [{"count": 2, "components": {"kind": {"type": [1, 2]}}}]}],
 [true, true, {"prototypes": {"p": {"components": {"a": {"type": "kind"}}}},
               "entities": [{"extends": "p", "components": {"a": {"type": 3}}}]}],
 [true, true, {"entities": [{"components": {"kind": {"$type": 8}, "a": {"type": "kind", "$type": 9},
                                             "other": {"$type": "passed over"}}}]}],
 [false, false, {"entities": [{"components": {"kind": {"$type": 10}}}]}],
 [false, false, {"entities": [{"components": {"kind": {"type": 10}}}]}],
 [false, false, {"entities": [{"components": {"kind": {"type": "knd"}}}]}],
 [false, false, {"entities": [{"components": {"other": {"type": 3}}}]}],
 [false, false, {"entities": [{"components": {"a": {"type": 3}}}]}]]
END
"$build/backplane" schema "$scratch/kind.ini" >"$scratch/kind_schema.json" || fail "backplane schema kind.ini fails"
python3 "$source/tests/scripts/schema.py" "$scratch/kind_schema.json" "$scratch/kind_cases" "$build/backplane" "$scratch" --ini "$scratch/kind.ini"
python3 "$source/tests/scripts/schema.py" "$scratch/schema.json" "$source/tests/scripts/schema_cases.json" "$build/backplane" "$scratch" "$@"
