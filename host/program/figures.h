/* figures.h - the sizes of worlds and the times of the units of their steps, as tables and as JSON.
 *
 * Not here: measuring; the host measures, and bp_look.h has the figures.
 */
#ifndef HOST_PROGRAM_FIGURES_H
#define HOST_PROGRAM_FIGURES_H

#include "program.h"

#include <jansson.h>
#include <stdbool.h>

/* Print the table of worlds: steps, time, entities, holes, prototypes, memory, milliseconds a step. */
int figures_print_worlds(const program_t *program, bool styled);

/* Print the table of units: the plugin of each, its rows and milliseconds a step, its share of the world's
 * time. Nothing where no unit is at work. */
int figures_print_units(const program_t *program, bool styled);

/* Both tables as arrays of objects; NULL when out of memory. */
json_t *figures_worlds_json(const program_t *program);
json_t *figures_units_json(const program_t *program);

/* Print both tables from such arrays, of several ranks: each object says its "rank". */
int figures_print_ranks(const json_t *worlds, const json_t *units, bool styled);

/* --- report ------------------------------------------------------------------------------------------------------ */

/* The reports of components and systems at the end of a run, for people and as JSON.
 *
 * Not here: figures of the host's own (above).
 */

/* Print all reports: a heading for each unit that has something to say, its tables and values. */
int report_print(const program_t *program, bool styled);

/* All reports as an array: {"world", "unit", "tables": [{"title", "headers", "rows": [{header: cell}]}],
 * "values": {name: value}}; cells and values that are numbers as numbers. NULL when out of memory. */
json_t *report_json(const program_t *program);

/* A function that tells reports to a sink; and both forms of output for what the function tells. */
typedef void (*report_source_t)(void *data, const bp_report_sink_i *sink);
int report_print_from(report_source_t source, void *data, bool styled);
json_t *report_json_from(report_source_t source, void *data);

#endif
