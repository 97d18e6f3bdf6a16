/* test_history.c - going to any step that is remembered gives what was there, whatever came from outside in between. */
#include "../suites.h"
#include "../unit/support.h"
#include "engine/host.h"
#include "recall.h"

#include <bp_clock.h>
#include <bp_history.h>
#include <bp_query.h>

#include <stdlib.h>
#include <string.h>

enum { STEPS = 80, VISITS = 60, CROWD = 4000 };

#define LARGE (UINT64_C(1) << 30) /* a budget that is never full */

/* So many bodies more: enough for keyframes to hold them in pieces. */
static void add_crowd(bp_host_o *host, uint32_t count)
{
    const bp_api_t *api = bp_host_api(host);
    bp_world_o *world = api->world->at(host, 0);
    static bp_entity_t entities[CROWD];
    uint32_t key, prototype;
    EXPECT(api->world->key(world, api->world->component(world, "body"), 0, &key) == BP_OK, "key");
    EXPECT(api->world->prototype(world, &key, 1, &prototype) == BP_OK, "prototype");
    WORKS(host, api->world->create(world, prototype, entities, count));
}

static void open_host(rig_t *rig, uint32_t threads, uint64_t budget, uint32_t crowd)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin};
    rig_init(rig);
    if (threads > 1)
        rig->desc.allocator = NULL; /* the rig's heap is for one thread */
    rig->desc.static_plugins = plugins;
    rig->desc.static_plugin_count = 1;
    rig->desc.threads = threads;
    rig_open(rig);
    recall_open(rig->host);
    add_crowd(rig->host, crowd);
    WORKS(rig->host, bp_host_remember(rig->host, budget));
}

static bp_result_t try_step(bp_host_o *host, uint64_t i)
{
    return i % 5 == 4 ? bp_world_step(bp_host_api(host)->world->at(host, 1)) : bp_host_step(host);
}

static void take_step(bp_host_o *host, uint64_t i)
{
    WORKS(host, try_step(host, i));
}

static void run(bp_host_o *host, uint64_t hashes[STEPS + 1], uint64_t seed, uint32_t every)
{
    hashes[0] = recall_hash(host);
    for (uint64_t i = 0; i < STEPS; i++) {
        if (i % every == 1 % every)
            recall_act(host, i, seed);
        take_step(host, i);
        hashes[i + 1] = recall_hash(host);
    }
}

/* A host that remembers, and where it is gone to. */
typedef struct visits_t {
    uint32_t threads, every; /* steps from act to act */
    uint64_t seed, budget;
    uint32_t keyframes_ms, crowd, count;
} visits_t;

static void visit(visits_t how)
{
    uint32_t threads = how.threads, every = how.every, keyframes_ms = how.keyframes_ms, crowd = how.crowd;
    uint64_t seed = how.seed, budget = how.budget;
    uint64_t without[STEPS + 1], hashes[STEPS + 1], random = seed;
    uint32_t impossible = 0;
    rig_t rig;
    open_host(&rig, 1, 0, crowd);
    run(rig.host, without, seed, every);
    recall_close(&rig);
    open_host(&rig, threads, budget, crowd);
    bp_host_o *host = rig.host;
    bp_host_keyframe_every(host, keyframes_ms);
    run(host, hashes, seed, every);
    EXPECT(memcmp(hashes, without, sizeof hashes) == 0, "a host that remembers goes another way");
    for (uint32_t v = 0; v < how.count; v++) {
        bp_history_t h = recall_history(host);
        EXPECT(h.bytes <= budget && h.last == STEPS, "%llu bytes", (unsigned long long)h.bytes);
        uint64_t moment = h.first + bp_random_below(&random, (uint32_t)(h.last - h.first + 1));
        if (bp_host_go(host, moment) != BP_OK) {
            EXPECT(strstr(bp_host_error(host), "cannot be computed any more") != NULL, "%s", bp_host_error(host));
            impossible++;
            continue;
        }
        EXPECT(recall_history(host).now == moment, "it is elsewhere");
        EXPECT(recall_hash(host) == hashes[moment], "seed %llu, visit %u: moment %llu is not what it was",
               (unsigned long long)seed, v, (unsigned long long)moment);
        uint32_t along = budget > 1 << 22 && v % 4 == 0 ? bp_random_below(&random, 5) : 0;
        for (; along > 0 && recall_history(host).now < STEPS; along--) {
            moment = recall_history(host).now;
            take_step(host, moment);
            EXPECT(recall_hash(host) == hashes[moment + 1], "seed %llu, visit %u: along to %llu it is not what it was",
                   (unsigned long long)seed, v, (unsigned long long)moment + 1);
        }
    }
    EXPECT(impossible < how.count, "nowhere could be gone to");
    WORKS(host, bp_host_go(host, STEPS));
    EXPECT(recall_hash(host) == hashes[STEPS], "the end is another one");
    recall_close(&rig);
}

START_TEST(any_step_is_what_it_was)
{
    static const uint32_t threads[] = {1, 2, 4};
    visit((visits_t){threads[_i], 1, 11, LARGE, 1000, 0, VISITS});
    visit((visits_t){threads[_i], 9, 12, LARGE, 1000, 0, VISITS});
}
END_TEST

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { PASTS = 6, LACKING_VISITS = 20, USUAL_VISITS = 20, CROWDS = 2, CROWD_VISITS = 10 };
#else
enum { PASTS = 17, LACKING_VISITS = 60, USUAL_VISITS = 200, CROWDS = 4, CROWD_VISITS = VISITS };
#endif

/* Each keyframe shares what the stamps say is the same, and is brought back. */
START_TEST(what_keyframes_share_is_what_was)
{
    static const uint32_t threads[] = {1, 2, 4};
    for (uint64_t seed = 20; seed < 20 + CROWDS; seed++)
        visit((visits_t){threads[_i], 1 + (uint32_t)seed % 3, seed, LARGE, 0, CROWD, CROWD_VISITS});
}
END_TEST

/* From keyframes at every step, and from the few that a small budget leaves: 200 visits of each past, on 1, 2 and 4
 * threads together 10,200. HISTORY_VISITS is another number of them; `make proofs` takes 10,000. An emulated processor
 * makes few. */
START_TEST(many_visits_of_many_pasts)
{
    static const uint32_t threads[] = {1, 2, 4};
    const char *given = getenv("HISTORY_VISITS");
    uint32_t usual = getenv("TESTS_EMULATED") == NULL ? USUAL_VISITS : 20;
    uint32_t visits = given != NULL ? (uint32_t)strtoul(given, NULL, 10) : usual;
    for (uint64_t seed = 100; seed < 100 + PASTS; seed++)
        visit((visits_t){threads[_i], 1 + (uint32_t)seed % 4, seed, seed % 3 == 0 ? 300000 : LARGE, 0, 0, visits});
}
END_TEST

START_TEST(a_small_budget_holds)
{
    visit((visits_t){1, 3, 13, 600000, 1000, 0, VISITS});
    visit((visits_t){1, 3, 14, 4000000, 0, CROWD, VISITS});
}
END_TEST

/* --- sharing ------------------------------------------------------------------------------------------------------ */

enum { MANY = 20000, MOVED = 12, DAY = 24 * 3600 };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { WEEK = DAY }; /* a day of it, which takes as long as the week does else */
#else
enum { WEEK = 7 * DAY };
#endif

static bp_entity_t moving[MANY];

static void open_moving(rig_t *rig, uint32_t count)
{
    uint32_t key, prototype;
    rig_init(rig);
    rig_open(rig);
    WORKS(rig->host, bp_host_load_plugin(rig->host, "zoo", NULL, 0));
    bp_world_o *world = bp_world_create(rig->host, &(bp_world_desc_t){.name = "main", .step_rate = 60});
    WORKS(rig->host, bp_world_use_component(world, "body"));
    EXPECT(rig->api->world->key(world, rig->api->world->component(world, "body"), 0, &key) == BP_OK, "key");
    EXPECT(rig->api->world->prototype(world, &key, 1, &prototype) == BP_OK, "prototype");
    WORKS(rig->host, rig->api->world->create(world, prototype, moving, count));
}

/* Positions move in each step, and are kept once more; masses, velocities and ids are not. */
START_TEST(keyframes_share_what_nobody_wrote)
{
    rig_t rig;
    open_moving(&rig, MANY);
    WORKS(rig.host, bp_host_remember(rig.host, UINT64_C(1) << 30));
    bp_host_keyframe_every(rig.host, 0);
    WORKS(rig.host, bp_host_step(rig.host));
    uint64_t one = recall_history(rig.host).bytes;
    for (uint32_t i = 0; i < 50; i++)
        WORKS(rig.host, bp_host_step(rig.host));
    uint64_t more = (recall_history(rig.host).bytes - one) / 50;
    EXPECT(recall_history(rig.host).keyframes == 52, "%u keyframes", recall_history(rig.host).keyframes);
    EXPECT(one > 4 * MANY * MOVED && more >= MANY * MOVED && more < MANY * MOVED + 8192, "one %llu, one more %llu",
           (unsigned long long)one, (unsigned long long)more);
    rig_close(&rig);
}
END_TEST

START_TEST(an_ini_that_says_nothing_of_keyframes_leaves_them_as_often_as_they_were)
{
    rig_t rig;
    open_moving(&rig, 10);
    WORKS(rig.host, bp_host_remember(rig.host, UINT64_C(1) << 30));
    bp_host_keyframe_every(rig.host, 0);
    WORKS(rig.host, bp_host_setup(rig.host, scratch_file("quiet.ini", "[world quiet]\n")));
    for (uint32_t i = 0; i < 20; i++)
        WORKS(rig.host, bp_host_step(rig.host));
    ck_assert_uint_ge(recall_history(rig.host).keyframes, 20);
    rig.log.text[0] = '\0'; /* the past begins anew where a world comes */
    rig.log.count = 0;
    rig_close(&rig);
}
END_TEST

