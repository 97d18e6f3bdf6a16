/* restore.c - bringing a whole host back: the checks that the snapshot fits, making everything that can fail, and the
 * exchange. */
#include "restore.h"

#include "../store/parking.h"
#include "states.h"

/* --- does it fit? ------------------------------------------------------------------------------------------------- */

static bp_result_t differs(const parts_t *parts, const char *what, const char *then, const char *now)
{
    return error_set(&parts->base->error, BP_ERROR_STATE,
                     "the host is made of other parts than when it was written down: %s was '%s' then and is '%s' now",
                     what, then, now);
}

static bp_result_t fits_columns(const parts_t *parts, const world_t *world, const kept_manager_t *kept,
                                const manager_t *manager)
{
    if (kept->column_count != manager->column_count || (kept->own_storage != 0) != manager->component->own_storage)
        return error_set(&parts->base->error, BP_ERROR_STATE,
                         "component '%s' of world '%s' has other columns than when it was written down", kept->type,
                         world->name);
    for (uint32_t c = 0; c < kept->column_count; c++) {
        const kept_field_t *then = &kept->columns[c];
        const field_t *now = manager->columns[c];
        if (strcmp(then->name, now->name) != 0 || then->type != now->type || then->size != now->size ||
            then->elements != now->elements || then->flags != (now->flags & BP_FIELD_LIST))
            return error_set(&parts->base->error, BP_ERROR_STATE,
                             "field '%s' of component '%s' in world '%s' is another one than when it was written down",
                             now->name, kept->type, world->name);
    }
    return BP_OK;
}

static uint32_t count_started(const world_t *world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->manager_count; i++)
        count += world->managers[i]->started;
    return count;
}

static bp_result_t fits_managers(const parts_t *parts, const world_t *world, const kept_world_t *kept)
{
    uint32_t started = 0;
    for (uint32_t i = 0; i < kept->manager_count; i++)
        started += kept->managers[i].started != 0;
    if (started != count_started(world))
        return error_set(&parts->base->error, BP_ERROR_STATE, "world '%s' had %u components then and has %u now",
                         world->name, started, count_started(world));
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < kept->manager_count && result == BP_OK; i++) {
        const manager_t *manager = restore_manager(world, kept, i);
        if (manager == NULL)
            return error_set(&parts->base->error, BP_ERROR_STATE,
                             "the host is made of other parts than when it was written down: world '%s' %s component "
                             "'%s' then",
                             world->name, kept->managers[i].started != 0 ? "had" : "had had", kept->managers[i].type);
        if (manager->started) /* the runs of one that has gone are empty, whatever its columns were */
            result = fits_columns(parts, world, &kept->managers[i], manager);
    }
    return result;
}

static bp_result_t fits_world(const parts_t *parts, const bp_world_o *handle, const kept_world_t *kept)
{
    const world_t *world = &handle->rows;
    const schedule_t *schedule = handle->schedule;
    if (strcmp(kept->name, world->name) != 0)
        return differs(parts, "a world", kept->name, world->name);
    bp_result_t result = fits_managers(parts, world, kept);
    if (result == BP_OK && kept->unit_count != schedule->count)
        return error_set(&parts->base->error, BP_ERROR_STATE, "world '%s' had %u units then and has %u now",
                         world->name, kept->unit_count, schedule->count);
    for (uint32_t i = 0; i < kept->unit_count && result == BP_OK; i++) {
        const unit_t *unit = schedule->units[i];
        if (strcmp(kept->units[i].name, unit->name) != 0 || (kept->units[i].is_system != 0) != (unit->system != NULL))
            return differs(parts, "a unit of a step", kept->units[i].name, unit->name);
        if (kept->units[i].subscription != unit->subscription)
            return differs(parts, "the subscription of a unit", kept->units[i].name, "another");
    }
    return result;
}

bp_result_t snapshot_fits(const parts_t *parts, const snapshot_t *snapshot)
{
    bp_result_t result = BP_OK;
    if (snapshot->world_count != parts->destruction->world_count)
        return error_set(&parts->base->error, BP_ERROR_STATE, "the host had %u worlds then and has %u now",
                         snapshot->world_count, parts->destruction->world_count);
    if (snapshot->plugin_count != parts->loader->plugins.count)
        return error_set(&parts->base->error, BP_ERROR_STATE, "the host had %u plugins then and has %u now",
                         snapshot->plugin_count, parts->loader->plugins.count);
    for (uint32_t i = 0; i < snapshot->plugin_count; i++) {
        if (strcmp(snapshot->plugins[i].name, parts->loader->plugins.items[i]->name) != 0)
            return differs(parts, "a plugin", snapshot->plugins[i].name, parts->loader->plugins.items[i]->name);
    }
    for (uint32_t i = 0; i < snapshot->world_count && result == BP_OK; i++)
        result = fits_world(parts, world_handle(parts->destruction->worlds[i]), &snapshot->worlds[i]);
    return result;
}

/* --- everything that can fail
 * --------------------------------------------------------------------------------------- */

