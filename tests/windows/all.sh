#!/bin/sh
# all.sh BUILD - what is built for Windows (build/windows) does under wine what this machine's (in BUILD) does.
#
# The suites of the tests, one process each, since Check cannot fork there; the solar system, with the same table and
# the same records to the last bit; a scene compiled on either system and shown and spawned by the other; the console; a
# folder whose name is not ASCII. The last line counts.
set -u

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd) || exit 2
cd "$source" || exit 2
windows=build/windows
scratch=$(mktemp -d)
# Names of files are handed over as UTF-8 only where the locale says so.
export WINEPREFIX="$scratch/wine" WINEARCH=win64 WINEDEBUG=-all DISPLAY= LC_ALL=C.UTF-8 CK_FORK=no
trap 'wineserver -k >/dev/null 2>&1; rm -rf "$scratch"' EXIT
passed=0
failed=0
good() { passed=$((passed + 1)); echo "passed: $1"; }
bad() { failed=$((failed + 1)); echo "FAILED: $1"; tail -20 "$scratch/log" | cut -c 1-300 | sed 's/^/    /'; }
judge() { if [ "$1" = 0 ]; then good "$2"; else bad "$2"; fi; }

wineboot >/dev/null 2>&1
mkdir -p $windows/scratch
for suite in base convert named lists os image entities prototypes store stamps queries referrers own destruction \
    properties schedule threads sets terms side_by_side messages pace host look loading plugins hierarchy camera blob json_tree \
    compile compile_errors spawn scene_property save golden scene_files conformance guard reload reload_plugins \
    rollback reload_threads loaders pause; do
    CK_RUN_SUITE=$suite timeout 300 wine $windows/tests.exe >"$scratch/log" 2>&1
    judge $? "suite $suite"
done

# The same files but for what differs by nature: the folder and the times that steps took.
solar() { # program plugins out
    mkdir -p "$scratch/$3/config" "$scratch/$3/build"
    cp -r config/. "$scratch/$3/config"
    cp -r "$2" "$scratch/$3/build/plugins"
    (cd "$scratch/$3" && $1 run config/solar_system.ini --steps 50000) >"$scratch/$3.out" 2>"$scratch/log" </dev/null
}
solar "$build/backplane" "$build/plugins" here && solar "wine $source/$windows/backplane.exe" $windows/plugins there
judge $? "the solar system runs"
table() { tr -d '\r' <"$scratch/$1.out" | sed '/^World /,$d'; }
table here >"$scratch/here.table"
table there | diff - "$scratch/here.table" >"$scratch/log" 2>&1
judge $? "the solar system's tables are the same"
cmp "$scratch/here/build/solar_system.partial.csv" "$scratch/there/build/solar_system.partial.csv" >"$scratch/log" 2>&1
judge $? "the solar system's records are the same"

# A scene is compiled to the same bytes, and each system spawns what the other has compiled.
cp config/solar_system.json "$scratch/scene.json"
"$build/backplane" compile "$scratch/scene.json" -o "$scratch/here.bpe" --ini config/solar_system.ini >"$scratch/log" 2>&1 &&
    wine $windows/backplane.exe compile "$scratch/scene.json" -o "$scratch/there.bpe" --ini config/solar_system.ini >>"$scratch/log" 2>&1 &&
    cmp "$scratch/here.bpe" "$scratch/there.bpe" >>"$scratch/log" 2>&1
judge $? "a scene is compiled to the same bytes"
for place in here there; do
    sed -i 's/solar_system\.json/solar_system.bpe/' "$scratch/$place/config/solar_system.ini"
    rm "$scratch/$place/build/solar_system.partial.csv"
done
cp "$scratch/there.bpe" "$scratch/here/config/solar_system.bpe"
cp "$scratch/here.bpe" "$scratch/there/config/solar_system.bpe"
(cd "$scratch/here" && "$build/backplane" run config/solar_system.ini --steps 1000) >"$scratch/log" 2>&1 </dev/null &&
    (cd "$scratch/there" && wine "$source/$windows/backplane.exe" run config/solar_system.ini --steps 1000) >>"$scratch/log" 2>&1 </dev/null &&
    cmp "$scratch/here/build/solar_system.partial.csv" "$scratch/there/build/solar_system.partial.csv" >>"$scratch/log" 2>&1
judge $? "a scene that was compiled on one system is spawned on the other"

printf 'worlds\nplugins\nquit\n' | (cd "$scratch/there" && timeout 60 wine "$source/$windows/backplane.exe" console config/solar_system.ini) >"$scratch/log" 2>&1 &&
    grep -q gravity "$scratch/log"
judge $? "the console answers"

name="größe 日本"
cp -r "$scratch/there" "$scratch/$name" && cp -r $windows/backplane.exe $windows/plugins "$scratch/$name/" &&
    (cd "$scratch" && wine "$name/backplane.exe" run "$name/config/solar_system.ini" --steps 100) >"$scratch/log" 2>&1 </dev/null &&
    [ -f "$scratch/$name/build/solar_system.partial.svg" ]
judge $? "a folder whose name is not ASCII"

wine $windows/reload.exe $windows/plugins/point_mass.dll $windows/point_mass_2.dll "$scratch" >"$scratch/log" 2>&1
judge $? "a file that is written over is noticed and reloaded, damaged ones are refused"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
