/* test_rollback.c - what was looked up by name, by number or by address before, during and after a reload that is taken
 * back.
 *
 * Everything that is kept from a look-up carries a number of its own: properties, and the world's cache of names, the
 * number of the layout that they were resolved for; references the version of their run. The tests look things up at
 * each moment and use them at each later one: a value is the one that its name says, or there is a sentence about it.
 */
#include "../fixtures/service.h"
#include "../suites.h"
#include "patch_lists.h"
#include "reload_support.h"

#include <bp_plugin.h>
#include <bp_query.h>
#include <bp_refer.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static scene_t scene;

static void open_scene(void)
{
    scene_open(&scene, PROBE_FIRST);
    scene.host->reload.probation_steps = 10;
}

static void close_scene(void)
{
    reload_accept(&scene.host->reload);
    check_host(scene.host);
    scene_close(&scene);
}

static void take_back(void)
{
    WORKS(scene.host, reload_rollback(&scene.host->reload));
    scene_clear_log(&scene);
}

/* --- by name ----------------------------------------------------------------------------------------------- */

/* Look every field up by name, of the version that is at work, whatever its type has become. */
static void read_all_by_name(bp_entity_t e)
{
    const component_t *probe = registry_component(&scene.host->registry, "probe");
    for (uint32_t i = 0; i < probe->field_count; i++) {
        bp_value_t value;
        const field_t *field = &probe->fields[i];
        WORKS(scene.host, scene.api->property->get_named(scene.world, e, "probe", field->name, field->type, &value));
    }
}

static void expect_values_of(uint32_t i)
{
    char label[32];
    snprintf(label, sizeof label, "probe %u", i);
    ck_assert_str_eq(probe_text(&scene, i, "label"), label);
    ck_assert(probe_f32(&scene, i, "mass") == 2.0f + (float)i);
    ck_assert_int_eq(probe_i32(&scene, i, "count"), (int32_t)i - 100);
    ck_assert(probe_vec3(&scene, i, "velocity").y == 2.0f);
    ck_assert_uint_eq(probe_entity(&scene, i, "friend").id, scene.entities[(i * 7) % SCENE_ENTITIES].id);
}

static void write_all_by_name(bp_entity_t e)
{
    float mass = 40;
    int32_t count = 41;
    const char *label = "written";
    const bp_property_api *api = scene.api->property;
    WORKS(scene.host, api->set_named(scene.world, e, "probe", "mass", BP_F32, &mass));
    WORKS(scene.host, api->set_named(scene.world, e, "probe", "count", BP_I32, &count));
    WORKS(scene.host, api->set_named(scene.world, e, "probe", "label", BP_STRING, &label));
}

START_TEST(names_mean_the_fields_of_the_version_that_came_back)
{
    static const int versions[] = {
        PROBE_FASTER, PROBE_RESHAPED, PROBE_MASS_LIMIT, PROBE_OWN, PROBE_OTHER_TEXTS, PROBE_REORDERED,
    };
    bp_value_t value;
    for (uint32_t round = 0; round < 3; round++) {
        WORKS(scene.host, scene_reload(&scene, versions[_i]));
        read_all_by_name(scene.entities[1]);
        take_back();
        expect_values_of(1);
        expect_values_of(2);
        FAILS(scene.host, BP_ERROR_NOT_FOUND, "no property 'extra'",
              scene.api->property->get_named(scene.world, scene.entities[1], "probe", "extra", BP_I32, &value));
    }
    write_all_by_name(scene.entities[1]);
    ck_assert_str_eq(probe_text(&scene, 1, "label"), "written");
    ck_assert(probe_f32(&scene, 1, "mass") == 40.0f);
    ck_assert_int_eq(probe_i32(&scene, 1, "count"), 41);
    expect_values_of(2);
}
END_TEST

/* --- by resolved property ---------------------------------------------------------------------------------- */

START_TEST(properties_resolved_at_any_moment_find_their_field_at_any_other)
{
    bp_property_t labels[3], counts[3], extra;
    bp_entity_t e = scene.entities[1];
    const bp_property_api *api = scene.api->property;
    int32_t number;
    for (uint32_t moment = 0; moment < 3; moment++) {
        if (moment == 1)
            WORKS(scene.host, scene_reload(&scene, PROBE_REORDERED));
        if (moment == 1)
            WORKS(scene.host, api->resolve(scene.world, e, "probe", "extra", &extra));
        if (moment == 2)
            take_back();
        WORKS(scene.host, api->resolve(scene.world, e, "probe", "label", &labels[moment]));
        WORKS(scene.host, api->resolve(scene.world, e, "probe", "count", &counts[moment]));
        for (uint32_t i = 0; i <= moment; i++) {
            bp_property_t label = labels[i], count = counts[i]; /* copies: they stay as they were resolved */
            const char *text;
            WORKS(scene.host, api->get(scene.world, &label, &e, 1, &text, sizeof text));
            ck_assert_str_eq(text, "probe 1");
            WORKS(scene.host, api->get(scene.world, &count, &e, 1, &number, sizeof number));
            ck_assert_int_eq(number, 1 - 100);
        }
    }
    FAILS(scene.host, BP_ERROR_NOT_FOUND, "'extra' of probe has gone",
          api->get(scene.world, &extra, &e, 1, &number, sizeof number));
}
END_TEST

