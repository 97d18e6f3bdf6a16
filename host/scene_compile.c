/* scene_compile.c - the entity compiler for embedders: files, and managers that compile for themselves.
 *
 * A component type may bring a `compile` of its own, which is a verb of a manager, and managers live in worlds. Where no world
 * has one at work, a world is made for the time of the compilation; nothing lives in it, and afterwards the host is as it was.
 */
#include "host.h"

#include "base/file.h"
#include "resource/scene_compile.h"

typedef struct scratch_t {
    bp_host_o *host;
    bp_world_o *world;
} scratch_t;

static manager_t *find_at_work(const bp_world_o *world, const component_t *component)
{
    for (uint32_t i = 0; world != NULL && i < world->manager_count; i++) {
        if (world->managers[i]->component == component && world->managers[i]->started)
            return world->managers[i];
    }
    return NULL;
}

static bp_result_t find_manager(void *context, const component_t *component, bp_manager_t **manager)
{
    scratch_t *scratch = context;
    manager_t *found = NULL;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < scratch->host->destruction.world_count && found == NULL; i++)
        found = find_at_work(scratch->host->destruction.worlds[i], component);
    if (found == NULL && scratch->world == NULL)
        result = host_create_world(scratch->host, &(bp_world_desc_t){.name = "_scene_compiler_"}, &scratch->world);
    if (found == NULL && result == BP_OK)
        result = bp_world_use_component(scratch->world, component->name);
    if (found == NULL && result == BP_OK)
        found = find_at_work(scratch->world, component);
    if (result == BP_OK)
        *manager = &found->seen;
    return result;
}

static void release(void *context, const component_t *component, void *data, size_t size)
{
    (void)context;
    memory_free(&component->owner->memory, data, size);
}

/* Compile to a block from `memory`. */
static bp_result_t compile(bp_host_o *host, memory_t *memory, const char *origin, const char *json, size_t size, void **bytes,
                           size_t *blob_size, scene_figures_t *figures)
{
    scratch_t scratch = {.host = host};
    const scene_managers_i managers = {.context = &scratch, .find = find_manager, .release = release};
    uint64_t random = host->base.random;
    bp_result_t result = scene_compile(&host->base, memory, &host->registry, &managers, origin, json, size, bytes, blob_size, figures);
    if (scratch.world != NULL) {
        error_text_t kept = host->base.error;
        bp_world_destroy(scratch.world);
        host->base.error = kept;
        host->base.random = random;
    }
    return result;
}

bp_result_t bp_scene_compile_text(bp_host_o *host, const char *origin, const char *json, size_t size, bp_scene_blob_t *blob)
{
    scene_figures_t figures;
    memset(blob, 0, sizeof *blob);
    bp_result_t result = compile(host, &host->base.memory, origin, json, size, &blob->bytes, &blob->size, &figures);
    if (result != BP_OK)
        return result;
    blob->components = figures.components;
    blob->entities = figures.entities;
    blob->groups = figures.groups;
    return BP_OK;
}

bp_result_t bp_scene_compile(bp_host_o *host, const char *json_path, bp_scene_blob_t *blob)
{
    char *text;
    size_t size;
    memset(blob, 0, sizeof *blob);
    bp_result_t result = file_read(&host->base.memory, json_path, &text, &size, &host->base.error);
    if (result != BP_OK)
        return result;
    result = bp_scene_compile_text(host, json_path, text, size, blob);
    memory_free(&host->base.memory, text, size + 1);
    return result;
}

void bp_scene_free(bp_host_o *host, bp_scene_blob_t *blob)
{
    memory_free(&host->base.memory, blob->bytes, blob->size);
    memset(blob, 0, sizeof *blob);
}

static bool is_json(const char *path)
{
    size_t length = strlen(path);
    return length >= 5 && strcmp(path + length - 5, ".json") == 0;
}

bp_result_t bp_scene_load(bp_host_o *host, const char *path, bp_scene_o **scene)
{
    char *text;
    void *bytes;
    size_t size, blob_size;
    scene_figures_t figures;
    if (!is_json(path))
        return bp_scene_open(host, path, scene);
    bp_result_t result = file_read(&host->base.memory, path, &text, &size, &host->base.error);
    if (result != BP_OK)
        return result;
    result = compile(host, &host->scenes.memory, path, text, size, &bytes, &blob_size, &figures);
    memory_free(&host->base.memory, text, size + 1);
    return result != BP_OK ? result : scenes_adopt(&host->scenes, bytes, blob_size, path, scene);
}
