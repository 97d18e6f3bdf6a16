/* schema.c - objects of a scene: entities, prototypes, components.
 *
 * Each component type has two definitions: one for entities with a count, where properties may be lists, and one for
 * others. The component's "type" says which definition it follows, or its key where the key is the name of a type;
 * where neither does, the component must be inherited: then any property of any type is taken, so that a misspelt
 * property is still found. Whether an entity counts and extends is asked with if and then, which keeps messages about
 * the one case that applies.
 */
#include "schema.h"

#include "json_output.h"
#include "plugin_list.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ignored[] = "^(\\$|//)";
static const char component_keys[] = "^(\\$.*|//.*|[A-Za-z0-9_]{1,63})$";

enum { NAME_ROOM = 160 };

/* A definition of a type: "body", "body_each" ... */
typedef struct variant_t {
    bool each;     /* the entity has a count */
    bool extended; /* the entity extends a prototype */
} variant_t;

static json_t *reference(const char *name, const char *suffix)
{
    char text[2 * NAME_ROOM];
    snprintf(text, sizeof text, "#/definitions/%s%s", name, suffix);
    return json_pack("{s:s}", "$ref", text);
}

static const char *each_suffix(variant_t variant)
{
    return variant.each ? "_each" : "";
}

static const char *whole_suffix(variant_t variant)
{
    return variant.each ? variant.extended ? "_each_extended" : "_each" : variant.extended ? "_extended" : "";
}

/* An object with these properties, remarks, and nothing else. */
static json_t *closed_object(json_t *properties)
{
    return json_pack("{s:s, s:o, s:{s:b}, s:b}", "type", "object", "properties", properties, "patternProperties",
                     ignored, 1, "additionalProperties", 0);
}

/* --- all component types ------------------------------------------------------------------------------------------ */

typedef struct types_t {
    const program_t *program;
    uint32_t cursor;
    bool of_world; /* those that belong to worlds, and not those of entities */
} types_t;

/* The next component type of all plugins; begin with {.program = program}. */
static bool next_type(types_t *types, bp_look_type_t *type)
{
    bool more;
    type->struct_size = sizeof *type;
    do
        more = types->program->look->type(types->program->host, &types->cursor, type) != 0;
    while (more && ((type->flags & BP_COMPONENT_WORLD) != 0) != types->of_world);
    return more;
}

static json_t *type_names(const program_t *program)
{
    types_t types = {.program = program};
    bp_look_type_t component;
    json_t *names = json_array();
    int bad = 0;
    while (next_type(&types, &component))
        bad |= json_array_append_new(names, json_output_text(component.name));
    return json_output_checked(names, bad);
}

/* --- a component type --------------------------------------------------------------------------------------------- */

static int set_properties(json_t *properties, const program_t *program, const bp_look_type_t *component, bool each)
{
    bp_field_t field;
    int bad = 0;
    for (uint32_t i = 0; describe_field(program, component->name, i, &field); i++) {
        if ((field.flags & BP_FIELD_READ_ONLY) == 0 && strcmp(field.name, "type") != 0)
            bad |= json_object_set_new(properties, field.name, schema_of_property(&field, each));
    }
    return bad;
}

/* Has the type a property that is called "type"? */
static bool has_type_property(const program_t *program, const char *component, bp_field_t *field)
{
    for (uint32_t i = 0; describe_field(program, component, i, field); i++) {
        if (strcmp(field->name, "type") == 0)
            return true;
    }
    return false;
}

/* The condition that a component says its type. Where "type" may also be a property (`both`), only the name of a type
 * says it. */
static json_t *says_type(const program_t *program, bool both)
{
    if (!both)
        return json_pack("{s:s, s:[s]}", "type", "object", "required", "type");
    return json_pack("{s:s, s:[s], s:{s:{s:o}}}", "type", "object", "required", "type", "properties", "type", "enum",
                     type_names(program));
}

