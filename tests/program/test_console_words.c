/* test_console_words.c - lines of the console that are refused, each with its sentence, and lines that find something.
 *
 * All lines of a table are one session, so a line that is refused must leave the next one what it needs. A remark that
 * an earlier line causes is not looked at.
 *
 * TEST_SCRATCH_DIR is a folder for files.
 */
#include "../suites.h"
#include "shell.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define IN_SCRATCH(name) TEST_SCRATCH_DIR "/" name

static const char two_worlds[] =
    "[host]\nplugins = point_mass debug_name\nhistory = 8 MiB\n"
    "[world main]\nstep_rate = 10\ncomponents = point_mass debug_name\n"
    "[spawn main earth]\ncomponents = body:point_mass name:debug_name\nbody.mass = 3\nname.name = earth\n"
    "[spawn main crowd]\ncount = 100\ncomponents = body:point_mass\nbody.mass = 4\nbody.velocity = 1 0 0\n"
    "[world other]\nstep_rate = 10\ncomponents = point_mass\n"
    "[spawn other one]\ncomponents = body:point_mass\n";

/* A line, and the sentence on stderr that it is refused with, or what it prints. */
typedef struct line_t {
    const char *text, *says;
} line_t;

static const outcome_t *session(const char *ini, const line_t *lines, size_t count)
{
    static char input[OUTPUT_MAX];
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(input + length, sizeof input - length, "%s\n", lines[i].text);
    return console(ini, input);
}

/* --- refusals ----------------------------------------------------------------------------------------------------- */

