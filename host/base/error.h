/* error.h - the sentence that explains the last failure, and the log.
 *
 * Each host has one error_text_t. A function that fails puts a sentence there and returns its code, so that callers
 * only pass the code on; a caller that knows more (the file, the line) puts it in front with error_prefix.
 *
 * Not here: a stack of causes, translation, filtering the log by source.
 */
#ifndef HOST_BASE_ERROR_H
#define HOST_BASE_ERROR_H

#include <backplane.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#if defined(__MINGW32__)
#define PRINTF_LIKE(text, first) __attribute__((format(__MINGW_PRINTF_FORMAT, text, first)))
#elif defined(__GNUC__)
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTF_LIKE(text, first)
#endif

struct memory_t;
typedef struct error_calls_t error_calls_t;

typedef struct error_text_t {
    char text[1024];
    bool shared;          /* units run that may be on any thread: sentences belong to calls, see below */
    bool collected;       /* calls of this step have left sentences */
    error_calls_t *calls; /* NULL: there is no room for them, and failures leave their codes alone */
} error_text_t;

/* Set the sentence; returns `code`. The arguments may point into the present sentence. [job] */
bp_result_t error_set(error_text_t *error, bp_result_t code, const char *format, ...) PRINTF_LIKE(3, 4);

/* Put text in front of the present sentence; returns `code`. [job] */
bp_result_t error_prefix(error_text_t *error, bp_result_t code, const char *format, ...) PRINTF_LIKE(3, 4);

/* "out of memory while ..." ; returns BP_ERROR_MEMORY. [job] */
bp_result_t error_memory(error_text_t *error, const char *doing);

/* The present sentence: of a call that is under way, its own, "" where it has had no failure. [job] */
const char *error_last(const error_text_t *error);

/* --- calls on several threads ------------------------------------------------------------------------------------- */

/* While units run side by side each thread writes the sentences of its calls to a place of its own. When all are done
 * the last failure in the order of the step is the present one, on whichever thread it was, and the last sentence of
 * each call that failed is added to those of the step: the first ERROR_KEPT_CALLS in the order of the step are kept,
 * and how many there were. So the kept sentences do not depend on the number of threads; one thread works in the same
 * way. */
enum { ERROR_KEPT_CALLS = 8 };

/* The unit that makes calls, and its present call. Texts are good until the join. */
typedef struct error_caller_t {
    const uint32_t *call; /* the number of the call, while it runs */
    uint32_t first;       /* the number of the unit's first call in this step */
    uint32_t part;        /* number of the world among those that step side by side */
    const char *world, *unit;
} error_caller_t;

/* Room for so many threads; false when out of memory: nothing has changed. And freeing that room. [main] */
bool error_reserve_calls(error_text_t *error, struct memory_t *memory, uint32_t threads);
void error_free_calls(error_text_t *error, struct memory_t *memory);

/* From `share` to `join` sentences belong to calls. `join` writes those sentences to the log that differ from the step
 * before. [main] */
void error_share(error_text_t *error);
void error_join(error_text_t *error, const bp_log_i *log);

/* enter: this thread makes calls from now on; leave: the thread makes no more. Only where `shared` is set. [job] */
void error_enter(error_text_t *error, const error_caller_t *caller);
void error_leave(error_text_t *error);

/* Forget the sentences of the step before. [main] */
static inline void error_begin_step(error_text_t *error)
{
    error->collected = false;
}

/* The sentence number `index` of those that the step has collected; false where there are not so many. [main] */
bool error_of_call(const error_text_t *error, uint32_t index, bp_call_failure_t *failure);

/* A log line through `log`, or to stderr if its write is NULL and the level at least a warning. [any] */
void log_write(const bp_log_i *log, int32_t level, const char *source, const char *format, ...) PRINTF_LIKE(4, 5);

/* --- text -------------------------------------------------------------------------------------------------------- */

/* Small helpers for texts: lists of words, the nearest known word, growing buffers.
 *
 * Not here: Unicode; bytes that are not ASCII are only passed through.
 */

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

/* Consider one candidate. Its address is kept. */
void nearest_consider(nearest_t *nearest, const char *candidate);

/* "; did you mean 'mass'?" where something came near enough, else "". Static room in `text`. */
const char *nearest_hint(const nearest_t *nearest, text_t *text);

#endif
