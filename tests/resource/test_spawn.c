/* test_spawn.c - from a blob to entities: everything arrives, or nothing happens. */
#include "../suites.h"
#include "../unit/inspect.h"
#include "../unit/zoo.h"
#include "kin.h"
#include "scenes.h"

#include "base/memory.h"
#include "store/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOTS = LEVEL_LOTS, ENTITIES = LEVEL_ENTITIES };

/* A system that is told which entities have a body. */
static uint32_t told;

static void told_added(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    (void)s, (void)entities;
    told += count;
}

static void told_removed(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    (void)s, (void)entities;
    told -= count;
}

static void told_run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
}

static const bp_term_t told_terms[] = {{.component = "body"}};
static const bp_system_i told_systems[] = {{.name = "hears_of_bodies",
                                            .terms = BP_LIST(told_terms),
                                            .run_all = told_run,
                                            .entities_added = told_added,
                                            .entities_removed = told_removed}};
static const bp_plugin_head_t told_plugin =
    BP_PLUGIN_HEAD("hears", (&(const bp_plugin_desc_t){.version = "1", .systems = BP_LIST(told_systems)}));

typedef struct stage_t {
    desk_t desk;
    rig_t rig;
    blob_bytes_t bytes;
    bp_world_o *world;
    bp_scene_o *scene;
} stage_t;

static void open_stage(stage_t *stage)
{
    static const bp_plugin_head_t *plugins[ZOO_PLUGINS + 2];
    memcpy(plugins, zoo_plugins, sizeof zoo_plugins);
    plugins[ZOO_PLUGINS] = &kin_plugin;
    plugins[ZOO_PLUGINS + 1] = &told_plugin;
    desk_open(&stage->desk);
    stage->bytes = scene_of_a_level(&stage->desk);
    rig_init(&stage->rig);
    stage->rig.desc.static_plugins = plugins;
    stage->rig.desc.static_plugin_count = COUNT(plugins);
    rig_open(&stage->rig);
    bp_host_o *host = stage->rig.host;
    for (uint32_t i = 0; i < COUNT(plugins); i++)
        WORKS(host, bp_host_load_plugin(host, plugins[i]->name, NULL, 0));
    stage->world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    static const char *const types[] = {"body", "label", "pool", "vault", "kin", "tag"};
    for (uint32_t i = 0; i < COUNT(types); i++)
        WORKS(host, bp_world_use_component(stage->world, types[i]));
    WORKS(host, bp_scene_open_memory(host, stage->bytes.bytes, stage->bytes.size, "x.bpe", &stage->scene));
}

static void close_stage(stage_t *stage)
{
    check_host(stage->rig.host);
    bp_scene_close(stage->scene);
    rig_close(&stage->rig);
    desk_free(&stage->desk, stage->bytes);
    desk_close(&stage->desk);
}

static bp_value_t get(const stage_t *stage, bp_entity_t entity, const char *component, const char *property,
                      uint32_t type)
{
    bp_value_t value = {.i64 = 0};
    WORKS(stage->rig.host,
          stage->rig.api->property->get_named(stage->world, entity, component, property, type, &value));
    return value;
}

