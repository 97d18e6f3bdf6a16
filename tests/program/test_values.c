/* test_values.c - values of every shape from outside: console, listings, schema, scenes, dump, save and load.
 *
 * The plugin cargo of plugins/cargo.c is built here as users build theirs.
 */
#include "../suites.h"
#include "shell.h"

#include <check.h>
#include <jansson.h>
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

/* How often a property of that name is described below a node, and how often of these with that unit (NULL: none). */
static void count_units(const json_t *node, const char *property, const char *unit, uint32_t found[2])
{
    const char *name;
    json_t *child;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)node, name, child)
    {
        const char *said = json_string_value(json_object_get(child, "unit"));
        if (strcmp(name, property) == 0 && json_object_get(child, "description") != NULL) {
            found[0]++;
            found[1] += unit == NULL || said == NULL ? unit == said : strcmp(unit, said) == 0;
        }
        count_units(child, property, unit, found);
    }
    json_array_foreach(node, i, child) count_units(child, property, unit, found);
}

/* For tools a unit stands by itself, beside the description; a property without a unit has none. */
START_TEST(the_schema_has_units_of_single_values_and_lists)
{
    static const char *const wanted[][2] = {{"weight", "kg"}, {"lots", "kg"}, {"route", "m"}, {"state", NULL}};
    write_file(ini_file, "[host]\nplugins = ./cargo.so\n");
    const outcome_t *outcome = shell("backplane schema '%s'", ini_file);
    expect(outcome, 0, NULL);
    json_t *schema = json_loads(outcome->out, 0, NULL);
    ck_assert_ptr_nonnull(schema);
    for (uint32_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        uint32_t found[2] = {0, 0};
        count_units(schema, wanted[i][0], wanted[i][1], found);
        ck_assert_uint_gt(found[0], 0);
        ck_assert_uint_eq(found[0], found[1]);
    }
    json_decref(schema);
}
END_TEST

static const char team_ini[] = "[host]\nplugins = ./team.so\n[world main]\ncomponents = team\n"
                               "[spawn main x]\ncomponents = team\nteam.side = red\n";

START_TEST(a_hidden_field_is_in_no_listing_and_in_no_schema)
{
    static const char *const commands[] = {"plugins", "plugins --json", "schema"};
    expect(shell("${CC:-cc} -shared -fPIC -I plugin_api examples/plugin/team.c -o '" SCRATCH "/team.so'"), 0, NULL);
    write_file(ini_file, team_ini);
    for (uint32_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const outcome_t *outcome = shell("backplane %s '%s'", commands[i], ini_file);
        expect(outcome, 0, NULL);
        expect_in(outcome->out, "side");
        ck_assert_msg(strstr(outcome->out, "counted") == NULL, "%s tells of it", commands[i]);
    }
    expect(console(team_ini, "get main/#0:1.team.counted\n"), 1, "no property 'counted' in team (it has side)");
}
END_TEST

/* --- arrays and lists --------------------------------------------------------------------------------------------- */

static const char hold_ini[] = "[host]\nplugins = ./cargo.so debug_name\n"
                               "[world main]\ncomponents = hold debug_name\n"
                               "[spawn main one]\ncomponents = hold debug_name\ndebug_name.name = one\n"
                               "hold.lots = [1, 2.5]\nhold.labels = [\"a, b\", c]\nhold.berths = [7, 8, 9]\n";

START_TEST(arrays_and_lists_are_shown_and_set_whole_and_by_element)
{
    expect_out(console(hold_ini,
                       "get main/one.hold.lots\nget main/one.hold.lots[1]\nget main/one.hold.labels\n"
                       "get main/one.hold.labels[0]\nget main/one.hold.berths\nget main/one.hold.route\n"
                       "set main/one.hold.lots[2] 4\nset main/one.hold.labels [\"x \\\"y\\\"\", z]\n"
                       "set main/one.hold.berths[1] 0\nset main/one.hold.route [1 2 3, 0.1 0 0]\n"
                       "set main/one.hold.states [full, 4]\nset main/one.hold.mates [one, none]\n"
                       "get main/one.hold.lots\nget main/one.hold.labels\nget main/one.hold.berths\n"
                       "get main/one.hold.route\nget main/one.hold.states\nget main/one.hold.mates\n"
                       "set main/one.hold.lots []\nget main/one.hold.lots\n"),
               "[1, 2.5]\n2.5\n[\"a, b\", \"c\"]\na, b\n[7, 8, 9]\n[]\n"
               "[1, 2.5, 4]\n[\"x \\\"y\\\"\", \"z\"]\n[7, 0, 9]\n[1 2 3, 0.1 0 0]\n[full, loading]\n"
               "[#0:1, none]\n[]\n");
}
END_TEST

