/* output.h - files that are written aside, and take their places when all of them are whole.
 *
 *     output_t out;
 *     if (output_begin(&out, path) && (output_printf(&out, ...), output_end(&out)))
 *         output_keep(path);
 *
 * Not here: making folders.
 */
#ifndef IMPORT_OUTPUT_H
#define IMPORT_OUTPUT_H

#include "import.h"

#include <stdio.h>

typedef struct output_t {
    FILE *file;
    const char *path;
    bool failed;
} output_t;

/* Begin a file that shall stand at `path`, which must live until output_end. false after a complaint. */
bool output_begin(output_t *output, const char *path);
void output_printf(output_t *output, const char *format, ...) PRINTS_LIKE(2, 3);

/* Write the shortest decimal that reads back as the same float; 0 for a number that is not finite. */
void output_float(output_t *output, float value);

/* A text with its quotes, as JSON wants it. The text is UTF-8. */
void output_quoted(output_t *output, const char *text);

/* Close the file that has been written. false, after a complaint, where it could not be written: then it is removed. */
bool output_end(output_t *output);

/* Give a file that was written its place, or remove it. */
bool output_keep(const char *path);
void output_drop(const char *path);

#endif
