/* test_posts.c - tasks that threads of plugins post: carried out between steps by the version whose thread posted them,
 * or dropped with a word; and the wait of the main thread for them.
 *
 * The plugin with threads is tests/fixtures/poster.h in several versions; what needs no thread is done by a plugin that
 * is linked in. This suite also runs under ThreadSanitizer.
 */
#include "../fixtures/poster.h"
#include "../suites.h"
#include "../system/calls.h"
#include "reload_support.h"

#include "engine/host.h"
#include "os/os.h"
#include "reload/process.h"

#include <bp_clock.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = {"poster"};

/* --- a plugin that is linked in ----------------------------------------------------------------------------------- */

typedef struct heard_t {
    char text[512];
    bp_plugin_t *plugin;
    const bp_task_api *tasks;
    bp_host_o *host;
    bp_world_o *world;
} heard_t;

static heard_t heard;

static bp_result_t load_linked(bp_plugin_t *plugin)
{
    heard.plugin = plugin;
    heard.tasks = (const bp_task_api *)plugin->api->registry->find(plugin->host, BP_TASK_API, 1);
    return heard.tasks != NULL ? BP_OK : BP_ERROR_NOT_FOUND;
}

static void hear(bp_plugin_t *plugin, const void *bytes, size_t size)
{
    size_t length = strlen(heard.text);
    ck_assert_ptr_eq(plugin, heard.plugin);
    ck_assert_uint_eq((uintptr_t)bytes % 16, 0);
    ck_assert((bytes == NULL) == (size == 0));
    snprintf(heard.text + length, sizeof heard.text - length, "[%.*s]", (int)size,
             size == 0 ? "" : (const char *)bytes);
}

static void hear_and_post(bp_plugin_t *plugin, const void *bytes, size_t size)
{
    hear(plugin, bytes, size);
    ck_assert_int_eq(heard.tasks->post(plugin, "hear", "again", 5), BP_OK);
}

/* What brings or ends plugins, steps or waits is refused; what changes worlds is not. */
static void try_all(bp_plugin_t *plugin, const void *bytes, size_t size)
{
    bp_host_o *host = plugin->host;
    bp_entity_t entity;
    (void)bytes, (void)size;
    FAILS(host, BP_ERROR_STATE, "inside a posted task", bp_host_poll(host));
    FAILS(host, BP_ERROR_STATE, "inside a posted task", bp_host_wait(host, 0));
    FAILS(host, BP_ERROR_STATE, "inside a posted task", bp_host_load_plugin(host, "zoo", NULL, 0));
    FAILS(host, BP_ERROR_STATE, "inside a posted task", bp_host_unload_plugin(host, "linked"));
    FAILS(host, BP_ERROR_STATE, "inside a posted task", bp_host_step(host));
    FAILS(host, BP_ERROR_STATE, "inside a posted task", bp_world_step(heard.world));
    FAILS(host, BP_ERROR_STATE, "inside a posted task", bp_host_reload(host, names, 1, NULL));
    WORKS(host, plugin->api->entity->create(host, &entity, 1));
    ck_assert_uint_eq(plugin->api->entity->destroy(host, &entity, 1), 1);
    _Alignas(16) char tried[] = "tried";
    hear(plugin, tried, 5);
}

/* What is posted before and in it waits. */
static void run_inside(bp_plugin_t *plugin, const void *bytes, size_t size)
{
    posts_t *posts = &heard.host->loader.posts;
    hear(plugin, bytes, size);
    ck_assert_int_eq(heard.tasks->post(plugin, "hear", "later", 5), BP_OK);
    ck_assert_uint_eq(posts_run(posts), 0);
    hear(plugin, NULL, 0);
}

static const bp_task_t linked_tasks[] = {{"run_inside", run_inside},
                                         {"hear", hear}, {.run = hear_and_post}, {"try_all", try_all}};