START_TEST(a_table_has_the_beginning_of_a_long_list_and_get_all_of_it)
{
    char lines[32 * 1024] = "set main/one.hold.labels [";
    for (uint32_t i = 0; i < 900; i++)
        snprintf(lines + strlen(lines), 32, "%slabel \xc3\xa9 %u", i > 0 ? ", " : "", i);
    strcat(lines, "]\nget main/one.hold\nget main/one.hold.labels\n");
    const outcome_t *outcome = console(hold_ini, lines);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "labels    [\"label \xc3\xa9 0\", ");
    expect_in(outcome->out, " ...  ");
    expect_in(outcome->out, "list of string");
    expect_in(outcome->out, "array of 3 u16");
    expect_in(outcome->out, "label \xc3\xa9 899\"]\n");
    for (uint32_t i = 0; i < 2; i++) { /* no letter is cut in two */
        snprintf(lines, sizeof lines, "set main/one.hold.labels [%s", i == 0 ? "" : "x");
        for (uint32_t k = 0; k < 50; k++)
            strcat(lines, "\xc3\xa9");
        strcat(lines, "]\nget main/one.hold\n");
        outcome = console(hold_ini, lines);
        expect(outcome, 0, NULL);
        expect_in(outcome->out, "\xc3\xa9 ...  ");
    }
}
END_TEST

START_TEST(what_is_wrong_with_an_element_is_told)
{
    expect(console(hold_ini, "set main/one.hold.lots[3] 1\n"), 1, "has 2 values, and none of number 3");
    expect(console(hold_ini, "set main/one.hold.lots [1, -1]\n"), 1, "lots: item 1: lots = -1 is outside its range");
    expect(console(hold_ini, "get main/one.hold.berths[3]\n"), 1, "has the elements 0 to 2, and no 3");
}
END_TEST

START_TEST(arrays_and_lists_are_listed_as_such)
{
    write_file(ini_file, hold_ini);
    expect_in(shell("backplane plugins '%s'", ini_file)->out, "list of dvec3");
    json_t *listed = parse_output(shell("backplane plugins '%s' --json", ini_file));
    json_t *components = json_object_get(named(json_object_get(listed, "plugins"), "cargo"), "components");
    json_t *fields = json_object_get(named(components, "hold"), "properties");
    json_t *berths = named(fields, "berths"), *sealed = named(fields, "sealed"), *labels = named(fields, "labels");
    ck_assert_int_eq(count_of(berths, "count"), 3);
    ck_assert(json_is_false(json_object_get(berths, "list")) && json_is_true(json_object_get(labels, "list")));
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(berths, "default"), 2)), 3);
    ck_assert(json_is_true(json_array_get(json_object_get(sealed, "default"), 1)));
    ck_assert(json_is_array(json_object_get(labels, "default")));
    ck_assert_uint_eq(json_array_size(json_object_get(labels, "default")), 0);
    json_decref(listed);
}
END_TEST

static const char hold_scene[] =
    "{\"entities\": [\n"
    " {\"name\": \"a\", \"components\": {\"debug_name\": {}, \"hold\": {\"lots\": [1, 2], \"labels\": [\"x\", \"y "
    "z\"], \"route\": [[1, 2, 3], \"4 5 6\"], \"mates\": [\"b\", null], \"states\": [\"full\", 4]}}},\n"
    " {\"name\": \"b\", \"components\": {\"debug_name\": {}, \"hold\": {\"berths\": [4, 5, 6], \"lots\": \"[3]\"}}}\n"
    "]}\n";

