/* columns.c - declared fields: which columns become which, and what is in them.
 *
 * Columns of fields that are as they were are adopted: not one byte of them is touched, unless limits have become tighter and
 * every value must be looked at. Added ones get their default, which costs nothing where it is zero and the memory fresh from the
 * system; converted ones are written beside the old.
 *
 * Where there will be a probation, what has no place in the new list stays as a hidden column behind it. Hidden columns are rows
 * like all others: they go along when entities come, go and change their components, so that they can be brought back at
 * any time.
 */
#include "change.h"

/* --- the plan --------------------------------------------------------------------------------------------------------- */

static bool is_adopted(const component_change_t *c, uint32_t old)
{
    for (uint32_t i = 0; i < c->source_count; i++) {
        if (c->sources[i].old == old && c->sources[i].kind == CONVERT_SAME)
            return true;
    }
    return false;
}

static bool reserve_columns(reload_change_t *change, manager_change_t *m, uint32_t count)
{
    memory_t *memory = &m->manager->seen.world->memory;
    (void)change;
    m->column_count = m->pick_count = count;
    if (count == 0)
        return true;
    m->columns = memory_new(memory, count * sizeof *m->columns);
    m->picks = memory_new(memory, count * sizeof *m->picks);
    return m->columns != NULL && m->picks != NULL;
}

static void add_column(manager_change_t *m, uint32_t *at, const field_t *field, uint32_t from)
{
    m->columns[*at] = field;
    m->picks[(*at)++] = (run_pick_t){from, field};
}

bp_result_t columns_plan(reload_change_t *change, world_change_t *w, manager_change_t *m)
{
    static const field_t old_slot = {.name = "slot_before", .type = BP_U32, .size = 4, .initial = {.u32 = BP_NONE}};
    const component_change_t *c = m->component;
    bool own = c->other->own_storage, was_own = c->slot->own_storage;
    uint32_t visible = own ? 1 : c->other->field_count, old_count = m->manager->column_count, at = 0, hidden = 0;
    for (uint32_t i = 0; i < old_count && change->hides; i++)
        hidden += was_own || own || !is_adopted(c, i);
    m->moves = true;
    if (!reserve_columns(change, m, visible + hidden))
        return error_memory(change_error(change), "making other columns");
    for (uint32_t i = 0; i < visible; i++) {
        bool adopted = !own && !was_own && c->sources[i].old != BP_NONE && c->sources[i].kind == CONVERT_SAME;
        add_column(m, &at, own ? &world_slot_field : &c->other->fields[i], adopted ? c->sources[i].old : BP_NONE);
    }
    for (uint32_t i = 0; i < old_count && change->hides; i++) {
        if (was_own || own || !is_adopted(c, i))
            add_column(m, &at, was_own ? &old_slot : &c->slot->fields[i], i);
    }
    m->hidden = hidden;
    m->visible_count = visible;
    if (hidden == 0 || visible == 0)
        return BP_OK;
    m->visible = memory_new(&w->world->memory, visible * sizeof *m->visible);
    if (m->visible == NULL)
        return error_memory(change_error(change), "making other columns");
    memcpy(m->visible, m->columns, visible * sizeof *m->visible);
    return BP_OK;
}

/* --- values ----------------------------------------------------------------------------------------------------------- */

void columns_default(const field_t *field, void *cells, uint32_t rows, bool clear)
{
    if (field->initial_is_zero) {
        if (!clear)
            memset(cells, 0, (size_t)field->size * rows);
        return;
    }
    if (field->size == 4) {
        uint32_t value, *to = cells;
        memcpy(&value, &field->initial, sizeof value);
        for (uint32_t i = 0; i < rows; i++)
            to[i] = value;
    } else {
        for (uint32_t i = 0; i < rows; i++)
            value_copy((char *)cells + (size_t)i * field->size, &field->initial, field->size);
    }
    if (field->type == BP_STRING)
        strings_retain(field->initial.string, rows);
}

bp_result_t columns_refuse(reload_change_t *change, const world_change_t *w, const manager_change_t *m, bp_entity_t entity,
                           const field_t *old, const field_t *field, const void *value)
{
    char who[32];
    const value_context_t *values = &w->world->base->values;
    error_text_t *error = change_error(change);
    value_format(values, BP_ENTITY, &entity, who, sizeof who);
    bp_result_t result = convert_refuse(values, old, field, value, error);
    return error_prefix(error, result, "component '%s', world '%s', entity %s: ", m->component->slot->name, w->world->name, who);
}

/* The block behind a new column is fresh pages of the system, which come cleared. */
static bool is_clear(const run_shape_t *shape, const memory_t *memory, uint32_t column)
{
    return shape->other.split && memory_is_pages(memory, shape->other.blocks[column].size);
}

bp_result_t columns_fill(reload_change_t *change, const world_change_t *w, const manager_change_t *m, run_shape_t *shape,
                         uint32_t old_first, uint32_t new_first)
{
    const component_change_t *c = m->component;
    const run_t *run = shape->run;
    const bp_entity_t *entities = run->count == 0 ? NULL : run_entities(run);
    for (uint32_t i = 0; i < c->source_count; i++) {
        const convert_source_t *source = &c->sources[i];
        const field_t *field = &c->other->fields[i], *old = source->old == BP_NONE ? NULL : &c->slot->fields[source->old];
        void *cells = shape->other.columns[new_first + i];
        uint32_t bad = run->count;
        if (run->count == 0) {
            shape->filled[new_first + i] = 1;
            continue;
        }
        if (old == NULL)
            columns_default(field, cells, run->count, is_clear(shape, &w->world->memory, new_first + i));
        else if (source->kind != CONVERT_SAME)
            bad = convert_column(old, run->columns[old_first + source->old], field, cells, run->count, entities);
        else if (source->check)
            bad = convert_check(field, cells, run->count, entities);
        if (bad < run->count)
            return columns_refuse(change, w, m, entities[bad], old, field, run_cell(run, old_first + source->old, bad));
        shape->filled[new_first + i] = 1;
    }
    return BP_OK;
}