static json_t *type_schema(const program_t *program, const bp_look_type_t *component, bool each)
{
    bool of_world = (component->flags & BP_COMPONENT_WORLD) != 0;
    bp_field_t field;
    json_t *types = json_pack("{s:o}", "enum", of_world ? json_pack("[s]", component->name) : type_names(program));
    bool called_type = has_type_property(program, component->name, &field);
    if (called_type)
        types = json_pack("{s:[o,o]}", "anyOf", types, schema_of_property(&field, each));
    json_t *properties = json_pack("{s:o}", "type", types);
    int bad = properties == NULL ? 0 : set_properties(properties, program, component, each);
    if (properties != NULL && called_type)
        bad |= json_object_set_new(properties, "$type", schema_of_property(&field, each));
    json_t *schema = closed_object(json_output_checked(properties, bad));
    bad = schema == NULL ? -1 : 0;
    if (bad == 0 && component->doc[0] != '\0')
        bad |= json_object_set_new(schema, "description", json_output_text(component->doc));
    return json_output_checked(schema, bad);
}

static int define_types(json_t *definitions, const program_t *program, bool each, bool of_world)
{
    types_t types = {.program = program, .of_world = of_world};
    bp_look_type_t component;
    int bad = 0;
    while (next_type(&types, &component)) {
        char name[NAME_ROOM];
        snprintf(name, sizeof name, "type_%s%s", component.name, each ? "_each" : "");
        bad |= json_object_set_new(definitions, name, type_schema(program, &component, each));
    }
    return bad;
}

/* --- components of an entity -------------------------------------------------------------------------------------- */

/* The schema of a component that says its "type": the definition of that type. */
static json_t *typed_schema(const program_t *program, bool each)
{
    types_t types = {.program = program};
    bp_look_type_t component;
    json_t *choices = json_array();
    int bad = 0;
    while (next_type(&types, &component)) {
        char name[NAME_ROOM];
        snprintf(name, sizeof name, "type_%s%s", component.name, each ? "_each" : "");
        bad |= json_array_append_new(choices,
                                     json_pack("{s:{s:[s], s:{s:{s:s}}}, s:o}", "if", "required", "type", "properties",
                                               "type", "const", component.name, "then", reference(name, "")));
    }
    choices = json_output_checked(choices, bad);
    return json_pack("{s:s, s:[s], s:{s:{s:o}}, s:o}", "type", "object", "required", "type", "properties", "type",
                     "enum", type_names(program), "allOf", choices);
}

/* Add a property; where several types have a property of the name, the schema allows the values of each. */
static int merge_property(json_t *properties, const char *name, json_t *schema)
{
    json_t *before = json_object_get(properties, name);
    if (before == NULL)
        return json_object_set_new(properties, name, json_pack("{s:[o]}", "anyOf", schema));
    return json_array_append_new(json_object_get(before, "anyOf"), schema);
}

/* The schema of a component with neither "type" nor the name of a type as its key: any property of any type. */
static json_t *inherited_schema(const program_t *program, bool each)
{
    types_t types = {.program = program};
    bp_look_type_t component;
    json_t *properties = json_object();
    int bad = properties == NULL ? -1 : 0;
    while (bad == 0 && next_type(&types, &component)) {
        bp_field_t field;
        for (uint32_t i = 0; bad == 0 && describe_field(program, component.name, i, &field); i++) {
            if ((field.flags & BP_FIELD_READ_ONLY) == 0)
                bad = merge_property(properties, field.name, schema_of_property(&field, each));
        }
    }
    return closed_object(json_output_checked(properties, bad));
}

/* `schema`, and where the entity extends a prototype also null, which takes an inherited component away. */
static json_t *or_null(variant_t variant, json_t *schema)
{
    if (!variant.extended)
        return schema;
    return json_pack("{s:{s:s}, s:b, s:o}", "if", "type", "null", "then", 1, "else", schema);
}

