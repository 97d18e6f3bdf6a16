/* stage.c - the host, the three components, and blobs as text.
 *
 * The text is written from the blob's tables alone, not by the code that spawns, so that compiling can be tested by
 * itself.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "stage.h"

#include "../unit/zoo.h"

#include "scene/blob.h"

#include <stdlib.h>
#include <string.h>

/* --- components --------------------------------------------------------------------------------------------------- */

static const bp_field_t pose_fields[] = {
    {.name = "parent", .type = BP_ENTITY, .flags = BP_FIELD_PARENT},
    {.name = "place", .type = BP_VEC3},
};
static const bp_field_t tag_fields[] = {{.name = "name", .type = BP_STRING, .flags = BP_FIELD_LABEL}};

static const bp_spawn_order_i early = {-10};
static const bp_extension_t early_extensions[] = {{BP_EXTENSION("bp_spawn_order", early)}};

static const bp_component_i set_components[] = {
    {.name = "pose", .fields = BP_LIST(pose_fields), .extensions = BP_LIST(early_extensions)},
    {.name = "tag", .fields = BP_LIST(tag_fields)},
};
static const bp_plugin_head_t set =
    BP_PLUGIN_HEAD("set", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(set_components)}));

/* --- the stage ---------------------------------------------------------------------------------------------------- */

void stage_open(stage_t *stage)
{
    static const bp_plugin_head_t *plugins[ZOO_PLUGINS + 1];
    rig_init(&stage->rig);
    memcpy(plugins, zoo_plugins, sizeof zoo_plugins);
    plugins[ZOO_PLUGINS] = &set;
    stage->rig.desc.static_plugins = plugins;
    stage->rig.desc.static_plugin_count = COUNT(plugins);
    rig_open(&stage->rig);
    stage->host = stage->rig.host;
    for (uint32_t i = 0; i < COUNT(plugins); i++)
        WORKS(stage->host, bp_host_load_plugin(stage->host, plugins[i]->name, NULL, 0));
}

void stage_close(stage_t *stage)
{
    rig_close(&stage->rig);
}

char *stage_json(const char *scene)
{
    char *json = malloc(strlen(scene) + 1);
    ck_assert_ptr_nonnull(json);
    for (size_t i = 0; i <= strlen(scene); i++)
        json[i] = scene[i] == '\'' ? '"' : scene[i];
    return json;
}

bp_scene_o *stage_compile(stage_t *stage, const char *scene)
{
    bp_scene_o *blob = NULL;
    char *json = stage_json(scene);
    WORKS(stage->host, bp_scene_compile_text(stage->host, "scene", json, strlen(json), &blob));
    free(json);
    return blob;
}

void stage_refuses(stage_t *stage, bp_result_t code, const char *scene, const char *sentence)
{
    bp_scene_o *blob = NULL;
    char *json = stage_json(scene);
    size_t before = stage->rig.heap.bytes;
    bp_result_t result = bp_scene_compile_text(stage->host, "scene", json, strlen(json), &blob);
    const char *said = bp_host_error(stage->host);
    EXPECT(result == code, "%d instead of %d for %.200s: %s", result, code, scene, said);
    EXPECT(strncmp(said, sentence, strlen(sentence)) == 0, "%.200s\n says %s\n  not %s", scene, said, sentence);
    EXPECT(blob == NULL && stage->rig.heap.bytes == before, "something is left of %.200s", scene);
    free(json);
}

/* --- blobs as text ------------------------------------------------------------------------------------------------ */

typedef struct pen_t {
    FILE *file;
    blob_t blob;
} pen_t;

static void write_floats(pen_t *pen, const void *value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        fprintf(pen->file, "%s%.9g", i > 0 ? " " : "", (double)((const float *)value)[i]);
}

static void write_doubles(pen_t *pen, const void *value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        fprintf(pen->file, "%s%.17g", i > 0 ? " " : "", ((const double *)value)[i]);
}

