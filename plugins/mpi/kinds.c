/* kinds.c - the components of entities, described so that every rank understands the description.
 *
 * Prototypes and keys are numbers of one world of one process. The messages between ranks hold text instead: names and
 * types of components in canonical order. Fields follow in the order of declaration, which is the same everywhere since
 * all ranks have the same plugins (host/engine/setup_peers.c compares them).
 */
#include "split.h"

#include <helpers/bp_columns.h>

#include <stdio.h>
#include <string.h>

enum { KEYS = 256, TEXT = 8192 };

static void *resize(split_t *split, void *old, size_t old_size, size_t new_size)
{
    void *block = split->system->api->memory->resize(split->system->plugin, old, old_size, new_size);
    if (block == NULL && new_size > 0)
        split_fail(split, "out of memory");
    return block;
}

static const char *option(const split_t *split, uint32_t index)
{
    return split->system->plugin->options[index].string;
}

/* The type of a component of the world, by its manager's number. */
static const char *type_of(split_t *split, uint32_t component)
{
    bp_look_type_t type = {.struct_size = sizeof type};
    for (uint32_t cursor = 0; split->look->type(split->system->host, &cursor, &type);)
        if (split->system->api->world->component(split->system->world, type.name) == component)
            return type.name;
    return "?";
}

static const char *name_of(split_t *split, uint32_t key, uint32_t *component)
{
    bp_name_t name = 0;
    if (split->system->api->world->key_info(split->system->world, key, component, &name) != BP_OK)
        split_fail(split, "a component of the world is not known any more");
    return name == 0 ? type_of(split, *component) : split->system->api->name->text(split->system->host, name);
}

static void refuse_field(split_t *split, const char *type, const bp_field_t *field, const char *why)
{
    char text[256];
    snprintf(text, sizeof text, "%s.%s %s, which cannot be sent to another rank; keep it out of a world with "
             "place = split", type, field->name, why);
    split_fail(split, text);
}

static void check_field(split_t *split, const char *type, const bp_field_t *field)
{
    if ((field->flags & BP_FIELD_LIST) != 0 && field->type == BP_STRING)
        refuse_field(split, type, field, "is a list of texts");
    if (field->type == BP_ENTITY)
        refuse_field(split, type, field, "refers to an entity");
    if ((field->flags & BP_FIELD_READ_ONLY) != 0)
        refuse_field(split, type, field, "is read only");
}

static void add_column(split_t *split, split_kind *kind, uint32_t key, uint32_t index, const bp_field_t *field,
                       const char *name)
{
    uint32_t count = kind->column_count;
    const bp_property_api *property = split->system->api->property;
    kind->columns = resize(split, kind->columns, count * sizeof *kind->columns, (count + 1) * sizeof *kind->columns);
    split_column *column = &kind->columns[kind->column_count++];
    *column = (split_column){.key = key, .field = index, .type = field->type};
    column->list = (field->flags & BP_FIELD_LIST) != 0;
    column->size = column->list ? (uint32_t)sizeof(bp_list_t)
                                : bp_columns_size(field->type) * (field->count > 1 ? field->count : 1);
    if (property->resolve(split->system->world, (bp_entity_t){0}, name, field->name, &column->own) != BP_OK ||
        property->resolve(split->halo, (bp_entity_t){0}, name, field->name, &column->halo) != BP_OK)
        split_fail(split, split->system->api->error->last(split->system->host));
    const char *position = option(split, SPLIT_POSITION);
    size_t length = strlen(name);
    if (strncmp(position, name, length) == 0 && position[length] == '.' &&
        strcmp(position + length + 1, field->name) == 0)
        kind->position = kind->column_count - 1;
}

static void add_component(split_t *split, split_kind *kind, uint32_t key, char text[TEXT])
{
    uint32_t component, had = kind->column_count;
    const char *name = name_of(split, key, &component), *type = type_of(split, component);
    size_t length = strlen(text);
    bp_field_t field;
    snprintf(text + length, TEXT - length, "%s:%s\n", name, type);
    for (uint32_t i = 0; split->system->api->property->describe(split->system->host, type, i, &field,
                                                                (uint32_t)sizeof field) == BP_OK; i++) {
        check_field(split, type, &field);
        add_column(split, kind, key, i, &field, name);
    }
    if (had < kind->column_count &&
        split->look->column(split->system->world, kind->prototype, key, kind->columns[had].field) == NULL) {
        bp_look_prototype_t found = {.struct_size = sizeof found};
        split->system->api->property->describe(split->system->host, type, 0, &field, (uint32_t)sizeof field);
        for (uint32_t cursor = 0; split->look->prototype(split->system->world, &cursor, &found);)
            if (found.prototype == kind->prototype && found.row_count > 0)
                refuse_field(split, type, &field, "has storage of its own");
    }
}

