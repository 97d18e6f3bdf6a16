/* spawn_plan.c - matching the types and fields of a blob with those of a world's managers.
 *
 * All checks that change nothing in the world are made here, so that most scenes that cannot be spawned are refused
 * before the first entity exists. A blob was perhaps written by an older or newer version of a plugin: fields are
 * matched by the rules of base/field.h, as in a reload; for these a blob's field is one without limits and with the
 * default of its type.
 */
#include "spawn_plan.h"

#include "../base/convert.h"

#include <stdlib.h>

typedef struct order_t {
    int32_t spawn_order;
    uint32_t component;
} order_t;

static bp_result_t about(const spawn_plan_t *plan, bp_result_t result)
{
    return error_prefix(&plan->world->base->error, result, "%s: ", plan->origin);
}

static const char *type_name(const spawn_plan_t *plan, uint32_t c)
{
    return blob_text(plan->blob, plan->blob->components[c].type);
}

/* Leave a component or field out with one warning a component, where the caller wants that; else fail with the error.
 * Lack of memory is always an error. */
static bp_result_t skip(spawn_plan_t *plan, uint32_t c, bp_result_t result)
{
    const base_t *base = plan->world->base;
    if ((plan->flags & BP_SCENE_SKIP) == 0 || result == BP_ERROR_MEMORY)
        return about(plan, result);
    if (plan->components[c].warned || (plan->flags & SPAWN_QUIET) != 0)
        return BP_OK;
    plan->components[c].warned = true;
    log_write(&base->log, BP_LOG_WARNING, "host", "%s: %s is left out: %s", plan->origin, type_name(plan, c),
              base->error.text);
    return BP_OK;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

/* A blob's field in the form that the rules of conversion take. Names of values are its own. */
static bp_result_t old_field(const spawn_plan_t *plan, const blob_field_t *field, field_t *old)
{
    const blob_t *blob = plan->blob;
    uint32_t elements = field->more > 0 ? field->more + 1u : 0;
    *old = (field_t){
        .name = blob_text(blob, field->name),
        .type = field->type,
        .flags = blob_is_list(field) ? BP_FIELD_LIST : 0,
        .elements = elements,
        .size =
            blob_is_list(field) ? (uint32_t)sizeof(bp_list_t) : value_size(field->type) * (elements > 0 ? elements : 1),
        .former_name = "",
    };
    if (field->type == BP_QUAT)
        old->initial.quat.w = 1;
    for (int i = 0; field->type == BP_MAT4 && i < 16; i += 5)
        old->initial.mat4.m[i] = 1;
    if (field->values == 0)
        return BP_OK;
    error_text_t *error = &plan->world->base->error;
    bp_result_t result = named_init(&old->named, &plan->world->memory, field->type, blob_text(blob, field->values),
                                    (field->flags & BLOB_BITS) != 0, error);
    return result == BP_OK ? BP_OK : error_prefix(error, result, "field '%s': ", old->name);
}

static bool is_default(const spawn_plan_t *plan, const field_t *field, const void *value)
{
    uint32_t number;
    if (field->type != BP_STRING && field->type != BP_ENTITY)
        return memcmp(value, &field->initial, field->size) == 0;
    memcpy(&number, value, sizeof number);
    if (field->type == BP_ENTITY)
        return number == 0 && field->initial_is_zero;
    return strcmp(blob_text(plan->blob, number), field->initial_text) == 0;
}

/* The field of which each value of an array or a list would be a cell. */
static field_t field_of_values(const field_t *field)
{
    field_t one = *field;
    one.flags &= ~(uint32_t)BP_FIELD_LIST;
    one.elements = 0;
    one.size = value_size(field->type);
    one.initial_cell = NULL;
    return one;
}

/* All values of a source become those of the new field; cells stay what they are. */
static bp_result_t convert(spawn_plan_t *plan, const field_t *old, const field_t *field, source_t *source,
                           uint64_t items)
{
    enum { AT_ONCE = 1 << 20 };
    base_t *base = plan->world->base;
    uint32_t size = value_size(field->type), old_size = value_size(old->type);
    field_t one = field_of_values(old), other = field_of_values(field);
    source->converted_size = (size_t)items * size;
    source->converted = memory_resize(&plan->world->memory, NULL, 0, source->converted_size + 1);
    if (source->converted == NULL)
        return error_memory(&base->error, "converting a column");
    for (uint64_t i = 0; i < items; i += AT_ONCE) {
        const char *from = (const char *)source->values + i * old_size;
        uint32_t n = items - i < AT_ONCE ? (uint32_t)(items - i) : AT_ONCE;
        uint32_t fit = convert_column(&one, from, &other, (char *)source->converted + i * size, n, NULL);
        if (fit < n)
            return convert_refuse(&base->values, &one, &other, from + (size_t)fit * old_size, &base->error);
    }
    source->values = source->converted;
    return BP_OK;
}

/* A list that becomes an array may not be longer. */
static bp_result_t check_lengths(const spawn_plan_t *plan, const field_t *field, const source_t *source, uint32_t cells)
{
    uint32_t room = field->elements > 0 ? field->elements : 1;
    for (uint32_t i = 0; i < cells && source->starts != NULL && !field_is_list(field); i++) {
        uint64_t count = source->starts[i + 1] - source->starts[i];
        if (count > room)
            return error_set(&plan->world->base->error, BP_ERROR_RANGE,
                             "field '%s' holds a list of %u values, and the new one has room for %u", field->name,
                             (uint32_t)count, room);
    }
    return BP_OK;
}

/* The first text or entity of each cell, for a field of one value; none where a list is empty. */
static bp_result_t take_first(spawn_plan_t *plan, source_t *source, uint32_t cells)
{
    source->converted_size = cells * sizeof(uint32_t);
    source->converted = memory_new(&plan->world->memory, source->converted_size + 1);
    if (source->converted == NULL)
        return error_memory(&plan->world->base->error, "converting a column");
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t count;
        const char *items = source_items(source, i, sizeof(uint32_t), &count);
        memcpy((uint32_t *)source->converted + i, items, count > 0 ? sizeof(uint32_t) : 0);
    }
    source->values = source->converted;
    source->starts = NULL;
    source->each = 1;
    return BP_OK;
}

