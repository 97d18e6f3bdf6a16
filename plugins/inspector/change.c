/* change.c - changes of values and plugins: tried on a clone of the host, or made in it.
 *
 * The host carries a change out after this turn (bp_history.h), so the answer is known in the next turn. It keeps the
 * outcome of one change, so the changes of several requests come one after the other.
 */
#include "methods.h"

#include <helpers/bp_real.h>
#include <math.h>
#include <stdio.h>

enum { PARTS = 64, VALUE_MAX = 512 };

typedef struct parts_t {
    const char *plugins[PARTS];
    bp_change_value_t values[PARTS];
    char texts[PARTS][VALUE_MAX];
    bp_change_t change;
} parts_t;

/* --- parameters ----------------------------------------------------------------------------------------------- */

/* The text that the console takes: texts as they are, parts of an array with blanks between. */
static bool write_value(ask_t *ask, const json_t *json, char *text, size_t size)
{
    size_t length = 0;
    const json_t *part;
    size_t index;
    if (json_is_string(json)) {
        if ((size_t)snprintf(text, size, "%s", json_string_value(json)) < size)
            return true;
    } else if (json_is_array(json)) {
        text[0] = '\0';
        json_array_foreach(json, index, part)
        {
            if (!json_is_number(part) || length + 40 > size)
                return ask_fail(ask, RPC_INVALID_PARAMS, "a value is an array of at most 12 numbers, or a text");
            length += (size_t)snprintf(text + length, size - length, "%s", index > 0 ? " " : "");
            snprintf(text + length, size - length, "%.17g", json_number_value(part));
            length += strlen(bp_real_dot(text + length));
        }
        return true;
    } else if (json_is_boolean(json)) {
        return snprintf(text, size, json_is_true(json) ? "true" : "false") > 0;
    } else if (json_is_integer(json)) {
        return snprintf(text, size, "%lld", (long long)json_integer_value(json)) > 0;
    } else if (json_is_real(json)) {
        return snprintf(text, size, "%.17g", json_real_value(json)) > 0 && bp_real_dot(text)[0] != '\0';
    }
    return ask_fail(ask, RPC_INVALID_PARAMS, "a value is a number, true or false, an array of numbers, or a text of at "
                                             "most %d bytes", VALUE_MAX - 1);
}

static bool read_values(ask_t *ask, parts_t *parts)
{
    const json_t *values = ask_param(ask, "values"), *item;
    size_t index;
    if (values == NULL)
        return true;
    if (!json_is_array(values) || json_array_size(values) > PARTS)
        return ask_fail(ask, RPC_INVALID_PARAMS, "\"values\" is an array of at most %d objects with path and value",
                        PARTS);
    json_array_foreach(values, index, item)
    {
        const char *path = json_string_value(json_object_get(item, "path"));
        if (path == NULL)
            return ask_fail(ask, RPC_INVALID_PARAMS, "each of \"values\" has a path and a value");
        parts->values[index] = (bp_change_value_t){path, parts->texts[index]};
        if (!write_value(ask, json_object_get(item, "value"), parts->texts[index], VALUE_MAX))
            return false;
    }
    parts->change.value_count = (uint32_t)json_array_size(values);
    return true;
}

static bool read_plugins(ask_t *ask, parts_t *parts)
{
    const json_t *plugins = ask_param(ask, "plugins"), *item;
    size_t index;
    if (plugins == NULL)
        return true;
    if (!json_is_array(plugins) || json_array_size(plugins) > PARTS)
        return ask_fail(ask, RPC_INVALID_PARAMS, "\"plugins\" is an array of at most %d names", PARTS);
    json_array_foreach(plugins, index, item)
    {
        parts->plugins[index] = json_string_value(item);
        if (parts->plugins[index] == NULL)
            return ask_fail(ask, RPC_INVALID_PARAMS, "\"plugins\" is an array of names");
    }
    parts->change.plugin_count = (uint32_t)json_array_size(plugins);
    return true;
}

static bool can_change(ask_t *ask)
{
    const bp_history_api *history = ask->in->history;
    return (history != NULL && history->version >= 2) ||
           ask_fail(ask, RPC_INTERNAL, "this host has no bp_history that changes anything");
}

