/* test_asked.c - reloads that are asked for (bp_host_begin_reload) and done beside the steps, as those of watched files
 * are: with and without trials, refused ones, those that lose values, and those whose columns are made ready before.
 *
 * The plugins are tests/fixtures/crasher.h, whose second version adds a field, and purse.c, which loses values.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "reload_support.h"

#include "os/os.h"

#include <stdlib.h>
#include <string.h>
#if !defined(_WIN32)
#include <sys/stat.h>
#include <sys/wait.h>
#endif

enum { ROWS = 20000, PATIENCE_S = 60, DEADLINE_MS = 20000 };

typedef struct told_t {
    uint32_t count, refused;
    uint64_t pause;
    char text[4096];
} told_t;

static const char *const crasher[] = {"crasher"}, *const purse[] = {"purse"};
static log_text_t log_text;
static bp_host_o *host;
static bp_world_o *world;
static bp_entity_t entities[ROWS];
static told_t told;
static const bp_allocator_i *allocator; /* NULL: the C library's */
static const char *helper;               /* a program for trials; NULL: this one's */

static void hear(void *data, const bp_reload_report_t *report)
{
    told_t *t = data;
    t->count++;
    t->refused += report->result != BP_OK;
    t->pause = report->pause;
    snprintf(t->text, sizeof t->text, "%s", report->text);
}

static void open_host(uint32_t flags, const char *plugin, const char *component, uint32_t count)
{
    uint32_t key, prototype;
    put_environment("CRASHER_WHERE", NULL);
    memset(&told, 0, sizeof told);
    host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log_text),
                                            .allocator = allocator,
                                            .tag = 1,
                                            .flags = BP_HOST_CRASH_GUARD | BP_HOST_COPY_PLUGINS | flags,
                                            .trial_deadline = DEADLINE_MS,
                                            .trial_helper = helper});
    WORKS(host, bp_host_load_plugin(host, put_plugin(plugin, "asked"), NULL, 0));
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = 1});
    WORKS(host, bp_world_use_component(world, component));
    key = key_of(world, component, "");
    WORKS(host, bp_host_api(host)->world->prototype(world, &key, 1, &prototype));
    WORKS(host, bp_host_api(host)->world->create(world, prototype, entities, count));
    WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_on_reload(host, hear, &told));
}

/* Step and poll until something is told; returns how many steps that took. */
static uint32_t wait_for_news(uint32_t before)
{
    uint64_t until = os_clock_ns() + (uint64_t)PATIENCE_S * 1000000000u;
    uint32_t steps = 0;
    for (; told.count == before; steps++) {
        WORKS(host, bp_host_poll(host));
        WORKS(host, bp_host_step(host));
        EXPECT(os_clock_ns() < until, "nothing was told; the log:\n%s", log_text.text);
    }
    return steps;
}

static float x_of(bp_entity_t entity)
{
    float x = -1;
    WORKS(host, bp_host_api(host)->property->get_named(world, entity, "crash_plain", "x", BP_F32, &x));
    return x;
}

#if !defined(_WIN32)
/* A helper that says that it cannot try anything. */
static const char *write_unable_helper(void)
{
    const char *program = scratch_file("unable", "#!/bin/sh\nprintf '0it has no time'\nexit 1\n");
    ck_assert_int_eq(chmod(program, 0755), 0);
    return program;
}
#endif

/* Without trials, in a copy of the process, beside watched files, and where a helper was to try it and cannot. */
static const uint32_t ways_in[] = {
    0,
    BP_HOST_TRIAL,
    BP_HOST_TRIAL | BP_HOST_HOT_RELOAD,
#if !defined(_WIN32)
    BP_HOST_TRIAL | BP_HOST_TRIAL_HELPER,
#endif
};

