/* fuzz_blob.c - libFuzzer target of scene blobs: the check, the spawner, the dump, saving and restoring.
 *
 * Size and checksum of every input are made right first, or the fuzzer would never get past them. What the check
 * accepts is shown in both forms, spawned into a world with a component of every type and one with storage of its own,
 * saved, restored over itself and ended; then as many entities live as before, and nothing is left.
 *
 * seeds: tests/fuzz/corpus/fuzz_blob
 * canary: host/scene/blob.c s/most <= c->blob->info->entity_count/most < UINT32_MAX/
 * canary: host/scene/blob.c s/items\[i\].size > component->opaque_size - items\[i\].offset/false/
 */
#include "base/strings.h"
#include "engine/host.h"
#include "scene/blob.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_ENTITIES = 4096 };

static void expect(int truth)
{
    if (!truth)
        abort();
}

/* --- a component with storage of its own: a string and a reference for each slot, freed lists of slots ------------ */

typedef struct own_t {
    struct {
        bp_entity_t entity, parent;
        bp_name_t instance;
        char text[16];
    } items[MOST_ENTITIES * 4];
    uint32_t count;
} own_t;

static bp_result_t start(bp_manager_t *m)
{
    own_t *own = m->api->memory->resize(m->plugin, NULL, 0, sizeof *own);
    if (own == NULL)
        return BP_ERROR_MEMORY;
    own->count = 0;
    m->state = own;
    return BP_OK;
}

static void stop(bp_manager_t *m)
{
    m->api->memory->resize(m->plugin, m->state, sizeof(own_t), 0);
}

static bp_result_t create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                          const void *const *columns, uint32_t *slots)
{
    own_t *own = m->state;
    if (count > MOST_ENTITIES * 4 - own->count)
        return m->api->error->set(m->host, BP_ERROR_LIMIT, "full");
    for (uint32_t i = 0; i < count; i++) {
        memset(&own->items[own->count], 0, sizeof own->items[0]);
        own->items[own->count].entity = entities[i];
        own->items[own->count].instance = instance;
        if (columns != NULL && columns[1] != NULL)
            snprintf(own->items[own->count].text, sizeof own->items[0].text, "%s",
                     ((const char *const *)columns[1])[i]);
        slots[i] = own->count++;
    }
    return BP_OK;
}

static void destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    own_t *own = m->state;
    for (uint32_t i = 0; i < count; i++) {
        expect(slots[i] < own->count);
        own->items[slots[i]] = own->items[--own->count];
        if (slots[i] < own->count)
            m->api->world->instances_moved(m, &own->items[slots[i]].entity, &own->items[slots[i]].instance, &slots[i],
                                           1);
    }
}

static bp_result_t get(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                       size_t stride)
{
    own_t *own = m->state;
    for (uint32_t i = 0; i < count; i++) {
        expect(slots[i] < own->count);
        const char *text = own->items[slots[i]].text;
        memcpy((char *)values + i * stride,
               field == 0 ? (const void *)&own->items[slots[i]].parent : (const void *)&text, 8);
    }
    return BP_OK;
}

static bp_result_t set(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, const void *values,
                       size_t stride)
{
    own_t *own = m->state;
    for (uint32_t i = 0; i < count; i++) {
        const char *value = (const char *)values + i * stride, *text;
        expect(slots[i] < own->count);
        memcpy(&text, value, sizeof text);
        if (field == 0)
            memcpy(&own->items[slots[i]].parent, value, 8);
        else
            snprintf(own->items[slots[i]].text, sizeof own->items[0].text, "%s", text);
    }
    return BP_OK;
}

static uint32_t count_own(bp_manager_t *m)
{
    return ((const own_t *)m->state)->count;
}

static const bp_field_t body_fields[] = {{.name = "bool_c", .type = BP_BOOL},
                                         {.name = "i32_c", .type = BP_I32},
                                         {.name = "u32_c", .type = BP_U32, .max = "4000000000"},
                                         {.name = "i64_c", .type = BP_I64},
                                         {.name = "f32_c", .type = BP_F32},
                                         {.name = "f64_c", .type = BP_F32},
                                         {.name = "vec2_c", .type = BP_VEC2},
                                         {.name = "vec3_c", .type = BP_VEC4},
                                         {.name = "vec4_c", .type = BP_COLOUR},
                                         {.name = "quat_c", .type = BP_QUAT},
                                         {.name = "mat4_c", .type = BP_MAT4},
                                         {.name = "colour_c", .type = BP_COLOUR},
                                         {.name = "string_c", .type = BP_STRING},
                                         {.name = "entity_c", .type = BP_ENTITY},
                                         {.name = "name_c", .type = BP_NAME},
                                         {.name = "string_o", .type = BP_STRING},
                                         {.name = "entity_o", .type = BP_ENTITY, .flags = BP_FIELD_PARENT}};
