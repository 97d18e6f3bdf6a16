/* test_hot.c - hot reload as it goes on by itself: new files are tried and come in, and what crashes, hangs or fails
 * leaves every property of every world as it was.
 *
 * The plugin is tests/fixtures/crasher.h in two versions, copied over each other in a folder of the test's own. The
 * second one is told by the environment where to crash. Nothing here measures time; where something is waited for, it
 * is for as long as it takes.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "../system/calls.h"
#include "../unit/inspect.h"
#include "../unit/support.h"

#include "base/file.h"
#include "engine/host.h"
#include "os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECOND = 1000000000, PATIENCE = 20 };

typedef struct told_t {
    uint32_t count, refused;
    uint64_t pause;
    char text[4096];
} told_t;

static log_text_t log_text;
static bp_host_o *host;
static const bp_api_t *api;
static bp_world_o *world;
static bp_entity_t plain, own;
static told_t told;
static char folder[512], path[600], aside[620], other[600];

static uint32_t call_limit; /* of begin, in ms */
static const bp_plugin_head_t *linked; /* of begin: loaded beside the other, where there is one */
static bool comes_second; /* of begin: the world of the test is made behind one that uses nothing */
static bool turned_round; /* of begin: the world uses the plugin's parts from the last one to the first */

enum { BY_HAND = 1 << 30 }; /* begin: nothing is watched */

static void copy_plugin(const char *from, const char *to)
{
    char *bytes, name[1024];
    size_t size;
    memory_t memory;
    error_text_t error = {.calls = NULL};
    memory_init(&memory, "test", &(bp_allocator_i){0});
    snprintf(name, sizeof name, "%s/%s.so", TEST_FIXTURE_DIR, from);
    ck_assert_int_eq(file_read(&memory, name, &bytes, &size, &error), BP_OK);
    FILE *file = fopen(to, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    fclose(file);
    memory_free(&memory, bytes, size + 1);
}

/* As lld and `mv` do: written aside, then renamed. */
static void replace(const char *from, const char *to)
{
    copy_plugin(from, aside);
    ck_assert_int_eq(rename(aside, to), 0);
}

static void replace_plugin(const char *from)
{
    replace(from, path);
}

static void hear(void *data, const bp_reload_report_t *report)
{
    told_t *t = data;
    t->count++;
    t->refused += report->result != BP_OK;
    t->pause = report->pause;
    snprintf(t->text, sizeof t->text, "%s", report->text);
}

static void add(const char *type, bp_entity_t *entity)
{
    uint32_t key = key_of(world, type, "");
    WORKS(host, api->entity->create(host, entity, 1));
    WORKS(host, api->world->add(world, key, entity, 1));
}

static const bp_option_t *given; /* to the crasher, `where` and `how`; NULL: nothing */

static void begin(uint32_t flags, uint32_t deadline)
{
    KEEPS_MEMORY();
    snprintf(folder, sizeof folder, "%s/hot.%d", TEST_SCRATCH_DIR, (int)getpid());
    snprintf(path, sizeof path, "%s/crasher.so", folder);
    snprintf(aside, sizeof aside, "%s.new", path);
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    unsetenv("CRASHER_WHERE");
    copy_plugin("crasher", path);
    bp_host_desc_t desc = {.struct_size = sizeof desc, .log = log_into(&log_text), .tag = 1, .seed = 1};
    desc.flags = (flags & BY_HAND) != 0 ? flags & ~(uint32_t)BY_HAND : flags | BP_HOST_HOT_RELOAD;
    desc.trial_deadline = deadline;
    desc.probation = 50;
    desc.call_limit = call_limit;
    desc.static_plugins = &linked;
    desc.static_plugin_count = linked != NULL;
    host = bp_host_create(&desc);
    api = bp_host_api(host);
    WORKS(host, bp_host_load_plugin(host, path, given, given == NULL ? 0 : 2));
    if (comes_second)
        ck_assert_ptr_nonnull(bp_world_create(host, &(bp_world_desc_t){.name = "empty", .step_rate = 1}));
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = 1});
    if (turned_round)
        WORKS(host, bp_world_use_system(world, "crash_system"));
    WORKS(host, bp_world_use_component(world, turned_round ? "crash_own" : "crash_plain"));
    WORKS(host, bp_world_use_component(world, turned_round ? "crash_plain" : "crash_own"));
    if (!turned_round)
        WORKS(host, bp_world_use_system(world, "crash_system"));
    if (turned_round)
        add("crash_own", &own);
    add("crash_plain", &plain);
    if (!turned_round)
        add("crash_own", &own);
    for (int i = 0; i < 3; i++)
        WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_poll(host));
    memset(&told, 0, sizeof told);
    WORKS(host, bp_host_on_reload(host, hear, &told));
}

static void end(void)
{
    bp_host_destroy(host);
    remove(path);
    remove(other);
    rmdir(folder);
}

/* A second plugin beside it, which has nothing to do with it. */
static void load_other(void)
{
    snprintf(other, sizeof other, "%s/companion.so", folder);
    copy_plugin("companion", other);
    WORKS(host, bp_host_load_plugin(host, other, NULL, 0));
    WORKS(host, bp_host_poll(host));
}

static void harm_next(const char *where, const char *how)
{
    setenv("CRASHER_WHERE", where, 1);
    setenv("CRASHER_HOW", how, 1);
}

/* Poll until something is told. */
static void wait_for_news(bool stepping)
{
    uint64_t until = os_clock_ns() + (uint64_t)PATIENCE * SECOND;
    uint32_t before = told.count;
    while (told.count == before) {
        WORKS(host, bp_host_poll(host));
        if (stepping)
            WORKS(host, bp_host_step(host));
        os_sleep_ns(1000000);
        EXPECT(os_clock_ns() < until, "nothing was told of the new file; the log:\n%s", log_text.text);
    }
}

static float x_now(void)
{
    float x = -1;
    WORKS(host, api->property->get_named(world, plain, "crash_plain", "x", BP_F32, &x));
    return x;
}

static void step(int count)
{
    for (int i = 0; i < count; i++)
        WORKS(host, bp_host_step(host));
}

static const uint32_t both = BP_HOST_CRASH_GUARD | BP_HOST_TRIAL;
static const char *const crasher[] = {"crasher"};

/* --- a plugin of the test's own, whose instances must not be ended but in the process of the test */

static pid_t home;
static uint32_t glasses;

static bp_result_t make_glasses(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                                const void *const *columns, uint32_t *slots)
{
    (void)m, (void)instance, (void)entities, (void)columns;
    for (uint32_t i = 0; i < count; i++)
        slots[i] = glasses++;
    return BP_OK;
}

static void break_glasses(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    (void)m, (void)slots, (void)count;
    if (getpid() != home)
        abort();
}

