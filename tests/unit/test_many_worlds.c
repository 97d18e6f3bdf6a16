/* test_many_worlds.c - many worlds in a host: what an entity costs those that it is not in, and which of them
 * its death reaches.
 *
 * Pages of records are looked at from within (check_host), bounds through figures of worlds.
 */
#include "support.h"

#include "../suites.h"
#include "inspect.h"
#include "zoo.h"

enum { PAGE_BYTES = 13 * 1024 };

static rig_t rig;
static const bp_world_api *api;

static void begin(void)
{
    rig_open_zoo(&rig);
    api = rig.api->world;
}

static void end(void)
{
    check_host(rig.host);
    rig_close(&rig);
}

static void in(bp_world_o *world, bp_entity_t *entities, uint32_t count)
{
    WORKS(rig.host, api->create(world, prototype_of(world, "body", NULL, NULL, NULL), entities, count));
}

static uint64_t bytes_of(bp_world_o *world)
{
    bp_world_stats_t stats;
    bp_world_stats(world, &stats);
    return stats.bytes;
}

static uint32_t living_in(bp_world_o *world)
{
    bp_world_stats_t stats;
    bp_world_stats(world, &stats);
    return stats.entities;
}

START_TEST(an_entity_costs_a_world_nothing_that_it_is_not_in)
{
    static bp_entity_t e[50000];
    bp_world_o *full = rig_world(&rig, "full"), *empty = rig_world(&rig, "empty");
    bp_entity_t one;
    in(empty, &one, 1);
    uint64_t before = bytes_of(empty);
    in(full, e, COUNT(e));
    ck_assert_uint_eq(bytes_of(empty), before);
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, e, COUNT(e)), COUNT(e));
    ck_assert_uint_eq(living_in(empty), 1);
    /* Of a stranger it has a page, and directory enough to find it. */
    WORKS(rig.host, rig.api->entity->create(rig.host, e, COUNT(e)));
    WORKS(rig.host, api->add(empty, key_of(empty, "body", ""), &e[COUNT(e) - 1], 1));
    ck_assert_uint_lt(bytes_of(empty), before + 2 * PAGE_BYTES);
    ck_assert_uint_eq(living_in(empty), 2);
}
END_TEST

/* What `next` gives from the beginning on is what `is_in` has, in the order of indices, and then nothing more. */
static void expect_listed(bp_world_o *world, const bp_entity_t *e, const bool *is_in, uint32_t count)
{
    uint32_t index = 0;
    for (uint32_t at = 0; at < rig.api->entity->bound(rig.host); at++) {
        bp_entity_t here = {0};
        for (uint32_t i = 0; i < count; i++)
            if (is_in[i] && bp_entity_index(e[i]) == at)
                here = e[i];
        if (here.id == 0)
            continue;
        ck_assert_uint_eq(api->next(world, &index).id, here.id);
        ck_assert_uint_eq(index, at + 1);
    }
    for (uint32_t again = 0; again < 2; again++)
        ck_assert_uint_eq(api->next(world, &index).id, 0);
    index = UINT32_MAX;
    ck_assert_uint_eq(api->next(world, &index).id, 0);
    ck_assert_uint_eq(index, UINT32_MAX);
}

START_TEST(a_world_lists_its_entities_and_no_others)
{
    enum { SOME = 600 };
    static bp_entity_t e[SOME], others[3000];
    static bool is_in[SOME];
    bp_world_o *other = rig_world(&rig, "other"), *world = rig_world(&rig, "listed");
    uint32_t index = 0, key = key_of(world, "body", "");
    ck_assert_uint_eq(api->next(world, &index).id, 0);
    /* Some are made through the world, some lie among those of the other one or far behind them, a few are in both. */
    in(world, e, 200);
    in(other, others, COUNT(others));
    WORKS(rig.host, rig.api->entity->create(rig.host, &e[200], 300));
    in(other, &e[500], 100);
    for (uint32_t i = 0; i < SOME; i++) {
        is_in[i] = i < 200 || i % 3 == 0;
        if (i >= 200 && is_in[i])
            WORKS(rig.host, api->add(world, key, &e[i], 1));
    }
    expect_listed(world, e, is_in, SOME);
    for (uint32_t i = 0; i < SOME; i += 4) {
        if (i % 8 == 0)
            rig.api->entity->destroy(rig.host, &e[i], 1);
        else if (is_in[i])
            WORKS(rig.host, api->remove(world, key, &e[i], 1));
        is_in[i] = false;
    }
    expect_listed(world, e, is_in, SOME);
    /* From any index on. */
    uint64_t behind = 0;
    for (uint32_t from = rig.api->entity->bound(rig.host); from-- > 0;) {
        for (uint32_t i = 0; i < SOME; i++)
            if (is_in[i] && bp_entity_index(e[i]) == from)
                behind = e[i].id;
        index = from;
        ck_assert_uint_eq(api->next(world, &index).id, behind);
    }
}
END_TEST

