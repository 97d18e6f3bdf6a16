/* test_program_refusals.c - what the program says where a file cannot be read or written, a disk is full, something is
 * not where it belongs, or there is too much of something.
 *
 * Each test is lines of the shell with the status and a part of stderr. A full disk is a process that may write some
 * blocks to each file (ulimit -f), enough for copies of plugins, or none: its stderr is a pipe then, since no file
 * takes a complaint either.
 *
 * TEST_SCRATCH_DIR is a folder for files, TEST_BACKPLANE the program.
 */
#include "../suites.h"
#include "shell.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IN_SCRATCH(name) TEST_SCRATCH_DIR "/refusals/" name

static const char small_text[] =
    "[host]\nplugins = point_mass debug_name\nsteps = 4\n"
    "[world main]\nstep_rate = 10\ncomponents = point_mass debug_name\n"
    "[spawn main earth]\ncount = 30\ncomponents = body:point_mass name:debug_name\nbody.mass = 3\n";
static const char scene_text[] = "{\"entities\": [{\"components\": {\"body\": {\"type\": \"point_mass\"}}}]}\n";

static void make_files(void)
{
    make_scratch_folder();
    ck_assert_int_eq(system("rm -rf '" IN_SCRATCH("") "' && mkdir -p '" IN_SCRATCH("") "'"), 0);
    write_file(IN_SCRATCH("small.ini"), small_text);
    static char large[sizeof small_text + 8];
    const char *at = strstr(small_text, "30\n");
    snprintf(large, sizeof large, "%.*s20000%s", (int)(at - small_text), small_text, at + 1);
    write_file(IN_SCRATCH("large.ini"), large); /* 200000 */
    write_file(IN_SCRATCH("scene.json"), scene_text);
    write_file(IN_SCRATCH("bare.ini"), "[world main]\n");
    write_file(IN_SCRATCH("inspected.ini"),
               "[host]\nplugins = inspector\n[plugin inspector]\nport = 0\n[world main]\n");
}

typedef struct refusal_t {
    const char *line;
    int status;
    const char *says;
} refusal_t;

static void expect_refusals(const refusal_t *refusals, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const outcome_t *outcome = shell("%s", refusals[i].line);
        ck_assert_msg(outcome->status == refusals[i].status && strstr(outcome->err, refusals[i].says) != NULL,
                      "%s: status %d, and\n%s\n%s", refusals[i].line, outcome->status, outcome->err, outcome->out);
    }
}

/* --- no room ------------------------------------------------------------------------------------------------------ */

#define FULL(blocks, command) \
    "(ulimit -f " blocks "; " command " 2>&1 >/dev/null; echo status $?) | tee /dev/stderr | grep -q 'status 1'"

static const refusal_t full[] = {
    {"backplane run '" IN_SCRATCH("small.ini") "' >/dev/full", 1,
     "the output cannot be written: No space left on device"},
    {"backplane plugins '" IN_SCRATCH("small.ini") "' --json >/dev/full", 1, "the output cannot be written"},
    {"backplane schema >/dev/full", 1, "the output cannot be written"},
    {"backplane --manual >/dev/full", 1, "the output cannot be written"},
    {"backplane run '" IN_SCRATCH("small.ini") "' --trace /dev/full", 1,
     "/dev/full: the trace could not be written whole"},
    {"backplane run '" IN_SCRATCH("small.ini") "' --trace '" IN_SCRATCH("no/such") "'", 2,
     "no/such: the trace cannot be written there"},
    {FULL("4096", "backplane run '" IN_SCRATCH("large.ini") "' --record '" IN_SCRATCH("full.rec") "'"), 0, "full.rec"},
    {FULL("0", "cd '" IN_SCRATCH("") "' && \"$OLDPWD/" TEST_BACKPLANE "\" new full"), 0, "cannot be written"},
    {"! ls -d '" IN_SCRATCH("full") "' '" IN_SCRATCH("full.bpe") "' >&2", 0, "No such file"},
};

START_TEST(a_full_disk_is_told_and_leaves_no_part_of_a_file)
{
    expect_refusals(full, sizeof full / sizeof full[0]);
}
END_TEST

/* --- names and places --------------------------------------------------------------------------------------------- */

/* A program that was copied out of its folder finds neither plugins nor headers. */
#define ALONE "mkdir -p '" IN_SCRATCH("alone") "' && cp '" TEST_BACKPLANE "' '" IN_SCRATCH("alone/backplane") "' && '" \
              IN_SCRATCH("alone/backplane") "' "