static void expect_spawned(stage_t *stage, const bp_entity_t *e)
{
    for (uint32_t i = 0; i < LOTS; i++) {
        char words[32];
        snprintf(words, sizeof words, "sign %u", i / 3);
        ck_assert(get(stage, e[i], "body", "mass", BP_F32).f32 == (float)i);
        ck_assert(get(stage, e[i], "body", "velocity", BP_VEC3).vec3.y == 8);
        ck_assert(get(stage, e[i], "body", "acceleration", BP_VEC3).vec3.y == 0);
        ck_assert_str_eq(get(stage, e[i], "sign", "text", BP_STRING).string, words);
        ck_assert(get(stage, e[i], "sign", "home", BP_ENTITY).entity.id == e[LOTS - i - 1].id);
        ck_assert(get(stage, e[i], "sign", "kind", BP_NAME).name == names_hash("guild"));
        ck_assert_int_eq(get(stage, e[i], "sign", "rank", BP_I32).i32, -3);
        ck_assert_int_eq(get(stage, e[i], "pool", "number", BP_I64).i64, 10 * i);
        ck_assert_str_eq(get(stage, e[i], "pool", "text", BP_STRING).string, "pooled");
        ck_assert_str_eq(get(stage, e[i], "kin", "label", BP_STRING).string, words);
        ck_assert(get(stage, e[i], "kin", "weight", BP_F32).f32 == 70);
        ck_assert(get(stage, e[i], "kin", "parent", BP_ENTITY).entity.id == e[i + 1].id);
        ck_assert(get(stage, e[i], "kin", "friend", BP_ENTITY).entity.id == (i % 4 == 0 ? e[LOTS + 4].id : 0));
    }
    ck_assert_uint_eq(get(stage, e[LOTS + 1], "vault", "secret", BP_U32).u32, 101);
    ck_assert(get(stage, e[LOTS + 1], "kin", "parent", BP_ENTITY).entity.id == e[LOTS + 2].id);
    ck_assert(get(stage, e[LOTS + 1], "in-law", "parent", BP_ENTITY).entity.id == e[LOTS + 2].id);
    ck_assert(get(stage, e[LOTS + 1], "tag", "owner", BP_ENTITY).entity.id == e[LOTS + 2].id);
    ck_assert_uint_eq(stage->rig.api->entity->alive(stage->rig.host, e, ENTITIES, NULL), ENTITIES);
}

START_TEST(everything_arrives)
{
    stage_t stage;
    bp_entity_t e[ENTITIES], again[ENTITIES];
    bp_spawn_t spawn;
    open_stage(&stage);
    ck_assert_uint_eq(bp_scene_entity_count(stage.scene), ENTITIES);
    WORKS(stage.rig.host, bp_scene_spawn(stage.scene, stage.world, 0, e, NULL));
    expect_spawned(&stage, e);
    WORKS(stage.rig.host, bp_scene_spawn(stage.scene, stage.world, 0, again, &spawn));
    expect_spawned(&stage, again);
    expect_spawned(&stage, e);
    const kin_t *kin = state_of(stage.world, "kin");
    ck_assert_uint_eq(kin->with_calls, 6); /* one for each part of each spawn */
    ck_assert_uint_eq(kin->create_calls, 6);
    ck_assert_uint_eq(kin->at_create, 0); /* kin comes before vault */
    WORKS(stage.rig.host, bp_scene_spawn(stage.scene, stage.world, 0, NULL, NULL));
    close_stage(&stage);
}
END_TEST

/* A manager that tries to destroy and to change the entities of the spawn is refused, and the spawn is what it says. */
START_TEST(entities_that_are_being_spawned_are_changed_by_no_manager)
{
    stage_t stage;
    bp_entity_t e[ENTITIES];
    open_stage(&stage);
    stock_t *pool = state_of(stage.world, "pool");
    pool->meddles = 1;
    WORKS(stage.rig.host, bp_scene_spawn(stage.scene, stage.world, 0, e, NULL));
    ck_assert_uint_gt(pool->meddles, 1);
    pool->meddles = 0;
    expect_spawned(&stage, e);
    close_stage(&stage);
}
END_TEST

/* A system that is told who has a body hears of all that a scene brings, and of all that go with it. */
START_TEST(systems_are_told_of_what_a_scene_brings)
{
    stage_t stage;
    bp_spawn_t spawn;
    told = 0;
    open_stage(&stage);
    WORKS(stage.rig.host, bp_world_use_system(stage.world, "hears_of_bodies"));
    WORKS(stage.rig.host, bp_world_step(stage.world));
    WORKS(stage.rig.host, bp_scene_spawn(stage.scene, stage.world, 0, NULL, &spawn));
    WORKS(stage.rig.host, bp_world_step(stage.world));
    ck_assert_uint_eq(told, world_count(&stage.world->rows, world_component(&stage.world->rows, "body")));
    ck_assert_uint_ge(told, LOTS);
    WORKS(stage.rig.host, bp_scene_spawn(stage.scene, stage.world, 0, NULL, NULL));
    WORKS(stage.rig.host, bp_world_step(stage.world));
    ck_assert_uint_eq(told, world_count(&stage.world->rows, world_component(&stage.world->rows, "body")));
    close_stage(&stage);
}
END_TEST

