/* compile_values.c - JSON to typed values, and the errors where these do not fit.
 *
 * JSON knows one kind of number; the tree tells numbers with a dot or an exponent from others, a difference that users
 * do not intend. So 3.0 counts as the whole number 3 (as in JSON Schema), as long as it is exact: beyond 2^53 a double
 * no longer holds every whole number, and only numbers written as digits alone are taken.
 */
#include "../base/error.h"
#include "compile_inner.h"

#include <helpers/bp_real.h>
#include <math.h>
#include <stdio.h>

static const double most_exact = 9007199254740992.0; /* 2^53 */
static const double first_too_large = 3.4028235677973366e38; /* rounds to no float any more */

const char *json_value_kind(const tree_item_t *json)
{
    switch (tree_kind(json)) {
    case TREE_OBJECT: return "an object";
    case TREE_LIST: return "a list";
    case TREE_STRING: return "a string";
    case TREE_INTEGER: return "a whole number";
    case TREE_REAL: return "a number";
    case TREE_TRUE: case TREE_FALSE: return "true or false";
    default: return "null";
    }
}

bool json_value_is_list(uint32_t type, const tree_item_t *json)
{
    if (!tree_is(json, TREE_LIST))
        return false;
    bool of_numbers = value_parts(type) > 1 && tree_count(json) > 0 && tree_is_number(json + 1);
    return !of_numbers;
}

/* How a value of this type is written in JSON, for messages. */
static const char *form_of(uint32_t type)
{
    switch (type) {
    case BP_VEC2: case BP_DVEC2: return "a list of 2 numbers, like [0, 1]";
    case BP_VEC3: case BP_DVEC3: return "a list of 3 numbers, like [0, 0, 1]";
    case BP_VEC4: case BP_DVEC4: return "a list of 4 numbers, like [0, 0, 0, 1]";
    case BP_QUAT: return "a list of 4 numbers x y z w, like [0, 0, 0, 1]";
    case BP_MAT4: return "a list of 16 numbers, column by column";
    case BP_COLOUR: return "a string like \"#ff8000\" or a list of 3 or 4 numbers";
    case BP_STRING: return "a string";
    case BP_ENTITY: return "the name of an entity in a string, or null";
    case BP_NAME: return "a name in a string";
    default: return value_form(type);
    }
}

