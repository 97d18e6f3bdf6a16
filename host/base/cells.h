/* cells.h - cells of columns that hold something outside themselves: texts of strings, items of lists.
 *
 * Moving a cell's bytes moves the texts and items that it holds, so runs move lists and strings like numbers. Only
 * where a cell begins, ends or is copied, its contents must be taken, released or copied too: that is done here. A
 * list's strings are counted one by one.
 *
 * Not here: runs, and moving cells.
 */
#ifndef HOST_BASE_CELLS_H
#define HOST_BASE_CELLS_H

#include "convert.h"
#include "lists.h"
#include "strings.h"

/* Where cells hold things. */
typedef struct holdings_t {
    strings_t *strings;
    lists_t *lists;
    struct leavings_t *leavings; /* where large columns go that have left (leavings.h); NULL: nowhere */
} holdings_t;

/* Let go of what `count` cells hold. Their bytes mean nothing afterwards. [main] */
void cells_release(const holdings_t *holdings, const field_t *field, void *cells, uint32_t count);

/* Make cells hold nothing: no item, no text. For cells of undefined bytes, and for cells that were moved elsewhere. */
void cells_clear(const field_t *field, void *cells, uint32_t count);

/* Write the default to cells that hold nothing. [main] */
void cells_fill(const field_t *field, void *cells, uint32_t count);

/* The same, quicker where many cells are of four bytes. [main] */
void cells_fill_many(const field_t *field, void *cells, uint32_t count);

/* Copy a cell to one that holds nothing. The items and texts of a list that is copied need not be memory of this host.
 * False when out of memory: `to` holds nothing. [main] */
bool cell_copy(const holdings_t *holdings, const field_t *field, void *to, const void *from);

/* Like cell_copy, of `count` values at `items`, each of the field's type, to a cell that holds nothing. An array takes
 * as many as it has elements, and defaults for missing ones. */
bool cell_set_items(const holdings_t *holdings, const field_t *field, void *to, const void *items, uint32_t count);

#define CELLS_NO_MEMORY UINT32_MAX

/* Cells of `old` become cells of `field`, by the rules of convert.h, at `to`, which hold nothing. `entities` as for
 * convert_column. Returns `count`; the number of the first cell that does not fit; or CELLS_NO_MEMORY. In the last two
 * cases `to` holds nothing. [main] */
uint32_t cells_convert(const holdings_t *holdings, const field_t *old, const void *from, const field_t *field, void *to,
                       uint32_t count, const bp_entity_t *entities);

#endif
