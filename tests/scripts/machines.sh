#!/bin/sh
# machines.sh BUILD - one ini on several ranks by mpirun: worlds of each rank and of one, one report of all, and what
# ends a job. Where mpirun or the plugin mpi is missing, there is nothing to check.
set -eu

build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
command -v mpirun >/dev/null 2>&1 || { echo "machines: mpirun is not installed"; exit 0; }
[ -f "$build/plugins/mpi.so" ] || { echo "machines: the plugin mpi is not built"; exit 0; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 # whoever waits leaves the processor to the others

fail() {
    echo "machines: $*"
    for file in said error; do sed "s/^/    $file: /" "$scratch/$file"; done
    exit 1
}

# ranks N INI [ARGUMENT ...] - run an ini on N ranks
ranks() {
    number=$1 ini=$2
    shift 2
    start="mpirun -n $number"
    [ "$number" != 1 ] || start= # one process needs none, and starts at once
    # shellcheck disable=SC2086
    timeout 60 $start "$build/backplane" run "$scratch/$ini" "$@" >"$scratch/said" 2>"$scratch/error"
}

# A sweep: each rank drops its body with another speed.
cat >"$scratch/sweep.ini" <<END
[host]
plugins = mpi point_mass debug_name recorder
steps = 60
[plugin recorder]
properties = main/body.body.position
csv = $scratch/drop_{rank}.csv
[world main]
step_rate = 60
components = point_mass debug_name
systems = recorder
[spawn main body]
components = body:point_mass debug_name
debug_name.name = body
body.velocity = {rank: 1 2 3} 0 0
[world judge]
place = rank 2
END
ranks 3 sweep.ini || fail "a sweep on three ranks fails"
[ ! -s "$scratch/error" ] || fail "a sweep complains"
grep -q '^60 steps on 3 ranks with 3 entities' "$scratch/said" || fail "the last line does not tell of the ranks"
[ "$(grep -c '^main  *[012]  *60 ' "$scratch/said")" = 3 ] || fail "the world of each rank is not told"
[ "$(grep -c '^judge ' "$scratch/said")" = 1 ] || fail "the world of one rank is told otherwise than once"
for rank in 0 1 2; do
    tail -n 1 "$scratch/drop_$rank.csv" >"$scratch/last"
    awk -F, -v speed=$((rank + 1)) '{ exit !($2 > 0.9 * speed && $2 < 1.1 * speed) }' "$scratch/last" ||
        { cat "$scratch/last"; fail "rank $rank has not its own value"; }
done
ranks 3 sweep.ini --json || fail "--json fails"
python3 - "$scratch/said" <<'END' || fail "--json is not one object of all ranks"
import json, sys
told = json.load(open(sys.argv[1]))
assert told["ranks"] == 3 and told["entities"] == 3 and told["steps"] == 60, told
assert [w["rank"] for w in told["worlds"] if w["name"] == "main"] == [0, 1, 2], told["worlds"]
assert [w["rank"] for w in told["worlds"] if w["name"] == "judge"] == [2], told["worlds"]
table = [t for r in told["reports"] for t in r["tables"]]
assert all("rank" in row for t in table for row in t["rows"]), table
END

# One world on all ranks: a gas whose result is the same to the last bit on any number of them, and without any. All
# particles are counted in each step.
cp -R "$source/examples/gas" "$scratch/gas"
compile() { # compile FILE - the gas as it lies there
    ${CC:-cc} -shared -fPIC -O2 -ffp-contract=off -I"$source/plugin_api" "$scratch"/gas/*.c -o "$1" -lm
}
compile "$scratch/gas/gas.so"
gas() { # gas FILE HALO COUNT BOX - an ini of a split gas
    sed -e "s/^halo = .*/halo = $2/; s/^identity/audit = true\nevery = 20\nuneven = 0.05\n&/" \
        -e "s/^count = .*/count = $3/; s/^box = .*/box = $4/; s/^svg = .*//" "$scratch/gas/machines.ini" >"$scratch/gas/$1"
}
hash_of() { sed -n 's/.*hash of positions and velocities *//p' "$scratch/said"; }
gas flat.ini 1 600 "40 26 0"
gas deep.ini 1 400 "12 8 7"
sed -e 's/plugins = mpi /plugins = /; /^place = /d; /^\[plugin mpi\]/,/^$/d' "$scratch/gas/flat.ini" >"$scratch/gas/alone.ini"
"$build/backplane" run "$scratch/gas/alone.ini" >"$scratch/said" 2>"$scratch/error" || fail "the gas alone fails"
flat=$(hash_of) deep=
[ -n "$flat" ] || fail "the gas tells no hash"
for number in 1 2 3 4; do
    ranks $number gas/flat.ini || fail "the gas on $number ranks fails"
    [ ! -s "$scratch/error" ] || fail "the gas on $number ranks complains"
    [ "$(hash_of)" = "$flat" ] || fail "the gas on $number ranks is not that of one host, $flat"
done
for threads in 1 2; do
    sed "s/^\[host\]/&\nthreads = $threads/" "$scratch/gas/flat.ini" >"$scratch/gas/threads.ini"
    for number in 1 2 3; do
        ranks $number gas/threads.ini || fail "the gas on $number ranks with $threads threads fails"
        [ "$(hash_of)" = "$flat" ] || fail "the gas on $number ranks with $threads threads is not $flat"
    done
done
ranks 4 gas/flat.ini || fail "the gas on 4 ranks fails"
grep -Eq 'times that space was cut *([2-9]|[1-9][0-9])' "$scratch/said" || fail "space is never cut anew"
awk '/came from others/ { reading = 1; next } reading && NF == 9 { came += $2; left += $3; n++ } NF == 0 { reading = 0 }
    reading && NF == 9 { bad += $6 == 0 || $6 > $5 || $7 < $5 }
    END { exit !(n == 4 && came == left && came > 100 && !bad) }' "$scratch/said" ||
    fail "hardly any particle has moved on, or the bytes of these cannot be"
for number in 1 4; do
    ranks $number gas/deep.ini --steps 200 || fail "the gas in three dimensions fails on $number ranks"
    [ "$(hash_of)" = "${deep:=$(hash_of)}" ] || fail "the gas in three dimensions differs on $number ranks"
done
# What reaches less far than the forces gives another result: so the copies are what makes it the same.
gas near.ini 0.3 400 "12 8 7"
ranks 3 gas/near.ini --steps 200 || fail "the gas with few copies fails"
[ "$(hash_of)" != "$deep" ] || fail "the copies make no difference"
# Texts, lists and arrays go with the entities that have them: every second particle bears a tag with its number in all
# of them, which a plugin looks at in each step, in copies too.
cat >"$scratch/gas/tags.c" <<'END'
#include <bp_plugin.h>
#include <bp_query.h>
#include <stdio.h>
#include <string.h>
struct tag { const char **text; bp_list_t *items; uint16_t *marks; };
static const bp_field_t fields[] = {
    {BP_FIELD_OF(struct tag, text)}, {BP_LIST_OF(struct tag, items, BP_U32)}, {BP_ARRAY_OF(struct tag, marks, 3)}};
static const bp_component_i components[] = {{.name = "tag", .fields = BP_LIST(fields)}};
struct particle { const uint64_t *number; };
static const bp_term_field_t of_particle[] = {{BP_FIELD_OF(struct particle, number)}};
static const bp_term_field_t of_tag[] = {
    {BP_FIELD_OF(struct tag, text)}, {BP_LIST_OF(struct tag, items, BP_U32)}, {BP_ARRAY_OF(struct tag, marks, 3)}};
static const bp_term_t terms[] = {{.component = "particle", .fields = BP_LIST(of_particle)},
                                  {.component = "tag", .fields = BP_LIST(of_tag)}};
static bp_result_t start(bp_system_t *s)
{
    uint32_t key;
    bp_result_t result = s->api->world->key(s->world, s->api->world->component(s->world, "tag"), 0, &key);
    for (uint32_t i = 0; i < s->api->entity->bound(s->host) && result == BP_OK; i++) {
        bp_entity_t e = s->api->entity->at(s->host, i);
        uint64_t number;
        if (s->api->property->get_named(s->world, e, "particle", "number", BP_U64, &number) != BP_OK || number % 2 == 0)
            continue;
        char text[32];
        const char *said = text;
        uint32_t items[4] = {(uint32_t)number, (uint32_t)number + 1, (uint32_t)number + 2, (uint32_t)number + 3};
        bp_list_t list = {items, (uint32_t)(number % 5), 4};
        uint16_t marks[3] = {(uint16_t)number, 7, (uint16_t)(number + 1)};
        bp_property_t p;
        snprintf(text, sizeof text, "number %u", (unsigned)number);
        result = s->api->world->add(s->world, key, &e, 1);
        const struct { const char *name; const void *value; } all[] = {{"text", &said}, {"items", &list}, {"marks", marks}};
        for (int k = 0; k < 3 && result == BP_OK; k++) {
            result = s->api->property->resolve(s->world, e, "tag", all[k].name, &p);
            if (result == BP_OK)
                result = s->api->property->set(s->world, &p, &e, 1, all[k].value, 0);
        }
    }
    return result;
}
static uint32_t look(bp_system_t *s, const bp_match_t *m)
{
    BP_COLUMNS(struct particle, p, m->columns[0]);
    BP_COLUMNS(struct tag, t, m->columns[1]);
    uint32_t fine = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        char text[32];
        uint32_t n = (uint32_t)p.number[i];
        if (m->entities[i].id == 0)
            continue;
        snprintf(text, sizeof text, "number %u", n);
        const uint32_t *items = t.items[i].items;
        int good = strcmp(text, t.text[i]) == 0 && t.items[i].count == n % 5 && t.marks[3 * i] == n &&
                   t.marks[3 * i + 1] == 7 && t.marks[3 * i + 2] == n + 1;
        for (uint32_t k = 0; k < n % 5 && good; k++)
            good = items[k] == n + k;
        fine += good != 0;
        if (!good)
            s->api->error->log(s->plugin, BP_LOG_ERROR, "a tag is not what it was");
    }
    return fine;
}
static uint32_t look_at(bp_system_t *s, bp_world_o *world)
{
    const bp_query_api *queries = s->api->registry->find(s->host, BP_QUERY_API, 1);
    const bp_term_list_t list = BP_LIST(terms);
    bp_query_o *query;
    const bp_match_t *match;
    uint32_t fine = 0;
    if (queries->make(world, s->plugin, &list, 0, &query) != BP_OK)
        return 0;
    if (queries->begin(query, 0) == BP_OK)
        while ((match = queries->next(query)) != NULL)
            fine += look(s, match);
    queries->end(query);
    return fine;
}
static void run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)step, (void)matches, (void)count;
    look_at(s, s->world);
    look_at(s, s->api->world->find(s->host, "main.halo"));
}
static void report(bp_system_t *s, bp_report_o *out)
{
    char text[64];
    snprintf(text, sizeof text, "%u", look_at(s, s->world));
    s->api->report->value(out, "tags", text);
    snprintf(text, sizeof text, "%u", look_at(s, s->api->world->find(s->host, "main.halo")));
    s->api->report->value(out, "copies of tags", text);
}
static const bp_system_report_i reporting = {report};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_report", reporting)}};
static const bp_system_i systems[] = {
    {.name = "tags", .start = start, .run_all = run, .after = "gas", .extensions = BP_LIST(extensions)}};
