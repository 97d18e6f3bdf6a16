/* memory.c - accounts, and the default allocator under them.
 *
 * Invariants: an account's bytes are the sum of the sizes of its live blocks and of its children's; a block of
 * the default allocator is pages exactly when its size is at least MEMORY_LARGE, so no header has to say so. A resize
 * across that border allocates, copies and frees.
 *
 * The counters are atomic because plugins may allocate from job threads; no other access to memory is ordered by them.
 */
#include "memory.h"

#include "../os/os.h"

#include <stdlib.h>
#include <string.h>

void memory_init(memory_t *memory, const char *name, const bp_allocator_i *allocator)
{
    memory->name = name;
    memory->parent = NULL;
    memory->allocator = *allocator;
    memory->superblocks = NULL;
    atomic_init(&memory->bytes, 0);
    atomic_init(&memory->refused, 0);
#if defined(BACKPLANE_AUDIT)
    memory->audit = NULL;
#endif
}

void memory_init_child(memory_t *memory, const char *name, memory_t *parent)
{
    memory_init(memory, name, &parent->allocator);
    memory->parent = parent;
    memory->superblocks = parent->superblocks;
}

bool memory_is_pages(const memory_t *memory, size_t size)
{
    return memory->allocator.resize == NULL && size >= MEMORY_LARGE;
}

bool memory_could_hold(const memory_t *memory, uint64_t bytes, uint64_t *available)
{
    *available = UINT64_MAX;
    if (memory->allocator.resize == NULL && bytes >= MEMORY_WORTH_ASKING)
        *available = os_memory_available();
    return bytes <= *available;
}

size_t memory_bytes(const memory_t *memory)
{
    return atomic_load_explicit(&memory->bytes, memory_order_relaxed);
}

size_t memory_refused(const memory_t *memory)
{
    return atomic_load_explicit(&memory->refused, memory_order_relaxed);
}

void memory_refuse(memory_t *memory)
{
    for (memory_t *m = memory; m != NULL; m = m->parent)
        atomic_fetch_add_explicit(&m->refused, 1, memory_order_relaxed);
}

static void release(void *block, size_t size)
{
    if (size >= MEMORY_LARGE)
        os_pages_free(block, size);
    else
        free(block);
}

static void *resize_pages(void *old, size_t old_size, size_t new_size)
{
    void *block = old == NULL ? os_pages_alloc(new_size) : os_pages_resize(old, old_size, new_size);
    if (block != NULL && new_size >= MEMORY_HUGE)
        os_pages_huge(block, new_size);
    return block;
}

static void *resize_across(void *old, size_t old_size, size_t new_size)
{
    void *block = new_size >= MEMORY_LARGE ? resize_pages(NULL, 0, new_size) : malloc(new_size);
    if (block == NULL)
        return NULL;
    if (old != NULL) {
        memcpy(block, old, old_size < new_size ? old_size : new_size);
        release(old, old_size);
    }
    return block;
}

static void *resize_default(void *old, size_t old_size, size_t new_size)
{
    if (new_size == 0) {
        release(old, old_size);
        return NULL;
    }
    if (old == NULL || (old_size >= MEMORY_LARGE) != (new_size >= MEMORY_LARGE))
        return resize_across(old, old_size, new_size);
    if (new_size >= MEMORY_LARGE)
        return resize_pages(old, old_size, new_size);
    return realloc(old, new_size);
}

void memory_count(memory_t *memory, size_t old_size, size_t new_size)
{
    size_t more = new_size - old_size; /* the sum may wrap round: then it is less */
    for (memory_t *m = memory; m != NULL; m = m->parent)
        atomic_fetch_add_explicit(&m->bytes, more, memory_order_relaxed);
}

