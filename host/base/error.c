/* error.c - formatting of sentences into fixed buffers.
 *
 * Reporting a failure must not fail: no memory is taken here, a sentence that is too long is cut.
 */
#include "error.h"

#include "../os/os.h"
#include "memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- calls on several threads ------------------------------------------------------------------------------------- */

/* The last sentence of a call that has failed. */
typedef struct said_t {
    uint64_t number; /* part << 32 | call */
    uint32_t range;
    const char *world, *unit;
    char text[1024];
} said_t;

/* The sentences of one thread: taken at the first call that the thread makes, and given back with all others at the
 * join. */
typedef struct error_call_t {
    _Atomic uint64_t thread; /* 0: taken by no thread */
    error_caller_t caller;   /* `call` is NULL between calls */
    uint64_t latest;         /* number of the call that failed before this moment */
    uint32_t failed;         /* calls that have failed since the last join */
    uint32_t kept;
    char text[1024];                /* of the latest */
    said_t last;                    /* in the order of the step */
    said_t first[ERROR_KEPT_CALLS]; /* `kept` of them, in the order of the step */
} error_call_t;

/* The same, after the join, with copies of the names. */
typedef struct collected_t {
    uint32_t range;
    char world[256], unit[256], text[1024];
} collected_t;

struct error_calls_t {
    uint32_t room;
    uint32_t failed, kept;
    collected_t collected[ERROR_KEPT_CALLS];
    error_call_t items[];
};

static size_t calls_bytes(uint32_t room)
{
    return sizeof(error_calls_t) + room * sizeof(error_call_t);
}

bool error_reserve_calls(error_text_t *error, memory_t *memory, uint32_t threads)
{
    if (error->calls != NULL && error->calls->room >= threads)
        return true;
    error_calls_t *calls = memory_new(memory, calls_bytes(threads));
    if (calls == NULL)
        return false;
    error_free_calls(error, memory);
    calls->room = threads;
    error->calls = calls;
    return true;
}

void error_free_calls(error_text_t *error, memory_t *memory)
{
    if (error->calls != NULL)
        memory_free(memory, error->calls, calls_bytes(error->calls->room));
    error->calls = NULL;
}

/* The place of this thread; NULL where there is none, or it is not taken and shall not be. */
static error_call_t *own_place(const error_text_t *error, bool take)
{
    uint64_t self = os_thread_number(), no_thread;
    for (uint32_t i = 0; error->calls != NULL && i < error->calls->room; i++) {
        error_call_t *place = &error->calls->items[i];
        uint64_t thread = atomic_load_explicit(&place->thread, memory_order_relaxed);
        no_thread = 0;
        if (thread == self)
            return place;
        if (thread == 0 && !take)
            return NULL;
        if (thread == 0 && atomic_compare_exchange_strong(&place->thread, &no_thread, self))
            return place;
    }
    return NULL;
}

static uint64_t number_of(const error_call_t *place)
{
    return (uint64_t)place->caller.part << 32 | (place->caller.call != NULL ? *place->caller.call : 0);
}

void error_share(error_text_t *error)
{
    error->shared = true;
}

void error_enter(error_text_t *error, const error_caller_t *caller)
{
    error_call_t *place = own_place(error, true);
    if (place != NULL)
        place->caller = *caller;
}

void error_leave(error_text_t *error)
{
    error_call_t *place = own_place(error, false);
    if (place != NULL)
        place->caller.call = NULL;
}

/* Of all that the threads keep, the first in the order of the step that comes behind number `after`; NULL: none. */
static const said_t *next_said(const error_calls_t *calls, const said_t *after)
{
    const said_t *next = NULL;
    for (uint32_t i = 0; i < calls->room; i++)
        for (uint32_t k = 0; k < calls->items[i].kept; k++) {
            const said_t *said = &calls->items[i].first[k];
            if ((after == NULL || said->number > after->number) && (next == NULL || said->number < next->number))
                next = said;
        }
    return next;
}

/* Add a sentence to those of the step, and log it where the step before had another one in this place. */
static void keep_collected(collected_t *kept, const said_t *said, const bp_log_i *log)
{
    bool known = kept->range == said->range && strcmp(kept->world, said->world) == 0 &&
                 strcmp(kept->unit, said->unit) == 0 && strcmp(kept->text, said->text) == 0;
    if (known)
        return;
    kept->range = said->range;
    snprintf(kept->world, sizeof kept->world, "%s", said->world);
    snprintf(kept->unit, sizeof kept->unit, "%s", said->unit);
    memcpy(kept->text, said->text, strlen(said->text) + 1);
    log_write(log, BP_LOG_INFO, kept->unit, "world '%s', range %u: %s", kept->world, kept->range, kept->text);
}

