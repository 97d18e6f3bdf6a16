/* console_edit.c - what the console makes and takes away: entities, their components, plugins.
 *
 * Every command is all or nothing: words are understood before anything is done.
 */
#include "console.h"
#include "inspect.h"
#include "output.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 64, OPTIONS_MAX = 64, ENTITIES_MOST = 1000000, NAMED = 10 };

static bool refuse_last(const console_t *console)
{
    return console_refuse(console, "%s", bp_host_error(console->program->host));
}

/* --- keys: "body:point_mass" ------------------------------------------------------------------------------------- */

static bool read_key(const console_t *console, bp_world_o *world, char *word, uint32_t *key)
{
    const bp_api_t *api = console->program->api;
    char *type = strchr(word, ':');
    bp_name_t name;
    if (type != NULL)
        *type++ = '\0';
    for (const char *at = word; at == word || *at != '\0'; at++) {
        if (!isalnum((unsigned char)*at) && *at != '_')
            return console_refuse(console, "'%s' is no name for a component; use letters, digits and underscores",
                                  word);
    }
    uint32_t component = api->world->component(world, type == NULL ? word : type);
    if (component == BP_NONE || api->name->intern(console->program->host, word, &name) != BP_OK ||
        api->world->key(world, component, name, key) != BP_OK)
        return refuse_last(console);
    return true;
}

/* All words that are left, as keys. */
static bool read_keys(const console_t *console, bp_world_o *world, char *rest, uint32_t *keys, uint32_t *count)
{
    char *word;
    words_end_t end;
    *count = 0;
    while ((end = console_words_next(&rest, &word)) == WORDS_FOUND) {
        if (*count == KEYS_MAX)
            return console_refuse(console, "more than %d components", KEYS_MAX);
        if (!read_key(console, world, word, &keys[(*count)++]))
            return false;
    }
    return end == WORDS_OVER || console_refuse_unclosed(console);
}

/* --- create ------------------------------------------------------------------------------------------------------ */

static void print_created(const console_t *console, const bp_entity_t *entities, uint64_t count)
{
    char id[ENTITY_TEXT_MAX];
    for (uint64_t i = 0; i < count && (i < NAMED || count == NAMED + 1); i++) {
        console->program->api->entity->format(console->program->host, entities[i], id, sizeof id);
        printf("%s%s", i > 0 ? " " : "", id);
    }
    printf(count > NAMED + 1 ? " ... and %" PRIu64 " more\n" : "\n", count - NAMED);
}

bool console_create(console_t *console, char *rest)
{
    const bp_api_t *api = console->program->api;
    char why[WHY_MAX], *word, *after;
    uint32_t keys[KEYS_MAX], key_count, prototype;
    uint64_t count = 1;
    words_end_t end = console_words_next(&rest, &word);
    if (end != WORDS_FOUND)
        return console_refuse(console, "create needs a world, such as create main body:point_mass");
    bp_world_o *world = inspect_world(console->program, word, why);
    if (world == NULL)
        return console_refuse(console, "%s", why);
    after = rest + strspn(rest, " \t");
    if (*after >= '0' && *after <= '9') {
        console_words_next(&rest, &word);
        if (!numbers_read_count(word, &count) || count < 1 || count > ENTITIES_MOST)
            return console_refuse(console, "'%s' is no number of entities, 1 to %d", word, ENTITIES_MOST);
    }
    if (!read_keys(console, world, rest, keys, &key_count))
        return false;
    if (api->world->prototype(world, keys, key_count, &prototype) != BP_OK)
        return refuse_last(console);
    bp_entity_t *entities = malloc(count * sizeof *entities);
    if (entities == NULL)
        return console_refuse_memory(console);
    bool fine = api->world->create(world, prototype, entities, (uint32_t)count) == BP_OK;
    if (fine)
        print_created(console, entities, count);
    free(entities);
    return fine || refuse_last(console);
}

/* --- add, remove ------------------------------------------------------------------------------------------------- */

