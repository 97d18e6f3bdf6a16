/* test_rollback_own.c - storage of a plugin's own on probation: what has died or come since the commit is ended, or
 * made, in the manager that comes back; and what `load` loses is not taken.
 *
 * The plugins are tests/fixtures/crasher.h, whose component crash_own counts its instances and is told of each death,
 * and keeper.c, which looks for its dead itself, moves instances, and has `save` and `load`.
 */
#include "../suites.h"
#include "reload_support.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 10, BEFORE = 100, SINCE = 700, PROBES = 3000, PROBES_DEAD = 2500 };

static rig_t rig;
static bp_world_o *world;
static bp_entity_t entities[BEFORE + SINCE];

static void open_world_with(uint32_t flags, const char *fixture, const char *component, const bp_option_t *options,
                            uint32_t count)
{
    const char *as = strcmp(fixture, "keeper") == 0 ? "keeper" : "crasher";
    uint32_t option_count = options == NULL ? 0 : as[0] == 'k' ? 1 : 2;
    rig_init(&rig);
    rig.desc.flags |= flags;
    rig_open(&rig);
    rig.host->reload.probation_steps = 50;
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin(fixture, as), options, option_count));
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, component));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, component, NULL, NULL, NULL), entities, count));
}

static void open_world(const char *fixture, const char *component, const bp_option_t *options, uint32_t count)
{
    open_world_with(0, fixture, component, options, count);
}

static void bring(const char *fixture, const char *as)
{
    const char *const names[] = {as};
    put_plugin(fixture, as);
    WORKS(rig.host, bp_host_reload(rig.host, names, 1, NULL));
}

static uint32_t instances(const char *component)
{
    world_t *rows = &world->rows;
    return world_count(rows, world_component(rows, component));
}

static void close_world(void)
{
    check_host(rig.host);
    rig.log.count = 0;
    rig_close(&rig);
}

static void set_number(uint32_t e, int32_t number)
{
    WORKS(rig.host, rig.api->property->set_named(world, entities[e], "keeper", "number", BP_I32, &number));
}

static int32_t number_of(uint32_t e)
{
    int32_t number = -1;
    WORKS(rig.host, rig.api->property->get_named(world, entities[e], "keeper", "number", BP_I32, &number));
    return number;
}

/* --- the dead and the new ------------------------------------------------------------------------------------- */

START_TEST(a_manager_that_comes_back_is_told_of_deaths_and_has_those_that_came)
{
    uint32_t dead = _i == 0 ? 3 : FEW, born = _i == 2 ? 0 : 2;
    open_world("crasher", "crash_own", NULL, FEW);
    bring("crasher_next", "crasher");
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, entities, dead), dead);
    if (born > 0)
        WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "crash_own", NULL, NULL, NULL),
                                               entities + FEW, born));
    ck_assert_uint_eq(instances("crash_own"), FEW - dead + born);
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    ck_assert_uint_eq(instances("crash_own"), FEW - dead + born);
    close_world();
}
END_TEST

/* A manager that collects its dead is not told of them: it would end others in their places. */
START_TEST(a_manager_that_finds_its_dead_itself_is_not_told_of_them)
{
    open_world("keeper", "keeper", NULL, BEFORE);
    for (uint32_t e = 0; e < BEFORE; e++)
        set_number(e, (int32_t)e);
    bring("keeper", "keeper");
    for (uint32_t e = 0; e < BEFORE; e += 3)
        ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &entities[e], 1), 1);
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "keeper", NULL, NULL, NULL), entities + BEFORE,
                                           FEW));
    set_number(BEFORE, 77);
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    ck_assert_uint_eq(instances("keeper"), BEFORE + FEW); /* the dead are still in it */
    for (uint32_t steps = 0; steps < 200; steps++)
        WORKS(rig.host, bp_world_step(world));
    for (uint32_t e = 0; e < BEFORE; e++) {
        if (e % 3 != 0)
            ck_assert_int_eq(number_of(e), (int32_t)e);
    }
    ck_assert_int_eq(number_of(BEFORE), 5); /* what was made since has its defaults */
    close_world();
}
END_TEST

