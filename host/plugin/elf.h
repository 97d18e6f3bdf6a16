/* elf.h - the records of an ELF file, for the files that read libraries as bytes (image_elf.c, elf.c).
 *
 * As laid down in the System V ABI (chapters 4 and 5) and in GNU's extensions, 64-bit, in this machine's byte order.
 *
 * Not here, but for the view below: reading a file (image_elf.c).
 */
#ifndef HOST_PLUGIN_ELF_H
#define HOST_PLUGIN_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct elf_header_t {
    unsigned char ident[16]; /* magic, class, byte order, version ... */
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, segments, sections;
    uint32_t flags;
    uint16_t header_bytes, segment_bytes, segment_count, section_bytes, section_count, names;
} elf_header_t;

typedef struct elf_segment_t {
    uint32_t type, flags;
    uint64_t offset, address, physical, file_bytes, memory_bytes, alignment;
} elf_segment_t;

typedef struct elf_section_t {
    uint32_t name, type;
    uint64_t flags, address, offset, bytes;
    uint32_t link, info;
    uint64_t alignment, entry_bytes;
} elf_section_t;

typedef struct elf_dynamic_t {
    uint64_t tag, value;
} elf_dynamic_t;

typedef struct elf_symbol_t {
    uint32_t name;
    unsigned char info, other;
    uint16_t section;
    uint64_t address, bytes;
} elf_symbol_t;

typedef struct elf_relocation_t {
    uint64_t address, info, addend;
} elf_relocation_t;

/* Versions of symbols: those that a library needs of others, and those that it offers, each a list of lists. */
typedef struct elf_need_t {
    uint16_t version, count;
    uint32_t library, items, next;
} elf_need_t;

typedef struct elf_need_item_t {
    uint32_t hash;
    uint16_t flags, index;
    uint32_t name, next;
} elf_need_item_t;

typedef struct elf_offer_t {
    uint16_t version, flags, index, count;
    uint32_t hash, items, next;
} elf_offer_t;

_Static_assert(sizeof(elf_header_t) == 64 && sizeof(elf_segment_t) == 56 && sizeof(elf_section_t) == 64,
               "as in the file");
_Static_assert(sizeof(elf_dynamic_t) == 16 && sizeof(elf_symbol_t) == 24 && sizeof(elf_relocation_t) == 24,
               "as in the file");
_Static_assert(sizeof(elf_need_t) == 16 && sizeof(elf_need_item_t) == 16 && sizeof(elf_offer_t) == 20,
               "as in the file");

enum { SECTION_NULL = 0, SECTION_STRINGS = 3, SECTION_NO_BITS = 8, SECTION_DYNAMIC_SYMBOLS = 11 };
enum { SEGMENT_LOAD = 1, SEGMENT_DYNAMIC = 2, SEGMENT_STACK = 0x6474e551, SEGMENT_PROTECTED = 0x6474e552 };
enum { CAN_RUN = 1, CAN_WRITE = 2 };
enum {
    TAG_NULL = 0, TAG_NEEDED = 1, TAG_PLT_BYTES = 2, TAG_HASH = 4, TAG_STRINGS = 5, TAG_SYMBOLS = 6,
    TAG_RELA = 7, TAG_RELA_BYTES = 8, TAG_RELA_ENTRY = 9, TAG_STRING_BYTES = 10, TAG_SYMBOL_ENTRY = 11,
    TAG_INIT = 12, TAG_FINI = 13, TAG_SONAME = 14, TAG_RPATH = 15, TAG_PLT_KIND = 20,
    TAG_TEXT_RELOCATIONS = 22, TAG_PLT = 23, TAG_INIT_ARRAY = 25, TAG_FINI_ARRAY = 26, TAG_INIT_BYTES = 27,
    TAG_FINI_BYTES = 28, TAG_RUNPATH = 29, TAG_FLAGS = 30, TAG_GNU_HASH = 0x6ffffef5,
    TAG_VERSIONS = 0x6ffffff0, TAG_RELATIVE_COUNT = 0x6ffffff9, TAG_FLAGS_1 = 0x6ffffffb, TAG_OFFERS = 0x6ffffffc,
    TAG_OFFER_COUNT = 0x6ffffffd, TAG_NEEDS = 0x6ffffffe, TAG_NEED_COUNT = 0x6fffffff
};
enum { FLAG_TEXT_RELOCATIONS = 4, FLAG_1_PROGRAM = 0x08000000 };

/* --- elf view ---------------------------------------------------------------------------------------------------- */

/* Looking into a library's file: its sections, its symbols, and which function lies at an address.
 *
 * For messages and checks, on the bytes of a file that may be anything: every answer is bounds-checked, and a record
 * that cannot be read counts as missing. A library of a system without ELF is refused like any file that is not ELF.
 *
 * Not here: judging a library (image.h); debugging information.
 */

typedef struct elf_view_t {
    const unsigned char *bytes;
    uint64_t size;
    elf_header_t header;
} elf_view_t;

/* Begin to look at a file's bytes. false: no 64-bit ELF file, or its section table lies outside the file. */
bool elf_view(const void *bytes, size_t size, elf_view_t *view);

/* Section `index`, and its name ("" for a section without one); false past the last, or where its bytes lie outside
   the file. */
bool elf_view_section(const elf_view_t *view, uint32_t index, elf_section_t *section, const char **name);

/* The first section of a type; false where there is none. */
bool elf_view_find(const elf_view_t *view, uint32_t type, elf_section_t *section);

/* Symbol `index` of a symbol table, and its name; false past the last. */
bool elf_view_symbol(const elf_view_t *view, const elf_section_t *table, uint64_t index, elf_symbol_t *symbol,
                     const char **name);

/* Entry `index` of the dynamic table; false past the last. */
bool elf_view_dynamic(const elf_view_t *view, uint64_t index, elf_dynamic_t *entry);

/* The name of the function that lies `offset` bytes behind the beginning of the image in memory, and how many bytes
 * into that function the address is. false where no symbol says. */
bool elf_function_at(const void *bytes, size_t size, uint64_t offset, char *name, size_t name_size, uint64_t *into);

#endif
