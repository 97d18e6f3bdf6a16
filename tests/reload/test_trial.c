/* test_trial.c - copies of the process that do without the columns of large runs: what is in them, what is not, and
 * that nothing of it is seen in the process itself.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "../unit/inspect.h"
#include "../unit/support.h"
#include "../unit/zoo.h"

#include "os/os.h"
#include "reload/process.h"
#include "store/sample.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Of so many that pages of records lie between the rows that a copy keeps. */
enum { LARGE = 100000, POOLED = 20000, SMALL = 100, DEAD = 700, SMALL_DEAD = 10 };

static bp_host_o *host;
static const bp_api_t *api;
static bp_world_o *world;
static bp_entity_t large[LARGE], pooled[POOLED], small[SMALL];
static memory_t memory;
static sample_t sample;
static log_text_t log_text;
static bool told;      /* is there a system that is told of entities? */
static uint32_t known; /* entities with a body that the system has been told of */

static void added(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    (void)s, (void)entities;
    known += count;
}

static void removed(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    (void)s, (void)entities;
    known -= count;
}

static void run_all(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
}

static const bp_term_t terms[] = {{.component = "body"}};
static const bp_system_i systems[] = {{.name = "census",
                                       .terms = BP_LIST(terms),
                                       .run_all = run_all,
                                       .entities_added = added,
                                       .entities_removed = removed}};
static const bp_plugin_head_t census =
    BP_PLUGIN_HEAD("census", (&(const bp_plugin_desc_t){.version = "1", .systems = BP_LIST(systems)}));

static float mass_of(bp_entity_t e)
{
    return (float)(bp_entity_index(e) % 1000 + 1);
}

static void make(const char *other, bp_entity_t *entities, uint32_t count)
{
    WORKS(host, api->world->create(world, prototype_of(world, "body", other, NULL, NULL), entities, count));
    for (uint32_t i = 0; i < count; i++) {
        float mass = mass_of(entities[i]);
        WORKS(host, api->property->set_named(world, entities[i], "body", "mass", BP_F32, &mass));
    }
}

static void begin(const bp_allocator_i *allocator)
{
    static const bp_plugin_head_t *linked[ZOO_PLUGINS + 1];
    memcpy(linked, zoo_plugins, sizeof zoo_plugins);
    linked[ZOO_PLUGINS] = &census;
    bp_host_desc_t desc = {.struct_size = sizeof desc,
                           .seed = 1,
                           .tag = 1,
                           .log = log_into(&log_text),
                           .static_plugins = linked};
    desc.static_plugin_count = COUNT(linked);
    desc.allocator = allocator;
    host = bp_host_create(&desc);
    api = bp_host_api(host);
    for (uint32_t i = 0; i < COUNT(linked); i++)
        WORKS(host, bp_host_load_plugin(host, linked[i]->name, NULL, 0));
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = 50});
    for (uint32_t i = 0; zoo_components[i] != NULL; i++)
        WORKS(host, bp_world_use_component(world, zoo_components[i]));
    if (told)
        WORKS(host, bp_world_use_system(world, "census"));
    make("mark", large, LARGE);
    make("pool", pooled, POOLED);
    make("flag", small, SMALL);
    WORKS(host, bp_world_step(world));
    api->entity->destroy(host, large, DEAD);
    api->entity->destroy(host, small, SMALL_DEAD);
    memory_init(&memory, "test", &(bp_allocator_i){0});
}

static void end(void)
{
    bp_host_destroy(host);
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}

static uint32_t thinned_runs; /* of the last sample */

/* In a copy of the process, with a sample of so many worlds. 0: all of `inside` held. */
static process_end_t in_a_copy_of(world_t *const *worlds, uint32_t count, int (*inside)(process_t *self, void *data),
                                  void *data)
{
    sample_take(&sample, &memory, worlds, count);
    thinned_runs = sample.count;
    process_t *process = process_fork(&memory, inside, data);
    sample_give_back(&sample);
    ck_assert_ptr_nonnull(process);
    process_end_t over;
    while ((over = process_state(process)).state == PROCESS_RUNNING)
        os_sleep_ns(1000000);
    process_free(process);
    return over;
}

/* With a sample or without. */
static process_end_t in_a_copy(bool thinned, int (*inside)(process_t *self, void *data), void *data)
{
    return in_a_copy_of(thinned ? &(world_t *){world_of(world)} : NULL, thinned, inside, data);
}

static void expect_fine(process_end_t over)
{
    EXPECT(over.state == PROCESS_ENDED && over.code == 0, "the copy ended with %d (%s)", over.code, over.signal);
}