/* Rows that a scene fills during a probation may have held instances of the version that comes back. */
START_TEST(what_a_scene_spawned_on_probation_has_instances_of_its_own_afterwards)
{
    bp_scene_o *scene;
    bp_entity_t *spawned = entities + BEFORE;
    open_world("keeper", "keeper", NULL, BEFORE);
    WORKS(rig.host, bp_scene_capture(world, &scene));
    bring("keeper", "keeper");
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, entities + BEFORE / 2, BEFORE / 2), BEFORE / 2);
    WORKS(rig.host, bp_scene_spawn(scene, world, 0, spawned, NULL));
    bp_scene_close(scene);
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    for (uint32_t e = 0; e < 2 * BEFORE; e++) {
        if (e < BEFORE / 2 || e >= BEFORE)
            set_number(e, (int32_t)e);
    }
    for (uint32_t steps = 0; steps < 600; steps++)
        WORKS(rig.host, bp_world_step(world));
    for (uint32_t e = 0; e < 2 * BEFORE; e++) {
        if (e < BEFORE / 2 || e >= BEFORE)
            ck_assert_int_eq(number_of(e), (int32_t)e);
    }
    close_world();
}
END_TEST

/* Take the reload back, with memory refused at each request in turn before it works: the component has `count`
 * instances all the while. */
static void take_back_at_last(const char *component, uint32_t count)
{
    heap_t *heap = &rig.heap;
    bool refused = true;
    uint32_t failures = 0;
    for (uint64_t n = 1; refused; n++) {
        uint64_t before = heap->refused;
        rig.log.count = 0;
        rig.log.text[0] = '\0';
        heap->refuse_first = heap->refuse_last = heap->requests + n;
        bp_result_t result = reload_rollback(&rig.host->reload);
        heap->refuse_first = heap->refuse_last = 0;
        refused = heap->refused > before;
        EXPECT(result == (refused ? BP_ERROR_MEMORY : BP_OK), "request %u: %s", (unsigned)n, bp_host_error(rig.host));
        EXPECT(!refused || bp_host_error(rig.host)[0] != '\0', "request %u: there is no reason", (unsigned)n);
        EXPECT(!refused || rig.log.count == 0, "request %u: %.300s", (unsigned)n, rig.log.text);
        failures += refused;
        ck_assert_uint_eq(instances(component), count);
        check_host(rig.host);
    }
    ck_assert_uint_ge(failures, 3);
}

/* Where making those that came fails, none of them has been made; there is a reason where the manager gives none. */
START_TEST(a_way_back_that_fails_leaves_nothing_in_the_old_manager)
{
    const bp_option_t silent = {.name = "fault", .value = "22"}; /* keeper.c: an error without a sentence */
    open_world("keeper", "keeper", _i == 0 ? NULL : &silent, BEFORE);
    bring("keeper", "keeper");
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "keeper", NULL, NULL, NULL), entities + BEFORE,
                                           SINCE));
    take_back_at_last("keeper", BEFORE + SINCE);
    for (uint32_t e = 0; e < BEFORE + SINCE; e += 50)
        ck_assert_int_eq(number_of(e), 5);
    close_world();
}
END_TEST

/* A manager that is full takes the first batch of those that came, and not the second. The first is taken back, and
 * when all of them have died the way back is free. */
START_TEST(what_was_made_for_a_way_back_that_failed_is_ended)
{
    const bp_option_t options[] = {{.name = "where", .value = "create"}, {.name = "how", .value = "full"}};
    open_world("crasher", "crash_own", options, FEW);
    bring("crasher_next", "crasher");
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "crash_own", NULL, NULL, NULL), entities + FEW,
                                           3 * BEFORE));
    FAILS(rig.host, BP_ERROR_LIMIT, "it is full", reload_rollback(&rig.host->reload));
    check_host(rig.host);
    ck_assert_uint_eq(instances("crash_own"), FEW + 3 * BEFORE);
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, entities + FEW, 3 * BEFORE), 3 * BEFORE);
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    ck_assert_uint_eq(instances("crash_own"), FEW);
    close_world();
}
END_TEST

/* reload_probe.h has room for 4,096 instances: for all that live at any time, and not for the dead beside those that
 * came in their place. */
