#!/bin/sh
# made_up.sh BUILD - one process that takes itself for one of several ranks, with the calls of MPI made up
# (tests/preload/ranks.c): each of them fails once, memory is refused at each place where the plugin mpi asks for it, and
# other ranks say what they should not. So what a job says at its end can be seen, some hundred times and quickly. Where
# mpicc or the plugin mpi is missing, there is nothing to check.
set -eu

build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
command -v mpicc >/dev/null 2>&1 || { echo "made_up: mpicc is not installed"; exit 0; }
[ -f "$build/plugins/mpi.so" ] || { echo "made_up: the plugin mpi is not built"; exit 0; }
if grep -q __asan_init "$build/backplane" || grep -q __tsan_init "$build/backplane"; then
    echo "made_up: the sanitizers want to be first in front of the C library"
    exit 0
fi

fail() {
    echo "made_up: $*"
    for file in said error; do sed "s/^/    $file: /" "$scratch/$file"; done
    exit 1
}

mpicc -shared -fPIC -O1 "$source/tests/preload/ranks.c" -o "$scratch/ranks.so"
# Walkers go to and fro between two parts, and bear what can be sent: numbers, texts, lists, references.
cat >"$scratch/walkers.c" <<'END'
#include <bp_list.h>
#include <bp_plugin.h>
#ifndef VERSION
#define VERSION "1"
#endif
struct walker { bp_vec3_t *at; const uint64_t *number; bp_list_t *marks; };
static const bp_field_t fields[] = {
    {BP_FIELD_OF(struct walker, at)}, {BP_FIELD_OF(struct walker, number)},
    {BP_LIST_OF(struct walker, marks, BP_U16)},
    {.name = "told", .type = BP_STRING, .flags = BP_FIELD_READ_ONLY, .count = 2},
    {.name = "words", .type = BP_STRING, .flags = BP_FIELD_LIST},
#ifdef REFERS
    {.name = "next", .type = BP_ENTITY},
#endif
};
static void simulate(const bp_run_t *run, uint32_t count)
{
    BP_COLUMNS(struct walker, w, run->columns);
    const bp_api_t *api = run->manager->api;
    for (uint32_t i = 0; i < count; i++) {
        uint16_t mark = (uint16_t)run->step->number;
        bp_list_append(run->lists, &w.marks[i], &mark, sizeof mark);
        w.at[i].x = (float)(w.number[i] * 4 + run->step->number * 3 % 24);
#ifdef MANY
        w.at[i].x = (float)(bp_entity_index(run->entities[i]) % 8009);
#endif
#ifdef DIES
        if (run->step->number == 4 && run->entities[i].id != 0 && w.number[i] == 2 &&
            run->manager->world == api->world->find(run->manager->host, "main"))
            api->command->destroy(run->step->commands, &run->entities[i], 1);
#endif
    }
    (void)api;
}
static const bp_component_i components[] = {{.name = "walker", .fields = BP_LIST(fields), .simulate = simulate}};
BP_PLUGIN(walkers) = {.version = VERSION, .components = BP_LIST(components)};
END
compile() {
    ${CC:-cc} -shared -fPIC -O1 "$@" -I"$source/plugin_api" "$scratch/walkers.c" -o "$scratch/next.so"
    mv "$scratch/next.so" "$scratch/walkers.so"
}
{
    printf '[host]\nplugins = mpi debug_name ./walkers.so\nsteps = 8\n[plugin mpi]\nposition = walker.at\nhalo = 5\nevery = 3\n'
    printf 'uneven = 0\n[world main]\nplace = split\nstep_rate = 10\ncomponents = walker debug_name\n'
    for i in 0 1 2 3 4 5; do
        printf '[spawn main w%s]\ncomponents = walker%s\nwalker.at = %s 1 0\nwalker.number = %s\n' $i \
            "$([ $i = 3 ] || echo ' debug_name')" $((i * 4)) $i
    done
} >"$scratch/walk.ini"

# made_up [NAME=VALUE ...] - what a rank among made-up ones does; `status`, and `happened` where it has gone wrong
made_up() {
    rm -f "$scratch/told"
    status=0 happened=
    env "RANKS_TOLD=$scratch/told" RANKS_COUNT=2 "RANKS_ECHO=$echo" OMPI_COMM_WORLD_SIZE=2 "$@" "LD_PRELOAD=$scratch/ranks.so" \
        timeout 60 "$build/backplane" "${what:-run}" "$scratch/walk.ini" >"$scratch/said" 2>"$scratch/error" <"${typed:-/dev/null}" ||
        status=$?
    [ ! -e "$scratch/told" ] || happened=1
}
# ends WORDS WHY - the job has ended with a sentence, and without a report
ends() {
    [ $status = 1 ] || [ $status = 2 ] || fail "$2: status $status"
    [ ! -s "$scratch/said" ] || fail "$2: a report is printed"
    [ "$(grep -c "$1" "$scratch/error")" = 1 ] || fail "$2: it is not told: $1"
}
# steps - the last line without its time: how many steps, ranks and entities
steps() { sed -n 's/ in [0-9.]* s$//p' "$scratch/said"; }