BP_PLUGIN(tags) = {.components = BP_LIST(components), .systems = BP_LIST(systems)};
END
${CC:-cc} -shared -fPIC -O1 -I"$source/plugin_api" "$scratch/gas/tags.c" -o "$scratch/gas/tags.so"
rm "$scratch/gas/tags.c"
sed -e 's,^plugins = .*,& ./tags.so,; s/^components = .*/& tag/; s/^systems = .*/& tags/' "$scratch/gas/flat.ini" \
    >"$scratch/gas/tagged.ini"
ranks 3 gas/tagged.ini || fail "what bears texts and lists is not what it was"
[ "$(hash_of)" = "$flat" ] || fail "tags change the result"
awk '/^tags in/ { here = 1 } /^gas in/ { here = 0 } here && NF == 3 && $1 ~ /^[012]$/ { tags += $2; copies += $3 }
    END { exit !(tags == 300 && copies > 0) }' "$scratch/said" || fail "there are not as many tags as before"

# What cannot be sent is told by name.
sed -e 's/^plugins = mpi/& debug_name/; s/^components = .*/& debug_name/' "$scratch/gas/flat.ini" >"$scratch/gas/named.ini"
printf '[spawn main one]\ncomponents = particle debug_name\n' >>"$scratch/gas/named.ini"
if ranks 2 gas/named.ini; then fail "a component with storage of its own is sent"; fi
grep -q 'mpi: debug_name.name has storage of its own, which cannot be sent' "$scratch/error" || fail "it is not named"

