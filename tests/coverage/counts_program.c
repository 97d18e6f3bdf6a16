/* counts_program.c - linked into programs that are built with COVERAGE=1: what ends by _exit writes its counts first.
 *
 * gcov's counts go to their files in a function that exit calls. A copy of a process, in which a reload is tried, ends
 * by _exit, and so does the last word of a child that a test has made; a process of `check` ends by _Exit. The linker
 * (--wrap) leads those calls here. A library has counts of its own, which no function of the program reaches:
 * counts_plugin.c exports one for each.
 */
#define _GNU_SOURCE 1

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
_Noreturn void __wrap__Exit(int status);
/* Of the tests' double of the system (tests/system/calls.c); other programs do not have it. */
void calls_before_each(void (*act)(void *data, const char *call, bool change), void *data) __attribute__((weak));

static int write_counts_of(struct dl_phdr_info *image, size_t size, void *data)
{
    (void)size;
    (void)data;
    if (image->dlpi_name == NULL || image->dlpi_name[0] == '\0')
        return 0;
    void *library = dlopen(image->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    void *found = library == NULL ? NULL : dlsym(library, "write_counts");
    void (*write_counts)(void);
    memcpy(&write_counts, &found, sizeof found);
    if (found != NULL)
        write_counts();
    if (library != NULL)
        dlclose(library);
    return 0;
}

/* Calls of the system that write the counts are none of those at which a test ends the process. */
_Noreturn void __wrap__exit(int status)
{
    if (calls_before_each != NULL)
        calls_before_each(NULL, NULL);
    dl_iterate_phdr(write_counts_of, NULL);
    __gcov_dump();
    __real__exit(status);
}

_Noreturn void __wrap__Exit(int status)
{
    __wrap__exit(status);
}