/* A keyframe for each second of a week: the past is the whole week, coarser with its age, and what the host takes never
 * exceeds what it takes without a past by more than the budget. */
START_TEST(a_week_fits_into_a_fixed_budget)
{
    const uint64_t budget = 1 << 20;
    rig_t rig;
    open_moving(&rig, 100);
    for (uint32_t i = 0; i < 100; i++)
        WORKS(rig.host, bp_host_step(rig.host));
    size_t without = rig.heap.bytes, most = 0;
    WORKS(rig.host, bp_host_remember(rig.host, budget));
    bp_host_keyframe_every(rig.host, 0);
    for (uint32_t i = 0; i < WEEK; i++) {
        WORKS(rig.host, bp_host_step(rig.host));
        most = rig.heap.bytes > most ? rig.heap.bytes : most;
    }
    bp_history_t h = recall_history(rig.host);
    EXPECT(most - without <= budget, "%zu bytes more than without a past", most - without);
    EXPECT(h.first == 100 && h.last == WEEK + 100, "from %llu to %llu", (unsigned long long)h.first,
           (unsigned long long)h.last);
    EXPECT(h.keyframes > 100 && h.bytes > budget / 2, "%u keyframes in %llu bytes", h.keyframes,
           (unsigned long long)h.bytes);
    for (uint64_t ago = 1; ago < WEEK / 2; ago *= 2) {
        WORKS(rig.host, bp_host_go(rig.host, h.last - ago));
        WORKS(rig.host, bp_host_go(rig.host, h.last));
    }
    rig_close(&rig);
}
END_TEST

START_TEST(more_calls_at_one_moment_than_a_keyframe_takes_give_way_to_a_keyframe)
{
    enum { BODIES = 3000 };
    static float masses[BODIES];
    bp_property_t mass;
    rig_t rig;
    open_moving(&rig, BODIES);
    bp_world_o *world = rig.api->world->at(rig.host, 0);
    WORKS(rig.host, rig.api->property->resolve(world, moving[0], "body", "mass", &mass));
    WORKS(rig.host, bp_host_remember(rig.host, UINT64_C(1) << 30));
    bp_host_keyframe_every(rig.host, 1000000000);
    for (uint32_t turn = 0; turn < 3; turn++) {
        uint32_t before = recall_history(rig.host).keyframes;
        for (uint32_t k = 0; k < (turn == 1 ? 20u : 1u); k++) {
            masses[k + turn] += 1;
            WORKS(rig.host, rig.api->property->set(world, &mass, moving, BODIES, masses, sizeof *masses));
        }
        WORKS(rig.host, bp_host_step(rig.host));
        EXPECT(recall_history(rig.host).keyframes == before + (turn == 1), "turn %u: %u keyframes after %u", turn,
               recall_history(rig.host).keyframes, before);
    }
    uint64_t last = recall_hash(rig.host);
    for (uint64_t moment = 3; moment > 0; moment--)
        WORKS(rig.host, bp_host_go(rig.host, moment - 1));
    WORKS(rig.host, bp_host_go(rig.host, 3));
    EXPECT(recall_hash(rig.host) == last, "the end is another one");
    rig_close(&rig);
}
END_TEST

/* A host that stands still may go to where it is again and again: what came is put down each time, and counts as that
 * of one moment. */
START_TEST(calls_at_one_moment_that_are_put_down_one_by_one_give_way_to_a_keyframe_too)
{
    enum { BODIES = 3000, TURNS = 60 };
    static float masses[BODIES];
    bp_property_t mass;
    rig_t rig;
    open_moving(&rig, BODIES);
    bp_world_o *world = rig.api->world->at(rig.host, 0);
    WORKS(rig.host, rig.api->property->resolve(world, moving[0], "body", "mass", &mass));
    WORKS(rig.host, bp_host_remember(rig.host, UINT64_C(1) << 30));
    bp_host_keyframe_every(rig.host, 1000000000);
    WORKS(rig.host, bp_host_step(rig.host));
    size_t before = rig.heap.bytes;
    for (uint32_t k = 0; k < TURNS; k++) {
        masses[k] += 1;
        WORKS(rig.host, rig.api->property->set(world, &mass, moving, BODIES, masses, sizeof *masses));
        WORKS(rig.host, bp_host_go(rig.host, recall_history(rig.host).now));
    }
    EXPECT(rig.heap.bytes < before + (1 << 20), "%zu bytes for calls of one moment", rig.heap.bytes - before);
    uint64_t last = recall_hash(rig.host);
    WORKS(rig.host, bp_host_go(rig.host, 0));
    WORKS(rig.host, bp_host_go(rig.host, 1));
    EXPECT(recall_hash(rig.host) == last, "the end is another one");
    rig_close(&rig);
}
END_TEST

/* A past of some steps, and what its moments are. */
typedef struct kept_past_t {
    rig_t rig;
    uint64_t hashes[12];
} kept_past_t;

static void open_past(kept_past_t *p)
{
    open_host(&p->rig, 1, LARGE, 0);
    WORKS(p->rig.host, bp_host_mark(p->rig.host, "here"));
    for (uint64_t i = 0; i + 1 < COUNT(p->hashes); i++) {
        p->hashes[i] = recall_hash(p->rig.host);
        recall_act(p->rig.host, i, 5);
        WORKS(p->rig.host, bp_host_step(p->rig.host));
    }
    p->hashes[COUNT(p->hashes) - 1] = recall_hash(p->rig.host);
}

/* All moments are there as before, and steps from the last one on too. */
static void expect_past(kept_past_t *p)
{
    uint64_t last = COUNT(p->hashes) - 1;
    bp_history_t h = recall_history(p->rig.host);
    EXPECT(h.first == 0 && h.last >= last && h.budget == LARGE, "from %u to %u", (uint32_t)h.first, (uint32_t)h.last);
    for (uint64_t moment = last; moment > 0; moment--) {
        WORKS(p->rig.host, bp_host_go(p->rig.host, moment - 1));
        EXPECT(recall_hash(p->rig.host) == p->hashes[moment - 1], "moment %u is another one", (uint32_t)moment - 1);
    }
    WORKS(p->rig.host, bp_host_go(p->rig.host, h.last));
}

START_TEST(a_past_stays_where_another_one_cannot_begin)
{
    kept_past_t p;
    uint32_t refused = 0;
    open_past(&p);
    FAILS(p.rig.host, BP_ERROR_LIMIT, "history has room for 2000", bp_host_remember(p.rig.host, 2000));
    expect_past(&p);
    for (size_t nth = 1;; nth++) {
        p.rig.heap.refuse_first = p.rig.heap.refuse_last = p.rig.heap.requests + nth;
        bp_result_t result = bp_host_remember(p.rig.host, LARGE / 2);
        bool was = p.rig.heap.requests >= p.rig.heap.refuse_first;
        p.rig.heap.refuse_first = p.rig.heap.refuse_last = 0;
        if (result == BP_OK)
            EXPECT(recall_history(p.rig.host).budget == LARGE / 2, "request %zu: the past is the old one", nth);
        if (result == BP_OK && !was)
            break;
        if (result == BP_OK) { /* it can do without that */
            recall_close(&p.rig);
            open_past(&p);
            continue;
        }
        refused++;
        ck_assert_int_eq(result, BP_ERROR_MEMORY);
        expect_past(&p);
    }
    ck_assert_uint_gt(refused, 5);
    bp_history_t h = recall_history(p.rig.host);
    EXPECT(h.first == h.last && h.keyframes == 1, "the past does not begin anew");
    for (uint64_t i = 0; i < 3; i++)
        WORKS(p.rig.host, bp_host_step(p.rig.host));
    uint64_t end = recall_hash(p.rig.host);
    WORKS(p.rig.host, bp_host_go(p.rig.host, h.first));
    WORKS(p.rig.host, bp_host_go(p.rig.host, h.first + 3));
    EXPECT(recall_hash(p.rig.host) == end, "the end is another one");
    recall_close(&p.rig);
}
END_TEST

/* An ini that fails in the end, with a world that has come and goes again, or without. */
START_TEST(a_past_stays_where_another_ini_is_refused)
{
    static const char *const inis[] = {
        "[host]\nhistory = 1 KiB\n",
        ("[host]\nhistory = 1 KiB\n[world another]\ncomponents = body\n"
         "[spawn another some]\ncount = 50\ncomponents = body\n"),
        "[world another]\ncomponents = nothing_like_it\n",
    };
    kept_past_t p;
    open_past(&p);
    const char *ini = scratch_file("another.ini", inis[_i]);
    bp_result_t result = bp_host_setup(p.rig.host, ini);
    EXPECT(result == (_i < 2 ? BP_ERROR_LIMIT : BP_ERROR_NOT_FOUND), "%s", bp_host_error(p.rig.host));
    uint64_t last = recall_history(p.rig.host).last;
    for (uint64_t i = 0; i < 3; i++) {
        recall_act(p.rig.host, last + i, 5);
        WORKS(p.rig.host, bp_host_step(p.rig.host));
    }
    uint64_t end = recall_hash(p.rig.host);
    expect_past(&p);
    EXPECT(recall_hash(p.rig.host) == end, "the end is another one");
    recall_close(&p.rig);
}
END_TEST