static const bp_plugin_head_t linked = BP_PLUGIN_HEAD(
    "linked", (&(const bp_plugin_desc_t){.version = "1", .load = load_linked, .tasks = BP_LIST(linked_tasks)}));
static const bp_plugin_head_t *const all_linked[] = {&linked};

static void open_linked(rig_t *rig)
{
    memset(&heard, 0, sizeof heard);
    rig_open_with(rig, all_linked, 1);
    WORKS(rig->host, bp_host_load_plugin(rig->host, "linked", NULL, 0));
    heard.host = rig->host;
    heard.world = bp_world_create(rig->host, &(bp_world_desc_t){.name = "main"});
}

static void expect_heard(const char *text)
{
    EXPECT(strcmp(heard.text, text) == 0, "heard was %s and not %s", heard.text, text);
    heard.text[0] = '\0';
}

START_TEST(what_is_posted_is_carried_out_in_order_by_the_next_poll)
{
    static rig_t rig;
    char bytes[] = "one";
    open_linked(&rig);
    ck_assert_int_eq(heard.tasks->post(heard.plugin, "hear", bytes, 3), BP_OK);
    memcpy(bytes, "two", 3); /* it has its own copy of the bytes */
    ck_assert_int_eq(heard.tasks->post(heard.plugin, "linked", bytes, 3), BP_OK);
    ck_assert_int_eq(heard.tasks->post(heard.plugin, "hear", NULL, 0), BP_OK);
    ck_assert_int_eq(heard.tasks->post(heard.plugin, "hear", "3", 1), BP_OK);
    WORKS(rig.host, bp_host_step(rig.host));
    expect_heard("");
    WORKS(rig.host, bp_host_poll(rig.host));
    expect_heard("[one][two][][3]");
    WORKS(rig.host, bp_host_wait(rig.host, UINT64_MAX)); /* what a task posts is for the next time */
    expect_heard("[again]");
    WORKS(rig.host, bp_host_poll(rig.host));
    expect_heard("");
    rig_close(&rig);
}
END_TEST

static uint32_t times_told(const rig_t *rig, const char *what)
{
    uint32_t times = 0;
    for (const char *at = rig->log.text; (at = strstr(at, what)) != NULL; at++)
        times++;
    return times;
}

/* Threads of a plugin that has crashed may go on posting for as long as the host runs. */
START_TEST(that_tasks_of_a_plugin_set_aside_are_dropped_is_told_once_until_it_works_again)
{
    static rig_t rig;
    open_linked(&rig);
    plugin_t *plugin = rig.host->loader.plugins.items[rig.host->loader.plugins.count - 1];
    ck_assert_str_eq(plugin->name, "linked");
    for (uint32_t round = 1; round <= 2; round++) {
        plugin_set_aside(plugin);
        for (int i = 0; i < 3; i++) {
            ck_assert_int_eq(heard.tasks->post(heard.plugin, "hear", "dropped", 7), BP_OK);
            WORKS(rig.host, bp_host_poll(rig.host));
            expect_heard("");
            ck_assert_uint_eq(times_told(&rig, "the plugin has crashed, and is set aside"), round);
        }
        plugin_trust(plugin);
        ck_assert_int_eq(heard.tasks->post(heard.plugin, "hear", "well", 4), BP_OK);
        WORKS(rig.host, bp_host_poll(rig.host));
        expect_heard("[well]");
    }
    rig.log.text[0] = '\0';
    rig.log.count = 0;
    rig_close(&rig);
}
END_TEST

START_TEST(tasks_are_not_carried_out_from_inside_a_task)
{
    static rig_t rig;
    open_linked(&rig);
    ck_assert_int_eq(heard.tasks->post(heard.plugin, "run_inside", "first", 5), BP_OK);
    ck_assert_int_eq(heard.tasks->post(heard.plugin, "hear", "second", 6), BP_OK);
    WORKS(rig.host, bp_host_poll(rig.host));
    expect_heard("[first][][second]");
    WORKS(rig.host, bp_host_poll(rig.host));
    expect_heard("[later]");
    rig_close(&rig);
}
END_TEST

