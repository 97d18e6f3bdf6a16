/* test_recorder.c - the files that the recorder writes: columns, pictures, how often, and what becomes of entities that
 * die.
 */
#ifndef _WIN32
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "../comma.h"
#include "../suites.h"
#include "plugin_stage.h"

#include "zoo.h"

#include "../../plugins/recorder/curve.h"
#include "../../plugins/recorder/series.h"

/* --- recorder ----------------------------------------------------------------------------------------------------- */

static const char csv_file[] = TEST_SCRATCH_DIR "/plugins.csv";
static const char svg_file[] = TEST_SCRATCH_DIR "/plugins.svg";
enum { OPTION_MISTAKES = 10 };

/* Two named bodies and a recorder of the first one's position and the distance between the two. */
static void begin_recorder(const bp_option_t *options, uint32_t count, bp_entity_t e[2])
{
    bp_option_t all[8] = {
        {"properties",
         "main/ball.point_mass.position main/ball.point_mass.position@main/home.point_mass.position", NULL,
         NULL}};
    begin(10);
    use("point_mass");
    use("debug_name");
    memcpy(all + 1, options, count * sizeof *options);
    load("recorder", all, count + 1);
    create("point_mass", e, 2);
    OK(api->world->add(world, key_of("debug_name"), e, 2));
    set_text(e[0], "debug_name", "name", "ball");
    set_text(e[1], "debug_name", "name", "home");
    put_body(e[0], 1, (bp_vec3_t){1, 2, 3}, (bp_vec3_t){0.1f, -0.7f, 1e-6f});
    put_body(e[1], 1, (bp_vec3_t){10, 10, 10}, (bp_vec3_t){0, 0, 0});
}

START_TEST(the_csv_says_what_the_property_was)
{
    enum { STEPS = 37 };
    const bp_option_t options[] = {{"csv", csv_file, NULL, NULL},
                                   {"svg", svg_file, NULL, NULL},
                                   {"time_unit", "s", NULL, NULL}};
    bp_entity_t e[2];
    bp_vec3_t seen[STEPS];
    remove(csv_file);
    begin_recorder(options, 3, e);
    OK(bp_world_use_system(world, "recorder"));
    for (int i = 0; i < STEPS; i++) {
        steps(1);
        seen[i] = vector_of(e[0], "point_mass", "position");
    }
    FILE *early = fopen(csv_file, "rb");
    ck_assert_msg(early == NULL, "the file is there before it is whole");
    end();
    char *text = read_file(csv_file), *line = strtok(text, "\n");
    ck_assert_str_eq(line, "time (s),main/ball.point_mass.position.x (m),main/ball.point_mass.position.y (m),"
                           "main/ball.point_mass.position.z "
                           "(m),main/ball.point_mass.position@main/home.point_mass.position.x (m),"
                           "main/ball.point_mass.position@main/home.point_mass.position.y (m),"
                           "main/ball.point_mass.position@main/home.point_mass.position.z (m)");
    for (int i = 0; i < STEPS; i++) {
        float p[6];
        double time;
        line = strtok(NULL, "\n");
        ck_assert_msg(line != NULL, "only %d rows", i);
        ck_assert_int_eq(sscanf(line, "%lf,%f,%f,%f,%f,%f,%f", &time, &p[0], &p[1], &p[2], &p[3], &p[4],
                                &p[5]),
                         7);
        ck_assert_double_eq_tol(time, (i + 1) / 10.0, 1e-9);
        ck_assert_mem_eq(p, &seen[i], sizeof seen[i]);
        ck_assert_float_eq_tol(p[3], seen[i].x - 10, 1e-5f);
        ck_assert_float_eq_tol(p[5], seen[i].z - 10, 1e-5f);
    }
    ck_assert_ptr_null(strtok(NULL, "\n"));
    free(text);
}
END_TEST

/* Readers of tables take each of these for the end of a cell or a line, or of a quotation. */
START_TEST(a_title_with_what_ends_cells_is_quoted)
{
    static const char *const units[] = {"a,b", "a\nb", "a\rb", "a\"b", "a b"};
    static const char *const headers[] = {"\"time (a,b)\",", "\"time (a\nb)\",", "\"time (a\rb)\",",
                                          "\"time (a\"\"b)\",", "time (a b),"};
    const bp_option_t options[] = {{"csv", csv_file, NULL, NULL}, {"time_unit", units[_i], NULL, NULL}};
    bp_entity_t e[2];
    begin_recorder(options, 2, e);
    OK(bp_world_use_system(world, "recorder"));
    steps(1);
    end();
    char *text = read_file(csv_file);
    ck_assert_msg(strncmp(text, headers[_i], strlen(headers[_i])) == 0, "%s", text);
    free(text);
}
END_TEST

/* Well-formed enough for a browser: one root, tags closed in order, attributes quoted, entities ended.
 * Returns what is wrong, or NULL. */
static const char *check_xml(const char *text)
{
    char open[32][32];
    int depth = 0, roots = 0;
    for (const char *at = text; *at != '\0';) {
        if (*at == '&' && strspn(at + 1, "#0123456789abcdefghijklmnopqrstuvwxyz") + 1 == strcspn(at, ";"))
            at = strchr(at, ';');
        else if (*at == '&')
            return "an & that begins no entity";
        if (*at++ != '<')
            continue;
        if (*at == '?' || *at == '!') {
            at += strcspn(at, ">");
            continue;
        }
        bool closing = *at == '/';
        char name[32];
        if (sscanf(at + closing, "%31[A-Za-z]", name) != 1)
            return "a < that begins no tag";
        const char *last = at;
        for (; *at != '>'; at++) {
            if (*at == '\0' || *at == '<')
                return "a tag without end";
            if (*at == '"' && (at = strchr(at + 1, '"')) == NULL)
                return "a quote without end";
            last = at;
        }
        if (closing) {
            if (depth == 0 || strcmp(open[--depth], name) != 0)
                return "tags that are not closed in order";
        } else {
            roots += depth == 0;
            if (*last != '/' && depth == 31)
                return "tags too deep";
            if (*last != '/')
                strcpy(open[depth++], name);
        }
    }
    return depth != 0 ? "a tag that is not closed" : roots != 1 ? "not exactly one root" : NULL;
}

