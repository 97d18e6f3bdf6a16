/* discover.c - lists of methods and types: rpc.discover (OpenRPC 1.3.2) and registry.schema (the types, as JSON
 * Schemas).
 *
 * The document of rpc.discover is made from the table of methods, so that the document cannot tell of methods that do
 * not exist.
 */
#include "methods.h"

#include "look.h"
#include "values.h"

#include <stdio.h>

/* --- rpc.discover --------------------------------------------------------------------------------------------- */

/* The parameters of a method, from the list of their names. */
static void write_params(writer_t *w, const char *list)
{
    writer_array(w);
    while (*list != '\0') {
        size_t length = strcspn(list, " ");
        bool required = list[length - 1] != '?';
        writer_object(w);
        writer_key(w, "name");
        writer_text_of(w, list, required ? length : length - 1);
        writer_key_truth(w, "required", required);
        writer_key(w, "schema");
        writer_truth(w, true);
        writer_object_end(w);
        list += length + (list[length] == ' ');
    }
    writer_array_end(w);
}

static int discover(ask_t *ask)
{
    const method_t *method;
    char url[128];
    writer_t *w = ask->out;
    const char *address = inspector_option(ask->in, OPTION_ADDRESS)->string;
    snprintf(url, sizeof url, strchr(address, ':') != NULL ? "http://[%s]:%u" : "http://%s:%u", address,
             (unsigned)http_port(ask->in->http));
    writer_object(w);
    writer_key_text(w, "openrpc", "1.3.2");
    writer_key(w, "info");
    writer_object(w);
    writer_key_text(w, "title", "Backplane");
    writer_key_text(w, "version", INSPECTOR_VERSION);
    writer_object_end(w);
    writer_key(w, "methods");
    writer_array(w);
    for (uint32_t i = 0; (method = methods_at(i)) != NULL; i++) {
        writer_object(w);
        writer_key_text(w, "name", method->name);
        writer_key_text(w, "summary", method->doc);
        writer_key_text(w, "paramStructure", "by-name");
        writer_key(w, "params");
        write_params(w, method->params);
        writer_object_end(w);
    }
    writer_array_end(w);
    writer_key(w, "servers");
    writer_array(w);
    writer_object(w);
    writer_key_text(w, "name", "inspector");
    writer_key_text(w, "url", url);
    writer_object_end(w);
    writer_array_end(w);
    writer_object_end(w);
    return ASK_DONE;
}

/* --- registry.schema ------------------------------------------------------------------------------------------ */

static const char *json_type_of(uint32_t type)
{
    static const char *const names[] = {[SHAPE_NONE] = "null",   [SHAPE_BOOL] = "boolean", [SHAPE_SIGNED] = "int",
                                        [SHAPE_UNSIGNED] = "uint", [SHAPE_REAL] = "float",   [SHAPE_TEXT] = "string",
                                        [SHAPE_NAME] = "string", [SHAPE_ENTITY] = "uint"};
    return shape_of(type)->parts > 1 ? "array" : names[shape_of(type)->kind];
}

static void write_path(writer_t *w, const char *path, const char *plugin, const char *kind, const char *type)
{
    writer_key_text(w, "shortPath", path);
    writer_key_text(w, "typePath", path);
    if (plugin[0] != '\0')
        writer_key_text(w, "crateName", plugin);
    writer_key_text(w, "kind", kind);
    writer_key_text(w, "type", type);
}

static void write_value_type(writer_t *w, uint32_t type)
{
    static const char *const items[] = {"{\"type\":{\"$ref\":\"#/$defs/f32\"}}",
                                        "{\"type\":{\"$ref\":\"#/$defs/f64\"}}"};
    writer_key(w, shape_of(type)->name);
    writer_object(w);
    write_path(w, shape_of(type)->name, "", "Value", json_type_of(type));
    if (shape_of(type)->parts > 1) {
        writer_key(w, "items");
        writer_json(w, shape_of(type)->part_size == 8 ? items[1] : items[0], strlen(items[0]));
    }
    writer_object_end(w);
}

