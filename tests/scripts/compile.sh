#!/bin/sh
# compile.sh BUILD - `backplane compile` as its users meet it: which file, which plugins, which status.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "compile: $*"; cat "$scratch/out" "$scratch/err" 2>/dev/null || true; exit 1; }
cd "$scratch"

# compile STATUS ARGUMENTS ... - run it; what it printed is in out and err.
compile() {
    wanted=$1
    shift
    status=0
    "$build/backplane" compile "$@" >out 2>err || status=$?
    [ "$status" = "$wanted" ] || fail "status $status instead of $wanted: compile $*"
}
says() { grep -q -e "$1" "${2-err}" || fail "'$1' is not in ${2-err}"; }

cp "$source/examples/scenes/harbour.json" .
compile 0 harbour.json
says '^harbour.bpe: 11 entities, 33 components, [0-9]* bytes; [0-9.]* ms$' out
[ -s harbour.bpe ] || fail "there is no harbour.bpe"
compile 0 --json -o other.bpe harbour.json
says '"entities": 11' out
cmp harbour.bpe other.bpe || fail "the same scene gives other bytes"

printf '[host]\nplugins = point_mass\n[world main]\ncomponents = point_mass\n' >small.ini
echo '{"entities": [{"count": 5, "components": {"point_mass": {}}}]}' >five.json
compile 0 five.json --ini small.ini -o five.bpe
compile 2 harbour.json --ini small.ini -o other.bpe
says "harbour.json:[0-9]*:[0-9]*: prototypes.thing.components.debug_name: .* (there are point_mass)"
cmp harbour.bpe other.bpe || fail "a failure has touched the file that was there"
compile 0 --plugins "$build/plugins" five.json
compile 2 --plugins nowhere five.json
says "nowhere cannot be read"
compile 2 --plugins nowhere --ini small.ini five.json
says "not both"
compile 2 --ini missing.ini five.json
says "missing.ini"

mkdir empty
compile 2 --plugins empty five.json
says "no plugin with components is loaded"
cp "$build/plugins/point_mass.so" empty/point_mass.so
printf 'no library' >empty/torn.so
compile 0 --plugins empty five.json
compile 2 --plugins empty harbour.json
says "could not be loaded: .*torn.so"

echo '{"entities": [' >broken.json
compile 2 broken.json
says '^backplane: broken.json:2:0: \|^backplane: broken.json:[0-9]*:[0-9]*: '
[ ! -e broken.bpe ] || fail "a broken scene gives a file"
compile 2
says "usage: backplane compile"
compile 2 five.json six.json
compile 2 five.json --outptu x
says "did you mean '--output'"
compile 2 five.json -o
compile 1 five.json -o nowhere/five.bpe
says "nowhere/five.bpe"
[ ! -w /dev/full ] || { compile 1 five.json -o /dev/full; }
echo "compile: files, plugins and statuses"
