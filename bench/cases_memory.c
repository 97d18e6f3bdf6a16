/* cases_memory.c - bytes.
 *
 * `allocated` is what the host's account says, address space that was never touched included; `resident` is what the
 * process grew by, as the system sees it, which at 10 k entities is little more than the rounding to pages. Entities
 * have a point_mass of 40 bytes, which are not counted. `grown` worlds were filled one entity at a time, so their arrays
 * have been doubled.
 */
#include "cases.h"

#include "worlds.h"

#include <components/point_mass.h>
#include <stdlib.h>

enum { FIELD_BYTES = 40 };

/* --- entities --------------------------------------------------------------------------------------------------------------- */

static double entity_bytes(uint32_t size, bool resident, bool grown)
{
    bench_world_t w;
    bp_entity_t *ids = worlds_memory(size, sizeof *ids);
    worlds_create(&w, 0);
    uint64_t before = resident ? machine_resident() : worlds_host_bytes(&w);
    uint32_t step = grown ? 1 : size;
    for (uint32_t i = 0; i < size; i += step)
        worlds_must(w.host, w.api->world->create(w.world, w.prototype, ids + i, step), "creating entities");
    uint64_t after = resident ? machine_resident() : worlds_host_bytes(&w);
    worlds_destroy(&w);
    free(ids);
    return after > before ? (double)(after - before) / size - FIELD_BYTES : 0;
}

static double allocated(uint32_t size)
{
    return entity_bytes(size, false, false);
}

static double allocated_grown(uint32_t size)
{
    return entity_bytes(size, false, true);
}

static double resident(uint32_t size)
{
    return entity_bytes(size, true, false);
}

static double resident_grown(uint32_t size)
{
    return entity_bytes(size, true, true);
}

const gauge_t gauge_entity_allocated = {
    .name = "memory/entity/allocated", .measure = allocated, .bound = {BOUND_BYTES, 24, 0, 0}};
const gauge_t gauge_entity_resident = {
    .name = "memory/entity/resident", .measure = resident, .bound = {BOUND_BYTES, 24, 100000, 0}};
const gauge_t gauge_entity_allocated_grown = {.name = "memory/entity/allocated_grown", .measure = allocated_grown};
const gauge_t gauge_entity_resident_grown = {
    .name = "memory/entity/resident_grown", .measure = resident_grown, .bound = {BOUND_BYTES, 24, 100000, 0}};

/* --- prototypes ------------------------------------------------------------------------------------------------------------- */

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
        worlds_must(w->host, w->api->world->prototype(w->world, chosen, count, &prototype), "making a prototype");
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

static double run_bytes_by(uint32_t size, bool named, bool resident_too)
{
    bench_world_t w;
    worlds_create(&w, named ? 0 : KINDS);
    uint64_t before = resident_too ? machine_resident() : worlds_host_bytes(&w);
    if (named)
        make_named(&w, size);
    else
        make_subsets(&w, size, 1);
    uint64_t after = resident_too ? machine_resident() : worlds_host_bytes(&w);
    worlds_destroy(&w);
    return (double)(after - before) / size;
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

const gauge_t gauge_prototype = {
    .name = "memory/prototype", .sizes = prototype_sizes, .measure = prototype_bytes, .bound = {BOUND_BYTES, 64, 0, 0}};
const gauge_t gauge_run_subsets = {.name = "memory/prototype_with_entity/subsets/allocated",
                                   .sizes = prototype_sizes,
                                   .measure = subsets,
                                   .bound = {BOUND_BYTES, 1024, 0, 0}};
const gauge_t gauge_run_subsets_resident = {.name = "memory/prototype_with_entity/subsets/resident",
                                            .sizes = prototype_sizes,
                                            .measure = subsets_resident,
                                            .bound = {BOUND_BYTES, 1024, 0, 0}};
const gauge_t gauge_run_named = {.name = "memory/prototype_with_entity/named/allocated",
                                 .sizes = prototype_sizes,
                                 .measure = named,
                                 .bound = {BOUND_BYTES, 1024, 0, 0}};
const gauge_t gauge_run_named_resident = {.name = "memory/prototype_with_entity/named/resident",
                                          .sizes = prototype_sizes,
                                          .measure = named_resident,
                                          .bound = {BOUND_BYTES, 1024, 0, 0}};
