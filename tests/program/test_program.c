/* test_program.c - the program as its users meet it: arguments in, texts and exit statuses out.
 *
 * Every test runs the built program through the shell (shell.h). One plugin is built here from plugins/reporter.c with
 * one command, as any user would: it reports what the tests want to see and logs an error on demand.
 *
 * TEST_BACKPLANE is the program's path, TEST_SOURCE_DIR the root of the source tree, TEST_SCRATCH_DIR a
 * folder for files.
 */
#include "../suites.h"
#include "shell.h"

#include <backplane.h>
#include <jansson.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char two_bodies[] =
    "[host]\n"
    "plugins = point_mass debug_name\n"
    "[world main]\n"
    "step_rate = 10\n"
    "components = point_mass debug_name\n"
    "[spawn main earth]\n"
    "components = body:point_mass name:debug_name\n"
    "body.mass = 3\n"
    "body.position = 1 0 0\n"
    "body.velocity = 0 2 0\n"
    "name.name = earth\n"
    "[spawn main moon]\n"
    "components = body:point_mass name:debug_name\n"
    "name.name = moon\n";

static const char many_bodies[] =
    "[host]\n"
    "plugins = point_mass\n"
    "steps = 3\n"
    "[world main]\n"
    "components = point_mass\n"
    "[spawn main crowd]\n"
    "count = 50\n"
    "components = point_mass\n"
    "[world other]\n"
    "components = point_mass\n";

/* An ini with the plugin of plugins/reporter.c, which is built for it. */
static void write_reporter_ini(const char *more)
{
    char ini[1024];
    expect(shell("${CC:-cc} -shared -fPIC -I plugin_api tests/program/plugins/reporter.c"
                 " -o '" TEST_SCRATCH_DIR "/reporter.so'"),
           0, NULL);
    snprintf(ini, sizeof ini,
             "[host]\nplugins = ./reporter.so\nsteps = 1\n[world main]\ncomponents = reporter\n"
             "[spawn main one]\ncomponents = reporter\n%s",
             more);
    write_file(ini_file, ini);
}

/* --- arguments ------------------------------------------------------------------------------------------ */

START_TEST(help_tells_of_every_command)
{
    const outcome_t *outcome = shell("backplane --help");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "usage: backplane");
    expect_in(outcome->out, "run INI [--steps N] [--json]");
    expect_in(outcome->out, "plugins INI [--json]");
    expect_in(outcome->out, "console INI");
}
END_TEST

START_TEST(each_command_has_its_own_help)
{
    static const char *const commands[] = {"run", "plugins", "console"};
    char usage[64];
    snprintf(usage, sizeof usage, "usage: backplane %s INI", commands[_i]);
    const outcome_t *outcome = shell("backplane %s --help", commands[_i]);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, usage);
    outcome = shell("backplane %s no_such.ini --help", commands[_i]);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, usage);
}
END_TEST

START_TEST(version_is_printed)
{
    const outcome_t *outcome = shell("backplane --version");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "backplane " BACKPLANE_VERSION);
}
END_TEST

