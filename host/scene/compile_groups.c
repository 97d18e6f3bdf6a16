/* compile_groups.c - groups: entities with the same components, and the columns of their values.
 *
 * A column remembers one value for as long as all its rows have it: a million entities that differ in their place alone
 * take the memory of their places. With the first row that differs, the column spreads into cells.
 *
 * Groups are found by the hash of their parts; invariant: each set of parts has one group in the table, beside those
 * that scene_make_group makes without entering them.
 */
#include "compile_inner.h"

/* --- finding a group ---------------------------------------------------------------------------------------------- */

static uint64_t hash_parts(const scene_part_t *parts, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t mixed = hash ^ parts[i].hash ^ ((uint64_t)parts[i].type << 32);
        hash = bp_random_next(&mixed);
    }
    return hash;
}

static bool same_parts(const scene_group_t *group, const scene_part_t *parts, uint32_t count)
{
    bool same = group->part_count == count;
    for (uint32_t i = 0; i < count && same; i++)
        same = group->parts[i].type == parts[i].type && group->parts[i].hash == parts[i].hash &&
               strcmp(group->parts[i].name, parts[i].name) == 0;
    return same;
}

static uint32_t *bucket_of(const scene_t *scene, uint64_t hash, const scene_part_t *parts, uint32_t count)
{
    uint32_t i = (uint32_t)hash & (scene->group_bucket_count - 1);
    for (; scene->group_buckets[i] != 0; i = (i + 1) & (scene->group_bucket_count - 1)) {
        const scene_group_t *group = &scene->groups[scene->group_buckets[i] - 1];
        if (group->hash == hash && same_parts(group, parts, count))
            break;
    }
    return &scene->group_buckets[i];
}

static bool grow_buckets(scene_t *scene)
{
    uint32_t count = scene->group_bucket_count == 0 ? 64 : scene->group_bucket_count * 2;
    uint32_t *buckets = memory_new(&scene->memory, count * sizeof *buckets);
    if (buckets == NULL)
        return false;
    memory_free(&scene->memory, scene->group_buckets, scene->group_bucket_count * sizeof *buckets);
    scene->group_buckets = buckets;
    scene->group_bucket_count = count;
    for (uint32_t i = 0; i < scene->group_count; i++) {
        const scene_group_t *group = &scene->groups[i];
        *bucket_of(scene, group->hash, group->parts, group->part_count) = i + 1;
    }
    return true;
}

/* --- making one --------------------------------------------------------------------------------------------------- */

static uint32_t cell_size(const field_t *field)
{
    if (field->type == BP_ENTITY || !field_is_single(field))
        return sizeof(uint32_t);
    return field->type == BP_STRING || field->type == BP_NAME ? sizeof(const char *) : field->size;
}

static void name_columns(const scene_t *scene, scene_group_t *group)
{
    uint32_t column = 0;
    for (uint32_t i = 0; i < group->part_count; i++) {
        const json_type_t *type = &scene->types.items[group->parts[i].type];
        uint32_t count = type->component->field_count;
        group->parts[i].cells = column;
        for (uint32_t f = 0; f < count; f++, column++) {
            group->columns[column].field = &type->component->fields[f];
            group->columns[column].size = cell_size(group->columns[column].field);
        }
    }
}

bp_result_t scene_make_group(scene_t *scene, const scene_draft_t *draft, uint64_t hash)
{
    scene_group_t group = {.part_count = draft->part_count, .hash = hash};
    for (uint32_t i = 0; i < draft->part_count; i++)
        group.column_count += scene->types.items[draft->parts[i].type].component->field_count;
    if (!memory_reserve(&scene->memory, &scene->groups, &scene->group_capacity, (uint64_t)scene->group_count + 1,
                        sizeof *scene->groups))
        return scene_no_memory(scene);
    group.parts = memory_new(&scene->memory, (group.part_count + 1) * sizeof *group.parts);
    group.columns = memory_new(&scene->memory, (group.column_count + 1) * sizeof *group.columns);
    if (group.parts == NULL || group.columns == NULL) {
        memory_free(&scene->memory, group.parts, (group.part_count + 1) * sizeof *group.parts);
        memory_free(&scene->memory, group.columns, (group.column_count + 1) * sizeof *group.columns);
        return scene_no_memory(scene);
    }
    if (group.part_count > 0)
        memcpy(group.parts, draft->parts, group.part_count * sizeof *group.parts);
    name_columns(scene, &group);
    scene->groups[scene->group_count++] = group;
    return BP_OK;
}

static bp_result_t check_singles(scene_t *scene, const scene_place_t *place, const scene_draft_t *draft)
{
    for (uint32_t i = 1; i < draft->part_count; i++) {
        const component_t *component = scene->types.items[draft->parts[i].type].component;
        if (draft->parts[i].type != draft->parts[i - 1].type || (component->table.flags & BP_COMPONENT_SINGLE) == 0)
            continue;
        return scene_fail(scene, BP_ERROR_EXISTS, place,
                          "'%.60s' and '%.60s' are both a %s, of which an entity has one at most",
                          draft->parts[i - 1].name, draft->parts[i].name, component->name);
    }
    return BP_OK;
}