/* Worlds that step in turn, with no keyframe on the way: each step is another entry of the list of steps. */
START_TEST(a_list_of_steps_does_not_exceed_the_budget_between_keyframes)
{
    enum { TURNS = 20000 };
    const uint64_t budget = 100000;
    rig_t rig;
    open_moving(&rig, 100);
    ck_assert_ptr_nonnull(bp_world_create(rig.host, &(bp_world_desc_t){.name = "beside"}));
    for (uint32_t i = 0; i < 10; i++)
        WORKS(rig.host, bp_host_step(rig.host));
    size_t without = rig.heap.bytes, most = 0;
    WORKS(rig.host, bp_host_remember(rig.host, budget));
    bp_host_keyframe_every(rig.host, 1000000000);
    for (uint32_t i = 0; i < TURNS; i++) {
        WORKS(rig.host, bp_world_step(rig.api->world->at(rig.host, i % 2)));
        most = rig.heap.bytes > most ? rig.heap.bytes : most;
    }
    EXPECT(most - without <= budget, "%zu bytes of %zu", most - without, (size_t)budget);
    bp_history_t h = recall_history(rig.host);
    EXPECT(h.last == TURNS + 10 && h.first < h.last - 500, "from %llu to %llu", (unsigned long long)h.first,
           (unsigned long long)h.last);
    uint64_t end = recall_hash(rig.host);
    WORKS(rig.host, bp_host_go(rig.host, h.first));
    WORKS(rig.host, bp_host_go(rig.host, h.last));
    EXPECT(recall_hash(rig.host) == end, "the end is another one");
    rig_close(&rig);
}
END_TEST

/* Budgets that differ by less than what each small part of the past takes: where one is not counted, one of the budgets
 * is exceeded. */
START_TEST(no_budget_is_exceeded_by_a_byte)
{
    for (uint64_t budget = 60000; budget < 64000; budget += 60) {
        rig_t rig;
        open_moving(&rig, 100);
        for (uint32_t i = 0; i < 10; i++)
            WORKS(rig.host, bp_host_step(rig.host));
        size_t without = rig.heap.bytes, most = 0;
        WORKS(rig.host, bp_host_remember(rig.host, budget));
        bp_host_keyframe_every(rig.host, 0);
        for (uint32_t i = 0; i < 40; i++) {
            WORKS(rig.host, bp_host_step(rig.host));
            most = rig.heap.bytes > most ? rig.heap.bytes : most;
        }
        EXPECT(most - without <= budget && most - without > budget - 8000, "%zu bytes of %zu", most - without,
               (size_t)budget);
        rig_close(&rig);
    }
}
END_TEST

/* Large texts that come from outside, one before each step, take most of the budget: then the oldest steps go with
 * theirs, and the rest of the past is what it was. */
START_TEST(the_oldest_past_goes_where_calls_take_most_of_the_budget)
{
    enum { TAKEN = 200, TEXT = 4000 };
    static char text[TEXT];
    const char *value = text;
    uint64_t hashes[TAKEN + 1];
    rig_t rig;
    open_host(&rig, 1, 300000, 0);
    bp_host_o *host = rig.host;
    bp_world_o *world = rig.api->world->at(host, 0);
    bp_entity_t e = {0};
    bp_host_keyframe_every(host, 0);
    for (uint32_t i = 0; i < TAKEN; i++) {
        memset(text, 'a' + (int)(i % 26), TEXT - 1);
        hashes[i] = recall_hash(host);
        if (rig.api->entity->alive(host, &e, 1, NULL) == 0)
            e = entity_with(world, "body");
        WORKS(host, rig.api->property->set_named(world, e, "body", "tag", BP_STRING, &value));
        WORKS(host, bp_host_step(host));
        bp_history_t h = recall_history(host);
        EXPECT(h.bytes <= h.budget, "step %u: %llu bytes", i, (unsigned long long)h.bytes);
    }
    hashes[TAKEN] = recall_hash(host);
    bp_history_t h = recall_history(host);
    EXPECT(h.first > TAKEN / 2 && h.first < TAKEN - 10 && h.last == TAKEN && h.keyframes > 1,
           "from %llu to %llu with %u keyframes", (unsigned long long)h.first, (unsigned long long)h.last, h.keyframes);
    FAILS(host, BP_ERROR_NOT_FOUND, "", bp_host_go(host, h.first - 1));
    for (uint64_t moment = h.last - 1; moment > h.first; moment--) {
        WORKS(host, bp_host_go(host, moment));
        EXPECT(recall_hash(host) == hashes[moment], "moment %u is not what it was", (uint32_t)moment);
    }
    recall_close(&rig);
}
END_TEST

/* A past that begins anew at an earlier moment knows nothing of which worlds took the steps after that moment once. */
START_TEST(a_past_that_begins_anew_has_its_own_steps)
{
    uint64_t hashes[7];
    rig_t rig;
    bp_snapshot_o *taken;
    open_host(&rig, 1, LARGE, 0);
    bp_host_o *host = rig.host;
    bp_world_o *side = rig.api->world->at(host, 1);
    WORKS(host, bp_host_snapshot(host, &taken));
    for (uint32_t i = 0; i < 5; i++)
        WORKS(host, bp_host_step(host));
    WORKS(host, bp_world_step(side));
    WORKS(host, bp_host_go(host, 2));
    WORKS(host, bp_host_bring_back(host, taken));
    for (uint32_t i = 0; i < 6; i++) {
        hashes[i] = recall_hash(host);
        WORKS(host, i % 2 == 0 ? bp_world_step(side) : bp_host_step(host));
    }
    hashes[6] = recall_hash(host);
    bp_history_t h = recall_history(host);
    for (uint64_t i = 0; i < 7; i++) {
        WORKS(host, bp_host_go(host, h.last - i));
        EXPECT(recall_hash(host) == hashes[6 - i], "%u steps before the last it is not what it was", (uint32_t)i);
    }
    bp_snapshot_free(taken);
    recall_close(&rig);
}
END_TEST

START_TEST(output_is_left_out_and_told)
{
    rig_t rig;
    open_host(&rig, 1, UINT64_C(1) << 30, 0);
    for (uint32_t i = 0; i < 20; i++)
        WORKS(rig.host, bp_host_step(rig.host));
    EXPECT(recall_scribe->runs == 20, "it runs");
    WORKS(rig.host, bp_host_go(rig.host, 12));
    EXPECT(recall_scribe->runs == 20 && recall_scribe->last == 12, "it is left out, and told");
    WORKS(rig.host, bp_host_go(rig.host, 20));
    EXPECT(recall_scribe->runs == 28 && recall_scribe->last == 20, "forward it sees every step");
    recall_close(&rig);
}
END_TEST

START_TEST(the_first_change_begins_another_future)
{
    rig_t rig;
    uint64_t moment;
    open_host(&rig, 1, UINT64_C(1) << 30, 0);
    bp_host_o *host = rig.host;
    bp_entity_t e = entity_with(bp_host_api(host)->world->at(host, 0), "body");
    for (uint32_t i = 0; i < 10; i++)
        WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_mark(host, "late"));
    WORKS(host, bp_host_go(host, 4));
    WORKS(host, bp_host_mark(host, "here"));
    WORKS(host, bp_host_step(host));
    EXPECT(recall_history(host).now == 5 && recall_history(host).last == 10, "a step alone goes along");
    bp_host_api(host)->entity->destroy(host, &e, 1);
    EXPECT(recall_history(host).last == 5, "a change begins another future");
    WORKS(host, bp_host_marked(host, "here", &moment));
    EXPECT(moment == 4, "the mark");
    FAILS(host, BP_ERROR_NOT_FOUND, "late", bp_host_marked(host, "late", &moment));
    WORKS(host, bp_host_step(host));
    FAILS(host, BP_ERROR_NOT_FOUND, "those from 0 to 6 are", bp_host_go(host, 7));
    WORKS(host, bp_host_go(host, 0));
    WORKS(host, bp_host_branch_off(host));
    EXPECT(recall_history(host).last == 0, "another future");
    WORKS(host, bp_host_branch_to(host, 1));
    WORKS(host, bp_host_marked(host, "late", &moment));
    EXPECT(moment == 10 && recall_history(host).last == 10, "the first future, with its mark");
    recall_close(&rig);
}
END_TEST

static const bp_history_api *through;
static bp_result_t marked_in_step;

static void mark_in_step(void *context, bp_world_o *world, const char *unit, uint32_t is_system)
{
    (void)world, (void)unit, (void)is_system;
    marked_in_step = through->mark(context, "inside");
}

START_TEST(a_plugin_marks_moments_and_has_the_host_go_there)
{
    rig_t rig;
    uint64_t moment;
    open_host(&rig, 1, UINT64_C(1) << 30, 0);
    bp_host_o *host = rig.host;
    const bp_unit_watch_i watch = {.struct_size = sizeof watch, .context = host, .before = mark_in_step};
    through = (const bp_history_api *)rig.api->registry->find(host, BP_HISTORY_API, 3);
    ck_assert_ptr_nonnull(through);
    for (uint32_t i = 0; i < 5; i++)
        WORKS(host, bp_host_step(host));
    WORKS(host, through->mark(host, "fifth"));
    WORKS(host, bp_host_watch_units(host, &watch));
    WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_watch_units(host, NULL));
    EXPECT(marked_in_step == BP_ERROR_STATE, "a step is no moment: %d", (int)marked_in_step);
    FAILS(host, BP_ERROR_NOT_FOUND, "no moment is marked 'inside'", through->marked(host, "inside", &moment));
    FAILS(host, BP_ERROR_ARGUMENT, "a mark is 1 to 63", through->mark(host, "no word"));
    FAILS(host, BP_ERROR_ARGUMENT, "NULL", through->mark(host, NULL));
    FAILS(host, BP_ERROR_ARGUMENT, "NULL", through->marked(host, NULL, &moment));
    WORKS(host, through->marked(host, "fifth", &moment));
    WORKS(host, through->wish(host, moment));
    WORKS(host, bp_host_poll(host));
    EXPECT(recall_history(host).now == 5 && recall_history(host).last == 6, "it is elsewhere");
    recall_close(&rig);
}
END_TEST

