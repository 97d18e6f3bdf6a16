/* order.h - the order of units in a step, and which of them may run side by side.
 *
 * Inner to settle.c.
 */
#ifndef HOST_SCHEDULE_ORDER_H
#define HOST_SCHEDULE_ORDER_H

#include "schedule.h"

/* Sort units: always the first in the order given that no other unplaced unit must precede. Errors: state, where wishes form
 * a circle, which is told; memory. Nothing has changed then. [main] */
bp_result_t order_units(schedule_t *schedule);

/* Cut the order into segments and find who waits for whom in each; accesses are known. False when out of memory. [main] */
bool order_segments(schedule_t *schedule);

#endif
