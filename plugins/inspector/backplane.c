/* backplane.c - the methods beyond the Bevy Remote Protocol: looking at worlds, types and entities piece by piece.
 *
 * Lists of entities are sets (sets.h): backplane.find makes a set; its rows and children can be asked for from any
 * place.
 */
#include "methods.h"

#include "look.h"
#include "sets.h"
#include "values.h"
#include "views.h"

#include <stdio.h>

enum { ROWS_MOST = 1000, VALUES_MOST = 16 };

/* --- worlds and types ----------------------------------------------------------------------------------------- */

static int info(ask_t *ask)
{
    writer_t *w = ask->out;
    writer_object(w);
    writer_key_text(w, "inspector", INSPECTOR_VERSION);
    writer_key_truth(w, "readOnly", inspector_option(ask->in, OPTION_READ_ONLY)->boolean);
    writer_key(w, "history");
    views_history(ask->in, w);
    writer_key(w, "worlds");
    views_worlds(ask->in, w);
    writer_object_end(w);
    return ASK_DONE;
}

/* The names of these entities for people, null where an entity has no name or is dead. */
static int names(ask_t *ask)
{
    enum { MOST = 1000 };
    bp_world_o *world;
    const json_t *wanted = ask_param(ask, "entities");
    if (!ask_world(ask, &world))
        return ASK_DONE;
    if (!json_is_array(wanted) || json_array_size(wanted) > MOST) {
        ask_fail(ask, RPC_INVALID_PARAMS, "%s: \"entities\" is an array of at most %d entities", ask->method->name,
                 MOST);
        return ASK_DONE;
    }
    writer_array(ask->out);
    for (size_t i = 0; i < json_array_size(wanted); i++) {
        const json_t *item = json_array_get(wanted, i);
        uint64_t number = (uint64_t)json_integer_value(item);
        bp_entity_t entity = json_is_string(item) ? look_entity_named(ask->in, world, json_string_value(item))
                                                  : look_entity(ask->in, (uint32_t)number, number >> 32);
        const char *label = entity.id != 0 ? look_label(ask->in, world, entity) : NULL;
        if (label != NULL && label[0] != '\0')
            writer_text(ask->out, label);
        else
            writer_null(ask->out);
    }
    writer_array_end(ask->out);
    return ASK_DONE;
}

static int worlds(ask_t *ask)
{
    views_worlds(ask->in, ask->out);
    return ASK_DONE;
}

static int types(ask_t *ask)
{
    bp_world_o *world = NULL;
    if (ask_param(ask, "world") == NULL || ask_world(ask, &world))
        views_types(ask->in, ask->out, world);
    return ASK_DONE;
}

static int components(ask_t *ask)
{
    bp_world_o *world;
    if (ask_world(ask, &world))
        views_components(ask->in, ask->out, world);
    return ASK_DONE;
}

/* --- sets ----------------------------------------------------------------------------------------------------- */

static void write_info(writer_t *w, const set_t *set)
{
    set_info_t told;
    sets_info(set, &told);
    writer_object(w);
    writer_key_count(w, "set", told.id);
    writer_key_text(w, "world", told.world);
    writer_key_count(w, "count", told.count);
    writer_key_real(w, "progress", told.built || told.bound == 0 ? 1 : (double)told.seen / told.bound);
    writer_key_truth(w, "built", told.built);
    writer_key_truth(w, "tree", told.tree);
    if (told.tree)
        writer_key_count(w, "roots", sets_child_count(set, (bp_entity_t){0}));
    if (told.cut)
        writer_key_truth(w, "cut", true);
}

static set_t *make_set(ask_t *ask, bool tree)
{
    bp_world_o *world;
    const char *where = NULL, *name = NULL;
    if (!ask_world(ask, &world) || !ask_text(ask, "where", false, &where) || !ask_text(ask, "name", false, &name))
        return NULL;
    return sets_make(ask, world, where, name, tree);
}

static int find(ask_t *ask)
{
    bool tree = false;
    if (!sets_have_room(ask->in))
        return ASK_MORE;
    const set_t *set = ask_truth(ask, "tree", &tree) ? make_set(ask, tree) : NULL;
    if (set == NULL)
        return ASK_DONE;
    write_info(ask->out, set);
    writer_object_end(ask->out);
    return ASK_DONE;
}

static set_t *set_param(ask_t *ask)
{
    uint64_t id = 0;
    return ask_count(ask, "set", true, INT64_MAX, &id) ? sets_find(ask, id) : NULL;
}

static int progress(ask_t *ask)
{
    const set_t *set = set_param(ask);
    if (set == NULL)
        return ASK_DONE;
    write_info(ask->out, set);
    writer_object_end(ask->out);
    return ASK_DONE;
}

