/* entities.c - the entity manager of the sources (part 1), with 64-bit ids.
 *
 * Fresh memory is cleared and a fresh index's counter is 0, so creating entities by count into fresh memory writes
 * nothing but the ids: a counter is first touched when the entity is looked up or dies.
 *
 * Invariants: lives[i] is even exactly while an entity lives at i; every odd index below bound is in the queue or in
 * the list of a pool once, fresh in a pool, parked, or retired. So at most bound - parked_count indices can wait in the
 * queue at one time, and queue_room is at least that, and as much more as `capacity` lets the bound grow: the queue
 * never overflows. From the larger of `bound` and the end of page `reached` - 1 on, lives are 0.
 *
 * The ring of the queue is smaller than its room: otherwise a few hundred entities that die and are created in each
 * step would move through a ring of four bytes for each entity of the host.
 */
#include "parking.h"

#include <inttypes.h>

enum {
    QUEUE_LEAST = 2 * ENTITIES_MIN_FREE, /* places of the ring, where there is room */
    MANY = 64 * ENTITIES_MIN_FREE        /* a batch of so many gets room for the free indices that will wait, too */
};

void entities_init(entities_t *entities, base_t *base)
{
    memset(entities, 0, sizeof *entities);
    memory_init_child(&entities->memory, "entities", &base->memory);
    entities->base = base;
}

void entities_free(entities_t *entities)
{
    memory_free(&entities->memory, entities->lives, (size_t)entities->room * sizeof *entities->lives);
    memory_free(&entities->memory, entities->queue, (size_t)entities->queue_room * sizeof *entities->queue);
    memory_free(&entities->memory, entities->pages, entities->page_capacity * sizeof *entities->pages);
    memory_free(&entities->memory, entities->floors, entities->floor_capacity * sizeof *entities->floors);
    memory_free(&entities->memory, entities->parked, entities->parked_capacity * sizeof *entities->parked);
    memory_free(&entities->memory, entities->pools, entities->pool_capacity * sizeof *entities->pools);
    memory_free(&entities->memory, entities->owners, entities->owner_capacity * sizeof *entities->owners);
    memory_free(&entities->memory, entities->links, (size_t)entities->link_capacity * sizeof *entities->links);
}

/* What lies from the head to the end of the old ring goes to the end of the new one, where the ring wraps. */
void entities_widen_queue(entities_t *entities, uint32_t count)
{
    uint32_t tail = entities->queue_size - entities->queue_head;
    uint64_t wider = entities->queue_size < QUEUE_LEAST ? QUEUE_LEAST : entities->queue_size;
    if (count <= entities->queue_size)
        return;
    while (wider < count)
        wider *= 2;
    entities->queue_size = (uint32_t)(wider < entities->queue_room ? wider : entities->queue_room);
    if (entities->queue_size > entities->queue_widest)
        entities->queue_widest = entities->queue_size;
    entities->restless = parking_is_restless(entities);
    if (entities->queue_count <= tail)
        return;
    uint32_t *queue = entities->queue, head = entities->queue_size - tail;
    memmove(queue + head, queue + entities->queue_head, tail * sizeof *queue);
    entities->queue_head = head;
}

/* Make room for `count` cleared items of an array by page. */
static bool grow_by_page(entities_t *entities, void *items, uint32_t *capacity, uint32_t count, size_t size)
{
    void *block;
    if (count <= *capacity)
        return true;
    memcpy(&block, items, sizeof block); /* the array's pointer is of another type than void * */
    block = memory_resize_cleared(&entities->memory, block, *capacity * size, count * size);
    if (block == NULL)
        return false;
    memcpy(items, &block, sizeof block);
    *capacity = count;
    return true;
}

static bool grow_pages(entities_t *e, uint64_t room)
{
    uint32_t count = (uint32_t)(room / ENTITIES_PAGE) + 1;
    return grow_by_page(e, &e->pages, &e->page_capacity, count, sizeof *e->pages) &&
           grow_by_page(e, &e->floors, &e->floor_capacity, count, sizeof *e->floors) &&
           grow_by_page(e, &e->parked, &e->parked_capacity, count, sizeof *e->parked);
}

