/* console_complete.c - what TAB offers at the prompt.
 *
 * A path is completed part by part: world, then "/" and the entity's debug name, then "." and the
 * component, then "." and the property; the dots are typed by the user, because an entity or a component
 * alone is a path too. Names that would have to be quoted are not offered.
 */
#include "console_complete.h"

#include "console_commands.h"
#include "inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTITIES_SEARCHED = 100000 }; /* looked at for their names: a key press must not take seconds */

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static void offer_commands(const char *word, completions_t *completions)
{
    const char *name;
    for (uint32_t i = 0; (name = console_command_name(i)) != NULL; i++)
        if (begins_with(name, word))
            completions_add(completions, "", name, true);
}

static void offer_plugins(const program_t *program, const char *word, completions_t *completions)
{
    const char *path;
    const bp_plugin_desc_t *desc;
    for (uint32_t i = 0; (desc = bp_host_plugin(program->host, i, &path)) != NULL; i++)
        if (begins_with(desc->name, word))
            completions_add(completions, "", desc->name, true);
}

/* Worlds as words of their own, or as beginnings of paths. */
static void offer_worlds(const program_t *program, const char *word, bool of_path, completions_t *completions)
{
    bp_world_o *world;
    for (uint32_t i = 0; (world = program->api->world->at(program->host, i)) != NULL; i++) {
        const char *name = program->api->world->name(world);
        if (begins_with(name, word))
            completions_add(completions, name, of_path ? "/" : "", !of_path);
    }
}

/* `before` is the path so far, `start` what has been typed of the entity. */
static void offer_entities(const program_t *program, bp_world_o *world, const char *before, const char *start,
                           completions_t *completions)
{
    uint32_t index = 0;
    for (uint32_t i = 0; i < ENTITIES_SEARCHED && completions->count < COMPLETIONS_MAX; i++) {
        char id[ENTITY_TEXT_MAX];
        bp_entity_t entity = inspect_next(program, world, &index);
        if (entity.id == 0)
            return;
        program->api->entity->format(program->host, entity, id, sizeof id);
        const char *name = start[0] == '#' ? id : inspect_name(program, world, entity);
        if (name != NULL && name[0] != '\0' && begins_with(name, start) && strpbrk(name, " \t\"") == NULL)
            completions_add(completions, before, name, false);
    }
}

static void offer_components(const program_t *program, const target_t *target, const char *before,
                             const char *start, completions_t *completions)
{
    attached_list_t list;
    if (!inspect_components(program, target->world, target->entity, &list))
        return;
    for (uint32_t i = 0; i < list.count; i++)
        if (begins_with(list.items[i].name, start))
            completions_add(completions, before, list.items[i].name, false);
    inspect_release(&list);
}

static void offer_properties(const program_t *program, const target_t *target, const char *before,
                             const char *start, completions_t *completions)
{
    bp_field_t field;
    for (uint32_t i = 0;; i++) {
        if (program->api->property->describe(program->host, target->component.type, i, &field) != BP_OK)
            return;
        if (begins_with(field.name, start))
            completions_add(completions, before, field.name, true);
    }
}

/* `path` is cut up to write the parts apart. */
static void offer_path(const program_t *program, char *path, completions_t *completions)
{
    char before[COMPLETION_BYTES_MAX];
    char why[WHY_MAX];
    target_t target;
    char *slash = strchr(path, '/');
    char *dot = slash != NULL ? strrchr(slash, '.') : NULL;
    if (slash == NULL) {
        offer_worlds(program, path, true, completions);
        return;
    }
    size_t kept = (size_t)((dot != NULL ? dot : slash) + 1 - path);
    if (kept >= sizeof before)
        return;
    memcpy(before, path, kept);
    before[kept] = '\0';
    if (dot == NULL) {
        *slash = '\0';
        bp_world_o *world = inspect_world(program, path, why);
        if (world != NULL)
            offer_entities(program, world, before, slash + 1, completions);
        return;
    }
    *dot = '\0';
    if (!inspect_path(program, path, &target, why))
        return;
    if (target.kind == TARGET_ENTITY)
        offer_components(program, &target, before, dot + 1, completions);
    else if (target.kind == TARGET_COMPONENT)
        offer_properties(program, &target, before, dot + 1, completions);
}

static void offer_path_copy(const program_t *program, const char *word, completions_t *completions)
{
    char path[COMPLETION_BYTES_MAX];
    if (strlen(word) >= sizeof path)
        return;
    memcpy(path, word, strlen(word) + 1);
    offer_path(program, path, completions);
}

static bool is_one_of(const char *command, const char *const *names)
{
    while (*names != NULL && strcmp(*names, command) != 0)
        names++;
    return *names != NULL;
}

/* The word behind the command. */
static void offer_second(const program_t *program, const char *command, const char *word, completions_t *completions)
{
    static const char *const of_worlds[] = {"entities", "save", "load", "tree", NULL};
    static const char *const of_paths[] = {"get", "set", "tree", NULL};
    bool path = strchr(word, '/') != NULL;
    if (strcmp(command, "help") == 0)
        offer_commands(word, completions);
    else if (strcmp(command, "plugins") == 0)
        offer_plugins(program, word, completions);
    else if (!path && is_one_of(command, of_worlds))
        offer_worlds(program, word, false, completions);
    else if (is_one_of(command, of_paths))
        offer_path_copy(program, word, completions);
}

/* The one behind that, which is `second`. */
static void offer_third(const program_t *program, const char *command, const char *second, const char *word,
                        completions_t *completions)
{
    char why[WHY_MAX];
    bp_world_o *world = strcmp(command, "tree") == 0 ? inspect_world(program, second, why) : NULL;
    if (strcmp(command, "spawn") == 0)
        offer_worlds(program, word, false, completions);
    else if (world != NULL)
        offer_entities(program, world, "", word, completions);
}

void console_complete(void *context, const char *line, const char *word, completions_t *completions)
{
    const console_t *console = context;
    char command[16], second[64];
    const char *start = line + strspn(line, " \t");
    size_t length = strcspn(start, " \t");
    if (start >= word) {
        offer_commands(word, completions);
        return;
    }
    snprintf(command, sizeof command, "%.*s", length < sizeof command ? (int)length : 0, start);
    if (strcmp(command, "destroy") == 0) { /* any number of entities */
        offer_path_copy(console->program, word, completions);
        return;
    }
    start += length + strspn(start + length, " \t");
    if (start == word) {
        offer_second(console->program, command, word, completions);
        return;
    }
    length = strcspn(start, " \t");
    snprintf(second, sizeof second, "%.*s", length < sizeof second ? (int)length : 0, start);
    if (start + length + strspn(start + length, " \t") == word)
        offer_third(console->program, command, second, word, completions);
}
