/* json_prototypes.c - prototypes: each resolved once, after the one that it extends.
 *
 * Chains are followed with a mark on every prototype that waits for its base: whoever meets a mark has found a cycle. The
 * waiting ones are a list through `extends` read backwards, so a chain may be as long as the scene and nothing recurs.
 */
#include "json_scene.h"

enum { UNTOUCHED, WAITING, RESOLVED };

static const char *const members[] = {"extends", "components", NULL};

bp_result_t scene_find_prototype(scene_t *scene, const scene_place_t *place, const tree_item_t *object, uint32_t *prototype)
{
    const char *name;
    *prototype = BP_NONE;
    bp_result_t result = scene_read_name(scene, place, object, "extends", &name);
    if (result != BP_OK || name == NULL)
        return result;
    const scene_name_t *found = scene_names_find(&scene->prototype_names, name);
    if (found != NULL) {
        *prototype = found->number;
        return BP_OK;
    }
    nearest_t nearest = {.wanted = name};
    text_t hint;
    for (uint32_t i = 0; i < scene->prototype_count; i++)
        nearest_consider(&nearest, scene->prototypes[i].name);
    scene_place_t at = *place;
    at.member = "extends";
    return scene_fail(scene, BP_ERROR_NOT_FOUND, &at, "the scene has no prototype '%.80s'%s", name, nearest_hint(&nearest, &hint));
}

static bp_result_t list_prototype(scene_t *scene, const char *name, const tree_item_t *object)
{
    uint32_t number = scene->prototype_count;
    const scene_place_t place = scene_place_prototype(number, NULL);
    if (!memory_reserve(&scene->memory, &scene->prototypes, &scene->prototype_capacity, (uint64_t)number + 1, sizeof *scene->prototypes))
        return scene_no_memory(scene);
    scene->prototypes[number] = (scene_prototype_t){.name = name, .object = object, .extends = BP_NONE, .group = BP_NONE};
    scene->prototype_count++;
    if (name[0] == '\0' || strlen(name) > SCENE_MAX_NAME)
        return scene_fail(scene, BP_ERROR_LIMIT, &place, "a prototype's name has 1 to %d bytes", SCENE_MAX_NAME);
    if (!tree_is(object, TREE_OBJECT))
        return scene_fail(scene, BP_ERROR_TYPE, &place, "a prototype is an object, not %s", json_value_kind(object));
    bp_result_t result = scene_names_add(scene, &scene->prototype_names, name, number);
    return result == BP_OK ? scene_check_members(scene, &place, object, members, "a prototype") : result;
}

static bp_result_t list_all(scene_t *scene, const tree_item_t *prototypes)
{
    const scene_place_t place = {BP_NONE, BP_NONE, "prototypes", NULL, NULL, SIZE_MAX};
    bp_result_t result = BP_OK;
    if (!tree_is(prototypes, TREE_OBJECT))
        return scene_fail(scene, BP_ERROR_TYPE, &place, "'prototypes' takes an object, {\"name\": {...}}, not %s", json_value_kind(prototypes));
    for (tree_walk_t walk = tree_walk(prototypes); result == BP_OK && tree_next(&walk);)
        result = scene_ignores(walk.key->string) ? BP_OK : list_prototype(scene, walk.key->string, walk.value);
    for (uint32_t i = 0; i < scene->prototype_count && result == BP_OK; i++) {
        const scene_place_t at = scene_place_prototype(i, NULL);
        result = scene_find_prototype(scene, &at, scene->prototypes[i].object, &scene->prototypes[i].extends);
    }
    return result;
}

static bp_result_t cycle(scene_t *scene, uint32_t number)
{
    const scene_place_t place = scene_place_prototype(number, "extends");
    text_t circle = {.length = 0};
    uint32_t at = number, shown = 0;
    do {
        text_append(&circle, "%.60s -> ", scene->prototypes[at].name);
        at = scene->prototypes[at].extends;
    } while (at != number && ++shown < 6);
    return scene_fail(scene, BP_ERROR_ARGUMENT, &place, "prototypes extend each other in a circle: %s%s%.60s", circle.chars, at != number ? "... -> " : "",
                      scene->prototypes[number].name);
}

static bp_result_t resolve_one(scene_t *scene, uint32_t number)
{
    scene_prototype_t *p = &scene->prototypes[number];
    const scene_place_t place = scene_place_prototype(number, "components");
    bp_result_t result = BP_OK;
    if (p->extends != BP_NONE)
        result = scene_draft_copy(scene, &p->draft, &scene->prototypes[p->extends].draft);
    if (result == BP_OK)
        result = scene_draft_describe(scene, &p->draft, &place, tree_member(p->object, "components"), false);
    scene_draft_sort(&p->draft);
    p->draft.changed = false;
    p->state = RESOLVED;
    return result;
}

/* `waiting` has room for all of them. */
static bp_result_t resolve(scene_t *scene, uint32_t number, uint32_t *waiting)
{
    uint32_t count = 0;
    bp_result_t result = BP_OK;
    for (uint32_t at = number; at != BP_NONE && scene->prototypes[at].state != RESOLVED; at = scene->prototypes[at].extends) {
        if (scene->prototypes[at].state == WAITING)
            return cycle(scene, at);
        scene->prototypes[at].state = WAITING;
        waiting[count++] = at;
    }
    while (count > 0 && result == BP_OK)
        result = resolve_one(scene, waiting[--count]);
    return result;
}

bp_result_t scene_read_prototypes(scene_t *scene)
{
    const tree_item_t *prototypes = tree_member(scene->text.tree.items, "prototypes");
    bp_result_t result = prototypes == NULL ? BP_OK : list_all(scene, prototypes);
    if (result != BP_OK || scene->prototype_count == 0)
        return result;
    size_t bytes = scene->prototype_count * sizeof(uint32_t);
    uint32_t *waiting = memory_resize(&scene->memory, NULL, 0, bytes);
    if (waiting == NULL)
        return scene_no_memory(scene);
    for (uint32_t i = 0; i < scene->prototype_count && result == BP_OK; i++)
        result = resolve(scene, i, waiting);
    memory_free(&scene->memory, waiting, bytes);
    return result;
}
