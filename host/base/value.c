/* value.c - the table of types, and text to value and back.
 *
 * One table says for each type its name, its bytes and how many numbers of which kind it is made of; everything
 * else follows from it, so a new type is one line here and one case where text is special.
 *
 * Floats are written with the fewest digits (up to 9, doubles 17) that read back to the same bits.
 */
#include "value.h"

#include "error.h"

#include <errno.h>
#include <helpers/bp_real.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct type_t {
    const char *name;
    uint32_t size;
    uint32_t parts;   /* numbers in it */
    uint32_t part;    /* their type */
    const char *form; /* the form of its text, for messages */
} type_t;

static const type_t types[BP_TYPE_COUNT] = {
    [BP_TYPE_NONE] = {"?", 0, 0, 0, "nothing"},
    [BP_BOOL] = {"bool", 1, 0, 0, "true or false"},
    [BP_I32] = {"i32", 4, 1, BP_I32, "a whole number from -2147483648 to 2147483647"},
    [BP_U32] = {"u32", 4, 1, BP_U32, "a whole number from 0 to 4294967295"},
    [BP_I64] = {"i64", 8, 1, BP_I64, "a whole number of 64 bits"},
    [BP_F32] = {"f32", 4, 1, BP_F32, "a number"},
    [BP_F64] = {"f64", 8, 1, BP_F64, "a number"},
    [BP_VEC2] = {"vec2", 8, 2, BP_F32, "2 numbers, like 0 1"},
    [BP_VEC3] = {"vec3", 12, 3, BP_F32, "3 numbers, like 0 0 1"},
    [BP_VEC4] = {"vec4", 16, 4, BP_F32, "4 numbers, like 0 0 0 1"},
    [BP_QUAT] = {"quat", 16, 4, BP_F32, "4 numbers x y z w, like 0 0 0 1"},
    [BP_MAT4] = {"mat4", 64, 16, BP_F32, "16 numbers, column by column"},
    [BP_COLOUR] = {"colour", 16, 4, BP_F32, "#rrggbb, #rrggbbaa, or 3 or 4 numbers"},
    [BP_STRING] = {"string", 8, 0, 0, "a text"},
    [BP_ENTITY] = {"entity", 8, 0, 0, "#index:generation or none"},
    [BP_NAME] = {"name", 8, 0, 0, "a name of at most 255 bytes"},
    [BP_I8] = {"i8", 1, 1, BP_I8, "a whole number from -128 to 127"},
    [BP_U8] = {"u8", 1, 1, BP_U8, "a whole number from 0 to 255"},
    [BP_I16] = {"i16", 2, 1, BP_I16, "a whole number from -32768 to 32767"},
    [BP_U16] = {"u16", 2, 1, BP_U16, "a whole number from 0 to 65535"},
    [BP_U64] = {"u64", 8, 1, BP_U64, "a whole number from 0 to 18446744073709551615"},
    [BP_DVEC2] = {"dvec2", 16, 2, BP_F64, "2 numbers, like 0 1"},
    [BP_DVEC3] = {"dvec3", 24, 3, BP_F64, "3 numbers, like 0 0 1"},
    [BP_DVEC4] = {"dvec4", 32, 4, BP_F64, "4 numbers, like 0 0 0 1"},
};

static const type_t *type_of(uint32_t type)
{
    return &types[type < BP_TYPE_COUNT ? type : BP_TYPE_NONE];
}

uint32_t value_size(uint32_t type)
{
    return type_of(type)->size;
}

const char *value_type_name(uint32_t type)
{
    return type_of(type)->name;
}

const char *value_form(uint32_t type)
{
    return type_of(type)->form;
}

uint32_t value_parts(uint32_t type)
{
    return type_of(type)->parts;
}

uint32_t value_part_type(uint32_t type)
{
    return type_of(type)->part;
}

double value_part(uint32_t type, const void *value, uint32_t part)
{
    const type_t *t = type_of(type);
    uint32_t size = type_of(t->part)->size;
    bp_value_t v = {.i64 = 0};
    if (part < t->parts) /* a cell of a column is aligned as its type, which a union need not be */
        memcpy(&v, (const char *)value + (size_t)part * size, size);
    switch (t->part) {
    case BP_I8: return v.i8;
    case BP_U8: return v.u8;
    case BP_I16: return v.i16;
    case BP_U16: return v.u16;
    case BP_I32: return v.i32;
    case BP_U32: return v.u32;
    case BP_I64: return (double)v.i64;
    case BP_U64: return (double)v.u64;
    case BP_F64: return v.f64;
    default: return (double)v.f32;
    }
}

bool value_is_whole(uint32_t type)
{
    return value_integer_bits(type) > 1;
}

uint32_t value_integer_bits(uint32_t type)
{
    switch (type) {
    case BP_BOOL: return 1;
    case BP_I8: case BP_U8: return 8;
    case BP_I16: case BP_U16: return 16;
    case BP_I32: case BP_U32: return 32;
    case BP_I64: case BP_U64: return 64;
    default: return 0;
    }
}

bool value_is_signed(uint32_t type)
{
    return type == BP_I8 || type == BP_I16 || type == BP_I32 || type == BP_I64;
}

