/* run_inner.h - how a run's memory is laid out, for the files that make or fill such memory.
 *
 * Inner to run.c and run_shape.c; others include run.h.
 *
 * Not here: when a run grows or shrinks (run.c).
 */
#ifndef HOST_STORE_RUN_INNER_H
#define HOST_STORE_RUN_INNER_H

#include "../base/leavings.h"
#include "run.h"

enum { RUN_LINE = 64 }; /* bytes of a cache line */

/* Bytes of the arrays fields, columns and sizes for each column. */
#define RUN_COLUMN_BYTES (sizeof(void *) + sizeof(field_t *) + sizeof(uint32_t))

/* Set the addresses of these arrays: they lie at `body`, RUN_COLUMN_BYTES for each column. */
void run_lay_out(run_t *run, void *body, uint32_t column_count);

/* Bytes of the block that small runs share, of one column in it, and where its first column begins. */
size_t run_shared_bytes(const run_t *run, uint32_t capacity);
size_t run_column_bytes(const run_t *run, uint32_t column, uint32_t capacity);
char *run_shared_start(char *block, uint32_t capacity);

/* Bytes of a block of its own for a column of so many bytes; and where in the block the column begins: on a line of its
 * own, and not where its neighbours begin. */
size_t run_block_bytes(size_t bytes);
char *run_place(const run_t *run, uint32_t column, char *block, size_t bytes);

/* The block of a column is about to have `size` bytes. Where the `bytes` of its rows reach beyond, because the column
 * does not begin near the beginning of the block, they move there. Returns where they are. */
char *run_move_up(const run_block_t *block, char *cells, size_t bytes, size_t size);

/* Set the members that follow from `fields`: sizes, plain, has_counted. */
void run_describe(run_t *run);

#endif
