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
export OMPI_MCA_hwloc_base_binding_policy=none # ranks of a small job go where a processor is free
export OMPI_MCA_mpi_yield_when_idle=1 # a rank that waits leaves the processor to the others
# Ranks of one machine talk through its memory alone, and devices are not looked for: jobs start sooner.
export OMPI_MCA_pml=ob1 HWLOC_COMPONENTS=linux,stop PMIX_MCA_gds=hash

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
# Tables of plugins: those with the same headers are one, with a column that tells the rank; another one is its rank's.
${CC:-cc} -shared -fPIC -I "$source/plugin_api" "$source/tests/program/plugins/reporter.c" -o "$scratch/reporter.so"
printf '[host]\nplugins = mpi ./reporter.so\nsteps = 2\n[world main]\ncomponents = reporter\n[spawn main one]\ncomponents = reporter\n' >"$scratch/reports.ini"
ranks 2 reports.ini || fail "a run with reports on two ranks fails"
grep -q '^  rank  name  period  period$' "$scratch/said" || fail "a table of two ranks has no column for the rank"
for rank in 0 1; do
    grep -q "^ *$rank  a  *87.97  1e-3$" "$scratch/said" || fail "the table of rank $rank is not told"
done
[ "$(grep -c '^  drift' "$scratch/said")" = 1 ] || fail "a value that is the same on all ranks is told otherwise than once"
ranks 2 reports.ini --json || fail "reports of two ranks as JSON fail"
printf '[world judge]\nplace = rank 1\ncomponents = reporter\n' >>"$scratch/reports.ini"
ranks 2 reports.ini || fail "a run with a report of one rank fails"
sed -n '/^reporter in world judge/,$p' "$scratch/said" | grep -q '^  name  period  period$' || fail "the table of one rank tells of ranks"
! ranks 2 reports.ini --verify || fail "a run on two ranks is verified"
grep -q 'a run on several ranks is not verified: run it on one' "$scratch/error" || fail "it is not told that ranks are not verified"
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
awk '/came from others/ { reading = 1; next } reading && NF == 13 { came += $2; left += $3; n++ } NF == 0 { reading = 0 }
    reading && NF == 13 { bad += $6 == 0 || $6 + $7 > $5 || $8 < $5 || $9 == 0 || $9 > 16 * 1000 }
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
# Entities are counted by the numbers that ranks know them by, where no property says who is who.
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
struct seen { const char *const *text; const bp_list_t *items; const uint16_t *marks; };
static const bp_term_field_t of_tag[] = {
    {BP_FIELD_OF(struct seen, text)}, {BP_LIST_OF(struct seen, items, BP_U32)}, {BP_ARRAY_OF(struct seen, marks, 3)}};
static const bp_term_t terms[] = {{.component = "particle", .fields = BP_LIST(of_particle)},
                                  {.component = "tag", .fields = BP_LIST(of_tag)}};
