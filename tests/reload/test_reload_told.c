/* test_reload_told.c - what reloads say: long reports whole, refusals with the reason of the plugin that refused and of
 * no other, and calls that are no longer possible when a change is prepared.
 */
#include "../suites.h"
#include "reload_support.h"

#include <bp_look.h>
#include <stdlib.h>
#include <string.h>

static scene_t scene;

static void begin(void)
{
    scene_open(&scene, PROBE_FIRST);
}

static void end(void)
{
    check_host(scene.host);
    scene_close(&scene);
}

static void refuse(int version, bp_result_t code, const char *part)
{
    char *before = describe_host(scene.host), *after;
    FAILS(scene.host, code, part, scene_reload(&scene, version));
    after = describe_host(scene.host);
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
}

/* --- refusals ----------------------------------------------------------------------------------------------------- */

/* The version has storage of its own, left a sentence behind when it started, and refuses without a word. */
START_TEST(who_refuses_without_a_reason_is_given_nobody_elses)
{
    const char *label = "silent";
    WORKS(scene.host,
          scene.api->property->set_named(scene.world, scene.entities[200], "probe", "label", BP_STRING, &label));
    refuse(PROBE_OWN, BP_ERROR_FAILED, "property label: it gave no reason (code ");
    ck_assert_ptr_null(strstr(bp_host_error(scene.host), "when it started"));
}
END_TEST

START_TEST(a_value_of_own_storage_that_no_column_can_hold_is_named)
{
    int64_t many = INT64_C(1) << 40, few = INT32_MAX;
    WORKS(scene.host, scene_reload(&scene, PROBE_OWN));
    WORKS(scene.host,
          scene.api->property->set_named(scene.world, scene.entities[200], "probe", "count", BP_I64, &many));
    refuse(PROBE_FIRST, BP_ERROR_RANGE, "'count' holds 1099511627776");
    ck_assert_int_eq(probe_i64(&scene, 200, "count"), many);
    WORKS(scene.host, scene.api->property->set_named(scene.world, scene.entities[200], "probe", "count", BP_I64, &few));
    WORKS(scene.host, scene_reload(&scene, PROBE_FIRST));
    ck_assert_int_eq(probe_i32(&scene, 200, "count"), INT32_MAX);
    ck_assert_int_eq(probe_i32(&scene, 201, "count"), 101);
}
END_TEST

START_TEST(all_properties_that_would_be_lost_are_counted)
{
    static const char *const names[] = {"forgetful"};
    float level = 3;
    WORKS(scene.host, bp_host_load_plugin(scene.host, put_plugin("forgetful", "forgetful"), NULL, 0));
    WORKS(scene.host, bp_world_use_component(scene.world, "forgetful"));
    bp_entity_t e = entity_with(scene.world, "forgetful");
    WORKS(scene.host, scene.api->property->set_named(scene.world, e, "forgetful", "level", BP_F32, &level));
    FAILS(scene.host, BP_ERROR_FAILED, "it would lose level of 1 entity (", bp_host_reload(scene.host, names, 1, NULL));
    ck_assert_ptr_null(strstr(bp_host_error(scene.host), "more propert"));
    WORKS(scene.host, scene.api->property->set_named(scene.world, e, "forgetful", "depth", BP_F32, &level));
    FAILS(scene.host, BP_ERROR_FAILED, "and 1 more property, ", bp_host_reload(scene.host, names, 1, NULL));
    WORKS(scene.host, scene.api->property->get_named(scene.world, e, "forgetful", "depth", BP_F32, &level));
    ck_assert(level == 3);
}
END_TEST

/* A change that waits for its columns is not prepared for a plugin that has gone meanwhile. */
START_TEST(a_plugin_that_is_unloaded_meanwhile_is_not_reloaded)
{
    static const char *const names[] = {"crowd"};
    reload_change_t *change;
    WORKS(scene.host, bp_host_load_plugin(scene.host, put_plugin("crowd_first", "crowd"), NULL, 0));
    put_plugin("crowd_next", "crowd");
    WORKS(scene.host, reload_read(&scene.host->reload, names, 1, &change));
    WORKS(scene.host, bp_host_unload_plugin(scene.host, "crowd"));
    FAILS(scene.host, BP_ERROR_NOT_FOUND, "unloaded meanwhile", reload_prepare(change));
    reload_discard(change);
    WORKS(scene.host, bp_host_load_plugin(scene.host, TEST_SCRATCH_DIR "/crowd" TEST_SO, NULL, 0));
}
END_TEST

