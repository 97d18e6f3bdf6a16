#!/bin/sh
# prompt.sh BUILD - a person at a terminal: the prompt below the output of `run --real-time`, and its history.
#
# By a pseudo terminal (prompt.py); skipped where there is no python3, or the program was built without libedit.
set -eu

build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
command -v python3 >/dev/null || { echo "prompt: skipped, there is no python3"; exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sed '/^steps/d' "$source/examples/plugin/spin.ini" >"$scratch/spin.ini"
cc -shared -fPIC -I "$source/plugin_api" "$source/examples/plugin/spin.c" -o "$scratch/spin.so"
cat >"$scratch/own.ini" <<EOF
[host]
plugins = point_mass gravity
plugin_path = $build/plugins
[world main]
components = point_mass gravity_law
EOF
cat >"$scratch/lamp.c" <<EOF
#include <bp_plugin.h>
static const bp_field_t fields[] = {{.name = "colour", .type = BP_U8, .values = "red green blue grey"}};
static const bp_component_i components[] = {{.name = "lamp", .fields = BP_LIST(fields)}};
BP_PLUGIN(lamp) = {.version = "1", .components = BP_LIST(components)};
EOF
cc -shared -fPIC -I "$source/plugin_api" "$scratch/lamp.c" -o "$scratch/lamp.so"
cat >"$scratch/words.ini" <<EOF
[host]
plugins = point_mass debug_name ./lamp.so
plugin_path = $build/plugins
[world main]
components = point_mass debug_name lamp
[world other]
components = point_mass
[spawn main one]
components = body:point_mass name:debug_name lamp
name.name = earth
[spawn main two]
components = body:point_mass name:debug_name
name.name = moon
[spawn main three]
components = name:debug_name
name.name = two words
[spawn main twins]
count = 2
components = name:debug_name
name.name = twin
[spawn main nameless]
components = lamp
[world crowd]
components = point_mass
[spawn crowd all]
count = 3000
components = body:point_mass
EOF
python3 "$source/tests/scripts/prompt.py" "$build/backplane" "$scratch/spin.ini" "$scratch/own.ini" "$scratch/words.ini"
