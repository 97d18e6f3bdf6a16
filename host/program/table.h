/* table.h - a table of texts, printed with aligned columns.
 *
 *     table_t table;
 *     table_begin(&table, 2);
 *     table_cell(&table, "Body");
 *     table_cell(&table, "Period");
 *     table_cell(&table, "Earth");
 *     table_cellf(&table, "%.2f", period);
 *     bool fine = table_print(&table, stdout, "  ", styled);
 *     table_end(&table);
 *
 * Columns of numbers stand right-aligned, others left-aligned. A table remembers that memory ran out;
 * table_print then says so.
 *
 * What it does not do: it wraps nothing; long cells make long lines.
 */
#ifndef HOST_PROGRAM_TABLE_H
#define HOST_PROGRAM_TABLE_H

#include "messages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct table_t {
    char **cells; /* row after row; the first row is the heading, unless bare */
    size_t count;
    size_t room;
    uint32_t columns;
    bool bare;    /* names and values: no heading, nothing right-aligned */
    bool failed;  /* an allocation failed: cells are missing */
} table_t;

/* An empty table of `columns` columns, at least one; a bare one has no heading. */
void table_begin(table_t *table, uint32_t columns);
void table_begin_bare(table_t *table, uint32_t columns);

/* Append a cell: a copy of `text`, control characters made visible. The first `columns` cells are the
 * heading. */
void table_cell(table_t *table, const char *text);
void table_cellf(table_t *table, const char *format, ...) PRINTS_LIKE(2, 3);

/* Number of rows, the heading not counted. */
size_t table_rows(const table_t *table);

/* Print heading and rows, `indent` before each line. false, with nothing printed, where memory ran out. */
bool table_print(const table_t *table, FILE *out, const char *indent, bool styled);

void table_end(table_t *table);

#endif
