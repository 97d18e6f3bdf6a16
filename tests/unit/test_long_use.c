/* test_long_use.c - what holds after hours: dead rows within bounds, memory given back, the same order of rows every
 *time.
 *
 * The bounds are those of docs/store.md: dead rows are at most a quarter of the living and 4,096 in any run at the end
 * of a step, while up to five per cent come and go in each; after mass death within 120 steps; below one per cent
 * within 600 steps without further deaths; a run of none but the dead is emptied at once; memory is given back to twice
 * what lives.
 */
#include "support.h"

#include "../suites.h"
#include "churn.h"
#include "inspect.h"
#include "store/store.h"
#include "zoo.h"

#include <stdlib.h>
#include <string.h>

#if defined(BACKPLANE_SANITIZED)
enum { SEEDS = 2 };
#else
enum { SEEDS = 4 };
#endif
enum { MOST = 120000, STEPS_TO_BOUND = 120, STEPS_TO_FEW = 600, STEPS_OF_A_WAVE = 5 };

static rig_t rig;
static bp_world_o *world;
static const bp_world_api *api;
static uint64_t random_state;
static bp_entity_t *living, *batch; /* MOST */
static uint32_t living_count;

static void nobody_lives(void)
{
    living = room_of(MOST * sizeof *living);
    batch = room_of(MOST * sizeof *batch);
    living_count = 0;
}

/* The default allocator: many entities, and pages that grow and shrink. */
static void begin(void)
{
    rig_init(&rig);
    rig.desc.allocator = NULL;
    rig_open(&rig);
    for (uint32_t i = 0; i < ZOO_PLUGINS; i++)
        WORKS(rig.host, bp_host_load_plugin(rig.host, zoo_plugins[i]->name, NULL, 0));
    world = rig_world(&rig, "main");
    api = rig.api->world;
    random_state = 5;
    nobody_lives();
}

static bp_world_o *plain_world(const char *name)
{
    bp_world_o *made = bp_world_create(rig.host, &(bp_world_desc_t){.name = name, .step_rate = 50});
    WORKS(rig.host, bp_world_use_component(made, "mark"));
    WORKS(rig.host, bp_world_use_component(made, "body"));
    return made;
}

/* The same with the components that a snapshot can be taken of. */
static void begin_plain(void)
{
    rig_init(&rig);
    rig.desc.allocator = NULL;
    rig_open(&rig);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "zoo", NULL, 0));
    world = plain_world("main");
    api = rig.api->world;
    nobody_lives();
}

static void end(void)
{
    check_host(rig.host);
    rig_close(&rig);
}

static void create(bp_world_o *in, uint32_t prototype, uint32_t count)
{
    WORKS(rig.host, api->create(in, prototype, living + living_count, count));
    living_count += count;
}

/* Destroy `count` of the living, drawn at random. */
static void destroy(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = bp_random_below(&random_state, living_count);
        batch[i] = living[at];
        living[at] = living[--living_count];
    }
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, batch, count), count);
}

static void step(void)
{
    WORKS(rig.host, bp_world_step(world));
}

static uint32_t holes(void)
{
    uint32_t all = 0;
    for (uint32_t r = 0; r < world->rows.run_count; r++)
        all += world->rows.runs[r]->holes;
    return all;
}

static bool within_bounds(void)
{
    for (uint32_t r = 0; r < world->rows.run_count; r++) {
        const run_t *run = world->rows.runs[r];
        if (run->holes > (run->count - run->holes) / 4 + 4096)
            return false;
    }
    return true;
}

/* --- dead rows --------------------------------------------------------------------------------------------- */

START_TEST(entities_that_come_fill_the_rows_of_those_that_went)
{
    uint32_t prototype = prototype_of(world, "body", "fx", NULL, NULL),
             singles = prototype_of(world, "mark", NULL, NULL, NULL);
    create(world, prototype, 1000);
    for (uint32_t i = 0; i < 500; i++)
        create(world, singles, 1);
    destroy(600);
    uint32_t dead = holes();
    ck_assert_uint_gt(dead, 400);
    uint32_t rows = world_run(&world->rows, prototype)->count, marks = world_run(&world->rows, singles)->count;
    create(world, prototype, world_run(&world->rows, prototype)->holes);
    while (world_run(&world->rows, singles)->holes > 0)
        create(world, singles, 1);
    ck_assert_uint_eq(holes(), 0);
    ck_assert_uint_eq(world_run(&world->rows, prototype)->count, rows);
    ck_assert_uint_eq(world_run(&world->rows, singles)->count, marks);
}
END_TEST

