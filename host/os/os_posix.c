/* os_posix.c - pages, memory, libraries, time, the terminal and programs on Linux and its relatives.
 *
 * Pages: mmap. A block of pages is one private anonymous mapping of its bytes rounded up to whole pages. Only the bytes
 * that were asked for are guaranteed to be cleared, so the bytes between them and the end of the last page are cleared
 * at growth: they may hold values from before the block shrank.
 *
 * mremap moves page tables instead of bytes, but refuses a block with parts of different kinds (huge pages were asked
 * for behind a part of it), and only Linux has it: then the block is copied.
 */
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1

#include "os.h"
#include "os_code.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <link.h>
#endif

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

size_t os_page_size(void)
{
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : 4096;
}

/* 0 where `bytes` is 0 or too large to be rounded up. */
static size_t whole_pages(size_t bytes)
{
    size_t page = os_page_size();
    return bytes > SIZE_MAX - page ? 0 : (bytes + page - 1) / page * page;
}

void *os_pages_alloc(size_t bytes)
{
    size_t whole = whole_pages(bytes);
    if (whole == 0)
        return NULL;
    void *block = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

static void *copy_pages(void *old, size_t old_bytes, size_t new_bytes)
{
    void *block = os_pages_alloc(new_bytes);
    if (block == NULL)
        return NULL;
    memcpy(block, old, old_bytes < new_bytes ? old_bytes : new_bytes);
    os_pages_free(old, old_bytes);
    return block;
}

static void *move_pages(void *old, size_t old_whole, size_t new_whole)
{
#if defined(MREMAP_MAYMOVE)
    void *block = mremap(old, old_whole, new_whole, MREMAP_MAYMOVE);
    return block == MAP_FAILED ? NULL : block;
#else
    if (new_whole > old_whole)
        return NULL;
    return munmap((char *)old + new_whole, old_whole - new_whole) == 0 ? old : NULL;
#endif
}

void *os_pages_resize(void *old, size_t old_bytes, size_t new_bytes)
{
    size_t old_whole = whole_pages(old_bytes), new_whole = whole_pages(new_bytes);
    if (new_whole == 0)
        return NULL;
    char *block = old_whole == new_whole ? old : move_pages(old, old_whole, new_whole);
    if (block == NULL)
        return copy_pages(old, old_bytes, new_bytes);
    if (new_bytes > old_bytes) {
        size_t end = new_bytes < old_whole ? new_bytes : old_whole;
        memset(block + old_bytes, 0, end - old_bytes);
    }
    return block;
}

void os_pages_free(void *block, size_t bytes)
{
    if (block != NULL)
        munmap(block, whole_pages(bytes));
}

#if defined(MADV_POPULATE_WRITE) || defined(MADV_HUGEPAGE)
/* Advise on every page that the range touches. A hint may be ignored, so its result is not looked at. */
static void advise(void *start, size_t bytes, int advice)
{
    uintptr_t page = os_page_size(), first = (uintptr_t)start / page * page;
    if (bytes == 0)
        return;
    int saved = errno;
    madvise((void *)first, (uintptr_t)start - first + bytes, advice);
    errno = saved;
}
#endif

void os_pages_huge(void *start, size_t bytes)
{
#if defined(MADV_HUGEPAGE)
    advise(start, bytes, MADV_HUGEPAGE);
#else
    (void)start, (void)bytes;
#endif
}

/* The system reads a set of signals from the page before it checks the argument -1, which it refuses: EFAULT says that
 * the page cannot be read, any other error that it can. */
static bool page_can_be_read(uintptr_t page)
{
#if defined(__linux__)
    int saved = errno;
    bool can = page != 0 && (syscall(SYS_rt_sigprocmask, -1, page, NULL, sizeof(uint64_t)) == 0 || errno != EFAULT);
    errno = saved;
    return can;
#else
    return page != 0;
#endif
}

bool os_can_read(const void *begin, size_t bytes)
{
    uintptr_t size = os_page_size(), first = (uintptr_t)begin, last = first + bytes - 1;
    if (bytes == 0)
        return true;
    for (uintptr_t page = first / size * size; last >= first && page_can_be_read(page); page += size) {
        if (last - page < size)
            return true;
    }
    return false;
}

bool os_pages_inherit(void *block, size_t bytes, bool inherited)
{
#if defined(MADV_DONTFORK) && defined(MADV_DOFORK)
    int saved = errno;
    bool done = madvise(block, whole_pages(bytes), inherited ? MADV_DOFORK : MADV_DONTFORK) == 0;
    errno = saved;
    return done;
#else
    (void)block, (void)bytes, (void)inherited;
    return false;
#endif
}

bool os_pages_let(void *start, size_t bytes, int use)
{
    int saved = errno;
    int let = use == OS_PAGES_CLOSED ? PROT_NONE : use == OS_PAGES_READ ? PROT_READ : PROT_READ | PROT_WRITE;
    bool done = mprotect(start, bytes, let) == 0;
    errno = saved;
    return done;
}

/* --- functions made at run time ----------------------------------------------------------------------------------- */

/* A page each, written first and then made executable, so that none is ever both. */

void *os_function_make(uint64_t (*function)(void *data), void *data)
{
    unsigned char code[CODE_ROOM];
    size_t size = code_write(code, function, data), page = os_page_size();
    char *made = size == 0 ? NULL : os_pages_alloc(page);
    if (made == NULL)
        return NULL;
    memcpy(made, code, size);
    __builtin___clear_cache(made, made + size);
    if (mprotect(made, page, PROT_READ | PROT_EXEC) == 0)
        return made;
    os_pages_free(made, page);
    return NULL;
}

void os_function_free(void *made)
{
    os_pages_free(made, os_page_size());
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

/* How much memory can still be had, where the system tells (Linux: /proc and the control group).
 *
 * A system that grants more memory than it has ends the process that uses it, so code that is about to fill gigabytes
 * asks here first. Reading two small files costs some ten microseconds.
 */

enum { LINE_ROOM = 512 };

/* The number behind `key` at the beginning of a line; "" is the first line's. UINT64_MAX where there is none. */
static uint64_t number_in(const char *path, const char *key)
{
    char line[LINE_ROOM];
    size_t length = strlen(key);
    uint64_t number = UINT64_MAX;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return number;
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, length) != 0)
            continue;
        if (sscanf(line + length, "%" SCNu64, &number) != 1)
            number = UINT64_MAX;
        break;
    }
    fclose(file);
    return number;
}

