/* test_config.c - good inis do what they say. Wrong ones are the subject of test_config_mistakes.c. */
#include "../suites.h"
#include "config_stage.h"

static void expect_text(const char *path, const char *wanted)
{
    char text[256];
    bp_path_t found;
    WORKS(rig.host, rig.api->property->parse_path(rig.host, path, &found));
    WORKS(rig.host, rig.api->property->get_text(&found, text, sizeof text));
    ck_assert_msg(strcmp(text, wanted) == 0, "%s is %s, not %s", path, text, wanted);
}

static void set_up(const char *ini)
{
    WORKS(rig.host, bp_host_setup(rig.host, scratch_file("good.ini", ini)));
}

START_TEST(an_ini_may_be_empty)
{
    static const char *const inis[] = {
        "",        "\n",   "\n\n\n", "; nothing", "# nothing\n", "\xEF\xBB\xBF",
        " \n\t\n", "\r\n", "[host]", "[host]\n"};
    open_busy_host();
    state_t before = take_state();
    for (uint32_t i = 0; i < COUNT(inis); i++) {
        set_up(inis[i]);
        expect_state(&before, inis[i]);
    }
    rig_close(&rig);
}
END_TEST

START_TEST(a_whole_ini_is_done)
{
    open_host();
    set_up(whole);
    bp_step_t clock = {.struct_size = sizeof clock};
    rig.api->world->clock(rig.api->world->find(rig.host, "w"), &clock);
    ck_assert_uint_eq(bp_host_configured_steps(rig.host), 12);
    ck_assert_uint_eq(take_state().plugins, 3);
    ck_assert_uint_eq(take_state().units, 3);
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 3);
    ck_assert_double_eq(clock.dt, 1.0 / 50);
    for (char path[] = "w/#0:1.hull.position"; path[3] < '3'; path[3]++)
        expect_text(path, "1 2 3");
    for (char path[] = "w/#0:1.pool.text"; path[3] < '3'; path[3]++)
        expect_text(path, "some words");
    expect_text("w/#2:1.hull.mass", "1");
    WORKS(rig.host, bp_host_step(rig.host));
    rig_close(&rig);
}
END_TEST

/* Output of a shorter run than the ini says lies beside that of a whole one, with what was run. */
START_TEST(a_shorter_run_has_files_of_its_own)
{
    static const struct {
        const char *path, *partial;
    } files[] = {{"orbits.svg", "orbits.partial.svg"},     {"a.b/c.d/e.csv", "a.b/c.d/e.partial.csv"},
                 {"a.b/c", "a.b/c.partial"},               {"plain", "plain.partial"},
                 {".hidden", ".hidden.partial"},           {"a.b/.hidden", "a.b/.hidden.partial"},
                 {"a.tar.gz", "a.tar.partial.gz"},         {"a.b\\c", "a.b\\c.partial"}};
    char file[64], remark[32], expected[32];
    open_host();
    set_up(whole);
    bp_world_o *world = rig.api->world->find(rig.host, "w");
    for (uint32_t taken = 0; taken <= 13; taken++) {
        bool partial = taken < 12;
        snprintf(expected, sizeof expected, "%u of 12 steps", taken);
        for (uint32_t i = 0; i < COUNT(files); i++) {
            const char *wanted = partial ? files[i].partial : files[i].path;
            WORKS(rig.host, rig.api->file->output(world, files[i].path, file, sizeof file, remark, sizeof remark));
            ck_assert_str_eq(file, wanted);
            ck_assert_str_eq(remark, partial ? expected : "");
            WORKS(rig.host, rig.api->file->output(world, files[i].path, file, strlen(wanted) + 1, NULL, 0));
            ck_assert_str_eq(file, wanted);
            FAILS(rig.host, BP_ERROR_LIMIT, "the path is too long",
                  rig.api->file->output(world, files[i].path, file, strlen(wanted), remark, 4));
            ck_assert_uint_le(strlen(remark), 3);
        }
        WORKS(rig.host, bp_host_step(rig.host));
    }
    rig_close(&rig);
}
END_TEST

