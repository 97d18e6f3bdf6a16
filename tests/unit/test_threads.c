/* test_threads.c - several threads: the pool, steps on it, and what may be called from jobs.
 *
 * This suite also runs under ThreadSanitizer, so jobs write to plain memory, each to its own place: two
 * jobs for one index, or a batch that returns too early, are then seen as races even where the result
 * happens to be right.
 */
#include "support.h"

#include "../suites.h"
#include "inspect.h"
#include "zoo.h"

#include "os/arithmetic.h"
#include "os/os.h"
#include "step/jobs.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>

/* --- the pool ------------------------------------------------------------------------------------------- */

static base_t base;

static void begin_base(void)
{
    memset(&base, 0, sizeof base);
    memory_init(&base.memory, "test", &(bp_allocator_i){0});
}

static void end_base(void)
{
    ck_assert_uint_eq(memory_bytes(&base.memory), 0);
}

static jobs_t *make_pool(uint32_t threads)
{
    jobs_t *pool = NULL;
    EXPECT(jobs_create(&base, threads, &pool) == BP_OK, "%s", base.error.text);
    ck_assert_uint_eq(jobs_table(pool).threads, threads);
    return pool;
}

static void count_up(void *data, uint32_t index)
{
    ((uint32_t *)data)[index]++;
}

static void run_batches(uint32_t threads, uint32_t batches)
{
    static const uint32_t sizes[] = {0, 1, 2, 3, 7, 64, 1000};
    static uint32_t times[1000];
    jobs_t *pool = make_pool(threads);
    bp_jobs_i jobs = jobs_table(pool);
    for (uint32_t i = 0; i < batches; i++) {
        uint32_t count = sizes[i % COUNT(sizes)];
        memset(times, 0, sizeof times);
        jobs.run(jobs.context, count_up, times, count);
        for (uint32_t k = 0; k < COUNT(times); k++)
            EXPECT(times[k] == (k < count), "job %u of %u ran %u times", k, count, times[k]);
    }
    jobs_free(pool);
}

START_TEST(the_pool_runs_each_job_once)
{
    static const uint32_t threads[] = {1, 2, 3, 4, 8};
    run_batches(threads[_i], 700);
}
END_TEST

START_TEST(pools_come_and_go)
{
    for (uint32_t i = 0; i < 50; i++)
        run_batches(1 + i % 5, i % 3);
}
END_TEST

/* Jobs of very different lengths, and one batch after the other without a pause. */
static void work_unevenly(void *data, uint32_t index)
{
    uint64_t state = index;
    for (uint32_t i = 0; i < (index % 17 == 0 ? 2000u : 1u); i++)
        bp_random_next(&state);
    ((uint64_t *)data)[index] += state;
}

START_TEST(uneven_jobs_are_all_done_when_a_batch_returns)
{
    enum { JOBS = 200 };
    static uint64_t done[2][JOBS];
    memset(done, 0, sizeof done);
    for (uint32_t which = 0; which < 2; which++) {
        jobs_t *pool = make_pool(which == 0 ? 1 : 4);
        bp_jobs_i jobs = jobs_table(pool);
        for (uint32_t i = 0; i < 200; i++)
            jobs.run(jobs.context, work_unevenly, done[which], JOBS);
        jobs_free(pool);
    }
    ck_assert_int_eq(memcmp(done[0], done[1], sizeof done[0]), 0);
}
END_TEST

/* Each of two jobs waits for the other one. */
static void meet(void *data, uint32_t index)
{
    _Atomic uint32_t *there = data;
    uint64_t until = os_clock_ns() + UINT64_C(20000000000);
    (void)index;
    atomic_fetch_add(there, 1);
    while (atomic_load(there) < 2 && os_clock_ns() < until)
        os_sleep_ns(10000);
    if (atomic_load(there) < 2)
        atomic_store(there, 100);
}

START_TEST(the_jobs_of_every_batch_are_shared)
{
    jobs_t *pool = make_pool(2);
    bp_jobs_i jobs = jobs_table(pool);
    for (uint32_t i = 0; i < 20; i++) {
        _Atomic uint32_t there = 0;
        if (i % 4 == 3)
            os_sleep_ns(2000000); /* so that the other thread sleeps */
        jobs.run(jobs.context, meet, &there, 2);
        EXPECT(atomic_load(&there) == 2, "the jobs of batch %u have not met", i);
    }
    jobs_free(pool);
}
END_TEST

