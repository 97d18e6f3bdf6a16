/* audit.h - the values that units really write, found by comparing cells before and after their calls: to check a
 * plugin against what it has declared.
 *
 * Two questions can be asked of a step. Which unit changes a value that the unit has not declared to write? Every
 * such cell in rows is looked at before and after each unit, and units run one after another. And what does each unit
 * write? The answer is a number for each field that the unit has declared, which is the same whenever the unit writes
 * the same, on any number of threads.
 *
 * Both cost several passes over the columns. A step without an audit costs nothing more.
 *
 * Not here: storage of managers' own, states (both are in snapshots, history/).
 */
#ifndef HOST_STEP_AUDIT_H
#define HOST_STEP_AUDIT_H

#include "schedule.h"

#include <backplane.h>

/* The writes of one unit to one field. */
typedef struct audit_result_t {
    const unit_t *unit;
    uint32_t manager, column;
    uint64_t hash;
} audit_result_t;

typedef struct audit_t {
    base_t *base;
    bool writes;              /* the first question; else the second */
    bp_unit_watch_i watch;    /* of bp_host_watch_units; struct_size 0: units are not watched */
    uint64_t *cells;          /* hashes, before a unit */
    uint32_t cell_count, cell_capacity;
    bool lacking;             /* there was no memory for the hashes */
    uint64_t *told;           /* writes that have been reported, by hashes of their names: addresses and numbers may be
                                 those of others after a reload */
    uint32_t told_count, told_capacity;
    audit_result_t *results;  /* unit by unit, in their order */
    uint32_t result_count, result_capacity;
} audit_t;

void audit_init(audit_t *audit, base_t *base, bool writes);
void audit_free(audit_t *audit);

/* To be called before a step with results to be taken down. Precondition: the world has settled. Call it for each
 * world, after audit_clear. Errors: memory. [main] */
void audit_clear(audit_t *audit);
bp_result_t audit_expect(audit_t *audit, const schedule_t *schedule);

/* Do units have to run one after another, to be looked at? */
static inline bool audit_is_alone(const audit_t *audit)
{
    return audit->writes || audit->watch.struct_size != 0;
}

/* To be called before and after a unit that runs alone: report the values that the unit changes without having declared
 * it. [main] */
void audit_before(audit_t *audit, const unit_t *unit);
void audit_after(audit_t *audit, const unit_t *unit);

/* Take down the writes of a unit. Precondition: the unit is done, and no unit that waits for it has begun. [job] */
void audit_done(audit_t *audit, const unit_t *unit);

#endif
