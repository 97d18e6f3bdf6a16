/* test_convert.c - what becomes of values when a declaration changes.
 *
 * Which pairs of types go together is a table; that widening loses nothing is tested by going back; what narrowing
 * accepts is compared with an oracle that knows only doubles and 64-bit integers, over numbers around every limit.
 */
#include "support.h"

#include "../suites.h"
#include "base/base.h"
#include "base/cells.h"
#include "base/convert.h"
#include "base/convert_many.h"

#include <float.h>
#include <math.h>
#include <string.h>

static memory_t memory;
static names_t names;
static value_context_t context;
static error_text_t error;
static field_t made[32];
static uint32_t made_count;

static void begin(void)
{
    memory_init(&memory, "test", &(bp_allocator_i){0});
    names_init(&names, &memory);
    context = (value_context_t){.names = &names, .entity_base = 5u << ENTITY_COUNTER_BITS};
    error.text[0] = '\0';
    made_count = 0;
}

static void end(void)
{
    for (uint32_t i = 0; i < made_count; i++)
        field_free(&made[i], &memory);
    names_free(&names);
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}

static const field_t *make(bp_field_t declared)
{
    ck_assert(made_count < COUNT(made));
    ck_assert_int_eq(field_init(&made[made_count], &memory, &context, &declared, sizeof declared, &error), BP_OK);
    return &made[made_count++];
}

static void expect(bp_result_t result, bp_result_t code, const char *part)
{
    ck_assert_msg(result == code, "%d instead of %d: %s", result, code, error.text);
    ck_assert_msg(strstr(error.text, part) != NULL, "\"%s\" is not in: %s", part, error.text);
}

START_TEST(pairs_of_types_are_the_same_widen_narrow_or_are_refused)
{
    static const char *const kinds[BP_TYPE_COUNT] = {
        /*                 b i u l f d 2 3 4 q m c s e n i8  16    64 d2d3d4 */
        [BP_BOOL] =   "S W W W W W . . . . . . . . . W W W W W . . .",
        [BP_I32] =    "N S N W N W . . . . . . . . . N N N N N . . .",
        [BP_U32] =    "N N S W N W . . . . . . . . . N N N N W . . .",
        [BP_I64] =    "N N N S N N . . . . . . . . . N N N N N . . .",
        [BP_F32] =    "N N N N S W . . . . . . . . . N N N N N . . .",
        [BP_F64] =    "N N N N N S . . . . . . . . . N N N N N . . .",
        [BP_VEC2] =   ". . . . . . S W W W . W . . . . . . . . W W W",
        [BP_VEC3] =   ". . . . . . N S W W . W . . . . . . . . N W W",
        [BP_VEC4] =   ". . . . . . N N S W . W . . . . . . . . N N W",
        [BP_QUAT] =   ". . . . . . N N W S . W . . . . . . . . N N W",
        [BP_MAT4] =   ". . . . . . . . . . S . . . . . . . . . . . .",
        [BP_COLOUR] = ". . . . . . N N W W . S . . . . . . . . N N W",
        [BP_STRING] = ". . . . . . . . . . . . S . . . . . . . . . .",
        [BP_ENTITY] = ". . . . . . . . . . . . . S . . . . . . . . .",
        [BP_NAME] =   ". . . . . . . . . . . . . . S . . . . . . . .",
        [BP_I8] =     "N W N W W W . . . . . . . . . S N W N N . . .",
        [BP_U8] =     "N W W W W W . . . . . . . . . N S W W W . . .",
        [BP_I16] =    "N W N W W W . . . . . . . . . N N S N N . . .",
        [BP_U16] =    "N W W W W W . . . . . . . . . N N N S W . . .",
        [BP_U64] =    "N N N N N N . . . . . . . . . N N N N S . . .",
        [BP_DVEC2] =  ". . . . . . N N N N . N . . . . . . . . S W W",
        [BP_DVEC3] =  ". . . . . . N N N N . N . . . . . . . . N S W",
        [BP_DVEC4] =  ". . . . . . N N N N . N . . . . . . . . N N S",
    };
    for (uint32_t from = 1; from < BP_TYPE_COUNT; from++) {
        const char *row = kinds[from];
        for (uint32_t to = 1; to < BP_TYPE_COUNT; to++, row++) {
            row += strspn(row, " ");
            convert_kind_t wanted = *row == 'S'   ? CONVERT_SAME
                                    : *row == 'W' ? CONVERT_WIDENED
                                    : *row == 'N' ? CONVERT_NARROWED
                                                  : CONVERT_REFUSED;
            ck_assert_msg(convert_kind(from, to) == wanted, "%s to %s", value_type_name(from), value_type_name(to));
        }
    }
    ck_assert_int_eq(convert_kind(0, 0), CONVERT_REFUSED);
    ck_assert_int_eq(convert_kind(99, 99), CONVERT_REFUSED);
}
END_TEST

/* Numbers around the ends of every type. */
static const double edges[] = {0.0,
                               -0.0,
                               0.5,
                               1.0,
                               2.0,
                               -1.0,
                               255.0,
                               16777216.0,
                               16777217.0,
                               2147483647.0,
                               2147483648.0,
                               -2147483648.0,
                               -2147483649.0,
                               4294967295.0,
                               4294967296.0,
                               9007199254740992.0,
                               9223372036854774784.0,
                               9223372036854775808.0,
                               -9223372036854775808.0,
                               3.4028234663852886e38,
                               3.5e38,
                               1e300,
                               -1e300,
                               1e-300,
                               (double)INFINITY,
                               -(double)INFINITY,
                               (double)NAN,
                               0.1};
enum { EDGES = sizeof edges / sizeof edges[0] };

static bool fits(double number, uint32_t type)
{
    switch (type) {
    case BP_BOOL:
        return number == 0.0 || number == 1.0;
    case BP_I32:
        return number == floor(number) && number >= -2147483648.0 && number <= 2147483647.0;
    case BP_U32:
        return number == floor(number) && number >= 0.0 && number <= 4294967295.0;
    case BP_I64:
        return number == floor(number) && number >= -9223372036854775808.0 && number < 9223372036854775808.0;
    case BP_F32:
        return !isfinite(number) || fabs(number) <= (double)FLT_MAX;
    default:
        return true;
    }
}

START_TEST(a_double_is_narrowed_exactly_where_it_fits)
{
    const field_t *from = make((bp_field_t){.name = "a", .type = BP_F64});
    for (uint32_t type = BP_BOOL; type <= BP_F32; type++) {
        const field_t *to = make((bp_field_t){.name = "a", .type = type});
        for (uint32_t i = 0; i < EDGES; i++) {
            bp_value_t out;
            bool converted = convert_column(from, &edges[i], to, &out, 1, NULL) == 1;
            ck_assert_msg(converted == fits(edges[i], type), "%.17g to %s", edges[i], value_type_name(type));
            if (converted && type == BP_BOOL)
                ck_assert_uint_eq(out.boolean, edges[i] == 1.0);
            else if (converted && isfinite(edges[i]))
                ck_assert(fabs(value_part(type, &out, 0) - edges[i]) <= fabs(edges[i]) * 1e-7 + 1e-45);
        }
    }
}
END_TEST

static const uint32_t integers[] = {BP_BOOL, BP_I8, BP_U8, BP_I16, BP_U16, BP_I32, BP_U32, BP_I64, BP_U64};
enum { INTEGERS = sizeof integers / sizeof integers[0] };

/* The number that the bytes of an integer type are, in 128 bits. */
__extension__ typedef __int128 wide_t;

