/* compile_worlds.c - a scene of several worlds: a blob for each of them, and which of their entities are the same.
 *
 * The scene is gone through once for each world. Each time all entities are read, so that every name is known and the
 * entities of all worlds have the same numbers, but only those of the world in work get columns. What comes out is
 * what a save of these worlds would be (several.h).
 *
 * An entity that says "entity" in place of "name" is one of a world before it. Such a node has the counts of the node
 * that it names, so names and numbers mean the same entities in every world.
 *
 * An entity that is referred to in a world where it has no components comes along there without any, as it does when
 * worlds are saved. Such entities are found last, so their group is the last.
 */
#include "../base/strings.h"
#include "compile_inner.h"
#include "several.h"

#include <stddef.h>

/* --- the world in work, freed ------------------------------------------------------------------------------------- */

static void free_templates(scene_t *scene)
{
    for (uint32_t i = 0; i < scene->template_count; i++)
        scene_draft_free(scene, &scene->templates[i].draft);
    memory_free(&scene->memory, scene->templates, scene->template_capacity * sizeof *scene->templates);
}

static void free_names(scene_t *scene, scene_names_t *names)
{
    memory_free(&scene->memory, names->buckets, names->capacity * sizeof *names->buckets);
}

void scene_free_world(scene_t *scene)
{
    scene_draft_free(scene, &scene->draft);
    free_templates(scene);
    scene_groups_free(scene);
    scene_bundles_free(scene);
    for (uint32_t i = 0; i < scene->label_count; i++)
        memory_free(&scene->memory, scene->labels[i].texts, scene->labels[i].size);
    memory_free(&scene->memory, scene->labels, scene->label_capacity * sizeof *scene->labels);
    memory_free(&scene->memory, scene->nodes, scene->node_capacity * sizeof *scene->nodes);
    memory_free(&scene->memory, scene->refs, scene->ref_capacity * sizeof *scene->refs);
    free_names(scene, &scene->template_names);
    free_names(scene, &scene->entity_names);
}

/* --- entities of other worlds ------------------------------------------------------------------------------------- */

static bp_result_t refuse_with(scene_t *scene, uint32_t number, const char *member)
{
    const scene_place_t place = scene_place_node(number, member);
    return scene_fail(scene, BP_ERROR_ARGUMENT, &place,
                      "\"entity\" says which entity it is, as in another world: leave \"%s\" out here", member);
}

static bp_result_t refuse_unknown(scene_t *scene, const scene_place_t *place, const char *name)
{
    nearest_t nearest = {.wanted = name};
    text_t hint;
    for (uint32_t i = 0; i < scene->node_count; i++) {
        if (scene->nodes[i].name != NULL && scene->nodes[i].in < scene->nodes[place->node].in)
            nearest_consider(&nearest, scene->nodes[i].name);
    }
    return scene_fail(scene, BP_ERROR_NOT_FOUND, place, "no world before this one has an entity '%.80s'%s", name,
                      nearest_hint(&nearest, &hint));
}

bp_result_t scene_read_of(scene_t *scene, uint32_t number)
{
    scene_node_t *node = &scene->nodes[number];
    const scene_place_t place = scene_place_node(number, NULL), at = scene_place_node(number, "entity");
    const char *name;
    bp_result_t result = scene_read_name(scene, &place, node->object, "entity", &name);
    if (result == BP_OK && tree_member(node->object, "name") != NULL)
        result = refuse_with(scene, number, "name");
    if (result == BP_OK && tree_member(node->object, "count") != NULL)
        result = refuse_with(scene, number, "count");
    if (result != BP_OK)
        return result;
    const scene_name_t *found = scene_names_find(&scene->entity_names, name);
    if (found == NULL || scene->nodes[found->number].in == node->in)
        return refuse_unknown(scene, &at, name);
    scene_node_t *other = &scene->nodes[found->number];
    if (other->latest == node->in + 1)
        return scene_fail(scene, BP_ERROR_EXISTS, &at, "'%.80s' stands in this world already", name);
    other->latest = node->in + 1;
    node->of = found->number;
    if (node->in == scene->world)
        other->here = number;
    return BP_OK;
}

