#!/bin/sh
# all.sh BUILD - what is built for Linux on aarch64 (build/aarch64) does under qemu-user what this machine's (in BUILD) does.
#
# The suites of the tests, but for those that need what qemu-user lacks (copies of a process that has threads, signals
# of a crash as the system gives them) or that run the program itself; the solar system, with the same table and the
# same records to the last bit; a plugin of the frozen contract; scenes and saves that are written on either side and
# read by the other. The last line counts.
set -u

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd) || exit 2
cd "$source" || exit 2
there=$source/build/aarch64
libraries=$(tools/aarch64_deps where)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# TESTS_EMULATED: the resident bytes of a process are the emulator's, which keeps what it has translated.
export CK_TIMEOUT_MULTIPLIER=20 TESTS_EMULATED=1
passed=0
failed=0
judge() {
    if [ "$1" = 0 ]; then passed=$((passed + 1)); echo "passed: $2"; return; fi
    failed=$((failed + 1))
    echo "FAILED: $2"
    tail -20 "$scratch/log" | cut -c 1-300 | sed 's/^/    /'
}
# as HERE or THERE, then the program and its arguments
as() {
    side=$1
    shift
    if [ "$side" = here ]; then program=$build/$1; else program="qemu-aarch64 -L $libraries $there/$1"; fi
    shift
    # shellcheck disable=SC2086 # two words and more
    $program "$@" </dev/null
}

mkdir -p "$there/scratch"
for suite in base strings values convert named lists os image obj entities prototypes store stamps queries referrers \
    own destruction collection many_worlds properties schedule threads sets terms side_by_side messages pace host \
    worlds allowed look loading declarations bodies debug_name shapes recorder linked bubbles hierarchy camera blob \
    json_tree compile compile_errors spawn scene_property save golden scene_files conformance config config_mistakes \
    snapshot history journal recording twice reload reload_plugins reload_kept rollback reload_many reload_threads \
    loaders pause wants; do
    CK_RUN_SUITE=$suite timeout 900 qemu-aarch64 -L "$libraries" "$there/tests" >"$scratch/log" 2>&1
    result=$?
    # Under qemu-user a program that cannot be started is noticed by the copy that should become it only.
    if [ $suite = os ] && [ "$(grep -c ':[FE]:' "$scratch/log")" = 1 ] && grep -q a_program_that_is_not_there_is_not_started "$scratch/log"; then
        result=0
    fi
    judge $result "suite $suite"
done

# The same files but for what differs by nature: the folder and the times that steps took.
for side in here there; do
    mkdir -p "$scratch/$side/config" "$scratch/$side/build"
    cp -r config/. "$scratch/$side/config"
    if [ $side = here ]; then cp -r "$build/plugins" "$scratch/$side/build/"; else cp -r "$there/plugins" "$scratch/$side/build/"; fi
    (cd "$scratch/$side" && as $side backplane run config/solar_system.ini --steps 50000) >"$scratch/$side.out" 2>"$scratch/log"
    judge $? "the solar system runs $side"
    sed '/^World /,$d' "$scratch/$side.out" >"$scratch/$side.table"
done
diff "$scratch/there.table" "$scratch/here.table" >"$scratch/log" 2>&1
judge $? "the solar system's tables are the same"
cmp "$scratch/here/build/solar_system.partial.csv" "$scratch/there/build/solar_system.partial.csv" >"$scratch/log" 2>&1
judge $? "the solar system's records are the same to the last bit"

# A plugin built by the headers that were frozen.
aarch64-linux-gnu-gcc --sysroot="$libraries" -std=c11 -shared -fPIC -I tests/abi/2.0 tests/abi/fossil.c -o "$scratch/fossil.so" >"$scratch/log" 2>&1 &&
    printf '[host]\nplugins = ./fossil\n[world main]\nstep_rate = 1\ncomponents = fossil\nsystems = turn look\n[spawn main two]\ncount = 2\ncomponents = fossil\n' >"$scratch/fossil.ini" &&
    as there backplane run "$scratch/fossil.ini" --steps 4 >>"$scratch/log" 2>&1
judge $? "a plugin of the frozen contract runs"

# Scenes are compiled to the same bytes; what one has compiled or saved the other spawns.
cp config/solar_system.json "$scratch/scene.json"
for side in here there; do
    as $side backplane compile "$scratch/scene.json" -o "$scratch/$side.bpe" --ini config/solar_system.ini >"$scratch/log" 2>&1
done
cmp "$scratch/here.bpe" "$scratch/there.bpe" >>"$scratch/log" 2>&1
judge $? "a scene is compiled to the same bytes"
for side in here there; do
    printf 'step 100\nsave main %s/%s.save\nquit\n' "$scratch" $side >"$scratch/typed"
    (cd "$scratch/$side" && if [ $side = here ]; then "$build/backplane" console config/solar_system.ini
        else qemu-aarch64 -L "$libraries" "$there/backplane" console config/solar_system.ini; fi) <"$scratch/typed" >"$scratch/log" 2>&1
    judge $? "a world is saved $side"
done
cmp "$scratch/here.save" "$scratch/there.save" >"$scratch/log" 2>&1
judge $? "saves are the same bytes"
for side in here there; do
    sed -i "s/solar_system\.json/solar_system.bpe/" "$scratch/$side/config/solar_system.ini"
    if [ $side = here ]; then cp "$scratch/there.save" "$scratch/here/config/solar_system.bpe"; else cp "$scratch/here.save" "$scratch/there/config/solar_system.bpe"; fi
    rm "$scratch/$side/build/solar_system.partial.csv"
    (cd "$scratch/$side" && as $side backplane run config/solar_system.ini --steps 1000) >"$scratch/log" 2>&1
    judge $? "what the other has saved goes on $side"
done
cmp "$scratch/here/build/solar_system.partial.csv" "$scratch/there/build/solar_system.partial.csv" >"$scratch/log" 2>&1
judge $? "what was saved goes on the same way on both"

# The archive is the same each time, and what is unpacked in an empty folder runs.
version=$(sed -n 's/^.define BACKPLANE_VERSION "\(.*\)"/\1/p' host/backplane.h)
for time in first second; do tools/dist.sh "$build" "$scratch/$time" "$version" >"$scratch/log" 2>&1; done
name=backplane-$version-linux-aarch64
cmp "$scratch/first/$name.tar.gz" "$scratch/second/$name.tar.gz" >>"$scratch/log" 2>&1
judge $? "the archive is the same the second time"
mkdir "$scratch/empty" && tar -C "$scratch/empty" -xzf "$scratch/first/$name.tar.gz" && (cd "$scratch/empty/$name" &&
    qemu-aarch64 -L "$libraries" bin/backplane run share/backplane/config/solar_system.ini --steps 100) >"$scratch/log" 2>&1 </dev/null &&
    grep -q '100 steps' "$scratch/log"
judge $? "what is unpacked runs"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
