/* schedule.h - the step of a world: its units, their order, and running them.
 *
 * A unit is a system, or a component that simulates. The order of units follows their `before` and `after`, and where
 * these leave it open, the order in which the world was given them. The order is settled at the first step after a
 * change; so are the matches of each unit, and which units may run side by side: the order is cut into segments, and
 * the units of a segment wait only for those before them that they conflict with. A unit that is not concurrent is a
 * segment of its own.
 *
 * A unit that may run in parallel has its runs cut into ranges of rows. Results do not depend on the number of threads,
 * because ranges do not depend on it either, because conflicting units keep their order, and because changes of
 * structure are recorded and made in the order of the step (commands.h).
 *
 * Not here: threads (bp_jobs_i).
 */
#ifndef HOST_STEP_SCHEDULE_H
#define HOST_STEP_SCHEDULE_H

#include "../property/property.h"
#include "../store/destruction.h"
#include "../store/query.h"
#include "commands.h"
#include "pace.h"
#include "wants.h"

enum {
    SCHEDULE_LEAST_RANGE = 512,   /* rows of a range: a sixteenth of the run, within these, and a multiple of 64, which
                                     keeps */
    SCHEDULE_RANGE_ROWS = 16384   /* every range's columns aligned */
};

/* The parts of one component that a unit touches: a bit for each field, by its number, and the last bit for the rest of
 * its manager (its own storage, its state). */
enum { ACCESS_WORDS = 4, ACCESS_MANAGER = 255 };
BP_STATIC_ASSERT((int)REGISTRY_MAX_FIELDS <= (int)ACCESS_MANAGER, "the last bit is no field's");
typedef struct access_t {
    uint32_t manager;
    bool named; /* the unit names the component under `writes`, so that no term says which rows it writes */
    uint64_t reads[ACCESS_WORDS], writes[ACCESS_WORDS];
} access_t;

/* How a unit is handed the columns of one of its terms: where, within the columns of the component, the columns lie
 * that the unit asks for. */
typedef struct binding_t {
    uint16_t place;         /* of the term in the query */
    uint16_t first, count;  /* the first column, and how many */
    bool in_row;            /* the columns lie one behind another, none of them absent */
    bool slots;             /* the component has storage of its own */
    const uint16_t *places; /* of each, TERM_ABSENT where the component lacks it */
    void *const *absent;    /* what the unit is handed where entities lack the component */
    void **own;             /* the same for what belongs to the world itself: where its values lie in this step (and
                               `absent` is this); NULL: of entities, or all terms are the world's */
} binding_t;

/* The work that one thread takes at a time: whole matches, or a range of the rows of one match. */
typedef struct task_t {
    uint32_t match, end;   /* matches `match` to `end` - 1 */
    uint32_t first, count; /* count > 0: these rows of `match` */
    uint32_t call;         /* number of its first call in the step */
} task_t;

/* The entities that the state of a system has been told of and that, as far as it was told, still match: all of them
 * in `entities`, or, where `living` is there, those of them that have died. */
typedef struct known_t {
    bp_entity_t *entities;
    uint32_t count, capacity; /* where `living` is there, `entities` has room for all */
    uint64_t *living;         /* a bit for each index whose entity lives and is known */
    uint32_t bound;           /* indices that have a bit */
} known_t;

/* Entities that have come to match or ceased to, of which a unit has not heard, since its plugin is set aside: from its
 * being told until all have been told. */
typedef struct unheard_entity_t {
    bp_entity_t entity;
    bool added;
} unheard_entity_t;

typedef struct unheard_t {
    unheard_entity_t *items;
    uint32_t count, capacity;
} unheard_t;

