/* test_config_again.c - an ini that is changed while its host runs: what has changed in it is done, or all of it is
 * refused and the host is as it was.
 *
 * The plugins are the real ones from their files, since plugins that are linked in have no options to reload with.
 * Every allocation that may fail meanwhile: test_memory_failure.c.
 */
#include "../suites.h"
#include "../unit/inspect.h"
#include "../unit/support.h"

#include "engine/host.h"
#include "os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bp_host_o *host;
static log_text_t log_text;
static char ini[1024];

#define PLUGINS "plugin_path = ../plugins\n"
#define EARTH "[spawn main earth]\ncomponents = body:point_mass\nbody.mass = 3\n"

static const char first[] = "[host]\n" PLUGINS "plugins = point_mass gravity\nsteps = 10\n"
                            "[plugin gravity]\nconstant = 1\n"
                            "[world main]\nstep_rate = 10\ncomponents = point_mass\nsystems = gravity\n" EARTH;

static void write_ini(const char *text)
{
    snprintf(ini, sizeof ini, "%s", scratch_file("again.ini", text));
}

static void open_host(uint32_t flags, const char *text)
{
    log_text.text[0] = '\0';
    host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log_text), .flags = flags | BP_HOST_COPY_PLUGINS});
    write_ini(text);
    WORKS(host, bp_host_setup(host, ini));
}

static void close_host(void)
{
    check_host(host);
    bp_host_destroy(host);
    EXPECT(strstr(log_text.text, "not given back") == NULL, "memory is kept:\n%s", log_text.text);
}

static bp_world_o *find_world(const char *name)
{
    bp_world_o *world = bp_host_api(host)->world->find(host, name);
    EXPECT(world != NULL, "there is no world %s", name);
    return world;
}

static void step(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        WORKS(host, bp_host_step(host));
}

static void expect_told(const char *told, const char *expected)
{
    const char *lines = strchr(told, '\n');
    EXPECT(lines != NULL && strcmp(lines + 1, expected) == 0, "told is\n%s\nand not\n%s", told, expected);
}

static void expect_value(const char *path, const char *expected)
{
    char value[256];
    bp_path_t found;
    const bp_property_api *property = bp_host_api(host)->property;
    WORKS(host, property->parse_path(host, path, &found));
    WORKS(host, property->get_text(&found, value, sizeof value));
    EXPECT(strcmp(value, expected) == 0, "%s is %s and not %s", path, value, expected);
}

/* The units of world main, in their order. */
static void expect_units(const char *expected)
{
    char text[256] = "";
    const schedule_t *schedule = find_world("main")->schedule;
    for (uint32_t i = 0; i < schedule->count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? " " : "", schedule->units[i]->name);
    ck_assert_str_eq(text, expected);
}

static double option_of_gravity(void)
{
    for (uint32_t i = 0; i < host->loader.plugins.count; i++) {
        const plugin_t *plugin = host->loader.plugins.items[i];
        if (strcmp(plugin->name, "gravity") == 0)
            return plugin->option_values[0].f64;
    }
    return -1;
}

/* --- what is done ------------------------------------------------------------------------------------------------- */

START_TEST(an_ini_that_is_as_it_was_changes_nothing)
{
    const char *told;
    open_host(0, first);
    step(3);
    char *before = describe_host(host);
    WORKS(host, bp_host_setup_again(host, ini, &told));
    EXPECT(strstr(told, ": nothing has changed") != NULL, "told is: %s", told);
    expect_same(before, describe_host(host), "nothing has changed");
    close_host();
}
END_TEST

