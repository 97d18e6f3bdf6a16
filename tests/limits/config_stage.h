/* config_stage.h - what the tests of inis share: plugins that make trouble on demand, hosts that an ini may change, and
 * what in a host it may change.
 *
 * Every file of tests that includes this header has a host of its own, `rig`.
 *
 * What it does not do: it tests nothing; wrong inis are in test_config_mistakes.c, good ones in test_config.c.
 */
#ifndef TESTS_LIMITS_CONFIG_STAGE_H
#define TESTS_LIMITS_CONFIG_STAGE_H

#include "../unit/inspect.h"
#include "../unit/support.h"
#include "../unit/zoo.h"

#include "engine/host.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a plugin that makes trouble on demand ------------------------------------------------------------------------ */

static inline bp_result_t refuse_component(bp_manager_t *m)
{
    return m->api->error->set(m->host, BP_ERROR_FAILED, "not today");
}

static inline bp_result_t refuse_system(bp_system_t *s)
{
    return s->api->error->set(s->host, BP_ERROR_FAILED, "not today");
}

static inline bp_result_t say_nothing(bp_manager_t *m)
{
    (void)m;
    return BP_ERROR_FAILED;
}

static inline bp_result_t refuse_silently(bp_system_t *s)
{
    (void)s;
    return BP_ERROR_FAILED;
}

static inline void rest(const bp_match_t *match, uint32_t count)
{
    (void)match, (void)count;
}

static inline void rest_all(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
}

static const bp_field_t crew_options[] = {
    {.name = "a_bool", .type = BP_BOOL},
    {.name = "an_i32", .type = BP_I32, .min = "-5", .max = "5"},
    {.name = "a_u32", .type = BP_U32, .initial = "9"},
    {.name = "an_i64", .type = BP_I64},
    {.name = "an_f32", .type = BP_F32, .min = "0", .unit = "m"},
    {.name = "an_f64", .type = BP_F64, .max = "1e3"},
    {.name = "a_vec3", .type = BP_VEC3, .max = "1"},
    {.name = "a_colour", .type = BP_COLOUR},
    {.name = "a_text", .type = BP_STRING, .initial = "none"},
    {.name = "a_name", .type = BP_NAME},
    {.name = "a_path", .type = BP_STRING, .flags = BP_FIELD_PATH, .initial = "default.obj"},
};
enum { A_BOOL, AN_I32, A_U32, AN_I64, AN_F32, AN_F64, A_VEC3, A_COLOUR, A_TEXT, A_NAME, A_PATH };

static const bp_component_i crew_components[] = {
    {.name = "cook"},
    {.name = "grump", .start = refuse_component},
    {.name = "sphinx", .start = say_nothing},
};

static const bp_term_t body_terms[] = {{.component = "body"}};

static const bp_system_i crew_systems[] = {
    {.name = "walk", .terms = BP_LIST(body_terms), .run = rest},
    {.name = "lead", .before = "walk", .terms = BP_LIST(body_terms), .run = rest},
    {.name = "lost", .after = "nobody", .run_all = rest_all},
    {.name = "hen", .before = "egg", .run_all = rest_all},
    {.name = "egg", .before = "hen", .run_all = rest_all},
    {.name = "sulk", .start = refuse_system, .run_all = rest_all},
    {.name = "mum", .start = refuse_silently, .run_all = rest_all},
};

static const bp_plugin_head_t crew = BP_PLUGIN_HEAD("crew", (&(const bp_plugin_desc_t){.version = "1.0",
                                      .components = BP_LIST(crew_components),
                                      .systems = BP_LIST(crew_systems),
                                      .options = BP_LIST(crew_options)}));

static const bp_field_t strict_options[] = {
    {.name = "sail", .type = BP_STRING, .flags = BP_FIELD_REQUIRED, .doc = "what to set"},
    {.name = "crew", .type = BP_U32, .flags = BP_FIELD_REQUIRED, .min = "1", .doc = "how many"},
};

static const bp_plugin_head_t strict = BP_PLUGIN_HEAD("strict", (&(const bp_plugin_desc_t){.version = "1.0",
                                        .options = BP_LIST(strict_options)}));

static const bp_plugin_head_t bare = BP_PLUGIN_HEAD("bare", (&(const bp_plugin_desc_t){.version = "1.0"}));

/* --- hosts -------------------------------------------------------------------------------------------------------- */

enum { ROOM = 64 << 20 };

static rig_t rig;
static bp_allocator_i watched;
static const bp_plugin_head_t *plugins[ZOO_PLUGINS + 3] = {NULL, NULL, &crew, &strict, &bare};

/* Huge requests fail here before the heap fills them with its pattern. */
static inline void *resize_within_reason(void *context, void *old, size_t old_size, size_t new_size)
{
    (void)context;
    return new_size > ROOM ? NULL : watched.resize(watched.context, old, old_size, new_size);
}

