/* test_prototypes.c - combinations of components: one prototype for each, in whatever order they came.
 *
 * The naive model of a prototype is a set of bits. Transitions are walked at random beside such a set:
 * every set must lead to one prototype, every prototype to one set, and the columns of a key must be where
 * they were said to be.
 */
#include "support.h"

#include "../suites.h"
#include "inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static rig_t rig;
static bp_world_o *world;
static const bp_world_api *api;

static void begin(void)
{
    rig_open_zoo(&rig);
    world = rig_world(&rig, "main");
    api = rig.api->world;
}

static void end(void)
{
    check_host(rig.host);
    rig_close(&rig);
}

/* `count` keys: each type under its own name, then named instances of fx, flag and pool. */
static void make_keys(uint32_t *keys, uint32_t count)
{
    static const char *const own[] = {"label", "body", "once", "told", "sample"};
    static const char *const several[] = {"fx", "flag", "pool"};
    char name[32];
    for (uint32_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "part-%u", i);
        keys[i] = i < COUNT(own) ? key_of(world, own[i], "")
                                 : key_of(world, several[i % COUNT(several)], name);
    }
}

static void shuffle(uint32_t *items, uint32_t count, uint64_t *random)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t k = bp_random_below(random, i), swapped = items[k];
        items[k] = items[i - 1];
        items[i - 1] = swapped;
    }
}

static uint32_t subset(const uint32_t *keys, uint32_t mask, uint32_t *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < 32; i++) {
        if ((mask >> i & 1) != 0)
            out[count++] = keys[i];
    }
    return count;
}

static uint32_t prototype_from(const uint32_t *keys, uint32_t count)
{
    uint32_t prototype;
    WORKS(rig.host, api->prototype(world, keys, count, &prototype));
    return prototype;
}

/* --- one prototype a combination ------------------------------------------------------------------------ */

START_TEST(any_order_of_the_same_components_is_the_same_prototype)
{
    uint32_t keys[16], some[16];
    uint64_t random = 1;
    make_keys(keys, COUNT(keys));
    for (uint32_t i = 0; i < 500; i++) {
        uint32_t count = subset(keys, bp_random_below(&random, 1u << COUNT(keys)), some);
        uint32_t first = prototype_from(some, count);
        for (uint32_t times = 0; times < 4; times++) {
            shuffle(some, count, &random);
            ck_assert_uint_eq(prototype_from(some, count), first);
        }
    }
}
END_TEST

START_TEST(adding_one_by_one_in_any_order_comes_to_the_same_prototype)
{
    uint32_t keys[10], some[10], told[10];
    uint64_t random = 2;
    make_keys(keys, COUNT(keys));
    for (uint32_t i = 0; i < 200; i++) {
        bp_entity_t e;
        WORKS(rig.host, rig.api->entity->create(rig.host, &e, 1));
        uint32_t count = subset(keys, 1 + bp_random_below(&random, (1u << COUNT(keys)) - 1), some);
        shuffle(some, count, &random);
        for (uint32_t k = 0; k < count; k++)
            WORKS(rig.host, api->add(world, some[k], &e, 1));
        ck_assert_uint_eq(world_record(&world->rows, e)->prototype, prototype_from(some, count));
        ck_assert_uint_eq(api->keys_of(world, e, told, COUNT(told)), count);
        for (uint32_t k = 1; k < count; k++)
            ck_assert_uint_lt(told[k - 1], told[k]);
    }
}
END_TEST

START_TEST(no_components_are_prototype_0)
{
    uint32_t keys[2];
    bp_entity_t e[3];
    make_keys(keys, 2);
    ck_assert_uint_eq(prototype_from(NULL, 0), 0);
    WORKS(rig.host, api->create(world, 0, e, 3));
    ck_assert_uint_eq(api->keys_of(world, e[0], keys, 2), 0);
    ck_assert_uint_eq(world->rows.occupied, 0);
}
END_TEST

enum { BITS = 14, SETS = 1 << BITS };