static void find_values(const spawn_plan_t *plan, const blob_field_t *from, uint32_t instances, source_t *source)
{
    source->kind = from->kind == BLOB_ONE ? SOURCE_ONE : SOURCE_COLUMN;
    source->each = from->more + 1u;
    source->values = blob_values(plan->blob, from);
    if (!blob_is_list(from))
        return;
    source->starts = blob_list_starts(plan->blob, from);
    source->values = blob_list_items(plan->blob, from, instances);
}

static bp_result_t plan_source(spawn_plan_t *plan, uint32_t c, const field_t *field, const blob_field_t *from,
                               const field_t *old, source_t *source)
{
    const plan_component_t *component = &plan->components[c];
    if (component->manager->component->own_storage && (field->flags & BP_FIELD_READ_ONLY) != 0)
        return BP_OK; /* derived */
    uint32_t instances = plan->blob->components[c].instance_count, cells = blob_cells(from, instances);
    find_values(plan, from, instances, source);
    uint64_t items = source->starts == NULL ? (uint64_t)cells * source->each : source->starts[cells];
    bp_result_t result = convert_changes_values(old, field) ? convert(plan, old, field, source, items) : BP_OK;
    if (result == BP_OK)
        result = check_lengths(plan, field, source, cells);
    bool alone = field_is_single(field) && (field->type == BP_STRING || field->type == BP_ENTITY);
    if (result == BP_OK && alone && (source->starts != NULL || source->each != 1))
        result = take_first(plan, source, cells);
    if (result == BP_OK)
        result = field_in_units(field, plan->world->units,
                                field_check_items(field, source->values, items, &plan->world->base->error),
                                &plan->world->base->error);
    if (result == BP_OK && from->kind == BLOB_ONE && source->starts == NULL && source->each == 1 &&
        field_is_single(field) && is_default(plan, field, source->values))
        source->kind = SOURCE_DEFAULT;
    return result;
}

