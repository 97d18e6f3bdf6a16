/* compile_entities.c - entities: nodes in the order of their depth, and their values into columns.
 *
 * The list of nodes is also the queue of those to read: top-level entities first, then the children of each. So there
 * is no recursion however deep a scene is, parents come before children, and siblings lie together.
 *
 * A node is read once: its draft begins as its template's, its own components are laid over it, and the result is
 * appended to the columns of its group, as often as it counts.
 */
#include "../plugin/verbs.h"
#include "compile_inner.h"

static const char *const entity_members[] = {"name", "extends", "components", "children", "count", NULL};
static const char *const worlds_members[] = {"name",  "entity", "extends", "components", "children",
                                             "count", NULL}; /* where a scene has several worlds */

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

/* --- nodes -------------------------------------------------------------------------------------------------------- */

static bp_result_t list_nodes(scene_t *scene, const scene_place_t *place, uint32_t parent, const tree_item_t *list,
                              uint32_t world)
{
    uint32_t count = tree_count(list), i = 0;
    if (!tree_is(list, TREE_LIST))
        return scene_fail(scene, BP_ERROR_TYPE, place, "'%s' takes a list of entities, not %s", place->member,
                          json_value_kind(list));
    if (scene->node_count + (uint64_t)count > SCENE_MAX_ENTITIES)
        return scene_fail(scene, BP_ERROR_LIMIT, place, "a scene has at most %u entities", SCENE_MAX_ENTITIES);
    if (!memory_reserve(&scene->memory, &scene->nodes, &scene->node_capacity, scene->node_count + (uint64_t)count,
                        sizeof *scene->nodes))
        return scene_no_memory(scene);
    for (tree_walk_t walk = tree_walk(list); tree_next(&walk); i++)
        scene->nodes[scene->node_count++] =
            (scene_node_t){.object = walk.value, .parent = parent, .place = i, .counted = BP_NONE, .group = BP_NONE,
                           .in = world, .of = BP_NONE, .here = BP_NONE};
    return BP_OK;
}

/* Add the entities of a node to those of the scene, unless another world has them already. */
static void add_up(scene_t *scene, scene_node_t *node)
{
    if (node->of == BP_NONE) {
        node->first = (uint32_t)scene->all_count;
        scene->all_count += node->total;
    }
    if (node->in == scene->world)
        scene->entity_count += node->total;
}

static bp_result_t read_count(scene_t *scene, uint32_t number, bool *given)
{
    scene_node_t *node = &scene->nodes[number];
    const scene_place_t place = scene_place_node(number, "count");
    const tree_item_t *json = tree_member(node->object, "count");
    double count = json == NULL ? 1 : tree_number(json);
    *given = json != NULL;
    if (json != NULL &&
        (!tree_is_number(json) || !(count >= 1 && count <= SCENE_MAX_ENTITIES) || (double)(uint32_t)count < count))
        return scene_fail(scene, tree_is_number(json) ? BP_ERROR_RANGE : BP_ERROR_TYPE, &place,
                          "'count' takes a whole number from 1 to %u, the number of entities that are made of this one",
                          SCENE_MAX_ENTITIES);
    const scene_node_t *parent = node->parent == BP_NONE ? NULL : &scene->nodes[node->parent];
    uint64_t total = (uint64_t)count * (parent == NULL ? 1 : parent->total);
    if (total + scene->all_count > SCENE_MAX_ENTITIES)
        return scene_fail(scene, BP_ERROR_LIMIT, &place, "with this the scene has more than %u entities",
                          SCENE_MAX_ENTITIES);
    node->count = (uint32_t)count;
    node->total = (uint32_t)total;
    node->counted = parent == NULL ? BP_NONE : parent->counted;
    node->dimensions = parent == NULL ? 0 : parent->dimensions;
    add_up(scene, node);
    if (node->count == 1)
        return BP_OK;
    node->counted = number;
    node->dimensions++;
    return node->dimensions <= SCENE_MAX_DIMENSIONS
               ? BP_OK
               : scene_fail(scene, BP_ERROR_LIMIT, &place, "counts lie within each other more than %d deep",
                            SCENE_MAX_DIMENSIONS);
}

