/* test_missed.c - deaths on probation: the version that comes back is told of those that it has missed, and of none
 * that its state has heard of.
 *
 * The plugin is tests/fixtures/vigil.h, whose states write down what they are told. A model of the deaths says what
 * each of them is to have been told, in which order.
 */
#include "../fixtures/vigil.h"
#include "../suites.h"
#include "reload_support.h"

#include "store/destruction.h"

#include <stdio.h>
#include <string.h>

enum { WORLDS = 3, PLACES = 24, MOST = 6000 };
enum { WITH, OF, ALL, SYSTEM, PLUGIN, LISTENERS };

static const char *const components[] = {"vigil_with", "vigil_of", "vigil_all", "mark"};
static rig_t rig;
static bp_world_o *worlds[WORLDS];

/* What each listener is to have been told. Those of ALL are told the same in each world, and the plugin in any order of
 * the worlds. */
typedef struct expected_t {
    bp_entity_t dead[MOST], referrers[MOST];
    uint32_t count;
} expected_t;

/* Even places are watched in the first world, places that are no multiple of 4 in the second; each has a weapon of its
 * own in both, that refers to it. */
static struct {
    bp_entity_t places[PLACES], weapons[PLACES];
    expected_t expected[LISTENERS][WORLDS];
    uint32_t embedder; /* deaths that the program has been told of */
    uint32_t died;
} model;

static bool has(uint32_t world, uint32_t place)
{
    return world == 0 ? place % 2 == 0 : place % 4 != 0;
}

static void note_destroyed(void *data, const bp_entity_t *entities, uint32_t count)
{
    (void)data, (void)entities;
    model.embedder += count;
}

static uint32_t prototype(uint32_t world, bool watched)
{
    return watched ? prototype_of(worlds[world], "vigil_with", "mark", NULL, NULL)
                   : prototype_of(worlds[world], "vigil_of", NULL, NULL, NULL);
}

static void add(uint32_t world, const char *type, bp_entity_t e)
{
    WORKS(rig.host, rig.api->world->add(worlds[world], key_of(worlds[world], type, ""), &e, 1));
}

static void make_place(uint32_t world, uint32_t place)
{
    if (has(world, place)) {
        add(world, "vigil_with", model.places[place]);
        add(world, "mark", model.places[place]);
    }
    add(world, "vigil_of", model.weapons[place]);
    WORKS(rig.host, rig.api->property->set_named(worlds[world], model.weapons[place], "vigil_of", "of", BP_ENTITY,
                                                 &model.places[place]));
}

static void begin_world(uint32_t w, const char *name, bool watched)
{
    worlds[w] = bp_world_create(rig.host, &(bp_world_desc_t){.name = name});
    for (uint32_t i = watched ? 0 : COUNT(components) - 1; i < COUNT(components); i++)
        WORKS(rig.host, bp_world_use_component(worlds[w], components[i]));
    if (watched)
        WORKS(rig.host, bp_world_use_system(worlds[w], "vigil_system"));
}

static void open_with(const char *fixture, uint32_t flags)
{
    static const char *const names[] = {"one", "two"};
    memset(&model, 0, sizeof model);
    rig_init(&rig);
    rig.desc.flags |= flags | BP_HOST_COPY_PLUGINS;
    rig_open(&rig);
    rig.host->reload.probation_steps = 50;
    WORKS(rig.host, bp_host_load_plugin(rig.host, "zoo", NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin(fixture, "vigil"), NULL, 0));
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &model, note_destroyed, NULL));
    WORKS(rig.host, rig.api->entity->create(rig.host, model.places, PLACES));
    WORKS(rig.host, rig.api->entity->create(rig.host, model.weapons, PLACES));
    for (uint32_t w = 0; w < 2; w++) {
        begin_world(w, names[w], true);
        for (uint32_t place = 0; place < PLACES; place++)
            make_place(w, place);
    }
}

static void open_first(void)
{
    open_with("vigil_first", 0);
}

static void close_host(void)
{
    check_host(rig.host);
    rig.log.count = 0; /* reloads */
    rig_close(&rig);
}

static void bring(const char *fixture)
{
    static const char *const names[] = {"vigil"};
    put_plugin(fixture, "vigil");
    WORKS(rig.host, bp_host_reload(rig.host, names, 1, NULL));
}

static void take_back(void)
{
    WORKS(rig.host, reload_rollback(&rig.host->reload));
}

