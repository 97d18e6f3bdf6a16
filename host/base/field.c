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
                                 declared->unit, declared->doc,     declared->former_name};
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
    field->limited = value_is_finite(field->min) || value_is_finite(field->max);
    set_float_limits(field);
    if (result == BP_OK && field->initial_text[0] != '\0')
        result = value_parse(context, field->type, field->initial_text, &field->initial, error);
    bool unused = (field->flags & BP_FIELD_REQUIRED) != 0 && field->initial_text[0] == '\0';
    if (result == BP_OK && !unused)
        result = field_check(field, &field->initial, error);
    if (result == BP_OK)
        field->initial_is_zero = field->type != BP_STRING && all_zero(&field->initial, field->size);
    return result;
}

enum {
    KNOWN_FLAGS = BP_FIELD_READ_ONLY | BP_FIELD_REQUIRED | BP_FIELD_PATH | BP_FIELD_PARENT | BP_FIELD_LABEL
};

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
    if (known.count > 1 || known.values != NULL)
        return error_set(error, BP_ERROR_ABI, "field '%s' has a count or named values, which this host does not know yet", known.name);
    if ((known.flags & BP_FIELD_PARENT) != 0 && known.type != BP_ENTITY)
        return error_set(error, BP_ERROR_TYPE, "field '%s' says who the parent is, so its type is entity", known.name);
    if ((known.flags & BP_FIELD_LABEL) != 0 && known.type != BP_STRING)
        return error_set(error, BP_ERROR_TYPE, "field '%s' is what people call the entity, so its type is string", known.name);
    if (value_size(known.type) == 0)
        return error_set(error, BP_ERROR_TYPE, "field '%s': %u is no type (1 is bool ... 15 is name)", known.name, known.type);
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
    bp_result_t result = parse_texts(field, context, error);
    if (result != BP_OK) {
        error_prefix(error, result, "field '%s': ", field->name);
        field_free(field, memory);
    }
    return result;
}

void field_free(field_t *field, memory_t *memory)
{
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
    };
}

bp_result_t field_check(const field_t *field, const void *value, error_text_t *error)
{
    if (!field->limited)
        return BP_OK;
    for (uint32_t i = 0; i < field->parts; i++) {
        double part = value_part(field->type, value, i);
        if (part >= field->min && part <= field->max)
            continue;
        return error_set(error, BP_ERROR_RANGE, "%s = %g is outside its range: %s%s%s%s%s%s%s", field->name, part,
                         field->min_text[0] ? "at least " : "", field->min_text, field->min_text[0] && field->max_text[0] ? " and " : "",
                         field->max_text[0] ? "at most " : "", field->max_text, field->unit[0] ? " " : "", field->unit);
    }
    return BP_OK;
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

/* --- convert ----------------------------------------------------------------------------------------------------- */

/* The rules of field.h, value by value and column by column.
 *
 * A value is taken apart into numbers (value_parts of them), each number goes through the widest type that holds it
 * exactly (int64_t or double), and is put together again. That is one path for every pair of types; the pairs that large
 * columns meet (f32 to f64, i32 to i64 or f64, vec3 to vec4) have plain loops in front of it, which a compiler turns into vector
 * instructions.
 *
 * Invariant: `to` is written completely for every value before the one that is returned, so a caller that gets `count` has
 * a whole column.
 */

/* --- which types go together ------------------------------------------------------------------------------------------ */

static bool is_number(uint32_t type)
{
    return type >= BP_BOOL && type <= BP_F64;
}

static bool is_vector(uint32_t type)
{
    return (type >= BP_VEC2 && type <= BP_QUAT) || type == BP_COLOUR;
}

static bool holds_all(uint32_t from, uint32_t to)
{
    switch (from) {
    case BP_BOOL:
        return true;
    case BP_I32:
    case BP_U32:
        return to == BP_I64 || to == BP_F64;
    case BP_F32:
        return to == BP_F64;
    default:
        return false;
    }
}

convert_kind_t convert_kind(uint32_t from, uint32_t to)
{
    if (from == to)
        return value_size(from) != 0 ? CONVERT_SAME : CONVERT_REFUSED;
    if (is_number(from) && is_number(to))
        return holds_all(from, to) ? CONVERT_WIDENED : CONVERT_NARROWED;
    if (is_vector(from) && is_vector(to))
        return value_parts(from) <= value_parts(to) ? CONVERT_WIDENED : CONVERT_NARROWED;
    return CONVERT_REFUSED;
}

/* --- the plan --------------------------------------------------------------------------------------------------------- */

static uint32_t find_field(const field_t *fields, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(fields[i].name, name) == 0)
            return i;
    }
    return BP_NONE;
}