/* Behind those of the probe lie the columns of a component that came into the world later. */
START_TEST(properties_of_other_components_find_their_columns_when_hidden_ones_have_gone)
{
    uint32_t keys[] = {key_of(scene.world, "probe", ""), key_of(scene.world, "body", "late")}, prototype;
    const bp_property_api *api = scene.api->property;
    bp_property_t mass;
    bp_entity_t made[3];
    float value = 0;
    WORKS(scene.host, scene.api->world->prototype(scene.world, keys, 2, &prototype));
    WORKS(scene.host, scene.api->world->create(scene.world, prototype, made, 3));
    for (uint32_t i = 0; i < 3; i++) {
        value = 5.0f + (float)i;
        WORKS(scene.host, api->set_named(scene.world, made[i], "late", "mass", BP_F32, &value));
    }
    WORKS(scene.host, scene_reload(&scene, PROBE_RESHAPED));
    ck_assert_uint_gt(scene.world->rows.runs[scene.world->rows.run_count - 1]->column_count, 9);
    WORKS(scene.host, api->resolve(scene.world, made[0], "late", "mass", &mass));
    for (uint32_t moment = 0; moment < 3; moment++) {
        for (uint32_t i = 0; i < 3; i++) {
            WORKS(scene.host, api->get(scene.world, &mass, &made[i], 1, &value, sizeof value));
            ck_assert_msg(value == 5.0f + (float)i, "%g at moment %u", (double)value, moment);
            WORKS(scene.host, api->get_named(scene.world, made[i], "late", "mass", BP_F32, &value));
            ck_assert_msg(value == 5.0f + (float)i, "%g by name at moment %u", (double)value, moment);
        }
        if (moment == 1)
            reload_accept(&scene.host->reload);
        WORKS(scene.host, bp_world_step(scene.world)); /* each step moves them by the velocity that they began with */
        bp_vec3_t position;
        bp_step_t step = {.struct_size = sizeof step};
        scene.api->world->clock(scene.world, &step);
        WORKS(scene.host, api->get_named(scene.world, made[1], "late", "position", BP_VEC3, &position));
        ck_assert_msg(fabsf(position.z - (float)(moment + 1) * (float)step.dt) < 1e-5f, "%g after moment %u",
                      (double)position.z, moment);
    }
}
END_TEST

START_TEST(a_layout_never_comes_back)
{
    static const int versions[] = {
        PROBE_REORDERED, PROBE_RESHAPED, PROBE_OWN, PROBE_FASTER, PROBE_MASS_TEXT, PROBE_REORDERED, PROBE_FIRST,
        PROBE_OTHER_TEXTS,
    };
    uint32_t highest = 0;
    for (uint32_t w = 0; w < scene.host->destruction.world_count; w++) {
        uint32_t layout = scene.host->destruction.worlds[w]->layout;
        highest = layout > highest ? layout : highest;
    }
    for (uint32_t n = 0; n < 3 * COUNT(versions); n++) {
        uint32_t before = scene.world->rows.layout;
        bp_result_t result = scene_reload(&scene, versions[n % COUNT(versions)]);
        ck_assert(scene.world->rows.layout == before || scene.world->rows.layout > highest);
        highest = scene.world->rows.layout > highest ? scene.world->rows.layout : highest;
        before = scene.world->rows.layout;
        bool back = result == BP_OK && n % 2 == 0, same = versions[n % COUNT(versions)] == PROBE_FASTER;
        if (back)
            take_back();
        ck_assert(!back || same || scene.world->rows.layout > highest);
        highest = scene.world->rows.layout > highest ? scene.world->rows.layout : highest;
        ck_assert(scene.world->rows.layout != scene.second->rows.layout);
    }
}
END_TEST

/* --- by reference ------------------------------------------------------------------------------------------ */

START_TEST(references_into_rows_of_a_new_kind_know_the_fields_of_today)
{
    uint32_t probe = key_of(scene.world, "probe", ""), other = key_of(scene.world, "probe", "third"), prototype;
    bp_entity_t made[3];
    WORKS(scene.host, scene_reload(&scene, PROBE_REORDERED));
    WORKS(scene.host, scene.api->world->prototype(scene.world, (uint32_t[]){probe, other}, 2, &prototype));
    WORKS(scene.host, scene.api->world->create(scene.world, prototype, made, 3)); /* they make a run */
    bp_ref_t extra = {.entity = made[2], .field = other << 8 | 1};
    int32_t *value = scene.api->world->ref_write(scene.world, &extra);
    ck_assert(value != NULL && *value == 7);
    *value = 70;
    scene.api->entity->destroy(scene.host, &made[0], 1);
    WORKS(scene.host, scene.api->world->remove(scene.world, probe, &made[1], 1)); /* rows move */
    value = scene.api->world->ref_write(scene.world, &extra);
    ck_assert(value != NULL && *value == 70);
    take_back();
    ck_assert_ptr_null(bp_ref_get(scene.api->world, scene.world, &extra)); /* the first version has no such field */
}
END_TEST

START_TEST(rows_of_a_new_kind_have_the_fields_of_today_when_hidden_columns_have_gone)
{
    uint32_t keys[] = {key_of(scene.world, "probe", ""), key_of(scene.world, "probe", "third")}, prototype;
    bp_entity_t made;
    WORKS(scene.host, scene_reload(&scene, PROBE_RESHAPED)); /* drops fields: their columns are hidden */
    reload_accept(&scene.host->reload);
    WORKS(scene.host, scene.api->world->prototype(scene.world, keys, COUNT(keys), &prototype));
    WORKS(scene.host, scene.api->world->create(scene.world, prototype, &made, 1)); /* it makes a run */
    read_all_by_name(made);
}
END_TEST

START_TEST(references_of_all_worlds_are_resolved_anew_when_a_version_comes_back)
{
    const world_t *worlds[] = {&scene.world->rows, &scene.second->rows};
    uint32_t versions[2];
    WORKS(scene.host, scene_reload(&scene, PROBE_RESHAPED));
    for (uint32_t w = 0; w < 2; w++)
        versions[w] = worlds[w]->ref_version;
    take_back();
    for (uint32_t w = 0; w < 2; w++)
        ck_assert_uint_ne(worlds[w]->ref_version, versions[w]);
}
END_TEST

/* --- by command -------------------------------------------------------------------------------------------- */

static struct { bp_property_t position, extra; bp_entity_t entity; } recorded;

/* Field 1 of the first version and field 1 of the reordered one, one after the other. */
static void record(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)matches, (void)count;
    bp_vec3_t position = {5, 6, 7};
    int32_t extra = 9;
    const bp_command_api *command = s->api->command;
    bp_entity_t e = recorded.entity;
    EXPECT(command->set(step->commands, &recorded.position, &e, 1, &position, sizeof position) == BP_OK, "position");
    EXPECT(command->set(step->commands, &recorded.extra, &e, 1, &extra, sizeof extra) == BP_OK, "extra");
}