START_TEST(a_spawn_is_ended_by_its_handle_once)
{
    stage_t stage;
    bp_entity_t e[ENTITIES], few[3];
    bp_spawn_t spawn, other;
    open_stage(&stage);
    char *before = describe_host(stage.rig.host);
    WORKS(stage.rig.host, bp_scene_spawn(stage.scene, stage.world, 0, NULL, &spawn));
    ck_assert_uint_eq(bp_host_spawned(stage.rig.host, spawn, e, ENTITIES), ENTITIES);
    ck_assert_uint_eq(bp_host_spawned(stage.rig.host, spawn, few, 3), ENTITIES);
    ck_assert(few[2].id == e[2].id);
    stage.rig.api->entity->destroy(stage.rig.host, e, 10);
    ck_assert_uint_eq(bp_host_despawn(stage.rig.host, spawn), ENTITIES - 10);
    ck_assert_uint_eq(bp_host_despawn(stage.rig.host, spawn), 0);
    WORKS(stage.rig.host, bp_scene_spawn(stage.scene, stage.world, 0, e, &other));
    ck_assert(other.id != spawn.id);
    ck_assert_uint_eq(bp_host_despawn(stage.rig.host, spawn), 0);
    ck_assert_uint_eq(bp_host_spawned(stage.rig.host, (bp_spawn_t){0}, e, 1), 0);
    bp_host_release_spawn(stage.rig.host, other);
    ck_assert_uint_eq(bp_host_despawn(stage.rig.host, other), 0);
    ck_assert_uint_eq(stage.rig.api->entity->destroy(stage.rig.host, e, ENTITIES), ENTITIES);
    store_collect_all(&stage.world->rows);
    expect_same(before, describe_host(stage.rig.host), "spawning and despawning");
    close_stage(&stage);
}
END_TEST

/* Nothing is left of a spawn for which memory fails, whichever request it is. */
START_TEST(a_spawn_without_memory_leaves_no_trace)
{
    stage_t stage;
    bp_entity_t e[ENTITIES];
    open_stage(&stage);
    WORKS(stage.rig.host, bp_scene_spawn(stage.scene, stage.world, 0, e, NULL)); /* the world is not empty */
    stage.rig.api->entity->destroy(stage.rig.host, e + 3, 20);
    char *before = describe_host(stage.rig.host);
    uint32_t refused = 0;
    for (;; refused++) {
        stage.rig.heap.refuse_first = stage.rig.heap.refuse_last = stage.rig.heap.requests + refused + 1;
        bp_spawn_t spawn;
        bp_result_t result = bp_scene_spawn(stage.scene, stage.world, 0, e, &spawn);
        stage.rig.heap.refuse_first = stage.rig.heap.refuse_last = 0;
        if (result == BP_OK)
            break;
        ck_assert_int_eq(result, BP_ERROR_MEMORY);
        check_host(stage.rig.host);
        char *now = describe_host(stage.rig.host);
        ck_assert_str_eq(before, now);
        free(now);
    }
    ck_assert_uint_gt(refused, 20);
    expect_spawned(&stage, e);
    free(before);
    close_stage(&stage);
}
END_TEST

