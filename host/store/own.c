/* own.c - the entity with the components of a world itself: made, ended, found again, given other values. */
#include "own.h"

#include "../base/error.h"
#include "store.h"
#include "store_inner.h"

static void set_own(world_t *world, bp_entity_t e)
{
    world->entities->owned += (e.id != 0) - (uint32_t)(world->own.id != 0);
    world->own = e;
}

bp_result_t own_bring(world_t *world, const manager_t *manager)
{
    uint32_t key;
    bp_entity_t e = world->own;
    if ((manager->component->table.flags & BP_COMPONENT_WORLD) == 0)
        return BP_OK;
    bp_result_t result = world_key(world, manager->number, 0, &key);
    if (result == BP_OK && e.id == 0)
        result = store_make_entities(world, &e, 1);
    if (result != BP_OK)
        return result;
    world->owning = true;
    result = store_add(world, key, &e, 1);
    world->owning = false;
    if (result != BP_OK && world->own.id == 0)
        entities_end(world->entities, &e, 1);
    if (result == BP_OK)
        set_own(world, e);
    return result;
}

void own_settle(world_t *world)
{
    if (world->own.id != 0 && world_record(world, world->own) == NULL)
        own_end(world);
}

bool own_is(const entities_t *entities, bp_entity_t e)
{
    uint32_t number = bp_entity_index(e) / ENTITIES_PAGE;
    if (e.id == 0 || number >= entities->page_capacity)
        return false;
    const record_page_t *page = entities->pages[number];
    while (page != NULL && page->world->own.id != e.id)
        page = page->next;
    return page != NULL;
}

void own_end(world_t *world)
{
    bp_entity_t e = world->own;
    if (e.id == 0)
        return;
    store_forget(world, &e, 1);
    set_own(world, (bp_entity_t){0});
    entities_end(world->entities, &e, 1);
}

void own_find(world_t *world)
{
    bp_entity_t found = {0};
    for (uint32_t i = 0; i < world->run_count; i++) {
        const run_t *run = world->runs[i];
        if ((run->flags & KEY_WORLD) != 0 && run->count > 0)
            found = run_entities(run)[run->count - 1]; /* the last row is no hole */
    }
    set_own(world, found);
}

/* --- other values ------------------------------------------------------------------------------------------------- */

static void swap_cells(char *a, char *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* Remove the last row of a run, and release the texts and lists in its cells. */
static void end_row(world_t *world, bp_entity_t e)
{
    record_t *record = world_own_record(world, e);
    run_t *run = world_run(world, record->prototype);
    uint32_t row = record->row;
    *record = (record_t){0};
    world->occupied--;
    store_moved(world, run, NULL, &e, 1);
    store_erase_row(world, run, row);
    entities_end(world->entities, &e, 1);
}

void own_replace(world_t *world, bp_entity_t with)
{
    const prototypes_t *p = &world->prototypes;
    const record_t *from = world_own_record(world, with), *to = world_own_record(world, world->own);
    run_t *there = world_run(world, from->prototype), *here = world_run(world, to->prototype);
    for (uint32_t at = from->prototype; at != 0; at = p->items[at].base) {
        uint32_t key = p->items[at].key, first = p->items[p->items[at].base].columns;
        uint32_t into = prototypes_column(p, to->prototype, key);
        for (uint32_t c = 0; c < p->keys[key].columns; c++) {
            swap_cells(run_cell(there, first + c, from->row), run_cell(here, into + c, to->row), here->sizes[into + c]);
            stamps_note(here->stamps, into + c, to->row, 1);
        }
    }
    end_row(world, with);
}

void own_discard(world_t *world, bp_entity_t row)
{
    end_row(world, row);
}