typedef struct unit_t {
    const char *name;
    struct schedule_t *schedule;
    manager_t *manager; /* a component that simulates, or NULL: */
    system_t *system;   /* a system */
    verb_system_t verb; /* what the system's verbs are called with */
    listener_t listener; /* of deaths, where the system asks for them */

    query_t *query;     /* NULL where no term is of this world, or the unit is not settled */
    struct bp_query_o **beside; /* queries over other worlds, by the first term of each; NULL until one is asked for */
    uint32_t beside_count;
    binding_t *bindings; /* of each term */
    uint16_t *places;   /* of all fields of all terms */
    void **own;         /* where the values of the world itself lie, by the numbers of `places` */
    uint32_t binding_capacity, place_capacity, own_capacity;
    bool as_they_lie;   /* columns of all terms lie in a row, and none has slots */
    bool has_slots;     /* some have */
    bool has_own;       /* some terms are of the world itself, beside others that are not */
    bool parallel;      /* its runs are cut into ranges */
    bool concurrent;    /* may run beside others */
    bool reserves;      /* memory is taken before a step: for tasks, or for all matches in one call */
    bool starved;       /* in the middle of this step there was not enough of it: the unit makes do with what it has */
    bool told;          /* the unit has been told of the entities that matched when it came */
    known_t known;      /* not `told`, and some are there: the unit is to be told of the difference (a state that has
                           come back, a system that is output and suspended, one whose plugin is set aside) */
    unheard_t unheard;
    uint32_t subscription; /* the subscription by which the unit is told who matches; BP_NONE: the unit is not told */
    uint32_t place;     /* of its name among what the world wants; good while `placed` is one more than wants.changes */
    uint32_t placed;
    bool leaving;       /* the unit is about to be dropped, and its world looked at without it */
    bool at_home;       /* for a change that is taken back: the unit had all that it asks for before */
    access_t *access;   /* by number of manager */
    uint32_t access_count, access_capacity;
    uint32_t *followers; /* units of the segment that wait for this one: their places in the order */
    uint32_t follower_count, follower_capacity;
    uint32_t awaited;   /* units that this one waits for */
    uint64_t moment;    /* of this step, where the world keeps stamps; the stamp of the values that the unit writes */

    bp_match_t *matches;      /* of run_all; built anew each step */
    void *const **columns;    /* term_count for each match */
    uint32_t match_capacity, column_capacity;
    uint32_t match_room;      /* matches of the query for which all of these arrays have room */
    void **gathered;          /* columns of terms that do not lie in a row */
    const uint32_t **slots;   /* as `columns`, where the unit has any */
    uint32_t gathered_capacity, slot_capacity;
    uint32_t first_call;      /* number of its first call in the step */
    task_t *tasks;            /* of a step on several threads */
    uint32_t task_count, task_capacity;
    _Atomic uint32_t waits, next_task, tasks_left;
    _Atomic uint64_t busy;    /* nanoseconds in this step, all threads together */

    uint64_t steps, nanoseconds, rows;
    uint64_t expected;        /* nanoseconds of a step, from the last ones */
} unit_t;

/* Units that follow each other in the order and do not have to be alone. */
typedef struct segment_t {
    uint32_t first, count;
    bool shared;         /* on several threads, if there are */
    bool commands_first; /* the commands recorded so far are made before the segment begins */
    pace_t pace;
} segment_t;

/* The parts that all worlds of a host share while they step. */
typedef struct crew_t {
    bp_jobs_i jobs;
    struct trace_t *trace; /* NULL: no slices of time are put down */
    struct audit_t *audit; /* NULL: no audit */
    bool recomputing;      /* steps of the past are computed again: units that are output are left out */
} crew_t;

/* A clock's speed lies between these. */
#define SPEED_LEAST 1e-6
#define SPEED_MOST 1e6

typedef struct world_clock_t {
    double step_rate, time;
    uint64_t steps, nanoseconds; /* done; spent */
    double speed;                /* as bp_clock_t says, these three */
    uint64_t granted;
    bool stopped;
    bool summed;                 /* the time is not steps / step_rate: there was another rate before */
} world_clock_t;

/* To be called after steps, time or rate have been written: notes whether the time is steps / step_rate. */
static inline void world_clock_settle(world_clock_t *clock)
{
    clock->summed = clock->time != (double)clock->steps / clock->step_rate;
}

/* May the world take a step? */
static inline bool world_clock_runs(const world_clock_t *clock)
{
    return !clock->stopped || clock->granted > 0;
}

