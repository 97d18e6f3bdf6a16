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

enum { TEXT = 8192 };

static const char *option(const split_t *split, uint32_t index)
{
    return split->system->plugin->options[index].string;
}

/* The type of a component of the world, by its manager's number. */
static const char *type_of(split_t *split, uint32_t component)
{
    bp_look_type_t type = {.struct_size = sizeof type};
    for (uint32_t cursor = 0; split->look->type(split->system->host, &cursor, &type);)
        if (split->system->api->world->component(split->world, type.name) == component)
            return type.name;
    return "?";
}

static const char *name_of(split_t *split, uint32_t key, uint32_t *component)
{
    bp_name_t name = 0;
    split_done(split, split->system->api->world->key_info(split->world, key, component, &name));
    return name == 0 ? type_of(split, *component) : split->system->api->name->text(split->system->host, name);
}

/* Can a property be set for the field, or must it be written where it lies? Lists cannot be written so. */
static bool is_raw(split_t *split, const char *type, const bp_field_t *field)
{
    char text[256];
    bool raw = (field->flags & (BP_FIELD_READ_ONLY | BP_FIELD_HIDDEN)) != 0;
    if (raw && (field->flags & BP_FIELD_LIST) != 0) {
        snprintf(text, sizeof text, "%s.%s is a list that only its own plugin writes, which cannot be sent to another "
                 "rank; keep it out of a world with place = split", type, field->name);
        split_fail(split, text);
    }
    return raw;
}

/* Is `path` a property of the component that is called `name`? */
static bool is_of(const char *path, const char *name)
{
    size_t length = strlen(name);
    return strncmp(path, name, length) == 0 && path[length] == '.';
}

static void add_column(split_t *split, split_kind *kind, uint32_t index, const bp_field_t *field, split_column column,
                       const char *name, const char *type)
{
    uint32_t count = kind->column_count;
    const bp_property_api *property = split->system->api->property;
    kind->columns = split_resize(split, kind->columns, count * sizeof *kind->columns,
                                 (count + 1) * sizeof *kind->columns);
    column.field = index;
    column.type = field->type;
    column.list = (field->flags & BP_FIELD_LIST) != 0;
    column.size = column.list ? (uint32_t)sizeof(bp_list_t)
                              : bp_columns_size(field->type) * (field->count > 1 ? field->count : 1);
    column.copied = split_asks_for(split, name, type, field);
    column.told_at = kind->told_size;
    column.told_size = column.list || column.type == BP_STRING ? (uint32_t)sizeof(uint64_t) : column.size;
    kind->told_size += column.copied ? column.told_size : 0;
    bool hidden = (field->flags & BP_FIELD_HIDDEN) != 0;
    if (!hidden) {
        split_done(split, property->resolve(split->world, (bp_entity_t){0}, name, field->name, &column.own));
        split_done(split, property->resolve(split->halo, (bp_entity_t){0}, name, field->name, &column.halo));
    }
    const char *position = option(split, SPLIT_POSITION);
    if (is_of(position, name) && strcmp(position + strlen(name) + 1, field->name) == 0 && !column.stored)
        kind->position = count;
    kind->columns[kind->column_count++] = column;
}

static bool has_own_storage(split_t *split, const char *name)
{
    bp_look_type_t type = {.struct_size = sizeof type};
    for (uint32_t cursor = 0; split->look->type(split->system->host, &cursor, &type);)
        if (strcmp(type.name, name) == 0)
            return (type.traits & BP_LOOK_STORAGE) != 0;
    return false;
}

/* Of a component with storage of its own all properties are sent that can be set, as when its plugin is reloaded.
 * Fields that rows_added makes again are not sent. */
static void add_component(split_t *split, split_kind *kind, uint32_t number, char text[TEXT])
{
    uint32_t component;
    const char *name = name_of(split, kind->keys[number], &component), *type = type_of(split, component);
    size_t length = strlen(text);
    bp_field_t field;
    split_column column = {.key = kind->keys[number], .halo_key = kind->halo_keys[number]};
    column.stored = has_own_storage(split, type);
    kind->copied = kind->copied || split_asks_for_component(split, name, type);
    snprintf(text + length, TEXT - length, "%s:%s\n", name, type);
    for (uint32_t i = 0; split->system->api->property->describe(split->system->host, type, i, &field,
                                                                (uint32_t)sizeof field) == BP_OK; i++) {
        bool derived = (field.flags & BP_FIELD_HIDDEN) != 0 && (field.flags & BP_FIELD_DERIVED) != 0;
        if (derived || (column.stored && (field.flags & BP_FIELD_READ_ONLY) != 0))
            continue;
        column.raw = is_raw(split, type, &field);
        add_column(split, kind, i, &field, column, name, type);
    }
}

