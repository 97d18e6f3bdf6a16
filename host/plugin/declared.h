/* declared.h - what a plugin declares, as copies of the host's own.
 *
 * A descriptor leads to lists, texts and tables of verbs that lie in the plugin's image, in the sizes that its author
 * knew. The host looks at copies only, in the sizes that the host itself knows. The copies are handed out to embedders
 * too (bp_host_plugin), and live as long as that version of the plugin.
 *
 * Lists that no plugin may declare (no items, items that are too small, too many) are not copied: the part of the host
 * that reads such a list next refuses it with a sentence.
 *
 * Not here: judging what is declared (slots.h, terms.h, options.h).
 */
#ifndef HOST_PLUGIN_DECLARED_H
#define HOST_PLUGIN_DECLARED_H

#include "../base/memory.h"

#include <bp_plugin.h>

/* The block that holds all copies of one descriptor; NULL where there was nothing to copy. */
typedef struct declared_t {
    char *block;
    size_t size;
} declared_t;

/* Copy all that `desc` leads to, and have `desc` lead to the copies. The items of its lists of components, systems and
 * tasks must be copies of the host's already, in today's sizes. false when out of memory: then nothing has changed. */
bool declared_copy(memory_t *memory, bp_plugin_desc_t *desc, declared_t *declared);

void declared_free(memory_t *memory, declared_t *declared);

#endif