static bp_result_t wrong_type(const field_t *field, const tree_item_t *json, error_text_t *error)
{
    text_t list;
    if (field->named.count > 0)
        return error_set(error, BP_ERROR_TYPE, "%s takes one of its %s in a string or a number (it has %s), not %s",
                         field->name, field->named.bits ? "flags, or several like \"a|b\"," : "values",
                         named_list(&field->named, ", ", &list), json_value_kind(json));
    return error_set(error, BP_ERROR_TYPE, "%s takes %s (type %s), not %s", field->name, form_of(field->type),
                     value_type_name(field->type), json_value_kind(json));
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static bool whole_number(const tree_item_t *json, value_integer_t *out)
{
    if (tree_is(json, TREE_INTEGER)) {
        *out = (value_integer_t){(uint64_t)json->integer, json->integer < 0};
        return true;
    }
    double real = tree_number(json);
    if (!(fabs(real) <= most_exact) || floor(real) < real)
        return false;
    *out = (value_integer_t){(uint64_t)(int64_t)real, real < 0};
    return true;
}

static bp_result_t wrong_part(const field_t *field, uint32_t part, const tree_item_t *json, error_text_t *error)
{
    return error_set(error, BP_ERROR_TYPE, "%s takes %s (type %s), and item %u of this list is %s", field->name,
                     form_of(field->type), value_type_name(field->type), part, json_value_kind(json));
}

/* What a number cannot be, in as many digits as tell it from those that can. */
NOT_INLINED static bp_result_t refuse_number(const field_t *field, uint32_t type, double real, error_text_t *error)
{
    char text[40];
    snprintf(text, sizeof text, type == BP_F32 ? "%g" : "%.17g", real);
    bp_real_dot(text);
    if (type == BP_F32)
        return error_set(error, BP_ERROR_RANGE, "%s = %s does not fit into a number of type f32, at most 3.4028235e38",
                         field->name, text);
    return error_set(error, BP_ERROR_RANGE, "%s = %s is not %s (type %s)", field->name, text, form_of(field->type),
                     value_type_name(field->type));
}

/* One number as a part of a value of `field`, of the scalar type `type`. */
static bp_result_t read_number(const field_t *field, uint32_t type, const tree_item_t *json, void *out,
                               error_text_t *error)
{
    value_integer_t whole;
    double real = tree_number(json);
    if (!tree_is_number(json))
        return wrong_type(field, json, error);
    if (type == BP_F64) {
        memcpy(out, &real, sizeof real);
        return BP_OK;
    }
    if (type == BP_F32 && !(fabs(real) < first_too_large))
        return refuse_number(field, type, real, error);
    if (type == BP_F32) {
        memcpy(out, &(float){(float)real}, sizeof(float));
        return BP_OK;
    }
    if (whole_number(json, &whole) && value_write_integer(type, whole, out))
        return BP_OK;
    return refuse_number(field, type, real, error);
}

static bp_result_t read_parts(const field_t *field, const tree_item_t *json, bp_value_t *value, error_text_t *error)
{
    uint32_t parts = value_parts(field->type);
    uint32_t given = tree_count(json), part = 0;
    if (!tree_is(json, TREE_LIST))
        return wrong_type(field, json, error);
    bool colour = field->type == BP_COLOUR;
    if (given != parts && !(colour && given == 3))
        return error_set(error, BP_ERROR_TYPE, "%s takes %s (type %s), not a list of %u", field->name,
                         form_of(field->type), value_type_name(field->type), given);
    uint32_t type = value_part_type(field->type), size = value_size(type);
    if (colour)
        value->colour.a = 1;
    for (tree_walk_t walk = tree_walk(json); tree_next(&walk); part++) {
        bp_result_t result = tree_is_number(walk.value)
                                 ? read_number(field, type, walk.value, (char *)value + part * size, error)
                                 : wrong_part(field, part, walk.value, error);
        if (result != BP_OK)
            return result;
    }
    return BP_OK;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static bool is_text(uint32_t type)
{
    return type == BP_STRING || type == BP_NAME || type == BP_ENTITY;
}

static bp_result_t read_text(const field_t *field, const tree_item_t *json, bp_value_t *value, error_text_t *error)
{
    if (!tree_is(json, TREE_STRING))
        return wrong_type(field, json, error);
    if (field->type == BP_NAME && json->extent > NAMES_MAX_LENGTH)
        return error_set(error, BP_ERROR_LIMIT, "%s: a name has at most %d bytes", field->name, NAMES_MAX_LENGTH);
    value->string = json->string;
    return BP_OK;
}

static bp_result_t read_string_form(const value_context_t *context, const field_t *field, const tree_item_t *json,
                                    bp_value_t *value, error_text_t *error)
{
    bp_result_t result = field_parse(field, context, json->string, value, error);
    return result == BP_OK ? BP_OK : error_prefix(error, result, "%s: ", field->name);
}

bp_result_t json_value_read(const value_context_t *context, const field_t *field, const tree_item_t *json,
                            bp_value_t *value, error_text_t *error)
{
    bp_result_t result;
    memset(value, 0, sizeof *value);
    if (is_text(field->type))
        return read_text(field, json, value, error);
    if (tree_is(json, TREE_STRING))
        result = read_string_form(context, field, json, value, error);
    else if (field->type == BP_BOOL && !tree_is(json, TREE_TRUE) && !tree_is(json, TREE_FALSE))
        result = wrong_type(field, json, error);
    else if (field->type == BP_BOOL)
        result = (value->boolean = tree_is(json, TREE_TRUE), BP_OK);
    else if (value_parts(field->type) == 1)
        result = read_number(field, field->type, json, value, error);
    else
        result = read_parts(field, json, value, error);
    return result == BP_OK ? field_check(field, value, error) : result;
}

/* --- components -------------------------------------------------------------------------------------------------- */

/* "components" of an entity or a template, laid over inherited components.
 *
 * A draft holds a cell for every field of every component: the value that the scene gives, or a mark that it gives
 * none. An entity's draft begins as a copy of its template's, so that a property that is given again simply replaces
 * one cell; templates of templates work in the same way, and no chain is walked for each entity.
 */

void scene_draft_free(scene_t *scene, scene_draft_t *draft)
{
    memory_free(&scene->memory, draft->parts, draft->part_capacity * sizeof *draft->parts);
    memory_free(&scene->memory, draft->cells, draft->cell_capacity * sizeof *draft->cells);
    memset(draft, 0, sizeof *draft);
}

static bool reserve(scene_t *scene, scene_draft_t *draft, uint32_t parts, uint32_t cells)
{
    return memory_reserve(&scene->memory, &draft->parts, &draft->part_capacity, parts, sizeof *draft->parts) &&
           memory_reserve(&scene->memory, &draft->cells, &draft->cell_capacity, cells, sizeof *draft->cells);
}

bp_result_t scene_draft_copy(scene_t *scene, scene_draft_t *draft, const scene_draft_t *from)
{
    draft->part_count = draft->cell_count = 0;
    draft->changed = false;
    if (!reserve(scene, draft, from->part_count, from->cell_count))
        return scene_no_memory(scene);
    if (from->part_count == 0)
        return BP_OK;
    memcpy(draft->parts, from->parts, from->part_count * sizeof *from->parts);
    memcpy(draft->cells, from->cells, from->cell_count * sizeof *from->cells);
    draft->part_count = from->part_count;
    draft->cell_count = from->cell_count;
    return BP_OK;
}

static bool goes_before(const scene_part_t *a, const scene_part_t *b)
{
    return a->type != b->type ? a->type < b->type : a->hash < b->hash;
}

/* Sort in place, for a few parts that are mostly in order, since scenes list components in the same order. */
void scene_draft_sort(scene_draft_t *draft)
{
    for (uint32_t i = 1; i < draft->part_count; i++) {
        scene_part_t part = draft->parts[i];
        uint32_t at = i;
        for (; at > 0 && goes_before(&part, &draft->parts[at - 1]); at--)
            draft->parts[at] = draft->parts[at - 1];
        draft->parts[at] = part;
    }
}

/* --- parts -------------------------------------------------------------------------------------------------------- */

static scene_part_t *find_part(const scene_draft_t *draft, const char *name)
{
    bp_name_t hash = names_hash(name);
    for (uint32_t i = 0; i < draft->part_count; i++) {
        if (draft->parts[i].hash == hash && strcmp(draft->parts[i].name, name) == 0)
            return &draft->parts[i];
    }
    return NULL;
}

static bp_result_t remove_part(scene_t *scene, scene_draft_t *draft, const scene_place_t *place)
{
    scene_part_t *part = find_part(draft, place->component);
    nearest_t nearest = {.wanted = place->component};
    text_t hint;
    if (part != NULL) {
        uint32_t behind = draft->part_count - (uint32_t)(part - draft->parts) - 1;
        memmove(part, part + 1, behind * sizeof *part);
        draft->part_count--;
        draft->changed = true;
        return BP_OK;
    }
    for (uint32_t i = 0; i < draft->part_count; i++)
        nearest_consider(&nearest, draft->parts[i].name);
    return scene_fail(scene, BP_ERROR_NOT_FOUND, place,
                      "null removes an inherited component, and no '%.60s' is inherited%s", place->component,
                      nearest_hint(&nearest, &hint));
}

static bp_result_t add_part(scene_t *scene, scene_draft_t *draft, const scene_place_t *place, uint32_t type,
                            scene_part_t **part)
{
    const json_type_t *t = &scene->types.items[type];
    uint32_t cells = t->component->field_count;
    if (draft->part_count >= SCENE_MAX_PARTS)
        return scene_fail(scene, BP_ERROR_LIMIT, place, "an entity has at most %d components", SCENE_MAX_PARTS);
    if (!reserve(scene, draft, draft->part_count + 1, draft->cell_count + cells))
        return scene_no_memory(scene);
    *part = &draft->parts[draft->part_count++];
    **part = (scene_part_t){type, draft->cell_count, names_hash(place->component), place->component};
    for (uint32_t i = 0; i < cells; i++)
        draft->cells[draft->cell_count++] = (scene_cell_t){.kind = CELL_UNSET, .template = BP_NONE};
    draft->changed = true;
    return BP_OK;
}

static bp_result_t unknown_type(scene_t *scene, const scene_place_t *place, const char *type, const char *why)
{
    text_t hint;
    return scene_fail(scene, BP_ERROR_NOT_FOUND, place, "%s '%.60s'%s", why, type,
                      json_types_hint(&scene->types, type, &hint));
}

/* Has the component type a property that is called "type"? That is also called "$type", beside which "type" is the
 * component's type. */
static const char type_property[] = "$type";

static bool has_type_property(const scene_t *scene, uint32_t type)
{
    return type != BP_NONE && json_types_field(scene->types.items[type].component, "type") != BP_NONE;
}

/* Is "type", which says `said` in `json`, a property here? Of a component that has one called so, unless the text is
 * the name of a component type. */
static bool type_is_property(const scene_t *scene, uint32_t type, const tree_item_t *json,
                             const tree_item_t *said)
{
    return said != NULL && has_type_property(scene, type) && tree_member(json, type_property) == NULL &&
           !(tree_is(said, TREE_STRING) && json_types_find(&scene->types, said->string) != BP_NONE);
}

/* The type of a component: given by "type", else inherited, else its own name. */
static bp_result_t find_type(scene_t *scene, const scene_place_t *place, const tree_item_t *json,
                             const scene_part_t *inherited, uint32_t *type)
{
    scene_place_t at = *place;
    const tree_item_t *said = tree_member(json, "type");
    uint32_t otherwise = inherited != NULL ? inherited->type : json_types_find(&scene->types, place->component);
    if (type_is_property(scene, otherwise, json, said))
        said = NULL;
    if (said == NULL && inherited != NULL) {
        *type = inherited->type;
        return BP_OK;
    }
    if (said == NULL) {
        *type = otherwise;
        return *type != BP_NONE
                   ? BP_OK
                   : unknown_type(scene, place, place->component,
                                  "a component needs a \"type\", unless it is called by its type; there is no type");
    }
    at.property = "type";
    if (!tree_is(said, TREE_STRING))
        return scene_fail(scene, BP_ERROR_TYPE, &at, "\"type\" takes the name of a component type in a string, not %s",
                          json_value_kind(said));
    *type = json_types_find(&scene->types, said->string);
    if (*type == BP_NONE)
        return unknown_type(scene, &at, said->string, "no loaded plugin has a component type");
    if (inherited != NULL && inherited->type != *type)
        return scene_fail(scene, BP_ERROR_TYPE, &at,
                          "the inherited '%.60s' is a %s; give the other component another name, and remove this one "
                          "with null",
                          place->component, scene->types.items[inherited->type].component->name);
    return BP_OK;
}

/* --- properties --------------------------------------------------------------------------------------------------- */

static bp_result_t read_value(scene_t *scene, const field_t *field, const tree_item_t *json, bp_value_t *value)
{
    return field_is_single(field) ? json_value_read(&scene->base->values, field, json, value, scene->error)
                                  : scene_read_bundle(scene, field, json, &value->u32);
}

static bool has_one_for_each(const field_t *field, const tree_item_t *json)
{
    return field_is_single(field) ? json_value_is_list(field->type, json) : scene_is_list_of_bundles(field, json);
}

static bp_result_t read_list(scene_t *scene, const scene_place_t *place, const field_t *field, const tree_item_t *json,
                             scene_cell_t *cell)
{
    size_t size = tree_count(json), count = scene->nodes[place->node].count;
    if (size != count)
        return scene_fail(scene, BP_ERROR_ARGUMENT, place, "%s has %zu values for %zu instances (count is %zu)",
                          field->name, size, count, count);
    scene_place_t at = *place;
    at.element = 0;
    for (tree_walk_t walk = tree_walk(json); tree_next(&walk); at.element++) {
        bp_value_t value;
        bool null = tree_is(walk.value, TREE_NULL);
        bp_result_t result = null ? BP_OK : read_value(scene, field, walk.value, &value);
        if (result != BP_OK)
            return scene_fail_at(scene, result, &at);
    }
    *cell = (scene_cell_t){.kind = CELL_LIST, .template = BP_NONE, .list = json};
    return BP_OK;
}

static bp_result_t set_property(scene_t *scene, const scene_place_t *place, const field_t *field,
                                const tree_item_t *json, scene_cell_t *cell, bool lists)
{
    if ((field->flags & BP_FIELD_READ_ONLY) != 0)
        return scene_fail(scene, BP_ERROR_ARGUMENT, place, "%s is read only: its plugin sets it", field->name);
    if (lists && has_one_for_each(field, json))
        return read_list(scene, place, field, json, cell);
    *cell = (scene_cell_t){.kind = tree_is(json, TREE_NULL) ? CELL_DEFAULT : CELL_VALUE, .template = place->template};
    if (cell->kind == CELL_DEFAULT)
        return BP_OK;
    bp_result_t result = read_value(scene, field, json, &cell->value);
    if (result == BP_OK)
        return BP_OK;
    if (!lists && field_is_single(field) && place->node != BP_NONE && tree_is(json, TREE_LIST) &&
        value_parts(field->type) <= 1)
        return scene_fail(scene, result, place,
                          "%s takes one value; a list gives one to each instance where the entity has a \"count\"",
                          field->name);
    return scene_fail_at(scene, result, place);
}

static bp_result_t unknown_property(scene_t *scene, const scene_place_t *place, const component_t *component)
{
    text_t hint;
    return scene_fail(scene, BP_ERROR_NOT_FOUND, place, "no property '%.60s' in %s%s", place->property, component->name,
                      json_types_field_hint(component, place->property, &hint));
}

/* A property by its former name. Both names in one object would be two values for one property. */
static bp_result_t find_former(scene_t *scene, const scene_place_t *place, const component_t *component,
                               const tree_item_t *json, uint32_t *field)
{
    *field = json_types_former(component, place->property);
    if (*field == BP_NONE)
        return unknown_property(scene, place, component);
    const char *name = component->fields[*field].name;
    if (tree_member(json, name) != NULL)
        return scene_fail(scene, BP_ERROR_EXISTS, place,
                          "'%.60s' is what '%s' was called; only one of them can be given", place->property, name);
    if (scene->remarked != name)
        log_write(&scene->base->log, BP_LOG_WARNING, "host", "a scene says '%s' of %s, which is called '%s' now",
                  place->property, component->name, name);
    scene->remarked = name;
    return BP_OK;
}

static bp_result_t set_properties(scene_t *scene, scene_draft_t *draft, const scene_place_t *place, uint32_t type,
                                  uint32_t cells, const tree_item_t *json, bool lists)
{
    const component_t *component = scene->types.items[type].component;
    bp_result_t result = BP_OK;
    scene_place_t at = *place;
    for (tree_walk_t walk = tree_walk(json); result == BP_OK && tree_next(&walk);) {
        at.property = walk.key->string;
        bool says_type = strcmp(at.property, "type") == 0 && !type_is_property(scene, type, json, walk.value);
        if (at.property[0] == '$' && strcmp(at.property, type_property) == 0 && has_type_property(scene, type))
            at.property = "type";
        if (scene_ignores(at.property) || says_type)
            continue;
        uint32_t field = json_types_field(component, at.property);
        if (field == BP_NONE)
            result = find_former(scene, &at, component, json, &field);
        if (result == BP_OK)
            result = set_property(scene, &at, &component->fields[field], walk.value, &draft->cells[cells + field],
                                  lists);
    }
    return result;
}

/* --- components --------------------------------------------------------------------------------------------------- */

static bp_result_t describe(scene_t *scene, scene_draft_t *draft, const scene_place_t *place, const tree_item_t *json,
                            bool lists)
{
    uint32_t type = BP_NONE;
    if (tree_is(json, TREE_NULL))
        return remove_part(scene, draft, place);
    if (!tree_is(json, TREE_OBJECT))
        return scene_fail(scene, BP_ERROR_TYPE, place, "a component is an object of its properties, or null, not %s",
                          json_value_kind(json));
    scene_part_t *part = find_part(draft, place->component);
    bp_result_t result = find_type(scene, place, json, part, &type);
    if (result == BP_OK && part == NULL)
        result = add_part(scene, draft, place, type, &part);
    if (result != BP_OK)
        return result;
    return set_properties(scene, draft, place, type, part->cells, json, lists);
}

bp_result_t scene_draft_describe(scene_t *scene, scene_draft_t *draft, const scene_place_t *place,
                                 const tree_item_t *components, bool lists)
{
    bp_result_t result = BP_OK;
    scene_place_t at = *place;
    if (components == NULL)
        return BP_OK;
    if (!tree_is(components, TREE_OBJECT))
        return scene_fail(scene, BP_ERROR_TYPE, place, "'components' takes an object, {\"name\": {...}}, not %s",
                          json_value_kind(components));
    for (tree_walk_t walk = tree_walk(components); result == BP_OK && tree_next(&walk);) {
        at.component = walk.key->string;
        if (scene_ignores(at.component))
            continue;
        if (!names_is_word(at.component))
            return scene_fail(scene, BP_ERROR_ARGUMENT, &at,
                              "'%.60s' is no name for a component; use 1 to 63 letters, digits and underscores",
                              at.component);
        result = describe(scene, draft, &at, walk.value, lists);
    }
    return result;
}
