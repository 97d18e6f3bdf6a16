/* test_ghosts.c - who has gone while a plugin was set aside: its state knows nobody who is not there once a sound
 * version has it, neither instances nor rows nor entities that match.
 *
 * The plugin is tests/fixtures/muster.h, whose states write down who is there. They are compared with the world.
 */
#include "../fixtures/muster.h"
#include "../suites.h"
#include "reload_support.h"

#include <stdio.h>
#include <string.h>

#if !defined(__SANITIZE_THREAD__)
enum { GUESTS = 40, AT_ONCE = 5 };

static rig_t rig;
static bp_world_o *world;
static bp_entity_t guests[GUESTS];

static void bring(const char *fixture)
{
    static const char *const names[] = {"muster"};
    put_plugin(fixture, "muster");
    WORKS(rig.host, bp_host_reload(rig.host, names, 1, NULL));
}

static void open_with(uint32_t probation)
{
    KEEPS_MEMORY();
    rig_init(&rig);
    rig.desc.flags |= BP_HOST_CRASH_GUARD | BP_HOST_COPY_PLUGINS;
    rig_open(&rig);
    rig.host->reload.probation_steps = probation;
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin("muster_first", "muster"), NULL, 0));
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "muster_own"));
    WORKS(rig.host, bp_world_use_component(world, "muster_rows"));
    WORKS(rig.host, bp_world_use_system(world, "muster_one"));
    WORKS(rig.host, bp_world_use_system(world, "muster_two"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "muster_own", "muster_rows", NULL, NULL), guests,
                                           GUESTS));
    WORKS(rig.host, bp_world_step(world));
}

static void end_host(void)
{
    check_host(rig.host);
    bp_host_destroy(rig.host); /* what the plugin had when it crashed is lost, and told in the log */
}

static muster_t *system_state(const char *name)
{
    for (uint32_t i = 0; i < world->schedule->count; i++) {
        if (strcmp(world->schedule->units[i]->name, name) == 0)
            return world->schedule->units[i]->verb.handed.state;
    }
    ck_abort_msg("there is no system %s", name);
    return NULL; /* where the compiler does not know that the test has ended */
}

/* It knows those guests that have the component, and nobody else. */
static void expect_knows(const char *what, const muster_t *muster, const char *type)
{
    uint32_t here = 0, key = key_of(world, type, "");
    for (uint32_t i = 0; i < GUESTS; i++) {
        uint32_t times = 0, has = rig.api->world->has(world, key, &guests[i], 1, NULL);
        for (uint32_t slot = 0; slot < MUSTER_ROOM; slot++)
            times += muster->known[slot].id == guests[i].id;
        EXPECT(times == has, "%s knows guest %u %u times, who %s", what, i, times, has == 1 ? "is there" : "has gone");
        here += has;
    }
    EXPECT(muster->count == here, "%s counts %u, and %u are there", what, muster->count, here);
    EXPECT(muster->wrong == 0, "%s was told wrongly %u times", what, muster->wrong);
}

static void expect_own(void)
{
    expect_knows("own", state_of(world, "muster_own"), "muster_own");
}

static void expect_first_is_back(void)
{
    ck_assert_ptr_nonnull(strstr(rig.log.text, "the version before is back"));
    ck_assert_ptr_null(strstr(rig.log.text, "out of memory"));
    ck_assert_ptr_null(bp_host_plugin_crash(rig.host, 0));
    ck_assert_str_eq(bp_host_plugin(rig.host, 0, NULL)->desc->version, "1");
}

static void destroy(uint32_t first, uint32_t count)
{
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, guests + first, count), count);
}

static void remove_from(const char *type, uint32_t first, uint32_t count)
{
    WORKS(rig.host, rig.api->world->remove(world, key_of(world, type, ""), guests + first, count));
}

/* --- storage of its own ------------------------------------------------------------------------------------------- */

