/* schedule.c - units that come into a world's step, and leave it.
 *
 * Invariants: units are separate allocations, since plugins hold &unit->seen; `settled` means that every query has its
 * manager numbers and that `units` is in the order of the step. Adding or dropping a unit unsettles.
 */
#include "schedule.h"

#include "unit_call.h"

schedule_t *schedule_create(bp_world_o *world, destruction_t *destruction)
{
    schedule_t *schedule = memory_new(&world->base->memory, sizeof *schedule);
    if (schedule == NULL) {
        error_memory(&world->base->error, "creating a world");
        return NULL;
    }
    schedule->world = world;
    schedule->destruction = destruction;
    memory_init_child(&schedule->memory, "schedule", &world->base->memory);
    commands_init(&schedule->commands, world, &schedule->memory);
    world->schedule = schedule;
    return schedule;
}

void schedule_free_unit(schedule_t *schedule, unit_t *unit)
{
    memory_free(&schedule->memory, unit->matches, unit->match_capacity * sizeof *unit->matches);
    memory_free(&schedule->memory, unit->ordered, unit->ordered_capacity * sizeof *unit->ordered);
    memory_free(&schedule->memory, unit->columns, unit->column_capacity * sizeof *unit->columns);
    memory_free(&schedule->memory, unit->tasks, unit->task_capacity * sizeof *unit->tasks);
    memory_free(&schedule->memory, unit->access, unit->access_capacity * sizeof *unit->access);
    memory_free(&schedule->memory, unit->followers, unit->follower_capacity * sizeof *unit->followers);
    memory_free(&schedule->memory, unit, sizeof *unit);
}

void schedule_free(schedule_t *schedule)
{
    for (uint32_t i = schedule->count; i > 0; i--) {
        unit_call_stop(schedule->units[i - 1]);
        schedule_free_unit(schedule, schedule->units[i - 1]);
    }
    schedule->count = 0;
    schedule_unsettle(schedule);
    commands_free(&schedule->commands);
    memory_free(&schedule->memory, schedule->units, schedule->capacity * sizeof *schedule->units);
    memory_free(&schedule->memory, schedule->queries, schedule->query_capacity * sizeof *schedule->queries);
    memory_free(&schedule->memory, schedule->segments, schedule->segment_capacity * sizeof *schedule->segments);
    schedule->world->schedule = NULL;
    memory_free(&schedule->world->base->memory, schedule, sizeof *schedule);
}

/* --- units in and out ------------------------------------------------------------------------------------------- */

static unit_t *new_unit(schedule_t *schedule, const char *name)
{
    if (!memory_reserve(&schedule->memory, &schedule->units, &schedule->capacity, schedule->count + 1u, sizeof *schedule->units))
        return NULL;
    unit_t *unit = memory_new(&schedule->memory, sizeof *unit);
    if (unit == NULL)
        return NULL;
    unit->name = name;
    unit->schedule = schedule;
    unit->watch = BP_NONE;
    return unit;
}

static bp_result_t out_of_memory(schedule_t *schedule)
{
    return error_memory(&schedule->world->base->error, "bringing a unit into a step");
}

bp_result_t schedule_add_manager(schedule_t *schedule, manager_t *manager)
{
    schedule->settled = false; /* a term of a system may have waited for it */
    if (manager->component->table.simulate == NULL)
        return BP_OK;
    unit_t *unit = new_unit(schedule, manager->component->name);
    if (unit == NULL)
        return out_of_memory(schedule);
    unit->manager = manager;
    schedule->units[schedule->count++] = unit;
    schedule->settled = false;
    return BP_OK;
}

bp_result_t schedule_add_system(schedule_t *schedule, system_t *system)
{
    bp_world_o *world = schedule->world;
    if (world_holds_rows(world))
        return error_set(&world->base->error, BP_ERROR_STATE, "world '%s' is in the middle of a step", world->name);
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (schedule->units[i]->system == system)
            return error_set(&world->base->error, BP_ERROR_EXISTS, "world '%s' has system '%s' already", world->name,
                             system->name);
    }
    unit_t *unit = new_unit(schedule, system->name);
    if (unit == NULL)
        return out_of_memory(schedule);
    unit->system = system;
    bp_result_t result = unit_call_start(unit, world);
    if (result != BP_OK) {
        schedule_free_unit(schedule, unit);
        return result;
    }
    schedule->units[schedule->count++] = unit;
    schedule->settled = false;
    return BP_OK;
}

static void drop_unit(schedule_t *schedule, uint32_t at)
{
    unit_t *unit = schedule->units[at];
    memmove(schedule->units + at, schedule->units + at + 1, (schedule->count - at - 1) * sizeof *schedule->units);
    schedule->count--;
    schedule->settled = false;
    unit_call_stop(unit);
    schedule_free_unit(schedule, unit);
}

void schedule_drop_manager(schedule_t *schedule, const manager_t *manager)
{
    schedule->settled = false;
    for (uint32_t i = schedule->count; i > 0; i--) {
        if (schedule->units[i - 1]->manager == manager)
            drop_unit(schedule, i - 1);
    }
}

void schedule_drop_system(schedule_t *schedule, const system_t *system)
{
    for (uint32_t i = schedule->count; i > 0; i--) {
        if (schedule->units[i - 1]->system == system)
            drop_unit(schedule, i - 1);
    }
}

/* --- for reloads --------------------------------------------------------------------------------------------------------- */

unit_t *schedule_make_unit(schedule_t *schedule, manager_t *manager, uint32_t more)
{
    if (!memory_reserve(&schedule->memory, &schedule->units, &schedule->capacity, (uint64_t)schedule->count + more,
                        sizeof *schedule->units))
        return NULL;
    unit_t *unit = new_unit(schedule, manager->component->name);
    if (unit != NULL)
        unit->manager = manager;
    return unit;
}

uint32_t schedule_take_out(schedule_t *schedule, const unit_t *unit)
{
    uint32_t at = 0;
    while (schedule->units[at] != unit)
        at++;
    memmove(schedule->units + at, schedule->units + at + 1, (schedule->count - at - 1) * sizeof *schedule->units);
    schedule->count--;
    schedule->settled = false;
    return at;
}

void schedule_put_in(schedule_t *schedule, unit_t *unit, uint32_t at)
{
    at = at < schedule->count ? at : schedule->count;
    memmove(schedule->units + at + 1, schedule->units + at, (schedule->count - at) * sizeof *schedule->units);
    schedule->units[at] = unit;
    schedule->count++;
    schedule->settled = false;
}
