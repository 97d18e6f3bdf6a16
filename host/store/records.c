/* records.c - pages of records: the directory of a world, and the slabs that its pages come from.
 *
 * A page without the record of an entity is left to its slab, and a slab without pages goes. Entities that live on may
 * lie in any slab, so where most room is empty the slab with most of it is emptied: its pages move elsewhere, to a slab
 * of just so many pages where no other has room. Records that are looked at between steps are therefore found through
 * the directory each time.
 */
#include "records.h"

#include "world.h"

enum {
    SLAB_SHARE = 4,    /* a slab has one page for so many that there are, ... */
    SLAB_MOST = 510,   /* ... and so many at most: three huge pages */
    VISIT_SHARE = 128  /* one page in so many is looked at in a step */
};

const record_t unused_records[ENTITIES_PAGE];

static record_t *unused(void)
{
    return (record_t *)(uintptr_t)unused_records;
}

/* Make the directory reach page `number`; a directory that grows at its end grows by half. */
static bool reach(world_t *world, uint32_t number)
{
    uint64_t first = world->first_page, end = first + world->page_count;
    if (number >= first && number < end)
        return true;
    if (world->page_count == 0)
        first = number;
    first = number < first ? number : first;
    if (number >= end)
        end = number + 1 + (number - first) / 2;
    size_t size = sizeof *world->pages, count = (size_t)(end - first);
    record_t **pages = memory_resize(&world->memory, NULL, 0, count * size);
    if (pages == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        pages[i] = unused();
    if (world->page_count > 0)
        memcpy(pages + (world->first_page - first), world->pages, world->page_count * size);
    memory_free(&world->memory, world->pages, world->page_count * size);
    world->pages = pages;
    world->first_page = (uint32_t)first;
    world->page_count = (uint32_t)count;
    return true;
}

/* --- slabs -------------------------------------------------------------------------------------------------------- */

/* The pages, and room for the number of each. */
static size_t slab_bytes(uint32_t count)
{
    return count * (sizeof(record_page_t) + sizeof(uint32_t));
}

static uint32_t room_in(const record_slab_t *slab)
{
    return slab->count - slab->living;
}

static bool add_slab(world_t *world, uint32_t count)
{
    if (!memory_reserve(&world->memory, &world->slabs, &world->slab_capacity, world->slab_count + 1u,
                        sizeof *world->slabs))
        return false;
    record_page_t *pages = superblocks_new(&world->memory, slab_bytes(count));
    if (pages == NULL)
        return false;
    world->slabs[world->slab_count++] = (record_slab_t){
        .pages = pages, .left = (uint32_t *)(void *)(pages + count), .count = count};
    world->pages_held += count;
    return true;
}

static void drop_slab(world_t *world, record_slab_t *slab)
{
    superblocks_free_block(&world->memory, slab->pages, slab_bytes(slab->count));
    world->pages_held -= slab->count;
    world->slab_count--;
    memmove(slab, slab + 1, (size_t)(world->slabs + world->slab_count - slab) * sizeof *slab);
}

static bool lies_in(const record_slab_t *slab, const record_page_t *page)
{
    return (uintptr_t)page - (uintptr_t)slab->pages < slab->count * sizeof *page;
}

static record_page_t *take_from(record_slab_t *slab)
{
    slab->living++;
    if (slab->left_count == 0)
        return &slab->pages[slab->used++];
    record_page_t *page = &slab->pages[slab->left[--slab->left_count]];
    memset(page->records, 0, sizeof page->records);
    return page;
}

/* A page with cleared records from the newest slab that has room and is not `but`; NULL where there is none. */
static record_page_t *take_there(world_t *world, const record_page_t *but)
{
    for (uint32_t i = world->slab_count; i > 0; i--) {
        record_slab_t *slab = &world->slabs[i - 1];
        if (room_in(slab) > 0 && slab->pages != but)
            return take_from(slab);
    }
    return NULL;
}

/* The same, or from a new slab that has `more` pages if it may; NULL when out of memory. */
static record_page_t *take_page(world_t *world, uint32_t more)
{
    record_page_t *page = world->pages_held > world->pages_used ? take_there(world, NULL) : NULL;
    if (page != NULL)
        return page;
    uint32_t count = world->pages_used / SLAB_SHARE;
    count = count < more ? more : count;
    return add_slab(world, count < SLAB_MOST ? count : SLAB_MOST) ? take_there(world, NULL) : NULL;
}

/* Leave a page to its slab: it is in no directory any more. */
static void leave_page(world_t *world, record_page_t *page)
{
    record_slab_t *slab = world->slabs;
    while (!lies_in(slab, page))
        slab++;
    slab->left[slab->left_count++] = (uint32_t)(page - slab->pages);
    if (--slab->living == 0)
        drop_slab(world, slab);
}

/* --- pages -------------------------------------------------------------------------------------------------------- */

static bool reserve_places(world_t *world, record_page_t *page)
{
    if (page->places == NULL)
        page->places = memory_resize(&world->memory, NULL, 0, ENTITIES_PAGE * sizeof *page->places);
    return page->places != NULL;
}

static void link_page(world_t *world, record_page_t *page, uint32_t number)
{
    record_page_t **at = &world->entities->pages[number];
    while (*at != NULL)
        at = &(*at)->next;
    *at = page;
    page->next = NULL;
    page->world = world;
    world->pages[number - world->first_page] = page->records;
    world->pages_used++;
}

bool records_reserve(world_t *world, uint32_t first, uint32_t count)
{
    if (count == 0 || !reach(world, first) || !reach(world, first + count - 1))
        return count == 0;
    for (uint32_t number = first; number < first + count; number++) {
        if (world->pages[number - world->first_page] != unused())
            continue;
        record_page_t *page = take_page(world, first + count - number);
        if (page == NULL)
            return false;
        if (world->notices != NULL && !reserve_places(world, page)) {
            leave_page(world, page);
            return false;
        }
        link_page(world, page, number);
    }
    return true;
}

bool records_reserve_places(world_t *world)
{
    for (uint32_t i = 0; i < world->page_count; i++) {
        if (world->pages[i] != unused() && !reserve_places(world, records_page(world->pages[i])))
            return false;
    }
    return true;
}

bool records_elsewhere(const world_t *world, bp_entity_t entity)
{
    const record_page_t *page = world->entities->pages[bp_entity_index(entity) / ENTITIES_PAGE];
    for (; page != NULL; page = page->next) {
        if (page->world != world && world_record(page->world, entity) != NULL)
            return true;
    }
    return false;
}

void records_clear(world_t *world)
{
    for (uint32_t i = 0; i < world->page_count; i++) {
        if (world->pages[i] != unused())
            memset(world->pages[i], 0, ENTITIES_PAGE * sizeof *world->pages[i]);
    }
}

static record_page_t **link_to(const world_t *world, const record_page_t *page, uint32_t number)
{
    record_page_t **at = &world->entities->pages[number];
    while (*at != page)
        at = &(*at)->next;
    return at;
}

static void unlink_page(world_t *world, record_page_t *page, uint32_t number)
{
    *link_to(world, page, number) = page->next;
    if (page->places == NULL)
        return; /* and the page is not written to (record_slab_t.left) */
    memory_free(&world->memory, page->places, ENTITIES_PAGE * sizeof *page->places);
    page->places = NULL;
}

void records_drop_page(world_t *world, uint32_t at)
{
    record_page_t *page = records_page(world->pages[at]);
    unlink_page(world, page, world->first_page + at);
    world->pages[at] = unused();
    world->pages_used--;
    leave_page(world, page);
}

void records_free(world_t *world)
{
    for (uint32_t i = 0; i < world->page_count; i++) {
        if (world->pages[i] != unused())
            unlink_page(world, records_page(world->pages[i]), world->first_page + i);
    }
    for (uint32_t i = 0; i < world->slab_count; i++)
        superblocks_free_block(&world->memory, world->slabs[i].pages, slab_bytes(world->slabs[i].count));
    memory_free(&world->memory, world->slabs, world->slab_capacity * sizeof *world->slabs);
    memory_free(&world->memory, world->pages, world->page_count * sizeof *world->pages);
    world->pages = NULL;
    world->page_count = world->slab_count = world->slab_capacity = world->pages_used = world->pages_held = 0;
}

/* --- giving back -------------------------------------------------------------------------------------------------- */

static bool is_free(const record_t *records)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < ENTITIES_PAGE && all == 0; i += 32) {
        for (uint32_t k = i; k < i + 32; k++)
            all |= records[k].generation;
    }
    return all == 0;
}

