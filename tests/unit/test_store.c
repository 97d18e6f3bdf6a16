/* test_store.c - rows: where entities' fields lie, what moves them, and that batches are all or nothing.
 *
 * The store is held against a naive model through hundreds of thousands of random operations (churn.h),
 * with the invariants of the host checked in between; what is easy to say directly is said directly.
 */
#include "support.h"

#include "../suites.h"
#include "churn.h"
#include "inspect.h"
#include "zoo.h"

#include "store/notices.h"
#include "store/world_check.h"

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

static void create(uint32_t prototype, bp_entity_t *entities, uint32_t count)
{
    WORKS(rig.host, api->create(world, prototype, entities, count));
}

static void set_mass(bp_entity_t e, float mass)
{
    WORKS(rig.host, rig.api->property->set_named(world, e, "body", "mass", BP_F32, &mass));
}

static float mass_of(bp_entity_t e)
{
    float mass = -1;
    WORKS(rig.host, rig.api->property->get_named(world, e, "body", "mass", BP_F32, &mass));
    return mass;
}

/* A world knows pages of records from its first entity's on, however many entities there are before that one, and makes
 * room in front of them where one before it comes. */
START_TEST(a_world_has_no_pages_for_entities_before_its_first)
{
    enum { MANY = 20 };
    static bp_entity_t e[MANY * ENTITIES_PAGE];
    uint32_t body = key_of(world, "body", "");
    world_t *rows = &world->rows;
    WORKS(rig.host, rig.api->entity->create(rig.host, e, COUNT(e)));
    uint32_t first = bp_entity_index(e[0]) / ENTITIES_PAGE, high = first + MANY - 2, low = first + MANY / 2;
    WORKS(rig.host, api->add(world, body, &e[(high - first) * ENTITIES_PAGE], 1));
    ck_assert_uint_eq(rows->first_page, bp_entity_index(e[(high - first) * ENTITIES_PAGE]) / ENTITIES_PAGE);
    ck_assert_uint_eq(rows->page_count, 1);
    WORKS(rig.host, api->add(world, body, &e[(low - first) * ENTITIES_PAGE], 1));
    ck_assert_uint_eq(rows->first_page, bp_entity_index(e[(low - first) * ENTITIES_PAGE]) / ENTITIES_PAGE);
    ck_assert_uint_eq(rows->page_count, high - low + 1);
    WORKS(rig.host, api->add(world, body, &e[(high + 1 - first) * ENTITIES_PAGE], 1)); /* at its end it grows by half */
    ck_assert_uint_eq(rows->page_count, high + 2 - low + (high + 1 - low) / 2);
}
END_TEST

/* --- the model ------------------------------------------------------------------------------------------ */

#if defined(BACKPLANE_SANITIZED)
enum { SEEDS = 2, SMALL = 4 };
#else
enum { SEEDS = 8, SMALL = 12 };
#endif
enum { OPERATIONS = 45000, COMPARE_EVERY = 1500 };

START_TEST(random_operations_do_what_they_do_to_a_naive_model)
{
    static churn_t churn;
    rig_t own;
    rig_open_zoo(&own);
    churn_open(&churn, &own, 1000 + (uint64_t)_i, _i % 2 == 0 ? 300 : 2500);
    while (churn.operations < OPERATIONS) {
        churn_once(&churn);
        if (churn.operations % COMPARE_EVERY == 0) {
            model_compare(&churn.model);
            check_host(own.host);
        }
    }
    ck_assert_uint_gt(churn.refused, 500);
    churn_close(&churn);
    rig_close(&own);
}
END_TEST

/* Small worlds in which everything is compared after every operation: what goes wrong is seen where it
 * does. */
START_TEST(every_operation_on_a_small_world_is_right)
{
    static churn_t churn;
    rig_t own;
    rig_open_zoo(&own);
    churn_open(&churn, &own, 2000 + (uint64_t)_i, 12);
    while (churn.operations < 600) {
        churn_once(&churn);
        model_compare(&churn.model);
        check_host(own.host);
        if (churn.model.living_count > 60) {
            for (uint32_t i = churn.model.living_count; i > 8; i--) {
                bp_entity_t e = churn.model.living[i - 1].id;
                own.api->entity->destroy(own.host, &e, 1);
                model_destroy(&churn.model, e);
            }
        }
    }
    churn_close(&churn);
    rig_close(&own);
}
END_TEST

/* The default allocator instead of the watched heap: pages, remapping. */
START_TEST(the_same_operations_are_right_on_the_systems_pages)
{
    static churn_t churn;
    rig_t own;
    rig_init(&own);
    own.desc.allocator = NULL;
    rig_open(&own);
    for (uint32_t i = 0; i < ZOO_PLUGINS; i++)
        WORKS(own.host, bp_host_load_plugin(own.host, zoo_plugins[i]->name, NULL, 0));
    churn_open(&churn, &own, 77, 5000);
    while (churn.operations < 20000)
        churn_once(&churn);
    model_compare(&churn.model);
    check_host(own.host);
    churn_close(&churn);
    rig_close(&own);
}
END_TEST

/* --- all or nothing ------------------------------------------------------------------------------------- */

/* Entities of several prototypes: bodies, bodies with a label, bodies with a fog, nothing. */
static uint32_t make_mixed(bp_entity_t *e)
{
    create(prototype_of(world, "body", NULL, NULL, NULL), e, 5);
    create(prototype_of(world, "body", "label", NULL, NULL), e + 5, 5);
    create(prototype_of(world, "body", "fx", "told", NULL), e + 10, 5);
    create(0, e + 15, 5);
    for (uint32_t i = 0; i < 15; i++)
        set_mass(e[i], (float)i);
    return 20;
}

START_TEST(one_batch_may_mix_prototypes)
{
    bp_entity_t e[20];
    uint32_t flag = key_of(world, "flag", ""), pool = key_of(world, "pool", "");
    make_mixed(e);
    bp_entity_t mixed[] = {e[0], e[15], e[5], e[10], e[1], e[11], e[16], e[6], e[2], e[14]};
    WORKS(rig.host, api->add(world, flag, mixed, COUNT(mixed)));
    WORKS(rig.host, api->add(world, pool, mixed, COUNT(mixed)));
    ck_assert_uint_eq(api->has(world, flag, e, 20, NULL), COUNT(mixed));
    ck_assert_uint_eq(api->has(world, pool, mixed, COUNT(mixed), NULL), COUNT(mixed));
    check_host(rig.host);
    WORKS(rig.host, api->remove(world, flag, mixed + 1, COUNT(mixed) - 1));
    WORKS(rig.host, api->remove(world, pool, mixed, COUNT(mixed)));
    ck_assert_uint_eq(api->has(world, flag, e, 20, NULL), 1);
    ck_assert_uint_eq(api->count(world, api->component(world, "pool")), 0);
    for (uint32_t i = 0; i < 15; i++)
        ck_assert(mass_of(e[i]) == (float)i);
    ck_assert_uint_eq(world->rows.occupied, 15);
}
END_TEST

/* Both changes are refused, and nothing at all is another afterwards. */
static void expect_refused(bool adding, uint32_t key, const bp_entity_t *batch, uint32_t count,
                           bp_result_t code, const char *part)
{
    char *before = describe_host(rig.host);
    if (adding)
        FAILS(rig.host, code, part, api->add(world, key, batch, count));
    else
        FAILS(rig.host, code, part, api->remove(world, key, batch, count));
    expect_same(before, describe_host(rig.host), part);
    check_host(rig.host);
}

START_TEST(a_dead_entity_anywhere_in_a_batch_refuses_it)
{
    bp_entity_t e[20];
    uint32_t flag = key_of(world, "flag", ""), body = key_of(world, "body", "");
    make_mixed(e);
    rig.api->entity->destroy(rig.host, &e[7], 1);
    for (uint32_t at = 0; at < 15; at += 7) {
        bp_entity_t batch[20];
        memcpy(batch, e, sizeof batch);
        batch[7] = e[at];
        batch[at] = e[7];
        expect_refused(true, flag, batch, 20, BP_ERROR_DEAD, "entity #7:1 is dead");
        expect_refused(false, body, batch, 15, BP_ERROR_DEAD, "entity #7:1 is dead");
        batch[at] = (bp_entity_t){0};
        expect_refused(true, flag, batch, 20, BP_ERROR_DEAD, "id is 0");
        expect_refused(false, body, batch, 15, BP_ERROR_DEAD, "id is 0");
    }
}
END_TEST