/* The version crashes as it works, or when instances are to end: before one of them, or after the last. */
static void crash_over_instances(uint32_t at)
{
    muster_t *own = state_of(world, "muster_own");
    own->crash_told = at;
    own->crash_working = at == 0;
    memcpy(own->ends, guests, AT_ONCE * sizeof *own->ends);
    own->end_count = AT_ONCE;
    if (at == 0) {
        WORKS(rig.host, bp_world_step(world));
        return;
    }
    destroy(0, AT_ONCE);
    destroy(10, 2);
    remove_from("muster_own", 20, 3);
    destroy(30, 1);
    WORKS(rig.host, bp_host_poll(rig.host));
}

START_TEST(a_state_that_comes_back_after_a_crash_has_no_instance_of_an_entity_that_has_gone)
{
    open_with(50);
    bring("muster_kept");
    crash_over_instances((uint32_t)_i);
    expect_first_is_back();
    expect_own();
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "muster_own", NULL, NULL, NULL), guests, 4));
    expect_own();
    WORKS(rig.host, bp_world_step(world));
    end_host();
}
END_TEST

/* --- rows --------------------------------------------------------------------------------------------------------- */

static void put_values(void)
{
    for (uint32_t i = 0; i < GUESTS; i++) {
        char text[] = "a guest of the house";
        const char *label = text + i % 8;
        int32_t gone = (int32_t)(1000 * i);
        WORKS(rig.host, rig.api->property->set_named(world, guests[i], "muster_rows", "label", BP_STRING, &label));
        WORKS(rig.host, rig.api->property->set_named(world, guests[i], "muster_rows", "gone", BP_I32, &gone));
    }
}

/* What rows_removed of the first version sums up of so many rows. */
static int64_t sum_of(uint32_t first, uint32_t count)
{
    int64_t sum = 0;
    for (uint32_t i = first; i < first + count; i++)
        sum += (int64_t)strlen("a guest of the house") - i % 8 + 1000 * i;
    return sum;
}

static void expect_rows(void)
{
    expect_knows("rows", state_of(world, "muster_rows"), "muster_rows");
}

/* The version crashes as it works, or when it is told of rows that go. They are told with the values that they had, in
 * fields that it lacks too. */
START_TEST(a_state_that_comes_back_after_a_crash_knows_no_row_that_has_gone)
{
    open_with(50);
    put_values();
    bring(_i < 2 ? "muster_kept" : "muster_same");
    if (_i % 2 == 0)
        ((muster_t *)state_of(world, "muster_own"))->crash_working = 1;
    else
        ((muster_t *)state_of(world, "muster_rows"))->crash_told = 1;
    if (_i % 2 == 0) {
        muster_t *own = state_of(world, "muster_own");
        memcpy(own->ends, guests, AT_ONCE * sizeof *own->ends);
        own->end_count = AT_ONCE;
        WORKS(rig.host, bp_world_step(world));
    } else {
        destroy(0, AT_ONCE);
        remove_from("muster_rows", 20, 3);
        destroy(38, 2);
        check_host(rig.host);
        WORKS(rig.host, bp_host_poll(rig.host));
    }
    expect_first_is_back();
    expect_rows();
    int64_t sum = sum_of(0, AT_ONCE) + (_i % 2 == 0 ? 0 : sum_of(20, 3) + sum_of(38, 2));
    ck_assert_int_eq(((muster_t *)state_of(world, "muster_rows"))->sum, sum);
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "muster_rows", NULL, NULL, NULL), guests, 4));
    expect_rows();
    WORKS(rig.host, bp_world_step(world));
    end_host();
}
END_TEST

