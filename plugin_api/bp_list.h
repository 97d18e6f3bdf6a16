/* bp_list.h - lists: cells of a column that hold any number of values of one type.
 *
 * A field with BP_FIELD_LIST has a cell of 16 bytes in each row (bp_list_t): where its values lie, how many there are,
 * and for how many there is room. The memory is the host's, and goes with the row: it moves to other runs with the row,
 * is freed when the row ends, and is kept by saves and reloads.
 *
 * A loop may read all lists that it is handed, and change those of columns that it may write: of rows of its own range,
 * through `lists` of the run or match that it was called with, also on several threads. The values that result are the
 * same on any number of threads.
 *
 *     static void simulate(const bp_run_t *run, uint32_t count)
 *     {
 *         bp_list_t *hits = ...;
 *         for (uint32_t i = 0; i < count; i++) {
 *             float *all = hits[i].items;
 *             for (uint32_t k = 0; k < hits[i].count; k++) ... all[k] ...
 *             if (bp_list_append(run->lists, &hits[i], &damage, sizeof damage) == NULL) ... out of memory, nothing has
 *             changed
 *         }
 *     }
 *
 * Items of a list are packed and lie at a multiple of 16. Addresses are good until that list grows, or until the next
 * change of structure. Lists of strings are only read by loops: their texts are counted by the host.
 *
 * What this header does not do: these functions check neither limits nor names of values; as for all columns, the loop
 * must keep values valid.
 */
#ifndef BP_LIST_H
#define BP_LIST_H

#include "bp_types.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where lists get memory during one call of a verb. Good until it returns; a range of rows has its own. */
typedef struct bp_lists_o bp_lists_o;
struct bp_lists_o {
    uint32_t struct_size;
    uint32_t padding;

    /* Make room for `capacity` items of `item_size` bytes, the size of the field's type; values stay. BP_ERROR_MEMORY:
     * the list is as it was. The inline functions below call it. [job] */
    bp_result_t (BP_CALL *reserve)(bp_lists_o *lists, bp_list_t *list, uint32_t item_size, uint32_t capacity);
};

/* Append one item: its address, or NULL where memory is lacking (or the list has 4,294,967,295). `value` may be an item
 * of the same list; NULL: the item's bytes are undefined, and the caller must write them. [job] */
static inline void *bp_list_append(bp_lists_o *lists, bp_list_t *list, const void *value, uint32_t item_size)
{
    if (list->count == list->capacity) {
        uintptr_t from = (uintptr_t)value - (uintptr_t)list->items;
        int own = value != NULL && from < (uintptr_t)list->count * item_size;
        if (list->count == BP_NONE || lists->reserve(lists, list, item_size, list->count + 1) != BP_OK)
            return NULL;
        if (own)
            value = (const char *)list->items + from; /* the items have moved */
    }
    char *item = (char *)list->items + (size_t)list->count++ * item_size;
    if (value != NULL)
        memcpy(item, value, item_size);
    return item;
}

/* Take item `index` out; those behind it move up. [job] */
static inline void bp_list_remove(bp_list_t *list, uint32_t index, uint32_t item_size)
{
    char *item = (char *)list->items + (size_t)index * item_size;
    memmove(item, item + item_size, (size_t)(--list->count - index) * item_size);
}

/* Take item `index` out; the last one takes its place. [job] */
static inline void bp_list_swap_remove(bp_list_t *list, uint32_t index, uint32_t item_size)
{
    char *items = (char *)list->items;
    if (index != --list->count)
        memcpy(items + (size_t)index * item_size, items + (size_t)list->count * item_size, item_size);
}

/* Take all items out; the room stays. [job] */
static inline void bp_list_clear(bp_list_t *list)
{
    list->count = 0;
}

#ifdef __cplusplus
}
#endif
#endif