/* Nor where a manager says no, at any of its calls. */
START_TEST(a_manager_that_refuses_undoes_the_spawn)
{
    stage_t stage;
    bp_entity_t e[ENTITIES];
    open_stage(&stage);
    WORKS(stage.rig.host, bp_scene_spawn(stage.scene, stage.world, 0, NULL, NULL));
    char *before = describe_host(stage.rig.host);
    static const char *const types[] = {"kin", "vault"};
    uint32_t refused = 0;
    for (uint32_t t = 0; t < COUNT(types); t++) {
        kin_t *kin = state_of(stage.world, types[t]);
        for (uint32_t calls = 0;; calls++) {
            kin->refuse_after = calls;
            bp_result_t result = bp_scene_spawn(stage.scene, stage.world, 0, e, NULL);
            kin->refuse_after = BP_NONE;
            if (result == BP_OK)
                break;
            refused++;
            ck_assert_int_eq(result, BP_ERROR_FAILED);
            ck_assert_msg(strstr(bp_host_error(stage.rig.host), "x.bpe: ") != NULL, "%s",
                          bp_host_error(stage.rig.host));
            check_host(stage.rig.host);
            char *now = describe_host(stage.rig.host);
            ck_assert_str_eq(before, now);
            free(now);
        }
        stage.rig.api->entity->destroy(stage.rig.host, e, ENTITIES);
        store_collect_all(&stage.world->rows);
    }
    stock_t *pool = state_of(stage.world, "pool");
    pool->refuse_creates = 1;
    FAILS(stage.rig.host, BP_ERROR_FAILED, "x.bpe: pool: ", bp_scene_spawn(stage.scene, stage.world, 0, e, NULL));
    ck_assert_uint_eq(refused, 3 + 2 + 1); /* kin is created thrice and set twice; vaults are created once */
    expect_same(before, describe_host(stage.rig.host), "refused spawns");
    close_stage(&stage);
}
END_TEST

/* What a verb of contract 1 had compiled means nothing to any manager of today. */
START_TEST(bytes_that_an_old_manager_compiled_are_refused_or_left_out)
{
    stage_t stage;
    bp_scene_o *old;
    open_stage(&stage);
    blob_bytes_t level = scene_of_an_old_level(&stage.desk);
    WORKS(stage.rig.host, bp_scene_open_memory(stage.rig.host, level.bytes, level.size, "old.bpe", &old));
    FAILS(stage.rig.host, BP_ERROR_TYPE,
          "old.bpe: vault was compiled to bytes by a manager of contract 1; compile the scene again",
          bp_scene_spawn(old, stage.world, 0, NULL, NULL));
    ck_assert_uint_eq(stage.rig.api->entity->count(stage.rig.host), 0);
    WORKS(stage.rig.host, bp_scene_spawn(old, stage.world, BP_SCENE_SKIP, NULL, NULL));
    ck_assert_uint_eq(((const kin_t *)state_of(stage.world, "vault"))->count, 0);
    ck_assert_uint_eq(((const kin_t *)state_of(stage.world, "kin"))->count, LOTS + 4);
    ck_assert(strstr(stage.rig.log.text, "old.bpe: vault is left out") != NULL);
    stage.rig.log.text[0] = '\0';
    stage.rig.log.count = 0;
    bp_scene_close(old);
    desk_free(&stage.desk, level);
    close_stage(&stage);
}
END_TEST

START_TEST(an_unknown_type_is_refused_or_left_out)
{
    stage_t stage;
    bp_entity_t e[ENTITIES];
    open_stage(&stage);
    bp_world_o *poor = bp_world_create(stage.rig.host, &(bp_world_desc_t){.name = "poor"});
    WORKS(stage.rig.host, bp_world_use_component(poor, "body"));
    char *before = describe_host(stage.rig.host);
    FAILS(stage.rig.host, BP_ERROR_NOT_FOUND, "x.bpe: component 'label' is loaded, but world 'poor' does not use it",
          bp_scene_spawn(stage.scene, poor, 0, e, NULL));
    expect_same(before, describe_host(stage.rig.host), "a refused scene");
    ck_assert_uint_eq(stage.rig.log.count, 0);
    WORKS(stage.rig.host, bp_scene_spawn(stage.scene, poor, BP_SCENE_SKIP, e, NULL));
    ck_assert_uint_eq(stage.rig.log.count, 5);
    ck_assert(strstr(stage.rig.log.text, "x.bpe: vault is left out") != NULL);
    bp_world_stats_t stats;
    bp_world_stats(poor, &stats);
    ck_assert_uint_eq(stats.entities, LOTS);
    ck_assert_uint_eq(stage.rig.api->entity->alive(stage.rig.host, e, ENTITIES, NULL), ENTITIES);
    stage.rig.log.text[0] = '\0';
    stage.rig.log.count = 0;
    close_stage(&stage);
}
END_TEST

