/* test_guard.c - a crash of a plugin ends the call and sets the plugin aside; the host goes on.
 *
 * The plugin is tests/fixtures/crasher.c, told by its options where to crash and how. Each test runs in a process of
 * its own (Check forks), so one that is not caught fails that test. Under ThreadSanitizer only those without a
 * crash are run: it defers signals and cannot be jumped out of.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "../system/calls.h"
#include "../unit/support.h"

#include "engine/host.h"
#include "plugin/guard.h"
#include "plugin/holdings.h"
#include "reload/process.h"
#include "os/os.h"

#include <bp_look.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#if !defined(_WIN32)
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#endif
#if defined(__linux__)
#include "plugin/guard_posix.h"

#include <dirent.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/auxv.h>
#endif

enum { LIMIT_MS = 60 };

#if defined(_WIN32)
#define BAD_ADDRESS "EXCEPTION_ACCESS_VIOLATION"
enum { LATE_WAYS = 2 }; /* one that waits in the system is not ended there */
#else
enum { LATE_WAYS = 6 };
#define BAD_ADDRESS "SIGSEGV"
#endif

#if defined(SIGRTMIN)
#define LATE_SIGNAL (SIGRTMIN + 6) /* the guard's for calls that are late */
#else
#define LATE_SIGNAL SIGXFSZ
#endif

#if defined(__SANITIZE_THREAD__)
enum { FIT = 0 };
#else
enum { FIT = 1 };
#endif

typedef struct scene_t {
    log_text_t log;
    bp_host_o *host;
    const bp_api_t *api;
    bp_world_o *world;
    bp_entity_t plain, own;
} scene_t;

static scene_t scene;

static void open_host(uint32_t threads, uint32_t limit)
{
    memset(&scene, 0, sizeof scene);
    KEEPS_MEMORY();
    bp_host_desc_t desc = {.struct_size = sizeof desc, .threads = threads, .log = log_into(&scene.log)};
    desc.flags = BP_HOST_CRASH_GUARD;
    desc.call_limit = limit;
    scene.host = bp_host_create(&desc);
    ck_assert_ptr_nonnull(scene.host);
    scene.api = bp_host_api(scene.host);
}

static bp_result_t load(const char *where, const char *how)
{
    bp_option_t options[] = {{.name = "where", .value = where}, {.name = "how", .value = how}};
    return bp_host_load_plugin(scene.host, TEST_FIXTURE_DIR "/crasher", options, 2);
}

static void add_entity(const char *type, bp_entity_t *entity)
{
    uint32_t key = key_of(scene.world, type, "");
    WORKS(scene.host, scene.api->entity->create(scene.host, entity, 1));
    WORKS(scene.host, scene.api->world->add(scene.world, key, entity, 1));
}

/* A world with an entity of each kind and the system, and a plugin that works elsewhere. */
static void make_world(void)
{
    WORKS(scene.host, bp_host_load_plugin(scene.host, TEST_PLUGIN_DIR "/point_mass", NULL, 0));
    scene.world = bp_world_create(scene.host, &(bp_world_desc_t){.name = "main", .step_rate = 1});
    WORKS(scene.host, bp_world_use_component(scene.world, "crash_plain"));
    WORKS(scene.host, bp_world_use_component(scene.world, "crash_own"));
    WORKS(scene.host, bp_world_use_component(scene.world, "point_mass"));
    WORKS(scene.host, bp_world_use_system(scene.world, "crash_system"));
    add_entity("crash_plain", &scene.plain);
}

static void begin(const char *where, const char *how)
{
    open_host(1, 0);
    WORKS(scene.host, load(where, how));
    make_world();
}

static void expect_log(const char *part)
{
    EXPECT(strstr(scene.log.text, part) != NULL, "\"%s\" is not in the log:\n%s", part, scene.log.text);
}

static const char *crash_of(const char *name)
{
    const bp_plugin_head_t *desc;
    for (uint32_t i = 0; (desc = bp_host_plugin(scene.host, i, NULL)) != NULL; i++) {
        if (strcmp(desc->name, name) == 0)
            return bp_host_plugin_crash(scene.host, i);
    }
    return "not loaded";
}

static float x_of(bp_entity_t entity, const char *type)
{
    float x = -1;
    WORKS(scene.host, scene.api->property->get_named(scene.world, entity, type, "x", BP_F32, &x));
    return x;
}

/* --- ways to crash --------------------------------------------------------------------------------------------- */

#if defined(_WIN32)
static const char *const ways[][3] = {
    {"null", "EXCEPTION_ACCESS_VIOLATION at address 0x10 (a null pointer)", ""},
    {"wild", "EXCEPTION_ACCESS_VIOLATION at address 0x123456789000", ""},
    {"odd", "EXCEPTION_ACCESS_VIOLATION at an address that no memory can have", ""},
    {"zero", "EXCEPTION_INT_DIVIDE_BY_ZERO: it divided an integer by zero", ""},
    {"stack", "EXCEPTION_STACK_OVERFLOW: the stack ran out", ""},
    {"illegal", "EXCEPTION_ILLEGAL_INSTRUCTION", ""},
    {"abort", "SIGABRT", ""},
    {"call", "EXCEPTION_ACCESS_VIOLATION: it called a null pointer", ""},
    {"jump", "EXCEPTION_ACCESS_VIOLATION: it jumped to address 0x5000", ""},
    {"library", "EXCEPTION_ACCESS_VIOLATION at address 0x20 (a null pointer)", ""},
    {"trap", "EXCEPTION_BREAKPOINT: a break point where no debugger is", ""},
};
#else
/* The function is known in each but those with ""; "?" is one that compilers put into its caller. */
static const char *const ways[][3] = {
    {"null", "SIGSEGV at address 0x10 (a null pointer)", "write_to"},
    {"wild", "SIGSEGV at address 0x123456789000", "write_to"},
    {"odd", "SIGSEGV at an address that no memory can have", "write_to"},
    {"zero", "SIGFPE: it divided an integer by zero", "divide"},
    {"stack", "SIGSEGV: the stack ran out", "?"},
    {"illegal", "SIGILL", "?"},
    {"abort", "SIGABRT", "?"},
    {"raise", "SIGSEGV, which it sent itself", "?"},
    {"call", "SIGSEGV: it called a null pointer", "jump_to"},
    {"jump", "SIGSEGV: it jumped to address 0x5000", "jump_to"},
    {"library", "SIGSEGV at address 0x20 (a null pointer)", ""},
    {"at_end", "SIGSEGV at address 0x10 (a null pointer)", ""},
    {"trap", "SIGTRAP: a break point where no debugger is", "?"},
    {"forbidden", "SIGSYS: a system call that is not allowed", "?"},
    {"pipe", "SIGPIPE: it wrote to a pipe or socket that has no reader", ""},
    {"thread", "it called pthread_exit", ""},
};
#endif

/* Tools see which units have no plugin at work. */
static bool looks_aside(const char *name)
{
    const bp_look_api *look = scene.api->registry->find(scene.host, BP_LOOK_API, 1);
    bp_look_unit_t unit = {.struct_size = sizeof unit};
    for (uint32_t cursor = 0; look->unit(scene.world, &cursor, &unit);) {
        if (strcmp(unit.name, name) == 0)
            return (unit.flags & BP_LOOK_ASIDE) != 0;
    }
    ck_abort_msg("there is no unit '%s'", name);
    return false;
}

START_TEST(a_crash_ends_the_call_and_sets_the_plugin_aside)
{
    begin("simulate", ways[_i][0]);
    WORKS(scene.host, bp_world_step(scene.world));
    EXPECT(crash_of("crasher") != NULL, "no crash is known");
    expect_log("plugin 'crasher' 1.0 crashed in 'simulate' of component 'crash_plain', world 'main', step 0");
    expect_log(ways[_i][1]);
    if (ways[_i][2][0] != '\0') {
        char function[64];
        bool moves = ways[_i][2][0] == '?';
        snprintf(function, sizeof function, ", in its function '%s%s", moves ? "" : ways[_i][2], moves ? "" : "' (");
        expect_log(function);
    }
    expect_log("plugin 'crasher' is set aside");
    ck_assert_uint_eq(scene.log.count, 2);
    ck_assert_ptr_null(crash_of("point_mass"));
    ck_assert(looks_aside("crash_plain") && !looks_aside("point_mass"));
    float before = x_of(scene.plain, "crash_plain");
    for (int i = 0; i < 10; i++)
        WORKS(scene.host, bp_world_step(scene.world));
    ck_assert_uint_eq(scene.log.count, 2);
    ck_assert(x_of(scene.plain, "crash_plain") == before);
    bp_host_destroy(scene.host);
}
END_TEST

#if !defined(_WIN32)
START_TEST(a_verb_at_an_address_that_no_memory_can_have_is_the_plugins_crash)
{
    begin("nowhere", "null");
    WORKS(scene.host, bp_host_load_plugin(scene.host, TEST_FIXTURE_DIR "/nowhere", NULL, 0));
    WORKS(scene.host, bp_world_use_component(scene.world, "nowhere"));
    add_entity("nowhere", &scene.own);
    WORKS(scene.host, bp_world_step(scene.world));
    EXPECT(crash_of("nowhere") != NULL, "no crash is known");
    expect_log("plugin 'nowhere' 1.0 crashed in 'simulate' of component 'nowhere', world 'main', step 0: SIGSEGV");
    WORKS(scene.host, bp_world_step(scene.world));
    bp_host_destroy(scene.host);
}
END_TEST

/* --- what belongs to the process ---------------------------------------------------------------------------------- */

static const char *const changes[][2] = {
    {"rounding", "the way numbers are rounded"}, {"mask", "which signals are blocked"},
    {"handler", "the handlers of signals"},      {"folder", "the working directory"},
    {"umask", "the mask of new files"},          {"environment", "the environment;"},
    {"flags", "the handlers of signals"},        {"realtime", "the handlers of signals"},
    {"timer", "a timer"},                        {"locale", "the locale of the thread"},
    {"stdin", "the standard input;"},            {"denormal", "the way numbers are rounded"},
    {"stack_of_handlers", "the stack for handlers of signals"},
};