#define LONG_NAME "$(printf '%05000d' 1)"

static const refusal_t misplaced[] = {
    {ALONE "schema", 2,
     "there is no folder plugins/ beside the program, nor ../lib/backplane/plugins; say which plugins with --plugins "
     "FOLDER or --ini INI"},
    {ALONE "compile '" IN_SCRATCH("scene.json") "'", 2, "there is no folder plugins/ beside the program"},
    {ALONE "--headers", 1,
     "the headers for plugins are not where they belong, in ../include/backplane beside the folder"},
    {ALONE "run '" IN_SCRATCH("inspected.ini") "' --steps 1", 2, "inspector"},
    {ALONE "run '" IN_SCRATCH("bare.ini") "' --steps 1 --inspect", 2, "inspector"},
    {ALONE "import a.gltf", 1, "import needs the program backplane-import beside this one"},
    {"backplane schema --plugins '" IN_SCRATCH("nowhere") "'", 2, "nowhere"},
    {"backplane schema --plugins '" IN_SCRATCH("scene.json") "'", 2, "scene.json"},
    {"backplane schema a.ini --plugins b", 2, "give an ini or --plugins, not both"},
    {"backplane compile -- -missing.json", 2, "-missing.json: "},
    {"backplane compile " LONG_NAME, 2, "the name of the scene is too long"},
    {"backplane run '" IN_SCRATCH("inspected.ini") "' --steps 1 --inspect 15702", 2,
     "--inspect 15702: the ini loads the inspector itself; give its port there, under [plugin inspector]"},
    {"backplane run '" IN_SCRATCH("inspected.ini") "' --steps 1 --inspect", 0, "http://"},
    {"backplane run '" IN_SCRATCH("small.ini") "' --steps 1 --inspect 0", 0, "http://"},
    {"backplane dump '" IN_SCRATCH("small.ini") "'", 2, "small.ini"},
    {"backplane replay '" IN_SCRATCH("small.ini") "'", 2, "small.ini"},
    {"backplane bisect '" IN_SCRATCH("small.ini") "' main body.mass '>' 2", 2, "small.ini"},
    {"backplane new '" IN_SCRATCH("small.ini") "/health'", 2, "health"},
    {"cd '" IN_SCRATCH("") "' && mkdir one && touch one/one.c && \"$OLDPWD/" TEST_BACKPLANE "\" new one", 1, "one"},
};

START_TEST(what_is_not_where_it_belongs_is_told_with_a_remedy)
{
    expect_refusals(misplaced, sizeof misplaced / sizeof misplaced[0]);
}
END_TEST

