/* os_path_win32.c - paths and folders on Windows. */
#include "os_win32.h"

#include <windows.h>

#include <stdio.h>
#include <string.h>

/* A path from the root of a drive or with a drive counts too: no folder can be put in front of it. */
bool os_path_is_absolute(const char *path)
{
    bool letter = (path[0] >= 'a' && path[0] <= 'z') || (path[0] >= 'A' && path[0] <= 'Z');
    return path[0] == '/' || path[0] == '\\' || (letter && path[1] == ':');
}

bool os_path_is_special(const char *path)
{
    (void)path;
    return false; /* devices are not reached by a file's path */
}

bool os_program_folder(char *path, size_t size)
{
    wchar_t program[PATH_ROOM];
    DWORD length = GetModuleFileNameW(NULL, program, PATH_ROOM);
    if (length == 0 || length >= PATH_ROOM)
        return false;
    wchar_t *end = wcsrchr(program, L'\\');
    if (end == NULL)
        return false;
    *end = L'\0';
    if (!win32_text(program, path, size))
        return false;
    for (char *c = path; *c != '\0'; c++)
        if (*c == '\\')
            *c = '/';
    return true;
}

bool os_folder_create(const char *path)
{
    wchar_t wide[PATH_ROOM];
    if (!win32_path(path, wide, PATH_ROOM))
        return false;
    if (CreateDirectoryW(wide, NULL))
        return true;
    DWORD attributes = GetLastError() == ERROR_ALREADY_EXISTS ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

bool os_folder_list(const char *path, void (*see)(void *data, const char *name), void *data)
{
    char text[PATH_ROOM];
    wchar_t wide[PATH_ROOM];
    WIN32_FIND_DATAW found;
    int length = snprintf(text, sizeof text, "%s/*", path);
    if (length < 0 || length >= PATH_ROOM || !win32_path(text, wide, PATH_ROOM))
        return false;
    HANDLE search = FindFirstFileW(wide, &found);
    if (search == INVALID_HANDLE_VALUE)
        return false;
    do {
        if (win32_text(found.cFileName, text, sizeof text) && strcmp(text, ".") != 0 && strcmp(text, "..") != 0)
            see(data, text);
    } while (FindNextFileW(search, &found));
    bool read = GetLastError() == ERROR_NO_MORE_FILES;
    FindClose(search);
    return read;
}