static uint32_t count_glasses(bp_manager_t *m)
{
    (void)m;
    return glasses;
}

static const bp_storage_i glass_storage = {.struct_size = sizeof(bp_storage_i),
                                           .create = make_glasses,
                                           .destroy = break_glasses,
                                           .count = count_glasses};
static const bp_component_i glass_components[] = {{.name = "glass", .storage = &glass_storage}};
static const bp_plugin_head_t glass =
    BP_PLUGIN_HEAD("glass", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(glass_components)}));

/* What a trial takes apart in the end is the candidate's: instances of others would be ended in their plugins' code. */
START_TEST(a_trial_ends_no_instances_of_other_plugins)
{
    bp_entity_t e;
    linked = &glass;
    home = getpid();
    begin(both, 0);
    WORKS(host, bp_host_load_plugin(host, "glass", NULL, 0));
    WORKS(host, bp_world_use_component(world, "glass"));
    for (int i = 0; i < 3; i++)
        add("glass", &e);
    replace_plugin("crasher_next");
    wait_for_news(true);
    EXPECT(told.refused == 0, "%s", told.text);
    end();
}
END_TEST

static int held = -1;

/* The file goes between two looks at what there is: each of them opens the folders of the system that tell. */
static void let_go_of_it(void *looks, const char *call, bool change)
{
    (void)call, (void)change;
    if (++*(uint32_t *)looks == 5)
        close(held);
}

/* In the copy: hold a file for a moment, as the system counts a thread that has been joined for a moment longer. */
static void hold_for_a_moment(bp_plugin_t *plugin, uint32_t reason)
{
    static uint32_t looks;
    (void)plugin;
    if (reason != BP_PAUSE_UNLOAD || getpid() == home)
        return;
    held = dup(2);
    calls_begin_coded("opendir", 0, false, 0);
    calls_before_each(let_go_of_it, &looks);
}

static const bp_plugin_head_t holder =
    BP_PLUGIN_HEAD("holder", (&(const bp_plugin_desc_t){.version = "1", .pause = hold_for_a_moment}));

/* At the end of a trial it is looked several times, so that only what stays is told. */
START_TEST(what_goes_a_moment_after_plugins_have_been_paused_on_trial_is_not_called_left)
{
    linked = &holder;
    home = getpid();
    begin(both, 0);
    WORKS(host, bp_host_load_plugin(host, "holder", NULL, 0));
    replace_plugin("crasher_next");
    wait_for_news(true);
    EXPECT(told.refused == 0, "%s", told.text);
    end();
}
END_TEST

/* Also in a program that ignores the ends of its processes, so that the system tells nothing of them. */
START_TEST(a_new_file_comes_in_by_itself)
{
    static const uint32_t flags[] = {0, BP_HOST_TRIAL, BP_HOST_CRASH_GUARD, BP_HOST_CRASH_GUARD | BP_HOST_TRIAL,
                                     BP_HOST_TRIAL | BP_HOST_TRIAL_HELPER,
                                     BP_HOST_CRASH_GUARD | BP_HOST_TRIAL | BP_HOST_TRIAL_HELPER};
    double y = 0;
    void (*kept)(int) = signal(SIGCHLD, _i < (int)COUNT(flags) ? SIG_DFL : SIG_IGN);
    begin(flags[(uint32_t)_i % COUNT(flags)], 0);
    replace_plugin("crasher_next");
    wait_for_news(true);
    EXPECT(told.refused == 0, "%s", told.text);
    float before = x_now();
    step(2);
    ck_assert(x_now() == before + 200.0f);
    WORKS(host, api->property->get_named(world, plain, "crash_plain", "y", BP_F64, &y));
    ck_assert(y == 5.0);
    replace_plugin("crasher");
    wait_for_news(true);
    EXPECT(told.refused == 0, "%s", told.text);
    before = x_now();
    step(2);
    ck_assert(x_now() == before + 2.0f);
    end();
    signal(SIGCHLD, kept);
}
END_TEST

