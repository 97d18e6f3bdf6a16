/* camera.c - cameras: fields that the world stores, the effects of a camera's entity, a table and a report.
 *
 * The plugin derives everything from other components at the moment of the call: from transform where the camera is,
 * from mesh which meshes are in front of the camera (view.c), from render_data which effects the picture gets. The
 * plugin writes none of these components.
 */
#include "camera.h"

#include <bp_query.h>

#include <stdio.h>
#include <stdlib.h>

static const bp_field_t fields[] = {
    [BP_CAMERA_ANGLE] = {.name = "angle", .type = BP_F32, .initial = "60", .min = "1", .max = "179", .unit = "deg",
                         .doc = "between bottom and top of the picture"},
    [BP_CAMERA_ASPECT] = {.name = "aspect", .type = BP_F32, .initial = "1.7777778", .min = "0.001", .max = "1000",
                          .doc = "width of the picture by its height"},
    [BP_CAMERA_NEAR] = {.name = "near", .type = BP_F32, .initial = "0.1", .min = "1e-6", .unit = "m",
                        .doc = "what is nearer is not seen"},
    [BP_CAMERA_FAR] = {.name = "far", .type = BP_F32, .initial = "1000", .min = "1e-6", .unit = "m",
                       .doc = "what is farther is not seen"},
};

enum { EFFECTS_SHOWN = 16 };

/* --- effects ---------------------------------------------------------------------------------- */

static const void *field_of(bp_manager_t *m, bp_entity_t camera, uint32_t key, uint32_t field)
{
    bp_ref_t ref = {.entity = camera, .field = key << 8 | field};
    return m->api->world->ref(m->world, &ref);
}

static float number_of(bp_manager_t *m, bp_entity_t camera, uint32_t key, uint32_t field)
{
    return *(const float *)field_of(m, camera, key, field);
}

/* The settings of one render_data component. False where the component is not enabled. */
static bool read_effect(bp_manager_t *m, bp_entity_t camera, uint32_t key, bp_name_t name, bp_camera_effect_t *effect)
{
    if (*(const uint8_t *)field_of(m, camera, key, BP_RENDER_DATA_ENABLED) == 0)
        return false;
    *effect = (bp_camera_effect_t){
        .name = name,
        .effect = *(const bp_name_t *)field_of(m, camera, key, BP_RENDER_DATA_EFFECT),
        .order = *(const int32_t *)field_of(m, camera, key, BP_RENDER_DATA_ORDER),
        .intensity = number_of(m, camera, key, BP_RENDER_DATA_INTENSITY),
        .colour = *(const bp_colour_t *)field_of(m, camera, key, BP_RENDER_DATA_COLOUR),
        .near_distance = number_of(m, camera, key, BP_RENDER_DATA_NEAR),
        .far_distance = number_of(m, camera, key, BP_RENDER_DATA_FAR),
        .exponent = number_of(m, camera, key, BP_RENDER_DATA_EXPONENT),
        .radius = number_of(m, camera, key, BP_RENDER_DATA_RADIUS),
        .softness = number_of(m, camera, key, BP_RENDER_DATA_SOFTNESS),
    };
    if (effect->effect == 0)
        effect->effect = name;
    return true;
}

static int by_order(const void *a, const void *b)
{
    const bp_camera_effect_t *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

bp_result_t camera_effects(bp_manager_t *m, bp_entity_t camera, bp_camera_effect_t *effects, uint32_t capacity,
                           uint32_t *count)
{
    uint32_t keys[CAMERA_KEYS], wanted = m->api->world->component(m->world, BP_RENDER_DATA), found = 0;
    uint32_t key_count = m->api->world->keys_of(m->world, camera, keys, CAMERA_KEYS);
    for (uint32_t i = 0; i < key_count; i++) {
        bp_camera_effect_t effect;
        bp_name_t name;
        if (camera_component(m, keys[i], &name) != wanted || !read_effect(m, camera, keys[i], name, &effect))
            continue;
        if (found < capacity)
            effects[found] = effect;
        found++;
    }
    *count = found;
    if (found > 1 && found <= capacity)
        qsort(effects, found, sizeof *effects, by_order);
    return BP_OK;
}

static const bp_camera_api table = {
    .matrix = camera_matrix,
    .draws = camera_draws,
    .effects = camera_effects,
};

/* --- report ----------------------------------------------------------------------------------- */

/* "fog vignette", in order. */
static void write_effects(bp_manager_t *m, bp_entity_t camera, char *text, size_t size)
{
    bp_camera_effect_t effects[EFFECTS_SHOWN];
    uint32_t count;
    size_t used = 0;
    text[0] = '\0';
    camera_effects(m, camera, effects, EFFECTS_SHOWN, &count);
    for (uint32_t i = 0; i < count && i < EFFECTS_SHOWN && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? " " : "",
                                 m->api->name->text(m->host, effects[i].effect));
}

static void report_camera(bp_manager_t *m, bp_report_o *report, bp_entity_t camera)
{
    char entity[40], meshes[32] = "nowhere", effects[256];
    const char *cells[] = {entity, meshes, effects};
    uint32_t count;
    m->api->entity->format(m->host, camera, entity, sizeof entity);
    if (camera_draws(m, camera, NULL, 0, &count) == BP_OK)
        snprintf(meshes, sizeof meshes, "%u", count);
    write_effects(m, camera, effects, sizeof effects);
    m->api->report->row(report, cells);
}

static void report_all(bp_manager_t *m, bp_report_o *report)
{
    static const char *const headers[] = {"camera", "meshes seen", "effects"};
    static const bp_term_t terms[] = {{.component = BP_CAMERA}};
    const bp_term_list_t list = BP_LIST(terms);
    const bp_query_api *queries = m->api->registry->find(m->host, BP_QUERY_API, 1);
    const bp_match_t *match;
    bp_query_o *query;
    bool begun = false;
    if (queries->make(m->world, m->plugin, &list, 0, &query) != BP_OK)
        return;
    for (queries->begin(query, 0); (match = queries->next(query)) != NULL;) {
        for (uint32_t i = 0; i < match->count; i++) {
            if (match->entities[i].id == 0)
                continue;
            if (!begun)
                m->api->report->table(report, "what cameras see", headers, 3);
            begun = true;
            report_camera(m, report, match->entities[i]);
        }
    }
    queries->end(query);
}

/* --- the plugin ------------------------------------------------------------------------------- */

static const bp_table_t tables[] = {BP_TABLE(BP_CAMERA_API, 1, table, BP_CAMERA_RETURNS)};

static const bp_report_i reporting = {report_all};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_report", reporting)}};

static const bp_component_i components[] = {{
    .name = BP_CAMERA,
    .doc = "a camera: what it sees of its world, and through which effects",
    .version = 1,
    .flags = BP_COMPONENT_SINGLE,
    .fields = BP_LIST(fields),
    .extensions = BP_LIST(extensions),
}};

BP_PLUGIN(camera) = {
    .version = "1.0",
    .doc = "cameras: meshes in front of them, nearest first, and the effects of the picture",
    .components = BP_LIST(components),
    .tables = BP_LIST(tables),
};
