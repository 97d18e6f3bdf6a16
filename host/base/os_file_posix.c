/* os_file_posix.c - whole files on Linux and its relatives: mapped to read them, replaced by renaming.
 *
 * A file that is replaced is on the disk before it has its name, and its folder after it: whenever the power goes, one of the two
 * files is there, whole.
 */
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1

#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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