START_TEST(scenes_hold_lists_and_their_dump_compiles_to_the_same)
{
    write_file(ini_file, hold_ini);
    write_file(SCRATCH "/hold.json", hold_scene);
    expect(shell("backplane compile --ini '%s' " SCRATCH "/hold.json -o " SCRATCH "/hold.bpe", ini_file), 0, NULL);
    const outcome_t *outcome = shell("backplane dump " SCRATCH "/hold.bpe");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "lots [1, 2]");
    expect(shell("backplane dump --json " SCRATCH "/hold.bpe > " SCRATCH
                 "/again.json && backplane compile --ini '%s' " SCRATCH "/again.json -o " SCRATCH
                 "/again.bpe && cmp " SCRATCH "/hold.bpe " SCRATCH "/again.bpe",
                 ini_file),
           0, NULL);
    expect_in(console(hold_ini, "spawn " SCRATCH "/hold.json main\nget main/a.hold.route\nget main/b.hold.lots\n")->out,
              "[1 2 3, 4 5 6]\n[3]\n");
}
END_TEST

START_TEST(a_world_s_own_units_stand_where_units_are_printed)
{
    static const char named[] = "[host]\nplugins = ./cargo.so point_mass debug_name recorder\n"
                                "[plugin recorder]\n"
                                "properties = main/one.point_mass.velocity main/one.point_mass.mass\n"
                                "csv = " SCRATCH "/units.csv\n"
                                "[world main]\nunits = kg=solar mass, m=au, s=day\n"
                                "components = hold point_mass debug_name\nsystems = recorder\n"
                                "[spawn main one]\ncomponents = hold point_mass debug_name\ndebug_name.name = one\n";
    const outcome_t *outcome = console(named, "step 2\nget main/one.hold\nget main/one.point_mass\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "  solar mass  list of f32");
    expect_in(outcome->out, "  au/day ");
    expect_in(outcome->out, "  au/day^2 ");
    expect(console(named, "set main/one.point_mass.mass -2\n"), 1, "outside its range: at least 0 solar mass");
    expect(console(named, "set main/one.hold.lots [1, -1]\n"), 1,
           "lots = -1 is outside its range: at least 0 solar mass");
    expect(console(named, "set main/one.hold.lots[0] -1\n"), 1,
           "lots = -1 is outside its range: at least 0 solar mass");
    outcome = shell("head -1 " SCRATCH "/units.csv");
    expect_in(outcome->out, "time (day),");
    expect_in(outcome->out, "main/one.point_mass.velocity.x (au/day)");
    expect_in(outcome->out, "main/one.point_mass.mass (solar mass)");
    expect(console("[host]\nplugins = point_mass\n[world main]\nunits = kg=stone\ncomponents = point_mass\n"
                   "[spawn main one]\ncomponents = point_mass\npoint_mass.mass = -1\n", "worlds\n"),
           2, "program.ini:8: mass = -1 is outside its range: at least 0 stone");
    expect(console("[world main]\nunits = g=stone\n", "worlds\n"), 2,
           "program.ini:2: world 'main': units: 'g=stone' does not say what kg, m or s is");
}
END_TEST

START_TEST(a_run_shorter_than_the_ini_says_writes_beside_what_a_whole_one_has_written)
{
    static const char steps[] = "[host]\nplugins = ./cargo.so point_mass debug_name recorder\nsteps = 8\n"
                                "[plugin recorder]\nproperties = main/one.point_mass.position\n"
                                "csv = " SCRATCH "/way.csv\nsvg = " SCRATCH "/way.svg\ntitle = The way\n"
                                "[world main]\ncomponents = point_mass debug_name\nsystems = recorder\n"
                                "[spawn main one]\ncomponents = point_mass debug_name\ndebug_name.name = one\n"
                                "point_mass.velocity = 1 0 0\n";
    write_file(ini_file, steps);
    expect(shell("backplane run '%s' && cp " SCRATCH "/way.csv " SCRATCH "/whole.csv && cp " SCRATCH "/way.svg " SCRATCH
                 "/whole.svg && grep -q '<title>The way</title>' " SCRATCH "/way.svg", ini_file), 0, NULL);
    expect(console(steps, "step 3\n"), 0, NULL);
    expect(shell("backplane run '%s' --steps 3", ini_file), 0, NULL);
    expect(shell("cmp " SCRATCH "/way.csv " SCRATCH "/whole.csv && cmp " SCRATCH "/way.svg " SCRATCH "/whole.svg"), 0,
           NULL);
    expect(shell("grep -q '<title>The way: 3 of 8 steps</title>' " SCRATCH "/way.partial.svg && test -s " SCRATCH
                 "/way.partial.csv && test ! -e " SCRATCH "/way.svg.part"), 0, NULL);
    expect(console(steps, "step 9\n"), 0, NULL);
    expect(shell("! cmp -s " SCRATCH "/way.csv " SCRATCH "/whole.csv"), 0, NULL); /* nine steps are eight and more */
}
END_TEST

START_TEST(one_element_is_recorded_and_a_whole_list_is_refused_with_a_sentence)
{
    char recording[1024];
    snprintf(recording, sizeof recording,
             "[host]\nplugins = ./cargo.so debug_name recorder\n"
             "[plugin recorder]\nproperties = main/one.hold.lots[1] main/one.hold.lots main/one.hold.berths\n"
             "csv = " SCRATCH "/lots.csv\n"
             "[world main]\ncomponents = hold debug_name\nsystems = recorder\n"
             "[spawn main one]\ncomponents = hold debug_name\ndebug_name.name = one\nhold.lots = [1, 2.5]\n");
    const outcome_t *outcome = console(recording, "step 2\n");
    expect_in(outcome->err, "it is an array or a list; record one of its values, named like hits[0]");
    outcome = shell("cat " SCRATCH "/lots.csv");
    expect_in(outcome->out, "2.5");
}
END_TEST

/* --- other forms -------------------------------------------------------------------------------------------------- */

static const char odds_ini[] = "[host]\nplugins = ./odds.so\n[world main]\ncomponents = plain given nothing\n"
                               "[spawn main a]\ncomponents = plain given\n";

static void build_odds(void)
{
    expect(shell("${CC:-cc} -shared -fPIC -I plugin_api tests/program/plugins/odds.c -o '" SCRATCH "/odds.so'"), 0,
           NULL);
    write_file(ini_file, odds_ini);
}

static void expect_json(json_t *value, const char *text)
{
    char *written = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    ck_assert_ptr_nonnull(written);
    ck_assert_str_eq(written, text);
    free(written);
}

/* What a host reads as a number is one for tools too; a schema may have nothing else for its limits. */
START_TEST(what_is_declared_in_another_form_is_a_number_or_a_truth_for_tools)
{
    static const char *const defaults[][2] = {
        {"on", "true"}, {"off", "false"}, {"mask", "16"}, {"place", "[1,2,3]"}, {"tint", "\"#ff8000\""},
        {"words", "[\"a \\\"b\\\"\",\"c\\\\d\\n\",\"e f\"]"}, {"either", "[false,true]"}, {"much", "8.0"},
    };
    build_odds();
    json_t *listed = parse_output(shell("backplane plugins '%s' --json", ini_file));
    json_t *components = json_object_get(named(json_object_get(listed, "plugins"), "odds"), "components");
    json_t *fields = json_object_get(named(components, "given"), "properties");
    for (uint32_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++)
        expect_json(json_object_get(named(fields, defaults[i][0]), "default"), defaults[i][1]);
    expect_json(json_object_get(named(fields, "mask"), "max"), "255");
    expect_json(json_object_get(named(fields, "much"), "max"), "16.0");
    json_decref(listed);
    json_t *schema = parse_output(shell("backplane schema '%s'", ini_file));
    json_t *given = json_object_get(json_object_get(schema, "definitions"), "type_given");
    json_t *mask = json_object_get(json_object_get(given, "properties"), "mask");
    expect_json(json_object_get(mask, "minimum"), "0");
    expect_json(json_object_get(mask, "maximum"), "255");
    expect_json(json_object_get(mask, "default"), "16");
    json_decref(schema);
}
END_TEST

/* The default that is listed is the value that an entity gets. */
START_TEST(what_has_no_default_has_that_of_its_type)
{
    static const struct { const char *name, *json, *shown; } values[] = {
        {"flag", "false", "false"}, {"i8", "0", "0"}, {"u8", "0", "0"}, {"i16", "0", "0"}, {"i32", "0", "0"},
        {"i64", "0", "0"}, {"f64", "0", "0"}, {"vec2", "[0,0]", "0 0"}, {"vec3", "[0,0,0]", "0 0 0"},
        {"dvec2", "[0,0]", "0 0"}, {"dvec4", "[0,0,0,0]", "0 0 0 0"}, {"quat", "[0,0,0,1]", "0 0 0 1"},
        {"mat4", "[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]", "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"},
        {"tint", "[0,0,0,0]", "0 0 0 0"}, {"text", "\"\"", ""}, {"other", "\"\"", "none"}, {"kind", "\"\"", ""},
        {"mood", "\"glad\"", "glad"},
    };
    enum { VALUES = sizeof values / sizeof values[0] };
    char lines[1024] = "", shown[1024] = "";
    build_odds();
    json_t *listed = parse_output(shell("backplane plugins '%s' --json", ini_file));
    json_t *components = json_object_get(named(json_object_get(listed, "plugins"), "odds"), "components");
    json_t *fields = json_object_get(named(components, "plain"), "properties");
    ck_assert_uint_eq(json_array_size(fields), VALUES);
    for (uint32_t i = 0; i < VALUES; i++) {
        expect_json(json_object_get(named(fields, values[i].name), "default"), values[i].json);
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "get main/#0:1.plain.%s\n", values[i].name);
        snprintf(shown + strlen(shown), sizeof shown - strlen(shown), "%s\n", values[i].shown);
    }
    json_decref(listed);
    expect_out(console(odds_ini, lines), shown);
    expect_out(console(odds_ini, "create main nothing\nget main/#1:1\nget main/#1:1.nothing\n"),
               "#1:1\nno properties\nno properties\n");
}
END_TEST

