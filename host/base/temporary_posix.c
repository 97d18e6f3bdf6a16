/* temporary_posix.c - owners by flock.
 *
 * A lock belongs to the open file, not to the process: it goes when the last process that has the file open ends, a copy made by fork
 * among them, and so not while anybody may still use the folder.
 *
 * The two who may meet at a folder. Who makes it creates the file and then locks it; who sweeps may come in between, and takes the
 * folder for a dead man's. Then he who makes it finds the file locked, or no longer in any folder, and makes another. Who sweeps holds
 * the lock until all is gone, so two of them do not meet.
 */
#define _GNU_SOURCE 1

#include "temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANDOM = 6 /* letters that mkdtemp puts in */, TRIES = 16, PATH_ROOM = 4096 };

static const char owner_name[] = ".owner";

static const char *parent_folder(void)
{
    const char *parent = getenv("TMPDIR");
    return parent != NULL && parent[0] != '\0' ? parent : "/tmp";
}

/* --- making and removing ------------------------------------------------------------------------------------------------ */

static bool owner_path(const char *path, char *owner)
{
    int length = snprintf(owner, PATH_ROOM, "%s/%s", path, owner_name);
    return length > 0 && length < PATH_ROOM;
}

/* Lock the file; false where somebody swept the folder meanwhile. Where the system has no locks the folder has no owner, and
 * stays when we are killed. */
static bool lock_owner(temporary_t *folder, const char *owner, int file)
{
    struct stat about;
    folder->owner = file;
    if (flock(file, LOCK_EX | LOCK_NB) == 0)
        return fstat(file, &about) == 0 && about.st_nlink > 0;
    if (errno == EWOULDBLOCK)
        return false;
    unlink(owner);
    close(file);
    folder->owner = -1;
    return true;
}

/* The file stays open: where a standard stream is closed it must not be taken for that. */
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
    close(file);
    return false;
}

bool temporary_create(temporary_t *folder, const char *name, char *path, size_t size)
{
    for (int i = 0; i < TRIES; i++) {
        int length = snprintf(path, size, "%s/%s-XXXXXX", parent_folder(), name);
        if (length <= 0 || (size_t)length >= size || mkdtemp(path) == NULL)
            return false;
        if (own(folder, path))
            return true;
        rmdir(path);
    }
    return false;
}

void temporary_remove(temporary_t *folder, const char *path)
{
    char owner[PATH_ROOM];
    if (folder->owner >= 0 && owner_path(path, owner))
        unlink(owner);
    rmdir(path);
    if (folder->owner >= 0)
        close((int)folder->owner);
    folder->owner = -1;
}

/* --- sweeping ------------------------------------------------------------------------------------------------------------- */

static bool is_name(const char *entry, const char *name)
{
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '-' && strlen(entry) == length + 1 + RANDOM;
}

static bool is_ours(int file, mode_t kind, struct stat *about)
{
    return fstat(file, about) == 0 && (about->st_mode & S_IFMT) == kind && about->st_uid == geteuid() && (about->st_mode & 022) == 0;
}

/* Do something with the names in a folder but that of the owner's file, until it is refused. */
static bool each_name(int folder, bool (*visit)(int folder, const char *name))
{
    int list = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = list < 0 ? NULL : fdopendir(list);
    if (names == NULL) {
        if (list >= 0)
            close(list);
        return false;
    }
    bool fine = true;
    for (const struct dirent *entry; fine && (entry = readdir(names)) != NULL;) {
        const char *name = entry->d_name;
        fine = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, owner_name) == 0 || visit(folder, name);
    }
    closedir(names);
    return fine;
}

static bool is_plain(int folder, const char *name)
{
    struct stat about;
    return fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid();
}

static bool remove_file(int folder, const char *name)
{
    return unlinkat(folder, name, 0) == 0;
}

/* The folder is open; is its owner dead, and has all in it been removed? */
static bool empty(int folder)
{
    struct stat about;
    int file = openat(folder, owner_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return false;
    bool dead = is_ours(file, S_IFREG, &about) && flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &about) == 0 && about.st_nlink > 0;
    bool emptied = dead && each_name(folder, is_plain) && each_name(folder, remove_file) && remove_file(folder, owner_name);
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

uint32_t temporary_sweep(const char *name)
{
    uint32_t count = 0;
    DIR *parent = opendir(parent_folder());
    if (parent == NULL)
        return 0;
    for (const struct dirent *entry; (entry = readdir(parent)) != NULL;)
        count += is_name(entry->d_name, name) && sweep(dirfd(parent), entry->d_name);
    closedir(parent);
    return count;
}