static void expect_columns(const uint32_t *keys, uint32_t mask, uint32_t prototype)
{
    const prototypes_t *p = &world->rows.prototypes;
    uint32_t width = 1;
    for (uint32_t i = 0; i < BITS; i++) {
        uint32_t column = prototypes_column(p, prototype, keys[i]), named;
        EXPECT((column != 0) == ((mask >> i & 1) != 0), "set %#x has key %u: %u", mask, i, column);
        if (column == 0)
            continue;
        width += p->keys[keys[i]].columns;
        EXPECT(column + p->keys[keys[i]].columns <= p->items[prototype].columns, "columns past the end");
        EXPECT(prototypes_find_name(p, prototype, p->keys[keys[i]].name, &named) == keys[i],
               "another key has the name");
        EXPECT(named == column, "columns begin at %u and at %u", named, column);
    }
    EXPECT(width == p->items[prototype].columns, "%u columns instead of %u", p->items[prototype].columns,
           width);
}

/* Walk at random through additions and removals, and note which prototype each set came to. */
START_TEST(transitions_lead_from_set_to_set_and_back)
{
    static uint32_t prototype_of_set[SETS];
    uint32_t keys[BITS], mask = 0, at = 0, column;
    uint64_t random = 3;
    make_keys(keys, BITS);
    memset(prototype_of_set, 0, sizeof prototype_of_set);
    for (uint32_t i = 0; i < 200000; i++) {
        uint32_t bit = bp_random_below(&random, BITS), flipped = mask ^ 1u << bit, to;
        bool adding = flipped > mask;
        bp_result_t result = adding ? prototypes_with(&world->rows.prototypes, at, keys[bit], &to, &column)
                                    : prototypes_without(&world->rows.prototypes, at, keys[bit], &to, &column);
        EXPECT(result == BP_OK, "%s", bp_host_error(rig.host));
        uint32_t larger = adding ? to : at;
        EXPECT(column == prototypes_column(&world->rows.prototypes, larger, keys[bit]),
               "the column is said to be %u", column);
        EXPECT((to == 0) == (flipped == 0), "set %#x is prototype %u", flipped, to);
        EXPECT(prototype_of_set[flipped] == 0 || prototype_of_set[flipped] == to, "set %#x is two prototypes",
               flipped);
        prototype_of_set[flipped] = to;
        expect_columns(keys, flipped, to);
        mask = flipped;
        at = to;
    }
}
END_TEST

static uint32_t ones(uint32_t mask)
{
    return mask == 0 ? 0 : (mask & 1) + ones(mask >> 1);
}

static uint32_t count_transitions(const prototypes_t *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->transition_count; i++)
        count += p->transitions[i].edge != 0;
    return count;
}

/* Entities take their turns in getting and losing components, one by one, and come to each of 1,024 sets on each of ten
 * ways. Once they have done so for a while, nearly every change is one whose transition is known, and where it is known
 * it leads to where the entity comes. */