value_integer_t value_read_integer(uint32_t type, const void *value)
{
    bp_value_t v = {.i64 = 0};
    memcpy(&v, value, value_size(type));
    switch (type) {
    case BP_I8: return (value_integer_t){(uint64_t)(int64_t)v.i8, v.i8 < 0};
    case BP_I16: return (value_integer_t){(uint64_t)(int64_t)v.i16, v.i16 < 0};
    case BP_I32: return (value_integer_t){(uint64_t)(int64_t)v.i32, v.i32 < 0};
    case BP_I64: return (value_integer_t){(uint64_t)v.i64, v.i64 < 0};
    case BP_BOOL: case BP_U8: return (value_integer_t){v.u8, false};
    case BP_U16: return (value_integer_t){v.u16, false};
    case BP_U32: return (value_integer_t){v.u32, false};
    default: return (value_integer_t){v.u64, false};
    }
}

bool value_write_integer(uint32_t type, value_integer_t integer, void *value)
{
    uint32_t bits = value_integer_bits(type), room = value_is_signed(type) ? bits - 1 : bits;
    uint64_t beyond = integer.negative ? ~integer.bits : integer.bits;
    if (bits == 0 || (integer.negative && !value_is_signed(type)) || (room < 64 && beyond >> room != 0))
        return false;
    switch (value_size(type)) {
    case 1: memcpy(value, &(uint8_t){(uint8_t)integer.bits}, 1); break;
    case 2: memcpy(value, &(uint16_t){(uint16_t)integer.bits}, 2); break;
    case 4: memcpy(value, &(uint32_t){(uint32_t)integer.bits}, 4); break;
    default: memcpy(value, &integer.bits, 8); break;
    }
    return true;
}

/* --- reading --------------------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    return text;
}

static bool only_blanks(const char *text)
{
    return *skip_blanks(text) == '\0';
}

/* Read the digits of a whole number, decimal or 0x... Returns the text behind them, or NULL where there are none or too
 * many. */
static const char *read_integer(const char *text, value_integer_t *integer)
{
    char *end = NULL;
    errno = 0;
    text = skip_blanks(text);
    if (strchr("+-0123456789", *text) == NULL) /* strtoull would pass over other blanks, and take a '-' behind them */
        return NULL;
    integer->negative = *text == '-';
    const char *digits = text + (*text == '-' || *text == '+');
    int base = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 16 : 10; /* 010 is ten */
    if (integer->negative)
        integer->bits = (uint64_t)strtoll(text, &end, base);
    else
        integer->bits = strtoull(text, &end, base);
    integer->negative = integer->negative && integer->bits != 0;
    return end == text || errno == ERANGE ? NULL : end;
}

/* One number of the given scalar type at `text`; returns what follows it, or NULL. */
static const char *read_number(uint32_t type, const char *text, void *out)
{
    char *end = NULL;
    if (type != BP_F32 && type != BP_F64) {
        value_integer_t integer;
        const char *rest = read_integer(text, &integer);
        return rest != NULL && value_write_integer(type, integer, out) ? rest : NULL;
    }
    errno = 0;
    text = skip_blanks(text);
    double number = bp_real_read(text, &end);
    bool fits = type == BP_F64 || !value_is_finite(number) || fabs(number) < 3.4028235677973366e38;
    if (end == text || !value_is_finite(number) || !fits)
        return NULL;
    if (type == BP_F64)
        memcpy(out, &number, sizeof number);
    else
        memcpy(out, &(float){(float)number}, sizeof(float));
    return end;
}

/* `parts` numbers separated by blanks or commas. Returns how many were read, or 0 where the text goes wrong. */
static uint32_t read_numbers(const type_t *type, const char *text, void *out)
{
    uint32_t size = type_of(type->part)->size;
    for (uint32_t i = 0; i < type->parts; i++) {
        text = read_number(type->part, text, (char *)out + i * size);
        if (text == NULL)
            return 0;
        const char *next = skip_blanks(text);
        if (*next == '\0')
            return i + 1;
        if (*next == ',')
            next++;
        if (next == text)
            return 0; /* two numbers with nothing in between */
        text = next;
    }
    return 0;
}

static bool read_bool(const char *text, uint8_t *out)
{
    static const struct { const char *word; uint8_t value; } words[] = {
        {"true", 1}, {"on", 1}, {"yes", 1}, {"1", 1}, {"false", 0}, {"off", 0}, {"no", 0}, {"0", 0},
    };
    char word[8];
    const char *rest = text_next_word(text, word, sizeof word);
    for (size_t i = 0; rest != NULL && only_blanks(rest) && i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i].word) == 0) {
            *out = words[i].value;
            return true;
        }
    }
    return false;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool read_hex_colour(const char *text, float out[4])
{
    size_t digits = 0;
    while (hex_digit(text[digits]) >= 0)
        digits++;
    if (!only_blanks(text + digits) || (digits != 3 && digits != 6 && digits != 8))
        return false;
    size_t wide = digits == 3 ? 1 : 2;
    out[3] = 1.0f;
    for (size_t i = 0; i < digits / wide; i++) {
        int high = hex_digit(text[i * wide]), low = hex_digit(text[i * wide + wide - 1]);
        out[i] = (float)(high * 16 + low) / 255.0f;
    }
    return true;
}