/* A bad line of arguments, and what its message must hold. */
static const struct { const char *line; const char *message; } bad_arguments[] = {
    {"backplane", "usage: backplane COMMAND"},
    {"backplane rnu x.ini", "no command 'rnu'; did you mean 'run'?"},
    {"backplane plugin x.ini", "did you mean 'plugins'?"},
    {"backplane zebra", "no command 'zebra'\n"},
    {"backplane --hlep", "no option '--hlep'; did you mean '--help'?"},
    {"backplane --versoin", "no option '--versoin'; did you mean '--version'?"},
    {"backplane --haeders", "no option '--haeders'; did you mean '--headers'?"},
    {"backplane --manaul", "no option '--manaul'; did you mean '--manual'?"},
    {"backplane ''", "no command ''"},
    {"backplane run", "run needs an ini file"},
    {"backplane plugins --json", "plugins needs an ini file"},
    {"backplane console", "console needs an ini file"},
    {"backplane run ''", "the name of the ini is empty"},
    {"backplane run a.ini b.ini", "here are 'a.ini' and 'b.ini'"},
    {"backplane run --jsno a.ini", "run knows no option '--jsno'; did you mean '--json'?"},
    {"backplane run --shwo a.ini", "run knows no option '--shwo'; did you mean '--show'?"},
    {"backplane run --step=4 a.ini", "run knows no option '--step'; did you mean '--steps'?"},
    {"backplane plugins --steps 4 a.ini", "plugins knows no option '--steps'"},
    {"backplane console --json a.ini", "console knows no option '--json'"},
    {"backplane run a.ini --steps", "--steps needs a number of steps"},
    {"backplane run a.ini --steps ten", "not 'ten'"},
    {"backplane run a.ini --steps=", "not ''"},
    {"backplane run a.ini --steps -1", "not '-1'"},
    {"backplane run a.ini --steps 1.5", "not '1.5'"},
    {"backplane run a.ini --steps 18446744073709551616", "not '18446744073709551616'"},
    {"backplane run a.ini --steps 1 --steps 2", "--steps is given twice"},
    {"backplane run a.ini --json=yes", "--json takes no value"},
    {"backplane run a.ini -x", "run knows no option '-x'"},
    {"backplane run -- --steps a.ini", "here are '--steps' and 'a.ini'"},
    {"backplane run a.ini --show", "--show takes one path of a property, such as --show main/earth.body.position"},
    {"backplane run a.ini --real-time --show=a --show b", "--show takes one path of a property"},
    {"backplane run a.ini --show a", "--show needs --real-time"},
    {"backplane run a.ini --inspect=65536", "--inspect is given once, and takes a port from 0 (any that is free) to "},
    {"backplane run a.ini --inspect --inspect", "--inspect is given once"},
    {"backplane run a.ini --inspect 1 --inspect=2", "--inspect is given once"},
    {"backplane run a.ini --trace=", "--trace takes one file to write, such as --trace steps.json"},
    {"backplane run a.ini --trace a --trace b", "--trace takes one file to write"},
    {"backplane run a.ini --record", "--record takes one file, such as --record game.rec"},
    {"backplane run a.ini --record=", "--record takes one file, such as --record game.rec"},
    {"backplane run a.ini --aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     "run knows no option '--aaaaaaaaaa"},
    {"backplane run a.ini --record ''", "--record takes one file, such as --record game.rec"},
    {"backplane run a.ini --record a --record b", "--record takes one file, such as --record game.rec"},
    {"backplane run --inspect ''", "the name of the ini is empty"},
    {"backplane run a.ini --inspect 99999999999999999999", "--inspect is given once, and takes a port from 0"},
    {"backplane run - a.ini", "run takes one ini; here are '-' and 'a.ini'"},
    {"backplane run a.ini --abcde", "run knows no option '--abcde'"},
    {"backplane run a.ini --abcdefg", "run knows no option '--abcdefg'"},
    {"backplane plugins a.ini --abcd=1", "plugins knows no option '--abcd'"},
    {"backplane replay", "replay needs the file of a recording"},
    {"backplane replay a.rec --to", "--to takes one step, such as --to 1000"},
    {"backplane replay a.rec --to=x", "--to takes one step, such as --to 1000"},
    {"backplane replay a.rec --to 3 --to 4", "--to takes one step, such as --to 1000"},
    {"backplane replay a.rec --ini", "--ini takes one file, such as --ini game.ini"},
    {"backplane bisect", "usage: backplane bisect FILE CONDITION"},
    {"backplane bisect a.rec", "usage: backplane bisect FILE CONDITION"},
    {"backplane compile", "compile needs a scene"},
    {"backplane compile ''", "the name of the file is empty"},
    {"backplane compile a.json b.json", "one file is enough; here are 'a.json' and 'b.json'"},
    {"backplane compile a.json -o", "-o needs a file or folder behind it"},
    {"backplane compile a.json --output=", "--output needs a file or folder behind it"},
    {"backplane compile a.json -o x -o y", "-o is given twice"},
    {"backplane compile a.json --json=1", "--json takes no value"},
    {"backplane compile - a.json", "one file is enough; here are '-' and 'a.json'"},
    {"backplane compile a.json --outptu=a", "there is no option '--outptu'; did you mean '--output'?"},
    {"backplane compile a.json --plugins a --ini b.ini", "give --ini or --plugins, not both"},
    {"backplane schema --json", "there is no option '--json'"},
    {"backplane schema a.ini b.ini", "one file is enough; here are 'a.ini' and 'b.ini'"},
    {"backplane schema --plugins", "--plugins needs a file or folder behind it"},
    {"backplane check", "check needs the file of a plugin"},
    {"backplane check --level", "--level needs a value behind it"},
    {"backplane check a.so --level 9", "--level takes a number from 1 to 5, not '9'"},
    {"backplane check a.so --from", "--from needs a value behind it"},
    {"backplane new", "new needs a name for the plugin"},
    {"backplane new a b", "one name is enough; here are 'a' and 'b'"},
    {"backplane new a --lang perl", "--lang takes c, c++ or rust, not 'perl'"},
    {"backplane new a --fields", "--fields needs a value behind it"},
    {"backplane new a --lang rs --system --own-storage", "--system and --own-storage: a plugin begins as one of them"},
};

START_TEST(bad_arguments_are_refused)
{
    const outcome_t *outcome = shell("%s", bad_arguments[_i].line);
    expect(outcome, 2, bad_arguments[_i].message);
    expect_in(outcome->err, "usage: ");
    ck_assert_str_eq(outcome->out, "");
}
END_TEST

/* An ini that cannot be done, and what the message must hold beside the file's name. */
static const struct { const char *ini; const char *message; } bad_inis[] = {
    {"[host]\nplugins = no_such_plugin\n", "no_such_plugin"},
    {"[host]\nplugin = point_mass\n", "plugins"},
    {"[hots]\n", "host"},
    {"[host]\nsteps = many\n", "many"},
    {"[host]\nplugins = point_mass\n[world main]\ncomponents = point_mas\n", "point_mass"},
    {"[host]\nplugins = mesh\n[world main]\ncomponents = mesh\n[spawn main chair]\ncomponents = mesh\nmesh.resource = "
     "no_such.obj\n", "program.ini:7: mesh.resource of [spawn main chair]: mesh: cannot open "},
};

START_TEST(bad_ini_is_refused_by_every_command)
{
    static const char *const commands[] = {"run --steps 1", "run --json --steps 1", "plugins",
                                           "plugins --json", "console"};
    write_file(ini_file, bad_inis[_i].ini);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const outcome_t *outcome = shell("backplane %s '%s' < /dev/null", commands[i], ini_file);
        expect_refused(outcome, bad_inis[_i].message);
        expect_in(outcome->err, "program.ini:");
    }
}
END_TEST

START_TEST(missing_ini_is_refused)
{
    expect_refused(shell("backplane run --steps 1 '" TEST_SCRATCH_DIR "/no_such.ini'"), "no_such.ini");
    expect_refused(shell("backplane plugins '" TEST_SCRATCH_DIR "/no_such.ini'"), "no_such.ini");
    expect_refused(shell("backplane console '" TEST_SCRATCH_DIR "/no_such.ini'"), "no_such.ini");
}
END_TEST

