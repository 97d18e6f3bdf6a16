/* mesh.c - what entities look like: instances that refer to shared mesh resources.
 *
 * The component stores its instances itself because each holds a counted reference to a resource
 * (resource.c), which must be given back exactly once whatever happens to the instance; for the same reason
 * it has no gc: it is told of a death at once. One array a part, indexed by slot, in one buffer that doubles.
 *
 * Invariants: slots 0 to count - 1 are in use; resource[slot] is NULL or holds one reference. The last
 * instance moves into the slot of one that ends, and the world is told.
 */
#include "resource.h"

#include <stdbool.h>
#include <string.h>

static const bp_field_t fields[] = {
    [BP_MESH_RESOURCE] = {.name = "resource", .type = BP_STRING,
                          .doc = "OBJ file that it shows, as seen from the option folder; empty: none"},
    [BP_MESH_VISIBLE] = {.name = "visible", .type = BP_BOOL, .initial = "true", .doc = "is it shown?"},
    [BP_MESH_COLOUR] = {.name = "colour", .type = BP_COLOUR, .initial = "#ffffff",
                        .doc = "colour of its surface"},
    [BP_MESH_VERTEX_COUNT] = {.name = "vertex_count", .type = BP_U32, .flags = BP_FIELD_READ_ONLY,
                              .doc = "vertices of the resource"},
    [BP_MESH_TRIANGLE_COUNT] = {.name = "triangle_count", .type = BP_U32, .flags = BP_FIELD_READ_ONLY,
                                .doc = "triangles of the resource"},
    [BP_MESH_BOUNDS_MIN] = {.name = "bounds_min", .type = BP_VEC3, .flags = BP_FIELD_READ_ONLY, .unit = "m",
                            .doc = "lowest corner of the box around the resource, in its own space"},
    [BP_MESH_BOUNDS_MAX] = {.name = "bounds_max", .type = BP_VEC3, .flags = BP_FIELD_READ_ONLY, .unit = "m",
                            .doc = "highest corner of that box"},
};

static const bp_field_t options[] = {
    [MESH_FOLDER] = {.name = "folder", .type = BP_STRING, .flags = BP_FIELD_PATH, .initial = ".",
                     .doc = "folder that the names of resources start from"},
    [MESH_MAX_BYTES] = {.name = "max_bytes", .type = BP_I64, .initial = "8589934592", .min = "1", .unit = "B",
                        .doc = "largest OBJ file that is read"},
    [MESH_MAX_VERTICES] = {.name = "max_vertices", .type = BP_U32, .initial = "100000000", .min = "1",
                           .max = "4000000000", .doc = "most vertices that a mesh may have"},
    [MESH_MAX_TRIANGLES] = {.name = "max_triangles", .type = BP_U32, .initial = "200000000", .min = "1",
                            .max = "1000000000", .doc = "most triangles that a mesh may have"},
};

enum { FIRST_CAPACITY = 16, MOVED_ROOM = 64 };
#define INSTANCES_MAX (UINT32_MAX - 1) /* BP_NONE is no slot */

typedef struct meshes_t {
    uint32_t count;
    uint32_t capacity;
    void *buffer;
    bp_colour_t *colour;
    bp_entity_t *entity;
    bp_name_t *name; /* of the component in its entity */
    mesh_resource_t **resource;
    uint8_t *visible;
} meshes_t;

enum {
    INSTANCE_BYTES = sizeof(bp_colour_t) + sizeof(bp_entity_t) + sizeof(bp_name_t) +
                     sizeof(mesh_resource_t *) + sizeof(uint8_t)
};

static bp_result_t start(bp_manager_t *m)
{
    meshes_t *meshes = m->api->memory->resize(m->plugin, NULL, 0, sizeof *meshes);
    if (meshes == NULL)
        return m->api->error->set(m->host, BP_ERROR_MEMORY, "mesh: out of memory at its start");
    memset(meshes, 0, sizeof *meshes);
    m->state = meshes;
    return BP_OK;
}

static void stop(bp_manager_t *m)
{
    meshes_t *meshes = m->state;
    for (uint32_t slot = 0; slot < meshes->count; slot++)
        mesh_resource_release(m, meshes->resource[slot]);
    m->api->memory->resize(m->plugin, meshes->buffer, (size_t)meshes->capacity * INSTANCE_BYTES, 0);
    m->api->memory->resize(m->plugin, meshes, sizeof *meshes, 0);
    m->state = NULL;
}

/* --- storage ---------------------------------------------------------------------------------- */

/* Lay the arrays out in `buffer`, the widest first, so that each is aligned for what it holds. */
static meshes_t laid_out(void *buffer, uint32_t capacity, uint32_t count)
{
    meshes_t meshes = {.count = count, .capacity = capacity, .buffer = buffer, .colour = buffer};
    meshes.entity = (bp_entity_t *)(void *)(meshes.colour + capacity);
    meshes.name = (bp_name_t *)(void *)(meshes.entity + capacity);
    meshes.resource = (mesh_resource_t **)(void *)(meshes.name + capacity);
    meshes.visible = (uint8_t *)(void *)(meshes.resource + capacity);
    return meshes;
}