START_TEST(a_death_reaches_each_world_that_the_entity_is_in)
{
    enum { SOME = 3000 };
    static bp_entity_t e[SOME];
    bp_world_o *worlds[] = {rig_world(&rig, "a"), rig_world(&rig, "b"), rig_world(&rig, "c")};
    in(worlds[0], e, SOME);
    for (uint32_t i = 0; i < SOME; i++) {
        for (uint32_t w = 1; w < 3; w++) {
            if (i % (w + 1) == 0)
                WORKS(rig.host, api->add(worlds[w], key_of(worlds[w], "body", ""), &e[i], 1));
        }
    }
    ck_assert_uint_eq(living_in(worlds[1]), SOME / 2);
    ck_assert_uint_eq(living_in(worlds[2]), SOME / 3);
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, e, SOME / 2), SOME / 2);
    for (uint32_t i = SOME / 2; i < SOME; i += 2)
        ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &e[i], 1), 1);
    ck_assert_uint_eq(living_in(worlds[0]), SOME / 4);
    ck_assert_uint_eq(living_in(worlds[1]), 0);
    ck_assert_uint_eq(living_in(worlds[2]), SOME / 12);
}
END_TEST

/* Entities of three worlds in turn, shuffled or not, among ids that no entity of this host has had, of the dead, and of
 * entities that the batch has named already. */
START_TEST(a_batch_ends_what_lives_in_whatever_worlds_and_passes_over_the_rest)
{
    enum { EACH = 700, ALL = 3 * EACH, STRAY = 5 };
    static bp_entity_t e[ALL], batch[2 * ALL + STRAY];
    static const uint64_t strays[STRAY] = {0, UINT64_MAX, UINT64_C(0x1fffffff0), UINT64_C(0xffffffff00000001), 1};
    bp_world_o *worlds[] = {rig_world(&rig, "a"), rig_world(&rig, "b"), rig_world(&rig, "c")};
    uint64_t random = 3 + (uint64_t)_i;
    for (uint32_t i = 0; i < ALL; i += 100)
        in(worlds[i / 100 % 3], e + i, 100);
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, e + 300, 100), 100); /* of world a */
    memcpy(batch, e, sizeof e);
    memcpy(batch + ALL, e, sizeof e);
    for (uint32_t i = 0; i < STRAY; i++)
        batch[2 * ALL + i].id = strays[i];
    for (uint32_t i = COUNT(batch) - 1; _i > 0 && i > 0; i--) {
        uint32_t with = bp_random_below(&random, i + 1);
        bp_entity_t kept = batch[i];
        batch[i] = batch[with];
        batch[with] = kept;
    }
    /* Batches that begin with a stray, and with a living entity. */
    batch[_i == 2 ? 0 : 1].id = UINT64_C(0x1fffffff0);
    uint32_t died = 0;
    for (uint32_t at = 0, portion = 64; at < COUNT(batch); at += portion, portion += 37) {
        portion = portion < COUNT(batch) - at ? portion : COUNT(batch) - at;
        died += rig.api->entity->destroy(rig.host, batch + at, portion);
    }
    for (uint32_t w = 0; w < 3; w++)
        ck_assert_uint_eq(living_in(worlds[w]), 0);
    ck_assert_uint_eq(died, ALL - 100);
    ck_assert_uint_eq(rig.api->entity->alive(rig.host, e, ALL, NULL), 0);
    check_host(rig.host);
    /* Each world has its own indices again. */
    for (uint32_t w = 0; w < 3; w++) {
        in(worlds[w], batch, EACH);
        for (uint32_t i = 0; i < EACH; i++)
            ck_assert_uint_eq(bp_entity_index(batch[i]) / 1024, bp_entity_index(e[w * 100]) / 1024);
    }
}
END_TEST

