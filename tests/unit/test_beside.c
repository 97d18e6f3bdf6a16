/* test_beside.c - systems that read the rows of another world: what they are handed of it, and when that world or its
 * components come, go, or come again under the same name.
 */
#include "../suites.h"
#include "inspect.h"
#include "support.h"

#include <bp_look.h>
#include <bp_plugin.h>
#include <bp_query.h>
#include <string.h>

struct stone { float *weight; };
struct moss { int32_t *depth; };
struct seen_stone { const float *weight; };
struct seen_moss { const int32_t *depth; };

static const bp_field_t stone_fields[] = {{BP_FIELD_OF(struct stone, weight)}};
static const bp_field_t moss_fields[] = {{BP_FIELD_OF(struct moss, depth)}};
static const bp_term_field_t own_stone[] = {{BP_FIELD_OF(struct stone, weight)}};
static const bp_term_field_t ask_stone[] = {{BP_FIELD_OF(struct seen_stone, weight)}};
static const bp_term_field_t ask_moss[] = {{BP_FIELD_OF(struct seen_moss, depth)}};

enum { OWN, FAR_STONE, HERE_MOSS, FAR_MOSS, LONE_MOSS };
static const bp_term_t gather_terms[] = {
    [OWN] = {.component = "stone", .fields = BP_LIST(own_stone)},
    [FAR_STONE] = {.component = "stone", .flags = BP_TERM_BESIDE, .world = ".halo", .fields = BP_LIST(ask_stone)},
    [HERE_MOSS] = {.component = "moss", .flags = BP_TERM_OPTIONAL, .fields = BP_LIST(ask_moss)},
    [FAR_MOSS] = {.component = "moss", .flags = BP_TERM_BESIDE | BP_TERM_OPTIONAL, .world = ".halo",
                  .fields = BP_LIST(ask_moss)},
    [LONE_MOSS] = {.component = "moss", .flags = BP_TERM_BESIDE, .world = "island", .fields = BP_LIST(ask_moss)},
};

/* What the system found in its last step. */
static struct {
    uint32_t rows, far_rows, far_mossy, lone_rows;
    float far_weight;
    bool far_there, lone_there;
} found;

/* The first query of a step is asked for while this request for memory fails; 0: none does. */
static struct short_of_memory { uint64_t request; bool refused; } short_of_memory;
static rig_t rig;

static void ask_short_of_memory(bp_system_t *s, const bp_query_api *queries)
{
    bp_query_o *query;
    if (short_of_memory.request == 0)
        return;
    rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + short_of_memory.request;
    bp_result_t result = queries->beside(s, FAR_STONE, &query);
    rig.heap.refuse_first = rig.heap.refuse_last = 0;
    short_of_memory = (struct short_of_memory){.refused = result != BP_OK};
    ck_assert_int_eq(result, query == NULL ? BP_ERROR_MEMORY : BP_OK);
}

static bool walk(bp_system_t *s, uint32_t term, bp_query_o **query, const bp_query_api **queries)
{
    *queries = s->api->registry->find(s->host, BP_QUERY_API, 2);
    ask_short_of_memory(s, *queries);
    WORKS(s->host, (*queries)->beside(s, term, query));
    if (*query != NULL)
        WORKS(s->host, (*queries)->begin(*query, 0));
    return *query != NULL;
}

static void gather(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    const bp_query_api *queries;
    const bp_match_t *match;
    bp_query_o *query, *same;
    (void)step;
    memset(&found, 0, sizeof found);
    for (uint32_t m = 0; m < count; m++) {
        found.rows += matches[m].count;
        EXPECT(matches[m].columns[FAR_STONE][0] == NULL && matches[m].columns[LONE_MOSS][0] == NULL,
               "a term of another world has columns here");
    }
    found.far_there = walk(s, FAR_STONE, &query, &queries);
    while (query != NULL && (match = queries->next(query)) != NULL) {
        BP_COLUMNS(struct seen_stone, stone, match->columns[0]);
        BP_COLUMNS(struct seen_moss, moss, match->columns[1]);
        found.far_mossy += moss.depth != NULL ? match->count : 0;
        for (uint32_t i = 0; i < match->count; i++)
            found.far_weight += stone.weight[i];
        found.far_rows += match->count;
    }
    WORKS(s->host, queries->beside(s, FAR_MOSS, &same));
    EXPECT(same == query, "terms of the same world are two queries");
    found.lone_there = walk(s, LONE_MOSS, &query, &queries);
    while (query != NULL && (match = queries->next(query)) != NULL)
        found.lone_rows += match->count;
    SAID(s->host, BP_ERROR_ARGUMENT, "system 'gather': term 0 names no other world; only one with BP_TERM_BESIDE does",
         queries->beside(s, OWN, &query));
    ck_assert_ptr_null(query);
    SAID(s->host, BP_ERROR_ARGUMENT, "system 'gather': term 9 names no other world; only one with BP_TERM_BESIDE does",
         queries->beside(s, 9, &query));
}

