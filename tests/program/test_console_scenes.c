/* test_console_scenes.c - the console's commands about many entities at a time, from outside.
 *
 * The plugin kin of plugins/kin.c, built here as users build theirs, says who is whose child; its field may say
 * anything, circles too.
 */
#include "../suites.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char people[] =
    "[host]\nplugins = ./kin.so debug_name\n"
    "[world main]\ncomponents = kin debug_name\n"
    "[world other]\ncomponents = debug_name\n"
    "[spawn main ann]\ncomponents = kin debug_name\nkin.nick = ann\ndebug_name.name = ann\n"
    "[spawn main bea]\ncomponents = kin debug_name\nkin.nick = bea\ndebug_name.name = bea\n"
    "[spawn main cleo]\ncomponents = kin name:debug_name\nkin.nick = cleo\nname.name = cleo\n"
    "[spawn main dora]\ncomponents = kin\n"
    "[spawn other ann]\ncomponents = debug_name\ndebug_name.name = ann\n"
    "[spawn other zoe]\ncomponents = debug_name\ndebug_name.name = zoe\n";

static const outcome_t *with_kin(const char *ini, const char *input)
{
    expect(shell("${CC:-cc} -shared -fPIC -I plugin_api tests/program/plugins/kin.c -o '" TEST_SCRATCH_DIR "/kin.so'"),
           0, NULL);
    return console(ini, input);
}

static void expect_out(const outcome_t *outcome, const char *out)
{
    expect(outcome, 0, NULL);
    ck_assert_str_eq(outcome->out, out);
}

/* --- tree ------------------------------------------------------------------------------------------------- */

START_TEST(a_tree_shows_who_is_whose_child)
{
    expect_out(with_kin(people, "set main/bea.kin.mother #0:1\n"
                                "set main/#3:1.kin.mother #1:1\n"
                                "set main/cleo.kin.mother #0:1\n"
                                "tree main\n"),
               "main: 4 entities\n"
               "`- ann #0:1  kin debug_name\n"
               "   |- bea #1:1  kin debug_name\n"
               "   |  `- #3:1  kin\n"
               "   `- cleo #2:1  kin name:debug_name\n");
}
END_TEST

