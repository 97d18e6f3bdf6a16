/* unit_run.h - one unit in one step: its matches become views of rows, cut into ranges where the unit allows it.
 *
 * A call is one view: a match, or a range of the rows of one. Ranges depend on the number of rows alone, never on the number of
 * threads, so that calls are the same whoever makes them.
 *
 * What it does not do: no order among units (step.c), no calling itself (unit_call.h).
 */
#ifndef HOST_SCHEDULE_UNIT_RUN_H
#define HOST_SCHEDULE_UNIT_RUN_H

#include "schedule.h"

/* Match what has come since the last step, and take the memory that running the unit needs. False when out of memory. [main] */
bool unit_run_prepare(schedule_t *schedule, unit_t *unit);

/* Run the unit, all of it. [main] */
void unit_run(const schedule_t *schedule, unit_t *unit, const bp_step_t *step, const bp_jobs_i *jobs);

#endif