/* --- the model ---------------------------------------------------------------------------------------------------- */

static void expect(uint32_t listener, uint32_t world, bp_entity_t dead, bp_entity_t referrer)
{
    expected_t *expected = &model.expected[listener][world];
    expected->dead[expected->count] = dead;
    expected->referrers[expected->count++] = referrer;
}

static void expect_death(uint32_t place)
{
    const bp_entity_t none = {0}, e = model.places[place];
    for (uint32_t w = 0; w < 2; w++) {
        expect(ALL, w, e, none);
        expect(OF, w, e, model.weapons[place]);
        for (uint32_t listener = 0; has(w, place) && listener < LISTENERS; listener++) {
            if (listener != ALL && listener != OF)
                expect(listener, w, e, none);
        }
    }
    model.died++;
}

/* The entities of so many places die together. */
static void die(uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        expect_death(first + i);
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, model.places + first, count), count);
}

static unit_t *system_unit(uint32_t w)
{
    const schedule_t *schedule = worlds[w]->schedule;
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (schedule->units[i]->system != NULL)
            return schedule->units[i];
    }
    ck_abort_msg("world %u has no system", w);
    return NULL; /* where the compiler does not know that the test has ended */
}

/* The state of a listener at present. */
static vigil_t *state(uint32_t listener, uint32_t w)
{
    if (listener == PLUGIN)
        return loader_find(&rig.host->loader, "vigil")->handed.state;
    return listener == SYSTEM ? system_unit(w)->verb.handed.state : state_of(worlds[w], components[listener]);
}

static void expect_listener(const expected_t *expected, const vigil_t *vigil, const bp_world_o *world, bool of_world,
                            const char *what)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < vigil->count; i++) {
        const vigil_death_t *told = &vigil->deaths[i];
        if (of_world && told->world != world)
            continue;
        EXPECT(count < expected->count, "%s: told of more than %u deaths", what, expected->count);
        EXPECT(told->dead.id == expected->dead[count].id, "%s: another death in place %u", what, count);
        EXPECT(told->referrer.id == expected->referrers[count].id, "%s: another referrer in place %u", what, count);
        EXPECT(of_world || told->world == NULL, "%s: a world in place %u", what, count);
        count++;
    }
    EXPECT(count == expected->count, "%s: told of %u deaths, and not of %u", what, count, expected->count);
}

/* Everybody has been told of what the model says, and of nothing else. */
static void expect_told(void)
{
    static const char *const names[LISTENERS] = {"with", "of", "all", "system", "plugin"};
    uint32_t of_plugin = 0;
    char what[64];
    for (uint32_t w = 0; w < WORLDS; w++) {
        for (uint32_t listener = 0; listener < LISTENERS && worlds[w] != NULL; listener++) {
            if (w == 2 && listener != PLUGIN)
                continue;
            snprintf(what, sizeof what, "%s, world %u", names[listener], w);
            expect_listener(&model.expected[listener][w], state(listener, w), worlds[w], listener != ALL, what);
        }
        of_plugin += worlds[w] == NULL ? 0 : model.expected[PLUGIN][w].count;
    }
    ck_assert_uint_eq(state(PLUGIN, 0)->count, of_plugin);
}

static void expect_version(uint32_t version)
{
    for (uint32_t listener = 0; listener < LISTENERS; listener++)
        ck_assert_uint_eq(state(listener, 0)->version, version);
}

static void step(void)
{
    WORKS(rig.host, bp_host_step(rig.host));
}

/* --- what is told ------------------------------------------------------------------------------------------------- */

static const char *const nexts[] = {"vigil_anew",    "vigil_untold",  "vigil_kept", "vigil_kept_untold",
                                    "vigil_renamed", "vigil_lacks"};

START_TEST(a_version_that_comes_back_has_been_told_of_each_death_once)
{
    open_first();
    step();
    die(0, 1);
    expect_told();
    bring(nexts[_i]);
    if (_i < 2)
        ck_assert_uint_eq(state(WITH, 0)->version, 2);
    die(1, 1);
    die(2, 3);
    step();
    bp_entity_t since;
    WORKS(rig.host, rig.api->entity->create(rig.host, &since, 1));
    for (uint32_t w = 0; w < 2; w++) {
        expect(ALL, w, since, (bp_entity_t){0});
        expect(WITH, w, since, (bp_entity_t){0});
        expect(SYSTEM, w, since, (bp_entity_t){0});
        add(w, "vigil_with", since);
    }
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &since, 1), 1);
    take_back();
    expect_version(1);
    expect_told();
    die(8, 5);
    step();
    expect_told();
    ck_assert_uint_eq(model.embedder, model.died + 1);
    ck_assert_ptr_null(rig.host->destruction.missed);
    close_host();
}
END_TEST