START_TEST(components_that_come_fill_them_too)
{
    uint32_t prototype = prototype_of(world, "body", "fx", NULL, NULL), fx = key_of(world, "fx", "");
    create(world, prototype, 4000);
    destroy(1000);
    const run_t *run = world_run(&world->rows, prototype);
    uint32_t rows = run->count, dead = run->holes;
    WORKS(rig.host, api->create(world, prototype_of(world, "body", NULL, NULL, NULL), batch, dead));
    WORKS(rig.host, api->add(world, fx, batch, dead / 2));
    for (uint32_t i = dead / 2; i < dead; i++)
        WORKS(rig.host, api->add(world, fx, &batch[i], 1));
    ck_assert_uint_eq(run->holes, 0);
    ck_assert_uint_eq(run->count, living_count + dead);
    ck_assert_uint_le(run->count, rows);
}
END_TEST

START_TEST(an_entity_that_loses_a_component_and_gets_it_back_has_its_row_again)
{
    uint32_t prototype = prototype_of(world, "body", "mark", NULL, NULL), mark = key_of(world, "mark", "");
    create(world, prototype, 5000);
    const run_t *run = world_run(&world->rows, prototype);
    memcpy(batch, run_entities(run), 5000 * sizeof *batch);
    for (uint32_t i = 0; i < 5000; i += 3) {
        WORKS(rig.host, api->remove(world, mark, &batch[i], 1));
        WORKS(rig.host, api->add(world, mark, &batch[i], 1));
    }
    ck_assert_uint_eq(run->count, 5000);
    ck_assert_int_eq(memcmp(batch, run_entities(run), 5000 * sizeof *batch), 0);
}
END_TEST

START_TEST(few_holes_stay_where_many_lose_a_component)
{
    uint32_t prototype = prototype_of(world, "body", "mark", NULL, NULL), mark = key_of(world, "mark", "");
    create(world, prototype, 20000);
    const run_t *run = world_run(&world->rows, prototype);
    for (uint32_t i = 0; i < 20000; i += 2) {
        WORKS(rig.host, api->remove(world, mark, &living[i], 1));
        EXPECT(run->holes <= 64 + 20000 / 128, "%u holes in %u rows", run->holes, run->count);
    }
    for (uint32_t i = 1, count = 0; i < 20000; i += 4)
        batch[count++] = living[i];
    WORKS(rig.host, api->remove(world, mark, batch, 5000));
    EXPECT(run->holes <= 33 + run->count / 128, "%u holes in %u rows", run->holes, run->count);
}
END_TEST

START_TEST(a_run_of_none_but_the_dead_is_empty_at_once)
{
    uint32_t prototypes[] = {prototype_of(world, "body", NULL, NULL, NULL),
                             prototype_of(world, "label", "pool", NULL, NULL),
                             prototype_of(world, "fx", "told", NULL, NULL)};
    for (uint32_t i = 0; i < COUNT(prototypes); i++)
        create(world, prototypes[i], 3000);
    destroy(living_count);
    for (uint32_t i = 0; i < COUNT(prototypes); i++) {
        ck_assert_uint_eq(world_run(&world->rows, prototypes[i])->count, 0);
        ck_assert_uint_eq(world_run(&world->rows, prototypes[i])->holes, 0);
    }
}
END_TEST

/* As many come as go; as many come, of another kind; and both by single calls. */
START_TEST(steady_churn_keeps_dead_rows_within_bounds)
{
    uint32_t kinds[] = {prototype_of(world, "body", "fx", NULL, NULL), prototype_of(world, "body", NULL, NULL, NULL),
                        prototype_of(world, "label", "mark", NULL, NULL)};
    create(world, kinds[0], 60000);
    for (uint32_t i = 0; i < 400; i++) {
        /* five per cent, one, a tenth */
        uint32_t share = i < 200 ? 20 : i < 300 ? 100 : 1000, count = living_count / share;
        uint32_t kind = i < 40 ? 0 : i / 20 % COUNT(kinds);
        if (i % 2 == 0)
            destroy(count);
        create(world, kinds[kind], count);
        if (i % 2 != 0)
            destroy(count);
        step();
        EXPECT(within_bounds(), "%u dead rows beside %u living after step %u", holes(), living_count, i);
        if (i % 50 == 0)
            check_host(rig.host);
    }
}
END_TEST

static uint32_t steps_until_within_bounds(void)
{
    uint32_t steps = 0;
    while (!within_bounds() && steps < 1000) {
        step();
        steps++;
    }
    return steps;
}

/* Rows that moved in a step: those whose entity is another than before and alive. */
static uint32_t moved_in_a_step(const run_t *run)
{
    uint32_t moved = 0, count = run->count;
    memcpy(batch, run_entities(run), count * sizeof *batch);
    step();
    for (uint32_t row = 0; row < run->count; row++)
        moved += run_entities(run)[row].id != batch[row].id && run_entities(run)[row].id != 0;
    return moved;
}

