/* test_fields.c - declarations of fields: what each refusal says and what lies just beside it, texts of cells, limits
 * of values in columns, and what is left where memory lacks.
 *
 * Sentences are compared as a whole. What values of a single type are read from and written as is in test_values.c.
 */
#include "../suites.h"
#include "base_stage.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bp_result_t make_field(field_t *field, bp_field_t declared)
{
    error.text[0] = '\0';
    return field_init(field, &memory, &context, &declared, sizeof declared, &error);
}

static field_t made(bp_field_t declared)
{
    field_t field;
    bp_result_t result = make_field(&field, declared);
    EXPECT(result == BP_OK, "%s", error.text);
    return field;
}

static void expect_sentence(bp_result_t result, bp_result_t code, const char *sentence)
{
    EXPECT(result == code, "%d instead of %d: %s", result, code, error.text);
    EXPECT(strcmp(error.text, sentence) == 0, "'%s' instead of '%s'", error.text, sentence);
}

/* --- declarations ------------------------------------------------------------------------------------------------- */

#define SIXTY "sixty_letters_sixty_letters_sixty_letters_sixty_letters_sixt"

typedef struct refusal_t {
    bp_field_t field;
    bp_result_t code;
    const char *sentence;
} refusal_t;

static const refusal_t refused[] = {
    {{.name = NULL, .type = BP_F32},
     BP_ERROR_ARGUMENT,
     "a field's name must be 1 to 63 letters, digits or underscores, not ''"},
    {{.name = SIXTY "1234", .type = BP_F32},
     BP_ERROR_ARGUMENT,
     "a field's name must be 1 to 63 letters, digits or underscores, not 'sixty_letters_sixty_letters_sixty_letter'"},
    {{.name = "f", .type = BP_F32, .flags = 0x8000}, BP_ERROR_ABI, "field 'f' has unknown flags 0x8000"},
    {{.name = "f", .type = BP_F32, .flags = 0x200}, BP_ERROR_ABI, "field 'f' has unknown flags 0x200"},
    {{.name = "f", .type = BP_F32, .access = 4},
     BP_ERROR_ABI,
     "field 'f' has access 0x4; it is BP_READ, BP_WRITE or 0"},
    {{.name = "f", .type = BP_U64, .flags = BP_FIELD_PARENT},
     BP_ERROR_TYPE,
     "field 'f' says who the parent is, so its type is entity"},
    {{.name = "f", .type = BP_NAME, .flags = BP_FIELD_LABEL},
     BP_ERROR_TYPE,
     "field 'f' is what people call the entity, so its type is string"},
    {{.name = "f", .type = 0}, BP_ERROR_TYPE, "field 'f': 0 is no type (1 is bool ... 23 is dvec4)"},
    {{.name = "f", .type = 24}, BP_ERROR_TYPE, "field 'f': 24 is no type (1 is bool ... 23 is dvec4)"},
    {{.name = "f", .type = BP_U8, .count = 65537},
     BP_ERROR_LIMIT,
     "field 'f' has 65537 elements; an array has at most 65536"},
    {{.name = "f", .type = BP_U8, .count = 2, .flags = BP_FIELD_LIST},
     BP_ERROR_ARGUMENT,
     "field 'f' is a list and has a count; a list has any number of values"},
    {{.name = "f", .type = BP_STRING, .count = 2, .flags = BP_FIELD_PATH},
     BP_ERROR_ARGUMENT,
     "field 'f' is a parent, a label or a path, which is one value"},
    {{.name = "f", .type = BP_STRING, .count = 2, .flags = BP_FIELD_LABEL},
     BP_ERROR_ARGUMENT,
     "field 'f' is a parent, a label or a path, which is one value"},
    {{.name = "f", .type = BP_ENTITY, .flags = BP_FIELD_PARENT | BP_FIELD_LIST},
     BP_ERROR_ARGUMENT,
     "field 'f' is a parent, a label or a path, which is one value"},
    {{.name = "f", .type = BP_U8, .flags = BP_FIELD_BITS},
     BP_ERROR_ARGUMENT,
     "field 'f': its bits need names (.values)"},
    {{.name = "f", .type = BP_U8, .values = "a", .min = "0"},
     BP_ERROR_ARGUMENT,
     "field 'f': named values are the range; there is no min or max beside them"},
    {{.name = "f", .type = BP_U8, .values = "a", .max = "0"},
     BP_ERROR_ARGUMENT,
     "field 'f': named values are the range; there is no min or max beside them"},
    {{.name = "f", .type = BP_ENTITY, .min = "#0:1"}, BP_ERROR_TYPE, "field 'f': a entity has no limits"},
    {{.name = "f", .type = BP_NAME, .max = "z"}, BP_ERROR_TYPE, "field 'f': a name has no limits"},
    {{.name = "f", .type = BP_VEC3, .min = "1 2 3"}, BP_ERROR_TYPE, "field 'f': '1 2 3' is not a number (type f32)"},
    {{.name = "f", .type = BP_I8, .min = "-129"},
     BP_ERROR_TYPE,
     "field 'f': '-129' is not a whole number from -128 to 127 (type i8)"},
    {{.name = "f", .type = BP_F64, .min = "2", .max = "1"},
     BP_ERROR_RANGE,
     "field 'f': min 2 is greater than max 1"},
    {{.name = "f", .type = BP_I64, .min = "0", .max = "-1", .initial = "0"},
     BP_ERROR_RANGE,
     "field 'f': min 0 is greater than max -1"},
    {{.name = "f", .type = BP_F32, .min = "1", .max = "2"},
     BP_ERROR_RANGE,
     "field 'f': f = 0 is outside its range: at least 1 and at most 2"},
    {{.name = "f", .type = BP_F32, .min = "1", .unit = "m"},
     BP_ERROR_RANGE,
     "field 'f': f = 0 is outside its range: at least 1 m"},
    {{.name = "f", .type = BP_I8, .max = "-1", .unit = "m/s"},
     BP_ERROR_RANGE,
     "field 'f': f = 0 is outside its range: at most -1 m/s"},
    {{.name = "f", .type = BP_F32, .count = 2, .min = "1"},
     BP_ERROR_RANGE,
     "field 'f': f = 0 is outside its range: at least 1"},
    {{.name = "f", .type = BP_F32, .flags = BP_FIELD_REQUIRED, .min = "1", .initial = "0.5"},
     BP_ERROR_RANGE,
     "field 'f': f = 0.5 is outside its range: at least 1"},
    {{.name = "f", .type = BP_F32, .flags = BP_FIELD_LIST, .initial = "[1]"},
     BP_ERROR_ARGUMENT,
     "field 'f': a list begins empty; it has no other default"},
    {{.name = "f", .type = BP_F32, .flags = BP_FIELD_LIST, .initial = "1"},
     BP_ERROR_ARGUMENT,
     "field 'f': a list begins empty; it has no other default"},
    {{.name = "f", .type = BP_F32, .initial = "[1]"}, BP_ERROR_TYPE, "field 'f': '[1]' is not a number (type f32)"},
    {{.name = "f", .type = BP_F32, .count = 1, .initial = "[1]"},
     BP_ERROR_TYPE,
     "field 'f': '[1]' is not a number (type f32)"},
    {{.name = "f", .type = BP_F32, .count = 2, .initial = "[1]"},
     BP_ERROR_TYPE,
     "field 'f': it has 2 elements, not 1"},
    {{.name = "f", .type = BP_F32, .count = 2, .initial = "[1, 2, 3]"},
     BP_ERROR_TYPE,
     "field 'f': it has 2 elements, not 3"},
    {{.name = "f", .type = BP_F32, .count = 2, .max = "1", .initial = "[1, 2]"},
     BP_ERROR_RANGE,
     "field 'f': item 1: f = 2 is outside its range: at most 1"},
    {{.name = "f", .type = BP_U8, .values = "a b", .initial = "2"},
     BP_ERROR_RANGE,
     "field 'f': f = 2 is none of its values (it has a, b)"},
    {{.name = "f", .type = BP_U8, .flags = BP_FIELD_BITS, .values = "a b", .initial = "4"},
     BP_ERROR_RANGE,
     "field 'f': f = 4 is none of its flags (it has a, b)"},
};

