/* cases_look_up.c - one field of entities in random order.
 *
 * The floor holds records of its own like the world's and reads the world's own columns: record, group,
 * column, one dependent load after another. `mixed` spreads the entities over sixteen prototypes in random
 * order, as a world looks in which components come and go. References are resolved once and then followed
 * in the same random order as a plain array of indices.
 */
#include "cases.h"

#include "floors.h"
#include "worlds.h"

#include <components/point_mass.h>
#include <stdlib.h>

enum { KINDS = 4, GROUPS = 1 << KINDS };

typedef struct look_up_t {
    bench_world_t w;
    uint32_t size;
    bp_entity_t *entities;
    floor_record_t *records;
    floor_group_t groups[GROUPS];
    uint32_t group_count;
    bp_property_t mass;
    float *values;
    uint32_t *rows; /* references: the row of each entity */
    bp_ref_t *refs;
} look_up_t;

/* Copy from the world where each entity is. */
static void mirror(look_up_t *s)
{
    bp_run_t run;
    uint32_t cursor = 0;
    s->group_count = 0;
    while (worlds_next_run(s->w.world, s->w.component, &cursor, &run) != 0) {
        uint32_t group = s->group_count++;
        s->groups[group].mass = run.columns[BP_POINT_MASS_MASS];
        for (uint32_t row = 0; row < run.count; row++)
            s->records[bp_entity_index(run.entities[row])] =
                (floor_record_t){bp_entity_generation(run.entities[row]), group, row};
    }
}

static void resolve(look_up_t *s)
{
    worlds_must(s->w.host,
                s->w.api->property->resolve(s->w.world, s->entities[0], BP_POINT_MASS, "mass", &s->mass),
                "resolving mass");
}

static look_up_t *begin(uint32_t size)
{
    look_up_t *s = worlds_memory(1, sizeof *s);
    s->size = size;
    worlds_create(&s->w, KINDS);
    s->entities = worlds_entities(&s->w, size);
    s->records = worlds_memory(size, sizeof *s->records);
    s->values = worlds_memory(size, sizeof *s->values);
    resolve(s);
    for (uint32_t i = 0; i < size; i++)
        s->values[i] = (float)(i % 1000);
    worlds_must(s->w.host,
                s->w.api->property->set(s->w.world, &s->mass, s->entities, size, s->values, sizeof(float)),
                "setting masses");
    return s;
}

static void *setup(uint32_t size)
{
    look_up_t *s = begin(size);
    mirror(s);
    worlds_shuffle(s->entities, size, 1);
    return s;
}

/* Each of four further components goes to a random half of the entities. */
static void *setup_mixed(uint32_t size)
{
    look_up_t *s = begin(size);
    char name[] = "c0";
    for (uint32_t k = 0; k < KINDS; k++) {
        name[1] = (char)('0' + k);
        worlds_shuffle(s->entities, size, k + 10);
        worlds_must(s->w.host,
                    s->w.api->world->add(s->w.world, worlds_key(&s->w, name), s->entities, size / 2),
                    "adding components");
    }
    mirror(s);
    worlds_shuffle(s->entities, size, 1);
    return s;
}

static void *setup_references(uint32_t size)
{
    look_up_t *s = setup(size);
    s->refs = worlds_memory(size, sizeof *s->refs);
    s->rows = worlds_memory(size, sizeof *s->rows);
    for (uint32_t i = 0; i < size; i++) {
        s->refs[i] = (bp_ref_t){.entity = s->entities[i], .field = s->w.key << 8 | BP_POINT_MASS_MASS};
        if (bp_ref_get(s->w.api->world, s->w.world, &s->refs[i]) == NULL)
            worlds_must(s->w.host, BP_ERROR_NOT_FOUND, "resolving a reference");
        s->rows[i] = s->records[bp_entity_index(s->entities[i])].row;
    }
    return s;
}

static void teardown(void *state)
{
    look_up_t *s = state;
    worlds_destroy(&s->w);
    free(s->entities);
    free(s->records);
    free(s->values);
    free(s->rows);
    free(s->refs);
    free(s);
}

/* --- sides -------------------------------------------------------------------------------------------- */

static void loop(void *state)
{
    look_up_t *s = state;
    measure_keep(floor_look_up(s->records, s->groups, s->entities, s->size, s->values));
}

static void by_batch(void *state)
{
    look_up_t *s = state;
    worlds_must(s->w.host,
                s->w.api->property->get(s->w.world, &s->mass, s->entities, s->size, s->values, sizeof(float)),
                "getting masses");
}

static void one_by_one(void *state)
{
    look_up_t *s = state;
    worlds_must(s->w.host,
                worlds_get_singly(s->w.api->property, s->w.world, &s->mass, s->entities, s->size, s->values),
                "getting masses");
}

static void inline_cells(void *state)
{
    look_up_t *s = state;
    worlds_must(s->w.host,
                worlds_get_inline(s->w.api->property, s->w.world, &s->mass, s->entities, s->size, s->values),
                "getting masses");
}

static void indexed(void *state)
{
    look_up_t *s = state;
    measure_keep((double)floor_indexed(s->groups[0].mass, s->rows, s->size));
}

static float sum_references(const bp_world_api *api, bp_world_o *world, bp_ref_t *refs, uint32_t count)
{
    float sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += *(const float *)bp_ref_get(api, world, &refs[i]);
    return sum;
}

static void referenced(void *state)
{
    look_up_t *s = state;
    measure_keep((double)sum_references(s->w.api->world, s->w.world, s->refs, s->size));
}

const group_t group_look_up = {
    .name = "look_up",
    .sizes = bench_wide_sizes,
    .takes_long = true,
    .setup = setup,
    .teardown = teardown,
    .sides = {
        {.name = "loop", .run = loop},
        {.name = "by_batch", .floor = "loop", .run = by_batch, .bound = AT_MOST_TIMES_FROM(0.7, 1000000)},
        {.name = "one_by_one", .floor = "loop", .run = one_by_one, .bound = AT_MOST_TIMES(1.2)},
        {.name = "inline", .floor = "loop", .run = inline_cells, .bound = AT_MOST_TIMES(1.2)},
    },
};

const group_t group_look_up_mixed = {
    .name = "look_up_mixed",
    .setup = setup_mixed,
    .teardown = teardown,
    .sides = {
        {.name = "loop", .run = loop},
        {.name = "by_batch", .floor = "loop", .run = by_batch},
        {.name = "one_by_one", .floor = "loop", .run = one_by_one},
        {.name = "inline", .floor = "loop", .run = inline_cells},
    },
};

const group_t group_references = {
    .name = "reference",
    .setup = setup_references,
    .teardown = teardown,
    .sides = {
        {.name = "indexed_load", .run = indexed},
        {.name = "revalidated", .floor = "indexed_load", .run = referenced, .bound = AT_MOST_TIMES(2)},
    },
};