START_TEST(mass_death_is_collected_step_by_step)
{
    static const uint32_t dying[] = {20, 35, 50, 80, 99};
    uint32_t prototype = prototype_of(world, "mark", NULL, NULL, NULL), all = MOST - 100;
    create(world, prototype, all);
    destroy((uint32_t)((uint64_t)all * dying[_i] / 100));
    const run_t *run = world_run(&world->rows, prototype);
    uint32_t budget = run->count / WORLD_GC_OWN_SHARE + WORLD_GC_ROWS + 64;
    ck_assert_uint_le(moved_in_a_step(run), budget);
    ck_assert_uint_le(moved_in_a_step(run), budget);
    ck_assert_uint_le(steps_until_within_bounds(), STEPS_TO_BOUND);
    for (uint32_t i = 0; i < STEPS_TO_FEW; i++)
        step();
    EXPECT(run->holes <= living_count / 100, "%u dead rows beside %u living", run->holes, living_count);
}
END_TEST

START_TEST(mass_death_in_many_runs_is_collected_in_time)
{
    enum { RUNS = 1000, EACH = 100 };
    char name[16];
    for (uint32_t i = 0; i < RUNS; i++) {
        snprintf(name, sizeof name, "r%u", i);
        uint32_t key = key_of(world, "mark", name), prototype;
        WORKS(rig.host, api->prototype(world, &key, 1, &prototype));
        create(world, prototype, EACH);
    }
    destroy(RUNS * EACH / 2);
    for (uint32_t i = 0; i < STEPS_TO_FEW; i++)
        step();
    EXPECT(holes() <= living_count / 100, "%u dead rows beside %u living", holes(), living_count);
}
END_TEST

/* --- own storage ---------------------------------------------------------------------------------------------- */

static uint32_t names_kept(void)
{
    return api->count(world, api->component(world, "debug_name"));
}

START_TEST(storage_of_its_own_keeps_the_same_bounds)
{
    WORKS(rig.host, bp_host_load_plugin(rig.host, TEST_PLUGIN_DIR "/debug_name", NULL, 0));
    WORKS(rig.host, bp_world_use_component(world, "debug_name"));
    uint32_t prototype = prototype_of(world, "debug_name", NULL, NULL, NULL);
    create(world, prototype, 40000);
    for (uint32_t i = 0; i < 120; i++) {
        uint32_t count = living_count / 20;
        destroy(count);
        create(world, prototype, count);
        step();
        EXPECT(names_kept() <= living_count + living_count / 4 + 4096, "%u instances for %u after step %u",
               names_kept(), living_count, i);
    }
    destroy(30000);
    for (uint32_t i = 0; i < STEPS_TO_BOUND; i++)
        step();
    EXPECT(names_kept() <= living_count + living_count / 4 + 4096, "%u instances for %u", names_kept(), living_count);
    for (uint32_t i = STEPS_TO_BOUND; i < STEPS_TO_FEW; i++)
        step();
    EXPECT(names_kept() <= living_count + living_count / 100, "%u instances for %u", names_kept(), living_count);
    destroy(living_count);
    for (uint32_t i = 0; i < STEPS_TO_FEW; i++)
        step();
    ck_assert_uint_eq(names_kept(), 0);
}
END_TEST

/* --- memory ------------------------------------------------------------------------------------------------------ */

static uint64_t world_bytes_now(void)
{
    bp_world_stats_t stats;
    bp_world_stats(world, &stats);
    return stats.bytes;
}

START_TEST(memory_of_the_dead_is_given_back)
{
    uint32_t prototype = prototype_of(world, "body", "fx", NULL, NULL);
    create(world, prototype, 20000);
    uint64_t few = world_bytes_now();
    create(world, prototype, 80000);
    ck_assert_uint_gt(world_bytes_now(), 3 * few);
    destroy(80000);
    for (uint32_t i = 0; i < STEPS_TO_FEW; i++)
        step();
    EXPECT(world_bytes_now() <= 2 * few + 131072 * sizeof(record_t), "%llu bytes where %llu were enough",
           (unsigned long long)world_bytes_now(), (unsigned long long)few);
    destroy(living_count);
    for (uint32_t i = 0; i < STEPS_TO_FEW; i++)
        step();
    EXPECT(world_bytes_now() <= few / 8, "%llu bytes for nobody",
           (unsigned long long)world_bytes_now());
}
END_TEST

START_TEST(memory_of_a_run_that_was_left_is_given_back)
{
    uint32_t prototype = prototype_of(world, "body", NULL, NULL, NULL), mark = key_of(world, "mark", "");
    create(world, prototype, 100000);
    const run_t *run = world_run(&world->rows, prototype);
    uint64_t before = world_bytes_now();
    WORKS(rig.host, api->add(world, mark, living, living_count));
    ck_assert_uint_eq(run->count, 0);
    ck_assert_uint_gt(world_bytes_now(), before + before / 2);
    for (uint32_t i = 0; i < STEPS_TO_FEW; i++)
        step();
    ck_assert_uint_eq(run->capacity, 0);
    ck_assert_uint_lt(world_bytes_now(), before + before / 2);
}
END_TEST

