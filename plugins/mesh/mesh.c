/* mesh.c - the component mesh: instances that refer to shared mesh resources.
 *
 * The component stores its instances itself because each holds a counted reference to a resource
 * (resource.c), which must be given back exactly once, however the instance ends; for the same reason the component has
 * no gc and is told of a death at once. Slots are those of bp_slots.h, boxes in the world a matter of bounds.c.
 *
 * A reload hands instances and resources over as they are, even where the files have changed meanwhile. Where only the
 * instances have another form, instances are carried over by properties and find their resources loaded; where
 * resources have another form, the files are read again, and a file that cannot be read is a reload that is refused.
 */
#include "bounds.h"

enum { FOUND = BP_FIELD_READ_ONLY | BP_FIELD_DERIVED }; /* computed from the resource and from the entity's transform */

static const bp_field_t fields[] = {
    [BP_MESH_RESOURCE] = {.name = "resource", .type = BP_STRING,
                          .doc = "OBJ file that it shows, as seen from the option folder; empty: none"},
    [BP_MESH_VISIBLE] = {.name = "visible", .type = BP_BOOL, .initial = "true", .doc = "is it shown?"},
    [BP_MESH_COLOUR] = {.name = "colour", .type = BP_COLOUR, .initial = "#ffffff",
                        .doc = "colour of its surface"},
    [BP_MESH_VERTEX_COUNT] = {.name = "vertex_count", .type = BP_U32, .flags = FOUND,
                              .doc = "vertices of the resource"},
    [BP_MESH_TRIANGLE_COUNT] = {.name = "triangle_count", .type = BP_U32, .flags = FOUND,
                                .doc = "triangles of the resource"},
    [BP_MESH_BOUNDS_MIN] = {.name = "bounds_min", .type = BP_VEC3, .flags = FOUND, .unit = "m",
                            .doc = "lowest corner of the box around the resource, in its own space"},
    [BP_MESH_BOUNDS_MAX] = {.name = "bounds_max", .type = BP_VEC3, .flags = FOUND, .unit = "m",
                            .doc = "highest corner of that box"},
    [BP_MESH_WORLD_MIN] = {.name = "world_min", .type = BP_VEC3, .flags = FOUND, .unit = "m",
                           .doc = "lowest corner of the box around it in the world, if the entity has a transform"},
    [BP_MESH_WORLD_MAX] = {.name = "world_max", .type = BP_VEC3, .flags = FOUND, .unit = "m",
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

static const uint32_t item_sizes[COLUMNS_END - BP_SLOTS_FIRST] = {
    [COLOUR - BP_SLOTS_FIRST] = sizeof(bp_colour_t),
    [RESOURCE - BP_SLOTS_FIRST] = sizeof(mesh_resource_t *),
    [VISIBLE - BP_SLOTS_FIRST] = sizeof(uint8_t),
};

static bp_result_t start(bp_manager_t *m)
{
    meshes_t *meshes = m->api->memory->resize(m->plugin, NULL, 0, sizeof *meshes);
    if (meshes == NULL)
        return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory at its start");
    memset(meshes, 0, sizeof *meshes);
    bp_slots_init(&meshes->slots, item_sizes, COLUMNS_END - BP_SLOTS_FIRST);
    m->state = meshes;
    return BP_OK;
}

static void stop(bp_manager_t *m)
{
    meshes_t *meshes = m->state;
    for (uint32_t slot = 0; slot < meshes->slots.count; slot++)
        mesh_resource_release(m, resources_of(meshes)[slot]);
    mesh_bounds_forget(m->api->registry->find(m->host, BP_CHANGES_API, 1), meshes);
    bp_slots_free(m, &meshes->slots);
    m->api->memory->resize(m->plugin, meshes, sizeof *meshes, 0);
    m->state = NULL;
}

/* --- coming and going ------------------------------------------------------------------------- */

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

/* The resource of a text, for which a reference has been taken; `last` is the one found before. */
static mesh_resource_t *resource_named(bp_manager_t *m, const char *text, mesh_resource_t *last)
{
    if (last != NULL && strcmp(text, last->shown.name) == 0)
        return last;
    return text[0] == '\0' ? NULL : mesh_resource_find(m, text);
}

static bp_result_t create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                          const void *const *columns, uint32_t *slots)
{
    static const void *const no_values[BP_MESH_COLOUR + 1] = {NULL};
    meshes_t *meshes = m->state;
    columns = columns == NULL ? no_values : columns;
    const void *names = columns[BP_MESH_RESOURCE];
    const uint8_t *visible = columns[BP_MESH_VISIBLE];
    const bp_colour_t *colours = columns[BP_MESH_COLOUR];
    bp_result_t result = bp_slots_reserve(m, &meshes->slots, instance, count);
    if (result == BP_OK && names != NULL)
        result = acquire_all(m, names, sizeof(const char *), count);
    if (result != BP_OK)
        return result;
    uint32_t first = bp_slots_append(&meshes->slots, instance, entities, count, slots);
    bp_colour_t *colour = BP_SLOTS(bp_colour_t, &meshes->slots, COLOUR) + first;
    for (uint32_t i = 0; colours == NULL && i < count; i++)
        colour[i] = (bp_colour_t){1, 1, 1, 1};
    if (colours != NULL)
        memcpy(colour, colours, count * sizeof *colour);
    if (visible != NULL)
        memcpy(BP_SLOTS(uint8_t, &meshes->slots, VISIBLE) + first, visible, count);
    else
        memset(BP_SLOTS(uint8_t, &meshes->slots, VISIBLE) + first, 1, count);
    mesh_resource_t *resource = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (names != NULL)
            resource = resource_named(m, text_at(names, sizeof(const char *), i), resource);
        resources_of(meshes)[first + i] = resource;
    }
    for (uint32_t i = 0; meshes->bounded && i < count; i++)
        BP_SLOTS(uint32_t, &meshes->slots, PLACE)[first + i] = BP_NONE;
    meshes->changed = true;
    return BP_OK;
}