static void ask_out_of_work(bp_system_t *s)
{
    const bp_query_api *queries = s->api->registry->find(s->host, BP_QUERY_API, 2);
    bp_query_o *query;
    SAID(s->host, BP_ERROR_ARGUMENT, "a system asks for rows of another world before it is at work; ask in a step",
         queries->beside(s, FAR_STONE, &query));
}

static bp_result_t start(bp_system_t *s)
{
    ask_out_of_work(s);
    return BP_OK;
}

static uint32_t stops;

/* Also where the system stops because its world ends. */
static void stop(bp_system_t *s)
{
    ask_out_of_work(s);
    stops++;
}

static const bp_component_i components[] = {
    {.name = "stone", .fields = BP_LIST(stone_fields)},
    {.name = "moss", .fields = BP_LIST(moss_fields)},
};
static const bp_system_i systems[] = {
    {.name = "gather", .terms = BP_LIST(gather_terms), .run_all = gather, .start = start, .stop = stop}};
static const bp_plugin_desc_t quarry = {.version = "1", .components = BP_LIST(components)};
static const bp_plugin_head_t quarry_head = BP_PLUGIN_HEAD("quarry", &quarry);
static const bp_plugin_desc_t gathering = {.version = "1", .systems = BP_LIST(systems)};
static const bp_plugin_head_t gathering_head = BP_PLUGIN_HEAD("gathering", &gathering);

/* A plugin whose only system each test declares for itself. */
static bp_system_i declared;
static bp_plugin_desc_t one = {.version = "1", .systems = {&declared, 1, sizeof declared}};
static const bp_plugin_head_t one_head = BP_PLUGIN_HEAD("one", &one);
static const bp_plugin_head_t *const plugins[] = {&quarry_head, &gathering_head, &one_head};

static bp_world_o *world;

static bp_world_o *world_named(const char *name, const char *component)
{
    bp_world_o *made = bp_world_create(rig.host, &(bp_world_desc_t){.name = name});
    ck_assert_ptr_nonnull(made);
    WORKS(rig.host, bp_world_use_component(made, component));
    return made;
}

static void stones(bp_world_o *where, uint32_t count, float weight)
{
    bp_entity_t made[64];
    WORKS(rig.host, rig.api->world->create(where, prototype_of(where, "stone", NULL, NULL, NULL), made, count));
    for (uint32_t i = 0; i < count; i++)
        WORKS(rig.host, rig.api->property->set_named(where, made[i], "stone", "weight", BP_F32, &weight));
}

static void begin(void)
{
    rig_open_with(&rig, plugins, COUNT(plugins));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "quarry", NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "gathering", NULL, 0));
    world = world_named("main", "stone");
    WORKS(rig.host, bp_world_use_system(world, "gather"));
    stones(world, 5, 1);
}

static void end(void)
{
    check_host(rig.host);
    rig_close(&rig);
}

static void step(void)
{
    WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(found.rows, 5);
}

/* --- walks -------------------------------------------------------------------------------------------------------- */

