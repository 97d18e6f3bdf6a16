/* entities.h - living entities: ids, their generations, and the queue of free indices.
 *
 * An id is 32 bits of index and 32 of generation. `lives` holds for each index what its present generation is:
 * even while an entity lives there, odd while the index is free; the generation in an id is that number plus one
 * plus the host's tag, so alive() is one load and one comparison. Free indices wait in a first-in first-out queue
 * and are reused only while more than ENTITIES_MIN_FREE wait, which spreads reuse; an index whose counter has run
 * out is retired, so a stale id never comes alive again.
 *
 * In a host of several worlds each has a *pool* of indices for the entities that are created through it: whole pages,
 * so that its records lie together (records.h). Indices of a pool that were never used are taken in order; those of its
 * dead come back to it and wait in a queue of their own. Where many indices outside of pools are free, these are used
 * first, so that the indices that were freed before there were pools do not lie idle.
 *
 * Where many more are free than live, most of them are *parked*: they wait in no queue, and pages at the end of all
 * indices that are parked as a whole are given up (parking.h).
 *
 * Not here: announcing deaths (destruction.h).
 */
#ifndef HOST_STORE_ENTITIES_H
#define HOST_STORE_ENTITIES_H

#include "../base/base.h"

#include <bp_api.h>

enum {
    ENTITIES_MIN_FREE = 1024,
    ENTITIES_POOL_MIN_FREE = 64, /* the same of a pool */
    ENTITIES_PAGE = 1 << BP_RECORDS_SHIFT /* indices with records in one page (records.h) */
};
#define ENTITIES_MAX (UINT32_MAX - 1) /* indices */

#define ENTITIES_NEVER UINT32_MAX /* in `lives`: the index was taken by a pool or passed over, and never used; adding 1
                                     gives 0, a first life */
#define ENTITIES_PARKED 0x80000000u   /* in `lives`: this bit is turned over while the index is parked */

/* The indices that a world keeps for its own. */
typedef struct entity_pool_t {
    uint32_t number;            /* number of the pool, from 1 on; 0: not in use as a pool */
    uint32_t pages, first_page, last_page; /* how many pages of indices the pool has, and the numbers of two of them */
    bool on;                    /* the host has several worlds, or the pool has pages */
    uint32_t fresh, fresh_end;  /* indices that were never used */
    uint32_t head, tail, count; /* the list of indices that are free again, the longest free first */
    uint32_t parked;            /* free indices of the pool's pages that are not in the list */
} entity_pool_t;

/* New entities for which managers are making instances. */
typedef struct new_ones_t {
    const bp_entity_t *entities;
    uint32_t count;
    const struct new_ones_t *around; /* those of the call from whose `create` this one comes; NULL: none */
} new_ones_t;

typedef struct entities_t {
    memory_t memory;
    base_t *base;
    uint32_t *lives;      /* by index; plugins read it, `bound` and the base's tag (bp_is_alive) */
    uint32_t bound;       /* indices in use, living, waiting, parked or retired */
    uint32_t capacity;    /* the bound that fresh indices reach without memory; no more than `bound` while others are to
                             be used first (parking.h) */
    uint32_t room;        /* of lives */
    uint32_t *queue;      /* a ring; there is room for every index that is not parked, so that destroying needs no
                             memory */
    uint32_t queue_room;  /* places that there is memory for */
    uint32_t queue_size;  /* places of the ring, at most `queue_room`: no more than are needed, so that it touches
                             little memory */
    uint32_t queue_head;
    uint32_t queue_count;
    uint32_t queue_widest; /* the most places that the ring has had since its memory was fresh */
    uint32_t living;
    uint16_t *parked;      /* of each page: how many of its indices are parked */
    uint32_t *floors;      /* of each page that was given up: what its indices begin with when it comes back */
    uint32_t parked_count;  /* all parked indices, those of pools among them */
    uint32_t parked_common; /* those that belong to no pool */
    uint32_t parked_from;   /* no page below has a parked index that belongs to no pool */
    uint32_t reached;       /* pages from this number on have never been given up */
    uint32_t calm;          /* calls of parking_tend for which the queue has used a small part of its memory */
    bool large_pools;       /* there has been a pool of more pages than its free indices may keep */
    bool restless;          /* parking.h has something to look after */
    struct record_page_t **pages; /* for each ENTITIES_PAGE indices the list of the record pages of all worlds that have
                                     such a page */
    uint32_t page_capacity, floor_capacity, parked_capacity;
    entity_pool_t **pools;        /* by number - 1; NULL: free */
    uint32_t pool_count, pool_capacity, pool_free; /* below `pool_free` no number is free */
    uint32_t pools_in_use;
    uint32_t *owners;     /* of each page up to the last of a pool: the pool's number, or 0 */
    uint32_t *links;      /* of free indices of pools: the next one */
    uint32_t owner_capacity, link_capacity;
    uint32_t listeners;   /* changes when a manager that may want to know of deaths comes or goes */
    bool sealed;          /* while a reload is prepared: no entity is created or destroyed */
    uint32_t told;        /* calls under way in which components are told of rows: no entity is destroyed */
    uint32_t makings;     /* calls under way in which managers make instances of new entities, ... */
    const new_ones_t *making; /* ... and these, which are not destroyed before all of their instances are there */
    uint32_t owned;       /* worlds that have components of their own, and an entity that has them (own.h) */
} entities_t;

