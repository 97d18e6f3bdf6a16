#!/bin/sh
# checks.sh BUILD - the checkers of the source notice what they are for.
#
# Each is run on a small tree that is good, and again with one thing made wrong; it must say so and name
# the file. (make test runs them on the real tree.)
set -eu

tools=$(cd "$(dirname "$0")/../../tools" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "checks: $*"; exit 1; }

# --- check_rooms ---------------------------------------------------------------------------------------
tree=$scratch/tree
new_tree() {
    rm -rf "$tree"
    mkdir -p "$tree/plugin_api/components" "$tree/plugins/fish" "$tree/plugins/bird" "$tree/tests" "$tree/bench" "$tree/examples/one"
    for folder in os base plugin store property step scene reload engine program; do
        mkdir -p "$tree/host/$folder"
        printf '#include <stdint.h>\n' >"$tree/host/$folder/$folder.h"
    done
    printf '#include <stddef.h>\n' >"$tree/plugin_api/bp_types.h"
    printf '#include "bp_types.h"\n' >"$tree/plugin_api/bp_plugin.h"
    printf '#include "../bp_types.h"\n' >"$tree/plugin_api/components/fish.h"
    printf '#include <bp_plugin.h>\n' >"$tree/host/backplane.h"
    printf '#include <backplane.h>\n#include <ini.h>\n#include "../base/base.h"\n#include "../reload/reload.h"\nstruct schedule_t;\n' >"$tree/host/engine/host.c"
    printf 'typedef struct schedule_t {\n    int count;\n} schedule_t;\n' >"$tree/host/step/schedule.h"
    printf '#include "base.h"\n#include <xxhash.h>\n#include <string.h>\n' >"$tree/host/base/base.c"
    printf '#include <sys/mman.h>\n#include <windows.h>\n' >"$tree/host/os/os_posix.c"
    printf '#include <signal.h>\n#include <pthread.h>\n' >"$tree/host/plugin/guard_posix.c"
    printf '#include "../base/base.h"\n#include "../plugin/plugin.h"\n#include <components/fish.h>\n' >"$tree/host/store/store.c"
    printf '#include <backplane.h>\n#include <jansson.h>\n#include "program.h"\n' >"$tree/host/program/main.c"
    printf '#include <bp_plugin.h>\n#include <components/fish.h>\n#include "fish.h"\n#include <math.h>\n' >"$tree/plugins/fish/fish.c"
    : >"$tree/plugins/fish/fish.h"
    printf '#include <backplane.h>\n' >"$tree/examples/one/main.c"
    printf '#include "../host/store/../base/base.h"\n#include <check.h>\n#include <dirent.h>\n' >"$tree/tests/test.c"
    : >"$tree/tests/test.h"
}

new_tree
sh "$tools/check_rooms.sh" "$tree" >"$scratch/said" || { cat "$scratch/said"; fail "check_rooms refuses a good tree"; }

# refuse_include FILE INCLUDE
refuse_include() {
    new_tree
    printf '#include %s\n' "$2" >>"$tree/$1"
    if sh "$tools/check_rooms.sh" "$tree" >"$scratch/said" 2>&1; then
        fail "check_rooms lets $1 include $2"
    fi
    grep -q "^$1:" "$scratch/said" || { cat "$scratch/said"; fail "check_rooms does not name $1"; }
}