/* --- deaths ------------------------------------------------------------------------------------------------------- */

/* One entity with the component is destroyed; how many entities are there more or fewer? */
static int32_t destroy_mourner(void)
{
    bp_entity_t e = entity_with(scene.world, "mourner");
    uint32_t before = scene.api->entity->count(scene.host);
    ck_assert_uint_eq(scene.api->entity->destroy(scene.host, &e, 1), 1);
    return (int32_t)(scene.api->entity->count(scene.host) - before);
}

/* Who is told was known before: a death had been announced. */
START_TEST(deaths_are_told_to_the_version_at_work_if_it_asks_for_them)
{
    static const char *const names[] = {"mourner"};
    WORKS(scene.host, bp_host_load_plugin(scene.host, put_plugin("mourner_first", "mourner"), NULL, 0));
    WORKS(scene.host, bp_world_use_component(scene.world, "mourner"));
    for (uint32_t round = 0; round < 3; round++) {
        ck_assert_int_eq(destroy_mourner(), -1);
        put_plugin("mourner_next", "mourner");
        scene.host->reload.probation_steps = 5;
        WORKS(scene.host, bp_host_reload(scene.host, names, 1, NULL));
        ck_assert_int_eq(destroy_mourner(), 1); /* told are the component and the plugin */
        if (round == 0) {
            WORKS(scene.host, reload_rollback(&scene.host->reload));
        } else {
            put_plugin("mourner_first", "mourner");
            WORKS(scene.host, bp_host_reload(scene.host, names, 1, NULL));
        }
    }
}
END_TEST

/* Of a plugin that is in no world, too. */
START_TEST(deaths_are_told_to_the_version_at_work_where_there_is_no_world)
{
    static const char *const names[] = {"mourner"};
    bp_entity_t e[2];
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.flags = BP_HOST_COPY_PLUGINS});
    const bp_entity_api *entities = bp_host_api(host)->entity;
    WORKS(host, bp_host_load_plugin(host, put_plugin("mourner_first", "mourner"), NULL, 0));
    WORKS(host, entities->create(host, e, 2));
    ck_assert(entities->destroy(host, &e[0], 1) == 1 && entities->count(host) == 1);
    put_plugin("mourner_next", "mourner");
    WORKS(host, bp_host_reload(host, names, 1, NULL));
    ck_assert(entities->destroy(host, &e[1], 1) == 1 && entities->count(host) == 1);
    bp_host_destroy(host);
}
END_TEST

/* --- reports ------------------------------------------------------------------------------------------------------ */

START_TEST(a_report_of_many_fields_is_whole_and_what_is_kept_of_it_ends_with_a_line)
{
    enum { FIELDS = 40 };
    static const char *const names[] = {"crowd"};
    bp_reload_report_t report = {.struct_size = sizeof report};
    bp_look_reload_t told = {.struct_size = sizeof told};
    char line[96];
    WORKS(scene.host, bp_host_load_plugin(scene.host, put_plugin("crowd_first", "crowd"), NULL, 0));
    WORKS(scene.host, bp_world_use_component(scene.world, "crowd"));
    put_plugin("crowd_next", "crowd");
    WORKS(scene.host, bp_host_reload(scene.host, names, 1, &report));
    const char *at = report.text;
    for (uint32_t i = 0; i < FIELDS; i++) {
        snprintf(line, sizeof line, "    converted  a_field_of_the_whole_crowd_%02u, from i32 to i64\n", i);
        at = strstr(at, line);
        EXPECT(at != NULL, "'%s' is not where it belongs in %s", line, report.text);
    }
    ck_assert_uint_eq(report.field_count, FIELDS);
    ck_assert_ptr_nonnull(strstr(report.text, "  component crowd_before has gone\n"));
    ck_assert_ptr_nonnull(strstr(report.text, "  component crowd_after is new: worlds may bring it in"));
    const bp_look_api *look = scene.api->registry->find(scene.host, BP_LOOK_API, 1);
    ck_assert(look->reload(scene.host, &(uint32_t){0}, &told));
    size_t length = strlen(told.text);
    ck_assert(length > 1500 && length < strlen(report.text));
    ck_assert_str_eq(told.text + length - 3, "...");
    ck_assert_int_eq(told.text[length - 4], '\n');
    ck_assert(strncmp(told.text, report.text, length - 3) == 0);
}
END_TEST