/* Its entities live on, and die where they are. */
START_TEST(a_world_that_goes_takes_its_records_along)
{
    enum { SOME = 3000 };
    static bp_entity_t e[SOME];
    bp_world_o *first = rig_world(&rig, "first"), *second = rig_world(&rig, "second");
    bp_world_o *third = rig_world(&rig, "third");
    in(first, e, SOME);
    WORKS(rig.host, api->add(second, key_of(second, "body", ""), e, SOME));
    WORKS(rig.host, api->add(third, key_of(third, "body", ""), e, SOME));
    bp_world_destroy(second);
    check_host(rig.host);
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, e, SOME / 2), SOME / 2);
    ck_assert_uint_eq(living_in(third), SOME / 2);
    bp_world_destroy(first);
    bp_world_destroy(third);
    ck_assert_uint_eq(rig.api->entity->alive(rig.host, e, SOME, NULL), SOME / 2);
    bp_world_o *fourth = rig_world(&rig, "fourth");
    WORKS(rig.host, api->add(fourth, key_of(fourth, "body", ""), e + SOME / 2, SOME / 2));
    ck_assert_uint_eq(living_in(fourth), SOME / 2);
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, e, SOME), SOME / 2);
    ck_assert_uint_eq(living_in(fourth), 0);
}
END_TEST

/* --- indices of a world's own ----------------------------------------------------------------------------- */

enum { WORLDS = 8, EACH = 600, ROUNDS = 60 };

typedef struct crowd_t {
    bp_world_o *worlds[WORLDS];
    bp_entity_t e[WORLDS][EACH];
} crowd_t;

static crowd_t crowd;

/* One entity in each world, in turn; by a prototype, or bare and then a component. */
static void fill_crowd(void)
{
    for (uint32_t w = 0; w < WORLDS; w++) {
        char name[] = {'w', (char)('0' + w), '\0'};
        crowd.worlds[w] = rig_world(&rig, name);
    }
    for (uint32_t i = 0; i < EACH; i++) {
        for (uint32_t w = 0; w < WORLDS; w++) {
            if (i % 3 != 0) {
                in(crowd.worlds[w], &crowd.e[w][i], 1);
                continue;
            }
            WORKS(rig.host, api->create(crowd.worlds[w], 0, &crowd.e[w][i], 1));
            WORKS(rig.host, api->add(crowd.worlds[w], key_of(crowd.worlds[w], "body", ""), &crowd.e[w][i], 1));
        }
    }
}

/* Some die in one world, and others come in another one, one by one or in batches. */
static void churn(uint64_t *random)
{
    uint32_t w = bp_random_below(random, WORLDS), at = bp_random_below(random, EACH - 100);
    uint32_t count = 1 + bp_random_below(random, 100), batch = bp_random_below(random, 2) * count;
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &crowd.e[w][at], count), count);
    if (batch > 0)
        in(crowd.worlds[w], &crowd.e[w][at], batch);
    for (uint32_t i = batch; i < count; i++)
        in(crowd.worlds[w], &crowd.e[w][at + i], 1);
}