static size_t bytes_of_rows(const run_t *run)
{
    size_t row = 0;
    for (uint32_t c = 0; c < run->column_count; c++)
        row += run->sizes[c];
    return row * run->capacity;
}

/* Where there are many runs, a step looks at several; together they give no more back than one may alone. */
START_TEST(a_step_gives_little_memory_back_whatever_runs_it_looks_at)
{
    enum { RUNS = WORLD_TRIM_VISITS * 3, LARGE = 3, EACH = 30000 };
    uint32_t body = key_of(world, "body", ""), first = living_count, waiting = 0;
    const run_t *large[LARGE];
    for (uint32_t i = 0; i < RUNS; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", i);
        uint32_t keys[] = {body, key_of(world, "mark", name)}, prototype;
        WORKS(rig.host, api->prototype(world, keys, 2, &prototype));
        create(world, prototype, i < LARGE ? EACH : 1);
        if (i < LARGE)
            large[i] = world_run(&world->rows, prototype);
    }
    WORKS(rig.host, api->remove(world, body, living + first, LARGE * EACH));
    for (uint32_t i = 0; i < LARGE; i++)
        ck_assert(large[i]->count == 0 && bytes_of_rows(large[i]) > WORLD_TRIM_BYTES + (1u << 18));
    for (uint32_t steps = 0; waiting < LARGE; steps++) {
        size_t before = 0, after = 0, most = memory_bytes(&world->rows.memory) / WORLD_TRIM_SHARE + WORLD_TRIM_BYTES;
        for (uint32_t i = 0; i < LARGE; i++)
            before += bytes_of_rows(large[i]);
        step();
        for (uint32_t i = waiting = 0; i < LARGE; i++) {
            after += bytes_of_rows(large[i]);
            waiting += large[i]->capacity == 0;
        }
        EXPECT(before - after <= most + 4096, "%zu bytes in a step, and at most %zu", before - after, most);
        ck_assert_uint_lt(steps, 10 * RUNS + 2 * WORLD_TRIM_AFTER);
    }
}
END_TEST

/* For a hundred steps the entities may come back. */
START_TEST(a_run_keeps_its_room_for_a_hundred_steps)
{
    uint32_t prototype = prototype_of(world, "body", NULL, NULL, NULL), steps = 0;
    create(world, prototype, 3000);
    for (uint32_t i = 0; i < 150; i++)
        step();
    const run_t *run = world_run(&world->rows, prototype);
    uint32_t room = run->capacity;
    WORKS(rig.host, api->add(world, key_of(world, "mark", ""), living, living_count));
    ck_assert_uint_eq(run->count, 0);
    for (; run->capacity == room && steps < 300; steps++)
        step();
    ck_assert_uint_ge(steps, WORLD_TRIM_AFTER);
    ck_assert_uint_le(steps, 2 * WORLD_TRIM_AFTER);
}
END_TEST

/* The slab with most room is emptied, wherever it lies among others that are full. */
START_TEST(the_slab_with_most_room_is_emptied_and_no_other)
{
    enum { PAGES = 120, FIRST = 3, SECOND = 5 };
    bp_entity_t *const e = room_of(PAGES * ENTITIES_PAGE * sizeof *e);
    const uint32_t ends[] = {FIRST, FIRST + SECOND, PAGES};
    world_t *w = &world->rows;
    uint32_t prototype = prototype_of(world, "mark", NULL, NULL, NULL), from = 0;
    for (uint32_t s = 0; s < COUNT(ends); s++) {
        WORKS(rig.host, api->create(world, prototype, e + from, ends[s] * ENTITIES_PAGE - from));
        from = ends[s] * ENTITIES_PAGE;
    }
    ck_assert_uint_ge(w->slab_count, 3);
    uint32_t large = w->slab_count - 1;
    const record_page_t *slabs[2] = {w->slabs[0].pages, w->slabs[1].pages};
    ck_assert(w->slabs[large].count > 10 * (w->slabs[0].count + w->slabs[1].count));
    uint32_t dead = (FIRST + SECOND) * ENTITIES_PAGE + 1;
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, e + dead, from - dead), from - dead);
    for (uint32_t i = 0; i < 3 * PAGES; i++) {
        step();
        ck_assert(w->slabs[0].pages == slabs[0] && w->slabs[1].pages == slabs[1]);
    }
    ck_assert_uint_le(w->pages_held, 2 * w->pages_used + RECORDS_KEPT);
    check_host(rig.host);
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, e, dead), dead);
}
END_TEST

enum { SLAB_PAGES = 100, SLAB_STAY = 20, SLAB_LEFT = SLAB_STAY * ENTITIES_PAGE };
static bp_entity_t in_slab[SLAB_PAGES * ENTITIES_PAGE], *const staying = in_slab + COUNT(in_slab) - SLAB_LEFT;

