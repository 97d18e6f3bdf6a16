/* field.c - declarations parsed, and values held against their limits.
 *
 * Limits are compared as doubles, value by value. A column of floats is first looked at as a whole, without branches,
 * against limits rounded inwards; only a column that does not pass is searched for the value that the error names.
 */
#include "field.h"

#include "units.h"

#include <float.h>
#include <math.h>

static const char *copy_text(char **at, const char *text)
{
    size_t size = text == NULL ? 1 : strlen(text) + 1;
    char *copy = *at;
    memcpy(copy, text == NULL ? "" : text, size);
    *at += size;
    return copy;
}

static bool copy_texts(field_t *field, memory_t *memory, const bp_field_t *declared)
{
    const char *const texts[] = {declared->name, declared->initial, declared->min,        declared->max,
                                 declared->unit, declared->doc,     declared->former_name, declared->values};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        field->texts_size += texts[i] == NULL ? 1 : strlen(texts[i]) + 1;
    field->texts = memory_resize(memory, NULL, 0, field->texts_size);
    if (field->texts == NULL)
        return false;
    char *at = field->texts;
    field->name = copy_text(&at, declared->name);
    field->initial_text = copy_text(&at, declared->initial);
    field->min_text = copy_text(&at, declared->min);
    field->max_text = copy_text(&at, declared->max);
    field->unit = copy_text(&at, declared->unit);
    field->doc = copy_text(&at, declared->doc);
    field->former_name = copy_text(&at, declared->former_name);
    field->values_text = copy_text(&at, declared->values);
    return true;
}

static bp_result_t parse_limit(const value_context_t *context, const field_t *field, const char *text, double *limit,
                               uint64_t *exact, error_text_t *error)
{
    bp_value_t value;
    if (text[0] == '\0')
        return BP_OK;
    if (field->part == BP_TYPE_NONE)
        return error_set(error, BP_ERROR_TYPE, "a %s has no limits", value_type_name(field->type));
    bp_result_t result = value_parse(context, field->part, text, &value, error);
    if (result == BP_OK)
        *limit = value_part(field->part, &value, 0);
    if (result == BP_OK && field_is_long(field))
        *exact = value.u64 + field->lift;
    return result;
}

/* Precondition: all bytes of field->initial are zero. */
static void set_zero_default(field_t *field)
{
    if (field->type == BP_QUAT)
        field->initial.quat.w = 1.0f;
    for (int i = 0; field->type == BP_MAT4 && i < 16; i += 5)
        field->initial.mat4.m[i] = 1.0f;
    if (field->type == BP_STRING)
        field->initial.string = field->initial_text;
}

static bool all_zero(const void *bytes, size_t size)
{
    const unsigned char *b = bytes;
    while (size > 0 && b[size - 1] == 0)
        size--;
    return size == 0;
}

/* Whole columns of floats are checked as floats. Limits of such fields are floats already; those of other types, which
 * may be beyond them, are not looked at in this way. */
static void set_float_limits(field_t *field)
{
    field->min_f32 = field->min < -(double)FLT_MAX ? -INFINITY : (float)field->min;
    field->max_f32 = field->max > (double)FLT_MAX ? INFINITY : (float)field->max;
}

static bp_result_t parse_limits(field_t *field, const value_context_t *context, error_text_t *error)
{
    bp_result_t result = parse_limit(context, field, field->min_text, &field->min, &field->least, error);
    if (result == BP_OK)
        result = parse_limit(context, field, field->max_text, &field->max, &field->most, error);
    if (result == BP_OK && (field->min > field->max || field->least > field->most))
        result = error_set(error, BP_ERROR_RANGE, "min %s is greater than max %s", field->min_text, field->max_text);
    field->limited = value_is_finite(field->min) || value_is_finite(field->max) || field->named.count > 0;
    set_float_limits(field);
    return result;
}

/* The elements of an array, where they begin differently. Texts of strings are kept for as long as the field. */
static bp_result_t parse_initial_cell(field_t *field, memory_t *memory, const value_context_t *context,
                                      error_text_t *error)
{
    field_values_t values;
    bp_result_t result = field_parse_cell(field, context, memory, field->initial_text, &values, error);
    if (result != BP_OK)
        return result;
    field->initial_cell = memory_resize(memory, NULL, 0, field->size);
    if (field->initial_cell != NULL) {
        memcpy(field->initial_cell, values.items, field->size);
        field->initial_texts = values.texts;
        field->initial_texts_size = values.texts_size;
        values.texts = NULL;
    }
    field_values_free(&values, field);
    return field->initial_cell != NULL ? BP_OK : error_memory(error, "reading a default");
}

