/* cases_index.c - the test of the article "Rebuilding the Entity Index".
 *
 * Entities of 75 compositions, of one to eleven components out of 24, are made in batches; every component
 * of every new entity is looked up; part of the living are ended, in random order, and collection runs,
 * once a batch. As in the article the size is the number of entities made in all: at most LIVING of them
 * are alive at a time, so time an entity should not depend on it. Time includes the first touch of memory,
 * since every run begins with a host of its own.
 *
 * `one_by_one` adds and looks up components with single calls; `by_composition` creates each batch at once
 * and looks up by batch; `old_index` is the index that the article set out from (old_index.h), whose
 * managers keep less and whose entities nobody else asks about.
 */
#include "cases.h"

#include "old_index.h"
#include "worlds.h"

#include <stdlib.h>
#include <string.h>

enum {
    KINDS = 24,
    COMPOSITIONS = 75,
    MOST_COMPONENTS = 11,
    BATCH = 64,
    LIVING = 65536,
    EARLY_DEATHS = 24, /* in a batch, while fewer than LIVING are alive */
    OLD_ROUNDS = 16    /* of collection, so that about a third of what the old index holds is dead */
};

typedef struct composition_t {
    uint32_t kinds[MOST_COMPONENTS];
    uint32_t count, prototype;
} composition_t;

typedef struct index_bench_t {
    bench_world_t w;
    uint32_t size;
    composition_t compositions[COMPOSITIONS];
    uint32_t keys[KINDS];
    bp_property_t values[KINDS];
    old_index_t old;
    bp_entity_t *living;
    uint32_t living_count;
    uint64_t random;
    double sum; /* of what was looked up */
} index_bench_t;

/* --- the compositions --------------------------------------------------------------------------------- */

static void compose(composition_t *c, uint32_t count, uint64_t *random)
{
    uint32_t kinds[KINDS];
    for (uint32_t i = 0; i < KINDS; i++)
        kinds[i] = i;
    c->count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = i + bp_random_below(random, KINDS - i);
        c->kinds[i] = kinds[j];
        kinds[j] = kinds[i];
    }
}

static void prepare_world(index_bench_t *s)
{
    uint32_t chosen[MOST_COMPONENTS];
    char name[8];
    worlds_create(&s->w, KINDS);
    for (uint32_t k = 0; k < KINDS; k++) {
        snprintf(name, sizeof name, "c%u", k);
        s->keys[k] = worlds_key(&s->w, name);
        worlds_must(s->w.host,
                    s->w.api->property->resolve(s->w.world, (bp_entity_t){0}, name, "value", &s->values[k]),
                    "resolving a value");
    }
    for (uint32_t i = 0; i < COMPOSITIONS; i++) {
        composition_t *c = &s->compositions[i];
        for (uint32_t k = 0; k < c->count; k++)
            chosen[k] = s->keys[c->kinds[k]];
        worlds_must(s->w.host, s->w.api->world->prototype(s->w.world, chosen, c->count, &c->prototype),
                    "a prototype");
    }
}

static void *setup(uint32_t size)
{
    index_bench_t *s = worlds_memory(1, sizeof *s);
    uint64_t random = 7;
    s->size = size;
    s->living = worlds_memory(LIVING + BATCH, sizeof *s->living);
    for (uint32_t i = 0; i < COMPOSITIONS; i++)
        compose(&s->compositions[i], 1 + i % MOST_COMPONENTS, &random);
    prepare_world(s);
    old_index_init(&s->old, KINDS);
    return s;
}

static void teardown(void *state)
{
    index_bench_t *s = state;
    measure_keep(s->sum);
    worlds_destroy(&s->w);
    old_index_free(&s->old);
    free(s->living);
    free(s);
}

static void begin(index_bench_t *s)
{
    s->living_count = 0;
    s->random = 1;
    machine_release();
}

static void fresh_world(void *state)
{
    index_bench_t *s = state;
    worlds_destroy(&s->w);
    begin(s);
    prepare_world(s);
}

static void fresh_index(void *state)
{
    index_bench_t *s = state;
    old_index_free(&s->old);
    begin(s);
    old_index_init(&s->old, KINDS);
}

/* --- life and death, the same for all ----------------------------------------------------------------- */

/* Remember a batch as living; write those that have to die to `dying` and return how many. */
static uint32_t choose_dying(index_bench_t *s, const bp_entity_t *made, uint32_t count,
                             bp_entity_t dying[BATCH])
{
    memcpy(s->living + s->living_count, made, count * sizeof *made);
    s->living_count += count;
    uint32_t deaths = s->living_count > LIVING ? s->living_count - LIVING : EARLY_DEATHS;
    for (uint32_t i = 0; i < deaths; i++) {
        uint32_t at = bp_random_below(&s->random, s->living_count);
        dying[i] = s->living[at];
        s->living[at] = s->living[--s->living_count];
    }
    return deaths;
}

