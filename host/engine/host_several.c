/* host_several.c - scenes of several worlds: an entity that lives in two of them is one when they come, or come back.
 *
 * A file of one world knows its entities by numbers of its own, so two such files make two entities of one. Here each
 * world is saved as a scene of one world is, with a list beside it that says which entities are the same
 * (scene/several.h).
 *
 * Such a scene is a save of several worlds, or comes from JSON that names them. Restoring spawns into every world
 * before the present entities are destroyed, so that all steps that may fail come first; spawning is the same without
 * the destruction.
 */
#include "../base/error.h"
#include "../base/file.h"
#include "../scene/save.h"
#include "../scene/spawn.h"
#include "../store/own.h"
#include "host.h"

#include <stdio.h>

/* `worlds` NULL: so many of the host's own. */
static bp_result_t check_worlds(bp_host_o *host, bp_world_o *const *worlds, uint32_t count)
{
    error_text_t *error = &host->base.error;
    for (uint32_t i = 0; worlds != NULL && i < count; i++) {
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
    bp_result_t result = host_refuse_from_verb(host);
    count = worlds == NULL ? host->destruction.world_count : count;
    if (result == BP_OK)
        result = check_worlds(host, worlds, count);
    if (result != BP_OK)
        return result;
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

/* --- coming ------------------------------------------------------------------------------------------------------- */

/* One world of the scene that is being spawned. */
typedef struct back_t {
    bp_world_o *world;
    several_part_t part;
    const blob_t *blob;
    bp_spawn_t spawn;    /* {0}: not yet */
    bp_entity_t own;     /* what belongs to the world itself, spawned beside what it has; {0}: there is none */
    bp_entity_t *old;    /* what it held before; ... */
    uint32_t old_count, old_room;
} back_t;

typedef struct all_back_t {
    bp_host_o *host;
    const bp_scene_o *scene;
    back_t *worlds;
    uint32_t count, room;
    bp_entity_t *shared; /* by number; {0}: not there yet */
    uint32_t *met;       /* by number: the last world, + 1, that has it */
} all_back_t;

static bp_world_o *find_world(const bp_host_o *host, const char *name)
{
    const world_t *world = destruction_find_world(&host->destruction, name);
    return world == NULL ? NULL : world_handle(world);
}

/* The worlds that are wanted, or, where `worlds` is NULL, all that the file has. */
static bp_result_t choose(all_back_t *a, bp_world_o *const *worlds, uint32_t count)
{
    error_text_t *error = &a->host->base.error;
    const several_t *several = &a->scene->several;
    for (uint32_t i = 0; i < (worlds == NULL ? several->count : count); i++) {
        back_t *back = &a->worlds[a->count];
        uint32_t number = worlds == NULL ? i : 0;
        while (worlds != NULL && number < several->count &&
               strcmp(several_part(several, number).name, worlds[i]->rows.name) != 0)
            number++;
        if (number == several->count)
            return error_set(error, BP_ERROR_NOT_FOUND, "%s: it has no world '%s'", a->scene->origin,
                             worlds[i]->rows.name);
        back->part = several_part(several, number);
        back->blob = &a->scene->parts[number];
        back->world = worlds == NULL ? find_world(a->host, back->part.name) : worlds[i];
        if (back->world == NULL)
            return error_set(error, BP_ERROR_NOT_FOUND, "%s: it has a world '%s', and there is none of that name",
                             a->scene->origin, back->part.name);
        a->count++;
    }
    return BP_OK;
}

/* An entity may be in a world only once: a file that lists one twice is refused. */
static bp_result_t check_once(all_back_t *a, const back_t *back)
{
    uint32_t mark = (uint32_t)(back - a->worlds) + 1;
    for (uint32_t i = 0; i < back->part.count; i++) {
        uint32_t shared = back->part.shared[i];
        if (shared != 0 && a->met[shared - 1] == mark)
            return error_set(&a->host->base.error, BP_ERROR_SYNTAX, "%s: world %s: an entity that is there twice",
                             a->scene->origin, back->part.name);
        if (shared != 0)
            a->met[shared - 1] = mark;
    }
    return BP_OK;
}

/* Has a group of a blob what belongs to the world itself? */
static bool is_of_world(const back_t *back, const blob_group_t *group)
{
    const world_t *world = &back->world->rows;
    for (uint32_t p = group->first_part; p < group->first_part + group->part_count; p++) {
        const char *type = blob_text(back->blob, back->blob->components[back->blob->parts[p].component].type);
        for (uint32_t m = 0; m < world->manager_count; m++) {
            const component_t *component = world->managers[m]->component;
            if (world->managers[m]->started && (component->table.flags & BP_COMPONENT_WORLD) != 0 &&
                strcmp(component->name, type) == 0)
                return true;
        }
    }
    return false;
}

/* What belongs to a world is no entity of another: a file that shares it is refused. */
static bp_result_t check_own(const all_back_t *a, const back_t *back)
{
    for (uint32_t g = 0; g < back->blob->info->group_count; g++) {
        const blob_group_t *group = &back->blob->groups[g];
        uint32_t row = 0;
        while (row < group->rows && back->part.shared[group->first_entity + row] == 0)
            row++;
        if (row < group->rows && is_of_world(back, group))
            return error_set(&a->host->base.error, BP_ERROR_SYNTAX,
                             "%s: world %s: what belongs to the world itself is listed as an entity of another world",
                             a->scene->origin, back->part.name);
    }
    return BP_OK;
}

enum { ORIGIN = FILE_PATH_MAX + SEVERAL_NAME };

static const char *origin_of(const all_back_t *a, const back_t *back, char origin[ORIGIN])
{
    snprintf(origin, ORIGIN, "%s: world %s", a->scene->origin, back->part.name);
    return origin;
}

/* A world that must refuse its part is found before anything is spawned: taking entities back collects rows of the dead
 * sooner than a step would. Components that any of the worlds lacks are found before prototypes are made in one. */
static bp_result_t check_all(all_back_t *a, uint32_t flags)
{
    char origin[ORIGIN];
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < a->count && result == BP_OK; i++)
        result = check_once(a, &a->worlds[i]);
    for (uint32_t i = 0; i < a->count && result == BP_OK; i++)
        result = check_own(a, &a->worlds[i]);
    for (uint32_t i = 0; i < 2 * a->count && result == BP_OK; i++) {
        const back_t *back = &a->worlds[i % a->count];
        result = spawn_check(&back->world->rows, back->blob, origin_of(a, back, origin), flags, i >= a->count);
    }
    return result;
}

static bp_result_t spawn_one(all_back_t *a, back_t *back, uint32_t flags)
{
    char origin[ORIGIN];
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
    result = spawn_blob_onto(&back->world->rows, back->blob, origin_of(a, back, origin), flags, entities, given,
                             &back->own);
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
        if (a->worlds[i - 1].own.id != 0)
            own_discard(&a->worlds[i - 1].world->rows, a->worlds[i - 1].own);
        if (a->worlds[i - 1].spawn.id != 0)
            journal_despawn_list(&a->host->scenes, &a->host->destruction, a->worlds[i - 1].spawn);
    }
    for (uint32_t i = 0; i < a->count; i++)
        store_collect_all(&a->worlds[i].world->rows);
    a->host->base.error = kept;
}

