/* host_scenes.c - scenes for embedders and plugins: the functions of backplane.h and of bp_scene_api.
 *
 * Thin: a scene is opened and kept by scene/scenes.h, spawned by scene/spawn.h, made of a world by scene/save.h. Here
 * are the tasks that need the whole host: to refuse all of these inside a step, to end entities, and to find the other
 * worlds that entities live in.
 */
#include "../base/file.h"
#include "../os/files.h"
#include "../scene/compile.h"
#include "../scene/dump.h"
#include "../scene/json.h"
#include "../scene/save.h"
#include "../scene/spawn.h"
#include "host.h"

#include <stdio.h>

/* --- opening and closing ------------------------------------------------------------------------------------------ */

bp_result_t bp_scene_open(bp_host_o *host, const char *path, bp_scene_o **scene)
{
    return host_scene_is_json(path) ? bp_scene_compile(host, path, scene) : scenes_open(&host->scenes, path, scene);
}

bp_result_t bp_scene_open_memory(bp_host_o *host, const void *bytes, size_t size, const char *origin,
                                 bp_scene_o **scene)
{
    return scenes_borrow(&host->scenes, bytes, size, origin == NULL ? "scene in memory" : origin, scene);
}

void bp_scene_close(bp_scene_o *scene)
{
    scenes_close(scene);
}

const void *bp_scene_bytes(const bp_scene_o *scene, size_t *size)
{
    *size = scene->blob.size;
    return scene->blob.bytes;
}

bp_result_t bp_scene_write(const bp_scene_o *scene, const char *path)
{
    return file_replace(path, scene->blob.bytes, scene->blob.size, &scene->host->base.error);
}

uint32_t bp_scene_entity_count(const bp_scene_o *scene)
{
    return scenes_is_several(scene) ? host_count_several(scene) : scene->blob.info->entity_count;
}

uint64_t bp_scene_component_count(const bp_scene_o *scene)
{
    uint64_t count = 0;
    for (uint32_t p = 0; p < scenes_parts(scene); p++) {
        const blob_t *blob = scenes_part(scene, p);
        for (uint32_t i = 0; i < blob->info->group_count; i++)
            count += (uint64_t)blob->groups[i].rows * blob->groups[i].part_count;
    }
    return count;
}

const char *bp_scene_world(const bp_scene_o *scene, uint32_t number)
{
    bool there = scenes_is_several(scene) && number < scene->several.count;
    return there ? several_part(&scene->several, number).name : NULL;
}

bp_result_t bp_scene_dump(const bp_scene_o *scene, uint32_t flags, const bp_text_sink_i *sink)
{
    bp_text_sink_i known;
    host_read_part(&known, sink, sizeof known);
    bool json = (flags & BP_DUMP_JSON) != 0;
    base_t *base = &scene->host->base;
    if (scenes_is_several(scene))
        return dump_several(base, &scene->several, scene->parts, scene->origin, json, &known);
    return json ? dump_json(base, &scene->blob, &known) : dump_text(base, &scene->blob, scene->origin, &known);
}

/* --- spawning and despawning -------------------------------------------------------------------------------------- */

static bp_result_t check_world(const bp_scene_o *scene, const bp_world_o *world)
{
    if (world == NULL)
        return error_set(&scene->host->base.error, BP_ERROR_ARGUMENT,
                         "%s: a scene that names no worlds needs one to be spawned into (in an ini: scenes of "
                         "[world ...])",
                         scene->origin);
    if (world->rows.host != scene->host)
        return error_set(&scene->host->base.error, BP_ERROR_ARGUMENT,
                         "%s: was opened in another host than that of world '%s'", scene->origin, world->rows.name);
    return host_refuse_during_step(scene->host);
}

/* How the list of spawned entities is kept: listed under a handle where the caller asks for one, unlisted where the
 * caller takes the list itself, else released. */
static uint32_t list_of(const bp_entity_t *entities, const bp_spawn_t *spawn)
{
    return spawn != NULL ? JOURNAL_LISTED : entities != NULL ? JOURNAL_UNLISTED : JOURNAL_RELEASED;
}

