/* test_snapshot.c - a host written down and brought back goes on bit for bit, whatever happened in between. */
#include "../reload/reload_support.h"
#include "../suites.h"
#include "history/distance.h"
#include "lies.h"
#include "recall.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 60, KEPT = 12, VISITS = 40 };

static bp_host_o *open_host(rig_t *rig, uint32_t threads, bool own_heap)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin};
    rig_init(rig);
    if (!own_heap)
        rig->desc.allocator = NULL; /* whose heap is for one thread */
    rig->desc.static_plugins = plugins;
    rig->desc.static_plugin_count = 1;
    rig->desc.threads = threads;
    rig_open(rig);
    recall_open(rig->host);
    return rig->host;
}

static void step(bp_host_o *host, uint64_t number, uint64_t seed)
{
    recall_act(host, number, seed);
    if (number % 3 == 0) {
        const bp_api_t *api = bp_host_api(host);
        WORKS(host, bp_world_step(api->world->at(host, 0)));
        WORKS(host, bp_world_step(api->world->at(host, 1)));
    } else {
        WORKS(host, bp_host_step(host));
    }
}

/* The hash after each step of a run that is hashed after each step; its last one must be that of a run that is hashed
 * at the end alone. */
static void reference(uint64_t hashes[STEPS + 1], uint64_t seed)
{
    rig_t quiet, watched;
    bp_host_o *host = open_host(&quiet, 1, true);
    for (uint64_t i = 0; i < STEPS; i++)
        step(host, i, seed);
    uint64_t last = recall_hash(host);
    rig_close(&quiet);
    host = open_host(&watched, 1, true);
    hashes[0] = recall_hash(host);
    for (uint64_t i = 0; i < STEPS; i++) {
        step(host, i, seed);
        hashes[i + 1] = recall_hash(host);
    }
    rig_close(&watched);
    EXPECT(hashes[STEPS] == last, "a snapshot changes what comes");
}

static void visit(uint32_t threads, uint64_t seed)
{
    uint64_t hashes[STEPS + 1], random = seed;
    bp_snapshot_o *kept[KEPT] = {NULL};
    uint64_t at[KEPT];
    rig_t rig;
    reference(hashes, seed);
    bp_host_o *host = open_host(&rig, threads, threads == 1);
    uint32_t count = 0;
    for (uint64_t i = 0; i < STEPS; i++) {
        if (count < KEPT && bp_random_below(&random, 4) == 0) {
            at[count] = i;
            WORKS(host, bp_host_snapshot(host, &kept[count++]));
        }
        step(host, i, seed);
    }
    EXPECT(recall_hash(host) == hashes[STEPS], "on %u threads the run is another one", threads);
    for (uint32_t v = 0; v < VISITS; v++) {
        uint32_t k = bp_random_below(&random, count);
        uint64_t end = at[k] + bp_random_below(&random, 12);
        WORKS(host, bp_host_bring_back(host, kept[k]));
        EXPECT(recall_hash(host) == hashes[at[k]], "seed %llu: step %llu is not what it was", (unsigned long long)seed,
               (unsigned long long)at[k]);
        for (uint64_t i = at[k]; i < end && i < STEPS; i++) {
            step(host, i, seed);
            EXPECT(recall_hash(host) == hashes[i + 1],
                   "seed %llu, visit %u: from step %llu on, step %llu is another one", (unsigned long long)seed, v,
                   (unsigned long long)at[k], (unsigned long long)i + 1);
        }
        if (v % 5 == 4) { /* another future, which is abandoned */
            for (uint64_t i = 0; i < 6; i++)
                step(host, i, seed + 1000 + v);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        bp_snapshot_free(kept[i]);
    rig_close(&rig);
}

START_TEST(random_worlds_go_on_bit_for_bit)
{
    static const uint32_t threads[] = {1, 2, 4};
    for (uint64_t seed = 1; seed <= 3; seed++)
        visit(threads[_i], seed * 7919 + (uint64_t)_i);
}
END_TEST

START_TEST(another_host_goes_on_as_the_first)
{
    rig_t first, second;
    bp_snapshot_o *taken, *read;
    bp_host_o *host = open_host(&first, 1, true);
    for (uint64_t i = 0; i < 30; i++)
        step(host, i, 5);
    WORKS(host, bp_host_snapshot(host, &taken));
    for (uint64_t i = 30; i < 40; i++)
        step(host, i, 5);
    uint64_t hash = recall_hash(host);
    size_t size;
    const void *bytes = bp_snapshot_bytes(taken, &size);
    bp_host_o *other = open_host(&second, 1, true);
    step(other, 3, 77);
    WORKS(other, bp_snapshot_read(other, bytes, size, &read));
    EXPECT(bp_snapshot_hash(read, NULL) == bp_snapshot_hash(taken, NULL), "read it is another one");
    WORKS(other, bp_host_bring_back(other, read));
    for (uint64_t i = 30; i < 40; i++)
        step(other, i, 5);
    EXPECT(recall_hash(other) == hash, "another host goes on otherwise");
    bp_snapshot_free(taken);
    bp_snapshot_free(read);
    rig_close(&first);
    rig_close(&second);
}
END_TEST

/* --- damage ------------------------------------------------------------------------------------------------------- */

START_TEST(damaged_snapshots_are_refused_or_good)
{
    rig_t rig;
    bp_snapshot_o *taken, *read;
    bp_host_o *host = open_host(&rig, 1, true);
    for (uint64_t i = 0; i < 20; i++)
        step(host, i, 9);
    WORKS(host, bp_host_snapshot(host, &taken));
    size_t size;
    const char *bytes = bp_snapshot_bytes(taken, &size);
    char *copy = malloc(size);
    uint64_t random = 3;
    uint32_t refused = 0;
    for (uint32_t i = 0; i < 400; i++) {
        size_t cut = i < 150 ? (size_t)(bp_random_next(&random) % size) : size;
        memcpy(copy, bytes, size);
        for (uint32_t k = 0; i >= 150 && k < 1 + i % 3; k++)
            copy[bp_random_next(&random) % size] ^= (char)(1u << bp_random_below(&random, 8));
        if (bp_snapshot_read(host, copy, cut, &read) != BP_OK) {
            refused++;
            continue;
        }
        if (bp_host_bring_back(host, read) == BP_OK)
            WORKS(host, bp_world_step(bp_host_api(host)->world->at(host, 1)));
        bp_snapshot_free(read);
    }
    EXPECT(refused > 150, "%u of 400 were refused", refused);
    WORKS(host, bp_host_bring_back(host, taken));
    EXPECT(recall_hash(host) == bp_snapshot_hash(taken, NULL), "it is not what it was");
    free(copy);
    bp_snapshot_free(taken);
    rig.log.count = 0;
    rig.log.text[0] = '\0';
    rig_close(&rig);
}
END_TEST

static char *copy_of(const bp_snapshot_o *taken, size_t *size)
{
    const void *bytes = bp_snapshot_bytes(taken, size);
    char *copy = malloc(*size);
    memcpy(copy, bytes, *size);
    return copy;
}

/* The queue of free indices lies behind the lives of all. */
START_TEST(an_index_that_is_free_twice_is_refused)
{
    enum { BOUND_AT = 28, QUEUED_AT = 36, LIVES_AT = 48 };
    rig_t rig;
    bp_entity_t made[3];
    bp_snapshot_o *taken, *read;
    uint32_t bound, queued;
    size_t size;
    bp_host_o *host = open_host(&rig, 1, true);
    WORKS(host, rig.api->entity->create(host, made, 3));
    rig.api->entity->destroy(host, made, 3);
    WORKS(host, bp_host_snapshot(host, &taken));
    char *copy = copy_of(taken, &size);
    memcpy(&bound, copy + BOUND_AT, sizeof bound);
    memcpy(&queued, copy + QUEUED_AT, sizeof queued);
    ck_assert_uint_eq(queued, 3);
    char *queue = copy + LIVES_AT + bound * sizeof(uint32_t);
    memcpy(queue + sizeof(uint32_t), queue, sizeof(uint32_t));
    FAILS(host, BP_ERROR_SYNTAX, "is damaged", bp_snapshot_read(host, copy, size, &read));
    free(copy);
    bp_snapshot_free(taken);
    rig_close(&rig);
}
END_TEST

/* Behind the state lie the names that the host has, to the end: bytes that end among them, or go on, are none. */
START_TEST(a_snapshot_whose_names_are_cut_or_go_on_is_refused)
{
    enum { HEAD = 16 }; /* the length of the state, and zeros */
    rig_t rig;
    bp_snapshot_o *taken, *read;
    uint64_t length;
    size_t size;
    bp_host_o *host = open_host(&rig, 1, true);
    WORKS(host, bp_host_snapshot(host, &taken));
    char *copy = copy_of(taken, &size);
    copy = realloc(copy, size + 1);
    memcpy(&length, copy, sizeof length);
    copy[size] = 0;
    EXPECT(HEAD + length + 12 < size, "there are hardly any names");
    WORKS(host, bp_snapshot_read(host, copy, size, &read));
    bp_snapshot_free(read);
    for (size_t cut = HEAD + (size_t)length; cut <= size + 1; cut++)
        if (cut != size)
            FAILS(host, BP_ERROR_SYNTAX, "the names of the snapshot are damaged",
                  bp_snapshot_read(host, copy, cut, &read));
    for (size_t cut = 0; cut < HEAD + (size_t)length; cut += 1 + cut / 4)
        FAILS(host, BP_ERROR_SYNTAX, "the bytes are no whole snapshot", bp_snapshot_read(host, copy, cut, &read));
    free(copy);
    bp_snapshot_free(taken);
    rig_close(&rig);
}
END_TEST

/* A host that has dropped a component has other columns for it than the rows, or none. */
START_TEST(rows_of_a_component_that_is_said_to_have_gone_are_refused)
{
    static const char started[] = "\4\0\0\0mark\0\1\0\0"; /* and one more zero */
    rig_t rig;
    bp_snapshot_o *taken, *read;
    size_t size, at = 0;
    bp_host_o *host = open_host(&rig, 1, true);
    entity_with(rig.api->world->at(host, 0), "mark");
    WORKS(host, bp_host_snapshot(host, &taken));
    char *copy = copy_of(taken, &size);
    while (at + sizeof started < size && memcmp(copy + at, started, sizeof started) != 0)
        at++;
    EXPECT(at + sizeof started < size, "there is no such component");
    copy[at + sizeof started - 4] = 0;
    FAILS(host, BP_ERROR_SYNTAX, "is damaged", bp_snapshot_read(host, copy, size, &read));
    free(copy);
    bp_snapshot_free(taken);
    rig_close(&rig);
}
END_TEST

/* --- memory ------------------------------------------------------------------------------------------------------- */

START_TEST(all_or_nothing_where_memory_fails)
{
    rig_t rig;
    bp_snapshot_o *early, *none;
    bp_host_o *host = open_host(&rig, 1, true);
    for (uint64_t i = 0; i < 10; i++)
        step(host, i, 4);
    WORKS(host, bp_host_snapshot(host, &early));
    for (uint64_t i = 10; i < 25; i++)
        step(host, i, 4);
    uint64_t now = recall_hash(host), failures = 0;
    for (uint64_t k = 1;; k++) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        bp_result_t result = bp_host_snapshot(host, &none);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        if (result == BP_OK) {
            bp_snapshot_free(none);
            if (rig.heap.requests >= k)
                break;
        }
        failures += result != BP_OK;
        if (k > 2000)
            break;
        if (result == BP_OK)
            break;
        EXPECT(recall_hash(host) == now, "a snapshot that failed has changed something");
    }
    for (uint64_t k = 1; k < 4000; k++) {
        uint64_t refused = rig.heap.refused;
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        bp_result_t result = bp_host_bring_back(host, early);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        uint64_t hash = recall_hash(host);
        failures += result != BP_OK;
        if (result == BP_OK) {
            EXPECT(hash == bp_snapshot_hash(early, NULL), "request %llu: it is not what it was", (unsigned long long)k);
            if (rig.heap.refused == refused)
                break;
            for (uint64_t i = 10; i < 25; i++)
                step(host, i, 4);
            EXPECT(recall_hash(host) == now, "request %llu: it goes on otherwise", (unsigned long long)k);
            continue;
        }
        EXPECT(hash == now, "request %llu: bringing back has failed, and changed something", (unsigned long long)k);
    }
    EXPECT(failures > 20, "only %llu requests failed", (unsigned long long)failures);
    bp_snapshot_free(early);
    rig.log.count = 0; /* of states that stayed */
    rig.log.text[0] = '\0';
    rig_close(&rig);
}
END_TEST

/* Rows of a combination that the world has lost lie in a run that it kept, which has no stamps where the host has begun
 * to remember since. */
START_TEST(no_memory_for_the_stamps_of_a_combination_that_comes_back)
{
    rig_t rig;
    bp_snapshot_o *before, *with;
    uint64_t failures = 0;
    bp_host_o *host = open_host(&rig, 1, true);
    WORKS(host, bp_host_snapshot(host, &before));
    entity_with(rig.api->world->at(host, 0), "body");
    WORKS(host, bp_host_snapshot(host, &with));
    WORKS(host, bp_host_bring_back(host, before));
    WORKS(host, bp_host_remember(host, 64 << 20));
    uint64_t now = recall_hash(host);
    for (uint64_t k = 1;; k++) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        bp_result_t result = bp_host_bring_back(host, with);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        if (result == BP_OK)
            break;
        failures++;
        EXPECT(recall_hash(host) == now, "request %llu: it has failed, and changed something", (unsigned long long)k);
    }
    EXPECT(failures > 5, "only %llu requests failed", (unsigned long long)failures);
    EXPECT(recall_hash(host) == bp_snapshot_hash(with, NULL), "it is not what it was");
    bp_snapshot_free(before);
    bp_snapshot_free(with);
    rig.log.count = 0; /* of states that stayed */
    rig.log.text[0] = '\0';
    rig_close(&rig);
}
END_TEST

