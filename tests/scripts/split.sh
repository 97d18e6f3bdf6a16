#!/bin/sh
# split.sh BUILD - a world that is split over ranks: places of every type that one may have, fields that only their own
# plugin writes, lists that grow, entities of other worlds, and what is wrong in the options. Where mpirun or the plugin
# mpi is missing, there is nothing to check.
set -eu

build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
command -v mpirun >/dev/null 2>&1 || { echo "split: mpirun is not installed"; exit 0; }
[ -f "$build/plugins/mpi.so" ] || { echo "split: the plugin mpi is not built"; exit 0; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none # ranks of a small job go where a processor is free
export OMPI_MCA_mpi_yield_when_idle=1 # a rank that waits leaves the processor to the others
# Ranks of one machine talk through its memory alone, and devices are not looked for: jobs start sooner.
export OMPI_MCA_pml=ob1 HWLOC_COMPONENTS=linux,stop PMIX_MCA_gds=hash

fail() {
    echo "split: $*"
    for file in said error; do sed "s/^/    $file: /" "$scratch/$file"; done
    exit 1
}

# ranks N INI [ARGUMENT ...] - run an ini on N ranks; one process needs no mpirun
ranks() {
    start="mpirun -n $1" ini=$2
    [ "$1" != 1 ] || start=
    shift 2
    # shellcheck disable=SC2086
    timeout 60 $start "$build/backplane" run "$scratch/$ini" "$@" >"$scratch/said" 2>"$scratch/error"
}

# Dots fly through each other, each at its own speed. In the first step the plugin writes what only it may write, and
# looks in each later step whether it is there, of copies too; so with a list to which each step is appended.
cat >"$scratch/dots.c" <<'END'
#include <bp_list.h>
#include <bp_plugin.h>
#include <stdio.h>
#include <string.h>
#ifndef WRONG
#define WRONG 0
#endif
struct dot {
    PLACE *at; const float *speed; const uint64_t *number; const char **told, **words; uint64_t *marks; bp_list_t *steps;
    float *flat, *tint; bp_vec3_t *shade;
};
static const bp_field_t fields[] = {
    {.name = "at", .type = TYPE},
    {.name = "speed", .type = BP_F32},
    {.name = "number", .type = BP_U64},
    {.name = "told", .type = BP_STRING, .flags = BP_FIELD_READ_ONLY},
    {.name = "words", .type = BP_STRING, .count = 2, .flags = BP_FIELD_READ_ONLY},
    {.name = "marks", .type = BP_U64, .count = 2, .flags = BP_FIELD_READ_ONLY},
    {.name = "steps", .type = BP_U64, .flags = BP_FIELD_LIST},
    {.name = "flat", .type = BP_F32},
    {.name = "tint", .type = BP_F32},
    {.name = "shade", .type = BP_VEC3},
    {.name = "turn", .type = BP_QUAT},
#ifdef LIST
    {.name = "past", .type = BP_F32, .flags = BP_FIELD_LIST | BP_FIELD_READ_ONLY},
#endif
};
static const char *text_of(const struct dot *c, uint32_t i, uint32_t which)
{
    static char text[3][32];
    snprintf(text[which], sizeof text[which], "%u of dot %u", which, (unsigned)c->number[i]);
    return text[which];
}
/* The steps so far: those that the dot took on other ranks too. */
static int is_wrong(const bp_list_t *steps, uint64_t taken)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < steps->count; i++, number++) {
        if (((const uint64_t *)steps->items)[i] != number)
            return 1;
    }
    return number != taken;
}
static void simulate(const bp_run_t *run, uint32_t count)
{
    BP_COLUMNS(struct dot, c, run->columns);
    const bp_api_t *api = run->manager->api;
    int copies = strchr(api->world->name(run->manager->world), '.') != NULL;
    for (uint32_t i = 0; i < count; i++) {
        /* The world of copies steps after that of the dots. */
        if (run->step->number > 1 && is_wrong(&c.steps[i], run->step->number + (copies ? 1 : 0)))
            api->error->log(run->manager->plugin, BP_LOG_ERROR, "a dot has not the steps that it has taken");
        if (!copies) {
            c.at[i].x += c.speed[i];
            bp_list_append(run->lists, &c.steps[i], &run->step->number, sizeof run->step->number);
        }
        if (run->step->number == 0 && !copies) {
            api->name->assign(run->manager->host, &c.told[i], text_of(&c, i, 0));
            api->name->assign(run->manager->host, &c.words[2 * i], text_of(&c, i, 1));
            api->name->assign(run->manager->host, &c.words[2 * i + 1], text_of(&c, i, 2));
            c.marks[2 * i] = c.number[i] + 1, c.marks[2 * i + 1] = c.number[i] + 2;
        } else if (copies && run->step->number > 10 && WRONG) {
            api->error->log(run->manager->plugin, BP_LOG_ERROR, "a copy has not what it was to have");
        } else if (run->step->number > 1 &&
                   (strcmp(c.told[i], text_of(&c, i, 0)) != 0 || strcmp(c.words[2 * i], text_of(&c, i, 1)) != 0 ||
                    strcmp(c.words[2 * i + 1], text_of(&c, i, 2)) != 0 || c.marks[2 * i] != c.number[i] + 1 ||
                    c.marks[2 * i + 1] != c.number[i] + 2)) {
            api->error->log(run->manager->plugin, BP_LOG_ERROR, "a dot is not what it was");
        }
    }
}
static const bp_component_i components[] = {{.name = "dot", .fields = BP_LIST(fields), .simulate = simulate}};
BP_PLUGIN(dots) = {.components = BP_LIST(components)};
END
# compile TYPE [OPTION] - the dots with places of that type
compile() {
    upper=$(echo "$1" | tr '[:lower:]' '[:upper:]')
    ${CC:-cc} -shared -fPIC -O1 "-DTYPE=BP_$upper" "-DPLACE=bp_$1_t" ${2:-} -I"$source/plugin_api" "$scratch/dots.c" \
        -o "$scratch/dots.so"
}
# ini TABLE REST - dots with the values REST behind the first one of their places, and a table of all they have
ini() {
    printf '[host]\nplugins = mpi debug_name recorder ./dots.so\nsteps = 20\n[plugin mpi]\nposition = dot.at\n'
    printf 'halo = 3\nidentity = dot.number\naudit = true\nevery = 5\nuneven = 0\n[plugin recorder]\nproperties =\n'
    for i in 0 1 2 3 4 5; do
        printf '  main/d%s.dot.%s\n' $i at $i shade $i flat $i turn
    done
    printf 'csv = %s/%s.csv\n[world main]\nplace = split\nstep_rate = 10\n' "$scratch" "$1"
    printf 'components = dot debug_name\nsystems = recorder\n'
    for i in 0 1 2 3 4 5; do
        printf '[spawn main d%s]\ncomponents = dot debug_name\ndebug_name.name = d%s\n' $i $i
        printf 'dot.at = %s%s\ndot.speed = %s\ndot.number = %s\n' $((i * 4)) "$2" $((3 - i)) $((i + 100))
        printf 'dot.tint = 0.5\ndot.flat = 0.%s\ndot.shade = 1 %s 3\ndot.turn = 0 0 %s 1\n' $i $i $i
    done
}
for type in vec2 vec3 dvec2 dvec3; do
    compile $type
    case $type in *3) rest=' 1 2' ;; *) rest=' 1' ;; esac
    for number in 1 2 3; do
        ini "table_$number" "$rest" >"$scratch/dots.ini"
        ranks $number dots.ini || fail "dots with places of type $type fail on $number ranks"
        [ ! -s "$scratch/error" ] || fail "dots with places of type $type complain on $number ranks"
        cmp "$scratch/table_$number.csv" "$scratch/table_1.csv" || fail "$number ranks have other dots, with $type"
    done
    # Where the dots are decides which go from rank to rank, and that is the same with places of any type.
    went=$(awk '/came from others/ { on = 1; next } NF == 0 { on = 0 } on { print $1, $2, $3, $4 }' "$scratch/said" | head -n 3)
    echo "$went" | grep -q '^1 [1-9][0-9]* [1-9]' || fail "no dot goes from rank to rank, with $type"
    [ "$went" = "${first:=$went}" ] || fail "other dots than $first go from rank to rank with $type: $went"
