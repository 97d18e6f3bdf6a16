/* cases_memory.c - bytes.
 *
 * `allocated` is what the host's account says, address space that was never touched included; `resident` is
 * what the process grew by, as the system sees it, which at 10 k entities is little more than the rounding
 * to pages. Entities have a point_mass of 40 bytes, which are not counted. `grown` worlds were filled one
 * entity at a time, so their arrays have been doubled.
 */
#include "cases.h"

#include "worlds.h"

#include <components/point_mass.h>
#include <stdlib.h>

enum { FIELD_BYTES = 40, REST = 250 /* steps after which memory of what was many is given back */ };

/* --- entities ----------------------------------------------------------------------------------------- */

typedef enum history_t { IN_BULK, GROWN, CHURNED } history_t;

/* End all entities, and make as many again: after that every index has been asked about, queued and reused. Then some
 * steps follow, as after each change in a program. */
static void churn(bench_world_t *w, bp_entity_t *ids, uint32_t size)
{
    worlds_must(w->host, w->api->world->remove(w->world, w->key, ids, size), "removing components");
    w->api->entity->destroy(w->host, ids, size);
    worlds_must(w->host, w->api->world->create(w->world, w->prototype, ids, size), "creating entities");
    for (uint32_t i = 0; i < REST; i++)
        worlds_step(w);
}

static uint64_t bytes_now(const bench_world_t *w, bool resident)
{
    return resident ? machine_resident() : worlds_host_bytes(w);
}

static double entity_bytes(uint32_t size, bool resident, history_t history)
{
    bench_world_t w;
    bp_entity_t *ids = worlds_memory(size, sizeof *ids);
    worlds_create(&w, 0);
    machine_release();
    uint64_t before = bytes_now(&w, resident);
    uint32_t step = history == GROWN ? 1 : size;
    for (uint32_t i = 0; i < size; i += step)
        worlds_must(w.host, w.api->world->create(w.world, w.prototype, ids + i, step), "creating entities");
    if (history == CHURNED)
        churn(&w, ids, size);
    uint64_t after = bytes_now(&w, resident);
    worlds_destroy(&w);
    free(ids);
    return ((double)after - (double)before) / size - (double)FIELD_BYTES;
}

static double allocated(uint32_t size)
{
    return entity_bytes(size, false, IN_BULK);
}

static double allocated_grown(uint32_t size)
{
    return entity_bytes(size, false, GROWN);
}

static double resident(uint32_t size)
{
    return entity_bytes(size, true, IN_BULK);
}

static double resident_grown(uint32_t size)
{
    return entity_bytes(size, true, GROWN);
}

static double resident_churned(uint32_t size)
{
    return entity_bytes(size, true, CHURNED);
}

static const uint32_t entity_sizes[] = {10000, 30000, 100000, 300000, 1000000, 3000000, 10000000, 0};

#define ENTITY_GAUGE(what, bytes, from)                                                                     \
    {.name = "memory/entity/" #what, .counter = "bytes_per_entity", .sizes = entity_sizes, .measure = what, \
     .bound = AT_MOST_FROM(bytes, from)}

const gauge_t gauge_entity_allocated = ENTITY_GAUGE(allocated, 24, 0);
const gauge_t gauge_entity_allocated_grown = ENTITY_GAUGE(allocated_grown, 24, 0);
const gauge_t gauge_entity_resident = ENTITY_GAUGE(resident, 20.5, 1000000);
const gauge_t gauge_entity_resident_grown = ENTITY_GAUGE(resident_grown, 24, 100000);
const gauge_t gauge_entity_resident_churned = ENTITY_GAUGE(resident_churned, 24, 100000);

/* --- prototypes --------------------------------------------------------------------------------------- */

enum { KINDS = 20, KEYS_A_PROTOTYPE = 8 };

/* The bits of `number`, which has at most KEYS_A_PROTOTYPE of them, as keys. */
static uint32_t keys_of_bits(const uint32_t *keys, uint32_t number, uint32_t *chosen)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < KINDS; k++) {
        if ((number >> k & 1) != 0)
            chosen[count++] = keys[k];
    }
    return count;
}

static uint32_t bits(uint32_t number)
{
    uint32_t count = 0;
    for (; number != 0; number &= number - 1)
        count++;
    return count;
}

/* Make `size` prototypes by combining twenty components, with `entities` entities each. */
static void make_subsets(bench_world_t *w, uint32_t size, uint32_t entities)
{
    uint32_t keys[KINDS], chosen[KINDS], prototype;
    char name[8];
    bp_entity_t e;
    for (uint32_t k = 0; k < KINDS; k++) {
        snprintf(name, sizeof name, "c%u", k);
        keys[k] = worlds_key(w, name);
    }
    for (uint32_t number = 1, made = 0; made < size; number++) {
        if (bits(number) > KEYS_A_PROTOTYPE)
            continue;
        uint32_t count = keys_of_bits(keys, number, chosen);
        worlds_must(w->host, w->api->world->prototype(w->world, chosen, count, &prototype),
                    "making a prototype");
        made++;
        for (uint32_t i = 0; i < entities; i++)
            worlds_must(w->host, w->api->world->create(w->world, prototype, &e, 1), "creating an entity");
    }
}