static const line_t refused[] = {
    {"history x", "'x' is one word too many"},
    {"back x", "'x' is no number of a step"},
    {"forward x", "'x' is no number of a step"},
    {"goto", "go where? To the number of a step, or to the name of a mark"},
    {"goto 99", "moment 99 is not remembered; those from 0 to 0 are"},
    {"goto 1 2", "'2' is one word too many"},
    {"branch 7", "no branch 7 is kept"},
    {"branch x", "'x' is no number of a branch"},
    {"branches x", "'x' is one word too many"},
    {"mark", "under which name?"},
    {"mark a b", "'b' is one word too many"},
    {"mark 12", "'12' is the number of a step; a mark needs a letter"},
    {"keep x", "'x' is one word too many"},
    {"keep", "nothing has been tried since the last keep"},
    {"try", "try for how many steps, and which change?"},
    {"try 2", "try which change?"},
    {"try 0 step", "'step' changes nothing in the host, and cannot be tried"},
    {"try 2 nothing", "no command 'nothing'; help lists them"},
    {"try 2 set main/nobody.body.mass 1", "no entity of world 'main' is called 'nobody'"},
    {"try \"point_mass 2", "try for how many steps, and which change?"},
    {"use", "use which component or system?"},
    {"use a b c", "'c' is one word too many"},
    {"drop", "drop which component or system?"},
    {"use nonsense main", "no plugin brings a component or a system 'nonsense'; `plugins` tells what they bring"},
    {"use debug_name nowhere", "no world 'nowhere'; `worlds` lists them"},
    {"use point_mass", "in which world? `worlds` lists them"},
    {"drop debug_name other", "debug_name"},
    {"reload", "reload which plugin, or ini? `plugins` lists them"},
    {"reload a.ini b", "an ini is reloaded by itself: reload a.ini"},
    {"reload missing.ini", "not done anew, and nothing has changed: missing.ini: this host was set up from "},
    {"reload nobody", "not reloaded, and nothing has changed: no plugin 'nobody' is loaded"},
    {"reload point_mass --back", "no plugin '--back' is loaded"},
    {"reload nobody --back 3", "no plugin 'nobody' is loaded"},
    {"reload point_mass --back soon", "'soon' is neither a number of steps, such as 600, nor a time, such as 10s"},
    {"reload point_mass --back -1s", "'-1s' is neither a number of steps, such as 600, nor a time, such as 10s"},
    {"find count main is nan", "'nan' is not a number, which is what count compares with"},
    {"find main body.mass is 7", "'is 7': a value is nan or inf; for others write = 7"},
    {"find main body.mass > \"x", "a quoted word ends with a quote, and a blank or nothing behind it"},
    {"find main body.mass >", "compare it with what? such as find main body.mass > 2"},
    {"find main body.mass ~ 3", "'~' is none of < <= = != >= > is, such as find main body.mass > 2"},
    {"find main body.mass > x", "'x' is not a number, which is what > compares with"},
    {"find count main > x", "'x' is not a number, which is what count compares with"},
    {"find count", "count needs a world and a number, such as find count main > 1000"},
    {"find nowhere body.mass > 1", "no world 'nowhere'; there is: main other"},
    {"when", "when needs a world and a property, such as when main body.mass > 2"},
    {"help nonsense", "no command 'nonsense'; help lists them"},
    {"help a b", "'b' is one word too many"},
    {"load ./nothing.so", "./nothing.so: there is no such plugin file (with or without '.so')"},
    {"load ./nothing.c", "nothing.c"},
    {"load_plugin", "load_plugin needs the file of a plugin, such as load_plugin ./spin.so"},
    {"load_plugin ./a.so b", "'b' is no option; write NAME=VALUE, in quotes where it holds blanks"},
    {"load_plugin ./a.so =b", "'=b' is no option; write NAME=VALUE, in quotes where it holds blanks"},
    {"load_plugin ./a.so \"b=c", "a quoted word ends with a quote, and a blank or nothing behind it"},
    {"unload_plugin", "write unload_plugin PLUGIN, or unload_plugin PLUGIN --with"},
    {"unload_plugin point_mass --without", "write unload_plugin PLUGIN, or unload_plugin PLUGIN --with"},
    {"unload_plugin nobody", "nobody"},
    {"unload_plugin a b c", "'c' is one word too many"},
    {"save main+other", "save needs a world and a file, such as save main main.bpe"},
    {"save main+main " IN_SCRATCH("words.bpe"), "world 'main' is named twice"},
    {"save main+nowhere " IN_SCRATCH("words.bpe"), "no world 'nowhere'; there is: main other"},
    {"save main /nowhere/words.bpe", "/nowhere/words.bpe"},
    {"save all /nowhere/words.bpe", "/nowhere/words.bpe"},
    {"load all /nowhere/words.bpe", "/nowhere/words.bpe"},
    {"load main /nowhere/words.bpe", "/nowhere/words.bpe"},
    {"spawn " IN_SCRATCH("program.ini"), IN_SCRATCH("program.ini")},
    {"despawn x", "despawn needs the number that spawn printed, such as despawn 1"},
    {"despawn 99", "there is no spawn 99; nothing has been spawned here"},
    {"destroy", "destroy needs entities, such as destroy main/moon #7:1"},
    {"destroy nobody", "no entity 'nobody' in any world"},
    {"destroy #0", "no entity '#0' in any world"},
    {"destroy #4000:1", "entity #4000:1 is dead, or never lived"},
    {"destroy main/earth.body", "'main/earth.body' names a component, not an entity"},
    {"destroy main/earth.body.mass", "'main/earth.body.mass' names a property, not an entity"},
    {"destroy main/earth \"a", "a quoted word ends with a quote, and a blank or nothing behind it"},
    {"step x", "'x' is no number of steps"},
    {"step 1 2", "'2' is one word too many"},
    {"create", "create needs a world, such as create main body:point_mass"},
    {"create nowhere", "no world 'nowhere'; there is: main other"},
    {"create main 0", "'0' is no number of entities, 1 to 1000000"},
    {"create main 1000001", "'1000001' is no number of entities, 1 to 1000000"},
    {"create main 2x", "'2x' is no number of entities, 1 to 1000000"},
    {"create main bo-dy:point_mass", "'bo-dy' is no name for a component; use letters, digits and underscores"},
    {"create main :point_mass", "'' is no name for a component; use letters, digits and underscores"},
    {"create main body:nonsense", "nonsense"},
    {"create main \"body", "a quoted word ends with a quote, and a blank or nothing behind it"},
    {"add", "add needs an entity and components, such as add main/earth name:debug_name"},
    {"add main/nobody body:point_mass", "no entity 'nobody' in world main"},
    {"add main/earth.body x:point_mass", "'main/earth.body' is no entity; write world/entity, and the components"},
    {"add main/earth", "add which component? such as add main/earth name:debug_name"},
    {"add main/earth a:nonsense", "nonsense"},
    {"add main/earth a:point_mass body:point_mass", "body"},
    {"remove", "remove needs a component of an entity, such as remove main/earth.body"},
    {"remove main/earth", "'main/earth' is no component; write world/entity.component, or `destroy` to end the entity"},
    {"remove main/earth.body.mass", "'main/earth.body.mass' is no component; write world/entity.component"},
    {"remove main/nobody.body", "no entity 'nobody' in world main"},
    {"remove a b", "'b' is one word too many"},
    {"get main/earth.a", "the entity has no component 'a'"},
    {"get main", "world main has no component of its own"},
    {"get main.gravity", "world main has no component of its own"},
    {"get main/", "'main/' names no entity"},
    {"get mian/earth", "no world 'mian'; did you mean 'main'?"},
    {"unwatch main/earth.body.mass", "that property is not watched"},
    {"watch main/earth", "main/earth"},
    {"tree nowhere", "no world 'nowhere'"},
    {"tree main nobody", "no entity 'nobody' in world main"},
    {"entities nowhere", "no world 'nowhere'"},
    {"entities main x", "'x'"},
    {"plugins nonsense", "nonsense"},
    {"get mainly", "'mainly' names no entity"},
    {"plugins point_mass b", "'b' is one word too many"},
    {"entities main 3 b", "'b' is one word too many"},
    {"report b", "'b' is one word too many"},
    {"watch main/earth.body.mass b", "'b' is one word too many"},
    {"unwatch main/earth.body.mass b", "'b' is one word too many"},
    {"unwatch", "nothing is watched"},
    {"back 1 b", "'b' is one word too many"},
    {"reload a b c d e f g h i j k l m n o p q", "'q' is one word too many"},
    {"reload point_mass --back s", "'s' is neither a number of steps, such as 600, nor a time, such as 10s"},
    {"reload point_mass --back 10m", "'10m' is neither a number of steps, such as 600, nor a time, such as 10s"},
    {"reload point_mass --back 1e12s", "'1e12s' is neither a number of steps, such as 600, nor a time, such as 10s"},
    {"try point_mass", "'point_mass' is no number of steps; it is try 60 set ..., or try PLUGIN 60 for a plugin"},
    {"try point_mass 0", "'point_mass' is no number of steps"},
    {"try point_mass \"2", "a quoted word ends with a quote, and a blank or nothing behind it"},
    {"find main", "find needs a world and a property, such as find main body.mass > 2"},
    {"find main mass", "find needs a world and a property"},
    {"find main/earth", "find needs a world and a property"},
    {"find main/earth.mass", "find needs a world and a property"},
    {"find any main/earth.body.mass > 2", "any, or 'earth': write one of both"},
    {"find count main nonsense > 1", "nonsense"},
    {"find count nowhere > 1", "no world 'nowhere'"},
    {"tree main/nobody", "no entity 'nobody' in world main"},
    {"tree main/earth.body", "'main/earth.body' names no entity, but something of one"},
};
enum { REFUSED = sizeof refused / sizeof refused[0] };