/* A component with the name of a type as its key: that type, unless its "type" says another. */
static json_t *named_schema(const program_t *program, const char *type, variant_t variant)
{
    char name[NAME_ROOM];
    bp_field_t field;
    snprintf(name, sizeof name, "type_%s", type);
    return or_null(variant,
                   json_pack("{s:o, s:o, s:o}", "if",
                             says_type(program, has_type_property(program, type, &field)), "then",
                             reference("typed", each_suffix(variant)), "else", reference(name, each_suffix(variant))));
}

static bool any_has_type_property(const program_t *program)
{
    types_t types = {.program = program};
    bp_look_type_t component;
    bp_field_t field;
    bool any = false;
    while (next_type(&types, &component))
        any = any || has_type_property(program, component.name, &field);
    return any;
}

static json_t *other_schema(const program_t *program, variant_t variant)
{
    if (!variant.extended)
        return reference("typed", each_suffix(variant));
    return or_null(variant, json_pack("{s:o, s:o, s:o}", "if",
                                      says_type(program, any_has_type_property(program)), "then",
                                      reference("typed", each_suffix(variant)), "else",
                                      reference("inherited", each_suffix(variant))));
}

static json_t *components_schema(const program_t *program, variant_t variant)
{
    types_t types = {.program = program};
    bp_look_type_t component;
    json_t *properties = json_object();
    int bad = 0;
    while (next_type(&types, &component))
        bad |= json_object_set_new(properties, component.name, named_schema(program, component.name, variant));
    return json_pack("{s:s, s:{s:s}, s:o, s:{s:b}, s:o}", "type", "object", "propertyNames", "pattern", component_keys,
                     "properties", json_output_checked(properties, bad), "patternProperties", ignored, 1,
                     "additionalProperties", other_schema(program, variant));
}

static int define_components(json_t *definitions, const program_t *program)
{
    int bad = 0;
    for (int i = 0; i < 4; i++) {
        variant_t variant = {.each = (i & 1) != 0, .extended = (i & 2) != 0};
        char name[NAME_ROOM];
        snprintf(name, sizeof name, "components%s", whole_suffix(variant));
        bad |= json_object_set_new(definitions, name, components_schema(program, variant));
    }
    for (int each = 0; each < 2; each++) {
        bad |= define_types(definitions, program, each != 0, false);
        bad |= json_object_set_new(definitions, each ? "typed_each" : "typed", typed_schema(program, each != 0));
        bad |= json_object_set_new(definitions, each ? "inherited_each" : "inherited",
                                   inherited_schema(program, each != 0));
    }
    return bad;
}

/* What the world itself may have: each under the name of its type. */
static int define_world(json_t *definitions, const program_t *program)
{
    types_t types = {.program = program, .of_world = true};
    bp_look_type_t component;
    json_t *properties = json_object();
    int bad = define_types(definitions, program, false, true);
    while (next_type(&types, &component)) {
        char name[NAME_ROOM];
        snprintf(name, sizeof name, "type_%s", component.name);
        bad |= json_object_set_new(properties, component.name, reference(name, ""));
    }
    json_t *world = closed_object(json_output_checked(properties, bad));
    bad = world == NULL ? -1 : json_object_set_new(world, "description", json_string("what the world itself has"));
    return bad | json_object_set_new(definitions, "world", world);
}

/* --- entities and prototypes -------------------------------------------------------------------------------------- */

/* Does the object have this member? Then one kind of components, else another. */
static json_t *components_if(const char *member, json_t *then, json_t *otherwise)
{
    return json_pack("{s:{s:[s]}, s:o, s:o}", "if", "required", member, "then", then, "else", otherwise);
}

static json_t *components_are(bool each, bool extended)
{
    return json_pack("{s:{s:o}}", "properties", "components",
                     reference("components", whole_suffix((variant_t){each, extended})));
}

static json_t *name_schema(const char *description)
{
    return json_pack("{s:s, s:i, s:i, s:s}", "type", "string", "minLength", 1, "maxLength", 255, "description",
                     description);
}