START_TEST(what_a_plugin_does_to_the_process_is_told_and_put_back)
{
    char before[1024], now[1024];
    sigset_t blocked;
    struct sigaction action, earlier;
    struct itimerval timer;
    stack_t stack;
    ck_assert_ptr_nonnull(getcwd(before, sizeof before));
    mode_t mask = umask(022);
    /* Who began the tests may have had them ignored. */
    signal(SIGUSR2, SIG_DFL);
    signal(SIGRTMAX, SIG_DFL);
    open_host(1, 0);
    sigaction(SIGSEGV, NULL, &earlier);
    WORKS(scene.host, load("load", changes[_i][0]));
    expect_log("plugin 'crasher' 1.0 has changed in 'load': ");
    expect_log(changes[_i][1]);
    ck_assert_int_eq(fegetround(), FE_TONEAREST);
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    ck_assert_int_eq(sigismember(&blocked, SIGUSR1), 0);
    sigaction(SIGUSR2, NULL, &action);
    ck_assert(action.sa_handler == SIG_DFL);
    sigaction(SIGRTMAX, NULL, &action);
    ck_assert(action.sa_handler == SIG_DFL);
    sigaction(SIGSEGV, NULL, &action);
    ck_assert_int_eq(action.sa_flags, earlier.sa_flags);
    sigaltstack(NULL, &stack);
    ck_assert_int_eq(stack.ss_flags & SS_DISABLE, 0);
    getitimer(ITIMER_REAL, &timer);
    ck_assert_int_eq(timer.it_value.tv_sec, 0);
    ck_assert(uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
    ck_assert_int_ge(fcntl(0, F_GETFD), 0);
    ck_assert_ptr_nonnull(getcwd(now, sizeof now));
    ck_assert_str_eq(now, before);
    ck_assert_uint_eq(umask(mask), 022);
    make_world();
    ck_assert_ptr_null(crash_of("crasher"));
    bp_host_destroy(scene.host);
}
END_TEST

/* Code of the library that runs when the system opens and closes it may change the process too. */
START_TEST(what_a_library_does_to_the_process_when_it_is_opened_or_closed_is_told_and_put_back)
{
    static const char *const when[][2] = {
        {"constructor", "crasher_next" TEST_SO "' has changed while it was opened: the working directory; what can"},
        {"destructor", "plugin 'crasher' 2.0 has changed while it was closed: the working directory; what can"}};
    char before[1024], now[1024];
    ck_assert_ptr_nonnull(getcwd(before, sizeof before));
    setenv("CRASHER_WHERE", when[_i][0], 1);
    setenv("CRASHER_HOW", "folder", 1);
    open_host(1, 0);
    WORKS(scene.host, bp_host_load_plugin(scene.host, TEST_FIXTURE_DIR "/crasher_next", NULL, 0));
    WORKS(scene.host, bp_host_unload_plugin(scene.host, "crasher"));
    expect_log("host: 2: plugin '");
    expect_log(when[_i][1]);
    ck_assert_ptr_nonnull(getcwd(now, sizeof now));
    ck_assert_str_eq(now, before);
    bp_host_destroy(scene.host);
}
END_TEST

START_TEST(an_environment_that_a_plugin_has_changed_is_what_it_was)
{
    setenv("CRASHER_KEPT", "kept", 1);
    setenv("CRASHER_GONE", "", 1);
    const char *kept = getenv("CRASHER_KEPT");
    open_host(1, 0);
    WORKS(scene.host, load("load", "environment"));
    expect_log("has changed in 'load': the environment;");
    ck_assert_ptr_null(getenv("CRASHER_LEFT"));
    ck_assert_ptr_null(getenv("CRASHER_PUT"));
    ck_assert_str_eq(getenv("CRASHER_KEPT"), "kept");
    ck_assert_str_eq(getenv("CRASHER_GONE"), "");
    ck_assert_str_eq(kept, "kept"); /* whoever has asked before has an address that stays good */
    bp_host_destroy(scene.host);
}
END_TEST

/* A file may be held until the plugin goes. A thread that goes on after that goes on in memory that is there. */
START_TEST(what_a_plugin_has_left_is_told_when_it_goes)
{
    static const char *const left[][2] = {
        {"descriptor", "plugin 'crasher' 1.0 has been unloaded, and has left: 1 file open"},
        {"child", "plugin 'crasher' 1.0 has been unloaded, and has left: 1 process running"},
        {"system_timer", "plugin 'crasher' 1.0 has been unloaded, and has left: 1 timer running"},
        {"left_thread", "plugin 'crasher' 1.0: it leaves threads running when it is unloaded; its library stays"},
    };
    static const char *const verbs[] = {"load", "plain_start"};
    for (uint32_t i = 0; i < COUNT(verbs); i++) {
        begin(verbs[i], left[_i][0]);
        expect_log(i == 0 ? "host: 0: plugin 'crasher' 1.0 has left in 'load': 1 "
                          : "host: 0: plugin 'crasher' 1.0 has left in 'start' of component 'crash_plain', world ");
        WORKS(scene.host, bp_host_unload_plugin(scene.host, "crasher"));
        expect_log(left[_i][1]);
        usleep(20000); /* the thread has its chance to crash */
        bp_host_destroy(scene.host);
    }
}
END_TEST

/* As in a trial, where what the process had before is known. */
START_TEST(looking_for_threads_that_a_plugin_has_left_keeps_no_memory)
{
    holdings_seen_t known;
    open_host(1, 0);
    WORKS(scene.host, load("nowhere", "null"));
    plugins_t *all = &scene.host->loader.plugins;
    holdings_see(all, &known);
    all->known = &known;
    size_t before = memory_bytes(&all->base->memory);
    ck_assert(!holdings_have_threads(all->items[0]));
    ck_assert_uint_eq(memory_bytes(&all->base->memory), before);
    all->known = NULL;
    holdings_forget(all, &known);
    bp_host_destroy(scene.host);
}
END_TEST

/* It has room for fewer, and would look beyond them. */
START_TEST(what_a_process_of_very_many_files_has_open_is_not_looked_at)
{
    enum { MANY = 600 };
    int files[MANY];
    holdings_seen_t seen;
    open_host(1, 0);
    plugins_t *all = &scene.host->loader.plugins;
    size_t before = memory_bytes(&all->base->memory);
    for (uint32_t i = 0; i < MANY; i++) {
        files[i] = dup(0);
        ck_assert_int_ge(files[i], 0);
    }
    holdings_see(all, &seen);
    ck_assert_ptr_null(seen.items);
    ck_assert_uint_eq(seen.count, 0);
    ck_assert_uint_eq(memory_bytes(&all->base->memory), before);
    for (uint32_t i = 0; i < MANY; i++)
        close(files[i]);
    holdings_see(all, &seen);
    ck_assert_ptr_nonnull(seen.items);
    holdings_forget(all, &seen);
    bp_host_destroy(scene.host);
}
END_TEST

static void *wait_for_end(void *data)
{
    char byte;
    return read(*(const int *)data, &byte, 1) == 1 ? data : NULL;
}

/* Have a thread begin, or a file be opened where there is a path, as in a call of the plugin. */
static int have_come(plugin_t *plugin, const char *path, pthread_t *thread, int *pipe_end)
{
    holdings_seen_t seen;
    char came[128];
    int file = -1;
    holdings_see(plugin->all, &seen);
    if (path != NULL)
        ck_assert_int_ge(file = open(path, O_RDONLY), 0);
    else
        ck_assert_int_eq(pthread_create(thread, NULL, wait_for_end, pipe_end), 0);
    ck_assert(holdings_note(plugin->all, plugin, &seen, came, sizeof came));
    ck_assert_str_eq(came, path == NULL ? "1 thread running" : "1 file open");
    return file;
}

static void end_thread(pthread_t thread, const int pipe_ends[2])
{
    ck_assert_int_eq(write(pipe_ends[1], "", 1), 1);
    pthread_join(thread, NULL);
}

/* A plugin is paused and resumed for each trial and each snapshot, with new threads each time; another one opens many
 * files. Whichever came before: a library in which a thread runs may not be closed. */
START_TEST(a_thread_that_a_plugin_has_left_is_known_however_much_it_has_had_before)
{
    enum { MANY = 2 * PLUGIN_HELD_MOST };
    int ends[2], files[MANY];
    pthread_t thread;
    char left[128];
    open_host(1, 0);
    WORKS(scene.host, load("nowhere", "null"));
    plugin_t *plugin = scene.host->loader.plugins.items[0];
    ck_assert_int_eq(pipe(ends), 0);
    for (int i = 0; i < MANY; i++) {
        files[i] = have_come(plugin, _i == 0 ? NULL : "/dev/null", &thread, ends);
        if (_i == 0)
            end_thread(thread, ends);
    }
    ck_assert(!holdings_have_threads(plugin));
    have_come(plugin, NULL, &thread, ends);
    ck_assert(holdings_have_threads(plugin));
    ck_assert(holdings_name(plugin, left, sizeof left));
    ck_assert_str_eq(left, _i == 0 ? "1 thread running" : "23 files open, 1 thread running");
    end_thread(thread, ends);
    ck_assert(!holdings_have_threads(plugin));
    for (int i = 0; _i == 1 && i < MANY; i++)
        close(files[i]);
    ck_assert(!holdings_name(plugin, left, sizeof left));
    bp_host_destroy(scene.host);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

/* A file has the lowest number that is free, which may be that of one that another plugin had. */
START_TEST(a_file_is_held_by_its_plugin_though_another_one_had_its_number)
{
    char left[128];
    open_host(1, 0);
    WORKS(scene.host, load("nowhere", "null"));
    WORKS(scene.host, bp_host_load_plugin(scene.host, TEST_PLUGIN_DIR "/point_mass", NULL, 0));
    plugin_t *const *plugins = scene.host->loader.plugins.items;
    int first = have_come(plugins[0], "/dev/null", NULL, NULL);
    close(first);
    int second = have_come(plugins[1], "/dev/zero", NULL, NULL);
    ck_assert_int_eq(second, first);
    ck_assert(holdings_name(plugins[1], left, sizeof left));
    ck_assert_str_eq(left, "1 file open");
    ck_assert(!holdings_name(plugins[0], left, sizeof left));
    close(second);
    bp_host_destroy(scene.host);
}
END_TEST

START_TEST(what_is_left_at_the_end_of_a_host_is_no_warning)
{
    begin("load", "descriptor");
    bp_host_destroy(scene.host);
    expect_log("host: 0: plugin 'crasher' 1.0 has been unloaded, and has left: 1 file open");
}
END_TEST

/* A verb that is called in every step is looked at now and then. */
START_TEST(what_a_step_does_to_the_process_is_found_in_the_end)
{
    begin("simulate", "rounding");
    for (int i = 0; i < 10000 && strstr(scene.log.text, "has changed in") == NULL; i++) {
        fesetround(FE_TONEAREST);
        WORKS(scene.host, bp_world_step(scene.world));
    }
    fesetround(FE_TONEAREST);
    expect_log("has changed in 'simulate' of component 'crash_plain', world 'main', step ");
    bp_host_destroy(scene.host);
}
END_TEST

/* What belongs to the process is looked at around one call in some 80 million rows, a call counting as 512 of them. The
 * plugin does the same in each step, and the test undoes it, so that it is a change each time. */
#if defined(BACKPLANE_SANITIZED) /* so many calls take half a minute there */
enum { WHOLE_PROCESS_FROM = 5 };
#else
enum { WHOLE_PROCESS_FROM = 0 };
#endif

START_TEST(what_a_step_does_to_the_whole_process_is_found_in_the_end)
{
    static const char *const means[][2] = {
        {"folder", "the working directory;"},
        {"umask", "the mask of new files;"},
        {"handler", "the handlers of signals;"},
        {"environment", "the environment;"},
        {"timer", "a timer;"},
        {"stdin", "the standard input;"},
        {"descriptor", "host: 2: plugin 'crasher' 1.0 has left in 'run_all' of system 'crash_system', world 'main'"},
    };
    enum { ROWS = 500 /* one range */, CALLS = 200000 };
    static bp_entity_t entities[ROWS];
    char folder[1024];
    const struct itimerval none = {.it_value = {0}};
    ck_assert_ptr_nonnull(getcwd(folder, sizeof folder));
    int input = dup(0);
    umask(022);
    begin(_i % 2 == 0 ? "run_all" : "simulate", means[_i][0]);
    WORKS(scene.host, scene.api->world->create(scene.world, prototype_of(scene.world, "crash_plain", NULL, NULL, NULL),
                                               entities, ROWS));
    int next = dup(0); /* the number of the next file that is opened */
    for (int i = 0; i < CALLS && strstr(scene.log.text, means[_i][1]) == NULL; i++) {
        close(next);
        ck_assert_int_eq(chdir(folder), 0);
        umask(022);
        signal(SIGUSR2, SIG_DFL);
        unsetenv("CRASHER_LEFT");
        unsetenv("CRASHER_PUT"); /* whose value lies in the plugin's image */
        setitimer(ITIMER_REAL, &none, NULL);
        dup2(input, 0);
        WORKS(scene.host, bp_world_step(scene.world));
    }
    expect_log(means[_i][1]);
    if (_i < 6) /* `simulate` may run on several threads at once */
        expect_log(_i % 2 == 0 ? "host: 2: plugin 'crasher' 1.0 has changed in 'run_all'"
                               : "host: 2: plugin 'crasher' 1.0, or one that ran beside it, has changed in 'simulate'");
    ck_assert_ptr_null(crash_of("crasher"));
    if (_i == 0) {
        char now[1024];
        ck_assert_ptr_nonnull(getcwd(now, sizeof now));
        ck_assert_str_eq(now, folder);
    }
    bp_host_destroy(scene.host);
}
END_TEST
#endif

/* --- every verb -------------------------------------------------------------------------------------------------- */

START_TEST(a_crash_in_load_refuses_the_plugin)
{
    open_host(1, 0);
    FAILS(scene.host, BP_ERROR_FAILED, "crashed in 'load': " BAD_ADDRESS, load("load", "null"));
    ck_assert_ptr_null(bp_host_plugin(scene.host, 0, NULL));
    WORKS(scene.host, load("nowhere", "null"));
    bp_host_destroy(scene.host);
}
END_TEST

START_TEST(a_crash_in_start_keeps_the_component_out)
{
    open_host(1, 0);
    WORKS(scene.host, load("plain_start", "null"));
    scene.world = bp_world_create(scene.host, &(bp_world_desc_t){.name = "main"});
    FAILS(scene.host, BP_ERROR_FAILED, "'start' of component 'crash_plain', world 'main'",
          bp_world_use_component(scene.world, "crash_plain"));
    FAILS(scene.host, BP_ERROR_STATE, "plugin 'crasher' is set aside",
          bp_world_use_component(scene.world, "crash_own"));
    WORKS(scene.host, bp_world_step(scene.world));
    bp_host_destroy(scene.host);
}
END_TEST

START_TEST(a_crash_in_the_start_of_a_system_is_told_to_who_wants_it)
{
    open_host(1, 0);
    WORKS(scene.host, load("system_start", "null"));
    scene.world = bp_world_create(scene.host, &(bp_world_desc_t){.name = "main", .step_rate = 1});
    WORKS(scene.host, bp_world_use_component(scene.world, "crash_plain"));
    FAILS(scene.host, BP_ERROR_FAILED, "crashed in 'start' of system 'crash_system'",
          bp_world_use_system(scene.world, "crash_system"));
    bp_host_destroy(scene.host);
}
END_TEST

START_TEST(a_crash_in_a_verb_with_a_result_is_its_error)
{
    static const char *const verbs[] = {"create", "get", "set"};
    begin(verbs[_i], "null");
    uint32_t key = key_of(scene.world, "crash_own", "");
    float x = 3;
    bp_result_t result;
    WORKS(scene.host, scene.api->entity->create(scene.host, &scene.own, 1));
    result = scene.api->world->add(scene.world, key, &scene.own, 1);
    ck_assert_int_eq(result, _i == 0 ? BP_ERROR_FAILED : BP_OK);
    if (_i == 1)
        result = scene.api->property->get_named(scene.world, scene.own, "crash_own", "x", BP_F32, &x);
    if (_i == 2)
        result = scene.api->property->set_named(scene.world, scene.own, "crash_own", "x", BP_F32, &x);
    ck_assert_int_eq(result, BP_ERROR_FAILED);
    EXPECT(strstr(bp_host_error(scene.host), "of component 'crash_own'") != NULL, "%s", bp_host_error(scene.host));
    ck_assert_uint_eq(scene.api->world->has(scene.world, key, &scene.own, 1, NULL), _i != 0);
    bp_entity_t another;
    WORKS(scene.host, scene.api->entity->create(scene.host, &another, 1));
    FAILS(scene.host, BP_ERROR_STATE, "set aside", scene.api->world->add(scene.world, key, &another, 1));
    bp_host_destroy(scene.host);
}
END_TEST

#if !defined(_WIN32)
/* What programs that read debug information print, and what is told of it. An earlier one is asked first. */
static const struct {
    const char *first, *second, *told; /* NULL: there is none; nothing */
} readers[] = {
    {"echo spin.c:17", NULL, "), at spin.c:17"},
    {"echo spin.c:17; echo more", NULL, "), at spin.c:17"},
    {"echo '/a b/spin.c:1 (discriminator 3)'", NULL, "), at /a b/spin.c:1"},
    {"echo spin.c:17", "echo other.c:18", "), at spin.c:17"},
    {NULL, "echo other.c:18", "), at other.c:18"},
    {"echo spin.c:17; exit 1", "echo other.c:18", "), at other.c:18"},
    {"echo spin.c:17; exit 1", NULL, NULL},
    {"echo '??:0'", "echo other.c:18", NULL},
    {"echo 'spin.c:?'", NULL, NULL},
    {"echo '??:17'", NULL, NULL},
    {"echo spin.c:0", NULL, NULL},
    {"echo spin", NULL, NULL},
    {"exit 0", NULL, NULL},
    {NULL, NULL, NULL},
};

static void put_reader(const char *folder, const char *name, const char *does)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
    FILE *file = does == NULL ? NULL : fopen(path, "w");
    if (file == NULL)
        return;
    fprintf(file, "#!/bin/sh\n[ \"$1\" = -e ] && [ -f \"$2\" ] && [ \"${3#0x}\" != \"$3\" ] || exit 1\n%s\n", does);
    fclose(file);
    ck_assert_int_eq(chmod(path, 0700), 0);
}

START_TEST(the_line_of_a_crash_is_told_where_a_program_knows_it)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s/readers.%d", TEST_SCRATCH_DIR, (int)getpid());
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    put_reader(folder, "addr2line", readers[_i].first);
    put_reader(folder, "llvm-addr2line", readers[_i].second);
    setenv("PATH", folder, 1);
    begin("simulate", "null");
    WORKS(scene.host, bp_world_step(scene.world));
    expect_log("in its function 'write_to' (");
    const char *told = strstr(scene.log.text, "), at ");
    if (readers[_i].told == NULL)
        EXPECT(told == NULL, "%s", scene.log.text);
    else
        EXPECT(told != NULL && strncmp(told, readers[_i].told, strlen(readers[_i].told)) == 0 &&
                   told[strlen(readers[_i].told)] == '\n', "%s", scene.log.text);
    bp_host_destroy(scene.host);
    put_reader(folder, "addr2line", NULL);
    put_reader(folder, "llvm-addr2line", NULL);
    rmdir(folder);
}
END_TEST
#endif

