/* audit.c - a table of blocks, by address.
 *
 * Open addressing with linear probing, at most half full; a block that goes leaves its place to the ones behind it, so there are no
 * tombstones. The table lies outside the accounts, since what is noted there must not note itself. The name of the account is copied:
 * accounts of plugins move, and their names go with them.
 */
#include "audit.h"

#include "memory.h"

#if defined(BACKPLANE_AUDIT)

#include "os.h"

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

/* It looks into blocks of threads that wait for work and note that under their own locks. What they write there is no address
 * into an image, so it does not matter which of two numbers is read; the thread sanitizer is told so. */
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
