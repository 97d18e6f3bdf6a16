/* image_pe.c - what must hold in a PE32+ library before LoadLibrary may map it.
 *
 * The tables stand at the file's beginning, so a file cut short shows there, but zeros at the file's end do not. Such
 * zeros show in the checksum, where the linker has left one, and else in tables of imports, exports and relocations
 * that end too soon.
 *
 * All numbers are little-endian and at any alignment, so they are put together from bytes; counts are bounded by the
 * file's size before anything loops over them. The layouts are those of Microsoft's "PE Format".
 */
#include "image.h"
#include "image_inner.h"

#include <stdio.h>

#if defined(__x86_64__) || defined(_M_X64)
enum { PE_MACHINE = 0x8664 };
#elif defined(__aarch64__) || defined(_M_ARM64)
enum { PE_MACHINE = 0xaa64 };
#else
enum { PE_MACHINE = 0 }; /* any will do */
#endif

enum { PE_SECTION_BYTES = 40, PE_SYMBOL_BYTES = 18, PE_IMPORT_BYTES = 20, PE_EXPORT_BYTES = 40 };
enum { PE_UNWIND_BYTES = 12, PE_THREAD_DATA_BYTES = 40 };
enum { PE_CHECKSUM = 64, PE_DIRECTORIES = 112 }; /* offsets in the optional header */
enum { PE_EXPORTS = 0, PE_IMPORTS = 1, PE_UNWIND = 3, PE_CERTIFICATES = 4, PE_RELOCATIONS = 5 };
enum { PE_THREAD_DATA = 9 };
enum { PE_IS_LINKED = 0x0002, PE_IS_LIBRARY = 0x2000, PE_HOLDS_CODE = 0x20000000 };
enum { PE_RELOCATION_NONE = 0, PE_RELOCATION_WORD = 10 };

typedef struct pe_t {
    const image_t *image;
    uint64_t optional, sections; /* offsets into the file */
    uint32_t section_count, directory_count;
    uint32_t memory_bytes, header_bytes, section_alignment, file_alignment;
    uint32_t checksum; /* 0: none */
} pe_t;

typedef struct pe_section_t {
    uint32_t memory_bytes, address, file_bytes, offset, flags;
} pe_section_t;

/* A part of the image, from an address to the end of its section. */
typedef struct span_t {
    uint64_t offset, bytes;
} span_t;

static uint32_t pe_u16(const image_t *image, uint64_t offset)
{
    return (uint32_t)image->bytes[offset] | (uint32_t)image->bytes[offset + 1] << 8;
}

static uint32_t pe_u32(const image_t *image, uint64_t offset)
{
    return pe_u16(image, offset) | pe_u16(image, offset + 2) << 16;
}

static uint64_t pe_u64(const image_t *image, uint64_t offset)
{
    return pe_u32(image, offset) | (uint64_t)pe_u32(image, offset + 4) << 32;
}

static const char *machine_name(uint32_t machine)
{
    switch (machine) {
    case 0x14c: return "x86 (32-bit)";
    case 0x1c4: return "ARM (32-bit)";
    case 0x8664: return "x86_64";
    case 0xaa64: return "aarch64";
    default: return "an unknown machine";
    }
}