START_TEST(entities_of_a_world_lie_together_and_go_on_doing_so)
{
    uint64_t random = 7, most[WORLDS];
    fill_crowd();
    for (uint32_t w = 0; w < WORLDS; w++)
        most[w] = bytes_of(crowd.worlds[w]) + 2 * PAGE_BYTES;
    for (uint32_t round = 0; round < ROUNDS * WORLDS; round++) {
        churn(&random);
        if (round % ROUNDS == 0)
            check_host(rig.host);
    }
    for (uint32_t w = 0; w < WORLDS; w++) {
        EXPECT(bytes_of(crowd.worlds[w]) <= most[w], "world %u: %llu bytes", w,
               (unsigned long long)bytes_of(crowd.worlds[w]));
        for (uint32_t i = 0; i < EACH; i++)
            EXPECT(bp_entity_index(crowd.e[w][i]) / 1024 == bp_entity_index(crowd.e[w][0]) / 1024,
                   "world %u has entities in several pages", w);
    }
}
END_TEST

/* The indices that a world kept for itself serve all worlds when it has gone, and those of its entities that live on
 * when these die. */
START_TEST(indices_of_a_world_that_goes_are_used_again)
{
    static bp_entity_t e[5000];
    rig_world(&rig, "stays");
    uint32_t bound = 0;
    for (uint32_t round = 0; round < 40; round++) {
        bp_world_o *world = rig_world(&rig, "goes");
        in(world, e, COUNT(e) - round * 7);
        ck_assert_uint_eq(rig.api->entity->destroy(rig.host, e, 1000), 1000);
        bp_world_destroy(world);
        check_host(rig.host);
        ck_assert_uint_eq(rig.api->entity->destroy(rig.host, e + 1000, 4000 - round * 7), 4000 - round * 7);
        if (round == 3)
            bound = rig.api->entity->bound(rig.host);
    }
    ck_assert_uint_le(rig.api->entity->bound(rig.host), bound + 8 * 1024);
}
END_TEST

/* In a page of which the last indices were never used. */
START_TEST(an_entity_that_never_was_does_not_die_with_others_of_its_page)
{
    bp_entity_t e[10];
    bp_world_o *world = rig_world(&rig, "a");
    rig_world(&rig, "b");
    in(world, e, 1);
    WORKS(rig.host, rig.api->entity->create(rig.host, e, COUNT(e)));
    uint32_t bound = rig.api->entity->bound(rig.host);
    ck_assert(bound % ENTITIES_PAGE != 0 && bound == bp_entity_index(e[9]) + 1);
    bp_entity_t batch[] = {e[9], {e[9].id + 1}, {e[9].id + 2}, e[8]};
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, batch, COUNT(batch)), 2);
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 9);
}
END_TEST

/* As many pages as are needed, and not one more. */
START_TEST(a_world_takes_as_many_pages_of_indices_as_it_needs)
{
    static const uint32_t counts[] = {1, 1023, 1, 2048, 1023, 1024, 2000, 48, 1}, pages[] = {1, 1, 2, 4, 4, 5, 7, 7, 8};
    static bp_entity_t e[2048];
    bp_world_o *world = rig_world(&rig, "grows");
    rig_world(&rig, "other");
    for (uint32_t i = 0; i < COUNT(counts); i++) {
        in(world, e, counts[i]);
        ck_assert_uint_eq(world->rows.ids.pages, pages[i]);
    }
}
END_TEST

/* Worlds that grow in turn take pages that do not lie behind their last one; what was left of that one is used. */
START_TEST(worlds_that_grow_in_turn_leave_no_indices_unused)
{
    enum { GROWTH = 600, TURNS = 50 };
    static bp_entity_t e[GROWTH];
    bp_world_o *worlds[] = {rig_world(&rig, "left"), rig_world(&rig, "right")};
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        for (uint32_t w = 0; w < COUNT(worlds); w++)
            in(worlds[w], e, GROWTH);
    }
    ck_assert_uint_le(rig.api->entity->bound(rig.host), COUNT(worlds) * TURNS * GROWTH + 8 * 1024);
}
END_TEST

enum { MANY_WORLDS = 200 };