/* --- handles, output, who does not say ---------------------------------------------------------------------------- */

START_TEST(handles_and_output)
{
    rig_t rig;
    bp_snapshot_o *taken;
    bp_host_o *host = open_host(&rig, 1, true);
    const bp_api_t *api = bp_host_api(host);
    bp_world_o *world = api->world->at(host, 0);
    bp_entity_t e = entity_with(world, "body"), late;
    bp_property_t y;
    bp_ref_t ref = {.entity = e, .field = key_of(world, "body", "") << 8 | 1};
    float value = 42;
    const float *cell;
    WORKS(host, api->property->resolve(world, e, "body", "y", &y));
    WORKS(host, api->property->set(world, &y, &e, 1, &value, 0));
    cell = bp_ref_get(api->world, world, &ref);
    EXPECT(cell != NULL && *cell == 42, "no reference");
    WORKS(host, bp_host_snapshot(host, &taken));
    uint64_t branch = bp_host_branch(host);
    late = entity_with(world, "body");
    WORKS(host, api->world->add(world, key_of(world, "fog", "thick"), &e, 1));
    WORKS(host, api->world->add(world, key_of(world, "mark", ""), &e, 1));
    EXPECT(bp_property_cell(world, &y, e) == NULL || bp_ref_get(api->world, world, &ref) != NULL, "gone");
    EXPECT(bp_ref_get(api->world, world, &ref) != NULL, "gone");
    EXPECT(api->entity->destroy(host, &e, 1) == 1, "it lived");
    WORKS(host, bp_world_step(world));
    EXPECT(recall_scribe->last == 1 && recall_scribe->rewound == 0, "the scribe runs");
    WORKS(host, bp_host_bring_back(host, taken));
    EXPECT(recall_scribe->last == 0 && recall_scribe->rewound == 1, "the scribe is told");
    EXPECT(bp_host_branch(host) == branch + 1, "another branch");
    EXPECT(api->entity->alive(host, &e, 1, NULL) == 1 && api->entity->alive(host, &late, 1, NULL) == 0, "who lives");
    value = 0;
    WORKS(host, api->property->get(world, &y, &e, 1, &value, 0));
    EXPECT(value == 42, "the property of before is good");
    cell = bp_ref_get(api->world, world, &ref);
    EXPECT(cell != NULL && *cell == 42, "the reference of before is good");
    bp_snapshot_free(taken);
    rig_close(&rig);
}
END_TEST

typedef struct told_t {
    uint32_t values, structures, compound;
    double largest;
    uint64_t count;
    char last[256];
} told_t;

static void tell_value(void *context, const bp_diff_value_t *value)
{
    told_t *t = context;
    t->values++;
    snprintf(t->last, sizeof t->last, "%s.%s %s -> %s", value->component, value->field, value->before, value->after);
}

static void tell_field(void *context, const bp_diff_field_t *field)
{
    told_t *t = context;
    t->count += field->count;
    t->largest = field->largest > t->largest ? field->largest : t->largest;
}

static void tell_structure(void *context, const char *world, bp_entity_t entity, const char *text)
{
    told_t *t = context;
    (void)world, (void)entity;
    t->structures++;
    t->compound += strcmp(text, "with mark, with fog") == 0;
}

START_TEST(differences)
{
    rig_t rig;
    bp_snapshot_o *before, *after;
    bp_host_o *host = open_host(&rig, 1, true);
    const bp_api_t *api = bp_host_api(host);
    bp_world_o *world = api->world->at(host, 0);
    bp_entity_t e[3];
    for (uint32_t i = 0; i < 3; i++)
        e[i] = entity_with(world, "body");
    WORKS(host, bp_host_snapshot(host, &before));
    float value = 3.5f;
    const char *text = "other";
    told_t told = {.values = 0};
    bp_diff_i sink = {
        .most = 10, .context = &told, .structure = tell_structure, .value = tell_value, .field = tell_field};
    WORKS(host, bp_snapshot_diff(host, before, before, &sink));
    EXPECT(told.values == 0 && told.structures == 0 && told.count == 0, "a snapshot differs from itself");
    WORKS(host, api->property->set_named(world, e[1], "body", "y", BP_F32, &value));
    WORKS(host, bp_host_snapshot(host, &after));
    WORKS(host, bp_snapshot_diff(host, before, after, &sink));
    EXPECT(told.values == 1 && told.count == 1 && told.largest == 2.5 && strcmp(told.last, "body.y 1 -> 3.5") == 0,
           "%u values, %s", told.values, told.last);
    EXPECT(bp_snapshot_hash(before, "main") != bp_snapshot_hash(after, "main"), "hashes are equal");
    EXPECT(bp_snapshot_hash(before, "side") == bp_snapshot_hash(after, "side"), "hashes of the other world differ");
    EXPECT(bp_snapshot_hash(before, "nowhere") == 0, "a world that is not there has a hash");
    bp_snapshot_free(after);
    WORKS(host, api->property->set_named(world, e[2], "body", "tag", BP_STRING, &text));
    EXPECT(api->entity->destroy(host, &e[0], 1) == 1, "it lived");
    WORKS(host, api->world->add(world, key_of(world, "mark", ""), &e[1], 1));
    WORKS(host, bp_host_snapshot(host, &after));
    told = (told_t){.values = 0};
    WORKS(host, bp_snapshot_diff(host, before, after, &sink));
    EXPECT(told.values == 2 && told.structures == 2, "%u values, %u structures, %s", told.values, told.structures,
           told.last);
    bp_snapshot_free(before);
    bp_snapshot_free(after);
    rig_close(&rig);
}
END_TEST

