/* cases_property.c - one float, by two names, by a resolved key, and by column.
 *
 * Entities are visited in the order of their rows; look-ups in random order are in cases_look_up.c. The
 * property is `mass`, which has a limit: setting it includes the check of every value.
 */
#include "cases.h"

#include "floors.h"
#include "worlds.h"

#include <components/point_mass.h>
#include <stdlib.h>

typedef struct property_bench_t {
    bench_world_t w;
    uint32_t size;
    bp_entity_t *entities;
    bp_property_t mass;
    float *values, *column;
} property_bench_t;

static void *setup(uint32_t size)
{
    property_bench_t *s = worlds_memory(1, sizeof *s);
    s->size = size;
    worlds_create(&s->w, 0);
    s->entities = worlds_entities(&s->w, size);
    s->values = worlds_memory(size, sizeof *s->values);
    bp_run_t run;
    uint32_t cursor = 0;
    worlds_next_run(s->w.world, s->w.component, &cursor, &run);
    s->column = run.columns[BP_POINT_MASS_MASS];
    worlds_must(s->w.host,
                s->w.api->property->resolve(s->w.world, s->entities[0], BP_POINT_MASS, "mass", &s->mass),
                "resolving mass");
    return s;
}

static void teardown(void *state)
{
    property_bench_t *s = state;
    worlds_destroy(&s->w);
    free(s->entities);
    free(s->values);
    free(s);
}

static void loop(void *state)
{
    property_bench_t *s = state;
    floor_copy(s->values, s->column, s->size);
}

static void get_named(void *state)
{
    property_bench_t *s = state;
    const bp_property_api *property = s->w.api->property;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->size; i++)
        result |=
            property->get_named(s->w.world, s->entities[i], BP_POINT_MASS, "mass", BP_F32, &s->values[i]);
    worlds_must(s->w.host, result, "getting by name");
}

static void set_named(void *state)
{
    property_bench_t *s = state;
    const bp_property_api *property = s->w.api->property;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->size; i++)
        result |=
            property->set_named(s->w.world, s->entities[i], BP_POINT_MASS, "mass", BP_F32, &s->values[i]);
    worlds_must(s->w.host, result, "setting by name");
}

static void get_by_key(void *state)
{
    property_bench_t *s = state;
    worlds_must(s->w.host,
                worlds_get_singly(s->w.api->property, s->w.world, &s->mass, s->entities, s->size, s->values),
                "getting by key");
}

static void get_inline(void *state)
{
    property_bench_t *s = state;
    worlds_must(s->w.host,
                worlds_get_inline(s->w.api->property, s->w.world, &s->mass, s->entities, s->size, s->values),
                "getting by key");
}

static bp_result_t set_singly(const bp_property_api *property, bp_world_o *world, bp_property_t *mass,
                              const bp_entity_t *entities, uint32_t count, const float *values)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < count; i++)
        result |= property->set(world, mass, &entities[i], 1, &values[i], sizeof(float));
    return result;
}

static void set_by_key(void *state)
{
    property_bench_t *s = state;
    worlds_must(s->w.host,
                set_singly(s->w.api->property, s->w.world, &s->mass, s->entities, s->size, s->values),
                "setting by key");
}

static void get_column(void *state)
{
    property_bench_t *s = state;
    worlds_must(s->w.host,
                s->w.api->property->get(s->w.world, &s->mass, s->entities, s->size, s->values, sizeof(float)),
                "getting a column");
}

static void set_column(void *state)
{
    property_bench_t *s = state;
    worlds_must(s->w.host,
                s->w.api->property->set(s->w.world, &s->mass, s->entities, s->size, s->values, sizeof(float)),
                "setting a column");
}

const group_t group_property = {
    .name = "property",
    .setup = setup,
    .teardown = teardown,
    .sides = {
        {.name = "loop", .run = loop},
        {.name = "get_by_names", .floor = "loop", .run = get_named, .bound = AT_MOST(20)},
        {.name = "set_by_names", .floor = "loop", .run = set_named, .bound = AT_MOST(20)},
        {.name = "get_by_key", .floor = "loop", .run = get_by_key, .bound = AT_MOST(4)},
        {.name = "get_by_key_inline", .floor = "loop", .run = get_inline, .bound = AT_MOST(4)},
        {.name = "set_by_key", .floor = "loop", .run = set_by_key, .bound = AT_MOST(4)},
        {.name = "get_column", .floor = "loop", .run = get_column, .bound = AT_MOST_TO(1.5, 100000)},
        {.name = "set_column", .floor = "loop", .run = set_column, .bound = AT_MOST_TO(1.5, 100000)},
    },
};