/* Find the prototype with the same components in the world of copies. */
static void find_halo_prototype(split_t *split, split_kind *kind)
{
    const bp_world_api *world = split->system->api->world;
    for (uint32_t i = 0; i < kind->key_count; i++) {
        uint32_t component;
        bp_name_t name = 0;
        world->key_info(split->world, kind->keys[i], &component, &name);
        component = world->component(split->halo, type_of(split, component));
        split_done(split, world->key(split->halo, component, name, &kind->halo_keys[i]));
    }
    split_done(split, world->prototype(split->halo, kind->halo_keys, kind->key_count, &kind->halo_prototype));
}

/* An entity that has the component of the option has its property too, and this is one number. */
static void check_identity(split_t *split, const split_kind *kind)
{
    const char *wanted = option(split, SPLIT_IDENTITY);
    bp_property_t property;
    uint32_t component;
    for (uint32_t i = 0; i < kind->key_count; i++) {
        const char *name = name_of(split, kind->keys[i], &component);
        if (!is_of(wanted, name))
            continue;
        if (split->system->api->property->resolve(split->world, (bp_entity_t){0}, name, wanted + strlen(name) + 1,
                                                  &property) != BP_OK ||
            property.type != BP_U64 || property.count != 1 || property.element != BP_NONE ||
            has_own_storage(split, type_of(split, component)))
            split_fail(split, "[plugin mpi] identity: the component has no such property, or it is not one number of "
                              "type u64 that the world stores");
    }
}

static split_kind *make_kind(split_t *split, uint32_t prototype)
{
    uint32_t keys[SPLIT_KEYS], count = split->look->keys(split->world, prototype, keys, SPLIT_KEYS);
    char text[TEXT] = "";
    if (count > SPLIT_KEYS)
        split_fail(split, "an entity of a split world has more than 256 components");
    split->kinds = split_resize(split, split->kinds, split->kind_count * sizeof *split->kinds,
                          (split->kind_count + 1) * sizeof *split->kinds);
    split_kind *kind = &split->kinds[split->kind_count++];
    *kind = (split_kind){.prototype = prototype, .position = BP_NONE, .key_count = count};
    kind->keys = split_resize(split, NULL, 0, count * sizeof *keys);
    kind->halo_keys = split_resize(split, NULL, 0, count * sizeof *keys);
    memcpy(kind->keys, keys, count * sizeof *keys);
    kind->told = split_resize(split, NULL, 0, split->ranks * sizeof *kind->told);
    kind->copies = split_resize(split, NULL, 0, split->ranks * sizeof *kind->copies);
    memset(kind->told, 0, split->ranks * sizeof *kind->told);
    memset(kind->copies, 0, split->ranks * sizeof *kind->copies);
    find_halo_prototype(split, kind);
    for (uint32_t i = 0; i < count; i++)
        add_component(split, kind, i, text);
    uint32_t type = kind->position == BP_NONE ? 0 : kind->columns[kind->position].type;
    if (type != BP_VEC2 && type != BP_VEC3 && type != BP_DVEC2 && type != BP_DVEC3)
        split_fail(split, "[plugin mpi] position: the component has no such property, or it is no vector of two or "
                          "three numbers");
    check_identity(split, kind);
    if (strlen(text) + 1 >= TEXT)
        split_fail(split, "the names of an entity's components are too long");
    kind->text = split_resize(split, NULL, 0, strlen(text) + 1);
    memcpy(kind->text, text, strlen(text) + 1);
    return kind;
}