/* Check the header of the library proper, behind the stub for MS-DOS. */
static bool pe_check_header(pe_t *pe)
{
    const image_t *image = pe->image;
    if (image->size < 2 || memcmp(image->bytes, "MZ", 2) != 0)
        return image_refuse_kind(image);
    uint64_t at = image->size >= 64 ? pe_u32(image, 60) : 64;
    if (!image_fits(at, 24, image->size))
        return image_refuse_cut(image, "its header", at, 24);
    if (memcmp(image->bytes + at, "PE\0\0", 4) != 0 || at % 4 != 0)
        return image_refuse(image, "not a shared library: a program for MS-DOS, or damaged");
    uint32_t machine = pe_u16(image, at + 4), flags = pe_u16(image, at + 22);
    uint32_t optional_bytes = pe_u16(image, at + 20);
    pe->section_count = pe_u16(image, at + 6);
    pe->optional = at + 24;
    pe->sections = pe->optional + optional_bytes;
    uint64_t bytes = (uint64_t)pe->section_count * PE_SECTION_BYTES;
    if (!image_fits(pe->sections, bytes, image->size))
        return image_refuse_cut(image, "its section table", pe->sections, bytes);
    if (optional_bytes >= 2 && pe_u16(image, pe->optional) == 0x10b)
        return image_refuse(image, "a 32-bit library; this host needs 64-bit ones");
    if (PE_MACHINE != 0 && machine != PE_MACHINE)
        return image_refuse_machine(image, machine_name(machine), machine_name(PE_MACHINE));
    if ((flags & PE_IS_LINKED) == 0 || (flags & PE_IS_LIBRARY) == 0)
        return image_refuse(image, "a program, not a shared library; link it with -shared");
    if (optional_bytes < PE_DIRECTORIES + 8 || pe_u16(image, pe->optional) != 0x20b)
        return image_refuse(image, "damaged: its header makes no sense");
    return true;
}

static bool pe_check_sizes(pe_t *pe)
{
    const image_t *image = pe->image;
    pe->section_alignment = pe_u32(image, pe->optional + 32);
    pe->file_alignment = pe_u32(image, pe->optional + 36);
    pe->memory_bytes = pe_u32(image, pe->optional + 56);
    pe->header_bytes = pe_u32(image, pe->optional + 60);
    pe->directory_count = pe_u32(image, pe->optional + 108);
    pe->checksum = pe_u32(image, pe->optional + PE_CHECKSUM);
    uint64_t tables = pe->sections + (uint64_t)pe->section_count * PE_SECTION_BYTES;
    if (!is_power_of_two(pe->section_alignment) || !is_power_of_two(pe->file_alignment) ||
        pe->file_alignment < 512 || pe->section_alignment < pe->file_alignment || pe->directory_count > 16 ||
        pe->sections < pe->optional + PE_DIRECTORIES + (uint64_t)pe->directory_count * 8 ||
        pe->header_bytes < tables || pe->memory_bytes < pe->header_bytes)
        return image_refuse(image, "damaged: the sizes in its header make no sense");
    if (pe->header_bytes > image->size)
        return image_refuse_cut(image, "its header", 0, pe->header_bytes);
    return true;
}

static pe_section_t pe_section(const pe_t *pe, uint32_t index)
{
    uint64_t at = pe->sections + (uint64_t)index * PE_SECTION_BYTES;
    return (pe_section_t){pe_u32(pe->image, at + 8), pe_u32(pe->image, at + 12), pe_u32(pe->image, at + 16),
                          pe_u32(pe->image, at + 20), pe_u32(pe->image, at + 36)};
}

static bool pe_check_sections(const pe_t *pe)
{
    uint64_t reached = pe->header_bytes;
    for (uint32_t i = 0; i < pe->section_count; i++) {
        pe_section_t section = pe_section(pe, i);
        uint64_t bytes = section.memory_bytes > 0 ? section.memory_bytes : section.file_bytes;
        char what[32];
        snprintf(what, sizeof what, "section %" PRIu32, i + 1);
        if (!image_fits(section.offset, section.file_bytes, pe->image->size))
            return image_refuse_cut(pe->image, what, section.offset, section.file_bytes);
        if (section.file_bytes > 0 && section.offset % pe->file_alignment != 0)
            return image_refuse(pe->image, "damaged: %s does not begin where it can", what);
        if (bytes == 0 || section.address < reached || section.address % pe->section_alignment != 0 ||
            !image_fits(section.address, bytes, pe->memory_bytes))
            return image_refuse(pe->image, "damaged: %s has no place of its own in memory", what);
        reached = section.address + bytes;
    }
    return true;
}

