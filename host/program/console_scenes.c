/* console_scenes.c - what the console does with many entities at a time: trees, and the end of some.
 *
 * Every command is all or nothing: words are understood before anything is done.
 */
#include "console_scenes.h"

#include "inspect.h"
#include "tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- destroy -------------------------------------------------------------------------------------------- */

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
        printf("%" PRIu32 " %s destroyed\n", died, died == 1 ? "entity" : "entities");
    }
    free(batch.entities);
    return fine;
}

/* --- tree ----------------------------------------------------------------------------------------------- */

static bool draw_tree(console_t *console, bp_world_o *world, bp_entity_t top)
{
    return tree_print(console->program, world, top) || console_refuse_memory(console);
}

/* Words of `tree`: a world, a world and an entity, or both as world/entity. */
bool console_tree(console_t *console, char *rest)
{
    const bp_world_api *api = console->program->api->world;
    char *words[2];
    char why[WHY_MAX];
    bp_entity_t top = {0};
    target_t target;
    if (!console_take_words(console, rest, words, 2))
        return false;
    if (words[0] == NULL) {
        bp_world_o *world;
        bool fine = true;
        for (uint32_t i = 0; fine && (world = api->at(console->program->host, i)) != NULL; i++)
            fine = draw_tree(console, world, top);
        return fine;
    }
    if (words[1] == NULL && strchr(words[0], '/') != NULL) {
        if (!inspect_path(console->program, words[0], &target, why))
            return console_refuse(console, "%s", why);
        if (target.kind != TARGET_ENTITY)
            return console_refuse(console, "'%s' names no entity, but something of one", words[0]);
        return draw_tree(console, target.world, target.entity);
    }
    bp_world_o *world = inspect_world(console->program, words[0], why);
    if (world == NULL || (words[1] != NULL && !inspect_entity(console->program, world, words[1], &top, why)))
        return console_refuse(console, "%s", why);
    return draw_tree(console, world, top);
}
