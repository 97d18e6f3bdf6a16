/* pe.h - looking into a library for Windows: which function lies at an address, and where its image was to lie.
 *
 * For messages, on the bytes of a file that may be anything: every answer is bounds-checked. The functions are those of
 * the symbol table that gcc leaves in a library (COFF); other compilers write a file of their own beside it, which is
 * not read.
 *
 * Not here: judging a library (image.h); debugging information, which programs read (verb_call.c).
 */
#ifndef HOST_PLUGIN_PE_H
#define HOST_PLUGIN_PE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As elf_function_at. */
bool pe_function_at(const void *bytes, size_t size, uint64_t offset, char *name, size_t name_size, uint64_t *into);

/* The address at which the linker has placed the image, from which debugging information counts; 0 where the file is
 * no 64-bit library for Windows. */
uint64_t pe_linked_at(const void *bytes, size_t size);

#endif