static bp_result_t match_fields(spawn_plan_t *plan, uint32_t c, field_t *old, convert_source_t *matches)
{
    const blob_component_t *from = &plan->blob->components[c];
    const blob_field_t *fields = plan->blob->fields + from->first_field;
    const component_t *type = plan->components[c].manager->component;
    bp_result_t result = BP_OK;
    for (uint32_t f = 0; f < from->field_count && result == BP_OK; f++)
        result = old_field(plan, &fields[f], &old[f]);
    if (result == BP_OK)
        result =
            convert_plan(old, from->field_count, type->fields, type->field_count, matches, &plan->world->base->error);
    for (uint32_t f = 0; f < type->field_count && result == BP_OK; f++) {
        source_t *source = &plan->components[c].sources[f];
        uint32_t number = matches[f].old;
        if (number != BP_NONE)
            result = plan_source(plan, c, &type->fields[f], &fields[number], &old[number], source);
        else if ((type->fields[f].flags & BP_FIELD_PARENT) != 0 && plan->blob->parents != NULL)
            source->kind = SOURCE_PARENTS;
    }
    return result;
}

static bp_result_t plan_fields(spawn_plan_t *plan, uint32_t c)
{
    memory_t *memory = &plan->world->memory;
    uint32_t old_count = plan->blob->components[c].field_count;
    size_t old_size = (old_count + (size_t)1) * sizeof(field_t);
    size_t matches_size = (plan->components[c].manager->component->field_count + (size_t)1) * sizeof(convert_source_t);
    field_t *old = memory_new(memory, old_size);
    convert_source_t *matches = memory_resize(memory, NULL, 0, matches_size);
    bp_result_t result = old == NULL || matches == NULL ? error_memory(&plan->world->base->error, "planning a spawn")
                                                        : match_fields(plan, c, old, matches);
    for (uint32_t f = 0; f < old_count && old != NULL; f++)
        named_free(&old[f].named, memory);
    memory_free(memory, old, old == NULL ? 0 : old_size);
    memory_free(memory, matches, matches_size);
    return result == BP_OK ? BP_OK
                           : about(plan, error_prefix(&plan->world->base->error, result, "%s: ", type_name(plan, c)));
}

/* --- components --------------------------------------------------------------------------------------------------- */

/* Set the error about a type without a manager in the world: a type that the host knows but the world does not use gets
 * another text than a type that no plugin brings. */
static bp_result_t no_manager(const spawn_plan_t *plan, const char *type)
{
    error_text_t *error = &plan->world->base->error;
    if (registry_component(plan->world->registry, type) != NULL)
        return error_set(error, BP_ERROR_NOT_FOUND, "component '%s' is loaded, but world '%s' does not use it", type,
                         plan->world->name);
    return BP_ERROR_NOT_FOUND; /* the error's text has the nearest name */
}

static bp_result_t find_manager(spawn_plan_t *plan, uint32_t c)
{
    world_t *world = plan->world;
    const char *type = type_name(plan, c);
    for (uint32_t m = 0; m < world->manager_count; m++) {
        manager_t *manager = world->managers[m];
        if (!manager->started || strcmp(manager->component->name, type) != 0)
            continue;
        if ((plan->blob->components[c].flags & BLOB_OPAQUE) != 0)
            return skip(plan, c,
                        error_set(&world->base->error, BP_ERROR_TYPE,
                                  "%s was compiled to bytes by a manager of contract 1; compile the scene again",
                                  type));
        plan->components[c].manager = manager;
        return BP_OK;
    }
    return skip(plan, c, no_manager(plan, type));
}