/* A component that has gone leaves its keys behind, also where it has come again since. */
/* An entity has a row in one world, far behind those that the other world has, and then comes into that one too. A row
 * there that is none is found by AddressSanitizer. */
START_TEST(rows_of_one_world_are_not_looked_for_in_the_next)
{
    rig_t rig;
    bp_snapshot_o *before, *after;
    bp_host_o *host = open_host(&rig, 1, false);
    const bp_api_t *api = bp_host_api(host);
    bp_world_o *world = api->world->at(host, 0), *side = api->world->at(host, 1);
    bp_entity_t first = entity_with(world, "body"), last = first;
    for (uint32_t i = 0; i < 5000; i++)
        last = entity_with(world, "body");
    entity_with(side, "body");
    WORKS(host, bp_host_snapshot(host, &before));
    EXPECT(api->entity->destroy(host, &first, 1) == 1, "it lived");
    WORKS(host, api->world->add(side, key_of(side, "body", ""), &last, 1));
    WORKS(host, bp_host_snapshot(host, &after));
    told_t told = {.values = 0};
    bp_diff_i sink = {.most = 10, .context = &told, .structure = tell_structure, .value = tell_value};
    WORKS(host, bp_snapshot_diff(host, before, after, &sink));
    EXPECT(told.values == 0 && told.structures == 2, "%u values, %u structures, %s", told.values, told.structures,
           told.last);
    WORKS(host, bp_snapshot_diff(host, after, before, &sink));
    EXPECT(told.values == 0 && told.structures == 4, "%u values, %u structures, %s", told.values, told.structures,
           told.last);
    bp_snapshot_free(before);
    bp_snapshot_free(after);
    rig_close(&rig);
}
END_TEST

START_TEST(a_component_that_has_gone_and_come_again_is_compared_once)
{
    rig_t rig;
    bp_snapshot_o *before, *after;
    bp_entity_t e[3];
    const char *text = "other";
    told_t told = {.values = 0};
    bp_diff_i sink = {
        .most = 10, .context = &told, .structure = tell_structure, .value = tell_value, .field = tell_field};
    rig_init(&rig);
    rig.desc.static_plugins = zoo_plugins;
    rig.desc.static_plugin_count = 1;
    rig_open(&rig);
    WORKS(rig.host, bp_host_load_plugin(rig.host, zoo_plugins[0]->name, NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    for (uint32_t i = 0; i < 3; i++) {
        if (i > 0)
            WORKS(rig.host, bp_world_drop_component(world, "label"));
        WORKS(rig.host, bp_world_use_component(world, "label"));
        for (uint32_t k = 0; k < COUNT(e); k++)
            e[k] = entity_with(world, "label");
    }
    WORKS(rig.host, bp_host_snapshot(rig.host, &before));
    WORKS(rig.host, rig.api->property->set_named(world, e[1], "label", "text", BP_STRING, &text));
    WORKS(rig.host, bp_host_snapshot(rig.host, &after));
    WORKS(rig.host, bp_snapshot_diff(rig.host, before, after, &sink));
    EXPECT(told.values == 1 && told.count == 1 && told.structures == 0, "%u values, %s", told.values, told.last);
    bp_snapshot_free(after);
    WORKS(rig.host, rig.api->world->add(world, key_of(world, "label", "other"), &e[0], 1)); /* rows lie elsewhere */
    WORKS(rig.host, bp_host_snapshot(rig.host, &after));
    told = (told_t){.values = 0};
    WORKS(rig.host, bp_snapshot_diff(rig.host, before, after, &sink));
    EXPECT(told.values == 1 && told.count == 1 && told.structures == 1, "%u values, %s", told.values, told.last);
    bp_snapshot_free(before);
    bp_snapshot_free(after);
    rig_close(&rig);
}
END_TEST

/* In the place of each field of a component that has gone, a world has one that is called `gone`, of a u32. The
 * component leaver has such a field itself. */
static const bp_field_t leaver_fields[] = {{.name = "first", .type = BP_F64, .initial = "1.5"},
                                           {.name = "gone", .type = BP_U32}};
static const bp_component_i leavers[] = {{.name = "leaver", .fields = BP_LIST(leaver_fields)}};
static const bp_plugin_desc_t leaver_desc = {.version = "1.0", .components = BP_LIST(leavers)};
static const bp_plugin_head_t leaver = BP_PLUGIN_HEAD("leaver", &leaver_desc);

START_TEST(a_field_is_not_taken_for_one_that_has_gone)
{
    static const bp_plugin_head_t *const plugins[] = {&leaver};
    rig_t rig;
    bp_snapshot_o *before, *after;
    bp_entity_t e[2];
    uint32_t value = 7;
    told_t told = {.values = 0};
    bp_diff_i sink = {
        .most = 10, .context = &told, .structure = tell_structure, .value = tell_value, .field = tell_field};
    rig_open_with(&rig, plugins, 1);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "leaver", NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "leaver"));
    entity_with(world, "leaver");
    WORKS(rig.host, bp_world_drop_component(world, "leaver"));
    WORKS(rig.host, bp_world_use_component(world, "leaver"));
    e[0] = entity_with(world, "leaver");
    e[1] = entity_with(world, "leaver");
    WORKS(rig.host, bp_host_snapshot(rig.host, &before));
    WORKS(rig.host, rig.api->property->set_named(world, e[1], "leaver", "gone", BP_U32, &value));
    WORKS(rig.host, bp_host_snapshot(rig.host, &after));
    WORKS(rig.host, bp_snapshot_diff(rig.host, before, after, &sink));
    EXPECT(told.values == 1 && strcmp(told.last, "leaver.gone 0 -> 7") == 0, "%u values, %s", told.values, told.last);
    bp_snapshot_free(before);
    bp_snapshot_free(after);
    rig_close(&rig);
}
END_TEST

/* Of the bits of these numbers the lowest one alone is another. */
START_TEST(the_smallest_difference_of_a_number_is_one)
{
    static const uint32_t ages[][2] = {{3, 2}, {2, 3}};
    rig_t rig;
    bp_snapshot_o *before, *after;
    bp_host_o *host = open_host(&rig, 1, true);
    const bp_api_t *api = bp_host_api(host);
    bp_world_o *world = api->world->at(host, 0);
    bp_entity_t e = entity_with(world, "body");
    for (uint32_t i = 0; i < COUNT(ages); i++) {
        told_t told = {.values = 0};
        const bp_diff_i sink = {.most = 10, .context = &told, .value = tell_value, .field = tell_field};
        WORKS(host, api->property->set_named(world, e, "body", "age", BP_U32, &ages[i][0]));
        WORKS(host, bp_host_snapshot(host, &before));
        WORKS(host, api->property->set_named(world, e, "body", "age", BP_U32, &ages[i][1]));
        WORKS(host, bp_host_snapshot(host, &after));
        WORKS(host, bp_snapshot_diff(host, before, after, &sink));
        EXPECT(told.values == 1 && told.count == 1 && told.largest == 1, "%u to %u: %u values, %s", ages[i][0],
               ages[i][1], told.values, told.last);
        bp_snapshot_free(before);
        bp_snapshot_free(after);
    }
    rig_close(&rig);
}
END_TEST

/* The sentences of structure, each with its world, one a line. */
static void list_structure(void *context, const char *world, bp_entity_t entity, const char *text)
{
    char *list = context;
    size_t length = strlen(list);
    (void)entity;
    snprintf(list + length, 1024 - length, "%s: %s\n", world, text);
}

static void expect_structure(bp_host_o *host, const bp_snapshot_o *before, const char *expected)
{
    char list[1024] = "";
    bp_snapshot_o *after;
    const bp_diff_i sink = {.most = 10, .context = list, .structure = list_structure};
    WORKS(host, bp_host_snapshot(host, &after));
    WORKS(host, bp_snapshot_diff(host, before, after, &sink));
    ck_assert_str_eq(list, expected);
    bp_snapshot_free(after);
}

/* In a step of `main` the state of reader always changes; that of breed, which begins anew, and that of scribe, which
 * is output, are not compared. */
START_TEST(states_that_differ_are_named)
{
    rig_t rig;
    bp_snapshot_o *before;
    bp_host_o *host = open_host(&rig, 1, true);
    const bp_api_t *api = bp_host_api(host);
    bp_world_o *world = api->world->at(host, 0), *side = api->world->at(host, 1);
    bp_entity_t e = entity_with(side, "mark");
    uint64_t depth = 12345;
    WORKS(host, bp_world_step(world));
    WORKS(host, bp_world_step(side));
    WORKS(host, bp_host_snapshot(host, &before));
    WORKS(host, bp_world_step(world));
    expect_structure(host, before, "main: the state of system reader differs\n");
    bp_snapshot_free(before);
    WORKS(host, api->world->add(side, key_of(side, "body", ""), &e, 1)); /* watcher looks at those with both */
    WORKS(host, api->world->add(side, key_of(side, "fog", ""), &e, 1));
    WORKS(host, bp_host_snapshot(host, &before));
    WORKS(host, api->property->set_named(side, e, "fog", "depth", BP_U64, &depth));
    expect_structure(host, before, "side: the state of component fog differs\n");
    WORKS(host, bp_world_step(side));
    expect_structure(host, before, "side: the state of component fog differs\n"
                                   "side: the state of system reader differs\n"
                                   "side: the state of system watcher differs\n"
                                   "side: the state of system foggy differs\n"
                                   "side: the random numbers of collection differ\n");
    bp_snapshot_free(before);
    rig_close(&rig);
}
END_TEST