START_TEST(a_crash_in_a_verb_without_a_result_is_survived)
{
    static const char *const verbs[] = {"destroy", "died",        "count",         "run_all",
                                        "report",  "second_step", "system_report", "gc",
                                        "unload",  "system_died", "plugin_died"};
    begin(verbs[_i], "null");
    WORKS(scene.host, bp_world_use_component(scene.world, "crash_gc"));
    add_entity("crash_own", &scene.own);
    WORKS(scene.host, bp_world_step(scene.world));
    scene.api->world->count(scene.world, scene.api->world->component(scene.world, "crash_own"));
    bp_host_report(scene.host, &(bp_report_sink_i){0});
    ck_assert_uint_eq(scene.api->entity->destroy(scene.host, &scene.own, 1), 1);
    WORKS(scene.host, bp_world_step(scene.world));
    ck_assert((crash_of("crasher") != NULL) == (strcmp(verbs[_i], "unload") != 0));
    ck_assert_uint_eq(scene.api->entity->alive(scene.host, &scene.own, 1, NULL), 0);
    WORKS(scene.host, bp_host_unload_plugin(scene.host, "crasher"));
    expect_log(BAD_ADDRESS " at address 0x10 (a null pointer)");
    WORKS(scene.host, bp_world_step(scene.world));
    bp_host_destroy(scene.host);
}
END_TEST

START_TEST(a_crash_while_stopping_or_unloading_does_not_keep_a_plugin)
{
    static const char *const verbs[] = {"plain_stop", "unload"};
    begin(verbs[_i], "abort");
    WORKS(scene.host, bp_host_unload_plugin(scene.host, "crasher"));
    expect_log("SIGABRT");
    WORKS(scene.host, bp_world_step(scene.world));
    bp_host_destroy(scene.host);
}
END_TEST

