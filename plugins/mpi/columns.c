/* columns.c - the values of one field of many entities, as bytes for another rank, and back.
 *
 * A column is sent with its length before it. Plain values follow in the form that they have in memory, and references
 * as the durable numbers of the entities that they mean; texts one after the other, each with its closing zero; of
 * lists the number of items of each, then the items in the same way, filled up to 8 bytes.
 */
#include "split.h"

#include <helpers/bp_columns.h>

#include <string.h>

static void append(split_t *split, split_bytes *out, const void *bytes, size_t size)
{
    char *at = split_append(split, out, size);
    if (size > 0)
        memcpy(at, bytes, size);
}

void split_append_bytes(split_t *split, split_bytes *out, const void *bytes, size_t size)
{
    static const char zeros[8] = {0};
    append(split, out, bytes, size);
    append(split, out, zeros, split_filled(size) - size);
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

static void get_stored(split_t *split, const split_column *column, const bp_entity_t *entities, const uint32_t *rows,
                       uint32_t count)
{
    const bp_property_api *property = split->system->api->property;
    bp_property_t handle = column->own;
    split->items.size = 0;
    bp_entity_t *asked = (bp_entity_t *)(void *)split_append(split, &split->items, count * sizeof *asked);
    for (uint32_t i = 0; i < count; i++)
        asked[i] = entities[rows[i]];
    split_done(split, property->get(split->world, &handle, asked, count, split->cells.at, column->size));
}

/* Copy the cells of rows to `to`, one after the other; not of a component with storage of its own. */
static void gather(const split_t *split, const split_kind *kind, const split_column *column, const uint32_t *rows,
                   uint32_t count, char *to)
{
    const char *all = split->look->column(split->world, kind->prototype, column->key, column->field);
    for (uint32_t i = 0; i < count; i++)
        split_copy_cell(to + (size_t)i * column->size, all + (size_t)rows[i] * column->size, column->size);
}

const char *split_cells(split_t *split, const split_kind *kind, const split_column *column,
                        const bp_entity_t *entities, const uint32_t *rows, uint32_t count)
{
    split->cells.size = 0;
    char *cells = split_append(split, &split->cells, (size_t)column->size * count);
    if (count == 0)
        return cells;
    if (column->stored) {
        get_stored(split, column, entities, rows, count);
        return cells;
    }
    gather(split, kind, column, rows, count, cells);
    return cells;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

uint64_t split_hash(const split_column *column, const char *cell)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    size_t count = column->size / sizeof(const char *);
    const char *items = cell;
    if (column->list) {
        bp_list_t list;
        memcpy(&list, cell, sizeof list);
        if (column->type != BP_STRING)
            return hash_bytes(hash, list.items, (size_t)list.count * bp_columns_size(column->type));
        count = list.count;
        items = list.items;
    }
    for (size_t i = 0; i < count; i++) {
        const char *text;
        memcpy(&text, items + i * sizeof text, sizeof text);
        hash = hash_bytes(hash, text, strlen(text) + 1);
    }
    return hash;
}

/* --- packing ------------------------------------------------------------------------------------------------------ */

static void pack_references(split_t *split, split_bytes *out, const char *cells, size_t count)
{
    const bp_entity_api *entity = split->system->api->entity;
    uint64_t *ids = (uint64_t *)(void *)split_append(split, out, count * sizeof *ids);
    for (size_t i = 0; i < count; i++) {
        bp_entity_t e;
        memcpy(&e, cells + i * sizeof e, sizeof e);
        uint64_t id = entity->alive(split->system->host, &e, 1, NULL) == 1 ? durable_of(&split->durable, e, split->rank)
                                                                            : 0;
        memcpy(&ids[i], &id, sizeof id);
    }
}

static void pack_texts(split_t *split, split_bytes *out, const char *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *text;
        memcpy(&text, cells + i * sizeof text, sizeof text);
        append(split, out, text, strlen(text) + 1);
    }
}

/* Values of the column's type, as many as there are in so many bytes of memory. */
static void pack_values(split_t *split, split_bytes *out, const split_column *column, const void *values, size_t size)
{
    if (column->type == BP_STRING)
        pack_texts(split, out, values, size / sizeof(const char *));
    else if (column->type == BP_ENTITY)
        pack_references(split, out, values, size / sizeof(bp_entity_t));
    else
        append(split, out, values, size);
}

void split_pack_column(split_t *split, split_bytes *out, const split_column *column, const char *cells, uint32_t count)
{
    static const char zeros[8] = {0};
    uint64_t length = 0;
    size_t place = out->size;
    append(split, out, &length, sizeof length);
    if (!column->list)
        pack_values(split, out, column, cells, (size_t)column->size * count);
    for (uint32_t i = 0; i < count && column->list; i++) {
        bp_list_t list;
        memcpy(&list, cells + (size_t)i * sizeof list, sizeof list);
        uint64_t items = list.count;
        append(split, out, &items, sizeof items);
        pack_values(split, out, column, list.items, (size_t)items * bp_columns_size(column->type));
        append(split, out, zeros, split_filled(out->size - place) - (out->size - place));
    }
    append(split, out, zeros, split_filled(out->size - place) - (out->size - place));
    length = out->size - place - sizeof length;
    memcpy(out->at + place, &length, sizeof length);
}

