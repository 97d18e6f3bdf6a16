/* notify.h - telling systems which entities have come to match their terms, and which no longer do.
 *
 * What happened is written down by the store (entity/notices.h); systems with the same requirements share one watch. Systems
 * are told before the units of a step, and after commands that a unit had made first. One that has just come is told of
 * everything that matches.
 *
 * What it does not do: where no system asks, there is nothing to do and nothing is written down.
 */
#ifndef HOST_SCHEDULE_NOTIFY_H
#define HOST_SCHEDULE_NOTIFY_H

#include "schedule.h"

/* After settling: watch what the units ask for. Systems that were there before are told first of what has happened, and then of
 * what has changed because their terms mean something else now. Errors: memory; what was watched is then still watched. [main] */
bp_result_t notify_settle(schedule_t *schedule);

/* Tell all systems; rows do not move meanwhile. [main] */
void notify_systems(schedule_t *schedule);

#endif
