/* test_reload.c - what a reload does to a world, one kind of change after another, and what it refuses.
 *
 * Each test reloads the probe (tests/fixtures/reload_probe.h) in a host with two worlds, many compositions, dead rows
 * and other components, and looks at every value by name. A refusal must leave the whole host as it was written down
 * before.
 */
#include "../suites.h"
#include "reload_support.h"

#include "engine/host.h"

#include <bp_changes.h>
#include <bp_query.h>
#include <stdlib.h>
#include <string.h>

static scene_t scene;

static void open_1(void)
{
    scene_open(&scene, PROBE_FIRST);
}

static void close_scene(void)
{
    reload_accept(&scene.host->reload);
    check_host(scene.host);
    scene_close(&scene);
}

static void refuse(int version, bp_result_t code, const char *part)
{
    char *before = describe_host(scene.host);
    FAILS(scene.host, code, part, scene_reload(&scene, version));
    expect_same(before, describe_host(scene.host), "a refused reload");
    check_host(scene.host);
    WORKS(scene.host, bp_host_step(scene.host));
}

static bool near(float a, float b)
{
    float difference = a - b;
    return difference < 1e-4f && difference > -1e-4f;
}

/* --- what changes ------------------------------------------------------------------------------------------- */

START_TEST(new_code_runs_over_the_same_memory)
{
    char *before = describe_host(scene.host);
    const void *columns = scene.world->rows.runs[scene.world->rows.run_count - 1]->columns[1];
    uint32_t layout = scene.world->rows.layout, resolved = scene.world->rows.ref_version;
    WORKS(scene.host, scene_reload(&scene, PROBE_FASTER));
    expect_same(before, describe_host(scene.host), "a reload of code alone");
    ck_assert_uint_eq(scene.world->rows.ref_version, resolved); /* references are not resolved once more */
    ck_assert_ptr_eq(scene.world->rows.runs[scene.world->rows.run_count - 1]->columns[1], columns);
    ck_assert_uint_eq(scene.world->rows.layout, layout);
    WORKS(scene.host, bp_host_step(scene.host));
    EACH_PROBE(&scene, i)
    EXPECT(near(probe_vec3(&scene, i, "position").y, (float)i * 2.0f + 2.0f * 2.0f / 50.0f),
           "entity %u is not moved by the new code", i);
}
END_TEST

START_TEST(fields_are_added_dropped_renamed_and_widened)
{
    WORKS(scene.host, scene_reload(&scene, PROBE_RESHAPED));
    check_host(scene.host);
    EACH_PROBE(&scene, i) {
        EXPECT(near(probe_f32(&scene, i, "drag"), 0.5f), "the added field of %u has not its default", i);
        EXPECT(probe_i64(&scene, i, "tally") == (int64_t)i - 100, "the renamed field of %u has lost its value", i);
        EXPECT(probe_vec3(&scene, i, "position").z == (float)i * 4.0f, "the position of %u", i);
        EXPECT(probe_f64(&scene, i, "mass") == 2.0 + (double)i, "the widened mass of %u", i);
        EXPECT(strcmp(probe_text(&scene, i, "note"), "none") == 0, "the added text of %u", i);
        char label[16];
        snprintf(label, sizeof label, "probe %u", i % 7);
        EXPECT(strcmp(probe_text(&scene, i, "label"), label) == 0, "the label of %u", i);
        EXPECT(probe_entity(&scene, i, "friend").id == scene.entities[(i * 7) % SCENE_ENTITIES].id, "the friend of %u",
               i);
    }
    FAILS(scene.host, BP_ERROR_NOT_FOUND, "velocity",
          scene.api->property->get_named(scene.world, scene.entities[1], "probe", "velocity", BP_VEC3,
                                         &(bp_vec3_t){0}));
    WORKS(scene.host, bp_host_step(scene.host));
}
END_TEST

START_TEST(there_and_back_leaves_what_both_have)
{
    WORKS(scene.host, scene_reload(&scene, PROBE_REORDERED));
    EACH_PROBE(&scene, i)
        EXPECT(probe_i32(&scene, i, "extra") == 7, "the added field of %u", i);
    char *before = describe_host(scene.host);
    free(before);
    WORKS(scene.host, scene_reload(&scene, PROBE_FIRST));
    check_host(scene.host);
    EACH_PROBE(&scene, i) {
        EXPECT(probe_f32(&scene, i, "mass") == 2.0f + (float)i, "the mass of %u", i);
        EXPECT(probe_vec3(&scene, i, "velocity").y == 2.0f, "the velocity of %u", i);
        EXPECT(probe_i32(&scene, i, "count") == (int32_t)i - 100, "the count of %u", i);
    }
}
END_TEST

START_TEST(texts_of_a_declaration_change_too)
{
    bp_field_t field = {0};
    WORKS(scene.host, scene_reload(&scene, PROBE_OTHER_TEXTS));
    WORKS(scene.host, scene.api->property->describe(scene.host, "probe", 0, &field, sizeof field));
    ck_assert_str_eq(field.doc, "how heavy it is");
    ck_assert_str_eq(field.unit, "kg");
}
END_TEST

START_TEST(rows_move_as_ever_after_a_reload)
{
    uint32_t flag = key_of(scene.world, "flag", ""), probe = key_of(scene.world, "probe", "");
    WORKS(scene.host, scene_reload(&scene, PROBE_RESHAPED));
    EACH_PROBE(&scene, i) {
        bool has = scene.api->world->has(scene.world, flag, &scene.entities[i], 1, NULL) == 1;
        WORKS(scene.host, has ? scene.api->world->remove(scene.world, flag, &scene.entities[i], 1)
                              : scene.api->world->add(scene.world, flag, &scene.entities[i], 1));
    }
    check_host(scene.host);
    EACH_PROBE(&scene, i)
        EXPECT(probe_f64(&scene, i, "mass") == 2.0 + (double)i, "the mass of %u", i);
    for (uint32_t i = 0; i < SCENE_ENTITIES; i += 11) {
        if (scene.api->entity->alive(scene.host, &scene.entities[i], 1, NULL) == 0)
            continue;
        WORKS(scene.host, scene.api->world->add(scene.world, probe, &scene.entities[i], 1));
        float drag;
        WORKS(scene.host,
              scene.api->property->get_named(scene.world, scene.entities[i], "probe", "drag", BP_F32, &drag));
        EXPECT(near(drag, 0.5f), "a new probe has not the new default");
    }
    for (int n = 0; n < 5; n++)
        WORKS(scene.host, bp_host_step(scene.host));
}
END_TEST

