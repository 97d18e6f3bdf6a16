/* chosen.c - which tests run: those of a name, and with AddressSanitizer about a third of long rows of cases.
 *
 * TESTS_ONLY="a_test test_store.c:another" in the environment runs these tests alone, each in all of its rounds, of
 * whatever suites; TESTS_ONLY=? runs none and prints all names. Check can choose suites and cases, not tests, so the
 * linker leads what adds a test to its case here (Makefile, DOUBLED). Not on Windows.
 *
 * A test with AddressSanitizer takes several times as long as without. What it finds besides is wrong use of memory,
 * and the cases of one row use memory much alike. So of each row of at least ROW cases about a third are run there,
 * drawn by their numbers, the same ones each time; without sanitizers all are. TESTS_ALL=1 runs all cases (make
 * test-all does).
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

#if defined(BACKPLANE_SANITIZED) && !defined(TEST_THREADS)
enum { ROW = 6 };

/* Drawn, and not every second one: the lowest bit of a number often stands for one of two ways. */
static bool is_drawn(int number)
{
    uint32_t bits = ((uint32_t)number + 1) * 2654435761u;
    bits = (bits ^ bits >> 15) * 2246822519u;
    return (bits >> 16) % 3 == 0;
}

static void add(TCase *tcase, const TTest *test, int signal, int exit_value, int start, int end)
{
    bool all = getenv("TESTS_ALL") != NULL || getenv("TESTS_ONLY") != NULL || end - start < ROW;
    if (all)
        __real__tcase_add_test(tcase, test, signal, exit_value, start, end);
    for (int i = start; i < end && !all; i++)
        if (is_drawn(i))
            __real__tcase_add_test(tcase, test, signal, exit_value, i, i + 1);
}
#else
#define add __real__tcase_add_test
#endif

void __wrap__tcase_add_test(TCase *tcase, const TTest *test, int signal, int exit_value, int start, int end)
{
    const char *list = getenv("TESTS_ONLY");
    if (list != NULL && strcmp(list, "?") == 0)
        printf("%s:%s\n", file_of(test), test->name);
    else if (list == NULL || is_listed(test, list))
        add(tcase, test, signal, exit_value, start, end);
}
#endif