/* While all worlds are stopped programs go on polling, and a stopped world is no reason not to change it. */
START_TEST(a_stopped_host_carries_out_what_is_posted)
{
    static rig_t rig;
    open_linked(&rig);
    const bp_clock_api *clock = (const bp_clock_api *)rig.api->registry->find(rig.host, BP_CLOCK_API, 1);
    clock->stop(heard.world);
    WORKS(rig.host, bp_host_step(rig.host));
    ck_assert_int_eq(heard.tasks->post(heard.plugin, "hear", "stopped", 7), BP_OK);
    ck_assert_int_eq(heard.tasks->post(heard.plugin, "try_all", NULL, 0), BP_OK);
    WORKS(rig.host, bp_host_poll(rig.host));
    expect_heard("[stopped][tried]");
    bp_step_t now = {.struct_size = sizeof now};
    rig.api->world->clock(heard.world, &now);
    ck_assert_uint_eq(now.number, 0);
    rig.log.text[0] = '\0'; /* the reload that was refused */
    rig.log.count = 0;
    rig_close(&rig);
}
END_TEST

START_TEST(a_task_changes_worlds_and_no_plugins)
{
    static rig_t rig;
    open_linked(&rig);
    ck_assert_int_eq(heard.tasks->post(heard.plugin, "try_all", NULL, 0), BP_OK);
    WORKS(rig.host, bp_host_poll(rig.host));
    expect_heard("[tried]");
    rig.log.text[0] = '\0'; /* the reload that was refused */
    rig.log.count = 0;
    rig_close(&rig);
}
END_TEST

START_TEST(what_cannot_be_posted_is_refused_by_its_code)
{
    static rig_t rig;
    char long_name[65];
    open_linked(&rig);
    memset(long_name, 'x', 64);
    long_name[64] = '\0';
    ck_assert_int_eq(heard.tasks->post(heard.plugin, NULL, NULL, 0), BP_ERROR_ARGUMENT);
    ck_assert_int_eq(heard.tasks->post(heard.plugin, "", NULL, 0), BP_ERROR_ARGUMENT);
    ck_assert_int_eq(heard.tasks->post(heard.plugin, long_name, NULL, 0), BP_ERROR_ARGUMENT);
    ck_assert_int_eq(heard.tasks->post(heard.plugin, "hear", NULL, 1), BP_ERROR_ARGUMENT);
    ck_assert_int_eq(heard.tasks->post(heard.plugin, "hear", "", SIZE_MAX), BP_ERROR_LIMIT);
    rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + 1;
    ck_assert_int_eq(heard.tasks->post(heard.plugin, "hear", "x", 1), BP_ERROR_MEMORY);
    WORKS(rig.host, bp_host_poll(rig.host));
    expect_heard("");
    rig_close(&rig);
}
END_TEST

/* However long the host does not poll, posts take a limited amount of memory, and all of it can be used again. */
START_TEST(posts_that_wait_take_so_much_memory_and_no_more)
{
    static rig_t rig;
    enum { BLOCK = 1 << 20 };
    char *const block = room_of(BLOCK);
    uint32_t round, count = 0;
    open_linked(&rig);
    for (round = 0; round < 2; round++) {
        for (count = 0; heard.tasks->post(heard.plugin, "hear", block, BLOCK) == BP_OK; count++)
            ;
        ck_assert_uint_eq(count, BP_TASK_MOST_BYTES / BLOCK - 1);
        WORKS(rig.host, bp_host_poll(rig.host));
    }
    rig_close(&rig);
}
END_TEST

