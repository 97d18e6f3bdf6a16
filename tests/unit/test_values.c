/* test_values.c - typed values and their texts, and the fields that declare them.
 *
 * What is laid down in tables of cases is tested by tables; that value_parse reads what value_format writes back to the
 * same bits is tested by many random values, from fixed seeds.
 */
#include "../suites.h"
#include "../comma.h"
#include "base_stage.h"

#include <float.h>
#include <helpers/bp_real.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- values: there and back --------------------------------------------------------------------------------------- */

static float random_float(uint64_t *random)
{
    static const float special[] = {0.0f,    -0.0f,    1.0f,    -1.0f,  0.1f,
                                    FLT_MAX, -FLT_MAX, FLT_MIN, 1e-45f, FLT_EPSILON};
    float number;
    do {
        uint32_t bits = (uint32_t)bp_random_next(random);
        memcpy(&number, &bits, sizeof number);
        if (bp_random_below(random, 8) == 0)
            number = special[bp_random_below(random, COUNT(special))];
    } while (!isfinite(number));
    return number;
}

static double random_double(uint64_t *random)
{
    static const double special[] = {0.0, -0.0, 1.0, 0.1, DBL_MAX, -DBL_MAX, DBL_MIN, 4.9e-324, DBL_EPSILON};
    double number;
    do {
        uint64_t bits = bp_random_next(random);
        memcpy(&number, &bits, sizeof number);
        if (bp_random_below(random, 8) == 0)
            number = special[bp_random_below(random, COUNT(special))];
    } while (!isfinite(number));
    return number;
}

static int64_t random_integer(uint64_t *random)
{
    static const int64_t special[] = {0, -1, 1, INT32_MIN, INT32_MAX, UINT32_MAX, INT64_MIN, INT64_MAX};
    if (bp_random_below(random, 4) == 0)
        return special[bp_random_below(random, COUNT(special))];
    return (int64_t)bp_random_next(random);
}

static const char *random_text(uint64_t *random)
{
    static char text[64];
    uint32_t length = bp_random_below(random, sizeof text);
    for (uint32_t i = 0; i < length; i++)
        text[i] = (char)(1 + bp_random_below(random, 255));
    text[length] = '\0';
    return text;
}

static void random_value(uint32_t type, uint64_t *random, bp_value_t *value)
{
    char text[16];
    memset(value, 0, sizeof *value);
    switch (type) {
    case BP_BOOL: value->boolean = (uint8_t)bp_random_below(random, 2); break;
    case BP_I32: value->i32 = (int32_t)random_integer(random); break;
    case BP_U32: value->u32 = (uint32_t)random_integer(random); break;
    case BP_I64: value->i64 = random_integer(random); break;
    case BP_I8: value->i8 = (int8_t)random_integer(random); break;
    case BP_U8: value->u8 = (uint8_t)random_integer(random); break;
    case BP_I16: value->i16 = (int16_t)random_integer(random); break;
    case BP_U16: value->u16 = (uint16_t)random_integer(random); break;
    case BP_U64: value->u64 = (uint64_t)random_integer(random); break;
    case BP_DVEC2: case BP_DVEC3: case BP_DVEC4:
        for (uint32_t i = 0; i < value_parts(type); i++)
            (&value->dvec4.x)[i] = random_double(random);
        break;
    case BP_F64: value->f64 = random_double(random); break;
    case BP_STRING: value->string = random_text(random); break;
    case BP_NAME:
        snprintf(text, sizeof text, "n %u", bp_random_below(random, 300));
        ck_assert_int_eq(names_intern(&names, text, &value->name, &error), BP_OK);
        break;
    case BP_ENTITY:
        if (bp_random_below(random, 10) > 0)
            value->entity = entity_make(context.entity_base, (uint32_t)bp_random_next(random),
                                        1 + bp_random_below(random, ENTITY_MAX_LIFE));
        break;
    default:
        for (uint32_t i = 0; i < value_parts(type); i++)
            value->mat4.m[i] = random_float(random);
        break;
    }
}

static void there_and_back(uint32_t type, const bp_value_t *value)
{
    char text[512];
    bp_value_t back;
    value_format(&context, type, value, text, sizeof text);
    bp_result_t result = value_parse(&context, type, text, &back, &error);
    EXPECT(result == BP_OK, "%s '%s': %s", value_type_name(type), text, error.text);
    bool same = type == BP_STRING ? strcmp(back.string, value->string) == 0
                                  : memcmp(&back, value, value_size(type)) == 0;
    EXPECT(same, "%s '%s' came back as other bits", value_type_name(type), text);
}

START_TEST(what_is_written_reads_back_to_the_same_bits)
{
    uint64_t random = 4;
    for (uint32_t i = 0; i < 105000; i++) {
        uint32_t type = BP_BOOL + i % (BP_TYPE_COUNT - 1);
        bp_value_t value;
        random_value(type, &random, &value);
        there_and_back(type, &value);
    }
}
END_TEST

