/* test_crash.c - what becomes of `backplane run` and `console` where a plugin crashes: by default, and without the
 * guard.
 *
 * The plugin is tests/program/plugins/crash.c, built here with debug information, as `cc -g` gives it.
 */
#include "../suites.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>

static void write_ini(const char *host, const char *options)
{
    char ini[1024];
    expect(shell("${CC:-cc} -g -shared -fPIC -I plugin_api tests/program/plugins/crash.c -o '" TEST_SCRATCH_DIR
                 "/crash.so'"),
           0, NULL);
    snprintf(ini, sizeof ini,
             "[host]\nplugins = ./crash.so\n%s[plugin crash]\n%s[world main]\ncomponents = crash\n"
             "[spawn main one]\ncomponents = crash\n",
             host, options);
    write_file(ini_file, ini);
}

/* "crash.c:LINE", of the line in crash.c that holds a text. */
static const char *line_with(const char *text)
{
    static char line[64];
    const outcome_t *outcome = shell("grep -nF '%s' tests/program/plugins/crash.c | cut -d: -f1", text);
    snprintf(line, sizeof line, "crash.c:%d", atoi(outcome->out));
    return line;
}

START_TEST(run_and_console_have_the_guard_without_being_told)
{
    write_ini("", "");
    const char *line = line_with("the line that tests look for");
    const outcome_t *outcome = shell("backplane run '%s' --steps 10", ini_file);
    expect(outcome, 1, "plugin 'crash' 1.0 crashed in 'simulate' of component 'crash', world 'main', step 3: SIGSEGV");
    expect_in(outcome->err, "in its function 'fail'");
    expect_in(outcome->err, line);
    expect_in(outcome->out, "10 steps");
    write_file(input_file, "step 10\nget main/#0:1.crash.age\nplugins crash\nplugins\n");
    outcome = shell("backplane console '%s' < '%s'", ini_file, input_file);
    expect(outcome, 1, "crashed in 'simulate'");
    expect_in(outcome->out, "step 10, time");
    expect_in(outcome->out, "\n4\n");
    expect_in(outcome->out, "set aside: it has crashed\n");
}
END_TEST

START_TEST(a_crash_after_a_reload_brings_the_version_before_back_without_being_asked_to)
{
    write_ini("", "at = 20\n");
    write_file(input_file, "step 1\nreload crash\nstep 40\nplugins crash\n");
    const outcome_t *outcome = shell("backplane console '%s' < '%s'", ini_file, input_file);
    expect(outcome, 1, "plugin 'crash' has crashed on probation: the version before is back");
}
END_TEST

START_TEST(what_reload_brings_is_tried_first_without_being_asked_to)
{
    write_ini("", "at = 2\n");
    write_file(input_file, "step 1\nreload crash\n");
    const outcome_t *outcome = shell("backplane console '%s' < '%s'", ini_file, input_file);
    expect(outcome, 1, "not reloaded, and nothing has changed");
    expect_in(outcome->err, "on trial: plugin 'crash' 1.0 crashed in 'simulate'");
}
END_TEST

START_TEST(a_run_tells_that_a_new_version_is_refused_and_one_is_taken_without_being_asked_to)
{
    write_ini("hot_reload = on\n", "at = 2000000000\n");
    shell("s='" TEST_SCRATCH_DIR "'; cp $s/crash.so $s/crash.kept; echo 'no library' >$s/crash.bad\n"
          "'" TEST_BACKPLANE "' run '%s' --steps 4000000000 2>$s/crash.err >$s/crash.out &\n"
          "run=$!\n"
          "told() { for i in $(seq 200); do if grep -q \"$1\" $s/crash.err; then return; fi; sleep 0.05; done; }\n"
          "sleep 0.3; mv $s/crash.bad $s/crash.so; told 'not reloaded'\n"
          "mv $s/crash.kept $s/crash.so; told '^backplane: host: reloaded'\n"
          "kill $run; wait $run; true",
          ini_file);
    char said[OUTPUT_MAX];
    read_file(TEST_SCRATCH_DIR "/crash.err", said);
    expect_in(said, "backplane: host: not reloaded: crash");
    expect_in(said, "backplane: host: reloaded crash");
}
END_TEST

