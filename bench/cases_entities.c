/* cases_entities.c - ids alone: entities that have no components.
 *
 * `fresh` is a host that has had no entity before; `recycled` one in which every index has been used, so
 * that each creation takes one from the queue. Destruction is measured in the order of creation and in a
 * random one, and in a host that has a world, which has to be asked about each of the dead.
 */
#include "cases.h"

#include "floors.h"
#include "worlds.h"

#include <stdlib.h>
#include <string.h>

enum { SPARE = 2048 }; /* more than the indices that wait before one is reused */

typedef struct entities_bench_t {
    bench_world_t w;
    uint32_t size;
    bp_entity_t *ids, *own_ids; /* the engine's, the floor's */
    uint32_t *order;
    floor_entities_t own;
    uint8_t *flags;
} entities_bench_t;

static entities_bench_t *begin(uint32_t size)
{
    entities_bench_t *s = worlds_memory(1, sizeof *s);
    s->size = size;
    s->own.capacity = size + SPARE;
    s->own.generations = worlds_memory(s->own.capacity, sizeof(uint32_t));
    s->own.ring = worlds_memory(s->own.capacity, sizeof(uint32_t));
    s->ids = worlds_memory(size + SPARE, sizeof *s->ids);
    s->own_ids = worlds_memory(size + SPARE, sizeof *s->own_ids);
    s->flags = worlds_memory(size + SPARE, 1);
    return s;
}

static void end(void *state)
{
    entities_bench_t *s = state;
    worlds_destroy(&s->w);
    free(s->own.generations);
    free(s->own.ring);
    free(s->ids);
    free(s->own_ids);
    free(s->order);
    free(s->flags);
    free(s);
}

/* --- creation in a fresh host ------------------------------------------------------------------------- */

static void *setup_fresh(uint32_t size)
{
    entities_bench_t *s = begin(size);
    worlds_create(&s->w, 0);
    return s;
}

static void fresh_host(void *state)
{
    entities_bench_t *s = state;
    worlds_destroy(&s->w);
    worlds_create(&s->w, 0);
}

static void own_fresh(void *state)
{
    entities_bench_t *s = state;
    s->own.bound = 0;
}

static void create_by_count(void *state)
{
    entities_bench_t *s = state;
    worlds_must(s->w.host, s->w.api->entity->create(s->w.host, s->ids, s->size), "creating entities");
}

static void create_singly(void *state)
{
    entities_bench_t *s = state;
    const bp_entity_api *entity = s->w.api->entity;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->size; i++)
        result |= entity->create(s->w.host, &s->ids[i], 1);
    worlds_must(s->w.host, result, "creating entities");
}

static void loop_create_fresh(void *state)
{
    entities_bench_t *s = state;
    floor_create_fresh(&s->own, s->own_ids, s->size);
}

const group_t group_create_fresh = {
    .name = "entity/create_fresh",
    .setup = setup_fresh,
    .teardown = end,
    .sides = {
        {.name = "loop", .prepare = own_fresh, .run = loop_create_fresh},
        {.name = "by_count", .floor = "loop", .prepare = fresh_host, .run = create_by_count,
         .bound = AT_MOST(3)},
        {.name = "one_by_one", .floor = "loop", .prepare = fresh_host, .run = create_singly,
         .bound = AT_MOST(8)},
    },
};

/* --- creation where indices are recycled, and destruction --------------------------------------------- */

static void *setup_recycled(uint32_t size)
{
    entities_bench_t *s = begin(size);
    worlds_create(&s->w, 0);
    /* All indices used once, the spare ones waiting. */
    worlds_must(s->w.host, s->w.api->entity->create(s->w.host, s->ids, size + SPARE), "creating entities");
    s->w.api->entity->destroy(s->w.host, s->ids + size, SPARE);
    floor_create_fresh(&s->own, s->own_ids, size + SPARE);
    for (uint32_t i = 0; i < size + SPARE; i++)
        s->own.generations[i] = 1;
    floor_destroy(&s->own, s->own_ids + size, SPARE);
    return s;
}

static void destroy_by_count(void *state)
{
    entities_bench_t *s = state;
    measure_keep(s->w.api->entity->destroy(s->w.host, s->ids, s->size));
}

static void destroy_singly(void *state)
{
    entities_bench_t *s = state;
    uint32_t died = 0;
    for (uint32_t i = 0; i < s->size; i++)
        died += s->w.api->entity->destroy(s->w.host, &s->ids[i], 1);
    measure_keep(died);
}

