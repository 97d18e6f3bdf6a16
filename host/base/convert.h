/* convert.h - values of a field when its declaration changes: one set of rules for reloads and for old files.
 *
 * Fields are matched by name, then by former name. A field of both versions keeps its values, as they are or converted:
 *
 *   same      the same type
 *   widened every value fits: bool to any number; an integer to one of more bits, or of as many with the same sign, or
 *             to a float
 *             that holds all its values (u16 to f32, i32 to f64); f32 to f64; a vector to a longer one, where the new
 *             parts take the new field's default, or to one of doubles; vec4, quat and colour into each other
 *   narrowed  only if every value fits: a number to an integer (or bool) that can hold it exactly; an integer to a
 *             float that can hold it exactly; f64 to f32 where finite stays finite (rounded), dvec3 to vec3 likewise; a
 *             vector to a shorter one where the parts that are dropped equal the old field's default
 *   refused   anything else: a string is no number, a matrix no vector
 *
 * Values with names keep their names: where a name stands for another number now, values become that number, and a
 * value or a flag with a name that is no longer there does not fit.
 *
 * Where there are several values, each follows these rules. A single value becomes the first element of an array, or a
 * list of one; an array that grows gets new elements with their default, one that shrinks loses its last ones, which is
 * told; an array becomes a list of its elements. A list becomes an array or a single value only if it is not longer;
 * elements that the list lacks take the default.
 *
 * A value must also lie within the limits of the new declaration. Values of dead rows (entity {0}) never refuse a
 * conversion.
 *
 * Not here: moving columns; runs and blobs.
 */
#ifndef HOST_BASE_CONVERT_H
#define HOST_BASE_CONVERT_H

#include "field.h"

typedef enum convert_kind_t { CONVERT_REFUSED, CONVERT_SAME, CONVERT_WIDENED, CONVERT_NARROWED } convert_kind_t;

/* How values of one type become values of another. [any] */
convert_kind_t convert_kind(uint32_t from, uint32_t to);

/* Where the values of a new field come from. */
typedef struct convert_source_t {
    uint32_t old;        /* number of the old field; BP_NONE: added, takes its default */
    convert_kind_t kind; /* CONVERT_SAME where added */
    bool renamed;        /* found by its former name */
    bool check;          /* the values may be outside the new limits: see convert_check */
    uint32_t dropped;    /* elements of each array that have no place in the new one */
} convert_source_t;

/* Match a list of fields with an older one: sources[i] for new field i. An old field that no source names is dropped.
 * BP_ERROR_TYPE where a field's type cannot become the new one, BP_ERROR_EXISTS where two new fields claim one old
 * field; the error says what to do. [main] */
bp_result_t convert_plan(const field_t *old_fields, uint32_t old_count, const field_t *new_fields, uint32_t new_count,
                         convert_source_t *sources, error_text_t *error);

/* Do values themselves change, not only how many there are in a cell? [any] */
bool convert_changes_values(const field_t *old, const field_t *field);

/* Convert one value, which becomes number `index` of its cell. false: the value does not fit, or lies outside the new
 * limits. [any] */
bool convert_value(const field_t *old, const void *from, const field_t *field, void *to, uint32_t index);

/* Convert `count` packed values of `old`'s type at `from` to `field`'s type at `to`; the two do not overlap, both
 * fields have single values, and convert_kind does not refuse their types. `entities` may be NULL; where it is not,
 * values of rows with entity {0} take the default if they do not fit. Returns the index of the first value that does
 * not fit, `count` where all do. Same types are copied. [any] */
uint32_t convert_column(const field_t *old, const void *from, const field_t *field, void *to, uint32_t count,
                        const bp_entity_t *entities);

/* For cells that keep type and place: the index of the first with a value outside the limits of `field`, `count` where
   none is. [any] */
uint32_t convert_check(const field_t *field, const void *cells, uint32_t count, const bp_entity_t *entities);

/* The sentence about a cell of `old` that cannot become one of `field`; returns BP_ERROR_RANGE. [main] */
bp_result_t convert_refuse(const value_context_t *context, const field_t *old, const field_t *field, const void *cell,
                           error_text_t *error);

#endif
