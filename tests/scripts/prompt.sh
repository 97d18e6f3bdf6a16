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
python3 "$source/tests/scripts/prompt.py" "$build/backplane" "$scratch/spin.ini" "$scratch/own.ini"
