/* test_entities.c - ids: who is alive, which indices are used again and when, and ids of other hosts.
 *
 * Most tests go through the table that plugins use; the end of an index's generations, a million lives
 * away, is reached by setting its counter.
 */
#include "support.h"

#include "../suites.h"
#include "inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static rig_t rig;
static const bp_entity_api *api;

static void begin(void)
{
    rig_init(&rig);
    rig_open(&rig);
    api = rig.api->entity;
}

static void end(void)
{
    check_host(rig.host);
    rig_close(&rig);
}

static void make(bp_entity_t *entities, uint32_t count)
{
    WORKS(rig.host, api->create(rig.host, entities, count));
}

static void end_one(bp_entity_t e)
{
    EXPECT(api->destroy(rig.host, &e, 1) == 1, "it did not die");
}

/* However it is asked. */
static bool lives(bp_entity_t e)
{
    bp_living_t living = bp_living_of(api, rig.host);
    ck_assert_uint_eq(living.where.known, BP_INLINE_LAYOUT);
    ck_assert_uint_eq(bp_is_alive(&living, e), api->alive(rig.host, &e, 1, NULL));
    return api->alive(rig.host, &e, 1, NULL) == 1;
}

/* --- life ----------------------------------------------------------------------------------------------- */

START_TEST(created_entities_live_and_differ)
{
    enum { MANY = 10000 };
    static bp_entity_t e[MANY];
    uint8_t alive[MANY];
    make(e, MANY);
    ck_assert_uint_eq(api->count(rig.host), MANY);
    ck_assert_uint_eq(api->bound(rig.host), MANY);
    ck_assert_uint_eq(api->alive(rig.host, e, MANY, alive), MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        EXPECT(alive[i] == 1 && bp_entity_index(e[i]) == i, "entity %u", i);
        EXPECT(api->at(rig.host, i).id == e[i].id, "at %u", i);
    }
    ck_assert_uint_eq(api->at(rig.host, MANY).id, 0);
}
END_TEST

START_TEST(destroying_passes_over_the_dead_the_unknown_and_second_mentions)
{
    bp_entity_t e[4], batch[9], never = entity_make(1u << ENTITY_COUNTER_BITS, 1000, 1);
    make(e, 4);
    end_one(e[3]);
    bp_entity_t list[] = {e[0], e[0], {0}, e[3], never, e[1], e[0], {UINT64_MAX}, e[1]};
    memcpy(batch, list, sizeof list);
    ck_assert_uint_eq(api->destroy(rig.host, batch, COUNT(batch)), 2);
    ck_assert_uint_eq(api->count(rig.host), 1);
    ck_assert(lives(e[2]));
    ck_assert_uint_eq(api->destroy(rig.host, batch, COUNT(batch)), 0);
    ck_assert_uint_eq(api->destroy(rig.host, batch, 0), 0);
    ck_assert_uint_eq(api->at(rig.host, bp_entity_index(e[0])).id, 0);
}
END_TEST

START_TEST(alive_answers_for_each_of_a_mixed_batch)
{
    bp_entity_t e[3];
    make(e, 3);
    end_one(e[1]);
    bp_entity_t forged[] = {
        {e[0].id + (UINT64_C(1) << 32)}, /* an even generation: what a free index has */
        {e[0].id + (UINT64_C(2) << 32)}, /* a life that has not been */
        {e[1].id + (UINT64_C(1) << 32)}, /* the free index as it stands */
        {e[0].id & UINT32_MAX},          /* generation 0 */
        {e[0].id | UINT32_MAX},          /* an index past all */
        {UINT64_MAX}, {0},
    };
    bp_entity_t batch[3 + COUNT(forged)];
    uint8_t alive[COUNT(batch)];
    memcpy(batch, e, sizeof e);
    memcpy(batch + 3, forged, sizeof forged);
    ck_assert_uint_eq(api->alive(rig.host, batch, COUNT(batch), alive), 2);
    for (uint32_t i = 0; i < COUNT(batch); i++)
        EXPECT(alive[i] == (i == 0 || i == 2) && lives(batch[i]) == alive[i], "entity %u", i);
    ck_assert_uint_eq(api->alive(rig.host, batch, COUNT(batch), NULL), 2);
    ck_assert_uint_eq(api->alive(rig.host, batch, 0, NULL), 0);
}
END_TEST