static wide_t wide_of(uint32_t type, const bp_value_t *v)
{
    switch (type) {
    case BP_I8: return v->i8;
    case BP_BOOL: case BP_U8: return v->u8;
    case BP_I16: return v->i16;
    case BP_U16: return v->u16;
    case BP_I32: return v->i32;
    case BP_U32: return v->u32;
    case BP_I64: return v->i64;
    default: return v->u64;
    }
}

static bool holds(uint32_t type, wide_t number)
{
    static const int bits[BP_TYPE_COUNT] =
        {[BP_BOOL] = 1,  [BP_I8] = -8,  [BP_U8] = 8,    [BP_I16] = -16, [BP_U16] = 16,
         [BP_I32] = -32, [BP_U32] = 32, [BP_I64] = -64, [BP_U64] = 64};
    wide_t one = 1, most = bits[type] < 0 ? one << (-bits[type] - 1) : one << bits[type];
    return number < most && number >= (bits[type] < 0 ? -most : 0);
}

START_TEST(integers_of_all_kinds_become_each_other_where_they_fit)
{
    uint64_t random = 12;
    for (uint32_t i = 0; i < 100000; i++) {
        uint32_t from_type = integers[bp_random_below(&random, INTEGERS)],
                 to_type = integers[bp_random_below(&random, INTEGERS)];
        field_t from = {.type = from_type, .size = value_size(from_type)},
                to = {.type = to_type, .size = value_size(to_type)};
        bp_value_t value = {.u64 = bp_random_next(&random) >> bp_random_below(&random, 64)}, out = {.u64 = 0};
        if (bp_random_below(&random, 2) == 0)
            value.u64 = 0 - value.u64; /* small negative numbers */
        if (from_type == BP_BOOL)
            value.u64 &= 1;
        bool fits = convert_column(&from, &value, &to, &out, 1, NULL) == 1;
        bool right = fits == holds(to_type, wide_of(from_type, &value)) &&
                     (!fits || wide_of(to_type, &out) == wide_of(from_type, &value));
        EXPECT(right && (fits || convert_kind(from_type, to_type) == CONVERT_NARROWED), "%llx: %s to %s",
               (unsigned long long)value.u64, value_type_name(from_type), value_type_name(to_type));
    }
}
END_TEST

START_TEST(the_largest_integers_become_doubles_only_where_these_hold_them)
{
    const field_t *u64 = make((bp_field_t){.name = "a", .type = BP_U64}),
                  *f64 = make((bp_field_t){.name = "a", .type = BP_F64});
    const uint64_t exact[] = {UINT64_C(1) << 63, UINT64_C(0xFFFFFFFFFFFFF800)},
                   lost[] = {UINT64_MAX, (UINT64_C(1) << 63) + 1};
    const double doubles[] = {18446744073709551616.0, -1.0, 0.5};
    double d[2];
    uint64_t back[2];
    ck_assert_uint_eq(convert_column(u64, exact, f64, d, 2, NULL), 2);
    ck_assert_uint_eq(convert_column(f64, d, u64, back, 2, NULL), 2);
    ck_assert_mem_eq(exact, back, sizeof back);
    for (uint32_t i = 0; i < 2; i++)
        ck_assert_uint_eq(convert_column(u64, &lost[i], f64, d, 1, NULL), 0);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(convert_column(f64, &doubles[i], u64, back, 1, NULL), 0);
}
END_TEST

START_TEST(vectors_of_doubles_are_narrowed_where_finite_stays_finite)
{
    const field_t *three = make((bp_field_t){.name = "a", .type = BP_DVEC3}),
                  *single = make((bp_field_t){.name = "a", .type = BP_VEC3}),
                  *two = make((bp_field_t){.name = "a", .type = BP_VEC2});
    const bp_dvec3_t v[] = {{0.1, 2, 0}, {1e300, 0, 0}, {0, 0, 7}};
    bp_vec3_t out[3];
    bp_vec2_t short_out[3];
    ck_assert_uint_eq(convert_column(three, v, single, out, 3, NULL), 1);
    ck_assert(out[0].x == 0.1f && out[0].y == 2.0f);
    ck_assert_uint_eq(convert_column(three, &v[2], single, out, 1, NULL), 1);
    ck_assert_uint_eq(convert_column(three, v, two, short_out, 1, NULL), 1);
    ck_assert_uint_eq(convert_column(three, &v[2], two, short_out, 1, NULL), 0);
}
END_TEST

START_TEST(integers_that_a_float_cannot_hold_are_refused)
{
    const field_t *i64 = make((bp_field_t){.name = "a", .type = BP_I64}),
                  *f64 = make((bp_field_t){.name = "a", .type = BP_F64}),
                  *f32 = make((bp_field_t){.name = "a", .type = BP_F32});
    const int64_t exact[] = {0, -1, INT64_MIN, INT64_C(1) << 62, 16777216},
                  lost_f64[] = {INT64_MAX, (INT64_C(1) << 53) + 1, -(INT64_C(1) << 53) - 1};
    double d[5];
    float f[5];
    ck_assert_uint_eq(convert_column(i64, exact, f64, d, 5, NULL), 5);
    ck_assert_uint_eq(convert_column(i64, exact, f32, f, 5, NULL), 5);
    for (uint32_t i = 0; i < 5; i++)
        ck_assert(d[i] == (double)exact[i] && (double)f[i] == d[i]);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(convert_column(i64, &lost_f64[i], f64, d, 1, NULL), 0);
    ck_assert_uint_eq(convert_column(i64, &(int64_t){16777217}, f32, f, 1, NULL), 0);
}
END_TEST

START_TEST(widening_and_narrowing_back_gives_the_same_bits)
{
    static const uint32_t pairs[][2] = {{BP_I32, BP_I64},    {BP_I32, BP_F64},     {BP_U32, BP_I64},
                                        {BP_U32, BP_F64},    {BP_F32, BP_F64},     {BP_VEC2, BP_VEC3},
                                        {BP_VEC3, BP_VEC4},  {BP_VEC4, BP_COLOUR}, {BP_VEC2, BP_QUAT},
                                        {BP_VEC3, BP_DVEC3}, {BP_VEC2, BP_DVEC4}};
    enum { COUNT = 257 };
    static uint32_t bits[COUNT * 4], back[COUNT * 4];
    static double wide[COUNT * 8];
    uint64_t random = 7;
    for (uint32_t p = 0; p < sizeof pairs / sizeof pairs[0]; p++) {
        field_t from = {.type = pairs[p][0], .size = value_size(pairs[p][0])},
                to = {.type = pairs[p][1], .size = value_size(pairs[p][1])};
        for (uint32_t i = 0; i < COUNT * 4; i++) {
            bits[i] = (uint32_t)bp_random_next(&random);
            if ((bits[i] & 0x7F800000u) == 0x7F800000u)
                bits[i] &= 0x7FFFFFFFu & ~0x00800000u; /* a finite one: a quiet bit would be set on the way */
        }
        ck_assert_uint_eq(convert_column(&from, bits, &to, wide, COUNT, NULL), COUNT);
        ck_assert_uint_eq(convert_column(&to, wide, &from, back, COUNT, NULL), COUNT);
        ck_assert_mem_eq(bits, back, (size_t)COUNT * from.size);
    }
}
END_TEST

START_TEST(new_parts_of_a_vector_take_the_new_default_and_lost_ones_must_be_the_old)
{
    const field_t *three = make((bp_field_t){.name = "a", .type = BP_VEC3}),
                  *four = make((bp_field_t){.name = "a", .type = BP_VEC4, .initial = "0 0 0 1"});
    const bp_vec3_t v[] = {{1, 2, 3}, {4, 5, 6}};
    bp_vec4_t w[2];
    bp_vec3_t u[2];
    ck_assert_uint_eq(convert_column(three, v, four, w, 2, NULL), 2);
    ck_assert(w[1].z == 6.0f && w[1].w == 1.0f);
    ck_assert_uint_eq(convert_column(four, w, three, u, 2, NULL), 2);
    ck_assert_mem_eq(u, v, sizeof v);
    w[1].w = 0.5f;
    ck_assert_uint_eq(convert_column(four, w, three, u, 2, NULL), 1);
}
END_TEST

