/* os_posix.c - the operating system on Linux and its relatives: mmap, dlopen, pthreads, termios.
 *
 * A block of pages is one private anonymous mapping of its bytes rounded up to whole pages. Its owner only
 * ever promises the bytes that were asked for, so what stands between them and the end of the last page is
 * cleared at growth: it may hold what the block held before it shrank.
 *
 * mremap moves page tables instead of bytes, but refuses a block whose parts have come to differ (huge
 * pages asked for behind a part of it), and only Linux has it: then the block is copied.
 *
 * A new thread takes its entry and data from the starter's stack, and the starter waits until it has: so
 * starting a thread allocates nothing here. Only a lock does, since its header keeps it opaque.
 */
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1

#include "os.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <sched.h>
#if defined(__linux__)
#include <link.h>
#elif defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

enum { PATH_ROOM = 4096, COLUMNS_UNKNOWN = 80 };

/* --- pages -------------------------------------------------------------------------------------------- */

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
/* Advise on every page that the range touches. What a hint comes to is nobody's business. */
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

/* --- shared libraries --------------------------------------------------------------------------------- */

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
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == NULL)
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

/* --- time --------------------------------------------------------------------------------------------- */

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

/* --- threads ------------------------------------------------------------------------------------------ */

struct os_lock_t {
    pthread_mutex_t mutex;
    pthread_cond_t woken;
};

static bool lock_init(os_lock_t *lock)
{
    if (pthread_mutex_init(&lock->mutex, NULL) != 0)
        return false;
    if (pthread_cond_init(&lock->woken, NULL) == 0)
        return true;
    pthread_mutex_destroy(&lock->mutex);
    return false;
}

static void lock_end(os_lock_t *lock)
{
    pthread_cond_destroy(&lock->woken);
    pthread_mutex_destroy(&lock->mutex);
}

typedef struct start_t {
    void (*entry)(void *data);
    void *data;
    os_lock_t lock;
    bool taken;
} start_t;

static void *thread_main(void *argument)
{
    start_t *start = argument;
    void (*entry)(void *data) = start->entry;
    void *data = start->data;
    os_lock(&start->lock);
    start->taken = true;
    os_lock_wake_all(&start->lock);
    os_unlock(&start->lock);
    entry(data);
    return NULL;
}

bool os_thread_start(os_thread_t *thread, void (*entry)(void *data), void *data)
{
    start_t start = {.entry = entry, .data = data};
    if (!lock_init(&start.lock))
        return false;
    pthread_t id;
    bool started = pthread_create(&id, NULL, thread_main, &start) == 0;
    if (started) {
        thread->handle = (void *)id;
        os_lock(&start.lock);
        while (!start.taken)
            os_lock_wait(&start.lock);
        os_unlock(&start.lock);
    }
    lock_end(&start.lock);
    return started;
}

void os_thread_join(os_thread_t thread)
{
    pthread_join((pthread_t)thread.handle, NULL);
}

uint64_t os_thread_number(void)
{
    return (uint64_t)(uintptr_t)(void *)pthread_self();
}