static void open_probes(bp_entity_t *probed)
{
    rig_init(&rig);
    rig_open(&rig);
    rig.host->reload.probation_steps = 50;
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin("reload_probe_own", "probe"), NULL, 0));
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "probe"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "probe", NULL, NULL, NULL), probed, PROBES));
    for (uint32_t e = 0; e < PROBES; e++) {
        int64_t count = e;
        WORKS(rig.host, rig.api->property->set_named(world, probed[e], "probe", "count", BP_I64, &count));
    }
}

static int64_t probe_count(bp_entity_t probed)
{
    int64_t count = -1;
    WORKS(rig.host, rig.api->property->get_named(world, probed, "probe", "count", BP_I64, &count));
    return count;
}

START_TEST(a_manager_that_comes_back_ends_its_dead_before_it_makes_room_for_those_that_came)
{
    static bp_entity_t probed[PROBES + PROBES_DEAD];
    open_probes(probed);
    bring("reload_probe_own", "probe");
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, probed, PROBES_DEAD), PROBES_DEAD);
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "probe", NULL, NULL, NULL), probed + PROBES,
                                           PROBES_DEAD));
    take_back_at_last("probe", PROBES);
    for (uint32_t e = PROBES_DEAD; e < PROBES + PROBES_DEAD; e++)
        ck_assert_int_eq(probe_count(probed[e]), e < PROBES ? e : 0);
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, probed + PROBES_DEAD, PROBES), PROBES);
    ck_assert_uint_eq(instances("probe"), 0);
    close_world();
}
END_TEST

/* In both worlds, and of both plugins that come back together. Those that have died were the first in one world and
 * the last in the other, so that what is known of the dead of one manager says nothing about those of the next. */
START_TEST(all_managers_that_come_back_are_told_of_their_dead)
{
    enum { EACH = 10, DEAD = 4 };
    static const char *const names[] = {"probe", "crasher"}, *const components[] = {"probe", "crash_own"};
    bp_world_o *worlds[2];
    rig_init(&rig);
    rig_open(&rig);
    rig.host->reload.probation_steps = 50;
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin("reload_probe_own", "probe"), NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin("crasher", "crasher"), NULL, 0));
    for (uint32_t i = 0; i < 4; i++) {
        if (i < 2)
            worlds[i] = bp_world_create(rig.host, &(bp_world_desc_t){.name = names[i]});
        WORKS(rig.host, bp_world_use_component(worlds[i % 2], components[i / 2]));
        WORKS(rig.host, rig.api->world->create(worlds[i % 2], prototype_of(worlds[i % 2], components[i / 2], NULL, NULL,
                                                                           NULL), entities + i * EACH, EACH));
    }
    put_plugin("reload_probe_own", "probe");
    put_plugin("crasher_next", "crasher");
    WORKS(rig.host, bp_host_reload(rig.host, names, 2, NULL));
    for (uint32_t i = 0; i < 4; i++) {
        const bp_entity_t *dead = entities + i * EACH + i % 2 * (EACH - DEAD);
        ck_assert_uint_eq(rig.api->entity->destroy(rig.host, dead, DEAD), DEAD);
    }
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    for (uint32_t i = 0; i < 4; i++) {
        world = worlds[i % 2];
        ck_assert_msg(instances(components[i / 2]) == EACH - DEAD, "%s has %u", components[i / 2],
                      instances(components[i / 2]));
    }
    close_world();
}
END_TEST

/* Nor is anything left in the worlds that were ready when another one was not: their dead are unknown to the manager
 * that comes back at the next try. One comes before each of several tries. */
START_TEST(what_was_made_in_other_worlds_for_a_way_back_that_failed_is_ended_too)
{
    const bp_option_t options[] = {{.name = "where", .value = "create"}, {.name = "how", .value = "full"}};
    open_world("crasher", "crash_own", options, FEW);
    bp_world_o *second = bp_world_create(rig.host, &(bp_world_desc_t){.name = "second"});
    WORKS(rig.host, bp_world_use_component(second, "crash_own"));
    bring("crasher_next", "crasher");
    WORKS(rig.host, rig.api->world->create(second, prototype_of(second, "crash_own", NULL, NULL, NULL),
                                           entities + FEW + 4, 3 * BEFORE));
    for (uint32_t n = 0; n < 4; n++) {
        WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "crash_own", NULL, NULL, NULL),
                                               entities + FEW + n, 1));
        FAILS(rig.host, BP_ERROR_LIMIT, "it is full", reload_rollback(&rig.host->reload));
        check_host(rig.host);
    }
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, entities + FEW, 4 + 3 * BEFORE), 4 + 3 * BEFORE);
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    ck_assert_uint_eq(instances("crash_own"), FEW);
    ck_assert_uint_eq(world_count(&second->rows, world_component(&second->rows, "crash_own")), 0);
    close_world();
}
END_TEST