static const refusal_t wrong_checks[] = {
    {"backplane check --form=a b.so", 2, "check knows no option '--form'; did you mean '--from'?"},
    {"backplane check a.so --frobnicate", 2, "check knows no option '--frobnicate'"},
    {"backplane check a.so novalue", 2, "'novalue' is no option; write NAME=VALUE"},
    {"backplane check a.so =3", 2, "'=3' is no option; write NAME=VALUE"},
    {"backplane check a.so --level=0", 2, "--level takes a number from 1 to 5, not '0'"},
    {"backplane check a.so --level=12", 2, "--level takes a number from 1 to 5, not '12'"},
    {"backplane check a.so $(seq -f 'a%g=1' 65)", 2, "at most 64 options"},
    {"backplane check a.so $(seq -f '--from=%g' 17)", 2, "--from is given at most 16 times"},
    {"backplane check a.so $(seq -f '--needs %g' 17)", 2, "--needs is given at most 16 times"},
    {"backplane check a.so --needs", 2, "--needs needs a value behind it"},
    {"backplane check a.so --ask list", 2, "check knows no option '--ask'"},
    {"TMPDIR='" IN_SCRATCH("nowhere") "' backplane check '" TEST_PLUGIN_DIR "/debug_name.so' --level=2 | "
     "grep 'no folder can be had for the answers of processes' >&2", 0, "  error: no folder"},
    {"far=$(printf './%.0s' $(seq 350))'" TEST_PLUGIN_DIR "'; backplane check '" TEST_PLUGIN_DIR "/point_mass.so' "
     "--level=2 --needs=\"$far/debug_name.so\" --needs=\"$far/transform.so\" >'" IN_SCRATCH("out")
     "'; grep -c 'the options and files given are too long' '" IN_SCRATCH("out") "' >&2", 0, "1"},
    {"backplane check '" IN_SCRATCH("small.ini") "'", 1, ""},
    {"backplane check '" IN_SCRATCH("missing.c") "'", 1, ""},
    {"backplane check '" TEST_PLUGIN_DIR "/point_mass.so' --level=2 --needs='" IN_SCRATCH("missing.so") "'", 1, ""},
    {"backplane check '" TEST_PLUGIN_DIR "/point_mass.so' --level=4 --from='" IN_SCRATCH("missing.so") "' >'"
     IN_SCRATCH("out") "'; grep -c 'the older version .*missing.so cannot be read' '" IN_SCRATCH("out") "' >&2",
     0, "1"},
    {"mkdir '" IN_SCRATCH("near.so") "'; backplane check '" IN_SCRATCH("near.so") "' >'" IN_SCRATCH("out")
     "'; ! grep -q 'did you mean' '" IN_SCRATCH("out") "' && cat '" IN_SCRATCH("out") "' >&2", 0,
     "near.so: cannot be read: "},
    {"backplane check '" TEST_PLUGIN_DIR "/point_mass.so' --level=4 --from='" TEST_PLUGIN_DIR "/transform.so' >'"
     IN_SCRATCH("out") "'; grep -c \"component 'transform' has gone\" '" IN_SCRATCH("out") "' >&2", 0, "1"},
    {"backplane check '" TEST_PLUGIN_DIR "/debug_name.so' --from='" TEST_PLUGIN_DIR "/gravity.so' --needs='"
     TEST_PLUGIN_DIR "/point_mass.so' | grep has.gone >&2", 0, "component 'gravity_law' has gone"},
    {"mkdir -p '" IN_SCRATCH("older") "'; ${CC:-cc} -shared -fPIC -x c /dev/null -o '" IN_SCRATCH("older/debug_name.so")
     "'; backplane check '" TEST_PLUGIN_DIR "/debug_name.so' --from='" IN_SCRATCH("older/debug_name.so")
     "' | grep 'the older version' >&2", 0, "older/debug_name.so cannot be asked: "},
    {"backplane check '" TEST_PLUGIN_DIR "/gravity.so' --level=2 --from=none.so --needs='" TEST_PLUGIN_DIR
     "/point_mass.so' | grep gravity_law >&2", 0, "component 'gravity_law': 2 checks up to level 2, and nothing"},
    {"printf '#include <bp_plugin.h>\nvoid exit(int);\nstatic void ended(const bp_run_t *run, uint32_t count)\n"
     "{ (void)run, (void)count; exit(3); }\nstatic const bp_field_t fields[] = {{.name = \"a\", .type = BP_F32}};\n"
     "static const bp_component_i components[] = {{.name = \"ends\", .fields = BP_LIST(fields),\n"
     ".simulate = ended}};\nBP_PLUGIN(ends) = {.version = \"1\", .components = BP_LIST(components)};\n' >'"
     IN_SCRATCH("ends.c") "'; backplane check '" IN_SCRATCH("ends.c") "' --level=3 >'" IN_SCRATCH("out") "'; "
     "grep 'it ended the process' '" IN_SCRATCH("out") "' >&2", 0, "it ended the process with 3"},
    {"printf '#include <bp_plugin.h>\nint counter;\nBP_PLUGIN(counts) = {.version = \"1\"};\n' >'"
     IN_SCRATCH("counts.c") "'; backplane check '" IN_SCRATCH("counts.c") "' --needs='" TEST_PLUGIN_DIR
     "/point_mass.so' >'" IN_SCRATCH("out") "';"
     " grep \"'counter' can be written\" '" IN_SCRATCH("out") "' >&2", 0, "error: 'counter' can be written"},
    {"backplane check '" TEST_PLUGIN_DIR "/debug_name.so' --needs='" TEST_PLUGIN_DIR "/point_mass.so' | "
     "grep component >&2", 0, "component 'debug_name': 1 property, storage of its own"},
    {"backplane check '" TEST_PLUGIN_DIR "/debug_name.so' --needs=none.so | grep error >&2", 0,
     "error: it does not load: none.so: there is no such plugin file"},
    {"${CC:-cc} -shared -fPIC -I plugin_api tests/fixtures/picky.c -o '" IN_SCRATCH("picky.so") "'; backplane check '"
     IN_SCRATCH("picky.so") "' rounds=2 --level=2 >'" IN_SCRATCH("out") "'; grep -c 'nothing of it troubles a reload' '"
     IN_SCRATCH("out") "' >&2", 0, "1"},
    {"backplane check '" IN_SCRATCH("picky.so") "' --level=2 >'" IN_SCRATCH("out") "'; cat '" IN_SCRATCH("out")
     "' >&2", 0, "option 'rounds' (u32) must be given: how often to go round (give options behind"},
    {"backplane check '" TEST_PLUGIN_DIR "/point_mass.so' unknown=1 >'" IN_SCRATCH("out") "'; grep -c unknown '"
     IN_SCRATCH("out") "' >&2", 0, ""},
    {"printf 'int broken(\\n' >'" IN_SCRATCH("broken.c") "'; backplane check '" IN_SCRATCH("broken.c") "' >'"
     IN_SCRATCH("out") "'; cat '" IN_SCRATCH("out") "' >&2", 0, "broken.c"},
};

