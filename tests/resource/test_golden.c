/* test_golden.c - files of the past stay readable: format versions 1 and 2, and worlds saved by older versions of a
 * plugin.
 *
 * The files in tests/resource/golden/ were written once and are never written again for a version of the format; they
 * come with the fuzzer's seeds from
 *     BACKPLANE_WRITE_GOLDEN=1 CK_RUN_SUITE=golden build/tests
 * which writes only those that are missing.
 */
#include "../suites.h"
#include "../unit/support.h"
#include "scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN(name) TEST_SOURCE_DIR "/tests/resource/golden/" name

/* --- a plugin and what became of it ------------------------------------------------------------------------------- */

static const bp_field_t old_fields[] = {
    {.name = "speed", .type = BP_F32, .initial = "1"},
    {.name = "heading", .type = BP_VEC3},
    {.name = "crew", .type = BP_I32},
    {.name = "mass", .type = BP_F64},
    {.name = "obsolete", .type = BP_STRING},
    {.name = "title", .type = BP_STRING},
    {.name = "target", .type = BP_ENTITY},
};
static const bp_field_t new_fields[] = {
    {.name = "fuel", .type = BP_F32, .initial = "50"},                                   /* added */
    {.name = "course", .type = BP_VEC4, .former_name = "heading", .initial = "0 0 0 9"}, /* renamed, widened */
    {.name = "title", .type = BP_STRING},
    {.name = "crew", .type = BP_I64, .min = "0", .max = "1000"}, /* widened, and has limits now */
    {.name = "mass", .type = BP_F32},                            /* narrowed */
    {.name = "target", .type = BP_ENTITY},
    {.name = "speed", .type = BP_F32, .initial = "2"}, /* another default */
};
static const bp_field_t strict_fields[] = {{.name = "crew", .type = BP_BOOL}};            /* 100 does not fit */
static const bp_field_t other_fields[] = {{.name = "title", .type = BP_MAT4}};            /* nor a title a matrix */

static const bp_component_i old_list[] = {{.name = "ship", .version = 1, .fields = BP_LIST(old_fields)}};
static const bp_component_i new_list[] = {{.name = "ship", .version = 2, .fields = BP_LIST(new_fields)}};
static const bp_component_i strict_list[] = {{.name = "ship", .version = 2, .fields = BP_LIST(strict_fields)}};
static const bp_component_i other_list[] = {{.name = "ship", .version = 2, .fields = BP_LIST(other_fields)}};

static const bp_plugin_head_t fleets[] = {
    BP_PLUGIN_HEAD("fleet", (&(const bp_plugin_desc_t){.version = "1.0", .components = BP_LIST(old_list)})),
    BP_PLUGIN_HEAD("fleet", (&(const bp_plugin_desc_t){.version = "2.0", .components = BP_LIST(new_list)})),
    BP_PLUGIN_HEAD("fleet", (&(const bp_plugin_desc_t){.version = "2.1", .components = BP_LIST(strict_list)})),
    BP_PLUGIN_HEAD("fleet", (&(const bp_plugin_desc_t){.version = "2.2", .components = BP_LIST(other_list)})),
};
enum { OLD, NEW, STRICT, OTHER, SHIPS = 20 };

static bp_world_o *open_fleet(rig_t *rig, uint32_t version)
{
    const bp_plugin_head_t *plugins[] = {&fleets[version]};
    rig_open_with(rig, plugins, 1);
    WORKS(rig->host, bp_host_load_plugin(rig->host, "fleet", NULL, 0));
    bp_world_o *world = bp_world_create(rig->host, &(bp_world_desc_t){.name = "sea", .step_rate = 10});
    WORKS(rig->host, bp_world_use_component(world, "ship"));
    return world;
}

static void put(bp_world_o *world, bp_entity_t e, const char *field, uint32_t type, const void *value)
{
    WORKS(host_of(world), api_of(world)->property->set_named(world, e, "ship", field, type, value));
}