done

# wrong NUMBER SED WORDS - the ini, changed, does not run on so many ranks, and says why
wrong() {
    ini none ' 1' | sed -e "$2" >"$scratch/wrong.ini"
    if ranks "$1" wrong.ini; then fail "an ini that is wrong runs: $2"; fi
    grep -qF -- "$3" "$scratch/error" || fail "it is not told why: $2"
}
compile vec2
place='say which property is the place, [plugin mpi] position = COMPONENT.PROPERTY'
for text in '' dot .at dot. 'dot.at dot.flat'; do wrong 1 "s/^position = .*/position = $text/" "$place"; done
for text in dot .number dot. 'dot.number dot.number'; do
    wrong 1 "s/^identity = .*/identity = $text/" '[plugin mpi] identity: one COMPONENT.PROPERTY, of type u64'
done
for text in dot 'dot.at nonsense' '.at dot.at' 'dot.at dot. dot.flat'; do
    wrong 1 "s/^identity = .*/copied = $text/" '[plugin mpi] copied: COMPONENT.PROPERTY ..., with blanks between them'
done
for name in none flat turn marks; do
    wrong 1 "s/^position = .*/position = dot.$name/" '[plugin mpi] position: the component has no such property, or it is no'
    wrong 1 "s/^identity = .*/identity = dot.$name/" '[plugin mpi] identity: the component has no such property, or it is not'