START_TEST(a_pool_without_memory_is_an_error)
{
    heap_t heap = {0};
    bp_allocator_i allocator = heap_allocator(&heap);
    jobs_t *pool = NULL;
    memory_init(&base.memory, "test", &allocator);
    for (uint64_t refused = 1; refused <= 2; refused++) {
        heap.refuse_first = heap.refuse_last = heap.requests + refused;
        ck_assert_int_eq(jobs_create(&base, 4, &pool), BP_ERROR_MEMORY);
        ck_assert_ptr_nonnull(strstr(base.error.text, "out of memory"));
        ck_assert_ptr_null(pool);
        ck_assert_uint_eq(heap.bytes, 0);
    }
}
END_TEST

/* --- steps on several threads --------------------------------------------------------------------------- */

enum { ROWS = 100000, STEPS = 12 };

/* A component and a system that count in each row how often they came by, and check what they were handed. */
static void tick(const bp_run_t *run, uint32_t count)
{
    uint32_t *ticks = BP_COLUMN(run, uint32_t, 0);
    uintptr_t alignment = count >= RUN_ALIGNED_ROWS ? 64 : 16;
    EXPECT((uintptr_t)ticks % alignment == 0 && (uintptr_t)run->entities % alignment == 0,
           "a range is aligned badly");
    for (uint32_t i = 0; i < count; i++)
        ticks[i]++;
}

static void drag(const bp_match_t *match, uint32_t count)
{
    bp_vec3_t *velocity = BP_TERM_COLUMN(match, bp_vec3_t, 0, 1);
    const float *mass = BP_TERM_COLUMN(match, const float, 0, 0);
    uint32_t *ticks = BP_TERM_COLUMN(match, uint32_t, 1, 0);
    EXPECT(match->columns[2] == NULL, "nobody has the optional component");
    for (uint32_t i = 0; i < count; i++) {
        float factor = 1.0f - mass[i] * (float)match->step->dt;
        velocity[i] = (bp_vec3_t){velocity[i].x * factor, velocity[i].y * factor, velocity[i].z * factor};
        ticks[i] += 1000;
    }
}

/* Memory and questions from inside jobs, as the headers allow. */
static void ask(const bp_match_t *match, uint32_t count)
{
    const bp_api_t *api = match->system->api;
    char text[32];
    bp_property_t mass = *(const bp_property_t *)match->system->state;
    size_t size = 16 + count % 1000;
    char *block = api->memory->resize(match->system->plugin, NULL, 0, size);
    EXPECT(block != NULL, "no memory");
    memset(block, 1, size);
    block = api->memory->resize(match->system->plugin, block, size, 2 * size);
    float values[64];
    uint32_t some = count < COUNT(values) ? count : COUNT(values);
    EXPECT(api->entity->alive(match->system->host, match->entities, some, NULL) == some, "a row of the dead");
    EXPECT(api->property->get(match->system->world, &mass, match->entities, some, values, sizeof values[0]) == BP_OK,
           "no mass");
    EXPECT(values[0] == BP_TERM_COLUMN(match, float, 0, 0)[0], "another mass");
    EXPECT(api->world->has(match->system->world, mass.key, match->entities, some, NULL) == some, "no body");
    EXPECT(api->entity->at(match->system->host, bp_entity_index(match->entities[0])).id == match->entities[0].id,
           "not there");
    EXPECT(api->name->hash("body") == api->name->hash("body"), "not the same");
    api->entity->format(match->system->host, match->entities[0], text, sizeof text);
    api->memory->resize(match->system->plugin, block, 2 * size, 0);
}

static bp_result_t ask_start(bp_system_t *s)
{
    bp_property_t *mass = s->api->memory->resize(s->plugin, NULL, 0, sizeof *mass);
    EXPECT(mass != NULL, "no memory");
    s->state = mass;
    return s->api->property->resolve(s->world, (bp_entity_t){0}, "body", "mass", mass);
}

static void ask_stop(bp_system_t *s)
{
    s->api->memory->resize(s->plugin, s->state, sizeof(bp_property_t), 0);
}

static const bp_field_t ticks_fields[] = {{.name = "ticks", .type = BP_U32}};
static const bp_component_i components[] = {
    {.name = "ticker", .flags = BP_COMPONENT_PARALLEL, .fields = BP_LIST(ticks_fields), .simulate = tick}};
static const bp_term_field_t dragged[] = {{.name = "mass", .type = BP_F32},
                                          {.name = "velocity", .type = BP_VEC3, .access = BP_WRITE}};
