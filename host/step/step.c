/* step.c - a step: its units segment by segment, and the work after them.
 *
 * All that can fail comes first: runs cannot be made while units run, so a step that has begun is completed. After
 * commands that a unit had made first, matches are looked at again; where there is no memory for new matches, units see
 * these a step later.
 *
 * After the units: destructions that were put off, then commands, then the collection of holes. Worlds that step side
 * by side do all this one after another, in their order, since entities are shared by all worlds.
 *
 * Reading the clock takes longer than a step of few rows. So a reading is used twice where only the fixed work of a
 * step lies in between: the reading at the beginning also counts as the beginning of the first unit, the one after the
 * last unit as the end of the step. The step of a world without units and rows is not measured.
 */
#include "../os/os.h"
#include "../store/store.h"
#include "../store/world_check.h"
#include "schedule.h"
#include "schedule_check.h"
#include "schedule_inner.h"
#include "trace.h"

static inline bool match_units(schedule_t *schedule)
{
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (!unit_run_prepare(schedule, schedule->units[i]))
            return false;
    }
    return true;
}

/* The same in the middle of a step, which goes on with those units too for which memory is lacking. */
static bool match_units_again(schedule_t *schedule)
{
    schedule->starves = false;
    for (uint32_t i = 0; i < schedule->count; i++) {
        unit_t *unit = schedule->units[i];
        unit->starved = !unit_run_prepare(schedule, unit);
        schedule->starves = schedule->starves || unit->starved;
    }
    return !schedule->starves;
}

/* Another step: each unit has room again, or the step does not begin. */
NOT_INLINED static void forget_starved(schedule_t *schedule)
{
    schedule->starves = false;
    for (uint32_t i = 0; i < schedule->count; i++)
        schedule->units[i]->starved = false;
}

/* Find where the values of the world itself lie. The addresses are good for this step: these rows do not move during
 * it. */
NOT_INLINED static void find_own(const schedule_t *schedule)
{
    for (uint32_t i = 0; i < schedule->count && schedule->world->own.id != 0; i++) {
        const unit_t *unit = schedule->units[i];
        if (unit->has_own && unit->query != NULL)
            bindings_find_own(schedule->world, unit->bindings, unit->query->term_count, unit->query->terms);
    }
}

bp_result_t schedule_prepare(schedule_t *schedule)
{
    bp_result_t result = schedule_settle(schedule);
    if (schedule->starves)
        forget_starved(schedule);
    if (result == BP_OK && !match_units(schedule))
        result = error_memory(&schedule->world->base->error, "matching the units of a step");
    if (schedule->has_own)
        find_own(schedule);
    return result;
}

bp_result_t schedule_attune(schedule_t *schedule)
{
    bp_result_t result = schedule_settle(schedule);
    return result == BP_OK ? notify_refresh(schedule) : result;
}

void schedule_forget_runs(schedule_t *schedule)
{
    for (uint32_t i = 0; i < schedule->query_count; i++)
        schedule->queries[i]->count = schedule->queries[i]->looked_at = 0;
}

/* --- brackets --------------------------------------------------------------------------------------------------- */

static inline void begin(schedule_t *schedule, const crew_t *crew, uint64_t began)
{
    world_t *world = schedule->world;
    schedule->began = began;
    if (schedule->clock->stopped && schedule->clock->granted > 0)
        schedule->clock->granted--;
    schedule->crew = crew;
    schedule->calls = 0;
    schedule->moment = schedule->world->moment;
    schedule->part = 0;
    schedule->commands.step = schedule->clock->steps;
    schedule->now = (bp_step_t){.struct_size = sizeof schedule->now,
                                .number = schedule->clock->steps,
                                .dt = 1.0 / schedule->clock->step_rate,
                                .time = schedule->clock->time};
    world->hold = WORLD_STEPPING;
    destruction_begin_step(schedule->destruction);
}

NOT_INLINED static void make_commands(schedule_t *schedule)
{
    schedule->read = 0;
    uint64_t from = os_clock_ns();
    commands_make(&schedule->commands, schedule->destruction);
    if (schedule->crew->trace != NULL)
        trace_slice(schedule->crew->trace, BP_SLICE_COMMANDS, schedule->world, "commands", from, os_clock_ns(), 0);
}

