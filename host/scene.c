/* scene.c - scenes for embedders and plugins: the functions of backplane.h and of bp_scene_api.
 *
 * Thin: a scene is opened and kept by resource/scenes.h, spawned by resource/spawn.h, made of a world by resource/save.h. Here is what needs
 * the whole host: that nothing of it happens inside a step, whose entities die, and which worlds else they live in.
 */
#include "host.h"

#include "base/file.h"
#include "resource/spawn.h"

/* --- opening and closing ---------------------------------------------------------------------------------------------------- */

bp_result_t bp_scene_open(bp_host_o *host, const char *path, bp_scene_o **scene)
{
    return host_scene_is_json(path) ? bp_scene_compile(host, path, scene) : scenes_open(&host->scenes, path, scene);
}

bp_result_t bp_scene_open_memory(bp_host_o *host, const void *bytes, size_t size, const char *origin, bp_scene_o **scene)
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
    return scene->blob.info->entity_count;
}

uint64_t bp_scene_component_count(const bp_scene_o *scene)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < scene->blob.info->group_count; i++)
        count += (uint64_t)scene->blob.groups[i].rows * scene->blob.groups[i].part_count;
    return count;
}

/* --- spawning and despawning -------------------------------------------------------------------------------------------------- */

static bp_result_t check_world(const bp_scene_o *scene, const bp_world_o *world)
{
    if (world->host != scene->host)
        return error_set(&scene->host->base.error, BP_ERROR_ARGUMENT, "%s: was opened in another host than that of world '%s'", scene->origin,
                         world->name);
    return host_refuse_during_step(scene->host);
}

/* Spawn into a list of the host's own, or of the caller's where nobody wants a handle. */
static bp_result_t spawn_listed(bp_scene_o *scene, bp_world_o *world, uint32_t flags, bp_entity_t **entities, bp_spawn_t *spawn)
{
    bp_result_t result = scenes_new_spawn(&scene->host->scenes, scene->blob.info->entity_count, entities, spawn);
    if (result != BP_OK)
        return result;
    result = spawn_blob(world, &scene->blob, scene->origin, flags, *entities);
    if (result != BP_OK)
        scenes_release(&scene->host->scenes, *spawn);
    return result;
}

bp_result_t bp_scene_spawn(bp_scene_o *scene, bp_world_o *world, uint32_t flags, bp_entity_t *entities, bp_spawn_t *spawn)
{
    bp_result_t result = check_world(scene, world);
    if (result != BP_OK)
        return result;
    if (entities != NULL && spawn == NULL)
        return spawn_blob(world, &scene->blob, scene->origin, flags, entities);
    bp_spawn_t made;
    bp_entity_t *list;
    result = spawn_listed(scene, world, flags, &list, &made);
    if (result != BP_OK)
        return result;
    if (entities != NULL)
        memcpy(entities, list, scene->blob.info->entity_count * sizeof *entities);
    if (spawn != NULL)
        *spawn = made;
    else
        scenes_release(&scene->host->scenes, made);
    return BP_OK;
}

uint32_t bp_host_despawn(bp_host_o *host, bp_spawn_t spawn)
{
    if (host_refuse_during_step(host) != BP_OK)
        return 0;
    uint32_t count = 0; /* callbacks of the dying may spawn and despawn: the list is taken out of their reach */
    bp_entity_t *entities = scenes_take(&host->scenes, spawn, &count);
    uint32_t died = entities == NULL ? 0 : destruction_destroy(&host->destruction, entities, count);
    scenes_free_list(&host->scenes, entities, count);
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
    scenes_release(&host->scenes, spawn);
}