static bp_result_t parse_initial(field_t *field, memory_t *memory, const value_context_t *context, error_text_t *error)
{
    const char *text = field->initial_text;
    bp_result_t result = BP_OK;
    bool of_array = field->elements > 0 && text[0] == '[';
    if (field_is_list(field))
        return text[0] == '\0' || strcmp(text, "[]") == 0
                   ? BP_OK
                   : error_set(error, BP_ERROR_ARGUMENT, "a list begins empty; it has no other default");
    if (of_array)
        result = parse_initial_cell(field, memory, context, error);
    else if (text[0] != '\0')
        result = field_parse(field, context, text, &field->initial, error);
    bool unused = (field->flags & BP_FIELD_REQUIRED) != 0 && text[0] == '\0';
    if (result == BP_OK && !unused && !of_array)
        result = field_check(field, &field->initial, error);
    return result;
}

static void note_zero(field_t *field)
{
    const void *initial = field->initial_cell != NULL ? field->initial_cell : (const char *)&field->initial;
    field->initial_is_zero =
        field_is_list(field) || (field->type != BP_STRING &&
                                 all_zero(initial, field->initial_cell != NULL ? field->size : field_item_size(field)));
}

enum {
    KNOWN_FLAGS = BP_FIELD_READ_ONLY | BP_FIELD_REQUIRED | BP_FIELD_PATH | BP_FIELD_PARENT | BP_FIELD_LABEL |
                  BP_FIELD_LIST | BP_FIELD_BITS | BP_FIELD_DERIVED | BP_FIELD_HIDDEN
};

static bp_result_t read_names(field_t *field, memory_t *memory, error_text_t *error)
{
    bool bits = (field->flags & BP_FIELD_BITS) != 0;
    if (field->values_text[0] == '\0')
        return bits ? error_set(error, BP_ERROR_ARGUMENT, "its bits need names (.values)") : BP_OK;
    if (field->min_text[0] != '\0' || field->max_text[0] != '\0')
        return error_set(error, BP_ERROR_ARGUMENT, "named values are the range; there is no min or max beside them");
    return named_init(&field->named, memory, field->type, field->values_text, bits, error);
}

static bp_result_t check_shape(const bp_field_t *known, error_text_t *error)
{
    bool list = (known->flags & BP_FIELD_LIST) != 0;
    if (known->count > FIELD_MAX_ELEMENTS)
        return error_set(error, BP_ERROR_LIMIT, "field '%s' has %u elements; an array has at most %d", known->name,
                         known->count, FIELD_MAX_ELEMENTS);
    if (list && known->count > 1)
        return error_set(error, BP_ERROR_ARGUMENT,
                         "field '%s' is a list and has a count; a list has any number of values", known->name);
    if ((list || known->count > 1) && (known->flags & (BP_FIELD_PATH | BP_FIELD_PARENT | BP_FIELD_LABEL)) != 0)
        return error_set(error, BP_ERROR_ARGUMENT, "field '%s' is a parent, a label or a path, which is one value",
                         known->name);
    return BP_OK;
}

