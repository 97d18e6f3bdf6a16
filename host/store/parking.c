/* parking.c - parking indices, bringing them back, and giving up pages.
 *
 * Invariants: parked[p] is how many indices below the bound in page p are parked; parked_common and the `parked` of
 * pools are sums of these. A page is given up only as a whole and from the end, so that the pages from the bound to
 * `reached` are the ones that were given up.
 */
#include "parking.h"

#include <inttypes.h>

static bool is_common(const entities_t *e, uint32_t page)
{
    return page >= e->owner_capacity || e->owners[page] == 0;
}

/* Half as much again, so that memory is not needed again soon. */
static uint32_t amply(uint64_t count)
{
    uint64_t more = count + count / 2 + ENTITIES_PAGE;
    return more < ENTITIES_MAX ? (uint32_t)more : ENTITIES_MAX;
}

/* --- parking ------------------------------------------------------------------------------------------------------ */

static void leave_pool(entities_t *e, entity_pool_t *pool, uint32_t page)
{
    e->owners[page] = 0;
    e->parked_common += ENTITIES_PAGE;
    pool->parked -= ENTITIES_PAGE;
    pool->pages--;
    if (page < e->parked_from)
        e->parked_from = page;
    if (pool->pages == 0)
        entities_turn_pools(e);
    if (pool->fresh == pool->fresh_end)
        pool->fresh = pool->fresh_end = 0; /* the end of a page that may be given up */
    while (pool->pages > 0 && e->owners[pool->first_page] != pool->number)
        pool->first_page++;
    while (pool->pages > 0 && e->owners[pool->last_page] != pool->number)
        pool->last_page--;
}

/* Park an index that has been taken out of the queue, or (pool not NULL) out of the list of a pool. */
static void park(entities_t *e, entity_pool_t *pool, uint32_t index)
{
    uint32_t page = index / ENTITIES_PAGE;
    e->lives[index] ^= ENTITIES_PARKED;
    e->parked[page]++;
    e->parked_count++;
    if (pool != NULL) {
        pool->parked++;
        if (e->parked[page] == ENTITIES_PAGE)
            leave_pool(e, pool, page);
        return;
    }
    e->parked_common++;
    if (page < e->parked_from)
        e->parked_from = page;
}

/* How many of `waiting` indices are parked in a step, so that `kept` stay. */
static uint32_t portion(uint32_t waiting, uint32_t kept)
{
    uint32_t most = waiting / PARKING_SHARE > PARKING_MOST ? waiting / PARKING_SHARE : PARKING_MOST;
    return waiting - kept < most ? waiting - kept : most;
}

static uint32_t take(entities_t *e)
{
    uint32_t index = e->queue[e->queue_head++];
    if (e->queue_head == e->queue_size)
        e->queue_head = 0;
    e->queue_count--;
    return index;
}

/* --- bringing back ------------------------------------------------------------------------------------------------ */

/* Bring the parked indices of a page back, in order, into the queue, or (pool not NULL) into the list of a pool that
 * owns the page. False when out of memory. */
static bool unpark(entities_t *e, entity_pool_t *pool, uint32_t page)
{
    uint32_t count = e->parked[page], index = page * ENTITIES_PAGE;
    uint64_t waiting = (uint64_t)e->bound - e->parked_count + count;
    if (waiting > e->queue_room && !entities_grow(e, 0, amply(waiting)))
        return false;
    e->parked_count -= count;
    *(pool != NULL ? &pool->parked : &e->parked_common) -= count;
    for (e->parked[page] = 0; count > 0; index++) {
        if (!entities_is_parked(e->lives[index]))
            continue;
        e->lives[index] ^= ENTITIES_PARKED;
        count--;
        if (pool != NULL)
            entities_pool_put(e, pool, index);
        else
            entities_put_free(e, index);
    }
    return true;
}

/* The lowest page with parked indices that belongs to no pool. Precondition: there is one. */
static uint32_t lowest_common(entities_t *e)
{
    while (e->parked[e->parked_from] == 0 || !is_common(e, e->parked_from))
        e->parked_from++;
    return e->parked_from;
}