START_TEST(each_refusal_of_a_declaration_has_its_sentence_and_leaves_nothing)
{
    for (uint32_t i = 0; i < COUNT(refused); i++) {
        field_t field;
        memset(&field, 0x5e, sizeof field);
        expect_sentence(make_field(&field, refused[i].field), refused[i].code, refused[i].sentence);
        EXPECT(memory_bytes(&memory) == 0, "%s: memory is left", refused[i].sentence);
        EXPECT(field.texts == NULL && field.name == NULL, "%s: texts are left", refused[i].sentence);
    }
}
END_TEST

static const bp_field_t accepted[] = {
    {.name = SIXTY "123", .type = BP_F32},
    {.name = "f", .type = BP_F32, .access = 3},
    {.name = "f", .type = BP_ENTITY, .flags = BP_FIELD_PARENT},
    {.name = "f", .type = BP_STRING, .flags = BP_FIELD_LABEL},
    {.name = "f", .type = BP_STRING, .flags = BP_FIELD_PATH},
    {.name = "f", .type = BP_ENTITY, .flags = BP_FIELD_PARENT, .count = 1},
    {.name = "f", .type = BP_BOOL},
    {.name = "f", .type = BP_DVEC4},
    {.name = "f", .type = BP_U8, .count = 65536},
    {.name = "f", .type = BP_U8, .count = 1, .flags = BP_FIELD_LIST},
    {.name = "f", .type = BP_U8, .flags = BP_FIELD_LIST, .initial = "[]"},
    {.name = "f", .type = BP_F32, .flags = BP_FIELD_LIST, .min = "1"},
    {.name = "f", .type = BP_F32, .min = "1", .max = "1", .initial = "1"},
    {.name = "f", .type = BP_I64, .min = "-1", .max = "0"},
    {.name = "f", .type = BP_U64, .min = "9223372036854775808", .max = "9223372036854775808",
     .initial = "9223372036854775808"},
    {.name = "f", .type = BP_F32, .flags = BP_FIELD_REQUIRED, .min = "1"},
    {.name = "f", .type = BP_F32, .flags = BP_FIELD_REQUIRED, .min = "1", .initial = "1"},
    {.name = "f", .type = BP_STRING, .initial = "[1]"},
    {.name = "f", .type = BP_STRING, .count = 2, .initial = "[a, b]"},
    {.name = "f", .type = BP_F32, .count = 2, .max = "2", .initial = "[1, 2]"},
    {.name = "f", .type = BP_F32, .count = 2, .min = "1", .initial = "[1, 2]"},
    {.name = "f", .type = BP_U8, .flags = BP_FIELD_BITS, .values = "a b", .initial = "3"},
};

START_TEST(what_lies_just_beside_a_refusal_is_accepted)
{
    for (uint32_t i = 0; i < COUNT(accepted); i++) {
        field_t field = made(accepted[i]);
        ck_assert_uint_eq(field.elements, accepted[i].count > 1 ? accepted[i].count : 0);
        ck_assert_uint_eq(field.flags, accepted[i].flags);
        field_free(&field, &memory);
        ck_assert_uint_eq(memory_bytes(&memory), 0);
        ck_assert(field.texts == NULL && field.name == NULL && field.initial_cell == NULL);
    }
}
END_TEST

/* The upper half of the flags says what a host that does not know it may pass over. */
START_TEST(flags_are_kept_where_they_are_known_and_left_out_where_they_need_not_be)
{
    for (uint32_t bit = 0; bit < 32; bit++) {
        uint32_t flag = UINT32_C(1) << bit;
        field_t field;
        bp_field_t declared = {.name = "f", .type = BP_U8, .flags = flag};
        if (flag == BP_FIELD_BITS)
            declared.values = "a";
        if (flag == BP_FIELD_PARENT)
            declared.type = BP_ENTITY;
        if (flag == BP_FIELD_LABEL)
            declared.type = BP_STRING;
        bool known = flag <= BP_FIELD_HIDDEN, needed = bit < 16;
        EXPECT((make_field(&field, declared) == BP_OK) == (known || !needed), "bit %u", bit);
        if (known || !needed) {
            ck_assert_uint_eq(field.flags, known ? flag : 0);
            field_free(&field, &memory);
        }
    }
}
END_TEST