START_TEST(a_scene_is_spawned_by_its_own_host_between_steps)
{
    stage_t stage;
    bp_entity_t e[ENTITIES];
    open_stage(&stage);
    rig_t other;
    rig_init(&other);
    rig_open(&other);
    bp_world_o *foreign = bp_world_create(other.host, &(bp_world_desc_t){.name = "foreign"});
    FAILS(stage.rig.host, BP_ERROR_ARGUMENT, "another host", bp_scene_spawn(stage.scene, foreign, 0, e, NULL));
    rig_close(&other);
    stage.world->rows.hold = WORLD_STEPPING;
    FAILS(stage.rig.host, BP_ERROR_STATE, "between steps", bp_scene_spawn(stage.scene, stage.world, 0, e, NULL));
    stage.world->rows.hold = WORLD_FREE;
    close_stage(&stage);
}
END_TEST

/* A field of the level's blob, to be changed. */
static void *values_of(const stage_t *stage, const char *type, const char *name)
{
    const blob_t *blob = &stage->scene->blob;
    for (uint32_t c = 0; c < blob->info->component_count; c++) {
        for (uint32_t f = 0; f < blob->components[c].field_count; f++) {
            const blob_field_t *field = &blob->fields[blob->components[c].first_field + f];
            if (strcmp(blob_text(blob, blob->components[c].type), type) == 0 &&
                strcmp(blob_text(blob, field->name), name) == 0)
                return stage->bytes.bytes + field->offset;
        }
    }
    ck_abort_msg("no %s.%s", type, name);
    return NULL;
}

START_TEST(values_outside_their_range_are_refused)
{
    stage_t stage;
    open_stage(&stage);
    bp_host_o *host = stage.rig.host;
    float *mass = values_of(&stage, "body", "mass");
    int32_t *rank = values_of(&stage, "label", "rank");
    int64_t *number = values_of(&stage, "pool", "number");
    char *before = describe_host(host);
    mass[LOTS - 1] = -0.5f;
    FAILS(host, BP_ERROR_RANGE, "x.bpe: body: mass = -0.5 is outside its range: at least 0 kg",
          bp_scene_spawn(stage.scene, stage.world, 0, NULL, NULL));
    FAILS(host, BP_ERROR_RANGE, "x.bpe: body: ", bp_scene_spawn(stage.scene, stage.world, BP_SCENE_SKIP, NULL, NULL));
    mass[LOTS - 1] = 0;
    *rank = 11;
    FAILS(host, BP_ERROR_RANGE, "x.bpe: label: rank = 11 is outside its range",
          bp_scene_spawn(stage.scene, stage.world, 0, NULL, NULL));
    *rank = 10;
    number[3] = 1001;
    FAILS(host, BP_ERROR_RANGE, "x.bpe: pool: number = 1001", bp_scene_spawn(stage.scene, stage.world, 0, NULL, NULL));
    number[3] = 1000;
    expect_same(before, describe_host(host), "values out of range");
    WORKS(host, bp_scene_spawn(stage.scene, stage.world, 0, NULL, NULL));
    close_stage(&stage);
}
END_TEST

/* A type that may be in an entity only once, twice: refused, or the second one left out. */
START_TEST(components_that_cannot_be_together_are_refused_or_left_out)
{
    stage_t stage;
    open_stage(&stage);
    bp_host_o *host = stage.rig.host;
    const blob_component_desc_t component = {.type = "vault"};
    const blob_part_desc_t parts[] = {{.text = "one"}, {.text = "two"}};
    const blob_group_desc_t group = {parts, 2, 3};
    const blob_desc_t desc = {.components = &component, .component_count = 1, .groups = &group, .group_count = 1};
    blob_writer_t w;
    void *bytes;
    size_t size;
    bp_scene_o *scene;
    WORKS_AT(&stage.desk, blob_write_begin(&w, &stage.desk.memory, &desc, &stage.desk.error));
    WORKS_AT(&stage.desk, blob_write_end(&w, &bytes, &size, &stage.desk.error));
    WORKS(host, bp_scene_open_memory(host, bytes, size, "two.bpe", &scene));
    FAILS(host, BP_ERROR_EXISTS, "two.bpe: ", bp_scene_spawn(scene, stage.world, 0, NULL, NULL));
    ck_assert_uint_eq(stage.rig.api->entity->count(host), 0);
    WORKS(host, bp_scene_spawn(scene, stage.world, BP_SCENE_SKIP, NULL, NULL));
    ck_assert_uint_eq(((const kin_t *)state_of(stage.world, "vault"))->count, 3);
    ck_assert_uint_eq(stage.rig.log.count, 1);
    ck_assert(strstr(stage.rig.log.text, "two.bpe: vault is left out") != NULL);
    stage.rig.log.text[0] = '\0';
    stage.rig.log.count = 0;
    bp_scene_close(scene);
    memory_free(&stage.desk.memory, bytes, size);
    close_stage(&stage);
}
END_TEST