sed 's/^position = .*/position = particle.number/' "$scratch/gas/flat.ini" >"$scratch/gas/wrong.ini"
if ranks 2 gas/wrong.ini; then fail "a position that is none is not noticed"; fi
grep -q 'it is no vector' "$scratch/error" || fail "a position that is none is not told"

# Reloads while they run: a new version comes in on all ranks before the same step, and one that a rank cannot load on
# none, with the reason; the result is as without.
"$build/backplane" run "$scratch/gas/alone.ini" --steps 400 >"$scratch/said" 2>"$scratch/error" || fail "the gas alone fails"
still=$(hash_of)
sed 's/"1.0"/"1.1"/' "$source/examples/gas/gas.c" >"$scratch/gas/gas.c"
compile "$scratch/good.so"
cat >"$scratch/gas/refuses.h" <<'END'
#include <bp_plugin.h>
#include <stdlib.h>
static bp_result_t not_on_rank_1(bp_plugin_t *plugin)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank != NULL && rank[0] == '1' ? plugin->api->error->set(plugin->host, BP_ERROR_FAILED, "not here") : BP_OK;
}
END
sed -e 's/"1.0"/"1.2"/; s/^    \.components = BP_LIST(components),/    .load = not_on_rank_1,\n&/' -e '1i #include "refuses.h"' \
    "$source/examples/gas/gas.c" >"$scratch/gas/gas.c"
