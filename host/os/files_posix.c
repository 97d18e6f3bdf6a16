/* files_posix.c - files on Linux and its relatives: whole files, paths, folders, temporary folders, stamps.
 *
 * Whole files are mapped to read them, and replaced by renaming. A new file is brought to the disk before it is renamed
 * to its name, and its folder after that: whenever the power fails, either the old file or the new one is there, whole.
 */
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1

#include "files.h"

#include "os.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

enum { PATH_ROOM = 4096 };

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

/* Writing beyond the limit on file sizes would raise a signal that ends the process, so the limit is checked first. */
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
    bool written = write_all(file, bytes, size);
    int code = errno;
    bool closed = close(file) == 0;
    if (!written)
        errno = code;
    return written && closed;
}

/* Bring the names of a file's folder to the disk. A folder that may not be read, or that is nowhere to be brought to,
   is no failure. */
static bool sync_folder(const char *path)
{
    char folder[PATH_ROOM];
    const char *end = strrchr(path, '/');
    int length = end == NULL ? 0 : (int)(end - path + 1);
    snprintf(folder, sizeof folder, "%.*s.", length, path);
    int file = open(folder, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == EACCES;
    int code = fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
    close(file);
    errno = code;
    return code == 0;
}

/* `part` is on the disk: give it the name `path`. A name that was given stays, also where the folder cannot be brought
   to the disk. */
static bool give_name(const char *part, const char *path, char *error, size_t error_size)
{
    if (rename(part, path) != 0) {
        explain(error, error_size, errno);
        unlink(part);
        return false;
    }
    if (sync_folder(path))
        return true;
    snprintf(error, error_size, "it is in its place, but a power cut may undo that: %s", strerror(errno));
    return false;
}

FILE *os_file_open(const char *path, const char *mode)
{
    return fopen(path, mode);
}

bool os_file_remove(const char *path)
{
    return remove(path) == 0;
}

bool os_stream_sync(FILE *file)
{
    return fsync(fileno(file)) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

bool os_stream_seek(FILE *file, uint64_t at)
{
    return at <= INT64_MAX && fseeko(file, (off_t)at, SEEK_SET) == 0;
}

bool os_file_keep(const char *part, const char *path, char *error, size_t error_size)
{
    int file = open(part, O_RDONLY | O_CLOEXEC);
    bool good = file >= 0 && fsync(file) == 0;
    if (!good)
        explain(error, error_size, errno);
    if (file >= 0)
        close(file);
    if (good)
        return give_name(part, path, error, error_size);
    unlink(part);
    return false;
}

/* Is the open file a plain one, and does it still bear this name? */
static bool bears_name(int file, const char *path)
{
    struct stat own, named;
    return fstat(file, &own) == 0 && S_ISREG(own.st_mode) && lstat(path, &named) == 0 && own.st_ino == named.st_ino &&
           own.st_dev == named.st_dev;
}

enum { PART_TRIES = 50, PART_NAP = 10000000 }; /* half a second */

/* Open the part, empty and locked, or return -1. The lock goes with its process: a part that can be locked is new, or
 * was left by a process that was killed. EBUSY: another process goes on writing it. */
static int open_part(const char *part)
{
    for (int tries = 0; tries < PART_TRIES; tries++) {
        int file = open(part, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
        if (file < 0)
            return -1;
        bool locked = flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; /* some file systems know no locks */
        if (locked && bears_name(file, part)) { /* else its process has renamed it meanwhile */
            if (ftruncate(file, 0) == 0)
                return file;
            int code = errno;
            unlink(part);
            close(file);
            errno = code;
            return -1;
        }
        close(file);
        nanosleep(&(struct timespec){.tv_nsec = PART_NAP}, NULL);
    }
    errno = EBUSY;
    return -1;
}

static bool write_beside(const char *path, const char *part, mode_t mode, const void *bytes, size_t size, char *error,
                         size_t error_size)
{
    int file = open_part(part);
    if (file < 0)
        return explain(error, error_size, errno);
    bool good = (mode == 0 || fchmod(file, mode) == 0) && write_all(file, bytes, size) && fsync(file) == 0;
    if (good) {
        good = give_name(part, path, error, error_size);
    } else {
        explain(error, error_size, errno);
        unlink(part);
    }
    close(file); /* not earlier: its lock says that the part is being written */
    return good;
}

bool os_file_replace(const char *path, const void *bytes, size_t size, char *error, size_t error_size)
{
    char real[PATH_ROOM], part[PATH_ROOM + 8];
    struct stat about;
    mode_t mode = 0;
    if (stat(path, &about) == 0) {
        if (S_ISDIR(about.st_mode))
            return explain(error, error_size, EISDIR);
        if (!S_ISREG(about.st_mode))
            return write_to_device(path, bytes, size) || explain(error, error_size, errno);
        /* A user who may not write to the file may not replace it either, though its folder would allow it. */
        if (access(path, W_OK) != 0 || realpath(path, real) == NULL)
            return explain(error, error_size, errno);
        path = real;
        mode = about.st_mode & 07777;
    }
    snprintf(part, sizeof part, "%s.part", path);
    if (strlen(part) >= PATH_ROOM)
        return explain(error, error_size, ENAMETOOLONG);
    if (!within_limit(size))
        return explain(error, error_size, errno);
    return write_beside(path, part, mode, bytes, size, error, error_size);
}

/* --- path -------------------------------------------------------------------------------------------------------- */

/* Paths and folders on Linux and its relatives. */

bool os_path_is_absolute(const char *path)
{
    return path[0] == '/';
}

const char *os_path_separator(const char *path)
{
    return strrchr(path, '/');
}

bool os_path_is_special(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

bool os_path_is_missing(const char *path)
{
    struct stat about;
    return stat(path, &about) != 0 && (errno == ENOENT || errno == ENOTDIR);
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

/* For a file in the root folder the answer is "": with a separator and a name behind it, that is a
 * path. */
static bool folder_of(const char *file, char *path, size_t size)
{
    const char *end = strrchr(file, '/');
    if (end == NULL || (size_t)(end - file) >= size)
        return false;
    memcpy(path, file, (size_t)(end - file));
    path[end - file] = '\0';
    return true;
}

bool os_program_folder(char *path, size_t size)
{
    char program[PATH_ROOM];
    return program_path(program, sizeof program) && folder_of(program, path, size);
}

bool os_library_folder(char *path, size_t size)
{
    static const char here = 0;
    Dl_info about;
    char library[PATH_ROOM];
    /* The name of the program may be one without a folder, or relative to one that has been left. */
    if (dladdr(&here, &about) != 0 && about.dli_fname != NULL && strstr(about.dli_fname, ".so") != NULL &&
        realpath(about.dli_fname, library) != NULL)
        return folder_of(library, path, size);
    return os_program_folder(path, size);
}

bool os_folder_create(const char *path)
{
    struct stat about;
    return mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &about) == 0 && S_ISDIR(about.st_mode));
}

bool os_folder_runs_code(const char *path)
{
#if defined(ST_NOEXEC)
    struct statvfs about;
    return statvfs(path, &about) != 0 || (about.f_flag & ST_NOEXEC) == 0;
#else
    (void)path;
    return true;
#endif
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

/* --- temporary --------------------------------------------------------------------------------------------------- */

/* Owners by flock.
 *
 * A lock belongs to the open file, not to the process: the lock goes when the last process that has the file open ends,
 * copies made by fork included. So the lock stays for as long as a process may still use the folder.
 *
 * Two processes may meet at a folder: one that makes it and one that sweeps folders of processes that have ended. The
 * maker creates the file and then locks it; a sweeper that comes in between takes the folder for an abandoned one. The
 * maker then finds the file locked, or no longer in any folder, and makes another folder. A sweeper holds the lock
 * until all of the folder is gone, so two sweepers never work on the same one.
 */

enum { RANDOM = 6 /* letters that mkdtemp puts in */, TRIES = 16 };

static const char owner_name[] = ".owner";

static const char *parent_folder(void)
{
    const char *parent = getenv("TMPDIR");
    return parent != NULL && parent[0] != '\0' ? parent : "/tmp";
}

/* --- making and removing ------------------------------------------------------------------------------------------ */

static bool owner_path(const char *path, char *owner)
{
    int length = snprintf(owner, PATH_ROOM, "%s/%s", path, owner_name);
    return length > 0 && length < PATH_ROOM;
}

/* Lock the file; false where another process swept the folder meanwhile. Where the system has no locks the folder has
 * no owner, and stays when this process is killed. */
static bool lock_owner(temporary_t *folder, const char *owner, int file)
{
    struct stat about;
    folder->owner = file;
    folder->process = os_process_number();
    if (flock(file, LOCK_EX | LOCK_NB) == 0)
        return fstat(file, &about) == 0 && about.st_nlink > 0;
    if (errno == EWOULDBLOCK)
        return false;
    unlink(owner);
    close(file);
    folder->owner = -1;
    return true;
}

/* Give the file a number above those of the standard streams: it stays open, and where a standard stream is closed it
 * must not get that stream's number. */
static int above_streams(int file)
{
    if (file < 0 || file > STDERR_FILENO)
        return file;
    int above = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(file);
    return above;
}

static bool own(temporary_t *folder, const char *path)
{
    char owner[PATH_ROOM];
    if (!owner_path(path, owner))
        return false;
    int file = above_streams(open(owner, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file < 0)
        return false;
    if (lock_owner(folder, owner, file))
        return true;
    unlink(owner);
    close(file);
    return false;
}

bool temporary_create(temporary_t *folder, const char *parent, const char *name, char *path, size_t size)
{
    for (int i = 0; i < TRIES; i++) {
        int length = snprintf(path, size, "%s/%s-XXXXXX", parent == NULL ? parent_folder() : parent, name);
        if (length <= 0 || (size_t)length >= size || mkdtemp(path) == NULL)
            return false;
        if (own(folder, path))
            return true;
        rmdir(path);
    }
    return false;
}

/* --- removing ----------------------------------------------------------------------------------------------------- */

static bool is_name(const char *entry, const char *name)
{
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '-' && strlen(entry) == length + 1 + RANDOM;
}

static bool is_ours(int file, mode_t kind, struct stat *about)
{
    return fstat(file, about) == 0 && (about->st_mode & S_IFMT) == kind && about->st_uid == geteuid() &&
           (about->st_mode & 022) == 0;
}

/* Do something with the names in a folder but that of the owner's file, until it is refused. `folder` is open (-1: it
 * could not be opened, which counts as refused), and is closed. */
static bool each_name(int folder, bool (*visit)(int folder, const char *name))
{
    DIR *names = folder < 0 ? NULL : fdopendir(folder);
    if (names == NULL) {
        if (folder >= 0)
            close(folder);
        return false;
    }
    bool fine = true;
    for (const struct dirent *entry; fine && (entry = readdir(names)) != NULL;) {
        const char *name = entry->d_name;
        fine =
            strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, owner_name) == 0 || visit(folder, name);
    }
    closedir(names);
    return fine;
}

static bool is_plain(int folder, const char *name)
{
    struct stat about;
    return fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode) &&
           about.st_uid == geteuid();
}

static bool remove_file(int folder, const char *name)
{
    return unlinkat(folder, name, 0) == 0;
}

static void disown(temporary_t *folder)
{
    if (folder->owner >= 0)
        close((int)folder->owner);
    folder->owner = -1;
}

bool temporary_is_own(const temporary_t *folder)
{
    return folder->process == os_process_number();
}

static bool remove_files(const char *path)
{
    return each_name(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), remove_file);
}

/* A folder that could not be emptied keeps its owner's file, by which a later sweep knows it. Where this process may
 * not open another file, it may once the owner's is closed. */
void temporary_remove(temporary_t *folder, const char *path)
{
    char owner[PATH_ROOM];
    if (!temporary_is_own(folder)) {
        disown(folder);
        return;
    }
    bool emptied = remove_files(path);
    if (!emptied) {
        disown(folder);
        emptied = remove_files(path);
    }
    if (emptied && owner_path(path, owner))
        unlink(owner);
    rmdir(path);
    disown(folder);
}

static int open_list(int folder)
{
    return openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The folder is open; is its owner dead, and has all in it been removed? */
static bool empty(int folder)
{
    struct stat about;
    int file = openat(folder, owner_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return false;
    bool dead = is_ours(file, S_IFREG, &about) && flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &about) == 0 &&
                about.st_nlink > 0;
    bool emptied = dead && each_name(open_list(folder), is_plain) && each_name(open_list(folder), remove_file) &&
                   remove_file(folder, owner_name);
    close(file);
    return emptied;
}

static bool sweep(int parent, const char *name)
{
    struct stat about;
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return false;
    bool swept = is_ours(folder, S_IFDIR, &about) && empty(folder) && unlinkat(parent, name, AT_REMOVEDIR) == 0;
    close(folder);
    return swept;
}

uint32_t temporary_sweep(const char *parent, const char *name)
{
    uint32_t count = 0;
    DIR *entries = opendir(parent == NULL ? parent_folder() : parent);
    if (entries == NULL)
        return 0;
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
        count += is_name(entry->d_name, name) && sweep(dirfd(entries), entry->d_name);
    closedir(entries);
    return count;
}

/* --- stamps ------------------------------------------------------------------------------------------------------- */

bool file_stamp(const char *path, file_stamp_t *stamp)
{
    struct stat s;
    *stamp = (file_stamp_t){0};
    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode))
        return false;
#if defined(__APPLE__)
    struct timespec written = s.st_mtimespec;
#else
    struct timespec written = s.st_mtim;
#endif
    *stamp = (file_stamp_t){(uint64_t)s.st_size, (uint64_t)written.tv_sec * 1000000000u + (uint64_t)written.tv_nsec,
                            (uint64_t)s.st_ino};
    return true;
}

bool file_is_closed(const char *path)
{
    (void)path;
    return true;
}
