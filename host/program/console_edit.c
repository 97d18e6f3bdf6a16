/* console_edit.c - commands that make and take away entities, their components and scenes; and worlds saved and loaded.
 *
 * Every command is all or nothing: words are understood before anything is done, and the library takes back a change
 * that it could not complete.
 *
 * Each spawn gets a number that people can type, from 1 on; the console keeps the library's handle behind it.
 */
#include "console.h"

#include "inspect.h"
#include "output.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 64, ENTITIES_MOST = 1000000, NAMED = 10 };

static bool refuse_last(const console_t *console)
{
    return console_refuse(console, "%s", bp_host_error(console->program->host));
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "entity" : "entities";
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
    if (*after >= '0' && *after <= '9' && after[strcspn(after, ": \t")] != ':') { /* 2nd:point_mass is a component */
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

/* --- destroy ------------------------------------------------------------------------------------------------------ */

typedef struct batch_t {
    bp_entity_t *entities;
    uint32_t count, room;
} batch_t;

static bool add_to_batch(batch_t *batch, bp_entity_t entity)
{
    if (batch->count == batch->room) {
        uint32_t room = batch->room == 0 ? 64 : 2 * batch->room;
        bp_entity_t *entities = realloc(batch->entities, room * sizeof *entities);
        if (entities == NULL)
            return false;
        batch->entities = entities;
        batch->room = room;
    }
    batch->entities[batch->count++] = entity;
    return true;
}

static bool read_batch(console_t *console, char *rest, batch_t *batch)
{
    char why[WHY_MAX];
    char *word;
    words_end_t end;
    while ((end = console_words_next(&rest, &word)) == WORDS_FOUND) {
        bp_entity_t entity;
        if (!inspect_any_entity(console->program, word, &entity, why))
            return console_refuse(console, "%s", why);
        if (!add_to_batch(batch, entity))
            return console_refuse_memory(console);
    }
    if (end == WORDS_UNCLOSED)
        return console_refuse_unclosed(console);
    return batch->count > 0 || console_refuse(console, "destroy needs entities, such as destroy main/moon #7:1");
}

bool console_destroy(console_t *console, char *rest)
{
    const program_t *program = console->program;
    batch_t batch = {.count = 0};
    bool fine = read_batch(console, rest, &batch);
    if (fine) {
        uint32_t before = program->api->entity->count(program->host);
        program->api->entity->destroy(program->host, batch.entities, batch.count);
        uint32_t died = before - program->api->entity->count(program->host);
        printf("%" PRIu32 " %s destroyed\n", died, plural(died));
    }
    free(batch.entities);
    return fine;
}

/* --- spawn, despawn ----------------------------------------------------------------------------------------------- */

/* "main other ...", as far as there is room. */
static void list_worlds(const program_t *program, char *text, size_t size)
{
    size_t length = 0;
    bp_world_o *world;
    text[0] = '\0';
    for (uint32_t i = 0; (world = program->api->world->at(program->host, i)) != NULL && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, " %s", program->api->world->name(world));
}

/* The world of that name; for NULL the only one there is. NULL after a complaint. */
static bp_world_o *world_or_only(console_t *console, const char *name)
{
    const program_t *program = console->program;
    char why[WHY_MAX], worlds[256];
    bp_world_o *world = name != NULL ? inspect_world(program, name, why) : program->api->world->at(program->host, 0);
    if (world == NULL && name != NULL)
        console_refuse(console, "%s", why);
    else if (world == NULL)
        console_refuse(console, "there is no world to spawn into");
    if (name != NULL || world == NULL || program->api->world->at(program->host, 1) == NULL)
        return world;
    list_worlds(program, worlds, sizeof worlds);
    console_refuse(console, "there are several worlds; say which:%s", worlds);
    return NULL;
}

/* Room for one more spawn; the list may move, but keeps what it holds. */
static bool make_room(console_t *console)
{
    if (console->spawn_count < console->spawn_room)
        return true;
    uint32_t room = console->spawn_room == 0 ? 16 : 2 * console->spawn_room;
    bp_spawn_t *spawns = realloc(console->spawns, room * sizeof *spawns);
    if (spawns == NULL)
        return console_refuse_memory(console);
    console->spawns = spawns;
    console->spawn_room = room;
    return true;
}

static bool spawn_scene(console_t *console, bp_scene_o *scene, const char *name)
{
    const program_t *program = console->program;
    char worlds[256];
    uint32_t count = bp_scene_entity_count(scene);
    bool several = bp_scene_world(scene, 0) != NULL;
    bp_world_o *world = several && name == NULL ? NULL : world_or_only(console, name);
    if (world == NULL && !(several && name == NULL))
        return false;
    if (bp_scene_spawn(scene, world, 0, NULL, &console->spawns[console->spawn_count]) != BP_OK)
        return refuse_last(console);
    snprintf(worlds, sizeof worlds, "%s", several ? "" : program->api->world->name(world));
    for (uint32_t i = 0, used = 0; several && bp_scene_world(scene, i) != NULL && used < sizeof worlds; i++)
        used += (uint32_t)snprintf(worlds + used, sizeof worlds - used, "%s%s", i > 0 ? "+" : "",
                                   bp_scene_world(scene, i));
    printf("spawn %" PRIu32 ": %" PRIu32 " %s in %s\n", ++console->spawn_count, count, plural(count), worlds);
    return true;
}

bool console_spawn(console_t *console, char *rest)
{
    const program_t *program = console->program;
    char *words[2];
    bp_scene_o *scene;
    if (!console_take_words(console, rest, words, 2))
        return false;
    if (words[0] == NULL)
        return console_refuse(console, "spawn needs the file of a scene, such as spawn level.json");
    if (words[1] != NULL && program->api->world->find(program->host, words[1]) == NULL &&
        program->api->world->find(program->host, words[0]) != NULL)
        return console_refuse(console, "the scene comes first: spawn %s %s", words[1], words[0]);
    if (!make_room(console))
        return false;
    if (bp_scene_open(program->host, words[0], &scene) != BP_OK)
        return refuse_last(console);
    bool fine = spawn_scene(console, scene, words[1]);
    bp_scene_close(scene);
    return fine;
}

bool console_despawn(console_t *console, char *rest)
{
    char *word;
    uint64_t number;
    if (!console_take_words(console, rest, &word, 1))
        return false;
    if (word == NULL || !numbers_read_count(word, &number))
        return console_refuse(console, "despawn needs the number that spawn printed, such as despawn 1");
    if (number == 0 || number > console->spawn_count)
        return console_refuse(console, "there is no spawn %s; %s", word,
                              console->spawn_count == 0 ? "nothing has been spawned here"
                                                        : "spawn prints their numbers");
    bp_spawn_t *spawn = &console->spawns[number - 1];
    if (spawn->id == 0)
        return console_refuse(console, "spawn %s has been despawned already", word);
    uint32_t died = bp_host_despawn(console->program->host, *spawn);
    *spawn = (bp_spawn_t){0};
    printf("%" PRIu32 " %s destroyed\n", died, plural(died));
    return true;
}

/* --- save, load --------------------------------------------------------------------------------------------------- */

enum { WORLDS_MOST = 64 };

/* The worlds that `save` and `load` are given: one world; or several, as game+inventory; or all. */
typedef struct worlds_t {
    bp_world_o *worlds[WORLDS_MOST];
    uint32_t count; /* 0: all */
    char *file;
} worlds_t;

static bool read_worlds(console_t *console, char *list, worlds_t *worlds)
{
    char why[WHY_MAX];
    if (strcmp(list, "all") == 0 && console->program->api->world->find(console->program->host, list) == NULL)
        return true;
    for (char *name = list, *next; name != NULL; name = next) {
        next = strchr(name, '+');
        if (next != NULL)
            *next++ = '\0';
        if (worlds->count == WORLDS_MOST)
            return console_refuse(console, "more than %d worlds; name them as `all`", WORLDS_MOST);
        worlds->worlds[worlds->count] = inspect_world(console->program, name, why);
        if (worlds->worlds[worlds->count++] == NULL)
            return console_refuse(console, "%s", why);
    }
    return true;
}

/* The two words that `save` and `load` take. */
static bool worlds_and_file(console_t *console, char *rest, const char *command, worlds_t *worlds)
{
    char *words[2];
    *worlds = (worlds_t){.count = 0};
    if (!console_take_words(console, rest, words, 2))
        return false;
    if (words[1] == NULL)
        return console_refuse(console, "%s needs a world and a file, such as %s main main.bpe", command, command);
    worlds->file = words[1];
    return read_worlds(console, words[0], worlds);
}

/* Several worlds, in one file. */
static bool save_several(console_t *console, const worlds_t *worlds, bool load)
{
    const program_t *program = console->program;
    bp_world_o *const *list = worlds->count == 0 ? NULL : worlds->worlds;
    bp_result_t result = load ? bp_host_restore_worlds(program->host, list, worlds->count, worlds->file, 0)
                              : bp_host_save_worlds(program->host, list, worlds->count, worlds->file);
    if (result != BP_OK)
        return refuse_last(console);
    bp_world_o *world;
    for (uint32_t i = 0; worlds->count == 0 || i < worlds->count; i++) {
        world = worlds->count == 0 ? program->api->world->at(program->host, i) : worlds->worlds[i];
        if (world == NULL)
            break;
        bp_look_world_t figures = inspect_figures(program, world);
        printf("%s: %" PRIu32 " %s %s\n", figures.name, figures.entities, plural(figures.entities),
               load ? "loaded" : "saved");
    }
    return true;
}

bool console_save(console_t *console, char *rest)
{
    worlds_t worlds;
    bp_scene_o *scene;
    size_t size;
    if (!worlds_and_file(console, rest, "save", &worlds))
        return false;
    if (worlds.count != 1)
        return save_several(console, &worlds, false);
    bp_world_o *world = worlds.worlds[0];
    const char *file = worlds.file;
    if (bp_scene_capture(world, &scene) != BP_OK)
        return refuse_last(console);
    bool fine = bp_scene_write(scene, file) == BP_OK;
    bp_scene_bytes(scene, &size);
    uint32_t count = inspect_figures(console->program, world).entities; /* without what belongs to the world itself */
    bp_scene_close(scene);
    if (!fine)
        return refuse_last(console);
    printf("%s: %" PRIu32 " %s, %zu bytes saved\n", console->program->api->world->name(world), count, plural(count),
           size);
    return true;
}

bool console_names_plugin(const char *rest)
{
    rest += strspn(rest, " \t");
    size_t length = strcspn(rest, " \t=");
    return memchr(rest, '.', length) != NULL || memchr(rest, '/', length) != NULL;
}

bool console_load(console_t *console, char *rest)
{
    worlds_t worlds;
    bp_scene_o *scene;
    if (console_names_plugin(rest))
        return console_load_plugin(console, rest);
    if (!worlds_and_file(console, rest, "load", &worlds))
        return false;
    if (worlds.count != 1)
        return save_several(console, &worlds, true);
    bp_world_o *world = worlds.worlds[0];
    const char *file = worlds.file;
    if (bp_scene_open(console->program->host, file, &scene) != BP_OK)
        return refuse_last(console);
    bool fine = bp_scene_restore(scene, world, 0) == BP_OK;
    bp_look_world_t told = inspect_figures(console->program, world);
    if (fine)
        printf("%s: %" PRIu32 " %s loaded\n", told.name, told.entities, plural(told.entities));
    else
        refuse_last(console);
    bp_scene_close(scene);
    return fine;
}
