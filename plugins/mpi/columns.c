/* columns.c - the values of one field of many entities, as bytes for another rank, and back.
 *
 * A column is sent with its length before it. Plain values follow in the form that they have in memory; texts one after
 * the other, each with its closing zero; of lists the number of items of each, and its items, filled up to 8 bytes.
 */
#include "split.h"

#include <helpers/bp_columns.h>

#include <string.h>

static size_t filled(size_t size)
{
    return (size + 7) / 8 * 8;
}

static void append(split_t *split, split_bytes *out, const void *bytes, size_t size)
{
    char *at = split_append(split, out, size);
    if (size > 0)
        memcpy(at, bytes, size);
}

static void fill(split_t *split, split_bytes *out, size_t size)
{
    static const char zeros[8] = {0};
    append(split, out, zeros, filled(size) - size);
}

static void pack_list(split_t *split, split_bytes *out, const split_column *column, const bp_list_t *list)
{
    uint64_t count = list->count;
    size_t size = (size_t)count * bp_columns_size(column->type);
    append(split, out, &count, sizeof count);
    append(split, out, list->items, size);
    fill(split, out, size);
}

static void pack_texts(split_t *split, split_bytes *out, const split_column *column, const char *cell)
{
    for (uint32_t i = 0; i < column->size / sizeof(const char *); i++) {
        const char *text;
        memcpy(&text, cell + i * sizeof text, sizeof text);
        append(split, out, text, strlen(text) + 1);
    }
}

void split_pack_column(split_t *split, split_bytes *out, const split_column *column, const char *cells,
                       const uint32_t *rows, uint32_t count)
{
    uint64_t length = 0;
    size_t place = out->size;
    append(split, out, &length, sizeof length);
    bool plain = !column->list && column->type != BP_STRING;
    char *at = plain ? split_append(split, out, (size_t)column->size * count) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        const char *cell = cells + (size_t)rows[i] * column->size;
        if (plain)
            memcpy(at + (size_t)i * column->size, cell, column->size);
        else if (column->list)
            pack_list(split, out, column, (const bp_list_t *)(const void *)cell);
        else
            pack_texts(split, out, column, cell);
    }
    fill(split, out, out->size - place);
    length = out->size - place - sizeof length;
    memcpy(out->at + place, &length, sizeof length);
}

const char *split_skip_column(const char *at)
{
    uint64_t length;
    memcpy(&length, at, sizeof length);
    return at + sizeof length + length;
}

const void *split_unpack_column(split_t *split, const split_column *column, const char *at, uint32_t count)
{
    at += sizeof(uint64_t);
    if (!column->list && column->type != BP_STRING)
        return at;
    split->values.size = 0;
    char *cells = split_append(split, &split->values, (size_t)column->size * count);
    size_t texts = column->size / sizeof(const char *) * count;
    for (size_t i = 0; i < texts && !column->list; i++) {
        memcpy(cells + i * sizeof at, &at, sizeof at);
        at += strlen(at) + 1;
    }
    for (uint32_t i = 0; i < count && column->list; i++) {
        uint64_t items;
        memcpy(&items, at, sizeof items);
        bp_list_t list = {items == 0 ? NULL : (char *)split->in.at + (at + sizeof items - split->in.at),
                          (uint32_t)items, (uint32_t)items};
        memcpy(cells + i * sizeof list, &list, sizeof list);
        at += sizeof items + filled((size_t)items * bp_columns_size(column->type));
    }
    return cells;
}
