/* os_library_win32.c - shared libraries on Windows: LoadLibrary. */
#define _WIN32_WINNT 0x0602 /* Windows 8: the safe search flags of LoadLibraryEx */

#include "os_win32.h"

#include <windows.h>

#include <stdio.h>

const char os_library_suffix[] = ".dll";

/* Only a full path is safe from being searched for. A dot at its end keeps the system from adding ".dll"
 * to a name without an ending. */
static bool full_path(const char *path, wchar_t *full)
{
    wchar_t wide[PATH_ROOM];
    if (!win32_path(path, wide, PATH_ROOM))
        return false;
    DWORD length = GetFullPathNameW(wide, PATH_ROOM - 1, full, NULL);
    if (length == 0 || length >= PATH_ROOM - 1)
        return false;
    const wchar_t *name = wcsrchr(full, L'\\');
    if (wcschr(name != NULL ? name : full, L'.') == NULL)
        wcscpy(full + length, L".");
    return true;
}

void *os_library_open(const char *path, char *error, size_t size)
{
    wchar_t full[PATH_ROOM];
    if (!full_path(path, full)) {
        snprintf(error, size, "'%.200s' is not a path that the system understands", path);
        return NULL;
    }
    /* A library that cannot be loaded is an error here, not a box on the screen. */
    DWORD mode = 0;
    SetThreadErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX, &mode);
    HMODULE library =
        LoadLibraryExW(full, NULL, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
    DWORD code = GetLastError();
    SetThreadErrorMode(mode, NULL);
    if (library == NULL)
        win32_describe(code, error, size);
    return (void *)library;
}

void *os_library_symbol(void *library, const char *name)
{
    return (void *)(uintptr_t)GetProcAddress((HMODULE)library, name);
}

void os_library_close(void *library)
{
    if (library != NULL)
        FreeLibrary((HMODULE)library);
}

/* A module's handle is where its image begins; how long it is stands in its headers. */
bool os_library_image(void *library, const void **begin, const void **end)
{
    const char *base = library;
    const IMAGE_DOS_HEADER *dos = (const IMAGE_DOS_HEADER *)(const void *)base;
    const IMAGE_NT_HEADERS64 *headers = (const IMAGE_NT_HEADERS64 *)(const void *)(base + dos->e_lfanew);
    *begin = base;
    *end = base + headers->OptionalHeader.SizeOfImage;
    return true;
}
