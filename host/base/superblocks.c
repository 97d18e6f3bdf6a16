/* superblocks.c - where in the superblocks a medium block lies.
 *
 * A block goes where there is room first, by address, so that blocks gather in few superblocks as others go. Looking
 * for room reads one number of each superblock, and the bits of those that may have it.
 *
 * Invariants: `longest` is never less than the longest stretch of free grains; no superblock is empty while none are
 * held; the account has all bytes of superblocks less those of the blocks that lie in them.
 */
#include "superblocks.h"

#include "../os/os.h"
#include "base.h"

#include <string.h>

enum { GRAINS = SUPERBLOCKS_BYTES / SUPERBLOCKS_GRAIN };

void superblocks_init(superblocks_t *s, memory_t *memory)
{
    *s = (superblocks_t){.count = 0};
    memory_init_child(&s->memory, "superblocks", memory);
    memory->superblocks = s;
#if !defined(BACKPLANE_SANITIZED)
    s->allowed = memory->allocator.resize == NULL;
#endif
}

/* Precondition: all blocks have been freed. A superblock that is still there has a block that was not freed, which the
 * accounts report. */
void superblocks_free(superblocks_t *s)
{
    memory_free(&s->memory, s->items, s->capacity * sizeof *s->items);
    s->items = NULL;
    s->count = s->capacity = 0;
}

/* --- grains ------------------------------------------------------------------------------------------------------- */

static uint32_t grains_of(size_t size)
{
    return (uint32_t)((size + SUPERBLOCKS_GRAIN - 1) / SUPERBLOCKS_GRAIN);
}

/* The first grain from `from` on that is taken, or free where `flip` is all ones; GRAINS where there is none. */
static uint32_t next_grain(const superblock_t *one, uint32_t from, uint64_t flip)
{
    while (from < GRAINS) {
        uint64_t bits = (one->taken[from / 64] ^ flip) >> from % 64;
        if (bits != 0)
            return from + lowest_bit(bits);
        from = (from / 64 + 1) * 64;
    }
    return GRAINS;
}