START_TEST(a_system_is_listed_with_its_terms)
{
    build_odds();
    const outcome_t *outcome = shell("backplane plugins '%s'", ini_file);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "\n  system sort\n    with plain named big; reads speed (where it has that); writes f64\n"
                            "    with or without given\n    without nothing\n");
    expect_in(outcome->out, "\n    mask      u32                0x10                               at most 0xff\n");
    expect_in(outcome->out, "\n    mood      i32     glad                                   sad=-1 glad\n");
    expect_in(outcome->out, "\n  system gather (parallel)\n    with must; reads marks\n"
                            "    with plain in world NAME.halo\n    with given in world other\n");
    expect_in(outcome->out, "f32, required");
    json_t *listed = parse_output(shell("backplane plugins '%s' --json", ini_file));
    json_t *odds = named(json_object_get(listed, "plugins"), "odds");
    json_t *must = named(json_object_get(odds, "components"), "must"), *fields = json_object_get(must, "properties");
    json_t *gather = named(json_object_get(odds, "systems"), "gather"), *terms = json_object_get(gather, "terms");
    expect_json(json_object_get(must, "at_once"), "true");
    expect_json(json_object_get(named(fields, "given"), "required"), "true");
    expect_json(json_object_get(named(fields, "marks"), "required"), "false");
    expect_json(json_object_get(gather, "parallel"), "true");
    json_t *asked = json_array_get(json_object_get(json_array_get(terms, 0), "fields"), 0);
    expect_json(json_object_get(asked, "list"), "true");
    expect_json(json_object_get(json_array_get(terms, 1), "beside"), "\".halo\"");
    json_decref(listed);
}
END_TEST

