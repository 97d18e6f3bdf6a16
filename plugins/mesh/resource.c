/* resource.c - the table of mesh resources: buckets with chains.
 *
 * Invariants: every resource in the table has a reference; a resource never moves, so instances and other
 * plugins hold its address; a resource that cannot be read never enters the table. Failure to widen the table only
 * makes its chains longer.
 */
#include "resource.h"

#include <helpers/bp_file.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { FIRST_CAPACITY = 16, PATH_MAX_BYTES = 1024 };

static void *resize_of_plugin(void *context, void *old, size_t old_size, size_t new_size)
{
    const bp_plugin_t *plugin = context;
    return plugin->api->memory->resize(plugin, old, old_size, new_size);
}

/* The reader takes its memory from the plugin. The reader only passes the context through, so dropping the const is
 * safe. */
static mesh_obj_memory_t memory_of(const bp_plugin_t *plugin)
{
    return (mesh_obj_memory_t){.context = (void *)(uintptr_t)plugin, .resize = resize_of_plugin};
}

bp_result_t mesh_resources_begin(bp_plugin_t *plugin)
{
    mesh_resources_t *resources = plugin->api->memory->resize(plugin, NULL, 0, sizeof *resources);
    if (resources == NULL)
        return plugin->api->error->set(plugin->host, BP_ERROR_MEMORY, "mesh: out of memory at its start");
    memset(resources, 0, sizeof *resources);
    plugin->state = resources;
    return BP_OK;
}

static size_t bucket_bytes(uint32_t capacity)
{
    return capacity * sizeof(mesh_resource_t *);
}

void mesh_resources_end(bp_plugin_t *plugin)
{
    mesh_resources_t *resources = plugin->state; /* empty: all managers have stopped */
    plugin->api->memory->resize(plugin, resources->buckets, bucket_bytes(resources->capacity), 0);
    plugin->api->memory->resize(plugin, resources, sizeof *resources, 0);
    plugin->state = NULL;
}

/* --- the table -------------------------------------------------------------------------------- */

static void widen(const bp_plugin_t *plugin, mesh_resources_t *resources)
{
    uint32_t capacity = resources->capacity == 0 ? FIRST_CAPACITY : resources->capacity * 2;
    mesh_resource_t **buckets = plugin->api->memory->resize(plugin, NULL, 0, bucket_bytes(capacity));
    if (buckets == NULL)
        return;
    for (uint32_t i = 0; i < capacity; i++)
        buckets[i] = NULL;
    for (uint32_t i = 0; i < resources->capacity; i++) {
        for (mesh_resource_t *r = resources->buckets[i], *next; r != NULL; r = next) {
            next = r->next;
            mesh_resource_t **bucket = &buckets[r->hash & (capacity - 1)];
            r->next = *bucket;
            *bucket = r;
        }
    }
    plugin->api->memory->resize(plugin, resources->buckets, bucket_bytes(resources->capacity), 0);
    resources->buckets = buckets;
    resources->capacity = capacity;
}

mesh_resource_t *mesh_resource_find(bp_manager_t *m, const char *name)
{
    const mesh_resources_t *resources = m->plugin->state;
    if (resources->capacity == 0)
        return NULL;
    uint64_t hash = m->api->name->hash(name);
    mesh_resource_t *r = resources->buckets[hash & (resources->capacity - 1)];
    while (r != NULL && (r->hash != hash || strcmp(r->shown.name, name) != 0))
        r = r->next;
    return r;
}

static void enter(mesh_resources_t *resources, mesh_resource_t *r)
{
    mesh_resource_t **bucket = &resources->buckets[r->hash & (resources->capacity - 1)];
    r->next = *bucket;
    *bucket = r;
    resources->count++;
}

static void leave(mesh_resources_t *resources, mesh_resource_t *r)
{
    mesh_resource_t **link = &resources->buckets[r->hash & (resources->capacity - 1)];
    while (*link != r)
        link = &(*link)->next;
    *link = r->next;
    resources->count--;
}

/* --- loading ---------------------------------------------------------------------------------- */

