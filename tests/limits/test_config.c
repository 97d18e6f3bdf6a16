/* test_config.c - ini files that are right, and every way in which one can be wrong.
 *
 * A wrong ini is a text, the line that must be named, and a part of the sentence; beforehand the host has a plugin, a
 * world and entities of its own, and afterwards it must be exactly as it was. `optioned` is a plugin with an option of
 * every kind; `fickle` is one whose manager or system fails to start.
 */
#include "../suites.h"
#include "../unit/inspect.h"
#include "../unit/support.h"
#include "../unit/zoo.h"

#include "base/file.h"
#include "base/os.h"
#include "config/ini.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- plugins ------------------------------------------------------------------------------------------------------------- */

enum { OPTION_FILE, OPTION_TEXT, OPTION_COUNT, OPTION_SCALE, OPTION_WAY, OPTION_ON, OPTION_DEFAULT_FILE, OPTIONS };

static const bp_field_t options[OPTIONS] = {
    [OPTION_FILE] = {.name = "file", .type = BP_STRING, .flags = BP_FIELD_PATH},
    [OPTION_TEXT] = {.name = "text", .type = BP_STRING, .initial = "none given"},
    [OPTION_COUNT] = {.name = "count", .type = BP_I32, .min = "0", .max = "10"},
    [OPTION_SCALE] = {.name = "scale", .type = BP_F64, .initial = "1", .unit = "m"},
    [OPTION_WAY] = {.name = "way", .type = BP_VEC3},
    [OPTION_ON] = {.name = "on", .type = BP_BOOL},
    [OPTION_DEFAULT_FILE] = {.name = "default_file", .type = BP_STRING, .flags = BP_FIELD_PATH, .initial = "default.obj"},
};

static const bp_plugin_desc_t optioned = {BP_PLUGIN_HEAD, .name = "optioned", .version = "1", .options = BP_LIST(options)};

static bp_result_t fail_to_start(bp_manager_t *m)
{
    return m->api->error->set(m->host, BP_ERROR_IO, "no data");
}

static bp_result_t fail_to_load(bp_plugin_t *plugin)
{
    return plugin->api->error->set(plugin->host, BP_ERROR_IO, "no network");
}

static void run_nothing(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
}

static const bp_component_i fickle_components[] = {{.name = "sulky", .start = fail_to_start}, {.name = "willing"}};
static const bp_term_t fickle_terms[] = {{.component = "willing"}};
static const bp_system_i fickle_systems[] = {
    {.name = "needy", .terms = BP_LIST(fickle_terms), .run_all = run_nothing},
    {.name = "early", .run_all = run_nothing, .before = "late"},
    {.name = "late", .run_all = run_nothing, .before = "early"},
    {.name = "lonely", .run_all = run_nothing, .after = "nobody"},
    {.name = "easy", .run_all = run_nothing},
};
static const bp_plugin_desc_t fickle = {
    BP_PLUGIN_HEAD, .name = "fickle", .version = "1", .components = BP_LIST(fickle_components), .systems = BP_LIST(fickle_systems)};
static const bp_plugin_desc_t broken = {BP_PLUGIN_HEAD, .name = "broken", .version = "1", .load = fail_to_load};
static const bp_plugin_desc_t *plugins[ZOO_PLUGINS + 3];

/* --- the rig --------------------------------------------------------------------------------------------------------------- */

static rig_t rig;
static char path[1024];

static void begin(void)
{
    memcpy(plugins, zoo_plugins, sizeof zoo_plugins);
    plugins[ZOO_PLUGINS] = &optioned;
    plugins[ZOO_PLUGINS + 1] = &fickle;
    plugins[ZOO_PLUGINS + 2] = &broken;
    rig_init(&rig);
    rig.desc.static_plugins = plugins;
    rig.desc.static_plugin_count = COUNT(plugins);
    rig_open(&rig);
}

static void end(void)
{
    check_host(rig.host);
    rig_close(&rig);
}

static void write_ini(const char *text)
{
    snprintf(path, sizeof path, "%s", scratch_file("config.ini", text));
}

static bp_result_t set_up(const char *text)
{
    write_ini(text);
    return bp_host_setup(rig.host, path);
}

/* A plugin, a world and entities that were there before. */
static bp_world_o *furnish(void)
{
    bp_entity_t e[3];
    WORKS(rig.host, bp_host_load_plugin(rig.host, "stocks", NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "old"});
    WORKS(rig.host, bp_world_use_component(world, "pool"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "pool", NULL, NULL, NULL), e, 3));
    return world;
}