bool entities_move_queue(entities_t *e, uint32_t room, uint32_t size)
{
    uint32_t *queue = memory_resize(&e->memory, NULL, 0, (size_t)room * sizeof *queue);
    uint32_t tail = e->queue_size - e->queue_head, first = e->queue_count < tail ? e->queue_count : tail;
    if (queue == NULL)
        return false;
    if (e->queue_count > 0) {
        memcpy(queue, e->queue + e->queue_head, first * sizeof *queue);
        memcpy(queue + first, e->queue, (e->queue_count - first) * sizeof *queue);
    }
    memory_free(&e->memory, e->queue, (size_t)e->queue_room * sizeof *queue);
    e->queue = queue;
    e->queue_room = room;
    e->queue_head = 0;
    e->queue_size = e->queue_widest = size;
    return true;
}

bool entities_grow(entities_t *e, uint32_t room, uint32_t queue_room)
{
    if (room > e->room) {
        size_t old = (size_t)e->room * sizeof *e->lives, size = (size_t)room * sizeof *e->lives;
        uint32_t *lives = grow_pages(e, room) ? memory_resize_cleared(&e->memory, e->lives, old, size) : NULL;
        if (lives == NULL)
            return false;
        e->lives = lives;
        e->room = room;
    }
    return queue_room <= e->queue_room || entities_move_queue(e, queue_room, e->queue_size);
}

void entities_settle(entities_t *e)
{
    uint64_t most = (uint64_t)e->queue_room + e->parked_count;
    e->capacity = parking_is_due(e) ? e->bound : most < e->room ? (uint32_t)most : e->room;
    e->restless = parking_is_restless(e);
}

/* Let fresh indices reach `capacity` without memory. */
static bp_result_t grow(entities_t *e, uint32_t capacity)
{
    if (!entities_grow(e, capacity, capacity - e->parked_count))
        return error_memory(&e->base->error, "creating entities");
    entities_settle(e);
    return BP_OK;
}

bp_result_t entities_make_room(entities_t *e, uint32_t bound, uint32_t parked, uint32_t reached)
{
    uint64_t pages = (uint64_t)reached * ENTITIES_PAGE;
    if (!grow_pages(e, pages > bound ? pages : bound) || !entities_grow(e, bound, bound - parked))
        return error_memory(&e->base->error, "creating entities");
    entities_settle(e);
    return BP_OK;
}

bp_result_t entities_reserve(entities_t *entities, uint32_t count)
{
    if (count > entities_reusable(entities) && parking_is_due(entities)) {
        bp_result_t result = parking_bring(entities, count);
        if (result != BP_OK)
            return result;
    }
    uint32_t reused = entities_reusable(entities);
    uint64_t needed = (uint64_t)entities->bound + (count > reused ? count - reused : 0);
    if (needed <= entities->capacity)
        return BP_OK;
    if (needed > ENTITIES_MAX)
        return error_set(&entities->base->error, BP_ERROR_LIMIT, "a host has at most %" PRIu32 " entities",
                         ENTITIES_MAX);
    uint64_t capacity = (uint64_t)entities->capacity * 2;
    if (capacity < needed)
        capacity = needed < 256 ? 256 : needed < MANY ? needed : needed + ENTITIES_MIN_FREE;
    return grow(entities, capacity > ENTITIES_MAX ? ENTITIES_MAX : (uint32_t)capacity);
}

/* Begin another life at each of these indices. */
static void begin_lives(const entities_t *entities, const uint32_t *indices, bp_entity_t *restrict out, uint32_t count)
{
    uint32_t *lives = entities->lives, base = entities->base->values.entity_base + 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = indices[i], life = lives[index] + 1;
        lives[index] = life;
        out[i].id = (uint64_t)(life + base) << 32 | index;
    }
}

