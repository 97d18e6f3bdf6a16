/* readers.h - libraries that read JSON, seen alike, so that one program can measure and probe all of them.
 *
 * A reader takes a text and gives back the result of reading, or NULL where it refuses. measure.sh tells
 * with -DWITH_... which libraries are there; `ours`, host/scene/json.c, is always the first.
 */
#ifndef TOOLS_JSON_READERS_H
#define TOOLS_JSON_READERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result of a reader for {"x": value, ...}, as far as probes ask. */
typedef struct seen_t {
    bool whole;        /* x is a whole number, and this one */
    int64_t integer;
    uint32_t members;  /* of the top: two of one name count twice where both can be seen */
} seen_t;

typedef struct reader_t {
    const char *name, *version;
    const char *places;    /* how a value's place is known */
    const char *allocator; /* whose memory the reader takes */
    void *(*read)(const char *text, size_t size);
    void (*end)(void *document);
    void (*look)(void *document, seen_t *seen);
} reader_t;

extern const reader_t readers[];
extern const size_t reader_count;

#endif
