/* values.c - values of fields as JSON (values.h): part by part, as the table of shapes says. */
#include "values.h"

#include "undo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- to JSON -------------------------------------------------------------------------------------------------- */

/* One part of kind `shape->kind`. */
static void write_part(const inspector_t *in, writer_t *w, uint32_t type, const shape_t *shape, const void *cell)
{
    bp_value_t value;
    memcpy(&value, cell, shape->part_size);
    switch (shape->kind) {
    case SHAPE_BOOL: writer_truth(w, value.boolean != 0); break;
    case SHAPE_SIGNED:
        writer_integer(w, shape->part_size == 8 ? value.i64 : (int64_t)shape_number(type, 0, cell));
        break;
    case SHAPE_UNSIGNED:
        writer_count(w, shape->part_size == 8 ? value.u64 : (uint64_t)shape_number(type, 0, cell));
        break;
    case SHAPE_REAL:
        if (shape->part_size == 4)
            writer_real32(w, value.f32);
        else
            writer_real(w, value.f64);
        break;
    case SHAPE_TEXT: writer_text(w, value.string); break;
    case SHAPE_NAME: writer_text(w, in->api->name->text(in->host, value.name)); break;
    case SHAPE_ENTITY: look_write_entity(in, w, value.entity); break;
    default: writer_null(w);
    }
}

void values_write(const inspector_t *in, writer_t *w, uint32_t type, const void *cell)
{
    const shape_t *shape = shape_of(type);
    if (shape->parts < 2) {
        write_part(in, w, type, shape, cell);
        return;
    }
    writer_array(w);
    for (uint32_t i = 0; i < shape->parts; i++)
        write_part(in, w, type, shape, (const char *)cell + (size_t)i * shape->part_size);
    writer_array_end(w);
}

static void write_all(const inspector_t *in, writer_t *w, const bp_property_t *property, const void *cell)
{
    bp_list_t list = {(void *)(uintptr_t)cell, property->count, 0};
    if (property->flags & BP_FIELD_LIST)
        memcpy(&list, cell, sizeof list);
    writer_array(w);
    for (uint32_t i = 0; i < list.count; i++)
        values_write(in, w, property->type, (const char *)list.items + (size_t)i * shape_size(property->type));
    writer_array_end(w);
}

bp_result_t values_write_property(const inspector_t *in, writer_t *w, bp_world_o *world, bp_property_t *property,
                                  bp_entity_t entity)
{
    bp_value_t value;
    size_t size = property->size;
    void *cell = size <= sizeof value ? &value : allocator_make(&in->allocator, size);
    if (cell == NULL)
        return BP_ERROR_MEMORY;
    bp_result_t result = in->api->property->get(world, property, &entity, 1, cell, size);
    if (result == BP_OK && values_is_whole(property))
        write_all(in, w, property, cell);
    else if (result == BP_OK)
        values_write(in, w, property->type, cell);
    if (cell != &value)
        allocator_free(&in->allocator, cell, size);
    return result;
}

bool values_get(const inspector_t *in, writer_t *w, bp_world_o *world, bp_entity_t entity, const char *component,
                const bp_field_t *field)
{
    bp_value_t value;
    bp_property_t property;
    if (field->count > 1 || (field->flags & BP_FIELD_LIST))
        return in->api->property->resolve(world, entity, component, field->name, &property) == BP_OK &&
               values_write_property(in, w, world, &property, entity) == BP_OK;
    if (in->api->property->get_named(world, entity, component, field->name, field->type, &value) != BP_OK)
        return false;
    values_write(in, w, field->type, &value);
    return true;
}

/* --- from JSON ------------------------------------------------------------------------------------------------ */

static bool misfit(ask_t *ask, const shape_t *shape)
{
    return ask_fail(ask, RPC_INVALID_PARAMS, "this is no %s; write %s", shape->name,
                    shape->parts > 1 ? "an array of its parts, or the text that the console takes"
                                     : "a value of that type, or the text that the console takes");
}

/* Is this a text that stands for a number that JSON lacks? */
static bool is_no_json_number(const json_t *json)
{
    const char *text = json_string_value(json);
    return text != NULL && (strcmp(text, "nan") == 0 || strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0);
}

static bool read_number(const json_t *json, double *number)
{
    if (!json_is_number(json) && !is_no_json_number(json))
        return false;
    *number = json_is_number(json) ? json_number_value(json) : strtod(json_string_value(json), NULL);
    return true;
}