/* --- narrowing ------------------------------------------------------------------------------------------------ */

START_TEST(narrowing_is_refused_where_a_value_does_not_fit)
{
    refuse(PROBE_COUNT_BOOL, BP_ERROR_RANGE, "count");
    for (uint32_t w = 0; w < scene.host->destruction.world_count; w++) {
        bp_world_o *world = world_handle(scene.host->destruction.worlds[w]);
        uint32_t cursor = 0;
        bp_run_t run;
        while (next_run(world, scene.api->world->component(world, "probe"), &cursor, &run)) {
            for (uint32_t i = 0; i < run.count; i++)
                ((int32_t *)run.columns[4])[i] = run.entities[i].id == 0 ? 9 : (int32_t)(i % 2);
        }
    }
    WORKS(scene.host, scene_reload(&scene, PROBE_COUNT_BOOL)); /* values of dead rows are not looked at */
}
END_TEST

START_TEST(tighter_limits_are_refused_where_a_value_lies_outside)
{
    float heavy = 3, light = 1;
    WORKS(scene.host, scene.api->property->set_named(scene.world, scene.entities[1], "probe", "mass", BP_F32, &light));
    refuse(PROBE_MASS_LIMIT, BP_ERROR_RANGE, "mass");
    WORKS(scene.host, scene.api->property->set_named(scene.world, scene.entities[1], "probe", "mass", BP_F32, &heavy));
    WORKS(scene.host, scene_reload(&scene, PROBE_MASS_LIMIT));
    FAILS(scene.host, BP_ERROR_RANGE, "mass",
          scene.api->property->set_named(scene.world, scene.entities[1], "probe", "mass", BP_F32, &light));
}
END_TEST

/* --- storage of its own ----------------------------------------------------------------------------------------- */

static void expect_own(void)
{
    check_host(scene.host);
    EACH_PROBE(&scene, i) {
        char label[16];
        snprintf(label, sizeof label, "probe %u", i % 7);
        EXPECT(probe_i64(&scene, i, "count") == (int64_t)i - 100, "the count of %u", i);
        EXPECT(probe_vec3(&scene, i, "position").y == (float)i * 2.0f, "the position of %u", i);
        EXPECT(probe_f32(&scene, i, "mass") == 2.0f + (float)i, "the mass of %u", i);
        EXPECT(strcmp(probe_text(&scene, i, "label"), label) == 0, "the label of %u", i);
        EXPECT(probe_entity(&scene, i, "friend").id == scene.entities[(i * 7) % SCENE_ENTITIES].id, "the friend of %u",
               i);
    }
}

START_TEST(instances_go_from_columns_to_storage_of_their_own_and_back)
{
    WORKS(scene.host, scene_reload(&scene, PROBE_OWN));
    expect_own();
    WORKS(scene.host, bp_host_step(scene.host));
    for (uint32_t i = 1; i < 100; i += 3)
        scene.api->entity->destroy(scene.host, &scene.entities[i], 1);
    check_host(scene.host);
    expect_own();
    WORKS(scene.host, scene_reload(&scene, PROBE_OWN)); /* own to own, by properties */
    expect_own();
    WORKS(scene.host, scene_reload(&scene, PROBE_REORDERED));
    check_host(scene.host);
    EACH_PROBE(&scene, i) {
        EXPECT(probe_i32(&scene, i, "count") == (int32_t)i - 100, "the count of %u", i);
        EXPECT(probe_i32(&scene, i, "extra") == 7, "the added field of %u", i);
        EXPECT(probe_f32(&scene, i, "mass") == 2.0f + (float)i, "the mass of %u", i);
    }
}
END_TEST

START_TEST(instances_go_through_save_and_load_where_both_are_there)
{
    scene.host->reload.probation_steps = _i == 0 ? 0 : 4;
    WORKS(scene.host, scene_reload(&scene, PROBE_OWN_SAVED));
    expect_own();
    WORKS(scene.host, scene_reload(&scene, PROBE_OWN_SAVED));
    check_host(scene.host);
    EACH_PROBE(&scene, i) {
        EXPECT(probe_i64(&scene, i, "count") == (int64_t)i + 900, "the count of %u has not gone through `load`", i);
        EXPECT(probe_vec3(&scene, i, "position").y == (float)i * 2.0f, "the position of %u", i);
    }
    if (_i == 1) {
        WORKS(scene.host, reload_rollback(&scene.host->reload));
        expect_own();
    }
    for (uint32_t i = 1; i < 100; i += 3)
        scene.api->entity->destroy(scene.host, &scene.entities[i], 1);
    check_host(scene.host);
    WORKS(scene.host, scene_reload(&scene, PROBE_OWN)); /* from one with save to one without load */
    check_host(scene.host);
}
END_TEST

START_TEST(state_of_the_same_form_goes_over_as_it_is)
{
    scene.host->reload.probation_steps = _i == 0 ? 0 : 4;
    WORKS(scene.host, scene_reload(&scene, PROBE_OWN_KEPT));
    expect_own();
    const void *state = state_of(scene.world, "probe");
    WORKS(scene.host, scene_reload(&scene, PROBE_OWN_KEPT));
    ck_assert_ptr_eq(state_of(scene.world, "probe"), state);
    expect_own();
    if (_i == 1) {
        WORKS(scene.host, reload_rollback(&scene.host->reload));
        ck_assert_ptr_eq(state_of(scene.world, "probe"), state);
        expect_own();
    }
    WORKS(scene.host, scene_reload(&scene, PROBE_OWN)); /* its form is another: by properties */
    ck_assert_ptr_ne(state_of(scene.world, "probe"), state);
    expect_own();
    WORKS(scene.host, scene_reload(&scene, PROBE_FIRST));
}
END_TEST

