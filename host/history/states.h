/* states.h - the states of managers, systems and plugins: written down, and brought back, as each says that it is kept.
 *
 * Bringing back has two parts. The first makes what is to come beside what is there, and can fail; the second puts it
 * in place and ends what was there, and cannot. A manager sees the world only in the second.
 *
 * What it does not do: rows (restore.h).
 */
#ifndef HOST_HISTORY_STATES_H
#define HOST_HISTORY_STATES_H

#include "snapshot.h"

/* How a state is kept, BP_KEEP_...; who cannot have one has nothing to say. */
uint32_t state_road_of_manager(const manager_t *manager);
uint32_t state_road_of_system(const system_t *system);
uint32_t state_road_of_plugin(const plugin_t *plugin);

/* Append it to a snapshot. Errors: what the owner's `save` says; memory is seen by the writer. [main] */
bp_result_t state_put_manager(const parts_t *parts, bytes_t *bytes, manager_t *manager);
bp_result_t state_put_system(const parts_t *parts, bytes_t *bytes, unit_t *unit);
bp_result_t state_put_plugin(const parts_t *parts, bytes_t *bytes, plugin_t *plugin);

/* A state on its way back. Exactly one of the first three is set. */
typedef struct state_back_t {
    manager_t *manager;
    unit_t *unit;
    plugin_t *plugin;
    const kept_state_t *kept;
    uint32_t version; /* of the manager's component */
    void *made;       /* by `start`, and filled by `load` */
    bool began;       /* there is such a one */
} state_back_t;

/* Make what is to come. On failure it is as if nothing had been done. [main] */
bp_result_t state_prepare(const parts_t *parts, state_back_t *state);

/* End what was made; or put it in place, and end what was there. Cannot fail. [main] */
void state_cancel(state_back_t *state);
void state_commit(const parts_t *parts, state_back_t *state);

#endif