static bp_value_t get(bp_world_o *world, bp_entity_t e, const char *field, uint32_t type)
{
    bp_value_t value = {.i64 = 0};
    WORKS(host_of(world), api_of(world)->property->get_named(world, e, "ship", field, type, &value));
    return value;
}

/* A fleet as the first version of the plugin saved it. */
static void save_old_fleet(const char *path)
{
    rig_t rig;
    bp_entity_t ships[SHIPS];
    bp_world_o *world = open_fleet(&rig, OLD);
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "ship", NULL, NULL, NULL), ships, SHIPS));
    for (uint32_t i = 0; i < SHIPS; i++) {
        char title[32];
        snprintf(title, sizeof title, "ship %u", i);
        put(world, ships[i], "heading", BP_VEC3, &(bp_vec3_t){(float)i, 2, 3});
        put(world, ships[i], "crew", BP_I32, &(int32_t){(int32_t)(5 * i)});
        put(world, ships[i], "mass", BP_F64, &(double){0.5 * i});
        put(world, ships[i], "title", BP_STRING, &(const char *){title});
        put(world, ships[i], "target", BP_ENTITY, &ships[SHIPS - 1 - i]);
    }
    for (uint32_t i = 0; i < 7; i++)
        WORKS(rig.host, bp_world_step(world));
    WORKS(rig.host, bp_world_save(world, path));
    rig_close(&rig);
}

/* --- arrays and lists, since version 2 ---------------------------------------------------------------------------- */

static const bp_field_t old_holds[] = {
    {.name = "lots", .type = BP_F32, .flags = BP_FIELD_LIST},
    {.name = "berths", .type = BP_U16, .count = 3, .initial = "[1, 2, 3]"},
    {.name = "labels", .type = BP_STRING, .flags = BP_FIELD_LIST},
    {.name = "mates", .type = BP_ENTITY, .flags = BP_FIELD_LIST},
    {.name = "route", .type = BP_VEC3, .flags = BP_FIELD_LIST},
    {.name = "moods", .type = BP_U8, .flags = BP_FIELD_LIST, .values = "calm cross=7"},
    {.name = "words", .type = BP_STRING, .count = 2},
    {.name = "one", .type = BP_I32},
};
static const bp_field_t new_holds[] = {
    {.name = "route", .type = BP_DVEC3, .flags = BP_FIELD_LIST},                             /* widened */
    {.name = "loads", .type = BP_F64, .flags = BP_FIELD_LIST, .former_name = "lots"},        /* renamed, widened */
    {.name = "berths", .type = BP_U32, .count = 4, .initial = "9"},                          /* one more */
    {.name = "labels", .type = BP_STRING, .flags = BP_FIELD_LIST},
    {.name = "mates", .type = BP_ENTITY, .flags = BP_FIELD_LIST},
    {.name = "moods", .type = BP_U16, .flags = BP_FIELD_LIST, .values = "cross calm angry"}, /* other numbers */
    {.name = "words", .type = BP_STRING, .flags = BP_FIELD_LIST},                            /* an array no more */
    {.name = "one", .type = BP_I32, .count = 2, .initial = "5"},                             /* one value no more */
};
static const bp_field_t tight_holds[] = {{.name = "lots", .type = BP_U8, .flags = BP_FIELD_LIST}};

static const bp_component_i holds[][1] = {
    {{.name = "hold", .version = 1, .fields = BP_LIST(old_holds)}},
    {{.name = "hold", .version = 2, .fields = BP_LIST(new_holds)}},
    {{.name = "hold", .version = 2, .fields = BP_LIST(tight_holds)}},
};
static const bp_plugin_head_t hold_heads[] = {
    BP_PLUGIN_HEAD("holds", (&(const bp_plugin_desc_t){.version = "1.0", .components = BP_LIST(holds[0])})),
    BP_PLUGIN_HEAD("holds", (&(const bp_plugin_desc_t){.version = "2.0", .components = BP_LIST(holds[1])})),
    BP_PLUGIN_HEAD("holds", (&(const bp_plugin_desc_t){.version = "2.1", .components = BP_LIST(holds[2])})),
};
enum { HOLDS = 12 };