static bp_result_t read_entity_name(scene_t *scene, uint32_t number)
{
    scene_node_t *node = &scene->nodes[number];
    const scene_place_t place = scene_place_node(number, NULL), at = scene_place_node(number, "name");
    bp_result_t result = scene_read_name(scene, &place, node->object, "name", &node->name);
    if (result != BP_OK || node->name == NULL)
        return result;
    if (strcmp(node->name, "none") == 0)
        return scene_fail(scene, BP_ERROR_ARGUMENT, &at,
                          "'none' is the value of a property that refers to no entity; choose another name");
    if (scene_names_find(&scene->entity_names, node->name) != NULL)
        return scene_fail(scene, BP_ERROR_EXISTS, &at,
                          "another entity is called '%s' already; names are unique in a scene", node->name);
    return scene_names_add(scene, &scene->entity_names, node->name, number);
}

/* --- values into columns ------------------------------------------------------------------------------------------ */

static bp_result_t append_list(scene_t *scene, const scene_node_t *node, scene_column_t *column,
                               const scene_cell_t *cell)
{
    char *cells = scene_column_spread(scene, column, node->total);
    if (cells == NULL)
        return scene_no_memory(scene);
    cells += (size_t)column->rows * column->size;
    uint32_t n = 0;
    for (tree_walk_t walk = tree_walk(cell->list); tree_next(&walk); n++) {
        scene_cell_t one = {.kind = tree_is(walk.value, TREE_NULL) ? CELL_DEFAULT : CELL_VALUE};
        bp_value_t bytes;
        bp_result_t result = BP_OK;
        if (one.kind == CELL_VALUE && !field_is_single(column->field))
            result = scene_read_bundle(scene, column->field, walk.value, &one.value.u32);
        else if (one.kind == CELL_VALUE)
            /* has been checked */
            json_value_read(&scene->base->values, column->field, walk.value, &one.value, scene->error);
        if (result != BP_OK)
            return result; /* only memory can be lacking here */
        scene_cell_bytes(scene, column->field, &one, &bytes);
        memcpy(cells + (size_t)n * column->size, &bytes, column->size);
    }
    for (uint32_t i = node->count; i < node->total; i += node->count)
        memcpy(cells + (size_t)i * column->size, cells, (size_t)node->count * column->size);
    column->rows += node->total;
    return BP_OK;
}

static bp_result_t append_labels(scene_t *scene, uint32_t number, scene_column_t *column)
{
    number = scene->nodes[number].of != BP_NONE ? scene->nodes[number].of : number;
    const scene_node_t *node = &scene->nodes[number];
    const char *texts;
    size_t stride;
    column->said = true;
    if (node->dimensions == 0)
        return scene_column_append(scene, column, &node->name, 1);
    bp_result_t result = scene_labels(scene, number, &texts, &stride);
    char *cells = result == BP_OK ? scene_column_spread(scene, column, node->total) : NULL;
    if (cells == NULL)
        return result == BP_OK ? scene_no_memory(scene) : result;
    cells += (size_t)column->rows * column->size;
    for (uint32_t i = 0; i < node->total; i++, texts += stride)
        memcpy(cells + (size_t)i * column->size, &texts, sizeof texts);
    column->rows += node->total;
    return BP_OK;
}

/* Does a cell refer to an entity? */
static bool refers(const scene_cell_t *cell)
{
    return cell->kind == CELL_LIST || (cell->kind == CELL_VALUE && !scene_names_no_entity(cell->value.string));
}