static uint32_t next_batch(index_bench_t *s, uint32_t done, const composition_t **composition)
{
    *composition = &s->compositions[bp_random_below(&s->random, COMPOSITIONS)];
    return s->size - done < BATCH ? s->size - done : BATCH;
}

static void end_some(index_bench_t *s, const bp_entity_t *made, uint32_t count)
{
    bp_entity_t dying[BATCH];
    uint32_t deaths = choose_dying(s, made, count, dying);
    s->w.api->entity->destroy(s->w.host, dying, deaths);
    worlds_must(s->w.host, bp_world_step(s->w.world), "a step");
}

/* --- the engine --------------------------------------------------------------------------------------- */

static void make_one(index_bench_t *s, const composition_t *c, bp_entity_t *e)
{
    const bp_api_t *api = s->w.api;
    bp_value_t value;
    bp_result_t result = api->entity->create(s->w.host, e, 1);
    for (uint32_t k = 0; k < c->count; k++)
        result |= api->world->add(s->w.world, s->keys[c->kinds[k]], e, 1);
    for (uint32_t k = 0; k < c->count; k++) {
        result |= api->property->get(s->w.world, &s->values[c->kinds[k]], e, 1, &value, sizeof value);
        s->sum += (double)value.vec4.x;
    }
    worlds_must(s->w.host, result, "making an entity");
}

static void one_by_one(void *state)
{
    index_bench_t *s = state;
    bp_entity_t made[BATCH];
    const composition_t *c;
    for (uint32_t done = 0, count; done < s->size; done += count) {
        count = next_batch(s, done, &c);
        for (uint32_t i = 0; i < count; i++)
            make_one(s, c, &made[i]);
        end_some(s, made, count);
    }
}

static void make_batch(index_bench_t *s, const composition_t *c, bp_entity_t *made, uint32_t count)
{
    const bp_api_t *api = s->w.api;
    bp_value_t values[BATCH];
    bp_result_t result = api->world->create(s->w.world, c->prototype, made, count);
    for (uint32_t k = 0; k < c->count; k++) {
        bp_property_t *property = &s->values[c->kinds[k]];
        result |= api->property->get(s->w.world, property, made, count, values, property->size);
        s->sum += (double)values[0].vec4.x;
    }
    worlds_must(s->w.host, result, "making entities");
}

static void by_composition(void *state)
{
    index_bench_t *s = state;
    bp_entity_t made[BATCH];
    const composition_t *c;
    for (uint32_t done = 0, count; done < s->size; done += count) {
        count = next_batch(s, done, &c);
        make_batch(s, c, made, count);
        end_some(s, made, count);
    }
}

/* --- the old index ------------------------------------------------------------------------------------ */

static void make_one_old(index_bench_t *s, const composition_t *c, bp_entity_t *e)
{
    *e = old_index_create(&s->old);
    for (uint32_t k = 0; k < c->count; k++)
        old_index_add(&s->old, *e, c->kinds[k], c->kinds[k]);
    for (uint32_t k = 0; k < c->count; k++)
        s->sum += (double)old_index_find(&s->old, *e, c->kinds[k])->x;
}

static void run_old_index(void *state)
{
    index_bench_t *s = state;
    bp_entity_t made[BATCH], dying[BATCH];
    const composition_t *c;
    for (uint32_t done = 0, count; done < s->size; done += count) {
        count = next_batch(s, done, &c);
        for (uint32_t i = 0; i < count; i++)
            make_one_old(s, c, &made[i]);
        uint32_t deaths = choose_dying(s, made, count, dying);
        for (uint32_t i = 0; i < deaths; i++)
            old_index_destroy(&s->old, dying[i]);
        for (uint32_t i = 0; i < OLD_ROUNDS; i++)
            old_index_collect(&s->old);
    }
}

/* --- memory: the index and the values, in both -------------------------------------------------------- */

static double world_held(void *state)
{
    index_bench_t *s = state;
    return (double)worlds_world_bytes(&s->w);
}

static double old_held(void *state)
{
    index_bench_t *s = state;
    return (double)s->old.bytes;
}

static const uint32_t sizes[] = {10000,  20000,   40000,   80000,   160000,   320000,
                                 640000, 1280000, 2560000, 5120000, 10240000, 0};

const group_t group_index = {
    .name = "index_test",
    .sizes = sizes,
    .setup = setup,
    .teardown = teardown,
    .takes_long = true,
    .sides = {
        {.name = "old_index", .prepare = fresh_index, .run = run_old_index, .bytes = old_held},
        {.name = "one_by_one", .floor = "old_index", .prepare = fresh_world, .run = one_by_one,
         .bytes = world_held},
        {.name = "by_composition", .floor = "old_index", .prepare = fresh_world, .run = by_composition,
         .bytes = world_held},
    },
};
