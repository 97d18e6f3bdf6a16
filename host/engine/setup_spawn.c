/* setup_spawn.c - entities of an ini's worlds from the start: scenes, and the short form [spawn WORLD LABEL].
 *
 * A scene is a file of its own, for levels. The short form is any number of entities that are alike, in the ini itself:
 * for a crowd, or a plugin's first try.
 *
 * Spawned entities are remembered until the setup is over: where it fails they are destroyed.
 */
#include "../base/error.h"
#include "../base/file.h"
#include "setup.h"

#include <stdio.h>

/* --- scenes ------------------------------------------------------------------------------------------------------- */

static bp_result_t spawn_scene(setup_t *s, world_t *world, const char *name)
{
    char path[FILE_PATH_MAX];
    bp_scene_o *scene;
    if (!file_path_beside(s->ini.path, name, path, sizeof path))
        return error_set(s->error, BP_ERROR_LIMIT, "the path of the scene %.60s... is longer than %d bytes", name,
                         FILE_PATH_MAX);
    if (!memory_reserve(&s->ini.memory, &s->spawns, &s->spawn_capacity, (uint64_t)s->spawn_count + 1,
                        sizeof *s->spawns))
        return error_memory(s->error, "spawning scenes");
    bp_result_t result = bp_scene_open(s->host, path, &scene);
    if (result != BP_OK)
        return result;
    result = bp_scene_spawn(scene, world == NULL ? NULL : world_handle(world), 0, NULL, &s->spawns[s->spawn_count]);
    bp_scene_close(scene);
    s->spawn_count += result == BP_OK;
    return result;
}

bp_result_t setup_spawn_scene(setup_t *s, world_t *world, const char *name, uint32_t line)
{
    bp_result_t result = spawn_scene(s, world, name);
    return result == BP_OK ? BP_OK : setup_at_line(s, line, result);
}

/* All scenes of a list, in its order. */
static bp_result_t spawn_list(setup_t *s, world_t *world, const char *section)
{
    char word[FILE_PATH_MAX];
    const ini_entry_t *scenes = setup_find_entry(s, section, "scenes");
    const char *at = scenes == NULL ? "" : scenes->value;
    bp_result_t result = BP_OK;
    while (result == BP_OK && (at = text_next_word(at, word, sizeof word)) != NULL)
        result = setup_spawn_scene(s, world, word, scenes->line);
    return result;
}

bp_result_t setup_spawn_host_scenes(setup_t *s)
{
    return spawn_list(s, NULL, "host");
}

/* In each world its scenes in their order, the worlds in theirs. */
bp_result_t setup_spawn_scenes(setup_t *s)
{
    for (uint32_t i = s->old_worlds; i < s->host->destruction.world_count; i++) {
        world_t *world = s->host->destruction.worlds[i];
        char section[SETUP_WORD];
        snprintf(section, sizeof section, "world %s", world->name);
        bp_result_t result = spawn_list(s, world, section);
        if (result != BP_OK)
            return result;
    }
    return BP_OK;
}

/* --- spawning ----------------------------------------------------------------------------------------------------- */

/* "fog:render_data" or "render_data" to a key. */
static bp_result_t spawn_key(setup_t *s, world_t *world, char *word, uint32_t *key)
{
    char *type = strchr(word, ':');
    bp_name_t name;
    if (type != NULL)
        *type++ = '\0';
    if (!names_is_word(word))
        return error_set(s->error, BP_ERROR_ARGUMENT,
                         "'%s' is no name for a component; use letters, digits and underscores", word);
    uint32_t component = world_component(world, type == NULL ? word : type);
    if (component == BP_NONE)
        return BP_ERROR_NOT_FOUND;
    bp_result_t result = names_intern(&s->host->base.names, word, &name, s->error);
    return result != BP_OK ? result : world_key(world, component, name, key);
}

static bp_result_t spawn_keys(setup_t *s, world_t *world, const char *list, uint32_t keys[PROTOTYPES_MAX_KEYS],
                              uint32_t *count)
{
    char word[SETUP_WORD];
    for (*count = 0; (list = text_next_word(list, word, sizeof word)) != NULL; ++*count) {
        if (*count == PROTOTYPES_MAX_KEYS)
            return error_set(s->error, BP_ERROR_LIMIT, "an entity has at most %d components", PROTOTYPES_MAX_KEYS);
        bp_result_t result = spawn_key(s, world, word, &keys[*count]);
        if (result != BP_OK)
            return result;
    }
    return BP_OK;
}