START_TEST(ini_may_begin_with_a_dash_behind_two_dashes)
{
    write_file(TEST_SCRATCH_DIR "/-dash.ini", many_bodies);
    expect(shell("program=$(realpath '" TEST_BACKPLANE "') && cd '" TEST_SCRATCH_DIR
                 "' && \"$program\" run -- -dash.ini"),
           0, NULL);
}
END_TEST

/* --- run ------------------------------------------------------------------------------------------------ */

START_TEST(run_reports_steps_worlds_and_units)
{
    write_file(ini_file, many_bodies);
    const outcome_t *outcome = shell("backplane run '%s' --steps 7", ini_file);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "7 steps with 50 entities in ");
    expect_in(outcome->out, "World  Unit        Plugin");
    expect_in(outcome->out, "main   point_mass  point_mass      7    50");
}
END_TEST

START_TEST(run_takes_the_steps_of_the_ini_unless_told_otherwise)
{
    write_file(ini_file, many_bodies);
    expect_in(shell("backplane run '%s'", ini_file)->out, "\n3 steps with 50 entities");
    expect_in(shell("backplane run --steps=5 '%s'", ini_file)->out, "\n5 steps with 50 entities");
    expect_in(shell("backplane run '%s' --steps 0", ini_file)->out, "\n0 steps with 50 entities");
}
END_TEST

START_TEST(run_without_a_number_of_steps_says_where_to_write_it)
{
    write_file(ini_file, two_bodies);
    expect_refused(shell("backplane run '%s'", ini_file),
                   "program.ini: no number of steps; write \"steps = 1000\"");
}
END_TEST

START_TEST(run_as_json_has_everything)
{
    write_file(ini_file, many_bodies);
    const outcome_t *outcome = shell("backplane run '%s' --steps 12 --json", ini_file);
    expect(outcome, 0, NULL);
    json_t *root = parse_output(outcome);
    ck_assert_str_eq(text_of(root, "backplane"), BACKPLANE_VERSION);
    ck_assert_str_eq(text_of(root, "ini"), ini_file);
    ck_assert_int_eq(count_of(root, "steps"), 12);
    ck_assert_int_eq(count_of(root, "entities"), 50);
    ck_assert_int_gt(count_of(root, "nanoseconds"), 0);
    json_t *worlds = json_object_get(root, "worlds");
    ck_assert_uint_eq(json_array_size(worlds), 2);
    json_t *world = named(worlds, "main");
    ck_assert_int_eq(count_of(world, "steps"), 12);
    ck_assert_int_eq(count_of(world, "entities"), 50);
    ck_assert_int_eq(count_of(world, "runs"), 1);
    ck_assert_double_eq_tol(json_number_value(json_object_get(world, "time")), 0.2, 1e-9);
    ck_assert_int_eq(count_of(named(worlds, "other"), "entities"), 0);
    json_t *unit = json_array_get(json_object_get(root, "units"), 0);
    ck_assert_str_eq(text_of(unit, "world"), "main");
    ck_assert_str_eq(text_of(unit, "unit"), "point_mass");
    ck_assert_str_eq(text_of(unit, "plugin"), "point_mass");
    ck_assert_int_eq(count_of(unit, "steps"), 12);
    ck_assert_int_eq(count_of(unit, "rows"), 50);
    ck_assert(json_is_array(json_object_get(root, "reports")));
    json_decref(root);
}
END_TEST

START_TEST(run_as_json_turns_report_tables_into_objects)
{
    write_reporter_ini("");
    const outcome_t *outcome = shell("backplane run '%s' --json", ini_file);
    expect(outcome, 0, NULL);
    json_t *root = parse_output(outcome);
    json_t *report = json_array_get(json_object_get(root, "reports"), 0);
    ck_assert_str_eq(text_of(report, "world"), "main");
    ck_assert_str_eq(text_of(report, "unit"), "reporter");
    json_t *table = json_array_get(json_object_get(report, "tables"), 0);
    ck_assert_str_eq(text_of(table, "title"), "periods");
    json_t *rows = json_object_get(table, "rows");
    ck_assert_uint_eq(json_array_size(rows), 2);
    json_t *first = json_array_get(rows, 0);
    ck_assert_str_eq(text_of(first, "name"), "a");
    ck_assert_double_eq(json_number_value(json_object_get(first, "period")), 87.97);
    ck_assert_double_eq(json_number_value(json_object_get(first, "period 2")), 1e-3);
    json_t *second = json_array_get(rows, 1);
    ck_assert_int_eq(count_of(second, "period"), -4332);
    ck_assert_str_eq(text_of(second, "period 2"), "n/a");
    json_t *values = json_object_get(report, "values");
    ck_assert_double_eq(json_number_value(json_object_get(values, "drift")), 2.5e-7);
    ck_assert_str_eq(text_of(values, "verdict"), "tab\there, bell\a");
    json_decref(root);
    expect_in(outcome->out, "87.97,");
}
END_TEST

START_TEST(run_prints_report_tables_aligned)
{
    write_reporter_ini("");
    const outcome_t *outcome = shell("backplane run '%s'", ini_file);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "reporter in world main\n"
                            "  periods:\n"
                            "  name  period  period\n"
                            "  a      87.97  1e-3\n"
                            "  b      -4332  n/a\n"
                            "\n"
                            "  drift    2.5e-7\n"
                            "  verdict  tab\\there, bell\\x07\n");
}
END_TEST

/* Numbers, and numbers with "%" behind them, stand below each other by their ends; where a cell of a column is another
 * text, all of them stand by their beginnings. */
