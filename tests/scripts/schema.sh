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
python3 "$source/tests/scripts/schema.py" "$scratch/schema.json" "$source/tests/scripts/schema_cases.json" "$build/backplane" "$scratch" "$@"
