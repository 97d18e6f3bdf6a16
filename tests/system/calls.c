/* calls.c - one function for each name in DOUBLED, which the linker puts between the host and the system.
 *
 * `__real_X` is the system's own; whether a call fails is decided in `refused` alone. Streams: while calls are counted,
 * fopen gives a stream whose bytes go through the doubles of read and write (fopencookie), so that a full disk is met
 * where the C library empties its buffer, and whose number fileno tells.
 */
#define _GNU_SOURCE 1

#include "calls.h"

#include "disk.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INSTEAD_MOST = 8 };

static struct {
    atomic_bool on, in_copies, all;
    atomic_uint count, nth, failed;
    _Atomic(const char *) first, only; /* only: a list of names, NULL stands for all calls */
    atomic_int code; /* of calls that fail; 0: each has its own */
    const char *paths[INSTEAD_MOST][2]; /* opened, and what is opened instead */
    uint32_t path_count;
    void (*act)(void *data, const char *call, bool change);
    void *data;
} calls;

static void begin(uint32_t nth, bool all, bool in_copies)
{
    calls.count = 0;
    calls.failed = 0;
    calls.nth = nth;
    calls.all = all;
    calls.first = "";
    calls.only = NULL;
    calls.code = 0;
    calls.path_count = 0;
    calls.act = NULL;
    calls.in_copies = in_copies;
    calls.on = true;
}

void calls_begin(uint32_t nth, bool all)
{
    begin(nth, all, false);
}

void calls_begin_named(const char *name, uint32_t nth)
{
    begin(nth, false, false);
    calls.only = name;
}

void calls_begin_coded(const char *names, uint32_t nth, bool all, int code)
{
    begin(nth, all, false);
    calls.code = code;
    calls.only = names;
}

void calls_open_instead(const char *path, const char *other)
{
    if (calls.path_count == INSTEAD_MOST)
        abort();
    calls.paths[calls.path_count][0] = path;
    calls.paths[calls.path_count++][1] = other;
}

void calls_follow(uint32_t nth, bool all)
{
    begin(nth, all, true);
}

uint32_t calls_end(void)
{
    calls.on = false;
    calls.act = NULL;
    return calls.count;
}

uint32_t calls_failed(void)
{
    return calls.failed;
}

const char *calls_first_failed(void)
{
    return calls.first;
}

void calls_before_each(void (*act)(void *data, const char *call, bool change), void *data)
{
    calls.data = data;
    calls.act = act;
}

/* Is the name in a list of names with blanks between them? */
static bool is_listed(const char *name, const char *list)
{
    size_t length = strlen(name);
    for (const char *at = list; *at != '\0'; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if (word == length && strncmp(at, name, length) == 0)
            return true;
        at += word;
    }
    return false;
}

static bool is_counted(const char *name)
{
    return calls.on && !calls.in_copies && (calls.only == NULL || is_listed(name, calls.only));
}

/* Does this call fail? Then errno is set. */
static bool refused(const char *name, int reason, bool change)
{
    if (!is_counted(name))
        return false;
    if (calls.act != NULL)
        calls.act(calls.data, name, change);
    uint32_t number = atomic_fetch_add(&calls.count, 1) + 1;
    if (calls.nth == 0 || (calls.all ? number < calls.nth : number != calls.nth))
        return false;
    if (atomic_fetch_add(&calls.failed, 1) == 0)
        calls.first = name;
    int code = calls.code;
    errno = code != 0 ? code : reason;
    return true;
}

/* The same for a call that fails only where it is named. */
static bool refused_by_name(const char *name, int reason)
{
    return calls.only != NULL && refused(name, reason, false);
}

/* The file that is opened in place of this one. */
static const char *instead_of(const char *path)
{
    for (uint32_t i = 0; calls.on && i < calls.path_count; i++) {
        if (strcmp(path, calls.paths[i][0]) == 0)
            return calls.paths[i][1];
    }
    return path;
}

/* --- the clock ---------------------------------------------------------------------------------------------------- */

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

static _Atomic uint64_t ahead; /* nanoseconds */