static bool has_body(bp_entity_t e, float *mass)
{
    return api->property->get_named(world, e, "body", "mass", BP_F32, mass) == BP_OK;
}

/* What is wrong in the copy, as its exit code: 0, nothing. */
#define HOLDS(condition) do { if (!(condition)) return __LINE__ % 100 + 1; } while (0)

static int look_around(process_t *self, void *data)
{
    static bp_entity_t stayed[LARGE];
    uint32_t key = key_of(world, "mark", ""), left = 0, pages = world->rows.pages_used;
    uint8_t alive;
    float mass;
    (void)self, (void)data;
    sample_enter(&sample);
    check_host(host);
    HOLDS(told == (world->rows.pages_used == pages)); /* pages go as a whole where nobody is told of their entities */
    for (uint32_t i = 0; i < LARGE; i++) {
        bool there = has_body(large[i], &mass);
        HOLDS(!there || mass == mass_of(large[i]));
        HOLDS((api->entity->alive(host, &large[i], 1, &alive) == 1) == (i >= DEAD));
        if (there)
            stayed[left++] = large[i];
    }
    HOLDS(left > RUN_SAMPLE_ROWS - DEAD && left <= RUN_SAMPLE_ROWS);
    for (uint32_t i = 0; i < POOLED; i++)
        HOLDS(has_body(pooled[i], &mass) && mass == mass_of(pooled[i]));
    for (uint32_t i = SMALL_DEAD; i < SMALL; i++)
        HOLDS(has_body(small[i], &mass) && mass == mass_of(small[i]));
    HOLDS(world_count(&world->rows, world_component(&world->rows, "body")) == left + POOLED + SMALL - SMALL_DEAD);
    HOLDS(bp_world_step(world) == BP_OK);
    HOLDS(!told || known == left + POOLED + SMALL - SMALL_DEAD);
    HOLDS(api->world->add(world, key_of(world, "body", ""), &large[DEAD + 100], 1) == BP_OK ||
          has_body(large[DEAD + 100], &mass));
    HOLDS(api->world->remove(world, key, stayed, left) == BP_OK);
    api->entity->destroy(host, large, LARGE);
    HOLDS(api->world->create(world, prototype_of(world, "body", "mark", NULL, NULL), large, LARGE) == BP_OK);
    for (int i = 0; i < 3; i++)
        HOLDS(bp_world_step(world) == BP_OK);
    check_host(host);
    return 0;
}

/* 0: without a system that is told of entities; 1: with one. Nothing of the copy is seen in the host itself, of which
 * it is enough to look once, since that takes long. */
START_TEST(a_thinned_copy_has_some_rows_of_large_runs_and_all_others)
{
    told = _i == 1;
    begin(&(bp_allocator_i){0});
    char *before = told ? NULL : describe_host(host);
    expect_fine(in_a_copy(true, look_around, NULL));
    if (before != NULL)
        expect_same(before, describe_host(host), "a thinned copy");
    check_host(host);
    end();
}
END_TEST

static int count_all(process_t *self, void *data)
{
    float mass;
    (void)self, (void)data;
    for (uint32_t i = DEAD; i < LARGE; i++)
        HOLDS(has_body(large[i], &mass) && mass == mass_of(large[i]));
    return 0;
}

START_TEST(a_copy_made_afterwards_has_everything)
{
    begin(&(bp_allocator_i){0});
    expect_fine(in_a_copy(true, look_around, NULL));
    expect_fine(in_a_copy(false, count_all, NULL));
    WORKS(host, api->world->create(world, prototype_of(world, "body", "mark", NULL, NULL), small,
                                   SMALL)); /* grows as before */
    check_host(host);
    end();
}
END_TEST

static int keep_all(process_t *self, void *data)
{
    sample_enter(&sample);
    return count_all(self, data);
}

/* Whose memory is not the system's pages, with him nothing can be left out. */
START_TEST(a_host_with_an_allocator_of_its_own_is_copied_whole)
{
    heap_t heap = {0};
    bp_allocator_i allocator = heap_allocator(&heap);
    begin(&allocator);
    expect_fine(in_a_copy(true, keep_all, NULL));
    end();
}
END_TEST

static int read_there(process_t *self, void *data)
{
    (void)self;
    signal(SIGSEGV, SIG_DFL);
    return *(const volatile char *)data == 7 ? 0 : 1;
}

