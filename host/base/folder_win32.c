/* folder_win32.c - stamps, and whether somebody is writing; no notices.
 *
 * Comparing the stamps of a few dozen files twenty times a second costs less than a thousandth of a processor; the notices of this
 * system (ReadDirectoryChangesW) do not say when a writer is done either, which here is asked by opening the file alone.
 */
#include "folder.h"

#include "os_win32.h"

#include <windows.h>

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
