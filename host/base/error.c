/* error.c - formatting of sentences into fixed buffers.
 *
 * Reporting a failure must not fail: no memory is taken here, a sentence that is too long is cut.
 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bp_result_t error_set(error_text_t *error, bp_result_t code, const char *format, ...)
{
    char text[sizeof error->text];
    va_list arguments;
    if (error->quiet)
        return code;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(error->text, text, strlen(text) + 1);
    return code;
}

bp_result_t error_prefix(error_text_t *error, bp_result_t code, const char *format, ...)
{
    char text[sizeof error->text];
    va_list arguments;
    if (error->quiet)
        return code;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < sizeof text)
        snprintf(text + length, sizeof text - (size_t)length, "%s", error->text);
    memcpy(error->text, text, strlen(text) + 1);
    return code;
}

bp_result_t error_memory(error_text_t *error, const char *doing)
{
    return error_set(error, BP_ERROR_MEMORY, "out of memory while %s", doing);
}

static const char *level_name(int32_t level)
{
    static const char *const names[] = {"debug", "info", "warning", "error"};
    return level >= 0 && level < 4 ? names[level] : "log";
}

void log_write(const bp_log_i *log, int32_t level, const char *source, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (log->write != NULL)
        log->write(log->context, level, source, text);
    else if (level >= BP_LOG_WARNING)
        fprintf(stderr, "%s: %s: %s\n", source, level_name(level), text);
}

/* --- text -------------------------------------------------------------------------------------------------------- */

/* Words, lists and the distance between words.
 *
 * The distance is Damerau's restricted edit distance (insert, remove, replace, swap neighbours), kept in three
 * rows of fixed length: words longer than that are simply never near.
 */

void text_append(text_t *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text->chars + text->length, sizeof text->chars - text->length, format, arguments);
    va_end(arguments);
    if (n > 0)
        text->length += (size_t)n;
    if (text->length > sizeof text->chars - 1)
        text->length = sizeof text->chars - 1;
}

static bool separates(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',';
}

const char *text_next_word(const char *list, char *word, size_t size)
{
    while (separates(*list))
        list++;
    if (*list == '\0')
        return NULL;
    size_t length = 0;
    for (; *list != '\0' && !separates(*list); list++) {
        if (length + 1 < size)
            word[length++] = *list;
    }
    word[length] = '\0';
    return list;
}

enum { LONGEST = 63 };

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return UINT32_MAX;
    uint32_t rows[3][LONGEST + 1];
    for (uint32_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        uint32_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = (uint32_t)i;
        for (size_t j = 1; j <= m; j++) {
            uint32_t replace = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = smaller(replace, smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], above2[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

void nearest_consider(nearest_t *nearest, const char *candidate)
{
    uint32_t d = distance(nearest->wanted, candidate);
    if (nearest->best == NULL || d < nearest->distance) {
        nearest->best = candidate;
        nearest->distance = d;
    }
}

const char *nearest_hint(const nearest_t *nearest, text_t *text)
{
    size_t length = strlen(nearest->wanted);
    text->length = 0;
    text->chars[0] = '\0';
    if (nearest->best != NULL && nearest->distance <= (length < 4 ? 1 : length < 8 ? 2 : 3))
        text_append(text, "; did you mean '%s'?", nearest->best);
    return text->chars;
}
