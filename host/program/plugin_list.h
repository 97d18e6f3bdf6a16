/* plugin_list.h - the loaded plugins, for people and as JSON.
 *
 * What it does not do: it knows nothing of the command that asks (`backplane plugins` and the console do).
 */
#ifndef HOST_PROGRAM_PLUGIN_LIST_H
#define HOST_PROGRAM_PLUGIN_LIST_H

#include "program.h"

#include <jansson.h>
#include <stdbool.h>

/* One line for each plugin: name, version, what it brings, its doc. */
int plugin_list_print_short(const program_t *program, bool styled);

/* All that one plugin declares. */
int plugin_list_print_one(const bp_plugin_desc_t *desc, const char *path, const char *crash, bool styled);

/* All that all plugins declare. */
int plugin_list_print(const program_t *program, bool styled);

/* The same as an array of objects; NULL when out of memory. */
json_t *plugin_list_json(const program_t *program);

#endif
