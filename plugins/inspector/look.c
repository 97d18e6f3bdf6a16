/* look.c - looking by names, over the tables of the contract (look.h). */
#include "look.h"

#include "near.h"

#include <components/debug_name.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bp_world_o *look_world(const inspector_t *in, const char *name)
{
    return name[0] == '\0' ? in->api->world->at(in->host, 0) : in->api->world->find(in->host, name);
}

uint64_t look_world_number(const inspector_t *in, const bp_world_o *world)
{
    bp_look_world_t told = {.struct_size = sizeof told};
    for (uint32_t cursor = 0; in->look->world(in->host, &cursor, &told);)
        if (told.world == world)
            return told.number;
    return 0;
}

/* --- types and fields ----------------------------------------------------------------------------------------- */

bool look_type(const inspector_t *in, uint32_t index, look_type_t *type)
{
    bp_look_type_t told = {.struct_size = sizeof told};
    uint32_t cursor = 0;
    for (uint32_t i = 0; in->look->type(in->host, &cursor, &told); i++)
        if (i == index) {
            *type = (look_type_t){told.name, told.doc, told.plugin, told.flags};
            return true;
        }
    return false;
}

bool look_field(const inspector_t *in, const char *type, uint32_t index, bp_field_t *field)
{
    return in->api->property->describe(in->host, type, index, field, sizeof *field) == BP_OK;
}

uint32_t look_field_named(const inspector_t *in, const char *type, const char *name, bp_field_t *field)
{
    for (uint32_t i = 0; look_field(in, type, i, field); i++)
        if (strcmp(field->name, name) == 0)
            return i;
    return BP_NONE;
}

const char *look_field_near(const inspector_t *in, const char *type, const char *name, char best[64])
{
    bp_field_t field;
    near_t near = {.wanted = name};
    for (uint32_t i = 0; look_field(in, type, i, &field); i++)
        near_consider(&near, field.name);
    if (near.best == NULL)
        return NULL;
    snprintf(best, 64, "%s", near.best);
    return best;
}

/* --- components of entities ----------------------------------------------------------------------------------- */

/* The type of a key whose component the world has dropped. */
static const char GONE[] = "?";

/* The type of a manager's number in a world. */
static const char *look_type_of(const inspector_t *in, bp_world_o *world, uint32_t component)
{
    bp_look_type_t told = {.struct_size = sizeof told};
    for (uint32_t cursor = 0; in->look->type(in->host, &cursor, &told);)
        if (in->api->world->component(world, told.name) == component)
            return told.name;
    return GONE;
}

bool look_part(const inspector_t *in, bp_world_o *world, uint32_t key, look_part_t *part)
{
    bp_name_t name;
    *part = (look_part_t){.key = key};
    if (in->api->world->key_info(world, key, &part->component, &name) != BP_OK)
        return false;
    bp_manager_t *manager = in->api->world->manager(world, part->component);
    part->type = manager == NULL ? GONE : look_type_of(in, world, part->component);
    part->name = name == 0 ? part->type : in->api->name->text(in->host, name);
    return true;
}

uint32_t look_parts(const inspector_t *in, bp_world_o *world, bp_entity_t entity, look_part_t parts[LOOK_PARTS_MAX])
{
    uint32_t keys[LOOK_PARTS_MAX];
    uint32_t count = in->api->world->keys_of(world, entity, keys, LOOK_PARTS_MAX), found = 0;
    for (uint32_t i = 0; i < count && i < LOOK_PARTS_MAX; i++)
        found += look_part(in, world, keys[i], &parts[found]);
    return found;
}

void look_full_name(const look_part_t *part, char name[LOOK_NAME_MAX])
{
    if (strcmp(part->name, part->type) == 0)
        snprintf(name, LOOK_NAME_MAX, "%s", part->type);
    else
        snprintf(name, LOOK_NAME_MAX, "%s::%s", part->type, part->name);
}

bool look_is_called(const look_part_t *part, const char *wanted)
{
    size_t length = strlen(part->type);
    if (strcmp(part->type, GONE) == 0)
        return false;
    if (strncmp(wanted, part->type, length) == 0 && strncmp(wanted + length, "::", 2) == 0)
        return strcmp(wanted + length + 2, part->name) == 0;
    return strcmp(wanted, part->type) == 0 || strcmp(wanted, part->name) == 0;
}

/* --- entities ------------------------------------------------------------------------------------------------- */

/* Read "#index:generation". */
static bool read_id(const char *text, uint64_t *index, uint64_t *generation)
{
    char *end;
    if (text[0] != '#' || text[1] < '0' || text[1] > '9')
        return false;
    *index = strtoull(text + 1, &end, 10);
    if (*end != ':' || end[1] < '0' || end[1] > '9')
        return false;
    *generation = strtoull(end + 1, &end, 10);
    return *end == '\0';
}

uint64_t look_number(const inspector_t *in, bp_entity_t entity)
{
    char text[LOOK_ID_MAX];
    uint64_t index = 0, generation = 0;
    in->api->entity->format(in->host, entity, text, sizeof text);
    return read_id(text, &index, &generation) ? generation << 32 | index : 0;
}

/* The entity of that number that bears the components of a world itself; lists of entities leave these out. */
static bp_entity_t find_own(const inspector_t *in, uint64_t number)
{
    bp_look_world_t world = {.struct_size = sizeof world};
    for (uint32_t cursor = 0; in->look->world(in->host, &cursor, &world);) {
        bp_entity_t own = in->api->world->own(world.world);
        if (own.id != 0 && look_number(in, own) == number)
            return own;
    }
    return (bp_entity_t){0};
}

bp_entity_t look_entity(const inspector_t *in, uint32_t index, uint64_t generation)
{
    bp_entity_t entity = {0};
    if (index < in->api->entity->bound(in->host))
        entity = in->api->entity->at(in->host, index);
    bool found = entity.id != 0 && look_number(in, entity) >> 32 == generation;
    return found ? entity : find_own(in, generation << 32 | index);
}

/* The table of debug names and its manager in a world; false where the world has no such manager. */
static bool find_names(const inspector_t *in, bp_world_o *world, const bp_debug_name_api **names,
                       bp_manager_t **manager)
{
    uint32_t component = world == NULL ? BP_NONE : in->api->world->component(world, BP_DEBUG_NAME_API);
    *names = in->api->registry->find(in->host, BP_DEBUG_NAME_API, 1);
    *manager = component == BP_NONE ? NULL : in->api->world->manager(world, component);
    return *names != NULL && *manager != NULL;
}

const char *look_label(const inspector_t *in, bp_world_o *world, bp_entity_t entity)
{
    const bp_debug_name_api *names;
    bp_manager_t *manager;
    return find_names(in, world, &names, &manager) ? names->name(manager, entity) : NULL;
}

bp_entity_t look_entity_named(const inspector_t *in, bp_world_o *world, const char *text)
{
    const bp_debug_name_api *names;
    bp_manager_t *manager;
    uint64_t index, generation;
    bp_entity_t found = {0};
    if (read_id(text, &index, &generation))
        return index > UINT32_MAX ? found : look_entity(in, (uint32_t)index, generation);
    if (find_names(in, world, &names, &manager))
        names->find(manager, text, &found, 1);
    return found;
}

void look_write_entity(const inspector_t *in, writer_t *w, bp_entity_t entity)
{
    if (entity.id == 0)
        writer_null(w);
    else
        writer_count(w, look_number(in, entity));
}
