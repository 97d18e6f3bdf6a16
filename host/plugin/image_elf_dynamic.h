/* image_elf_dynamic.h - the dynamic table of an ELF library, and what the loader does by it.
 *
 * Inner to image_elf*.c.
 */
#ifndef HOST_PLUGIN_IMAGE_ELF_DYNAMIC_H
#define HOST_PLUGIN_IMAGE_ELF_DYNAMIC_H

#include "image_elf_read.h"

/* The table has an end, tells of whole tables, and its texts are texts. After the segments. */
bool elf_check_dynamic(elf_t *elf);

/* The words that are written and the functions that are called at loading lie in the image. After elf_check_symbols. */
bool elf_check_loading(const elf_t *elf);

#endif