static bp_result_t find_managers(spawn_plan_t *plan)
{
    uint64_t sources = 0;
    bp_result_t result = BP_OK;
    for (uint32_t c = 0; c < plan->blob->info->component_count && result == BP_OK; c++) {
        result = find_manager(plan, c);
        const plan_component_t *component = &plan->components[c];
        sources += component->manager == NULL ? 0 : component->manager->component->field_count;
        if (component->manager != NULL && component->manager->component->own_storage &&
            plan->blob->components[c].instance_count > plan->largest_type)
            plan->largest_type = plan->blob->components[c].instance_count;
    }
    if (result != BP_OK)
        return result;
    if (sources < UINT32_MAX)
        plan->sources = memory_new(&plan->world->memory, (size_t)(sources + 1) * sizeof *plan->sources);
    if (plan->sources == NULL)
        return error_memory(&plan->world->base->error, "planning a spawn");
    plan->source_count = (uint32_t)sources;
    return BP_OK;
}

static bp_result_t plan_components(spawn_plan_t *plan)
{
    bp_result_t result = find_managers(plan);
    source_t *sources = plan->sources;
    for (uint32_t c = 0; c < plan->blob->info->component_count && result == BP_OK; c++) {
        plan_component_t *component = &plan->components[c];
        if (component->manager == NULL)
            continue;
        component->sources = sources;
        sources += component->manager->component->field_count;
        result = plan_fields(plan, c);
    }
    return result;
}

static int ascending(const void *a, const void *b)
{
    const order_t *x = a, *y = b;
    if (x->spawn_order != y->spawn_order)
        return x->spawn_order < y->spawn_order ? -1 : 1;
    return x->component < y->component ? -1 : x->component > y->component;
}

static bp_result_t sort_components(spawn_plan_t *plan)
{
    uint32_t count = plan->blob->info->component_count;
    size_t size = (count + (size_t)1) * sizeof(order_t);
    order_t *order = memory_resize(&plan->world->memory, NULL, 0, size);
    if (order == NULL)
        return error_memory(&plan->world->base->error, "planning a spawn");
    for (uint32_t c = 0; c < count; c++) {
        const manager_t *manager = plan->components[c].manager;
        order[c] = (order_t){manager == NULL ? 0 : manager->component->spawn_order, c};
    }
    qsort(order, count, sizeof *order, ascending);
    for (uint32_t c = 0; c < count; c++)
        plan->order[c] = order[c].component;
    memory_free(&plan->world->memory, order, size);
    return BP_OK;
}

/* --- groups and parts --------------------------------------------------------------------------------------------- */

static bp_result_t plan_part(spawn_plan_t *plan, uint32_t group, uint32_t p)
{
    const blob_part_t *from = &plan->blob->parts[p];
    plan_part_t *part = &plan->parts[p];
    plan_component_t *component = &plan->components[from->component];
    uint32_t *prototype = &plan->batches[group].prototype;
    *part = (plan_part_t){.group = group, .key = BP_NONE};
    component->part_count++;
    if (component->manager == NULL)
        return BP_OK;
    uint32_t key;
    bp_result_t result = world_key(plan->world, component->manager->number, from->name, &key);
    if (result == BP_OK)
        result = prototypes_with(&plan->world->prototypes, *prototype, key, prototype, &part->column);
    if (result != BP_OK)
        return skip(plan, from->component, result);
    part->key = key;
    return BP_OK;
}

/* Plan the group of the world itself: one row, with values that replace those of the world. */
static bp_result_t plan_own(spawn_plan_t *plan, uint32_t g)
{
    world_t *world = plan->world;
    if ((world->prototypes.items[plan->batches[g].prototype].flags & KEY_WORLD) == 0 || plan->batches[g].count == 0)
        return BP_OK;
    if (plan->own_group != BP_NONE || plan->batches[g].count != 1)
        return about(plan, error_set(&world->base->error, BP_ERROR_ARGUMENT,
                                     "it has several entities with component '%s', which belongs to the world itself "
                                     "and is there once",
                                     blob_text(plan->blob, plan->blob->components[plan->blob->parts[
                                         plan->blob->groups[g].first_part].component].type)));
    plan->own_group = g;
    return BP_OK;
}

