/* values.h - values of fields as JSON.
 *
 *     bool true; numbers 1.5; strings and names "text"; entities 4294967299 or null; vec2, vec3, vec4, quat, mat4 and
 * colour as arrays of their parts, [0, 1, 2]
 *
 * Arrays and lists of values are arrays of such values.
 *
 * Read are also: a vector as an object of its parts ({"x": 0, "y": 1, "z": 2}; r, g, b, a of colours); and for every
 * type the text that the console takes ("0 1 2", "#ff8000", "earth").
 *
 * Not here: ranges; the host checks them when a value is set.
 */
#ifndef INSPECTOR_VALUES_H
#define INSPECTOR_VALUES_H

#include "ask.h"
#include "look.h"
#include "shapes.h"

/* Write the value at `cell`. */
void values_write(const inspector_t *in, writer_t *w, uint32_t type, const void *cell);

/* Is the property all of an array or a list? */
static inline bool values_is_whole(const bp_property_t *property)
{
    return property->element == BP_NONE && property->count != 1;
}

/* Write the value of a resolved property of an entity: a value, or all of an array or a list. Returns the host's
 * result; where it is not BP_OK nothing is written. */
bp_result_t values_write_property(const inspector_t *in, writer_t *w, bp_world_o *world, bp_property_t *property,
                                  bp_entity_t entity);

/* Read one value that is no text in JSON: false, with the error left, where it does not fit the type. Texts of types
 * other than string and name are for bp_property_api.set_text. */
bool values_read(ask_t *ask, const json_t *json, uint32_t type, bp_value_t *value);

/* Read a part of a value: `value` holds the others already. */
bool values_read_part(ask_t *ask, const json_t *json, uint32_t type, uint32_t part, bp_value_t *value);

/* Set a property of one entity from JSON, in whole or in part (`path` as of mutate_components: "", ".x", "[0]"). False,
 * with the error left, where the property cannot be set. */
bool values_set(ask_t *ask, bp_world_o *world, bp_entity_t entity, const char *component, const char *property,
                const char *path, const json_t *json);

/* Set a property that has been resolved, in whole. */
bool values_set_path(ask_t *ask, bp_path_t *path, const json_t *json);

/* Write a property of one entity; false with nothing written where it cannot be read. */
bool values_get(const inspector_t *in, writer_t *w, bp_world_o *world, bp_entity_t entity, const char *component,
                const bp_field_t *field);

#endif