static const char *const layouts[] = {
    "[host]\nsteps = 8\nseed = 5\n",
    "[host]\r\nsteps = 8\r\nseed = 5\r\n",
    "[host]\nsteps = 8\nseed = 5",
    "[host]\r\nsteps = 8\r\nseed = 5\r",
    "\xEF\xBB\xBF[host]\nsteps = 8\nseed = 5\n",
    "\xEF\xBB\xBF; remark\r\n[host]\r\nsteps = 8\r\nseed = 5\r\n",
    "\n\n  \n[host]\n\nsteps=8\n\n\nseed=5\n\n",
    "[host]\nsteps:8\nseed : 5\n",
    "  [host]\n  steps = 8\nseed = 5\n",
    "\t[ host ]\t\nsteps\t=\t8\nseed = 5 \t\n",
    "; one\n# two\n[host] ; three\nsteps = 8 ; four\n  ; five\nseed = 5\n# six",
    "[host]\nsteps =\n  8\nseed =\n\t5\n",
    "[host]\nsteps =\n\n  8\nseed = 5\n",
    "[host]\nsteps = 0x8\nseed = +5\n",
    "[host]\nseed = 5\n;" X60 X60 X60 "xxxxxxxxx\nsteps = 8\n",
};

START_TEST(the_same_ini_may_be_written_in_many_ways)
{
    open_host();
    set_up(layouts[_i]);
    ck_assert_uint_eq(bp_host_configured_steps(rig.host), 8);
    ck_assert_uint_eq(rig.host->base.random, 5);
    rig_close(&rig);
}
END_TEST

START_TEST(lists_may_go_on_in_further_lines)
{
    open_host();
    set_up("[host]\nplugins = zoo ; the animals\n\n  stocks\t,\n  ; none here\n\tcrew ; the rest\n"
           "[world w]\ncomponents =\n body\n label,fx\n flag mark\nsystems = walk\n"
           "[spawn w s]\ncomponents = body\n label\nlabel.text = in\n   many\n\t words\n");
    ck_assert_uint_eq(take_state().plugins, 3);
    expect_text("w/#0:1.label.text", "in many words");
    rig_close(&rig);
}
END_TEST

static const bp_value_t *options_of(const char *component)
{
    bp_world_o *world = rig.api->world->find(rig.host, "w");
    bp_manager_t *manager = rig.api->world->manager(world, rig.api->world->component(world, component));
    ck_assert_ptr_nonnull(manager);
    return manager->plugin->options;
}

START_TEST(a_value_goes_on_over_any_number_of_lines)
{
    static char ini[20000];
    open_host();
    int n = snprintf(ini, sizeof ini,
                     "[host]\nplugins = crew\n[world w]\ncomponents = cook\n[plugin crew]\na_text = word\n");
    for (uint32_t i = 0; i < 700; i++)
        n += snprintf(ini + n, sizeof ini - (size_t)n, "%sword%u\n", i % 2 == 0 ? "  " : "\t", i);
    snprintf(ini + n, sizeof ini - (size_t)n, "an_i32 = 3\n");
    set_up(ini);
    const char *text = options_of("cook")[A_TEXT].string;
    ck_assert_uint_eq(strlen(text), 4 + 10 * 6 + 90 * 7 + 600 * 8);
    ck_assert_int_eq(strncmp(text, "word word0 word1 word2 ", 23), 0);
    ck_assert_int_eq(options_of("cook")[AN_I32].i32, 3);
    rig_close(&rig);
}
END_TEST

START_TEST(blanks_in_a_header_do_not_matter)
{
    open_host();
    set_up("[ host ]\nplugins = crew\nsteps = 3\n[plugin\t crew ]\nan_i32 = 4\n[  world   w]\ncomponents = "
           "cook\n");
    ck_assert_uint_eq(bp_host_configured_steps(rig.host), 3);
    ck_assert_int_eq(options_of("cook")[AN_I32].i32, 4);
    rig_close(&rig);
}
END_TEST

START_TEST(a_header_may_be_indented_and_stand_behind_a_byte_order_mark)
{
    open_host();
    set_up("\xEF\xBB\xBF[world a]\n  [world b]\nstep_rate = 4\n");
    ck_assert_double_eq(rig.api->world->find(rig.host, "a")->clock.step_rate, 60.0);
    ck_assert_double_eq(rig.api->world->find(rig.host, "b")->clock.step_rate, 4.0);
    rig_close(&rig);
}
END_TEST