START_TEST(a_plugin_that_crashes_in_anothers_table_is_the_one_set_aside)
{
    typedef struct crasher_api {
        uint32_t struct_size, version;
        uint32_t (*answer)(uintptr_t address);
    } crasher_api;
    begin("simulate", "null");
    const crasher_api *table = scene.api->registry->find(scene.host, "crasher", 1);
    ck_assert_uint_eq(table->answer(0), 42);
    WORKS(scene.host, bp_world_step(scene.world));
    ck_assert_uint_eq(table->answer(0), 0);
    ck_assert_ptr_null(scene.api->registry->find(scene.host, "crasher", 1));
    bp_host_destroy(scene.host);
}
END_TEST

/* --- threads, time ------------------------------------------------------------------------------------------------ */

static void many_rows(void)
{
    enum { MANY = 200000 };
    static bp_entity_t *entities;
    entities = entities != NULL ? entities : room_of(MANY * sizeof *entities);
    uint32_t prototype = prototype_of(scene.world, "crash_plain", NULL, NULL, NULL);
    WORKS(scene.host, scene.api->world->create(scene.world, prototype, entities, MANY));
}

START_TEST(a_crash_on_a_job_thread_is_caught)
{
    static const char *const how[] = {"null", "stack", "abort", "zero"};
    open_host(3, 0);
    WORKS(scene.host, load("simulate", how[_i]));
    make_world();
    many_rows();
    for (int i = 0; i < 3; i++)
        WORKS(scene.host, bp_world_step(scene.world));
    expect_log("crashed in 'simulate'");
    ck_assert_uint_eq(scene.log.count, 2);
    bp_host_destroy(scene.host);
}
END_TEST

START_TEST(a_call_that_does_not_return_is_ended)
{
    static const char *const how[] = {"loop", "deaf", "sleep"};
    open_host(1 + (uint32_t)_i % 2 * 2, LIMIT_MS);
    WORKS(scene.host, load("second_step", how[_i / 2]));
    make_world();
    many_rows();
    for (int i = 0; i < 3; i++)
        WORKS(scene.host, bp_world_step(scene.world));
    expect_log("it did not return within 60 ms");
    expect_log("step 1");
    bp_host_destroy(scene.host);
}
END_TEST

#if !defined(_WIN32)
static volatile sig_atomic_t heard;

static void hear(int number)
{
    heard = number;
}
#endif

#if !defined(_WIN32)
/* Memory is refused at each request in turn, also between the opening and the first look at the plugin: its end runs
 * then, and crashes. */
START_TEST(a_library_that_is_refused_and_crashes_when_it_is_closed_does_not_end_the_host)
{
    static heap_t heap;
    bp_allocator_i allocator = heap_allocator(&heap);
    bool refused = true;
    uint32_t closed = 0;
    memset(&scene, 0, sizeof scene);
    KEEPS_MEMORY();
    setenv("CRASHER_WHERE", "destructor", 1);
    setenv("CRASHER_HOW", "null", 1);
    scene.host = bp_host_create(&(bp_host_desc_t){.struct_size = sizeof(bp_host_desc_t),
                                                  .log = log_into(&scene.log),
                                                  .allocator = &allocator,
                                                  .flags = BP_HOST_CRASH_GUARD | BP_HOST_COPY_PLUGINS});
    ck_assert_ptr_nonnull(scene.host);
    for (uint64_t n = 1; refused; n++) {
        uint64_t before = heap.refused;
        scene.log.count = 0;
        scene.log.text[0] = '\0';
        heap.refuse_first = heap.refuse_last = heap.requests + n;
        bp_result_t result = bp_host_load_plugin(scene.host, TEST_FIXTURE_DIR "/crasher_next", NULL, 0);
        heap.refuse_first = heap.refuse_last = 0;
        refused = heap.refused > before;
        EXPECT(refused || result == BP_OK, "%s", bp_host_error(scene.host));
        if (result == BP_OK && refused) /* without what was refused */
            WORKS(scene.host, bp_host_unload_plugin(scene.host, "crasher"));
        closed += strstr(scene.log.text, "crashed while it was closed, in code that runs then: SIGSEGV") != NULL;
    }
    ck_assert_uint_gt(closed, 3);
    bp_host_destroy(scene.host);
}
END_TEST
#endif

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static uint32_t threads_known(void)
{
    uint32_t count = 0;
    pthread_mutex_lock(&guard_process.lock);
    for (const thread_t *t = guard_process.threads; t != NULL; t = t->next)
        count++;
    pthread_mutex_unlock(&guard_process.lock);
    return count;
}

static void look_at_calls(void *data)
{
    for (const thread_t *t = guard_process.threads; t != NULL; t = t->next) {
        if (pthread_equal(t->id, pthread_self()))
            *(uint64_t *)data = t->calls;
    }
}

#if defined(__x86_64__)
/* Breaks the rule that a function leaves these registers as they were, as damaged code of a library may. */
__attribute__((noinline)) static void spoil_registers(void *data)
{
    ++*(volatile uint32_t *)data;
    __asm__ volatile("movq $8, %rbx\n movq $8, %r12\n movq $8, %r13\n movq $8, %r14\n movq $8, %r15");
}

START_TEST(what_opens_and_closes_a_library_may_return_with_other_registers)
{
    memory_t memory;
    error_text_t error = {.calls = NULL};
    guard_t *guard;
    guard_crash_t crash;
    uint32_t calls = 0;
    memory_init(&memory, "test", &(bp_allocator_i){0});
    ck_assert_int_eq(guard_create(&memory, 0, &error, &guard), BP_OK);
    for (uint32_t i = 1; i <= 3; i++) {
        ck_assert(guard_run_whole(guard, spoil_registers, &calls, &crash));
        ck_assert_uint_eq(calls, i);
    }
    guard_destroy(guard);
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}
END_TEST
#endif

/* By these counts the watcher knows one call from the next, those that are made inside others too. */
START_TEST(a_call_is_counted_when_it_begins_and_when_it_ends)
{
    memory_t memory;
    error_text_t error = {.calls = NULL};
    guard_t *guard;
    guard_crash_t crash;
    uint64_t first = 0, second = 0;
    memory_init(&memory, "test", &(bp_allocator_i){0});
    ck_assert_int_eq(guard_create(&memory, 0, &error, &guard), BP_OK);
    ck_assert(guard_run(guard, look_at_calls, &first, &crash));
    ck_assert(guard_run(guard, look_at_calls, &second, &crash));
    ck_assert_uint_eq(second, first + 2);
    ck_assert_uint_eq(first % 2, 1);
    guard_destroy(guard);
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}
END_TEST

static const guard_t *active(void)
{
    for (const thread_t *t = guard_process.threads; t != NULL; t = t->next) {
        if (pthread_equal(t->id, pthread_self()))
            return t->active;
    }
    return NULL;
}

static guard_t *outer, *inner;

static void look_inside(void *data)
{
    (void)data;
    ck_assert_ptr_eq(active(), inner);
}

static void look_around(void *data)
{
    guard_crash_t crash;
    ck_assert_ptr_eq(active(), outer);
    ck_assert(guard_run(inner, look_inside, data, &crash));
    ck_assert_ptr_eq(active(), outer);
}

/* A watcher ends calls of its own guard alone. After a call from inside another one, which another host may have made,
 * the outer one is watched again; after the last, none. */
START_TEST(the_call_that_goes_on_is_the_one_that_is_watched)
{
    memory_t memory;
    error_text_t error = {.calls = NULL};
    guard_crash_t crash;
    memory_init(&memory, "test", &(bp_allocator_i){0});
    ck_assert_int_eq(guard_create(&memory, 0, &error, &outer), BP_OK);
    ck_assert_int_eq(guard_create(&memory, 0, &error, &inner), BP_OK);
    ck_assert(guard_run(outer, look_around, NULL, &crash));
    ck_assert_ptr_null(active());
    guard_destroy(inner);
    guard_destroy(outer);
    ck_assert_uint_eq(memory_bytes(&memory), 0);
    /* A library that has the host in it may be closed now: no function of it is called when this thread ends. */
    ck_assert_ptr_null(pthread_getspecific(guard_process.key));
}
END_TEST

enum { SIGNALS_EACH = 3 };

/* Does to the waiting thread what the watcher does to one that is late, until it has met it in the C library some
 * times. */
static void *find_late(void *data)
{
    thread_t *waiting = data;
    while (waiting->calls % 2 == 0)
        usleep(1000);
    waiting->late_call = waiting->calls;
    for (int i = 0; i < SIGNALS_EACH; i++) {
        uint32_t tries = *(volatile uint32_t *)&waiting->tries;
        for (int ms = 0; *(volatile uint32_t *)&waiting->tries == tries; ms++) {
            if (ms % 200 == 2) /* in case it was on its way there */
                pthread_sigqueue(waiting->id, guard_late_signal(), (union sigval){.sival_ptr = &guard_process});
            usleep(1000);
        }
    }
    return NULL;
}

static void wait_for_thread(void *data)
{
    pthread_join(*(pthread_t *)data, NULL);
}

/* A call that is late has the same chance to come back from the C library, with its locks, whether others were late. */
START_TEST(calls_that_were_late_and_returned_do_not_count_against_the_next)
{
    enum { LATE = 12 };
    memory_t memory;
    error_text_t error = {.calls = NULL};
    guard_t *guard;
    guard_crash_t crash;
    pthread_t thread;
    memory_init(&memory, "test", &(bp_allocator_i){0});
    ck_assert_int_eq(guard_create(&memory, 0, &error, &guard), BP_OK);
    guard_samples(0);
    for (int i = 0; i < LATE; i++) {
        ck_assert_int_eq(pthread_create(&thread, NULL, find_late, &guard_here), 0);
        EXPECT(guard_run(guard, wait_for_thread, &thread, &crash), "call %d was ended", i);
    }
    guard_destroy(guard);
}
END_TEST

static void nothing_happens(void *data)
{
    (void)data;
}

static void *have_guard_for_a_while(void *data)
{
    error_text_t error = {.calls = NULL};
    guard_t *guard;
    guard_crash_t crash;
    ck_assert_int_eq(guard_create(data, 0, &error, &guard), BP_OK);
    ck_assert(guard_run(guard, nothing_happens, NULL, &crash));
    ck_assert_uint_eq(threads_known(), 1);
    guard_destroy(guard);
    ck_assert_uint_eq(threads_known(), 0);
    return NULL;
}

/* A host may live on any thread, and threads end. */
START_TEST(the_thread_on_which_the_last_guard_ends_is_forgotten)
{
    memory_t memory;
    pthread_t thread;
    memory_init(&memory, "test", &(bp_allocator_i){0});
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_create(&thread, NULL, have_guard_for_a_while, &memory), 0);
        pthread_join(thread, NULL);
        have_guard_for_a_while(&memory); /* twice on this one */
    }
}
END_TEST

