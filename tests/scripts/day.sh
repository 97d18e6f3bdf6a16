#!/bin/sh
# day.sh BUILD - an author's whole day, as README.md and docs/new.md have it typed, with nothing but an installed tree.
# With "installed" in place of BUILD it is the tree whose backplane is the command, which need not be ours to write.
#
# From nothing to a plugin that somebody else runs: install, new, build, look, mistakes in the source and in the ini,
# changes that come into the running world by saving them, save and load, check and test, and a game of another's with
# the plugin in it. One console runs from morning to evening; whatever is typed there waits for its answer.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
[ "$1" = installed ] || build=$(cd "$1" && pwd)
[ "$(uname -s)" = Linux ] || { echo "day: skipped, sources are watched on Linux only"; exit 0; }
scratch=$(mktemp -d)
. "$source/tests/scripts/parts/session.sh"
trap '[ -z "$session" ] || kill "$session" 2>/dev/null || true; rm -rf "$scratch"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL BACKPLANE PKG_CONFIG_PATH
fail() {
    echo "day: $*"
    [ ! -f "$scratch/said" ] || cat "$scratch/said"
    exit 1
}

# --- a machine with nothing but the tree --------------------------------------------------------------------------
if [ "$1" != installed ]; then
    (cd "$source" && make -s BUILD="$build" install PREFIX="$scratch/tree") >"$scratch/log" 2>&1 ||
        { cat "$scratch/log"; fail "make install fails"; }
    PATH=$scratch/tree/bin:$PATH
fi
HOME=$scratch/home
export PATH HOME
mkdir "$HOME"
cd "$HOME"

# --- morning: from nothing to a running world ---------------------------------------------------------------------
backplane new health --fields "hp:f32=100,max:f32=250" >"$scratch/log"
make -s -C health >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "a new plugin does not build"; }

session_begin backplane console health/health.ini
ask 'step 60' '^main: step 60, time 1$'
ask 'get main/one.health.hp' '^101\.000'
ask 'find main health.hp > 500' '^0 entities$'

# --- mistakes, while the world goes on ----------------------------------------------------------------------------
edit health/health.c -e 's/+= dt;/+= dtt;/'
hear 'health\.c:.*dtt'
ask 'step 1' '^main: step 61'
edit health/health.c -e 's/+= dtt;/+= *(volatile float *)(intptr_t)(i + 8);/'
hear 'health.*crash'
ask 'step 1' '^main: step 62'
ask 'get main/one.health.hp' '^101\.03'
ask 'set main/one.health.hpp 5' "did you mean 'hp'"
ask 'reload helth' "did you mean 'health'"

# --- another struct and other code, into the running world --------------------------------------------------------
edit health/health.c -e 's/^    const float \*max;/&\n    const float *regen;/' \
    -e 's/^    {BP_FIELD_OF(struct health, max).*/&\n    {BP_FIELD_OF(struct health, regen), .initial = "2", .unit = "1\/s"},/' \
    -e 's/c\.hp\[i\] += .*/c.hp[i] += c.regen[i] * dt;/'
hear 'added.*regen'
ask 'step 60' '^main: step 122'
ask 'get main/one.health.hp' '^103\.03'
ask 'set main/one.health.regen 50'
ask 'step 60' '^main: step 182'
ask 'get main/one.health.hp' '^153\.03'

# --- the ini ------------------------------------------------------------------------------------------------------
edit health/health.ini -e 's/^components = health debug_name/components = health debug_nme/'
hear "health.ini:.*debug_nme"
edit health/health.ini -e 's/debug_nme/debug_name/' -e 's/^step_rate = 60/step_rate = 120/'
hear 'world main: step_rate = 120'
ask 'step 120' '^main: step 302'
ask 'get main/one.health.hp' '^203\.0'

# --- evening: saved, lost, loaded ---------------------------------------------------------------------------------
ask 'save all evening.bpe' '^main: 1001 entities saved$'
ask 'destroy main/one' '^1 entity destroyed$'
ask 'load all evening.bpe' '^main: 1001 entities loaded$'
ask 'get main/one.health.hp' '^203\.0'
ask quit
session_end || true # it is told that lines were wrong

# --- checked, tested, given to somebody else ----------------------------------------------------------------------
make -s -C health test >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "the plugin does not pass its own test"; }
grep -q '^passed$' "$scratch/log" || { cat "$scratch/log"; fail "make test does not say that it passed"; }
mkdir "$scratch/other"
cp health/health.so "$scratch/other"
cd "$scratch/other"
cat >game.ini <<'END'
[host]
plugins = ./health debug_name
steps = 30

[world game]
step_rate = 30
components = health debug_name

[spawn game hero]
components = health name:debug_name
health.regen = 7
name.name = hero
END
said=$(printf 'step 30\nget game/hero.health.hp\n' | backplane console game.ini)
case $said in
    *"game: step 30, time 1"*10[67].*) ;;
    *) fail "another's game says '$said'" ;;
esac
backplane run game.ini >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "another's game does not run"; }
echo "a day from nothing to another's game"
