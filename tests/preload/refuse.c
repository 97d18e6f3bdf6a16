/* refuse.c - memory that the program asks for is refused: a library for LD_PRELOAD, which test_program_memory.c builds.
 *
 * Counted are the requests of the program itself and of jansson, whose values it builds; the C library's own and those
 * of plugins are passed on. The request of number BACKPLANE_REFUSE, counted from 1, is refused. At the end the file
 * that BACKPLANE_REFUSED names tells how many there were, and whether that one was among them.
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

enum { IMAGES = 2 };

static struct {
    uintptr_t from[IMAGES], to[IMAGES];
    uint64_t nth;
    atomic_ullong count;
    atomic_bool refused, over;
    pid_t process;
} refuse;

/* What a process does at its end is not counted: there a build that counts coverage asks for memory. */
static void end(void)
{
    const char *told = getenv("BACKPLANE_REFUSED");
    refuse.over = true;
    if (told == NULL || refuse.process != getpid())
        return;
    int file = open(told, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    if (file < 0)
        return;
    dprintf(file, "%llu%s\n", refuse.count, refuse.refused ? " refused" : "");
    close(file);
}

static int note_image(struct dl_phdr_info *image, size_t size, void *data)
{
    (void)size, (void)data;
    int which = image->dlpi_name[0] == '\0' ? 0 : strstr(image->dlpi_name, "libjansson") != NULL ? 1 : -1;
    for (int i = 0; which >= 0 && i < image->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &image->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0) {
            refuse.from[which] = image->dlpi_addr + part->p_vaddr;
            refuse.to[which] = refuse.from[which] + part->p_memsz;
        }
    }
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *nth = getenv("BACKPLANE_REFUSE");
    dl_iterate_phdr(note_image, NULL);
    refuse.process = getpid();
    refuse.nth = nth != NULL ? strtoull(nth, NULL, 10) : 0;
}

/* Is this the request to refuse? Then errno is set. */
static bool refused(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    bool ours = false;
    for (int i = 0; i < IMAGES; i++)
        ours = ours || (at >= refuse.from[i] && at < refuse.to[i]);
    if (!ours || refuse.over)
        return false;
    uint64_t number = atomic_fetch_add(&refuse.count, 1) + 1;
    if (number == 1)
        atexit(end);
    if (number != refuse.nth)
        return false;
    refuse.refused = true;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return refused(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refused(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return refused(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}