# What comes back from the others is not theirs, so with it none dies where others refer to it.
for kind in 1:-DDIES 1:-DREFERS ':-DREFERS -DDIES'; do
    echo=${kind%%:*}
    # shellcheck disable=SC2086
    compile ${kind#*:}
    made_up RANKS_FAIL=0
    if [ $status != 0 ] || [ -s "$scratch/error" ]; then fail "ranks that are made up fail"; fi
    whole=$(steps)
    [ -n "$whole" ] || fail "nothing is reported"
    number=1
    while made_up RANKS_FAIL=$number && [ -n "$happened" ]; do
        ends 'ranks cannot be compared: they do not reach each other\|with cannot be compared: they do not reach each other\|mpi: the connection to the other ranks has failed\|cannot be gathered: they do not reach each other' "call $number fails"
        number=$((number + 1))
    done
    [ $number -gt 20 ] || fail "only $number calls are made"
    # Where memory is refused the job ends and says so, or has the same result.
    number=1
    while made_up RANKS_REFUSE=$number && [ -n "$happened" ]; do
        if [ $status = 0 ]; then
            [ "$(steps)" = "$whole" ] || fail "without memory at place $number the result is another one"
        else
            ends 'out of memory' "no memory at place $number"
        fi
        number=$((number + 1))
    done
    [ $number -gt 40 ] || fail "memory is asked for at $number places only"
done

# What else may go wrong at the beginning.
made_up RANKS_FAIL=init
ends 'its load failed: mpi: this process cannot join the others' "joining fails"
for lie in negative large; do
    made_up RANKS_LIE=$lie
    ends 'with cannot be compared: they tell each other more than 2 GiB at once' "a rank says that it sends a $lie number"
done

# A rank whose entities go and do not come anywhere: what is audited ends the job.
cp "$scratch/walk.ini" "$scratch/whole.ini"
echo=
compile
sed 's/^halo/audit = true\n&/' "$scratch/whole.ini" >"$scratch/walk.ini"
made_up
ends 'mpi: an entity of a split world is lost or there twice' "entities are lost"
echo=1
# A world without entities has nothing to warn of; one with many is cut by samples of them.
sed '/^\[spawn/,$d' "$scratch/whole.ini" >"$scratch/walk.ini"
made_up
if [ $status != 0 ] || [ -s "$scratch/error" ]; then fail "an empty world complains"; fi
compile -DMANY
printf '[spawn main many]\ncount = 80000\ncomponents = walker\n' >>"$scratch/walk.ini"
sed -i 's/^steps = .*/steps = 3/; s/^halo = .*/halo = 0/' "$scratch/walk.ini"
made_up
awk '$1 == "main" && $2 == 0 && NF > 8 { fine = $5 > 39000 && $5 < 41000 } END { exit !fine }' "$scratch/said" ||
    fail "a part has not half of the entities"
cp "$scratch/whole.ini" "$scratch/walk.ini"

# A reload is made by all ranks or by none: where another one has another file, or cannot be asked.
sed -i 's/^\[host\]/&\ntrial = off/' "$scratch/walk.ini"
asked() { # asked [NAME=VALUE ...] - what is said of a reload that is asked for at the console
    compile -DDIES
    mkfifo "$scratch/typed"
    typed=$scratch/typed what=console
    {
        echo 'step 2'
        while ! grep -q '^main: step 2, ' "$scratch/said"; do sleep 0.02; done
        compile -DDIES '-DVERSION="2"'
        printf '%s\n' 'reload walkers' 'step 5' 'worlds'
    } >"$scratch/typed" &
    : >"$scratch/said"
    made_up "$@"
    wait
    rm "$scratch/typed"
}
asked RANKS_FAIL=0
[ $status = 0 ] && grep -q 'walkers.* 1 -> 2' "$scratch/said" "$scratch/error" || fail "a reload is not made"
asked RANKS_LIE=other
[ -n "$happened" ] && grep -q 'rank 1 has another file, so no rank takes it' "$scratch/error" || fail "another file is not told"
! grep -q ' 1 -> 2' "$scratch/said" "$scratch/error" || fail "a reload is made that another rank does not make"
echo "a rank among made-up ones says what goes wrong"