START_TEST(the_svg_is_a_picture_that_parses)
{
    const bp_option_t options[] = {{"svg", svg_file, NULL, NULL},
                                   {"title", "a <ball> & \"more\"", NULL, NULL},
                                   {"unit", "m", NULL, NULL}};
    bp_entity_t e[2];
    remove(svg_file);
    begin_recorder(options, 3, e);
    OK(bp_world_use_system(world, "recorder"));
    steps(200);
    end();
    char *text = read_file(svg_file);
    const char *wrong = check_xml(text);
    ck_assert_msg(wrong == NULL, "%s", wrong);
    ck_assert_ptr_nonnull(strstr(text, "<svg "));
    ck_assert_ptr_nonnull(strstr(text, "ball"));
    ck_assert_ptr_nonnull(strstr(text, "<path"));
    const char *below = strstr(text, "class=\"sub\""), *clip = strstr(text, "<clipPath"), *panel;
    ck_assert_msg(below != NULL && strchr(below, '>')[1] != '<', "nothing stands below the title");
    ck_assert_ptr_nonnull(clip);
    panel = strstr(clip, "class=\"panel\"");
    ck_assert_msg(panel != NULL && strstr(clip, "</clipPath>") < panel, "what is cut off hides the panel");
    free(text);
}
END_TEST

/* One panel would give the values of both worlds the unit of one. */
START_TEST(worlds_with_units_of_their_own_have_panels_of_their_own)
{
    const bp_option_t options[] = {
        {"properties", "main/ball.point_mass.position side/ball.point_mass.position", NULL, NULL},
        {"svg", svg_file, NULL, NULL}};
    bp_entity_t e[2];
    remove(svg_file);
    begin(10);
    load("point_mass", NULL, 0);
    load("debug_name", NULL, 0);
    load("recorder", options, 2);
    const char *const units[] = {"m=mile", "m=league"};
    bp_world_destroy(world);
    for (int i = 1; i >= 0; i--) {
        world = bp_world_create(host, &(bp_world_desc_t){.name = i == 0 ? "main" : "side", .units = units[i]});
        OK(bp_world_use_component(world, "point_mass"));
        OK(bp_world_use_component(world, "debug_name"));
        create("point_mass", &e[i], 1);
        OK(api->world->add(world, key_of("debug_name"), &e[i], 1));
        set_text(e[i], "debug_name", "name", "ball");
        put_body(e[i], 1, (bp_vec3_t){1, 2, 3}, (bp_vec3_t){1, 1, 0});
    }
    OK(bp_world_use_system(world, "recorder"));
    steps(5);
    end();
    char *text = read_file(svg_file);
    ck_assert_ptr_nonnull(strstr(text, "(mile)"));
    ck_assert_ptr_nonnull(strstr(text, "(league)"));
    free(text);
}
END_TEST

START_TEST(rows_are_written_as_often_as_asked)
{
    const bp_option_t options[] = {{"csv", csv_file, NULL, NULL}, {"every", "5", NULL, NULL}};
    bp_entity_t e[2];
    begin_recorder(options, 2, e);
    OK(bp_world_use_system(world, "recorder"));
    steps(21);
    end();
    char *text = read_file(csv_file);
    uint32_t lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    ck_assert_uint_eq(lines, 1 + 5); /* steps 0, 5, 10, 15 and 20 */
    free(text);
}
END_TEST

/* Its death is told when it happens, and is no error; who takes its name is recorded from then on. */
START_TEST(a_recorded_entity_that_dies_is_told_of_once)
{
    const bp_option_t options[] = {{"csv", csv_file, NULL, NULL}};
    bp_entity_t e[2], heir;
    begin_recorder(options, 1, e);
    OK(bp_world_use_system(world, "recorder"));
    steps(3);
    log_least = BP_LOG_INFO;
    ck_assert_uint_eq(api->entity->destroy(host, &e[1], 1), 1);
    const char *told = strstr(log_text, "'main/ball.point_mass.position@main/home.point_mass.position' has no value "
                                        "from time 0.3 on: an entity has died");
    ck_assert_msg(told != NULL, "%s", log_text);
    told = strchr(told, '\n');
    ck_assert_msg(strstr(log_text, "'main/ball.point_mass.position' has") == NULL, "%s", log_text);
    steps(2);
    ck_assert_msg(told[1] == '\0', "%s", log_text);
    create("point_mass", &heir, 1);
    OK(api->world->add(world, key_of("debug_name"), &heir, 1));
    set_text(heir, "debug_name", "name", "home");
    steps(1);
    log_least = BP_LOG_WARNING;
    log_text[0] = '\0';
    end();
    char *text = read_file(csv_file), *line = text;
    for (int i = 0; i < 6; i++, line = strchr(line, '\n') + 1)
        ck_assert_msg((strncmp(strchr(line, '\n') - 2, ",,", 2) == 0) == (i > 3), "row %d of\n%s", i, text);
    ck_assert_msg(strstr(line, ",,") == NULL, "%s", line);
    free(text);
}
END_TEST

/* The columns are those of the first sample: what nothing was known of then has none. */
START_TEST(what_was_unknown_at_the_first_sample_is_not_recorded_later)
{
    static const char late[] = "main/ball.point_mass.mass main/ball.transform.position";
    const bp_option_t options[] = {{"csv", csv_file, NULL, NULL}, {"properties", late, NULL, NULL}};
    bp_entity_t e;
    begin(10);
    use("point_mass");
    use("debug_name");
    load("recorder", options, 2);
    create("point_mass", &e, 1);
    OK(api->world->add(world, key_of("debug_name"), &e, 1));
    set_text(e, "debug_name", "name", "ball");
    OK(bp_world_use_system(world, "recorder"));
    steps(2);
    use("transform");
    OK(api->world->add(world, key_of("transform"), &e, 1));
    steps(2);
    log_text[0] = '\0';
    end();
    char *text = read_file(csv_file);
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1)
        ck_assert_msg(strcspn(strchr(at, ',') + 1, ",\n") == strcspn(strchr(at, ',') + 1, "\n"), "%s", text);
    free(text);
}
END_TEST