/* All lines whose sentence is another are told at once. */
static void expect_sentences(const outcome_t *outcome, const line_t *lines, size_t count)
{
    static char wrong[OUTPUT_MAX];
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        char begin[48];
        snprintf(begin, sizeof begin, "backplane: line %zu: ", i + 1);
        const char *at = strstr(outcome->err, begin), *says = at == NULL ? NULL : strstr(at, lines[i].says);
        size_t end = at == NULL ? 0 : strcspn(at, "\n");
        if ((says == NULL || says > at + end) && length < sizeof wrong)
            length += (size_t)snprintf(wrong + length, sizeof wrong - length, "line %zu, %s: not \"%s\" but %.*s\n",
                                       i + 1, lines[i].text, lines[i].says, (int)end, at == NULL ? "" : at);
    }
    ck_assert_msg(length == 0, "%.2000s", wrong);
}

/* After all of them the worlds are what they were. */
START_TEST(each_line_is_refused_with_its_sentence)
{
    static char before[OUTPUT_MAX];
    const outcome_t *outcome = console(two_worlds, "worlds\nentities main 3\nget main/earth\n");
    strcpy(before, outcome->out);
    expect(outcome, 0, NULL);
    outcome = session(two_worlds, refused, REFUSED);
    expect_sentences(outcome, refused, REFUSED);
    ck_assert_int_eq(outcome->status, 1);
    ck_assert_str_eq(outcome->out, "");
    static line_t lines[REFUSED + 3];
    memcpy(lines, refused, sizeof refused);
    lines[REFUSED] = (line_t){"worlds", ""};
    lines[REFUSED + 1] = (line_t){"entities main 3", ""};
    lines[REFUSED + 2] = (line_t){"get main/earth", ""};
    ck_assert_str_eq(session(two_worlds, lines, REFUSED + 3)->out, before);
}
END_TEST