/* Not where the next version takes the state over and asks for others: then it is for that version to know them. */
START_TEST(a_plugin_that_asks_for_all_deaths_is_told_of_those_that_it_has_missed)
{
    open_with("vigil_all", 0);
    bring(strcmp(nexts[_i], "vigil_kept") == 0 ? "vigil_kept_untold" : nexts[_i]);
    die(1, 4);
    die(7, 1);
    take_back();
    model.expected[PLUGIN][0] = model.expected[ALL][0]; /* whichever world */
    expect_listener(&model.expected[PLUGIN][0], state(PLUGIN, 0), NULL, false, "the plugin");
    close_host();
}
END_TEST

/* As at a death: world by world managers, then systems, and plugins at the end. */
START_TEST(those_who_are_told_come_in_the_order_in_which_they_are_told_of_any_death)
{
    open_first();
    bring("vigil_untold");
    die(1, 1);
    die(2, 6);
    take_back();
    uint64_t last = 0;
    for (uint32_t i = 0; i <= 2 * PLUGIN; i++) {
        const vigil_t *vigil = state(i == 2 * PLUGIN ? PLUGIN : i % PLUGIN, i == 2 * PLUGIN ? 0 : i / PLUGIN);
        for (uint32_t k = 0; k < vigil->count; k++) {
            EXPECT((i == 0 && k == 0) || vigil->deaths[k].number == last + 1, "number %u of %u", k, i);
            last = vigil->deaths[k].number;
        }
    }
    ck_assert_uint_gt(last, 40);
    expect_told();
    close_host();
}
END_TEST

START_TEST(many_deaths_are_told_in_batches_like_those_of_any_moment)
{
    enum { MANY = 3000 };
    static bp_entity_t many[MANY];
    open_first();
    WORKS(rig.host, rig.api->world->create(worlds[0], prototype(0, true), many, MANY));
    bring("vigil_untold");
    for (uint32_t i = 0; i < MANY; i++) {
        expect(WITH, 0, many[i], (bp_entity_t){0});
        expect(SYSTEM, 0, many[i], (bp_entity_t){0});
        expect(PLUGIN, 0, many[i], (bp_entity_t){0});
        expect(ALL, 0, many[i], (bp_entity_t){0});
        expect(ALL, 1, many[i], (bp_entity_t){0});
        ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &many[i], 1), 1);
    }
    take_back();
    expect_told();
    ck_assert_uint_eq(state(WITH, 0)->calls, 2);
    ck_assert_uint_eq(state(ALL, 1)->calls, 2);
    close_host();
}
END_TEST

START_TEST(what_is_destroyed_when_missed_deaths_are_told_is_told_after_them)
{
    open_first();
    state(WITH, 0)->ends = model.places[9];
    bring(nexts[_i]);
    die(1, 2);
    take_back();
    expect_death(9);
    expect_told();
    ck_assert_uint_eq(rig.api->entity->alive(rig.host, &model.places[9], 1, NULL), 0);
    close_host();
}
END_TEST

/* --- worlds ------------------------------------------------------------------------------------------------------- */

START_TEST(deaths_of_a_world_that_has_ended_are_told_to_those_of_the_others)
{
    open_first();
    bring("vigil_untold");
    die(1, 6);
    bp_world_destroy(worlds[1]);
    die(7, 1);
    take_back();
    worlds[1] = NULL;
    expect_told();
    close_host();
}
END_TEST

START_TEST(a_plugin_is_told_of_deaths_in_a_world_that_has_come_since)
{
    open_first();
    bring("vigil_untold");
    die(1, 1);
    begin_world(2, "three", false);
    for (uint32_t place = 2; place < 5; place++) {
        expect(PLUGIN, 2, model.places[place], (bp_entity_t){0});
        add(2, "mark", model.places[place]);
    }
    die(2, 3);
    if (_i == 1) {
        bp_world_destroy(worlds[2]);
        worlds[2] = NULL;
        die(6, 1);
    }
    take_back();
    expect_told();
    close_host();
    worlds[2] = NULL;
}
END_TEST

