/* test_wants.c - the names that worlds keep: components and systems that come again when there is one of their name,
 * and that may be brought in and dropped meanwhile.
 *
 * The plugin is tests/fixtures/flock.h, whose second version has a system `land` that the first one lacks.
 */
#include "../suites.h"
#include "reload_support.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {"flock"};
static bp_host_o *host;
static bp_world_o *world;
static log_text_t log_text;

static void open_flock(const char *fixture)
{
    log_text.text[0] = '\0';
    host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log_text), .flags = BP_HOST_COPY_PLUGINS});
    WORKS(host, bp_host_load_plugin(host, put_plugin(fixture, "flock"), NULL, 0));
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    WORKS(host, bp_world_use_component(world, "bird"));
    WORKS(host, bp_world_use_component(world, "egg"));
    WORKS(host, bp_world_use_system(world, "fly"));
}

static void close_host(void)
{
    bp_host_destroy(host);
    EXPECT(strstr(log_text.text, "not given back") == NULL, "memory is kept:\n%s", log_text.text);
}

static void change_to(const char *fixture)
{
    put_plugin(fixture, "flock");
    WORKS(host, bp_host_reload(host, names, 1, NULL));
    WORKS(host, bp_world_step(world));
}

/* The units of the step in their order. */
static void expect_units(const char *expected)
{
    char text[256] = "";
    bp_unit_stats_t stats;
    for (uint32_t i = 0; bp_host_unit_stats(host, i, &stats) != 0; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? " " : "", stats.unit);
    EXPECT(strcmp(text, expected) == 0, "the units are '%s' and not '%s'", text, expected);
}

/* --- reloads ------------------------------------------------------------------------------------------------------ */

START_TEST(a_system_that_goes_with_a_version_comes_again_with_another)
{
    open_flock("flock_next");
    WORKS(host, bp_world_use_system(world, "land"));
    WORKS(host, bp_world_use_system(world, "warm"));
    host->reload.probation_steps = _i == 0 ? 0 : 1;
    for (uint32_t i = 0; i < 3; i++) {
        change_to("flock_first");
        expect_units("fly warm");
        change_to("flock_next");
        expect_units("fly land warm");
    }
    check_host(host);
    close_host();
}
END_TEST

START_TEST(a_system_that_has_come_again_goes_when_its_version_is_taken_back)
{
    open_flock("flock_next");
    WORKS(host, bp_world_use_system(world, "land"));
    host->reload.probation_steps = 0;
    change_to("flock_first");
    host->reload.probation_steps = 3;
    change_to("flock_next");
    expect_units("fly land");
    WORKS(host, reload_rollback(&host->reload));
    expect_units("fly");
    WORKS(host, bp_world_step(world));
    change_to("flock_next");
    expect_units("fly land");
    for (uint32_t i = 0; i < 5; i++)
        WORKS(host, bp_world_step(world));
    check_host(host);
    close_host();
}
END_TEST

START_TEST(what_is_dropped_does_not_come_again)
{
    open_flock("flock_next");
    WORKS(host, bp_world_use_system(world, "land"));
    change_to("flock_first");
    WORKS(host, bp_world_drop_system(world, "land")); /* though it is not there */
    FAILS(host, BP_ERROR_NOT_FOUND, "has no system 'land'", bp_world_drop_system(world, "land"));
    change_to("flock_next");
    expect_units("fly");
    WORKS(host, bp_world_use_system(world, "land"));
    expect_units("fly land");
    close_host();
}
END_TEST

START_TEST(a_plugin_that_is_loaded_again_is_brought_in_where_it_was_wanted)
{
    char path[512];
    open_flock("flock_next");
    snprintf(path, sizeof path, "%s", host->loader.plugins.items[0]->path);
    for (uint32_t i = 0; i < 3; i++) {
        bp_entity_t entity;
        WORKS(host, bp_host_unload_plugin(host, "flock"));
        WORKS(host, bp_world_step(world));
        expect_units("");
        WORKS(host, bp_host_load_plugin(host, path, NULL, 0));
        expect_units("fly");
        WORKS(host, api_of(world)->world->create(world, prototype_of(world, "bird", "egg", NULL, NULL), &entity, 1));
        WORKS(host, bp_world_step(world));
    }
    check_host(host);
    close_host();
}
END_TEST

