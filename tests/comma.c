/* comma.c - makes the file LC_NUMERIC of a locale, and asks for it (comma.h).
 *
 * The file begins with its kind and the number of its entries; then come where each entry begins, and the entries: the
 * point, what stands between thousands and how these are grouped, both characters again as code points, and the name
 * of the character set.
 */
#define _POSIX_C_SOURCE 200809L

#include "comma.h"

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(_WIN32)
#include <sys/stat.h>

static bool make_locale(const char *folder)
{
    static const uint32_t head[8] = {0x20031115u ^ 1u, 6, 32, 34, 36, 40, 44, 48};
    static const char entries[] = ",\0.\0\x03\x03\0\0,\0\0\0.\0\0\0UTF-8";
    char path[512];
    snprintf(path, sizeof path, "%s/comma", folder);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/comma/LC_NUMERIC", folder);
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    bool good = fwrite(head, sizeof head, 1, file) == 1 && fwrite(entries, sizeof entries, 1, file) == 1;
    return fclose(file) == 0 && good && setenv("LOCPATH", folder, 1) == 0;
}
#else
static bool make_locale(const char *folder)
{
    (void)folder;
    return false;
}
#endif

static bool has_comma(void)
{
    return strcmp(localeconv()->decimal_point, ",") == 0;
}

bool comma_begin(const char *folder)
{
    static const char *const known[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "German_Germany.1252", "de-DE"};
    if (make_locale(folder) && setlocale(LC_NUMERIC, "comma") != NULL && has_comma())
        return true;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (setlocale(LC_NUMERIC, known[i]) != NULL && has_comma())
            return true;
    }
    return false;
}

void comma_end(void)
{
    setlocale(LC_NUMERIC, "C");
}