void parking_fill(entities_t *e, uint32_t first, uint32_t end)
{
    for (uint32_t i = first, behind; i < end; i = behind) {
        uint32_t *lives = e->lives, page = i / ENTITIES_PAGE, left = ENTITIES_PAGE - i % ENTITIES_PAGE;
        uint32_t life = parking_floor(e, page) - 1; /* ENTITIES_NEVER where the floor is 0 */
        for (behind = end - i < left ? end : i + left; i < behind; i++)
            lives[i] = life;
    }
}

/* Bring the first page back that was given up. */
static bp_result_t take_back(entities_t *e)
{
    uint64_t bound = (uint64_t)e->bound + ENTITIES_PAGE, waiting = bound - e->parked_count;
    if (bound > ENTITIES_MAX)
        return error_set(&e->base->error, BP_ERROR_LIMIT, "a host has at most %" PRIu32 " entities",
                         ENTITIES_MAX);
    if ((bound > e->room || waiting > e->queue_room) &&
        !entities_grow(e, bound > e->room ? amply(bound) : 0, waiting > e->queue_room ? amply(waiting) : 0))
        return error_memory(&e->base->error, "creating entities");
    uint32_t first = e->bound;
    e->bound = (uint32_t)bound;
    parking_fill(e, first, e->bound);
    for (uint32_t index = first; index < e->bound; index++)
        entities_put_free(e, index);
    return BP_OK;
}

bp_result_t parking_bring(entities_t *e, uint32_t count)
{
    bp_result_t result = BP_OK;
    while (result == BP_OK && entities_reusable(e) < count && parking_is_due(e)) {
        if (e->parked_common == 0)
            result = take_back(e);
        else if (!unpark(e, NULL, lowest_common(e)))
            result = error_memory(&e->base->error, "creating entities");
    }
    entities_settle(e);
    return result;
}

/* The lowest page below `end` that a pool has with parked indices; BP_NONE: there is none. */
static uint32_t lowest_of(const entities_t *e, const entity_pool_t *pool, uint32_t end)
{
    for (uint32_t page = pool->first_page; pool->parked > 0 && page < end; page++) {
        if (e->owners[page] == pool->number && e->parked[page] > 0)
            return page;
    }
    return BP_NONE;
}

/* Give the pool the lowest page below `end` whose indices are all parked, as far as there is one that belongs to no
 * pool. Returns the page, or BP_NONE. */
static uint32_t adopt(entities_t *e, entity_pool_t *pool, uint32_t end)
{
    uint32_t pages = e->bound / ENTITIES_PAGE < end ? e->bound / ENTITIES_PAGE : end;
    uint32_t page = e->parked_common < ENTITIES_PAGE ? pages : lowest_common(e);
    while (page < pages && (e->parked[page] < ENTITIES_PAGE || !is_common(e, page)))
        page++;
    if (page >= pages || entities_reserve_pools(e, e->bound) != BP_OK)
        return BP_NONE;
    e->owners[page] = pool->number;
    e->parked_common -= ENTITIES_PAGE;
    pool->parked += ENTITIES_PAGE;
    if (pool->pages == 0 || page < pool->first_page)
        pool->first_page = page;
    if (pool->pages++ == 0 || page > pool->last_page)
        pool->last_page = page;
    e->large_pools |= pool->pages > PARKING_POOL_KEPT / ENTITIES_PAGE;
    return page;
}

bool parking_bring_pool(entities_t *e, entity_pool_t *pool)
{
    uint32_t page = lowest_of(e, pool, e->bound / ENTITIES_PAGE);
    if (page == BP_NONE)
        page = adopt(e, pool, BP_NONE);
    bool done = page != BP_NONE && unpark(e, pool, page);
    entities_settle(e);
    return done;
}

/* --- after steps -------------------------------------------------------------------------------------------------- */

/* The index from which on indices lie high, where `needed` are needed. */
static uint64_t high(uint64_t needed)
{
    return (needed + needed / 4 + ENTITIES_PAGE - 1) / ENTITIES_PAGE * ENTITIES_PAGE;
}

