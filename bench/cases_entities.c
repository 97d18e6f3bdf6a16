/* cases_entities.c - entities that come, go and are asked about.
 *
 * First ids alone, without components. `fresh` is a host that has had no entity before; `recycled` one in which every
 * index has been used, so that each creation takes an index from the queue. Destruction is measured in the order of
 * creation and in a random one, and in a host that has a world, which has to be asked about each of the dead.
 *
 * Then with components: the rows of the dead have to be collected, and the time of collection counts: a destruction is
 * followed by as many steps of a world without systems as are taken until nothing is left of the dead (at most one row
 * in a hundred). `destroy_rows` ends all of a world, `destroy_half_rows` a random half of it; the floor swap-erases.
 * And entities that get three components one after the other.
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

/* Before a destruction is measured: create as many entities as the last destruction has ended. */
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

/* Shuffle anew each time, since indices come back in the order in which they went. */
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

static void alive_inline(void *state)
{
    entities_bench_t *s = state;
    bp_living_t who = bp_living_of(s->w.api->entity, s->w.host);
    uint32_t living = 0;
    for (uint32_t i = 0; i < s->size; i++)
        living += bp_is_alive(&who, s->ids[i]);
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
        {.name = "by_batch", .floor = "loop", .run = alive_by_batch, .bound = AT_MOST_TIMES(1.5)},
        {.name = "one_by_one", .floor = "loop", .run = alive_singly, .bound = AT_MOST_TO(1.3, 10000)},
        {.name = "inline", .floor = "loop", .run = alive_inline, .bound = AT_MOST_TO(1.3, 10000)},
    },
};

/* --- destruction of rows ------------------------------------------------------------------------------ */

typedef struct rows_t {
    bench_world_t w;
    uint32_t size, living_count; /* entities that are destroyed; entities that live at that time */
    bool dead, own_dead;
    bp_entity_t *living, *own_living;
    floor_entities_t ids;
    floor_record_t *records;
    floor_group_t group;
    uint64_t seed;
} rows_t;

static rows_t *begin_rows(uint32_t size, uint32_t living)
{
    rows_t *s = worlds_memory(1, sizeof *s);
    uint32_t room = living + SPARE;
    s->size = size;
    s->living_count = living;
    worlds_create(&s->w, 0);
    s->living = worlds_memory(living, sizeof *s->living);
    s->own_living = worlds_memory(room, sizeof *s->own_living);
    s->records = worlds_memory(room, sizeof *s->records);
    s->ids.generations = worlds_memory(room, sizeof(uint32_t));
    s->ids.ring = worlds_memory(room, sizeof(uint32_t));
    s->ids.capacity = room;
    worlds_group(&s->group, room);
    worlds_must(s->w.host, worlds_make(&s->w, s->w.prototype, s->living, living), "creating entities");
    floor_create_fresh(&s->ids, s->own_living, room);
    for (uint32_t i = 0; i < room; i++)
        s->ids.generations[i] = 1;
    floor_destroy(&s->ids, s->own_living + living, SPARE);
    floor_append(s->records, &s->group, 0, s->own_living, living);
    return s;
}

static void *setup_rows(uint32_t size)
{
    return begin_rows(size, size);
}

static void *setup_half_rows(uint32_t size)
{
    return begin_rows(size, 2 * size);
}

static void end_rows(void *state)
{
    rows_t *s = state;
    worlds_destroy(&s->w);
    worlds_free_group(&s->group);
    free(s->living);
    free(s->own_living);
    free(s->records);
    free(s->ids.generations);
    free(s->ids.ring);
    free(s);
}

static void revive_rows(void *state)
{
    rows_t *s = state;
    if (s->dead)
        worlds_must(s->w.host, worlds_make(&s->w, s->w.prototype, s->living, s->size), "creating entities");
    s->dead = false;
}

static void revive_shuffled_rows(void *state)
{
    rows_t *s = state;
    revive_rows(s);
    worlds_shuffle(s->living, s->living_count, ++s->seed);
}

static void revive_own_rows(void *state)
{
    rows_t *s = state;
    if (s->own_dead) {
        floor_create_recycled(&s->ids, s->own_living, s->size);
        floor_append(s->records, &s->group, 0, s->own_living, s->size);
    }
    s->own_dead = false;
}