bp_result_t scene_count_of(scene_t *scene, uint32_t number)
{
    const scene_place_t place = scene_place_node(number, "entity");
    scene_node_t *node = &scene->nodes[number];
    const scene_node_t *other = &scene->nodes[node->of];
    const scene_node_t *parent = node->parent == BP_NONE ? NULL : &scene->nodes[node->parent];
    node->total = other->total;
    node->counted = other->counted;
    node->dimensions = other->dimensions;
    node->count = other->total;
    if (parent == NULL || parent->total == 1)
        return BP_OK;
    node->count = other->count;
    return other->parent != BP_NONE && other->parent == parent->of
               ? BP_OK
               : scene_fail(scene, BP_ERROR_ARGUMENT, &place,
                            "it stands among the children of %u entities, and '%.80s' is not made for each of these",
                            parent->total, other->name);
}

bp_result_t scene_make_attached(scene_t *scene)
{
    bp_result_t result = scene_make_group(scene, &(scene_draft_t){.part_count = 0}, 0);
    if (result != BP_OK)
        return result;
    scene->attached = scene->group_count - 1;
    scene->groups[scene->attached].first = (uint32_t)scene->entity_count;
    return BP_OK;
}

void scene_drop_attached(scene_t *scene)
{
    const scene_group_t *group = &scene->groups[--scene->group_count];
    memory_free(&scene->memory, group->parts, sizeof *group->parts);
    memory_free(&scene->memory, group->columns, sizeof *group->columns);
    scene->attached = BP_NONE;
}