static inline uint32_t collect(schedule_t *schedule)
{
    world_t *world = schedule->world;
    uint32_t collected = store_collect(world);
    if (world->tended) {
        world->tended = false;
        schedule->read = 0;
    }
    if (lists_are_used(&world->lists)) {
        schedule->read = 0;
        lists_tidy(&world->lists);
    }
    return collected;
}

NOT_INLINED static void end_traced(schedule_t *schedule)
{
    world_t *world = schedule->world;
    trace_t *trace = schedule->crew->trace;
    uint64_t from = os_clock_ns();
    uint32_t collected = collect(schedule);
    uint64_t now = os_clock_ns();
    trace_slice(trace, BP_SLICE_GC, world, "gc", from, now, collected);
    schedule->clock->nanoseconds += now - schedule->began;
    trace_slice(trace, BP_SLICE_STEP, world, world->name, schedule->began, now, world_entities(world));
}

NOT_INLINED static void add_step(world_clock_t *clock)
{
    clock->time += 1 / clock->step_rate;
    world_clock_settle(clock);
}

/* Count a step. The time is steps over steps in a unit, without rounding that adds up; where it is not that, since the
 * world had another rate before, a step is added to it until both are the same. Steps are converted as a signed number,
 * which takes one instruction. */
static inline void advance(world_clock_t *clock)
{
    int64_t steps = (int64_t)++clock->steps;
    if (clock->summed)
        add_step(clock);
    else
        clock->time = (double)steps / clock->step_rate;
}

/* The work after the units. Precondition: destructions that were put off have been made. */
static inline void finish(schedule_t *schedule)
{
    world_t *world = schedule->world;
    world_clock_t *clock = schedule->clock;
    if (commands_pending(&schedule->commands))
        make_commands(schedule);
    if (schedule->messages.count > 0) {
        schedule->read = 0;
        messages_turn(&schedule->messages);
    }
    advance(clock);
    if (schedule->crew->trace == NULL) {
        collect(schedule);
        if (schedule->began != 0)
            clock->nanoseconds +=
                stopwatch_between(schedule->began, schedule->read != 0 ? schedule->read : stopwatch_ns());
    } else {
        end_traced(schedule);
    }
    schedule->crew = NULL;
    world_assert(world);
    schedule_assert(schedule);
}

/* --- segments --------------------------------------------------------------------------------------------------- */

/* Make commands in the middle of a step: rows may move meanwhile, and units then look again at what they match. */
NOT_INLINED static void make_commands_first(schedule_t *schedule, uint32_t place)
{
    world_t *world = schedule->world;
    if (!commands_pending(&schedule->commands))
        return;
    schedule->read = 0;
    world->hold = WORLD_FREE;
    uint32_t others = destruction_pause(schedule->destruction);
    world->moment = unit_moment(schedule, place) - 1;
    make_commands(schedule);
    destruction_resume(schedule->destruction, others);
    world->hold = WORLD_STEPPING;
    if (!match_units_again(schedule))
        log_write(&world->base->log, BP_LOG_WARNING, "host",
                  "world '%s': out of memory while matching; units see new combinations of components a step later",
                  world->name);
    notify_systems(schedule);
}

/* Give units their moments, and stamp the columns that they say they write, before one of them runs: so stamps do not
 * depend on the number of threads. Values written meanwhile in other ways count as written by the last of these
 * units. */
static void stamp_units(schedule_t *schedule, uint32_t first, uint32_t count)
{
    world_t *world = schedule->world;
    for (uint32_t i = first; i < first + count && world->askers > 0; i++) {
        unit_t *unit = schedule->units[i];
        unit->moment = world->moment = unit_moment(schedule, i);
        if (world->stamp_users > 0)
            unit_stamp_writes(unit);
    }
}

/* Give the work after the units a moment later than theirs. */
static void end_units(schedule_t *schedule)
{
    schedule->world->moment = unit_moment(schedule, schedule->count) - 1;
}

static void run_segments(schedule_t *schedule)
{
    error_text_t *error = &schedule->world->base->error;
    for (uint32_t s = 0; s < schedule->segment_count; s++) {
        segment_t *segment = &schedule->segments[s];
        region_part_t part = {schedule, segment->first, segment->count};
        if (segment->commands_first)
            make_commands_first(schedule, segment->first);
        if (schedule->world->askers > 0)
            stamp_units(schedule, segment->first, segment->count);
        if (segment->shared)
            error_share(error);
        region_run(&part, 1, schedule->crew, &segment->pace);
        if (segment->shared)
            error_join(error, &schedule->world->base->log);
    }
    end_units(schedule);
}