START_TEST(what_is_left_out_of_a_copy_cannot_be_read_there)
{
    enum { BYTES = 1 << 20 };
    memory_init(&memory, "test", &(bp_allocator_i){0});
    char *block = os_pages_alloc(BYTES);
    memset(block, 7, BYTES);
    ck_assert(os_pages_inherit(block, BYTES, false));
    process_end_t over = in_a_copy(false, read_there, block + BYTES / 2);
    EXPECT(over.state != PROCESS_ENDED || over.code > 1, "it ended with %d",
           over.code); /* under a sanitizer it says so and ends */
    ck_assert(os_pages_inherit(block, BYTES, true));
    expect_fine(in_a_copy(false, read_there, block + BYTES / 2));
    ck_assert_int_eq(block[BYTES / 2], 7);
    os_pages_free(block, BYTES);
}
END_TEST

/* Runs of all worlds, and all columns of them are there again afterwards. */
START_TEST(large_runs_of_all_worlds_are_thinned)
{
    static bp_entity_t others[LARGE];
    begin(NULL);
    bp_world_o *other = bp_world_create(host, &(bp_world_desc_t){.name = "other"});
    WORKS(host, bp_world_use_component(other, "mark"));
    WORKS(host, api->world->create(other, prototype_of(other, "mark", NULL, NULL, NULL), others, LARGE));
    world_t *worlds[] = {world_of(world), world_of(other)};
    for (uint32_t count = 1; count <= 2; count++) {
        sample_take(&sample, &memory, worlds, count);
        ck_assert_uint_eq(sample.count, count);
        for (uint32_t i = 0; i < count; i++)
            ck_assert(sample.runs[i].world == worlds[i] && sample.runs[i].run.run->count >= RUN_SAMPLE_FROM);
        sample_give_back(&sample);
        ck_assert_uint_eq(sample.count, 0);
    }
    end();
}
END_TEST

enum { FURTHER = 3, EACH = 40000, GONE = 10 };

static bp_world_o *further[FURTHER];
static bp_entity_t theirs[FURTHER][EACH];

/* The first rows stay where they are, without those that have become holes. */
static int look_at_further(process_t *self, void *data)
{
    float mass;
    (void)self, (void)data;
    sample_enter(&sample);
    check_host(host);
    for (uint32_t w = 0; w < FURTHER; w++) {
        bool whole = w == 0;
        const run_t *run = world_of(further[w])->runs[0];
        HOLDS(run->count == (whole ? EACH : RUN_SAMPLE_FEW));
        HOLDS(run->holes == (whole ? GONE + 1 : GONE));
        for (uint32_t i = 0; i < EACH; i++) {
            bool there = api->property->get_named(further[w], theirs[w][i], "body", "mass", BP_F32, &mass) == BP_OK;
            HOLDS(there == (i >= GONE && i != EACH / 2 && (whole || i < RUN_SAMPLE_FEW)));
            HOLDS(!there || mass == mass_of(theirs[w][i]));
        }
        HOLDS(world_count(world_of(further[w]), world_component(world_of(further[w]), "body")) ==
              (whole ? EACH - 1 : RUN_SAMPLE_FEW) - GONE);
        HOLDS(bp_world_step(further[w]) == BP_OK);
        api->entity->destroy(host, theirs[w], EACH);
    }
    check_host(host);
    HOLDS(bp_host_step(host) == BP_OK);
    check_host(host);
    return 0;
}

/* With the allocator of an embedder no run is left out of the copy, however large. */
START_TEST(of_very_many_rows_those_of_further_runs_are_few)
{
    heap_t heap = {0};
    bp_allocator_i allocator = heap_allocator(&heap);
    world_t *worlds[1 + FURTHER];
    begin(&allocator);
    worlds[0] = world_of(world);
    for (uint32_t w = 0; w < FURTHER; w++) {
        char name[16];
        snprintf(name, sizeof name, "further_%u", w);
        further[w] = bp_world_create(host, &(bp_world_desc_t){.name = name});
        worlds[1 + w] = world_of(further[w]);
        WORKS(host, bp_world_use_component(further[w], "body"));
        uint32_t prototype = prototype_of(further[w], "body", NULL, NULL, NULL);
        WORKS(host, api->world->create(further[w], prototype, theirs[w], EACH));
        for (uint32_t i = 0; i < EACH; i++) {
            float mass = mass_of(theirs[w][i]);
            WORKS(host, api->property->set_named(further[w], theirs[w][i], "body", "mass", BP_F32, &mass));
        }
        uint32_t key = key_of(further[w], "body", "");
        WORKS(host, api->world->remove(further[w], key, theirs[w], GONE)); /* which leaves holes */
        WORKS(host, api->world->remove(further[w], key, &theirs[w][EACH / 2], 1));
    }
    expect_fine(in_a_copy_of(worlds, COUNT(worlds), look_at_further, NULL));
    ck_assert_uint_eq(thinned_runs, FURTHER - 1);
    check_host(host);
    end();
}
END_TEST