static void loop_create_recycled(void *state)
{
    entities_bench_t *s = state;
    floor_create_recycled(&s->own, s->own_ids, s->size);
}

static void loop_destroy(void *state)
{
    entities_bench_t *s = state;
    floor_destroy(&s->own, s->own_ids, s->size);
}

const group_t group_create_recycled = {
    .name = "entity/create_recycled",
    .setup = setup_recycled,
    .teardown = end,
    .sides = {
        {.name = "loop", .prepare = loop_destroy, .run = loop_create_recycled},
        {.name = "by_count", .floor = "loop", .prepare = destroy_by_count, .run = create_by_count,
         .bound = AT_MOST(3)},
        {.name = "one_by_one", .floor = "loop", .prepare = destroy_by_count, .run = create_singly,
         .bound = AT_MOST(8)},
    },
};

/* Before a destruction is measured: bring back as many as the last one has ended. */
static void revive(void *state)
{
    entities_bench_t *s = state;
    if (s->w.api->entity->alive(s->w.host, s->ids, s->size, NULL) == 0)
        create_by_count(s);
}

static void loop_revive(void *state)
{
    entities_bench_t *s = state;
    if (s->own.generations[bp_entity_index(s->own_ids[0])] != bp_entity_generation(s->own_ids[0]))
        loop_create_recycled(s);
}

/* Shuffled anew each time: indices come back in the order in which they went. */
static void revive_shuffled(void *state)
{
    entities_bench_t *s = state;
    revive(s);
    worlds_shuffle(s->ids, s->size, 1);
}

static void loop_revive_shuffled(void *state)
{
    entities_bench_t *s = state;
    loop_revive(s);
    worlds_shuffle(s->own_ids, s->size, 1);
}

const group_t group_destroy = {
    .name = "entity/destroy",
    .setup = setup_recycled,
    .teardown = end,
    .sides = {
        {.name = "loop", .prepare = loop_revive, .run = loop_destroy},
        {.name = "by_count", .floor = "loop", .prepare = revive, .run = destroy_by_count,
         .bound = AT_MOST(8)},
        {.name = "one_by_one", .floor = "loop", .prepare = revive, .run = destroy_singly},
    },
};

const group_t group_destroy_shuffled = {
    .name = "entity/destroy_shuffled",
    .setup = setup_recycled,
    .teardown = end,
    .sides = {
        {.name = "loop", .prepare = loop_revive_shuffled, .run = loop_destroy},
        {.name = "by_count", .floor = "loop", .prepare = revive_shuffled, .run = destroy_by_count},
    },
};

/* --- alive -------------------------------------------------------------------------------------------- */

/* Every second handle, in random order, is that of a dead entity. */
static void *setup_alive(uint32_t size)
{
    entities_bench_t *s = begin(size);
    worlds_create(&s->w, 0);
    const bp_entity_api *entity = s->w.api->entity;
    worlds_must(s->w.host, entity->create(s->w.host, s->ids, size), "creating entities");
    worlds_shuffle(s->ids, size, 1);
    entity->destroy(s->w.host, s->ids, size / 2);
    worlds_shuffle(s->ids, size, 2);
    for (uint32_t i = 0; i < size; i++)
        s->own.generations[i] = bp_entity_generation(entity->at(s->w.host, i));
    return s;
}

static void alive_by_batch(void *state)
{
    entities_bench_t *s = state;
    measure_keep(s->w.api->entity->alive(s->w.host, s->ids, s->size, s->flags));
}

static void alive_singly(void *state)
{
    entities_bench_t *s = state;
    const bp_entity_api *entity = s->w.api->entity;
    uint32_t living = 0;
    for (uint32_t i = 0; i < s->size; i++)
        living += entity->alive(s->w.host, &s->ids[i], 1, NULL);
    measure_keep(living);
}

static void loop_alive(void *state)
{
    entities_bench_t *s = state;
    measure_keep(floor_alive(s->own.generations, s->ids, s->size, s->flags));
}

const group_t group_alive = {
    .name = "entity/alive",
    .setup = setup_alive,
    .teardown = end,
    .sides = {
        {.name = "loop", .run = loop_alive},
        {.name = "by_batch", .floor = "loop", .run = alive_by_batch, .bound = AT_MOST_TIMES(2)},
        {.name = "one_by_one", .floor = "loop", .run = alive_singly},
    },
};
