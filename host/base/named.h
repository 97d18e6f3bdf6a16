/* named.h - integers that have names for their values: "idle walking running", or flags that are combined,
 * "visible|solid".
 *
 * A list of names is text, as bp_field_t.values has it: words separated by blanks or commas, each with "=NUMBER" behind
 * it or with the number that follows the one before, from 0. In a list of bits the number is that of a bit, and the
 * value that is kept is the bit's mask.
 *
 * Values are read by name, several bits with '|' between them, or as numbers; they are written by name where there is
 * one. A bit without a name is written as a number (0x80), no bits at all as 0.
 *
 * Not here: fields (field.h); ranges, since a list of names is the range.
 */
#ifndef HOST_BASE_NAMED_H
#define HOST_BASE_NAMED_H

#include "memory.h"
#include "value.h"

/* The longest text of a value, its closing zero with it: 64 flags, whose names have 63 bytes and a '|' or the end
 * behind them. */
enum { NAMED_MAX_TEXT = 64 * (63 + 1) };

typedef struct named_value_t {
    const char *name;
    value_integer_t number; /* of bits: the mask */
} named_value_t;

typedef struct named_t {
    named_value_t *items; /* in the order of the text */
    uint32_t count;       /* 0: values have no names */
    bool bits;
    uint64_t mask;        /* of bits: all of them */
    char *texts;
    size_t texts_size;
} named_t;

/* Read a list for values of the integer type `type`. Names are words of letters, digits and '_' that begin with
 * no digit, have at most 63 bytes, and differ; so do numbers, and the type holds them. Bits are of an unsigned type. On
 * failure nothing is kept. [main] */
bp_result_t named_init(named_t *named, memory_t *memory, uint32_t type, const char *text, bool bits,
                       error_text_t *error);
void named_free(named_t *named, memory_t *memory);

/* The value called by the first `length` bytes of `name`, or NULL. [any] */
const named_value_t *named_find(const named_t *named, const char *name, size_t length);

/* The value that has this number, or this mask; NULL where none has. [any] */
const named_value_t *named_by_number(const named_t *named, value_integer_t number);

/* Is it one of the values, or made of these bits alone? [any] */
bool named_holds(const named_t *named, uint32_t type, const void *value);

/* Read one of the values, by name or number; the error names those that there are, and the nearest. [main] */
bp_result_t named_parse(const named_t *named, uint32_t type, const char *text, void *value, error_text_t *error);

/* Write a value as text, at most `size` bytes with the closing zero. [any] */
void named_format(const named_t *named, uint32_t type, const void *value, char *text, size_t size);

/* The names, separated by `between`, for sentences; cut where they are too long. Returns `text`. [any] */
const char *named_list(const named_t *named, const char *between, text_t *text);

#endif