/* The history cannot repeat such a spawn as a call, so it takes a keyframe after it. */
static bp_result_t spawn_several(bp_scene_o *scene, bp_world_o *world, uint32_t flags, bp_entity_t *entities,
                                 bp_spawn_t *spawn)
{
    bp_result_t result = host_refuse_during_step(scene->host);
    if (result == BP_OK && world != NULL)
        result = scenes_refuse_several(scene,
                                       "it names them itself, so leave the world out (in an ini: scenes of [host])");
    if (result != BP_OK)
        return result;
    history_touch_always(&scene->host->history);
    return host_spawn_several(scene, flags, entities, spawn);
}

bp_result_t bp_scene_spawn(bp_scene_o *scene, bp_world_o *world, uint32_t flags, bp_entity_t *entities,
                           bp_spawn_t *spawn)
{
    history_t *history = &scene->host->history;
    uint32_t list = list_of(entities, spawn);
    bp_spawn_t made;
    if (scenes_is_several(scene))
        return spawn_several(scene, world, flags, entities, spawn);
    bp_result_t result = check_world(scene, world);
    if (result != BP_OK)
        return result;
    bool noted = history_call(history);
    if (noted)
        journal_spawn(&history->calls, scene, world, flags, list);
    result = journal_spawn_scene(&scene->host->scenes, scene, &world->rows, flags, list, entities, &made);
    if (noted)
        history_called(history, result == BP_OK);
    if (result == BP_OK && spawn != NULL)
        *spawn = made;
    return result;
}

uint32_t bp_host_despawn(bp_host_o *host, bp_spawn_t spawn)
{
    if (host_refuse_during_step(host) != BP_OK)
        return 0;
    bool noted = history_call(&host->history);
    if (noted)
        journal_despawn(&host->history.calls, spawn);
    uint32_t died = journal_despawn_list(&host->scenes, &host->destruction, spawn);
    if (noted)
        history_called(&host->history, true);
    return died;
}

uint32_t bp_host_spawned(bp_host_o *host, bp_spawn_t spawn, bp_entity_t *entities, uint32_t capacity)
{
    const spawned_t *spawned = scenes_spawned(&host->scenes, spawn);
    if (spawned == NULL)
        return 0;
    uint32_t count = spawned->count < capacity ? spawned->count : capacity;
    if (count > 0)
        memcpy(entities, spawned->entities, count * sizeof *entities);
    return spawned->count;
}

void bp_host_release_spawn(bp_host_o *host, bp_spawn_t spawn)
{
    if (history_call(&host->history)) {
        journal_release(&host->history.calls, spawn);
        history_called(&host->history, true);
    }
    scenes_release(&host->scenes, spawn);
}

/* --- saving and restoring ----------------------------------------------------------------------------------------- */

bp_result_t bp_scene_capture(bp_world_o *world, bp_scene_o **scene)
{
    scenes_t *scenes = &world->rows.host->scenes;
    void *bytes;
    size_t size;
    bp_result_t result = host_refuse_from_verb(world->rows.host);
    if (result == BP_OK)
        result = save_world(&world->rows, &world->clock, &scenes->memory, &bytes, &size);
    return result != BP_OK ? result : scenes_adopt(scenes, bytes, size, world->rows.name, scene);
}

uint32_t host_list_entities(const world_t *world, bp_entity_t *entities)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->run_count; i++) {
        const run_t *run = world->runs[i];
        for (uint32_t row = 0; row < run->count && (run->flags & KEY_WORLD) == 0; row++) {
            if (run_entities(run)[row].id != 0)
                entities[count++] = run_entities(run)[row];
        }
    }
    return count;
}

void host_clear_world(bp_host_o *host, world_t *world, bp_entity_t *entities, uint32_t count)
{
    uint32_t own = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (records_elsewhere(world, entities[i])) {
            store_vacate(world, &entities[i], 1);
        } else {
            entities[own++] = entities[i];
        }
    }
    destruction_destroy(&host->destruction, entities, own);
    store_collect_all(world);
}