static const char rows[] = "[host]\nplugins = ./odds.so\nhistory = 8 MiB\n[world main]\n"
                           "components = plain given\n[spawn main some]\ncount = 40\ncomponents = plain given\n";

/* Each condition that was found first at step 1 was made so from outside; texts are no numbers. */
START_TEST(conditions_on_integers_and_texts_find_the_first_step)
{
    static const struct { const char *condition, *answer; } asked[] = {
        {"plain.i32 < -4", "at step 1 of 1: #30:1 plain.i32 = -5, before 0\n  written from outside: #30:1 0 -> -5\n"},
        {"plain.f64 >= 2.5", "at step 1 of 1: #31:1 plain.f64 = 2.5, before 0\n"
                             "  written from outside: #31:1 0 -> 2.5\n"},
        {"plain.f64 > 2.5", "never in steps 0 to 1\n"},
        {"plain.f64 <= -1e-9", "never in steps 0 to 1\n"},
        {"given.mask > 15", "at step 0 of 1: #0:1 given.mask = 16\n"},
        {"given.mask < 16", "never in steps 0 to 1\n"},
        {"plain.i64 = 77", "at step 1 of 1: #32:1 plain.i64 = 77, before 0\n  written from outside: #32:1 0 -> 77\n"},
        {"plain.u8 != 0", "at step 1 of 1: #33:1 plain.u8 = 3, before 0\n  written from outside: #33:1 0 -> 3\n"},
        {"plain.text is nan", "at step 1 of 1: #9:1 plain.text = a nan, so\n  written from outside: "
                              "#7:1 (none) -> banana; #8:1 (none) -> nancy; #9:1 (none) -> a nan, so\n"},
        {"plain.text < 3", "never in steps 0 to 1\n"},
        {"plain.mat4 = 3", "never in steps 0 to 1\n"},
        {"given.place = 1 2 3", "at step 0 of 1: #0:1 given.place = 1 2 3\n"},
        {"given.words[1] = c\\d", "never in steps 0 to 1\n"},
    };
    char lines[2048] = "set main/#7:1.plain.text banana\nset main/#8:1.plain.text nancy\n"
                       "set main/#9:1.plain.text a nan, so\nset main/#30:1.plain.i32 -5\n"
                       "set main/#31:1.plain.f64 2.5\nset main/#32:1.plain.i64 77\nset main/#33:1.plain.u8 3\n"
                       "find main plain.text <= 3\nfind main plain.text >= 3\nfind main plain.text > 3\n"
                       "find main plain.text != banana\nfind main plain.vec3 > 1\nstep\n";
    build_odds();
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "forward\nwhen main %s\n", asked[i].condition);
    snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "forward\nwhen main given.much = x\n");
    const outcome_t *outcome = console(rows, lines);
    expect(outcome, 1, "at none of these steps: 'x' is not a number, as given.much is");
    expect_in(outcome->out, "0 entities\n0 entities\n0 entities\n");
    expect_in(outcome->out, "39 entities\n  the first 20 are shown\n0 entities\nmain: step 1");
    const char *at = strstr(outcome->out, "main: step 1");
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        const char *begin = strstr(at, "at step 1 of 1\n"), *answer = begin == NULL ? NULL : strchr(begin, '\n') + 1;
        ck_assert_msg(answer != NULL && strncmp(answer, asked[i].answer, strlen(asked[i].answer)) == 0,
                      "%s: no \"%s\" but %.200s", asked[i].condition, asked[i].answer, answer == NULL ? "" : answer);
        at = answer + strlen(asked[i].answer);
    }
    /* Entities that have gone and come in the step are told too. */
    expect_in(console(rows, "set main/#30:1.plain.i32 -5\ndestroy #29:1\ncreate main plain\nstep\n"
                            "when main plain.i32 < -4\n")->out,
              "  written from outside: #29:1 0 -> (none); #30:1 0 -> -5; #40:1 (none) -> 0\n");
}
END_TEST