/* --- good ones ---------------------------------------------------------------------------------------------------------------- */

static const char good[] =
    "; comments\n"
    "# of both kinds\n"
    "[host]\n"
    "plugins = zoo, stocks\n"
    "    optioned          ; goes on here\n"
    "steps = 12\n"
    "seed: 99\n"
    "\n"
    "[plugin optioned]\n"
    "text = as it stands, with  two blanks\n"
    "count = 10\n"
    "way = 1, 2 3\n"
    "on = yes\n"
    "\n"
    "[world main]\n"
    "step_rate = 50\n"
    "components = body label fx\n"
    "   pool,sample\n"
    "\n"
    "[world empty]\n"
    "\n"
    "[spawn main earth]\n"
    "components = planet:body label fog:fx vignette:fx\n"
    "planet.mass = 3.003e-6\n"
    "planet.position = 1 0 0\n"
    "label.text = the earth\n"
    "fog.colour = #ff8000\n"
    "[spawn main crowd]\n"
    "count = 500\n"
    "components = body pool\n"
    "pool.text = one of many\n"
    "[spawn main nothing]\n"
    "[spawn empty nothing]\n"
    "count = 0\n";

START_TEST(a_good_ini_is_done_as_it_says)
{
    bp_path_t found;
    char text[64];
    WORKS(rig.host, set_up(good));
    ck_assert_uint_eq(bp_host_configured_steps(rig.host), 12);
    ck_assert_uint_eq(rig.host->base.random, 99);
    ck_assert_str_eq(bp_host_plugin(rig.host, 2, NULL)->name, "optioned");
    const bp_value_t *values = loader_find(&rig.host->loader, "optioned")->seen.options;
    ck_assert_str_eq(values[OPTION_TEXT].string, "as it stands, with  two blanks");
    ck_assert_int_eq(values[OPTION_COUNT].i32, 10);
    ck_assert(values[OPTION_WAY].vec3.x == 1 && values[OPTION_WAY].vec3.z == 3);
    ck_assert_uint_eq(values[OPTION_ON].boolean, 1);
    ck_assert(values[OPTION_SCALE].f64 == 1.0);
    bp_world_o *world = rig.api->world->find(rig.host, "main");
    ck_assert(world->step_rate == 50.0 && world->occupied == 501);
    ck_assert(rig.api->world->find(rig.host, "empty")->step_rate == 60.0);
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 502);
    static const char *const wanted[][2] = {
        {"main/#0:1.planet.mass", "3.003e-06"}, {"main/#0:1.planet.position", "1 0 0"}, {"main/#0:1.label.text", "the earth"},
        {"main/#0:1.vignette.strength", "0.5"}, {"main/#500:1.pool.text", "one of many"}, {"main/#500:1.body.mass", "1"},
    };
    for (uint32_t i = 0; i < COUNT(wanted); i++) {
        WORKS(rig.host, rig.api->property->parse_path(rig.host, wanted[i][0], &found));
        WORKS(rig.host, rig.api->property->get_text(&found, text, sizeof text));
        ck_assert_str_eq(text, wanted[i][1]);
    }
    WORKS(rig.host, bp_host_step(rig.host));
}
END_TEST

static const char *const empty_ones[] = {
    "", "\n\n", "; nothing\n# at all", "[host]", "[host]\n", "\xEF\xBB\xBF[host]\nsteps = 0\n", "[ host ]\r\nsteps = 0\r\n", "  [host]\n",
    "[host] ; a comment\nsteps = 0 ; another\n", "[host]\nplugins =\n",
};

START_TEST(an_ini_that_asks_for_nothing_does_nothing)
{
    char *before = describe_host(rig.host);
    WORKS(rig.host, set_up(empty_ones[_i]));
    expect_same(before, describe_host(rig.host), empty_ones[_i]);
}
END_TEST

START_TEST(blanks_in_a_section_header_do_not_matter)
{
    WORKS(rig.host, set_up("[ host ]\nplugins = optioned\nsteps = 3\n[plugin\t optioned ]\ncount = 4\n[  world   main]\nstep_rate = 5\n"));
    ck_assert_uint_eq(bp_host_configured_steps(rig.host), 3);
    ck_assert_int_eq(loader_find(&rig.host->loader, "optioned")->seen.options[OPTION_COUNT].i32, 4);
    ck_assert(rig.api->world->find(rig.host, "main")->step_rate == 5.0);
}
END_TEST