/* Is the page one that a world of several should have for itself? Indices in the queue would be used by all of them. */
static bool waits_for_a_pool(const entities_t *e, uint32_t page)
{
    return e->pools_in_use > 1 && e->parked[page] == ENTITIES_PAGE;
}

static void tend_queue(entities_t *e)
{
    uint32_t kept = PARKING_KEPT + e->living / 2;
    uint64_t from = high((uint64_t)e->living + kept);
    if (e->queue_count > kept) {
        for (uint32_t n = portion(e->queue_count, kept); n > 0; n--)
            park(e, NULL, take(e));
    } else if (e->bound > 2 * from && parking_is_due(e)) {
        for (uint32_t n = e->queue_count < PARKING_SIFTED ? e->queue_count : PARKING_SIFTED; n > 0; n--) {
            uint32_t index = take(e);
            if (index >= from)
                park(e, NULL, index);
            else
                entities_put_free(e, index);
        }
    }
    if (e->queue_count < ENTITIES_MIN_FREE + 2 * ENTITIES_PAGE && e->parked_common > 0 &&
        lowest_common(e) < from / ENTITIES_PAGE && !waits_for_a_pool(e, e->parked_from))
        unpark(e, NULL, e->parked_from);
}

/* The number of the page from which on the pages of a pool lie high, where `needed` indices are needed: behind so many
 * of its own pages, where it has twice as many; or where all indices that live and wait would lie below, if there are
 * twice as many. BP_NONE: there is no such page. */
static uint32_t high_page(const entities_t *e, const entity_pool_t *pool, uint64_t needed)
{
    uint64_t all = high(e->living + (uint64_t)e->living / 2 + PARKING_KEPT +
                        (uint64_t)e->pools_in_use * (PARKING_POOL_KEPT + ENTITIES_PAGE));
    uint32_t from = e->bound > 2 * all ? (uint32_t)(all / ENTITIES_PAGE) : BP_NONE;
    uint32_t wanted = (uint32_t)(high(needed) / ENTITIES_PAGE), page = pool->first_page;
    if (pool->pages <= 2 * (uint64_t)wanted)
        return from;
    for (; wanted > 0; page++)
        wanted -= e->owners[page] == pool->number;
    return page < from ? page : from;
}

/* Park indices of high pages, in place of which those of a low page are brought back. */
static void sift_pool(entities_t *e, entity_pool_t *pool, uint32_t from)
{
    for (uint32_t n = PARKING_SIFTED; n > 0 && pool->fresh < pool->fresh_end; n--)
        entities_pool_put(e, pool, pool->fresh++);
    for (uint32_t n = pool->count < PARKING_SIFTED ? pool->count : PARKING_SIFTED; n > 0; n--) {
        uint32_t index = entities_pool_take(e, pool);
        if (index / ENTITIES_PAGE >= from)
            park(e, pool, index);
        else
            entities_pool_put(e, pool, index);
    }
    if (pool->count >= ENTITIES_POOL_MIN_FREE + ENTITIES_PAGE)
        return;
    uint32_t page = lowest_of(e, pool, from);
    page = page != BP_NONE ? page : adopt(e, pool, from);
    if (page != BP_NONE)
        unpark(e, pool, page);
}

static void tend_pool(entities_t *e, entity_pool_t *pool)
{
    if (pool->pages == 0)
        return;
    uint32_t living = pool->pages * ENTITIES_PAGE - pool->count - (pool->fresh_end - pool->fresh) - pool->parked,
             kept = PARKING_POOL_KEPT + living / 2, from = high_page(e, pool, (uint64_t)living + kept);
    if (pool->count > kept) {
        for (uint32_t n = portion(pool->count, kept); n > 0; n--)
            park(e, pool, entities_pool_take(e, pool));
    } else if (pool->last_page >= from) {
        sift_pool(e, pool, from);
    }
}

/* A life that no index of the page has had. Precondition: the indices from `first` to the bound are parked. */
static uint32_t floor_of(const entities_t *e, uint32_t first)
{
    uint32_t highest = 0;
    for (uint32_t i = first; i < e->bound; i++) {
        uint32_t next = (e->lives[i] ^ ENTITIES_PARKED) + 1;
        highest = next > highest ? next : highest;
    }
    return highest;
}

