/* convert_many.c - loops over numbers of one type that become numbers of another.
 *
 * There are eleven types of numbers. Instead of a loop for each of 110 pairs there is one that reads each type into the
 * widest form, int64_t or double, and one that writes each type from either form; between the two lies a block of
 * numbers in the nearest cache. Where the source has the widest form already, or the target is that form, one loop does
 * all. The pairs that want neither (i32 to f64) have loops of their own.
 *
 * Whether a number fits is gathered as bits, not branched on. Conversions of numbers that are out of range are
 * undefined in C, so such numbers are replaced by 0 before; the caller discards the results of a block that has one.
 *
 * Measured: build/bench --filter reload_convert; a million values of 8 bytes take 0.4 to 1.5 ms where memory does not
 * bound them.
 */
#include "convert_many.h"

#include <float.h>
#include <math.h>

/* --- one type into its widest form -------------------------------------------------------------------------------- */

typedef bool (*loop_t)(const void *from, void *to, size_t count);

#define READ(name, type, wide)                                          \
    static bool name(const void *from, void *to, size_t count)          \
    {                                                                   \
        const type *restrict numbers = from;                            \
        wide *restrict out = to;                                        \
        for (size_t i = 0; i < count; i++)                              \
            out[i] = (wide)numbers[i];                                  \
        return true;                                                    \
    }

READ(read_i8, int8_t, int64_t)
READ(read_u8, uint8_t, int64_t)
READ(read_i16, int16_t, int64_t)
READ(read_u16, uint16_t, int64_t)
READ(read_i32, int32_t, int64_t)
READ(read_u32, uint32_t, int64_t)
READ(read_f32, float, double)
READ(i32_to_f64, int32_t, double)

/* Numbers beyond those of int64_t are left to the caller. */
static bool read_u64(const void *from, void *to, size_t count)
{
    const uint64_t *restrict numbers = from;
    int64_t *restrict out = to;
    uint64_t beyond = 0;
    for (size_t i = 0; i < count; i++) {
        beyond |= numbers[i] >> 63;
        out[i] = (int64_t)(numbers[i] & INT64_MAX);
    }
    return beyond == 0;
}

/* --- whole numbers into another type ------------------------------------------------------------------------------ */

/* Types of `bits` bits. A number of a signed type becomes one without a sign by adding `half`; what remains above the
 * type's bits is too large. */
#define FROM_WHOLE(name, type, bits, half)                              \
    static bool name(const void *from, void *to, size_t count)          \
    {                                                                   \
        const int64_t *restrict numbers = from;                         \
        type *restrict out = to;                                        \
        uint64_t lost = 0;                                              \
        for (size_t i = 0; i < count; i++) {                            \
            lost |= ((uint64_t)numbers[i] + (half)) >> (bits);          \
            out[i] = (type)(uint64_t)numbers[i];                        \
        }                                                               \
        return lost == 0;                                               \
    }

FROM_WHOLE(whole_to_bool, uint8_t, 1, 0u)
FROM_WHOLE(whole_to_i8, int8_t, 8, 0x80u)
FROM_WHOLE(whole_to_u8, uint8_t, 8, 0u)
FROM_WHOLE(whole_to_i16, int16_t, 16, 0x8000u)
FROM_WHOLE(whole_to_u16, uint16_t, 16, 0u)
FROM_WHOLE(whole_to_i32, int32_t, 32, 0x80000000u)
FROM_WHOLE(whole_to_u32, uint32_t, 32, 0u)
FROM_WHOLE(whole_to_u64, uint64_t, 63, 0u)

static bool whole_to_i64(const void *from, void *to, size_t count)
{
    memcpy(to, from, count * sizeof(int64_t));
    return true;
}

/* Exact where the number comes back. Numbers of more than 62 bits are left to the caller, since the nearest float of
 * some of them is no int64_t. */
#define WHOLE_TO_REAL(name, type)                                                       \
    static bool name(const void *from, void *to, size_t count)                          \
    {                                                                                   \
        const uint64_t quarter = UINT64_C(1) << 62;                                     \
        const int64_t *restrict numbers = from;                                         \
        type *restrict out = to;                                                        \
        uint64_t lost = 0;                                                              \
        for (size_t i = 0; i < count; i++) {                                            \
            uint64_t large = ((uint64_t)numbers[i] + quarter) >> 63;                    \
            int64_t number = large != 0 ? 0 : numbers[i];                               \
            out[i] = (type)number;                                                      \
            lost |= large | (uint64_t)((int64_t)out[i] != number);                      \
        }                                                                               \
        return lost == 0;                                                               \
    }

WHOLE_TO_REAL(whole_to_f32, float)
WHOLE_TO_REAL(whole_to_f64, double)

/* --- floats into another type ------------------------------------------------------------------------------------- */