static const line_t without_history[] = {
    {"history", "the host remembers nothing; [host] history = "},
    {"back", "the host remembers nothing"},
    {"goto 1", "the host remembers nothing"},
    {"branches", "the host remembers nothing"},
    {"branch", "the host remembers nothing"},
    {"mark here", ""},
    {"when main body.mass > 1", "the host remembers nothing"},
    {"bisect main body.mass > 1", "the host remembers nothing"},
    {"spawn nothing.json", "nothing.json: cannot be opened"},
    {"spawn " IN_SCRATCH("nobody.json"), "there is no world to spawn into"},
    {"use point_mass", "no world ''; `worlds` lists them"},
    {"reload nothing --back 10s", "'10s' is neither a number of steps, such as 600, nor a time, such as 10s"},
    {"find main body.mass > 1", "no world 'main'; there is: none"},
};
enum { WITHOUT_HISTORY = sizeof without_history / sizeof without_history[0] };

START_TEST(a_host_without_worlds_and_past_refuses_what_needs_them)
{
    write_file(IN_SCRATCH("nobody.json"), "{\"entities\": []}\n");
    const outcome_t *outcome = session("[host]\nplugins = point_mass\n", without_history, WITHOUT_HISTORY);
    expect_sentences(outcome, without_history, WITHOUT_HISTORY);
    ck_assert_int_eq(outcome->status, 1);
}
END_TEST

/* --- what is found ------------------------------------------------------------------------------------------------ */

/* Each of 100 bodies has moved by 0.1 after a step, and by 0.5 after five; the earth stands still. */
static const struct {
    const char *condition, *answer;
} conditions[] = {
    {"main body.mass > 100", "never in steps 0 to 5\n"},
    {"main body.mass < -1", "never in steps 0 to 5\n"},
    {"main body.mass <= 2.9", "never in steps 0 to 5\n"},
    {"main body.mass >= 4.1", "never in steps 0 to 5\n"},
    {"main body.mass = 3.5", "never in steps 0 to 5\n"},
    {"main body.mass == 3", "at step 0 of 5: #0:1 earth body.mass = 3"},
    {"main body.mass >= 4", "at step 0 of 5: #1:1 body.mass = 4"},
    {"main body.mass < 3.5", "at step 0 of 5: #0:1 earth body.mass = 3"},
    {"main body.mass != 3", "at step 0 of 5: #1:1 body.mass = 4"},
    {"main body.mass is inf", "never in steps 0 to 5\n"},
    {"any main/*.body.position is nan", "never in steps 0 to 5\n"},
    {"main body.position = \"0.3 0 0\"", "at step 3 of 5: #1:1 body.position = 0.3 0 0"},
    {"main/earth.body.mass > 2", "at step 0 of 5: #0:1 earth body.mass = 3"},
    {"main/earth.body.mass > 4", "never in steps 0 to 5\n"},
    {"count main > 100", "at step 0 of 5: count main = 101"},
    {"count main < 100", "never in steps 0 to 5\n"},
    {"count main debug_name = 1", "at step 0 of 5"},
    {"count main debug_name >= 2", "never in steps 0 to 5\n"},
};
enum { CONDITIONS = sizeof conditions / sizeof conditions[0] };

