/* cases_worlds.c - the same entities dealt over one world and over many.
 *
 * A million entities with a body of 40 bytes, which a system moves, are created in portions of a hundred, one portion
 * in each world in turn; then all worlds step; then portions are destroyed in the order of their creation, and all
 * worlds step once, which collects. The size is the number of worlds. The floor of each figure is the same course in
 * one world, taken immediately before: the part of a ratio above 1 is the cost of many worlds.
 */
#include "cases.h"

#include "worlds.h"

#include <stdlib.h>

enum { ENTITIES = 1000000, PORTION = 100, STEPS = 10, FIELD_BYTES = 40, MOST_TIMES = 8 };

static const bp_field_t fields[] = {
    {.name = "mass", .type = BP_F32, .initial = "1"}, {.name = "position", .type = BP_VEC3},
    {.name = "velocity", .type = BP_VEC3}, {.name = "acceleration", .type = BP_VEC3}};
static const bp_component_i parts[] = {{.name = "body", .fields = BP_LIST(fields)}};
static const bp_term_field_t moving[] = {{.name = "position", .type = BP_VEC3, .access = BP_WRITE},
                                         {.name = "velocity", .type = BP_VEC3, .access = BP_WRITE},
                                         {.name = "acceleration", .type = BP_VEC3}};
static const bp_term_t terms[] = {{.component = "body", .fields = BP_LIST(moving)}};

static void advance(const bp_match_t *match, uint32_t count)
{
    floor_simulate(BP_TERM_COLUMN(match, float, 0, 0), BP_TERM_COLUMN(match, float, 0, 1),
                   BP_TERM_COLUMN(match, float, 0, 2), (float)match->step->dt, (size_t)3 * count);
}

static const bp_system_i systems[] = {{.name = "advance", .terms = BP_LIST(terms), .run = advance}};
static const bp_plugin_desc_t plugin_desc = {.version = "1", .components = BP_LIST(parts), .systems = BP_LIST(systems)};
static const bp_plugin_head_t plugin = BP_PLUGIN_HEAD("dealt", &plugin_desc);

typedef struct figures_t {
    double create, step, destroy, bytes; /* of an entity */
} figures_t;

typedef struct worlds_t {
    bench_world_t *w; /* each with the same host */
    uint32_t count;
    bp_entity_t *all; /* ENTITIES of them */
} worlds_t;

static void open_worlds(worlds_t *s)
{
    s->w = worlds_memory(s->count, sizeof *s->w);
    worlds_open(&s->w[0], &plugin, 0, 1, 1);
    for (uint32_t i = 0; i < s->count; i++) {
        char name[16];
        bench_world_t *w = &s->w[i];
        snprintf(name, sizeof name, "w%u", i);
        if (i > 0) {
            *w = s->w[0];
            w->world = worlds_another(w, &plugin, name);
            worlds_must(w->host, bp_world_use_system(w->world, systems[0].name), "bringing in a system");
        }
        w->prototype = worlds_prototype(w, parts[0].name);
        worlds_step(w);
    }
}

static void create_all(worlds_t *s)
{
    for (uint32_t at = 0, i = 0; at < ENTITIES; at += PORTION, i = i + 1 == s->count ? 0 : i + 1)
        worlds_must(s->w[i].host, worlds_make(&s->w[i], s->w[i].prototype, s->all + at, PORTION), "creating entities");
}

static void destroy_all(worlds_t *s)
{
    for (uint32_t at = 0; at < ENTITIES; at += PORTION)
        worlds_end(&s->w[0], s->all + at, PORTION);
}

static void step_all(worlds_t *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        worlds_step(&s->w[i]);
}

static figures_t go(worlds_t *s)
{
    figures_t f;
    open_worlds(s);
    uint64_t held = worlds_host_bytes(&s->w[0]), begin = measure_now();
    create_all(s);
    f.create = (double)(measure_now() - begin) / (double)ENTITIES;
    f.bytes = (double)(worlds_host_bytes(&s->w[0]) - held) / (double)ENTITIES - (double)FIELD_BYTES;
    step_all(s);
    begin = measure_now();
    for (uint32_t i = 0; i < STEPS; i++)
        step_all(s);
    f.step = (double)(measure_now() - begin) / (double)ENTITIES / (double)STEPS;
    begin = measure_now();
    destroy_all(s);
    step_all(s);
    f.destroy = (double)(measure_now() - begin) / (double)ENTITIES;
    worlds_destroy(&s->w[0]);
    free(s->w);
    return f;
}

static void run(results_t *results, uint32_t size, uint32_t times)
{
    double create[MOST_TIMES], step[MOST_TIMES], destroy[MOST_TIMES], bytes[MOST_TIMES];
    double create_1[MOST_TIMES], step_1[MOST_TIMES], destroy_1[MOST_TIMES], bytes_1[MOST_TIMES];
    bp_entity_t *all = worlds_memory(ENTITIES, sizeof *all);
    for (uint32_t i = 0; i < times && i < MOST_TIMES; i++) {
        figures_t one = go(&(worlds_t){.count = 1, .all = all});
        figures_t many = go(&(worlds_t){.count = size, .all = all});
        create[i] = many.create, step[i] = many.step, destroy[i] = many.destroy, bytes[i] = many.bytes;
        create_1[i] = one.create, step_1[i] = one.step, destroy_1[i] = one.destroy, bytes_1[i] = one.bytes;
    }
    measure_put(results, "worlds", "create", size, UNIT_NS, create, create_1, times, (bound_t)AT_MOST_TIMES(1.5));
    measure_put(results, "worlds", "step", size, UNIT_NS, step, step_1, times,
                (bound_t){.kind = BOUND_RATIO, .limit = 1.1, .to_size = 100});
    measure_put(results, "worlds", "destroy", size, UNIT_NS, destroy, destroy_1, times, (bound_t)AT_MOST_TIMES(1.5));
    measure_put(results, "worlds", "memory", size, UNIT_BYTES, bytes, bytes_1, times, (bound_t)AT_MOST_TIMES(1.25));
    free(all);
}

static const uint32_t sizes[] = {1, 10, 100, 1000, 0};

const course_t course_worlds = {"worlds", sizes, run};
