/* field.c - declarations parsed, and values held against their limits.
 *
 * Limits are compared as doubles, value by value. A column of floats is first looked at as a whole, without branches, against limits
 * rounded inwards; only one that does not pass is gone through for the value to tell about.
 */
#include "field.h"

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
                               error_text_t *error)
{
    bp_value_t value;
    if (text[0] == '\0')
        return BP_OK;
    if (field->part == BP_TYPE_NONE)
        return error_set(error, BP_ERROR_TYPE, "a %s has no limits", value_type_name(field->type));
    bp_result_t result = value_parse(context, field->part, text, &value, error);
    if (result == BP_OK)
        *limit = value_part(field->part, &value, 0);
    return result;
}

static void set_zero_default(field_t *field)
{
    memset(&field->initial, 0, sizeof field->initial);
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

/* Whole columns are checked as floats, so the limits are rounded inwards. */
static void set_float_limits(field_t *field)
{
    field->min_f32 = field->min < -(double)FLT_MAX ? -INFINITY : (float)field->min;
    field->max_f32 = field->max > (double)FLT_MAX ? INFINITY : (float)field->max;
    if ((double)field->min_f32 < field->min)
        field->min_f32 = nextafterf(field->min_f32, INFINITY);
    if ((double)field->max_f32 > field->max)
        field->max_f32 = nextafterf(field->max_f32, -INFINITY);
}

static bp_result_t parse_texts(field_t *field, const value_context_t *context, error_text_t *error)
{
    bp_result_t result = parse_limit(context, field, field->min_text, &field->min, error);
    if (result == BP_OK)
        result = parse_limit(context, field, field->max_text, &field->max, error);
    if (result == BP_OK && field->min > field->max)
        result = error_set(error, BP_ERROR_RANGE, "min %s is greater than max %s", field->min_text, field->max_text);
    field->limited = value_is_finite(field->min) || value_is_finite(field->max) || field->named.count > 0;
    set_float_limits(field);
    if (result == BP_OK && field->initial_text[0] != '\0')
        result = field_parse(field, context, field->initial_text, &field->initial, error);
    bool unused = (field->flags & BP_FIELD_REQUIRED) != 0 && field->initial_text[0] == '\0';
    if (result == BP_OK && !unused)
        result = field_check(field, &field->initial, error);
    if (result == BP_OK)
        field->initial_is_zero = field->type != BP_STRING && all_zero(&field->initial, field->size);
    return result;
}

enum {
    KNOWN_FLAGS = BP_FIELD_READ_ONLY | BP_FIELD_REQUIRED | BP_FIELD_PATH | BP_FIELD_PARENT | BP_FIELD_LABEL | BP_FIELD_BITS
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

bp_result_t field_init(field_t *field, memory_t *memory, const value_context_t *context, const bp_field_t *declared,
                       uint32_t item_size, error_text_t *error)
{
    bp_field_t known;
    memset(&known, 0, sizeof known);
    memset(field, 0, sizeof *field);
    memcpy(&known, declared, item_size < sizeof known ? item_size : sizeof known);
    if (known.name == NULL || !names_is_word(known.name))
        return error_set(error, BP_ERROR_ARGUMENT, "a field's name must be 1 to 63 letters, digits or underscores, not '%.40s'",
                         known.name == NULL ? "" : known.name);
    if ((known.flags & BP_FLAGS_REQUIRED & ~(uint32_t)KNOWN_FLAGS) != 0)
        return error_set(error, BP_ERROR_ABI, "field '%s' has unknown flags 0x%x", known.name, known.flags);
    if (known.access > (BP_READ | BP_WRITE))
        return error_set(error, BP_ERROR_ABI, "field '%s' has access 0x%x; it is BP_READ, BP_WRITE or 0", known.name, known.access);
    if (known.count > 1)
        return error_set(error, BP_ERROR_ABI, "field '%s' has a count, which this host does not know yet", known.name);
    if ((known.flags & BP_FIELD_PARENT) != 0 && known.type != BP_ENTITY)
        return error_set(error, BP_ERROR_TYPE, "field '%s' says who the parent is, so its type is entity", known.name);
    if ((known.flags & BP_FIELD_LABEL) != 0 && known.type != BP_STRING)
        return error_set(error, BP_ERROR_TYPE, "field '%s' is what people call the entity, so its type is string", known.name);
    if (value_size(known.type) == 0)
        return error_set(error, BP_ERROR_TYPE, "field '%s': %u is no type (1 is bool ... 23 is dvec4)", known.name, known.type);
    if (!copy_texts(field, memory, &known))
        return error_memory(error, "copying a field's declaration");
    field->hash = names_hash(field->name);
    field->type = known.type;
    field->flags = known.flags & KNOWN_FLAGS;
    field->access = known.access;
    field->column = known.column;
    field->size = value_size(known.type);
    field->parts = value_parts(known.type);
    field->part = value_part_type(known.type);
    field->min = -INFINITY;
    field->max = INFINITY;
    set_zero_default(field);
    bp_result_t result = read_names(field, memory, error);
    if (result == BP_OK)
        result = parse_texts(field, context, error);
    if (result != BP_OK) {
        error_prefix(error, result, "field '%s': ", field->name);
        field_free(field, memory);
    }
    return result;
}

void field_free(field_t *field, memory_t *memory)
{
    named_free(&field->named, memory);
    memory_free(memory, field->texts, field->texts_size);
    memset(field, 0, sizeof *field);
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
        .initial = given(field->initial_text),
        .min = given(field->min_text),
        .max = given(field->max_text),
        .unit = given(field->unit),
        .doc = given(field->doc),
        .former_name = given(field->former_name),
        .values = given(field->values_text),
    };
}

/* --- text ------------------------------------------------------------------------------------------------------------ */

bp_result_t field_parse(const field_t *field, const value_context_t *context, const char *text, bp_value_t *value, error_text_t *error)
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

/* --- limits ---------------------------------------------------------------------------------------------------------- */

bool field_holds(const field_t *field, const void *value)
{
    if (field->named.count > 0)
        return named_holds(&field->named, field->type, value);
    for (uint32_t i = 0; field->limited && i < field->parts; i++) {
        double part = value_part(field->type, value, i);
        if (!(part >= field->min && part <= field->max))
            return false;
    }
    return true;
}

static bp_result_t refuse_unnamed(const field_t *field, const void *value, error_text_t *error)
{
    char number[40];
    text_t list;
    value_format(NULL, field->type, value, number, sizeof number);
    return error_set(error, BP_ERROR_RANGE, "%s = %s is none of its %s (it has %s)", field->name, number, field->named.bits ? "flags" : "values",
                     named_list(&field->named, ", ", &list));
}

bp_result_t field_check(const field_t *field, const void *value, error_text_t *error)
{
    if (field_holds(field, value))
        return BP_OK;
    if (field->named.count > 0)
        return refuse_unnamed(field, value, error);
    uint32_t i = 0;
    double part = value_part(field->type, value, 0);
    while (part >= field->min && part <= field->max && ++i < field->parts)
        part = value_part(field->type, value, i);
    return error_set(error, BP_ERROR_RANGE, "%s = %g is outside its range: %s%s%s%s%s%s%s", field->name, part,
                     field->min_text[0] ? "at least " : "", field->min_text, field->min_text[0] && field->max_text[0] ? " and " : "",
                     field->max_text[0] ? "at most " : "", field->max_text, field->unit[0] ? " " : "", field->unit);
}

/* Are all parts of f32 values inside? Without branches, so that compilers can make it wide. */
static bool floats_inside(const field_t *field, const char *values, size_t stride, uint32_t count)
{
    uint32_t parts = field->parts, outside = 0;
    float min = field->min_f32, max = field->max_f32;
    if (stride == field->size) {
        const float *numbers = (const float *)(const void *)values;
        for (size_t i = 0; i < (size_t)count * parts; i++)
            outside |= (uint32_t)!((numbers[i] >= min) & (numbers[i] <= max));
        return outside == 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t part = 0; part < parts; part++) {
            float number;
            memcpy(&number, values + i * stride + part * sizeof number, sizeof number);
            outside |= (uint32_t)!((number >= min) & (number <= max));
        }
    }
    return outside == 0;
}

bp_result_t field_check_all(const field_t *field, const void *values, size_t stride, uint32_t count, error_text_t *error)
{
    if (!field->limited || (field->part == BP_F32 && floats_inside(field, values, stride, count)))
        return BP_OK;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < count && result == BP_OK; i++)
        result = field_check(field, (const char *)values + i * stride, error);
    return result;
}