START_TEST(what_comes_goes_and_changes_is_done_and_told_and_the_rest_lives_on)
{
    static const char second[] =
        "[host]\n" PLUGINS "plugins = point_mass gravity debug_name\nsteps = 20\nthreads = 2\n"
        "[plugin gravity]\nconstant = 2\nsoftening = 0.5\n"
        "[world main]\nstep_rate = 20\nunits = m=au\ncomponents = point_mass debug_name\nsystems = gravity\n"
        "[world other]\ncomponents = debug_name\n"
        "[spawn main earth]\ncomponents = body:point_mass\nbody.mass = 4\n"
        "[spawn main moon]\ncomponents = body:point_mass name:debug_name\nname.name = moon\n"
        "[spawn other x]\ncomponents = debug_name\ncount = 5\n";
    const char *told;
    open_host(0, first);
    step(3);
    for (uint32_t i = 0; i < 3; i++) { /* there and back, more than once */
        write_ini(second);
        WORKS(host, bp_host_setup_again(host, ini, &told));
        expect_told(told, "  [host] steps = 20\n  [host] threads = 2\n  plugin gravity: constant = 2\n"
                          "  plugin gravity: softening = 0.5\n  plugin debug_name is loaded\n"
                          "  world main: step_rate = 20\n  world main: units = m=au\n"
                          "  world main uses component debug_name\n  world other comes\n"
                          "  [spawn main earth]: its entities live on as they are; it holds from the next start on\n"
                          "  [spawn main moon] is spawned\n  [spawn other x] is spawned");
        ck_assert_double_eq(option_of_gravity(), 2);
        ck_assert_uint_eq(bp_host_configured_steps(host), 20);
        ck_assert_uint_eq(host->crew.jobs.threads, 2);
        ck_assert_uint_eq(find_world("other")->rows.occupied, 5);
        expect_value("main/#0:1.body.mass", "3");
        expect_value("main/moon.body.mass", "1");
        step(2);
        write_ini(first);
        WORKS(host, bp_host_setup_again(host, ini, &told));
        expect_told(told, "  [host] steps = 10\n  [host] threads is not given any more; it was 2\n"
                          "  plugin gravity: constant = 1\n  plugin gravity: option softening is not given any more\n"
                          "  plugin debug_name is unloaded\n  world main: step_rate = 10\n  world main: units = \n"
                          "  world main drops component debug_name\n"
                          "  world other ends, with the entities that live there alone\n"
                          "  [spawn main earth]: its entities live on as they are; it holds from the next start on\n"
                          "  [spawn main moon]: its entities live on; they are not there after the next start");
        ck_assert_double_eq(option_of_gravity(), 1);
        ck_assert_uint_eq(host->crew.jobs.threads, 1);
        ck_assert_ptr_null(bp_host_api(host)->world->find(host, "other"));
        ck_assert_uint_eq(host->loader.plugins.count, 2);
        ck_assert_uint_eq(bp_host_api(host)->entity->count(host), 2 + i); /* earth, and a moon of each round */
        step(2);
        check_host(host);
    }
    close_host();
}
END_TEST

START_TEST(time_goes_on_from_where_it_was_when_a_rate_changes)
{
    static const char faster[] = "[host]\n" PLUGINS "plugins = point_mass gravity\nsteps = 10\n"
                                 "[plugin gravity]\nconstant = 1\n"
                                 "[world main]\nstep_rate = 20\ncomponents = point_mass\nsystems = gravity\n" EARTH;
    bp_world_stats_t stats;
    open_host(0, first);
    step(3);
    write_ini(faster);
    WORKS(host, bp_host_setup_again(host, ini, NULL));
    step(2);
    bp_world_stats(find_world("main"), &stats);
    ck_assert_uint_eq(stats.steps, 5);
    EXPECT(stats.time > 0.3999 && stats.time < 0.4001, "three tenths and two twentieths are %g", stats.time);
    close_host();
}
END_TEST

START_TEST(what_people_have_done_meanwhile_stays)
{
    static const char other[] = "[host]\n" PLUGINS "plugins = point_mass gravity debug_name\nsteps = 10\n"
                                "[plugin gravity]\nconstant = 1\n"
                                "[world main]\nstep_rate = 10\ncomponents = point_mass debug_name\n" EARTH;
    open_host(0, first);
    WORKS(host, bp_host_load_plugin(host, TEST_PLUGIN_DIR "/camera", NULL, 0));
    WORKS(host, bp_world_drop_system(find_world("main"), "gravity"));
    ck_assert_ptr_nonnull(bp_world_create(host, &(bp_world_desc_t){.name = "mine"}));
    write_ini(other);
    WORKS(host, bp_host_setup_again(host, ini, NULL));
    ck_assert_uint_eq(find_world("main")->rows.manager_count, 2);
    ck_assert_uint_eq(host->loader.plugins.count, 4);
    find_world("mine");
    step(1);
    close_host();
}
END_TEST

