/* test_queries.c - kept queries: what they hand out is what a naive look at all rows finds, whatever happens in
 * between.
 *
 * The naive look goes over all prototypes of a world with bp_look and compares, for every entity that has the
 * components, what the query handed out with what the property table says.
 */
#include "../suites.h"
#include "churn.h"
#include "zoo.h"

#include "step/schedule.h"

#include <bp_changes.h>
#include <bp_look.h>
#include <bp_query.h>
#include <stdlib.h>
#include <string.h>

struct body { float *mass; const bp_vec3_t *position; };
struct label { const int32_t *rank; };

static const bp_term_field_t body_fields[] = {{BP_FIELD_OF(struct body, mass)}, {BP_FIELD_OF(struct body, position)}};
static const bp_term_field_t label_fields[] = {{BP_FIELD_OF(struct label, rank)}};
static const bp_term_t body_and_label[] = {{.component = "body", .fields = BP_LIST(body_fields)},
                                           {.component = "label", .instance = "title", .flags = BP_TERM_OPTIONAL,
                                            .fields = BP_LIST(label_fields)},
                                           {.component = "flag", .flags = BP_TERM_EXCLUDE}};
static const bp_term_t body_only[] = {{.component = "body", .fields = BP_LIST(body_fields)}};
static const bp_term_t pool_only[] = {{.component = "pool"}};
static const bp_term_t no_such[] = {{.component = "bodi"}};

static const bp_query_api *queries_of(const rig_t *rig)
{
    return rig->api->registry->find(rig->host, BP_QUERY_API, 1);
}

/* --- random operations ------------------------------------------------------------------------------------------- */

/* What one walk handed out. */
typedef struct walk_t {
    bp_entity_t entities[MODEL_LIVING + CHURN_BATCH];
    float masses[MODEL_LIVING + CHURN_BATCH];
    uint32_t count;
} walk_t;

static void walk(const bp_query_api *queries, bp_query_o *query, bp_host_o *host, uint64_t since, walk_t *w)
{
    const bp_match_t *match;
    w->count = 0;
    WORKS(host, queries->begin(query, since));
    while ((match = queries->next(query)) != NULL) {
        BP_COLUMNS(struct body, b, match->columns[0]);
        for (uint32_t i = 0; i < match->count; i++) {
            if (match->entities[i].id == 0)
                continue;
            EXPECT(w->count < COUNT(w->entities), "more entities than there are");
            w->entities[w->count] = match->entities[i];
            w->masses[w->count++] = b.mass[i];
        }
    }
}

/* By number of entity: what the walk found. */
static const float *found_in(const walk_t *w, bp_entity_t e)
{
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->entities[i].id == e.id)
            return &w->masses[i];
    }
    return NULL;
}

static uint32_t key_number(const char *type)
{
    for (uint32_t k = 0; k < MODEL_KEYS; k++) {
        if (strcmp(model_keys[k].type, type) == 0)
            return k;
    }
    return BP_NONE;
}

static float mass_of(const model_component_t *body)
{
    float mass;
    memcpy(&mass, body->values[BODY_MASS].bytes, sizeof mass);
    return mass;
}

typedef struct former_t {
    bp_entity_t entity;
    float mass;
} former_t;

/* All that the model says matches was handed out, with its mass, and nothing else; of what was written since, at least
 * what differs from the former walk. */
static void compare(const model_t *model, uint32_t world, const walk_t *all, const walk_t *changed,
                    const walk_t *former)
{
    uint32_t body = key_number("body"), flag = key_number("flag"), matching = 0;
    for (uint32_t i = 0; i < model->living_count; i++) {
        const model_entity_t *e = &model->living[i];
        const model_component_t *b = &e->components[world][body];
        const float *mass = found_in(all, e->id), *before = found_in(former, e->id);
        bool matches = b->there != 0 && (flag == BP_NONE || e->components[world][flag].there == 0);
        matching += matches;
        EXPECT(matches == (mass != NULL), "an entity that %s",
               matches ? "matches was not handed out" : "does not match was");
        if (!matches)
            continue;
        EXPECT(*mass == mass_of(b), "another mass was handed out");
        EXPECT(found_in(changed, e->id) != NULL || (before != NULL && *before == *mass), "a change was not told");
    }
    EXPECT(all->count == matching, "%u were handed out, %u match", all->count, matching);
    EXPECT(changed->count <= all->count, "more have changed than there are");
}

