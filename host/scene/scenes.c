/* scenes.c - opening and closing, and the table of spawns.
 *
 * Open scenes are a list, so that closing costs nothing and the host's end finds them all. Places in the table of
 * spawns are used again, each time with the next generation; a handle is {place + 1, generation}, so {0} is none.
 */
#include "scenes.h"

#include "../base/error.h"
#include "../base/file.h"

#include <stdio.h>

void scenes_init(scenes_t *scenes, base_t *base, bp_host_o *host)
{
    *scenes = (scenes_t){.base = base, .host = host, .first_free = BP_NONE};
    memory_init_child(&scenes->memory, "scenes", &base->memory);
}

void scenes_free(scenes_t *scenes)
{
    while (scenes->open != NULL)
        scenes_close(scenes->open);
    for (uint32_t i = 0; i < scenes->spawn_count; i++)
        scenes_free_list(scenes, scenes->spawns[i].entities, scenes->spawns[i].count);
    memory_free(&scenes->memory, scenes->spawns, scenes->spawn_capacity * sizeof *scenes->spawns);
    scenes->spawns = NULL;
    scenes->spawn_count = scenes->spawn_capacity = 0;
}

/* --- scenes ------------------------------------------------------------------------------------------------------- */

/* A scene of no bytes yet, in the list. */
static bp_scene_o *new_scene(scenes_t *scenes, const char *origin)
{
    bp_scene_o *scene = memory_new(&scenes->memory, sizeof *scene);
    char *copy = scene == NULL ? NULL : memory_copy_text(&scenes->memory, origin);
    if (copy == NULL) {
        memory_free(&scenes->memory, scene, sizeof *scene);
        error_memory(&scenes->base->error, "opening a scene");
        return NULL;
    }
    scene->host = scenes->host;
    scene->scenes = scenes;
    scene->origin = copy;
    scene->next = scenes->open;
    scene->link = &scenes->open;
    if (scene->next != NULL)
        scene->next->link = &scene->next;
    scenes->open = scene;
    return scene;
}

static void end_bytes(scenes_t *scenes, const void *bytes, size_t size, scene_bytes_t kind)
{
    if (kind == SCENE_MAPPED)
        file_unmap(bytes, size);
    else if (kind == SCENE_OWNED)
        memory_free(&scenes->memory, (void *)(uintptr_t)bytes, size);
}

void scenes_close(bp_scene_o *scene)
{
    if (scene == NULL)
        return;
    memory_t *memory = &scene->scenes->memory;
    end_bytes(scene->scenes, scene->blob.bytes, scene->blob.size, scene->bytes);
    memory_free(memory, scene->parts, scene->parts == NULL ? 0 : (scene->several.count + (size_t)1) * sizeof(blob_t));
    *scene->link = scene->next;
    if (scene->next != NULL)
        scene->next->link = scene->link;
    memory_free_text(memory, scene->origin);
    memory_free(memory, scene, sizeof *scene);
}

/* The blobs of several worlds. The bytes of a scene that was just compiled need no check, and get it all the same. */
static bp_result_t open_several(scenes_t *scenes, bp_scene_o *scene, const void *bytes, size_t size)
{
    char origin[FILE_PATH_MAX + SEVERAL_NAME];
    error_text_t *error = &scenes->base->error;
    several_t several;
    scene->blob.bytes = bytes;
    scene->blob.size = size;
    bp_result_t result = several_open(&several, bytes, size, scene->origin, error);
    if (result != BP_OK)
        return result;
    scene->parts = memory_new(&scenes->memory, (several.count + (size_t)1) * sizeof(blob_t));
    if (scene->parts == NULL)
        return error_memory(error, "opening a scene");
    scene->several = several;
    for (uint32_t i = 0; i < several.count && result == BP_OK; i++) {
        several_part_t part = several_part(&several, i);
        snprintf(origin, sizeof origin, "%s: world %s", scene->origin, part.name);
        result = blob_open(&scene->parts[i], &scenes->memory, part.bytes, part.size, origin, error);
        if (result == BP_OK && scene->parts[i].info->entity_count != part.count)
            result = error_set(error, BP_ERROR_SYNTAX, "%s: it has %u entities, and is listed with %u", origin,
                               scene->parts[i].info->entity_count, part.count);
    }
    return result;
}

bp_result_t scenes_refuse_several(const bp_scene_o *scene, const char *instead)
{
    return error_set(&scene->scenes->base->error, BP_ERROR_TYPE, "%s: it holds several worlds, which come together: %s",
                     scene->origin, instead);
}