/* One slab, of which most pages have none that lives: a second one has been made for the others, at the end. */
static void leave_a_slab(void)
{
    world_t *w = &world->rows;
    uint32_t dead = COUNT(in_slab) - SLAB_LEFT;
    WORKS(rig.host, api->create(world, prototype_of(world, "mark", NULL, NULL, NULL), in_slab, COUNT(in_slab)));
    ck_assert_uint_eq(w->slab_count, 1);
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, in_slab, dead), dead);
    for (uint32_t i = 0; i < SLAB_PAGES && w->slab_count == 1; i++)
        step();
    ck_assert_uint_eq(w->slab_count, 2);
    ck_assert_uint_gt(w->slabs[1].count, RECORDS_KEPT);
    ck_assert_uint_eq(w->slabs[1].living, 0);
}

/* All pages that are to move go before the first one has moved: the slab that was made for them goes too. */
START_TEST(a_slab_that_pages_no_longer_need_goes)
{
    const world_t *w = &world->rows;
    leave_a_slab();
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, staying, SLAB_LEFT), SLAB_LEFT);
    for (uint32_t i = 0; i < 2 * SLAB_PAGES; i++)
        step();
    ck_assert_uint_eq(w->slab_count, 0);
    ck_assert_uint_eq(w->pages_held, 0);
    check_host(rig.host);
}
END_TEST

/* A page that others have left by moving is used again, for indices of which one alone has a record. */
START_TEST(a_page_from_which_records_have_moved_holds_none_of_them)
{
    const world_t *w = &world->rows;
    uint32_t key = key_of(world, "mark", ""), i = 0;
    leave_a_slab();
    for (uint32_t s = 0; s < SLAB_PAGES && w->slabs[1].living == 0; s++)
        step();
    ck_assert_uint_gt(w->slabs[1].living, 0);
    uint32_t held = w->slabs[0].living, left = w->slabs[0].left_count;
    ck_assert_uint_gt(left, 0);
    WORKS(rig.host, rig.api->entity->create(rig.host, in_slab, COUNT(in_slab) - SLAB_LEFT));
    for (; i < COUNT(in_slab) - SLAB_LEFT && w->slabs[0].living == held; i++) {
        if (!world_has_record(w, bp_entity_index(in_slab[i])))
            WORKS(rig.host, api->add(world, key, &in_slab[i], 1));
    }
    ck_assert(w->slabs[0].living == held + 1 && w->slabs[0].left_count == left - 1);
    ck_assert_uint_eq(api->has(world, key, staying, SLAB_LEFT, NULL), SLAB_LEFT);
    check_host(rig.host);
}
END_TEST

START_TEST(room_that_is_needed_again_and_again_is_kept)
{
    uint32_t prototype = prototype_of(world, "body", NULL, NULL, NULL);
    create(world, prototype, 50000);
    const run_t *run = world_run(&world->rows, prototype);
    uint32_t capacity = run->capacity;
    for (uint32_t i = 0; i < 20; i++) {
        destroy(40000);
        for (uint32_t k = 0; k < 50; k++)
            step();
        create(world, prototype, 40000);
        step();
        ck_assert_uint_eq(run->capacity, capacity);
    }
}
END_TEST

/* Most of a million die; those that live on were created together. Everything is found afterwards: who lives, who is
 * dead, also in a second world, after the host has gone back, and when as many come again. */
START_TEST(records_of_the_dead_are_given_back)
{
    enum { ALL = 1000000, FIRST = 700001, FEW = 2000 };
    bp_entity_t *all = calloc(ALL, sizeof *all), *few = all + FIRST, *after = few + FEW;
    bp_world_o *second = plain_world("second");
    uint32_t prototype = prototype_of(world, "mark", NULL, NULL, NULL), body = key_of(second, "body", "");
    bp_snapshot_o *snapshot;
    WORKS(rig.host, api->create(world, prototype, all, ALL));
    WORKS(rig.host, api->add(second, body, few - FEW, 2 * FEW));
    WORKS(rig.host, bp_host_snapshot(rig.host, &snapshot));
    for (uint32_t turn = 0; turn < 2; turn++) {
        size_t before = memory_bytes(&world->rows.memory);
        ck_assert_uint_gt(before, ALL * sizeof(record_t));
        ck_assert_uint_eq(rig.api->entity->destroy(rig.host, all, FIRST), FIRST);
        ck_assert_uint_eq(rig.api->entity->destroy(rig.host, after, ALL - FIRST - FEW), ALL - FIRST - FEW);
        for (uint32_t i = 0; i < STEPS_TO_FEW; i++) {
            step();
            WORKS(rig.host, bp_world_step(second));
        }
        check_host(rig.host);
        /* three pages with an entity, a slab of twice as many, and the directory */
        EXPECT(world->rows.pages_used == 3 && world->rows.pages_held <= 6, "%u pages of %u", world->rows.pages_used,
               world->rows.pages_held);
        EXPECT(memory_bytes(&world->rows.memory) < before / 50, "%zu bytes of %zu",
               memory_bytes(&world->rows.memory), before);
        ck_assert_uint_eq(rig.api->entity->alive(rig.host, all, ALL, NULL), FEW);
        ck_assert_uint_eq(api->has(world, key_of(world, "mark", ""), all, ALL, NULL), FEW);
        ck_assert_uint_eq(api->has(second, body, all, ALL, NULL), FEW);
        if (turn == 0)
            WORKS(rig.host, bp_host_bring_back(rig.host, snapshot));
        ck_assert_uint_eq(api->has(second, body, few - FEW, 2 * FEW, NULL), turn == 0 ? 2 * FEW : FEW);
    }
    bp_entity_t *anew = calloc(ALL, sizeof *anew);
    WORKS(rig.host, api->create(world, prototype, anew, ALL));
    ck_assert_uint_eq(rig.api->entity->alive(rig.host, all, ALL, NULL), FEW);
    ck_assert_uint_eq(rig.api->entity->alive(rig.host, anew, ALL, NULL), ALL);
    ck_assert_uint_eq(api->count(world, api->component(world, "mark")), ALL + FEW);
    bp_snapshot_free(snapshot);
    free(all);
    free(anew);
}
END_TEST