void calls_clock_leaps(uint64_t ns)
{
    atomic_fetch_add(&ahead, ns);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = __real_clock_gettime(clock, now);
    uint64_t more = atomic_load(&ahead);
    if (result == 0 && clock == CLOCK_MONOTONIC)
        now->tv_sec += (time_t)(more / UINT64_C(1000000000));
    return result;
}

/* --- files -------------------------------------------------------------------------------------------------------- */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_close(int file);
int __wrap_close(int file);
ssize_t __real_read(int file, void *bytes, size_t size);
ssize_t __wrap_read(int file, void *bytes, size_t size);
ssize_t __real_write(int file, const void *bytes, size_t size);
ssize_t __wrap_write(int file, const void *bytes, size_t size);
int __real_fsync(int file);
int __wrap_fsync(int file);
int __real_ftruncate(int file, off_t size);
int __wrap_ftruncate(int file, off_t size);
int __real_flock(int file, int operation);
int __wrap_flock(int file, int operation);
int __real_fchmod(int file, mode_t mode);
int __wrap_fchmod(int file, mode_t mode);
int __real_fstat(int file, struct stat *about);
int __wrap_fstat(int file, struct stat *about);
int __real_stat(const char *path, struct stat *about);
int __wrap_stat(const char *path, struct stat *about);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __real_remove(const char *path);
int __wrap_remove(const char *path);
int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
char *__real_mkdtemp(char *path);
char *__wrap_mkdtemp(char *path);
char *__real_realpath(const char *path, char *real);
char *__wrap_realpath(const char *path, char *real);
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);

int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if ((flags & O_CREAT) != 0) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    if (refused("open", EMFILE, (flags & (O_CREAT | O_TRUNC)) != 0))
        return -1;
    int file = __real_open(instead_of(path), flags, mode);
    disk_opened(file, path, flags);
    return file;
}

/* A file whose closing fails is closed all the same. */
int __wrap_close(int file)
{
    bool fails = refused("close", EIO, false);
    disk_closed(file);
    int result = __real_close(file);
    if (fails)
        errno = EIO;
    return fails ? -1 : result;
}

ssize_t __wrap_read(int file, void *bytes, size_t size)
{
    if (refused("read", EIO, false))
        return -1;
    ssize_t got = __real_read(file, bytes, size);
    if (got < 0 && errno == EAGAIN && is_counted("read"))
        atomic_fetch_sub(&calls.count, 1); /* how often a host looks whether there is something is a matter of time */
    return got;
}

ssize_t __wrap_write(int file, const void *bytes, size_t size)
{
    if (refused("write", ENOSPC, true))
        return -1;
    ssize_t written = __real_write(file, bytes, size);
    if (written > 0)
        disk_wrote(file, bytes, (size_t)written);
    return written;
}

/* Files and folders of tests need not outlive a power cut, for which disk.c stands: they are not waited for. What is
 * neither is asked. */