static const bp_plugin_desc_t extra_desc = {.version = "1.0"};
static const bp_plugin_head_t extra_plugin = BP_PLUGIN_HEAD("extra", &extra_desc);

/* Whatever the hash is of is told. */
START_TEST(where_hashes_differ_something_is_told)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin, &extra_plugin};
    rig_t rig;
    bp_snapshot_o *before;
    bp_entity_t e;
    rig_open_with(&rig, plugins, COUNT(plugins));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "recall", NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "body"));
    WORKS(rig.host, bp_world_use_component(world, "mark"));
    WORKS(rig.host, bp_host_snapshot(rig.host, &before));
    expect_structure(rig.host, before, "");
    WORKS(rig.host, rig.api->entity->create(rig.host, &e, 1));
    expect_structure(rig.host, before, ": entities without components, or the ids that new entities get, differ\n");
    rig.api->entity->destroy(rig.host, &e, 1);
    bp_snapshot_free(before);
    WORKS(rig.host, bp_host_snapshot(rig.host, &before));
    WORKS(rig.host, bp_world_step(world));
    expect_structure(rig.host, before, "main: the clock: step 1, time 0.0166666667, rate 60; and was step 0, time 0, "
                                       "rate 60\n");
    WORKS(rig.host, bp_world_use_system(world, "watcher"));
    expect_structure(rig.host, before, "main: system watcher has come\n");
    bp_snapshot_free(before);
    WORKS(rig.host, bp_host_snapshot(rig.host, &before));
    WORKS(rig.host, bp_world_drop_system(world, "watcher"));
    expect_structure(rig.host, before, "main: system watcher is not there any more\n");
    WORKS(rig.host, bp_world_use_component(world, "fog"));
    expect_structure(rig.host, before, "main: system watcher is not there any more\nmain: component fog has come\n");
    bp_snapshot_free(before);
    WORKS(rig.host, bp_host_snapshot(rig.host, &before));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "extra", NULL, 0));
    expect_structure(rig.host, before, ": plugin extra has come\n");
    bp_snapshot_free(before);
    WORKS(rig.host, bp_host_snapshot(rig.host, &before));
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "extra"));
    expect_structure(rig.host, before, ": plugin extra is not there any more\n");
    bp_snapshot_free(before);
    recall_close(&rig);
}
END_TEST

/* Two components, each with a state of one number, that worlds use in either order. */
static bp_result_t twin_start(bp_manager_t *m)
{
    m->state = m->api->memory->resize(m->plugin, NULL, 0, sizeof(uint64_t));
    if (m->state == NULL)
        return BP_ERROR_MEMORY;
    *(uint64_t *)m->state = m->user == NULL ? 1 : 2;
    return BP_OK;
}

static void twin_stop(bp_manager_t *m)
{
    m->api->memory->resize(m->plugin, m->state, sizeof(uint64_t), 0);
}

static char second_twin;
static const bp_field_t twin_fields[] = {{.name = "number", .type = BP_U64}, {.name = "depth", .type = BP_I64}};
static const bp_component_i twins[] = {
    {.name = "castor", .fields = BP_LIST(twin_fields), .start = twin_start, .stop = twin_stop,
     .keeps = BP_KEEP_PLAIN, .state_form = BP_STATE_FORM(uint64_t, 1)},
    {.name = "pollux", .user = &second_twin, .start = twin_start, .stop = twin_stop, .keeps = BP_KEEP_PLAIN,
     .state_form = BP_STATE_FORM(uint64_t, 1)},
};
static const bp_plugin_desc_t twin_desc = {.version = "1.0", .components = BP_LIST(twins)};
static const bp_plugin_head_t twin_plugin = BP_PLUGIN_HEAD("twins", &twin_desc);

static bp_world_o *open_twins(rig_t *rig, bool backwards)
{
    static const bp_plugin_head_t *const plugins[] = {&twin_plugin};
    rig_open_with(rig, plugins, 1);
    WORKS(rig->host, bp_host_load_plugin(rig->host, "twins", NULL, 0));
    bp_world_o *world = bp_world_create(rig->host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig->host, bp_world_use_component(world, twins[backwards].name));
    WORKS(rig->host, bp_world_use_component(world, twins[!backwards].name));
    return world;
}

static bp_manager_t *manager_of(bp_world_o *world, const char *type)
{
    return api_of(world)->world->manager(world, api_of(world)->world->component(world, type));
}

START_TEST(states_of_two_hosts_that_use_components_in_another_order_are_compared_by_type)
{
    rig_t first, second;
    bp_snapshot_o *before;
    bp_world_o *there = open_twins(&first, false), *world = open_twins(&second, true);
    ck_assert_ptr_nonnull(there);
    WORKS(first.host, bp_host_snapshot(first.host, &before));
    expect_structure(second.host, before,
                     "main: components, names of components, units or rows are in another order\n");
    *(uint64_t *)manager_of(world, "castor")->state = 3;
    expect_structure(second.host, before, "main: the state of component castor differs\n");
    bp_snapshot_free(before);
    rig_close(&first);
    rig_close(&second);
}
END_TEST

/* Two components of a type in one entity, of which each host has met another one first. */
START_TEST(values_of_two_hosts_that_met_names_in_another_order_are_compared_by_name)
{
    rig_t rigs[2];
    bp_snapshot_o *taken[2];
    for (uint32_t i = 0; i < 2; i++) {
        bp_world_o *world = open_twins(&rigs[i], false);
        const uint32_t keys[2] = {key_of(world, "castor", i == 0 ? "left" : "right"),
                                  key_of(world, "castor", i == 0 ? "right" : "left")};
        const uint64_t numbers[2] = {1, 2}; /* the left one has 1 in one host, and 2 in the other */
        uint32_t prototype;
        bp_entity_t e;
        WORKS(rigs[i].host, rigs[i].api->world->prototype(world, keys, 2, &prototype));
        WORKS(rigs[i].host, rigs[i].api->world->create(world, prototype, &e, 1));
        for (uint32_t k = 0; k < 2; k++)
            WORKS(rigs[i].host, rigs[i].api->property->set_named(world, e, (k == 0) == (i == 0) ? "left" : "right",
                                                                 "number", BP_U64, &numbers[k]));
        WORKS(rigs[i].host, bp_host_snapshot(rigs[i].host, &taken[i]));
    }
    told_t told = {.values = 0};
    const bp_diff_i sink = {.most = 10, .context = &told, .value = tell_value, .structure = tell_structure};
    WORKS(rigs[1].host, bp_snapshot_diff(rigs[1].host, taken[0], taken[1], &sink));
    EXPECT(told.values == 2 && told.structures == 0, "%u values, %u structures, %s", told.values, told.structures,
           told.last);
    for (uint32_t i = 0; i < 2; i++) {
        bp_snapshot_free(taken[i]);
        rig_close(&rigs[i]);
    }
}
END_TEST

START_TEST(a_world_that_has_gone_is_told)
{
    rig_t rig;
    bp_snapshot_o *before;
    open_twins(&rig, false);
    bp_world_o *other = bp_world_create(rig.host, &(bp_world_desc_t){.name = "other"});
    WORKS(rig.host, bp_host_snapshot(rig.host, &before));
    bp_world_destroy(other);
    expect_structure(rig.host, before, "other: the world is not there any more\n");
    bp_snapshot_free(before);
    rig_close(&rig);
}
END_TEST

/* A double does not tell these numbers apart. */
START_TEST(differences_of_large_whole_numbers_are_exact)
{
    static const uint64_t numbers[][2] = {{UINT64_C(1) << 60, (UINT64_C(1) << 60) + 1}, {UINT64_MAX, UINT64_MAX - 1}};
    static const int64_t depths[][2] = {{INT64_MIN, INT64_MIN + 1}, {INT64_MIN, INT64_MAX}};
    static const double largest[] = {1, 18446744073709551615.0};
    rig_t rig;
    bp_snapshot_o *before, *after;
    bp_world_o *world = open_twins(&rig, false);
    bp_entity_t e = entity_with(world, "castor");
    for (uint32_t i = 0; i < 4; i++) {
        const char *field = i < 2 ? "number" : "depth";
        uint32_t type = i < 2 ? BP_U64 : BP_I64;
        const void *values[] = {i < 2 ? (const void *)&numbers[i][0] : &depths[i - 2][0],
                                i < 2 ? (const void *)&numbers[i][1] : &depths[i - 2][1]};
        told_t told = {.values = 0};
        const bp_diff_i sink = {.context = &told, .field = tell_field};
        WORKS(rig.host, rig.api->property->set_named(world, e, "castor", field, type, values[0]));
        WORKS(rig.host, bp_host_snapshot(rig.host, &before));
        WORKS(rig.host, rig.api->property->set_named(world, e, "castor", field, type, values[1]));
        WORKS(rig.host, bp_host_snapshot(rig.host, &after));
        WORKS(rig.host, bp_snapshot_diff(rig.host, before, after, &sink));
        double expected = largest[i == 3];
        EXPECT(told.count == 1 && told.largest >= expected && told.largest <= expected, "%s: %.17g, not %.17g", field,
               told.largest, expected);
        bp_snapshot_free(before);
        bp_snapshot_free(after);
    }
    rig_close(&rig);
}
END_TEST