START_TEST(a_version_that_does_not_take_the_instances_is_refused)
{
    const char *label = "a label that is too long for it";
    WORKS(scene.host,
          scene.api->property->set_named(scene.world, scene.entities[200], "probe", "label", BP_STRING, &label));
    refuse(PROBE_OWN, BP_ERROR_RANGE, "at most 15 bytes");
}
END_TEST

/* Texts that are taken out of lists on the way belong to the host for as long as the call that takes them: where it
 * takes them, and where it refuses them. check_host counts the texts. */
START_TEST(lists_become_texts_of_storage_of_its_own_and_leave_none_behind)
{
    const bp_property_api *properties = scene.api->property;
    bp_property_t label;
    const bp_entity_t *some = &scene.entities[200];
    const char *fits[] = {"fifteen letters", "another"}, *none[] = {"sixteen letters."};
    bp_list_t one = {fits, 1, 1}, two = {fits, 2, 2}, large = {none, 1, 1};
    WORKS(scene.host, scene_reload(&scene, PROBE_LABELS));
    WORKS(scene.host, properties->resolve(scene.world, *some, "probe", "label", &label));
    WORKS(scene.host, properties->set(scene.world, &label, some, 1, &two, 0));
    refuse(PROBE_OWN, BP_ERROR_RANGE, "label");
    WORKS(scene.host, properties->set(scene.world, &label, some, 1, &large, 0));
    refuse(PROBE_OWN, BP_ERROR_RANGE, "at most 15 bytes");
    WORKS(scene.host, properties->set(scene.world, &label, some, 1, &one, 0));
    WORKS(scene.host, scene_reload(&scene, PROBE_OWN));
    check_host(scene.host);
    ck_assert_str_eq(probe_text(&scene, 200, "label"), "fifteen letters");
    ck_assert_str_eq(probe_text(&scene, 202, "label"), "probe 6");
}
END_TEST

/* --- refusals --------------------------------------------------------------------------------------------------- */

START_TEST(what_cannot_be_is_refused_and_leaves_no_trace)
{
    static const struct { int version; bp_result_t code; const char *part;
    } cases[] = {
        {PROBE_MASS_TEXT, BP_ERROR_TYPE, "mass"},
        {PROBE_SINGLE, BP_ERROR_EXISTS, "single"},
        {PROBE_LOAD_FAILS, BP_ERROR_FAILED, "probe" TEST_SO ": its load failed: probe: not today"},
        {PROBE_START_FAILS, BP_ERROR_FAILED, "want to"},
        {PROBE_OTHER_NAME, BP_ERROR_ARGUMENT, "something_else"},
        {PROBE_OTHER_COMPONENT, BP_ERROR_NOT_FOUND, "'probe' has gone"},
        {PROBE_OPTION, BP_ERROR_ARGUMENT, "'wanted'"},
    };
    refuse(cases[_i].version, cases[_i].code, cases[_i].part);
    WORKS(scene.host, scene_reload(&scene, PROBE_FASTER)); /* and the next one works */
}
END_TEST

START_TEST(a_start_cannot_change_the_world)
{
    char *before = describe_host(scene.host);
    WORKS(scene.host, scene_reload(&scene, PROBE_MEDDLES));
    expect_same(before, describe_host(scene.host), "a start that tried");
}
END_TEST

START_TEST(unknown_and_static_plugins_are_refused)
{
    static const char *const unknown[] = {"prob"}, *const fixed[] = {"zoo"}, *const twice[] = {"probe", "probe"};
    FAILS(scene.host, BP_ERROR_NOT_FOUND, "did you mean 'probe'", bp_host_reload(scene.host, unknown, 1, NULL));
    FAILS(scene.host, BP_ERROR_ARGUMENT, "linked into", bp_host_reload(scene.host, fixed, 1, NULL));
    FAILS(scene.host, BP_ERROR_ARGUMENT, "twice", bp_host_reload(scene.host, twice, 2, NULL));
    FAILS(scene.host, BP_ERROR_ARGUMENT, "name 1 to", bp_host_reload(scene.host, twice, 0, NULL));
    remove(TEST_SCRATCH_DIR "/probe.gone");
    ck_assert_int_eq(rename(TEST_SCRATCH_DIR "/probe" TEST_SO, TEST_SCRATCH_DIR "/probe.gone"), 0);
    FAILS(scene.host, BP_ERROR_IO, "probe" TEST_SO, bp_host_reload(scene.host, twice, 1, NULL));
}
END_TEST

static void reload_inside(void *data, const bp_entity_t *entities, uint32_t count)
{
    static const char *const names[] = {"probe"};
    (void)entities, (void)count;
    *(bp_result_t *)data = bp_host_reload(scene.host, names, 1, NULL);
}

START_TEST(not_from_inside_a_callback)
{
    bp_result_t result = BP_OK;
    int owner = 0;
    WORKS(scene.host, bp_host_on_destroyed(scene.host, &owner, reload_inside, &result));
    scene.api->entity->destroy(scene.host, &scene.entities[1], 1);
    ck_assert_int_eq(result, BP_ERROR_STATE);
    bp_host_drop_owner(scene.host, &owner);
}
END_TEST