START_TEST(a_column_of_figures_is_aligned_to_the_right)
{
    static const struct { const char *cells[4], *rows; } tables[] = {
        {{"5 %", "1e+3", "12%", "-"}, "\n  a        5 %    1e+3\n  b        12%       -\n"},
        {{"%", "1e+", "12%", "2"}, "\n  a     %       1e+\n  b     12%     2\n"},
        {{"5 x%", "1.e5", "", "007"}, "\n  a     5 x%    1.e5\n  b             007\n"},
        {{"-0.5E-7", "+1.25", "", "12"}, "\n  a     -0.5E-7   +1.25\n  b                  12\n"},
    };
    write_reporter_ini("");
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const char *const *cells = tables[i].cells;
        expect(shell("sed 's,\"87.97\",\"%s\",; s,\"1e-3\",\"%s\",; s,\"-4332\",\"%s\",; s,\"n/a\",\"%s\",' "
                     "tests/program/plugins/reporter.c | ${CC:-cc} -shared -fPIC -I plugin_api -x c - -o '"
                     TEST_SCRATCH_DIR "/reporter.so'", cells[0], cells[1], cells[2], cells[3]), 0, NULL);
        expect_in(shell("backplane run '%s'", ini_file)->out, tables[i].rows);
    }
}
END_TEST

START_TEST(several_tables_of_a_report_are_all_printed)
{
    write_reporter_ini("[plugin reporter]\nagain = true\n");
    const outcome_t *outcome = shell("backplane run '%s'", ini_file);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "  b      -4332  n/a\n"
                            "\n"
                            "  again:\n"
                            "  name  period  period\n"
                            "  b      -4332  n/a\n");
}
END_TEST

START_TEST(values_of_eight_bytes_are_found_among_many)
{
    write_reporter_ini("[spawn main many]\ncount = 200\ncomponents = reporter\n");
    const outcome_t *outcome = shell("printf 'find main reporter.total > 0\\nfind main reporter.total <= 0\\n"
                                     "find main reporter.total is nan\\n' | backplane console '%s'", ini_file);
    expect(outcome, 0, NULL);
    ck_assert_int_eq(strncmp(outcome->out, "0 entities\n", 11), 0);
    expect_in(outcome->out, "201 entities\n  the first 20 are shown\n0 entities\n");
}
END_TEST

START_TEST(logged_error_makes_the_status_one)
{
    write_reporter_ini("[plugin reporter]\ncomplains = true\n");
    const outcome_t *outcome = shell("backplane run '%s' --json", ini_file);
    expect(outcome, 1, "backplane: reporter: the file cannot be written\n");
    json_decref(parse_output(outcome));
    expect(shell("echo report | backplane console '%s'", ini_file), 1, "the file cannot be written");
    expect(shell("backplane plugins '%s'", ini_file), 0, NULL);
}
END_TEST

START_TEST(order_that_cannot_be_had_is_bad_input)
{
    write_reporter_ini("[world second]\nsystems = lost\n");
    expect_refused(shell("backplane run '%s'", ini_file), "nowhere");
}
END_TEST

START_TEST(piped_output_has_no_escape_codes)
{
    static const char *const environments[] = {"TERM=xterm", "TERM=xterm NO_COLOR=", "TERM=dumb NO_COLOR=1"};
    write_file(ini_file, many_bodies);
    const outcome_t *outcome = shell("env %s '" TEST_BACKPLANE "' run '%s'", environments[_i], ini_file);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "World  Unit");
    expect_not_in(outcome->out, "\033");
}
END_TEST

/* Enough steps for a bar to be drawn more than once if there were one. */
#if defined(BACKPLANE_SANITIZED)
enum { SECONDS_OF_STEPS = 150000 };
#else
enum { SECONDS_OF_STEPS = 2000000 };
#endif

START_TEST(piped_run_draws_no_bar)
{
    write_file(ini_file, many_bodies);
    const outcome_t *outcome = shell("backplane run '%s' --steps %d", ini_file, SECONDS_OF_STEPS);
    expect(outcome, 0, NULL);
    expect_not_in(outcome->out, "\r");
}
END_TEST

static const char *const printing_lines[] = {
    "backplane --help",
    "backplane --version",
    "backplane run --help",
    "backplane run '" TEST_SCRATCH_DIR "/program.ini'",
    "backplane run --json '" TEST_SCRATCH_DIR "/program.ini'",
    "backplane plugins '" TEST_SCRATCH_DIR "/program.ini'",
    "backplane plugins --json '" TEST_SCRATCH_DIR "/program.ini'",
    "echo worlds | backplane console '" TEST_SCRATCH_DIR "/program.ini'",
};

START_TEST(output_that_cannot_be_written_is_an_error)
{
    write_file(ini_file, many_bodies);
    expect(shell("%s > /dev/full", printing_lines[_i]), 1, "backplane: the output cannot be written");
    expect(shell("%s >&-", printing_lines[_i]), 1, "backplane: the output cannot be written");
}
END_TEST