/* --- the end of a probation --------------------------------------------------------------------------------------- */

START_TEST(what_was_missed_is_forgotten_when_the_probation_ends)
{
    open_first();
    rig.host->reload.probation_steps = 1;
    bring("vigil_anew");
    die(1, 4);
    expect_told();
    switch (_i) {
    case 0: step(); break; /* of both worlds */
    case 1: reload_accept(&rig.host->reload); break;
    case 2: WORKS(rig.host, bp_host_unload_plugin(rig.host, "vigil")); break;
    default: break; /* the host ends before */
    }
    ck_assert_int_eq(rig.host->reload.probation == NULL, _i < 3);
    ck_assert_int_eq(rig.host->destruction.missed == NULL, _i < 3);
    if (_i != 2) {
        die(7, 2);
        expect_told();
    }
    close_host(); /* all memory is back */
}
END_TEST

/* So many that they would take too much memory. A version that is taken back before the step is told of those that were
 * kept. */
START_TEST(a_probation_ends_with_a_step_by_which_too_many_deaths_have_been_missed)
{
    static const char said[] = "deaths wait for the versions before to come back, and no more are kept";
    open_first();
    rig.host->reload.most_missed = 40;
    bring("vigil_untold");
    die(1, 2);
    step();
    ck_assert_ptr_null(strstr(rig.log.text, said));
    ck_assert_ptr_nonnull(rig.host->reload.probation);
    die(3, 8);
    ck_assert_ptr_nonnull(strstr(rig.log.text, said));
    uint64_t requests = rig.heap.requests;
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, model.places + 11, 3), 3);
    EXPECT(rig.heap.requests == requests, "more deaths are kept");
    if (_i == 0) {
        step();
        ck_assert_ptr_null(rig.host->reload.probation);
        FAILS(rig.host, BP_ERROR_STATE, "on probation", reload_rollback(&rig.host->reload));
    } else {
        take_back();
        expect_told();
    }
    step();
    close_host();
}
END_TEST

START_TEST(a_later_version_that_is_taken_back_leaves_the_one_before_with_what_it_has_missed)
{
    open_first();
    bring("vigil_anew");
    die(1, 4);
    bring(_i == 0 ? "vigil_untold" : "vigil_first");
    if (_i == 1) {
        for (uint32_t listener = 0; listener < LISTENERS; listener++)
            ck_assert_uint_eq(state(listener, 0)->count, 0);
    }
    die(7, 2);
    take_back();
    expect_version(2);
    expect_told();
    FAILS(rig.host, BP_ERROR_STATE, "on probation", reload_rollback(&rig.host->reload));
    close_host();
}
END_TEST

/* A reload that is refused over it leaves all as it is. */
START_TEST(a_reload_that_is_refused_changes_nothing_about_what_is_missed)
{
    static const char *const names[] = {"vigil"};
    open_first();
    bring("vigil_untold");
    die(1, 4);
    put_plugin("no_symbol", "vigil");
    FAILS(rig.host, BP_ERROR_ABI, "bp_plugin", bp_host_reload(rig.host, names, 1, NULL));
    die(7, 2);
    take_back();
    expect_told();
    close_host();
}
END_TEST

/* --- crashes ------------------------------------------------------------------------------------------------------ */

#if !defined(__SANITIZE_THREAD__)
static void open_guarded(void)
{
    KEEPS_MEMORY();
    open_with("vigil_first", BP_HOST_CRASH_GUARD);
    rig.host->reload.probation_steps = 50;
}

static void close_guarded(void)
{
    check_host(rig.host);
    bp_host_destroy(rig.host); /* what the plugin had when it crashed is lost, and told in the log */
}

/* The version has crashed when the deaths of its last step are told, so none of its listeners hears of them. */
START_TEST(deaths_of_the_step_in_which_a_version_crashes_are_told_to_the_one_that_comes_back)
{
    open_guarded();
    bring(nexts[_i]);
    die(1, 4);
    state(WITH, 0)->crash_working = 1;
    state(WITH, 0)->ends = model.places[12];
    WORKS(rig.host, bp_world_step(worlds[0]));
    ck_assert_ptr_nonnull(strstr(rig.log.text, "the version before is back"));
    expect_version(1);
    expect_death(12);
    expect_told();
    die(15, 2); /* and each of them once */
    expect_told();
    step();
    close_guarded();
}
END_TEST