static void copy_instances(meshes_t *to, const meshes_t *from)
{
    if (from->count == 0)
        return;
    memcpy(to->colour, from->colour, from->count * sizeof *to->colour);
    memcpy(to->entity, from->entity, from->count * sizeof *to->entity);
    memcpy(to->name, from->name, from->count * sizeof *to->name);
    memcpy(to->resource, from->resource, from->count * sizeof(mesh_resource_t *));
    memcpy(to->visible, from->visible, from->count * sizeof *to->visible);
}

/* Room for `more` instances beside those there are. */
static bp_result_t reserve(bp_manager_t *m, meshes_t *meshes, uint32_t more)
{
    if (more <= meshes->capacity - meshes->count)
        return BP_OK;
    if (more > INSTANCES_MAX - meshes->count)
        return m->api->error->set(m->host, BP_ERROR_LIMIT, "mesh: more than 4294967294 instances");
    uint64_t capacity = meshes->capacity == 0 ? FIRST_CAPACITY : meshes->capacity;
    while (capacity < (uint64_t)meshes->count + more)
        capacity *= 2;
    if (capacity > INSTANCES_MAX)
        capacity = INSTANCES_MAX;
    void *buffer = m->api->memory->resize(m->plugin, NULL, 0, (size_t)capacity * INSTANCE_BYTES);
    if (buffer == NULL)
        return m->api->error->set(m->host, BP_ERROR_MEMORY, "mesh: out of memory for more instances");
    meshes_t grown = laid_out(buffer, (uint32_t)capacity, meshes->count);
    copy_instances(&grown, meshes);
    m->api->memory->resize(m->plugin, meshes->buffer, (size_t)meshes->capacity * INSTANCE_BYTES, 0);
    *meshes = grown;
    return BP_OK;
}

static bp_result_t create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                          uint32_t *slots)
{
    meshes_t *meshes = m->state;
    bp_result_t result = reserve(m, meshes, count);
    if (result != BP_OK)
        return result;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = meshes->count++;
        meshes->colour[slot] = (bp_colour_t){1, 1, 1, 1};
        meshes->entity[slot] = entities[i];
        meshes->name[slot] = instance;
        meshes->resource[slot] = NULL;
        meshes->visible[slot] = 1;
        slots[i] = slot;
    }
    return BP_OK;
}

static void erase(bp_manager_t *m, uint32_t slot)
{
    meshes_t *meshes = m->state;
    mesh_resource_release(m, meshes->resource[slot]);
    uint32_t last = --meshes->count;
    meshes->colour[slot] = meshes->colour[last];
    meshes->entity[slot] = meshes->entity[last];
    meshes->name[slot] = meshes->name[last];
    meshes->resource[slot] = meshes->resource[last];
    meshes->visible[slot] = meshes->visible[last];
}

/* Tell the world who lies now in those of the slots that are still in use: the others were at the end. */
static void tell_moved(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    const meshes_t *meshes = m->state;
    bp_entity_t entities[MOVED_ROOM];
    bp_name_t names[MOVED_ROOM];
    uint32_t filled[MOVED_ROOM], told = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (slots[i] < meshes->count) {
            entities[told] = meshes->entity[slots[i]];
            names[told] = meshes->name[slots[i]];
            filled[told++] = slots[i];
        }
        if (told == MOVED_ROOM || (told > 0 && i + 1 == count)) {
            m->api->world->instances_moved(m, entities, names, filled, told);
            told = 0;
        }
    }
}

static void destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        erase(m, slots[i]);
    tell_moved(m, slots, count);
}

/* --- properties ------------------------------------------------------------------------------- */

static void read_value(const meshes_t *meshes, uint32_t field, uint32_t slot, void *value)
{
    static const bp_mesh_resource_t none = {.name = ""};
    const mesh_resource_t *resource = meshes->resource[slot];
    const bp_mesh_resource_t *r = resource != NULL ? &resource->shown : &none;
    switch (field) {
    case BP_MESH_RESOURCE: memcpy(value, &r->name, sizeof r->name); break;
    case BP_MESH_VISIBLE: memcpy(value, &meshes->visible[slot], sizeof meshes->visible[slot]); break;
    case BP_MESH_COLOUR: memcpy(value, &meshes->colour[slot], sizeof meshes->colour[slot]); break;
    case BP_MESH_VERTEX_COUNT: memcpy(value, &r->vertex_count, sizeof r->vertex_count); break;
    case BP_MESH_TRIANGLE_COUNT: memcpy(value, &r->triangle_count, sizeof r->triangle_count); break;
    case BP_MESH_BOUNDS_MIN: memcpy(value, &r->bounds_min, sizeof r->bounds_min); break;
    default: memcpy(value, &r->bounds_max, sizeof r->bounds_max); break;
    }
}