void *memory_resize(memory_t *memory, void *old, size_t old_size, size_t new_size)
{
    if (old == NULL && new_size == 0)
        return NULL;
    if (new_size > SIZE_MAX / 4) {
        memory_refuse(memory);
        return NULL;
    }
    const bp_allocator_i *a = &memory->allocator;
    void *block = a->resize != NULL ? a->resize(a->context, old, old_size, new_size)
                                    : resize_default(old, old_size, new_size);
    if (block == NULL && new_size != 0) {
        memory_refuse(memory);
        return NULL;
    }
    memory_note(memory, old, block, old_size, new_size);
    return block;
}

void memory_note(memory_t *memory, const void *old, void *block, size_t old_size, size_t new_size)
{
    memory_count(memory, old_size, new_size);
#if defined(BACKPLANE_AUDIT)
    /* The new part is cleared, so that nothing is read from the C library's remains in it, addresses among them. */
    if (new_size > old_size)
        memset((char *)block + old_size, 0, new_size - old_size);
    audit_note(memory, old, block, new_size);
#else
    (void)old, (void)block;
#endif
}

void *memory_resize_cleared(memory_t *memory, void *old, size_t old_size, size_t new_size)
{
    char *block = memory_resize(memory, old, old_size, new_size);
    if (block == NULL || new_size <= old_size)
        return block;
    size_t end = new_size;
    if (memory_is_pages(memory, new_size)) {
        /* Pages come cleared, but the last page of the old block may hold what it held before it shrank. */
        size_t page = os_page_size();
        size_t fresh = (old_size + page - 1) / page * page;
        end = fresh < new_size ? fresh : new_size;
    }
    if (end > old_size)
        memset(block + old_size, 0, end - old_size);
    return block;
}

void *memory_new(memory_t *memory, size_t size)
{
    return memory_resize_cleared(memory, NULL, 0, size);
}

void memory_free(memory_t *memory, void *block, size_t size)
{
    if (block != NULL)
        memory_resize(memory, block, size, 0);
}

char *memory_copy_text(memory_t *memory, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memory_resize(memory, NULL, 0, size);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

void memory_free_text(memory_t *memory, char *text)
{
    if (text != NULL)
        memory_resize(memory, text, strlen(text) + 1, 0);
}

bool memory_reserve(memory_t *memory, void *items, uint32_t *capacity, uint64_t needed, size_t item_size)
{
    if (needed <= *capacity)
        return true;
    uint64_t grown = *capacity < 4 ? 4 : (uint64_t)*capacity * 2;
    if (grown < needed)
        grown = needed;
    if (grown > UINT32_MAX)
        grown = UINT32_MAX;
    if (grown < needed)
        return false;
    /* Through memcpy, because the array's pointer is of another type than void *. */
    void *block;
    memcpy(&block, items, sizeof block);
    block = memory_resize(memory, block, *capacity * item_size, (size_t)grown * item_size);
    if (block == NULL)
        return false;
    memcpy(items, &block, sizeof block);
    *capacity = (uint32_t)grown;
    return true;
}

void memory_give_back(memory_t *memory, void *items, uint32_t *capacity, uint32_t count, size_t item_size)
{
    enum { LEAST = 4 };
    uint64_t wanted = (uint64_t)count + count / 8 + LEAST;
    if (wanted + count / 8 + LEAST >= *capacity) /* so that lists that grow and shrink are not moved each time */
        return;
    void *block;
    memcpy(&block, items, sizeof block);
    block = memory_resize(memory, block, *capacity * item_size, (size_t)wanted * item_size);
    if (block == NULL)
        return;
    memcpy(items, &block, sizeof block);
    *capacity = (uint32_t)wanted;
}

/* --- audit ------------------------------------------------------------------------------------------------------- */

/* A table of blocks, by address.
 *
 * Open addressing with linear probing, at most half full; a block that goes leaves its place to the ones behind it, so
 * there are no tombstones. The table lies outside the accounts, since what is noted there must not note itself. The
 * name of the account is copied: accounts of plugins move, and their names go with them.
 */

#if defined(BACKPLANE_AUDIT)

#include "../os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry_t {
    const void *block; /* NULL: free */
    size_t size;
    char account[32];
} entry_t;