/* What the call has written that crashed stays, and is told again, since nobody knows how far it came. */
START_TEST(deaths_whose_telling_has_crashed_a_version_are_told_to_the_one_that_comes_back)
{
    const bool kept = _i == 1;
    open_guarded();
    bring(kept ? "vigil_kept" : "vigil_anew");
    die(1, 1);
    state(WITH, 0)->crash_told = 1;
    die(2, 1);
    if (kept)
        expect(WITH, 0, model.places[2], (bp_entity_t){0});
    WORKS(rig.host, bp_host_poll(rig.host));
    expect_version(1);
    expect_told();
    step();
    close_guarded();
}
END_TEST

START_TEST(a_version_that_crashes_when_it_is_told_of_what_it_has_missed_is_set_aside)
{
    open_guarded();
    state(OF, 0)->crash_told = 1;
    bring("vigil_untold");
    die(2, 1);
    take_back();
    ck_assert_ptr_nonnull(strstr(rig.log.text, "plugin 'vigil' 1 crashed in 'died' of component 'vigil_of'"));
    expect_listener(&model.expected[WITH][0], state(WITH, 0), worlds[0], true, "told before");
    ck_assert_uint_eq(state(WITH, 1)->count, 0);
    step();
    ck_assert_ptr_nonnull(bp_host_plugin_crash(rig.host, 1));
    close_guarded();
}
END_TEST

/* It was trusted while its next version was prepared. */
START_TEST(a_version_that_was_set_aside_before_it_was_replaced_comes_back_set_aside)
{
    char crash[512];
    open_guarded();
    state(PLUGIN, 0)->crash_told = 1;
    die(1, 1);
    WORKS(rig.host, bp_host_poll(rig.host));
    ck_assert_ptr_nonnull(bp_host_plugin_crash(rig.host, 1));
    snprintf(crash, sizeof crash, "%s", bp_host_plugin_crash(rig.host, 1));
    bring("vigil_anew");
    ck_assert_ptr_null(bp_host_plugin_crash(rig.host, 1));
    if (_i == 0) {
        take_back();
    } else {
        state(WITH, 0)->crash_working = 1;
        step();
        ck_assert_ptr_nonnull(strstr(rig.log.text, "the version before is back, with its columns, and is set aside"));
    }
    ck_assert_str_eq(bp_host_plugin_crash(rig.host, 1), crash);
    ck_assert_ptr_nonnull(strstr(rig.log.text, "plugin 'vigil' 1 is set aside, as it was before the reload: plugin "
                                               "'vigil' 1 crashed in 'died'"));
    ck_assert_uint_eq(state(WITH, 0)->version, 1);
    step();
    bring("vigil_anew");
    ck_assert_ptr_null(bp_host_plugin_crash(rig.host, 1));
    step();
    close_guarded();
}
END_TEST

/* --- without a version to come back ------------------------------------------------------------------------------- */

/* It crashes as it works, before the deaths of the step, or when it is told of deaths, which it has written down. */
static void crash_without_probation(bool told)
{
    rig.host->reload.probation_steps = 0;
    if (told) {
        state(WITH, 0)->crash_told = 1;
        die(12, 1);
        expect(WITH, 0, model.places[12], (bp_entity_t){0});
        WORKS(rig.host, bp_host_poll(rig.host));
    } else {
        state(WITH, 0)->crash_working = 1;
        state(WITH, 0)->ends = model.places[12];
        WORKS(rig.host, bp_world_step(worlds[0]));
        expect_death(12);
    }
    ck_assert_ptr_nonnull(bp_host_plugin_crash(rig.host, 1));
}

START_TEST(a_version_that_takes_a_state_over_is_told_of_the_deaths_since_its_plugin_was_set_aside)
{
    open_guarded();
    die(0, 2);
    crash_without_probation(_i == 1);
    die(2, 4);
    step();
    die(6, 1);
    check_host(rig.host);
    bring("vigil_kept");
    ck_assert_ptr_null(bp_host_plugin_crash(rig.host, 1));
    expect_told();
    die(14, 3);
    step();
    expect_told();
    close_guarded();
}
END_TEST

