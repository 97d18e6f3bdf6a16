/* lists.c - blocks cut from chunks, taken and given back by size.
 *
 * Invariants
 *   - a block's size follows from its list's capacity and its items' size, also where an item is no power of two:
 *     rounding the bytes
 *     of all items up gives the block's size, because more than half of it is in use;
 *   - a hoard is used by one thread at a time: `main` by the thread that steps the host, the others by the call that
 *     has taken them; the stock by the thread that holds `busy`;
 *   - a block is off its free list before anything is copied into it, so a loop that crashes while a list grows,
 *     because it has broken
 *     that list, leaves every hoard in order.
 */
#include "lists.h"

#include "../os/os.h"
#include "base.h"

/* --- sizes -------------------------------------------------------------------------------------------------------- */

/* The number of the least class with blocks of so many bytes; LISTS_CLASSES or more where they are too many. */
static uint32_t class_of(size_t bytes)
{
    return bytes <= LISTS_SMALLEST ? 0 : highest_bit(bytes - 1) - 3;
}

static size_t block_size(size_t bytes)
{
    return (size_t)LISTS_SMALLEST << class_of(bytes);
}

/* --- chunks ------------------------------------------------------------------------------------------------------- */

static void put_free(lists_free_t *to, void *block)
{
    memcpy(block, &to->first, sizeof(void *));
    if (to->first == NULL)
        to->last = block;
    to->first = block;
}

static void *take_free(lists_free_t *from)
{
    void *block = from->first;
    memcpy(&from->first, block, sizeof(void *));
    return block;
}

/* All blocks of one list to the beginning of another. */
static void move_free(lists_free_t *from, lists_free_t *to)
{
    if (from->first == NULL)
        return;
    memcpy(from->last, &to->first, sizeof(void *));
    if (to->first == NULL)
        to->last = from->last;
    to->first = from->first;
    from->first = NULL;
}

/* Put the rest of a chunk into the free lists, largest blocks first. */
static void put_rest(lists_hoard_t *hoard)
{
    for (uint32_t class = LISTS_CLASSES; class > 0; class--) {
        size_t size = (size_t)LISTS_SMALLEST << (class - 1);
        for (; (size_t)(hoard->end - hoard->at) >= size; hoard->at += size)
            put_free(&hoard->free[class - 1], hoard->at);
    }
}

static bool new_chunk(lists_t *lists, lists_hoard_t *hoard, size_t least)
{
    const size_t head = (sizeof(lists_chunk_t) + LISTS_SMALLEST - 1) / LISTS_SMALLEST * LISTS_SMALLEST;
    size_t size = hoard->chunk_size < LISTS_FIRST_CHUNK ? LISTS_FIRST_CHUNK : hoard->chunk_size;
    while (size < head + least)
        size *= 2;
    lists_chunk_t *chunk = memory_resize(&lists->memory, NULL, 0, size);
    if (chunk == NULL)
        return false;
    put_rest(hoard);
    *chunk = (lists_chunk_t){hoard->chunks, size};
    hoard->chunks = chunk;
    hoard->chunk_size = size < LISTS_CHUNK ? 2 * size : LISTS_CHUNK;
    hoard->at = (char *)chunk + head;
    hoard->end = (char *)chunk + size;
    return true;
}

static void free_chunks(lists_t *lists, lists_hoard_t *hoard)
{
    for (lists_chunk_t *chunk = hoard->chunks, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        memory_free(&lists->memory, chunk, chunk->size);
    }
    hoard->chunks = NULL;
    hoard->chunk_size = 0;
    hoard->at = hoard->end = NULL;
    memset(hoard->free, 0, sizeof hoard->free);
}

/* --- the stock ---------------------------------------------------------------------------------------------------- */

static void hold(lists_t *lists)
{
    for (uint32_t turn = 0; atomic_flag_test_and_set_explicit(&lists->busy, memory_order_acquire); turn++)
        os_relax(turn);
}

static void let_go(lists_t *lists)
{
    atomic_flag_clear_explicit(&lists->busy, memory_order_release);
}

/* Take some blocks from the stock; false where it has none. */
static bool refill(lists_t *lists, lists_hoard_t *hoard, uint32_t class)
{
    lists_free_t *stock = &lists->stock[class], *to = &hoard->free[class];
    size_t size = (size_t)LISTS_SMALLEST << class;
    uint32_t most = size * LISTS_REFILL <= LISTS_REFILL_BYTES ? LISTS_REFILL : (uint32_t)(LISTS_REFILL_BYTES / size);
    hold(lists);
    for (uint32_t i = 0; stock->first != NULL && (i < most || i == 0); i++)
        put_free(to, take_free(stock));
    let_go(lists);
    if (to->first == NULL)
        hoard->dry |= 1u << class;
    return to->first != NULL;
}

/* Give the blocks of a hoard to the stock, for every thread. The caller holds the stock, or there is only one
 * thread. */
static void share(lists_t *lists, lists_hoard_t *hoard)
{
    for (uint32_t class = 0; class < LISTS_CLASSES; class++)
        move_free(&hoard->free[class], &lists->stock[class]);
    hoard->dry = 0;
}

