/* reload_support.c - scenes for the tests of reloading. */
#define _GNU_SOURCE 1 /* setenv */

#include "reload_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- files ------------------------------------------------------------------------------------------------- */

char *fixture_bytes(const char *fixture, size_t *size)
{
    char path[1024];
    snprintf(path, sizeof path, TEST_FIXTURE_DIR "/%s" TEST_SO, fixture);
    FILE *file = fopen(path, "rb");
    EXPECT(file != NULL, "%s is not there", path);
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)length);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(fread(bytes, 1, (size_t)length, file), (size_t)length);
    fclose(file);
    *size = (size_t)length;
    return bytes;
}

void put_environment(const char *name, const char *value)
{
#if defined(_WIN32)
    _putenv_s(name, value ? value : "");
#else
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
#endif
}

void crash_next(const char *where, const char *how)
{
    put_environment("CRASHER_WHERE", where);
    put_environment("CRASHER_HOW", how);
}

/* On Windows rename takes no name that is taken, and a library at work cannot be removed, but be renamed. */
bool move_over(const char *from, const char *to)
{
#if defined(_WIN32)
    static uint32_t count;
    char aside[1100];
    snprintf(aside, sizeof aside, "%s.%u.old", to, count++);
    remove(aside);
    if (remove(to) != 0)
        rename(to, aside);
#endif
    return rename(from, to) == 0;
}

static char folder_of_own[64];

void put_into(const char *folder)
{
    snprintf(folder_of_own, sizeof folder_of_own, "%s/", folder);
}

const char *put_bytes(const void *bytes, size_t size, const char *as)
{
    static char path[1024];
    char name[128], written[1024];
    const char *half = getenv("TESTS_HALF");
    EXPECT(half == NULL || strcmp(half, "2") == 0 || folder_of_own[0] != '\0',
           "plugin '%s' is put in place in the first half (tests/main.c)", as);
    snprintf(name, sizeof name, "%s%s.so.written", folder_of_own, as);
    snprintf(written, sizeof written, "%s", scratch_bytes(name, bytes, size));
    snprintf(path, sizeof path, TEST_SCRATCH_DIR "/%s%s" TEST_SO, folder_of_own, as);
    ck_assert(move_over(written, path));
    return path;
}

const char *put_plugin(const char *fixture, const char *as)
{
    size_t size;
    char *bytes = fixture_bytes(fixture, &size);
    const char *path = put_bytes(bytes, size, as);
    free(bytes);
    return path;
}

static const char *const probes[PROBE_VERSIONS] = {
    [PROBE_FIRST] = "reload_probe_first",
    [PROBE_FASTER] = "reload_probe_faster",
    [PROBE_RESHAPED] = "reload_probe_reshaped",
    [PROBE_MASS_TEXT] = "reload_probe_mass_text",
    [PROBE_COUNT_BOOL] = "reload_probe_count_bool",
    [PROBE_MASS_LIMIT] = "reload_probe_mass_limit",
    [PROBE_OWN] = "reload_probe_own",
    [PROBE_SINGLE] = "reload_probe_single",
    [PROBE_LOAD_FAILS] = "reload_probe_load_fails",
    [PROBE_START_FAILS] = "reload_probe_start_fails",
    [PROBE_OTHER_NAME] = "reload_probe_other_name",
    [PROBE_OTHER_COMPONENT] = "reload_probe_other_component",
    [PROBE_OPTION] = "reload_probe_option",
    [PROBE_OTHER_TEXTS] = "reload_probe_other_texts",
    [PROBE_CRASHES] = "reload_probe_crashes",
    [PROBE_MEDDLES] = "reload_probe_meddles",
    [PROBE_REORDERED] = "reload_probe_reordered",
    [PROBE_OWN_SAVED] = "reload_probe_own_saved",
    [PROBE_OWN_KEPT] = "reload_probe_own_kept",
    [PROBE_LABELS] = "reload_probe_labels",
};

const char *probe_fixture(int version)
{
    return probes[version];
}

static const char *put_probe(int version)
{
    return put_plugin(probe_fixture(version), "probe");
}

/* --- values ------------------------------------------------------------------------------------------------ */

static void get(scene_t *scene, uint32_t i, const char *property, uint32_t type, void *value)
{
    WORKS(scene->host,
          scene->api->property->get_named(scene->world, scene->entities[i], "probe", property, type, value));
}

float probe_f32(scene_t *scene, uint32_t i, const char *property)
{
    float value;
    get(scene, i, property, BP_F32, &value);
    return value;
}

double probe_f64(scene_t *scene, uint32_t i, const char *property)
{
    double value;
    get(scene, i, property, BP_F64, &value);
    return value;
}

int64_t probe_i64(scene_t *scene, uint32_t i, const char *property)
{
    int64_t value;
    get(scene, i, property, BP_I64, &value);
    return value;
}

int32_t probe_i32(scene_t *scene, uint32_t i, const char *property)
{
    int32_t value;
    get(scene, i, property, BP_I32, &value);
    return value;
}

bp_vec3_t probe_vec3(scene_t *scene, uint32_t i, const char *property)
{
    bp_vec3_t value;
    get(scene, i, property, BP_VEC3, &value);
    return value;
}

const char *probe_text(scene_t *scene, uint32_t i, const char *property)
{
    const char *value;
    get(scene, i, property, BP_STRING, &value);
    return value;
}