START_TEST(when_and_bisect_find_the_first_step)
{
    static char input[4096];
    size_t length = (size_t)snprintf(input, sizeof input, "step 5\n");
    for (int i = 0; i < CONDITIONS; i++) {
        length += (size_t)snprintf(input + length, sizeof input - length, "forward\n%s %s\n",
                                   _i == 0 ? "when" : "bisect", conditions[i].condition);
    }
    const outcome_t *outcome = console(two_worlds, input);
    const char *at = outcome->out;
    for (int i = 0; i < CONDITIONS; i++) {
        bool passing = conditions[i].answer[8] == '3'; /* so at step 3 alone: not what bisect looks for */
        bool never = _i == 1 && (passing || strncmp(conditions[i].answer, "never", 5) == 0);
        const char *answer = conditions[i].answer;
        if (never)
            answer = "not at the end, and so nothing to look for in steps 0 to 5\n";
        const char *found = strstr(at, answer);
        ck_assert_msg(found != NULL, "%s: no \"%s\" in\n%s\n%s", conditions[i].condition, answer, at, outcome->err);
        at = found + strlen(answer);
    }
}
END_TEST

START_TEST(worlds_are_saved_and_loaded_together)
{
    const outcome_t *outcome =
        console(two_worlds, "save all " IN_SCRATCH("all.bpe") "\ndestroy main/earth\nload all " IN_SCRATCH("all.bpe")
                            "\nload main+other " IN_SCRATCH("all.bpe") "\nget main/earth.body.mass\n"
                            "spawn " IN_SCRATCH("all.bpe") "\ndespawn 1\nentities main 1\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "main: 101 entities saved\nother: 1 entity saved\n1 entity destroyed\n"
                            "main: 101 entities loaded\nother: 1 entity loaded\n");
    expect_in(outcome->out, "other: 1 entity loaded\n3\nspawn 1: 102 entities in main+other\n");
    expect_in(outcome->out, "main: 101 entities");
    outcome = console(two_worlds, "spawn " IN_SCRATCH("all.bpe") " main\n");
    expect(outcome, 1, "it holds several worlds, which come together: it names them itself");
}
END_TEST

/* A world may be called what stands for all worlds: then that one is meant. */
START_TEST(a_world_called_all_is_saved_alone)
{
    const outcome_t *outcome = console("[host]\nplugins = point_mass\n[world all]\ncomponents = point_mass\n"
                                       "[spawn all one]\ncomponents = point_mass\n[world other]\n",
                                       "save all " IN_SCRATCH("one.bpe") "\nload all " IN_SCRATCH("one.bpe") "\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "all: 1 entity, ");
    expect_in(outcome->out, "all: 1 entity loaded\n");
    expect_not_in(outcome->out, "other");
}
END_TEST

START_TEST(a_line_may_have_many_entities_and_a_console_many_spawns)
{
    static char input[8192];
    size_t length = (size_t)snprintf(input, sizeof input,
                                     "create main 11 point_mass\ncreate main 12 point_mass\ndestroy");
    write_file(IN_SCRATCH("nobody.json"), "{\"entities\": []}\n");
    for (int i = 1; i <= 70; i++)
        length += (size_t)snprintf(input + length, sizeof input - length, " #%d:1", i);
    for (int i = 0; i < 20; i++)
        length += (size_t)snprintf(input + length, sizeof input - length, "\nspawn " IN_SCRATCH("nobody.json") " main");
    snprintf(input + length, sizeof input - length, "\ndespawn 17\ndespawn 17\nwatch main/earth.body.mass\nstep 0\n");
    const outcome_t *outcome = console(two_worlds, input);
    expect(outcome, 1, "line 25: spawn 17 has been despawned already");
    const char *made = strchr(outcome->out, '\n');
    ck_assert_msg(made != NULL && strstr(outcome->out, " ... and ") > made, "%s", outcome->out);
    expect_in(outcome->out, " ... and 2 more\n70 entities destroyed\nspawn 1: 0 entities in main\n");
    expect_in(outcome->out, "spawn 20: 0 entities in main\n0 entities destroyed\n  step 0: main/earth.body.mass = 3\n");
}
END_TEST

START_TEST(quotes_and_backslashes_in_a_value_are_taken_as_written)
{
    const outcome_t *outcome = console(two_worlds, "set main/earth.name.name \"a \\\"b\\\" \\\\ \\c\"\n"
                                                   "get #0:1\nentities main 1\n");
    expect_in(outcome->out, "a \"b\" \\ \\c");
}
END_TEST

/* Each value that is watched is told with the step of its own world, and the world's own values too: one world comes
 * three steps after the other, by the ini, which is written when these steps have been taken. */
START_TEST(what_is_watched_is_told_with_the_step_of_its_world)
{
    write_file(IN_SCRATCH("later.ini"), "[host]\nplugins = point_mass gravity\n"
                                        "[world main]\nstep_rate = 10\ncomponents = point_mass\n"
                                        "[spawn main one]\ncomponents = point_mass\n");
    const outcome_t *outcome =
        shell(": >'" IN_SCRATCH("later.out") "'; { echo step 3; until grep -q 'step 3' '" IN_SCRATCH("later.out")
              "'; do sleep 0.01; done; printf '[world later]\\nstep_rate = 10\\ncomponents = gravity_law\\n' >>'"
              IN_SCRATCH("later.ini") "'; printf '%%s\\n' 'reload " IN_SCRATCH("later.ini")
              "' 'watch later.gravity_law.constant' 'watch main/#0:1.point_mass.mass' step 'destroy #0:1' "
              "'drop gravity_law later' step watch; } | timeout 20 '" TEST_BACKPLANE "' console '"
              IN_SCRATCH("later.ini") "' >'" IN_SCRATCH("later.out") "'; status=$?; cat '" IN_SCRATCH("later.out")
              "'; exit $status");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "  step 1: later.gravity_law.constant = 6.6743e-11\n"
                            "  step 4: main/#0:1.point_mass.mass = 1\n");
    expect_in(outcome->out, "  step 2: later.gravity_law.constant: gone\n"
                            "  step 5: main/#0:1.point_mass.mass: gone\n");
    expect_in(outcome->out, "\nlater.gravity_law.constant: gone\nmain/#0:1.point_mass.mass: gone\n");
}
END_TEST

