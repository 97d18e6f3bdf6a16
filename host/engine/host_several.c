/* host_several.c - several worlds in one file: an entity that lives in two of them is one again when they come back.
 *
 * A file of one world knows its entities by numbers of its own, so two such files make two entities of one. Here each
 * world is saved as ever, with a list beside it of who is the same (scene/several.h).
 *
 * Restoring spawns into every world before anything of what was there goes, so that whatever may fail fails first.
 */
#include "../base/error.h"
#include "../base/file.h"
#include "../scene/save.h"
#include "../scene/several.h"
#include "../scene/spawn.h"
#include "host.h"

#include <stdio.h>

static bp_result_t check_worlds(bp_host_o *host, bp_world_o *const *worlds, uint32_t count)
{
    error_text_t *error = &host->base.error;
    for (uint32_t i = 0; i < count; i++) {
        if (worlds[i]->rows.host != host)
            return error_set(error, BP_ERROR_ARGUMENT, "world '%s' is another host's", worlds[i]->rows.name);
        for (uint32_t k = 0; k < i; k++) {
            if (worlds[k] == worlds[i])
                return error_set(error, BP_ERROR_ARGUMENT, "world '%s' is named twice", worlds[i]->rows.name);
        }
    }
    return count <= SEVERAL_MOST ? BP_OK
                                 : error_set(error, BP_ERROR_LIMIT, "%u worlds; a file holds at most %d", count,
                                             SEVERAL_MOST);
}

/* --- saving ------------------------------------------------------------------------------------------------------- */

static void free_saved(memory_t *memory, several_world_t *saved, uint32_t count)
{
    for (uint32_t i = 0; i < count && saved != NULL; i++) {
        memory_free(memory, (void *)(uintptr_t)saved[i].bytes, saved[i].size);
        memory_free(memory, (void *)(uintptr_t)saved[i].entities, (saved[i].count + (size_t)1) * sizeof(bp_entity_t));
    }
    memory_free(memory, saved, saved == NULL ? 0 : (count + (size_t)1) * sizeof *saved);
}

static bp_result_t save_one(bp_world_o *world, memory_t *memory, several_world_t *saved)
{
    void *bytes;
    bp_entity_t *entities;
    bp_result_t result =
        save_world_listed(&world->rows, &world->clock, memory, &bytes, &saved->size, &entities, &saved->count);
    if (result != BP_OK)
        return result;
    saved->name = world->rows.name;
    saved->bytes = bytes;
    saved->entities = entities;
    return BP_OK;
}

bp_result_t bp_host_save_worlds(bp_host_o *host, bp_world_o *const *worlds, uint32_t count, const char *path)
{
    memory_t *memory = &host->scenes.memory;
    void *bytes;
    size_t size;
    bp_result_t result = host_refuse_during_step(host);
    if (result == BP_OK && worlds != NULL)
        result = check_worlds(host, worlds, count);
    if (result != BP_OK)
        return result;
    count = worlds == NULL ? host->destruction.world_count : count;
    several_world_t *saved = memory_new(memory, (count + (size_t)1) * sizeof *saved);
    if (saved == NULL)
        return error_memory(&host->base.error, "saving several worlds");
    for (uint32_t i = 0; i < count && result == BP_OK; i++)
        result = save_one(worlds == NULL ? host_world(host, i) : worlds[i], memory, &saved[i]);
    if (result == BP_OK)
        result = several_write(memory, saved, count, &bytes, &size, &host->base.error);
    free_saved(memory, saved, count);
    if (result != BP_OK)
        return result;
    result = file_replace(path, bytes, size, &host->base.error);
    memory_free(memory, bytes, size);
    return result;
}

/* --- restoring ---------------------------------------------------------------------------------------------------- */

/* One world on its way back. */
typedef struct back_t {
    bp_world_o *world;
    several_part_t part;
    bp_scene_o *scene;
    bp_spawn_t spawn;    /* {0}: not yet */
    bp_entity_t *old;    /* what it held before; ... */
    uint32_t old_count, old_room;
} back_t;

typedef struct all_back_t {
    bp_host_o *host;
    const char *path;
    several_t several;
    back_t *worlds;
    uint32_t count;
    bp_entity_t *shared; /* by number; {0}: not there yet */
} all_back_t;

static bp_world_o *find_world(const bp_host_o *host, const char *name)
{
    for (uint32_t i = 0; i < host->destruction.world_count; i++) {
        if (strcmp(host->destruction.worlds[i]->name, name) == 0)
            return host_world(host, i);
    }
    return NULL;
}

/* The worlds that are wanted, or, where `worlds` is NULL, all that the file has. */
static bp_result_t choose(all_back_t *a, bp_world_o *const *worlds, uint32_t count)
{
    error_text_t *error = &a->host->base.error;
    for (uint32_t i = 0; i < (worlds == NULL ? a->several.count : count); i++) {
        back_t *back = &a->worlds[a->count];
        uint32_t number = worlds == NULL ? i : 0;
        while (worlds != NULL && number < a->several.count &&
               strcmp(several_part(&a->several, number).name, worlds[i]->rows.name) != 0)
            number++;
        if (number == a->several.count)
            return error_set(error, BP_ERROR_NOT_FOUND, "%s: it has no world '%s'", a->path, worlds[i]->rows.name);
        back->part = several_part(&a->several, number);
        back->world = worlds == NULL ? find_world(a->host, back->part.name) : worlds[i];
        if (back->world == NULL)
            return error_set(error, BP_ERROR_NOT_FOUND, "%s: it has a world '%s', and there is none of that name",
                             a->path, back->part.name);
        a->count++;
    }
    return BP_OK;
}