static json_t *with_components(json_t *schema, bool counts)
{
    json_t *plain = components_if("extends", components_are(false, true), components_are(false, false));
    json_t *choice =
        !counts
            ? plain
            : components_if("count", components_if("extends", components_are(true, true), components_are(true, false)),
                            plain);
    return json_output_checked(schema, schema == NULL ? (json_decref(choice), -1)
                                                      : json_object_set_new(schema, "allOf", json_pack("[o]", choice)));
}

/* An entity; or one of a scene of several worlds, which may be one of a world before. Such an entity has the count of
 * that one, so lists of values are right in it, and neither name nor count. */
static json_t *entity_schema(bool of_worlds)
{
    json_t *properties =
        json_pack("{s:o, s:o, s:{s:s, s:s}, s:{s:s, s:{s:s}, s:s}, s:{s:s, s:i, s:I, s:s}}", "name",
                  name_schema("how other entities refer to it, unique in the scene; also its label"), "extends",
                  name_schema("the prototype whose components it has"), "components", "type", "object", "description",
                  "what it is made of: instance names and their properties", "children", "type", "array", "items",
                  "$ref", of_worlds ? "#/definitions/world_entity" : "#/definitions/entity", "description",
                  "entities whose parent it is", "count", "type",
                  "integer", "minimum", 1, "maximum", (json_int_t)UINT32_MAX - 1, "description",
                  "so many alike; a property may be a list with a value for each");
    if (!of_worlds || properties == NULL)
        return with_components(closed_object(properties), true);
    int bad = json_object_set_new(properties, "entity",
                                  name_schema("the name of the entity of a world before that this one is"));
    json_t *schema = closed_object(json_output_checked(properties, bad));
    json_t *again = json_pack("{s:{s:[{s:[s]},{s:[s]}]}, s:o}", "not", "anyOf", "required", "name", "required", "count",
                              "allOf", json_pack("[o]", components_if("extends", components_are(true, true),
                                                                      components_are(true, false))));
    json_t *otherwise = with_components(json_object(), true);
    json_t *choice = json_pack("[{s:{s:[s]}, s:o, s:o}]", "if", "required", "entity", "then", again, "else", otherwise);
    return json_output_checked(schema, schema == NULL ? (json_decref(choice), -1)
                                                      : json_object_set_new(schema, "allOf", choice));
}

static json_t *prototype_schema(void)
{
    json_t *properties =
        json_pack("{s:o, s:{s:s, s:s}}", "extends", name_schema("another prototype, whose components it has too"),
                  "components", "type", "object", "description", "what entities that extend it are made of");
    return with_components(closed_object(properties), false);
}

/* The worlds that a scene names. */
static json_t *worlds_schema(void)
{
    json_t *world = closed_object(json_pack("{s:{s:s}, s:{s:s, s:{s:s}, s:s}}", "world", "$ref",
                                            "#/definitions/world", "entities", "type", "array", "items", "$ref",
                                            "#/definitions/world_entity", "description", "what comes into this world"));
    return json_pack("{s:s, s:i, s:{s:b, s:o}, s:b, s:s}", "type", "object", "minProperties", 1, "patternProperties",
                     ignored, 1, "^[A-Za-z0-9_]{1,63}$", world, "additionalProperties", 0, "description",
                     "entities of several worlds, in place of entities");
}

static json_t *scene_properties(void)
{
    return json_pack("{s:o, s:{s:s}, s:{s:s, s:{s:b}, s:{s:s}, s:s}, s:{s:s, s:{s:s}, s:s}, s:{s:s}}", "worlds",
                     worlds_schema(),
                     "$schema", "type", "string",
                     "prototypes", "type", "object", "patternProperties", ignored, 1, "additionalProperties", "$ref",
                     "#/definitions/prototype", "description", "entities in the making: what others extend", "entities",
                     "type", "array", "items", "$ref", "#/definitions/entity", "description", "what the scene spawns",
                     "world", "$ref", "#/definitions/world");
}