/* The head of the ring has gone beyond the end, on at the beginning: the ring becomes smaller where fewer places do. */
static void narrow_queue(entities_t *entities)
{
    uint64_t enough = ((uint64_t)entities->queue_head + entities->queue_count) * 2;
    enough = enough < QUEUE_LEAST ? QUEUE_LEAST : enough;
    if (enough < entities->queue_size / 2)
        entities->queue_size = (uint32_t)enough;
}

static void reuse(entities_t *entities, bp_entity_t *out, uint32_t count)
{
    if (count == 0)
        return;
    uint32_t tail = entities->queue_size - entities->queue_head, first = count < tail ? count : tail;
    begin_lives(entities, entities->queue + entities->queue_head, out, first);
    begin_lives(entities, entities->queue, out + first, count - first);
    entities->queue_head = count < tail ? entities->queue_head + count : count - tail;
    entities->queue_count -= count;
    entities->living += count;
    if (count >= tail)
        narrow_queue(entities);
}

bp_result_t entities_create(entities_t *entities, bp_entity_t *out, uint32_t count)
{
    if (count == 1 && entities_create_one(entities, out))
        return BP_OK;
    if (count == 0)
        return BP_OK; /* `out` may be NULL */
    bp_result_t result = entities_reserve(entities, count);
    if (result != BP_OK)
        return result;
    uint32_t reused = entities_reusable(entities);
    reused = reused < count ? reused : count;
    reuse(entities, out, reused);
    uint32_t fresh = count - reused;
    uint64_t id = (uint64_t)(entities->base->values.entity_base + 1) << 32 | entities->bound;
    bp_entity_t *restrict to = out + reused;
    for (uint32_t i = 0; i < fresh; i++)
        to[i].id = id + i;
    entities->bound += fresh;
    entities->living += fresh;
    return BP_OK;
}

/* --- pools -------------------------------------------------------------------------------------------------------- */

bp_result_t entities_add_pool(entities_t *e, entity_pool_t *pool)
{
    uint32_t number = e->pool_free;
    while (number < e->pool_count && e->pools[number] != NULL)
        number++;
    if (!memory_reserve(&e->memory, &e->pools, &e->pool_capacity, number + 1u, sizeof *e->pools))
        return error_memory(&e->base->error, "creating a world");
    e->pool_count = number == e->pool_count ? number + 1 : e->pool_count;
    e->pools[number] = pool;
    e->pool_free = number + 1;
    e->pools_in_use++;
    *pool = (entity_pool_t){.number = number + 1, .on = e->pools_in_use > 2};
    if (e->pools_in_use == 2)
        entities_turn_pools(e);
    return BP_OK;
}

void entities_turn_pools(entities_t *e)
{
    for (uint32_t i = 0; i < e->pool_count; i++) {
        if (e->pools[i] != NULL)
            e->pools[i]->on = e->pools_in_use > 1 || e->pools[i]->pages > 0;
    }
}

void entities_drop_pool(entities_t *e, entity_pool_t *pool)
{
    if (pool->number == 0)
        return;
    while (pool->count > 0)
        entities_put_free(e, entities_pool_take(e, pool));
    for (; pool->fresh < pool->fresh_end; pool->fresh++)
        entities_put_free(e, pool->fresh);
    if (pool->parked > 0 && pool->first_page < e->parked_from)
        e->parked_from = pool->first_page;
    e->parked_common += pool->parked;
    for (uint32_t i = pool->first_page; pool->pages > 0; i++) {
        if (e->owners[i] == pool->number) {
            e->owners[i] = 0;
            pool->pages--;
        }
    }
    entities_settle(e);
    e->pools[pool->number - 1] = NULL;
    if (pool->number <= e->pool_free)
        e->pool_free = pool->number - 1;
    *pool = (entity_pool_t){.number = 0};
    if (--e->pools_in_use == 1)
        entities_turn_pools(e);
}

