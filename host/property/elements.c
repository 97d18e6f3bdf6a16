/* elements.c - values within cells, and cells that hold texts or items outside themselves.
 *
 * Setting is in two passes: the first finds every cell, judges the element's number and takes memory; the second cannot
 * fail. Room that a list got in the first pass stays with the list; its items are unchanged.
 */
#include "elements.h"

#include "batches.h"

#include "../plugin/verbs.h"

/* --- names -------------------------------------------------------------------------------------------------------- */

bool elements_split(const char *property, char *name, size_t size, uint32_t *element)
{
    const char *open = strchr(property, '[');
    uint64_t number = 0;
    *element = BP_NONE;
    if (open == NULL)
        return true;
    const char *at = open + 1;
    for (; *at >= '0' && *at <= '9' && number < BP_NONE; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    if (at == open + 1 || strcmp(at, "]") != 0 || number >= BP_NONE || (size_t)(open - property) >= size)
        return false;
    memcpy(name, property, (size_t)(open - property));
    name[open - property] = '\0';
    *element = (uint32_t)number;
    return true;
}

bp_result_t elements_check(const field_t *field, uint32_t element, error_text_t *error)
{
    if (field_is_single(field))
        return error_set(error, BP_ERROR_NOT_FOUND, "property '%s' has one value, and no elements", field->name);
    if (!field_is_list(field) && element >= field->elements)
        return error_set(error, BP_ERROR_NOT_FOUND, "property '%s' has the elements 0 to %u, and no %u", field->name,
                         field->elements - 1, element);
    return BP_OK;
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

/* The cell of a declared property; NULL where the entity lacks the property. */
static void *find_whole(const world_t *world, const bp_property_t *p, bp_entity_t e)
{
    const record_t *record = world_record(world, e);
    uint32_t column = record == NULL ? 0 : prototypes_column(&world->prototypes, record->prototype, p->key);
    return column == 0 ? NULL : run_cell(world_run(world, record->prototype), column + p->field, record->row);
}

static bp_result_t no_such_element(world_t *world, const bp_property_t *p, const field_t *field, bp_entity_t e,
                                   uint32_t count)
{
    char who[32];
    value_format(&world->base->values, BP_ENTITY, &e, who, sizeof who);
    return error_set(&world->base->error, BP_ERROR_NOT_FOUND,
                     "'%s' of entity %s has %u value%s, and none of number %u (they count from 0)", field->name, who,
                     count, count == 1 ? "" : "s", p->element);
}

/* --- storage of its own: whole cells, of which one value is taken or changed -------------------------------------- */

static bp_result_t find_slot(world_t *world, const bp_property_t *p, bp_entity_t e, uint32_t *slot)
{
    const record_t *record = world_record(world, e);
    uint32_t column = record == NULL ? 0 : prototypes_column(&world->prototypes, record->prototype, p->key);
    if (column == 0)
        return property_absent(world, p, e);
    memcpy(slot, run_cell(world_run(world, record->prototype), column, record->row), sizeof *slot);
    return *slot == BP_NONE ? entities_refuse_making(world->entities, e) : BP_OK;
}

static bp_result_t get_own(world_t *world, const bp_property_t *p, const field_t *field, bp_entity_t e, char *cell)
{
    manager_t *manager = world_key_manager(world, p->key);
    uint32_t slot;
    bp_result_t result = find_slot(world, p, e, &slot);
    return result != BP_OK ? result
                           : verb_get(manager->component, &manager->verb, p->field, &slot, 1, cell, field->size);
}

static bp_result_t get_each_own(world_t *world, const bp_property_t *p, const field_t *field,
                                const bp_entity_t *entities, uint32_t count, char *values, size_t stride)
{
    uint32_t size = field_item_size(field);
    bp_result_t result = BP_OK;
    char *cell = memory_resize(&world->memory, NULL, 0, field->size);
    if (cell == NULL)
        return error_memory(&world->base->error, "looking at an element");
    for (uint32_t i = 0; i < count && result == BP_OK; i++) {
        result = get_own(world, p, field, entities[i], cell);
        if (result == BP_OK)
            memcpy(values + i * stride, cell + (size_t)p->element * size, size);
    }
    memory_free(&world->memory, cell, field->size);
    return result;
}

/* Set all in one call of the manager, so that it refuses all or none. */
static bp_result_t set_slots(world_t *world, const bp_property_t *p, const field_t *field, const uint32_t *slots,
                             uint32_t count, char *cells, const char *values, size_t stride)
{
    manager_t *manager = world_key_manager(world, p->key);
    uint32_t size = field_item_size(field);
    bp_result_t result = verb_get(manager->component, &manager->verb, p->field, slots, count, cells, field->size);
    if (result != BP_OK)
        return result;
    for (uint32_t i = 0; i < count; i++)
        memcpy(cells + (size_t)i * field->size + (size_t)p->element * size, values + i * stride, size);
    result = verb_set(manager->component, &manager->verb, p->field, slots, count, cells, field->size);
    if (result == BP_OK)
        world_note_slots(world, manager, slots, count);
    return result;
}

static bp_result_t set_own(world_t *world, const bp_property_t *p, const field_t *field, const bp_entity_t *entities,
                           uint32_t count, const char *values, size_t stride)
{
    const component_t *component = world_key_manager(world, p->key)->component;
    if (component->storage.set == NULL)
        return property_unsettable(world, component);
    size_t slots_size = count * sizeof(uint32_t), cells_size = (size_t)count * field->size;
    uint32_t *slots = memory_resize(&world->memory, NULL, 0, slots_size);
    char *cells = slots == NULL ? NULL : memory_resize(&world->memory, NULL, 0, cells_size);
    bp_result_t result = cells == NULL ? error_memory(&world->base->error, "setting an element") : BP_OK;
    for (uint32_t i = 0; i < count && result == BP_OK; i++)
        result = find_slot(world, p, entities[i], &slots[i]);
    if (result == BP_OK)
        result = set_slots(world, p, field, slots, count, cells, values, stride);
    memory_free(&world->memory, cells, cells_size);
    memory_free(&world->memory, slots, slots_size);
    return result;
}

static bool is_own(const world_t *world, const bp_property_t *p)
{
    return world_key_manager(world, p->key)->component->own_storage;
}

/* --- one element -------------------------------------------------------------------------------------------------- */

bp_result_t elements_get(world_t *world, const bp_property_t *p, const field_t *field, const bp_entity_t *entities,
                         uint32_t count, char *values, size_t stride)
{
    uint32_t size = field_item_size(field), have;
    if (is_own(world, p))
        return get_each_own(world, p, field, entities, count, values, stride);
    for (uint32_t i = 0; i < count; i++) {
        const void *cell = find_whole(world, p, entities[i]);
        if (cell == NULL)
            return property_absent(world, p, entities[i]);
        const char *items = field_items(field, cell, &have);
        if (p->element >= have)
            return no_such_element(world, p, field, entities[i], have);
        memcpy(values + i * stride, items + (size_t)p->element * size, size);
    }
    return BP_OK;
}

static bp_result_t check_values(const field_t *field, const char *values, size_t stride, uint32_t count,
                                error_text_t *error)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < count && result == BP_OK && field->limited; i++)
        result = field_check(field, values + i * stride, error);
    return result;
}

