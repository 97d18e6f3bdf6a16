/* plugin_list.h - the loaded plugins, for people and as JSON.
 *
 * Not here: the commands that ask (`backplane plugins` and the console).
 */
#ifndef HOST_PROGRAM_PLUGIN_LIST_H
#define HOST_PROGRAM_PLUGIN_LIST_H

#include "program.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* One line for each plugin: name, version, what it brings, its doc. */
int plugin_list_print_short(const program_t *program, bool styled);

/* All that one plugin declares. */
int plugin_list_print_one(const program_t *program, const bp_look_plugin_t *plugin, bool styled);

/* All that all plugins declare. */
int plugin_list_print(const program_t *program, bool styled);

/* All that all plugins declare, as an array of objects; NULL when out of memory. */
json_t *plugin_list_json(const program_t *program);

/* --- describe ---------------------------------------------------------------------------------------------------- */

/* The declarations of plugins, in words.
 *
 * Not here: values of living entities.
 */

/* Field number `index` of a component type; false past the last. */
bool describe_field(const program_t *program, const char *type, uint32_t index, bp_field_t *field);

/* "f32", "vec3"; "?" for a number that is no type. */
const char *describe_type(uint32_t type);

/* The shape of a cell of a field: "f32", "array of 3 u16", "list of string". Returns `text`. */
const char *describe_shape(const bp_field_t *field, char *text, size_t size);

/* Has a cell of the field one value, and not those of an array or a list? */
static inline bool describe_is_single(const bp_field_t *field)
{
    return field->count < 2 && (field->flags & BP_FIELD_LIST) == 0;
}

/* A named value of a field. */
typedef struct described_value_t {
    char name[64];
    long long number; /* of the value; with BP_FIELD_BITS of the bit */
} described_value_t;

/* The next value of the list that `*values` stands in; false at its end. Begin with field->values, which may be NULL,
   and number -1. */
bool describe_value(const char **values, described_value_t *value);

/* The value of a new instance as text, also where the declaration leaves it to the type ("0 0 0"). `room` is for a
   name. */
const char *describe_initial(const bp_field_t *field, described_value_t *room);

/* "0 to 10", "at least 0", "at most 10", "idle walking", or "". Returns `text`. */
const char *describe_range(const bp_field_t *field, char *text, size_t size);

#endif