static bp_result_t set_property(setup_t *s, world_t *world, const ini_entry_t *entry, const bp_entity_t *entities,
                                uint32_t count)
{
    char component[SETUP_WORD];
    const char *dot = strchr(entry->key, '.');
    if (dot == NULL || (size_t)(dot - entry->key) >= sizeof component)
        return error_set(s->error, BP_ERROR_SYNTAX,
                         "'%s' is neither count, entities, components nor COMPONENT.PROPERTY", entry->key);
    memcpy(component, entry->key, (size_t)(dot - entry->key));
    component[dot - entry->key] = '\0';
    bp_property_t property;
    field_values_t values;
    bp_list_t list;
    /* Where no entity is spawned the names are looked up in the world, so that a mistake is an error all the same. */
    bp_result_t result =
        property_resolve(world, count > 0 ? entities[0] : (bp_entity_t){0}, component, dot + 1, &property);
    if (result == BP_OK && property.element != BP_NONE)
        result =
            error_set(s->error, BP_ERROR_ARGUMENT, "%s is one element; write all of them, like [1, 2]", entry->key);
    if (result != BP_OK)
        return result;
    const field_t *field = property_field(&property);
    if (strcmp(field->name, dot + 1) != 0)
        log_write(&s->host->base.log, BP_LOG_WARNING, "host", "%s:%u: '%s' of %s is called '%s' now", s->ini.path,
                  entry->line, dot + 1, component, field->name);
    result = field_parse_cell(field, &s->host->base.values, &world->memory, entry->value, &values, s->error);
    if (result != BP_OK)
        return error_prefix(s->error, field_in_units(field, world->units, result, s->error), "%s = ", entry->key);
    /* Stride 0: all entities get the one value. */
    result = property_set(world, &property, entities, count, field_values_cell(&values, field, &list), 0);
    field_values_free(&values, field);
    bool own = result == BP_ERROR_IO || result == BP_ERROR_SYNTAX || result == BP_ERROR_NOT_FOUND ||
        result == BP_ERROR_FAILED;
    if (own) /* the sentence of a manager does not have the names that the ini uses */
        error_prefix(s->error, result, "%s of [%s]: ", entry->key, s->ini.sections[entry->section_number - 1].name);
    return result;
}

/* Give the entities of another section these components in this world too. */
static bp_result_t lend_spawned(setup_t *s, world_t *world, const ini_entry_t *of, const uint32_t *keys,
                                uint32_t key_count, bp_entity_t **entities, uint32_t *count)
{
    const setup_spawned_t *found = NULL;
    char name[SETUP_WORD + 8];
    snprintf(name, sizeof name, "spawn %s", of->value);
    for (uint32_t i = 0; i < s->list_count; i++) {
        if (strcmp(s->ini.sections[s->lists[i].section].name, name) == 0)
            found = &s->lists[i];
    }
    if (found == NULL)
        return setup_at_line(s, of->line,
                             error_set(s->error, BP_ERROR_NOT_FOUND,
                                       "entities = %s: no [%s] is spawned before this one", of->value, name));
    *count = found->count;
    *entities = found->count == 0 ? NULL : s->spawned + found->first;
    for (uint32_t i = 0; i < key_count && found->count > 0; i++) {
        bp_result_t result = store_add(world, keys[i], *entities, found->count);
        if (result != BP_OK)
            return setup_at_line(s, of->line, result);
    }
    return BP_OK;
}