static const bp_term_field_t ticked[] = {{.name = "ticks", .type = BP_U32, .access = BP_WRITE}};
static const bp_term_t drag_terms[] = {{.component = "body", .fields = BP_LIST(dragged)},
                                       {.component = "ticker", .fields = BP_LIST(ticked)},
                                       {.component = "label", .flags = BP_TERM_OPTIONAL}};
static const bp_term_field_t mass_only[] = {{.name = "mass", .type = BP_F32}};
static const bp_term_t ask_terms[] = {{.component = "body", .fields = BP_LIST(mass_only)}};
static const bp_system_i systems[] = {
    {.name = "drag",
     .flags = BP_SYSTEM_PARALLEL,
     .terms = BP_LIST(drag_terms),
     .before = "body",
     .run = drag},
    {.name = "ask",
     .flags = BP_SYSTEM_PARALLEL,
     .terms = BP_LIST(ask_terms),
     .run = ask,
     .start = ask_start,
     .stop = ask_stop},
};
static const bp_plugin_head_t parallel = BP_PLUGIN_HEAD("parallel", (&(const bp_plugin_desc_t){.version = "1",
                                          .components = BP_LIST(components), .systems = BP_LIST(systems)}));
static const bp_plugin_head_t *const plugins[] = {&parallel};

static bp_host_o *make_host(uint32_t threads, const bp_jobs_i *jobs)
{
    const bp_plugin_head_t *linked[] = {zoo_plugins[0], zoo_plugins[1], plugins[0]};
    bp_host_desc_t desc = {
        .threads = threads, .tag = 1, .static_plugins = linked, .static_plugin_count = COUNT(linked)};
    if (jobs != NULL)
        desc.jobs = jobs;
    bp_host_o *host = bp_host_create(&desc);
    ck_assert_ptr_nonnull(host);
    for (uint32_t i = 0; i < COUNT(linked); i++)
        WORKS(host, bp_host_load_plugin(host, linked[i]->name, NULL, 0));
    return host;
}

static bp_world_o *make_world(bp_host_o *host, bp_entity_t *entities, uint32_t rows)
{
    uint64_t random = 17;
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "w", .step_rate = 30});
    WORKS(host, bp_world_use_component(world, "body"));
    WORKS(host, bp_world_use_component(world, "label"));
    WORKS(host, bp_world_use_component(world, "ticker"));
    WORKS(host, api_of(world)->world->create(world, prototype_of(world, "body", "ticker", NULL, NULL),
                                             entities, rows));
    WORKS(host, bp_world_use_system(world, "drag"));
    WORKS(host, bp_world_use_system(world, "ask"));
    const run_t *run = world->rows.runs[0];
    for (uint32_t c = 1; c <= 4; c++) {
        float *numbers = run->columns[c];
        for (size_t i = 0; i < (size_t)rows * run->sizes[c] / 4; i++)
            numbers[i] = (float)bp_random_below(&random, 100000) / 1000.0f;
    }
    return world;
}

/* All bytes of all columns after some steps. */
static uint64_t sum_of_bits(const bp_world_o *world)
{
    const run_t *run = world->rows.runs[0];
    uint64_t sum = 14695981039346656037u;
    for (uint32_t c = 0; c < run->column_count; c++) {
        const unsigned char *bytes = run->columns[c];
        for (size_t i = 0; i < (size_t)run->count * run->sizes[c]; i++)
            sum = (sum ^ bytes[i]) * 1099511628211u;
    }
    return sum;
}

/* How the thread that steps rounds. */
static int rounding = FE_TONEAREST;

static uint64_t result_of(uint32_t threads, const bp_jobs_i *jobs, uint32_t rows)
{
    bp_entity_t *entities = malloc(rows * sizeof *entities);
    bp_host_o *host = make_host(threads, jobs);
    bp_world_o *world = make_world(host, entities, rows);
    fesetround(rounding);
    for (uint32_t i = 0; i < STEPS; i++)
        WORKS(host, bp_world_step(world));
    ck_assert_int_eq(fegetround(), rounding);
    fesetround(FE_TONEAREST);
    const uint32_t *ticks = world->rows.runs[0]->columns[5];
    for (uint32_t i = 0; i < rows; i++)
        EXPECT(ticks[i] == 1001 * STEPS, "row %u was visited %u times", i, ticks[i]);
    uint64_t sum = sum_of_bits(world);
    check_host(host);
    bp_host_destroy(host);
    free(entities);
    return sum;
}