START_TEST(not_while_a_world_holds_its_rows)
{
    static const char *const names[] = {"probe"};
    const world_hold_t holds[] = {WORLD_SPAWNING, WORLD_TELLING, WORLD_STEPPING};
    const reload_kept_t then = {.plugin = loader_find(&scene.host->loader, names[0])};
    for (size_t i = 0; i < COUNT(holds); i++) {
        scene.second->rows.hold = holds[i];
        FAILS(scene.host, BP_ERROR_STATE, "between steps", bp_host_reload(scene.host, names, 1, NULL));
        FAILS(scene.host, BP_ERROR_STATE, "between steps", reload_return(&scene.host->reload, &then, 1));
        ck_assert_uint_eq(scene.second->rows.hold, holds[i]);
        scene.second->rows.hold = WORLD_FREE;
    }
}
END_TEST

/* --- what others hold --------------------------------------------------------------------------------------------- */

START_TEST(properties_follow_their_field)
{
    bp_property_t mass, count, velocity, label;
    bp_entity_t e = scene.entities[1], late = scene.entities[2];
    float f;
    int32_t n;
    bp_vec3_t v;
    const char *text;
    const bp_property_api *api = scene.api->property;
    WORKS(scene.host, api->resolve(scene.world, e, "probe", "mass", &mass));
    WORKS(scene.host, api->resolve(scene.world, e, "probe", "count", &count));
    WORKS(scene.host, api->resolve(scene.world, e, "probe", "velocity", &velocity));
    WORKS(scene.host, api->resolve(scene.world, e, "probe", "label", &label));
    WORKS(scene.host, api->get(scene.world, &mass, &e, 1, &f, sizeof f));
    WORKS(scene.host, scene_reload(&scene, PROBE_REORDERED));
    ck_assert_ptr_null(bp_property_cell(scene.world, &mass, e));
    WORKS(scene.host, api->get(scene.world, &mass, &e, 1, &f, sizeof f));
    ck_assert(f == 3.0f);
    ck_assert_ptr_nonnull(bp_property_cell(scene.world, &mass, e));
    WORKS(scene.host, api->get(scene.world, &count, &late, 1, &n, sizeof n));
    ck_assert_int_eq(n, 2 - 100);
    f = -1;
    FAILS(scene.host, BP_ERROR_RANGE, "mass", api->set(scene.world, &mass, &e, 1, &f, sizeof f)); /* its limits too */
    WORKS(scene.host, scene_reload(&scene, PROBE_RESHAPED));
    FAILS(scene.host, BP_ERROR_TYPE, "resolve it again", api->get(scene.world, &mass, &e, 1, &f, sizeof f));
    FAILS(scene.host, BP_ERROR_TYPE, "'tally'", api->get(scene.world, &count, &e, 1, &n, sizeof n));
    FAILS(scene.host, BP_ERROR_NOT_FOUND, "'velocity'", api->get(scene.world, &velocity, &e, 1, &v, sizeof v));
    WORKS(scene.host, api->get(scene.world, &label, &e, 1, &text, sizeof text));
    ck_assert_str_eq(text, "probe 1");
    bp_property_t foreign = label;
    FAILS(scene.host, BP_ERROR_ARGUMENT, "not resolved in world",
          api->get(scene.second, &foreign, &e, 1, &text, sizeof text));
    WORKS(scene.host, scene_reload(&scene, PROBE_FIRST));
    WORKS(scene.host, api->get(scene.world, &velocity, &e, 1, &v, sizeof v)); /* it is back */
    ck_assert(v.y == 2.0f);
}
END_TEST

static bp_ref_t make_ref(bp_entity_t e, uint32_t key, uint32_t field)
{
    bp_ref_t ref = {.entity = e, .field = key << 8 | field};
    ck_assert_ptr_nonnull(scene.api->world->ref(scene.world, &ref));
    return ref;
}

START_TEST(references_follow_their_field)
{
    uint32_t key = key_of(scene.world, "probe", "");
    bp_ref_t mass = make_ref(scene.entities[1], key, 0), position = make_ref(scene.entities[2], key, 1);
    bp_ref_t velocity = make_ref(scene.entities[2], key, 2), lost = make_ref(scene.entities[4], key, 1);
    scene.api->world->remove(scene.world, key, &scene.entities[4], 1);
    ck_assert_ptr_null(bp_ref_get(scene.api->world, scene.world, &lost));
    WORKS(scene.host, scene_reload(&scene, PROBE_REORDERED));
    const float *m = bp_ref_get(scene.api->world, scene.world, &mass);
    ck_assert(m != NULL && *m == 3.0f);
    WORKS(scene.host, scene_reload(&scene, PROBE_RESHAPED));
    ck_assert_ptr_null(bp_ref_get(scene.api->world, scene.world, &mass)); /* it is f64 now */
    ck_assert_ptr_null(bp_ref_get(scene.api->world, scene.world, &velocity));
    const bp_vec3_t *p = bp_ref_get(scene.api->world, scene.world, &position);
    ck_assert(p != NULL && p->z == 8.0f);
    WORKS(scene.host, scene.api->world->add(scene.world, key, &scene.entities[4], 1));
    p = bp_ref_get(scene.api->world, scene.world, &lost);
    ck_assert(p != NULL && p->z == 0.0f);
    *(bp_vec3_t *)scene.api->world->ref_write(scene.world, &lost) = (bp_vec3_t){1, 2, 3};
    ck_assert(probe_vec3(&scene, 4, "position").z == 3.0f);
    WORKS(scene.host, scene_reload(&scene, PROBE_FIRST));
    ck_assert_ptr_null(bp_ref_get(scene.api->world, scene.world, &velocity)); /* what is gone stays gone */
}
END_TEST

/* --- systems of others -------------------------------------------------------------------------------------------- */

static void add_reader(uint32_t threads)
{
    host_set_threads(scene.host, threads);
    WORKS(scene.host, bp_host_load_plugin(scene.host, put_plugin("reload_reader", "reload_reader"), NULL, 0));
    WORKS(scene.host, bp_world_use_component(scene.world, "seen"));
    WORKS(scene.host, bp_world_use_system(scene.world, "look"));
    WORKS(scene.host, bp_world_use_system(scene.world, "look_together"));
    uint32_t seen = key_of(scene.world, "seen", "");
    EACH_PROBE(&scene, i)
        WORKS(scene.host, scene.api->world->add(scene.world, seen, &scene.entities[i], 1));
}

