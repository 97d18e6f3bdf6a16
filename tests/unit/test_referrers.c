/* test_referrers.c - who refers to whom (bp_refer.h): the answers are what a naive look at all entities finds, whatever
 * has been done to them in between, and on any number of threads.
 */
#include "../suites.h"
#include "support.h"
#include "zoo.h"

#include <bp_refer.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 600, TARGETS = 24, ROUNDS = 250 };

static rig_t rig;
static bp_world_o *world;
static const bp_refer_api *refer;
static bp_refer_o *homes;
static bp_entity_t entities[MOST], targets[TARGETS];
static uint32_t count, seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* --- a system that moves house ------------------------------------------------------------------------------------ */

struct home { bp_entity_t *home; };

static void move_house(const bp_match_t *match, uint32_t rows)
{
    BP_COLUMNS(struct home, c, match->columns[0]);
    uint32_t step = (uint32_t)match->step->number;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t index = bp_entity_index(match->entities[i]);
        if (match->entities[i].id != 0 && (index + step) % 5 == 0)
            c.home[i] = targets[(index * 7 + step) % TARGETS];
    }
}

static const bp_term_field_t home_fields[] = {{BP_FIELD_OF(struct home, home)}};
static const bp_term_t home_terms[] = {{.component = "label", .fields = BP_LIST(home_fields)}};
static const bp_system_i movers[] = {{.name = "move_house",
                                      .flags = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT,
                                      .terms = BP_LIST(home_terms),
                                      .run = move_house}};
/* A component whose fields lie as those of `label`, and mean something else. */
static const bp_field_t crate_fields[] = {{.name = "text", .type = BP_STRING},
                                          {.name = "rank", .type = BP_I32},
                                          {.name = "owner", .type = BP_ENTITY}};
static const bp_component_i crates[] = {{.name = "crate", .fields = BP_LIST(crate_fields)}};
static const bp_plugin_desc_t mover_desc = {
    .version = "1", .components = BP_LIST(crates), .systems = BP_LIST(movers)};
static const bp_plugin_head_t mover = BP_PLUGIN_HEAD("mover", &mover_desc);
static const bp_plugin_head_t *all_plugins[ZOO_PLUGINS + 1];

static void open_host(uint32_t threads)
{
    rig_init(&rig);
    for (uint32_t i = 0; i < ZOO_PLUGINS; i++)
        all_plugins[i] = zoo_plugins[i];
    all_plugins[ZOO_PLUGINS] = &mover;
    rig.desc.static_plugins = all_plugins;
    rig.desc.static_plugin_count = ZOO_PLUGINS + 1;
    rig.desc.threads = threads;
    if (threads > 1)
        rig.desc.allocator = NULL; /* the heap of rigs is for one thread */
    rig_open(&rig);
    for (uint32_t i = 0; i < ZOO_PLUGINS + 1; i++)
        WORKS(rig.host, bp_host_load_plugin(rig.host, all_plugins[i]->name, NULL, 0));
    world = rig_world(&rig, "main");
    refer = rig.api->registry->find(rig.host, BP_REFER_API, 1);
    ck_assert_ptr_nonnull(refer);
    WORKS(rig.host, rig.api->entity->create(rig.host, targets, TARGETS));
    WORKS(rig.host, refer->make(world, NULL, "label", "home", &homes));
    count = 0;
}

static void open_one(void)
{
    open_host(1);
}

static void close_host(void)
{
    refer->end(homes);
    rig_close(&rig);
}

/* --- naive -------------------------------------------------------------------------------------------------------- */

static bool says(bp_entity_t e, const char *name, bp_entity_t target)
{
    bp_entity_t home;
    return rig.api->property->get_named(world, e, name, "home", BP_ENTITY, &home) == BP_OK && home.id == target.id;
}