/* Read a whole number that fits the part; a number of more than 63 bits is a text of digits too. */
static bool read_whole(const json_t *json, const shape_t *shape, bp_value_t *value)
{
    uint32_t bits = shape->part_size * 8u;
    int64_t whole;
    if (json_is_real(json) && floor(json_real_value(json)) >= json_real_value(json) &&
        fabs(json_real_value(json)) < 9e15)
        whole = (int64_t)json_real_value(json);
    else if (json_is_integer(json))
        whole = json_integer_value(json);
    else
        return false;
    int64_t most = shape->kind == SHAPE_SIGNED ? INT64_MAX >> (64 - bits)
                   : bits == 64                ? INT64_MAX
                                               : (INT64_C(1) << bits) - 1;
    if (whole > most || whole < (shape->kind == SHAPE_SIGNED ? -most - 1 : 0))
        return false;
    memcpy(value, &whole, sizeof whole); /* the low bytes come first on all supported machines */
    return true;
}

/* One part, at `cell`. */
static bool read_part(ask_t *ask, const json_t *json, const shape_t *shape, void *cell)
{
    bp_value_t value = {0};
    double number = 0;
    bool fits = false;
    switch (shape->kind) {
    case SHAPE_BOOL:
        fits = json_is_boolean(json);
        value.boolean = json_is_true(json);
        break;
    case SHAPE_SIGNED:
    case SHAPE_UNSIGNED: fits = read_whole(json, shape, &value); break;
    case SHAPE_REAL:
        fits = read_number(json, &number);
        if (shape->part_size == 4)
            value.f32 = (float)number;
        else
            value.f64 = number;
        break;
    case SHAPE_TEXT:
        fits = json_is_string(json);
        value.string = fits ? json_string_value(json) : "";
        break;
    case SHAPE_NAME:
        fits = json_is_string(json);
        if (fits && ask->in->api->name->intern(ask->in->host, json_string_value(json), &value.name) != BP_OK)
            return ask_fail_host(ask, RPC_INVALID_PARAMS);
        break;
    case SHAPE_ENTITY:
        if (!json_is_null(json) && !ask_entity_of(ask, json, &value.entity))
            return false;
        fits = true;
        break;
    default: break;
    }
    if (fits)
        memcpy(cell, &value, shape->part_size);
    return fits || misfit(ask, shape);
}

/* A vector from an array of all its parts, or from an object of some of them. */
static bool read_parts(ask_t *ask, const json_t *json, uint32_t type, char *cell)
{
    const shape_t *shape = shape_of(type);
    const char *key;
    json_t *item;
    if (json_is_array(json) && json_array_size(json) == shape->parts) {
        for (uint32_t i = 0; i < shape->parts; i++)
            if (!read_part(ask, json_array_get(json, i), shape, cell + (size_t)i * shape->part_size))
                return misfit(ask, shape);
        return true;
    }
    if (!json_is_object(json))
        return misfit(ask, shape);
    json_object_foreach((json_t *)(uintptr_t)json, key, item) {
        uint32_t part = shape_part(type, key);
        if (part == BP_NONE || !read_part(ask, item, shape, cell + (size_t)part * shape->part_size))
            return misfit(ask, shape);
    }
    return true;
}

bool values_read(ask_t *ask, const json_t *json, uint32_t type, bp_value_t *value)
{
    const shape_t *shape = shape_of(type);
    bp_value_t read = *value;
    if (shape->parts < 2 ? !read_part(ask, json, shape, &read) : !read_parts(ask, json, type, (char *)&read))
        return false;
    *value = read;
    return true;
}

bool values_read_part(ask_t *ask, const json_t *json, uint32_t type, uint32_t part, bp_value_t *value)
{
    const shape_t *shape = shape_of(type);
    return read_part(ask, json, shape, (char *)value + (size_t)part * shape->part_size);
}

/* --- setting -------------------------------------------------------------------------------------------------- */

/* The code of BRP for a failure of the host. */
static int32_t code_of(bp_result_t result)
{
    switch (result) {
    case BP_ERROR_DEAD: return RPC_NO_ENTITY;
    case BP_ERROR_NOT_FOUND: return RPC_ABSENT;
    case BP_ERROR_MEMORY: return RPC_INTERNAL;
    default: return RPC_COMPONENT;
    }
}

/* The part that a path names: ".x", "x", "[0]"; BP_NONE for the whole. False, with the error left, where there is no
 * such part. */
static bool read_path(ask_t *ask, const char *path, uint32_t type, uint32_t *part)
{
    char name[8];
    size_t length = strlen(path);
    *part = BP_NONE;
    if (length == 0)
        return true;
    bool index = path[0] == '[' && path[length - 1] == ']';
    const char *begin = path + (path[0] == '.' || index);
    length -= (size_t)(begin - path) + index;
    if (length < sizeof name) {
        memcpy(name, begin, length);
        name[length] = '\0';
        *part = shape_part(type, name);
    }
    return *part != BP_NONE || ask_fail(ask, RPC_COMPONENT, "a %s has no part '%.32s'", shape_of(type)->name, path);
}