/* One by one, where others have got the component before, so that there are a row and a way for the next one. */
START_TEST(a_dead_entity_gets_no_first_component)
{
    bp_entity_t e[5];
    uint32_t body = key_of(world, "body", "");
    WORKS(rig.host, rig.api->entity->create(rig.host, e, 5));
    for (uint32_t i = 0; i < 3; i++)
        WORKS(rig.host, api->add(world, body, &e[i], 1));
    rig.api->entity->destroy(rig.host, &e[0], 1);
    rig.api->entity->destroy(rig.host, &e[4], 1); /* which had none */
    SAID(rig.host, BP_ERROR_DEAD, "entity #0:1 is dead", api->add(world, body, &e[0], 1));
    SAID(rig.host, BP_ERROR_DEAD, "entity #4:1 is dead", api->add(world, body, &e[4], 1));
    WORKS(rig.host, api->add(world, body, &e[3], 1));
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 3);
}
END_TEST

/* The rows of the dead wait as {0}, and a batch in the order of the rows may have {0} in it too. */
START_TEST(no_entity_is_not_the_hole_that_a_dead_one_left)
{
    bp_entity_t e[40];
    uint32_t flag = key_of(world, "flag", ""), body = key_of(world, "body", "");
    create(prototype_of(world, "body", "label", NULL, NULL), e, 40);
    rig.api->entity->destroy(rig.host, &e[20], 1);
    e[20] = (bp_entity_t){0};
    for (uint32_t first = 0; first < 20; first += 19) {
        expect_refused(true, flag, e + first, 40 - first, BP_ERROR_DEAD, "id is 0");
        expect_refused(false, body, e + first, 40 - first, BP_ERROR_DEAD, "id is 0");
    }
}
END_TEST

/* A handle without a generation, a bare index for instance, is no entity's: neither where the world has a record for
 * the index, nor where it has none. */
START_TEST(a_bare_index_is_no_entity)
{
    uint32_t body = key_of(world, "body", ""), flag = key_of(world, "flag", ""), pool = key_of(world, "pool", "");
    const uint32_t keys[] = {body, flag, pool};
    bp_entity_t e[8];
    create(prototype_of(world, "body", NULL, NULL, NULL), e, 8);
    WORKS(rig.host, api->remove(world, body, e + 4, 4)); /* these live, and their records are free */
    for (uint32_t k = 0; k < COUNT(keys); k++) {
        for (uint32_t index = 4; index < 1000000; index = index < 8 ? index + 1 : index * 10) {
            const bp_entity_t bare[] = {{index}, {index + 1}};
            FAILS(rig.host, BP_ERROR_DEAD, "belongs to another host", api->add(world, keys[k], bare, 1));
            FAILS(rig.host, BP_ERROR_DEAD, "belongs to another host", api->add(world, keys[k], bare, 2));
            FAILS(rig.host, BP_ERROR_DEAD, "belongs to another host", api->remove(world, keys[k], bare, 1));
            FAILS(rig.host, BP_ERROR_DEAD, "belongs to another host", api->remove(world, keys[k], bare, 2));
            ck_assert_uint_eq(api->has(world, keys[k], bare, 2, NULL), 0);
        }
    }
    check_host(rig.host);
    for (uint32_t i = 4; i < 8; i++)
        WORKS(rig.host, api->add(world, flag, e + i, 1));
}
END_TEST

START_TEST(a_second_mention_refuses_the_batch)
{
    bp_entity_t e[21];
    uint32_t flag = key_of(world, "flag", ""), body = key_of(world, "body", ""),
             told = key_of(world, "told", "extra");
    make_mixed(e);
    for (uint32_t twin = 0; twin < 20; twin++) {
        e[20] = e[twin];
        expect_refused(true, flag, e, 21, BP_ERROR_ARGUMENT, "mentions it twice");
        expect_refused(true, told, e, 21, BP_ERROR_ARGUMENT, "mentions it twice");
    }
    bp_entity_t pairs[] = {e[0], e[1], e[1], e[2]};
    expect_refused(false, body, pairs, COUNT(pairs), BP_ERROR_ARGUMENT, "#1:1: the batch mentions it twice");
}
END_TEST

START_TEST(a_component_that_one_has_or_lacks_refuses_the_batch)
{
    bp_entity_t e[20];
    make_mixed(e);
    expect_refused(true, key_of(world, "label", ""), e, 20, BP_ERROR_EXISTS,
                   "#5:1: the entity already has a component named 'label'");
    expect_refused(true, key_of(world, "fx", "body"), e, 20, BP_ERROR_EXISTS, "#0:1");
    expect_refused(false, key_of(world, "body", ""), e, 20, BP_ERROR_NOT_FOUND,
                   "#15:1: the entity has no component 'body'");
    expect_refused(false, key_of(world, "told", ""), e, 20, BP_ERROR_NOT_FOUND, "#0:1");
    WORKS(rig.host, api->add(world, key_of(world, "once", ""), &e[3], 1));
    expect_refused(true, key_of(world, "once", "more"), e, 20, BP_ERROR_EXISTS,
                   "#3:1: the entity already has this component, as 'once'");
}
END_TEST

START_TEST(a_manager_that_refuses_refuses_the_batch)
{
    bp_entity_t e[20], out[3] = {{0}, {0}, {0}};
    make_mixed(e);
    stock_t *pool = state_of(world, "pool"), *told = state_of(world, "told");
    pool->refuse_creates = 1;
    expect_refused(true, key_of(world, "pool", ""), e, 20, BP_ERROR_FAILED, "told to refuse");
    uint32_t prototype = prototype_of(world, "pool", "told", "label", NULL), held = told->count;
    for (uint32_t both = 0; both < 2; both++) {
        char *before = describe_host(rig.host);
        *(both == 0 ? &pool->refuse_creates : &told->refuse_creates) = 1;
        SAID(rig.host, BP_ERROR_FAILED, "stock: told to refuse", api->create(world, prototype, out, 3));
        expect_same(before, describe_host(rig.host), "a refused creation");
        ck_assert_uint_eq(pool->count, 0);
        ck_assert_uint_eq(told->count, held);
    }
}
END_TEST

START_TEST(changing_nobody_is_no_error)
{
    uint32_t flag = key_of(world, "flag", "");
    WORKS(rig.host, api->add(world, flag, NULL, 0));
    WORKS(rig.host, api->remove(world, flag, NULL, 0));
    WORKS(rig.host, api->create(world, prototype_of(world, "body", NULL, NULL, NULL), NULL, 0));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "world 'main' has no component key 1000", api->add(world, 1000, NULL, 0));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "world 'main' has no component key 1000", api->remove(world, 1000, NULL, 0));
}
END_TEST

START_TEST(no_key_is_taken_for_the_key_of_another_change)
{
    uint32_t flag = key_of(world, "flag", "");
    bp_entity_t e;
    create(prototype_of(world, "body", NULL, NULL, NULL), &e, 1);
    for (uint32_t i = 0; i < 8; i++) { /* what is remembered of a change must not answer for a number that is no key */
        uint32_t none = flag | 1u << (31 - i / 2);
        FAILS(rig.host, BP_ERROR_NOT_FOUND, "no component key", api->add(world, none, &e, 1));
        FAILS(rig.host, BP_ERROR_NOT_FOUND, "no component key", api->remove(world, none, &e, 1));
        WORKS(rig.host, api->add(world, flag, &e, 1));
        FAILS(rig.host, BP_ERROR_NOT_FOUND, "no component key", api->add(world, none, &e, 1));
        FAILS(rig.host, BP_ERROR_NOT_FOUND, "no component key", api->remove(world, none, &e, 1));
        WORKS(rig.host, api->remove(world, flag, &e, 1));
    }
    SAID(rig.host, BP_ERROR_NOT_FOUND, "world 'main' has no component key 4294967295", api->add(world, BP_NONE, &e, 1));
    SAID(rig.host, BP_ERROR_DEAD, "no entity is given (its id is 0)", api->add(world, flag, &(bp_entity_t){0}, 1));
}
END_TEST

