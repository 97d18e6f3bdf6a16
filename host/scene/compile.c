/* compile.c - the compiler from above: the stages in their order, and the errors of all of them.
 *
 * Nothing is written before everything has been read: a scene that is wrong anywhere gives no blob. Places are kept as
 * numbers (which node, which component) while all goes well, and spelt out as a path only for the one sentence of a
 * failure.
 *
 * The memory of all stages is one account.
 */
#include "compile_inner.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

enum { MANY_ENTITIES = 1000000 }; /* from here on their number is the reason for a lack of memory */

/* --- places ------------------------------------------------------------------------------------------------------- */

enum { MOST_STEPS = TREE_MAX_DEPTH + 8 };

typedef struct path_t {
    json_step_t steps[MOST_STEPS];
    uint32_t count;
} path_t;

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

/* --- members ------------------------------------------------------------------------------------------------------ */

/* Does the object hold a component beside `components` instead of in it? Beginners often write that. */
static bool holds_components(const scene_t *scene, const char *const *known, const char *key, const tree_item_t *value)
{
    for (size_t i = 0; known[i] != NULL; i++) {
        if (strcmp(known[i], "components") == 0)
            return tree_is(value, TREE_OBJECT) &&
                   (json_types_find(&scene->types, key) != BP_NONE || tree_member(value, "type") != NULL);
    }
    return false;
}

static bp_result_t unknown_member(scene_t *scene, scene_place_t place, const tree_walk_t *walk,
                                  const char *const *known, const char *what)
{
    const char *key = walk->key->string;
    nearest_t nearest = {.wanted = key};
    text_t hint, all = {.length = 0};
    all.chars[0] = '\0';
    for (size_t i = 0; known[i] != NULL; i++) {
        nearest_consider(&nearest, known[i]);
        text_append(&all, "%s%s", i > 0 ? ", " : "", known[i]);
    }
    place.member = key;
    if (holds_components(scene, known, key, walk->value))
        return scene_fail(scene, BP_ERROR_NOT_FOUND, &place,
                          "'%.60s' is a component; components stand in \"components\": {\"%.60s\": {...}}", key, key);
    return scene_fail(scene, BP_ERROR_NOT_FOUND, &place, "%s has no '%.60s'%s (it has %s)", what, key,
                      nearest_hint(&nearest, &hint), all.chars);
}

bp_result_t scene_check_members(scene_t *scene, const scene_place_t *place, const tree_item_t *object,
                                const char *const *known, const char *what)
{
    for (tree_walk_t walk = tree_walk(object); tree_next(&walk);) {
        const char *key = walk.key->string;
        bool found = scene_ignores(key);
        for (size_t i = 0; known[i] != NULL && !found; i++)
            found = strcmp(key, known[i]) == 0;
        if (!found)
            return unknown_member(scene, *place, &walk, known, what);
    }
    return BP_OK;
}