START_TEST(a_recorder_that_cannot_write_does_not_start)
{
    static const struct {
        bp_option_t option;
        bp_result_t code;
        const char *says;
    } rows[] = {
        {{"csv", TEST_SCRATCH_DIR "/no/such/folder/x.csv", NULL, NULL}, BP_ERROR_IO, "no/such/folder"},
        {{"svg", TEST_SCRATCH_DIR "/no/such/folder/x.svg", NULL, NULL}, BP_ERROR_IO, "no/such/folder"},
        {{"title", "neither", NULL, NULL}, BP_ERROR_ARGUMENT, "csv"},
    };
    bp_entity_t e[2];
    begin_recorder(&rows[_i].option, 1, e);
    REFUSED(rows[_i].code, rows[_i].says, bp_world_use_system(world, "recorder"));
    steps(1);
    end();
}
END_TEST

START_TEST(an_option_that_says_nothing_useful_is_refused)
{
    static char long_path[1200];
    static const char seventeen[] = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17";
    static const struct {
        bp_option_t options[2];
        const char *says;
    } rows[] = {
        {{{"svg_axes", "xyz", NULL, NULL}}, "svg_axes names two different axes"},
        {{{"svg_axes", "yy", NULL, NULL}}, "svg_axes names two different axes"},
        {{{"svg_axes", "xw", NULL, NULL}}, "svg_axes names two different axes"},
        {{{"svg_panels", "2 x", NULL, NULL}}, "svg_panels is a list of numbers above 0"},
        {{{"svg_panels", "2 0", NULL, NULL}}, "svg_panels is a list of numbers above 0"},
        {{{"svg_panels", "2 inf", NULL, NULL}}, "svg_panels is a list of numbers above 0"},
        {{{"svg_panels", seventeen, NULL, NULL}}, "svg_panels lists more than 16 panels"},
        {{{"svg", csv_file, NULL, NULL}}, "csv and svg name the same file"},
        {{{"properties", " , ", NULL, NULL}}, "the option properties is empty"},
        {{{"svg", long_path, NULL, NULL}}, "is too long"},
    };
    bp_option_t options[2] = {{"csv", csv_file, NULL, NULL}, rows[_i].options[0]};
    bp_entity_t e[2];
    ck_assert_uint_eq(sizeof rows / sizeof rows[0], OPTION_MISTAKES);
    memset(long_path, 'x', sizeof long_path - 1);
    begin_recorder(options, 2, e);
    REFUSED(strcmp(options[1].value, long_path) == 0 ? BP_ERROR_IO : BP_ERROR_ARGUMENT, rows[_i].says,
            bp_world_use_system(world, "recorder"));
    steps(1);
    end();
}
END_TEST

/* The components of the zoo in a world, for a recorder of `properties`. */
static bp_entity_t begin_zoo(const char *properties, const bp_option_t *option)
{
    const bp_option_t options[] = {{"properties", properties, NULL, NULL}, {"csv", csv_file, NULL, NULL}, *option};
    bp_entity_t e;
    begin_with(zoo_plugins, ZOO_PLUGINS);
    new_world(10);
    for (int i = 0; i < ZOO_PLUGINS; i++)
        OK(bp_host_load_plugin(host, zoo_plugins[i]->name, NULL, 0));
    for (int i = 0; zoo_components[i] != NULL; i++)
        OK(bp_world_use_component(world, zoo_components[i]));
    use("debug_name");
    load("recorder", options, 3);
    create("sample", &e, 1);
    OK(api->world->add(world, key_of("bag"), &e, 1));
    OK(api->world->add(world, key_of("debug_name"), &e, 1));
    set_text(e, "debug_name", "name", "a\"b");
    OK(bp_world_use_system(world, "recorder"));
    return e;
}

START_TEST(numbers_of_every_type_are_recorded)
{
    static const char properties[] =
        "main/a\"b.sample.a_bool main/a\"b.sample.an_i8 main/a\"b.sample.a_u8 main/a\"b.sample.an_i16 "
        "main/a\"b.sample.a_u16 main/a\"b.sample.a_i32 main/a\"b.sample.a_u32 main/a\"b.sample.a_i64 "
        "main/a\"b.sample.a_u64 main/a\"b.sample.a_f32 main/a\"b.sample.a_f64 main/a\"b.sample.a_vec2 "
        "main/a\"b.sample.a_vec3 main/a\"b.sample.a_vec4 main/a\"b.sample.a_dvec2 main/a\"b.sample.a_dvec3 "
        "main/a\"b.sample.a_dvec4 main/a\"b.sample.a_quat main/a\"b.sample.a_colour main/a\"b.sample.a_mat4 "
        "main/a\"b.bag.slots[1] main/a\"b.sample.a_dvec3@main/a\"b.sample.a_dvec3";
    static const double values[] = {1,  -7, 7, -700, 700, -7, 7, -7e11, 1e19, 0.1, 0.1, 1, 2,
                                    1,  2,  3, 1,    2,   3,  4, 1,     0.1,  1,   2,   0.1, 0.1,
                                    2,  3,  4, 0,    0,   0,  1};
    const bp_option_t svg = {"svg", svg_file, NULL, NULL};
    begin_zoo(properties, &svg);
    steps(2);
    end();
    char *text = read_file(csv_file), *at = strchr(text, '\n');
    ck_assert_ptr_nonnull(strstr(text, ",\"main/a\"\"b.sample.a_bool\",\"main/a\"\"b.sample.an_i8\","));
    ck_assert_ptr_nonnull(strstr(text, "a_vec4.w\","));
    ck_assert_ptr_nonnull(strstr(text, "a_colour.r\",\"main/a\"\"b.sample.a_colour.g\","));
    ck_assert_ptr_nonnull(strstr(text, "a_mat4.m15\","));
    ck_assert_double_eq_tol(strtod(at, &at), 0.1, 1e-12);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        ck_assert_msg(*at == ',', "value %zu: %s", i, at);
        ck_assert_double_eq_tol(strtod(at + 1, &at), values[i], 1e-7 * fabs(values[i]) + 1e-9);
    }
    uint32_t cells = 0;
    for (; *at != '\n'; at++)
        cells += *at == ',';
    ck_assert_uint_eq(cells, 4 + 16 + 1 + 3);
    ck_assert_msg(strncmp(at - 8, ",2,0,0,0", 8) == 0, "%s", at - 8);
    ck_assert_ptr_nonnull(strstr(text, ",1e+19,"));
    ck_assert_ptr_nonnull(strstr(text, ",0.10000000000000001,"));
    free(text);
    text = read_file(svg_file);
    const char *wrong = check_xml(text);
    ck_assert_msg(wrong == NULL, "%s", wrong);
    free(text);
}
END_TEST