static const bp_system_i recorders[] = {{.name = "recorder_of_values", .run_all = record}};
static const bp_plugin_head_t recording =
    BP_PLUGIN_HEAD("recording", (&(const bp_plugin_desc_t){.version = "1", .systems = BP_LIST(recorders)}));
static const bp_plugin_head_t *const linked[] = {&recording};

START_TEST(recorded_values_go_to_the_fields_of_their_properties)
{
    static const char *const names[] = {"probe"};
    rig_t rig;
    uint32_t prototype;
    bp_vec3_t position;
    int32_t extra;
    rig_open_with(&rig, linked, COUNT(linked));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "recording", NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin("reload_probe_first", "probe"), NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "probe"));
    WORKS(rig.host, rig.api->world->prototype(world, (uint32_t[]){key_of(world, "probe", "")}, 1, &prototype));
    WORKS(rig.host, rig.api->world->create(world, prototype, &recorded.entity, 1));
    WORKS(rig.host, rig.api->property->resolve(world, recorded.entity, "probe", "position", &recorded.position));
    put_plugin("reload_probe_reordered", "probe");
    WORKS(rig.host, bp_host_reload(rig.host, names, 1, NULL));
    rig.log.count = 0, rig.log.text[0] = '\0';
    WORKS(rig.host, rig.api->property->resolve(world, recorded.entity, "probe", "extra", &recorded.extra));
    ck_assert_uint_eq(recorded.position.field, recorded.extra.field);
    WORKS(rig.host, bp_world_use_system(world, "recorder_of_values"));
    WORKS(rig.host, bp_world_step(world));
    WORKS(rig.host, rig.api->property->get_named(world, recorded.entity, "probe", "position", BP_VEC3, &position));
    WORKS(rig.host, rig.api->property->get_named(world, recorded.entity, "probe", "extra", BP_I32, &extra));
    ck_assert(position.x == 5 && position.y == 6 && position.z == 7);
    ck_assert_int_eq(extra, 9);
    rig_close(&rig);
}
END_TEST

/* --- what comes into a world meanwhile ---------------------------------------------------------------------------- */

static void expect_probation_over(void)
{
    FAILS(scene.host, BP_ERROR_STATE, "on probation", reload_rollback(&scene.host->reload));
    scene_clear_log(&scene);
    check_host(scene.host);
    WORKS(scene.host, bp_host_step(scene.host));
}

START_TEST(a_component_that_a_world_gets_meanwhile_ends_the_probation)
{
    bp_entity_t e;
    bp_value_t value;
    uint32_t prototype;
    WORKS(scene.host, scene_reload(&scene, _i == 0 ? PROBE_REORDERED : PROBE_OWN));
    bp_world_o *world = bp_world_create(scene.host, &(bp_world_desc_t){.name = "late"});
    ck_assert(scene.host->reload.probation != NULL);
    FAILS(scene.host, BP_ERROR_EXISTS, "has component", bp_world_use_component(scene.world, "probe"));
    ck_assert(scene.host->reload.probation != NULL);
    WORKS(scene.host, bp_world_use_component(world, "probe"));
    expect_probation_over();
    WORKS(scene.host, scene.api->world->prototype(world, (uint32_t[]){key_of(world, "probe", "")}, 1, &prototype));
    WORKS(scene.host, scene.api->world->create(world, prototype, &e, 1));
    WORKS(scene.host, scene.api->property->get_named(world, e, "probe", "mass", BP_F32, &value));
    ck_assert(value.f32 == 1.0f);
    WORKS(scene.host, scene_reload(&scene, PROBE_REORDERED));
    WORKS(scene.host, scene.api->property->get_named(world, e, "probe", "extra", BP_I32, &value));
    take_back(); /* that world is part of this one */
    WORKS(scene.host, scene.api->property->get_named(world, e, "probe", "mass", BP_F32, &value));
    ck_assert(value.f32 == 1.0f);
}
END_TEST

START_TEST(a_plugin_that_is_loaded_meanwhile_ends_the_probation)
{
    WORKS(scene.host, scene_reload(&scene, PROBE_REORDERED));
    WORKS(scene.host, bp_host_load_plugin(scene.host, put_plugin("reload_reader", "reload_reader"), NULL, 0));
    expect_probation_over();
}
END_TEST

/* --- a change over one that is on probation ----------------------------------------------------------------------- */

static const int accepted[] = {
    PROBE_FASTER, PROBE_RESHAPED, PROBE_MASS_LIMIT, PROBE_OWN, PROBE_OTHER_TEXTS, PROBE_REORDERED, PROBE_OWN_SAVED,
    PROBE_OWN_KEPT,
};

/* Whatever a version is refused for, nothing has changed: not even that the one before may be taken back. */
START_TEST(a_refused_reload_leaves_the_probation_as_it_is)
{
    static const int refused[] = {PROBE_LOAD_FAILS, PROBE_START_FAILS, PROBE_OTHER_NAME, PROBE_OTHER_COMPONENT};
    char *first = describe_host(scene.host);
    WORKS(scene.host, scene_reload(&scene, accepted[_i]));
    for (uint32_t n = 0; n < 2 * COUNT(refused); n++) {
        char *before = describe_host(scene.host);
        ck_assert_int_ne(scene_reload(&scene, refused[n % COUNT(refused)]), BP_OK);
        scene_clear_log(&scene);
        expect_same(before, describe_host(scene.host), "a reload refused on probation");
        ck_assert_ptr_nonnull(scene.host->reload.probation);
    }
    check_host(scene.host);
    take_back();
    expect_same(first, describe_host(scene.host), "a reload taken back after others were refused");
    expect_values_of(1);
    WORKS(scene.host, bp_host_step(scene.host));
}
END_TEST

#if defined(BACKPLANE_SANITIZED)
enum { APART = 2 };
#else
enum { APART = 1 };
#endif

/* Of every version over every other (with sanitizers over every second one): the one before is what comes back, and
 * what was before that has ended. */