START_TEST(what_becomes_of_systems_is_reported)
{
    static const char *const names[] = {"crowd"};
    static const char *const lines[] = {"  system crowd_before_walks has gone\n",
                                        "  system crowd_after_walks is new: worlds may bring it in",
                                        "  system crowd_stands: its state went over as it is\n",
                                        "  system crowd_turns: its state began anew\n", "  system crowd_waits\n"};
    bp_reload_report_t report = {.struct_size = sizeof report};
    WORKS(scene.host, bp_host_load_plugin(scene.host, put_plugin("crowd_first", "crowd"), NULL, 0));
    put_plugin("crowd_next", "crowd");
    WORKS(scene.host, bp_host_reload(scene.host, names, 1, &report));
    for (uint32_t i = 0; i < COUNT(lines); i++)
        EXPECT(strstr(report.text, lines[i]) != NULL, "'%s' is not in %s", lines[i], report.text);
}
END_TEST

/* Where the component gets storage of its own, and where it gives it up. */
START_TEST(how_values_have_gone_over_is_reported)
{
    static const char *const names[] = {"probe"};
    bp_reload_report_t report = {.struct_size = sizeof report};
    put_plugin(probe_fixture(PROBE_OWN), "probe");
    WORKS(scene.host, bp_host_reload(scene.host, names, 1, &report));
    EXPECT(strstr(report.text, "; carried over by properties\n") != NULL, "%s", report.text);
    put_plugin(probe_fixture(PROBE_FIRST), "probe");
    WORKS(scene.host, bp_host_reload(scene.host, names, 1, &report));
    EXPECT(strstr(report.text, "; carried over by properties\n") != NULL, "%s", report.text);
    put_plugin(probe_fixture(PROBE_FASTER), "probe");
    WORKS(scene.host, bp_host_reload(scene.host, names, 1, &report));
    EXPECT(strstr(report.text, "carried over") == NULL, "%s", report.text);
}
END_TEST

/* In whichever order they are named. */
START_TEST(plugins_are_reloaded_in_the_order_in_which_they_were_loaded)
{
    static const char *const names[2][2] = {{"crowd", "mourner"}, {"mourner", "crowd"}};
    bp_reload_report_t report = {.struct_size = sizeof report};
    WORKS(scene.host, bp_host_load_plugin(scene.host, put_plugin("crowd_first", "crowd"), NULL, 0));
    WORKS(scene.host, bp_host_load_plugin(scene.host, put_plugin("mourner_first", "mourner"), NULL, 0));
    for (uint32_t i = 0; i < 2; i++) {
        put_plugin(i == 0 ? "crowd_next" : "crowd_first", "crowd");
        put_plugin(i == 0 ? "mourner_next" : "mourner_first", "mourner");
        WORKS(scene.host, bp_host_reload(scene.host, names[i], 2, &report));
        const char *first = strstr(report.text, "  plugin crowd: ");
        const char *second = strstr(report.text, "  plugin mourner: ");
        EXPECT(first != NULL && second != NULL && first < second, "%u: %s", i, report.text);
    }
}
END_TEST

START_TEST(nobody_cannot_be_told_of_reloads)
{
    FAILS(scene.host, BP_ERROR_ARGUMENT, "a callback is a function", bp_host_on_reload(scene.host, NULL, NULL));
}
END_TEST

Suite *reload_told_suite(void)
{
    Suite *suite = suite_create("reload_told");
    TCase *tests = add_case(suite, "told", begin, end, 30);
    tcase_add_test(tests, deaths_are_told_to_the_version_at_work_if_it_asks_for_them);
    tcase_add_test(tests, deaths_are_told_to_the_version_at_work_where_there_is_no_world);
    tcase_add_test(tests, who_refuses_without_a_reason_is_given_nobody_elses);
    tcase_add_test(tests, a_value_of_own_storage_that_no_column_can_hold_is_named);
    tcase_add_test(tests, all_properties_that_would_be_lost_are_counted);
    tcase_add_test(tests, a_plugin_that_is_unloaded_meanwhile_is_not_reloaded);
    tcase_add_test(tests, a_report_of_many_fields_is_whole_and_what_is_kept_of_it_ends_with_a_line);
    tcase_add_test(tests, what_becomes_of_systems_is_reported);
    tcase_add_test(tests, how_values_have_gone_over_is_reported);
    tcase_add_test(tests, plugins_are_reloaded_in_the_order_in_which_they_were_loaded);
    tcase_add_test(tests, nobody_cannot_be_told_of_reloads);
    return suite;
}
