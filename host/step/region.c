/* region.c - a few threads, each looking for a unit that waits for no other unit and taking tasks from it.
 *
 * Every thread of a region is the same loop, started through bp_jobs_i as one job. A thread may take all the work
 * alone, and waits only while another one is at work; so a pool that runs jobs one after another, on one thread, is
 * right too.
 *
 * Small work is not worth waking a thread, and some larger work is not either (pace.h): the times of the units in the
 * last steps decide. The decision changes which thread runs a call and nothing else, since calls and their numbers do
 * not depend on threads.
 */
#include "../os/os.h"
#include "audit.h"
#include "jobs.h"
#include "schedule_inner.h"
#include "trace.h"

typedef struct region_t {
    const region_part_t *parts;
    uint32_t count;
    trace_t *trace;
    audit_t *audit;
    _Atomic uint32_t left; /* units not yet done */
} region_t;

/* --- on several threads ----------------------------------------------------------------------------------------- */

/* A unit's last task is done: each unit that waits for it waits for one unit fewer. */
static void complete(region_t *region, const schedule_t *schedule, unit_t *unit)
{
    if (region->audit != NULL)
        audit_done(region->audit, unit);
    for (uint32_t i = 0; i < unit->follower_count; i++)
        atomic_fetch_sub_explicit(&schedule->units[unit->followers[i]]->waits, 1, memory_order_acq_rel);
    atomic_fetch_sub_explicit(&region->left, 1, memory_order_acq_rel);
}

/* Take tasks of one unit until there are no more. Returns how many. */
static uint32_t take_tasks(region_t *region, const schedule_t *schedule, unit_t *unit)
{
    uint32_t taken = 0;
    uint64_t began = os_clock_ns(), from = began;
    for (;;) {
        uint32_t t = atomic_fetch_add_explicit(&unit->next_task, 1, memory_order_acq_rel);
        if (t >= unit->task_count)
            break;
        taken++;
        unit_run_task(unit, &unit->tasks[t]);
        uint64_t now = os_clock_ns();
        atomic_fetch_add_explicit(&unit->busy, now - from, memory_order_relaxed);
        if (region->trace != NULL && unit->task_count > 1)
            trace_slice(region->trace, BP_SLICE_RANGE, schedule->world, unit->name, from, now, unit->tasks[t].count);
        from = now;
        if (atomic_fetch_sub_explicit(&unit->tasks_left, 1, memory_order_acq_rel) == 1)
            complete(region, schedule, unit);
    }
    if (region->trace != NULL && taken > 0)
        trace_slice(region->trace, BP_SLICE_UNIT, schedule->world, unit->name, began, from, unit->rows);
    return taken;
}

static bool has_tasks(const unit_t *unit)
{
    return atomic_load_explicit(&unit->next_task, memory_order_relaxed) < unit->task_count;
}

/* Go once over all units. Returns how many tasks were found; `more` says whether a unit has some that must wait. */
static uint32_t look_around(region_t *region, bool *more)
{
    uint32_t taken = 0;
    *more = false;
    for (uint32_t p = 0; p < region->count; p++) {
        const region_part_t *part = &region->parts[p];
        for (uint32_t i = 0; i < part->count; i++) {
            unit_t *unit = part->schedule->units[part->first + i];
            if (!has_tasks(unit))
                continue;
            if (atomic_load_explicit(&unit->waits, memory_order_acquire) == 0)
                taken += take_tasks(region, part->schedule, unit);
            else
                *more = true;
        }
    }
    return taken;
}

static void take_part(void *data, uint32_t index)
{
    region_t *region = data;
    (void)index;
    for (uint32_t turn = 0; atomic_load_explicit(&region->left, memory_order_acquire) > 0; turn++) {
        bool more;
        if (look_around(region, &more) > 0)
            turn = 0;
        else if (!more)
            return;
        else
            os_relax(turn);
    }
}