START_TEST(values_are_written_in_the_fewest_digits)
{
    char text[64];
    value_format(&context, BP_F32, &(float){0.1f}, text, sizeof text);
    ck_assert_str_eq(text, "0.1");
    value_format(&context, BP_F64, &(double){0.1}, text, sizeof text);
    ck_assert_str_eq(text, "0.1");
    value_format(&context, BP_VEC3, &(bp_vec3_t){0, 0.5f, 1}, text, sizeof text);
    ck_assert_str_eq(text, "0 0.5 1");
    value_format(&context, BP_BOOL, &(uint8_t){1}, text, sizeof text);
    ck_assert_str_eq(text, "true");
    value_format(&context, BP_ENTITY, &(bp_entity_t){0}, text, sizeof text);
    ck_assert_str_eq(text, "none");
    bp_entity_t e = entity_make(context.entity_base, 12, 3);
    value_format(&context, BP_ENTITY, &e, text, sizeof text);
    ck_assert_str_eq(text, "#12:3");
}
END_TEST

START_TEST(writing_stays_within_its_room)
{
    bp_mat4_t matrix;
    for (int i = 0; i < 16; i++)
        matrix.m[i] = -1.17549435e-38f;
    char whole[512];
    value_format(&context, BP_MAT4, &matrix, whole, sizeof whole);
    for (size_t size = 0; size <= strlen(whole) + 1; size++) {
        char text[512];
        memset(text, '!', sizeof text);
        value_format(&context, BP_MAT4, &matrix, text, size);
        ck_assert_msg(text[size] == '!', "it wrote past %zu bytes", size);
        if (size > 0) {
            ck_assert_uint_lt(strlen(text), size);
            ck_assert_int_eq(strncmp(text, whole, strlen(text)), 0);
        }
    }
}
END_TEST

/* --- values: good and bad texts ----------------------------------------------------------------------------------- */

typedef struct text_case_t {
    uint32_t type;
    const char *text;
    const char *form; /* good: the text that is written back; bad: part of the sentence */
} text_case_t;

static const text_case_t good_texts[] = {
    {BP_BOOL, "true", "true"},
    {BP_BOOL, "on", "true"},
    {BP_BOOL, "yes", "true"},
    {BP_BOOL, "1", "true"},
    {BP_BOOL, "false", "false"},
    {BP_BOOL, "off", "false"},
    {BP_BOOL, "no", "false"},
    {BP_BOOL, " 0 ", "false"},
    {BP_I32, "-2147483648", "-2147483648"},
    {BP_I32, " 0x10 ", "16"},
    {BP_I32, "+5", "5"},
    {BP_I32, "010", "10"}, /* decimal */
    {BP_I64, "-0100", "-100"},
    {BP_U8, "08", "8"},
    {BP_U16, "-0X0", "0"},
    {BP_U32, "4294967295", "4294967295"},
    {BP_U32, "0xffffffff", "4294967295"},
    {BP_I64, "-9223372036854775808", "-9223372036854775808"},
    {BP_I64, "9223372036854775807", "9223372036854775807"},
    {BP_I8, "-128", "-128"},
    {BP_I8, "0x7f", "127"},
    {BP_U8, "255", "255"},
    {BP_U8, "-0", "0"},
    {BP_I16, "-32768", "-32768"},
    {BP_U16, " 65535 ", "65535"},
    {BP_U64, "18446744073709551615", "18446744073709551615"},
    {BP_U64, "0xffffffffffffffff", "18446744073709551615"},
    {BP_DVEC2, "0.1,1e300", "0.1 1e+300"},
    {BP_DVEC3, "0.1 0.2 0.3", "0.1 0.2 0.3"},
    {BP_DVEC4, "1 -2 3 -4", "1 -2 3 -4"},
    {BP_F32, "1e3", "1000"},
    {BP_F32, "3.4028234663852886e38", "3.40282e+38"},
    {BP_F32, ".5", "0.5"},
    {BP_F32, "1e-50", "0"},
    {BP_F64, "0x1p-3", "0.125"},
    {BP_F64, "-1e308", "-1e+308"},
    {BP_VEC2, "1,2", "1 2"},
    {BP_VEC2, "1 , 2", "1 2"},
    {BP_VEC2, "\t1\t2 ", "1 2"},
    {BP_VEC3, "1 2,3", "1 2 3"},
    {BP_VEC4, "1 -2 3 -4", "1 -2 3 -4"},
    {BP_QUAT, "0 0 0 1", "0 0 0 1"},
    {BP_MAT4, "1 0 0 0 0 1 0 0 0 0 1 0 4 5 6 1", "1 0 0 0 0 1 0 0 0 0 1 0 4 5 6 1"},
    {BP_COLOUR, "#fff", "1 1 1 1"},
    {BP_COLOUR, "#0f0", "0 1 0 1"},
    {BP_COLOUR, "#FF0000", "1 0 0 1"},
    {BP_COLOUR, "#00000000", "0 0 0 0"},
    {BP_COLOUR, " #0000ffff ", "0 0 1 1"},
    {BP_COLOUR, "0.25 2 3", "0.25 2 3 1"},
    {BP_COLOUR, "1 2 3 4", "1 2 3 4"},
    {BP_COLOUR, "#333", "0.2 0.2 0.2 1"},
    {BP_STRING, "", ""},
    {BP_STRING, "  as it stands; # yes ", "  as it stands; # yes "},
    {BP_ENTITY, "none", "none"},
    {BP_ENTITY, " #0:1 ", "#0:1"},
    {BP_ENTITY, "#4294967295:1048576", "#4294967295:1048576"},
    {BP_NAME, "fog", "fog"},
    {BP_NAME, "", ""},
};