START_TEST(a_plugin_that_asks_for_all_deaths_is_told_of_those_since_it_was_set_aside)
{
    KEEPS_MEMORY();
    open_with("vigil_all", BP_HOST_CRASH_GUARD);
    crash_without_probation(false);
    die(1, 4);
    die(7, 1);
    check_host(rig.host);
    bring("vigil_all");
    model.expected[PLUGIN][0] = model.expected[ALL][0]; /* whichever world */
    expect_listener(&model.expected[PLUGIN][0], state(PLUGIN, 0), NULL, false, "the plugin");
    close_guarded();
}
END_TEST

/* Whose state begins anew, or who asks for none. */
START_TEST(a_version_that_has_another_state_is_told_of_no_deaths_before_it)
{
    open_guarded();
    crash_without_probation(false);
    die(1, 4);
    bring(_i == 0 ? "vigil_anew" : "vigil_kept_untold");
    for (uint32_t listener = 0; listener < LISTENERS; listener++)
        ck_assert_uint_eq(state(listener, 0)->count, 0);
    bring(_i == 0 ? "vigil_anew" : "vigil_kept");
    for (uint32_t listener = 0; listener < LISTENERS; listener++)
        ck_assert_uint_eq(state(listener, 0)->count, 0);
    step();
    close_guarded();
}
END_TEST

/* A call of the next version may crash as well. */
START_TEST(a_version_that_crashes_when_it_is_told_of_deaths_before_it_leaves_the_rest_to_the_next)
{
    open_guarded();
    crash_without_probation(false);
    die(1, 4);
    state(OF, 0)->crash_told = 1;
    bring("vigil_kept");
    ck_assert_ptr_nonnull(bp_host_plugin_crash(rig.host, 1));
    for (uint32_t i = 0; i < 5; i++) /* what it had written down is told again */
        expect(OF, 0, model.expected[OF][0].dead[i], model.expected[OF][0].referrers[i]);
    die(5, 2);
    bring("vigil_kept");
    ck_assert_ptr_null(bp_host_plugin_crash(rig.host, 1));
    expect_told();
    close_guarded();
}
END_TEST

/* Nobody knows when a version comes that works. */
START_TEST(deaths_while_a_plugin_is_set_aside_are_held_up_to_a_bound_which_the_log_tells_once)
{
    enum { HELD = 1 << 20, MORE = HELD + 10000, BATCH = 2048 };
    bp_entity_t *many = room_of(MORE * sizeof *many);
    open_guarded();
    crash_without_probation(false);
    WORKS(rig.host, rig.api->entity->create(rig.host, many, MORE));
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, many, MORE), MORE);
    const char *said = strstr(rig.log.text, "more deaths than 1048576 wait for a version that works: no more are told");
    ck_assert_ptr_nonnull(said);
    bring("vigil_kept");
    ck_assert_uint_eq(state(ALL, 0)->calls, HELD / BATCH + 1);
    ck_assert_uint_eq(state(ALL, 0)->deaths[1].dead.id, many[0].id);
    rig.log.count = 0, rig.log.text[0] = '\0';
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &model.places[3], 1), 1);
    ck_assert_uint_eq(state(ALL, 0)->calls, HELD / BATCH + 2);
    close_guarded();
}
END_TEST
#endif

/* --- memory ------------------------------------------------------------------------------------------------------- */

#define LACK "out of memory; where the version before comes back, not all deaths are told to its listeners"

/* Was a request refused since there were so many refusals? From now on none is. */
static bool was_refused(uint64_t before)
{
    rig.heap.refuse_first = rig.heap.refuse_last = 0;
    return rig.heap.refused > before;
}

static void refuse(uint64_t n)
{
    rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
}

/* Whichever request of the reload fails, the version in place goes on being told, and nothing is kept for others. */
START_TEST(a_reload_without_memory_leaves_nothing_that_would_be_told)
{
    static const char *const names[] = {"vigil"};
    bool refused = true;
    uint32_t failures = 0;
    open_first();
    put_plugin("vigil_anew", "vigil");
    for (uint64_t n = 1; refused; n++) {
        uint64_t before = rig.heap.refused;
        refuse(n);
        bp_result_t result = bp_host_reload(rig.host, names, 1, NULL);
        refused = was_refused(before);
        if (result == BP_OK) {
            ck_assert_ptr_nonnull(rig.host->destruction.missed);
            take_back();
            continue;
        }
        EXPECT(strstr(bp_host_error(rig.host), "memory") != NULL, "request %u: %s", (unsigned)n,
               bp_host_error(rig.host));
        ck_assert_ptr_null(rig.host->destruction.missed);
        failures++;
    }
    ck_assert_uint_gt(failures, 50);
    die(1, 5);
    expect_told();
    close_host();
}
END_TEST