/* A program, or the run time of another language, may have given this thread a stack for handlers in the meantime. */
START_TEST(a_stack_for_handlers_that_is_not_the_guards_stays_when_the_guard_goes)
{
    static char bytes[64 * 1024];
    memory_t memory;
    error_text_t error = {.calls = NULL};
    guard_t *guard;
    stack_t own = {.ss_sp = bytes, .ss_size = sizeof bytes}, guards, left;
    memory_init(&memory, "test", &(bp_allocator_i){0});
    ck_assert_int_eq(sigaltstack(_i == 2 ? &own : NULL, NULL), 0); /* then the guard makes none */
    ck_assert_int_eq(guard_create(&memory, 0, &error, &guard), BP_OK);
    guard_samples(0);
    ck_assert_int_eq(sigaltstack(_i == 1 ? &own : NULL, &guards), 0);
    ck_assert_ptr_nonnull(guards.ss_sp);
    ck_assert((guards.ss_sp == bytes) == (_i == 2));
    guard_destroy(guard);
    ck_assert_int_eq(sigaltstack(NULL, &left), 0);
    ck_assert_int_eq(left.ss_flags, _i == 0 ? SS_DISABLE : 0);
    ck_assert(_i == 0 || left.ss_sp == bytes);
}
END_TEST

static uint64_t processor_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* The thread that watches looks now and then, and sleeps in between; it ends at once all the same. */
START_TEST(watching_a_limit_takes_hardly_any_time_of_the_processor)
{
    enum { NAP_US = 400000, SOME_NS = NAP_US / 4 * 1000 };
    memory_t memory;
    error_text_t error = {.calls = NULL};
    guard_t *guard;
    memory_init(&memory, "test", &(bp_allocator_i){0});
    ck_assert_int_eq(guard_create(&memory, 1000, &error, &guard), BP_OK);
    uint64_t before = processor_ns();
    usleep(NAP_US);
    ck_assert_uint_lt(processor_ns() - before, SOME_NS);
    guard_destroy(guard);
}
END_TEST

static int raised;

static void raise_it(void *data)
{
    (void)data;
    raise(raised);
}

static volatile bool over;

__attribute__((noinline)) static void loop_for_long(void *data)
{
    while (!over)
        ++*(volatile uint64_t *)data;
}

static void have_over(int number)
{
    (void)number;
    over = true;
}

static void leave_thread(void *data)
{
    pthread_exit(data);
}

static void *crash_and_leave(void *data)
{
    error_text_t error = {.calls = NULL};
    guard_t *guard;
    guard_crash_t crash;
    raised = SIGFPE;
    ck_assert_int_eq(guard_create(data, 0, &error, &guard), BP_OK);
    ck_assert(!guard_run(guard, raise_it, NULL, &crash));
    ck_assert_str_eq(crash.reason, "SIGFPE");
    ck_assert(!guard_run(guard, leave_thread, NULL, &crash));
    ck_assert_str_eq(crash.reason, "it called pthread_exit, or its thread was cancelled");
    guard_destroy(guard);
    return data;
}

START_TEST(what_ends_a_call_is_not_told_of_the_next_one_on_that_thread)
{
    memory_t memory;
    pthread_t thread;
    void *whole = NULL;
    memory_init(&memory, "test", &(bp_allocator_i){0});
    ck_assert_int_eq(pthread_create(&thread, NULL, crash_and_leave, &memory), 0);
    pthread_join(thread, &whole);
    ck_assert_ptr_eq(whole, &memory); /* it has come to its end */
}
END_TEST

/* On one thread after another call was ended there; an alarm ends the loops where that is not done. */
START_TEST(one_late_call_after_another_is_ended)
{
    enum { CODE = 4096, SECONDS = 30 };
    memory_t memory;
    error_text_t error = {.calls = NULL};
    guard_t *guard;
    guard_crash_t crash;
    uint64_t rounds = 0;
    void (*call)(void *data) = loop_for_long;
    const char *code;
    memcpy(&code, &call, sizeof code);
    memory_init(&memory, "test", &(bp_allocator_i){0});
    signal(SIGALRM, have_over);
    alarm(SECONDS);
    ck_assert_int_eq(guard_create(&memory, 40, &error, &guard), BP_OK);
    ck_assert(guard_add_image(guard, code, code + CODE));
    for (int i = 0; i < 3; i++) {
        ck_assert(!guard_run(guard, call, &rounds, &crash));
        ck_assert(crash.late && crash.plugins);
        ck_assert_uint_lt(crash.offset, CODE);
        ck_assert_str_eq(crash.reason, "it did not return within 40 ms");
    }
    ck_assert(guard_run(guard, nothing_happens, NULL, &crash));
    guard_destroy(guard);
    alarm(0);
}
END_TEST

/* The time of a call counts from its own beginning, not from that of the guard. */
START_TEST(a_call_has_all_of_the_limit_however_long_there_has_been_a_guard)
{
    enum { CODE = 4096, LIMIT = 1200 };
    const struct itimerval some = {.it_value = {.tv_usec = LIMIT / 5 * 1000}};
    memory_t memory;
    error_text_t error = {.calls = NULL};
    guard_t *guard;
    guard_crash_t crash;
    uint64_t rounds = 0;
    void (*call)(void *data) = loop_for_long;
    const char *code;
    memcpy(&code, &call, sizeof code);
    memory_init(&memory, "test", &(bp_allocator_i){0});
    signal(SIGALRM, have_over);
    ck_assert_int_eq(guard_create(&memory, LIMIT, &error, &guard), BP_OK);
    ck_assert(guard_add_image(guard, code, code + CODE));
    os_sleep_ns((LIMIT + 100) * UINT64_C(1000000));
    ck_assert_int_eq(setitimer(ITIMER_REAL, &some, NULL), 0);
    ck_assert(guard_run(guard, call, &rounds, &crash));
    ck_assert(over);
    guard_destroy(guard);
}
END_TEST

enum { TOLD = 9, TOLD_WRONGLY = 10 };

/* What tells may wait for ever: an alarm is set that ends the process then, whatever the program does with alarms. */
static void tell_end(void *data, const guard_crash_t *crash)
{
    struct sigaction alarms;
    bool plugins = *(const bool *)data;
    sigaction(SIGALRM, NULL, &alarms);
    _exit(crash->plugins == plugins && alarms.sa_handler == SIG_DFL && alarm(0) > 0 ? TOLD : TOLD_WRONGLY);
}

/* The code of the host, called by a plugin: what a call of the guard calls itself counts as the plugin. */
__attribute__((noinline)) static void raise_as_host(void)
{
    volatile int number = raised;
    raise(number);
}

static void (*volatile nowhere)(void);

__attribute__((noinline)) static void jump_as_host(void)
{
    nowhere();
    heard = 0;
}

static void call_host(void *data)
{
    *(volatile bool *)data = false;
    (raised == SIGSEGV ? jump_as_host : raise_as_host)();
    heard = heard;
}

static const struct {
    const char *about;
    int number;
    void (*earlier)(int);
    bool whole, host, told;
} deaths[] = {
    {"a plugin's crash", SIGABRT, SIG_DFL, false, false, true},
    {"a crash of the host", SIGABRT, SIG_DFL, false, true, true},
    {"a jump of the host to nowhere", SIGSEGV, SIG_DFL, false, true, true},
    {"the program has a handler", SIGABRT, hear, false, false, false},
    {"the program ignores it", SIGABRT, SIG_IGN, false, false, false},
    {"the program ignores what cannot be ignored", SIGSEGV, SIG_IGN, false, true, false},
    {"a library is opened", SIGABRT, SIG_DFL, true, false, false},
    {"a plugin's pipe", SIGPIPE, SIG_DFL, false, false, true},
    {"the host's pipe", SIGPIPE, SIG_DFL, false, true, false},
    {"the host's file", SIGXFSZ, SIG_DFL, false, true, false},
};

/* A pipe or a file of the host's own ends programs without a word, as it always did. */
START_TEST(what_ends_the_process_is_told_where_nobody_else_hears_of_it)
{
    int status = 0;
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        memory_t memory;
        error_text_t error = {.calls = NULL};
        guard_t *guard;
        guard_crash_t crash;
        bool plugins = true;
        memory_init(&memory, "test", &(bp_allocator_i){0});
        signal(SIGALRM, SIG_IGN);
        signal(deaths[_i].number, deaths[_i].earlier);
        raised = deaths[_i].number;
        if (guard_create(&memory, 0, &error, &guard) != BP_OK)
            _exit(1);
        guard_tell_deaths(guard, tell_end, false);
        void (*call)(void *data) = deaths[_i].host ? call_host : raise_it;
        (deaths[_i].whole ? guard_run_whole : guard_run)(guard, call, &plugins, &crash);
        _exit(deaths[_i].earlier == hear && heard != raised ? 1 : 0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (deaths[_i].told || (deaths[_i].earlier != SIG_DFL && deaths[_i].number != SIGSEGV))
        EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == (deaths[_i].told ? TOLD : 0), "%s: %x", deaths[_i].about,
               (unsigned)status);
    else
        EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == deaths[_i].number, "%s: %x", deaths[_i].about,
               (unsigned)status);
}
END_TEST

static struct {
    char *page;
    uint32_t asked;
    bool allows;
    int code; /* errno after the write */
} barred;

static bool permit_write(void *data, const void *address)
{
    barred.asked += data == &barred && address == barred.page + 8;
    errno = EPERM;
    return barred.allows && mprotect(barred.page, 4096, PROT_READ | PROT_WRITE) == 0;
}

__attribute__((noinline)) static void write_as_host(void)
{
    *(volatile char *)(barred.page + 8) = 1;
    heard = heard;
}

static void write_in_call(void *data)
{
    *(volatile bool *)data = false;
    errno = EDOM;
    write_as_host();
    barred.code = errno;
    heard = heard;
}

static void tell_asked(void *data, const guard_crash_t *crash)
{
    bool plugins = *(const bool *)data;
    _exit(crash->plugins == plugins && crash->address == (uintptr_t)barred.page + 8 && crash->access == GUARD_WROTE
              ? TOLD
              : TOLD_WRONGLY);
}

static const struct {
    const char *about;
    bool asks, allows, nowhere;
    uint32_t asked;
} permits[] = {
    {"nobody is asked", false, false, false, 0},
    {"it is refused", true, false, false, 1},
    {"it is allowed", true, true, false, 1},
    {"there is no memory at all", true, true, true, 0},
};

