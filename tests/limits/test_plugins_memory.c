/* test_plugins_memory.c - every request for memory of our own plugins, and of the host for them, is refused once.
 *
 * A scenario is an ini. It is set up, takes steps, is reported on, saved, restored, remembered and brought back; once
 * for each request for memory, which fails. A call that fails says why, and succeeds when it is made again; a step that
 * goes on without memory says so in the log. In the end all memory is back.
 */
#include "../suites.h"
#include "../unit/inspect.h"
#include "../unit/support.h"

#include <stdlib.h>
#include <string.h>

extern const bp_plugin_head_t bp_plugin_camera, bp_plugin_debug_name, bp_plugin_formula, bp_plugin_gravity,
    bp_plugin_mesh, bp_plugin_orbit, bp_plugin_point_mass, bp_plugin_recorder, bp_plugin_render_data,
    bp_plugin_transform, bp_plugin_bubbles;

static const bp_plugin_head_t *const linked[] = {
    &bp_plugin_bubbles, &bp_plugin_camera, &bp_plugin_debug_name, &bp_plugin_formula,    &bp_plugin_gravity,
    &bp_plugin_mesh,    &bp_plugin_orbit,  &bp_plugin_point_mass, &bp_plugin_recorder,   &bp_plugin_render_data,
    &bp_plugin_transform,
};

static const char *const scenarios[] = {
    /* orbits */
    "[host]\nplugins = point_mass debug_name gravity orbit recorder\n"
    "[plugin gravity]\nconstant = 2.959122082855911e-4\n"
    "[plugin orbit]\nconstant = 2.959122082855911e-4\n"
    "[plugin recorder]\nproperties = main/planet.body.position main/star.body.mass\n"
    "csv = " TEST_SCRATCH_DIR "/memory_orbit.csv\n"
    "svg = " TEST_SCRATCH_DIR "/memory_orbit.svg\ntitle = Memory\n"
    "[world main]\nstep_rate = 16\ncomponents = point_mass debug_name orbit rounding\n"
    "systems = orbit_place gravity carry_rounding orbit_measure recorder\n"
    "[spawn main star]\ncomponents = body:point_mass name:debug_name\nname.name = star\nbody.mass = 1\n"
    "[spawn main planet]\ncomponents = body:point_mass name:debug_name orbit rounding\nname.name = planet\n"
    "body.mass = 3e-6\norbit.primary = star\norbit.semi_major_axis = 1\norbit.eccentricity = 0.1\n"
    "[spawn main moon]\ncomponents = body:point_mass name:debug_name orbit rounding\nname.name = moon\n"
    "body.mass = 3e-8\norbit.primary = planet\norbit.semi_major_axis = 0.0026\n",
    /* bubbles */
    "[host]\nplugins = bubbles\n[plugin bubbles]\nlow = -8 -5\nhigh = 8 5\nseed = 1\n"
    "[world main]\nstep_rate = 60\ncomponents = position move sprite avoid bubble bounces\n"
    "systems = bubbles_place bubbles_move bubbles_find bubbles_avoid bubbles_count bubbles_frame bubbles_draw\n"
    "[spawn main bubbles]\ncount = 5\ncomponents = position move sprite bubble\nbubble.distance = 1.3\n"
    "[spawn main sprites]\ncount = 300\ncomponents = position move sprite avoid\n",
    /* formulas */
    "[host]\nplugins = formula debug_name memory.formula\n"
    "[world main]\nstep_rate = 10\ncomponents = culture debug_name\n"
    "[spawn main dish]\ncomponents = culture name:debug_name\nname.name = dish\n"
    "[spawn main crowd]\ncount = 50\ncomponents = culture\nculture.rate = 0.1\n",
    /* scenes */
    "[host]\nplugins = transform mesh render_data debug_name camera\n"
    "[plugin mesh]\nfolder = .\n"
    "[world main]\ncomponents = transform mesh render_data debug_name camera\nscenes = memory_scene.json\n",
};
enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0] };

static const char formula[] =
    "version 1.0\nabout \"how things grow\"\ncomponent culture \"bacteria in a dish\"\n"
    "  field mass = 1 min 0 max 1000 unit g \"what they weigh\"\n  field rate = 0.5 \"growth\"\n"
    "  field room : f32 = 100 unit g \"what the dish can hold\"\n"
    "  do mass = mass + rate * mass * (1 - mass / room) * dt\n  do room = max(room, 5)\n";

static const char scene[] =
    "{\"prototypes\": {\"thing\": {\"components\": {\"transform\": {}, \"mesh\": {\"resource\": \"memory.obj\"},"
    " \"debug_name\": {}}}},"
    " \"entities\": [{\"name\": \"eye\", \"components\": {\"transform\": {\"position\": [0, 0, 5]}, \"camera\": {},"
    " \"debug_name\": {\"name\": \"eye\"}, \"dust\": {\"type\": \"render_data\"}}},"
    " {\"name\": \"hull\", \"extends\": \"thing\"},"
    " {\"count\": 40, \"extends\": \"thing\", \"components\": {\"transform\": {\"parent\": \"hull\"}}}]}";

