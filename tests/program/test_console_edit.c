/* test_console_edit.c - what the console makes, takes away, finds and watches.
 */
#include "../suites.h"
#include "shell.h"

#include <stdio.h>

static const char bodies[] =
    "[host]\n"
    "plugins = point_mass debug_name gravity\n"
    "[world main]\n"
    "step_rate = 10\n"
    "components = point_mass debug_name\n"
    "systems = gravity\n"
    "[spawn main earth]\n"
    "components = body:point_mass name:debug_name\n"
    "body.mass = 3\n"
    "name.name = earth\n"
    "[spawn main moon]\n"
    "components = body:point_mass name:debug_name\n"
    "body.mass = 1\n"
    "body.position = 1 0 0\n"
    "name.name = moon\n";

/* Does the console say just this, and all lines succeed? */
static void expect_said(const char *input, const char *said)
{
    const outcome_t *outcome = console(bodies, input);
    expect(outcome, 0, NULL);
    ck_assert_str_eq(outcome->out, said);
}

/* Is a line refused, and has it changed nothing? */
static void expect_line_refused(const char *line, const char *message)
{
    char input[512];
    static const char look[] = "get main/earth\nget main/moon\nentities\nworlds\nplugins\n";
    char before[OUTPUT_MAX];
    const outcome_t *outcome = console(bodies, look);
    expect(outcome, 0, NULL);
    snprintf(before, sizeof before, "%s", outcome->out);
    snprintf(input, sizeof input, "%s\n%s", line, look);
    outcome = console(bodies, input);
    expect(outcome, 1, message);
    ck_assert_str_eq(outcome->out, before);
}

START_TEST(entities_are_made_with_components)
{
    expect_said("create main\ncreate main point_mass\ncreate main 3 sun:point_mass name:debug_name\n"
                "get main/#5:1.sun.mass\ncreate main 12 point_mass\n"
                "create main 2nd:point_mass\nget main/#19:1.2nd.mass\ncreate main 2 2nd:point_mass\n",
                "#2:1\n#3:1\n#4:1 #5:1 #6:1\n1\n#7:1 #8:1 #9:1 #10:1 #11:1 #12:1 #13:1 #14:1 #15:1 #16:1 "
                "... and 2 more\n#19:1\n1\n#20:1 #21:1\n");
}
END_TEST

START_TEST(components_are_added_and_removed)
{
    expect_said("add main/moon back:point_mass\nset main/moon.back.mass 7\nremove main/moon.body\n"
                "get main/moon.back.mass\nget main/moon.name.name\n",
                "7\nmoon\n");
}
END_TEST

START_TEST(entities_are_found_by_their_values)
{
    expect_said("find main body.mass > 2\nfind main body.mass <= 1\nfind main name.name = moon\n"
                "find main body.mass != 1\nfind main body.mass > 100\nfind main body.position = 1 0 0\n",
                "  #0:1  earth  3\n1 entity\n  #1:1  moon  1\n1 entity\n  #1:1  moon  moon\n1 entity\n"
                "  #0:1  earth  3\n1 entity\n0 entities\n  #1:1  moon  1 0 0\n1 entity\n");
}
END_TEST

START_TEST(what_is_watched_is_printed_while_steps_are_taken)
{
    expect_said("watch main/earth.body.mass\nstep 2\nwatch\nunwatch main/earth.body.mass\nstep\n"
                "watch main/moon.body.mass\nstep 100\ndestroy main/moon\nstep\n",
                "  step 1: main/earth.body.mass = 3\n  step 2: main/earth.body.mass = 3\nmain: step 2, time 0.2\n"
                "main/earth.body.mass = 3\nmain: step 3, time 0.3\n"
                "  step 8: main/moon.body.mass = 1\n  step 13: main/moon.body.mass = 1\n"
                "  step 18: main/moon.body.mass = 1\n  step 23: main/moon.body.mass = 1\n"
                "  step 28: main/moon.body.mass = 1\n  step 33: main/moon.body.mass = 1\n"
                "  step 38: main/moon.body.mass = 1\n  step 43: main/moon.body.mass = 1\n"
                "  step 48: main/moon.body.mass = 1\n  step 53: main/moon.body.mass = 1\n"
                "  step 58: main/moon.body.mass = 1\n  step 63: main/moon.body.mass = 1\n"
                "  step 68: main/moon.body.mass = 1\n  step 73: main/moon.body.mass = 1\n"
                "  step 78: main/moon.body.mass = 1\n  step 83: main/moon.body.mass = 1\n"
                "  step 88: main/moon.body.mass = 1\n  step 93: main/moon.body.mass = 1\n"
                "  step 98: main/moon.body.mass = 1\n  step 103: main/moon.body.mass = 1\n"
                "main: step 103, time 10.3\n1 entity destroyed\n  step 104: main/moon.body.mass: gone\n"
                "main: step 104, time 10.4\n");
}
END_TEST