START_TEST(hosts_numbers_are_taken_up_to_their_ends)
{
    open_host();
    set_up("[host]\nsteps = 9223372036854775807\nseed = 9223372036854775807\nthreads = 3\n");
    ck_assert_uint_eq(bp_host_configured_steps(rig.host), INT64_MAX);
    ck_assert_uint_eq(rig.host->base.random, INT64_MAX);
    ck_assert_uint_eq(rig.host->crew.jobs.threads, 3);
    set_up("[host]\nthreads = 2\n");
    ck_assert_uint_eq(rig.host->crew.jobs.threads, 2);
    set_up("[host]\nsteps = 0\nseed = 0\n");
    ck_assert_uint_eq(bp_host_configured_steps(rig.host), 0);
    ck_assert_uint_eq(rig.host->base.random, 0);
    ck_assert_uint_eq(rig.host->crew.jobs.threads, 2);
    rig_close(&rig);
}
END_TEST

START_TEST(inis_add_to_what_is_there)
{
    open_busy_host();
    set_up(SPAWN "components = body\n");
    set_up("[world v]\ncomponents = body companion\n[spawn old more]\ncomponents = companion\n[spawn v "
           "s]\ncomponents = body\n");
    ck_assert_uint_eq(take_state().worlds, 3);
    ck_assert_uint_eq(take_state().plugins, 4);
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 6);
    ck_assert_uint_eq(bp_host_configured_steps(rig.host), 7);
    FAILS(rig.host, BP_ERROR_EXISTS, "again.ini:1: there is a world 'v' already",
          bp_host_setup(rig.host, scratch_file("again.ini", "[world v]\n")));
    rig_close(&rig);
}
END_TEST

START_TEST(options_of_every_type_are_read)
{
    open_host();
    set_up("[plugin crew]\na_bool = yes\nan_i32 = -5\na_u32 = 4294967295\nan_i64 = "
           "-9223372036854775808\nan_f32 = 0.5\nan_f64 = -1e300\n"
           "a_vec3 = 1, -2, 0.25\na_colour = #ff8000\na_text = a text; with = signs : and \"quotes\" ; but "
           "no remark\na_name = fog\n"
           "[host]\nplugins = crew\n[world w]\ncomponents = cook\n");
    const bp_value_t *o = options_of("cook");
    ck_assert_uint_eq(o[A_BOOL].boolean, 1);
    ck_assert_int_eq(o[AN_I32].i32, -5);
    ck_assert_uint_eq(o[A_U32].u32, UINT32_MAX);
    ck_assert(o[AN_I64].i64 == INT64_MIN);
    ck_assert_float_eq(o[AN_F32].f32, 0.5f);
    ck_assert_double_eq(o[AN_F64].f64, -1e300);
    ck_assert_float_eq(o[A_VEC3].vec3.y, -2.0f);
    ck_assert_float_eq(o[A_VEC3].vec3.z, 0.25f);
    ck_assert_float_eq(o[A_COLOUR].colour.g, 128.0f / 255.0f);
    ck_assert_float_eq(o[A_COLOUR].colour.a, 1.0f);
    ck_assert_str_eq(o[A_TEXT].string, "a text; with = signs : and \"quotes\"");
    ck_assert_uint_eq(o[A_NAME].name, rig.api->name->hash("fog"));
    rig_close(&rig);
}
END_TEST

START_TEST(options_not_given_are_at_their_defaults)
{
    open_host();
    set_up("[host]\nplugins = crew\n[world w]\ncomponents = cook\n[plugin crew]\nan_i32 = 1\na_text =\n");
    const bp_value_t *o = options_of("cook");
    ck_assert_int_eq(o[AN_I32].i32, 1);
    ck_assert_uint_eq(o[A_U32].u32, 9);
    ck_assert_uint_eq(o[A_BOOL].boolean, 0);
    ck_assert_str_eq(o[A_TEXT].string, "");
    ck_assert_uint_eq(o[A_NAME].name, 0);
    ck_assert_str_eq(o[A_PATH].string, "default.obj"); /* as it stands, not relative to the ini */
    rig_close(&rig);
}
END_TEST

