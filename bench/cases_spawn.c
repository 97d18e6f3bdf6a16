/* cases_spawn.c - entities that have a point_mass: into fresh memory, and into memory that has been
 * touched.
 *
 * Into fresh memory nothing can be faster than the pages themselves: the floor writes every byte of as many
 * bytes as the world then holds, in blocks as large as the world's, which also come straight from the system. Into
 * touched memory there are two ways: a host on an allocator that hands out memory touched before (`arena`),
 * and a world in which as many entities were created and ended before (`recycled`): their rows are still
 * there and their indices come again.
 */
#include "cases.h"

#include "os/os.h"
#include "floors.h"
#include "worlds.h"

#include <components/point_mass.h>
#include <stdlib.h>
#include <string.h>

/* --- an allocator over one block that was touched ----------------------------------------------------- */

typedef struct arena_t {
    char *start;
    size_t size, used;
    bp_allocator_i allocator;
} arena_t;

static void *arena_resize(void *context, void *old, size_t old_size, size_t new_size)
{
    arena_t *arena = context;
    size_t whole = (new_size + 63) / 64 * 64;
    if (new_size == 0 || whole > arena->size - arena->used)
        return NULL;
    char *block = arena->start + arena->used;
    arena->used += whole;
    if (old != NULL)
        memcpy(block, old, old_size < new_size ? old_size : new_size);
    return block;
}

static void arena_init(arena_t *arena, size_t size)
{
    arena->size = size;
    arena->start = os_pages_alloc(size);
    worlds_must(NULL, arena->start == NULL ? BP_ERROR_MEMORY : BP_OK, "allocating an arena");
    memset(arena->start, 1, size);
    arena->allocator = (bp_allocator_i){.context = arena, .resize = arena_resize};
}

/* --- the state ---------------------------------------------------------------------------------------- */

enum { SPARE = 2048 };

typedef struct spawn_t {
    bench_world_t fresh, recycled, on_arena;
    arena_t arena;
    uint32_t size;
    bp_entity_t *ids, *recycled_ids;
    void *pages;
    size_t bytes; /* bytes that a world of `size` entities holds */
    floor_record_t *records;
    floor_group_t group;
} spawn_t;

static void spawn(bench_world_t *w, bp_entity_t *ids, uint32_t count)
{
    worlds_must(w->host, w->api->world->create(w->world, w->prototype, ids, count), "creating entities");
}

static void *setup(uint32_t size)
{
    spawn_t *s = worlds_memory(1, sizeof *s);
    s->size = size;
    s->ids = worlds_memory(size, sizeof *s->ids);
    s->recycled_ids = worlds_memory(size + SPARE, sizeof *s->ids);
    worlds_create(&s->fresh, 0);
    size_t before = worlds_world_bytes(&s->fresh);
    spawn(&s->fresh, s->ids, size);
    s->bytes = worlds_world_bytes(&s->fresh) - before;
    worlds_create(&s->recycled, 0);
    spawn(&s->recycled, s->recycled_ids, size + SPARE);
    s->recycled.api->entity->destroy(s->recycled.host, s->recycled_ids + size, SPARE);
    arena_init(&s->arena, (size_t)size * 128 + (4u << 20));
    worlds_create_with(&s->on_arena, 0, 0, &s->arena.allocator);
    worlds_group(&s->group, size + SPARE);
    s->records = worlds_memory(size + SPARE, sizeof *s->records);
    return s;
}

static void teardown(void *state)
{
    spawn_t *s = state;
    worlds_destroy(&s->fresh);
    worlds_destroy(&s->recycled);
    worlds_destroy(&s->on_arena);
    os_pages_free(s->arena.start, s->arena.size);
    os_pages_free(s->pages, s->bytes);
    worlds_free_group(&s->group);
    free(s->records);
    free(s->ids);
    free(s->recycled_ids);
    free(s);
}

/* --- fresh memory ------------------------------------------------------------------------------------- */

static void fresh_pages(void *state)
{
    spawn_t *s = state;
    os_pages_free(s->pages, s->bytes);
    s->pages = os_pages_alloc(s->bytes);
    worlds_must(NULL, s->pages == NULL ? BP_ERROR_MEMORY : BP_OK, "allocating pages");
}

static void touch(void *state)
{
    spawn_t *s = state;
    floor_touch(s->pages, s->bytes);
}

static void fresh_world(void *state)
{
    spawn_t *s = state;
    worlds_destroy(&s->fresh);
    worlds_create(&s->fresh, 0);
    machine_release(); /* else small worlds would get the touched memory of the world before */
}

static void spawn_fresh(void *state)
{
    spawn_t *s = state;
    spawn(&s->fresh, s->ids, s->size);
}

static void spawn_fresh_singly(void *state)
{
    spawn_t *s = state;
    for (uint32_t i = 0; i < s->size; i++)
        spawn(&s->fresh, &s->ids[i], 1);
}

const group_t group_spawn_fresh = {
    .name = "spawn/fresh",
    .sizes = bench_wide_sizes,
    .takes_long = true,
    .setup = setup,
    .teardown = teardown,
    .sides = {
        {.name = "first_touch", .prepare = fresh_pages, .run = touch},
        {.name = "by_count", .floor = "first_touch", .prepare = fresh_world, .run = spawn_fresh,
         .bound = AT_MOST_TIMES(1.3)},
        {.name = "one_by_one", .floor = "first_touch", .prepare = fresh_world, .run = spawn_fresh_singly},
    },
};

/* --- touched memory ----------------------------------------------------------------------------------- */

static void empty_group(void *state)
{
    spawn_t *s = state;
    s->group.count = 0;
}

static void append(void *state)
{
    spawn_t *s = state;
    floor_append(s->records, &s->group, 0, s->recycled_ids, s->size);
}

static void empty_arena(void *state)
{
    spawn_t *s = state;
    worlds_destroy(&s->on_arena);
    s->arena.used = 0;
    worlds_create_with(&s->on_arena, 0, 0, &s->arena.allocator);
}

static void spawn_on_arena(void *state)
{
    spawn_t *s = state;
    spawn(&s->on_arena, s->ids, s->size);
}

/* Rows are removed first, then ids: rows that are removed go at once, while the rows of the dead would wait for
 * collection. */
static void end_all(void *state)
{
    spawn_t *s = state;
    bench_world_t *w = &s->recycled;
    worlds_must(w->host, w->api->world->remove(w->world, w->key, s->recycled_ids, s->size),
                "removing components");
    w->api->entity->destroy(w->host, s->recycled_ids, s->size);
}

static void spawn_recycled(void *state)
{
    spawn_t *s = state;
    spawn(&s->recycled, s->recycled_ids, s->size);
}

static void spawn_recycled_singly(void *state)
{
    spawn_t *s = state;
    for (uint32_t i = 0; i < s->size; i++)
        spawn(&s->recycled, &s->recycled_ids[i], 1);
}

const group_t group_spawn_touched = {
    .name = "spawn/touched",
    .setup = setup,
    .teardown = teardown,
    .sides = {
        {.name = "loop", .prepare = empty_group, .run = append},
        {.name = "arena_by_count", .floor = "loop", .prepare = empty_arena, .run = spawn_on_arena,
         .bound = AT_MOST(12)},
        {.name = "recycled_by_count", .floor = "loop", .prepare = end_all, .run = spawn_recycled,
         .bound = AT_MOST(12)},
        {.name = "recycled_one_by_one", .floor = "loop", .prepare = end_all, .run = spawn_recycled_singly,
         .bound = AT_MOST(20)},
    },
};