START_TEST(lost_parts_that_differ_from_the_old_default_in_one_bit_are_refused)
{
    const field_t *two = make((bp_field_t){.name = "a", .type = BP_VEC2}),
                  *four = make((bp_field_t){.name = "a", .type = BP_VEC4, .initial = "0 0 0 1"});
    bp_vec2_t out;
    for (uint32_t bit = 0; bit <= 64; bit++) {
        bp_vec4_t value = {1, 2, 0, 1};
        unsigned char bytes[sizeof value];
        memcpy(bytes, &value, sizeof value);
        if (bit < 64) /* else all is as it was */
            bytes[8 + bit / 8] ^= (unsigned char)(1u << bit % 8);
        EXPECT(convert_column(four, bytes, two, &out, 1, NULL) == (bit == 64), "bit %u", bit);
    }
}
END_TEST

START_TEST(values_of_the_dead_are_not_in_the_way)
{
    const field_t *i64 = make((bp_field_t){.name = "a", .type = BP_I64}),
                  *i32 = make((bp_field_t){.name = "a", .type = BP_I32, .initial = "3", .max = "9"});
    const int64_t values[] = {1, INT64_MAX, 2};
    const bp_entity_t entities[] = {{1}, {0}, {2}}, living[] = {{1}, {3}, {2}};
    int32_t out[3];
    ck_assert_uint_eq(convert_column(i64, values, i32, out, 3, entities), 3);
    ck_assert_int_eq(out[1], 3);
    ck_assert_uint_eq(convert_column(i64, values, i32, out, 3, living), 1);
    const int32_t kept[] = {1, 10, 2};
    ck_assert_uint_eq(convert_check(i32, kept, 3, entities), 3);
    ck_assert_uint_eq(convert_check(i32, kept, 3, living), 1);
    expect(convert_refuse(&context, i32, i32, &kept[1], &error), BP_ERROR_RANGE,
           "field 'a' holds 10, which does not fit the new i32 (from any to 9)");
}
END_TEST

/* Columns go through loops over many values; what these make of a column is what the rule for one value makes of
 * each. Every pair of types of numbers and vectors, small numbers with some at the edges, some of them of the dead. */
START_TEST(columns_become_what_each_of_their_values_becomes)
{
    enum { ROWS = 1300, WIDEST = 32 };
    static char from[ROWS * WIDEST], to[ROWS * WIDEST], one[WIDEST];
    static bp_entity_t living[ROWS];
    uint64_t random = 11;
    uint32_t whole = 0, refused = 0;
    for (uint32_t pair = 0; pair < BP_TYPE_COUNT * BP_TYPE_COUNT * 4; pair++) {
        uint32_t a = pair / 4 / BP_TYPE_COUNT, b = pair / 4 % BP_TYPE_COUNT;
        if (convert_kind(a, b) == CONVERT_REFUSED || a == BP_STRING || a == BP_MAT4)
            continue;
        field_t old = {.type = a, .size = value_size(a), .parts = value_parts(a), .part = value_part_type(a)};
        field_t field = {.type = b, .size = value_size(b), .parts = value_parts(b), .part = value_part_type(b)};
        field.limited = pair % 4 == 3 && field.parts > 0;
        field.min = (double)(field.min_f32 = -1);
        field.max = (double)(field.max_f32 = 100);
        uint32_t number = value_part_type(a) != 0 ? value_part_type(a) : a, size = value_size(number);
        for (uint32_t i = 0; i < ROWS * old.size / size; i++) {
            double v = (double)bp_random_below(&random, 2);
            if (pair % 4 == 0 && bp_random_below(&random, 900) == 0)
                v = edges[bp_random_below(&random, EDGES)];
            if (number == BP_F32)
                memcpy(from + i * size, &(float){(float)v}, size);
            else if (number == BP_F64)
                memcpy(from + i * size, &v, size);
            else
                memcpy(from + i * size, &(int64_t){v >= -1e18 && v <= 1e18 ? (int64_t)v : -1}, size);
        }
        for (uint32_t i = 0; i < ROWS; i++)
            living[i].id = pair % 4 == 1 ? bp_random_below(&random, 3) : 1;
        uint32_t wanted = 0;
        while (wanted < ROWS &&
               (convert_value(&old, from + wanted * old.size, &field, one, 0) || living[wanted].id == 0))
            wanted++;
        uint32_t got = convert_column(&old, from, &field, to, ROWS, living);
        ck_assert_msg(got == wanted, "%s to %s: %u and not %u", value_type_name(a), value_type_name(b), got, wanted);
        for (uint32_t i = 0; i < got; i++) {
            if (convert_value(&old, from + i * old.size, &field, one, 0))
                ck_assert_mem_eq(to + i * field.size, one, field.size);
            else
                ck_assert_mem_eq(to + i * field.size, &field.initial, field.size);
        }
        whole += got == ROWS;
        refused += got < ROWS;
    }
    ck_assert_uint_gt(whole, 200);
    ck_assert_uint_gt(refused, 50);
}
END_TEST

static void two(field_t *fields, bp_field_t a, bp_field_t b)
{
    fields[0] = *make(a);
    fields[1] = *make(b);
}

/* --- limits that have become tighter ------------------------------------------------------------------------------ */

enum { LONGEST = 3 * CONVERT_BLOCK + 5 };

static _Alignas(16) char column[LONGEST * 16];

/* Where a limit may be overlooked: at both ends of the column and of its blocks. */
static const uint32_t places[] = {0, 1, CONVERT_BLOCK - 1, CONVERT_BLOCK, CONVERT_BLOCK + 1, 2 * CONVERT_BLOCK - 1,
                                  3 * CONVERT_BLOCK - 1, 3 * CONVERT_BLOCK, LONGEST - 1};

/* Cells of `count` values are good but where one is made bad by its last value. */
static void check_columns(const field_t *field, const void *good, const void *bad)
{
    static bp_entity_t entities[LONGEST];
    uint32_t size = field_is_list(field) ? field->size : field_item_size(field), per_cell = field->size / size;
    for (uint32_t i = 0; i < LONGEST * per_cell; i++)
        memcpy(column + i * size, good, size);
    for (uint32_t i = 0; i < LONGEST; i++)
        entities[i].id = i + 1;
    for (uint32_t length = 0; length < COUNT(places); length++) {
        uint32_t count = places[length] + 1;
        ck_assert_uint_eq(convert_check(field, column, count, NULL), count);
        for (uint32_t p = 0; p < COUNT(places); p++) {
            char *cell = column + (size_t)places[p] * field->size + (per_cell - 1) * size;
            uint32_t found = places[p] < count ? places[p] : count;
            memcpy(cell, bad, size);
            ck_assert_uint_eq(convert_check(field, column, count, NULL), found);
            ck_assert_uint_eq(convert_check(field, column, count, entities), found);
            entities[places[p]].id = 0;
            ck_assert_uint_eq(convert_check(field, column, count, entities), count);
            entities[places[p]].id = 1;
            memcpy(cell, good, size);
        }
    }
}

