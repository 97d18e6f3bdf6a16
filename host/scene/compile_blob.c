/* compile_blob.c - groups and their columns, as a blob.
 *
 * A component of the blob holds the instances of one type from several groups, and for each field one value for all, or
 * a column. Small groups share a component; a large one has its own, so that a value that is the same for a million
 * entities is not written a million times because entities of another group differ.
 *
 * A field that the scene leaves alone in all of a component's instances is left out: at spawning such a field takes the
 * default of the plugin's version of that time. A field that names the parent is left out too, where it only repeats
 * the parents of the blob.
 */
#include "blob_write.h"
#include "compile_inner.h"

enum { OWN_COMPONENT_ROWS = 4096 };

/* A component of a group. */
typedef struct pair_t {
    uint32_t group, part;
} pair_t;

/* A component of the blob: some pairs of one type. */
typedef struct plan_t {
    uint32_t type;
    uint32_t first_pair, pair_count;
    uint32_t first_field; /* in `fields` */
} plan_t;

typedef struct writing_t {
    scene_t *scene;
    blob_writer_t writer;
    pair_t *pairs;          /* by type, then by group */
    plan_t *plans;
    uint32_t *components;   /* of each pair's part, by group and part */
    uint32_t *first_parts;  /* of each group, in `components` and `parts` */
    blob_component_desc_t *descs;
    blob_field_desc_t *fields;
    uint32_t *field_numbers; /* of `fields`, in their type */
    blob_group_desc_t *groups;
    blob_part_desc_t *parts;
    uint32_t *parents;      /* number + 1 of each entity's parent; NULL where no entity has a parent */
    uint32_t *starts;       /* of each type among the pairs */
    uint32_t pair_count, plan_count, field_count;
} writing_t;

/* --- parents ------------------------------------------------------------------------------------------------------ */

static void parents_of_children(const scene_t *scene, uint32_t *parents)
{
    for (uint32_t i = 0; i < scene->node_count; i++) {
        const scene_node_t *node = &scene->nodes[i];
        if (node->parent == BP_NONE || node->in != scene->world)
            continue;
        const scene_node_t *above = &scene->nodes[node->parent];
        uint32_t first = scene->groups[node->group].first + node->row,
                 parent = scene->groups[above->group].first + above->row;
        for (uint32_t row = 0; row < node->total; row++)
            parents[first + row] = parent + row / node->count + 1;
    }
}

static bool says_parent(const scene_column_t *column)
{
    return column->field != NULL && column->field->type == BP_ENTITY && (column->field->flags & BP_FIELD_PARENT) != 0;
}

/* Find the parents of entities that stand in no list of children: the entity that a property of theirs names as parent,
 * where one does. */
static void parents_of_properties(const scene_t *scene, uint32_t *parents)
{
    for (uint32_t g = 0; g < scene->group_count; g++) {
        const scene_group_t *group = &scene->groups[g];
        for (uint32_t c = 0; c < group->column_count; c++) {
            const scene_column_t *column = &group->columns[c];
            const uint32_t *cells = (const uint32_t *)(const void *)column->cells;
            for (uint32_t row = 0; says_parent(column) && column->varied && row < group->rows; row++) {
                if (parents[group->first + row] == 0)
                    parents[group->first + row] = cells[row];
            }
        }
    }
}

static uint32_t node_of(const scene_t *scene, uint32_t entity)
{
    for (uint32_t i = 0; i < scene->node_count; i++) {
        const scene_node_t *node = &scene->nodes[i];
        if (node->group == BP_NONE)
            continue;
        uint32_t first = scene->groups[node->group].first + node->row;
        if (entity >= first && entity - first < node->total)
            return i;
    }
    return BP_NONE;
}

/* Set the error about a circle of parents. The sentence names two entities of the circle, of which each is above the
 * other, where these entities have names. */
static bp_result_t refuse_circle(scene_t *scene, uint32_t entity, uint32_t parent)
{
    uint32_t child_node = node_of(scene, entity), parent_node = node_of(scene, parent);
    const scene_place_t place = scene_place_node(child_node, "components");
    const char *name = scene->nodes[child_node].name, *above = scene->nodes[parent_node].name;
    if (entity == parent)
        return scene_fail(scene, BP_ERROR_ARGUMENT, &place, "the entity is its own parent");
    if (name == NULL || above == NULL)
        return scene_fail(scene, BP_ERROR_ARGUMENT, &place, "the entity is among its own parents");
    return scene_fail(scene, BP_ERROR_ARGUMENT, &place,
                      "'%.60s' is among its own parents: it is a child of '%.60s', which is below it", name, above);
}