static void release(bp_manager_t *m, uint32_t slot)
{
    mesh_resource_release(m, resources_of(m->state)[slot]);
}

static void destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    static const bp_slots_hooks_t hooks = {.ended = release};
    meshes_t *meshes = m->state;
    bp_slots_destroy(m, &meshes->slots, slots, count, &hooks);
}

/* --- properties ------------------------------------------------------------------------------- */

static void read_value(const meshes_t *meshes, uint32_t field, uint32_t slot, void *value)
{
    static const bp_mesh_resource_t none = {.name = ""};
    const mesh_resource_t *resource = resources_of(meshes)[slot];
    const bp_mesh_resource_t *r = resource != NULL ? &resource->shown : &none;
    switch (field) {
    case BP_MESH_RESOURCE: memcpy(value, &r->name, sizeof r->name); break;
    case BP_MESH_VISIBLE: memcpy(value, &BP_SLOTS(uint8_t, &meshes->slots, VISIBLE)[slot], 1); break;
    case BP_MESH_COLOUR:
        memcpy(value, &BP_SLOTS(bp_colour_t, &meshes->slots, COLOUR)[slot], sizeof(bp_colour_t));
        break;
    case BP_MESH_VERTEX_COUNT: memcpy(value, &r->vertex_count, sizeof r->vertex_count); break;
    case BP_MESH_TRIANGLE_COUNT: memcpy(value, &r->triangle_count, sizeof r->triangle_count); break;
    case BP_MESH_BOUNDS_MIN: memcpy(value, &r->bounds_min, sizeof r->bounds_min); break;
    default: memcpy(value, &r->bounds_max, sizeof r->bounds_max); break;
    }
}

static bp_result_t get(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                       size_t stride)
{
    for (uint32_t i = 0; i < count; i++) {
        bp_vec3_t corners[2];
        if (field < BP_MESH_WORLD_MIN) {
            read_value(m->state, field, slots[i], (char *)values + i * stride);
            continue;
        }
        mesh_bounds_of(m, slots[i], &corners[0], &corners[1]);
        memcpy((char *)values + i * stride, &corners[field - BP_MESH_WORLD_MIN], sizeof corners[0]);
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
    meshes->changed = true;
    for (uint32_t i = 0; i < count; i++) {
        mesh_resource_t **held = &resources_of(meshes)[slots[i]];
        resource = resource_named(m, text_at(values, stride, i), resource);
        mesh_resource_release(m, *held);
        *held = resource;
        if (meshes->bounded)
            BP_SLOTS(uint32_t, &meshes->slots, PLACE)[slots[i]] = BP_NONE;
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
            memcpy(&BP_SLOTS(uint8_t, &meshes->slots, VISIBLE)[slots[i]], value, 1);
        else
            memcpy(&BP_SLOTS(bp_colour_t, &meshes->slots, COLOUR)[slots[i]], value, sizeof(bp_colour_t));
    }
    return BP_OK;
}

static uint32_t count_instances(bp_manager_t *m)
{
    return ((const meshes_t *)m->state)->slots.count;
}

/* --- the table -------------------------------------------------------------------------------- */

static uint32_t resource_of(bp_manager_t *m, const uint32_t *slots, uint32_t count,
                            const bp_mesh_resource_t **resources)
{
    const meshes_t *meshes = m->state;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        const mesh_resource_t *resource = resources_of(meshes)[slots[i]];
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

static uint32_t world_bounds(bp_manager_t *m, const uint32_t *slots, uint32_t count, bp_vec3_t *lowest,
                             bp_vec3_t *highest)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found += mesh_bounds_of(m, slots[i], &lowest[i], &highest[i]);
    return found;
}

static void look(bp_manager_t *m, const uint32_t *slots, uint32_t count, bp_mesh_look_t *looks, size_t stride)
{
    const meshes_t *meshes = m->state;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = slots[i];
        const mesh_resource_t *resource = resources_of(meshes)[slot];
        const bp_mesh_look_t known = {
            .entity = BP_SLOTS(bp_entity_t, &meshes->slots, BP_SLOTS_ENTITY)[slot],
            .name = bp_slots_name(&meshes->slots, slot),
            .resource = resource != NULL ? &resource->shown : NULL,
            .colour = BP_SLOTS(bp_colour_t, &meshes->slots, COLOUR)[slot],
            .visible = BP_SLOTS(uint8_t, &meshes->slots, VISIBLE)[slot],
        };
        memcpy((char *)looks + i * stride, &known, stride < sizeof known ? stride : sizeof known);
    }
}