START_TEST(a_field_has_the_size_and_the_parts_of_its_declaration)
{
    for (uint32_t type = BP_BOOL; type < BP_TYPE_COUNT; type++) {
        field_t one = made((bp_field_t){.name = "f", .type = type, .count = 1});
        field_t five = made((bp_field_t){.name = "f", .type = type, .count = 5});
        field_t list = made((bp_field_t){.name = "f", .type = type, .flags = BP_FIELD_LIST});
        ck_assert_uint_eq(one.size, value_size(type));
        ck_assert_uint_eq(five.size, 5 * value_size(type));
        ck_assert_uint_eq(list.size, sizeof(bp_list_t));
        ck_assert(one.parts == value_parts(type) && one.part == value_part_type(type));
        ck_assert(!one.limited && !five.limited && !list.limited);
        ck_assert(list.initial_is_zero && one.initial_is_zero == five.initial_is_zero);
        ck_assert(one.hash == names_hash("f") && one.min == -INFINITY && one.max == INFINITY);
        field_free(&one, &memory);
        field_free(&five, &memory);
        field_free(&list, &memory);
    }
}
END_TEST

START_TEST(a_default_is_zero_where_all_of_its_bytes_are)
{
    static const struct {
        bp_field_t field;
        bool zero;
    } cases[] = {
        {{.name = "f", .type = BP_F32, .initial = "0"}, true},
        {{.name = "f", .type = BP_F32, .initial = "-0"}, false},
        {{.name = "f", .type = BP_U8, .initial = "1"}, false},
        {{.name = "f", .type = BP_U32, .initial = "0x1000000"}, false},
        {{.name = "f", .type = BP_QUAT, .initial = "0 0 0 0"}, true},
        {{.name = "f", .type = BP_VEC3, .initial = "0 0 1"}, false},
        {{.name = "f", .type = BP_VEC3, .initial = "1 0 0"}, false},
        {{.name = "f", .type = BP_U8, .count = 3, .initial = "[0, 0, 0]"}, true},
        {{.name = "f", .type = BP_U8, .count = 3, .initial = "[0, 0, 1]"}, false},
        {{.name = "f", .type = BP_U8, .count = 3, .initial = "[1, 0, 0]"}, false},
        {{.name = "f", .type = BP_U8, .count = 3, .initial = "1"}, false},
        {{.name = "f", .type = BP_STRING, .count = 3}, false},
        {{.name = "f", .type = BP_STRING, .flags = BP_FIELD_LIST}, true},
        {{.name = "f", .type = BP_NAME, .initial = ""}, true},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        field_t field = made(cases[i].field);
        EXPECT(field.initial_is_zero == cases[i].zero, "case %u", i);
        field_free(&field, &memory);
    }
}
END_TEST

/* Only limits make a field limited, on whichever side. */
START_TEST(a_field_is_limited_by_a_limit_or_by_names)
{
    static const struct {
        bp_field_t field;
        bool limited;
        float min, max;
    } cases[] = {
        {{.name = "f", .type = BP_F32}, false, -INFINITY, INFINITY},
        {{.name = "f", .type = BP_F32, .min = "-1"}, true, -1, INFINITY},
        {{.name = "f", .type = BP_F32, .max = "1"}, true, -INFINITY, 1},
        {{.name = "f", .type = BP_F32, .min = "-1", .max = "1"}, true, -1, 1},
        {{.name = "f", .type = BP_F32, .min = "-3.4028234663852886e38", .max = "3.4028234663852886e38"},
         true, -FLT_MAX, FLT_MAX},
        {{.name = "f", .type = BP_F64, .min = "-1e300", .max = "1e300"}, true, -INFINITY, INFINITY},
        {{.name = "f", .type = BP_U8, .values = "a"}, true, -INFINITY, INFINITY},
        {{.name = "f", .type = BP_F32, .count = 3, .max = "4"}, true, -INFINITY, 4},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        field_t field = made(cases[i].field);
        EXPECT((field.limited != 0) == cases[i].limited, "case %u", i);
        EXPECT(field.min_f32 == cases[i].min && field.max_f32 == cases[i].max, "case %u: %g to %g", i,
               (double)field.min_f32, (double)field.max_f32);
        field_free(&field, &memory);
    }
}
END_TEST

/* A declaration that fills all texts and has a default of texts of its own. */
static const bp_field_t costly[] = {
    {.name = "f", .type = BP_STRING, .count = 3, .initial = "[a, \"b, c\", d]", .doc = "words"},
    {.name = "f", .type = BP_U8, .values = "calm glad", .initial = "glad"},
    {.name = "f", .type = BP_DVEC4, .count = 200, .initial = "1 2 3 4", .min = "0", .max = "9", .unit = "m"},
};

START_TEST(without_memory_no_declaration_is_kept)
{
    for (uint32_t i = 0; i < COUNT(costly); i++) {
        for (uint64_t request = 1;; request++) {
            field_t field;
            heap.refuse_first = heap.refuse_last = heap.requests + request;
            heap.refused = 0;
            bp_result_t result = make_field(&field, costly[i]);
            heap.refuse_first = heap.refuse_last = 0;
            if (heap.refused == 0) {
                ck_assert(result == BP_OK && request > 1);
                field_free(&field, &memory);
                break;
            }
            ck_assert_int_eq(result, BP_ERROR_MEMORY);
            EXPECT(strstr(error.text, "out of memory") != NULL, "%s", error.text);
            ck_assert(memory_bytes(&memory) == 0 && heap.bytes == 0);
        }
    }
}
END_TEST