bp_result_t field_init(field_t *field, memory_t *memory, const value_context_t *context, const bp_field_t *declared,
                       uint32_t item_size, error_text_t *error)
{
    bp_field_t known;
    memset(&known, 0, sizeof known);
    memset(field, 0, sizeof *field);
    memcpy(&known, declared, item_size < sizeof known ? item_size : sizeof known);
    if (known.name == NULL || !names_is_word(known.name))
        return error_set(error, BP_ERROR_ARGUMENT,
                         "a field's name must be 1 to 63 letters, digits or underscores, not '%.40s'",
                         known.name == NULL ? "" : known.name);
    if ((known.flags & BP_FLAGS_REQUIRED & ~(uint32_t)KNOWN_FLAGS) != 0)
        return error_set(error, BP_ERROR_ABI, "field '%s' has unknown flags 0x%x", known.name, known.flags);
    if (known.access > (BP_READ | BP_WRITE))
        return error_set(error, BP_ERROR_ABI, "field '%s' has access 0x%x; it is BP_READ, BP_WRITE or 0", known.name,
                         known.access);
    if ((known.flags & BP_FIELD_PARENT) != 0 && known.type != BP_ENTITY)
        return error_set(error, BP_ERROR_TYPE, "field '%s' says who the parent is, so its type is entity", known.name);
    if ((known.flags & BP_FIELD_LABEL) != 0 && known.type != BP_STRING)
        return error_set(error, BP_ERROR_TYPE, "field '%s' is what people call the entity, so its type is string",
                         known.name);
    if (value_size(known.type) == 0)
        return error_set(error, BP_ERROR_TYPE, "field '%s': %u is no type (1 is bool ... 23 is dvec4)", known.name,
                         known.type);
    bp_result_t result = check_shape(&known, error);
    if (result != BP_OK)
        return result;
    if (!copy_texts(field, memory, &known))
        return error_memory(error, "copying a field's declaration");
    field->hash = names_hash(field->name);
    field->type = known.type;
    field->flags = known.flags & KNOWN_FLAGS;
    field->access = known.access;
    field->column = known.column;
    field->elements = known.count > 1 ? known.count : 0;
    field->size = field_is_list(field) ? (uint32_t)sizeof(bp_list_t)
                                       : value_size(known.type) * (known.count > 1 ? known.count : 1);
    field->parts = value_parts(known.type);
    field->part = value_part_type(known.type);
    field->min = -INFINITY;
    field->max = INFINITY;
    field->lift = field->part == BP_I64 ? UINT64_C(1) << 63 : 0;
    field->most = UINT64_MAX;
    set_zero_default(field);
    result = read_names(field, memory, error);
    if (result == BP_OK)
        result = parse_limits(field, context, error);
    if (result == BP_OK)
        result = parse_initial(field, memory, context, error);
    note_zero(field);
    if (result != BP_OK) {
        error_prefix(error, result, "field '%s': ", field->name);
        field_free(field, memory);
    }
    return result;
}

void field_free(field_t *field, memory_t *memory)
{
    named_free(&field->named, memory);
    memory_free(memory, field->initial_cell, field->size);
    memory_free(memory, field->initial_texts, field->initial_texts_size);
    memory_free(memory, field->texts, field->texts_size);
    memset(field, 0, sizeof *field);
}

const char *field_shape(uint32_t type, uint32_t elements, bool list, char *text, size_t size)
{
    if (elements > 1)
        snprintf(text, size, "array of %u %s", elements, value_type_name(type));
    else
        snprintf(text, size, "%s%s", list ? "list of " : "", value_type_name(type));
    return text;
}

static const char *given(const char *text)
{
    return text[0] == '\0' ? NULL : text;
}

void field_describe(const field_t *field, bp_field_t *declared)
{
    *declared = (bp_field_t){
        .name = field->name,
        .type = field->type,
        .access = field->access,
        .column = field->column,
        .flags = field->flags,
        .count = field->elements,
        .initial = given(field->initial_text),
        .min = given(field->min_text),
        .max = given(field->max_text),
        .unit = given(field->unit),
        .doc = given(field->doc),
        .former_name = given(field->former_name),
        .values = given(field->values_text),
    };
}

/* --- text --------------------------------------------------------------------------------------------------------- */

bp_result_t field_parse(const field_t *field, const value_context_t *context, const char *text, bp_value_t *value,
                        error_text_t *error)
{
    return field->named.count > 0 ? named_parse(&field->named, field->type, text, value, error)
                                  : value_parse(context, field->type, text, value, error);
}

void field_format(const field_t *field, const value_context_t *context, const void *value, char *text, size_t size)
{
    if (field->named.count > 0)
        named_format(&field->named, field->type, value, text, size);
    else
        value_format(context, field->type, value, text, size);
}

/* --- text of cells ------------------------------------------------------------------------------------------------ */

/* Reading "[...]": where the text is, and where decoded items go. */
typedef struct items_t {
    const char *at;
    char *out;
} items_t;

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

/* A quoted item, decoded; false where it does not end. */
static bool read_quoted(items_t *in)
{
    for (in->at++; *in->at != '"'; in->at++) {
        static const char letters[] = "\"\\/nrt", meant[] = "\"\\/\n\r\t";
        if (*in->at == '\\') {
            const char *found = *++in->at == '\0' ? NULL : strchr(letters, *in->at);
            if (found == NULL)
                return false;
            *in->out++ = meant[found - letters];
        } else if (*in->at == '\0') {
            return false;
        } else {
            *in->out++ = *in->at;
        }
    }
    in->at++;
    return true;
}

