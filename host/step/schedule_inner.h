/* schedule_inner.h - what the files of a step share: the order of units, regions, a unit's ranges and calls, and which
 * systems are told of matches.
 *
 * Inner to schedule.c, settle.c, order.c, unit.c, region.c, notify.c, step.c and schedule_check.c.
 */
#ifndef HOST_STEP_SCHEDULE_INNER_H
#define HOST_STEP_SCHEDULE_INNER_H

#include "../os/stopwatch.h"
#include "schedule.h"

/* A crew's clock: slices of a trace are told by the system's clock, all else is lengths of time. [any] */
static inline uint64_t crew_clock(const struct trace_t *trace)
{
    return trace == NULL ? stopwatch_ns() : os_clock_ns();
}

/* Must unit `a` come before unit `b`, because one of the two says so? [main] */
bool order_precedes(const unit_t *a, const unit_t *b);

/* Sort units: always the first in the order given that no other unplaced unit must precede. Errors: state, where wishes
 * form a circle; the text names its units; memory. Nothing has changed then. [main] */
bp_result_t order_units(schedule_t *schedule);

/* Cut the order into segments and find which units wait for which in each. Precondition: accesses are known. False when
   out of memory. [main] */
bool order_segments(schedule_t *schedule);

/* --- region ------------------------------------------------------------------------------------------------------ */

/* Units that may run side by side, on the threads of a crew.
 *
 * Not here: the order of units, and which unit waits for which (order_units, order_segments).
 */

enum { REGION_ROW_NS = 2 }; /* what a row is taken to cost before it has been measured */

/* Units of one world that run side by side: a segment, or all of a world's. */
typedef struct region_part_t {
    schedule_t *schedule;
    uint32_t first, count;
} region_part_t;

/* Run the units of all parts. Their memory has been taken (unit_run_prepare). Units wait for those of the same part
 * only. `pace` remembers between steps whether threads pay for just these units. [main] */
void region_run(const region_part_t *parts, uint32_t count, const crew_t *crew, pace_t *pace);

/* --- unit run ---------------------------------------------------------------------------------------------------- */

/* One unit in one step: its matches become views of rows, cut into ranges where the unit allows it.
 *
 * A call is one view: a match, or a range of the rows of one. Ranges depend on the number of rows alone, and calls are
 * numbered in the order of the step, so that calls and numbers are the same, whichever thread makes them. A task is
 * what one thread makes at a time: the calls of several small matches, or one range.
 *
 * Not here: the order among units (step.c, region.c), the calls themselves (unit_call_simulate).
 */

/* Does the unit want all its matches in one call? */
static inline bool unit_is_together(const unit_t *unit)
{
    return unit->system != NULL && unit->system->table.run_all != NULL;
}

/* Match the runs that have come since the last step, and take the memory that running the unit needs. False when out of
 * memory. [main] */
bool unit_run_reserve(schedule_t *schedule, unit_t *unit);
static inline bool unit_run_prepare(schedule_t *schedule, unit_t *unit)
{
    return (unit->query == NULL || query_refresh(unit->query, schedule->world)) &&
           (!unit->reserves || unit_run_reserve(schedule, unit));
}

/* Run the unit, all of it. [main] */
void unit_run(unit_t *unit);

/* Cut the unit's work into tasks, at least one, and number its calls; then make one of them. [main], [job] */
void unit_run_cut(unit_t *unit);
void unit_run_task(unit_t *unit, const task_t *task);

/* The moment of a unit of the step that is going on: the values that the unit writes get that stamp. Commands that are
 * made before a unit have a moment between that of the unit before and its own; those made last come after all
 * units. */
static inline uint64_t unit_moment(const schedule_t *schedule, uint32_t place)
{
    return schedule->moment + 2 * ((uint64_t)place + 1);
}

/* Stamp the columns that the unit says it writes, at the unit's moment. [main] */
void unit_stamp_writes(const unit_t *unit);

