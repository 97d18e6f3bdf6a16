/* schema.h - the JSON Schema of scenes, from what the loaded plugins declare.
 *
 * Not here: conditions between parts of a scene (names that exist, lists as long as a count, a component that is
 * inherited). A schema cannot express them; the compiler checks them.
 */
#ifndef HOST_PROGRAM_SCHEMA_H
#define HOST_PROGRAM_SCHEMA_H

#include "program.h"

#include <jansson.h>

/* The schema is of Draft 7, which editors know best. NULL when out of memory. */
json_t *schema_of_scenes(const program_t *program);

/* One property (schema.c): `each` where a list may give one value to each instance of a count. NULL when out of
 * memory. */
json_t *schema_of_property(const bp_field_t *field, bool each);

#endif
