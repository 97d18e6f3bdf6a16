/* test_pace.c - whether work is shared among threads, with times made up, but for one test of steps. */
#include "../suites.h"
#include "../unit/support.h"

#include "engine/host.h"
#include "os/os.h"
#include "step/pace.h"
#include "step/schedule.h"

/* Times of work whose way is chosen `runs` times: alone, shared, and the first run after the other way. */
typedef struct costs_t {
    uint64_t alone, shared, first_shared;
} costs_t;

typedef struct tally_t {
    uint32_t alone, shared;
} tally_t;

static tally_t run(pace_t *pace, costs_t costs, uint32_t runs)
{
    tally_t tally = {0, 0};
    bool before = false;
    for (uint32_t i = 0; i < runs; i++) {
        bool share = pace_share(pace, costs.alone);
        if (costs.alone >= PACE_WORTH_NS)
            pace_note(pace, !share ? costs.alone : before ? costs.shared : costs.first_shared);
        tally.alone += !share;
        tally.shared += share;
        before = share;
    }
    return tally;
}

START_TEST(work_that_threads_speed_up_is_shared_almost_always)
{
    pace_t pace = {0};
    tally_t tally = run(&pace, (costs_t){200000, 110000, 200000}, 10000);
    ck_assert_uint_gt(tally.alone, 0);
    ck_assert_uint_lt(tally.alone, 10000 / PACE_LAST_TRIAL * PACE_TRIES + 2 * PACE_TRIES);
}
END_TEST

START_TEST(work_that_threads_slow_down_returns_to_one)
{
    pace_t pace = {0};
    tally_t tally = run(&pace, (costs_t){60000, 90000, 120000}, 10000);
    ck_assert_uint_gt(tally.shared, PACE_FIRST_TRIAL - 1);
    ck_assert_uint_lt(tally.shared, 10000 / PACE_LAST_TRIAL_ALONE * PACE_TRIES + 6 * PACE_TRIES);
}
END_TEST

START_TEST(work_whose_first_run_on_threads_is_slow_is_shared_all_the_same)
{
    pace_t pace = {0};
    run(&pace, (costs_t){60000, 90000, 90000}, 1000);
    ck_assert(pace.alone);
    run(&pace, (costs_t){60000, 35000, 300000}, 5000);
    ck_assert(!pace.alone);
}
END_TEST

START_TEST(when_processors_become_free_or_busy_the_way_changes)
{
    pace_t pace = {0};
    for (int i = 0; i < 20; i++) {
        run(&pace, (costs_t){300000, 350000, 350000}, 3000);
        ck_assert(pace.alone);
        run(&pace, (costs_t){300000, 160000, 350000}, 3000);
        ck_assert(!pace.alone);
    }
}
END_TEST

START_TEST(ways_that_are_equally_good_do_not_take_turns)
{
    pace_t pace = {0};
    tally_t tally = run(&pace, (costs_t){300000, 295000, 295000}, 10000);
    ck_assert_uint_lt(tally.alone, 10000 / PACE_LAST_TRIAL * PACE_TRIES + 8 * PACE_TRIES);
}
END_TEST

START_TEST(long_work_is_not_tried_alone)
{
    pace_t pace = {0};
    tally_t tally = run(&pace, (costs_t){9000000, 5000000, 5000000}, 10000);
    ck_assert_uint_eq(tally.alone, 0);
}
END_TEST

START_TEST(short_work_is_never_shared)
{
    pace_t pace = {0};
    tally_t tally = run(&pace, (costs_t){PACE_WORTH_NS - 1, 1, 1}, 10000);
    ck_assert_uint_eq(tally.shared, 0);
}
END_TEST

START_TEST(a_run_that_was_held_up_once_changes_nothing)
{
    pace_t pace = {0};
    run(&pace, (costs_t){200000, 110000, 110000}, 5000);
    for (int i = 0; i < 1000; i++) {
        bool trial = pace.tries > 0;
        pace_note(&pace, pace_share(&pace, 200000) ? (i % 3 == 0 && !trial ? 9000000 : 110000) : 200000);
        ck_assert(!pace.alone);
    }
}
END_TEST

/* --- steps -------------------------------------------------------------------------------------------------------- */

static const bp_field_t fields[] = {{.name = "value", .type = BP_U32}};
static const bp_component_i things[] = {{.name = "thing", .fields = BP_LIST(fields)}};
static const bp_term_t terms[] = {{.component = "thing"}};

static void dawdle(const bp_match_t *match, uint32_t count)
{
    uint64_t until = os_clock_ns() + 3 * PACE_WORTH_NS;
    (void)match, (void)count;
    while (os_clock_ns() < until)
        continue;
}

static const bp_system_i dawdlers[] = {
    {.name = "dawdler", .flags = BP_SYSTEM_PARALLEL, .terms = BP_LIST(terms), .run = dawdle}};
static const bp_plugin_head_t slow = BP_PLUGIN_HEAD(
    "slow", (&(const bp_plugin_desc_t){
                .version = "1", .components = BP_LIST(things), .systems = BP_LIST(dawdlers)}));

static void run_here(void *context, void (*job)(void *data, uint32_t index), void *data, uint32_t count)
{
    (void)context;
    while (count > 0)
        job(data, --count);
}

START_TEST(how_long_the_units_of_a_step_take_is_noted_where_sharing_them_is_worth_it)
{
    static const bp_plugin_head_t *const plugins[] = {&slow};
    static const bp_jobs_i jobs = {.threads = 2, .run = run_here};
    enum { STEPS = 4 };
    rig_t rig;
    bp_entity_t thing;
    rig_init(&rig);
    rig.desc.static_plugins = plugins;
    rig.desc.static_plugin_count = 1;
    rig.desc.jobs = &jobs;
    rig_open(&rig);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "slow", NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "thing"));
    WORKS(rig.host, bp_world_use_system(world, "dawdler"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "thing", NULL, NULL, NULL), &thing, 1));
    for (int i = 0; i < STEPS; i++)
        WORKS(rig.host, bp_world_step(world));
    const pace_t *pace = &world->schedule->segments[0].pace;
    ck_assert_uint_eq(world->schedule->segment_count, 1);
    ck_assert_uint_eq(pace->since, STEPS - 1); /* how long the first one would take was not known */
    ck_assert_uint_ge(pace->last[0], 3 * PACE_WORTH_NS);
    rig_close(&rig);
}
END_TEST

Suite *pace_suite(void)
{
    Suite *suite = suite_create("pace");
    TCase *ways = tcase_create("ways");
    tcase_add_test(ways, work_that_threads_speed_up_is_shared_almost_always);
    tcase_add_test(ways, work_that_threads_slow_down_returns_to_one);
    tcase_add_test(ways, work_whose_first_run_on_threads_is_slow_is_shared_all_the_same);
    tcase_add_test(ways, when_processors_become_free_or_busy_the_way_changes);
    tcase_add_test(ways, ways_that_are_equally_good_do_not_take_turns);
    tcase_add_test(ways, long_work_is_not_tried_alone);
    tcase_add_test(ways, short_work_is_never_shared);
    tcase_add_test(ways, a_run_that_was_held_up_once_changes_nothing);
    suite_add_tcase(suite, ways);
    TCase *steps = tcase_create("steps");
    tcase_add_test(steps, how_long_the_units_of_a_step_take_is_noted_where_sharing_them_is_worth_it);
    suite_add_tcase(suite, steps);
    return suite;
}