typedef struct schedule_t {
    world_t *world;
    world_clock_t *clock;
    destruction_t *destruction;
    memory_t memory;
    unit_t **units; /* in the order of the step once settled */
    uint32_t count, capacity;
    query_t **queries; /* each shared by the units that match the same */
    uint32_t query_count, query_capacity;
    segment_t *segments;
    uint32_t segment_count, segment_capacity;
    bool starves;        /* some units are unit_t.starved */
    bool settled;
    bool all_concurrent; /* its units may run beside those of other worlds */
    bool subscribed;     /* the subscriptions are those of the present units */
    bool has_own;        /* some units are handed what belongs to the world itself */
    uint32_t least_range; /* SCHEDULE_LEAST_RANGE; tests of threads that have few rows make it less */
    pace_t together;     /* the pace of all worlds side by side, where this is the first of them */

    /* while the world steps: */
    const crew_t *crew;
    bp_step_t now;
    uint32_t calls;
    uint32_t part; /* number of the world among those that step side by side */
    uint64_t began; /* by the clock; 0: the step has nothing to do, and is not measured */
    uint64_t read;  /* the clock as it was read last; 0: work has been done since that must not count for the next
                       unit */
    uint64_t moment;   /* of the world when the step began; units have moments of their own after it (unit_moment) */
    commands_t commands;
    messages_t messages;

    struct bp_query_o *kept; /* queries of plugins and embedders (queries.h) */
} schedule_t;

/* How a clock stands. */
typedef struct clock_stand_t {
    uint64_t granted;
    bool stopped;
} clock_stand_t;

/* A world: rows that have a clock, and units that work on them. */
struct bp_world_o {
    world_t rows;
    world_clock_t clock;
    clock_stand_t in_the_past, before; /* at the moment that the host went to last, and before it went
                                          (engine/table_history.c) */
    uint64_t made;           /* so many worlds had been made in the host with this one */
    property_cache_t names;
    wants_t wants;
    schedule_t *schedule;
};

BP_STATIC_ASSERT(offsetof(struct bp_world_o, rows) == 0, "a world begins with its head, and world_handle counts on it");

/* A world without managers and units; `seed` and `layout` as world_init says. NULL when out of memory. */
bp_world_o *schedule_create_world(const world_parts_t *parts, destruction_t *destruction, const char *name,
                                  double step_rate, uint64_t seed, uint32_t layout);

/* The listeners among the units of a world, one by one (as destruction_t.unit says). */
bool schedule_listener(world_t *world, uint32_t index, listener_t **listener);

/* How the unit of a system that asks for deaths is told of them; the world is not set. */
listener_t unit_listener(unit_t *unit);

/* Stops all systems and then all managers, newest first, and frees the world. */
void schedule_free_world(bp_world_o *world);

/* Bring in a component that has come to the world (nothing where it does not simulate), or a system. [main] */
bp_result_t schedule_add_manager(schedule_t *schedule, manager_t *manager);
bp_result_t schedule_add_system(schedule_t *schedule, system_t *system);

/* Does a component that is about to come to the world have all that the world's systems ask for? [main] */
bp_result_t schedule_admit_component(schedule_t *schedule, const component_t *component);

/* Must unit `b`, which comes later in the order of a step, wait for unit `a`, and why? Returns false where it may
 * overtake. The first component that both touch and one of them writes is told by number of its manager, with the bit
 * of its part (access_t); BP_NONE as the manager: the order is a wish of one of the two. The order has been settled.
 * [main] */
bool schedule_waits(const unit_t *a, const unit_t *b, uint32_t *manager, uint32_t *part);

/* The place among the units where one of that name belongs, by the order in which the world wants them. [main] */
uint32_t schedule_place(const schedule_t *schedule, const char *name);

/* Tell a system that its world has gone to another moment: where its clock is now. Does nothing where the system does
 * not ask. [main] */
void unit_call_rewound(unit_t *unit);

/* Could the world still step without this component, or system (the other is NULL)? Returns BP_OK also where the world
 * cannot step as it is. The error names the unit that could not go on. [main] */
bp_result_t schedule_check_without(schedule_t *schedule, manager_t *manager, const system_t *system);

/* Could the world step without the units and managers that are marked as leaving? The error says what could not go on.
   [main] */
bp_result_t schedule_check_leaving(schedule_t *schedule);

/* Put units into the order in which the world wants them, as far as names can say it; the next step settles anew.
   [main] */
void schedule_sort(schedule_t *schedule);

/* Take units out; a system is stopped. [main] */
void schedule_drop_manager(schedule_t *schedule, const manager_t *manager);
void schedule_drop_system(schedule_t *schedule, const system_t *system);

