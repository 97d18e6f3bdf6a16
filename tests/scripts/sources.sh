#!/bin/sh
# sources.sh BUILD - plugins that are given as their source: compiled when they load, and when they are saved.
#
# In a folder whose name has a blank and a quote in it: an ini with `plugins = ./spin.c`; what does not compile is said
# as the compiler says it, and the version before stays; a header that the source includes is watched; other fields come
# in with the values of those that stay; what crashes is refused by its trial; C++ and Rust take over where their
# compilers are; `check`, `plugins`, `load_plugin` and `reload` take a source as they take a library; compilers and
# flags are those of the ini; nothing is left behind, beside the source or among temporary files.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
[ "$(uname -s)" = Linux ] || { echo "sources: skipped, sources are watched on Linux only"; exit 0; }
scratch=$(mktemp -d)
. "$source/tests/scripts/parts/session.sh"
trap '[ -z "$session" ] || kill "$session" 2>/dev/null || true; chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
fail() {
    echo "sources: $*"
    [ ! -f "$scratch/said" ] || cat "$scratch/said"
    exit 1
}
backplane=$build/backplane
mkdir "$scratch/temporary"
TMPDIR=$scratch/temporary
export TMPDIR
nothing_left() { [ -z "$(ls -A "$TMPDIR")" ] || fail "these are left: $(ls -AR "$TMPDIR")"; }
work="$scratch/the author's"
mkdir "$work"
cd "$work"

echo '#define TURNS 1' >spin.h
sed -e 's|^#include <bp_plugin.h>|&\n#include "spin.h"|' -e 's/c.speed\[i\] \* dt/TURNS * &/' \
    "$source/examples/plugin/spin.c" >spin.c
{ grep -q 'TURNS \* c.speed' spin.c && grep -q spin.h spin.c; } || fail "examples/plugin/spin.c is not what is edited here"
cat >spin.ini <<'END'
[host]
plugins = ./spin.c debug_name
hot_reload = on

[world main]
step_rate = 60
components = spin debug_name

[spawn main wheel]
components = spin name:debug_name
name.name = wheel
END

# --- a console from morning to evening --------------------------------------------------------------------------
session_begin "$backplane" console spin.ini

ask 'step 60' '^main: step 60, time 1$'
ask 'get main/wheel.spin.angle' '^\(0\.9999\|1\.0000\|1$\)'
ask 'plugins spin' '\./spin\.c'

edit spin.c -e 's/float \*angle;/flaot *angle;/'
hear '^.*spin\.c:[0-9:]* error: unknown type name'
hear "'spin' could not be built"
ask 'step 60' '^main: step 120'
ask 'get main/wheel.spin.angle' '^\(1\.9999\|2\.0000\|2$\)'
ask 'reload spin' 'spin\.c: it does not compile'
ask 'step 60' '^main: step 180'
edit spin.c -e 's/flaot \*angle;/float *angle;/'
hear 'reloaded spin 1.0 -> 1.0'

# What it includes is its source too, also in another folder.
edit spin.h -e 's/1/10/'
hear 'reloaded spin 1.0 -> 1.0'
ask 'step 60' '^main: step 240'
ask 'get main/wheel.spin.angle' '^\(12\.99\|13\.00\|13$\)'
mkdir "$scratch/headers"
mv spin.h "$scratch/headers/spin.h"
edit spin.c -e "s|\"spin.h\"|\"$scratch/headers/spin.h\"|"
hear 'reloaded spin 1.0 -> 1.0'
edit "$scratch/headers/spin.h" -e 's/10/0/'
hear 'reloaded spin 1.0 -> 1.0'
ask 'step 60' '^main: step 300'
ask 'get main/wheel.spin.angle' '^\(12\.99\|13\.00\|13$\)'

# A folder that is taken away and made anew, as others do who check out another state of it.
rm -r "$scratch/headers"
sleep 0.5
mkdir "$scratch/headers"
echo '#define TURNS 2' >"$scratch/headers/spin.h"
hear 'reloaded spin 1.0 -> 1.0'
ask 'step 60' '^main: step 360'
ask 'get main/wheel.spin.angle' '^\(14\.99\|15\.00\|15$\)'

# What crashes is refused by the trial, with file and line; other fields come in, with the values of those that stay.
edit spin.c -e 's/^        c.angle\[i\] +=/        *(volatile int *)16 = 1, &/'
hear 'on trial: plugin .spin. 1.0 crashed in .simulate.*spin\.c:'
edit spin.c -e 's/\*(volatile int \*)16 = 1, //' -e 's/const float \*speed;/const double *rate;/' \
    -e 's/speed), /rate), .former_name = "speed", /' -e 's/c.speed\[i\]/(float)c.rate[i]/' -e 's/"1.0"/"1.1"/'