START_TEST(a_reload_over_one_on_probation_comes_back_to_that)
{
    for (uint32_t n = (uint32_t)_i % APART; n < COUNT(accepted); n += APART) {
        if (scene_reload(&scene, accepted[_i]) != BP_OK)
            ck_abort_msg("%s over the first was refused", probe_fixture(accepted[_i]));
        char *before = describe_host(scene.host);
        bp_result_t result = scene_reload(&scene, accepted[n]);
        scene_clear_log(&scene);
        check_host(scene.host);
        if (result == BP_OK)
            WORKS(scene.host, reload_rollback(&scene.host->reload));
        scene_clear_log(&scene);
        expect_same(before, describe_host(scene.host), "a reload over one on probation, taken back");
        if (result != BP_OK)
            WORKS(scene.host, reload_rollback(&scene.host->reload));
        else
            FAILS(scene.host, BP_ERROR_STATE, "on probation", reload_rollback(&scene.host->reload));
        scene_clear_log(&scene);
        check_host(scene.host);
        WORKS(scene.host, bp_host_step(scene.host));
        if (scene_reload(&scene, 1) != BP_OK)
            scene_reload(&scene, PROBE_REORDERED);
        scene_clear_log(&scene);
        for (uint32_t i = 0; i < 11; i++)
            WORKS(scene.host, bp_host_step(scene.host)); /* the probation ends by itself */
        ck_assert_ptr_null(scene.host->reload.probation);
        scene_clear_log(&scene);
        check_host(scene.host);
    }
}
END_TEST

START_TEST(a_world_that_ends_leaves_the_probation_to_the_others)
{
    WORKS(scene.host, scene_reload(&scene, accepted[_i]));
    bp_world_destroy(scene.second);
    scene.second = NULL;
    check_host(scene.host);
    WORKS(scene.host, bp_host_step(scene.host));
    WORKS(scene.host, scene_reload(&scene, accepted[_i]));
    take_back();
    check_host(scene.host);
    WORKS(scene.host, bp_host_step(scene.host));
    WORKS(scene.host, scene_reload(&scene, accepted[_i]));
    bp_world_destroy(scene.world);
    scene.world = NULL;
    take_back(); /* no world has any of it */
    check_host(scene.host);
}
END_TEST

/* --- by system ---------------------------------------------------------------------------------------------------- */

enum { NAME_A, NAME_B, NAME_C, NAME_D };

static float seen_first, seen_second;

static void see(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step;
    for (uint32_t m = 0; m < count; m++) {
        seen_first = BP_TERM_COLUMN(&matches[m], float, 0, 0)[0];
        seen_second = BP_TERM_COLUMN(&matches[m], float, 0, 1)[0];
    }
}

static char seen_names[2][PATCH_TEXT];
static const bp_term_field_t seen_fields[] = {{.name = seen_names[0], .type = BP_F32},
                                              {.name = seen_names[1], .type = BP_F32}};
static const bp_term_t seen_terms[] = {{.component = "patch", .fields = BP_LIST(seen_fields)}};
static const bp_system_i seers[] = {{.name = "seer", .terms = BP_LIST(seen_terms), .run_all = see}};
static const bp_plugin_head_t seeing =
    BP_PLUGIN_HEAD("seeing", (&(const bp_plugin_desc_t){.version = "1", .systems = BP_LIST(seers)}));
static const bp_plugin_head_t *const seeing_linked[] = {&seeing};

static patch_field_t floats(uint32_t name, uint32_t former, double initial)
{
    return (patch_field_t){.name = name, .former = former, .type = BP_F32, .initial = {.part = {initial}}};
}

/* Load the plugin with these fields into an open host, and make a world with one entity that has them. */
static bp_world_o *open_patched(rig_t *rig, patch_file_t *file, const patch_list_t *list, bp_entity_t *e)
{
    patch_open(file);
    patch_put(file, list);
    WORKS(rig->host, bp_host_load_plugin(rig->host, TEST_SCRATCH_DIR "/patch" TEST_SO, NULL, 0));
    bp_world_o *world = bp_world_create(rig->host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig->host, bp_world_use_component(world, "patch"));
    WORKS(rig->host, rig->api->world->create(world, prototype_of(world, "patch", NULL, NULL, NULL), e, 1));
    return world;
}

static void bring(rig_t *rig, const patch_file_t *file, const patch_list_t *list)
{
    static const char *const names[] = {"patch"};
    patch_put(file, list);
    WORKS(rig->host, bp_host_reload(rig->host, names, 1, NULL));
    rig->log.count = 0, rig->log.text[0] = '\0';
}

/* A system is bound by names: its field is followed where it is renamed; where the name is used anew, that is what it
   asks for. */
START_TEST(a_system_of_another_plugin_is_bound_by_the_names_that_are_declared)
{
    patch_list_t first = {.fields = {floats(NAME_A, PATCH_NAMES, 1), floats(NAME_B, PATCH_NAMES, 2)}, .count = 2};
    patch_list_t renamed = {.fields = {floats(NAME_C, NAME_A, 3), floats(NAME_B, PATCH_NAMES, 2)}, .count = 2};
    patch_list_t anew = {.fields = {floats(NAME_C, PATCH_NAMES, 3), floats(NAME_B, PATCH_NAMES, 2),
                                    floats(NAME_A, PATCH_NAMES, 4)},
                         .count = 3};
    rig_t rig;
    patch_file_t file;
    uint32_t prototype;
    bp_entity_t e;
    patch_name(NAME_A, seen_names[0]);
    patch_name(NAME_B, seen_names[1]);
    rig_open_with(&rig, seeing_linked, 1);
    patch_open(&file);
    patch_put(&file, &first);
    WORKS(rig.host, bp_host_load_plugin(rig.host, TEST_SCRATCH_DIR "/patch" TEST_SO, NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "seeing", NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "patch"));
    WORKS(rig.host, bp_world_use_system(world, "seer"));
    WORKS(rig.host, rig.api->world->prototype(world, (uint32_t[]){key_of(world, "patch", "")}, 1, &prototype));
    WORKS(rig.host, rig.api->world->create(world, prototype, &e, 1));
    rig.host->reload.probation_steps = 10;
    bring(&rig, &file, &renamed);
    WORKS(rig.host, bp_world_step(world));
    ck_assert(seen_first == 1 && seen_second == 2);
    bring(&rig, &file, &anew);
    WORKS(rig.host, bp_world_step(world));
    ck_assert_msg(seen_first == 4 && seen_second == 2, "the system sees %g and %g", seen_first, seen_second);
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    rig.log.count = 0, rig.log.text[0] = '\0';
    WORKS(rig.host, bp_world_step(world));
    ck_assert_msg(seen_first == 1 && seen_second == 2, "the system sees %g and %g", seen_first, seen_second);
    free(file.bytes);
    rig_close(&rig);
}
END_TEST

