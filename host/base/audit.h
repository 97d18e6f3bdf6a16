/* audit.h - which of a host's memory still points into an image that has gone. In builds with BACKPLANE_AUDIT only.
 *
 * There every block that a host's accounts hold is known (memory.c notes it), with the account's name, so that all of them can be
 * searched for addresses of a range. Other builds have none of this: the functions are not there.
 *
 * What it does not do: it does not see stacks, nor memory that a plugin has from the C library.
 */
#ifndef HOST_BASE_AUDIT_H
#define HOST_BASE_AUDIT_H

#if defined(BACKPLANE_AUDIT)

#include "memory.h"

typedef struct audit_t audit_t;

/* Know the blocks of `root` and of its children from now on. Without memory for that nothing is known. [main] */
void audit_begin(memory_t *root);
void audit_end(memory_t *root);

/* memory.c: a block has come, changed or gone. [any] */
void audit_note(memory_t *memory, const void *old, const void *block, size_t size);

/* Call `found` for every word in a known block that lies in the range. Returns how many there are. Nothing may allocate
 * meanwhile. [main] */
typedef void (*audit_found)(void *data, const char *account, size_t block_size, size_t offset, uintptr_t address);
size_t audit_search(memory_t *root, const void *begin, const void *end, audit_found found, void *data);

#endif

#endif