uint32_t scene_here(scene_t *scene, uint32_t number)
{
    scene_node_t *node = &scene->nodes[number];
    if (node->here != BP_NONE)
        return node->here;
    if (node->group == BP_NONE) {
        scene_group_t *group = &scene->groups[scene->attached];
        node->group = scene->attached;
        node->row = group->rows;
        group->rows += node->total;
        scene->entity_count += node->total;
    }
    return number;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static bp_result_t read_world(scene_t *scene, uint32_t world, const char *name, const tree_item_t *object)
{
    scene_place_t place = {.node = BP_NONE, .template = BP_NONE, .member = "worlds", .component = name,
                           .element = SIZE_MAX};
    if (!names_is_word(name))
        return scene_fail(scene, BP_ERROR_ARGUMENT, &place,
                          "'%.60s' is no name for a world; use 1 to 63 letters, digits and underscores", name);
    if (!tree_is(object, TREE_OBJECT))
        return scene_fail(scene, BP_ERROR_TYPE, &place, "a world is an object, {\"entities\": [...]}, not %s",
                          json_value_kind(object));
    for (tree_walk_t walk = tree_walk(object); tree_next(&walk);) {
        place.property = walk.key->string;
        if (!scene_ignores(place.property) && strcmp(place.property, "entities") != 0 &&
            strcmp(place.property, "world") != 0)
            return scene_fail(scene, BP_ERROR_NOT_FOUND, &place,
                              "a world of a scene has no '%.60s' (it has entities, world)",
                              place.property);
    }
    place.property = "entities";
    const tree_item_t *entities = tree_member(object, "entities");
    if (entities != NULL && !tree_is(entities, TREE_LIST))
        return scene_fail(scene, BP_ERROR_TYPE, &place, "'entities' takes a list of entities, not %s",
                          json_value_kind(entities));
    bp_result_t result = entities == NULL ? BP_OK : scene_read_list(scene, &place, entities, world);
    place.property = "world";
    return result == BP_OK ? scene_read_world(scene, &place, tree_member(object, "world"), world) : result;
}

bp_result_t scene_read_worlds(scene_t *scene)
{
    bp_result_t result = BP_OK;
    uint32_t world = 0;
    for (tree_walk_t walk = tree_walk(scene->worlds); result == BP_OK && tree_next(&walk);) {
        if (!scene_ignores(walk.key->string))
            result = read_world(scene, world++, walk.key->string, walk.value);
    }
    return result;
}

/* How many worlds; an error where that is no object, or where entities stand outside. */
static bp_result_t count_worlds(scene_t *scene, uint32_t *count)
{
    scene_place_t place = {.node = BP_NONE, .template = BP_NONE, .member = "worlds", .element = SIZE_MAX};
    *count = 0;
    if (!tree_is(scene->worlds, TREE_OBJECT))
        return scene_fail(scene, BP_ERROR_TYPE, &place, "'worlds' takes an object, {\"name\": {\"entities\": [...]}}, "
                          "not %s", json_value_kind(scene->worlds));
    for (tree_walk_t walk = tree_walk(scene->worlds); tree_next(&walk);)
        *count += !scene_ignores(walk.key->string);
    if (*count == 0 || *count > SEVERAL_MOST)
        return scene_fail(scene, BP_ERROR_LIMIT, &place, "a scene that has 'worlds' has 1 to %d of them", SEVERAL_MOST);
    const tree_item_t *top = scene->text.tree.items;
    place.member = tree_member(top, "entities") != NULL ? "entities" : "world";
    return tree_member(top, place.member) == NULL
               ? BP_OK
               : scene_fail(scene, BP_ERROR_ARGUMENT, &place,
                            "a scene of several worlds has its entities, and what is each world's own, in these: "
                            "\"worlds\": {\"%.60s\": "
                            "{\"entities\": [...]}}", scene_world_name(scene, 0));
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* For each entity of a blob its number among those of all worlds, + 1. */
static bp_result_t list_entities(scene_t *scene, memory_t *memory, several_world_t *world)
{
    size_t size = ((size_t)scene->entity_count + 1) * sizeof(bp_entity_t);
    bp_entity_t *entities = memory_new(memory, size);
    if (entities == NULL)
        return scene_no_memory(scene);
    for (uint32_t i = 0; i < scene->node_count; i++) {
        const scene_node_t *node = &scene->nodes[i];
        if (node->group == BP_NONE)
            continue;
        uint32_t at = scene->groups[node->group].first + node->row;
        uint32_t first = node->of == BP_NONE ? node->first : scene->nodes[node->of].first;
        for (uint32_t k = 0; k < node->total; k++)
            entities[at + k].id = first + k + UINT64_C(1);
    }
    world->entities = entities;
    world->count = (uint32_t)scene->entity_count;
    return BP_OK;
}

static bp_result_t compile_one(scene_t *scene, memory_t *memory, scene_compile_world_t compile, uint32_t number,
                               several_world_t *world)
{
    void *bytes;
    scene_free_world(scene);
    memset((char *)scene + offsetof(scene_t, templates), 0, sizeof *scene - offsetof(scene_t, templates));
    scene->world = number;
    scene->attached = BP_NONE;
    bp_result_t result = compile(scene, memory, &bytes, &world->size);
    if (result != BP_OK)
        return result;
    world->bytes = bytes;
    world->name = scene_world_name(scene, number);
    return list_entities(scene, memory, world);
}

bp_result_t scene_compile_worlds(scene_t *scene, memory_t *memory, scene_compile_world_t compile, void **bytes,
                                 size_t *size)
{
    uint32_t count;
    bp_result_t result = count_worlds(scene, &count);
    if (result != BP_OK)
        return result;
    several_world_t *worlds = memory_new(memory, count * sizeof *worlds);
    if (worlds == NULL)
        return scene_no_memory(scene);
    for (uint32_t i = 0; i < count && result == BP_OK; i++)
        result = compile_one(scene, memory, compile, i, &worlds[i]);
    if (result == BP_OK)
        result = several_write(memory, worlds, count, bytes, size, scene->error);
    for (uint32_t i = 0; i < count; i++) {
        memory_free(memory, (void *)(uintptr_t)worlds[i].bytes, worlds[i].size);
        memory_free(memory, (void *)(uintptr_t)worlds[i].entities,
                    worlds[i].entities == NULL ? 0 : (worlds[i].count + (size_t)1) * sizeof(bp_entity_t));
    }
    memory_free(memory, worlds, count * sizeof *worlds);
    return result;
}
