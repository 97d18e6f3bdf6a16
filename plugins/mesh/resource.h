/* resource.h - mesh resources: loaded once for all worlds of a host, counted, freed with the last reference.
 *
 * Resources live in the plugin's state. A resource is known by its name alone: two names for one file ("a.obj",
 * "./a.obj") are two resources.
 *
 * Not here: reading a file again that has changed since it was loaded.
 */
#ifndef MESH_RESOURCE_H
#define MESH_RESOURCE_H

#include "obj.h"

#include <bp_plugin.h>
#include <components/mesh.h>

/* The plugin's options, in the order of declaration. */
enum { MESH_FOLDER = 0, MESH_MAX_BYTES = 1, MESH_MAX_VERTICES = 2, MESH_MAX_TRIANGLES = 3 };

typedef struct mesh_resource_t {
    bp_mesh_resource_t shown; /* what other plugins see */
    mesh_obj_t data;
    float middle[3], half[3]; /* of the box of `shown` */
    uint64_t hash;            /* of the name */
    struct mesh_resource_t *next; /* in its bucket */
} mesh_resource_t;

typedef struct mesh_resources_t {
    mesh_resource_t **buckets;
    uint32_t capacity; /* of buckets: 0 or a power of two */
    uint32_t count;    /* of resources */
} mesh_resources_t;

/* The resource of that name with one reference more, loaded if the table does not have it. On failure nothing has
 * changed and the host's error says why. */
bp_result_t mesh_resource_acquire(bp_manager_t *m, const char *name, mesh_resource_t **resource);

/* The resource of that name, or NULL. */
mesh_resource_t *mesh_resource_find(bp_manager_t *m, const char *name);

/* One reference less. NULL is allowed. */
void mesh_resource_release(bp_manager_t *m, mesh_resource_t *resource);

/* Begin and end of the plugin. After a reload that brings resources over, mesh_resources_begin is not needed: the
 * resources are in plugin->state already. */
bp_result_t mesh_resources_begin(bp_plugin_t *plugin);
void mesh_resources_end(bp_plugin_t *plugin);

/* The form of the resources: of everything that plugin->state leads to. Versions that agree on it hand resources to
 * each other, so that no file is read again; raise the number when a member changes its meaning and not its size. */
typedef struct mesh_resources_form_t {
    mesh_resources_t table;
    mesh_resource_t resource;
} mesh_resources_form_t;

enum { MESH_RESOURCES_NUMBER = 1 };
#define MESH_RESOURCES_FORM BP_STATE_FORM(mesh_resources_form_t, MESH_RESOURCES_NUMBER)

#endif