/* Note a reference, to be resolved when all names are known; until then its cells refer to no entity. */
static bp_result_t append_ref(scene_t *scene, uint32_t number, uint32_t column_number, const scene_place_t *place,
                              const scene_cell_t *cell)
{
    const scene_node_t *node = &scene->nodes[number];
    scene_column_t *column = &scene->groups[node->group].columns[column_number];
    bool parent = (column->field->flags & BP_FIELD_PARENT) != 0;
    bp_value_t bytes = {.i64 = 0};
    if (parent && refers(cell) && node->parent != BP_NONE)
        return scene_fail(scene, BP_ERROR_ARGUMENT, place,
                          "the entity stands among the children of another, which is its parent; remove '%s', or move "
                          "the entity",
                          column->field->name);
    bp_result_t result = scene_column_append(scene, column, &bytes, node->total);
    if (result != BP_OK || !(refers(cell) || (parent && node->parent != BP_NONE)))
        return result;
    if (!memory_reserve(&scene->memory, &scene->refs, &scene->ref_capacity, (uint64_t)scene->ref_count + 1,
                        sizeof *scene->refs))
        return scene_no_memory(scene);
    scene->refs[scene->ref_count++] = (scene_ref_t){
        .node = number,
        .column = column_number,
        .template = cell->template,
        .text = cell->kind == CELL_VALUE && refers(cell) ? cell->value.string : NULL,
        .list = cell->kind == CELL_LIST ? cell->list : NULL,
    };
    scene->has_set_parents = scene->has_set_parents || (parent && refers(cell));
    return BP_OK;
}

/* Append lists of entities, which are kept as texts until all names are known. */
static bp_result_t append_bundles(scene_t *scene, uint32_t number, uint32_t column_number, const scene_cell_t *cell)
{
    const scene_node_t *node = &scene->nodes[number];
    scene_column_t *column = &scene->groups[node->group].columns[column_number];
    bp_value_t bytes;
    scene_cell_bytes(scene, column->field, cell, &bytes);
    bp_result_t result = cell->kind == CELL_LIST ? append_list(scene, node, column, cell)
                                                 : scene_column_append(scene, column, &bytes, node->total);
    if (result != BP_OK || column->field->type != BP_ENTITY || (cell->kind != CELL_LIST && cell->kind != CELL_VALUE))
        return result;
    if (!memory_reserve(&scene->memory, &scene->refs, &scene->ref_capacity, (uint64_t)scene->ref_count + 1,
                        sizeof *scene->refs))
        return scene_no_memory(scene);
    scene->refs[scene->ref_count++] =
        (scene_ref_t){.node = number, .column = column_number, .template = cell->template, .bundles = true};
    return BP_OK;
}

static bp_result_t append_cell(scene_t *scene, uint32_t number, uint32_t column_number, const scene_place_t *place,
                               const scene_cell_t *cell)
{
    const scene_node_t *node = &scene->nodes[number];
    scene_column_t *column = &scene->groups[node->group].columns[column_number];
    const field_t *field = column->field;
    bp_value_t bytes;
    column->said = column->said || cell->kind != CELL_UNSET;
    if (!field_is_single(field))
        return append_bundles(scene, number, column_number, cell);
    if (field->type == BP_ENTITY)
        return append_ref(scene, number, column_number, place, cell);
    if (cell->kind == CELL_LIST)
        return append_list(scene, node, column, cell);
    if (cell->kind == CELL_UNSET && (field->flags & BP_FIELD_LABEL) != 0 && field->type == BP_STRING &&
        (node->name != NULL || node->of != BP_NONE))
        return append_labels(scene, number, column);
    scene_cell_bytes(scene, field, cell, &bytes);
    return scene_column_append(scene, column, &bytes, node->total);
}

/* --- a node ------------------------------------------------------------------------------------------------------- */

static bp_result_t append_part(scene_t *scene, uint32_t number, uint32_t part_number)
{
    const scene_group_t *group = &scene->groups[scene->nodes[number].group];
    const scene_part_t *part = &scene->draft.parts[part_number];
    const json_type_t *type = &scene->types.items[part->type];
    uint32_t column = group->parts[part_number].cells;
    scene_place_t place = scene_place_node(number, "components");
    place.component = part->name;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < type->component->field_count && result == BP_OK; i++) {
        place.property = type->component->fields[i].name;
        result = append_cell(scene, number, column + i, &place, &scene->draft.cells[part->cells + i]);
    }
    return result;
}