START_TEST(scenes_of_the_host_come_with_the_worlds_that_they_name)
{
#define TWO_WORLDS(scenes) \
    "[host]\n" PLUGINS "plugins = point_mass gravity\nsteps = 10\n" scenes "[plugin gravity]\nconstant = 1\n" \
    "[world main]\nstep_rate = 10\ncomponents = point_mass\nsystems = gravity\n" \
    "[world other]\ncomponents = point_mass\n"
    const char *told;
    scratch_file("again_worlds.json",
                 "{\"worlds\": {\"main\": {\"entities\": [{\"name\": \"a\", \"components\": {\"point_mass\": {}}}]},\n"
                 "\"other\": {\"entities\": [{\"entity\": \"a\", \"components\": {\"point_mass\": {}}}]}}}\n");
    open_host(0, TWO_WORLDS("scenes = again_worlds.json\n"));
    ck_assert_uint_eq(bp_host_api(host)->entity->count(host), 1);
    ck_assert_uint_eq(find_world("other")->rows.occupied, 1);
    write_ini(TWO_WORLDS(""));
    WORKS(host, bp_host_setup_again(host, ini, &told));
    expect_told(told, "  [host]: entities of scene again_worlds.json live on; they are not there after the next start");
    write_ini(TWO_WORLDS("scenes = again_worlds.json\n"));
    WORKS(host, bp_host_setup_again(host, ini, &told));
    expect_told(told, "  [host]: scene again_worlds.json is spawned");
    ck_assert_uint_eq(bp_host_api(host)->entity->count(host), 2);
    ck_assert_uint_eq(find_world("main")->rows.occupied, 2);
    step(2);
    close_host();
#undef TWO_WORLDS
}
END_TEST

/* Options as they stand, other values as rank 0 of 1: when the host starts, and when the ini is done anew. */
START_TEST(braces_mean_the_same_at_the_start_and_later)
{
#define BRACES(more, extra) \
    "[host]\n" PLUGINS "plugins = point_mass recorder debug_name\n" \
    "[plugin recorder]\nproperties = main/#0:1.body.mass\ncsv = braces_{rank}.csv\n" more \
    "[world main]\ncomponents = point_mass debug_name\n" \
    "[spawn main a]\ncomponents = body:point_mass debug_name\ndebug_name.name = a{rank}of{ranks}\n" extra
    const char *told;
    open_host(0, BRACES("", ""));
    expect_value("main/#0:1.debug_name.name", "a0of1");
    write_ini(BRACES("every = 5\n", "[spawn main b]\ncomponents = debug_name\ndebug_name.name = b{rank}\n"));
    WORKS(host, bp_host_setup_again(host, ini, &told));
    expect_told(told, "  plugin recorder: every = 5\n  [spawn main b] is spawned");
    expect_value("main/#1:1.debug_name.name", "b0");
    for (uint32_t i = 0; i < host->loader.plugins.count; i++) {
        const plugin_t *plugin = host->loader.plugins.items[i];
        for (uint32_t k = 0; k < plugin->handed.option_count && strcmp(plugin->name, "recorder") == 0; k++)
            EXPECT(strcmp(plugin->options[k].name, "csv") != 0 ||
                       strstr(plugin->option_values[k].string, "braces_{rank}.csv") != NULL,
                   "csv is %s", plugin->option_values[k].string);
    }
    close_host();
#undef BRACES
}
END_TEST