START_TEST(results_are_the_same_bits_on_any_number_of_threads)
{
    uint64_t one = result_of(1, NULL, ROWS);
    ck_assert_uint_eq(result_of(2, NULL, ROWS), one);
    ck_assert_uint_eq(result_of(4, NULL, ROWS), one);
}
END_TEST

/* The threads of the pool began before, and those of the embedder may do as they like between jobs. */
static void run_rounding_down(void *context, void (*job)(void *data, uint32_t index), void *data, uint32_t count)
{
    (void)context;
    for (uint32_t i = 0; i < count; i++) {
        fesetround(FE_DOWNWARD);
        job(data, i);
        ck_assert_int_eq(fegetround(), FE_DOWNWARD);
    }
    fesetround(rounding);
}

START_TEST(all_threads_of_a_step_round_as_the_thread_that_steps)
{
    bp_jobs_i jobs = {.threads = 3, .run = run_rounding_down};
    uint64_t nearest = result_of(1, NULL, ROWS);
    rounding = FE_UPWARD;
    uint64_t upward = result_of(1, NULL, ROWS);
    ck_assert_uint_ne(upward, nearest);
    for (uint32_t threads = 2; threads <= 4; threads++)
        EXPECT(result_of(threads, NULL, ROWS) == upward, "%u threads compute something else", threads);
    EXPECT(result_of(3, &jobs, ROWS) == upward, "the embedder's threads compute something else");
    rounding = FE_TONEAREST;
    ck_assert_uint_eq(result_of(3, &jobs, ROWS), nearest);
}
END_TEST

START_TEST(each_setting_that_decides_about_results_is_taken_over_and_put_back)
{
    uint32_t usual = arithmetic_control();
    for (uint32_t bit = 0; bit < 32; bit++) {
        if ((ARITHMETIC_RESULTS >> bit & 1) == 0)
            continue;
        arithmetic_set_control(usual | UINT32_C(1) << bit);
        uint32_t set = arithmetic_control();
        uint32_t before = arithmetic_begin(usual);
        ck_assert_uint_eq(arithmetic_control(), set & ~ARITHMETIC_RESULTS);
        volatile float smallest = 1e-45f, half = smallest * 0.75f;
        ck_assert(half > 0);
        arithmetic_end(before);
        ck_assert_uint_eq(arithmetic_control() & ~ARITHMETIC_FLAGS, set & ~ARITHMETIC_FLAGS);
    }
    arithmetic_set_control(usual);
}
END_TEST

/* One row, and rows at and next to the border between two ranges. */
START_TEST(any_number_of_rows_is_cut_right)
{
    static const uint32_t rows[] = {1, SCHEDULE_LEAST_RANGE - 1, SCHEDULE_LEAST_RANGE, SCHEDULE_LEAST_RANGE + 1,
                                    16 * SCHEDULE_RANGE_ROWS + 5};
    ck_assert_uint_eq(result_of(1, NULL, rows[_i]), result_of(3, NULL, rows[_i]));
}
END_TEST

/* --- the embedder's threads ----------------------------------------------------------------------------- */

typedef struct own_jobs_t {
    uint32_t batches, jobs;
} own_jobs_t;

/* Backwards and on one thread: no order of jobs may matter. */
static void run_backwards(void *context, void (*job)(void *data, uint32_t index), void *data, uint32_t count)
{
    own_jobs_t *own = context;
    own->batches++;
    own->jobs += count;
    while (count > 0)
        job(data, --count);
}

START_TEST(an_embedders_jobs_are_used_instead_of_the_pool)
{
    own_jobs_t own = {0, 0};
    bp_jobs_i jobs = {.context = &own, .threads = 4, .run = run_backwards};
    ck_assert_uint_eq(result_of(8, &jobs, ROWS), result_of(1, NULL, ROWS));
    ck_assert_uint_ge(own.batches, 4); /* in the first step, before units have been measured */
    ck_assert_uint_eq(own.jobs, own.batches * jobs.threads);
    bp_host_o *host = make_host(8, &jobs);
    ck_assert_ptr_null(host->pool);
    bp_host_destroy(host);
}
END_TEST

/* As many fields as terms may ask for, of components of as many as there may be. */
static bp_field_t wide_fields[REGISTRY_MAX_FIELDS];
static bp_term_field_t wide_asked[REGISTRY_MAX_FIELDS];
static char wide_names[REGISTRY_MAX_FIELDS][8];
static uint32_t wide_calls, wide_rows;