/* A change takes the entity out of the row in which the caller names it. */
START_TEST(an_entity_may_be_named_where_its_column_has_it)
{
    uint32_t flag = key_of(world, "flag", "");
    bp_entity_t e[8];
    create(prototype_of(world, "body", NULL, NULL, NULL), e, 8);
    const record_t *record = world_record(world_of(world), e[2]);
    for (uint32_t i = 0; i < 4; i++) {
        const run_t *run = world_run(world_of(world), record->prototype);
        WORKS(rig.host, (i % 2 == 0 ? api->add : api->remove)(world, flag, &run_entities(run)[record->row], 1));
        run = world_run(world_of(world), record->prototype);
        ck_assert_uint_eq(run_entities(run)[record->row].id, e[2].id);
        ck_assert_uint_eq(api->has(world, flag, &e[2], 1, NULL), 1 - i % 2);
    }
}
END_TEST

/* Where subscriptions or stamps come or go between two changes of one kind, the second one is not made as the first. */
START_TEST(a_change_known_by_heart_is_not_made_past_stamps)
{
    uint32_t flag = key_of(world, "flag", ""), count;
    const uint16_t columns[] = {1};
    bp_entity_t e[8];
    world_t *w = world_of(world);
    create(prototype_of(world, "body", NULL, NULL, NULL), e, 8);
    for (uint32_t round = 0; round < 3; round++) {
        WORKS(rig.host, api->add(world, flag, &e[2], 1));
        WORKS(rig.host, api->remove(world, flag, &e[2], 1));
        WORKS(rig.host, world_keep_stamps(w));
        const run_t *run = world_run(w, world_record(w, e[3])->prototype);
        uint64_t look = world_look(w);
        ck_assert_uint_eq(stamps_next(run->stamps, columns, 1, look, 0, run->count, &count), BP_NONE);
        WORKS(rig.host, api->add(world, flag, &e[2], 1));
        ck_assert_uint_eq(stamps_next(run->stamps, columns, 1, look, 0, run->count, &count), 0);
        WORKS(rig.host, api->remove(world, flag, &e[2], 1));
        world_release_stamps(w);
    }
}
END_TEST

/* The run that entities one by one go to is full at some time, and cannot grow. */
START_TEST(a_change_known_by_heart_that_gets_no_memory_is_told)
{
    enum { MANY = 3000 };
    static bp_entity_t e[MANY];
    bool adding = _i == 1;
    uint32_t flag = key_of(world, "flag", ""), i = 0;
    bp_result_t result = BP_OK;
    create(prototype_of(world, "body", adding ? NULL : "flag", NULL, NULL), e, MANY);
    for (; i < 2; i++)
        WORKS(rig.host, (adding ? api->add : api->remove)(world, flag, &e[i], 1));
    rig.heap.refuse_first = rig.heap.requests + 1;
    rig.heap.refuse_last = UINT64_MAX;
    for (; i < MANY && result == BP_OK; i++) {
        result = (adding ? api->add : api->remove)(world, flag, &e[i], 1);
        EXPECT((api->has(world, flag, &e[i], 1, NULL) == 1) == (adding == (result == BP_OK)), "%u: %d", i, result);
    }
    rig.heap.refuse_first = 0;
    ck_assert_int_eq(result, BP_ERROR_MEMORY);
}
END_TEST

/* --- rows ----------------------------------------------------------------------------------------------- */

START_TEST(new_components_have_their_defaults_wherever_memory_comes_from)
{
    enum { MANY = 3000 };
    static bp_entity_t e[MANY];
    uint32_t prototype = prototype_of(world, "sample", "label", "once", NULL);
    for (uint32_t round = 0; round < 3; round++) {
        create(prototype, e, MANY);
        for (uint32_t i = 0; i < MANY; i += 211) {
            bp_mat4_t matrix;
            bp_colour_t colour;
            int32_t number;
            const char *text;
            const bp_property_api *p = rig.api->property;
            WORKS(rig.host, p->get_named(world, e[i], "sample", "a_mat4", BP_MAT4, &matrix));
            WORKS(rig.host, p->get_named(world, e[i], "sample", "a_colour", BP_COLOUR, &colour));
            WORKS(rig.host, p->get_named(world, e[i], "sample", "a_i32", BP_I32, &number));
            WORKS(rig.host, p->get_named(world, e[i], "label", "text", BP_STRING, &text));
            for (uint32_t k = 0; k < 16; k++)
                ck_assert(matrix.m[k] == (k % 5 == 0 ? 1.0f : 0.0f));
            ck_assert(colour.r == 1.0f && colour.g == 128.0f / 255 && colour.b == 0 && colour.a == 1.0f);
            ck_assert_int_eq(number, -7);
            ck_assert_str_eq(text, "unnamed");
            WORKS(rig.host, p->set_named(world, e[i], "sample", "a_i32", BP_I32, &(int32_t){55}));
            WORKS(rig.host, p->set_named(world, e[i], "label", "text", BP_STRING, &(const char *){"other"}));
        }
        rig.api->entity->destroy(rig.host, e, MANY);
        store_collect_all(&world->rows);
        ck_assert_uint_eq(world->rows.runs[0]->count, 0);
    }
}
END_TEST

START_TEST(columns_are_aligned_at_every_number_of_rows)
{
    bp_entity_t e;
    uint32_t prototype = prototype_of(world, "sample", "body", "fx", "once");
    for (uint32_t i = 1; i <= 700; i++) {
        create(prototype, &e, 1);
        bp_run_t run;
        uint32_t cursor = 0;
        ck_assert_uint_eq(next_run(world, api->component(world, "body"), &cursor, &run), 1);
        EXPECT(run.count == i, "%u rows instead of %u", run.count, i);
        for (uint32_t c = 0; c < 4; c++)
            EXPECT((uintptr_t)run.columns[c] % (i >= 16 ? 64 : 16) == 0, "column %u of %u rows", c, i);
        check_host(rig.host);
    }
}
END_TEST

