/* cases_lists.c - lists in rows: appended to, gone over, and the memory of an empty list.
 *
 * Appending is one value to each entity's list in a step, eight steps from empty lists, which is how lists grow in a
 * world: no list has its next value while the line of its last one is still at hand. Sizes count appends, so 8 M are a
 * million entities. In `fresh` the memory was never touched; in `again` the blocks are those of lists that have gone.
 * Floors do the same by hand: `vectors` doubles a block from malloc for each row, as a vector of the C++ library does;
 * `slots` has room for eight in each row, and a count.
 *
 * Going over: the sum of all values of lists that have one to eight, against arrays from malloc of just the right
 * length, one for each row, in the order of the rows. `packed` has no room for lists to grow: all values lie one behind
 * the other.
 */
#include "cases.h"

#include "worlds.h"

#include "engine/host.h"

#include <bp_plugin.h>
#include <stdlib.h>
#include <string.h>

enum { EACH = 8 };

static const uint32_t append_sizes[] = {80000, 800000, 8000000, 0};

/* --- what the worlds have ----------------------------------------------------------------------------------------- */

struct diary { bp_list_t *entries; };

static const bp_field_t diary_fields[] = {{BP_LIST_OF(struct diary, entries, BP_F32)}};

static void diary_simulate(const bp_run_t *run, uint32_t count)
{
    BP_COLUMNS(struct diary, c, run->columns);
    float value = (float)run->step->number;
    for (uint32_t i = 0; i < count; i++)
        bp_list_append(run->lists, &c.entries[i], &value, sizeof value);
}

struct tally { const bp_list_t *values; float *sum; };

static const bp_field_t tally_fields[] = {
    {BP_LIST_OF(struct tally, values, BP_F32)},
    {BP_FIELD_OF(struct tally, sum)},
};

static void tally_simulate(const bp_run_t *run, uint32_t count)
{
    BP_COLUMNS(struct tally, c, run->columns);
    for (uint32_t i = 0; i < count; i++) {
        const float *values = c.values[i].items;
        float sum = 0;
        for (uint32_t k = 0; k < c.values[i].count; k++)
            sum += values[k];
        c.sum[i] = sum;
    }
}

static const bp_field_t plain_fields[] = {{.name = "value", .type = BP_U32}};
static const bp_field_t empty_fields[] = {
    {.name = "value", .type = BP_U32},
    {.name = "list", .type = BP_F32, .flags = BP_FIELD_LIST},
};

static const bp_component_i diary_list[] = {
    {.name = "diary", .fields = BP_LIST(diary_fields), .simulate = diary_simulate}};
static const bp_component_i tally_list[] = {
    {.name = "tally", .fields = BP_LIST(tally_fields), .simulate = tally_simulate}};
static const bp_component_i rows_list[] = {
    {.name = "plain", .fields = BP_LIST(plain_fields)},
    {.name = "empty", .fields = BP_LIST(empty_fields)},
};

static const bp_plugin_head_t diaries =
    BP_PLUGIN_HEAD("diaries", (&(const bp_plugin_desc_t){.version = "1.0", .components = BP_LIST(diary_list)}));
static const bp_plugin_head_t tallies =
    BP_PLUGIN_HEAD("tallies", (&(const bp_plugin_desc_t){.version = "1.0", .components = BP_LIST(tally_list)}));
static const bp_plugin_head_t rows =
    BP_PLUGIN_HEAD("rows", (&(const bp_plugin_desc_t){.version = "1.0", .components = BP_LIST(rows_list)}));

/* --- appending ---------------------------------------------------------------------------------------------------- */

typedef struct vector_t {
    float *items;
    uint32_t count, capacity;
} vector_t;

typedef struct slots_t {
    float items[EACH];
    uint32_t count;
} slots_t;

typedef struct appending_t {
    bench_world_t w;
    bp_entity_t *entities;
    uint32_t size;
    vector_t *vectors;
    slots_t *slots;
} appending_t;

static void open_diaries(appending_t *s)
{
    worlds_open(&s->w, &diaries, 0, 0, 1);
    s->w.prototype = worlds_prototype(&s->w, "diary");
    worlds_must(s->w.host, worlds_make(&s->w, s->w.prototype, s->entities, s->size), "creating entities");
}