/* What the host writes to, called by a plugin, may be allowed by who is asked, and the host notices nothing of it; else
 * that is the host's own crash. */
START_TEST(a_write_of_the_host_to_what_is_barred_goes_on_where_that_is_permitted)
{
    int status = 0;
    bool ends = permits[_i].nowhere || !permits[_i].allows;
    barred.page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    barred.allows = permits[_i].allows;
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        memory_t memory;
        error_text_t error = {.calls = NULL};
        guard_t *guard;
        guard_crash_t crash;
        bool plugins = true;
        memory_init(&memory, "test", &(bp_allocator_i){0});
        alarm(30);
        if (guard_create(&memory, 0, &error, &guard) != BP_OK)
            _exit(1);
        guard_tell_deaths(guard, tell_asked, true);
        if (permits[_i].asks)
            guard_ask(guard, permit_write, &barred);
        if (permits[_i].nowhere)
            munmap(barred.page, 4096);
        bool returned = guard_run(guard, write_in_call, &plugins, &crash);
        bool goes_on = returned && barred.page[8] == 1 && barred.code == EDOM;
        _exit(goes_on && barred.asked == permits[_i].asked ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == (ends ? TOLD : 0), "%s: %x", permits[_i].about,
           (unsigned)status);
}
END_TEST

static void *be_known_for_a_while(void *data)
{
    char byte;
    guard_samples(0);
    bool both = write(((int *)data)[1], "", 1) == 1 && read(((int *)data)[2], &byte, 1) == 1;
    return both ? data : NULL;
}

/* A copy of the process has none of the others. */
START_TEST(a_copy_of_the_process_knows_the_thread_alone_that_has_made_it)
{
    memory_t memory;
    error_text_t error = {.calls = NULL};
    guard_t *guard;
    pthread_t thread;
    int ends[4], status = 0;
    char byte;
    memory_init(&memory, "test", &(bp_allocator_i){0});
    ck_assert_int_eq(guard_create(&memory, 0, &error, &guard), BP_OK);
    ck_assert(pipe(ends) == 0 && pipe(ends + 2) == 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, be_known_for_a_while, ends), 0);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    guard_samples(0);
    ck_assert_uint_eq(threads_known(), 2);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit((int)threads_known());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    ck_assert_int_eq(write(ends[3], "", 1), 1);
    pthread_join(thread, NULL);
    guard_destroy(guard);
}
END_TEST

static bool same_handler(const struct sigaction *earlier)
{
    struct sigaction now;
    sigaction(SIGSEGV, NULL, &now);
    return now.sa_sigaction == earlier->sa_sigaction;
}

START_TEST(handlers_are_put_back_when_the_last_guard_goes)
{
    memory_t memory;
    error_text_t error = {.calls = NULL};
    guard_t *guards[2];
    struct sigaction earlier;
    sigaction(SIGSEGV, NULL, &earlier);
    memory_init(&memory, "test", &(bp_allocator_i){0});
    for (uint32_t i = 0; i < 2; i++)
        ck_assert_int_eq(guard_create(&memory, 0, &error, &guards[i]), BP_OK);
    ck_assert(!same_handler(&earlier));
    guard_destroy(guards[0]);
    ck_assert(!same_handler(&earlier));
    guard_destroy(guards[1]);
    ck_assert(same_handler(&earlier));
}
END_TEST

/* A handler of the program that was put over the guard's, and passes on to it; how often it was called is seen from
 * another process. */
static struct sigaction beneath;
static volatile uint32_t *reports;

static void report_and_pass(int number, siginfo_t *info, void *context)
{
    if (++*reports > 9)
        _exit(9);
    if ((beneath.sa_flags & SA_SIGINFO) != 0)
        beneath.sa_sigaction(number, info, context);
}

/* Hosts come and go while it is there. In loop 0 it stays, in loop 1 it puts back what it found, in loop 2 the last
 * host has gone too. */
static void raise_between_handlers(int loop)
{
    memory_t memory;
    error_text_t error = {.calls = NULL};
    guard_t *guard;
    struct sigaction action = {.sa_sigaction = report_and_pass, .sa_flags = SA_SIGINFO};
    memory_init(&memory, "test", &(bp_allocator_i){0});
    signal(SIGFPE, SIG_DFL);
    for (uint32_t i = 0; i < 3; i++) {
        if (guard_create(&memory, 0, &error, &guard) != BP_OK)
            _exit(8);
        if (i == 0)
            sigaction(SIGFPE, &action, &beneath);
        if (i == 0 && loop == 1)
            guard_destroy(guard);
        if (i == 0 && loop == 1)
            sigaction(SIGFPE, &beneath, NULL);
        else if (i < 2 || loop == 2)
            guard_destroy(guard);
    }
    raise(SIGFPE);
}

START_TEST(a_handler_over_the_guards_is_called_once_and_the_first_one_then_though_guards_come_and_go)
{
    int status = 0;
    reports = mmap(NULL, sizeof *reports, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne((const void *)reports, MAP_FAILED);
    pid_t child = fork();
    if (child == 0) {
        raise_between_handlers(_i);
        _exit(7); /* the signal has not ended the process */
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGFPE);
    ck_assert_uint_eq(*reports, _i == 1 ? 0 : 1);
    munmap((void *)(uintptr_t)reports, sizeof *reports);
}
END_TEST

static void hear_nothing(int number)
{
    (void)number;
}

/* All that a guard hears, but for the signal that ends late calls, which is chosen by the C library. */
static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPIPE, SIGXFSZ};

static void (*handler_of(int number))(int)
{
    struct sigaction now;
    sigaction(number, NULL, &now);
    return now.sa_handler;
}

/* A program that ignores the signals of failed writes has a plugin's writes fail; it may not ignore its crashes. A
 * handler that was set after the guard's is left where it is. */
START_TEST(each_signal_has_its_earlier_handler_when_the_last_guard_goes)
{
    memory_t memory;
    error_text_t error = {.calls = NULL};
    guard_t *guard;
    memory_init(&memory, "test", &(bp_allocator_i){0});
    for (uint32_t ignored = 0; ignored < 2; ignored++) {
        void (*earlier)(int) = ignored == 1 ? SIG_IGN : hear_nothing;
        for (uint32_t i = 0; i < COUNT(caught); i++)
            signal(caught[i], earlier);
        ck_assert_int_eq(guard_create(&memory, 0, &error, &guard), BP_OK);
        for (uint32_t i = 0; i < COUNT(caught); i++) {
            bool left = ignored == 1 && (caught[i] == SIGPIPE || caught[i] == SIGXFSZ);
            EXPECT((handler_of(caught[i]) == earlier) == left, "%d, %u", caught[i], ignored);
        }
        signal(SIGFPE, SIG_DFL);
        guard_destroy(guard);
        for (uint32_t i = 0; i < COUNT(caught); i++)
            EXPECT(handler_of(caught[i]) == (caught[i] == SIGFPE ? SIG_DFL : earlier), "%d, %u", caught[i], ignored);
    }
}
END_TEST

/* Nothing is left of a guard that could not be made. */
START_TEST(a_guard_for_which_memory_lacks_is_refused)
{
    heap_t heap = {.refuse_first = 1, .refuse_last = UINT64_MAX};
    const bp_allocator_i allocator = heap_allocator(&heap);
    memory_t memory;
    error_text_t error = {.calls = NULL};
    guard_t *guard = NULL;
    memory_init(&memory, "test", &allocator);
    ck_assert_int_eq(guard_create(&memory, 0, &error, &guard), BP_ERROR_MEMORY);
    ck_assert_str_eq(error.text, "out of memory while installing the crash guard");
    ck_assert_ptr_null(guard);
    ck_assert_uint_eq(guard_process.guards, 0);
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}
END_TEST

/* The first and the last address at which a part of the system's loader of libraries lies, as the system lists it. */
static void find_loader(uintptr_t *first, uintptr_t *last)
{
    unsigned long long begin, end;
    char line[512], name[256], loader[256] = "";
    FILE *file = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(file);
    *first = *last = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %255s", &begin, &end, name) != 3)
            continue;
        if (begin == getauxval(AT_BASE)) {
            memcpy(loader, name, sizeof loader);
            *first = (uintptr_t)begin;
        }
        if (strcmp(name, loader) == 0)
            *last = (uintptr_t)end - 1;
    }
    fclose(file);
    ck_assert(*first != 0 && *last > *first);
}

/* A call that opens a library is not ended for being late while the system's loader works. */
START_TEST(the_guard_knows_where_the_program_and_the_systems_loader_lie)
{
    memory_t memory;
    error_text_t error = {.calls = NULL};
    guard_t *guard;
    uintptr_t first, last;
    const guard_host_t *host = &guard_process.host;
    memory_init(&memory, "test", &(bp_allocator_i){0});
    ck_assert_int_eq(guard_create(&memory, 0, &error, &guard), BP_OK);
    find_loader(&first, &last);
    ck_assert(host->loader_begin == first);
    ck_assert(last - 4096 < host->loader_end && host->loader_end <= last + 4096);
    for (uint32_t i = 0; i < 2; i++) /* the program, and the code of the host, which is in the program here */
        ck_assert(host->begin[i] <= (uintptr_t)guard_create && (uintptr_t)guard_create < host->end[i]);
    ck_assert(host->end[0] <= first || last < host->begin[0]);
    guard_destroy(guard);
}
END_TEST

static uint64_t address_space(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%llu", &pages), 1);
    fclose(file);
    return pages * 4096;
}

/* The signals that a thread other than `besides` has blocked, as the system writes them. */
static void find_blocked(long besides, char *blocked, size_t size)
{
    char path[320], line[256];
    DIR *threads = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(threads);
    for (const struct dirent *entry; (entry = readdir(threads)) != NULL;) {
        if (entry->d_name[0] == '.' || atol(entry->d_name) == besides)
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *file = fopen(path, "r");
        ck_assert_ptr_nonnull(file);
        while (fgets(line, sizeof line, file) != NULL) {
            if (strncmp(line, "SigBlk:\t", 8) == 0)
                snprintf(blocked, size, "%.16s", line + 8);
        }
        fclose(file);
    }
    closedir(threads);
}

/* What is not set of the variables of the next call is zero. */
__attribute__((noinline)) static void clear_stack(void)
{
    volatile char below[8192];
    for (size_t i = 0; i < sizeof below; i++)
        below[i] = 0;
}

/* Signals that the process gets are for the program's own threads, whose masks stay as they were. Signals 9 and 19
 * cannot be blocked, and the C library keeps 32 to 34 for itself. */