START_TEST(a_system_reads_rows_of_a_world_whenever_it_is_there)
{
    step();
    ck_assert(!found.far_there);
    bp_world_o *far = world_named("main.halo", "stone");
    for (uint32_t round = 0; round < 3; round++) {
        stones(far, 10, 2);
        step();
        ck_assert(found.far_there);
        ck_assert_uint_eq(found.far_rows, 10 * (round + 1));
        ck_assert_double_eq((double)found.far_weight, 20.0 * (round + 1));
        ck_assert_uint_eq(found.far_mossy, 0);
    }
    bp_world_destroy(far);
    step();
    ck_assert(!found.far_there);
    far = world_named("main.halo", "stone"); /* another one under the same name */
    stones(far, 3, 1);
    step();
    ck_assert_uint_eq(found.far_rows, 3);
    stops = 0;
    bp_world_destroy(world); /* before the one that it reads */
    ck_assert_uint_eq(stops, 1);
}
END_TEST

START_TEST(a_world_without_a_component_that_is_needed_has_no_rows)
{
    bp_world_o *far = world_named("main.halo", "moss"), *island = world_named("island", "stone");
    step();
    ck_assert(!found.far_there && !found.lone_there);
    WORKS(rig.host, bp_world_use_component(far, "stone"));
    WORKS(rig.host, bp_world_use_component(island, "moss"));
    stones(far, 4, 1);
    bp_entity_t mossy[2];
    WORKS(rig.host,
          rig.api->world->create(far, prototype_of(far, "stone", "moss", NULL, NULL), mossy, COUNT(mossy)));
    entity_with(island, "moss");
    step();
    ck_assert(found.far_there && found.lone_there);
    ck_assert_uint_eq(found.far_rows, 6);
    ck_assert_uint_eq(found.far_mossy, 2);
    ck_assert_uint_eq(found.lone_rows, 1);
    WORKS(rig.host, bp_world_drop_component(far, "moss")); /* optional there */
    step();
    ck_assert_uint_eq(found.far_rows, 6);
    ck_assert_uint_eq(found.far_mossy, 0);
    WORKS(rig.host, bp_world_drop_component(far, "stone"));
    step();
    ck_assert(!found.far_there && found.lone_there);
}
END_TEST

/* The plugin goes, or the system does: its queries end with it, and are made again when it is back. */
START_TEST(queries_beside_end_with_their_system)
{
    bp_world_o *far = world_named("main.halo", "stone");
    stones(far, 4, 1);
    for (uint32_t round = 0; round < 3; round++) {
        step();
        ck_assert_uint_eq(found.far_rows, 4);
        if (round == 0) {
            WORKS(rig.host, bp_world_drop_system(world, "gather"));
        } else {
            WORKS(rig.host, bp_host_unload_plugin(rig.host, "gathering"));
            WORKS(rig.host, bp_host_load_plugin(rig.host, "gathering", NULL, 0));
        }
        WORKS(rig.host, bp_world_use_system(world, "gather"));
    }
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "gathering"));
    bp_world_destroy(far);
}
END_TEST

START_TEST(a_query_beside_is_made_or_not_when_memory_is_short)
{
    const bp_look_api *look = rig.api->registry->find(rig.host, BP_LOOK_API, 1);
    bp_look_term_t term = {.struct_size = sizeof term};
    stones(world_named("main.halo", "stone"), 4, 1);
    uint32_t cursor = FAR_STONE;
    ck_assert_uint_eq(look->term(rig.host, "gather", &cursor, &term), 1);
    ck_assert_str_eq(term.world, ".halo");
    ck_assert_uint_eq(term.flags, BP_TERM_BESIDE);
    step();
    uint32_t refused = 0;
    for (uint64_t n = 1; n == 1 || short_of_memory.refused; n++) {
        WORKS(rig.host, bp_world_drop_system(world, "gather"));
        WORKS(rig.host, bp_world_use_system(world, "gather"));
        short_of_memory = (struct short_of_memory){.request = n};
        step();
        refused += short_of_memory.refused;
        ck_assert_uint_eq(found.far_rows, 4);
    }
    ck_assert_uint_gt(refused, 2);
}
END_TEST

/* --- what is refused ---------------------------------------------------------------------------------------------- */

static void run_rows(const bp_match_t *match, uint32_t count)
{
    (void)match, (void)count;
}

static void run_together(bp_system_t *s, const bp_step_t *now, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)now, (void)matches, (void)count;
}

