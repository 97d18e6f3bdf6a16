/* os_terminal_win32.c - the console of Windows. */
#include "os.h"

#include <windows.h>

enum { COLUMNS_UNKNOWN = 80 };

static HANDLE standard_handle(int stream)
{
    static const DWORD handles[] = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};
    return stream >= 0 && stream < 3 ? GetStdHandle(handles[stream]) : INVALID_HANDLE_VALUE;
}

/* Not _isatty: that takes the null device for a terminal. */
bool os_is_terminal(int stream)
{
    DWORD mode;
    return GetConsoleMode(standard_handle(stream), &mode) != 0;
}

int os_terminal_columns(int stream)
{
    CONSOLE_SCREEN_BUFFER_INFO screen;
    if (!GetConsoleScreenBufferInfo(standard_handle(stream), &screen))
        return COLUMNS_UNKNOWN;
    int columns = screen.srWindow.Right - screen.srWindow.Left + 1;
    return columns > 0 ? columns : COLUMNS_UNKNOWN;
}