/* A page with one living entity cannot go; when these die too, all pages but two go. */
START_TEST(records_that_lie_scattered_stay_until_the_last_of_a_page_dies)
{
    uint32_t prototype = prototype_of(world, "body", NULL, NULL, NULL);
    create(world, prototype, MOST);
    uint32_t pages = world->rows.pages_used, kept = 0;
    for (uint32_t i = 0; i < MOST; i++) {
        if (i % 512 == 0)
            living[kept++] = living[i];
        else
            ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &living[i], 1), 1);
    }
    living_count = kept;
    for (uint32_t i = 0; i < STEPS_TO_FEW; i++)
        step();
    ck_assert_uint_eq(world->rows.pages_used, pages);
    ck_assert_uint_eq(api->has(world, key_of(world, "body", ""), living, kept, NULL), kept);
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, living, kept - 2), kept - 2);
    for (uint32_t i = 0; i < STEPS_TO_FEW; i++)
        step();
    EXPECT(world->rows.pages_used == 2 && world->rows.pages_held <= RECORDS_KEPT, "%u pages of %u",
           world->rows.pages_used, world->rows.pages_held);
    ck_assert_uint_eq(rig.api->entity->alive(rig.host, living, kept, NULL), 2);
}
END_TEST

START_TEST(what_a_large_batch_was_worked_out_in_is_kept_for_the_next_and_given_back)
{
    static float values[MOST];
    bp_property_t mass;
    create(world, prototype_of(world, "body", NULL, NULL, NULL), 50000);
    for (uint32_t i = 0; i < 25000; i++) {
        bp_entity_t kept = living[i];
        living[i] = living[49999 - i];
        living[49999 - i] = kept;
        values[i] = (float)i;
    }
    WORKS(rig.host, rig.api->property->resolve(world, (bp_entity_t){0}, "body", "mass", &mass));
    uint64_t before = world_bytes_now();
    WORKS(rig.host, rig.api->property->set(world, &mass, living, 50000, values, sizeof *values));
    uint64_t after = world_bytes_now();
    ck_assert_uint_gt(after, before);
    for (uint32_t i = 0; i < 2 * WORLD_TRIM_AFTER; i++) {
        step();
        WORKS(rig.host, rig.api->property->set(world, &mass, living, 40000, values, sizeof *values));
        ck_assert_uint_eq(world_bytes_now(), after);
    }
    for (uint32_t i = 0; i < WORLD_TRIM_AFTER; i++)
        step();
    ck_assert_uint_eq(world_bytes_now(), before);
    for (uint32_t i = 0; i < 50000; i += 333) {
        float value;
        WORKS(rig.host, rig.api->property->get(world, &mass, &living[i], 1, &value, sizeof value));
        ck_assert_float_eq(value, values[i]);
    }
}
END_TEST

/* --- the model --------------------------------------------------------------------------------------------------- */

/* 600 steps in which nothing dies or moves: hardly a dead row is left in any run. */
static void expect_few_dead_after_a_rest(churn_t *c)
{
    for (uint32_t w = 0; w < MODEL_WORLDS; w++) {
        world = c->model.worlds[w];
        for (uint32_t steps = 0; steps < 600; steps++) {
            step();
            model_step(&c->model, w, (float)(1.0 / world->clock.step_rate));
        }
        for (uint32_t r = 0; r < world->rows.run_count; r++) {
            const run_t *run = world->rows.runs[r];
            EXPECT(run->holes * 100 <= run->count - run->holes, "world %u: %u of %u rows are dead", w, run->holes,
                   run->count);
        }
    }
}

