/* ask.c - parameters and failures of one call (ask.h). */
#include "ask.h"

#include "look.h"
#include "loop.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

bool ask_fail(ask_t *ask, int32_t code, const char *format, ...)
{
    va_list arguments;
    ask->code = code;
    va_start(arguments, format);
    vsnprintf(ask->why, sizeof ask->why, format, arguments);
    va_end(arguments);
    return false;
}

bool ask_fail_host(ask_t *ask, int32_t code)
{
    return ask_fail(ask, code, "%s", ask->in->api->error->last(ask->in->host));
}

void *ask_state(ask_t *ask, size_t size)
{
    if (ask->state == NULL) {
        ask->state = allocator_make(&ask->in->allocator, size);
        ask->state_size = size;
    }
    if (ask->state == NULL)
        ask_fail(ask, RPC_INTERNAL, "out of memory");
    return ask->state;
}

bool ask_late(const ask_t *ask)
{
    return loop_now_ns() >= ask->deadline_ns;
}

/* --- parameters ----------------------------------------------------------------------------------------------- */

const json_t *ask_param(const ask_t *ask, const char *name)
{
    const json_t *value = ask->params == NULL ? NULL : json_object_get(ask->params, name);
    return json_is_null(value) ? NULL : value;
}

/* The parameter, or NULL; an error where the parameter is missing and has to be there. */
static const json_t *take(ask_t *ask, const char *name, bool required)
{
    const json_t *value = ask_param(ask, name);
    if (value == NULL && required)
        ask_fail(ask, RPC_INVALID_PARAMS, "%s: the parameter \"%s\" is missing; it takes %s", ask->method->name, name,
                 ask->method->params);
    return value;
}

static bool wrong(ask_t *ask, const char *name, const char *what)
{
    return ask_fail(ask, RPC_INVALID_PARAMS, "%s: \"%s\" has to be %s", ask->method->name, name, what);
}

bool ask_text(ask_t *ask, const char *name, bool required, const char **value)
{
    const json_t *given = take(ask, name, required);
    if (given == NULL)
        return !required;
    if (!json_is_string(given))
        return wrong(ask, name, "a text");
    *value = json_string_value(given);
    return true;
}

bool ask_number(ask_t *ask, const char *name, double *value)
{
    const json_t *given = take(ask, name, true);
    if (given == NULL)
        return false;
    if (!json_is_number(given))
        return wrong(ask, name, "a number");
    *value = json_number_value(given);
    return true;
}

bool ask_count(ask_t *ask, const char *name, bool required, uint64_t most, uint64_t *value)
{
    const json_t *given = take(ask, name, required);
    char what[64];
    if (given == NULL)
        return !required;
    if (!json_is_integer(given) || json_integer_value(given) < 0 || (uint64_t)json_integer_value(given) > most) {
        snprintf(what, sizeof what, "a whole number from 0 to %" PRIu64, most);
        return wrong(ask, name, what);
    }
    *value = (uint64_t)json_integer_value(given);
    return true;
}

bool ask_truth(ask_t *ask, const char *name, bool *value)
{
    const json_t *given = ask_param(ask, name);
    if (given == NULL)
        return true;
    if (!json_is_boolean(given))
        return wrong(ask, name, "true or false");
    *value = json_is_true(given);
    return true;
}

const json_t *ask_null(void)
{
    return json_null();
}

bool ask_world(ask_t *ask, bp_world_o **world)
{
    const char *name = NULL;
    *world = ask->world;
    if (!ask_text(ask, "world", false, &name))
        return false;
    if (name != NULL)
        *world = look_world(ask->in, name);
    else if (ask->world != NULL && !ask_keeps_world(ask))
        return false; /* a call that waited before it looked at its parameters */
    if (*world != NULL)
        return true;
    if (name != NULL)
        return ask_fail(ask, RPC_INVALID_PARAMS, "there is no world '%s'; backplane.worlds lists them", name);
    return ask_fail(ask, RPC_INVALID_PARAMS, "this host has no world");
}

void ask_take_world(ask_t *ask, bp_world_o *world)
{
    ask->world = world;
    ask->world_number = world == NULL ? 0 : look_world_number(ask->in, world);
}

bool ask_keeps_world(ask_t *ask)
{
    if (ask->world != NULL && look_world_number(ask->in, ask->world) == ask->world_number)
        return true;
    return ask->world == NULL ? ask_fail(ask, RPC_INVALID_REQUEST, "this host has no world")
                              : ask_fail(ask, RPC_ABSENT, "the world has gone while the call was being answered");
}

bool ask_entity_of(ask_t *ask, const json_t *value, bp_entity_t *entity)
{
    char text[64];
    if (json_is_integer(value)) {
        uint64_t id = (uint64_t)json_integer_value(value);
        *entity = look_entity(ask->in, (uint32_t)id, id >> 32);
        snprintf(text, sizeof text, "#%" PRIu32 ":%" PRIu64, (uint32_t)id, id >> 32);
        return entity->id != 0 ||
               ask_fail(ask, RPC_NO_ENTITY, "entity %" PRIu64 " (%s) is dead, or never lived", id, text);
    }
    if (!json_is_string(value))
        return ask_fail(ask, RPC_INVALID_PARAMS, "an entity is a number, \"#index:generation\", or its name");
    *entity = look_entity_named(ask->in, ask->world, json_string_value(value));
    return entity->id != 0 ||
           ask_fail(ask, RPC_NO_ENTITY,
                    "no entity '%.100s' lives in this world; an entity is a number, \"#index:generation\", or its name",
                    json_string_value(value));
}

bool ask_entity(ask_t *ask, const char *name, bp_entity_t *entity)
{
    const json_t *value = take(ask, name, true);
    return value != NULL && ask_entity_of(ask, value, entity);
}