/* Find a directory's address and size. False where the library has none of that kind. */
static bool pe_directory(const pe_t *pe, uint32_t index, uint32_t *address, uint32_t *bytes)
{
    if (index >= pe->directory_count)
        return false;
    *address = pe_u32(pe->image, pe->optional + PE_DIRECTORIES + index * 8);
    *bytes = pe_u32(pe->image, pe->optional + PE_DIRECTORIES + index * 8 + 4);
    return *address != 0 && *bytes != 0;
}

/* Check the parts behind the sections: the linker's symbols with their texts, and certificates. */
static bool pe_check_tail(const pe_t *pe)
{
    const image_t *image = pe->image;
    uint64_t symbols = pe_u32(image, pe->optional - 12);
    uint64_t bytes = (uint64_t)pe_u32(image, pe->optional - 8) * PE_SYMBOL_BYTES;
    uint32_t at = 0, certificate_bytes = 0;
    if (symbols != 0 && !image_fits(symbols, bytes + 4, image->size))
        return image_refuse_cut(image, "its symbol table", symbols, bytes + 4);
    if (symbols != 0 && !image_fits(symbols, bytes + pe_u32(image, symbols + bytes), image->size))
        return image_refuse_cut(image, "its symbol table", symbols, bytes + pe_u32(image, symbols + bytes));
    /* The texts begin with how many bytes they are, these four counted. Zeros at the file's end show here too, since
     * one in 65,536 such ends has the right checksum. */
    if (symbols != 0 && pe_u32(image, symbols + bytes) < 4)
        return image_refuse(image, "damaged: the texts of its symbol table are missing");
    if (pe_directory(pe, PE_CERTIFICATES, &at, &certificate_bytes) &&
        !image_fits(at, certificate_bytes, image->size))
        return image_refuse_cut(image, "its certificate", at, certificate_bytes);
    return true;
}

/* Check the checksum: all 16-bit words of the file added up with the carry coming round, the checksum itself left out,
 * and the file's size. Linkers that write no checksum leave 0. */
static bool pe_check_sum(const pe_t *pe)
{
    const image_t *image = pe->image;
    uint64_t sum = 0;
    if (pe->checksum == 0)
        return true;
    for (uint64_t i = 0; i + 1 < image->size; i += 2)
        sum += pe_u16(image, i);
    if (image->size % 2 != 0)
        sum += image->bytes[image->size - 1];
    sum -= (pe->checksum & 0xffff) + (pe->checksum >> 16);
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum + image->size) & 0xffffffff;
    if (sum != pe->checksum)
        return image_refuse(image, "damaged: its checksum is %08" PRIx32 " where %08" PRIx64
                                   " would be right; copy or link it again", pe->checksum, sum);
    return true;
}

/* Find where in the file the bytes stand that memory will hold at `address`. At least `bytes` bytes are wanted. */
static bool pe_locate(const pe_t *pe, uint32_t address, uint64_t bytes, span_t *span)
{
    for (uint32_t i = 0; i < pe->section_count; i++) {
        pe_section_t section = pe_section(pe, i);
        if (address < section.address || !image_fits(address - section.address, bytes, section.file_bytes))
            continue;
        span->offset = section.offset + (address - section.address);
        span->bytes = section.file_bytes - (address - section.address);
        return true;
    }
    return false;
}

/* Does a text of at least one character stand there, ended within its section? */
static bool pe_is_text(const pe_t *pe, uint32_t address)
{
    span_t span;
    return pe_locate(pe, address, 2, &span) && pe->image->bytes[span.offset] != '\0' &&
           memchr(pe->image->bytes + span.offset, '\0', (size_t)span.bytes) != NULL;
}

/* Check the list of symbols wanted from one library: texts behind two bytes of hint, or numbers; ended by 0. Counts
 * down `left`, the most entries that the file has room for. */