/* Where and how the next version goes wrong, and what is told. */
static const char *const harms[][3] = {
    {"load", "null", "crashed in 'load'"},
    {"load", "stack", "the stack ran out"},
    {"load", "abort", "SIGABRT"},
    {"load", "exit", "it called exit"},
    {"load", "loop", "crashed in 'load': it did not return within"},
    {"load", "sleep", "crashed in 'load': it did not return within"},
    {"plain_start", "zero", "crashed in 'start' of component 'crash_plain'"},
    {"plain_start", "exit", "it called exit"},
    {"simulate", "null", "crashed in 'simulate' of component 'crash_plain'"},
    {"simulate", "stack", "the stack ran out"},
    {"simulate", "call", "it called a null pointer"},
    {"simulate", "loop", "crashed in 'simulate' of component 'crash_plain'"},
    {"second_step", "abort", "SIGABRT"},
    {"run_all", "illegal", "crashed in 'run_all' of system 'crash_system'"},
    {"run_all", "exit", "it called exit"},
    {"constructor", "null", "crashed while it was opened, in code that runs then: SIGSEGV"},
    {"constructor", "stack", "the stack ran out"},
    {"constructor", "loop", "crashed while it was opened, in code that runs then: it did not return within"},
    {"constructor", "sleep", "crashed while it was opened, in code that runs then: it did not return within"},
    {"constructor", "exit", "it called exit"},
    {"plain_stop", "null", "crashed in 'stop' of component 'crash_plain'"},
    {"own_stop", "loop", "crashed in 'stop' of component 'crash_own', world 'main', step 6: it did not return within"},
    {"unload", "zero", "crashed in 'unload'"},
    {"unload", "null_after_error", "crashed in 'unload'"},
    {"create", "null", "crashed in 'create' of component 'crash_own'"},
    {"destroy", "abort", "crashed in 'destroy' of component 'crash_own'"},
    {"get", "null", "crashed in 'get' of component 'crash_own'"},
    {"set", "loop", "crashed in 'set' of component 'crash_own'"},
    {"count", "zero", "crashed in 'count' of component 'crash_own'"},
    {"died", "null", "crashed in 'died' of component 'crash_plain'"},
    {"report", "null", "crashed in 'report' of component 'crash_plain'"},
    {"save", "null", "crashed in 'save' of component 'crash_own'"},
    {"load_saved", "null", "crashed in 'load' of component 'crash_own'"},
    {"load_saved", "refuse", "component 'crash_own' does not load what it has saved itself"},
    {"save", "fail", "component 'crash_own' does not load what it has saved itself"},
    {"system_save", "fail", "system 'crash_system' does not load what it has saved itself"},
    {"system_load", "refuse", "system 'crash_system' does not load what it has saved itself"},
    {"own_start_again", "refuse", "component 'crash_own' does not load what it has saved itself: crasher: it starts "
                                  "once"},
    {"system_start_again", "refuse", "system 'crash_system' does not load what it has saved itself: crasher: it starts "
                                     "once"},
    {"rewound", "null", "crashed in 'rewound' of system 'crash_system'"},
    {"added", "null", "crashed in 'entities_added' of system 'crash_system'"},
    {"added_again", "null", "crashed in 'entities_added' of system 'crash_system', world 'main', step 6"},
    {"removed", "null", "crashed in 'entities_removed' of system 'crash_system'"},
    {"simulate", "behind", "did harm in 'simulate' of component 'crash_plain', world 'main', step 3: it wrote behind"},
    {"unload", "exit", "it called exit"},
    {"destructor", "null", "crashed while it was closed, in code that runs then: SIGSEGV"},
    {"last_destructor", "null", "crashed while it was closed, in code that runs then: SIGSEGV"},
    {"destructor", "loop", "crashed while it was closed, in code that runs then: it did not return within"},
    {"destructor", "exit", "it called exit"},
    {"load", "rounding", "did harm in 'load': it changed the way numbers are rounded"},
    {"load", "mask", "did harm in 'load': it changed which signals are blocked"},
    {"load", "handler", "did harm in 'load': it changed the handlers of signals"},
    {"plain_start", "folder", "did harm in 'start' of component 'crash_plain', world 'main', step 3: it changed the "
                              "working directory"},
    {"load", "umask", "it changed the mask of new files"},
    {"load", "environment", "it changed the environment"},
    {"load", "stdin", "it changed the standard input"},
    {"simulate", "rounding", "did harm in 'simulate' of component 'crash_plain', world 'main', step 3: it changed the "
                             "way numbers are rounded"},
    {"simulate", "folder", "did harm in 'simulate' of component 'crash_plain', world 'main', step 3: it changed the "
                           "working directory"},
    {"constructor", "folder", "it changed the working directory"},
    {"destructor", "folder", "has changed while it was closed: the working directory"},
    {"load", "system_timer", "it leaves timers running when it is unloaded"},
    {"load", "descriptor", "it leaves files open when it is unloaded"},
#if !defined(__SANITIZE_THREAD__)
    {"load", "left_thread", "it leaves threads running when it is unloaded"},
    {"plain_start", "left_thread", "it leaves threads running when it is unloaded"},
    {"simulate", "left_thread", "it leaves threads running when it is unloaded"},
    {"report", "left_thread", "it leaves threads running when it is unloaded"},
    {"unload", "left_thread", "it leaves threads running when it is unloaded"},
#endif
    {"load", "child", "it leaves processes running when it is unloaded"},
#if defined(__linux__)
    {"load", "orphan", "it leaves processes running when it is unloaded"},
#endif
    {"create", "stop", "on trial it was ended by SIGSTOP"},
    {"create", "xcpu", "on trial it was ended by SIGXCPU"},
    {"create", "end", "on trial its process ended with 3"},
    {"create", "ready", "on trial it was ended by a signal"},
    {"run_all", "words", "on trial it was ended by SIGKILL; the last that it wrote to stderr: beginning the library: "
                         "this cannot go on"},
#if defined(__GLIBC__)
    {"simulate", "assertion", "Assertion `how == NULL' failed."},
#if !defined(BACKPLANE_SANITIZED) /* which find this themselves, and say so in their way */
    {"simulate", "twice", "step 3: SIGABRT: heap corruption, found by the C library: free(): double free"},
#endif
#endif
    {"load", "host", "on trial it"} /* "was ended by SIGSEGV"; under a sanitizer its process ends with 1 */,
};

#if defined(BACKPLANE_SANITIZED)
enum { TRIED_APART = 4 };
#else
enum { TRIED_APART = 1 };
#endif

/* In a copy of the process, and then by a helper, of which the same is told: all of it in the second of two worlds. */
START_TEST(what_goes_wrong_on_trial_changes_nothing)
{
    const int way = TRIED_APART * _i;
    const char *const *harm = harms[(uint32_t)way % COUNT(harms)];
    comes_second = true;
    call_limit = strcmp(harm[1], "loop") == 0 ? 500 : 0;
    begin(both | (way < (int)COUNT(harms) ? 0 : BP_HOST_TRIAL_HELPER), way < (int)COUNT(harms) ? 2000 : 6000);
    char *before = describe_host(host);
    setenv("CRASHER_WHERE", harm[0], 1);
    setenv("CRASHER_HOW", harm[1], 1);
    replace_plugin("crasher_next");
    wait_for_news(false);
    ck_assert_uint_eq(told.refused, 1);
    EXPECT(strstr(told.text, harm[2]) != NULL, "\"%s\" is not in: %s", harm[2], told.text);
    EXPECT(strstr(told.text, "a sentence of a call that works") == NULL, "%s", told.text);
    EXPECT(call_limit == 0 || strstr(told.text, "within 500 ms") != NULL, "%s", told.text);
    expect_same(before, describe_host(host), told.text);
    check_host(host);
    float x = x_now();
    step(3);
    ck_assert(x_now() == x + 3.0f);
    unsetenv("CRASHER_WHERE");
    replace_plugin("crasher_next");
    wait_for_news(true);
    EXPECT(told.refused == 1, "%s", told.text);
    x = x_now();
    step(1);
    ck_assert(x_now() == x + 100.0f);
    end();
}
END_TEST

#if defined(__GLIBC__) && !defined(BACKPLANE_SANITIZED)
/* The sentence about the signal has what the library has also written to its standard error. */
START_TEST(what_a_library_says_before_it_ends_the_process_is_told_once)
{
    begin(both, 4000);
    harm_next("simulate", "twice");
    replace_plugin("crasher_next");
    wait_for_news(false);
    ck_assert_uint_eq(told.refused, 1);
    const char *said = strstr(told.text, "double free");
    EXPECT(said != NULL && strstr(said + 1, "double free") == NULL, "%s", told.text);
    end();
}
END_TEST
#endif

/* What is tried is each component and each system of a world, whichever of them the world has had first. The worlds
 * have stood still for reading the file and for the copy alone. */
START_TEST(what_a_world_has_had_first_is_tried_as_well)
{
    static const char *const ways[][3] = {
        {"rewound", "null", "crashed in 'rewound' of system 'crash_system'"},
        {"system_save", "fail", "system 'crash_system' does not load what it has saved itself"},
        {"save", "null", "crashed in 'save' of component 'crash_own'"},
        {"load_saved", "refuse", "component 'crash_own' does not load what it has saved itself"},
    };
    turned_round = true;
    begin(both, 4000);
    for (uint32_t i = 0; i < COUNT(ways); i++) {
        uint64_t began = os_clock_ns();
        harm_next(ways[i][0], ways[i][1]);
        replace_plugin("crasher_next");
        wait_for_news(false);
        ck_assert_uint_eq(told.refused, i + 1);
        ck_assert(told.pause > 0 && told.pause < os_clock_ns() - began);
        EXPECT(strstr(told.text, ways[i][2]) != NULL, "\"%s\" is not in: %s", ways[i][2], told.text);
    }
    end();
}
END_TEST