START_TEST(a_run_gives_memory_back_when_most_of_its_rows_have_gone)
{
    enum { MANY = 20000 };
    static bp_entity_t e[MANY];
    bp_world_stats_t full, shrunk;
    create(prototype_of(world, "body", "label", NULL, NULL), e, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        set_mass(e[i], (float)i);
    bp_world_stats(world, &full);
    rig.api->entity->destroy(rig.host, e + 100, MANY - 100);
    for (uint32_t i = 0; i < 200; i++)
        WORKS(rig.host, bp_world_step(world));
    bp_world_stats(world, &shrunk);
    ck_assert_uint_eq(shrunk.holes, 0);
    ck_assert_uint_lt(shrunk.bytes, full.bytes / 2);
    for (uint32_t i = 0; i < 100; i++)
        ck_assert(mass_of(e[i]) == (float)i);
}
END_TEST

START_TEST(runs_are_walked_once_for_each_name)
{
    bp_entity_t e[6];
    uint32_t two[] = {key_of(world, "fx", "fog"), key_of(world, "fx", "vignette")}, prototype;
    WORKS(rig.host, api->prototype(world, two, 2, &prototype));
    create(prototype, e, 3);
    WORKS(rig.host, api->prototype(world, two, 1, &prototype));
    create(prototype, e + 3, 3);
    uint32_t cursor = 0, fogs = 0, vignettes = 0;
    bp_run_t run;
    while (next_run(world, api->component(world, "fx"), &cursor, &run) != 0) {
        ck_assert_uint_eq(run.count, 3);
        fogs += run.instance == rig.api->name->hash("fog");
        vignettes += run.instance == rig.api->name->hash("vignette");
    }
    ck_assert_uint_eq(fogs, 2);
    ck_assert_uint_eq(vignettes, 1);
    ck_assert_uint_eq(api->count(world, api->component(world, "fx")), 9);
    cursor = 0;
    ck_assert_uint_eq(next_run(world, BP_NONE, &cursor, &run), 0);
}
END_TEST

/* fog and vignette: two components of one type, told apart by name. */
START_TEST(components_of_one_type_keep_their_own_values)
{
    bp_entity_t e[100];
    uint32_t fog = key_of(world, "fx", "fog"), vignette = key_of(world, "fx", "vignette");
    create(prototype_of(world, "body", NULL, NULL, NULL), e, 100);
    WORKS(rig.host, api->add(world, vignette, e, 100));
    WORKS(rig.host, api->add(world, fog, e, 100));
    const bp_property_api *p = rig.api->property;
    for (uint32_t i = 0; i < 100; i++) {
        WORKS(rig.host, p->set_named(world, e[i], "fog", "strength", BP_F64, &(double){i / 100.0}));
        WORKS(rig.host, p->set_named(world, e[i], "vignette", "strength", BP_F64, &(double){1 - i / 100.0}));
    }
    WORKS(rig.host, api->remove(world, vignette, e, 50));
    for (uint32_t i = 0; i < 100; i++) {
        double strength;
        WORKS(rig.host, p->get_named(world, e[i], "fog", "strength", BP_F64, &strength));
        ck_assert(strength == i / 100.0);
        if (i < 50) {
            FAILS(rig.host, BP_ERROR_NOT_FOUND, "no component 'vignette'",
                  p->get_named(world, e[i], "vignette", "strength", BP_F64, &strength));
            continue;
        }
        WORKS(rig.host, p->get_named(world, e[i], "vignette", "strength", BP_F64, &strength));
        ck_assert(strength == 1 - i / 100.0);
    }
}
END_TEST

START_TEST(an_entity_has_components_in_several_worlds)
{
    bp_world_o *bag = rig_world(&rig, "inventory");
    bp_entity_t pickaxe = entity_with(world, "body");
    WORKS(rig.host, api->add(bag, key_of(bag, "label", ""), &pickaxe, 1));
    WORKS(rig.host, api->add(bag, key_of(bag, "body", ""), &pickaxe, 1));
    set_mass(pickaxe, 3);
    float mass;
    WORKS(rig.host, rig.api->property->get_named(bag, pickaxe, "body", "mass", BP_F32, &mass));
    ck_assert(mass == 1.0f);
    WORKS(rig.host, api->remove(world, key_of(world, "body", ""), &pickaxe, 1));
    ck_assert_uint_eq(world->rows.occupied, 0);
    ck_assert_uint_eq(bag->rows.occupied, 1);
    rig.api->entity->destroy(rig.host, &pickaxe, 1);
    ck_assert_uint_eq(bag->rows.occupied, 0);
}
END_TEST

/* A new entity at a dead one's index sees nothing of what that had. */
START_TEST(an_index_used_again_inherits_nothing)
{
    enum { MANY = 3000 };
    static bp_entity_t e[MANY], next[MANY];
    create(prototype_of(world, "body", "pool", "told", NULL), e, MANY);
    rig.api->entity->destroy(rig.host, e, MANY);
    WORKS(rig.host, rig.api->entity->create(rig.host, next, MANY));
    ck_assert_uint_lt(bp_entity_index(next[0]), MANY);
    uint32_t keys[4];
    for (uint32_t i = 0; i < MANY; i++)
        EXPECT(api->keys_of(world, next[i], keys, 4) == 0 && api->keys_of(world, e[i], keys, 4) == 0,
               "entity %u", i);
    ck_assert_uint_eq(api->has(world, key_of(world, "body", ""), next, MANY, NULL), 0);
    ck_assert_uint_eq(api->has(world, key_of(world, "body", ""), e, MANY, NULL), 0);
}
END_TEST

/* --- references ----------------------------------------------------------------------------------------- */

static bp_ref_t ref_to(bp_entity_t e, uint32_t key, uint32_t field)
{
    bp_ref_t ref = {.entity = e, .field = key << 8 | field};
    return ref;
}

START_TEST(a_reference_follows_its_entity_and_ends_with_it)
{
    bp_entity_t e[64];
    uint32_t body = key_of(world, "body", ""), flag = key_of(world, "flag", "");
    create(prototype_of(world, "body", NULL, NULL, NULL), e, 64);
    set_mass(e[40], 40);
    bp_ref_t ref = ref_to(e[40], body, BODY_MASS);
    const float *mass = bp_ref_get(api, world, &ref);
    ck_assert(*mass == 40);
    ck_assert_ptr_eq(bp_ref_get(api, world, &ref), mass);
    rig.api->entity->destroy(rig.host, e, 30);
    store_collect_all(&world->rows);
    ck_assert(*(const float *)bp_ref_get(api, world, &ref) == 40);
    WORKS(rig.host, api->add(world, flag, &e[40], 1));
    ck_assert(*(const float *)bp_ref_get(api, world, &ref) == 40);
    *(float *)api->ref_write(world, &ref) = 41;
    ck_assert_ptr_eq(bp_ref_get(api, world, &ref), api->ref_write(world, &ref));
    ck_assert(mass_of(e[40]) == 41);
    WORKS(rig.host, api->remove(world, body, &e[40], 1));
    ck_assert_ptr_null(bp_ref_get(api, world, &ref));
    ck_assert_ptr_null(api->ref_write(world, &ref));
    WORKS(rig.host, api->add(world, body, &e[40], 1));
    ck_assert(*(const float *)bp_ref_get(api, world, &ref) == 1);
    rig.api->entity->destroy(rig.host, &e[40], 1);
    ck_assert_ptr_null(bp_ref_get(api, world, &ref));
}
END_TEST

/* Its fields are numbered as they are now: earlier moves of fields are not made once more, however often it is led to
 * another row. */
START_TEST(a_reference_into_a_run_made_after_fields_have_moved_stays_at_its_field)
{
    enum { FIELDS = 256 };
    bp_entity_t e[8];
    uint8_t to[FIELDS];
    world_t *w = world_of(world);
    uint32_t body = key_of(world, "body", ""), flag = key_of(world, "flag", "");
    uint32_t manager = api->component(world, "body");
    for (uint32_t i = 0; i < FIELDS; i++)
        to[i] = (uint8_t)i;
    to[BODY_POSITION] = BODY_VELOCITY;
    to[BODY_VELOCITY] = BODY_POSITION;
    create(prototype_of(world, "body", NULL, NULL, NULL), e, 4);
    bp_ref_t before = ref_to(e[0], body, BODY_POSITION), none = ref_to(e[0], body, BODY_POSITION);
    ck_assert_ptr_nonnull(bp_ref_get(api, world, &before));
    ck_assert(world_reserve_moves(w, 1));
    w->ref_version += 1000; /* above the versions of all runs, as a change of declarations makes it */
    for (uint32_t r = 0; r < w->run_count; r++)
        w->runs[r]->version = w->ref_version;
    world_note_moves(w, manager, to);
    create(prototype_of(world, "body", "label", NULL, NULL), e + 4, 4);
    run_t *run = world_run(w, world_own_record(w, e[4])->prototype);
    uint32_t column = prototypes_column(&w->prototypes, run->prototype, body);
    bp_ref_t ref = ref_to(e[4], body, BODY_POSITION);
    for (uint32_t i = 0; i < 3; i++) {
        const char *value = bp_ref_get(api, world, &ref);
        ck_assert_ptr_eq(value, run_cell(run, column + BODY_POSITION, world_own_record(w, e[4])->row));
        WORKS(rig.host, i % 2 == 0 ? api->add(world, flag, &e[5], 1) : api->remove(world, flag, &e[5], 1));
        run->version++;
    }
    run = world_run(w, world_own_record(w, e[0])->prototype);
    column = prototypes_column(&w->prototypes, run->prototype, body);
    ck_assert_ptr_eq(bp_ref_get(api, world, &before), run_cell(run, column + BODY_VELOCITY, 0));
    ck_assert_ptr_eq(bp_ref_get(api, world, &none), run_cell(run, column + BODY_POSITION, 0));
}
END_TEST

/* As many moves of fields as the world remembers lead a reference from before all of them; one more, and nobody knows
 * where its field has gone. */
START_TEST(a_reference_follows_as_many_moves_of_fields_as_are_remembered)
{
    uint8_t to[256];
    bp_entity_t e;
    world_t *w = world_of(world);
    uint32_t body = key_of(world, "body", ""), manager = api->component(world, "body");
    for (uint32_t i = 0; i < COUNT(to); i++)
        to[i] = (uint8_t)i;
    to[BODY_POSITION] = BODY_VELOCITY;
    to[BODY_VELOCITY] = BODY_POSITION;
    create(prototype_of(world, "body", NULL, NULL, NULL), &e, 1);
    bp_ref_t first = ref_to(e, body, BODY_POSITION);
    ck_assert_ptr_nonnull(bp_ref_get(api, world, &first));
    run_t *run = world_run(w, world_own_record(w, e)->prototype);
    uint32_t column = prototypes_column(&w->prototypes, run->prototype, body);
    for (uint32_t moves = 1; moves <= WORLD_MOVES + 1; moves++) {
        ck_assert(world_reserve_moves(w, 1));
        w->ref_version += 1000;
        for (uint32_t r = 0; r < w->run_count; r++)
            w->runs[r]->version = w->ref_version;
        world_note_moves(w, manager, to);
        bp_ref_t ref = first;
        const void *value = bp_ref_get(api, world, &ref);
        uint32_t field = moves % 2 == 1 ? BODY_VELOCITY : BODY_POSITION;
        EXPECT(value == (moves > WORLD_MOVES ? NULL : run_cell(run, column + field, 0)), "after %u moves", moves);
    }
}
END_TEST

START_TEST(a_reference_to_what_cannot_be_referred_to_is_null)
{
    bp_entity_t e = entity_with(world, "told");
    uint32_t told = key_of(world, "told", ""), body = key_of(world, "body", "");
    bp_ref_t refs[] = {
        ref_to(e, told, 0), ref_to(e, body, 0), ref_to((bp_entity_t){0}, body, 0), ref_to(e, 0xffffff, 0),
        ref_to((bp_entity_t){UINT64_MAX}, body, 0), ref_to(e, body, 200),
    };
    for (uint32_t i = 0; i < COUNT(refs); i++)
        ck_assert_ptr_null(bp_ref_get(api, world, &refs[i]));
}
END_TEST

/* --- without memory ------------------------------------------------------------------------------------- */

enum { CROWD = 1500, WITHOUT = 300 };
static bp_entity_t crowd[CROWD + WITHOUT], newcomers[4 * CROWD];

static bp_result_t make_a_crowd(uint32_t key)
{
    (void)key;
    return api->create(world, world_own_record(world_of(world), crowd[0])->prototype, newcomers, COUNT(newcomers));
}

static bp_result_t add_first_ones(uint32_t key) { return api->add(world, key, crowd + CROWD, WITHOUT); }
static bp_result_t add_to_all(uint32_t key) { return api->add(world, key, crowd, CROWD + WITHOUT); }
static bp_result_t remove_first_ones(uint32_t key) { return api->remove(world, key, crowd, CROWD); }

static bp_result_t change_wanted(uint32_t key, bool adding)
{
    static bp_entity_t batch[CROWD + WITHOUT + 1];
    memcpy(batch, crowd, sizeof crowd);
    batch[CROWD + WITHOUT] = crowd[0];
    return store_change_wanted(world_of(world), key, adding, batch, COUNT(batch));
}

static bp_result_t add_wanted(uint32_t key) { return change_wanted(key, true); }
static bp_result_t remove_wanted(uint32_t key) { return change_wanted(key, false); }

static bp_result_t prepare_a_spawn(uint32_t key)
{
    world_t *w = world_of(world);
    const store_batch_t batches[] = {{.prototype = w->prototypes.count - 1, .count = CROWD},
                                     {.prototype = 1, .count = CROWD}};
    (void)key;
    return store_prepare_append(w, batches, COUNT(batches), 2 * CROWD);
}

static bp_result_t make_room(uint32_t key)
{
    entities_t *e = &rig.host->entities;
    (void)key;
    return entities_make_room(e, e->room + 100000, 0, 0);
}

/* Changes of many entities, for which memory is asked for in several places: in a world with subscriptions, stamps and
 * properties that have been resolved. */
static const struct {
    bp_result_t (*change)(uint32_t key);
    const char *type;
} short_changes[] = {{make_a_crowd, "mark"},     {add_first_ones, "body"}, {add_to_all, "fx"},
                     {remove_first_ones, "body"}, {add_wanted, "label"},    {add_wanted, "fx"}, {remove_wanted, "body"},
                     {prepare_a_spawn, "mark"},  {make_room, "mark"},      {add_first_ones, "told"}};

START_TEST(whichever_memory_is_lacking_a_change_of_many_is_made_or_refused_as_a_whole)
{
    world_t *w = world_of(world);
    uint32_t refused = 0;
    float mass;
    bp_property_t property;
    create(prototype_of(world, "body", "mark", NULL, NULL), crowd, CROWD);
    ck_assert(world_run(w, world_own_record(w, crowd[0])->prototype)->split);
    WORKS(rig.host, rig.api->entity->create(rig.host, crowd + CROWD, WITHOUT));
    WORKS(rig.host, rig.api->property->resolve(world, crowd[0], "body", "mass", &property));
    WORKS(rig.host, rig.api->property->get(world, &property, crowd, 1, &mass, sizeof mass));
    uint32_t key = key_of(world, short_changes[_i].type, "");
    w->notices = notices_create(w);
    query_t query = {.term_count = 1, .terms = {{.manager = api->component(world, "fx")}}};
    ck_assert(w->notices != NULL && notices_subscribe(w->notices, &query) == 0 && notices_reserve(w->notices, 0));
    WORKS(rig.host, world_keep_stamps(w));
    char *before = describe_host(rig.host);
    for (uint64_t n = 1;; n++) {
        rig.heap.refuse_first = rig.heap.requests + n;
        rig.heap.refuse_last = n % 2 == 0 ? UINT64_MAX : rig.heap.refuse_first;
        bp_result_t result = short_changes[_i].change(key);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        check_host(rig.host);
        if (result == BP_OK)
            break;
        ck_assert_int_eq(result, BP_ERROR_MEMORY);
        ck_assert(strstr(bp_host_error(rig.host), "out of memory") != NULL);
        char *after = describe_host(rig.host);
        EXPECT(strcmp(before, after) == 0, "a change that was refused has changed something");
        free(after);
        EXPECT(++refused < 1000, "it is refused whether or not there is memory");
    }
    free(before);
    EXPECT(refused > 0, "memory was never lacking");
    world_release_stamps(w);
    notices_free(w->notices);
    w->notices = NULL;
    for (uint32_t r = 0; r < w->run_count; r++)
        run_set_signature(w->runs[r], 0);
}
END_TEST

/* In a host of several worlds entities get indices that the world has for itself. */
START_TEST(whichever_memory_is_lacking_entities_of_one_of_several_worlds_are_made_or_not)
{
    bp_world_o *second = rig_world(&rig, "second");
    uint32_t prototype = prototype_of(second, "mark", NULL, NULL, NULL), refused = 0, living = 0;
    for (uint32_t round = 0; round < 3; round++) { /* fresh indices, more of them, and those of the dead */
        for (uint64_t n = 1;; n++) {
            rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
            bp_result_t result = api->create(second, prototype, newcomers, 3000);
            rig.heap.refuse_first = 0;
            check_host(rig.host);
            if (result == BP_OK)
                break;
            EXPECT(result == BP_ERROR_MEMORY, "%d", result);
            ck_assert_str_eq(bp_host_error(rig.host), "out of memory while creating entities");
            ck_assert_uint_eq(rig.api->entity->count(rig.host), living);
            EXPECT(++refused < 300, "it is refused whether or not there is memory");
        }
        living += 3000;
        ck_assert_uint_eq(rig.api->entity->count(rig.host), living);
        if (round == 1)
            living -= rig.api->entity->destroy(rig.host, newcomers, 3000);
    }
    ck_assert_uint_gt(refused, 3);
}
END_TEST

/* Those of different pages, each with a record of its own; none is asked for where there is no entity. */
START_TEST(records_are_reserved_for_entities_that_live_already)
{
    static bp_entity_t e[5 * ENTITIES_PAGE];
    world_t *w = world_of(world);
    WORKS(rig.host, rig.api->entity->create(rig.host, e, COUNT(e)));
    const bp_entity_t some[] = {e[0], {0}, e[2 * ENTITIES_PAGE], e[4 * ENTITIES_PAGE]};
    for (uint32_t n = 1; n <= COUNT(some); n++) {
        ck_assert(store_reserve_living(w, some, n));
        for (uint32_t i = 0; i < COUNT(some); i++)
            EXPECT(some[i].id == 0 || world_has_record(w, bp_entity_index(some[i])) == (i < n), "%u of %u", i, n);
    }
    const bp_entity_t other = e[3 * ENTITIES_PAGE];
    rig.heap.refuse_first = rig.heap.requests + 1;
    rig.heap.refuse_last = UINT64_MAX;
    bool good = store_reserve_living(w, &other, 1);
    rig.heap.refuse_first = 0;
    ck_assert(good == world_has_record(w, bp_entity_index(other)));
}
END_TEST

/* --- own storage ---------------------------------------------------------------------------------------- */

START_TEST(a_manager_may_look_at_the_entities_that_it_creates_for)
{
    bp_entity_t e[3];
    create(prototype_of(world, "body", NULL, NULL, NULL), e, 3);
    WORKS(rig.host, api->add(world, key_of(world, "pool", ""), e, 3));
    const stock_t *pool = state_of(world, "pool");
    ck_assert_uint_eq(pool->saw_components, 0);
    ck_assert_uint_eq(api->has(world, key_of(world, "pool", ""), e, 3, NULL), 3);
}
END_TEST

START_TEST(slots_are_only_of_own_storage)
{
    bp_entity_t e[4];
    uint32_t slots[4];
    create(prototype_of(world, "body", "told", NULL, NULL), e, 3);
    WORKS(rig.host, rig.api->entity->create(rig.host, &e[3], 1));
    ck_assert_uint_eq(api->slots(world, key_of(world, "told", ""), e, 4, slots), 3);
    ck_assert_uint_eq(slots[3], BP_NONE);
    ck_assert_uint_eq(api->slots(world, key_of(world, "body", ""), e, 4, slots), 0);
    ck_assert_uint_eq(slots[0], BP_NONE);
    ck_assert_uint_eq(api->slots(world, BP_NONE, e, 4, slots), 0);
    ck_assert_uint_eq(api->slots(world, world_of(world)->prototypes.key_count, e, 4, slots), 0);
    ck_assert_uint_eq(slots[0], BP_NONE);
}
END_TEST

static uint32_t no_slots_asked;

static uint32_t *no_slots(void *context, const run_t *run, uint32_t key)
{
    (void)context, (void)run, (void)key;
    no_slots_asked++;
    return NULL;
}

/* While a reload keeps the slots of a manager elsewhere these are found there, and no others. */
START_TEST(slots_that_are_elsewhere_are_asked_for_by_their_keys_alone)
{
    bp_entity_t e[2];
    uint32_t slots[2], told = key_of(world, "told", ""), pool = key_of(world, "pool", "");
    world_t *w = world_of(world);
    prototypes_t *p = &w->prototypes;
    create(prototype_of(world, "told", "pool", NULL, NULL), e, COUNT(e));
    while (p->key_count == p->key_capacity)
        key_of(world, "flag", p->key_count % 2 == 0 ? "one more" : "another one");
    const world_slots_i elsewhere = {.manager = p->keys[told].manager, .slots = no_slots};
    no_slots_asked = 0;
    w->slots_elsewhere = &elsewhere;
    p->keys[p->key_count] = p->keys[told]; /* what lies behind the last key is no key */
    ck_assert_uint_eq(store_slots(w, p->key_count, e, COUNT(e), slots), 0);
    ck_assert_uint_eq(store_slots(w, BP_NONE, e, COUNT(e), slots), 0);
    ck_assert_uint_eq(store_slots(w, pool, e, COUNT(e), slots), COUNT(e));
    ck_assert_uint_eq(no_slots_asked, 0);
    ck_assert_uint_eq(store_slots(w, told, e, COUNT(e), slots), 0);
    ck_assert_uint_eq(slots[1], BP_NONE);
    ck_assert_uint_eq(no_slots_asked, COUNT(e));
    w->slots_elsewhere = NULL;
    ck_assert_uint_eq(store_slots(w, told, e, COUNT(e), slots), COUNT(e));
}
END_TEST

/* References compare versions: a run that is another prototype's now, and empty, has one that it has never had. */
START_TEST(a_run_that_is_used_again_has_a_new_version)
{
    bp_entity_t e[40];
    world_t *w = world_of(world);
    create(prototype_of(world, "body", NULL, NULL, NULL), e, COUNT(e));
    const run_t *like = world_run(w, world_own_record(w, e[0])->prototype);
    run_t *run = run_create(&w->memory, 7, like->fields + 1, like->column_count, like->flags);
    ck_assert_ptr_nonnull(run);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert(run_reserve(run, &w->memory, 10));
        uint32_t version = run->version, first;
        ck_assert_uint_eq(run_take_rows(run, 10, &first, &w->holdings), 10);
        run_fill(run, 1, run->column_count, 0, 10);
        run_empty(run, &w->memory, &w->holdings);
        ck_assert_uint_gt(run->version, version);
        version = run->version;
        ck_assert(run_renew(run, 8 + i, like->fields + 1, like->column_count, like->flags));
        ck_assert_uint_gt(run->version, version);
        ck_assert(run->prototype == 8 + i && run->count == 0 && run->capacity == 0 && run->holes == 0);
    }
    ck_assert(!run_renew(run, 20, like->fields + 1, like->column_count + 1u, like->flags));
    run_free(run, &w->memory, &w->holdings);
}
END_TEST

