/* test_strings.c - names, which stay as long as their host, and counted strings, which go with their last use. */
#include "../suites.h"
#include "base/cells.h"
#include "base_stage.h"

#include <stdlib.h>

/* --- names -------------------------------------------------------------------------------------------------------- */

START_TEST(a_name_gives_its_text_back)
{
    bp_name_t fog, again, nothing = 1;
    ck_assert_str_eq(names_text(&names, 5), "?");
    ck_assert_int_eq(names_intern(&names, "fog", &fog, &error), BP_OK);
    ck_assert_int_eq(names_intern(&names, "fog", &again, &error), BP_OK);
    ck_assert_int_eq(names_intern(&names, "", &nothing, &error), BP_OK);
    ck_assert_uint_eq(fog, again);
    ck_assert_uint_eq(fog, names_hash("fog"));
    ck_assert_uint_eq(nothing, 0);
    ck_assert_str_eq(names_text(&names, fog), "fog");
    ck_assert_str_eq(names_text(&names, 0), "");
    ck_assert_str_eq(names_text(&names, names_hash("vignette")), "?");
    ck_assert_uint_eq(names.count, 1);
}
END_TEST

/* Names may be stored in files: their hashes (XXH3, 64 bits, seed 0) never change. */
START_TEST(hashes_are_those_of_xxh3)
{
    ck_assert_uint_eq(names_hash(""), 0);
    ck_assert_uint_eq(names_hash("fog"), UINT64_C(0x4770D5DD869C6485));
    ck_assert_uint_eq(names_hash("a name of more than sixteen bytes"), UINT64_C(0x7CCFF9AD82E42E22));
}
END_TEST

START_TEST(names_have_at_most_255_bytes)
{
    char text[NAMES_MAX_LENGTH + 2];
    bp_name_t name;
    memset(text, 'n', sizeof text);
    text[NAMES_MAX_LENGTH + 1] = '\0';
    expect_error(names_intern(&names, text, &name, &error), BP_ERROR_LIMIT, "longer than 255 bytes");
    ck_assert_uint_eq(names.count, 0);
    text[NAMES_MAX_LENGTH] = '\0';
    ck_assert_int_eq(names_intern(&names, text, &name, &error), BP_OK);
    ck_assert_str_eq(names_text(&names, name), text);
}
END_TEST

START_TEST(a_hundred_thousand_names_stay_apart)
{
    enum { MANY = 100000 };
    bp_name_t *made = malloc(MANY * sizeof *made);
    char text[32];
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "name-%d", i);
        EXPECT(names_intern(&names, text, &made[i], &error) == BP_OK, "%s", error.text);
    }
    ck_assert_uint_eq(names.count, MANY);
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "name-%d", i);
        EXPECT(strcmp(names_text(&names, made[i]), text) == 0, "%s", text);
    }
    free(made);
}
END_TEST

/* No two texts of one hash are known, so one is made: the table is told that another text has it. */
START_TEST(a_text_whose_hash_is_taken_is_refused)
{
    bp_name_t name;
    ck_assert_int_eq(names_intern(&names, "fog", &name, &error), BP_OK);
    for (uint32_t i = 0; i < names.capacity; i++) {
        if (names.entries[i].name == name)
            names.entries[i].text[0] = 'd';
    }
    expect_error(names_intern(&names, "fog", &name, &error), BP_ERROR_EXISTS, "'fog'");
    ck_assert_str_eq(names_text(&names, names_hash("fog")), "dog");
    ck_assert_uint_eq(names.count, 1);
}
END_TEST

START_TEST(a_name_that_finds_no_memory_is_not_interned)
{
    bp_name_t name;
    for (uint64_t n = 1; n <= 2; n++) {
        heap.refuse_first = heap.refuse_last = heap.requests + n;
        expect_error(names_intern(&names, "fog", &name, &error), BP_ERROR_MEMORY, "out of memory");
        ck_assert_str_eq(names_text(&names, names_hash("fog")), "?");
    }
    ck_assert_int_eq(names_intern(&names, "fog", &name, &error), BP_OK);
}
END_TEST