/* Does a prototype have the component of the property `position`? */
static bool has_position(split_t *split, uint32_t prototype)
{
    uint32_t keys[SPLIT_KEYS], count = split->look->keys(split->world, prototype, keys, SPLIT_KEYS), component;
    const char *position = option(split, SPLIT_POSITION);
    for (uint32_t i = 0; i < count && i < SPLIT_KEYS; i++) {
        if (is_of(position, name_of(split, keys[i], &component)))
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
    uint32_t keys[SPLIT_KEYS], count = 0, prototype;
    while (*text != '\0' && count < SPLIT_KEYS) {
        char name[256], type[256];
        bp_name_t interned;
        if (sscanf(text, "%255[^:]:%255[^\n]", name, type) != 2)
            split_fail(split, "what came from another rank has no form");
        uint32_t component = world->component(split->world, type);
        if (component == BP_NONE || split->system->api->name->intern(split->system->host, name, &interned) != BP_OK ||
            world->key(split->world, component, interned, &keys[count++]) != BP_OK)
            split_fail(split, "another rank has a component that is not here");
        text = strchr(text, '\n') + 1;
    }
    split_done(split, world->prototype(split->world, keys, count, &prototype));
    return prototype;
}

split_kind *split_kind_named(split_t *split, const char *text)
{
    for (uint32_t i = 0; i < split->kind_count; i++)
        if (strcmp(split->kinds[i].text, text) == 0)
            return &split->kinds[i];
    return make_kind(split, prototype_named(split, text));
}

static void free_kind(split_t *split, split_kind *kind)
{
    for (uint32_t r = 0; r < split->ranks; r++) {
        split_told *told = &kind->told[r];
        split_resize(split, told->entities, told->room * sizeof *told->entities, 0);
        split_resize(split, told->rows, told->room * sizeof *told->rows, 0);
        split_resize(split, told->records, (size_t)told->room * kind->told_size, 0);
        split_resize(split, told->table, told->table_size * sizeof *told->table, 0);
        split_resize(split, kind->copies[r].entities, kind->copies[r].room * sizeof(bp_entity_t), 0);
    }
    split_resize(split, kind->told, split->ranks * sizeof *kind->told, 0);
    split_resize(split, kind->copies, split->ranks * sizeof *kind->copies, 0);
    split_resize(split, kind->keys, kind->key_count * sizeof *kind->keys, 0);
    split_resize(split, kind->halo_keys, kind->key_count * sizeof *kind->halo_keys, 0);
    split_resize(split, kind->columns, kind->column_count * sizeof *kind->columns, 0);
    split_resize(split, kind->text, strlen(kind->text) + 1, 0);
}

void split_free_kinds(split_t *split)
{
    for (uint32_t i = 0; i < split->kind_count; i++)
        free_kind(split, &split->kinds[i]);
    split_resize(split, split->kinds, split->kind_count * sizeof *split->kinds, 0);
    split->kinds = NULL;
    split->kind_count = 0;
}

void split_forget_kinds(split_t *split)
{
    for (uint32_t i = 0; i < split->kind_count; i++)
        split_end_copies(split, &split->kinds[i]);
    split_free_kinds(split);
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

/* A number made of all component types of the host and their fields, and of what is asked for of copies by terms and by
 * the option, so that the same code of plugins gives the same number, also where a past is computed again. */
bool split_kinds_are_old(split_t *split)
{
    bp_look_type_t type = {.struct_size = sizeof type};
    bp_field_t field;
    uint64_t hash = UINT64_C(14695981039346656037);
    bool refers = false;
    for (uint32_t cursor = 0; split->look->type(split->system->host, &cursor, &type);) {
        hash = mix(hash, type.name, strlen(type.name) + 1);
        for (uint32_t i = 0; i < type.field_count; i++) {
            if (split->system->api->property->describe(split->system->host, type.name, i, &field,
                                                       (uint32_t)sizeof field) != BP_OK)
                break;
            const uint32_t numbers[3] = {field.type, field.flags, field.count};
            hash = mix(mix(hash, numbers, sizeof numbers), field.name, strlen(field.name) + 1);
            refers |= field.type == BP_ENTITY;
        }
    }
    const char *copied = option(split, SPLIT_COPIED);
    hash = mix(hash, copied, strlen(copied) + 1) + split_asked_hash(split);
    split->refers |= refers || split->system->api->world->at(split->system->host, 2) != NULL;
    if (hash == split->declared)
        return false;
    split->declared = hash;
    return true;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

const char *split_places(const split_t *split, const split_kind *kind)
{
    const split_column *column = &kind->columns[kind->position];
    return split->look->column(split->world, kind->prototype, column->key, column->field);
}

const uint64_t *split_identities(split_t *split, const split_kind *kind)
{
    const char *wanted = option(split, SPLIT_IDENTITY);
    bp_property_t property;
    if (wanted[0] == '\0' || !split->system->plugin->options[SPLIT_AUDIT].boolean)
        return NULL;
    for (uint32_t i = 0; i < kind->key_count; i++) {
        uint32_t component;
        const char *name = name_of(split, kind->keys[i], &component);
        if (is_of(wanted, name) && split->system->api->property->resolve(split->world, (bp_entity_t){0}, name,
                                                                         wanted + strlen(name) + 1, &property) == BP_OK)
            return split->look->column(split->world, kind->prototype, property.key, property.field);
    }
    return NULL;
}