static void set_list(bp_world_o *world, bp_entity_t e, const char *field, bp_list_t list)
{
    const bp_property_api *properties = api_of(world)->property;
    bp_property_t property;
    WORKS(host_of(world), properties->resolve(world, e, "body", field, &property));
    WORKS(host_of(world), properties->set(world, &property, &e, 1, &list, sizeof list));
}

/* A list of numbers 1, 2, 3, ... */
static void set_trail(bp_world_o *world, bp_entity_t e, uint32_t count)
{
    float numbers[20];
    for (uint32_t i = 0; i < COUNT(numbers); i++)
        numbers[i] = (float)(i + 1);
    set_list(world, e, "trail", (bp_list_t){numbers, count, count});
}

static void set_notes(bp_world_o *world, bp_entity_t e, const char *first, uint32_t count)
{
    const char *notes[] = {first, "and more"};
    set_list(world, e, "notes", (bp_list_t){notes, count, count});
}

/* The last value that is told of between two moments, and how many there are. */
static void expect_last(bp_host_o *host, const bp_snapshot_o *before, uint32_t values, const char *last)
{
    bp_snapshot_o *after;
    told_t told = {.values = 0};
    const bp_diff_i sink = {.most = 10, .context = &told, .value = tell_value};
    WORKS(host, bp_host_snapshot(host, &after));
    WORKS(host, bp_snapshot_diff(host, before, after, &sink));
    EXPECT(told.values == values && strcmp(told.last, last) == 0, "%u values, %s", told.values, told.last);
    bp_snapshot_free(after);
}

START_TEST(differences_of_lists_and_texts_are_told_as_they_would_be_written)
{
    rig_t rig;
    bp_snapshot_o *before;
    bp_host_o *host = open_host(&rig, 1, true);
    bp_world_o *world = bp_host_api(host)->world->at(host, 0);
    bp_entity_t e[3];
    const char *tag = "renamed";
    for (uint32_t i = 0; i < 3; i++) {
        e[i] = entity_with(world, "body");
        set_trail(world, e[i], i);
        set_notes(world, e[i], "first", i);
    }
    WORKS(host, bp_host_snapshot(host, &before));
    set_trail(world, e[1], 3);
    expect_last(host, before, 1, "body.trail [1] -> [1, 2, 3]");
    set_trail(world, e[1], 20);
    expect_last(host, before, 1,
                "body.trail [1] -> [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, ...]");
    set_trail(world, e[1], 1);
    set_notes(world, e[2], "second", 2);
    expect_last(host, before, 1, "body.notes [first, and more] -> [second, and more]");
    set_notes(world, e[2], "", 0);
    expect_last(host, before, 1, "body.notes [first, and more] -> []");
    set_notes(world, e[2], "first", 2);
    WORKS(host, bp_host_api(host)->property->set_named(world, e[0], "body", "tag", BP_STRING, &tag));
    expect_last(host, before, 1, "body.tag newborn -> renamed");
    EXPECT(bp_host_api(host)->entity->destroy(host, &e[1], 1) == 1, "it lived"); /* rows are elsewhere now */
    set_trail(world, e[2], 1);
    expect_last(host, before, 2, "body.trail [1, 2] -> [1]");
    bp_snapshot_free(before);
    rig_close(&rig);
}
END_TEST

/* Each of its functions may be missing; where memory is, that is said. */
START_TEST(differences_are_told_to_whom_wants_them)
{
    rig_t rig;
    bp_snapshot_o *before, *after;
    bp_host_o *host = open_host(&rig, 1, true);
    const bp_api_t *api = bp_host_api(host);
    bp_world_o *world = api->world->at(host, 0);
    bp_entity_t e[3];
    float value = 7;
    for (uint32_t i = 0; i < 3; i++)
        e[i] = entity_with(world, "body");
    WORKS(host, bp_host_snapshot(host, &before));
    bp_world_o *other = bp_world_create(host, &(bp_world_desc_t){.name = "new", .step_rate = 50});
    ck_assert_ptr_nonnull(other);
    EXPECT(api->entity->destroy(host, &e[0], 1) == 1, "it lived");
    WORKS(host, api->property->set_named(world, e[1], "body", "y", BP_F32, &value));
    WORKS(host, api->property->set_named(world, e[2], "body", "y", BP_F32, &value));
    WORKS(host, api->world->add(world, key_of(world, "mark", ""), &e[2], 1));
    WORKS(host, api->world->add(world, key_of(world, "fog", ""), &e[2], 1));
    WORKS(host, bp_host_snapshot(host, &after));
    told_t told = {.values = 0};
    WORKS(host, bp_snapshot_diff(host, before, after, &(bp_diff_i){.context = &told, .most = 5}));
    WORKS(host, bp_snapshot_diff(host, before, after, &(bp_diff_i){.context = &told, .value = tell_value, .most = 1}));
    ck_assert_uint_eq(told.values, 1);
    WORKS(host, bp_snapshot_diff(host, before, after, &(bp_diff_i){.context = &told, .field = tell_field}));
    ck_assert_uint_eq(told.count, 2);
    bp_diff_i sentences = {.context = &told, .structure = tell_structure};
    WORKS(host, bp_snapshot_diff(host, before, after, &sentences));
    ck_assert_uint_eq(told.structures, 3); /* entities, the state of fog, a world */
    told.structures = 0;
    sentences.most = 5;
    WORKS(host, bp_snapshot_diff(host, before, after, &sentences));
    ck_assert_uint_eq(told.structures, 4); /* one entity died, one has other components */
    ck_assert_uint_eq(told.compound, 1);
    uint32_t failed = 0;
    for (uint32_t nth = 1;; nth++) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + nth;
        uint64_t refused = rig.heap.refused;
        bp_result_t result = bp_snapshot_diff(host, before, after, &(bp_diff_i){.context = &told, .field = tell_field});
        rig.heap.refuse_first = 0;
        if (rig.heap.refused == refused)
            break;
        EXPECT(result == BP_ERROR_MEMORY, "request %u: %s", nth, bp_host_error(host));
        failed++;
    }
    ck_assert_uint_gt(failed, 0);
    bp_snapshot_free(before);
    bp_snapshot_free(after);
    rig_close(&rig);
}
END_TEST

/* --- indices that worlds keep for their own --------------------------------------------------------------------- */

enum { CROWD = 500, TURNS = 400 };

typedef struct crowd_t {
    bp_entity_t e[2][CROWD];
} crowd_t;

/* Entities die and come in two worlds, by ones and by batches. */
static void take_turns(bp_host_o *host, crowd_t *crowd, uint64_t *random, uint32_t turns)
{
    const bp_api_t *api = bp_host_api(host);
    for (uint32_t t = 0; t < turns; t++) {
        uint32_t w = bp_random_below(random, 2), at = bp_random_below(random, CROWD - 60);
        uint32_t count = 1 + bp_random_below(random, 60), ones = bp_random_below(random, 2) * count;
        bp_world_o *world = api->world->at(host, w);
        uint32_t prototype = prototype_of(world, "body", NULL, NULL, NULL);
        api->entity->destroy(host, &crowd->e[w][at], count);
        for (uint32_t i = 0; i < ones; i++)
            WORKS(host, api->world->create(world, prototype, &crowd->e[w][at + i], 1));
        WORKS(host, api->world->create(world, prototype, &crowd->e[w][at + ones], count - ones));
    }
}

/* Also in another host, whose worlds have other numbers since one before them has gone. */
START_TEST(the_same_ids_come_once_more)
{
    static crowd_t before, first, again;
    rig_t rig, other;
    uint64_t random = 5;
    bp_snapshot_o *snapshot;
    bp_host_o *host = open_host(&rig, 1, true);
    take_turns(host, &before, &random, TURNS);
    WORKS(host, bp_host_snapshot(host, &snapshot));
    uint64_t seed = random;
    first = before;
    take_turns(host, &first, &random, TURNS);
    uint64_t hash = recall_hash(host);
    WORKS(host, bp_host_bring_back(host, snapshot));
    random = seed;
    again = before;
    take_turns(host, &again, &random, TURNS);
    EXPECT(memcmp(&first, &again, sizeof first) == 0 && recall_hash(host) == hash, "other ids come");
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin};
    rig_open_with(&other, plugins, 1);
    bp_world_o *gone = bp_world_create(other.host, &(bp_world_desc_t){.name = "gone"});
    recall_open(other.host);
    bp_world_destroy(gone);
    WORKS(other.host, bp_host_bring_back(other.host, snapshot));
    random = seed;
    again = before;
    take_turns(other.host, &again, &random, TURNS);
    EXPECT(memcmp(&first, &again, sizeof first) == 0 && recall_hash(other.host) == hash, "other ids in another host");
    bp_snapshot_free(snapshot);
    rig_close(&other);
    rig_close(&rig);
}
END_TEST

static bp_result_t secretive_start(bp_system_t *s)
{
    (void)s;
    return BP_OK;
}

static void secretive_run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
}

static const bp_system_i secretive_systems[] = {{.name = "secretive", .start = secretive_start, .run_all =
    secretive_run}};