/* While the version without fields is in place, all columns of the component are hidden. */
START_TEST(a_version_without_fields_may_be_taken_back)
{
    patch_list_t first = {.fields = {floats(NAME_A, PATCH_NAMES, 1), floats(NAME_B, PATCH_NAMES, 2)}, .count = 2};
    patch_list_t none = {.count = 0};
    rig_t rig;
    patch_file_t file;
    bp_entity_t e;
    char name[PATCH_TEXT];
    float value = 7;
    patch_name(NAME_B, name);
    rig_init(&rig);
    rig_open(&rig);
    bp_world_o *world = open_patched(&rig, &file, &first, &e);
    WORKS(rig.host, rig.api->property->set_named(world, e, "patch", name, BP_F32, &value));
    rig.host->reload.probation_steps = _i == 0 ? 10 : 0;
    bring(&rig, &file, &none);
    ck_assert_uint_eq(registry_component(&rig.host->registry, "patch")->field_count, 0);
    check_host(rig.host);
    if (_i == 0) {
        WORKS(rig.host, reload_rollback(&rig.host->reload));
        WORKS(rig.host, rig.api->property->get_named(world, e, "patch", name, BP_F32, &value));
        ck_assert(value == 7);
    } else {
        bring(&rig, &file, &first);
        WORKS(rig.host, rig.api->property->get_named(world, e, "patch", name, BP_F32, &value));
        ck_assert(value == 2);
    }
    rig.log.count = 0;
    free(file.bytes);
    rig_close(&rig);
}
END_TEST

/* The system is of another plugin, and comes into the world while the version on probation has the field that the
 * system asks for. */
START_TEST(a_system_that_asks_for_what_is_taken_back_leaves_and_comes_again)
{
    patch_list_t first = {.fields = {floats(NAME_A, PATCH_NAMES, 1), floats(NAME_B, PATCH_NAMES, 2)}, .count = 2};
    patch_list_t next = {.fields = {floats(NAME_A, PATCH_NAMES, 1), floats(NAME_C, PATCH_NAMES, 3)}, .count = 2};
    rig_t rig;
    patch_file_t file;
    bp_entity_t e;
    patch_name(NAME_A, seen_names[0]);
    patch_name(NAME_C, seen_names[1]);
    rig_open_with(&rig, seeing_linked, 1);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "seeing", NULL, 0));
    bp_world_o *world = open_patched(&rig, &file, &first, &e);
    rig.host->reload.probation_steps = 10;
    bring(&rig, &file, &next);
    WORKS(rig.host, bp_world_use_system(world, "seer"));
    ck_assert_ptr_nonnull(rig.host->reload.probation);
    WORKS(rig.host, bp_world_step(world));
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    EXPECT(strstr(rig.log.text, "system 'seer' of plugin 'seeing' leaves world 'main', and comes again when it finds "
                                "what it asks for: it asks for field '") != NULL, "the log says:\n%s", rig.log.text);
    rig.log.count = 0, rig.log.text[0] = '\0';
    WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(world->schedule->count, 0);
    check_host(rig.host);
    seen_first = seen_second = 0;
    bring(&rig, &file, &next);
    WORKS(rig.host, bp_world_step(world));
    ck_assert_msg(seen_first == 1 && seen_second == 3, "the system sees %g and %g", seen_first, seen_second);
    free(file.bytes);
    rig_close(&rig);
}
END_TEST

/* A query of the program that was made on probation asks for a field that goes again: it says so, hands out nothing,
 * and goes on when the field is there. So does an index of references. */
START_TEST(queries_that_ask_for_what_is_taken_back_say_so_and_go_on_when_it_comes_again)
{
    patch_list_t first = {.fields = {floats(NAME_A, PATCH_NAMES, 1), floats(NAME_B, PATCH_NAMES, 2)}, .count = 2};
    patch_list_t next = {.fields = {floats(NAME_A, PATCH_NAMES, 1), floats(NAME_C, PATCH_NAMES, 3),
                                    {.name = NAME_D, .former = PATCH_NAMES, .type = BP_ENTITY}},
                         .count = 3};
    rig_t rig;
    patch_file_t file;
    bp_entity_t e;
    char reference[PATCH_TEXT];
    bp_query_o *query;
    bp_refer_o *index;
    const bp_entity_t *who;
    uint32_t count;
    patch_name(NAME_A, seen_names[0]);
    patch_name(NAME_C, seen_names[1]);
    patch_name(NAME_D, reference);
    rig_init(&rig);
    rig_open(&rig);
    const bp_query_api *queries = rig.api->registry->find(rig.host, BP_QUERY_API, 1);
    const bp_refer_api *refer = rig.api->registry->find(rig.host, BP_REFER_API, 1);
    bp_world_o *world = open_patched(&rig, &file, &first, &e);
    rig.host->reload.probation_steps = 10;
    bring(&rig, &file, &next);
    WORKS(rig.host, queries->make(world, NULL, &(bp_term_list_t)BP_LIST(seen_terms), BP_QUERY_CHANGES, &query));
    WORKS(rig.host, refer->make(world, NULL, "patch", reference, &index));
    for (int round = 0; round < 2; round++) {
        ck_assert_ptr_nonnull(rig.host->reload.probation);
        WORKS(rig.host, rig.api->property->set_named(world, e, "patch", reference, BP_ENTITY, &e));
        WORKS(rig.host, queries->begin(query, 0));
        const bp_match_t *match = queries->next(query);
        ck_assert_ptr_nonnull(match);
        ck_assert(*BP_TERM_COLUMN(match, const float, 0, 1) == 3);
        WORKS(rig.host, refer->ask(index, e, &who, &count));
        ck_assert(count == 1 && who[0].id == e.id);
        WORKS(rig.host, reload_rollback(&rig.host->reload));
        rig.log.count = 0, rig.log.text[0] = '\0';
        FAILS(rig.host, BP_ERROR_NOT_FOUND, "a query of world 'main': ", queries->begin(query, 0));
        ck_assert_ptr_null(queries->next(query));
        FAILS(rig.host, BP_ERROR_NOT_FOUND, "a query of world 'main': ", refer->ask(index, e, &who, &count));
        ck_assert(count == 0 && who == NULL);
        WORKS(rig.host, bp_world_step(world));
        check_host(rig.host);
        bring(&rig, &file, &next);
    }
    queries->end(query);
    refer->end(index);
    free(file.bytes);
    rig_close(&rig);
}
END_TEST