static void expect_bounds(const churn_t *c)
{
    for (uint32_t w = 0; w < MODEL_WORLDS; w++) {
        world = c->model.worlds[w];
        EXPECT(within_bounds(), "too many dead rows in world %u after %llu operations", w,
               (unsigned long long)c->operations);
    }
}

/* More come than the bounds leave room for, something happens to them, and most die at once. The bounds are broken,
 * and kept again a few steps later, since a step moves some 4,096 rows; random collection alone, 64 rows in a step,
 * would need many more. Returns whether the bounds were broken: where rows go at the death itself, they are not. */
static bool come_and_go_at_once(churn_t *c, uint32_t w)
{
    world = c->model.worlds[w];
    churn_wave(c, w);
    for (uint32_t i = 0; i < 40; i++)
        churn_once(c);
    churn_ebb(c);
    world = c->model.worlds[w];
    bool broken = !within_bounds();
    for (uint32_t s = 0; s < STEPS_OF_A_WAVE; s++) {
        step();
        model_step(&c->model, w, (float)(1.0 / world->clock.step_rate));
    }
    return broken;
}

/* Long churn of everything there is, the bounds looked at every few operations; and waves. */
START_TEST(a_random_model_keeps_the_bounds_for_long)
{
    static churn_t churn;
    rig_t own;
    uint32_t broken = 0;
    rig_open_zoo(&own);
    churn_open(&churn, &own, 4000 + (uint64_t)_i, 3000);
    for (uint32_t turn = 0; churn.operations < 12000; turn++) {
        churn_once(&churn);
        if (turn % 1500 == 0)
            broken += come_and_go_at_once(&churn, turn / 1500 % MODEL_WORLDS);
        if (turn % 16 == 0 || turn % 1500 == 0)
            expect_bounds(&churn);
        if (turn % 3000 == 2999) {
            model_compare(&churn.model);
            check_host(own.host);
        }
    }
    EXPECT(broken > 0, "no wave broke the bounds: what keeps them was not tried");
    expect_few_dead_after_a_rest(&churn);
    model_compare(&churn.model);
    churn_close(&churn);
    rig_close(&own);
}
END_TEST

/* The order of rows after churn, as one number. */
static uint64_t rows_after_churn(uint64_t seed)
{
    uint64_t sum = 0;
    rig_init(&rig);
    rig.desc.seed = seed;
    rig_open(&rig);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "zoo", NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "stocks", NULL, 0));
    world = rig_world(&rig, "main");
    api = rig.api->world;
    nobody_lives();
    random_state = 9;
    uint32_t prototype = prototype_of(world, "body", "pool", NULL, NULL), mark = key_of(world, "mark", "");
    create(world, prototype, 3000);
    for (uint32_t i = 0; i < 60; i++) {
        destroy(i % 7 == 0 ? 300 : 20);
        create(world, prototype, i % 5 == 0 ? 200 : 20);
        bp_entity_t e = living[bp_random_below(&random_state, living_count)];
        if (api->has(world, mark, &e, 1, NULL) == 0)
            WORKS(rig.host, api->add(world, mark, &e, 1));
        step();
    }
    for (uint32_t r = 0; r < world->rows.run_count; r++) {
        for (uint32_t row = 0; row < world->rows.runs[r]->count; row++)
            sum = sum * 31 + run_entities(world->rows.runs[r])[row].id;
    }
    rig_close(&rig);
    return sum;
}

START_TEST(the_same_seed_gives_the_same_rows_after_long_churn)
{
    ck_assert_uint_eq(rows_after_churn(3), rows_after_churn(3));
    ck_assert_uint_ne(rows_after_churn(3), rows_after_churn(4));
}
END_TEST

/* --- an hour ------------------------------------------------------------------------------------------------------ */

enum {
    DAY = 600,      /* steps, or ten seconds of play */
    DAYS = 18,      /* SOAK_DAYS is another number of them, and is rounded down to a multiple of nine */
    DWELLERS = 6000,
    COME_AND_GO = 30, /* dwellers, in each step */
    VISITORS = 3000   /* come in the morning, and go in the evening, all at once; of another kind each day */
};

/* Some are called something new, and bear a mark or bear it no longer. */
static void live_on(bp_property_t *text, uint32_t label, uint32_t mark, uint32_t number)
{
    for (uint32_t i = 0; i < 10; i++) {
        char name[32];
        const char *value = name;
        bp_entity_t e = living[bp_random_below(&random_state, living_count)];
        snprintf(name, sizeof name, "soul %u of %u", i, number);
        if (api->has(world, label, &e, 1, NULL) == 1)
            WORKS(rig.host, rig.api->property->set(world, text, &e, 1, &value, sizeof value));
        if (api->has(world, mark, &e, 1, NULL) == 0)
            WORKS(rig.host, api->add(world, mark, &e, 1));
        else
            WORKS(rig.host, api->remove(world, mark, &e, 1));
    }
}

