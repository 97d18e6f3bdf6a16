/* leave.c - processes of the tests, and of the program that they run, end quickly where AddressSanitizer is built in.
 *
 * At its end a process with AddressSanitizer searches all memory for pointers to what has not been freed, tens of
 * megabytes of static memory among it, and then writes to all that AddressSanitizer keeps for static memory: that takes
 * longer than most tests, and a good part of a short run of the program. So the search is done only where there is more
 * on the heap than there was when the process, or the test, began; and the process ends without the rest.
 *
 * What the C library keeps as buffers of the standard files is not counted as left.
 */
#define _DEFAULT_SOURCE 1 /* on_exit */
#include "leave.h"

#include <stdio.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) && defined(__GLIBC__)
#include <dlfcn.h>
#include <pthread.h>
#include <sanitizer/lsan_interface.h>
#include <unistd.h>

/* Of sanitizer/allocator_interface.h, which not every compiler has with it. */
size_t __sanitizer_get_current_allocated_bytes(void);
size_t __sanitizer_get_allocated_size(const volatile void *block);
int __sanitizer_get_ownership(const volatile void *block);

static pid_t whole_run;     /* the process that forks the tests: it ends as usual; 0 in the program */
static size_t bytes_before; /* on the heap when the process or the test began */
static size_t buffer_bytes; /* of the file into which Check writes what a test says: it gets its buffer in the test */

/* Those of the heap alone: a file without a buffer of its own has one within FILE. */
static size_t bytes_of_buffer(const FILE *file)
{
    const char *buffer = file->_IO_buf_base;
    return buffer != NULL && __sanitizer_get_ownership(buffer) ? __sanitizer_get_allocated_size(buffer) : 0;
}

static size_t bytes_now(void)
{
    return __sanitizer_get_current_allocated_bytes() - bytes_of_buffer(stdin) - bytes_of_buffer(stdout) -
           bytes_of_buffer(stderr);
}

static void leave(int status, void *nothing)
{
    (void)nothing;
    if (getpid() == whole_run)
        return;
    fflush(NULL);
    if (bytes_now() > bytes_before)
        __lsan_do_leak_check();
    _exit(status);
}

static void note_bytes(void)
{
    bytes_before = bytes_now() + buffer_bytes;
}

/* The C library's loader keeps two lists of what is loaded, and makes them when libraries come that the program has not
 * been linked with: so one comes and goes twice before anything is counted. Which one does not matter. */
static void make_lists_of_loader(void)
{
    for (int i = 0; i < 2; i++) {
        void *library = dlopen("libutil.so.1", RTLD_NOW);
        if (library != NULL)
            dlclose(library);
    }
}

__attribute__((constructor)) static void begin(void)
{
    make_lists_of_loader();
    note_bytes();
    if (on_exit(leave, NULL) != 0)
        fprintf(stderr, "leave: this process will end slowly: no memory\n");
}

static void measure_buffer(void)
{
    FILE *file = tmpfile();
    size_t before = __sanitizer_get_current_allocated_bytes();
    if (file == NULL)
        return;
    fputc('!', file);
    buffer_bytes = __sanitizer_get_current_allocated_bytes() - before;
    fclose(file);
}

/* Pages that have been read before the processes of tests come need not be looked up in each that searches them. */
__attribute__((no_sanitize_address)) static void read_static_memory(void)
{
    extern const char __bss_start[], _end[];
    for (const volatile char *page = __bss_start; page < _end; page += 4096)
        (void)*page;
}

void leave_tests_quickly(void)
{
    whole_run = getpid();
    read_static_memory();
    measure_buffer();
    if (pthread_atfork(NULL, NULL, note_bytes) != 0)
        fprintf(stderr, "tests: each test will end slowly: no memory\n");
}
#else
void leave_tests_quickly(void)
{
}
#endif