/* An entity is to have two of the component, and the second one crashes the version: the first one goes again. */
START_TEST(a_state_that_comes_back_after_a_crash_knows_nobody_who_has_not_come)
{
    static const char *const types[] = {"muster_own", "muster_rows"};
    const char *type = types[_i];
    open_with(50);
    bring("muster_kept");
    uint32_t keys[] = {key_of(world, type, ""), key_of(world, type, "second")}, prototype;
    bp_entity_t made[3];
    WORKS(rig.host, rig.api->world->prototype(world, keys, COUNT(keys), &prototype));
    ((muster_t *)state_of(world, type))->crash_coming = 2;
    FAILS(rig.host, BP_ERROR_FAILED, "crashed in", rig.api->world->create(world, prototype, made, COUNT(made)));
    check_host(rig.host);
    WORKS(rig.host, bp_host_poll(rig.host));
    expect_first_is_back();
    expect_own();
    expect_rows();
    WORKS(rig.host, rig.api->world->create(world, prototype, made, COUNT(made)));
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, made, COUNT(made)), COUNT(made));
    expect_own();
    expect_rows();
    end_host();
}
END_TEST

/* --- entities that match ------------------------------------------------------------------------------------------ */

static void expect_systems(void)
{
    expect_knows("one", system_state("muster_one"), "muster_rows");
    expect_knows("two", system_state("muster_two"), "muster_rows");
}

static void come_and_go(void)
{
    destroy(0, AT_ONCE);
    remove_from("muster_rows", 20, 3);
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "muster_rows", NULL, NULL, NULL), guests,
                                           AT_ONCE));
}

/* One system crashes when it is told; the other one, which is told after it, has not heard either. */
START_TEST(systems_that_come_back_after_a_crash_know_the_entities_that_match)
{
    open_with(50);
    bring("muster_kept");
    system_state("muster_one")->crash_told = 1;
    come_and_go();
    WORKS(rig.host, bp_world_step(world));
    expect_first_is_back();
    expect_systems();
    destroy(0, AT_ONCE + 3);
    remove_from("muster_rows", 30, 2);
    WORKS(rig.host, bp_world_step(world));
    expect_systems();
    end_host();
}
END_TEST

/* A world that steps after the one in which the crash was, before the host attends to that. */
START_TEST(systems_of_another_world_that_come_back_after_a_crash_know_the_entities_that_match)
{
    open_with(50);
    bp_world_o *other = world, *first = bp_world_create(rig.host, &(bp_world_desc_t){.name = "before"});
    WORKS(rig.host, bp_world_use_component(first, "muster_own"));
    WORKS(rig.host, bp_host_step(rig.host));
    bring("muster_kept");
    WORKS(rig.host, bp_host_step(rig.host));
    come_and_go();
    ((muster_t *)state_of(first, "muster_own"))->crash_told = 1;
    bp_entity_t one;
    WORKS(rig.host, rig.api->world->create(first, prototype_of(first, "muster_own", NULL, NULL, NULL), &one, 1));
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &one, 1), 1);
    WORKS(rig.host, bp_world_step(other));
    expect_first_is_back();
    expect_systems();
    end_host();
}
END_TEST

/* --- the next version --------------------------------------------------------------------------------------------- */

static const char *const nexts[] = {"muster_same", "muster_kept", "muster_saved", "muster_anew"};

/* There is no version to come back. Fields that are others make a state of rows begin anew; so does another form, by
 * which instances are saved and loaded, or made anew. */
START_TEST(a_state_that_goes_over_after_a_crash_knows_nobody_who_has_gone_meanwhile)
{
    open_with(0);
    put_values();
    muster_t *rows = state_of(world, "muster_rows");
    crash_over_instances(1);
    ck_assert_ptr_nonnull(bp_host_plugin_crash(rig.host, 0));
    WORKS(rig.host, bp_world_step(world));
    remove_from("muster_rows", 10 + AT_ONCE, 3);
    destroy(34, 2);
    WORKS(rig.host, bp_world_step(world));
    check_host(rig.host);
    bring(nexts[_i]);
    ck_assert_ptr_null(bp_host_plugin_crash(rig.host, 0));
    ck_assert_int_eq(state_of(world, "muster_rows") == rows, _i == 0);
    WORKS(rig.host, bp_world_step(world));
    expect_own();
    expect_rows();
    expect_systems();
    destroy(AT_ONCE, 3);
    WORKS(rig.host, bp_world_step(world));
    expect_own();
    expect_rows();
    expect_systems();
    end_host();
}
END_TEST