static const bp_field_t fog_fields[] = {{.name = "thick", .type = BP_F64, .min = "0", .max = "1000"}};
static const bp_field_t secret_fields[] = {{.name = "parent", .type = BP_ENTITY, .flags = BP_FIELD_PARENT},
                                           {.name = "text", .type = BP_STRING}};
static const bp_storage_i storage = {.struct_size = sizeof(bp_storage_i),
                                     .create = create,
                                     .destroy = destroy,
                                     .get = get,
                                     .set = set,
                                     .count = count_own};
static const bp_component_i components[] = {
    {.name = "body", .fields = BP_LIST(body_fields)},
    {.name = "fog", .fields = BP_LIST(fog_fields)},
    {.name = "secret", .fields = BP_LIST(secret_fields), .start = start, .stop = stop, .storage = &storage},
};
static const bp_plugin_head_t fuzzed =
    BP_PLUGIN_HEAD("fuzzed", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(components)}));
static const bp_plugin_head_t *const plugins[] = {&fuzzed};

/* --- one input ---------------------------------------------------------------------------------------------------- */

static void no_log(void *context, int32_t level, const char *source, const char *text)
{
    (void)context, (void)level, (void)source, (void)text;
}

static void read_text(void *context, const char *text, size_t length)
{
    unsigned *sum = context;
    for (size_t i = 0; i < length; i++)
        *sum += (unsigned char)text[i];
}

static void use(bp_host_o *host, bp_world_o *world, bp_scene_o *scene)
{
    unsigned sum = 0;
    bp_spawn_t spawned;
    bp_scene_o *saved;
    bp_scene_dump(scene, 0, &(bp_text_sink_i){.context = &sum, .write = read_text});
    bp_scene_dump(scene, BP_DUMP_JSON, &(bp_text_sink_i){.context = &sum, .write = read_text});
    uint32_t living = bp_host_api(host)->entity->count(host);
    expect(living == 0);
    if (bp_scene_spawn(scene, world, 0, NULL, &spawned) == BP_OK)
        expect(bp_host_despawn(host, spawned) == bp_scene_entity_count(scene));
    if (bp_scene_spawn(scene, world, BP_SCENE_SKIP, NULL, &spawned) != BP_OK) {
        expect(bp_host_api(host)->entity->count(host) == 0);
        return;
    }
    if (bp_scene_capture(world, &saved) == BP_OK) {
        size_t size;
        bp_scene_o *opened;
        const void *bytes = bp_scene_bytes(saved, &size);
        expect(bp_scene_open_memory(host, bytes, size, "saved", &opened) == BP_OK); /* what is saved is always a blob */
        bp_scene_restore(opened, world, 0);
        bp_scene_close(opened);
        bp_scene_close(saved);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < sizeof(blob_head_t))
        return 0;
    unsigned char *exact = malloc(size); /* exactly: a sanitizer sees a byte read too far */
    expect(exact != NULL && (uintptr_t)exact % 16 == 0);
    memcpy(exact, data, size);
    const uint64_t says = size;
    memcpy(exact + offsetof(blob_head_t, size), &says, sizeof says);
    const uint64_t sum = hash_bytes(exact + sizeof(blob_head_t), size - sizeof(blob_head_t));
    memcpy(exact + offsetof(blob_head_t, checksum), &sum, sizeof sum);
    bp_host_o *host = bp_host_create(
        &(bp_host_desc_t){.static_plugins = plugins, .static_plugin_count = 1, .log = &(bp_log_i){.write = no_log},
                          .tag = 1});
    bp_scene_o *scene;
    if (bp_scene_open_memory(host, exact, size, "x.bpe", &scene) == BP_OK &&
        bp_scene_entity_count(scene) <= MOST_ENTITIES) {
        expect(bp_host_load_plugin(host, "fuzzed", NULL, 0) == BP_OK);
        bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
        for (size_t i = 0; i < sizeof components / sizeof components[0]; i++)
            expect(bp_world_use_component(world, components[i].name) == BP_OK);
        use(host, world, scene);
    }
    bp_host_destroy(host);
    free(exact);
    return 0;
}
