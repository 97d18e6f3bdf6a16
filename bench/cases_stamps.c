/* cases_stamps.c - the cost of change stamps in a step, and the time to find the changes.
 *
 * Two worlds of one host have as many point masses; in one of the worlds changes are asked for. The search asks for one
 * field of a run of which one block in a thousand has been written since.
 */
#include "cases.h"

#include "worlds.h"

#include <bp_changes.h>
#include <components/point_mass.h>
#include <stdlib.h>

typedef struct stamps_t {
    bench_world_t w;
    bp_world_o *asked;
    const bp_changes_api *changes;
    uint32_t key, prototype; /* in the world where changes are asked for */
    bp_entity_t *entities;
    uint32_t size;
    uint64_t since, found;
} stamps_t;

static void *setup(uint32_t size)
{
    stamps_t *s = worlds_memory(1, sizeof *s);
    worlds_create(&s->w, 0);
    const bp_world_api *api = s->w.api->world;
    s->size = size;
    s->entities = worlds_memory(size, sizeof *s->entities);
    worlds_must(s->w.host, api->create(s->w.world, s->w.prototype, s->entities, size), "entities");
    s->asked = bp_world_create(s->w.host, &(bp_world_desc_t){.name = "asked", .step_rate = 60});
    worlds_must(s->w.host, s->asked == NULL ? BP_ERROR_MEMORY : BP_OK, "a world");
    worlds_must(s->w.host, bp_world_use_component(s->asked, "point_mass"), "a component");
    uint32_t component = api->component(s->asked, "point_mass");
    worlds_must(s->w.host, api->key(s->asked, component, 0, &s->key), "a key");
    worlds_must(s->w.host, api->prototype(s->asked, &s->key, 1, &s->prototype), "a prototype");
    worlds_must(s->w.host, api->create(s->asked, s->prototype, s->entities, size), "entities");
    s->changes = s->w.api->registry->find(s->w.host, BP_CHANGES_API, 1);
    worlds_must(s->w.host, s->changes->keep(api->manager(s->asked, component)), "stamps");
    return s;
}

static void teardown(void *state)
{
    stamps_t *s = state;
    free(s->entities);
    worlds_destroy(&s->w);
    free(s);
}

static void step_plain(void *state)
{
    stamps_t *s = state;
    worlds_must(s->w.host, bp_world_step(s->w.world), "a step");
}

static void step_asked(void *state)
{
    stamps_t *s = state;
    worlds_must(s->w.host, bp_world_step(s->asked), "a step");
}

const group_t group_stamps_step = {
    .name = "stamps_step",
    .setup = setup,
    .teardown = teardown,
    .sides = {
        {.name = "nobody_asks", .run = step_plain, .warm = true},
        {.name = "somebody_asks", .floor = "nobody_asks", .run = step_asked, .warm = true,
         .bound = AT_MOST_TIMES_FROM(1.01, 100000)},
    },
};

/* Write one block in a thousand. */
static void *setup_search(uint32_t size)
{
    stamps_t *s = setup(size);
    float mass = 2;
    s->since = s->changes->look(s->asked);
    for (uint32_t i = 0; i < size; i += 1000 * BP_STAMP_ROWS)
        worlds_must(s->w.host,
                    s->w.api->property->set_named(s->asked, s->entities[i], "point_mass", "mass", BP_F32, &mass),
                    "a set");
    return s;
}

static void search(void *state)
{
    stamps_t *s = state;
    for (uint32_t row = 0, count;
         (count = s->changes->rows(s->asked, s->prototype, s->key, BP_POINT_MASS_MASS, s->since, &row)) > 0;
         row += count)
        s->found += count;
}

const group_t group_stamps_search = {
    .name = "stamps_search",
    .setup = setup_search,
    .teardown = teardown,
    .sides = {{.name = "changed_since", .run = search, .bound = AT_MOST_AT(20000, 1000000)}},
    .whole = true,
};
