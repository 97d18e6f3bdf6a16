/* field.h - a declared field: what gives a value its name, default, limits and unit.
 *
 * A declaration is parsed once, when a plugin is loaded: its texts are copied into one block, its default and limits read. A
 * default that breaks its own limits is refused there, unless the field must be given anyway.
 *
 * What it does not do: it keeps no values.
 */
#ifndef HOST_BASE_FIELD_H
#define HOST_BASE_FIELD_H

#include "value.h"

/* A field's declaration as the host keeps it: texts copied, default and limits parsed. */
typedef struct field_t {
    const char *name;
    bp_name_t hash;
    uint32_t type;
    uint32_t flags;
    uint32_t access;      /* BP_READ, BP_WRITE, or 0: what the component's own loop does with it */
    uint32_t column;      /* 1 + its place among the columns of that loop; 0: not said */
    uint32_t size;        /* bytes of one value */
    uint32_t parts, part; /* numbers in a value, and their type; 0: it is not made of numbers */
    uint32_t limited;     /* does min or max matter? */
    double min, max;      /* of each part; infinite where not given */
    float min_f32, max_f32; /* the same limits for f32 parts: the outermost floats within them */
    bp_value_t initial;   /* a string points to initial_text */
    bool initial_is_zero; /* all bytes of the default are 0: columns may be cleared instead of filled */
    char *texts;          /* one block that holds all texts below and the name */
    size_t texts_size;
    const char *initial_text, *min_text, *max_text, *unit, *doc, *former_name; /* "" where not given */
} field_t;

/* Copy a declaration and parse its default and limits; `item_size` is the size that the plugin's author knew. On
 * failure nothing is kept. [main] */
bp_result_t field_init(field_t *field, memory_t *memory, const value_context_t *context, const bp_field_t *declared,
                       uint32_t item_size, error_text_t *error);
void field_free(field_t *field, memory_t *memory);

/* The declaration in the form of the contract; its texts stay the host's. */
void field_describe(const field_t *field, bp_field_t *declared);

/* Do all `count` values, `stride` bytes apart, lie within the field's limits? The error is about the first that does
 * not. [main] */
bp_result_t field_check_all(const field_t *field, const void *values, size_t stride, uint32_t count, error_text_t *error);

/* Does the value lie within the field's limits? The error names the field and both limits. [main] */
bp_result_t field_check(const field_t *field, const void *value, error_text_t *error);

/* --- convert ----------------------------------------------------------------------------------------------------- */

/* What becomes of values when a field's declaration changes: one set of rules for reloads and for old files.
 *
 * Fields are matched by name, then by former name. What is in both keeps its values, as they are or converted:
 *
 *   same      the same type
 *   widened   every value fits: bool to any number; i32 or u32 to i64 or f64; f32 to f64; a vector to a longer one,
 *             whose new parts take the new field's default; vec4, quat and colour into each other
 *   narrowed  only if every value fits: a number to an integer (or bool) that can hold it exactly; an integer to a
 *             float that can hold it exactly; f64 to f32 where finite stays finite (rounded); a vector to a shorter one where
 *             the parts that go are what the old field's default says
 *   refused   anything else: a string is no number, a matrix no vector
 *
 * A value must also lie within the limits of the new declaration. Values of dead rows (entity {0}) never stand in the way.
 *
 * What it does not do: it moves no columns and knows neither runs nor blobs.
 */

typedef enum convert_kind_t { CONVERT_REFUSED, CONVERT_SAME, CONVERT_WIDENED, CONVERT_NARROWED } convert_kind_t;

/* How values of one type become values of another. [any] */
convert_kind_t convert_kind(uint32_t from, uint32_t to);

/* Where the values of a new field come from. */
typedef struct convert_source_t {
    uint32_t old;        /* number of the old field; BP_NONE: added, takes its default */
    convert_kind_t kind; /* CONVERT_SAME where added */
    bool renamed;        /* found by its former name */
    bool check;          /* the values may be outside the new limits: see convert_check */
} convert_source_t;

/* Match a list of fields with an older one: sources[i] for new field i. An old field that no source names is dropped.
 * BP_ERROR_TYPE where a field's type cannot become the new one, BP_ERROR_EXISTS where two new fields claim one old field;
 * the error says what to do. [main] */
bp_result_t convert_plan(const field_t *old_fields, uint32_t old_count, const field_t *new_fields, uint32_t new_count,
                         convert_source_t *sources, error_text_t *error);

/* Convert `count` packed values of `old`'s type at `from` to `field`'s type at `to`; the two do not overlap. `entities` may be
 * NULL; where it is not, rows whose entity is {0} take the default if their value does not fit. Returns the index of
 * the first value that does not fit (or lies outside the new limits), `count` where all do. Same types are copied. [any] */
uint32_t convert_column(const field_t *old, const void *from, const field_t *field, void *to, uint32_t count,
                        const bp_entity_t *entities);

/* For values that keep type and place: the index of the first outside the limits of `field`, `count` where none is. [any] */
uint32_t convert_check(const field_t *field, const void *values, uint32_t count, const bp_entity_t *entities);

/* The sentence about a value that convert_column or convert_check stopped at; returns BP_ERROR_RANGE. [main] */
bp_result_t convert_refuse(const value_context_t *context, const field_t *old, const field_t *field, const void *value,
                           error_text_t *error);

#endif
