#!/bin/sh
# install.sh BUILD - make install PREFIX=... gives a tree that can be used, also after it has been moved.
#
# With nothing but that tree and pkg-config: the example programs are built, against the shared library
# and against the static one, the smallest plugin is built, and the program finds its plugins and runs
# the ini files that ship.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "install: $*"; exit 1; }
unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs this script
version=$(sed -n 's/^.define BACKPLANE_VERSION "\(.*\)"/\1/p' "$source/host/backplane.h")

(cd "$source" && make -s BUILD="$build" install DESTDIR="$scratch/stage" PREFIX=/opt/first) >"$scratch/log" 2>&1 ||
    { cat "$scratch/log"; fail "make install fails"; }
first=$scratch/stage/opt/first
for file in bin/backplane lib/libbackplane.a lib/libbackplane.so.0 lib/libbackplane.so lib/pkgconfig/backplane.pc \
    lib/backplane/plugins/point_mass.so include/backplane/backplane.h include/backplane/bp_plugin.h \
    include/backplane/components/mesh.h share/backplane/config/solar_system.ini \
    share/backplane/config/solar_system.json share/backplane/config/meshes/cube.obj; do
    [ -f "$first/$file" ] || fail "$file is missing"
done
[ "$(readlink "$first/lib/libbackplane.so")" = libbackplane.so.0 ] || fail "libbackplane.so is no link to libbackplane.so.0"
for command in run plugins console new check dump import compile schema; do
    grep -q "^\.SS $command" "$first/share/man/man1/backplane.1" || fail "the manual page lacks the command $command"
done
if command -v man >/dev/null 2>&1 && man -l "$first/share/man/man1/backplane.1" >"$scratch/log" 2>&1; then
    grep -q -e '--level N' "$scratch/log" || { cat "$scratch/log"; fail "man does not show what check takes"; }