static inline void open_host(void)
{
    for (uint32_t i = 0; i < ZOO_PLUGINS; i++)
        plugins[i] = zoo_plugins[i];
    rig_init(&rig);
    watched = *rig.desc.allocator;
    rig.desc.allocator = &(bp_allocator_i){.resize = resize_within_reason};
    rig.desc.static_plugins = plugins;
    rig.desc.static_plugin_count = COUNT(plugins);
    rig_open(&rig);
}

/* A host that has something to lose. */
static inline void open_busy_host(void)
{
    static const char ini[] = "[host]\nplugins = ../fixtures/companion\nsteps = 7\nseed = 11\nthreads = 2\n"
                              "[world old]\ncomponents = companion\n"
                              "[spawn old fixture]\ncount = 3\ncomponents = companion\n";
    open_host();
    WORKS(rig.host, bp_host_setup(rig.host, scratch_file("busy.ini", ini)));
}

/* What an ini may change. */
typedef struct state_t {
    uint32_t plugins, worlds, entities, units, threads;
    uint64_t steps, random;
} state_t;

static inline state_t take_state(void)
{
    state_t state = {.entities = rig.api->entity->count(rig.host),
                     .steps = bp_host_configured_steps(rig.host),
                     .random = rig.host->base.random,
                     .threads = rig.host->crew.jobs.threads};
    bp_unit_stats_t stats;
    while (bp_host_plugin(rig.host, state.plugins, NULL) != NULL)
        state.plugins++;
    while (rig.api->world->at(rig.host, state.worlds) != NULL)
        state.worlds++;
    while (bp_host_unit_stats(rig.host, state.units, &stats) != 0)
        state.units++;
    return state;
}

static inline void expect_state(const state_t *before, const char *ini)
{
    state_t now = take_state();
    EXPECT(now.plugins == before->plugins, "%u plugins after: %s", now.plugins, ini);
    EXPECT(now.worlds == before->worlds, "%u worlds after: %s", now.worlds, ini);
    EXPECT(now.entities == before->entities, "%u entities after: %s", now.entities, ini);
    EXPECT(now.units == before->units, "%u units after: %s", now.units, ini);
    EXPECT(now.steps == before->steps, "%" PRIu64 " steps after: %s", now.steps, ini);
    EXPECT(now.random == before->random, "seed %" PRIu64 " after: %s", now.random, ini);
    EXPECT(now.threads == before->threads, "%u threads after: %s", now.threads, ini);
}

#define PLUGINS "[host]\nplugins = zoo stocks crew\n"
#define WORLD PLUGINS "[world w]\ncomponents = body, label, once, sample, pool, mute\n"
#define SPAWN WORLD "[spawn w s]\n"

/* The host is still good for an ini. */
static inline void expect_good_host(void)
{
    static const char ini[] = SPAWN "count = 2\ncomponents = body label pool\nbody.mass = 2\n";
    WORKS(rig.host, bp_host_setup(rig.host, scratch_file("good.ini", ini)));
    WORKS(rig.host, bp_host_step(rig.host));
}

/* Long texts. */
#define X10 "xxxxxxxxxx"
#define X60 X10 X10 X10 X10 X10 X10
#define X190 X60 X60 X60 X10

#define SCRATCH TEST_SCRATCH_DIR

/* Scenes beside the inis: one of four entities, and broken ones. */
static inline void write_scenes(void)
{
    scratch_file("two.json",
                 "{\"entities\": [{\"name\": \"a\", \"components\": {\"body\": {\"mass\": 3}, \"label\": {}}},\n"
                 "{\"count\": 3, \"components\": {\"pool\": {\"number\": [1, 2, 3]}}}]}\n");
    scratch_file("worlds.json",
                 "{\"worlds\": {\"w\": {\"entities\": [{\"name\": \"a\", \"components\": {\"body\": {}}}]},\n"
                 "\"v\": {\"entities\": [{\"entity\": \"a\", \"components\": {\"label\": {}}}]}}}\n");
    scratch_file("broken.json", "{\"entities\": [{\"components\":\n{\"bodi\": {}}}]}\n");
    scratch_file("broken.bpe", "this is no scene");
}

/* An ini with something of everything. */
static const char whole[] = "; a scene\n"
                            "[host]\n"
                            "plugins = zoo,\n"
                            "  stocks crew\n"
                            "steps = 12\n"
                            "[plugin crew]\n"
                            "an_i32: 3\n"
                            "[world w]\n"
                            "step_rate = 50 ; a second\n"
                            "components = body pool\n"
                            "systems = walk\n"
                            "[spawn w s]\n"
                            "count = 3\n"
                            "components = hull:body pool\n"
                            "hull.position = 1 2 3\n"
                            "pool.text = some words\n";

#endif
