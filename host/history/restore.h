/* restore.h - a host brought back to the state in a snapshot: all of it, or nothing.
 *
 * Everything that can fail comes first: room for rows and records, the cells that hold something outside themselves,
 * prototypes in the order of the snapshot, and the states that plugins load. The rest is copying, and cannot fail.
 *
 * Runs keep their addresses where their prototype is the same as in the snapshot, so that bringing back costs a copy;
 * references and resolved properties look again. Runs that the snapshot does not have are emptied and wait in the attic
 * of their world.
 *
 * The host must be made of the same worlds, managers, units and plugins as when the snapshot was taken, with the same
 * columns, and in the same order but for managers: a manager leaves its number unused when its plugin is unloaded, and
 * gets another one when the plugin is loaded again. The error names what differs. Entities of the snapshot carry the
 * tag of the host that they were written down from, and this host has that tag from then on.
 *
 * Not here: ending a reload that is under way (history.h).
 */
#ifndef HOST_HISTORY_RESTORE_H
#define HOST_HISTORY_RESTORE_H

#include "snapshot.h"

/* Errors: state, where the host is made of other parts; memory; what a plugin's `start` or `load` says. [main], between
 * steps */
bp_result_t snapshot_restore(const parts_t *parts, const snapshot_t *snapshot);

/* Steps of the past are about to be computed again, here or in a state brought back: systems that are output are told
 * of nothing until snapshot_tell, or the first step that is not one of the past (schedule_suspend_outputs). Errors:
 * memory. [main], between steps */
bp_result_t snapshot_suspend_outputs(const parts_t *parts);

/* Tell systems that are output what has come to match and what has ceased to, and systems that want to know, where
 * their worlds are now. [main], between steps */
void snapshot_tell(const parts_t *parts);

/* Is the host made of the same parts as the snapshot's? Else the error names a difference. */
bp_result_t snapshot_fits(const parts_t *parts, const snapshot_t *snapshot);

/* The manager that the world has for number `number` of the snapshot: the one at work of that component, or, where it
 * had left the world then, as many-th of those that have left it. NULL where there is none. */
manager_t *restore_manager(const world_t *world, const kept_world_t *kept, uint32_t number);

/* --- for restore.c: one world (restore_world.c) ------------------------------------------------------------------- */

typedef struct run_back_t {
    run_t *run;
    bool made;    /* the run was made for this restore; else it is a run of the world, or of its attic, ... */
    bool renewed; /* ... with other columns now: rows that it got for them go with a restore that fails */
    void **cells; /* of each column, those that hold something outside themselves; NULL: none */
} run_back_t;

/* Is a prototype of the snapshot the world's own one of the same number? BACK_SAME_RUN: yes, and the world's run of it
 * becomes the snapshot's. */
enum { BACK_OTHER = 0, BACK_SAME = 1, BACK_SAME_RUN = 2 };

typedef struct world_back_t {
    bp_world_o *world;
    const kept_world_t *kept;
    prototypes_t prototypes;
    bool made_prototypes;
    uint8_t *same;    /* BACK_..., by number of prototype */
    run_back_t *runs;
    uint32_t attic_taken; /* of the attic, from its end */
    bool same_rows;   /* the world has the same entities in the same rows: records and holes stay */
    bool has_records; /* it had records before it got room for more */
    uint32_t layout;  /* the layout that the world gets; 0: its present one stays */
} world_back_t;

bp_result_t world_back_prepare(world_back_t *back, bp_world_o *world, const kept_world_t *kept,
                               uint32_t *layouts);

/* Make sure that the snapshot's channels exist with all fields, and have room for the records that are to be read.
 * Present records stay. Called last, since plugins may open and close ends until then, by which fields that no end
 * names go. */
bp_result_t world_back_prepare_messages(world_back_t *back);
void world_back_commit(world_back_t *back);
void world_back_free(world_back_t *back); /* frees the memory that it holds; after a commit, or instead of one */

#endif
