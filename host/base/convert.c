/* convert.c - the rules of convert.h, value by value and column by column.
 *
 * A value is taken apart into numbers (value_parts of them), each number goes through the widest type that holds it
 * exactly (int64_t or double), and is put together again. One path serves every pair of types. Columns go block by
 * block through convert_many.h, which knows quick loops; the values of a block are looked at one by one only where not
 * all of them fit, or where values have names.
 *
 * Invariant: `to` is written completely for every value before the one that is returned, so a caller that gets `count`
 * has a whole column.
 */
#include "convert.h"
#include "convert_many.h"

#include <math.h>

/* --- which types go together -------------------------------------------------------------------------------------- */

static bool is_number(uint32_t type)
{
    return value_integer_bits(type) > 0 || type == BP_F32 || type == BP_F64;
}

static bool is_vector(uint32_t type)
{
    return value_parts(type) > 1 && type != BP_MAT4;
}

/* Bits of a whole number, its sign left out, that a type holds exactly. */
static uint32_t exact_bits(uint32_t type)
{
    return type == BP_F32 ? 24 : type == BP_F64 ? 53 : value_integer_bits(type) - (value_is_signed(type) ? 1 : 0);
}

static bool is_float(uint32_t type)
{
    return type == BP_F32 || type == BP_F64;
}

/* Does every number of one type fit the other? */
static bool holds_all(uint32_t from, uint32_t to)
{
    if (is_float(from))
        return is_float(to) && exact_bits(from) <= exact_bits(to);
    bool sign_fits = !value_is_signed(from) || value_is_signed(to) || is_float(to);
    return sign_fits && exact_bits(from) <= exact_bits(to);
}

convert_kind_t convert_kind(uint32_t from, uint32_t to)
{
    if (from == to)
        return value_size(from) != 0 ? CONVERT_SAME : CONVERT_REFUSED;
    if (is_number(from) && is_number(to))
        return holds_all(from, to) ? CONVERT_WIDENED : CONVERT_NARROWED;
    if (is_vector(from) && is_vector(to))
        return value_parts(from) <= value_parts(to) && holds_all(value_part_type(from), value_part_type(to))
                   ? CONVERT_WIDENED
                   : CONVERT_NARROWED;
    return CONVERT_REFUSED;
}

/* --- names of values ---------------------------------------------------------------------------------------------- */

static bool has_name(const named_t *named, const named_value_t *item)
{
    return named_find(named, item->name, strlen(item->name)) != NULL;
}

/* Do some names stand for other numbers than before, or are they gone? Added names change no present value. */
static bool moves_names(const field_t *old, const field_t *field)
{
    const named_t *was = &old->named, *is = &field->named;
    bool moves = was->count > 0 && is->count > 0 && was->bits != is->bits;
    for (uint32_t i = 0; i < was->count && is->count > 0 && !moves; i++) {
        const named_value_t *now = named_find(is, was->items[i].name, strlen(was->items[i].name));
        moves = now == NULL || now->number.bits != was->items[i].number.bits ||
                now->number.negative != was->items[i].number.negative;
    }
    return moves;
}

static bool keeps_names(const named_t *was, const named_t *is)
{
    for (uint32_t i = 0; i < was->count; i++) {
        if (!has_name(is, &was->items[i]))
            return false;
    }
    return was->bits == is->bits;
}

/* --- shapes ------------------------------------------------------------------------------------------------------- */

static uint32_t elements_of(const field_t *field)
{
    return field->elements > 0 ? field->elements : 1;
}

/* The kind of conversion for a change of a field's number of values. `*dropped` receives the number of elements that
 * are
   lost; losing them is reported and does not refuse the change. */
static convert_kind_t kind_of_shape(const field_t *old, const field_t *field, uint32_t *dropped)
{
    bool was = field_is_list(old), is = field_is_list(field);
    *dropped = 0;
    if (was || is)
        return was && is ? CONVERT_SAME : is ? CONVERT_WIDENED : CONVERT_NARROWED;
    if (elements_of(old) <= elements_of(field))
        return elements_of(old) == elements_of(field) ? CONVERT_SAME : CONVERT_WIDENED;
    *dropped = elements_of(old) - elements_of(field);
    return CONVERT_NARROWED;
}

static convert_kind_t kind_of(const field_t *old, const field_t *field, uint32_t *dropped)
{
    convert_kind_t shape = kind_of_shape(old, field, dropped), kind = convert_kind(old->type, field->type);
    if (kind == CONVERT_REFUSED)
        return kind;
    if (moves_names(old, field))
        kind = keeps_names(&old->named, &field->named) ? CONVERT_WIDENED : CONVERT_NARROWED;
    return kind > shape ? kind : shape; /* same, widened, narrowed */
}