START_TEST(a_header_that_is_indented_or_behind_a_byte_order_mark_is_one)
{
    WORKS(rig.host, set_up("\xEF\xBB\xBF[world a]\n  [world b]\nstep_rate = 4\n"));
    ck_assert(rig.api->world->find(rig.host, "a")->step_rate == 60.0);
    ck_assert(rig.api->world->find(rig.host, "b")->step_rate == 4.0);
}
END_TEST

START_TEST(worlds_may_be_spawned_into_before_they_are_described)
{
    WORKS(rig.host, set_up("[spawn main x]\ncomponents = body\n[world main]\ncomponents = body\n[host]\nplugins = zoo\n"));
    ck_assert_uint_eq(rig.api->world->find(rig.host, "main")->occupied, 1);
}
END_TEST

START_TEST(an_ini_adds_to_what_is_there)
{
    bp_world_o *old = furnish();
    WORKS(rig.host, set_up("[host]\nplugins = zoo\n[world new]\ncomponents = body pool\n[spawn new x]\ncomponents = body\n"
                           "[spawn old y]\ncount = 4\ncomponents = pool\npool.number = 7\n"));
    ck_assert_uint_eq(old->occupied, 7);
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 8);
    ck_assert_uint_eq(bp_host_configured_steps(rig.host), 0);
}
END_TEST

START_TEST(threads_are_started_when_all_went_well)
{
    WORKS(rig.host, set_up("[host]\nthreads = 3\n"));
    ck_assert_uint_eq(rig.host->jobs.threads, 3);
    WORKS(rig.host, set_up("[host]\nthreads = 2\n"));
    ck_assert_uint_eq(rig.host->jobs.threads, 2);
}
END_TEST

/* --- lines ---------------------------------------------------------------------------------------------------------------------- */

START_TEST(a_line_has_190_bytes_and_not_one_more)
{
    char text[400] = "[plugin optioned]\ntext = ", *end_of_text = text + strlen(text);
    size_t room = INI_LINE_BYTES - strlen("text = ");
    memset(end_of_text, 'x', room);
    strcpy(end_of_text + room, "\n[host]\nplugins = optioned\n");
    WORKS(rig.host, set_up(text));
    ck_assert_uint_eq(strlen(loader_find(&rig.host->loader, "optioned")->seen.options[OPTION_TEXT].string), room);
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "optioned"));
    memset(end_of_text, 'x', room + 1);
    strcpy(end_of_text + room + 1, "\n[host]\nplugins = optioned\n");
    FAILS(rig.host, BP_ERROR_LIMIT, "config.ini:2: the line has 191 bytes, at most 190 are read; go on in a further line", set_up(text));
    ck_assert_ptr_null(bp_host_plugin(rig.host, 0, NULL));
}
END_TEST

START_TEST(a_long_comment_is_a_long_line_too)
{
    char text[400] = "[host]\n\n;";
    memset(text + 9, 'x', 200);
    FAILS(rig.host, BP_ERROR_LIMIT, "config.ini:3: the line has 201 bytes", set_up(text));
}
END_TEST

START_TEST(a_value_goes_on_over_any_number_of_lines)
{
    static char text[20000];
    size_t used = (size_t)snprintf(text, sizeof text, "[host]\nplugins = optioned\n[plugin optioned]\ntext = word\n");
    for (uint32_t i = 0; i < 700; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%sword%u\n", i % 2 == 0 ? "  " : "\t", i);
    snprintf(text + used, sizeof text - used, "count = 3\n");
    WORKS(rig.host, set_up(text));
    const bp_value_t *values = loader_find(&rig.host->loader, "optioned")->seen.options;
    ck_assert_uint_gt(strlen(values[OPTION_TEXT].string), 4900);
    ck_assert_int_eq(strncmp(values[OPTION_TEXT].string, "word word0 word1 word2", 22), 0);
    ck_assert_int_eq(values[OPTION_COUNT].i32, 3);
}
END_TEST

/* --- paths ------------------------------------------------------------------------------------------------------------------------ */

START_TEST(options_that_are_paths_are_relative_to_the_ini)
{
    char wanted[1100];
    WORKS(rig.host, set_up("[host]\nplugins = optioned\n[plugin optioned]\nfile = meshes/cube.obj\ntext = meshes/cube.obj\n"));
    const bp_value_t *values = loader_find(&rig.host->loader, "optioned")->seen.options;
    snprintf(wanted, sizeof wanted, "%.*smeshes/cube.obj", (int)(strlen(path) - strlen("config.ini")), path);
    ck_assert_str_eq(values[OPTION_FILE].string, wanted);
    ck_assert_str_eq(values[OPTION_TEXT].string, "meshes/cube.obj");
    ck_assert_str_eq(values[OPTION_DEFAULT_FILE].string, "default.obj");
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "optioned"));
    WORKS(rig.host, set_up("[host]\nplugins = optioned\n[plugin optioned]\nfile = /tmp/cube.obj\ndefault_file =\n"));
    values = loader_find(&rig.host->loader, "optioned")->seen.options;
    ck_assert_str_eq(values[OPTION_FILE].string, "/tmp/cube.obj");
    ck_assert_str_eq(values[OPTION_DEFAULT_FILE].string, "");
}
END_TEST

