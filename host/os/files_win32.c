/* files_win32.c - files on Windows: whole files, paths, folders, temporary folders, stamps.
 *
 * Whole files are mapped to read them, and replaced by renaming. MoveFileEx with WRITE_THROUGH comes back when the new
 * name is on the disk; there is no folder to be brought there.
 */
#define WIN32_LEAN_AND_MEAN
#define _WIN32_WINNT 0x0602

#include "files.h"

#include "os_win32.h"

#include <windows.h>

#include <errno.h>
#include <io.h>
#include <stdio.h>
#include <string.h>

static bool explain(char *error, size_t size)
{
    win32_describe(GetLastError(), error, size);
    return false;
}

static HANDLE open_for_reading(const char *path)
{
    wchar_t wide[PATH_ROOM];
    if (!win32_path(path, wide, PATH_ROOM))
        return INVALID_HANDLE_VALUE;
    return CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                       FILE_ATTRIBUTE_NORMAL, NULL);
}

const void *os_file_map(const char *path, size_t *size, char *error, size_t error_size)
{
    static const _Alignas(16) char nothing[16];
    LARGE_INTEGER length = {.QuadPart = 0};
    const void *bytes = NULL;
    HANDLE file = open_for_reading(path), map = NULL;
    if (file != INVALID_HANDLE_VALUE && GetFileSizeEx(file, &length)) {
        if (length.QuadPart == 0)
            bytes = nothing;
        else if ((map = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL)) != NULL)
            bytes = MapViewOfFile(map, FILE_MAP_READ, 0, 0, 0);
    }
    if (bytes == NULL)
        explain(error, error_size);
    *size = (size_t)length.QuadPart;
    if (map != NULL)
        CloseHandle(map);
    if (file != INVALID_HANDLE_VALUE)
        CloseHandle(file);
    return bytes;
}

FILE *os_file_open(const char *path, const char *mode)
{
    wchar_t wide[PATH_ROOM], how[8];
    if (!win32_path(path, wide, PATH_ROOM) || MultiByteToWideChar(CP_UTF8, 0, mode, -1, how, 8) == 0) {
        errno = ENOENT;
        return NULL;
    }
    return _wfopen(wide, how);
}

bool os_file_remove(const char *path)
{
    wchar_t wide[PATH_ROOM];
    return win32_path(path, wide, PATH_ROOM) && (DeleteFileW(wide) || RemoveDirectoryW(wide));
}

bool os_stream_sync(FILE *file)
{
    HANDLE handle = (HANDLE)_get_osfhandle(_fileno(file));
    DWORD kind = GetFileType(handle); /* flushing a pipe would wait for its reader */
    if (kind == FILE_TYPE_PIPE || kind == FILE_TYPE_CHAR || FlushFileBuffers(handle))
        return true;
    errno = GetLastError() == ERROR_DISK_FULL ? ENOSPC : EIO;
    return false;
}

bool os_stream_seek(FILE *file, uint64_t at)
{
    return at <= INT64_MAX && _fseeki64(file, (int64_t)at, SEEK_SET) == 0;
}

void os_file_unmap(const void *bytes, size_t size)
{
    if (size > 0)
        UnmapViewOfFile(bytes);
}

static bool write_all(HANDLE file, const char *bytes, size_t size)
{
    const size_t most = (size_t)1 << 30;
    while (size > 0) {
        DWORD written = 0;
        if (!WriteFile(file, bytes, (DWORD)(size < most ? size : most), &written, NULL))
            return false;
        bytes += written;
        size -= written;
    }
    return true;
}

enum { PART_TRIES = 50, PART_NAP_MS = 10 }; /* half a second */

/* Open the part, empty, for this process alone to write to: a part that a killed process has left is written over. The
 * part can be given its name while the handle is open. */
static HANDLE open_part(const wchar_t *part)
{
    HANDLE file = INVALID_HANDLE_VALUE;
    for (int tries = 0; tries < PART_TRIES && file == INVALID_HANDLE_VALUE; tries++) {
        file = CreateFileW(part, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, CREATE_ALWAYS,
                           FILE_ATTRIBUTE_NORMAL, NULL);
        if (file == INVALID_HANDLE_VALUE && GetLastError() != ERROR_SHARING_VIOLATION)
            break;
        if (file == INVALID_HANDLE_VALUE)
            Sleep(PART_NAP_MS);
    }
    return file;
}

/* Does what is at `path` look as if it could be replaced? A folder and a file that may not be written to cannot. */
static bool is_replaceable(const wchar_t *path)
{
    DWORD kind = GetFileAttributesW(path);
    return kind == INVALID_FILE_ATTRIBUTES || (kind & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_READONLY)) == 0;
}