void entities_init(entities_t *entities, base_t *base);
void entities_free(entities_t *entities); /* at the end of the host */

/* Make sure that the next `count` creations need no memory. Ids stay valid. [main] */
bp_result_t entities_reserve(entities_t *entities, uint32_t count);

/* Room for `bound` indices of which `parked` are parked, and for the floors of pages below `reached`. Errors: memory.
 * [main] */
bp_result_t entities_make_room(entities_t *entities, uint32_t bound, uint32_t parked, uint32_t reached);

/* Bring `capacity` in order when `bound`, parked indices or memory have changed. [main] */
void entities_settle(entities_t *entities);

/* Give the queue memory for `room` places in place of what it has, and a ring of at least `size` of them. False when
 * out of memory: nothing has changed. Precondition: queue_count <= size <= room. [main] */
bool entities_move_queue(entities_t *entities, uint32_t room, uint32_t size);

/* Memory for `room` indices in `lives`, and for `queue_room` places of the queue. False when out of memory. [main] */
bool entities_grow(entities_t *entities, uint32_t room, uint32_t queue_room);

/* Managers are called to make instances of these new entities: until `entities_made` the entities are neither destroyed
 * nor given or deprived of components from outside, since each manager has yet to say where its instances are. Calls
 * nest. [main] */
void entities_make(entities_t *entities, new_ones_t *making, const bp_entity_t *batch, uint32_t count);
void entities_made(entities_t *entities, const new_ones_t *making);

/* The first entity of a batch for which instances are being made, or {0}; and BP_ERROR_STATE with a sentence about it.
 * [main] */
bp_entity_t entities_in_making(const entities_t *entities, const bp_entity_t *batch, uint32_t count);
bp_result_t entities_refuse_making(const entities_t *entities, bp_entity_t entity);

/* Create `count` entities. All or nothing; errors: memory, limit. [main] */
bp_result_t entities_create(entities_t *entities, bp_entity_t *out, uint32_t count);

/* Make the ring of free indices large enough for `count`, which is at most `queue_room`. Needs no memory. [main] */
void entities_widen_queue(entities_t *entities, uint32_t count);

/* How many free indices would be used again. */
static inline uint32_t entities_reusable(const entities_t *entities)
{
    return entities->queue_count > ENTITIES_MIN_FREE ? entities->queue_count - ENTITIES_MIN_FREE : 0;
}

/* The index of the next entity. */
static inline uint32_t entities_next(const entities_t *entities)
{
    return entities->queue_count > ENTITIES_MIN_FREE ? entities->queue[entities->queue_head] : entities->bound;
}

/* Create one entity at `index`, which entities_next has returned, where no memory is needed for it: the short way.
 * False where memory is needed. [main] */
static inline bool entities_create_next(entities_t *entities, uint32_t index, bp_entity_t *out)
{
    uint32_t life = 0, bound = entities->bound;
    if (index < bound) {
        uint32_t head = entities->queue_head + 1;
        entities->queue_head = head == entities->queue_size ? 0 : head;
        entities->queue_count--;
        life = ++entities->lives[index];
    } else if (index < entities->capacity) {
        entities->bound = bound + 1; /* lives[index] is 0 and stays untouched */
    } else {
        return false;
    }
    entities->living++;
    out->id = (uint64_t)(life + entities->base->values.entity_base + 1) << 32 | index;
    return true;
}

/* Create one entity in the short way. [main] */
static inline bool entities_create_one(entities_t *entities, bp_entity_t *out)
{
    return entities_create_next(entities, entities_next(entities), out);
}

/* --- pools -------------------------------------------------------------------------------------------------------- */

/* Make a pool without indices; errors: memory. End a pool: its indices become those of all worlds. [main] */
bp_result_t entities_add_pool(entities_t *entities, entity_pool_t *pool);
void entities_drop_pool(entities_t *entities, entity_pool_t *pool);

/* Is an index with this value in `lives` parked? */
static inline bool entities_is_parked(uint32_t life)
{
    return ((life ^ life << 1) & ENTITIES_PARKED) != 0; /* in ENTITIES_NEVER both bits are 1 */
}

/* Set anew which pools are on, when pools have come or gone or have got other pages. [main] */
void entities_turn_pools(entities_t *entities);

/* Is the next entity that is created through the pool's world one of the pool? */
static inline bool entities_is_pooled(const entities_t *entities, const entity_pool_t *pool)
{
    return pool->on && entities_reusable(entities) < ENTITIES_PAGE;
}