static bp_result_t plan_rows(spawn_plan_t *plan, uint32_t g)
{
    const blob_group_t *group = &plan->blob->groups[g];
    store_batch_t *batch = &plan->batches[g];
    *batch = (store_batch_t){.count = group->rows};
    bp_result_t result = BP_OK;
    for (uint32_t p = 0; p < group->part_count && result == BP_OK; p++)
        result = plan_part(plan, g, group->first_part + p);
    for (uint32_t p = 0; p < group->part_count && result == BP_OK; p++) {
        plan_part_t *part = &plan->parts[group->first_part + p];
        if (part->key != BP_NONE)
            part->column = prototypes_column(&plan->world->prototypes, batch->prototype, part->key);
    }
    return result == BP_OK ? plan_own(plan, g) : result;
}

/* List the parts of each component together, in the order of their instances. */
static void list_parts(spawn_plan_t *plan)
{
    uint32_t at = 0;
    for (uint32_t c = 0; c < plan->blob->info->component_count; c++) {
        plan->components[c].first_part = at;
        at += plan->components[c].part_count;
        plan->components[c].part_count = 0;
    }
    for (uint32_t p = 0; p < plan->blob->info->part_count; p++) {
        plan_component_t *component = &plan->components[plan->blob->parts[p].component];
        plan->by_component[component->first_part + component->part_count++] = p;
    }
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static bool allocate(spawn_plan_t *plan)
{
    const blob_info_t *info = plan->blob->info;
    memory_t *memory = &plan->world->memory;
    plan->components = memory_new(memory, (info->component_count + (size_t)1) * sizeof *plan->components);
    plan->order = memory_new(memory, (info->component_count + (size_t)1) * sizeof *plan->order);
    plan->parts = memory_new(memory, (info->part_count + (size_t)1) * sizeof *plan->parts);
    plan->by_component = memory_new(memory, (info->part_count + (size_t)1) * sizeof *plan->by_component);
    plan->batches = memory_new(memory, (info->group_count + (size_t)1) * sizeof *plan->batches);
    return plan->components != NULL && plan->order != NULL && plan->parts != NULL && plan->by_component != NULL &&
           plan->batches != NULL;
}

static bp_result_t intern_names(const spawn_plan_t *plan)
{
    base_t *base = plan->world->base;
    for (uint32_t i = 0; i < plan->blob->info->name_count; i++) {
        bp_name_t name;
        bp_result_t result =
            names_intern(&base->names, blob_text(plan->blob, plan->blob->names[i]), &name, &base->error);
        if (result != BP_OK)
            return about(plan, result);
    }
    return BP_OK;
}

bp_result_t spawn_plan(spawn_plan_t *plan, world_t *world, const blob_t *blob, const char *origin, uint32_t flags)
{
    *plan = (spawn_plan_t){.world = world, .blob = blob, .origin = origin, .flags = flags, .own_group = BP_NONE};
    bp_result_t result = allocate(plan) ? intern_names(plan) : error_memory(&world->base->error, "planning a spawn");
    if (result == BP_OK)
        result = plan_components(plan);
    if (result == BP_OK)
        result = sort_components(plan);
    if (result == BP_OK && (flags & SPAWN_NO_ROWS) != 0)
        return BP_OK;
    for (uint32_t g = 0; g < blob->info->group_count && result == BP_OK; g++)
        result = plan_rows(plan, g);
    if (result == BP_OK)
        list_parts(plan);
    else
        spawn_plan_free(plan);
    return result;
}

/* Bytes of one instance with storage of its own: its entity, and the values that can be set. */
static uint64_t instance_bytes(const component_t *component)
{
    uint64_t bytes = sizeof(bp_entity_t);
    for (uint32_t f = 0; f < component->field_count; f++)
        bytes += (component->fields[f].flags & BP_FIELD_READ_ONLY) != 0 ? 0 : component->fields[f].size;
    return bytes;
}

/* Bytes that the lists of component `c` take outside of rows, at most: blocks are at most twice as large as the
   values. */
static uint64_t list_bytes(const spawn_plan_t *plan, uint32_t c)
{
    const plan_component_t *component = &plan->components[c];
    const blob_component_t *from = &plan->blob->components[c];
    uint64_t bytes = 0;
    for (uint32_t f = 0;
         component->manager != NULL && f < component->manager->component->field_count && component->sources != NULL;
         f++) {
        const source_t *source = &component->sources[f];
        const field_t *field = &component->manager->component->fields[f];
        uint32_t cells = source->kind == SOURCE_ONE ? 1 : from->instance_count,
                 times = source->kind == SOURCE_ONE ? from->instance_count : 1;
        if (!field_is_list(field) || (source->kind != SOURCE_ONE && source->kind != SOURCE_COLUMN))
            continue;
        uint64_t items = source->starts == NULL ? (uint64_t)cells * source->each : source->starts[cells];
        bytes += items * field_item_size(field) * 3 / 2 * times;
    }
    return bytes;
}

static uint64_t row_bytes(const spawn_plan_t *plan, const blob_group_t *group, uint64_t *own)
{
    uint64_t bytes = sizeof(bp_entity_t);
    *own = 0;
    for (uint32_t p = 0; p < group->part_count; p++) {
        const plan_part_t *part = &plan->parts[group->first_part + p];
        if (part->key == BP_NONE)
            continue;
        const component_t *component =
            plan->components[plan->blob->parts[group->first_part + p].component].manager->component;
        bytes += component->own_storage ? sizeof(uint32_t) : 0;
        *own += component->own_storage ? instance_bytes(component) : 0;
        for (uint32_t f = 0; f < component->field_count && !component->own_storage; f++)
            bytes += component->fields[f].size;
    }
    return bytes;
}

/* Bytes that all entities take: their lives and the queue of the free, records, and the list of what was spawned. */
static uint64_t entity_bytes(const world_t *world, uint32_t count)
{
    uint64_t reused = entities_reusable(world->entities);
    uint64_t fresh = count > reused ? count - reused : 0;
    return fresh * (2 * sizeof(uint32_t) + sizeof(record_t)) + count * sizeof(bp_entity_t);
}

uint64_t spawn_plan_bytes(const spawn_plan_t *plan)
{
    const world_t *world = plan->world;
    uint64_t bytes = entity_bytes(world, plan->blob->info->entity_count), own;
    for (uint32_t g = 0; g < plan->blob->info->group_count; g++) {
        const blob_group_t *group = &plan->blob->groups[g];
        const run_t *run = plan->batches[g].prototype == 0 ? NULL : world_run(world, plan->batches[g].prototype);
        uint64_t width = row_bytes(plan, group, &own), spare = run == NULL ? 0 : run->capacity - run->count;
        bytes += group->rows * own + (group->rows > spare ? (group->rows - spare) * width : 0);
    }
    for (uint32_t c = 0; c < plan->blob->info->component_count; c++)
        bytes += list_bytes(plan, c);
    return bytes;
}

void spawn_plan_free(spawn_plan_t *plan)
{
    const blob_info_t *info = plan->blob->info;
    memory_t *memory = &plan->world->memory;
    for (uint32_t i = 0; plan->sources != NULL && i < plan->source_count; i++)
        memory_free(memory, plan->sources[i].converted, plan->sources[i].converted_size + 1);
    memory_free(memory, plan->sources, (plan->source_count + (size_t)1) * sizeof *plan->sources);
    memory_free(memory, plan->components, (info->component_count + (size_t)1) * sizeof *plan->components);
    memory_free(memory, plan->order, (info->component_count + (size_t)1) * sizeof *plan->order);
    memory_free(memory, plan->parts, (info->part_count + (size_t)1) * sizeof *plan->parts);
    memory_free(memory, plan->by_component, (info->part_count + (size_t)1) * sizeof *plan->by_component);
    memory_free(memory, plan->batches, (info->group_count + (size_t)1) * sizeof *plan->batches);
}