START_TEST(a_lack_of_memory_says_what_was_being_done)
{
    static const char *const sentences[] = {"out of memory while copying a field's declaration",
                                            "field 'f': out of memory while reading values",
                                            "field 'f': out of memory while reading values",
                                            "field 'f': out of memory while reading a default"};
    field_t field;
    for (uint32_t i = 0; i < COUNT(sentences); i++) {
        heap.refuse_first = heap.refuse_last = heap.requests + 1 + i;
        const bp_field_t two = {.name = "f", .type = BP_U8, .count = 2, .initial = "[1, 2]"};
        expect_sentence(make_field(&field, two), BP_ERROR_MEMORY, sentences[i]);
        heap.refuse_first = heap.refuse_last = 0;
    }
}
END_TEST

START_TEST(shapes_are_said_in_words)
{
    char text[64];
    ck_assert_str_eq(field_shape(BP_F32, 0, false, text, sizeof text), "f32");
    ck_assert_str_eq(field_shape(BP_F32, 1, false, text, sizeof text), "f32");
    ck_assert_str_eq(field_shape(BP_F32, 2, false, text, sizeof text), "array of 2 f32");
    ck_assert_str_eq(field_shape(BP_DVEC4, 65536, false, text, sizeof text), "array of 65536 dvec4");
    ck_assert_str_eq(field_shape(BP_STRING, 0, true, text, sizeof text), "list of string");
}
END_TEST

/* --- texts of cells ----------------------------------------------------------------------------------------------- */

typedef struct cell_case_t {
    bp_field_t field;
    const char *text;
    const char *written; /* NULL: refused, and the sentence is `says` */
    bp_result_t code;
    const char *says;
} cell_case_t;

#define NUMBERS {.name = "f", .type = BP_U16, .flags = BP_FIELD_LIST}
#define PAIR {.name = "f", .type = BP_U16, .count = 2}
#define WORDS {.name = "f", .type = BP_STRING, .flags = BP_FIELD_LIST}
#define MOODS {.name = "f", .type = BP_U8, .flags = BP_FIELD_LIST, .values = "calm cross"}
#define NAMES {.name = "f", .type = BP_NAME, .flags = BP_FIELD_LIST}

static const cell_case_t cells[] = {
    {NUMBERS, "[]", "[]", 0, NULL},
    {NUMBERS, " \t\r\n[ \t\r\n] \t\r\n", "[]", 0, NULL},
    {NUMBERS, "[1]", "[1]", 0, NULL},
    {NUMBERS, "[1,2,3]", "[1, 2, 3]", 0, NULL},
    {NUMBERS, "[ 1\t,\n2 , \"3\" ]", "[1, 2, 3]", 0, NULL},
    {NUMBERS, "[\"1\",\"2\"]", "[1, 2]", 0, NULL},
    {NUMBERS, "1", NULL, BP_ERROR_TYPE, "'1' is not a list like [1, 2]"},
    {NUMBERS, "", NULL, BP_ERROR_TYPE, "'' is not a list like [1, 2]"},
    {NUMBERS, "[", NULL, BP_ERROR_TYPE, "item 0 of '[' does not end with a comma or a ]"},
    {NUMBERS, "[1", NULL, BP_ERROR_TYPE, "item 0 of '[1' does not end with a comma or a ]"},
    {NUMBERS, "[1,", NULL, BP_ERROR_TYPE, "item 1 of '[1,' does not end with a comma or a ]"},
    {NUMBERS, "[1, \"2\" 3]", NULL, BP_ERROR_TYPE, "item 1 of '[1, \"2\" 3]' does not end with a comma or a ]"},
    {NUMBERS, "[1, 2 3]", NULL, BP_ERROR_TYPE, "item 1: '2 3' is not a whole number from 0 to 65535 (type u16)"},
    {NUMBERS, "[1,,2]", NULL, BP_ERROR_TYPE, "item 1: '' is not a whole number from 0 to 65535 (type u16)"},
    {NUMBERS, "[1]]", NULL, BP_ERROR_TYPE, "'[1]]' goes on behind its ]"},
    {NUMBERS, "[] 1", NULL, BP_ERROR_TYPE, "'[] 1' goes on behind its ]"},
    {NUMBERS, "[65536]", NULL, BP_ERROR_TYPE, "item 0: '65536' is not a whole number from 0 to 65535 (type u16)"},
    {PAIR, "[1, 2]", "[1, 2]", 0, NULL},
    {PAIR, "[1]", NULL, BP_ERROR_TYPE, "it has 2 elements, not 1"},
    {PAIR, "[]", NULL, BP_ERROR_TYPE, "it has 2 elements, not 0"},
    {PAIR, "[1, 2, 3]", NULL, BP_ERROR_TYPE, "it has 2 elements, not 3"},
    {WORDS, "[\"\"]", "[\"\"]", 0, NULL},
    {WORDS, "[a b \t, c\t]", "[\"a b\", \"c\"]", 0, NULL},
    {WORDS, "[a\n, b]", "[\"a\\n\", \"b\"]", 0, NULL},
    {WORDS, "[\"a, ]b\", \"c\"]", "[\"a, ]b\", \"c\"]", 0, NULL},
    {WORDS, "[\"\\\"\\\\\\/\\n\\r\\t\"]", "[\"\\\"\\\\/\\n\\r\\t\"]", 0, NULL},
    {WORDS, "[\"a\\\"\", \"\\\\\"]", "[\"a\\\"\", \"\\\\\"]", 0, NULL},
    {WORDS, "[\"a\\x\"]", NULL, BP_ERROR_TYPE, "item 0 of '[\"a\\x\"]' does not end with a comma or a ]"},
    {WORDS, "[\"a\\,b\"]", NULL, BP_ERROR_TYPE, "item 0 of '[\"a\\,b\"]' does not end with a comma or a ]"},
    {WORDS, "[\"a\\]", NULL, BP_ERROR_TYPE, "item 0 of '[\"a\\]' does not end with a comma or a ]"},
    {WORDS, "[a, \"b", NULL, BP_ERROR_TYPE, "item 1 of '[a, \"b' does not end with a comma or a ]"},
    {WORDS, "[\"b\\", NULL, BP_ERROR_TYPE, "item 0 of '[\"b\\' does not end with a comma or a ]"},
    {WORDS, "[\"b\\\"", NULL, BP_ERROR_TYPE, "item 0 of '[\"b\\\"' does not end with a comma or a ]"},
    {{.name = "f", .type = BP_VEC3, .count = 2}, "[1 2 3, \"4,5,6\"]", "[1 2 3, 4 5 6]", 0, NULL},
    {MOODS, "[cross, calm, 1]", "[cross, calm, cross]", 0, NULL},
    {MOODS, "[calm, 2]", NULL, BP_ERROR_RANGE, "item 1: f = 2 is none of its values (it has calm, cross)"},
    {NAMES, "[fog, \"a \\\"name\\\"\"]", "[\"fog\", \"a \\\"name\\\"\"]", 0, NULL},
    {{.name = "f", .type = BP_F32, .flags = BP_FIELD_LIST, .max = "1"}, "[1, 1.5]", NULL, BP_ERROR_RANGE,
     "item 1: f = 1.5 is outside its range: at most 1"},
    /* A single value is held against limits where it is set. */
    {{.name = "f", .type = BP_F32, .max = "1"}, "2", "2", 0, NULL},
    {{.name = "f", .type = BP_F32}, "x", NULL, BP_ERROR_TYPE, "'x' is not a number (type f32)"},
    {{.name = "f", .type = BP_STRING}, " [a, \"b\\n ", " [a, \"b\\n ", 0, NULL},
    {{.name = "f", .type = BP_U8, .values = "calm cross"}, "cross", "cross", 0, NULL},
};