static void count_calls(const bp_match_t *match, uint32_t count)
{
    wide_calls++;
    wide_rows += count;
    EXPECT(BP_TERM_COLUMN(match, uint8_t, 1, REGISTRY_MAX_FIELDS - 1)[count - 1] == 0, "no default");
    EXPECT(match->columns[1][0] != match->columns[0][0], "one column for two");
}

START_TEST(terms_ask_for_512_fields_at_most_and_are_cut_all_the_same)
{
    own_jobs_t own = {0, 0};
    bp_jobs_i jobs = {.context = &own, .threads = 4, .run = run_backwards};
    for (uint32_t i = 0; i < REGISTRY_MAX_FIELDS; i++) {
        snprintf(wide_names[i], sizeof wide_names[i], "f%u", i);
        wide_fields[i] = (bp_field_t){.name = wide_names[i], .type = BP_BOOL};
        wide_asked[i] = (bp_term_field_t){.name = wide_names[i], .type = BP_BOOL};
    }
    ck_assert_uint_eq(2 * REGISTRY_MAX_FIELDS + 2, TERMS_MAX_ASKED);
    bp_field_list_t all = {wide_fields, REGISTRY_MAX_FIELDS, sizeof wide_fields[0]};
    bp_term_field_list_t ask_all = {wide_asked, REGISTRY_MAX_FIELDS, sizeof wide_asked[0]};
    const bp_component_i wide[] = {{.name = "one", .fields = all},
                                   {.name = "two", .fields = all},
                                   {.name = "third", .fields = all}};
    const bp_term_t most[] = {{.component = "one", .fields = ask_all},
                              {.component = "two", .fields = ask_all},
                              {.component = "third", .fields = {wide_asked, 2, sizeof wide_asked[0]}}};
    const bp_term_t more[] = {most[0],
                              most[1],
                              {.component = "third", .fields = {wide_asked, 3, sizeof wide_asked[0]}}};
    bp_system_i counting[] = {
        {.name = "count", .flags = BP_SYSTEM_PARALLEL, .terms = BP_LIST(more), .run = count_calls}};
    const bp_plugin_head_t plugin = BP_PLUGIN_HEAD("wide", (&(const bp_plugin_desc_t){.version = "1",
                                     .components = BP_LIST(wide), .systems = BP_LIST(counting)}));
    const bp_plugin_head_t *const linked[] = {&plugin};
    bp_host_o *host = bp_host_create(
        &(bp_host_desc_t){.jobs = &jobs, .static_plugins = linked, .static_plugin_count = 1});
    FAILS(host, BP_ERROR_LIMIT, "its terms ask for 513 fields; at most 512 are allowed",
          bp_host_load_plugin(host, "wide", NULL, 0));
    counting[0].terms = (bp_term_list_t)BP_LIST(most);
    WORKS(host, bp_host_load_plugin(host, "wide", NULL, 0));
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "w"});
    for (uint32_t i = 0; i < COUNT(wide); i++)
        WORKS(host, bp_world_use_component(world, wide[i].name));
    WORKS(host, bp_world_use_system(world, "count"));
    static bp_entity_t entities[SCHEDULE_RANGE_ROWS + 1];
    uint32_t prototype = prototype_of(world, "one", "two", "third", NULL);
    WORKS(host, api_of(world)->world->create(world, prototype, entities, COUNT(entities)));
    wide_calls = wide_rows = 0;
    WORKS(host, bp_world_step(world));
    ck_assert_uint_eq(wide_rows, COUNT(entities));
    ck_assert_uint_eq(wide_calls, 17); /* sixteen ranges of 1,024 rows, and one row more */
    bp_host_destroy(host);
}
END_TEST

/* What docs/systems.md says of ranges: how many there are, and how many rows the largest has. */
static uint32_t range_calls, range_most;

static void note_range(const bp_match_t *match, uint32_t count)
{
    (void)match;
    range_calls++;
    range_most = count > range_most ? count : range_most;
}