START_TEST(what_is_asked_for_comes_in_while_the_worlds_step)
{
    double y = 0;
    bool unable = (ways_in[_i] & BP_HOST_TRIAL_HELPER) != 0;
#if !defined(_WIN32)
    helper = unable ? write_unable_helper() : NULL;
#endif
    open_host(ways_in[_i], "crasher", "crash_plain", ROWS);
    put_plugin("crasher_next", "asked");
    uint64_t changes = host->reload.changes;
    WORKS(host, bp_host_begin_reload(host, crasher, 1, 0));
    ck_assert_uint_eq(host->reload.changes, changes); /* nothing has been done yet */
    ck_assert_uint_eq(told.count, 0);
    uint32_t steps = wait_for_news(0);
    EXPECT(told.refused == 0, "%s", told.text);
    ck_assert_uint_eq(host->reload.changes, changes + 1);
    ck_assert(_i == 0 || steps > 1);
    EXPECT((strstr(log_text.text, "untried: it has no time") != NULL) == unable, "%s", log_text.text);
    ck_assert_uint_gt(host->reload.readied, 0); /* columns were made between steps */
    WORKS(host, bp_host_api(host)->property->get_named(world, entities[ROWS - 1], "crash_plain", "y", BP_F64, &y));
    ck_assert(y == 5.0);
    float x = x_of(entities[ROWS - 1]);
    WORKS(host, bp_host_step(host));
    ck_assert(x_of(entities[ROWS - 1]) == x + 100.0f);
    for (int i = 0; i < 100; i++) {
        WORKS(host, bp_host_poll(host));
        os_sleep_ns(1000000);
    }
    ck_assert_uint_eq(told.count, 1); /* and it is done once */
    check_host(host);
    bp_host_destroy(host);
}
END_TEST

/* Ways to crash. Without a trial the version is opened once more, before the change, where there are many rows. Windows
 * runs constructors where no crash can be caught. */
static const struct { uint32_t flags, rows; const char *where, *said; } crashes[] = {
    {BP_HOST_TRIAL, 100, "simulate", "crashed in 'simulate' of component 'crash_plain'"},
#if !defined(_WIN32)
    {0, ROWS, "constructor", "it crashed while it was opened"},
#endif
};

START_TEST(what_is_asked_for_and_crashes_is_refused_and_may_be_asked_for_again)
{
    open_host(crashes[_i].flags, "crasher", "crash_plain", crashes[_i].rows);
    crash_next(crashes[_i].where, "null");
    put_plugin("crasher_next", "asked");
    WORKS(host, bp_host_begin_reload(host, crasher, 1, 0));
    wait_for_news(0);
    ck_assert_uint_eq(told.refused, 1);
    EXPECT(strstr(told.text, crashes[_i].said) != NULL, "%s", told.text);
    float x = x_of(entities[0]);
    WORKS(host, bp_host_step(host));
    ck_assert(x_of(entities[0]) == x + 1.0f);
    put_environment("CRASHER_WHERE", NULL);
    WORKS(host, bp_host_begin_reload(host, crasher, 1, 0));
    WORKS(host, bp_host_begin_reload(host, crasher, 1, 0)); /* twice is once */
    wait_for_news(1);
    EXPECT(told.refused == 1 && told.count == 2, "%s", told.text);
    ck_assert(crashes[_i].rows < ROWS || host->reload.readied > 0);
    check_host(host);
    bp_host_destroy(host);
}
END_TEST

/* On trial entities that were there are destroyed in the end: of two that have the component one is left out, which
 * gives the component up instead. Those that the trial makes are in another run. */
START_TEST(on_trial_the_second_of_two_entities_is_destroyed)
{
    uint32_t keys[2], prototype;
    open_host(BP_HOST_TRIAL, "crasher", "crash_plain", 0);
    keys[0] = key_of(world, "crash_plain", "");
    keys[1] = key_of(world, "crash_plain", "second");
    WORKS(host, bp_host_api(host)->world->prototype(world, keys, COUNT(keys), &prototype));
    WORKS(host, bp_host_api(host)->world->create(world, prototype, entities, 2));
    WORKS(host, bp_host_step(host));
    crash_next("died", "null");
    put_plugin("crasher_next", "asked");
    FAILS(host, BP_ERROR_FAILED, "crashed in 'died' of component 'crash_plain'",
          bp_host_reload(host, crasher, 1, NULL));
    put_environment("CRASHER_WHERE", NULL);
    check_host(host);
    bp_host_destroy(host);
}
END_TEST