/* --- tables of plugins -------------------------------------------------------------------------------------- */

/* Does a slot work as version `version`, or, where that is 0, say that no plugin offers it? */
static void expect_service(bp_host_o *host, const service_api *slot, uint32_t version)
{
    uint32_t measured = 0;
    ck_assert_uint_eq(slot->version, version);
    if (version == 0) {
        FAILS(host, BP_ERROR_STATE, "no plugin offers the table 'service' at present", slot->measure(&measured));
        ck_assert_uint_eq(slot->number(), 0);
    } else {
        WORKS(host, slot->measure(&measured));
        ck_assert_uint_eq(slot->number(), version);
    }
    ck_assert_uint_eq(measured, version);
}

static void bring_service(rig_t *rig, const char *fixture)
{
    static const char *const names[] = {"service"};
    put_plugin(fixture, "service");
    WORKS(rig->host, bp_host_reload(rig->host, names, 1, NULL));
    rig->log.count = 0, rig->log.text[0] = '\0';
}

START_TEST(a_table_grows_beyond_its_slot_and_shrinks_again_as_versions_come_and_go)
{
    rig_t rig;
    rig_init(&rig);
    rig_open(&rig);
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin("service_small", "service"), NULL, 0));
    const service_api *kept = rig.api->registry->find(rig.host, "service", 1);
    expect_service(rig.host, kept, 1);
    ck_assert_uint_eq(kept->struct_size, 24);
    ck_assert_ptr_null(rig.api->registry->find(rig.host, "service", 2));
    rig.host->reload.probation_steps = 10;
    bring_service(&rig, "service_large");
    expect_service(rig.host, kept, 2);
    const service_api *whole = rig.api->registry->find(rig.host, "service", 2);
    expect_service(rig.host, whole, 2);
    ck_assert_uint_eq(whole->more[SERVICE_MORE - 1](), 42);
    ck_assert_uint_lt(kept->struct_size, sizeof(service_api));
    ck_assert_uint_eq(kept->more[(kept->struct_size - offsetof(service_api, more)) / 8 - 1](), 42);
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    expect_service(rig.host, kept, 1);
    expect_service(rig.host, whole, 0);
    ck_assert_ptr_eq(rig.api->registry->find(rig.host, "service", 1), kept);
    ck_assert_uint_eq(whole->more[SERVICE_MORE - 1](), 0);
    rig.log.count = 0, rig.log.text[0] = '\0';
    bring_service(&rig, "service_large");
    ck_assert_ptr_eq(rig.api->registry->find(rig.host, "service", 1), whole);
    expect_service(rig.host, whole, 2);
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "service"));
    expect_service(rig.host, kept, 0);
    expect_service(rig.host, whole, 0);
    rig_close(&rig);
}
END_TEST

/* A table that has outgrown its slot is in two slots. Memory is refused for one request of a reload, for each in turn:
 * both slots have the table afterwards, or neither, also where the plugin goes on without it. */
START_TEST(a_table_that_cannot_be_offered_is_in_none_of_its_slots)
{
    static const char *const names[] = {"service"};
    uint32_t offered = 0, refused = 0, lost = 0;
    rig_t rig;
    rig_init(&rig);
    rig_open(&rig);
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin("service_small", "service"), NULL, 0));
    const service_api *kept = rig.api->registry->find(rig.host, "service", 1);
    bring_service(&rig, "service_large");
    const service_api *whole = rig.api->registry->find(rig.host, "service", 2);
    put_plugin("service_careless", "service");
    for (uint32_t n = 1; rig.heap.refused == n - 1; n++) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
        bp_result_t result = bp_host_reload(rig.host, names, 1, NULL);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        lost += result == BP_OK && whole->version == 0;
        refused += result != BP_OK;
        offered += whole->version;
        expect_service(rig.host, kept, whole->version);
        expect_service(rig.host, whole, whole->version);
    }
    ck_assert(offered > 0 && refused > 0 && lost > 0);
    rig.log.count = 0, rig.log.text[0] = '\0';
    rig_close(&rig);
}
END_TEST

/* The same when it is loaded for the first time, and the table has no slot yet. */
START_TEST(a_plugin_that_is_loaded_has_offered_its_table)
{
    uint64_t refused = 0, left;
    const char *file = put_plugin("service_small", "service");
    do {
        rig_t rig;
        rig_init(&rig);
        rig_open(&rig);
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + refused + 1;
        bp_result_t result = bp_host_load_plugin(rig.host, file, NULL, 0);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        left = rig.heap.refused;
        EXPECT((rig.api->registry->find(rig.host, "service", 1) != NULL) == (result == BP_OK), "request %u: %d",
               (uint32_t)refused + 1, result);
        refused += left;
        rig.log.count = 0, rig.log.text[0] = '\0';
        rig_close(&rig);
    } while (left > 0);
    ck_assert_uint_gt(refused, 10);
}
END_TEST

/* --- the most fields ---------------------------------------------------------------------------------------------- */

/* While a version is on probation entities have the fields of the version before too. That may be too many for them:
 * then the version does not come in, or comes in without a probation. */
