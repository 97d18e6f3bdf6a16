/* test_dump.c - `backplane dump` from outside: what it shows, and that its JSON compiles to the same bytes. */
#include "../suites.h"
#include "shell.h"

#include <check.h>

static const char scene[] = TEST_SCRATCH_DIR "/dumped.json";

static const char family[] =
    "{\"entities\": [\n"
    " {\"name\": \"root\", \"components\": {\"transform\": {\"position\": [1, 2, 3.25]}, \"debug_name\": {}},\n"
    "  \"children\": [{\"components\": {\"transform\": {}, \"body\": {\"type\": \"point_mass\", \"mass\": [7, 8, 9]}}, "
    "\"count\": 3},\n"
    "   {\"components\": {\"fog\": {\"type\": \"render_data\", \"colour\": \"#ff8000\", \"effect\": \"a "
    "\\\"\\u00e9\\\"\"}},\n"
    "    \"children\": [{}, {\"components\": {\"transform\": {\"scale\": [2, 2, 2]}}}]}]},\n"
    " {\"components\": {\"debug_name\": {\"name\": \"nobody's child\"}}}\n"
    "]}\n";

#define COMPILED TEST_SCRATCH_DIR "/dumped.bpe"

static void compile_family(void)
{
    write_file(scene, family);
    expect(shell("backplane compile %s -o " COMPILED, scene), 0, NULL);
}

START_TEST(a_scene_is_shown_with_all_its_values)
{
    compile_family();
    const outcome_t *outcome = shell("backplane dump " COMPILED);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "dumped.bpe: scene blob, format 1, ");
    expect_in(outcome->out, "8 entities in ");
    expect_in(outcome->out, " groups, 6 of them with a parent; ");
    expect_in(outcome->out,
              "component point_mass, version 1: 3 instances\n    mass                 f32     12 bytes at ");
    expect_in(outcome->out, "    effect               name    \"a \\\"\xc3\xa9\\\"\" for all\n");
    expect_in(outcome->out, "body (point_mass), transform\n");
    expect_in(outcome->out, "debug_name: name \"root\"\n");
    expect_in(outcome->out, "body (point_mass): mass 9\n");
    expect_in(outcome->out, "position 1 2 3.25");
}
END_TEST

START_TEST(the_json_of_a_dump_compiles_to_the_same_bytes)
{
    compile_family();
    expect(shell("backplane dump --json " COMPILED " > " TEST_SCRATCH_DIR "/again.json && "
                 "backplane compile " TEST_SCRATCH_DIR "/again.json -o " TEST_SCRATCH_DIR "/again.bpe && "
                 "cmp " COMPILED " " TEST_SCRATCH_DIR "/again.bpe"),
           0, NULL);
    const outcome_t *outcome = shell("backplane dump " COMPILED " --json");
    expect(outcome, 0, NULL);
    json_decref(parse_output(outcome));
}
END_TEST

START_TEST(a_saved_world_is_shown_with_its_clock)
{
    const outcome_t *outcome = shell("backplane dump tests/resource/golden/v1_older_plugin.bpe");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "a saved world: 7 steps done, time 0.7, 10 steps in a unit of time\n");
    expect_in(outcome->out, "group 0, entities 0 to 19: ship\n");
    expect_in(outcome->out, "target entity 19");
}
END_TEST

/* Files that the first release's program wrote, and what it showed of them: tests/resource/golden/. */
START_TEST(files_of_before_are_shown_as_before)
{
    static const char *const names[] = {"v1_harbour", "v1_harbour_save", "v1_solar_save"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        expect(shell("backplane dump tests/resource/golden/%s.bpe > '" TEST_SCRATCH_DIR "/now.txt' && "
                     "diff '" TEST_SCRATCH_DIR "/now.txt' tests/resource/golden/%s.txt", names[i], names[i]), 0, NULL);
}
END_TEST

START_TEST(worlds_saved_before_are_loaded_by_the_plugins_of_today)
{
    write_file(input_file, "load main tests/resource/golden/v1_solar_save.bpe\nget main/mercury.body.position\nget "
                           "main/moon.body.mass\n");
    const outcome_t *outcome = shell("backplane console config/solar_system.ini < '%s'", input_file);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "0.0011634246 -0.4644173 -0.038258944");
    expect_in(outcome->out, "3.6943035e-08");
    write_file(input_file, "load main tests/resource/golden/v1_harbour_save.bpe\nget main/crane.transform.position\n"
                           "spawn tests/resource/golden/v1_harbour.bpe main\nentities main\n");
    outcome = shell("backplane console examples/scenes/harbour.ini < '%s'", input_file);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "1 2 3");
    expect_in(outcome->out, "main: 22 entities");
}
END_TEST

START_TEST(what_is_no_scene_is_not_shown)
{
    expect_refused(shell("backplane dump"), "dump needs the file of a scene");
    expect_refused(shell("backplane dump a b"), "dump takes one scene; here are 'a' and 'b'");
    expect_refused(shell("backplane dump no/such.bpe"), "no/such.bpe: cannot be opened: ");
    expect_refused(shell("backplane dump Makefile"), "Makefile: is no scene blob");
    compile_family();
    expect(shell("head -c 1000 " COMPILED " > " TEST_SCRATCH_DIR "/cut.bpe"), 0, NULL);
    expect_refused(shell("backplane dump " TEST_SCRATCH_DIR "/cut.bpe"), "the file has 1000: it was cut off");
}
END_TEST

Suite *dump_suite(void)
{
    Suite *suite = suite_create("dump");
    TCase *command = tcase_create("command");
    tcase_add_checked_fixture(command, make_scratch_folder, NULL);
    tcase_add_test(command, a_scene_is_shown_with_all_its_values);
    tcase_add_test(command, the_json_of_a_dump_compiles_to_the_same_bytes);
    tcase_add_test(command, a_saved_world_is_shown_with_its_clock);
    tcase_add_test(command, files_of_before_are_shown_as_before);
    tcase_add_test(command, worlds_saved_before_are_loaded_by_the_plugins_of_today);
    tcase_add_test(command, what_is_no_scene_is_not_shown);
    suite_add_tcase(suite, command);
    return suite;
}