/* Check that no entity is its own ancestor: from each entity follow the parents up to an entity whose line is known to
 * end. */
static bp_result_t check_lines(scene_t *scene, const uint32_t *parents, uint32_t count)
{
    bp_result_t result = BP_OK;
    /* for each entity the number + 1 of the entity from which it was reached first */
    uint32_t *seen =
        !scene_could_hold(scene, count, sizeof *seen) ? NULL : memory_new(&scene->memory, (size_t)count * sizeof *seen);
    if (seen == NULL)
        return scene_no_memory(scene);
    for (uint32_t i = 0; i < count && result == BP_OK; i++) {
        uint32_t at = i + 1;
        for (; at != 0 && seen[at - 1] == 0; at = parents[at - 1])
            seen[at - 1] = i + 1;
        if (at == 0 || seen[at - 1] != i + 1)
            continue;
        result = refuse_circle(scene, at - 1, parents[at - 1] - 1);
    }
    memory_free(&scene->memory, seen, (size_t)count * sizeof *seen);
    return result;
}

static bp_result_t find_parents(writing_t *w)
{
    scene_t *scene = w->scene;
    uint32_t count = (uint32_t)scene->entity_count;
    if (count == 0 || !(scene->has_parents || scene->has_set_parents))
        return BP_OK;
    if (scene_could_hold(scene, count, 2 * sizeof *w->parents)) /* room for the parents in this table and in the blob */
        w->parents = memory_new(&scene->memory, (size_t)count * sizeof *w->parents);
    if (w->parents == NULL)
        return scene_no_memory(scene);
    parents_of_children(scene, w->parents);
    if (!scene->has_set_parents)
        return BP_OK;
    parents_of_properties(scene, w->parents);
    return check_lines(scene, w->parents, count);
}

/* Does a column say the same as the blob's parents? */
static bool repeats_parents(const writing_t *w, const scene_group_t *group, const scene_column_t *column)
{
    if (!says_parent(column))
        return false;
    if (!w->scene->has_set_parents)
        return true;
    const uint32_t *cells = (const uint32_t *)(const void *)column->cells;
    for (uint32_t row = 0; row < group->rows; row++) {
        uint32_t parent = w->parents[group->first + row];
        if (parent != (column->varied ? cells[row] : column->first.u32))
            return false;
    }
    return true;
}

/* --- the plan ----------------------------------------------------------------------------------------------------- */

static scene_column_t *column_of(const writing_t *w, const pair_t *pair, uint32_t field)
{
    const scene_group_t *group = &w->scene->groups[pair->group];
    return &group->columns[group->parts[pair->part].cells + field];
}

/* All pairs, those of one type together: by counting. */
static void list_pairs(writing_t *w)
{
    const scene_t *scene = w->scene;
    uint32_t *starts = w->starts;
    for (uint32_t g = 0; g < scene->group_count; g++) {
        for (uint32_t p = 0; p < scene->groups[g].part_count; p++)
            starts[scene->groups[g].parts[p].type + 1]++;
    }
    for (uint32_t t = 0; t < scene->types.count; t++)
        starts[t + 1] += starts[t];
    for (uint32_t g = 0; g < scene->group_count; g++) {
        for (uint32_t p = 0; p < scene->groups[g].part_count; p++)
            w->pairs[starts[scene->groups[g].parts[p].type]++] = (pair_t){g, p};
    }
}

static uint32_t type_of(const writing_t *w, uint32_t pair)
{
    return w->scene->groups[w->pairs[pair].group].parts[w->pairs[pair].part].type;
}

static bool is_large(const writing_t *w, uint32_t pair)
{
    return w->scene->groups[w->pairs[pair].group].rows >= OWN_COMPONENT_ROWS;
}

