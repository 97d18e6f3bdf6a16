/* test_reload_sets.c - what systems are told of who matches, across reloads and ways back: a state knows exactly what
 * matches its version's terms, whichever versions were at work meanwhile.
 *
 * The plugin is tests/fixtures/census.h. A naive model knows which entities live and what they have. At random entities
 * come, go and change, worlds step, versions come, are refused memory, and are taken back; after each step the list of
 * the system is compared with the model.
 */
#include "../fixtures/census.h"
#include "../suites.h"
#include "reload_support.h"

#include <string.h>

enum { SOULS = 300, FIRST = 1, NEXT, GONE };

typedef struct soul_t {
    bp_entity_t entity;
    bool alive, has_soul, has_shade;
} soul_t;

static rig_t rig;
static bp_world_o *world;
static soul_t souls[SOULS];
static uint32_t soul_count, soul, shade;
static uint64_t random_state;

static uint32_t below(uint32_t bound)
{
    return bp_random_below(&random_state, bound);
}

static void put(uint32_t version)
{
    static const char *const fixtures[] = {[FIRST] = "census_first", [NEXT] = "census_next", [GONE] = "census_gone"};
    put_plugin(fixtures[version], "census");
}

static void open_world(uint32_t version)
{
    memset(souls, 0, sizeof souls);
    soul_count = 0;
    rig_init(&rig);
    rig_open(&rig);
    rig.host->reload.probation_steps = 1000;
    put(version);
    WORKS(rig.host, bp_host_load_plugin(rig.host, TEST_SCRATCH_DIR "/census" TEST_SO, NULL, 0));
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "soul"));
    WORKS(rig.host, bp_world_use_component(world, "shade"));
    WORKS(rig.host, bp_world_use_system(world, "census"));
    soul = key_of(world, "soul", "");
    shade = key_of(world, "shade", "");
}

static void close_world(void)
{
    check_host(rig.host);
    rig.log.count = 0;
    rig_close(&rig);
}

static void bring(uint32_t version)
{
    static const char *const names[] = {"census"};
    put(version);
    WORKS(rig.host, bp_host_reload(rig.host, names, 1, NULL));
}

/* --- the model ---------------------------------------------------------------------------------------------------- */

static void make(uint32_t count, bool shaded)
{
    for (uint32_t i = 0; i < count && soul_count < SOULS; i++) {
        soul_t *s = &souls[soul_count++];
        *s = (soul_t){.alive = true, .has_soul = true, .has_shade = shaded};
        WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "soul", shaded ? "shade" : NULL, NULL, NULL),
                                               &s->entity, 1));
    }
}

static void change(soul_t *s, uint32_t key, bool *has)
{
    const bp_world_api *api = rig.api->world;
    if (!s->alive)
        return;
    WORKS(rig.host, (*has ? api->remove : api->add)(world, key, &s->entity, 1));
    *has = !*has;
}

static void end(soul_t *s)
{
    if (s->alive)
        ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &s->entity, 1), 1);
    s->alive = false;
}

static const census_t *census(void)
{
    const schedule_t *schedule = world->schedule;
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (strcmp(schedule->units[i]->name, "census") == 0)
            return schedule->units[i]->verb.handed.state;
    }
    return NULL;
}

static bool is_known(const census_t *c, bp_entity_t e)
{
    uint32_t at = 0;
    while (at < c->count && c->known[at].id != e.id)
        at++;
    return at < c->count;
}