hear 'reloaded spin 1.0 -> 1.1'
hear 'converted.*rate, from f32 to f64'
ask 'get main/wheel.spin.angle' '^\(14\.99\|15\.00\|15$\)'
ask 'reload spin' 'reloaded spin 1.1 -> 1.1'

# Unloaded and loaded as another source of the same plugin, in another language where that is there.
ask 'unload_plugin spin'
count=360
if command -v c++ >/dev/null; then
    cp "$source/examples/languages/spin.cpp" .
    ask 'load_plugin ./spin.cpp' '^loaded spin'
    edit spin.cpp -e 's/"2.0, C++"/"2.1"/'
    hear 'reloaded spin 2.0, C++ -> 2.1'
    edit spin.c -e 's/"1.1"/"1.2"/' # which is not watched now
    ask 'step 1' '^main: step 361'
    ask 'unload_plugin spin'
    count=361
fi
if command -v rustc >/dev/null; then
    sed -e '/^#\[path = /d' -e 's|^mod bp;|mod bp { include!(concat!(env!("BACKPLANE_HEADERS"), "/bp.rs")); }|' \
        "$source/examples/languages/spin.rs" >spin.rs
    ask 'load_plugin ./spin.rs' '^loaded spin'
    edit spin.rs -e 's/3\.0, Rust/3.1/'
    hear 'reloaded spin 3.0, Rust -> 3.1'
    ask 'unload_plugin spin'
fi
ask 'load_plugin ./nowhere.c' 'nowhere\.c: there is no such source'
ask 'load ./spin.c' '^loaded spin'
ask 'step 1' "^main: step $((count + 1))"
ask quit
session_end || true # it is told that lines were wrong
nothing_left
[ -z "$(find . -name '*.so' -o -name '*.d' -o -name '*.o')" ] || fail "the folder of the source has $(ls)"

# --- by hand, where nothing is watched ----------------------------------------------------------------------------
cp "$source/examples/plugin/spin.c" .
sed -i '/^hot_reload/d' spin.ini
{ echo 'step 60'; sleep 1; sed -i 's/"1.0"/"1.5"/' spin.c; echo 'reload spin'; echo 'step 60'; } |
    "$backplane" console spin.ini >"$scratch/said" 2>&1 || fail "the console fails"
grep -q 'reloaded spin 1.0 -> 1.5' "$scratch/said" || fail "reload does not compile"

# --- check, and the list ------------------------------------------------------------------------------------------
"$backplane" check ./spin.c --level 5 >"$scratch/said" 2>&1 || fail "check finds something"
{ grep -q '^\./spin\.c$' "$scratch/said" && grep -q '25 checks up to level 5' "$scratch/said"; } || fail "check does not check"
mkdir "$scratch/older"
cp "$source/examples/plugin/spin.c" "$scratch/older"
"$backplane" check ./spin.c --from "$scratch/older/spin.c" >"$scratch/said" 2>&1 || fail "check does not take an older source"
grep -q 'up to level 4' "$scratch/said" || fail "check does not ask about the older source"
sed 's/float \*angle;/flaot *angle;/' spin.c >wrong.c
! "$backplane" check ./wrong.c >"$scratch/said" 2>&1 || fail "check takes what does not compile"
grep -q 'error: ./wrong.c: it does not compile' "$scratch/said" || fail "check does not say that it does not compile"
! "$backplane" check --json ./wrong.c 2>/dev/null >"$scratch/said" || fail "check --json takes what does not compile"
grep -q '"passed": *false' "$scratch/said" || fail "check --json says nothing of it"
"$backplane" plugins spin.ini >"$scratch/said" 2>&1 || fail "plugins does not compile"
grep -q '^spin' "$scratch/said" || fail "plugins does not list it"
nothing_left