/* What a plugin sees. */
START_TEST(plugins_spawn_through_their_table)
{
    stage_t stage;
    bp_entity_t e[ENTITIES], few[2];
    bp_spawn_t spawn;
    bp_scene_o *scene;
    open_stage(&stage);
    bp_host_o *host = stage.rig.host;
    const bp_scene_api *api = stage.rig.api->scene;
    ck_assert(BP_HAS(stage.rig.api, bp_api_t, scene) && BP_HAS(api, bp_scene_api, release));
    WORKS(host, api->open(host, scratch_bytes("level.bpe", stage.bytes.bytes, stage.bytes.size), &scene));
    ck_assert_uint_eq(api->entity_count(scene), ENTITIES);
    WORKS(host, api->spawn(scene, stage.world, 0, e, &spawn));
    api->close(scene);
    expect_spawned(&stage, e);
    ck_assert_uint_eq(api->spawned(host, spawn, few, 2), ENTITIES);
    ck_assert(few[1].id == e[1].id);
    ck_assert_uint_eq(api->despawn(host, spawn), ENTITIES);
    api->release(host, spawn);
    close_stage(&stage);
}
END_TEST

static void spawn_in_callback(void *data, const bp_entity_t *entities, uint32_t count)
{
    stage_t *stage = data;
    bp_entity_t e[ENTITIES];
    (void)entities, (void)count;
    FAILS(stage->rig.host, BP_ERROR_STATE, "not from inside", bp_scene_spawn(stage->scene, stage->world, 0, e, NULL));
    FAILS(stage->rig.host, BP_ERROR_STATE, "not from inside", bp_world_save(stage->world, "never.bpe"));
    ck_assert_uint_eq(bp_host_despawn(stage->rig.host, (bp_spawn_t){1}), 0);
}

START_TEST(a_destruction_callback_spawns_nothing)
{
    stage_t stage;
    bp_entity_t e;
    open_stage(&stage);
    WORKS(stage.rig.host, stage.rig.api->entity->create(stage.rig.host, &e, 1));
    WORKS(stage.rig.host, bp_host_on_destroyed(stage.rig.host, &stage, spawn_in_callback, &stage));
    ck_assert_uint_eq(stage.rig.api->entity->destroy(stage.rig.host, &e, 1), 1);
    bp_host_drop_owner(stage.rig.host, &stage);
    close_stage(&stage);
}
END_TEST

static void count_text(void *context, const char *text, size_t length)
{
    (void)text;
    *(size_t *)context += length;
}

/* Bytes changed at random under a checksum that is right: what is taken can be spawned, shown and ended, or is
   refused. */