START_TEST(a_component_comes_again_with_a_version_that_has_it)
{
    static const char *const probe[] = {"probe"};
    host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log_text), .flags = BP_HOST_COPY_PLUGINS});
    const char *path = put_plugin("reload_probe_other_component", "probe");
    char kept[512];
    snprintf(kept, sizeof kept, "%s", path);
    WORKS(host, bp_host_load_plugin(host, kept, NULL, 0));
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    WORKS(host, bp_world_use_component(world, "other_probe"));
    WORKS(host, bp_host_unload_plugin(host, "probe"));
    put_plugin("reload_probe_first", "probe"); /* whose component has another name */
    WORKS(host, bp_host_load_plugin(host, kept, NULL, 0));
    ck_assert_uint_eq(api_of(world)->world->component(world, "other_probe"), BP_NONE);
    put_plugin("reload_probe_other_component", "probe");
    WORKS(host, bp_host_reload(host, probe, 1, NULL));
    ck_assert_uint_ne(api_of(world)->world->component(world, "other_probe"), BP_NONE);
    WORKS(host, bp_world_step(world));
    check_host(host);
    close_host();
}
END_TEST

/* --- using and dropping ------------------------------------------------------------------------------------------- */

START_TEST(a_component_is_dropped_with_all_its_instances_where_no_system_needs_it)
{
    const bp_world_api *api;
    bp_entity_t entities[100];
    open_flock("flock_next");
    api = api_of(world)->world;
    WORKS(host, api->use_system(world, "warm"));
    WORKS(host, api->create(world, prototype_of(world, "bird", "egg", NULL, NULL), entities, 100));
    WORKS(host, bp_world_step(world));
    FAILS(host, BP_ERROR_STATE, "cannot step without 'egg': ", api->drop_component(world, "egg"));
    WORKS(host, bp_world_step(world));
    uint32_t warmth, egg = key_of(world, "egg", "");
    ck_assert_uint_eq(api->has(world, egg, entities, 100, NULL), 100);
    WORKS(host, api->drop_system(world, "warm"));
    expect_units("fly");
    WORKS(host, api->drop_component(world, "egg"));
    ck_assert_uint_eq(api->component(world, "egg"), BP_NONE);
    ck_assert_uint_eq(api->has(world, key_of(world, "bird", ""), entities, 100, NULL), 100);
    FAILS(host, BP_ERROR_NOT_FOUND, "egg",
          api_of(world)->property->get_named(world, entities[0], "egg", "warmth", BP_U32, &warmth));
    FAILS(host, BP_ERROR_NOT_FOUND, "did you mean 'bird'?", api->drop_component(world, "birt"));
    FAILS(host, BP_ERROR_NOT_FOUND, "no", api->use_component(world, "nothing"));
    WORKS(host, api->use_component(world, "egg"));
    FAILS(host, BP_ERROR_EXISTS, "already", api->use_component(world, "egg"));
    WORKS(host, api->create(world, prototype_of(world, "bird", "egg", NULL, NULL), entities, 100));
    for (uint32_t i = 0; i < 3; i++)
        WORKS(host, bp_world_step(world));
    check_host(host);
    close_host();
}
END_TEST

START_TEST(a_drop_ends_the_probation_of_what_it_takes_away)
{
    open_flock("flock_first");
    host->reload.probation_steps = 5;
    change_to("flock_next");
    WORKS(host, bp_world_drop_system(world, "fly"));
    FAILS(host, BP_ERROR_STATE, "on probation", reload_rollback(&host->reload));
    expect_units("");
    WORKS(host, bp_world_step(world));
    check_host(host);
    close_host();
}
END_TEST