/* A plugin makes the handle once; what the host does to its arrays afterwards must be seen through the handle. */
START_TEST(who_lives_is_read_without_a_call_through_growth_and_deaths)
{
    enum { MANY = 5000 };
    static bp_entity_t e[MANY];
    bp_living_t living = bp_living_of(api, rig.host);
    ck_assert_uint_eq(bp_is_alive(&living, (bp_entity_t){UINT64_C(1) << 32}), 0);
    make(e, 10);
    bp_entity_t first = e[0];
    ck_assert_uint_eq(bp_is_alive(&living, first), 1);
    make(e + 10, MANY - 10);
    for (uint32_t i = 0; i < MANY; i++)
        EXPECT(bp_is_alive(&living, e[i]) == 1, "entity %u", i);
    api->destroy(rig.host, e, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        EXPECT(bp_is_alive(&living, e[i]) == 0, "entity %u", i);
    make(e, MANY);
    ck_assert_uint_eq(bp_is_alive(&living, first), 0);
    ck_assert_uint_eq(bp_is_alive(&living, e[0]), 1);
}
END_TEST

/* Hosts before this one have no such entry, and later ones may keep who lives in another way. */
START_TEST(a_host_that_cannot_be_read_is_asked)
{
    bp_entity_t e[2];
    make(e, 2);
    end_one(e[1]);
    bp_entity_api earlier = *api;
    earlier.struct_size = offsetof(bp_entity_api, living);
    bp_living_t living = bp_living_of(&earlier, rig.host);
    ck_assert_uint_eq(living.where.known, 0);
    EXPECT(bp_is_alive(&living, e[0]) == 1 && bp_is_alive(&living, e[1]) == 0, "an earlier host");
    living = bp_living_of(api, rig.host);
    living.where = (bp_inline_lives_t){.known = BP_INLINE_LAYOUT + 1};
    EXPECT(bp_is_alive(&living, e[0]) == 1 && bp_is_alive(&living, e[1]) == 0, "a later host");
}
END_TEST

START_TEST(nobody_lives_in_a_host_without_entities)
{
    bp_entity_t batch[] = {{0}, {1}, {UINT64_C(1) << 53 | UINT64_C(1) << 32}, {UINT64_MAX}};
    ck_assert_uint_eq(api->alive(rig.host, batch, COUNT(batch), NULL), 0);
    ck_assert_uint_eq(api->destroy(rig.host, batch, COUNT(batch)), 0);
    ck_assert_uint_eq(api->bound(rig.host), 0);
}
END_TEST

START_TEST(creating_none_is_no_error)
{
    bp_entity_t e[10];
    WORKS(rig.host, api->create(rig.host, NULL, 0));
    ck_assert_uint_eq(api->count(rig.host), 0);
    make(e, COUNT(e)); /* there is room for more now */
    WORKS(rig.host, api->create(rig.host, NULL, 0));
    ck_assert_uint_eq(api->count(rig.host), COUNT(e));
}
END_TEST

/* --- recycling ------------------------------------------------------------------------------------------ */

START_TEST(indices_are_used_again_only_while_more_than_1024_are_free)
{
    bp_entity_t e[ENTITIES_MIN_FREE + 1], next;
    make(e, COUNT(e));
    ck_assert_uint_eq(api->destroy(rig.host, e, ENTITIES_MIN_FREE), ENTITIES_MIN_FREE);
    make(&next, 1);
    ck_assert_uint_eq(bp_entity_index(next), ENTITIES_MIN_FREE + 1);
    end_one(e[ENTITIES_MIN_FREE]);
    make(&next, 1);
    ck_assert_uint_eq(bp_entity_index(next), bp_entity_index(e[0]));
    ck_assert_uint_ne(next.id, e[0].id);
    make(&next, 1);
    ck_assert_uint_eq(bp_entity_index(next), ENTITIES_MIN_FREE + 2);
}
END_TEST

START_TEST(the_index_freed_first_is_used_again_first)
{
    enum { MANY = 5000 };
    static bp_entity_t e[MANY], order[MANY], again[MANY];
    uint64_t random = 7;
    make(e, MANY);
    memcpy(order, e, sizeof e);
    for (uint32_t i = MANY; i > 1; i--) {
        uint32_t k = bp_random_below(&random, i);
        bp_entity_t swapped = order[k];
        order[k] = order[i - 1];
        order[i - 1] = swapped;
    }
    for (uint32_t i = 0; i < MANY; i++)
        end_one(order[i]);
    uint32_t reused = MANY - ENTITIES_MIN_FREE;
    make(again, 100);
    make(again + 100, MANY - 100);
    for (uint32_t i = 0; i < reused; i++)
        EXPECT(bp_entity_index(again[i]) == bp_entity_index(order[i]), "number %u is out of turn", i);
    for (uint32_t i = reused; i < MANY; i++)
        EXPECT(bp_entity_index(again[i]) == MANY + i - reused, "number %u is not fresh", i);
}
END_TEST

/* The ring of free indices wraps, and grows while it is wrapped. */
START_TEST(the_order_survives_growth_of_a_queue_that_wraps)
{
    enum { MANY = 20000 };
    static bp_entity_t living[MANY];
    uint32_t *expected = malloc(4 * MANY * sizeof *expected), head = 0, tail = 0, count = 0;
    uint64_t random = 8;
    for (uint32_t round = 0; round < 400; round++) {
        uint32_t births = bp_random_below(&random, 120), deaths = bp_random_below(&random, 100);
        for (uint32_t i = 0; i < births && count < MANY; i++) {
            bool reuses = tail - head > ENTITIES_MIN_FREE;
            uint32_t bound = api->bound(rig.host);
            make(&living[count], 1);
            uint32_t index = bp_entity_index(living[count++]);
            EXPECT(index == (reuses ? expected[head] : bound), "round %u: index %u", round, index);
            head += reuses;
        }
        for (uint32_t i = 0; i < deaths && count > 0; i++) {
            uint32_t k = bp_random_below(&random, count);
            expected[tail++] = bp_entity_index(living[k]);
            end_one(living[k]);
            living[k] = living[--count];
        }
        ck_assert_uint_lt(tail, 4 * MANY);
    }
    ck_assert_uint_gt(head, 1000);
    free(expected);
}
END_TEST

/* Few that come and go in each round use few places of the queue, again and again; after many deaths at once it is
 * large, and small again when those have been reused. */
START_TEST(the_queue_of_free_indices_is_as_large_as_it_needs_to_be)
{
    enum { MANY = 100000, FEW = 200 };
    bp_entity_t *const e = room_of(MANY * sizeof *e);
    const entities_t *entities = &rig.host->entities;
    make(e, MANY);
    for (uint32_t round = 0; round < 1000; round++) {
        ck_assert_uint_eq(api->destroy(rig.host, e + round % 300 * FEW, FEW), FEW);
        make(e + round % 300 * FEW, FEW);
        ck_assert_uint_le(entities->queue_size, 2 * (ENTITIES_MIN_FREE + FEW));
    }
    ck_assert_uint_eq(api->destroy(rig.host, e, MANY), MANY);
    ck_assert_uint_ge(entities->queue_size, MANY);
    make(e, MANY);
    for (uint32_t round = 0; round < 1000; round++) {
        ck_assert_uint_eq(api->destroy(rig.host, e + round % 300 * FEW, FEW), FEW);
        make(e + round % 300 * FEW, FEW);
    }
    ck_assert_uint_le(entities->queue_size, 4 * (ENTITIES_MIN_FREE + FEW));
}
END_TEST

START_TEST(a_stale_id_never_comes_alive_again)
{
    enum { ROUNDS = 300, BATCH = 1500 };
    static bp_entity_t e[BATCH];
    bp_entity_t *stale = malloc((size_t)ROUNDS * BATCH * sizeof *stale);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        make(e, BATCH);
        ck_assert_uint_eq(api->alive(rig.host, e, BATCH, NULL), BATCH);
        ck_assert_uint_eq(api->destroy(rig.host, e, BATCH), BATCH);
        memcpy(stale + (size_t)round * BATCH, e, sizeof e);
        ck_assert_uint_eq(api->alive(rig.host, stale, (round + 1) * BATCH, NULL), 0);
    }
    ck_assert_uint_lt(api->bound(rig.host), 2 * BATCH + ENTITIES_MIN_FREE);
    make(e, BATCH);
    ck_assert_uint_eq(api->alive(rig.host, stale, ROUNDS * BATCH, NULL), 0);
    free(stale);
}
END_TEST