static void compare(bp_entity_t target)
{
    const bp_entity_t *who;
    uint32_t found, expected = 0;
    WORKS(rig.host, refer->ask(homes, target, &who, &found));
    for (uint32_t i = 0; i < count; i++) {
        bool refers = target.id != 0 && rig.api->entity->alive(rig.host, &entities[i], 1, NULL) == 1 &&
                      (says(entities[i], "label", target) || says(entities[i], "title", target));
        uint32_t times = 0;
        for (uint32_t k = 0; k < found; k++)
            times += who[k].id == entities[i].id;
        expected += refers;
        EXPECT(times == refers, "entity %u is told %u times, and refers %d", i, times, refers);
    }
    EXPECT(found == expected, "%u are told, and %u refer", found, expected);
    for (uint32_t k = 1; k < found; k++)
        EXPECT(bp_entity_index(who[k - 1]) < bp_entity_index(who[k]), "not in the order of indices");
}

/* --- random operations -------------------------------------------------------------------------------------------- */

static void make_some(void)
{
    uint32_t keys[] = {key_of(world, "label", ""), key_of(world, "label", "title"), key_of(world, "body", "")};
    uint32_t first = draw(3), prototype, more = 1 + draw(20);
    if (count + more > MOST)
        return;
    WORKS(rig.host, rig.api->world->prototype(world, keys + (first == 2 ? 0 : first), first == 2 ? 2 : 1, &prototype));
    WORKS(rig.host, rig.api->world->create(world, prototype, entities + count, more));
    count += more;
}

static void forget(uint32_t at)
{
    entities[at] = entities[--count];
}

static void set_one(bp_entity_t e)
{
    bp_entity_t target = draw(10) == 0 ? (bp_entity_t){0} : targets[draw(TARGETS)];
    rig.api->property->set_named(world, e, draw(2) == 0 ? "label" : "title", "home", BP_ENTITY, &target);
}

static void operate(void)
{
    static const char *const names[] = {"", "title"};
    uint32_t at = count == 0 ? 0 : draw(count), body = key_of(world, "body", "");
    switch (count == 0 ? 0 : draw(8)) {
    case 0: make_some(); break;
    case 1:
        rig.api->entity->destroy(rig.host, &entities[at], 1);
        forget(at);
        break;
    case 2:
        if (rig.api->world->add(world, body, &entities[at], 1) != BP_OK)
            WORKS(rig.host, rig.api->world->remove(world, body, &entities[at], 1));
        break;
    case 3: rig.api->world->remove(world, key_of(world, "label", names[draw(2)]), &entities[at], 1); break;
    case 4: rig.api->world->add(world, key_of(world, "label", names[draw(2)]), &entities[at], 1); break;
    case 5: WORKS(rig.host, bp_world_step(world)); break;
    case 6: { /* a target dies, and is referred to all the same */
        uint32_t k = draw(TARGETS);
        rig.api->entity->destroy(rig.host, &targets[k], 1);
        if (draw(2) == 0)
            WORKS(rig.host, rig.api->entity->create(rig.host, &targets[k], 1));
        break;
    }
    default:
        for (uint32_t i = 0; i < 5; i++)
            set_one(entities[draw(count)]);
    }
}

/* Loops: threads 1, 2, 4. */
START_TEST(answers_are_what_a_naive_look_finds)
{
    static const uint32_t threads[] = {1, 2, 4};
    seed = 100 + (uint32_t)_i;
    open_host(threads[_i]);
    WORKS(rig.host, bp_world_use_system(world, "move_house"));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = draw(6); i > 0; i--)
            operate();
        compare(targets[draw(TARGETS)]);
        compare(targets[draw(TARGETS)]);
    }
    for (uint32_t i = 0; i < TARGETS; i++)
        compare(targets[i]);
    close_host();
}
END_TEST

/* --- one by one --------------------------------------------------------------------------------------------------- */