START_TEST(wrong_words_behind_check_are_refused)
{
    expect_refusals(wrong_checks, sizeof wrong_checks / sizeof wrong_checks[0]);
}
END_TEST

static const refusal_t wrong_fields[] = {
    {"backplane new f --fields $(seq -s, -f 'a%g:f32' 65)", 2, "more than 64 fields; add the others in the source"},
    {"backplane new f --fields 'hp'", 2, "'hp' has no type; write NAME:TYPE or NAME:TYPE=DEFAULT, such as hp:f32=100"},
    {"backplane new f --fields 'hp :f33'", 2, "f33"},
    {"backplane new f --fields ' hp : f32[0]'", 2, "hp"},
    {"backplane new f --fields 'hp:f32,hp:f32'", 2, "hp"},
    {"backplane new f --fields ''", 2, ""},
    {"cd '" IN_SCRATCH("") "' && \"$OLDPWD/" TEST_BACKPLANE "\" new g --fields ' hp : f32 = 3 , on : bool ' && "
     "grep -c 'hp' g/g.c >&2", 0, ""},
};

START_TEST(wrong_fields_of_a_new_plugin_are_refused)
{
    expect_refusals(wrong_fields, sizeof wrong_fields / sizeof wrong_fields[0]);
}
END_TEST

/* --- names that are no UTF-8 -------------------------------------------------------------------------------------- */

START_TEST(a_name_that_is_no_utf8_does_not_break_json)
{
    const outcome_t *outcome = shell("bad='" IN_SCRATCH("n") "'$(printf '\\377').ini; cp '" IN_SCRATCH("small.ini")
                                     "' \"$bad\" && backplane plugins \"$bad\" --json");
    expect(outcome, 0, NULL);
    json_t *root = parse_output(outcome);
    expect_in(text_of(root, "ini"), "n?.ini");
    json_decref(root);
    outcome = shell("bad='" IN_SCRATCH("n") "'$(printf '\\377').ini; backplane run \"$bad\" --json");
    expect(outcome, 0, NULL);
    json_decref(parse_output(outcome));
    expect(shell("sed 's/\"drift\"/\"dr\\\\377ft\"/' tests/program/plugins/reporter.c | ${CC:-cc} -shared -fPIC -I "
                 "plugin_api -x c - -o '" IN_SCRATCH("reporter.so") "'"), 0, NULL);
    write_file(IN_SCRATCH("reporter.ini"), "[host]\nplugins = ./reporter.so\n[world main]\ncomponents = reporter\n");
    outcome = shell("backplane run '%s' --steps 1 --json", IN_SCRATCH("reporter.ini"));
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "\"dr?ft\": 2.5e-7");
}
END_TEST

/* --- the console -------------------------------------------------------------------------------------------------- */