START_TEST(growth_keeps_ids)
{
    enum { FEW = 100, MORE = 60000 };
    static bp_entity_t e[FEW], more[MORE];
    make(e, FEW);
    end_one(e[5]);
    for (uint32_t done = 0; done < MORE; done += 500) {
        make(more + done, 500);
        ck_assert_uint_eq(api->alive(rig.host, e, FEW, NULL), FEW - 1);
        ck_assert_uint_eq(api->alive(rig.host, more, done + 500, NULL), done + 500);
    }
    ck_assert(!lives(e[5]));
}
END_TEST

/* --- the end of an index -------------------------------------------------------------------------------- */

/* Let the free index at the head of the queue be in its last life but `left`. */
static uint32_t age_next_index(uint32_t left)
{
    entities_t *entities = &rig.host->entities;
    uint32_t index = entities->queue[entities->queue_head];
    entities->lives[index] = 2u * (ENTITY_MAX_LIFE - left) - 1;
    return index;
}

START_TEST(an_index_whose_generations_have_run_out_is_retired)
{
    static bp_entity_t e[2 * ENTITIES_MIN_FREE], last, others[3 * ENTITIES_MIN_FREE];
    make(e, COUNT(e));
    ck_assert_uint_eq(api->destroy(rig.host, e, COUNT(e)), COUNT(e));
    uint32_t index = age_next_index(1), queued = rig.host->entities.queue_count;
    make(&last, 1);
    ck_assert_uint_eq(bp_entity_index(last), index);
    ck_assert_uint_eq(entity_life(rig.host->base.values.entity_base, last), ENTITY_MAX_LIFE);
    ck_assert(lives(last));
    end_one(last);
    ck_assert(!lives(last));
    ck_assert_uint_eq(rig.host->entities.queue_count, queued - 1);
    ck_assert_uint_eq(api->at(rig.host, index).id, 0);
    for (uint32_t round = 0; round < 3; round++) {
        make(others, COUNT(others));
        for (uint32_t i = 0; i < COUNT(others); i++)
            EXPECT(bp_entity_index(others[i]) != index, "a retired index came back");
        api->destroy(rig.host, others, COUNT(others));
        ck_assert(!lives(last));
    }
}
END_TEST