/* Writing into every room: what fits is written and ends with a zero, the length of the whole is told. */
static void expect_written(const field_t *field, const void *cell, const char *wanted)
{
    char text[128];
    size_t length = strlen(wanted);
    for (size_t size = 0; size <= length + 2; size++) {
        memset(text, '!', sizeof text);
        size_t told = field_format_cell(field, &context, cell, text, size);
        EXPECT(told == length, "'%s' has %zu bytes, not %zu", wanted, length, told);
        size_t written = size == 0 ? 0 : size - 1 < length ? size - 1 : length;
        EXPECT(memcmp(text, wanted, written) == 0, "'%.*s' in %zu bytes of '%s'", (int)size, text, size, wanted);
        EXPECT(size == 0 || text[written] == '\0', "'%s' has no end in %zu bytes", wanted, size);
        EXPECT(text[size] == '!', "'%s' is written behind %zu bytes", wanted, size);
    }
}

START_TEST(texts_of_cells_are_read_and_written_or_refused_with_a_sentence)
{
    for (uint32_t i = 0; i < COUNT(cells); i++) {
        field_t field = made(cells[i].field);
        field_values_t values;
        bp_list_t room;
        error.text[0] = '\0';
        size_t before = memory_bytes(&memory);
        bp_result_t result = field_parse_cell(&field, &context, &memory, cells[i].text, &values, &error);
        if (cells[i].written == NULL) {
            expect_sentence(result, cells[i].code, cells[i].says);
            ck_assert(values.items == NULL && values.count == 0 && values.texts == NULL);
        } else {
            EXPECT(result == BP_OK, "'%s': %s", cells[i].text, error.text);
            expect_written(&field, field_values_cell(&values, &field, &room), cells[i].written);
            ck_assert(room.items == values.items && room.count == values.count && room.capacity == 0);
            field_values_free(&values, &field);
            ck_assert(values.items == NULL && values.count == 0 && values.texts == NULL && values.memory == &memory);
        }
        /* Names stay in the table of names. */
        EXPECT(memory_bytes(&memory) == before || field.type == BP_NAME, "'%s' leaves memory", cells[i].text);
        field_free(&field, &memory);
    }
}
END_TEST

START_TEST(a_text_that_is_not_a_list_is_told_by_its_beginning)
{
    char text[81], sentence[128];
    field_t field = made((bp_field_t)NUMBERS);
    field_values_t values;
    memset(text, '7', 80);
    text[80] = '\0';
    snprintf(sentence, sizeof sentence, "'%.60s' is not a list like [1, 2]", text);
    expect_sentence(field_parse_cell(&field, &context, &memory, text, &values, &error), BP_ERROR_TYPE, sentence);
    text[0] = '[';
    snprintf(sentence, sizeof sentence, "item 0 of '%.60s' does not end with a comma or a ]", text);
    expect_sentence(field_parse_cell(&field, &context, &memory, text, &values, &error), BP_ERROR_TYPE, sentence);
    text[1] = ']';
    snprintf(sentence, sizeof sentence, "'%.60s' goes on behind its ]", text);
    expect_sentence(field_parse_cell(&field, &context, &memory, text, &values, &error), BP_ERROR_TYPE, sentence);
    field_free(&field, &memory);
}
END_TEST

START_TEST(without_memory_no_cell_is_read)
{
    static const cell_case_t some[] = {{WORDS, "[a, b, c, d, e, f, g, h, i, j]", "", 0, NULL},
                                       {{.name = "f", .type = BP_F32}, "1", "", 0, NULL}};
    for (uint32_t i = 0; i < COUNT(some); i++) {
        field_t field = made(some[i].field);
        size_t before = memory_bytes(&memory);
        for (uint64_t request = 1;; request++) {
            field_values_t values;
            heap.refuse_first = heap.refuse_last = heap.requests + request;
            heap.refused = 0;
            bp_result_t result = field_parse_cell(&field, &context, &memory, some[i].text, &values, &error);
            heap.refuse_first = heap.refuse_last = 0;
            if (heap.refused == 0) {
                ck_assert(result == BP_OK && request > 1);
                field_values_free(&values, &field);
                break;
            }
            ck_assert_int_eq(result, BP_ERROR_MEMORY);
            EXPECT(strstr(error.text, "out of memory while reading values") != NULL, "%s", error.text);
            ck_assert_uint_eq(memory_bytes(&memory), before);
        }
        field_free(&field, &memory);
    }
}
END_TEST

