/* cases_change.c - a second component that comes and goes on entities that have one of 40 bytes.
 *
 * One item is a pair: add and remove. One by one each entity gets and loses the component at once; by batch all get it
 * and then all lose it, so that every row moves to another prototype and back. Floors are two hand-written groups of
 * arrays with swap-erase: all there and all back (`loop`), each there and back (`loop_pairs`), and all with what is
 * needed fetched ahead, as the batches do (`loop_ahead`).
 *
 * In order means in order of the rows. A pass leaves rows in the order in which it visits entities, so for `shuffled`
 * entities are shuffled anew before each, untimed: else every pass but the first would be in order.
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
    uint64_t seed;
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

static void shuffle(void *state)
{
    change_t *s = state;
    worlds_shuffle(s->entities, s->size, ++s->seed);
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

static void loop_pairs(void *state)
{
    change_t *s = state;
    floor_move_singly(s->records, s->groups, s->entities, s->size);
}

static void loop_ahead(void *state)
{
    change_t *s = state;
    floor_move_ahead(s->records, s->groups, 1, s->entities, s->size);
    floor_move_ahead(s->records, s->groups, 0, s->entities, s->size);
}

static void one_by_one(void *state)
{
    change_t *s = state;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->size; i++) {
        result |= worlds_add(&s->w, s->second, &s->entities[i], 1);
        result |= worlds_remove(&s->w, s->second, &s->entities[i], 1);
    }
    worlds_must(s->w.host, result, "adding and removing");
}

static void by_batch(void *state)
{
    change_t *s = state;
    worlds_must(s->w.host, worlds_add(&s->w, s->second, s->entities, s->size), "adding");
    worlds_must(s->w.host, worlds_remove(&s->w, s->second, s->entities, s->size), "removing");
}

const group_t group_change = {
    .name = "add_remove",
    .sizes = bench_curve_sizes,
    .setup = setup,
    .teardown = teardown,
    .takes_long = true,
    .sides = {
        {.name = "loop", .run = loop},
        {.name = "loop_pairs", .run = loop_pairs},
        {.name = "one_by_one", .floor = "loop_pairs", .run = one_by_one, .bound = AT_MOST(17)},
        {.name = "by_batch", .floor = "loop", .run = by_batch, .bound = AT_MOST(20)},
    },
};

const group_t group_change_shuffled = {
    .name = "add_remove_shuffled",
    .sizes = bench_curve_sizes,
    .setup = setup,
    .teardown = teardown,
    .takes_long = true,
    .sides = {
        {.name = "loop", .prepare = shuffle, .run = loop, .warm = true},
        {.name = "loop_pairs", .prepare = shuffle, .run = loop_pairs, .warm = true},
        {.name = "loop_ahead", .prepare = shuffle, .run = loop_ahead, .warm = true},
        {.name = "one_by_one", .floor = "loop_pairs", .prepare = shuffle, .run = one_by_one, .warm = true,
         .bound = AT_MOST_TO(17, 100000), .more = {AT_MOST_TIMES_FROM(1, 1000000)}},
        {.name = "by_batch", .floor = "loop_ahead", .prepare = shuffle, .run = by_batch, .warm = true,
         .bound = AT_MOST_TO(12, 10000), .more = {AT_MOST_TO(15, 100000), AT_MOST_TIMES_FROM(1.5, 1000000)}},
    },
};