static bool pe_check_import_list(const pe_t *pe, uint32_t address, uint64_t *left)
{
    span_t list;
    if (!pe_locate(pe, address, 8, &list) || pe_u64(pe->image, list.offset) == 0)
        return false;
    for (uint64_t i = 0; (i + 1) * 8 <= list.bytes && *left > 0; i++, --*left) {
        uint64_t entry = pe_u64(pe->image, list.offset + i * 8);
        if (entry == 0)
            return true;
        bool number = entry >> 63 != 0;
        if (!number && (entry > INT32_MAX || !pe_is_text(pe, (uint32_t)entry + 2)))
            return false;
    }
    return false;
}

/* Check the table of imports. Zeros look like an empty table, so an empty table is accepted only where the file has a
 * checksum. */
static bool pe_check_imports(const pe_t *pe)
{
    uint32_t address = 0, bytes = 0;
    uint64_t left = pe->image->size / 8 + 1;
    span_t table;
    if (!pe_directory(pe, PE_IMPORTS, &address, &bytes))
        return true;
    if (!pe_locate(pe, address, PE_IMPORT_BYTES, &table) ||
        (pe_u32(pe->image, table.offset + 12) == 0 && pe->checksum == 0))
        return image_refuse(pe->image, "damaged: its table of imports is not there");
    for (uint64_t i = 0; (i + 1) * PE_IMPORT_BYTES <= table.bytes; i++) {
        uint64_t at = table.offset + i * PE_IMPORT_BYTES;
        uint32_t wanted = pe_u32(pe->image, at), filled = pe_u32(pe->image, at + 16);
        uint32_t name = pe_u32(pe->image, at + 12);
        if (name == 0)
            return true;
        if (!pe_is_text(pe, name) || !pe_check_import_list(pe, filled, &left) ||
            (wanted != 0 && !pe_check_import_list(pe, wanted, &left)))
            return image_refuse(pe->image, "damaged: its table of imports makes no sense");
    }
    return image_refuse(pe->image, "damaged: its table of imports has no end");
}

/* Check one page's relocations: an address, the block's size, then words of a kind (4 bits) and a place (12 bits). The
 * kind that does nothing only ever fills up the last word. */
static bool pe_relocation_block_is_sound(const pe_t *pe, uint64_t at, uint64_t bytes)
{
    uint32_t page = pe_u32(pe->image, at);
    for (uint64_t i = 8; i < bytes; i += 2) {
        uint32_t word = pe_u16(pe->image, at + i), kind = word >> 12;
        if (kind == PE_RELOCATION_NONE && i + 2 == bytes && i > 8)
            return true;
        if (kind != PE_RELOCATION_WORD || !image_fits((uint64_t)page + (word & 0xfff), 8, pe->memory_bytes))
            return false;
    }
    return true;
}

static bool pe_check_relocations(const pe_t *pe)
{
    uint32_t address = 0, bytes = 0;
    span_t table;
    if (!pe_directory(pe, PE_RELOCATIONS, &address, &bytes))
        return true;
    if (!pe_locate(pe, address, bytes, &table))
        return image_refuse(pe->image, "damaged: its relocations are not there");
    for (uint64_t at = 0; at < bytes;) {
        uint64_t block = bytes - at >= 8 ? pe_u32(pe->image, table.offset + at + 4) : 0;
        if (block < 8 || block % 2 != 0 || block > bytes - at ||
            !pe_relocation_block_is_sound(pe, table.offset + at, block))
            return image_refuse(pe->image, "damaged: its relocations make no sense");
        at += block;
    }
    return true;
}

