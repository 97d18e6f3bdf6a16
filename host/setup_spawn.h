/* setup_spawn.h - who lives in the worlds of an ini.
 *
 * Inner to setup*.c.
 */
#ifndef HOST_SETUP_SPAWN_H
#define HOST_SETUP_SPAWN_H

#include "setup_ini.h"

/* Spawn the scenes of the new worlds; then the [spawn] sections. */
bp_result_t setup_spawn_scenes(setup_t *s);
bp_result_t setup_spawn_all(setup_t *s);

/* Destroy what these spawned; and free the lists of it. */
void setup_end_spawned(setup_t *s);
void setup_release_spawned(setup_t *s);

#endif
