/* elements.h - properties with cells that are arrays, lists or texts: whole, and one element at a time.
 *
 * A property "items[3]" is resolved like "items", and remembers the 3. Element properties are for people and tools:
 * such a property looks up its cell at each use, and never leads to a plain copy.
 *
 * Not here: resolving names, checks of properties (property.c does both before it calls).
 */
#ifndef HOST_PROPERTY_ELEMENTS_H
#define HOST_PROPERTY_ELEMENTS_H

#include "../store/store.h"

/* Split "name[3]" into its name and the number between the brackets: `name`, of `size` bytes, receives "name", *element
 * 3. BP_NONE where there are no brackets. False where there is no number between them. */
bool elements_split(const char *property, char *name, size_t size, uint32_t *element);

/* Can the field have an element number `element`? An array has as many as declared; a list may have any number. */
bp_result_t elements_check(const field_t *field, uint32_t element, error_text_t *error);

/* Values of one element of `count` entities, `stride` apart; errors and lifetime as for bp_property_api.get. [job] */
bp_result_t elements_get(world_t *world, const bp_property_t *property, const field_t *field,
                         const bp_entity_t *entities, uint32_t count, char *values, size_t stride);

/* Set one element of `count` entities, all of them or none: limits and entities are checked first. The number behind
 * the last value of a list appends. [main] */
bp_result_t elements_set(world_t *world, const bp_property_t *property, const field_t *field,
                         const bp_entity_t *entities, uint32_t count, const char *values, size_t stride);

/* Put copies of `count` cells, `stride` apart, in the place of those of entities that are known to have the property:
 * texts, arrays of them, lists. All or nothing. [main] */
bp_result_t elements_set_whole(world_t *world, const bp_property_t *property, const field_t *field,
                               const bp_entity_t *entities, uint32_t count, const char *cells, size_t stride);

#endif
