/* field.h - a declared field: what gives a value its name, default, limits and unit.
 *
 * A declaration is parsed once, when a plugin is loaded: its texts are copied into one block, its default and limits read. A
 * default that breaks its own limits is refused there, unless the field must be given anyway.
 *
 * What it does not do: it keeps no values.
 */
#ifndef HOST_BASE_FIELD_H
#define HOST_BASE_FIELD_H

#include "named.h"

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
    uint32_t limited;     /* do min, max or named values matter? */
    double min, max;      /* of each part; infinite where not given */
    float min_f32, max_f32; /* the same limits for f32 parts: the outermost floats within them */
    named_t named;        /* names of its values; none where its count is 0 */
    bp_value_t initial;   /* a string points to initial_text */
    bool initial_is_zero; /* all bytes of the default are 0: columns may be cleared instead of filled */
    char *texts;          /* one block that holds all texts below and the name */
    size_t texts_size;
    const char *initial_text, *min_text, *max_text, *unit, *doc, *former_name, *values_text; /* "" where not given */
} field_t;

/* Copy a declaration and parse its default and limits; `item_size` is the size that the plugin's author knew. On
 * failure nothing is kept. [main] */
bp_result_t field_init(field_t *field, memory_t *memory, const value_context_t *context, const bp_field_t *declared,
                       uint32_t item_size, error_text_t *error);
void field_free(field_t *field, memory_t *memory);

/* The declaration in the form of the contract; its texts stay the host's. */
void field_describe(const field_t *field, bp_field_t *declared);

/* Read a value as text says it: a named one by its name, others as value_parse reads them. [main] */
bp_result_t field_parse(const field_t *field, const value_context_t *context, const char *text, bp_value_t *value, error_text_t *error);

/* Write a value as text, at most `size` bytes with the closing zero. [main] */
void field_format(const field_t *field, const value_context_t *context, const void *value, char *text, size_t size);

/* Does the value lie within the limits, and has it a name where values have names? [any] */
bool field_holds(const field_t *field, const void *value);

/* Do all `count` values, `stride` bytes apart, lie within the field's limits? The error is about the first that does
 * not. [main] */
bp_result_t field_check_all(const field_t *field, const void *values, size_t stride, uint32_t count, error_text_t *error);

/* The same as field_holds; the error names the field and both limits, or the names. [main] */
bp_result_t field_check(const field_t *field, const void *value, error_text_t *error);

#endif
