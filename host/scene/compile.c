/* compile.c - the compiler from above: the stages in their order.
 *
 * Nothing is written before everything has been read: a scene that is wrong anywhere gives no blob.
 *
 * The memory of all stages is one account.
 */
#include "compile_inner.h"

static bp_result_t read_all(scene_t *scene)
{
    static const char *const known[] = {"prototypes", "entities", "world", "worlds", NULL};
    const scene_place_t top = {BP_NONE, BP_NONE, NULL, NULL, NULL, SIZE_MAX};
    const scene_place_t world = {BP_NONE, BP_NONE, "world", NULL, NULL, SIZE_MAX};
    bp_result_t result = scene_check_members(scene, &top, scene->text.tree.items, known, "a scene");
    if (result == BP_OK)
        result = scene_read_templates(scene);
    if (result == BP_OK)
        result = scene_read_entities(scene);
    if (result == BP_OK)
        result = scene_read_world(
            scene, &world, scene->worlds != NULL ? NULL : tree_member(scene->text.tree.items, "world"), 0);
    if (result == BP_OK)
        result = scene_check_names(scene);
    return result == BP_OK ? scene_resolve_refs(scene) : result;
}

/* The blob of one world of a scene, or of one that names no worlds. What was made on the way is freed. */
static bp_result_t compile_world(scene_t *scene, memory_t *memory, void **bytes, size_t *size)
{
    bp_result_t result = read_all(scene);
    return result == BP_OK ? scene_write_blob(scene, memory, bytes, size) : result;
}

bp_result_t scene_compile(base_t *base, memory_t *memory, const registry_t *registry, const char *origin,
                          const char *json, size_t size, void **bytes, size_t *blob_size)
{
    scene_t scene = {.base = base, .error = &base->error, .attached = BP_NONE};
    memory_init_child(&scene.memory, "scene", memory);
    bp_result_t result = json_text_read(&scene.text, &scene.memory, origin, json, size, scene.error);
    if (result != BP_OK)
        return result;
    result = json_types_init(&scene.types, &scene.memory, registry, scene.error);
    scene.worlds = tree_member(scene.text.tree.items, "worlds");
    if (result == BP_OK && scene.worlds != NULL)
        result = scene_compile_worlds(&scene, memory, compile_world, bytes, blob_size);
    else if (result == BP_OK)
        result = compile_world(&scene, memory, bytes, blob_size);
    error_text_t kept = *scene.error; /* freeing the parts must not replace the error's text */
    scene_free_world(&scene);
    json_types_free(&scene.types);
    json_text_free(&scene.text);
    *scene.error = kept;
    return result;
}
