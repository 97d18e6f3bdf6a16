/* lists.h - the memory behind lists: blocks of a few sizes, taken by any thread.
 *
 * The size of a list's block follows from its cell (bp_list_t): that of `capacity` items, rounded up to a power of two
 * of at least 16 bytes. Blocks of up to LISTS_LARGE bytes are cut from chunks and reused by size; larger ones are the
 * memory account's own.
 *
 *     list of f32   capacity 4    16 bytes      list of vec3   capacity 1    16 bytes
 *                   capacity 8    32                           capacity 2    32
 *                   capacity 16   64                           capacity 5    64
 *
 * Threads take blocks from a hoard of their own each, so that they meet only when a call begins to grow lists, when the
 * call ends, and when it wants blocks that others have given back. Such blocks lie in a stock that all threads share,
 * and a hoard takes a few of them at a time. Between calls hoards are empty, so blocks that one thread frees serve the
 * others, and memory does not grow for as long as the lists do not. Only the address of a block depends on the hoard
 * that it comes from, so the contents of lists are the same on any number of threads.
 *
 * Where no list has a block any more, lists_tidy gives all chunks back.
 *
 * Not here: fields, and the counts of strings in lists (cells.h).
 */
#ifndef HOST_BASE_LISTS_H
#define HOST_BASE_LISTS_H

#include "memory.h"

#include <bp_list.h>
#include <stdatomic.h>

enum {
    LISTS_SMALLEST = 16,
    LISTS_CLASSES = 12,                                    /* blocks of 16, 32, ... bytes, ... */
    LISTS_LARGE = LISTS_SMALLEST << (LISTS_CLASSES - 1),   /* ... up to this */
    LISTS_FIRST_CHUNK = 4 * 1024,
    LISTS_CHUNK = 1024 * 1024,                             /* chunks double up to this */
    LISTS_REFILL = 32,                                     /* blocks taken from the stock at a time, at most, ... */
    LISTS_REFILL_BYTES = 16 * 1024                         /* ... of so many bytes together, but for one block */
};

typedef struct lists_chunk_t {
    struct lists_chunk_t *next;
    size_t size;
} lists_chunk_t;

/* Free blocks of one size, each beginning with the address of the next. `last` counts where `first` is not NULL. */
typedef struct lists_free_t {
    void *first, *last;
} lists_free_t;

/* A supply of blocks that one thread at a time takes from. */
typedef struct lists_hoard_t {
    struct lists_hoard_t *next_idle, *next;
    char *at, *end;            /* the rest of the chunk cut last */
    lists_free_t free[LISTS_CLASSES];
    uint32_t dry;              /* bits of classes of which the stock had none; until the call ends */
    lists_chunk_t *chunks;
    size_t chunk_size;         /* of the next one */
    int64_t blocks;            /* taken, less those given back; of one hoard it may be negative */
} lists_hoard_t;

/* The table that one call of a loop is handed, with the hoard that the call has taken. */
typedef struct lists_call_t {
    bp_lists_o seen;
    struct lists_t *lists;
    lists_hoard_t *hoard; /* NULL: none yet */
} lists_call_t;

typedef struct lists_t {
    memory_t memory;
    lists_hoard_t main;   /* of the thread that steps the host, between loops */
    lists_call_t outside; /* handed to code on that thread outside steps */
    atomic_flag busy;     /* held while a hoard is taken, given back or filled */
    lists_free_t stock[LISTS_CLASSES];
    lists_hoard_t *idle;
    lists_hoard_t *all;   /* but for `main` */
} lists_t;

void lists_init(lists_t *lists, memory_t *parent);

/* Blocks must have been released. */
void lists_free(lists_t *lists);

/* Make room for `capacity` items; present items stay. False when out of memory: nothing has changed. [main] */
bool lists_reserve(lists_t *lists, bp_list_t *list, uint32_t item_size, uint32_t capacity);

/* Give the block back: the list is {NULL, 0, 0}. [main] */
void lists_release(lists_t *lists, bp_list_t *list, uint32_t item_size);

/* Has lists_tidy anything to look at? */
static inline bool lists_are_used(const lists_t *lists)
{
    return lists->main.chunks != NULL || lists->all != NULL;
}

/* Between calls: blocks that were released go to the stock, for all threads, and all chunks are given back where no
 * list has a block. [main] */
void lists_tidy(lists_t *lists);

/* bp_lists_o.reserve. */
bp_result_t BP_CALL lists_reserve_in_call(bp_lists_o *seen, bp_list_t *list, uint32_t item_size, uint32_t capacity);

/* Around one call of a loop, which may be on any thread. [job] */
static inline void lists_begin(lists_call_t *call, lists_t *lists)
{
    *call = (lists_call_t){.seen = {sizeof(bp_lists_o), 0, lists_reserve_in_call}, .lists = lists};
}

void lists_give_back(lists_call_t *call);

static inline void lists_end(lists_call_t *call)
{
    if (call->hoard != NULL)
        lists_give_back(call);
}

#endif