START_TEST(good_texts_are_read)
{
    const text_case_t *c = &good_texts[_i];
    char text[256];
    bp_value_t value;
    bp_result_t result = value_parse(&context, c->type, c->text, &value, &error);
    ck_assert_msg(result == BP_OK, "'%s': %s", c->text, error.text);
    value_format(&context, c->type, &value, text, sizeof text);
    if (c->type == BP_F32 && c->form[0] == '3')
        ck_assert(value.f32 == FLT_MAX);
    else
        ck_assert_str_eq(text, c->form);
}
END_TEST

static const text_case_t bad_texts[] = {
    {BP_BOOL, "", "true or false"},
    {BP_BOOL, "TRUE", "true or false"},
    {BP_BOOL, "2", "true or false"},
    {BP_BOOL, "true false", "true or false"},
    {BP_BOOL, "falsehood", "true or false"},
    {BP_I32, "", "whole number"},
    {BP_I32, "1.5", "whole number"},
    {BP_I32, "2147483648", "2147483647"},
    {BP_I32, "-2147483649", "-2147483648"},
    {BP_I32, "12a", "whole number"},
    {BP_I32, "1 2", "whole number"},
    {BP_I32, "99999999999999999999", "whole number"},
    {BP_I32, "1,", "whole number"},
    {BP_U32, "-1", "0 to 4294967295"},
    {BP_U32, "4294967296", "0 to 4294967295"},
    {BP_I64, "9223372036854775808", "64 bits"},
    {BP_I64, "seven", "'seven'"},
    {BP_I64, "-9223372036854775809", "64 bits"},
    {BP_I8, "128", "-128 to 127"},
    {BP_I8, "-129", "-128 to 127"},
    {BP_U8, "256", "0 to 255"},
    {BP_U8, "-1", "0 to 255"},
    {BP_I16, "32768", "-32768 to 32767"},
    {BP_U16, "-1", "0 to 65535"},
    {BP_U64, "18446744073709551616", "0 to 18446744073709551615"},
    {BP_U64, "-1", "0 to 18446744073709551615"},
    {BP_U64, "+-1", "0 to 18446744073709551615"},
    {BP_U64, "\n-1", "0 to 18446744073709551615"},
    {BP_U64, " \v-1", "0 to 18446744073709551615"},
    {BP_DVEC2, "1", "2 numbers"},
    {BP_DVEC3, "1 2 3 4", "3 numbers"},
    {BP_DVEC4, "1 2 1e309 4", "4 numbers"},
    {BP_F32, "", "a number"},
    {BP_F32, "1e39", "a number"},
    {BP_F32, "3.4028235677973366e38", "a number"},
    {BP_F32, "inf", "a number"},
    {BP_F32, "nan", "a number"},
    {BP_F32, "1.5kg", "'1.5kg'"},
    {BP_F32, "1 2", "a number"},
    {BP_F32, "1,5", "a number"},
    {BP_F64, "1e309", "a number"},
    {BP_F64, "--1", "a number"},
    {BP_VEC2, "1", "2 numbers"},
    {BP_VEC2, "1 2 3", "2 numbers"},
    {BP_VEC2, "1,,2", "2 numbers"},
    {BP_VEC2, "1.5.5", "2 numbers"},
    {BP_VEC2, "1-2", "2 numbers"},
    {BP_VEC2, "1 2,", "2 numbers"},
    {BP_VEC3, "1 2", "3 numbers"},
    {BP_VEC3, "1 2 x", "3 numbers"},
    {BP_VEC4, "", "4 numbers"},
    {BP_QUAT, "0 0 1", "4 numbers x y z w"},
    {BP_MAT4, "1 2 3", "16 numbers"},
    {BP_COLOUR, "", "#rrggbb"},
    {BP_COLOUR, "#", "#rrggbb"},
    {BP_COLOUR, "#ff", "#rrggbb"},
    {BP_COLOUR, "#ffff", "#rrggbb"},
    {BP_COLOUR, "#fffffff", "#rrggbb"},
    {BP_COLOUR, "#gggggg", "#rrggbb"},
    {BP_COLOUR, "#ffffff 1", "#rrggbb"},
    {BP_COLOUR, "1 2", "3 or 4 numbers"},
    {BP_COLOUR, "red", "#rrggbb"},
    {BP_COLOUR, "1 2 3 4 5", "3 or 4 numbers"},
    {BP_ENTITY, "", "#index:generation"},
    {BP_ENTITY, "0:1", "#index:generation"},
    {BP_ENTITY, "#0", "#index:generation"},
    {BP_ENTITY, "#0:0", "#index:generation"},
    {BP_ENTITY, "#0:1048577", "#index:generation"},
    {BP_ENTITY, "#-1:1", "#index:generation"},
    {BP_ENTITY, "#1:-1", "#index:generation"},
    {BP_ENTITY, "#4294967296:1", "#index:generation"},
    {BP_ENTITY, "#0:4294967297", "#index:generation"},
    {BP_ENTITY, "#0:-4294967295", "#index:generation"},
    {BP_ENTITY, "#0:1 2", "#index:generation"},
    {BP_ENTITY, "nonesuch", "#index:generation"},
    {BP_ENTITY, "# 0:1", "#index:generation"},
    {BP_TYPE_NONE, "1", "nothing"},
    {BP_TYPE_COUNT, "1", "nothing"},
};

