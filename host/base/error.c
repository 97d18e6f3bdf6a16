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

/* The sentence of one thread: taken at the first call that the thread makes, and given back with all others at the
 * join. */
typedef struct error_call_t {
    _Atomic uint64_t thread; /* 0: taken by no thread */
    const uint32_t *call;    /* NULL: between calls */
    uint32_t part;
    bool failed;             /* since the last join: */
    uint64_t latest, last;   /* part << 32 | call: of the failure before this moment; of the last one in the order */
    char text[1024];         /* of the latest */
    char kept[1024];         /* of the last */
} error_call_t;

struct error_calls_t {
    uint32_t room;
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
    uint64_t self = os_thread_number(), nobody;
    for (uint32_t i = 0; error->calls != NULL && i < error->calls->room; i++) {
        error_call_t *place = &error->calls->items[i];
        uint64_t thread = atomic_load_explicit(&place->thread, memory_order_relaxed);
        nobody = 0;
        if (thread == self)
            return place;
        if (thread == 0 && !take)
            return NULL;
        if (thread == 0 && atomic_compare_exchange_strong(&place->thread, &nobody, self))
            return place;
    }
    return NULL;
}

static uint64_t number_of(const error_call_t *place)
{
    return (uint64_t)place->part << 32 | (place->call != NULL ? *place->call : 0);
}

void error_share(error_text_t *error)
{
    error->shared = true;
}

void error_enter(error_text_t *error, const uint32_t *call, uint32_t part)
{
    error_call_t *place = error->shared ? own_place(error, true) : NULL;
    if (place == NULL)
        return;
    place->call = call;
    place->part = part;
}

void error_leave(error_text_t *error)
{
    error_call_t *place = error->shared ? own_place(error, false) : NULL;
    if (place != NULL)
        place->call = NULL;
}

void error_join(error_text_t *error)
{
    const error_call_t *last = NULL;
    error->shared = false;
    for (uint32_t i = 0; error->calls != NULL && i < error->calls->room; i++) {
        error_call_t *place = &error->calls->items[i];
        if (atomic_load_explicit(&place->thread, memory_order_relaxed) == 0)
            break;
        if (place->failed && (last == NULL || place->last > last->last))
            last = place;
        atomic_store_explicit(&place->thread, 0, memory_order_relaxed);
        place->failed = false;
        place->call = NULL;
    }
    if (last != NULL)
        memcpy(error->text, last->kept, strlen(last->kept) + 1);
}

const char *error_last(const error_text_t *error)
{
    if (!error->shared)
        return error->text;
    const error_call_t *place = own_place(error, false);
    return place != NULL && place->failed && place->latest == number_of(place) ? place->text : "";
}

/* --- sentences ---------------------------------------------------------------------------------------------------- */

static void put(error_text_t *error, const char *text)
{
    error_call_t *place = error->shared ? own_place(error, false) : NULL;
    size_t size = strlen(text) + 1;
    if (!error->shared)
        memcpy(error->text, text, size);
    if (place == NULL || place->call == NULL)
        return;
    place->latest = number_of(place);
    memcpy(place->text, text, size);
    if (!place->failed || place->latest >= place->last) {
        memcpy(place->kept, text, size);
        place->last = place->latest;
    }
    place->failed = true;
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