static bp_world_o *open_holds(rig_t *rig, uint32_t version)
{
    const bp_plugin_head_t *plugins[] = {&hold_heads[version]};
    rig_open_with(rig, plugins, 1);
    WORKS(rig->host, bp_host_load_plugin(rig->host, "holds", NULL, 0));
    bp_world_o *world = bp_world_create(rig->host, &(bp_world_desc_t){.name = "sea", .step_rate = 10});
    WORKS(rig->host, bp_world_use_component(world, "hold"));
    return world;
}

static void text_of(bp_world_o *world, bp_entity_t e, const char *field, const char *set, const char *get)
{
    const bp_property_api *p = api_of(world)->property;
    bp_path_t path = {.world = world, .entity = e};
    char read[256];
    WORKS(host_of(world), p->resolve(world, e, "hold", field, &path.property));
    if (set != NULL)
        WORKS(host_of(world), p->set_text(&path, set));
    WORKS(host_of(world), p->get_text(&path, read, sizeof read));
    if (get != NULL)
        ck_assert_str_eq(read, get);
}

static void save_old_holds(const char *path)
{
    rig_t rig;
    bp_entity_t e[HOLDS];
    bp_world_o *world = open_holds(&rig, 0);
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "hold", NULL, NULL, NULL), e, HOLDS));
    for (uint32_t i = 1; i < HOLDS; i++) {
        char lots[256] = "[1.5", labels[256] = "[\"first\"", mates[64], one[16];
        for (uint32_t k = 1; k < i; k++) {
            snprintf(lots + strlen(lots), 16, ", %u", 100 * k);
            snprintf(labels + strlen(labels), 16, ", \"label %u\"", k);
        }
        snprintf(mates, sizeof mates, "[#%u:1, none, #0:1]", i);
        snprintf(one, sizeof one, "%u", i);
        text_of(world, e[i], "lots", strcat(lots, "]"), NULL);
        text_of(world, e[i], "labels", strcat(labels, "]"), NULL);
        text_of(world, e[i], "mates", mates, NULL);
        text_of(world, e[i], "route", i % 2 == 0 ? "[0 0.5 1, 2 3 4]" : "[]", NULL);
        text_of(world, e[i], "berths", i % 3 == 0 ? "[4, 5, 6]" : "[1, 2, 3]", NULL);
        text_of(world, e[i], "moods", i % 4 == 0 ? "[cross, calm]" : "[]", NULL);
        text_of(world, e[i], "words[1]", "second", NULL);
        text_of(world, e[i], "one", one, NULL);
    }
    WORKS(rig.host, bp_world_save(world, path));
    rig_close(&rig);
}

/* --- writing those that are missing ------------------------------------------------------------------------------- */

static void write_missing(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        file = fopen(path, "wb");
        ck_assert(file != NULL && fwrite(bytes, 1, size, file) == size);
    }
    fclose(file);
}