START_TEST(a_damaged_scene_is_refused_or_harmless)
{
    stage_t stage;
    open_stage(&stage);
    bp_host_o *host = stage.rig.host;
    uint64_t random = (uint64_t)_i + 1;
    uint32_t taken = 0, spawned = 0;
    for (uint32_t round = 0; round < 800; round++) {
        blob_bytes_t copy = {malloc(stage.bytes.size), stage.bytes.size};
        memcpy(copy.bytes, stage.bytes.bytes, copy.size);
        for (uint32_t i = bp_random_below(&random, 3) + 1; i > 0; i--)
            copy.bytes[32 + bp_random_below(&random, (uint32_t)copy.size - 32)] ^=
                (unsigned char)(1u << bp_random_below(&random, 8));
        scene_seal(copy);
        bp_scene_o *scene;
        if (bp_scene_open_memory(host, copy.bytes, copy.size, "x.bpe", &scene) == BP_OK) {
            size_t length = 0;
            bp_spawn_t spawn;
            taken++;
            bp_scene_dump(scene, round % 2 == 0 ? BP_DUMP_JSON : 0,
                          &(bp_text_sink_i){.context = &length, .write = count_text});
            ck_assert_uint_gt(length, 1000);
            if (bp_scene_spawn(scene, stage.world, round % 3 == 0 ? 0 : BP_SCENE_SKIP, NULL, &spawn) == BP_OK) {
                spawned++;
                ck_assert_uint_eq(bp_host_despawn(host, spawn), ENTITIES);
            }
            bp_scene_close(scene);
        }
        free(copy.bytes);
    }
    ck_assert_uint_gt(taken, 50);
    ck_assert_uint_gt(spawned, 30);
    store_collect_all(&stage.world->rows);
    stage.rig.log.text[0] = '\0';
    stage.rig.log.count = 0;
    close_stage(&stage);
}
END_TEST

/* --- more than there is ------------------------------------------------------------------------------------------ */

/* A line of text that counts to `count` entities of ten components each. */
static bp_scene_o *compile_crowd(bp_host_o *host, uint32_t count)
{
    char text[1024];
    bp_scene_o *scene = NULL;
    int length = snprintf(text, sizeof text, "{\"entities\": [{\"count\": %u, \"components\": {", count);
    for (int i = 0; i < 10; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s\"s%d\": {\"type\": \"body\"}",
                           i > 0 ? "," : "", i);
    snprintf(text + length, sizeof text - (size_t)length, "}}]}");
    WORKS(host, bp_scene_compile_text(host, "crowd", text, strlen(text), &scene));
    return scene;
}

/* Terabytes in each case; the first one has no room for the list, the second for what it lists. Sanitizers keep a book
 * of their own of such a list, which takes them most of a minute. */
#if defined(BACKPLANE_SANITIZED)
enum { CROWDS = 1 };
#else
enum { CROWDS = 2 };
#endif

START_TEST(what_no_memory_holds_is_refused_before_any_is_filled)
{
    static const uint32_t counts[] = {UINT32_MAX - 1, 1u << 31};
    rig_t rig;
    char sentence[64];
    uint64_t available;
    rig_init(&rig);
    rig.desc.allocator = NULL;
    rig_open(&rig);
    for (uint32_t i = 0; i < ZOO_PLUGINS; i++)
        WORKS(rig.host, bp_host_load_plugin(rig.host, zoo_plugins[i]->name, NULL, 0));
    bp_world_o *world = rig_world(&rig, "main");
    bp_scene_o *crowd = compile_crowd(rig.host, counts[_i]), *few = compile_crowd(rig.host, 7);
    WORKS(rig.host, bp_scene_spawn(few, world, 0, NULL, NULL));
    char *before = describe_host(rig.host);
    if (memory_could_hold(&world->rows.memory, UINT64_MAX / 2, &available))
        return; /* this system does not tell how much there is */
    snprintf(sentence, sizeof sentence, "%u entities", counts[_i]);
    FAILS(rig.host, BP_ERROR_MEMORY, sentence, bp_scene_spawn(crowd, world, 0, NULL, NULL));
    FAILS(rig.host, BP_ERROR_MEMORY, sentence, bp_scene_restore(crowd, world, 0));
    expect_same(before, describe_host(rig.host), "a spawn for which there is no memory");
    WORKS(rig.host, bp_scene_spawn(few, world, 0, NULL, NULL));
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 14);
    bp_scene_close(few);
    bp_scene_close(crowd);
    rig_close(&rig);
}
END_TEST

/* An embedder's own allocator is asked, and its no comes before anything is written. */
static void *resize_up_to_a_limit(void *context, void *old, size_t old_size, size_t new_size)
{
    size_t *taken = context;
    if (new_size > old_size && *taken + (new_size - old_size) > (size_t)64 << 20)
        return NULL;
    void *block = realloc(old, new_size > 0 ? new_size : 1);
    if (new_size == 0) {
        free(block);
        block = NULL;
    }
    *taken += new_size - old_size;
    return block;
}

