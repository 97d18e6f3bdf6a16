#!/bin/sh
# import.sh BUILD - files of other programs arrive as they are: own ones made for it, and assimp's test models.
#
# Needs assimp, which nothing else does: without it this says so and passes. The models are those of the package
# assimp-testmodels; without it only the own file is checked.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "$*"; exit 1; }

# Without its program the command says what is missing.
mkdir "$scratch/alone"
cp "$build/backplane" "$scratch/alone"
status=0
"$scratch/alone/backplane" import model.dae >"$scratch/output" 2>&1 || status=$?
[ $status = 1 ] || fail "import without backplane-import: status $status"
grep -q 'libassimp-dev' "$scratch/output" || fail "import without backplane-import does not say what to install"
grep -q 'make import' "$scratch/output" || fail "import without backplane-import does not say what to build"

if ! pkg-config --exists assimp 2>/dev/null; then
    echo "assimp not installed: skipped"
    exit 0
fi
make -s -C "$source" BUILD="$build" "$build/backplane-import" "$build/import-check"

# Matrices of every kind, names of every kind (tests/import/matrices.gltf).
cd "$scratch"
"$build/backplane" import "$source/tests/import/matrices.gltf" >"$scratch/output" 2>"$scratch/errors" || fail "matrices.gltf: $(cat "$scratch/errors")"
[ "$(cat "$scratch/output")" = "matrices.json: 84 entities" ] || fail "matrices.gltf: $(cat "$scratch/output")"
grep -q '^backplane: 3 nodes are sheared: each became two entities' "$scratch/errors" || fail "shears are not told: $(cat "$scratch/errors")"
grep -q '^backplane: 63 nodes share their names with others' "$scratch/errors" || fail "changed names are not told: $(cat "$scratch/errors")"
"$build/import-check" "$source/tests/import/matrices.gltf" matrices.json meshes "$build/plugins" || fail "matrices.gltf did not come through"

# The check can fail: a number that is changed is found.
sed 's/"position": \[2, 0, 0\]/"position": [2.001, 0, 0]/' matrices.json >changed.json
! cmp -s matrices.json changed.json || fail "there is no position to change"
! "$build/import-check" "$source/tests/import/matrices.gltf" changed.json meshes "$build/plugins" >"$scratch/output" || fail "a changed position is not found"
grep -q 'world matrix' "$scratch/output" || fail "$(cat "$scratch/output")"

# A chain deeper than JSON may be.
awk -v n=1300 'BEGIN {
    printf "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":["
    for (i = 0; i < n; i++) printf "{\"name\":\"n%d\",\"translation\":[0,%d,0],\"children\":[%d]},\n", i, i % 3, i + 1
    print "{\"name\":\"last\",\"rotation\":[1,0,0,0]}]}" }' >deep.gltf
"$build/backplane" import deep.gltf >"$scratch/output" 2>&1 || fail "deep.gltf: $(cat "$scratch/output")"
"$build/import-check" deep.gltf deep.json meshes "$build/plugins" || fail "deep.gltf did not come through"

# Bad arguments and files touch nothing.
before=$(ls)
for arguments in "" "a b" "-o" "--meshes" "--frob a" "nowhere.dae" "$source/Makefile" "-o x.json -o y.json a"; do
    status=0
    # shellcheck disable=SC2086
    "$build/backplane" import $arguments >"$scratch/output" 2>&1 || status=$?
    [ $status = 2 ] || fail "import $arguments: status $status: $(cat "$scratch/output")"
done
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >one.obj
status=0
"$build/backplane" import one.obj -o no/such/folder.json >"$scratch/output" 2>&1 || status=$?
[ $status = 1 ] || fail "a scene that cannot be written: status $status: $(cat "$scratch/output")"
status=0
"$build/backplane" import one.obj -o one.obj >"$scratch/output" 2>&1 || status=$?
[ $status = 2 ] || fail "a scene in place of its file: status $status: $(cat "$scratch/output")"
echo old >meshes
status=0
"$build/backplane" import one.obj -o full.json >"$scratch/output" 2>&1 || status=$?
if [ $status != 1 ] || [ -e full.json ] || [ "$(cat meshes)" != old ]; then
    fail "a file where the folder should be: status $status: $(cat "$scratch/output")"
fi
rm meshes one.obj
[ "$(ls)" = "$before" ] || fail "bad arguments left files: $(ls)"

if [ ! -d /usr/share/assimp/models ]; then
    echo "assimp-testmodels not installed: its models were not tried"
    exit 0
fi
sh "$source/tools/import_models.sh" "$build"
