/* report.h - what components and systems report at the end of a run, for people and as JSON.
 *
 * What it does not do: it reports nothing of the host's own (figures.h).
 */
#ifndef HOST_PROGRAM_REPORT_H
#define HOST_PROGRAM_REPORT_H

#include "program.h"

#include <jansson.h>
#include <stdbool.h>

/* Print all reports: a heading for each unit that has something to say, its tables and values. */
int report_print(const program_t *program, bool styled);

/* The same as an array: {"world", "unit", "tables": [{"title", "headers", "rows": [{header: cell}]}],
 * "values": {name: value}}; cells and values that are numbers as numbers. NULL when out of memory. */
json_t *report_json(const program_t *program);

#endif
