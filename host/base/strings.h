/* strings.h - counted, shared, immutable strings: what a cell of a BP_STRING column points to.
 *
 * A string is a `const char *` with its count in front of it, so that plugins read the column directly. Equal
 * strings are one string. The empty string is not counted and never freed.
 *
 * What it does not do: no threads; all calls are [main].
 */
#ifndef HOST_BASE_STRINGS_H
#define HOST_BASE_STRINGS_H

#include "memory.h"

struct string_header_t;

typedef struct strings_t {
    memory_t memory;
    struct string_header_t **buckets; /* a power of two */
    uint32_t capacity;
    uint32_t count;
} strings_t;

void strings_init(strings_t *strings, memory_t *parent);
void strings_free(strings_t *strings);

/* The empty string that all empty cells share. */
extern const char strings_empty[1];

/* The shared string equal to `text`, counted once more. NULL when out of memory. */
const char *strings_acquire(strings_t *strings, const char *text);

/* Count a string that is already shared once more, `times` over. Cannot fail. */
void strings_retain(const char *string, uint32_t times);

/* Count it once less; the last one frees it. */
void strings_release(strings_t *strings, const char *string);

#endif