START_TEST(a_plugin_has_the_host_return_to_a_future_that_was_left)
{
    rig_t rig;
    bp_left_t left = {.struct_size = sizeof left}, other = {.struct_size = sizeof other};
    open_host(&rig, 1, UINT64_C(1) << 30, 0);
    bp_host_o *host = rig.host;
    through = (const bp_history_api *)rig.api->registry->find(host, BP_HISTORY_API, 4);
    ck_assert_ptr_nonnull(through);
    for (uint64_t i = 0; i < 8; i++) {
        recall_act(host, i, 3);
        WORKS(host, bp_host_step(host));
    }
    uint64_t then = recall_hash(host);
    EXPECT(through->left(host, 0, &left) == 0, "a future was left");
    FAILS(host, BP_ERROR_NOT_FOUND, "no branch 1 is kept", through->wish_left(host, 1));
    WORKS(host, through->wish(host, 5));
    WORKS(host, bp_host_poll(host));
    WORKS(host, through->branch_off(host));
    for (uint64_t i = 0; i < 2; i++) {
        recall_act(host, i + 100, 4);
        WORKS(host, bp_host_step(host));
    }
    EXPECT(through->left(host, 0, &left) == 1 && through->left(host, 1, &other) == 0, "not one future was left");
    EXPECT(left.fork == 5 && left.last == 8 && left.bytes > 0, "it goes from %llu to %llu",
           (unsigned long long)left.fork, (unsigned long long)left.last);
    WORKS(host, through->wish_left(host, left.number));
    EXPECT(recall_history(host).now == 7, "the host has gone at once");
    WORKS(host, bp_host_poll(host));
    EXPECT(recall_history(host).now == 8 && recall_hash(host) == then, "it is elsewhere");
    EXPECT(through->left(host, 0, &other) == 1 && other.number != left.number, "the other future is not kept");
    recall_close(&rig);
}
END_TEST

/* A world stands where it went on then (0), or has steps that were granted taken away (1): the steps from there are not
 * those that were, and are remembered as they are. With clocks as they were (2) they are repeated. So it is where the
 * other world takes the steps, by itself (3 as 0, 4 as 2). */
static bp_result_t step_in_a_way(bp_host_o *host, int way)
{
    return way > 2 ? bp_world_step(bp_host_api(host)->world->at(host, 0)) : bp_host_step(host);
}

START_TEST(steps_from_where_a_plugin_wished_to_be_are_remembered_as_they_were_taken)
{
    rig_t rig;
    uint64_t hashes[4];
    open_host(&rig, 1, UINT64_C(1) << 30, 0);
    bp_host_o *host = rig.host;
    bp_world_o *side = rig.api->world->at(host, 1);
    const bp_clock_api *clocks = (const bp_clock_api *)rig.api->registry->find(host, BP_CLOCK_API, 1);
    through = (const bp_history_api *)rig.api->registry->find(host, BP_HISTORY_API, 1);
    WORKS(host, step_in_a_way(host, _i));
    if (_i == 1)
        clocks->step(side, 2);
    for (uint64_t i = 0; i < 4; i++)
        WORKS(host, step_in_a_way(host, _i));
    if (_i % 3 == 0)
        clocks->stop(side);
    uint64_t moment = _i == 1 ? 2 : 1;
    WORKS(host, through->wish(host, moment));
    WORKS(host, bp_host_poll(host));
    ck_assert_uint_eq(recall_history(host).now, moment);
    for (uint64_t i = 0; i < 2; i++) {
        WORKS(host, step_in_a_way(host, _i));
        hashes[i] = recall_hash(host);
    }
    ck_assert_uint_eq(recall_history(host).last, _i == 2 || _i == 4 ? 5 : moment + 2);
    for (uint64_t i = 2; i > 0; i--) {
        WORKS(host, bp_host_go(host, moment + i));
        EXPECT(recall_hash(host) == hashes[i - 1], "moment %u is another one", (uint32_t)(moment + i));
    }
    recall_close(&rig);
}
END_TEST

START_TEST(the_present_is_never_lost)
{
    rig_t rig;
    open_host(&rig, 1, UINT64_C(1) << 30, 0);
    bp_host_o *host = rig.host;
    for (uint64_t i = 0; i < 10; i++) {
        recall_act(host, i, 3);
        WORKS(host, bp_host_step(host));
    }
    uint64_t now = recall_hash(host), refused = 1;
    for (uint64_t k = 1; k < 4000; k++) {
        uint64_t before = rig.heap.refused;
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        bp_result_t result = bp_host_go(host, 5);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        if (result == BP_OK)
            WORKS(host, bp_host_go(host, 10));
        EXPECT(recall_hash(host) == now, "request %llu: the present is another one", (unsigned long long)k);
        refused += rig.heap.refused != before;
        if (rig.heap.refused == before)
            break;
    }
    EXPECT(refused > 10, "%llu requests were refused", (unsigned long long)refused);
    recall_close(&rig);
}
END_TEST

/* Each allocation of going fails once, also in the steps that are computed once more, where a command or a message may
 * be lost by it: the host is at the moment as it was then, or where it was. */
START_TEST(a_moment_is_as_it_was_or_is_not_gone_to)
{
    rig_t rig;
    open_host(&rig, 1, UINT64_C(1) << 30, 0);
    bp_host_o *host = rig.host;
    bp_host_keyframe_every(host, 3600000);
    uint64_t then = 0, refused = 0, there = 0;
    for (uint64_t i = 0; i < 10; i++) {
        recall_act(host, i, 3);
        WORKS(host, bp_host_step(host));
        then = i == 4 ? recall_hash(host) : then;
    }
    uint64_t now = recall_hash(host);
    for (uint64_t k = 1; k < 20000; k++) {
        uint64_t before = rig.heap.refused;
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        bp_result_t result = bp_host_go(host, 5);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        EXPECT(recall_hash(host) == (result == BP_OK ? then : now), "request %llu: %s is another one",
               (unsigned long long)k, result == BP_OK ? "the moment" : "the present");
        if (result == BP_OK)
            WORKS(host, bp_host_go(host, 10));
        there += result == BP_OK;
        refused += rig.heap.refused != before;
        if (rig.heap.refused == before)
            break;
    }
    EXPECT(refused > 50 && there > 0, "%llu requests were refused, %llu visits", (unsigned long long)refused,
           (unsigned long long)there);
    recall_close(&rig);
}
END_TEST

/* Each request of keyframes fails once, some while pieces are shared: a keyframe less, with a sentence in the log, and
 * the present and all that is remembered stay right. */
START_TEST(no_memory_for_keyframes)
{
    enum { BEFORE = 2, TAKEN = 240 };
    rig_t with, without;
    uint64_t hashes[TAKEN + 1];
    open_moving(&with, 3000);
    open_moving(&without, 3000);
    for (uint32_t i = 0; i < BEFORE; i++) { /* the first step asks for memory itself */
        WORKS(with.host, bp_host_step(with.host));
        WORKS(without.host, bp_host_step(without.host));
    }
    WORKS(with.host, bp_host_remember(with.host, UINT64_C(1) << 30));
    bp_host_keyframe_every(with.host, 0);
    hashes[BEFORE] = recall_hash(without.host);
    for (uint32_t i = BEFORE; i < TAKEN; i++) {
        with.heap.refuse_first = with.heap.refuse_last = with.heap.requests + 1 + i % 16;
        WORKS(with.host, bp_host_step(with.host));
        with.heap.refuse_first = with.heap.refuse_last = 0;
        WORKS(without.host, bp_host_step(without.host));
        hashes[i + 1] = recall_hash(without.host);
        EXPECT(recall_hash(with.host) == hashes[i + 1], "step %u: the present is another one", i);
        if (i % 20 != 19)
            continue;
        for (uint64_t moment = recall_history(with.host).first; moment <= i; moment += 7) {
            WORKS(with.host, bp_host_go(with.host, moment));
            EXPECT(recall_hash(with.host) == hashes[moment], "moment %u is not what it was", (uint32_t)moment);
        }
        WORKS(with.host, bp_host_go(with.host, i + 1));
    }
    EXPECT(with.heap.refused > TAKEN / 4, "%u requests were refused", (uint32_t)with.heap.refused);
    EXPECT(strstr(with.log.text, "history: ") != NULL, "nobody was told");
    recall_close(&with);
    rig_close(&without);
}
END_TEST

/* --- no memory for futures that are left -------------------------------------------------------------------------- */

enum { OLD_END = 12, FORK = 6, NEW_END = 9 };

typedef struct futures_t {
    uint64_t left[OLD_END + 1], other[NEW_END + 1]; /* hashes of moments */
    uint32_t failures;
} futures_t;

/* Steps of one world and of both, so that it matters which step is which. */
static void take_step_of(bp_host_o *host, uint64_t i)
{
    WORKS(host, i % 3 == 1 ? bp_world_step(bp_host_api(host)->world->at(host, 1)) : bp_host_step(host));
}

static bp_host_o *open_leaving(rig_t *rig, futures_t *f, uint32_t every)
{
    static bp_entity_t entities[50];
    open_moving(rig, 1500);
    bp_world_o *side = bp_world_create(rig->host, &(bp_world_desc_t){.name = "side", .step_rate = 60});
    WORKS(rig->host, bp_world_use_component(side, "body"));
    WORKS(rig->host, rig->api->world->create(side, prototype_of(side, "body", NULL, NULL, NULL), entities, 50));
    WORKS(rig->host, bp_host_remember(rig->host, LARGE));
    bp_host_keyframe_every(rig->host, every);
    for (uint64_t i = 0; i <= OLD_END; i++) {
        f->left[i] = recall_hash(rig->host);
        if (i < OLD_END)
            take_step_of(rig->host, i);
    }
    return rig->host;
}

/* A host goes back, takes another future, and returns to the one that it left; each call may fail. True: the other
 * future was begun. */