/* The old field that a new one goes on from. A name that is still borne by a new field is nobody's former name. */
static convert_source_t find_source(const field_t *old_fields, uint32_t old_count, const field_t *new_fields, uint32_t new_count,
                                    const field_t *field)
{
    convert_source_t source = {.old = find_field(old_fields, old_count, field->name), .kind = CONVERT_SAME};
    const char *former = field->former_name;
    if (source.old != BP_NONE || former == NULL || former[0] == '\0' || find_field(new_fields, new_count, former) != BP_NONE)
        return source;
    source.old = find_field(old_fields, old_count, former);
    source.renamed = source.old != BP_NONE;
    return source;
}

/* May a value that was right for the old field be wrong for the new one? */
static bool is_tighter(const field_t *old, const field_t *field)
{
    if (!field->limited)
        return false;
    return !old->limited || field->min > old->min || field->max < old->max;
}

static bp_result_t refuse_types(const field_t *old, const field_t *field, error_text_t *error)
{
    return error_set(error, BP_ERROR_TYPE,
                     "field '%s' was %s and is now %s, which values cannot be turned into; give the new field another name, and it starts with its default",
                     field->name, value_type_name(old->type), value_type_name(field->type));
}

bp_result_t convert_plan(const field_t *old_fields, uint32_t old_count, const field_t *new_fields, uint32_t new_count,
                         convert_source_t *sources, error_text_t *error)
{
    for (uint32_t i = 0; i < new_count; i++) {
        sources[i] = find_source(old_fields, old_count, new_fields, new_count, &new_fields[i]);
        if (sources[i].old == BP_NONE)
            continue;
        const field_t *old = &old_fields[sources[i].old];
        sources[i].kind = convert_kind(old->type, new_fields[i].type);
        sources[i].check = is_tighter(old, &new_fields[i]);
        if (sources[i].kind == CONVERT_REFUSED)
            return refuse_types(old, &new_fields[i], error);
        for (uint32_t j = 0; j < i; j++) {
            if (sources[j].old == sources[i].old)
                return error_set(error, BP_ERROR_EXISTS, "fields '%s' and '%s' both say that they were called '%s'; only one can go on from it",
                                 new_fields[j].name, new_fields[i].name, old->name);
        }
    }
    return BP_OK;
}

/* --- one value -------------------------------------------------------------------------------------------------------- */

/* A number in the widest form that holds it exactly. */
typedef struct number_t {
    bool whole;
    int64_t integer;
    double real;
} number_t;

static number_t read_number(uint32_t type, const void *value)
{
    bp_value_t v;
    memcpy(&v, value, value_size(type));
    switch (type) {
    case BP_BOOL:
        return (number_t){.whole = true, .integer = v.boolean};
    case BP_I32:
        return (number_t){.whole = true, .integer = v.i32};
    case BP_U32:
        return (number_t){.whole = true, .integer = v.u32};
    case BP_I64:
        return (number_t){.whole = true, .integer = v.i64};
    case BP_F32:
        return (number_t){.real = (double)v.f32};
    default:
        return (number_t){.real = v.f64};
    }
}

/* The integer that a number is; false where it is none, or beyond int64_t. */
static bool as_integer(const number_t *number, int64_t *integer)
{
    const double end = 9223372036854775808.0; /* 2^63 */
    *integer = number->integer;
    if (number->whole)
        return true;
    if (!(number->real >= -end && number->real < end) || number->real != floor(number->real))
        return false;
    *integer = (int64_t)number->real;
    return true;
}

static bool write_integer(const number_t *number, int64_t least, int64_t most, int64_t *integer)
{
    return as_integer(number, integer) && *integer >= least && *integer <= most;
}

static bool write_f64(const number_t *number, double *out)
{
    *out = number->whole ? (double)number->integer : number->real;
    /* 2^63 is what the largest integers are rounded to, and beyond the range of the way back. */
    return !number->whole || (*out < 9223372036854775808.0 && (int64_t)*out == number->integer);
}

/* isfinite of some C libraries warns of the float that it makes of a double. */
static bool is_finite(double number)
{
    return number - number == 0.0;
}

static bool write_f32(const number_t *number, float *out)
{
    if (!number->whole) {
        *out = (float)number->real;
        return is_finite((double)*out) || !is_finite(number->real);
    }
    *out = (float)number->integer;
    return *out < 9223372036854775808.0f && (int64_t)*out == number->integer;
}

static bool write_number(const number_t *number, uint32_t type, void *to)
{
    int64_t integer = 0;
    bp_value_t v;
    bool fits;
    switch (type) {
    case BP_BOOL:
        fits = write_integer(number, 0, 1, &integer);
        v.boolean = (uint8_t)integer;
        break;
    case BP_I32:
        fits = write_integer(number, INT32_MIN, INT32_MAX, &integer);
        v.i32 = (int32_t)integer;
        break;
    case BP_U32:
        fits = write_integer(number, 0, UINT32_MAX, &integer);
        v.u32 = (uint32_t)integer;
        break;
    case BP_I64:
        fits = as_integer(number, &v.i64);
        break;
    case BP_F32:
        fits = write_f32(number, &v.f32);
        break;
    default:
        fits = write_f64(number, &v.f64);
        break;
    }
    memcpy(to, &v, value_size(type));
    return fits;
}