START_TEST(entities_that_would_have_too_many_fields_on_probation_keep_a_version_out)
{
    enum { KEYS = 129 };
    static const char *const names[] = {"wide"};
    rig_t rig;
    uint32_t keys[KEYS], prototype;
    uint8_t value = 7;
    bp_entity_t e;
    rig_init(&rig);
    rig_open(&rig);
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin("wide_first", "wide"), NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "wide"));
    for (uint32_t i = 0; i < KEYS; i++) {
        char name[16];
        snprintf(name, sizeof name, "number %u", i);
        keys[i] = key_of(world, "wide", i == 0 ? "" : name);
    }
    WORKS(rig.host, rig.api->world->prototype(world, keys, KEYS, &prototype));
    WORKS(rig.host, rig.api->world->create(world, prototype, &e, 1));
    WORKS(rig.host, rig.api->property->set_named(world, e, "wide", "first5_04", BP_U8, &value));
    put_plugin("wide_next", "wide");
    rig.host->reload.probation_steps = 10;
    FAILS(rig.host, BP_ERROR_LIMIT, "entities of world 'main' would have 65791 fields; 65535 are the most",
          bp_host_reload(rig.host, names, 1, NULL));
    value = 0;
    WORKS(rig.host, rig.api->property->get_named(world, e, "wide", "first5_04", BP_U8, &value));
    ck_assert_uint_eq(value, 7);
    WORKS(rig.host, bp_host_step(rig.host));
    rig.host->reload.probation_steps = 0;
    WORKS(rig.host, bp_host_reload(rig.host, names, 1, NULL));
    WORKS(rig.host, rig.api->property->get_named(world, e, "wide", "next5_04", BP_U8, &value));
    ck_assert_uint_eq(value, 0);
    rig.log.count = 0, rig.log.text[0] = '\0';
    rig_close(&rig);
}
END_TEST

/* --- systems that go ---------------------------------------------------------------------------------------------- */

static void bring_flock(rig_t *rig, const char *fixture)
{
    const char *name = "flock";
    put_plugin(fixture, name);
    WORKS(rig->host, bp_host_reload(rig->host, &name, 1, NULL));
}

/* Between two versions that have the system `land` comes one that lacks it. The system's state, a block of memory, ends
 * with the probation of that version: by another reload, in the end, or not at all where the version is taken back. */
START_TEST(a_system_that_goes_is_stopped_once)
{
    static const char *const types[] = {"bird", "egg"};
    rig_t rig;
    rig_init(&rig);
    rig.desc.flags |= BP_HOST_COPY_PLUGINS;
    rig_open(&rig);
    rig.host->reload.probation_steps = 10;
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin("flock_next", "flock"), NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    for (uint32_t i = 0; i < COUNT(types); i++)
        WORKS(rig.host, bp_world_use_component(world, types[i]));
    WORKS(rig.host, bp_world_use_system(world, "land"));
    for (uint32_t i = 0; i < 3; i++) {
        bring_flock(&rig, "flock_first");
        if (_i == 1)
            WORKS(rig.host, reload_rollback(&rig.host->reload));
        if (_i == 2)
            reload_accept(&rig.host->reload);
        bring_flock(&rig, "flock_next");
        WORKS(rig.host, bp_world_step(world));
    }
    bring_flock(&rig, "flock_first");
    check_host(rig.host);
    rig.log.count = 0, rig.log.text[0] = '\0';
    rig_close(&rig);
}
END_TEST

/* The place in the step that its unit has left is taken meanwhile, by a unit of another plugin; with the one that comes
 * back there are more than the list had room for. */