refuse_include plugin_api/bp_types.h '"../host/base/base.h"'
refuse_include plugin_api/bp_types.h '<backplane.h>'
refuse_include plugin_api/bp_types.h '<unistd.h>'
refuse_include plugins/fish/fish.c '<backplane.h>'
refuse_include plugins/fish/fish.c '"../../host/base/base.h"'
refuse_include plugins/bird/bird.c '"../fish/fish.h"'
refuse_include plugins/bird/bird.c '<unistd.h>'
refuse_include plugins/bird/bird.c '<jansson.h>'
refuse_include plugins/bird/bird.c '"no_such_file.h"'
refuse_include host/os/os.h '<backplane.h>'
refuse_include host/os/os.h '"../base/base.h"'
refuse_include host/base/base.c '"../plugin/plugin.h"'
refuse_include host/base/base.c '"../engine/engine.h"'
refuse_include host/base/base.c '<unistd.h>'
refuse_include host/store/store.c '"../property/property.h"'
refuse_include host/step/schedule.h '"../reload/reload.h"'
refuse_include host/step/schedule.h '"../program/program.h"'
refuse_include host/property/property.h '"../store/../reload/reload.h"'
refuse_include host/store/store.c '<pthread.h>'
refuse_include host/store/store.c '<jansson.h>'
refuse_include host/engine/host.c '"../program/program.h"'
refuse_include host/engine/host.c '"../../tests/test.h"'
refuse_include host/program/main.c '"../store/store.h"'
refuse_include host/program/main.c '"../base/base.h"'
refuse_include host/program/main.c '<unistd.h>'
refuse_include examples/one/main.c '"../../host/base/base.h"'
refuse_include examples/one/main.c '"../../tests/test.h"'
refuse_include bench/bench.c '"../tests/test.h"'

refuse_include host/engine/host.c '"../base/base.c"'
refuse_include host/loose.h '<stdint.h>'

new_tree
printf '#include "schedule.h"\n' >>"$tree/host/step/step.h"
printf '#include "step.h"\n' >>"$tree/host/step/schedule.h"
! sh "$tools/check_rooms.sh" "$tree" >"$scratch/said" 2>&1 || fail "check_rooms lets headers include each other"
grep -q 'a circle' "$scratch/said" || { cat "$scratch/said"; fail "check_rooms does not say that it is a circle"; }

# refuse_line FILE LINE: a line of a source, not an include
refuse_line() {
    new_tree
    printf '%s\n' "$2" >>"$tree/$1"
    if sh "$tools/check_rooms.sh" "$tree" >"$scratch/said" 2>&1; then
        fail "check_rooms lets $1 say: $2"
    fi
    grep -q "^$1:.*schedule_t" "$scratch/said" || { cat "$scratch/said"; fail "check_rooms does not name $1"; }
}

refuse_line host/store/store.h 'struct schedule_t;'
refuse_line host/store/store.h 'typedef struct schedule_t schedule_t;'
refuse_line host/base/base.h 'typedef struct base_t { struct schedule_t *schedule; } base_t;'

# --- check_tour ----------------------------------------------------------------------------------------
new_tree
mkdir -p "$tree/docs"
# tour_of ROWS...: a tour whose table of rooms has these rows
tour_of() {
    printf '## 2. The engine: `host/`\n\n| room | file | what it is |\n| --- | --- | --- |\n' >"$tree/docs/tour.md"
    printf '%s\n' "$@" >>"$tree/docs/tour.md"
    printf '\n### Where to change what\n\n| change | where |\n| a step | `%s` |\n' "$place" >>"$tree/docs/tour.md"
    printf '\n### Words\n\n| word | what it is |\n| `wood/` | `no_file` |\n' >>"$tree/docs/tour.md"
}
rm -rf "$tree/host" "$tree/plugin_api"
mkdir -p "$tree/host/step" "$tree/host/base"
touch "$tree/host/step/step.h" "$tree/host/step/step_inner.h" "$tree/host/step/step_posix.c" "$tree/host/base/base.h"
place=host/step/step.h
tour_of '| `base/` | `base.h` | what all share |' '| `step/` | `step` (`_posix`) | a step |'
sh "$tools/check_tour.sh" "$tree" >"$scratch/said" || { cat "$scratch/said"; fail "check_tour refuses a good tour"; }
place=host/step/stop.h
tour_of '| `base/` | `base.h` | what all share |' '| `step/` | `step` (`_posix`) | a step |'
! sh "$tools/check_tour.sh" "$tree" >"$scratch/said" || fail "check_tour accepts a place of a change that is not there"
grep -q 'there is no host/step/stop.h' "$scratch/said" || fail "check_tour does not name the place that is not there"
place=host/step/step.h
tour_of '| `base/` | `base.h`, `step` | what all share |' '| `step/` | `step` | a step |'
! sh "$tools/check_tour.sh" "$tree" >"$scratch/said" || fail "check_tour accepts a tour that lacks a file"
grep -q 'host/step/step_posix.c is not named' "$scratch/said" || fail "check_tour does not name the file that is lacking"
grep -q ':5: there is no host/base/step' "$scratch/said" || fail "check_tour does not see that a file is in another room"
mkdir -p "$tree/plugin_api"
touch "$tree/plugin_api/bp_tide.h"
tour_of '| `base/` | `base.h` | what all share |' '| `step/` | `step` (`_posix`) | a step |'
! sh "$tools/check_tour.sh" "$tree" >"$scratch/said" || fail "check_tour accepts a tour that lacks a header"
grep -q 'plugin_api/bp_tide.h is not named' "$scratch/said" || fail "check_tour does not name the header that is lacking"