static const bp_term_t of_copies[] = {
    {.component = "particle", .flags = BP_TERM_BESIDE, .world = ".halo", .fields = BP_LIST(of_particle)},
    {.component = "tag", .flags = BP_TERM_BESIDE, .world = "main.halo", .fields = BP_LIST(of_tag)},
    {.component = "tag", .flags = BP_TERM_BESIDE, .world = ".halo", .fields = BP_LIST(of_tag)}};
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
static uint32_t look(bp_system_t *s, bp_world_o *world, const bp_match_t *m)
{
    BP_COLUMNS(struct particle, p, m->columns[0]);
    BP_COLUMNS(struct seen, t, m->columns[1]);
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
        bp_dvec3_t v = {0};
        s->api->property->get_named(world, m->entities[i], "particle", "velocity", BP_DVEC3, &v);
        if ((v.x == 0) != (world != s->world)) /* of copies nobody asks for that */
            good = 0;
        fine += good != 0;
        if (!good)
            s->api->error->log(s->plugin, BP_LOG_ERROR, "a tag is not what it was");
    }
    return fine;
}
static uint32_t walk(bp_system_t *s, bp_world_o *world, const bp_query_api *queries, bp_query_o *query)
{
    const bp_match_t *match;
    uint32_t fine = 0;
    if (query != NULL && queries->begin(query, 0) == BP_OK)
        while ((match = queries->next(query)) != NULL)
            fine += look(s, world, match);
    return fine;
}
static uint32_t look_at(bp_system_t *s)
{
    const bp_query_api *queries = s->api->registry->find(s->host, BP_QUERY_API, 1);
    const bp_term_list_t list = BP_LIST(terms);
    bp_query_o *query;
    if (queries->make(s->world, s->plugin, &list, 0, &query) != BP_OK)
        return 0;
    uint32_t fine = walk(s, s->world, queries, query);
    queries->end(query);
    return fine;
}
static uint32_t look_beside(bp_system_t *s)
{
    const bp_query_api *queries = s->api->registry->find(s->host, BP_QUERY_API, 2);
    bp_query_o *query, *same;
    uint32_t fine = queries->beside(s, 0, &query) == BP_OK
                        ? walk(s, s->api->world->find(s->host, "main.halo"), queries, query) : 0;
    if (queries->beside(s, 2, &same) != BP_OK || same != query || queries->beside(s, 1, &same) != BP_OK || same == query)
        s->api->error->log(s->plugin, BP_LOG_ERROR, "terms of one world are not one query");
    return fine;
}
static void run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)step, (void)matches;
    look_at(s);
    look_beside(s);
    if (count != 0)
        s->api->error->log(s->plugin, BP_LOG_ERROR, "rows of its own world match");
}
static void report(bp_system_t *s, bp_report_o *out)
{
    char text[64];
    snprintf(text, sizeof text, "%u", look_at(s));
    s->api->report->value(out, "tags", text);
    snprintf(text, sizeof text, "%u", look_beside(s));
    s->api->report->value(out, "copies of tags", text);
}
static const bp_system_report_i reporting = {report};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_report", reporting)}};
static const bp_system_i systems[] = {
    {.name = "tags", .terms = BP_LIST(of_copies), .start = start, .run_all = run, .after = "gas", .extensions = BP_LIST(extensions)}};
BP_PLUGIN(tags) = {.components = BP_LIST(components), .systems = BP_LIST(systems)};
END
${CC:-cc} -shared -fPIC -O1 -I"$source/plugin_api" "$scratch/gas/tags.c" -o "$scratch/gas/tags.so"
rm "$scratch/gas/tags.c"
sed -e '/^identity/d; s,^plugins = .*,& ./tags.so,; s/^components = .*/& tag/; s/^systems = .*/& tags/' "$scratch/gas/flat.ini" \
    >"$scratch/gas/tagged.ini"
ranks 3 gas/tagged.ini || fail "what bears texts and lists is not what it was"
[ "$(hash_of)" = "$flat" ] || fail "tags change the result"
awk '/^tags in/ { here = 1 } /^gas in/ { here = 0 } here && NF == 3 && $1 ~ /^[012]$/ { tags += $2; copies += $3 }
    END { exit !(tags == 300 && copies > 0) }' "$scratch/said" || fail "there are not as many tags as before"

# References lead to the same entity wherever the two are, and so do names, texts in lists, and what only its own plugin
# writes. Each particle follows the next number; in step 200 every tenth dies where it is, and its followers see that.
mkdir "$scratch/gas/follows"
cat >"$scratch/gas/follows/follows.c" <<'END'
#include <bp_look.h>
#include <bp_share.h>
#include <bp_plugin.h>
#include <stdio.h>
#include <string.h>
enum { COUNT = 600 };
static const bp_field_t fields[] = {
    {.name = "next", .type = BP_ENTITY},
    {.name = "around", .type = BP_ENTITY, .flags = BP_FIELD_LIST},
    {.name = "words", .type = BP_STRING, .flags = BP_FIELD_LIST},
    {.name = "told", .type = BP_U64, .flags = BP_FIELD_READ_ONLY},
    {.name = "small", .type = BP_U64, .max = "10"}};
static const bp_component_i components[] = {{.name = "follows", .fields = BP_LIST(fields)}};
struct particle { const uint64_t *number; };
struct follows { const bp_entity_t *next; const bp_list_t *around; const bp_list_t *words; uint64_t *told, *small; };
static const bp_term_field_t of_particle[] = {{BP_FIELD_OF(struct particle, number)}};
static const bp_term_field_t of_follows[] = {
    {BP_FIELD_OF(struct follows, next)}, {BP_LIST_OF(struct follows, around, BP_ENTITY)},
    {BP_LIST_OF(struct follows, words, BP_STRING)},
    {BP_FIELD_OF(struct follows, told)}, {BP_FIELD_OF(struct follows, small)}};