/* --- one attempt -------------------------------------------------------------------------------------------------- */

static struct {
    rig_t rig;
    uint32_t nth;
    const char *ini;
    bp_world_o *world;
    bp_snapshot_o *snapshot;
    uint32_t failed;
} at;

static bp_result_t ask_setup(void)
{
    return bp_host_setup(at.rig.host, at.ini);
}

static bp_result_t ask_step(void)
{
    return bp_world_step(at.world);
}

static bp_result_t ask_save(void)
{
    return bp_world_save(at.world, TEST_SCRATCH_DIR "/plugins_memory.bpe");
}

static bp_result_t ask_restore(void)
{
    return bp_world_restore(at.world, TEST_SCRATCH_DIR "/plugins_memory.bpe", 0);
}

static bp_result_t ask_remember(void)
{
    return bp_host_remember(at.rig.host, 1 << 20);
}

static bp_result_t ask_snapshot(void)
{
    return bp_host_snapshot(at.rig.host, &at.snapshot);
}

static bp_result_t ask_bring_back(void)
{
    return bp_host_bring_back(at.rig.host, at.snapshot);
}

static bp_result_t ask_go(void)
{
    bp_history_t history = {.struct_size = sizeof history};
    bp_host_history(at.rig.host, &history);
    return bp_host_go(at.rig.host, history.first);
}

/* A call that may be refused memory; then it is made once more. */
static void try(bp_result_t (*call)(void), const char *what)
{
    uint64_t refused = at.rig.heap.refused;
    at.rig.api->error->set(at.rig.host, BP_OK, "nothing was said");
    bp_result_t result = call();
    if (result == BP_OK)
        return;
    const char *sentence = bp_host_error(at.rig.host);
    EXPECT(at.rig.heap.refused > refused, "%s fails for no reason: %s", what, sentence);
    EXPECT(strstr(sentence, "memory") != NULL, "%s, request %u: %d, %s", what, at.nth,
           result, sentence);
    check_host(at.rig.host);
    at.failed++;
    WORKS(at.rig.host, call());
}

#define TRY(name) try(ask_##name, #name)

static void see_value(void *context, const char *world, const char *unit, const char *name, const char *text)
{
    (void)context, (void)world, (void)unit, (void)name, (void)text;
}

static void see_table(void *context, const char *world, const char *unit, const char *title, const char *const *headers,
                      uint32_t columns)
{
    (void)context, (void)world, (void)unit, (void)title, (void)headers, (void)columns;
}

static void see_row(void *context, const char *const *cells, uint32_t columns)
{
    (void)context, (void)cells, (void)columns;
}

/* Returns whether a request was refused. */
static bool attempt(uint32_t nth)
{
    const bp_report_sink_i sink = {.struct_size = sizeof sink, .value = see_value, .table = see_table, .row = see_row};
    at.nth = nth;
    at.snapshot = NULL;
    rig_open_with(&at.rig, linked, COUNT(linked));
    if (nth > 0)
        at.rig.heap.refuse_first = at.rig.heap.refuse_last = at.rig.heap.requests + nth;
    TRY(setup);
    at.world = at.rig.api->world->at(at.rig.host, 0);
    TRY(remember);
    for (int i = 0; i < 3; i++)
        TRY(step);
    bp_host_report(at.rig.host, &sink);
    TRY(save);
    TRY(snapshot);
    TRY(step);
    TRY(bring_back);
    TRY(go);
    TRY(step);
    bp_snapshot_free(at.snapshot);
    EXPECT(at.rig.log.count == 0 || (at.rig.heap.refused > 0 && strstr(at.rig.log.text, "memory") != NULL),
           "request %u: %s", nth, at.rig.log.text);
    TRY(restore);
    TRY(step);
    check_host(at.rig.host);
    bool refused = at.rig.heap.refused > 0;
    at.rig.log.count = 0; /* a recorder tells of the entities that were replaced */
    at.rig.heap.refuse_first = 0;
    rig_close(&at.rig);
    return refused;
}

START_TEST(whatever_memory_our_plugins_are_refused_the_next_call_works)
{
    char ini[1024];
    memset(&at, 0, sizeof at);
    scratch_file("memory.formula", formula);
    scratch_file("memory_scene.json", scene);
    scratch_file("memory.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n");
    snprintf(ini, sizeof ini, "%s", scratch_file("plugins_memory.ini", scenarios[_i]));
    at.ini = ini;
    ck_assert(!attempt(0));
    uint32_t nth = 1;
    while (attempt(nth))
        nth++;
    ck_assert_uint_ge(nth, 300);
    ck_assert_uint_ge(at.failed, 200);
}
END_TEST

Suite *plugins_memory_suite(void)
{
    Suite *suite = suite_create("plugins_memory");
    TCase *tests = add_case(suite, "refused", NULL, NULL, 600);
    tcase_add_loop_test(tests, whatever_memory_our_plugins_are_refused_the_next_call_works, 0, SCENARIOS);
    return suite;
}
