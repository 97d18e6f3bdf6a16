/* durable.c - pages by index, and a table from numbers to indices by open addressing (linear probing, deletion by
 * moving back what follows: Knuth, The Art of Computer Programming 3, 6.4, algorithm R). */
#include "durable.h"

#include <helpers/bp_gather.h>
#include <string.h>

#define ELSEWHERE (UINT64_C(1) << 63)
#define LATER (UINT64_C(1) << 62) /* not one of the beginning, and without a number yet */
#define NUMBER (LATER - 1)

enum { PAGE = 64, RANK_AT = 40 }; /* numbers made later: the rank that made them and 1, and a count */

static void *resize(const durable_t *d, void *old, size_t old_size, size_t new_size)
{
    return d->plugin->api->memory->resize(d->plugin, old, old_size, new_size);
}

static uint32_t hash_of(uint64_t id)
{
    uint64_t state = id;
    return (uint32_t)(bp_random_next(&state) >> 32);
}

/* Is the number found by its index alone? */
static bool is_own(const durable_t *d, uint32_t index, uint64_t id)
{
    return index < d->initial && id == (uint64_t)index + 1;
}

static bool is_gone(const durable_t *d, uint32_t index)
{
    return index >= d->initial || (d->gone[index / 64] >> index % 64 & 1) != 0;
}

/* The number and the flags of an index. */
static uint64_t value_of(const durable_t *d, uint32_t index)
{
    const uint64_t *page = index / PAGE < d->page_count ? d->pages[index / PAGE] : NULL;
    return page != NULL ? page[index % PAGE] : is_gone(d, index) ? LATER : 0;
}

static void put(durable_t *d, durable_slot slot)
{
    uint32_t at = slot.hash & (d->slot_count - 1);
    while (d->slots[at].entry != 0)
        at = (at + 1) & (d->slot_count - 1);
    d->slots[at] = slot;
    d->used++;
}

static bool make_table(durable_t *d, uint32_t count)
{
    durable_slot *slots = resize(d, NULL, 0, count * sizeof *slots);
    if (slots == NULL)
        return false;
    memset(slots, 0, count * sizeof *slots);
    durable_slot *old = d->slots;
    uint32_t old_count = d->slot_count;
    d->slots = slots;
    d->slot_count = count;
    d->used = 0;
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i].entry != 0)
            put(d, old[i]);
    resize(d, old, old_count * sizeof *old, 0);
    return true;
}

/* Room in the table for one more, at most three quarters full. */
static bool reserve_slot(durable_t *d)
{
    return (uint64_t)d->used * 4 + 4 <= (uint64_t)d->slot_count * 3 ||
           make_table(d, d->slot_count == 0 ? 64 : d->slot_count * 2);
}

/* Make the page of an index where there is none. */
static bool reserve_page(durable_t *d, uint32_t index)
{
    uint32_t number = index / PAGE;
    if (number >= d->page_count) {
        uint32_t count = number + number / 4 + 16;
        uint64_t **pages = resize(d, d->pages, d->page_count * sizeof *pages, count * sizeof *pages);
        if (pages == NULL)
            return false;
        memset(pages + d->page_count, 0, (count - d->page_count) * sizeof *pages);
        d->pages = pages;
        d->page_count = count;
    }
    if (d->pages[number] != NULL)
        return true;
    uint64_t *page = resize(d, NULL, 0, PAGE * sizeof *page);
    if (page == NULL)
        return false;
    for (uint32_t i = 0; i < PAGE; i++)
        page[i] = value_of(d, number * PAGE + i);
    d->pages[number] = page;
    d->page_bytes += PAGE * sizeof *page;
    return true;
}

/* The index has this value from now on; where there is no page the value is that of an entity that has gone. */
static void set_value(durable_t *d, uint32_t index, uint64_t value)
{
    uint64_t *page = index / PAGE < d->page_count ? d->pages[index / PAGE] : NULL;
    if (page != NULL)
        page[index % PAGE] = value;
    if (index < d->initial)
        d->gone[index / 64] |= UINT64_C(1) << index % 64;
}

bool durable_gone(durable_t *d, uint32_t initial)
{
    if (d->gone != NULL)
        resize(d, d->gone, durable_gone_bytes(d) + 1, 0);
    d->initial = initial;
    d->gone = resize(d, NULL, 0, durable_gone_bytes(d) + 1);
    if (d->gone == NULL) {
        d->initial = 0;
        return false;
    }
    memset(d->gone, 0, durable_gone_bytes(d) + 1);
    return true;
}

