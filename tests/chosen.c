/* chosen.c - tests chosen by name, for people who look for a fault and for make mutants.
 *
 * TESTS_ONLY="a_test test_store.c:another" in the environment runs these tests alone, each in all of its rounds, of
 * whatever suites; TESTS_ONLY=? runs none and prints all names. Check can choose suites and cases, not tests, so the
 * linker leads what adds a test to its case here (Makefile, DOUBLED). Not on Windows.
 */
#include <check.h>
#include <stdbool.h>
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

void __wrap__tcase_add_test(TCase *tcase, const TTest *test, int signal, int exit_value, int start, int end)
{
    const char *list = getenv("TESTS_ONLY");
    if (list != NULL && strcmp(list, "?") == 0)
        printf("%s:%s\n", file_of(test), test->name);
    else if (list == NULL || is_listed(test, list))
        __real__tcase_add_test(tcase, test, signal, exit_value, start, end);
}
#endif