static void list_plans(writing_t *w)
{
    for (uint32_t i = 0; i < w->pair_count; i++) {
        plan_t *last = w->plan_count > 0 ? &w->plans[w->plan_count - 1] : NULL;
        bool joins = last != NULL && last->type == type_of(w, i) && !is_large(w, i) && !is_large(w, i - 1);
        if (!joins)
            w->plans[w->plan_count++] = (plan_t){.type = type_of(w, i), .first_pair = i};
        w->plans[w->plan_count - 1].pair_count++;
        w->components[w->first_parts[w->pairs[i].group] + w->pairs[i].part] = w->plan_count - 1;
    }
}

enum { LEFT_OUT = 2 };

/* How a field is written: BLOB_COLUMN, BLOB_ONE or not at all. */
static uint32_t kind_of(const writing_t *w, const plan_t *plan, uint32_t field)
{
    const scene_column_t *first = column_of(w, &w->pairs[plan->first_pair], field);
    bool said = false, same = true, repeats = true;
    for (uint32_t i = 0; i < plan->pair_count; i++) {
        const pair_t *pair = &w->pairs[plan->first_pair + i];
        const scene_column_t *column = column_of(w, pair, field);
        said = said || column->said || column->varied;
        same = same && !column->varied && memcmp(&column->first, &first->first, first->size) == 0;
        repeats = repeats && repeats_parents(w, &w->scene->groups[pair->group], column);
    }
    if (!said || repeats)
        return LEFT_OUT;
    return same ? BLOB_ONE : BLOB_COLUMN;
}

static uint32_t bundle_at(const scene_column_t *column, uint32_t row)
{
    uint32_t number = column->first.u32;
    if (column->varied)
        memcpy(&number, column->cells + (size_t)row * sizeof number, sizeof number);
    return number;
}

/* Values of all lists that a field has in the blob. */
static uint64_t count_items(const writing_t *w, const plan_t *plan, uint32_t field, uint32_t kind)
{
    uint64_t items = 0;
    for (uint32_t i = 0; i < plan->pair_count; i++) {
        const scene_column_t *column = column_of(w, &w->pairs[plan->first_pair + i], field);
        for (uint32_t row = 0; row < column->rows && field_is_list(column->field); row++) {
            uint32_t number = bundle_at(column, row), count = 0;
            if (number != 0)
                scene_bundle_items(w->scene, number, &count);
            items += count;
            if (kind == BLOB_ONE)
                return items;
        }
    }
    return items;
}

static void plan_fields(writing_t *w, plan_t *plan, blob_component_desc_t *desc)
{
    const component_t *component = w->scene->types.items[plan->type].component;
    plan->first_field = w->field_count;
    for (uint32_t f = 0; f < component->field_count; f++) {
        uint32_t kind = kind_of(w, plan, f);
        if (kind == LEFT_OUT)
            continue;
        w->fields[w->field_count] = blob_field_described(&component->fields[f], kind);
        w->fields[w->field_count].items = count_items(w, plan, f, kind);
        w->field_numbers[w->field_count++] = f;
        desc->field_count++;
    }
    desc->fields = w->fields + plan->first_field;
}

static void plan_components(writing_t *w)
{
    for (uint32_t i = 0; i < w->plan_count; i++) {
        const json_type_t *type = &w->scene->types.items[w->plans[i].type];
        w->descs[i] = (blob_component_desc_t){
            .type = type->component->name,
            .version = type->component->table.version,
            .flags = (type->component->table.flags & BP_COMPONENT_WORLD) != 0 ? BLOB_WORLD : 0u};
        plan_fields(w, &w->plans[i], &w->descs[i]);
    }
}

static void plan_groups(writing_t *w)
{
    for (uint32_t g = 0; g < w->scene->group_count; g++) {
        const scene_group_t *group = &w->scene->groups[g];
        blob_part_desc_t *parts = w->parts + w->first_parts[g];
        for (uint32_t p = 0; p < group->part_count; p++)
            parts[p] =
                (blob_part_desc_t){.component = w->components[w->first_parts[g] + p], .text = group->parts[p].name};
        w->groups[g] = (blob_group_desc_t){.parts = parts, .part_count = group->part_count, .rows = group->rows};
    }
}

/* --- values ------------------------------------------------------------------------------------------------------- */