/* A file that a process has open, to read it, cannot be replaced: the process is given half a second to close it. */
static bool move_part(const wchar_t *part, const wchar_t *path)
{
    for (int tries = 1; !MoveFileExW(part, path, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH); tries++) {
        DWORD why = GetLastError();
        bool taken = why == ERROR_SHARING_VIOLATION || (why == ERROR_ACCESS_DENIED && is_replaceable(path));
        SetLastError(why);
        if (!taken || tries == PART_TRIES)
            return false;
        Sleep(PART_NAP_MS);
    }
    return true;
}

static bool give_name(const wchar_t *part, const wchar_t *path, bool good, char *error, size_t error_size)
{
    if (good && !move_part(part, path))
        good = explain(error, error_size);
    if (!good)
        DeleteFileW(part);
    return good;
}

static bool wide_paths(const char *part, const char *path, wchar_t *wide_part, wchar_t *wide_path, char *error,
                       size_t error_size)
{
    if (win32_path(path, wide_path, PATH_ROOM) && win32_path(part, wide_part, PATH_ROOM))
        return true;
    snprintf(error, error_size, "'%.200s' is not a path that the system understands", path);
    return false;
}

/* The system gives the path of a device ("NUL", "CON", a named pipe) its whole form, which begins in this way. */
static bool is_device(const wchar_t *path)
{
    wchar_t whole[PATH_ROOM];
    DWORD length = GetFullPathNameW(path, PATH_ROOM, whole, NULL);
    return length > 0 && length < PATH_ROOM && wcsncmp(whole, L"\\\\.\\", 4) == 0;
}

