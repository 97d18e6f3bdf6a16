/* os_program_win32.c - running other programs on Windows: CreateProcess.
 *
 * This system hands a program one line of text, which the program's C library cuts into arguments again: so quoting them is ours.
 */
#include "os_win32.h"

#include <windows.h>

#include <stdlib.h>

const char os_program_suffix[] = ".exe";

/* The command line of another program; the system takes no longer one. */
enum { LINE_ROOM = 32767 };
typedef struct line_t {
    size_t length; /* LINE_ROOM: it was too long */
    wchar_t text[LINE_ROOM + 1];
} line_t;

static void put(line_t *line, wchar_t c, size_t times)
{
    for (; times > 0 && line->length < LINE_ROOM; times--)
        line->text[line->length++] = c;
    line->text[line->length] = L'\0';
}

/* Append an argument as the C library of the other program will cut it out again: in quotes, with a backslash before
 * each quote, and twice the backslashes that stand before a quote or at the end. */
static bool put_argument(line_t *line, const char *argument)
{
    wchar_t wide[PATH_ROOM];
    size_t slashes = 0;
    if (!win32_path(argument, wide, PATH_ROOM))
        return false;
    put(line, L' ', line->length > 0);
    put(line, L'"', 1);
    for (const wchar_t *c = wide; *c != L'\0'; c++) {
        if (*c == L'"')
            put(line, L'\\', slashes + 1);
        slashes = *c == L'\\' ? slashes + 1 : 0;
        put(line, *c, 1);
    }
    put(line, L'\\', slashes);
    put(line, L'"', 1);
    return line->length < LINE_ROOM;
}

static bool run_line(const char *path, wchar_t *line, int *status)
{
    STARTUPINFOW how = {.cb = sizeof how};
    PROCESS_INFORMATION child;
    wchar_t wide[PATH_ROOM];
    DWORD code;
    if (!win32_path(path, wide, PATH_ROOM) || !CreateProcessW(wide, line, NULL, NULL, TRUE, 0, NULL, NULL, &how, &child))
        return false;
    bool ended = WaitForSingleObject(child.hProcess, INFINITE) == WAIT_OBJECT_0 && GetExitCodeProcess(child.hProcess, &code);
    CloseHandle(child.hThread);
    CloseHandle(child.hProcess);
    if (!ended)
        return false;
    *status = (int)code; /* an exception's code has its highest bit set, so it is negative */
    return true;
}

bool os_program_run(const char *path, const char *const *arguments, int *status)
{
    line_t *line = malloc(sizeof *line);
    if (line == NULL)
        return false;
    line->length = 0;
    bool fine = true;
    for (; fine && *arguments != NULL; arguments++)
        fine = put_argument(line, *arguments);
    fine = fine && run_line(path, line->text, status);
    free(line);
    return fine;
}