static void collect(error_text_t *error, const bp_log_i *log)
{
    error_calls_t *calls = error->calls;
    if (!error->collected)
        calls->failed = calls->kept = 0;
    error->collected = true;
    for (uint32_t i = 0; i < calls->room; i++)
        calls->failed += calls->items[i].failed;
    const said_t *said = next_said(calls, NULL);
    for (; said != NULL && calls->kept < ERROR_KEPT_CALLS; said = next_said(calls, said))
        keep_collected(&calls->collected[calls->kept++], said, log);
}

void error_join(error_text_t *error, const bp_log_i *log)
{
    const said_t *last = NULL;
    error->shared = false;
    for (uint32_t i = 0; error->calls != NULL && i < error->calls->room; i++) {
        const error_call_t *place = &error->calls->items[i];
        if (place->failed > 0 && (last == NULL || place->last.number > last->number))
            last = &place->last;
    }
    if (last != NULL) {
        memcpy(error->text, last->text, strlen(last->text) + 1);
        collect(error, log);
    }
    for (uint32_t i = 0; error->calls != NULL && i < error->calls->room; i++) {
        error_call_t *place = &error->calls->items[i];
        if (atomic_load_explicit(&place->thread, memory_order_relaxed) == 0)
            break;
        atomic_store_explicit(&place->thread, 0, memory_order_relaxed);
        place->failed = place->kept = 0;
        place->caller.call = NULL;
    }
}

bool error_of_call(const error_text_t *error, uint32_t index, bp_call_failure_t *failure)
{
    const error_calls_t *calls = error->calls;
    if (!error->collected || index >= calls->kept)
        return false;
    const collected_t *kept = &calls->collected[index];
    uint32_t size = failure->struct_size;
    bp_call_failure_t known = {.struct_size = size,
                               .range = kept->range,
                               .failed = calls->failed,
                               .world = kept->world,
                               .unit = kept->unit,
                               .text = kept->text};
    memset(failure, 0, size);
    memcpy(failure, &known, size < sizeof known ? size : sizeof known);
    return true;
}

const char *error_last(const error_text_t *error)
{
    if (!error->shared)
        return error->text;
    const error_call_t *place = own_place(error, false);
    return place != NULL && place->failed > 0 && place->latest == number_of(place) ? place->text : "";
}

/* --- sentences ---------------------------------------------------------------------------------------------------- */

static void say(said_t *said, const error_call_t *place, const char *text, size_t size)
{
    said->number = place->latest;
    said->range = (uint32_t)place->latest - place->caller.first;
    said->world = place->caller.world;
    said->unit = place->caller.unit;
    memcpy(said->text, text, size);
}

/* Keep a sentence of a call: in the place of an earlier one of the same call, or in that of the last in the order. */
static void keep_first(error_call_t *place, const char *text, size_t size)
{
    uint32_t at = 0;
    while (at < place->kept && place->first[at].number < place->latest)
        at++;
    if (at == ERROR_KEPT_CALLS)
        return;
    if (at == place->kept || place->first[at].number != place->latest) {
        place->kept += place->kept < ERROR_KEPT_CALLS;
        memmove(&place->first[at + 1], &place->first[at], (place->kept - at - 1) * sizeof place->first[0]);
    }
    say(&place->first[at], place, text, size);
}

static void put_of_call(error_call_t *place, const char *text, size_t size)
{
    uint64_t number = number_of(place);
    place->failed += place->failed == 0 || place->latest != number;
    place->latest = number;
    memcpy(place->text, text, size);
    if (place->failed == 1 || number >= place->last.number)
        say(&place->last, place, text, size);
    keep_first(place, text, size);
}

static void put(error_text_t *error, const char *text)
{
    error_call_t *place = error->shared ? own_place(error, false) : NULL;
    size_t size = strlen(text) + 1;
    if (!error->shared)
        memcpy(error->text, text, size);
    if (place != NULL && place->caller.call != NULL)
        put_of_call(place, text, size);
}

bp_result_t error_set(error_text_t *error, bp_result_t code, const char *format, ...)
{
    char text[sizeof error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put(error, text);
    return code;
}

bp_result_t error_prefix(error_text_t *error, bp_result_t code, const char *format, ...)
{
    char text[sizeof error->text];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < sizeof text)
        snprintf(text + length, sizeof text - (size_t)length, "%s", error_last(error));
    put(error, text);
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