static bp_result_t find_group(scene_t *scene, uint32_t number, uint32_t template)
{
    const scene_place_t place = scene_place_node(number, "components");
    scene_template_t *p = template == BP_NONE ? NULL : &scene->templates[template];
    bool known = p != NULL && !scene->draft.changed;
    uint32_t *group = &scene->nodes[number].group;
    *group = known ? p->group : BP_NONE;
    if (*group != BP_NONE)
        return BP_OK;
    if (!known)
        scene_draft_sort(&scene->draft);
    bp_result_t result = scene_find_group(scene, &place, &scene->draft, group);
    if (result == BP_OK && known)
        p->group = *group;
    return result;
}

static bp_result_t fill_node(scene_t *scene, uint32_t number, uint32_t template, bool counted)
{
    static const scene_draft_t nothing = {.part_count = 0};
    scene_node_t *node = &scene->nodes[number];
    const scene_place_t place = scene_place_node(number, "components");
    bp_result_t result =
        scene_draft_copy(scene, &scene->draft, template == BP_NONE ? &nothing : &scene->templates[template].draft);
    if (result == BP_OK)
        result = scene_draft_describe(scene, &scene->draft, &place,
                                      node->world ? node->object : tree_member(node->object, "components"), counted);
    if (result == BP_OK)
        result = find_group(scene, number, template);
    if (result != BP_OK)
        return result;
    scene_group_t *group = &scene->groups[node->group];
    node->row = group->rows;
    for (uint32_t i = 0; i < group->part_count && result == BP_OK; i++)
        result = append_part(scene, number, i);
    group->rows += node->total;
    return result;
}

/* Read the count and the name of the entities; or the node of another world that they are ("entity"). */
static bp_result_t read_who(scene_t *scene, uint32_t number, bool *counted)
{
    const tree_item_t *object = scene->nodes[number].object;
    bp_result_t result;
    if (scene->worlds != NULL && tree_member(object, "entity") != NULL) {
        result = scene_read_of(scene, number);
        if (result == BP_OK)
            result = scene_count_of(scene, number);
        if (result == BP_OK)
            add_up(scene, &scene->nodes[number]);
        *counted = scene->nodes[number].total > 1;
        return result;
    }
    result = read_count(scene, number, counted);
    return result == BP_OK ? read_entity_name(scene, number) : result;
}

static bp_result_t read_node(scene_t *scene, uint32_t number)
{
    const scene_place_t place = scene_place_node(number, NULL), below = scene_place_node(number, "children");
    const tree_item_t *object = scene->nodes[number].object;
    uint32_t template;
    bool counted;
    if (!tree_is(object, TREE_OBJECT))
        return scene_fail(scene, BP_ERROR_TYPE, &place, "an entity is an object, {\"components\": {...}}, not %s",
                          json_value_kind(object));
    bool here = scene->nodes[number].in == scene->world;
    bp_result_t result = scene_check_members(scene, &place, object,
                                             scene->worlds == NULL ? entity_members : worlds_members, "an entity");
    if (result == BP_OK)
        result = read_who(scene, number, &counted);
    if (result == BP_OK)
        result = scene_find_template(scene, &place, object, &template);
    if (result == BP_OK && here)
        result = fill_node(scene, number, template, counted);
    const tree_item_t *children = tree_member(object, "children");
    if (result != BP_OK || children == NULL)
        return result;
    scene->has_parents = scene->has_parents || (here && tree_count(children) > 0);
    return list_nodes(scene, &below, number, children, scene->nodes[number].in);
}

bp_result_t scene_read_list(scene_t *scene, const scene_place_t *place, const tree_item_t *list, uint32_t world)
{
    uint32_t first = scene->node_count;
    bp_result_t result = list_nodes(scene, place, BP_NONE, list, world);
    for (uint32_t i = first; i < scene->node_count && result == BP_OK; i++)
        result = read_node(scene, i);
    return result;
}

