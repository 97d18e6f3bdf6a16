/* store_append.c - rows for what a scene brings: many prototypes, values in columns, all or nothing.
 *
 * A spawn knows all its rows beforehand, so memory comes first, for all runs together; appending cannot fail after that. What fails
 * later (a manager that refuses) takes the batches back in the opposite order, and then nothing has moved.
 */
#include "store.h"

#include "store_rows.h"

/* Promise rows to the run of each batch; several batches may go to one run. */
static bool promise_rows(bp_world_o *world, const store_batch_t *batches, uint32_t count, run_t **touched)
{
    for (uint32_t i = 0; i < count; i++) {
        if (batches[i].prototype == 0 || batches[i].count == 0)
            continue;
        run_t *run = store_need_run(world, batches[i].prototype);
        if (run == NULL || batches[i].count > UINT32_MAX - run->pending)
            return false;
        if (run->pending == 0) {
            run->next_pending = *touched;
            *touched = run;
        }
        run->pending += batches[i].count;
    }
    return true;
}

bp_result_t store_prepare_append(bp_world_o *world, const store_batch_t *batches, uint32_t count, uint32_t total)
{
    if (world_holds_rows(world))
        return store_refuse_stepping(world);
    run_t *touched = NULL;
    bool good = promise_rows(world, batches, count, &touched);
    for (run_t *run = touched; run != NULL; run = run->next_pending) {
        good = good && run_reserve(run, &world->memory, run->pending);
        run->pending = 0;
    }
    if (!good || !store_reserve_records(world, (uint64_t)world->entities->bound + total) || !store_reserve_notices(world, total))
        return error_memory(&world->base->error, "making room for a spawn");
    return BP_OK;
}

void store_append(bp_world_o *world, store_batch_t *batch, const bp_entity_t *entities)
{
    if (batch->prototype == 0 || batch->count == 0)
        return;
    run_t *run = world_run(world, batch->prototype);
    uint32_t first = run->count;
    batch->first_row = first;
    run->count += batch->count;
    memcpy(run_entities(run) + first, entities, batch->count * sizeof *entities);
    for (uint32_t i = 0; i < batch->count; i++)
        store_set_record(world, entities[i], batch->prototype, first + i);
    world->occupied += batch->count;
    store_moved(world, NULL, run, entities, batch->count);
}

void store_retract(bp_world_o *world, const store_batch_t *batch, const bp_entity_t *entities)
{
    if (batch->prototype == 0 || batch->count == 0)
        return;
    run_t *run = world_run(world, batch->prototype);
    for (uint32_t i = 0; i < batch->count; i++) {
        if (run->has_strings)
            run_release_strings(run, 1, run->column_count, batch->first_row + i, &world->base->strings);
        if (run_entities(run)[batch->first_row + i].id == 0) {
            run->holes--; /* it died meanwhile, by the hand of a manager */
            continue;
        }
        world->records[bp_entity_index(entities[i])] = (record_t){0};
        world->occupied--;
        store_moved(world, run, NULL, &entities[i], 1);
    }
    run->count = batch->first_row;
    run->version++;
}
