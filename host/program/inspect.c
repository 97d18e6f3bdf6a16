/* inspect.c - worlds, entities and components by their names.
 *
 * A full path goes to the library, which resolves and explains it. The shorter forms are the program's own:
 * the text behind the slash is tried as an entity, then, cut at its last dot, as an entity and a component.
 * Debug names may hold dots, so the longest text that is an entity's name wins.
 *
 * The tables give a component's number, and a number for a type, but no type for a number: the
 * types of all plugins are asked in turn. There are tens of them, and a user's command can wait for that.
 */
#include "inspect.h"

#include "output.h"

#include <components/debug_name.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAMES_CONSIDERED = 10000, /* debug names looked at for a guess */
    NAME_TYPE_MAX = 64
};

static const char grammar[] = "a path reads world/entity.component.property";

/* --- components ----------------------------------------------------------------------------------------- */

const char *inspect_type(const program_t *program, uint32_t index)
{
    bp_look_type_t type = {.struct_size = sizeof type};
    uint32_t cursor = 0;
    while (program->look->type(program->host, &cursor, &type))
        if (index-- == 0)
            return type.name;
    return NULL;
}

/* The type of a manager's number in a world. */
static const char *type_of(const program_t *program, bp_world_o *world, uint32_t component)
{
    const char *type;
    for (uint32_t i = 0; (type = inspect_type(program, i)) != NULL; i++)
        if (program->api->world->component(world, type) == component)
            return type;
    return "?";
}

attached_t inspect_attached(const program_t *program, bp_world_o *world, uint32_t key)
{
    uint32_t component = BP_NONE;
    bp_name_t name = 0;
    attached_t attached = {.name = "?", .type = "?"};
    if (program->api->world->key_info(world, key, &component, &name) != BP_OK)
        return attached;
    attached.type = type_of(program, world, component);
    attached.name = name == 0 ? attached.type : program->api->name->text(program->host, name);
    return attached;
}

bool inspect_components(const program_t *program, bp_world_o *world, bp_entity_t entity,
                        attached_list_t *list)
{
    const bp_world_api *api = program->api->world;
    uint32_t count = api->keys_of(world, entity, NULL, 0);
    *list = (attached_list_t){0};
    if (count == 0)
        return true;
    uint32_t *keys = malloc(count * sizeof *keys);
    list->items = malloc(count * sizeof *list->items);
    if (keys == NULL || list->items == NULL) {
        free(keys);
        inspect_release(list);
        return false;
    }
    list->count = api->keys_of(world, entity, keys, count);
    for (uint32_t i = 0; i < list->count; i++)
        list->items[i] = inspect_attached(program, world, keys[i]);
    free(keys);
    return true;
}

void inspect_release(attached_list_t *list)
{
    free(list->items);
    *list = (attached_list_t){0};
}

/* --- entities ------------------------------------------------------------------------------------------- */

/* The table and the manager of debug names in a world; false where the world has no such manager. */
static bool find_names(const program_t *program, bp_world_o *world, const bp_debug_name_api **names,
                       bp_manager_t **manager)
{
    const bp_api_t *api = program->api;
    uint32_t component = api->world->component(world, BP_DEBUG_NAME_API);
    *names = api->registry->find(program->host, BP_DEBUG_NAME_API, 1);
    *manager = component == BP_NONE ? NULL : api->world->manager(world, component);
    return *names != NULL && *manager != NULL;
}

const char *inspect_name(const program_t *program, bp_world_o *world, bp_entity_t entity)
{
    const bp_debug_name_api *names;
    bp_manager_t *manager;
    return find_names(program, world, &names, &manager) ? names->name(manager, entity) : NULL;
}

/* Read "#index:generation". */
static bool read_id(const char *text, uint64_t *index, uint64_t *generation)
{
    char digits[ENTITY_TEXT_MAX];
    const char *colon = strchr(text, ':');
    if (text[0] != '#' || colon == NULL || (size_t)(colon - text) >= sizeof digits)
        return false;
    size_t length = (size_t)(colon - text) - 1;
    memcpy(digits, text + 1, length);
    digits[length] = '\0';
    return numbers_read_count(digits, index) && numbers_read_count(colon + 1, generation);
}

/* The living entity of an id; generations are compared as the host writes them. */
static bp_entity_t entity_of_id(const program_t *program, uint64_t index, uint64_t generation)
{
    const bp_entity_api *api = program->api->entity;
    char text[ENTITY_TEXT_MAX];
    uint64_t index_now;
    uint64_t generation_now;
    if (index >= api->bound(program->host))
        return (bp_entity_t){0};
    bp_entity_t entity = api->at(program->host, (uint32_t)index);
    if (entity.id == 0)
        return entity;
    api->format(program->host, entity, text, sizeof text);
    bool same = read_id(text, &index_now, &generation_now) && generation_now == generation;
    return same ? entity : (bp_entity_t){0};
}

