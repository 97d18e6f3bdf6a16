/* test_console_drafts.c - drafts at the console: a plugin's present file beside the host, in its past or from now on,
 * compared, kept and dropped.
 *
 * The plugin is examples/plugin/spin.c, built here and built again with a change while the console runs. The console is
 * told to save its world, and what comes after that is written when the file is there.
 */
#include "../suites.h"
#include "shell.h"

#include <stdio.h>

#define FOLDER TEST_SCRATCH_DIR "/drafted"

static const char faster[] = "s/c.speed.i. \\* dt/2 * c.speed[i] * dt/";

static void make_folder(void)
{
    make_scratch_folder();
    expect(shell("rm -rf '" FOLDER "' && mkdir '" FOLDER "' && ${CC:-cc} -shared -fPIC -I plugin_api "
                 "examples/plugin/spin.c -o '" FOLDER "/spin.so'"), 0, NULL);
}

/* A console that does `before`, then gets a version of the plugin that `edit` makes, by sed, and does `after`. */
static const outcome_t *draft(const char *host, const char *before, const char *edit, const char *after)
{
    char text[1024];
    snprintf(text, sizeof text,
             "[host]\nplugins = ./spin.so debug_name\n%s[world main]\nstep_rate = 64\ncomponents = spin debug_name\n"
             "[spawn main wheel]\ncomponents = spin name:debug_name\nspin.speed = 2.5\nname.name = wheel\n"
             "[spawn main other]\ncomponents = spin\nspin.speed = 0\n", host);
    write_file(FOLDER "/drafts.ini", text);
    snprintf(text, sizeof text, "%ssave main " FOLDER "/saved.bpe\n", before);
    write_file(FOLDER "/before", text);
    write_file(FOLDER "/after", after);
    return shell("{ cat '" FOLDER "/before'; n=0\n"
                 "until [ -e '" FOLDER "/saved.bpe' ] || [ $n -gt 600 ]; do sleep 0.05; n=$((n + 1)); done\n"
                 "sed '%s' examples/plugin/spin.c | ${CC:-cc} -shared -fPIC -I plugin_api -x c - -o '" FOLDER
                 "/next' && mv '" FOLDER "/next' '" FOLDER "/spin.so'\n"
                 "cat '" FOLDER "/after'; } | backplane console '" FOLDER "/drafts.ini'", edit);
}

START_TEST(a_past_is_computed_again_compared_and_kept)
{
    const outcome_t *outcome = draft("history = 16 MiB\n", "step 64\n", faster,
                                     "reload spin --back 0.5s\nget main/wheel.spin.angle\nkeep\n"
                                     "get main/wheel.spin.angle\nbranches\nkeep\n");
    expect(outcome, 1, "line 8: nothing has been tried since the last keep");
    expect_in(outcome->out, "first at step 33: component 'spin' of world 'main' writes something else, first in "
                            "spin.angle; angle of #0:1 is 1.328125, and was 1.2890625\n");
    expect_in(outcome->out, "\nmain: spin.angle differs in 1 entity, by 1.25 at most\n"
                            "32 steps beside the host; `keep` or `drop`\n2.5\n");
    expect_in(outcome->out, "\nkept: branch 2, at step 64\n3.75\n");
    expect_in(outcome->out, "\n2: steps 0 to 64, the present one\n1: steps 32 to 64, off branch 2, ");
}
END_TEST

START_TEST(a_draft_that_is_dropped_leaves_the_host_as_it_was)
{
    const outcome_t *outcome = draft("history = 16 MiB\n", "step 64\n", faster,
                                     "reload spin --back 1\ndrop\nget main/wheel.spin.angle\nbranches\ndrop\n"
                                     "reload spin --back 65\n");
    expect(outcome, 1, "line 7: drop which component or system?");
    expect_in(outcome->err, "line 8: what is remembered begins at step 0, 64 back");
    expect_in(outcome->out, "\n1 step beside the host; `keep` or `drop`\ndropped\n2.5\n");
    expect_in(outcome->out, "\n1: steps 0 to 64, the present one\n");
    expect_not_in(outcome->out, "\n2: ");
}
END_TEST