static bp_result_t create_spawned(setup_t *s, world_t *world, const ini_section_t *section, uint32_t *given,
                                  bp_entity_t **entities)
{
    const ini_entry_t *components = setup_find_entry(s, section->name, "components");
    const ini_entry_t *of = setup_find_entry(s, section->name, "entities");
    uint32_t prototype = 0, keys[PROTOTYPES_MAX_KEYS], key_count = 0, count = *given;
    bp_result_t result = components == NULL ? BP_OK : spawn_keys(s, world, components->value, keys, &key_count);
    if (result == BP_OK && of == NULL && components != NULL)
        result = store_prototype(world, keys, key_count, &prototype);
    if (result != BP_OK)
        return setup_at_line(s, components->line, result);
    if (of != NULL)
        return lend_spawned(s, world, of, keys, key_count, entities, given);
    if (!memory_reserve(&s->ini.memory, &s->lists, &s->list_capacity, (uint64_t)s->list_count + 1, sizeof *s->lists))
        return setup_at_line(s, section->line, error_memory(s->error, "spawning entities"));
    if (!memory_reserve(&s->ini.memory, &s->spawned, &s->spawned_capacity, (uint64_t)s->spawned_count + count,
                        sizeof *s->spawned))
        return setup_at_line(s, section->line, error_memory(s->error, "spawning entities"));
    *entities = count == 0 ? NULL : s->spawned + s->spawned_count;
    result = store_create(world, prototype, *entities, count);
    if (result != BP_OK)
        return setup_at_line(s, section->line, result);
    s->lists[s->list_count++] =
        (setup_spawned_t){(uint32_t)(section - s->ini.sections), s->spawned_count, count};
    s->spawned_count += count;
    return BP_OK;
}

bp_result_t setup_spawn(setup_t *s, const ini_section_t *section)
{
    uint32_t section_number = (uint32_t)(section - s->ini.sections) + 1;
    char words[3][SETUP_WORD] = {"", "", ""};
    setup_section_words(section->name, words);
    path_worlds_t worlds = host_worlds(s->host);
    world_t *world = path_world(&worlds, words[1]);
    if (world == NULL)
        return setup_is_elsewhere(s, words[1]) ? BP_OK : setup_at_line(s, section->line, BP_ERROR_NOT_FOUND);
    bp_value_t count = {.u32 = 1};
    const ini_entry_t *count_entry = setup_find_entry(s, section->name, "count");
    bp_result_t result = setup_read_value(s, count_entry, BP_U32, &count);
    bp_entity_t *entities = NULL;
    if (result == BP_OK && count_entry != NULL && setup_find_entry(s, section->name, "entities") != NULL)
        result = setup_at_line(s, count_entry->line,
                               error_set(s->error, BP_ERROR_ARGUMENT,
                                         "count and entities: either some are made, or they are those of another "
                                         "[spawn]"));
    if (result == BP_OK)
        result = create_spawned(s, world, section, &count.u32, &entities);
    for (uint32_t i = 0; i < s->ini.count && result == BP_OK; i++) {
        const ini_entry_t *e = &s->ini.entries[i];
        if (e->section_number != section_number || strcmp(e->key, "count") == 0 ||
            strcmp(e->key, "components") == 0 || strcmp(e->key, "entities") == 0)
            continue;
        result = set_property(s, world, e, entities, count.u32);
        if (result != BP_OK)
            setup_at_line(s, e->line, result);
    }
    return result;
}

bp_result_t setup_spawn_all(setup_t *s)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->ini.section_count && result == BP_OK; i++) {
        if (setup_is_kind(s->ini.sections[i].name, "spawn"))
            result = setup_spawn(s, &s->ini.sections[i]);
    }
    return result;
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

void setup_end_spawned(setup_t *s)
{
    destruction_destroy(&s->host->destruction, s->spawned, s->spawned_count);
    while (s->spawn_count > 0)
        bp_host_despawn(s->host, s->spawns[--s->spawn_count]);
}

void setup_release_spawned(setup_t *s)
{
    while (s->spawn_count > 0)
        bp_host_release_spawn(s->host, s->spawns[--s->spawn_count]);
    memory_free(&s->ini.memory, s->spawns, (size_t)s->spawn_capacity * sizeof *s->spawns);
    memory_free(&s->ini.memory, s->spawned, (size_t)s->spawned_capacity * sizeof *s->spawned);
    memory_free(&s->ini.memory, s->lists, (size_t)s->list_capacity * sizeof *s->lists);
    s->spawns = NULL;
    s->spawned = NULL;
    s->lists = NULL;
    s->spawn_capacity = s->spawned_capacity = s->spawned_count = s->list_capacity = s->list_count = 0;
}
