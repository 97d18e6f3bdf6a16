/* test_reload_threads.c - reloads between steps of several threads: the same bits on any number of them, with keys held
 *across.
 *
 * The plugin is tests/fixtures/flock.h in two versions. A plugin of the test's own, which is not reloaded, holds a
 * property key of the flock's birds and reads through it from jobs, beside systems that write them in turn. Two worlds
 * step side by side; versions change while their steps are apart.
 *
 * This suite also runs under ThreadSanitizer: what a reload leaves to other threads, or a thread to the next reload, is
 * a race there.
 */
#include "../suites.h"
#include "reload_support.h"

#include "os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BIRDS = 4000, STEPS = 4, HOSTS = 3 };

/* --- a plugin that holds a key ------------------------------------------------------------------------------------ */

static const bp_field_t seen_fields[] = {{.name = "value", .type = BP_U32}};
static const bp_component_i components[] = {{.name = "seen", .fields = BP_LIST(seen_fields)}};
static const bp_term_field_t seen_value[] = {{.name = "value", .type = BP_U32, .access = BP_WRITE}};
static const bp_term_t terms[] = {{.component = "seen", .fields = BP_LIST(seen_value)}};

static bp_result_t hold(bp_system_t *s)
{
    bp_property_t *held = s->api->memory->resize(s->plugin, NULL, 0, sizeof *held);
    if (held == NULL)
        return BP_ERROR_MEMORY;
    s->state = held;
    return s->api->property->resolve(s->world, (bp_entity_t){0}, "bird", "value", held);
}

static void let_go(bp_system_t *s)
{
    s->api->memory->resize(s->plugin, s->state, sizeof(bp_property_t), 0);
}

static void look(const bp_match_t *match, uint32_t count)
{
    uint32_t *value = BP_TERM_COLUMN(match, uint32_t, 0, 0);
    bp_property_t held = *(const bp_property_t *)match->system->state;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t seen = 0;
        if (match->entities[i].id != 0 &&
            match->system->api->property->get(match->system->world, &held, &match->entities[i], 1, &seen,
                                              sizeof seen) == BP_OK)
            value[i] += seen;
    }
}

static const bp_system_i systems[] = {{.name = "look",
                                       .flags = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT,
                                       .terms = BP_LIST(terms),
                                       .reads = "bird",
                                       .start = hold,
                                       .stop = let_go,
                                       .run = look}};
static const bp_plugin_head_t holder =
    BP_PLUGIN_HEAD("holder", (&(const bp_plugin_desc_t){.version = "1",
                                                        .components = BP_LIST(components),
                                                        .systems = BP_LIST(systems)}));
static const bp_plugin_head_t *const linked[] = {&holder};

/* --- a flock in a folder of its own ------------------------------------------------------------------------------- */

typedef struct flock_t {
    char folder[1024], path[1024];
    uint32_t threads;
    bool own_jobs;
    bp_host_o *host;
    bp_world_o *worlds[2];
    log_text_t log;
    char *result;
} flock_t;

static void run_backwards(void *context, void (*job)(void *data, uint32_t index), void *data, uint32_t count)
{
    (void)context;
    while (count > 0)
        job(data, --count);
}

/* The other version in the place of the one before, by renaming. */
static void put(const flock_t *flock, const char *fixture)
{
    char aside[1032];
    size_t size;
    snprintf(aside, sizeof aside, "%s.new", flock->path);
    char *bytes = fixture_bytes(fixture, &size);
    FILE *file = fopen(aside, "wb");
    EXPECT(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0 && move_over(aside, flock->path),
           "%s is not written", aside);
    free(bytes);
}