/* Of strings, names and numbers; the longest text of a value has room. */
START_TEST(cells_of_single_values_are_written_in_whatever_room)
{
    field_t field = made((bp_field_t){.name = "f", .type = BP_STRING});
    const char *string = "as \"it\" stands";
    expect_written(&field, &string, string);
    static char text[9000], back[sizeof text];
    memset(text, 'x', sizeof text - 1);
    string = text;
    ck_assert_uint_eq(field_format_cell(&field, &context, &string, back, sizeof back), sizeof text - 1);
    ck_assert_str_eq(back, text);
    field_free(&field, &memory);
    field = made((bp_field_t){.name = "f", .type = BP_VEC2});
    expect_written(&field, &(bp_vec2_t){1, -0.5f}, "1 -0.5");
    field_free(&field, &memory);
    field = made((bp_field_t){.name = "f", .type = BP_U8, .flags = BP_FIELD_BITS, .values = "red green"});
    expect_written(&field, &(uint8_t){3}, "red|green");
    field_free(&field, &memory);
}
END_TEST

/* Flags with the longest names that there can be, all of them set: of one value, and of two in a list. */
START_TEST(the_longest_text_of_a_value_is_written_and_read_as_a_whole)
{
    enum { FLAGS = 64, LENGTH = 63 };
    static char names_text[FLAGS * (LENGTH + 1) + 1], wanted[2 * NAMED_MAX_TEXT + 8], text[2 * NAMED_MAX_TEXT + 8];
    const uint64_t all[] = {UINT64_MAX, UINT64_MAX};
    for (uint32_t i = 0; i < FLAGS; i++)
        snprintf(names_text + i * (LENGTH + 1), LENGTH + 2, "flag_%02u_%055u ", i, i);
    for (uint32_t list = 0; list < 2; list++) {
        field_t field = made((bp_field_t){.name = "f", .type = BP_U64, .values = names_text,
                                          .flags = BP_FIELD_BITS | (list ? BP_FIELD_LIST : 0)});
        field_values_t values;
        bp_list_t room = {(void *)(uintptr_t)all, 2, 0};
        strcpy(wanted, names_text);
        wanted[NAMED_MAX_TEXT - 1] = '\0';
        for (char *at = strchr(wanted, ' '); at != NULL; at = strchr(at, ' '))
            *at = '|';
        if (list)
            snprintf(wanted, sizeof wanted, "[%.*s, %.*s]", NAMED_MAX_TEXT - 1, text, NAMED_MAX_TEXT - 1, text);
        size_t length = field_format_cell(&field, &context, list ? (const void *)&room : all, text, sizeof text);
        ck_assert_uint_eq(length, strlen(wanted));
        ck_assert_str_eq(text, wanted);
        ck_assert_int_eq(field_parse_cell(&field, &context, &memory, text, &values, &error), BP_OK);
        ck_assert_mem_eq(values.items, all, list ? sizeof all : sizeof *all);
        field_values_free(&values, &field);
        field_free(&field, &memory);
    }
}
END_TEST

START_TEST(elements_of_an_array_begin_with_their_own_defaults)
{
    field_t field = made((bp_field_t){.name = "f", .type = BP_STRING, .count = 3, .initial = "[a, \"b\\n\", \"\"]"});
    static const char *const wanted[] = {"a", "b\n", ""};
    for (uint32_t i = 0; i < 3; i++) {
        const char *text;
        memcpy(&text, field_initial(&field, i), sizeof text);
        ck_assert_str_eq(text, wanted[i]);
    }
    field_free(&field, &memory);
    field = made((bp_field_t){.name = "f", .type = BP_DVEC2, .count = 2, .initial = "[1 2, 3 4]"});
    ck_assert(value_part(BP_DVEC2, field_initial(&field, 0), 1) == 2 &&
              value_part(BP_DVEC2, field_initial(&field, 1), 0) == 3);
    field_free(&field, &memory);
}
END_TEST

/* --- limits ------------------------------------------------------------------------------------------------------- */

/* Rows that hold a cell and something else that is far outside all limits. */
enum { MOST_ROWS = 7, STRIDE = 256 };

static void put_number(const field_t *field, char *at, double number)
{
    bp_value_t value = {.u64 = 0};
    char text[32];
    snprintf(text, sizeof text, "%g", number);
    ck_assert_int_eq(value_parse(&context, field->part, text, &value, &error), BP_OK);
    memcpy(at, &value, value_size(field->part));
}

static const bp_field_t columns[] = {
    {.name = "f", .type = BP_F32, .min = "3", .max = "5", .initial = "4"},
    {.name = "f", .type = BP_F32, .min = "3", .max = "5", .initial = "4", .count = 3},
    {.name = "f", .type = BP_VEC3, .min = "3", .max = "5", .initial = "4 4 4"},
    {.name = "f", .type = BP_VEC2, .min = "3", .max = "5", .initial = "4 4", .count = 3},
    {.name = "f", .type = BP_F64, .min = "3", .max = "5", .initial = "4"},
    {.name = "f", .type = BP_DVEC2, .min = "3", .max = "5", .initial = "4 4", .count = 2},
    {.name = "f", .type = BP_I8, .min = "3", .max = "5", .initial = "4", .count = 4},
    {.name = "f", .type = BP_U8, .min = "3", .max = "5", .initial = "4"},
    {.name = "f", .type = BP_I16, .min = "3", .max = "5", .initial = "4"},
    {.name = "f", .type = BP_U16, .min = "3", .max = "5", .initial = "4"},
    {.name = "f", .type = BP_I32, .min = "3", .max = "5", .initial = "4"},
    {.name = "f", .type = BP_U32, .min = "3", .max = "5", .initial = "4"},
    {.name = "f", .type = BP_I64, .min = "3", .max = "5", .initial = "4", .count = 2},
    {.name = "f", .type = BP_U64, .min = "3", .max = "5", .initial = "4"},
};