/* scratch/config/lib/point_mass.so, to be found from scratch/config/config.ini. */
static void copy_plugin(void)
{
    memory_t memory;
    error_text_t error;
    char *bytes;
    size_t size;
    memory_init(&memory, "copy", &(bp_allocator_i){0});
    mkdir(TEST_SCRATCH_DIR "/config", 0777);
    mkdir(TEST_SCRATCH_DIR "/config/lib", 0777);
    char file[1100];
    snprintf(file, sizeof file, "%s/point_mass%s", TEST_PLUGIN_DIR, os_library_suffix);
    bp_result_t result = file_read(&memory, file, &bytes, &size, &error);
    ck_assert_msg(result == BP_OK, "%s", error.text);
    snprintf(file, sizeof file, "config/lib/point_mass%s", os_library_suffix);
    scratch_bytes(file, bytes, size);
    memory_free(&memory, bytes, size + 1);
}

static const char *const plugin_lists[] = {
    "plugins = point_mass\nplugin_path = lib\n",
    "plugins = point_mass\nplugin_path = ../config/lib\n",
    "plugins = lib/point_mass\n",
    "plugins = ./lib/../lib/point_mass\n",
    "plugins = lib/point_mass.so\nplugin_path = nowhere\n",
};

START_TEST(plugins_are_looked_for_beside_the_ini)
{
    char text[256], ini[1100];
    const char *file;
    copy_plugin();
    snprintf(text, sizeof text, "[host]\n%s[plugin point_mass]\n[world w]\ncomponents = point_mass\n", plugin_lists[_i]);
    snprintf(ini, sizeof ini, "%s", scratch_file("config/config.ini", text));
    WORKS(rig.host, bp_host_setup(rig.host, ini));
    ck_assert_str_eq(bp_host_plugin(rig.host, 0, &file)->name, "point_mass");
    ck_assert_msg(strncmp(file, TEST_SCRATCH_DIR, strlen(TEST_SCRATCH_DIR)) == 0, "%s", file);
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_named)
{
    char *before = describe_host(rig.host);
    FAILS(rig.host, BP_ERROR_IO, TEST_SCRATCH_DIR "/missing.ini: cannot be opened: ", bp_host_setup(rig.host, TEST_SCRATCH_DIR "/missing.ini"));
    FAILS(rig.host, BP_ERROR_IO, TEST_SCRATCH_DIR ": cannot be ", bp_host_setup(rig.host, TEST_SCRATCH_DIR));
    expect_same(before, describe_host(rig.host), "a missing ini");
}
END_TEST

START_TEST(a_file_with_a_zero_byte_is_no_text)
{
    snprintf(path, sizeof path, "%s", scratch_bytes("config.ini", "[host]\nsteps = 1\0\nx = 1\n", 24));
    FAILS(rig.host, BP_ERROR_SYNTAX, "zero byte", bp_host_setup(rig.host, path));
}
END_TEST

/* --- bad ones ----------------------------------------------------------------------------------------------------------------------- */

typedef struct bad_ini_t {
    const char *text;
    uint32_t line; /* 0: only the file is named */
    const char *part;
} bad_ini_t;

/* The plugin stocks is there before. */
#define PLUGINS "[host]\nplugins = zoo fickle\n"
#define WORLD PLUGINS "[world main]\ncomponents = body label fx once sample pool mute willing\n"
#define LONG "a234567890b234567890c234567890d234567890e234567890f234567890abcd"

