/* store_death.c - what a death leaves behind, and its collection.
 *
 * A death costs a cleared record and a hole in a run; managers that must know are told in blocks, while the records of the
 * block are still there. Runs with holes are listed, so that collection visits nothing else; where the list cannot grow,
 * all runs are looked at once instead.
 */
#include "../plugin/verbs.h"
#include "store.h"
#include "store_inner.h"

/* --- death and collection ------------------------------------------------------------------------------------------ */

static void list_holes(world_t *world, run_t *run)
{
    if (run->in_holes_list)
        return;
    if (!memory_reserve(&world->memory, &world->holed, &world->holed_capacity, world->holed_count + 1u, sizeof *world->holed)) {
        world->holed_lost = true;
        return;
    }
    run->in_holes_list = 1;
    world->holed[world->holed_count++] = run;
}

/* End the instances that a manager keeps for entities whose records are still there. `flag` is KEY_... that their prototypes
 * then have. */
static void tell_manager(world_t *world, manager_t *manager, uint32_t flag, const bp_entity_t *entities, uint32_t count)
{
    const prototypes_t *p = &world->prototypes;
    uint32_t slots[STORE_BLOCK], found = 0;
    for (uint32_t i = 0; i < count; i++) {
        const record_t *record = world_record(world, entities[i]);
        if (record == NULL || (p->items[record->prototype].flags & flag) == 0)
            continue;
        run_t *run = world_run(world, record->prototype);
        for (uint32_t at = record->prototype; at != 0; at = p->items[at].base) {
            if (p->keys[p->items[at].key].manager != manager->number)
                continue;
            if (found == STORE_BLOCK) {
                store_destroy_slots(manager, slots, found);
                found = 0;
            }
            memcpy(&slots[found++], run_cell(run, p->items[p->items[at].base].columns, record->row), sizeof *slots);
        }
    }
    store_destroy_slots(manager, slots, found);
}

static void tell_managers(world_t *world, const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t m = 0; m < world->manager_count; m++) {
        manager_t *manager = world->managers[m];
        if (manager->started && manager->component->own_storage && manager->component->storage.gc == NULL)
            tell_manager(world, manager, KEY_TELL, entities, count);
    }
}

static void leave_hole(world_t *world, bp_entity_t e)
{
    record_t *record = world_record(world, e);
    if (record == NULL)
        return;
    run_t *run = world_run(world, record->prototype);
    uint32_t row = record->row;
    *record = (record_t){0};
    world->occupied--;
    store_moved(world, run, NULL, &e, 1);
    if ((run->flags & KEY_AT_ONCE) != 0 && !world_holds_rows(world)) {
        store_erase_row(world, run, row);
        return;
    }
    run_entities(run)[row] = (bp_entity_t){0};
    run->version++;
    run->holes++;
    list_holes(world, run);
}

void store_forget(world_t *world, const bp_entity_t *entities, uint32_t count)
{
    if (world->occupied == 0)
        return;
    for (uint32_t done = 0; done < count; done += STORE_BLOCK) {
        const bp_entity_t *block = entities + done;
        uint32_t n = count - done < STORE_BLOCK ? count - done : STORE_BLOCK;
        if (world->telling > 0)
            tell_managers(world, block, n);
        for (uint32_t i = 0; i < n; i++) {
            if (i + STORE_AHEAD < n && bp_entity_index(block[i + STORE_AHEAD]) < world->record_capacity)
                PREFETCH(&world->records[bp_entity_index(block[i + STORE_AHEAD])]);
            leave_hole(world, block[i]);
        }
    }
}

void store_vacate(world_t *world, const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t done = 0; done < count; done += STORE_BLOCK) {
        const bp_entity_t *block = entities + done;
        uint32_t n = count - done < STORE_BLOCK ? count - done : STORE_BLOCK;
        for (uint32_t m = 0; m < world->manager_count; m++) {
            if (world->managers[m]->started && world->managers[m]->component->own_storage)
                tell_manager(world, world->managers[m], KEY_OWN_STORAGE, block, n);
        }
        for (uint32_t i = 0; i < n; i++)
            leave_hole(world, block[i]);
    }
}

static uint32_t collect_randomly(world_t *world, run_t *run)
{
    uint32_t collected = 0, alive_in_row = 0;
    while (run->holes > 0 && alive_in_row < WORLD_GC_ROWS_ALIVE) {
        uint32_t row = bp_random_below(&world->random, run->count);
        if (run_entities(run)[row].id != 0) {
            alive_in_row++;
            continue;
        }
        alive_in_row = 0;
        store_erase_row(world, run, row);
        run->holes--;
        collected++;
    }
    return collected;
}

uint32_t store_sweep(world_t *world, run_t *run, uint32_t most)
{
    uint32_t before = run->holes;
    for (; run->holes > 0 && most > 0; most--) {
        if (run->sweep == 0 || run->sweep > run->count)
            run->sweep = run->count;
        uint32_t row = --run->sweep;
        if (run_entities(run)[row].id == 0) {
            store_erase_row(world, run, row);
            run->holes--;
        }
    }
    return before - run->holes;
}

static uint32_t collect_run(world_t *world, run_t *run, bool fully)
{
    fully = fully || (run->flags & KEY_AT_ONCE) != 0;
    uint32_t collected = fully ? store_sweep(world, run, UINT32_MAX) : collect_randomly(world, run);
    /* Luck alone is slow where a large part has died at once: four living in a row come soon. */
    if (run->holes > run->count / WORLD_GC_HOLES_SHARE)
        collected += store_sweep(world, run, WORLD_GC_SWEEP);
    if (run->capacity > 64 && run->count < run->capacity / 8)
        run_trim(run, &world->memory);
    return collected;
}

static void find_lost_holes(world_t *world)
{
    if (!world->holed_lost)
        return;
    world->holed_lost = false;
    for (uint32_t i = 0; i < world->run_count; i++) {
        if (world->runs[i]->holes > 0)
            list_holes(world, world->runs[i]);
    }
}

static uint32_t collect(world_t *world, uint32_t visits, bool fully)
{
    uint32_t collected = 0;
    find_lost_holes(world);
    for (; visits > 0 && world->holed_count > 0; visits--) {
        if (world->holed_next >= world->holed_count)
            world->holed_next = 0;
        run_t *run = world->holed[world->holed_next];
        collected += collect_run(world, run, fully);
        if (run->holes > 0) {
            world->holed_next++;
            continue;
        }
        run->in_holes_list = 0;
        world->holed[world->holed_next] = world->holed[--world->holed_count];
    }
    for (uint32_t m = 0; m < world->manager_count; m++) {
        manager_t *manager = world->managers[m];
        if (manager->started && manager->component->storage.gc != NULL)
            collected += verb_gc(manager->component, &manager->verb, &world->random);
    }
    return collected;
}

uint32_t store_collect(world_t *world)
{
    uint32_t visits = world->holed_count < WORLD_GC_RUNS ? world->holed_count : WORLD_GC_RUNS;
    return collect(world, visits, false);
}

uint32_t store_collect_all(world_t *world)
{
    find_lost_holes(world);
    return collect(world, world->holed_count, true);
}
