/* os_file_win32.c - whole files on Windows: mapped to read them, replaced by renaming.
 *
 * MoveFileEx with WRITE_THROUGH comes back when the new name is on the disk; there is no folder to be brought there.
 */
#include "os_win32.h"

#include <windows.h>

#include <stdio.h>

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
    return CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
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

bool os_file_replace(const char *path, const void *bytes, size_t size, char *error, size_t error_size)
{
    char text[PATH_ROOM];
    wchar_t wide[PATH_ROOM], beside[PATH_ROOM];
    int length = snprintf(text, sizeof text, "%s.%lu.part", path, (unsigned long)GetCurrentProcessId());
    if (length < 0 || length >= PATH_ROOM || !win32_path(path, wide, PATH_ROOM) || !win32_path(text, beside, PATH_ROOM)) {
        snprintf(error, error_size, "'%.200s' is not a path that the system understands", path);
        return false;
    }
    HANDLE file = CreateFileW(beside, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return explain(error, error_size);
    bool good = (write_all(file, bytes, size) && FlushFileBuffers(file)) || explain(error, error_size);
    CloseHandle(file);
    if (good && !MoveFileExW(beside, wide, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
        good = explain(error, error_size);
    if (!good)
        DeleteFileW(beside);
    return good;
}
