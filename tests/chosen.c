/* chosen.c - which tests run: those of a name, and of long rows of cases a share.
 *
 * TESTS_ONLY="a_test test_store.c:another" in the environment runs these tests alone, each in all of its rounds, of
 * whatever suites; TESTS_ONLY=? runs none and prints all names, TESTS_ONLY=?? those of the cases that would run. Check
 * can choose suites and cases, not tests, so the linker leads what adds a test to its case here (Makefile, DOUBLED).
 * Not on Windows.
 *
 * A test with AddressSanitizer takes several times as long as without. What it finds besides is wrong use of memory,
 * and the cases of one row use memory much alike. So of each row of at least ROW cases about a third are run there,
 * drawn by their numbers, the same ones each time. They check there what they check without sanitizers, so `make test`,
 * which runs both, leaves them out here (TESTS_APART=1); tests/apart.sh looks that none is left out in both.
 * TESTS_ALL=1 runs all cases in both (make test-all does).
 */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef _WIN32
/* NOLINTBEGIN: the names are the linker's. */
void __real__tcase_add_test(TCase *tcase, const TTest *test, int signal, int exit_value, int start, int end);
void __wrap__tcase_add_test(TCase *tcase, const TTest *test, int signal, int exit_value, int start, int end);
/* NOLINTEND */

static const char *file_of(const TTest *test)
{
    const char *slash = strrchr(test->file, '/');
    return slash != NULL ? slash + 1 : test->file;
}

/* Is the test in a list of names with blanks between them? A name may have its file and a colon in front of it. */
static bool is_listed(const TTest *test, const char *list)
{
    const char *file = file_of(test);
    size_t before = strlen(file), length = strlen(test->name);
    for (const char *at = list; *at != '\0';) {
        size_t word = strcspn(at, " ");
        const char *name = at;
        if (word > before && strncmp(at, file, before) == 0 && at[before] == ':')
            name += before + 1;
        if ((size_t)(at + word - name) == length && strncmp(name, test->name, length) == 0)
            return true;
        at += word;
        at += strspn(at, " ");
    }
    return false;
}

enum { ROW = 6 };

#if defined(TEST_THREADS)
static bool is_left_out(const TTest *test, int number)
{
    (void)test, (void)number;
    return false;
}
#else
/* Drawn, and not every second one: the lowest bit of a number often stands for one of two ways. */
static bool is_drawn(int number)
{
    uint32_t bits = ((uint32_t)number + 1) * 2654435761u;
    bits = (bits ^ bits >> 15) * 2246822519u;
    return (bits >> 16) % 3 == 0;
}

#if defined(BACKPLANE_SANITIZED)
static bool is_left_out(const TTest *test, int number)
{
    (void)test;
    return getenv("TESTS_ALL") == NULL && !is_drawn(number);
}
#else
/* Rows that AddressSanitizer's program does not have, or not whole. */
static const char only_here[] =
    "a_command_that_is_refused_memory_says_so "
    "a_mistake_is_told_with_its_line_and_changes_nothing "
    "a_mistake_leaves_a_busy_host_alone "
    "a_verb_that_writes_one_past_a_column_is_found_on_trial_and_refused "
    "each_moment_has_its_code "
    "every_operation_on_a_small_world_is_right "
    "random_operations_do_what_they_do_to_a_naive_model "
    "random_systems_come_to_the_same_bits_on_any_number_of_threads "
    "what_a_step_does_to_the_whole_process_is_found_in_the_end "
    "what_ends_the_process_is_told_where_nobody_else_hears_of_it "
    "what_goes_wrong_on_trial_changes_nothing "
    "what_is_asked_for_is_done_or_refused_with_a_sentence_whatever_call_fails "
    "what_is_made_builds_without_a_warning_passes_check_runs_and_reloads "
    "what_is_wrong_is_said_and_nothing_is_written "
    "writes_far_from_a_column_and_to_columns_of_others_are_found_on_trial";

static bool is_left_out(const TTest *test, int number)
{
    return getenv("TESTS_APART") != NULL && getenv("TESTS_ALL") == NULL && is_drawn(number) &&
           !is_listed(test, only_here);
}
#endif
#endif

void __wrap__tcase_add_test(TCase *tcase, const TTest *test, int signal, int exit_value, int start, int end)
{
    const char *list = getenv("TESTS_ONLY");
    if (list != NULL && strcmp(list, "?") == 0) {
        printf("%s:%s\n", file_of(test), test->name);
        return;
    }
    bool named = list != NULL && strcmp(list, "??") != 0;
    if (named && !is_listed(test, list))
        return;
    for (int i = start; i < end; i++) {
        if (!named && end - start >= ROW && is_left_out(test, i))
            continue;
        if (list != NULL && !named)
            printf("%s:%s %d\n", file_of(test), test->name, i);
        else
            __real__tcase_add_test(tcase, test, signal, exit_value, i, i + 1);
    }
}
#endif