static bp_world_o *open_world(const flock_t *flock, const char *name)
{
    static const char *const names[] = {"fly", "warm", "lay", "look"};
    static const char *const types[] = {"bird", "egg", "seen"};
    bp_entity_t *e = malloc(BIRDS * sizeof *e);
    uint32_t prototypes[2], keys[2];
    const bp_api_t *api = bp_host_api(flock->host);
    bp_world_o *world = bp_world_create(flock->host, &(bp_world_desc_t){.name = name, .step_rate = 60});
    for (uint32_t i = 0; i < COUNT(types); i++)
        WORKS(flock->host, bp_world_use_component(world, types[i]));
    WORKS(flock->host, api->world->key(world, api->world->component(world, "bird"), 0, &keys[0]));
    WORKS(flock->host, api->world->key(world, api->world->component(world, "seen"), 0, &keys[1]));
    for (uint32_t p = 0; p < 2; p++) {
        WORKS(flock->host, api->world->prototype(world, keys, p + 1, &prototypes[p]));
        WORKS(flock->host, api->world->create(world, prototypes[p], e, BIRDS / 2));
        for (uint32_t i = 0; i < BIRDS / 2; i++)
            WORKS(flock->host,
                  api->property->set_named(world, e[i], "bird", "value", BP_U32, &(uint32_t){i * 7919 + p}));
    }
    free(e);
    for (uint32_t i = 0; i < COUNT(names); i++)
        WORKS(flock->host, bp_world_use_system(world, names[i]));
    return world;
}

static void open_flock(flock_t *flock, const char *name, uint32_t threads, bool own_jobs)
{
    memset(flock, 0, sizeof *flock);
    snprintf(flock->folder, sizeof flock->folder, "%s/%s", TEST_SCRATCH_DIR, name);
    snprintf(flock->path, sizeof flock->path, "%s/%s/flock" TEST_SO, TEST_SCRATCH_DIR, name);
    os_folder_create(flock->folder);
    flock->threads = threads;
    flock->own_jobs = own_jobs;
}

static void change_to(flock_t *flock, const char *fixture)
{
    static const char *const names[] = {"flock"};
    bp_reload_report_t report = {.struct_size = sizeof report};
    put(flock, fixture);
    EXPECT(bp_host_reload(flock->host, names, 1, &report) == BP_OK, "%s", report.text);
}

static void step(const flock_t *flock)
{
    for (uint32_t i = 0; i < STEPS; i++)
        WORKS(flock->host, bp_host_step(flock->host));
}

/* Each bird has been told how many there are: all that match when `land` comes in, whenever they came. */
static void expect_all_told(const flock_t *flock, bp_world_o *world, uint32_t birds)
{
    const bp_api_t *api = bp_host_api(flock->host);
    uint32_t key = key_of(world, "bird", ""), told = 0, seen = 0;
    for (uint32_t i = 0; i < 4 * BIRDS; i++) {
        bp_entity_t e = api->entity->at(flock->host, i);
        if (api->world->has(world, key, &e, 1, NULL) == 0)
            continue;
        WORKS(flock->host, api->property->get_named(world, e, "bird", "extra", BP_U32, &told));
        EXPECT(told == birds, "a bird has been told of %u birds; there were %u", told, birds);
        seen++;
    }
    EXPECT(seen > BIRDS / 4 && seen <= birds, "%u of %u birds are there", seen, birds);
}

static uint32_t count_birds(const flock_t *flock, bp_world_o *world)
{
    const bp_api_t *api = bp_host_api(flock->host);
    uint32_t key = key_of(world, "bird", ""), count = 0;
    for (uint32_t i = 0; i < 4 * BIRDS; i++) {
        bp_entity_t e = api->entity->at(flock->host, i);
        count += api->world->has(world, key, &e, 1, NULL);
    }
    return count;
}

static void open_host(flock_t *flock)
{
    static const char *const names[] = {"one", "two"};
    bp_host_desc_t desc = {.threads = flock->threads,
                           .tag = 1,
                           .seed = 3,
                           .log = log_into(&flock->log),
                           .static_plugins = linked,
                           .static_plugin_count = 1};
    const bp_jobs_i backwards = {.threads = flock->threads, .run = run_backwards};
    if (flock->own_jobs)
        desc.jobs = &backwards;
    put(flock, "flock_first");
    flock->host = bp_host_create(&desc);
    WORKS(flock->host, bp_host_load_plugin(flock->host, flock->path, NULL, 0));
    WORKS(flock->host, bp_host_load_plugin(flock->host, "holder", NULL, 0));
    for (uint32_t w = 0; w < 2; w++)
        flock->worlds[w] = open_world(flock, names[w]);
}