static uint64_t in_the_system(void)
{
    uint64_t memory = number_in("/proc/meminfo", "MemAvailable:"), swap = number_in("/proc/meminfo", "SwapFree:");
    if (memory == UINT64_MAX)
        return memory;
    return (memory + (swap == UINT64_MAX ? 0 : swap)) * 1024;
}

/* How much the control group of this process still allows; memory that the group has for cached files counts as
 * free. */
static uint64_t in_the_group(void)
{
    char line[LINE_ROOM], path[2 * LINE_ROOM];
    FILE *file = fopen("/proc/self/cgroup", "r");
    const char *group =
        file == NULL || fgets(line, sizeof line, file) == NULL || strncmp(line, "0::", 3) != 0 ? NULL : line + 3;
    if (file != NULL)
        fclose(file);
    if (group == NULL)
        return UINT64_MAX;
    line[strcspn(line, "\n")] = '\0';
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
    uint64_t most = number_in(path, "");
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.current", group);
    uint64_t taken = number_in(path, "");
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.stat", group);
    uint64_t files = number_in(path, "file ");
    if (most == UINT64_MAX || taken == UINT64_MAX)
        return UINT64_MAX;
    taken -= files < taken ? files : 0;
    return most > taken ? most - taken : 0;
}

uint64_t os_memory_available(void)
{
    uint64_t system = in_the_system(), group = in_the_group();
    return group < system ? group : system;
}

/* --- library ----------------------------------------------------------------------------------------------------- */

/* Shared libraries on Linux and its relatives: dlopen.
 *
 * All symbols are bound at once, so that a missing symbol is an error when a library is opened, and does not end the
 * process at the first call.
 */

enum { PATH_ROOM = 4096 };

const char os_library_suffix[] = ".so";