/* --- blocks ------------------------------------------------------------------------------------------------------- */

static void *take(lists_t *lists, lists_hoard_t *hoard, size_t size)
{
    if (size > LISTS_LARGE)
        return memory_resize(&lists->memory, NULL, 0, size);
    uint32_t class = class_of(size);
    lists_free_t *free = &hoard->free[class];
    if (free->first != NULL || ((hoard->dry >> class & 1) == 0 && refill(lists, hoard, class)))
        return take_free(free);
    if ((size_t)(hoard->end - hoard->at) < size && !new_chunk(lists, hoard, size))
        return NULL;
    char *block = hoard->at;
    hoard->at += size;
    return block;
}

static void give(lists_t *lists, lists_hoard_t *hoard, void *block, size_t size)
{
    if (size > LISTS_LARGE)
        memory_free(&lists->memory, block, size);
    else
        put_free(&hoard->free[class_of(size)], block);
}

static bool grow(lists_t *lists, lists_hoard_t *hoard, bp_list_t *list, uint32_t item_size, uint32_t capacity)
{
    size_t size = block_size((size_t)capacity * item_size), room = size / item_size;
    size_t old_size = list->capacity == 0 ? 0 : block_size((size_t)list->capacity * item_size);
    void *block =
        old_size > LISTS_LARGE ? memory_resize(&lists->memory, list->items, old_size, size) : take(lists, hoard, size);
    if (block == NULL)
        return false;
    if (old_size == 0) {
        hoard->blocks++;
    } else if (old_size <= LISTS_LARGE) {
        memcpy(block, list->items, (size_t)list->count * item_size);
        give(lists, hoard, list->items, old_size);
    }
    list->items = block;
    list->capacity = room > UINT32_MAX ? UINT32_MAX : (uint32_t)room;
    return true;
}

bool lists_reserve(lists_t *lists, bp_list_t *list, uint32_t item_size, uint32_t capacity)
{
    return capacity <= list->capacity || grow(lists, &lists->main, list, item_size, capacity);
}

void lists_release(lists_t *lists, bp_list_t *list, uint32_t item_size)
{
    if (list->capacity > 0) {
        give(lists, &lists->main, list->items, block_size((size_t)list->capacity * item_size));
        lists->main.blocks--;
    }
    *list = (bp_list_t){NULL, 0, 0};
}

/* --- hoards ------------------------------------------------------------------------------------------------------- */

static lists_hoard_t *take_hoard(lists_t *lists)
{
    hold(lists);
    lists_hoard_t *hoard = lists->idle;
    if (hoard != NULL)
        lists->idle = hoard->next_idle;
    let_go(lists);
    if (hoard != NULL)
        return hoard;
    hoard = memory_new(&lists->memory, sizeof *hoard);
    if (hoard == NULL)
        return NULL;
    hold(lists);
    hoard->next = lists->all;
    lists->all = hoard;
    let_go(lists);
    return hoard;
}

bp_result_t BP_CALL lists_reserve_in_call(bp_lists_o *seen, bp_list_t *list, uint32_t item_size, uint32_t capacity)
{
    lists_call_t *call = (lists_call_t *)(void *)seen;
    if (capacity <= list->capacity)
        return BP_OK;
    if (call->hoard == NULL)
        call->hoard = take_hoard(call->lists);
    return call->hoard != NULL && grow(call->lists, call->hoard, list, item_size, capacity) ? BP_OK : BP_ERROR_MEMORY;
}

void lists_give_back(lists_call_t *call)
{
    hold(call->lists);
    share(call->lists, call->hoard);
    call->hoard->next_idle = call->lists->idle;
    call->lists->idle = call->hoard;
    let_go(call->lists);
    call->hoard = NULL;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

void lists_init(lists_t *lists, memory_t *parent)
{
    memset(lists, 0, sizeof *lists);
    memory_init_child(&lists->memory, "lists", parent);
    atomic_flag_clear(&lists->busy);
    lists_begin(&lists->outside, lists);
    lists->outside.hoard = &lists->main;
}

static int64_t count_blocks(const lists_t *lists)
{
    int64_t blocks = lists->main.blocks;
    for (const lists_hoard_t *hoard = lists->all; hoard != NULL; hoard = hoard->next)
        blocks += hoard->blocks;
    return blocks;
}

static void free_all(lists_t *lists)
{
    free_chunks(lists, &lists->main);
    lists->main.blocks = 0;
    for (lists_hoard_t *hoard = lists->all, *next; hoard != NULL; hoard = next) {
        next = hoard->next;
        free_chunks(lists, hoard);
        memory_free(&lists->memory, hoard, sizeof *hoard);
    }
    lists->all = lists->idle = NULL;
    memset(lists->stock, 0, sizeof lists->stock);
}

void lists_tidy(lists_t *lists)
{
    if (!lists_are_used(lists))
        return;
    if (count_blocks(lists) == 0)
        free_all(lists);
    else
        share(lists, &lists->main);
}

void lists_free(lists_t *lists)
{
    free_all(lists);
}