done
wrong 2 's/^identity = .*/identity = dot.flat/' 'mpi: [plugin mpi] identity: the component has no such property'
wrong 2 's/^\[spawn main d0\]/&\ncount = {rank: 1 2}/' 'the ranks begin with different numbers of entities'
wrong 1 '/^place = /d; s/^systems = .*/& split/' 'the system split is for worlds with place = split'

# A position that no entity has: each rank has all of them, which is told.
ini none ' 1' | sed 's/^position = .*/position = nothing.at/' >"$scratch/wrong.ini"
ranks 2 wrong.ini || fail "a position of no entity fails"
[ "$(grep -c "warning: mpi: no entity of world 'main' has 'nothing.at' (\[plugin mpi\] position), so each rank has all" \
    "$scratch/error")" = 2 ] || fail "it is not told that no entity has the position"
# What copies have is chosen by names; an identity may be that of other entities, or none.
for text in 'copied = dot.at dot.flat dot.marks' 'identity = other.number' 'identity ='; do
    ini table_2 ' 1' | sed "s/^identity = .*/$text/" >"$scratch/dots.ini"
    [ "$text" != "${text#identity}" ] || sed -i 's/^halo = .*/halo = 0/' "$scratch/dots.ini"
    ranks 2 dots.ini || fail "dots fail with $text"
    [ ! -s "$scratch/error" ] || fail "dots complain with $text"
done

