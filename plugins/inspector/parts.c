/* parts.c - whole components as JSON (parts.h). */
#include "parts.h"

#include "near.h"
#include "values.h"

#include <stdio.h>

void parts_write(const inspector_t *in, writer_t *w, bp_world_o *world, bp_entity_t entity, const look_part_t *part)
{
    char name[LOOK_NAME_MAX], type[LOOK_NAME_MAX];
    bp_field_t field;
    snprintf(name, sizeof name, "%s", part->name);
    snprintf(type, sizeof type, "%s", part->type);
    writer_object(w);
    for (uint32_t i = 0; look_field(in, type, i, &field); i++) {
        writer_key(w, field.name);
        if (!values_get(in, w, world, entity, name, &field))
            writer_null(w);
    }
    writer_object_end(w);
}

/* --- by the names of clients ---------------------------------------------------------------------------------- */

const look_part_t *parts_find(const look_part_t *parts, uint32_t count, const char *wanted)
{
    char full[LOOK_NAME_MAX];
    const look_part_t *found = NULL;
    for (uint32_t i = 0; i < count; i++) {
        look_full_name(&parts[i], full);
        if (strcmp(full, wanted) == 0)
            return &parts[i];
        if (found == NULL && look_is_called(&parts[i], wanted))
            found = &parts[i];
    }
    return found;
}

bool parts_parent_field(const inspector_t *in, const look_part_t *parts, uint32_t count, const look_part_t **part,
                        bp_field_t *field)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t f = 0; look_field(in, parts[i].type, f, field); f++)
            if (field->type == BP_ENTITY && (field->flags & BP_FIELD_PARENT)) {
                *part = &parts[i];
                return true;
            }
    return false;
}

/* The entity's parent, {0} where it has none. */
static bp_entity_t parent_of(const inspector_t *in, bp_world_o *world, bp_entity_t entity, const look_part_t *parts,
                             uint32_t count)
{
    const look_part_t *part;
    bp_field_t field;
    bp_entity_t parent = {0};
    if (!parts_parent_field(in, parts, count, &part, &field) ||
        in->api->property->get_named(world, entity, part->name, field.name, BP_ENTITY, &parent) != BP_OK)
        return (bp_entity_t){0};
    return parent;
}

bool parts_has(const inspector_t *in, bp_world_o *world, bp_entity_t entity, const look_part_t *parts, uint32_t count,
               const char *wanted)
{
    if (strcmp(wanted, PARTS_NAME) == 0)
        return look_label(in, world, entity) != NULL;
    if (strcmp(wanted, PARTS_PARENT) == 0)
        return parent_of(in, world, entity, parts, count).id != 0;
    return parts_find(parts, count, wanted) != NULL;
}

bool parts_write_called(const inspector_t *in, writer_t *w, bp_world_o *world, bp_entity_t entity,
                        const look_part_t *parts, uint32_t count, const char *wanted)
{
    const look_part_t *part = parts_find(parts, count, wanted);
    if (!parts_has(in, world, entity, parts, count, wanted))
        return false;
    if (strcmp(wanted, PARTS_NAME) == 0)
        writer_text(w, look_label(in, world, entity));
    else if (strcmp(wanted, PARTS_PARENT) == 0)
        look_write_entity(in, w, parent_of(in, world, entity, parts, count));
    else
        parts_write(in, w, world, entity, part);
    return true;
}

bool parts_known(const inspector_t *in, bp_world_o *world, const char *wanted)
{
    look_type_t type;
    look_part_t part;
    if (strcmp(wanted, PARTS_NAME) == 0 || strcmp(wanted, PARTS_PARENT) == 0)
        return true;
    for (uint32_t i = 0; look_type(in, i, &type); i++)
        if (strcmp(type.name, wanted) == 0)
            return true;
    for (uint32_t key = 0; look_part(in, world, key, &part); key++)
        if (look_is_called(&part, wanted))
            return true;
    return false;
}

/* --- inserting ------------------------------------------------------------------------------------------------ */

/* The type named by `wanted`, or by its part before "::"; the text behind "::" is the name in the entity. */
static bool split_name(ask_t *ask, const char *wanted, char type[64], const char **name)
{
    look_type_t known;
    near_t near = {.wanted = wanted};
    const char *colons = strstr(wanted, "::");
    size_t length = colons != NULL ? (size_t)(colons - wanted) : strlen(wanted);
    for (uint32_t i = 0; look_type(ask->in, i, &known); i++) {
        if (strlen(known.name) == length && strncmp(known.name, wanted, length) == 0) {
            snprintf(type, 64, "%s", known.name);
            *name = colons != NULL ? colons + 2 : type;
            return true;
        }
        near_consider(&near, known.name);
    }
    return ask_fail(ask, RPC_COMPONENT, "there is no component type '%.100s'%s%.64s%s", wanted,
                    near.best == NULL ? "" : "; did you mean '", near.best == NULL ? "" : near.best,
                    near.best == NULL ? "" : "'?");
}