static bool read_colour(const char *text, bp_colour_t *out)
{
    text = skip_blanks(text);
    float parts[4] = {0, 0, 0, 1};
    if (*text == '#' ? !read_hex_colour(text + 1, parts) : read_numbers(&types[BP_COLOUR], text, parts) < 3)
        return false;
    *out = (bp_colour_t){parts[0], parts[1], parts[2], parts[3]};
    return true;
}

/* Read decimal digits of a 32-bit number. Returns the text behind them, or NULL. */
static const char *read_digits(const char *text, uint32_t *out)
{
    uint64_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (uint64_t)(*at - '0');
        if (number > UINT32_MAX)
            return NULL;
    }
    *out = (uint32_t)number;
    return at == text ? NULL : at;
}

static bool read_entity(const value_context_t *context, const char *text, bp_entity_t *out)
{
    uint32_t index, life;
    text = skip_blanks(text);
    if (strncmp(text, "none", 4) == 0 && only_blanks(text + 4)) {
        out->id = 0;
        return true;
    }
    if (text[0] != '#' || (text = read_digits(text + 1, &index)) == NULL || *text != ':')
        return false;
    text = read_digits(text + 1, &life);
    if (text == NULL || !only_blanks(text) || life < 1 || life > ENTITY_MAX_LIFE)
        return false;
    *out = entity_make(context->entity_base, index, life);
    return true;
}

static bool is_entity_name(const char *text)
{
    text = skip_blanks(text);
    return text[0] != '#' && text[0] != '\0' && !(strncmp(text, "none", 4) == 0 && only_blanks(text + 4));
}

bp_result_t value_parse(const value_context_t *context, uint32_t type, const char *text, bp_value_t *value,
                        error_text_t *error)
{
    const type_t *t = type_of(type);
    bool good = false;
    bp_value_t read;
    memset(&read, 0, sizeof read);
    switch (type) {
    case BP_BOOL: good = read_bool(text, &read.boolean); break;
    case BP_COLOUR: good = read_colour(text, &read.colour); break;
    case BP_ENTITY:
        if (context->find_entity != NULL && is_entity_name(text))
            return context->find_entity(context->finder, text, &value->entity);
        good = read_entity(context, text, &read.entity);
        break;
    case BP_STRING:
        read.string = text;
        good = true;
        break;
    case BP_NAME: {
        bp_result_t result = names_intern(context->names, text, &read.name, error);
        if (result != BP_OK)
            return result;
        good = true;
        break;
    }
    default: good = t->parts > 0 && read_numbers(t, text, &read) == t->parts; break;
    }
    if (!good)
        return error_set(error, BP_ERROR_TYPE, "'%.60s' is not %s (type %s)", text, t->form, t->name);
    *value = read;
    return BP_OK;
}

/* --- writing --------------------------------------------------------------------------------------------- */

static void format_float(double number, bool single, char *text, size_t size)
{
    for (int digits = single ? 6 : 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, number);
        double back = strtod(text, NULL); /* in the same locale as snprintf */
        if (single ? (float)back == (float)number : back == number)
            break;
    }
    bp_real_dot(text);
}

static void format_integer(uint32_t type, const void *value, char *text, size_t size)
{
    value_integer_t integer = value_read_integer(type, value);
    if (integer.negative)
        snprintf(text, size, "%" PRId64, (int64_t)integer.bits);
    else
        snprintf(text, size, "%" PRIu64, integer.bits);
}

static void format_numbers(uint32_t type, const void *value, char *text, size_t size)
{
    const type_t *t = type_of(type);
    size_t used = 0;
    for (uint32_t i = 0; i < t->parts && used < size; i++) {
        char number[40];
        if (value_is_whole(type))
            format_integer(type, value, number, sizeof number);
        else
            format_float(value_part(type, value, i), t->part == BP_F32, number, sizeof number);
        int n = snprintf(text + used, size - used, "%s%s", i > 0 ? " " : "", number);
        used += n > 0 ? (size_t)n : 0;
    }
}

void value_format(const value_context_t *context, uint32_t type, const void *value, char *text, size_t size)
{
    const type_t *t = type_of(type);
    bp_value_t v;
    memset(&v, 0, sizeof v);
    memcpy(&v, value, t->size);
    if (size > 0)
        text[0] = '\0';
    if (type == BP_BOOL)
        snprintf(text, size, "%s", v.boolean ? "true" : "false");
    else if (type == BP_STRING)
        snprintf(text, size, "%s", v.string);
    else if (type == BP_NAME)
        snprintf(text, size, "%s", names_text(context->names, v.name));
    else if (type == BP_ENTITY && v.entity.id == 0)
        snprintf(text, size, "none");
    else if (type == BP_ENTITY)
        snprintf(text, size, "#%" PRIu32 ":%" PRIu32, bp_entity_index(v.entity),
                 entity_life(context->entity_base, v.entity));
    else
        format_numbers(type, &v, text, size);
}