static bp_result_t open_one(all_back_t *a, back_t *back)
{
    char origin[FILE_PATH_MAX + SEVERAL_NAME];
    world_t *world = &back->world->rows;
    snprintf(origin, sizeof origin, "%s: world %s", a->path, back->part.name);
    bp_result_t result = scenes_borrow(&a->host->scenes, back->part.bytes, back->part.size, origin, &back->scene);
    if (result != BP_OK)
        return result;
    if (back->scene->blob.info->entity_count != back->part.count)
        return error_set(&a->host->base.error, BP_ERROR_SYNTAX, "%s: it has %u entities, and is listed with %u", origin,
                         back->scene->blob.info->entity_count, back->part.count);
    back->old_room = world->occupied + 1;
    back->old = memory_resize(&a->host->scenes.memory, NULL, 0, back->old_room * sizeof *back->old);
    if (back->old == NULL)
        return error_memory(&a->host->base.error, "restoring worlds");
    back->old_count = host_list_entities(world, back->old);
    return BP_OK;
}

static bp_result_t spawn_one(all_back_t *a, back_t *back, uint32_t flags)
{
    bp_entity_t *entities;
    bp_spawn_t spawn;
    uint32_t given = 0;
    bp_result_t result = scenes_new_spawn(&a->host->scenes, back->part.count, &entities, &spawn);
    if (result != BP_OK)
        return result;
    for (uint32_t i = 0; i < back->part.count; i++) {
        entities[i] = back->part.shared[i] == 0 ? (bp_entity_t){0} : a->shared[back->part.shared[i] - 1];
        given += entities[i].id != 0;
    }
    result = spawn_blob_onto(&back->world->rows, &back->scene->blob, back->scene->origin, flags, entities, given);
    if (result != BP_OK) {
        scenes_release(&a->host->scenes, spawn);
        return result;
    }
    back->spawn = spawn;
    for (uint32_t i = 0; i < back->part.count; i++) {
        if (back->part.shared[i] != 0)
            a->shared[back->part.shared[i] - 1] = entities[i];
    }
    return BP_OK;
}

/* Destroy the entities that were spawned so far. Entities that were there before have not been touched. */
static void take_back(all_back_t *a)
{
    error_text_t kept = a->host->base.error;
    for (uint32_t i = a->count; i > 0; i--) {
        if (a->worlds[i - 1].spawn.id != 0)
            journal_despawn_list(&a->host->scenes, &a->host->destruction, a->worlds[i - 1].spawn);
    }
    for (uint32_t i = 0; i < a->count; i++)
        store_collect_all(&a->worlds[i].world->rows);
    a->host->base.error = kept;
}

static bp_result_t bring_back(all_back_t *a, uint32_t flags)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < a->count && result == BP_OK; i++)
        result = open_one(a, &a->worlds[i]);
    for (uint32_t i = 0; i < a->count && result == BP_OK; i++)
        result = spawn_one(a, &a->worlds[i], flags);
    if (result != BP_OK) {
        take_back(a);
        return result;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        back_t *back = &a->worlds[i];
        host_clear_world(a->host, &back->world->rows, back->old, back->old_count);
        host_set_clock(back->world, back->scene->blob.info);
        scenes_release(&a->host->scenes, back->spawn);
    }
    return BP_OK;
}

static bp_result_t restore(all_back_t *a, bp_world_o *const *worlds, uint32_t count, uint32_t flags)
{
    memory_t *memory = &a->host->scenes.memory;
    size_t most = worlds == NULL ? a->several.count : count;
    size_t shared = (a->several.shared + (size_t)1) * sizeof *a->shared;
    a->worlds = memory_new(memory, (most + 1) * sizeof *a->worlds);
    a->shared = memory_new(memory, shared);
    bp_result_t result = a->worlds != NULL && a->shared != NULL
                             ? choose(a, worlds, count)
                             : error_memory(&a->host->base.error, "restoring worlds");
    if (result == BP_OK)
        result = bring_back(a, flags);
    for (uint32_t i = 0; i < a->count; i++) {
        scenes_close(a->worlds[i].scene);
        memory_free(memory, a->worlds[i].old, a->worlds[i].old_room * sizeof(bp_entity_t));
    }
    memory_free(memory, a->worlds, a->worlds == NULL ? 0 : (most + 1) * sizeof *a->worlds);
    memory_free(memory, a->shared, a->shared == NULL ? 0 : shared);
    return result;
}

bp_result_t bp_host_restore_worlds(bp_host_o *host, bp_world_o *const *worlds, uint32_t count, const char *path,
                                   uint32_t flags)
{
    all_back_t a = {.host = host, .path = path};
    const void *bytes;
    size_t size;
    bp_result_t result = host_refuse_during_step(host);
    if (result == BP_OK && worlds != NULL)
        result = check_worlds(host, worlds, count);
    if (result == BP_OK)
        result = file_map(path, &bytes, &size, &host->base.error);
    if (result != BP_OK)
        return result;
    history_touch_always(&host->history);
    result = several_open(&a.several, bytes, size, path, &host->base.error);
    if (result == BP_OK)
        result = restore(&a, worlds, count, flags);
    file_unmap(bytes, size);
    return result;
}