START_TEST(transitions_in_use_stay_known_however_many_they_are)
{
    enum { KEYS = 10, WALKERS = 50, CHANGES = 300000, LOOKED_AT = 20000 };
    uint32_t keys[KEYS], masks[WALKERS] = {0}, known = 0;
    bp_entity_t e[WALKERS];
    uint64_t random = 9;
    prototypes_t *p = &world->rows.prototypes;
    for (uint32_t i = 0; i < KEYS; i++) {
        char name[32];
        snprintf(name, sizeof name, "mark-%u", i);
        keys[i] = key_of(world, "mark", name);
    }
    WORKS(rig.host, rig.api->entity->create(rig.host, e, WALKERS));
    ck_assert_uint_eq(p->transition_count, PROTOTYPES_TRANSITIONS);
    for (uint32_t i = 0; i < CHANGES; i++) {
        uint32_t who = bp_random_below(&random, WALKERS), bit = bp_random_below(&random, KEYS);
        bool adding = (masks[who] >> bit & 1) == 0;
        uint32_t from = world_record_at(&world->rows, bp_entity_index(e[who]))->prototype;
        const transition_t *t = prototypes_cached(p, from, keys[bit], adding);
        uint32_t to = t == NULL ? BP_NONE : t->to;
        uint32_t count = p->pushed_out > p->transition_count / 2 ? count_transitions(p) : 0;
        known += i >= CHANGES - LOOKED_AT && prototypes_linked(p, from, keys[bit], adding) == t && t != NULL;
        WORKS(rig.host, adding ? api->add(world, keys[bit], &e[who], 1) : api->remove(world, keys[bit], &e[who], 1));
        masks[who] ^= 1u << bit;
        EXPECT(count == 0 || count_transitions(p) >= count, "%u transitions are fewer", count);
        uint32_t came_to = world_record_at(&world->rows, bp_entity_index(e[who]))->prototype;
        EXPECT(t == NULL || to == came_to, "change %u leads to %u instead of %u", i, to, came_to);
        EXPECT(p->items[came_to].key_count == ones(masks[who]), "set %#x is prototype %u", masks[who], came_to);
        EXPECT((prototypes_column(p, came_to, keys[bit]) != 0) == adding, "key %u is where it was", bit);
    }
    EXPECT(known >= LOOKED_AT / 100 * 95, "%u of %u transitions are known", known, LOOKED_AT);
    ck_assert_uint_le(p->transition_count, 16 * p->bucket_count);
}
END_TEST

/* Prototypes of which no entity goes on to another one need no transitions. */
START_TEST(prototypes_that_are_made_as_wholes_take_no_room_for_transitions)
{
    uint32_t keys[BITS], some[BITS];
    bp_entity_t e;
    make_keys(keys, BITS);
    for (uint32_t mask = 1; mask < SETS; mask++)
        WORKS(rig.host, api->create(world, prototype_from(some, subset(keys, mask, some)), &e, 1));
    WORKS(rig.host, api->add(world, key_of(world, "mark", "new"), &e, 1));
    ck_assert_uint_eq(world->rows.prototypes.transition_count, PROTOTYPES_TRANSITIONS);
}
END_TEST

START_TEST(a_change_is_refused_where_transitions_that_need_room_find_none)
{
    uint32_t fog = key_of(world, "fx", "fog"), haze = key_of(world, "fx", "haze");
    bp_entity_t e[2] = {entity_with(world, "label"), entity_with(world, "label")};
    prototypes_t *p = &world->rows.prototypes;
    for (uint32_t i = 0; i < 2; i++) {
        p->pushed_out = PROTOTYPES_TRANSITIONS / 2 + (i == 0 ? 0 : 1);
        WORKS(rig.host, api->add(world, fog, &e[i], 1));
        WORKS(rig.host, api->remove(world, fog, &e[i], 1));
        ck_assert_uint_eq(p->transition_count, i == 0 ? PROTOTYPES_TRANSITIONS : 2 * PROTOTYPES_TRANSITIONS);
    }
    ck_assert_uint_le(p->pushed_out, 1);
    uint32_t at = world_record_at(&world->rows, bp_entity_index(e[0]))->prototype;
    ck_assert_ptr_nonnull(prototypes_cached(p, at, fog, true));
    p->pushed_out = UINT32_MAX;
    rig.heap.refuse_first = rig.heap.requests + 1;
    rig.heap.refuse_last = UINT64_MAX;
    FAILS(rig.host, BP_ERROR_MEMORY, "out of memory", api->add(world, haze, e, 1));
    ck_assert_uint_eq(api->has(world, haze, e, 1, NULL), 0);
    check_host(rig.host);
    rig.heap.refuse_first = 0;
    WORKS(rig.host, api->add(world, haze, e, 1));
    ck_assert_uint_eq(p->transition_count, 4 * PROTOTYPES_TRANSITIONS);
}
END_TEST

