/* backplane_watch.c - one stream for all that a page looks at: clocks, an entity, properties for curves.
 *
 * A browser keeps at most six connections to a server, for all its tabs together; so a page has one stream, and the
 * page says by backplane.rewatch which values it wants to be told from this moment on:
 *
 *     backplane.watch+watch {...}  -->  {"watch": 7, ...}, {...}, {...}          every_ms apart
 *     backplane.rewatch {"watch": 7, "entity": 4294967299}
 *
 * Each event holds the values that have changed since the last event: "worlds", "revision" and "history" (views.h)
 * always, "entity" when one of its values has, "values" when one of the watched values has. Each part is written as
 * text and compared with the text told last.
 */
#include "methods.h"

#include "look.h"
#include "views.h"

#include <stdio.h>

enum { WATCHED_MOST = 256, EVERY_MOST_MS = 60000, EVERY_LEAST_MS = 20 };

/* One property that is watched. */
typedef struct watched_t {
    uint64_t entity;
    gather_t gather;
    bool bound;
} watched_t;

typedef struct wish_t {
    char world[REQUEST_WORLD_MAX];
    uint64_t entity;        /* the entity of the open panel; 0: none */
    bool has_entity;
    watched_t *values;
    uint32_t value_count;
} wish_t;

typedef struct stream_t {
    wish_t wish;
    writer_t entity, values; /* the texts told last */
} stream_t;

static void free_wish(const inspector_t *in, wish_t *wish)
{
    allocator_free(&in->allocator, wish->values, wish->value_count * sizeof *wish->values);
    *wish = (wish_t){.values = NULL};
}

static void drop(ask_t *ask)
{
    stream_t *stream = ask->state;
    free_wish(ask->in, &stream->wish);
    if (stream->entity.allocator != NULL)
        writer_release(&stream->entity);
    if (stream->values.allocator != NULL)
        writer_release(&stream->values);
}

/* --- what is wanted ------------------------------------------------------------------------------------------- */

static bool read_watched(ask_t *ask, bp_world_o *world, const json_t *item, watched_t *watched)
{
    char sentence[GATHER_SENTENCE_MAX];
    const json_t *entity = json_object_get(item, "entity");
    const char *property = json_string_value(json_object_get(item, "property"));
    bp_entity_t found;
    if (property == NULL || entity == NULL)
        return ask_fail(ask, RPC_INVALID_PARAMS,
                        "%s: each of \"values\" is {\"entity\": ..., \"property\": \"component.property\"}",
                        ask->method->name);
    bp_world_o *own = ask->world;
    ask->world = world;
    bool living = ask_entity_of(ask, entity, &found);
    ask->world = own;
    if (!living)
        return false;
    watched->entity = found.id;
    watched->bound = gather_bind_text(ask->in, world, property, &watched->gather, sentence);
    return watched->bound || ask_fail(ask, RPC_INVALID_PARAMS, "%s", sentence);
}

static bool read_values(ask_t *ask, bp_world_o *world, wish_t *wish)
{
    const json_t *values = ask_param(ask, "values");
    size_t count = json_array_size(values);
    if (values != NULL && (!json_is_array(values) || count > WATCHED_MOST))
        return ask_fail(ask, RPC_INVALID_PARAMS, "%s: \"values\" is an array of at most %d properties",
                        ask->method->name, WATCHED_MOST);
    if (count == 0)
        return true;
    wish->values = allocator_make(&ask->in->allocator, count * sizeof *wish->values);
    if (wish->values == NULL)
        return ask_fail(ask, RPC_INTERNAL, "out of memory");
    wish->value_count = (uint32_t)count;
    for (uint32_t i = 0; i < count; i++)
        if (!read_watched(ask, world, json_array_get(values, i), &wish->values[i]))
            return false;
    return true;
}

static bool read_wish(ask_t *ask, wish_t *wish, uint64_t *every_ms)
{
    bp_world_o *world;
    bp_entity_t entity;
    *wish = (wish_t){.values = NULL};
    if (!ask_world(ask, &world) || !ask_count(ask, "every_ms", false, EVERY_MOST_MS, every_ms))
        return false;
    *every_ms = *every_ms < EVERY_LEAST_MS ? EVERY_LEAST_MS : *every_ms;
    ask->world = world;
    snprintf(wish->world, sizeof wish->world, "%s", ask->in->api->world->name(world));
    if (ask_param(ask, "entity") != NULL) {
        if (!ask_entity(ask, "entity", &entity))
            return false;
        wish->has_entity = true;
        wish->entity = entity.id;
    }
    if (read_values(ask, world, wish))
        return true;
    free_wish(ask->in, wish);
    return false;
}