START_TEST(one_value_outside_tighter_limits_is_found_wherever_it_lies)
{
    check_columns(make((bp_field_t){.name = "n", .type = BP_I32, .min = "-3", .max = "9"}), &(int32_t){9},
                  &(int32_t){10});
    check_columns(make((bp_field_t){.name = "n", .type = BP_I32, .min = "-3"}), &(int32_t){-3}, &(int32_t){-4});
    check_columns(make((bp_field_t){.name = "n", .type = BP_F32, .max = "0.5"}), &(float){0.5f}, &(float){0.6f});
    check_columns(make((bp_field_t){.name = "n", .type = BP_F64, .min = "0"}), &(double){0}, &(double){-1e-300});
    check_columns(make((bp_field_t){.name = "n", .type = BP_I64, .max = "9223372036854775806"}),
                  &(int64_t){INT64_MAX - 1}, &(int64_t){INT64_MAX});
    check_columns(make((bp_field_t){.name = "n", .type = BP_U8, .max = "200", .count = 3}), &(uint8_t){200},
                  &(uint8_t){201});
    check_columns(make((bp_field_t){.name = "n", .type = BP_I16, .min = "0", .count = 8}), &(int16_t){0},
                  &(int16_t){-1});
    check_columns(make((bp_field_t){.name = "n", .type = BP_U8, .values = "calm cross=7"}), &(uint8_t){7},
                  &(uint8_t){6});
    check_columns(make((bp_field_t){.name = "n", .type = BP_VEC2, .max = "1"}), &(bp_vec2_t){1, -5},
                  &(bp_vec2_t){0, 1.5f});
    static const int32_t good[] = {9, -3, 0, 9}, bad[] = {9, -3, 10};
    const field_t *list = make((bp_field_t){.name = "n", .type = BP_I32, .max = "9", .flags = BP_FIELD_LIST});
    const bp_list_t good_list = {.items = (void *)(uintptr_t)good, .count = 4, .capacity = 4};
    check_columns(list, &good_list, &(bp_list_t){.items = (void *)(uintptr_t)bad, .count = 3, .capacity = 3});
    const field_t *any = make((bp_field_t){.name = "n", .type = BP_I32});
    memset(column, 0x7f, sizeof column);
    ck_assert_uint_eq(convert_check(any, column, LONGEST, NULL), LONGEST);
}
END_TEST

START_TEST(fields_are_matched_by_name_then_by_former_name)
{
    field_t old[2], now[2];
    convert_source_t s[2];
    two(old, (bp_field_t){.name = "mass", .type = BP_F32}, (bp_field_t){.name = "speed", .type = BP_F32, .max = "9"});
    two(now, (bp_field_t){.name = "velocity", .type = BP_F64, .former_name = "speed"},
        (bp_field_t){.name = "mass", .type = BP_F32, .min = "0"});
    ck_assert_int_eq(convert_plan(old, 2, now, 2, s, &error), BP_OK);
    ck_assert(s[0].old == 1 && s[0].kind == CONVERT_WIDENED && s[0].renamed && !s[0].check);
    ck_assert(s[1].old == 0 && s[1].kind == CONVERT_SAME && !s[1].renamed && s[1].check);
    two(now, (bp_field_t){.name = "speed", .type = BP_F32},
        (bp_field_t){.name = "velocity", .type = BP_F32, .former_name = "speed"});
    ck_assert_int_eq(convert_plan(old, 2, now, 2, s, &error), BP_OK);
    ck_assert(s[0].old == 1 && s[0].check == false && s[1].old == BP_NONE); /* the name is still in use */
}
END_TEST

/* Which values need no look: limits of 64 bits are compared exactly, and with those of another type not at all. */
START_TEST(limits_that_have_become_tighter_by_one_are_looked_at)
{
    static const struct { uint32_t type; const char *before, *after; uint32_t now; bool looks; } cases[] = {
        {BP_I64, "9223372036854775807", "9223372036854775806", BP_I64, true},
        {BP_I64, "9223372036854775806", "9223372036854775806", BP_I64, false},
        {BP_I64, "9223372036854775806", "9223372036854775807", BP_I64, false},
        {BP_U64, "18446744073709551615", "18446744073709551614", BP_U64, true},
        {BP_I64, "9007199254740992", "9007199254740992", BP_U64, true},
        {BP_U64, "9007199254740992", "9007199254740992", BP_I64, true},
        {BP_I32, "5", "4", BP_I32, true}, {BP_I32, "5", "5", BP_I32, false},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        field_t old[2], now[2];
        convert_source_t s[2];
        two(old, (bp_field_t){.name = "a", .type = cases[i].type, .max = cases[i].before},
            (bp_field_t){.name = "b", .type = BP_F32});
        two(now, (bp_field_t){.name = "a", .type = cases[i].now, .max = cases[i].after},
            (bp_field_t){.name = "b", .type = BP_F32});
        ck_assert_int_eq(convert_plan(old, 2, now, 2, s, &error), BP_OK);
        EXPECT(s[0].check == cases[i].looks, "%u", i);
    }
}
END_TEST

START_TEST(a_least_number_that_has_become_greater_by_one_is_looked_at)
{
    static const struct { const char *before, *after; bool looks; } cases[] = {
        {"-9223372036854775808", "-9223372036854775807", true},
        {"-9223372036854775807", "-9223372036854775807", false},
        {"-9223372036854775807", "-9223372036854775808", false},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        field_t old[2], now[2];
        convert_source_t s[2];
        two(old, (bp_field_t){.name = "a", .type = BP_I64, .min = cases[i].before, .max = "7"},
            (bp_field_t){.name = "b", .type = BP_F32});
        two(now, (bp_field_t){.name = "a", .type = BP_I64, .min = cases[i].after, .max = "7"},
            (bp_field_t){.name = "b", .type = BP_F64});
        ck_assert_int_eq(convert_plan(old, 2, now, 2, s, &error), BP_OK);
        EXPECT(s[0].check == cases[i].looks, "%u", i);
        ck_assert(!convert_changes_values(&old[0], &now[0]) && convert_changes_values(&old[1], &now[1]));
    }
}
END_TEST

/* A field with these names of values, "calm" among them, or without any. */
static const field_t *make_named(const char *values, uint32_t flags)
{
    bool named = values[0] != '\0';
    return make((bp_field_t){.name = "a", .type = BP_U8, .flags = named ? flags : 0, .values = values,
                             .initial = named ? "calm" : NULL});
}

/* Names that are added, or taken away altogether, leave the values what they were; names that stand for other numbers,
 * for bits instead of numbers, or are gone beside others do not. */
START_TEST(names_change_values_only_where_a_name_has_another_number_or_is_gone)
{
    static const struct { const char *before, *after; bool changes; } cases[] = {
        {"", "calm cross", false},          {"calm cross", "", false},
        {"", "calm=1 cross=2", false},      {"calm cross", "calm cross", false},
        {"calm cross", "cross calm", true}, {"calm cross", "calm", true},
        {"calm", "calm cross", false},      {"calm=3", "calm=4", true},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        const field_t *old = make_named(cases[i].before, (uint32_t)_i), *now = make_named(cases[i].after, (uint32_t)_i);
        EXPECT(convert_changes_values(old, now) == cases[i].changes, "case %u, flags %d", i, _i);
    }
    const field_t *numbers = make_named("calm=1 cross=2", 0), *bits = make_named("calm=1 cross=2", BP_FIELD_BITS);
    ck_assert(convert_changes_values(numbers, bits) && convert_changes_values(bits, numbers));
}
END_TEST

/* --- arrays ------------------------------------------------------------------------------------------------------- */

/* Three equal cells of one declaration, of `count` numbers each; the numbers of the first one afterwards, which the
   others have too. */
