/* test_pause.c - plugins with threads of their own: paused and resumed around every change of versions, every trial,
 * and at both ends of their life.
 *
 * The plugin is tests/fixtures/clockwork.h in several versions; what it tells the log is the order of what was called.
 * Each test compares that with a text, in which `resume 0` is the one after `load` and the other numbers are those of
 * BP_PAUSE_...
 *
 * This suite also runs under ThreadSanitizer.
 */
#include "../suites.h"
#include "reload_support.h"

#include "reload/process.h"

#include <string.h>

static const char *const names[] = {"clockwork"};
static bp_host_o *host;
static bp_world_o *world;
static struct { char text[2048]; size_t length; } told, warned;

static void hear(void *context, int32_t level, const char *source, const char *text)
{
    bool own = strcmp(source, "clockwork") == 0 && level == BP_LOG_INFO;
    (void)context;
    if (own)
        told.length += (size_t)snprintf(told.text + told.length, sizeof told.text - told.length, "%s%s",
                                        told.length > 0 ? ", " : "", text);
    else if (level >= BP_LOG_WARNING)
        warned.length +=
            (size_t)snprintf(warned.text + warned.length, sizeof warned.text - warned.length, "%s: %s\n", source, text);
}

static void forget(void)
{
    told.length = warned.length = 0;
    told.text[0] = warned.text[0] = '\0';
}

/* What was called since the last time. */
static void expect_told(const char *calls)
{
    EXPECT(strcmp(told.text, calls) == 0, "called was\n  %s\nand not\n  %s", told.text, calls);
    forget();
}

static void open_host(uint32_t flags)
{
    forget();
    host = bp_host_create(&(bp_host_desc_t){.log = &(bp_log_i){.write = hear}, .flags = flags});
    WORKS(host, bp_host_load_plugin(host, put_plugin("clockwork_first", "clockwork"), NULL, 0));
    expect_told("1 load, 1 resume 0");
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    WORKS(host, bp_world_use_system(world, "clockwork_waits"));
    WORKS(host, bp_world_step(world));
}

static void bring(const char *fixture)
{
    put_plugin(fixture, "clockwork");
    WORKS(host, bp_host_reload(host, names, 1, NULL));
    WORKS(host, bp_world_step(world));
}

static void close_host(const char *calls)
{
    forget();
    bp_host_destroy(host);
    EXPECT(warned.length == 0, "%s", warned.text);
    expect_told(calls);
}

/* --- versions ---------------------------------------------------------------------------------------------------- */

START_TEST(the_thread_of_a_state_that_goes_over_stands_still_during_the_change)
{
    open_host(BP_HOST_COPY_PLUGINS);
    for (uint32_t i = 0; i < 10; i++) {
        bring("clockwork_kept");
        expect_told("1 pause 1, 2 load, 2 resume 1");
        bring("clockwork_first");
        expect_told("2 pause 1, 1 load, 1 resume 1");
    }
    close_host("1 pause 4, 1 unload");
}
END_TEST

START_TEST(a_version_that_begins_anew_runs_once_the_one_before_has_ended)
{
    open_host(BP_HOST_COPY_PLUGINS);
    bring("clockwork_anew");
    expect_told("1 pause 1, 3 load, 1 unload, 3 resume 1");
    close_host("3 pause 4, 3 unload");
}
END_TEST

START_TEST(the_version_at_work_goes_on_after_a_refusal)
{
    open_host(BP_HOST_COPY_PLUGINS);
    put_plugin("clockwork_load_fails", "clockwork");
    FAILS(host, BP_ERROR_FAILED, "the spring is broken", bp_host_reload(host, names, 1, NULL));
    WORKS(host, bp_world_step(world));
    expect_told("1 pause 1, 4 load, 1 resume 1");
    put_plugin("flock_first", "clockwork");
    FAILS(host, BP_ERROR_ARGUMENT, "it is plugin 'flock' now", bp_host_reload(host, names, 1, NULL));
    WORKS(host, bp_world_step(world));
    expect_told("1 pause 1, 1 resume 1");
    close_host("1 pause 4, 1 unload");
}
END_TEST

START_TEST(both_ends_of_a_probation_leave_one_version_running)
{
    bool anew = _i >= 2, back = _i % 2 == 1;
    open_host(BP_HOST_COPY_PLUGINS);
    host->reload.probation_steps = 3;
    bring(anew ? "clockwork_anew" : "clockwork_kept");
    expect_told(anew ? "1 pause 1, 3 load, 3 resume 1" : "1 pause 1, 2 load, 2 resume 1");
    if (back)
        WORKS(host, reload_rollback(&host->reload));
    for (uint32_t i = 0; i < 3; i++)
        WORKS(host, bp_world_step(world));
    if (back)
        expect_told(anew ? "3 pause 1, 3 unload, 1 resume 1" : "2 pause 1, 1 resume 1");
    else
        expect_told(anew ? "1 unload" : "");
    close_host(back ? "1 pause 4, 1 unload" : anew ? "3 pause 4, 3 unload" : "2 pause 4, 2 unload");
}
END_TEST