/* Told once each, and the one that is a number is recorded. */
START_TEST(what_is_no_number_is_not_recorded)
{
    static const char *const says[] = {
        "'main/a\"b.sample.a_string' has no value at time 0.1: only numbers and vectors can be recorded",
        "'main/a\"b.bag.slots' has no value at time 0.1: it is an array or a list",
        "'main/a\"b.bag.hits' has no value at time 0.1: it is an array or a list",
        "'main/a\"b.sample.a_u16@main/a\"b.bag.slots' has no value at time 0.1: it is an array or a list",
        ("'main/a\"b.sample.a_u16@main/a\"b.sample.a_u32' has no value at time 0.1: the two properties are of "
         "different types"),
        "'main/a\"b.sample.a_u16@main/nothing.sample.a_u16' has no value at time 0.1",
        "'nothing' has no value at time 0.1",
    };
    const bp_option_t every = {"every", "1", NULL, NULL};
    begin_zoo("main/a\"b.sample.a_string main/a\"b.bag.slots main/a\"b.bag.hits "
              "main/a\"b.sample.a_u16@main/a\"b.bag.slots "
              "main/a\"b.sample.a_u16@main/a\"b.sample.a_u32 main/a\"b.sample.a_u16@main/nothing.sample.a_u16 "
              "main/a\"b.sample.a_u8 nothing", &every);
    steps(3);
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++) {
        const char *first = strstr(log_text, says[i]);
        ck_assert_msg(first != NULL, "%s is not in\n%s", says[i], log_text);
        ck_assert_msg(strstr(first + 1, says[i]) == NULL, "told more than once:\n%s", log_text);
    }
    ck_assert_ptr_nonnull(strstr(take_report(), "never found|main/a\"b.bag.slots\n"));
    log_text[0] = '\0';
    end();
    char *text = read_file(csv_file);
    const char *rows = strchr(text, '\n'); /* the columns of differences are there and empty: a_u16 is a number */
    ck_assert_ptr_nonnull(strstr(text, "b.sample.a_u16@main/nothing.sample.a_u16\",\"main/a\"\"b.sample.a_u8\"\n"));
    ck_assert_str_eq(rows, "\n0.1,,,,7\n0.2,,,,7\n0.3,,,,7\n");
    free(text);
}
END_TEST