/* Else the first file that is opened would be the standard output or error, and have in it what is said there. */
START_TEST(files_do_not_get_what_is_meant_for_a_closed_standard_file)
{
    static const char ini[] = "[host]\nplugins = point_mass debug_name recorder\nsteps = 8\n"
                              "[plugin recorder]\nproperties = main/one.point_mass.position\n"
                              "csv = " TEST_SCRATCH_DIR "/closed.csv\n"
                              "[world main]\ncomponents = point_mass debug_name\nsystems = recorder\n"
                              "[spawn main one]\ncomponents = point_mass debug_name\ndebug_name.name = one\n";
    static const char *const closed[] = {"", ">&-", "2>&-", "<&-", "<&- >&- 2>&-"};
    static char kept[OUTPUT_MAX];
    write_file(ini_file, ini);
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
        const outcome_t *outcome = shell("backplane run '%s' -v %s", ini_file, closed[i]);
        bool silenced = strchr(closed[i], '>') == closed[i] || strstr(closed[i], " >") != NULL;
        ck_assert_msg(outcome->status == (silenced ? 1 : 0), "%s: status %d", closed[i], outcome->status);
        ck_assert_msg(strstr(outcome->err, "has changed") == NULL, "%s: %s", closed[i], outcome->err);
        outcome = shell("cat '" TEST_SCRATCH_DIR "/closed.csv'");
        expect(outcome, 0, NULL);
        if (i == 0)
            snprintf(kept, sizeof kept, "%s", outcome->out);
        ck_assert_msg(strcmp(outcome->out, kept) == 0, "%s: the file has\n%s", closed[i], outcome->out);
    }
}
END_TEST

/* --- plugins -------------------------------------------------------------------------------------------- */

START_TEST(plugins_as_json_list_fields_with_their_types)
{
    write_file(ini_file, two_bodies);
    const outcome_t *outcome = shell("backplane plugins '%s' --json", ini_file);
    expect(outcome, 0, NULL);
    json_t *root = parse_output(outcome);
    json_t *plugins = json_object_get(root, "plugins");
    ck_assert_uint_eq(json_array_size(plugins), 2);
    json_t *plugin = named(plugins, "point_mass");
    ck_assert_uint_gt(strlen(text_of(plugin, "version")), 0);
    expect_in(text_of(plugin, "file"), "point_mass");
    ck_assert_int_eq(count_of(plugin, "abi_major"), BP_ABI_MAJOR);
    json_t *component = named(json_object_get(plugin, "components"), "point_mass");
    json_t *properties = json_object_get(component, "properties");
    ck_assert_str_eq(text_of(named(properties, "mass"), "type"), "f32");
    ck_assert_str_eq(text_of(named(properties, "position"), "type"), "vec3");
    ck_assert_str_eq(text_of(named(properties, "velocity"), "type"), "vec3");
    ck_assert_str_eq(text_of(named(properties, "acceleration"), "type"), "vec3");
    ck_assert_uint_eq(json_array_size(json_object_get(named(properties, "position"), "default")), 3);
    json_t *names = named(json_object_get(named(plugins, "debug_name"), "components"), "debug_name");
    ck_assert_str_eq(text_of(named(json_object_get(names, "properties"), "name"), "type"), "string");
    json_decref(root);
}
END_TEST

START_TEST(plugins_as_json_have_defaults_ranges_units_and_options)
{
    write_reporter_ini("");
    const outcome_t *outcome = shell("backplane plugins '%s' --json", ini_file);
    expect(outcome, 0, NULL);
    json_t *root = parse_output(outcome);
    json_t *plugin = named(json_object_get(root, "plugins"), "reporter");
    ck_assert_str_eq(text_of(plugin, "version"), "0.3");
    json_t *option = named(json_object_get(plugin, "options"), "complains");
    ck_assert_str_eq(text_of(option, "type"), "bool");
    ck_assert(json_is_false(json_object_get(option, "default")));
    json_t *component = named(json_object_get(plugin, "components"), "reporter");
    json_t *properties = json_object_get(component, "properties");
    json_t *level = named(properties, "level");
    ck_assert_int_eq(count_of(level, "default"), 3);
    ck_assert_int_eq(count_of(level, "min"), 0);
    ck_assert_int_eq(count_of(level, "max"), 10);
    ck_assert_str_eq(text_of(level, "unit"), "dB");
    ck_assert_str_eq(text_of(level, "doc"), "how loud");
    ck_assert(json_is_false(json_object_get(level, "read_only")));
    ck_assert(json_is_true(json_object_get(named(properties, "total"), "read_only")));
    ck_assert_str_eq(text_of(named(properties, "tint"), "default"), "#ff8000");
    json_t *after = json_object_get(named(json_object_get(plugin, "systems"), "lost"), "after");
    ck_assert_uint_eq(json_array_size(after), 2);
    ck_assert_str_eq(json_string_value(json_array_get(after, 1)), "nowhere");
    json_decref(root);
}
END_TEST

START_TEST(plugins_are_described_for_people)
{
    write_reporter_ini("");
    const outcome_t *outcome = shell("backplane plugins '%s'", ini_file);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "reporter 0.3  ");
    expect_in(outcome->out, "options, under [plugin reporter]\n");
    expect_in(outcome->out, "component reporter\n    reports\n");
    expect_in(outcome->out, "    level     i32             3        dB    0 to 10  how loud\n");
    expect_in(outcome->out, "    total     f64, read only  0\n");
    expect_not_in(outcome->out, "\033");
}
END_TEST

START_TEST(plugins_show_what_systems_touch)
{
    write_file(ini_file, "[host]\nplugins = point_mass gravity\n[world main]\ncomponents = point_mass\n"
                         "systems = gravity\n");
    expect_in(shell("backplane plugins '%s'", ini_file)->out,
              "    with point_mass; reads mass, position, velocity; writes acceleration\n");
    json_t *root = parse_output(shell("backplane plugins '%s' --json", ini_file));
    json_t *plugin = named(json_object_get(root, "plugins"), "gravity");
    json_t *system = named(json_object_get(plugin, "systems"), "gravity");
    json_t *term = json_array_get(json_object_get(system, "terms"), 0);
    ck_assert_str_eq(text_of(term, "component"), "point_mass");
    const json_t *fields = json_object_get(term, "fields");
    ck_assert_uint_eq(json_array_size(fields), 4);
    ck_assert_str_eq(text_of(json_array_get(fields, 1), "name"), "position");
    ck_assert_str_eq(text_of(json_array_get(fields, 1), "type"), "vec3");
    ck_assert(json_is_false(json_object_get(json_array_get(fields, 1), "write")));
    ck_assert(json_is_true(json_object_get(json_array_get(fields, 3), "write")));
    ck_assert(json_is_array(json_object_get(system, "before")));
    json_decref(root);
}
END_TEST

