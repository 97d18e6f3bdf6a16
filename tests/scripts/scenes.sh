#!/bin/sh
# scenes.sh BUILD - every JSON listing of docs/scenes.md compiles, and is valid by the schema.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "scenes: $*"; exit 1; }

awk -v out="$scratch" '
    /^```json$/ { n++; file = sprintf("%s/%d.json", out, n); next }
    /^```/ { file = ""; next }
    file != "" { print > file }' "$source/docs/scenes.md"
[ -f "$scratch/1.json" ] || fail "docs/scenes.md has no listing"
echo '[[true, true, {}]]' >"$scratch/cases"

if python3 -c 'import jsonschema' 2>/dev/null; then
    "$build/backplane" schema >"$scratch/schema"
    python3 "$source/tests/scripts/schema.py" "$scratch/schema" "$scratch/cases" "$build/backplane" "$scratch" "$scratch"/*.json
else
    for listing in "$scratch"/*.json; do
        "$build/backplane" compile "$listing" -o "$scratch/scene.bpe" >/dev/null || fail "a listing does not compile: $(cat "$listing")"
    done
    echo "scenes: compiled; not asked of the schema, Python has no jsonschema (Debian: python3-jsonschema)"
fi