/* Where instances are missing, the version that has crashed cannot make them, and the next one stays. */
START_TEST(a_manager_that_crashes_over_its_dead_on_the_way_back_is_set_aside)
{
    const bp_option_t options[] = {{.name = "where", .value = "destroy"}, {.name = "how", .value = "null"}};
    uint32_t born = _i == 0 ? 0 : 2;
    KEEPS_MEMORY();
    open_world_with(BP_HOST_CRASH_GUARD, "crasher", "crash_own", options, FEW);
    bring("crasher_next", "crasher");
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, entities, 3), 3);
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "crash_own", NULL, NULL, NULL), entities + FEW,
                                           born));
    if (born == 0)
        WORKS(rig.host, reload_rollback(&rig.host->reload));
    else
        FAILS(rig.host, BP_ERROR_STATE, "set aside", reload_rollback(&rig.host->reload));
    ck_assert_ptr_nonnull(strstr(rig.log.text, "plugin 'crasher' 1.0 crashed in 'destroy' of component 'crash_own'"));
    ck_assert((bp_host_plugin_crash(rig.host, 0) != NULL) == (born == 0));
    WORKS(rig.host, bp_world_step(world));
    check_host(rig.host);
    bp_host_destroy(rig.host); /* what the plugin had when it crashed is lost, and told in the log */
}
END_TEST

/* --- saved and loaded ----------------------------------------------------------------------------------------- */

START_TEST(a_load_that_loses_one_instance_is_refused)
{
    static const char *const names[] = {"keeper"};
    const bp_option_t drops = {.name = "fault", .value = "19"}; /* keeper.c: load forgets the last instance */
    open_world("keeper", "keeper", &drops, FEW);
    for (uint32_t e = 0; e < FEW; e++)
        set_number(e, (int32_t)e + 20);
    put_plugin("keeper", "keeper");
    FAILS(rig.host, BP_ERROR_FAILED, "has lost instances: it has 9 instances after loading; 10 are alive",
          bp_host_reload(rig.host, names, 1, NULL));
    ck_assert_uint_eq(instances("keeper"), FEW);
    for (uint32_t e = 0; e < FEW; e++)
        ck_assert_int_eq(number_of(e), (int32_t)e + 20);
    close_world();
}
END_TEST

Suite *rollback_own_suite(void)
{
    Suite *suite = suite_create("rollback_own");
    TCase *own = tcase_create("own storage");
    tcase_set_timeout(own, 60);
    tcase_add_loop_test(own, a_manager_that_comes_back_is_told_of_deaths_and_has_those_that_came, 0, 3);
    tcase_add_test(own, a_manager_that_finds_its_dead_itself_is_not_told_of_them);
    tcase_add_test(own, what_a_scene_spawned_on_probation_has_instances_of_its_own_afterwards);
    tcase_add_loop_test(own, a_way_back_that_fails_leaves_nothing_in_the_old_manager, 0, 2);
    tcase_add_test(own, what_was_made_for_a_way_back_that_failed_is_ended);
    tcase_add_test(own, a_manager_that_comes_back_ends_its_dead_before_it_makes_room_for_those_that_came);
    tcase_add_test(own, all_managers_that_come_back_are_told_of_their_dead);
    tcase_add_test(own, what_was_made_in_other_worlds_for_a_way_back_that_failed_is_ended_too);
    tcase_add_loop_test(own, a_manager_that_crashes_over_its_dead_on_the_way_back_is_set_aside, 0, 2);
    tcase_add_test(own, a_load_that_loses_one_instance_is_refused);
    suite_add_tcase(suite, own);
    return suite;
}