static void write_field(writer_t *w, const bp_field_t *field)
{
    char reference[64];
    snprintf(reference, sizeof reference, "#/$defs/%s", shape_of(field->type)->name);
    writer_key(w, field->name);
    writer_object(w);
    writer_key(w, "type");
    writer_object(w);
    if (field->count > 1 || (field->flags & BP_FIELD_LIST)) {
        writer_key_text(w, "type", "array");
        writer_key(w, "items");
        writer_object(w);
        writer_key_text(w, "$ref", reference);
        writer_object_end(w);
    } else {
        writer_key_text(w, "$ref", reference);
    }
    writer_object_end(w);
    writer_key_text(w, "typePath", field->name);
    if (field->doc != NULL && field->doc[0] != '\0')
        writer_key_text(w, "description", field->doc);
    if (field->unit != NULL && field->unit[0] != '\0')
        writer_key_text(w, "unit", field->unit);
    if (field->flags & BP_FIELD_READ_ONLY)
        writer_key_truth(w, "readOnly", true);
    writer_object_end(w);
}

/* The schema of one component type under the name that clients use for it. */
static void write_type(const inspector_t *in, writer_t *w, const char *path, const look_type_t *type)
{
    bp_field_t field;
    writer_key(w, path);
    writer_object(w);
    write_path(w, path, type->plugin, "Struct", "object");
    writer_key(w, "reflectTypes");
    const char *reflected = type->flags & BP_COMPONENT_WORLD ? "[\"Resource\",\"Serialize\",\"Deserialize\"]"
                                                             : "[\"Component\",\"Serialize\",\"Deserialize\"]";
    writer_json(w, reflected, strlen(reflected));
    if (type->doc[0] != '\0')
        writer_key_text(w, "description", type->doc);
    writer_key(w, "properties");
    writer_object(w);
    for (uint32_t i = 0; look_field(in, type->name, i, &field); i++)
        write_field(w, &field);
    writer_object_end(w);
    writer_key(w, "required");
    writer_array(w);
    writer_array_end(w);
    writer_key_truth(w, "additionalProperties", false);
    writer_object_end(w);
}

/* A parameter by either of two names, since clients write these names in two ways. */
static const json_t *crates_param(const ask_t *ask, const char *name, const char *other)
{
    const json_t *given = ask_param(ask, name);
    return given != NULL ? given : ask_param(ask, other);
}

/* May a type of this plugin be told, by the parameters with_crates and without_crates? */
static bool is_wanted(const ask_t *ask, const char *plugin)
{
    const json_t *with = crates_param(ask, "with_crates", "withCrates");
    const json_t *without = crates_param(ask, "without_crates", "withoutCrates");
    bool wanted = json_array_size(with) == 0;
    for (size_t i = 0; i < json_array_size(with); i++)
        wanted |= json_is_string(json_array_get(with, i)) &&
                  strcmp(json_string_value(json_array_get(with, i)), plugin) == 0;
    for (size_t i = 0; i < json_array_size(without); i++)
        wanted &= !json_is_string(json_array_get(without, i)) ||
                  strcmp(json_string_value(json_array_get(without, i)), plugin) != 0;
    return wanted;
}

static int schema(ask_t *ask)
{
    look_type_t type;
    look_part_t part;
    char full[LOOK_NAME_MAX];
    writer_object(ask->out);
    for (uint32_t t = BP_BOOL; t < BP_TYPE_COUNT; t++)
        if (crates_param(ask, "with_crates", "withCrates") == NULL)
            write_value_type(ask->out, t);
    for (uint32_t i = 0; look_type(ask->in, i, &type); i++) {
        if (!is_wanted(ask, type.plugin))
            continue;
        write_type(ask->in, ask->out, type.name, &type);
        for (uint32_t key = 0; ask->world != NULL && look_part(ask->in, ask->world, key, &part); key++) {
            if (strcmp(part.type, type.name) != 0 || strcmp(part.name, part.type) == 0)
                continue;
            look_full_name(&part, full);
            write_type(ask->in, ask->out, full, &type);
        }
    }
    writer_object_end(ask->out);
    return ASK_DONE;
}

const method_t discover_methods[] = {
    {"registry.schema", "the types of components and values, as JSON Schemas",
     "with_crates? without_crates? type_limit?", 0, schema, NULL},
    {"rpc.discover", "the methods, as an OpenRPC document", "", 0, discover, NULL},
    {0},
};
