/* superblocks.h - medium blocks, of some ten KiB, many of which lie in one superblock of the system's pages.
 *
 * A host with many worlds has many blocks that are too small to be pages of their own (memory.h). Where medium blocks
 * come to SUPERBLOCKS_FROM bytes, further ones lie in superblocks of 2 MiB. There they share huge pages, which are
 * faster to touch first and to walk through than pages of 4 KiB; a block grows where it lies while the room behind it
 * is free; and the room of a freed block is used again. A superblock without blocks is freed, unless room is held for
 * many blocks that will be made at once. A host with less has its medium blocks from the C library, and pays for no
 * room that it does not use.
 *
 * A block from superblocks_resize must be resized and freed by superblocks_resize as well. The bytes of a block are
 * counted for the account that asked for it, and the room that no block is in for the account "superblocks".
 *
 * Where an allocator of the embedder's decides, and where a sanitizer is to see each block, there are no superblocks.
 *
 * Not here: threads. All functions are for the thread that steps the host.
 */
#ifndef HOST_BASE_SUPERBLOCKS_H
#define HOST_BASE_SUPERBLOCKS_H

#include "memory.h"

enum {
    SUPERBLOCKS_LEAST = 16 * 1024, /* bytes of a medium block; less than MEMORY_LARGE */
    SUPERBLOCKS_GRAIN = 1024,      /* medium blocks lie at multiples of it */
    SUPERBLOCKS_BYTES = 2 * 1024 * 1024,  /* of a superblock */
    SUPERBLOCKS_FROM = SUPERBLOCKS_BYTES, /* bytes of medium blocks from which on there are superblocks */
    SUPERBLOCKS_WORDS = SUPERBLOCKS_BYTES / SUPERBLOCKS_GRAIN / 64
};

typedef struct superblock_t {
    char *start;
    uint32_t used;    /* grains that blocks are in */
    uint32_t longest; /* no more than so many free grains lie side by side */
    uint64_t taken[SUPERBLOCKS_WORDS]; /* a bit for each grain */
} superblock_t;

typedef struct superblocks_t {
    memory_t memory;
    superblock_t **items; /* by address */
    uint32_t count, capacity;
    size_t medium;        /* bytes of all medium blocks, wherever they lie */
    bool holds;           /* superblocks without blocks stay */
    bool allowed;         /* may there be superblocks? */
} superblocks_t;

/* Let `memory`, and all accounts that become its children, have superblocks; and end them, when no block is in them any
 * more. */
void superblocks_init(superblocks_t *superblocks, memory_t *memory);
void superblocks_free(superblocks_t *superblocks);

/* As memory_resize, memory_new and memory_free; for accounts without superblocks these are the same. [main] */
void *superblocks_resize(memory_t *memory, void *old, size_t old_size, size_t new_size);
void *superblocks_new(memory_t *memory, size_t size);
void superblocks_free_block(memory_t *memory, void *block, size_t size);

/* Would superblocks_resize move the block to other memory for certain, so that a caller who lays out anew what is in it
 * does better to take another block and copy once? False also where that is not known. */
bool superblocks_would_move(const memory_t *memory, const void *block, size_t old_size, size_t new_size);

/* Have one superblock more, of memory that has been touched, so that blocks that will lie there take no time for that.
 * Superblocks stay without blocks from then on until superblocks_let_go. False where there are none, or no memory.
 * [main] */
bool superblocks_hold(const memory_t *memory);
void superblocks_let_go(const memory_t *memory);

/* Are superblocks in use, so that spare room in each medium block would add up? */
bool superblocks_are_wanted(const memory_t *memory);

#endif
