/* cells.c - what cells hold, taken and let go.
 *
 * Invariant: after a failure the cells concerned hold nothing, so the caller may forget them.
 */
#include "cells.h"
#include "convert_many.h"

/* --- letting go --------------------------------------------------------------------------------------------------- */

static void release_strings(const holdings_t *holdings, const void *items, size_t count)
{
    const char *const *texts = items;
    for (size_t i = 0; i < count; i++)
        strings_release(holdings->strings, texts[i]);
}

void cells_release(const holdings_t *holdings, const field_t *field, void *cells, uint32_t count)
{
    if (!field_is_counted(field))
        return;
    if (!field_is_list(field)) {
        release_strings(holdings, cells, (size_t)count * (field->elements > 0 ? field->elements : 1));
        return;
    }
    bp_list_t *lists = cells;
    for (uint32_t i = 0; i < count; i++) {
        if (field->type == BP_STRING)
            release_strings(holdings, lists[i].items, lists[i].count);
        lists_release(holdings->lists, &lists[i], field_item_size(field));
    }
}

void cells_clear(const field_t *field, void *cells, uint32_t count)
{
    const char **texts = cells;
    memset(cells, 0, (size_t)field->size * count);
    for (size_t i = 0;
         !field_is_list(field) && field->type == BP_STRING && i < count * (size_t)field->size / sizeof *texts; i++)
        texts[i] = strings_empty;
}

/* --- defaults ----------------------------------------------------------------------------------------------------- */

static void retain_initial(const field_t *field, uint32_t first, uint32_t end, uint32_t times)
{
    for (uint32_t i = first; field->type == BP_STRING && i < end; i++) {
        const char *text;
        memcpy(&text, field_initial(field, i), sizeof text);
        strings_retain(text, times);
    }
}

void cells_fill(const field_t *field, void *cells, uint32_t count)
{
    uint32_t values = field->elements > 0 ? field->elements : 1, size = field_item_size(field);
    char *cell = cells;
    if (field->initial_is_zero) {
        memset(cells, 0, (size_t)field->size * count);
        return;
    }
    for (uint32_t i = 0; i < count; i++, cell += field->size) {
        if (field->initial_cell != NULL)
            memcpy(cell, field->initial_cell, field->size);
        for (uint32_t k = 0; field->initial_cell == NULL && k < values; k++)
            value_copy(cell + (size_t)k * size, &field->initial, size);
    }
    retain_initial(field, 0, values, count);
}

void cells_fill_many(const field_t *field, void *cells, uint32_t count)
{
    if (field->size != 4 || field->elements > 0) {
        cells_fill(field, cells, count);
        return;
    }
    uint32_t value, *to = cells;
    memcpy(&value, &field->initial, sizeof value);
    for (uint32_t i = 0; i < count; i++)
        to[i] = value;
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

/* Copy `count` texts, which need not be strings of this host, as counted strings. False when out of memory: none is
 * held then. */
static bool take_strings(const holdings_t *holdings, void *to, const void *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *text;
        memcpy(&text, (const char *)from + i * sizeof text, sizeof text);
        text = strings_acquire(holdings->strings, text);
        if (text == NULL) {
            release_strings(holdings, to, i);
            return false;
        }
        memcpy((char *)to + i * sizeof text, &text, sizeof text);
    }
    return true;
}

static bool copy_items(const holdings_t *holdings, const field_t *field, void *to, const void *from, uint32_t count)
{
    if (field->type == BP_STRING)
        return take_strings(holdings, to, from, count);
    if (count > 0)
        memcpy(to, from, (size_t)count * field_item_size(field));
    return true;
}