bp_result_t entities_reserve_pools(entities_t *e, uint32_t bound)
{
    uint32_t pages = bound / ENTITIES_PAGE + 1;
    if (pages > e->owner_capacity) {
        uint32_t more = pages > 2 * e->owner_capacity ? pages : 2 * e->owner_capacity;
        uint32_t *owners = memory_resize_cleared(&e->memory, e->owners, e->owner_capacity * sizeof *owners,
                                                 more * sizeof *owners);
        if (owners == NULL)
            return error_memory(&e->base->error, "creating entities");
        e->owners = owners;
        e->owner_capacity = more;
    }
    return memory_reserve(&e->memory, &e->links, &e->link_capacity, bound, sizeof *e->links)
               ? BP_OK
               : error_memory(&e->base->error, "creating entities");
}

/* Give whole pages to a pool, behind all indices that are in use. The indices between these and the first page are
 * passed over and join the queue that all worlds use. */
static bp_result_t take_pages(entities_t *e, entity_pool_t *pool, uint32_t pages)
{
    uint64_t first = ((uint64_t)e->bound + ENTITIES_PAGE - 1) / ENTITIES_PAGE * ENTITIES_PAGE;
    uint64_t end = first + (uint64_t)pages * ENTITIES_PAGE;
    if (end > ENTITIES_MAX)
        return error_set(&e->base->error, BP_ERROR_LIMIT, "a host has at most %" PRIu32 " entities", ENTITIES_MAX);
    bp_result_t result = entities_reserve_pools(e, (uint32_t)end);
    if (result == BP_OK && (end > e->room || end - e->parked_count > e->queue_room)) {
        uint64_t capacity = (uint64_t)e->bound * 2 < end ? end : (uint64_t)e->bound * 2;
        result = grow(e, capacity > ENTITIES_MAX ? ENTITIES_MAX : (uint32_t)capacity);
    }
    if (result != BP_OK)
        return result;
    parking_fill(e, e->bound, (uint32_t)end);
    for (uint32_t i = e->bound; i < first; i++)
        entities_put_free(e, i);
    if (pool->fresh_end != first) {
        for (; pool->fresh < pool->fresh_end; pool->fresh++)
            entities_pool_put(e, pool, pool->fresh);
        pool->fresh = (uint32_t)first;
    }
    pool->fresh_end = e->bound = (uint32_t)end;
    if (pool->pages == 0)
        pool->first_page = (uint32_t)(first / ENTITIES_PAGE);
    pool->pages += pages;
    pool->last_page = (uint32_t)(end / ENTITIES_PAGE) - 1;
    e->large_pools |= pool->pages > PARKING_POOL_KEPT / ENTITIES_PAGE;
    for (uint32_t i = 0; i < pages; i++)
        e->owners[first / ENTITIES_PAGE + i] = pool->number;
    entities_settle(e);
    return BP_OK;
}

bp_result_t entities_pool_reserve(entities_t *e, entity_pool_t *pool, uint32_t count)
{
    for (;;) { /* another round where fresh indices were passed over and now wait among the pool's free ones */
        uint32_t there = entities_pool_reusable(pool) + (pool->fresh_end - pool->fresh);
        if (count <= there)
            return BP_OK;
        if (parking_bring_pool(e, pool))
            continue;
        bp_result_t result = take_pages(e, pool, (count - there - 1) / ENTITIES_PAGE + 1);
        if (result != BP_OK)
            return result;
    }
}

void entities_pool_create(entities_t *e, entity_pool_t *pool, bp_entity_t *restrict out, uint32_t count)
{
    uint32_t *restrict lives = e->lives, base = e->base->values.entity_base + 1, i = 0;
    for (; i < count && pool->count > ENTITIES_POOL_MIN_FREE; i++) {
        uint32_t index = entities_pool_take(e, pool);
        out[i].id = (uint64_t)(++lives[index] + base) << 32 | index;
    }
    uint32_t fresh = pool->fresh - i; /* of out[0], if all were fresh */
    for (; i < count; i++) {
        uint32_t index = fresh + i;
        out[i].id = (uint64_t)(++lives[index] + base) << 32 | index;
    }
    pool->fresh = fresh + i;
    e->living += count;
}

/* --- ends --------------------------------------------------------------------------------------------------------- */

static inline bool is_used_up(uint32_t life)
{
    return life >= 2 * ENTITY_MAX_LIFE - 1;
}