/* It crashes before it has ended the one, and afterwards. */
START_TEST(a_state_that_goes_over_after_a_crash_does_not_know_the_only_one_who_has_gone)
{
    open_with(0);
    ((muster_t *)state_of(world, "muster_own"))->crash_told = _i < 4 ? 1 : 2;
    destroy(0, 1);
    WORKS(rig.host, bp_host_poll(rig.host));
    ck_assert_ptr_nonnull(bp_host_plugin_crash(rig.host, 0));
    bring(nexts[_i % 4]);
    ck_assert_ptr_null(bp_host_plugin_crash(rig.host, 0));
    expect_own();
    expect_rows();
    WORKS(rig.host, bp_world_step(world));
    expect_systems();
    end_host();
}
END_TEST

/* Where loading has put instances elsewhere nobody knows the slots of those that were to end: they stay, and nobody
 * else ends in their places. */
START_TEST(nobody_ends_in_the_place_of_one_who_has_gone_where_loading_has_moved_them)
{
    open_with(0);
    crash_over_instances(1);
    ck_assert_ptr_nonnull(bp_host_plugin_crash(rig.host, 0));
    bring("muster_moved");
    for (uint32_t n = 0; n < 2; n++) {
        const muster_t *own = state_of(world, "muster_own");
        uint32_t key = key_of(world, "muster_own", "");
        for (uint32_t i = 0; i < GUESTS; i++) {
            uint32_t times = 0;
            for (uint32_t slot = 0; slot < MUSTER_ROOM; slot++)
                times += own->known[slot].id == guests[i].id;
            if (rig.api->world->has(world, key, &guests[i], 1, NULL) == 1)
                EXPECT(times == 1, "guest %u, who is there, is known %u times", i, times);
            else
                EXPECT(n == 0 || i < AT_ONCE || i >= AT_ONCE + 3 || times == 0, "guest %u has gone and is known", i);
        }
        EXPECT(own->wrong == 0, "it was told wrongly %u times", own->wrong);
        if (n == 0)
            destroy(AT_ONCE, 3); /* of these it is told */
        WORKS(rig.host, bp_world_step(world));
    }
    end_host();
}
END_TEST

/* A component that is told of no rows that come does not know who is there: where fields are others, it begins anew
 * with nothing. */
START_TEST(rows_of_other_fields_that_went_meanwhile_are_told_to_no_state)
{
    open_with(0);
    WORKS(rig.host, bp_world_use_component(world, "muster_left"));
    WORKS(rig.host, rig.api->world->add(world, key_of(world, "muster_left", ""), guests, GUESTS));
    remove_from("muster_left", 0, 1);
    crash_over_instances(1);
    remove_from("muster_left", 12, 2);
    bring(_i == 0 ? "muster_same" : "muster_kept");
    const muster_t *left = state_of(world, "muster_left");
    ck_assert_uint_eq(left->count, _i == 0 ? 1 + (AT_ONCE - 1 + 2 + 1) + 2 : 0);
    ck_assert_int_eq(left->sum, (int64_t)(left->count * strlen("nobody")));
    check_host(rig.host);
    remove_from("muster_left", 14, 2);
    ck_assert_uint_eq(left->count, _i == 0 ? 12 : 2);
    end_host();
}
END_TEST

/* --- memory ------------------------------------------------------------------------------------------------------- */

static void refuse_memory(bool refuses)
{
    rig.heap.refuse_first = refuses ? rig.heap.requests + 1 : 0;
    rig.heap.refuse_last = refuses ? UINT64_MAX : 0;
}

