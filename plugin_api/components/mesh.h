/* mesh.h - the properties of the component mesh, and the table that its plugin offers.
 *
 *     const bp_mesh_api *meshes = api->registry->find(host, BP_MESH_API, 1);
 *     bp_manager_t *m = api->world->manager(world, api->world->component(world, BP_MESH));
 *     const bp_mesh_resource_t *resource;
 *     if (meshes->resource(m, &slot, 1, &resource) == 1)
 *         draw(resource->positions, resource->indices, 3 * resource->triangle_count);
 *
 * An instance says which mesh its entity shows, in what colour, and whether at all. The mesh itself is a
 * resource: an OBJ file, named by its path as seen from the plugin's option `folder`, loaded when the first
 * instance of any world names it, shared by all, and freed with the last reference.
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
    BP_MESH_BOUNDS_MAX = 6      /* bp_vec3_t, read only */
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

typedef struct bp_mesh_api {
    uint32_t struct_size;
    uint32_t version;

    /* The resources of the instances in `slots`, NULL where an instance has none. Every slot must be one
     * of the manager's, below its count. Returns how many have one. [job] while nothing is set, made or
     * ended */
    uint32_t (*resource)(bp_manager_t *m, const uint32_t *slots, uint32_t count,
                         const bp_mesh_resource_t **resources);

    /* Number of resources now loaded, for all worlds of the host. [main] */
    uint32_t (*resource_count)(bp_manager_t *m);

    /* References to the resource of that name, in all worlds of the host; 0 where it is not loaded. [main] */
    uint64_t (*references)(bp_manager_t *m, const char *name);
} bp_mesh_api;

#ifdef __cplusplus
}
#endif
#endif