static const bp_term_t terms[] = {{.component = "particle", .fields = BP_LIST(of_particle)},
                                  {.component = "follows", .fields = BP_LIST(of_follows)},
                                  {.component = "debug_name"}};
static struct { uint32_t followed, near, dead, bad; } seen;
static bp_result_t start(bp_system_t *s)
{
    const bp_api_t *api = s->api;
    uint32_t key, name;
    bp_entity_t all[COUNT];
    bp_result_t result = BP_OK;
    api->world->key(s->world, api->world->component(s->world, "follows"), 0, &key);
    api->world->key(s->world, api->world->component(s->world, "debug_name"), 0, &name);
    for (uint32_t i = 0; i < api->entity->bound(s->host); i++) {
        bp_entity_t e = api->entity->at(s->host, i);
        uint64_t number;
        if (api->property->get_named(s->world, e, "particle", "number", BP_U64, &number) == BP_OK)
            all[number] = e;
    }
    if (api->world->count(s->world, api->world->component(s->world, "follows")) > 0)
        return BP_OK;
    for (uint32_t i = 0; i < COUNT && result == BP_OK; i++) {
        char text[32];
        const char *said = text, *words[2] = {"number", text};
        bp_entity_t around[2] = {all[(i + 1) % COUNT], all[(i + 300) % COUNT]};
        const bp_list_t lists[2] = {{around, 2, 2}, {words, 2, 2}};
        bp_property_t p;
        snprintf(text, sizeof text, "p%u", i);
        result = api->world->add(s->world, key, &all[i], 1);
        if (result == BP_OK)
            result = api->world->add(s->world, name, &all[i], 1);
        if (result == BP_OK)
            result = api->property->set_named(s->world, all[i], "debug_name", "name", BP_STRING, &said);
        if (result == BP_OK)
            result = api->property->set_named(s->world, all[i], "follows", "next", BP_ENTITY, &around[0]);
        for (int l = 0; l < 2 && result == BP_OK; l++) {
            result = api->property->resolve(s->world, all[i], "follows", l == 0 ? "around" : "words", &p);
            if (result == BP_OK)
                result = api->property->set(s->world, &p, &all[i], 1, &lists[l], 0);
        }
    }
    return result;
}
/* 0: not here; 1: it is the one with that number; 2: it is another one */
static int who(bp_system_t *s, bp_world_o *world, bp_entity_t e, uint64_t wanted)
{
    char text[32];
    const char *name;
    uint64_t number;
    if (s->api->property->get_named(world, e, "particle", "number", BP_U64, &number) != BP_OK)
        return 0;
    snprintf(text, sizeof text, "p%u", (unsigned)number);
    if (s->api->property->get_named(world, e, "debug_name", "name", BP_STRING, &name) != BP_OK)
        return 2;
    return number == wanted && strcmp(name, text) == 0 ? 1 : 2;
}
static void look(bp_system_t *s, bp_entity_t e, uint64_t wanted, int dead)
{
    if (s->api->entity->alive(s->host, &e, 1, NULL) == 0) {
        seen.dead++;
        seen.bad += !dead;
        return;
    }
    int here = who(s, s->world, e, wanted), near = who(s, s->api->world->find(s->host, "main.halo"), e, wanted);
    seen.followed += here == 1;
    seen.near += near == 1;
    seen.bad += here == 2 || near == 2 || (here == 1 && near == 1) || dead;
}
static void run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    const bp_share_api *shares = s->api->registry->find(s->host, BP_SHARE_API, 1);
    memset(&seen, 0, offsetof(__typeof__(seen), bad));
    for (uint32_t m = 0; m < count; m++) {
        BP_COLUMNS(struct particle, p, matches[m].columns[0]);
        BP_COLUMNS(struct follows, f, matches[m].columns[1]);
        for (uint32_t i = 0; i < matches[m].count; i++) {
            const bp_entity_t *e = &matches[m].entities[i];
            uint64_t n = p.number[i], next = (n + 1) % COUNT, far = (n + 300) % COUNT, id;
            if (e->id == 0)
                continue;
            if (step->number == 0)
                f.told[i] = n + 7, f.small[i] = n + 100;
            const bp_entity_t *around = f.around[i].items;
            const char *const *words = f.words[i].items, *name;
            int late = step->number > 202;
            char text[32];
            snprintf(text, sizeof text, "p%u", (unsigned)n);
            seen.bad += f.around[i].count != 2 || f.words[i].count != 2 || f.told[i] != n + 7 || f.small[i] != n + 100;
            seen.bad += who(s, s->world, *e, n) != 1 || strcmp(words[0], "number") != 0 || strcmp(words[1], text) != 0;
            seen.bad += s->api->property->get_named(s->world, *e, "debug_name", "name", BP_STRING, &name) != BP_OK;
            if (step->number <= 199 || late) {
                look(s, f.next[i], next, late && next % 10 == 0);
                look(s, around[0], next, late && next % 10 == 0);
                look(s, around[1], far, late && far % 10 == 0);
            }
            id = shares->durable(s->world, *e);
            bp_entity_t same;
            seen.bad += id == 0 || shares->found(s->world, id, &same) != 1 || same.id != e->id;
            if (step->number == 200 && n % 10 == 0)
                s->api->command->destroy(step->commands, e, 1);
        }
    }
}
static void tell(bp_system_t *s, bp_report_o *out, const char *name, uint32_t number)
{
    char text[16];
    snprintf(text, sizeof text, "%u", number);
    s->api->report->value(out, name, text);
}
static void report(bp_system_t *s, bp_report_o *out)
{
    tell(s, out, "here", seen.followed);
    tell(s, out, "near", seen.near);
    tell(s, out, "dead", seen.dead);
    tell(s, out, "bad", seen.bad);
    tell(s, out, "living", s->api->entity->count(s->host));
}
static const bp_system_report_i reporting = {report};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_report", reporting)}};
static const bp_system_i systems[] = {{.name = "following", .start = start, .run_all = run, .after = "gas",
    .terms = BP_LIST(terms), .keeps = BP_KEEP_NOTHING, .extensions = BP_LIST(extensions)}};
