/* brp_resources.c - the resources of the Bevy Remote Protocol: here the components of the world itself.
 *
 * A resource is called by the name of its type. insert_resources uses the component in the world, remove_resources
 * drops it.
 */
#include "methods.h"

#include "look.h"
#include "near.h"
#include "parts.h"
#include "values.h"

/* The component of the world that a parameter names: true where the host knows such a type, whether or not the world
 * has it; `part` is found where it has. */
static bool resource_param(ask_t *ask, look_type_t *type, bp_entity_t *own, look_part_t *part, bool *there)
{
    const char *wanted = NULL;
    near_t near = {.wanted = ""};
    look_part_t parts[LOOK_PARTS_MAX];
    if (ask->world == NULL)
        return ask_fail(ask, RPC_INVALID_REQUEST, "this host has no world");
    if (!ask_text(ask, "resource", true, &wanted))
        return false;
    bool known = false;
    near.wanted = wanted;
    for (uint32_t i = 0; !known && look_type(ask->in, i, type); i++) {
        if ((type->flags & BP_COMPONENT_WORLD) == 0)
            continue;
        known = strcmp(type->name, wanted) == 0;
        near_consider(&near, type->name);
    }
    if (!known)
        return ask_fail(ask, RPC_RESOURCE, "there is no resource '%.100s'%s%.64s%s", wanted,
                        near.best == NULL ? "" : "; did you mean '", near.best == NULL ? "" : near.best,
                        near.best == NULL ? "" : "'?");
    *own = ask->in->api->world->own(ask->world);
    uint32_t count = own->id == 0 ? 0 : look_parts(ask->in, ask->world, *own, parts);
    const look_part_t *found = parts_find(parts, count, wanted);
    *there = found != NULL;
    if (*there)
        *part = *found;
    return true;
}

static bool need_resource(ask_t *ask, bp_entity_t *own, look_part_t *part)
{
    look_type_t type;
    bool there = false;
    if (!resource_param(ask, &type, own, part, &there))
        return false;
    return there || ask_fail(ask, RPC_NO_RESOURCE, "this world does not use '%.64s'; world.insert_resources makes it",
                             type.name);
}

static int get_resources(ask_t *ask)
{
    look_part_t part;
    bp_entity_t own;
    if (!need_resource(ask, &own, &part))
        return ASK_DONE;
    writer_object(ask->out);
    writer_key(ask->out, "value");
    parts_write(ask->in, ask->out, ask->world, own, &part);
    writer_object_end(ask->out);
    return ASK_DONE;
}

static bool set_fields(ask_t *ask, bp_entity_t own, const char *name, const json_t *fields)
{
    const char *field;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)fields, field, value)
        if (!values_set(ask, ask->world, own, name, field, "", value))
            return false;
    return true;
}

static int insert_resources(ask_t *ask)
{
    const bp_world_api *api = ask->in->api->world;
    const json_t *value = ask_param(ask, "value");
    look_type_t type;
    look_part_t part;
    bp_entity_t own;
    bool there = false;
    if (!resource_param(ask, &type, &own, &part, &there))
        return ASK_DONE;
    if (!json_is_object(value)) {
        ask_fail(ask, RPC_RESOURCE, "the value of '%.64s' is an object of its fields", type.name);
        return ASK_DONE;
    }
    if (!there && api->use_component(ask->world, type.name) != BP_OK) {
        ask_fail_host(ask, RPC_RESOURCE);
        return ASK_DONE;
    }
    if (set_fields(ask, api->own(ask->world), type.name, value))
        writer_null(ask->out);
    else if (!there)
        api->drop_component(ask->world, type.name);
    return ASK_DONE;
}

static int remove_resources(ask_t *ask)
{
    look_part_t part;
    bp_entity_t own;
    if (!need_resource(ask, &own, &part))
        return ASK_DONE;
    if (ask->in->api->world->drop_component(ask->world, part.type) != BP_OK)
        ask_fail_host(ask, RPC_RESOURCE);
    else
        writer_null(ask->out);
    return ASK_DONE;
}

static int mutate_resources(ask_t *ask)
{
    const json_t *value = ask->params == NULL ? NULL : json_object_get(ask->params, "value");
    const char *path = NULL, *rest = "";
    char property[PARTS_PROPERTY_MAX];
    look_part_t part;
    bp_entity_t own;
    if (!need_resource(ask, &own, &part) || !ask_text(ask, "path", true, &path) ||
        !parts_cut_path(ask, path, property, &rest))
        return ASK_DONE;
    if (value == NULL)
        ask_fail(ask, RPC_INVALID_PARAMS, "world.mutate_resources: the parameter \"value\" is missing");
    else if (values_set(ask, ask->world, own, part.name, property, rest, value))
        writer_null(ask->out);
    return ASK_DONE;
}

/* The resources that the world has. */
static int list_resources(ask_t *ask)
{
    look_part_t parts[LOOK_PARTS_MAX];
    if (ask->world == NULL) {
        ask_fail(ask, RPC_INVALID_REQUEST, "this host has no world");
        return ASK_DONE;
    }
    bp_entity_t own = ask->in->api->world->own(ask->world);
    uint32_t count = own.id == 0 ? 0 : look_parts(ask->in, ask->world, own, parts);
    writer_array(ask->out);
    for (uint32_t i = 0; i < count; i++)
        writer_text(ask->out, parts[i].type);
    writer_array_end(ask->out);
    return ASK_DONE;
}

const method_t brp_resources[] = {
    {"world.get_resources", "the value of a component of the world itself", "resource", 0, get_resources, NULL},
    {"world.insert_resources", "sets a component of the world itself, which the world uses from then on",
     "resource value", METHOD_CHANGES, insert_resources, NULL},
    {"world.remove_resources", "drops a component of the world itself", "resource", METHOD_CHANGES, remove_resources,
     NULL},
    {"world.mutate_resources", "sets a property of a component of the world itself, or a part of it",
     "resource path value", METHOD_CHANGES, mutate_resources, NULL},
    {"world.list_resources", "the names of the components of the world itself", "", 0, list_resources, NULL},
    {0},
};
