/* unit_run.h - one unit in one step: its matches become views of rows, cut into ranges where the unit allows it.
 *
 * A call is one view: a match, or a range of the rows of one. Ranges depend on the number of rows alone, and calls are
 * numbered in the order of the step, so that they are the same whoever makes them. A task is what one thread makes at a time:
 * the calls of several small matches, or one range.
 *
 * What it does not do: no order among units (step.c, region.c), no calling itself (unit_call.h).
 */
#ifndef HOST_SCHEDULE_UNIT_RUN_H
#define HOST_SCHEDULE_UNIT_RUN_H

#include "schedule.h"

/* Match what has come since the last step, and take the memory that running the unit needs. False when out of memory. [main] */
bool unit_run_prepare(schedule_t *schedule, unit_t *unit);

/* Run the unit, all of it. [main] */
void unit_run(unit_t *unit);

/* Cut the unit's work into tasks, at least one, and number its calls; then make one of them. [main], [job] */
void unit_run_cut(unit_t *unit);
void unit_run_task(unit_t *unit, const task_t *task);

/* Rows of all matches. */
uint64_t unit_run_rows(const unit_t *unit);

#endif