static void expect_seen(void)
{
    WORKS(scene.host, bp_host_step(scene.host));
    EACH_PROBE(&scene, i) {
        float mass, together;
        bp_vec3_t position, now = probe_vec3(&scene, i, "position");
        if (i % 5 == 0)
            continue; /* it has two probes, and either may be seen last */
        WORKS(scene.host,
              scene.api->property->get_named(scene.world, scene.entities[i], "seen", "mass", BP_F32, &mass));
        WORKS(scene.host,
              scene.api->property->get_named(scene.world, scene.entities[i], "seen", "position", BP_VEC3, &position));
        WORKS(scene.host,
              scene.api->property->get_named(scene.world, scene.entities[i], "seen", "together", BP_F32, &together));
        EXPECT(mass == 2.0f + (float)i && together == mass, "the system sees the mass %g of %u", (double)mass, i);
        EXPECT(position.x == now.x && position.y == now.y && position.z == now.z,
               "the system sees another position of %u", i);
    }
}

START_TEST(systems_of_others_are_handed_the_columns_that_they_were_compiled_for)
{
    add_reader(_i == 0 ? 1 : 2);
    expect_seen();
    WORKS(scene.host, scene_reload(&scene, PROBE_REORDERED));
    expect_seen();
    WORKS(scene.host, scene_reload(&scene, PROBE_FIRST));
    expect_seen();
    WORKS(scene.host, scene_reload(&scene, PROBE_REORDERED));
    WORKS(scene.host, scene_reload(&scene, PROBE_REORDERED));
    expect_seen();
}
END_TEST

START_TEST(what_a_system_of_others_may_read_does_not_vanish_without_it)
{
    static const char *const both[] = {"probe", "reload_reader"}, *const reversed[] = {"reload_reader", "probe"};
    add_reader(1);
    refuse(PROBE_RESHAPED, BP_ERROR_TYPE, "reload probe reload_reader");
    refuse(PROBE_OWN, BP_ERROR_TYPE, "reload probe reload_reader");
    expect_seen();
    put_plugin("reload_probe_reordered", "probe");
    WORKS(scene.host, bp_host_reload(scene.host, both, 2, NULL)); /* the reader takes the new order for its own now */
    WORKS(scene.host, bp_host_step(scene.host));
    put_plugin("reload_probe_first", "probe");
    WORKS(scene.host, bp_host_reload(scene.host, reversed, 2, NULL));
    expect_seen();
    scene_clear_log(&scene);
}
END_TEST

/* Kept queries are bound anew, to columns in another order; a version without a field that one asks for is refused. */
START_TEST(kept_queries_go_on_after_a_reload_or_it_is_refused)
{
    static const bp_term_field_t fields[] = {{.name = "mass", .type = BP_F32}, {.name = "position", .type = BP_VEC3}};
    static const bp_term_t probe[] = {{.component = "probe", .fields = BP_LIST(fields)}};
    const bp_term_list_t terms = BP_LIST(probe);
    const bp_query_api *queries = scene.api->registry->find(scene.host, BP_QUERY_API, 1);
    const bp_changes_api *changes = scene.api->registry->find(scene.host, BP_CHANGES_API, 1);
    bp_query_o *query;
    WORKS(scene.host, queries->make(scene.world, NULL, &terms, BP_QUERY_CHANGES, &query));
    for (uint32_t round = 0; round < 3; round++) {
        uint64_t since = changes->look(scene.world);
        uint32_t rows = 0, changed = 0;
        if (round > 0)
            WORKS(scene.host, scene_reload(&scene, round == 1 ? PROBE_REORDERED : PROBE_FIRST));
        WORKS(scene.host, queries->begin(query, 0));
        for (const bp_match_t *m; (m = queries->next(query)) != NULL;) {
            const float *mass = m->columns[0][0];
            const bp_vec3_t *position = m->columns[0][1];
            rows += m->count;
            for (uint32_t i = 0; i < m->count && m->count > 100; i++)
                EXPECT(mass[i] >= 2 && position[i].x == position[i].x, "row %u has the mass %g", i, (double)mass[i]);
        }
        WORKS(scene.host, queries->begin(query, since));
        for (const bp_match_t *m; (m = queries->next(query)) != NULL;)
            changed += m->count;
        ck_assert_uint_gt(rows, 0);
        ck_assert_uint_eq(changed, round == 0 ? 0 : rows); /* after a reload everything is told */
    }
    FAILS(scene.host, BP_ERROR_TYPE, "a query of the program", scene_reload(&scene, PROBE_RESHAPED));
    WORKS(scene.host, queries->begin(query, 0));
    ck_assert_ptr_nonnull(queries->next(query));
    queries->end(query);
    const plugin_t *owner = loader_find(&scene.host->loader, "probe");
    WORKS(scene.host, queries->make(scene.world, &owner->handed, &terms, 0, &query)); /* its next version may end it */
    WORKS(scene.host, scene_reload(&scene, PROBE_RESHAPED));
    FAILS(scene.host, BP_ERROR_TYPE, "a query of world", queries->begin(query, 0));
    ck_assert_ptr_null(queries->next(query));
    queries->end(query);
    scene_clear_log(&scene);
}
END_TEST

static uint32_t slot_changes(const bp_changes_api *changes, bp_manager_t *m, uint64_t since)
{
    bp_slot_stamps_t stamps = {.struct_size = sizeof stamps};
    uint32_t count = 0;
    changes->slots(m, &stamps);
    for (uint32_t i = 0; i < SCENE_ENTITIES; i++)
        count += bp_slot_stamp(&stamps, i) > since;
    return count;
}