/* Check that each entity's cell has the element, or is a list that can grow by it, and take the memory for that. */
static bp_result_t prepare_cells(world_t *world, const bp_property_t *p, const field_t *field,
                                 const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        void *cell = find_whole(world, p, entities[i]);
        uint32_t have;
        if (cell == NULL)
            return property_absent(world, p, entities[i]);
        field_items(field, cell, &have);
        if (p->element < have)
            continue;
        if (!field_is_list(field) || p->element > have)
            return no_such_element(world, p, field, entities[i], have);
        if (!lists_reserve(&world->lists, cell, field_item_size(field), have + 1))
            return error_memory(&world->base->error, "appending to a list");
    }
    return BP_OK;
}

/* The cell of an entity has been written. */
static void note_cell(world_t *world, const bp_property_t *p, bp_entity_t e)
{
    const record_t *record = world_record(world, e);
    const run_t *run = world_run(world, record->prototype);
    if (run->stamps != NULL)
        stamps_note(run->stamps, prototypes_column(&world->prototypes, record->prototype, p->key) + p->field,
                    record->row, 1);
}

/* `text` is counted already, for a field of strings. */
static void put_element(world_t *world, const bp_property_t *p, const field_t *field, bp_entity_t e, const void *value)
{
    char *cell = find_whole(world, p, e), *item;
    uint32_t size = field_item_size(field);
    bp_list_t *list = (bp_list_t *)(void *)cell;
    bool appends = field_is_list(field) && p->element == list->count;
    item = field_is_list(field) ? (char *)list->items + (size_t)p->element * size : cell + (size_t)p->element * size;
    if (appends) {
        list->count++;
    } else if (field->type == BP_STRING) {
        const char *text;
        memcpy(&text, item, sizeof text);
        strings_release(&world->base->strings, text);
    }
    memcpy(item, value, size);
    note_cell(world, p, e);
}