START_TEST(what_nobody_declares_is_dropped_and_so_is_what_an_unloaded_plugin_left)
{
    static rig_t rig;
    open_linked(&rig);
    ck_assert_int_eq(heard.tasks->post(heard.plugin, "heer", "x", 1), BP_OK);
    WORKS(rig.host, bp_host_poll(rig.host));
    ck_assert_str_eq(rig.log.text, "linked: 2: 1 posted task was not carried out ('heer'): the plugin declares no task "
                                   "of that name\n");
    rig.log.text[0] = '\0';
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(heard.tasks->post(heard.plugin, "hear", "x", 1), BP_OK);
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "linked"));
    expect_heard("");
    ck_assert_str_eq(rig.log.text, "linked: 2: 3 posted tasks were not carried out (the first is 'hear'): the plugin "
                                   "is unloaded\n");
    rig.log.text[0] = '\0';
    rig.log.count = 0;
    WORKS(rig.host, bp_host_poll(rig.host));
    rig_close(&rig);
}
END_TEST

static void run_nothing(bp_plugin_t *plugin, const void *bytes, size_t size)
{
    (void)plugin, (void)bytes, (void)size;
}

START_TEST(tasks_that_are_declared_wrongly_are_refused)
{
    static const bp_task_t twins[] = {{"a", run_nothing}, {"a", run_nothing}}, empty[] = {{.name = "a"}},
                           no_word[] = {{"a task", run_nothing}};
    static const bp_plugin_desc_t descs[] = {
        {.tasks = BP_LIST(twins)}, {.tasks = BP_LIST(empty)}, {.tasks = BP_LIST(no_word)}, {.tasks = {NULL, 1, 16}}};
    static const char *const said[] = {"two tasks are called 'a'", "task 'a' has no function", "not 'a task'",
                                       "no items; use BP_LIST"};
    for (uint32_t i = 0; i < COUNT(descs); i++) {
        const bp_plugin_head_t head = BP_PLUGIN_HEAD("wrong", &descs[i]), *heads[] = {&head};
        bp_host_o *host = bp_host_create(&(bp_host_desc_t){.static_plugins = heads, .static_plugin_count = 1});
        FAILS(host, i == 3 ? BP_ERROR_ABI : BP_ERROR_ARGUMENT, said[i], bp_host_load_plugin(host, "wrong", NULL, 0));
        bp_host_destroy(host);
    }
}
END_TEST

/* --- waiting ------------------------------------------------------------------------------------------------------ */

static void post_later(void *data)
{
    (void)data;
    os_sleep_ns(2000000);
    heard.tasks->post(heard.plugin, "hear", "late", 4);
}

static void wake_later(void *data)
{
    (void)data;
    os_sleep_ns(2000000);
    bp_host_wake(heard.host);
}

/* Each of these would hang if it were not woken. */
START_TEST(a_wait_ends_where_something_is_posted_somebody_wakes_it_or_a_handle_can_be_read)
{
    static rig_t rig;
    os_thread_t thread;
    int ends[2];
    open_linked(&rig);
    ck_assert(os_thread_start(&thread, post_later, NULL));
    while (heard.text[0] == '\0')
        WORKS(rig.host, bp_host_wait(rig.host, UINT64_MAX));
    expect_heard("[late]");
    os_thread_join(thread);
    ck_assert(os_thread_start(&thread, wake_later, NULL));
    WORKS(rig.host, bp_host_wait(rig.host, UINT64_MAX));
    os_thread_join(thread);
    bp_host_wake(rig.host); /* before it waits */
    WORKS(rig.host, bp_host_wait(rig.host, UINT64_MAX));
    WORKS(rig.host, bp_host_wait(rig.host, 1000000));
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    WORKS(rig.host, bp_host_wait_for(rig.host, UINT64_MAX, &(intptr_t){ends[0]}, 1));
    FAILS(rig.host, BP_ERROR_LIMIT, "9 handles", bp_host_wait_for(rig.host, 0, NULL, 9));
    close(ends[0]);
    close(ends[1]);
    rig_close(&rig);
}
END_TEST