json_t *schema_of_scenes(const program_t *program)
{
    json_t *root = json_pack("{s:s, s:s, s:s}", "$schema", "http://json-schema.org/draft-07/schema#", "title",
                             "Backplane scene", "description",
                             "A scene for the plugins that were loaded when this was written: backplane schema --help");
    json_t *definitions = json_object(), *object = closed_object(scene_properties());
    int bad = root == NULL || definitions == NULL || object == NULL ? -1 : 0;
    if (bad == 0)
        bad = json_object_update(root, object);
    json_decref(object);
    if (bad == 0) {
        bad |= json_object_set_new(root, "not", json_pack("{s:[s], s:[{s:[s]},{s:[s]}]}", "required", "worlds", "anyOf",
                                                          "required", "entities", "required", "world"));
        bad |= json_object_set_new(definitions, "entity", entity_schema(false));
        bad |= json_object_set_new(definitions, "world_entity", entity_schema(true));
        bad |= json_object_set_new(definitions, "prototype", prototype_schema());
        bad |= define_components(definitions, program);
        bad |= define_world(definitions, program);
    }
    if (bad == 0)
        bad = json_object_set_new(root, "definitions", definitions);
    else
        json_decref(definitions);
    return json_output_checked(root, bad);
}

/* --- schema values ----------------------------------------------------------------------------------------------- */

/* The schema of one property: all that may be written for it.
 *
 * Keywords of JSON Schema apply to values of their own kind alone: `minimum` to numbers, `pattern` to strings, `items`
 * to lists. So one flat schema with a list of types says "a number in this range, or a text that looks like one, or
 * null", and editors complete and explain it better than a choice between schemas.
 */

#define NUMBER "[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?"
#define WHOLE "[-+]?(0[xX][0-9a-fA-F]+|[0-9]+)"
#define BLANK "[ \\t]*"

static uint32_t parts_of(uint32_t type)
{
    switch (type) {
    case BP_VEC2: case BP_DVEC2: return 2;
    case BP_VEC3: case BP_DVEC3: return 3;
    case BP_VEC4: case BP_DVEC4: case BP_QUAT: case BP_COLOUR: return 4;
    case BP_MAT4: return 16;
    default: return 1;
    }
}

/* The smallest and the largest number that an integer type holds; NULL for other types, and for numbers that JSON has
 * no room for. */
typedef struct bounds_t {
    const char *min, *max;
} bounds_t;

static bounds_t bounds_of(uint32_t type)
{
    switch (type) {
    case BP_I8: return (bounds_t){"-128", "127"};
    case BP_U8: return (bounds_t){"0", "255"};
    case BP_I16: return (bounds_t){"-32768", "32767"};
    case BP_U16: return (bounds_t){"0", "65535"};
    case BP_I32: return (bounds_t){"-2147483648", "2147483647"};
    case BP_U32: return (bounds_t){"0", "4294967295"};
    case BP_U64: return (bounds_t){"0", NULL};
    default: return (bounds_t){NULL, NULL};
    }
}

static bool is_whole(uint32_t type)
{
    return type == BP_I64 || bounds_of(type).min != NULL;
}

static bool is_double(uint32_t type)
{
    return type == BP_F64 || type == BP_DVEC2 || type == BP_DVEC3 || type == BP_DVEC4;
}