START_TEST(the_thread_that_watches_the_limit_takes_no_signals)
{
    memory_t memory;
    error_text_t error = {.calls = NULL};
    guard_t *first, *guard;
    sigset_t before, after;
    char blocked[32] = "";
    memory_init(&memory, "test", &(bp_allocator_i){0});
    ck_assert_int_eq(guard_create(&memory, 0, &error, &first), BP_OK);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    clear_stack();
    ck_assert_int_eq(guard_create(&memory, 1000, &error, &guard), BP_OK);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    find_blocked((long)getpid(), blocked, sizeof blocked);
    uint64_t has = strtoull(blocked, NULL, 16), reserved = UINT64_C(1) << 8 | UINT64_C(1) << 18 | UINT64_C(7) << 31;
    ck_assert_uint_eq(has | reserved, UINT64_MAX);
    for (int i = 1; i < 32; i++)
        ck_assert_int_eq(sigismember(&before, i), sigismember(&after, i));
    guard_destroy(guard);
    guard_destroy(first);
}
END_TEST

/* A thread whose end nobody has waited for keeps its stack, and might still look at what has been freed. */
START_TEST(the_thread_that_watches_the_limit_has_ended_when_its_guard_has)
{
    enum { GUARDS = 16, SOME_BYTES = 4 << 20 };
    memory_t memory;
    error_text_t error = {.calls = NULL};
    guard_t *guard;
    uint64_t before = 0;
    memory_init(&memory, "test", &(bp_allocator_i){0});
    for (int i = 0; i < GUARDS; i++) {
        ck_assert_int_eq(guard_create(&memory, 1000, &error, &guard), BP_OK);
        guard_destroy(guard);
        before = i == 0 ? address_space() : before; /* the next ones have the stack of the first */
    }
    ck_assert_uint_lt(address_space(), before + SOME_BYTES);
}
END_TEST

/* Threads that have made guarded calls, and have ended, are known no more, and their alternate stacks are given
 * back. */
START_TEST(threads_that_end_are_forgotten)
{
    enum { ROUNDS = 24, WARM = 4, STACK = 64 * 1024 };
    uint64_t before = 0;
    uint32_t known = 0, met = 0;
    mallopt(M_ARENA_MAX, 1); /* heaps of threads come and go by 128 MB */
    for (int round = 0; round < ROUNDS; round++) {
        open_host(3, 0);
        WORKS(scene.host, load("nowhere", "null"));
        make_world();
        many_rows();
        for (int i = 0; i < 3000 && threads_known() < 3; i++)
            WORKS(scene.host, bp_world_step(scene.world));
        if (round >= WARM)
            met += threads_known() - 1;
        bp_host_destroy(scene.host);
        known = round == 0 ? threads_known() : known;
        before = round == WARM - 1 ? address_space() : before;
        ck_assert_uint_eq(threads_known(), known);
    }
    ck_assert_uint_ge(met, ROUNDS - WARM);
    ck_assert_uint_lt(address_space(), before + met * STACK / 2);
}
END_TEST
#endif

/* Together they take three times the limit, each far less, even where the machine has others to serve in between. */
START_TEST(calls_that_return_are_left_alone_by_the_limit)
{
    open_host(2, 400);
    WORKS(scene.host, load("nowhere", "null"));
    make_world();
    uint64_t until = os_clock_ns() + 1200000000u;
    while (os_clock_ns() < until)
        WORKS(scene.host, bp_world_step(scene.world));
    ck_assert_uint_eq(scene.log.count, 0);
    bp_host_destroy(scene.host);
}
END_TEST

#if !defined(_WIN32)
/* The process is stopped inside a call for twice the limit, as Ctrl-Z does, or a container that is paused. */
START_TEST(the_time_in_which_a_process_is_stopped_does_not_count_for_the_limit)
{
    enum { STOPPED_LIMIT_MS = 800 };
    open_host(1, STOPPED_LIMIT_MS);
    WORKS(scene.host, load("simulate", "stopped"));
    make_world();
    pid_t us = getpid(), waker = fork();
    ck_assert_int_ge(waker, 0);
    if (waker == 0) {
        for (int i = 0; i < 10; i++) { /* more than once, since the process may be late */
            usleep(2 * STOPPED_LIMIT_MS * 1000);
            kill(us, SIGCONT);
        }
        _exit(0);
    }
    WORKS(scene.host, bp_world_step(scene.world));
    ck_assert_uint_eq(scene.log.count, 0);
    ck_assert_ptr_null(bp_host_plugin_crash(scene.host, 0));
    kill(waker, SIGKILL);
    waitpid(waker, NULL, 0);
    bp_host_destroy(scene.host);
}
END_TEST
#endif

/* --- what is not caught ------------------------------------------------------------------------------------------- */

#if !defined(_WIN32)
/* The signal that ends a child in which the plugin crashes so; 0: it lived. */
static int signal_of_child(const char *how, uint32_t flags)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGABRT, SIG_DFL);
        open_host(1, 0);
        if ((flags & BP_HOST_CRASH_GUARD) == 0) {
            bp_host_destroy(scene.host);
            scene.host = bp_host_create(NULL);
            scene.api = bp_host_api(scene.host);
        }
        load("simulate", how);
        make_world();
        bp_world_step(scene.world);
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

START_TEST(a_crash_in_the_hosts_own_code_is_not_caught)
{
    ck_assert_int_eq(signal_of_child("host", BP_HOST_CRASH_GUARD), SIGSEGV);
    ck_assert_int_eq(signal_of_child("host_closed", BP_HOST_CRASH_GUARD), SIGSEGV);
    ck_assert_int_eq(signal_of_child("null", BP_HOST_CRASH_GUARD), 0);
}
END_TEST

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* The C library looks at large blocks while the heap is locked, where there are several threads; the watcher of a time
 * limit is one. It ends the process with that lock, so no thread could go on. */
static int end_of_free(const char *how, uint32_t limit)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        alarm(20);
        open_host(1, limit);
        load("simulate", how);
        make_world();
        bp_world_step(scene.world);
        free(malloc(5000));
        _exit(strstr(scene.log.text, "SIGABRT") != NULL ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

START_TEST(a_block_freed_twice_hangs_nobody)
{
    ck_assert_int_eq(end_of_free("twice", 0), 0);
    ck_assert_int_eq(end_of_free("twice", 300), 0);
    ck_assert_int_eq(end_of_free("large_twice", 0), 0);
    ck_assert_int_eq(end_of_free("large_twice", 300), SIGABRT);
}
END_TEST
#endif

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* The message of an assertion, or of a list of free memory that is broken; the next abort is not told with it. */
START_TEST(what_the_c_library_says_of_a_crash_is_told_with_that_crash_alone)
{
    static const char *const how[][3] = {
        {"assertion", "Assertion `how == NULL' failed.", "heap corruption"},
        {"abort", "SIGABRT: it called abort, or an assertion or the C library did for it", "failed"},
        {"twice", "SIGABRT: heap corruption, found by the C library: ", "it called abort"},
    };
    for (uint32_t i = 0; i < COUNT(how); i++) {
        begin("simulate", how[i][0]);
        WORKS(scene.host, bp_world_step(scene.world));
        expect_log(how[i][1]);
        EXPECT(strstr(scene.log.text, how[i][2]) == NULL, "%s", scene.log.text);
        expect_log("SIGABRT: ");
        ck_assert_uint_eq(scene.log.count, 2);
        uint32_t lines = 0;
        for (const char *at = scene.log.text; (at = strchr(at, '\n')) != NULL; at++)
            lines++;
        ck_assert_uint_eq(lines, 2); /* what is said is one line */
        EXPECT(strstr(scene.log.text, " ,") == NULL && strstr(scene.log.text, " \n") == NULL, "%s", scene.log.text);
        bp_host_destroy(scene.host);
    }
}
END_TEST
#endif

START_TEST(without_the_guard_a_crash_ends_the_process)
{
    ck_assert_int_eq(signal_of_child("null", 0), SIGSEGV);
    ck_assert_int_eq(signal_of_child("abort", 0), SIGABRT);
}
END_TEST

/* A guard whose time limit cannot be watched is no guard: a call that hangs would hang the host. */
START_TEST(a_guard_that_cannot_have_what_it_needs_is_refused_and_may_be_asked_for_again)
{
    static const char *const without[][2] = {
        {"pthread_key_create", "the process has no thread key left"}, /* which is made once */
        {"pthread_create", "the thread that watches the time limit of calls cannot be started"},
    };
    bp_host_o *host = bp_host_create(NULL);
    const char *ini = scratch_file("guard.ini", "[host]\ncrash_guard = on\ncall_limit = 1000\n");
    for (uint32_t i = 0; i < COUNT(without); i++) {
        calls_begin_named(without[i][0], 1);
        bp_result_t result = bp_host_setup(host, ini);
        calls_end();
        ck_assert_uint_eq(calls_failed(), 1);
        EXPECT(result == BP_ERROR_LIMIT && strstr(bp_host_error(host), without[i][1]) != NULL, "%s: %d, %s",
               without[i][0], result, bp_host_error(host));
        ck_assert_ptr_null(host->loader.guard);
    }
    WORKS(host, bp_host_setup(host, ini));
    ck_assert_ptr_nonnull(host->loader.guard);
    bp_host_destroy(host);
}
END_TEST

static void *volatile heard_with;

static void hear_more(int number, siginfo_t *info, void *context)
{
    heard = context != NULL ? number : 0;
    heard_with = info->si_value.sival_ptr;
}

/* Of the signal for being late, those that others send for purposes of their own. */
START_TEST(an_earlier_handler_that_wants_to_know_more_is_told)
{
    struct sigaction action = {.sa_sigaction = hear_more, .sa_flags = SA_SIGINFO};
    int number = _i == 0 ? SIGABRT : LATE_SIGNAL;
    ck_assert_int_eq(sigaction(number, &action, NULL), 0);
    begin("nowhere", "null");
    ck_assert_int_eq(sigqueue(getpid(), number, (union sigval){.sival_ptr = &action}), 0);
    ck_assert_int_eq(heard, number);
    ck_assert_ptr_eq(heard_with, &action);
    bp_host_destroy(scene.host);
}
END_TEST

/* By which signal does a program end, 0 if it does not, that has a host and raises SIGABRT itself? */
static int end_of_raise(void (*earlier)(int))
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        signal(SIGABRT, earlier);
        begin("nowhere", "null");
        raise(SIGABRT);
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

START_TEST(a_signal_that_a_program_sends_itself_does_what_it_did_without_a_host)
{
    ck_assert_int_eq(end_of_raise(SIG_DFL), SIGABRT);
    ck_assert_int_eq(end_of_raise(SIG_IGN), 0);
}
END_TEST

static int caught_signal(int i)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPIPE, SIGXFSZ};
    return i < (int)COUNT(faults) ? faults[i] : LATE_SIGNAL;
}

