/* schedule_check.h - are the invariants of a world's step true?
 *
 * The heads of schedule.h, order.c, settle.c and messages.h say what always holds once the units of a world are
 * settled, and of channels between two steps. Each of these is checked here: the order of the units, their segments,
 * which units wait for which, what units touch, and the places of fields in messages. Tests call the check; builds with
 * BACKPLANE_AUDIT (the sanitizer builds and AUDIT=1) make it after each step, as store/world_check.h does for the rows.
 *
 * Not here: mending; whether plugins touch what they say (audit.h).
 */
#ifndef HOST_STEP_SCHEDULE_CHECK_H
#define HOST_STEP_SCHEDULE_CHECK_H

#include "schedule.h"

/* True where all invariants hold. Otherwise `text` receives a sentence that names the first that does not. The time is
 * that of comparing all pairs of units. Between steps only. [main] */
bool schedule_check(const schedule_t *schedule, char *text, size_t size);

#if defined(BACKPLANE_AUDIT)

/* Make the check; where an invariant does not hold the process ends with that sentence on stderr. A step of more than
 * SCHEDULE_CHECK_UNITS units is looked at once in SCHEDULE_CHECK_SHARE steps. [main] */
enum { SCHEDULE_CHECK_UNITS = 16, SCHEDULE_CHECK_SHARE = 64 };
void schedule_assert(const schedule_t *schedule);

#else

static inline void schedule_assert(const schedule_t *schedule)
{
    (void)schedule;
}

#endif
#endif