compile "$scratch/bad.so"
sed 's/^\[host\]/&\nhot_reload = on\ntrial = off/' "$scratch/gas/flat.ini" >"$scratch/gas/hot.ini"
{
    while [ ! -e "$scratch/trace" ]; do sleep 0.1; done # written from the first step on
    sleep 0.5
    mv "$scratch/good.so" "$scratch/gas/gas.so"
    sleep 1.5
    mv "$scratch/bad.so" "$scratch/gas/gas.so"
} &
ranks 3 gas/hot.ini --steps 400 --real-time --trace "$scratch/trace" || fail "a gas that is reloaded fails"
wait
[ "$(grep -c 'reloaded gas 1.0 -> 1.1' "$scratch/error")" = 3 ] || fail "not all ranks have reloaded"
[ "$(grep -c 'not reloaded: gas' "$scratch/error")" = 3 ] || fail "not all ranks have refused"
[ "$(grep -c 'rank 1 cannot take it, so no rank does: .*not here' "$scratch/error")" = 3 ] || fail "no reason is given"
[ "$(hash_of)" = "$still" ] || fail "a reload changes the result"

# A plugin that crashes on one rank ends the job, and so does a rank that is killed.
awk '{ print } /^static void run_all/ { getline; print; print "    const char *rank = getenv(\"OMPI_COMM_WORLD_RANK\");";
        print "    if (step->number == 20 && rank != NULL && *rank == 49)"; print "        HARM;" }' \
    "$source/examples/gas/gas.c" >"$scratch/gas/gas.c"