/* --- the plan ----------------------------------------------------------------------------------------------------- */

static uint32_t find_field(const field_t *fields, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(fields[i].name, name) == 0)
            return i;
    }
    return BP_NONE;
}

/* The old field that a new one takes its values from. A former name counts only where no new field has that name
 * now. */
static convert_source_t find_source(const field_t *old_fields, uint32_t old_count, const field_t *new_fields,
                                    uint32_t new_count, const field_t *field)
{
    convert_source_t source = {.old = find_field(old_fields, old_count, field->name), .kind = CONVERT_SAME};
    const char *former = field->former_name;
    if (source.old != BP_NONE || former[0] == '\0' || find_field(new_fields, new_count, former) != BP_NONE)
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
    if (field->named.count > 0)
        return !keeps_names(&old->named, &field->named) || old->named.count == 0;
    if (!old->limited || old->named.count > 0)
        return true;
    if (field_is_long(field) || field_is_long(old))
        return old->part != field->part || field->least > old->least || field->most < old->most;
    return field->min > old->min || field->max < old->max;
}

static bp_result_t refuse_types(const field_t *old, const field_t *field, error_text_t *error)
{
    char was[64], is[64];
    return error_set(error, BP_ERROR_TYPE,
                     "field '%s' was %s and is now %s, which values cannot be turned into; give the new field another "
                     "name, and it starts with its default",
                     field->name, field_shape(old->type, old->elements, field_is_list(old), was, sizeof was),
                     field_shape(field->type, field->elements, field_is_list(field), is, sizeof is));
}

bp_result_t convert_plan(const field_t *old_fields, uint32_t old_count, const field_t *new_fields, uint32_t new_count,
                         convert_source_t *sources, error_text_t *error)
{
    for (uint32_t i = 0; i < new_count; i++) {
        sources[i] = find_source(old_fields, old_count, new_fields, new_count, &new_fields[i]);
        if (sources[i].old == BP_NONE)
            continue;
        const field_t *old = &old_fields[sources[i].old];
        sources[i].kind = kind_of(old, &new_fields[i], &sources[i].dropped);
        sources[i].check = is_tighter(old, &new_fields[i]);
        if (sources[i].kind == CONVERT_REFUSED)
            return refuse_types(old, &new_fields[i], error);
        for (uint32_t j = 0; j < i; j++) {
            if (sources[j].old == sources[i].old)
                return error_set(error, BP_ERROR_EXISTS,
                                 "fields '%s' and '%s' both say that they were called '%s'; only one can go on from it",
                                 new_fields[j].name, new_fields[i].name, old->name);
        }
    }
    return BP_OK;
}

bool convert_changes_values(const field_t *old, const field_t *field)
{
    return old->type != field->type || moves_names(old, field);
}

/* --- one value ---------------------------------------------------------------------------------------------------- */

/* A number in the widest form that holds it exactly. */
typedef struct number_t {
    bool whole;
    value_integer_t integer;
    double real;
} number_t;

static number_t read_number(uint32_t type, const void *value)
{
    if (is_float(type))
        return (number_t){.real = value_part(type, value, 0)};
    return (number_t){.whole = true, .integer = value_read_integer(type, value)};
}

/* The integer that a double is; false where it is none, or beyond those of 64 bits. */
static bool integer_of(double real, value_integer_t *integer)
{
    const double end = 18446744073709551616.0; /* 2^64 */
    if (!(real >= -end / 2 && real < end) || real != floor(real))
        return false;
    integer->negative = real < 0;
    integer->bits = real < 0 ? (uint64_t)(int64_t)real : (uint64_t)real;
    return true;
}

/* The double nearest to an integer. */
static double double_of(value_integer_t integer)
{
    return integer.negative ? (double)(int64_t)integer.bits : (double)integer.bits;
}

static bool is_integer(double real, value_integer_t integer)
{
    value_integer_t back;
    return integer_of(real, &back) && back.bits == integer.bits; /* of the same sign: it is the nearest double */
}

static bool write_f64(const number_t *number, double *out)
{
    *out = number->whole ? double_of(number->integer) : number->real;
    return !number->whole || is_integer(*out, number->integer);
}

static bool write_f32(const number_t *number, float *out)
{
    if (!number->whole) {
        *out = (float)number->real;
        return value_is_finite((double)*out) || !value_is_finite(number->real);
    }
    *out = number->integer.negative ? (float)(int64_t)number->integer.bits : (float)number->integer.bits;
    return is_integer((double)*out, number->integer);
}

