/* brp.c - the methods of the Bevy Remote Protocol (version 0.20), under its names and with its shapes.
 *
 * The name that Bevy calls a component's full path is here "type::name", or "type" where a component bears its type's
 * name (look.h). A value of a component is an object of its fields. Values that a client writes are checked as a whole
 * before anything is changed, as far as the contract can tell; a change that fails after that is undone.
 */
#include "methods.h"

#include "look.h"
#include "near.h"
#include "parts.h"
#include "undo.h"
#include "values.h"

#include <stdio.h>

/* --- helpers -------------------------------------------------------------------------------------------------- */

static bool need_world(ask_t *ask)
{
    return ask->world != NULL || ask_fail(ask, RPC_INVALID_REQUEST, "this host has no world");
}

/* A parameter that is an array of texts, or missing. */
static bool names_param(ask_t *ask, const json_t *object, const char *name, const json_t **names)
{
    size_t i;
    json_t *item;
    *names = object == NULL ? NULL : json_object_get(object, name);
    if (*names == NULL || json_is_null(*names)) {
        *names = NULL;
        return true;
    }
    if (!json_is_array(*names))
        return ask_fail(ask, RPC_INVALID_PARAMS, "%s: \"%s\" has to be an array of names", ask->method->name, name);
    json_array_foreach ((json_t *)(uintptr_t)*names, i, item)
        if (!json_is_string(item))
            return ask_fail(ask, RPC_INVALID_PARAMS, "%s: \"%s\" has to be an array of names", ask->method->name, name);
    return true;
}

/* --- world.get_components ------------------------------------------------------------------------------------- */

static void write_error_entry(writer_t *w, const char *name, int32_t code, const char *why)
{
    writer_key(w, name);
    writer_object(w);
    writer_key(w, "code");
    writer_integer(w, code);
    writer_key_text(w, "message", why);
    writer_object_end(w);
}

/* Say what is wrong with a name that none of an entity's components bears. */
static int32_t explain_absent(const ask_t *ask, const char *wanted, char why[RPC_SENTENCE_MAX])
{
    if (parts_known(ask->in, ask->world, wanted)) {
        snprintf(why, RPC_SENTENCE_MAX, "the entity has no component '%.100s'", wanted);
        return RPC_ABSENT;
    }
    snprintf(why, RPC_SENTENCE_MAX, "there is no component '%.100s'; world.list_components lists what there is",
             wanted);
    return RPC_COMPONENT;
}

/* Write the component that bears the name, and its value; false, with nothing written, where the entity lacks it. */
static bool write_called(ask_t *ask, writer_t *w, bp_entity_t entity, const look_part_t *parts, uint32_t count,
                         const char *wanted)
{
    if (!parts_has(ask->in, ask->world, entity, parts, count, wanted))
        return false;
    writer_key(w, wanted);
    return parts_write_called(ask->in, w, ask->world, entity, parts, count, wanted);
}

static int get_components(ask_t *ask)
{
    look_part_t parts[LOOK_PARTS_MAX];
    bp_entity_t entity;
    const json_t *names;
    bool strict = false;
    char why[RPC_SENTENCE_MAX];
    if (!need_world(ask) || !ask_entity(ask, "entity", &entity) ||
        !names_param(ask, ask->params, "components", &names) || !ask_truth(ask, "strict", &strict))
        return ASK_DONE;
    uint32_t count = look_parts(ask->in, ask->world, entity, parts);
    writer_t errors = {.allocator = &ask->in->allocator};
    writer_object(&errors);
    writer_object(ask->out);
    if (!strict) {
        writer_key(ask->out, "components");
        writer_object(ask->out);
    }
    for (size_t i = 0; ask->code == 0 && names != NULL && i < json_array_size(names); i++) {
        const char *wanted = json_string_value(json_array_get(names, i));
        if (write_called(ask, ask->out, entity, parts, count, wanted))
            continue;
        int32_t code = explain_absent(ask, wanted, why);
        if (strict)
            ask_fail(ask, code, "%s", why);
        else
            write_error_entry(&errors, wanted, code, why);
    }
    writer_object_end(&errors);
    writer_object_end(ask->out);
    if (!strict) {
        writer_key(ask->out, "errors");
        writer_json(ask->out, errors.bytes, errors.length);
        writer_object_end(ask->out);
    }
    ask->out->failed |= errors.failed;
    writer_release(&errors);
    return ASK_DONE;
}