typedef struct back_t {
    const parts_t *parts;
    const snapshot_t *snapshot;
    world_back_t *worlds;
    state_back_t *states;
    uint32_t world_count, state_count, state_room;
    spawned_t *spawns;
} back_t;

static bp_result_t no_memory(const back_t *back)
{
    return error_memory(&back->parts->base->error, "bringing a host back");
}

static bp_result_t prepare_spawns(back_t *back)
{
    const snapshot_t *s = back->snapshot;
    memory_t *memory = &back->parts->scenes->memory;
    if (s->spawn_count == 0)
        return BP_OK;
    back->spawns = memory_new(memory, s->spawn_count * sizeof *back->spawns);
    for (uint32_t i = 0; back->spawns != NULL && i < s->spawn_count; i++) {
        const kept_spawn_t *kept = &s->spawns[i];
        spawned_t *spawn = &back->spawns[i];
        *spawn = (spawned_t){.generation = kept->generation, .next_free = kept->next_free};
        if (!kept->present)
            continue;
        spawn->entities = memory_resize(memory, NULL, 0, (kept->count + (size_t)1) * sizeof *spawn->entities);
        if (spawn->entities == NULL)
            return no_memory(back);
        spawn->count = kept->count;
        memcpy(spawn->entities, kept->entities, kept->count * sizeof *spawn->entities);
    }
    return back->spawns == NULL ? no_memory(back) : BP_OK;
}

static void free_spawns(scenes_t *scenes, spawned_t *spawns, uint32_t count, uint32_t room)
{
    for (uint32_t i = 0; spawns != NULL && i < count; i++) {
        if (spawns[i].entities != NULL)
            scenes_free_list(scenes, spawns[i].entities, spawns[i].count);
    }
    memory_free(&scenes->memory, spawns, spawns == NULL ? 0 : room * sizeof *spawns);
}

static bp_result_t prepare_state(back_t *back, state_back_t state)
{
    back->states[back->state_count] = state;
    bp_result_t result = state_prepare(back->parts, &back->states[back->state_count]);
    back->state_count += result == BP_OK;
    return result;
}

static bp_result_t prepare_states_of(back_t *back, bp_world_o *world, const kept_world_t *kept)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < kept->manager_count && result == BP_OK; i++)
        result = prepare_state(back, (state_back_t){.manager = restore_manager(&world->rows, kept, i),
                                                    .kept = &kept->managers[i].state,
                                                    .version = kept->managers[i].version});
    for (uint32_t i = 0; i < kept->unit_count && result == BP_OK; i++) {
        unit_t *unit = world->schedule->units[i];
        if (unit->system != NULL)
            result = prepare_state(back, (state_back_t){.unit = unit, .kept = &kept->units[i].state});
    }
    return result;
}

static bp_result_t prepare_states(back_t *back)
{
    const snapshot_t *s = back->snapshot;
    back->state_room = s->plugin_count + 1;
    for (uint32_t w = 0; w < s->world_count; w++)
        back->state_room += s->worlds[w].manager_count + s->worlds[w].unit_count;
    back->states = memory_new(&back->parts->base->memory, back->state_room * sizeof *back->states);
    if (back->states == NULL)
        return no_memory(back);
    bp_result_t result = BP_OK;
    destruction_seal(back->parts->destruction, true);
    for (uint32_t i = 0; i < s->plugin_count && result == BP_OK; i++)
        result = prepare_state(back, (state_back_t){.plugin = back->parts->loader->plugins.items[i],
                                                    .kept = &s->plugins[i].state});
    for (uint32_t w = 0; w < s->world_count && result == BP_OK; w++)
        result = prepare_states_of(back, world_handle(back->parts->destruction->worlds[w]), &s->worlds[w]);
    destruction_seal(back->parts->destruction, false);
    return result;
}

static bp_result_t prepare(back_t *back)
{
    const parts_t *parts = back->parts;
    const snapshot_t *s = back->snapshot;
    bp_result_t result = entities_make_room(parts->entities, s->bound, s->parked_count, s->reached);
    if (result == BP_OK && s->owner_count > 0)
        result = entities_reserve_pools(parts->entities, s->bound);
    back->worlds = memory_new(&parts->base->memory, (s->world_count + 1u) * sizeof *back->worlds);
    if (result == BP_OK && back->worlds == NULL)
        result = no_memory(back);
    for (uint32_t i = 0; i < s->world_count && result == BP_OK; i++) {
        back->world_count++;
        result = world_back_prepare(&back->worlds[i], world_handle(parts->destruction->worlds[i]), &s->worlds[i],
                                    parts->layouts);
    }
    if (result == BP_OK)
        result = prepare_spawns(back);
    if (result == BP_OK)
        result = prepare_states(back);
    for (uint32_t i = 0; i < back->world_count && result == BP_OK; i++)
        result = world_back_prepare_messages(&back->worlds[i]);
    return result;
}

/* --- the exchange ----------------------------------------------------------------------------------------- */

