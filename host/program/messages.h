/* messages.h - what the program tells people beside its results: complaints, guesses, the exit status.
 *
 * What it does not do: it does not end the program; whoever complains returns a status.
 */
#ifndef HOST_PROGRAM_MESSAGES_H
#define HOST_PROGRAM_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#if defined(__MINGW_PRINTF_FORMAT) /* of <stdio.h>: which printf that is */
#define PRINTS_LIKE(text, first) __attribute__((format(__MINGW_PRINTF_FORMAT, text, first)))
#elif defined(__GNUC__)
#define PRINTS_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTS_LIKE(text, first)
#endif

/* What a command comes to. */
enum {
    STATUS_FINE = 0,
    STATUS_FAILED = 1,   /* something went wrong while running, or the output could not be written */
    STATUS_BAD_INPUT = 2 /* bad arguments, a bad ini, a plugin that cannot be loaded */
};

/* Print "backplane: ..." and a line end to stderr, after all that has gone to stdout so far. */
void complain(const char *format, ...) PRINTS_LIKE(1, 2);

/* The same without "backplane: ": a further line of a message, or somebody else's line. */
void remark(const char *format, ...) PRINTS_LIKE(1, 2);

/* The word nearest to a misspelt one. Begin with {.wanted = word}. */
typedef struct guess_t {
    const char *wanted;
    const char *best; /* NULL while nothing is near enough */
    size_t distance;
} guess_t;

/* Consider one candidate; it is kept by address. */
void guess_consider(guess_t *guess, const char *candidate);

/* Write "; did you mean 'steps'?", or "" where nothing was near enough. Returns `text`. */
const char *guess_hint(const guess_t *guess, char *text, size_t size);

#endif