static bp_result_t spawn_all(all_back_t *a, uint32_t flags)
{
    bp_result_t result = check_all(a, flags);
    if (result != BP_OK)
        return result;
    for (uint32_t i = 0; i < a->count && result == BP_OK; i++)
        result = spawn_one(a, &a->worlds[i], flags);
    if (result != BP_OK)
        take_back(a);
    for (uint32_t i = 0; i < a->count && result == BP_OK; i++) {
        if (a->worlds[i].own.id != 0)
            own_replace(&a->worlds[i].world->rows, a->worlds[i].own);
    }
    return result;
}

static void release_spawns(all_back_t *a)
{
    for (uint32_t i = 0; i < a->count; i++)
        scenes_release(&a->host->scenes, a->worlds[i].spawn);
}

static bp_result_t begin(all_back_t *a, bp_world_o *const *worlds, uint32_t count)
{
    memory_t *memory = &a->host->scenes.memory;
    a->room = (worlds == NULL ? a->scene->several.count : count) + 1;
    a->worlds = memory_new(memory, a->room * sizeof *a->worlds);
    a->shared = memory_new(memory, (a->scene->several.shared + (size_t)1) * sizeof *a->shared);
    a->met = memory_new(memory, (a->scene->several.shared + (size_t)1) * sizeof *a->met);
    return a->worlds != NULL && a->shared != NULL && a->met != NULL
               ? choose(a, worlds, count)
               : error_memory(&a->host->base.error, "spawning several worlds");
}

static void end(all_back_t *a)
{
    memory_t *memory = &a->host->scenes.memory;
    for (uint32_t i = 0; i < a->count; i++)
        memory_free(memory, a->worlds[i].old, a->worlds[i].old_room * sizeof(bp_entity_t));
    memory_free(memory, a->worlds, a->worlds == NULL ? 0 : a->room * sizeof *a->worlds);
    memory_free(memory, a->shared, a->shared == NULL ? 0 : (a->scene->several.shared + (size_t)1) * sizeof *a->shared);
    memory_free(memory, a->met, a->met == NULL ? 0 : (a->scene->several.shared + (size_t)1) * sizeof *a->met);
}