static void close_host(flock_t *flock)
{
    bp_host_destroy(flock->host);
    EXPECT(strstr(flock->log.text, "not given back") == NULL, "memory is kept:\n%s", flock->log.text);
    remove(flock->path);
    rmdir(flock->folder);
}

/* Steps of the first version, of the second, with a newcomer, and of the first again. */
static void live(void *data)
{
    flock_t *flock = data;
    uint32_t birds[2];
    open_host(flock);
    step(flock);
    change_to(flock, "flock_next");
    for (uint32_t w = 0; w < 2; w++) {
        birds[w] = count_birds(flock, flock->worlds[w]);
        WORKS(flock->host, bp_world_use_system(flock->worlds[w], "land"));
    }
    WORKS(flock->host, bp_host_step(flock->host));
    for (uint32_t w = 0; w < 2; w++)
        expect_all_told(flock, flock->worlds[w], birds[w]);
    step(flock);
    change_to(flock, "flock_first");
    step(flock);
    check_host(flock->host);
    flock->result = describe_host(flock->host);
    char *line = strstr(flock->result, "threads"); /* the one thing that differs */
    while (line != NULL && *line != '\0' && *line != '\n')
        *line++ = ' ';
    close_host(flock);
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

START_TEST(reloads_between_steps_come_to_the_same_bits_on_any_number_of_threads)
{
    static const struct { uint32_t threads; bool own_jobs; const char *name; } others[] = {
        {2, false, "two threads"}, {4, false, "four threads"}, {3, true, "jobs backwards"}};
    flock_t one, other;
    for (uint32_t i = 0; i < COUNT(others); i++) {
        open_flock(&one, "flock_bits", 1, false);
        live(&one);
        ck_assert_uint_gt(strlen(one.result), 100000);
        open_flock(&other, "flock_bits", others[i].threads, others[i].own_jobs);
        live(&other);
        expect_same(one.result, other.result, others[i].name);
    }
}
END_TEST

START_TEST(hosts_on_threads_of_their_own_step_and_reload_side_by_side)
{
    static flock_t flocks[HOSTS];
    os_thread_t threads[HOSTS];
    for (uint32_t i = 0; i < HOSTS; i++) {
        char name[32];
        snprintf(name, sizeof name, "flock_beside_%u", i);
        open_flock(&flocks[i], name, i + 1, false);
    }
    for (uint32_t i = 0; i < HOSTS; i++)
        ck_assert(os_thread_start(&threads[i], live, &flocks[i]));
    for (uint32_t i = 0; i < HOSTS; i++)
        os_thread_join(threads[i]);
    for (uint32_t i = 1; i < HOSTS; i++)
        EXPECT(strcmp(flocks[0].result, flocks[i].result) == 0, "host %u came to other bits", i);
    for (uint32_t i = 0; i < HOSTS; i++)
        free(flocks[i].result);
}
END_TEST

/* What becomes of the system `land`, which the first version lacks: gone at once, gone when the probation is over, or
   back again. */
START_TEST(a_system_that_goes_is_stopped_once_it_cannot_come_back)
{
    static flock_t flock;
    open_flock(&flock, "flock_gone", 1, false);
    open_host(&flock);
    change_to(&flock, "flock_next");
    WORKS(flock.host, bp_world_use_system(flock.worlds[0], "land"));
    step(&flock);
    flock.host->reload.probation_steps = _i == 0 ? 0 : 2;
    change_to(&flock, "flock_first");
    if (_i == 2) {
        WORKS(flock.host, reload_rollback(&flock.host->reload));
        FAILS(flock.host, BP_ERROR_EXISTS, "has system 'land' already", bp_world_use_system(flock.worlds[0], "land"));
    }
    step(&flock);
    check_host(flock.host);
    close_host(&flock);
}
END_TEST

START_TEST(a_system_that_a_world_gets_meanwhile_ends_the_probation)
{
    static flock_t flock;
    open_flock(&flock, "flock_late", 1, false);
    open_host(&flock);
    flock.host->reload.probation_steps = 5;
    change_to(&flock, "flock_next");
    WORKS(flock.host, bp_world_use_system(flock.worlds[0], "land"));
    FAILS(flock.host, BP_ERROR_STATE, "on probation", reload_rollback(&flock.host->reload));
    step(&flock);
    check_host(flock.host);
    close_host(&flock);
}
END_TEST

/* A thread that belongs to a plugin may allocate at any time, while versions change too. What it takes and gives back
   is not told as a leak. */
START_TEST(a_thread_that_allocates_during_reloads_leaves_the_accounts_right)
{
    static const char *const names[] = {"worker_thread"};
    static log_text_t log;
    log.text[0] = '\0';
    const char *path = put_plugin("worker_thread", "worker_thread");
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log), .flags = BP_HOST_COPY_PLUGINS});
    WORKS(host, bp_host_load_plugin(host, path, NULL, 0));
    host->reload.probation_steps = _i == 0 ? 0 : 1;
    for (uint32_t i = 0; i < 30; i++) {
        WORKS(host, bp_host_reload(host, names, 1, NULL));
        if (_i == 2)
            WORKS(host, reload_rollback(&host->reload));
        WORKS(host, bp_host_step(host));
    }
    bp_host_destroy(host);
    EXPECT(strstr(log.text, "not given back") == NULL, "a leak is told that is none:\n%s", log.text);
}
END_TEST

