/* temporary_win32.c - owners by a file that nobody else may open.
 *
 * The file is created and held in one call, so nobody comes in between; the system closes it with the process.
 */
#define WIN32_LEAN_AND_MEAN
#define _WIN32_WINNT 0x0602

#include "temporary.h"

#include <windows.h>

#include <stdio.h>
#include <string.h>

enum { PATH_ROOM = 4096, NAME_ROOM = 64 };

static const wchar_t owner_name[] = L".owner";

static bool to_system(const char *text, wchar_t *wide, int room)
{
    return MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, room) > 0;
}

/* A name in a folder. */
static bool join(const wchar_t *folder, const wchar_t *name, wchar_t *path)
{
    int length = _snwprintf(path, PATH_ROOM, L"%ls\\%ls", folder, name);
    return length > 0 && length < PATH_ROOM;
}

static HANDLE open_owner(const wchar_t *folder, DWORD how)
{
    wchar_t path[PATH_ROOM];
    if (!join(folder, owner_name, path))
        return INVALID_HANDLE_VALUE;
    return CreateFileW(path, GENERIC_READ | GENERIC_WRITE, 0, NULL, how, FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
}

/* A name that nobody has: CreateDirectory refuses one that is taken, and then the next is tried. */
bool temporary_create(temporary_t *folder, const char *name, char *path, size_t size)
{
    wchar_t parent[PATH_ROOM], wide[PATH_ROOM], stem[NAME_ROOM];
    DWORD length = GetTempPathW(PATH_ROOM, parent);
    if (length == 0 || length >= PATH_ROOM || !to_system(name, stem, NAME_ROOM))
        return false;
    for (unsigned i = 0; i < 1000; i++) {
        int written = _snwprintf(wide, PATH_ROOM, L"%ls%ls-%lu-%u", parent, stem, GetCurrentProcessId(), i);
        if (written < 0 || written >= PATH_ROOM)
            return false;
        if (CreateDirectoryW(wide, NULL)) {
            HANDLE owner = open_owner(wide, CREATE_NEW);
            folder->owner = owner == INVALID_HANDLE_VALUE ? -1 : (intptr_t)owner;
            return WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, (int)size, NULL, NULL) > 0;
        }
        if (GetLastError() != ERROR_ALREADY_EXISTS)
            return false;
    }
    return false;
}

void temporary_remove(temporary_t *folder, const char *path)
{
    wchar_t wide[PATH_ROOM], owner[PATH_ROOM];
    if (folder->owner != -1)
        CloseHandle((HANDLE)folder->owner);
    folder->owner = -1;
    if (!to_system(path, wide, PATH_ROOM))
        return;
    if (join(wide, owner_name, owner))
        DeleteFileW(owner);
    RemoveDirectoryW(wide);
}

/* --- sweeping ------------------------------------------------------------------------------------------------------------- */

static bool is_dots(const wchar_t *name)
{
    return wcscmp(name, L".") == 0 || wcscmp(name, L"..") == 0;
}

/* Are there only plain files in it? Removed: they and the owner's are gone as well. */
static bool each_file(const wchar_t *folder, bool removed)
{
    wchar_t path[PATH_ROOM];
    WIN32_FIND_DATAW found;
    if (!join(folder, L"*", path))
        return false;
    HANDLE search = FindFirstFileW(path, &found);
    bool fine = search != INVALID_HANDLE_VALUE;
    while (fine) {
        bool plain = (found.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)) == 0;
        if (!is_dots(found.cFileName))
            fine = plain && (!removed || (join(folder, found.cFileName, path) && DeleteFileW(path)));
        if (!FindNextFileW(search, &found))
            break;
    }
    if (search != INVALID_HANDLE_VALUE)
        FindClose(search);
    return fine;
}

static bool sweep(const wchar_t *folder)
{
    HANDLE owner = open_owner(folder, OPEN_EXISTING);
    if (owner == INVALID_HANDLE_VALUE)
        return false; /* it has none, or he lives */
    bool plain = each_file(folder, false);
    CloseHandle(owner);
    return plain && each_file(folder, true) && RemoveDirectoryW(folder);
}

uint32_t temporary_sweep(const char *name)
{
    wchar_t parent[PATH_ROOM], path[PATH_ROOM], stem[NAME_ROOM];
    WIN32_FIND_DATAW found;
    uint32_t count = 0;
    DWORD length = GetTempPathW(PATH_ROOM, parent);
    if (length == 0 || length >= PATH_ROOM || !to_system(name, stem, NAME_ROOM) ||
        _snwprintf(path, PATH_ROOM, L"%ls%ls-*", parent, stem) < 0)
        return 0;
    HANDLE search = FindFirstFileW(path, &found);
    if (search == INVALID_HANDLE_VALUE)
        return 0;
    do {
        DWORD kind = found.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT);
        int written = _snwprintf(path, PATH_ROOM, L"%ls%ls", parent, found.cFileName);
        if (kind == FILE_ATTRIBUTE_DIRECTORY && written > 0 && written < PATH_ROOM)
            count += sweep(path);
    } while (FindNextFileW(search, &found));
    FindClose(search);
    return count;
}
