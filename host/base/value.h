/* value.h - typed values: their sizes and their text.
 *
 * One grammar of text for the console, the ini, defaults and limits:
 *   bool     true false on off yes no 1 0
 *   numbers  as C writes them; integers also 0x...
 *   vectors  numbers separated by spaces or commas, as many as the type has; a mat4 sixteen, column by column
 *   colour   #rgb #rrggbb #rrggbbaa (linear, 0 to 255 a part), or three or four numbers
 *   string   the rest of the line as it is; name: likewise, interned
 *   entity   #index:generation, or "none"; or a name, where the context finds entities by name
 * value_parse reads a text of value_format back to the same bits.
 *
 * Not here: the fields that give values a meaning (field.h); components and worlds.
 */
#ifndef HOST_BASE_VALUE_H
#define HOST_BASE_VALUE_H

#include "error.h"
#include "strings.h"

#include <string.h>

/* The things needed to read and write texts of values: the interned names, and the tag of this host's entities. */
typedef struct value_context_t {
    names_t *names;
    uint32_t entity_base; /* the host's tag, in its place in a generation */
    /* The entity that a text other than #index:generation names; sets the error where there is none. NULL: no text
       does. */
    bp_result_t (*find_entity)(void *finder, const char *name, bp_entity_t *entity);
    void *finder;
} value_context_t;

/* An entity's generation is the host's tag in the high 11 bits, and below it 2 * life - 1, where life counts the
 * entities that have had this index, from 1. A generation is always odd: even numbers stand for free indices, so no
 * handle matches a free index. */
enum { ENTITY_COUNTER_BITS = 21, ENTITY_MAX_LIFE = 1 << 20, ENTITY_MAX_TAG = 2047 };

static inline bp_entity_t entity_make(uint32_t base, uint32_t index, uint32_t life)
{
    return (bp_entity_t){(uint64_t)(base + 2 * life - 1) << 32 | index};
}

static inline uint32_t entity_life(uint32_t base, bp_entity_t e)
{
    return (bp_entity_generation(e) - base + 1) / 2;
}

/* Bytes of a value and the type's name ("vec3"); 0 and "?" for what is no type. [any] */
uint32_t value_size(uint32_t type);
const char *value_type_name(uint32_t type);

/* How the text of a value of this type looks, in words for a message: "a whole number from 0 to 255". [any] */
const char *value_form(uint32_t type);

/* Numbers in a value: 3 for a vec3; 1 for scalars; 0 for strings, names, entities and bools. [any] */
uint32_t value_parts(uint32_t type);

/* The type of these numbers; BP_TYPE_NONE where there are none. [any] */
uint32_t value_part_type(uint32_t type);

/* Integers of any type as one: the bits of a 64-bit number, in two's complement where it is negative. So the range of
 * u64 and of i64 both fit. */
typedef struct value_integer_t {
    uint64_t bits;
    bool negative;
} value_integer_t;

/* Bits of an integer type, 1 for a bool, 0 for a type that is no integer; is it signed, and is it an integer but no
   bool? [any] */
uint32_t value_integer_bits(uint32_t type);
bool value_is_signed(uint32_t type);
bool value_is_whole(uint32_t type);

/* A value of an integer type or a bool; and back: false, with nothing written, where the type cannot hold it. [any] */
value_integer_t value_read_integer(uint32_t type, const void *value);
bool value_write_integer(uint32_t type, value_integer_t integer, void *value);

/* Not isfinite, which in some C libraries is a macro that narrows its argument. */
static inline bool value_is_finite(double number)
{
    return number - number == 0.0;
}

/* Read a value. A string's value points into `text`. On failure `error` says what would be right. [main] */
bp_result_t value_parse(const value_context_t *context, uint32_t type, const char *text, bp_value_t *value,
                        error_text_t *error);

/* Write a value as text, at most `size` bytes with the closing zero. [main] */
void value_format(const value_context_t *context, uint32_t type, const void *value, char *text, size_t size);

/* Part `part` of a number or vector, as a double. [any] */
double value_part(uint32_t type, const void *value, uint32_t part);

/* Copy one value of `size` bytes. The commonest sizes come first; loops over columns repeat, so the branches are
   foreseen. */
static inline void value_copy(void *to, const void *from, uint32_t size)
{
    if (size == 12)
        memcpy(to, from, 12);
    else if (size == 4)
        memcpy(to, from, 4);
    else if (size == 8)
        memcpy(to, from, 8);
    else if (size == 16)
        memcpy(to, from, 16);
    else if (size == 1)
        memcpy(to, from, 1);
    else
        memcpy(to, from, size);
}

#endif