fi
[ -x "$first/bin/backplane" ] || fail "bin/backplane cannot be run"
# A plugin that needs libraries of others may have been left out of the build.
for folder in "$source"/plugins/*/; do
    name=$(basename "$folder")
    [ -f "$folder/packages" ] || [ -f "$first/lib/backplane/plugins/$name.so" ] || fail "the plugin $name is missing"
done
for file in "$build"/plugins/*.so; do
    [ -f "$first/lib/backplane/plugins/$(basename "$file")" ] || fail "$(basename "$file") was built and is missing"
done
! grep -rl "$scratch\|$source" "$first/lib/pkgconfig" "$first/include" "$first/share" || fail "the place of the build is written in these"
# Once more over itself, then moved: nothing may know where it was.
(cd "$source" && make -s BUILD="$build" install DESTDIR="$scratch/stage" PREFIX=/opt/first) >"$scratch/log" 2>&1 ||
    { cat "$scratch/log"; fail "make install over an older one fails"; }
[ -z "$(find "$first" -name '*.new')" ] || fail "half-written files are left"
prefix="$scratch/moved"
mv "$first" "$prefix"

# --- programs ------------------------------------------------------------------------------------------
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
[ "$(pkg-config --modversion backplane)" = "$version" ] || fail "pkg-config says version $(pkg-config --modversion backplane), not $version"
mkdir "$scratch/work"
cd "$scratch/work"
cp "$source"/examples/embed/* "$source"/examples/plugin/* "$source"/plugins/point_mass/point_mass.c .
expected="after one second: 1.000 0.000 0.000"
plugin=$prefix/lib/backplane/plugins/point_mass

# As README.md says; then the static library; then by the example's own Makefile.
# shellcheck disable=SC2046
cc main.c $(pkg-config --cflags --libs backplane) -o shared
said=$(./shared "$plugin") || fail "the program of README.md does not start"
[ "$said" = "$expected" ] || fail "with the shared library main.c says '$said'"
# shellcheck disable=SC2046
cc main.c $(pkg-config --cflags backplane) "$prefix/lib/libbackplane.a" \
    $(pkg-config --static --libs backplane | sed -e 's/-lbackplane//') -o static
said=$(./static "$plugin")
[ "$said" = "$expected" ] || fail "with the static library main.c says '$said'"
! ldd ./static | grep -q libbackplane || fail "the static program needs the shared library"
make -s PLUGIN=point_mass.c >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "examples/embed/Makefile fails"; }
said=$(./main "$plugin" && ./release)
[ "$said" = "$expected
$expected" ] || fail "the programs of examples/embed/Makefile say '$said'"

# By CMake, with both libraries; another version is refused.
if command -v cmake >/dev/null 2>&1; then
    cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.13)
project(embed C)
find_package(backplane $version REQUIRED)
add_executable(by_shared main.c)
target_link_libraries(by_shared backplane::backplane)
add_executable(by_static main.c)
target_link_libraries(by_static backplane::static)
END
    cmake -S . -B by_cmake -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/log" 2>&1 && cmake --build by_cmake >>"$scratch/log" 2>&1 ||
        { cat "$scratch/log"; fail "find_package(backplane) does not serve"; }
    for program in by_shared by_static; do
        said=$(by_cmake/$program "$plugin")
        [ "$said" = "$expected" ] || fail "$program, built by CMake, says '$said'"
    done
    ! ldd by_cmake/by_static | grep -q libbackplane || fail "backplane::static needs the shared library"
    sed -i "s/backplane $version/backplane 99.0/" CMakeLists.txt
    ! cmake -S . -B refused -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/log" 2>&1 || fail "find_package takes version $version for 99.0"
fi

# --- a plugin, and the program -------------------------------------------------------------------------
# shellcheck disable=SC2046
cc -shared -fPIC $(pkg-config --cflags backplane) spin.c -o spin.so
printf 'step 30\nget main/wheel.spin.angle\n' | "$prefix/bin/backplane" console spin.ini >said
grep -q '^1\.2[45]' said || { cat said; fail "the installed program does not run spin.ini"; }

# A plugin of one's own, by what is installed alone: three commands.
began=$(date +%s)
"$prefix/bin/backplane" new health --fields "hp:f32=100,max:f32" >said
make -s -C health test >>said
printf 'step 60\nget main/one.health.hp\n' | "$prefix/bin/backplane" console health/health.ini >>said
[ $(($(date +%s) - began)) -le 10 ] || fail "a plugin of one's own takes more than ten seconds"
{ grep -q '^passed$' said && grep -q '^101\.' said; } || { cat said; fail "what backplane new makes does not run"; }
grep -q '25 checks up to level 5' said || { cat said; fail "make test of a new plugin does not check it"; }
mv "$prefix" "$prefix.away"
! make -s -C health BACKPLANE="$prefix/bin/backplane" -B >said 2>&1 || fail "a plugin is built without the program"
grep -q 'say where it is: make BACKPLANE=' said || { cat said; fail "make does not say that the program is missing"; }
mv "$prefix.away" "$prefix"

# The ini files as they lie there, from a folder with nothing in it: what they write goes there, and nothing beside them.
mkdir "$scratch/empty"
cd "$scratch/empty"
before=$(find "$prefix" | sort)
for file in "$prefix"/share/backplane/config/*.ini; do
    case $file in
    */bubbles.ini) [ -f "$prefix/lib/backplane/plugins/picture.so" ] || continue ;;
    esac
    "$prefix/bin/backplane" run "$file" --steps 2 >said 2>&1 || { cat said; fail "$(basename "$file") does not run as it is installed"; }
done
[ -f solar_system.partial.svg ] && [ -f solar_system.partial.csv ] || { ls; fail "what a run writes is not where it runs"; }
[ "$(find "$prefix" | sort)" = "$before" ] || fail "something was written into the installed tree"
"$prefix/bin/backplane" run "$prefix/share/backplane/config/solar_system.ini" --steps 100 >said || fail "solar_system.ini does not run"
grep -q 'gravity' said || { cat said; fail "a run says nothing of gravity"; }
cd "$scratch/work"

# An embedder's program finds plugins by their names, beside the library.
cat >named.c <<'END'
#include <backplane.h>
#include <stdio.h>
int main(void)
{
    bp_host_o *host = bp_host_create(NULL);
    bp_result_t result = bp_host_setup(host, "named.ini");
    puts(result == BP_OK ? "found" : bp_host_error(host));
    bp_host_destroy(host);
    return result != BP_OK;
}
END
printf '[host]\nplugins = point_mass\n' >named.ini
# shellcheck disable=SC2046
cc named.c $(pkg-config --cflags --libs backplane) -o named
[ "$(./named)" = found ] || { ./named; fail "plugins are not found beside the library"; }
[ "$("$prefix/bin/backplane" --version | grep -c "$version")" = 1 ] || fail "--version does not say $version"
echo "installed, moved, used"