/* --- world.query ---------------------------------------------------------------------------------------------- */

enum { QUERY_MOST = 64 << 20, QUERY_BLOCK = 64 }; /* bytes of an answer; entities between two looks at the clock */

typedef struct query_t {
    const json_t *components, *option, *has, *with, *without;
    bool all;           /* option: "all" */
    bool nothing;       /* a component that is needed does not exist: the answer is empty */
    uint32_t index, bound;
    uint32_t seen;      /* entities so far */
    writer_t rows;
} query_t;

static bool known_or_strict(ask_t *ask, const json_t *names, bool strict, bool *unknown)
{
    for (size_t i = 0; names != NULL && i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (parts_known(ask->in, ask->world, name))
            continue;
        if (strict)
            return ask_fail(ask, RPC_COMPONENT,
                            "there is no component '%.100s'; world.list_components lists what there is", name);
        *unknown = true;
    }
    return true;
}

static bool read_query(ask_t *ask, query_t *q)
{
    const json_t *data = ask_param(ask, "data"), *filter = ask_param(ask, "filter"), *option;
    bool strict = false, ignored = false;
    if ((data != NULL && !json_is_object(data)) || (filter != NULL && !json_is_object(filter)))
        return ask_fail(ask, RPC_INVALID_PARAMS, "world.query: \"data\" and \"filter\" are objects");
    option = data == NULL ? NULL : json_object_get(data, "option");
    q->all = json_is_string(option) && strcmp(json_string_value(option), "all") == 0;
    q->bound = ask->in->api->entity->bound(ask->in->host);
    q->rows.allocator = &ask->in->allocator;
    return names_param(ask, data, "components", &q->components) &&
           (q->all || names_param(ask, data, "option", &q->option)) && names_param(ask, data, "has", &q->has) &&
           names_param(ask, filter, "with", &q->with) && names_param(ask, filter, "without", &q->without) &&
           ask_truth(ask, "strict", &strict) && known_or_strict(ask, q->components, strict, &q->nothing) &&
           known_or_strict(ask, q->with, strict, &q->nothing) && known_or_strict(ask, q->option, strict, &ignored) &&
           known_or_strict(ask, q->has, strict, &ignored) && known_or_strict(ask, q->without, strict, &ignored);
}

/* How many of the named components an entity has. */
static size_t count_had(const ask_t *ask, bp_entity_t entity, const look_part_t *parts, uint32_t count,
                        const json_t *names)
{
    size_t had = 0;
    for (size_t i = 0; names != NULL && i < json_array_size(names); i++)
        had += parts_has(ask->in, ask->world, entity, parts, count, json_string_value(json_array_get(names, i)));
    return had;
}

static bool has_all(const ask_t *ask, bp_entity_t entity, const look_part_t *parts, uint32_t count, const json_t *names)
{
    return count_had(ask, entity, parts, count, names) == json_array_size(names);
}

static void write_named(ask_t *ask, writer_t *w, bp_entity_t entity, const look_part_t *parts, uint32_t count,
                        const json_t *names)
{
    for (size_t i = 0; names != NULL && i < json_array_size(names); i++)
        write_called(ask, w, entity, parts, count, json_string_value(json_array_get(names, i)));
}