bool cell_set_items(const holdings_t *holdings, const field_t *field, void *to, const void *items, uint32_t count)
{
    uint32_t size = field_item_size(field), room = field->elements > 0 ? field->elements : 1;
    if (field_is_list(field)) {
        bp_list_t list = {NULL, 0, 0};
        bool good = count == 0 || (lists_reserve(holdings->lists, &list, size, count) &&
                                   copy_items(holdings, field, list.items, items, count));
        if (good)
            list.count = count;
        else
            lists_release(holdings->lists, &list, size);
        memcpy(to, &list, sizeof list);
        return good;
    }
    count = count < room ? count : room;
    if (!copy_items(holdings, field, to, items, count)) {
        cells_clear(field, to, 1); /* texts were written there before one was lacking */
        return false;
    }
    for (uint32_t i = count; i < room; i++)
        memcpy((char *)to + (size_t)i * size, field_initial(field, i), size);
    retain_initial(field, count, room, 1);
    return true;
}

bool cell_copy(const holdings_t *holdings, const field_t *field, void *to, const void *from)
{
    uint32_t count;
    const void *items = field_items(field, from, &count);
    return cell_set_items(holdings, field, to, items, count);
}

/* --- other declarations ------------------------------------------------------------------------------------------- */

typedef enum outcome_t { DONE, MISFIT, NO_MEMORY } outcome_t;

/* Convert `count` items of a cell after its field has changed its type or its named values. Not for strings. */
static outcome_t convert_items(const holdings_t *holdings, const field_t *old, const char *items, uint32_t count,
                               const field_t *field, void *to)
{
    uint32_t old_size = field_item_size(old), size = field_item_size(field);
    bp_list_t list = {NULL, 0, 0};
    if (field_is_list(field) && count > 0 && !lists_reserve(holdings->lists, &list, size, count))
        return NO_MEMORY;
    char *target = field_is_list(field) ? list.items : to;
    bool fits = true;
    for (uint32_t i = 0; i < count && fits; i++)
        fits = convert_value(old, items + (size_t)i * old_size, field, target + (size_t)i * size, i);
    list.count = count;
    if (field_is_list(field) && !fits)
        lists_release(holdings->lists, &list, size);
    if (field_is_list(field))
        memcpy(to, &list, sizeof list);
    return fits ? DONE : MISFIT;
}

static outcome_t convert_cell(const holdings_t *holdings, const field_t *old, const void *from, const field_t *field,
                              void *to)
{
    uint32_t count, room = field->elements > 0 ? field->elements : 1, size = field_item_size(field);
    const char *items = field_items(old, from, &count);
    if (!field_is_list(field) && count > room) {
        if (field_is_list(old))
            return MISFIT;
        count = room; /* the last elements of an array are dropped */
    }
    if (old->type == BP_STRING)
        return cell_set_items(holdings, field, to, items, count) ? DONE : NO_MEMORY;
    outcome_t outcome = convert_items(holdings, old, items, count, field, to);
    for (uint32_t i = count; outcome == DONE && !field_is_list(field) && i < room; i++)
        memcpy((char *)to + (size_t)i * size, field_initial(field, i), size);
    return outcome;
}

uint32_t cells_convert(const holdings_t *holdings, const field_t *old, const void *from, const field_t *field, void *to,
                       uint32_t count, const bp_entity_t *entities)
{
    if (convert_kind(old->type, field->type) == CONVERT_REFUSED)
        return 0;
    if (field_is_single(old) && field_is_single(field) && old->type != BP_STRING)
        return convert_column(old, from, field, to, count, entities);
    for (uint32_t i = 0; i < count; i++) {
        char *cell = (char *)to + (size_t)i * field->size;
        uint32_t n = count - i < CONVERT_BLOCK ? count - i : CONVERT_BLOCK;
        if (i % CONVERT_BLOCK == 0 && convert_many(old, (const char *)from + (size_t)i * old->size, field, cell, n)) {
            i += n - 1;
            continue;
        }
        outcome_t outcome = convert_cell(holdings, old, (const char *)from + (size_t)i * old->size, field, cell);
        if (outcome == MISFIT && entities != NULL && entities[i].id == 0) {
            cells_fill(field, cell, 1);
        } else if (outcome != DONE) {
            cells_release(holdings, field, to, i);
            return outcome == MISFIT ? i : CELLS_NO_MEMORY;
        }
    }
    return count;
}