/* Whatever is kept of the managers of a world is found to be old by the number of its roster. */
START_TEST(the_roster_of_a_world_has_a_number_of_its_own_for_each_change)
{
    world_t *w = world_of(world);
    uint32_t last = w->roster;
    for (uint32_t i = 0; i < 6; i++) {
        WORKS(rig.host, i % 2 == 0 ? bp_world_drop_component(world, "fx") : bp_world_use_component(world, "fx"));
        ck_assert_uint_gt(w->roster, last);
        last = w->roster;
    }
}
END_TEST

/* Scattered entities move value by value, in loops for each size that values have; consecutive ones as blocks. */
START_TEST(values_of_all_sizes_go_along_when_rows_move)
{
    enum { MANY = 60 };
    /* With the number of the entity between them. */
    static const struct { const char *field, *before, *behind; } values[] = {
        {"an_i8", "-", ""},         {"a_u8", "1", ""},       {"an_i16", "-30", ""},   {"a_u32", "9", ""},
        {"a_f32", "", ".5"},        {"a_i64", "-12345", ""}, {"a_vec2", "0.", " 9"},  {"a_vec3", "", " 8 7"},
        {"a_vec4", "", " 1 2 3"},   {"a_dvec3", "", " 5 6"}, {"a_dvec4", "", " 2 1 0"}, {"a_string", "text ", ""},
        {"a_name", "name-", ""}};
    bp_entity_t e[MANY], scattered[MANY];
    uint32_t mark = key_of(world, "mark", "");
    create(prototype_of(world, "sample", NULL, NULL, NULL), e, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        for (uint32_t f = 0; f < COUNT(values); f++) {
            char id[32], place[96], text[64];
            bp_path_t path;
            rig.api->entity->format(rig.host, e[i], id, sizeof id);
            snprintf(place, sizeof place, "main/%s.sample.%s", id, values[f].field);
            snprintf(text, sizeof text, "%s%u%s", values[f].before, i, values[f].behind);
            WORKS(rig.host, rig.api->property->parse_path(rig.host, place, &path));
            WORKS(rig.host, rig.api->property->set_text(&path, text));
        }
        scattered[i * 7 % MANY] = e[i];
    }
    char *before = describe_host(rig.host);
    for (uint32_t turn = 0; turn < 2; turn++) {
        WORKS(rig.host, api->add(world, mark, turn == 0 ? scattered : e, MANY));
        WORKS(rig.host, api->remove(world, mark, turn == 0 ? scattered : e, MANY));
    }
    expect_same(before, describe_host(rig.host), "rows have moved");
}
END_TEST