static void revive_shuffled_own_rows(void *state)
{
    rows_t *s = state;
    revive_own_rows(s);
    worlds_shuffle(s->own_living, s->living_count, ++s->seed);
}

static void loop_destroy_rows(void *state)
{
    rows_t *s = state;
    measure_keep(floor_erase(s->records, &s->group, s->own_living, s->size));
    floor_destroy(&s->ids, s->own_living, s->size);
    s->own_dead = true;
}

static void destroy_rows(void *state)
{
    rows_t *s = state;
    worlds_end(&s->w, s->living, s->size);
    measure_keep(worlds_collect(&s->w));
    s->dead = true;
}

static void destroy_rows_singly(void *state)
{
    rows_t *s = state;
    for (uint32_t i = 0; i < s->size; i++)
        worlds_end(&s->w, &s->living[i], 1);
    measure_keep(worlds_collect(&s->w));
    s->dead = true;
}

const group_t group_destroy_rows = {
    .name = "entity/destroy_rows",
    .sizes = bench_wide_sizes,
    .setup = setup_rows,
    .teardown = end_rows,
    .takes_long = true,
    .sides = {
        {.name = "loop", .prepare = revive_own_rows, .run = loop_destroy_rows},
        {.name = "by_count", .floor = "loop", .prepare = revive_rows, .run = destroy_rows,
         .bound = AT_MOST_AT(16, 1000000)},
        {.name = "one_by_one", .floor = "loop", .prepare = revive_rows, .run = destroy_rows_singly},
    },
};

const group_t group_destroy_half_rows = {
    .name = "entity/destroy_half_rows",
    .setup = setup_half_rows,
    .teardown = end_rows,
    .takes_long = true,
    .sides = {
        {.name = "loop", .prepare = revive_shuffled_own_rows, .run = loop_destroy_rows},
        {.name = "by_count", .floor = "loop", .prepare = revive_shuffled_rows, .run = destroy_rows},
    },
};

/* --- an entity, and three components one after the other ---------------------------------------------- */

typedef struct three_t {
    bench_world_t w;
    uint32_t size, keys[3];
    bool living;
    bp_entity_t *made, *own_made;
    floor_entities_t ids;
    floor_record_t *records;
    float *columns[3];
} three_t;

static void *setup_three(uint32_t size)
{
    static const char *const names[] = {"c0", "c4", "c8"};
    three_t *s = worlds_memory(1, sizeof *s);
    s->size = size;
    worlds_create(&s->w, 12);
    s->made = worlds_memory(size, sizeof *s->made);
    s->own_made = worlds_memory(size, sizeof *s->own_made);
    s->records = worlds_memory(size, sizeof *s->records);
    for (uint32_t i = 0; i < 3; i++) {
        s->keys[i] = worlds_key(&s->w, names[i]);
        s->columns[i] = worlds_memory(size, sizeof(float));
    }
    return s;
}

static void teardown_three(void *state)
{
    three_t *s = state;
    worlds_destroy(&s->w);
    for (uint32_t i = 0; i < 3; i++)
        free(s->columns[i]);
    free(s->made);
    free(s->own_made);
    free(s->records);
    free(s);
}

static void none_of_three(void *state)
{
    three_t *s = state;
    if (s->living)
        worlds_end(&s->w, s->made, s->size);
    worlds_collect(&s->w);
    s->living = false;
}

static void no_own(void *state)
{
    three_t *s = state;
    s->ids.bound = 0;
}

static void loop_three(void *state)
{
    three_t *s = state;
    floor_create_three(&s->ids, s->records, s->columns, s->own_made, s->size);
}

static void create_add_three(void *state)
{
    three_t *s = state;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->size; i++) {
        result |= worlds_make_bare(&s->w, &s->made[i], 1);
        for (uint32_t k = 0; k < 3; k++)
            result |= worlds_add(&s->w, s->keys[k], &s->made[i], 1);
    }
    worlds_must(s->w.host, result, "creating entities");
    s->living = true;
}

const group_t group_create_add_three = {
    .name = "entity/create_add_three",
    .setup = setup_three,
    .teardown = teardown_three,
    .sides = {
        {.name = "loop", .prepare = no_own, .run = loop_three},
        {.name = "one_by_one", .floor = "loop", .prepare = none_of_three, .run = create_add_three,
         .bound = AT_MOST(33)},
    },
};
