/* units.c - words of a unit, one by one: a word that a world has a name for becomes that name.
 *
 * In "m/s^2" the words are m and s. A name of several words is put in parentheses beside others, so that what an
 * exponent or a stroke belongs to stays clear.
 */
#include "units.h"

#include <stdio.h>
#include <string.h>

static const char *const base[] = {"kg", "m", "s"};
enum { BASES = sizeof base / sizeof *base };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static size_t word_length(const char *text)
{
    size_t length = 0;
    while (is_letter(text[length]))
        length++;
    return length;
}

/* An entry "m=au" of a list: the unit, its name, and where the next entry begins. */
typedef struct entry_t {
    const char *unit, *name, *next;
    size_t unit_length, name_length;
} entry_t;

static entry_t read_entry(const char *at)
{
    entry_t e = {.unit = at + strspn(at, " \t\r\n")};
    e.unit_length = word_length(e.unit);
    const char *equals = e.unit + e.unit_length;
    equals += strspn(equals, " \t");
    e.next = equals + strcspn(equals, ",");
    if (*equals != '=')
        return e;
    e.name = equals + 1 + strspn(equals + 1, " \t");
    e.name_length = e.name < e.next ? (size_t)(e.next - e.name) : 0;
    while (e.name_length > 0 && strchr(" \t\r\n", e.name[e.name_length - 1]) != NULL)
        e.name_length--;
    return e;
}

static uint32_t number_of(const char *word, size_t length)
{
    uint32_t i = 0;
    while (i < BASES && (strlen(base[i]) != length || memcmp(base[i], word, length) != 0))
        i++;
    return i;
}

bp_result_t units_check(const char *units, error_text_t *error)
{
    bool said[BASES] = {false};
    if (strlen(units) > UNITS_MAX_LENGTH)
        return error_set(error, BP_ERROR_SYNTAX, "units: at most %d bytes", UNITS_MAX_LENGTH);
    for (const char *at = units; at[strspn(at, " \t\r\n")] != '\0';) {
        entry_t e = read_entry(at);
        uint32_t number = number_of(e.unit, e.unit_length);
        if (e.name_length == 0 || number == BASES)
            return error_set(error, BP_ERROR_SYNTAX,
                             "units: '%.*s' does not say what kg, m or s is; write units = kg=solar mass, m=au, s=day",
                             (int)(e.next - e.unit), e.unit);
        if (said[number])
            return error_set(error, BP_ERROR_SYNTAX, "units: %s is said twice", base[number]);
        said[number] = true;
        at = e.next + (*e.next == ',');
    }
    return BP_OK;
}

/* A text being written, which counts on beyond the end of its room: characters that do not fit are only counted. */
typedef struct out_t {
    char *text;
    size_t size, length;
} out_t;

static void put(out_t *out, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++, out->length++) {
        if (out->length + 1 < out->size)
            out->text[out->length] = bytes[i];
    }
}

static void put_word(out_t *out, const char *units, const char *word, size_t length, bool alone)
{
    for (const char *at = units; at[strspn(at, " \t\r\n")] != '\0';) {
        entry_t e = read_entry(at);
        if (e.unit_length == length && memcmp(e.unit, word, length) == 0) {
            bool apart = !alone && memchr(e.name, ' ', e.name_length) != NULL;
            put(out, "(", apart);
            put(out, e.name, e.name_length);
            put(out, ")", apart);
            return;
        }
        at = e.next + (*e.next == ',');
    }
    put(out, word, length);
}

size_t units_say(const char *units, const char *declared, char *text, size_t size)
{
    out_t out = {text, size, 0};
    bool alone = declared[word_length(declared)] == '\0';
    for (const char *at = declared; *at != '\0';) {
        size_t length = word_length(at);
        if (length > 0)
            put_word(&out, units, at, length, alone);
        else
            put(&out, at, length = 1);
        at += length;
    }
    if (size > 0)
        text[out.length < size ? out.length : size - 1] = '\0';
    return out.length;
}
