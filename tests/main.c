/* main.c - runs the suites. With a name as argument, or in CK_RUN_SUITE, only that one; with TESTS_HALF=1 or 2 one
 * half.
 *
 * Check forks a child for each test, so a crash is one failed test; CK_FORK=no runs them all in this process for a
 * debugger. On Windows it always does, and suites that need a shell, a copy of the process, or other calls of POSIX
 * systems are left out.
 *
 * With TESTS_COMMA=FOLDER numbers have a comma in the locale of the program, which is made in that folder.
 *
 * The halves can run beside each other: suites that write files of the same name are in the same one. The first has
 * those that run the program, the second those that put plugins in the place of others (put_plugin makes sure). Storms
 * are in both, each with a folder of its own. What writes no such files is shared between them: the one that is done
 * with its own suites takes what the other one has not begun. TESTS_TAKEN is an empty folder for that, which both are
 * given; in a half without it all of those are in the first one. TESTS_HALF=0 takes part in what is shared, and has
 * nothing else: with it processors have something to do while tests of the halves wait.
 */
#include "comma.h"
#include "leave.h"
#include "suites.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef Suite *(*make_suite_t)(void);

#if defined(TEST_THREADS)
/* With ThreadSanitizer these alone (TSAN_SUITES in the Makefile, which leaves out the files of the others). */
static const make_suite_t first_half[] = {
    os_suite,
    threads_suite,
    sets_suite,
    side_by_side_suite,
#ifdef TEST_INSPECTOR
    inspector_served_suite,
    inspector_memory_suite,
    inspector_meanwhile_suite,
#endif
    trace_suite,
};

static const make_suite_t second_half[] = {
    guard_suite,
    watch_suite,
    reload_threads_suite,
    pause_suite,
    posts_suite,
};
#else
static const make_suite_t first_half[] = {
    base_suite,
    superblocks_suite,
    runs_suite,
    strings_suite,
    values_suite,
    fields_suite,
    convert_suite,
    named_suite,
    lists_suite,
    elements_suite,
    os_suite,
    image_suite,
    declared_suite,
    image_limits_suite,
    image_limits_pe_suite,
    check_image_suite,
    registry_suite,
    loader_suite,
    obj_suite,
    entities_suite,
    world_check_suite,
    stamps_suite,
    queries_suite,
    beside_suite,
    referrers_suite,
    destruction_suite,
    collection_suite,
    properties_suite,
    schedule_suite,
    threads_suite,
    sets_suite,
    commands_suite,
    terms_suite,
    side_by_side_suite,
    pace_suite,
    host_suite,
    worlds_suite,
    allowed_suite,
    look_suite,
    loading_suite,
    declarations_suite,
#if !defined(_WIN32)
    os_calls_suite,
    surroundings_suite,
    power_suite,
#endif
    bodies_suite,
    debug_name_suite,
    shapes_suite,
    recorder_suite,
    linked_suite,
    bubbles_suite,
    picture_suite,
#ifdef TEST_INSPECTOR
    inspector_suite,
#if !defined(_WIN32)
    inspector_served_suite,
    inspector_answers_suite,
    inspector_memory_suite,
    inspector_refusals_suite,
    inspector_meanwhile_suite,
#endif
#endif
    camera_suite,
    import_suite,
    blob_suite,
    json_tree_suite,
    compile_suite,
    compile_errors_suite,
    spawn_suite,
    scene_property_suite,
    save_suite,
    several_suite,
    golden_suite,
    scene_files_suite,
    conformance_host_suite,
    config_suite,
    config_mistakes_suite,
    config_again_suite,
    peers_suite,
#if !defined(_WIN32)
    dump_suite,
    trace_suite,
    program_suite,
    console_scenes_suite,
    console_drafts_suite,
    console_edit_suite,
    manual_suite,
#if !defined(BACKPLANE_SANITIZED) /* which takes its time in compilers */
    new_suite,
#endif
    crash_suite,
    program_values_suite,
    program_memory_suite,
    program_refusals_suite,
    console_words_suite,
    recordings_suite,
#endif
};

