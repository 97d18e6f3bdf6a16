/* test_forked.c - copies of the process, made by fork, of a program that has a host: servers that fork workers, or that
 * save in a copy while they go on. A copy steps, reads and saves; the threads, files, folders and processes of the host
 * stay those of the process that has made it, whatever the copy does and however it ends.
 *
 * The plugin is tests/fixtures/reload_probe.h, of which one version moves twice as fast as the other.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "reload_support.h"

#include "os/os.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 20000, PATIENCE_S = 60, DEADLINE_MS = 20000, STEPS = 20 };

static const char *const probe[] = {"probe"};
static log_text_t log_text;
static bp_host_o *host;
static bp_world_o *world;
static bp_entity_t entities[ROWS];
static uint32_t refused, told;
static int speed; /* of the version that is at work, in a step: 1 or 2 */
static int slower; /* so many steps before a reload that is repeated */

static void hear(void *data, const bp_reload_report_t *report)
{
    (void)data;
    told++;
    refused += report->result != BP_OK;
    speed = report->result == BP_OK ? 3 - speed : speed;
}

static void open_host(uint32_t flags, uint32_t threads)
{
    uint32_t key, prototype;
    refused = told = 0;
    speed = 1;
    slower = 0;
    host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log_text),
                                            .tag = 1,
                                            .threads = threads,
                                            .flags = BP_HOST_CRASH_GUARD | BP_HOST_COPY_PLUGINS | flags,
                                            .trial_deadline = DEADLINE_MS});
    WORKS(host, bp_host_load_plugin(host, put_plugin("reload_probe_first", "probe"), NULL, 0));
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = 1});
    world->schedule->least_range = 1; /* so that there is work for all threads */
    WORKS(host, bp_world_use_component(world, "probe"));
    key = key_of(world, "probe", "");
    WORKS(host, bp_host_api(host)->world->prototype(world, &key, 1, &prototype));
    WORKS(host, bp_host_api(host)->world->create(world, prototype, entities, ROWS));
    WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_on_reload(host, hear, NULL));
}

static float x_of(bp_entity_t entity)
{
    bp_vec3_t at = {0};
    WORKS(host, bp_host_api(host)->property->get_named(world, entity, "probe", "position", BP_VEC3, &at));
    return at.x;
}

/* Do something in a copy of the process, which ends with it, and wait for the copy: the copy must come through. */
static void in_a_copy(void (*act)(void))
{
    int status;
    fflush(NULL);
    pid_t copy = fork();
    ck_assert_int_ge(copy, 0);
    if (copy == 0) {
        alarm(PATIENCE_S);
        act();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(copy, &status, 0), copy);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the copy ended with 0x%x", (unsigned)status);
}

/* In a copy: nothing that a test could tell by its own end is told there, so a wrong answer ends the copy. */
static void must(bool good, int code)
{
    if (!good)
        _exit(code);
}

static void step_on(void)
{
    float x = x_of(entities[ROWS - 1]);
    for (int i = 0; i < STEPS; i++)
        must(bp_host_step(host) == BP_OK, 2);
    must(x_of(entities[ROWS - 1]) == x + (float)(STEPS * speed - slower), 3);
    must(bp_world_save(world, TEST_SCRATCH_DIR "/forked.json") == BP_OK, 4);
    bp_host_destroy(host);
}

START_TEST(a_copy_steps_and_saves_alone_whatever_threads_the_host_has)
{
    open_host(0, (uint32_t)_i + 1);
    for (int i = 0; i < 8; i++) {
        float x = x_of(entities[0]);
        remove(TEST_SCRATCH_DIR "/forked.json");
        in_a_copy(step_on);
        ck_assert_int_eq(access(TEST_SCRATCH_DIR "/forked.json", R_OK), 0);
        WORKS(host, bp_host_step(host));
        ck_assert(x_of(entities[0]) == x + 1);
    }
    check_host(host);
    bp_host_destroy(host);
}
END_TEST

static void ask_for_changes(void)
{
    static const char said[] = "not in a copy (fork) of the process that has made the host; there it can be stepped, "
                               "read and saved";
    bp_host_o *other = NULL;
    const char *library;
    bp_reload_report_t report = {.struct_size = sizeof report};
    for (int i = 0; i < 11; i++) {
        bp_result_t result = BP_OK;
        switch (i) {
        case 0: result = bp_host_reload(host, probe, 1, &report); break;
        case 1: result = bp_host_reload_lossy(host, probe, 1, NULL); break;
        case 2: result = bp_host_begin_reload(host, probe, 1, 0); break;
        case 3: result = bp_host_poll(host); break;
        case 4: result = bp_host_wait(host, 0); break;
        case 5: result = bp_host_unload_plugin(host, "probe"); break;
        case 6: result = bp_host_load_plugin(host, TEST_PLUGIN_DIR "/point_mass", NULL, 0); break;
        case 7: result = bp_host_record(host, TEST_SCRATCH_DIR "/forked.rec", NULL); break;
        case 8: result = bp_host_setup(host, TEST_SCRATCH_DIR "/forked.ini"); break;
        case 9: result = bp_host_clone(host, &other); break;
        default: result = bp_host_compile_plugin(host, "forked.c", &library); break;
        }
        must(result == BP_ERROR_STATE && strcmp(bp_host_error(host), said) == 0, 10 + i);
    }
    must(access(TEST_SCRATCH_DIR "/forked.rec", F_OK) != 0, 9);
    must(report.result == BP_ERROR_STATE && strstr(report.text, said) != NULL, 8);
    step_on();
}

