#!/bin/sh
# docs.sh BUILD - commands in docs/ that say they can be run, can.
#
# A block ```sh whose first line is "# runnable" (or "# runnable with PROGRAM", where that program is installed) is run
# in a copy of the tree's root with the program and plugins of BUILD under build/; each of its commands must succeed.
# Where a block ``` follows, nothing but blank lines between the two, the commands must print just that. Each block
# leaves the tree as it was, but for build/, so that they can be run in any order, and twice.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
runs=0
# Some run mpirun: as the user who runs this, on as few processors as there are.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1

# Everything in the tree but what lies in build/, with the bytes of the files.
listed() {
    (cd "$root" && find . -path ./build -prune -o \( -type f -exec cksum {} + \) -o -print | sort)
}

for page in "$source"/docs/*.md; do
    blocks=$scratch/blocks
    root=$scratch/root
    rm -rf "$blocks" "$root"
    mkdir -p "$blocks" "$root/build"
    awk -v out="$blocks" '
        /^```/ && !inside { inside = 1; shell = $0 == "```sh"; wanted = $0 == "```" && last && !prose; first = 1; last = 0; next }
        /^```$/ && inside { inside = 0; prose = 0; last = shell && runnable; runnable = 0; next }
        inside && shell && first && ($0 == "# runnable" ||
            ($0 ~ /^# runnable with [a-z+]+$/ && system("command -v " $4 " >/dev/null") == 0)) { runnable = 1; n++; file = out "/" n ".sh"; printf "" > file }
        inside && shell && runnable { print > file }
        inside && wanted { print > (out "/" n ".out") }
        inside { first = 0; next }
        /[^ \t]/ { prose = 1 }' "$page"
    cp -R "$source/examples" "$source/config" "$root"
    find "$root/examples" -name '*.so' -exec rm -f {} +
    ln -s "$source/plugin_api" "$source/host" "$source/plugins" "$source/docs" "$source/tests" "$source/tools" "$source/Makefile" "$root"
    ln -s "$build/backplane" "$build/plugins" "$root/build"
    for file in "$build"/libbackplane.* "$build/tests" "$build/fixtures"; do
        [ ! -e "$file" ] || ln -s "$file" "$root/build"
    done
    before=$(listed)
    n=1
    while [ -f "$blocks/$((n + 1)).sh" ]; do n=$((n + 1)); done
    while [ -f "$blocks/$n.sh" ]; do # from the last to the first: none of them needs what another one has left
        runs=$((runs + 1))
        if ! (cd "$root" && sh -e "$blocks/$n.sh") >"$scratch/output" 2>"$scratch/errors" </dev/null; then
            cat "$blocks/$n.sh" "$scratch/output" "$scratch/errors"
            echo "docs/$(basename "$page"): these commands fail"
            exit 1
        fi
        if [ -f "$blocks/$n.out" ] && ! diff "$blocks/$n.out" "$scratch/output"; then
            echo "docs/$(basename "$page"): these commands print something else"
            exit 1
        fi
        if [ "$(listed)" != "$before" ]; then
            cat "$blocks/$n.sh"
            echo "docs/$(basename "$page"): these commands leave the tree with"
            listed | sort >"$scratch/after"
            echo "$before" | sort | comm -13 - "$scratch/after"
            exit 1
        fi
        n=$((n - 1))
    done
done
echo "$runs blocks of commands"
