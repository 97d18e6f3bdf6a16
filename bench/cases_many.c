/* cases_many.c - large numbers of things that are usually few: ten thousand prototypes, a thousand systems; and the
 * cost of a step by itself, with next to nothing in the step.
 *
 * Prototypes: a component `a` and every combination of fourteen others, as many entities in each; the size is the
 * number of entities in all. A step goes over a column of all of them; the floor is the same loop over one packed
 * array. Entities are also reached in random order; the floor of that reads the world's columns through records of its
 * own.
 *
 * Systems: each needs one of 32 components, of which two have a row, and does nothing; the floor calls as many empty
 * functions through pointers. The first step settles their order. The size is the number of systems.
 *
 * Steps: `world` has no systems, `system` one system over as many rows as the size says. Figures are of a whole step.
 */
#include "cases.h"

#include "worlds.h"

#include <stdlib.h>
#include <string.h>

enum { PROTOTYPES = 10000, KINDS = 32, OTHERS = 14, SYSTEMS = 1000 };

/* --- the plugin --------------------------------------------------------------------------------------- */

static char names[KINDS][8], system_names[SYSTEMS + 1][8];
static const bp_field_t number[] = {{.name = "value", .type = BP_F32, .initial = "1"}};
static bp_component_i parts[KINDS];
static const bp_term_field_t read_value[] = {{.name = "value", .type = BP_F32}},
                             write_value[] = {{.name = "value", .type = BP_F32, .access = BP_WRITE}};
static bp_term_t terms[KINDS];
static bp_system_i systems[SYSTEMS + 1]; /* the last one works */

static void nothing(const bp_match_t *match, uint32_t count)
{
    (void)match, (void)count;
}

static void halve(const bp_match_t *match, uint32_t count)
{
    float *a = BP_TERM_COLUMN(match, float, 0, 0);
    for (uint32_t i = 0; i < count; i++)
        a[i] *= 0.5f;
}

static const bp_plugin_head_t *make_plugin(void)
{
    static bp_plugin_desc_t desc;
    static bp_plugin_head_t plugin;
    for (uint32_t k = 0; k < KINDS; k++) {
        snprintf(names[k], sizeof names[k], "k%u", k);
        parts[k] = (bp_component_i){.name = names[k], .fields = BP_LIST(number)};
        terms[k] =
            (bp_term_t){.component = names[k], .fields = {k == 0 ? write_value : read_value, 1, sizeof read_value[0]}};
    }
    for (uint32_t i = 0; i <= SYSTEMS; i++) {
        snprintf(system_names[i], sizeof system_names[i], "s%u", i);
        systems[i] = (bp_system_i){.name = system_names[i],
                                   .terms = {&terms[i < SYSTEMS ? i % KINDS : 0], 1, sizeof terms[0]},
                                   .run = i < SYSTEMS ? nothing : halve};
    }
    desc = (bp_plugin_desc_t){.version = "1", .components = {parts, KINDS, sizeof parts[0]},
                              .systems = {systems, SYSTEMS + 1, sizeof systems[0]}};
    plugin = (bp_plugin_head_t)BP_PLUGIN_HEAD("crowd", &desc);
    return &plugin;
}

/* --- ten thousand prototypes -------------------------------------------------------------------------- */

typedef struct prototypes_t {
    bench_world_t w;
    uint32_t size;
    bp_entity_t *shuffled;
    floor_record_t *records;
    floor_group_t *groups;
    bench_field_t value;
    uint32_t second;
    float *packed, *values;
} prototypes_t;

/* Component 0 and those of the others whose bits are set in `number`; never the last one. */
static uint32_t make_prototype(const bench_world_t *w, const uint32_t *keys, uint32_t number_of_it)
{
    uint32_t chosen[OTHERS + 1], count = 1, prototype;
    chosen[0] = keys[0];
    for (uint32_t k = 0; k < OTHERS; k++) {
        if ((number_of_it >> k & 1) != 0)
            chosen[count++] = keys[k + 1];
    }
    worlds_must(w->host, w->api->world->prototype(w->world, chosen, count, &prototype), "making a prototype");
    return prototype;
}