static void give_up_pages(entities_t *e)
{
    for (uint32_t n = PARKING_PAGES + e->bound / ENTITIES_PAGE / PARKING_PAGES_SHARE; n > 0 && e->bound > 0; n--) {
        uint32_t page = (e->bound - 1) / ENTITIES_PAGE, count = e->bound - page * ENTITIES_PAGE;
        if (e->parked[page] != count || !is_common(e, page))
            return;
        e->floors[page] = floor_of(e, page * ENTITIES_PAGE);
        e->reached = page < e->reached ? e->reached : page + 1;
        e->parked_count -= count;
        e->parked_common -= count;
        e->parked[page] = 0;
        e->bound = page * ENTITIES_PAGE;
    }
}

/* Let an array with a number for each index below the bound have less room, where it has more than twice what it needs.
 * Memory is given back in portions: more in one step would take long. Returns the room that there is afterwards. */
static uint32_t trim(entities_t *e, uint32_t **array, uint32_t room)
{
    uint64_t enough = (uint64_t)e->bound + e->bound / 4 + ENTITIES_PAGE;
    if (room <= 2 * enough)
        return room;
    uint32_t most = room / PARKING_TRIM_SHARE + PARKING_TRIM;
    uint32_t less = room - enough < most ? (uint32_t)enough : room - most;
    uint32_t *moved = memory_resize(&e->memory, *array, (size_t)room * sizeof *moved, (size_t)less * sizeof *moved);
    if (moved == NULL)
        return room;
    *array = moved;
    return less;
}

/* The queue moves into less memory when few indices wait, so that few are copied; or into fresh memory of the same
 * size, where it has used much of the old one, and for long but little of it. */
static void trim_queue(entities_t *e)
{
    uint32_t waiting = e->bound - e->parked_count, size = 2 * (e->queue_count + ENTITIES_MIN_FREE);
    uint64_t enough = (uint64_t)waiting + waiting / 4 + size;
    bool less = e->queue_room > 2 * enough, pages = memory_is_pages(&e->memory, e->queue_room * sizeof *e->queue);
    bool wide = e->queue_widest > PARKING_WIDE && e->queue_widest / 4 > size && pages;
    e->calm = less || wide ? e->calm + 1 : 0;
    if ((less || wide) && e->queue_count <= e->queue_room / 8 && e->calm >= PARKING_CALM * e->pools_in_use) {
        entities_move_queue(e, less ? (uint32_t)enough : e->queue_room, size < e->queue_room ? size : e->queue_room);
        e->calm = 0;
    }
}

bool parking_tend(entities_t *e, entity_pool_t *pool)
{
    if (e->sealed || (e->makings | e->told) > 0)
        return false;
    tend_queue(e);
    tend_pool(e, pool);
    give_up_pages(e);
    e->room = trim(e, &e->lives, e->room);
    e->link_capacity = trim(e, &e->links, e->link_capacity);
    trim_queue(e);
    entities_settle(e);
    return true;
}

void parking_count(entities_t *e, uint32_t parked)
{
    if (e->parked_capacity > 0)
        memset(e->parked, 0, e->parked_capacity * sizeof *e->parked);
    for (uint32_t i = 0; i < e->pool_count; i++) {
        if (e->pools[i] != NULL)
            e->pools[i]->parked = 0;
    }
    e->parked_count = e->parked_common = parked;
    e->parked_from = 0;
    for (uint32_t i = 0; parked > 0 && i < e->bound; i++)
        e->parked[i / ENTITIES_PAGE] += entities_is_parked(e->lives[i]);
    for (uint32_t page = 0; parked > 0 && page < e->owner_capacity && page < e->parked_capacity; page++) {
        if (e->owners[page] != 0) {
            e->pools[e->owners[page] - 1]->parked += e->parked[page];
            e->parked_common -= e->parked[page];
        }
    }
    entities_settle(e);
}