int __wrap_fsync(int file)
{
    struct stat about;
    if (refused("fsync", EIO, true))
        return -1;
    bool lasts = __real_fstat(file, &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
    int result = lasts ? 0 : __real_fsync(file);
    if (result == 0)
        disk_synced(file);
    return result;
}

int __wrap_ftruncate(int file, off_t size)
{
    if (refused("ftruncate", EIO, true))
        return -1;
    int result = __real_ftruncate(file, size);
    if (result == 0)
        disk_truncated(file, (size_t)size);
    return result;
}

int __wrap_flock(int file, int operation)
{
    return refused("flock", ENOLCK, false) ? -1 : __real_flock(file, operation);
}

int __wrap_fchmod(int file, mode_t mode)
{
    return refused("fchmod", EPERM, true) ? -1 : __real_fchmod(file, mode);
}

int __wrap_fstat(int file, struct stat *about)
{
    return refused("fstat", EIO, false) ? -1 : __real_fstat(file, about);
}

int __wrap_stat(const char *path, struct stat *about)
{
    return refused("stat", EIO, false) ? -1 : __real_stat(path, about);
}

int __wrap_rename(const char *from, const char *to)
{
    if (refused("rename", EIO, true))
        return -1;
    int result = __real_rename(from, to);
    if (result == 0)
        disk_renamed(from, to);
    return result;
}

int __wrap_unlink(const char *path)
{
    if (refused("unlink", EIO, true))
        return -1;
    int result = __real_unlink(path);
    if (result == 0)
        disk_removed(path);
    return result;
}

int __wrap_remove(const char *path)
{
    if (refused("remove", EIO, true))
        return -1;
    int result = __real_remove(path);
    if (result == 0)
        disk_removed(path);
    return result;
}

int __wrap_mkdir(const char *path, mode_t mode)
{
    return refused("mkdir", ENOSPC, true) ? -1 : __real_mkdir(path, mode);
}

char *__wrap_mkdtemp(char *path)
{
    return refused("mkdtemp", ENOSPC, true) ? NULL : __real_mkdtemp(path);
}

char *__wrap_realpath(const char *path, char *real)
{
    return refused("realpath", EACCES, false) ? NULL : __real_realpath(path, real);
}

DIR *__wrap_opendir(const char *path)
{
    return refused("opendir", EMFILE, false) ? NULL : __real_opendir(path);
}

/* --- streams ------------------------------------------------------------------------------------------------------ */

typedef struct stream_t {
    int file;
    FILE *made;
    struct stream_t *next;
} stream_t;

/* Those that are open: the C library knows no number of theirs. */
static stream_t *streams;
static pthread_mutex_t streams_mutex = PTHREAD_MUTEX_INITIALIZER;

int __real_fileno(FILE *stream);
int __wrap_fileno(FILE *stream);

int __wrap_fileno(FILE *stream)
{
    int file = -1;
    pthread_mutex_lock(&streams_mutex);
    for (const stream_t *s = streams; s != NULL; s = s->next)
        file = s->made == stream ? s->file : file;
    pthread_mutex_unlock(&streams_mutex);
    return file >= 0 ? file : __real_fileno(stream);
}

static ssize_t stream_read(void *cookie, char *bytes, size_t size)
{
    return __wrap_read(((stream_t *)cookie)->file, bytes, size);
}

/* To a stream 0 says that nothing could be written; a negative number would be taken for one. */
static ssize_t stream_write(void *cookie, const char *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t written = __wrap_write(((stream_t *)cookie)->file, bytes + done, size - done);
        if (written < 0)
            return 0;
        done += (size_t)written;
    }
    return (ssize_t)done;
}

static int stream_seek(void *cookie, off64_t *place, int from)
{
    off64_t at = lseek64(((stream_t *)cookie)->file, *place, from);
    if (at < 0)
        return -1;
    *place = at;
    return 0;
}

static int stream_close(void *cookie)
{
    int file = ((stream_t *)cookie)->file;
    pthread_mutex_lock(&streams_mutex);
    stream_t **at = &streams;
    while (*at != cookie)
        at = &(*at)->next;
    *at = (*at)->next;
    pthread_mutex_unlock(&streams_mutex);
    free(cookie);
    return __wrap_close(file);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    if (!calls.on || calls.in_copies)
        return __real_fopen(path, mode);
    int flags = mode[0] == 'r'   ? O_RDONLY
                : mode[0] == 'w' ? O_WRONLY | O_CREAT | O_TRUNC
                                 : O_WRONLY | O_CREAT | O_APPEND;
    if (strchr(mode, '+') != NULL)
        flags = (flags & ~(O_RDONLY | O_WRONLY)) | O_RDWR;
    stream_t *stream = malloc(sizeof *stream);
    int file = stream == NULL ? -1 : __wrap_open(path, flags | O_CLOEXEC, 0666);
    const cookie_io_functions_t functions = {stream_read, stream_write, stream_seek, stream_close};
    FILE *made = NULL;
    if (file >= 0) {
        *stream = (stream_t){.file = file};
        made = fopencookie(stream, mode, functions);
    }
    if (made == NULL) {
        free(stream);
        return NULL;
    }
    pthread_mutex_lock(&streams_mutex);
    stream->made = made;
    stream->next = streams;
    streams = stream;
    pthread_mutex_unlock(&streams_mutex);
    return made;
}