static bp_result_t set_texts(world_t *world, const bp_property_t *p, const field_t *field, const bp_entity_t *entities,
                             uint32_t count, const char *values, size_t stride)
{
    strings_t *pool = &world->base->strings;
    const char **texts = memory_resize(&world->memory, NULL, 0, count * sizeof *texts);
    uint32_t made = 0;
    for (; texts != NULL && made < count; made++) {
        const char *text;
        memcpy(&text, values + made * stride, sizeof text);
        texts[made] = strings_acquire(pool, text);
        if (texts[made] == NULL)
            break;
    }
    for (uint32_t i = 0; i < made; i++) {
        if (made < count)
            strings_release(pool, texts[i]);
        else
            put_element(world, p, field, entities[i], &texts[i]);
    }
    memory_free(&world->memory, texts, count * sizeof *texts);
    return made == count ? BP_OK : error_memory(&world->base->error, "setting a string");
}

static bp_result_t set_declared(world_t *world, const bp_property_t *p, const field_t *field,
                                const bp_entity_t *entities, uint32_t count, const char *values, size_t stride)
{
    bp_result_t result = prepare_cells(world, p, field, entities, count);
    if (result == BP_OK && field->type == BP_STRING)
        return set_texts(world, p, field, entities, count, values, stride);
    for (uint32_t i = 0; i < count && result == BP_OK; i++)
        put_element(world, p, field, entities[i], values + i * stride);
    return result;
}

/* Set an element in lists. The values are copied first, since they may be items of a list that grows, and so moves. */
static bp_result_t set_in_lists(world_t *world, const bp_property_t *p, const field_t *field,
                                const bp_entity_t *entities, uint32_t count, const char *values, size_t stride)
{
    bp_value_t one;
    size_t size = field_item_size(field);
    char *copies = count == 1 ? (char *)&one : memory_resize(&world->memory, NULL, 0, count * size);
    if (copies == NULL)
        return error_memory(&world->base->error, "setting an element");
    for (uint32_t i = 0; i < count; i++)
        memcpy(copies + i * size, values + i * stride, size);
    bp_result_t result = set_declared(world, p, field, entities, count, copies, size);
    if (count != 1)
        memory_free(&world->memory, copies, count * size);
    return result;
}

bp_result_t elements_set(world_t *world, const bp_property_t *p, const field_t *field, const bp_entity_t *entities,
                         uint32_t count, const char *values, size_t stride)
{
    bp_result_t result = check_values(field, values, stride, count, &world->base->error);
    field_in_units(field, world->units, result, &world->base->error);
    if (result != BP_OK)
        return result;
    if (is_own(world, p))
        return set_own(world, p, field, entities, count, values, stride);
    if (field_is_list(field))
        return set_in_lists(world, p, field, entities, count, values, stride);
    return set_declared(world, p, field, entities, count, values, stride);
}

/* --- whole cells -------------------------------------------------------------------------------------------------- */

bp_result_t elements_set_whole(world_t *world, const bp_property_t *p, const field_t *field,
                               const bp_entity_t *entities, uint32_t count, const char *cells, size_t stride)
{
    size_t size = field->size;
    char *copies = memory_resize(&world->memory, NULL, 0, count * size);
    uint32_t made = 0;
    while (copies != NULL && made < count &&
           cell_copy(&world->holdings, field, copies + made * size, cells + made * stride))
        made++;
    if (made < count && copies != NULL)
        cells_release(&world->holdings, field, copies, made);
    for (uint32_t i = 0; i < made && made == count; i++) {
        void *cell = find_whole(world, p, entities[i]);
        cells_release(&world->holdings, field, cell, 1);
        memcpy(cell, copies + i * size, size);
        note_cell(world, p, entities[i]);
    }
    memory_free(&world->memory, copies, count * size);
    return made == count ? BP_OK : error_memory(&world->base->error, "setting a property");
}