static const make_suite_t second_half[] = {
    /* These wait for much of their time: first, while others have something to do. */
    pause_suite,
#if !defined(_WIN32)
    posts_suite,
    vote_suite,
    build_suite,
    sources_suite,
    forked_suite,
#endif
    snapshot_suite,
    eras_suite,
    eras_options_suite,
    inside_suite,
    outside_suite,
    draft_suite,
#if !defined(_WIN32)
    clone_suite,
#endif
    own_suite,
    messages_suite,
    journal_suite,
    recording_suite,
    guard_suite,
    helper_suite,
#if !defined(_WIN32)
    watch_suite,
    process_suite,
    check_suite,
#endif
    reload_suite,
    asked_suite,
#if !defined(_WIN32)
    fence_suite,
    hot_suite,
    trial_suite,
    temporary_suite,
#endif
    audit_suite,
#if !defined(BACKPLANE_SANITIZED) && !defined(_WIN32) /* thousands of processes: they take minutes there */
    calls_suite,
    crash_matrix_suite,
    behind_suite,
    mutated_suite,
#endif
    reload_plugins_suite,
    reload_faults_suite,
    reload_told_suite,
    reload_report_suite,
    reload_refusals_suite,
    reload_sets_suite,
    reload_plan_suite,
    reload_carry_suite,
    reload_ahead_suite,
    ahead_cells_suite,
    reload_random_suite,
    reload_terms_suite,
    reload_kept_suite,
    reload_shapes_suite,
    rows_suite,
    rollback_suite,
    rollback_own_suite,
    missed_suite,
    ghosts_suite,
    reload_many_suite,
    reload_threads_suite,
    reload_limit_suite,
    loaders_suite,
    wants_suite,
};

/* These write no files that others write too, so each is run by the half that comes to it first. */
#define EITHER_HALF 1
static const make_suite_t either_half[] = {
    history_suite,
    twice_suite,
    shown_suite,
    conformance_suite,
    store_suite,
    memory_failure_suite,
    parking_suite,
    long_use_suite,
    hierarchy_suite,
    prototypes_suite,
    plugins_memory_suite,
    many_worlds_suite,
};
#endif

static void add(SRunner *runner, const make_suite_t *suites, size_t count)
{
    for (size_t i = 0; i < count; i++)
        srunner_add_suite(runner, suites[i]());
}

static int run(SRunner *runner, const char *suite)
{
    srunner_run(runner, suite, NULL, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed;
}

#if defined(EITHER_HALF)
/* Who makes the file has the suite. */
static bool is_taken(const char *folder, size_t number)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%zu", folder, number);
    FILE *mark = fopen(path, "wx");
    if (mark == NULL && errno != EEXIST)
        fprintf(stderr, "tests: %s: %s; the suite is run in both halves\n", path, strerror(errno));
    if (mark != NULL)
        fclose(mark);
    return mark == NULL && errno == EEXIST;
}

/* Returns how many tests failed. */
static int run_what_nobody_has_begun(const char *folder, const char *suite)
{
    int failed = 0;
    for (size_t i = 0; i < sizeof either_half / sizeof either_half[0]; i++)
        if (!is_taken(folder, i))
            failed += run(srunner_create(either_half[i]()), suite);
    return failed;
}
#endif

int main(int argc, char **argv)
{
    const char *half = getenv("TESTS_HALF"), *comma = getenv("TESTS_COMMA"), *taken = getenv("TESTS_TAKEN");
    const char *suite = argc > 1 ? argv[1] : NULL;
    if (comma != NULL && !comma_begin(comma)) {
        fprintf(stderr, "tests: this system has no locale whose numbers have a comma\n");
        return EXIT_FAILURE;
    }
    leave_tests_quickly();
    SRunner *runner = srunner_create(NULL);
    if (half == NULL || strcmp(half, "1") == 0)
        add(runner, first_half, sizeof first_half / sizeof first_half[0]);
    if (half == NULL || strcmp(half, "2") == 0)
        add(runner, second_half, sizeof second_half / sizeof second_half[0]);
#if !defined(_WIN32)
    if (half == NULL || strcmp(half, "0") != 0)
        srunner_add_suite(runner, storm_suite()); /* a part of it in each half */
#endif
    bool shared = half != NULL && taken != NULL;
#if defined(EITHER_HALF)
    if (!shared && (half == NULL || strcmp(half, "1") == 0))
        add(runner, either_half, sizeof either_half / sizeof either_half[0]);
    int failed = run(runner, suite) + (shared ? run_what_nobody_has_begun(taken, suite) : 0);
#else
    (void)shared;
    int failed = run(runner, suite);
#endif
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
