/* field.h - a declared field: the name, default, limits and unit of a value.
 *
 * A declaration is parsed once, when a plugin is loaded: its texts are copied into one block, its default and limits
 * read. A default that breaks its own limits is refused there, unless the field must be given anyway.
 *
 * Not here: values of fields.
 */
#ifndef HOST_BASE_FIELD_H
#define HOST_BASE_FIELD_H

#include "named.h"

enum { FIELD_MAX_ELEMENTS = 65536 };

/* A field's declaration as the host keeps it: texts copied, default and limits parsed.
 *
 * A cell is what a row has of the field: one value; `elements` of them in an array; or a bp_list_t. */
typedef struct field_t {
    const char *name;
    bp_name_t hash;
    uint32_t type;        /* of each value */
    uint32_t flags;
    uint32_t access;      /* BP_READ, BP_WRITE: how the component's own loop uses the column; 0: not said */
    uint32_t column;      /* 1 + the place of its pointer in the plugin's struct of columns; 0: not said */
    uint32_t size;        /* bytes of a cell */
    uint32_t elements;    /* of an array, 2 at least; 0: the field is no array */
    uint32_t parts, part; /* numbers in a value, and their type; 0: the value is not made of numbers */
    uint32_t limited;     /* do min, max or named values matter? */
    double min, max;      /* of each part; infinite where not given */
    uint64_t lift, least, most; /* of i64 and u64 parts, which a double does not hold exactly: the limits, moved up by
                                   `lift` so that both types are compared as numbers without a sign */
    float min_f32, max_f32; /* the same limits, of f32 parts */
    named_t named;        /* names of its values; none where its count is 0 */
    bp_value_t initial;   /* of each value; a string points to initial_text, until its owner makes it a counted one */
    char *initial_cell;   /* of an array with different defaults for its elements, `size` bytes; else NULL */
    char *initial_texts;  /* the texts that strings in the default point to, likewise */
    size_t initial_texts_size;
    bool initial_is_zero; /* all bytes of the default are 0: columns may be cleared instead of filled */
    char *texts;          /* one block that holds all texts below and the name */
    size_t texts_size;
    const char *initial_text, *min_text, *max_text, *unit, *doc, *former_name, *values_text; /* "" where not given */
} field_t;

static inline bool field_is_list(const field_t *field)
{
    return (field->flags & BP_FIELD_LIST) != 0;
}

/* Is it a hidden column, for the component's own verbs only? Is it derived: does the component make it again where it
 * is lost? */
static inline bool field_is_hidden(const field_t *field)
{
    return (field->flags & BP_FIELD_HIDDEN) != 0;
}

static inline bool field_is_rebuilt(const field_t *field)
{
    return (field->flags & (BP_FIELD_HIDDEN | BP_FIELD_DERIVED)) == (BP_FIELD_HIDDEN | BP_FIELD_DERIVED);
}

/* Has each cell one value? */
static inline bool field_is_single(const field_t *field)
{
    return field->elements == 0 && !field_is_list(field);
}

/* Are its limits those of `least` and `most`? */
static inline bool field_is_long(const field_t *field)
{
    return field->part == BP_I64 || field->part == BP_U64;
}

/* Does a cell hold something outside itself: counted strings, the items of a list? */
static inline bool field_is_counted(const field_t *field)
{
    return field->type == BP_STRING || field_is_list(field);
}

/* Bytes of one value. */
static inline uint32_t field_item_size(const field_t *field)
{
    return field->elements > 0    ? field->size / field->elements
           : field_is_list(field) ? value_size(field->type)
                                  : field->size;
}

/* The values of a cell: as many as `*count` says. */
static inline const void *field_items(const field_t *field, const void *cell, uint32_t *count)
{
    bp_list_t list;
    *count = field->elements > 0 ? field->elements : 1;
    if (!field_is_list(field))
        return cell;
    memcpy(&list, cell, sizeof list);
    *count = list.count;
    return list.items;
}

/* The default of value `index` of a cell; of a list that of each. */
static inline const void *field_initial(const field_t *field, uint32_t index)
{
    return field->initial_cell == NULL ? (const void *)&field->initial
                                       : field->initial_cell + (size_t)index * field_item_size(field);
}

/* Copy a declaration and parse its default and limits; `item_size` is the size that the plugin's author knew. On
 * failure nothing is kept. [main] */
bp_result_t field_init(field_t *field, memory_t *memory, const value_context_t *context, const bp_field_t *declared,
                       uint32_t item_size, error_text_t *error);
void field_free(field_t *field, memory_t *memory);

/* "f32", "array of 4 f32", "list of f32": for sentences. Returns `text`. [any] */
const char *field_shape(uint32_t type, uint32_t elements, bool list, char *text, size_t size);

/* The declaration in the form of the contract; its texts stay the host's. */
void field_describe(const field_t *field, bp_field_t *declared);

/* Read one value as text says it: a named one by its name, others as value_parse reads them. [main] */
bp_result_t field_parse(const field_t *field, const value_context_t *context, const char *text, bp_value_t *value,
                        error_text_t *error);

/* Write one value as text, at most `size` bytes with the closing zero. [main] */
void field_format(const field_t *field, const value_context_t *context, const void *value, char *text, size_t size);

/* All values of a cell, read from a text: "[1, 2, 3]", vectors "[0 0 1, 0 1 0]", strings and names with a comma
 * "[\"a\", \"b\"]". Of a single value the text is as for field_parse. */
typedef struct field_values_t {
    memory_t *memory;
    char *items;     /* packed */
    uint32_t count, room;
    char *texts;     /* the texts that strings among the values point to */
    size_t texts_size;
} field_values_t;

/* An array's text has all its elements. Limits of arrays and lists are checked. `values` holds nothing on failure.
   [main] */
bp_result_t field_parse_cell(const field_t *field, const value_context_t *context, memory_t *memory, const char *text,
                             field_values_t *values, error_text_t *error);
void field_values_free(field_values_t *values, const field_t *field);

/* The address to hand to bp_property_api.set for these values: the values' own, or for a list the address of a
   bp_list_t, which is written to `room`. */
const void *field_values_cell(const field_values_t *values, const field_t *field, bp_list_t *room);

/* Write a cell as text, at most `size` bytes with the closing zero. Returns how long the whole is. [main] */
size_t field_format_cell(const field_t *field, const value_context_t *context, const void *cell, char *text,
                         size_t size);

/* Does one value lie within the limits, and has it a name where values have names? [any] */
bool field_holds(const field_t *field, const void *value);

/* Does field_holds hold for `count` values one after another? Quick for numbers without names. [any] */
bool field_holds_all(const field_t *field, const void *values, size_t count);

/* Do all values in `count` cells, `stride` bytes apart, lie within the field's limits? The error is about the first
 * value outside them. [main] */
bp_result_t field_check_all(const field_t *field, const void *cells, size_t stride, uint32_t count,
                            error_text_t *error);

/* Like field_check_all, for `count` values one after another. [main] */
bp_result_t field_check_items(const field_t *field, const void *items, uint64_t count, error_text_t *error);

/* Like field_holds; the error names the field and both limits, or the names. [main] */
bp_result_t field_check(const field_t *field, const void *value, error_text_t *error);

/* Where `result` is BP_ERROR_RANGE and its sentence ends with the field's unit, replace that unit by its name in a
 * world with `units` (units.h; NULL: none). Returns `result`. [main] */
bp_result_t field_in_units(const field_t *field, const char *units, bp_result_t result, error_text_t *error);

#endif