/* End entities whose indices are `first` to first + span - 1 and belong to no pool, from the head of a batch on, up to
 * the first that is not alive or has another index. Inlined twice, since `first` is mostly 0. */
ALWAYS_INLINED static inline uint32_t end_common(entities_t *entities, uint32_t first, uint32_t span,
                                                 const bp_entity_t *batch, uint32_t count)
{
    uint32_t *lives = entities->lives + first, *queue = entities->queue;
    uint32_t base = entities->base->values.entity_base + 1, size = entities->queue_size;
    uint64_t tail = (uint64_t)entities->queue_head + entities->queue_count;
    uint32_t at = (uint32_t)(tail < size ? tail : tail - size), ended = 0, retired = 0;
    for (; ended < count; ended++) {
        uint32_t index = bp_entity_index(batch[ended]), life = bp_entity_generation(batch[ended]) - base;
        if (index - first >= span || lives[index - first] != life || (life & 1) != 0)
            break;
        lives[index - first] = ++life;
        if (is_used_up(life)) {
            retired++;
            continue;
        }
        queue[at] = index;
        at = at + 1 == size ? 0 : at + 1;
    }
    entities->living -= ended;
    entities->queue_count += ended - retired;
    return ended;
}

/* The same for indices of a page that belongs to a pool. The freed indices are linked behind each other, and all at
 * once behind the last one of the pool's queue. The loop is written twice, since a function for its beginning takes two
 * instructions an entity more. */
static uint32_t end_pooled(entities_t *entities, uint32_t first, uint32_t span, const bp_entity_t *batch,
                           uint32_t count, entity_pool_t *pool)
{
    uint32_t *lives = entities->lives + first, *links = entities->links + first;
    uint32_t base = entities->base->values.entity_base + 1, ended = 0, retired = 0, head = 0, *to = &head;
    for (; ended < count; ended++) {
        uint32_t index = bp_entity_index(batch[ended]), life = bp_entity_generation(batch[ended]) - base;
        if (index - first >= span || lives[index - first] != life || (life & 1) != 0)
            break;
        lives[index - first] = ++life;
        if (is_used_up(life)) {
            retired++;
            continue;
        }
        *to = index;
        to = &links[index - first];
    }
    entities->living -= ended;
    if (ended > retired)
        entities_pool_append(entities, pool, head, first + (uint32_t)(to - links), ended - retired);
    return ended;
}

/* In a host in which pools have pages: the entities of one page after another. */
static uint32_t end_by_pages(entities_t *entities, const bp_entity_t *batch, uint32_t count)
{
    uint32_t ended = 0, more = 1;
    for (; ended < count && more > 0; ended += more) {
        uint32_t index = bp_entity_index(batch[ended]), first = index - index % ENTITIES_PAGE;
        uint32_t bound = entities->bound, span = bound - first < ENTITIES_PAGE ? bound - first : ENTITIES_PAGE;
        if (index >= bound)
            break;
        entity_pool_t *pool = entities_owner(entities, index);
        more = pool == NULL ? end_common(entities, first, span, batch + ended, count - ended)
                            : end_pooled(entities, first, span, batch + ended, count - ended, pool);
    }
    return ended;
}

void entities_fetch(const entities_t *entities, const bp_entity_t *batch, uint32_t count)
{
    for (uint32_t i = 0; i < count; i += 64 / sizeof *entities->lives) {
        uint32_t index = bp_entity_index(batch[i]);
        if (index >= entities->bound || index >= entities->link_capacity)
            return;
        PREFETCH_TO_WRITE(&entities->lives[index]);
        PREFETCH_TO_WRITE(&entities->links[index]);
    }
}

uint32_t entities_end(entities_t *entities, const bp_entity_t *batch, uint32_t count)
{
    /* No more than all the living can end. */
    entities_widen_queue(entities, entities->queue_count + (count < entities->living ? count : entities->living));
    return entities->owner_capacity == 0 ? end_common(entities, 0, entities->bound, batch, count)
                                         : end_by_pages(entities, batch, count);
}