START_TEST(a_system_that_has_nothing_to_save_gets_nothing_to_load_on_trial)
{
    open_host(BP_HOST_TRIAL, "crasher", "crash_plain", 2);
    WORKS(host, bp_world_use_system(world, "crash_system"));
    crash_next("system_save", "nothing");
    put_plugin("crasher_next", "asked");
    WORKS(host, bp_host_reload(host, crasher, 1, NULL));
    put_environment("CRASHER_WHERE", NULL);
    bp_host_destroy(host);
}
END_TEST

START_TEST(asking_again_while_a_trial_runs_lets_go_of_it_and_reload_by_hand_answers_for_both)
{
    open_host(BP_HOST_TRIAL, "crasher", "crash_plain", 100);
    put_plugin("crasher_next", "asked");
    WORKS(host, bp_host_begin_reload(host, crasher, 1, 0));
    while (host->hot.trial.child == NULL) {
        WORKS(host, bp_host_poll(host));
        os_sleep_ns(1000000);
    }
    WORKS(host, bp_host_begin_reload(host, crasher, 1, 0));
    ck_assert_ptr_null(host->hot.trial.child);
    WORKS(host, bp_host_reload(host, crasher, 1, NULL));
    ck_assert_uint_eq(told.count, 1);
    for (int i = 0; i < 50; i++) {
        WORKS(host, bp_host_poll(host));
        os_sleep_ns(1000000);
    }
    ck_assert_uint_eq(told.count, 1);
    bp_host_destroy(host);
}
END_TEST

START_TEST(a_host_that_ends_while_a_trial_runs_leaves_neither_memory_nor_a_process)
{
    heap_t heap = {.blocks = 0};
    const bp_allocator_i counted = heap_allocator(&heap);
    allocator = &counted;
    open_host(BP_HOST_TRIAL, "crasher", "crash_plain", 100);
    crash_next("simulate", "loop");
    put_plugin("crasher_next", "asked");
    WORKS(host, bp_host_begin_reload(host, crasher, 1, 0));
    while (host->hot.trial.child == NULL) {
        WORKS(host, bp_host_poll(host));
        os_sleep_ns(1000000);
    }
    bp_host_destroy(host);
    allocator = NULL;
    ck_assert_uint_eq(heap.blocks, 0);
#if !defined(_WIN32)
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
#endif
}
END_TEST

START_TEST(what_would_be_lost_is_refused_unless_it_may_be)
{
    open_host(BP_HOST_TRIAL, "purse", "purse", 2);
    WORKS(host, bp_host_begin_reload(host, purse, 1, 0));
    wait_for_news(0);
    EXPECT(told.refused == 1 && strstr(told.text, "it would lose items of ") != NULL, "%s", told.text);
    WORKS(host, bp_host_begin_reload(host, purse, 1, BP_RELOAD_LOSSY));
    wait_for_news(1);
    EXPECT(told.refused == 1 && strstr(told.text, "lost       items of 2 entities") != NULL, "%s", told.text);
    EXPECT(strstr(told.text, "component purse, 2 instances: the same fields") != NULL &&
               strstr(told.text, "component loose_purse, 0 instances: fields as they were") != NULL, "%s", told.text);
    WORKS(host, bp_host_begin_reload(host, purse, 1, 0)); /* what one reload may lose the next one may not */
    wait_for_news(2);
    EXPECT(told.refused == 2 && strstr(told.text, "it would lose items of ") != NULL, "%s", told.text);
    bp_host_destroy(host);
}
END_TEST

START_TEST(what_cannot_be_asked_for_is_said_and_asks_for_nothing)
{
    static const char *const unknown[] = {"crasher", "nobody"};
    open_host(0, "crasher", "crash_plain", 2);
    ck_assert_int_eq(bp_host_begin_reload(host, unknown, 2, 0), BP_ERROR_NOT_FOUND);
    ck_assert_str_eq(bp_host_error(host), "no plugin 'nobody' is loaded");
    ck_assert_int_eq(bp_host_begin_reload(host, crasher, 0, 0), BP_ERROR_ARGUMENT);
    ck_assert_int_eq(bp_host_begin_reload(host, crasher, 1, 8), BP_ERROR_ARGUMENT);
    host->destruction.stepping++;
    ck_assert_int_eq(bp_host_begin_reload(host, crasher, 1, 0), BP_ERROR_STATE);
    host->destruction.stepping--;
    for (int i = 0; i < 50; i++) {
        WORKS(host, bp_host_poll(host));
        os_sleep_ns(1000000);
    }
    ck_assert_uint_eq(told.count, 0);
    bp_host_destroy(host);
}
END_TEST

