/* cases_names.c - a text for each entity, kept in three ways: by the plugin debug_name in storage of its own, as a
 * declared field, and as a declared field of a component that is told of its rows and does nothing then.
 *
 * The last is the least that debug_name would cost with declared fields, since its index must hear of each text that
 * comes, goes or changes. All texts differ; `set` writes another one over each, of all entities in one call, and
 * `set_each` one by one. `come_and_go` creates entities and destroys them, and steps until they are collected.
 */
#include "cases.h"

#include "worlds.h"

#include <bp_plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 24 };

static const bp_field_t fields[] = {{.name = "name", .type = BP_STRING}};

static bp_result_t come(const bp_run_t *rows, uint32_t count)
{
    (void)rows, (void)count;
    return BP_OK;
}

static void go(const bp_run_t *rows, uint32_t count)
{
    (void)rows, (void)count;
}

static bp_result_t change(const bp_run_t *rows, uint32_t count, uint32_t field)
{
    (void)rows, (void)count, (void)field;
    return BP_OK;
}

static const bp_rows_i rows = {.rows_added = come, .rows_removed = go, .rows_set = change};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_rows", rows)}};
static const bp_component_i components[] = {
    {.name = "plain", .fields = BP_LIST(fields)},
    {.name = "told", .fields = BP_LIST(fields), .extensions = BP_LIST(extensions)},
};
static const bp_plugin_head_t names =
    BP_PLUGIN_HEAD("names", (&(const bp_plugin_desc_t){.version = "1.0", .components = BP_LIST(components)}));

/* --- the entities of each way ------------------------------------------------------------------------------------- */

enum { OWN, PLAIN, TOLD, WAYS };
static const char *const types[WAYS] = {"debug_name", "plain", "told"};

typedef struct named_t {
    bench_world_t w;
    uint32_t size, turn;
    uint32_t prototypes[WAYS];
    bp_entity_t *entities[WAYS], *made;
    bench_field_t name[WAYS];
    char *texts[2];
    const char **values[2], **read;
} named_t;

static void write_texts(named_t *s)
{
    for (uint32_t k = 0; k < 2; k++) {
        s->texts[k] = worlds_memory(s->size, TEXT);
        s->values[k] = worlds_memory(s->size, sizeof *s->values[k]);
        for (uint32_t i = 0; i < s->size; i++) {
            char *text = s->texts[k] + (size_t)i * TEXT;
            snprintf(text, TEXT, "%s[%u]", k == 0 ? "wheel" : "lever", i);
            s->values[k][i] = text;
        }
    }
}

static void *setup(uint32_t size)
{
    named_t *s = worlds_memory(1, sizeof *s);
    s->size = size;
    worlds_open(&s->w, &names, 0, 0, 1);
    worlds_must(s->w.host, bp_host_load_plugin(s->w.host, BENCH_PLUGIN_DIR "/debug_name", NULL, 0),
                "loading debug_name");
    worlds_must(s->w.host, bp_world_use_component(s->w.world, types[OWN]), "bringing in debug_name");
    write_texts(s);
    s->read = worlds_memory(size, sizeof *s->read);
    s->made = worlds_memory(size, sizeof *s->made);
    for (uint32_t way = 0; way < WAYS; way++) {
        s->entities[way] = worlds_memory(size, sizeof *s->entities[way]);
        s->prototypes[way] = worlds_prototype(&s->w, types[way]);
        worlds_must(s->w.host, worlds_make(&s->w, s->prototypes[way], s->entities[way], size), "creating entities");
        worlds_field(&s->w, types[way], "name", &s->name[way]);
        worlds_must(s->w.host, worlds_set(&s->w, &s->name[way], s->entities[way], size, s->values[0], sizeof(char *)),
                    "setting names");
    }
    return s;
}

static void teardown(void *state)
{
    named_t *s = state;
    worlds_destroy(&s->w);
    for (uint32_t way = 0; way < WAYS; way++)
        free(s->entities[way]);
    for (uint32_t k = 0; k < 2; k++) {
        free(s->texts[k]);
        free(s->values[k]);
    }
    free(s->read);
    free(s->made);
    free(s);
}

/* --- what is measured --------------------------------------------------------------------------------------------- */

static void take_turns(void *state)
{
    named_t *s = state;
    s->turn = !s->turn;
}

static void set(void *state, uint32_t way)
{
    named_t *s = state;
    worlds_must(s->w.host,
                worlds_set(&s->w, &s->name[way], s->entities[way], s->size, s->values[s->turn], sizeof(char *)),
                "setting names");
}

static void set_each(void *state, uint32_t way)
{
    named_t *s = state;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->size; i++)
        result |= worlds_set(&s->w, &s->name[way], &s->entities[way][i], 1, &s->values[s->turn][i], 0);
    worlds_must(s->w.host, result, "setting a name");
}

static void get_each(void *state, uint32_t way)
{
    named_t *s = state;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->size; i++)
        result |= worlds_get(&s->w, &s->name[way], &s->entities[way][i], 1, &s->read[i], 0);
    worlds_must(s->w.host, result, "getting a name");
}

static void come_and_go(void *state, uint32_t way)
{
    named_t *s = state;
    worlds_must(s->w.host, worlds_make(&s->w, s->prototypes[way], s->made, s->size), "creating entities");
    worlds_must(s->w.host, worlds_set(&s->w, &s->name[way], s->made, s->size, s->values[s->turn], sizeof(char *)),
                "setting names");
    worlds_end(&s->w, s->made, s->size);
    worlds_collect(&s->w);
}

#define OF_EACH_WAY(what)                                              \
    static void what##_own(void *state) { what(state, OWN); }          \
    static void what##_plain(void *state) { what(state, PLAIN); }      \
    static void what##_told(void *state) { what(state, TOLD); }

OF_EACH_WAY(set)
OF_EACH_WAY(set_each)
OF_EACH_WAY(get_each)
OF_EACH_WAY(come_and_go)

#define GROUP(what)                                                                              \
    {                                                                                            \
        .name = "text/" #what, .setup = setup, .teardown = teardown,                             \
        .sides = {                                                                               \
            {.name = "own_storage", .prepare = take_turns, .run = what##_own},                   \
            {.name = "declared", .floor = "own_storage", .prepare = take_turns, .run = what##_plain}, \
            {.name = "told_of_rows", .floor = "own_storage", .prepare = take_turns, .run = what##_told}, \
        },                                                                                       \
    }

const group_t group_text_set = GROUP(set);
const group_t group_text_set_each = GROUP(set_each);
const group_t group_text_get_each = GROUP(get_each);
const group_t group_text_come_and_go = GROUP(come_and_go);
