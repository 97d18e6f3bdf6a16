/* step.c - a step: its units one after another, and what comes after them.
 *
 * All that can fail comes first: no run can come into being while units run, so a step that has begun ends.
 */
#include "schedule.h"

#include "../base/os.h"
#include "../entity/store.h"
#include "unit_run.h"

static bp_result_t match_units(schedule_t *schedule)
{
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (!unit_run_prepare(schedule, schedule->units[i]))
            return error_memory(&schedule->world->base->error, "matching the units of a step");
    }
    return BP_OK;
}

static void run_units(schedule_t *schedule, const bp_step_t *step, const bp_jobs_i *jobs)
{
    uint64_t before = os_clock_ns();
    for (uint32_t i = 0; i < schedule->count; i++) {
        unit_t *unit = schedule->units[i];
        unit_run(schedule, unit, step, jobs);
        uint64_t now = os_clock_ns();
        unit->nanoseconds += now - before;
        unit->steps++;
        before = now;
    }
}

bp_result_t schedule_prepare(schedule_t *schedule)
{
    bp_result_t result = schedule_settle(schedule);
    return result == BP_OK ? match_units(schedule) : result;
}

bp_result_t schedule_step(schedule_t *schedule, const bp_jobs_i *jobs)
{
    bp_world_o *world = schedule->world;
    if (world->stepping)
        return error_set(&world->base->error, BP_ERROR_STATE, "world '%s' is in the middle of a step", world->name);
    uint64_t began = os_clock_ns();
    bp_result_t result = schedule_prepare(schedule);
    if (result != BP_OK)
        return result;
    bp_step_t step = {
        .struct_size = sizeof step, .number = world->steps, .dt = 1.0 / world->step_rate, .time = world->time};
    world->stepping = true;
    destruction_begin_step(schedule->destruction);
    run_units(schedule, &step, jobs);
    world->stepping = false;
    destruction_end_step(schedule->destruction);
    world->steps++;
    world->time = (double)world->steps / world->step_rate;
    store_collect(world);
    world->nanoseconds += os_clock_ns() - began;
    return BP_OK;
}