static void step_and_compare(uint32_t version)
{
    uint32_t matching = 0;
    WORKS(rig.host, bp_world_step(world));
    const census_t *c = census();
    ck_assert((c == NULL) == (version == GONE));
    if (c == NULL)
        return;
    ck_assert_uint_eq(c->version, version);
    ck_assert_uint_eq(c->faults, 0);
    for (uint32_t i = 0; i < soul_count; i++) {
        const soul_t *s = &souls[i];
        bool matches = s->alive && s->has_soul && (version == FIRST || !s->has_shade);
        matching += matches;
        EXPECT(is_known(c, s->entity) == matches, "soul %u of %u, which %s", i, soul_count,
               matches ? "matches, is not known" : "does not match, is known");
    }
    ck_assert_uint_eq(c->count, matching);
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

/* What waits to be told is written down at the commit, or at the way back, in loops 1 and 3. */
START_TEST(a_system_that_comes_back_is_told_of_what_has_changed_and_of_nothing_else)
{
    open_world(FIRST);
    make(20, false);
    step_and_compare(FIRST);
    if ((_i & 1) != 0) {
        make(5, false);
        end(&souls[0]);
        change(&souls[1], soul, &souls[1].has_soul);
    }
    bring(_i < 2 ? NEXT : GONE);
    step_and_compare(_i < 2 ? NEXT : GONE);
    make(3, false);
    end(&souls[2]);
    change(&souls[3], soul, &souls[3].has_soul);
    change(&souls[4], shade, &souls[4].has_shade);
    step_and_compare(_i < 2 ? NEXT : GONE);
    if ((_i & 1) != 0) {
        make(2, false);
        end(&souls[5]);
    }
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    step_and_compare(FIRST);
    end(&souls[6]);
    make(1, true);
    step_and_compare(FIRST);
    close_world();
}
END_TEST

/* Between the way back and the step there is a snapshot, which is brought back later: nobody is told twice. */
START_TEST(a_snapshot_right_after_a_way_back_knows_what_the_system_was_told)
{
    bp_snapshot_o *snapshot;
    open_world(FIRST);
    make(20, false);
    step_and_compare(FIRST);
    bring(NEXT);
    step_and_compare(NEXT);
    end(&souls[2]);
    make(4, false);
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    ck_assert_uint_eq(census()->count, 23);
    WORKS(rig.host, bp_host_snapshot(rig.host, &snapshot));
    step_and_compare(FIRST);
    WORKS(rig.host, bp_host_bring_back(rig.host, snapshot));
    bp_snapshot_free(snapshot);
    step_and_compare(FIRST);
    close_world();
}
END_TEST

/* A request for memory is refused, of those that reloads make or a later one: the change is not made, or is made whole.
 * `version` 0: the way back. */
static bool done_with_memory_refused(uint32_t version, uint32_t requests)
{
    static const char *const names[] = {"census"};
    heap_t *heap = &rig.heap;
    uint64_t before = heap->refused;
    if (version != 0)
        put(version);
    heap->refuse_first = heap->refuse_last = heap->requests + 1 + below(requests);
    bp_result_t result =
        version == 0 ? reload_rollback(&rig.host->reload) : bp_host_reload(rig.host, names, 1, NULL);
    heap->refuse_first = heap->refuse_last = 0;
    ck_assert(result == BP_OK || heap->refused > before);
    return result == BP_OK;
}

START_TEST(states_know_exactly_what_matches_across_random_reloads_and_ways_back)
{
    uint32_t at_work = FIRST, before = FIRST;
    random_state = (uint64_t)_i + 1;
    open_world(FIRST);
    make(_i % 2 == 0 ? 10 : SOULS - 60, false); /* many have indices that follow each other */
    for (uint32_t event = 0; event < 150; event++) {
        uint32_t kind = below(12), version = 1 + below(3);
        soul_t *s = &souls[below(soul_count)];
        if (kind < 2)
            make(1 + below(3), below(3) == 0);
        else if (kind < 4)
            end(s);
        else if (kind < 6)
            change(s, kind == 4 ? soul : shade, kind == 4 ? &s->has_soul : &s->has_shade);
        else if (kind < 8 && done_with_memory_refused(version, 150)) {
            before = at_work;
            at_work = version;
        } else if (kind == 8 && rig.host->reload.probation != NULL && done_with_memory_refused(0, 30)) {
            at_work = before;
        } else if (kind > 8) {
            step_and_compare(at_work);
        }
    }
    step_and_compare(at_work);
    close_world();
}
END_TEST

Suite *reload_sets_suite(void)
{
    Suite *suite = suite_create("reload_sets");
    TCase *sets = tcase_create("sets");
    tcase_set_timeout(sets, 60);
    tcase_add_loop_test(sets, a_system_that_comes_back_is_told_of_what_has_changed_and_of_nothing_else, 0, 4);
    tcase_add_test(sets, a_snapshot_right_after_a_way_back_knows_what_the_system_was_told);
    tcase_add_loop_test(sets, states_know_exactly_what_matches_across_random_reloads_and_ways_back, 0, 30);
    suite_add_tcase(suite, sets);
    return suite;
}
