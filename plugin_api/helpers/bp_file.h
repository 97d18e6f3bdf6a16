/* bp_file.h - opening, removing and renaming files by paths as Backplane has them: UTF-8, with '/', of any length.
 *
 * On Linux these are fopen, remove and rename. On Windows fopen takes paths in the code page of the program, and none
 * of more than 260 characters; here a path is turned into what the system takes. Paths in options and properties of
 * type path are UTF-8 everywhere, so plugins that open files use these functions.
 *
 * Not here: replacing a file in one go (bp_file_api.keep); the reason of a failure (errno, as after fopen).
 */
#ifndef BP_FILE_H
#define BP_FILE_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#if defined(_WIN32)

enum { BP_FILE_ROOM = 4096, BP_FILE_LONG = 240 /* from here on the system wants whole paths with a prefix */ };

/* The next character of a text in UTF-8; a byte that is none stands for itself. */
static inline uint32_t bp_file_next(const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    uint32_t more = at[0] >= 0xF0 ? 3 : at[0] >= 0xE0 ? 2 : at[0] >= 0xC0 ? 1 : 0;
    uint32_t c = more == 0 ? at[0] : at[0] & (0x3Fu >> more);
    uint32_t n = 0;
    while (n < more && (at[1 + n] & 0xC0) == 0x80)
        c = c << 6 | (at[1 + n++] & 0x3Fu);
    *text += 1 + n;
    return c;
}

/* A path as the wide functions of the system take it; 0 where it does not fit. */
static inline int bp_file_path(const char *path, wchar_t *wide)
{
    wchar_t plain[BP_FILE_ROOM];
    size_t length = 0;
    while (*path != '\0' && length < BP_FILE_ROOM - 3) {
        uint32_t c = bp_file_next(&path);
        if (c > 0xFFFF)
            plain[length++] = (wchar_t)(0xD800 + ((c - 0x10000) >> 10));
        plain[length++] = (wchar_t)(c > 0xFFFF ? 0xDC00 + ((c - 0x10000) & 0x3FF) : c);
    }
    plain[length] = L'\0';
    if (*path != '\0' || _wfullpath(wide + 8, plain, BP_FILE_ROOM - 8) == NULL)
        return 0;
    length = wcslen(wide + 8);
    if (length < BP_FILE_LONG || wcsncmp(plain, L"\\\\?\\", 4) == 0)
        memmove(wide, plain, (wcslen(plain) + 1) * sizeof *wide);
    else if (wide[8] == L'\\' && wide[9] == L'\\') /* of another machine: \\server\share */
        memmove(wide + 8, wide + 10, (length - 1) * sizeof *wide), memcpy(wide, L"\\\\?\\UNC\\", 8 * sizeof *wide);
    else
        memmove(wide + 4, wide + 8, (length + 1) * sizeof *wide), memcpy(wide, L"\\\\?\\", 4 * sizeof *wide);
    return 1;
}

/* As fopen. [any] */
static inline FILE *bp_file_open(const char *path, const char *mode)
{
    wchar_t wide[BP_FILE_ROOM], how[8] = {0};
    for (size_t i = 0; i < 7 && mode[i] != '\0'; i++)
        how[i] = (wchar_t)mode[i];
    if (bp_file_path(path, wide))
        return _wfopen(wide, how);
    errno = ENOENT;
    return NULL;
}

/* As remove. [any] */
static inline int bp_file_remove(const char *path)
{
    wchar_t wide[BP_FILE_ROOM];
    return bp_file_path(path, wide) ? _wremove(wide) : -1;
}

/* As rename, which on Windows refuses a name that is taken. [any] */
static inline int bp_file_rename(const char *from, const char *to)
{
    wchar_t wide_from[BP_FILE_ROOM], wide_to[BP_FILE_ROOM];
    return bp_file_path(from, wide_from) && bp_file_path(to, wide_to) ? _wrename(wide_from, wide_to) : -1;
}

#else

static inline FILE *bp_file_open(const char *path, const char *mode)
{
    return fopen(path, mode);
}

static inline int bp_file_remove(const char *path)
{
    return remove(path);
}

static inline int bp_file_rename(const char *from, const char *to)
{
    return rename(from, to);
}

#endif

#endif