static const bp_plugin_desc_t secretive_desc = {.systems = BP_LIST(secretive_systems)};
static const bp_plugin_head_t secretive = BP_PLUGIN_HEAD("secretive", &secretive_desc);

enum { FLOATS = 1000 };

static float some_float(uint64_t *random)
{
    static const float special[] = {0, -0.0f, 1e-45f, 1e38f, -1e38f, 16777216, 3.5f};
    static const float rare[] = {INFINITY, -INFINITY, NAN};
    uint32_t kind = bp_random_below(random, 900);
    return kind < 200 ? special[kind % 7] : kind == 200 ? rare[bp_random_below(random, 3)]
                                                        : (float)bp_random_below(random, 1 << 30) / 4096 - 1000;
}

/* What a difference is said to be, by the words of the contract. */
static double plain_distance(float x, float y)
{
    double between = fabs((double)x - (double)y);
    return memcmp(&x, &y, sizeof x) == 0 ? 0 : between <= DBL_MAX ? between : (double)INFINITY;
}

/* With `_i` 1 there are holes among the rows; where 2, floats that are no numbers are rare enough for whole stretches
 * without them. */
START_TEST(differences_of_many_rows_are_those_of_each)
{
    rig_t rig;
    bp_snapshot_o *before, *after;
    bp_host_o *host = open_host(&rig, 1, true);
    const bp_api_t *api = bp_host_api(host);
    bp_world_o *world = api->world->at(host, 0);
    bp_entity_t e[FLOATS];
    float was[FLOATS], is[FLOATS];
    uint64_t random = (uint64_t)_i + 1, count = 0;
    double largest = 0;
    for (uint32_t i = 0; i < FLOATS; i++) {
        e[i] = entity_with(world, "body");
        was[i] = some_float(&random);
        WORKS(host, api->property->set_named(world, e[i], "body", "y", BP_F32, &was[i]));
    }
    EXPECT(api->entity->destroy(host, e, _i == 1 ? 100 : 0) == (_i == 1 ? 100 : 0), "they lived");
    WORKS(host, bp_host_snapshot(host, &before));
    for (uint32_t i = _i == 1 ? 100 : 0; i < FLOATS; i++) {
        is[i] = bp_random_below(&random, 3) == 0 ? was[i] : some_float(&random);
        if (_i == 2 && i > FLOATS / 4 && !isfinite(is[i]))
            is[i] = 0;
        WORKS(host, api->property->set_named(world, e[i], "body", "y", BP_F32, &is[i]));
        double between = plain_distance(was[i], is[i]);
        largest = between > largest ? between : largest;
        count += memcmp(&was[i], &is[i], sizeof was[i]) != 0;
    }
    WORKS(host, bp_host_snapshot(host, &after));
    told_t told = {.values = 0};
    bp_diff_i sink = {.most = 10, .context = &told, .field = tell_field};
    WORKS(host, bp_snapshot_diff(host, before, after, &sink));
    EXPECT(told.count == count, "%llu instead of %llu", (unsigned long long)told.count, (unsigned long long)count);
    EXPECT(told.largest >= largest && told.largest <= largest, "%.17g instead of %.17g", told.largest, largest);
    told = (told_t){.values = 0};
    sink.value = tell_value;
    WORKS(host, bp_snapshot_diff(host, before, after, &sink));
    EXPECT(told.count == count && told.values == 10, "%u values told", told.values);
    bp_snapshot_free(before);
    bp_snapshot_free(after);
    rig_close(&rig);
}
END_TEST

START_TEST(distances_of_numbers_that_are_no_floats_are_those_of_their_values)
{
    static const double halves[] = {1.5, 2}, quarters[] = {1.25, 2.5};
    ck_assert(distance_of_cells(BP_F64, (const char *)halves, (const char *)quarters, sizeof *halves) == 0.25);
    ck_assert(distance_of_cells(BP_DVEC2, (const char *)halves, (const char *)quarters, sizeof halves) == 0.5);
    ck_assert(distance_of_cells(BP_I32, (const char *)&(int32_t){-3}, (const char *)&(int32_t){4}, 4) == 7);
    ck_assert(distance_of_cells(BP_U8, (const char *)&(uint8_t){9}, (const char *)&(uint8_t){9}, 1) == 0);
    ck_assert(distance_of_cells(BP_I8, (const char *)&(int8_t){-9}, (const char *)&(int8_t){9}, 1) == 18);
    ck_assert(distance_of_cells(BP_I16, (const char *)&(int16_t){-300}, (const char *)&(int16_t){4}, 2) == 304);
    ck_assert(distance_of_cells(BP_U16, (const char *)&(uint16_t){60000}, (const char *)&(uint16_t){1}, 2) == 59999);
    ck_assert(distance_of_cells(BP_U32, (const char *)&(uint32_t){4000000000}, (const char *)&(uint32_t){0}, 4) == 4e9);
    ck_assert(distance_of_cells(BP_I64, (const char *)&(int64_t){-1}, (const char *)&(int64_t){1}, 8) == 2);
    ck_assert(distance_of_cells(BP_U64, (const char *)&(uint64_t){5}, (const char *)&(uint64_t){8}, 8) == 3);
    ck_assert(distance_of_cells(BP_NAME, (const char *)&(uint64_t){5}, (const char *)&(uint64_t){8}, 8) == 0);
}
END_TEST

START_TEST(distances_of_many_cells_are_those_of_each)
{
    uint64_t random = 7;
    float a[64 * 4], b[64 * 4];
    for (uint32_t round = 0; round < 3000; round++) {
        uint32_t parts = 1 + round % 4, rows = 1 + bp_random_below(&random, 64), count = 0;
        static const uint32_t types[] = {BP_F32, BP_VEC2, BP_VEC3, BP_VEC4};
        double known = bp_random_below(&random, 2) * 100.0, largest = known, cells = known;
        for (uint32_t i = 0; i < rows * parts; i++) {
            a[i] = some_float(&random);
            b[i] = bp_random_below(&random, 2) == 0 ? a[i] : some_float(&random);
            largest = plain_distance(a[i], b[i]) > largest ? plain_distance(a[i], b[i]) : largest;
        }
        for (uint32_t row = 0; row < rows; row++) {
            const char *x = (const char *)&a[row * parts], *y = (const char *)&b[row * parts];
            double between = distance_of_cells(types[parts - 1], x, y, parts * sizeof(float));
            cells = between > cells ? between : cells;
            count += memcmp(x, y, parts * sizeof(float)) != 0;
        }
        EXPECT(cells >= largest && cells <= largest, "round %u, cell by cell: %.17g, not %.17g", round, cells, largest);
        bool good = distance_of_many_floats((char *)a, (char *)b, rows, parts * sizeof(float), &known);
        EXPECT(!good || (known >= largest && known <= largest), "round %u: %.17g, not %.17g", round, known, largest);
        EXPECT(distance_count((char *)a, (char *)b, rows, parts * sizeof(float)) == count, "round %u: count", round);
    }
}
END_TEST

START_TEST(who_does_not_say_is_named)
{
    static const bp_plugin_head_t *const plugins[] = {&secretive};
    rig_t rig;
    bp_snapshot_o *taken;
    rig_open_with(&rig, plugins, 1);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "secretive", NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_host_snapshot(rig.host, &taken));
    bp_snapshot_free(taken);
    WORKS(rig.host, bp_world_use_system(world, "secretive"));
    FAILS(rig.host, BP_ERROR_STATE, "system 'secretive' of plugin 'secretive'", bp_host_snapshot(rig.host, &taken));
    rig_close(&rig);
}
END_TEST

static bp_result_t shy_save(bp_manager_t *m, void **data, size_t *size)
{
    (void)data, (void)size;
    return m->api->error->set(m->host, BP_ERROR_FAILED, "it says nothing");
}

static bp_result_t shy_load(bp_manager_t *m, uint32_t version, const void *data, size_t size)
{
    (void)m, (void)version, (void)data, (void)size;
    return BP_OK;
}

static bp_result_t shy_create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                              const void *const *columns, uint32_t *slots)
{
    (void)m, (void)instance, (void)entities, (void)count, (void)columns, (void)slots;
    return BP_ERROR_LIMIT;
}

static void shy_destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    (void)m, (void)slots, (void)count;
}

static uint32_t shy_count(bp_manager_t *m)
{
    (void)m;
    return 0;
}

static const bp_storage_i shy_storage = {
    .struct_size = sizeof shy_storage, .create = shy_create, .destroy = shy_destroy, .count = shy_count};
static const bp_save_i shy_saving = {.save = shy_save, .load = shy_load};
static const bp_extension_t shy_extensions[] = {{BP_EXTENSION("bp_save", shy_saving)}};
static const bp_component_i shy_components[] = {{.name = "shy",
                                                 .storage = &shy_storage,
                                                 .extensions = BP_LIST(shy_extensions),
                                                 .keeps = BP_KEEP_SAVED}};
static const bp_plugin_desc_t shy_desc = {.components = BP_LIST(shy_components)};
static const bp_plugin_head_t shy = BP_PLUGIN_HEAD("shy", &shy_desc);

START_TEST(a_component_that_cannot_be_written_down_refuses_the_snapshot)
{
    static const bp_plugin_head_t *const plugins[] = {&shy};
    rig_t rig;
    bp_snapshot_o *taken = NULL;
    rig_open_with(&rig, plugins, 1);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "shy", NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "shy"));
    FAILS(rig.host, BP_ERROR_FAILED, "component 'shy' cannot be written down: it says nothing",
          bp_host_snapshot(rig.host, &taken));
    ck_assert_ptr_null(taken);
    rig_close(&rig);
}
END_TEST