/* Write "; did you mean ..." with a near debug name, or "", to `hint`. */
static void guess_name(const program_t *program, bp_world_o *world, const char *wanted, char *hint,
                       size_t size)
{
    char best[NAME_TYPE_MAX + 1] = "";
    guess_t guess = {.wanted = wanted};
    uint32_t index = 0;
    for (uint32_t i = 0; i < NAMES_CONSIDERED; i++) {
        bp_entity_t entity = program->api->world->next(world, &index);
        if (entity.id == 0)
            break;
        const char *name = inspect_name(program, world, entity);
        if (name == NULL || strlen(name) > NAME_TYPE_MAX)
            continue;
        guess_consider(&guess, name);
        if (guess.best == name) /* better than what came before; its text does not outlive the next call */
            guess.best = memcpy(best, name, strlen(name) + 1);
    }
    guess_hint(&guess, hint, size);
}

static void explain_missing(const program_t *program, bp_world_o *world, const char *name, char why[WHY_MAX])
{
    const bp_debug_name_api *names;
    bp_manager_t *manager;
    const char *world_name = program->api->world->name(world);
    char hint[96];
    if (!find_names(program, world, &names, &manager)) {
        snprintf(why, WHY_MAX, "world %s has no debug names; name an entity as #index:generation, not '%s'",
                 world_name, name);
        return;
    }
    guess_name(program, world, name, hint, sizeof hint);
    snprintf(why, WHY_MAX, "no entity '%s' in world %s%s", name, world_name, hint);
}

static bool explain_many(const program_t *program, const char *name, const bp_entity_t *two, uint32_t count,
                         char why[WHY_MAX])
{
    char first[ENTITY_TEXT_MAX];
    char second[ENTITY_TEXT_MAX];
    program->api->entity->format(program->host, two[0], first, sizeof first);
    program->api->entity->format(program->host, two[1], second, sizeof second);
    snprintf(why, WHY_MAX, "%u entities are called '%s': %s, %s%s; name one by its id", (unsigned)count, name,
             first, second, count > 2 ? ", ..." : "");
    return false;
}

bool inspect_entity(const program_t *program, bp_world_o *world, const char *text, bp_entity_t *entity,
                    char why[WHY_MAX])
{
    uint64_t index;
    uint64_t generation;
    const bp_debug_name_api *names;
    bp_manager_t *manager;
    bp_entity_t two[2] = {{0}, {0}};
    if (read_id(text, &index, &generation)) {
        *entity = entity_of_id(program, index, generation);
        if (entity->id == 0)
            snprintf(why, WHY_MAX, "entity %s is dead, or never lived", text);
        return entity->id != 0;
    }
    bool named = find_names(program, world, &names, &manager);
    uint32_t count = named ? names->find(manager, text, two, 2) : 0;
    *entity = two[0];
    if (count > 1)
        return explain_many(program, text, two, count, why);
    if (count == 0)
        explain_missing(program, world, text, why);
    return count == 1;
}

/* --- paths ---------------------------------------------------------------------------------------------- */

bp_look_world_t inspect_figures(const program_t *program, bp_world_o *world)
{
    bp_look_world_t figures = {.struct_size = sizeof figures};
    uint32_t cursor = 0;
    while (program->look->world(program->host, &cursor, &figures) && figures.world != world) {
    }
    return figures;
}

bp_world_o *inspect_world(const program_t *program, const char *name, char why[WHY_MAX])
{
    const bp_world_api *api = program->api->world;
    bp_world_o *world = api->find(program->host, name);
    if (world != NULL)
        return world;
    char hint[96];
    char known[256] = "";
    size_t length = 0;
    guess_t guess = {.wanted = name};
    for (uint32_t i = 0; (world = api->at(program->host, i)) != NULL; i++) {
        guess_consider(&guess, api->name(world));
        if (length < sizeof known)
            length += (size_t)snprintf(known + length, sizeof known - length, " %s", api->name(world));
    }
    if (guess.best != NULL)
        snprintf(why, WHY_MAX, "no world '%s'%s", name, guess_hint(&guess, hint, sizeof hint));
    else
        snprintf(why, WHY_MAX, "no world '%s'; there is:%s", name, length > 0 ? known : " none");
    return NULL;
}

/* The component `name` of the target's entity. */
static bool find_component(const program_t *program, target_t *target, const char *name, char why[WHY_MAX])
{
    attached_list_t list;
    char hint[96];
    guess_t guess = {.wanted = name};
    bool found = false;
    if (!inspect_components(program, target->world, target->entity, &list)) {
        snprintf(why, WHY_MAX, "out of memory");
        return false;
    }
    for (uint32_t i = 0; i < list.count && !found; i++) {
        guess_consider(&guess, list.items[i].name);
        found = strcmp(list.items[i].name, name) == 0;
        target->component = list.items[i];
    }
    if (!found)
        snprintf(why, WHY_MAX, "the entity has no component '%s'%s", name,
                 guess_hint(&guess, hint, sizeof hint));
    inspect_release(&list);
    return found;
}