/* Loops: threads 1, 2, 4. Few entities, since the comparison is naive. */
START_TEST(a_query_finds_what_a_naive_look_finds)
{
    static const uint32_t threads[] = {1, 2, 4};
    static churn_t churn;
    static walk_t all, former, changed;
    static rig_t rig;
    bp_query_o *query = NULL;
    rig_init(&rig);
    rig.desc.threads = threads[_i];
    if (threads[_i] > 1)
        rig.desc.allocator = NULL; /* the heap of rigs is for one thread */
    rig_open(&rig);
    for (uint32_t i = 0; i < ZOO_PLUGINS; i++)
        WORKS(rig.host, bp_host_load_plugin(rig.host, zoo_plugins[i]->name, NULL, 0));
    churn_open(&churn, &rig, 9000 + (uint64_t)_i, 400);
    bp_world_o *world = churn.model.worlds[1];
    const bp_query_api *queries = queries_of(&rig);
    const bp_changes_api *changes = rig.api->registry->find(rig.host, BP_CHANGES_API, 1);
    const bp_term_list_t terms = BP_LIST(body_and_label);
    WORKS(rig.host, queries->make(world, NULL, &terms, BP_QUERY_CHANGES, &query));
    former.count = 0;
    for (uint32_t round = 0; round < 150; round++) {
        uint64_t since = changes->look(world);
        for (uint32_t i = 0; i < 1 + round % 7; i++)
            churn_once(&churn);
        walk(queries, query, rig.host, 0, &all);
        walk(queries, query, rig.host, since, &changed);
        compare(&churn.model, 1, &all, &changed, &former);
        former = all;
    }
    queries->end(query);
    churn_close(&churn);
    rig_close(&rig);
}
END_TEST

/* --- one by one -------------------------------------------------------------------------------------------------- */

enum { ROWS = 1000 };

static rig_t rig;
static bp_world_o *world;
static const bp_query_api *queries;
static bp_entity_t entities[ROWS];

static void begin(void)
{
    rig_open_zoo(&rig);
    world = rig_world(&rig, "main");
    queries = queries_of(&rig);
    WORKS(rig.host,
          rig.api->world->create(world, prototype_of(world, "body", NULL, NULL, NULL), entities, ROWS));
}

static void end(void)
{
    rig_close(&rig);
}

START_TEST(bad_queries_are_refused_with_a_sentence)
{
    bp_query_o *query;
    const bp_term_list_t misspelt = BP_LIST(no_such), none = {0}, good = BP_LIST(body_only);
    static const bp_term_field_t wrong[] = {{.name = "mass", .type = BP_F64}};
    static const bp_term_t wrong_type[] = {{.component = "body", .fields = BP_LIST(wrong)}};
    const bp_term_list_t other_type = BP_LIST(wrong_type);
    SAID(rig.host, BP_ERROR_NOT_FOUND, "a query asks for component 'bodi', which world 'main' lacks",
         queries->make(world, NULL, &misspelt, 0, &query));
    ck_assert_ptr_null(query);
    SAID(rig.host, BP_ERROR_TYPE,
         "a query of world 'main': it asks for field 'mass' of component 'body' as f64, but it is f32",
         queries->make(world, NULL, &other_type, 0, &query));
    SAID(rig.host, BP_ERROR_ARGUMENT, "a query has no terms; it needs one at least",
         queries->make(world, NULL, &none, 0, &query));
    SAID(rig.host, BP_ERROR_ARGUMENT, "a query has flags 0x40, which mean nothing",
         queries->make(world, NULL, &good, 64, &query));
    WORKS(rig.host, queries->make(world, NULL, &good, 0, &query));
    SAID(rig.host, BP_ERROR_ARGUMENT, "the query was made without BP_QUERY_CHANGES and does not know what has changed",
         queries->begin(query, 1));
    ck_assert_ptr_null(queries->next(query));
    queries->end(NULL); /* the query itself goes with the world */
}
END_TEST