/* All ways to ask about cells that lie `stride` bytes apart, of which one number is `bad` or none is. */
static void expect_all(const field_t *field, const char *rows, size_t stride, const char *sentence, const char *what)
{
    uint32_t values = field->elements > 0 ? field->elements : 1, size = value_size(field->type);
    bool holds = true;
    for (uint32_t row = 0; row < MOST_ROWS; row++)
        for (uint32_t i = 0; i < values; i++)
            holds = holds && field_holds(field, rows + row * stride + (size_t)i * size);
    EXPECT(holds == (sentence == NULL), "%s: one by one", what);
    error.text[0] = '\0';
    bp_result_t result = field_check_all(field, rows, stride, MOST_ROWS, &error);
    expect_sentence(result, sentence == NULL ? BP_OK : BP_ERROR_RANGE, sentence == NULL ? "" : sentence);
    ck_assert_int_eq(field_check_all(field, rows, stride, 0, &error), BP_OK);
    if (stride != field->size)
        return;
    error.text[0] = '\0';
    result = field_check_items(field, rows, (uint64_t)MOST_ROWS * values, &error);
    expect_sentence(result, sentence == NULL ? BP_OK : BP_ERROR_RANGE, sentence == NULL ? "" : sentence);
    EXPECT(field_holds_all(field, rows, (size_t)MOST_ROWS * values) == (sentence == NULL), "%s: all at once", what);
}

START_TEST(the_first_number_outside_is_found_wherever_it_lies_and_numbers_at_the_limits_are_inside)
{
    static const double good[] = {3, 4, 5}, bad[] = {2, 6};
    static _Alignas(16) char room[2 * MOST_ROWS * STRIDE];
    char *rows = room + (size_t)MOST_ROWS * STRIDE; /* what lies before them is like what lies between them */
    for (uint32_t c = 0; c < COUNT(columns); c++) {
        field_t field = made(columns[c]);
        uint32_t parts = field.parts * (field.elements > 0 ? field.elements : 1), size = value_size(field.part);
        for (uint32_t round = 0; round < 3; round++) { /* what lies between the cells is far outside, or inside */
            size_t stride = round == 0 ? field.size : STRIDE;
            memset(room, 0x7f, sizeof room);
            for (size_t at = 0; round == 2 && at < sizeof room; at += size)
                put_number(&field, room + at, 4);
            for (uint32_t n = 0; n < MOST_ROWS * parts; n++)
                put_number(&field, rows + n / parts * stride + (size_t)(n % parts) * size, good[n % 3]);
            expect_all(&field, rows, stride, NULL, value_type_name(field.type));
            for (uint32_t n = 0; n < MOST_ROWS * parts; n++) {
                char *at = rows + n / parts * stride + (size_t)(n % parts) * size, sentence[128], what[64];
                snprintf(sentence, sizeof sentence, "f = %g is outside its range: at least 3 and at most 5",
                         bad[n % 2]);
                snprintf(what, sizeof what, "number %u of %s", n, value_type_name(field.type));
                put_number(&field, at, bad[n % 2]);
                expect_all(&field, rows, stride, sentence, what);
                put_number(&field, at, good[n % 3]);
            }
        }
        field_free(&field, &memory);
    }
}
END_TEST

/* Not a number is within no limits, on one side alone as well. */
START_TEST(what_is_no_number_is_outside)
{
    static const bp_field_t fields[] = {{.name = "f", .type = BP_F32, .min = "0"},
                                        {.name = "f", .type = BP_F32, .max = "0"},
                                        {.name = "f", .type = BP_F64, .min = "0"},
                                        {.name = "f", .type = BP_F64, .max = "0"}};
    for (uint32_t i = 0; i < COUNT(fields); i++) {
        field_t field = made(fields[i]);
        const float one[3] = {0, NAN, 0};
        const double exact[3] = {0, (double)NAN, 0};
        const void *numbers = field.part == BP_F32 ? (const void *)one : (const void *)exact;
        ck_assert(!field_holds(&field, (const char *)numbers + field.size) && !field_holds_all(&field, numbers, 3));
        ck_assert(field_holds_all(&field, numbers, 1));
        ck_assert_int_eq(field_check_all(&field, numbers, field.size, 3, &error), BP_ERROR_RANGE);
        ck_assert_int_eq(field_check_items(&field, numbers, 3, &error), BP_ERROR_RANGE);
        ck_assert_int_eq(field_check_items(&field, numbers, 1, &error), BP_OK);
        field_free(&field, &memory);
    }
}
END_TEST

START_TEST(the_items_of_each_list_of_a_column_are_checked)
{
    static const bp_field_t fields[] = {
        {.name = "f", .type = BP_VEC2, .flags = BP_FIELD_LIST, .max = "5"},
        {.name = "f", .type = BP_U32, .flags = BP_FIELD_LIST, .max = "5"},
        {.name = "f", .type = BP_U32, .flags = BP_FIELD_LIST, .values = "a b c d e f"},
    };
    for (uint32_t f = 0; f < COUNT(fields); f++) {
        static const char *const told[] = {"f = 6 is outside its range: at most 5",
                                           "f = 6 is none of its values (it has a, b, c, d, e, f)"};
        const char *sentence = told[fields[f].values != NULL];
        field_t field = made(fields[f]);
        bp_value_t items[3][4];
        uint32_t size = value_size(field.type), counts[3] = {4, 0, 3};
        bp_list_t lists[3];
        for (uint32_t i = 0; i < 3; i++) {
            memset(items[i], 0, sizeof items[i]);
            lists[i] = (bp_list_t){items[i], counts[i], 4};
        }
        ck_assert_int_eq(field_check_all(&field, lists, sizeof lists[0], 3, &error), BP_OK);
        for (uint32_t i = 0; i < 3; i++) {
            for (uint32_t k = 0; k < 4; k++) {
                char *at = (char *)items[i] + k * size;
                put_number(&field, at, 6);
                error.text[0] = '\0';
                bp_result_t result = field_check_all(&field, lists, sizeof lists[0], 3, &error);
                expect_sentence(result, k < counts[i] ? BP_ERROR_RANGE : BP_OK, k < counts[i] ? sentence : "");
                memset(at, 0, size);
            }
        }
        field_free(&field, &memory);
    }
}
END_TEST

