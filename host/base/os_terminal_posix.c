/* os_terminal_posix.c - the terminal on Linux and its relatives. */
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1

#include "os.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_UNKNOWN = 80 };

bool os_is_terminal(int stream)
{
    return isatty(stream) == 1;
}

int os_terminal_columns(int stream)
{
    struct winsize window;
    if (ioctl(stream, TIOCGWINSZ, &window) != 0 || window.ws_col == 0)
        return COLUMNS_UNKNOWN;
    return window.ws_col;
}