START_TEST(bad_texts_are_refused_and_told_what_would_be_right)
{
    const text_case_t *c = &bad_texts[_i];
    bp_value_t value;
    memset(&value, 0x77, sizeof value);
    bp_value_t before = value;
    bp_result_t result = value_parse(&context, c->type, c->text, &value, &error);
    ck_assert_msg(result == BP_ERROR_TYPE, "'%s' is %d as %s", c->text, result, value_type_name(c->type));
    ck_assert_msg(strstr(error.text, c->form) != NULL, "\"%s\" is not in: %s", c->form, error.text);
    ck_assert_int_eq(memcmp(&value, &before, sizeof value), 0);
}
END_TEST

START_TEST(a_name_that_is_too_long_is_no_value)
{
    char text[NAMES_MAX_LENGTH + 2];
    bp_value_t value;
    memset(text, 'n', sizeof text);
    text[NAMES_MAX_LENGTH + 1] = '\0';
    expect_error(value_parse(&context, BP_NAME, text, &value, &error), BP_ERROR_LIMIT, "255");
}
END_TEST

/* --- fields ------------------------------------------------------------------------------------------------------- */

static bp_result_t make_field(field_t *field, bp_field_t declared)
{
    return field_init(field, &memory, &context, &declared, sizeof declared, &error);
}

START_TEST(a_field_keeps_its_declaration)
{
    bp_field_t declared = {.name = "mass",
                           .type = BP_F32,
                           .access = BP_WRITE,
                           .column = 7,
                           .count = 3,
                           .flags = BP_FIELD_READ_ONLY,
                           .initial = "0.1",
                           .min = "0.1",
                           .max = "2",
                           .unit = "kg",
                           .doc = "how heavy",
                           .former_name = "weight"};
    bp_field_t told;
    field_t field;
    ck_assert_int_eq(make_field(&field, declared), BP_OK);
    field_describe(&field, &told);
    ck_assert_str_eq(told.name, "mass");
    ck_assert_str_eq(told.initial, "0.1");
    ck_assert_str_eq(told.min, "0.1");
    ck_assert_str_eq(told.max, "2");
    ck_assert_str_eq(told.unit, "kg");
    ck_assert_str_eq(told.doc, "how heavy");
    ck_assert_str_eq(told.former_name, "weight");
    ck_assert_uint_eq(told.type, BP_F32);
    ck_assert_uint_eq(told.flags, BP_FIELD_READ_ONLY);
    ck_assert_uint_eq(told.access, BP_WRITE);
    ck_assert_uint_eq(told.column, 7);
    ck_assert_uint_eq(told.count, 3);
    ck_assert_ptr_null(told.values);
    field_free(&field, &memory);
    ck_assert_int_eq(make_field(&field, (bp_field_t){.name = "x", .type = BP_U8, .values = "calm glad"}), BP_OK);
    field_describe(&field, &told);
    ck_assert(told.initial == NULL && told.min == NULL && told.max == NULL && told.unit == NULL && told.doc == NULL);
    ck_assert(told.former_name == NULL && told.count == 0 && told.column == 0 && told.access == 0 && told.flags == 0);
    ck_assert_str_eq(told.values, "calm glad");
    field_free(&field, &memory);
}
END_TEST