/* --- a plugin that is linked in ----------------------------------------------------------------------------------- */

static bp_result_t inner[4];
static bp_world_o *beside;

static bp_result_t use_others(bp_system_t *s)
{
    inner[0] = s->api->world->use_system(s->world, "idle");
    inner[1] = s->api->world->drop_component(s->world, "plain");
    return BP_OK;
}

static void use_in_step(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)step, (void)matches, (void)count;
    inner[2] = s->api->world->use_system(s->world, "idle");
    inner[3] = bp_world_step(beside);
}

static void idle(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
}

static const bp_component_i plain[] = {{.name = "plain"}};
static const bp_system_i linked_systems[] = {{.name = "eager", .start = use_others, .run_all = use_in_step},
                                             {.name = "idle", .run_all = idle}};
static const bp_plugin_head_t linked =
    BP_PLUGIN_HEAD("linked", (&(const bp_plugin_desc_t){.version = "1",
                                                        .components = BP_LIST(plain),
                                                        .systems = BP_LIST(linked_systems)}));
static const bp_plugin_head_t *const all_linked[] = {&linked};

static void step_beside(void *data, const bp_entity_t *entities, uint32_t count)
{
    (void)data, (void)entities, (void)count;
    inner[3] = bp_world_step(beside);
}

START_TEST(verbs_that_run_while_something_comes_bring_nothing_in_and_no_verb_steps_a_world)
{
    host = bp_host_create(&(bp_host_desc_t){.static_plugins = all_linked, .static_plugin_count = 1});
    WORKS(host, bp_host_load_plugin(host, "linked", NULL, 0));
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    beside = bp_world_create(host, &(bp_world_desc_t){.name = "beside"});
    WORKS(host, bp_world_use_component(world, "plain"));
    WORKS(host, bp_world_use_system(world, "eager"));
    WORKS(host, bp_world_step(world));
    for (uint32_t i = 0; i < COUNT(inner); i++)
        ck_assert_int_eq(inner[i], BP_ERROR_STATE);
    expect_units("eager");
    WORKS(host, bp_world_use_system(world, "idle"));
    bp_host_on_destroyed(host, &inner, step_beside, NULL);
    bp_entity_t entity;
    WORKS(host, api_of(world)->entity->create(host, &entity, 1));
    inner[3] = BP_OK;
    ck_assert_uint_eq(api_of(world)->entity->destroy(host, &entity, 1), 1);
    ck_assert_int_eq(inner[3], BP_ERROR_STATE);
    WORKS(host, bp_world_step(beside));
    bp_host_destroy(host);
}
END_TEST

/* Whatever allocation fails: what could not be brought in is not wanted, and what could not be dropped is there. */
START_TEST(using_and_dropping_without_memory_changes_nothing)
{
    static rig_t rig;
    rig_open_with(&rig, all_linked, 1);
    host = rig.host;
    WORKS(host, bp_host_load_plugin(host, "linked", NULL, 0));
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    WORKS(host, bp_world_use_component(world, "plain"));
    bp_entity_t entities[3000];
    WORKS(host, api_of(world)->world->create(world, prototype_of(world, "plain", NULL, NULL, NULL), entities, 3000));
    bp_result_t result = BP_ERROR_MEMORY;
    for (uint32_t n = 1; result == BP_ERROR_MEMORY; n++) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
        result = bp_world_use_system(world, "idle");
        expect_units(result == BP_OK ? "idle" : "");
        ck_assert_uint_eq(world->wants.count, result == BP_OK ? 2 : 1);
    }
    ck_assert_int_eq(result, BP_OK);
    for (uint32_t n = 1; (result = BP_ERROR_MEMORY), n < 100; n++) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
        result = bp_world_drop_component(world, "plain");
        if (result == BP_OK)
            break;
        ck_assert_uint_ne(api_of(world)->world->component(world, "plain"), BP_NONE);
        ck_assert_uint_eq(world->wants.count, 2);
    }
    ck_assert_int_eq(result, BP_OK);
    rig.heap.refuse_first = 0;
    WORKS(host, bp_world_step(world));
    rig_close(&rig);
}
END_TEST