/* --- memory, processes, threads, libraries, notices --------------------------------------------------------------- */

void *__real_mmap(void *where, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *where, size_t size, int protection, int flags, int file, off_t offset);
void *__real_mremap(void *old, size_t old_size, size_t new_size, int flags, ...);
void *__wrap_mremap(void *old, size_t old_size, size_t new_size, int flags, ...);
pid_t __real_fork(void);
pid_t __wrap_fork(void);
int __real_pipe(int ends[2]);
int __wrap_pipe(int ends[2]);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*entry)(void *), void *data);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*entry)(void *), void *data);
int __real_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int __real_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes);
int __wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes);
int __real_pthread_key_create(pthread_key_t *key, void (*end)(void *));
int __wrap_pthread_key_create(pthread_key_t *key, void (*end)(void *));
void *__real_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags);
char *__real_dlerror(void);
char *__wrap_dlerror(void);
int __real_inotify_init1(int flags);
int __wrap_inotify_init1(int flags);
int __real_inotify_add_watch(int file, const char *path, uint32_t what);
int __wrap_inotify_add_watch(int file, const char *path, uint32_t what);

static _Thread_local bool library_refused;

void *__wrap_mmap(void *where, size_t size, int protection, int flags, int file, off_t offset)
{
    return refused("mmap", ENOMEM, false) ? MAP_FAILED : __real_mmap(where, size, protection, flags, file, offset);
}

void *__wrap_mremap(void *old, size_t old_size, size_t new_size, int flags, ...)
{
    return refused("mremap", ENOMEM, false) ? MAP_FAILED : __real_mremap(old, old_size, new_size, flags);
}

pid_t __wrap_fork(void)
{
    if (refused("fork", EAGAIN, false))
        return -1;
    pid_t pid = __real_fork();
    if (pid == 0) {
        if (!calls.in_copies)
            calls.on = false;
        calls.in_copies = false;
    }
    return pid;
}

int __wrap_pipe(int ends[2])
{
    return refused("pipe", EMFILE, false) ? -1 : __real_pipe(ends);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*entry)(void *), void *data)
{
    return refused("pthread_create", EAGAIN, false) ? EAGAIN : __real_pthread_create(thread, attributes, entry, data);
}

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    return refused("pthread_mutex_init", ENOMEM, false) ? ENOMEM : __real_pthread_mutex_init(mutex, attributes);
}

int __wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    return refused("pthread_cond_init", ENOMEM, false) ? ENOMEM : __real_pthread_cond_init(condition, attributes);
}

int __wrap_pthread_key_create(pthread_key_t *key, void (*end)(void *))
{
    return refused("pthread_key_create", EAGAIN, false) ? EAGAIN : __real_pthread_key_create(key, end);
}

void *__wrap_dlopen(const char *path, int flags)
{
    library_refused = refused("dlopen", ENOMEM, false);
    return library_refused ? NULL : __real_dlopen(path, flags);
}

char *__wrap_dlerror(void)
{
    if (refused_by_name("dlerror", 0))
        return NULL;
    static char sentence[] = "the library cannot be opened: no room";
    if (!library_refused)
        return __real_dlerror();
    library_refused = false;
    return sentence;
}

int __wrap_inotify_init1(int flags)
{
    return refused("inotify_init1", EMFILE, false) ? -1 : __real_inotify_init1(flags);
}

int __wrap_inotify_add_watch(int file, const char *path, uint32_t what)
{
    return refused("inotify_add_watch", ENOSPC, false) ? -1 : __real_inotify_add_watch(file, path, what);
}

/* --- by name alone ------------------------------------------------------------------------------------------------ */

