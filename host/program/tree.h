/* tree.h - the entities of a world as a tree.
 *
 * What it does not do: it shows no properties; `get` does.
 */
#ifndef HOST_PROGRAM_TREE_H
#define HOST_PROGRAM_TREE_H

#include "program.h"

/* Print the entities of a world, or, where `top` is not {0}, that one and what is below it. Lines of a terminal that
 * shows UTF-8 are drawn with its line characters. false when out of memory. */
bool tree_print(const program_t *program, bp_world_o *world, bp_entity_t top);

#endif