START_TEST(missing_files_are_written)
{
    desk_t desk;
    desk_open(&desk);
    blob_bytes_t everything = scene_of_everything(&desk), level = scene_of_an_old_level(&desk);
    write_missing(GOLDEN("v1_everything.bpe"), everything.bytes, everything.size);
    write_missing(GOLDEN("v1_level.bpe"), level.bytes, level.size);
    write_missing(TEST_SOURCE_DIR "/tests/fuzz/corpus/fuzz_blob/everything", everything.bytes, everything.size);
    write_missing(TEST_SOURCE_DIR "/tests/fuzz/corpus/fuzz_blob/level", level.bytes, level.size);
    desk_free(&desk, everything);
    desk_free(&desk, level);
    desk_close(&desk);
    FILE *file = fopen(GOLDEN("v1_older_plugin.bpe"), "rb");
    if (file == NULL)
        save_old_fleet(GOLDEN("v1_older_plugin.bpe"));
    else
        fclose(file);
    file = fopen(GOLDEN("v2_lists.bpe"), "rb");
    if (file == NULL)
        save_old_holds(GOLDEN("v2_lists.bpe"));
    else
        fclose(file);
}
END_TEST

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* The writer of today writes what that of version 1 wrote, to the byte; else it is another version. */
START_TEST(format_version_1_has_not_changed)
{
    const char *const paths[] = {GOLDEN("v1_everything.bpe"), GOLDEN("v1_level.bpe")};
    desk_t desk;
    desk_open(&desk);
    blob_bytes_t made[] = {scene_of_everything(&desk), scene_of_an_old_level(&desk)};
    for (uint32_t i = 0; i < COUNT(made); i++) {
        blob_t blob;
        FILE *file = fopen(paths[i], "rb");
        ck_assert_msg(file != NULL, "%s is missing", paths[i]);
        unsigned char *bytes = malloc(made[i].size + 1);
        ck_assert_uint_eq(fread(bytes, 1, made[i].size + 1, file), made[i].size);
        fclose(file);
        ck_assert_mem_eq(bytes, made[i].bytes, made[i].size);
        WORKS_AT(&desk, blob_open(&blob, &desk.memory, bytes, made[i].size, paths[i], &desk.error));
        free(bytes);
        desk_free(&desk, made[i]);
    }
    desk_close(&desk);
}
END_TEST

START_TEST(a_newer_plugin_opens_what_an_older_one_saved)
{
    rig_t rig;
    bp_scene_o *scene;
    bp_entity_t ships[SHIPS];
    bp_world_o *world = open_fleet(&rig, NEW);
    WORKS(rig.host, bp_scene_open(rig.host, GOLDEN("v1_older_plugin.bpe"), &scene));
    ck_assert_uint_eq(bp_scene_entity_count(scene), SHIPS);
    WORKS(rig.host, bp_scene_spawn(scene, world, 0, ships, NULL));
    for (uint32_t i = 0; i < SHIPS; i++) {
        char title[32];
        snprintf(title, sizeof title, "ship %u", i);
        bp_vec4_t course = get(world, ships[i], "course", BP_VEC4).vec4;
        ck_assert(course.x == (float)i && course.z == 3 && course.w == 9);
        ck_assert(get(world, ships[i], "fuel", BP_F32).f32 == 50);
        ck_assert(get(world, ships[i], "speed", BP_F32).f32 == 1); /* what it was, not what new ones start with */
        ck_assert(get(world, ships[i], "mass", BP_F32).f32 == 0.5f * (float)i);
        ck_assert_int_eq(get(world, ships[i], "crew", BP_I64).i64, 5 * i);
        ck_assert_str_eq(get(world, ships[i], "title", BP_STRING).string, title);
        ck_assert(get(world, ships[i], "target", BP_ENTITY).entity.id == ships[SHIPS - 1 - i].id);
    }
    WORKS(rig.host, bp_world_restore(world, GOLDEN("v1_older_plugin.bpe"), 0));
    bp_step_t now = {.struct_size = sizeof now};
    rig.api->world->clock(world, &now);
    ck_assert_uint_eq(now.number, 7);
    rig_close(&rig);
}
END_TEST

START_TEST(values_that_do_not_fit_the_newer_plugin_are_refused)
{
    static const struct {
        uint32_t version;
        bp_result_t code;
        const char *says;
    } refused[] = {{STRICT, BP_ERROR_RANGE, "ship: field 'crew' holds 5, which does not fit the new bool"},
                   {OTHER, BP_ERROR_TYPE, "ship: field 'title' was string and is now mat4"}};
    for (uint32_t i = 0; i < COUNT(refused); i++) {
        rig_t rig;
        bp_scene_o *scene;
        bp_world_o *world = open_fleet(&rig, refused[i].version);
        WORKS(rig.host, bp_scene_open(rig.host, GOLDEN("v1_older_plugin.bpe"), &scene));
        FAILS(rig.host, refused[i].code, refused[i].says, bp_scene_spawn(scene, world, 0, NULL, NULL));
        FAILS(rig.host, refused[i].code, "v1_older_plugin.bpe: ", bp_scene_restore(scene, world, BP_SCENE_SKIP));
        ck_assert_uint_eq(rig.api->entity->count(rig.host), 0);
        rig_close(&rig);
    }
}
END_TEST

