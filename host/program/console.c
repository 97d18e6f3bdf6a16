/* console.c - complaints about a line, and cutting words off it. */
#include "console.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_MAX = 1024 };

bool console_refuse(const console_t *console, const char *format, ...)
{
    char text[MESSAGE_MAX];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (console->interactive)
        complain("%s", text);
    else
        complain("line %" PRIu64 ": %s", console->line, text);
    return false;
}

bool console_refuse_unclosed(const console_t *console)
{
    return console_refuse(console, "a quoted word ends with a quote, and a blank or nothing behind it");
}

bool console_refuse_memory(const console_t *console)
{
    return console_refuse(console, "out of memory");
}

bool console_take_words(const console_t *console, char *rest, char **words, uint32_t most)
{
    char *word = NULL;
    words_end_t end = WORDS_FOUND;
    for (uint32_t i = 0; i < most; i++) {
        end = console_words_next(&rest, &word);
        words[i] = end == WORDS_FOUND ? word : NULL;
        if (end == WORDS_UNCLOSED)
            return console_refuse_unclosed(console);
    }
    end = console_words_next(&rest, &word);
    return end == WORDS_OVER || console_refuse(console, "'%s' is one word too many", word);
}

bool console_takes_nothing(const console_t *console, char *rest)
{
    return console_take_words(console, rest, NULL, 0);
}