static uint64_t bytes_per_entity(uint32_t worlds, uint32_t each)
{
    enum { PORTION = 100 };
    static bp_world_o *all[MANY_WORLDS];
    bp_entity_t e[PORTION];
    rig_t r;
    rig_open_zoo(&r);
    for (uint32_t w = 0; w < worlds; w++) {
        char name[16];
        snprintf(name, sizeof name, "w%u", w);
        all[w] = rig_world(&r, name);
    }
    size_t before = r.heap.bytes;
    for (uint32_t i = 0; i < each; i += PORTION) {
        for (uint32_t w = 0; w < worlds; w++)
            WORKS(r.host, api->create(all[w], prototype_of(all[w], "body", NULL, NULL, NULL), e, PORTION));
    }
    uint64_t bytes = (r.heap.bytes - before) / ((uint64_t)worlds * each);
    rig_close(&r);
    return bytes;
}

/* What is compared: the same entities in one world, which has room to grow as well. */
START_TEST(an_entity_of_many_worlds_costs_little_more_than_one_of_few)
{
    static const uint32_t sizes[] = {700, 1000, 1900, 3000};
    uint32_t each = sizes[_i];
    uint64_t one = bytes_per_entity(1, MANY_WORLDS * each), many = bytes_per_entity(MANY_WORLDS, each);
    EXPECT(many * 4 <= one * 5, "%u entities in each of %d worlds: %llu bytes each instead of %llu", each, MANY_WORLDS,
           (unsigned long long)many, (unsigned long long)one);
}
END_TEST

/* Numbers and pools of worlds that went are given to those that come. */
START_TEST(worlds_that_come_and_go_are_found_by_name_and_keep_their_order)
{
    enum { MANY = 300 };
    bp_world_o *worlds[MANY];
    uint32_t count = 0;
    uint64_t random = 11;
    char name[16];
    for (uint32_t round = 0; round < 3 * MANY; round++) {
        bp_entity_t e;
        if (count < MANY && (round < MANY || bp_random_below(&random, 2) == 0)) {
            snprintf(name, sizeof name, "w%u", round);
            worlds[count++] = rig_world(&rig, name);
            in(worlds[count - 1], &e, 1);
            FAILS(rig.host, BP_ERROR_EXISTS, "there is a world 'w",
                  bp_world_create(rig.host, &(bp_world_desc_t){.name = name}) == NULL ? BP_ERROR_EXISTS : BP_OK);
        } else {
            uint32_t gone = bp_random_below(&random, count);
            bp_world_destroy(worlds[gone]);
            count--;
            memmove(worlds + gone, worlds + gone + 1, (count - gone) * sizeof *worlds);
        }
        if (round % 50 == 0)
            check_host(rig.host);
    }
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_ptr_eq(api->at(rig.host, i), worlds[i]);
        ck_assert_ptr_eq(api->find(rig.host, api->name(worlds[i])), worlds[i]);
        WORKS(rig.host, bp_world_step(worlds[i]));
        ck_assert_uint_eq(living_in(worlds[i]), 1);
    }
    ck_assert_ptr_null(api->at(rig.host, count));
}
END_TEST

Suite *many_worlds_suite(void)
{
    Suite *suite = suite_create("many_worlds");
    TCase *tests = tcase_create("many_worlds");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, an_entity_costs_a_world_nothing_that_it_is_not_in);
    tcase_add_test(tests, a_world_lists_its_entities_and_no_others);
    tcase_add_test(tests, a_death_reaches_each_world_that_the_entity_is_in);
    tcase_add_loop_test(tests, a_batch_ends_what_lives_in_whatever_worlds_and_passes_over_the_rest, 0, 3);
    tcase_add_test(tests, a_world_that_goes_takes_its_records_along);
    tcase_add_test(tests, entities_of_a_world_lie_together_and_go_on_doing_so);
    tcase_add_test(tests, indices_of_a_world_that_goes_are_used_again);
    tcase_add_test(tests, an_entity_that_never_was_does_not_die_with_others_of_its_page);
    tcase_add_test(tests, a_world_takes_as_many_pages_of_indices_as_it_needs);
    tcase_add_test(tests, worlds_that_grow_in_turn_leave_no_indices_unused);
    tcase_add_loop_test(tests, an_entity_of_many_worlds_costs_little_more_than_one_of_few, 0, 4);
    tcase_add_test(tests, worlds_that_come_and_go_are_found_by_name_and_keep_their_order);
    suite_add_tcase(suite, tests);
    return suite;
}