static bool is_told(const vigil_t *vigil, const expected_t *expected, uint32_t *lacking)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < expected->count; i++) {
        if (at < vigil->count && vigil->deaths[at].dead.id == expected->dead[i].id)
            at++;
        else
            ++*lacking;
    }
    return at == vigil->count;
}

static bool log_says(const char *what)
{
    return strstr(rig.log.text, what) != NULL;
}

/* Deaths for which there is no memory are not told, which the log says; all others are, in their order. In every other
 * round all requests from the n-th on fail, also those without which the host does. */
START_TEST(deaths_that_cannot_be_kept_for_want_of_memory_are_told_in_the_log)
{
    uint32_t lacking = 0, sentences[2] = {0, 0};
    open_first();
    bring("vigil_untold");
    for (uint32_t place = 0; place < PLACES; place++) {
        uint64_t before = rig.heap.refused;
        rig.log.count = 0, rig.log.text[0] = '\0';
        refuse(place / 2 + 1);
        bool one = place % 2 != 0;
        rig.heap.refuse_last = one ? rig.heap.refuse_last : UINT64_MAX;
        die(place, 1);
        if (was_refused(before) && one)
            EXPECT(log_says("out of memory; "), "the log says:\n%s", rig.log.text);
        sentences[log_says(LACK)] += log_says("out of memory; ");
    }
    take_back();
    for (uint32_t w = 0; w < 2; w++) {
        for (uint32_t listener = 0; listener < PLUGIN; listener++)
            EXPECT(is_told(state(listener, w), &model.expected[listener][w], &lacking), "listener %u", listener);
    }
    ck_assert_uint_gt(sentences[0] + sentences[1], 2);
    ck_assert_uint_gt(sentences[1], 0);
    ck_assert_uint_gt(lacking, 2);
    close_host();
}
END_TEST

/* A plugin asks in each world, so a world that comes takes memory at the next death. */
START_TEST(a_world_that_comes_without_memory_for_its_deaths_is_told_in_the_log)
{
    enum { MORE = 12, BEFORE = 40 };
    bp_entity_t before[BEFORE];
    uint32_t sentences = 0;
    open_first();
    bring("vigil_untold");
    WORKS(rig.host, rig.api->entity->create(rig.host, before, BEFORE));
    rig.api->entity->destroy(rig.host, before, BEFORE - 1);
    rig.api->entity->destroy(rig.host, before + BEFORE - 1, 1); /* there is twice the room now */
    for (uint32_t i = 0; i < MORE; i++) {
        char name[16];
        bp_entity_t other, marked;
        snprintf(name, sizeof name, "more_%u", i);
        bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = name});
        WORKS(rig.host, bp_world_use_component(world, "mark"));
        WORKS(rig.host, rig.api->entity->create(rig.host, &other, 1));
        WORKS(rig.host, rig.api->entity->create(rig.host, &marked, 1));
        WORKS(rig.host, rig.api->world->add(world, key_of(world, "mark", ""), &marked, 1));
        rig.log.count = 0, rig.log.text[0] = '\0';
        refuse(1);
        rig.heap.refuse_last = UINT64_MAX;
        ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &other, 1), 1);
        was_refused(0);
        sentences += log_says(LACK);
        ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &marked, 1), 1);
    }
    ck_assert_uint_gt(sentences, 0);
    take_back();
    ck_assert_uint_eq(state(PLUGIN, 0)->count, MORE);
    close_host();
}
END_TEST

/* The way back fails at each request for memory in turn, for instances of keeper that have come since; what dies
 * between two tries is missed too. */