START_TEST(words_are_letters_digits_and_underscore)
{
    char longest[65];
    memset(longest, 'w', sizeof longest);
    longest[63] = '\0';
    const char *const good[] = {"a", "Z9", "point_mass", "_", "0", longest};
    const char *const bad[] = {"", " ", "a b", "a.b", "a/b", "a:b", "a-b", "\xc3\xa4", "a\n", "#1"};
    for (uint32_t i = 0; i < COUNT(good); i++)
        ck_assert_msg(names_is_word(good[i]), "%s", good[i]);
    for (uint32_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(!names_is_word(bad[i]), "%s", bad[i]);
    longest[63] = 'w';
    longest[64] = '\0';
    ck_assert(!names_is_word(longest));
}
END_TEST

/* --- strings ------------------------------------------------------------------------------------------------------ */

START_TEST(equal_strings_are_one_and_go_with_their_last_use)
{
    strings_t strings;
    strings_init(&strings, &memory);
    const char *a = strings_acquire(&strings, "hello"), *b = strings_acquire(&strings, "hello");
    const char *c = strings_acquire(&strings, "hellp");
    ck_assert_ptr_eq(a, b);
    ck_assert_ptr_ne(a, c);
    ck_assert_uint_eq(strings.count, 2);
    strings_retain(a, 3);
    for (int uses = 5; uses > 1; uses--) {
        strings_release(&strings, a);
        ck_assert_str_eq(a, "hello");
    }
    strings_release(&strings, a);
    ck_assert_uint_eq(strings.count, 1);
    strings_release(&strings, c);
    ck_assert_uint_eq(strings.count, 0);
    strings_free(&strings);
}
END_TEST

START_TEST(the_empty_string_is_shared_and_not_counted)
{
    strings_t strings;
    strings_init(&strings, &memory);
    ck_assert_ptr_eq(strings_acquire(&strings, ""), strings_empty);
    strings_retain(strings_empty, 1000);
    strings_release(&strings, strings_empty);
    ck_assert_str_eq(strings_empty, "");
    ck_assert_uint_eq(heap.requests, 0);
    strings_free(&strings);
}
END_TEST

START_TEST(a_string_that_finds_no_memory_is_not_there)
{
    strings_t strings;
    strings_init(&strings, &memory);
    for (uint64_t n = 1; n <= 2; n++) {
        heap.refuse_first = heap.refuse_last = heap.requests + n;
        ck_assert_ptr_null(strings_acquire(&strings, "text"));
        ck_assert_uint_eq(strings.count, 0);
    }
    const char *text = strings_acquire(&strings, "text");
    ck_assert_str_eq(text, "text");
    strings_free(&strings);
}
END_TEST

/* A table that cannot grow has longer chains, no more. */
START_TEST(strings_are_found_though_the_table_could_not_grow)
{
    strings_t strings;
    char text[32];
    strings_init(&strings, &memory);
    for (int i = 0; i < 64; i++) {
        snprintf(text, sizeof text, "string %d", i);
        ck_assert_ptr_nonnull(strings_acquire(&strings, text));
    }
    heap.refuse_first = heap.refuse_last = heap.requests + 1;
    const char *more = strings_acquire(&strings, "one more");
    ck_assert_ptr_nonnull(more);
    ck_assert_uint_eq(heap.refused, 1);
    ck_assert_ptr_eq(strings_acquire(&strings, "one more"), more);
    ck_assert_uint_eq(strings.count, 65);
    strings_free(&strings);
}
END_TEST

START_TEST(counts_are_right_after_any_sequence_of_uses)
{
    enum { TEXTS = 500, MOVES = 100000 };
    strings_t strings;
    static const char *held[TEXTS];
    static uint32_t uses[TEXTS];
    uint64_t random = 3;
    uint32_t living = 0;
    char text[32];
    memset(uses, 0, sizeof uses);
    strings_init(&strings, &memory);
    for (int i = 0; i < MOVES; i++) {
        uint32_t t = bp_random_below(&random, TEXTS), what = bp_random_below(&random, 5);
        snprintf(text, sizeof text, "%u", t);
        if (what < 2) {
            const char *string = strings_acquire(&strings, text);
            EXPECT(uses[t] == 0 || string == held[t], "'%s' is there twice", text);
            held[t] = string;
            living += uses[t]++ == 0;
        } else if (what == 2 && uses[t] > 0) {
            strings_retain(held[t], 2);
            uses[t] += 2;
        } else if (uses[t] > 0) {
            EXPECT(strcmp(held[t], text) == 0, "'%s' reads '%s'", text, held[t]);
            strings_release(&strings, held[t]);
            living -= --uses[t] == 0;
        }
        EXPECT(strings.count == living, "%u strings instead of %u", strings.count, living);
    }
    strings_free(&strings);
}
END_TEST

/* A cell that could not be copied as a whole holds nothing: who lets go of it lets go of no text a second time. */
START_TEST(a_cell_that_lacks_memory_for_one_of_its_texts_holds_none)
{
    const char *three[] = {"the first of three", "the second", "and the third"};
    const field_t field = {.name = "texts", .type = BP_STRING, .size = sizeof three, .elements = 3};
    strings_t strings;
    strings_init(&strings, &memory);
    const holdings_t holdings = {.strings = &strings};
    const char *kept = strings_acquire(&strings, "kept"), *to[3];
    for (uint32_t n = 1; n <= 3; n++) {
        cells_clear(&field, to, 1);
        heap.refuse_first = heap.refuse_last = heap.requests + n;
        ck_assert(!cell_copy(&holdings, &field, to, three));
        for (uint32_t i = 0; i < 3; i++)
            EXPECT(to[i] == strings_empty, "request %u refused, text %u", n, i);
        cells_release(&holdings, &field, to, 1);
        ck_assert_uint_eq(strings.count, 1);
    }
    strings_release(&strings, kept);
    strings_free(&strings);
}
END_TEST

Suite *strings_suite(void)
{
    Suite *suite = suite_create("strings");
    TCase *tests = new_case(suite, "names and strings");
    tcase_add_test(tests, a_name_gives_its_text_back);
    tcase_add_test(tests, hashes_are_those_of_xxh3);
    tcase_add_test(tests, names_have_at_most_255_bytes);
    tcase_add_test(tests, a_hundred_thousand_names_stay_apart);
    tcase_add_test(tests, a_text_whose_hash_is_taken_is_refused);
    tcase_add_test(tests, a_name_that_finds_no_memory_is_not_interned);
    tcase_add_test(tests, words_are_letters_digits_and_underscore);
    tcase_add_test(tests, equal_strings_are_one_and_go_with_their_last_use);
    tcase_add_test(tests, the_empty_string_is_shared_and_not_counted);
    tcase_add_test(tests, a_string_that_finds_no_memory_is_not_there);
    tcase_add_test(tests, strings_are_found_though_the_table_could_not_grow);
    tcase_add_test(tests, counts_are_right_after_any_sequence_of_uses);
    tcase_add_test(tests, a_cell_that_lacks_memory_for_one_of_its_texts_holds_none);
    return suite;
}
