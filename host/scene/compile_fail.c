/* compile_fail.c - how all stages of the compiler refuse a scene: with the place and a sentence.
 *
 * Places are kept as numbers (which node, which component) while all goes well, and spelt out as a path only for the
 * one sentence of a failure.
 */
#include "compile_inner.h"

#include <inttypes.h>
#include <stdarg.h>

enum { MANY_ENTITIES = 1000000 }; /* from here on their number is the reason for a lack of memory */

/* --- places ------------------------------------------------------------------------------------------------------- */

enum { MOST_STEPS = TREE_MAX_DEPTH + 8 };

typedef struct path_t {
    json_step_t steps[MOST_STEPS];
    uint32_t count;
} path_t;

const char *scene_world_name(const scene_t *scene, uint32_t world)
{
    uint32_t i = 0;
    for (tree_walk_t walk = tree_walk(scene->worlds); tree_next(&walk);) {
        if (!scene_ignores(walk.key->string) && i++ == world)
            return walk.key->string;
    }
    return "";
}

static void step(path_t *path, const char *key, size_t index)
{
    if (path->count < MOST_STEPS)
        path->steps[path->count++] = (json_step_t){key, index};
}

static void steps_to_node(const scene_t *scene, uint32_t node, path_t *path)
{
    uint32_t depth = 0;
    for (uint32_t at = node; at != BP_NONE; at = scene->nodes[at].parent)
        depth++;
    uint32_t first = scene->worlds == NULL ? 0 : 2;
    if (first + 2 * depth > MOST_STEPS)
        return;
    path->count = first + 2 * depth;
    if (first > 0) {
        path->steps[0] = (json_step_t){"worlds", 0};
        path->steps[1] = (json_step_t){scene_world_name(scene, scene->nodes[node].in), 0};
    }
    for (uint32_t at = node; at != BP_NONE; at = scene->nodes[at].parent, depth--) {
        path->steps[first + 2 * depth - 2] =
            (json_step_t){scene->nodes[at].parent == BP_NONE ? "entities" : "children", 0};
        path->steps[first + 2 * depth - 1] = (json_step_t){NULL, scene->nodes[at].place};
    }
}

bp_result_t scene_fail_at(scene_t *scene, bp_result_t code, const scene_place_t *place)
{
    error_text_t said = *scene->error;
    path_t path = {.count = 0};
    bool of_world = place->node != BP_NONE && scene->nodes[place->node].world;
    if (of_world && scene->worlds != NULL) {
        step(&path, "worlds", 0);
        step(&path, scene_world_name(scene, scene->nodes[place->node].in), 0);
    }
    if (of_world) {
        step(&path, "world", 0);
    } else if (place->node != BP_NONE) {
        steps_to_node(scene, place->node, &path);
    } else if (place->template != BP_NONE) {
        step(&path, "prototypes", 0);
        step(&path, scene->templates[place->template].name, 0);
    }
    const char *const words[] = {place->member, place->component, place->property};
    for (size_t i = of_world; i < 3 && words[i] != NULL; i++)
        step(&path, words[i], 0);
    if (place->element != SIZE_MAX)
        step(&path, NULL, place->element);
    return json_text_fail(&scene->text, scene->error, code, path.steps, path.count, "%s", said.text);
}

bp_result_t scene_fail(scene_t *scene, bp_result_t code, const scene_place_t *place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(scene->error->text, sizeof scene->error->text, format, arguments);
    va_end(arguments);
    return scene_fail_at(scene, code, place);
}

bool scene_could_hold(const scene_t *scene, uint64_t count, uint64_t size)
{
    uint64_t available;
    return memory_could_hold(&scene->memory, count * size, &available);
}

bp_result_t scene_no_memory(scene_t *scene)
{
    if (scene->entity_count >= MANY_ENTITIES)
        return error_set(scene->error, BP_ERROR_MEMORY,
                         "%s: out of memory while compiling it: with all counts it has %" PRIu64 " entities",
                         scene->text.origin, scene->entity_count);
    return error_set(scene->error, BP_ERROR_MEMORY, "%s: out of memory while compiling it", scene->text.origin);
}