/* How many free indices of a pool would be used again, before fresh ones. */
static inline uint32_t entities_pool_reusable(const entity_pool_t *pool)
{
    return pool->count > ENTITIES_POOL_MIN_FREE ? pool->count - ENTITIES_POOL_MIN_FREE : 0;
}

/* Make sure that the next `count` creations of a pool need no memory. Errors: memory, limit. [main] */
bp_result_t entities_pool_reserve(entities_t *entities, entity_pool_t *pool, uint32_t count);

/* The index of the pool's next entity; BP_NONE where it has to be reserved. */
static inline uint32_t entities_pool_next(const entity_pool_t *pool)
{
    return pool->count > ENTITIES_POOL_MIN_FREE ? pool->head : pool->fresh < pool->fresh_end ? pool->fresh : BP_NONE;
}

/* Create entities for which there are indices (entities_pool_reserve). [main] */
void entities_pool_create(entities_t *entities, entity_pool_t *pool, bp_entity_t *out, uint32_t count);

/* Room for pools that have pages among the first `bound` indices. Errors: memory. [main] */
bp_result_t entities_reserve_pools(entities_t *entities, uint32_t bound);

/* Put `count` free indices, which are linked from `first` to `last`, at the end of the pool's queue. */
static inline void entities_pool_append(entities_t *entities, entity_pool_t *pool, uint32_t first, uint32_t last,
                                        uint32_t count)
{
    if (pool->count == 0)
        pool->head = first;
    else
        entities->links[pool->tail] = first;
    pool->tail = last;
    pool->count += count;
}

/* Put a free index at the end of the pool's queue. */
static inline void entities_pool_put(entities_t *entities, entity_pool_t *pool, uint32_t index)
{
    entities_pool_append(entities, pool, index, index, 1);
}

/* Take the index that has been free for longest from the pool's queue, which is not empty. */
static inline uint32_t entities_pool_take(const entities_t *entities, entity_pool_t *pool)
{
    uint32_t index = pool->head;
    pool->head = --pool->count > 0 ? entities->links[index] : 0;
    return index;
}

/* The pool of the page that an index lies in; NULL: the index belongs to no pool. */
static inline entity_pool_t *entities_owner(const entities_t *entities, uint32_t index)
{
    uint32_t page = index / ENTITIES_PAGE, owner = page < entities->owner_capacity ? entities->owners[page] : 0;
    return owner == 0 ? NULL : entities->pools[owner - 1];
}

/* Put a free index that belongs to no pool at the end of the queue. */
static inline void entities_put_free(entities_t *entities, uint32_t index)
{
    if (entities->queue_count == entities->queue_size)
        entities_widen_queue(entities, entities->queue_count + 1);
    uint64_t at = (uint64_t)entities->queue_head + entities->queue_count++;
    entities->queue[at < entities->queue_size ? at : at - entities->queue_size] = index;
}

/* --- ends --------------------------------------------------------------------------------------------------------- */

/* End living entities from the head of a batch on, up to the first that is not alive. Returns how many. [main] */
uint32_t entities_end(entities_t *entities, const bp_entity_t *batch, uint32_t count);

/* Fetch what ending these entities reads and writes, where their indices follow each other and belong to a pool. */
void entities_fetch(const entities_t *entities, const bp_entity_t *batch, uint32_t count);

/* End one entity. False where the entity is not alive. [main] */
static inline bool entities_end_one(entities_t *entities, bp_entity_t e)
{
    uint32_t index = bp_entity_index(e),
             life = bp_entity_generation(e) - (entities->base->values.entity_base + 1);
    if (index >= entities->bound || entities->lives[index] != life || (life & 1) != 0)
        return false;
    entities->lives[index] = ++life;
    entities->living--;
    if (life >= 2 * ENTITY_MAX_LIFE - 1)
        return true; /* retired */
    entity_pool_t *owner = entities_owner(entities, index);
    if (owner != NULL) {
        entities_pool_put(entities, owner, index);
        return true;
    }
    entities_put_free(entities, index);
    return true;
}

/* The living entity at an index, or {0}. [job] */
bp_entity_t entities_at(const entities_t *entities, uint32_t index);

/* As bp_entity_api.living. [job] */
void entities_tell_lives(const entities_t *entities, bp_inline_lives_t *where);

/* As bp_entity_api.alive. [job] */
uint32_t entities_alive(const entities_t *entities, const bp_entity_t *batch, uint32_t count, uint8_t *alive);

static inline bool entities_is_alive(const entities_t *entities, bp_entity_t e)
{
    uint32_t index = bp_entity_index(e), generation = bp_entity_generation(e);
    return index < entities->bound && (generation & 1) != 0 &&
           entities->lives[index] + 1 + entities->base->values.entity_base == generation;
}

/* Why an entity cannot be used: "is dead", "belongs to another host" ...; returns BP_ERROR_DEAD. [main] */
bp_result_t entities_dead_error(const entities_t *entities, bp_entity_t e);

#endif