static const bad_ini_t bad_lines[] = {
    {"steps = 3\n[host]\n", 1, "'steps' stands before the first section"},
    {"[host]\n\nsteps\n", 3, "neither [section] nor key = value"},
    {"[host\nsteps = 3\n", 1, "neither [section] nor key = value"},
    {"; fine\n[host]\nsteps = 3\n???\n", 4, "neither [section] nor key = value"},
    {"[host]\r\nsteps = 3\r\nwhat\r\n", 3, "neither [section] nor key = value"},
    {"[host]\nsteps = 3\nseed = 1\nsteps = 4\n", 4, "'steps' is given a second time (first in line 2)"},
    {"[host]\nsteps = 3\n[world a]\n[host]\nseed = 1\n", 4, "section [host] stands already in line 1"},
    {"[world a]\n[world b]\n[world a]\n", 3, "section [world a] stands already in line 1"},
    {"[world a]\n[world  a ]\n", 2, "stands already in line 1"},
    {PLUGINS "[world a]\ncomponents = body\n[spawn a x]\n[spawn a y]\n[spawn a x]\n", 7, "section [spawn a x] stands already in line 5"},
    {PLUGINS "[world a]\ncomponents = body\n[spawn a x]\ncomponents = body\nbody.mass = 1\nbody.mass = 2\n", 8, "'body.mass' is given a second time (first in line 7)"},
    {"[host]\nplugins = zoo\n  = 3\n[worl a]\n", 4, "unknown section [worl a]; did you mean 'world'?"},
};

static const bad_ini_t bad_sections[] = {
    {"[hosts]\n", 1, "unknown section [hosts]; did you mean 'host'? (there are host, plugin, world and spawn)"},
    {"\n\n[banana split]\n", 3, "unknown section [banana split] (there are host"},
    {"[]\n", 1, "unknown section []"},
    {"[Host]\n", 1, "did you mean 'host'?"},
    {"[host main]\n", 1, "section [host main]; write [host]"},
    {"[world]\n", 1, "section [world]; write [world NAME]"},
    {"[world a b]\n", 1, "section [world a b]; write [world NAME]"},
    {"[plugin]\n", 1, "section [plugin]; write [plugin NAME]"},
    {"[spawn main]\n", 1, "section [spawn main]; write [spawn WORLD LABEL]"},
    {"[spawn main a b]\n", 1, "write [spawn WORLD LABEL]"},
    {"[host]\nplugin = zoo\n", 2, "unknown key 'plugin' in [host]; did you mean 'plugins'? (known: plugins, plugin_path, steps, threads, seed)"},
    {"[host]\nsteps = 3\n= 4\n", 3, "unknown key ''"},
    {"[world main]\nsteprate = 3\n", 2, "unknown key 'steprate' in [world main]; did you mean 'step_rate'?"},
    {"[world main]\nplugins = zoo\n", 2, "unknown key 'plugins' in [world main]"},
};

static const bad_ini_t bad_values[] = {
    {"[host]\nsteps = many\n", 2, "steps = 'many' is not a whole number"},
    {"[host]\nsteps =\n", 2, "steps = '' is not a whole number"},
    {"[host]\nsteps = -1\n", 2, "steps = -1 is outside its range"},
    {"[host]\nsteps = 1.5\n", 2, "steps = '1.5' is not a whole number"},
    {"[host]\nsteps = 9223372036854775808\n", 2, "steps = '9223372036854775808' is not a whole number"},
    {"[host]\nsteps = 3\nthreads = 257\n", 3, "threads = 257 is outside its range"},
    {"[host]\nthreads = two\n", 2, "threads = 'two'"},
    {"[host]\nseed = -5\n", 2, "seed = -5 is outside its range"},
    {"[world a]\n\nstep_rate = fast\n", 3, "step_rate = 'fast' is not a number"},
    {"[world a]\nstep_rate = 0\n", 2, "step_rate = 0 must be greater than 0"},
    {"[world a]\nstep_rate = -3\n", 2, "must be greater than 0"},
    {"[world a]\n\n\nstep_rate = 1e13\n", 4, "step_rate = 1e13"},
    {"[world a]\nstep_rate = inf\n", 2, "step_rate = 'inf'"},
    {"[world a.b]\n", 1, "not 'a.b'"},
    {"[world " LONG "]\n", 1, "1 to 63 letters"},
};