/* Keys of [host] that hold from now on, there and back; what the log says of them is what the host does. */
START_TEST(what_holds_from_now_on_does_so_and_ends_with_its_line)
{
#define LIVE(keys, rest) \
    "[host]\n" PLUGINS "plugins = point_mass gravity orbit\nhot_reload = on\n" keys \
    "[plugin gravity]\nconstant = 1\n" \
    "[world main]\nstep_rate = 10\ncomponents = point_mass orbit rounding\n" rest EARTH
    const char *told;
    open_host(0, LIVE("", "systems = orbit_measure carry_rounding\n"));
    uint32_t probation = host->reload.probation_steps;
    ck_assert_uint_gt(probation, 0);
    EXPECT(host->hot.trying && !host->audits, "trials are on, and audits are not");
    write_ini(LIVE("audit = writes\nprobation = 7\nreload_pause = 500\nreload = try 20\ntrial = off\n",
                   "systems = gravity carry_rounding orbit_measure\n"));
    WORKS(host, bp_host_setup_again(host, ini, &told));
    expect_told(told, "  [host] probation = 7\n  [host] trial = off\n  [host] reload_pause = 500\n"
                      "  [host] audit = writes\n  [host] reload = try 20\n  world main uses system gravity\n"
                      "  world main: its systems come in this order: gravity carry_rounding orbit_measure");
    ck_assert_uint_eq(host->reload.probation_steps, 7);
    ck_assert_uint_eq(host->reload.pause_limit, 500);
    ck_assert_uint_eq(host->hot.beside_steps, 20);
    EXPECT(!host->hot.trying && host->audits, "trials are off, and audits are not");
    step(1);
    expect_units("gravity point_mass carry_rounding orbit_measure");
    write_ini(LIVE("reload = at once\naudit = off\ntrial_deadline = 900\n",
                   "systems = orbit_measure carry_rounding\n"));
    WORKS(host, bp_host_setup_again(host, ini, &told));
    expect_told(told, "  [host] probation is not given any more; it was 7\n"
                      "  [host] trial is not given any more; it was off\n  [host] trial_deadline = 900\n"
                      "  [host] reload_pause is not given any more; it was 500\n  [host] audit = off\n"
                      "  [host] reload = at once\n  world main drops system gravity\n"
                      "  world main: its systems come in this order: orbit_measure carry_rounding");
    ck_assert_uint_eq(host->reload.probation_steps, probation);
    ck_assert_uint_eq(host->reload.pause_limit, 0);
    ck_assert_uint_eq(host->hot.beside_steps, 0);
    EXPECT(host->hot.trying && !host->audits, "trials are on, and audits are not");
    step(1);
    expect_units("point_mass orbit_measure carry_rounding");
    close_host();
#undef LIVE
}
END_TEST

/* A component and a plugin that a call has brought: the first is there, the second stands in the way. The path of the
 * ini is written in another way. */
START_TEST(what_a_call_has_brought_in_before_is_there)
{
#define BROUGHT(plugins, components) \
    "[host]\n" PLUGINS "plugins = point_mass debug_name" plugins "\n" \
    "[world main]\ncomponents = point_mass" components "\n"
    char path[2048];
    const char *told;
    open_host(0, BROUGHT("", ""));
    WORKS(host, bp_world_use_component(find_world("main"), "debug_name"));
    WORKS(host, bp_host_load_plugin(host, TEST_PLUGIN_DIR "/camera", NULL, 0));
    write_ini(BROUGHT(" camera", " debug_name"));
    FAILS(host, BP_ERROR_EXISTS, "'camera' is loaded already", bp_host_setup_again(host, ini, &told));
    ck_assert_str_eq(told, "");
    write_ini(BROUGHT("", " debug_name"));
    snprintf(path, sizeof path, "%s/../%s%s", TEST_SCRATCH_DIR, strrchr(TEST_SCRATCH_DIR, '/') + 1, strrchr(ini, '/'));
    WORKS(host, bp_host_setup_again(host, path, &told));
    expect_told(told, "  world main uses component debug_name");
    step(1);
    close_host();
#undef BROUGHT
}
END_TEST

/* --- what is refused ---------------------------------------------------------------------------------------------- */

typedef struct mistake_t {
    const char *host, *options, *world, *more, *message;
} mistake_t;

#define SAME_HOST "plugins = point_mass gravity\nsteps = 10\n"
#define SAME_WORLD "step_rate = 10\ncomponents = point_mass\nsystems = gravity\n"