bp_result_t scene_read_entities(scene_t *scene)
{
    const scene_place_t place = {BP_NONE, BP_NONE, "entities", NULL, NULL, SIZE_MAX};
    const tree_item_t *entities = tree_member(scene->text.tree.items, "entities");
    if (scene->worlds != NULL)
        return scene_read_worlds(scene);
    return entities == NULL ? BP_OK : scene_read_list(scene, &place, entities, 0);
}

/* Has an object no member but remarks? */
static bool says_nothing(const tree_item_t *object)
{
    bool nothing = true;
    for (tree_walk_t walk = tree_walk(object); nothing && tree_next(&walk);)
        nothing = scene_ignores(walk.key->string);
    return nothing;
}

/* Read the components of the world itself, as the last entity: `"world": {"wind": {"force": [1, 0]}}`. */
bp_result_t scene_read_world(scene_t *scene, const scene_place_t *place, const tree_item_t *components, uint32_t in)
{
    if (components == NULL)
        return BP_OK;
    if (!tree_is(components, TREE_OBJECT))
        return scene_fail(scene, BP_ERROR_TYPE, place, "'world' takes an object, {\"component\": {...}}, not %s",
                          json_value_kind(components));
    if (says_nothing(components))
        return BP_OK;
    if (scene->all_count >= SCENE_MAX_ENTITIES ||
        !memory_reserve(&scene->memory, &scene->nodes, &scene->node_capacity, scene->node_count + UINT64_C(1),
                        sizeof *scene->nodes))
        return scene_no_memory(scene);
    scene->nodes[scene->node_count++] = (scene_node_t){
        .object = components, .parent = BP_NONE, .count = 1, .total = 1, .counted = BP_NONE, .world = true,
        .group = BP_NONE, .in = in, .of = BP_NONE, .here = BP_NONE};
    add_up(scene, &scene->nodes[scene->node_count - 1]);
    return in == scene->world ? fill_node(scene, scene->node_count - 1, BP_NONE, false) : BP_OK;
}

/* --- templates -------------------------------------------------------------------------------------------------- */

/* Templates: each resolved once, after the one that it extends.
 *
 * Chains are followed with a mark on every template that waits for its base: a chain that meets a mark is a cycle. The
 * waiting templates are a list through `extends` read backwards, so a chain may be as long as the scene and nothing
 * recurs.
 */

enum { UNTOUCHED, WAITING, RESOLVED };

static const char *const template_members[] = {"extends", "components", NULL};

bp_result_t scene_find_template(scene_t *scene, const scene_place_t *place, const tree_item_t *object,
                                uint32_t *template)
{
    const char *name;
    *template = BP_NONE;
    bp_result_t result = scene_read_name(scene, place, object, "extends", &name);
    if (result != BP_OK || name == NULL)
        return result;
    const scene_name_t *found = scene_names_find(&scene->template_names, name);
    if (found != NULL) {
        *template = found->number;
        return BP_OK;
    }
    nearest_t nearest = {.wanted = name};
    text_t hint;
    for (uint32_t i = 0; i < scene->template_count; i++)
        nearest_consider(&nearest, scene->templates[i].name);
    scene_place_t at = *place;
    at.member = "extends";
    return scene_fail(scene, BP_ERROR_NOT_FOUND, &at, "the scene has no prototype '%.80s'%s", name,
                      nearest_hint(&nearest, &hint));
}

static bp_result_t list_template(scene_t *scene, const char *name, const tree_item_t *object)
{
    uint32_t number = scene->template_count;
    const scene_place_t place = scene_place_template(number, NULL);
    if (!memory_reserve(&scene->memory, &scene->templates, &scene->template_capacity, (uint64_t)number + 1,
                        sizeof *scene->templates))
        return scene_no_memory(scene);
    scene->templates[number] = (scene_template_t){.name = name, .object = object, .extends = BP_NONE, .group = BP_NONE};
    scene->template_count++;
    if (name[0] == '\0' || strlen(name) > SCENE_MAX_NAME)
        return scene_fail(scene, BP_ERROR_LIMIT, &place, "a prototype's name has 1 to %d bytes", SCENE_MAX_NAME);
    if (!tree_is(object, TREE_OBJECT))
        return scene_fail(scene, BP_ERROR_TYPE, &place, "a prototype is an object, not %s", json_value_kind(object));
    bp_result_t result = scene_names_add(scene, &scene->template_names, name, number);
    return result == BP_OK ? scene_check_members(scene, &place, object, template_members, "a prototype") : result;
}