/* A gap in a number and in a curve, in one whose origin has died, and no room for more than the least of points. */
START_TEST(a_picture_of_those_that_die_has_gaps)
{
    const bp_option_t options[] = {
        {"properties", "main/ball.point_mass.position main/ball.point_mass.mass main/home.point_mass.position", NULL,
         NULL},
        {"svg", svg_file, NULL, NULL},
        {"svg_origin", "main/home.point_mass.position", NULL, NULL},
        {"svg_panels", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", NULL, NULL},
    };
    bp_entity_t e[2];
    remove(svg_file);
    begin_recorder(options, 4, e);
    OK(bp_world_use_system(world, "recorder"));
    steps(20);
    log_least = BP_LOG_ERROR + 1;
    api->entity->destroy(host, &e[_i], 1);
    steps(3);
    create("point_mass", &e[_i], 1);
    OK(api->world->add(world, key_of("debug_name"), &e[_i], 1));
    set_text(e[_i], "debug_name", "name", _i == 0 ? "ball" : "home");
    steps(20);
    end();
    char *text = read_file(svg_file);
    const char *wrong = check_xml(text);
    ck_assert_msg(wrong == NULL, "%s", wrong);
    uint32_t panels = 0;
    for (const char *at = text; (at = strstr(at, "class=\"panel\"")) != NULL; at++)
        panels++;
    ck_assert_uint_eq(panels, 17);
    const char *first = strstr(text, "class=\"path\""), *last = first, *empty = strstr(first, "d=\"\"><title>ball");
    for (const char *next; (next = strstr(last + 1, "class=\"path\"")) != NULL;)
        last = next;
    uint32_t lines = 0;
    for (const char *at = last; (at = strchr(at, 'M')) != NULL; at++)
        lines++;
    ck_assert_uint_eq(lines, _i == 0 ? 2 : 1); /* of the ball's mass, which is drawn last */
    /* From one origin to the other no line is drawn, which would cross the smallest panel. */
    ck_assert(_i == 0 || (empty != NULL && empty < strstr(first, "</g>")));
    free(text);
}
END_TEST

/* Names that need several lines, letters of several bytes, bytes that are no letters, and a number that goes up and
 * down more often than there is room for. */
START_TEST(a_picture_of_many_shows_them_all)
{
    enum { BODIES = 24, STEPS = 2500 };
    static char properties[8192], names[BODIES][64];
    static const char title[] = "\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9d\x84\x9e <&> \x01 \xff \xc3( \xc0\xaf";
    const bp_option_t options[] = {
        {"properties", properties, NULL, NULL},
        {"svg", svg_file, NULL, NULL},
        {"title", title, NULL, NULL},
        {"svg_panels", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", NULL, NULL},
    };
    bp_entity_t e[BODIES];
    remove(svg_file);
    for (int i = 0; i < BODIES; i++) {
        size_t used = strlen(properties);
        snprintf(names[i], sizeof names[i], "a_body_with_quite_a_long_name_%d", i);
        snprintf(properties + used, sizeof properties - used,
                 "main/%s.point_mass.position main/%s.point_mass.mass ", names[i], names[i]);
    }
    begin(10);
    use("point_mass");
    use("debug_name");
    load("recorder", options, 4);
    create("point_mass", e, BODIES);
    OK(api->world->add(world, key_of("debug_name"), e, BODIES));
    for (int i = 0; i < BODIES; i++) {
        set_text(e[i], "debug_name", "name", names[i]);
        put_body(e[i], (float)i, (bp_vec3_t){(float)i, 0, 0}, (bp_vec3_t){0, 0.01f * (float)(i / 2), 0});
    }
    OK(bp_world_use_system(world, "recorder"));
    for (int i = 0; i < STEPS; i++) {
        set(e[5], "point_mass", "mass", BP_F32, &(float){i % 3 == 1 ? 90 : i % 3 == 2 ? 10 : 50});
        steps(1);
    }
    end();
    char *text = read_file(svg_file);
    const char *wrong = check_xml(text);
    ck_assert_msg(wrong == NULL, "%s", wrong);
    ck_assert_ptr_nonnull(strstr(text, "\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9d\x84\x9e &#60;&#38;&#62; ? ? ?( ??"));
    for (int i = 0; i < BODIES; i++) {
        char found[80];
        snprintf(found, sizeof found, ">%.60s<", names[i]);
        ck_assert_msg(strstr(text, found) != NULL, "%s is not in the picture", names[i]);
    }
    free(text);
}
END_TEST

/* --- series ------------------------------------------------------------------------------------------------------- */

START_TEST(a_long_series_keeps_every_high_and_low)
{
    enum { SAMPLES = 5 * RECORDER_BUCKETS };
    static recorder_series series;
    series = (recorder_series){.width = 1};
    uint32_t samples = 0, begins = 0;
    for (int i = 0; i < SAMPLES; i++) {
        if (i == SAMPLES - 100)
            recorder_series_add(&series, i, NAN);
        if (i == SAMPLES - 50)
            recorder_series_lift(&series);
        recorder_series_add(&series, i, i == 777 ? 9 : i == 3333 ? -9 : i % 2 == 0 ? 1 : -1);
    }
    ck_assert_uint_le(series.count, RECORDER_BUCKETS);
    ck_assert_uint_gt(series.count, RECORDER_BUCKETS / 2);
    ck_assert_uint_eq(series.width, 8);
    double low = 0, high = 0, low_time = 0, high_time = 0;
    for (uint32_t i = 0; i < series.count; i++) {
        const recorder_bucket *b = &series.buckets[i];
        samples += b->samples;
        begins += b->begins;
        ck_assert(i == 0 || (b->low_time > b[-1].low_time && b->high_time > b[-1].high_time));
        ck_assert(b->samples == 1 || (b->low < 0 && b->high > 0));
        if (b->low < low)
            low = b->low, low_time = b->low_time;
        if (b->high > high)
            high = b->high, high_time = b->high_time;
    }
    ck_assert_uint_eq(samples, SAMPLES);
    ck_assert_uint_eq(begins, 2);
    ck_assert(low == -9 && low_time == 3333 && high == 9 && high_time == 777);
}
END_TEST

/* --- curves ------------------------------------------------------------------------------------------------------- */

enum { POINTS = 4000, GRID_BITS = 1024 * 1024, A_TURN = 64 };

static void go_around(recorder_curve *curve, int turns)
{
    for (int i = 0; i < turns * A_TURN; i++) {
        double angle = 6.283185307179586 * i / (double)A_TURN;
        recorder_curve_add(curve, 10 * cos(angle), 10 * sin(angle));
    }
}

START_TEST(a_path_that_is_gone_many_times_is_kept_once)
{
    recorder_curve curve = {.limit = POINTS};
    curve.points = calloc(POINTS, sizeof *curve.points);
    curve.grid = calloc(GRID_BITS / 64, sizeof *curve.grid);
    ck_assert(curve.points != NULL && curve.grid != NULL);
    go_around(&curve, 10);
    uint32_t count = curve.count;
    ck_assert_uint_ge(count, A_TURN / 2);
    go_around(&curve, 20);
    ck_assert_uint_eq(curve.count, count);
    ck_assert(fabs(curve.low_x + 10) < 1e-6 && fabs(curve.high_x - 10) < 1e-6);
    ck_assert(fabs(curve.low_y + 10) < 1e-6 && fabs(curve.high_y - 10) < 1e-6);
    recorder_curve_lift(&curve);
    recorder_curve_add(&curve, 50, 50);
    ck_assert(curve.points[curve.count - 1].x == 50 && curve.points[curve.count - 1].begins == 1);
    recorder_curve_add(&curve, 60, 50);
    ck_assert(curve.points[curve.count - 1].x == 60 && curve.points[curve.count - 1].begins == 0);
    free(curve.points);
    free(curve.grid);
}
END_TEST

/* A walk longer than there is room for, with jumps: it gets coarser, and still goes where the walk goes. */
START_TEST(a_long_walk_is_kept_within_its_room)
{
    enum { ROOM = 300, STEPS = 20000 };
    recorder_curve curve = {.limit = ROOM};
    curve.points = calloc(ROOM, sizeof *curve.points);
    curve.grid = calloc(GRID_BITS / 64, sizeof *curve.grid);
    ck_assert(curve.points != NULL && curve.grid != NULL);
    uint64_t random = 3;
    double x = 0, y = 0, most = 0;
    uint32_t begins = 0;
    for (int i = 0; i < STEPS; i++) {
        if (i % 500 == 499) { /* elsewhere; now and then a value that is no number is between */
            recorder_curve_add(&curve, i % 1000 == 499 ? NAN : x, i % 1000 == 499 ? y : INFINITY);
            x = (double)random_float(&random, 100);
            y = (double)random_float(&random, 100);
        }
        x += (double)random_float(&random, 1);
        y += (double)random_float(&random, 1);
        recorder_curve_add(&curve, x, y);
        ck_assert_uint_le(curve.count, ROOM);
        most = fmax(most, fmax(fabs(x), fabs(y)));
    }
    ck_assert_uint_gt(curve.count, 20);
    for (uint32_t i = 0; i < curve.count; i++) {
        begins += curve.points[i].begins;
        ck_assert(fabs(curve.points[i].x) <= most && fabs(curve.points[i].y) <= most);
    }
    ck_assert_uint_ge(begins, 10);
    ck_assert(fmax(fmax(-curve.low_x, curve.high_x), fmax(-curve.low_y, curve.high_y)) >= most);
    free(curve.points);
    free(curve.grid);
}
END_TEST

/* A comb: a line, and teeth that begin on it, more than there is room for. Coarser they still begin at the line, and no
 * stroke goes across. */
START_TEST(strokes_that_begin_on_a_line_begin_there_when_they_get_coarser)
{
    enum { ROOM = 300, LONG = 400, APART = 10, HIGH = 20 };
    recorder_curve curve = {.limit = ROOM};
    curve.points = calloc(ROOM, sizeof *curve.points);
    curve.grid = calloc(GRID_BITS / 64, sizeof *curve.grid);
    ck_assert(curve.points != NULL && curve.grid != NULL);
    for (int x = 0; x <= LONG; x++)
        recorder_curve_add(&curve, x, 0);
    double cell = curve.cell;
    for (int x = APART; x < LONG; x += APART) {
        recorder_curve_lift(&curve);
        for (int y = 0; y <= HIGH; y++)
            recorder_curve_add(&curve, x, y);
    }
    ck_assert(curve.cell > cell);
    uint32_t teeth = 0;
    for (uint32_t i = 1; i < curve.count; i++) {
        const recorder_point *from = &curve.points[i - 1], *to = &curve.points[i];
        teeth += to->begins;
        ck_assert_msg(to->begins || from->x == to->x || (from->y == 0 && to->y == 0), "from %g %g to %g %g", from->x,
                      from->y, to->x, to->y);
        ck_assert_msg(!to->begins || to->y <= 2 * curve.cell, "a tooth begins at %g %g", to->x, to->y);
    }
    ck_assert_uint_ge(teeth, LONG / APART / 2);
    free(curve.points);
    free(curve.grid);
}
END_TEST

/* --- what comes between ------------------------------------------------------------------------------------------- */

/* The rows of a future that is left are taken out, also where rows are longer than what is read at once, and where the
 * program has asked for a locale whose numbers have a comma. */
START_TEST(a_future_that_is_left_has_no_rows)
{
    enum { TIMES = 120 };
    static char properties[TIMES * 40];
    const bp_option_t options[] = {{"csv", csv_file, NULL, NULL},
                                   {"svg", svg_file, NULL, NULL},
                                   {"properties", properties, NULL, NULL}};
    bp_entity_t e;
    properties[0] = '\0';
    ck_assert(_i == 0 || comma_begin("build/scratch"));
    for (int i = 0; i < TIMES; i++)
        strcat(properties, "main/ball.point_mass.velocity ");
    begin(10);
    use("point_mass");
    use("debug_name");
    load("recorder", options, 3);
    create("point_mass", &e, 1);
    OK(api->world->add(world, key_of("debug_name"), &e, 1));
    set_text(e, "debug_name", "name", "ball");
    put_body(e, 1, (bp_vec3_t){1, 2, 3}, (bp_vec3_t){0.123456789f, -1.23456789e-17f, 1.2345678e-7f});
    OK(bp_world_use_system(world, "recorder"));
    OK(bp_host_remember(host, 1 << 24));
    bp_host_keyframe_every(host, 0);
    steps(20);
    OK(bp_host_go(host, 5));
    put_body(e, 1, (bp_vec3_t){1, 2, 3}, (bp_vec3_t){8, 9, 10});
    steps(2);
    ck_assert_ptr_nonnull(strstr(take_report(), "plugins.csv: 7 rows of 361 columns"));
    end();
    comma_end();
    char *text = read_file(csv_file), *row = strchr(text, '\n') + 1;
    static const double times[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
    ck_assert_uint_gt(strcspn(row, "\n"), 4096);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        ck_assert_double_eq_tol(strtod(row, NULL), times[i], 1e-9);
        bool later = strncmp(strchr(row, ','), ",8,9,10,", 8) == 0;
        ck_assert_msg(later == (i >= 5), "row %d is %.60s", (int)i, row);
        row = strchr(row, '\n') + 1;
    }
    ck_assert_msg(*row == '\0', "there is one more row: %.60s", row);
    free(text);
}
END_TEST

#ifndef _WIN32
/* The path is nearly as long as a path may be; what is beside it, under the beginning of its name, is another's. */
START_TEST(a_table_with_a_long_path_loses_its_rows_as_others_do)
{
    static char path[1024], before[1024];
    const bp_option_t options[] = {{"csv", path, NULL, NULL}};
    bp_entity_t e[2];
    size_t length = (size_t)snprintf(path, sizeof path, "%s/long", TEST_SCRATCH_DIR);
    mkdir(path, 0777);
    for (; length < 880; length = strlen(path)) {
        snprintf(path + length, sizeof path - length, "/%0*d", 97, 0);
        mkdir(path, 0777);
    }
    snprintf(path + length, sizeof path - length, "/%0*d", 1010 - (int)length, 1);
    begin_recorder(options, 1, e);
    OK(bp_world_use_system(world, "recorder"));
    snprintf(before, sizeof before, "%.900s.part", path);
    FILE *other = fopen(before, "w");
    ck_assert_ptr_nonnull(other);
    fputs("time\n0.1\n", other);
    fclose(other);
    OK(bp_host_remember(host, 1 << 24));
    steps(6);
    OK(bp_host_go(host, 3));
    steps(1);
    end();
    char *text = read_file(path), *row = strchr(text, '\n') + 1;
    for (int i = 1; i <= 4; i++) {
        ck_assert_double_eq_tol(strtod(row, NULL), i / 10.0, 1e-9);
        row = strchr(row, '\n') + 1;
    }
    ck_assert_msg(*row == '\0', "there is one more line: %.60s", row);
    free(text);
    text = read_file(before);
    ck_assert_str_eq(text, "time\n0.1\n");
    free(text);
    remove(before);
}
END_TEST
#endif

/* Before its first row a table is as one that has just been begun: it has one header. */
START_TEST(a_table_that_loses_all_rows_has_one_header)
{
    const bp_option_t options[] = {{"csv", csv_file, NULL, NULL}};
    bp_entity_t e[2];
    begin_recorder(options, 1, e);
    OK(bp_world_use_system(world, "recorder"));
    OK(bp_host_remember(host, 1 << 24));
    steps(3);
    OK(bp_host_go(host, 0));
    put_body(e[0], 1, (bp_vec3_t){1, 2, 3}, (bp_vec3_t){8, 9, 10});
    steps(2);
    end();
    char *text = read_file(csv_file), *row = strchr(text, '\n') + 1;
    ck_assert_int_eq(strncmp(text, "time,", 5), 0);
    for (int i = 1; i <= 2; i++) {
        ck_assert_double_eq_tol(strtod(row, NULL), i / 10.0, 1e-9);
        row = strchr(row, '\n') + 1;
    }
    ck_assert_msg(*row == '\0', "there is one more line: %.60s", row);
    free(text);
}
END_TEST

START_TEST(one_recorder_is_at_work_in_one_world)
{
    const bp_option_t options[] = {{"csv", csv_file, NULL, NULL}};
    bp_entity_t e[2];
    begin_recorder(options, 1, e);
    bp_world_o *other = bp_world_create(host, &(bp_world_desc_t){.name = "other", .step_rate = 10});
    ck_assert_ptr_nonnull(other);
    OK(bp_world_use_system(world, "recorder"));
    REFUSED(BP_ERROR_STATE, "it is at work in another world already; one recorder reads the properties of all worlds",
            bp_world_use_system(other, "recorder"));
    OK(bp_world_drop_system(world, "recorder"));
    OK(bp_world_use_system(other, "recorder")); /* what is at work nowhere can be anywhere */
    end();
}
END_TEST

/* A difference to an entity that lives on without its component. */
START_TEST(what_a_difference_refers_to_may_lose_its_component)
{
    const bp_option_t options[] = {{"csv", csv_file, NULL, NULL}};
    bp_entity_t e[2];
    begin_recorder(options, 1, e);
    OK(bp_world_use_system(world, "recorder"));
    steps(2);
    OK(api->world->remove(world, key_of("point_mass"), &e[1], 1));
    steps(2);
    const char *told = strstr(log_text, "'main/ball.point_mass.position@main/home.point_mass.position' has no value at "
                                        "time 0.3");
    ck_assert_msg(told != NULL && strchr(told, '\n')[1] == '\0', "%s", log_text);
    OK(api->world->add(world, key_of("point_mass"), &e[1], 1));
    steps(1);
    log_text[0] = '\0';
    end();
    char *text = read_file(csv_file), *line = text;
    for (int i = 0; i < 5; i++, line = strchr(line, '\n') + 1)
        ck_assert_msg((strncmp(strchr(line, '\n') - 2, ",,", 2) == 0) == (i > 2), "row %d of\n%s", i, text);
    ck_assert_msg(strstr(line, ",,") == NULL, "%s", line);
    free(text);
}
END_TEST

/* Two bodies far from each other are in one panel, which shows both, and names that are too long for it are cut between
 * letters. */
START_TEST(a_panel_holds_all_of_its_paths)
{
    static char name[256], properties[512];
    const bp_option_t options[] = {{"svg", svg_file, NULL, NULL}, {"properties", properties, NULL, NULL}};
    bp_entity_t e[2];
    name[0] = '\0';
    strcat(name, "xy");
    for (int i = 0; i < 40; i++)
        strcat(name, "\xc3\xa9");
    snprintf(properties, sizeof properties, "main/ball.point_mass.position main/%s.point_mass.position", name);
    begin_recorder(options, 2, e);
    set_text(e[1], "debug_name", "name", name);
    put_body(e[0], 1, (bp_vec3_t){-3000, 0, 0}, (bp_vec3_t){1, 1, 0});
    put_body(e[1], 1, (bp_vec3_t){1000, -10, 0}, (bp_vec3_t){1, 1, 0});
    OK(bp_world_use_system(world, "recorder"));
    steps(10);
    end();
    char *text = read_file(svg_file);
    const char *wrong = check_xml(text);
    ck_assert_msg(wrong == NULL, "%s", wrong);
    ck_assert_msg(strstr(text, ">-2000<") != NULL && strstr(text, ">0<") != NULL, "%s", text);
    ck_assert_msg(strstr(text, ">xy\xc3\xa9") != NULL && strstr(text, "\xc3\xa9?<") == NULL, "%s", text);
    ck_assert_uint_eq(strspn(strstr(text, ">xy\xc3\xa9") + 3, "\xc3\xa9"), 60);
    free(text);
}
END_TEST

/* Paths of which a part is missing, or is longer than a name may be. */
START_TEST(paths_that_are_none_have_no_columns)
{
    static char properties[1200] = "nonsense a.b main/ball main/ball.mass nowhere/ball.point_mass.mass "
                                   "main/ball.point_mass.mass main/ball.";
    const bp_option_t options[] = {{"csv", csv_file, NULL, NULL}, {"properties", properties, NULL, NULL}};
    bp_entity_t e[2];
    for (int i = 0; i < 300; i++)
        strcat(properties, "p");
    strcat(properties, ".mass ");
    for (int i = 0; i < 300; i++)
        strcat(properties, "w");
    strcat(properties, "/ball.point_mass.mass");
    begin_recorder(options, 2, e);
    OK(bp_world_use_system(world, "recorder"));
    steps(1);
    ck_assert_ptr_nonnull(strstr(log_text, "'nonsense' has no value at time 0.1"));
    ck_assert_ptr_nonnull(strstr(log_text, "'a.b' has no value at time 0.1"));
    ck_assert_ptr_nonnull(strstr(log_text, "'nowhere/ball.point_mass.mass' has no value at time 0.1"));
    log_text[0] = '\0';
    end();
    char *text = read_file(csv_file);
    const char *row = strchr(text, '\n') + 1;
    ck_assert_ptr_nonnull(strstr(text, "main/ball.point_mass.mass (kg)"));
    ck_assert_ptr_nonnull(strstr(row, ",1"));
    free(text);
}
END_TEST

#ifndef _WIN32
/* A disk that is full: nothing can be written beyond the first bytes of a file. */
static void fill_disk(uint64_t bytes)
{
    struct rlimit limit = {bytes, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* In the middle of the run, where the row is told; and only at the end, when what is left is written. The file of an
 * earlier run stays as it is. */
START_TEST(a_full_disk_leaves_the_file_that_was_there)
{
    static const char *const says[] = {"cannot write row ", "cannot write '" TEST_SCRATCH_DIR "/plugins.csv.part': "};
    const bp_option_t options[] = {{"csv", csv_file, NULL, NULL}, {"svg", svg_file, NULL, NULL}};
    bp_entity_t e[2];
    const char *const files[] = {csv_file, svg_file};
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(files[i], "wb");
        ck_assert(file != NULL && fputs("earlier", file) >= 0 && fclose(file) == 0);
    }
    begin_recorder(options, 2, e);
    OK(bp_world_use_system(world, "recorder"));
    fill_disk(16);
    steps(_i == 0 ? 300 : 5);
    ck_assert_msg((strstr(log_text, says[0]) != NULL) == (_i == 0), "%s", log_text);
    OK(bp_world_drop_system(world, "recorder")); /* which writes the files */
    fill_disk(RLIM_INFINITY);
    bp_host_destroy(host);
    ck_assert_msg(strstr(log_text, says[_i]) != NULL, "%s", log_text);
    ck_assert_msg(strstr(log_text, "cannot write '" TEST_SCRATCH_DIR "/plugins.svg.part': ") != NULL, "%s", log_text);
    for (int i = 0; i < 2; i++) {
        char *text = read_file(files[i]);
        ck_assert_str_eq(text, "earlier");
        free(text);
    }
    ck_assert_ptr_null(fopen(TEST_SCRATCH_DIR "/plugins.csv.part", "rb"));
    ck_assert_ptr_null(fopen(TEST_SCRATCH_DIR "/plugins.svg.part", "rb"));
}
END_TEST

/* Where the shorter file would be stands a folder: the rows stay, and that is told; later rows come behind them. */
START_TEST(a_table_that_cannot_be_shortened_keeps_its_rows)
{
    static const char in_the_way[] = TEST_SCRATCH_DIR "/plugins.csv.part.back/full";
    const bp_option_t options[] = {{"csv", csv_file, NULL, NULL}};
    char folder[sizeof in_the_way];
    bp_entity_t e[2];
    begin_recorder(options, 1, e);
    OK(bp_world_use_system(world, "recorder"));
    OK(bp_host_remember(host, 1 << 24));
    steps(9);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(in_the_way, '/') - in_the_way), in_the_way);
    ck_assert_int_eq(mkdir(folder, 0777), 0);
    ck_assert_int_eq(mkdir(in_the_way, 0777), 0);
    OK(bp_host_go(host, 4));
    const char *told = strstr(log_text, "plugins.csv.part' keeps the rows of a future that was left: it cannot be");
    ck_assert_msg(told != NULL, "%s", log_text);
    log_text[0] = '\0';
    put_body(e[0], 1, (bp_vec3_t){0, 0, 0}, (bp_vec3_t){0, 0, 0});
    steps(1);
    end();
    ck_assert_int_eq(rmdir(in_the_way), 0);
    ck_assert_int_eq(rmdir(folder), 0);
    char *text = read_file(csv_file), *row = text;
    for (int i = 0; i < 10; i++)
        row = strchr(row, '\n') + 1;
    ck_assert_double_eq_tol(strtod(row, NULL), 0.5, 1e-9);
    free(text);
}
END_TEST

/* The folder of the picture goes while it is being recorded; and a folder stands where the table is to be. */
START_TEST(files_that_cannot_take_their_place_are_told)
{
    static const char folder[] = TEST_SCRATCH_DIR "/recorder_folder", table[] = TEST_SCRATCH_DIR "/recorder_table";
    const bp_option_t options[] = {{"csv", table, NULL, NULL},
                                   {"svg", TEST_SCRATCH_DIR "/recorder_folder/picture.svg", NULL, NULL}};
    bp_entity_t e[2];
    mkdir(folder, 0777);
    mkdir(table, 0777);
    begin_recorder(options, 2, e);
    OK(bp_world_use_system(world, "recorder"));
    steps(3);
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_str_eq(log_text, "");
    bp_host_destroy(host);
    ck_assert_int_eq(rmdir(table), 0);
    ck_assert_msg(strstr(log_text, "recorder_folder/picture.svg.part': No such file") != NULL, "%s", log_text);
    ck_assert_msg(strstr(log_text, "recorder_table") != NULL, "%s", log_text);
    remove(TEST_SCRATCH_DIR "/recorder_table.part");
}
END_TEST
#endif

Suite *recorder_suite(void)
{
    Suite *suite = suite_create("recorder");
    TCase *recorder = tcase_create("recorder");
    tcase_add_test(recorder, the_csv_says_what_the_property_was);
    tcase_add_loop_test(recorder, a_title_with_what_ends_cells_is_quoted, 0, 5);
    tcase_add_test(recorder, the_svg_is_a_picture_that_parses);
    tcase_add_test(recorder, worlds_with_units_of_their_own_have_panels_of_their_own);
    tcase_add_test(recorder, rows_are_written_as_often_as_asked);
    tcase_add_test(recorder, a_recorded_entity_that_dies_is_told_of_once);
    tcase_add_test(recorder, what_was_unknown_at_the_first_sample_is_not_recorded_later);
    tcase_add_loop_test(recorder, a_recorder_that_cannot_write_does_not_start, 0, 3);
    tcase_add_loop_test(recorder, an_option_that_says_nothing_useful_is_refused, 0, OPTION_MISTAKES);
    tcase_add_test(recorder, numbers_of_every_type_are_recorded);
    tcase_add_test(recorder, what_is_no_number_is_not_recorded);
    tcase_add_test(recorder, a_picture_of_many_shows_them_all);
    tcase_add_loop_test(recorder, a_picture_of_those_that_die_has_gaps, 0, 2);
    tcase_add_test(recorder, a_long_series_keeps_every_high_and_low);
    tcase_add_test(recorder, a_path_that_is_gone_many_times_is_kept_once);
    tcase_add_test(recorder, a_long_walk_is_kept_within_its_room);
    tcase_add_test(recorder, strokes_that_begin_on_a_line_begin_there_when_they_get_coarser);
    tcase_add_loop_test(recorder, a_future_that_is_left_has_no_rows, 0, 2);
    tcase_add_test(recorder, a_table_that_loses_all_rows_has_one_header);
    tcase_add_test(recorder, one_recorder_is_at_work_in_one_world);
    tcase_add_test(recorder, what_a_difference_refers_to_may_lose_its_component);
    tcase_add_test(recorder, a_panel_holds_all_of_its_paths);
    tcase_add_test(recorder, paths_that_are_none_have_no_columns);
#ifndef _WIN32
    tcase_add_loop_test(recorder, a_full_disk_leaves_the_file_that_was_there, 0, 2);
    tcase_add_test(recorder, a_table_that_cannot_be_shortened_keeps_its_rows);
    tcase_add_test(recorder, a_table_with_a_long_path_loses_its_rows_as_others_do);
    tcase_add_test(recorder, files_that_cannot_take_their_place_are_told);
#endif
    suite_add_tcase(suite, recorder);
    return suite;
}