/* Also where the version has been paused to go before the probation ends. */
START_TEST(a_probation_that_ends_resumes_nothing)
{
    static const char *const fixtures[] = {"clockwork_kept", "clockwork_anew"};
    static const char *const ends[] = {"2 pause 4, 2 unload", "3 pause 4, 1 unload, 3 unload"};
    open_host(BP_HOST_COPY_PLUGINS);
    host->reload.probation_steps = 3;
    bring(fixtures[_i % 2]);
    if (_i < 2) {
        close_host(ends[_i]);
        return;
    }
    forget();
    WORKS(host, bp_host_unload_plugin(host, "clockwork"));
    expect_told(_i == 2 ? "2 pause 4, 2 unload" : "1 unload, 3 pause 4, 3 unload");
    close_host("");
}
END_TEST

START_TEST(a_version_that_cannot_resume_is_not_asked_again_when_its_probation_ends)
{
    open_host(BP_HOST_COPY_PLUGINS);
    host->reload.probation_steps = 1;
    put_plugin("clockwork_resume_fails", "clockwork");
    WORKS(host, bp_host_reload(host, names, 1, NULL));
    reload_accept(&host->reload);
    expect_told("1 pause 1, 5 load, 5 resume 1");
    warned.length = 0;
    close_host("5 unload");
}
END_TEST

START_TEST(a_version_that_cannot_resume_is_told_of_and_stays)
{
    open_host(BP_HOST_COPY_PLUGINS);
    put_plugin("clockwork_resume_fails", "clockwork");
    WORKS(host, bp_host_reload(host, names, 1, NULL));
    ck_assert_ptr_nonnull(strstr(warned.text, "its resume failed: the key is lost"));
    expect_told("1 pause 1, 5 load, 5 resume 1");
    close_host("5 unload");
}
END_TEST

/* --- loading and unloading ---------------------------------------------------------------------------------------- */

START_TEST(a_plugin_that_cannot_resume_is_not_loaded)
{
    forget();
    host = bp_host_create(&(bp_host_desc_t){.log = &(bp_log_i){.write = hear}});
    FAILS(host, BP_ERROR_IO, "its resume failed: the key is lost",
          bp_host_load_plugin(host, put_plugin("clockwork_resume_fails", "clockwork"), NULL, 0));
    expect_told("5 load, 5 resume 0, 5 unload");
    ck_assert_ptr_null(bp_host_plugin(host, 0, NULL));
    close_host("");
}
END_TEST

START_TEST(a_plugin_is_paused_before_it_is_taken_out_of_the_worlds)
{
    open_host(0);
    WORKS(host, bp_host_unload_plugin(host, "clockwork"));
    expect_told("1 pause 4, 1 unload");
    close_host("");
}
END_TEST

/* --- copies of the process ---------------------------------------------------------------------------------------- */

/* In the copy the system waits for the thread, so a candidate that was not resumed there would be refused. */
START_TEST(plugins_are_paused_while_the_process_is_copied_and_run_in_the_copy_too)
{
    if (!process_can_fork())
        return;
    open_host(BP_HOST_COPY_PLUGINS | BP_HOST_TRIAL | BP_HOST_CRASH_GUARD);
    bring(_i == 0 ? "clockwork_kept" : "clockwork_anew");
    expect_told(_i == 0 ? "1 pause 2, 1 resume 2, 1 pause 1, 2 load, 2 resume 1"
                        : "1 pause 2, 1 resume 2, 1 pause 1, 3 load, 1 unload, 3 resume 1");
    put_plugin("clockwork_load_fails", "clockwork");
    FAILS(host, BP_ERROR_FAILED, "on trial: ", bp_host_reload(host, names, 1, NULL));
    WORKS(host, bp_world_step(world));
    expect_told(_i == 0 ? "2 pause 2, 2 resume 2" : "3 pause 2, 3 resume 2");
    close_host(_i == 0 ? "2 pause 4, 2 unload" : "3 pause 4, 3 unload");
}
END_TEST

/* --- all ---------------------------------------------------------------------------------------------------------- */

Suite *pause_suite(void)
{
    Suite *suite = suite_create("pause");
    TCase *versions = tcase_create("versions"), *life = tcase_create("life");
    tcase_set_timeout(versions, 60);
    tcase_add_test(versions, the_thread_of_a_state_that_goes_over_stands_still_during_the_change);
    tcase_add_test(versions, a_version_that_begins_anew_runs_once_the_one_before_has_ended);
    tcase_add_test(versions, the_version_at_work_goes_on_after_a_refusal);
    tcase_add_loop_test(versions, both_ends_of_a_probation_leave_one_version_running, 0, 4);
    tcase_add_test(versions, a_version_that_cannot_resume_is_told_of_and_stays);
    tcase_add_test(life, a_plugin_that_cannot_resume_is_not_loaded);
    tcase_add_loop_test(life, a_probation_that_ends_resumes_nothing, 0, 4);
    tcase_add_test(life, a_version_that_cannot_resume_is_not_asked_again_when_its_probation_ends);
    tcase_add_test(life, a_plugin_is_paused_before_it_is_taken_out_of_the_worlds);
    tcase_add_loop_test(life, plugins_are_paused_while_the_process_is_copied_and_run_in_the_copy_too, 0, 2);
    suite_add_tcase(suite, versions);
    suite_add_tcase(suite, life);
    return suite;
}