/* Find the prototype with the same components in the world of copies. */
static void find_halo_prototype(split_t *split, split_kind *kind, const uint32_t *keys, uint32_t count)
{
    const bp_world_api *world = split->system->api->world;
    uint32_t there[KEYS];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t component;
        bp_name_t name = 0;
        world->key_info(split->system->world, keys[i], &component, &name);
        component = world->component(split->halo, type_of(split, component));
        if (component == BP_NONE || world->key(split->halo, component, name, &there[i]) != BP_OK)
            split_fail(split, split->system->api->error->last(split->system->host));
    }
    if (world->prototype(split->halo, there, count, &kind->halo_prototype) != BP_OK)
        split_fail(split, split->system->api->error->last(split->system->host));
}

static split_kind *make_kind(split_t *split, uint32_t prototype)
{
    uint32_t keys[KEYS], count = split->look->keys(split->system->world, prototype, keys, KEYS);
    char text[TEXT] = "";
    split->kinds = resize(split, split->kinds, split->kind_count * sizeof *split->kinds,
                          (split->kind_count + 1) * sizeof *split->kinds);
    split_kind *kind = &split->kinds[split->kind_count++];
    *kind = (split_kind){.prototype = prototype, .position = BP_NONE};
    find_halo_prototype(split, kind, keys, count);
    for (uint32_t i = 0; i < count; i++)
        add_component(split, kind, keys[i], text);
    uint32_t type = kind->position == BP_NONE ? 0 : kind->columns[kind->position].type;
    if (type != BP_VEC2 && type != BP_VEC3 && type != BP_DVEC2 && type != BP_DVEC3)
        split_fail(split, "[plugin mpi] position: the component has no such property, or it is no vector of two or "
                          "three numbers");
    if (strlen(text) + 1 >= TEXT)
        split_fail(split, "the names of an entity's components are too long");
    kind->text = resize(split, NULL, 0, strlen(text) + 1);
    memcpy(kind->text, text, strlen(text) + 1);
    return kind;
}

/* Does a prototype have the component whose property is the position? */
static bool has_position(split_t *split, uint32_t prototype)
{
    uint32_t keys[KEYS], count = split->look->keys(split->system->world, prototype, keys, KEYS), component;
    const char *position = option(split, SPLIT_POSITION);
    for (uint32_t i = 0; i < count && i < KEYS; i++) {
        const char *name = name_of(split, keys[i], &component);
        size_t length = strlen(name);
        if (strncmp(position, name, length) == 0 && position[length] == '.')
            return true;
    }
    return false;
}

split_kind *split_kind_of(split_t *split, uint32_t prototype)
{
    for (uint32_t i = 0; i < split->kind_count; i++)
        if (split->kinds[i].prototype == prototype)
            return &split->kinds[i];
    return has_position(split, prototype) ? make_kind(split, prototype) : NULL;
}

/* "name:type\n" lines to a prototype of this world. */
static uint32_t prototype_named(split_t *split, const char *text)
{
    const bp_world_api *world = split->system->api->world;
    uint32_t keys[KEYS], count = 0, prototype;
    while (*text != '\0' && count < KEYS) {
        char name[256], type[256];
        bp_name_t interned;
        if (sscanf(text, "%255[^:]:%255[^\n]", name, type) != 2)
            split_fail(split, "what came from another rank has no form");
        uint32_t component = world->component(split->system->world, type);
        if (component == BP_NONE || split->system->api->name->intern(split->system->host, name, &interned) != BP_OK ||
            world->key(split->system->world, component, interned, &keys[count++]) != BP_OK)
            split_fail(split, "another rank has a component that is not here");
        text = strchr(text, '\n') + 1;
    }
    if (world->prototype(split->system->world, keys, count, &prototype) != BP_OK)
        split_fail(split, split->system->api->error->last(split->system->host));
    return prototype;
}

split_kind *split_kind_named(split_t *split, const char *text)
{
    for (uint32_t i = 0; i < split->kind_count; i++)
        if (strcmp(split->kinds[i].text, text) == 0)
            return &split->kinds[i];
    return make_kind(split, prototype_named(split, text));
}

/* --- values ------------------------------------------------------------------------------------------------------- */

const char *split_places(const split_t *split, const split_kind *kind)
{
    const split_column *column = &kind->columns[kind->position];
    return split->look->column(split->system->world, kind->prototype, column->key, column->field);
}

const uint64_t *split_identities(const split_t *split, const split_kind *kind)
{
    const char *wanted = option(split, SPLIT_IDENTITY);
    bp_property_t property;
    if (wanted[0] == '\0' || !split->system->plugin->options[SPLIT_AUDIT].boolean)
        return NULL;
    for (uint32_t i = 0; i < kind->column_count; i++) {
        char name[256];
        const char *dot = strchr(wanted, '.');
        if (dot == NULL || (size_t)(dot - wanted) >= sizeof name)
            return NULL;
        memcpy(name, wanted, (size_t)(dot - wanted));
        name[dot - wanted] = '\0';
        if (split->system->api->property->resolve(split->system->world, (bp_entity_t){0}, name, dot + 1, &property) !=
                BP_OK ||
            property.type != BP_U64)
            return NULL;
        if (kind->columns[i].key == property.key && kind->columns[i].field == property.field)
            return split->look->column(split->system->world, kind->prototype, property.key, property.field);
    }
    return NULL;
}
