/* durable.c - an array by index, and a table from numbers to indices by open addressing (linear probing, deletion by
 * moving back what follows: Knuth, The Art of Computer Programming 3, 6.4, algorithm R). */
#include "durable.h"

#include <string.h>

#define ELSEWHERE (UINT64_C(1) << 63)
#define LATER (UINT64_C(1) << 62) /* not one of the beginning, and without a number yet */
#define NUMBER (LATER - 1)

enum { RANK_AT = 40 }; /* numbers made later: the rank that made them and 1, and a count */

static void *resize(const durable_t *d, void *old, size_t old_size, size_t new_size)
{
    return d->plugin->api->memory->resize(d->plugin, old, old_size, new_size);
}

static uint32_t place_of(const durable_t *d, uint64_t id)
{
    uint64_t state = id;
    return (uint32_t)(bp_random_next(&state) >> 32) & (d->slot_count - 1);
}

/* Is the number found by its index alone? */
static bool is_own(const durable_t *d, uint32_t index, uint64_t id)
{
    return index < d->initial && id == (uint64_t)index + 1;
}

static void put(durable_t *d, uint32_t index)
{
    uint32_t at = place_of(d, d->ids[index] & NUMBER);
    while (d->slots[at] != 0)
        at = (at + 1) & (d->slot_count - 1);
    d->slots[at] = index + 1;
    d->used++;
}

static bool make_table(durable_t *d, uint32_t count)
{
    uint32_t *slots = resize(d, NULL, 0, count * sizeof *slots);
    if (slots == NULL)
        return false;
    memset(slots, 0, count * sizeof *slots);
    uint32_t *old = d->slots, old_count = d->slot_count;
    d->slots = slots;
    d->slot_count = count;
    d->used = 0;
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i] != 0)
            put(d, old[i] - 1);
    resize(d, old, old_count * sizeof *old, 0);
    return true;
}

/* Room in the table for one more, at most three quarters full. */
static bool reserve_slot(durable_t *d)
{
    return (uint64_t)d->used * 4 + 4 <= (uint64_t)d->slot_count * 3 ||
           make_table(d, d->slot_count == 0 ? 64 : d->slot_count * 2);
}

static bool reserve_index(durable_t *d, uint32_t index)
{
    if (index < d->room)
        return true;
    uint32_t room = index + index / 4 + 64;
    uint64_t *ids = resize(d, d->ids, d->room * sizeof *ids, room * sizeof *ids);
    if (ids == NULL)
        return false;
    memset(ids + d->room, 0, (room - d->room) * sizeof *ids);
    d->ids = ids;
    d->room = room;
    return true;
}

bool durable_begin(durable_t *d, const bp_plugin_t *plugin, bp_host_o *host)
{
    d->plugin = plugin;
    uint32_t bound = plugin->api->entity->bound(host);
    if (bound > 0 && !reserve_index(d, bound - 1))
        return false;
    d->initial = bound;
    for (uint32_t i = 0; i < bound; i++)
        d->ids[i] = plugin->api->entity->at(host, i).id == 0 ? LATER : 0;
    return true;
}

void durable_free(durable_t *d)
{
    if (d->plugin == NULL)
        return;
    resize(d, d->ids, d->room * sizeof *d->ids, 0);
    resize(d, d->slots, d->slot_count * sizeof *d->slots, 0);
    *d = (durable_t){.plugin = d->plugin};
}

uint64_t durable_known(const durable_t *d, uint32_t index)
{
    if (index >= d->room)
        return 0;
    uint64_t id = d->ids[index] & NUMBER;
    return id != 0 || index >= d->initial || (d->ids[index] & LATER) != 0 ? id : (uint64_t)index + 1;
}

uint64_t durable_of(durable_t *d, bp_entity_t entity, uint32_t rank)
{
    uint32_t index = bp_entity_index(entity);
    uint64_t id = durable_known(d, index);
    if (id != 0)
        return id;
    id = (uint64_t)(rank + 1) << RANK_AT | (d->made + 1);
    if (!durable_set(d, index, id, false))
        return 0;
    d->made++;
    return id;
}

uint32_t durable_find(const durable_t *d, uint64_t id)
{
    if (id == 0 || id > NUMBER)
        return BP_NONE;
    for (uint32_t at = d->slot_count == 0 ? 0 : place_of(d, id); d->slot_count > 0 && d->slots[at] != 0;
         at = (at + 1) & (d->slot_count - 1))
        if ((d->ids[d->slots[at] - 1] & NUMBER) == id)
            return d->slots[at] - 1;
    bool own = id <= d->initial && durable_known(d, (uint32_t)(id - 1)) == id;
    return own ? (uint32_t)(id - 1) : BP_NONE;
}

void durable_forget(durable_t *d, uint32_t index)
{
    if (index >= d->room)
        return;
    uint64_t id = d->ids[index] & NUMBER;
    if (id != 0 && !is_own(d, index, id)) {
        uint32_t mask = d->slot_count - 1, hole = place_of(d, id);
        while (d->slots[hole] != index + 1)
            hole = (hole + 1) & mask;
        for (uint32_t at = (hole + 1) & mask; d->slots[at] != 0; at = (at + 1) & mask) {
            uint32_t wanted = place_of(d, d->ids[d->slots[at] - 1] & NUMBER);
            if (((at - wanted) & mask) >= ((at - hole) & mask)) {
                d->slots[hole] = d->slots[at];
                hole = at;
            }
        }
        d->slots[hole] = 0;
        d->used--;
    }
    d->ids[index] = LATER;
}

bool durable_set(durable_t *d, uint32_t index, uint64_t id, bool elsewhere)
{
    if (!reserve_index(d, index) || !reserve_slot(d))
        return false;
    uint32_t had = durable_find(d, id);
    if (had != BP_NONE && had != index)
        durable_forget(d, had);
    if (had != index || durable_known(d, index) != id) {
        durable_forget(d, index);
        d->ids[index] = id | LATER;
        if (!is_own(d, index, id))
            put(d, index);
    }
    d->ids[index] = id | LATER | (elsewhere ? ELSEWHERE : 0);
    return true;
}

bool durable_is_elsewhere(const durable_t *d, uint32_t index)
{
    return index < d->room && (d->ids[index] & ELSEWHERE) != 0;
}

uint64_t durable_bytes(const durable_t *d)
{
    return d->room * sizeof *d->ids + d->slot_count * sizeof *d->slots;
}

bool durable_index(durable_t *d)
{
    resize(d, d->slots, d->slot_count * sizeof *d->slots, 0);
    d->slots = NULL;
    d->slot_count = d->used = 0;
    for (uint32_t i = 0; i < d->room; i++) {
        uint64_t id = d->ids[i] & NUMBER;
        if (id == 0 || is_own(d, i, id))
            continue;
        if (!reserve_slot(d))
            return false;
        put(d, i);
    }
    return true;
}