/* --- what goes with its plugin ------------------------------------------------------------------------------------ */

static char told[256];

static void tell(const char *what, const char *where)
{
    size_t length = strlen(told);
    snprintf(told + length, sizeof told - length, "%s%s%s ", what, where[0] == '\0' ? "" : " in ", where);
}

static void pause_it(bp_plugin_t *plugin, uint32_t reason)
{
    (void)plugin;
    tell(reason == BP_PAUSE_UNLOAD ? "paused" : "paused for another reason", "");
}

static void stop_component(bp_manager_t *m)
{
    tell("component stops", m->api->world->name(m->world));
}

static void stop_system(bp_system_t *s)
{
    tell("system stops", s->api->world->name(s->world));
}

static void run_nothing(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
}

static void unload_it(bp_plugin_t *plugin)
{
    (void)plugin;
    tell("unloaded", "");
}

static const bp_component_i orderly_components[] = {{.name = "order", .stop = stop_component}};
static const bp_system_i orderly_systems[] = {{.name = "keep_order", .stop = stop_system, .run_all = run_nothing}};
static const bp_plugin_head_t orderly =
    BP_PLUGIN_HEAD("orderly", (&(const bp_plugin_desc_t){.version = "1",
                                                         .components = BP_LIST(orderly_components),
                                                         .systems = BP_LIST(orderly_systems),
                                                         .pause = pause_it,
                                                         .unload = unload_it}));
static const bp_plugin_head_t *const orderly_alone[] = {&orderly};

/* So that no thread of it is at work on what ends. */
START_TEST(a_plugin_that_goes_is_paused_before_anything_of_it_ends)
{
    rig_t rig;
    rig_open_with(&rig, orderly_alone, 1);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "orderly", NULL, 0));
    for (uint32_t i = 0; i < 2; i++) {
        world = bp_world_create(rig.host, &(bp_world_desc_t){.name = i == 0 ? "first" : "second"});
        WORKS(rig.host, bp_world_use_component(world, "order"));
        WORKS(rig.host, bp_world_use_system(world, "keep_order"));
    }
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "orderly"));
    ck_assert_str_eq(told, "paused system stops in first component stops in first system stops in second component "
                           "stops in second unloaded ");
    rig_close(&rig);
}
END_TEST

Suite *wants_suite(void)
{
    Suite *suite = suite_create("wants");
    TCase *reloads = tcase_create("reloads"), *calls = tcase_create("calls");
    tcase_set_timeout(reloads, 60);
    tcase_add_loop_test(reloads, a_system_that_goes_with_a_version_comes_again_with_another, 0, 2);
    tcase_add_test(reloads, a_system_that_has_come_again_goes_when_its_version_is_taken_back);
    tcase_add_test(reloads, what_is_dropped_does_not_come_again);
    tcase_add_test(reloads, a_plugin_that_is_loaded_again_is_brought_in_where_it_was_wanted);
    tcase_add_test(reloads, a_component_comes_again_with_a_version_that_has_it);
    tcase_add_test(calls, a_component_is_dropped_with_all_its_instances_where_no_system_needs_it);
    tcase_add_test(calls, a_drop_ends_the_probation_of_what_it_takes_away);
    tcase_add_test(calls, verbs_that_run_while_something_comes_bring_nothing_in_and_no_verb_steps_a_world);
    tcase_add_test(calls, using_and_dropping_without_memory_changes_nothing);
    tcase_add_test(calls, a_plugin_that_goes_is_paused_before_anything_of_it_ends);
    suite_add_tcase(suite, reloads);
    suite_add_tcase(suite, calls);
    return suite;
}