START_TEST(no_forged_id_lives_at_a_retired_index)
{
    static bp_entity_t e[2 * ENTITIES_MIN_FREE], last;
    make(e, COUNT(e));
    api->destroy(rig.host, e, COUNT(e));
    uint32_t index = age_next_index(1);
    make(&last, 1);
    end_one(last);
    for (uint32_t high = 0; high < 4096; high++) {
        for (uint32_t low = 0; low < 4; low++) {
            uint32_t generation = (high << (ENTITY_COUNTER_BITS - 1)) + low - 2;
            bp_entity_t forged = {(uint64_t)generation << 32 | index};
            EXPECT(!lives(forged), "generation %#x lives", generation);
        }
    }
}
END_TEST

/* --- other hosts ---------------------------------------------------------------------------------------- */

typedef struct pair_t {
    bp_host_o *other;
    bp_world_o *world;
} pair_t;

static pair_t open_other(uint32_t tag)
{
    bp_host_desc_t desc = rig.desc;
    desc.tag = tag;
    pair_t pair;
    pair.other = bp_host_create(&desc);
    ck_assert_ptr_nonnull(pair.other);
    pair.world = bp_world_create(pair.other, &(bp_world_desc_t){.name = "other"});
    WORKS(pair.other, bp_host_load_plugin(pair.other, "zoo", NULL, 0));
    WORKS(pair.other, bp_world_use_component(pair.world, "body"));
    return pair;
}

