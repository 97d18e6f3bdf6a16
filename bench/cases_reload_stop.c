/* cases_reload_stop.c - the longest stop of a program's loop while a plugin is reloaded, seen from outside.
 *
 * A loop steps a world of a million instances of six fields and polls its host, as any program does. Then the plugin's
 * file is written anew, and the loop goes on until the change is made and its probation over. Measured is the longest
 * turn of that loop: reading the file, the copy of the process for the trial, columns made ready between steps, the
 * exchange, and the end of the probation are all in it, and so is a step. So it is where nothing is watched, and the
 * reload is asked for (bp_host_begin_reload), and where nothing is tried (`untried`). Beside it stands the time of
 * bp_host_reload, which does all at once: without a trial, and with one, which it waits for.
 *
 * `moving`: the component's loop writes all columns in each step, so that nothing converted beforehand is still right.
 * `100_worlds`, `1000_runs`: as many instances, dealt over worlds, or over prototypes of one world, each an instance of
 * the component under a name of its own.
 * The floor is the longest turn of as many turns of the same loop without a reload.
 */
#define _POSIX_C_SOURCE 200809L

#include "cases.h"

#include "worlds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS_BEFORE = 100, PROBATION = 60, MOST_TIMES = 16, THREADS = 2, LISTS = 16, LISTS_DROPPED = 17 };

typedef struct kind_t {
    const char *name;
    int number; /* in bench/plugins/reload_kinds.c */
    bool moves;
    uint32_t worlds, runs; /* and runs of each; 0: one */
} kind_t;

static const kind_t kinds[] = {
    {.name = "f64_to_f32", .number = 0},
    {.name = "f64_to_f32_moving", .number = 0, .moves = true},
    {.name = "f64_to_f32_100_worlds", .number = 0, .moves = true, .worlds = 100},
    {.name = "f64_to_f32_1000_runs", .number = 0, .moves = true, .runs = 1000},
    {.name = "f32_to_f64", .number = 1},
    {.name = "f32_to_f64_moving", .number = 1, .moves = true},
    {.name = "i64_to_i32", .number = 2},
    {.name = "i32_to_f64", .number = 3},
    {.name = "f64_to_i32", .number = 4},
    {.name = "i64_to_f32", .number = 5},
    {.name = "u8_to_i16", .number = 6},
    {.name = "vec3_to_vec4", .number = 7},
    {.name = "vec4_to_vec3", .number = 8},
    {.name = "dvec3_to_vec3", .number = 9},
    {.name = "other_names", .number = 10},
    {.name = "f64_2_to_f32_2", .number = 11},
    {.name = "f32_2_to_f32_4", .number = 12},
    {.name = "limits", .number = 13},
    {.name = "code_only", .number = 14, .moves = true},
    {.name = "text_to_texts", .number = 15},
    {.name = "list_f32_to_f64", .number = LISTS},
    {.name = "lists_to_texts", .number = LISTS_DROPPED},
};

typedef struct stop_t {
    bp_host_o *host;
    char path[1024];
    uint32_t told;
    bp_result_t result;
} stop_t;

static void say(const kind_t *kind, int side)
{
    char number[16];
    snprintf(number, sizeof number, "%d", kind->number);
    setenv("BENCH_KIND", number, 1);
    setenv("BENCH_SIDE", side == 0 ? "0" : "1", 1);
    if (kind->moves)
        setenv("BENCH_MOVES", "1", 1);
    else
        unsetenv("BENCH_MOVES");
}

static void put(const stop_t *s)
{
    char aside[1040], bytes[4096];
    snprintf(aside, sizeof aside, "%s.new", s->path);
    FILE *in = fopen(BENCH_OWN_PLUGIN_DIR "/reload_kinds.so", "rb"), *out = fopen(aside, "wb");
    if (in == NULL || out == NULL) {
        fprintf(stderr, "reload_kinds.so cannot be copied to %s\n", aside);
        exit(EXIT_FAILURE);
    }
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        fwrite(bytes, 1, n, out);
    fclose(in);
    fclose(out);
    rename(aside, s->path);
}

