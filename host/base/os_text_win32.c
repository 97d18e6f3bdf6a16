/* os_text_win32.c - texts to and from Windows. */
#include "os_win32.h"

#include <windows.h>

#include <stdio.h>

bool win32_path(const char *path, wchar_t *wide, int room)
{
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, room) > 0 ||
           MultiByteToWideChar(CP_ACP, 0, path, -1, wide, room) > 0;
}

bool win32_text(const wchar_t *wide, char *text, size_t size)
{
    int room = size < INT32_MAX ? (int)size : INT32_MAX;
    return room > 0 && WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, room, NULL, NULL) > 0;
}

void win32_describe(unsigned long code, char *error, size_t size)
{
    wchar_t wide[256];
    char text[3 * 256];
    DWORD flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
    DWORD length = FormatMessageW(flags, NULL, code, 0, wide, 256, NULL);
    while (length > 0 && wide[length - 1] <= L' ')
        wide[--length] = L'\0';
    if (length > 0 && win32_text(wide, text, sizeof text))
        snprintf(error, size, "%s (error %lu)", text, code);
    else
        snprintf(error, size, "error %lu", code);
}
