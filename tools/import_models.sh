#!/bin/sh
# import_models.sh BUILD [FOLDER] - import every glTF, OBJ and COLLADA model of a folder, and check what arrives.
#
# FOLDER is by default where the package assimp-testmodels has its models. Each model is imported by the program of
# BUILD and then checked by BUILD/import-check (tests/import/check.c): nodes, names, world matrices, triangles.
# A line for each model; the last one counts. What assimp itself refuses is told with its reason and does not count
# against the import. The exit status is 0 where everything that assimp reads came through.
set -u

[ $# -ge 1 ] || { echo "usage: tools/import_models.sh BUILD [FOLDER]" >&2; exit 2; }
build=$(cd "$1" && pwd) || exit 2
models=${2:-/usr/share/assimp/models}
[ -d "$models" ] || { echo "import_models.sh: there is no folder $models (Debian: assimp-testmodels)" >&2; exit 2; }
for program in backplane backplane-import import-check; do
    [ -x "$build/$program" ] || { echo "import_models.sh: $build/$program is missing; run make import-check" >&2; exit 2; }
done
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# AsXML.xml of assimp's models is COLLADA under another name.
find "$models" -type f \( -iname '*.gltf' -o -iname '*.glb' -o -iname '*.obj' -o -iname '*.dae' -o -iname '*.zae' \
    -o -name AsXML.xml \) | LC_ALL=C sort >"$scratch/list"

through=0
refused=0
wrong=0
while IFS= read -r model; do
    name=${model#"$models"/}
    rm -rf "$scratch/scene.json" "$scratch/meshes"
    timeout 120 "$build/backplane" import "$model" -o "$scratch/scene.json" >"$scratch/output" 2>&1 </dev/null
    status=$?
    if [ $status = 2 ]; then
        refused=$((refused + 1))
        echo "refused by assimp: $name: $(tail -1 "$scratch/output" | sed "s|^backplane: ||; s|^$model: ||")"
    elif [ $status != 0 ]; then
        wrong=$((wrong + 1))
        echo "NOT IMPORTED: $name: $(tail -1 "$scratch/output")"
    elif timeout 120 "$build/import-check" "$model" "$scratch/scene.json" "$scratch/meshes" "$build/plugins" >"$scratch/check" 2>&1 </dev/null; then
        through=$((through + 1))
        echo "came through: $name: $(tail -1 "$scratch/check")"
    else
        wrong=$((wrong + 1))
        echo "WRONG: $name: $(tail -1 "$scratch/check")"
    fi
done <"$scratch/list"

echo "$through of $((through + wrong)) models that assimp reads came through; assimp refused $refused"
[ $wrong = 0 ] && [ $through -gt 0 ]