/* A trial makes a few entities, and reads and writes those that are there, as many as a batch of a user may have. */
START_TEST(verbs_are_called_on_trial_for_the_entities_that_are_there)
{
    bp_entity_t more[40];
    turned_round = _i == 1;
    begin(both, 4000);
    for (uint32_t i = 0; i < COUNT(more); i++)
        add("crash_own", &more[i]);
    harm_next("set_many", "null");
    replace_plugin("crasher_next");
    wait_for_news(false);
    ck_assert_uint_eq(told.refused, 1);
    EXPECT(strstr(told.text, "crashed in 'set' of component 'crash_own'") != NULL, "%s", told.text);
    end();
}
END_TEST

START_TEST(without_a_trial_the_guard_refuses_what_crashes_while_it_comes_in)
{
    static const char *const ways[][2] = {{"load", "null"},
                                          {"load", "stack"},
                                          {"plain_start", "abort"},
                                          {"system_start", "zero"},
                                          {"constructor", "null"},
                                          {"constructor", "thread"},
                                          {"constructor", "loop"},
                                          {"constructor", "sleep"}};
    call_limit = 200;
    begin(BP_HOST_CRASH_GUARD, 0);
    char *before = describe_host(host);
    setenv("CRASHER_WHERE", ways[_i][0], 1);
    setenv("CRASHER_HOW", ways[_i][1], 1);
    replace_plugin("crasher_next");
    wait_for_news(false);
    ck_assert_uint_eq(told.refused, 1);
    expect_same(before, describe_host(host), told.text);
    float x = x_now();
    step(3);
    ck_assert(x_now() == x + 3.0f);
    unsetenv("CRASHER_WHERE");
    for (uint32_t n = 0; n < 3; n++) {
        replace_plugin(n % 2 == 0 ? "crasher_next" : "crasher");
        wait_for_news(false);
        EXPECT(told.refused == 1, "%s", told.text);
        x = x_now();
        step(1);
        ck_assert(x_now() == x + (n % 2 == 0 ? 100.0f : 1.0f));
    }
    end();
}
END_TEST

/* What is closed has been replaced already: there is nothing to refuse. */
START_TEST(a_crash_while_a_version_is_closed_is_told_and_survived)
{
    static const char *const ways[] = {"null", "abort", "loop"};
    call_limit = 200;
    begin(BP_HOST_CRASH_GUARD, 0);
    harm_next("destructor", ways[_i]);
    for (uint32_t n = 0; n < 4; n++) {
        replace_plugin(n % 2 == 0 ? "crasher_next" : "crasher");
        wait_for_news(false);
        EXPECT(told.refused == 0, "%s", told.text);
        float x = x_now();
        step(60); /* the probation is over */
        ck_assert(x_now() == x + (n % 2 == 0 ? 6000.0f : 60.0f));
    }
    EXPECT(strstr(log_text.text, "plugin 'crasher' 2.0 crashed while it was closed, in code that runs then: ") != NULL,
           "%s", log_text.text);
    end();
}
END_TEST

START_TEST(a_crash_on_probation_brings_the_version_before_back)
{
    static const char *const ways[][2] = {{"simulate", "null"}, {"run_all", "abort"}, {"second_step", "stack"}};
    double y;
    begin(BP_HOST_CRASH_GUARD, 0);
    setenv("CRASHER_WHERE", ways[_i][0], 1);
    setenv("CRASHER_HOW", ways[_i][1], 1);
    replace_plugin("crasher_next");
    wait_for_news(false);
    EXPECT(told.refused == 0, "%s", told.text);
    step(4);
    EXPECT(strstr(log_text.text, "the version before is back") != NULL, "%s", log_text.text);
    ck_assert_ptr_null(bp_host_plugin_crash(host, 0));
    ck_assert_str_eq(bp_host_plugin(host, 0, NULL)->desc->version, "1.0");
    float x = x_now();
    step(3);
    ck_assert(x_now() == x + 3.0f);
    ck_assert_int_eq(api->property->get_named(world, plain, "crash_plain", "y", BP_F64, &y), BP_ERROR_NOT_FOUND);
    check_host(host);
    end();
}
END_TEST

/* On trial the probation ends before the candidate is unloaded, and with it the version before. */
START_TEST(a_crash_of_the_version_before_at_its_end_is_not_held_against_the_next_one)
{
    const bp_option_t options[] = {{.name = "where", .value = _i == 0 ? "plain_stop" : "unload"},
                                   {.name = "how", .value = "null"}};
    given = options;
    begin(both, 8000);
    given = NULL;
    replace_plugin("crasher_next");
    wait_for_news(false);
    EXPECT(told.refused == 0, "%s", told.text);
    ck_assert_str_eq(bp_host_plugin(host, 0, NULL)->desc->version, "2.0");
    end();
}
END_TEST

START_TEST(a_good_version_brings_a_plugin_back_that_was_set_aside)
{
    begin(BP_HOST_CRASH_GUARD, 0);
    replace_plugin("crasher_next");
    wait_for_news(false);
    step(60); /* the probation is over */
    harm_next("get", "null");
    float x;
    ck_assert_int_ne(api->property->get_named(world, own, "crash_own", "x", BP_F32, &x), BP_OK);
    step(1);
    ck_assert_ptr_nonnull(bp_host_plugin_crash(host, 0));
    float before = x_now();
    step(3);
    ck_assert(x_now() == before);
    unsetenv("CRASHER_WHERE");
    replace_plugin("crasher");
    wait_for_news(false);
    EXPECT(told.refused == 0, "%s", told.text);
    ck_assert_ptr_null(bp_host_plugin_crash(host, 0));
    step(3);
    ck_assert(x_now() == before + 3.0f);
    end();
}
END_TEST

/* Its manager was not told of the death, and still counts the instance when it is asked. */
START_TEST(a_death_while_a_plugin_is_set_aside_does_not_keep_the_next_version_out)
{
    float x;
    begin(BP_HOST_CRASH_GUARD | BY_HAND, 0);
    replace_plugin("crasher_next");
    WORKS(host, bp_host_reload(host, crasher, 1, NULL));
    step(60); /* the probation is over */
    harm_next("get", "null");
    ck_assert_int_ne(api->property->get_named(world, own, "crash_own", "x", BP_F32, &x), BP_OK);
    step(1);
    ck_assert_ptr_nonnull(bp_host_plugin_crash(host, 0));
    ck_assert_uint_eq(api->entity->destroy(host, &own, 1), 1);
    harm_next("nowhere", "null");
    replace_plugin("crasher");
    WORKS(host, bp_host_reload(host, crasher, 1, NULL));
    ck_assert_ptr_null(bp_host_plugin_crash(host, 0));
    add("crash_own", &own);
    WORKS(host, api->property->get_named(world, own, "crash_own", "x", BP_F32, &x));
    check_host(host);
    end();
}
END_TEST