START_TEST(what_a_query_writes_counts_as_written)
{
    const bp_changes_api *changes = rig.api->registry->find(rig.host, BP_CHANGES_API, 1);
    const bp_term_list_t terms = BP_LIST(body_only);
    const bp_match_t *match;
    bp_query_o *query;
    uint32_t row = 0;
    float mass;
    WORKS(rig.host, queries->make(world, NULL, &terms, BP_QUERY_CHANGES, &query));
    uint64_t since = changes->look(world);
    WORKS(rig.host, queries->begin(query, since));
    ck_assert_ptr_null(queries->next(query));
    WORKS(rig.host, rig.api->property->set_named(world, entities[500], "body", "mass", BP_F32, &(float){4}));
    WORKS(rig.host, queries->begin(query, since));
    match = queries->next(query);
    ck_assert_ptr_nonnull(match);
    ck_assert_uint_eq(match->first, 384);
    ck_assert_uint_eq(match->count, 128);
    ck_assert(match->entities[500 - 384].id == entities[500].id);
    since = changes->look(world);
    WORKS(rig.host, queries->begin(query, 0));
    match = queries->next(query);
    ck_assert_uint_eq(match->count, ROWS);
    BP_COLUMNS(struct body, b, match->columns[0]);
    b.mass[7] = 9;
    ck_assert_ptr_null(queries->next(query));
    WORKS(rig.host, rig.api->property->get_named(world, entities[7], "body", "mass", BP_F32, &mass));
    ck_assert(mass == 9);
    uint32_t key = key_of(world, "body", ""), prototype = prototype_of(world, "body", NULL, NULL, NULL);
    ck_assert_uint_eq(changes->rows(world, prototype, key, BODY_MASS, since, &row), ROWS);
    row = 0;
    ck_assert_uint_eq(changes->rows(world, prototype, key, BODY_POSITION, since, &row), 0); /* only read */
    since = changes->look(world);
    WORKS(rig.host, rig.api->property->set_named(world, entities[300], "body", "position", BP_VEC3,
                                                 &(bp_vec3_t){1, 2, 3}));
    WORKS(rig.host, queries->begin(query, since));
    match = queries->next(query);
    ck_assert(match != NULL && match->first == 256 && match->count == 128); /* asked for, though not to write */
    queries->end(query);
    ck_assert_uint_eq(world_of(world)->askers, 0);
}
END_TEST

START_TEST(slots_that_change_are_told)
{
    const bp_changes_api *changes = rig.api->registry->find(rig.host, BP_CHANGES_API, 1);
    const bp_term_list_t terms = BP_LIST(pool_only);
    const bp_match_t *match;
    bp_query_o *query;
    int64_t number = 12;
    WORKS(rig.host, rig.api->world->add(world, key_of(world, "pool", ""), entities, ROWS));
    WORKS(rig.host, queries->make(world, NULL, &terms, BP_QUERY_CHANGES, &query));
    uint64_t since = changes->look(world);
    WORKS(rig.host, queries->begin(query, since));
    ck_assert_ptr_null(queries->next(query));
    WORKS(rig.host, rig.api->property->set_named(world, entities[300], "pool", "number", BP_I64, &number));
    WORKS(rig.host, queries->begin(query, since));
    match = queries->next(query);
    ck_assert_ptr_nonnull(match);
    bool there = false;
    for (uint32_t i = 0; i < match->count; i++)
        there = there || match->entities[i].id == entities[300].id;
    ck_assert(there);
    ck_assert_uint_lt(match->count, ROWS);
    ck_assert_ptr_nonnull(match->slots[0]);
    queries->end(query);
    ck_assert_uint_eq(world_of(world)->askers, 0);
}
END_TEST

/* Without memory for stamps of their block, all slots without stamps of their own count as written. */
START_TEST(slots_that_change_while_memory_is_short_are_told)
{
    const bp_changes_api *changes = rig.api->registry->find(rig.host, BP_CHANGES_API, 1);
    const bp_term_list_t terms = BP_LIST(pool_only);
    const bp_match_t *match;
    bp_query_o *query;
    int64_t number = 12; /* of the last row, whose block is one of many */
    bool there = false;
    WORKS(rig.host, rig.api->world->add(world, key_of(world, "pool", ""), entities, ROWS));
    WORKS(rig.host, queries->make(world, NULL, &terms, BP_QUERY_CHANGES, &query));
    WORKS(rig.host, rig.api->property->set_named(world, entities[0], "pool", "number", BP_I64, &number));
    uint64_t since = changes->look(world);
    rig.heap.refuse_first = rig.heap.requests + 1;
    rig.heap.refuse_last = rig.heap.requests + 100;
    WORKS(rig.host, rig.api->property->set_named(world, entities[ROWS - 1], "pool", "number", BP_I64, &number));
    rig.heap.refuse_first = rig.heap.refuse_last = 0;
    WORKS(rig.host, queries->begin(query, since));
    while ((match = queries->next(query)) != NULL) {
        for (uint32_t i = 0; i < match->count; i++)
            there = there || match->entities[i].id == entities[ROWS - 1].id;
    }
    ck_assert(there);
    queries->end(query);
}
END_TEST