START_TEST(plugins_are_loaded_and_unloaded)
{
    const outcome_t *outcome = console(bodies, "load_plugin " TEST_PLUGIN_DIR "/transform.so\nunload_plugin gravity\n"
                                               "unload_plugin point_mass\nstep 3\nplugins\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "loaded transform\nmain: step 3, time 0.3\n");
    expect_not_in(outcome->out, "point_mass");
}
END_TEST

START_TEST(a_plugin_that_others_need_is_not_unloaded_and_their_worlds_go_on)
{
    expect_line_refused("unload_plugin point_mass", "plugin 'point_mass' is needed: system 'gravity' in world 'main' "
                                                    "works on its component 'point_mass'");
    const outcome_t *outcome = console(bodies, "unload_plugin point_mass\nstep 3\n");
    expect_in(outcome->out, "main: step 3");
    expect_not_in(outcome->err, "line 2");
    outcome = console(bodies, "unload_plugin point_mass --with\nstep 3\nplugins\n");
    expect(outcome, 0, "system 'gravity' leaves world 'main' with plugin 'point_mass': it works on its component");
    expect_in(outcome->out, "main: step 3");
    expect_in(outcome->out, "gravity");
}
END_TEST

static const struct {
    const char *line, *message;
} refused[] = {
    {"create", "create needs a world"},
    {"create nowhere", "nowhere"},
    {"create main 0", "'0' is no number of entities"},
    {"create main 1000001 point_mass", "'1000001' is no number of entities"},
    {"create main body:point_mas", "point_mas"},
    {"create main a-b:point_mass", "a-b"},
    {"create main body:point_mass body:point_mass", "body"},
    {"add", "add needs an entity and components"},
    {"add main/earth", "add which component?"},
    {"add main/earth.body point_mass", "is no entity"},
    {"add main/earth second:point_mass other:debug_name", "may have only one"},
    {"add main/nobody point_mass", "nobody"},
    {"remove", "remove needs a component"},
    {"remove main/earth", "is no component; write world/entity.component, or `destroy`"},
    {"remove main/earth.body.mass", "is no component"},
    {"remove main/earth.boddy", "boddy"},
    {"find", "find needs a world and a property"},
    {"find main", "find needs a world and a property"},
    {"find nowhere body.mass", "nowhere"},
    {"find main body.mass about 2", "'about' is none of < <= = != >= >"},
    {"find main body.mass >", "compare it with what?"},
    {"watch main/earth", "is no property"},
    {"watch main/earth.body.maas", "maas"},
    {"unwatch", "nothing is watched"},
    {"load_plugin", "load_plugin needs the file of a plugin"},
    {"load_plugin ./no_such.so", "no_such"},
    {"load_plugin " TEST_PLUGIN_DIR "/transform.so fast", "'fast' is no option; write NAME=VALUE"},
    {"unload_plugin", "write unload_plugin PLUGIN"},
    {"unload_plugin gravty", "did you mean 'gravity'?"},
    {"unload_plugin gravity --without", "write unload_plugin PLUGIN"},
};

START_TEST(what_is_wrong_is_said_and_changes_nothing)
{
    expect_line_refused(refused[_i].line, refused[_i].message);
}
END_TEST

Suite *console_edit_suite(void)
{
    Suite *suite = suite_create("console_edit");
    TCase *test_case = tcase_create("edit");
    tcase_add_checked_fixture(test_case, make_scratch_folder, NULL);
    tcase_add_test(test_case, entities_are_made_with_components);
    tcase_add_test(test_case, components_are_added_and_removed);
    tcase_add_test(test_case, entities_are_found_by_their_values);
    tcase_add_test(test_case, what_is_watched_is_printed_while_steps_are_taken);
    tcase_add_test(test_case, plugins_are_loaded_and_unloaded);
    tcase_add_test(test_case, a_plugin_that_others_need_is_not_unloaded_and_their_worlds_go_on);
    tcase_add_loop_test(test_case, what_is_wrong_is_said_and_changes_nothing, 0, sizeof refused / sizeof refused[0]);
    suite_add_tcase(suite, test_case);
    return suite;
}