/* Each with changes beside it that would be fine alone. */
static const mistake_t mistakes[] = {
    {SAME_HOST "seed = 4\n", "constant = 2\n", SAME_WORLD, "",
     ":5: seed cannot change while the host runs (it was not given)"},
    {SAME_HOST "no_such_key = 4\n", "constant = 2\n", SAME_WORLD, "", ":5: unknown key 'no_such_key'"},
    {SAME_HOST "threads = 2\n", "constant = x\n", SAME_WORLD, "[world more]\n",
     "option 'constant' of plugin 'gravity': 'x' is not a number"},
    {SAME_HOST, "constants = 1\n", SAME_WORLD, "[world more]\n", "plugin 'gravity' has no option 'constants'"},
    {"plugins = point_mass gravity no_such\n", "constant = 2\n", SAME_WORLD, "[world more]\n",
     ":3: there is no plugin file no_such"},
    {"plugins = point_mass gravity debug_name\n", "constant = 2\n",
     "components = point_mass debug_name\nsystems = gravity no_such\n", "[world more]\ncomponents = debug_name\n",
     ":8: no loaded plugin brings a system 'no_such'"},
    {"plugins = point_mass gravity debug_name\n", "constant = 2\n",
     "components = debug_name\nsystems = gravity\n", "", "system 'gravity' works on component 'point_mass'"},
    {"plugins = gravity\n", "constant = 2\n", "systems = gravity\n", "",
     "plugin 'point_mass' is needed: 'gravity' in world 'main' works on its component 'point_mass'"},
    {"plugins = gravity\n", "constant = 2\n", "components = point_mass\n", "",
     "component 'point_mass' goes with plugin 'point_mass'"},
    {SAME_HOST, "constant = 2\n", SAME_WORLD "scenes = no_such.json\n", "[world more]\n", "no_such.json"},
    {SAME_HOST, "constant = 2\n", SAME_WORLD, "[spawn main more]\ncomponents = point_mass\npoint_mass.mas = 1\n",
     ":13: no property 'mas' in point_mass"},
    {SAME_HOST, "constant = 2\n", "step_rate = -1\ncomponents = point_mass\nsystems = gravity\n", "",
     ":8: step_rate = -1 must be greater than 0"},
    {SAME_HOST, "constant = 2\n", SAME_WORLD "units = nonsense\n", "", "units"},
    {SAME_HOST, "constant = 2\n", SAME_WORLD "place = rank 0\n", "",
     "the place of world 'main' cannot change while the host runs"},
    {SAME_HOST, "constant = 2\n", SAME_WORLD, "[world more]\n[world more]\n",
     ":12: section [world more] stands already in line 11"},
    {SAME_HOST, "constant = 2\n", SAME_WORLD, "[world more]\n[wrold other]\n", ":12: "},
    {"plugins = ../plugins/point_mass gravity\n", "constant = 2\n", SAME_WORLD, "[world more]\n",
     ":3: plugin 'point_mass' comes from elsewhere, ../plugins/point_mass; start anew for that"},
};

START_TEST(a_mistake_refuses_all_of_it_and_leaves_the_host_as_it_was)
{
    const mistake_t *m = &mistakes[_i];
    char text[2048];
    open_host(0, first);
    step(3);
    char *before = describe_host(host);
    snprintf(text, sizeof text, "[host]\n" PLUGINS "%s[plugin gravity]\n%s[world main]\n%s%s" EARTH, m->host,
             m->options, m->world, m->more);
    write_ini(text);
    FAILS(host, bp_host_setup_again(host, ini, NULL) == BP_OK ? BP_OK : BP_ERROR_FAILED, "", BP_ERROR_FAILED);
    EXPECT(strstr(bp_host_error(host), m->message) != NULL && strncmp(bp_host_error(host), ini, strlen(ini)) == 0,
           "\"%s\" is not in: %s", m->message, bp_host_error(host));
    expect_same(before, describe_host(host), m->message);
    ck_assert_double_eq(option_of_gravity(), 1);
    ck_assert_uint_eq(bp_host_configured_steps(host), 10);
    step(1);
    write_ini(first);
    WORKS(host, bp_host_setup_again(host, ini, NULL));
    close_host();
}
END_TEST

typedef struct wrong_t {
    const char *before, *after, *message;
    bool ended; /* world main, by a call before */
} wrong_t;

