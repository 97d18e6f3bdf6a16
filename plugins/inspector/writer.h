/* writer.h - JSON written piece by piece into one growing text.
 *
 *     writer_t w = {.allocator = allocator};
 *     writer_object(&w);
 *     writer_key(&w, "mass");
 *     writer_real(&w, 1.5);
 *     writer_object_end(&w);                      {"mass":1.5}
 *
 * Commas are added by the functions. A failed allocation sets `failed` and empties the text; all later calls do nothing
 * then, so that callers check once, at the end. Answers are written this way and not as a tree of jansson, because most
 * of them are made on the thread that steps the worlds, where they take time from the steps.
 *
 * Not here: a check that keys and values alternate; the tests parse the texts that are written.
 */
#ifndef INSPECTOR_WRITER_H
#define INSPECTOR_WRITER_H

#include "allocator.h"

#include <stdbool.h>
#include <stdint.h>

enum { WRITER_DEPTH_MAX = 63 }; /* objects and arrays within each other */

typedef struct writer_t {
    const allocator_t *allocator;
    char *bytes;
    size_t length, capacity;
    uint64_t begun;   /* bit d: the container at depth d has an item already, so that the next one needs a comma */
    uint32_t depth;
    bool after_key;   /* a value belongs to the key before it: no comma */
    bool failed;      /* out of memory */
} writer_t;

/* Free the text; the writer can be used again. */
void writer_release(writer_t *w);

/* Bytes as they are, without a comma. */
void writer_bytes(writer_t *w, const void *bytes, size_t length);
void writer_plain(writer_t *w, const char *text);

/* Room for `length` more bytes, to be written by the caller; NULL when out of memory. */
void *writer_room(writer_t *w, size_t length);

void writer_object(writer_t *w);
void writer_object_end(writer_t *w);
void writer_array(writer_t *w);
void writer_array_end(writer_t *w);
void writer_key(writer_t *w, const char *key);

/* Values. Text that is no UTF-8 has its wrong bytes replaced. Numbers that JSON lacks are texts: "nan", "inf", "-inf".
 * writer_real32 has as many digits as tell the float from its neighbours, at most nine. */
void writer_text(writer_t *w, const char *text);
void writer_text_of(writer_t *w, const char *text, size_t length);
void writer_integer(writer_t *w, int64_t value);
void writer_count(writer_t *w, uint64_t value);
void writer_real(writer_t *w, double value);
void writer_real32(writer_t *w, float value);
void writer_truth(writer_t *w, bool value);
void writer_null(writer_t *w);

/* Write a value that is JSON already. */
void writer_json(writer_t *w, const char *json, size_t length);

/* A key and its value. */
void writer_key_text(writer_t *w, const char *key, const char *text);
void writer_key_count(writer_t *w, const char *key, uint64_t value);
void writer_key_real(writer_t *w, const char *key, double value);
void writer_key_truth(writer_t *w, const char *key, bool value);

#endif