/* What lies behind the values is not looked at. */
START_TEST(a_field_holds_all_of_so_many_values_and_no_more)
{
    static const bp_field_t declared[] = {
        {.name = "f", .type = BP_U8, .values = "calm glad"}, {.name = "f", .type = BP_F32, .max = "1"},
        {.name = "f", .type = BP_F64, .max = "1"},           {.name = "f", .type = BP_I8, .max = "1"},
        {.name = "f", .type = BP_U8, .max = "1"},            {.name = "f", .type = BP_I16, .max = "1"},
        {.name = "f", .type = BP_U16, .max = "1"},           {.name = "f", .type = BP_I32, .max = "1"},
        {.name = "f", .type = BP_U32, .max = "1"},           {.name = "f", .type = BP_I64, .max = "1"},
        {.name = "f", .type = BP_U64, .max = "1"},           {.name = "f", .type = BP_VEC2, .max = "1"},
        {.name = "f", .type = BP_DVEC3, .max = "1"},
    };
    enum { MOST = 40 };
    for (uint32_t d = 0; d < sizeof declared / sizeof declared[0]; d++) {
        field_t field;
        static double room[4 * (MOST + 1)];
        char *values = (char *)room;
        bp_value_t good, bad;
        ck_assert_int_eq(make_field(&field, declared[d]), BP_OK);
        size_t size = value_size(declared[d].type), part = size / (field.parts > 0 ? field.parts : 1);
        memset(&good, 0, sizeof good);
        memset(&bad, 0, sizeof bad);
        float two = 2;
        double two_as_well = 2;
        for (size_t at = 0; at < size; at += part) {
            if (field.part == BP_F32)
                memcpy((char *)&bad + at, &two, sizeof two);
            else if (field.part == BP_F64)
                memcpy((char *)&bad + at, &two_as_well, sizeof two_as_well);
            else
                *((char *)&bad + at) = 2;
        }
        for (uint32_t count = 0; count < MOST; count++) {
            for (uint32_t i = 0; i < MOST + 1; i++)
                memcpy(values + i * size, i < count ? &good : &bad, size);
            ck_assert_msg(field_holds_all(&field, values, count), "%u values, type %u", count, declared[d].type);
            ck_assert_msg(!field_holds_all(&field, values, count + 1), "%u values, type %u", count + 1,
                          declared[d].type);
        }
        field_free(&field, &memory);
    }
}
END_TEST

START_TEST(a_field_without_default_is_zero_empty_or_the_identity)
{
    for (uint32_t type = BP_BOOL; type < BP_TYPE_COUNT; type++) {
        field_t field;
        bp_value_t zero;
        memset(&zero, 0, sizeof zero);
        ck_assert_int_eq(make_field(&field, (bp_field_t){.name = "f", .type = type}), BP_OK);
        if (type == BP_QUAT)
            zero.quat.w = 1;
        for (int i = 0; type == BP_MAT4 && i < 4; i++)
            zero.mat4.m[5 * i] = 1;
        if (type == BP_STRING)
            ck_assert_str_eq(field.initial.string, "");
        else
            ck_assert_int_eq(memcmp(&field.initial, &zero, value_size(type)), 0);
        ck_assert(field.initial_is_zero == (type != BP_QUAT && type != BP_MAT4 && type != BP_STRING));
        field_free(&field, &memory);
    }
}
END_TEST

START_TEST(members_that_an_older_author_did_not_know_are_left_out)
{
    bp_field_t declared = {.name = "old", .type = BP_F32, .initial = "5", .min = "9"};
    field_t field;
    ck_assert_int_eq(field_init(&field, &memory, &context, &declared, offsetof(bp_field_t, min), &error),
                     BP_OK);
    ck_assert(field.initial.f32 == 5.0f);
    ck_assert(!field.limited);
    field_free(&field, &memory);
}
END_TEST

typedef struct field_case_t {
    bp_field_t field;
    bp_result_t code;
    const char *part;
} field_case_t;

static const field_case_t bad_fields[] = {
    {{.name = NULL, .type = BP_F32}, BP_ERROR_ARGUMENT, "1 to 63"},
    {{.name = "", .type = BP_F32}, BP_ERROR_ARGUMENT, "1 to 63"},
    {{.name = "two words", .type = BP_F32}, BP_ERROR_ARGUMENT, "'two words'"},
    {{.name = "f", .type = BP_TYPE_NONE}, BP_ERROR_TYPE, "'f'"},
    {{.name = "f", .type = BP_TYPE_COUNT}, BP_ERROR_TYPE, "24 is no type"},
    {{.name = "f", .type = BP_F32, .initial = "much"}, BP_ERROR_TYPE, "'much' is not a number"},
    {{.name = "f", .type = BP_F32, .min = "low"}, BP_ERROR_TYPE, "'low'"},
    {{.name = "f", .type = BP_F32, .max = "high"}, BP_ERROR_TYPE, "field 'f': 'high'"},
    {{.name = "f", .type = BP_F32, .min = "2", .max = "1"}, BP_ERROR_RANGE, "min 2 is greater than max 1"},
    {{.name = "f", .type = BP_F32, .initial = "3", .max = "2"}, BP_ERROR_RANGE, "at most 2"},
    {{.name = "f", .type = BP_F32, .min = "1"}, BP_ERROR_RANGE, "f = 0 is outside its range: at least 1"},
    {{.name = "f", .type = BP_VEC3, .initial = "1 2 3", .max = "2", .unit = "m"},
     BP_ERROR_RANGE,
     "f = 3 is outside its range: at most 2 m"},
    {{.name = "f", .type = BP_STRING, .max = "9"}, BP_ERROR_TYPE, "a string has no limits"},
    {{.name = "f", .type = BP_BOOL, .min = "0"}, BP_ERROR_TYPE, "a bool has no limits"},
    {{.name = "f", .type = BP_U32, .max = "-1"}, BP_ERROR_TYPE, "0 to 4294967295"},
};