/* Open a scene over bytes. On failure the bytes are freed or unmapped as `kind` says. */
static bp_result_t open_bytes(scenes_t *scenes, const void *bytes, size_t size, scene_bytes_t kind, const char *origin,
                              bp_scene_o **out)
{
    bp_scene_o *scene = new_scene(scenes, origin);
    if (scene == NULL) {
        end_bytes(scenes, bytes, size, kind);
        return BP_ERROR_MEMORY;
    }
    scene->bytes = kind;
    bp_result_t result = BP_OK;
    if (several_is_one(bytes, size))
        result = open_several(scenes, scene, bytes, size);
    else if (kind == SCENE_OWNED)
        blob_trust(&scene->blob, bytes, size);
    else
        result = blob_open(&scene->blob, &scenes->memory, bytes, size, origin, &scenes->base->error);
    if (result == BP_OK)
        *out = scene;
    else
        scenes_close(scene);
    return result;
}

bp_result_t scenes_open(scenes_t *scenes, const char *path, bp_scene_o **scene)
{
    const void *bytes;
    size_t size;
    bp_result_t result = file_map(path, &bytes, &size, &scenes->base->error);
    return result != BP_OK ? result : open_bytes(scenes, bytes, size, SCENE_MAPPED, path, scene);
}

bp_result_t scenes_borrow(scenes_t *scenes, const void *bytes, size_t size, const char *origin, bp_scene_o **scene)
{
    return open_bytes(scenes, bytes, size, SCENE_BORROWED, origin, scene);
}

bp_result_t scenes_adopt(scenes_t *scenes, void *bytes, size_t size, const char *origin, bp_scene_o **scene)
{
    return open_bytes(scenes, bytes, size, SCENE_OWNED, origin, scene);
}

/* --- spawns ------------------------------------------------------------------------------------------------------- */

bp_result_t scenes_new_spawn(scenes_t *scenes, uint32_t count, bp_entity_t **entities, bp_spawn_t *spawn)
{
    uint32_t place = scenes->first_free;
    if (place == BP_NONE) {
        if (scenes->spawn_count == UINT32_MAX - 1)
            return error_set(&scenes->base->error, BP_ERROR_LIMIT,
                             "%u spawns are listed; release those that need not be", UINT32_MAX - 1);
        if (!memory_reserve(&scenes->memory, &scenes->spawns, &scenes->spawn_capacity,
                            scenes->spawn_count + UINT64_C(1), sizeof *scenes->spawns))
            return error_memory(&scenes->base->error, "listing a spawn");
    }
    *entities = memory_resize(&scenes->memory, NULL, 0, (count + (size_t)1) * sizeof **entities);
    if (*entities == NULL)
        return error_set(&scenes->base->error, BP_ERROR_MEMORY, "out of memory for a list of %u entities", count);
    if (place == BP_NONE) {
        place = scenes->spawn_count++;
        scenes->spawns[place] = (spawned_t){.generation = 0};
    } else {
        scenes->first_free = scenes->spawns[place].next_free;
    }
    spawned_t *spawned = &scenes->spawns[place];
    *spawned = (spawned_t){.entities = *entities, .count = count, .generation = spawned->generation + 1};
    spawn->id = (uint64_t)spawned->generation << 32 | (place + 1);
    return BP_OK;
}

static spawned_t *find_spawn(const scenes_t *scenes, bp_spawn_t spawn)
{
    uint32_t place = (uint32_t)spawn.id - 1;
    if ((uint32_t)spawn.id == 0 || place >= scenes->spawn_count)
        return NULL;
    spawned_t *spawned = &scenes->spawns[place];
    return spawned->entities != NULL && spawned->generation == (uint32_t)(spawn.id >> 32) ? spawned : NULL;
}

const spawned_t *scenes_spawned(const scenes_t *scenes, bp_spawn_t spawn)
{
    return find_spawn(scenes, spawn);
}

bp_entity_t *scenes_take(scenes_t *scenes, bp_spawn_t spawn, uint32_t *count)
{
    spawned_t *spawned = find_spawn(scenes, spawn);
    if (spawned == NULL)
        return NULL;
    bp_entity_t *entities = spawned->entities;
    *count = spawned->count;
    spawned->entities = NULL;
    if (spawned->generation == UINT32_MAX)
        return entities; /* the handles of this place have run out, so the place stays empty */
    spawned->next_free = scenes->first_free;
    scenes->first_free = (uint32_t)(spawned - scenes->spawns);
    return entities;
}

void scenes_free_list(scenes_t *scenes, bp_entity_t *entities, uint32_t count)
{
    memory_free(&scenes->memory, entities, (count + (size_t)1) * sizeof *entities);
}

void scenes_release(scenes_t *scenes, bp_spawn_t spawn)
{
    uint32_t count = 0;
    bp_entity_t *entities = scenes_take(scenes, spawn, &count);
    scenes_free_list(scenes, entities, count);
}
