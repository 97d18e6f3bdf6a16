/* bounds.h - the boxes of instances in the world, and finding those that reach into a frustum.
 *
 * Boxes are made by the first call that needs them; entities without a transform have none.
 */
#ifndef MESH_BOUNDS_H
#define MESH_BOUNDS_H

#include "meshes.h"

/* The box of an instance's entity: computed on the spot, from the transform as it is. False where the instance has no
 * box. */
bool mesh_bounds_of(bp_manager_t *m, uint32_t slot, bp_vec3_t *lowest, bp_vec3_t *highest);

/* As bp_mesh_api.seen. */
bp_result_t mesh_bounds_seen(bp_manager_t *m, const bp_frustum_t *frustum, uint32_t *slots, uint32_t capacity,
                             uint32_t *count);

/* Ask for no stamps of transforms any more. */
void mesh_bounds_forget(const bp_changes_api *changes, meshes_t *meshes);

#endif
