/* test_values.c - values of every shape from outside: console, listings, schema, scenes, dump, save and load.
 *
 * The plugin cargo of plugins/cargo.c is built here as users build theirs.
 */
#include "../suites.h"
#include "shell.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRATCH TEST_SCRATCH_DIR

static const char ini[] =
    "[host]\nplugins = ./cargo.so debug_name\n"
    "[world main]\ncomponents = cargo debug_name\n"
    "[spawn main one]\ncomponents = cargo debug_name\ndebug_name.name = one\ncargo.state = full\n";

static void begin(void)
{
    make_scratch_folder();
    expect(shell("${CC:-cc} -shared -fPIC -I plugin_api tests/program/plugins/cargo.c -o '" SCRATCH "/cargo.so'"), 0,
           NULL);
}

static void expect_out(const outcome_t *outcome, const char *out)
{
    expect(outcome, 0, NULL);
    ck_assert_str_eq(outcome->out, out);
}

START_TEST(named_values_are_shown_and_set_by_name)
{
    expect_out(console(ini,
                       "get main/one.cargo.state\n"
                       "set main/one.cargo.state loading\nget main/one.cargo.state\n"
                       "set main/one.cargo.state 5\nget main/one.cargo.state\n"
                       "get main/one.cargo.marks\nset main/one.cargo.marks fragile|heavy\nget main/one.cargo.marks\n"
                       "set main/one.cargo.marks 0\nget main/one.cargo.marks\n"),
               "full\nloading\nfull\nheavy|wet\nfragile|heavy\n0\n");
}
END_TEST

START_TEST(what_is_no_named_value_is_told_with_the_nearest)
{
    expect(console(ini, "set main/one.cargo.state ful\n"), 1,
           "state: 'ful' is none of its values; did you mean 'full'? (it has empty, loading, full)");
    expect(console(ini, "set main/one.cargo.state 3\n"), 1,
           "state = 3 is none of its values (it has empty, loading, full)");
    expect(console(ini, "set main/one.cargo.marks wet|havy\n"), 1,
           "marks: 'havy' is none of its flags; did you mean 'heavy'?");
}
END_TEST

START_TEST(small_and_large_numbers_are_shown_and_set)
{
    expect_out(console(ini, "get main/one.cargo.crates\nget main/one.cargo.weight\nget main/one.cargo.serial\n"
                            "set main/one.cargo.weight \"1e-300 0 7\"\nget main/one.cargo.weight\n"),
               "3\n0.1 0.2 0.3\n18446744073709551615\n1e-300 0 7\n");
    expect(console(ini, "set main/one.cargo.crates 40001\n"), 1, "crates = 40001 is outside its range: at most 40000");
}
END_TEST

START_TEST(declarations_are_listed_with_all_that_they_say)
{
    write_file(ini_file, ini);
    const outcome_t *outcome = shell("backplane plugins '%s'", ini_file);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "empty loading=4 full");
    expect_in(outcome->out, "any of fragile heavy wet=31");
    outcome = shell("backplane plugins '%s' --json", ini_file);
    json_t *listed = parse_output(outcome);
    json_t *fields =
        json_object_get(named(json_object_get(named(json_object_get(listed, "plugins"), "cargo"), "components"),
                              "cargo"),
                        "properties");
    json_t *state = named(fields, "state"), *marks = named(fields, "marks");
    ck_assert_int_eq(count_of(json_object_get(state, "values"), "full"), 5);
    ck_assert_str_eq(text_of(state, "default"), "empty");
    ck_assert(json_is_false(json_object_get(state, "bits")) && json_is_true(json_object_get(marks, "bits")));
    ck_assert_int_eq(count_of(json_object_get(marks, "values"), "wet"), 31);
    ck_assert(json_is_null(json_object_get(named(fields, "crates"), "values")));
    json_decref(listed);
}
END_TEST

