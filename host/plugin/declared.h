/* declared.h - what a plugin declares, as copies of the host's own.
 *
 * A descriptor leads to lists, texts and tables of verbs that lie in the plugin's image, in the sizes that its author
 * knew. The host looks at copies only, in the sizes that the host itself knows. The copies are handed out to embedders
 * too (bp_host_plugin), and live as long as that version of the plugin.
 *
 * Lists that no plugin may declare (no items, items that are too small, too many) are not copied: the part of the host
 * that reads such a list next refuses it with a sentence.
 *
 * Counts and sizes are judged first, so that nothing behind the plugin's image is read. Every address that a descriptor
 * leads to is checked for being readable (os_can_read), since a library may be damaged, and the guard does not cover
 * reads by the host.
 *
 * Not here: judging what the items say (slots.h, terms.h, loader.h).
 */
#ifndef HOST_PLUGIN_DECLARED_H
#define HOST_PLUGIN_DECLARED_H

#include "../base/error.h"
#include "../base/memory.h"

#include <bp_plugin.h>

/* The block that holds all copies of one descriptor; NULL where there was nothing to copy. */
typedef struct declared_t {
    char *block;
    size_t size;
} declared_t;

struct plugin_t;

/* Judge the counts of a descriptor's own lists; and those of the lists that its components and systems lead to, once
 * the former are copied. BP_ERROR_LIMIT. */
bp_result_t declared_judge_lists(error_text_t *error, const struct plugin_t *plugin, const bp_plugin_desc_t *desc);
bp_result_t declared_judge_items(error_text_t *error, const struct plugin_t *plugin, const bp_plugin_desc_t *desc);

/* Can the bytes from `text` to its end be read? NULL can. */
bool declared_can_read_text(const char *text);

/* Copy all that `desc` leads to, and have `desc` lead to the copies. The items of its lists of components, systems and
 * tasks must be copies of the host's already, in today's sizes. Errors: memory; ABI, where something cannot be read:
 * then nothing has changed. */
bp_result_t declared_copy(error_text_t *error, memory_t *memory, bp_plugin_desc_t *desc, declared_t *declared);

void declared_free(memory_t *memory, declared_t *declared);

#endif