/* Is it for the console's reader? That does not take the texts by which a number is told that JSON lacks. */
static bool is_text_for_console(const json_t *json, uint32_t type)
{
    bool number = (type == BP_F32 || type == BP_F64) && is_no_json_number(json);
    return json_is_string(json) && type != BP_STRING && type != BP_NAME && !number;
}

static bool read_items(ask_t *ask, const json_t *json, uint32_t type, char *items)
{
    for (size_t i = 0; i < json_array_size(json); i++) {
        bp_value_t value = {0};
        if (!values_read(ask, json_array_get(json, i), type, &value))
            return false;
        memcpy(items + i * shape_size(type), &value, shape_size(type));
    }
    return true;
}

/* Set all of an array or a list: from an array of values, or from the console's text. */
static bool set_all(ask_t *ask, bp_path_t *path, const json_t *json)
{
    const bp_property_api *api = ask->in->api->property;
    const bp_property_t *property = &path->property;
    size_t count = json_array_size(json), size = (count + 1) * shape_size(property->type);
    bool list = (property->flags & BP_FIELD_LIST) != 0;
    if (json_is_string(json)) {
        bp_result_t result = api->set_text(path, json_string_value(json));
        return result == BP_OK || ask_fail_host(ask, code_of(result));
    }
    if (!json_is_array(json) || (!list && count != property->count) || count >= BP_NONE)
        return list ? ask_fail(ask, RPC_INVALID_PARAMS, "this is no list of %s; write an array of values",
                               shape_of(property->type)->name)
                    : ask_fail(ask, RPC_INVALID_PARAMS, "this is no array of %u %s; write an array of so many values",
                               property->count, shape_of(property->type)->name);
    char *items = allocator_make(&ask->in->allocator, size);
    if (items == NULL)
        return ask_fail(ask, RPC_INTERNAL, "out of memory");
    bool good = read_items(ask, json, property->type, items);
    if (good) {
        bp_list_t whole = {items, (uint32_t)count, 0};
        bp_result_t result = api->set(path->world, &path->property, &path->entity, 1,
                                      list ? (const void *)&whole : items, property->size);
        good = result == BP_OK || ask_fail_host(ask, code_of(result));
    }
    allocator_free(&ask->in->allocator, items, size);
    return good;
}

/* Set the whole, or one part of it. */
static bool set_value(ask_t *ask, bp_path_t *path, uint32_t part, const json_t *json)
{
    const bp_property_api *api = ask->in->api->property;
    uint32_t type = path->property.type;
    bp_value_t value = {0};
    bp_result_t result;
    if (!undo_note(ask, path))
        return false;
    if (values_is_whole(&path->property))
        return set_all(ask, path, json);
    if (part == BP_NONE && is_text_for_console(json, type)) {
        result = api->set_text(path, json_string_value(json));
        return result == BP_OK || ask_fail_host(ask, code_of(result));
    }
    result = api->get(path->world, &path->property, &path->entity, 1, &value, sizeof value);
    if (result != BP_OK)
        return ask_fail_host(ask, code_of(result));
    if (part == BP_NONE ? !values_read(ask, json, type, &value) : !values_read_part(ask, json, type, part, &value))
        return false;
    result = api->set(path->world, &path->property, &path->entity, 1, &value, sizeof value);
    return result == BP_OK || ask_fail_host(ask, code_of(result));
}

bool values_set_path(ask_t *ask, bp_path_t *path, const json_t *json)
{
    return set_value(ask, path, BP_NONE, json);
}

bool values_set(ask_t *ask, bp_world_o *world, bp_entity_t entity, const char *component, const char *name,
                const char *path, const json_t *json)
{
    bp_path_t resolved = {.world = world, .entity = entity};
    uint32_t part;
    char element[96];
    bp_result_t result = ask->in->api->property->resolve(world, entity, component, name, &resolved.property);
    const char *close = path[0] == '[' ? strchr(path, ']') : NULL;
    size_t index = close == NULL ? 0 : (size_t)(close - path) + 1;
    if (result == BP_OK && values_is_whole(&resolved.property) && index > 0 && index < 16) { /* one value of several */
        snprintf(element, sizeof element, "%.64s%.*s", name, (int)index, path);
        path += index;
        result = ask->in->api->property->resolve(world, entity, component, element, &resolved.property);
    }
    if (result != BP_OK)
        return ask_fail_host(ask, code_of(result));
    return read_path(ask, path, resolved.property.type, &part) && set_value(ask, &resolved, part, json);
}