void *os_library_open(const char *path, char *error, size_t size)
{
    /* A name without a slash would be searched for in the system's folders, and "" would be the program. */
    char here[PATH_ROOM];
    if (strchr(path, '/') == NULL) {
        int length = snprintf(here, sizeof here, "./%s", path);
        if (length < 0 || (size_t)length >= sizeof here) {
            snprintf(error, size, "the path is longer than %d bytes", PATH_ROOM - 3);
            return NULL;
        }
        path = here;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        snprintf(error, size, "%s", reason != NULL ? reason : "the system did not say why");
    }
    return library;
}

void *os_library_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

void os_library_close(void *library)
{
    if (library != NULL)
        dlclose(library);
}

#if defined(__linux__)
typedef struct extent_t {
    ElfW(Addr) base;
    uintptr_t begin, end;
} extent_t;

static int find_extent(struct dl_phdr_info *info, size_t size, void *data)
{
    extent_t *extent = data;
    (void)size;
    if (info->dlpi_addr != extent->base)
        return 0;
    extent->begin = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD)
            continue;
        uintptr_t at = info->dlpi_addr + part->p_vaddr;
        extent->begin = at < extent->begin ? at : extent->begin;
        extent->end = at + part->p_memsz > extent->end ? at + part->p_memsz : extent->end;
    }
    return 1;
}
#endif

bool os_library_image(void *library, const void **begin, const void **end)
{
#if defined(__linux__)
    struct link_map *map = NULL;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        return false;
    extent_t extent = {.base = map->l_addr};
    if (dl_iterate_phdr(find_extent, &extent) == 0 || extent.begin >= extent.end)
        return false;
    *begin = (const void *)extent.begin;
    *end = (const void *)extent.end;
    return true;
#else
    (void)library, (void)begin, (void)end;
    return false;
#endif
}

#if defined(__linux__)
/* Where nothing is to be done when a library is closed, a function still has to be there to do it. */
static void do_nothing(void)
{
}

/* The table of a library may have been made read-only when it was opened. */
static bool write_entry(ElfW(Dyn) *entry, ElfW(Addr) value)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)entry & ~(page - 1);
    size_t size = (uintptr_t)(entry + 1) - begin;
    if (mprotect((void *)begin, size, PROT_READ | PROT_WRITE) != 0)
        return false;
    entry->d_un.d_ptr = value;
    return true;
}

static ElfW(Dyn) *find_entry(const struct link_map *map, ElfW(Sxword) tag)
{
    ElfW(Dyn) *entry = map->l_ld;
    while (entry->d_tag != DT_NULL && entry->d_tag != tag)
        entry++;
    return entry->d_tag == tag ? entry : NULL;
}

uint32_t os_library_take_ends(void *library, void (**functions)(void), uint32_t capacity)
{
    struct link_map *map = NULL;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        return 0;
    ElfW(Dyn) *one = find_entry(map, DT_FINI), *list = find_entry(map, DT_FINI_ARRAY);
    ElfW(Dyn) *size = find_entry(map, DT_FINI_ARRAYSZ);
    size_t listed = list == NULL || size == NULL ? 0 : size->d_un.d_val / sizeof(ElfW(Addr));
    uint32_t count = 0;
    if (listed + (one != NULL) == 0 || listed + (one != NULL) > capacity)
        return 0;
    for (size_t i = listed; i > 0; i--)
        memcpy(&functions[count++], (const char *)map->l_addr + list->d_un.d_ptr + (i - 1) * sizeof(ElfW(Addr)),
               sizeof functions[0]);
    ElfW(Addr) address = one == NULL ? 0 : map->l_addr + one->d_un.d_ptr;
    void (*nothing)(void) = do_nothing;
    ElfW(Addr) instead;
    memcpy(&instead, &nothing, sizeof instead);
    if (listed > 0 && !write_entry(size, 0))
        return 0;
    if (one == NULL)
        return count;
    if (!write_entry(one, instead - map->l_addr)) {
        functions[count] = NULL; /* this function stays the system's to call */
        return count;
    }
    memcpy(&functions[count++], &address, sizeof address);
    return count;
}
#else
uint32_t os_library_take_ends(void *library, void (**functions)(void), uint32_t capacity)
{
    (void)library, (void)functions, (void)capacity;
    return 0;
}
#endif

/* --- time -------------------------------------------------------------------------------------------------------- */

/* Time on Linux and its relatives: the monotonic clock. */