static bool write_number(const number_t *number, uint32_t type, void *to)
{
    bp_value_t v = {.i64 = 0};
    value_integer_t integer = number->integer;
    bool fits;
    if (type == BP_F32)
        fits = write_f32(number, &v.f32);
    else if (type == BP_F64)
        fits = write_f64(number, &v.f64);
    else
        fits = (number->whole || integer_of(number->real, &integer)) && value_write_integer(type, integer, &v);
    memcpy(to, &v, value_size(type));
    return fits;
}

/* Convert part by part; the parts that the old vector has beyond the new one must equal the old field's default. */
static bool convert_vector(const field_t *old, const void *from, const field_t *field, void *to, uint32_t index)
{
    uint32_t parts = value_parts(old->type), wanted = value_parts(field->type),
             common = parts < wanted ? parts : wanted;
    uint32_t old_part = value_part_type(old->type), part = value_part_type(field->type);
    size_t old_size = value_size(old_part), size = value_size(part);
    const char *lost = field_initial(old, index);
    memcpy(to, field_initial(field, index), value_size(field->type));
    for (uint32_t i = 0; i < common; i++) {
        number_t number = read_number(old_part, (const char *)from + i * old_size);
        if (old_part == part)
            memcpy((char *)to + i * size, (const char *)from + i * size, size); /* also the bits of a NaN */
        else if (!write_number(&number, part, (char *)to + i * size))
            return false;
    }
    return memcmp((const char *)from + common * old_size, lost + common * old_size, (parts - common) * old_size) == 0;
}

/* The value with the same name, or with the same flags set. A number that the old list has no name for stays what it
   is. */
static bool convert_named(const field_t *old, const void *from, const field_t *field, void *to)
{
    value_integer_t number = value_read_integer(old->type, from), result = {0, false};
    const named_t *was = &old->named, *is = &field->named;
    uint32_t known = 0;
    for (uint32_t i = 0; i < was->count; i++) {
        value_integer_t item = was->items[i].number;
        if (was->bits ? (number.bits & item.bits) == 0 : item.bits != number.bits) /* of one type, so of one sign */
            continue;
        const named_value_t *found = named_find(is, was->items[i].name, strlen(was->items[i].name));
        if (found == NULL || (known++ > 0 && !is->bits))
            return false;
        result = is->bits ? (value_integer_t){result.bits | found->number.bits, false} : found->number;
    }
    bool unnamed = was->bits ? (number.bits & ~was->mask) != 0 : known == 0;
    if (unnamed && known > 0)
        return false;
    return value_write_integer(field->type, unnamed ? number : result, to);
}

bool convert_value(const field_t *old, const void *from, const field_t *field, void *to, uint32_t index)
{
    if (moves_names(old, field)) {
        if (!convert_named(old, from, field, to))
            return false;
    } else if (old->type == field->type) {
        memcpy(to, from, value_size(field->type));
    } else if (is_number(old->type)) {
        number_t number = read_number(old->type, from);
        if (!write_number(&number, field->type, to))
            return false;
    } else if (!convert_vector(old, from, field, to, index)) {
        return false;
    }
    return field_holds(field, to);
}

/* --- columns ------------------------------------------------------------------------------------------------------ */

/* Values with names repeat in a column, so the results of the last conversions are remembered, by the bits of the old
 * value. */
enum { REMEMBERED_BITS = 8, REMEMBERED = 1 << REMEMBERED_BITS };

typedef struct remembered_t {
    uint64_t from, to;
    bool known, fits;
} remembered_t;

/* A variable of the value's own size is read into, since reading eight bytes of which one has just been written makes a
 * processor wait. */
static inline uint64_t read_bits(const char *value, uint32_t size)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (size) {
    case 1: return (uint8_t)value[0];
    case 2: memcpy(&two, value, sizeof two); return two;
    case 4: memcpy(&four, value, sizeof four); return four;
    default: memcpy(&eight, value, sizeof eight); return eight;
    }
}

/* Values of one byte each have a place of their own. */
static inline bool convert_remembered(remembered_t *all, const field_t *old, const char *from, const field_t *field,
                                      char *to)
{
    uint64_t bits = read_bits(from, old->size);
    remembered_t *r = &all[old->size == 1 ? bits : bits * UINT64_C(0x9E3779B97F4A7C15) >> (64 - REMEMBERED_BITS)];
    if (!r->known || r->from != bits) {
        *r = (remembered_t){.from = bits, .known = true};
        r->fits = convert_value(old, from, field, &r->to, 0);
    }
    value_copy(to, &r->to, field->size);
    return r->fits;
}

