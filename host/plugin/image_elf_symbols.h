/* image_elf_symbols.h - what the system's loader walks to find a symbol by its name.
 *
 * Inner to image_elf*.c.
 */
#ifndef HOST_PLUGIN_IMAGE_ELF_SYMBOLS_H
#define HOST_PLUGIN_IMAGE_ELF_SYMBOLS_H

#include "image_elf_read.h"

/* Find the symbols, and check them, their hash tables and their versions. After elf_check_dynamic. */
bool elf_check_symbols(elf_t *elf);

#endif