static bp_result_t list_all(scene_t *scene, const tree_item_t *templates)
{
    const scene_place_t place = {BP_NONE, BP_NONE, "prototypes", NULL, NULL, SIZE_MAX};
    bp_result_t result = BP_OK;
    if (!tree_is(templates, TREE_OBJECT))
        return scene_fail(scene, BP_ERROR_TYPE, &place, "'prototypes' takes an object, {\"name\": {...}}, not %s",
                          json_value_kind(templates));
    for (tree_walk_t walk = tree_walk(templates); result == BP_OK && tree_next(&walk);)
        result = scene_ignores(walk.key->string) ? BP_OK : list_template(scene, walk.key->string, walk.value);
    for (uint32_t i = 0; i < scene->template_count && result == BP_OK; i++) {
        const scene_place_t at = scene_place_template(i, NULL);
        result = scene_find_template(scene, &at, scene->templates[i].object, &scene->templates[i].extends);
    }
    return result;
}

static bp_result_t cycle(scene_t *scene, uint32_t number)
{
    const scene_place_t place = scene_place_template(number, "extends");
    text_t circle = {.length = 0};
    uint32_t at = number, shown = 0;
    do {
        text_append(&circle, "%.60s -> ", scene->templates[at].name);
        at = scene->templates[at].extends;
    } while (at != number && ++shown < 6);
    return scene_fail(scene, BP_ERROR_ARGUMENT, &place, "prototypes extend each other in a circle: %s%s%.60s",
                      circle.chars, at != number ? "... -> " : "", scene->templates[number].name);
}

static bp_result_t resolve_one(scene_t *scene, uint32_t number)
{
    scene_template_t *p = &scene->templates[number];
    const scene_place_t place = scene_place_template(number, "components");
    bp_result_t result = BP_OK;
    if (p->extends != BP_NONE)
        result = scene_draft_copy(scene, &p->draft, &scene->templates[p->extends].draft);
    if (result == BP_OK)
        result = scene_draft_describe(scene, &p->draft, &place, tree_member(p->object, "components"), false);
    scene_draft_sort(&p->draft);
    p->draft.changed = false;
    p->state = RESOLVED;
    return result;
}

/* Resolve a template after those that it extends. `waiting` has room for all templates. */
static bp_result_t resolve(scene_t *scene, uint32_t number, uint32_t *waiting)
{
    uint32_t count = 0;
    bp_result_t result = BP_OK;
    for (uint32_t at = number; at != BP_NONE && scene->templates[at].state != RESOLVED;
         at = scene->templates[at].extends) {
        if (scene->templates[at].state == WAITING)
            return cycle(scene, at);
        scene->templates[at].state = WAITING;
        waiting[count++] = at;
    }
    while (count > 0 && result == BP_OK)
        result = resolve_one(scene, waiting[--count]);
    return result;
}

bp_result_t scene_read_templates(scene_t *scene)
{
    const tree_item_t *templates = tree_member(scene->text.tree.items, "prototypes");
    bp_result_t result = templates == NULL ? BP_OK : list_all(scene, templates);
    if (result != BP_OK || scene->template_count == 0)
        return result;
    size_t bytes = scene->template_count * sizeof(uint32_t);
    uint32_t *waiting = memory_resize(&scene->memory, NULL, 0, bytes);
    if (waiting == NULL)
        return scene_no_memory(scene);
    for (uint32_t i = 0; i < scene->template_count && result == BP_OK; i++)
        result = resolve(scene, i, waiting);
    memory_free(&scene->memory, waiting, bytes);
    return result;
}