/* Whole numbers from `least` to below `end`. `step`: a type that all of these fit, and that processors convert to. */
#define FROM_REAL(name, type, step, least, end)                                         \
    static bool name(const void *from, void *to, size_t count)                          \
    {                                                                                   \
        const double *restrict numbers = from;                                          \
        type *restrict out = to;                                                        \
        uint32_t lost = 0;                                                              \
        for (size_t i = 0; i < count; i++) {                                            \
            bool inside = (numbers[i] >= (least)) & (numbers[i] < (end));               \
            step whole = (step)(inside ? numbers[i] : 0.0);                             \
            lost |= (uint32_t)!(inside & ((double)whole == numbers[i]));                \
            out[i] = (type)whole;                                                       \
        }                                                                               \
        return lost == 0;                                                               \
    }

FROM_REAL(real_to_bool, uint8_t, int32_t, 0.0, 2.0)
FROM_REAL(real_to_i8, int8_t, int32_t, -128.0, 128.0)
FROM_REAL(real_to_u8, uint8_t, int32_t, 0.0, 256.0)
FROM_REAL(real_to_i16, int16_t, int32_t, -32768.0, 32768.0)
FROM_REAL(real_to_u16, uint16_t, int32_t, 0.0, 65536.0)
FROM_REAL(real_to_i32, int32_t, int32_t, -0x1p31, 0x1p31)
FROM_REAL(real_to_u32, uint32_t, int64_t, 0.0, 0x1p32)
FROM_REAL(real_to_i64, int64_t, int64_t, -0x1p63, 0x1p63)
FROM_REAL(real_to_u64, uint64_t, int64_t, 0.0, 0x1p63)

/* A finite number must not become an infinite one. */
static bool real_to_f32(const void *from, void *to, size_t count)
{
    const double first_infinite = 0x1.ffffffp127; /* the nearest float of this and of all above is infinite */
    const double *restrict numbers = from;
    float *restrict out = to;
    uint64_t lost = 0;
    for (size_t i = 0; i < count; i++)
        out[i] = (float)numbers[i];
    for (size_t i = 0; i < count; i++)
        lost |= (uint64_t)((fabs(numbers[i]) >= first_infinite) & (fabs(numbers[i]) <= DBL_MAX));
    return lost == 0;
}

static bool real_to_f64(const void *from, void *to, size_t count)
{
    memcpy(to, from, count * sizeof(double));
    return true;
}

/* --- any type into any other -------------------------------------------------------------------------------------- */

typedef struct loops_t {
    loop_t read, from_whole, from_real; /* read NULL: the type is a widest form itself */
} loops_t;

static const loops_t loops[BP_TYPE_COUNT] = {
    [BP_BOOL] = {read_u8, whole_to_bool, real_to_bool}, [BP_I8] = {read_i8, whole_to_i8, real_to_i8},
    [BP_U8] = {read_u8, whole_to_u8, real_to_u8},       [BP_I16] = {read_i16, whole_to_i16, real_to_i16},
    [BP_U16] = {read_u16, whole_to_u16, real_to_u16},   [BP_I32] = {read_i32, whole_to_i32, real_to_i32},
    [BP_U32] = {read_u32, whole_to_u32, real_to_u32},   [BP_I64] = {NULL, whole_to_i64, real_to_i64},
    [BP_U64] = {read_u64, whole_to_u64, real_to_u64},   [BP_F32] = {read_f32, whole_to_f32, real_to_f32},
    [BP_F64] = {NULL, whole_to_f64, real_to_f64},
};

/* One loop, where one does all; else NULL. */
static loop_t direct_loop(uint32_t from, uint32_t to)
{
    if (from == BP_I32 && to == BP_F64)
        return i32_to_f64;
    if (from == BP_F64)
        return loops[to].from_real;
    if (from == BP_I64)
        return loops[to].from_whole;
    if (from == BP_F32 && to == BP_F64)
        return read_f32;
    return to == BP_I64 && from != BP_F32 ? loops[from].read : NULL;
}

