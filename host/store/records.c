/* records.c - pages of records: the directory of a world, and the slabs that its pages come from. */
#include "records.h"

#include "world.h"

enum {
    SLAB_SHARE = 4, /* a slab has one page for so many that there are, ... */
    SLAB_MOST = 512 /* ... and so many at most, unless more are asked for at once */
};

const record_t records_of_nobody[ENTITIES_PAGE];

static record_t *nobody(void)
{
    return (record_t *)(uintptr_t)records_of_nobody;
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
        pages[i] = nobody();
    if (world->page_count > 0)
        memcpy(pages + (world->first_page - first), world->pages, world->page_count * size);
    memory_free(&world->memory, world->pages, world->page_count * size);
    world->pages = pages;
    world->first_page = (uint32_t)first;
    world->page_count = (uint32_t)count;
    return true;
}

/* A page from the last slab, or from a new one that has `more` pages at least. */
static record_page_t *take_page(world_t *world, uint32_t more)
{
    record_slab_t *last = world->slab_count == 0 ? NULL : &world->slabs[world->slab_count - 1];
    if (last != NULL && last->used < last->count)
        return &last->pages[last->used++];
    uint32_t count = world->pages_used / SLAB_SHARE < SLAB_MOST ? world->pages_used / SLAB_SHARE : SLAB_MOST;
    count = count < more ? more : count;
    if (!memory_reserve(&world->memory, &world->slabs, &world->slab_capacity, world->slab_count + 1u,
                        sizeof *world->slabs))
        return NULL;
    record_page_t *pages = superblocks_new(&world->memory, count * sizeof *pages);
    if (pages == NULL)
        return NULL;
    world->slabs[world->slab_count++] = (record_slab_t){pages, count, 1};
    return pages;
}

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
        if (world->pages[number - world->first_page] != nobody())
            continue;
        record_page_t *page = take_page(world, first + count - number);
        if (page == NULL)
            return false;
        if (world->notices != NULL && !reserve_places(world, page)) {
            world->slabs[world->slab_count - 1].used--;
            return false;
        }
        link_page(world, page, number);
    }
    return true;
}

bool records_reserve_places(world_t *world)
{
    for (uint32_t i = 0; i < world->page_count; i++) {
        if (world->pages[i] != nobody() && !reserve_places(world, records_page(world->pages[i])))
            return false;
    }
    return true;
}

void records_clear(world_t *world)
{
    for (uint32_t i = 0; i < world->page_count; i++) {
        if (world->pages[i] != nobody())
            memset(world->pages[i], 0, ENTITIES_PAGE * sizeof *world->pages[i]);
    }
}

static void unlink_page(world_t *world, record_page_t *page, uint32_t number)
{
    record_page_t **at = &world->entities->pages[number];
    while (*at != page)
        at = &(*at)->next;
    *at = page->next;
    memory_free(&world->memory, page->places, page->places == NULL ? 0 : ENTITIES_PAGE * sizeof *page->places);
}

void records_free(world_t *world)
{
    for (uint32_t i = 0; i < world->page_count; i++) {
        if (world->pages[i] != nobody())
            unlink_page(world, records_page(world->pages[i]), world->first_page + i);
    }
    for (uint32_t i = 0; i < world->slab_count; i++)
        superblocks_free_block(&world->memory, world->slabs[i].pages,
                               world->slabs[i].count * sizeof *world->slabs[i].pages);
    memory_free(&world->memory, world->slabs, world->slab_capacity * sizeof *world->slabs);
    memory_free(&world->memory, world->pages, world->page_count * sizeof *world->pages);
    world->pages = NULL;
    world->page_count = world->slab_count = world->slab_capacity = 0;
}
