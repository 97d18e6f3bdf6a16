/* bytes.h - a block of bytes that is written from front to back, and one that is read from front to back.
 *
 * Values lie at multiples of their size where bytes_align says so, counted from the beginning of the block, so that in
 * a block aligned to 16 they can be read in place. A writer that once had no memory, and a reader that once met the
 * block's end, stay failed and do nothing any more: code that writes or reads much looks at `failed` once, at the end.
 *
 * Not here: the meaning of the bytes, and other orders of bytes than this machine's.
 */
#ifndef HOST_BASE_BYTES_H
#define HOST_BASE_BYTES_H

#include "memory.h"

typedef struct bytes_t {
    memory_t *memory;
    char *start; /* NULL while there is no room */
    size_t size, room;
    bool failed; /* memory was lacking */
} bytes_t;

static inline void bytes_init(bytes_t *bytes, memory_t *memory)
{
    *bytes = (bytes_t){.memory = memory};
}

void bytes_free(bytes_t *bytes);

/* Room for `more` bytes behind what there is. False when out of memory. */
bool bytes_reserve(bytes_t *bytes, size_t more);

/* Give back room that is not used, where that is more than a sixteenth. */
void bytes_fit(bytes_t *bytes);

/* Append `size` bytes that are to be filled; NULL where it has failed. */
void *bytes_add(bytes_t *bytes, size_t size);

void bytes_put(bytes_t *bytes, const void *data, size_t size);
void bytes_u32(bytes_t *bytes, uint32_t number);
void bytes_u64(bytes_t *bytes, uint64_t number);
void bytes_text(bytes_t *bytes, const char *text); /* with its length and its closing zero */
void bytes_align(bytes_t *bytes, size_t to);       /* zeros, up to a multiple */

/* A length to come, of what is written behind it; and that length, when it is known. */
size_t bytes_begin_length(bytes_t *bytes);
void bytes_end_length(bytes_t *bytes, size_t at);

/* --- reading ------------------------------------------------------------------------------------------------------ */

typedef struct reader_t {
    const char *start, *at, *end;
    bool failed;
} reader_t;

static inline reader_t reader_of(const void *bytes, size_t size)
{
    const char *start = bytes;
    return (reader_t){start, start, start + size, false};
}

static inline size_t reader_left(const reader_t *reader)
{
    return reader->failed ? 0 : (size_t)(reader->end - reader->at);
}

/* The next `size` bytes, or NULL. */
const void *reader_take(reader_t *reader, uint64_t size);

/* 0 where it has failed; of a text "". */
uint32_t reader_u32(reader_t *reader);
uint64_t reader_u64(reader_t *reader);
const char *reader_text(reader_t *reader);
void reader_align(reader_t *reader, size_t to);

/* A number of items of at least `least` bytes each: more than there can be is a failure, and 0. */
uint32_t reader_count(reader_t *reader, size_t least);

#endif