BP_PLUGIN(follows) = {.components = BP_LIST(components), .systems = BP_LIST(systems)};
END
${CC:-cc} -shared -fPIC -O1 -I"$source/plugin_api" "$scratch/gas/follows/follows.c" -o "$scratch/gas/follows.so"
sed -e 's,^plugins = .*,& debug_name ./follows.so,; s/^components = .*/& follows debug_name/; s/^systems = .*/& following/' \
    -e '/^audit/d; s/^position = .*/&\ncopied = particle.number debug_name.name/' "$scratch/gas/flat.ini" >"$scratch/gas/follows.ini"
for number in 2 4; do
    ranks $number gas/follows.ini --steps 600 || fail "particles that refer to each other fail on $number ranks"
    [ ! -s "$scratch/error" ] || fail "particles that refer to each other complain on $number ranks"
    awk -v ranks=$number '/^following in/ { on = 1 } on && NF == 5 && $1 ~ /^[0-9]$/ {
            here += $2; near += $3; dead += $4; living += $5; n++ }
        on && $1 == "bad" { bad = $2 } BEGIN { bad = 1 } # the same on all ranks, and told once
        END { exit !(n == ranks && bad == 0 && here > 300 && near > 0 && dead == 120 && living > 540 && living < 540 + 600 * ranks) }' \
        "$scratch/said" || fail "references do not lead where they led before on $number ranks"
    [ "$(hash_of)" = "${followed:=$(hash_of)}" ] || fail "what dies differs on $number ranks"
done

# What is recorded of a split world is one table and one picture, whichever rank an entity is on, the same to the last
# byte on any number of ranks; with a rank's number in the name of the file, each writes what it has.
recorded() { # recorded FILE RANKS - the table that so many ranks write to FILE.csv
    sed "s,^plugins = .*,& recorder,; s/^systems = .*/& recorder/; s/^steps = .*/steps = 600/" \
        "$scratch/gas/follows.ini" >"$scratch/gas/recorded.ini"
    printf '\n[plugin recorder]\nproperties = %s\ncsv = %s.csv\nsvg = %s.svg\nevery = 10\n' \
        'main/p7.particle.position main/p8.particle.position@main/p301.particle.position main/p20.particle.velocity' \
        "$scratch/$1" "$scratch/$1" >>"$scratch/gas/recorded.ini"
    ranks "$2" gas/recorded.ini || fail "$2 ranks cannot record"
}
for number in 1 2 4; do
    recorded "table_$number" $number
    cmp "$scratch/table_$number.csv" "$scratch/table_1.csv" || fail "$number ranks record another table"
    cmp "$scratch/table_$number.svg" "$scratch/table_1.svg" || fail "$number ranks draw another picture"
