/* run_inner.h - how a run's memory is laid out, for the files that lay it out.
 *
 * Inner to run.c, run_shape.c and run_sample.c.
 *
 * What it does not do: nothing else may count on it.
 */
#ifndef HOST_ENTITY_RUN_INNER_H
#define HOST_ENTITY_RUN_INNER_H

#include "run.h"

/* Bytes of the arrays columns, fields and sizes for each column. */
#define RUN_COLUMN_BYTES (sizeof(void *) + sizeof(field_t *) + 1)

/* Bytes of the block that small runs share, of one column in it, and where its first column begins. */
size_t run_shared_bytes(const run_t *run, uint32_t capacity);
size_t run_column_bytes(const run_t *run, uint32_t column, uint32_t capacity);
char *run_shared_start(char *block, uint32_t capacity);

/* Bytes of a column's own block, and where the column begins in it. */
size_t run_split_bytes(const run_t *run, uint32_t column, uint32_t capacity);
char *run_place(const run_t *run, uint32_t column, char *block);

/* Say anew what follows from `fields`: sizes, plain, has_strings. */
void run_describe(run_t *run);

#endif
