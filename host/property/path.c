/* path.c - taking a path apart and finding what its parts name.
 *
 * Each part that is wrong gives an error of its own, with the nearest known name where there is one.
 */
#include "path.h"

#include "../base/error.h"
#include "../plugin/verbs.h"

#include <components/debug_name.h>

#include <stdio.h>

enum { PATH_MAX_LENGTH = 1023 };

world_t *path_world(const path_worlds_t *worlds, const char *name)
{
    world_t *world = destruction_find_world(worlds->of, name);
    if (world != NULL)
        return world;
    nearest_t nearest = {.wanted = name};
    text_t hint;
    for (uint32_t i = 0; i < worlds->of->world_count; i++)
        nearest_consider(&nearest, worlds->of->worlds[i]->name);
    error_set(&worlds->base->error, BP_ERROR_NOT_FOUND, "there is no world '%.200s'%s", name,
              nearest_hint(&nearest, &hint));
    return NULL;
}

typedef struct find_t {
    const bp_debug_name_api *names;
    bp_manager_t *m;
    const char *name;
    bp_entity_t *entity;
    uint32_t found;
} find_t;

static void call_find(void *data)
{
    find_t *f = data;
    f->found = f->names->find(f->m, f->name, f->entity, 1);
}

/* How many entities are looked at for the name nearest to one that no entity has. */
enum { NAMES_CONSIDERED = 4096, NAME_CONSIDERED_BYTES = 64 };

typedef struct guess_t {
    const bp_debug_name_api *names;
    world_t *world;
    bp_manager_t *m;
    nearest_t nearest;
    char best[NAME_CONSIDERED_BYTES];
} guess_t;

/* A name is good only until the next is asked for. */
static void consider_name(guess_t *g, bp_entity_t entity)
{
    const char *name = g->names->name(g->m, entity);
    if (name == NULL || strlen(name) >= sizeof g->best)
        return;
    nearest_consider(&g->nearest, name);
    if (g->nearest.best == name)
        g->nearest.best = memcpy(g->best, name, strlen(name) + 1);
}

static void call_guess(void *data)
{
    guess_t *g = data;
    uint32_t considered = 0;
    for (uint32_t r = 0; r < g->world->run_count; r++) {
        const run_t *run = g->world->runs[r];
        for (uint32_t row = 0; row < run->count && considered < NAMES_CONSIDERED; row++, considered++) {
            if (run_entities(run)[row].id != 0)
                consider_name(g, run_entities(run)[row]);
        }
    }
}

static bp_result_t unknown_name(world_t *world, const find_t *find)
{
    guess_t guess = {.names = find->names, .world = world, .m = find->m, .nearest = {.wanted = find->name}};
    text_t hint;
    if (BP_HAS(find->names, bp_debug_name_api, name) &&
        !verb_of_table(registry_table_owner(world->registry, BP_DEBUG_NAME_API), "name", call_guess, &guess))
        guess.nearest.best = NULL;
    return error_set(&world->base->error, BP_ERROR_NOT_FOUND, "no entity of world '%s' is called '%.200s'%s",
                     world->name, find->name, nearest_hint(&guess.nearest, &hint));
}

static bp_result_t find_by_name(world_t *world, const char *name, bp_entity_t *entity)
{
    error_text_t *error = &world->base->error;
    const bp_debug_name_api *names = registry_table(world->registry, BP_DEBUG_NAME_API, 1);
    uint32_t manager = names == NULL ? BP_NONE : world_component(world, "debug_name");
    if (manager == BP_NONE)
        return error_set(error, BP_ERROR_NOT_FOUND,
                         "world '%s' has no debug names, so '%.200s' cannot be found; write #index:generation",
                         world->name, name);
    find_t find = {names, &world->managers[manager]->verb.handed, name, entity, 0};
    if (!verb_of_table(registry_table_owner(world->registry, BP_DEBUG_NAME_API), "find", call_find, &find))
        return error_set(error, BP_ERROR_FAILED,
                         "the plugin that knows entities by their names has crashed; write #index:generation");
    uint32_t found = find.found;
    if (found == 0)
        return unknown_name(world, &find);
    if (found > 1)
        return error_set(error, BP_ERROR_ARGUMENT,
                         "%u entities of world '%s' are called '%.200s'; write #index:generation", found, world->name,
                         name);
    return BP_OK;
}

static bp_result_t find_entity(world_t *world, const char *text, bp_entity_t *entity)
{
    bp_value_t value;
    if (text[0] != '#')
        return find_by_name(world, text, entity);
    bp_result_t result = value_parse(&world->base->values, BP_ENTITY, text, &value, &world->base->error);
    if (result == BP_OK && !entities_is_alive(world->entities, value.entity))
        result = entities_dead_error(world->entities, value.entity);
    *entity = value.entity;
    return result;
}

/* Cut the text at the last dot; returns the text behind that dot, or NULL where there is none. */
static char *cut_last(char *text)
{
    char *dot = strrchr(text, '.');
    if (dot == NULL)
        return NULL;
    *dot = '\0';
    return dot + 1;
}

/* Take world.component.property apart; false where the text is nothing of the kind. */
static bool cut_own(char *text, char **component, char **property)
{
    *property = cut_last(text);
    *component = *property == NULL ? NULL : cut_last(text);
    return *component != NULL;
}

static bp_result_t find_own(world_t *world, const char *component, const char *property, bp_path_t *path)
{
    error_text_t *error = &world->base->error;
    uint32_t number = world_component(world, component);
    if (number == BP_NONE)
        return BP_ERROR_NOT_FOUND;
    if ((world->managers[number]->component->table.flags & BP_COMPONENT_WORLD) == 0)
        return error_set(error, BP_ERROR_SYNTAX,
                         "component '%s' belongs to entities; say whose: %s/ENTITY.%s.%s", component, world->name,
                         component, property);
    path->entity = world->own;
    return property_resolve(world, path->entity, component, property, &path->property);
}

