/* new_text.c - text that grows, and templates filled in.
 *
 * Where memory runs out the text stays as it is and says so, so that code that writes a file need not look after each
 * line.
 */
#include "new.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_bytes(new_text_t *text, const char *more, size_t length)
{
    if (text->length + length + 1 > text->room) {
        size_t room = (text->length + length + 1) * 2;
        char *chars = realloc(text->chars, room);
        text->failed = text->failed || chars == NULL;
        if (chars == NULL)
            return;
        text->chars = chars;
        text->room = room;
    }
    memcpy(text->chars + text->length, more, length);
    text->length += length;
    text->chars[text->length] = '\0';
}

void new_text_add(new_text_t *text, const char *more)
{
    add_bytes(text, more, strlen(more));
}

void new_text_addf(new_text_t *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int length = vsnprintf(NULL, 0, format, values);
    va_end(values);
    char *line = length < 0 ? NULL : malloc((size_t)length + 1);
    text->failed = text->failed || line == NULL;
    if (line == NULL)
        return;
    va_start(values, format);
    vsnprintf(line, (size_t)length + 1, format, values);
    va_end(values);
    add_bytes(text, line, (size_t)length);
    free(line);
}

/* The text that takes the place of the word of `length` letters at `word`; NULL where the word stands for nothing. */
static const char *value_of(const new_plugin_t *plugin, const char *const *words, const char *word, size_t length)
{
    if (length == 4 && strncmp(word, "name", 4) == 0)
        return plugin->name;
    for (size_t i = 0; words != NULL && words[i] != NULL; i += 2) {
        if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0)
            return words[i + 1];
    }
    return NULL;
}

void new_text_fill(new_text_t *text, const char *form, const new_plugin_t *plugin, const char *const *words)
{
    while (*form != '\0') {
        size_t plain = strcspn(form, "@");
        add_bytes(text, form, plain);
        form += plain;
        if (*form == '\0')
            return;
        size_t length = strspn(form + 1, "abcdefghijklmnopqrstuvwxyz_");
        const char *value = form[length + 1] == '@' ? value_of(plugin, words, form + 1, length) : NULL;
        add_bytes(text, value != NULL ? value : form, value != NULL ? strlen(value) : 1);
        form += value != NULL ? length + 2 : 1;
    }
}

void new_text_free(new_text_t *text)
{
    free(text->chars);
    *text = (new_text_t){.chars = NULL};
}