static void write_row(ask_t *ask, query_t *q, bp_entity_t entity, const look_part_t *parts, uint32_t count)
{
    char full[LOOK_NAME_MAX];
    writer_t *w = &q->rows;
    writer_object(w);
    writer_key(w, "entity");
    look_write_entity(ask->in, w, entity);
    writer_key(w, "components");
    writer_object(w);
    if (q->all) {
        for (uint32_t i = 0; i < count; i++) {
            look_full_name(&parts[i], full);
            writer_key(w, full);
            parts_write(ask->in, w, ask->world, entity, &parts[i]);
        }
    } else {
        write_named(ask, w, entity, parts, count, q->components);
        write_named(ask, w, entity, parts, count, q->option);
    }
    writer_object_end(w);
    if (q->has != NULL && json_array_size(q->has) > 0) {
        writer_key(w, "has");
        writer_object(w);
        for (size_t i = 0; i < json_array_size(q->has); i++) {
            const char *wanted = json_string_value(json_array_get(q->has, i));
            writer_key_truth(w, wanted, parts_has(ask->in, ask->world, entity, parts, count, wanted));
        }
        writer_object_end(w);
    }
    writer_object_end(w);
}

static void query_one(ask_t *ask, query_t *q, bp_entity_t entity)
{
    look_part_t parts[LOOK_PARTS_MAX];
    uint32_t count = look_parts(ask->in, ask->world, entity, parts);
    if (count > 0 && has_all(ask, entity, parts, count, q->components) &&
        has_all(ask, entity, parts, count, q->with) && count_had(ask, entity, parts, count, q->without) == 0)
        write_row(ask, q, entity, parts, count);
}

static void drop_query(ask_t *ask)
{
    query_t *q = ask->state;
    writer_release(&q->rows);
}

static int query(ask_t *ask)
{
    bool begun = ask->state != NULL;
    query_t *q = need_world(ask) ? ask_state(ask, sizeof *q) : NULL;
    if (q == NULL || (begun ? !ask_keeps_world(ask) : !read_query(ask, q)))
        return ASK_DONE;
    if (!begun)
        writer_array(&q->rows);
    while (!q->nothing && q->index < q->bound) {
        bp_entity_t entity = ask->in->api->world->next(ask->world, &q->index);
        if (entity.id == 0)
            q->index = q->bound;
        else
            query_one(ask, q, entity);
        if (q->rows.length > QUERY_MOST) {
            ask_fail(ask, RPC_INTERNAL,
                     "the answer exceeds 64 MiB; backplane.find and backplane.rows give it piece by piece");
            return ASK_DONE;
        }
        if (++q->seen % QUERY_BLOCK == 0 && ask_late(ask))
            return ASK_MORE;
    }
    writer_array_end(&q->rows);
    if (q->rows.failed)
        ask_fail(ask, RPC_INTERNAL, "out of memory");
    else
        writer_json(ask->out, q->rows.bytes, q->rows.length);
    return ASK_DONE;
}

/* --- what changes an entity ----------------------------------------------------------------------------------- */

static int spawn_entity(ask_t *ask)
{
    const json_t *components = ask_param(ask, "components");
    bp_entity_t entity;
    if (!need_world(ask))
        return ASK_DONE;
    if (components != NULL && !json_is_object(components)) {
        ask_fail(ask, RPC_INVALID_PARAMS, "world.spawn_entity: \"components\" is an object of components by name");
        return ASK_DONE;
    }
    if (ask->in->api->entity->create(ask->in->host, &entity, 1) != BP_OK) {
        ask_fail_host(ask, RPC_INTERNAL);
        return ASK_DONE;
    }
    if (components != NULL && !parts_insert(ask, entity, components)) {
        ask->in->api->entity->destroy(ask->in->host, &entity, 1);
        return ASK_DONE;
    }
    writer_object(ask->out);
    writer_key(ask->out, "entity");
    look_write_entity(ask->in, ask->out, entity);
    writer_object_end(ask->out);
    return ASK_DONE;
}

static int despawn_entity(ask_t *ask)
{
    bp_entity_t entity;
    if (!ask_entity(ask, "entity", &entity))
        return ASK_DONE;
    if (ask->in->api->entity->destroy(ask->in->host, &entity, 1) == 1)
        writer_null(ask->out);
    else
        ask_fail(ask, RPC_INVALID_REQUEST,
                 "the entity bears components of a world itself, which world.remove_resources takes away");
    return ASK_DONE;
}