/* Make `size` prototypes of one point_mass each, every one under an instance name of its own. */
static void make_named(bench_world_t *w, uint32_t size)
{
    char text[16];
    bp_name_t name;
    bp_entity_t e;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t key, prototype;
        snprintf(text, sizeof text, "n%u", i);
        worlds_must(w->host, w->api->name->intern(w->host, text, &name), "interning a name");
        worlds_must(w->host, w->api->world->key(w->world, w->component, name, &key), "making a key");
        worlds_must(w->host, w->api->world->prototype(w->world, &key, 1, &prototype), "making a prototype");
        worlds_must(w->host, w->api->world->create(w->world, prototype, &e, 1), "creating an entity");
    }
}

static double prototype_bytes(uint32_t size)
{
    bench_world_t w;
    bp_world_stats_t stats;
    worlds_create(&w, KINDS);
    uint64_t before = worlds_host_bytes(&w);
    make_subsets(&w, size, 0);
    bp_world_stats(w.world, &stats);
    double bytes = (double)(worlds_host_bytes(&w) - before) / stats.prototypes;
    worlds_destroy(&w);
    return bytes;
}

static double run_bytes_by(uint32_t size, bool named, bool resident_bytes)
{
    bench_world_t w;
    worlds_create(&w, named ? 0 : KINDS);
    machine_release();
    uint64_t before = bytes_now(&w, resident_bytes);
    if (named)
        make_named(&w, size);
    else
        make_subsets(&w, size, 1);
    uint64_t after = bytes_now(&w, resident_bytes);
    worlds_destroy(&w);
    return ((double)after - (double)before) / size;
}

static double subsets(uint32_t size)
{
    return run_bytes_by(size, false, false);
}

static double named(uint32_t size)
{
    return run_bytes_by(size, true, false);
}

static double subsets_resident(uint32_t size)
{
    return run_bytes_by(size, false, true);
}

static double named_resident(uint32_t size)
{
    return run_bytes_by(size, true, true);
}

static const uint32_t prototype_sizes[] = {100000, 0};

#define PROTOTYPE_GAUGE(path, counted, function, limit)                                          \
    {.name = "memory/" path, .counter = counted, .sizes = prototype_sizes, .measure = function, \
     .bound = AT_MOST(limit)}

const gauge_t gauge_prototype = PROTOTYPE_GAUGE("prototype", "bytes_per_prototype", prototype_bytes, 64);
const gauge_t gauge_run_subsets =
    PROTOTYPE_GAUGE("prototype_with_entity/subsets/allocated", "bytes_per_entity", subsets, 1024);
const gauge_t gauge_run_subsets_resident =
    PROTOTYPE_GAUGE("prototype_with_entity/subsets/resident", "bytes_per_entity", subsets_resident, 1024);
const gauge_t gauge_run_named =
    PROTOTYPE_GAUGE("prototype_with_entity/named/allocated", "bytes_per_entity", named, 1024);
const gauge_t gauge_run_named_resident =
    PROTOTYPE_GAUGE("prototype_with_entity/named/resident", "bytes_per_entity", named_resident, 1024);

/* --- how long it takes to make them ------------------------------------------------------------------- */

typedef struct prototypes_bench_t {
    bench_world_t w;
    uint32_t size;
} prototypes_bench_t;

static void *setup(uint32_t size)
{
    prototypes_bench_t *s = worlds_memory(1, sizeof *s);
    s->size = size;
    worlds_create(&s->w, KINDS);
    return s;
}

static void teardown(void *state)
{
    prototypes_bench_t *s = state;
    worlds_destroy(&s->w);
    free(s);
}

static void fresh_world(void *state)
{
    prototypes_bench_t *s = state;
    worlds_destroy(&s->w);
    worlds_create(&s->w, KINDS);
}

static void make_subsets_alone(void *state)
{
    prototypes_bench_t *s = state;
    make_subsets(&s->w, s->size, 0);
}

static void make_subsets_with_entity(void *state)
{
    prototypes_bench_t *s = state;
    make_subsets(&s->w, s->size, 1);
}

static void make_names_with_entity(void *state)
{
    prototypes_bench_t *s = state;
    make_named(&s->w, s->size);
}

static double held(void *state)
{
    prototypes_bench_t *s = state;
    return (double)worlds_host_bytes(&s->w);
}

const group_t group_prototypes = {
    .name = "prototype/make",
    .sizes = prototype_sizes,
    .setup = setup,
    .teardown = teardown,
    .takes_long = true,
    .sides = {
        {.name = "subsets", .prepare = fresh_world, .run = make_subsets_alone, .bytes = held},
        {.name = "subsets_with_entity", .prepare = fresh_world, .run = make_subsets_with_entity,
         .bytes = held},
        {.name = "named_with_entity", .prepare = fresh_world, .run = make_names_with_entity, .bytes = held},
    },
};
