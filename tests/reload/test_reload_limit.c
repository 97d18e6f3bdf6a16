/* test_reload_limit.c - a reload that would keep the worlds waiting for longer than the host allows is refused before,
 * or while, values are carried; and it leaves no trace.
 *
 * The plugin is tests/fixtures/crasher.h, whose `crash_own` has storage of its own and goes over by properties. The
 * estimates follow from the number of instances alone, so nothing here depends on how fast the machine is; where time
 * is really taken, the plugin sleeps.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "reload_support.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 500000 };

static const char *const names[] = {"crasher"};
static log_text_t log_text;
static bp_host_o *host;
static bp_world_o *world;
static bp_entity_t *entities;

static void open_host(uint32_t limit, const char *component, uint32_t count)
{
    memset(&log_text, 0, sizeof log_text);
    crash_next("nowhere", "");
    host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log_text),
                                            .tag = 1,
                                            .flags = BP_HOST_COPY_PLUGINS,
                                            .reload_pause = limit});
    WORKS(host, bp_host_load_plugin(host, put_plugin("crasher", "limited"), NULL, 0));
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = 1});
    WORKS(host, bp_world_use_component(world, component));
    entities = malloc(count * sizeof *entities);
    ck_assert_ptr_nonnull(entities);
    WORKS(host, api_of(world)->world->create(world, prototype_of(world, component, NULL, NULL, NULL), entities, count));
    put_plugin("crasher_next", "limited");
}

static void close_host(void)
{
    free(entities);
    bp_host_destroy(host);
}

static bool has_next(const char *component)
{
    double y;
    return api_of(world)->property->get_named(world, entities[0], component, "y", BP_F64, &y) == BP_OK;
}

static uint32_t alive(const char *component)
{
    return world_count(&world->rows, world_component(&world->rows, component));
}

static void expect_untouched(const char *component, uint32_t count)
{
    ck_assert(!has_next(component));
    ck_assert_uint_eq(alive(component), count);
    WORKS(host, bp_world_step(world));
    check_host(host);
}

/* What takes longest is named, and not what comes after it. */
START_TEST(what_would_take_longer_than_allowed_is_refused_before_anything_is_carried)
{
    bp_entity_t few[10];
    open_host(10, "crash_own", MANY);
    WORKS(host, bp_world_use_component(world, "crash_plain"));
    WORKS(host, api_of(world)->world->create(world, prototype_of(world, "crash_plain", NULL, NULL, NULL), few, 10));
    crash_next("create", "null"); /* nothing is created */
    FAILS(host, BP_ERROR_LIMIT, "(estimated), and reload_pause allows 10 ms: component 'crash_own', world 'main', has "
                                "500000 instances, which go over property by property",
          bp_host_reload(host, names, 1, NULL));
    expect_untouched("crash_own", MANY);
    EXPECT(strstr(log_text.text, "nothing has changed") != NULL, "%s", log_text.text);
    EXPECT(strstr(log_text.text, "stand still now") == NULL, "%s", log_text.text);
    close_host();
}
END_TEST

START_TEST(a_long_one_that_is_allowed_is_told_before_it_begins)
{
    open_host(_i == 0 ? 0 : 3600000, "crash_own", MANY);
    WORKS(host, bp_host_reload(host, names, 1, NULL));
    ck_assert(has_next("crash_own"));
    ck_assert_uint_eq(alive("crash_own"), MANY);
    const char *before = strstr(log_text.text, "all worlds stand still now, for about 21 ms: component 'crash_own'"),
               *after = strstr(log_text.text, "reloaded crasher");
    EXPECT(before != NULL && after != NULL && before < after, "%s", log_text.text);
    close_host();
}
END_TEST

START_TEST(a_plugin_that_is_slower_than_estimated_is_refused_on_the_way)
{
    enum { SOME = 100000 };
    open_host(1000, "crash_own", SOME);
    crash_next("create", "slow"); /* 20 ms for each thousand: 2 s */
    FAILS(host, BP_ERROR_LIMIT, "as the first of them show, and reload_pause allows 1000 ms",
          bp_host_reload(host, names, 1, NULL));
    expect_untouched("crash_own", SOME);
    crash_next("nowhere", "");
    host->reload.pause_limit = 0;
    WORKS(host, bp_host_reload(host, names, 1, NULL));
    ck_assert(has_next("crash_own"));
    close_host();
}
END_TEST

/* The next version has one column more, whose default is not zero: 2.5 ms, and 1 ms for the file, which counts as 3
 * whole ones. Those that stay as they are cost nothing. */
START_TEST(columns_count_as_what_they_cost)
{
    open_host(_i == 0 ? 2 : 3, "crash_plain", MANY);
    if (_i == 0) {
        FAILS(host, BP_ERROR_LIMIT, "(estimated), and reload_pause allows 2 ms: component 'crash_plain', world 'main', "
                                    "has 500000 instances, whose fields become others; raise reload_pause",
              bp_host_reload(host, names, 1, NULL));
        expect_untouched("crash_plain", MANY);
    } else {
        WORKS(host, bp_host_reload(host, names, 1, NULL));
        ck_assert(has_next("crash_plain"));
    }
    close_host();
}
END_TEST

START_TEST(the_limit_of_an_ini_is_the_hosts_and_goes_with_an_ini_that_is_refused)
{
    memset(&log_text, 0, sizeof log_text);
    host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log_text), .tag = 1, .reload_pause = 7});
    FAILS(host, BP_ERROR_NOT_FOUND, "nothing_there",
          bp_host_setup(host, scratch_file("limit.ini", "[host]\nreload_pause = 5\n[world main]\ncomponents = "
                                                        "nothing_there\n")));
    ck_assert_uint_eq(host->reload.pause_limit, 7);
    WORKS(host, bp_host_setup(host, scratch_file("limit.ini", "[host]\nreload_pause = 5\n")));
    ck_assert_uint_eq(host->reload.pause_limit, 5);
    bp_host_destroy(host);
}
END_TEST

Suite *reload_limit_suite(void)
{
    Suite *suite = suite_create("reload_limit");
    TCase *limit = tcase_create("limit");
    tcase_set_timeout(limit, 120);
    tcase_add_test(limit, what_would_take_longer_than_allowed_is_refused_before_anything_is_carried);
    tcase_add_loop_test(limit, a_long_one_that_is_allowed_is_told_before_it_begins, 0, 2);
    tcase_add_test(limit, a_plugin_that_is_slower_than_estimated_is_refused_on_the_way);
    tcase_add_loop_test(limit, columns_count_as_what_they_cost, 0, 2);
    tcase_add_test(limit, the_limit_of_an_ini_is_the_hosts_and_goes_with_an_ini_that_is_refused);
    suite_add_tcase(suite, limit);
    return suite;
}