bp_entity_t probe_entity(scene_t *scene, uint32_t i, const char *property)
{
    bp_entity_t value;
    get(scene, i, property, BP_ENTITY, &value);
    return value;
}

static void set(scene_t *scene, bp_world_o *world, bp_entity_t e, const char *name, const char *property, uint32_t type,
                const void *value)
{
    WORKS(scene->host, scene->api->property->set_named(world, e, name, property, type, value));
}

/* Every value another, and every one to be told from its entity's number. */
static void set_values(scene_t *scene, bp_world_o *world, bp_entity_t e, uint32_t i, const char *name)
{
    float mass = 2.0f + (float)i;
    bp_vec3_t position = {(float)i, (float)i * 2.0f, (float)i * 4.0f};
    int32_t count = (int32_t)i - 100;
    char text[16];
    const char *label = text;
    snprintf(text, sizeof text, "probe %u", i % 7);
    set(scene, world, e, name, "mass", BP_F32, &mass);
    set(scene, world, e, name, "position", BP_VEC3, &position);
    set(scene, world, e, name, "label", BP_STRING, &label);
    set(scene, world, e, name, "count", BP_I32, &count);
    set(scene, world, e, name, "friend", BP_ENTITY, &scene->entities[(i * 7) % SCENE_ENTITIES]);
}

/* --- scenes ------------------------------------------------------------------------------------------------ */

static const char *const beside[] = {"body", "label", "flag", "fx", "pool", "told"};

static void populate(scene_t *scene, bp_world_o *world, bp_entity_t *entities)
{
    uint32_t probe = key_of(world, "probe", ""), spare = key_of(world, "probe", "spare");
    WORKS(scene->host, scene->api->entity->create(scene->host, entities, SCENE_ENTITIES));
    for (uint32_t i = 0; i < SCENE_ENTITIES; i++) {
        for (uint32_t b = 0; b < COUNT(beside); b++) {
            if ((i >> b & 1) != 0)
                WORKS(scene->host, scene->api->world->add(world, key_of(world, beside[b], ""), &entities[i], 1));
        }
        if (i % 11 != 0)
            WORKS(scene->host, scene->api->world->add(world, probe, &entities[i], 1));
        if (i % 5 == 0)
            WORKS(scene->host, scene->api->world->add(world, spare, &entities[i], 1));
    }
    for (uint32_t i = 0; i < SCENE_ENTITIES; i++) {
        if (i % 11 != 0)
            set_values(scene, world, entities[i], i, "probe");
        if (i % 5 == 0)
            set_values(scene, world, entities[i], i + 1000, "spare");
    }
    for (uint32_t i = 3; i < SCENE_ENTITIES; i += 13)
        scene->api->entity->destroy(scene->host, &entities[i], 1);
}

static bp_world_o *open_world(scene_t *scene, const char *name)
{
    bp_world_o *world = bp_world_create(scene->host, &(bp_world_desc_t){.name = name, .step_rate = 50});
    EXPECT(world != NULL, "%s", bp_host_error(scene->host));
    for (uint32_t b = 0; b < COUNT(beside); b++)
        WORKS(scene->host, bp_world_use_component(world, beside[b]));
    WORKS(scene->host, bp_world_use_component(world, "probe"));
    return world;
}

void scene_open(scene_t *scene, int version)
{
    scene_open_with(scene, version, NULL);
}

void scene_open_with(scene_t *scene, int version, const bp_plugin_head_t *linked)
{
    static const bp_plugin_head_t *plugins[ZOO_PLUGINS + 1];
    bp_entity_t others[SCENE_ENTITIES];
    memset(scene, 0, sizeof *scene);
    memcpy(plugins, zoo_plugins, sizeof zoo_plugins);
    plugins[ZOO_PLUGINS] = linked;
    rig_init(&scene->rig);
    scene->rig.desc.static_plugins = plugins;
    scene->rig.desc.static_plugin_count = ZOO_PLUGINS + (linked != NULL);
    rig_open(&scene->rig);
    for (uint32_t i = 0; i < scene->rig.desc.static_plugin_count; i++)
        WORKS(scene->rig.host, bp_host_load_plugin(scene->rig.host, plugins[i]->name, NULL, 0));
    scene->host = scene->rig.host;
    scene->api = scene->rig.api;
    WORKS(scene->host, bp_host_load_plugin(scene->host, put_probe(version), NULL, 0));
    scene->world = open_world(scene, "main");
    scene->second = open_world(scene, "second");
    populate(scene, scene->world, scene->entities);
    populate(scene, scene->second, others);
}

void scene_clear_log(scene_t *scene)
{
    scene->rig.log.text[0] = '\0';
    scene->rig.log.count = 0;
}

void scene_close(scene_t *scene)
{
    scene_clear_log(scene);
    rig_close(&scene->rig);
}

bp_result_t scene_reload(scene_t *scene, int version)
{
    static const char *const names[] = {"probe"};
    put_probe(version);
    bp_result_t result = bp_host_reload(scene->host, names, 1, NULL);
    scene_clear_log(scene);
    return result;
}

bool has_probe(scene_t *scene, uint32_t i)
{
    return i % 11 != 0 && scene->api->entity->alive(scene->host, &scene->entities[i], 1, NULL) == 1;
}