/* Lists end where there is no more room on a screen, in a command, or for what is watched. */
START_TEST(more_than_the_console_takes_is_refused_or_cut)
{
    static char input[OUTPUT_MAX];
    size_t length = 0;
    for (int i = 0; i < 17; i++)
        length += (size_t)snprintf(input + length, sizeof input - length, "watch main/#%d:1.body.mass\n", i);
    length += (size_t)snprintf(input + length, sizeof input - length,
                               "unwatch main/#3:1.body.mass\nfind main body.mass > 2\nstep 1\nhistory\ngoto 0\n"
                               "get main/#7:1\n"
                               "create main");
    for (int i = 0; i < 65; i++)
        length += (size_t)snprintf(input + length, sizeof input - length, " c%d:point_mass", i);
    length += (size_t)snprintf(input + length, sizeof input - length, "\nsave main");
    for (int i = 0; i < 65; i++)
        length += (size_t)snprintf(input + length, sizeof input - length, "+main");
    length += (size_t)snprintf(input + length, sizeof input - length, " x.bpe\ntry 1 %s\nload_plugin nothing",
                               "reload point_mass");
    for (int i = 0; i < 65; i++)
        length += (size_t)snprintf(input + length, sizeof input - length, " o%d=1", i);
    snprintf(input + length, sizeof input - length, "\ntry a b c d e f g h i j k l m n o p q 3\n");
    static char ini[1024];
    snprintf(ini, sizeof ini, "[host]\nhistory = 8 MiB\n%s", small_text + strlen("[host]\n"));
    const outcome_t *outcome = console(ini, input);
    ck_assert_int_eq(outcome->status, 1);
    expect_in(outcome->err, "line 17: 16 properties are watched already; unwatch one");
    expect_in(outcome->out, "the first 20 are shown");
    expect_in(outcome->err, "more than 64 components");
    expect_in(outcome->err, "more than 64 worlds; name them as `all`");
    expect_in(outcome->err, "more than 64 options");
    expect_in(outcome->err, "more than 16 plugins");
}
END_TEST

START_TEST(a_directory_in_the_place_of_commands_is_told)
{
    expect(shell("backplane console '%s' < /", IN_SCRATCH("small.ini")), 1, "the commands cannot be read");
}
END_TEST

/* --- recordings --------------------------------------------------------------------------------------------------- */

START_TEST(a_recorded_run_is_resumed_only_as_far_as_it_goes)
{
    expect(shell("backplane run '%s' --record '%s' >/dev/null", IN_SCRATCH("small.ini"), IN_SCRATCH("run.rec")), 0,
           NULL);
    expect(shell("backplane run '%s' --resume '%s' --real-time --steps 4", IN_SCRATCH("small.ini"),
                 IN_SCRATCH("run.rec")), 0, "run.rec: goes on behind step 4");
    const outcome_t *outcome = shell("backplane run '%s' --resume '%s' --real-time --steps 10 --json",
                                     IN_SCRATCH("small.ini"), IN_SCRATCH("run.rec"));
    expect(outcome, 0, "run.rec: goes on behind step 4");
    json_t *root = parse_output(outcome);
    ck_assert_int_eq(count_of(root, "steps"), 10);
    json_decref(root);
    /* [host] steps = 4: nothing is left to do. */
    expect(shell("backplane run '%s' --resume '%s' --real-time", IN_SCRATCH("small.ini"), IN_SCRATCH("run.rec")), 0,
           "run.rec: goes on behind step 10");
    /* An ini without a number of steps: the run goes on, and fails where it is to show what is not there. */
    expect(shell("sed /steps/d '%s' >'%s' && backplane run '%s' --resume '%s' --real-time --show main/none.body.mass",
                 IN_SCRATCH("small.ini"), IN_SCRATCH("endless.ini"), IN_SCRATCH("endless.ini"), IN_SCRATCH("run.rec")),
           1, "none");
    expect(shell("backplane run '%s' --real-time --steps 0", IN_SCRATCH("small.ini")), 0, NULL);
    expect(shell("backplane run '%s' --resume '%s'", IN_SCRATCH("small.ini"), IN_SCRATCH("none.rec")), 1,
           "none.rec: cannot be opened");
    expect(shell("backplane run '%s' --record a --resume b", IN_SCRATCH("small.ini")), 2,
           "give --record or --resume: what is resumed is recorded in the same file");
    expect(shell("backplane run '%s' --verify --real-time", IN_SCRATCH("small.ini")), 2, "keeps no pace");
}
END_TEST

Suite *program_refusals_suite(void)
{
    Suite *suite = suite_create("program_refusals");
    TCase *tests = tcase_create("refusals");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, make_files, NULL);
    tcase_add_test(tests, a_full_disk_is_told_and_leaves_no_part_of_a_file);
    tcase_add_test(tests, what_is_not_where_it_belongs_is_told_with_a_remedy);
    tcase_add_test(tests, wrong_words_behind_check_are_refused);
    tcase_add_test(tests, wrong_fields_of_a_new_plugin_are_refused);
    tcase_add_test(tests, a_name_that_is_no_utf8_does_not_break_json);
    tcase_add_test(tests, more_than_the_console_takes_is_refused_or_cut);
    tcase_add_test(tests, a_directory_in_the_place_of_commands_is_told);
    tcase_add_test(tests, a_recorded_run_is_resumed_only_as_far_as_it_goes);
    suite_add_tcase(suite, tests);
    return suite;
}
