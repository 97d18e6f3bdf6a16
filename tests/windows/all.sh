#!/bin/sh
# all.sh BUILD - what is built for Windows (build/windows) does under wine what this machine's (in BUILD) does.
#
# What libraries it needs; the suites of the tests, one process each, since Check cannot fork there; the solar system,
# with the same table and the same records to the last bit; scenes compiled and worlds saved on either system and spawned
# by the other; the console, with all plugins; folders whose names are not ASCII, and whose paths are too long for the
# system by itself; files that are no plugins; `check` in a process of its own. The last line counts. SUITES says which
# suites run.
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

# A server that ends when nothing has run for some seconds may do so while the next program asks for it.
mkdir "$WINEPREFIX" && wineserver -p300
wineboot >/dev/null 2>&1
# A library of the compiler's is on no user's machine. All that is in the archive, and the tests.
for file in $windows/*.exe $windows/*.dll $windows/plugins/*.dll; do
    x86_64-w64-mingw32-objdump -p "$file" | sed -n "s#.*DLL Name: #$file needs #p"
done >"$scratch/needs"
grep -q 'needs KERNEL32' "$scratch/needs" && ! grep -i 'needs lib' "$scratch/needs" | grep -v 'needs libbackplane\.dll$' >"$scratch/log"
judge $? "what is built needs the libraries of Windows alone"

mkdir -p $windows/scratch
default="base strings values convert named lists os image entities prototypes store stamps queries referrers own \
    destruction collection properties schedule threads sets terms side_by_side messages pace host worlds look \
    loading declarations bodies debug_name shapes recorder linked hierarchy camera blob json_tree compile \
    compile_errors spawn scene_property save golden scene_files conformance guard helper reload reload_plugins \
    rollback reload_threads loaders pause asked"
for suite in ${SUITES-$default}; do
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

# A scene is compiled to the same bytes, and so is a world that is saved; each system goes on with what the other wrote.
cp config/solar_system.json "$scratch/scene.json"
there() { wine "$source/$windows/backplane.exe" "$@"; }
here() { "$build/backplane" "$@"; }
for place in here there; do
    $place compile "$scratch/scene.json" -o "$scratch/$place.bpe" --ini config/solar_system.ini >>"$scratch/log" 2>&1
    (cd "$scratch/$place" && printf 'step 100\nsave main ../%s.save\nquit\n' $place | $place console config/solar_system.ini) >>"$scratch/log" 2>&1
    judge $? "a world is saved $place"
done
cmp "$scratch/here.bpe" "$scratch/there.bpe" >"$scratch/log" 2>&1
judge $? "a scene is compiled to the same bytes"
cmp "$scratch/here.save" "$scratch/there.save" >"$scratch/log" 2>&1
judge $? "saves are the same bytes"
for kind in bpe save; do
    for place in here there; do
        other=there
        [ $place = here ] || other=here
        sed -i 's/solar_system\.json/solar_system.bpe/' "$scratch/$place/config/solar_system.ini"
        rm -f "$scratch/$place/build/solar_system.partial.csv"
        cp "$scratch/$other.$kind" "$scratch/$place/config/solar_system.bpe" && (cd "$scratch/$place" && $place run config/solar_system.ini --steps 1000) >"$scratch/log" 2>&1 </dev/null
        judge $? "what was written $other ($kind) goes on $place"
    done
    cmp "$scratch/here/build/solar_system.partial.csv" "$scratch/there/build/solar_system.partial.csv" >"$scratch/log" 2>&1
    judge $? "what was written on one system ($kind) goes on the same way on both"
done

cp "$scratch/there/build/solar_system.partial.csv" "$scratch/goes_on.csv"
# A run that one system has recorded the other computes again, with the same hash at each whole state.
(cd "$scratch/here" && here run config/solar_system.ini --steps 300 --record ../here.rec &&
    cd ../there && there run config/solar_system.ini --steps 300 --record ../there.rec &&
    there replay ../here.rec --check --ini config/solar_system.ini &&
    cd ../here && here replay ../there.rec --check --ini config/solar_system.ini) >"$scratch/log" 2>&1 </dev/null
judge $? "what one system has recorded the other computes again"

printf 'worlds\nplugins\nquit\n' | (cd "$scratch/there" && timeout 60 wine "$source/$windows/backplane.exe" console config/solar_system.ini) >"$scratch/log" 2>&1 &&
    grep -q gravity "$scratch/log"
judge $? "the console answers"

# Options that must be given are.
{
    printf '[host]\nplugins =\n'
    (cd $windows/plugins && ls ./*.dll) | sed 's#^\./\(.*\)\.dll$#  ../plugins/\1#'
    printf '[plugin picture]\nfile = all.png\n[plugin recorder]\nproperties = main/a.b.c\ncsv = all.csv\n[world main]\n'
} >$windows/scratch/all.ini
printf 'plugins\nquit\n' | timeout 60 wine $windows/backplane.exe console $windows/scratch/all.ini >"$scratch/log" 2>&1 &&
    [ "$(grep -c ' [0-9]*\.[0-9] ' "$scratch/log")" = "$(find $windows/plugins -name '*.dll' | wc -l)" ]
judge $? "all plugins are loaded together"

if [ -f $windows/plugins/inspector.dll ] && command -v python3 >/dev/null && command -v curl >/dev/null; then
    PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 tests/inspector/protocol.py $windows >"$scratch/log" 2>&1
    judge $? "the inspector answers what docs/protocol.md says, each listing"
fi

name="größe 日本"
cp -r "$scratch/there" "$scratch/$name" && cp -r $windows/backplane.exe $windows/plugins "$scratch/$name/" &&
    rm -f "$scratch/$name"/build/*.svg && (cd "$scratch/$name" && wine ./backplane.exe run config/solar_system.ini --steps 100) >"$scratch/log" 2>&1 </dev/null &&
    [ -f "$scratch/$name/build/solar_system.partial.svg" ]
judge $? "a folder whose name is not ASCII"

# Plugin, ini, meshes, records, saves and temporary files, all with paths of more than 260 characters.
part="größe_日本_0123456789012345678901234567890123456789"
work="$scratch/$part/$part"
far="$part/$part/$part"
mkdir -p "$work/$far/tmp"
cp -r "$scratch/there/config" "$windows/plugins" "$work/$far/"
cp -r config/meshes "$work/$far/config/" 2>/dev/null
sed -i "s#plugins *=.*#plugins = ../plugins/point_mass ../plugins/orbit ../plugins/debug_name ../plugins/gravity ../plugins/recorder#; \
        s#^csv *=.*#csv = $far/o.csv#; s#^svg *=.*#svg = $far/o.svg#" "$work/$far/config/solar_system.ini"
(cd "$work" && there run "$far/config/solar_system.ini" --steps 1000) >"$scratch/log" 2>&1 </dev/null &&
    cmp "$work/$far/o.partial.csv" "$scratch/goes_on.csv" >>"$scratch/log" 2>&1
judge $? "a plugin, an ini and records whose paths are long"
printf 'step 100\nsave main %s/%s.save\nquit\n' "$far" "$part" >"$scratch/typed"
(cd "$work" && there console "$far/config/solar_system.ini") <"$scratch/typed" >"$scratch/log" 2>&1 && [ -s "$work/$far/$part.save" ]
judge $? "a save whose path is long"
# Copies of plugins go to TMPDIR, and a helper for a trial is told what to do by a file there; nothing of it stays, nor
# what a host that was killed has left there. (wine keeps a folder of its own there.)
mkdir "$work/$far/tmp/backplane-1-0" && touch "$work/$far/tmp/backplane-1-0/.owner" "$work/$far/tmp/backplane-1-0/gravity.1.dll"
sed "s/^\[host\]/[host]\nhot_reload = on\ntrial = on/" "$work/$far/config/solar_system.ini" >"$work/$far/config/hot.ini"
(cd "$work" && printf 'step 10\nreload gravity\nstep 10\nquit\n' | TMPDIR="$work/$far/tmp" there console -v "$far/config/hot.ini") >"$scratch/log" 2>&1
grep -q "reloaded gravity" "$scratch/log" && ! grep -q "untried\|cannot be written\|copies of plugins lie" "$scratch/log" &&
    grep -q "removed 1 temporary folder" "$scratch/log" && ! ls -A "$work/$far/tmp" | grep -q backplane
judge $? "temporary files in a folder whose path is long, and a trial with them"

wine $windows/reload.exe $windows/plugins/point_mass.dll $windows/point_mass_2.dll "$scratch" >"$scratch/log" 2>&1
judge $? "a file that is written over is noticed and reloaded, damaged ones are refused"

mkdir -p "$scratch/system" && timeout 300 wine $windows/system.exe "$scratch/system" >"$scratch/log" 2>&1
judge $? "files, handles and processes of the system's own are taken as they are"

# Files that are no plugins. The symbols are left out, so that there are fewer lengths.
x86_64-w64-mingw32-strip -o "$scratch/small.dll" $windows/plugins/point_mass.dll && mkdir -p "$scratch/bad" &&
    timeout 300 wine $windows/bad.exe "$scratch/small.dll" "$build/plugins/point_mass.so" "$scratch/bad" >"$scratch/log" 2>&1
judge $? "files cut at each length, ended with zeros, of another system: all refused"
cp "$windows/plugins/point_mass.dll" "$scratch/point_mass.so"
! "$build/backplane" check "$scratch/point_mass.so" >"$scratch/log" 2>&1 && grep -q "as libraries for Windows do" "$scratch/log"
judge $? "a library for Windows is refused here"

# A source is saved, the command of the ini runs, and what it has made comes in after a trial.
mkdir -p "$scratch/build/src" "$scratch/build/plugins" "$scratch/build/next"
cp examples/plugin/spin.c "$scratch/build/src/"
sed 's/"1.0"/"1.1"/' examples/plugin/spin.c >"$scratch/build/next/spin.c"
x86_64-w64-mingw32-gcc -shared -I plugin_api "$scratch/build/src/spin.c" -o "$scratch/build/plugins/spin.dll"
x86_64-w64-mingw32-gcc -shared -I plugin_api "$scratch/build/next/spin.c" -o "$scratch/build/next/spin.dll"
cat >"$scratch/build/spin.ini" <<'EOF'
[host]
plugins = plugins/spin
hot_reload = on
build = copy /y next\{plugin}.dll plugins\{plugin}.dll
sources = src
[world main]
components = spin
[spawn main wheel]
components = spin
EOF
# Saved again and again, since the script cannot know when the host begins to watch.
saved() { # the file that is saved
    cp "$scratch/build/plugins/first.dll" "$scratch/build/plugins/spin.dll"
    : >"$scratch/log"
    n=0
    while [ $n -lt 120 ] && ! grep -q 'reloaded spin 1.0 -> 1.1' "$scratch/log"; do
        [ $((n % 6)) != 5 ] || cp "$scratch/build/next/spin.c" "$scratch/build/$1"
        echo 'step 5'
        sleep 0.5
        n=$((n + 1))
    done | (cd "$scratch/build" && there console -v spin.ini) >"$scratch/log" 2>&1
    grep -q "'spin' is built" "$scratch/log" && grep -q "reloaded spin 1.0 -> 1.1" "$scratch/log"
}
cp "$scratch/build/plugins/spin.dll" "$scratch/build/plugins/first.dll"
saved src/spin.c
judge $? "a source that is saved is built, and the plugin comes in"
# As clang lists what it has read.
mkdir -p "$scratch/build/inc" && cp "$scratch/build/next/spin.c" "$scratch/build/inc/spin.h"
printf 'plugins/spin.dll: src/spin.c .\\inc\\spin.h\n' >"$scratch/build/plugins/spin.d"
saved inc/spin.h
judge $? "a header that the compiler lists with backslashes is built when it is saved"

# A plugin that crashes while it is looked over is a finding.
there check $windows/plugins/gravity.dll --level 4 --needs $windows/plugins/point_mass.dll >"$scratch/log" 2>&1
judge $? "a plugin is checked"
back=$(echo "$windows/plugins/point_mass.dll" | tr / '\\')
there check "$back" --from "$back" >"$scratch/log" 2>&1
judge $? "a plugin is checked against a version before, by paths with backslashes"
! there check $windows/fixtures/crasher.dll where=load how=null >"$scratch/log" 2>&1 && grep -q "crashed in 'load'" "$scratch/log"
judge $? "a plugin that crashes while it is checked is told"
# The sentence names the function, by the library's symbols, and the line that this machine's addr2line knows.
(cd $windows/path && ! there check ../fixtures/crasher.dll where=load how=null) >"$scratch/log" 2>&1
line=$(sed -n 's/.*crashed in .load.*in its function .write_to. ([0-9]* bytes into it), at at\.c:\([0-9]*\).*/\1/p' "$scratch/log" | head -1)
[ -n "$line" ] && at=$(x86_64-w64-mingw32-addr2line -f -e $windows/fixtures/crasher.dll "$(printf '0x%x' "$line")") &&
    echo "$at" >>"$scratch/log" && echo "$at" | grep -q '^write_to$' && echo "$at" | grep -q 'crasher\.[ch]:[1-9]'