static void write_value(pen_t *pen, uint32_t type, const void *value)
{
    bp_value_t v;
    uint32_t number;
    memset(&v, 0, sizeof v);
    memcpy(&v, value, blob_value_size(type));
    number = v.u32;
    switch (type) {
    case BP_BOOL: fprintf(pen->file, "%s", v.boolean ? "true" : "false"); break;
    case BP_I32: fprintf(pen->file, "%d", v.i32); break;
    case BP_U32: fprintf(pen->file, "%u", v.u32); break;
    case BP_I64: fprintf(pen->file, "%lld", (long long)v.i64); break;
    case BP_I8: fprintf(pen->file, "%d", v.i8); break;
    case BP_U8: fprintf(pen->file, "%u", v.u8); break;
    case BP_I16: fprintf(pen->file, "%d", v.i16); break;
    case BP_U16: fprintf(pen->file, "%u", v.u16); break;
    case BP_U64: fprintf(pen->file, "%llu", (unsigned long long)v.u64); break;
    case BP_F64: case BP_DVEC2: case BP_DVEC3: case BP_DVEC4: write_doubles(pen, &v, value_parts(type)); break;
    case BP_STRING: fprintf(pen->file, "'%s'", blob_text(&pen->blob, number)); break;
    case BP_ENTITY: number == 0 ? fprintf(pen->file, "none") : fprintf(pen->file, "#%u", number - 1); break;
    case BP_NAME:
        for (uint32_t i = 0; i < pen->blob.info->name_count; i++) {
            const char *text = blob_text(&pen->blob, pen->blob.names[i]);
            fprintf(pen->file, "%s", names_hash(text) == v.name ? text : "");
        }
        break;
    default: write_floats(pen, &v, value_parts(type)); break;
    }
}

static void write_component(pen_t *pen, const blob_component_t *component, uint32_t instance)
{
    fprintf(pen->file, "(");
    for (uint32_t f = 0; f < component->field_count; f++) {
        const blob_field_t *field = &pen->blob.fields[component->first_field + f];
        size_t row = field->kind == BLOB_ONE ? 0 : instance;
        fprintf(pen->file, "%s%s=", f > 0 ? " " : "", blob_text(&pen->blob, field->name));
        write_value(pen, field->type,
                    (const char *)blob_values(&pen->blob, field) + row * blob_value_size(field->type));
    }
    fprintf(pen->file, ")");
}

static void write_part(pen_t *pen, const blob_part_t *part, uint32_t row)
{
    const blob_component_t *component = &pen->blob.components[part->component];
    const char *type = blob_text(&pen->blob, component->type);
    fprintf(pen->file, " ");
    if (part->name != names_hash(type)) {
        write_value(pen, BP_NAME, &part->name);
        fprintf(pen->file, ":");
    }
    fprintf(pen->file, "%s", type);
    write_component(pen, component, part->first_instance + row);
}

static void write_entity(pen_t *pen, const blob_group_t *group, uint32_t row)
{
    uint32_t entity = group->first_entity + row;
    fprintf(pen->file, "%u:", entity);
    for (uint32_t p = 0; p < group->part_count; p++)
        write_part(pen, &pen->blob.parts[group->first_part + p], row);
    if (pen->blob.parents != NULL && pen->blob.parents[entity] != 0)
        fprintf(pen->file, " < %u", pen->blob.parents[entity] - 1);
    fprintf(pen->file, "\n");
}

char *stage_describe(const bp_scene_o *scene)
{
    size_t size;
    const void *bytes = bp_scene_bytes(scene, &size);
    pen_t pen = {.file = tmpfile()};
    memory_t memory;
    error_text_t error = {.calls = NULL};
    memory_init(&memory, "pen", &(bp_allocator_i){.resize = NULL});
    bp_result_t result = blob_open(&pen.blob, &memory, bytes, size, "blob", &error);
    EXPECT(result == BP_OK, "%s", error.text);
    for (uint32_t g = 0; g < pen.blob.info->group_count; g++) {
        for (uint32_t row = 0; row < pen.blob.groups[g].rows; row++)
            write_entity(&pen, &pen.blob.groups[g], row);
    }
    return take_text(pen.file, &size);
}

void stage_expects(stage_t *stage, const char *scene, const char *text)
{
    bp_scene_o *made = stage_compile(stage, scene);
    char *said = stage_describe(made);
    EXPECT(strcmp(said, text) == 0, "%s\ngives\n%s\nnot\n%s", scene, said, text);
    free(said);
    bp_scene_close(made);
}