done
[ "$(wc -l <"$scratch/table_4.csv")" = 61 ] && [ "$(grep -c ',,' "$scratch/table_4.csv")" = 39 ] ||
    fail "the table has holes where there are none, or none where an entity is dead"
[ "$(grep -c "table_4.csv: 60 rows" "$scratch/said")" = 1 ] || fail "the table is told of more than once"
recorded 'own_{rank}' 3
[ "$(find "$scratch" -name 'own_?.csv' | wc -l)" = 3 ] || fail "there are not as many tables as ranks"
cat "$scratch"/own_?.csv | sed '/^time/d; s/,*$//' | awk -F, 'NF > 1 && $2 != "" { n++ } END { exit n != 60 }' ||
    fail "the ranks' own tables do not have all that there is"
rm "$scratch"/table_* "$scratch"/own_*

# A job that was ended goes on where it was, on as many ranks and on others, whatever refers to whatever; the old files
# go when the new ones are there. What one rank did can be played without the others.
ranks 4 gas/follows.ini --steps 250 --record "$scratch/job" || fail "a job is not recorded"
"$build/backplane" replay "$scratch/job.2of4" --check >"$scratch/said" 2>"$scratch/error" || fail "a rank is not played alone"
for number in 4 2 5 1 3; do
    ranks $number gas/follows.ini --steps $((250 + 50 * number)) --resume "$scratch/job" ||
        fail "a job does not go on with $number ranks"
    grep -q 'job: goes on behind step 250 of 4 ranks' "$scratch/error" || [ $number != 4 ] || fail "it does not say where"
    if [ "$(find "$scratch" -name 'job*' | wc -l)" != $number ]; then ls "$scratch"; fail "old files are left"; fi
    if [ $number = 4 ]; then
        rm "$scratch"/job*
        ranks 4 gas/follows.ini --steps 250 --record "$scratch/job" || fail "a job is not recorded again"
    fi
done
ranks 3 gas/follows.ini --steps 600 --resume "$scratch/job" || fail "a job does not go on to its end"
[ "$(hash_of)" = "$followed" ] || fail "a job that went on several times has another end"
grep -q '^  bad *0$' "$scratch/said" || fail "references do not go on"
printf garbage >"$scratch/job.1of3"
if ranks 3 gas/follows.ini --resume "$scratch/job"; then fail "a job goes on from what is no recording"; fi
grep -q 'rank 1: .*job.1of3: is no recording' "$scratch/error" || fail "what is no recording is not told"
rm "$scratch"/job*
if ranks 2 gas/follows.ini --resume "$scratch/job"; then fail "a job goes on from nothing"; fi
grep -q 'there is no recording of all ranks' "$scratch/error" || fail "what is missing is not told"

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
    cp "$scratch/good.so" "$scratch/gas/next.so" && mv "$scratch/gas/next.so" "$scratch/gas/gas.so"
    sleep 1.5
    cp "$scratch/bad.so" "$scratch/gas/next.so" && mv "$scratch/gas/next.so" "$scratch/gas/gas.so"
} &
ranks 3 gas/hot.ini --steps 400 --real-time --trace "$scratch/trace" || fail "a gas that is reloaded fails"
wait
[ "$(grep -c 'reloaded gas 1.0 -> 1.1' "$scratch/error")" = 3 ] || fail "not all ranks have reloaded"
[ "$(grep -c 'not reloaded: gas' "$scratch/error")" = 3 ] || fail "not all ranks have refused"
[ "$(grep -c 'rank 1 cannot take it, so no rank does: .*not here' "$scratch/error")" = 3 ] || fail "no reason is given"
[ "$(hash_of)" = "$still" ] || fail "a reload changes the result"