/* Counts flags by being told of them; its state is made anew where the world goes back. */
static uint32_t counted, counted_out;
static bool counter_fails;

static bp_result_t counter_start(bp_system_t *s)
{
    (void)s;
    counted = counter_fails ? counted : 0;
    return counter_fails ? BP_ERROR_STATE : BP_OK;
}

static void counter_told(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    (void)s, (void)entities;
    counted += count;
}

static void counter_told_out(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    (void)s, (void)entities;
    counted_out += count;
}

static const bp_term_t counter_terms[] = {{.component = "flag"}};
static const bp_system_i counter_systems[] = {{.name = "counter", .terms = BP_LIST(counter_terms),
    .start = counter_start, .keeps = BP_KEEP_ANEW, .run_all = secretive_run, .entities_added = counter_told,
    .entities_removed = counter_told_out}};
static const bp_plugin_desc_t counter_desc = {.systems = BP_LIST(counter_systems)};
static const bp_plugin_head_t counter = BP_PLUGIN_HEAD("counter", &counter_desc);

static bp_world_o *open_counter(rig_t *rig)
{
    static const bp_plugin_head_t *plugins[2];
    plugins[0] = zoo_plugins[0];
    plugins[1] = &counter;
    rig_open_with(rig, plugins, COUNT(plugins));
    WORKS(rig->host, bp_host_load_plugin(rig->host, zoo_plugins[0]->name, NULL, 0));
    WORKS(rig->host, bp_host_load_plugin(rig->host, "counter", NULL, 0));
    bp_world_o *world = bp_world_create(rig->host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig->host, bp_world_use_component(world, "flag"));
    WORKS(rig->host, bp_world_use_system(world, "counter"));
    return world;
}

START_TEST(a_state_that_is_made_anew_is_told_of_all_that_match)
{
    rig_t rig;
    bp_snapshot_o *taken;
    bp_entity_t entities[5];
    bp_world_o *world = open_counter(&rig);
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "flag", NULL, NULL, NULL), entities, 5));
    WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(counted, 5);
    WORKS(rig.host, bp_host_snapshot(rig.host, &taken));
    WORKS(rig.host, bp_host_bring_back(rig.host, taken));
    WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(counted, 5);
    bp_snapshot_free(taken);
    rig_close(&rig);
}
END_TEST

/* In the snapshot two deaths are still to be told. The state that stays is not told of them when its world has gone
 * back, since it may have been told of them after the snapshot. */
START_TEST(a_state_that_stays_since_none_can_be_made_anew_is_told_of_all_that_match)
{
    rig_t rig;
    bp_snapshot_o *taken;
    bp_entity_t entities[5];
    bp_world_o *world = open_counter(&rig);
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "flag", NULL, NULL, NULL), entities, 5));
    WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, entities, 2), 2);
    WORKS(rig.host, bp_host_snapshot(rig.host, &taken));
    counter_fails = true;
    WORKS(rig.host, bp_host_bring_back(rig.host, taken));
    counter_fails = false;
    ck_assert_ptr_nonnull(strstr(rig.log.text, "'counter' goes on with the state that it had before its world went "
                                               "back: it gave no reason"));
    rig.log.count = 0;
    counted = counted_out = 0;
    WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(counted, 3);
    ck_assert_uint_eq(counted_out, 0);
    bp_snapshot_free(taken);
    rig_close(&rig);
}
END_TEST

/* --- beside plugins that come, go and change --------------------------------------------------------------------- */

static bp_entity_t probed[3];

static bp_world_o *open_probe(rig_t *rig)
{
    rig_init(rig);
    rig_open(rig);
    WORKS(rig->host, bp_host_load_plugin(rig->host, zoo_plugins[0]->name, NULL, 0));
    WORKS(rig->host, bp_host_load_plugin(rig->host, put_plugin("reload_probe_first", "kept_probe"), NULL, 0));
    bp_world_o *world = bp_world_create(rig->host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig->host, bp_world_use_component(world, "probe"));
    WORKS(rig->host, bp_world_use_component(world, "flag"));
    WORKS(rig->host, rig->api->world->create(world, prototype_of(world, "probe", "flag", NULL, NULL), probed, 3));
    return world;
}

static void set_mass(rig_t *rig, bp_world_o *world, float mass)
{
    WORKS(rig->host, rig->api->property->set_named(world, probed[1], "probe", "mass", BP_F32, &mass));
}

/* Fields of a component of the same version, one at a time as another program may declare them. */
static const bp_field_t thing_fields[] = {{.name = "x", .type = BP_U32},
                                          {.name = "y", .type = BP_U32},
                                          {.name = "x", .type = BP_I32},
                                          {.name = "x", .type = BP_U64},
                                          {.name = "x", .type = BP_U32, .flags = BP_FIELD_LIST}};
static bp_component_i thing_component = {.name = "thing"};
static const bp_component_list_t thing_list = {.items = &thing_component, .count = 1,
                                               .item_size = sizeof thing_component};

static bp_world_o *open_thing(rig_t *rig, const bp_plugin_head_t *const *plugins, uint32_t field)
{
    thing_component.fields = (bp_field_list_t){.items = &thing_fields[field], .count = 1,
                                               .item_size = sizeof thing_fields[0]};
    rig_init(rig);
    rig->desc.static_plugins = plugins;
    rig->desc.static_plugin_count = 1;
    rig_open(rig);
    WORKS(rig->host, bp_host_load_plugin(rig->host, "things", NULL, 0));
    bp_world_o *world = bp_world_create(rig->host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig->host, bp_world_use_component(world, "thing"));
    return world;
}

START_TEST(fields_that_are_declared_otherwise_are_not_brought_back)
{
    const bp_plugin_desc_t desc = {.version = "1", .components = thing_list};
    const bp_plugin_head_t head = BP_PLUGIN_HEAD("things", &desc);
    const bp_plugin_head_t *const plugins[] = {&head};
    rig_t first, second;
    bp_snapshot_o *taken, *read;
    size_t size;
    entity_with(open_thing(&first, plugins, 0), "thing");
    WORKS(first.host, bp_host_snapshot(first.host, &taken));
    const void *bytes = bp_snapshot_bytes(taken, &size);
    bp_world_o *world = open_thing(&second, plugins, (uint32_t)_i);
    for (uint32_t i = 0; i < 2; i++)
        entity_with(world, "thing");
    WORKS(second.host, bp_snapshot_read(second.host, bytes, size, &read));
    if (_i == 0)
        WORKS(second.host, bp_host_bring_back(second.host, read));
    else
        FAILS(second.host, BP_ERROR_STATE, "of component 'thing' in world 'main' is another one than when it was",
              bp_host_bring_back(second.host, read));
    WORKS(second.host, bp_world_step(world));
    ck_assert_uint_eq(second.api->entity->count(second.host), _i == 0 ? 1 : 2);
    bp_snapshot_free(read);
    bp_snapshot_free(taken);
    rig_close(&first);
    rig_close(&second);
}
END_TEST

/* Runs without rows, and the numbers of its keys, stay where a plugin has gone; its fields do not. */
START_TEST(a_plugin_that_has_gone_is_not_asked)
{
    rig_t rig;
    bp_snapshot_o *taken;
    uint8_t alive[3];
    bp_world_o *world = open_probe(&rig);
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "probe"));
    WORKS(rig.host, bp_host_snapshot(rig.host, &taken));
    rig.api->entity->destroy(rig.host, probed, 2);
    WORKS(rig.host, bp_host_bring_back(rig.host, taken));
    ck_assert_uint_eq(rig.api->entity->alive(rig.host, probed, 3, alive), 3);
    WORKS(rig.host, bp_world_step(world));
    check_host(rig.host);
    bp_snapshot_free(taken);
    rig_close(&rig);
}
END_TEST

static void use_and_drop(rig_t *rig, bp_world_o *world, const char *type)
{
    bp_entity_t entity;
    WORKS(rig->host, bp_world_use_component(world, type));
    WORKS(rig->host, rig->api->world->create(world, prototype_of(world, type, NULL, NULL, NULL), &entity, 1));
    ck_assert_uint_eq(rig->api->entity->destroy(rig->host, &entity, 1), 1);
    WORKS(rig->host, bp_world_drop_component(world, type));
}

/* Begun and ended in the world, once or several times, after the snapshot. */
START_TEST(a_component_that_came_and_went_since_leaves_no_trace_in_a_past_brought_back)
{
    rig_t rig;
    bp_snapshot_o *taken, *back;
    bp_entity_t entity;
    rig_init(&rig);
    rig_open(&rig);
    WORKS(rig.host, bp_host_load_plugin(rig.host, zoo_plugins[0]->name, NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin("reload_probe_first", "kept_probe"), NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "flag"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "flag", NULL, NULL, NULL), &entity, 1));
    WORKS(rig.host, bp_host_snapshot(rig.host, &taken));
    for (int i = 0; i < _i; i++)
        use_and_drop(&rig, world, "probe");
    WORKS(rig.host, bp_host_bring_back(rig.host, taken));
    WORKS(rig.host, bp_host_snapshot(rig.host, &back));
    EXPECT(bp_snapshot_hash(back, NULL) == bp_snapshot_hash(taken, NULL), "the host is not as it was");
    WORKS(rig.host, bp_host_bring_back(rig.host, back));
    WORKS(rig.host, bp_world_use_component(world, "probe")); /* its keys have other numbers than before */
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "probe", "flag", NULL, NULL), &entity, 1));
    bp_snapshot_free(back);
    WORKS(rig.host, bp_host_snapshot(rig.host, &back));
    rig.api->entity->destroy(rig.host, &entity, 1);
    WORKS(rig.host, bp_world_step(world));
    WORKS(rig.host, bp_host_bring_back(rig.host, back));
    ck_assert_uint_eq(rig.api->entity->alive(rig.host, &entity, 1, NULL), 1);
    check_host(rig.host);
    bp_snapshot_free(taken);
    bp_snapshot_free(back);
    rig_close(&rig);
}
END_TEST