static bool convert_numbers(uint32_t from_type, const char *from, uint32_t to_type, char *to, size_t count)
{
    union { int64_t whole[CONVERT_BLOCK]; double real[CONVERT_BLOCK]; } wide;
    size_t from_size = value_size(from_type), to_size = value_size(to_type);
    if (from_type == to_type) {
        memcpy(to, from, count * to_size); /* also the bits of a NaN */
        return true;
    }
    loop_t direct = direct_loop(from_type, to_type);
    loop_t write = from_type == BP_F32 ? loops[to_type].from_real : loops[to_type].from_whole;
    bool fits = true;
    for (size_t i = 0; i < count && fits; i += CONVERT_BLOCK) {
        size_t n = count - i < CONVERT_BLOCK ? count - i : CONVERT_BLOCK;
        if (direct != NULL)
            fits = direct(from + i * from_size, to + i * to_size, n);
        else
            fits = loops[from_type].read(from + i * from_size, &wide, n) && write(&wide, to + i * to_size, n);
    }
    return fits;
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

static uint32_t number_type(const field_t *field)
{
    return field->parts > 0 ? field->part : field->type;
}

static uint32_t at_least_one(uint32_t count)
{
    return count > 0 ? count : 1;
}

/* How a cell of one declaration becomes one of another: the first `common` numbers are converted, and behind these the
 * new cell has its default. */
typedef struct cells_plan_t {
    const field_t *old, *field;
    uint32_t from, to; /* types of the numbers */
    uint32_t common;
    size_t from_bytes, to_bytes; /* of the common numbers */
    bool cut;          /* numbers of a vector are dropped: only where they equal the old default */
} cells_plan_t;

static bool plan(cells_plan_t *p, const field_t *old, const field_t *field)
{
    uint32_t parts = at_least_one(old->parts), wanted = at_least_one(field->parts);
    uint32_t count = parts * at_least_one(old->elements), room = wanted * at_least_one(field->elements);
    *p = (cells_plan_t){.old = old, .field = field, .from = number_type(old), .to = number_type(field)};
    p->common = count < room ? count : room;
    p->from_bytes = (size_t)p->common * value_size(p->from);
    p->to_bytes = (size_t)p->common * value_size(p->to);
    p->cut = parts > wanted;
    bool counted = field_is_counted(old) || field_is_counted(field);
    bool named = old->named.count > 0 || field->named.count > 0;
    bool numbers = p->from == p->to || loops[p->from].from_whole != NULL; /* numbers become numbers only */
    bool alike = parts == wanted || (old->elements == 0 && field->elements == 0);
    return !counted && !named && numbers && alike;
}

/* What the new cell has behind the common numbers. */
static void write_rest(const cells_plan_t *p, char *cell)
{
    const field_t *field = p->field;
    size_t size = field_item_size(field), end = field->size;
    if (field->initial_cell != NULL || field->elements == 0) {
        memcpy(cell + p->to_bytes, (const char *)field_initial(field, 0) + p->to_bytes, end - p->to_bytes);
        return;
    }
    for (size_t at = p->to_bytes; at < end; at += size) /* whole elements: their number alone has changed */
        memcpy(cell + at, &field->initial, size);
}

static inline bool is_same(const char *a, const char *b, size_t size)
{
    uint32_t x, y;
    if (size != sizeof x)
        return memcmp(a, b, size) == 0;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x == y;
}

/* Do the numbers that are dropped, of `count` cells, equal the old default? */
static bool may_go(const cells_plan_t *p, const char *from, uint32_t count)
{
    const char *gone = (const char *)field_initial(p->old, 0) + p->from_bytes;
    size_t step = p->old->size, rest = step - p->from_bytes;
    bool may = true;
    for (uint32_t i = 0; i < count && p->cut; i++)
        may &= is_same(from + i * step + p->from_bytes, gone, rest);
    return may;
}

/* The first `bytes` bytes of cells `step` apart, to cells `next` apart. */
static void copy_apart(const char *from, size_t step, char *to, size_t next, size_t bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        value_copy(to + i * next, from + i * step, (uint32_t)bytes);
}

/* Cells of which not all numbers go over, or which get more: packed, converted, and put apart again. */
static bool convert_apart(const cells_plan_t *p, const char *from, char *to, uint32_t count)
{
    enum { ROOM = CONVERT_BLOCK * (int)sizeof(int64_t) };
    union { int64_t aligned; char bytes[ROOM]; } packed, made;
    uint32_t most = CONVERT_BLOCK / p->common;
    size_t step = p->old->size, next = p->field->size;
    bool fits = most > 0 && may_go(p, from, count);
    for (uint32_t i = 0; i < count && fits; i += most) {
        uint32_t n = count - i < most ? count - i : most;
        if (p->from == p->to) {
            copy_apart(from + i * step, step, to + i * next, next, p->to_bytes, n);
        } else {
            copy_apart(from + i * step, step, packed.bytes, p->from_bytes, p->from_bytes, n);
            fits = convert_numbers(p->from, packed.bytes, p->to, made.bytes, (size_t)n * p->common);
            copy_apart(made.bytes, p->to_bytes, to + i * next, next, p->to_bytes, n);
        }
        for (uint32_t k = 0; k < n && p->to_bytes < next; k++)
            write_rest(p, to + (i + k) * next);
    }
    return fits;
}

/* Without a call for each of its parts: vec3 to vec4 is the most frequent change of a vector's length. */
static void widen_vec3(const bp_vec3_t *restrict from, bp_vec4_t *restrict to, float w, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = (bp_vec4_t){from[i].x, from[i].y, from[i].z, w};
}

bool convert_many(const field_t *old, const void *from, const field_t *field, void *to, uint32_t count)
{
    cells_plan_t p;
    bool fits = true;
    if (!plan(&p, old, field))
        return false;
    if (p.from_bytes == old->size && p.to_bytes == field->size)
        fits = convert_numbers(p.from, from, p.to, to, (size_t)count * p.common);
    else if (old->type == BP_VEC3 && field->type == BP_VEC4) /* alike: no arrays */
        widen_vec3(from, to, field->initial.vec4.w, count);
    else
        fits = convert_apart(&p, from, to, count);
    return fits && field_holds_all(field, to, (size_t)count * at_least_one(field->elements));
}