/* Whoever keeps stamps keeps them over the change to another kind of storage, and releases what was kept: never those
 * of a query that has come since. */
START_TEST(stamps_of_changes_go_on_where_a_component_gets_another_kind_of_storage)
{
    static const bp_term_t probe[] = {{.component = "probe"}};
    const bp_term_list_t terms = BP_LIST(probe);
    const bp_query_api *queries = scene.api->registry->find(scene.host, BP_QUERY_API, 1);
    const bp_changes_api *changes = scene.api->registry->find(scene.host, BP_CHANGES_API, 1);
    bp_manager_t *m = scene.api->world->manager(scene.world, scene.api->world->component(scene.world, "probe"));
    bp_query_o *query;
    float mass = 3;
    uint32_t changed = 0, one = 0;
    while (!has_probe(&scene, one))
        one++;
    WORKS(scene.host, changes->keep(m));
    WORKS(scene.host, scene_reload(&scene, PROBE_OWN));
    uint64_t since = changes->look(scene.world);
    WORKS(scene.host, scene.api->property->set_named(scene.world, scene.entities[one], "probe", "mass", BP_F32, &mass));
    ck_assert_uint_gt(slot_changes(changes, m, since), 0);
    WORKS(scene.host, queries->make(scene.world, NULL, &terms, BP_QUERY_CHANGES, &query));
    WORKS(scene.host, queries->begin(query, 0));
    changes->release(m);
    since = changes->look(scene.world);
    WORKS(scene.host, scene.api->property->set_named(scene.world, scene.entities[one], "probe", "mass", BP_F32, &mass));
    WORKS(scene.host, queries->begin(query, since));
    for (const bp_match_t *match; (match = queries->next(query)) != NULL;)
        changed += match->count;
    ck_assert_uint_gt(changed, 0);
    queries->end(query);
    ck_assert_uint_eq(scene.world->rows.askers, 0);
    WORKS(scene.host, changes->keep(m));
    WORKS(scene.host, scene_reload(&scene, PROBE_FIRST));
    WORKS(scene.host, changes->keep(m));
    changes->release(m);
    changes->release(m);
    ck_assert_uint_eq(scene.world->rows.askers, 0);
    check_host(scene.host);
    scene_clear_log(&scene);
}
END_TEST

START_TEST(several_plugins_change_together_or_not_at_all)
{
    static const char *const both[] = {"reload_reader", "probe"};
    add_reader(1);
    put_plugin("reload_probe_start_fails", "probe"); /* its start fails, after the reader's have succeeded */
    char *before = describe_host(scene.host);
    FAILS(scene.host, BP_ERROR_FAILED, "want to", bp_host_reload(scene.host, both, 2, NULL));
    expect_same(before, describe_host(scene.host), "one of two that failed");
    expect_seen();
}
END_TEST

/* --- the report --------------------------------------------------------------------------------------------------- */

static void keep_report(void *data, const bp_reload_report_t *report)
{
    snprintf(data, 2000, "%d %s", report->result, report->text);
}

static const bp_reload_field_t *reported(const bp_reload_report_t *report, const char *name)
{
    ck_assert_uint_eq(report->field_size, sizeof *report->fields);
    for (uint32_t i = 0; i < report->field_count; i++) {
        if (strcmp(report->fields[i].field, name) == 0)
            return &report->fields[i];
    }
    ck_abort_msg("nothing is reported of %s", name);
    return NULL;
}

START_TEST(the_report_says_what_became_of_every_field)
{
    static const char *const names[] = {"probe"};
    char told[2000] = "";
    bp_reload_report_t report = {.struct_size = sizeof report};
    WORKS(scene.host, bp_host_on_reload(scene.host, keep_report, told));
    put_plugin("reload_probe_reshaped", "probe");
    WORKS(scene.host, bp_host_reload(scene.host, names, 1, &report));
    ck_assert_int_eq(report.result, BP_OK);
    ck_assert_uint_eq(report.worlds, 2);
    ck_assert_uint_eq(report.field_count, 9);
    ck_assert(report.pause > 0 && report.rows > 500);
    ck_assert_uint_eq(reported(&report, "drag")->what, BP_RELOAD_ADDED);
    ck_assert_str_eq(reported(&report, "drag")->initial, "0.5");
    ck_assert_uint_eq(reported(&report, "velocity")->what, BP_RELOAD_DROPPED);
    ck_assert_uint_eq(reported(&report, "position")->what, BP_RELOAD_KEPT);
    ck_assert_uint_eq(reported(&report, "mass")->what, BP_RELOAD_CONVERTED);
    ck_assert_uint_eq(reported(&report, "mass")->new_type, BP_F64);
    ck_assert_str_eq(reported(&report, "tally")->former, "count");
    static const char *const parts[] = {"reloaded probe 1 -> 3",
                                        "pause ",
                                        "kept       position, label, friend",
                                        "added      drag (f32), with default 0.5",
                                        "dropped    velocity (vec3)",
                                        "converted  mass, from f32 to f64",
                                        "it was called count"};
    for (uint32_t i = 0; i < COUNT(parts); i++)
        EXPECT(strstr(report.text, parts[i]) != NULL, "\"%s\" is not in:\n%s", parts[i], report.text);
    EXPECT(strstr(told, parts[0]) != NULL, "the callback was told: %s", told);
    put_plugin("reload_probe_mass_text", "probe");
    FAILS(scene.host, BP_ERROR_TYPE, "mass", bp_host_reload(scene.host, names, 1, &report));
    ck_assert_int_eq(report.result, BP_ERROR_TYPE);
    EXPECT(strstr(report.text, "nothing has changed") != NULL, "%s", report.text);
    EXPECT(strstr(told, "nothing has changed") != NULL, "%s", told);
}
END_TEST

/* --- many worlds -------------------------------------------------------------------------------------------------- */