START_TEST(a_system_that_comes_back_has_room_in_a_step_that_has_grown)
{
    static const char *const types[] = {"body", "pool", "vigil_with", "vigil_of", "vigil_all"};
    static const char *const names[] = {"vigil"};
    bool refused = _i == 1;
    rig_t rig;
    rig_init(&rig);
    rig.desc.flags |= BP_HOST_COPY_PLUGINS;
    rig_open(&rig);
    rig.host->reload.probation_steps = 10;
    WORKS(rig.host, bp_host_load_plugin(rig.host, "zoo", NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "stocks", NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin("crasher", "crasher"), NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin("vigil_first", "vigil"), NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    for (uint32_t i = 0; i < COUNT(types); i++)
        WORKS(rig.host, bp_world_use_component(world, types[i]));
    WORKS(rig.host, bp_world_use_system(world, "vigil_system"));
    ck_assert_uint_eq(world->schedule->count, world->schedule->capacity);
    put_plugin("vigil_lacks", "vigil");
    WORKS(rig.host, bp_host_reload(rig.host, names, 1, NULL));
    WORKS(rig.host, bp_world_use_component(world, "crash_plain"));
    if (refused) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + 1;
        FAILS(rig.host, BP_ERROR_MEMORY, "taking a reload back", reload_rollback(&rig.host->reload));
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        WORKS(rig.host, bp_world_step(world));
    }
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    ck_assert_uint_eq(world->schedule->count, 5);
    ck_assert_uint_ge(world->schedule->capacity, 5);
    WORKS(rig.host, bp_world_step(world));
    check_host(rig.host);
    rig.log.count = 0, rig.log.text[0] = '\0';
    rig_close(&rig);
}
END_TEST

/* --- several components of a plugin, all with other columns than before, side by side in each row ----------------- */

static const char *const kinds[][2] = {{"crash_plain", ""}, {"crash_told", ""}, {"crash_plain", "late"},
                                       {"crash_told", "later"}};

enum { KINDS = COUNT(kinds), CROWD = 5 };

static const char *called(uint32_t kind)
{
    return kinds[kind][1][0] != '\0' ? kinds[kind][1] : kinds[kind][0];
}

/* Each value is another one: x of what the versions share, and y where they have it. */
static void write_kinds(const rig_t *rig, bp_world_o *world, const bp_entity_t *crowd, bool has_y)
{
    for (uint32_t i = 0; i < CROWD; i++) {
        for (uint32_t k = 0; k < KINDS; k++) {
            float x = (float)(10 * i + k);
            double y = 100 + x;
            WORKS(rig->host, rig->api->property->set_named(world, crowd[i], called(k), "x", BP_F32, &x));
            if (has_y)
                WORKS(rig->host, rig->api->property->set_named(world, crowd[i], called(k), "y", BP_F64, &y));
        }
    }
}

static void expect_kinds(const rig_t *rig, bp_world_o *world, const bp_entity_t *crowd, const double *added)
{
    check_host(rig->host);
    for (uint32_t i = 0; i < CROWD; i++) {
        for (uint32_t k = 0; k < KINDS; k++) {
            float x = -1;
            double y = -1, expected = added[1] + (added[0] != 0 ? 10 * i + k : 0);
            WORKS(rig->host, rig->api->property->get_named(world, crowd[i], called(k), "x", BP_F32, &x));
            ck_assert_msg(x == (float)(10 * i + k), "x of '%s' of entity %u is %g", called(k), i, (double)x);
            if (added[1] < 0)
                continue;
            WORKS(rig->host, rig->api->property->get_named(world, crowd[i], called(k), "y", BP_F64, &y));
            ck_assert_msg(y == expected, "y of '%s' of entity %u is %g", called(k), i, y);
        }
    }
}

/* From a version to one with a field more in every component, and from that to the one without. */
START_TEST(all_components_of_a_row_have_their_values_on_probation_and_after_it)
{
    static const char *const files[] = {"crasher", "crasher_next"}, *const names[] = {"crasher"};
    static const double none[] = {0, -1}, fresh[] = {0, 5}, written[] = {1, 100};
    bool has_y = _i == 1;
    bp_entity_t crowd[CROWD];
    uint32_t keys[KINDS], prototype;
    rig_t rig;
    rig_init(&rig);
    rig.desc.flags |= BP_HOST_COPY_PLUGINS;
    rig_open(&rig);
    crash_next("nowhere", "null");
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin(files[_i], "crasher"), NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "crash_plain"));
    WORKS(rig.host, bp_world_use_component(world, "crash_told"));
    for (uint32_t k = 0; k < KINDS; k++)
        keys[k] = key_of(world, kinds[k][0], kinds[k][1]);
    WORKS(rig.host, rig.api->world->prototype(world, keys, KINDS, &prototype));
    WORKS(rig.host, rig.api->world->create(world, prototype, crowd, CROWD));
    write_kinds(&rig, world, crowd, has_y);
    rig.host->reload.probation_steps = 10;
    for (uint32_t round = 0; round < 3; round++) {
        put_plugin(files[1 - _i], "crasher");
        WORKS(rig.host, bp_host_reload(rig.host, names, 1, NULL));
        expect_kinds(&rig, world, crowd, has_y ? none : fresh);
        if (round == 2)
            break;
        WORKS(rig.host, reload_rollback(&rig.host->reload));
        expect_kinds(&rig, world, crowd, has_y ? written : none);
    }
    reload_accept(&rig.host->reload);
    expect_kinds(&rig, world, crowd, has_y ? none : fresh);
    rig.log.count = 0, rig.log.text[0] = '\0';
    rig_close(&rig);
}
END_TEST

Suite *rollback_suite(void)
{
    Suite *suite = suite_create("rollback");
    TCase *kept = tcase_create("kept"), *commands = tcase_create("commands");
    tcase_add_checked_fixture(kept, open_scene, close_scene);
    tcase_add_loop_test(kept, names_mean_the_fields_of_the_version_that_came_back, 0, 6);
    tcase_add_test(kept, properties_resolved_at_any_moment_find_their_field_at_any_other);
    tcase_add_test(kept, properties_of_other_components_find_their_columns_when_hidden_ones_have_gone);
    tcase_add_test(kept, a_layout_never_comes_back);
    tcase_add_test(kept, references_into_rows_of_a_new_kind_know_the_fields_of_today);
    tcase_add_test(kept, rows_of_a_new_kind_have_the_fields_of_today_when_hidden_columns_have_gone);
    tcase_add_test(kept, references_of_all_worlds_are_resolved_anew_when_a_version_comes_back);
    tcase_add_loop_test(kept, a_component_that_a_world_gets_meanwhile_ends_the_probation, 0, 2);
    tcase_add_test(kept, a_plugin_that_is_loaded_meanwhile_ends_the_probation);
    tcase_add_loop_test(kept, a_refused_reload_leaves_the_probation_as_it_is, 0, COUNT(accepted));
    tcase_add_loop_test(kept, a_reload_over_one_on_probation_comes_back_to_that, 0, COUNT(accepted));
    tcase_add_loop_test(kept, a_world_that_ends_leaves_the_probation_to_the_others, 0, COUNT(accepted));
    tcase_add_test(commands, recorded_values_go_to_the_fields_of_their_properties);
    tcase_add_test(commands, a_system_of_another_plugin_is_bound_by_the_names_that_are_declared);
    tcase_add_loop_test(commands, a_version_without_fields_may_be_taken_back, 0, 2);
    tcase_add_test(commands, a_system_that_asks_for_what_is_taken_back_leaves_and_comes_again);
    tcase_add_test(commands, queries_that_ask_for_what_is_taken_back_say_so_and_go_on_when_it_comes_again);
    tcase_add_test(commands, a_table_grows_beyond_its_slot_and_shrinks_again_as_versions_come_and_go);
    tcase_add_test(commands, a_table_that_cannot_be_offered_is_in_none_of_its_slots);
    tcase_add_test(commands, a_plugin_that_is_loaded_has_offered_its_table);
    tcase_add_test(commands, entities_that_would_have_too_many_fields_on_probation_keep_a_version_out);
    tcase_add_loop_test(commands, a_system_that_goes_is_stopped_once, 0, 3);
    tcase_add_loop_test(commands, a_system_that_comes_back_has_room_in_a_step_that_has_grown, 0, 2);
    tcase_add_loop_test(commands, all_components_of_a_row_have_their_values_on_probation_and_after_it, 0, 2);
    suite_add_tcase(suite, kept);
    suite_add_tcase(suite, commands);
    return suite;
}