sed -i '1i #include <signal.h>\n#include <stdlib.h>' "$scratch/gas/gas.c"
for harm in abort raise; do
    [ "$harm" = abort ] && how='abort()' || how='raise(9)'
    ${CC:-cc} -shared -fPIC -O2 -D_POSIX_C_SOURCE=200809L "-DHARM=$how" -I"$source/plugin_api" "$scratch"/gas/*.c \
        -o "$scratch/gas/gas.so" -lm
    if ranks 3 gas/flat.ini; then fail "a rank that ends by $how is not noticed"; fi
    [ ! -s "$scratch/said" ] || fail "a job that ends by $how prints a report"
    [ "$harm" = raise ] || grep -q "rank 1: mpi: plugin 'gas' has crashed here" "$scratch/error" || fail "no reason is told"
done

# A rank that is killed at any step ends the job: none waits for it. KILLED of them, 3; `make proofs` kills 50.
sed -e 's/step->number == 20 && rank != NULL && \*rank == 49/rank != NULL \&\& strcmp(rank, getenv("KILLED_RANK")) == 0 \&\& step->number == strtoull(getenv("KILLED_AT"), NULL, 10)/' \
    -e '1i #include <string.h>' "$scratch/gas/gas.c" >"$scratch/gas/gas.new"
mv "$scratch/gas/gas.new" "$scratch/gas/gas.c"
${CC:-cc} -shared -fPIC -O2 -D_POSIX_C_SOURCE=200809L '-DHARM=raise(9)' -I"$source/plugin_api" "$scratch"/gas/*.c \
    -o "$scratch/gas/gas.so" -lm
killed=0
while [ $killed -lt "${KILLED:-3}" ]; do
    KILLED_RANK=$((killed % 4)) KILLED_AT=$((1 + killed * 317 % 997))
    export KILLED_RANK KILLED_AT
    status=0
    ranks 4 gas/flat.ini || status=$?
    [ $status != 0 ] && [ $status != 124 ] && [ ! -s "$scratch/said" ] ||
        fail "rank $KILLED_RANK is killed in step $KILLED_AT: status $status"
    killed=$((killed + 1))
done
KILLED_AT=9999
ranks 4 gas/flat.ini || fail "a job in which nobody is killed fails"

# Another ini on one rank: both say what differs, and the job fails.
sed 's/^steps = .*/steps = 61/' "$scratch/sweep.ini" >"$scratch/other.ini"
if timeout 60 mpirun -n 1 "$build/backplane" run "$scratch/sweep.ini" : -n 2 "$build/backplane" run "$scratch/other.ini" \
    >"$scratch/said" 2>"$scratch/error"; then
    fail "ranks with two inis run"
fi
grep -q "rank 1 was not started with what rank 0 was: '\[host\] steps = 61' there, '\[host\] steps = 60' on rank 0" \
    "$scratch/error" || fail "what differs is not told"
[ ! -s "$scratch/said" ] || fail "a refused job prints a report"

# One rank fails at its start: it says so, and the others do not wait for it.
sed 's/{rank: 1 2 3} 0 0/{rank: 1 x 3} 0 0/' "$scratch/sweep.ini" >"$scratch/wrong.ini"
if ranks 3 wrong.ini; then fail "a rank that fails is not noticed"; fi
grep -q 'rank 1: .*wrong.ini:14: body.velocity = ' "$scratch/error" || fail "the rank that fails is not named"

# Started without mpirun it is one rank, and MPI is left alone.
sed 's/{rank: 1 2 3}/{ranks}/; s/place = rank 2/place = rank 0/' "$scratch/sweep.ini" >"$scratch/alone.ini"
"$build/backplane" run "$scratch/alone.ini" >"$scratch/said" 2>"$scratch/error" || fail "one process alone fails"
[ ! -s "$scratch/error" ] || fail "one process alone complains"
grep -q '^60 steps with 1 entity' "$scratch/said" || fail "one process alone is not a plain run"
echo "several ranks are as they should be"