static bool is_text(uint32_t type)
{
    return type == BP_STRING || type == BP_NAME || type == BP_ENTITY;
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static json_t *limit(uint32_t type, const char *text, double otherwise)
{
    return text != NULL ? json_output_number(type, text) : json_real(otherwise);
}

/* `minimum` and `maximum`: the declared ones, else what the type holds. */
static int set_limits(json_t *schema, const bp_field_t *field)
{
    bounds_t bounds = bounds_of(field->type);
    const char *min = field->min != NULL ? field->min : bounds.min, *max = field->max != NULL ? field->max : bounds.max;
    int bad = 0;
    bool single = !is_double(field->type) && !is_whole(field->type);
    if (min != NULL || single)
        bad |= json_object_set_new(schema, "minimum", limit(field->type, min, -(double)FLT_MAX));
    if (max != NULL || single)
        bad |= json_object_set_new(schema, "maximum", limit(field->type, max, (double)FLT_MAX));
    return bad;
}

/* The text form of a vector: numbers separated by blanks or a comma. */
static json_t *vector_pattern(uint32_t type)
{
    char pattern[512];
    uint32_t parts = parts_of(type), least = type == BP_COLOUR ? 3 : parts;
    snprintf(pattern, sizeof pattern, "^%s%s%s((%s,%s|[ \\t]+)%s){%u,%u}%s,?%s$", BLANK,
             type == BP_COLOUR ? "(#([0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})|" : "", NUMBER, BLANK, BLANK, NUMBER,
             least - 1, parts - 1, type == BP_COLOUR ? ")" : "", BLANK);
    return json_string(pattern);
}

static json_t *number_schema(const bp_field_t *field)
{
    bool whole = is_whole(field->type);
    json_t *schema = json_pack("{s:[s,s,s], s:s}", "type", whole ? "integer" : "number", "string", "null", "pattern",
                               whole ? "^" BLANK WHOLE BLANK "$" : "^" BLANK NUMBER BLANK "$");
    return json_output_checked(schema, schema == NULL ? -1 : set_limits(schema, field));
}

static json_t *vector_schema(const bp_field_t *field)
{
    uint32_t parts = parts_of(field->type);
    json_t *number = json_pack("{s:s}", "type", "number");
    int bad = number == NULL ? -1 : set_limits(number, field);
    return json_pack("{s:[s,s,s], s:o, s:i, s:i, s:o}", "type", "array", "string", "null", "items",
                     json_output_checked(number, bad), "minItems", field->type == BP_COLOUR ? 3 : (int)parts,
                     "maxItems", (int)parts, "pattern", vector_pattern(field->type));
}

/* --- named values ------------------------------------------------------------------------------------------------- */

/* Names and numbers. */
static json_t *choice_schema(const bp_field_t *field)
{
    described_value_t value = {.number = -1};
    json_t *list = json_array();
    int bad = list == NULL ? -1 : json_array_append_new(list, json_null());
    for (const char *values = field->values; bad == 0 && describe_value(&values, &value);) {
        bad |= json_array_append_new(list, json_string(value.name));
        bad |= json_array_append_new(list, json_integer(value.number));
    }
    return json_pack("{s:o}", "enum", json_output_checked(list, bad));
}

/* Flags with '|' between them, or a number. */
static json_t *flags_schema(const bp_field_t *field)
{
    described_value_t value = {.number = -1};
    uint64_t mask = 0;
    size_t room = 2 * strlen(field->values) + 256, used = 0;
    char *names = malloc(room), *pattern = malloc(2 * room);
    json_t *schema = NULL;
    for (const char *values = field->values; names != NULL && describe_value(&values, &value);) {
        used += (size_t)snprintf(names + used, room - used, "%s|", value.name);
        mask |= UINT64_C(1) << (value.number & 63);
    }
    if (names != NULL && pattern != NULL) {
        snprintf(pattern, 2 * room, "^" BLANK "(%s" WHOLE ")(" BLANK "\\|" BLANK "(%s" WHOLE "))*" BLANK "$", names,
                 names);
        schema = json_pack("{s:[s,s,s], s:i, s:o, s:s}", "type", "integer", "string", "null", "minimum", 0, "maximum",
                           json_output_count(mask), "pattern", pattern);
    }
    free(names);
    free(pattern);
    return schema;
}

/* --- one value ---------------------------------------------------------------------------------------------------- */

static json_t *value_schema(const bp_field_t *field)
{
    if (field->values != NULL)
        return (field->flags & BP_FIELD_BITS) != 0 ? flags_schema(field) : choice_schema(field);
    if (field->type == BP_BOOL)
        return json_pack("{s:[b,b,s,s,s,s,s,s,s,s,n]}", "enum", 1, 0, "true", "false", "on", "off", "yes", "no", "1",
                         "0");
    if (field->type == BP_NAME)
        return json_pack("{s:[s,s], s:i}", "type", "string", "null", "maxLength", 255);
    if (is_text(field->type))
        return json_pack("{s:[s,s]}", "type", "string", "null");
    return parts_of(field->type) == 1 ? number_schema(field) : vector_schema(field);
}

/* All values of an array or a list. The schema takes their text as a string too, where the values are no texts
 * themselves. */
static json_t *values_schema(const bp_field_t *field)
{
    json_t *item = value_schema(field);
    json_t *schema = is_text(field->type)
                         ? json_pack("{s:[s,s], s:o}", "type", "array", "null", "items", item)
                         : json_pack("{s:[s,s,s], s:o, s:s}", "type", "array", "string", "null", "items", item,
                                     "pattern", "^[ \\t]*\\[");
    int bad = schema == NULL ? -1 : 0;
    if (bad == 0 && field->count > 1) {
        bad |= json_object_set_new(schema, "minItems", json_output_count(field->count));
        bad |= json_object_set_new(schema, "maxItems", json_output_count(field->count));
    }
    return json_output_checked(schema, bad);
}

static json_t *cell_schema(const bp_field_t *field)
{
    return describe_is_single(field) ? value_schema(field) : values_schema(field);
}

/* The values of one cell, or a list of cells. A list of cells is a list that holds lists; where a value is a vector
 * itself, those lists do not begin with a number. */
static json_t *cell_or_list(const bp_field_t *field)
{
    json_t *other = parts_of(field->type) == 1
                        ? json_pack("{s:s}", "type", "array")
                        : json_pack("{s:s, s:{s:i, s:[{s:s}]}}", "type", "array", "not", "minItems", 1, "items", "type",
                                    "number");
    json_t *list = json_pack("{s:s, s:o}", "type", "array", "items", values_schema(field));
    return json_pack("{s:{s:s, s:o}, s:o, s:o}", "if", "type", "array", "contains", other, "then", list, "else",
                     values_schema(field));
}

/* A value, or a list of one value for each instance. A list that begins with a number is a single vector. */
static json_t *value_or_list(const bp_field_t *field)
{
    json_t *list = json_pack("{s:s, s:o}", "type", "array", "items", value_schema(field));
    if (parts_of(field->type) == 1)
        return json_pack("{s:{s:s}, s:o, s:o}", "if", "type", "array", "then", list, "else", value_schema(field));
    return json_pack("{s:{s:s, s:i, s:[{s:s}]}, s:o, s:{s:{s:s}, s:o, s:o}}", "if", "type", "array", "minItems", 1,
                     "items", "type", "number", "then", value_schema(field), "else", "if", "type", "array", "then",
                     list, "else", value_schema(field));
}

/* --- the property ------------------------------------------------------------------------------------------------- */

static json_t *description(const bp_field_t *field)
{
    char text[1024], range[512], shape[64];
    const char *doc = field->doc != NULL ? field->doc : "", *unit = field->unit;
    describe_range(field, range, sizeof range);
    snprintf(text, sizeof text, "%s%s%s%s%s%s%s", doc, doc[0] != '\0' ? "; " : "",
             describe_shape(field, shape, sizeof shape), unit != NULL ? ", in " : "", unit != NULL ? unit : "",
             range[0] != '\0' ? ", " : "", range);
    return json_output_text(text);
}

json_t *schema_of_property(const bp_field_t *field, bool each)
{
    described_value_t room;
    json_t *schema = !each                       ? cell_schema(field)
                     : describe_is_single(field) ? value_or_list(field)
                                                 : cell_or_list(field);
    int bad = schema == NULL ? -1 : 0;
    if (bad == 0)
        bad |= json_object_set_new(schema, "description", description(field));
    if (bad == 0 && field->unit != NULL && field->unit[0] != '\0') /* a keyword that validators pass over */
        bad |= json_object_set_new(schema, "unit", json_output_text(field->unit));
    if (bad == 0 && field->type != BP_ENTITY && describe_is_single(field))
        bad |= json_object_set_new(schema, "default", json_output_value(field->type, describe_initial(field, &room)));
    return json_output_checked(schema, bad);
}