void os_relax(uint32_t turn)
{
    if (turn >= OS_SHORT_TURNS) {
        sched_yield();
        return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* The processors this process may run on, which in a container are often fewer than the machine has. */
uint32_t os_processor_count(void)
{
#if defined(__linux__)
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0)
        return (uint32_t)CPU_COUNT(&allowed);
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}

os_lock_t *os_lock_create(void)
{
    os_lock_t *lock = malloc(sizeof *lock);
    if (lock != NULL && !lock_init(lock)) {
        free(lock);
        return NULL;
    }
    return lock;
}

void os_lock_destroy(os_lock_t *lock)
{
    if (lock == NULL)
        return;
    lock_end(lock);
    free(lock);
}

void os_lock(os_lock_t *lock)
{
    pthread_mutex_lock(&lock->mutex);
}

void os_unlock(os_lock_t *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

void os_lock_wait(os_lock_t *lock)
{
    pthread_cond_wait(&lock->woken, &lock->mutex);
}

void os_lock_wake_all(os_lock_t *lock)
{
    pthread_cond_broadcast(&lock->woken);
}

/* --- terminal ----------------------------------------------------------------------------------------- */

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

/* --- whole files -------------------------------------------------------------------------------------- */

static bool explain(char *error, size_t size, int code)
{
    snprintf(error, size, "%s", strerror(code));
    return false;
}

const void *os_file_map(const char *path, size_t *size, char *error, size_t error_size)
{
    static const _Alignas(16) char nothing[16];
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer would wait */
    if (file < 0 || fstat(file, &about) != 0) {
        explain(error, error_size, errno);
        if (file >= 0)
            close(file);
        return NULL;
    }
    const void *bytes = MAP_FAILED;
    *size = (size_t)about.st_size;
    if (!S_ISREG(about.st_mode))
        errno = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
    else if (about.st_size == 0)
        bytes = nothing;
    else
        bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED)
        explain(error, error_size, errno);
    close(file);
    return bytes == MAP_FAILED ? NULL : bytes;
}

void os_file_unmap(const void *bytes, size_t size)
{
    if (size > 0)
        munmap((void *)(uintptr_t)bytes, size);
}

static bool write_all(int file, const char *bytes, size_t size)
{
    const size_t most = (size_t)1 << 30; /* Linux writes at most 2 GiB at a time */
    while (size > 0) {
        ssize_t written = write(file, bytes, size < most ? size : most);
        if (written < 0 && errno != EINTR)
            return false;
        bytes += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* The limit on file sizes would be told by a signal that ends the process. */
static bool within_limit(size_t size)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur)
        return true;
    errno = EFBIG;
    return false;
}

static bool write_to_device(const char *path, const void *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool good = write_all(file, bytes, size);
    int code = errno;
    good = close(file) == 0 && good;
    errno = good ? errno : code;
    return good;
}

/* The name of a file that is renamed is only on the disk when its folder is. */
static void sync_folder(const char *path)
{
    char folder[PATH_ROOM];
    const char *end = strrchr(path, '/');
    int length = end == NULL ? 0 : (int)(end - path + 1);
    snprintf(folder, sizeof folder, "%.*s.", length, path);
    int file = open(folder, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    fsync(file);
    close(file);
}

static bool write_beside(const char *path, const char *beside, mode_t mode, const void *bytes, size_t size)
{
    unlink(beside); /* what a process of this number left when it was killed */
    int file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return false;
    bool good = (mode == 0 || fchmod(file, mode) == 0) && write_all(file, bytes, size) && fsync(file) == 0;
    int code = errno;
    if (close(file) != 0 && good) {
        good = false;
        code = errno;
    }
    if (good && rename(beside, path) == 0) {
        sync_folder(path);
        return true;
    }
    code = good ? errno : code;
    unlink(beside);
    errno = code;
    return false;
}

bool os_file_replace(const char *path, const void *bytes, size_t size, char *error, size_t error_size)
{
    char real[PATH_ROOM], beside[PATH_ROOM + 32];
    struct stat about;
    mode_t mode = 0;
    if (stat(path, &about) == 0) {
        if (S_ISDIR(about.st_mode))
            return explain(error, error_size, EISDIR);
        if (!S_ISREG(about.st_mode))
            return write_to_device(path, bytes, size) || explain(error, error_size, errno);
        /* Who may not write to the file may not replace it either, though its folder would allow it. */
        if (access(path, W_OK) != 0 || realpath(path, real) == NULL)
            return explain(error, error_size, errno);
        path = real;
        mode = about.st_mode & 07777;
    }
    if (snprintf(beside, sizeof beside, "%s.%ld.part", path, (long)getpid()) >= PATH_ROOM)
        return explain(error, error_size, ENAMETOOLONG);
    if (!within_limit(size) || !write_beside(path, beside, mode, bytes, size))
        return explain(error, error_size, errno);
    return true;
}

/* --- paths -------------------------------------------------------------------------------------------- */

bool os_path_is_absolute(const char *path)
{
    return path[0] == '/';
}

/* The path of the running program into `path`, ended by a zero byte. */
static bool program_path(char *path, size_t size)
{
#if defined(__APPLE__)
    uint32_t room = (uint32_t)size;
    return _NSGetExecutablePath(path, &room) == 0;
#else
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length <= 0 || (size_t)length >= size - 1)
        return false; /* not told, or perhaps cut */
    path[length] = '\0';
    return true;
#endif
}

/* For a program in the root folder the answer is "": with a separator and a name behind it, that is a
 * path. */
bool os_program_folder(char *path, size_t size)
{
    char program[PATH_ROOM];
    if (!program_path(program, sizeof program))
        return false;
    char *end = strrchr(program, '/');
    if (end == NULL || (size_t)(end - program) >= size)
        return false;
    memcpy(path, program, (size_t)(end - program));
    path[end - program] = '\0';
    return true;
}

bool os_folder_create(const char *path)
{
    struct stat about;
    return mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &about) == 0 && S_ISDIR(about.st_mode));
}

bool os_folder_list(const char *path, void (*see)(void *data, const char *name), void *data)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return false;
    errno = 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            see(data, entry->d_name);
        errno = 0;
    }
    bool read = errno == 0;
    closedir(folder);
    return read;
}

bool os_folder_create_temporary(const char *name, char *path, size_t size)
{
    const char *parent = getenv("TMPDIR");
    int length = snprintf(path, size, "%s/%s-XXXXXX", parent != NULL && parent[0] != '\0' ? parent : "/tmp", name);
    return length > 0 && (size_t)length < size && mkdtemp(path) != NULL;
}

void os_folder_remove(const char *path)
{
    rmdir(path);
}

/* --- other programs ------------------------------------------------------------------------------------------ */

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
