/* cases_schedule.c - what steps cost beside the loops: empty systems, notices, threads, and looking at a step.
 *
 * Notices: components added to and removed from shuffled entities, with a step after each, in a world without
 * systems and in one with 64, of which 4 are told which entities match. Threads: the same world on one thread and on
 * two.
 */
#include "cases.h"

#include "worlds.h"

#include <stdio.h>
#include <stdlib.h>

enum { SYSTEMS = 64, TOLD = 4 };

/* --- the plugin ------------------------------------------------------------------------------------------- */

static const bp_field_t fields[] = {{.name = "value", .type = BP_F32, .initial = "1"}};
static const bp_component_i components[] = {
    {.name = "a", .fields = BP_LIST(fields)},
    {.name = "b", .fields = BP_LIST(fields)},
    {.name = "c", .fields = BP_LIST(fields)},
};

static uint64_t told; /* counts entities, so that the notices are used */

static void take_note(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    (void)s;
    told += entities[0].id + count;
}

static void nothing(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
}

/* A chain of divisions for each value: nearly all of the time is computing. */
static void compute(const bp_match_t *match, uint32_t count)
{
    float *a = BP_TERM_COLUMN(match, float, 0, 0);
    for (uint32_t i = 0; i < count; i++) {
        float x = a[i];
        for (uint32_t k = 0; k < 40; k++)
            x = 1.0f / (x + 1.0f);
        a[i] = x + 0.5f;
    }
}

static void add_up(const bp_match_t *match, uint32_t count)
{
    float *a = BP_TERM_COLUMN(match, float, 0, 0);
    for (uint32_t i = 0; i < count; i++)
        a[i] += 1.0f;
}

static const bp_term_field_t read_value[] = {{.name = "value", .type = BP_F32}},
                             write_value[] = {{.name = "value", .type = BP_F32, .access = BP_WRITE}};
#define READS(type) {.component = type, .fields = BP_LIST(read_value)}
static const bp_term_t write_a[] = {{.component = "a", .fields = BP_LIST(write_value)}};
static const bp_term_t a_and_b[] = {READS("a"), READS("b")};
static const bp_term_t b_and_a[] = {READS("b"), READS("a")};
static const bp_term_t only_b[] = {READS("b")};
static const bp_term_t a_not_b[] = {READS("a"), {.component = "b", .flags = BP_TERM_EXCLUDE}};
static const bp_term_t only_c[] = {READS("c")};
static char names[SYSTEMS][8];
static bp_system_i systems[SYSTEMS + 3];

static void fill_systems(void)
{
    const bp_term_list_t lists[TOLD] = {BP_LIST(a_and_b), BP_LIST(b_and_a), BP_LIST(only_b), BP_LIST(a_not_b)};
    for (uint32_t i = 0; i < SYSTEMS; i++) {
        snprintf(names[i], sizeof names[i], "s%u", i % 100);
        systems[i] = (bp_system_i){.name = names[i], .terms = BP_LIST(only_c), .run_all = nothing};
        if (i % (SYSTEMS / TOLD) == 0) {
            systems[i].terms = lists[i / (SYSTEMS / TOLD)];
            systems[i].entities_added = systems[i].entities_removed = take_note;
        }
    }
    systems[SYSTEMS] = (bp_system_i){.name = "compute", .flags = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT,
                                     .terms = BP_LIST(write_a),
                                     .run = compute};
    systems[SYSTEMS + 1] = (bp_system_i){.name = "add_up", .flags = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT,
                                         .terms = BP_LIST(write_a),
                                         .run = add_up};
    systems[SYSTEMS + 2] = (bp_system_i){.name = "empty", .run_all = nothing};
}

typedef struct stage_t {
    bp_host_o *host;
    bp_world_o *world;
    const bp_api_t *api;
    bp_entity_t *entities;
    uint32_t count, key;
} stage_t;

static void open_stage(stage_t *s, uint32_t threads, uint32_t size, uint32_t first, uint32_t last)
{
    fill_systems();
    const bp_plugin_desc_t desc = {.version = "1", .components = BP_LIST(components),
                                   .systems = {systems, SYSTEMS + 3, sizeof systems[0]}};
    const bp_plugin_head_t plugin = BP_PLUGIN_HEAD("steps", &desc);
    const bp_plugin_head_t *const linked[] = {&plugin};
    s->host = bp_host_create(&(bp_host_desc_t){.threads = threads, .static_plugins = linked, .static_plugin_count = 1});
    s->api = bp_host_api(s->host);
    worlds_must(s->host, bp_host_load_plugin(s->host, "steps", NULL, 0), "loading");
    s->world = bp_world_create(s->host, &(bp_world_desc_t){.name = "w"});
    for (uint32_t i = 0; i < 3; i++)
        worlds_must(s->host, bp_world_use_component(s->world, components[i].name), "a component");
    for (uint32_t i = first; i < last; i++)
        worlds_must(s->host, bp_world_use_system(s->world, systems[i].name), "a system");
    uint32_t key, prototype;
    s->count = size;
    s->entities = worlds_memory(size, sizeof *s->entities);
    worlds_must(s->host, s->api->world->key(s->world, s->api->world->component(s->world, "a"), 0, &key), "a key");
    worlds_must(s->host, s->api->world->key(s->world, s->api->world->component(s->world, "b"), 0, &s->key), "a key");
    worlds_must(s->host, s->api->world->prototype(s->world, &key, 1, &prototype), "a prototype");
    worlds_must(s->host, s->api->world->create(s->world, prototype, s->entities, size), "creating");
    worlds_must(s->host, bp_world_step(s->world), "a step");
}