/* Who has been woken before it waits has looked at no handle, whatever could be read. */
START_TEST(a_wait_that_does_not_take_place_finds_no_handle)
{
    static rig_t rig;
    int ends[2];
    uint32_t readable = 0;
    open_linked(&rig);
    posts_t *posts = &rig.host->loader.posts;
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    WORKS(rig.host, posts_sleep(posts, UINT64_MAX, &(intptr_t){ends[0]}, 1, &readable));
    ck_assert_uint_eq(readable, 1);
    bp_host_wake(rig.host);
    WORKS(rig.host, posts_sleep(posts, UINT64_MAX, &(intptr_t){ends[0]}, 1, &readable));
    ck_assert_uint_eq(readable, 0);
    WORKS(rig.host, posts_sleep(posts, UINT64_MAX, &(intptr_t){ends[0]}, 1, &readable)); /* that was for one wait */
    ck_assert_uint_eq(readable, 1);
    close(ends[0]);
    close(ends[1]);
    rig_close(&rig);
}
END_TEST

/* Only a host that waits is woken: a post that comes afterwards would end the next wait. */
START_TEST(what_is_posted_while_no_host_waits_calls_no_system)
{
    static rig_t rig;
    open_linked(&rig);
    WORKS(rig.host, bp_host_wait(rig.host, 1));
    calls_begin(0, false);
    ck_assert_int_eq(heard.tasks->post(heard.plugin, "hear", "x", 1), BP_OK);
    bp_host_wake(rig.host);
    ck_assert_uint_eq(calls_end(), 0);
    WORKS(rig.host, bp_host_poll(rig.host));
    expect_heard("[x]");
    rig_close(&rig);
}
END_TEST

/* --- versions ----------------------------------------------------------------------------------------------------- */

static log_text_t log_text;
static bp_host_o *host;
static const poster_api *poster;

static void open_poster(uint32_t flags)
{
    log_text.text[0] = '\0';
    host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log_text), .flags = flags});
    WORKS(host, bp_host_load_plugin(host, put_plugin("poster_first", "poster"), NULL, 0));
    poster = (const poster_api *)bp_host_api(host)->registry->find(host, "poster", 1);
}

static void expect_logged(const char *part)
{
    EXPECT(strstr(log_text.text, part) != NULL, "\"%s\" is not in the log:\n%s", part, log_text.text);
    log_text.text[0] = '\0';
}

static void take_some(uint32_t more)
{
    uint32_t end = poster->carried_out() + more;
    while (poster->carried_out() < end)
        WORKS(host, bp_host_wait(host, 10000000));
    EXPECT(poster->wrong() == 0, "%u posts came out wrong", poster->wrong());
}

START_TEST(threads_that_post_across_reloads_lose_nothing)
{
    open_poster(BP_HOST_COPY_PLUGINS);
    host->reload.probation_steps = _i == 0 ? 0 : 2;
    for (uint32_t i = 0; i < 10; i++) {
        take_some(500);
        put_plugin(i % 2 == 0 ? "poster_next" : "poster_first", "poster");
        WORKS(host, bp_host_reload(host, names, 1, NULL));
        bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "w"});
        WORKS(host, bp_world_step(world)); /* a step of the probation */
        bp_world_destroy(world);
    }
    poster->rest(1);
    while (poster->waiting() > 0)
        WORKS(host, bp_host_wait(host, 1000000));
    ck_assert_uint_eq(poster->wrong(), 0);
    bp_host_destroy(host);
    EXPECT(strstr(log_text.text, "not given back") == NULL, "memory is kept:\n%s", log_text.text);
}
END_TEST