# One console for all ranks: each line is done by all of them, and what they answer is told once or rank by rank. They go
# back together; what is made in the past begins another future on all of them.
cp "$source/examples/gas/gas.c" "$scratch/gas/gas.c"
compile "$scratch/gas/gas.so"
sed 's/^\[host\]/&\nhistory = 64 MiB/' "$scratch/gas/flat.ini" >"$scratch/gas/past.ini"
console() { # console N LINE ... - what N ranks answer to the lines
    number=$1
    shift
    printf '%s\n' "$@" >"$scratch/lines"
    timeout 60 mpirun -n "$number" "$build/backplane" console "$scratch/gas/past.ini" <"$scratch/lines" >"$scratch/said" \
        2>"$scratch/error"
}
console 3 'step 10' 'mark tenth' 'step 5' 'back 3' 'forward' 'goto tenth' 'rank 2 entities main 1' 'step 40' 'goto 15' \
    'branch' 'create main 3 particle' 'step 5' 'branches' 'worlds' 'report' || fail "a console on three ranks fails"
[ "$(grep -c '^main: step 10, ' "$scratch/said")" = 1 ] || fail "the same answer is told more than once"
grep -q '^at step 12 of 15$' "$scratch/said" || fail "they do not go back"
[ "$(grep -c 'entities of all ranks *603$' "$scratch/said")" = 3 ] || fail "what is made at the console is not there once"
[ "$(grep -c '^rank [012]:$' "$scratch/said")" -ge 6 ] || fail "different answers do not say whose they are"
# `load` of a plugin is for all ranks; of what a world holds, for none.
console 2 "load $build/plugins/mesh.so" plugins || fail "a plugin cannot be loaded on all ranks"
[ "$(grep -c '^mesh ' "$scratch/said")" = 1 ] || fail "a plugin is not loaded on all ranks alike"
# The colour in the third line is no handle.
if console 2 'step 2' 'get main/#5:1.particle' 'plugins #ff8000' 'save main x' 'load main x' 'rank 5 worlds' 'rank 1 step' \
    'back 7' 'goto 7' 'step'; then
    fail "lines that cannot be done are no failure"
fi
for why in 'a handle means another entity' 'save: not on several ranks' 'load: not on several ranks' \
    'there is no rank 5' 'by all ranks or by none' 'what is remembered begins at step 0'; do
    [ "$(grep -c "$why" "$scratch/error")" = 1 ] || fail "it is not told once: $why"
done
grep -q 'is not remembered by all ranks' "$scratch/error" || fail "they go where they cannot"
grep -q '^main: step 3, ' "$scratch/said" || fail "the ranks do not go on after what cannot be done"
if console 3 'step 10' 'back 2' 'create main 1 particle' 'branches' '# a remark on #1' 'rank 99999999999 worlds'; then
    fail "a rank that there is not does a line"
fi
grep -q ' off branch 2, ' "$scratch/said" || fail "what is made in the past does not begin another future"
[ "$(grep -c ': line ' "$scratch/error")" = 1 ] && grep -q 'there is no rank 2147483647; there are 0 to 2' "$scratch/error" ||
    fail "a remark is refused, or a rank that there is not is not told"

# A reload that is asked for there is made by all ranks at one of the next steps, or by none.
asked() { # asked FILE - what three ranks say of a reload that is asked for with that file in place
    cp "$scratch/first.so" "$scratch/gas/gas.so"
    {
        echo 'step 10'
        while ! grep -q '^main: step 10, ' "$scratch/said"; do sleep 0.1; done
        cp "$1" "$scratch/gas/next.so" && mv "$scratch/gas/next.so" "$scratch/gas/gas.so"
        printf '%s\n' 'reload nobody' 'reload gas --back 3' 'reload other.ini' 'reload gas' 'step 390' 'report'
    } | timeout 60 mpirun -n 3 "$build/backplane" console "$scratch/gas/untried.ini" >"$scratch/said" 2>"$scratch/error"
}
sed 's/^\[host\]/&\ntrial = off/' "$scratch/gas/past.ini" >"$scratch/gas/untried.ini"
cp "$scratch/gas/gas.so" "$scratch/first.so"
: >"$scratch/said"
asked "$scratch/good.so" && fail "a plugin that is not there is reloaded"
[ "$(grep -c '^asked for: the ranks change together' "$scratch/said")" = 1 ] || fail "a reload is not asked for"
[ "$(grep -c 'reloaded gas 1.0 -> 1.1' "$scratch/said" "$scratch/error" | awk -F: '{ n += $2 } END { print n }')" -ge 1 ] ||
    fail "a reload that was asked for is not made"