START_TEST(a_range_is_a_sixteenth_of_a_run_from_512_rows_to_16384)
{
    static const struct { uint32_t rows, calls, most; } cases[] = {
        {512, 1, 512}, {513, 2, 512}, {4800, 10, 512}, {8193, 17, 512}, {8208, 15, 576},
        {16000, 16, 1024}, {262144, 16, 16384}, {300000, 19, 16384}};
    const bp_component_i one[] = {{.name = "one"}};
    const bp_term_t terms[] = {{.component = "one"}};
    const bp_system_i noting[] = {
        {.name = "note", .flags = BP_SYSTEM_PARALLEL, .terms = BP_LIST(terms), .run = note_range}};
    const bp_plugin_head_t plugin = BP_PLUGIN_HEAD("ranges", (&(const bp_plugin_desc_t){.version = "1",
                                     .components = BP_LIST(one), .systems = BP_LIST(noting)}));
    const bp_plugin_head_t *const linked[] = {&plugin};
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.static_plugins = linked, .static_plugin_count = 1});
    WORKS(host, bp_host_load_plugin(host, "ranges", NULL, 0));
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "w"});
    WORKS(host, bp_world_use_component(world, "one"));
    WORKS(host, bp_world_use_system(world, "note"));
    bp_entity_t *entities = malloc(cases[_i].rows * sizeof *entities);
    uint32_t prototype = prototype_of(world, "one", NULL, NULL, NULL);
    WORKS(host, api_of(world)->world->create(world, prototype, entities, cases[_i].rows));
    range_calls = range_most = 0;
    WORKS(host, bp_world_step(world));
    EXPECT(range_calls == cases[_i].calls && range_most == cases[_i].most, "%u rows: %u ranges of %u rows at most",
           cases[_i].rows, range_calls, range_most);
    bp_host_destroy(host);
    free(entities);
}
END_TEST

START_TEST(one_thread_needs_no_jobs)
{
    own_jobs_t own = {0, 0};
    bp_jobs_i jobs = {.context = &own, .threads = 1, .run = run_backwards};
    ck_assert_uint_eq(result_of(1, &jobs, ROWS), result_of(1, NULL, ROWS));
    ck_assert_uint_eq(own.batches, 0);
}
END_TEST

START_TEST(a_host_has_at_most_256_threads)
{
    ck_assert_ptr_null(bp_host_create(&(bp_host_desc_t){.threads = JOBS_MAX_THREADS + 1}));
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.threads = JOBS_MAX_THREADS});
    ck_assert_ptr_nonnull(host);
    ck_assert_uint_eq(host->crew.jobs.threads, JOBS_MAX_THREADS);
    bp_host_destroy(host);
}
END_TEST

START_TEST(a_host_changes_its_number_of_threads)
{
    bp_host_o *host = bp_host_create(NULL);
    ck_assert_uint_eq(host->crew.jobs.threads, 1);
    for (uint32_t threads = 2; threads < 6; threads++) {
        WORKS(host, host_set_threads(host, threads));
        ck_assert_uint_eq(host->crew.jobs.threads, threads);
    }
    FAILS(host, BP_ERROR_LIMIT, "300 threads; at most 256", host_set_threads(host, 300));
    ck_assert_uint_eq(host->crew.jobs.threads, 5);
    bp_host_destroy(host);
}
END_TEST

/* --- sentences -------------------------------------------------------------------------------------------- */

/* Even ranges fail twice, the others find that nothing has failed in theirs, whichever range ran before on their
 * thread. */
static _Atomic uint32_t ranges_wrong;

static void complain(const bp_match_t *match, uint32_t count)
{
    const bp_api_t *api = match->system->api;
    bp_host_o *host = match->system->host;
    uint32_t marker = 0;
    char text[64];
    (void)count;
    ranges_wrong += strcmp(api->error->last(host), "") != 0;
    if (match->range % 2 == 1)
        return;
    bp_property_t property = *(const bp_property_t *)match->system->state;
    bp_entity_t dead = {0};
    ranges_wrong += api->property->get(match->system->world, &property, &dead, 1, &marker, sizeof marker) == BP_OK;
    ranges_wrong += strstr(api->error->last(host), "entity") == NULL;
    snprintf(text, sizeof text, "range %u of %s", match->range, api->world->name(match->system->world));
    ranges_wrong += api->error->set(host, BP_ERROR_FAILED, text) != BP_ERROR_FAILED;
    for (uint32_t i = 0; i < 100; i++)
        ranges_wrong += strcmp(api->error->last(host), text) != 0;
}

static bp_result_t complain_start(bp_system_t *s)
{
    s->state = s->api->memory->resize(s->plugin, NULL, 0, sizeof(bp_property_t));
    return s->api->property->resolve(s->world, (bp_entity_t){0}, "rung", "mass", s->state);
}

static void complain_stop(bp_system_t *s)
{
    s->api->memory->resize(s->plugin, s->state, sizeof(bp_property_t), 0);
}