/* Where the whole host ends, dropped posts are not told. */
START_TEST(what_threads_have_posted_when_their_plugin_goes_is_dropped_with_a_word)
{
    for (uint32_t i = 0; i < 10; i++) {
        open_poster(0);
        take_some(200);
        while (poster->waiting() < 8)
            os_sleep_ns(10000);
        if (i % 2 == 0)
            WORKS(host, bp_host_unload_plugin(host, "poster"));
        else
            bp_host_destroy(host);
        if (i % 2 == 0) {
            expect_logged("not carried out");
            bp_host_destroy(host);
        } else {
            EXPECT(strstr(log_text.text, "not carried out") == NULL, "there is a word of it:\n%s", log_text.text);
        }
        EXPECT(strstr(log_text.text, "not given back") == NULL, "memory is kept:\n%s", log_text.text);
    }
}
END_TEST

static void expect_once(const char *part)
{
    const char *at = strstr(log_text.text, part);
    EXPECT(at != NULL && strstr(at + 1, part) == NULL, "\"%s\" is not once in the log:\n%s", part, log_text.text);
    log_text.text[0] = '\0';
}

START_TEST(the_version_that_posted_carries_out_and_what_its_tasks_post_goes_to_the_next)
{
    open_poster(BP_HOST_COPY_PLUGINS);
    poster->rest(1);
    poster->post("log_version", NULL, 0);
    poster->post("again", NULL, 0);
    put_plugin("poster_next", "poster");
    WORKS(host, bp_host_reload(host, names, 1, NULL));
    expect_once("told by 1");
    WORKS(host, bp_host_poll(host)); /* once for the task `again`, once for the post of its `load` */
    EXPECT(strstr(log_text.text, "told by 2\nposter: 2: told by 2\n") != NULL, "%s", log_text.text);
    log_text.text[0] = '\0';
    WORKS(host, bp_host_poll(host));
    ck_assert_str_eq(log_text.text, "");
    bp_host_destroy(host);
}
END_TEST

START_TEST(a_version_that_is_refused_leaves_no_post_behind)
{
    open_poster(BP_HOST_COPY_PLUGINS);
    poster->rest(1);
    while (poster->waiting() > 0)
        WORKS(host, bp_host_poll(host));
    poster->post("again", NULL, 0);
    put_plugin("poster_load_fails", "poster");
    FAILS(host, BP_ERROR_FAILED, "the post office is closed", bp_host_reload(host, names, 1, NULL));
    log_text.text[0] = '\0';
    WORKS(host, bp_host_poll(host)); /* what was posted before is still there */
    expect_once("told by 1");
    bp_host_destroy(host);
}
END_TEST

/* The first post of all that the host has had. */
START_TEST(a_version_that_is_taken_back_leaves_no_post_behind)
{
    static const char *const caller[] = {"caller"};
    log_text.text[0] = '\0';
    host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log_text), .flags = BP_HOST_COPY_PLUGINS});
    WORKS(host, bp_host_load_plugin(host, put_plugin("caller_first", "caller"), NULL, 0));
    host->reload.probation_steps = 3;
    put_plugin("caller_next", "caller");
    WORKS(host, bp_host_reload(host, caller, 1, NULL));
    WORKS(host, reload_rollback(&host->reload));
    expect_once("1 posted task was not carried out ('call'): its version is taken back");
    WORKS(host, bp_host_poll(host));
    ck_assert_str_eq(log_text.text, "");
    bp_host_destroy(host);
}
END_TEST

/* The next version of a plugin comes in, on probation, together with one of the plugin crasher, and neither can be
 * taken back: the former crasher has no room for the entities that have come since. */
static void bring_for_good(const char *name, const char *next)
{
    const char *const both[] = {name, "crasher"};
    const bp_option_t full[] = {{.name = "where", .value = "create"}, {.name = "how", .value = "full"}};
    static bp_entity_t entities[300];
    WORKS(host, bp_host_load_plugin(host, put_plugin("crasher", "crasher"), full, COUNT(full)));
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    WORKS(host, bp_world_use_component(world, "crash_own"));
    host->reload.probation_steps = 3;
    put_plugin(next, name);
    put_plugin("crasher_next", "crasher");
    WORKS(host, bp_host_reload(host, both, COUNT(both), NULL));
    WORKS(host, bp_host_api(host)->world->create(world, prototype_of(world, "crash_own", NULL, NULL, NULL), entities,
                                                 COUNT(entities)));
}

