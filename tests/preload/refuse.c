/* refuse.c - memory that the program asks for is refused: a library for LD_PRELOAD, which test_program_memory.c builds.
 *
 * Counted are the requests of the program itself and of jansson, whose values it builds; the C library's own and those
 * of plugins are passed on. The request of number BACKPLANE_REFUSE, counted from 1, is refused. At the end the file
 * that BACKPLANE_REFUSED names tells how many there were, and whether that one was among them. With BACKPLANE_PLACES, a
 * number, it tells on further lines of the first request of each place behind that many requests, with a number that
 * the place has in each process: a place is which functions of the program and of jansson wait for an answer.
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
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

enum { IMAGES = 2, PLACES = 4096, DEPTH = 24, CALLERS = 5 };

static struct {
    uintptr_t from[IMAGES], to[IMAGES];
    uint64_t nth, behind;
    atomic_ullong count;
    atomic_bool refused, over;
    pid_t process;
    bool places_wanted;
    uint64_t places[PLACES], firsts[PLACES];
    unsigned place_count;
    pthread_mutex_t lock;
} refuse = {.lock = PTHREAD_MUTEX_INITIALIZER};

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
    for (unsigned i = 0; i < refuse.place_count; i++)
        dprintf(file, "%llu %llu\n", (unsigned long long)refuse.firsts[i], (unsigned long long)refuse.places[i]);
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
    const char *behind = getenv("BACKPLANE_PLACES");
    refuse.places_wanted = behind != NULL;
    refuse.behind = behind != NULL ? strtoull(behind, NULL, 10) : 0;
}

/* The image that an address lies in; IMAGES: in none of them. */
static int image_of(uintptr_t at)
{
    int i = 0;
    while (i < IMAGES && (at < refuse.from[i] || at >= refuse.to[i]))
        i++;
    return i;
}

/* Note the place of a request, where none of it was noted before. The innermost functions tell places apart. */
static void note_place(uint64_t number)
{
    void *callers[DEPTH];
    int depth = backtrace(callers, DEPTH);
    uint64_t hash = 14695981039346656037u;
    unsigned known = 0;
    for (int i = 0, used = 0; i < depth && used < CALLERS; i++) {
        uintptr_t at = (uintptr_t)callers[i];
        int image = image_of(at);
        if (image == IMAGES)
            continue;
        /* Where an image lies in this process does not matter. */
        hash = (hash ^ ((at - refuse.from[image]) * IMAGES + (unsigned)image)) * 1099511628211u;
        used++;
    }
    pthread_mutex_lock(&refuse.lock);
    while (known < refuse.place_count && refuse.places[known] != hash)
        known++;
    if (known == refuse.place_count && known < PLACES) {
        refuse.places[known] = hash;
        refuse.firsts[known] = number;
        refuse.place_count++;
    }
    pthread_mutex_unlock(&refuse.lock);
}

/* Is this the request to refuse? Then errno is set. */
static bool refused(const void *caller)
{
    if (image_of((uintptr_t)caller) == IMAGES || refuse.over)
        return false;
    uint64_t number = atomic_fetch_add(&refuse.count, 1) + 1;
    if (number == 1)
        atexit(end);
    if (refuse.places_wanted && number > refuse.behind)
        note_place(number);
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