judge $? "a crash is told with function and line"
! there check $windows/fixtures/crasher.dll where=load how=exit >"$scratch/log" 2>&1 && grep -q "it calls exit" "$scratch/log"
judge $? "a plugin that ends the process that checks it is told"

# The archive is the same each time, and what is unpacked in an empty folder runs, with nothing of the source.
version=$(sed -n 's/^.define BACKPLANE_VERSION "\(.*\)"/\1/p' host/backplane.h)
for time in first second; do tools/dist.sh "$build" "$scratch/$time" "$version" >"$scratch/log" 2>&1; done
zip=backplane-$version-windows-x86_64
cmp "$scratch/first/$zip.zip" "$scratch/second/$zip.zip" >>"$scratch/log" 2>&1
judge $? "the archive is the same the second time"
mkdir "$scratch/unpacked" && (cd "$scratch/unpacked" && unzip -q "$scratch/first/$zip.zip" && cd "$zip" && mkdir -p build &&
    wine ./backplane.exe run config/solar_system.ini --steps 100) >"$scratch/log" 2>&1 </dev/null && grep -q '100 steps' "$scratch/log"
judge $? "what is unpacked runs"
(cd "$scratch/unpacked/$zip" && x86_64-w64-mingw32-gcc -DBACKPLANE_SHARED -Iinclude "$source/examples/embed/main.c" -Llib -l:libbackplane.dll.a \
    -o embed.exe && wine ./embed.exe plugins/point_mass.dll) >"$scratch/log" 2>&1 && grep -q 'after one second: 1.000 0.000 0.000' "$scratch/log"
judge $? "a program is built with what is unpacked"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
