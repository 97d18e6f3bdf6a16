/* parking.h - memory of the indices of entities that have died, when many more are free than live.
 *
 * The queue of free indices takes 4 bytes for each index that waits in it, and `lives` 4 bytes for each index below the
 * bound. After steps both are brought down to what those need that live:
 *
 *   - Of the indices that wait, the longest free are *parked*, some in each step: a bit of their number in `lives` is
 *     turned over, and they are in no queue. The number of parked indices is kept for each page of 1,024.
 *   - Where there are far more indices than are needed, those that wait in high pages are parked too, and those of low
 *     pages are brought back in their place. So high pages die out in the long run, as entities come and go.
 *   - A page at the end whose indices are all parked is *given up*: the bound falls. What is remembered of the page is
 *     its *floor*, a life that none of its indices has had. When the bound reaches the page again, all of its indices
 *     begin with that life. So no id is given out twice.
 *
 *         page     0          1          2          3
 *         lives    LLwLLwww   wLpppLpp   pppppppp   pppppppp     L: an entity lives, w: the index waits, p: is parked
 *                                        ^ bound: pages 2 and 3 are given up, and have floors
 *
 * Parked indices are used before fresh ones, the lowest page first, then pages that were given up, in order; a page
 * comes back as a whole. Pages of a pool are parked in the same way by the world that the pool belongs to; those that
 * are parked as a whole leave the pool, and serve any pool that needs a page, or all worlds.
 *
 * Which indices are parked when depends on numbers of indices alone: not on time, addresses or memory. So ids are the
 * same in every run of a program, and after a host has gone back: a snapshot has floors, and in `lives` what is parked.
 * An index whose lives are used up is never parked, so that a page with such an index stays.
 */
#ifndef HOST_STORE_PARKING_H
#define HOST_STORE_PARKING_H

#include "entities.h"

enum {
    PARKING_KEPT = 8192,      /* indices that may wait, whatever lives; and half as many as live */
    PARKING_POOL_KEPT = 2048, /* the same for a pool */
    PARKING_MOST = 4096,      /* indices that are parked in a step, ... */
    PARKING_SHARE = 100,      /* ... or one in so many of those that wait */
    PARKING_SIFTED = 1024,    /* indices that are looked at in a step, whether they lie high */
    PARKING_PAGES = 64,       /* pages that are given up in a step, ... */
    PARKING_PAGES_SHARE = 32, /* ... and one in so many */
    PARKING_WIDE = 1 << 16,   /* places of the queue in use from which on its memory is looked after */
    PARKING_CALM = 100,       /* steps for which the queue may have too much memory */
    PARKING_TRIM = 1 << 18,   /* indices whose room in `lives` is given back in a step, ... */
    PARKING_TRIM_SHARE = 64   /* ... and one in so many */
};

/* Are there indices that come before fresh ones, but wait in no queue? */
static inline bool parking_is_due(const entities_t *entities)
{
    return entities->parked_common > 0 || entities->bound < (uint64_t)entities->reached * ENTITIES_PAGE;
}

/* What the indices of a page at the bound, or above, begin with. */
static inline uint32_t parking_floor(const entities_t *entities, uint32_t page)
{
    return page < entities->reached ? entities->floors[page] : 0;
}

/* Set the lives of indices from which the bound is about to rise: pages come back, or come for the first time. */
void parking_fill(entities_t *entities, uint32_t first, uint32_t end);

/* Does the index of an entity lie in a page that was given up? */
static inline bool parking_gave_up(const entities_t *entities, bp_entity_t e)
{
    return bp_entity_index(e) / ENTITIES_PAGE < entities->reached;
}

/* Bring indices back until `count` can be used again, or there are no more. Errors: memory, limit. [main] */
bp_result_t parking_bring(entities_t *entities, uint32_t count);

/* Bring a page back into the list of a pool, one of its own or one that belongs to no pool. False where there is none,
 * or no memory. [main] */
bool parking_bring_pool(entities_t *entities, entity_pool_t *pool);

/* Look after the indices of all worlds, and those of one, after a step of that world; to be called where the entities
 * are `restless`. Returns whether it was the time for that. [main] */
bool parking_tend(entities_t *entities, entity_pool_t *pool);

/* Is there anything that parking_tend may have to do? A queue of many places may hold more indices than are kept, and a
 * large pool too. */
static inline bool parking_is_restless(const entities_t *entities)
{
    return entities->parked_count > 0 || parking_is_due(entities) || entities->queue_size > PARKING_KEPT ||
           entities->queue_widest > PARKING_WIDE || entities->large_pools;
}

/* Count the parked indices of each page and pool anew, from `lives` and owners, when a host has been brought back.
 * `parked` is how many there are. [main] */
void parking_count(entities_t *entities, uint32_t parked);

#endif