static void take_and_give_back(void *plugin)
{
    plugin_resize(plugin, plugin_resize(plugin, NULL, 0, 50), 50, 0);
}

/* Once a change has ended, other threads take memory for the version in place, and what that one leaves when the next
 * one comes is told. */
START_TEST(what_a_version_leaves_is_told_though_a_thread_has_allocated_after_a_reload)
{
    static const char *const names[] = {"caller"};
    static log_text_t log;
    os_thread_t thread;
    KEEPS_MEMORY();
    log.text[0] = '\0';
    const char *path = put_plugin("caller_first", "caller");
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log), .flags = BP_HOST_COPY_PLUGINS});
    WORKS(host, bp_host_load_plugin(host, path, NULL, 0));
    WORKS(host, bp_host_reload(host, names, 1, NULL));
    plugin_t *plugin = loader_find(&host->loader, "caller");
    ck_assert(os_thread_start(&thread, take_and_give_back, plugin));
    os_thread_join(thread);
    ck_assert_ptr_nonnull(plugin_resize(plugin, NULL, 0, 100));
    EXPECT(strstr(log.text, "not given back") == NULL, "%s", log.text);
    WORKS(host, bp_host_reload(host, names, 1, NULL));
    EXPECT(strstr(log.text, "100 bytes of its memory were not given back") != NULL, "%s", log.text);
    bp_host_destroy(host);
}
END_TEST

Suite *reload_threads_suite(void)
{
    Suite *suite = suite_create("reload_threads");
    TCase *tcase = tcase_create("threads");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, reloads_between_steps_come_to_the_same_bits_on_any_number_of_threads);
    tcase_add_test(tcase, hosts_on_threads_of_their_own_step_and_reload_side_by_side);
    tcase_add_loop_test(tcase, a_system_that_goes_is_stopped_once_it_cannot_come_back, 0, 3);
    tcase_add_test(tcase, a_system_that_a_world_gets_meanwhile_ends_the_probation);
    tcase_add_loop_test(tcase, a_thread_that_allocates_during_reloads_leaves_the_accounts_right, 0, 3);
    tcase_add_test(tcase, what_a_version_leaves_is_told_though_a_thread_has_allocated_after_a_reload);
    suite_add_tcase(suite, tcase);
    return suite;
}