/* Cut all units into tasks. Returns how many. */
static uint32_t cut(region_t *region)
{
    uint32_t tasks = 0;
    for (uint32_t p = 0; p < region->count; p++) {
        const region_part_t *part = &region->parts[p];
        for (uint32_t i = 0; i < part->count; i++) {
            unit_t *unit = part->schedule->units[part->first + i];
            unit_run_cut(unit);
            tasks += unit->task_count;
            atomic_store_explicit(&unit->waits, unit->awaited, memory_order_relaxed);
            atomic_store_explicit(&unit->next_task, 0, memory_order_relaxed);
            atomic_store_explicit(&unit->tasks_left, unit->task_count, memory_order_relaxed);
            atomic_store_explicit(&unit->busy, 0, memory_order_relaxed);
        }
        region->left += part->count;
    }
    return tasks;
}

static inline void account(unit_t *unit, uint64_t nanoseconds)
{
    unit->nanoseconds += nanoseconds;
    unit->expected = unit->steps++ == 0 ? nanoseconds : (3 * unit->expected + nanoseconds) / 4;
}

static void run_on_threads(region_t *region, const crew_t *crew)
{
    uint32_t tasks = cut(region);
    region->parts[0].schedule->read = 0;
    jobs_run(&crew->jobs, take_part, region, tasks < crew->jobs.threads ? tasks : crew->jobs.threads);
    for (uint32_t p = 0; p < region->count; p++) {
        const region_part_t *part = &region->parts[p];
        for (uint32_t i = 0; i < part->count; i++)
            account(part->schedule->units[part->first + i], atomic_load(&part->schedule->units[part->first + i]->busy));
    }
}

/* --- one region, begun and ended
 * ----------------------------------------------------------------------------------------------- */

/* Units of a world are measured from where the clock was read last in the step (schedule_t.read). */
static void run_here(const region_t *region)
{
    schedule_t *schedule = region->parts[0].schedule;
    trace_t *trace = region->trace;
    audit_t *audit = region->audit;
    uint64_t before = schedule->read != 0 ? schedule->read : crew_clock(trace);
    for (const region_part_t *part = region->parts, *end = part + region->count; part < end; part++) {
        for (uint32_t i = 0; i < part->count; i++) {
            unit_t *unit = part->schedule->units[part->first + i];
            if (audit != NULL)
                audit_before(audit, unit);
            unit_run(unit);
            uint64_t now = crew_clock(trace);
            if (audit != NULL)
                audit_after(audit, unit);
            account(unit, stopwatch_between(before, now));
            if (trace != NULL)
                trace_slice(trace, BP_SLICE_UNIT, part->schedule->world, unit->name, before, now, unit->rows);
            before = now;
        }
    }
    schedule->read = trace == NULL ? before : 0;
}

/* The time that the units are expected to take, by the times they took before; 0 where no work could be shared. */
static uint64_t expected_of(const region_t *region)
{
    uint64_t expected = 0;
    bool shared = false;
    uint32_t units = 0;
    for (uint32_t p = 0; p < region->count; p++) {
        const region_part_t *part = &region->parts[p];
        for (uint32_t i = 0; i < part->count; i++) {
            const unit_t *unit = part->schedule->units[part->first + i];
            expected += unit->steps > 0 ? unit->expected : unit_run_rows(unit) * REGION_ROW_NS;
            shared = shared || unit->parallel || ++units > 1;
        }
    }
    return shared ? expected : 0;
}

void region_run(const region_part_t *parts, uint32_t count, const crew_t *crew, pace_t *pace)
{
    region_t region = {.parts = parts, .count = count, .trace = crew->trace, .audit = crew->audit};
    if (crew->audit != NULL) { /* an audit uses threads wherever there can be some, whether or not they pay */
        if (audit_is_alone(crew->audit) || crew->jobs.threads <= 1 || expected_of(&region) == 0)
            run_here(&region);
        else
            run_on_threads(&region, crew);
        return;
    }
    uint64_t expected = crew->jobs.threads > 1 ? expected_of(&region) : 0;
    if (expected < PACE_WORTH_NS) {
        pace_forget(pace);
        run_here(&region);
        return;
    }
    bool share = pace_share(pace, expected);
    uint64_t began = stopwatch_ns();
    if (share)
        run_on_threads(&region, crew);
    else
        run_here(&region);
    pace_note(pace, stopwatch_between(began, stopwatch_ns()));
}