START_TEST(paths_in_options_are_relative_to_the_ini)
{
    static const char *const cases[][2] = {
        {"data/shape.obj", SCRATCH "/data/shape.obj"},
        {"../shape.obj", SCRATCH "/../shape.obj"},
        {"/tmp/shape.obj", "/tmp/shape.obj"},
        {"shape.obj ; remark", SCRATCH "/shape.obj"},
        {"", ""},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        char ini[512];
        open_host();
        snprintf(
            ini, sizeof ini,
            "[host]\nplugins = ../fixtures/picky\n[plugin picky]\nrounds = 2\ntitle = data/x\nfile = %s\n"
            "[world w]\ncomponents = picky\n",
            cases[i][0]);
        set_up(ini);
        ck_assert_uint_eq(options_of("picky")[0].u32, 2);
        ck_assert_str_eq(options_of("picky")[2].string, "data/x");
        ck_assert_str_eq(options_of("picky")[3].string, cases[i][1]);
        rig_close(&rig);
    }
}
END_TEST

START_TEST(plugins_are_found_by_name_and_by_path)
{
    static const char *const heads[] = {
        "[host]\nplugins = ../fixtures/companion\n",
        "[host]\nplugins = ../fixtures/companion.so\n",
        "[host]\nplugins = ./../fixtures/companion\n",
        "[host]\nplugins = ../fixtures/companion\n",
        "[host]\nplugin_path = ../fixtures\nplugins = companion\n",
        "[host]\nplugins = companion\nplugin_path = ../fixtures\n",
        "[host]\nplugin_path = ../fixtures\nplugins = companion\n",
        "[host]\nplugin_path = nowhere\nplugins = ../fixtures/companion\n",
    };
    for (uint32_t i = 0; i < COUNT(heads); i++) {
        char ini[2048];
        const char *path;
        open_host();
        snprintf(ini, sizeof ini,
                 "%s[world w]\ncomponents = companion\n[spawn w s]\ncomponents = companion\n", heads[i]);
        set_up(ini);
        ck_assert_str_eq(bp_host_plugin(rig.host, 0, &path)->name, "companion");
        ck_assert_msg(strstr(path, "fixtures/companion" TEST_SO) != NULL, "%s", path);
        expect_text("w/#0:1.companion.level", "-7");
        rig_close(&rig);
    }
}
END_TEST

START_TEST(a_name_of_a_static_plugin_comes_before_files)
{
    const char *path;
    open_host();
    set_up("[host]\nplugins = crew zoo\nplugin_path = ../fixtures\n");
    ck_assert_str_eq(bp_host_plugin(rig.host, 0, &path)->name, "crew");
    ck_assert_str_eq(path, "");
    ck_assert_str_eq(bp_host_plugin(rig.host, 1, &path)->name, "zoo");
    ck_assert_ptr_null(bp_host_plugin(rig.host, 2, NULL));
    rig_close(&rig);
}
END_TEST

START_TEST(several_worlds_have_what_each_asks_for)
{
    open_host();
    set_up(PLUGINS "[spawn b one]\ncomponents = body\nbody.mass = 3\n[world a]\n[world b]\nstep_rate = "
                   "10\ncomponents = body pool\n"
                   "systems = walk lead\n[world c]\ncomponents = pool\n[spawn c many]\ncount = 4\ncomponents "
                   "= pool\n[spawn a bare]\n");
    static const char *const names[] = {"a", "b", "c"};
    for (uint32_t i = 0; i < COUNT(names); i++)
        ck_assert_str_eq(rig.api->world->name(rig.api->world->at(rig.host, i)), names[i]);
    bp_world_o *a = rig.api->world->at(rig.host, 0), *b = rig.api->world->at(rig.host, 1),
               *c = rig.api->world->at(rig.host, 2);
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 6);
    ck_assert_uint_eq(rig.api->world->component(a, "body"), BP_NONE);
    ck_assert_uint_eq(rig.api->world->count(b, rig.api->world->component(b, "body")), 1);
    ck_assert_uint_eq(rig.api->world->count(b, rig.api->world->component(b, "pool")), 0);
    ck_assert_uint_eq(rig.api->world->count(c, rig.api->world->component(c, "pool")), 4);
    expect_text("b/#0:1.body.mass", "3");
    WORKS(rig.host, bp_host_step(rig.host));
    bp_step_t clock = {.struct_size = sizeof clock};
    rig.api->world->clock(b, &clock);
    ck_assert_double_eq(clock.time, 0.1);
    rig.api->world->clock(a, &clock);
    ck_assert_double_eq(clock.time, 1.0 / 60);
    rig_close(&rig);
}
END_TEST