static void put_entities(entities_t *e, const snapshot_t *s)
{
    uint64_t pages = (uint64_t)e->reached * ENTITIES_PAGE, used = pages > e->bound ? pages : e->bound;
    used = used < e->room ? used : e->room;
    e->base->values.entity_base = s->entity_base;
    if (s->bound > 0)
        memcpy(e->lives, s->lives, s->bound * sizeof *e->lives);
    if (used > s->bound) /* room behind all pages that are or were in use is clear */
        memset(e->lives + s->bound, 0, (used - s->bound) * sizeof *e->lives);
    for (uint32_t i = 0; i < s->floor_count; i++)
        e->floors[s->reached - s->floor_count + i] = s->floors[i];
    e->reached = s->reached;
    e->queue_head = e->queue_count = 0;
    entities_widen_queue(e, s->queue_count);
    if (s->queue_count > 0)
        memcpy(e->queue, s->queue, s->queue_count * sizeof *e->queue);
    e->bound = s->bound;
    e->living = s->living;
    e->queue_count = s->queue_count;
}

/* Give each world the pool of indices of the snapshot, in the same order. */
static void put_pools(const parts_t *parts, const snapshot_t *s)
{
    entities_t *e = parts->entities;
    if (e->owner_capacity > 0)
        memset(e->owners, 0, e->owner_capacity * sizeof *e->owners);
    for (uint32_t i = 0; i < s->pool_count; i++) {
        entity_pool_t *pool = &parts->destruction->worlds[i]->ids;
        const kept_pool_t *kept = &s->pools[i];
        *pool = (entity_pool_t){.number = pool->number, .fresh = kept->fresh, .fresh_end = kept->fresh_end};
        for (uint32_t k = 0; k < kept->count; k++)
            entities_pool_put(e, pool, kept->free[k]);
    }
    e->large_pools = s->owner_count > 0;
    for (uint32_t i = 0; i < s->owner_count; i++) {
        entity_pool_t *pool = s->owners[i] == 0 ? NULL : &parts->destruction->worlds[s->owners[i] - 1]->ids;
        e->owners[i] = pool == NULL ? 0 : pool->number;
        if (pool != NULL && pool->pages++ == 0)
            pool->first_page = i;
        if (pool != NULL)
            pool->last_page = i;
    }
    entities_turn_pools(e);
    parking_count(e, s->parked_count);
}

static void put_spawns(back_t *back)
{
    scenes_t *scenes = back->parts->scenes;
    free_spawns(scenes, scenes->spawns, scenes->spawn_count, scenes->spawn_capacity);
    scenes->spawns = back->spawns;
    scenes->spawn_count = scenes->spawn_capacity = back->snapshot->spawn_count;
    scenes->first_free = back->snapshot->first_free_spawn;
    back->spawns = NULL;
}

bp_result_t snapshot_suspend_outputs(const parts_t *parts)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < parts->destruction->world_count && result == BP_OK; i++)
        result = schedule_suspend_outputs(world_handle(parts->destruction->worlds[i])->schedule);
    return result;
}

void snapshot_tell(const parts_t *parts)
{
    for (uint32_t i = 0; i < parts->destruction->world_count; i++) {
        schedule_t *schedule = world_handle(parts->destruction->worlds[i])->schedule;
        schedule_tell_outputs(schedule);
        for (uint32_t u = 0; u < schedule->count; u++)
            unit_call_rewound(schedule->units[u]);
    }
}

static void commit(back_t *back)
{
    const parts_t *parts = back->parts;
    put_entities(parts->entities, back->snapshot);
    put_pools(parts, back->snapshot);
    put_spawns(back);
    for (uint32_t i = 0; i < back->world_count; i++)
        world_back_commit(&back->worlds[i]);
    for (uint32_t i = 0; i < back->state_count; i++)
        state_commit(parts, &back->states[i]);
}

bp_result_t snapshot_restore(const parts_t *parts, const snapshot_t *snapshot)
{
    back_t back = {.parts = parts, .snapshot = snapshot};
    bp_result_t result = snapshot_moment(parts);
    for (uint32_t i = 0; i < parts->destruction->world_count && result == BP_OK; i++)
        result = schedule_attune(world_handle(parts->destruction->worlds[i])->schedule);
    if (result == BP_OK)
        result = snapshot_fits(parts, snapshot);
    if (result == BP_OK)
        result = snapshot_suspend_outputs(parts);
    if (result != BP_OK)
        return result;
    loader_pause_all(parts->loader, BP_PAUSE_SNAPSHOT);
    result = prepare(&back);
    if (result == BP_OK)
        commit(&back);
    for (uint32_t i = back.state_count; i > 0 && result != BP_OK; i--)
        state_cancel(&back.states[i - 1]);
    free_spawns(parts->scenes, back.spawns, back.spawns == NULL ? 0 : snapshot->spawn_count, snapshot->spawn_count);
    for (uint32_t i = 0; i < back.world_count; i++)
        world_back_free(&back.worlds[i]);
    memory_free(&parts->base->memory, back.worlds,
                back.worlds == NULL ? 0 : (snapshot->world_count + 1u) * sizeof *back.worlds);
    memory_free(&parts->base->memory, back.states, back.states == NULL ? 0 : back.state_room * sizeof *back.states);
    loader_resume_all(parts->loader, BP_PAUSE_SNAPSHOT);
    return result;
}