static void hear(void *data, const bp_reload_report_t *report)
{
    stop_t *s = data;
    s->told++;
    s->result = report->result;
    if (report->result != BP_OK)
        fprintf(stderr, "%s\n", report->text);
}

/* Each list has two items. */
static void fill_lists(const stop_t *s, bp_world_o *world, const bp_entity_t *entities, uint32_t size)
{
    const bp_api_t *api = bp_host_api(s->host);
    static float items[] = {1, 2};
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    const bp_list_t list = {items, 2, 0};
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bp_property_t property;
        worlds_must(s->host, api->property->resolve(world, (bp_entity_t){0}, "reload_kinds", names[i], &property),
                    "resolving");
        worlds_must(s->host, api->property->set(world, &property, entities, size, &list, 0), "setting");
    }
}

/* A world with `size` instances, in runs of the same size. */
static void open_world(const stop_t *s, const kind_t *kind, uint32_t number, uint32_t size)
{
    const bp_api_t *api = bp_host_api(s->host);
    uint32_t runs = kind->runs == 0 ? 1 : kind->runs;
    bp_entity_t *entities = worlds_memory(size, sizeof *entities);
    char name[24];
    snprintf(name, sizeof name, "world_%u", number);
    bp_world_o *world = bp_world_create(s->host, &(bp_world_desc_t){.name = name});
    worlds_must(s->host, bp_world_use_component(world, "reload_kinds"), "using");
    for (uint32_t r = 0; r < runs; r++) {
        uint32_t key, prototype;
        bp_name_t instance = 0;
        snprintf(name, sizeof name, "run_%u", r);
        if (r > 0)
            worlds_must(s->host, api->name->intern(s->host, name, &instance), "naming");
        worlds_must(s->host, api->world->key(world, 0, instance, &key), "making a key");
        worlds_must(s->host, api->world->prototype(world, &key, 1, &prototype), "making a prototype");
        worlds_must(s->host, api->world->create(world, prototype, entities, size / runs), "creating");
    }
    if (kind->number == LISTS || kind->number == LISTS_DROPPED)
        fill_lists(s, world, entities, size);
    free(entities);
}

static void open_host(stop_t *s, const kind_t *kind, uint32_t flags, uint32_t size)
{
    uint32_t worlds = kind->worlds == 0 ? 1 : kind->worlds;
    *s = (stop_t){.told = 0};
    snprintf(s->path, sizeof s->path, BENCH_OWN_PLUGIN_DIR "/reload_stop.so");
    say(kind, 0);
    put(s);
    s->host = bp_host_create(&(bp_host_desc_t){.threads = THREADS, .flags = flags, .probation = PROBATION});
    worlds_must(s->host, bp_host_load_plugin(s->host, s->path, NULL, 0), "loading");
    for (uint32_t w = 0; w < worlds; w++)
        open_world(s, kind, w, size / worlds);
    worlds_must(s->host, bp_host_on_reload(s->host, hear, s), "listening");
}

static double turn(const stop_t *s)
{
    uint64_t began = measure_now();
    worlds_must(s->host, bp_host_poll(s->host), "polling");
    worlds_must(s->host, bp_host_step(s->host), "a step");
    return (double)(measure_now() - began);
}

static double turns(const stop_t *s, uint32_t count)
{
    double longest = 0;
    for (uint32_t i = 0; i < count; i++) {
        double took = turn(s);
        longest = took > longest ? took : longest;
    }
    return longest;
}

static const char *const reloaded[] = {"reload_kinds"};

/* The longest turn while the file is written anew, tried, made ready for, exchanged, and its probation ends. The file
 * is watched (BP_HOST_HOT_RELOAD), or else its reload is asked for. */