START_TEST(what_was_watched_is_gone_with_the_last_world)
{
    write_file(IN_SCRATCH("last.ini"), "[host]\nplugins = point_mass\n[world main]\ncomponents = point_mass\n"
                                       "[spawn main one]\ncomponents = point_mass\n");
    const outcome_t *outcome =
        shell(": >'" IN_SCRATCH("last.out") "'; { echo 'watch main/#0:1.point_mass.mass'; echo step 3; "
              "until grep -q 'step 3' '" IN_SCRATCH("last.out") "'; do sleep 0.01; done; "
              "printf '[host]\nplugins = point_mass\n' >'" IN_SCRATCH("last.ini") "'; printf '%%s\n' 'reload "
              IN_SCRATCH("last.ini") "' step watch worlds entities tree stats report history plugins; } | "
              "timeout 20 '" TEST_BACKPLANE "' console '" IN_SCRATCH("last.ini") "' >'" IN_SCRATCH("last.out")
              "'; status=$?; cat '" IN_SCRATCH("last.out") "'; exit $status");
    expect(outcome, 1, "line 11: the host remembers nothing");
    expect_in(outcome->out, "\n  main/#0:1.point_mass.mass: gone\nmain/#0:1.point_mass.mass: gone\n");
    expect_in(outcome->out, "point masses and their motion");
}
END_TEST

/* A debug name stands for one entity, in whatever worlds that is. */
START_TEST(names_that_several_entities_bear_are_told_with_their_ids)
{
    static const char named[] =
        "[host]\nplugins = debug_name gravity point_mass\n"
        "[world main]\ncomponents = point_mass debug_name gravity_law\n"
        "[spawn main pair]\ncount = 2\ncomponents = name:debug_name\nname.name = pair\n"
        "[spawn main crowd]\ncount = 5\ncomponents = name:debug_name\nname.name = crowd\n"
        "[spawn main alone]\ncomponents = name:debug_name\nname.name = alone\n"
        "[world other]\ncomponents = debug_name\n"
        "[spawn other alone]\ncomponents = name:debug_name\nname.name = alone\n"
        "[spawn other own]\ncomponents = name:debug_name\nname.name = own\n";
    static const line_t lines[] = {
        {"destroy pair", "2 entities are called 'pair': #"},
        {"get main/crowd", ":1, ...; name one by its id"},
        {"destroy alone", "2 entities are called 'alone': #"},
        {"destroy nobody", "no entity 'nobody' in any world"},
        {"get main.gravity_law.constance", "constance"},
        {"get main.gravity_lw", "gravity_lw"},
    };
    static const char both[] = "[host]\nplugins = debug_name\n[world main]\ncomponents = debug_name\n[spawn main a]\n"
                               "components = name:debug_name\nname.name = earth\n"
                               "[world other]\ncomponents = debug_name\n";
    expect_sentences(session(named, lines, sizeof lines / sizeof lines[0]), lines, sizeof lines / sizeof lines[0]);
    ck_assert_str_eq(console(named, "destroy own\n")->out, "1 entity destroyed\n");
    ck_assert_str_eq(console(both, "add other/#0:1 name:debug_name\nset other/#0:1.name.name earth\n"
                                   "destroy earth\n")->out, "1 entity destroyed\n");
    expect(console("[host]\nplugins = debug_name\n[world main]\ncomponents = debug_name\n[spawn main a]\n"
                   "components = name:debug_name\nname.name = earth\n", "destroy erth\n"), 1,
           "no entity 'erth' in world main; did you mean 'earth'?");
}
END_TEST

