/* test_shown.c - what a system that is output has been told of, wherever its world goes.
 *
 * Two such systems keep lists of what they know: of bodies, which come and go by commands of a step, and of bodies with
 * a mark, which change all the time. Nothing may be told twice or without cause; after the host has gone anywhere, and
 * at each step, what is known is what matches.
 */
#include "../suites.h"
#include "../unit/support.h"
#include "recall.h"

#include <bp_query.h>

#include <string.h>

enum { MOST = 4096, LARGE = 1 << 30 };

typedef struct shown_t {
    bp_entity_t known[MOST];
    bool seen[MOST];
    uint32_t count, runs;
    uint64_t faults, told; /* told: how many entities, again and again */
} shown_t;

static shown_t bodies_shown, marks_shown, marks_noted;

static shown_t *shown_of(const bp_system_t *s)
{
    return s->user;
}

static uint32_t find(const shown_t *shown, bp_entity_t e)
{
    uint32_t at = 0;
    while (at < shown->count && shown->known[at].id != e.id)
        at++;
    return at;
}

static void show(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    shown_t *shown = shown_of(s);
    shown->told += count;
    for (uint32_t i = 0; i < count; i++) {
        if (shown->count == MOST || find(shown, entities[i]) < shown->count)
            shown->faults++;
        else
            shown->known[shown->count++] = entities[i];
    }
}

static void hide(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    shown_t *shown = shown_of(s);
    shown->told += count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = find(shown, entities[i]);
        if (at == shown->count)
            shown->faults++;
        else
            shown->known[at] = shown->known[--shown->count];
    }
}

/* Are all of these known? They are marked as seen, each of them once: an entity may match by several instances. */
static bool sees(shown_t *shown, const bp_match_t *match)
{
    bool all = true;
    for (uint32_t i = 0; i < match->count; i++) {
        uint32_t at = match->entities[i].id == 0 ? MOST : find(shown, match->entities[i]);
        if (at < shown->count)
            shown->seen[at] = true;
        all = all && (at == MOST || at < shown->count);
    }
    return all;
}

/* Has all that is known been seen? Nothing is seen afterwards. */
static bool has_seen_all(shown_t *shown)
{
    bool all = true;
    for (uint32_t i = 0; i < shown->count; i++)
        all = all && shown->seen[i];
    memset(shown->seen, 0, sizeof shown->seen);
    return all;
}

static void run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    shown_t *shown = shown_of(s);
    (void)step;
    shown->runs++;
    for (uint32_t m = 0; m < count; m++)
        shown->faults += !sees(shown, &matches[m]);
    shown->faults += !has_seen_all(shown);
}

static bp_result_t start(bp_system_t *s)
{
    *shown_of(s) = (shown_t){.count = 0};
    return BP_OK;
}

static void stop(bp_system_t *s)
{
    (void)s;
}

static const bp_term_t bodies[] = {{.component = "body"}};
static const bp_term_t marked[] = {{.component = "body"}, {.component = "mark"}};
static const bp_system_i systems[] = {
    {.name = "bodies_shown", .terms = BP_LIST(bodies), .flags = BP_SYSTEM_OUTPUT, .start = start, .stop = stop,
     .run_all = run, .entities_added = show, .entities_removed = hide, .user = &bodies_shown},
    {.name = "marks_shown", .terms = BP_LIST(marked), .flags = BP_SYSTEM_OUTPUT, .start = start, .stop = stop,
     .run_all = run, .entities_added = show, .entities_removed = hide, .user = &marks_shown},
};
static const bp_plugin_desc_t desc = {.version = "1", .systems = BP_LIST(systems)};
/* A system without a state that is no output: it is told in the past that is computed again as it was then. */
static const bp_system_i notes[] = {{.name = "marks_noted", .terms = BP_LIST(marked), .run_all = run,
                                     .entities_added = show, .entities_removed = hide, .user = &marks_noted}};
static const bp_plugin_desc_t notary_desc = {.version = "1", .systems = BP_LIST(notes)};
static const bp_plugin_head_t notary = BP_PLUGIN_HEAD("notary", &notary_desc);
static const bp_plugin_head_t gallery = BP_PLUGIN_HEAD("gallery", &desc);