/* Wish the change that the parameters say; `last`: the one that was tried last. */
static bool wish(ask_t *ask, bool tries, bool last)
{
    const inspector_t *in = ask->in;
    parts_t *parts = allocator_make(&in->allocator, sizeof *parts);
    if (parts == NULL)
        return ask_fail(ask, RPC_INTERNAL, "out of memory");
    parts->change = (bp_change_t){
        .struct_size = sizeof parts->change, .plugins = parts->plugins, .values = parts->values, .steps = 60};
    bool read = read_values(ask, parts) && read_plugins(ask, parts) &&
                (!tries || ask_count(ask, "steps", false, 1000000, &parts->change.steps));
    bp_result_t result = BP_OK;
    if (read)
        result = tries ? in->history->try_change(in->host, &parts->change)
                       : in->history->make_change(in->host, last ? NULL : &parts->change);
    allocator_free(&in->allocator, parts, sizeof *parts);
    return read && (result == BP_OK || ask_fail_host(ask, RPC_INVALID_PARAMS));
}

/* --- answers -------------------------------------------------------------------------------------------------- */

static void write_difference(const inspector_t *in, writer_t *w, const bp_difference_t *difference)
{
    char id[64];
    writer_object(w);
    writer_key_text(w, "world", difference->world);
    if (difference->text[0] != '\0') {
        if (difference->entity.id != 0) {
            in->api->entity->format(in->host, difference->entity, id, sizeof id);
            writer_key_text(w, "entity", id);
        }
        writer_key_text(w, "what", difference->text);
    } else {
        writer_key_text(w, "component", difference->component);
        writer_key_text(w, "field", difference->field);
        writer_key_count(w, "entities", difference->count);
        writer_key_real(w, "largest", difference->largest);
    }
    writer_object_end(w);
}

static void write_tried(const inspector_t *in, writer_t *w, const bp_changed_t *changed)
{
    bp_difference_t difference = {.struct_size = sizeof difference};
    double steps = changed->steps > 0 ? (double)changed->steps : 1;
    writer_object(w);
    writer_key_count(w, "steps", changed->steps);
    writer_key_real(w, "ms_without", (double)changed->without / 1e6 / steps);
    writer_key_real(w, "ms_with", (double)changed->with / 1e6 / steps);
    writer_key(w, "differences");
    writer_array(w);
    for (uint32_t i = 0; in->history->difference(in->host, i, &difference); i++)
        write_difference(in, w, &difference);
    writer_array_end(w);
    writer_object_end(w);
}

static int carry_out(ask_t *ask, bool tries, bool last)
{
    const inspector_t *in = ask->in;
    bp_changed_t changed = {.struct_size = sizeof changed};
    bool begun = ask->state != NULL;
    if (!can_change(ask))
        return ASK_DONE;
    in->history->read_change(in->host, &changed);
    if (!begun && (changed.state == BP_CHANGE_WAITS || in->change != NULL))
        return ASK_MORE; /* the change of another request */
    if (ask_state(ask, 1) == NULL)
        return ASK_DONE;
    if (!begun) {
        if (!wish(ask, tries, last))
            return ASK_DONE;
        ask->in->change = ask->state;
        return ASK_MORE;
    }
    if (changed.state == BP_CHANGE_WAITS)
        return ASK_MORE;
    if (changed.result != BP_OK) {
        ask_fail(ask, RPC_INTERNAL, "%s", changed.text);
    } else if (tries) {
        write_tried(in, ask->out, &changed);
    } else {
        writer_object(ask->out);
        writer_key_text(ask->out, "report", changed.text);
        writer_object_end(ask->out);
    }
    return ASK_DONE;
}

/* The outcome has been seen, or is not waited for any more: the next change may be wished. */
static void drop(ask_t *ask)
{
    if (ask->in->change == ask->state)
        ask->in->change = NULL;
}

static int try_change(ask_t *ask)
{
    return carry_out(ask, true, false);
}

static int keep(ask_t *ask)
{
    return carry_out(ask, false, true);
}

static int reload(ask_t *ask)
{
    if (ask->state == NULL && ask_param(ask, "plugins") == NULL) {
        ask_fail(ask, RPC_INVALID_PARAMS, "backplane.reload: the parameter \"plugins\" is missing");
        return ASK_DONE;
    }
    return carry_out(ask, false, false);
}

const method_t change_methods[] = {
    {"backplane.try", "what values and new versions of plugins would lead to: a clone of the host takes some steps",
     "values? plugins? steps?", METHOD_CHANGES, try_change, drop},
    {"backplane.keep", "makes the change that was tried last", "", METHOD_CHANGES, keep, drop},
    {"backplane.reload", "puts the present files of plugins in the place of the versions at work", "plugins",
     METHOD_CHANGES, reload, drop},
    {0},
};