/* --- what is told --------------------------------------------------------------------------------------------- */

/* Write `now` under `key` where it differs from the text that was told, and remember `now` as told. */
static void tell(ask_t *ask, const char *key, writer_t *now, writer_t *told)
{
    bool same = now->length == told->length && now->length > 0 && memcmp(now->bytes, told->bytes, now->length) == 0;
    if (!same && now->length > 0) {
        writer_key(ask->out, key);
        writer_json(ask->out, now->bytes, now->length);
    }
    ask->out->failed |= now->failed;
    if (told->allocator != NULL)
        writer_release(told);
    *told = *now;
}

static void tell_entity(ask_t *ask, stream_t *stream, bp_world_o *world)
{
    writer_t now = {.allocator = &ask->in->allocator};
    if (stream->wish.has_entity)
        views_entity(ask->in, &now, world, (bp_entity_t){stream->wish.entity});
    tell(ask, "entity", &now, &stream->entity);
}

static void tell_values(ask_t *ask, stream_t *stream, bp_world_o *world)
{
    writer_t now = {.allocator = &ask->in->allocator};
    if (stream->wish.value_count > 0)
        writer_array(&now);
    for (uint32_t i = 0; i < stream->wish.value_count; i++)
        views_value(ask->in, &now, world, &stream->wish.values[i].gather, (bp_entity_t){stream->wish.values[i].entity});
    if (stream->wish.value_count > 0)
        writer_array_end(&now);
    tell(ask, "values", &now, &stream->values);
}

static int watch(ask_t *ask)
{
    bool begun = ask->state != NULL;
    uint64_t every_ms = 100;
    stream_t *stream = ask_state(ask, sizeof *stream);
    if (stream == NULL || (!begun && !read_wish(ask, &stream->wish, &every_ms)))
        return ASK_DONE;
    if (!begun)
        ask->every_ns = every_ms * 1000000u;
    bp_world_o *world = look_world(ask->in, stream->wish.world);
    writer_object(ask->out);
    writer_key_count(ask->out, "watch", ask->request->id);
    writer_key(ask->out, "worlds");
    views_worlds(ask->in, ask->out);
    writer_key_count(ask->out, "revision", views_revision(ask->in));
    writer_key(ask->out, "history");
    views_history(ask->in, ask->out);
    if (world != NULL) {
        tell_entity(ask, stream, world);
        tell_values(ask, stream, world);
    }
    writer_object_end(ask->out);
    return ASK_DONE;
}

static int rewatch(ask_t *ask)
{
    uint64_t id = 0, every_ms = 100;
    wish_t wish;
    if (!ask_count(ask, "watch", true, INT64_MAX, &id))
        return ASK_DONE;
    ask_t *other = ask->in->streams;
    while (other != NULL && (other->request->id != id || other->method->carry_out != watch))
        other = other->next;
    if (other == NULL) {
        ask_fail(ask, RPC_ABSENT, "there is no such stream; backplane.watch+watch begins one");
        return ASK_DONE;
    }
    if (!read_wish(ask, &wish, &every_ms))
        return ASK_DONE;
    stream_t *stream = other->state;
    free_wish(ask->in, &stream->wish);
    stream->wish = wish;
    other->every_ns = every_ms * 1000000u;
    other->due_ns = 0;
    if (stream->entity.allocator != NULL)
        writer_release(&stream->entity);
    if (stream->values.allocator != NULL)
        writer_release(&stream->values);
    writer_null(ask->out);
    return ASK_DONE;
}

const method_t backplane_watches[] = {
    {"backplane.watch+watch", "one stream for worlds, an entity and properties, told when they change",
     "world? every_ms? entity? values?", METHOD_STREAM, watch, drop},
    {"backplane.rewatch", "changes what a stream of backplane.watch+watch tells",
     "watch world? every_ms? entity? values?", 0, rewatch, NULL},
    {0},
};