enum { BILLION = 1000000000 };

uint64_t os_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * BILLION + (uint64_t)now.tv_nsec;
}

void os_sleep_ns(uint64_t nanoseconds)
{
    struct timespec time = {.tv_sec = (time_t)(nanoseconds / BILLION), .tv_nsec = (long)(nanoseconds % BILLION)};
    nanosleep(&time, NULL);
}

/* --- terminal ---------------------------------------------------------------------------------------------------- */

/* The terminal on Linux and its relatives. */

enum { COLUMNS_UNKNOWN = 80 };

bool os_is_terminal(int stream)
{
    return isatty(stream) == 1;
}

int os_terminal_columns(int stream)
{
    struct winsize window;
    if (ioctl(stream, TIOCGWINSZ, &window) != 0 || window.ws_col == 0)
        return COLUMNS_UNKNOWN;
    return window.ws_col;
}

void os_survive_file_limit(void)
{
    struct sigaction now;
    if (sigaction(SIGXFSZ, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL) {
        now.sa_handler = SIG_IGN;
        sigaction(SIGXFSZ, &now, NULL);
    }
}

/* The lowest number that is free is the one that is looked at. Opened the wrong way round, so that the input cannot be
 * read, and the others cannot be written. */
void os_keep_standard_numbers(void)
{
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++) {
        if (fcntl(number, F_GETFD) < 0 && open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
    }
}

int os_output_lead(FILE *file)
{
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    if (saved >= 0 && dup2(fileno(file), STDOUT_FILENO) < 0) {
        close(saved);
        return -1;
    }
    return saved;
}

void os_output_lead_back(int saved)
{
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
}

bool os_input_ready(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    return poll(&input, 1, 0) != 0;
}

intptr_t os_input_handle(void)
{
    return 0;
}

/* --- program ----------------------------------------------------------------------------------------------------- */

/* Running other programs on Linux and its relatives: posix_spawn. */

extern char **environ;

const char os_program_suffix[] = "";

bool os_program_run(const char *path, const char *const *arguments, int *status)
{
    pid_t child, ended;
    int how;
    union {
        const char *const *ours;
        char *const *theirs; /* which the system does not write to */
    } texts = {.ours = arguments};
    if (posix_spawn(&child, path, NULL, NULL, texts.theirs, environ) != 0)
        return false;
    do
        ended = waitpid(child, &how, 0);
    while (ended < 0 && errno == EINTR);
    if (ended != child)
        return false;
    *status = WIFSIGNALED(how) ? -WTERMSIG(how) : WEXITSTATUS(how);
    return true;
}

/* Read all that comes out of a pipe: `text` takes the beginning, the rest is thrown away. */
static void read_pipe(int pipe, char *text, size_t size)
{
    char rest[512];
    size_t length = 0;
    for (;;) {
        bool room = length + 1 < size;
        ssize_t count = read(pipe, room ? text + length : rest, room ? size - 1 - length : sizeof rest);
        if (count == 0 || (count < 0 && errno != EINTR))
            break;
        if (room && count > 0)
            length += (size_t)count;
    }
    text[length] = '\0';
}

bool os_program_read(const char *name, const char *const *arguments, char *text, size_t size)
{
    int ends[2], how = -1;
    pid_t child, ended = -1;
    posix_spawn_file_actions_t files;
    union {
        const char *const *ours;
        char *const *theirs; /* which the system does not write to */
    } texts = {.ours = arguments};
    text[0] = '\0';
    if (posix_spawn_file_actions_init(&files) != 0)
        return false;
    if (pipe(ends) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return false;
    }
    bool started = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) == 0 &&
                   posix_spawn_file_actions_adddup2(&files, ends[1], 1) == 0 &&
                   posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0) == 0 &&
                   posix_spawn_file_actions_addclose(&files, ends[0]) == 0 &&
                   posix_spawnp(&child, name, &files, NULL, texts.theirs, environ) == 0;
    close(ends[1]);
    if (started) {
        read_pipe(ends[0], text, size);
        do
            ended = waitpid(child, &how, 0);
        while (ended < 0 && errno == EINTR);
    }
    close(ends[0]);
    posix_spawn_file_actions_destroy(&files);
    return started && ended == child && how == 0;
}