START_TEST(what_has_no_index_is_refused)
{
    bp_refer_o *index = homes;
    SAID(rig.host, BP_ERROR_NOT_FOUND, "a query asks for component 'labl', which world 'main' lacks",
         refer->make(world, NULL, "labl", "home", &index));
    ck_assert_ptr_null(index);
    SAID(rig.host, BP_ERROR_NOT_FOUND,
         "a query of world 'main': it asks for field 'hom' of component 'label', which has no such field; did you "
         "mean 'home'?",
         refer->make(world, NULL, "label", "hom", &index));
    SAID(rig.host, BP_ERROR_TYPE,
         "a query of world 'main': it asks for field 'rank' of component 'label' as entity, but it is i32",
         refer->make(world, NULL, "label", "rank", &index));
    SAID(rig.host, BP_ERROR_TYPE,
         "a query of world 'main': it asks for field 'targets' of component 'bag' as entity, but it is array of 3 "
         "entity",
         refer->make(world, NULL, "bag", "targets", &index));
    SAID(rig.host, BP_ERROR_TYPE,
         "a query of world 'main': it asks for field 'friends' of component 'bag' as entity, but it is list of entity",
         refer->make(world, NULL, "bag", "friends", &index));
    SAID(rig.host, BP_ERROR_TYPE,
         "a query of world 'main': it asks for field 'number' of component 'pool', which has storage of its own and "
         "so no columns; ask for no fields of it, and go by slots",
         refer->make(world, NULL, "pool", "number", &index));
    refer->end(NULL);
}
END_TEST

START_TEST(nobody_refers_to_nobody)
{
    const bp_entity_t *who;
    uint32_t found = 7;
    make_some();
    WORKS(rig.host, refer->ask(homes, (bp_entity_t){0}, &who, &found));
    ck_assert_uint_eq(found, 0);
    ck_assert_ptr_null(who);
}
END_TEST

START_TEST(an_index_that_has_ended_keeps_nothing)
{
    size_t bytes = 0;
    make_some();
    for (uint32_t i = 0; i < 3; i++) {
        bp_refer_o *index;
        const bp_entity_t *who;
        uint32_t found;
        WORKS(rig.host, refer->make(world, NULL, "label", "home", &index));
        WORKS(rig.host, refer->ask(index, targets[0], &who, &found));
        refer->end(index);
        EXPECT(i < 2 || rig.heap.bytes == bytes, "%zu bytes are held, and %zu were", rig.heap.bytes, bytes);
        bytes = rig.heap.bytes;
    }
}
END_TEST

START_TEST(fields_of_other_components_are_not_told)
{
    bp_entity_t e = entities[count++] = entity_with(world, "label");
    const bp_property_api *property = rig.api->property;
    uint32_t crate;
    WORKS(rig.host, bp_world_use_component(world, "crate"));
    WORKS(rig.host, rig.api->world->key(world, rig.api->world->component(world, "crate"), 0, &crate));
    WORKS(rig.host, rig.api->world->add(world, crate, &e, 1));
    WORKS(rig.host, property->set_named(world, e, "label", "home", BP_ENTITY, &targets[3]));
    compare(targets[3]);
    WORKS(rig.host, property->set_named(world, e, "label", "home", BP_ENTITY, &targets[4]));
    WORKS(rig.host, property->set_named(world, e, "crate", "owner", BP_ENTITY, &targets[3]));
    compare(targets[3]);
    compare(targets[4]);
}
END_TEST

START_TEST(an_index_follows_components_that_go_and_come)
{
    const bp_entity_t *who;
    uint32_t found;
    entities[count++] = entity_with(world, "label");
    WORKS(rig.host, rig.api->property->set_named(world, entities[0], "label", "home", BP_ENTITY, &targets[3]));
    compare(targets[3]);
    WORKS(rig.host, bp_host_unload_plugin_with(rig.host, "zoo"));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "a query asks for component 'label', which world 'main' lacks",
         refer->ask(homes, targets[3], &who, &found));
    ck_assert_uint_eq(found, 0);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "zoo", NULL, 0));
    WORKS(rig.host, refer->ask(homes, targets[3], &who, &found));
    ck_assert_uint_eq(found, 0);
    rig.log.text[0] = '\0';
    rig.log.count = 0;
}
END_TEST