/* Prototypes that no world has, with so many keys and a prototype for each pair of them. */
static void make_pairs(prototypes_t *p, uint32_t count)
{
    ck_assert(prototypes_init(p, &rig.host->base.memory, &rig.host->base));
    for (uint32_t k = 0; k < count; k++) {
        uint32_t key;
        component_key_t made = {.name = k + 1, .manager = k, .columns = (uint16_t)(1 + k % 5)};
        ck_assert_int_eq(prototypes_key(p, made, &key), BP_OK);
        ck_assert_uint_eq(key, k);
    }
    for (uint32_t a = 0; a < count; a++) {
        for (uint32_t b = a + 1; b < count; b++)
            ck_assert_uint_ne(prototypes_child(p, prototypes_child(p, 0, a), b), BP_NONE);
    }
}

/* Which of the first and last places of the cache of columns have been used: bits 0 and 1. */
static uint32_t look_up_all(const prototypes_t *p)
{
    uint32_t ends = 0;
    for (uint32_t i = 1; i < p->count; i++) {
        uint32_t key = p->items[i].key, base = p->items[i].base;
        uint32_t below = base == 0 ? 0 : p->keys[p->items[base].key].columns;
        ck_assert_uint_eq(prototypes_column(p, i, key), 1 + below);
        ends |= prototypes_column_word(p, i, key) == p->columns ? 1 : 0;
        ends |= prototypes_column_word(p, i, key) == p->columns + p->column_count - 1 ? 2 : 0;
        if (base != 0)
            ck_assert_uint_eq(prototypes_column(p, i, p->items[base].key), 1);
    }
    return ends;
}

/* Where columns begin is remembered, and forgotten when keys have other columns: in each place of the cache. */
START_TEST(columns_are_found_anew_when_keys_have_others)
{
    uint32_t ends = 0;
    for (uint32_t count = 10; count < 60; count++) {
        prototypes_t p;
        make_pairs(&p, count);
        for (uint32_t turn = 0; turn < 2; turn++) {
            ends |= look_up_all(&p);
            for (uint32_t k = 0; k < count; k++)
                p.keys[k].columns = (uint16_t)(p.keys[k].columns + k % 3 + 1);
            prototypes_recount(&p);
        }
        ends |= look_up_all(&p);
        prototypes_free(&p);
    }
    ck_assert_uint_eq(ends, 3);
}
END_TEST

/* The cache of transitions grows to 16 places for each bucket, to 262,144 in all, or to two for each. */
START_TEST(transitions_have_no_more_room_than_prototypes_need)
{
    static const struct { uint32_t buckets, places; } wanted[] = {
        {8, 128}, {1 << 13, 1 << 17}, {1 << 14, 1 << 18}, {1 << 15, 1 << 18}, {1 << 17, 1 << 18}, {1 << 18, 1 << 19}};
    for (uint32_t i = 0; i < COUNT(wanted); i++) {
        prototypes_t p;
        ck_assert(prototypes_init(&p, &rig.host->base.memory, &rig.host->base));
        uint32_t buckets = p.bucket_count;
        p.bucket_count = wanted[i].buckets; /* whose number alone is looked at */
        for (uint32_t turn = 0; turn < 20; turn++) {
            p.pushed_out = UINT32_MAX;
            ck_assert(prototypes_widen(&p));
        }
        ck_assert_uint_eq(p.transition_count, wanted[i].places);
        p.bucket_count = buckets;
        prototypes_free(&p);
    }
}
END_TEST

/* Requests of which one alone fails, each in turn, while the tables of prototypes grow from nothing to many. */
START_TEST(whichever_memory_is_lacking_a_prototype_is_made_or_not)
{
    enum { KINDS = 32 };
    uint32_t keys[KINDS], made, again, refused = 0;
    make_keys(keys, KINDS);
    for (uint32_t i = 0; i < KINDS * KINDS; i++) {
        uint32_t pair[] = {keys[i / KINDS], keys[i % KINDS]}, count = pair[0] == pair[1] ? 1 : 2;
        bp_result_t result;
        for (uint64_t n = 1;; n++) {
            uint32_t there = world->rows.prototypes.count;
            rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
            result = api->prototype(world, pair, count, &made);
            rig.heap.refuse_first = rig.heap.refuse_last = 0;
            if (result == BP_OK)
                break;
            SAID(rig.host, BP_ERROR_MEMORY, "out of memory while making a prototype", result);
            EXPECT(world->rows.prototypes.count <= there + 1 && n < 100, "pair %u: request %u", i, (uint32_t)n);
            refused++;
        }
        WORKS(rig.host, api->prototype(world, pair, count, &again));
        ck_assert_uint_eq(again, made);
    }
    ck_assert_uint_gt(refused, 10);
    ck_assert_uint_gt(world->rows.prototypes.column_count, PROTOTYPES_COLUMNS);
}
END_TEST