static uint32_t convert_names(const field_t *old, const char *from, const field_t *field, char *to, uint32_t count,
                              const bp_entity_t *entities)
{
    remembered_t remembered[REMEMBERED];
    memset(remembered, 0, sizeof remembered);
    for (uint32_t i = 0; i < count; i++, from += old->size, to += field->size) {
        if (convert_remembered(remembered, old, from, field, to))
            continue;
        if (entities == NULL || entities[i].id != 0)
            return i;
        memcpy(to, &field->initial, field->size);
    }
    return count;
}

uint32_t convert_column(const field_t *old, const void *from, const field_t *field, void *to, uint32_t count,
                        const bp_entity_t *entities)
{
    uint32_t old_size = value_size(old->type), size = value_size(field->type);
    if (old->named.count > 0 || field->named.count > 0) /* integers have names, and become numbers: at most 8 bytes */
        return convert_names(old, from, field, to, count, entities);
    const char *source = from;
    char *target = to;
    for (uint32_t i = 0; i < count; i++, source += old_size, target += size) {
        if (i % CONVERT_BLOCK == 0) {
            uint32_t n = count - i < CONVERT_BLOCK ? count - i : CONVERT_BLOCK;
            if (convert_many(old, source, field, target, n)) {
                i += n - 1;
                source += (size_t)(n - 1) * old_size;
                target += (size_t)(n - 1) * size;
                continue;
            }
        }
        if (convert_value(old, source, field, target, 0))
            continue;
        if (entities == NULL || entities[i].id != 0)
            return i;
        memcpy(target, &field->initial, size);
    }
    return count;
}

static bool holds_cell(const field_t *field, const void *cell)
{
    uint32_t count, size = field_item_size(field);
    const char *items = field_items(field, cell, &count);
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++)
        good = field_holds(field, items + (size_t)i * size);
    return good;
}

uint32_t convert_check(const field_t *field, const void *cells, uint32_t count, const bp_entity_t *entities)
{
    const char *cell = cells;
    for (uint32_t i = 0; field->limited && i < count; i++, cell += field->size) {
        while (i % CONVERT_BLOCK == 0 && count - i >= CONVERT_BLOCK && !field_is_list(field) &&
               field_holds_all(field, cell, CONVERT_BLOCK * (size_t)(field->elements > 0 ? field->elements : 1))) {
            i += CONVERT_BLOCK;
            cell += (size_t)CONVERT_BLOCK * field->size;
        }
        if (i == count)
            break;
        if (!holds_cell(field, cell) && (entities == NULL || entities[i].id != 0))
            return i;
    }
    return count;
}

/* --- refusals ----------------------------------------------------------------------------------------------------- */

/* The first value of a cell that does not fit, and its number; NULL where all do for which there is room. */
static const void *find_misfit(const field_t *old, const field_t *field, const void *cell, uint32_t *index,
                               uint32_t *count)
{
    bp_value_t unused;
    uint32_t size = field_item_size(old);
    const char *items = field_items(old, cell, count);
    for (*index = 0; *index < *count && (field_is_list(field) || *index < elements_of(field)); ++*index) {
        if (!convert_value(old, items + (size_t)*index * size, field, &unused, *index))
            return items + (size_t)*index * size;
    }
    return NULL;
}

bp_result_t convert_refuse(const value_context_t *context, const field_t *old, const field_t *field, const void *cell,
                           error_text_t *error)
{
    char text[128], limits[192] = "", place[48] = "";
    text_t list;
    uint32_t index, count;
    const void *value = find_misfit(old, field, cell, &index, &count);
    if (value == NULL)
        return error_set(error, BP_ERROR_RANGE,
                         "field '%s' holds a list of %u values, and the new one has room for %u; take values out "
                         "first, or give the new field another name",
                         old->name, count, field->elements > 0 ? field->elements : 1);
    field_format(old, context, value, text, sizeof text);
    if (!field_is_single(old))
        snprintf(place, sizeof place, " (item %u of %u)", index, count);
    if (field->named.count > 0)
        snprintf(limits, sizeof limits, " (%s)", named_list(&field->named, ", ", &list));
    else if (field->limited)
        snprintf(limits, sizeof limits, " (from %s to %s)", field->min_text[0] != '\0' ? field->min_text : "any",
                 field->max_text[0] != '\0' ? field->max_text : "any");
    return error_set(error, BP_ERROR_RANGE,
                     "field '%s' holds %s%s, which does not fit the new %s%s; bring the values into range first, or "
                     "give the new field another name",
                     old->name, text, place, value_type_name(field->type), limits);
}