/* Its runs stay, since references look at them, but nothing of it is in them any more, and they take no memory. */
START_TEST(a_component_that_leaves_is_gone_from_all_its_runs)
{
    static const char *const others[] = {NULL, "mark", "fx", "flag"};
    static bp_entity_t e[3000];
    world_t *w = world_of(world);
    uint32_t label = key_of(world, "label", ""), found = 0;
    for (uint32_t i = 0; i < COUNT(others); i++)
        create(prototype_of(world, "label", others[i], NULL, NULL), e, COUNT(e));
    WORKS(rig.host, bp_world_drop_component(world, "label"));
    for (uint32_t r = 0; r < w->run_count; r++) {
        const run_t *run = w->runs[r];
        uint32_t column = prototypes_column(&w->prototypes, run->prototype, label);
        for (uint32_t c = column; column > 0 && c < column + w->prototypes.keys[label].columns; c++)
            ck_assert_ptr_eq(run->fields[c], &run_gone_field);
        ck_assert_int_eq((run->flags & KEY_GONE) != 0, column > 0);
        EXPECT(column == 0 || run->capacity <= COUNT(e) / 100, "there is room for %u rows", run->capacity);
        found += column > 0;
    }
    ck_assert_uint_eq(found, COUNT(others));
    ck_assert_uint_eq(api->count(world, api->component(world, "mark")), COUNT(e));
}
END_TEST