static bool write_to_device(const wchar_t *path, const void *bytes, size_t size)
{
    HANDLE file = CreateFileW(path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
    bool good = file != INVALID_HANDLE_VALUE && write_all(file, bytes, size);
    DWORD why = GetLastError();
    if (file != INVALID_HANDLE_VALUE)
        CloseHandle(file);
    SetLastError(why);
    return good;
}

bool os_file_replace(const char *path, const void *bytes, size_t size, char *error, size_t error_size)
{
    char text[PATH_ROOM];
    wchar_t wide[PATH_ROOM], part[PATH_ROOM];
    int length = snprintf(text, sizeof text, "%s.part", path);
    if (length < 0 || length >= PATH_ROOM) {
        SetLastError(ERROR_FILENAME_EXCED_RANGE);
        return explain(error, error_size);
    }
    if (!wide_paths(text, path, part, wide, error, error_size))
        return false;
    if (is_device(wide))
        return write_to_device(wide, bytes, size) || explain(error, error_size);
    HANDLE file = open_part(part);
    if (file == INVALID_HANDLE_VALUE)
        return explain(error, error_size);
    bool good = (write_all(file, bytes, size) && FlushFileBuffers(file)) || explain(error, error_size);
    good = give_name(part, wide, good, error, error_size);
    CloseHandle(file); /* not earlier: another process could take the part for one that was left */
    return good;
}

bool os_file_keep(const char *part, const char *path, char *error, size_t error_size)
{
    wchar_t wide[PATH_ROOM], wide_part[PATH_ROOM];
    if (!wide_paths(part, path, wide_part, wide, error, error_size)) {
        os_file_remove(part);
        return false;
    }
    HANDLE file = CreateFileW(wide_part, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    bool good = (file != INVALID_HANDLE_VALUE && FlushFileBuffers(file)) || explain(error, error_size);
    if (file != INVALID_HANDLE_VALUE)
        CloseHandle(file);
    return give_name(wide_part, wide, good, error, error_size);
}

/* --- path -------------------------------------------------------------------------------------------------------- */

/* Paths and folders on Windows. */

/* A path from the root of a drive or with a drive counts too: no folder can be put in front of it. */
bool os_path_is_absolute(const char *path)
{
    bool letter = (path[0] >= 'a' && path[0] <= 'z') || (path[0] >= 'A' && path[0] <= 'Z');
    return path[0] == '/' || path[0] == '\\' || (letter && path[1] == ':');
}

const char *os_path_separator(const char *path)
{
    const char *last = NULL;
    for (; *path != '\0'; path++)
        last = *path == '/' || *path == '\\' ? path : last;
    return last;
}

bool os_path_is_special(const char *path)
{
    wchar_t wide[PATH_ROOM];
    return win32_path(path, wide, PATH_ROOM) && is_device(wide);
}

bool os_path_is_missing(const char *path)
{
    wchar_t wide[PATH_ROOM];
    if (!win32_path(path, wide, PATH_ROOM) || GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES)
        return false;
    DWORD why = GetLastError();
    return why == ERROR_FILE_NOT_FOUND || why == ERROR_PATH_NOT_FOUND;
}

static bool module_folder(HMODULE module, char *path, size_t size)
{
    wchar_t file[PATH_ROOM];
    DWORD length = GetModuleFileNameW(module, file, PATH_ROOM);
    if (length == 0 || length >= PATH_ROOM)
        return false;
    wchar_t *end = wcsrchr(file, L'\\');
    if (end == NULL)
        return false;
    *end = L'\0';
    bool prefixed = wcsncmp(file, L"\\\\?\\", 4) == 0 && file[5] == L':'; /* as the program was started */
    if (!win32_text(prefixed ? file + 4 : file, path, size))
        return false;
    for (char *c = path; *c != '\0'; c++)
        if (*c == '\\')
            *c = '/';
    return true;
}

bool os_program_folder(char *path, size_t size)
{
    return module_folder(NULL, path, size);
}

bool os_library_folder(char *path, size_t size)
{
    static const char here = 0;
    HMODULE module;
    DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    if (!GetModuleHandleExW(flags, (LPCWSTR)(const void *)&here, &module))
        return os_program_folder(path, size);
    return module_folder(module, path, size);
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

bool os_folder_runs_code(const char *path)
{
    (void)path;
    return true;
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

/* --- temporary --------------------------------------------------------------------------------------------------- */

/* Owners by a file that no other process may open.
 *
 * The file is created and held in one call, so no other process can open it in between; the system closes it with the
 * process.
 */

enum { NAME_ROOM = 64 };

static const wchar_t owner_name[] = L".owner";

/* A name in a folder. */
static bool join(const wchar_t *folder, const wchar_t *name, wchar_t *path)
{
    int length = _snwprintf(path, PATH_ROOM, L"%ls\\%ls", folder, name);
    return length > 0 && length < PATH_ROOM && win32_lengthen(path, PATH_ROOM);
}

static HANDLE open_owner(const wchar_t *folder, DWORD how)
{
    wchar_t path[PATH_ROOM];
    if (!join(folder, owner_name, path))
        return INVALID_HANDLE_VALUE;
    return CreateFileW(path, GENERIC_READ | GENERIC_WRITE, 0, NULL, how,
                       FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
}

static bool is_folder(const wchar_t *path)
{
    wchar_t wide[PATH_ROOM];
    wcscpy(wide, path);
    DWORD attributes = win32_lengthen(wide, PATH_ROOM) ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

/* The folder for temporary ones, with a separator at its end. GetTempPath would find the same one, but fails for a long
 * path. */
static bool find_parent(const char *parent, wchar_t *wide)
{
    static const wchar_t *const names[] = {L"TMPDIR", L"TMP", L"TEMP"};
    DWORD length = 0;
    for (size_t i = 0; parent == NULL && length == 0 && i < sizeof names / sizeof names[0]; i++) {
        length = GetEnvironmentVariableW(names[i], wide, PATH_ROOM - 1);
        length = length < PATH_ROOM - 1 && length > 0 && is_folder(wide) ? length : 0;
    }
    if (parent == NULL && length == 0) {
        length = GetTempPathW(PATH_ROOM, wide);
        return length > 0 && length < PATH_ROOM;
    }
    if (parent != NULL && !win32_wide(parent, wide, PATH_ROOM - 1))
        return false;
    wcscat(wide, L"\\");
    return true;
}

bool temporary_create(temporary_t *folder, const char *parent_path, const char *name, char *path, size_t size)
{
    wchar_t parent[PATH_ROOM], wide[PATH_ROOM], said[PATH_ROOM], stem[NAME_ROOM];
    if (!find_parent(parent_path, parent) || !win32_wide(name, stem, NAME_ROOM))
        return false;
    /* CreateDirectory refuses a name that is taken, and then the next is tried. */
    for (unsigned i = 0; i < 1000; i++) {
        int written = _snwprintf(said, PATH_ROOM, L"%ls%ls-%lu-%u", parent, stem, GetCurrentProcessId(), i);
        if (written < 0 || written >= PATH_ROOM || !win32_lengthen(wcscpy(wide, said), PATH_ROOM) ||
            !win32_text(said, path, size))
            return false;
        if (CreateDirectoryW(wide, NULL)) {
            HANDLE owner = open_owner(wide, CREATE_NEW);
            folder->owner = owner == INVALID_HANDLE_VALUE ? -1 : (intptr_t)owner;
            folder->process = os_process_number();
            return true;
        }
        if (GetLastError() != ERROR_ALREADY_EXISTS)
            return false;
    }
    return false;
}

/* --- removing ----------------------------------------------------------------------------------------------------- */

static bool is_dots(const wchar_t *name)
{
    return wcscmp(name, L".") == 0 || wcscmp(name, L"..") == 0;
}

/* Are there only plain files in the folder? With `removed`, all of them but the owner's are removed too. */
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
        if (!is_dots(found.cFileName) && !(removed && wcscmp(found.cFileName, owner_name) == 0))
            fine = plain && (!removed || (join(folder, found.cFileName, path) && DeleteFileW(path)));
        if (!FindNextFileW(search, &found))
            break;
    }
    if (search != INVALID_HANDLE_VALUE)
        FindClose(search);
    return fine;
}

/* A folder that cannot be emptied keeps its owner's file, by which a later sweep knows it. */
static bool remove_folder(const wchar_t *folder)
{
    wchar_t path[PATH_ROOM];
    if (!each_file(folder, true))
        return false;
    if (join(folder, owner_name, path))
        DeleteFileW(path);
    return RemoveDirectoryW(folder);
}

bool temporary_is_own(const temporary_t *folder)
{
    return folder->process == os_process_number();
}

void temporary_remove(temporary_t *folder, const char *path)
{
    wchar_t wide[PATH_ROOM];
    if (folder->owner != -1)
        CloseHandle((HANDLE)folder->owner);
    folder->owner = -1;
    if (win32_path(path, wide, PATH_ROOM))
        remove_folder(wide);
}

static bool sweep(const wchar_t *folder)
{
    HANDLE owner = open_owner(folder, OPEN_EXISTING);
    if (owner == INVALID_HANDLE_VALUE)
        return false; /* the folder has no owner's file, or its owner lives */
    bool plain = each_file(folder, false);
    CloseHandle(owner);
    return plain && remove_folder(folder);
}

uint32_t temporary_sweep(const char *parent_path, const char *name)
{
    wchar_t parent[PATH_ROOM], path[PATH_ROOM], stem[NAME_ROOM];
    WIN32_FIND_DATAW found;
    uint32_t count = 0;
    if (!find_parent(parent_path, parent) || !win32_wide(name, stem, NAME_ROOM) ||
        _snwprintf(path, PATH_ROOM, L"%ls%ls-*", parent, stem) < 0 || !win32_lengthen(path, PATH_ROOM))
        return 0;
    HANDLE search = FindFirstFileW(path, &found);
    if (search == INVALID_HANDLE_VALUE)
        return 0;
    do {
        DWORD kind = found.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT);
        int written = _snwprintf(path, PATH_ROOM, L"%ls%ls", parent, found.cFileName);
        if (kind == FILE_ATTRIBUTE_DIRECTORY && written > 0 && written < PATH_ROOM && win32_lengthen(path, PATH_ROOM))
            count += sweep(path);
    } while (FindNextFileW(search, &found));
    FindClose(search);
    return count;
}

/* --- stamps ------------------------------------------------------------------------------------------------------ */

/* Stamps, and whether a file is being written; Windows has no notices that serve (reload/folder.h).
 *
 * Comparing the stamps of a few dozen files twenty times a second costs less than a thousandth of a processor. The
 * notices of Windows (ReadDirectoryChangesW) do not say when a writer is done either; here a file is opened for this
 * process alone to find that out.
 */

bool file_stamp(const char *path, file_stamp_t *stamp)
{
    wchar_t wide[PATH_ROOM];
    WIN32_FILE_ATTRIBUTE_DATA data;
    *stamp = (file_stamp_t){0};
    if (!win32_path(path, wide, PATH_ROOM) || !GetFileAttributesExW(wide, GetFileExInfoStandard, &data) ||
        (data.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
        return false;
    stamp->size = (uint64_t)data.nFileSizeHigh << 32 | data.nFileSizeLow;
    stamp->written = ((uint64_t)data.ftLastWriteTime.dwHighDateTime << 32 | data.ftLastWriteTime.dwLowDateTime) * 100;
    stamp->id = (uint64_t)data.ftCreationTime.dwHighDateTime << 32 | data.ftCreationTime.dwLowDateTime;
    return true;
}

bool file_is_closed(const char *path)
{
    wchar_t wide[PATH_ROOM];
    if (!win32_path(path, wide, PATH_ROOM))
        return true;
    HANDLE file = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return GetLastError() != ERROR_SHARING_VIOLATION;
    CloseHandle(file);
    return true;
}
