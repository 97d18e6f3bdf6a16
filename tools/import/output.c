/* output.c - writing aside: "x.partial" becomes "x".
 *
 * An import writes many files and may fail at any of them, on a full disk for instance. No file that stood there
 * before is touched until all new files are whole; then each new file is brought to the disk and takes its place by
 * being renamed.
 *
 * Numbers are written as the shortest decimal from which the same float comes back: small files that people can
 * read, and nothing is lost. The program never leaves the C locale, so the decimal point is a point.
 */
#include "output.h"

#include "os/files.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { PARTIAL_BYTES = PATH_MAX_BYTES + 16 };

static bool partial_path(const char *path, char partial[PARTIAL_BYTES])
{
    if (strlen(path) >= PATH_MAX_BYTES)
        return complain("the path %.60s... is too long", path);
    snprintf(partial, PARTIAL_BYTES, "%s.partial", path);
    return true;
}

bool output_begin(output_t *output, const char *path)
{
    char partial[PARTIAL_BYTES];
    *output = (output_t){.path = path};
    if (!partial_path(path, partial))
        return false;
    output->file = fopen(partial, "wb");
    return output->file != NULL || complain("%s cannot be written: %s", partial, strerror(errno));
}

void output_printf(output_t *output, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    output->failed |= vfprintf(output->file, format, values) < 0;
    va_end(values);
}

void output_float(output_t *output, float value)
{
    char text[32] = "0";
    if (isfinite(value) && value != 0.0f) {
        int digits = 6;
        do
            snprintf(text, sizeof text, "%.*g", digits, (double)value);
        while (digits++ < 9 && strtof(text, NULL) != value);
    }
    output->failed |= fputs(text, output->file) < 0;
}

void output_quoted(output_t *output, const char *text)
{
    output_printf(output, "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            output_printf(output, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            output_printf(output, "\\u%04x", (unsigned)*text);
        else
            output_printf(output, "%c", *text);
    }
    output_printf(output, "\"");
}

bool output_end(output_t *output)
{
    errno = 0;
    bool failed = output->failed || ferror(output->file) != 0;
    failed |= fclose(output->file) != 0;
    if (!failed)
        return true;
    int why = errno;
    output_drop(output->path);
    return complain("%s cannot be written%s%s", output->path, why != 0 ? ": " : "", why != 0 ? strerror(why) : "");
}

bool output_keep(const char *path)
{
    char partial[PARTIAL_BYTES];
    if (!partial_path(path, partial))
        return false;
    char reason[256];
    return os_file_keep(partial, path, reason, sizeof reason) || complain("%s cannot be replaced: %s", path, reason);
}

void output_drop(const char *path)
{
    char partial[PARTIAL_BYTES];
    if (partial_path(path, partial))
        remove(partial);
}
