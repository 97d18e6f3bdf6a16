/* bytes.c - growing by doubling, and never reading past the end. */
#include "bytes.h"

#include <string.h>

enum { FIRST_ROOM = 4096 };

void bytes_free(bytes_t *bytes)
{
    memory_free(bytes->memory, bytes->start, bytes->room);
    bytes_init(bytes, bytes->memory);
}

static bool resize(bytes_t *bytes, size_t room)
{
    char *start = memory_resize(bytes->memory, bytes->start, bytes->room, room);
    if (start == NULL)
        return false;
    bytes->start = start;
    bytes->room = room;
    return true;
}

bool bytes_reserve(bytes_t *bytes, size_t more)
{
    if (bytes->failed || more <= bytes->room - bytes->size)
        return !bytes->failed;
    size_t room = bytes->room < FIRST_ROOM ? FIRST_ROOM : bytes->room * 2;
    if (room < bytes->size + more)
        room = bytes->size + more;
    bytes->failed = !resize(bytes, room);
    return !bytes->failed;
}

void bytes_fit(bytes_t *bytes)
{
    if (bytes->size > 0 && bytes->room - bytes->size > bytes->room / 16)
        resize(bytes, bytes->size);
}

void *bytes_add(bytes_t *bytes, size_t size)
{
    if (!bytes_reserve(bytes, size))
        return NULL;
    void *at = bytes->start + bytes->size;
    bytes->size += size;
    return at;
}

void bytes_put(bytes_t *bytes, const void *data, size_t size)
{
    void *at = size == 0 ? NULL : bytes_add(bytes, size);
    if (at != NULL)
        memcpy(at, data, size);
}

void bytes_u32(bytes_t *bytes, uint32_t number)
{
    bytes_put(bytes, &number, sizeof number);
}

void bytes_u64(bytes_t *bytes, uint64_t number)
{
    bytes_put(bytes, &number, sizeof number);
}

void bytes_text(bytes_t *bytes, const char *text)
{
    uint32_t length = (uint32_t)strlen(text);
    bytes_u32(bytes, length);
    bytes_put(bytes, text, length + 1u);
}

void bytes_align(bytes_t *bytes, size_t to)
{
    static const char zeros[64];
    size_t over = bytes->size % to;
    bytes_put(bytes, zeros, over == 0 ? 0 : to - over);
}

size_t bytes_begin_length(bytes_t *bytes)
{
    size_t at = bytes->size;
    bytes_u64(bytes, 0);
    return at;
}

void bytes_end_length(bytes_t *bytes, size_t at)
{
    uint64_t length = bytes->failed ? 0 : bytes->size - at - sizeof length;
    if (!bytes->failed)
        memcpy(bytes->start + at, &length, sizeof length);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

const void *reader_take(reader_t *reader, uint64_t size)
{
    if (reader->failed || size > (uint64_t)(reader->end - reader->at)) {
        reader->failed = true;
        return NULL;
    }
    const char *at = reader->at;
    reader->at += size;
    return at;
}

uint32_t reader_u32(reader_t *reader)
{
    uint32_t number = 0;
    const void *at = reader_take(reader, sizeof number);
    if (at != NULL)
        memcpy(&number, at, sizeof number);
    return number;
}

uint64_t reader_u64(reader_t *reader)
{
    uint64_t number = 0;
    const void *at = reader_take(reader, sizeof number);
    if (at != NULL)
        memcpy(&number, at, sizeof number);
    return number;
}

const char *reader_text(reader_t *reader)
{
    uint32_t length = reader_u32(reader);
    const char *text = reader_take(reader, (uint64_t)length + 1);
    if (text != NULL && (text[length] != '\0' || memchr(text, '\0', length) != NULL)) {
        reader->failed = true;
        text = NULL;
    }
    return text == NULL ? "" : text;
}

void reader_align(reader_t *reader, size_t to)
{
    size_t over = (size_t)(reader->at - reader->start) % to;
    reader_take(reader, over == 0 ? 0 : to - over);
}

uint32_t reader_count(reader_t *reader, size_t least)
{
    uint32_t count = reader_u32(reader);
    if ((uint64_t)count * least > reader_left(reader)) {
        reader->failed = true;
        return 0;
    }
    return count;
}