/* For reloads: a unit for a manager, not yet in the step, which gets room for `more` units (NULL: out of memory); the
 * end of one that is out of it. Take a unit out of the step, which returns its place, and put it in there again, for
 * which there is room while no other has come; else schedule_reserve_units makes room for `more` (false: out of
 * memory). [main] */
unit_t *schedule_make_unit(schedule_t *schedule, manager_t *manager, uint32_t more);
unit_t *schedule_make_system_unit(schedule_t *schedule, system_t *system, const bp_plugin_t *plugin, uint32_t more);
void schedule_free_unit(schedule_t *schedule, unit_t *unit);
bool schedule_reserve_units(schedule_t *schedule, uint32_t more);
uint32_t schedule_take_out(schedule_t *schedule, const unit_t *unit);
void schedule_put_in(schedule_t *schedule, unit_t *unit, uint32_t at);

/* Check what every unit needs, put the units in order and find out which may run side by side. Errors name the unit and
 * what is missing, or the units that want to be before each other. [main] */
bp_result_t schedule_settle_anew(schedule_t *schedule);
static inline bp_result_t schedule_settle(schedule_t *schedule)
{
    return schedule->settled ? BP_OK : schedule_settle_anew(schedule);
}

/* Why a unit could not be had without a plugin that is not its own, "works on its component", and the name that goes
 * on with that; NULL where it needs nothing of it. [main] */
const char *schedule_need(const unit_t *unit, const plugin_t *plugin, char name[64]);

/* Has the unit of a system what its declaration asks for: the fields of terms, and what it names? [main] */
bp_result_t schedule_check_system(const schedule_t *schedule, const unit_t *unit);

/* Forget what units match: to be called when the columns of a component have changed. The next step settles anew.
 * [main] */
void schedule_unsettle(schedule_t *schedule);

/* Settle, and take all memory that the next step needs: schedule_step then cannot fail, unless something changes in
 * between. [main] */
bp_result_t schedule_prepare(schedule_t *schedule);

/* Settle, and tell systems what changes for them, if both have not been done since units came or went. The next step
 * would otherwise begin with this. [main] */
bp_result_t schedule_attune(schedule_t *schedule);

/* Note in `known`, which is empty, what the state of a unit's system has been told of, as a list. False when out of
 * memory. [main] */
bool known_note(known_t *known, unit_t *unit);

/* The same by bits, for when that state comes back after another one: a thirtieth of the memory is written, and until
 * known_return all deaths have to be told to known_died. [main] */
bool known_mark(known_t *known, unit_t *unit);
void known_died(known_t *known, const bp_entity_t *dead, uint32_t count);

/* The state that knows `known`, which becomes empty, is in place again. [main] */
void known_return(known_t *known, unit_t *unit);
void known_free(known_t *known, world_t *world);

/* Tell systems whose state has come back of what has come and gone meanwhile. Where that fails for lack of memory, they
 * are told before the next step, or that step fails. [main] */
void schedule_tell_returned(schedule_t *schedule);

/* The world is about to go to another moment, and may compute steps of its past again: tell systems that are output of
 * nothing, until the next step that is not computed again or schedule_tell_outputs tells them of the difference. Does
 * nothing for systems that are suspended already. Errors: memory; the world need not go anywhere afterwards. [main] */
bp_result_t schedule_suspend_outputs(schedule_t *schedule);

/* Tell systems that are output of the difference between what they have been told of and what matches now; where memory
 * lacks, the next step does. [main] */
void schedule_tell_outputs(schedule_t *schedule);

/* Put the units in the order in which another schedule, which has units of the same names, has them: equal wishes are
 * settled in the order given. False where it has others. [main] */
bool schedule_arrange_like(schedule_t *schedule, const schedule_t *other);

/* The same by a list of their names. */
bool schedule_arrange_by(schedule_t *schedule, const wants_t *units);

/* Matches are looked for anew in all runs: after runs have gone. */
void schedule_forget_runs(schedule_t *schedule);

/* One step and the collection after it. [main] */
bp_result_t schedule_step(schedule_t *schedule, const crew_t *crew);

/* One step of several worlds side by side; all have been prepared, and all their units are concurrent. The work after
 * the units is done world by world, in this order. Errors: memory, before anything has begun. [main] */
bp_result_t schedule_step_together(schedule_t *const *schedules, uint32_t count, const crew_t *crew);

#endif