/* A component leaves the world: the query says so, and goes on when it is there again. */
START_TEST(a_query_follows_components_that_go_and_come)
{
    const bp_term_list_t terms = BP_LIST(body_only);
    bp_query_o *query;
    WORKS(rig.host, queries->make(world, NULL, &terms, 0, &query));
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "zoo"));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "a query asks for component 'body', which world 'main' lacks",
         queries->begin(query, 0));
    ck_assert_ptr_null(queries->next(query));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "zoo", NULL, 0));
    WORKS(rig.host, bp_world_use_component(world, "body"));
    WORKS(rig.host, queries->begin(query, 0));
    ck_assert_ptr_null(queries->next(query));
    entity_with(world, "body");
    WORKS(rig.host, queries->begin(query, 0));
    ck_assert_uint_eq(queries->next(query)->count, 1);
    queries->end(query);
}
END_TEST

/* The world goes back to a moment before some of its prototypes were there: everything is told, and runs that are made
 * then have stamps like all others. */
START_TEST(a_query_goes_on_when_the_world_goes_back)
{
    const bp_changes_api *changes = rig.api->registry->find(rig.host, BP_CHANGES_API, 1);
    const bp_term_list_t terms = BP_LIST(body_only);
    bp_snapshot_o *few, *many;
    bp_query_o *query;
    uint32_t flag = key_of(world, "flag", "");
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "stocks")); /* which does not say how to keep its state */
    WORKS(rig.host, queries->make(world, NULL, &terms, BP_QUERY_CHANGES, &query));
    WORKS(rig.host, bp_host_snapshot(rig.host, &few));
    WORKS(rig.host, rig.api->world->add(world, flag, entities, 100));
    WORKS(rig.host, bp_host_snapshot(rig.host, &many));
    for (uint32_t round = 0; round < 6; round++) {
        uint64_t since = changes->look(world);
        uint32_t rows = 0, runs = 0;
        if (round == 3) /* stamps go and come while a run is out of the world */
            queries->end(query);
        WORKS(rig.host, bp_host_bring_back(rig.host, round % 2 == 0 ? few : many));
        if (round == 3)
            WORKS(rig.host, queries->make(world, NULL, &terms, BP_QUERY_CHANGES, &query));
        WORKS(rig.host, queries->begin(query, since));
        for (const bp_match_t *match; (match = queries->next(query)) != NULL; runs++)
            rows += match->count;
        ck_assert_uint_ge(rows, ROWS);
        ck_assert_uint_eq(runs, 1 + round % 2);
        WORKS(rig.host, bp_world_step(world));
    }
    bp_snapshot_free(few);
    bp_snapshot_free(many);
    queries->end(query);
}
END_TEST