START_TEST(prototypes_of_different_sets_differ)
{
    static uint8_t seen[2 * SETS];
    uint32_t keys[BITS], some[BITS];
    memset(seen, 0, sizeof seen);
    make_keys(keys, BITS);
    for (uint32_t mask = 0; mask < SETS; mask++) {
        uint32_t prototype = prototype_from(some, subset(keys, mask, some));
        EXPECT(prototype < COUNT(seen) && seen[prototype] == 0, "set %#x has the prototype of another", mask);
        seen[prototype] = 1;
    }
    ck_assert_uint_eq(world->rows.prototypes.count, SETS);
}
END_TEST

/* --- refusals ------------------------------------------------------------------------------------------- */

START_TEST(two_components_of_one_name_are_refused)
{
    uint32_t keys[] = {key_of(world, "fx", "x"), key_of(world, "body", "x")}, prototype = 77;
    uint32_t twice[] = {keys[0], keys[0]};
    SAID(rig.host, BP_ERROR_EXISTS, "the entity already has a component named 'x'",
         api->prototype(world, keys, 2, &prototype));
    SAID(rig.host, BP_ERROR_EXISTS, "the entity already has a component named 'x'",
         api->prototype(world, twice, 2, &prototype));
    uint32_t own[] = {key_of(world, "fx", "body"), key_of(world, "body", "")};
    SAID(rig.host, BP_ERROR_EXISTS, "the entity already has a component named 'body'",
         api->prototype(world, own, 2, &prototype));
    ck_assert_uint_eq(prototype, 77);
}
END_TEST

START_TEST(a_second_component_of_a_single_type_is_refused)
{
    uint32_t keys[] = {key_of(world, "once", ""), key_of(world, "once", "again")}, prototype;
    SAID(rig.host, BP_ERROR_EXISTS, "the entity already has this component, as 'once', and may have only one",
         api->prototype(world, keys, 2, &prototype));
    uint32_t fine[] = {key_of(world, "fx", "fog"), key_of(world, "fx", "vignette"),
                       key_of(world, "once", "again")};
    WORKS(rig.host, api->prototype(world, fine, 3, &prototype));
}
END_TEST

START_TEST(what_is_no_key_is_refused)
{
    uint32_t count = world->rows.prototypes.key_count, keys[] = {key_of(world, "fx", ""), count + 1}, prototype,
             component;
    bp_name_t name;
    SAID(rig.host, BP_ERROR_NOT_FOUND, "world 'main' has no component key 1",
         api->prototype(world, keys, 2, &prototype));
    keys[1] = BP_NONE;
    SAID(rig.host, BP_ERROR_NOT_FOUND, "world 'main' has no component key 4294967295",
         api->prototype(world, keys, 2, &prototype));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "world 'main' has no key 4294967295",
         api->key_info(world, BP_NONE, &component, &name));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "world 'main' has no component manager number 99", api->key(world, 99, 0, keys));
    bp_entity_t e;
    SAID(rig.host, BP_ERROR_NOT_FOUND, "world 'main' has no prototype 4000", api->create(world, 4000, &e, 1));
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 0);
}
END_TEST

START_TEST(removing_what_is_not_there_is_refused)
{
    uint32_t keys[] = {key_of(world, "fx", "fog"), key_of(world, "fx", "vignette")}, to = 5, column;
    uint32_t prototype = prototype_from(keys, 1);
    SAID(rig.host, BP_ERROR_NOT_FOUND, "the entity has no component 'vignette'",
         prototypes_without(&world->rows.prototypes, prototype, keys[1], &to, &column));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "the entity has no component 'fog'",
         prototypes_without(&world->rows.prototypes, 0, keys[0], &to, &column));
    ck_assert_uint_eq(to, 5);
}
END_TEST

