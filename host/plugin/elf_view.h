/* elf_view.h - looking into a library's file: its sections, its symbols, and which function lies at an address.
 *
 * For messages and checks, on the bytes of a file that may be anything: every answer is bounds-checked, and what cannot be read
 * is not there. On other systems than those with ELF every file is "no ELF".
 *
 * What it does not do: it judges nothing (image.h) and reads no debugging information.
 */
#ifndef HOST_PLUGIN_ELF_VIEW_H
#define HOST_PLUGIN_ELF_VIEW_H

#include "elf_format.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct elf_view_t {
    const unsigned char *bytes;
    uint64_t size;
    elf_header_t header;
} elf_view_t;

/* Begin to look. false: no 64-bit ELF file, or its section table lies outside it. */
bool elf_view(const void *bytes, size_t size, elf_view_t *view);

/* Section `index`, and its name ("" where it has none); false past the last, or where its bytes lie outside the file. */
bool elf_view_section(const elf_view_t *view, uint32_t index, elf_section_t *section, const char **name);

/* The first section of a type; false where there is none. */
bool elf_view_find(const elf_view_t *view, uint32_t type, elf_section_t *section);

/* Symbol `index` of a symbol table, and its name; false past the last. */
bool elf_view_symbol(const elf_view_t *view, const elf_section_t *table, uint64_t index, elf_symbol_t *symbol, const char **name);

/* Entry `index` of the dynamic table; false past the last. */
bool elf_view_dynamic(const elf_view_t *view, uint64_t index, elf_dynamic_t *entry);

/* The name of the function that lies `offset` bytes behind where the image begins in memory, and how far into it that is.
 * false where no symbol says. */
bool elf_function_at(const void *bytes, size_t size, uint64_t offset, char *name, size_t name_size, uint64_t *into);

#endif