START_TEST(an_allocator_with_a_limit_refuses_a_crowd)
{
    rig_t rig;
    size_t taken = 0;
    rig_init(&rig);
    rig.desc.allocator = &(bp_allocator_i){.context = &taken, .resize = resize_up_to_a_limit};
    rig_open(&rig);
    for (uint32_t i = 0; i < ZOO_PLUGINS; i++)
        WORKS(rig.host, bp_host_load_plugin(rig.host, zoo_plugins[i]->name, NULL, 0));
    bp_world_o *world = rig_world(&rig, "main");
    bp_scene_o *crowd = compile_crowd(rig.host, _i == 0 ? UINT32_MAX - 1 : 1000000);
    char *before = describe_host(rig.host);
    FAILS(rig.host, BP_ERROR_MEMORY, _i == 0 ? "4294967294 entities" : "1000000 entities",
          bp_scene_spawn(crowd, world, 0, NULL, NULL));
    expect_same(before, describe_host(rig.host), "a spawn that the allocator refuses");
    bp_scene_close(crowd);
    rig_close(&rig);
}
END_TEST

/* Labels are texts, one for each. */
START_TEST(a_count_of_labels_that_no_memory_holds_is_not_compiled)
{
    static const char text[] =
        "{\"entities\": [{\"name\": \"one of many\", \"count\": 4294967294, \"components\": {\"kin\": {}}}]}";
    const bp_plugin_head_t *plugins[] = {&kin_plugin};
    bp_scene_o *scene = NULL;
    uint64_t available;
    rig_t rig;
    rig_init(&rig);
    rig.desc.allocator = NULL;
    rig.desc.static_plugins = plugins;
    rig.desc.static_plugin_count = 1;
    rig_open(&rig);
    WORKS(rig.host, bp_host_load_plugin(rig.host, plugins[0]->name, NULL, 0));
    memory_t memory;
    memory_init(&memory, "test", &(bp_allocator_i){0});
    if (!memory_could_hold(&memory, UINT64_C(1) << 38, &available))
        FAILS(rig.host, BP_ERROR_MEMORY, "4294967294 entities",
              bp_scene_compile_text(rig.host, "crowd", text, sizeof text - 1, &scene));
    rig_close(&rig);
}
END_TEST

Suite *spawn_suite(void)
{
    Suite *suite = suite_create("spawn");
    TCase *scenes = tcase_create("scenes");
    tcase_add_test(scenes, everything_arrives);
    tcase_add_test(scenes, entities_that_are_being_spawned_are_changed_by_no_manager);
    tcase_add_test(scenes, systems_are_told_of_what_a_scene_brings);
    tcase_add_test(scenes, a_spawn_is_ended_by_its_handle_once);
    tcase_add_test(scenes, a_spawn_without_memory_leaves_no_trace);
    tcase_add_test(scenes, a_manager_that_refuses_undoes_the_spawn);
    tcase_add_test(scenes, bytes_that_an_old_manager_compiled_are_refused_or_left_out);
    tcase_add_test(scenes, an_unknown_type_is_refused_or_left_out);
    tcase_add_test(scenes, a_scene_is_spawned_by_its_own_host_between_steps);
    tcase_add_test(scenes, values_outside_their_range_are_refused);
    tcase_add_test(scenes, components_that_cannot_be_together_are_refused_or_left_out);
    tcase_add_test(scenes, plugins_spawn_through_their_table);
    tcase_add_test(scenes, a_destruction_callback_spawns_nothing);
    tcase_add_loop_test(scenes, what_no_memory_holds_is_refused_before_any_is_filled, 0, CROWDS);
    tcase_add_loop_test(scenes, an_allocator_with_a_limit_refuses_a_crowd, 0, 2);
    tcase_add_test(scenes, a_count_of_labels_that_no_memory_holds_is_not_compiled);
    tcase_add_loop_test(scenes, a_damaged_scene_is_refused_or_harmless, 0, 4);
    suite_add_tcase(suite, scenes);
    return suite;
}
