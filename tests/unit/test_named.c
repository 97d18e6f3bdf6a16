/* test_named.c - integers whose values have names: lists of names, text, ranges, and what becomes of values when the
   list changes. */
#include "support.h"

#include "../suites.h"
#include "base/base.h"
#include "base/convert.h"

#include <string.h>

static memory_t memory;
static error_text_t error;

static void begin(void)
{
    memory_init(&memory, "test", &(bp_allocator_i){0});
    error.text[0] = '\0';
}

static void end(void)
{
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}

static field_t make(uint32_t type, const char *values, bool bits)
{
    field_t field;
    bp_field_t declared = {.name = "f", .type = type, .values = values, .flags = bits ? BP_FIELD_BITS : 0};
    bp_result_t result = field_init(&field, &memory, NULL, &declared, sizeof declared, &error);
    ck_assert_msg(result == BP_OK, "'%s': %s", values, error.text);
    return field;
}

/* The number that a text is for the field, and the text that is written for it. */
static uint64_t expect_text(const field_t *field, const char *text, const char *written)
{
    bp_value_t value = {.u64 = 0};
    char back[256];
    bp_result_t result = field_parse(field, NULL, text, &value, &error);
    ck_assert_msg(result == BP_OK, "'%s': %s", text, error.text);
    field_format(field, NULL, &value, back, sizeof back);
    ck_assert_str_eq(back, written);
    return value.u64;
}

static void expect_error(const field_t *field, const char *text, const char *part)
{
    bp_value_t value = {.u64 = 77};
    ck_assert_int_eq(field_parse(field, NULL, text, &value, &error), BP_ERROR_TYPE);
    ck_assert_msg(strstr(error.text, part) != NULL, "\"%s\" is not in: %s", part, error.text);
    ck_assert_uint_eq(value.u64, 77);
}

START_TEST(names_stand_for_numbers_that_follow_each_other_or_are_said)
{
    field_t field = make(BP_I16, "idle walking,running=9\n  falling asleep=-3 dead", false);
    static const struct {
        const char *name;
        int16_t number;
    } wanted[] = {{"idle", 0}, {"walking", 1}, {"running", 9}, {"falling", 10}, {"asleep", -3}, {"dead", -2}};
    for (uint32_t i = 0; i < COUNT(wanted); i++) {
        char number[16];
        ck_assert_int_eq((int16_t)expect_text(&field, wanted[i].name, wanted[i].name), wanted[i].number);
        snprintf(number, sizeof number, "%d", wanted[i].number);
        ck_assert_int_eq((int16_t)expect_text(&field, number, wanted[i].name), wanted[i].number);
    }
    ck_assert_int_eq((int16_t)expect_text(&field, " running ", "running"), 9);
    ck_assert_int_eq((int16_t)expect_text(&field, "4", "4"), 4); /* read as a number; the range says no */
    field_free(&field, &memory);
}
END_TEST

START_TEST(bits_are_combined_by_their_names)
{
    field_t field = make(BP_U64, "red green blue=63", true);
    ck_assert_uint_eq(expect_text(&field, "green", "green"), 2);
    ck_assert_uint_eq(expect_text(&field, "blue | red", "red|blue"), UINT64_C(1) << 63 | 1);
    ck_assert_uint_eq(expect_text(&field, "0", "0"), 0);
    ck_assert_uint_eq(expect_text(&field, "3", "red|green"), 3);
    ck_assert_uint_eq(expect_text(&field, "red|0x10|8", "red|0x18"), 25);
    field_free(&field, &memory);
}
END_TEST

START_TEST(what_is_no_name_is_refused_with_the_nearest)
{
    field_t field = make(BP_U8, "idle walking running", false), bits = make(BP_U8, "red green", true);
    expect_error(&field, "walkin",
                 "'walkin' is none of its values; did you mean 'walking'? (it has idle, walking, running)");
    expect_error(&field, "", "'' is none of its values");
    expect_error(&field, "idle|walking", "'idle|walking' is none");
    expect_error(&field, "256", "'256' is none");
    expect_error(&field, "Idle", "did you mean 'idle'?");
    expect_error(&bits, "red|gren", "'gren' is none of its flags; did you mean 'green'? (it has red, green)");
    expect_error(&bits, "red|", "'' is none of its flags");
    expect_error(&bits, "red green", "'red green' is none of its flags");
    field_free(&field, &memory);
    field_free(&bits, &memory);
}
END_TEST