/* Find what the path names by `rest`, the text behind the slash, which is cut at its last dot. */
static bool find_parts(const program_t *program, const char *path, char *rest, target_t *target,
                       char why[WHY_MAX])
{
    char ignored[WHY_MAX];
    char *dot = strrchr(rest, '.');
    target->kind = TARGET_ENTITY;
    if (inspect_entity(program, target->world, rest, &target->entity, dot == NULL ? why : ignored))
        return true;
    if (dot == NULL)
        return false;
    *dot = '\0';
    target->kind = TARGET_COMPONENT;
    bool last = strchr(rest, '.') == NULL; /* two parts: component and property */
    if (inspect_entity(program, target->world, rest, &target->entity, last ? why : ignored))
        return find_component(program, target, dot + 1, why);
    if (last)
        return false;
    target->kind = TARGET_PROPERTY;
    if (program->api->property->parse_path(program->host, path, &target->path) == BP_OK) {
        target->entity = target->path.entity;
        return true;
    }
    snprintf(why, WHY_MAX, "%s", program->api->error->last(program->host));
    return false;
}

/* What belongs to a world itself: world.component.property, world.component, or all of it. False with nothing in `why`
 * where the text begins with no such world. */
static bool find_own(const program_t *program, const char *path, target_t *target, char why[WHY_MAX])
{
    const bp_api_t *api = program->api;
    size_t length = 0;
    why[0] = '\0';
    for (uint32_t i = 0; length == 0 && (target->world = api->world->at(program->host, i)) != NULL; i++) {
        const char *name = api->world->name(target->world);
        if (strncmp(path, name, strlen(name)) == 0 && (path[strlen(name)] == '.' || path[strlen(name)] == '\0'))
            length = strlen(name);
    }
    if (length == 0)
        return false;
    target->entity = api->world->own(target->world);
    if (target->entity.id == 0) {
        snprintf(why, WHY_MAX, "world %.64s has no component of its own; for those of entities, %s",
                 api->world->name(target->world), grammar);
        return false;
    }
    if (path[length] == '\0')
        return true;
    target->kind = TARGET_COMPONENT;
    if (strchr(path + length + 1, '.') == NULL)
        return find_component(program, target, path + length + 1, why);
    target->kind = TARGET_PROPERTY;
    if (api->property->parse_path(program->host, path, &target->path) == BP_OK)
        return true;
    snprintf(why, WHY_MAX, "%s", api->error->last(program->host));
    return false;
}

bool inspect_path(const program_t *program, const char *path, target_t *target, char why[WHY_MAX])
{
    *target = (target_t){.kind = TARGET_ENTITY};
    const char *slash = strchr(path, '/');
    if (slash == NULL && find_own(program, path, target, why))
        return true;
    if (slash == NULL && why[0] != '\0')
        return false;
    if (slash == NULL || slash[1] == '\0') {
        snprintf(why, WHY_MAX, "'%s' names no entity; %s", path, grammar);
        return false;
    }
    size_t length = strlen(path) + 1;
    char *copy = malloc(length);
    if (copy == NULL) {
        snprintf(why, WHY_MAX, "out of memory");
        return false;
    }
    memcpy(copy, path, length);
    copy[slash - path] = '\0';
    target->world = inspect_world(program, copy, why);
    bool found = target->world != NULL && find_parts(program, path, copy + (slash - path) + 1, target, why);
    free(copy);
    return found;
}

/* A debug name in any world. */
static bool find_named(const program_t *program, const char *name, bp_entity_t *entity, char why[WHY_MAX])
{
    bp_world_o *world;
    bp_entity_t other;
    *entity = (bp_entity_t){0};
    for (uint32_t i = 0; (world = program->api->world->at(program->host, i)) != NULL; i++) {
        const bp_debug_name_api *names;
        bp_manager_t *manager;
        uint32_t count = find_names(program, world, &names, &manager) ? names->find(manager, name, NULL, 0) : 0;
        if (count == 0)
            continue;
        if (!inspect_entity(program, world, name, &other, why))
            return false;
        if (entity->id != 0 && entity->id != other.id)
            return explain_many(program, name, (const bp_entity_t[]){*entity, other}, 2, why);
        *entity = other;
    }
    world = program->api->world->at(program->host, 0);
    if (entity->id != 0)
        return true;
    snprintf(why, WHY_MAX, "no entity '%s' in any world", name);
    if (world != NULL && program->api->world->at(program->host, 1) == NULL)
        inspect_entity(program, world, name, &other, why);
    return false;
}

bool inspect_any_entity(const program_t *program, const char *text, bp_entity_t *entity, char why[WHY_MAX])
{
    uint64_t index, generation;
    target_t target;
    if (read_id(text, &index, &generation)) {
        *entity = entity_of_id(program, index, generation);
        if (entity->id == 0)
            snprintf(why, WHY_MAX, "entity %s is dead, or never lived", text);
        return entity->id != 0;
    }
    if (strchr(text, '/') == NULL)
        return find_named(program, text, entity, why);
    if (!inspect_path(program, text, &target, why))
        return false;
    *entity = target.entity;
    if (target.kind != TARGET_ENTITY)
        snprintf(why, WHY_MAX, "'%s' names %s, not an entity", text,
                 target.kind == TARGET_COMPONENT ? "a component" : "a property");
    return target.kind == TARGET_ENTITY;
}