/* --- limits --------------------------------------------------------------------------------------------- */

START_TEST(an_entity_has_255_components_and_not_one_more)
{
    uint32_t keys[PROTOTYPES_MAX_KEYS + 1], prototype, told[PROTOTYPES_MAX_KEYS];
    bp_entity_t e;
    make_keys(keys, COUNT(keys));
    SAID(rig.host, BP_ERROR_LIMIT, "an entity has at most 255 components and 65535 fields",
         api->prototype(world, keys, COUNT(keys), &prototype));
    prototype = prototype_from(keys, PROTOTYPES_MAX_KEYS);
    WORKS(rig.host, api->create(world, prototype, &e, 1));
    ck_assert_uint_eq(api->keys_of(world, e, told, COUNT(told)), PROTOTYPES_MAX_KEYS);
    SAID(rig.host, BP_ERROR_LIMIT, "#0:1: an entity has at most 255 components and 65535 fields",
         api->add(world, keys[PROTOTYPES_MAX_KEYS], &e, 1));
    WORKS(rig.host, api->remove(world, keys[100], &e, 1));
    WORKS(rig.host, api->add(world, keys[PROTOTYPES_MAX_KEYS], &e, 1));
    ck_assert_uint_eq(api->keys_of(world, e, told, COUNT(told)), PROTOTYPES_MAX_KEYS);
    ck_assert_uint_eq(api->has(world, keys[PROTOTYPES_MAX_KEYS - 1], &e, 1, NULL), 1);
    ck_assert_uint_eq(api->has(world, keys[100], &e, 1, NULL), 0);
}
END_TEST

START_TEST(keys_are_found_again_among_thousands)
{
    enum { MANY = 20000 };
    uint32_t *keys = malloc(MANY * sizeof *keys), component;
    bp_name_t name;
    char text[32];
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "n%u", i / 2);
        keys[i] = key_of(world, i % 2 == 0 ? "fx" : "flag", text);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "n%u", i / 2);
        EXPECT(key_of(world, i % 2 == 0 ? "fx" : "flag", text) == keys[i], "%s has another key", text);
        WORKS(rig.host, api->key_info(world, keys[i], &component, &name));
        EXPECT(component == api->component(world, i % 2 == 0 ? "fx" : "flag"), "%s is of another type", text);
        EXPECT(strcmp(rig.api->name->text(rig.host, name), text) == 0, "%s is called otherwise", text);
    }
    bp_name_t own = rig.api->name->hash("fx");
    WORKS(rig.host, api->key(world, api->component(world, "fx"), own, &component));
    ck_assert_uint_eq(component, key_of(world, "fx", ""));
    free(keys);
}
END_TEST

/* A component does not get keys of its own type in its own `start`, so the sentence names that of systems. */
START_TEST(keys_and_prototypes_are_not_made_in_verbs_that_change_nothing)
{
    uint32_t key, prototype, body = key_of(world, "body", "");
    bp_name_t name;
    WORKS(rig.host, rig.api->name->intern(rig.host, "late", &name));
    world->rows.base->attention |= BASE_ASKED;
    SAID(rig.host, BP_ERROR_STATE,
         "keys and prototypes that are not there yet cannot be made while a component with storage of its own gives or "
         "takes values or counts, or a state is written down or read; make them earlier: in a step, or in `start` of a "
         "system",
         world_key(&world->rows, api->component(world, "fx"), name, &key));
    ck_assert_int_eq(store_prototype(&world->rows, &body, 1, &prototype), BP_ERROR_STATE);
    world->rows.base->attention &= ~(uint32_t)BASE_ASKED;
    WORKS(rig.host, world_key(&world->rows, api->component(world, "fx"), name, &key));
    WORKS(rig.host, store_prototype(&world->rows, &body, 1, &prototype));
}
END_TEST

/* --- many prototypes ------------------------------------------------------------------------------------ */

enum { SPARSE = 100000 };