/* A world that goes back: who referred then refers now, and those of the abandoned future do not. */
START_TEST(an_index_goes_on_when_the_world_goes_back)
{
    bp_snapshot_o *moments[4];
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "stocks")); /* which does not say how to keep its state */
    seed = 5;
    for (uint32_t i = 0; i < 20; i++)
        make_some();
    uint32_t then = count;
    for (uint32_t m = 0; m < COUNT(moments); m++) {
        for (uint32_t i = 0; i < 200; i++)
            set_one(entities[draw(count)]);
        WORKS(rig.host, bp_host_snapshot(rig.host, &moments[m]));
        compare(targets[m]);
    }
    ck_assert_uint_eq(then, count);
    for (uint32_t round = 0; round < 12; round++) {
        WORKS(rig.host, bp_host_bring_back(rig.host, moments[draw(COUNT(moments))]));
        for (uint32_t i = 0; i < 3; i++)
            compare(targets[draw(TARGETS)]);
        set_one(entities[draw(count)]);
        compare(targets[draw(TARGETS)]);
    }
    for (uint32_t m = 0; m < COUNT(moments); m++)
        bp_snapshot_free(moments[m]);
}
END_TEST

/* Pairs of what was do not pile up, also where targets go and others come. */
START_TEST(an_index_is_as_large_as_what_refers)
{
    size_t before = 0;
    for (uint32_t i = 0; i < 20; i++)
        make_some();
    for (uint32_t round = 0; round < 4000; round++) {
        for (uint32_t i = 0; i < 10; i++)
            set_one(entities[draw(count)]);
        compare(targets[round % TARGETS]);
        rig.api->entity->destroy(rig.host, &targets[round % TARGETS], 1);
        WORKS(rig.host, rig.api->entity->create(rig.host, &targets[round % TARGETS], 1));
        if (round == 400)
            before = rig.heap.bytes;
        if (round > 400)
            EXPECT(rig.heap.bytes < before * 2, "%zu bytes, and %zu before", rig.heap.bytes, before);
    }
}
END_TEST

START_TEST(where_memory_is_lacking_a_question_is_refused_and_then_answered)
{
    uint64_t failed = 0;
    for (uint32_t i = 0; i < 20; i++)
        make_some();
    for (uint32_t i = 0; i < count; i++)
        set_one(entities[i]);
    for (uint64_t number = 1;; number++) {
        const bp_entity_t *who;
        uint32_t found;
        bp_refer_o *index;
        uint64_t from = rig.heap.requests;
        rig.heap.refuse_first = rig.heap.refuse_last = from + number;
        bp_result_t result = refer->make(world, NULL, "label", "home", &index);
        if (result == BP_OK)
            result = refer->ask(index, targets[0], &who, &found);
        bool refused = rig.heap.requests >= from + number;
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        if (result != BP_OK)
            ck_assert_int_eq(result, BP_ERROR_MEMORY);
        failed += result != BP_OK;
        if (index != NULL)
            refer->end(index);
        if (!refused)
            break;
    }
    ck_assert_uint_gt(failed, 5);
    for (uint32_t i = 0; i < TARGETS; i++)
        compare(targets[i]);
}
END_TEST

/* An index that was not ended by its plugin ends with its world. */
START_TEST(an_index_ends_with_its_world)
{
    bp_refer_o *index;
    bp_world_o *second = rig_world(&rig, "second");
    const bp_entity_t *who;
    uint32_t found;
    WORKS(rig.host, refer->make(second, NULL, "label", "home", &index));
    WORKS(rig.host, refer->ask(index, targets[0], &who, &found));
    bp_world_destroy(second);
}
END_TEST

Suite *referrers_suite(void)
{
    Suite *suite = suite_create("referrers");
    TCase *model = tcase_create("model"), *tests = tcase_create("referrers");
    tcase_set_timeout(model, 120);
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(model, answers_are_what_a_naive_look_finds, 0, 3);
    suite_add_tcase(suite, model);
    tcase_add_checked_fixture(tests, open_one, close_host);
    tcase_add_test(tests, what_has_no_index_is_refused);
    tcase_add_test(tests, nobody_refers_to_nobody);
    tcase_add_test(tests, an_index_that_has_ended_keeps_nothing);
    tcase_add_test(tests, fields_of_other_components_are_not_told);
    tcase_add_test(tests, an_index_follows_components_that_go_and_come);
    tcase_add_test(tests, an_index_goes_on_when_the_world_goes_back);
    tcase_add_test(tests, an_index_is_as_large_as_what_refers);
    tcase_add_test(tests, where_memory_is_lacking_a_question_is_refused_and_then_answered);
    tcase_add_test(tests, an_index_ends_with_its_world);
    suite_add_tcase(suite, tests);
    return suite;
}
