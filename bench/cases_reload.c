/* cases_reload.c - how long the world stands still while a plugin is reloaded.
 *
 * One item is one living instance, so at a million an item's nanosecond is a millisecond of pause: the whole call of
 * bp_host_reload, from reading the file to closing the old image. Between runs the first version is brought back,
 * untimed. The floors are what the system charges for memory alone: fresh pages of one float an instance, and of a
 * vec4.
 *
 * The trial: how long the world stands still for a copy of the process, and what the next step takes while that
 * copy is there; once as trials are made, once with a plain copy of everything. Between runs the copy ends, untimed.
 */
#include "cases.h"

#include "os/os.h"
#include "reload/process.h"
#include "store/sample.h"
#include "worlds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const uint32_t million[] = {1000000, 0}, millions[] = {1000000, 4000000, 0};

typedef struct reload_t {
    bp_host_o *host;
    const bp_api_t *api;
    bp_world_o *world;
    uint32_t size;
    int version; /* at work */
    memory_t memory; /* of the copy */
    process_t *copy;
    char path[1024];
} reload_t;

/* Overwrite the plugin's file by that of another version. */
static void put(reload_t *s, int version)
{
    char from[1024], aside[1040], bytes[4096];
    snprintf(from, sizeof from, BENCH_OWN_PLUGIN_DIR "/reload_point_%d.so", version);
    snprintf(aside, sizeof aside, "%s.new", s->path);
    FILE *in = fopen(from, "rb"), *out = fopen(aside, "wb");
    if (in == NULL || out == NULL) {
        fprintf(stderr, "%s cannot be copied to %s\n", from, aside);
        exit(EXIT_FAILURE);
    }
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        fwrite(bytes, 1, n, out);
    fclose(in);
    fclose(out);
    rename(aside, s->path);
}

static void reload(reload_t *s)
{
    static const char *const names[] = {"reload_point"};
    worlds_must(s->host, bp_host_reload(s->host, names, 1, NULL), "reloading");
}

static void bring(reload_t *s, int version)
{
    put(s, version);
    if (s->version != version)
        reload(s);
    s->version = version;
}

static void *setup_version(uint32_t size, int version)
{
    reload_t *s = worlds_memory(1, sizeof *s);
    uint32_t key, prototype;
    s->size = size;
    s->version = version;
    snprintf(s->path, sizeof s->path, BENCH_OWN_PLUGIN_DIR "/reload_point.so");
    put(s, version);
    memory_init(&s->memory, "benchmark", &(bp_allocator_i){0});
    s->host = bp_host_create(NULL);
    s->api = bp_host_api(s->host);
    worlds_must(s->host, bp_host_load_plugin(s->host, s->path, NULL, 0), "loading");
    s->world = bp_world_create(s->host, &(bp_world_desc_t){.name = "main"});
    worlds_must(s->host, bp_world_use_component(s->world, "reload_point"), "using");
    worlds_must(s->host, s->api->world->key(s->world, 0, 0, &key), "making a key");
    worlds_must(s->host, s->api->world->prototype(s->world, &key, 1, &prototype), "making a prototype");
    bp_entity_t *entities = worlds_memory(size, sizeof *entities);
    worlds_must(s->host, s->api->world->create(s->world, prototype, entities, size), "creating");
    free(entities);
    worlds_must(s->host, bp_world_step(s->world), "a step");
    return s;
}

static void *setup(uint32_t size)
{
    return setup_version(size, 1);
}

static void *setup_wide(uint32_t size)
{
    return setup_version(size, 9);
}

static void *setup_own(uint32_t size)
{
    return setup_version(size, 7);
}

static void teardown(void *state)
{
    reload_t *s = state;
    process_free(s->copy);
    bp_host_destroy(s->host);
    free(s);
}

/* Go back to the first version, take a step as a running world would, and put the file of the next version in place. */
static void make_ready(reload_t *s, int first, int next)
{
    bring(s, first);
    worlds_must(s->host, bp_world_step(s->world), "a step");
    put(s, next);
    s->version = next;
}

#define VERSION(n) \
    static void ready_##n(void *state) { make_ready(state, 1, n); } \
    static void run_##n(void *state) { reload(state); }

VERSION(2)
VERSION(3)
VERSION(4)
VERSION(5)
VERSION(6)

static void ready_narrow(void *state)
{
    make_ready(state, 9, 10);
}

static void run_narrow(void *state)
{
    reload(state);
}

static void ready_own(void *state)
{
    reload_t *s = state;
    put(s, 7); /* the same again: by properties */
    s->version = 7;
    worlds_must(s->host, bp_world_step(s->world), "a step");
}

static void ready_kept(void *state)
{
    reload_t *s = state;
    if (s->version != 8) {
        put(s, 8);
        reload(s);
        s->version = 8;
    }
    put(s, 8);
}