/* Going back ends a trial that is under way. */
static void bring_back_and_step(void)
{
    bp_snapshot_o *snapshot;
    char given[sizeof host->hot.trial.told]; /* the file that a helper reads; "": none */
    snprintf(given, sizeof given, "%s", host->hot.trial.told);
    must(bp_host_snapshot(host, &snapshot) == BP_OK, 5);
    must(bp_host_step(host) == BP_OK, 2);
    must(bp_host_bring_back(host, snapshot) == BP_OK, 6);
    must(given[0] == '\0' || access(given, R_OK) == 0, 7);
    bp_snapshot_free(snapshot);
    step_on();
}

/* Also while a trial of the host's is under way, by a copy or by a helper: it is the child of the host's process, and
 * other copies let it be. */
START_TEST(a_copy_changes_no_plugins_and_leaves_those_of_the_host_alone)
{
    uint64_t until = os_clock_ns() + (uint64_t)PATIENCE_S * 1000000000u;
    remove(TEST_SCRATCH_DIR "/forked.rec");
    open_host(BP_HOST_HOT_RELOAD | BP_HOST_TRIAL | (_i == 0 ? 0 : BP_HOST_TRIAL_HELPER), 2);
    in_a_copy(ask_for_changes);
    put_plugin("reload_probe_faster", "probe");
    WORKS(host, bp_host_begin_reload(host, probe, 1, 0));
    for (; told == 0; in_a_copy(bring_back_and_step)) {
        WORKS(host, bp_host_poll(host));
        WORKS(host, bp_host_step(host));
        EXPECT(os_clock_ns() < until, "nothing was told; the log:\n%s", log_text.text);
    }
    EXPECT(refused == 0, "the log:\n%s", log_text.text);
    in_a_copy(step_on);
    put_plugin("reload_probe_first", "probe");
    WORKS(host, bp_host_reload(host, probe, 1, NULL)); /* the folder of the host's copies is still there */
    check_host(host);
    bp_host_destroy(host);
}
END_TEST

static uint64_t first;

static void go_back_and_step(void)
{
    must(bp_host_go(host, first) == BP_OK, 5);
    must(temporary_is_own(&host->loader.files.folders[COPIES_TEMPORARY].owner), 6);
    slower = 1;
    step_on();
}

/* The versions of that time are opened from copies of their files: a process has a folder of its own for these. */
START_TEST(a_copy_goes_back_beyond_a_reload_and_the_host_does_so_after_it)
{
    bp_history_t history = {.struct_size = sizeof history};
    open_host(0, 2);
    WORKS(host, bp_host_remember(host, 64u << 20));
    WORKS(host, bp_host_step(host));
    bp_host_history(host, &history);
    first = history.now;
    WORKS(host, bp_host_step(host));
    put_plugin("reload_probe_faster", "probe");
    WORKS(host, bp_host_reload(host, probe, 1, NULL));
    for (int i = 0; i < 3; i++) {
        in_a_copy(go_back_and_step);
        WORKS(host, bp_host_step(host));
    }
    bp_host_history(host, &history);
    float x = x_of(entities[ROWS - 1]);
    for (int i = 0; i < 2; i++) {
        WORKS(host, bp_host_go(host, first));
        slower = 1;
        in_a_copy(step_on);
        WORKS(host, bp_host_go(host, history.now));
        slower = 0;
        in_a_copy(step_on);
        ck_assert(x_of(entities[ROWS - 1]) == x);
    }
    check_host(host);
    bp_host_destroy(host);
}
END_TEST

static void step_and_end_the_recording(void)
{
    for (int i = 0; i < STEPS; i++)
        must(bp_host_step(host) == BP_OK, 2);
    must(bp_host_record_end(host) == BP_OK, 7);
    bp_host_destroy(host);
    exit(0); /* which writes what the C library still holds */
}

START_TEST(a_recording_has_the_steps_of_the_process_that_has_begun_it)
{
    static const char path[] = TEST_SCRATCH_DIR "/forked.rec";
    bp_recording_t info = {.struct_size = sizeof info};
    bp_playback_i check = {.flags = BP_PLAY_CHECK | BP_PLAY_ALL};
    bp_recording_o *recording;
    open_host(0, 2);
    WORKS(host, bp_host_record(host, path, NULL));
    for (int i = 0; i < 3; i++) {
        WORKS(host, bp_host_step(host));
        in_a_copy(step_and_end_the_recording);
    }
    float x = x_of(entities[ROWS - 1]);
    WORKS(host, bp_host_record_end(host));
    WORKS(host, bp_recording_open(host, path, &recording));
    bp_recording_info(recording, &info);
    ck_assert_uint_eq(info.lost, 0);
    ck_assert_uint_eq(info.last - info.first, 3);
    WORKS(host, bp_recording_play(recording, info.last, &check));
    ck_assert(x_of(entities[ROWS - 1]) == x);
    bp_recording_close(recording);
    check_host(host);
    bp_host_destroy(host);
}
END_TEST

Suite *forked_suite(void)
{
    Suite *suite = suite_create("forked");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, a_copy_steps_and_saves_alone_whatever_threads_the_host_has, 0, 4);
    tcase_add_loop_test(all, a_copy_changes_no_plugins_and_leaves_those_of_the_host_alone, 0, 2);
    tcase_add_test(all, a_copy_goes_back_beyond_a_reload_and_the_host_does_so_after_it);
    tcase_add_test(all, a_recording_has_the_steps_of_the_process_that_has_begun_it);
    suite_add_tcase(suite, all);
    return suite;
}