START_TEST(only_named_values_are_in_range)
{
    field_t field = make(BP_U8, "idle walking=4", false), bits = make(BP_U8, "red green=3", true);
    for (uint32_t i = 0; i < 256; i++) {
        uint8_t value = (uint8_t)i;
        ck_assert(field_holds(&field, &value) == (i == 0 || i == 4));
        ck_assert(field_holds(&bits, &value) == ((i & ~9u) == 0));
    }
    ck_assert_int_eq(field_check(&field, &(uint8_t){3}, &error), BP_ERROR_RANGE);
    ck_assert_str_eq(error.text, "f = 3 is none of its values (it has idle, walking)");
    ck_assert_int_eq(field_check_all(&bits, &(uint8_t){3}, 1, 1, &error), BP_ERROR_RANGE);
    ck_assert_str_eq(error.text, "f = 3 is none of its flags (it has red, green)");
    field_free(&field, &memory);
    field_free(&bits, &memory);
}
END_TEST

typedef struct bad_list_t {
    bp_field_t field;
    bp_result_t code;
    const char *says;
} bad_list_t;

static const bad_list_t bad_lists[] = {
    {{.name = "f", .type = BP_F32, .values = "a"}, BP_ERROR_TYPE, "a f32 has no named values; integers have"},
    {{.name = "f", .type = BP_BOOL, .values = "a b"}, BP_ERROR_TYPE, "a bool has no named values"},
    {{.name = "f", .type = BP_U8, .values = " , "}, BP_ERROR_ARGUMENT, "there are no names"},
    {{.name = "f", .type = BP_U8, .values = "a b a"}, BP_ERROR_EXISTS, "'a' stands twice"},
    {{.name = "f", .type = BP_U8, .values = "a b=0"}, BP_ERROR_EXISTS, "'a' and 'b' are the same number"},
    {{.name = "f", .type = BP_U8, .values = "a=256"},
     BP_ERROR_RANGE,
     "'a' is 256, which is not a whole number from 0 to 255"},
    {{.name = "f", .type = BP_U8, .values = "a=255 b"}, BP_ERROR_RANGE, "'b' is 256"},
    {{.name = "f", .type = BP_U8, .values = "a=-1"}, BP_ERROR_RANGE, "'a' is -1"},
    {{.name = "f", .type = BP_I64, .values = "a=9223372036854775807 b"}, BP_ERROR_RANGE, "'b' is 9223372036854775808,"},
    {{.name = "f", .type = BP_I64, .values = "z a=18446744073709551615"}, BP_ERROR_RANGE, "is 18446744073709551615,"},
    {{.name = "f", .type = BP_U64, .values = "a=18446744073709551615 b"}, BP_ERROR_RANGE, "'b' has no number"},
    {{.name = "f", .type = BP_U8, .values = "a=x"}, BP_ERROR_TYPE, "'a=x' ends with no whole number"},
    {{.name = "f", .type = BP_U8, .values = "a="}, BP_ERROR_TYPE, "'a=' ends with no"},
    {{.name = "f", .type = BP_U8, .values = "7up"}, BP_ERROR_ARGUMENT, "not '7up'"},
    {{.name = "f", .type = BP_U8, .values = "a|b"}, BP_ERROR_ARGUMENT, "not 'a|b'"},
    {{.name = "f", .type = BP_U8, .values = "a", .max = "3"}, BP_ERROR_ARGUMENT, "named values are the range"},
    {{.name = "f", .type = BP_U8, .values = "a=1"}, BP_ERROR_RANGE, "f = 0 is none of its values (it has a)"},
    {{.name = "f", .type = BP_U8, .values = "a b", .initial = "c"}, BP_ERROR_TYPE, "'c' is none of its values"},
    {{.name = "f", .type = BP_U8, .values = "a b", .initial = "2"}, BP_ERROR_RANGE, "f = 2 is none of its values"},
    {{.name = "f", .type = BP_U8, .flags = BP_FIELD_BITS}, BP_ERROR_ARGUMENT, "its bits need names (.values)"},
    {{.name = "f", .type = BP_U8, .flags = BP_FIELD_BITS, .values = "a=8"},
     BP_ERROR_RANGE,
     "'a' is bit 8; a u8 has the bits 0 to 7"},
    {{.name = "f", .type = BP_I32, .flags = BP_FIELD_BITS, .values = "a"},
     BP_ERROR_TYPE,
     "named bits need an unsigned type"},
};

