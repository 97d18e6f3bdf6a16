/* gather.h - the values of one property for many entities, whichever components they have. Conditions, trees,
 * curves and the view of the world are made from such values.
 *
 * Not here: state; nothing is kept between two calls.
 */
#ifndef INSPECTOR_GATHER_H
#define INSPECTOR_GATHER_H

#include "condition.h"
#include "inspector.h"

enum { GATHER_SENTENCE_MAX = 320 };

/* The property to gather: the component as clients call it, and the field of the types that the component's name
 * means. */
typedef struct gather_t {
    char component[CONDITION_NAME_MAX], property[CONDITION_NAME_MAX];
    uint32_t type;  /* of the property: the same in all components that are called so; BP_TYPE_NONE where it was "":
                       presence */
    uint32_t part;  /* CONDITION_WHOLE, ..._LENGTH, ..._HAS, or a part's number */
} gather_t;

/* Find out what `field` of a condition means in a world, or what any text "component.property[.part]" means. False with
 * a sentence that says which names exist. */
bool gather_bind(const inspector_t *in, bp_world_o *world, const condition_field_t *field, gather_t *gather,
                 char sentence[GATHER_SENTENCE_MAX]);
bool gather_bind_text(const inspector_t *in, bp_world_o *world, const char *text, gather_t *gather,
                      char sentence[GATHER_SENTENCE_MAX]);

/* The values for `count` entities: `values` has room for count values of that type, `has` for count bytes; has[i] is 0,
 * and the value untouched, where entities[i] lacks the property. Returns how many have it. */
uint32_t gather_values(const inspector_t *in, bp_world_o *world, const gather_t *gather, const bp_entity_t *entities,
                       uint32_t count, void *values, uint8_t *has);

/* The value at `cell`, or the part or the length that is asked for, as a number; NaN where the value is no number. */
double gather_number(const gather_t *gather, const void *cell);

#endif