static void *setup_append(uint32_t size)
{
    appending_t *s = worlds_memory(1, sizeof *s);
    s->size = size / EACH;
    s->entities = worlds_memory(s->size, sizeof *s->entities);
    s->vectors = worlds_memory(s->size, sizeof *s->vectors);
    s->slots = worlds_memory(s->size, sizeof *s->slots);
    open_diaries(s);
    return s;
}

static void free_vectors(appending_t *s)
{
    for (uint32_t i = 0; i < s->size; i++)
        free(s->vectors[i].items);
    memset(s->vectors, 0, s->size * sizeof *s->vectors);
}

static void teardown_append(void *state)
{
    appending_t *s = state;
    free_vectors(s);
    free(s->vectors);
    free(s->slots);
    free(s->entities);
    worlds_destroy(&s->w);
    free(s);
}

static void empty_vectors(void *state)
{
    free_vectors(state);
    machine_release();
}

static void append_to_vectors(void *state)
{
    appending_t *s = state;
    for (uint32_t step = 0; step < EACH; step++) {
        for (uint32_t i = 0; i < s->size; i++) {
            vector_t *v = &s->vectors[i];
            if (v->count == v->capacity) {
                v->capacity = v->capacity == 0 ? 4 : 2 * v->capacity;
                v->items = realloc(v->items, v->capacity * sizeof *v->items);
                if (v->items == NULL)
                    abort();
            }
            v->items[v->count++] = (float)step;
        }
    }
}

static void empty_slots(void *state)
{
    appending_t *s = state;
    for (uint32_t i = 0; i < s->size; i++)
        s->slots[i].count = 0;
}

static void append_to_slots(void *state)
{
    appending_t *s = state;
    for (uint32_t step = 0; step < EACH; step++) {
        for (uint32_t i = 0; i < s->size; i++)
            s->slots[i].items[s->slots[i].count++] = (float)step;
    }
}

static void fresh_lists(void *state)
{
    appending_t *s = state;
    worlds_destroy(&s->w);
    machine_release();
    open_diaries(s);
}

/* One list keeps its block, so that the memory of the others stays. */
static void used_lists(void *state)
{
    appending_t *s = state;
    bp_property_t whole;
    bp_list_t none = {NULL, 0, 0};
    const bp_property_api *p = s->w.api->property;
    worlds_must(s->w.host, p->resolve(s->w.world, s->entities[0], "diary", "entries", &whole), "resolving");
    worlds_must(s->w.host, p->set(s->w.world, &whole, s->entities + 1, s->size - 1, &none, 0), "emptying lists");
    worlds_must(s->w.host, bp_world_step(s->w.world), "a step");
    worlds_must(s->w.host, p->set(s->w.world, &whole, s->entities + 1, s->size - 1, &none, 0), "emptying lists");
}

static void append_to_lists(void *state)
{
    appending_t *s = state;
    for (uint32_t step = 0; step < EACH; step++)
        worlds_must(s->w.host, bp_world_step(s->w.world), "a step");
}

const group_t group_list_append = {
    .name = "list/append",
    .sizes = append_sizes,
    .setup = setup_append,
    .teardown = teardown_append,
    .sides = {
        {.name = "vectors", .prepare = empty_vectors, .run = append_to_vectors},
        {.name = "slots", .prepare = empty_slots, .run = append_to_slots},
        {.name = "fresh", .floor = "vectors", .prepare = fresh_lists, .run = append_to_lists, .bound = AT_MOST(25)},
        {.name = "again", .floor = "vectors", .prepare = used_lists, .run = append_to_lists, .bound = AT_MOST(25)},
    },
};

/* --- going over --------------------------------------------------------------------------------------------------- */

typedef struct going_t {
    bench_world_t w;
    uint32_t size;
    float *values, *sums;
    vector_t *arrays, *packed;
} going_t;

static uint32_t length_of(uint32_t row)
{
    return 1 + (row * 2654435761u >> 29);
}