START_TEST(without_children_all_are_roots)
{
    const outcome_t *outcome = with_kin(people, "tree\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "main: 4 entities\n|- ann #0:1");
    expect_in(outcome->out, "\n`- #3:1  kin\nother: 2 entities\n|- ");
}
END_TEST

START_TEST(a_label_may_be_any_field_of_its_component)
{
    expect_out(with_kin(people, "set main/#3:1.kin.nick dory\ntree main #3:1\n"), "dory #3:1  kin\n");
}
END_TEST

START_TEST(a_tree_may_begin_at_an_entity)
{
    const outcome_t *outcome = with_kin(people, "set main/bea.kin.mother #0:1\nset main/#3:1.kin.mother #1:1\n"
                                                "tree main bea\ntree main/bea\ntree main #1:1\ntree main/#1:1\n");
    expect_out(outcome, "bea #1:1  kin debug_name\n`- #3:1  kin\nbea #1:1  kin debug_name\n`- #3:1  kin\n"
                        "bea #1:1  kin debug_name\n`- #3:1  kin\nbea #1:1  kin debug_name\n`- #3:1  kin\n");
}
END_TEST

START_TEST(a_circle_is_drawn_once)
{
    expect_out(with_kin(people, "set main/ann.kin.mother #1:1\nset main/bea.kin.mother #0:1\n"
                                "set main/cleo.kin.mother #2:1\ntree main\ntree main bea\n"),
               "main: 4 entities\n"
               "|- #3:1  kin\n"
               "|- ann #0:1  kin debug_name\n"
               "|  `- bea #1:1  kin debug_name\n"
               "|     `- ann #0:1  (drawn already: it is its own ancestor)\n"
               "`- cleo #2:1  kin name:debug_name\n"
               "   `- cleo #2:1  (drawn already: it is its own ancestor)\n"
               "bea #1:1  kin debug_name\n"
               "`- ann #0:1  kin debug_name\n"
               "   `- bea #1:1  (drawn already: it is its own ancestor)\n");
}
END_TEST

START_TEST(dead_parents_are_none)
{
    expect_out(with_kin(people,
                        "set main/bea.kin.mother #0:1\nset main/cleo.kin.mother #5:1\ndestroy #0:1\ntree main\n"),
               "1 entity destroyed\nmain: 3 entities\n|- bea #1:1  kin debug_name\n|- cleo #2:1  kin "
               "name:debug_name\n`- #3:1  kin\n");
}
END_TEST

static size_t lines_of(const char *text)
{
    size_t lines = 0;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

START_TEST(a_large_tree_is_cut)
{
    const outcome_t *outcome = with_kin("[host]\nplugins = ./kin.so\n[world main]\ncomponents = kin\n"
                                        "[spawn main many]\ncount = 100000\ncomponents = kin\n",
                                        "tree\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "main: 100000 entities\n|- #0:1  kin\n");
    expect_in(outcome->out, "|- #39:1  kin\n`- ... 99960 more\n");
    ck_assert_uint_eq(lines_of(outcome->out), 42);
}
END_TEST

START_TEST(a_deep_tree_is_cut)
{
    char *input = malloc(1 << 20);
    size_t length = 0;
    for (int i = 1; i < 3000; i++)
        length += (size_t)sprintf(input + length, "set main/#%d:1.kin.mother #%d:1\n", i, i - 1);
    strcpy(input + length, "tree\n");
    const outcome_t *outcome = with_kin("[host]\nplugins = ./kin.so\n[world main]\ncomponents = kin\n"
                                        "[spawn main many]\ncount = 3000\ncomponents = kin\n",
                                        input);
    free(input);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "`- #399:1  kin\n... 2600 more in all; tree WORLD ENTITY draws what is below one\n");
}
END_TEST

START_TEST(forty_one_children_are_all_shown)
{
    const outcome_t *outcome = with_kin("[host]\nplugins = ./kin.so\n[world main]\ncomponents = kin\n"
                                        "[spawn main many]\ncount = 41\ncomponents = kin\n",
                                        "tree\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "`- #40:1  kin\n");
    expect_not_in(outcome->out, "more");
}
END_TEST

/* --- destroy ---------------------------------------------------------------------------------------------- */

START_TEST(entities_are_destroyed_by_name_path_and_id)
{
    const outcome_t *outcome = with_kin(people, "destroy zoe main/bea #2:1 main/#3:1 #2:1\nentities\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "4 entities destroyed\nmain: 1 entity\n");
    expect_in(outcome->out, "other: 1 entity\n");
}
END_TEST

/* A line that fails, and its complaint. No entity is destroyed. */
static const struct { const char *line, *message; } bad_lines[] = {
    {"destroy", "line 1: destroy needs entities, such as destroy main/moon #7:1\n"},
    {"destroy zoe annn", "no entity 'annn' in any world\n"},
    {"destroy zoe ann", "2 entities are called 'ann': #0:1, #1024:1; name one by its id\n"},
    {"destroy zoe main/zoe", "no entity 'zoe' in world main\n"},
    {"destroy zoe man/ann", "no world 'man'; did you mean 'main'?\n"},
    {"destroy zoe main/ann.kin", "'main/ann.kin' names a component, not an entity\n"},
    {"destroy zoe main/ann.kin.nick", "'main/ann.kin.nick' names a property, not an entity\n"},
    {"destroy zoe #9:1", "entity #9:1 is dead, or never lived\n"},
    {"destroy zoe #0:2", "entity #0:2 is dead, or never lived\n"},
    {"destroy zoe \"ann", "a quoted word ends with a quote"},
    {"tree nowhere", "no world 'nowhere'; there is: main other\n"},
    {"tree main anne", "no entity 'anne' in world main; did you mean 'ann'?\n"},
    {"tree main/anne", "no entity 'anne' in world main; did you mean 'ann'?\n"},
    {"tree main/ann.kin", "'main/ann.kin' names no entity, but something of one\n"},
    {"tree main ann bea", "'bea' is one word too many\n"},
};

START_TEST(bad_lines_destroy_nobody)
{
    char input[512];
    snprintf(input, sizeof input, "%s\nentities\n", bad_lines[_i].line);
    const outcome_t *outcome = with_kin(people, input);
    expect(outcome, 1, bad_lines[_i].message);
    expect_in(outcome->out, "main: 4 entities\n");
    expect_in(outcome->out, "other: 2 entities\n");
}
END_TEST

/* --- spawn, despawn --------------------------------------------------------------------------------------- */

static const char scene[] =
    "{\"entities\": [{\"name\": \"eve\", \"components\": {\"kin\": {}, \"debug_name\": {}},\n"
    "  \"children\": [{\"name\": \"flo\", \"count\": 2, \"components\": {\"kin\": {}, \"debug_name\": {}}}]}]}\n";

static const outcome_t *with_scene(const char *input)
{
    write_file(TEST_SCRATCH_DIR "/family.json", scene);
    write_file(TEST_SCRATCH_DIR "/wrong.json", "{\"entities\": [{\"components\": {\"kim\": {}}}]}\n");
    return with_kin(people, input);
}

#define FAMILY TEST_SCRATCH_DIR "/family.json"

START_TEST(a_scene_comes_and_goes)
{
    expect_out(with_scene("spawn " FAMILY " main\ntree main eve\nspawn " FAMILY " main\n"
                          "despawn 1\ndestroy #8:1\ndespawn 2\ntree main\n"),
               "spawn 1: 3 entities in main\n"
               "eve #4:1  kin debug_name\n|- flo[0] #5:1  kin debug_name\n`- flo[1] #6:1  kin debug_name\n"
               "spawn 2: 3 entities in main\n3 entities destroyed\n1 entity destroyed\n2 entities destroyed\n"
               "main: 4 entities\n|- ann #0:1  kin debug_name\n|- bea #1:1  kin debug_name\n"
               "|- cleo #2:1  kin name:debug_name\n`- #3:1  kin\n");
}
END_TEST

START_TEST(the_only_world_need_not_be_named)
{
    write_file(FAMILY, scene);
    expect_out(with_kin("[host]\nplugins = ./kin.so debug_name\n[world w]\ncomponents = kin debug_name\n",
                        "spawn \"" FAMILY "\"\n"),
               "spawn 1: 3 entities in w\n");
}
END_TEST

START_TEST(an_ini_names_scenes)
{
    write_file(FAMILY, scene);
    expect_out(with_kin("[host]\nplugins = ./kin.so debug_name\n[world w]\ncomponents = kin debug_name\nscenes = "
                        "family.json\n",
                        "tree\n"),
               "w: 3 entities\n`- eve #0:1  debug_name kin\n   |- flo[0] #1:1  debug_name kin\n"
               "   `- flo[1] #2:1  debug_name kin\n");
}
END_TEST

/* A line that fails, and its complaint. Nothing has changed. */
static const struct { const char *line, *message; } bad_spawns[] = {
    {"spawn", "line 1: spawn needs the file of a scene, such as spawn level.json\n"},
    {"spawn " FAMILY, "there are several worlds; say which: main other\n"},
    {"spawn " FAMILY " man", "no world 'man'; did you mean 'main'?\n"},
    {"spawn main " FAMILY, "the scene comes first: spawn " FAMILY " main\n"},
    {"spawn " FAMILY " main too", "'too' is one word too many\n"},
    {"spawn " FAMILY " other", "family.json: "},
    {"spawn " TEST_SCRATCH_DIR "/none.json main", "none.json: cannot be opened"},
    {"spawn " TEST_SCRATCH_DIR "/none.bpe main", "none.bpe: cannot be opened"},
    {"spawn " TEST_SCRATCH_DIR "/wrong.json main", "wrong.json:1:"},
    {"spawn " TEST_SCRATCH_DIR "/wrong.json main", "'kim'; did you mean 'kin'?"},
    {"spawn " TEST_SCRATCH_DIR "/program.ini main", "program.ini: "},
    {"despawn", "despawn needs the number that spawn printed, such as despawn 1\n"},
    {"despawn one", "despawn needs the number that spawn printed"},
    {"despawn 1", "there is no spawn 1; nothing has been spawned here\n"},
    {"despawn 0", "there is no spawn 0; "},
    {"despawn 1 2", "'2' is one word too many\n"},
};

START_TEST(bad_lines_spawn_nobody)
{
    char input[1024];
    snprintf(input, sizeof input, "%s\nentities\n", bad_spawns[_i].line);
    const outcome_t *outcome = with_scene(input);
    expect(outcome, 1, bad_spawns[_i].message);
    expect_in(outcome->out, "main: 4 entities\n");
    expect_in(outcome->out, "other: 2 entities\n");
    expect_not_in(outcome->out, "spawn 1:");
}
END_TEST

START_TEST(a_spawn_is_despawned_once)
{
    const outcome_t *outcome = with_scene("spawn " FAMILY " main\ndespawn 1\ndespawn 1\ndespawn 2\n");
    expect(outcome, 1, "line 3: spawn 1 has been despawned already\n");
    expect_in(outcome->err, "line 4: there is no spawn 2; spawn prints their numbers\n");
}
END_TEST

/* --- save, load ------------------------------------------------------------------------------------------- */

#define SAVED TEST_SCRATCH_DIR "/saved.bpe"

START_TEST(a_saved_world_comes_back)
{
    const outcome_t *outcome =
        with_scene("spawn " FAMILY " main\nset main/#3:1.kin.mother #5:1\nstep 3\nsave main " SAVED "\n"
                   "destroy #0:1 #5:1\nset main/bea.kin.nick beatrix\nstep 2\nload main " SAVED "\n"
                   "step 0\nentities other\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "main: 7 entities, ");
    expect_in(outcome->out, " bytes saved\n");
    expect_in(outcome->out, "main: 7 entities loaded\nmain: step 3, time 0.05\n");
    expect_in(outcome->out, "other: 2 entities\n");
    outcome = with_kin("[host]\nplugins = ./kin.so debug_name\n[world w]\ncomponents = kin debug_name\n",
                       "load w " SAVED "\ntree\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "w: 7 entities loaded\nw: 7 entities\n");
    expect_in(outcome->out, "- bea #");
    expect_in(outcome->out, "|  |- flo[0] #");
    expect_in(outcome->out, "|  |  `- #");
    expect_in(outcome->out, "|  `- flo[1] #");
}
END_TEST

START_TEST(scene_json_can_be_loaded_too)
{
    const outcome_t *outcome = with_scene("load main " FAMILY "\ntree main\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "main: 3 entities loaded\nmain: 3 entities\n`- eve #");
}
END_TEST

START_TEST(what_cannot_be_written_leaves_the_old_file)
{
    const outcome_t *outcome =
        with_kin(people, "save main " SAVED "\nsave other " TEST_SCRATCH_DIR "/no/such/folder/x.bpe\n"
                         "save other " TEST_SCRATCH_DIR "\nload main " SAVED "\n");
    expect(outcome, 1, "line 2: ");
    expect_in(outcome->err, "/no/such/folder/x.bpe");
    expect_in(outcome->err, "line 3: ");
    expect_in(outcome->out, "main: 4 entities loaded\n");
}
END_TEST

static const struct { const char *line, *message; } bad_loads[] = {
    {"save", "save needs a world and a file, such as save main main.bpe\n"},
    {"save main", "save needs a world and a file, such as save main main.bpe\n"},
    {"save man " SAVED, "no world 'man'; did you mean 'main'?\n"},
    {"save main " SAVED " more", "'more' is one word too many\n"},
    {"load main", "load needs a world and a file, such as load main main.bpe\n"},
    {"load main " TEST_SCRATCH_DIR "/none.bpe", "none.bpe: cannot be opened"},
    {"load main " TEST_SCRATCH_DIR "/program.ini", "program.ini: "},
    {"load main " TEST_SCRATCH_DIR "/wrong.json", "wrong.json:1:"},
    {"load other " FAMILY, "family.json: "},
};

START_TEST(bad_lines_save_and_load_nothing)
{
    char input[1024];
    remove(SAVED);
    snprintf(input, sizeof input, "%s\nentities\n", bad_loads[_i].line);
    const outcome_t *outcome = with_scene(input);
    expect(outcome, 1, bad_loads[_i].message);
    expect_in(outcome->out, "main: 4 entities\n");
    expect_in(outcome->out, "other: 2 entities\n");
    ck_assert_msg(fopen(SAVED, "rb") == NULL, "something was saved");
}
END_TEST

Suite *console_scenes_suite(void)
{
    Suite *suite = suite_create("console_scenes");
    TCase *tests = tcase_create("console_scenes");
    tcase_add_checked_fixture(tests, make_scratch_folder, NULL);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_tree_shows_who_is_whose_child);
    tcase_add_test(tests, without_children_all_are_roots);
    tcase_add_test(tests, a_label_may_be_any_field_of_its_component);
    tcase_add_test(tests, a_tree_may_begin_at_an_entity);
    tcase_add_test(tests, a_circle_is_drawn_once);
    tcase_add_test(tests, dead_parents_are_none);
    tcase_add_test(tests, a_large_tree_is_cut);
    tcase_add_test(tests, a_deep_tree_is_cut);
    tcase_add_test(tests, forty_one_children_are_all_shown);
    tcase_add_test(tests, entities_are_destroyed_by_name_path_and_id);
    tcase_add_loop_test(tests, bad_lines_destroy_nobody, 0, sizeof bad_lines / sizeof bad_lines[0]);
    tcase_add_test(tests, a_scene_comes_and_goes);
    tcase_add_test(tests, the_only_world_need_not_be_named);
    tcase_add_test(tests, an_ini_names_scenes);
    tcase_add_loop_test(tests, bad_lines_spawn_nobody, 0, sizeof bad_spawns / sizeof bad_spawns[0]);
    tcase_add_test(tests, a_spawn_is_despawned_once);
    tcase_add_test(tests, a_saved_world_comes_back);
    tcase_add_test(tests, scene_json_can_be_loaded_too);
    tcase_add_test(tests, what_cannot_be_written_leaves_the_old_file);
    tcase_add_loop_test(tests, bad_lines_save_and_load_nothing, 0, sizeof bad_loads / sizeof bad_loads[0]);
    suite_add_tcase(suite, tests);
    return suite;
}