bp_result_t path_parse(const path_worlds_t *worlds, const char *text, bp_path_t *path)
{
    char copy[PATH_MAX_LENGTH + 1];
    error_text_t *error = &worlds->base->error;
    if (strlen(text) > PATH_MAX_LENGTH)
        return error_set(error, BP_ERROR_LIMIT, "'%.40s...': a path has at most %d bytes", text, PATH_MAX_LENGTH);
    memcpy(copy, text, strlen(text) + 1);
    char *entity = strchr(copy, '/');
    if (entity != NULL)
        *entity++ = '\0';
    char *property = entity == NULL ? NULL : cut_last(entity);
    char *component = property == NULL ? NULL : cut_last(entity);
    bool own = entity == NULL && cut_own(copy, &component, &property) &&
               destruction_find_world(worlds->of, copy) != NULL;
    bool whose = own || (entity != NULL && entity[0] != '\0');
    if (component == NULL || copy[0] == '\0' || !whose || component[0] == '\0' || property[0] == '\0')
        return error_set(error, BP_ERROR_SYNTAX,
                         "'%.200s' is not a path; write world/entity.component.property, or world.component.property "
                         "for what belongs to the world itself",
                         text);
    bp_path_t found = {0};
    bp_result_t result = BP_OK;
    world_t *world = path_world(worlds, copy);
    if (world == NULL)
        result = BP_ERROR_NOT_FOUND;
    if (result == BP_OK && own)
        result = find_own(world, component, property, &found);
    if (result == BP_OK && !own)
        result = find_entity(world, entity, &found.entity);
    if (result == BP_OK && !own)
        result = property_resolve(world, found.entity, component, property, &found.property);
    if (result != BP_OK)
        return error_prefix(error, result, "%.200s: ", text);
    found.world = world_handle(world);
    *path = found;
    return BP_OK;
}

/* The whole or the element that a path names, where `room` is not enough, in a block of `*size` bytes. */
static bp_result_t read_cell(world_t *world, bp_property_t *property, bp_entity_t entity, bp_value_t *room, void **cell)
{
    *cell = property->size <= sizeof *room ? room : memory_resize(&world->memory, NULL, 0, property->size);
    if (*cell == NULL)
        return error_memory(&world->base->error, "reading a property");
    return property_get(world, property, &entity, 1, *cell, property->size);
}

static void free_cell(world_t *world, const bp_property_t *property, const bp_value_t *room, void *cell)
{
    if (cell != room)
        memory_free(&world->memory, cell, property->size);
}

static void format_value(const bp_property_t *property, const world_t *world, const void *value, char *text,
                         size_t size)
{
    const field_t *field = property_field(property);
    if (property->element == BP_NONE)
        field_format_cell(field, &world->base->values, value, text, size);
    else
        field_format(field, &world->base->values, value, text, size);
}

bp_result_t path_format(bp_world_o *handle, const bp_property_t *property, const void *value, char *text, size_t size)
{
    world_t *world = world_of(handle);
    bp_property_t now = *property;
    bp_result_t result = property_refresh(world, &now); /* refuses one that has got another type or number of values */
    if (result == BP_OK)
        format_value(&now, world, value, text, size);
    return result;
}

bp_result_t path_get_text(const bp_path_t *path, char *text, size_t size)
{
    bp_value_t room;
    void *cell;
    world_t *world = world_of(path->world);
    bp_property_t property = path->property;
    bp_result_t result = read_cell(world, &property, path->entity, &room, &cell);
    if (result == BP_OK)
        format_value(&property, world, cell, text, size);
    free_cell(world, &property, &room, cell);
    return result;
}

static bp_result_t find_named(void *world, const char *name, bp_entity_t *entity)
{
    return find_by_name(world, name, entity);
}

static bp_result_t set_element_text(world_t *world, bp_property_t *property, bp_entity_t entity,
                                    const value_context_t *context, const char *text)
{
    bp_value_t value;
    bp_result_t result = property_refresh(world, property);
    if (result != BP_OK)
        return result;
    result = field_parse(property_field(property), context, text, &value, &world->base->error);
    if (result != BP_OK)
        return error_prefix(&world->base->error, result, "%s: ", property_field(property)->name);
    return property_set(world, property, &entity, 1, &value, sizeof value);
}

bp_result_t path_set_text(const bp_path_t *path, const char *text)
{
    bp_value_t room;
    bp_list_t list;
    void *cell;
    field_values_t values;
    world_t *world = world_of(path->world);
    bp_property_t property = path->property;
    value_context_t context = world->base->values;
    context.find_entity = find_named;
    context.finder = world;
    /* An entity or a component that is gone is reported before a fault of the text. An element's number may be the one
       behind the last, which appends. */
    if (property.element != BP_NONE)
        return set_element_text(world, &property, path->entity, &context, text);
    bp_result_t result = read_cell(world, &property, path->entity, &room, &cell);
    free_cell(world, &property, &room, cell);
    if (result == BP_OK) {
        const field_t *field = property_field(&property);
        result = field_parse_cell(field, &context, &world->memory, text, &values, &world->base->error);
        if (result != BP_OK)
            return error_prefix(&world->base->error, field_in_units(field, world->units, result, &world->base->error),
                                "%s: ", field->name);
        result =
            property_set(world, &property, &path->entity, 1, field_values_cell(&values, field, &list), property.size);
        field_values_free(&values, field);
    }
    return result;
}