START_TEST(one_of_very_many_items_is_found)
{
    enum { MANY = (1 << 17) + 3 };
    static const uint32_t places[] = {0, (1 << 16) - 1, 1 << 16, (1 << 17) - 1, 1 << 17, MANY - 1};
    static float floats[MANY + 1];
    static uint8_t bytes[MANY + 1];
    field_t as_float = made((bp_field_t){.name = "f", .type = BP_F32, .flags = BP_FIELD_LIST, .max = "5"});
    field_t as_byte = made((bp_field_t){.name = "f", .type = BP_U8, .flags = BP_FIELD_LIST, .max = "5"});
    floats[MANY] = 9;
    bytes[MANY] = 9;
    ck_assert_int_eq(field_check_items(&as_float, floats, MANY, &error), BP_OK);
    ck_assert_int_eq(field_check_items(&as_byte, bytes, MANY, &error), BP_OK);
    for (uint32_t i = 0; i < COUNT(places); i++) {
        floats[places[i]] = 6;
        bytes[places[i]] = 7;
        expect_sentence(field_check_items(&as_float, floats, MANY, &error), BP_ERROR_RANGE,
                        "f = 6 is outside its range: at most 5");
        expect_sentence(field_check_items(&as_byte, bytes, MANY, &error), BP_ERROR_RANGE,
                        "f = 7 is outside its range: at most 5");
        floats[places[i]] = 0;
        bytes[places[i]] = 0;
    }
    field_free(&as_float, &memory);
    field_free(&as_byte, &memory);
}
END_TEST

START_TEST(fields_without_limits_hold_whatever_there_is)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, FLT_MAX};
    field_t field = made((bp_field_t){.name = "f", .type = BP_F32});
    ck_assert(field_holds(&field, odd) && field_holds_all(&field, odd, 4));
    ck_assert_int_eq(field_check_all(&field, odd, sizeof *odd, 4, &error), BP_OK);
    ck_assert_int_eq(field_check_items(&field, odd, 4, &error), BP_OK);
    field_free(&field, &memory);
}
END_TEST

/* --- units -------------------------------------------------------------------------------------------------------- */

START_TEST(the_unit_at_the_end_of_a_sentence_about_a_range_becomes_that_of_the_world)
{
    static const struct {
        const char *unit, *units;
        bp_result_t result;
        const char *sentence, *becomes;
    } cases[] = {
        {"m", "m=au", BP_ERROR_RANGE, "at most 2 m", "at most 2 au"},
        {"m/s", "m=au, s=day", BP_ERROR_RANGE, "at most 2 m/s", "at most 2 au/day"},
        {"m", "m=au", BP_ERROR_RANGE, "m", "au"},
        {"m", "m=au", BP_ERROR_TYPE, "at most 2 m", "at most 2 m"},
        {"m", "m=au", BP_OK, "at most 2 m", "at most 2 m"},
        {"m", NULL, BP_ERROR_RANGE, "at most 2 m", "at most 2 m"},
        {"m", "m=au", BP_ERROR_RANGE, "at most 2 m or so", "at most 2 m or so"},
        {"m", "m=au", BP_ERROR_RANGE, "", ""},
        {NULL, "m=au", BP_ERROR_RANGE, "at most 2 m", "at most 2 m"},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        field_t field = made((bp_field_t){.name = "f", .type = BP_F32, .unit = cases[i].unit});
        snprintf(error.text, sizeof error.text, "%s", cases[i].sentence);
        bp_result_t result = field_in_units(&field, cases[i].units, cases[i].result, &error);
        expect_sentence(result, cases[i].result, cases[i].becomes);
        field_free(&field, &memory);
    }
    char name[200], units[256], becomes[512]; /* a long name, twice */
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(units, sizeof units, "m=%s", name);
    snprintf(becomes, sizeof becomes, "at most 2 %s.%s", name, name);
    field_t field = made((bp_field_t){.name = "f", .type = BP_F32, .unit = "m.m"});
    snprintf(error.text, sizeof error.text, "at most 2 m.m");
    expect_sentence(field_in_units(&field, units, BP_ERROR_RANGE, &error), BP_ERROR_RANGE, becomes);
    field_free(&field, &memory);
}
END_TEST

Suite *fields_suite(void)
{
    Suite *suite = suite_create("fields");
    TCase *tests = new_case(suite, "fields");
    tcase_add_test(tests, each_refusal_of_a_declaration_has_its_sentence_and_leaves_nothing);
    tcase_add_test(tests, what_lies_just_beside_a_refusal_is_accepted);
    tcase_add_test(tests, flags_are_kept_where_they_are_known_and_left_out_where_they_need_not_be);
    tcase_add_test(tests, a_field_has_the_size_and_the_parts_of_its_declaration);
    tcase_add_test(tests, a_default_is_zero_where_all_of_its_bytes_are);
    tcase_add_test(tests, a_field_is_limited_by_a_limit_or_by_names);
    tcase_add_test(tests, without_memory_no_declaration_is_kept);
    tcase_add_test(tests, a_lack_of_memory_says_what_was_being_done);
    tcase_add_test(tests, shapes_are_said_in_words);
    tcase_add_test(tests, texts_of_cells_are_read_and_written_or_refused_with_a_sentence);
    tcase_add_test(tests, a_text_that_is_not_a_list_is_told_by_its_beginning);
    tcase_add_test(tests, without_memory_no_cell_is_read);
    tcase_add_test(tests, cells_of_single_values_are_written_in_whatever_room);
    tcase_add_test(tests, the_longest_text_of_a_value_is_written_and_read_as_a_whole);
    tcase_add_test(tests, elements_of_an_array_begin_with_their_own_defaults);
    tcase_add_test(tests, the_first_number_outside_is_found_wherever_it_lies_and_numbers_at_the_limits_are_inside);
    tcase_add_test(tests, what_is_no_number_is_outside);
    tcase_add_test(tests, the_items_of_each_list_of_a_column_are_checked);
    tcase_add_test(tests, one_of_very_many_items_is_found);
    tcase_add_test(tests, fields_without_limits_hold_whatever_there_is);
    tcase_add_test(tests, the_unit_at_the_end_of_a_sentence_about_a_range_becomes_that_of_the_world);
    return suite;
}
