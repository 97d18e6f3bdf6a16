/* camera.h - the fields of the component camera, and the table that its plugin offers: what is to be drawn.
 *
 *     const bp_camera_api *cameras = api->registry->find(host, BP_CAMERA_API, 1);
 *     bp_manager_t *m = api->world->manager(world, api->world->component(world, BP_CAMERA));
 *     cameras->draws(m, entity, draws, capacity, &draw_count);
 *     cameras->effects(m, entity, effects, capacity, &effect_count);
 *
 * A camera is where its entity's transform is and looks along the -z axis of it, with y upwards; how the transform
 * is scaled does not matter. What it shows are the meshes of its world (component mesh); through which effects,
 * the render_data components of its own entity.
 *
 * What it does not do: the plugin draws nothing. Its table answers the questions that a renderer asks each frame.
 */
#ifndef BP_COMPONENTS_CAMERA_H
#define BP_COMPONENTS_CAMERA_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_CAMERA "camera"
#define BP_CAMERA_API "camera"

/* Its fields, in the order of declaration. */
enum {
    BP_CAMERA_ANGLE = 0,  /* float, degrees between bottom and top of the picture */
    BP_CAMERA_ASPECT = 1, /* float, width by height */
    BP_CAMERA_NEAR = 2,   /* float, m */
    BP_CAMERA_FAR = 3     /* float, m */
};

/* One mesh to be drawn. Pointers are good until meshes or entities change. Members are only appended. */
typedef struct bp_camera_draw_t {
    bp_entity_t entity;
    bp_name_t name;                     /* of the mesh in its entity */
    const bp_mesh_resource_t *resource;
    bp_colour_t colour;
    bp_mat4_t world;
    float distance;                     /* from the camera to the middle of the entity, m */
    float padding;
} bp_camera_draw_t;

/* One effect to be applied: the settings of a render_data component (render_data.h). */
typedef struct bp_camera_effect_t {
    bp_name_t name;   /* of the component in the camera's entity */
    bp_name_t effect; /* which effect it sets: its field `effect`, or `name` where that is empty */
    int32_t order;
    float intensity;
    bp_colour_t colour;
    float near_distance, far_distance, exponent, radius, softness;
    float padding;
} bp_camera_effect_t;

/* What its entries return, for the `returns` of bp_table_t. */
#define BP_CAMERA_RETURNS "rrr"

typedef struct bp_camera_api {
    uint32_t struct_size;
    uint32_t version;

    /* The matrix from world space to the clip space of the camera: depth from -1 to 1, right-handed, columns.
     * BP_ERROR_NOT_FOUND where the entity has no camera or no transform, BP_ERROR_RANGE where it is scaled to nothing
     * or beyond all numbers, or its far plane is not behind the near one. [main] */
    bp_result_t (BP_CALL *matrix)(bp_manager_t *m, bp_entity_t camera, bp_mat4_t *view_projection);

    /* The meshes that the camera sees, the nearest first. `*count` is their number, which may exceed `capacity`; at
     * most `capacity` are written, and then in no order. Errors as above, and BP_ERROR_MEMORY. [main] */
    bp_result_t (BP_CALL *draws)(bp_manager_t *m, bp_entity_t camera, bp_camera_draw_t *draws, uint32_t capacity,
                                 uint32_t *count);

    /* The effects of the camera's entity that are enabled, in ascending order; those of the same order by name.
     * Returns likewise. [main] */
    bp_result_t (BP_CALL *effects)(bp_manager_t *m, bp_entity_t camera, bp_camera_effect_t *effects, uint32_t capacity,
                                   uint32_t *count);
} bp_camera_api;

#ifdef __cplusplus
}
#endif
#endif