static void expect_cells(bp_field_t declared, const float *numbers, bp_field_t now, const double *wanted,
                         uint32_t count)
{
    static _Alignas(16) char from[3 * 4096], to[3 * 8192];
    const holdings_t none = {0};
    const field_t *old = make(declared), *field = make(now);
    for (uint32_t i = 0; i < 3; i++)
        memcpy(from + (size_t)i * old->size, numbers, old->size);
    memset(to, 0x5e, sizeof to);
    if (convert_many(old, from, field, to, 3))
        for (size_t at = (size_t)3 * field->size; at < (size_t)4 * field->size; at++)
            EXPECT(to[at] == 0x5e, "byte %zu is written at once, behind three cells of %u bytes", at, field->size);
    memset(to, 0x5e, sizeof to);
    ck_assert_uint_eq(cells_convert(&none, old, from, field, to, 3, NULL), 3);
    for (size_t at = (size_t)3 * field->size; at < sizeof to && at < (size_t)6 * field->size; at++)
        EXPECT(to[at] == 0x5e, "byte %zu is written, behind three cells of %u bytes", at, field->size);
    for (uint32_t i = 0; i < 3 * count; i++) {
        uint32_t part = field->part, at = i / count * field->size + i % count * value_size(part);
        ck_assert_double_eq(value_part(part, to + at, 0), wanted[i % count]);
    }
}

/* The shape and the type of what is in it change together. */
START_TEST(arrays_of_vectors_become_arrays_of_longer_and_shorter_ones)
{
    static const float four[] = {1, 2, 3, 4}, six[] = {1, 2, 7, 3, 4, 7};
    const bp_field_t pair = {.name = "a", .type = BP_VEC2}, pairs = {.name = "a", .type = BP_VEC2, .count = 2};
    const bp_field_t three = {.name = "a", .type = BP_VEC3, .initial = "5 6 7"};
    const bp_field_t threes = {.name = "a", .type = BP_VEC3, .initial = "5 6 7", .count = 2};
    const bp_field_t exact = {.name = "a", .type = BP_DVEC2, .initial = "5 6", .count = 3};
    expect_cells(pairs, four, threes, (const double[]){1, 2, 7, 3, 4, 7}, 6);
    expect_cells(pair, four, threes, (const double[]){1, 2, 7, 5, 6, 7}, 6);
    expect_cells(pairs, four, three, (const double[]){1, 2, 7}, 3);
    expect_cells(threes, six, pairs, (const double[]){1, 2, 3, 4}, 4); /* the parts that go are the old default */
    expect_cells(threes, six, pair, (const double[]){1, 2}, 2);
    expect_cells(three, six, pairs, (const double[]){1, 2, 0, 0}, 4);
    expect_cells(pairs, four, exact, (const double[]){1, 2, 3, 4, 5, 6}, 6);
    expect_cells(pair, four, pairs, (const double[]){1, 2, 0, 0}, 4);
}
END_TEST

START_TEST(elements_that_an_array_has_not_had_take_their_own_defaults)
{
    static const float two_numbers[] = {8, 9};
    expect_cells((bp_field_t){.name = "a", .type = BP_F32, .count = 2}, two_numbers,
                 (bp_field_t){.name = "a", .type = BP_F64, .count = 4, .initial = "[1, 2, 3, 4]"},
                 (const double[]){8, 9, 3, 4}, 4);
    expect_cells((bp_field_t){.name = "a", .type = BP_F32, .count = 2}, two_numbers,
                 (bp_field_t){.name = "a", .type = BP_F32, .count = 4, .initial = "3"},
                 (const double[]){8, 9, 3, 3}, 4);
}
END_TEST

/* One cell has more numbers than go through the quick loops at a time, and not a whole number of such portions. */
START_TEST(arrays_of_many_numbers_are_converted_too)
{
    enum { MANY = CONVERT_BLOCK + 90 };
    static float numbers[MANY + CONVERT_BLOCK];
    static double wanted[MANY + 1];
    for (uint32_t i = 0; i < MANY; i++)
        wanted[i] = (double)(numbers[i] = (float)i);
    wanted[MANY] = -1;
    expect_cells((bp_field_t){.name = "a", .type = BP_F32, .count = MANY}, numbers,
                 (bp_field_t){.name = "a", .type = BP_F64, .count = MANY + 1, .initial = "-1"}, wanted, MANY + 1);
    static double exact[MANY + CONVERT_BLOCK];
    exact[MANY] = 7; /* belongs to others */
    ck_assert(convert_many(make((bp_field_t){.name = "a", .type = BP_F32, .count = MANY}), numbers,
                           make((bp_field_t){.name = "a", .type = BP_F64, .count = MANY}), exact, 1));
    ck_assert_mem_eq(exact, wanted, MANY * sizeof *wanted);
    ck_assert_double_eq(exact[MANY], 7);
}
END_TEST

START_TEST(elements_that_have_no_place_are_counted)
{
    static const struct { uint32_t old, now, lost; } rows[] = {{5, 3, 2}, {3, 5, 0}, {4, 4, 0}, {7, 1, 6}, {1, 7, 0}};
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        const field_t *old = make((bp_field_t){.name = "a", .type = BP_F32, .count = rows[i].old});
        const field_t *now = make((bp_field_t){.name = "a", .type = BP_F32, .count = rows[i].now});
        convert_source_t source;
        ck_assert_int_eq(convert_plan(old, 1, now, 1, &source, &error), BP_OK);
        ck_assert_uint_eq(source.dropped, rows[i].lost);
    }
}
END_TEST

START_TEST(elements_of_an_array_are_held_against_names_that_are_new)
{
    static const uint8_t cells[] = {0, 1, 1, 1, 2, 0};
    const holdings_t none = {0};
    uint8_t to[sizeof cells];
    const field_t *old = make((bp_field_t){.name = "a", .type = BP_U8, .count = 3});
    const field_t *field = make((bp_field_t){.name = "a", .type = BP_U8, .count = 3, .values = "idle walking"});
    ck_assert_uint_eq(cells_convert(&none, old, cells, field, to, 2, NULL), 1);
    ck_assert_uint_eq(cells_convert(&none, old, cells, field, to, 1, NULL), 1);
    ck_assert_mem_eq(to, cells, 3);
    ck_assert_uint_eq(cells_convert(&none, old, cells, field, to, 2, (bp_entity_t[]){{7}, {0}}), 2);
    ck_assert_mem_eq(to + 3, ((uint8_t[]){0, 0, 0}), 3);
}
END_TEST

/* A vector becomes shorter where what it loses is the default of its own element, in an array and in a list; else the
 * sentence names the element. Elements for which there is no room are no obstacle. */