/* Are components of worlds only in the world's part of the scene, and components of entities only in entities? */
static bp_result_t check_owners(scene_t *scene, const scene_place_t *place, const scene_draft_t *draft)
{
    bool of_world = scene->nodes[place->node].world;
    for (uint32_t i = 0; i < draft->part_count; i++) {
        const component_t *component = scene->types.items[draft->parts[i].type].component;
        scene_place_t at = *place;
        at.component = draft->parts[i].name;
        if (((component->table.flags & BP_COMPONENT_WORLD) != 0) != of_world)
            return scene_fail(scene, BP_ERROR_ARGUMENT, &at,
                              of_world ? "component '%s' belongs to entities; give it to one of them"
                                       : "component '%s' belongs to the world itself; write it under \"world\", beside "
                                         "\"entities\"",
                              component->name);
        if (of_world && strcmp(draft->parts[i].name, component->name) != 0)
            return scene_fail(scene, BP_ERROR_ARGUMENT, &at,
                              "a world has '%s' once and under this name, not '%.60s'", component->name,
                              draft->parts[i].name);
    }
    return BP_OK;
}

bp_result_t scene_find_group(scene_t *scene, const scene_place_t *place, const scene_draft_t *sorted, uint32_t *number)
{
    uint64_t hash = hash_parts(sorted->parts, sorted->part_count);
    if (scene->group_count * 2 >= scene->group_bucket_count && !grow_buckets(scene))
        return scene_no_memory(scene);
    uint32_t *bucket = bucket_of(scene, hash, sorted->parts, sorted->part_count);
    if (*bucket != 0) {
        *number = *bucket - 1;
        return BP_OK;
    }
    bp_result_t result = check_singles(scene, place, sorted);
    if (result == BP_OK)
        result = check_owners(scene, place, sorted);
    if (result == BP_OK)
        result = scene_make_group(scene, sorted, hash);
    if (result != BP_OK)
        return result;
    *bucket = scene->group_count;
    *number = scene->group_count - 1;
    return BP_OK;
}

void scene_groups_free(scene_t *scene)
{
    for (uint32_t i = 0; i < scene->group_count; i++) {
        scene_group_t *group = &scene->groups[i];
        for (uint32_t c = 0; c < group->column_count; c++)
            memory_free(&scene->memory, group->columns[c].cells,
                        (size_t)group->columns[c].capacity * group->columns[c].size);
        memory_free(&scene->memory, group->parts, (group->part_count + 1) * sizeof *group->parts);
        memory_free(&scene->memory, group->columns, (group->column_count + 1) * sizeof *group->columns);
    }
    memory_free(&scene->memory, scene->groups, scene->group_capacity * sizeof *scene->groups);
    memory_free(&scene->memory, scene->group_buckets, scene->group_bucket_count * sizeof *scene->group_buckets);
}

/* --- columns ------------------------------------------------------------------------------------------------------ */

static void repeat(char *cells, uint32_t size, const void *cell, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++)
        memcpy(cells + (size_t)i * size, cell, size);
}

char *scene_column_spread(scene_t *scene, scene_column_t *column, uint32_t more)
{
    uint64_t rows = (uint64_t)column->rows + more;
    if (!scene_could_hold(scene, column->varied ? more : rows, column->size))
        return NULL;
    if (rows > column->capacity &&
        !memory_reserve(&scene->memory, &column->cells, &column->capacity, rows, column->size))
        return NULL;
    if (!column->varied)
        repeat(column->cells, column->size, &column->first, column->rows);
    column->varied = true;
    return column->cells;
}

bp_result_t scene_column_append(scene_t *scene, scene_column_t *column, const void *cell, uint32_t rows)
{
    if (column->rows == 0)
        memcpy(&column->first, cell, column->size);
    if (!column->varied && memcmp(&column->first, cell, column->size) == 0) {
        column->rows += rows;
        return BP_OK;
    }
    char *cells = scene_column_spread(scene, column, rows);
    if (cells == NULL)
        return scene_no_memory(scene);
    repeat(cells + (size_t)column->rows * column->size, column->size, cell, rows);
    column->rows += rows;
    return BP_OK;
}

void scene_cell_bytes(const scene_t *scene, const field_t *field, const scene_cell_t *cell, bp_value_t *bytes)
{
    bool said = cell->kind == CELL_VALUE;
    memset(bytes, 0, sizeof *bytes);
    if (!field_is_single(field)) {
        bytes->u32 = said ? cell->value.u32 : 0;
        return;
    }
    if (field->type == BP_ENTITY)
        return; /* the numbers of referenced entities are known later */
    if (field->type == BP_NAME)
        bytes->string = said ? cell->value.string : names_text(&scene->base->names, field->initial.name);
    else
        *bytes = said ? cell->value : field->initial;
}
