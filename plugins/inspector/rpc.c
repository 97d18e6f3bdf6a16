/* rpc.c - reading calls and framing answers (rpc.h).
 *
 * Calls point into the tree of the body, which lives as long as the request. Nothing is copied.
 */
#include "rpc.h"

#include <stdio.h>

static void wrong(rpc_call_t *call, int32_t code, const char *why)
{
    call->code = code;
    call->why = why;
    call->method = NULL;
}

/* One call from one value of the tree. */
static void read_call(rpc_call_t *call, json_t *value)
{
    const char *key;
    json_t *member, *version;
    *call = (rpc_call_t){0};
    if (!json_is_object(value)) {
        wrong(call, RPC_INVALID_REQUEST,
              "a call is an object: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}");
        return;
    }
    call->id = json_object_get(value, "id");
    if (call->id != NULL && !json_is_string(call->id) && !json_is_number(call->id) && !json_is_null(call->id)) {
        call->id = NULL;
        wrong(call, RPC_INVALID_REQUEST, "\"id\" is a text, a number or null");
        return;
    }
    version = json_object_get(value, "jsonrpc");
    if (!json_is_string(version) || strcmp(json_string_value(version), "2.0") != 0) {
        wrong(call, RPC_INVALID_REQUEST, "\"jsonrpc\" has to be \"2.0\"");
        return;
    }
    call->method = json_string_value(json_object_get(value, "method"));
    if (call->method == NULL) {
        wrong(call, RPC_INVALID_REQUEST, "\"method\" is a text; rpc.discover lists the methods");
        return;
    }
    call->params = json_object_get(value, "params");
    if (json_is_null(call->params))
        call->params = NULL;
    if (call->params != NULL && !json_is_object(call->params) && !json_is_array(call->params)) {
        wrong(call, RPC_INVALID_REQUEST, "\"params\" is an object");
        return;
    }
    json_object_foreach (value, key, member)
        if (strcmp(key, "jsonrpc") != 0 && strcmp(key, "id") != 0 && strcmp(key, "method") != 0 &&
            strcmp(key, "params") != 0)
            wrong(call, RPC_INVALID_REQUEST, "a call has the keys jsonrpc, id, method and params, and no other");
}

/* Is the value an answer to another's call, which MCP's clients may send? An answer has no method and needs no
 * reply. */
static bool is_answer(const json_t *value)
{
    return json_is_object(value) && json_object_get(value, "method") == NULL &&
           (json_object_get(value, "result") != NULL || json_object_get(value, "error") != NULL);
}

static bool read_calls(rpc_body_t *body)
{
    size_t count = body->batch ? json_array_size(body->tree) : 1;
    if (count == 0 || count > RPC_BATCH_MAX) {
        body->code = RPC_INVALID_REQUEST;
        snprintf(body->why, sizeof body->why,
                 count == 0 ? "a batch has at least one call" : "a batch has at most %d calls", RPC_BATCH_MAX);
        return true;
    }
    body->calls = allocator_make(body->allocator, count * sizeof *body->calls);
    if (body->calls == NULL)
        return false;
    body->room = body->count = (uint32_t)count;
    body->notice = true;
    for (uint32_t i = 0; i < count; i++) {
        json_t *value = body->batch ? json_array_get(body->tree, i) : body->tree;
        read_call(&body->calls[i], value);
        if (!is_answer(value) && (body->calls[i].code != 0 || body->calls[i].id != NULL))
            body->notice = false;
    }
    return true;
}

bool rpc_read(rpc_body_t *body, const allocator_t *allocator, const char *bytes, size_t length)
{
    json_error_t error;
    *body = (rpc_body_t){.allocator = allocator};
    body->tree = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &error);
    if (body->tree == NULL && (error.text[0] == '\0' || json_error_code(&error) == json_error_out_of_memory))
        return false; /* the library leaves no sentence where it runs out of memory while it reads */
    if (body->tree == NULL) {
        body->code = RPC_INVALID_REQUEST;
        snprintf(body->why, sizeof body->why, "line %d, column %d: %.400s", error.line, error.column, error.text);
        return true;
    }
    body->batch = json_is_array(body->tree);
    return read_calls(body);
}

void rpc_release(rpc_body_t *body)
{
    json_decref(body->tree);
    if (body->calls != NULL)
        allocator_free(body->allocator, body->calls, body->room * sizeof *body->calls);
    *body = (rpc_body_t){.allocator = body->allocator};
}

/* --- answers -------------------------------------------------------------------------------------------------- */

/* Write the id as it came: a number keeps its form, a text its characters. */
static void write_id(writer_t *w, const json_t *id)
{
    writer_key(w, "id");
    if (json_is_integer(id))
        writer_integer(w, json_integer_value(id));
    else if (json_is_real(id))
        writer_real(w, json_real_value(id));
    else if (json_is_string(id))
        writer_text_of(w, json_string_value(id), json_string_length(id));
    else
        writer_null(w);
}

void rpc_begin(writer_t *w, const rpc_call_t *call)
{
    writer_object(w);
    writer_key_text(w, "jsonrpc", "2.0");
    write_id(w, call->id);
    writer_key(w, "result");
}

void rpc_end(writer_t *w)
{
    writer_object_end(w);
}

void rpc_error(writer_t *w, const rpc_call_t *call, int32_t code, const char *why)
{
    writer_object(w);
    writer_key_text(w, "jsonrpc", "2.0");
    write_id(w, call == NULL ? NULL : call->id);
    writer_key(w, "error");
    writer_object(w);
    writer_key(w, "code");
    writer_integer(w, code);
    writer_key_text(w, "message", why);
    writer_object_end(w);
    writer_object_end(w);
}