START_TEST(bad_lists_of_names_are_refused_and_leave_nothing)
{
    field_t field;
    bp_result_t result = field_init(&field, &memory, NULL, &bad_lists[_i].field, sizeof(bp_field_t), &error);
    ck_assert_msg(result == bad_lists[_i].code, "%d: %s", result, error.text);
    ck_assert_msg(strstr(error.text, bad_lists[_i].says) != NULL, "\"%s\" is not in: %s", bad_lists[_i].says,
                  error.text);
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}
END_TEST

/* --- other lists -------------------------------------------------------------------------------------------------- */

typedef struct change_case_t {
    uint32_t from_type;
    const char *from;
    bool from_bits;
    uint32_t to_type;
    const char *to;
    bool to_bits;
    convert_kind_t kind;
    const char *values;  /* texts of values before, separated by blanks ... */
    const char *become;  /* ... and after; "-": does not fit */
} change_case_t;

static const change_case_t changes[] = {
    {BP_U8, "idle walking", 0, BP_U8, "idle walking running", 0, CONVERT_SAME, "idle walking", "idle walking"},
    {BP_U8, "idle walking", 0, BP_U8, "running idle walking", 0, CONVERT_WIDENED, "idle walking", "idle walking"},
    {BP_U8, "idle walking", 0, BP_U32, "walking=-0 idle=70000", 0, CONVERT_WIDENED, "idle walking", "idle walking"},
    {BP_U8, "idle walking", 0, BP_U8, "idle", 0, CONVERT_NARROWED, "idle walking", "idle -"},
    {BP_U8, "idle walking", 0, BP_U8, "idle running", 0, CONVERT_NARROWED, "idle walking", "idle -"},
    {BP_I8, "low=-1 none", 0, BP_U8, "none low", 0, CONVERT_WIDENED, "low none",
     "low none"}, /* by name: no sign is needed */
    {BP_I64, "none=0 last=-1", 0, BP_U64, "none=0 last=18446744073709551615", 0, CONVERT_WIDENED, "last none",
     "last none"}, /* of the same bits */
    {BP_U64, "none=0 last=18446744073709551615", 0, BP_I64, "none=0 last=-1", 0, CONVERT_WIDENED, "last none",
     "last none"},
    {BP_I64, "none=0 low=-5", 0, BP_I32, "low=-6 none=0 old=-5", 0, CONVERT_WIDENED, "low none", "low none"},
    {BP_U8, "red green", 1, BP_U8, "green red", 1, CONVERT_WIDENED, "red green red|green 0", "red green green|red 0"},
    {BP_U8, "red green", 1, BP_U16, "blue green red=15", 1, CONVERT_WIDENED, "red red|green", "red green|red"},
    {BP_U8, "red green", 1, BP_U8, "red", 1, CONVERT_NARROWED, "red green red|green", "red - -"},
    {BP_U8, "red green", 1, BP_U8, "none red=5 green", 0, CONVERT_NARROWED, "red green 0 red|green",
     "red green none -"},
    {BP_U8, "idle walking", 0, BP_U8, "idle walking", 1, CONVERT_NARROWED, "idle walking", "idle walking"},
    {BP_U8, NULL, 0, BP_U8, "idle walking", 0, CONVERT_SAME, "0 1 2", "idle walking -"},
    {BP_U8, "idle walking", 0, BP_F32, NULL, 0, CONVERT_WIDENED, "idle walking", "0 1"},
    {BP_U8, "idle=200", 0, BP_I8, NULL, 0, CONVERT_NARROWED, "idle", "-"},
};