static void close_stage(stage_t *s)
{
    bp_host_destroy(s->host);
    free(s->entities);
}

/* Two stages whose steps take turns. */
typedef struct pair_t {
    stage_t one, two;
} pair_t;

static void close_pair(void *state)
{
    pair_t *p = state;
    close_stage(&p->one);
    close_stage(&p->two);
    free(p);
}

static void step(stage_t *s)
{
    worlds_must(s->host, bp_world_step(s->world), "a step");
}

static void step_one(void *state) { step(&((pair_t *)state)->one); }
static void step_two(void *state) { step(&((pair_t *)state)->two); }

/* --- notices ------------------------------------------------------------------------------------------------ */

static void *setup_notices(uint32_t size)
{
    pair_t *p = worlds_memory(1, sizeof *p);
    open_stage(&p->one, 1, size, 0, 0);
    open_stage(&p->two, 1, size, 0, SYSTEMS);
    worlds_shuffle(p->one.entities, size, 5);
    worlds_shuffle(p->two.entities, size, 5);
    return p;
}

static void change_batch(stage_t *s)
{
    worlds_must(s->host, s->api->world->add(s->world, s->key, s->entities, s->count), "adding");
    step(s);
    worlds_must(s->host, s->api->world->remove(s->world, s->key, s->entities, s->count), "removing");
    step(s);
}

static void change_single(stage_t *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        worlds_must(s->host, s->api->world->add(s->world, s->key, &s->entities[i], 1), "adding");
    step(s);
    for (uint32_t i = 0; i < s->count; i++)
        worlds_must(s->host, s->api->world->remove(s->world, s->key, &s->entities[i], 1), "removing");
    step(s);
}

static void batch_one(void *state) { change_batch(&((pair_t *)state)->one); }
static void batch_two(void *state) { change_batch(&((pair_t *)state)->two); }
static void single_one(void *state) { change_single(&((pair_t *)state)->one); }
static void single_two(void *state) { change_single(&((pair_t *)state)->two); }

const group_t group_notices = {
    .name = "add_remove_told",
    .setup = setup_notices,
    .teardown = close_pair,
    .sides = {{.name = "batch_no_systems", .run = batch_one},
              {.name = "batch_64_systems", .floor = "batch_no_systems", .run = batch_two, .bound = AT_MOST_TIMES(1.5)},
              {.name = "single_no_systems", .run = single_one},
              {.name = "single_64_systems", .floor = "single_no_systems", .run = single_two,
               .bound = AT_MOST_TIMES(1.5)}},
};

/* --- threads -------------------------------------------------------------------------------------------------- */

static void *setup_threads(uint32_t size, uint32_t system)
{
    pair_t *p = worlds_memory(1, sizeof *p);
    open_stage(&p->one, 1, size, system, system + 1);
    open_stage(&p->two, 2, size, system, system + 1);
    return p;
}

static void *setup_compute(uint32_t size) { return setup_threads(size, SYSTEMS); }
static void *setup_light(uint32_t size) { return setup_threads(size, SYSTEMS + 1); }

static const uint32_t compute_sizes[] = {1000, 10000, 100000, 1000000, 0};

const group_t group_threads_compute = {
    .name = "threads_compute",
    .sizes = compute_sizes,
    .setup = setup_compute,
    .teardown = close_pair,
    .sides = {{.name = "one_thread", .run = step_one},
              {.name = "two_threads", .floor = "one_thread", .run = step_two,
               .bound = AT_MOST_TIMES_FROM(1 / 1.8, 10000)}},
};

const group_t group_threads_light = {
    .name = "threads_light",
    .sizes = compute_sizes,
    .setup = setup_light,
    .teardown = close_pair,
    .sides = {{.name = "one_thread", .run = step_one},
              {.name = "two_threads", .floor = "one_thread", .run = step_two, .bound = AT_MOST_TIMES(1.05)}},
};

/* --- empty systems ---------------------------------------------------------------------------------------------- */

/* `size` is a number of systems; the figure is one system's share of a step. */
static void *setup_empty(uint32_t size)
{
    (void)size;
    pair_t *p = worlds_memory(1, sizeof *p);
    open_stage(&p->one, 1, 64, SYSTEMS + 2, SYSTEMS + 3);
    open_stage(&p->two, 1, 64, 0, SYSTEMS);
    return p;
}

static void take(void *context, const bp_trace_slice_t *slices, uint32_t count, uint64_t lost)
{
    (void)slices, (void)lost;
    *(uint64_t *)context += count;
}

static void look(void *state)
{
    pair_t *p = state;
    worlds_must(p->two.host, bp_host_trace(p->two.host, &(bp_trace_i){.context = &told, .slices = take}), "looking");
}

static void look_away(void *state)
{
    pair_t *p = state;
    worlds_must(p->two.host, bp_host_trace(p->two.host, NULL), "looking away");
}

static const uint32_t empty_sizes[] = {SYSTEMS, 0};

const group_t group_empty = {
    .name = "empty_systems",
    .sizes = empty_sizes,
    .setup = setup_empty,
    .teardown = close_pair,
    .sides = {{.name = "step_of_64", .run = step_two, .prepare = look_away, .bound = AT_MOST(200)},
              {.name = "step_of_64_traced", .floor = "step_of_64", .run = step_two, .prepare = look}},
};