bool durable_begin(durable_t *d, const bp_plugin_t *plugin, bp_host_o *host)
{
    d->plugin = plugin;
    if (!durable_gone(d, plugin->api->entity->bound(host)))
        return false;
    for (uint32_t i = 0; i < d->initial; i++)
        if (plugin->api->entity->at(host, i).id == 0)
            set_value(d, i, LATER);
    return true;
}

void durable_free(durable_t *d)
{
    if (d->plugin == NULL)
        return;
    for (uint32_t i = 0; i < d->page_count; i++)
        if (d->pages[i] != NULL)
            resize(d, d->pages[i], PAGE * sizeof *d->pages[i], 0);
    resize(d, d->pages, d->page_count * sizeof *d->pages, 0);
    if (d->gone != NULL)
        resize(d, d->gone, durable_gone_bytes(d) + 1, 0);
    resize(d, d->slots, d->slot_count * sizeof *d->slots, 0);
    *d = (durable_t){.plugin = d->plugin};
}

uint64_t durable_known(const durable_t *d, uint32_t index)
{
    uint64_t value = value_of(d, index);
    return value == 0 ? (uint64_t)index + 1 : value & NUMBER;
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

void durable_expect_index(const durable_t *d, uint32_t index)
{
    if (index / PAGE < d->page_count && d->pages[index / PAGE] != NULL)
        BP_PREFETCH(&d->pages[index / PAGE][index % PAGE]);
}

void durable_expect(const durable_t *d, uint64_t id)
{
    if (d->slot_count > 0)
        BP_PREFETCH(&d->slots[hash_of(id) & (d->slot_count - 1)]);
    if (id <= d->initial && id > 0)
        durable_expect_index(d, (uint32_t)(id - 1));
}

uint32_t durable_find(const durable_t *d, uint64_t id)
{
    if (id == 0 || id > NUMBER)
        return BP_NONE;
    uint32_t hash = hash_of(id), mask = d->slot_count - 1;
    for (uint32_t at = hash & mask; d->slot_count > 0 && d->slots[at].entry != 0; at = (at + 1) & mask)
        if (d->slots[at].hash == hash && (value_of(d, d->slots[at].entry - 1) & NUMBER) == id)
            return d->slots[at].entry - 1;
    bool own = id <= d->initial && durable_known(d, (uint32_t)(id - 1)) == id;
    return own ? (uint32_t)(id - 1) : BP_NONE;
}

void durable_forget(durable_t *d, uint32_t index)
{
    uint64_t id = value_of(d, index) & NUMBER;
    if (id != 0 && !is_own(d, index, id)) {
        uint32_t mask = d->slot_count - 1, hole = hash_of(id) & mask;
        while (d->slots[hole].entry != index + 1)
            hole = (hole + 1) & mask;
        for (uint32_t at = (hole + 1) & mask; d->slots[at].entry != 0; at = (at + 1) & mask) {
            if (((at - d->slots[at].hash) & mask) >= ((at - hole) & mask)) {
                d->slots[hole] = d->slots[at];
                hole = at;
            }
        }
        d->slots[hole] = (durable_slot){0, 0};
        d->used--;
    }
    set_value(d, index, LATER);
}

bool durable_set(durable_t *d, uint32_t index, uint64_t id, bool elsewhere)
{
    if (!reserve_page(d, index) || !reserve_slot(d))
        return false;
    uint32_t had = durable_find(d, id);
    if (had != BP_NONE && had != index)
        durable_forget(d, had);
    if (had != index || durable_known(d, index) != id) {
        durable_forget(d, index);
        set_value(d, index, id | LATER);
        if (!is_own(d, index, id))
            put(d, (durable_slot){index + 1, hash_of(id)});
    }
    set_value(d, index, id | LATER | (elsewhere ? ELSEWHERE : 0));
    return true;
}

bool durable_is_elsewhere(const durable_t *d, uint32_t index)
{
    return (value_of(d, index) & ELSEWHERE) != 0;
}

uint64_t durable_bytes(const durable_t *d)
{
    return d->page_bytes + d->page_count * sizeof *d->pages + durable_gone_bytes(d) + d->slot_count * sizeof *d->slots;
}

uint64_t durable_next(const durable_t *d, uint32_t *index)
{
    for (; *index / PAGE < d->page_count; ++*index) {
        const uint64_t *page = d->pages[*index / PAGE];
        if (page == NULL)
            *index |= PAGE - 1;
        else if ((page[*index % PAGE] & NUMBER) != 0)
            return page[*index % PAGE];
    }
    return 0;
}

bool durable_put(durable_t *d, uint32_t index, uint64_t value)
{
    return durable_set(d, index, value & NUMBER, (value & ELSEWHERE) != 0);
}
