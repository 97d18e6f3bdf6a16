/* test_recorder.c - the files that the recorder writes: columns, pictures, how often, and what becomes of entities that
 * die.
 */
#include "../suites.h"
#include "plugin_stage.h"

#include "../../plugins/recorder/curve.h"

/* --- recorder ----------------------------------------------------------------------------------------------------- */

static const char csv_file[] = TEST_SCRATCH_DIR "/plugins.csv";
static const char svg_file[] = TEST_SCRATCH_DIR "/plugins.svg";

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

/* --- curves ------------------------------------------------------------------------------------------------------- */

enum { POINTS = 4000, GRID_BITS = 1024 * 1024, A_TURN = 64 };

static void go_around(recorder_curve *curve, int turns)
{
    for (int i = 0; i < turns * A_TURN; i++)
        recorder_curve_add(curve, 10 * cos(6.283185307179586 * i / A_TURN), 10 * sin(6.283185307179586 * i / A_TURN));
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

Suite *recorder_suite(void)
{
    Suite *suite = suite_create("recorder");
    TCase *recorder = tcase_create("recorder");
    tcase_add_test(recorder, the_csv_says_what_the_property_was);
    tcase_add_test(recorder, the_svg_is_a_picture_that_parses);
    tcase_add_test(recorder, worlds_with_units_of_their_own_have_panels_of_their_own);
    tcase_add_test(recorder, rows_are_written_as_often_as_asked);
    tcase_add_test(recorder, a_recorded_entity_that_dies_is_told_of_once);
    tcase_add_test(recorder, what_was_unknown_at_the_first_sample_is_not_recorded_later);
    tcase_add_loop_test(recorder, a_recorder_that_cannot_write_does_not_start, 0, 3);
    tcase_add_test(recorder, a_path_that_is_gone_many_times_is_kept_once);
    suite_add_tcase(suite, recorder);
    return suite;
}