START_TEST(a_broken_file_is_refused_with_its_reason)
{
    begin(both, 0);
    char *before = describe_host(host);
    FILE *file = fopen(path, "wb");
    fputs("this is no library", file);
    fclose(file);
    wait_for_news(false);
    ck_assert_uint_eq(told.refused, 1);
    EXPECT(strstr(told.text, "not a shared library") != NULL, "%s", told.text);
    expect_same(before, describe_host(host), told.text);
    end();
}
END_TEST

START_TEST(an_unloaded_candidate_is_let_go)
{
    begin(both, 0);
    setenv("CRASHER_WHERE", "load", 1);
    setenv("CRASHER_HOW", "sleep", 1);
    replace_plugin("crasher_next");
    uint64_t until = os_clock_ns() + (uint64_t)PATIENCE * SECOND;
    while (host->hot.trial.child == NULL && os_clock_ns() < until) {
        WORKS(host, bp_host_poll(host));
        os_sleep_ns(1000000);
    }
    ck_assert_ptr_nonnull(host->hot.trial.child);
    WORKS(host, bp_host_unload_plugin(host, "crasher"));
    ck_assert_ptr_null(host->hot.trial.child);
    step(2);
    end();
}
END_TEST

/* --- sets --------------------------------------------------------------------------------------------------------- */

static void expect_told(const char *text)
{
    EXPECT(strstr(told.text, text) != NULL, "\"%s\" is not in: %s", text, told.text);
}

/* A column of many texts that no version needs any more goes between the steps that follow, and then columns are let go
 * of at once again. */
START_TEST(texts_that_have_gone_are_let_go_of_and_then_all_is_as_before)
{
    static bp_entity_t e[LEAVINGS_ROWS];
    begin(BP_HOST_CRASH_GUARD, 0);
    snprintf(other, sizeof other, "%s/probe.so", folder);
    copy_plugin("reload_probe_first", other);
    WORKS(host, bp_host_load_plugin(host, other, NULL, 0));
    WORKS(host, bp_world_use_component(world, "probe"));
    uint32_t key = key_of(world, "probe", ""), prototype = 0;
    WORKS(host, api->world->prototype(world, &key, 1, &prototype));
    WORKS(host, api->world->create(world, prototype, e, COUNT(e)));
    WORKS(host, bp_host_poll(host));
    replace("reload_probe_labels", other);
    wait_for_news(false);
    EXPECT(told.refused == 0, "%s", told.text);
    leavings_t *leavings = &world->rows.leavings;
    ck_assert(host->hot.leaves && leavings->open);
    step(50); /* the probation */
    EXPECT(leavings->count > 0 || host->hot.leaves, "the column has gone at once");
    uint64_t until = os_clock_ns() + (uint64_t)PATIENCE * SECOND;
    while (host->hot.leaves || leavings->open) {
        WORKS(host, bp_host_poll(host));
        os_sleep_ns(1000000);
        EXPECT(os_clock_ns() < until, "%u columns are left", leavings->count);
    }
    ck_assert_uint_eq(leavings->count, 0);
    end();
}
END_TEST

START_TEST(files_that_are_finished_together_come_in_together)
{
    begin(_i == 0 ? both : 0, 0);
    load_other();
    replace_plugin("crasher_next");
    replace("companion", other);
    wait_for_news(true);
    ck_assert_uint_eq(told.refused, 0);
    expect_told("plugin crasher: 1.0 -> 2.0");
    expect_told("plugin companion: 1.0 -> 1.0");
    ck_assert_uint_eq(told.count, 1);
    end();
}
END_TEST

START_TEST(a_set_is_refused_as_one_and_comes_in_as_one_when_the_bad_part_is_right)
{
    begin(both, 0);
    load_other();
    harm_next("simulate", "null");
    replace_plugin("crasher_next");
    replace("companion", other);
    wait_for_news(true);
    ck_assert_uint_eq(told.refused, 1);
    expect_told("crasher");
    expect_told("companion");
    expect_told("crashed in 'simulate'");
    unsetenv("CRASHER_WHERE");
    replace_plugin("crasher_next");
    wait_for_news(true);
    EXPECT(told.refused == 1, "%s", told.text);
    expect_told("plugin crasher: 1.0 -> 2.0");
    expect_told("plugin companion: 1.0 -> 1.0");
    replace("companion", other); /* nothing waits any more */
    wait_for_news(true);
    expect_told("reloaded companion 1.0 -> 1.0");
    ck_assert_ptr_null(strstr(told.text, "crasher"));
    end();
}
END_TEST

/* A set that crashed waits for a file of its own, also where the crash would not come again. */
START_TEST(a_set_that_crashed_does_not_come_in_with_a_file_of_another_plugin)
{
    static char third[620];
    begin(both, 0);
    load_other();
    snprintf(third, sizeof third, "%s/probe.so", folder);
    copy_plugin("reload_probe_first", third);
    WORKS(host, bp_host_load_plugin(host, third, NULL, 0));
    WORKS(host, bp_host_poll(host));
    harm_next("simulate", "null");
    replace_plugin("crasher_next");
    replace("companion", other);
    wait_for_news(true);
    ck_assert_uint_eq(told.refused, 1);
    unsetenv("CRASHER_WHERE");
    replace("reload_probe_faster", third);
    wait_for_news(true);
    EXPECT(told.refused == 1, "%s", told.text);
    expect_told("reloaded probe 1 -> 2");
    EXPECT(strstr(told.text, "crasher") == NULL && strstr(told.text, "companion") == NULL, "%s", told.text);
    remove(third);
    end();
}
END_TEST

/* A file that was refused together with one that waited is tried without that next. Where its plugin goes before, the
 * files of others are noticed as before. */
START_TEST(a_plugin_that_goes_before_it_is_tried_alone_does_not_hold_up_others)
{
    begin(both, 0);
    load_other();
    harm_next("simulate", "null");
    replace_plugin("crasher_next");
    replace("companion", other);
    wait_for_news(true); /* both wait */
    replace("companion", other);
    uint64_t until = os_clock_ns() + (uint64_t)PATIENCE * SECOND;
    while (!host->hot.alone && os_clock_ns() < until) {
        WORKS(host, bp_host_poll(host));
        os_sleep_ns(1000000);
    }
    EXPECT(host->hot.alone, "nothing was refused with what waited");
    WORKS(host, bp_host_unload_plugin(host, "companion"));
    unsetenv("CRASHER_WHERE");
    WORKS(host, bp_host_poll(host));
    replace_plugin("crasher_next");
    wait_for_news(true);
    EXPECT(told.refused == 1, "%s", told.text);
    expect_told("reloaded crasher 1.0 -> 2.0");
    end();
}
END_TEST