/* Where it cannot be taken back it goes on, and carries out what it has posted. */
START_TEST(a_version_that_could_not_be_taken_back_carries_out_its_posts)
{
    log_text.text[0] = '\0';
    host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log_text), .flags = BP_HOST_COPY_PLUGINS});
    WORKS(host, bp_host_load_plugin(host, put_plugin("caller_first", "caller"), NULL, 0));
    bring_for_good("caller", "caller_next");
    log_text.text[0] = '\0';
    FAILS(host, BP_ERROR_LIMIT, "it is full", reload_rollback(&host->reload));
    ck_assert_str_eq(log_text.text, "");
    WORKS(host, bp_host_poll(host));
    expect_once("called");
    bp_host_destroy(host);
}
END_TEST

/* The bytes say in which process they were posted; in another one the task ends the trial. */
START_TEST(a_copy_of_the_process_does_not_carry_out_what_was_posted_in_the_original)
{
    int32_t process = (int32_t)getpid();
    if (!process_can_fork())
        return;
    open_poster(BP_HOST_COPY_PLUGINS | BP_HOST_TRIAL | BP_HOST_CRASH_GUARD);
    poster->post("check", &process, sizeof process);
    put_plugin("poster_next", "poster");
    WORKS(host, bp_host_reload(host, names, 1, NULL));
    take_some(100);
    bp_host_destroy(host);
}
END_TEST

START_TEST(a_task_that_crashes_sets_the_plugin_aside_and_drops_the_rest_with_one_word)
{
#if defined(__linux__) && !defined(BACKPLANE_SANITIZED)
    open_poster(BP_HOST_COPY_PLUGINS | BP_HOST_CRASH_GUARD);
    poster->post("crash", NULL, 0);
    for (uint32_t i = 0; i < 5; i++) {
        WORKS(host, bp_host_poll(host));
        os_sleep_ns(1000000);
    }
    EXPECT(strstr(log_text.text, "crashed in 'task crash'") != NULL, "%s", log_text.text);
    expect_once("not carried out");
    bp_host_destroy(host);
#endif
}
END_TEST

#if defined(__linux__) && !defined(BACKPLANE_SANITIZED)
/* The crasher, loaded last, crashes where its component is asked for a value. */
static void set_crasher_aside(void)
{
    const bp_option_t options[] = {{.name = "where", .value = "get"}, {.name = "how", .value = "null"}};
    float x;
    WORKS(host, bp_host_load_plugin(host, put_plugin("crasher", "crasher"), options, 2));
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "w"});
    WORKS(host, bp_world_use_component(world, "crash_own"));
    bp_entity_t e = entity_with(world, "crash_own");
    ck_assert_int_ne(bp_host_api(host)->property->get_named(world, e, "crash_own", "x", BP_F32, &x), BP_OK);
}
#endif

/* Crashes of other plugins do not count against what is tried: of one that was loaded before it, of one that was loaded
 * after it, and of both. */
START_TEST(a_version_comes_in_on_trial_while_others_are_set_aside)
{
#if defined(__linux__) && !defined(BACKPLANE_SANITIZED)
    static const char *const caller[] = {"caller"};
    bool before = _i != 1, after = _i != 0;
    open_poster(BP_HOST_COPY_PLUGINS | BP_HOST_TRIAL | BP_HOST_CRASH_GUARD);
    WORKS(host, bp_host_load_plugin(host, put_plugin("caller_first", "caller"), NULL, 0));
    if (before)
        poster->post("crash", NULL, 0);
    WORKS(host, bp_host_poll(host));
    if (after)
        set_crasher_aside();
    for (int round = 0; round < 2; round++) {
        put_plugin(round == 0 ? "caller_next" : "caller_first", "caller");
        WORKS(host, bp_host_reload(host, caller, 1, NULL));
        ck_assert((bp_host_plugin_crash(host, 0) != NULL) == before);
        ck_assert_ptr_null(bp_host_plugin_crash(host, 1));
        ck_assert(!after || bp_host_plugin_crash(host, 2) != NULL);
    }
    bp_host_destroy(host);
#endif
}
END_TEST