[ "$(hash_of | sort -u)" = "$still" ] || fail "a reload that was asked for changes the result"
grep -q 'a clone cannot talk' "$scratch/error" || fail "a past is computed beside several ranks"
: >"$scratch/said"
asked "$scratch/bad.so" && fail "a plugin that is not there is reloaded"
grep -q 'rank 1 cannot take it, so no rank does: .*not here' "$scratch/error" || fail "a rank that refuses is not told"
[ "$(hash_of | sort -u)" = "$still" ] || fail "a reload that was refused changes the result"
cp "$scratch/first.so" "$scratch/gas/gas.so"

# The inspector of rank 0 tells what each rank has.
if [ -f "$build/plugins/inspector.so" ] && command -v python3 >/dev/null; then
    ranks 3 gas/flat.ini --steps 400 --real-time --inspect 0 &
    python3 - "$scratch/error" <<'END' || fail "the inspector does not show the ranks"
import json, re, sys, time, urllib.request
for _ in range(100):
    found = re.search(r"inspector: (http://\S+)", open(sys.argv[1]).read()) if __import__("os").path.exists(sys.argv[1]) else None
    if found:
        break
    time.sleep(0.05)
def ask(method, **params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(found.group(1), body, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=10))["result"]
for _ in range(100):
    parts = ask("backplane.ranks", world="main")
    if parts:
        break
    time.sleep(0.05)
assert [p["rank"] for p in parts] == [0, 1, 2], parts
assert sum(p["entities"] for p in parts) == 600 and all(p["sent"] > 0 and p["copies"] > 0 for p in parts), parts
assert parts[0]["low"][0] == "-inf" and len(parts[2]["high"]) == 3, parts
assert ask("backplane.ranks", world="main.halo") == []
END
    wait
fi

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

# A rank that is killed at any step ends the job: none waits for it. The job goes on where all ranks had come, on any
# number of them. KILLED of them, 3; `make proofs` kills 50.
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
    ranks 4 gas/flat.ini --record "$scratch/job" || status=$?
    [ $status != 0 ] && [ $status != 124 ] && [ ! -s "$scratch/said" ] ||
        fail "rank $KILLED_RANK is killed in step $KILLED_AT: status $status"
    at=$KILLED_AT number=$((1 + killed % 5))
    KILLED_AT=9999
    ranks $number gas/flat.ini --resume "$scratch/job" || fail "a job that was killed in step $at does not go on"
    [ "$(hash_of)" = "$flat" ] || fail "a job that was killed in step $at ends otherwise on $number ranks"
    rm "$scratch"/job*
    killed=$((killed + 1))
done
KILLED_AT=9999
ranks 4 gas/flat.ini || fail "a job in which nobody is killed fails"

# The disk of one rank is full at the beginning: the job does not begin. Full later: the rank says so and the run goes on
# to its end; what had been written by then can be gone on with.
ln -s /dev/full "$scratch/job.1of3"
if ranks 3 gas/flat.ini --record "$scratch/job"; then fail "a full disk is not noticed"; fi
grep -q "rank 1: .*job.1of3: cannot be written: No space left" "$scratch/error" || fail "a full disk is not told"
rm "$scratch"/job*
sed -i '1i #include <sys/resource.h>' "$scratch/gas/gas.c"
${CC:-cc} -shared -fPIC -O2 -D_POSIX_C_SOURCE=200809L -I"$source/plugin_api" \
    '-DHARM=setrlimit(RLIMIT_FSIZE, &(struct rlimit){90000, 90000})' "$scratch"/gas/*.c -o "$scratch/gas/gas.so" -lm
KILLED_RANK=1 KILLED_AT=5
if ranks 3 gas/flat.ini --record "$scratch/job"; then fail "a disk that becomes full is no failure"; fi
grep -q 'rank 1: host: recording ends at moment [0-9]*: .*job.1of3: cannot be written' "$scratch/error" ||
    fail "a disk that becomes full is not told"
[ "$(hash_of)" = "$flat" ] || fail "a disk that becomes full changes the result"
KILLED_AT=9999
ranks 2 gas/flat.ini --resume "$scratch/job" || fail "what was written before the disk was full is not gone on with"
[ "$(hash_of)" = "$flat" ] || fail "what was written before the disk was full ends otherwise"
rm "$scratch"/job*

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
