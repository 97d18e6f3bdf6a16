/* os_path_posix.c - paths and folders on Linux and its relatives. */
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1

#include "os.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

enum { PATH_ROOM = 4096 };

bool os_path_is_absolute(const char *path)
{
    return path[0] == '/';
}

bool os_path_is_special(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
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
