/* store_strip.c - taking a manager's components out of a world: all rows of all runs that have them move.
 *
 * A plugin that goes must not fail half way. So the memory for all moves of all its managers is taken beforehand
 * (store_prepare_strip), counting each row into every run that it will pass through while one key after another goes.
 */
#include "store.h"

#include "store_move.h"

/* Take one key away from all rows of a run that has it. */
static bp_result_t strip_run(bp_world_o *world, run_t *run, uint32_t key)
{
    store_change_t c = {.world = world, .key = key};
    store_sweep(world, run, UINT32_MAX);
    bp_result_t result = store_find_transition(&c, run->prototype);
    if (result == BP_OK && c.to != 0 && !run_reserve(world_run(world, c.to), &world->memory, run->count))
        result = error_memory(&world->base->error, "taking a component out of a world");
    while (result == BP_OK && run->count > 0) {
        bp_entity_t last[STORE_BLOCK];
        uint32_t count = run->count < STORE_BLOCK ? run->count : STORE_BLOCK;
        memcpy(last, run_entities(run) + run->count - count, count * sizeof *last);
        store_move_all(&c, last, count);
    }
    if (result == BP_OK)
        run_trim(run, &world->memory); /* nobody can have these components again */
    return result;
}

static uint32_t key_of_manager(const bp_world_o *world, uint32_t prototype, uint32_t manager)
{
    const prototypes_t *p = &world->prototypes;
    for (uint32_t at = prototype; at != 0; at = p->items[at].base) {
        if (p->keys[p->items[at].key].manager == manager)
            return p->items[at].key;
    }
    return BP_NONE;
}

/* Count the rows of a run into every run that they will pass through while one key after another goes. */
static bp_result_t plan_strip(store_change_t *c, const run_t *run, const plugin_t *owner)
{
    bp_world_o *world = c->world;
    uint32_t at = run->prototype;
    for (uint32_t m = world->manager_count; m > 0; m--) {
        const manager_t *manager = world->managers[m - 1];
        if (!manager->started || manager->component->owner != owner)
            continue;
        while ((c->key = key_of_manager(world, at, m - 1)) != BP_NONE) {
            c->found = false;
            bp_result_t result = store_find_transition(c, at);
            if (result != BP_OK)
                return result;
            at = c->to;
            run_t *to = world_run(world, at);
            if (to == NULL)
                continue;
            if (to->pending == 0) {
                to->next_pending = c->touched;
                c->touched = to;
            }
            to->pending += run->count;
        }
    }
    return BP_OK;
}

bp_result_t store_prepare_strip(bp_world_o *world, const plugin_t *owner)
{
    if (world_holds_rows(world))
        return store_refuse_stepping(world);
    store_change_t c = {.world = world};
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < world->run_count && result == BP_OK; i++) {
        if (world->runs[i]->count > 0)
            result = plan_strip(&c, world->runs[i], owner);
    }
    bool room = store_reserve_touched(&c);
    if (result == BP_OK && !room)
        result = error_memory(&world->base->error, "taking components out of a world");
    return result;
}

bp_result_t store_strip(bp_world_o *world, uint32_t manager)
{
    if (world_holds_rows(world))
        return store_refuse_stepping(world);
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < world->run_count && result == BP_OK; i++) {
        run_t *run = world->runs[i];
        uint32_t key = run->count > 0 ? key_of_manager(world, run->prototype, manager) : BP_NONE;
        if (key == BP_NONE)
            continue;
        result = strip_run(world, run, key);
        i = BP_NONE; /* its rows may have gone to a run that was looked at already: begin again */
    }
    return result;
}
