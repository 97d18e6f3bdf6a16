/* cases_change.c - a second component that comes and goes on entities that have one of 40 bytes.
 *
 * One item is a pair: add and remove. Singly each entity gets and loses it at once; by batch all get it and
 * then all lose it, so that every row moves to another prototype and back. The floor does the latter with
 * two hand-written groups of arrays and swap-erase. In order means in order of the rows at the beginning.
 */
#include "cases.h"

#include "floors.h"
#include "worlds.h"

#include <stdlib.h>
#include <string.h>

typedef struct change_t {
    bench_world_t w;
    uint32_t size, second;
    bp_entity_t *entities;
    floor_record_t *records;
    floor_group_t groups[2];
} change_t;

static void *setup(uint32_t size)
{
    change_t *s = worlds_memory(1, sizeof *s);
    s->size = size;
    worlds_create(&s->w, 1);
    s->entities = worlds_entities(&s->w, size);
    s->second = worlds_key(&s->w, "c0");
    s->records = worlds_memory(size, sizeof *s->records);
    worlds_group(&s->groups[0], size);
    worlds_group(&s->groups[1], size);
    s->groups[1].second = worlds_memory(size, sizeof(float));
    floor_append(s->records, s->groups, 0, s->entities, size);
    return s;
}

static void *setup_shuffled(uint32_t size)
{
    change_t *s = setup(size);
    worlds_shuffle(s->entities, size, 1);
    return s;
}

static void teardown(void *state)
{
    change_t *s = state;
    worlds_destroy(&s->w);
    for (int g = 0; g < 2; g++)
        worlds_free_group(&s->groups[g]);
    free(s->entities);
    free(s->records);
    free(s);
}

static void loop(void *state)
{
    change_t *s = state;
    floor_move(s->records, s->groups, 1, s->entities, s->size);
    floor_move(s->records, s->groups, 0, s->entities, s->size);
}

static void one_by_one(void *state)
{
    change_t *s = state;
    const bp_world_api *world = s->w.api->world;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->size; i++) {
        result |= world->add(s->w.world, s->second, &s->entities[i], 1);
        result |= world->remove(s->w.world, s->second, &s->entities[i], 1);
    }
    worlds_must(s->w.host, result, "adding and removing");
}

static void by_batch(void *state)
{
    change_t *s = state;
    const bp_world_api *world = s->w.api->world;
    worlds_must(s->w.host, world->add(s->w.world, s->second, s->entities, s->size), "adding");
    worlds_must(s->w.host, world->remove(s->w.world, s->second, s->entities, s->size), "removing");
}

const group_t group_change = {
    .name = "add_remove",
    .setup = setup,
    .teardown = teardown,
    .sides = {
        {.name = "loop", .run = loop},
        {.name = "one_by_one", .floor = "loop", .run = one_by_one, .bound = AT_MOST(40)},
        {.name = "by_batch", .floor = "loop", .run = by_batch, .bound = AT_MOST(20)},
    },
};

const group_t group_change_shuffled = {
    .name = "add_remove_shuffled",
    .setup = setup_shuffled,
    .teardown = teardown,
    .sides = {
        {.name = "loop", .run = loop},
        {.name = "one_by_one", .floor = "loop", .run = one_by_one, .bound = AT_MOST(40)},
        {.name = "by_batch", .floor = "loop", .run = by_batch, .bound = AT_MOST(20)},
    },
};
