/* console_words.c - complaints about a line, and cutting words off it.
 *
 * Words are cut in place, since a word is never longer than the text that it is cut from: no allocation can fail, and
 * the line's length is the only limit. Values are taken whole ("0 0 1" is one vector), so quotes are needed only for
 * the empty text, for blanks at the ends, and for names of entities with blanks in paths.
 */
#include "console.h"

#include "output.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* --- words ------------------------------------------------------------------------------------------------------- */

static const char blanks[] = " \t\r\n\v\f";

/* `text` stands behind the opening quote. Returns the place behind the closing one, NULL where there is none.
 */
static char *cut_quoted(char *text)
{
    char *to = text;
    for (; *text != '"'; text++) {
        if (*text == '\\' && (text[1] == '"' || text[1] == '\\'))
            text++;
        if (*text == '\0')
            return NULL;
        *to++ = *text;
    }
    char *behind = text + 1;
    *to = '\0';
    return behind;
}

words_end_t console_words_next(char **rest, char **word)
{
    char *start = *rest + strspn(*rest, blanks);
    if (*start == '\0') {
        *rest = start;
        return WORDS_OVER;
    }
    if (*start == '"') {
        char *behind = cut_quoted(start + 1);
        if (behind == NULL || (*behind != '\0' && strchr(blanks, *behind) == NULL))
            return WORDS_UNCLOSED;
        *word = start + 1;
        *rest = behind;
        return WORDS_FOUND;
    }
    size_t length = strcspn(start, blanks);
    *word = start;
    *rest = start + length + (start[length] != '\0');
    start[length] = '\0';
    return WORDS_FOUND;
}

words_end_t console_words_value(char *rest, char **value)
{
    char *start = rest + strspn(rest, blanks);
    if (*start == '\0')
        return WORDS_OVER;
    if (*start == '"') {
        words_end_t end = console_words_next(&start, value);
        return end == WORDS_FOUND && start[strspn(start, blanks)] != '\0' ? WORDS_UNCLOSED : end;
    }
    size_t length = strlen(start);
    while (strchr(blanks, start[length - 1]) != NULL)
        length--;
    start[length] = '\0';
    *value = start;
    return WORDS_FOUND;
}