START_TEST(what_was_refused_for_a_crash_does_not_hold_up_others)
{
    begin(both, 2000);
    load_other();
    harm_next("load", _i == 0 ? "loop" : "null");
    replace_plugin("crasher_next");
    wait_for_news(true);
    ck_assert_uint_eq(told.refused, 1);
    replace("companion", other);
    wait_for_news(true);
    EXPECT(told.refused == 1, "%s", told.text);
    ck_assert_ptr_null(strstr(told.text, "crasher"));
    end();
}
END_TEST

/* --- by hand ------------------------------------------------------------------------------------------------------ */

START_TEST(what_is_reloaded_by_hand_is_tried_first)
{
    bp_reload_report_t report = {.struct_size = sizeof report};
    begin(_i == 0 ? both | BY_HAND : BP_HOST_TRIAL | BY_HAND, 2000);
    char *before = describe_host(host);
    replace_plugin("crasher_next");
    harm_next("second_step", "null");
    ck_assert_int_eq(bp_host_reload(host, crasher, 1, &report), BP_ERROR_FAILED);
    EXPECT(strstr(report.text, _i == 0 ? "crashed in 'simulate'" : "on trial it") != NULL, "%s", report.text);
    harm_next("load", "loop");
    ck_assert_int_eq(bp_host_reload(host, crasher, 1, &report), BP_ERROR_FAILED);
    EXPECT(strstr(report.text, _i == 0 ? "it did not return within" : "had not come through after 2000 ms") != NULL,
           "%s", report.text);
    expect_same(before, describe_host(host), report.text);
    ck_assert_uint_eq(told.refused, 2);
    unsetenv("CRASHER_WHERE");
    WORKS(host, bp_host_reload(host, crasher, 1, &report));
    float x = x_now();
    step(1);
    ck_assert(x_now() == x + 100.0f);
    end();
}
END_TEST

START_TEST(without_trials_what_is_reloaded_by_hand_comes_in_untried)
{
    begin(BP_HOST_CRASH_GUARD | BY_HAND, 0);
    replace_plugin("crasher_next");
    harm_next("second_step", "null");
    WORKS(host, bp_host_reload(host, crasher, 1, NULL));
    step(2);
    EXPECT(strstr(log_text.text, "the version before is back") != NULL, "%s", log_text.text);
    end();
}
END_TEST

START_TEST(what_was_reloaded_by_hand_is_not_reloaded_again)
{
    enum { LONG_ENOUGH = SECOND / 4 }; /* for the watcher to settle; where it is too short nothing fails */
    begin(both, 2000);
    replace_plugin("crasher_next");
    WORKS(host, bp_host_reload(host, crasher, 1, NULL));
    for (uint64_t until = os_clock_ns() + LONG_ENOUGH; os_clock_ns() < until; os_sleep_ns(1000000))
        WORKS(host, bp_host_poll(host));
    EXPECT(told.count == 1, "%s", told.text);
    replace_plugin("crasher");
    wait_for_news(true);
    EXPECT(told.count == 2 && told.refused == 0, "%s", told.text);
    end();
}
END_TEST

START_TEST(a_trial_that_a_reload_by_hand_interrupts_is_made_anew)
{
    static const char *const companion[] = {"companion"};
    begin(both, 2000);
    load_other();
    harm_next("load", "sleep");
    replace_plugin("crasher_next");
    uint64_t until = os_clock_ns() + (uint64_t)PATIENCE * SECOND;
    while (host->hot.trial.child == NULL && os_clock_ns() < until) {
        WORKS(host, bp_host_poll(host));
        os_sleep_ns(1000000);
    }
    ck_assert_ptr_nonnull(host->hot.trial.child);
    WORKS(host, bp_host_reload(host, companion, 1, NULL));
    ck_assert_uint_eq(told.refused, 0);
    wait_for_news(true);
    ck_assert_uint_eq(told.refused, 1);
    expect_told("not reloaded: crasher");
    expect_told("it did not return within");
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* no copy has been left, that of the first trial neither */
    end();
}
END_TEST

static void find_nothing(void *data, int32_t level, const char *text)
{
    (void)data, (void)level, (void)text;
}