/* One entity in each of 100,000 combinations of 17 components of one field. */
static void make_sparse(bp_world_o *sparse, bp_entity_t *entities)
{
    uint32_t keys[17], some[17], prototype;
    char name[32];
    for (uint32_t i = 0; i < COUNT(keys); i++) {
        snprintf(name, sizeof name, "mark-%u", i);
        keys[i] = key_of(sparse, "mark", name);
    }
    for (uint32_t i = 0; i < SPARSE; i++) {
        WORKS(rig.host, api->prototype(sparse, some, subset(keys, i + 1, some), &prototype));
        WORKS(rig.host, api->create(sparse, prototype, &entities[i], 1));
        WORKS(rig.host, rig.api->property->set_named(sparse, entities[i], rig.api->name->text(rig.host,
              sparse->rows.prototypes.keys[some[0]].name), "value", BP_U32, &i));
    }
}

START_TEST(a_hundred_thousand_prototypes_of_one_entity_take_a_kilobyte_each_at_most)
{
    bp_entity_t *const entities = room_of(SPARSE * sizeof *entities);
    bp_world_stats_t stats;
    bp_world_o *sparse = bp_world_create(rig.host, &(bp_world_desc_t){.name = "sparse"});
    WORKS(rig.host, bp_world_use_component(sparse, "mark"));
    make_sparse(sparse, entities);
    bp_world_stats(sparse, &stats);
    ck_assert_uint_eq(stats.entities, SPARSE);
    ck_assert_uint_ge(stats.prototypes, SPARSE);
    ck_assert_uint_eq(stats.runs, SPARSE);
    ck_assert_msg(stats.bytes <= (uint64_t)SPARSE * 1024, "%" PRIu64 " bytes each", stats.bytes / SPARSE);
    for (uint32_t i = 0; i < SPARSE; i++) {
        uint32_t lowest = 0, value;
        char name[32];
        while (((i + 1) >> lowest & 1) == 0)
            lowest++;
        snprintf(name, sizeof name, "mark-%u", lowest);
        WORKS(rig.host, rig.api->property->get_named(sparse, entities[i], name, "value", BP_U32, &value));
        EXPECT(value == i, "entity %u has the value of %u", i, value);
    }
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, entities, SPARSE), SPARSE);
    ck_assert_uint_eq(sparse->rows.occupied, 0);
}
END_TEST

/* Prototypes come while a property is in use: it is found in each of them, by a call and without one, by a handle that
 * was used last when there were fewer, and one that was used for all. More prototypes than have spots (spots.h). */
enum { COMING = SPOTS_MOST + 500, HANDLES = 40 };

START_TEST(a_property_is_found_however_many_prototypes_come)
{
    static bp_entity_t entities[COMING];
    const bp_property_api *property = rig.api->property;
    uint32_t keys[14], some[14], value;
    bp_property_t all, old[HANDLES];
    for (uint32_t i = 0; i < COUNT(keys); i++) {
        char name[32];
        snprintf(name, sizeof name, "flag-%u", i);
        keys[i] = i == 0 ? key_of(world, "mark", "m") : key_of(world, "mark", name);
    }
    for (uint32_t i = 0; i < COMING; i++) {
        WORKS(rig.host, api->create(world, prototype_from(some, subset(keys, 2 * i + 1, some)), &entities[i], 1));
        if (i == 0)
            WORKS(rig.host, property->resolve(world, entities[0], "m", "value", &all));
        WORKS(rig.host, property->set(world, &all, &entities[i], 1, &i, 0));
        if (i < HANDLES) {
            old[i] = all;
            WORKS(rig.host, property->get(world, &old[i], &entities[i], 1, &value, 0));
        }
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t which = k == 0 ? i : k == 1 ? i * 7919 % (i + 1) : i / 2;
            WORKS(rig.host, property->get(world, &all, &entities[which], 1, &value, 0));
            EXPECT(value == which, "prototype %u has the value of %u", which, value);
            const uint32_t *cell = bp_property_cell(world, &all, entities[which]);
            EXPECT(cell != NULL && *cell == which, "the value of prototype %u is not found without a call", which);
        }
        const bp_property_t *kept = &old[i % HANDLES <= i ? i % HANDLES : 0];
        const uint32_t *cell = bp_property_cell(world, kept, entities[i % HANDLES <= i ? i % HANDLES : 0]);
        EXPECT(cell != NULL && *cell == (i % HANDLES <= i ? i % HANDLES : 0), "an old handle finds another value");
    }
    ck_assert_uint_eq(world->rows.spots.length, SPOTS_MOST);
}
END_TEST

