/* pe.c - the symbol table of a library for Windows.
 *
 * Symbols have no lengths: a function goes on until the next one, so the nearest one before the address is it.
 * All numbers are little-endian and at any alignment, so they are put together from bytes.
 */
#include "pe.h"

#include <stdio.h>
#include <string.h>

enum { SECTION = 40, SYMBOL = 18, SHORT_NAME = 8, IS_FUNCTION = 0x20 };

typedef struct view_t {
    const unsigned char *bytes;
    uint64_t size, head, sections, symbols, texts; /* offsets into the file */
    uint32_t section_count, symbol_count;
} view_t;

static uint64_t number(const view_t *v, uint64_t at, uint32_t bytes)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes && at < v->size && bytes <= v->size - at; i++)
        value |= (uint64_t)v->bytes[at + i] << (8 * i);
    return value;
}

static bool view(view_t *v, const void *bytes, size_t size)
{
    enum { PE_64 = 0x20b };
    *v = (view_t){.bytes = bytes, .size = size};
    if (size < 64 || memcmp(bytes, "MZ", 2) != 0)
        return false;
    v->head = number(v, 60, 4);
    if (v->head + 24 > size || memcmp(v->bytes + v->head, "PE\0\0", 4) != 0 || number(v, v->head + 24, 2) != PE_64)
        return false;
    v->section_count = (uint32_t)number(v, v->head + 6, 2);
    v->symbols = number(v, v->head + 12, 4);
    v->symbol_count = (uint32_t)number(v, v->head + 16, 4);
    v->sections = v->head + 24 + number(v, v->head + 20, 2);
    v->texts = v->symbols + (uint64_t)v->symbol_count * SYMBOL;
    if (v->texts > size)
        v->symbol_count = 0;
    return true;
}

/* A name of up to eight bytes stands in the symbol; a longer one among the texts. */
static void copy_name(const view_t *v, uint64_t symbol, char *name, size_t size)
{
    bool is_short = number(v, symbol, 4) != 0;
    uint64_t at = is_short ? symbol : v->texts + number(v, symbol + 4, 4);
    uint64_t most = is_short ? at + SHORT_NAME : v->size;
    size_t length = 0;
    while (at + length < most && most <= v->size && length + 1 < size && v->bytes[at + length] != '\0')
        length++;
    snprintf(name, size, "%.*s", (int)length, length == 0 ? "" : (const char *)v->bytes + at);
}

bool pe_function_at(const void *bytes, size_t size, uint64_t offset, char *name, size_t name_size, uint64_t *into)
{
    view_t v;
    uint64_t nearest = UINT64_MAX, found = 0;
    if (!view(&v, bytes, size))
        return false;
    for (uint32_t i = 0; i < v.symbol_count; i++) {
        uint64_t at = v.symbols + (uint64_t)i * SYMBOL, section = number(&v, at + 12, 2);
        uint64_t place = v.sections + (section - 1) * SECTION;
        i += (uint32_t)number(&v, at + 17, 1); /* skip the auxiliary records behind this symbol */
        if (number(&v, at + 14, 2) != IS_FUNCTION || section == 0 || section > v.section_count)
            continue;
        uint64_t begin = number(&v, place + 12, 4), address = begin + number(&v, at + 8, 4);
        if (offset >= address && offset - address < nearest && offset - begin < number(&v, place + 8, 4)) {
            nearest = offset - address;
            found = at;
        }
    }
    if (found == 0)
        return false;
    copy_name(&v, found, name, name_size);
    *into = nearest;
    return name[0] != '\0';
}

uint64_t pe_linked_at(const void *bytes, size_t size)
{
    view_t v;
    return view(&v, bytes, size) ? number(&v, v.head + 48, 8) : 0;
}