static void make_entities(prototypes_t *s)
{
    uint32_t keys[OTHERS + 1], each = s->size / PROTOTYPES;
    for (uint32_t k = 0; k <= OTHERS; k++)
        keys[k] = worlds_key(&s->w, names[k]);
    for (uint32_t p = 0; p < PROTOTYPES; p++)
        worlds_must(s->w.host, worlds_make(&s->w, make_prototype(&s->w, keys, p), s->shuffled + p * each, each),
                    "creating entities");
}

static void mirror(prototypes_t *s)
{
    bp_run_t run;
    uint32_t cursor = 0, group = 0, component = s->w.api->world->component(s->w.world, names[0]);
    while (group < PROTOTYPES && worlds_next_run(s->w.world, component, &cursor, &run) != 0) {
        s->groups[group].mass = run.columns[0];
        for (uint32_t row = 0; row < run.count; row++)
            s->records[bp_entity_index(run.entities[row])] =
                (floor_record_t){bp_entity_generation(run.entities[row]), group, row};
        group++;
    }
}

static void *setup_prototypes(uint32_t size)
{
    prototypes_t *s = worlds_memory(1, sizeof *s);
    s->size = (size < PROTOTYPES ? PROTOTYPES : size) / PROTOTYPES * PROTOTYPES;
    worlds_open(&s->w, make_plugin(), SYSTEMS, 1, 1);
    s->shuffled = worlds_memory(s->size, sizeof *s->shuffled);
    s->records = worlds_memory(s->size, sizeof *s->records);
    s->groups = worlds_memory(PROTOTYPES, sizeof *s->groups);
    s->packed = worlds_memory(s->size, sizeof *s->packed);
    s->values = worlds_memory(s->size, sizeof *s->values);
    make_entities(s);
    mirror(s);
    worlds_shuffle(s->shuffled, s->size, 1);
    worlds_field(&s->w, names[0], "value", &s->value);
    s->second = worlds_key(&s->w, names[OTHERS + 1]);
    return s;
}

static void teardown_prototypes(void *state)
{
    prototypes_t *s = state;
    worlds_destroy(&s->w);
    free(s->shuffled);
    free(s->records);
    free(s->groups);
    free(s->packed);
    free(s->values);
    free(s);
}

static void packed(void *state)
{
    prototypes_t *s = state;
    floor_halve(s->packed, s->size);
}

static void step_prototypes(void *state)
{
    prototypes_t *s = state;
    worlds_step(&s->w);
}

static void loop_get(void *state)
{
    prototypes_t *s = state;
    measure_keep(floor_look_up(s->records, s->groups, s->shuffled, s->size, s->values));
}

static void get_by_batch(void *state)
{
    prototypes_t *s = state;
    worlds_must(s->w.host, worlds_get(&s->w, &s->value, s->shuffled, s->size, s->values, sizeof(float)), "getting");
}

static void get_one_by_one(void *state)
{
    prototypes_t *s = state;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->size; i++)
        result |= worlds_get(&s->w, &s->value, &s->shuffled[i], 1, &s->values[i], 0);
    worlds_must(s->w.host, result, "getting");
}

static void get_by_names(void *state)
{
    prototypes_t *s = state;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->size; i++)
        result |= worlds_get_float(&s->w, s->shuffled[i], names[0], "value", &s->values[i]);
    worlds_must(s->w.host, result, "getting by names");
}

/* This side comes last, since it makes ten thousand more prototypes. */
static void add_remove(void *state)
{
    prototypes_t *s = state;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->size; i++) {
        result |= worlds_add(&s->w, s->second, &s->shuffled[i], 1);
        result |= worlds_remove(&s->w, s->second, &s->shuffled[i], 1);
    }
    worlds_must(s->w.host, result, "adding and removing");
}

static const uint32_t prototype_sizes[] = {10000, 100000, 1000000, 0};

const group_t group_many_prototypes = {
    .name = "prototypes_10k",
    .sizes = prototype_sizes,
    .setup = setup_prototypes,
    .teardown = teardown_prototypes,
    .takes_long = true,
    .sides = {
        {.name = "packed", .run = packed},
        {.name = "step", .floor = "packed", .run = step_prototypes},
        {.name = "loop_get", .run = loop_get},
        {.name = "get_by_batch", .floor = "loop_get", .run = get_by_batch},
        {.name = "get_one_by_one", .floor = "loop_get", .run = get_one_by_one},
        {.name = "get_by_names", .floor = "loop_get", .run = get_by_names},
    },
};