START_TEST(blanks_around_words_do_not_matter)
{
    static const char *const same[][4] = {
        {"get main/earth.name.name\n", "  get   main/earth.name.name\n", "\tget\t\tmain/earth.name.name \t\n",
         "get main/earth.name.name  \n"},
        {"entities main 5\n", "entities  main  5\n", " \tentities \t main   5\t\n", "entities main 5 \n"},
        {"set main/earth.name.name \"a  b\"\nentities main 5\n",
         "set  main/earth.name.name   \"a  b\" \nentities main 5\n",
         "\tset\tmain/earth.name.name\t\"a  b\"\nentities   main 5\n",
         "  set   main/earth.name.name \"a  b\"\n  entities main\t5\n"},
    };
    static const char ini[] = "[host]\nplugins = debug_name\n[world main]\ncomponents = debug_name\n[spawn main a]\n"
                              "components = name:debug_name\nname.name = earth\n";
    char expected[OUTPUT_MAX];
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        const outcome_t *outcome = console(ini, same[i][0]);
        expect(outcome, 0, NULL);
        snprintf(expected, sizeof expected, "%s", outcome->out);
        ck_assert_ptr_nonnull(strstr(expected, i < 2 ? "earth" : "a  b"));
        for (size_t k = 1; k < 4; k++)
            ck_assert_str_eq(console(ini, same[i][k])->out, expected);
    }
}
END_TEST

START_TEST(components_come_into_a_world_and_go)
{
    const outcome_t *outcome = console(two_worlds, "use debug_name other\ncreate other 12 name:debug_name\n"
                                                   "drop debug_name other\nentities other 20\n"
                                                   "reload " IN_SCRATCH("program.ini") "\n");
    expect_in(outcome->out, "world other uses debug_name\n");
    expect_in(outcome->out, " ... and 2 more\n");
    expect_in(outcome->out, "world other has dropped debug_name\n");
}
END_TEST

Suite *console_words_suite(void)
{
    Suite *suite = suite_create("console_words");
    TCase *tests = tcase_create("lines");
    tcase_set_timeout(tests, 30);
    tcase_add_checked_fixture(tests, make_scratch_folder, NULL);
    tcase_add_test(tests, each_line_is_refused_with_its_sentence);
    tcase_add_test(tests, a_host_without_worlds_and_past_refuses_what_needs_them);
    tcase_add_loop_test(tests, when_and_bisect_find_the_first_step, 0, 2);
    tcase_add_test(tests, worlds_are_saved_and_loaded_together);
    tcase_add_test(tests, a_world_called_all_is_saved_alone);
    tcase_add_test(tests, a_line_may_have_many_entities_and_a_console_many_spawns);
    tcase_add_test(tests, quotes_and_backslashes_in_a_value_are_taken_as_written);
    tcase_add_test(tests, what_is_watched_is_told_with_the_step_of_its_world);
    tcase_add_test(tests, what_was_watched_is_gone_with_the_last_world);
    tcase_add_test(tests, names_that_several_entities_bear_are_told_with_their_ids);
    tcase_add_test(tests, blanks_around_words_do_not_matter);
    tcase_add_test(tests, components_come_into_a_world_and_go);
    suite_add_tcase(suite, tests);
    return suite;
}