START_TEST(bad_terms_of_other_worlds_are_refused_with_a_sentence)
{
    static const bp_term_field_t writes[] = {{BP_FIELD_OF(struct stone, weight)}};
    static const bp_term_field_t unknown[] = {{.name = "wieght", .type = BP_F32}};
    static const struct {
        bp_term_t terms[2];
        uint32_t count, flags;
        bool rows;
        const char *sentence;
    } wrong[] = {
        {{{.component = "stone", .world = ".halo"}}, 1, 0, false, "does not say BP_TERM_BESIDE"},
        {{{.component = "stone", .flags = BP_TERM_BESIDE}}, 1, 0, false, "names no world"},
        {{{.component = "stone", .flags = BP_TERM_BESIDE, .world = ".halo", .fields = BP_LIST(writes)}}, 1, 0, false,
         "only reads"},
        {{{.component = "stone", .flags = BP_TERM_BESIDE, .world = ".halo", .fields = BP_LIST(unknown)}}, 1, 0, false,
         "weight"},
        {{{.component = "stone", .flags = BP_TERM_BESIDE, .world = ".halo"}, {.component = "stone"}}, 2,
         BP_SYSTEM_CONCURRENT, true, "leave out BP_SYSTEM_CONCURRENT"},
        {{{.component = "stone", .flags = BP_TERM_BESIDE, .world = ".halo"}}, 1, 0, true, "no rows match"},
        {{{.component = "stone", .flags = BP_TERM_BESIDE, .world = ".halo"},
          {.component = "stone", .flags = BP_TERM_BESIDE | BP_TERM_EXCLUDE, .world = ".halo"}}, 2, 0, false,
         "require and exclude"},
    };
    const bp_query_api *queries = rig.api->registry->find(rig.host, BP_QUERY_API, 1);
    const bp_term_list_t beside = {&gather_terms[FAR_STONE], 1, sizeof gather_terms[0]};
    bp_query_o *query;
    for (uint32_t i = 0; i < COUNT(wrong); i++) {
        declared = (bp_system_i){.name = "alone", .flags = wrong[i].flags,
                                 .terms = {wrong[i].terms, wrong[i].count, sizeof wrong[i].terms[0]},
                                 .run = wrong[i].rows ? run_rows : NULL,
                                 .run_all = wrong[i].rows ? NULL : run_together};
        ck_assert_int_ne(bp_host_load_plugin(rig.host, "one", NULL, 0), BP_OK);
        EXPECT(strstr(bp_host_error(rig.host), wrong[i].sentence) != NULL, "%u: %s", i, bp_host_error(rig.host));
    }
    SAID(rig.host, BP_ERROR_ARGUMENT,
         "a query of world 'main': term 'stone' names world '.halo', which terms of systems may; make the query in "
         "that world",
         queries->make(world, NULL, &beside, 0, &query));
    ck_assert_ptr_null(query);
}
END_TEST

/* Excluding something in one world says nothing of another one. */
START_TEST(worlds_are_told_apart_where_terms_are_compared)
{
    static const bp_term_t fine[] = {
        {.component = "stone"},
        {.component = "stone", .flags = BP_TERM_BESIDE | BP_TERM_EXCLUDE, .world = ".halo"},
        {.component = "moss", .flags = BP_TERM_BESIDE, .world = ".halo"},
    };
    declared = (bp_system_i){.name = "alone", .terms = BP_LIST(fine), .run = run_rows};
    WORKS(rig.host, bp_host_load_plugin(rig.host, "one", NULL, 0));
    WORKS(rig.host, bp_world_use_system(world, "alone"));
    step();
}
END_TEST

Suite *beside_suite(void)
{
    Suite *suite = suite_create("beside");
    TCase *tests = tcase_create("beside");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, a_system_reads_rows_of_a_world_whenever_it_is_there);
    tcase_add_test(tests, a_world_without_a_component_that_is_needed_has_no_rows);
    tcase_add_test(tests, queries_beside_end_with_their_system);
    tcase_add_test(tests, a_query_beside_is_made_or_not_when_memory_is_short);
    tcase_add_test(tests, bad_terms_of_other_worlds_are_refused_with_a_sentence);
    tcase_add_test(tests, worlds_are_told_apart_where_terms_are_compared);
    suite_add_tcase(suite, tests);
    return suite;
}