#define OTHER_WORLD "[world other]\ncomponents = point_mass\n[spawn other x]\ncomponents = point_mass\n"

static const wrong_t wrongs[] = {
    {"[host]\n" PLUGINS "plugins = point_mass gravity\n[world main]\ncomponents = point_mass\nsystems = gravity\n",
     "[host]\n" PLUGINS "plugins = point_mass\n[world main]\ncomponents = point_mass\nsystems = gravity\n",
     ":6: system 'gravity' goes with plugin 'gravity'", false},
    {"[host]\n" PLUGINS "plugins = point_mass\nseed = 4\n", "[host]\n" PLUGINS "plugins = point_mass\n[world more]\n",
     ": seed cannot change while the host runs (it was 4); end the program and start anew", false},
    {"[host]\n" PLUGINS "plugins = point_mass\n[world main]\n" OTHER_WORLD,
     "[host]\n" PLUGINS "plugins = point_mass\n[world main]\n[spawn other x]\ncomponents = point_mass\n",
     ":5: world 'other' of [spawn other x] ends: this file has no [world other]", false},
    {"[host]\n" PLUGINS "plugins = point_mass\n[world main]\n" OTHER_WORLD,
     "[host]\n" PLUGINS "plugins = point_mass\n[world main]\ncomponents = point_mass\n" OTHER_WORLD
     "point_mass.mass = 2\n",
     ":5: there is no world 'main' any more", true},
};

START_TEST(a_mistake_that_takes_two_inis_refuses_all_of_it)
{
    const wrong_t *w = &wrongs[_i];
    open_host(0, w->before);
    if (w->ended)
        bp_world_destroy(find_world("main"));
    char *before = describe_host(host);
    write_ini(w->after);
    FAILS(host, BP_OK, w->message, bp_host_setup_again(host, ini, NULL) == BP_OK ? BP_ERROR_FAILED : BP_OK);
    EXPECT(strncmp(bp_host_error(host), ini, strlen(ini)) == 0, "it does not say where: %s", bp_host_error(host));
    expect_same(before, describe_host(host), w->message);
    write_ini(w->before);
    WORKS(host, bp_host_setup_again(host, ini, NULL));
    close_host();
}
END_TEST

/* The plugins are linked in, which another refusal says where there are fewer of them. */
START_TEST(options_of_more_plugins_than_are_reloaded_at_once_are_refused)
{
    enum { MANY = RELOAD_MAX_PLUGINS + 1 };
    static const bp_field_t option[] = {{.name = "number", .type = BP_U32}};
    static const bp_plugin_desc_t desc = {.version = "1.0", .options = BP_LIST(option)};
    static bp_plugin_head_t heads[MANY];
    static const bp_plugin_head_t *plugins[MANY];
    static char names[MANY][16], texts[2][MANY * 40];
    size_t length[2] = {0, 0};
    for (int t = 0; t < 2; t++) {
        length[t] += (size_t)snprintf(texts[t], sizeof texts[t], "[host]\nplugins =");
        for (int i = 0; i < MANY; i++) {
            snprintf(names[i], sizeof names[i], "p%d", i);
            heads[i] = (bp_plugin_head_t)BP_PLUGIN_HEAD(names[i], &desc);
            plugins[i] = &heads[i];
            length[t] += (size_t)snprintf(texts[t] + length[t], sizeof texts[t] - length[t], "\n %s", names[i]);
        }
        for (int i = 0; i < MANY; i++)
            length[t] += (size_t)snprintf(texts[t] + length[t], sizeof texts[t] - length[t],
                                          "\n[plugin %s]\nnumber = %d\n", names[i], t + 1);
    }
    log_text.text[0] = '\0';
    host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log_text), .static_plugins = plugins,
                                            .static_plugin_count = MANY});
    write_ini(texts[0]);
    WORKS(host, bp_host_setup(host, ini));
    write_ini(texts[1]);
    FAILS(host, BP_ERROR_LIMIT, "options of more than 64 plugins have changed", bp_host_setup_again(host, ini, NULL));
    EXPECT(strncmp(bp_host_error(host), ini, strlen(ini)) == 0 && strstr(bp_host_error(host), "'p64'") != NULL,
           "it does not say where: %s", bp_host_error(host));
    close_host();
}
END_TEST