/* Opening the pipe would wait for a writer. */
START_TEST(a_pipe_in_the_place_of_the_file_is_refused)
{
    bp_reload_report_t report = {.struct_size = sizeof report};
    begin(both | BY_HAND, 0);
    remove(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(bp_host_reload(host, crasher, 1, &report), BP_ERROR_IO);
    EXPECT(strstr(report.text, "is a pipe or a device") != NULL, "%s", report.text);
    ck_assert_int_eq(bp_check_plugin(path, NULL, 0, find_nothing, NULL), BP_ERROR_IO);
    ck_assert_int_eq(bp_host_load_plugin(host, path, NULL, 0), BP_ERROR_IO);
    end();
}
END_TEST

/* A manager with state that no property, `save` or form gives. */
START_TEST(instances_of_which_nothing_can_be_carried_over_are_told_of)
{
    static const char *const hoard[] = {"hoard"};
    bp_entity_t e;
    bp_reload_report_t report = {.struct_size = sizeof report};
    begin(both | BY_HAND, 0);
    snprintf(other, sizeof other, "%s/hoard.so", folder);
    copy_plugin("hoard", other);
    WORKS(host, bp_host_load_plugin(host, other, NULL, 0));
    WORKS(host, bp_world_use_component(world, "hoard"));
    WORKS(host, bp_host_reload(host, hoard, 1, &report));
    ck_assert_ptr_null(strstr(report.text, "made anew"));
    add("hoard", &e);
    WORKS(host, bp_host_reload(host, hoard, 1, &report));
    EXPECT(strstr(report.text, "component hoard, 1 instances: fields as they were; made anew with their defaults") !=
               NULL,
           "%s", report.text);
    setenv("HOARD_FULL", "1", 1);
    ck_assert_int_eq(bp_host_reload(host, hoard, 1, &report), BP_ERROR_FAILED);
    EXPECT(strstr(report.text, "the new version does not take the instances: it gave no reason (code") != NULL, "%s",
           report.text);
    unsetenv("HOARD_FULL");
    end();
}
END_TEST

/* A world with `count` entities that have the component, three steps old. */
static void begin_purse(const char *component, uint32_t count)
{
    bp_entity_t e;
    begin(both | BY_HAND, 0);
    snprintf(other, sizeof other, "%s/purse.so", folder);
    copy_plugin("purse", other);
    WORKS(host, bp_host_load_plugin(host, other, NULL, 0));
    WORKS(host, bp_world_use_component(world, component));
    for (uint32_t i = 0; i < count; i++)
        add(component, &e);
    for (int i = 0; i < 3; i++)
        WORKS(host, bp_host_step(host));
}

static const char *const purse[] = {"purse"};

/* Properties that nothing can set, of a manager without save and load. */
START_TEST(what_a_reload_cannot_bring_back_is_told_and_refused)
{
    bp_reload_report_t report = {.struct_size = sizeof report};
    begin_purse("purse", 2);
    ck_assert_int_eq(bp_host_reload(host, purse, 1, &report), BP_ERROR_FAILED);
    EXPECT(strstr(report.text, "component 'purse', world 'main': it would lose items of 2 entities (the first is ") !=
               NULL, "%s", report.text);
    EXPECT(strstr(report.text, ": 3 before, 0 after), which nothing can set") != NULL, "%s", report.text);
    EXPECT(strstr(report.text, "reload purse --lossy") != NULL, "%s", report.text);
    ck_assert_int_eq(bp_host_reload(host, purse, 1, NULL), BP_ERROR_FAILED); /* nothing was lost by the first */
    WORKS(host, bp_host_reload_lossy(host, purse, 1, &report));
    EXPECT(strstr(report.text, "    lost       items of 2 entities (the first is ") != NULL, "%s", report.text);
    uint32_t lost = 0;
    for (uint32_t i = 0; i < report.field_count; i++)
        lost += report.fields[i].what == BP_RELOAD_LOST ? report.fields[i].lost : 0;
    ck_assert_uint_eq(lost, 2);
    WORKS(host, bp_host_reload(host, purse, 1, NULL)); /* now there is nothing to lose */
    end();
}
END_TEST

/* Texts are compared by what they say: those of another version lie elsewhere. */
START_TEST(a_text_that_a_reload_cannot_bring_back_is_told_and_refused)
{
    bp_reload_report_t report = {.struct_size = sizeof report};
    begin_purse("noted_purse", 2);
    ck_assert_int_eq(bp_host_reload(host, purse, 1, &report), BP_ERROR_FAILED);
    EXPECT(strstr(report.text, "it would lose note of 2 entities (the first is ") != NULL, "%s", report.text);
    EXPECT(strstr(report.text, ": full before, empty after), which nothing can set") != NULL, "%s", report.text);
    WORKS(host, bp_host_reload_lossy(host, purse, 1, NULL));
    WORKS(host, bp_host_reload(host, purse, 1, &report));
    EXPECT(strstr(report.text, "lost") == NULL, "%s", report.text);
    end();
}
END_TEST

START_TEST(a_component_may_allow_what_a_reload_loses)
{
    bp_reload_report_t report = {.struct_size = sizeof report};
    begin_purse("loose_purse", 1);
    WORKS(host, bp_host_reload(host, purse, 1, &report));
    EXPECT(strstr(report.text, "    lost       items of 1 entity (") != NULL, "%s", report.text);
    EXPECT(strstr(report.text, ": 3 before, 0 after), in world main") != NULL, "%s", report.text);
    end();
}
END_TEST

/* A manager that has a `set`, and passes over what `create` gives it: found on trial, and without a trial in the host
 * itself, before anything is lost. */
START_TEST(what_a_manager_is_given_and_does_not_keep_is_told_and_refused)
{
    static const char *const forgetful[] = {"forgetful"};
    bp_reload_report_t report = {.struct_size = sizeof report};
    const float level = 7;
    float now = 0;
    bp_entity_t e;
    begin(_i == 0 ? both : BP_HOST_CRASH_GUARD | BY_HAND, 0);
    snprintf(other, sizeof other, "%s/forgetful.so", folder);
    copy_plugin("forgetful", other);
    WORKS(host, bp_host_load_plugin(host, other, NULL, 0));
    WORKS(host, bp_world_use_component(world, "forgetful"));
    add("forgetful", &e);
    const bp_property_api *property = bp_host_api(host)->property;
    WORKS(host, property->set_named(world, e, "forgetful", "level", BP_F32, &level));
    ck_assert_int_eq(bp_host_reload(host, forgetful, 1, &report), BP_ERROR_FAILED);
    EXPECT(strstr(report.text, "component 'forgetful', world 'main': it would lose level of 1 entity (") != NULL, "%s",
           report.text);
    ck_assert((strstr(report.text, "on trial: ") != NULL) == (_i == 0));
    EXPECT(strstr(report.text, ": 7 before, 0 after), though it was given the values") != NULL, "%s", report.text);
    WORKS(host, property->get_named(world, e, "forgetful", "level", BP_F32, &now));
    ck_assert(now == level);
    WORKS(host, bp_host_reload_lossy(host, forgetful, 1, &report));
    EXPECT(strstr(report.text, "    lost       level of 1 entity (") != NULL, "%s", report.text);
    end();
}
END_TEST

START_TEST(what_follows_from_the_rest_is_not_called_lost)
{
    bp_reload_report_t report = {.struct_size = sizeof report};
    begin_purse("derived_purse", 1);
    WORKS(host, bp_host_reload(host, purse, 1, &report));
    EXPECT(strstr(report.text, "lost") == NULL, "%s", report.text);
    end();
}
END_TEST

START_TEST(instances_that_no_entity_has_are_counted)
{
    bp_reload_report_t report = {.struct_size = sizeof report};
    begin_purse("crowd", 2);
    ck_assert_int_eq(bp_host_reload(host, purse, 1, &report), BP_ERROR_FAILED);
    EXPECT(strstr(report.text, "it would lose 3 instances (5 before, 2 after)") != NULL, "%s", report.text);
    WORKS(host, bp_host_reload_lossy(host, purse, 1, &report));
    EXPECT(strstr(report.text, "    lost       3 instances (5 before, 2 after), in world main") != NULL, "%s",
           report.text);
    end();
}
END_TEST

START_TEST(a_world_that_is_saved_tells_what_is_left_out)
{
    char file[640];
    begin_purse("purse", 2);
    snprintf(file, sizeof file, "%s/world.bpe", folder);
    log_text.text[0] = '\0';
    WORKS(host, bp_world_save(world, file));
    EXPECT(strstr(log_text.text, "property 'items' of component 'purse' is not saved, since nothing can set it: lost "
                                  "for 2 of 2 entities") != NULL, "%s", log_text.text);
    end();
}
END_TEST

/* What goes on in another process, or between steps, wakes no handle: a program that waits looks at it soon. */
START_TEST(a_wait_is_short_where_nothing_would_wake_it)
{
    enum { BUSY = 6, NANO_MS = 1000000 };
    intptr_t handles[HOT_HANDLES];
    uint32_t count = 0;
    begin(BP_HOST_CRASH_GUARD, 0);
    const uint64_t soon = HOT_POLL_MS * (uint64_t)NANO_MS, until = os_clock_ns() + (uint64_t)PATIENCE * SECOND;
    while (hot_sleep(&host->hot, handles, &count) == soon && os_clock_ns() < until) { /* files that came just now */
        WORKS(host, bp_host_poll(host));
        os_sleep_ns(NANO_MS);
    }
    hot_t calm = host->hot;
    uint64_t slept = hot_sleep(&calm, handles, &count);
    EXPECT(slept == WATCH_BACKSTOP_MS * (uint64_t)NANO_MS && count == 1, "%u handles", count);
    int32_t place = calm.watch.files[0]->folder;
    calm.watch.files[0]->folder = -1; /* of a file that is missing; the host looks for it at intervals */
    ck_assert(hot_sleep(&calm, handles, &count) == WATCH_RETRY_MS * (uint64_t)NANO_MS);
    calm.watch.files[0]->folder = place;
    folder_watch_t *folders = calm.watch.folders;
    calm.watch.folders = NULL; /* as where the system gives no notices */
    ck_assert(hot_sleep(&calm, handles, &count) == WATCH_LOOK_MS * (uint64_t)NANO_MS);
    ck_assert_uint_eq(count, 0);
    calm.watch.folders = folders;
    for (int i = 0; i < BUSY; i++) {
        hot_t hot = calm;
        if (i == 1)
            hot.readies = true;
        else if (i == 2)
            hot.leaving = true;
        else if (i == 3)
            hot.fresh = 1;
        else if (i == 4)
            hot.alone = true;
        else if (i == 5)
            hot.trial.child = (process_t *)(void *)&hot;
        bool busy = i > 0;
        EXPECT((hot_sleep(&hot, handles, &count) == soon) == busy, "%d", i);
        EXPECT(count == !busy, "%d: %u handles", i, count);
        hot.watching = hot.building = false;
        bool any = i == 1 || i == 2 || i == 5;
        EXPECT((hot_sleep(&hot, handles, &count) != UINT64_MAX) == any, "%d", i);
        hot.asked = true;
        EXPECT(hot_sleep(&hot, handles, &count) != UINT64_MAX, "%d", i);
        ck_assert_uint_eq(count, 0);
    }
    end();
}
END_TEST

START_TEST(polling_is_for_between_steps)
{
    begin(0, 0);
    host->destruction.stepping++;
    ck_assert_int_eq(bp_host_poll(host), BP_ERROR_STATE);
    host->destruction.stepping--;
    end();
}
END_TEST

Suite *hot_suite(void)
{
    Suite *suite = suite_create("hot");
    TCase *files = tcase_create("files");
    tcase_set_timeout(files, 60);
    tcase_add_loop_test(files, a_new_file_comes_in_by_itself, 0, 12);
    tcase_add_test(files, a_trial_ends_no_instances_of_other_plugins);
    tcase_add_test(files, what_goes_a_moment_after_plugins_have_been_paused_on_trial_is_not_called_left);
    tcase_add_test(files, a_broken_file_is_refused_with_its_reason);
    tcase_add_test(files, a_wait_is_short_where_nothing_would_wake_it);
    tcase_add_test(files, polling_is_for_between_steps);
    tcase_add_test(files, what_a_reload_cannot_bring_back_is_told_and_refused);
    tcase_add_test(files, a_text_that_a_reload_cannot_bring_back_is_told_and_refused);
    tcase_add_test(files, a_component_may_allow_what_a_reload_loses);
    tcase_add_test(files, what_follows_from_the_rest_is_not_called_lost);
    tcase_add_loop_test(files, what_a_manager_is_given_and_does_not_keep_is_told_and_refused, 0, 2);
    tcase_add_test(files, instances_that_no_entity_has_are_counted);
    tcase_add_test(files, a_world_that_is_saved_tells_what_is_left_out);
    suite_add_tcase(suite, files);
    tcase_add_loop_test(files, what_goes_wrong_on_trial_changes_nothing, 0,
                        (2 * COUNT(harms) + TRIED_APART - 1) / TRIED_APART);
    tcase_add_loop_test(files, verbs_are_called_on_trial_for_the_entities_that_are_there, 0, 2);
#if defined(__GLIBC__) && !defined(BACKPLANE_SANITIZED)
    tcase_add_test(files, what_a_library_says_before_it_ends_the_process_is_told_once);
#endif
    tcase_add_test(files, what_a_world_has_had_first_is_tried_as_well);
    tcase_add_loop_test(files, without_a_trial_the_guard_refuses_what_crashes_while_it_comes_in, 0, 8);
    tcase_add_loop_test(files, a_crash_while_a_version_is_closed_is_told_and_survived, 0, 3);
    tcase_add_loop_test(files, a_crash_on_probation_brings_the_version_before_back, 0, 3);
    tcase_add_loop_test(files, a_crash_of_the_version_before_at_its_end_is_not_held_against_the_next_one, 0, 2);
    tcase_add_test(files, a_good_version_brings_a_plugin_back_that_was_set_aside);
    tcase_add_test(files, a_death_while_a_plugin_is_set_aside_does_not_keep_the_next_version_out);
    tcase_add_test(files, an_unloaded_candidate_is_let_go);
    tcase_add_test(files, texts_that_have_gone_are_let_go_of_and_then_all_is_as_before);
    tcase_add_loop_test(files, files_that_are_finished_together_come_in_together, 0, 2);
    tcase_add_test(files, a_set_is_refused_as_one_and_comes_in_as_one_when_the_bad_part_is_right);
    tcase_add_test(files, a_set_that_crashed_does_not_come_in_with_a_file_of_another_plugin);
    tcase_add_test(files, a_plugin_that_goes_before_it_is_tried_alone_does_not_hold_up_others);
    tcase_add_loop_test(files, what_was_refused_for_a_crash_does_not_hold_up_others, 0, 2);
    tcase_add_loop_test(files, what_is_reloaded_by_hand_is_tried_first, 0, 2);
    tcase_add_test(files, without_trials_what_is_reloaded_by_hand_comes_in_untried);
    tcase_add_test(files, what_was_reloaded_by_hand_is_not_reloaded_again);
    tcase_add_test(files, a_trial_that_a_reload_by_hand_interrupts_is_made_anew);
    tcase_add_test(files, a_pipe_in_the_place_of_the_file_is_refused);
    tcase_add_test(files, instances_of_which_nothing_can_be_carried_over_are_told_of);
    return suite;
}