START_TEST(a_way_back_that_fails_keeps_what_is_to_be_told)
{
    enum { SINCE = 300 };
    static bp_entity_t since[SINCE];
    static const char *const names[] = {"keeper", "vigil"};
    bool refused = true;
    uint32_t failures = 0;
    open_first();
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin("keeper", "keeper"), NULL, 0));
    WORKS(rig.host, bp_world_use_component(worlds[0], "keeper"));
    put_plugin("vigil_untold", "vigil");
    put_plugin("keeper", "keeper");
    WORKS(rig.host, bp_host_reload(rig.host, names, 2, NULL));
    WORKS(rig.host, rig.api->world->create(worlds[0], prototype_of(worlds[0], "keeper", NULL, NULL, NULL), since,
                                           SINCE));
    die(0, 1);
    for (uint64_t n = 1; refused; n++) {
        uint64_t before = rig.heap.refused;
        if (failures < PLACES - 1)
            die(failures + 1, 1);
        refuse(n);
        bp_result_t result = reload_rollback(&rig.host->reload);
        refused = was_refused(before);
        EXPECT(result == (refused ? BP_ERROR_MEMORY : BP_OK), "request %u: %s", (unsigned)n, bp_host_error(rig.host));
        failures += refused;
    }
    ck_assert_uint_ge(failures, 2);
    expect_told();
    close_host();
}
END_TEST

Suite *missed_suite(void)
{
    Suite *suite = suite_create("missed");
    TCase *told = tcase_create("told"), *ends = tcase_create("ends"), *memory = tcase_create("memory");
    tcase_add_loop_test(told, a_version_that_comes_back_has_been_told_of_each_death_once, 0, COUNT(nexts));
    tcase_add_loop_test(told, a_plugin_that_asks_for_all_deaths_is_told_of_those_that_it_has_missed, 0, COUNT(nexts));
    tcase_add_test(told, those_who_are_told_come_in_the_order_in_which_they_are_told_of_any_death);
    tcase_add_test(told, many_deaths_are_told_in_batches_like_those_of_any_moment);
    tcase_add_loop_test(told, what_is_destroyed_when_missed_deaths_are_told_is_told_after_them, 0, 2);
    suite_add_tcase(suite, told);
    tcase_add_test(ends, deaths_of_a_world_that_has_ended_are_told_to_those_of_the_others);
    tcase_add_loop_test(ends, a_plugin_is_told_of_deaths_in_a_world_that_has_come_since, 0, 2);
    tcase_add_loop_test(ends, what_was_missed_is_forgotten_when_the_probation_ends, 0, 4);
    tcase_add_loop_test(ends, a_probation_ends_with_a_step_by_which_too_many_deaths_have_been_missed, 0, 2);
    tcase_add_loop_test(ends, a_later_version_that_is_taken_back_leaves_the_one_before_with_what_it_has_missed, 0, 2);
    tcase_add_test(ends, a_reload_that_is_refused_changes_nothing_about_what_is_missed);
    suite_add_tcase(suite, ends);
#if !defined(__SANITIZE_THREAD__)
    TCase *crashes = tcase_create("crashes");
    tcase_add_loop_test(crashes, deaths_of_the_step_in_which_a_version_crashes_are_told_to_the_one_that_comes_back, 0,
                        COUNT(nexts));
    tcase_add_loop_test(crashes, deaths_whose_telling_has_crashed_a_version_are_told_to_the_one_that_comes_back, 0, 2);
    tcase_add_test(crashes, a_version_that_crashes_when_it_is_told_of_what_it_has_missed_is_set_aside);
    tcase_add_loop_test(crashes, a_version_that_was_set_aside_before_it_was_replaced_comes_back_set_aside, 0, 2);
    tcase_add_loop_test(crashes, a_version_that_takes_a_state_over_is_told_of_the_deaths_since_its_plugin_was_set_aside,
                        0, 2);
    tcase_add_test(crashes, a_plugin_that_asks_for_all_deaths_is_told_of_those_since_it_was_set_aside);
    tcase_add_test(crashes, deaths_while_a_plugin_is_set_aside_are_held_up_to_a_bound_which_the_log_tells_once);
    tcase_add_loop_test(crashes, a_version_that_has_another_state_is_told_of_no_deaths_before_it, 0, 2);
    tcase_add_test(crashes, a_version_that_crashes_when_it_is_told_of_deaths_before_it_leaves_the_rest_to_the_next);
    suite_add_tcase(suite, crashes);
#endif
    tcase_set_timeout(memory, 60);
    tcase_add_test(memory, a_reload_without_memory_leaves_nothing_that_would_be_told);
    tcase_add_test(memory, deaths_that_cannot_be_kept_for_want_of_memory_are_told_in_the_log);
    tcase_add_test(memory, a_world_that_comes_without_memory_for_its_deaths_is_told_in_the_log);
    tcase_add_test(memory, a_way_back_that_fails_keeps_what_is_to_be_told);
    suite_add_tcase(suite, memory);
    return suite;
}