/* Only so many properties have spots; the others are found too. */
START_TEST(a_property_is_found_however_many_are_resolved)
{
    static bp_property_t properties[SPOTS_LINES + 20];
    bp_entity_t e[2] = {entity_with(world, "label"), entity_with(world, "label")};
    uint32_t value;
    for (uint32_t i = 0; i < COUNT(properties); i++) {
        char name[32];
        snprintf(name, sizeof name, "mark-%u", i);
        uint32_t key = key_of(world, "mark", name), both = 2 * i;
        for (uint32_t k = 0; k < 2 && i % 100 == 0; k++)
            e[k] = entity_with(world, "label");
        WORKS(rig.host, api->add(world, key, &e[i % 2], 1));
        WORKS(rig.host, rig.api->property->resolve(world, e[i % 2], name, "value", &properties[i]));
        WORKS(rig.host, rig.api->property->set(world, &properties[i], &e[i % 2], 1, &both, 0));
        WORKS(rig.host, rig.api->property->get(world, &properties[i], &e[i % 2], 1, &value, 0));
        EXPECT(value == both, "property %u has the value %u", i, value);
        value = 0;
        WORKS(rig.host, rig.api->property->get_named(world, e[i % 2], name, "value", BP_U32, &value));
        EXPECT(value == both, "property %u has by name the value %u", i, value);
    }
    ck_assert_uint_eq(world->rows.spots.count, SPOTS_LINES + 1);
}
END_TEST

/* --- the suite ------------------------------------------------------------------------------------------ */

Suite *prototypes_suite(void)
{
    Suite *suite = suite_create("prototypes");
    TCase *tests = tcase_create("prototypes");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_set_timeout(tests, 240);
    tcase_add_test(tests, any_order_of_the_same_components_is_the_same_prototype);
    tcase_add_test(tests, adding_one_by_one_in_any_order_comes_to_the_same_prototype);
    tcase_add_test(tests, no_components_are_prototype_0);
    tcase_add_test(tests, transitions_lead_from_set_to_set_and_back);
    tcase_add_test(tests, transitions_in_use_stay_known_however_many_they_are);
    tcase_add_test(tests, prototypes_that_are_made_as_wholes_take_no_room_for_transitions);
    tcase_add_test(tests, a_change_is_refused_where_transitions_that_need_room_find_none);
    tcase_add_test(tests, whichever_memory_is_lacking_a_prototype_is_made_or_not);
    tcase_add_test(tests, columns_are_found_anew_when_keys_have_others);
    tcase_add_test(tests, transitions_have_no_more_room_than_prototypes_need);
    tcase_add_test(tests, prototypes_of_different_sets_differ);
    tcase_add_test(tests, two_components_of_one_name_are_refused);
    tcase_add_test(tests, a_second_component_of_a_single_type_is_refused);
    tcase_add_test(tests, what_is_no_key_is_refused);
    tcase_add_test(tests, removing_what_is_not_there_is_refused);
    tcase_add_test(tests, an_entity_has_255_components_and_not_one_more);
    tcase_add_test(tests, keys_are_found_again_among_thousands);
    tcase_add_test(tests, keys_and_prototypes_are_not_made_in_verbs_that_change_nothing);
    tcase_add_test(tests, a_hundred_thousand_prototypes_of_one_entity_take_a_kilobyte_each_at_most);
    tcase_add_test(tests, a_property_is_found_however_many_prototypes_come);
    tcase_add_test(tests, a_property_is_found_however_many_are_resolved);
    suite_add_tcase(suite, tests);
    return suite;
}