static const bad_ini_t bad_plugins[] = {
    {"[host]\nsteps = 3\nplugins = zooo\n", 3, "there is no plugin file zooo"},
    {"[host]\nplugin_path = nowhere\nplugins = zoo gravity\n", 3, "there is no plugin file gravity"},
    {"[host]\nplugin_path = nowhere\nplugins = gravity\n", 3, "in plugin_path nowhere"},
    {"[host]\nplugins = ./gravity.so\n", 2, "there is no such plugin file"},
    {"[host]\nplugins = ./config.ini\n", 2, "config.ini"},
    {"[host]\nplugins = zoo zoo\n", 2, "a plugin 'zoo' is loaded already"},
    {"[host]\nplugins = zoo fickle broken optioned\n", 2, "broken: its load failed: no network"},
    {"[host]\nplugins = zoo\n[plugin fickle]\n", 3, "[plugin fickle] configures a plugin that [host] plugins does not list"},
    {"[host]\nplugins = zoo optioned\n[world a]\n[plugin optoned]\ncount = 1\n", 4, "[plugin optoned] configures a plugin that [host] plugins does not list; did you mean 'optioned'?"},
    {"[plugin zoo]\n", 1, "does not list"},
    {"[host]\nplugins = zoo\n[plugin zoo]\n\nsize = 3\n", 5, "plugin 'zoo' has no option 'size' (it has none)"},
    {"[host]\nplugins = optioned\n[plugin optioned]\ncuont = 3\n", 4, "plugin 'optioned' has no option 'cuont'; did you mean 'count'? (it has file, text, count, scale, way, on, default_file)"},
    {"[host]\nplugins = optioned\n[plugin optioned]\nway = 1 2 3\ncount = 11\n", 5, "option 'count' of plugin 'optioned': count = 11 is outside its range"},
    {"[host]\nplugins = optioned\n[plugin optioned]\ncount = few\n", 4, "option 'count' of plugin 'optioned': 'few' is not a whole number"},
    {"[host]\nplugins = optioned\n[plugin optioned]\nway = 1 2\n", 4, "3 numbers"},
    {"[host]\nplugins = optioned\n[plugin optioned]\non = maybe\n", 4, "true or false"},
};

static const bad_ini_t bad_worlds[] = {
    {PLUGINS "[world a]\ncomponents = label bodi\n", 4, "no loaded plugin brings a component 'bodi'; did you mean 'body'?"},
    {PLUGINS "[world a]\nstep_rate = 3\ncomponents =\n  body\n  body\n", 5, "world 'a' has component 'body' already"},
    {PLUGINS "[world a]\nsystems = eazy\n", 4, "no loaded plugin brings a system 'eazy'; did you mean 'easy'?"},
    {PLUGINS "[world a]\nsystems = easy easy\n", 4, "world 'a' has system 'easy' already"},
    {PLUGINS "[world a]\n[world b]\ncomponents = willing sulky\n", 5, "component 'sulky' did not start in world 'b': no data"},
    {PLUGINS "[world old]\n", 3, "there is a world 'old' already"},
    {PLUGINS "[world a]\nsystems = needy\n", 0, "system 'needy' works on component 'willing', which world 'a' lacks"},
    {PLUGINS "[world a]\nsystems = early late\n", 0, "the wishes of early, late to run before and after each other form a circle"},
    {PLUGINS "[world a]\nsystems = lonely\n", 0, "system 'lonely' wants to run after 'nobody'"},
    {PLUGINS "[world a]\ncomponents = " LONG "\n", 4, "no loaded plugin brings a component"},
};

