/* elf.c - reading an ELF file that may be damaged.
 *
 * Records are copied out, so no alignment is assumed, and every offset is checked by subtraction against the file's
 * size. A text is only handed out where a zero byte ends it within its section.
 */
#include "elf.h"

#include "image_inner.h"

#include <stdio.h>

static bool copy_out(const elf_view_t *view, uint64_t offset, void *out, size_t bytes)
{
    if (!image_fits(offset, bytes, view->size))
        return false;
    memcpy(out, view->bytes + offset, bytes);
    return true;
}

bool elf_view(const void *bytes, size_t size, elf_view_t *view)
{
    static const unsigned char magic[] = {0x7f, 'E', 'L', 'F', 2 /* 64 bits */, 1 /* little end first */};
    *view = (elf_view_t){.bytes = bytes, .size = size};
    if (!copy_out(view, 0, &view->header, sizeof view->header) || memcmp(view->header.ident, magic, sizeof magic) != 0)
        return false;
    return view->header.section_bytes == sizeof(elf_section_t) &&
           image_fits(view->header.sections, (uint64_t)view->header.section_count * sizeof(elf_section_t), size);
}

static bool raw_section(const elf_view_t *view, uint32_t index, elf_section_t *section)
{
    return index < view->header.section_count &&
           copy_out(view, view->header.sections + (uint64_t)index * sizeof *section, section, sizeof *section) &&
           (section->type == SECTION_NO_BITS || image_fits(section->offset, section->bytes, view->size));
}

/* The text at `at` of a section of texts. */
static const char *text_in(const elf_view_t *view, const elf_section_t *texts, uint64_t at)
{
    if (texts->type != SECTION_STRINGS || at >= texts->bytes)
        return "";
    const char *text = (const char *)view->bytes + texts->offset + at;
    return memchr(text, 0, (size_t)(texts->bytes - at)) != NULL ? text : "";
}

bool elf_view_section(const elf_view_t *view, uint32_t index, elf_section_t *section, const char **name)
{
    elf_section_t names;
    if (!raw_section(view, index, section))
        return false;
    *name = raw_section(view, view->header.names, &names) ? text_in(view, &names, section->name) : "";
    return true;
}

bool elf_view_find(const elf_view_t *view, uint32_t type, elf_section_t *section)
{
    for (uint32_t i = 0; i < view->header.section_count; i++) {
        if (raw_section(view, i, section) && section->type == type)
            return true;
    }
    return false;
}

bool elf_view_symbol(const elf_view_t *view, const elf_section_t *table, uint64_t index, elf_symbol_t *symbol,
                     const char **name)
{
    elf_section_t names;
    if (index >= table->bytes / sizeof *symbol ||
        !copy_out(view, table->offset + index * sizeof *symbol, symbol, sizeof *symbol))
        return false;
    *name = raw_section(view, table->link, &names) ? text_in(view, &names, symbol->name) : "";
    return true;
}

bool elf_view_dynamic(const elf_view_t *view, uint64_t index, elf_dynamic_t *entry)
{
    enum { SECTION_DYNAMIC = 6 };
    elf_section_t section;
    return elf_view_find(view, SECTION_DYNAMIC, &section) && index < section.bytes / sizeof *entry &&
           copy_out(view, section.offset + index * sizeof *entry, entry, sizeof *entry);
}

/* The lowest address that a segment of the file asks for: where its image begins, before the system moves it. */
static uint64_t first_address(const elf_view_t *view)
{
    uint64_t first = UINT64_MAX;
    elf_segment_t segment;
    for (uint32_t i = 0; i < view->header.segment_count; i++) {
        if (copy_out(view, view->header.segments + (uint64_t)i * sizeof segment, &segment, sizeof segment) &&
            segment.type == SEGMENT_LOAD && segment.address < first)
            first = segment.address;
    }
    return first == UINT64_MAX ? 0 : first;
}

bool elf_function_at(const void *bytes, size_t size, uint64_t offset, char *name, size_t name_size, uint64_t *into)
{
    enum { SECTION_SYMBOLS = 2, KIND_FUNCTION = 2 };
    elf_view_t view;
    elf_section_t table;
    elf_symbol_t symbol;
    const char *text;
    if (!elf_view(bytes, size, &view))
        return false;
    /* A stripped file still has the symbols that it exports. */
    if (!elf_view_find(&view, SECTION_SYMBOLS, &table) && !elf_view_find(&view, SECTION_DYNAMIC_SYMBOLS, &table))
        return false;
    uint64_t address = offset + first_address(&view);
    for (uint64_t i = 0; elf_view_symbol(&view, &table, i, &symbol, &text); i++) {
        if ((symbol.info & 0xf) != KIND_FUNCTION || symbol.section == 0 || address < symbol.address ||
            address - symbol.address >= symbol.bytes)
            continue;
        snprintf(name, name_size, "%s", text);
        *into = address - symbol.address;
        return true;
    }
    return false;
}
