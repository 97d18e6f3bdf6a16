/* image_elf_read.c - finding sections, segments, tags and symbols of an ELF library that is being judged.
 *
 * Addresses are found through the segments, as the system's loader does, and never through the sections, which it does not read.
 */
#include "image_elf_read.h"

elf_section_t elf_section(const elf_t *elf, uint32_t index)
{
    elf_section_t section;
    image_copy(elf->image, elf->header.sections + index * sizeof section, &section, sizeof section);
    return section;
}

elf_segment_t elf_segment(const elf_t *elf, uint32_t index)
{
    elf_segment_t segment;
    image_copy(elf->image, elf->header.segments + index * sizeof segment, &segment, sizeof segment);
    return segment;
}

bool elf_is_text_table(const elf_t *elf, uint64_t offset, uint64_t bytes)
{
    return bytes > 0 && image_fits(offset, bytes, elf->image->size) && elf->image->bytes[offset] == '\0' &&
           elf->image->bytes[offset + bytes - 1] == '\0';
}

bool elf_locate(const elf_t *elf, uint64_t address, uint64_t bytes, uint32_t flags, uint64_t *offset)
{
    for (uint32_t i = 0; i < elf->header.segment_count; i++) {
        elf_segment_t segment = elf_segment(elf, i);
        if (segment.type != SEGMENT_LOAD || (segment.flags & flags) != flags || address < segment.address)
            continue;
        uint64_t room = offset != NULL ? segment.file_bytes : segment.memory_bytes;
        if (!image_fits(address - segment.address, bytes, room))
            continue;
        if (offset != NULL)
            *offset = segment.offset + (address - segment.address);
        return true;
    }
    return false;
}

bool elf_read(const elf_t *elf, uint64_t address, void *out, size_t bytes)
{
    uint64_t offset = 0;
    if (!elf_locate(elf, address, bytes, 0, &offset))
        return false;
    image_copy(elf->image, offset, out, bytes);
    return true;
}

elf_dynamic_t elf_dynamic(const elf_t *elf, uint64_t index)
{
    elf_dynamic_t dynamic;
    image_copy(elf->image, elf->dynamic.offset + index * sizeof dynamic, &dynamic, sizeof dynamic);
    return dynamic;
}

bool elf_find_tag(const elf_t *elf, uint64_t tag, uint64_t *value)
{
    bool found = false;
    for (uint64_t i = 0;; i++) {
        elf_dynamic_t dynamic = elf_dynamic(elf, i);
        if (dynamic.tag == TAG_NULL)
            return found;
        if (dynamic.tag == tag) {
            *value = dynamic.value;
            found = true;
        }
    }
}

bool elf_has_tag(const elf_t *elf, uint64_t tag)
{
    uint64_t value;
    return elf_find_tag(elf, tag, &value);
}

elf_symbol_t elf_symbol(const elf_t *elf, uint64_t index)
{
    elf_symbol_t symbol;
    image_copy(elf->image, elf->symbols + index * sizeof symbol, &symbol, sizeof symbol);
    return symbol;
}