# --- the compiler that the ini says -------------------------------------------------------------------------------
cat >"$scratch/compiler" <<'END'
#!/bin/sh
printf '%s\n' "$*" >>"$(dirname "$0")/called"
exec cc "$@"
END
chmod +x "$scratch/compiler"
with() { sed -e "s|^plugins = .*|&\n$1|" spin.ini >own.ini; }
with "cc = $scratch/compiler\ncflags = -O1 -DNAMED=1"
"$backplane" run own.ini --steps 1 >"$scratch/said" 2>&1 || fail "a compiler of the ini does not serve"
grep -q -e '-O1 -DNAMED=1' "$scratch/called" || fail "it was not called as the ini says: $(cat "$scratch/called")"
! grep -q -e '-O2' "$scratch/called" || fail "the flags of the ini do not replace the usual ones"
with 'cc = no-such-compiler'
! "$backplane" run own.ini --steps 1 >"$scratch/said" 2>&1 || fail "it runs without a compiler"
grep -q "own.ini:2: ./spin.c: there is no compiler 'no-such-compiler'.*cc = in" "$scratch/said" || fail "a missing compiler is not told"
sed -e 's/spin\.c/wrong.c/' spin.ini >own.ini
! "$backplane" run own.ini --steps 1 >"$scratch/said" 2>&1 || fail "it runs what does not compile"
grep -q '^./wrong\.c:[0-9]*:[0-9]*: error' "$scratch/said" || fail "the compiler is not heard"
grep -q 'own.ini:2: ./wrong.c: it does not compile' "$scratch/said" || fail "the ini's line is not told"
# A compiler that is killed, one that makes nothing, one that does not stop talking.
for what in 'kill -9 $$' 'exit 0' 'yes error | head -c 3000000; exit 1'; do
    printf '#!/bin/sh\n%s\n' "$what" >"$scratch/compiler"
    with "cc = $scratch/compiler"
    ! timeout 60 "$backplane" run own.ini --steps 1 >"$scratch/said" 2>&1 || fail "it runs with: $what"
    grep -q 'own.ini:2: .*spin' "$scratch/said" || fail "no sentence for: $what"
done
nothing_left

# --- an installation, from a read-only folder ---------------------------------------------------------
(cd "$source" && unset MAKEFLAGS MFLAGS MAKELEVEL && make -s BUILD="$build" install PREFIX="$scratch/tree") >"$scratch/said" 2>&1 ||
    fail "make install fails"
cat >"$scratch/main.c" <<'END'
#include <backplane.h>
#include <stdio.h>
int main(int count, char **texts)
{
    bp_host_o *host = bp_host_create(NULL);
    bp_result_t result = bp_host_load_plugin(host, texts[count - 1], NULL, 0);
    puts(result == BP_OK ? "loaded" : bp_host_error(host));
    bp_host_destroy(host);
    return result != BP_OK;
}
END
mkdir "$scratch/program"
(
    PKG_CONFIG_PATH=$scratch/tree/lib/pkgconfig
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046
    cc "$scratch/main.c" $(pkg-config --cflags --libs backplane) -o "$scratch/program/main"
)
chmod -R a-w "$work" "$scratch/tree"
printf 'step 60\nget main/wheel.spin.angle\n' | "$scratch/tree/bin/backplane" console spin.ini >"$scratch/said" 2>&1 || fail "an installed program cannot compile"
grep -q '^\(0\.9999\|1\.0000\|1$\)' "$scratch/said" || fail "an installed program compiles something else"
# A program of an embedder's elsewhere, with the shared library: the headers are found beside that.
"$scratch/program/main" ./spin.c >"$scratch/said" 2>&1 || fail "an embedder's program finds no headers"
grep -q '^loaded$' "$scratch/said" || fail "an embedder's program does not load it"
nothing_left

# A program that was moved away from its headers takes those that pkg-config knows; Rust needs them beside the program.
mkdir -p "$scratch/moved/away/from"
cp "$build/backplane" "$scratch/moved/away/from/backplane"
moved() { "$scratch/moved/away/from/backplane" "$@" >"$scratch/said" 2>&1; }
mkdir "$scratch/nothing" "$scratch/plain"
cp "$source/examples/plugin/spin.c" "$scratch/plain"
printf '[host]\nplugins = ./spin.c\n[world main]\ncomponents = spin\n' >"$scratch/plain/spin.ini"
printf '[host]\nplugins = ./no.rs\n' >"$scratch/no.ini"
: >"$scratch/no.rs"
! moved run "$scratch/no.ini" --steps 1 || fail "Rust without headers is compiled"
grep -q 'no.rs: the headers for plugins are neither beside the program nor beside the library' "$scratch/said" ||
    fail "it is not told that the headers are missing"
! PKG_CONFIG_PATH=$scratch/nothing moved run "$scratch/plain/spin.ini" --steps 1 || fail "C without headers is compiled"
grep -q "bp_plugin.h" "$scratch/said" || fail "it is not told which header is missing"
PKG_CONFIG_PATH=$scratch/tree/lib/pkgconfig moved run "$scratch/plain/spin.ini" --steps 1 || fail "the headers of pkg-config are not taken"
nothing_left
echo "a source in the ini, saved and saved again"