/* Without a trial it is this process that tries a version, or that finds none, and the worlds stand still for that. */
START_TEST(how_long_the_worlds_stood_still_for_an_untried_version_that_is_refused_is_told)
{
    open_host(0, "crasher", "crash_plain", 2);
    const char *path = put_bytes("no library", 10, "asked");
    for (uint32_t n = 0; n < 2; n++) {
        WORKS(host, bp_host_begin_reload(host, crasher, 1, 0));
        wait_for_news(n);
        EXPECT(told.refused == n + 1, "%s", told.text);
        ck_assert_uint_gt(told.pause, 0);
        ck_assert((remove(path) == 0) == (n == 0)); /* the second time there is no file */
    }
    bp_host_destroy(host);
}
END_TEST

/* Of two that are asked for the other one comes in; of one, nothing, and files are watched as before. */
START_TEST(what_is_unloaded_before_its_turn_is_not_asked_for_any_more)
{
    static const char *const pair[] = {"purse", "crasher"};
    open_host(BP_HOST_HOT_RELOAD, "crasher", "crash_plain", 2);
    WORKS(host, bp_host_load_plugin(host, put_plugin("purse", "asked_purse"), NULL, 0));
    WORKS(host, bp_host_begin_reload(host, pair, 2, 0));
    WORKS(host, bp_host_unload_plugin(host, "purse"));
    put_plugin("crasher_next", "asked");
    wait_for_news(0);
    EXPECT(told.refused == 0 && strstr(told.text, "crasher") != NULL && strstr(told.text, "purse") == NULL, "%s",
           told.text);

    WORKS(host, bp_host_begin_reload(host, crasher, 1, 0));
    WORKS(host, bp_host_unload_plugin(host, "crasher"));
    for (int i = 0; i < 50; i++) {
        WORKS(host, bp_host_poll(host));
        os_sleep_ns(1000000);
    }
    ck_assert_uint_eq(told.count, 1);
    WORKS(host, bp_host_load_plugin(host, put_plugin("crasher", "asked"), NULL, 0));
    WORKS(host, bp_host_poll(host));
    put_plugin("crasher_next", "asked");
    wait_for_news(1);
    EXPECT(told.refused == 0 && strstr(told.text, "crasher 1.0 -> 2.0") != NULL, "%s", told.text);
    bp_host_destroy(host);
}
END_TEST

Suite *asked_suite(void)
{
    Suite *suite = suite_create("asked");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, what_is_asked_for_comes_in_while_the_worlds_step, 0, COUNT(ways_in));
    tcase_add_loop_test(all, what_is_asked_for_and_crashes_is_refused_and_may_be_asked_for_again, 0, COUNT(crashes));
    tcase_add_test(all, on_trial_the_second_of_two_entities_is_destroyed);
    tcase_add_test(all, a_system_that_has_nothing_to_save_gets_nothing_to_load_on_trial);
    tcase_add_test(all, asking_again_while_a_trial_runs_lets_go_of_it_and_reload_by_hand_answers_for_both);
    tcase_add_test(all, a_host_that_ends_while_a_trial_runs_leaves_neither_memory_nor_a_process);
    tcase_add_test(all, what_would_be_lost_is_refused_unless_it_may_be);
    tcase_add_test(all, what_cannot_be_asked_for_is_said_and_asks_for_nothing);
    tcase_add_test(all, how_long_the_worlds_stood_still_for_an_untried_version_that_is_refused_is_told);
    tcase_add_test(all, what_is_unloaded_before_its_turn_is_not_asked_for_any_more);
    suite_add_tcase(suite, all);
    return suite;
}