START_TEST(signals_that_are_not_a_plugins_go_to_the_earlier_handler)
{
    int number = caught_signal(_i);
    signal(number, hear);
    begin("nowhere", "null");
    raise(number);
    ck_assert_int_eq(heard, number);
    bp_host_destroy(scene.host);
    heard = 0;
    raise(number);
    ck_assert_int_eq(heard, number);
}
END_TEST
#endif

START_TEST(several_hosts_share_the_handlers)
{
    begin("simulate", "null");
    scene_t first = scene;
    begin("simulate", "abort");
    bp_host_o *second = scene.host;
    WORKS(second, bp_world_step(scene.world));
    bp_host_destroy(second);
    scene = first;
    scene.log.count = 0;
    WORKS(scene.host, bp_world_step(scene.world));
    ck_assert_ptr_nonnull(crash_of("crasher"));
    bp_host_destroy(scene.host);
}
END_TEST

/* --- the ini ------------------------------------------------------------------------------------------------------ */

START_TEST(an_ini_turns_the_guard_on)
{
    KEEPS_MEMORY();
    bp_host_o *host = bp_host_create(NULL);
    static const char *const bad[][2] = {
        {"[host]\ncrash_guard = yes\n", "2: crash_guard = yes; write on or off"},
        {"[host]\ncall_limit = 10\n", "2: call_limit needs crash_guard = on"},
        {"[host]\ncrash_guard = on\ncall_limit = 0\n", "3: call_limit = 0 is outside its range"},
    };
    for (uint32_t i = 0; i < COUNT(bad); i++) {
        EXPECT(bp_host_setup(host, scratch_file("guard.ini", bad[i][0])) != BP_OK, "%s", bad[i][0]);
        EXPECT(strstr(bp_host_error(host), bad[i][1]) != NULL, "%s", bp_host_error(host));
    }
    WORKS(host, bp_host_setup(host, scratch_file("guard.ini",
                                                 "[host]\ncrash_guard = on\ncall_limit = 1000\nplugins = ../fixtures"
                                                 "/crasher" TEST_SO "\n[plugin crasher]\nwhere = simulate\n"
                                                 "[world main]\ncomponents = crash_plain\n"
                                                 "[spawn main one]\ncomponents = crash_plain\n")));
    WORKS(host, bp_host_step(host));
    ck_assert_ptr_nonnull(bp_host_plugin_crash(host, 0));
    bp_host_destroy(host);
}
END_TEST

/* In a host of an embedder's too, whose ini says nothing else. */
START_TEST(what_an_ini_has_reloaded_by_itself_is_guarded_tried_and_on_probation)
{
    static const char *const rest[] = {"", "call_limit = 1000\nprobation = 7\n", "crash_guard = off\ntrial = off\n"};
    static const uint32_t steps[] = {120, 7, 0};
    for (uint32_t i = 0; i < COUNT(rest); i++) {
        char ini[256];
        bp_host_o *host = bp_host_create(NULL);
        snprintf(ini, sizeof ini, "[host]\nhot_reload = on\n%s", rest[i]);
        WORKS(host, bp_host_setup(host, scratch_file("hot.ini", ini)));
        EXPECT(host->guarded == (i < 2), "%s", ini);
        EXPECT(host->hot.trying == (i < 2), "%s", ini); /* in a copy of the process, or by a helper */
        EXPECT(host->reload.probation_steps == steps[i], "%s: %u", ini, host->reload.probation_steps);
        bp_host_destroy(host);
    }
}
END_TEST

static void add_ways(Suite *suite)
{
    TCase *crashes = tcase_create("crashes");
    tcase_add_loop_test(crashes, a_crash_ends_the_call_and_sets_the_plugin_aside, 0, COUNT(ways));
#if !defined(_WIN32)
    tcase_add_test(crashes, a_library_that_is_refused_and_crashes_when_it_is_closed_does_not_end_the_host);
    tcase_add_test(crashes, a_verb_at_an_address_that_no_memory_can_have_is_the_plugins_crash);
    tcase_add_loop_test(crashes, what_a_plugin_does_to_the_process_is_told_and_put_back, 0, COUNT(changes));
    tcase_add_loop_test(crashes, the_line_of_a_crash_is_told_where_a_program_knows_it, 0, COUNT(readers));
    tcase_add_loop_test(crashes, what_a_library_does_to_the_process_when_it_is_opened_or_closed_is_told_and_put_back,
                        0, 2);
    tcase_add_test(crashes, an_environment_that_a_plugin_has_changed_is_what_it_was);
    tcase_add_loop_test(crashes, what_a_step_does_to_the_whole_process_is_found_in_the_end,
                        WHOLE_PROCESS_FROM, 7);
    tcase_add_loop_test(crashes, what_a_plugin_has_left_is_told_when_it_goes, 0, 4);
    tcase_add_test(crashes, what_is_left_at_the_end_of_a_host_is_no_warning);
    tcase_add_test(crashes, looking_for_threads_that_a_plugin_has_left_keeps_no_memory);
    tcase_add_test(crashes, what_a_process_of_very_many_files_has_open_is_not_looked_at);
    tcase_add_loop_test(crashes, a_thread_that_a_plugin_has_left_is_known_however_much_it_has_had_before, 0, 2);
    tcase_add_test(crashes, a_file_is_held_by_its_plugin_though_another_one_had_its_number);
    tcase_add_test(crashes, what_a_step_does_to_the_process_is_found_in_the_end);
#endif
    tcase_add_test(crashes, a_crash_in_load_refuses_the_plugin);
    tcase_add_test(crashes, a_crash_in_start_keeps_the_component_out);
    tcase_add_test(crashes, a_crash_in_the_start_of_a_system_is_told_to_who_wants_it);
    tcase_add_loop_test(crashes, a_crash_in_a_verb_with_a_result_is_its_error, 0, 3);
    tcase_add_loop_test(crashes, a_crash_in_a_verb_without_a_result_is_survived, 0, 11);
    tcase_add_loop_test(crashes, a_crash_while_stopping_or_unloading_does_not_keep_a_plugin, 0, 2);
    tcase_add_test(crashes, a_plugin_that_crashes_in_anothers_table_is_the_one_set_aside);
    tcase_add_loop_test(crashes, a_crash_on_a_job_thread_is_caught, 0, 4);
    tcase_add_loop_test(crashes, a_call_that_does_not_return_is_ended, 0, LATE_WAYS);
    tcase_add_test(crashes, several_hosts_share_the_handlers);
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    tcase_add_test(crashes, a_block_freed_twice_hangs_nobody);
    tcase_add_test(crashes, what_the_c_library_says_of_a_crash_is_told_with_that_crash_alone);
#endif
    tcase_add_test(crashes, an_ini_turns_the_guard_on);
    tcase_add_test(crashes, what_an_ini_has_reloaded_by_itself_is_guarded_tried_and_on_probation);
    suite_add_tcase(suite, crashes);
}

Suite *guard_suite(void)
{
    Suite *suite = suite_create("guard");
    TCase *calm = tcase_create("nothing crashes");
    tcase_add_test(calm, calls_that_return_are_left_alone_by_the_limit);
#if !defined(_WIN32)
    tcase_add_test(calm, the_time_in_which_a_process_is_stopped_does_not_count_for_the_limit);
#endif
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if defined(__x86_64__)
    tcase_add_test(calm, what_opens_and_closes_a_library_may_return_with_other_registers);
#endif
    tcase_add_test(calm, a_call_is_counted_when_it_begins_and_when_it_ends);
    tcase_add_test(calm, the_call_that_goes_on_is_the_one_that_is_watched);
    tcase_add_test(calm, calls_that_were_late_and_returned_do_not_count_against_the_next);
    tcase_add_loop_test(calm, what_ends_the_process_is_told_where_nobody_else_hears_of_it, 0, COUNT(deaths));
    tcase_add_test(calm, what_ends_a_call_is_not_told_of_the_next_one_on_that_thread);
    tcase_add_test(calm, one_late_call_after_another_is_ended);
    tcase_add_test(calm, a_call_has_all_of_the_limit_however_long_there_has_been_a_guard);
    tcase_add_loop_test(calm, a_write_of_the_host_to_what_is_barred_goes_on_where_that_is_permitted, 0,
                        COUNT(permits));
    tcase_add_test(calm, a_copy_of_the_process_knows_the_thread_alone_that_has_made_it);
    tcase_add_test(calm, the_thread_on_which_the_last_guard_ends_is_forgotten);
    tcase_add_loop_test(calm, a_stack_for_handlers_that_is_not_the_guards_stays_when_the_guard_goes, 0, 3);
    tcase_add_test(calm, watching_a_limit_takes_hardly_any_time_of_the_processor);
    tcase_add_test(calm, handlers_are_put_back_when_the_last_guard_goes);
    tcase_add_loop_test(calm, a_handler_over_the_guards_is_called_once_and_the_first_one_then_though_guards_come_and_go,
                        0, 3);
    tcase_add_test(calm, each_signal_has_its_earlier_handler_when_the_last_guard_goes);
    tcase_add_test(calm, a_guard_for_which_memory_lacks_is_refused);
    tcase_add_test(calm, the_guard_knows_where_the_program_and_the_systems_loader_lie);
    tcase_add_test(calm, the_thread_that_watches_the_limit_takes_no_signals);
    tcase_add_test(calm, the_thread_that_watches_the_limit_has_ended_when_its_guard_has);
    tcase_add_test(calm, threads_that_end_are_forgotten);
#endif
    suite_add_tcase(suite, calm);
    if (!FIT)
        return suite;
    add_ways(suite);
#if !defined(_WIN32)
    TCase *limits = tcase_create("limits of the guard");
    tcase_add_test(limits, a_guard_that_cannot_have_what_it_needs_is_refused_and_may_be_asked_for_again);
    tcase_add_test(limits, a_crash_in_the_hosts_own_code_is_not_caught);
    tcase_add_test(limits, without_the_guard_a_crash_ends_the_process);
    tcase_add_loop_test(limits, signals_that_are_not_a_plugins_go_to_the_earlier_handler, 0, 10);
    tcase_add_loop_test(limits, an_earlier_handler_that_wants_to_know_more_is_told, 0, 2);
    tcase_add_test(limits, a_signal_that_a_program_sends_itself_does_what_it_did_without_a_host);
    suite_add_tcase(suite, limits);
#endif
    return suite;
}