START_TEST(what_cannot_be_done_in_the_draft_is_passed_over_and_told)
{
    const outcome_t *outcome = draft("history = 16 MiB\n", "step 20\nset main/wheel.spin.speed 3\nstep 40\n",
                                     "s/const float \\*speed/const float *rate/;s/speed)/rate)/;s/speed/rate/g",
                                     "reload spin --lossy --back 50\nreload spin --back 50\n");
    expect(outcome, 1, "line 5: no plugin '--lossy' is loaded");
    expect_in(outcome->out, "\npassed over: 1; first before step 21: ");
    expect_in(outcome->out, "\n50 steps beside the host; `keep` or `drop`\n");
}
END_TEST

START_TEST(the_same_file_makes_no_difference)
{
    const outcome_t *outcome = draft("history = 16 MiB\n", "step 64\n", "s/^$//", "reload spin --back 20\n");
    expect(outcome, 0, "in the draft, and not in this host: reloaded spin 1.0 -> 1.0");
    expect_in(outcome->out, "\nno difference 20 steps beside the host; `keep` or `drop`\n");
}
END_TEST

/* With a past and without one. */
START_TEST(a_version_runs_beside_the_host_for_so_many_steps)
{
    const outcome_t *outcome = draft(_i == 0 ? "" : "history = 16 MiB\n", "step 64\n", faster,
                                     "try spin 12\nstep 6\nstep 6\nget main/wheel.spin.angle\nkeep\nstep 60\n"
                                     "get main/wheel.spin.angle\n");
    expect(outcome, 0, "in the draft, and not in this host: reloaded spin 1.0 -> 1.0");
    expect_in(outcome->out, "\nit runs beside the host now; `step` lets both go on\n");
    expect_in(outcome->out, "; `step` lets both go on\nmain: step 70, time 1.09375\n");
    expect_in(outcome->out, "\nmain: spin.angle differs in 1 entity, by 0.234375 at most\n"
                            "6 steps beside the host; `keep` or `drop`\n");
    expect_in(outcome->out, "\nmain: spin.angle differs in 1 entity, by 0.46875 at most\n"
                            "12 steps beside the host; that was all: `keep` or `drop`\n");
    expect_in(outcome->out, _i == 0 ? "\n2.96875\nkept\n" : "\n2.96875\nkept: branch 1, at step 76\n");
    expect_in(outcome->out, "\nmain: step 136, time 2.125\n7.65625\n");
}
END_TEST

#if !defined(BACKPLANE_SANITIZED)
START_TEST(a_version_that_crashes_never_runs_in_a_draft)
{
    const outcome_t *outcome = draft("history = 16 MiB\n", "step 64\n", "s/c.angle.i. +=/*(float *)0 =/",
                                     _i == 0 ? "reload spin --back 30\nget main/wheel.spin.angle\nkeep\n"
                                             : "try spin 30\nget main/wheel.spin.angle\nkeep\n");
    expect(outcome, 1, "line 3: the draft was dropped: ");
    expect_in(outcome->err, "on trial: plugin 'spin' 1.0 crashed in 'simulate'");
    expect_in(outcome->err, "line 5: not kept: there is no draft any more: ");
    expect_in(outcome->out, "bytes saved\n2.5\n");
}
END_TEST
#endif

Suite *console_drafts_suite(void)
{
    Suite *suite = suite_create("console_drafts");
    TCase *test_case = tcase_create("console drafts");
    tcase_set_timeout(test_case, 60);
    tcase_add_checked_fixture(test_case, make_folder, NULL);
    tcase_add_test(test_case, a_past_is_computed_again_compared_and_kept);
    tcase_add_test(test_case, a_draft_that_is_dropped_leaves_the_host_as_it_was);
    tcase_add_test(test_case, what_cannot_be_done_in_the_draft_is_passed_over_and_told);
    tcase_add_test(test_case, the_same_file_makes_no_difference);
    tcase_add_loop_test(test_case, a_version_runs_beside_the_host_for_so_many_steps, 0, 2);
#if !defined(BACKPLANE_SANITIZED)
    tcase_add_loop_test(test_case, a_version_that_crashes_never_runs_in_a_draft, 0, 2);
#endif
    suite_add_tcase(suite, test_case);
    return suite;
}
