/* region.h - units that may run side by side, on the threads of a crew.
 *
 * What it does not do: it settles no order (order.h); who waits for whom has been found out before.
 */
#ifndef HOST_SCHEDULE_REGION_H
#define HOST_SCHEDULE_REGION_H

#include "schedule.h"

enum { REGION_ROW_NS = 2 }; /* what a row is taken to cost before it has been measured */

/* Units of one world that run side by side: a segment, or all of a world's. */
typedef struct region_part_t {
    schedule_t *schedule;
    uint32_t first, count;
} region_part_t;

/* Run the units of all parts. Their memory has been taken (unit_run_prepare). Units wait for those of the same part only.
 * `pace` remembers between steps whether threads pay for just these units. [main] */
void region_run(const region_part_t *parts, uint32_t count, const crew_t *crew, pace_t *pace);

#endif