static bool is_absolute(const char *path)
{
    bool drive = ((path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z')) && path[1] == ':';
    return path[0] == '/' || path[0] == '\\' || drive;
}

static bool find_path(const bp_plugin_t *plugin, const char *name, char path[PATH_MAX_BYTES])
{
    const char *folder = plugin->options[MESH_FOLDER].string, *slash = "/";
    if (is_absolute(name) || folder[0] == '\0')
        folder = slash = "";
    int length = snprintf(path, PATH_MAX_BYTES, "%s%s%s", folder, slash, name);
    return length >= 0 && length < PATH_MAX_BYTES;
}

static bp_result_t refuse(bp_manager_t *m, bp_result_t code, const char *what, const char *path,
                          const char *why)
{
    char sentence[MESH_OBJ_SENTENCE_MAX];
    snprintf(sentence, sizeof sentence, "mesh: %s %.300s%s%s", what, path, why[0] != '\0' ? ": " : "", why);
    return m->api->error->set(m->host, code, sentence);
}

static bp_result_t read_file(bp_manager_t *m, const char *path, mesh_obj_t *data)
{
    errno = 0;
    FILE *file = bp_file_open(path, "rb");
    if (file == NULL) {
        bp_result_t code = errno == ENOENT ? BP_ERROR_NOT_FOUND : BP_ERROR_IO;
        return refuse(m, code, "cannot open", path, strerror(errno));
    }
    const bp_value_t *option = m->plugin->options;
    mesh_obj_memory_t memory = memory_of(m->plugin);
    mesh_obj_limits_t limits = {
        .bytes = (uint64_t)option[MESH_MAX_BYTES].i64,
        .vertices = option[MESH_MAX_VERTICES].u32,
        .triangles = option[MESH_MAX_TRIANGLES].u32,
    };
    char sentence[MESH_OBJ_SENTENCE_MAX];
    bp_result_t result = mesh_obj_read_file(&memory, &limits, file, path, data, sentence);
    fclose(file);
    return result == BP_OK ? BP_OK : m->api->error->set(m->host, result, sentence);
}

/* A resource with room for its name behind it, and nothing else yet. */
static mesh_resource_t *new_resource(bp_manager_t *m, const char *name)
{
    size_t size = strlen(name) + 1;
    mesh_resource_t *r = m->api->memory->resize(m->plugin, NULL, 0, sizeof *r + size);
    if (r == NULL)
        return NULL;
    memset(r, 0, sizeof *r);
    memcpy(r + 1, name, size);
    r->hash = m->api->name->hash(name);
    r->shown.struct_size = sizeof r->shown;
    r->shown.name = (const char *)(r + 1);
    return r;
}

static void free_resource(bp_manager_t *m, mesh_resource_t *r)
{
    m->api->memory->resize(m->plugin, r, sizeof *r + strlen(r->shown.name) + 1, 0);
}

static void show_data(mesh_resource_t *r)
{
    r->shown.vertex_count = r->data.vertex_count;
    r->shown.triangle_count = r->data.triangle_count;
    r->shown.positions = r->data.positions;
    r->shown.indices = r->data.indices;
    r->shown.bounds_min = r->data.bounds_min;
    r->shown.bounds_max = r->data.bounds_max;
    const float low[3] = {r->data.bounds_min.x, r->data.bounds_min.y, r->data.bounds_min.z};
    const float high[3] = {r->data.bounds_max.x, r->data.bounds_max.y, r->data.bounds_max.z};
    for (int i = 0; i < 3; i++) {
        r->middle[i] = (low[i] + high[i]) * 0.5f;
        r->half[i] = (high[i] - low[i]) * 0.5f;
    }
}

static bp_result_t load(bp_manager_t *m, const char *name, mesh_resource_t **loaded)
{
    mesh_resources_t *resources = m->plugin->state;
    char path[PATH_MAX_BYTES];
    if (!find_path(m->plugin, name, path))
        return refuse(m, BP_ERROR_LIMIT, "a path of more than 1023 bytes:", path, "");
    if (resources->count >= resources->capacity)
        widen(m->plugin, resources);
    mesh_resource_t *r = resources->capacity == 0 ? NULL : new_resource(m, name);
    if (r == NULL)
        return refuse(m, BP_ERROR_MEMORY, "out of memory for", path, "");
    bp_result_t result = read_file(m, path, &r->data);
    if (result != BP_OK) {
        free_resource(m, r);
        return result;
    }
    show_data(r);
    enter(resources, r);
    *loaded = r;
    return BP_OK;
}

bp_result_t mesh_resource_acquire(bp_manager_t *m, const char *name, mesh_resource_t **resource)
{
    *resource = mesh_resource_find(m, name);
    if (*resource == NULL) {
        bp_result_t result = load(m, name, resource);
        if (result != BP_OK)
            return result;
    }
    (*resource)->shown.references++;
    return BP_OK;
}

void mesh_resource_release(bp_manager_t *m, mesh_resource_t *r)
{
    if (r == NULL || --r->shown.references > 0)
        return;
    leave(m->plugin->state, r);
    mesh_obj_memory_t memory = memory_of(m->plugin);
    mesh_obj_free(&memory, &r->data);
    free_resource(m, r);
}