START_TEST(bad_declarations_are_refused_and_leave_nothing)
{
    field_t field;
    expect_error(make_field(&field, bad_fields[_i].field), bad_fields[_i].code, bad_fields[_i].part);
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}
END_TEST

/* Values at, just inside and just outside both limits. */
static void expect_range(uint32_t type, const void *value, const field_t *field, bool inside)
{
    char text[64];
    value_format(&context, type, value, text, sizeof text);
    bp_result_t wanted = inside ? BP_OK : BP_ERROR_RANGE;
    ck_assert_msg(field_check(field, value, &error) == wanted, "%s", text);
    ck_assert_msg(field_check_all(field, value, value_size(type), 1, &error) == wanted, "%s in a column",
                  text);
}

START_TEST(limits_are_inside_and_the_next_number_is_outside)
{
    field_t field;
    float low = 0.1f, high = 0.7f;
    ck_assert_int_eq(
        make_field(&field,
                   (bp_field_t){.name = "f", .type = BP_F32, .initial = "0.5", .min = "0.1", .max = "0.7"}),
        BP_OK);
    expect_range(BP_F32, &low, &field, true);
    expect_range(BP_F32, &high, &field, true);
    expect_range(BP_F32, &(float){nextafterf(low, 0)}, &field, false);
    expect_range(BP_F32, &(float){nextafterf(high, 1)}, &field, false);
    expect_range(BP_F32, &(float){NAN}, &field, false);
    expect_range(BP_F32, &(float){INFINITY}, &field, false);
    field_free(&field, &memory);
    ck_assert_int_eq(make_field(&field, (bp_field_t){.name = "f", .type = BP_F32, .initial = "0.05", .max = "0.1"}),
                     BP_OK);
    expect_range(BP_F32, &low, &field, true); /* what is written as the limit is inside */
    expect_range(BP_F32, &(float){nextafterf(low, 1)}, &field, false);
    expect_range(BP_F32, &(float){nextafterf(low, 0)}, &field, true);
    field_free(&field, &memory);
    ck_assert_int_eq(make_field(&field, (bp_field_t){.name = "f", .type = BP_I32, .min = "-3", .max = "3"}),
                     BP_OK);
    for (int32_t i = -5; i <= 5; i++)
        expect_range(BP_I32, &i, &field, i >= -3 && i <= 3);
    field_free(&field, &memory);
    ck_assert_int_eq(make_field(&field, (bp_field_t){.name = "f", .type = BP_F64, .max = "0.1"}), BP_OK);
    expect_range(BP_F64, &(double){0.1}, &field, true);
    expect_range(BP_F64, &(double){nextafter(0.1, 1)}, &field, false);
    expect_error(field_check(&field, &(double){nextafter(0.1, 1)}, &error), BP_ERROR_RANGE,
                 "f = 0.10000000000000002 is outside its range: at most 0.1");
    field_free(&field, &memory);
}
END_TEST

/* Limits of 64 bits, which doubles do not tell apart. */
START_TEST(limits_of_long_integers_are_exact)
{
    static const struct { bp_field_t field; uint64_t inside, outside; const char *told; } cases[] = {
        {{.name = "f", .type = BP_I64, .min = "9007199254740993"}, 9007199254740993, 9007199254740992,
         "f = 9007199254740992 is outside its range: at least 9007199254740993"},
        {{.name = "f", .type = BP_I64, .max = "9223372036854775806"}, INT64_MAX - 1, INT64_MAX, "at most 92233720"},
        {{.name = "f", .type = BP_I64, .min = "-9223372036854775807"}, (uint64_t)-INT64_MAX, UINT64_C(1) << 63,
         "f = -9223372036854775808 is"},
        {{.name = "f", .type = BP_I64, .min = "-9223372036854775808", .max = "-1"}, UINT64_C(1) << 63, 0, "f = 0 is"},
        {{.name = "f", .type = BP_U64, .max = "18446744073709551614"}, UINT64_MAX - 1, UINT64_MAX,
         "f = 18446744073709551615 is"},
        {{.name = "f", .type = BP_U64, .min = "9223372036854775809", .initial = "9223372036854775809"},
         (UINT64_C(1) << 63) + 1, UINT64_C(1) << 63, "f = 9223372036854775808 is"},
    };
    field_t field;
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        bp_field_t declared = cases[i].field;
        if (declared.initial == NULL)
            declared.initial = declared.max == NULL || strcmp(declared.max, "-1") != 0 ? declared.min : "-1";
        ck_assert_msg(make_field(&field, declared) == BP_OK, "%u: %s", i, error.text);
        expect_range(declared.type, &cases[i].inside, &field, true);
        expect_range(declared.type, &cases[i].outside, &field, false);
        ck_assert(field_holds_all(&field, &cases[i].inside, 1) && !field_holds_all(&field, &cases[i].outside, 1));
        expect_error(field_check(&field, &cases[i].outside, &error), BP_ERROR_RANGE, cases[i].told);
        field_free(&field, &memory);
    }
    expect_error(make_field(&field, (bp_field_t){.name = "f", .type = BP_U64, .min = "9007199254740993",
                                                 .max = "9007199254740992"}),
                 BP_ERROR_RANGE, "min 9007199254740993 is greater than max 9007199254740992");
}
END_TEST

