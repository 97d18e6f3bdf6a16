/* os_win32.h - what the files about Windows share: paths as the system takes them, and its sentences.
 *
 * Paths are UTF-8 outside and UTF-16 inside; one that is not UTF-8 is taken as the process's own code
 * page, which is what main() is given. Outside, '/' separates; inside, the system turns it round.
 *
 * Inner to *_win32.c.
 */
#ifndef HOST_OS_OS_WIN32_H
#define HOST_OS_OS_WIN32_H

#include "os.h"

#include <windows.h>

#include <wchar.h>

enum { PATH_ROOM = 4096 };

/* From here on an exit code is a negative number that a program has returned; others from 0xC0000000 on are
 * exceptions. */
#define OS_NEGATIVE 0xF0000000u

/* A text as the system takes it, into `room` characters; false where it does not fit or is no text. */
bool win32_wide(const char *text, wchar_t *wide, int room);

/* Give a path that is longer than the system takes by itself (260 characters) the form in which it takes it: whole, and
 * with a prefix. Any other stays as it is. false where it does not fit. */
bool win32_lengthen(wchar_t *wide, int room);

/* Both: a path as the system takes it. */
bool win32_path(const char *path, wchar_t *wide, int room);

/* A text of the system's as UTF-8; false where it does not fit. */
bool win32_text(const wchar_t *wide, char *text, size_t size);

/* Start the program of a line, in `folder` (NULL: in the working directory), with `flags` of CreateProcess. The program
 * gets the handles `in` (NULL: none), `out` and `errors`, which must be open to be inherited, and no others: a file of
 * this process's that a child holds too cannot be replaced for as long as the child runs, and a pipe or a socket has no
 * end. */
bool win32_start(wchar_t *line, const wchar_t *folder, DWORD flags, HANDLE in, HANDLE out, HANDLE errors,
                 PROCESS_INFORMATION *child);

/* The system's sentence about an error's code, without the line end that it puts behind. */
void win32_describe(unsigned long code, char *error, size_t size);

#endif