START_TEST(parts_that_go_are_held_against_the_default_of_their_own_element)
{
    static const struct {
        bp_vec3_t cell[3];
        uint32_t misfit; /* number; 3: none */
        const char *value;
    } cases[] = {
        {{{5, 5, 1}, {6, 6, 2}, {7, 7, 3}}, 3, ""},
        {{{5, 5, 9}, {6, 6, 2}, {7, 7, 3}}, 0, "5 5 9"},
        {{{5, 5, 1}, {6, 6, 1}, {7, 7, 3}}, 1, "6 6 1"},
        {{{5, 5, 1}, {6, 6, 2}, {7, 7, 1}}, 2, "7 7 1"},
    };
    const field_t *old =
        make((bp_field_t){.name = "a", .type = BP_VEC3, .count = 3, .initial = "[0 0 1, 0 0 2, 0 0 3]"});
    const field_t *shapes[] = {make((bp_field_t){.name = "a", .type = BP_VEC2, .count = 3}),
                               make((bp_field_t){.name = "a", .type = BP_VEC2, .count = 2}),
                               make((bp_field_t){.name = "a", .type = BP_VEC2}),
                               make((bp_field_t){.name = "a", .type = BP_VEC2, .flags = BP_FIELD_LIST})};
    static const uint32_t rooms[] = {3, 2, 1, 3};
    lists_t lists;
    lists_init(&lists, &memory);
    const holdings_t holdings = {.lists = &lists};
    for (uint32_t c = 0; c < COUNT(cases); c++) {
        for (uint32_t s = 0; s < COUNT(shapes); s++) {
            bp_vec2_t to[3];
            char sentence[256];
            uint32_t count, room = rooms[s];
            bool fits = cases[c].misfit >= room;
            EXPECT(cells_convert(&holdings, old, cases[c].cell, shapes[s], to, 1, NULL) == (fits ? 1 : 0),
                   "case %u, shape %u", c, s);
            const bp_vec2_t *items = fits ? field_items(shapes[s], to, &count) : NULL;
            for (uint32_t i = 0; i < room && fits; i++)
                EXPECT(memcmp(&items[i], &cases[c].cell[i], sizeof items[i]) == 0, "case %u, shape %u", c, s);
            if (fits) {
                cells_release(&holdings, shapes[s], to, 1);
                continue;
            }
            snprintf(sentence, sizeof sentence,
                     "field 'a' holds %s (item %u of 3), which does not fit the new vec2; bring the values into range "
                     "first, or give the new field another name",
                     cases[c].value, cases[c].misfit);
            ck_assert_int_eq(convert_refuse(&context, old, shapes[s], cases[c].cell, &error), BP_ERROR_RANGE);
            ck_assert_str_eq(error.text, sentence);
        }
    }
    lists_free(&lists);
}
END_TEST

typedef struct refused_t {
    bp_field_t old, now;
    const void *cell;
    const char *sentence; /* up to "; bring" or "; take" */
} refused_t;

#define A .name = "a"
#define LISTED(items) (&(const bp_list_t){(void *)(uintptr_t)(items), COUNT(items), 0})

START_TEST(a_value_that_does_not_fit_is_told_with_its_place_and_the_limits)
{
    static const uint8_t three[] = {1, 2, 3}, late[] = {1, 2, 200}, moods[] = {0, 1};
    const refused_t cases[] = {
        {{A, .type = BP_I32}, {A, .type = BP_U8}, &(const int32_t){-1}, "holds -1, which does not fit the new u8"},
        {{A, .type = BP_F64}, {A, .type = BP_F32}, &(const double){1e300},
         "holds 1e+300, which does not fit the new f32"},
        {{A, .type = BP_U8}, {A, .type = BP_U8, .max = "9"}, &(const uint8_t){10},
         "holds 10, which does not fit the new u8 (from any to 9)"},
        {{A, .type = BP_U8}, {A, .type = BP_U8, .min = "3", .initial = "3"}, &(const uint8_t){2},
         "holds 2, which does not fit the new u8 (from 3 to any)"},
        {{A, .type = BP_U8}, {A, .type = BP_U8, .min = "3", .max = "9", .initial = "3"}, &(const uint8_t){2},
         "holds 2, which does not fit the new u8 (from 3 to 9)"},
        {{A, .type = BP_U8, .values = "calm cross"}, {A, .type = BP_U8, .values = "calm glad"}, &(const uint8_t){1},
         "holds cross, which does not fit the new u8 (calm, glad)"},
        {{A, .type = BP_U8, .count = 3}, {A, .type = BP_U8, .count = 3, .max = "2"}, three,
         "holds 3 (item 2 of 3), which does not fit the new u8 (from any to 2)"},
        {{A, .type = BP_U8, .count = 3}, {A, .type = BP_I8}, late, NULL},
        {{A, .type = BP_U8, .count = 3}, {A, .type = BP_I8, .count = 3}, late,
         "holds 200 (item 2 of 3), which does not fit the new i8"},
        {{A, .type = BP_U8, .flags = BP_FIELD_LIST}, {A, .type = BP_I8, .flags = BP_FIELD_LIST}, LISTED(late),
         "holds 200 (item 2 of 3), which does not fit the new i8"},
        {{A, .type = BP_U8, .flags = BP_FIELD_LIST}, {A, .type = BP_U8, .count = 2}, LISTED(three),
         "holds a list of 3 values, and the new one has room for 2"},
        {{A, .type = BP_U8, .flags = BP_FIELD_LIST}, {A, .type = BP_U8}, LISTED(moods),
         "holds a list of 2 values, and the new one has room for 1"},
        {{A, .type = BP_U8, .flags = BP_FIELD_LIST}, {A, .type = BP_U8, .max = "2"}, LISTED(three),
         "holds a list of 3 values, and the new one has room for 1"},
    };
    lists_t lists;
    lists_init(&lists, &memory);
    const holdings_t holdings = {.lists = &lists};
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        const field_t *old = make(cases[i].old), *now = make(cases[i].now);
        _Alignas(16) char to[64];
        char wanted[256];
        ck_assert_uint_eq(cells_convert(&holdings, old, cases[i].cell, now, to, 1, NULL), cases[i].sentence == NULL);
        if (cases[i].sentence == NULL)
            continue;
        bool list = strstr(cases[i].sentence, "room for") != NULL;
        snprintf(wanted, sizeof wanted, "field 'a' %s; %s first, or give the new field another name", cases[i].sentence,
                 list ? "take values out" : "bring the values into range");
        ck_assert_int_eq(convert_refuse(&context, old, now, cases[i].cell, &error), BP_ERROR_RANGE);
        ck_assert_str_eq(error.text, wanted);
    }
    lists_free(&lists);
}
END_TEST