/* The properties that each row shows, from the parameter `values`. */
static bool read_values(ask_t *ask, bp_world_o *world, gather_t values[VALUES_MOST], uint32_t *count)
{
    char sentence[GATHER_SENTENCE_MAX];
    const json_t *wanted = ask_param(ask, "values");
    *count = 0;
    if (wanted == NULL)
        return true;
    if (!json_is_array(wanted) || json_array_size(wanted) > VALUES_MOST)
        return ask_fail(ask, RPC_INVALID_PARAMS, "%s: \"values\" is an array of at most %d properties",
                        ask->method->name, VALUES_MOST);
    for (size_t i = 0; i < json_array_size(wanted); i++) {
        const char *text = json_string_value(json_array_get(wanted, i));
        if (text == NULL || !gather_bind_text(ask->in, world, text, &values[i], sentence))
            return ask_fail(ask, RPC_INVALID_PARAMS, "%s", text == NULL ? "\"values\" is an array of texts" : sentence);
    }
    *count = (uint32_t)json_array_size(wanted);
    return true;
}

/* The parameters that `rows` and `children` share: which rows, and which values the rows show. */
typedef struct page_t {
    const set_t *set;
    bp_world_o *world;
    uint64_t from, count;
    gather_t values[VALUES_MOST];
    uint32_t value_count;
} page_t;

static bool read_rest(ask_t *ask, page_t *page)
{
    set_info_t told;
    page->from = 0;
    page->count = 100;
    if (!ask_count(ask, "from", false, UINT32_MAX, &page->from) ||
        !ask_count(ask, "count", false, ROWS_MOST, &page->count))
        return false;
    sets_info(page->set, &told);
    page->world = look_world(ask->in, told.world);
    if (page->world == NULL || look_world_number(ask->in, page->world) != told.world_number)
        return ask_fail(ask, RPC_ABSENT, "the world of this set has gone");
    return read_values(ask, page->world, page->values, &page->value_count);
}

static bool read_page(ask_t *ask, page_t *page)
{
    page->set = set_param(ask);
    return page->set != NULL && read_rest(ask, page);
}

static void write_rows(ask_t *ask, const page_t *page, const bp_entity_t *entities, uint32_t count)
{
    set_info_t told;
    sets_info(page->set, &told);
    writer_key_count(ask->out, "from", page->from);
    writer_key(ask->out, "rows");
    writer_array(ask->out);
    for (uint32_t i = 0; i < count; i++) {
        views_row(ask->in, ask->out, page->world, entities[i]);
        if (told.tree)
            writer_key_count(ask->out, "children", sets_child_count(page->set, entities[i]));
        if (page->value_count > 0) {
            writer_key(ask->out, "values");
            writer_array(ask->out);
            for (uint32_t v = 0; v < page->value_count; v++)
                views_value(ask->in, ask->out, page->world, &page->values[v], entities[i]);
            writer_array_end(ask->out);
        }
        writer_object_end(ask->out);
    }
    writer_array_end(ask->out);
    writer_object_end(ask->out);
}

static int rows(ask_t *ask)
{
    page_t page;
    bp_entity_t entities[ROWS_MOST];
    if (!read_page(ask, &page))
        return ASK_DONE;
    uint32_t count = sets_rows(page.set, (uint32_t)page.from, (uint32_t)page.count, entities);
    write_info(ask->out, page.set);
    write_rows(ask, &page, entities, count);
    return ASK_DONE;
}

static int children(ask_t *ask)
{
    page_t page;
    bp_entity_t entities[ROWS_MOST], parent = {0};
    set_info_t told;
    if (!read_page(ask, &page) || (ask_param(ask, "parent") != NULL && !ask_entity(ask, "parent", &parent)))
        return ASK_DONE;
    sets_info(page.set, &told);
    if (!told.tree) {
        ask_fail(ask, RPC_ABSENT,
                 told.built ? "this set is no tree; make it with \"tree\": true" : "this tree is not built yet");
        return ASK_DONE;
    }
    uint32_t count = sets_children(page.set, parent, (uint32_t)page.from, (uint32_t)page.count, entities);
    write_info(ask->out, page.set);
    writer_key_count(ask->out, "children", sets_child_count(page.set, parent));
    write_rows(ask, &page, entities, count);
    return ASK_DONE;
}

/* The set of a search, which is held until the search has been answered; 0: there was no place for one yet. */
typedef struct search_t {
    uint64_t id;
} search_t;

static void drop_query(ask_t *ask)
{
    const search_t *state = ask->state;
    sets_hold(ask->in, state->id, false);
}

/* A whole search in one call: make the set, wait until it is built, and tell its rows. */
static int query(ask_t *ask)
{
    search_t *state = ask_state(ask, sizeof *state);
    if (state == NULL)
        return ASK_DONE;
    if (state->id == 0) {
        set_info_t told;
        if (!sets_have_room(ask->in))
            return ASK_MORE;
        const set_t *made = make_set(ask, false);
        if (made == NULL)
            return ASK_DONE;
        sets_info(made, &told);
        state->id = told.id;
        sets_hold(ask->in, state->id, true);
    }
    page_t page = {.set = sets_find(ask, state->id)};
    if (page.set == NULL)
        return ASK_DONE;
    if (!sets_is_built(page.set))
        return ASK_MORE;
    if (read_rest(ask, &page)) {
        bp_entity_t entities[ROWS_MOST];
        uint32_t count = sets_rows(page.set, (uint32_t)page.from, (uint32_t)page.count, entities);
        write_info(ask->out, page.set);
        write_rows(ask, &page, entities, count);
    }
    return ASK_DONE;
}