START_TEST(every_part_of_every_value_of_a_column_is_checked)
{
    enum { VALUES = 9 };
    struct { bp_vec3_t value; uint32_t other; } rows[VALUES];
    bp_vec3_t dense[VALUES];
    field_t field;
    ck_assert_int_eq(make_field(&field, (bp_field_t){.name = "v", .type = BP_VEC3, .min = "-1", .max = "1"}),
                     BP_OK);
    memset(rows, 0, sizeof rows);
    memset(dense, 0, sizeof dense);
    ck_assert_int_eq(field_check_all(&field, rows, sizeof rows[0], VALUES, &error), BP_OK);
    ck_assert_int_eq(field_check_all(&field, dense, sizeof dense[0], VALUES, &error), BP_OK);
    for (uint32_t i = 0; i < VALUES * 3; i++) {
        rows[i / 3].other = UINT32_MAX;
        float *part = &(&rows[i / 3].value.x)[i % 3];
        memcpy(part, &(float){1.5f}, sizeof *part);
        memcpy((float *)dense + i, &(float){-1.5f}, sizeof(float));
        expect_error(field_check_all(&field, rows, sizeof rows[0], VALUES, &error), BP_ERROR_RANGE,
                     "v = 1.5 is outside");
        expect_error(field_check_all(&field, dense, sizeof dense[0], VALUES, &error), BP_ERROR_RANGE,
                     "v = -1.5 is outside");
        memcpy(part, &(float){0}, sizeof *part);
        memcpy((float *)dense + i, &(float){0}, sizeof(float));
    }
    field_free(&field, &memory);
}
END_TEST

START_TEST(limited_integers_of_a_dense_column_are_checked)
{
    int32_t numbers[7] = {0, 1, 2, 3, -3, -2, -1};
    field_t field;
    ck_assert_int_eq(make_field(&field, (bp_field_t){.name = "n", .type = BP_I32, .min = "-3", .max = "3"}),
                     BP_OK);
    ck_assert_int_eq(field_check_all(&field, numbers, sizeof numbers[0], COUNT(numbers), &error), BP_OK);
    numbers[5] = 4;
    expect_error(field_check_all(&field, numbers, sizeof numbers[0], COUNT(numbers), &error), BP_ERROR_RANGE,
                 "n = 4");
    field_free(&field, &memory);
}
END_TEST

/* --- locales ------------------------------------------------------------------------------------------------------ */

/* Texts that strtod reads in the locale "C", each to its end or not at all, and what follows. */
static const char *const real_texts[] = {
    "0", "1.5", "-1.5", "+1.5", " \t1.5", ".5", "-.5", "5.", "1.5.2", "1.5,2", "1,5", "1,5.2", ",5", "-,5", ",", ".",
    "-.", "-", "", " ", "x", "1x", "1e3", "1.5e3", "1.5e+3x", "1.5e-", "2e", "0x10", "0x1.8p3", "0x.8", "inf", "-inf",
    "nan", "infinity.5", "1e400", "1e-400", "4.9e-324", "1.7976931348623157e308", "0.1 0.2 0.3", "0.1, 0.2", "1..5",
    "12.5;3,5",
};

START_TEST(numbers_are_read_alike_in_every_locale)
{
    double numbers[COUNT(real_texts)];
    size_t ends[COUNT(real_texts)];
    comma_end();
    for (uint32_t i = 0; i < COUNT(real_texts); i++) {
        char *end;
        numbers[i] = strtod(real_texts[i], &end);
        ends[i] = (size_t)(end - real_texts[i]);
    }
    for (uint32_t with_comma = 0; with_comma < 2; with_comma++) {
        if (with_comma == 1 && !comma_begin("build/scratch"))
            break;
        for (uint32_t i = 0; i < COUNT(real_texts); i++) {
            char *end;
            double number = bp_real_read(real_texts[i], &end);
            EXPECT(ends[i] == 0 || memcmp(&number, &numbers[i], sizeof number) == 0, "'%s' is read as %g",
                   real_texts[i], number);
            EXPECT((size_t)(end - real_texts[i]) == ends[i], "'%s' ends before '%s'", real_texts[i], end);
            number = bp_real_read(real_texts[i], NULL);
            ck_assert(ends[i] == 0 || memcmp(&number, &numbers[i], sizeof number) == 0);
        }
    }
    comma_end();
}
END_TEST