static bool leave_and_return(bp_host_o *host, futures_t *f)
{
    bp_world_o *world = bp_host_api(host)->world->at(host, 0);
    bp_branch_t branch = {.struct_size = sizeof branch};
    float mass = 77.0f;
    bp_result_t results[7] = {bp_host_mark(host, "late"), bp_host_go(host, FORK), bp_host_mark(host, "fork")};
    results[3] = results[1] == BP_OK
                     ? bp_host_api(host)->property->set_named(world, moving[0], "body", "mass", BP_F32, &mass)
                     : BP_ERROR_STATE;
    for (uint64_t i = FORK; results[3] == BP_OK && i < NEW_END; i++)
        take_step_of(host, i);
    results[4] = bp_host_branch_at(host, 0, &branch) != 0 ? bp_host_branch_to(host, branch.number) : BP_OK;
    results[5] = bp_host_go(host, recall_history(host).last);
    results[6] = bp_host_branch_at(host, 0, &branch) != 0 ? bp_host_branch_to(host, branch.number) : BP_OK;
    for (uint32_t i = 0; i < 7; i++) {
        f->failures += results[i] != BP_OK;
        EXPECT(results[i] == BP_OK || bp_host_error(host)[0] != '\0', "call %u fails without a word", i);
    }
    return results[3] == BP_OK;
}

/* All moments of the line are those of the future that was left, or those of the other one; `request`: 0 notes the
 * other one. */
static void expect_line(bp_host_o *host, futures_t *f, uint64_t request)
{
    bp_history_t h = recall_history(host);
    EXPECT(h.last == OLD_END || h.last == NEW_END || h.last == FORK, "request %u: the end is moment %u",
           (uint32_t)request, (uint32_t)h.last); /* FORK: the call that begins the other future has failed */
    for (uint64_t moment = h.first; moment <= h.last; moment++) {
        WORKS(host, bp_host_go(host, moment));
        uint64_t hash = recall_hash(host);
        if (request == 0 && h.last == NEW_END)
            f->other[moment] = hash;
        EXPECT(hash == (h.last == NEW_END ? f->other : f->left)[moment],
               "request %u: moment %u of %u is not what it was", (uint32_t)request, (uint32_t)moment,
               (uint32_t)h.last);
    }
}

/* Each request for memory on that way fails once. Less is remembered then, and the log says so; the present is never
 * lost, all that is remembered is of one line or of the other, and the host goes on from there. */
START_TEST(no_memory_for_futures_that_are_left)
{
    futures_t f = {.failures = 0};
    bool more = true;
    for (uint64_t k = 0; more; k++) {
        rig_t rig;
        bp_branch_t branch = {.struct_size = sizeof branch};
        bp_host_o *host = open_leaving(&rig, &f, _i == 0 ? 0 : 1000);
        rig.heap.refuse_first = rig.heap.refuse_last = k == 0 ? 0 : rig.heap.requests + k;
        bool begun = leave_and_return(host, &f);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        bp_history_t h = recall_history(host);
        EXPECT(k > 0 || (h.last == NEW_END && h.branches == 1), "one is kept");
        EXPECT(!begun || h.branches == 1 || strstr(rig.log.text, "no memory") != NULL,
               "request %u: a future is gone without a word: %s", (uint32_t)k, rig.log.text);
        more = k == 0 || rig.heap.refused > 0;
        expect_line(host, &f, k);
        if (bp_host_branch_at(host, 0, &branch) != 0) {
            WORKS(host, bp_host_branch_to(host, branch.number));
            expect_line(host, &f, k);
        }
        uint64_t hashes[4] = {recall_hash(host)}, now = recall_history(host).now;
        for (uint64_t i = 0; i < 3; i++) {
            take_step_of(host, i);
            hashes[i + 1] = recall_hash(host);
        }
        for (uint64_t i = 0; i <= 3; i++) {
            WORKS(host, bp_host_go(host, now + i));
            EXPECT(recall_hash(host) == hashes[i], "request %u: %u steps on it is not what it was", (uint32_t)k,
                   (uint32_t)i);
        }
        recall_close(&rig);
    }
    EXPECT(f.failures > 30, "%u calls have failed", f.failures);
}
END_TEST

/* The line has a new number from where another future begins; where there is no memory for the number of what came
 * before it, that is lost, and not the new one. */
START_TEST(another_future_has_a_number_of_its_own_without_memory)
{
    enum { FUTURES = 24 };
    uint32_t full = 0;
    rig_t rig;
    open_host(&rig, 1, LARGE, 0);
    bp_host_o *host = rig.host;
    const history_t *h = &host->history;
    for (uint32_t i = 0; i < FUTURES; i++) {
        for (uint32_t k = 0; k < 3; k++)
            WORKS(host, bp_host_step(host));
        WORKS(host, bp_host_go(host, recall_history(host).now - 1));
        uint32_t before = h->stretch_count, room = h->stretch_capacity;
        rig.heap.refuse_first = rig.heap.requests + 1;
        rig.heap.refuse_last = UINT64_MAX;
        bp_host_touched(host);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        full += before == room;
        ck_assert_uint_eq(h->stretch_count, before == room ? before : before + 1);
        ck_assert_uint_eq(h->stretches[h->stretch_count - 1].number, h->numbers);
        ck_assert_uint_eq(h->stretches[h->stretch_count - 1].from, h->now);
        if (before == room) { /* the next one finds room */
            WORKS(host, bp_host_step(host));
            WORKS(host, bp_host_go(host, recall_history(host).now - 1));
            bp_host_touched(host);
            ck_assert_uint_eq(h->stretches[h->stretch_count - 1].number, h->numbers);
        }
    }
    ck_assert_uint_gt(full, 0);
    WORKS(host, bp_host_step(host));
    recall_close(&rig);
}
END_TEST

/* --- no memory in a step ------------------------------------------------------------------------------------------ */

/* Steps in which a plugin gets no memory, and goes on without: what they left is remembered and recorded as it was,
 * though such a step would leave something else now. Going along, a step that lacks memory begins another future. */
START_TEST(a_step_in_which_memory_lacked_is_what_it_was)
{
    enum { TAKEN = 60 };
    static const char file[] = TEST_SCRATCH_DIR "/lacking";
    const bp_playback_i all = {.struct_size = sizeof all, .flags = BP_PLAY_CHECK | BP_PLAY_ALL};
    uint64_t hashes[TAKEN + 1], random = 6, refused = 0;
    uint32_t failed = 0;
    bp_recording_o *recording;
    rig_t rig;
    open_host(&rig, 1, LARGE, _i < 2 ? 0 : CROWD);
    bp_host_o *host = rig.host;
    bp_host_keyframe_every(host, _i % 2 == 0 ? 1000 : 0);
    WORKS(host, bp_host_record(host, file, "a test"));
    hashes[0] = recall_hash(host);
    for (uint64_t i = 0; i < TAKEN; i++) {
        if (refused == rig.heap.refused) /* else what comes is part of the moment's state */
            recall_act(host, i, 12);
        WORKS(host, bp_host_go(host, recall_history(host).now)); /* calls are put down: the step's own requests fail */
        refused = rig.heap.refused;
        uint64_t request = rig.heap.requests + 1 + bp_random_below(&random, 12);
        rig.heap.refuse_first = rig.heap.refuse_last = i % 2 == 0 ? 0 : request;
        bp_result_t result = try_step(host, i);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        failed += result != BP_OK;
        if (result != BP_OK) /* not taken, or by some worlds only */
            take_step(host, i);
        hashes[i + 1] = recall_hash(host);
    }
    EXPECT(rig.heap.refused > 10 + failed && failed > 0, "%u requests were refused, and %u steps",
           (uint32_t)rig.heap.refused, failed);
    WORKS(host, bp_host_record_end(host));
    uint64_t first = recall_history(host).first;
    EXPECT(first < 20, "the past begins with moment %u", (uint32_t)first);
    for (uint32_t v = 0; v < LACKING_VISITS; v++) {
        uint64_t moment = first + bp_random_below(&random, TAKEN + 1 - (uint32_t)first);
        WORKS(host, bp_host_go(host, moment));
        EXPECT(recall_hash(host) == hashes[moment], "moment %u is not what it was", (uint32_t)moment);
    }
    WORKS(host, bp_recording_open(host, file, &recording));
    for (uint64_t moment = 0; moment <= TAKEN; moment++) {
        WORKS(host, bp_recording_play(recording, moment, moment % 2 == 0 ? &all : NULL));
        EXPECT(recall_hash(host) == hashes[moment], "moment %u of the recording is not what it was", (uint32_t)moment);
    }
    bp_recording_close(recording);
    recall_close(&rig);
}
END_TEST

static rig_t *meddled; /* NULL: the system does nothing */

/* A system of the first world: in its step an entity of a new kind comes into the second world, which gets no memory to
 * match it. */
static void meddle(bp_system_t *system, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)system, (void)step, (void)matches, (void)count;
    if (meddled == NULL)
        return;
    bp_entity_t e;
    const bp_api_t *api = meddled->api;
    bp_world_o *side = api->world->at(meddled->host, 1);
    WORKS(meddled->host, api->world->create(side, prototype_of(side, "body", "mark", NULL, NULL), &e, 1));
    meddled->heap.refuse_first = meddled->heap.requests + 1;
    meddled->heap.refuse_last = UINT64_MAX;
    meddled = NULL;
}

static const bp_system_i meddlers[] = {{.name = "meddler", .run_all = meddle, .keeps = BP_KEEP_NOTHING}};
static const bp_plugin_head_t meddler =
    BP_PLUGIN_HEAD("meddler", (&(const bp_plugin_desc_t){.version = "1", .systems = BP_LIST(meddlers)}));