# --- check_headers -------------------------------------------------------------------------------------
new_tree
sh "$tools/check_headers.sh" "$tree" >"$scratch/said" 2>&1 || { cat "$scratch/said"; fail "check_headers refuses a good tree"; }

# refuse_header TEXT
refuse_header() {
    new_tree
    printf '%s\n' "$1" >>"$tree/plugin_api/components/fish.h"
    if sh "$tools/check_headers.sh" "$tree" >"$scratch/said" 2>&1; then
        fail "check_headers lets through: $1"
    fi
    grep -q 'components/fish.h does not compile alone' "$scratch/said" || fail "check_headers does not name the header"
}

refuse_header 'size_t how_many(FILE *file);'
refuse_header 'typedef struct twice { int one; } twice;'
refuse_header 'static inline char narrow(int wide) { return wide; }'
refuse_header 'void new(int class);'

# --- check_statics -------------------------------------------------------------------------------------
built=$scratch/built
mkdir -p "$built/plugins"
printf 'static const int limit = 3;\nint f(void);\nint f(void) { return limit; }\n' >"$scratch/good.c"
cc -shared -fPIC "$scratch/good.c" -o "$built/plugins/good.so"
cc -c "$scratch/good.c" -o "$scratch/good.o"
ar rcs "$built/libbackplane.a" "$scratch/good.o"
sh "$tools/check_statics.sh" "$built" >"$scratch/said" || { cat "$scratch/said"; fail "check_statics refuses what keeps no state"; }

# refuse_state TEXT
refuse_state() {
    printf '%s\nint g(void);\nint g(void) { return ++counter; }\n' "$1" >"$scratch/bad.c"
    cc -shared -fPIC "$scratch/bad.c" -o "$built/plugins/bad.so"
    if sh "$tools/check_statics.sh" "$built" >"$scratch/said" 2>&1; then
        fail "check_statics lets a plugin have: $1"
    fi
    grep -q 'plugins/bad.so: counter' "$scratch/said" || { cat "$scratch/said"; fail "check_statics does not name the variable"; }
    rm "$built/plugins/bad.so"
    cc -fPIC -c "$scratch/bad.c" -o "$scratch/bad.o"
    ar rcs "$built/libbackplane.a" "$scratch/bad.o"
    if sh "$tools/check_statics.sh" "$built" >"$scratch/said" 2>&1; then
        fail "check_statics lets the library have: $1"
    fi
    ar d "$built/libbackplane.a" bad.o
}

refuse_state 'static int counter;'
refuse_state 'static int counter = 4;'
refuse_state 'int counter;'
refuse_state 'static _Thread_local int counter;'
cc -shared -fPIC -s "$scratch/good.c" -o "$built/plugins/good.so"
! sh "$tools/check_statics.sh" "$built" >/dev/null 2>&1 || fail "check_statics is content with a library that it cannot look into"
echo "the checkers notice"