static const char scene[] = "{\"entities\": [\n"
                            " {\"name\": \"a\", \"components\": {\"debug_name\": {}, \"cargo\": {\"state\": "
                            "\"loading\", \"marks\": \"wet\", \"weight\": [1, 2, 0.1]}}},\n"
                            " {\"name\": \"b\", \"components\": {\"debug_name\": {}, \"cargo\": {\"crates\": 7, "
                            "\"marks\": 3, \"serial\": \"18446744073709551614\"}}}\n"
                            "]}\n";

START_TEST(a_scene_s_blob_is_shown_by_name_and_as_json_that_compiles_to_it)
{
    write_file(ini_file, ini);
    write_file(SCRATCH "/cargo.json", scene);
    expect(shell("backplane compile --ini '%s' " SCRATCH "/cargo.json -o " SCRATCH "/cargo.bpe", ini_file), 0, NULL);
    const outcome_t *outcome = shell("backplane dump " SCRATCH "/cargo.bpe");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "cargo.bpe: scene blob, format 2, ");
    expect_in(outcome->out, "state loading, marks wet");
    expect_in(outcome->out, "state empty, marks fragile|heavy");
    expect(shell("backplane dump --json " SCRATCH "/cargo.bpe > " SCRATCH
                 "/again.json && backplane compile --ini '%s' " SCRATCH "/again.json -o " SCRATCH
                 "/again.bpe && cmp " SCRATCH "/cargo.bpe " SCRATCH "/again.bpe",
                 ini_file),
           0, NULL);
}
END_TEST

START_TEST(a_save_holds_names_that_a_newer_plugin_reads)
{
    expect(console(ini, "set main/one.cargo.state loading\nset main/one.cargo.marks fragile|wet\nsave main " SCRATCH
                        "/saved.bpe\n"),
           0, NULL);
    expect(shell("sed 's/empty loading=4 full/full empty busy loading/; s/fragile heavy wet=31/wet fragile/; "
                 "s/heavy|wet/wet/' "
                 "tests/program/plugins/cargo.c > " SCRATCH "/next.c && ${CC:-cc} -shared -fPIC -I plugin_api " SCRATCH
                 "/next.c -o '" SCRATCH "/cargo.so'"),
           0, NULL);
    const outcome_t *outcome =
        console(ini, "load main " SCRATCH "/saved.bpe\nget main/one.cargo.state\nget main/one.cargo.marks\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "\nloading\nwet|fragile\n");
    expect(shell("sed 's/empty loading=4 full/empty full/' tests/program/plugins/cargo.c > " SCRATCH "/next.c && "
                 "${CC:-cc} -shared -fPIC -I plugin_api " SCRATCH "/next.c -o '" SCRATCH "/cargo.so'"), 0, NULL);
    expect(console(ini, "load main " SCRATCH "/saved.bpe\n"), 1,
           "cargo: field 'state' holds loading, which does not fit the new u8 (empty, full)");
}
END_TEST

START_TEST(the_schema_names_what_may_be_written)
{
    write_file(ini_file, ini);
    const outcome_t *outcome = shell("backplane schema '%s'", ini_file);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "\"loading\"");
    expect_in(outcome->out, "fragile|heavy|wet|");
}
END_TEST

Suite *program_values_suite(void)
{
    Suite *suite = suite_create("program_values");
    TCase *tests = tcase_create("values");
    tcase_add_checked_fixture(tests, begin, NULL);
    tcase_add_test(tests, named_values_are_shown_and_set_by_name);
    tcase_add_test(tests, what_is_no_named_value_is_told_with_the_nearest);
    tcase_add_test(tests, small_and_large_numbers_are_shown_and_set);
    tcase_add_test(tests, declarations_are_listed_with_all_that_they_say);
    tcase_add_test(tests, a_scene_s_blob_is_shown_by_name_and_as_json_that_compiles_to_it);
    tcase_add_test(tests, a_save_holds_names_that_a_newer_plugin_reads);
    tcase_add_test(tests, the_schema_names_what_may_be_written);
    suite_add_tcase(suite, tests);
    return suite;
}
