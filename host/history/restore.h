/* restore.h - a host brought back to what a snapshot says: all of it, or nothing.
 *
 * Everything that can fail comes first: room for rows and records, the cells that hold something outside themselves,
 * prototypes in the order of then, and the states that plugins load. What follows is copying, and cannot fail.
 *
 * Runs keep their addresses where their prototype is the same as then, so that bringing back costs a copy; references
 * and resolved properties look again. Runs that were not there yet are emptied and wait in the attic of their world.
 *
 * The host must be made of the same worlds, managers, units and plugins as when the snapshot was taken, in the same
 * order and with the same columns; what differs is named. Entities of the snapshot carry the tag of the host that they
 * were written down from, and this host has that tag from then on.
 *
 * What it does not do: it ends no reload that is under way (history.h).
 */
#ifndef HOST_HISTORY_RESTORE_H
#define HOST_HISTORY_RESTORE_H

#include "snapshot.h"

/* Errors: state, where the host is made of other parts; memory; what a plugin's `start` or `load` says. [main], between
 * steps */
bp_result_t snapshot_restore(const parts_t *parts, const snapshot_t *snapshot);

/* Tell systems that want to know where their worlds are now. [main], between steps */
void snapshot_tell(const parts_t *parts);

/* Is the host made of what the snapshot was made of? Else the error says where not. */
bp_result_t snapshot_fits(const parts_t *parts, const snapshot_t *snapshot);

/* --- for restore.c: one world (restore_world.c) ------------------------------------------------------------------- */

typedef struct run_back_t {
    run_t *run;
    bool made;    /* for this; else it is a run of the world, or of its attic */
    void **cells; /* of each column, those that hold something outside themselves; NULL: none */
} run_back_t;

typedef struct world_back_t {
    bp_world_o *world;
    const kept_world_t *kept;
    prototypes_t prototypes;
    bool made_prototypes;
    uint8_t *same;    /* by number of prototype: it is what the world has under that number */
    run_back_t *runs;
    uint32_t attic_taken; /* of the attic, from its end */
    uint32_t layout;  /* 0: the present one stays */
} world_back_t;

bp_result_t world_back_prepare(world_back_t *back, bp_world_o *world, const kept_world_t *kept,
                               uint32_t *layouts);
void world_back_commit(world_back_t *back);
void world_back_free(world_back_t *back); /* what it holds; after a commit, or instead of one */

#endif