/* Of 64 bits a double would drop some. */
START_TEST(whole_numbers_are_compared_exactly)
{
    build_odds();
    const outcome_t *outcome =
        console(rows, "set main/#30:1.plain.i64 9007199254740993\nset main/#31:1.plain.i64 -9007199254740993\n"
                      "find main plain.i64 = 9007199254740992\nfind main plain.i64 >= 9007199254740994\n"
                      "find main plain.i64 > 9007199254740992\nfind main plain.i64 <= -9007199254740993\n"
                      "find main plain.i64 < -9007199254740993\nfind main plain.i64 = 9007199254740993\n"
                      "find main plain.i64 < -0.5\nfind main plain.i64 >= +1\n");
    expect(outcome, 0, NULL);
    ck_assert_str_eq(outcome->out, "0 entities\n0 entities\n  #30:1    9007199254740993\n1 entity\n"
                                   "  #31:1    -9007199254740993\n1 entity\n0 entities\n"
                                   "  #30:1    9007199254740993\n1 entity\n  #31:1    -9007199254740993\n1 entity\n"
                                   "  #30:1    9007199254740993\n1 entity\n");
}
END_TEST

/* A plugin with storage of its own may refuse to tell a value: here when three steps have been taken. */
START_TEST(a_value_that_cannot_be_read_is_told_with_the_reason)
{
    static const char purse_ini[] = "[host]\nplugins = ./purse.so\n[world main]\ncomponents = purse\n"
                                    "[spawn main a]\ncomponents = purse\n";
    static const char *const refused[] = {"line 3: it is sewn up", "line 4: it is sewn up", "line 5: it is sewn up",
                                          "line 6: it is sewn up", "line 7: it is sewn up",
                                          "line 8: purse.items cannot be read of any entity of world 'main'"};
    expect(shell("sed 's/    (void)field;/if (purses->items[0] >= 3)\\nreturn m->api->error->set(m->host, "
                 "BP_ERROR_FAILED, \"it is sewn up\");\\n(void)field;/' tests/fixtures/purse.c >'" SCRATCH
                 "/purse.c' && ${CC:-cc} -shared -fPIC -I plugin_api '" SCRATCH "/purse.c' -o '" SCRATCH "/purse.so'"),
           0, NULL);
    const outcome_t *outcome =
        console(purse_ini, "watch main/#0:1.purse.items\nstep 2\nstep\nwatch\nget main/#0:1.purse.items\n"
                           "get main/#0:1\nget main/#0:1.purse\nfind main purse.items > 1\n");
    ck_assert_int_eq(outcome->status, 1);
    ck_assert_str_eq(outcome->out, "  step 1: main/#0:1.purse.items = 1\n"
                                   "  step 2: main/#0:1.purse.items = 2\n"
                                   "main: step 2, time 0.0333333\nmain: step 3, time 0.05\n");
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        expect_in(outcome->err, refused[i]);
}
END_TEST