/* The key of a component that is to be added. */
static bool key_of(ask_t *ask, const char *wanted, uint32_t *key, char type[64], const char **name)
{
    const bp_world_api *api = ask->in->api->world;
    bp_name_t interned = 0;
    if (!split_name(ask, wanted, type, name))
        return false;
    uint32_t component = api->component(ask->world, type);
    if (component == BP_NONE)
        return ask_fail(ask, RPC_COMPONENT, "this world has no '%s'; add it to the world's components", type);
    if (strcmp(*name, type) != 0 && ask->in->api->name->intern(ask->in->host, *name, &interned) != BP_OK)
        return ask_fail_host(ask, RPC_COMPONENT);
    return api->key(ask->world, component, interned, key) == BP_OK || ask_fail_host(ask, RPC_COMPONENT);
}

static bool set_fields(ask_t *ask, bp_entity_t entity, const char *name, const json_t *fields)
{
    const char *field;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)fields, field, value)
        if (!values_set(ask, ask->world, entity, name, field, "", value))
            return false;
    return true;
}

/* The component of an entity that `wanted` names among `components`, NULL where the entity lacks it. A component that
 * is in `components` under its full name is not meant by its type as well. */
static const look_part_t *part_meant(const look_part_t *parts, uint32_t count, const json_t *components,
                                     const char *wanted)
{
    const look_part_t *part = parts_find(parts, count, wanted);
    char full[LOOK_NAME_MAX];
    if (part == NULL || strcmp(part->name, wanted) == 0)
        return part;
    look_full_name(part, full);
    return strcmp(full, wanted) == 0 || json_object_get(components, full) == NULL ? part : NULL;
}

static bool insert_one(ask_t *ask, bp_entity_t entity, const json_t *components, const char *wanted,
                       const json_t *fields, uint32_t *added)
{
    const bp_world_api *api = ask->in->api->world;
    look_part_t parts[LOOK_PARTS_MAX];
    char type[64];
    const char *name = "";
    if (!json_is_object(fields))
        return ask_fail(ask, RPC_COMPONENT, "the value of '%.100s' is an object of its fields", wanted);
    uint32_t count = look_parts(ask->in, ask->world, entity, parts);
    const look_part_t *part = part_meant(parts, count, components, wanted);
    if (part != NULL)
        return set_fields(ask, entity, part->name, fields);
    if (!key_of(ask, wanted, added, type, &name))
        return false;
    if (api->add(ask->world, *added, &entity, 1) != BP_OK) {
        *added = BP_NONE;
        return ask_fail_host(ask, RPC_COMPONENT);
    }
    return set_fields(ask, entity, name, fields);
}

bool parts_insert(ask_t *ask, bp_entity_t entity, const json_t *components)
{
    uint32_t added[LOOK_PARTS_MAX], count = 0;
    const char *wanted;
    json_t *fields;
    bool fine = true;
    json_object_foreach ((json_t *)(uintptr_t)components, wanted, fields) {
        uint32_t key = BP_NONE;
        fine = fine && (count < LOOK_PARTS_MAX ||
                        ask_fail(ask, RPC_COMPONENT, "an entity takes at most %d components here", LOOK_PARTS_MAX));
        fine = fine && insert_one(ask, entity, components, wanted, fields, &key);
        if (key != BP_NONE && count < LOOK_PARTS_MAX)
            added[count++] = key;
    }
    while (!fine && count > 0)
        ask->in->api->world->remove(ask->world, added[--count], &entity, 1);
    return fine;
}

/* --- paths ----------------------------------------------------------------------------------------------------- */

bool parts_cut_path(ask_t *ask, const char *path, char property[PARTS_PROPERTY_MAX], const char **rest)
{
    const char *begin = path + (path[0] == '.');
    size_t length = strcspn(begin, ".[");
    if (length == 0 || length >= PARTS_PROPERTY_MAX)
        return ask_fail(ask, RPC_COMPONENT, "the path '%.64s' names no property; write .mass or .position.x", path);
    memcpy(property, begin, length);
    property[length] = '\0';
    *rest = begin + length;
    return true;
}

/* --- names ---------------------------------------------------------------------------------------------------- */

void parts_write_known(const inspector_t *in, writer_t *w, bp_world_o *world)
{
    look_type_t type;
    bp_look_component_t told = {.struct_size = sizeof told};
    char full[LOOK_NAME_MAX];
    writer_array(w);
    for (uint32_t i = 0; look_type(in, i, &type); i++)
        if ((type.flags & BP_COMPONENT_WORLD) == 0 && in->api->world->component(world, type.name) != BP_NONE)
            writer_text(w, type.name);
    for (uint32_t cursor = 0; in->look->component(world, &cursor, &told);) {
        look_part_t part = {told.key, told.component, told.name, told.type};
        if (strcmp(part.name, part.type) == 0 || told.entities == 0)
            continue;
        look_full_name(&part, full);
        writer_text(w, full);
    }
    writer_array_end(w);
}