/* The cells of a column, texts put into the blob's table, to where the blob has them; one for all where `rows` is 1. */
static bp_result_t write_cells(writing_t *w, const scene_column_t *column, void *to, uint32_t rows)
{
    error_text_t *error = w->scene->error;
    uint32_t type = column->field->type, size = blob_value_size(type);
    bool one = !column->varied;
    const void *cells = one ? (const void *)&column->first : column->cells;
    const char *const *texts = cells;
    bp_result_t result = BP_OK;
    if (type == BP_STRING)
        result = blob_strings(&w->writer, texts, one ? 1 : rows, to, error);
    else if (type == BP_NAME)
        for (uint32_t i = 0; i < (one ? 1 : rows) && result == BP_OK; i++)
            result = blob_name(&w->writer, texts[i], (bp_name_t *)to + i, error);
    else
        memcpy(to, cells, (size_t)size * (one ? 1 : rows));
    for (uint32_t i = 1; one && i < rows; i++)
        memcpy((char *)to + (size_t)i * size, to, size);
    return result;
}

static bp_result_t write_items(writing_t *w, const field_t *field, const char *items, uint32_t count, char *to)
{
    error_text_t *error = w->scene->error;
    const char *const *texts = (const char *const *)(const void *)items;
    bp_result_t result = BP_OK;
    if (field->type == BP_STRING)
        return blob_strings(&w->writer, texts, count, (uint32_t *)(void *)to, error);
    for (uint32_t i = 0; field->type == BP_NAME && i < count && result == BP_OK; i++)
        result = blob_name(&w->writer, texts[i], (bp_name_t *)(void *)to + i, error);
    if (field->type != BP_NAME && count > 0)
        memcpy(to, items, (size_t)count * blob_value_size(field->type));
    return result;
}

/* Write a field's default, element by element. References to entities begin as none. */
static bp_result_t write_default(writing_t *w, const field_t *field, char *to)
{
    error_text_t *error = w->scene->error;
    uint32_t size = blob_value_size(field->type);
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; field->type != BP_ENTITY && i < field->elements && result == BP_OK; i++, to += size) {
        bp_value_t value;
        memcpy(&value, field_initial(field, i), field_item_size(field));
        if (field->type == BP_STRING)
            result = blob_string(&w->writer, value.string, (uint32_t *)(void *)to, error);
        else if (field->type == BP_NAME)
            result =
                blob_name(&w->writer, names_text(&w->scene->base->names, value.name), (bp_name_t *)(void *)to, error);
        else
            memcpy(to, &value, size);
    }
    return result;
}

/* One cell of an array or a list; `at` counts the values of lists. */
static bp_result_t write_bundle(writing_t *w, const field_t *field, uint32_t number, char *to, uint64_t *at)
{
    uint32_t count = 0, size = blob_value_size(field->type);
    const char *items = number == 0 ? NULL : scene_bundle_items(w->scene, number, &count);
    if (!field_is_list(field))
        return number == 0 ? write_default(w, field, to) : write_items(w, field, items, count, to);
    bp_result_t result = write_items(w, field, items, count, to + *at * size);
    *at += count;
    return result;
}

static bp_result_t write_bundles(writing_t *w, uint32_t component, uint32_t field, const field_t *type, bool one)
{
    const plan_t *plan = &w->plans[component];
    uint32_t number = w->field_numbers[plan->first_field + field];
    char *values = blob_column(&w->writer, component, field);
    uint64_t *starts = field_is_list(type) ? (uint64_t *)(void *)values : NULL, at = 0;
    char *items = starts != NULL ? blob_column_items(&w->writer, component, field) : NULL;
    size_t cell = starts != NULL ? 0 : (size_t)blob_value_size(type->type) * type->elements;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < (one ? 1 : plan->pair_count) && result == BP_OK; i++) {
        const pair_t *pair = &w->pairs[plan->first_pair + i];
        const scene_column_t *column = column_of(w, pair, number);
        size_t first = one ? 0 : blob_first(&w->writer, pair->group, pair->part);
        for (uint32_t row = 0; row < (one ? 1 : column->rows) && result == BP_OK; row++) {
            result = write_bundle(w, type, bundle_at(column, row),
                                  starts != NULL ? items : values + (first + row) * cell, &at);
            if (starts != NULL)
                starts[first + row + 1] = at;
        }
    }
    return result;
}

