/* messages.c - complaints on stderr and the nearest known word.
 *
 * stdout is flushed before every complaint: with both going to one file or terminal, a complaint then
 * stands behind what was printed before it and not somewhere in the middle.
 *
 * What a message quotes comes from files and lines of input, so its control characters are made visible. It
 * is written by one call, since log lines may come from several threads at a time.
 *
 * The distance of two words is the number of letters to insert, drop, replace or swap with their neighbour
 * ("--jsno" is one slip from "--json", not two). A guess is offered while it needs at most one change in
 * three letters: more, and the hint would be a riddle of its own.
 */
#include "messages.h"

#include "terminal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    MESSAGE_MAX = 2048, /* bytes; what is longer is cut */
    WORD_MAX = 64       /* longer words get no guess */
};

static void print(const char *head, const char *format, va_list values)
{
    char text[MESSAGE_MAX];
    char shown[4 * MESSAGE_MAX]; /* a byte is shown by four at most */
    vsnprintf(text, sizeof text, format, values);
    terminal_show(text, shown);
    fflush(stdout);
    fprintf(stderr, "%s%s\n", head, shown);
}

void complain(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print("backplane: ", format, values);
    va_end(values);
}

void remark(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print("", format, values);
    va_end(values);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Three rows of the table of distances are enough: the present one and, for swaps, the two before it. */
static size_t distance_of(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_MAX + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *above_that = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]), 1 + least(above[j], row[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], above_that[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

void guess_consider(guess_t *guess, const char *candidate)
{
    size_t wanted = strlen(guess->wanted);
    size_t length = strlen(candidate);
    if (wanted > WORD_MAX || length > WORD_MAX)
        return;
    size_t distance = distance_of(guess->wanted, wanted, candidate, length);
    size_t longer = wanted > length ? wanted : length;
    if (3 * distance > longer + 1)
        return;
    if (guess->best == NULL || distance < guess->distance) {
        guess->best = candidate;
        guess->distance = distance;
    }
}

const char *guess_hint(const guess_t *guess, char *text, size_t size)
{
    text[0] = '\0';
    if (guess->best != NULL)
        snprintf(text, size, "; did you mean '%s'?", guess->best);
    return text;
}
