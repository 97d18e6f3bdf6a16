/* transform.h - the properties of the component transform, and the table that its plugin offers.
 *
 *     const bp_transform_api *transforms = api->registry->find(host, BP_TRANSFORM_API, 1);
 *     bp_manager_t *m = api->world->manager(world, api->world->component(world, BP_TRANSFORM));
 *     transforms->set_local(m, slots, count, positions, NULL, NULL);
 *     const bp_mat4_t *world_matrices = transforms->world(m);
 *
 * The table works on slots, the numbers of instances: a system that names transform in its terms is handed
 * them as a column, others get them from bp_world_api.slots. Every slot must be one of the manager's, below
 * its count.
 *
 * World matrices are right at any time: they are computed at once when a local pose changes. A matrix is
 * translation * rotation * scale, column-major, for column vectors.
 *
 * What it does not do: transforms are not linked to each other yet; local and world pose are the same pose.
 */
#ifndef BP_COMPONENTS_TRANSFORM_H
#define BP_COMPONENTS_TRANSFORM_H

#include "../bp_component.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_TRANSFORM "transform"
#define BP_TRANSFORM_API "transform"

/* Its properties, in the order of declaration. */
enum {
    BP_TRANSFORM_POSITION = 0, /* bp_vec3_t, m */
    BP_TRANSFORM_ROTATION = 1, /* bp_quat_t, kept at length 1 */
    BP_TRANSFORM_SCALE = 2,    /* bp_vec3_t */
    BP_TRANSFORM_WORLD = 3     /* bp_mat4_t, read only */
};

typedef struct bp_transform_api {
    uint32_t struct_size;
    uint32_t version;

    /* Set local poses: the parts of the instance in slots[i] to positions[i], rotations[i] and scales[i]; an
     * array that is NULL leaves that part as it is. Rotations are brought to length 1. All or nothing:
     * BP_ERROR_RANGE where a rotation has no direction (length 0, or not finite). [main] */
    bp_result_t (*set_local)(bp_manager_t *m, const uint32_t *slots, uint32_t count,
                             const bp_vec3_t *positions, const bp_quat_t *rotations,
                             const bp_vec3_t *scales);

    /* Read local poses; an array that is NULL is not written. [job] while nothing is set or moved */
    void (*local)(bp_manager_t *m, const uint32_t *slots, uint32_t count, bp_vec3_t *positions,
                  bp_quat_t *rotations, bp_vec3_t *scales);

    /* The world matrices, indexed by slot. Borrowed: good until an instance is made or ended, or gc has run;
     * NULL while there are none. [job] while nothing is set or moved */
    const bp_mat4_t *(*world)(bp_manager_t *m);
} bp_transform_api;

#ifdef __cplusplus
}
#endif
#endif
