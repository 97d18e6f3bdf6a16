/* image_elf.c - what must hold in an ELF library before dlopen may map it.
 *
 * The section table stands behind everything else in the file. The system's loader has no use for it, but
 * it shows that a file is whole: a file cut short has lost it, a file that ends in zeros has null
 * sections. A library without it is therefore refused. Then follows what the loader itself walks without
 * looking: segments, then the dynamic table (image_elf_dynamic.c) and the symbols (image_elf_symbols.c).
 *
 * Counts are bounded by the file's size before anything loops over them. The records' layouts are those of
 * the System V ABI (chapters 4 and 5) and of GNU's extensions.
 */
#include "image.h"
#include "image_elf_dynamic.h"
#include "image_elf_symbols.h"

#include <stdio.h>

#if defined(__x86_64__)
enum { ELF_MACHINE = 62 };
#elif defined(__aarch64__)
enum { ELF_MACHINE = 183 };
#elif defined(__riscv)
enum { ELF_MACHINE = 243 };
#elif defined(__powerpc64__)
enum { ELF_MACHINE = 21 };
#elif defined(__s390x__)
enum { ELF_MACHINE = 22 };
#elif defined(__loongarch64)
enum { ELF_MACHINE = 258 };
#else
enum { ELF_MACHINE = 0 }; /* any will do */
#endif

static const char *machine_name(uint32_t machine)
{
    switch (machine) {
    case 3: return "x86 (32-bit)";
    case 21: return "ppc64";
    case 22: return "s390x";
    case 40: return "ARM (32-bit)";
    case 62: return "x86_64";
    case 183: return "aarch64";
    case 243: return "riscv64";
    case 258: return "loongarch64";
    default: return "an unknown machine";
    }
}

static bool elf_check_ident(const image_t *image)
{
    if (image->size < 4 || memcmp(image->bytes, "\177ELF", 4) != 0)
        return image_refuse_kind(image);
    if (image->size < sizeof(elf_header_t))
        return image_refuse_cut(image, "its header", 0, sizeof(elf_header_t));
    const uint16_t probe = 1;
    unsigned char little = 0, word = image->bytes[4], order = image->bytes[5];
    memcpy(&little, &probe, 1);
    if (word == 1)
        return image_refuse(image, "a 32-bit library; this host needs 64-bit ones");
    if (word != 2 || image->bytes[6] != 1 || (order != 1 && order != 2))
        return image_refuse(image, "damaged: the first bytes of its header make no sense");
    if (order != (little != 0 ? 1 : 2))
        return image_refuse(image, "built for a machine of the other byte order than this host's");
    return true;
}

static bool elf_check_header(const elf_t *elf)
{
    const elf_header_t *header = &elf->header;
    if (ELF_MACHINE != 0 && header->machine != ELF_MACHINE)
        return image_refuse_machine(elf->image, machine_name(header->machine), machine_name(ELF_MACHINE));
    if (header->type == 1)
        return image_refuse(elf->image, "an object file that is not linked yet; link it with -shared");
    if (header->type == 2)
        return image_refuse(elf->image, "a program, not a shared library; link it with -shared");
    if (header->type != 3)
        return image_refuse(elf->image,
                            "not a shared library: a file of ELF type %u", (unsigned)header->type);
    if (header->sections == 0 || header->section_count == 0)
        return image_refuse(elf->image, "its section table has been removed, so there is no telling whether "
                                        "the file is whole; link it again, and strip it with plain strip");
    if (header->version != 1 || header->segment_count == 0 || header->segment_count == 0xffff ||
        header->segment_bytes != sizeof(elf_segment_t) || header->section_bytes != sizeof(elf_section_t))
        return image_refuse(elf->image, "damaged: its header makes no sense");
    uint64_t bytes = header->segment_count * sizeof(elf_segment_t);
    if (!image_fits(header->segments, bytes, elf->image->size))
        return image_refuse_cut(elf->image, "its segment table", header->segments, bytes);
    bytes = header->section_count * sizeof(elf_section_t);
    if (!image_fits(header->sections, bytes, elf->image->size))
        return image_refuse_cut(elf->image, "its section table", header->sections, bytes);
    return true;
}

static bool elf_check_section(const elf_t *elf, uint32_t index, uint64_t name_bytes)
{
    elf_section_t section = elf_section(elf, index);
    char what[32];
    snprintf(what, sizeof what, "section %" PRIu32, index);
    if (section.type == SECTION_NULL)
        return image_refuse(elf->image,
                            "damaged: %s is null, as in a file that was not written to its end", what);
    if (section.type != SECTION_NO_BITS && !image_fits(section.offset, section.bytes, elf->image->size))
        return image_refuse_cut(elf->image, what, section.offset, section.bytes);
    if (section.name >= name_bytes || section.link >= elf->header.section_count)
        return image_refuse(elf->image, "damaged: %s refers to what is not there", what);
    /* The standard allows 0 too, but linkers write 1; a 0 is all that a short tail of zeros shows. */
    if (!is_power_of_two(section.alignment))
        return image_refuse(elf->image, "damaged: %s has an alignment that is no power of two", what);
    return true;
}

