/* test_calls.c - every call of the system fails once: what the host was asked for is then refused with a sentence, or
 * done all the same, and never in part.
 *
 * A scenario is one thing asked of a host. It runs once undisturbed, then once for each of its calls of the system
 * (calls.h), which fails: alone, and with all after it. Where the answer is no, the host says why and is as it was, and
 * asked again it says yes; in the end it is as in the undisturbed run. No descriptor and no memory may be left either
 * way.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "../unit/inspect.h"
#include "../unit/support.h"
#include "../unit/zoo.h"
#include "../reload/reload_support.h"
#include "calls.h"

#include "os/os.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(BACKPLANE_SANITIZED)
enum { FEW = 60, MANY = 100, CROWD_CALLS = 0 }; /* sanitizers are slow, and there are no superblocks */
#else
enum { FEW = 60, MANY = 33000, CROWD_CALLS = 1 }; /* MANY: columns are pages of their own */
#endif
enum { MOST_CALLS = 400 };

static struct {
    bp_host_desc_t desc;
    bp_host_o *host;
    const bp_api_t *api;
    bp_world_o *world;
    bp_scene_o *scene;
    log_text_t log;
    uint32_t told; /* reports of reloads */
    bp_result_t last; /* of them */
    char path[1024];
} at;

typedef struct scenario_t {
    const char *name;
    void (*prepare)(void); /* a host, and what else there is before */
    bp_result_t (*ask)(void);
    uint32_t least; /* so many calls of the system belong to it */
    bool slow;      /* not with all calls failing from one on */
} scenario_t;

/* --- hosts -------------------------------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    remove(path);
    return 0;
}

/* Copies go to a folder of our own, empty at each attempt: what is found in the usual one would be looked through with
   further calls. */
static void describe_desc(uint32_t flags)
{
    nftw(TEST_SCRATCH_DIR "/calls", remove_one, 8, FTW_DEPTH | FTW_PHYS);
    mkdir(TEST_SCRATCH_DIR "/calls", 0755);
    setenv("TMPDIR", TEST_SCRATCH_DIR "/calls", 1);
    at.desc = (bp_host_desc_t){.struct_size = sizeof at.desc,
                               .seed = 1,
                               .tag = 1,
                               .log = log_into(&at.log),
                               .static_plugins = zoo_plugins,
                               .static_plugin_count = ZOO_PLUGINS,
                               .flags = flags,
                               .trial_deadline = 60000};
}

static void open_host(uint32_t flags)
{
    describe_desc(flags);
    at.host = bp_host_create(&at.desc);
    EXPECT(at.host != NULL, "no host");
    at.api = bp_host_api(at.host);
    for (uint32_t i = 0; i < ZOO_PLUGINS; i++)
        WORKS(at.host, bp_host_load_plugin(at.host, zoo_plugins[i]->name, NULL, 0));
}

static void open_world(uint32_t rows)
{
    static bp_entity_t entities[MANY];
    at.world = bp_world_create(at.host, &(bp_world_desc_t){.name = "main", .step_rate = 50});
    EXPECT(at.world != NULL, "%s", bp_host_error(at.host));
    for (uint32_t i = 0; zoo_components[i] != NULL; i++)
        WORKS(at.host, bp_world_use_component(at.world, zoo_components[i]));
    if (rows > 0)
        WORKS(at.host,
              at.api->world->create(at.world, prototype_of(at.world, "body", "flag", NULL, NULL), entities, rows));
}

static void close_host(void)
{
    if (at.scene != NULL)
        bp_scene_close(at.scene);
    bp_host_destroy(at.host);
    EXPECT(strstr(at.log.text, "not given back") == NULL, "%s", at.log.text);
    memset(&at, 0, sizeof at);
}