static void fill_lists(const bench_world_t *w)
{
    bp_run_t run;
    lists_call_t call;
    uint32_t cursor = 0;
    worlds_next_run(w->world, w->api->world->component(w->world, "tally"), &cursor, &run);
    bp_list_t *lists = run.columns[0];
    lists_begin(&call, &w->world->rows.lists);
    for (uint32_t i = 0; i < run.count; i++) {
        for (uint32_t k = 0; k < length_of(i); k++) {
            float value = (float)((i + k) % 16);
            if (bp_list_append(&call.seen, &lists[i], &value, sizeof value) == NULL)
                abort();
        }
    }
    lists_end(&call);
}

static void *setup_go(uint32_t size)
{
    going_t *s = worlds_memory(1, sizeof *s);
    bp_entity_t *entities = worlds_memory(size, sizeof *entities);
    s->size = size;
    worlds_open(&s->w, &tallies, 0, 0, 1);
    worlds_must(s->w.host, worlds_make(&s->w, worlds_prototype(&s->w, "tally"), entities, size), "creating entities");
    free(entities);
    fill_lists(&s->w);
    s->values = worlds_memory((size_t)size * EACH, sizeof *s->values);
    s->sums = worlds_memory(size, sizeof *s->sums);
    s->arrays = worlds_memory(size, sizeof *s->arrays);
    s->packed = worlds_memory(size, sizeof *s->packed);
    float *at = s->values;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t length = length_of(i);
        s->packed[i] = (vector_t){at, length, length};
        s->arrays[i] = (vector_t){worlds_memory(length, sizeof(float)), length, length};
        for (uint32_t k = 0; k < length; k++)
            s->arrays[i].items[k] = *at++ = (float)((i + k) % 16);
    }
    return s;
}

static void teardown_go(void *state)
{
    going_t *s = state;
    worlds_destroy(&s->w);
    for (uint32_t i = 0; i < s->size; i++)
        free(s->arrays[i].items);
    free(s->values);
    free(s->sums);
    free(s->arrays);
    free(s->packed);
    free(s);
}

static void sum_up(const vector_t *vectors, float *sums, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const float *values = vectors[i].items;
        float sum = 0;
        for (uint32_t k = 0; k < vectors[i].count; k++)
            sum += values[k];
        sums[i] = sum;
    }
}

static void go_over_arrays(void *state)
{
    going_t *s = state;
    sum_up(s->arrays, s->sums, s->size);
}

static void go_over_packed(void *state)
{
    going_t *s = state;
    sum_up(s->packed, s->sums, s->size);
}

static void go_over_lists(void *state)
{
    going_t *s = state;
    worlds_must(s->w.host, bp_world_step(s->w.world), "a step");
}

const group_t group_list_iterate = {
    .name = "list/iterate",
    .setup = setup_go,
    .teardown = teardown_go,
    .sides = {
        {.name = "arrays", .run = go_over_arrays},
        {.name = "packed", .floor = "arrays", .run = go_over_packed},
        {.name = "lists", .floor = "arrays", .run = go_over_lists, .bound = AT_MOST_TIMES(1.2)},
    },
};

/* --- nothing in it ------------------------------------------------------------------------------------------------ */

static uint64_t bytes_of_rows(uint32_t size, const char *component)
{
    bench_world_t w;
    bp_entity_t *entities = worlds_memory(size, sizeof *entities);
    worlds_open(&w, &rows, 0, 0, 1);
    uint32_t prototype = worlds_prototype(&w, component);
    uint64_t before = worlds_host_bytes(&w);
    worlds_must(w.host, worlds_make(&w, prototype, entities, size), "creating entities");
    uint64_t bytes = worlds_host_bytes(&w) - before;
    worlds_destroy(&w);
    free(entities);
    return bytes;
}

static double empty_bytes(uint32_t size)
{
    return ((double)bytes_of_rows(size, "empty") - (double)bytes_of_rows(size, "plain")) / size;
}

static const uint32_t empty_sizes[] = {100000, 1000000, 0};

/* A column begins on a line of its own, up to 4 KB into its block. */
const gauge_t gauge_list_empty = {.name = "memory/list/empty", .counter = "bytes_per_row", .sizes = empty_sizes,
                                  .measure = empty_bytes, .bound = AT_MOST(16.1)};
