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
