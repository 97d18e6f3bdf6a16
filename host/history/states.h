/* states.h - the states of managers, systems and plugins: written down, and brought back, in the way that each declares
 * (BP_KEEP_...).
 *
 * Bringing back has two parts. The first makes the new states beside the present ones, and can fail; the second puts
 * them in place and ends the former ones, and cannot fail. A manager sees the world only in the second.
 *
 * Not here: rows (restore.h).
 */
#ifndef HOST_HISTORY_STATES_H
#define HOST_HISTORY_STATES_H

#include "snapshot.h"

/* How a state is kept, BP_KEEP_...; BP_KEEP_NOTHING for an owner that cannot have a state. */
uint32_t state_road_of_manager(const manager_t *manager);
uint32_t state_road_of_system(const system_t *system);
uint32_t state_road_of_plugin(const plugin_t *plugin);

/* Append a state to a snapshot, under the writer's key. Errors: those of the owner's `save`; memory is seen by the
 * writer. [main] */
bp_result_t state_put_manager(snapshot_writer_t *writer, manager_t *manager);
bp_result_t state_put_system(snapshot_writer_t *writer, unit_t *unit);
bp_result_t state_put_plugin(snapshot_writer_t *writer, plugin_t *plugin);

/* A state on its way back. Exactly one of the first three is set. */
typedef struct state_back_t {
    manager_t *manager;
    unit_t *unit;
    plugin_t *plugin;
    const kept_state_t *kept;
    uint32_t version; /* of the manager's component */
    void *made;       /* by `start`, and filled by `load` */
    bool began;       /* `start` has made a state, in `made` */
} state_back_t;

/* Make the new state. On failure nothing has changed. [main] */
bp_result_t state_prepare(const parts_t *parts, state_back_t *state);

/* state_cancel: end the new state. state_commit: put the new state in place, and end the former one. Cannot fail.
 * [main] */
void state_cancel(state_back_t *state);
void state_commit(const parts_t *parts, state_back_t *state);

#endif