# A job goes on with other fields for copies: all of these are told of anew, also where they are what others were.
known='dot.number dot.told dot.words dot.marks dot.steps'
for fields in "$known dot.turn:$known dot.shade:c.shade[i].x!=1" "$known dot.shade:$known:c.shade[i].x!=0" \
    "$known:$known dot.shade dot.turn:c.shade[i].x!=1" "$known dot.flat:$known dot.tint:c.tint[i]!=0.5f"; do
    before=${fields%%:*} after=${fields#*:}
    compile vec2
    ini none ' 1' | sed "s/^identity = .*/copied = $before/; s/^halo = .*/halo = 30/; s/^dot.flat = .*/dot.flat = 0.5/; s/^dot.speed = .*/dot.speed = 0/" \
        >"$scratch/dots.ini"
    ranks 2 dots.ini --steps 10 --record "$scratch/job" || fail "a job is not recorded"
    [ ! -s "$scratch/error" ] || fail "copies with $before complain"
    "$build/backplane" replay "$scratch/job.1of2" --check --ini "$scratch/dots.ini" >"$scratch/said" \
        2>"$scratch/error" || fail "a rank is not played alone"
    compile vec2 "-DWRONG=(${after#*:})"
    sed -i "s/^copied = .*/copied = ${after%:*}/" "$scratch/dots.ini"
    ranks 2 dots.ini --resume "$scratch/job" || fail "a job does not go on with $after in place of $before"
    ! grep -v 'goes on behind step 10 ' "$scratch/error" || fail "copies complain with $after in place of $before"
    rm "$scratch"/job.*
done

# Entities of a split world may live in another world too. They are the same when they come back, and when they die, then
# in that world too, on all ranks. Bobs swing from rank to rank.
cat >"$scratch/bobs.c" <<'END'
#include <bp_plugin.h>
#include <bp_share.h>
enum { COUNT = 6 };
static bp_entity_t all[COUNT];
struct bob { bp_vec2_t *at; const uint64_t *number; };
static const bp_field_t of_bob[] = {{BP_FIELD_OF(struct bob, at)}, {BP_FIELD_OF(struct bob, number)}};
static const bp_field_t of_mark[] = {{.name = "number", .type = BP_U64}};
static void simulate(const bp_run_t *run, uint32_t count)
{
    BP_COLUMNS(struct bob, c, run->columns);
    const bp_api_t *api = run->manager->api;
    bp_host_o *host = run->manager->host;
    if (run->manager->world != api->world->find(host, "main"))
        return;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = COUNT;
        bp_entity_t e = run->entities[i];
        if (e.id == 0)
            continue;
        api->property->get_named(api->world->find(host, "other"), e, "mark", "number", BP_U64, &number);
        if (number != c.number[i])
            api->error->log(run->manager->plugin, BP_LOG_ERROR, "a bob is not what it was in the other world");
        c.at[i].x = (float)c.number[i] + (float)(run->step->number / 3 % 2) * COUNT;
        if (run->step->number == 21 && c.number[i] == 1) /* it also goes to another rank */
            api->command->destroy(run->step->commands, &e, 1);
    }
}
static const bp_component_i components[] = {{.name = "bob", .fields = BP_LIST(of_bob), .simulate = simulate},
                                            {.name = "mark", .fields = BP_LIST(of_mark)}};