static const bad_ini_t bad_spawns[] = {
    {WORLD "[spawn mian x]\n", 5, "there is no world 'mian'; did you mean 'main'?"},
    {WORLD "[spawn main x]\ncount = -1\n", 6, "count = '-1' is not a whole number"},
    {WORLD "[spawn main x]\ncount = some\n", 6, "count = 'some'"},
    {WORLD "[spawn main x]\ncomponents = boddy\n", 6, "world 'main' has no component manager 'boddy'; did you mean 'body'?"},
    {WORLD "[spawn main x]\ncomponents = b:boddy\n", 6, "world 'main' has no component manager 'boddy'"},
    {WORLD "[spawn main x]\ncomponents = told\n", 6, "world 'main' has no component manager 'told'"},
    {WORLD "[spawn main x]\ncomponents = b: body\n", 6, "no component manager ''"},
    {WORLD "[spawn main x]\ncomponents = :body\n", 6, "'' is no name for a component"},
    {WORLD "[spawn main x]\ncomponents = a.b:body\n", 6, "'a.b' is no name for a component"},
    {WORLD "[spawn main x]\ncomponents = " LONG ":body\n", 6, "is no name for a component"},
    {WORLD "[spawn main x]\ncomponents = body fx body\n", 6, "a component named 'body'"},
    {WORLD "[spawn main x]\ncomponents = part:body part:fx\n", 6, "a component named 'part'"},
    {WORLD "[spawn main x]\ncomponents = a:once b:once\n", 6, "may have only one"},
    {WORLD "[spawn main x]\ncomponents = body\nmass = 3\n", 7, "'mass' is neither count, components nor COMPONENT.PROPERTY"},
    {WORLD "[spawn main x]\ncomponents = body\nbodi.mass = 3\n", 7, "no component 'bodi' in world 'main'; did you mean 'body'?"},
    {WORLD "[spawn main x]\nbody.mass = 3\n", 6, "(it has none there)"},
    {WORLD "[spawn main x]\ncomponents = body\nbody.mas = 3\n", 7, "no property 'mas' in body; did you mean 'mass'?"},
    {WORLD "[spawn main x]\ncomponents = body\nbody. = 3\n", 7, "no property ''"},
    {WORLD "[spawn main x]\ncomponents = body\n.mass = 3\n", 7, "no component ''"},
    {WORLD "[spawn main x]\ncomponents = body\nbody.mass = heavy\n", 7, "body.mass = 'heavy' is not a number"},
    {WORLD "[spawn main x]\ncomponents = body\nbody.mass = -1\n", 7, "mass = -1 is outside its range: at least 0 kg"},
    {WORLD "[spawn main x]\ncomponents = body\nbody.position = 1 2\n", 7, "3 numbers"},
    {WORLD "[spawn main x]\ncount = 3\ncomponents = sample\nsample.a_i32 = 5\nsample.a_i32x = 5\n", 9, "no property 'a_i32x'"},
    {WORLD "[spawn main x]\ncomponents = sample\nsample.a_reading = 5\n", 7, "'a_reading' is read only"},
    {WORLD "[spawn main x]\ncomponents = sample\nsample.an_entity = #0\n", 7, "#index:generation"},
    {WORLD "[spawn main x]\ncomponents = pool\npool.number = 1001\n", 7, "number = 1001 is outside"},
    {WORLD "[spawn main x]\ncomponents = mute\nmute.number = 1\n", 7, "mute has no property that can be set"},
    {WORLD "[spawn main x]\ncount = 100\ncomponents = pool body\n[spawn main y]\ncomponents = pool body\n[spawn old z]\ncount = 7\ncomponents = pool\n"
           "[spawn main w]\ncomponents = bady\n", 14, "did you mean 'body'?"},
};

/* Refused with file and line, and the host is as it was. */
static void expect_refused(const bad_ini_t *bad)
{
    char where[1100];
    furnish();
    char *before = describe_host(rig.host);
    bp_result_t result = set_up(bad->text);
    const char *sentence = bp_host_error(rig.host);
    ck_assert_msg(result != BP_OK, "taken:\n%s", bad->text);
    snprintf(where, sizeof where, "%s:%u: ", path, bad->line);
    if (bad->line == 0)
        snprintf(where, sizeof where, "%s: ", path);
    ck_assert_msg(strncmp(sentence, where, strlen(where)) == 0, "line %u is wanted in: %s", bad->line, sentence);
    ck_assert_msg(strstr(sentence, bad->part) != NULL, "\"%s\" is wanted in: %s", bad->part, sentence);
    ck_assert_msg(strstr(sentence + 1, path) == NULL, "the file is named twice: %s", sentence);
    expect_same(before, describe_host(rig.host), bad->text);
}

START_TEST(bad_lines_are_refused)
{
    expect_refused(&bad_lines[_i]);
}
END_TEST

START_TEST(bad_sections_and_keys_are_refused)
{
    expect_refused(&bad_sections[_i]);
}
END_TEST

START_TEST(bad_values_are_refused)
{
    expect_refused(&bad_values[_i]);
}
END_TEST

START_TEST(bad_plugins_and_options_are_refused)
{
    rig.desc.tag = 1;
    expect_refused(&bad_plugins[_i]);
}
END_TEST

START_TEST(bad_worlds_are_refused)
{
    expect_refused(&bad_worlds[_i]);
}
END_TEST

START_TEST(bad_spawns_are_refused)
{
    expect_refused(&bad_spawns[_i]);
}
END_TEST