/* Every kind of value is compared by what it is. Some columns are longer than what is looked at in one go. */
START_TEST(conditions_compare_values_of_every_shape)
{
    static const char many[] =
        "[host]\nplugins = orbit\nhistory = 16 MiB\n[world main]\nstep_rate = 1\ncomponents = orbit\n"
        "[spawn main many]\ncount = 100\ncomponents = orbit\norbit.semi_major_axis = 2\n";
    static const char own[] = "[host]\nplugins = ../fixtures/reload_probe_own\n[world main]\ncomponents = probe\n"
                              "[spawn main own]\ncount = 3\ncomponents = probe\n";
    const outcome_t *outcome =
        console(many, "step 2\nset main/#70:1.orbit.semi_major_axis 5.5\nstep 3\n"
                      "find main orbit.semi_major_axis > 5\nfind main orbit.semi_major_axis = 5.50\n"
                      "find main orbit.revolutions >= 1\nfind main orbit.placed = true\n"
                      "when main orbit.semi_major_axis > 5\nforward\nwhen main orbit.semi_major_axis > 9\n"
                      "when main orbit.revolutions < 0\nwhen main orbit.revolutions < 1\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "  #70:1    5.5\n1 entity\n  #70:1    5.5\n1 entity\n0 entities\n0 entities\n"
                            "at step 3 of 5: #70:1 orbit.semi_major_axis = 5.5, before 2\n"
                            "  written from outside: #70:1 2 -> 5.5\nat step 5 of 5\nnever in steps 0 to 5\n"
                            "never in steps 0 to 5\nat step 0 of 5: #0:1 orbit.revolutions = 0\n");
    expect_out(console(own, "set main/#1:1.probe.mass 4\nfind main probe.mass != 1\nfind main probe.count < 0\n"),
               "  #1:1    4\n1 entity\n0 entities\n");
    expect_out(console(hold_ini, "find main hold.berths[1] = 8\nfind main hold.berths[1] > 8\nfind main hold.lots > 1\n"
                                 "find main hold.lots = [1, 2.5]\nfind main hold.labels[1] = c\n"),
               "  #0:1  one  8\n1 entity\n0 entities\n0 entities\n  #0:1  one  [1, 2.5]\n1 entity\n"
               "  #0:1  one  c\n1 entity\n");
    expect_out(console(ini, "find main cargo.state = full\nfind main cargo.state != full\n"
                            "find main cargo.serial > 1\n"),
               "  #0:1  one  full\n1 entity\n0 entities\n  #0:1  one  18446744073709551615\n1 entity\n");
}
END_TEST