/* --- steps ------------------------------------------------------------------------------------------------------ */

/* Tell systems, at the beginning of a step, of what has changed since the one before. No notice waits then, and pages
 * of records can go (store_tend_records). */
static inline void begin_notices(schedule_t *schedule)
{
    if (schedule->world->notices == NULL)
        return;
    notify_subscribers(schedule);
    store_tend_records(schedule->world);
}

/* Has the world neither units nor rows, and nothing to collect, settle or trace? */
static inline bool is_empty(const schedule_t *schedule, const crew_t *crew)
{
    const world_t *world = schedule->world;
    return schedule->count == 0 && world->run_count == 0 && world->collecting == 0 && schedule->settled &&
           schedule->subscribed && crew->trace == NULL;
}

bp_result_t schedule_step(schedule_t *schedule, const crew_t *crew)
{
    world_t *world = schedule->world;
    if (world_holds_rows(world))
        return error_set(&world->base->error, BP_ERROR_STATE, "world '%s' is in the middle of a step", world->name);
    uint64_t began = is_empty(schedule, crew) ? 0 : crew_clock(crew->trace);
    schedule->read = crew->trace == NULL ? began : 0;
    bp_result_t result = schedule_prepare(schedule);
    if (result == BP_OK)
        result = notify_refresh(schedule);
    if (result != BP_OK)
        return result;
    begin(schedule, crew, began);
    begin_notices(schedule);
    run_segments(schedule);
    world->hold = WORLD_FREE;
    if (schedule->destruction->waiting_count > 0)
        schedule->read = 0;
    destruction_end_step(schedule->destruction);
    finish(schedule);
    return BP_OK;
}

static void run_together(const region_part_t *parts, uint32_t count, const crew_t *crew)
{
    error_text_t *error = &parts[0].schedule->world->base->error;
    error_share(error);
    region_run(parts, count, crew, &parts[0].schedule->together);
    error_join(error, &parts[0].schedule->world->base->log);
}

bp_result_t schedule_step_together(schedule_t *const *schedules, uint32_t count, const crew_t *crew)
{
    world_t *first = schedules[0]->world;
    uint64_t began = os_clock_ns();
    bool told = false;
    for (uint32_t i = 0; i < count; i++) {
        told = told || !schedules[i]->subscribed;
        bp_result_t result = notify_refresh(schedules[i]);
        if (result != BP_OK)
            return result;
    }
    for (uint32_t i = 0; i < count && told; i++) { /* a system that is told may have changed another world */
        bp_result_t result = schedule_prepare(schedules[i]);
        if (result != BP_OK)
            return result;
    }
    region_part_t *parts = memory_resize(&first->base->memory, NULL, 0, count * sizeof *parts);
    if (parts == NULL)
        return error_memory(&first->base->error, "stepping worlds side by side");
    for (uint32_t i = 0; i < count; i++) {
        begin(schedules[i], crew, began);
        schedules[i]->read = 0;
        schedules[i]->part = i;
        parts[i] = (region_part_t){schedules[i], 0, schedules[i]->count};
    }
    for (uint32_t i = 0; i < count; i++)
        begin_notices(schedules[i]);
    for (uint32_t i = 0; i < count; i++)
        stamp_units(schedules[i], 0, schedules[i]->count);
    run_together(parts, count, crew);
    for (uint32_t i = 0; i < count; i++)
        end_units(schedules[i]);
    uint64_t share = (os_clock_ns() - began) / count;
    for (uint32_t i = 0; i < count; i++)
        schedules[i]->world->hold = WORLD_FREE;
    for (uint32_t i = 0; i < count; i++)
        destruction_end_step(schedules[i]->destruction);
    for (uint32_t i = 0; i < count; i++) {
        schedules[i]->clock->nanoseconds += share;
        schedules[i]->began = crew_clock(crew->trace);
        schedules[i]->read = 0;
        finish(schedules[i]);
    }
    if (crew->trace != NULL)
        trace_slice(crew->trace, BP_SLICE_TOGETHER, NULL, "worlds side by side", began, os_clock_ns(), count);
    memory_free(&first->base->memory, parts, count * sizeof *parts);
    return BP_OK;
}