/* --- hosts -------------------------------------------------------------------------------------------------------- */

static bp_host_o *open_gallery(rig_t *rig, uint64_t budget)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin, &gallery, &notary};
    rig_init(rig);
    rig->desc.static_plugins = plugins;
    rig->desc.static_plugin_count = 3;
    rig_open(rig);
    recall_open(rig->host);
    WORKS(rig->host, bp_host_load_plugin(rig->host, "gallery", NULL, 0));
    bp_world_o *world = rig->api->world->at(rig->host, 0);
    WORKS(rig->host, bp_world_use_system(world, "bodies_shown"));
    WORKS(rig->host, bp_world_use_system(world, "marks_shown"));
    if (budget > 0)
        WORKS(rig->host, bp_host_remember(rig->host, budget));
    return rig->host;
}

static void go_on(bp_host_o *host, uint64_t from, uint64_t to)
{
    for (uint64_t step = from; step < to; step++) {
        recall_act(host, step, 5);
        WORKS(host, bp_host_step(host));
    }
}

static void expect_exact(const char *when)
{
    EXPECT(bodies_shown.faults == 0 && marks_shown.faults == 0, "%s: %llu and %llu faults", when,
           (unsigned long long)bodies_shown.faults, (unsigned long long)marks_shown.faults);
}

/* Are exactly those known that match now? */
static bool knows_present(rig_t *rig, shown_t *shown, const bp_term_list_t *terms)
{
    const bp_query_api *queries = rig->api->registry->find(rig->host, BP_QUERY_API, 1);
    const bp_match_t *match;
    bp_query_o *query;
    bool all = true;
    WORKS(rig->host, queries->make(rig->api->world->at(rig->host, 0), NULL, terms, 0, &query));
    WORKS(rig->host, queries->begin(query, 0));
    while ((match = queries->next(query)) != NULL)
        all = sees(shown, match) && all;
    queries->end(query);
    return has_seen_all(shown) && all;
}

static void expect_present(rig_t *rig, const char *when)
{
    expect_exact(when);
    EXPECT(knows_present(rig, &bodies_shown, &(bp_term_list_t)BP_LIST(bodies)) &&
               knows_present(rig, &marks_shown, &(bp_term_list_t)BP_LIST(marked)),
           "%s: %u and %u are known", when, bodies_shown.count, marks_shown.count);
}

/* In how many entities what is known differs from what was known then. */
static uint64_t count_changes(const shown_t *then, const shown_t *now)
{
    uint64_t common = 0;
    for (uint32_t i = 0; i < now->count; i++)
        common += find(then, now->known[i]) < then->count;
    return then->count + now->count - 2 * common;
}