/* The world has had `probe` twice then; only of the second time is anything left. */
START_TEST(a_past_with_components_that_have_gone_is_the_same_when_it_is_brought_back)
{
    rig_t rig;
    bp_snapshot_o *before, *taken, *back;
    rig_init(&rig);
    rig_open(&rig);
    WORKS(rig.host, bp_host_load_plugin(rig.host, zoo_plugins[0]->name, NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin("reload_probe_first", "kept_probe"), NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_host_snapshot(rig.host, &before));
    use_and_drop(&rig, world, "probe");
    WORKS(rig.host, bp_host_bring_back(rig.host, before));
    use_and_drop(&rig, world, "flag");
    use_and_drop(&rig, world, "probe");
    WORKS(rig.host, bp_host_snapshot(rig.host, &taken));
    WORKS(rig.host, bp_world_step(world));
    WORKS(rig.host, bp_host_bring_back(rig.host, taken));
    WORKS(rig.host, bp_host_snapshot(rig.host, &back));
    EXPECT(bp_snapshot_hash(back, NULL) == bp_snapshot_hash(taken, NULL), "the host is not as it was");
    check_host(rig.host);
    bp_snapshot_free(before);
    bp_snapshot_free(taken);
    bp_snapshot_free(back);
    rig_close(&rig);
}
END_TEST

/* 0: as it was; 1: gone and come again; 2: twice. The snapshot goes back and forth. */
START_TEST(a_plugin_that_has_gone_and_come_again_has_its_values_back)
{
    rig_t rig;
    bp_snapshot_o *taken, *later;
    uint8_t alive[3];
    bp_world_o *world = open_probe(&rig);
    set_mass(&rig, world, 7);
    WORKS(rig.host, bp_host_snapshot(rig.host, &taken));
    for (int i = 0; i < _i; i++) {
        WORKS(rig.host, bp_host_unload_plugin(rig.host, "probe"));
        FAILS(rig.host, BP_ERROR_STATE, "the host had 2 plugins then and has 1 now",
              bp_host_bring_back(rig.host, taken));
        WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin("reload_probe_first", "kept_probe"), NULL, 0));
    }
    bp_entity_t entity;
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "probe", NULL, NULL, NULL), &entity, 1));
    WORKS(rig.host, bp_world_step(world));
    WORKS(rig.host, bp_host_snapshot(rig.host, &later));
    for (int i = 0; i < 3; i++) {
        float mass = 0;
        WORKS(rig.host, bp_host_bring_back(rig.host, taken));
        ck_assert_uint_eq(rig.api->entity->alive(rig.host, probed, 3, alive), 3);
        ck_assert_uint_eq(rig.api->entity->alive(rig.host, &entity, 1, alive), 0);
        WORKS(rig.host, rig.api->property->get_named(world, probed[1], "probe", "mass", BP_F32, &mass));
        ck_assert(mass == 7);
        WORKS(rig.host, bp_world_step(world));
        check_host(rig.host);
        WORKS(rig.host, bp_host_bring_back(rig.host, later));
        ck_assert_uint_eq(rig.api->entity->alive(rig.host, &entity, 1, alive), 1);
        WORKS(rig.host, rig.api->property->get_named(world, entity, "probe", "mass", BP_F32, &mass));
        WORKS(rig.host, bp_world_step(world));
        check_host(rig.host);
    }
    bp_snapshot_free(taken);
    bp_snapshot_free(later);
    rig_close(&rig);
}
END_TEST

/* A reload on probation keeps what it has taken away as hidden columns. */
START_TEST(what_was_written_down_on_probation_is_brought_back_after_it)
{
    static const char *const names[] = {"probe"};
    rig_t rig;
    bp_snapshot_o *taken;
    double mass;
    bp_world_o *world = open_probe(&rig);
    set_mass(&rig, world, 7);
    rig.host->reload.probation_steps = 5;
    put_plugin("reload_probe_reshaped", "kept_probe");
    WORKS(rig.host, bp_host_reload(rig.host, names, 1, NULL));
    WORKS(rig.host, bp_host_snapshot(rig.host, &taken));
    for (uint32_t i = 0; i < (_i == 0 ? 0u : 10u); i++)
        WORKS(rig.host, bp_world_step(world));
    mass = 9;
    WORKS(rig.host, rig.api->property->set_named(world, probed[1], "probe", "mass", BP_F64, &mass));
    WORKS(rig.host, bp_host_bring_back(rig.host, taken));
    WORKS(rig.host, rig.api->property->get_named(world, probed[1], "probe", "mass", BP_F64, &mass));
    ck_assert(mass == 7);
    check_host(rig.host);
    bp_snapshot_free(taken);
    rig.log.count = 0;
    rig_close(&rig);
}
END_TEST

START_TEST(a_step_is_taken_twice_after_a_reload_too)
{
    static const char *const names[] = {"probe"};
    rig_t rig;
    bp_world_o *world = open_probe(&rig);
    set_mass(&rig, world, 7);
    rig.host->reload.probation_steps = 5;
    put_plugin("reload_probe_reshaped", "kept_probe");
    WORKS(rig.host, bp_host_reload(rig.host, names, 1, NULL));
    WORKS(rig.host, bp_host_step_twice(rig.host, 1, NULL));
    ck_assert_ptr_null(rig.host->reload.probation);
    check_host(rig.host);
    rig.log.count = 0;
    rig_close(&rig);
}
END_TEST

Suite *snapshot_suite(void)
{
    Suite *suite = suite_create("snapshot");
    TCase *tcase = tcase_create("snapshot");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, random_worlds_go_on_bit_for_bit, 0, 3);
    tcase_add_test(tcase, another_host_goes_on_as_the_first);
    tcase_add_test(tcase, damaged_snapshots_are_refused_or_good);
    tcase_add_test(tcase, an_index_that_is_free_twice_is_refused);
    tcase_add_test(tcase, a_snapshot_whose_names_are_cut_or_go_on_is_refused);
    tcase_add_test(tcase, rows_of_a_component_that_is_said_to_have_gone_are_refused);
    tcase_add_test(tcase, all_or_nothing_where_memory_fails);
    tcase_add_test(tcase, no_memory_for_the_stamps_of_a_combination_that_comes_back);
    tcase_add_test(tcase, handles_and_output);
    tcase_add_test(tcase, differences);
    tcase_add_test(tcase, rows_of_one_world_are_not_looked_for_in_the_next);
    tcase_add_test(tcase, differences_of_lists_and_texts_are_told_as_they_would_be_written);
    tcase_add_test(tcase, differences_are_told_to_whom_wants_them);
    tcase_add_test(tcase, a_component_that_has_gone_and_come_again_is_compared_once);
    tcase_add_test(tcase, a_field_is_not_taken_for_one_that_has_gone);
    tcase_add_test(tcase, the_smallest_difference_of_a_number_is_one);
    tcase_add_test(tcase, states_that_differ_are_named);
    tcase_add_test(tcase, where_hashes_differ_something_is_told);
    tcase_add_test(tcase, states_of_two_hosts_that_use_components_in_another_order_are_compared_by_type);
    tcase_add_test(tcase, values_of_two_hosts_that_met_names_in_another_order_are_compared_by_name);
    tcase_add_test(tcase, a_world_that_has_gone_is_told);
    tcase_add_test(tcase, differences_of_large_whole_numbers_are_exact);
    tcase_add_loop_test(tcase, fields_that_are_declared_otherwise_are_not_brought_back, 0, COUNT(thing_fields));
    tcase_add_loop_test(tcase, differences_of_many_rows_are_those_of_each, 0, 3);
    tcase_add_test(tcase, distances_of_numbers_that_are_no_floats_are_those_of_their_values);
    tcase_add_test(tcase, distances_of_many_cells_are_those_of_each);
    tcase_add_test(tcase, who_does_not_say_is_named);
    tcase_add_test(tcase, a_component_that_cannot_be_written_down_refuses_the_snapshot);
    tcase_add_test(tcase, a_state_that_is_made_anew_is_told_of_all_that_match);
    tcase_add_test(tcase, a_state_that_stays_since_none_can_be_made_anew_is_told_of_all_that_match);
    tcase_add_test(tcase, the_same_ids_come_once_more);
    tcase_add_loop_test(tcase, a_component_that_came_and_went_since_leaves_no_trace_in_a_past_brought_back, 0, 3);
    tcase_add_test(tcase, a_past_with_components_that_have_gone_is_the_same_when_it_is_brought_back);
    tcase_add_test(tcase, a_plugin_that_has_gone_is_not_asked);
    tcase_add_loop_test(tcase, a_plugin_that_has_gone_and_come_again_has_its_values_back, 0, 3);
    tcase_add_loop_test(tcase, what_was_written_down_on_probation_is_brought_back_after_it, 0, 2);
    tcase_add_test(tcase, a_step_is_taken_twice_after_a_reload_too);
    suite_add_tcase(suite, tcase);
    lies_add_snapshots(suite);
    return suite;
}