static int insert_components(ask_t *ask)
{
    const json_t *components = ask_param(ask, "components");
    bp_entity_t entity;
    if (!need_world(ask) || !ask_entity(ask, "entity", &entity))
        return ASK_DONE;
    if (!json_is_object(components))
        ask_fail(ask, RPC_INVALID_PARAMS, "world.insert_components: \"components\" is an object of components by name");
    else if (parts_insert(ask, entity, components))
        writer_null(ask->out);
    return ASK_DONE;
}

/* Remember the values of a component that is about to be taken away. */
static bool note_part(ask_t *ask, bp_entity_t entity, const look_part_t *part)
{
    bp_path_t path = {.world = ask->world, .entity = entity};
    char name[LOOK_NAME_MAX], type[LOOK_NAME_MAX];
    bp_field_t field;
    snprintf(name, sizeof name, "%s", part->name);
    snprintf(type, sizeof type, "%s", part->type);
    for (uint32_t i = 0; look_field(ask->in, type, i, &field); i++) {
        if (field.flags & BP_FIELD_READ_ONLY)
            continue;
        if (ask->in->api->property->resolve(ask->world, entity, name, field.name, &path.property) != BP_OK)
            return ask_fail_host(ask, RPC_COMPONENT);
        if (!undo_note(ask, &path))
            return false;
    }
    return true;
}

/* Take components away, or none of them: where one cannot be, those before it come back with their values (undo.h). */
static bool remove_parts(ask_t *ask, bp_entity_t entity, const look_part_t *const *parts, size_t count)
{
    const bp_world_api *api = ask->in->api->world;
    size_t gone = 0;
    for (size_t i = 0; i + 1 < count; i++)
        if (!note_part(ask, entity, parts[i]))
            return false;
    while (gone < count && api->remove(ask->world, parts[gone]->key, &entity, 1) == BP_OK)
        gone++;
    if (gone == count)
        return true;
    ask_fail_host(ask, RPC_COMPONENT);
    for (; gone > 0; gone--) {
        size_t length = strlen(ask->why);
        if (api->add(ask->world, parts[gone - 1]->key, &entity, 1) != BP_OK)
            snprintf(ask->why + length, sizeof ask->why - length, "; one that was taken away does not come back: %s",
                     ask->in->api->error->last(ask->in->host));
    }
    return false;
}

static int remove_components(ask_t *ask)
{
    const json_t *names;
    look_part_t parts[LOOK_PARTS_MAX];
    bp_entity_t entity;
    char why[RPC_SENTENCE_MAX];
    if (!need_world(ask) || !ask_entity(ask, "entity", &entity) || !names_param(ask, ask->params, "components", &names))
        return ASK_DONE;
    uint32_t count = look_parts(ask->in, ask->world, entity, parts);
    for (size_t i = 0; names != NULL && i < json_array_size(names); i++) {
        const char *wanted = json_string_value(json_array_get(names, i));
        int32_t code = parts_find(parts, count, wanted) == NULL ? explain_absent(ask, wanted, why) : 0;
        if (code != 0) {
            ask_fail(ask, code, "%s", why);
            return ASK_DONE;
        }
    }
    const look_part_t *wanted[LOOK_PARTS_MAX];
    size_t number = 0;
    for (size_t i = 0; names != NULL && i < json_array_size(names); i++) {
        const look_part_t *part = parts_find(parts, count, json_string_value(json_array_get(names, i)));
        size_t at = 0;
        while (at < number && wanted[at] != part) /* it may be named twice */
            at++;
        if (at == number)
            wanted[number++] = part;
    }
    if (remove_parts(ask, entity, wanted, number))
        writer_null(ask->out);
    return ASK_DONE;
}