/* A step of the host that fails when one world has taken it: the world's step is part of the past. */
START_TEST(a_step_that_one_world_took_is_not_forgotten)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin, &meddler};
    uint64_t hashes[13];
    rig_t rig;
    rig_open_with(&rig, plugins, 2);
    bp_host_o *host = rig.host;
    recall_open(host);
    WORKS(host, bp_host_load_plugin(host, "meddler", NULL, 0));
    WORKS(host, bp_world_use_system(rig.api->world->at(host, 0), "meddler"));
    WORKS(host, bp_host_remember(host, LARGE));
    for (uint64_t i = 0; i < 12; i++) {
        hashes[i] = recall_hash(host);
        meddled = i == 5 ? &rig : NULL;
        bp_result_t result = bp_host_step(host);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        EXPECT((result == BP_OK) == (i != 5), "step %u: %s", (uint32_t)i, bp_host_error(host));
        if (result != BP_OK)
            WORKS(host, bp_host_step(host));
    }
    hashes[12] = recall_hash(host);
    bp_history_t h = recall_history(host);
    EXPECT(h.first == 0 && h.last == 12, "from %u to %u", (uint32_t)h.first, (uint32_t)h.last);
    for (uint64_t moment = 12; moment > 0; moment--) {
        WORKS(host, bp_host_go(host, moment));
        EXPECT(recall_hash(host) == hashes[moment], "moment %u is not what it was", (uint32_t)moment);
    }
    recall_close(&rig);
}
END_TEST

struct dot { float *x; };

static const bp_field_t dot_fields[] = {{BP_FIELD_OF(struct dot, x)}};

static void move_dots(const bp_run_t *run, uint32_t count)
{
    BP_COLUMNS(struct dot, c, run->columns);
    for (uint32_t i = 0; i < count; i++)
        c.x[i] += 1;
}

static const bp_component_i dots[] = {
    {.name = "dot", .flags = BP_COMPONENT_CONCURRENT, .fields = BP_LIST(dot_fields), .simulate = move_dots}};
static const bp_plugin_head_t dotted =
    BP_PLUGIN_HEAD("dotted", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(dots)}));

/* Two worlds that step side by side, for which each step needs memory; before the sixth step entities came. */
static void open_dotted(rig_t *rig, uint64_t hashes[9])
{
    static const bp_plugin_head_t *const plugins[] = {&dotted};
    static const char *const names[] = {"one", "two"};
    bp_entity_t made[5];
    rig_open_with(rig, plugins, 1);
    WORKS(rig->host, bp_host_load_plugin(rig->host, "dotted", NULL, 0));
    for (uint32_t w = 0; w < 2; w++)
        WORKS(rig->host, bp_world_use_component(
                             bp_world_create(rig->host, &(bp_world_desc_t){.name = names[w]}), "dot"));
    WORKS(rig->host, bp_host_remember(rig->host, LARGE));
    bp_world_o *world = rig->api->world->at(rig->host, 0);
    for (uint32_t i = 0; i < 9; i++) {
        if (i == 5)
            WORKS(rig->host, rig->api->world->create(world, prototype_of(world, "dot", NULL, NULL, NULL), made,
                                                     COUNT(made)));
        WORKS(rig->host, bp_host_step(rig->host));
        hashes[i] = recall_hash(rig->host);
    }
}

/* What is done after a step of the past has failed; then the host goes to the end, or what was made is all there. */
enum { STEP_ON, GO_ON, GO_TO_THE_SAME, CHANGE, AFTERS };

/* In the past a step begins with the calls that came then. Where it fails behind them, they have been made, and are not
 * made again before it. */
START_TEST(calls_before_a_step_of_the_past_that_fails_are_made_once)
{
    uint32_t failed = 0;
    for (uint64_t k = 1; k < 40; k++) {
        uint64_t hashes[9], at_five;
        bp_entity_t one;
        rig_t rig;
        open_dotted(&rig, hashes);
        bp_host_o *host = rig.host;
        WORKS(host, bp_host_go(host, 5));
        at_five = recall_hash(host);
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        bp_result_t result = bp_host_step(host);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        bp_history_t h = recall_history(host);
        if (result != BP_OK && h.branches == 0 && h.last == 9) {
            failed++;
            ck_assert_uint_eq(h.now, 5);
            if (_i == STEP_ON)
                WORKS(host, bp_host_step(host));
            if (_i == GO_ON)
                WORKS(host, bp_host_go(host, 6));
            if (_i == STEP_ON || _i == GO_ON)
                EXPECT(recall_hash(host) == hashes[5], "request %u: moment 6 is not what it was", (uint32_t)k);
            if (_i == GO_TO_THE_SAME) {
                WORKS(host, bp_host_go(host, 5));
                EXPECT(recall_hash(host) == at_five, "request %u: moment 5 is not what it was", (uint32_t)k);
            }
            if (_i == CHANGE) {
                WORKS(host, rig.api->entity->create(host, &one, 1));
                WORKS(host, bp_host_step(host));
                uint64_t other = recall_hash(host);
                WORKS(host, bp_host_go(host, 2));
                WORKS(host, bp_host_go(host, 6));
                EXPECT(recall_hash(host) == other, "request %u: the other future is another one", (uint32_t)k);
            } else {
                WORKS(host, bp_host_go(host, 9));
                EXPECT(recall_hash(host) == hashes[8], "request %u: the end is not what it was", (uint32_t)k);
            }
        }
        recall_close(&rig);
    }
    EXPECT(failed > 0, "no step has failed");
}
END_TEST

/* --- branches ----------------------------------------------------------------------------------------------------- */

enum { LINES = 5, LONG = 30 };

/* One line of moments from the first to its last, with the number that its end had. */
typedef struct line_t {
    uint64_t hashes[3 * LONG], number, last;
    uint64_t numbers[3 * LONG]; /* of the branch at each moment */
} line_t;

static void go_on(bp_host_o *host, line_t *line, uint64_t steps, uint64_t seed)
{
    for (uint64_t i = 0; i < steps; i++) {
        recall_act(host, line->last, seed);
        WORKS(host, bp_host_step(host));
        line->last = recall_history(host).now;
        line->hashes[line->last] = recall_hash(host);
        line->numbers[line->last] = recall_history(host).branch;
    }
    line->number = recall_history(host).branch;
}

static const line_t *line_of(const line_t *lines, uint64_t number)
{
    for (uint32_t i = 0; i < LINES; i++) {
        if (lines[i].number == number)
            return &lines[i];
    }
    ck_abort_msg("nobody has left branch %llu", (unsigned long long)number);
    return NULL;
}

static void leave_and_go_on(bp_host_o *host, line_t *lines, uint64_t *random)
{
    lines[0].hashes[0] = recall_hash(host);
    lines[0].numbers[0] = recall_history(host).branch;
    go_on(host, &lines[0], LONG, 1);
    for (uint32_t i = 1; i < LINES; i++) {
        lines[i] = lines[i - 1];
        lines[i].last = bp_random_below(random, (uint32_t)lines[i].last - 3) + 1;
        WORKS(host, bp_host_go(host, lines[i].last));
        go_on(host, &lines[i], 5 + bp_random_below(random, 20), i + 1);
        EXPECT(recall_history(host).branches == i, "%u branches", recall_history(host).branches);
    }
}

/* Futures of futures, all of them returned to, in random order, on 1, 2 and 4 threads. */
START_TEST(each_future_is_what_it_was)
{
    static line_t lines[LINES];
    uint64_t random = 40 + (uint64_t)_i;
    rig_t rig;
    open_host(&rig, recall_threads[_i % 3], UINT64_C(1) << 30, _i < 3 ? 0 : CROWD);
    bp_host_o *host = rig.host;
    memset(lines, 0, sizeof lines);
    leave_and_go_on(host, lines, &random);
    for (uint32_t v = 0; v < 30; v++) {
        bp_branch_t branch = {.struct_size = sizeof branch};
        EXPECT(bp_host_branch_at(host, bp_random_below(&random, LINES - 1), &branch), "it is not there");
        const line_t *line = line_of(lines, branch.number);
        WORKS(host, bp_host_branch_to(host, branch.number));
        bp_history_t h = recall_history(host);
        EXPECT(h.branch == branch.number && h.branches == LINES - 1, "branch %llu", (unsigned long long)h.branch);
        EXPECT(h.now == line->last && h.last == line->last && recall_hash(host) == line->hashes[line->last],
               "visit %u: branch %llu does not end as it did", v, (unsigned long long)branch.number);
        uint64_t moment = bp_random_below(&random, (uint32_t)line->last + 1);
        WORKS(host, bp_host_go(host, moment));
        EXPECT(recall_hash(host) == line->hashes[moment], "visit %u: branch %llu, moment %llu is not what it was", v,
               (unsigned long long)branch.number, (unsigned long long)moment);
        for (uint32_t i = 0; i < LINES; i++) {
            uint64_t at = bp_random_below(&random, (uint32_t)lines[i].last + 1);
            bool same = lines[i].numbers[at] == line->numbers[at];
            EXPECT(bp_host_branch_leads_here(host, lines[i].numbers[at], at) == (same && at <= moment),
                   "visit %u: moment %llu of branch %llu", v, (unsigned long long)at,
                   (unsigned long long)lines[i].numbers[at]);
        }
    }
    recall_close(&rig);
}
END_TEST

