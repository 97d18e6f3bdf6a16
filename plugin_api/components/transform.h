/* transform.h - the properties of the component transform, and the table that its plugin offers.
 *
 *     const bp_transform_api *transforms = api->registry->find(host, BP_TRANSFORM_API, 2);
 *     bp_manager_t *m = api->world->manager(world, api->world->component(world, BP_TRANSFORM));
 *     transforms->find(m, entities, count, slots);
 *     transforms->set_local(m, slots, count, positions, NULL, NULL);
 *     const bp_mat4_t *world_matrices = transforms->world(m);
 *
 * An instance has a local pose (position, rotation, scale) and may be linked to a parent, another instance of the
 * same world. Its world matrix is the parent's world matrix times its local matrix, or the local matrix where
 * there is no parent. A local matrix is translation * rotation * scale, column-major, for column vectors. World
 * matrices are right at any time: when a local pose or a link changes, those of the whole subtree are computed
 * before the call returns.
 *
 * Slots. The table works on slots, the numbers of instances: a system that names transform in its terms is handed
 * them as a column, others get them from `find` or bp_world_api.slots. Every slot must be one of the manager's,
 * below its count. Slots change when instances are made or ended, at the end of steps, when properties are set
 * by entity (bp_property_api) and in `pack`: the plugin keeps families together and parents before children.
 * Columns of runs follow; slots that were copied are to be looked up again. No other entry of this table changes
 * them.
 *
 * Death. The children of an instance that ends, because its entity dies or the component is removed, become roots
 * and keep their world pose.
 *
 * What it does not do: no shear. A pose that is to be kept (`link`, the children of the dead) is kept as nearly
 * as position, rotation and scale can say it.
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
    BP_TRANSFORM_WORLD = 3,    /* bp_mat4_t, read only */
    BP_TRANSFORM_PARENT = 4    /* bp_entity_t; {0}: none. Setting it keeps the local pose. A batch links all or
                                  none: BP_ERROR_DEAD, BP_ERROR_NOT_FOUND where a parent has no transform,
                                  BP_ERROR_ARGUMENT where something would be below itself. */
};

/* For link and unlink: the world pose stays, and the local pose changes; else the other way round. */
enum { BP_TRANSFORM_KEEP_WORLD = 1u << 0 };

/* All instances at once, for plugins that derive data from world matrices. Borrowed, and good as long as the world
 * matrices. bp_changes.h tells which of them have changed since the caller looked last. Members are only appended.
 * */
typedef struct bp_transform_view_t {
    uint32_t struct_size;         /* set by the caller to its sizeof */
    uint32_t count;               /* instances */
    const bp_mat4_t *world;       /* by slot, as the rest; all NULL while there are no instances */
    const bp_entity_t *entities;
    const uint32_t *parents;      /* slots, BP_NONE for roots; NULL while no instance has a parent */
} bp_transform_view_t;

/* What its entries return, for the `returns` of bp_table_t. */
#define BP_TRANSFORM_RETURNS "rnpcrrncrn"

typedef struct bp_transform_api {
    uint32_t struct_size;
    uint32_t version;

    /* Set local poses: the parts of the instance in slots[i] to positions[i], rotations[i] and scales[i]; an
     * array that is NULL leaves that part as it is. Rotations are brought to length 1. All or nothing:
     * BP_ERROR_RANGE where a rotation has no direction (length 0, or not finite). World matrices of everything
     * below are computed once each, however many of their ancestors are in the batch. [main] */
    bp_result_t (BP_CALL *set_local)(bp_manager_t *m, const uint32_t *slots, uint32_t count,
                                     const bp_vec3_t *positions, const bp_quat_t *rotations,
                                     const bp_vec3_t *scales);

    /* Read local poses; an array that is NULL is not written. [job] while nothing is set or moved */
    void (BP_CALL *local)(bp_manager_t *m, const uint32_t *slots, uint32_t count, bp_vec3_t *positions,
                          bp_quat_t *rotations, bp_vec3_t *scales);

    /* The world matrices, indexed by slot. Borrowed: good until an instance is made or ended, or gc has run;
     * NULL while there are none. [job] while nothing is set or moved */
    const bp_mat4_t *(BP_CALL *world)(bp_manager_t *m);

    /* --- since version 2 --------------------------------------------------------------------------------- */

    /* The slots of entities, under whatever name they bear their transform; BP_NONE where an entity lacks it or is
     * dead. Returns how many have one. [main] */
    uint32_t (BP_CALL *find)(bp_manager_t *m, const bp_entity_t *entities, uint32_t count, uint32_t *slots);

    /* Make the instance in slots[i] the last child of the one in parents[i], or a root where that is BP_NONE.
     * `flags`: BP_TRANSFORM_KEEP_WORLD or 0. A slot may come twice; the last mention counts. All or nothing:
     * BP_ERROR_ARGUMENT where something would be below itself, BP_ERROR_RANGE where a world pose cannot be kept
     * because the new parent's matrix has no inverse, BP_ERROR_MEMORY. [main] */
    bp_result_t (BP_CALL *link)(bp_manager_t *m, const uint32_t *slots, const uint32_t *parents, uint32_t count,
                                uint32_t flags);

    /* Make instances roots; those that are already are passed over. [main] */
    bp_result_t (BP_CALL *unlink)(bp_manager_t *m, const uint32_t *slots, uint32_t count, uint32_t flags);

    /* The relatives of instances, BP_NONE where there is none; an array that is NULL is not written. Siblings are in
     * the order in which they were linked. [job] while nothing is linked or moved */
    void (BP_CALL *relatives)(bp_manager_t *m, const uint32_t *slots, uint32_t count, uint32_t *parents,
                              uint32_t *first_children, uint32_t *next_siblings, uint32_t *previous_siblings);

    /* The instance in `slot` and all below it, parents before children and siblings in order. Returns their
     * number, which may exceed `capacity`; at most `capacity` are written. [job] likewise */
    uint32_t (BP_CALL *subtree)(bp_manager_t *m, uint32_t slot, uint32_t *slots, uint32_t capacity);

    /* Put families in order now, instead of when it pays: one pass, and slots change. BP_ERROR_MEMORY: all is
     * as it was. [main] */
    bp_result_t (BP_CALL *pack)(bp_manager_t *m);

    /* Fill `view`. [job] while nothing is set or moved */
    void (BP_CALL *view)(bp_manager_t *m, bp_transform_view_t *view);
} bp_transform_api;

#ifdef __cplusplus
}
#endif
#endif
