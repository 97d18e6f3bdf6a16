/* store_rows.c - making records and runs, and dropping single rows.
 *
 * Records are cleared memory that doubles; a run is made when the first entity gets its prototype and stays with the
 * world. Runs are never freed before the world: references hold the addresses of their versions.
 */
#include "store_rows.h"

#include "../plugin/verbs.h"
#include <stdlib.h>

bp_result_t store_about(bp_world_o *world, bp_entity_t e, bp_result_t result)
{
    char text[32];
    value_format(&world->base->values, BP_ENTITY, &e, text, sizeof text);
    return error_prefix(&world->base->error, result, "%s: ", text);
}

bp_result_t store_refuse_stepping(bp_world_o *world)
{
    if (world->sealed)
        return error_set(&world->base->error, BP_ERROR_STATE, "nothing of world '%s' can change while a reload is being prepared", world->name);
    return error_set(&world->base->error, BP_ERROR_STATE,
                     "rows of world '%s' cannot move while its step holds columns; do it between steps", world->name);
}

bool store_reserve_records(bp_world_o *world, uint64_t needed)
{
    if (needed <= world->record_capacity)
        return true;
    uint64_t capacity = (uint64_t)world->record_capacity * 2;
    if (capacity < needed)
        capacity = needed < 256 ? 256 : needed;
    if (capacity > UINT32_MAX)
        capacity = UINT32_MAX;
    record_t *records = memory_resize_cleared(&world->memory, world->records, (size_t)world->record_capacity * sizeof *records,
                                              (size_t)capacity * sizeof *records);
    if (records == NULL)
        return false;
    world->records = records;
    world->record_capacity = (uint32_t)capacity;
    return true;
}

static run_t *create_run(bp_world_o *world, uint32_t prototype)
{
    const prototypes_t *p = &world->prototypes;
    const prototype_t *item = &p->items[prototype];
    size_t size = (item->columns + 1u) * sizeof(field_t *);
    const field_t **fields = memory_resize(&world->memory, NULL, 0, size);
    if (fields == NULL ||
        !memory_reserve(&world->memory, &world->runs, &world->run_capacity, world->run_count + 1u, sizeof *world->runs)) {
        memory_free(&world->memory, fields, fields == NULL ? 0 : size);
        return NULL;
    }
    for (uint32_t i = prototype; i != 0; i = p->items[i].base) {
        const manager_t *manager = world->managers[p->keys[p->items[i].key].manager];
        for (uint32_t c = 0; c < manager->column_count; c++)
            fields[p->items[p->items[i].base].columns - 1u + c] = manager->columns[c];
    }
    uint32_t watch = world->notices == NULL ? 0 : notices_signature(world->notices, prototype);
    run_t *run = watch == BP_NONE ? NULL : run_create(&world->memory, prototype, fields, item->columns, item->flags);
    memory_free(&world->memory, fields, size);
    if (run == NULL)
        return NULL;
    run->watch = watch;
    run->version = world->ref_version; /* what is referred to in it is numbered as it is now */
    world->runs[world->run_count++] = run;
    return run;
}

run_t *store_need_run(bp_world_o *world, uint32_t prototype)
{
    prototype_t *item = &world->prototypes.items[prototype];
    if (item->run == NULL)
        item->run = create_run(world, prototype);
    return item->run;
}

void store_erase_row(bp_world_o *world, run_t *run, uint32_t row)
{
    if ((run->flags & KEY_STRINGS) != 0)
        run_release_strings(run, 1, run->column_count, row, &world->base->strings);
    run_erase(run, row);
    if (row < run->count && run_entities(run)[row].id != 0)
        world->records[bp_entity_index(run_entities(run)[row])].row = row;
}

static int descending(const void *a, const void *b)
{
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? 1 : x > y ? -1 : 0;
}

void store_destroy_slots(manager_t *manager, uint32_t *slots, uint32_t count)
{
    if (count > 1)
        qsort(slots, count, sizeof *slots, descending);
    if (count > 0)
        verb_destroy(manager->component, &manager->seen, slots, count);
}
