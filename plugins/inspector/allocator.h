/* allocator.h - where the inspector's memory comes from: a function that allocates, resizes and frees.
 *
 * In the plugin the function is that of the contract's memory table, so that blocks left at the end are told as a leak;
 * in tests of one file the function is a heap that can be made to fail. The function may be called from any thread.
 *
 * Not here: sizes of blocks; each caller remembers how large its blocks are.
 */
#ifndef INSPECTOR_ALLOCATOR_H
#define INSPECTOR_ALLOCATOR_H

#include <stddef.h>
#include <string.h>

typedef struct allocator_t {
    void *context;
    void *(*resize)(void *context, void *old, size_t old_size, size_t new_size); /* as bp_memory_api.resize */
} allocator_t;

static inline void *allocator_resize(const allocator_t *allocator, void *old, size_t old_size, size_t new_size)
{
    return allocator->resize(allocator->context, old, old_size, new_size);
}

/* A cleared block, NULL when out of memory. */
static inline void *allocator_make(const allocator_t *allocator, size_t size)
{
    void *block = allocator->resize(allocator->context, NULL, 0, size);
    return block == NULL ? NULL : memset(block, 0, size);
}

/* Free a block. NULL is allowed where size is 0. */
static inline void allocator_free(const allocator_t *allocator, void *block, size_t size)
{
    if (block != NULL)
        allocator->resize(allocator->context, block, size, 0);
}

#endif