/* Rows of all matches. */
uint64_t unit_run_rows(const unit_t *unit);

/* A term after its fields have been found: `places` of `count` fields, TERM_ABSENT for one that the component lacks;
 * the term lies at `place` in the canonical order of its query. */
binding_t binding_of(const uint16_t *places, uint32_t count, uint8_t place, bool own_storage);

/* The columns of all terms of a match from `row` on, and their slots where that is not NULL. Addresses of its own a
 * term gets in `shifted`; returns how many were used. */
uint32_t bindings_columns(const binding_t *bindings, uint32_t term_count, const run_t *run, const query_cell_t *cells,
                          uint32_t row, void **shifted, void *const **columns, const uint32_t **slots);

/* Let a binding hand over what belongs to the world itself: `own` has room for its fields. */
void binding_take_own(binding_t *binding, void **own);

/* Find where these values lie at present; `terms` are those of the query. Precondition: the world has their managers.
 * [main] */
void bindings_find_own(const world_t *world, const binding_t *bindings, uint32_t count, const query_term_t *terms);

/* The run and the first column of the values of the world itself that a binding hands over. */
run_t *binding_own_run(const world_t *world, const binding_t *binding, const query_term_t *terms, uint32_t *first);

/* The value of binding_t.absent for a term with fields. [any] */
void *const *unit_absent_columns(void);

/* --- unit call --------------------------------------------------------------------------------------------------- */

/* The one place where verbs of a plugin's units are called.
 *
 * Code that must run around each such call (a guard against crashes, a measure, a check) belongs here. The views that
 * are handed over have been made ready by unit.c.
 *
 * Not here: when a unit is called, and on which rows (step.c, unit.c).
 */

/* Begin and end of a system in its world; a component's manager is started and stopped by the world. An error says why,
 * and in which world. [main] */
bp_result_t unit_call_start(unit_t *unit, world_t *world);
void unit_call_ready(unit_t *unit, world_t *world, const bp_plugin_t *plugin); /* set what the unit's verbs are
                                                                                  handed */
void unit_call_stop(unit_t *unit);

/* Call the unit's part of a step. [main], or [job] where the unit allows it */
void unit_call_simulate(unit_t *unit, const bp_run_t *run);
void unit_call_run(unit_t *unit, const bp_match_t *match);
void unit_call_run_all(unit_t *unit, const bp_step_t *step, const bp_match_t *matches, uint32_t count);

/* Tell a system which entities match now, or no longer do; does nothing where the system does not ask. [main] */
void unit_call_told(unit_t *unit, bool added, const bp_entity_t *entities, uint32_t count);

/* A system's part of a report. For a component nothing is done: its manager is asked elsewhere. [main] */
void unit_call_report(unit_t *unit, bp_report_o *report);

/* --- notify ------------------------------------------------------------------------------------------------------ */

/* Telling systems which entities have begun to match their terms, and which no longer do.
 *
 * The store writes the moves down (store/notices.h); systems with the same requirements share one subscription. Systems
 * are told before the units of a step, and after commands that a unit had made first. A system that has just come is
 * told of all entities that match.
 *
 * Where no system asks, no moves are written down and there is nothing to tell.
 */

/* After settling: subscribe what the units ask for. Systems that were there before are told first of the moves written
 * down, and then of the changes that come from terms which mean something else now. Errors: memory; the former
 * subscriptions are kept then. [main] */
bp_result_t notify_refresh_now(schedule_t *schedule);
static inline bp_result_t notify_refresh(schedule_t *schedule)
{
    return schedule->subscribed ? BP_OK : notify_refresh_now(schedule);
}

/* Tell all systems; rows do not move meanwhile. [main] */
void notify_subscribers(schedule_t *schedule);
static inline void notify_systems(schedule_t *schedule)
{
    if (schedule->world->notices != NULL)
        notify_subscribers(schedule);
}

#endif