static bool next_text(const char **list, char *word, size_t size)
{
    const char *start = *list + strspn(*list, " ");
    size_t length = strcspn(start, " ");
    snprintf(word, size, "%.*s", (int)length, start);
    *list = start + length;
    return length > 0;
}

START_TEST(values_keep_their_names_when_the_list_changes)
{
    const change_case_t *c = &changes[_i];
    bp_field_t from_declared = {.name = "f",
                                .type = c->from_type,
                                .values = c->from,
                                .flags = c->from_bits ? BP_FIELD_BITS : 0};
    bp_field_t to_declared = {.name = "f",
                              .type = c->to_type,
                              .values = c->to,
                              .flags = c->to_bits ? BP_FIELD_BITS : 0};
    field_t from, to;
    convert_source_t source;
    char before[64], after[64], text[64];
    from_declared.initial = c->from == NULL || c->from_bits ? NULL : strcmp(c->from, "idle=200") == 0 ? "idle" : NULL;
    to_declared.initial = c->to != NULL && strstr(c->to, "idle=70000") != NULL ? "idle" : NULL;
    ck_assert_int_eq(field_init(&from, &memory, NULL, &from_declared, sizeof from_declared, &error), BP_OK);
    ck_assert_msg(field_init(&to, &memory, NULL, &to_declared, sizeof to_declared, &error) == BP_OK, "%s", error.text);
    ck_assert_int_eq(convert_plan(&from, 1, &to, 1, &source, &error), BP_OK);
    ck_assert_int_eq(source.kind, c->kind);
    const char *values = c->values, *become = c->become;
    while (next_text(&values, before, sizeof before)) {
        bp_value_t value = {.u64 = 0}, out = {.u64 = 0};
        ck_assert(next_text(&become, after, sizeof after));
        ck_assert_int_eq(field_parse(&from, NULL, before, &value, &error), BP_OK);
        if (convert_column(&from, &value, &to, &out, 1, NULL) == 0)
            snprintf(text, sizeof text, "-");
        else
            field_format(&to, NULL, &out, text, sizeof text);
        ck_assert_msg(strcmp(text, after) == 0, "%s became %s instead of %s", before, text, after);
    }
    field_free(&from, &memory);
    field_free(&to, &memory);
}
END_TEST

/* A number that the old list has no name for may have one in the new list. Such a flag beside named ones has no
 * place of its own among those that have moved. */
START_TEST(numbers_that_had_no_name_stay_what_they_are)
{
    field_t from = make(BP_U16, "idle walking", false), to = make(BP_U16, "idle=5 walking=0 running=7", false);
    field_t flags = make(BP_U8, "red green", true), moved = make(BP_U8, "green red blue", true);
    const uint16_t numbers[] = {0, 7, 1, 5};
    const uint8_t colours[] = {1, 4, 2, 5};
    uint16_t out[4];
    uint8_t mixed[4];
    ck_assert_uint_eq(convert_column(&from, numbers, &to, out, 4, NULL), 4);
    ck_assert(out[0] == 5 && out[1] == 7 && out[2] == 0 && out[3] == 5);
    ck_assert_uint_eq(convert_column(&flags, colours, &moved, mixed, 4, NULL), 3);
    ck_assert(mixed[0] == 2 && mixed[1] == 4 && mixed[2] == 1);
    field_free(&from, &memory);
    field_free(&to, &memory);
    field_free(&flags, &memory);
    field_free(&moved, &memory);
}
END_TEST