START_TEST(an_ini_that_the_host_was_not_set_up_from_is_refused)
{
    open_host(0, first);
    FAILS(host, BP_ERROR_NOT_FOUND, "this host was set up from", bp_host_setup_again(host, "another.ini", NULL));
    close_host();
    host = bp_host_create(NULL);
    FAILS(host, BP_ERROR_NOT_FOUND, "set up from no ini", bp_host_setup_again(host, ini, NULL));
    bp_host_destroy(host);
}
END_TEST

/* --- by watching -------------------------------------------------------------------------------------------------- */

/* Poll until the log has the text. */
static void wait_for(const char *text)
{
    uint64_t until = os_clock_ns() + UINT64_C(60000000000);
    while (strstr(log_text.text, text) == NULL) {
        EXPECT(os_clock_ns() < until, "the log never tells '%s', but:\n%s", text, log_text.text);
        WORKS(host, bp_host_wait(host, 10000000));
    }
}

START_TEST(an_ini_that_is_written_while_files_are_watched_is_done_or_refused_by_itself)
{
    static const char watching[] = "[host]\n" PLUGINS "hot_reload = on\nplugins = point_mass gravity\n"
                                   "[plugin gravity]\nconstant = %s\n"
                                   "[world main]\ncomponents = point_mass\nsystems = gravity\n" EARTH;
    static const char *const constants[] = {"1", "2", "x", "3"};
    char text[1024];
    snprintf(text, sizeof text, watching, constants[0]);
    open_host(0, text);
    for (uint32_t i = 1; i < 4; i++) {
        snprintf(text, sizeof text, watching, constants[i]);
        write_ini(text);
        wait_for(i == 1 ? "plugin gravity: constant = 2" : i == 2 ? "and nothing has changed: " : "constant = 3");
        ck_assert_double_eq(option_of_gravity(), i == 3 ? 3 : i == 1 ? 1 + 1 : 2);
        log_text.text[0] = '\0';
    }
    close_host();
}
END_TEST

/* --- all ---------------------------------------------------------------------------------------------------------- */

Suite *config_again_suite(void)
{
    Suite *suite = suite_create("config_again");
    TCase *done = tcase_create("done");
    TCase *refused = tcase_create("refused");
    TCase *watched = tcase_create("watched");
    tcase_set_timeout(done, 120);
    tcase_set_timeout(refused, 120);
    tcase_set_timeout(watched, 240);
    tcase_add_test(done, an_ini_that_is_as_it_was_changes_nothing);
    tcase_add_test(done, what_comes_goes_and_changes_is_done_and_told_and_the_rest_lives_on);
    tcase_add_test(done, time_goes_on_from_where_it_was_when_a_rate_changes);
    tcase_add_test(done, what_people_have_done_meanwhile_stays);
    tcase_add_test(done, scenes_of_the_host_come_with_the_worlds_that_they_name);
    tcase_add_test(done, braces_mean_the_same_at_the_start_and_later);
    tcase_add_test(done, what_a_call_has_brought_in_before_is_there);
    tcase_add_loop_test(refused, a_mistake_refuses_all_of_it_and_leaves_the_host_as_it_was, 0,
                        sizeof mistakes / sizeof mistakes[0]);
    tcase_add_loop_test(refused, a_mistake_that_takes_two_inis_refuses_all_of_it, 0, COUNT(wrongs));
    tcase_add_test(refused, options_of_more_plugins_than_are_reloaded_at_once_are_refused);
    tcase_add_test(refused, an_ini_that_the_host_was_not_set_up_from_is_refused);
    tcase_add_test(watched, what_holds_from_now_on_does_so_and_ends_with_its_line);
    tcase_add_test(watched, an_ini_that_is_written_while_files_are_watched_is_done_or_refused_by_itself);
    suite_add_tcase(suite, done);
    suite_add_tcase(suite, refused);
#if !defined(_WIN32) /* as hot_suite */
    suite_add_tcase(suite, watched);
#endif
    return suite;
}