/* Each allocation of returning fails once: the host is there, or where it was, on the line that it was on. */
START_TEST(a_branch_is_there_or_not)
{
    static line_t lines[LINES];
    uint64_t random = 4, refused = 0;
    rig_t rig;
    open_host(&rig, 1, UINT64_C(1) << 30, 0);
    bp_host_o *host = rig.host;
    memset(lines, 0, sizeof lines);
    leave_and_go_on(host, lines, &random);
    uint32_t last = 0;
    for (uint64_t k = 1; last < LINES; k++) { /* until each branch has been returned to without a refusal */
        bp_history_t was = recall_history(host);
        bp_branch_t branch = {.struct_size = sizeof branch};
        uint64_t before = rig.heap.refused, hash = recall_hash(host);
        EXPECT(bp_host_branch_at(host, 0, &branch) != 0, "request %llu: no branch is kept", (unsigned long long)k);
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        bp_result_t result = bp_host_branch_to(host, branch.number);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        const line_t *line = line_of(lines, recall_history(host).branch);
        EXPECT(recall_hash(host) == (result == BP_OK ? line->hashes[line->last] : hash), "request %llu: %s",
               (unsigned long long)k, bp_host_error(host));
        EXPECT(result == BP_OK || recall_history(host).now == was.now, "request %llu: it is elsewhere",
               (unsigned long long)k);
        WORKS(host, bp_host_go(host, recall_history(host).first));
        WORKS(host, bp_host_go(host, recall_history(host).last));
        EXPECT(recall_hash(host) == line->hashes[line->last], "the line has been damaged");
        refused += rig.heap.refused != before;
        last = result == BP_OK && rig.heap.refused == before ? last + 1 : 0;
    }
    EXPECT(refused > 5, "%llu requests were refused", (unsigned long long)refused);
    recall_close(&rig);
}
END_TEST

/* Each visit of the past that changes something begins another future, which has a number: the numbers of long ago must
 * not take the room of what is remembered. Those of what is remembered lead here, and so do the last few before. */
START_TEST(futures_without_end_leave_room_for_the_past)
{
    enum { EARLY = 1500, LATE = 9000, KNOWN = 64 };
    static uint64_t numbers[LATE], moments[LATE];
    rig_t rig;
    open_moving(&rig, 10);
    WORKS(rig.host, bp_host_remember(rig.host, 120000));
    bp_host_keyframe_every(rig.host, 0);
    uint64_t early = 0;
    for (uint32_t i = 0; i < LATE; i++) {
        for (uint32_t k = 0; k < 2; k++)
            WORKS(rig.host, bp_host_step(rig.host));
        WORKS(rig.host, bp_host_go(rig.host, recall_history(rig.host).now - 1));
        WORKS(rig.host, bp_host_branch_off(rig.host));
        bp_history_t h = recall_history(rig.host);
        early = i == EARLY ? h.last - h.first : early;
        numbers[i] = h.branch;
        moments[i] = h.now;
    }
    bp_history_t h = recall_history(rig.host);
    EXPECT(early > 10 && h.last - h.first >= early / 10 * 9, "%u steps are remembered, and were %u",
           (uint32_t)(h.last - h.first), (uint32_t)early);
    uint32_t known = 0;
    for (uint32_t i = 0; i < LATE; i++) {
        bool here = bp_host_branch_leads_here(rig.host, numbers[i], moments[i]) == 1;
        EXPECT(here || moments[i] < h.first, "moment %u is remembered, and does not lead here", (uint32_t)moments[i]);
        EXPECT(here || known == 0, "a number before that of moment %u is known", (uint32_t)moments[i]);
        known += here && moments[i] < h.first;
    }
    EXPECT(known >= KNOWN && known <= KNOWN + 1, "%u numbers are known of before what is remembered", known);
    rig.log.count = 0; /* of each future */
    rig.log.text[0] = '\0';
    rig_close(&rig);
}
END_TEST

START_TEST(names_of_moments_long_ago_leave_room_for_the_past)
{
    enum { NAMES = 1200 };
    rig_t rig;
    char name[32];
    uint64_t moment;
    open_moving(&rig, 10);
    WORKS(rig.host, bp_host_remember(rig.host, 120000));
    bp_host_keyframe_every(rig.host, 0);
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "m%u", i);
        WORKS(rig.host, bp_host_mark(rig.host, name));
    }
    for (uint32_t i = 0; i < 2000; i++)
        WORKS(rig.host, bp_host_step(rig.host));
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "m0", bp_host_marked(rig.host, "m0", &moment));
    bp_history_t h = recall_history(rig.host);
    EXPECT(h.last - h.first > 20, "%u steps are remembered", (uint32_t)(h.last - h.first));
    recall_close(&rig);
}
END_TEST

START_TEST(branches_go_before_keyframes)
{
    rig_t rig;
    uint64_t moment;
    line_t line = {.last = 0};
    open_host(&rig, 1, 1 << 20, 0);
    bp_host_o *host = rig.host;
    go_on(host, &line, 20, 1);
    WORKS(host, bp_host_mark(host, "there"));
    for (uint32_t i = 0; i < 80; i++) {
        WORKS(host, bp_host_go(host, recall_history(host).last - 1));
        recall_act(host, i, 9);
        bp_host_touched(host); /* a keyframe */
        WORKS(host, bp_host_step(host));
        bp_history_t h = recall_history(host);
        EXPECT(h.bytes <= h.budget, "%llu bytes", (unsigned long long)h.bytes);
    }
    EXPECT(recall_history(host).branches < 60 && recall_history(host).branches > 0, "%u are kept",
           recall_history(host).branches);
    FAILS(host, BP_ERROR_NOT_FOUND, "no branch 1 is kept", bp_host_branch_to(host, 1));
    FAILS(host, BP_ERROR_NOT_FOUND, "there", bp_host_marked(host, "there", &moment));
    bp_branch_t branch = {.struct_size = sizeof branch};
    while (bp_host_branch_at(host, 0, &branch) != 0)
        WORKS(host, bp_host_branch_forget(host, branch.number));
    FAILS(host, BP_ERROR_NOT_FOUND, "is kept", bp_host_branch_forget(host, branch.number));
    recall_close(&rig);
}
END_TEST

/* What came from outside at a moment comes to each of the steps that are compared; where that cannot be, as at the end
 * of the past, nothing is compared. */
START_TEST(steps_of_the_past_are_taken_twice_with_what_came_from_outside)
{
    rig_t rig;
    open_host(&rig, 1, LARGE, 0);
    bp_host_o *host = rig.host;
    for (uint64_t i = 0; i < 20; i++) {
        recall_act(host, i, 7);
        if (i == 11)
            bp_host_touched(host);
        WORKS(host, bp_host_step(host));
    }
    recall_act(host, 20, 7);
    uint64_t end = recall_hash(host);
    WORKS(host, bp_host_go(host, 3));
    while (recall_history(host).now < 20)
        WORKS(host, bp_host_step_twice(host, 0, NULL));
    EXPECT(recall_hash(host) == end, "the end is another one");
    recall_close(&rig);
}
END_TEST

/* What an embedder writes between two steps without a call that could be made again: through a reference, as a text of
 * a cell, by the walk of a query. The steps before it and behind it are what they were. */
START_TEST(what_is_written_through_pointers_is_remembered)
{
    enum { X, TAG = 4, BEFORE = 5, TAKEN = 12 };
    static const bp_term_field_t x[] = {{.name = "x", .type = BP_F32, .access = BP_WRITE}};
    static const bp_term_t terms[] = {{.component = "body", .fields = BP_LIST(x)}};
    uint64_t hashes[TAKEN + 1];
    rig_t rig;
    open_host(&rig, 1, LARGE, 0);
    bp_host_o *host = rig.host;
    bp_world_o *world = rig.api->world->at(host, 0);
    bp_entity_t e = entity_with(world, "body");
    const bp_query_api *queries = (const bp_query_api *)rig.api->registry->find(host, BP_QUERY_API, 1);
    bp_ref_t ref = {.entity = e, .field = key_of(world, "body", "") << 8 | (_i == 1 ? TAG : X)};
    bp_host_keyframe_every(host, 1000000);
    for (uint32_t i = 0; i < TAKEN; i++) {
        hashes[i] = recall_hash(host);
        if (i == BEFORE && _i == 0) {
            *(float *)rig.api->world->ref_write(world, &ref) = 77;
        } else if (i == BEFORE && _i == 1) {
            const void *cell = rig.api->world->ref(world, &ref);
            WORKS(host, rig.api->name->assign(host, (const char **)(uintptr_t)cell, "written"));
        } else if (i == BEFORE) {
            bp_query_o *query;
            const bp_term_list_t list = BP_LIST(terms);
            WORKS(host, queries->make(world, NULL, &list, 0, &query));
            WORKS(host, queries->begin(query, 0));
            for (const bp_match_t *match; (match = queries->next(query)) != NULL;)
                for (uint32_t row = 0; row < match->count; row++)
                    ((float *)match->columns[0][0])[row] = 77;
            queries->end(query);
        }
        EXPECT(i != BEFORE || recall_hash(host) != hashes[i], "nothing has been written");
        WORKS(host, bp_host_step(host));
    }
    hashes[TAKEN] = recall_hash(host);
    WORKS(host, bp_host_go(host, 1));
    for (uint32_t i = 1; i < TAKEN; i++) {
        EXPECT(recall_hash(host) == hashes[i], "along to %u it is not what it was", i);
        WORKS(host, bp_host_step(host));
    }
    EXPECT(recall_hash(host) == hashes[TAKEN], "the end is another one");
    for (uint32_t i = 1; i <= TAKEN; i++) {
        WORKS(host, bp_host_go(host, i));
        EXPECT(recall_hash(host) == hashes[i], "moment %u is not what it was", i);
    }
    recall_close(&rig);
}
END_TEST