enum { RUNS = SAMPLE_FEW_RUNS + 3, IN_RUN = RUN_SAMPLE_FEW + 6 };

static int look_at_runs(process_t *self, void *data)
{
    static bp_entity_t all[RUNS * IN_RUN];
    world_t *w = world_of(further[0]);
    uint32_t left = 0;
    (void)self, (void)data;
    sample_enter(&sample);
    check_host(host);
    HOLDS(w->run_count == 1 + RUNS && w->runs[0]->count == EACH);
    for (uint32_t r = 1; r <= RUNS; r++) {
        HOLDS(w->runs[r]->count == (r <= SAMPLE_FEW_RUNS ? RUN_SAMPLE_FEW : 0) && w->runs[r]->holes == 0);
        left += w->runs[r]->count;
    }
    HOLDS(world_count(w, world_component(w, "body")) == EACH + left);
    memcpy(all, theirs[1], sizeof all);
    HOLDS(bp_world_step(further[0]) == BP_OK);
    HOLDS(api->entity->destroy(host, all, RUNS * IN_RUN) == RUNS * IN_RUN); /* they live, with components or without */
    HOLDS(bp_host_step(host) == BP_OK);
    check_host(host);
    return 0;
}

START_TEST(behind_very_many_small_runs_further_ones_have_no_rows)
{
    heap_t heap = {0};
    bp_allocator_i allocator = heap_allocator(&heap);
    begin(&allocator);
    further[0] = bp_world_create(host, &(bp_world_desc_t){.name = "further"});
    WORKS(host, bp_world_use_component(further[0], "body"));
    uint32_t prototype = prototype_of(further[0], "body", NULL, NULL, NULL);
    WORKS(host, api->world->create(further[0], prototype, theirs[0], EACH));
    for (uint32_t r = 0; r < RUNS; r++) {
        char name[16];
        snprintf(name, sizeof name, "run_%u", r);
        uint32_t key = key_of(further[0], "body", name);
        WORKS(host, api->world->prototype(further[0], &key, 1, &prototype));
        WORKS(host, api->world->create(further[0], prototype, &theirs[1][r * IN_RUN], IN_RUN));
    }
    expect_fine(in_a_copy_of((world_t *[]){world_of(world), world_of(further[0])}, 2, look_at_runs, NULL));
    ck_assert_uint_eq(thinned_runs, RUNS);
    check_host(host);
    end();
}
END_TEST

/* All large runs together keep as many rows as one alone. */
START_TEST(of_several_large_runs_each_keeps_a_part_of_the_rows)
{
    begin(NULL);
    bp_world_o *other = bp_world_create(host, &(bp_world_desc_t){.name = "other"});
    WORKS(host, bp_world_use_component(other, "mark"));
    WORKS(host, bp_world_use_component(other, "flag"));
    WORKS(host, api->world->create(other, prototype_of(other, "mark", NULL, NULL, NULL), theirs[0], EACH));
    WORKS(host, api->world->create(other, prototype_of(other, "flag", NULL, NULL, NULL), theirs[1], EACH));
    world_t *worlds[] = {world_of(world), world_of(other)};
    sample_take(&sample, &memory, worlds, 2);
    ck_assert_uint_eq(sample.count, 3);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert(sample.runs[i].run.count <= RUN_SAMPLE_ROWS / 3 && sample.runs[i].run.count > RUN_SAMPLE_ROWS / 4);
    sample_give_back(&sample);
    end();
}
END_TEST

Suite *trial_suite(void)
{
    Suite *suite = suite_create("trial");
    TCase *copies = tcase_create("copies");
    tcase_set_timeout(copies, 60);
    tcase_add_loop_test(copies, a_thinned_copy_has_some_rows_of_large_runs_and_all_others, 0, 2);
    tcase_add_test(copies, a_copy_made_afterwards_has_everything);
    tcase_add_test(copies, a_host_with_an_allocator_of_its_own_is_copied_whole);
    tcase_add_test(copies, what_is_left_out_of_a_copy_cannot_be_read_there);
    tcase_add_test(copies, large_runs_of_all_worlds_are_thinned);
    tcase_add_test(copies, of_very_many_rows_those_of_further_runs_are_few);
    tcase_add_test(copies, behind_very_many_small_runs_further_ones_have_no_rows);
    tcase_add_test(copies, of_several_large_runs_each_keeps_a_part_of_the_rows);
    suite_add_tcase(suite, copies);
    return suite;
}