static void read_bare(items_t *in)
{
    size_t length = strcspn(in->at, ",]");
    const char *end = in->at + length;
    while (length > 0 && (in->at[length - 1] == ' ' || in->at[length - 1] == '\t'))
        length--;
    memcpy(in->out, in->at, length);
    in->out += length;
    in->at = end;
}

/* The next item as a text of its own; NULL where there is no item, or where neither a comma nor the end follows it. */
static const char *read_item(items_t *in)
{
    char *item = in->out;
    in->at = skip_blanks(in->at);
    if (*in->at != '"')
        read_bare(in);
    else if (!read_quoted(in))
        return NULL;
    in->at = skip_blanks(in->at);
    if (*in->at != ',' && *in->at != ']')
        return NULL;
    *in->out++ = '\0';
    return item;
}

static bp_result_t add_item(field_values_t *values, const field_t *field, const value_context_t *context,
                            const char *text, error_text_t *error)
{
    uint32_t size = field_item_size(field);
    bp_value_t value;
    if (!memory_reserve(values->memory, &values->items, &values->room, values->count + UINT64_C(1), size))
        return error_memory(error, "reading values");
    bp_result_t result = field_parse(field, context, text, &value, error);
    if (result == BP_OK && !field_is_single(field))
        result = field_check(field, &value, error);
    if (result != BP_OK)
        return field_is_single(field) ? result : error_prefix(error, result, "item %u: ", values->count);
    memcpy(values->items + (size_t)values->count++ * size, &value, size);
    return BP_OK;
}

static bp_result_t parse_items(field_values_t *values, const field_t *field, const value_context_t *context,
                               const char *text, error_text_t *error)
{
    items_t in = {.at = skip_blanks(text), .out = values->texts};
    bp_result_t result = BP_OK;
    if (*in.at != '[')
        return error_set(error, BP_ERROR_TYPE, "'%.60s' is not a list like [1, 2]", text);
    in.at = skip_blanks(in.at + 1);
    bool more = *in.at != ']';
    while (more && result == BP_OK) {
        const char *item = read_item(&in);
        if (item == NULL)
            return error_set(error, BP_ERROR_TYPE, "item %u of '%.60s' does not end with a comma or a ]", values->count,
                             text);
        result = add_item(values, field, context, item, error);
        more = *in.at == ',';
        in.at += more;
    }
    if (result == BP_OK && *skip_blanks(in.at + 1) != '\0')
        return error_set(error, BP_ERROR_TYPE, "'%.60s' goes on behind its ]", text);
    if (result == BP_OK && field->elements > 0 && values->count != field->elements)
        return error_set(error, BP_ERROR_TYPE, "it has %u elements, not %u", field->elements, values->count);
    return result;
}

bp_result_t field_parse_cell(const field_t *field, const value_context_t *context, memory_t *memory, const char *text,
                             field_values_t *values, error_text_t *error)
{
    *values = (field_values_t){.memory = memory};
    bp_result_t result;
    if (field_is_single(field)) {
        result = add_item(values, field, context, text, error);
    } else {
        values->texts_size = strlen(text) + 1; /* a decoded item's text, with its zero, is no longer than the encoded
                                                  item */
        values->texts = memory_resize(memory, NULL, 0, values->texts_size);
        result = values->texts == NULL ? error_memory(error, "reading values")
                                       : parse_items(values, field, context, text, error);
    }
    if (result != BP_OK)
        field_values_free(values, field);
    return result;
}

void field_values_free(field_values_t *values, const field_t *field)
{
    memory_free(values->memory, values->items, (size_t)values->room * field_item_size(field));
    memory_free(values->memory, values->texts, values->texts_size);
    *values = (field_values_t){.memory = values->memory};
}

const void *field_values_cell(const field_values_t *values, const field_t *field, bp_list_t *room)
{
    *room = (bp_list_t){values->items, values->count, 0};
    return field_is_list(field) ? (const void *)room : values->items;
}

/* A text being written, which counts on beyond the end of its room: characters that do not fit are only counted. */
typedef struct writing_t {
    char *text;
    size_t size, length;
} writing_t;

static void write_bytes(writing_t *out, const char *bytes, size_t count)
{
    if (out->length < out->size) {
        size_t room = out->size - out->length - 1, n = count < room ? count : room;
        memcpy(out->text + out->length, bytes, n);
        out->text[out->length + n] = '\0';
    }
    out->length += count;
}