static bp_result_t start(bp_system_t *s)
{
    const bp_api_t *api = s->api;
    bp_world_o *main = api->world->find(s->host, "main");
    uint32_t bob, mark, prototype;
    bp_result_t result = api->world->key(main, api->world->component(main, "bob"), 0, &bob);
    if (result == BP_OK)
        result = api->world->key(s->world, api->world->component(s->world, "mark"), 0, &mark);
    if (result == BP_OK)
        result = api->world->prototype(main, &bob, 1, &prototype);
    if (result == BP_OK)
        result = api->world->create(main, prototype, all, COUNT);
    if (result == BP_OK)
        result = api->world->add(s->world, mark, all, COUNT);
    for (uint64_t i = 0; i < COUNT && result == BP_OK; i++) {
        bp_vec2_t at = {(float)i, 0};
        api->property->set_named(main, all[i], "bob", "at", BP_VEC2, &at);
        api->property->set_named(main, all[i], "bob", "number", BP_U64, &i);
        result = api->property->set_named(s->world, all[i], "mark", "number", BP_U64, &i);
    }
    return result;
}
/* Numbers and parts are those of the split world, and of what lives there. */
static void run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    const bp_share_api *shares = s->api->registry->find(s->host, BP_SHARE_API, 1);
    bp_world_o *main = s->api->world->find(s->host, "main");
    bp_part_t part = {.struct_size = sizeof part};
    bp_entity_t e;
    (void)matches, (void)count;
    uint64_t number = shares->durable(main, all[0]);
    int fine = number != 0 && shares->found(main, number, &e) == 1 && e.id == all[0].id;
    fine = fine && shares->durable(s->world, all[0]) == 0 && shares->found(s->world, number, &e) == 0 && e.id == 0;
    fine = fine && shares->found(main, 0, &e) == 0 && shares->found(main, 1000000, &e) == 0 && e.id == 0;
    fine = fine && shares->found(main, UINT64_MAX, &e) == 0 && shares->part(s->world, 0, &part) == 0;
    fine = fine && shares->part(main, 9, &part) == 0 && shares->part(main, 0, &part) == (step->number > 0);
    fine = fine && (step->number < 23 || shares->durable(main, all[1]) == 0);
    if (!fine)
        s->api->error->log(s->plugin, BP_LOG_ERROR, "numbers or parts are not as they were to be");
}
static const bp_system_i systems[] = {{.name = "bobs", .start = start, .run_all = run}};
BP_PLUGIN(bobs) = {.components = BP_LIST(components), .systems = BP_LIST(systems)};
END
${CC:-cc} -shared -fPIC -O1 -I"$source/plugin_api" "$scratch/bobs.c" -o "$scratch/bobs.so"
printf '[host]\nplugins = mpi ./bobs.so\nsteps = 30\n[plugin mpi]\nposition = bob.at\nhalo = 1\nevery = 5\nuneven = 9\n' >"$scratch/bobs.ini"
printf '[world main]\nplace = split\nstep_rate = 10\ncomponents = bob\n' >>"$scratch/bobs.ini"
printf '[world other]\nstep_rate = 10\ncomponents = mark\nsystems = bobs\n' >>"$scratch/bobs.ini"
for number in 2 3; do
    ranks $number bobs.ini || fail "entities of two worlds fail on $number ranks"
    [ ! -s "$scratch/error" ] || fail "entities of two worlds complain on $number ranks"
    grep -Eq '^ *1 +[1-9][0-9]* +' "$scratch/said" || fail "no bob goes from rank to rank"
    [ "$(awk '$1 == "other" && $3 == 30 { n += $5 == 5 } END { print n + 0 }' "$scratch/said")" = $number ] ||
        fail "a bob has died in one world, and not in the other one on all of $number ranks"
done
# Space is cut once where it is never compared, and anew else.
for every in 0 5; do
    compile vec2
    ini none ' 1' | sed "s/^every = .*/every = $every/" >"$scratch/dots.ini"
    ranks 2 dots.ini || fail "dots fail that are compared every $every steps"
    cuts=$(sed -n 's/.*times that space was cut *//p' "$scratch/said")
    [ "$((every == 0 ? cuts == 1 : cuts > 1))" = 1 ] || fail "space is cut $cuts times, compared every $every steps"
done
# A job of dots that refer to nothing goes on with more ranks than it had.
compile vec2
ini none ' 1' | sed 's/^halo = .*/halo = 0/' >"$scratch/dots.ini"
ranks 2 dots.ini --steps 10 --record "$scratch/job" || fail "a job is not recorded"
ranks 3 dots.ini --resume "$scratch/job" || fail "a job does not go on with more ranks"
! grep -v 'goes on behind step 10 ' "$scratch/error" || fail "a job complains that goes on with more ranks"
grep -q 'on 3 ranks with 6 entities' "$scratch/said" || fail "a job that goes on with more ranks has other dots"

# A list that only its own plugin writes cannot be sent.
compile vec2 -DLIST
wrong 2 's/^steps = .*/steps = 3/' 'dot.past is a list that only its own plugin writes, which cannot be sent to another rank'
echo "places of four types, and what is wrong in the options, are as they should be"