START_TEST(an_entity_of_another_host_is_never_alive)
{
    static bp_entity_t mine[3000], theirs[3000];
    pair_t pair = open_other(2);
    make(mine, COUNT(mine));
    WORKS(pair.other, api->create(pair.other, theirs, COUNT(theirs)));
    ck_assert_uint_eq(api->alive(rig.host, theirs, COUNT(theirs), NULL), 0);
    ck_assert_uint_eq(api->alive(pair.other, mine, COUNT(mine), NULL), 0);
    ck_assert_uint_eq(api->destroy(rig.host, theirs, COUNT(theirs)), 0);
    ck_assert_uint_eq(api->count(pair.other), COUNT(theirs));
    for (uint32_t i = 0; i < 20; i++) {
        api->destroy(rig.host, mine, COUNT(mine));
        make(mine, COUNT(mine));
        ck_assert_uint_eq(api->alive(rig.host, theirs, COUNT(theirs), NULL), 0);
    }
    for (uint32_t i = 0; i < COUNT(theirs); i++)
        EXPECT(!lives(theirs[i]), "entity %u", i);
    bp_host_destroy(pair.other);
}
END_TEST

START_TEST(errors_tell_a_foreign_entity_from_a_dead_one)
{
    bp_entity_t mine, dead;
    pair_t pair = open_other(2047);
    uint32_t key = key_of(pair.world, "body", "");
    const bp_world_api *world_api = rig.api->world;
    make(&mine, 1);
    WORKS(pair.other, api->create(pair.other, &dead, 1));
    api->destroy(pair.other, &dead, 1);
    SAID(pair.other, BP_ERROR_DEAD, "entity 0020000100000000 belongs to another host",
         world_api->add(pair.world, key, &mine, 1));
    SAID(pair.other, BP_ERROR_DEAD, "entity #0:1 is dead", world_api->add(pair.world, key, &dead, 1));
    SAID(pair.other, BP_ERROR_DEAD, "no entity is given (its id is 0)",
         world_api->add(pair.world, key, &(bp_entity_t){0}, 1));
    bp_entity_t never = {dead.id + 77};
    SAID(pair.other, BP_ERROR_DEAD, "entity #77:1 was never created", world_api->add(pair.world, key, &never, 1));
    bp_host_destroy(pair.other);
}
END_TEST

START_TEST(hosts_without_a_tag_draw_one_in_range)
{
    for (uint32_t i = 0; i < 20; i++) {
        bp_entity_t e;
        bp_host_desc_t desc = rig.desc;
        desc.tag = i % 2 == 0 ? 0 : ENTITY_MAX_TAG + 1;
        bp_host_o *host = bp_host_create(&desc);
        WORKS(host, api->create(host, &e, 1));
        uint32_t tag = bp_entity_generation(e) >> ENTITY_COUNTER_BITS;
        ck_assert(tag >= 1 && tag <= ENTITY_MAX_TAG);
        ck_assert_uint_eq(api->alive(host, &e, 1, NULL), 1);
        bp_host_destroy(host);
    }
}
END_TEST

/* The next host mostly lies where the one before lay. Tags are drawn, so that two may have the same now and then. */
START_TEST(a_host_does_not_take_entities_of_one_that_has_ended_for_its_own)
{
    enum { HOSTS = 40 };
    bp_entity_t before = {0}, e;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < HOSTS; i++, before = e) {
        bp_host_desc_t desc = rig.desc;
        desc.tag = 0;
        bp_host_o *host = bp_host_create(&desc);
        WORKS(host, api->create(host, &e, 1));
        taken += api->alive(host, &before, 1, NULL);
        bp_host_destroy(host);
    }
    ck_assert_uint_lt(taken, 3);
}
END_TEST

/* --- texts and memory ----------------------------------------------------------------------------------- */

START_TEST(an_entity_is_written_as_index_and_life)
{
    static bp_entity_t e[2 * ENTITIES_MIN_FREE];
    char text[32];
    make(e, COUNT(e));
    api->format(rig.host, e[12], text, sizeof text);
    ck_assert_str_eq(text, "#12:1");
    api->destroy(rig.host, e, COUNT(e));
    make(e, 1);
    api->format(rig.host, e[0], text, sizeof text);
    ck_assert_str_eq(text, "#0:2");
    api->format(rig.host, (bp_entity_t){0}, text, sizeof text);
    ck_assert_str_eq(text, "none");
    api->format(rig.host, e[0], text, 3);
    ck_assert_str_eq(text, "#0");
}
END_TEST