static void hear(void *data, const bp_reload_report_t *report)
{
    (void)data;
    at.told++;
    at.last = report->result;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

enum { CROWD = 44, CROWD_ROWS = 1000 }; /* of some 48 KiB each: the next ones lie in a superblock, which is a call */

static void prepare_crowd(void)
{
    static bp_entity_t entities[CROWD_ROWS];
    open_host(0);
    for (uint32_t i = 0; i < CROWD; i++) {
        char name[16];
        snprintf(name, sizeof name, "crowd_%u", i);
        bp_world_o *world = bp_world_create(at.host, &(bp_world_desc_t){.name = name});
        WORKS(at.host, bp_world_use_component(world, "body"));
        WORKS(at.host, at.api->world->create(world, prototype_of(world, "body", NULL, NULL, NULL), entities,
                                             CROWD_ROWS));
    }
    open_world(0);
}

static bp_result_t ask_create(void)
{
    static bp_entity_t entities[CROWD_ROWS];
    return at.api->world->create(at.world, prototype_of(at.world, "body", NULL, NULL, NULL), entities, CROWD_ROWS);
}

/* --- plugins ------------------------------------------------------------------------------------------------------ */

static void keep_path(const char *path)
{
    snprintf(at.path, sizeof at.path, "%s", path);
}

static void prepare_load(void)
{
    open_host(0);
    keep_path(put_plugin("reload_probe_first", "probe"));
}

static void prepare_copied_load(void)
{
    open_host(BP_HOST_COPY_PLUGINS | BP_HOST_CRASH_GUARD);
    keep_path(put_plugin("reload_probe_first", "probe"));
}

static bp_result_t ask_load(void)
{
    return bp_host_load_plugin(at.host, at.path, NULL, 0);
}

static void prepare_reload_with(uint32_t flags, uint32_t rows)
{
    open_host(flags);
    keep_path(put_plugin("reload_probe_first", "probe"));
    WORKS(at.host, ask_load());
    open_world(0);
    WORKS(at.host, bp_world_use_component(at.world, "probe"));
    static bp_entity_t entities[MANY];
    WORKS(at.host, at.api->world->create(at.world, prototype_of(at.world, "probe", NULL, NULL, NULL), entities, rows));
    put_plugin("reload_probe_reshaped", "probe");
}

static void prepare_reload(void)
{
    prepare_reload_with(BP_HOST_COPY_PLUGINS, FEW);
}

static void prepare_large_reload(void)
{
    prepare_reload_with(0, MANY * 2 / 3);
}

static void prepare_tried_reload(void)
{
    prepare_reload_with(BP_HOST_COPY_PLUGINS | BP_HOST_TRIAL, FEW);
}

static bp_result_t ask_reload(void)
{
    static const char *const probe[] = {"probe"};
    return bp_host_reload(at.host, probe, 1, NULL);
}

/* The file has been written anew before the first poll. Whatever call fails then, its stamp tells of it in the end. */
static void prepare_watch(void)
{
    prepare_reload_with(BP_HOST_HOT_RELOAD, FEW);
    WORKS(at.host, bp_host_on_reload(at.host, hear, NULL));
}

static bp_result_t ask_watch(void)
{
    uint32_t before = at.told;
    for (int n = 0; n < 20000 && at.told == before; n++) {
        bp_result_t result = bp_host_poll(at.host);
        if (result != BP_OK)
            return result;
        os_sleep_ns(1000000);
        if (n == 300)
            calls_end(); /* it has had its chance */
    }
    EXPECT(at.told > before, "%s, call: nothing was told of the new file: %s", calls_first_failed(), at.log.text);
    if (at.last != BP_OK) /* what was refused comes again when it is written anew */
        put_plugin("reload_probe_reshaped", "probe");
    return at.last;
}

/* --- scenes ------------------------------------------------------------------------------------------------------- */

static void prepare_compile(void)
{
    open_host(0);
    open_world(0);
    keep_path(scratch_file("calls.json", "{\"entities\": [{\"count\": 33000, \"components\": {\"body\": {\"mass\": 7}, "
                                         "\"label\": {\"text\": \"x\"}}}]}"));
}

static bp_result_t ask_compile(void)
{
    return bp_scene_compile(at.host, at.path, &at.scene);
}

static void prepare_open(void)
{
    prepare_compile();
    WORKS(at.host, ask_compile());
    snprintf(at.path, sizeof at.path, "%s/calls.bpe", TEST_SCRATCH_DIR);
    WORKS(at.host, bp_scene_write(at.scene, at.path));
    bp_scene_close(at.scene);
    at.scene = NULL;
}

static bp_result_t ask_open(void)
{
    return bp_scene_open(at.host, at.path, &at.scene);
}

static void prepare_spawn(void)
{
    prepare_open();
    WORKS(at.host, ask_open());
}

static bp_result_t ask_spawn(void)
{
    return bp_scene_spawn(at.scene, at.world, 0, NULL, NULL);
}

static void prepare_save(void)
{
    open_host(0);
    open_world(MANY);
    snprintf(at.path, sizeof at.path, "%s/calls_saved.bpe", TEST_SCRATCH_DIR);
}

static bp_result_t ask_save(void)
{
    return bp_world_save(at.world, at.path);
}

static void prepare_restore(void)
{
    prepare_save();
    WORKS(at.host, ask_save());
    WORKS(at.host, bp_world_step(at.world));
}

static bp_result_t ask_restore(void)
{
    return bp_world_restore(at.world, at.path, 0);
}

static void prepare_setup(void)
{
    open_host(0);
    char path[1024];
    scratch_file("calls.json", "{\"entities\": [{\"count\": 30, \"components\": {\"body\": {\"mass\": 7}}}]}");
    snprintf(path, sizeof path, "%s", put_plugin("reload_probe_first", "probe"));
    keep_path(scratch_file("calls.ini", "[host]\nplugins = ./probe\nhot_reload = on\n[world main]\ncomponents = body "
                                        "probe\nscenes = calls.json\n"
                                        "[spawn main x]\ncount = 9\ncomponents = body probe\n"));
}

static bp_result_t ask_setup(void)
{
    return bp_host_setup(at.host, at.path);
}

enum { SPAWN_CALLS = MANY > FEW ? 2 : 0 }; /* of small scenes it makes none */

static const scenario_t scenarios[] = {
    {"load", prepare_load, ask_load, 4, false},
    {"load a copy, guarded", prepare_copied_load, ask_load, 10, false},
    {"reload", prepare_reload, ask_reload, 10, false},
    {"reload of much", prepare_large_reload, ask_reload, 4, true},
    {"reload after a trial", prepare_tried_reload, ask_reload, 12, false},
    {"watch and reload", prepare_watch, ask_watch, 12, true},
    {"compile", prepare_compile, ask_compile, 2, false},
    {"open", prepare_open, ask_open, 3, false},
    {"spawn", prepare_spawn, ask_spawn, SPAWN_CALLS, true},
    {"save", prepare_save, ask_save, 6, true},
    {"restore", prepare_restore, ask_restore, 4, true},
    {"set up", prepare_setup, ask_setup, 12, false},
    {"create among many worlds", prepare_crowd, ask_create, CROWD_CALLS, false},
};

/* --- failing ------------------------------------------------------------------------------------------------------ */

/* Without the numbers that count attempts. */
static char *describe(void)
{
    char *text = describe_host(at.host);
    for (char *id = strstr(text, "main/"); id != NULL; id = strstr(id + 1, "main/"))
        memset(id + 5, 'x', strspn(id + 5, "0123456789abcdef"));
    return text;
}

/* Ask with the call of this number failing, and look at what has become of the host. Returns how many calls have
   failed. */
static uint32_t ask_once(const scenario_t *scenario, uint32_t nth, bool all, char **outcome)
{
    char what[256];
    scenario->prepare();
    char *before = describe_host(at.host);
    at.api->error->set(at.host, BP_OK, "nothing was said");
    calls_begin(nth, all);
    bp_result_t result = scenario->ask();
    uint32_t made = calls_end(), failed = calls_failed();
    snprintf(what, sizeof what, "%s without call %u, %s%s", scenario->name, nth, calls_first_failed(),
             all ? ", and all after it" : "");
    EXPECT(made < MOST_CALLS, "%s makes %u calls", scenario->name, made);
    EXPECT(nth > 0 || made >= scenario->least, "%s makes %u calls of the system", scenario->name, made);
    check_host(at.host);
    if (result != BP_OK) {
        EXPECT(failed > 0, "%s fails for no reason: %s", what, bp_host_error(at.host));
        EXPECT(strcmp(bp_host_error(at.host), "nothing was said") != 0, "%s fails without a word", what);
        expect_same(before, describe_host(at.host), what);
        before = NULL;
        result = scenario->ask();
        EXPECT(result == BP_OK, "%s, asked again: %d: %s", what, result, bp_host_error(at.host));
        check_host(at.host);
    }
    free(before);
    char *after = describe();
    if (*outcome == NULL)
        *outcome = after;
    else if (strcmp(*outcome, after) != 0)
        expect_same(strdup(*outcome), after, what);
    else
        free(after);
    close_host();
    return failed;
}

START_TEST(what_is_asked_for_is_done_or_refused_with_a_sentence_whatever_call_fails)
{
    const scenario_t *scenario = &scenarios[_i / 2];
    bool all = _i % 2 == 1;
    char *outcome = NULL;
    if (all && scenario->slow)
        return;
    uint32_t descriptors = calls_descriptors(), nth = 1;
    ask_once(scenario, 0, false, &outcome);
    EXPECT(calls_descriptors() == descriptors, "%s leaves a file open", scenario->name);
    for (; ask_once(scenario, nth, all, &outcome) > 0; nth++)
        EXPECT(calls_descriptors() == descriptors, "%s without call %u, %s, leaves a file open", scenario->name, nth,
               calls_first_failed());
    ck_assert_uint_ge(nth, scenario->least);
    free(outcome);
}
END_TEST

/* The same in the copy of the process in which a reload is tried: what fails there is refused, or does not matter. */
START_TEST(a_call_that_fails_in_a_trial_changes_nothing_outside)
{
    enum { CALLS_OF_A_TRIAL = 24 };
    uint32_t refused = 0;
    for (uint32_t nth = 1; nth <= CALLS_OF_A_TRIAL; nth++) {
        char what[64];
        snprintf(what, sizeof what, "a trial without call %u", nth);
        prepare_tried_reload();
        char *before = describe_host(at.host);
        calls_follow(nth, _i == 1);
        bp_result_t result = ask_reload();
        calls_end();
        check_host(at.host);
        if (result != BP_OK) {
            refused++;
            EXPECT(strstr(bp_host_error(at.host), "on trial") != NULL ||
                       strstr(bp_host_error(at.host), "probe") != NULL,
                   "%s: %s", what, bp_host_error(at.host));
            expect_same(before, describe_host(at.host), what);
            WORKS(at.host, ask_reload());
        } else {
            free(before);
        }
        close_host();
    }
    ck_assert_uint_gt(refused, 0);
}
END_TEST

/* --- hosts -------------------------------------------------------------------------------------------------------- */

/* Threads that cannot be had, and a guard that cannot: the host does without and says so, or there is none. */
START_TEST(a_host_comes_with_what_it_can_have_or_not_at_all)
{
    uint32_t descriptors = calls_descriptors(), failed = 1, without = 0;
    for (uint32_t nth = 1; failed > 0; nth++) {
        describe_desc(BP_HOST_CRASH_GUARD | BP_HOST_HOT_RELOAD | BP_HOST_TRIAL);
        at.desc.threads = 3;
        at.desc.call_limit = 1000;
        calls_begin(nth, _i == 1);
        at.host = bp_host_create(&at.desc);
        calls_end();
        failed = calls_failed();
        EXPECT(at.host != NULL || failed > 0, "no host for no reason");
        without += at.host == NULL;
        if (at.host != NULL) {
            at.api = bp_host_api(at.host);
            for (uint32_t i = 0; i < ZOO_PLUGINS; i++)
                WORKS(at.host, bp_host_load_plugin(at.host, zoo_plugins[i]->name, NULL, 0));
            open_world(FEW);
            WORKS(at.host, bp_world_step(at.world));
            check_host(at.host);
        }
        close_host();
        EXPECT(calls_descriptors() == descriptors, "without call %u, %s, a file is left open", nth,
               calls_first_failed());
    }
    (void)without;
}
END_TEST

/* The handler of crashes has a stack of its own, for which memory is asked at the first call of a thread. Where there
 * is none a crash is told all the same, and only one for which the stack was too small ends the process. */
START_TEST(a_crash_is_told_where_its_handler_could_have_no_stack)
{
    static const bp_option_t options[] = {{"where", "simulate", NULL, NULL}, {"how", "null", NULL, NULL}};
    static log_text_t log;
    uint32_t told = 0, failed = 1;
    for (uint32_t nth = 1; failed > 0 && nth < 100; nth++) {
        uint32_t key, prototype;
        bp_entity_t e;
        log.text[0] = '\0';
        log.count = 0;
        calls_begin_named("mmap", nth);
        bp_host_o *host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log), .flags = BP_HOST_CRASH_GUARD});
        bp_result_t result = host == NULL ? BP_ERROR_MEMORY : bp_host_load_plugin(host, TEST_FIXTURE_DIR "/crasher",
                                                                                  options, COUNT(options));
        bp_world_o *world = result != BP_OK ? NULL : bp_world_create(host, &(bp_world_desc_t){.name = "main"});
        if (world != NULL && bp_world_use_component(world, "crash_plain") == BP_OK) {
            const bp_world_api *api = bp_host_api(host)->world;
            if (api->key(world, api->component(world, "crash_plain"), 0, &key) == BP_OK &&
                api->prototype(world, &key, 1, &prototype) == BP_OK &&
                api->create(world, prototype, &e, 1) == BP_OK) {
                bp_world_step(world);
                EXPECT(strstr(log.text, "SIGSEGV at address 0x10") != NULL, "%s", log.text);
                told++;
            }
        }
        calls_end();
        failed = calls_failed();
        bp_host_destroy(host);
    }
    ck_assert_uint_gt(told, 0);
}
END_TEST

Suite *calls_suite(void)
{
    Suite *suite = suite_create("calls");
    TCase *tests = tcase_create("failing");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, what_is_asked_for_is_done_or_refused_with_a_sentence_whatever_call_fails, 0,
                        2 * COUNT(scenarios));
    tcase_add_loop_test(tests, a_call_that_fails_in_a_trial_changes_nothing_outside, 0, 2);
    tcase_add_test(tests, a_crash_is_told_where_its_handler_could_have_no_stack);
    tcase_add_loop_test(tests, a_host_comes_with_what_it_can_have_or_not_at_all, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