/* --- restoring ---------------------------------------------------------------------------------------------------- */

static bp_result_t list_old(all_back_t *a, back_t *back)
{
    world_t *world = &back->world->rows;
    back->old_room = world->occupied + 1;
    back->old = memory_resize(&a->host->scenes.memory, NULL, 0, back->old_room * sizeof *back->old);
    if (back->old == NULL) {
        back->old_room = 0;
        return error_memory(&a->host->base.error, "restoring worlds");
    }
    back->old_count = host_list_entities(world, back->old);
    return BP_OK;
}

bp_result_t host_restore_several(const bp_scene_o *scene, bp_world_o *const *worlds, uint32_t count, uint32_t flags)
{
    all_back_t a = {.host = scene->host, .scene = scene};
    bp_result_t result = begin(&a, worlds, count);
    for (uint32_t i = 0; i < a.count && result == BP_OK; i++)
        result = list_old(&a, &a.worlds[i]);
    if (result == BP_OK)
        result = spawn_all(&a, flags);
    for (uint32_t i = 0; i < a.count && result == BP_OK; i++) {
        host_clear_world(a.host, &a.worlds[i].world->rows, a.worlds[i].old, a.worlds[i].old_count);
        host_set_clock(a.worlds[i].world, a.worlds[i].blob->info);
    }
    if (result == BP_OK)
        release_spawns(&a);
    end(&a);
    return result;
}

bp_result_t bp_host_restore_worlds(bp_host_o *host, bp_world_o *const *worlds, uint32_t count, const char *path,
                                   uint32_t flags)
{
    bp_scene_o *scene;
    bp_result_t result = host_refuse_from_verb(host);
    if (result == BP_OK && worlds != NULL)
        result = check_worlds(host, worlds, count);
    if (result == BP_OK)
        result = bp_scene_open(host, path, &scene);
    if (result != BP_OK)
        return result;
    history_touch_always(&host->history);
    result = scenes_is_several(scene)
                 ? host_restore_several(scene, worlds, count, flags)
                 : error_set(&host->base.error, BP_ERROR_SYNTAX, "%s: it is no file of several worlds", path);
    bp_scene_close(scene);
    return result;
}

/* --- spawning ----------------------------------------------------------------------------------------------------- */

/* How many entities a scene has: those of several worlds count once. `shared` also counts numbers of the file that no
 * world's list contains. */
uint32_t host_count_several(const bp_scene_o *scene)
{
    uint64_t count = scene->several.shared;
    for (uint32_t w = 0; w < scene->several.count; w++) {
        several_part_t part = several_part(&scene->several, w);
        for (uint32_t i = 0; i < part.count; i++)
            count += part.shared[i] == 0;
    }
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

/* The entities of all worlds, one world after another, each once. `a->shared` is used up. */
static void list_entities(all_back_t *a, bp_entity_t *entities)
{
    uint32_t at = 0;
    for (uint32_t w = 0; w < a->count; w++) {
        const spawned_t *made = scenes_spawned(&a->host->scenes, a->worlds[w].spawn);
        const uint32_t *shared = a->worlds[w].part.shared;
        for (uint32_t i = 0; i < made->count; i++) {
            if (shared[i] != 0 && a->shared[shared[i] - 1].id == 0)
                continue;
            if (shared[i] != 0)
                a->shared[shared[i] - 1] = (bp_entity_t){0};
            entities[at++] = made->entities[i];
        }
    }
}

bp_result_t host_spawn_several(const bp_scene_o *scene, uint32_t flags, bp_entity_t *entities, bp_spawn_t *spawn)
{
    all_back_t a = {.host = scene->host, .scene = scene};
    scenes_t *scenes = &scene->host->scenes;
    uint32_t count = host_count_several(scene);
    bp_entity_t *list = NULL;
    bp_spawn_t made = {0};
    bp_result_t result = begin(&a, NULL, 0);
    if (result == BP_OK)
        result = scenes_new_spawn(scenes, count, &list, &made);
    if (result == BP_OK) {
        memset(list, 0, count * sizeof *list);
        result = spawn_all(&a, flags);
    }
    if (result == BP_OK) {
        list_entities(&a, list);
        release_spawns(&a);
        if (entities != NULL)
            memcpy(entities, list, count * sizeof *entities);
    }
    if (spawn != NULL && result == BP_OK)
        *spawn = made;
    else
        scenes_release(scenes, made);
    end(&a);
    return result;
}
