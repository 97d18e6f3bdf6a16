/* leavings.h - large columns that have left their run; their texts and lists are let go of in slices.
 *
 * Letting go of the texts and lists of a million cells takes longer than a frame. Where a program does its reloads
 * between steps (reload/hot.c), a column of texts or lists that has gone is put here, memory and all; its cells are let
 * go of piece by piece between the steps that follow, and its memory with the last of them.
 *
 * Invariant: cells `done` to `count` - 1 of a column hold what they held in the run, and are in no run.
 *
 * Not here: columns with cells that hold nothing outside themselves; their memory is freed at once.
 */
#ifndef HOST_BASE_LEAVINGS_H
#define HOST_BASE_LEAVINGS_H

#include "cells.h"

enum { LEAVINGS_ROWS = 16384 /* columns of fewer cells are let go of at once */ };

typedef struct left_column_t {
    field_t field;         /* only the members that cells_release reads; the pointers are not valid */
    void *block;
    size_t block_size;
    char *cells;
    uint32_t count, done;
} left_column_t;

typedef struct leavings_t {
    left_column_t *items;
    uint32_t count, capacity;
    bool open;             /* columns are taken; else the caller frees each at once */
} leavings_t;

/* Take over a column that is no longer used: its block of memory, and `count` cells in it. False where the caller must
 * free it: a column that is small or holds nothing, or when out of memory for the list. [main] */
bool leavings_take(leavings_t *leavings, memory_t *memory, const field_t *field, void *block, size_t block_size,
                   void *cells, uint32_t count);

/* Let go of cells until so many nanoseconds have passed. Returns whether some are left. [main] */
bool leavings_slice(leavings_t *leavings, memory_t *memory, const holdings_t *holdings, uint64_t nanoseconds);

/* How many lists have memory there? For checks. */
int64_t leavings_count_lists(const leavings_t *leavings);

/* Let go of all, and free the list. */
void leavings_free(leavings_t *leavings, memory_t *memory, const holdings_t *holdings);

#endif