START_TEST(marks_go_with_the_moments_that_they_name)
{
    enum { TAKEN = 200, TEXT = 4000 };
    static char text[TEXT];
    const char *value = text;
    char name[32];
    uint64_t moment;
    rig_t rig;
    open_host(&rig, 1, 300000, 0);
    bp_host_o *host = rig.host;
    bp_world_o *world = rig.api->world->at(host, 0);
    bp_entity_t e = {0};
    bp_host_keyframe_every(host, 0);
    for (uint32_t i = 0; i < TAKEN; i++) {
        memset(text, 'a' + (int)(i % 26), TEXT - 1);
        if (rig.api->entity->alive(host, &e, 1, NULL) == 0)
            e = entity_with(world, "body");
        WORKS(host, rig.api->property->set_named(world, e, "body", "tag", BP_STRING, &value));
        snprintf(name, sizeof name, "moment_%u", i);
        WORKS(host, bp_host_mark(host, name));
        WORKS(host, bp_host_step(host));
    }
    uint64_t first = recall_history(host).first;
    EXPECT(first > TAKEN / 2 && first < TAKEN - 10, "from %llu", (unsigned long long)first);
    for (uint32_t i = 0; i < TAKEN; i++) {
        snprintf(name, sizeof name, "moment_%u", i);
        if (i < first)
            FAILS(host, BP_ERROR_NOT_FOUND, name, bp_host_marked(host, name, &moment));
        else
            WORKS(host, bp_host_marked(host, name, &moment));
        EXPECT(i < first || moment == i, "%s is %llu", name, (unsigned long long)moment);
    }
    recall_close(&rig);
}
END_TEST

/* A world has come, and so the past begins anew at this moment, and not at the step behind it. */
START_TEST(a_mark_stays_where_the_past_begins_anew)
{
    rig_t rig;
    uint64_t moment;
    open_host(&rig, 1, LARGE, 0);
    bp_host_o *host = rig.host;
    for (uint32_t i = 0; i < 5; i++)
        WORKS(host, bp_host_step(host));
    ck_assert_ptr_nonnull(bp_world_create(host, &(bp_world_desc_t){.name = "extra"}));
    WORKS(host, bp_host_mark(host, "begun"));
    uint64_t then = recall_hash(host);
    for (uint32_t i = 0; i < 3; i++)
        WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_marked(host, "begun", &moment));
    ck_assert_uint_eq(moment, 5);
    WORKS(host, bp_host_go(host, moment));
    EXPECT(recall_hash(host) == then, "the moment is another one");
    recall_close(&rig);
}
END_TEST

START_TEST(a_mark_of_a_future_that_was_left_is_found_beside_an_earlier_one_of_its_name)
{
    rig_t rig;
    uint64_t moment;
    open_host(&rig, 1, LARGE, 0);
    bp_host_o *host = rig.host;
    for (uint32_t i = 0; i < 10; i++)
        WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_mark(host, "fight"));
    WORKS(host, bp_host_go(host, 4));
    WORKS(host, bp_host_branch_off(host));
    WORKS(host, bp_host_go(host, 3));
    WORKS(host, bp_host_mark(host, "fight"));
    WORKS(host, bp_host_branch_to(host, 1));
    WORKS(host, bp_host_marked(host, "fight", &moment));
    ck_assert_uint_eq(moment, 10);
    WORKS(host, bp_host_go(host, 4));
    WORKS(host, bp_host_branch_off(host));
    WORKS(host, bp_host_marked(host, "fight", &moment));
    ck_assert_uint_eq(moment, 3);
    WORKS(host, bp_host_branch_to(host, 1));
    WORKS(host, bp_host_go(host, 2));
    WORKS(host, bp_host_mark(host, "fight")); /* from now on it means this moment only */
    WORKS(host, bp_host_marked(host, "fight", &moment));
    ck_assert_uint_eq(moment, 2);
    recall_close(&rig);
}
END_TEST

START_TEST(each_of_many_worlds_stays_stopped_where_a_plugin_has_the_host_go)
{
    enum { MORE = 100 };
    rig_t rig;
    bp_world_o *worlds[MORE];
    bp_clock_t clock = {.struct_size = sizeof clock};
    open_host(&rig, 1, LARGE, 0);
    bp_host_o *host = rig.host;
    const bp_clock_api *clocks = (const bp_clock_api *)rig.api->registry->find(host, BP_CLOCK_API, 1);
    through = (const bp_history_api *)rig.api->registry->find(host, BP_HISTORY_API, 1);
    for (uint32_t i = 0; i < MORE; i++) {
        char name[16];
        snprintf(name, sizeof name, "more_%u", i);
        worlds[i] = bp_world_create(host, &(bp_world_desc_t){.name = name});
        ck_assert_ptr_nonnull(worlds[i]);
    }
    for (uint32_t i = 0; i < 4; i++)
        WORKS(host, bp_host_step(host));
    for (uint32_t i = 0; i < MORE; i += 2)
        clocks->stop(worlds[i]);
    WORKS(host, through->wish(host, 2));
    WORKS(host, bp_host_poll(host));
    ck_assert_uint_eq(recall_history(host).now, 2);
    for (uint32_t i = 0; i < MORE; i++) {
        clocks->read(worlds[i], &clock);
        EXPECT(clock.stopped == (i % 2 == 0), "world %u %s", i, clock.stopped ? "stands" : "goes on");
    }
    recall_close(&rig);
}
END_TEST

START_TEST(a_wish_that_fails_takes_no_granted_steps_away)
{
    rig_t rig;
    bp_past_t past = {.struct_size = sizeof past};
    bp_clock_t clock = {.struct_size = sizeof clock};
    open_host(&rig, 1, LARGE, 0);
    bp_host_o *host = rig.host;
    bp_world_o *side = rig.api->world->at(host, 1);
    const bp_clock_api *clocks = (const bp_clock_api *)rig.api->registry->find(host, BP_CLOCK_API, 1);
    through = (const bp_history_api *)rig.api->registry->find(host, BP_HISTORY_API, 4);
    for (uint32_t i = 0; i < 8; i++)
        WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_go(host, 5));
    WORKS(host, bp_host_branch_off(host));
    clocks->step(side, 2);
    WORKS(host, through->wish_left(host, 1));
    WORKS(host, bp_host_branch_forget(host, 1));
    WORKS(host, bp_host_poll(host));
    through->read(host, &past);
    ck_assert_int_eq(past.result, BP_ERROR_NOT_FOUND);
    clocks->read(side, &clock);
    EXPECT(clock.stopped && clock.granted == 2, "%llu steps are granted", (unsigned long long)clock.granted);
    recall_close(&rig);
}
END_TEST

Suite *history_suite(void)
{
    Suite *suite = suite_create("history");
    TCase *tcase = tcase_create("history");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, any_step_is_what_it_was, 0, 3);
    tcase_add_loop_test(tcase, what_keyframes_share_is_what_was, 0, 3);
    tcase_add_loop_test(tcase, many_visits_of_many_pasts, 0, 3);
    tcase_add_test(tcase, a_small_budget_holds);
    tcase_add_test(tcase, keyframes_share_what_nobody_wrote);
    tcase_add_test(tcase, an_ini_that_says_nothing_of_keyframes_leaves_them_as_often_as_they_were);
    tcase_add_test(tcase, a_week_fits_into_a_fixed_budget);
    tcase_add_test(tcase, no_memory_for_keyframes);
    tcase_add_loop_test(tcase, a_step_in_which_memory_lacked_is_what_it_was, 0, 4);
    tcase_add_test(tcase, a_step_that_one_world_took_is_not_forgotten);
    tcase_add_loop_test(tcase, calls_before_a_step_of_the_past_that_fails_are_made_once, 0, AFTERS);
    tcase_add_loop_test(tcase, no_memory_for_futures_that_are_left, 0, 2);
    tcase_add_test(tcase, another_future_has_a_number_of_its_own_without_memory);
    tcase_add_test(tcase, a_past_stays_where_another_one_cannot_begin);
    tcase_add_loop_test(tcase, a_past_stays_where_another_ini_is_refused, 0, 3);
    tcase_add_test(tcase, a_list_of_steps_does_not_exceed_the_budget_between_keyframes);
    tcase_add_test(tcase, no_budget_is_exceeded_by_a_byte);
    tcase_add_test(tcase, the_oldest_past_goes_where_calls_take_most_of_the_budget);
    tcase_add_test(tcase, a_past_that_begins_anew_has_its_own_steps);
    tcase_add_test(tcase, more_calls_at_one_moment_than_a_keyframe_takes_give_way_to_a_keyframe);
    tcase_add_test(tcase, calls_at_one_moment_that_are_put_down_one_by_one_give_way_to_a_keyframe_too);
    tcase_add_test(tcase, output_is_left_out_and_told);
    tcase_add_test(tcase, the_first_change_begins_another_future);
    tcase_add_test(tcase, a_plugin_marks_moments_and_has_the_host_go_there);
    tcase_add_test(tcase, a_plugin_has_the_host_return_to_a_future_that_was_left);
    tcase_add_loop_test(tcase, steps_from_where_a_plugin_wished_to_be_are_remembered_as_they_were_taken, 0, 5);
    tcase_add_test(tcase, the_present_is_never_lost);
    tcase_add_test(tcase, a_moment_is_as_it_was_or_is_not_gone_to);
    tcase_add_loop_test(tcase, each_future_is_what_it_was, 0, 6);
    tcase_add_test(tcase, a_branch_is_there_or_not);
    tcase_add_test(tcase, futures_without_end_leave_room_for_the_past);
    tcase_add_test(tcase, names_of_moments_long_ago_leave_room_for_the_past);
    tcase_add_test(tcase, branches_go_before_keyframes);
    tcase_add_test(tcase, steps_of_the_past_are_taken_twice_with_what_came_from_outside);
    tcase_add_loop_test(tcase, what_is_written_through_pointers_is_remembered, 0, 3);
    tcase_add_test(tcase, marks_go_with_the_moments_that_they_name);
    tcase_add_test(tcase, a_mark_stays_where_the_past_begins_anew);
    tcase_add_test(tcase, a_mark_of_a_future_that_was_left_is_found_beside_an_earlier_one_of_its_name);
    tcase_add_test(tcase, each_of_many_worlds_stays_stopped_where_a_plugin_has_the_host_go);
    tcase_add_test(tcase, a_wish_that_fails_takes_no_granted_steps_away);
    suite_add_tcase(suite, tcase);
    return suite;
}
