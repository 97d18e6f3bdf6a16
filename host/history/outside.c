/* outside.c - entries behind each other: a head, and the bytes. */
#include "outside.h"

#include "../os/os.h"

#include <string.h>

enum { ALIGN = 16 };

typedef struct entry_t {
    uint64_t name, size; /* of the bytes behind it */
    int32_t result;
    uint32_t given;
    uint64_t padding;
} entry_t;

void outside_init(outside_t *o, memory_t *memory)
{
    bytes_init(&o->taken, memory);
    bytes_init(&o->given, memory);
    atomic_init(&o->locked, false);
    o->copy = NULL;
    o->notes = false;
}

void outside_free(outside_t *o)
{
    bytes_free(&o->taken);
    bytes_free(&o->given);
}

bool outside_give(outside_t *o, const void *bytes, size_t size)
{
    o->given.size = 0;
    bytes_put(&o->given, bytes, size);
    bool good = !o->given.failed;
    o->given.failed = false;
    return good;
}

void outside_end(outside_t *o)
{
    if (o->copy != NULL) {
        bytes_put(o->copy, o->taken.start, o->taken.size);
        o->copy->failed = o->copy->failed || o->taken.failed;
    }
    o->taken.size = o->given.size = 0;
    o->taken.failed = false;
}

static void lock(outside_t *o)
{
    for (uint32_t turn = 0; atomic_exchange_explicit(&o->locked, true, memory_order_acquire); turn++)
        os_relax(turn);
}

static void unlock(outside_t *o)
{
    atomic_store_explicit(&o->locked, false, memory_order_release);
}

static uint64_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return hash;
}

static size_t behind(const entry_t *entry)
{
    return sizeof *entry + (size_t)((entry->size + ALIGN - 1) & ~(uint64_t)(ALIGN - 1));
}

/* Entries are copied out, since a damaged recording may hold anything. */
static bool find_given(outside_t *o, uint64_t name, void *bytes, size_t room, size_t *size, bp_result_t *result)
{
    entry_t entry;
    char *start = (char *)o->given.start;
    for (size_t at = 0; at + sizeof entry <= o->given.size; at += behind(&entry)) {
        memcpy(&entry, start + at, sizeof entry);
        if (entry.size > o->given.size - at - sizeof entry)
            return false;
        if (entry.name != name || entry.given != 0 || entry.size > room)
            continue;
        entry.given = 1;
        memcpy(start + at, &entry, sizeof entry);
        *size = (size_t)entry.size;
        *result = entry.result;
        if (entry.size > 0)
            memcpy(bytes, start + at + sizeof entry, (size_t)entry.size);
        return true;
    }
    return false;
}

bp_result_t outside_take(outside_t *o, const char *name, const bp_taking_i *taking, void *bytes, size_t room,
                         size_t *size)
{
    entry_t entry = {.name = hash_of(name)};
    bp_result_t result = BP_OK;
    lock(o);
    bool found = find_given(o, entry.name, bytes, room, size, &result);
    unlock(o);
    if (!found) {
        *size = 0;
        result = taking->take(taking->context, bytes, room, size);
        *size = *size > room ? room : *size;
    }
    if (!o->notes)
        return result;
    entry.size = *size;
    entry.result = result;
    lock(o);
    bytes_put(&o->taken, &entry, sizeof entry);
    bytes_put(&o->taken, bytes, *size);
    bytes_align(&o->taken, ALIGN);
    unlock(o);
    return result;
}