static bool elf_check_sections(const elf_t *elf)
{
    const elf_section_t null = {0};
    elf_section_t first = elf_section(elf, 0);
    if (memcmp(&first, &null, sizeof null) != 0 || elf->header.names >= elf->header.section_count)
        return image_refuse(elf->image, "damaged: its section table makes no sense");
    elf_section_t names = elf_section(elf, elf->header.names);
    for (uint32_t i = 1; i < elf->header.section_count; i++) {
        if (!elf_check_section(elf, i, names.bytes))
            return false;
    }
    if (names.type != SECTION_STRINGS || !elf_is_text_table(elf, names.offset, names.bytes))
        return image_refuse(elf->image, "damaged: the names of its sections are no texts");
    return true;
}

/* A loader maps segments one behind the other, each page of memory from the page of the file that goes
 * with it. */
static bool elf_check_load(const elf_t *elf, const elf_segment_t *segment, const char *what,
                           uint64_t *reached)
{
    if (segment->memory_bytes < segment->file_bytes ||
        !image_fits(segment->address, segment->memory_bytes, INT64_MAX))
        return image_refuse(elf->image, "damaged: %s is larger in the file than in memory", what);
    if (segment->address < *reached)
        return image_refuse(elf->image, "damaged: %s overlaps the one before it in memory", what);
    if (!is_power_of_two(segment->alignment) ||
        ((segment->address - segment->offset) & (segment->alignment - 1)) != 0)
        return image_refuse(elf->image, "damaged: %s is not aligned as it says", what);
    *reached = segment->address + segment->memory_bytes;
    return true;
}

static bool elf_check_segments(elf_t *elf)
{
    uint64_t reached = 0;
    uint32_t loads = 0, dynamics = 0;
    for (uint32_t i = 0; i < elf->header.segment_count; i++) {
        elf_segment_t segment = elf_segment(elf, i);
        char what[32];
        snprintf(what, sizeof what, "segment %" PRIu32, i);
        if (!image_fits(segment.offset, segment.file_bytes, elf->image->size))
            return image_refuse_cut(elf->image, what, segment.offset, segment.file_bytes);
        if (segment.type == SEGMENT_LOAD) {
            loads++;
            if (!elf_check_load(elf, &segment, what, &reached))
                return false;
        }
        if (segment.type == SEGMENT_DYNAMIC) {
            dynamics++;
            elf->dynamic = segment;
        }
    }
    if (loads == 0 || dynamics != 1)
        return image_refuse(elf->image, "not a shared library that can be loaded: it has no segment to load, "
                                        "or not one dynamic table");
    return true;
}

/* A loader reads the other segments (notes, thread-local data, what is to be protected) where they are
 * mapped. What is to be protected is rounded up to a page. */
static bool elf_check_mapped(const elf_t *elf)
{
    for (uint32_t i = 0; i < elf->header.segment_count; i++) {
        elf_segment_t segment = elf_segment(elf, i);
        uint64_t offset = 0;
        bool empty = segment.memory_bytes == 0 && segment.type != SEGMENT_DYNAMIC;
        if (segment.type == SEGMENT_LOAD || segment.type == SEGMENT_STACK || empty)
            continue;
        bool data = segment.type == SEGMENT_PROTECTED || segment.file_bytes == 0;
        if (!elf_locate(elf, segment.address, segment.file_bytes, 0, data ? NULL : &offset) ||
            (!data && offset != segment.offset) ||
            (segment.type == SEGMENT_PROTECTED && segment.memory_bytes > segment.file_bytes + PAGE_MOST))
            return image_refuse(elf->image,
                                "damaged: segment %" PRIu32 " lies in no segment that is loaded", i);
    }
    return true;
}

static bool elf_exports(const elf_t *elf, const elf_symbol_t *symbol)
{
    unsigned binding = symbol->info >> 4, type = symbol->info & 15u, visibility = symbol->other & 3u;
    bool global = binding == 1 || binding == 2 || binding == 10;
    bool seen = visibility == 0 || visibility == 3;
    bool defined = symbol->section != 0 && symbol->section < elf->header.section_count;
    return global && seen && type <= 2 && defined &&
           image_text_is(elf->image, elf->strings + symbol->name, elf->image->symbol);
}

static bool elf_check_export(const elf_t *elf)
{
    for (uint64_t i = 1; i < elf->symbol_count; i++) {
        elf_symbol_t symbol = elf_symbol(elf, i);
        if (!elf_exports(elf, &symbol))
            continue;
        if (elf_locate(elf, symbol.address, symbol.bytes > 0 ? symbol.bytes : 1, 0, NULL))
            return true;
        return image_refuse(elf->image, "damaged: its symbol %s is not in its memory", elf->image->symbol);
    }
    return image_refuse_symbol(elf->image);
}

bool image_check_elf(const void *bytes, size_t size, const char *symbol, char *why, size_t why_size)
{
    const image_t image = image_begin(bytes, size, symbol, why, why_size);
    elf_t elf = {.image = &image};
    if (!elf_check_ident(&image))
        return false;
    image_copy(&image, 0, &elf.header, sizeof elf.header);
    return elf_check_header(&elf) && elf_check_sections(&elf) && elf_check_segments(&elf) && elf_check_mapped(&elf) &&
           elf_check_dynamic(&elf) && elf_check_symbols(&elf) && elf_check_loading(&elf) && elf_check_export(&elf);
}
