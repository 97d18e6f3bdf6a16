/* brp_watch.c - the streams of the Bevy Remote Protocol: components of an entity, and their list, told when they
 * change.
 *
 * The values told last are kept as text, and the present values are compared with that text. The first event tells
 * everything that is there. The entity's death ends the stream with an error.
 */
#include "methods.h"

#include "look.h"
#include "parts.h"

/* A component as it was told last. */
typedef struct told_t {
    const char *name; /* as the client calls it; lies in the request */
    writer_t text;    /* the value; empty: the entity had no such component */
} told_t;

typedef struct watch_t {
    told_t *told;
    uint32_t count;
    writer_t names;   /* for the stream of the list: the names told last, each ended by a zero */
} watch_t;

static void drop(ask_t *ask)
{
    watch_t *watch = ask->state;
    for (uint32_t i = 0; i < watch->count; i++)
        writer_release(&watch->told[i].text);
    allocator_free(&ask->in->allocator, watch->told, watch->count * sizeof *watch->told);
    if (watch->names.bytes != NULL)
        writer_release(&watch->names);
}

/* --- world.get_components+watch ------------------------------------------------------------------------------- */

static bool begin_components(ask_t *ask, watch_t *watch)
{
    const json_t *names = ask_param(ask, "components");
    if (!json_is_array(names))
        return ask_fail(ask, RPC_INVALID_PARAMS, "%s: \"components\" has to be an array of names", ask->method->name);
    size_t count = json_array_size(names);
    watch->told = count == 0 ? NULL : allocator_make(&ask->in->allocator, count * sizeof *watch->told);
    if (count > 0 && watch->told == NULL)
        return ask_fail(ask, RPC_INTERNAL, "out of memory");
    watch->count = (uint32_t)count;
    for (uint32_t i = 0; i < count; i++) {
        watch->told[i].text.allocator = &ask->in->allocator;
        watch->told[i].name = json_string_value(json_array_get(names, i));
        if (watch->told[i].name == NULL)
            return ask_fail(ask, RPC_INVALID_PARAMS, "%s: \"components\" has to be an array of names",
                            ask->method->name);
    }
    return true;
}

/* Compare one component with the text told last: where they differ write the component to `changed`, or its name to
 * `removed`. */
static bool compare(ask_t *ask, told_t *told, bp_entity_t entity, const look_part_t *parts, uint32_t count,
                    writer_t *changed, writer_t *removed)
{
    writer_t now = {.allocator = &ask->in->allocator};
    bool there = parts_write_called(ask->in, &now, ask->world, entity, parts, count, told->name);
    bool same = now.length == told->text.length &&
                (now.length == 0 || memcmp(now.bytes, told->text.bytes, now.length) == 0);
    if (!same && there) {
        writer_key(changed, told->name);
        writer_json(changed, now.bytes, now.length);
    } else if (!same) {
        writer_text(removed, told->name);
    }
    changed->failed |= now.failed;
    writer_release(&told->text);
    told->text = now;
    return !same;
}

static int watch_components(ask_t *ask)
{
    look_part_t parts[LOOK_PARTS_MAX];
    bp_entity_t entity;
    bool begun = ask->state != NULL, strict = false, some = !begun;
    watch_t *watch = ask_state(ask, sizeof *watch);
    if (watch == NULL || !ask_keeps_world(ask) || !ask_entity(ask, "entity", &entity) ||
        !ask_truth(ask, "strict", &strict) || (!begun && !begin_components(ask, watch)))
        return ASK_DONE;
    writer_t changed = {.allocator = &ask->in->allocator}, removed = changed;
    uint32_t count = look_parts(ask->in, ask->world, entity, parts);
    writer_object(&changed);
    writer_array(&removed);
    for (uint32_t i = 0; i < watch->count; i++)
        some |= compare(ask, &watch->told[i], entity, parts, count, &changed, &removed);
    writer_object_end(&changed);
    writer_array_end(&removed);
    if (some) {
        writer_object(ask->out);
        writer_key(ask->out, "components");
        writer_json(ask->out, changed.bytes, changed.length);
        writer_key(ask->out, "removed");
        writer_json(ask->out, removed.bytes, removed.length);
        if (!strict) {
            writer_key(ask->out, "errors");
            writer_json(ask->out, "{}", 2);
        }
        writer_object_end(ask->out);
    }
    ask->out->failed |= changed.failed || removed.failed;
    writer_release(&changed);
    writer_release(&removed);
    return ASK_DONE;
}

/* --- world.list_components+watch ------------------------------------------------------------------------------ */

/* Is `name` among the texts of `names`? */
static bool among(const writer_t *names, const char *name)
{
    for (size_t at = 0; at < names->length; at += strlen(names->bytes + at) + 1)
        if (strcmp(names->bytes + at, name) == 0)
            return true;
    return false;
}

static bool write_missing(writer_t *w, const char *key, const writer_t *from, const writer_t *in)
{
    bool some = false;
    writer_key(w, key);
    writer_array(w);
    for (size_t at = 0; at < from->length; at += strlen(from->bytes + at) + 1)
        if (!among(in, from->bytes + at)) {
            writer_text(w, from->bytes + at);
            some = true;
        }
    writer_array_end(w);
    return some;
}

static int watch_list(ask_t *ask)
{
    look_part_t parts[LOOK_PARTS_MAX];
    bp_entity_t entity;
    char full[LOOK_NAME_MAX];
    bool begun = ask->state != NULL;
    watch_t *watch = ask_state(ask, sizeof *watch);
    if (watch == NULL || !ask_keeps_world(ask) || !ask_entity(ask, "entity", &entity))
        return ASK_DONE;
    writer_t now = {.allocator = &ask->in->allocator}, event = now;
    uint32_t count = look_parts(ask->in, ask->world, entity, parts);
    for (uint32_t i = 0; i < count; i++) {
        look_full_name(&parts[i], full);
        writer_bytes(&now, full, strlen(full) + 1);
    }
    writer_object(&event);
    bool some = write_missing(&event, "added", &now, &watch->names);
    some |= write_missing(&event, "removed", &watch->names, &now);
    writer_object_end(&event);
    if (some || !begun)
        writer_json(ask->out, event.bytes, event.length);
    ask->out->failed |= event.failed || now.failed;
    writer_release(&event);
    watch->names.allocator = now.allocator;
    writer_release(&watch->names);
    watch->names = now;
    return ASK_DONE;
}

const method_t brp_watches[] = {
    {"world.get_components+watch", "components of an entity, told when they change", "entity components strict?",
     METHOD_STREAM, watch_components, drop},
    {"world.list_components+watch", "which components an entity has, told when that changes", "entity", METHOD_STREAM,
     watch_list, drop},
    {0},
};