const group_t group_many_changes = {
    .name = "prototypes_10k_changed",
    .sizes = prototype_sizes,
    .setup = setup_prototypes,
    .teardown = teardown_prototypes,
    .takes_long = true,
    .sides = {{.name = "loop_get", .run = loop_get},
              {.name = "add_remove_one_by_one", .floor = "loop_get", .run = add_remove}},
};

/* --- a thousand systems ------------------------------------------------------------------------------- */

typedef struct systems_t {
    bench_world_t settled, fresh;
    uint32_t size;
} systems_t;

static void open_systems(bench_world_t *w, uint32_t size)
{
    bp_entity_t e[2];
    worlds_open(w, make_plugin(), 0, size, 1);
    for (uint32_t k = 0; k < 2; k++)
        worlds_must(w->host, worlds_make(w, worlds_prototype(w, names[k]), &e[k], 1), "creating entities");
}

static void *setup_systems(uint32_t size)
{
    systems_t *s = worlds_memory(1, sizeof *s);
    s->size = size < SYSTEMS ? size : SYSTEMS;
    open_systems(&s->settled, s->size);
    open_systems(&s->fresh, s->size);
    return s;
}

static void teardown_systems(void *state)
{
    systems_t *s = state;
    worlds_destroy(&s->settled);
    worlds_destroy(&s->fresh);
    free(s);
}

static void open_anew(void *state)
{
    systems_t *s = state;
    worlds_destroy(&s->fresh);
    open_systems(&s->fresh, s->size);
}

static void call_all(void *state)
{
    systems_t *s = state;
    for (uint32_t i = 0; i < s->size; i++)
        systems[i].run(NULL, 0);
}

static void step_first(void *state) { worlds_step(&((systems_t *)state)->fresh); }
static void step_again(void *state) { worlds_step(&((systems_t *)state)->settled); }

static const uint32_t system_sizes[] = {1, 10, 100, SYSTEMS, 0};

const group_t group_systems = {
    .name = "systems",
    .sizes = system_sizes,
    .setup = setup_systems,
    .teardown = teardown_systems,
    .sides = {
        {.name = "calls", .run = call_all},
        {.name = "step", .floor = "calls", .run = step_again},
        {.name = "first_step", .floor = "calls", .prepare = open_anew, .run = step_first,
         .bound = AT_MOST_AT(500, SYSTEMS)},
    },
};

/* --- a step by itself --------------------------------------------------------------------------------- */

typedef struct step_t {
    bench_world_t empty, busy;
    uint32_t size;
    float *packed;
} step_t;

static void *setup_step(uint32_t size)
{
    step_t *s = worlds_memory(1, sizeof *s);
    bp_entity_t *e = worlds_memory(size, sizeof *e);
    s->size = size;
    s->packed = worlds_memory(size, sizeof *s->packed);
    worlds_open(&s->empty, make_plugin(), 0, 0, 1);
    worlds_open(&s->busy, make_plugin(), SYSTEMS, 1, 1);
    worlds_must(s->busy.host, worlds_make(&s->busy, worlds_prototype(&s->busy, names[0]), e, size),
                "creating entities");
    free(e);
    return s;
}

static void teardown_step(void *state)
{
    step_t *s = state;
    worlds_destroy(&s->empty);
    worlds_destroy(&s->busy);
    free(s->packed);
    free(s);
}

static void call(void *state) { (void)state, systems[0].run(NULL, 0); }
static void step_empty(void *state) { worlds_step(&((step_t *)state)->empty); }
static void step_busy(void *state) { worlds_step(&((step_t *)state)->busy); }

static void loop_rows(void *state)
{
    step_t *s = state;
    floor_halve(s->packed, s->size);
}

static const uint32_t step_sizes[] = {1, 4, 16, 64, 256, 0};

const group_t group_step = {
    .name = "step",
    .sizes = step_sizes,
    .setup = setup_step,
    .teardown = teardown_step,
    .whole = true,
    .sides = {
        {.name = "call", .run = call},
        {.name = "world", .floor = "call", .run = step_empty, .bound = AT_MOST(25)},
        {.name = "loop", .run = loop_rows},
        {.name = "system", .floor = "loop", .run = step_busy, .bound = AT_MOST_TO(60, 16)},
    },
};
