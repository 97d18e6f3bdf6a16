/* cases_scattered.c - entities of one prototype and of fifty: set in random order, and reached by names.
 *
 * Both worlds have as many entities with a point_mass; in the second they are dealt one by one over fifty
 * prototypes, which differ in six further components. `scattered` visits the entities in random order, by batch and one
 * by one; the floor has records of its own and reads or writes the world's columns through them, generations compared.
 * `names` visits the entities in the order of creation, so that fifty runs are read side by side, by two names each
 * time, and by a key for comparison.
 *
 * Not here: the cost of the index of prototypes when there are ten thousand of them (cases_many.c).
 */
#include "cases.h"

#include "worlds.h"

#include <components/point_mass.h>
#include <stdlib.h>
#include <string.h>

enum { PROTOTYPES = 50, KINDS = 6 };

typedef struct dealt_t {
    bench_world_t w;
    uint32_t size;
    bp_entity_t *entities;
    floor_record_t *records;
    floor_group_t groups[PROTOTYPES];
    bench_field_t mass;
    float *values;
} dealt_t;

typedef struct scattered_t {
    dealt_t one, many;
} scattered_t;

/* --- the worlds --------------------------------------------------------------------------------------- */

static void name_prototype(uint32_t number, char names[64])
{
    snprintf(names, 64, "%s", BP_POINT_MASS);
    for (uint32_t k = 0; k < KINDS; k++) {
        if ((number >> k & 1) != 0)
            snprintf(names + strlen(names), 64 - strlen(names), " c%u", k);
    }
}

/* Make the entities prototype by prototype, and deal them out so that neighbours differ. */
static void deal(dealt_t *d, uint32_t prototypes)
{
    char names[64];
    bp_entity_t *e = worlds_memory(d->size, sizeof *e);
    for (uint32_t p = 0; p < prototypes; p++) {
        uint32_t count = (d->size + prototypes - 1 - p) / prototypes;
        name_prototype(p, names);
        worlds_must(d->w.host, worlds_make(&d->w, worlds_prototype(&d->w, names), e, count), "creating entities");
        for (uint32_t i = 0; i < count; i++)
            d->entities[i * prototypes + p] = e[i];
    }
    free(e);
}

/* Make records like the world's, and list the world's columns. */
static void mirror(dealt_t *d)
{
    bp_run_t run;
    uint32_t cursor = 0, group = 0;
    while (group < PROTOTYPES && worlds_next_run(d->w.world, d->w.component, &cursor, &run) != 0) {
        d->groups[group].mass = run.columns[BP_POINT_MASS_MASS];
        for (uint32_t row = 0; row < run.count; row++)
            d->records[bp_entity_index(run.entities[row])] =
                (floor_record_t){bp_entity_generation(run.entities[row]), group, row};
        group++;
    }
}

static void open_dealt(dealt_t *d, uint32_t size, uint32_t prototypes)
{
    d->size = size;
    worlds_create(&d->w, KINDS);
    d->entities = worlds_memory(size, sizeof *d->entities);
    d->records = worlds_memory(size, sizeof *d->records);
    d->values = worlds_memory(size, sizeof *d->values);
    deal(d, prototypes);
    mirror(d);
    for (uint32_t i = 0; i < size; i++)
        d->values[i] = (float)(i % 1000);
    worlds_field(&d->w, BP_POINT_MASS, "mass", &d->mass);
}

static void close_dealt(dealt_t *d)
{
    worlds_destroy(&d->w);
    free(d->entities);
    free(d->records);
    free(d->values);
}

static void *setup_in_order(uint32_t size)
{
    scattered_t *s = worlds_memory(1, sizeof *s);
    open_dealt(&s->one, size, 1);
    open_dealt(&s->many, size, PROTOTYPES);
    return s;
}

static void *setup_shuffled(uint32_t size)
{
    scattered_t *s = setup_in_order(size);
    worlds_shuffle(s->one.entities, size, 1);
    worlds_shuffle(s->many.entities, size, 1);
    return s;
}

static void teardown(void *state)
{
    scattered_t *s = state;
    close_dealt(&s->one);
    close_dealt(&s->many);
    free(s);
}

/* --- what both worlds do ------------------------------------------------------------------------------ */

static void loop_get(dealt_t *d)
{
    measure_keep(floor_look_up(d->records, d->groups, d->entities, d->size, d->values));
}

