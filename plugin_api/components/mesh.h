/* mesh.h - the properties of the component mesh, and the table that its plugin offers.
 *
 *     const bp_mesh_api *meshes = api->registry->find(host, BP_MESH_API, 2);
 *     bp_manager_t *m = api->world->manager(world, api->world->component(world, BP_MESH));
 *     const bp_mesh_resource_t *resource;
 *     if (meshes->resource(m, &slot, 1, &resource) == 1)
 *         draw(resource->positions, resource->indices, 3 * resource->triangle_count);
 *
 * An instance says which mesh its entity shows, in what colour, and whether at all. The mesh itself is a
 * resource: an OBJ file, named by its path as seen from the plugin's option `folder`, loaded when the first
 * instance of any world names it, shared by all, and freed with the last reference.
 *
 * Where the entity of an instance also has a transform, the instance has a place in the world, and a box there around
 * what it shows. `seen` lists the instances that have a box reaching into a frustum:
 *
 *     bp_frustum_t frustum = bp_frustum_of(&view_projection, -1);
 *     meshes->seen(m, &frustum, slots, capacity, &count);
 *
 * Boxes are computed when `seen` or `world_bounds` is called, and only those of instances that have moved or changed
 * since the call before: without such changes a call costs a comparison, and before the first call a world has no boxes
 * at all.
 *
 * What it does not do: no normals, texture coordinates or materials; it draws nothing.
 */
#ifndef BP_COMPONENTS_MESH_H
#define BP_COMPONENTS_MESH_H

#include "../bp_component.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_MESH "mesh"
#define BP_MESH_API "mesh"

/* Its properties, in the order of declaration. */
enum {
    BP_MESH_RESOURCE = 0,       /* const char *; "" is none */
    BP_MESH_VISIBLE = 1,        /* uint8_t */
    BP_MESH_COLOUR = 2,         /* bp_colour_t */
    BP_MESH_VERTEX_COUNT = 3,   /* uint32_t, read only, 0 without a resource; so the rest */
    BP_MESH_TRIANGLE_COUNT = 4, /* uint32_t, read only */
    BP_MESH_BOUNDS_MIN = 5,     /* bp_vec3_t, read only, in the mesh's own space */
    BP_MESH_BOUNDS_MAX = 6,     /* bp_vec3_t, read only */
    BP_MESH_WORLD_MIN = 7,      /* bp_vec3_t, read only, in the world; 0 without resource or transform */
    BP_MESH_WORLD_MAX = 8       /* bp_vec3_t, read only */
};

/* A loaded mesh, the plugin's: good while an instance refers to it. Members are only appended; a reader
 * built with a later header asks struct_size before it reads one that may be missing. */
typedef struct bp_mesh_resource_t {
    uint32_t struct_size;
    uint32_t vertex_count;
    uint32_t triangle_count;
    uint32_t padding;
    uint64_t references;     /* instances in all worlds of the host */
    const char *name;
    const float *positions;  /* x, y, z of each vertex */
    const uint32_t *indices; /* three for each triangle, all below vertex_count */
    bp_vec3_t bounds_min;    /* of the vertices that triangles use */
    bp_vec3_t bounds_max;
} bp_mesh_resource_t;

/* Six planes. A point is inside where x * p.x + y * p.y + z * p.z + w >= 0 for each of them. */
typedef struct bp_frustum_t {
    bp_vec4_t planes[6];
} bp_frustum_t;

/* The frustum of a view-projection matrix, which takes world space to clip space (column vectors). `near_depth` is
 * the depth of the near plane there: -1 (OpenGL) or 0 (Vulkan, Direct3D). After Gribb and Hartmann, "Fast extraction
 * of viewing frustum planes from the world-view-projection matrix", 2001. [any] */
static inline bp_frustum_t bp_frustum_of(const bp_mat4_t *view_projection, float near_depth)
{
    const float *m = view_projection->m;
    bp_frustum_t f;
    float rows[4][4], planes[6][4];
    for (int r = 0; r < 4; r++) {
        for (int c = 0; c < 4; c++)
            rows[r][c] = m[4 * c + r];
    }
    for (int c = 0; c < 4; c++) {
        planes[0][c] = rows[3][c] + rows[0][c];
        planes[1][c] = rows[3][c] - rows[0][c];
        planes[2][c] = rows[3][c] + rows[1][c];
        planes[3][c] = rows[3][c] - rows[1][c];
        planes[4][c] = rows[2][c] - near_depth * rows[3][c];
        planes[5][c] = rows[3][c] - rows[2][c];
    }
    for (int i = 0; i < 6; i++) {
        f.planes[i].x = planes[i][0];
        f.planes[i].y = planes[i][1];
        f.planes[i].z = planes[i][2];
        f.planes[i].w = planes[i][3];
    }
    return f;
}

/* What an instance is and shows. Members are only appended. */
typedef struct bp_mesh_look_t {
    bp_entity_t entity;
    bp_name_t name;                     /* of the component in its entity */
    const bp_mesh_resource_t *resource; /* NULL: none */
    bp_colour_t colour;
    uint8_t visible;
    uint8_t padding[7];
} bp_mesh_look_t;

/* What its entries return, for the `returns` of bp_table_t. */
#define BP_MESH_RETURNS "cccrcn"

typedef struct bp_mesh_api {
    uint32_t struct_size;
    uint32_t version;

    /* The resources of the instances in `slots`, NULL where an instance has none. Every slot must be one
     * of the manager's, below its count. Returns how many have one. [job] while nothing is set, made or
     * ended */
    uint32_t (BP_CALL *resource)(bp_manager_t *m, const uint32_t *slots, uint32_t count,
                                 const bp_mesh_resource_t **resources);

    /* Number of resources now loaded, for all worlds of the host. [main] */
    uint32_t (BP_CALL *resource_count)(bp_manager_t *m);

    /* References to the resource of that name, in all worlds of the host; 0 where it is not loaded. [main] */
    uint64_t (BP_CALL *references)(bp_manager_t *m, const char *name);

    /* --- since version 2 --------------------------------------------------------------------------------- */

    /* The instances that are `visible`, show something, have a place in the world, and have a box that reaches into the
     * frustum; in ascending order of slots. A box is around the whole mesh, so instances may be listed of which no
     * triangle is in the frustum; every instance with one in it is listed. `*count` is their number, which may exceed
     * `capacity`; at most `capacity` are written. BP_ERROR_MEMORY. [main] */
    bp_result_t (BP_CALL *seen)(bp_manager_t *m, const bp_frustum_t *frustum, uint32_t *slots, uint32_t capacity,
                                uint32_t *count);

    /* The boxes of instances in the world; 0 0 0 where an instance has none. Returns how many have one. [main] */
    uint32_t (BP_CALL *world_bounds)(bp_manager_t *m, const uint32_t *slots, uint32_t count, bp_vec3_t *lowest,
                                     bp_vec3_t *highest);

    /* What instances are and show; looks[i] lies `stride` bytes after looks[i - 1], and at most `stride` bytes of
     * each are written. [job] while nothing is set, made or ended */
    void (BP_CALL *look)(bp_manager_t *m, const uint32_t *slots, uint32_t count, bp_mesh_look_t *looks, size_t stride);
} bp_mesh_api;

#ifdef __cplusplus
}
#endif
#endif