/* The worst place for an error is the last line of a long and otherwise good ini. */
START_TEST(an_error_at_the_very_end_undoes_everything)
{
    static char text[sizeof good + 200];
    bp_world_o *old = furnish();
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "stocks"));
    char *before = describe_host(rig.host);
    snprintf(text, sizeof text, "%s[spawn old z]\n[spawn main last]\ncomponents = body\nbody.mass = -1\n", good);
    FAILS(rig.host, BP_ERROR_RANGE, "config.ini:38: ", set_up(text));
    expect_same(before, describe_host(rig.host), "an error in the last line");
    check_host(rig.host);
    ck_assert_uint_eq(old->occupied, 0);
    WORKS(rig.host, set_up(good));
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 3 + 502);
}
END_TEST

/* Whatever stands in it: an ini of random bytes is refused or done, and leaves no memory behind. */
START_TEST(random_bytes_do_no_harm)
{
    static const char *const pieces[] = {"[host]", "[world a]", "[spawn a x]", "[plugin zoo]", "plugins", "components", "=", ":", "zoo", "body",
                                         "\n", "\n ", ";", "#", "[", "]", " ", "count", "body.mass", "3", "\r\n", ",", "\xff", "."};
    uint64_t random = 21;
    uint32_t taken = 0;
    for (uint32_t round = 0; round < 3000; round++) {
        char text[600] = "";
        size_t used = 0;
        for (uint32_t i = 0; i < 40; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s", pieces[bp_random_below(&random, COUNT(pieces))]);
        char *before = describe_host(rig.host);
        if (set_up(text) == BP_OK) {
            free(before);
            taken++;
            rig_close(&rig);
            memset(&rig.heap, 0, sizeof rig.heap);
            rig_open(&rig);
        } else {
            expect_same(before, describe_host(rig.host), text);
            EXPECT(strncmp(bp_host_error(rig.host), path, strlen(path)) == 0, "no file in: %s", bp_host_error(rig.host));
        }
    }
    ck_assert_uint_lt(taken, 3000);
}
END_TEST

/* --- the suite ---------------------------------------------------------------------------------------------------------------------------- */

static TCase *new_case(Suite *suite, const char *name)
{
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, begin, end);
    tcase_set_timeout(tests, 120);
    suite_add_tcase(suite, tests);
    return tests;
}

static void add_bad(Suite *suite)
{
    TCase *tests = new_case(suite, "bad");
    tcase_add_loop_test(tests, bad_lines_are_refused, 0, (int)COUNT(bad_lines));
    tcase_add_loop_test(tests, bad_sections_and_keys_are_refused, 0, (int)COUNT(bad_sections));
    tcase_add_loop_test(tests, bad_values_are_refused, 0, (int)COUNT(bad_values));
    tcase_add_loop_test(tests, bad_plugins_and_options_are_refused, 0, (int)COUNT(bad_plugins));
    tcase_add_loop_test(tests, bad_worlds_are_refused, 0, (int)COUNT(bad_worlds));
    tcase_add_loop_test(tests, bad_spawns_are_refused, 0, (int)COUNT(bad_spawns));
    tcase_add_test(tests, an_error_at_the_very_end_undoes_everything);
    tcase_add_test(tests, random_bytes_do_no_harm);
    tcase_add_test(tests, a_file_that_cannot_be_read_is_named);
    tcase_add_test(tests, a_file_with_a_zero_byte_is_no_text);
}

Suite *config_suite(void)
{
    Suite *suite = suite_create("config");
    TCase *tests = new_case(suite, "good");
    tcase_add_test(tests, a_good_ini_is_done_as_it_says);
    tcase_add_loop_test(tests, an_ini_that_asks_for_nothing_does_nothing, 0, (int)COUNT(empty_ones));
    tcase_add_test(tests, blanks_in_a_section_header_do_not_matter);
    tcase_add_test(tests, a_header_that_is_indented_or_behind_a_byte_order_mark_is_one);
    tcase_add_test(tests, worlds_may_be_spawned_into_before_they_are_described);
    tcase_add_test(tests, an_ini_adds_to_what_is_there);
    tcase_add_test(tests, threads_are_started_when_all_went_well);
    tcase_add_test(tests, a_line_has_190_bytes_and_not_one_more);
    tcase_add_test(tests, a_long_comment_is_a_long_line_too);
    tcase_add_test(tests, a_value_goes_on_over_any_number_of_lines);
    tcase_add_test(tests, options_that_are_paths_are_relative_to_the_ini);
    tcase_add_loop_test(tests, plugins_are_looked_for_beside_the_ini, 0, (int)COUNT(plugin_lists));
    add_bad(suite);
    return suite;
}