/* More different numbers than conversions are remembered. Those of the dead take the default where they do not fit. */
START_TEST(a_column_of_many_numbers_is_converted_by_names_as_each_of_them_is)
{
    enum { ROWS = 3000 };
    static int32_t numbers[ROWS], out[ROWS];
    static bp_entity_t entities[ROWS];
    field_t from = make(BP_I32, "idle walking", false);
    field_t to = make(BP_I32, "walking=0 idle=9 high=2000 low=-2000", false);
    for (int32_t i = 0; i < ROWS; i++) {
        numbers[i] = i % 3 == 0 ? i / 3 % 2 : i % 2 == 0 ? i : -i;
        entities[i].id = i % 3 == 0 ? 1 : 0;
    }
    ck_assert_uint_eq(convert_column(&from, numbers, &to, out, ROWS, entities), ROWS);
    for (int32_t i = 0; i < ROWS; i++) {
        bool same = numbers[i] == 2000 || numbers[i] == -2000 || numbers[i] == 9;
        ck_assert_int_eq(out[i], numbers[i] == 0 ? 9 : numbers[i] == 1 ? 0 : same ? numbers[i] : to.initial.i32);
    }
    ck_assert_uint_eq(convert_column(&from, numbers, &to, out, ROWS, NULL), 1);
    entities[5].id = 1;
    ck_assert_uint_eq(convert_column(&from, numbers, &to, out, ROWS, entities), 5);
    ck_assert(convert_changes_values(&from, &to));
    field_free(&from, &memory);
    field_free(&to, &memory);
}
END_TEST

START_TEST(a_value_that_loses_its_name_is_told_by_it)
{
    field_t from = make(BP_U8, "idle walking", false), to = make(BP_U8, "idle running", false);
    ck_assert_int_eq(convert_refuse(NULL, &from, &to, &(uint8_t){1}, &error), BP_ERROR_RANGE);
    ck_assert_msg(strncmp(error.text, "field 'f' holds walking, which does not fit the new u8 (idle, running);", 70) ==
                      0,
                  "%s", error.text);
    field_free(&from, &memory);
    field_free(&to, &memory);
}
END_TEST

START_TEST(numbers_without_names_are_checked_against_new_names)
{
    field_t from, to = make(BP_U8, "idle walking", false);
    bp_field_t declared = {.name = "f", .type = BP_U8};
    convert_source_t source;
    ck_assert_int_eq(field_init(&from, &memory, NULL, &declared, sizeof declared, &error), BP_OK);
    ck_assert_int_eq(convert_plan(&from, 1, &to, 1, &source, &error), BP_OK);
    ck_assert(source.kind == CONVERT_SAME && source.check);
    ck_assert_uint_eq(convert_check(&to, (uint8_t[]){0, 1, 0, 2}, 4, NULL), 3);
    ck_assert_int_eq(convert_plan(&to, 1, &from, 1, &source, &error), BP_OK);
    ck_assert(source.kind == CONVERT_SAME && !source.check);
    field_free(&from, &memory);
    declared.max = "1"; /* a number without a name may lie beyond */
    ck_assert_int_eq(field_init(&from, &memory, NULL, &declared, sizeof declared, &error), BP_OK);
    ck_assert_int_eq(convert_plan(&to, 1, &from, 1, &source, &error), BP_OK);
    ck_assert(source.kind == CONVERT_SAME && source.check && !convert_changes_values(&to, &from));
    field_free(&from, &memory);
    field_free(&to, &memory);
}
END_TEST

Suite *named_suite(void)
{
    Suite *suite = suite_create("named");
    TCase *tests = tcase_create("values");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, names_stand_for_numbers_that_follow_each_other_or_are_said);
    tcase_add_test(tests, bits_are_combined_by_their_names);
    tcase_add_test(tests, what_is_no_name_is_refused_with_the_nearest);
    tcase_add_test(tests, only_named_values_are_in_range);
    tcase_add_loop_test(tests, bad_lists_of_names_are_refused_and_leave_nothing, 0, (int)COUNT(bad_lists));
    tcase_add_loop_test(tests, values_keep_their_names_when_the_list_changes, 0, (int)COUNT(changes));
    tcase_add_test(tests, numbers_that_had_no_name_stay_what_they_are);
    tcase_add_test(tests, a_column_of_many_numbers_is_converted_by_names_as_each_of_them_is);
    tcase_add_test(tests, a_value_that_loses_its_name_is_told_by_it);
    tcase_add_test(tests, numbers_without_names_are_checked_against_new_names);
    suite_add_tcase(suite, tests);
    return suite;
}