bp_result_t scene_read_name(scene_t *scene, const scene_place_t *place, const tree_item_t *object, const char *member,
                            const char **name)
{
    const tree_item_t *json = tree_member(object, member);
    scene_place_t at = *place;
    at.member = member;
    *name = NULL;
    if (json == NULL)
        return BP_OK;
    if (!tree_is(json, TREE_STRING))
        return scene_fail(scene, BP_ERROR_TYPE, &at, "'%s' takes a name in a string, not %s", member,
                          json_value_kind(json));
    if (json->extent == 0 || json->extent > SCENE_MAX_NAME)
        return scene_fail(scene, BP_ERROR_LIMIT, &at, "a name has 1 to %d bytes", SCENE_MAX_NAME);
    *name = json->string;
    return BP_OK;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

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

/* --- types ------------------------------------------------------------------------------------------------------- */

/* The list of types, sorted, and a small hash table over it.
 *
 * Types are looked up by hash, since that is done for every component of every entity; fields are so few that comparing
 * the hashes of a type one after another is as fast as any table.
 */

static int compare(const void *a, const void *b)
{
    const component_t *left = ((const json_type_t *)a)->component, *right = ((const json_type_t *)b)->component;
    int32_t first = left->spawn_order, second = right->spawn_order;
    return first != second ? (first < second ? -1 : 1) : strcmp(left->name, right->name);
}

static uint32_t *bucket_of(const json_types_t *types, bp_name_t hash)
{
    uint32_t i = (uint32_t)hash & (types->capacity - 1);
    while (types->buckets[i] != 0 && types->items[types->buckets[i] - 1].hash != hash)
        i = (i + 1) & (types->capacity - 1);
    return &types->buckets[i];
}

static bool reserve(json_types_t *types, uint32_t most)
{
    types->room = most + 1;
    types->capacity = 16;
    while (types->capacity < 2 * most)
        types->capacity *= 2;
    types->buckets = memory_new(types->memory, types->capacity * sizeof *types->buckets);
    types->items = memory_new(types->memory, types->room * sizeof *types->items);
    return types->buckets != NULL && types->items != NULL;
}

bp_result_t json_types_init(json_types_t *types, memory_t *memory, const registry_t *registry, error_text_t *error)
{
    *types = (json_types_t){.memory = memory};
    if (!reserve(types, registry->component_count)) {
        json_types_free(types);
        return error_memory(error, "compiling a scene");
    }
    for (uint32_t i = 0; i < registry->component_count; i++) {
        const component_t *c = registry->components[i];
        if (c->owner != NULL)
            types->items[types->count++] = (json_type_t){c, names_hash(c->name)};
    }
    qsort(types->items, types->count, sizeof *types->items, compare);
    for (uint32_t i = 0; i < types->count; i++)
        *bucket_of(types, types->items[i].hash) = i + 1;
    return BP_OK;
}

void json_types_free(json_types_t *types)
{
    memory_free(types->memory, types->buckets, types->capacity * sizeof *types->buckets);
    memory_free(types->memory, types->items, types->room * sizeof *types->items);
    types->buckets = NULL;
    types->items = NULL;
}

uint32_t json_types_find(const json_types_t *types, const char *name)
{
    uint32_t number = *bucket_of(types, names_hash(name));
    bool same = number > 0 && strcmp(types->items[number - 1].component->name, name) == 0;
    return same ? number - 1 : BP_NONE;
}

const char *json_types_hint(const json_types_t *types, const char *wanted, text_t *hint)
{
    nearest_t nearest = {.wanted = wanted};
    text_t near;
    for (uint32_t i = 0; i < types->count; i++)
        nearest_consider(&nearest, types->items[i].component->name);
    hint->length = 0;
    text_append(hint, "%s (%s", nearest_hint(&nearest, &near),
                types->count == 0 ? "no plugin with components is loaded" : "there are ");
    for (uint32_t i = 0; i < types->count; i++)
        text_append(hint, "%s%s", i > 0 ? ", " : "", types->items[i].component->name);
    text_append(hint, ")");
    return hint->chars;
}

uint32_t json_types_field(const component_t *component, const char *name)
{
    bp_name_t hash = names_hash(name);
    for (uint32_t i = 0; i < component->field_count; i++) {
        if (component->fields[i].hash == hash)
            return i;
    }
    return BP_NONE;
}

uint32_t json_types_former(const component_t *component, const char *name)
{
    for (uint32_t i = 0; i < component->field_count; i++) {
        if (component->fields[i].former_name[0] != '\0' && strcmp(component->fields[i].former_name, name) == 0)
            return i;
    }
    return BP_NONE;
}

const char *json_types_field_hint(const component_t *component, const char *wanted, text_t *hint)
{
    nearest_t nearest = {.wanted = wanted};
    text_t near;
    for (uint32_t i = 0; i < component->field_count; i++)
        nearest_consider(&nearest, component->fields[i].name);
    hint->length = 0;
    text_append(hint, "%s (it has ", nearest_hint(&nearest, &near));
    for (uint32_t i = 0; i < component->field_count; i++)
        text_append(hint, "%s%s", i > 0 ? ", " : "", component->fields[i].name);
    text_append(hint, "%s)", component->field_count == 0 ? "no properties" : "");
    return hint->chars;
}