static const bp_field_t rung_fields[] = {{.name = "mass", .type = BP_F32}};
static const bp_component_i rungs[] = {{.name = "rung", .fields = BP_LIST(rung_fields)}};
static const bp_term_t rung_terms[] = {{.component = "rung", .fields = BP_LIST(mass_only)}};
static const bp_system_i complaining[] = {{.name = "complain",
                                           .flags = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT,
                                           .terms = BP_LIST(rung_terms),
                                           .start = complain_start,
                                           .stop = complain_stop,
                                           .run = complain},
                                          {.name = "complain_too",
                                           .flags = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT,
                                           .terms = BP_LIST(rung_terms),
                                           .start = complain_start,
                                           .stop = complain_stop,
                                           .run = complain}};
static const bp_plugin_head_t complainer = BP_PLUGIN_HEAD("complainer", (&(const bp_plugin_desc_t){.version = "1",
                                          .components = BP_LIST(rungs), .systems = BP_LIST(complaining)}));

/* The sentences that the step has collected: one for each even range, world after world, of which the first 8 stay. */
static void expect_collected(bp_host_o *host, uint32_t worlds, uint32_t ranges)
{
    const bp_api_t *api = bp_host_api(host);
    bp_call_failure_t failure = {.struct_size = sizeof failure};
    struct { uint32_t struct_size, range, guard; } older = {.struct_size = 8, .guard = 77};
    uint32_t of_each = (ranges + 1) / 2, found = 0;
    for (; api->error->of_call(host, found, &failure) != 0; found++) {
        char text[64];
        const char *world = found < of_each ? "first" : "second";
        snprintf(text, sizeof text, "range %u of %s", found % of_each * 2, world);
        ck_assert_str_eq(failure.text, text);
        ck_assert_str_eq(failure.world, world);
        ck_assert_str_eq(failure.unit, "complain");
        ck_assert_uint_eq(failure.range, found % of_each * 2);
        ck_assert_uint_eq(failure.failed, worlds * of_each);
    }
    ck_assert_uint_eq(found, 8);
    ck_assert_uint_eq(api->error->of_call(host, 1, (bp_call_failure_t *)&older), 1);
    ck_assert_uint_eq(older.range, 2);
    ck_assert_uint_eq(older.guard, 77);
}

/* A step in which nothing fails has collected nothing. */
static void expect_nothing_collected(bp_host_o *host)
{
    bp_call_failure_t failure = {.struct_size = sizeof failure};
    for (uint32_t w = 0; w < host->destruction.world_count; w++)
        WORKS(host, bp_world_drop_system(host_world(host, w), "complain"));
    ck_assert_uint_eq(bp_host_api(host)->error->of_call(host, 0, &failure), 1);
    WORKS(host, bp_host_step(host));
    ck_assert_uint_eq(bp_host_api(host)->error->of_call(host, 0, &failure), 0);
}

static void count_sentence(void *context, int32_t level, const char *source, const char *text)
{
    uint32_t *logged = context;
    (void)level;
    *logged += strcmp(source, "complain") == 0 && strncmp(text, "world 'first', range ", 21) == 0;
}

/* One world; then two that step side by side, of which the second is the last in the order. */
static void expect_sentences(uint32_t threads, const bp_jobs_i *jobs)
{
    enum { MANY = 40000 };
    const bp_plugin_head_t *heads[] = {&complainer};
    uint32_t logged = 0;
    const bp_log_i log = {.context = &logged, .write = count_sentence};
    bp_host_desc_t desc = {.threads = threads, .static_plugins = heads, .static_plugin_count = 1, .log = &log};
    bp_entity_t *entities = malloc(MANY * sizeof *entities);
    if (jobs != NULL)
        desc.jobs = jobs;
    bp_host_o *host = bp_host_create(&desc);
    WORKS(host, bp_host_load_plugin(host, "complainer", NULL, 0));
    for (uint32_t w = 0; w < 2; w++) {
        const char *name = w == 0 ? "first" : "second";
        char last[64];
        bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = name});
        WORKS(host, bp_world_use_component(world, "rung"));
        WORKS(host, api_of(world)->world->create(world, prototype_of(world, "rung", NULL, NULL, NULL), entities, MANY));
        WORKS(host, bp_world_use_system(world, "complain"));
        snprintf(last, sizeof last, "range %u of %s", (MANY - 1) / 2560 / 2 * 2, name);
        for (uint32_t i = 0; i < 20; i++) {
            WORKS(host, bp_host_step(host));
            EXPECT(strcmp(bp_host_error(host), last) == 0, "the last sentence is \"%s\" and not \"%s\"",
                   bp_host_error(host), last);
            expect_collected(host, w + 1, (MANY - 1) / 2560 + 1);
            ck_assert_uint_eq(logged, 8); /* each once, and not in each step */
        }
    }
    ck_assert_uint_eq(ranges_wrong, 0);
    expect_nothing_collected(host);
    bp_host_destroy(host);
    free(entities);
}