static void write_quoted(writing_t *out, const char *text)
{
    write_bytes(out, "\"", 1);
    for (; *text != '\0'; text++) {
        static const char special[] = "\"\\\n\r\t", letters[] = "\"\\nrt";
        const char *found = strchr(special, *text);
        char escape[2] = {'\\', found == NULL ? '\0' : letters[found - special]};
        if (found != NULL)
            write_bytes(out, escape, 2);
        else
            write_bytes(out, text, 1);
    }
    write_bytes(out, "\"", 1);
}

static void write_item(writing_t *out, const field_t *field, const value_context_t *context, const void *item)
{
    char text[NAMED_MAX_TEXT];
    const char *string;
    if (field->type == BP_STRING) {
        memcpy(&string, item, sizeof string);
        write_quoted(out, string);
        return;
    }
    field_format(field, context, item, text, sizeof text);
    if (field->type == BP_NAME)
        write_quoted(out, text);
    else
        write_bytes(out, text, strlen(text));
}

size_t field_format_cell(const field_t *field, const value_context_t *context, const void *cell, char *text,
                         size_t size)
{
    writing_t out = {.text = text, .size = size};
    uint32_t count, item_size = field_item_size(field);
    const char *items = field_items(field, cell, &count), *string;
    if (field_is_single(field) && field->type == BP_STRING) {
        memcpy(&string, cell, sizeof string);
        write_bytes(&out, string, strlen(string));
        return out.length;
    }
    if (field_is_single(field)) {
        char value[NAMED_MAX_TEXT];
        field_format(field, context, cell, value, sizeof value);
        write_bytes(&out, value, strlen(value));
        return out.length;
    }
    write_bytes(&out, "[", 1);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            write_bytes(&out, ", ", 2);
        write_item(&out, field, context, items + (size_t)i * item_size);
    }
    write_bytes(&out, "]", 1);
    return out.length;
}

/* --- limits ------------------------------------------------------------------------------------------------------- */

/* Without branches, so that compilers can make it wide. */
static bool longs_inside(const field_t *field, const uint64_t *numbers, size_t count)
{
    uint64_t lift = field->lift, least = field->least, most = field->most;
    uint32_t outside = 0;
    for (size_t i = 0; i < count; i++)
        outside |= (uint32_t)((numbers[i] + lift < least) | (numbers[i] + lift > most));
    return outside == 0;
}

bool field_holds(const field_t *field, const void *value)
{
    if (field->named.count > 0)
        return named_holds(&field->named, field->type, value);
    if (field->limited && field_is_long(field)) {
        uint64_t number;
        memcpy(&number, value, sizeof number);
        return longs_inside(field, &number, 1);
    }
    for (uint32_t i = 0; field->limited && i < field->parts; i++) {
        double part = value_part(field->type, value, i);
        if (!(part >= field->min && part <= field->max))
            return false;
    }
    return true;
}

/* Likewise. */
#define ALL_INSIDE(name, type) \
    static bool name(const type *numbers, size_t count, double min, double max) \
    { \
        uint32_t outside = 0; \
        for (size_t i = 0; i < count; i++) \
            outside |= (uint32_t)!(((double)numbers[i] >= min) & ((double)numbers[i] <= max)); \
        return outside == 0; \
    }

ALL_INSIDE(f64_inside, double)
ALL_INSIDE(i8_inside, int8_t)
ALL_INSIDE(u8_inside, uint8_t)
ALL_INSIDE(i16_inside, int16_t)
ALL_INSIDE(u16_inside, uint16_t)
ALL_INSIDE(i32_inside, int32_t)
ALL_INSIDE(u32_inside, uint32_t)

/* Are all parts of f32 values inside? Without branches, so that compilers can make it wide. `parts` in each cell. */
static bool floats_inside(const field_t *field, const char *cells, size_t stride, size_t count, uint32_t parts)
{
    uint32_t outside = 0;
    float min = field->min_f32, max = field->max_f32;
    if (stride == parts * sizeof(float)) {
        const float *numbers = (const float *)(const void *)cells;
        for (size_t i = 0; i < count * parts; i++)
            outside |= (uint32_t)!((numbers[i] >= min) & (numbers[i] <= max));
        return outside == 0;
    }
    for (size_t i = 0; i < count; i++) {
        for (uint32_t part = 0; part < parts; part++) {
            float number;
            memcpy(&number, cells + i * stride + part * sizeof number, sizeof number);
            outside |= (uint32_t)!((number >= min) & (number <= max));
        }
    }
    return outside == 0;
}

