/* text.h - small helpers for texts: lists of words, the nearest known word, growing buffers.
 *
 * What it does not do: no Unicode beyond passing bytes through.
 */
#ifndef HOST_BASE_TEXT_H
#define HOST_BASE_TEXT_H

#include "error.h"

#include <stddef.h>

/* A text of fixed room that cuts rather than overflows. Begin with {.room = sizeof chars}. */
typedef struct text_t {
    char chars[512];
    size_t length;
} text_t;

void text_append(text_t *text, const char *format, ...) PRINTF_LIKE(2, 3);

/* Cut the next word out of a list separated by spaces, tabs, line ends and commas. Writes it to `word` (cut at size)
 * and returns what follows it, or NULL when there is no further word. */
const char *text_next_word(const char *list, char *word, size_t size);

/* Collects the candidate nearest to a misspelt word. Begin with {.wanted = word}. */
typedef struct nearest_t {
    const char *wanted;
    const char *best;
    uint32_t distance;
} nearest_t;

/* Consider one candidate; it is kept by address. */
void nearest_consider(nearest_t *nearest, const char *candidate);

/* "; did you mean 'mass'?" where something came near enough, else "". Static room in `text`. */
const char *nearest_hint(const nearest_t *nearest, text_t *text);

#endif