/* --- console -------------------------------------------------------------------------------------------- */

static void expect_vector(const char *text, double x, double y, double z)
{
    double v[3];
    ck_assert_msg(sscanf(text, "%lf %lf %lf", &v[0], &v[1], &v[2]) == 3, "no vector: %s", text);
    ck_assert_double_eq_tol(v[0], x, 1e-4);
    ck_assert_double_eq_tol(v[1], y, 1e-4);
    ck_assert_double_eq_tol(v[2], z, 1e-4);
}

START_TEST(console_moves_a_body_by_steps)
{
    const outcome_t *outcome = console(two_bodies, "get main/earth.body.position\n"
                                                   "set main/earth.body.velocity 0 0 4\n"
                                                   "step 10\n"
                                                   "get main/earth.body.position\n"
                                                   "step\n");
    expect(outcome, 0, NULL);
    expect_vector(outcome->out, 1, 0, 0);
    const char *stepped = strstr(outcome->out, "main: step 10, time 1\n");
    ck_assert_msg(stepped != NULL, "%s", outcome->out);
    expect_vector(strchr(stepped, '\n'), 1, 0, 4);
    expect_in(outcome->out, "main: step 11, time 1.1\n");
}
END_TEST

START_TEST(console_prints_values_as_set_takes_them)
{
    const outcome_t *outcome = console(two_bodies, "set main/earth.body.mass 0.25\n"
                                                   "get main/earth.body.mass\n"
                                                   "set main/earth.name.name  blue  earth \n"
                                                   "get \"main/blue  earth.name.name\"\n"
                                                   "set \"main/blue  earth.name.name\" \"a \\\"b\\\"\"\n"
                                                   "get \"main/a \\\"b\\\".name.name\"\n"
                                                   "set main/#0:1.name.name \"\"\n"
                                                   "get main/#0:1.name.name\n");
    expect(outcome, 0, NULL);
    ck_assert_str_eq(outcome->out, "0.25\nblue  earth\na \"b\"\n\n");
}
END_TEST