START_TEST(worlds_at_different_steps_go_on_from_where_they_are)
{
    for (int i = 0; i < 30; i++) {
        WORKS(scene.host, bp_world_step(i % 3 == 0 ? scene.second : scene.world));
        if (i % 5 == 4)
            WORKS(scene.host, scene_reload(&scene, i % 2 == 0 ? PROBE_REORDERED : PROBE_FIRST));
        check_host(scene.host);
    }
    ck_assert_uint_eq(scene.world->clock.steps, 20);
    ck_assert_uint_eq(scene.second->clock.steps, 10);
}
END_TEST

/* --- probation ---------------------------------------------------------------------------------------------------- */

static void take_back(int version)
{
    bp_property_t mass;
    float f;
    bp_entity_t e = scene.entities[1];
    uint32_t key = key_of(scene.world, "probe", "");
    bp_ref_t position = make_ref(scene.entities[2], key, 1);
    WORKS(scene.host, scene.api->property->resolve(scene.world, e, "probe", "mass", &mass));
    char *before = describe_host(scene.host);
    scene.host->reload.probation_steps = 10;
    WORKS(scene.host, scene_reload(&scene, version));
    ck_assert(reload_on_probation(&scene.host->reload, loader_find(&scene.host->loader, "probe")));
    WORKS(scene.host, reload_rollback(&scene.host->reload));
    scene_clear_log(&scene);
    expect_same(before, describe_host(scene.host), "a reload taken back");
    check_host(scene.host);
    WORKS(scene.host, scene.api->property->get(scene.world, &mass, &e, 1, &f, sizeof f));
    ck_assert(f == 3.0f);
    const bp_vec3_t *p = bp_ref_get(scene.api->world, scene.world, &position);
    /* Columns that became none are gone for references. */
    ck_assert(version == PROBE_OWN || (p != NULL && p->z == 8.0f));
    FAILS(scene.host, BP_ERROR_STATE, "on probation", reload_rollback(&scene.host->reload));
}

START_TEST(a_change_on_probation_can_be_taken_back)
{
    static const int versions[] = {
        PROBE_FASTER, PROBE_RESHAPED, PROBE_MASS_LIMIT, PROBE_OWN, PROBE_OTHER_TEXTS, PROBE_REORDERED,
    };
    float heavy = 9;
    WORKS(scene.host, scene.api->property->set_named(scene.world, scene.entities[5], "probe", "mass", BP_F32, &heavy));
    take_back(versions[_i]);
    take_back(versions[_i]);
    WORKS(scene.host, bp_host_step(scene.host));
    EACH_PROBE(&scene, i)
    EXPECT(near(probe_vec3(&scene, i, "position").y, (float)i * 2.0f + 2.0f / 50.0f),
           "entity %u is not moved by the old code", i);
}
END_TEST

/* Entities come, go and change their components while hidden columns are there. */
static void live_on(void)
{
    uint32_t probe = key_of(scene.world, "probe", ""), flag = key_of(scene.world, "flag", "");
    for (uint32_t i = 1; i < SCENE_ENTITIES; i += 17)
        scene.api->entity->destroy(scene.host, &scene.entities[i], 1);
    for (uint32_t i = 11; i < SCENE_ENTITIES; i += 22) {
        bool there = scene.api->world->has(scene.world, probe, &scene.entities[i], 1, NULL) == 1;
        if (!there && scene.api->entity->alive(scene.host, &scene.entities[i], 1, NULL) == 1)
            WORKS(scene.host, scene.api->world->add(scene.world, probe, &scene.entities[i], 1));
    }
    for (uint32_t i = 2; i < SCENE_ENTITIES; i += 9) {
        if (!has_probe(&scene, i))
            continue;
        bool has = scene.api->world->has(scene.world, flag, &scene.entities[i], 1, NULL) == 1;
        WORKS(scene.host, has ? scene.api->world->remove(scene.world, flag, &scene.entities[i], 1)
                              : scene.api->world->add(scene.world, flag, &scene.entities[i], 1));
    }
    for (int n = 0; n < 3; n++)
        WORKS(scene.host, bp_host_step(scene.host));
}

static void expect_values(void)
{
    check_host(scene.host);
    EACH_PROBE(&scene, i) {
        EXPECT(probe_f32(&scene, i, "mass") == 2.0f + (float)i, "the mass of %u", i);
        EXPECT(probe_i32(&scene, i, "count") == (int32_t)i - 100, "the count of %u", i);
        EXPECT(probe_vec3(&scene, i, "velocity").y == 2.0f, "the velocity of %u", i);
        EXPECT(probe_entity(&scene, i, "friend").id == scene.entities[(i * 7) % SCENE_ENTITIES].id, "the friend of %u",
               i);
    }
    for (uint32_t i = 11; i < SCENE_ENTITIES; i += 22) {
        float mass;
        if (scene.api->entity->alive(scene.host, &scene.entities[i], 1, NULL) == 0)
            continue;
        WORKS(scene.host,
              scene.api->property->get_named(scene.world, scene.entities[i], "probe", "mass", BP_F32, &mass));
        EXPECT(mass == 1.0f, "a probe made meanwhile has not its default");
    }
}

START_TEST(what_is_taken_back_goes_along_with_its_rows)
{
    static const int versions[] = {PROBE_RESHAPED, PROBE_OWN, PROBE_REORDERED};
    scene.host->reload.probation_steps = 10;
    WORKS(scene.host, scene_reload(&scene, versions[_i]));
    live_on();
    WORKS(scene.host, reload_rollback(&scene.host->reload));
    expect_values();
    WORKS(scene.host, bp_host_step(scene.host));
}
END_TEST

