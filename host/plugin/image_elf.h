/* image_elf.h - an ELF library that is being judged, and the look-up of its parts.
 *
 * Records are copied out, so no alignment is assumed. The comment of each function says which checks must have passed
 * before it is called; the checks run in that order (image_check_elf).
 *
 * Inner to image_elf.c and image_elf_symbols.c; others include image.h.
 */
#ifndef HOST_PLUGIN_IMAGE_ELF_H
#define HOST_PLUGIN_IMAGE_ELF_H

#include "elf.h"
#include "image_inner.h"

typedef struct elf_t {
    const image_t *image;
    elf_header_t header;
    elf_segment_t dynamic;
    uint64_t strings, string_bytes; /* offsets into the file */
    uint64_t symbols, symbol_count;
} elf_t;

/* A section, a segment. Only after the header has been checked. */
elf_section_t elf_section(const elf_t *elf, uint32_t index);
elf_segment_t elf_segment(const elf_t *elf, uint32_t index);

/* Do the bytes, which lie in the file, begin and end with a zero byte? */
bool elf_is_text_table(const elf_t *elf, uint64_t offset, uint64_t bytes);

/* Find where in the file the bytes stand that memory will hold at `address`: `bytes` bytes in one segment that has all
 * of `flags`. With `offset` NULL, memory that no byte of the file stands for will do too. Only after the segments have
 * been checked. */
bool elf_locate(const elf_t *elf, uint64_t address, uint64_t bytes, uint32_t flags, uint64_t *offset);

/* Copy out the bytes that memory will hold at `address`; false where the file has none for that address. */
bool elf_read(const elf_t *elf, uint64_t address, void *out, size_t bytes);

/* An entry of the dynamic table; the value of a tag (where the tag stands there twice the last one, as the loader takes
 * it). Only after the dynamic table is known to end. */
elf_dynamic_t elf_dynamic(const elf_t *elf, uint64_t index);
bool elf_find_tag(const elf_t *elf, uint64_t tag, uint64_t *value);
bool elf_has_tag(const elf_t *elf, uint64_t tag);

/* One of the symbols. Only after elf_count_symbols has found them. */
elf_symbol_t elf_symbol(const elf_t *elf, uint64_t index);

/* Find the symbols, and check them, their hash tables and their versions. After elf_check_dynamic. */
bool elf_check_symbols(elf_t *elf);

#endif
