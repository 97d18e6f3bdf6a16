/* cases_cycle.c - create, iterate, remove: the benchmarks of the source that builds an entity library step
 * by step.
 *
 * Entities have three components of one float; a system goes over all entities that have the three. The profiles say
 * how much else the world knows: A 32 component types and 16 systems, AA 128 and 32, AAA 512 and 64. The
 * other systems need components that no entity has. Creation is by prototype in bulk, and in the way of
 * the source: an empty entity, then one component after the other. Removal is destruction by count and as many steps as
 * are taken until nothing is left of the dead (at most one row in a hundred). Floors are three arrays of floats.
 *
 * Creation and removal have a world of their own with as many component types and no systems, because the work that
 * systems do in the steps of a removal is no part of the removal. As many entities again live there throughout, so that
 * the rows that are made and ended lie in memory that is touched.
 */
#include "cases.h"

#include "floors.h"
#include "worlds.h"

#include <stdlib.h>

typedef struct cycle_t {
    bench_world_t w, iterated; /* without systems, and with them */
    uint32_t size, keys[3], prototype;
    bp_entity_t *resident, *made;
    bool living; /* `made` are alive */
    float *arrays[3];
} cycle_t;

static void *setup_profile(uint32_t size, uint32_t components, uint32_t systems)
{
    static const char *const names[] = {"c0", "c4", "c8"};
    cycle_t *s = worlds_memory(1, sizeof *s);
    s->size = size;
    worlds_create(&s->w, components);
    worlds_create_with(&s->iterated, components, systems, NULL);
    s->resident = worlds_memory(size, sizeof *s->resident);
    s->made = worlds_memory(size, sizeof *s->made);
    for (uint32_t i = 0; i < 3; i++) {
        s->keys[i] = worlds_key(&s->w, names[i]);
        s->arrays[i] = worlds_memory(2 * size, sizeof(float));
    }
    uint32_t same = worlds_prototype(&s->iterated, "c0 c4 c8");
    worlds_must(s->iterated.host, worlds_make(&s->iterated, same, s->made, size), "creating entities");
    s->prototype = worlds_prototype(&s->w, "c0 c4 c8");
    worlds_must(s->w.host, worlds_make(&s->w, s->prototype, s->resident, size), "creating entities");
    return s;
}

static void *setup_a(uint32_t size)
{
    return setup_profile(size, 32, 16);
}

static void *setup_aa(uint32_t size)
{
    return setup_profile(size, 128, 32);
}

static void *setup_aaa(uint32_t size)
{
    return setup_profile(size, 512, 64);
}

static void teardown(void *state)
{
    cycle_t *s = state;
    worlds_destroy(&s->w);
    worlds_destroy(&s->iterated);
    for (uint32_t i = 0; i < 3; i++)
        free(s->arrays[i]);
    free(s->resident);
    free(s->made);
    free(s);
}

/* --- states between which the sides move -------------------------------------------------------------- */

static void have_none(void *state)
{
    cycle_t *s = state;
    if (s->living)
        s->w.api->entity->destroy(s->w.host, s->made, s->size);
    worlds_collect(&s->w);
    s->living = false;
}

static void create_by_count(void *state)
{
    cycle_t *s = state;
    worlds_must(s->w.host, s->w.api->world->create(s->w.world, s->prototype, s->made, s->size),
                "creating entities");
    s->living = true;
}

static void have_all(void *state)
{
    cycle_t *s = state;
    have_none(s);
    create_by_count(s);
}

/* --- sides -------------------------------------------------------------------------------------------- */

static void create_one_by_one(void *state)
{
    cycle_t *s = state;
    const bp_api_t *api = s->w.api;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->size; i++) {
        result |= api->entity->create(s->w.host, &s->made[i], 1);
        for (uint32_t k = 0; k < 3; k++)
            result |= api->world->add(s->w.world, s->keys[k], &s->made[i], 1);
    }
    worlds_must(s->w.host, result, "creating entities");
    s->living = true;
}

static void loop_create(void *state)
{
    cycle_t *s = state;
    for (uint32_t i = 0; i < 3; i++)
        floor_fill(s->arrays[i] + s->size, 0, s->size);
}

static void loop_iterate(void *state)
{
    cycle_t *s = state;
    floor_multiply_add(s->arrays[0], s->arrays[1], s->arrays[2], s->size);
}

static void iterate(void *state)
{
    cycle_t *s = state;
    worlds_step(&s->iterated);
}

static void remove_all(void *state)
{
    cycle_t *s = state;
    worlds_end(&s->w, s->made, s->size);
    measure_keep(worlds_collect(&s->w));
    s->living = false;
}

#define CYCLE_GROUP(profile, setup_profile)                                                          \
    {                                                                                                \
        .name = "cycle/" profile, .setup = setup_profile, .teardown = teardown, .takes_long = true,  \
        .sides = {                                                                                   \
            {.name = "loop_create", .run = loop_create},                                             \
            {.name = "create_by_count", FROM_NONE, .run = create_by_count},                          \
            {.name = "create_one_by_one", FROM_NONE, .run = create_one_by_one},                      \
            {.name = "remove", .prepare = have_all, .run = remove_all},                              \
            {.name = "loop_iterate", .run = loop_iterate},                                           \
            {.name = "iterate", .floor = "loop_iterate", .run = iterate},                            \
        }                                                                                            \
    }
#define FROM_NONE .floor = "loop_create", .prepare = have_none

const group_t group_cycle_a = CYCLE_GROUP("A", setup_a);
const group_t group_cycle_aa = CYCLE_GROUP("AA", setup_aa);
const group_t group_cycle_aaa = CYCLE_GROUP("AAA", setup_aaa);