/* Ranges are counted from 0 for each unit. */
START_TEST(what_several_units_have_failed_in_is_told_with_the_range_of_each)
{
    enum { FEW = 4 * SCHEDULE_LEAST_RANGE }; /* four ranges, of which two fail */
    static bp_entity_t entities[FEW];
    static const char *const units[] = {"complain", "complain_too"};
    const bp_plugin_head_t *heads[] = {&complainer};
    bp_host_o *host =
        bp_host_create(&(bp_host_desc_t){.threads = 3, .static_plugins = heads, .static_plugin_count = 1});
    bp_call_failure_t failure = {.struct_size = sizeof failure};
    uint32_t found[2] = {0, 0};
    WORKS(host, bp_host_load_plugin(host, "complainer", NULL, 0));
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "first"});
    WORKS(host, bp_world_use_component(world, "rung"));
    WORKS(host, api_of(world)->world->create(world, prototype_of(world, "rung", NULL, NULL, NULL), entities, FEW));
    for (uint32_t i = 0; i < 2; i++)
        WORKS(host, bp_world_use_system(world, units[i]));
    ranges_wrong = 0;
    WORKS(host, bp_world_step(world));
    for (uint32_t i = 0; api_of(world)->error->of_call(host, i, &failure) != 0; i++) {
        uint32_t unit = strcmp(failure.unit, units[1]) == 0;
        ck_assert_uint_eq(failure.range, 2 * found[unit]++);
        ck_assert(unit == 1 || found[1] == 0);
    }
    ck_assert(found[0] == 2 && found[1] == 2);
    ck_assert_uint_eq(ranges_wrong, 0);
    bp_host_destroy(host);
}
END_TEST

START_TEST(failures_in_jobs_keep_their_sentences_and_the_step_collects_them)
{
    own_jobs_t own = {0, 0};
    bp_jobs_i backwards = {.context = &own, .threads = 4, .run = run_backwards};
    ranges_wrong = 0;
    expect_sentences(1, NULL);
    expect_sentences(2, NULL);
    expect_sentences(4, NULL);
    expect_sentences(4, &backwards);
}
END_TEST

/* --- the suite ------------------------------------------------------------------------------------------ */

Suite *threads_suite(void)
{
    Suite *suite = suite_create("threads");
    TCase *pool = tcase_create("pool");
    tcase_add_checked_fixture(pool, begin_base, end_base);
    tcase_set_timeout(pool, 240);
    tcase_add_loop_test(pool, the_pool_runs_each_job_once, 0, 5);
    tcase_add_test(pool, pools_come_and_go);
    tcase_add_test(pool, uneven_jobs_are_all_done_when_a_batch_returns);
    tcase_add_test(pool, the_jobs_of_every_batch_are_shared);
    tcase_add_test(pool, a_pool_without_memory_is_an_error);
    suite_add_tcase(suite, pool);
    TCase *steps = tcase_create("steps");
    tcase_set_timeout(steps, 240);
    tcase_add_test(steps, results_are_the_same_bits_on_any_number_of_threads);
    tcase_add_test(steps, all_threads_of_a_step_round_as_the_thread_that_steps);
    tcase_add_test(steps, each_setting_that_decides_about_results_is_taken_over_and_put_back);
    tcase_add_loop_test(steps, any_number_of_rows_is_cut_right, 0, 5);
    tcase_add_loop_test(steps, a_range_is_a_sixteenth_of_a_run_from_512_rows_to_16384, 0, 8);
    tcase_add_test(steps, an_embedders_jobs_are_used_instead_of_the_pool);
    tcase_add_test(steps, terms_ask_for_512_fields_at_most_and_are_cut_all_the_same);
    tcase_add_test(steps, one_thread_needs_no_jobs);
    tcase_add_test(steps, a_host_has_at_most_256_threads);
    tcase_add_test(steps, a_host_changes_its_number_of_threads);
    tcase_add_test(steps, what_several_units_have_failed_in_is_told_with_the_range_of_each);
    tcase_add_test(steps, failures_in_jobs_keep_their_sentences_and_the_step_collects_them);
    suite_add_tcase(suite, steps);
    return suite;
}