/* All goes on, and the log says what the state will not be told of. */
START_TEST(what_cannot_be_kept_for_want_of_memory_is_told_in_the_log)
{
    open_with(0);
    crash_over_instances(1);
    WORKS(rig.host, bp_world_step(world));
    refuse_memory(true);
    destroy(AT_ONCE, 5);
    destroy(12, 8);
    destroy(23, 7);
    destroy(31, 5);
    refuse_memory(false);
    ck_assert_ptr_nonnull(strstr(rig.log.text, "out of memory; component 'muster_own' may keep instances that no "
                                               "entity has any more"));
    ck_assert_ptr_nonnull(strstr(rig.log.text, "out of memory; component 'muster_rows' is not told of all rows"));
    check_host(rig.host);
    bring("muster_same");
    muster_t *own = state_of(world, "muster_own"), *rows = state_of(world, "muster_rows");
    ck_assert(own->wrong == 0 && rows->wrong == 0);
    ck_assert(own->count > 4 && rows->count > 7); /* who is there, and those of whom they are not told */
    WORKS(rig.host, bp_world_step(world));
    expect_systems();
    end_host();
}
END_TEST

START_TEST(entities_of_which_a_system_cannot_be_told_later_for_want_of_memory_are_told_in_the_log)
{
    open_with(0);
    WORKS(rig.host, bp_world_step(world));
    system_state("muster_one")->crash_told = 1;
    destroy(AT_ONCE, 3);
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "muster_rows", NULL, NULL, NULL),
                                           guests + AT_ONCE, 3));
    refuse_memory(true);
    bp_result_t result = bp_world_step(world);
    refuse_memory(false);
    WORKS(rig.host, result);
    ck_assert_ptr_nonnull(strstr(rig.log.text, "out of memory; system 'muster_one' is not told of all entities that "
                                               "come and go"));
    bring("muster_same");
    WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(system_state("muster_two")->wrong, 0);
    end_host();
}
END_TEST

Suite *ghosts_suite(void)
{
    Suite *suite = suite_create("ghosts");
    TCase *back = tcase_create("back"), *next = tcase_create("next"), *memory = tcase_create("memory");
    tcase_add_loop_test(back, a_state_that_comes_back_after_a_crash_has_no_instance_of_an_entity_that_has_gone, 0,
                        AT_ONCE + 2);
    tcase_add_loop_test(back, a_state_that_comes_back_after_a_crash_knows_no_row_that_has_gone, 0, 4);
    tcase_add_loop_test(back, a_state_that_comes_back_after_a_crash_knows_nobody_who_has_not_come, 0, 2);
    tcase_add_test(back, systems_that_come_back_after_a_crash_know_the_entities_that_match);
    tcase_add_test(back, systems_of_another_world_that_come_back_after_a_crash_know_the_entities_that_match);
    suite_add_tcase(suite, back);
    tcase_add_loop_test(next, a_state_that_goes_over_after_a_crash_knows_nobody_who_has_gone_meanwhile, 0, 4);
    tcase_add_loop_test(next, a_state_that_goes_over_after_a_crash_does_not_know_the_only_one_who_has_gone, 0, 8);
    tcase_add_test(next, nobody_ends_in_the_place_of_one_who_has_gone_where_loading_has_moved_them);
    tcase_add_loop_test(next, rows_of_other_fields_that_went_meanwhile_are_told_to_no_state, 0, 2);
    suite_add_tcase(suite, next);
    tcase_add_test(memory, what_cannot_be_kept_for_want_of_memory_is_told_in_the_log);
    tcase_add_test(memory, entities_of_which_a_system_cannot_be_told_later_for_want_of_memory_are_told_in_the_log);
    suite_add_tcase(suite, memory);
    return suite;
}
#else
Suite *ghosts_suite(void)
{
    return suite_create("ghosts");
}
#endif