/* --- lists -------------------------------------------------------------------------------------------------------- */

static size_t read_all(const char *path, unsigned char *bytes, size_t room)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s is missing", path);
    size_t size = fread(bytes, 1, room, file);
    fclose(file);
    ck_assert_uint_lt(size, room);
    return size;
}

START_TEST(format_version_2_has_not_changed)
{
    static unsigned char was[16384], is[16384];
    const char *path = scratch_file("lists.bpe", "");
    save_old_holds(path);
    size_t size = read_all(GOLDEN("v2_lists.bpe"), was, sizeof was);
    ck_assert_uint_eq(read_all(path, is, sizeof is), size);
    ck_assert_mem_eq(is, was, size);
    ck_assert_uint_eq(was[12], 2);
}
END_TEST

START_TEST(a_newer_plugin_opens_lists_that_an_older_one_saved)
{
    rig_t rig;
    bp_scene_o *scene;
    bp_entity_t e[HOLDS];
    bp_world_o *world = open_holds(&rig, 1);
    WORKS(rig.host, bp_scene_open(rig.host, GOLDEN("v2_lists.bpe"), &scene));
    WORKS(rig.host, bp_scene_spawn(scene, world, 0, e, NULL));
    text_of(world, e[4], "loads", NULL, "[1.5, 100, 200, 300]");
    text_of(world, e[4], "labels", NULL, "[\"first\", \"label 1\", \"label 2\", \"label 3\"]");
    text_of(world, e[4], "route", NULL, "[0 0.5 1, 2 3 4]");
    text_of(world, e[4], "mates[1]", NULL, "none");
    text_of(world, e[4], "mates[2]", NULL, "#0:1");
    text_of(world, e[4], "moods", NULL, "[cross, calm]");
    text_of(world, e[4], "words", NULL, "[\"\", \"second\"]");
    text_of(world, e[4], "one", NULL, "[4, 5]");
    text_of(world, e[3], "berths", NULL, "[4, 5, 6, 9]");
    text_of(world, e[0], "berths", NULL, "[1, 2, 3, 9]");
    text_of(world, e[0], "loads", NULL, "[]");
    WORKS(rig.host, bp_world_restore(world, GOLDEN("v2_lists.bpe"), 0));
    rig_close(&rig);
}
END_TEST

START_TEST(a_list_with_one_value_too_large_for_the_newer_plugin_is_refused)
{
    rig_t rig;
    bp_scene_o *scene;
    bp_world_o *world = open_holds(&rig, 2);
    WORKS(rig.host, bp_scene_open(rig.host, GOLDEN("v2_lists.bpe"), &scene));
    FAILS(rig.host, BP_ERROR_RANGE, "hold: field 'lots' holds 1.5, which does not fit the new u8",
          bp_scene_spawn(scene, world, 0, NULL, NULL));
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 0);
    rig_close(&rig);
}
END_TEST

Suite *golden_suite(void)
{
    Suite *suite = suite_create("golden");
    TCase *files = tcase_create("files");
    if (getenv("BACKPLANE_WRITE_GOLDEN") != NULL)
        tcase_add_test(files, missing_files_are_written);
    tcase_add_test(files, format_version_1_has_not_changed);
    tcase_add_test(files, a_newer_plugin_opens_what_an_older_one_saved);
    tcase_add_test(files, values_that_do_not_fit_the_newer_plugin_are_refused);
    tcase_add_test(files, format_version_2_has_not_changed);
    tcase_add_test(files, a_newer_plugin_opens_lists_that_an_older_one_saved);
    tcase_add_test(files, a_list_with_one_value_too_large_for_the_newer_plugin_is_refused);
    suite_add_tcase(suite, files);
    return suite;
}