static void watch(const kind_t *kind, uint32_t size, uint32_t flags, double *longest, double *floor)
{
    stop_t s;
    bool watched = (flags & BP_HOST_HOT_RELOAD) != 0;
    open_host(&s, kind, flags | BP_HOST_CRASH_GUARD, size);
    turns(&s, TURNS_BEFORE);
    *floor = turns(&s, TURNS_BEFORE);
    say(kind, 1);
    put(&s);
    uint64_t began = measure_now();
    if (!watched)
        worlds_must(s.host, bp_host_begin_reload(s.host, reloaded, 1, 0), "asking");
    *longest = watched ? 0 : (double)(measure_now() - began);
    for (began = measure_now(); s.told == 0 && measure_now() - began < UINT64_C(20000000000);) {
        double took = turn(&s);
        *longest = took > *longest ? took : *longest;
    }
    worlds_must(s.host, s.told == 0 ? BP_ERROR_FAILED : s.result, "reloading");
    double after = turns(&s, PROBATION + 10);
    *longest = after > *longest ? after : *longest;
    bp_host_destroy(s.host);
    remove(s.path);
}

static double by_hand(const kind_t *kind, uint32_t size, uint32_t flags)
{
    stop_t s;
    open_host(&s, kind, flags | BP_HOST_COPY_PLUGINS | BP_HOST_CRASH_GUARD, size);
    turns(&s, 3);
    say(kind, 1);
    put(&s);
    uint64_t began = measure_now();
    worlds_must(s.host, bp_host_reload(s.host, reloaded, 1, NULL), "reloading");
    double took = (double)(measure_now() - began);
    bp_host_destroy(s.host);
    remove(s.path);
    return took;
}

static void run(results_t *results, uint32_t size, uint32_t times)
{
    double longest[MOST_TIMES], floor[MOST_TIMES], asked[MOST_TIMES], hand[MOST_TIMES];
    double tried[MOST_TIMES], steady[MOST_TIMES], untried[MOST_TIMES], still[MOST_TIMES];
    uint32_t count = times < MOST_TIMES ? times : MOST_TIMES;
    for (uint32_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        char name[64];
        const char *only = getenv("BENCH_ONLY_KIND");
        if (only != NULL && strcmp(only, kinds[k].name) != 0)
            continue;
        for (uint32_t i = 0; i < count; i++) {
            watch(&kinds[k], size, BP_HOST_HOT_RELOAD | BP_HOST_TRIAL, &longest[i], &floor[i]);
            watch(&kinds[k], size, BP_HOST_COPY_PLUGINS | BP_HOST_TRIAL, &asked[i], &steady[i]);
            watch(&kinds[k], size, BP_HOST_HOT_RELOAD, &untried[i], &still[i]);
            hand[i] = by_hand(&kinds[k], size, 0);
            tried[i] = by_hand(&kinds[k], size, BP_HOST_TRIAL);
        }
        const bound_t frame = AT_MOST(16e6);
        snprintf(name, sizeof name, "%s/watched", kinds[k].name);
        measure_put(results, "reload_stop", name, size, UNIT_NS, longest, floor, count, frame)->whole = true;
        snprintf(name, sizeof name, "%s/asked", kinds[k].name);
        measure_put(results, "reload_stop", name, size, UNIT_NS, asked, steady, count, frame)->whole = true;
        snprintf(name, sizeof name, "%s/untried", kinds[k].name);
        measure_put(results, "reload_stop", name, size, UNIT_NS, untried, still, count, frame)->whole = true;
        snprintf(name, sizeof name, "%s/by_hand", kinds[k].name);
        measure_put(results, "reload_stop", name, size, UNIT_NS, hand, NULL, count, frame)->whole = true;
        snprintf(name, sizeof name, "%s/by_hand_with_trial", kinds[k].name);
        measure_put(results, "reload_stop", name, size, UNIT_NS, tried, NULL, count, frame)->whole = true;
    }
}

static const uint32_t sizes[] = {1000000, 0};

const course_t course_reload_stop = {"reload_stop", sizes, run};