/* What is returned where the call fails by setting errno. */
#define BY_NAME(type, name, failed, parameters, arguments)               \
    type __real_##name parameters;                                       \
    type __wrap_##name parameters;                                       \
    type __wrap_##name parameters                                        \
    {                                                                    \
        return refused_by_name(#name, EIO) ? (failed) : __real_##name arguments; \
    }

/* What is returned is the error. */
#define BY_NAME_ERROR(name, parameters, arguments)                       \
    int __real_##name parameters;                                        \
    int __wrap_##name parameters;                                        \
    int __wrap_##name parameters                                         \
    {                                                                    \
        return refused_by_name(#name, EIO) ? errno : __real_##name arguments; \
    }

BY_NAME(DIR *, fdopendir, NULL, (int file), (file))
BY_NAME(int, fstatat, -1, (int folder, const char *path, struct stat *about, int flags), (folder, path, about, flags))
BY_NAME(int, unlinkat, -1, (int folder, const char *path, int flags), (folder, path, flags))
BY_NAME(int, lstat, -1, (const char *path, struct stat *about), (path, about))
BY_NAME(int, access, -1, (const char *path, int mode), (path, mode))
BY_NAME(ssize_t, readlink, -1, (const char *path, char *text, size_t size), (path, text, size))
BY_NAME(int, dup, -1, (int file), (file))
BY_NAME(int, dup2, -1, (int file, int as), (file, as))
BY_NAME(char *, getcwd, NULL, (char *path, size_t size), (path, size))
BY_NAME(int, chdir, -1, (const char *path), (path))
BY_NAME(int, mprotect, -1, (void *start, size_t size, int protection), (start, size, protection))
BY_NAME(int, madvise, -1, (void *start, size_t size, int advice), (start, size, advice))
BY_NAME(void *, malloc, NULL, (size_t size), (size))
BY_NAME(void *, calloc, NULL, (size_t count, size_t size), (count, size))
BY_NAME(long, sysconf, -1, (int name), (name))
BY_NAME(int, sched_getaffinity, -1, (pid_t process, size_t size, cpu_set_t *set), (process, size, set))
BY_NAME(int, getrlimit, -1, (__rlimit_resource_t resource, struct rlimit *limit), (resource, limit))
BY_NAME(pid_t, waitpid, -1, (pid_t process, int *status, int options), (process, status, options))
BY_NAME(int, unsetenv, -1, (const char *name), (name))
BY_NAME(int, dlinfo, -1, (void *library, int request, void *answer), (library, request, answer))
BY_NAME_ERROR(posix_spawn_file_actions_init, (posix_spawn_file_actions_t * actions), (actions))
BY_NAME_ERROR(posix_spawn_file_actions_addopen,
              (posix_spawn_file_actions_t * actions, int file, const char *path, int flags, mode_t mode),
              (actions, file, path, flags, mode))
BY_NAME_ERROR(posix_spawn_file_actions_adddup2, (posix_spawn_file_actions_t * actions, int file, int as),
              (actions, file, as))
BY_NAME_ERROR(posix_spawnattr_init, (posix_spawnattr_t * how), (how))
BY_NAME_ERROR(posix_spawnattr_setflags, (posix_spawnattr_t * how, short flags), (how, flags))
BY_NAME_ERROR(posix_spawnattr_setsigmask, (posix_spawnattr_t * how, const sigset_t *set), (how, set))
BY_NAME_ERROR(posix_spawnattr_setsigdefault, (posix_spawnattr_t * how, const sigset_t *set), (how, set))
BY_NAME_ERROR(posix_spawn_file_actions_addclose, (posix_spawn_file_actions_t * actions, int file), (actions, file))

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __real_fcntl(int file, int command, ...);
int __wrap_fcntl(int file, int command, ...);

/* The host makes no files with openat, so there is no mode to hand on. */
int __wrap_openat(int folder, const char *path, int flags, ...)
{
    return refused_by_name("openat", EMFILE) ? -1 : __real_openat(folder, path, flags, 0);
}

int __wrap_fcntl(int file, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    return refused_by_name("fcntl", EMFILE) ? -1 : __real_fcntl(file, command, argument);
}

uint32_t calls_descriptors(void)
{
    uint32_t count = 0;
    DIR *list = __real_opendir("/proc/self/fd");
    if (list == NULL)
        return 0;
    while (readdir(list) != NULL)
        count++;
    closedir(list);
    return count;
}