static void set_grains(superblock_t *one, uint32_t first, uint32_t count, bool taken)
{
    for (uint32_t at = first, end = first + count; at < end;) {
        uint32_t bit = at % 64, n = 64 - bit < end - at ? 64 - bit : end - at;
        uint64_t mask = (n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << bit;
        one->taken[at / 64] = taken ? one->taken[at / 64] | mask : one->taken[at / 64] & ~mask;
        at += n;
    }
    one->used += taken ? count : 0u - count;
}

/* The first of `count` free grains side by side; BP_NONE where there are none, and `longest` is exact then. */
static uint32_t find_room(superblock_t *one, uint32_t count)
{
    uint32_t longest = 0, at = next_grain(one, 0, UINT64_MAX);
    while (at < GRAINS) {
        uint32_t end = next_grain(one, at, 0);
        if (end - at >= count)
            return at;
        longest = end - at > longest ? end - at : longest;
        at = next_grain(one, end, UINT64_MAX);
    }
    one->longest = longest;
    return BP_NONE;
}

/* --- superblocks -------------------------------------------------------------------------------------------------- */

/* How many begin at an address or before. */
static uint32_t count_up_to(const superblocks_t *s, const char *address)
{
    uint32_t low = 0, high = s->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->items[middle]->start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The number of the one that a block lies in, or BP_NONE. */
static uint32_t find(const superblocks_t *s, const char *block)
{
    uint32_t count = block == NULL ? 0 : count_up_to(s, block);
    return count > 0 && block < s->items[count - 1]->start + SUPERBLOCKS_BYTES ? count - 1 : BP_NONE;
}

static superblock_t *add(superblocks_t *s)
{
    if (!memory_reserve(&s->memory, &s->items, &s->capacity, s->count + 1u, sizeof *s->items))
        return NULL;
    superblock_t *one = memory_new(&s->memory, sizeof *one);
    char *start = one == NULL ? NULL : os_pages_alloc(SUPERBLOCKS_BYTES);
    if (start == NULL) {
        if (one != NULL)
            memory_refuse(&s->memory);
        memory_free(&s->memory, one, sizeof *one);
        return NULL;
    }
    os_pages_huge(start, SUPERBLOCKS_BYTES);
    memory_count(&s->memory, 0, SUPERBLOCKS_BYTES);
    one->start = start;
    one->longest = GRAINS;
    uint32_t at = count_up_to(s, start);
    memmove(s->items + at + 1, s->items + at, (s->count - at) * sizeof *s->items);
    s->items[at] = one;
    s->count++;
    return one;
}

static void end(superblocks_t *s, uint32_t number)
{
    superblock_t *one = s->items[number];
    s->count--;
    memmove(s->items + number, s->items + number + 1, (s->count - number) * sizeof *s->items);
    memory_count(&s->memory, SUPERBLOCKS_BYTES, 0);
    os_pages_free(one->start, SUPERBLOCKS_BYTES);
    memory_free(&s->memory, one, sizeof *one);
}

/* --- blocks ------------------------------------------------------------------------------------------------------- */

static void *take(superblocks_t *s, size_t size)
{
    uint32_t count = grains_of(size), at = BP_NONE;
    superblock_t *one = NULL;
    for (uint32_t i = 0; i < s->count && at == BP_NONE; i++) {
        one = s->items[i];
        at = one->longest < count ? BP_NONE : find_room(one, count);
    }
    if (at == BP_NONE) {
        one = add(s);
        at = 0;
    }
    if (one == NULL)
        return NULL;
    set_grains(one, at, count, true);
    memory_count(&s->memory, size, 0);
    return one->start + (size_t)at * SUPERBLOCKS_GRAIN;
}

static void leave(superblocks_t *s, uint32_t number, uint32_t first, uint32_t count)
{
    superblock_t *one = s->items[number];
    set_grains(one, first, count, false);
    if (one->used == 0 && !s->holds) {
        end(s, number);
        return;
    }
    uint32_t begin = first, behind = next_grain(one, first, 0);
    while (begin > 0 && (one->taken[(begin - 1) / 64] >> (begin - 1) % 64 & 1) == 0)
        begin--;
    one->longest = behind - begin > one->longest ? behind - begin : one->longest;
}

/* Do others lie in the way of a block that is to have `after` grains in place of `before`? */
static bool is_in_the_way(const superblock_t *one, uint32_t first, uint32_t before, uint32_t after)
{
    return after > before && (first + after > GRAINS || next_grain(one, first + before, 0) < first + after);
}

static uint32_t first_grain(const superblock_t *one, const char *block)
{
    return (uint32_t)((size_t)(block - one->start) / SUPERBLOCKS_GRAIN);
}

/* More or less room, or none, where the block lies; false where others lie in the way. */
static bool resize_there(superblocks_t *s, uint32_t number, const char *block, size_t old_size, size_t new_size)
{
    superblock_t *one = s->items[number];
    uint32_t first = first_grain(one, block), before = grains_of(old_size), after = grains_of(new_size);
    if (is_in_the_way(one, first, before, after))
        return false;
    memory_count(&s->memory, new_size, old_size);
    if (after > before)
        set_grains(one, first + before, after - before, true);
    else if (after < before)
        leave(s, number, first + after, before - after);
    return true;
}

static bool is_medium(size_t size)
{
    return size >= SUPERBLOCKS_LEAST && size < MEMORY_LARGE;
}

bool superblocks_are_wanted(const memory_t *memory)
{
    return memory->superblocks != NULL && memory->superblocks->medium >= SUPERBLOCKS_FROM;
}

/* Does a new block of that size come from a superblock? */
static bool comes_from_superblock(const memory_t *memory, size_t size)
{
    return is_medium(size) && memory->superblocks->allowed && superblocks_are_wanted(memory);
}

bool superblocks_hold(const memory_t *memory)
{
    superblocks_t *s = memory->superblocks;
    const superblock_t *one = superblocks_are_wanted(memory) && s->allowed ? add(s) : NULL;
    if (one == NULL)
        return false;
    for (size_t at = 0; at < SUPERBLOCKS_BYTES; at += os_page_size())
        *(volatile char *)(one->start + at) = 0;
    s->holds = true;
    return true;
}

void superblocks_let_go(const memory_t *memory)
{
    superblocks_t *s = memory->superblocks;
    if (s == NULL || !s->holds)
        return;
    s->holds = false;
    for (uint32_t i = s->count; i > 0; i--) {
        if (s->items[i - 1]->used == 0)
            end(s, i - 1);
    }
}

static void *take_anywhere(memory_t *memory, size_t size)
{
    superblocks_t *s = memory->superblocks;
    if (!comes_from_superblock(memory, size))
        return memory_resize(memory, NULL, 0, size);
    void *block = take(s, size);
    if (block != NULL)
        memory_note(memory, NULL, block, 0, size);
    return block;
}

static void give_back(memory_t *memory, void *block, size_t size)
{
    superblocks_t *s = memory->superblocks;
    uint32_t number = find(s, block);
    if (number == BP_NONE) {
        memory_free(memory, block, size);
        return;
    }
    resize_there(s, number, block, size, 0);
    memory_note(memory, block, NULL, size, 0);
}

static void *resize_medium(memory_t *memory, void *old, size_t old_size, size_t new_size)
{
    superblocks_t *s = memory->superblocks;
    uint32_t number = find(s, old);
    if (number == BP_NONE && !comes_from_superblock(memory, new_size))
        return memory_resize(memory, old, old_size, new_size);
    if (number != BP_NONE && is_medium(new_size) && resize_there(s, number, old, old_size, new_size)) {
        memory_note(memory, old, old, old_size, new_size);
        return old;
    }
    void *block = new_size == 0 ? NULL : take_anywhere(memory, new_size);
    if (old == NULL || (block == NULL && new_size > 0))
        return block;
    if (block != NULL)
        memcpy(block, old, old_size < new_size ? old_size : new_size);
    give_back(memory, old, old_size);
    return block;
}

void *superblocks_resize(memory_t *memory, void *old, size_t old_size, size_t new_size)
{
    superblocks_t *s = memory->superblocks;
    if (s == NULL || (!is_medium(old_size) && !is_medium(new_size)))
        return memory_resize(memory, old, old_size, new_size);
    void *block = resize_medium(memory, old, old_size, new_size);
    if (block != NULL || new_size == 0)
        s->medium += (is_medium(new_size) ? new_size : 0) - (is_medium(old_size) ? old_size : 0);
    return block;
}

bool superblocks_would_move(const memory_t *memory, const void *block, size_t old_size, size_t new_size)
{
    const superblocks_t *s = memory->superblocks;
    uint32_t number = s == NULL || block == NULL ? BP_NONE : find(s, block);
    if (number == BP_NONE)
        return s != NULL && block != NULL && comes_from_superblock(memory, new_size);
    const superblock_t *one = s->items[number];
    return !is_medium(new_size) ||
           is_in_the_way(one, first_grain(one, block), grains_of(old_size), grains_of(new_size));
}

void *superblocks_new(memory_t *memory, size_t size)
{
    if (!is_medium(size))
        return memory_new(memory, size);
    void *block = superblocks_resize(memory, NULL, 0, size);
    if (block != NULL)
        memset(block, 0, size);
    return block;
}

void superblocks_free_block(memory_t *memory, void *block, size_t size)
{
    if (block != NULL)
        superblocks_resize(memory, block, size, 0);
}