static int mutate_components(ask_t *ask)
{
    look_part_t parts[LOOK_PARTS_MAX];
    bp_entity_t entity;
    const char *component = NULL, *path = NULL, *rest = "";
    char property[PARTS_PROPERTY_MAX], why[RPC_SENTENCE_MAX];
    const json_t *value = ask->params == NULL ? NULL : json_object_get(ask->params, "value");
    if (!need_world(ask) || !ask_entity(ask, "entity", &entity) || !ask_text(ask, "component", true, &component) ||
        !ask_text(ask, "path", true, &path) || !parts_cut_path(ask, path, property, &rest))
        return ASK_DONE;
    uint32_t count = look_parts(ask->in, ask->world, entity, parts);
    const look_part_t *part = parts_find(parts, count, component);
    if (value == NULL)
        ask_fail(ask, RPC_INVALID_PARAMS, "world.mutate_components: the parameter \"value\" is missing");
    else if (part == NULL) {
        int32_t code = explain_absent(ask, component, why);
        ask_fail(ask, code, "%s", why);
    } else if (values_set(ask, ask->world, entity, part->name, property, rest, value)) {
        writer_null(ask->out);
    }
    return ASK_DONE;
}

static bool reparent(ask_t *ask, const json_t *child, const json_t *parent)
{
    look_part_t parts[LOOK_PARTS_MAX];
    const look_part_t *part;
    bp_field_t field;
    bp_entity_t entity, above = {0};
    if (!ask_entity_of(ask, child, &entity) || (parent != NULL && !ask_entity_of(ask, parent, &above)))
        return false;
    if (entity.id == above.id)
        return ask_fail(ask, RPC_OWN_PARENT, "an entity cannot be its own parent");
    if (!parts_parent_field(ask->in, parts, look_parts(ask->in, ask->world, entity, parts), &part, &field))
        return ask_fail(ask, RPC_COMPONENT, "the entity has no component with a parent, like transform");
    return values_set(ask, ask->world, entity, part->name, field.name, "", parent == NULL ? ask_null() : parent);
}

static int reparent_entities(ask_t *ask)
{
    const json_t *entities = ask_param(ask, "entities"), *parent = ask_param(ask, "parent");
    if (!need_world(ask))
        return ASK_DONE;
    if (!json_is_array(entities)) {
        ask_fail(ask, RPC_INVALID_PARAMS, "world.reparent_entities: \"entities\" is an array of entities");
        return ASK_DONE;
    }
    for (size_t i = 0; i < json_array_size(entities); i++)
        if (!reparent(ask, json_array_get(entities, i), parent))
            return ASK_DONE;
    writer_null(ask->out);
    return ASK_DONE;
}

/* --- lists ---------------------------------------------------------------------------------------------------- */

static int list_components(ask_t *ask)
{
    look_part_t parts[LOOK_PARTS_MAX];
    bp_entity_t entity;
    char full[LOOK_NAME_MAX];
    if (!need_world(ask))
        return ASK_DONE;
    if (ask_param(ask, "entity") == NULL) {
        parts_write_known(ask->in, ask->out, ask->world);
        return ASK_DONE;
    }
    if (!ask_entity(ask, "entity", &entity))
        return ASK_DONE;
    uint32_t count = look_parts(ask->in, ask->world, entity, parts);
    writer_array(ask->out);
    for (uint32_t i = 0; i < count; i++) {
        look_full_name(&parts[i], full);
        writer_text(ask->out, full);
    }
    writer_array_end(ask->out);
    return ASK_DONE;
}

const method_t brp_methods[] = {
    {"world.get_components", "the values of components of an entity", "entity components strict?", 0, get_components,
     NULL},
    {"world.query", "entities that have certain components, with their values", "data? filter? strict?", 0, query,
     drop_query},
    {"world.spawn_entity", "makes an entity with these components", "components", METHOD_CHANGES, spawn_entity, NULL},
    {"world.despawn_entity", "destroys an entity", "entity", METHOD_CHANGES, despawn_entity, NULL},
    {"world.insert_components", "adds components to an entity, or sets those that it has", "entity components",
     METHOD_CHANGES, insert_components, NULL},
    {"world.remove_components", "takes components away from an entity", "entity components", METHOD_CHANGES,
     remove_components, NULL},
    {"world.mutate_components", "sets a property of a component, or a part of it", "entity component path value",
     METHOD_CHANGES, mutate_components, NULL},
    {"world.reparent_entities", "makes entities the children of another, or of none", "entities parent?",
     METHOD_CHANGES, reparent_entities, NULL},
    {"world.list_components", "the names of all components, or of those of an entity", "entity?", 0, list_components,
     NULL},
    {0},
};