/* What is planned for a field that takes over from one of another declaration. */
START_TEST(a_plan_says_the_kind_the_loss_and_whether_values_are_looked_at)
{
    static const struct {
        bp_field_t old, now;
        convert_kind_t kind;
        uint32_t dropped;
        bool check;
    } cases[] = {
        {{A, .type = BP_F32}, {A, .type = BP_F32}, CONVERT_SAME, 0, false},
        {{A, .type = BP_F32}, {A, .type = BP_F32, .count = 1}, CONVERT_SAME, 0, false},
        {{A, .type = BP_F32}, {A, .type = BP_F32, .count = 2}, CONVERT_WIDENED, 0, false},
        {{A, .type = BP_F32, .count = 2}, {A, .type = BP_F32}, CONVERT_NARROWED, 1, false},
        {{A, .type = BP_F32, .count = 5}, {A, .type = BP_F32, .count = 2}, CONVERT_NARROWED, 3, false},
        {{A, .type = BP_F32}, {A, .type = BP_F32, .flags = BP_FIELD_LIST}, CONVERT_WIDENED, 0, false},
        {{A, .type = BP_F32, .count = 3}, {A, .type = BP_F32, .flags = BP_FIELD_LIST}, CONVERT_WIDENED, 0, false},
        {{A, .type = BP_F32, .flags = BP_FIELD_LIST}, {A, .type = BP_F32, .count = 3}, CONVERT_NARROWED, 0, false},
        {{A, .type = BP_F32, .flags = BP_FIELD_LIST}, {A, .type = BP_F32, .flags = BP_FIELD_LIST},
         CONVERT_SAME, 0, false},
        {{A, .type = BP_F64, .flags = BP_FIELD_LIST}, {A, .type = BP_F32, .flags = BP_FIELD_LIST},
         CONVERT_NARROWED, 0, false},
        {{A, .type = BP_F64}, {A, .type = BP_F32, .count = 2}, CONVERT_NARROWED, 0, false},
        {{A, .type = BP_F32, .count = 2}, {A, .type = BP_F64}, CONVERT_NARROWED, 1, false},
        {{A, .type = BP_U8}, {A, .type = BP_U8, .max = "9"}, CONVERT_SAME, 0, true},
        {{A, .type = BP_U8, .max = "9"}, {A, .type = BP_U8}, CONVERT_SAME, 0, false},
        {{A, .type = BP_U8, .max = "9"}, {A, .type = BP_U8, .max = "9"}, CONVERT_SAME, 0, false},
        {{A, .type = BP_U8, .max = "9"}, {A, .type = BP_U8, .max = "8"}, CONVERT_SAME, 0, true},
        {{A, .type = BP_I8, .min = "-9"}, {A, .type = BP_I8, .min = "-9", .max = "9"}, CONVERT_SAME, 0, true},
        {{A, .type = BP_I8, .min = "-9"}, {A, .type = BP_I8, .min = "-8"}, CONVERT_SAME, 0, true},
        {{A, .type = BP_I8, .min = "-9"}, {A, .type = BP_I8, .min = "-10"}, CONVERT_SAME, 0, false},
        {{A, .type = BP_I64, .max = "9"}, {A, .type = BP_I64, .max = "9"}, CONVERT_SAME, 0, false},
        {{A, .type = BP_I64, .max = "9"}, {A, .type = BP_U64, .max = "9"}, CONVERT_NARROWED, 0, true},
        {{A, .type = BP_I64, .max = "9"}, {A, .type = BP_I32, .max = "9"}, CONVERT_NARROWED, 0, true},
        {{A, .type = BP_U8, .max = "9"}, {A, .type = BP_I64, .max = "9"}, CONVERT_WIDENED, 0, true},
        {{A, .type = BP_U8}, {A, .type = BP_U8, .values = "calm"}, CONVERT_SAME, 0, true},
        {{A, .type = BP_U8, .values = "calm"}, {A, .type = BP_U8}, CONVERT_SAME, 0, false},
        {{A, .type = BP_U8, .values = "calm"}, {A, .type = BP_U8, .max = "0"}, CONVERT_SAME, 0, true},
        {{A, .type = BP_U8, .values = "calm cross"}, {A, .type = BP_U8, .values = "cross calm"},
         CONVERT_WIDENED, 0, false},
        {{A, .type = BP_U8, .values = "calm cross"}, {A, .type = BP_U8, .values = "calm"}, CONVERT_NARROWED, 0, true},
        {{A, .type = BP_U8, .values = "calm cross"}, {A, .type = BP_U8, .values = "cross calm", .count = 2},
         CONVERT_WIDENED, 0, false},
        {{A, .type = BP_U8, .values = "calm"}, {A, .type = BP_U8, .values = "calm", .flags = BP_FIELD_BITS},
         CONVERT_NARROWED, 0, true},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        convert_source_t source;
        made_count = 0;
        const field_t *old = make(cases[i].old), *now = make(cases[i].now);
        ck_assert_int_eq(convert_plan(old, 1, now, 1, &source, &error), BP_OK);
        EXPECT(source.kind == cases[i].kind && source.dropped == cases[i].dropped && source.check == cases[i].check,
               "case %u: kind %d, %u dropped, %d", i, (int)source.kind, source.dropped, source.check);
        field_free(&made[0], &memory);
        field_free(&made[1], &memory);
        made_count = 0;
    }
}
END_TEST

/* Values with names, several different ones in one column, of each size. */
START_TEST(named_values_of_each_size_are_converted_as_each_of_them_is)
{
    static const uint32_t types[] = {BP_U8, BP_I16, BP_U32, BP_I64, BP_U64};
    static const uint8_t before[] = {0, 1, 2, 100}, after[] = {9, 2, 1, 0};
    enum { ROWS = 61 };
    for (uint32_t from = 0; from < COUNT(types); from++) {
        for (uint32_t to = 0; to < COUNT(types); to++) {
            static char column_before[ROWS * 8], column_after[(ROWS + 1) * 8];
            bp_field_t old_declared = {A, .type = types[from], .values = "calm cross glad sad=100"};
            bp_field_t declared = {A, .type = types[to], .values = "sad glad cross calm=9", .initial = "sad"};
            made_count = 0;
            const field_t *old = make(old_declared), *field = make(declared);
            for (uint32_t i = 0; i < ROWS; i++) {
                value_write_integer(types[from], (value_integer_t){before[i * 7 % 11 % 4], false},
                                    column_before + i * old->size);
            }
            memset(column_after, 0x5e, sizeof column_after);
            ck_assert_uint_eq(convert_column(old, column_before, field, column_after, ROWS, NULL), ROWS);
            for (uint32_t i = 0; i < ROWS; i++)
                EXPECT(value_read_integer(types[to], column_after + i * field->size).bits == after[i * 7 % 11 % 4],
                       "value %u, of type %u to %u", i, types[from], types[to]);
            ck_assert_int_eq(column_after[ROWS * field->size], 0x5e);
            field_free(&made[0], &memory);
            field_free(&made[1], &memory);
            made_count = 0;
        }
    }
}
END_TEST

/* A block is not taken for whole where the column ends within it. */
START_TEST(nothing_is_written_behind_a_column)
{
    enum { ROWS = CONVERT_BLOCK + 5 };
    static float from[3 * CONVERT_BLOCK];
    static double to[3 * CONVERT_BLOCK];
    const field_t *old = make((bp_field_t){A, .type = BP_F32}), *field = make((bp_field_t){A, .type = BP_F64});
    for (uint32_t i = 0; i < COUNT(to); i++) {
        from[i] = (float)i;
        to[i] = -1;
    }
    ck_assert_uint_eq(convert_column(old, from, field, to, ROWS, NULL), ROWS);
    for (uint32_t i = 0; i < COUNT(to); i++)
        EXPECT(to[i] == (i < ROWS ? (double)i : -1), "value %u is %g", i, to[i]);
}
END_TEST

START_TEST(bits_of_what_is_no_number_and_the_ends_of_long_integers_are_exact)
{
    const uint32_t signalling[3] = {0x7fa00001u, 0xffa12345u, 0};
    uint32_t two[2] = {0, 0};
    uint64_t whole = 0;
    const field_t *vec3 = make((bp_field_t){A, .type = BP_VEC3}), *vec2 = make((bp_field_t){A, .type = BP_VEC2});
    const field_t *f64 = make((bp_field_t){A, .type = BP_F64}), *u64 = make((bp_field_t){A, .type = BP_U64});
    ck_assert(convert_value(vec3, signalling, vec2, two, 0));
    ck_assert_mem_eq(two, signalling, sizeof two);
    ck_assert(convert_value(f64, &(double){18446744073709549568.0}, u64, &whole, 0) &&
              whole == UINT64_C(18446744073709549568));
    ck_assert(!convert_value(f64, &(double){18446744073709551616.0}, u64, &whole, 0));
}
END_TEST

/* One name is enough for numbers to be looked at. */
START_TEST(elements_with_a_single_name_are_converted_by_it)
{
    const uint8_t cells[] = {3, 3, 3, 3};
    uint8_t to[4];
    const holdings_t none = {0};
    bp_field_t declared = {A, .type = BP_U8, .count = 2, .values = "calm=3", .initial = "calm"};
    const field_t *old = make(declared);
    declared.values = "calm=4";
    ck_assert_uint_eq(cells_convert(&none, old, cells, make(declared), to, 2, NULL), 2);
    ck_assert_mem_eq(to, ((uint8_t[]){4, 4, 4, 4}), 4);
}
END_TEST