void host_set_clock(bp_world_o *world, const blob_info_t *info)
{
    if ((info->flags & BLOB_HAS_CLOCK) == 0)
        return;
    world->clock.steps = info->steps;
    world->clock.time = info->time;
    world->clock.step_rate = info->step_rate;
    world_clock_settle(&world->clock);
    commands_forget_created(&world->schedule->commands);
}

bp_result_t bp_scene_restore(bp_scene_o *scene, bp_world_o *world, uint32_t flags)
{
    bp_result_t result = check_world(scene, world);
    if (result == BP_OK)
        result = host_refuse_from_verb(scene->host);
    if (result != BP_OK)
        return result;
    history_touch(&world->rows.host->history);
    if (scenes_is_several(scene))
        return host_restore_several(scene, &world, 1, flags);
    uint32_t old_count;
    size_t size = (world->rows.occupied + (size_t)1) * sizeof(bp_entity_t);
    bp_entity_t *old = memory_resize(&world->rows.memory, NULL, 0, size);
    if (old == NULL)
        return error_memory(&scene->host->base.error, "restoring a world");
    old_count = host_list_entities(&world->rows, old);
    bp_spawn_t spawn;
    result = journal_spawn_scene(&scene->host->scenes, scene, &world->rows, flags, JOURNAL_RELEASED, NULL, &spawn);
    if (result == BP_OK) {
        host_clear_world(scene->host, &world->rows, old, old_count);
        host_set_clock(world, scene->blob.info);
    }
    memory_free(&world->rows.memory, old, size);
    return result;
}

bp_result_t bp_world_save(bp_world_o *world, const char *path)
{
    bp_scene_o *scene;
    bp_result_t result = bp_scene_capture(world, &scene);
    if (result != BP_OK)
        return result;
    result = bp_scene_write(scene, path);
    bp_scene_close(scene);
    return result;
}

bp_result_t bp_world_restore(bp_world_o *world, const char *path, uint32_t flags)
{
    bp_scene_o *scene;
    bp_result_t result = bp_scene_open(world->rows.host, path, &scene);
    if (result != BP_OK)
        return result;
    result = bp_scene_restore(scene, world, flags);
    bp_scene_close(scene);
    return result;
}

/* --- scene compile ----------------------------------------------------------------------------------------------- */

/* The entity compiler for embedders: files, and texts. */

static bp_result_t compile(bp_host_o *host, const char *origin, const char *json, size_t size, bp_scene_o **scene)
{
    void *bytes;
    size_t blob_size;
    bp_result_t result =
        scene_compile(&host->base, &host->scenes.memory, &host->registry, origin, json, size, &bytes, &blob_size);
    return result == BP_OK ? scenes_adopt(&host->scenes, bytes, blob_size, origin, scene) : result;
}

bp_result_t bp_scene_compile_text(bp_host_o *host, const char *origin, const char *json, size_t size,
                                  bp_scene_o **scene)
{
    bp_result_t result = host_refuse_during_step(host);
    *scene = NULL;
    return result == BP_OK ? compile(host, origin, json, size, scene) : result;
}

bp_result_t bp_scene_compile(bp_host_o *host, const char *json_path, bp_scene_o **scene)
{
    char *text;
    size_t size;
    *scene = NULL;
    bp_result_t result =
        file_read_most(&host->scenes.memory, json_path, TREE_MAX_BYTES, &text, &size, &host->base.error);
    if (result != BP_OK)
        return result;
    result = bp_scene_compile_text(host, json_path, text, size, scene);
    memory_free(&host->scenes.memory, text, size + 1);
    return result;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

bool host_scene_is_json(const char *path)
{
    unsigned char bytes[64];
    FILE *file = ends_with(path, ".json") ? NULL : os_file_open(path, "rb");
    size_t size = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file), at = 0;
    if (file != NULL)
        fclose(file);
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
        at = 3;
    while (at < size && (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\n' || bytes[at] == '\r'))
        at++;
    return ends_with(path, ".json") || (at < size && bytes[at] == '{');
}