void split_pack_rows(split_t *split, split_bytes *out, const split_kind *kind, const split_column *column,
                     const bp_entity_t *entities, const uint32_t *rows, uint32_t count)
{
    size_t size = (size_t)column->size * count;
    const uint64_t length = split_filled(size);
    if (column->stored || column->list || column->type == BP_STRING || column->type == BP_ENTITY) {
        split_pack_column(split, out, column, split_cells(split, kind, column, entities, rows, count), count);
        return;
    }
    append(split, out, &length, sizeof length);
    char *to = split_append(split, out, length);
    gather(split, kind, column, rows, count, to);
    memset(to + size, 0, length - size);
}

const char *split_skip_column(const char *at)
{
    uint64_t length;
    memcpy(&length, at, sizeof length);
    return at + sizeof length + length;
}

/* --- unpacking ---------------------------------------------------------------------------------------------------- */

/* Has the entity of that number died while a reference to it was being sent? */
static bool has_died(const split_t *split, uint64_t id)
{
    const uint64_t *dead = (const uint64_t *)(const void *)split->buried.at;
    size_t low = 0, high = split->buried.size / sizeof *dead;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (dead[middle] == id)
            return true;
        if (dead[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

bp_entity_t split_entity_of(split_t *split, uint64_t id)
{
    const bp_entity_api *entity = split->system->api->entity;
    bp_entity_t e = {0};
    if (id == 0)
        return e;
    uint32_t index = durable_find(&split->durable, id);
    if (index != BP_NONE && (e = entity->at(split->system->host, index)).id != 0)
        return e;
    if (has_died(split, id))
        return e;
    split_done(split, entity->create(split->system->host, &e, 1));
    split_know(split, bp_entity_index(e), id, true);
    return e;
}

/* `count` values that begin at `at`, in the form that they have in memory, to `values`. Returns what comes behind. */
static const char *unpack_values(split_t *split, const split_column *column, const char *at, size_t count, void *values)
{
    char *out = values;
    for (size_t i = 0; i < count && column->type == BP_STRING; i++) {
        memcpy(out + i * sizeof at, &at, sizeof at);
        at += strlen(at) + 1;
    }
    if (column->type == BP_STRING)
        return at;
    for (size_t i = 0; i < count && column->type == BP_ENTITY; i++) {
        uint64_t id;
        memcpy(&id, at + i * sizeof id, sizeof id);
        bp_entity_t e = split_entity_of(split, id);
        memcpy(out + i * sizeof e, &e, sizeof e);
    }
    size_t size = count * bp_columns_size(column->type);
    if (column->type != BP_ENTITY && size > 0)
        memcpy(out, at, size);
    return at + size;
}

static void unpack_lists(split_t *split, const split_column *column, const char *at, uint32_t count, char *cells)
{
    const char *begin = at;
    uint64_t length;
    uint32_t width = bp_columns_size(column->type);
    memcpy(&length, at, sizeof length);
    at += sizeof length;
    split->items.size = 0; /* a text takes a byte of what has come at least, and an address here */
    char *items = split_append(split, &split->items, (size_t)length * (column->type == BP_STRING ? sizeof at : 1));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number;
        memcpy(&number, at, sizeof number);
        bp_list_t list = {number == 0 ? NULL : items, (uint32_t)number, (uint32_t)number};
        at = unpack_values(split, column, at + sizeof number, (size_t)number, items);
        at = begin + split_filled((size_t)(at - begin));
        memcpy(cells + (size_t)i * sizeof list, &list, sizeof list);
        items += split_filled((size_t)number * width);
    }
}

const void *split_unpack_column(split_t *split, const split_column *column, const char *at, uint32_t count)
{
    if (!column->list && column->type != BP_STRING && column->type != BP_ENTITY)
        return at + sizeof(uint64_t);
    split->values.size = 0;
    char *cells = split_append(split, &split->values, (size_t)column->size * count);
    if (column->list)
        unpack_lists(split, column, at, count, cells);
    else
        unpack_values(split, column, at + sizeof(uint64_t),
                      (size_t)column->size / bp_columns_size(column->type) * count, cells);
    return cells;
}

/* --- setting ------------------------------------------------------------------------------------------------------ */

/* Write values that cannot be set as properties (read only, hidden or out of range) directly to their cells. */
static void write_raw(split_t *split, const split_column *column, bool of_copies, const bp_entity_t *entities,
                      uint32_t count, const char *cells)
{
    const bp_api_t *api = split->system->api;
    uint32_t key = of_copies ? column->halo_key : column->key;
    for (uint32_t i = 0; i < count; i++) {
        bp_ref_t ref = {.entity = entities[i], .field = key << 8 | column->field};
        void *cell = api->world->ref_write(of_copies ? split->halo : split->world, &ref);
        const char *value = cells + (size_t)i * column->size;
        if (cell == NULL)
            split_fail(split, "what has come from another rank cannot be written");
        for (uint32_t t = 0; column->type == BP_STRING && t < column->size / sizeof value; t++) {
            const char *text;
            memcpy(&text, value + t * sizeof text, sizeof text);
            split_done(split, api->name->assign(split->system->host, (const char **)cell + t, text));
        }
        if (column->type != BP_STRING)
            memcpy(cell, value, column->size);
    }
}

void split_set(split_t *split, split_column *column, bool of_copies, const bp_entity_t *entities, uint32_t count,
               const void *cells)
{
    const bp_property_api *property = split->system->api->property;
    bp_result_t result = BP_ERROR_RANGE;
    if (!column->raw)
        result = of_copies ? property->set(split->halo, &column->halo, entities, count, cells, column->size)
                           : property->set(split->world, &column->own, entities, count, cells, column->size);
    if (result == BP_ERROR_RANGE && !column->stored && !column->list)
        write_raw(split, column, of_copies, entities, count, cells);
    else
        split_done(split, result);
}