/* What the host holds in the evenings, when the visitors have gone, is the same on average in the second third of the
 * time and in the last, within two in a hundred: the first third fills what is kept. `make proofs` plays an hour of 60
 * steps a second. */
START_TEST(a_world_that_is_played_for_long_holds_no_more_than_before)
{
    const char *given = getenv("SOAK_DAYS");
    uint32_t third = (given != NULL ? (uint32_t)strtoul(given, NULL, 10) : DAYS) / 9 * 3;
    const uint32_t kinds[] = {prototype_of(world, "body", "label", "fx", NULL),
                              prototype_of(world, "body", "pool", "told", NULL),
                              prototype_of(world, "body", "bag", "label", "once")};
    uint32_t mark = key_of(world, "mark", ""), label = key_of(world, "label", "");
    uint64_t held[3] = {0, 0, 0}; /* in all evenings of each third */
    bp_property_t text;
    WORKS(rig.host, rig.api->property->resolve(world, (bp_entity_t){0}, "label", "text", &text));
    ck_assert_uint_gt(third, 0);
    for (uint32_t i = 0; i < DWELLERS / 100; i++)
        create(world, kinds[i % COUNT(kinds)], 100);
    for (uint32_t day = 0; day < 3 * third; day++) {
        for (uint32_t s = 0; s < DAY; s++) {
            if (s == 100)
                create(world, kinds[day % COUNT(kinds)], VISITORS);
            if (s == 400)
                destroy(VISITORS);
            destroy(COME_AND_GO);
            create(world, kinds[s % COUNT(kinds)], COME_AND_GO);
            live_on(&text, label, mark, day * DAY + s);
            step();
        }
        held[day / third] += memory_bytes(&rig.host->base.memory);
    }
    EXPECT(held[2] * 50 <= held[1] * 51, "%llu bytes on average, %llu in the second third of %u days",
           (unsigned long long)(held[2] / third), (unsigned long long)(held[1] / third), 3 * third);
}
END_TEST

Suite *long_use_suite(void)
{
    Suite *suite = suite_create("long_use");
    TCase *tests = tcase_create("long_use");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, entities_that_come_fill_the_rows_of_those_that_went);
    tcase_add_test(tests, components_that_come_fill_them_too);
    tcase_add_test(tests, an_entity_that_loses_a_component_and_gets_it_back_has_its_row_again);
    tcase_add_test(tests, few_holes_stay_where_many_lose_a_component);
    tcase_add_test(tests, a_run_of_none_but_the_dead_is_empty_at_once);
    tcase_add_test(tests, steady_churn_keeps_dead_rows_within_bounds);
    tcase_add_loop_test(tests, mass_death_is_collected_step_by_step, 0, 5);
    tcase_add_test(tests, mass_death_in_many_runs_is_collected_in_time);
    tcase_add_test(tests, storage_of_its_own_keeps_the_same_bounds);
    tcase_add_test(tests, memory_of_the_dead_is_given_back);
    tcase_add_test(tests, memory_of_a_run_that_was_left_is_given_back);
    tcase_add_test(tests, a_step_gives_little_memory_back_whatever_runs_it_looks_at);
    tcase_add_test(tests, a_run_keeps_its_room_for_a_hundred_steps);
    tcase_add_test(tests, the_slab_with_most_room_is_emptied_and_no_other);
    tcase_add_test(tests, a_slab_that_pages_no_longer_need_goes);
    tcase_add_test(tests, a_page_from_which_records_have_moved_holds_none_of_them);
    tcase_add_test(tests, room_that_is_needed_again_and_again_is_kept);
    suite_add_tcase(suite, tests);
    TCase *records = tcase_create("records");
    tcase_add_checked_fixture(records, begin_plain, end);
    tcase_set_timeout(records, 60);
    tcase_add_test(records, records_of_the_dead_are_given_back);
    tcase_add_test(records, what_a_large_batch_was_worked_out_in_is_kept_for_the_next_and_given_back);
    tcase_add_test(records, records_that_lie_scattered_stay_until_the_last_of_a_page_dies);
    suite_add_tcase(suite, records);
    TCase *model = tcase_create("model");
    tcase_set_timeout(model, 60);
    tcase_add_loop_test(model, a_random_model_keeps_the_bounds_for_long, 0, SEEDS);
    tcase_add_test(model, the_same_seed_gives_the_same_rows_after_long_churn);
    suite_add_tcase(suite, model);
    TCase *hour = tcase_create("hour");
    tcase_add_checked_fixture(hour, begin, end);
    tcase_set_timeout(hour, 120);
    tcase_add_test(hour, a_world_that_is_played_for_long_holds_no_more_than_before);
    suite_add_tcase(suite, hour);
    return suite;
}
