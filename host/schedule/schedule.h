/* schedule.h - the step of a world: its units, their order, and running them.
 *
 * A unit is a system, or a component that simulates. The order of units follows their `before` and `after`, and where
 * these leave it open, the order in which the world was given them. It is settled at the first step after a change.
 *
 * A unit that may run in parallel has its runs cut into ranges of rows, which are handed to the host's jobs; results do
 * not depend on the number of threads, because the ranges do not.
 *
 * What it does not do: units do not run beside each other yet, one after another is the rule.
 */
#ifndef HOST_SCHEDULE_SCHEDULE_H
#define HOST_SCHEDULE_SCHEDULE_H

#include "../entity/destruction.h"
#include "../entity/query.h"

enum {
    SCHEDULE_RANGE_ROWS = 16384, /* rows of a range; a multiple of 64 keeps every range's columns aligned */
    SCHEDULE_MAX_COLUMNS = 512   /* a match with more columns is not cut into ranges */
};

typedef struct unit_t {
    const char *name;
    manager_t *manager; /* a component that simulates, or NULL: */
    system_t *system;   /* a system */
    bp_system_t seen;   /* what the system's verbs are handed */
    query_t query;
    bp_match_t *matches;      /* of run_all; built anew each step */
    void *const **columns;    /* term_count for each match */
    uint32_t match_capacity, column_capacity;
    uint64_t steps, nanoseconds, rows;
    bool placed; /* while ordering */
} unit_t;

typedef struct schedule_t {
    bp_world_o *world;
    destruction_t *destruction;
    memory_t memory;
    unit_t **units; /* in the order of the step once settled */
    uint32_t count, capacity;
    bool settled;
} schedule_t;

/* The schedule of a world; sets world->schedule. NULL when out of memory. */
schedule_t *schedule_create(bp_world_o *world, destruction_t *destruction);

/* Stops all systems, newest first, and frees the schedule. */
void schedule_free(schedule_t *schedule);

/* Bring in a component that has come to the world (nothing where it does not simulate), or a system. [main] */
bp_result_t schedule_add_manager(schedule_t *schedule, manager_t *manager);
bp_result_t schedule_add_system(schedule_t *schedule, system_t *system);

/* Take units out; a system is stopped. [main] */
void schedule_drop_manager(schedule_t *schedule, const manager_t *manager);
void schedule_drop_system(schedule_t *schedule, const system_t *system);

/* Check what every unit needs and put the units in order. Errors name the unit and what is missing. [main] */
bp_result_t schedule_settle(schedule_t *schedule);

/* Settle, and take all memory that the next step needs: schedule_step then cannot fail, unless something changes in
 * between. [main] */
bp_result_t schedule_prepare(schedule_t *schedule);

/* One step and the collection after it. [main] */
bp_result_t schedule_step(schedule_t *schedule, const bp_jobs_i *jobs);

#endif