/* What a terminal would obey is shown, not sent. */
START_TEST(control_characters_are_shown)
{
    write_file(SCRATCH "/control.json", "{\"entities\": [{\"components\": {\"debug_name\": {\"name\": "
               "\"a\\u001b[2J\\t\\n\\u007f\\u009b2J\\u00e9z\"}}}]}\n");
    const outcome_t *outcome = console("[host]\nplugins = debug_name\n[world main]\ncomponents = debug_name\n"
                                       "scenes = control.json\n",
                                       "entities\nget main/#0:1.debug_name.name\ntree main\n");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "  a\\x1b[2J\\t\\n\\x7f\\x9b2J\xc3\xa9z  ");
    expect_not_in(outcome->out, "\x1b");
    expect_not_in(outcome->out, "\x9b");
    expect_not_in(outcome->out, "\x7f");
}
END_TEST

Suite *program_values_suite(void)
{
    Suite *suite = suite_create("program_values");
    TCase *tests = tcase_create("values");
    tcase_add_checked_fixture(tests, begin, NULL);
    tcase_add_test(tests, named_values_are_shown_and_set_by_name);
    tcase_add_test(tests, what_is_declared_in_another_form_is_a_number_or_a_truth_for_tools);
    tcase_add_test(tests, what_has_no_default_has_that_of_its_type);
    tcase_add_test(tests, a_system_is_listed_with_its_terms);
    tcase_add_test(tests, a_value_that_cannot_be_read_is_told_with_the_reason);
    tcase_add_test(tests, whole_numbers_are_compared_exactly);
    tcase_add_test(tests, conditions_on_integers_and_texts_find_the_first_step);
    tcase_add_test(tests, conditions_compare_values_of_every_shape);
    tcase_add_test(tests, control_characters_are_shown);
    tcase_add_test(tests, what_is_no_named_value_is_told_with_the_nearest);
    tcase_add_test(tests, small_and_large_numbers_are_shown_and_set);
    tcase_add_test(tests, declarations_are_listed_with_all_that_they_say);
    tcase_add_test(tests, a_scene_s_blob_is_shown_by_name_and_as_json_that_compiles_to_it);
    tcase_add_test(tests, a_save_holds_names_that_a_newer_plugin_reads);
    tcase_add_test(tests, the_schema_names_what_may_be_written);
    tcase_add_test(tests, the_schema_has_units_of_single_values_and_lists);
    tcase_add_test(tests, a_hidden_field_is_in_no_listing_and_in_no_schema);
    tcase_add_test(tests, arrays_and_lists_are_shown_and_set_whole_and_by_element);
    tcase_add_test(tests, a_table_has_the_beginning_of_a_long_list_and_get_all_of_it);
    tcase_add_test(tests, what_is_wrong_with_an_element_is_told);
    tcase_add_test(tests, arrays_and_lists_are_listed_as_such);
    tcase_add_test(tests, scenes_hold_lists_and_their_dump_compiles_to_the_same);
    tcase_add_test(tests, a_world_s_own_units_stand_where_units_are_printed);
    tcase_add_test(tests, a_run_shorter_than_the_ini_says_writes_beside_what_a_whole_one_has_written);
    tcase_add_test(tests, one_element_is_recorded_and_a_whole_list_is_refused_with_a_sentence);
    suite_add_tcase(suite, tests);
    return suite;
}