/* The pages of the slab that is to be emptied: the one that has most room, where there is more room than pages in use.
 * NULL: there is no such slab, or no memory for pages elsewhere. */
static const record_page_t *slab_to_empty(world_t *world)
{
    uint32_t room = world->pages_held - world->pages_used, at = 0;
    if (room <= world->pages_used + RECORDS_KEPT)
        return NULL;
    for (uint32_t i = 1; i < world->slab_count; i++)
        at = room_in(&world->slabs[i]) > room_in(&world->slabs[at]) ? i : at;
    if (world->slabs[at].living == 0) { /* the pages that it was made for have gone before they could move */
        drop_slab(world, &world->slabs[at]);
        return NULL;
    }
    if (room == room_in(&world->slabs[at]) && !add_slab(world, world->slabs[at].living))
        return NULL;
    return world->slabs[at].pages;
}

static bool is_in_slab(const world_t *world, const record_page_t *pages, const record_page_t *page)
{
    for (uint32_t i = 0; i < world->slab_count; i++) {
        if (world->slabs[i].pages == pages)
            return lies_in(&world->slabs[i], page);
    }
    return false;
}

static bool move_page(world_t *world, record_page_t *page, uint32_t number, const record_page_t *leaving)
{
    record_page_t *to = take_there(world, leaving);
    if (to == NULL)
        return false;
    *to = *page;
    *link_to(world, page, number) = to;
    world->pages[number - world->first_page] = to->records;
    page->places = NULL;
    leave_page(world, page);
    return true;
}

bool records_give_back(world_t *world)
{
    uint32_t visits = world->page_count / VISIT_SHARE + 1;
    const record_page_t *leaving = slab_to_empty(world);
    bool changed = false;
    for (; visits > 0; visits--, world->give_back_next++) {
        if (world->give_back_next >= world->page_count)
            world->give_back_next = 0;
        uint32_t number = world->first_page + world->give_back_next;
        record_t *records = world->pages[world->give_back_next];
        record_page_t *page = records_page(records);
        if (records == unused())
            continue;
        if (is_free(records)) {
            records_drop_page(world, world->give_back_next);
            changed = true;
        } else if (leaving != NULL && is_in_slab(world, leaving, page)) {
            changed |= move_page(world, page, number, leaving);
        }
    }
    return changed;
}