static bp_result_t write_field(writing_t *w, uint32_t component, uint32_t field)
{
    const plan_t *plan = &w->plans[component];
    uint32_t number = w->field_numbers[plan->first_field + field];
    bool one = w->fields[plan->first_field + field].kind == BLOB_ONE;
    const field_t *type = column_of(w, &w->pairs[plan->first_pair], number)->field;
    if (!field_is_single(type))
        return write_bundles(w, component, field, type, one);
    char *values = blob_column(&w->writer, component, field);
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < (one ? 1 : plan->pair_count) && result == BP_OK; i++) {
        const pair_t *pair = &w->pairs[plan->first_pair + i];
        const scene_column_t *column = column_of(w, pair, number);
        size_t first = one ? 0 : blob_first(&w->writer, pair->group, pair->part);
        result = write_cells(w, column, values + first * blob_value_size(column->field->type), one ? 1 : column->rows);
    }
    return result;
}

static bp_result_t write_values(writing_t *w)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < w->plan_count && result == BP_OK; i++) {
        for (uint32_t f = 0; f < w->descs[i].field_count && result == BP_OK; f++)
            result = write_field(w, i, f);
    }
    if (w->parents != NULL && result == BP_OK)
        memcpy(blob_parents(&w->writer), w->parents, (size_t)w->scene->entity_count * sizeof *w->parents);
    return result;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

/* The next part of a block; NULL while the block is only measured. */
static void *carve(char *block, size_t *used, uint64_t count, size_t size)
{
    void *part = block == NULL ? NULL : block + *used;
    *used += (size_t)blob_align(count * size, 16);
    return part;
}

/* Everything that a plan needs, in one block, since all sizes are known before. Returns how large it is; lays it out
 * where there is a block. */
static size_t lay_out(writing_t *w, char *block)
{
    const scene_t *scene = w->scene;
    uint32_t fields = 0;
    size_t used = 0;
    w->pair_count = 0;
    for (uint32_t g = 0; g < scene->group_count; g++) {
        w->pair_count += scene->groups[g].part_count;
        fields += scene->groups[g].column_count;
    }
    w->pairs = carve(block, &used, w->pair_count, sizeof *w->pairs);
    w->plans = carve(block, &used, w->pair_count, sizeof *w->plans);
    w->components = carve(block, &used, w->pair_count, sizeof *w->components);
    w->first_parts = carve(block, &used, scene->group_count, sizeof *w->first_parts);
    w->descs = carve(block, &used, w->pair_count, sizeof *w->descs);
    w->fields = carve(block, &used, fields, sizeof *w->fields);
    w->field_numbers = carve(block, &used, fields, sizeof *w->field_numbers);
    w->groups = carve(block, &used, scene->group_count, sizeof *w->groups);
    w->parts = carve(block, &used, w->pair_count, sizeof *w->parts);
    w->starts = carve(block, &used, (uint64_t)scene->types.count + 2, sizeof *w->starts);
    return used;
}

static void plan(writing_t *w)
{
    for (uint32_t g = 0, first = 0; g < w->scene->group_count; g++) {
        w->first_parts[g] = first;
        first += w->scene->groups[g].part_count;
    }
    list_pairs(w);
    list_plans(w);
    plan_components(w);
    plan_groups(w);
}

static bp_result_t write_all(writing_t *w, memory_t *memory, void **bytes, size_t *size)
{
    const blob_desc_t desc = {
        .components = w->descs,
        .groups = w->groups,
        .component_count = w->plan_count,
        .group_count = w->scene->group_count,
        .parents = w->parents != NULL,
    };
    bp_result_t result = blob_write_begin(&w->writer, memory, &desc, w->scene->error);
    if (result != BP_OK)
        return result;
    result = write_values(w);
    if (result == BP_OK)
        return blob_write_end(&w->writer, bytes, size, w->scene->error);
    blob_write_drop(&w->writer);
    return result;
}

bp_result_t scene_write_blob(scene_t *scene, memory_t *memory, void **bytes, size_t *size)
{
    writing_t w = {.scene = scene};
    size_t room = lay_out(&w, NULL);
    char *block = memory_new(&scene->memory, room);
    bp_result_t result = block == NULL ? scene_no_memory(scene) : find_parents(&w);
    if (result == BP_OK) {
        lay_out(&w, block);
        plan(&w);
        result = write_all(&w, memory, bytes, size);
        if (result != BP_OK)
            error_prefix(scene->error, result, "%s: ", scene->text.origin);
    }
    memory_free(&scene->memory, w.parents, (size_t)scene->entity_count * sizeof *w.parents);
    memory_free(&scene->memory, block, room);
    return result;
}