START_TEST(systems_step_in_the_order_of_the_ini_but_for_their_wishes)
{
    static const char *const wanted[] = {"body", "lead", "walk"};
    open_host();
    set_up(WORLD "systems = walk lead\n");
    for (uint32_t i = 0, found = 0; found < COUNT(wanted); i++) {
        bp_unit_stats_t stats;
        ck_assert_msg(bp_host_unit_stats(rig.host, i, &stats) != 0, "there is no %s", wanted[found]);
        if (strcmp(stats.unit, "pool") == 0)
            continue;
        ck_assert_str_eq(stats.unit, wanted[found]);
        found++;
    }
    rig_close(&rig);
}
END_TEST

START_TEST(values_of_every_type_are_spawned)
{
    static const char *const values[][3] = {
        {"a_bool", "off", "false"},
        {"a_i32", "-100", "-100"},
        {"a_u32", "0x10", "16"},
        {"a_i64", "9223372036854775807", "9223372036854775807"},
        {"a_f32", "1.5e3", "1500"},
        {"a_f64", "-0.1", "-0.1"},
        {"a_vec2", "1 50", "1 50"},
        {"a_vec3", "0,0,1", "0 0 1"},
        {"a_vec4", "1 2 3 4.5", "1 2 3 4.5"},
        {"a_quat", "0 1 0 0", "0 1 0 0"},
        {"a_mat4", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"},
        {"a_colour", "#ff000000", "1 0 0 0"},
        {"a_string", "text as it stands", "text as it stands"},
        {"an_entity", "#1:1", "#1:1"},
        {"a_name", "fog", "fog"},
    };
    char ini[2048];
    int n = snprintf(ini, sizeof ini, SPAWN "components = it:sample\ncount = 3\n");
    for (uint32_t i = 0; i < COUNT(values); i++)
        n += snprintf(ini + n, sizeof ini - (size_t)n, "it.%s = %s\n", values[i][0], values[i][1]);
    open_host();
    set_up(ini);
    for (uint32_t i = 0; i < COUNT(values); i++) {
        for (uint32_t e = 0; e < 3; e++) {
            char path[64];
            snprintf(path, sizeof path, "w/#%u:1.it.%s", e, values[i][0]);
            expect_text(path, values[i][2]);
        }
    }
    expect_text("w/#0:1.it.a_reading", "3");
    rig_close(&rig);
}
END_TEST

START_TEST(scenes_are_spawned_into_their_worlds)
{
    open_host();
    write_scenes();
    set_up(WORLD "scenes = two.json,\n    two.json\n[spawn w s]\ncount = 5\ncomponents = body\n"
                 "[world v]\ncomponents = body label pool\nscenes = two.json\n");
    bp_world_o *w = rig.api->world->find(rig.host, "w"), *v = rig.api->world->find(rig.host, "v");
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 17);
    ck_assert_uint_eq(rig.api->world->count(w, rig.api->world->component(w, "body")), 7);
    ck_assert_uint_eq(rig.api->world->count(w, rig.api->world->component(w, "pool")), 6);
    ck_assert_uint_eq(rig.api->world->count(v, rig.api->world->component(v, "body")), 1);
    ck_assert_uint_eq(rig.api->world->count(v, rig.api->world->component(v, "pool")), 3);
    expect_text("w/#0:1.body.mass", "3");
    expect_text("w/#4:1.body.mass", "3");
    expect_text("w/#7:1.pool.number", "3");
    expect_text("v/#1024:1.body.mass", "3");
    rig_close(&rig);
}
END_TEST

START_TEST(entities_of_one_section_live_in_another_world_too)
{
    static const char ini[] = PLUGINS "[world w]\ncomponents = body\n[world v]\ncomponents = label pool\n"
                              "[spawn w s]\ncount = 3\ncomponents = body\n"
                              "[spawn v s]\nentities = w s\ncomponents = tag:label pool\ntag.text = here too\n"
                              "[spawn v one]\ncomponents = label\n";
    bp_entity_t e[8];
    const char *text;
    open_host();
    WORKS(rig.host, bp_host_setup(rig.host, scratch_file("both.ini", ini)));
    bp_world_o *w = rig.api->world->find(rig.host, "w"), *v = rig.api->world->find(rig.host, "v");
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 4);
    ck_assert_uint_eq(w->rows.occupied, 3);
    ck_assert_uint_eq(v->rows.occupied, 4);
    host_list_entities(&w->rows, e);
    for (uint32_t i = 0; i < 3; i++) {
        WORKS(rig.host, rig.api->property->get_named(v, e[i], "tag", "text", BP_STRING, &text));
        ck_assert_str_eq(text, "here too");
    }
    check_host(rig.host);
    rig_close(&rig);
}
END_TEST

