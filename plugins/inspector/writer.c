/* writer.c - JSON piece by piece (writer.h).
 *
 * The text doubles when it is full. Whether a comma is due is one bit for each open container: 0 until its first item.
 * Numbers are printed by the C library; where its locale has another decimal point, the point is put right, since JSON
 * has one.
 */
#include "writer.h"

#include <inttypes.h>
#include <float.h>
#include <helpers/bp_real.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void writer_release(writer_t *w)
{
    allocator_free(w->allocator, w->bytes, w->capacity);
    *w = (writer_t){.allocator = w->allocator};
}

static void fail(writer_t *w)
{
    writer_release(w);
    w->failed = true;
}

void *writer_room(writer_t *w, size_t length)
{
    if (w->failed)
        return NULL;
    if (w->capacity - w->length < length) {
        size_t capacity = w->capacity < 256 ? 256 : w->capacity * 2;
        while (capacity - w->length < length)
            capacity *= 2;
        char *bytes = allocator_resize(w->allocator, w->bytes, w->capacity, capacity);
        if (bytes == NULL) {
            fail(w);
            return NULL;
        }
        w->bytes = bytes;
        w->capacity = capacity;
    }
    void *place = w->bytes + w->length;
    w->length += length;
    return place;
}

void writer_bytes(writer_t *w, const void *bytes, size_t length)
{
    void *place = writer_room(w, length);
    if (place != NULL && length > 0)
        memcpy(place, bytes, length);
}

void writer_plain(writer_t *w, const char *text)
{
    writer_bytes(w, text, strlen(text));
}

/* --- commas and containers ------------------------------------------------------------------------------------ */

/* Write the comma or nothing that comes before a value or a key. */
static void separate(writer_t *w)
{
    if (w->after_key)
        w->after_key = false;
    else if (w->begun >> w->depth & 1)
        writer_plain(w, ",");
    w->begun |= UINT64_C(1) << w->depth;
}

static void open(writer_t *w, const char *bracket)
{
    separate(w);
    writer_plain(w, bracket);
    if (w->depth >= WRITER_DEPTH_MAX) {
        fail(w);
        return;
    }
    w->depth++;
    w->begun &= ~(UINT64_C(1) << w->depth);
}

static void shut(writer_t *w, const char *bracket)
{
    if (w->depth > 0)
        w->depth--;
    writer_plain(w, bracket);
}

void writer_object(writer_t *w)
{
    open(w, "{");
}

void writer_object_end(writer_t *w)
{
    shut(w, "}");
}

void writer_array(writer_t *w)
{
    open(w, "[");
}

void writer_array_end(writer_t *w)
{
    shut(w, "]");
}

void writer_key(writer_t *w, const char *key)
{
    writer_text(w, key);
    writer_plain(w, ":");
    w->after_key = true;
}

/* --- texts ---------------------------------------------------------------------------------------------------- */

/* The number of bytes of the UTF-8 character at `text`, 0 where the bytes there make no character. */
static size_t character(const unsigned char *text, size_t length)
{
    static const struct {
        uint32_t lead, mask, least;
    } forms[] = {{0, 0x80, 0}, {0xc0, 0xe0, 0x80}, {0xe0, 0xf0, 0x800}, {0xf0, 0xf8, 0x10000}};
    for (size_t more = 0; more < 4; more++) {
        if ((text[0] & forms[more].mask) != forms[more].lead)
            continue;
        if (more >= length)
            return 0;
        uint32_t point = text[0] & ~forms[more].mask & 0xff;
        for (size_t i = 1; i <= more; i++) {
            if ((text[i] & 0xc0) != 0x80)
                return 0;
            point = point << 6 | (text[i] & 0x3f);
        }
        return point < forms[more].least || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? 0 : more + 1;
    }
    return 0;
}

static void escape(writer_t *w, unsigned char c)
{
    char text[8];
    const char *named = c == '"' ? "\\\"" : c == '\\' ? "\\\\" : c == '\n' ? "\\n" : c == '\t' ? "\\t" : NULL;
    if (named == NULL)
        snprintf(text, sizeof text, "\\u%04x", c);
    writer_plain(w, named != NULL ? named : text);
}

void writer_text_of(writer_t *w, const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    separate(w);
    writer_plain(w, "\"");
    size_t from = 0, at = 0;
    while (at < length) {
        unsigned char c = bytes[at];
        size_t size = c < 0x80 ? 1 : character(bytes + at, length - at);
        if (size > 0 && c >= 0x20 && c != '"' && c != '\\' && c != 0x7f) {
            at += size;
            continue;
        }
        writer_bytes(w, text + from, at - from);
        if (size == 0)
            writer_plain(w, "\xef\xbf\xbd"); /* U+FFFD */
        else
            escape(w, c);
        from = ++at;
    }
    writer_bytes(w, text + from, at - from);
    writer_plain(w, "\"");
}

void writer_text(writer_t *w, const char *text)
{
    writer_text_of(w, text, strlen(text));
}

/* --- numbers -------------------------------------------------------------------------------------------------- */

void writer_integer(writer_t *w, int64_t value)
{
    char text[32];
    separate(w);
    snprintf(text, sizeof text, "%" PRId64, value);
    writer_plain(w, text);
}

void writer_count(writer_t *w, uint64_t value)
{
    char text[32];
    separate(w);
    snprintf(text, sizeof text, "%" PRIu64, value);
    writer_plain(w, text);
}

static bool odd(writer_t *w, double value)
{
    if (fabs(value) <= DBL_MAX)
        return false;
    writer_text(w, value > 0 ? "inf" : value < 0 ? "-inf" : "nan");
    return true;
}

void writer_real(writer_t *w, double value)
{
    char text[40];
    if (odd(w, value))
        return;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    bp_real_dot(text);
    separate(w);
    writer_plain(w, text);
}

void writer_real32(writer_t *w, float value)
{
    char text[40];
    if (odd(w, (double)value))
        return;
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    bp_real_dot(text);
    separate(w);
    writer_plain(w, text);
}

void writer_truth(writer_t *w, bool value)
{
    separate(w);
    writer_plain(w, value ? "true" : "false");
}

void writer_null(writer_t *w)
{
    separate(w);
    writer_plain(w, "null");
}

void writer_json(writer_t *w, const char *json, size_t length)
{
    separate(w);
    writer_bytes(w, json, length);
}

/* --- pairs ---------------------------------------------------------------------------------------------------- */

void writer_key_text(writer_t *w, const char *key, const char *text)
{
    writer_key(w, key);
    writer_text(w, text);
}

void writer_key_count(writer_t *w, const char *key, uint64_t value)
{
    writer_key(w, key);
    writer_count(w, value);
}

void writer_key_real(writer_t *w, const char *key, double value)
{
    writer_key(w, key);
    writer_real(w, value);
}

void writer_key_truth(writer_t *w, const char *key, bool value)
{
    writer_key(w, key);
    writer_truth(w, value);
}