/* Nothing was told but the difference. */
static void expect_told_the_difference(const shown_t *then, const char *when)
{
    EXPECT(bodies_shown.told - then->told == count_changes(then, &bodies_shown), "%s: told of %llu, and not of %llu",
           when, (unsigned long long)(bodies_shown.told - then->told),
           (unsigned long long)count_changes(then, &bodies_shown));
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

START_TEST(output_that_goes_to_another_time_is_told_exactly_of_the_difference)
{
    rig_t rig;
    bp_host_o *host = open_gallery(&rig, UINT64_C(1) << 30);
    uint64_t random = (uint64_t)_i + 1, last = 40, hashes[41];
    for (uint64_t step = 0; step < last; step++) {
        hashes[step] = recall_hash(host);
        go_on(host, step, step + 1);
    }
    expect_exact("going on");
    EXPECT(bodies_shown.count > 10 && marks_shown.count > 0, "nothing to be seen");
    for (uint32_t i = 0; i < 40; i++) {
        uint64_t moment = bp_random_below(&random, (uint32_t)last + 1), steps = bp_random_below(&random, 4);
        WORKS(host, bp_host_go(host, moment));
        expect_present(&rig, "another time");
        for (; i % 2 == 1 && steps > 0 && moment < 40; steps--) { /* what other systems are told is what it was */
            ck_assert_uint_eq(recall_hash(host), hashes[moment]);
            go_on(host, moment, moment + 1);
            expect_exact("going on from there");
            last = ++moment;
        }
    }
    recall_close(&rig);
}
END_TEST

START_TEST(output_is_told_of_nothing_while_the_past_is_computed_again)
{
    static shown_t then;
    rig_t rig;
    bp_host_o *host = open_gallery(&rig, UINT64_C(1) << 30);
    bp_host_keyframe_every(host, LARGE);
    go_on(host, 0, 40);
    then = bodies_shown;
    WORKS(host, bp_host_go(host, 39));
    expect_present(&rig, "a step back");
    expect_told_the_difference(&then, "a step back");
    EXPECT(bodies_shown.runs == 40, "%u runs", bodies_shown.runs);
    then = bodies_shown;
    WORKS(host, bp_host_go(host, 39));
    EXPECT(bodies_shown.told == then.told && bodies_shown.count == then.count, "told of nothing new");
    recall_close(&rig);
}
END_TEST

/* What is known does not reach the results: a moment has the same hash wherever the host has been. */
START_TEST(a_moment_has_one_hash_whatever_output_has_been_told)
{
    rig_t rig;
    bp_host_o *host = open_gallery(&rig, UINT64_C(1) << 30);
    go_on(host, 0, 20);
    uint64_t then = recall_hash(host);
    go_on(host, 20, 40);
    uint64_t now = recall_hash(host);
    WORKS(host, bp_host_go(host, 20));
    ck_assert_uint_eq(recall_hash(host), then);
    WORKS(host, bp_host_go(host, 40));
    ck_assert_uint_eq(recall_hash(host), now);
    recall_close(&rig);
}
END_TEST

/* Of how many entities output is told in 40 steps, each of them taken once or twice. */
static uint64_t count_told(uint64_t budget, bool twice)
{
    rig_t rig;
    bp_host_o *host = open_gallery(&rig, budget);
    for (uint64_t step = 0; step < 40; step++) {
        recall_act(host, step, 5);
        WORKS(host, twice ? bp_host_step_twice(host, 1, NULL) : bp_host_step(host));
        expect_exact("a step");
    }
    EXPECT(bodies_shown.runs == 40 && bodies_shown.count > 10, "%u runs", bodies_shown.runs);
    recall_close(&rig);
    return bodies_shown.told + marks_shown.told;
}

START_TEST(output_of_a_step_taken_twice_is_told_once)
{
    uint64_t budget = _i == 0 ? 0 : UINT64_C(1) << 30, once = count_told(budget, false);
    ck_assert_uint_eq(count_told(budget, true), once);
}
END_TEST

START_TEST(output_of_a_snapshot_brought_back_is_told_of_the_difference)
{
    rig_t rig;
    bp_host_o *host = open_gallery(&rig, 0);
    bp_snapshot_o *early, *late;
    go_on(host, 0, 10);
    WORKS(host, bp_host_snapshot(host, &early));
    go_on(host, 10, 40);
    WORKS(host, bp_host_snapshot(host, &late));
    for (uint32_t i = 0; i < 4; i++) {
        WORKS(host, bp_host_bring_back(host, i % 2 == 0 ? early : late));
        expect_present(&rig, "brought back");
        if (i >= 2)
            go_on(host, 40, 45);
        expect_exact("going on");
    }
    bp_snapshot_free(early);
    bp_snapshot_free(late);
    recall_close(&rig);
}
END_TEST

/* Changes that others are still to be told of stay as they are while output is told: one that is taken back before the
 * next step is told to nobody. */
START_TEST(what_others_are_still_to_be_told_of_stays_as_it_is)
{
    rig_t rig;
    bp_snapshot_o *snapshot;
    bp_entity_t e[4];
    bp_host_o *host = open_gallery(&rig, 0);
    const bp_world_api *worlds = rig.api->world;
    bp_world_o *world = worlds->at(host, 1); /* nothing happens there by itself */
    WORKS(host, bp_host_load_plugin(host, "notary", NULL, 0));
    WORKS(host, bp_world_use_system(world, "marks_noted"));
    for (uint32_t i = 0; i < COUNT(systems); i++) {
        WORKS(host, bp_world_drop_system(worlds->at(host, 0), systems[i].name));
        WORKS(host, bp_world_use_system(world, systems[i].name));
    }
    WORKS(host, bp_world_drop_system(world, "breed"));
    uint32_t mark = key_of(world, "mark", "");
    WORKS(host, worlds->create(world, prototype_of(world, "body", NULL, NULL, NULL), e, 4));
    WORKS(host, worlds->add(world, mark, e, 2));
    WORKS(host, bp_host_step(host));
    ck_assert_uint_eq(marks_noted.count, 2);
    WORKS(host, worlds->remove(world, mark, e, 1));
    WORKS(host, worlds->add(world, mark, e + 2, 1)); /* the other way: each entry is looked for from now on */
    WORKS(host, bp_host_snapshot(host, &snapshot));
    WORKS(host, bp_host_bring_back(host, snapshot)); /* where it is */
    EXPECT(marks_shown.count == 2 && marks_noted.count == 2, "%u, %u", marks_shown.count, marks_noted.count);
    WORKS(host, worlds->add(world, mark, e, 1));
    WORKS(host, worlds->remove(world, mark, e + 2, 1));
    uint64_t told = marks_noted.told;
    WORKS(host, bp_host_step(host));
    EXPECT(marks_noted.told == told && marks_noted.faults == 0, "told of what was taken back");
    EXPECT(marks_shown.count == 2 && marks_shown.faults == 0, "%u", marks_shown.count);
    bp_snapshot_free(snapshot);
    recall_close(&rig);
}
END_TEST

/* Output in another host knows nothing of what the first one was told. */
START_TEST(output_of_another_host_is_told_of_everything_in_a_snapshot)
{
    rig_t rig, other;
    bp_snapshot_o *snapshot, *read;
    size_t size;
    bp_host_o *host = open_gallery(&rig, 0);
    go_on(host, 0, 40);
    WORKS(host, bp_host_snapshot(host, &snapshot));
    const void *bytes = bp_snapshot_bytes(snapshot, &size);
    bp_host_o *second = open_gallery(&other, 0);
    WORKS(second, bp_snapshot_read(second, bytes, size, &read));
    WORKS(second, bp_host_bring_back(second, read));
    expect_present(&other, "read in another host");
    EXPECT(bodies_shown.count > 10, "nothing to be seen");
    go_on(second, 40, 45);
    expect_exact("going on there");
    bp_snapshot_free(read);
    recall_close(&other);
    bp_snapshot_free(snapshot);
    recall_close(&rig);
}
END_TEST

/* Where memory lacks at any place of the way, what is told stays exact. */
START_TEST(output_is_told_exactly_where_memory_lacks_on_the_way)
{
    rig_t rig;
    bp_host_o *host = open_gallery(&rig, UINT64_C(1) << 30);
    uint64_t failures = 0, steps = 40;
    go_on(host, 0, steps);
    for (uint64_t at = (uint64_t)_i + 1; at < 400; at += 7) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + at;
        failures += bp_host_go(host, at % 2 == 0 ? 5 : 38) != BP_OK;
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        expect_exact("memory lacks");
        WORKS(host, bp_host_go(host, steps));
        expect_present(&rig, "after it");
    }
    EXPECT(failures > 0, "memory did not lack");
    recall_close(&rig);
}
END_TEST

Suite *shown_suite(void)
{
    Suite *suite = suite_create("shown");
    TCase *tcase = tcase_create("output");
    tcase_add_loop_test(tcase, output_that_goes_to_another_time_is_told_exactly_of_the_difference, 0, 4);
    tcase_add_test(tcase, output_is_told_of_nothing_while_the_past_is_computed_again);
    tcase_add_test(tcase, a_moment_has_one_hash_whatever_output_has_been_told);
    tcase_add_loop_test(tcase, output_of_a_step_taken_twice_is_told_once, 0, 2);
    tcase_add_test(tcase, output_of_a_snapshot_brought_back_is_told_of_the_difference);
    tcase_add_test(tcase, what_others_are_still_to_be_told_of_stays_as_it_is);
    tcase_add_test(tcase, output_of_another_host_is_told_of_everything_in_a_snapshot);
    tcase_add_loop_test(tcase, output_is_told_exactly_where_memory_lacks_on_the_way, 0, 7);
    suite_add_tcase(suite, tcase);
    return suite;
}