START_TEST(creation_without_memory_creates_nobody)
{
    static bp_entity_t e[5000];
    make(e, 10);
    for (uint64_t n = 1; n <= 2; n++) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
        SAID(rig.host, BP_ERROR_MEMORY, "out of memory while creating entities", api->create(rig.host, e + 10, 4990));
        ck_assert_uint_eq(api->count(rig.host), 10);
        ck_assert_uint_eq(api->bound(rig.host), 10);
    }
    make(e + 10, 4990);
    ck_assert_uint_eq(api->alive(rig.host, e, COUNT(e), NULL), COUNT(e));
}
END_TEST

START_TEST(destroying_takes_no_memory)
{
    enum { MANY = 5000 };
    static bp_entity_t e[MANY];
    make(e, MANY);
    rig.heap.refuse_first = 1;
    rig.heap.refuse_last = UINT64_MAX;
    ck_assert_uint_eq(api->destroy(rig.host, e, MANY), MANY);
    make(e, MANY - ENTITIES_MIN_FREE);
    ck_assert_uint_eq(rig.heap.refused, 0);
    rig.heap.refuse_first = 0;
}
END_TEST

START_TEST(more_entities_than_indices_are_refused)
{
    bp_entity_t e;
    make(&e, 1);
    SAID(rig.host, BP_ERROR_LIMIT, "a host has at most 4294967294 entities",
         entities_reserve(&rig.host->entities, UINT32_MAX - 1));
    ck_assert_uint_eq(api->count(rig.host), 1);
    bp_world_o *worlds[2];
    for (uint32_t i = 0; i < 2; i++) /* worlds of a host of several have indices of their own */
        worlds[i] = bp_world_create(rig.host, &(bp_world_desc_t){.name = i == 0 ? "a" : "b"});
    for (uint32_t i = 0; i < 2; i++)
        SAID(rig.host, BP_ERROR_LIMIT, "a host has at most 4294967294 entities",
             entities_pool_reserve(&rig.host->entities, &worlds[i]->rows.ids, UINT32_MAX - i));
    ck_assert_uint_eq(api->bound(rig.host), 1);
}
END_TEST

/* --- the suite ------------------------------------------------------------------------------------------ */

static TCase *new_case(Suite *suite, const char *name)
{
    return add_case(suite, name, begin, end, 120);
}

Suite *entities_suite(void)
{
    Suite *suite = suite_create("entities");
    TCase *life = new_case(suite, "life");
    tcase_add_test(life, created_entities_live_and_differ);
    tcase_add_test(life, destroying_passes_over_the_dead_the_unknown_and_second_mentions);
    tcase_add_test(life, alive_answers_for_each_of_a_mixed_batch);
    tcase_add_test(life, who_lives_is_read_without_a_call_through_growth_and_deaths);
    tcase_add_test(life, a_host_that_cannot_be_read_is_asked);
    tcase_add_test(life, nobody_lives_in_a_host_without_entities);
    tcase_add_test(life, creating_none_is_no_error);
    TCase *recycling = new_case(suite, "recycling");
    tcase_add_test(recycling, indices_are_used_again_only_while_more_than_1024_are_free);
    tcase_add_test(recycling, the_index_freed_first_is_used_again_first);
    tcase_add_test(recycling, the_order_survives_growth_of_a_queue_that_wraps);
    tcase_add_test(recycling, the_queue_of_free_indices_is_as_large_as_it_needs_to_be);
    tcase_add_test(recycling, a_stale_id_never_comes_alive_again);
    tcase_add_test(recycling, growth_keeps_ids);
    tcase_add_test(recycling, an_index_whose_generations_have_run_out_is_retired);
    tcase_add_test(recycling, no_forged_id_lives_at_a_retired_index);
    TCase *hosts = new_case(suite, "hosts and memory");
    tcase_add_test(hosts, an_entity_of_another_host_is_never_alive);
    tcase_add_test(hosts, errors_tell_a_foreign_entity_from_a_dead_one);
    tcase_add_test(hosts, hosts_without_a_tag_draw_one_in_range);
    tcase_add_test(hosts, a_host_does_not_take_entities_of_one_that_has_ended_for_its_own);
    tcase_add_test(hosts, an_entity_is_written_as_index_and_life);
    tcase_add_test(hosts, creation_without_memory_creates_nobody);
    tcase_add_test(hosts, destroying_takes_no_memory);
    tcase_add_test(hosts, more_entities_than_indices_are_refused);
    return suite;
}