START_TEST(nobody_is_spawned_for_a_count_of_0)
{
    open_host();
    set_up(SPAWN "count = 0\ncomponents = body\nbody.mass = 2\n[spawn w many]\ncount = 100000\ncomponents = "
                 "body\n[spawn w none]\n");
    bp_world_o *world = rig.api->world->find(rig.host, "w");
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 100001);
    ck_assert_uint_eq(rig.api->world->count(world, rig.api->world->component(world, "body")), 100000);
    rig_close(&rig);
}
END_TEST

START_TEST(an_entity_has_several_components_of_a_type_under_their_names)
{
    open_host();
    set_up("[host]\nplugins = zoo stocks\n[world w]\ncomponents = fx pool\n[spawn w s]\ncomponents = fog:fx, "
           "vignette:fx, fx a:pool b:pool\n"
           "fog.strength = 0.25\nvignette.strength = 0.75\na.text = first\nb.text = second\n");
    expect_text("w/#0:1.fog.strength", "0.25");
    expect_text("w/#0:1.vignette.strength", "0.75");
    expect_text("w/#0:1.fx.strength", "0.5");
    expect_text("w/#0:1.a.text", "first");
    expect_text("w/#0:1.b.text", "second");
    rig_close(&rig);
}
END_TEST

START_TEST(names_of_63_bytes_are_whole)
{
    open_host();
    set_up("[host]\nplugins = zoo\n[world " X60 "xxx]\ncomponents = body\n[spawn " X60 "xxx " X60
           "xxx]\ncomponents = " X60 "xxx:body\n" X60 "xxx.mass = 5\n");
    expect_text(X60 "xxx/#0:1." X60 "xxx.mass", "5");
    rig_close(&rig);
}
END_TEST

Suite *config_suite(void)
{
    Suite *suite = suite_create("config");
    TCase *good = tcase_create("good");
    tcase_add_test(good, an_ini_may_be_empty);
    tcase_add_test(good, a_whole_ini_is_done);
    tcase_add_test(good, a_shorter_run_has_files_of_its_own);
    tcase_add_loop_test(good, the_same_ini_may_be_written_in_many_ways, 0, (int)COUNT(layouts));
    tcase_add_test(good, lists_may_go_on_in_further_lines);
    tcase_add_test(good, a_value_goes_on_over_any_number_of_lines);
    tcase_add_test(good, blanks_in_a_header_do_not_matter);
    tcase_add_test(good, a_header_may_be_indented_and_stand_behind_a_byte_order_mark);
    tcase_add_test(good, hosts_numbers_are_taken_up_to_their_ends);
    tcase_add_test(good, inis_add_to_what_is_there);
    tcase_add_test(good, options_of_every_type_are_read);
    tcase_add_test(good, options_not_given_are_at_their_defaults);
    tcase_add_test(good, paths_in_options_are_relative_to_the_ini);
    tcase_add_test(good, plugins_are_found_by_name_and_by_path);
    tcase_add_test(good, a_name_of_a_static_plugin_comes_before_files);
    tcase_add_test(good, several_worlds_have_what_each_asks_for);
    tcase_add_test(good, systems_step_in_the_order_of_the_ini_but_for_their_wishes);
    tcase_add_test(good, values_of_every_type_are_spawned);
    tcase_add_test(good, scenes_are_spawned_into_their_worlds);
    tcase_add_test(good, entities_of_one_section_live_in_another_world_too);
    tcase_add_test(good, nobody_is_spawned_for_a_count_of_0);
    tcase_add_test(good, an_entity_has_several_components_of_a_type_under_their_names);
    tcase_add_test(good, names_of_63_bytes_are_whole);
    suite_add_tcase(suite, good);
    return suite;
}