/* Just the batches that there are, whatever lies behind them. */
START_TEST(room_is_made_for_the_batches_of_a_spawn_alone)
{
    world_t *w = world_of(world);
    uint32_t body = prototype_of(world, "body", NULL, NULL, NULL), flag = prototype_of(world, "flag", NULL, NULL, NULL);
    const store_batch_t batches[] = {{.prototype = body, .count = 10}, {.prototype = flag, .count = 5},
                                     {.prototype = body, .count = 100000}};
    WORKS(rig.host, store_prepare_append(w, batches, 2, 15));
    ck_assert(world_run(w, body)->capacity >= 10 && world_run(w, body)->capacity < 1000);
    ck_assert(world_run(w, flag)->capacity >= 5 && world_run(w, flag)->capacity < 1000);
}
END_TEST

START_TEST(instances_told_to_have_moved_are_found_where_they_are)
{
    bp_entity_t e[300];
    create(prototype_of(world, "pool", NULL, NULL, NULL), e, 300);
    const bp_property_api *p = rig.api->property;
    for (uint32_t i = 0; i < 300; i++)
        WORKS(rig.host, p->set_named(world, e[i], "pool", "number", BP_I64, &(int64_t){i}));
    world_t *w = world_of(world);
    WORKS(rig.host, world_keep_stamps(w));
    uint64_t since = world_look(w);
    const run_t *run = world_run(w, world_own_record(w, e[0])->prototype);
    uint32_t column = prototypes_column(&w->prototypes, run->prototype, key_of(world, "pool", ""));
    ck_assert_uint_le(stamps_of_block(run->stamps, column, 0), since);
    const bp_name_t name = names_hash("pool");
    store_instances_moved(w, w->managers[api->component(world, "pool")], &e[140], &name,
                          (const uint32_t[]){*(uint32_t *)run_cell(run, column, 140)}, 1);
    ck_assert_uint_le(stamps_of_block(run->stamps, column, 0), since);
    ck_assert_uint_gt(stamps_of_block(run->stamps, column, 1), since);
    ck_assert_uint_le(stamps_of_block(run->stamps, column, 2), since);
    world_release_stamps(w);
    for (uint32_t i = 0; i < 300; i += 3)
        WORKS(rig.host, api->remove(world, key_of(world, "pool", ""), &e[i], 1));
    for (uint32_t i = 0; i < 300; i++) {
        int64_t number;
        if (i % 3 == 0)
            continue;
        WORKS(rig.host, p->get_named(world, e[i], "pool", "number", BP_I64, &number));
        ck_assert_int_eq(number, i);
    }
}
END_TEST

/* --- the suite ------------------------------------------------------------------------------------------ */

/* --- managers that create while they create ------------------------------------------------------------- */

/* Every one of `entities` has the instance of `type` that its slot says. */
static void check_slots(const char *type, const bp_entity_t *entities, uint32_t count)
{
    const stock_t *stock = state_of(world, type);
    uint32_t slot;
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_uint_eq(api->slots(world, key_of(world, type, ""), &entities[i], 1, &slot), 1);
        EXPECT(slot < stock->count && stock->items[slot].entity.id == entities[i].id, "entity %u has slot %u", i, slot);
    }
}

/* The run of the entities that are being created grows, and moves, under the host's hands. */
START_TEST(a_manager_may_create_entities_of_the_same_kind_while_it_creates)
{
    bp_entity_t e[5];
    uint32_t prototype = prototype_of(world, "pool", "told", "body", NULL);
    stock_t *pool = state_of(world, "pool"), *told = state_of(world, "told");
    pool->convoy_prototype = told->convoy_prototype = prototype;
    pool->convoy = 9;
    told->convoy = 40;
    create(prototype, e, COUNT(e));
    check_slots("pool", e, COUNT(e));
    check_slots("told", e, COUNT(e));
    ck_assert_uint_eq(pool->count, 5 + 49 * 64);
    ck_assert_uint_eq(told->count, 5 + 49 * 64);
    ck_assert_uint_eq(world->rows.occupied, 5 + 49 * 64);
}
END_TEST

START_TEST(entities_that_are_being_created_are_changed_by_no_manager)
{
    bp_entity_t before[20], e[5], many[1000];
    uint32_t prototype = prototype_of(world, "pool", "told", "body", NULL);
    create(prototype, before, COUNT(before));
    stock_t *pool = state_of(world, "pool"), *told = state_of(world, "told");
    for (uint32_t i = 0; i < COUNT(before); i++) {
        WORKS(rig.host, rig.api->property->set_named(world, before[i], "pool", "number", BP_I64, &(int64_t){i + 100}));
        WORKS(rig.host, rig.api->property->set_named(world, before[i], "told", "number", BP_I64, &(int64_t){i + 200}));
    }
    pool->meddles = told->meddles = 1;
    create(prototype, e, COUNT(e));
    create(prototype, many, COUNT(many));
    ck_assert_uint_eq(pool->meddles, 3);
    ck_assert_uint_eq(told->meddles, 3);
    told->refuse_creates = 1;
    SAID(rig.host, BP_ERROR_FAILED, "stock: told to refuse", api->create(world, prototype, many, COUNT(many)));
    pool->meddles = told->meddles = 0;
    check_slots("pool", before, COUNT(before));
    check_slots("told", before, COUNT(before));
    check_slots("pool", e, COUNT(e));
    check_slots("told", e, COUNT(e));
    for (uint32_t i = 0; i < COUNT(before); i++) {
        int64_t number;
        WORKS(rig.host, rig.api->property->get_named(world, before[i], "told", "number", BP_I64, &number));
        ck_assert_int_eq(number, i + 200);
    }
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, e, COUNT(e)), COUNT(e)); /* they can be, afterwards */
}
END_TEST

START_TEST(a_manager_may_create_entities_while_it_adds)
{
    bp_entity_t e[300];
    uint32_t prototype = prototype_of(world, "pool", "body", NULL, NULL);
    stock_t *pool = state_of(world, "pool");
    create(prototype_of(world, "body", NULL, NULL, NULL), e, COUNT(e));
    pool->convoy_prototype = prototype;
    pool->convoy = 30;
    WORKS(rig.host, api->add(world, key_of(world, "pool", ""), e, COUNT(e)));
    check_slots("pool", e, COUNT(e));
    pool->convoy = 3;
    create(prototype_of(world, "body", NULL, NULL, NULL), e, COUNT(e));
    for (uint32_t i = 0; i < COUNT(e); i++)
        WORKS(rig.host, api->add(world, key_of(world, "pool", ""), &e[i], 1));
    check_slots("pool", e, COUNT(e));
}
END_TEST