static const bp_mesh_api table = {
    .resource = resource_of,
    .resource_count = resource_count,
    .references = references,
    .seen = mesh_bounds_seen,
    .world_bounds = world_bounds,
    .look = look,
};

static const bp_table_t tables[] = {BP_TABLE(BP_MESH_API, 2, table, BP_MESH_RETURNS)};

static bp_result_t load(bp_plugin_t *plugin)
{
    bool begins = plugin->state == NULL; /* false: the resources have come over from the version before */
    return begins ? mesh_resources_begin(plugin) : BP_OK;
}

/* --- as one block ----------------------------------------------------------------------------- */

enum { SAVED = 1u << BP_SLOTS_ENTITY | 1u << BP_SLOTS_NAME | 1u << COLOUR | 1u << VISIBLE };

static const uint32_t saved_sizes[COLUMNS_END] = {
    [BP_SLOTS_ENTITY] = 8, [BP_SLOTS_NAME] = 8, [COLOUR] = sizeof(bp_colour_t), [VISIBLE] = 1};

/* Slots, and behind them the name of each one's resource, closed by a zero; boxes are found again. */
static bp_result_t save(bp_manager_t *m, void **data, size_t *size)
{
    const meshes_t *meshes = m->state;
    *size = bp_slots_written(&meshes->slots, SAVED);
    for (uint32_t i = 0; i < meshes->slots.count; i++)
        *size += resources_of(meshes)[i] == NULL ? 1 : strlen(resources_of(meshes)[i]->shown.name) + 1;
    char *at = m->api->memory->resize(m->plugin, NULL, 0, *size);
    if (at == NULL)
        return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory for saving the instances");
    *data = at;
    at = bp_slots_write(&meshes->slots, SAVED, at);
    for (uint32_t i = 0; i < meshes->slots.count; i++) {
        const char *name = resources_of(meshes)[i] == NULL ? "" : resources_of(meshes)[i]->shown.name;
        size_t length = strlen(name) + 1;
        memcpy(at, name, length);
        at += length;
    }
    return BP_OK;
}

static bp_result_t load_saved(bp_manager_t *m, uint32_t version, const void *data, size_t size)
{
    meshes_t *meshes = m->state;
    const char *end = (const char *)data + size;
    if (version != 1)
        return bp_slots_refuse(m, BP_ERROR_FAILED,
            "what was saved of the instances is not of version 1, which this one reads");
    const char *at = bp_slots_read(m, &meshes->slots, SAVED, saved_sizes, data, end);
    if (at == NULL)
        return BP_ERROR_FAILED;
    uint32_t count = meshes->slots.count;
    bp_result_t result = BP_OK;
    for (meshes->slots.count = 0; meshes->slots.count < count && result == BP_OK;) {
        mesh_resource_t **resource = &resources_of(meshes)[meshes->slots.count];
        const char *close = memchr(at, '\0', (size_t)(end - at));
        *resource = NULL;
        if (close == NULL)
            return bp_slots_refuse(m, BP_ERROR_FAILED, "what was saved of the instances is damaged");
        if (at[0] != '\0')
            result = mesh_resource_acquire(m, at, resource);
        meshes->slots.count += result == BP_OK;
        at = close + 1;
    }
    return result;
}

static const bp_save_i saving = {.save = save, .load = load_saved};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_save", saving)}};

static const bp_storage_i storage = {
    .struct_size = sizeof(bp_storage_i),
    .create = create,
    .destroy = destroy,
    .get = get,
    .set = set,
    .count = count_instances,
};

static const bp_component_i components[] = {{
    .name = BP_MESH,
    .doc = "a mesh that the entity shows; several an entity",
    .version = 1,
    .fields = BP_LIST(fields),
    .start = start,
    .stop = stop,
    .storage = &storage,
    .state_form = MESHES_FORM,
    .keeps = BP_KEEP_SAVED,
    .extensions = BP_LIST(extensions),
}};

BP_PLUGIN(mesh) = {
    .version = "1.1",
    .doc = "what entities look like: meshes from OBJ files, shared by all entities that show them",
    .components = BP_LIST(components),
    .options = BP_LIST(options),
    .tables = BP_LIST(tables),
    .load = load,
    .unload = mesh_resources_end,
    .state_form = MESH_RESOURCES_FORM,
    .keeps = BP_KEEP_NOTHING,
};