static void run_own(void *state)
{
    reload(state);
}

static void back_to_own(void *state)
{
    bring(state, 7);
    ready_own(state);
}

/* Pages fresh from the system, each byte written once. */
static void touch(uint32_t bytes)
{
    char *block = os_pages_alloc(bytes);
    if (block == NULL)
        exit(EXIT_FAILURE);
    memset(block, 1, bytes);
    os_pages_free(block, bytes);
}

static void touch_float(void *state)
{
    touch(((const reload_t *)state)->size * 4);
}

static void touch_six_floats(void *state)
{
    touch(((const reload_t *)state)->size * 24);
}

static void touch_vec4(void *state)
{
    touch(((const reload_t *)state)->size * 16);
}

/* --- trials --------------------------------------------------------------------------------------------- */

static int wait_for_the_end(process_t *self, void *data)
{
    (void)self, (void)data;
    for (;;)
        os_sleep_ns(1000000000);
    return 0;
}

static void copy_plainly(void *state)
{
    reload_t *s = state;
    s->copy = process_fork(&s->memory, wait_for_the_end, NULL);
    if (s->copy == NULL)
        exit(EXIT_FAILURE);
}

static void copy_thinned(void *state)
{
    reload_t *s = state;
    sample_t sample;
    sample_take(&sample, &s->memory, &(world_t *){world_of(s->world)}, 1);
    copy_plainly(s);
    sample_give_back(&sample);
}

static void end_copy(void *state)
{
    reload_t *s = state;
    process_free(s->copy);
    s->copy = NULL;
    worlds_must(s->host, bp_world_step(s->world), "a step");
}

static void ready_thinned(void *state)
{
    end_copy(state);
    copy_thinned(state);
}

static void ready_plain(void *state)
{
    end_copy(state);
    copy_plainly(state);
}

static void run_step(void *state)
{
    reload_t *s = state;
    worlds_must(s->host, bp_world_step(s->world), "a step");
}

const group_t group_reload_trial = {
    .name = "reload_trial",
    .sizes = millions,
    .setup = setup,
    .teardown = teardown,
    .sides =
        {
            {.name = "floor_step", .prepare = end_copy, .run = run_step},
            {.name = "stop", .floor = "floor_step", .prepare = end_copy, .run = copy_thinned, .bound = AT_MOST(2)},
            {.name = "step_beside_it", .floor = "floor_step", .prepare = ready_thinned, .run = run_step},
            {.name = "plain_copy_stop", .floor = "floor_step", .prepare = end_copy, .run = copy_plainly},
            {.name = "plain_copy_step_beside_it", .floor = "floor_step", .prepare = ready_plain, .run = run_step},
        },
};

const group_t group_reload = {
    .name = "reload",
    .sizes = million,
    .setup = setup,
    .teardown = teardown,
    .sides =
        {
            {.name = "floor_touch_4_bytes", .run = touch_float},
            {.name = "floor_touch_16_bytes", .run = touch_vec4},
            {.name = "code_only", .floor = "floor_touch_4_bytes", .prepare = ready_2, .run = run_2,
             .bound = AT_MOST(2)},
            {.name = "f32_added", .floor = "floor_touch_4_bytes", .prepare = ready_3, .run = run_3,
             .bound = AT_MOST(4)},
            {.name = "f32_added_with_default", .floor = "floor_touch_4_bytes", .prepare = ready_4, .run = run_4,
             .bound = AT_MOST(4)},
            {.name = "f32_to_f64", .floor = "floor_touch_16_bytes", .prepare = ready_5, .run = run_5,
             .bound = AT_MOST(16)},
            {.name = "vec3_to_vec4", .floor = "floor_touch_16_bytes", .prepare = ready_6, .run = run_6,
             .bound = AT_MOST(16)},
        },
};

/* Six f64 become f32 with a limit: every value is looked at. */
const group_t group_reload_narrow = {
    .name = "reload_narrow",
    .sizes = million,
    .setup = setup_wide,
    .teardown = teardown,
    .sides =
        {
            {.name = "floor_touch_24_bytes", .run = touch_six_floats},
            {.name = "six_f64_to_f32", .floor = "floor_touch_24_bytes", .prepare = ready_narrow, .run = run_narrow,
             .bound = AT_MOST(16)},
        },
};

const group_t group_reload_own = {
    .name = "reload_own",
    .sizes = million,
    .setup = setup_own,
    .teardown = teardown,
    .sides =
        {
            {.name = "floor_touch_16_bytes", .run = touch_vec4},
            {.name = "by_properties", .floor = "floor_touch_16_bytes", .prepare = back_to_own, .run = run_own,
             .bound = AT_MOST(60)},
            {.name = "state_kept", .floor = "floor_touch_16_bytes", .prepare = ready_kept, .run = run_own,
             .bound = AT_MOST(20)},
        },
};