/* Rows go, come and move to other runs while a walk stands between two runs, or in the middle of one. */
START_TEST(a_walk_goes_on_with_the_rows_as_they_are)
{
    const bp_term_list_t terms = BP_LIST(body_only);
    bp_query_o *query;
    const bp_match_t *match;
    uint32_t flag = key_of(world, "flag", ""), fx = key_of(world, "fx", ""), rows = 0, prototype;
    const uint32_t keys[] = {key_of(world, "body", ""), flag};
    bp_entity_t more[3];
    WORKS(rig.host, rig.api->world->add(world, flag, entities, 100));
    WORKS(rig.host, queries->make(world, NULL, &terms, 0, &query));
    WORKS(rig.host, queries->begin(query, 0));
    ck_assert_ptr_nonnull(queries->next(query));
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, entities, 90), 90);
    WORKS(rig.host, rig.api->world->remove(world, flag, &entities[95], 5));
    WORKS(rig.host, rig.api->world->add(world, fx, &entities[200], 50)); /* a run that the walk does not know */
    WORKS(rig.host, rig.api->world->prototype(world, keys, 2, &prototype));
    WORKS(rig.host, rig.api->world->create(world, prototype, more, 3));
    for (uint32_t i = 0; i < 100; i++)
        WORKS(rig.host, bp_world_step(world)); /* in which rows are collected, and memory is given back */
    while ((match = queries->next(query)) != NULL) {
        BP_COLUMNS(struct body, b, match->columns[0]);
        for (uint32_t i = 0; i < match->count; i++) {
            float mass;
            if (match->entities[i].id == 0)
                continue;
            WORKS(rig.host, rig.api->property->get_named(world, match->entities[i], "body", "mass", BP_F32, &mass));
            EXPECT(mass == b.mass[i], "row %u has the mass %g", i, (double)b.mass[i]);
            rows++;
        }
    }
    ck_assert_uint_eq(rows, 5 + 3); /* of the run with flags */
    queries->end(query);
}
END_TEST

/* Its runs may be others by then. */
START_TEST(a_walk_ends_when_the_world_goes_back)
{
    const bp_term_list_t terms = BP_LIST(body_only);
    bp_snapshot_o *before;
    bp_query_o *query;
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "stocks")); /* which does not say how to keep its state */
    WORKS(rig.host, rig.api->world->add(world, key_of(world, "flag", ""), entities, 100));
    WORKS(rig.host, queries->make(world, NULL, &terms, 0, &query));
    WORKS(rig.host, bp_host_snapshot(rig.host, &before));
    WORKS(rig.host, queries->begin(query, 0));
    ck_assert_ptr_nonnull(queries->next(query));
    WORKS(rig.host, bp_host_bring_back(rig.host, before));
    ck_assert_ptr_null(queries->next(query));
    WORKS(rig.host, queries->begin(query, 0));
    ck_assert_ptr_nonnull(queries->next(query));
    ck_assert_ptr_nonnull(queries->next(query));
    ck_assert_ptr_null(queries->next(query));
    bp_snapshot_free(before);
    queries->end(query);
}
END_TEST

START_TEST(a_query_is_made_or_not_when_memory_is_short)
{
    const bp_term_list_t terms = BP_LIST(body_and_label);
    bp_query_o *query = NULL;
    uint64_t n = 1;
    for (;; n++) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
        bp_result_t result = queries->make(world, NULL, &terms, BP_QUERY_CHANGES, &query);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        if (result == BP_OK)
            break;
        ck_assert_int_eq(result, BP_ERROR_MEMORY);
        ck_assert_ptr_null(query);
    }
    ck_assert_uint_gt(n, 3);
    for (n = 1;; n++) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
        bp_result_t result = queries->begin(query, 0);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        if (result == BP_OK)
            break;
        ck_assert_int_eq(result, BP_ERROR_MEMORY);
        ck_assert_ptr_null(queries->next(query));
    }
    ck_assert_ptr_nonnull(queries->next(query));
    queries->end(query);
}
END_TEST

Suite *queries_suite(void)
{
    Suite *suite = suite_create("queries");
    TCase *model = tcase_create("model"), *tests = tcase_create("queries");
    tcase_set_timeout(model, 120);
    tcase_add_loop_test(model, a_query_finds_what_a_naive_look_finds, 0, 3);
    suite_add_tcase(suite, model);
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, bad_queries_are_refused_with_a_sentence);
    tcase_add_test(tests, what_a_query_writes_counts_as_written);
    tcase_add_test(tests, slots_that_change_are_told);
    tcase_add_test(tests, slots_that_change_while_memory_is_short_are_told);
    tcase_add_test(tests, a_query_follows_components_that_go_and_come);
    tcase_add_test(tests, a_query_goes_on_when_the_world_goes_back);
    tcase_add_test(tests, a_walk_goes_on_with_the_rows_as_they_are);
    tcase_add_test(tests, a_walk_ends_when_the_world_goes_back);
    tcase_add_test(tests, a_query_is_made_or_not_when_memory_is_short);
    suite_add_tcase(suite, tests);
    return suite;
}