/* The entities above an entity, nearest last: a tree opens these to show the entity. */
static int ancestors(ask_t *ask)
{
    enum { DEEPEST = 256 };
    bp_entity_t chain[DEEPEST], entity;
    uint32_t count = 0;
    const set_t *set = set_param(ask);
    if (set == NULL || !ask_entity(ask, "entity", &entity))
        return ASK_DONE;
    for (bp_entity_t at = sets_parent(set, entity); at.id != 0 && count < DEEPEST; at = sets_parent(set, at))
        chain[count++] = at;
    writer_array(ask->out);
    while (count > 0)
        look_write_entity(ask->in, ask->out, chain[--count]);
    writer_array_end(ask->out);
    return ASK_DONE;
}

/* --- single entities and properties --------------------------------------------------------------------------- */

static int entity(ask_t *ask)
{
    bp_entity_t wanted;
    bp_world_o *world;
    if (!ask_world(ask, &world))
        return ASK_DONE;
    ask_take_world(ask, world);
    if (ask_entity(ask, "entity", &wanted))
        views_entity(ask->in, ask->out, world, wanted);
    return ASK_DONE;
}

static bool path_param(ask_t *ask, bp_path_t *path)
{
    const char *text = NULL;
    if (!ask_text(ask, "path", true, &text))
        return false;
    return ask->in->api->property->parse_path(ask->in->host, text, path) == BP_OK || ask_fail_host(ask, RPC_ABSENT);
}

/* The whole text of a property, however long, with its closing zero; `text` says where memory was lacking. */
static bp_result_t read_text(const inspector_t *in, const bp_path_t *path, writer_t *text)
{
    bp_result_t result = BP_OK;
    for (size_t size = 1024; result == BP_OK; size *= 4) {
        text->length = 0;
        char *room = writer_room(text, size);
        if (room == NULL)
            return BP_OK;
        result = in->api->property->get_text(path, room, size);
        if (result == BP_OK && strlen(room) < size - 1)
            break;
    }
    return result;
}

static int get(ask_t *ask)
{
    bp_path_t path;
    writer_t value = {.allocator = &ask->in->allocator}, text = value;
    if (!path_param(ask, &path))
        return ASK_DONE;
    if (values_write_property(ask->in, &value, path.world, &path.property, path.entity) != BP_OK ||
        read_text(ask->in, &path, &text) != BP_OK) {
        writer_release(&value);
        writer_release(&text);
        ask_fail_host(ask, RPC_COMPONENT);
        return ASK_DONE;
    }
    writer_object(ask->out);
    writer_key(ask->out, "value");
    writer_json(ask->out, value.bytes, value.length);
    ask->out->failed |= value.failed || text.failed;
    writer_key_text(ask->out, "text", text.failed ? "" : text.bytes);
    writer_release(&value);
    writer_release(&text);
    writer_key_text(ask->out, "type", shape_of(path.property.type)->name);
    writer_object_end(ask->out);
    return ASK_DONE;
}

static int set(ask_t *ask)
{
    bp_path_t path;
    const json_t *value = ask->params == NULL ? NULL : json_object_get(ask->params, "value");
    if (!path_param(ask, &path))
        return ASK_DONE;
    if (value == NULL)
        ask_fail(ask, RPC_INVALID_PARAMS, "backplane.set: the parameter \"value\" is missing");
    else if (values_set_path(ask, &path, value))
        writer_null(ask->out);
    return ASK_DONE;
}

const method_t backplane_methods[] = {
    {"backplane.info", "the inspector, what it can do, and the worlds", "", 0, info, NULL},
    {"backplane.worlds", "the worlds with their clocks", "", 0, worlds, NULL},
    {"backplane.types", "the component types with their fields; of a world, with its units", "world?", 0, types, NULL},
    {"backplane.components", "the components that entities of a world have", "world?", 0, components, NULL},
    {"backplane.find", "begins a set of entities: all of a world, or those that satisfy a condition",
     "world? where? name? tree?", 0, find, NULL},
    {"backplane.query", "entities that satisfy a condition, with some of their values",
     "world? where? name? from? count? values?", 0, query, drop_query},
    {"backplane.progress", "how far a set is", "set", 0, progress, NULL},
    {"backplane.rows", "entities of a set, with some of their values", "set from? count? values?", 0, rows, NULL},
    {"backplane.children", "children of an entity in a set that is a tree; without a parent, the roots",
     "set parent? from? count? values?", 0, children, NULL},
    {"backplane.ancestors", "the entities above one in a set that is a tree", "set entity", 0, ancestors, NULL},
    {"backplane.entity", "an entity with all its components and values", "entity world?", 0, entity, NULL},
    {"backplane.names", "the names of some entities, null where one has none", "entities world?", 0, names, NULL},
    {"backplane.get", "a property by its path, world/entity.component.property", "path", 0, get, NULL},
    {"backplane.set", "sets a property by its path", "path value", METHOD_CHANGES, set, NULL},
    {0},
};