START_TEST(a_refusal_after_that_takes_back_only_what_was_asked_for)
{
    bp_entity_t e[5];
    stock_t *pool = state_of(world, "pool"), *told = state_of(world, "told");
    pool->convoy_prototype = told->convoy_prototype = prototype_of(world, "body", NULL, NULL, NULL);
    pool->convoy = told->convoy = 2;
    pool->refuse_creates = 0;
    told->refuse_creates = 1;
    uint32_t first = prototype_of(world, "pool", "told", "body", NULL);
    SAID(rig.host, BP_ERROR_FAILED, "stock: told to refuse", api->create(world, first, e, COUNT(e)));
    ck_assert_uint_eq(pool->count, 0);
    ck_assert_uint_eq(world_run(&world->rows, first)->count, 0);
    ck_assert_uint_eq(rig.api->entity->alive(rig.host, e, COUNT(e), NULL), 0);
    pool->convoy = told->convoy = 0;
}
END_TEST

/* --- holes ------------------------------------------------------------------------------------------------ */

enum { HOLE_ROWS = 300000 };

static void compare_holes(const holes_t *holes, const uint8_t *naive, uint32_t rows, uint64_t *random)
{
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t from = bp_random_below(random, rows), next = from, end = bp_random_below(random, rows) + 1, last = end,
                 stretch = 0;
        while (next < rows && naive[next] == 0)
            next++;
        EXPECT(holes_next(holes, from) == (next < rows ? next : BP_NONE), "the next hole from row %u", from);
        while (last > 0 && naive[last - 1] != 0)
            last--;
        EXPECT(holes_last_filled(holes, end) == last - 1, "the last filled row before %u", end);
        while (next < rows && stretch < 100 && next + stretch < rows && naive[next + stretch] != 0)
            stretch++;
        EXPECT(next == rows || holes_stretch(holes, next, 100) == stretch, "holes together from row %u", next);
    }
}

START_TEST(a_set_of_holes_finds_what_a_naive_one_finds)
{
    static const uint32_t sizes[] = {1, 64, 65, 4000, 4097, 70000, HOLE_ROWS};
    static uint8_t naive[HOLE_ROWS];
    uint64_t random = 3 + (uint64_t)_i;
    memory_t memory;
    holes_t holes = {0};
    bp_allocator_i allocator = heap_allocator(&rig.heap);
    memory_init(&memory, "holes", &allocator);
    memset(naive, 0, sizeof naive);
    for (uint32_t s = 0; s < 2 * COUNT(sizes) - 1; s++) { /* it grows, and shrinks again */
        uint32_t rows = sizes[s < COUNT(sizes) ? s : 2 * COUNT(sizes) - 2 - s];
        memset(naive + rows, 0, sizeof naive - rows);
        if (holes.rows > rows)
            for (uint32_t row = holes_next(&holes, rows); row != BP_NONE; row = holes_next(&holes, row + 1))
                holes_remove(&holes, row);
        ck_assert(holes_resize(&holes, &memory, rows));
        compare_holes(&holes, naive, rows, &random);
        for (uint32_t i = 0; i < 3000; i++) {
            uint32_t row = bp_random_below(&random, rows), count = bp_random_below(&random, 200);
            for (; count > 0 && row < rows; count--, row++) {
                if (_i % 2 == 0 ? i % 3 != 0 : i % 3 == 0)
                    naive[row] != 0 ? (void)0 : holes_add(&holes, row), naive[row] = 1;
                else
                    naive[row] == 0 ? (void)0 : holes_remove(&holes, row), naive[row] = 0;
            }
        }
        compare_holes(&holes, naive, rows, &random);
        uint32_t first = bp_random_below(&random, rows), end = first + bp_random_below(&random, rows - first) + 1;
        holes_drop(&holes, first, end);
        memset(naive + first, 0, end - first);
        compare_holes(&holes, naive, rows, &random);
    }
    holes_clear(&holes, holes.rows);
    ck_assert_uint_eq(holes_next(&holes, 0), BP_NONE);
    holes_free(&holes, &memory);
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}
END_TEST

Suite *store_suite(void)
{
    Suite *suite = suite_create("store");
    TCase *model = tcase_create("model");
    tcase_set_timeout(model, 600);
    tcase_add_loop_test(model, random_operations_do_what_they_do_to_a_naive_model, 0, SEEDS);
    tcase_add_loop_test(model, every_operation_on_a_small_world_is_right, 0, SMALL);
    tcase_add_test(model, the_same_operations_are_right_on_the_systems_pages);
    suite_add_tcase(suite, model);
    TCase *tests = tcase_create("rows");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_world_has_no_pages_for_entities_before_its_first);
    tcase_add_test(tests, one_batch_may_mix_prototypes);
    tcase_add_test(tests, a_dead_entity_anywhere_in_a_batch_refuses_it);
    tcase_add_test(tests, a_dead_entity_gets_no_first_component);
    tcase_add_test(tests, no_entity_is_not_the_hole_that_a_dead_one_left);
    tcase_add_test(tests, a_bare_index_is_no_entity);
    tcase_add_test(tests, a_second_mention_refuses_the_batch);
    tcase_add_test(tests, a_component_that_one_has_or_lacks_refuses_the_batch);
    tcase_add_test(tests, a_manager_that_refuses_refuses_the_batch);
    tcase_add_test(tests, changing_nobody_is_no_error);
    tcase_add_test(tests, no_key_is_taken_for_the_key_of_another_change);
    tcase_add_test(tests, an_entity_may_be_named_where_its_column_has_it);
    tcase_add_test(tests, a_change_known_by_heart_is_not_made_past_stamps);
    tcase_add_loop_test(tests, a_change_known_by_heart_that_gets_no_memory_is_told, 0, 2);
    tcase_add_test(tests, new_components_have_their_defaults_wherever_memory_comes_from);
    tcase_add_test(tests, columns_are_aligned_at_every_number_of_rows);
    tcase_add_test(tests, a_run_gives_memory_back_when_most_of_its_rows_have_gone);
    tcase_add_test(tests, runs_are_walked_once_for_each_name);
    tcase_add_test(tests, components_of_one_type_keep_their_own_values);
    tcase_add_test(tests, an_entity_has_components_in_several_worlds);
    tcase_add_test(tests, an_index_used_again_inherits_nothing);
    tcase_add_test(tests, a_reference_follows_its_entity_and_ends_with_it);
    tcase_add_test(tests, a_reference_into_a_run_made_after_fields_have_moved_stays_at_its_field);
    tcase_add_test(tests, a_reference_follows_as_many_moves_of_fields_as_are_remembered);
    tcase_add_test(tests, a_reference_to_what_cannot_be_referred_to_is_null);
    tcase_add_test(tests, whichever_memory_is_lacking_entities_of_one_of_several_worlds_are_made_or_not);
    tcase_add_test(tests, records_are_reserved_for_entities_that_live_already);
    tcase_add_loop_test(tests, whichever_memory_is_lacking_a_change_of_many_is_made_or_refused_as_a_whole, 0,
                        (int)COUNT(short_changes));
    tcase_add_test(tests, a_manager_may_look_at_the_entities_that_it_creates_for);
    tcase_add_test(tests, slots_are_only_of_own_storage);
    tcase_add_test(tests, slots_that_are_elsewhere_are_asked_for_by_their_keys_alone);
    tcase_add_test(tests, room_is_made_for_the_batches_of_a_spawn_alone);
    tcase_add_test(tests, a_run_that_is_used_again_has_a_new_version);
    tcase_add_test(tests, values_of_all_sizes_go_along_when_rows_move);
    tcase_add_test(tests, a_component_that_leaves_is_gone_from_all_its_runs);
    tcase_add_test(tests, the_roster_of_a_world_has_a_number_of_its_own_for_each_change);
    tcase_add_test(tests, instances_told_to_have_moved_are_found_where_they_are);
    tcase_add_test(tests, a_manager_may_create_entities_of_the_same_kind_while_it_creates);
    tcase_add_test(tests, entities_that_are_being_created_are_changed_by_no_manager);
    tcase_add_test(tests, a_manager_may_create_entities_while_it_adds);
    tcase_add_test(tests, a_refusal_after_that_takes_back_only_what_was_asked_for);
    tcase_add_loop_test(tests, a_set_of_holes_finds_what_a_naive_one_finds, 0, 4);
    suite_add_tcase(suite, tests);
    return suite;
}