START_TEST(console_shows_control_characters_of_texts)
{
    const outcome_t *outcome = console(two_bodies, "set main/earth.name.name \033[31mred\n"
                                                   "get main/#0:1.name.name\n"
                                                   "entities\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "\\x1b[31mred\n");
    expect_not_in(outcome->out, "\033");
}
END_TEST

START_TEST(console_lists_properties_of_a_component)
{
    const outcome_t *outcome = console(two_bodies, "get main/earth.body\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "Property");
    expect_in(outcome->out, "\nmass ");
    expect_in(outcome->out, "\nposition ");
    expect_in(outcome->out, "  1 0 0  ");
    expect_in(outcome->out, "vec3");
}
END_TEST

START_TEST(console_lists_components_of_an_entity)
{
    const outcome_t *outcome = console(two_bodies, "get main/earth\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "\nbody.mass ");
    expect_in(outcome->out, "\nbody.velocity ");
    expect_in(outcome->out, "\nname.name ");
    expect_in(outcome->out, "  earth  ");
}
END_TEST

/* A line that fails, and what the message must hold. */
static const struct { const char *line; const char *message; } bad_lines[] = {
    {"gte main/earth.body.mass", "no command 'gte'; did you mean 'get'?\n"},
    {"frobnicate", "no command 'frobnicate'; help lists them\n"},
    {"get", "get needs a path"},
    {"get earth", "world/entity.component.property"},
    {"get main/", "world/entity.component.property"},
    {"get mian/earth.body.mass", "no world 'mian'; did you mean 'main'?\n"},
    {"get elsewhere/earth", "no world 'elsewhere'; there is: main\n"},
    {"get main/erth", "no entity 'erth' in world main; did you mean 'earth'?"},
    {"get main/erth.body", "no entity 'erth' in world main; did you mean 'earth'?"},
    {"get main/erth.body.mass", "main/erth.body.mass: no entity of world 'main' is called 'erth'"},
    {"get main/earth.bdoy", "no component 'bdoy'; did you mean 'body'?"},
    {"get main/earth.bdoy.mass", "did you mean 'body'?"},
    {"get main/earth.body.masss", "no property 'masss' in point_mass; did you mean 'mass'?"},
    {"get main/#0:2", "entity #0:2 is dead"},
    {"get main/#0:2.body", "entity #0:2 is dead"},
    {"get main/#0:2.body.mass", "entity #0:2 is dead"},
    {"get main/#99999999:1.body.mass", "#99999999:1"},
    {"get main/#99999999999999999999:1", "#99999999999999999999:1"},
    {"get main/earth.body.mass again", "'again' is one word too many"},
    {"get \"main/earth.body.mass", "a quoted word ends with a quote"},
    {"get \"main/earth\".body", "a quoted word ends with a quote"},
    {"set main/earth.body.mass", "set needs a path and a value"},
    {"set main/earth.body.mass heavy", "'heavy' is not a number"},
    {"set main/earth.body.mass -1", "outside its range"},
    {"set main/earth.body.mass 1 2", "1 2"},
    {"set main/earth.body.position 1 2", "1 2"},
    {"set main/earth.body 1", "main/earth.body"},
    {"set main/#0:2.body.mass 1", "entity #0:2 is dead"},
    {"set main/earth.name.name \"open", "a quoted word ends with a quote"},
    {"step ten", "'ten' is no number of steps"},
    {"step -1", "'-1' is no number of steps"},
    {"step 1 2", "'2' is one word too many"},
    {"entities mian", "no world 'mian'; did you mean 'main'?"},
    {"entities main many", "'many' is no number of entities"},
    {"plugins point_mas", "no plugin 'point_mas' is loaded; did you mean 'point_mass'?"},
    {"help gte", "no command 'gte'; did you mean 'get'?"},
    {"worlds main", "'main' is one word too many"},
    {"stats now", "'now' is one word too many"},
    {"report now", "'now' is one word too many"},
    {"quit now", "'now' is one word too many"},
};

START_TEST(console_goes_on_after_a_bad_line_and_remembers_it)
{
    char input[512];
    snprintf(input, sizeof input, "# a comment\n\n%s\nget main/earth.body.mass\n", bad_lines[_i].line);
    const outcome_t *outcome = console(two_bodies, input);
    expect(outcome, 1, bad_lines[_i].message);
    ck_assert_msg(strncmp(outcome->err, "backplane: line 3: ", 19) == 0, "%s", outcome->err);
    ck_assert_ptr_eq(strchr(outcome->err, '\n') + 1, outcome->err + strlen(outcome->err));
    ck_assert_str_eq(outcome->out, "3\n");
}
END_TEST

START_TEST(console_names_the_entities_that_share_a_name)
{
    const outcome_t *outcome = console(two_bodies, "set main/moon.name.name earth\nget main/earth\n");
    expect(outcome, 1, "line 2: 2 entities are called 'earth': #0:1, #1:1; name one by its id");
}
END_TEST

START_TEST(console_lists_entities_up_to_a_number)
{
    const outcome_t *outcome = console(many_bodies, "entities main 3\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "main: 50 entities\n");
    expect_in(outcome->out, "  #2:1 ");
    expect_not_in(outcome->out, "  #3:1 ");
    expect_in(outcome->out, "  ... and 47 more\n");
    outcome = console(many_bodies, "entities\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "  ... and 30 more\n");
    expect_in(outcome->out, "other: 0 entities\n");
    outcome = console(many_bodies, "entities 60\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "  #49:1 ");
    expect_not_in(outcome->out, " more\n");
}
END_TEST

START_TEST(a_number_behind_entities_may_be_a_worlds_name)
{
    const outcome_t *outcome = console("[host]\nplugins = point_mass\n"
                                       "[world 3]\ncomponents = point_mass\n"
                                       "[spawn 3 crowd]\ncount = 50\ncomponents = point_mass\n"
                                       "[world other]\n", "entities 3\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "  #19:1 ");
    expect_in(outcome->out, "  ... and 30 more\n");
    expect_not_in(outcome->out, "other");
}
END_TEST

START_TEST(console_lists_entities_with_names_and_components)
{
    const outcome_t *outcome = console(two_bodies, "entities\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "  #0:1    earth  ");
    expect_in(outcome->out, "body:point_mass");
    expect_in(outcome->out, "name:debug_name");
}
END_TEST

START_TEST(console_tells_of_worlds_plugins_stats_and_commands)
{
    const outcome_t *outcome = console(two_bodies, "step 4\nworlds\nplugins\nplugins point_mass\nstats\n"
                                                   "help\nhelp get\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "main       4   0.4          0.1         2  point_mass debug_name\n");
    expect_in(outcome->out, "\npoint_mass ");
    expect_in(outcome->out, "  component point_mass");
    expect_in(outcome->out, "World  Unit        Plugin");
    expect_in(outcome->out, "\nset PATH VALUE ");
    expect_in(outcome->out, "get PATH\n  print a property");
}
END_TEST

START_TEST(console_prints_reports)
{
    write_reporter_ini("");
    const outcome_t *outcome = shell("echo report | backplane console '%s'", ini_file);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "reporter in world main\n");
}
END_TEST

START_TEST(console_ends_at_quit_and_prints_no_prompt)
{
    const outcome_t *outcome = console(two_bodies, "get main/earth.body.mass\nquit\nnonsense\n");
    expect(outcome, 0, NULL);
    ck_assert_str_eq(outcome->out, "3\n");
}
END_TEST

START_TEST(console_takes_a_last_line_without_an_end_and_windows_line_ends)
{
    const outcome_t *outcome = console(two_bodies, "get main/earth.body.mass\r\n"
                                                   "set main/earth.body.mass 5\r\n"
                                                   "get main/earth.body.mass");
    expect(outcome, 0, NULL);
    ck_assert_str_eq(outcome->out, "3\n5\n");
}
END_TEST

START_TEST(console_refuses_what_is_read_only_or_out_of_range)
{
    write_reporter_ini("[world names]\n");
    write_file(input_file, "set main/#0:1.reporter.total 1\nset main/#0:1.reporter.level 11\n"
                           "get main/#0:1.reporter.level\n");
    const outcome_t *outcome = shell("backplane console '%s' < '%s'", ini_file, input_file);
    expect(outcome, 1, "line 1: ");
    expect_in(outcome->err, "read only");
    expect_in(outcome->err, "line 2: ");
    expect_in(outcome->err, "10");
    ck_assert_str_eq(outcome->out, "3\n");
}
END_TEST

START_TEST(console_without_debug_names_asks_for_ids)
{
    const outcome_t *outcome = console(many_bodies, "get main/earth\nget main/#4:1.point_mass.mass\n");
    expect(outcome, 1, "world main has no debug names; name an entity as #index:generation, not 'earth'");
    ck_assert_str_eq(outcome->out, "1\n");
}
END_TEST

START_TEST(console_skips_a_line_that_is_too_long)
{
    write_file(ini_file, two_bodies);
    const outcome_t *outcome = shell("{ printf '%%065535d\\n' 0; printf '%%065536d\\n' 0; echo worlds; } |"
                                     " backplane console '%s'",
                                     ini_file);
    expect(outcome, 1, "backplane: line 1: no command '0000");
    expect_in(outcome->err, "backplane: line 2: the line is longer than 65535 bytes");
    expect_in(outcome->out, "point_mass");
}
END_TEST

START_TEST(console_survives_bytes_of_any_kind)
{
    write_file(ini_file, two_bodies);
    const outcome_t *outcome = shell("{ printf 'get \\000\\377\\001/\\n\\000\\n\"\\n';"
                                     " echo 'get main/earth.body.mass'; } | backplane console '%s'",
                                     ini_file);
    expect(outcome, 1, "line 1: ");
    expect_in(outcome->err, "line 2: no command '?'");
    expect_in(outcome->err, "line 3: a quoted word");
    expect_in(outcome->err, "\\x01");
    expect_not_in(outcome->err, "\001");
    ck_assert_str_eq(outcome->out, "3\n");
}
END_TEST

/* --- suite ---------------------------------------------------------------------------------------------- */

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static TCase *arguments_case(void)
{
    TCase *tests = tcase_create("arguments");
    tcase_add_test(tests, help_tells_of_every_command);
    tcase_add_loop_test(tests, each_command_has_its_own_help, 0, 3);
    tcase_add_test(tests, version_is_printed);
    tcase_add_loop_test(tests, bad_arguments_are_refused, 0, COUNT(bad_arguments));
    tcase_add_loop_test(tests, bad_ini_is_refused_by_every_command, 0, COUNT(bad_inis));
    tcase_add_test(tests, missing_ini_is_refused);
    tcase_add_test(tests, ini_may_begin_with_a_dash_behind_two_dashes);
    return tests;
}

static TCase *run_case(void)
{
    TCase *tests = tcase_create("run");
    tcase_add_test(tests, run_reports_steps_worlds_and_units);
    tcase_add_test(tests, run_takes_the_steps_of_the_ini_unless_told_otherwise);
    tcase_add_test(tests, run_without_a_number_of_steps_says_where_to_write_it);
    tcase_add_test(tests, run_as_json_has_everything);
    tcase_add_test(tests, run_as_json_turns_report_tables_into_objects);
    tcase_add_test(tests, run_prints_report_tables_aligned);
    tcase_add_test(tests, a_column_of_figures_is_aligned_to_the_right);
    tcase_add_test(tests, several_tables_of_a_report_are_all_printed);
    tcase_add_test(tests, values_of_eight_bytes_are_found_among_many);
    tcase_add_test(tests, logged_error_makes_the_status_one);
    tcase_add_test(tests, order_that_cannot_be_had_is_bad_input);
    tcase_add_loop_test(tests, piped_output_has_no_escape_codes, 0, 3);
    tcase_add_test(tests, piped_run_draws_no_bar);
    tcase_add_loop_test(tests, output_that_cannot_be_written_is_an_error, 0, COUNT(printing_lines));
    tcase_add_test(tests, files_do_not_get_what_is_meant_for_a_closed_standard_file);
    return tests;
}

static TCase *plugins_case(void)
{
    TCase *tests = tcase_create("plugins");
    tcase_add_test(tests, plugins_as_json_list_fields_with_their_types);
    tcase_add_test(tests, plugins_as_json_have_defaults_ranges_units_and_options);
    tcase_add_test(tests, plugins_are_described_for_people);
    tcase_add_test(tests, plugins_show_what_systems_touch);
    return tests;
}

static TCase *console_case(void)
{
    TCase *tests = tcase_create("console");
    tcase_add_test(tests, console_moves_a_body_by_steps);
    tcase_add_test(tests, console_prints_values_as_set_takes_them);
    tcase_add_test(tests, console_shows_control_characters_of_texts);
    tcase_add_test(tests, console_lists_properties_of_a_component);
    tcase_add_test(tests, console_lists_components_of_an_entity);
    tcase_add_loop_test(tests, console_goes_on_after_a_bad_line_and_remembers_it, 0, COUNT(bad_lines));
    tcase_add_test(tests, console_names_the_entities_that_share_a_name);
    tcase_add_test(tests, console_lists_entities_up_to_a_number);
    tcase_add_test(tests, a_number_behind_entities_may_be_a_worlds_name);
    tcase_add_test(tests, console_lists_entities_with_names_and_components);
    tcase_add_test(tests, console_tells_of_worlds_plugins_stats_and_commands);
    tcase_add_test(tests, console_prints_reports);
    tcase_add_test(tests, console_ends_at_quit_and_prints_no_prompt);
    tcase_add_test(tests, console_takes_a_last_line_without_an_end_and_windows_line_ends);
    tcase_add_test(tests, console_refuses_what_is_read_only_or_out_of_range);
    tcase_add_test(tests, console_without_debug_names_asks_for_ids);
    tcase_add_test(tests, console_skips_a_line_that_is_too_long);
    tcase_add_test(tests, console_survives_bytes_of_any_kind);
    return tests;
}

Suite *program_suite(void)
{
    Suite *suite = suite_create("program");
    TCase *cases[] = {arguments_case(), run_case(), plugins_case(), console_case()};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tcase_add_checked_fixture(cases[i], make_scratch_folder, NULL);
        tcase_set_timeout(cases[i], 60);
        suite_add_tcase(suite, cases[i]);
    }
    return suite;
}