/* Check the table for unwinding: code that unwinds the stack searches it, so the table must be in order. */
static bool pe_check_unwind(const pe_t *pe)
{
    uint32_t address = 0, bytes = 0, reached = 0;
    span_t table;
    if (PE_MACHINE != 0x8664 || !pe_directory(pe, PE_UNWIND, &address, &bytes))
        return true;
    if (bytes % PE_UNWIND_BYTES != 0 || !pe_locate(pe, address, bytes, &table))
        return image_refuse(pe->image, "damaged: its table for unwinding is not there");
    for (uint64_t at = table.offset; at < table.offset + bytes; at += PE_UNWIND_BYTES) {
        uint32_t first = pe_u32(pe->image, at), end = pe_u32(pe->image, at + 4);
        if (first < reached || first > end || end == 0 || end > pe->memory_bytes)
            return image_refuse(pe->image, "damaged: its table for unwinding makes no sense");
        reached = end;
    }
    return true;
}

static bool pe_check_entry(const pe_t *pe)
{
    uint32_t entry = pe_u32(pe->image, pe->optional + 16), address = 0, bytes = 0;
    span_t ignored;
    if (pe_directory(pe, PE_THREAD_DATA, &address, &bytes) &&
        !pe_locate(pe, address, PE_THREAD_DATA_BYTES, &ignored))
        return image_refuse(pe->image, "damaged: its data for threads is not there");
    for (uint32_t i = 0; i < pe->section_count && entry != 0; i++) {
        pe_section_t section = pe_section(pe, i);
        if ((section.flags & PE_HOLDS_CODE) != 0 && entry >= section.address &&
            image_fits(entry - section.address, 1, section.file_bytes))
            return true;
    }
    if (entry == 0)
        return true;
    return image_refuse(pe->image, "damaged: the function that is called at loading is not in its code");
}

/* Check the exports: texts, the numbers of their functions, and the functions (here: data) by number. */
static bool pe_check_export(const pe_t *pe)
{
    uint32_t address = 0, bytes = 0;
    span_t table, names, numbers, items, name;
    if (!pe_directory(pe, PE_EXPORTS, &address, &bytes))
        return image_refuse_symbol(pe->image);
    if (!pe_locate(pe, address, PE_EXPORT_BYTES, &table))
        return image_refuse(pe->image, "damaged: its table of exports is not there");
    uint64_t item_count = pe_u32(pe->image, table.offset + 20), count = pe_u32(pe->image, table.offset + 24);
    if (count == 0)
        return image_refuse_symbol(pe->image);
    if (!pe_locate(pe, pe_u32(pe->image, table.offset + 28), item_count * 4, &items) ||
        !pe_locate(pe, pe_u32(pe->image, table.offset + 32), count * 4, &names) ||
        !pe_locate(pe, pe_u32(pe->image, table.offset + 36), count * 2, &numbers))
        return image_refuse(pe->image, "damaged: its table of exports makes no sense");
    for (uint64_t i = 0; i < count; i++) {
        uint32_t number = pe_u16(pe->image, numbers.offset + i * 2);
        if (!pe_locate(pe, pe_u32(pe->image, names.offset + i * 4), 1, &name) || number >= item_count)
            return image_refuse(pe->image, "damaged: export %" PRIu64 " has no name, or no place", i);
        if (!image_text_is(pe->image, name.offset, pe->image->symbol))
            continue;
        uint32_t item = pe_u32(pe->image, items.offset + (uint64_t)number * 4);
        if (item == 0 || item >= pe->memory_bytes || (item >= address && item - address < bytes))
            return image_refuse(pe->image, "damaged: its symbol %s is not in its memory", pe->image->symbol);
        return true;
    }
    return image_refuse_symbol(pe->image);
}

bool image_check_pe(const void *bytes, size_t size, const char *symbol, char *why, size_t why_size)
{
    const image_t image = image_begin(bytes, size, symbol, why, why_size);
    pe_t pe = {.image = &image};
    return pe_check_header(&pe) && pe_check_sizes(&pe) && pe_check_sections(&pe) && pe_check_tail(&pe) &&
           pe_check_sum(&pe) && pe_check_imports(&pe) && pe_check_relocations(&pe) && pe_check_unwind(&pe) &&
           pe_check_entry(&pe) && pe_check_export(&pe);
}
