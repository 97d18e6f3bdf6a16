/* image_elf_read.h - an ELF library that is being judged, and where in it things are.
 *
 * Inner to image_elf*.c. Records are copied out, so no alignment is assumed. What each answer presupposes is said beside it; the
 * checks run in that order (image_check_elf).
 *
 * What it does not do: it refuses nothing.
 */
#ifndef HOST_PLUGIN_IMAGE_ELF_READ_H
#define HOST_PLUGIN_IMAGE_ELF_READ_H

#include "elf_format.h"
#include "image_file.h"

typedef struct elf_t {
    const image_t *image;
    elf_header_t header;
    elf_segment_t dynamic;
    uint64_t strings, string_bytes; /* offsets into the file */
    uint64_t symbols, symbol_count;
} elf_t;

/* Once the header is good: a section, a segment. */
elf_section_t elf_section(const elf_t *elf, uint32_t index);
elf_segment_t elf_segment(const elf_t *elf, uint32_t index);

/* Do the bytes lie in the file, and begin and end with a zero byte? */
bool elf_is_text_table(const elf_t *elf, uint64_t offset, uint64_t bytes);

/* Once the segments are good. Where in the file is what memory will hold at `address`? Wanted are `bytes` bytes in one segment that
 * has all of `flags`. With `offset` NULL memory that is in no file will do. */
bool elf_locate(const elf_t *elf, uint64_t address, uint64_t bytes, uint32_t flags, uint64_t *offset);

/* Copy out what memory will hold at `address`; false where no file says. */
bool elf_read(const elf_t *elf, uint64_t address, void *out, size_t bytes);

/* Once the dynamic table is known to end: an entry of it; the value of a tag, of one that stands there twice the last, as the
 * loader takes it. */
elf_dynamic_t elf_dynamic(const elf_t *elf, uint64_t index);
bool elf_find_tag(const elf_t *elf, uint64_t tag, uint64_t *value);
bool elf_has_tag(const elf_t *elf, uint64_t tag);

/* Once the symbols are found: one of them. */
elf_symbol_t elf_symbol(const elf_t *elf, uint64_t index);

#endif