bp_entity_t entities_at(const entities_t *entities, uint32_t index)
{
    if (index >= entities->bound || (entities->lives[index] & 1) != 0)
        return (bp_entity_t){0};
    return (bp_entity_t){(uint64_t)(entities->lives[index] + 1 + entities->base->values.entity_base) << 32 | index};
}

void entities_tell_lives(const entities_t *entities, bp_inline_lives_t *where)
{
    *where = (bp_inline_lives_t){
        .known = BP_INLINE_LAYOUT,
        .lives = &entities->lives,
        .bound = &entities->bound,
        .base = &entities->base->values.entity_base,
    };
}

/* Whether an id is the present one is computed without a branch: half of a batch may be dead, and a wrong guess costs
 * more than the comparison. Indices and lives that no entity has are foreseen as branches that are never taken. */
static inline uint32_t lives_there(const uint32_t *lives, uint32_t bound, uint32_t base, bp_entity_t e)
{
    uint32_t index = bp_entity_index(e), life = bp_entity_generation(e) - base;
    if (index >= bound || (life & 1) != 0)
        return 0;
    return lives[index] == life;
}

void entities_make(entities_t *entities, new_ones_t *making, const bp_entity_t *batch, uint32_t count)
{
    *making = (new_ones_t){batch, count, entities->making};
    entities->making = making;
    entities->makings++;
    entities->base->attention |= BASE_MAKING;
}

void entities_made(entities_t *entities, const new_ones_t *making)
{
    entities->making = making->around;
    if (--entities->makings == 0)
        entities->base->attention &= ~(uint32_t)BASE_MAKING;
}

bp_entity_t entities_in_making(const entities_t *entities, const bp_entity_t *batch, uint32_t count)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        least = batch[i].id < least ? batch[i].id : least;
        most = batch[i].id > most ? batch[i].id : most;
    }
    for (const new_ones_t *making = entities->making; making != NULL; making = making->around) {
        for (uint32_t k = 0; k < making->count; k++) {
            uint64_t id = making->entities[k].id;
            for (uint32_t i = 0; id >= least && id <= most && i < count; i++)
                if (batch[i].id == id)
                    return batch[i];
        }
    }
    return (bp_entity_t){0};
}

bp_result_t entities_refuse_making(const entities_t *entities, bp_entity_t entity)
{
    char text[32];
    value_format(&entities->base->values, BP_ENTITY, &entity, text, sizeof text);
    return error_set(&entities->base->error, BP_ERROR_STATE,
                     "entity %s is being created: its components are not changed, and it is not destroyed, before all "
                     "of them are there",
                     text);
}

uint32_t entities_alive(const entities_t *entities, const bp_entity_t *batch, uint32_t count, uint8_t *alive)
{
    const uint32_t *lives = entities->lives;
    uint32_t living = 0, bound = entities->bound, base = entities->base->values.entity_base + 1;
    if (alive == NULL) {
        for (uint32_t i = 0; i < count; i++)
            living += lives_there(lives, bound, base, batch[i]);
        return living;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t yes = lives_there(lives, bound, base, batch[i]);
        living += yes;
        alive[i] = (uint8_t)yes;
    }
    return living;
}

bp_result_t entities_dead_error(const entities_t *entities, bp_entity_t e)
{
    error_text_t *error = &entities->base->error;
    uint32_t base = entities->base->values.entity_base;
    if (e.id == 0)
        return error_set(error, BP_ERROR_DEAD, "no entity is given (its id is 0)");
    if (bp_entity_generation(e) >> ENTITY_COUNTER_BITS != base >> ENTITY_COUNTER_BITS)
        return error_set(error, BP_ERROR_DEAD, "entity %016" PRIx64 " belongs to another host", e.id);
    const char *why =
        bp_entity_index(e) >= entities->bound && !parking_gave_up(entities, e) ? "was never created" : "is dead";
    return error_set(error, BP_ERROR_DEAD, "entity #%" PRIu32 ":%" PRIu32 " %s", bp_entity_index(e),
                     entity_life(base, e), why);
}