/* Under the sanitizers their own handlers are there first, and tell in their own way. */
#if !defined(BACKPLANE_SANITIZED)

static const struct {
    const char *how, *signal, *message, *line;
    int status;
} deaths[] = {
    {"address", "SIGSEGV at address 0x10", "in its function 'fail'", "the line that tests look for", 139},
    {"divide", "SIGFPE: it divided an integer by zero", "in its function 'fail'", "one /= zero", 136},
    {"abort", "SIGABRT", "in its function 'fail'", "abort();", 134},
    {"stack", "the stack ran out", "in its function 'deeper'", NULL, 139},
    {"host", "SIGSEGV", "the host itself crashed, called by plugin 'crash' 1.0 in 'simulate'", NULL, 139},
};

START_TEST(without_the_guard_a_crash_is_told_before_it_ends_the_program)
{
    char options[64], line[64] = "";
    snprintf(options, sizeof options, "how = %s\n", deaths[_i].how);
    write_ini("crash_guard = off\n", options);
    if (deaths[_i].line != NULL)
        snprintf(line, sizeof line, "%s", line_with(deaths[_i].line));
    const outcome_t *outcome = shell("(backplane run '%s' --steps 10)", ini_file);
    expect(outcome, deaths[_i].status, "of component 'crash', world 'main', step 3: ");
    expect_in(outcome->err, deaths[_i].signal);
    expect_in(outcome->err, deaths[_i].message);
    expect_in(outcome->err, line);
    expect_in(outcome->err, "; that ends the program");
    ck_assert_str_eq(outcome->out, "");
}
END_TEST

START_TEST(the_host_that_a_plugin_leads_astray_is_told_of_under_the_guard_too)
{
    write_ini("", "how = host\n");
    expect(shell("(backplane run '%s' --steps 10)", ini_file), 139,
           "the host itself crashed, called by plugin 'crash'");
}
END_TEST

#if defined(__GLIBC__)
/* The watcher of the time limit is a thread, so the C library locks the heap, and ends the process with that lock. */
START_TEST(a_heap_that_stays_locked_is_told_before_it_ends_the_program)
{
    write_ini("call_limit = 300\n", "how = twice\n");
    const outcome_t *outcome = shell("(backplane run '%s' --steps 10)", ini_file);
    expect(outcome, 134, "plugin 'crash' 1.0 crashed in 'simulate' of component 'crash'");
    expect_in(outcome->err, "with the heap of the C library locked: nothing can go on; that ends the program\n");
}
END_TEST
#endif

START_TEST(a_trial_tells_where_it_crashed_without_the_guard_too)
{
    write_ini("crash_guard = off\n", "at = 2\n");
    write_file(input_file, "step 1\nreload crash\nstep 1\n");
    const outcome_t *outcome = shell("(backplane console '%s' < '%s')", ini_file, input_file);
    expect(outcome, 1, "on trial: plugin 'crash' 1.0 crashed in 'simulate'");
}
END_TEST

#endif

Suite *crash_suite(void)
{
    Suite *suite = suite_create("crash");
    TCase *test_case = tcase_create("crash");
    tcase_set_timeout(test_case, 20);
    tcase_add_checked_fixture(test_case, make_scratch_folder, NULL);
    tcase_add_test(test_case, run_and_console_have_the_guard_without_being_told);
    tcase_add_test(test_case, a_crash_after_a_reload_brings_the_version_before_back_without_being_asked_to);
    tcase_add_test(test_case, what_reload_brings_is_tried_first_without_being_asked_to);
    tcase_add_test(test_case, a_run_tells_that_a_new_version_is_refused_and_one_is_taken_without_being_asked_to);
#if !defined(BACKPLANE_SANITIZED)
    tcase_add_loop_test(test_case, without_the_guard_a_crash_is_told_before_it_ends_the_program, 0,
                        sizeof deaths / sizeof deaths[0]);
#if defined(__GLIBC__)
    tcase_add_test(test_case, a_heap_that_stays_locked_is_told_before_it_ends_the_program);
#endif
    tcase_add_test(test_case, the_host_that_a_plugin_leads_astray_is_told_of_under_the_guard_too);
    tcase_add_test(test_case, a_trial_tells_where_it_crashed_without_the_guard_too);
#endif
    suite_add_tcase(suite, test_case);
    return suite;
}
