/* leavings.c - columns that have left their run; the last one is let go of first. */
#include "leavings.h"

#include "superblocks.h"
#include "../os/os.h"

enum { PIECE = 1024 /* cells between two looks at the clock */ };

bool leavings_take(leavings_t *leavings, memory_t *memory, const field_t *field, void *block, size_t block_size,
                   void *cells, uint32_t count)
{
    if (!leavings->open || count < LEAVINGS_ROWS || !field_is_counted(field) ||
        !memory_reserve(memory, &leavings->items, &leavings->capacity, leavings->count + 1u, sizeof *leavings->items))
        return false;
    leavings->items[leavings->count++] = (left_column_t){.field = {.type = field->type,
                                                               .flags = field->flags,
                                                               .size = field->size,
                                                               .elements = field->elements},
                                                     .block = block,
                                                     .block_size = block_size,
                                                     .cells = cells,
                                                     .count = count};
    return true;
}

/* Let go of some cells of the last column, and of its memory where there are no more. */
static void let_go(leavings_t *leavings, memory_t *memory, const holdings_t *holdings)
{
    left_column_t *last = &leavings->items[leavings->count - 1];
    uint32_t left = last->count - last->done, count = left < PIECE ? left : PIECE;
    cells_release(holdings, &last->field, last->cells + (size_t)last->done * last->field.size, count);
    last->done += count;
    if (last->done < last->count)
        return;
    superblocks_free_block(memory, last->block, last->block_size);
    leavings->count--;
}

bool leavings_slice(leavings_t *leavings, memory_t *memory, const holdings_t *holdings, uint64_t nanoseconds)
{
    uint64_t began = os_clock_ns();
    while (leavings->count > 0) {
        let_go(leavings, memory, holdings);
        if (os_clock_ns() - began >= nanoseconds)
            break;
    }
    return leavings->count > 0;
}

int64_t leavings_count_lists(const leavings_t *leavings)
{
    int64_t found = 0;
    for (uint32_t i = 0; i < leavings->count; i++) {
        const left_column_t *left = &leavings->items[i];
        const bp_list_t *lists = (const bp_list_t *)(const void *)left->cells;
        for (uint32_t k = left->done; k < left->count && field_is_list(&left->field); k++)
            found += lists[k].capacity > 0;
    }
    return found;
}

void leavings_free(leavings_t *leavings, memory_t *memory, const holdings_t *holdings)
{
    leavings_slice(leavings, memory, holdings, UINT64_MAX);
    memory_free(memory, leavings->items, leavings->capacity * sizeof *leavings->items);
    *leavings = (leavings_t){.items = NULL};
}