static bool numbers_inside(uint32_t type, const void *numbers, size_t count, double min, double max)
{
    switch (type) {
    case BP_I8: return i8_inside(numbers, count, min, max);
    case BP_U8: return u8_inside(numbers, count, min, max);
    case BP_I16: return i16_inside(numbers, count, min, max);
    case BP_U16: return u16_inside(numbers, count, min, max);
    case BP_I32: return i32_inside(numbers, count, min, max);
    case BP_U32: return u32_inside(numbers, count, min, max);
    case BP_F64: return f64_inside(numbers, count, min, max);
    default: return true;
    }
}

bool field_holds_all(const field_t *field, const void *values, size_t count)
{
    if (!field->limited)
        return true;
    if (field->named.count == 0 && field->part == BP_F32)
        return floats_inside(field, values, field->parts * sizeof(float), count, field->parts);
    if (field->named.count == 0 && field_is_long(field))
        return longs_inside(field, values, count);
    if (field->named.count == 0 && field->parts > 0)
        return numbers_inside(field->part, values, count * field->parts, field->min, field->max);
    bool holds = true;
    for (size_t i = 0; i < count && holds; i++)
        holds = field_holds(field, (const char *)values + i * value_size(field->type));
    return holds;
}

static bp_result_t refuse_unnamed(const field_t *field, const void *value, error_text_t *error)
{
    char number[40];
    text_t list;
    value_format(NULL, field->type, value, number, sizeof number);
    return error_set(error, BP_ERROR_RANGE, "%s = %s is none of its %s (it has %s)", field->name, number,
                     field->named.bits ? "flags" : "values", named_list(&field->named, ", ", &list));
}

bp_result_t field_check(const field_t *field, const void *value, error_text_t *error)
{
    if (field_holds(field, value))
        return BP_OK;
    if (field->named.count > 0)
        return refuse_unnamed(field, value, error);
    char number[48];
    uint32_t i = 0;
    double part = value_part(field->type, value, 0);
    while (part >= field->min && part <= field->max && i + 1 < field->parts)
        part = value_part(field->type, value, ++i);
    value_format(NULL, field->part, (const char *)value + (size_t)i * value_size(field->part), number, sizeof number);
    return error_set(error, BP_ERROR_RANGE, "%s = %s is outside its range: %s%s%s%s%s%s%s", field->name, number,
                     field->min_text[0] ? "at least " : "", field->min_text,
                     field->min_text[0] && field->max_text[0] ? " and " : "", field->max_text[0] ? "at most " : "",
                     field->max_text, field->unit[0] ? " " : "", field->unit);
}

bp_result_t field_check_items(const field_t *field, const void *items, uint64_t count, error_text_t *error)
{
    uint32_t size = field_item_size(field);
    bp_result_t result = BP_OK;
    if (!field->limited ||
        (field->part == BP_F32 && floats_inside(field, items, size, (size_t)count, field->parts)))
        return BP_OK;
    for (uint64_t i = 0; i < count && result == BP_OK; i++)
        result = field_check(field, (const char *)items + i * size, error);
    return result;
}

bp_result_t field_check_all(const field_t *field, const void *cells, size_t stride, uint32_t count, error_text_t *error)
{
    uint32_t values = field->elements > 0 ? field->elements : 1;
    if (!field->limited || (field->part == BP_F32 && !field_is_list(field) &&
                            floats_inside(field, cells, stride, count, field->parts * values)))
        return BP_OK;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < count && result == BP_OK; i++) {
        const void *items = field_items(field, (const char *)cells + i * stride, &values);
        result = field_check_items(field, items, values, error);
    }
    return result;
}

bp_result_t field_in_units(const field_t *field, const char *units, bp_result_t result, error_text_t *error)
{
    size_t length = strlen(error->text), unit = strlen(field->unit);
    char text[2 * UNITS_MAX_LENGTH];
    if (result != BP_ERROR_RANGE || units == NULL || unit == 0 || unit > length ||
        strcmp(error->text + length - unit, field->unit) != 0)
        return result;
    units_say(units, field->unit, text, sizeof text);
    error->text[length - unit] = '\0';
    return error_set(error, result, "%s%s", error->text, text);
}
