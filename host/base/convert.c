/* convert.c - the rules of convert.h, value by value and column by column.
 *
 * A value is taken apart into numbers (value_parts of them), each number goes through the widest type that holds it
 * exactly (int64_t or double), and is put together again. That is one path for every pair of types; the pairs that large
 * columns meet (f32 to f64, i32 to i64 or f64, vec3 to vec4) have plain loops in front of it, which a compiler turns into vector
 * instructions.
 *
 * Invariant: `to` is written completely for every value before the one that is returned, so a caller that gets `count` has
 * a whole column.
 */
#include "convert.h"

#include <math.h>

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