struct audit_t {
    os_lock_t *lock;
    entry_t *entries;
    size_t count, capacity; /* a power of two */
};

void audit_begin(memory_t *root)
{
    audit_t *audit = calloc(1, sizeof *audit);
    if (audit == NULL)
        return;
    audit->lock = os_lock_create();
    if (audit->lock == NULL) {
        free(audit);
        return;
    }
    root->audit = audit;
}

void audit_end(memory_t *root)
{
    audit_t *audit = root->audit;
    root->audit = NULL;
    if (audit == NULL)
        return;
    os_lock_destroy(audit->lock);
    free(audit->entries);
    free(audit);
}

static size_t home(const audit_t *audit, const void *block)
{
    return (size_t)(((uint64_t)(uintptr_t)block * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (audit->capacity - 1);
}

static entry_t *place(const audit_t *audit, const void *block)
{
    size_t at = home(audit, block);
    while (audit->entries[at].block != NULL && audit->entries[at].block != block)
        at = (at + 1) & (audit->capacity - 1);
    return &audit->entries[at];
}

static bool grow(audit_t *audit)
{
    audit_t larger = {.capacity = audit->capacity == 0 ? 1024 : 2 * audit->capacity};
    if (2 * (audit->count + 1) <= audit->capacity)
        return true;
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL)
        return false;
    for (size_t i = 0; i < audit->capacity; i++) {
        if (audit->entries[i].block != NULL)
            *place(&larger, audit->entries[i].block) = audit->entries[i];
    }
    free(audit->entries);
    audit->entries = larger.entries;
    audit->capacity = larger.capacity;
    return true;
}

static void forget(audit_t *audit, const void *block)
{
    entry_t *gone = audit->capacity == 0 ? NULL : place(audit, block);
    if (gone == NULL || gone->block == NULL)
        return;
    gone->block = NULL;
    audit->count--;
    for (size_t at = (size_t)(gone - audit->entries + 1) & (audit->capacity - 1); audit->entries[at].block != NULL;
         at = (at + 1) & (audit->capacity - 1)) {
        entry_t moved = audit->entries[at];
        audit->entries[at].block = NULL;
        *place(audit, moved.block) = moved;
    }
}

void audit_note(memory_t *memory, const void *old, const void *block, size_t size)
{
    const char *name = memory->name;
    while (memory->parent != NULL)
        memory = memory->parent;
    audit_t *audit = memory->audit;
    if (audit == NULL)
        return;
    os_lock(audit->lock);
    if (old != NULL)
        forget(audit, old);
    if (block != NULL && size > 0 && grow(audit)) {
        entry_t *entry = place(audit, block);
        *entry = (entry_t){.block = block, .size = size};
        snprintf(entry->account, sizeof entry->account, "%s", name);
        audit->count++;
    }
    os_unlock(audit->lock);
}

/* The audit reads blocks of threads that wait for work and write there under their own locks. Such threads write no
 * address into an image, so reading the old or the new number makes no difference; the thread sanitizer is told so. */
#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("thread")))
#endif
static size_t search_block(const entry_t *entry, uintptr_t begin, uintptr_t end, audit_found found, void *data)
{
    size_t count = 0;
    for (size_t at = 0; at + sizeof(uintptr_t) <= entry->size; at += sizeof(uintptr_t)) {
        uintptr_t word;
        memcpy(&word, (const char *)entry->block + at, sizeof word);
        if (word < begin || word >= end)
            continue;
        found(data, entry->account, entry->size, at, word);
        count++;
    }
    return count;
}

size_t audit_search(memory_t *root, const void *begin, const void *end, audit_found found, void *data)
{
    size_t count = 0;
    const audit_t *audit = root->audit;
    for (size_t i = 0; audit != NULL && i < audit->capacity; i++) {
        if (audit->entries[i].block != NULL)
            count += search_block(&audit->entries[i], (uintptr_t)begin, (uintptr_t)end, found, data);
    }
    return count;
}

#endif