/* What follows the longest number that is read may be anything: the text of a file. */
START_TEST(a_number_has_an_end_in_every_locale)
{
    static char text[4 * BP_REAL_LONG];
    ck_assert(comma_begin("build/scratch"));
    for (size_t digits = 1; digits < 2 * BP_REAL_LONG; digits++) {
        char *end;
        memset(text, '0', sizeof text - 1);
        memcpy(text, "3.5", 3);
        text[2 + digits] = ' ';
        double number = bp_real_read(text, &end);
        if (digits + 3 < BP_REAL_LONG)
            EXPECT(number > 3.4 && number < 3.6 && end == text + 2 + digits, "%zu digits are %g", digits, number);
        else
            EXPECT(end == text || (number > 3.4 && number < 3.6 && end == text + 2 + digits), "%zu digits", digits);
    }
    comma_end();
}
END_TEST

START_TEST(numbers_that_printf_wrote_get_a_point)
{
    static const char *const texts[][2] = {
        {"1,5", "1.5"}, {"-0,25e+10", "-0.25e+10"}, {"+12,5000", "+12.5000"}, {"12", "12"}, {"1e+20", "1e+20"},
        {"1.5", "1.5"}, {"inf", "inf"}, {"-nan", "-nan"}, {"", ""}, {"1\xd9\xab" "5e-7", "1.5e-7"}, {"-", "-"},
        {" 3,25", " 3.25"}, {"5,", "5."},
    };
    for (uint32_t i = 0; i < COUNT(texts); i++) {
        char text[32];
        snprintf(text, sizeof text, "%s", texts[i][0]);
        ck_assert_ptr_eq(bp_real_dot(text), text);
        ck_assert_str_eq(text, texts[i][1]);
    }
}
END_TEST

/* A program that has asked for the locale of its user has the same texts as any other. */
START_TEST(values_have_the_same_texts_in_every_locale)
{
    static const struct { uint32_t type; const char *text; } cases[] = {
        {BP_F32, "0.1"}, {BP_F64, "-1234.5678901234567"}, {BP_F64, "1e-07"}, {BP_VEC2, "0.5 1.25"},
        {BP_DVEC3, "0.1 -2.5 1e+300"}, {BP_QUAT, "0 0 0.6 0.8"}, {BP_COLOUR, "0.25 0.5 0.75 1"},
    };
    ck_assert(comma_begin("build/scratch"));
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        bp_value_t value;
        char text[256];
        memset(&value, 0, sizeof value);
        ck_assert_int_eq(value_parse(&context, cases[i].type, cases[i].text, &value, &error), BP_OK);
        value_format(&context, cases[i].type, &value, text, sizeof text);
        if (cases[i].type != BP_COLOUR)
            ck_assert_str_eq(text, cases[i].text);
        ck_assert_ptr_null(strchr(text, ','));
    }
    bp_value_t value;
    ck_assert_int_eq(value_parse(&context, BP_VEC3, "1.5,2.5,3", &value, &error), BP_OK);
    ck_assert(value.vec3.x == 1.5f && value.vec3.y == 2.5f && value.vec3.z == 3.0f);
    ck_assert_int_eq(value_parse(&context, BP_F64, "1,5", &value, &error), BP_ERROR_TYPE);
    comma_end();
}
END_TEST

Suite *values_suite(void)
{
    Suite *suite = suite_create("values");
    TCase *tests = new_case(suite, "values");
    tcase_add_test(tests, what_is_written_reads_back_to_the_same_bits);
    tcase_add_test(tests, values_are_written_in_the_fewest_digits);
    tcase_add_test(tests, writing_stays_within_its_room);
    tcase_add_loop_test(tests, good_texts_are_read, 0, (int)COUNT(good_texts));
    tcase_add_loop_test(tests, bad_texts_are_refused_and_told_what_would_be_right, 0, (int)COUNT(bad_texts));
    tcase_add_test(tests, a_name_that_is_too_long_is_no_value);
    tcase_add_test(tests, a_field_keeps_its_declaration);
    tcase_add_test(tests, a_field_without_default_is_zero_empty_or_the_identity);
    tcase_add_test(tests, a_field_holds_all_of_so_many_values_and_no_more);
    tcase_add_test(tests, members_that_an_older_author_did_not_know_are_left_out);
    tcase_add_loop_test(tests, bad_declarations_are_refused_and_leave_nothing, 0, (int)COUNT(bad_fields));
    tcase_add_test(tests, limits_are_inside_and_the_next_number_is_outside);
    tcase_add_test(tests, limits_of_long_integers_are_exact);
    tcase_add_test(tests, every_part_of_every_value_of_a_column_is_checked);
    tcase_add_test(tests, limited_integers_of_a_dense_column_are_checked);
    tcase_add_test(tests, numbers_are_read_alike_in_every_locale);
    tcase_add_test(tests, a_number_has_an_end_in_every_locale);
    tcase_add_test(tests, numbers_that_printf_wrote_get_a_point);
    tcase_add_test(tests, values_have_the_same_texts_in_every_locale);
    return suite;
}