/* All values of a column lose something that is not the default, or one does, or none. */
START_TEST(parts_that_go_are_looked_at_in_each_row)
{
    enum { ROWS = 9 };
    static const uint32_t pairs[][2] = {{BP_VEC3, BP_VEC2},  {BP_VEC4, BP_VEC3},  {BP_VEC4, BP_VEC2},
                                        {BP_DVEC3, BP_DVEC2}, {BP_DVEC4, BP_DVEC2}, {BP_DVEC3, BP_VEC2}};
    static const char *const defaults[] = {"0 0 7", "0 0 0 7", "0 0 7 7", "0 0 7", "0 0 7 7", "0 0 7"};
    for (uint32_t p = 0; p < COUNT(pairs); p++) {
        double rows[ROWS * 4], to[ROWS * 4];
        char *cells = (char *)rows;
        made_count = 0;
        const field_t *old = make((bp_field_t){A, .type = pairs[p][0], .initial = defaults[p]});
        const field_t *field = make((bp_field_t){A, .type = pairs[p][1]});
        for (uint32_t bad = 0; bad <= ROWS + 1; bad++) { /* the row; then none, then all */
            for (uint32_t i = 0; i < ROWS * old->parts; i++) {
                bool lost = i % old->parts >= field->parts, wrong = bad == i / old->parts || bad > ROWS;
                double number = !lost ? 1 : wrong && i % old->parts == old->parts - 1 ? 8 : 7;
                float small = (float)number;
                memcpy(cells + i * value_size(old->part), old->part == BP_F32 ? (void *)&small : (void *)&number,
                       value_size(old->part));
            }
            uint32_t wanted = bad > ROWS ? 0 : bad;
            uint32_t found = convert_column(old, rows, field, to, ROWS, NULL);
            EXPECT(found == wanted, "pair %u, row %u: %u", p, bad, found);
            EXPECT(convert_column(old, rows, field, to, 1, NULL) == (wanted > 0 ? 1 : 0), "pair %u, row %u", p, bad);
        }
        field_free(&made[0], &memory);
        field_free(&made[1], &memory);
        made_count = 0;
    }
}
END_TEST

/* By its own name before its former one, and by its former one only where that is no field's name any more. */
START_TEST(a_former_name_counts_only_where_nothing_else_has_it)
{
    field_t old[2], now[2];
    convert_source_t s[2];
    two(old, (bp_field_t){A, .type = BP_F32}, (bp_field_t){.name = "b", .type = BP_F32});
    two(now, (bp_field_t){A, .type = BP_F32}, (bp_field_t){.name = "c", .type = BP_F32, .former_name = "a"});
    ck_assert_int_eq(convert_plan(old, 2, now, 2, s, &error), BP_OK);
    ck_assert(s[0].old == 0 && !s[0].renamed && s[1].old == BP_NONE && !s[1].renamed);
    two(now, (bp_field_t){.name = "b", .type = BP_F32, .former_name = "a"}, (bp_field_t){.name = "d", .type = BP_F32});
    ck_assert_int_eq(convert_plan(old, 2, now, 2, s, &error), BP_OK);
    ck_assert(s[0].old == 1 && !s[0].renamed && s[1].old == BP_NONE);
    two(now, (bp_field_t){.name = "c", .type = BP_F32, .former_name = "a"},
        (bp_field_t){.name = "d", .type = BP_F32, .former_name = "e"});
    ck_assert_int_eq(convert_plan(old, 2, now, 2, s, &error), BP_OK);
    ck_assert(s[0].old == 0 && s[0].renamed && s[1].old == BP_NONE && !s[1].renamed);
}
END_TEST

START_TEST(plans_that_cannot_be_are_refused_with_a_remedy)
{
    field_t old[2], now[2];
    convert_source_t s[2];
    two(old, (bp_field_t){.name = "a", .type = BP_F32}, (bp_field_t){.name = "b", .type = BP_MAT4});
    two(now, (bp_field_t){.name = "c", .type = BP_F32, .former_name = "a"},
        (bp_field_t){.name = "d", .type = BP_F32, .former_name = "a"});
    expect(convert_plan(old, 2, now, 2, s, &error), BP_ERROR_EXISTS, "'c' and 'd' both say that they were called 'a'");
    two(now, (bp_field_t){.name = "a", .type = BP_F32}, (bp_field_t){.name = "b", .type = BP_VEC3});
    expect(convert_plan(old, 2, now, 2, s, &error), BP_ERROR_TYPE, "field 'b' was mat4 and is now vec3");
    ck_assert_str_eq(error.text, "field 'b' was mat4 and is now vec3, which values cannot be turned into; give the new "
                                 "field another name, and it starts with its default");
}
END_TEST

Suite *convert_suite(void)
{
    Suite *suite = suite_create("convert");
    TCase *tests = tcase_create("values");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, pairs_of_types_are_the_same_widen_narrow_or_are_refused);
    tcase_add_test(tests, a_double_is_narrowed_exactly_where_it_fits);
    tcase_add_test(tests, integers_of_all_kinds_become_each_other_where_they_fit);
    tcase_add_test(tests, the_largest_integers_become_doubles_only_where_these_hold_them);
    tcase_add_test(tests, vectors_of_doubles_are_narrowed_where_finite_stays_finite);
    tcase_add_test(tests, integers_that_a_float_cannot_hold_are_refused);
    tcase_add_test(tests, widening_and_narrowing_back_gives_the_same_bits);
    tcase_add_test(tests, new_parts_of_a_vector_take_the_new_default_and_lost_ones_must_be_the_old);
    tcase_add_test(tests, lost_parts_that_differ_from_the_old_default_in_one_bit_are_refused);
    tcase_add_test(tests, values_of_the_dead_are_not_in_the_way);
    tcase_add_test(tests, columns_become_what_each_of_their_values_becomes);
    tcase_add_test(tests, one_value_outside_tighter_limits_is_found_wherever_it_lies);
    tcase_add_test(tests, fields_are_matched_by_name_then_by_former_name);
    tcase_add_test(tests, limits_that_have_become_tighter_by_one_are_looked_at);
    tcase_add_test(tests, a_least_number_that_has_become_greater_by_one_is_looked_at);
    tcase_add_loop_test(tests, names_change_values_only_where_a_name_has_another_number_or_is_gone, 0, 1);
    tcase_add_loop_test(tests, names_change_values_only_where_a_name_has_another_number_or_is_gone, BP_FIELD_BITS,
                        BP_FIELD_BITS + 1);
    tcase_add_test(tests, arrays_of_vectors_become_arrays_of_longer_and_shorter_ones);
    tcase_add_test(tests, elements_that_an_array_has_not_had_take_their_own_defaults);
    tcase_add_test(tests, arrays_of_many_numbers_are_converted_too);
    tcase_add_test(tests, elements_that_have_no_place_are_counted);
    tcase_add_test(tests, elements_of_an_array_are_held_against_names_that_are_new);
    tcase_add_test(tests, parts_that_go_are_held_against_the_default_of_their_own_element);
    tcase_add_test(tests, a_value_that_does_not_fit_is_told_with_its_place_and_the_limits);
    tcase_add_test(tests, a_plan_says_the_kind_the_loss_and_whether_values_are_looked_at);
    tcase_add_test(tests, named_values_of_each_size_are_converted_as_each_of_them_is);
    tcase_add_test(tests, nothing_is_written_behind_a_column);
    tcase_add_test(tests, bits_of_what_is_no_number_and_the_ends_of_long_integers_are_exact);
    tcase_add_test(tests, elements_with_a_single_name_are_converted_by_it);
    tcase_add_test(tests, parts_that_go_are_looked_at_in_each_row);
    tcase_add_test(tests, a_former_name_counts_only_where_nothing_else_has_it);
    tcase_add_test(tests, plans_that_cannot_be_are_refused_with_a_remedy);
    suite_add_tcase(suite, tests);
    return suite;
}