static void loop_set(dealt_t *d)
{
    measure_keep(floor_store(d->records, d->groups, d->entities, d->size, d->values));
}

static void get_batch(dealt_t *d)
{
    worlds_must(d->w.host, worlds_get(&d->w, &d->mass, d->entities, d->size, d->values, sizeof(float)), "getting");
}

static void set_batch(dealt_t *d)
{
    worlds_must(d->w.host, worlds_set(&d->w, &d->mass, d->entities, d->size, d->values, sizeof(float)), "setting");
}

static void get_singly(dealt_t *d)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < d->size; i++)
        result |= worlds_get(&d->w, &d->mass, &d->entities[i], 1, &d->values[i], 0);
    worlds_must(d->w.host, result, "getting");
}

static void set_singly(dealt_t *d)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < d->size; i++)
        result |= worlds_set(&d->w, &d->mass, &d->entities[i], 1, &d->values[i], 0);
    worlds_must(d->w.host, result, "setting");
}

static void get_named(dealt_t *d)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < d->size; i++)
        result |= worlds_get_float(&d->w, d->entities[i], BP_POINT_MASS, "mass", &d->values[i]);
    worlds_must(d->w.host, result, "getting by names");
}

static void set_named(dealt_t *d)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < d->size; i++)
        result |= worlds_set_float(&d->w, d->entities[i], BP_POINT_MASS, "mass", &d->values[i]);
    worlds_must(d->w.host, result, "setting by names");
}

#define BOTH(what)                                                               \
    static void what##_1(void *state) { what(&((scattered_t *)state)->one); }   \
    static void what##_50(void *state) { what(&((scattered_t *)state)->many); }
BOTH(loop_get) BOTH(loop_set) BOTH(get_batch) BOTH(set_batch)
BOTH(get_singly) BOTH(set_singly) BOTH(get_named) BOTH(set_named)

const group_t group_scattered = {
    .name = "scattered",
    .sizes = bench_wide_sizes,
    .setup = setup_shuffled,
    .teardown = teardown,
    .takes_long = true,
    .sides = {
        {.name = "loop_get", .run = loop_get_1},
        {.name = "loop_set", .run = loop_set_1},
        {.name = "get_by_batch", .floor = "loop_get", .run = get_batch_1},
        {.name = "set_by_batch", .floor = "loop_set", .run = set_batch_1,
         .bound = AT_MOST_TIMES_OF(1.3, "get_by_batch")},
        {.name = "get_one_by_one", .floor = "loop_get", .run = get_singly_1},
        {.name = "set_one_by_one", .floor = "loop_set", .run = set_singly_1},
    },
};

const group_t group_scattered_50 = {
    .name = "scattered_50",
    .sizes = bench_wide_sizes,
    .setup = setup_shuffled,
    .teardown = teardown,
    .takes_long = true,
    .sides = {
        {.name = "loop_get", .run = loop_get_50},
        {.name = "loop_set", .run = loop_set_50},
        {.name = "get_by_batch", .floor = "loop_get", .run = get_batch_50},
        {.name = "set_by_batch", .floor = "loop_set", .run = set_batch_50,
         .bound = AT_MOST_TIMES_OF(1.3, "get_by_batch")},
        {.name = "get_one_by_one", .floor = "loop_get", .run = get_singly_50},
        {.name = "set_one_by_one", .floor = "loop_set", .run = set_singly_50},
    },
};

const group_t group_names = {
    .name = "names",
    .setup = setup_in_order,
    .teardown = teardown,
    .sides = {
        {.name = "loop_1", .run = loop_get_1},
        {.name = "loop_50", .run = loop_get_50},
        {.name = "get_by_names_1", .floor = "loop_1", .run = get_named_1},
        {.name = "get_by_names_50", .floor = "loop_50", .run = get_named_50, .bound = AT_MOST(12)},
        {.name = "set_by_names_1", .floor = "loop_1", .run = set_named_1},
        {.name = "set_by_names_50", .floor = "loop_50", .run = set_named_50, .bound = AT_MOST(12)},
        {.name = "get_by_key_1", .floor = "loop_1", .run = get_singly_1},
        {.name = "get_by_key_50", .floor = "loop_50", .run = get_singly_50,
         .bound = AT_MOST_TIMES_OF(1.5, "get_by_key_1")},
    },
};