static bool convert_vector(const field_t *old, const void *from, const field_t *field, void *to)
{
    uint32_t parts = value_parts(old->type), wanted = value_parts(field->type);
    float numbers[4], lost[4];
    memcpy(numbers, &field->initial, wanted * sizeof(float));
    memcpy(numbers, from, (parts < wanted ? parts : wanted) * sizeof(float));
    memcpy(to, numbers, wanted * sizeof(float));
    if (parts <= wanted)
        return true;
    memcpy(lost, from, parts * sizeof(float));
    return memcmp(lost + wanted, (const char *)&old->initial + wanted * sizeof(float), (parts - wanted) * sizeof(float)) == 0;
}

static bool inside(const field_t *field, const void *value)
{
    uint32_t parts = value_parts(field->type);
    for (uint32_t p = 0; field->limited && p < parts; p++) {
        double part = value_part(field->type, value, p);
        if (!(part >= field->min && part <= field->max))
            return false;
    }
    return true;
}

static bool convert_value(const field_t *old, const void *from, const field_t *field, void *to)
{
    if (old->type == field->type) {
        memcpy(to, from, field->size);
    } else if (is_number(old->type)) {
        number_t number = read_number(old->type, from);
        if (!write_number(&number, field->type, to))
            return false;
    } else if (!convert_vector(old, from, field, to)) {
        return false;
    }
    return inside(field, to);
}

/* --- columns ---------------------------------------------------------------------------------------------------------- */

static void widen_f32(const float *restrict from, double *restrict to, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = (double)from[i];
}

static void widen_i32(const int32_t *restrict from, int64_t *restrict to, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = from[i];
}

static void widen_i32_to_f64(const int32_t *restrict from, double *restrict to, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = (double)from[i];
}

static void widen_vec3(const bp_vec3_t *restrict from, bp_vec4_t *restrict to, float w, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = (bp_vec4_t){from[i].x, from[i].y, from[i].z, w};
}

/* The pairs that need no look at each value. False: take the general way. */
static bool convert_all(const field_t *old, const void *from, const field_t *field, void *to, uint32_t count)
{
    if (field->limited)
        return false;
    if (old->type == field->type)
        memcpy(to, from, (size_t)count * field->size);
    else if (old->type == BP_F32 && field->type == BP_F64)
        widen_f32(from, to, count);
    else if (old->type == BP_I32 && field->type == BP_I64)
        widen_i32(from, to, count);
    else if (old->type == BP_I32 && field->type == BP_F64)
        widen_i32_to_f64(from, to, count);
    else if (old->type == BP_VEC3 && field->type == BP_VEC4)
        widen_vec3(from, to, field->initial.vec4.w, count);
    else
        return false;
    return true;
}

uint32_t convert_column(const field_t *old, const void *from, const field_t *field, void *to, uint32_t count,
                        const bp_entity_t *entities)
{
    if (convert_kind(old->type, field->type) == CONVERT_REFUSED)
        return 0;
    if (count == 0 || convert_all(old, from, field, to, count))
        return count;
    const char *source = from;
    char *target = to;
    for (uint32_t i = 0; i < count; i++, source += old->size, target += field->size) {
        if (convert_value(old, source, field, target))
            continue;
        if (entities == NULL || entities[i].id != 0)
            return i;
        memcpy(target, &field->initial, field->size);
    }
    return count;
}

uint32_t convert_check(const field_t *field, const void *values, uint32_t count, const bp_entity_t *entities)
{
    const char *value = values;
    for (uint32_t i = 0; field->limited && i < count; i++, value += field->size) {
        if (!inside(field, value) && (entities == NULL || entities[i].id != 0))
            return i;
    }
    return count;
}

bp_result_t convert_refuse(const value_context_t *context, const field_t *old, const field_t *field, const void *value,
                           error_text_t *error)
{
    char text[128], limits[192] = "";
    value_format(context, old->type, value, text, sizeof text);
    if (field->limited)
        snprintf(limits, sizeof limits, " (from %s to %s)", field->min_text[0] != '\0' ? field->min_text : "any",
                 field->max_text[0] != '\0' ? field->max_text : "any");
    return error_set(error, BP_ERROR_RANGE, "field '%s' holds %s, which does not fit the new %s%s; bring the values into range first, or give the new field another name",
                     old->name, text, value_type_name(field->type), limits);
}