static bp_result_t get(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                       size_t stride)
{
    for (uint32_t i = 0; i < count; i++)
        read_value(m->state, field, slots[i], (char *)values + i * stride);
    return BP_OK;
}

static const char *text_at(const void *values, size_t stride, uint32_t i)
{
    const char *text;
    memcpy(&text, (const char *)values + i * stride, sizeof text);
    return text;
}

/* Take a reference for each value, or for none. Values that repeat the one before them cost a comparison. */
static bp_result_t acquire_all(bp_manager_t *m, const void *values, size_t stride, uint32_t count)
{
    mesh_resource_t *resource = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const char *text = text_at(values, stride, i);
        if (text[0] == '\0')
            continue;
        if (resource != NULL && strcmp(text, resource->shown.name) == 0) {
            resource->shown.references++;
            continue;
        }
        bp_result_t result = mesh_resource_acquire(m, text, &resource);
        if (result == BP_OK)
            continue;
        while (i-- > 0) {
            text = text_at(values, stride, i);
            mesh_resource_release(m, text[0] == '\0' ? NULL : mesh_resource_find(m, text));
        }
        return result;
    }
    return BP_OK;
}

/* Two passes: first every reference that will be held is taken, then the old ones are given back, so that
 * a failure leaves all as it was and a resource that stays in use is not loaded again. */
static bp_result_t set_resources(bp_manager_t *m, const uint32_t *slots, uint32_t count, const void *values,
                                 size_t stride)
{
    meshes_t *meshes = m->state;
    bp_result_t result = acquire_all(m, values, stride, count);
    if (result != BP_OK)
        return result;
    mesh_resource_t *resource = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const char *text = text_at(values, stride, i);
        if (resource == NULL || strcmp(text, resource->shown.name) != 0)
            resource = text[0] == '\0' ? NULL : mesh_resource_find(m, text);
        mesh_resource_release(m, meshes->resource[slots[i]]);
        meshes->resource[slots[i]] = resource;
    }
    return BP_OK;
}

static bp_result_t set(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count,
                       const void *values, size_t stride)
{
    meshes_t *meshes = m->state;
    if (field == BP_MESH_RESOURCE)
        return set_resources(m, slots, count, values, stride);
    const char *value = values;
    for (uint32_t i = 0; i < count; i++, value += stride) {
        if (field == BP_MESH_VISIBLE)
            memcpy(&meshes->visible[slots[i]], value, sizeof meshes->visible[0]);
        else
            memcpy(&meshes->colour[slots[i]], value, sizeof meshes->colour[0]);
    }
    return BP_OK;
}

static uint32_t count_instances(bp_manager_t *m)
{
    return ((const meshes_t *)m->state)->count;
}

/* --- the table -------------------------------------------------------------------------------- */

static uint32_t resource_of(bp_manager_t *m, const uint32_t *slots, uint32_t count,
                            const bp_mesh_resource_t **resources)
{
    const meshes_t *meshes = m->state;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        const mesh_resource_t *resource = meshes->resource[slots[i]];
        resources[i] = resource != NULL ? &resource->shown : NULL;
        found += resource != NULL;
    }
    return found;
}

static uint32_t resource_count(bp_manager_t *m)
{
    return ((const mesh_resources_t *)m->plugin->state)->count;
}

static uint64_t references(bp_manager_t *m, const char *name)
{
    const mesh_resource_t *resource = mesh_resource_find(m, name);
    return resource == NULL ? 0 : resource->shown.references;
}

static const bp_mesh_api table = {
    .struct_size = sizeof(bp_mesh_api),
    .version = 1,
    .resource = resource_of,
    .resource_count = resource_count,
    .references = references,
};

static bp_result_t load(bp_plugin_t *plugin)
{
    bp_result_t result = mesh_resources_begin(plugin);
    if (result != BP_OK)
        return result;
    result = plugin->api->registry->offer(plugin, BP_MESH_API, &table);
    if (result != BP_OK)
        mesh_resources_end(plugin);
    return result;
}

static const bp_component_i components[] = {{
    .name = BP_MESH,
    .doc = "a mesh that the entity shows; several an entity",
    .version = 1,
    .flags = BP_COMPONENT_OWN_STORAGE,
    .fields = BP_LIST(fields),
    .start = start,
    .stop = stop,
    .create = create,
    .destroy = destroy,
    .get = get,
    .set = set,
    .count = count_instances,
}};

BP_PLUGIN(mesh) = {
    BP_PLUGIN_HEAD,
    .name = "mesh",
    .version = "1.0",
    .doc = "what entities look like: meshes from OBJ files, shared by all who show them",
    .components = BP_LIST(components),
    .options = BP_LIST(options),
    .load = load,
    .unload = mesh_resources_end,
};
