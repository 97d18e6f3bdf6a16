/* scene_compile.c - the entity compiler for embedders: files, and managers that compile for themselves.
 *
 * A component type may bring a `compile` of its own, which is a verb of a manager, and managers live in worlds. Where no world
 * has one at work, a world is made for the time of the compilation; nothing lives in it, and afterwards the host is as it was.
 */
#include "host.h"

#include "base/file.h"
#include "resource/json_tree.h"
#include "resource/scene_compile.h"

#include <stdio.h>

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

static bp_result_t compile(bp_host_o *host, const char *origin, const char *json, size_t size, bp_scene_o **scene)
{
    scratch_t scratch = {.host = host};
    const scene_managers_i managers = {.context = &scratch, .find = find_manager, .release = release};
    uint64_t random = host->base.random;
    void *bytes;
    size_t blob_size;
    bp_result_t result = scene_compile(&host->base, &host->scenes.memory, &host->registry, &managers, origin, json, size, &bytes, &blob_size);
    if (scratch.world != NULL) {
        error_text_t kept = host->base.error;
        bp_world_destroy(scratch.world);
        host->base.error = kept;
        host->base.random = random;
    }
    return result == BP_OK ? scenes_adopt(&host->scenes, bytes, blob_size, origin, scene) : result;
}

bp_result_t bp_scene_compile_text(bp_host_o *host, const char *origin, const char *json, size_t size, bp_scene_o **scene)
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
    bp_result_t result = file_read_most(&host->scenes.memory, json_path, TREE_MAX_BYTES, &text, &size, &host->base.error);
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
    FILE *file = ends_with(path, ".json") ? NULL : fopen(path, "rb");
    size_t size = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file), at = 0;
    if (file != NULL)
        fclose(file);
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
        at = 3;
    while (at < size && (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\n' || bytes[at] == '\r'))
        at++;
    return ends_with(path, ".json") || (at < size && bytes[at] == '{');
}