START_TEST(storage_of_its_own_is_taken_back_too)
{
    WORKS(scene.host, scene_reload(&scene, PROBE_OWN));
    scene.host->reload.probation_steps = 10;
    WORKS(scene.host, scene_reload(&scene, _i == 0 ? PROBE_OWN : PROBE_FIRST));
    live_on();
    WORKS(scene.host, reload_rollback(&scene.host->reload));
    scene_clear_log(&scene);
    check_host(scene.host);
    EACH_PROBE(&scene, i) {
        EXPECT(probe_f32(&scene, i, "mass") == 2.0f + (float)i, "the mass of %u", i);
        EXPECT(probe_i64(&scene, i, "count") == (int64_t)i - 100, "the count of %u", i);
    }
    live_on();
}
END_TEST

START_TEST(a_probation_ends_by_itself)
{
    scene.host->reload.probation_steps = 3;
    WORKS(scene.host, scene_reload(&scene, PROBE_RESHAPED));
    for (int n = 0; n < 3; n++) {
        ck_assert_ptr_nonnull(scene.host->reload.probation);
        WORKS(scene.host, bp_host_step(scene.host));
    }
    ck_assert_ptr_null(scene.host->reload.probation);
    check_host(scene.host);
    EACH_PROBE(&scene, i) {
        EXPECT(probe_f64(&scene, i, "mass") == 2.0 + (double)i, "the mass of %u", i);
        EXPECT(probe_i64(&scene, i, "tally") == (int64_t)i - 100, "the count of %u", i);
    }
    for (uint32_t w = 0; w < 2; w++) {
        const world_t *world = scene.host->destruction.worlds[w];
        for (uint32_t m = 0; m < world->manager_count; m++)
            ck_assert_uint_eq(world->managers[m]->hidden, 0);
    }
    WORKS(scene.host, scene_reload(&scene, PROBE_OWN));
    WORKS(scene.host, scene_reload(&scene, PROBE_RESHAPED)); /* ends the one before */
}
END_TEST

/* Each of what the host notes of itself while it calls a plugin, at the least that it can be. */
START_TEST(not_while_anything_is_being_called)
{
    static const char *const names[] = {"probe"};
    reload_change_t *change = NULL;
    bp_host_o *host = scene.host;
    for (int what = 0; what < 6; what++) {
        host->destruction.stepping = what == 0;
        host->destruction.announcing = what == 1;
        host->entities.sealed = what == 2;
        host->loader.posts.running = what == 3;
        host->loader.plugins.calling = what == 4;
        if (what < 5) {
            FAILS(host, BP_ERROR_STATE, "between steps", reload_check_moment(&host->reload));
            FAILS(host, BP_ERROR_STATE, "between steps", reload_read(&host->reload, names, 1, &change));
        } else {
            WORKS(host, reload_check_moment(&host->reload));
        }
    }
    ck_assert_ptr_null(change);
}
END_TEST

Suite *reload_suite(void)
{
    Suite *suite = suite_create("reload");
    TCase *changes = tcase_create("changes");
    tcase_add_checked_fixture(changes, open_1, close_scene);
    tcase_add_test(changes, new_code_runs_over_the_same_memory);
    tcase_add_test(changes, fields_are_added_dropped_renamed_and_widened);
    tcase_add_test(changes, there_and_back_leaves_what_both_have);
    tcase_add_test(changes, texts_of_a_declaration_change_too);
    tcase_add_test(changes, rows_move_as_ever_after_a_reload);
    tcase_add_test(changes, narrowing_is_refused_where_a_value_does_not_fit);
    tcase_add_test(changes, tighter_limits_are_refused_where_a_value_lies_outside);
    tcase_add_test(changes, instances_go_from_columns_to_storage_of_their_own_and_back);
    tcase_add_loop_test(changes, instances_go_through_save_and_load_where_both_are_there, 0, 2);
    tcase_add_loop_test(changes, state_of_the_same_form_goes_over_as_it_is, 0, 2);
    tcase_add_test(changes, lists_become_texts_of_storage_of_its_own_and_leave_none_behind);
    tcase_add_test(changes, worlds_at_different_steps_go_on_from_where_they_are);
    suite_add_tcase(suite, changes);
    TCase *refusals = tcase_create("refusals");
    tcase_add_checked_fixture(refusals, open_1, close_scene);
    tcase_add_loop_test(refusals, what_cannot_be_is_refused_and_leaves_no_trace, 0, 7);
    tcase_add_test(refusals, a_version_that_does_not_take_the_instances_is_refused);
    tcase_add_test(refusals, a_start_cannot_change_the_world);
    tcase_add_test(refusals, unknown_and_static_plugins_are_refused);
    tcase_add_test(refusals, not_from_inside_a_callback);
    tcase_add_test(refusals, not_while_a_world_holds_its_rows);
    tcase_add_test(refusals, not_while_anything_is_being_called);
    suite_add_tcase(suite, refusals);
    TCase *others = tcase_create("others");
    tcase_add_checked_fixture(others, open_1, close_scene);
    tcase_add_test(others, properties_follow_their_field);
    tcase_add_test(others, references_follow_their_field);
    tcase_add_loop_test(others, systems_of_others_are_handed_the_columns_that_they_were_compiled_for, 0, 2);
    tcase_add_test(others, what_a_system_of_others_may_read_does_not_vanish_without_it);
    tcase_add_test(others, kept_queries_go_on_after_a_reload_or_it_is_refused);
    tcase_add_test(others, stamps_of_changes_go_on_where_a_component_gets_another_kind_of_storage);
    tcase_add_test(others, several_plugins_change_together_or_not_at_all);
    tcase_add_test(others, the_report_says_what_became_of_every_field);
    suite_add_tcase(suite, others);
    TCase *probation = tcase_create("probation");
    tcase_add_checked_fixture(probation, open_1, close_scene);
    tcase_add_loop_test(probation, a_change_on_probation_can_be_taken_back, 0, 6);
    tcase_add_loop_test(probation, what_is_taken_back_goes_along_with_its_rows, 0, 3);
    tcase_add_loop_test(probation, storage_of_its_own_is_taken_back_too, 0, 2);
    tcase_add_test(probation, a_probation_ends_by_itself);
    suite_add_tcase(suite, probation);
    return suite;
}