bool console_add(console_t *console, char *rest)
{
    const bp_api_t *api = console->program->api;
    char why[WHY_MAX], *word;
    uint32_t keys[KEYS_MAX], count, done = 0;
    target_t target;
    if (console_words_next(&rest, &word) != WORDS_FOUND)
        return console_refuse(console, "add needs an entity and components, such as add main/earth name:debug_name");
    if (!inspect_path(console->program, word, &target, why))
        return console_refuse(console, "%s", why);
    if (target.kind != TARGET_ENTITY)
        return console_refuse(console, "'%s' is no entity; write world/entity, and the components behind it", word);
    if (!read_keys(console, target.world, rest, keys, &count))
        return false;
    if (count == 0)
        return console_refuse(console, "add which component? such as add %s name:debug_name", word);
    while (done < count && api->world->add(target.world, keys[done], &target.entity, 1) == BP_OK)
        done++;
    if (done == count)
        return true;
    console_refuse(console, "%s", bp_host_error(console->program->host));
    while (done-- > 0)
        api->world->remove(target.world, keys[done], &target.entity, 1);
    return false;
}

bool console_remove(console_t *console, char *rest)
{
    const bp_api_t *api = console->program->api;
    char why[WHY_MAX], *word;
    target_t target;
    bp_name_t name;
    uint32_t key;
    if (!console_take_words(console, rest, &word, 1))
        return false;
    if (word == NULL)
        return console_refuse(console, "remove needs a component of an entity, such as remove main/earth.body");
    if (!inspect_path(console->program, word, &target, why))
        return console_refuse(console, "%s", why);
    if (target.kind != TARGET_COMPONENT)
        return console_refuse(console, "'%s' is no component; write world/entity.component%s", word,
                              target.kind == TARGET_ENTITY ? ", or `destroy` to end the entity" : "");
    uint32_t component = api->world->component(target.world, target.component.type);
    if (component == BP_NONE || api->name->intern(console->program->host, target.component.name, &name) != BP_OK ||
        api->world->key(target.world, component, name, &key) != BP_OK ||
        api->world->remove(target.world, key, &target.entity, 1) != BP_OK)
        return refuse_last(console);
    return true;
}

/* --- plugins ----------------------------------------------------------------------------------------------------- */

bool console_load_plugin(console_t *console, char *rest)
{
    bp_option_t options[OPTIONS_MAX];
    char *file, *word;
    uint32_t count = 0;
    words_end_t end = console_words_next(&rest, &file);
    if (end != WORDS_FOUND)
        return console_refuse(console, "load_plugin needs the file of a plugin, such as load_plugin ./spin.so");
    while ((end = console_words_next(&rest, &word)) == WORDS_FOUND) {
        char *equals = strchr(word, '=');
        if (equals == NULL || equals == word || count == OPTIONS_MAX)
            return console_refuse(console, "'%s' is no option; write NAME=VALUE, in quotes where it holds blanks",
                                  word);
        *equals = '\0';
        options[count++] = (bp_option_t){.name = word, .value = equals + 1};
    }
    if (end == WORDS_UNCLOSED)
        return console_refuse_unclosed(console);
    if (bp_host_load_plugin(console->program->host, file, options, count) != BP_OK)
        return refuse_last(console);
    bp_look_plugin_t plugin = {.struct_size = sizeof plugin};
    for (uint32_t cursor = 0; console->program->look->plugin(console->program->host, &cursor, &plugin);) {
    }
    printf("loaded %s\n", plugin.name); /* the last one */
    return true;
}

bool console_unload_plugin(console_t *console, char *rest)
{
    char *words[2];
    if (!console_take_words(console, rest, words, 2))
        return false;
    if (words[0] == NULL || (words[1] != NULL && strcmp(words[1], "--with") != 0))
        return console_refuse(console, "write unload_plugin PLUGIN, or unload_plugin PLUGIN --with to take the systems "
                                       "that need it out of their worlds too");
    bp_result_t result = words[1] == NULL ? bp_host_unload_plugin(console->program->host, words[0])
                                          : bp_host_unload_plugin_with(console->program->host, words[0]);
    return result == BP_OK ||
           console_refuse(console, "%s%s", bp_host_error(console->program->host),
                          result == BP_ERROR_STATE && words[1] == NULL ? " (unload_plugin NAME --with)" : "");
}