/* On probation the version before would take its place; where that cannot be, the plugin is set aside, with a word. */
START_TEST(a_crash_on_probation_of_what_cannot_be_taken_back_is_told)
{
#if defined(__linux__) && !defined(BACKPLANE_SANITIZED)
    open_poster(BP_HOST_COPY_PLUGINS | BP_HOST_CRASH_GUARD);
    bring_for_good("poster", "poster_next");
    poster->post("crash", NULL, 0);
    WORKS(host, bp_host_poll(host));
    const char *told = strstr(log_text.text, "the version before of plugin 'poster' cannot be brought back: ");
    EXPECT(told != NULL && strstr(told, "it is full") != NULL, "%s", log_text.text);
    ck_assert_ptr_nonnull(bp_host_plugin_crash(host, 0));
    ck_assert_ptr_null(bp_host_plugin_crash(host, 1));
    WORKS(host, bp_host_step(host));
    bp_host_destroy(host);
#endif
}
END_TEST

Suite *posts_suite(void)
{
    Suite *suite = suite_create("posts");
    TCase *alone = tcase_create("alone"), *versions = tcase_create("versions");
    tcase_set_timeout(alone, 60);
    tcase_set_timeout(versions, 60);
    tcase_add_test(alone, what_is_posted_is_carried_out_in_order_by_the_next_poll);
    tcase_add_test(alone, that_tasks_of_a_plugin_set_aside_are_dropped_is_told_once_until_it_works_again);
    tcase_add_test(alone, tasks_are_not_carried_out_from_inside_a_task);
    tcase_add_test(alone, a_stopped_host_carries_out_what_is_posted);
    tcase_add_test(alone, a_task_changes_worlds_and_no_plugins);
    tcase_add_test(alone, what_cannot_be_posted_is_refused_by_its_code);
    tcase_add_test(alone, posts_that_wait_take_so_much_memory_and_no_more);
    tcase_add_test(alone, what_nobody_declares_is_dropped_and_so_is_what_an_unloaded_plugin_left);
    tcase_add_test(alone, tasks_that_are_declared_wrongly_are_refused);
    tcase_add_test(alone, a_wait_ends_where_something_is_posted_somebody_wakes_it_or_a_handle_can_be_read);
    tcase_add_test(alone, a_wait_that_does_not_take_place_finds_no_handle);
    tcase_add_test(alone, what_is_posted_while_no_host_waits_calls_no_system);
    tcase_add_loop_test(versions, threads_that_post_across_reloads_lose_nothing, 0, 2);
    tcase_add_test(versions, what_threads_have_posted_when_their_plugin_goes_is_dropped_with_a_word);
    tcase_add_test(versions, the_version_that_posted_carries_out_and_what_its_tasks_post_goes_to_the_next);
    tcase_add_test(versions, a_version_that_is_refused_leaves_no_post_behind);
    tcase_add_test(versions, a_version_that_is_taken_back_leaves_no_post_behind);
    tcase_add_test(versions, a_version_that_could_not_be_taken_back_carries_out_its_posts);
    tcase_add_test(versions, a_crash_on_probation_of_what_cannot_be_taken_back_is_told);
    tcase_add_loop_test(versions, a_version_comes_in_on_trial_while_others_are_set_aside, 0, 3);
    tcase_add_test(versions, a_copy_of_the_process_does_not_carry_out_what_was_posted_in_the_original);
    tcase_add_test(versions, a_task_that_crashes_sets_the_plugin_aside_and_drops_the_rest_with_one_word);
    suite_add_tcase(suite, alone);
    suite_add_tcase(suite, versions);
    return suite;
}
