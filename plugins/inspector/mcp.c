/* mcp.c - POST /mcp: the Model Context Protocol over streamable HTTP, as far as tools go.
 *
 *     initialize                 the version and the capabilities of the server
 *     notifications/...          taken in, answered by 202 without a body
 *     ping                       {}
 *     tools/list, tools/call     the tools, each of which is a method of this server under another name
 *
 * There are no sessions: each message holds everything that it needs, so that nothing is lost when the plugin is
 * reloaded; clients send no session header. A tool that fails answers with isError and the sentence, so that a model
 * can read it; a call that is no tool is an error of JSON-RPC.
 */
#include "methods.h"

#include "mcp_tools.h"
#include "near.h"
#include "undo.h"

#include <stdio.h>

static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26"};

enum { ANSWER_ROOM = 512 }; /* bytes of the answer to a tool that changes something, and more */

typedef struct mcp_t {
    const mcp_tool_t *tool;
    ask_t inner;            /* the call of the tool's method */
    writer_t result;
} mcp_t;

static void drop(ask_t *ask)
{
    mcp_t *mcp = ask->state;
    if (mcp->inner.state != NULL && mcp->inner.method->drop != NULL)
        mcp->inner.method->drop(&mcp->inner);
    allocator_free(&ask->in->allocator, mcp->inner.state, mcp->inner.state_size);
    if (mcp->result.allocator != NULL)
        writer_release(&mcp->result);
}

static const rpc_call_t *call_of(const ask_t *ask)
{
    return &ask->request->body.calls[0];
}

/* --- what needs no world -------------------------------------------------------------------------------------- */

static void initialize(ask_t *ask, const json_t *params)
{
    const char *wanted = json_string_value(json_object_get(params, "protocolVersion"));
    const char *version = versions[0];
    writer_t *w = ask->out;
    for (size_t i = 0; wanted != NULL && i < sizeof versions / sizeof *versions; i++)
        if (strcmp(wanted, versions[i]) == 0)
            version = versions[i];
    rpc_begin(w, call_of(ask));
    writer_object(w);
    writer_key_text(w, "protocolVersion", version);
    writer_key(w, "capabilities");
    writer_json(w, "{\"tools\":{}}", strlen("{\"tools\":{}}"));
    writer_key(w, "serverInfo");
    writer_object(w);
    writer_key_text(w, "name", "backplane");
    writer_key_text(w, "version", INSPECTOR_VERSION);
    writer_object_end(w);
    writer_key_text(
        w, "instructions",
        "A running Backplane host: worlds of entities, whose components plugins define. A path names a property: "
        "world/entity.component.property, the entity by its name or as #index:generation. Begin with list_worlds "
        "and query.");
    writer_object_end(w);
    rpc_end(w);
}

static void list_tools(ask_t *ask)
{
    writer_t *w = ask->out;
    rpc_begin(w, call_of(ask));
    writer_object(w);
    writer_key(w, "tools");
    writer_array(w);
    for (const mcp_tool_t *tool = mcp_tools; tool->name != NULL; tool++) {
        writer_object(w);
        writer_key_text(w, "name", tool->name);
        writer_key_text(w, "description", tool->description);
        writer_key(w, "inputSchema");
        writer_json(w, tool->schema, strlen(tool->schema));
        writer_object_end(w);
    }
    writer_array_end(w);
    writer_object_end(w);
    rpc_end(w);
}

/* --- tools/call ----------------------------------------------------------------------------------------------- */

static void write_result(ask_t *ask, mcp_t *mcp)
{
    writer_t *w = ask->out, *result = &mcp->result;
    bool failed = mcp->inner.code != 0, object = result->length > 0 && result->bytes[0] == '{';
    rpc_begin(w, call_of(ask));
    writer_object(w);
    writer_key(w, "content");
    writer_array(w);
    writer_object(w);
    writer_key_text(w, "type", "text");
    writer_key(w, "text");
    if (failed)
        writer_text(w, mcp->inner.why);
    else
        writer_text_of(w, result->bytes, result->length);
    writer_object_end(w);
    writer_array_end(w);
    if (!failed) {
        writer_key(w, "structuredContent");
        if (!object) {
            writer_object(w);
            writer_key(w, "result");
        }
        writer_json(w, result->bytes, result->length);
        if (!object)
            writer_object_end(w);
    }
    writer_key_truth(w, "isError", failed);
    writer_object_end(w);
    rpc_end(w);
    w->failed |= result->failed;
}

/* Find out which tool is meant, and make the call of its method ready. */
static bool begin_tool(ask_t *ask, mcp_t *mcp, const json_t *params)
{
    const char *name = json_string_value(json_object_get(params, "name"));
    near_t near = {.wanted = name == NULL ? "" : name};
    mcp->result.allocator = &ask->in->allocator;
    for (const mcp_tool_t *tool = mcp_tools; tool->name != NULL && mcp->tool == NULL; tool++) {
        near_consider(&near, tool->name);
        if (name != NULL && strcmp(tool->name, name) == 0)
            mcp->tool = tool;
    }
    if (mcp->tool == NULL) {
        ask_fail(ask, RPC_INVALID_PARAMS, "there is no tool '%.64s'%s%s%s", near.wanted,
                 near.best == NULL ? "" : "; did you mean '", near.best == NULL ? "" : near.best,
                 near.best == NULL ? "" : "'?");
        rpc_error(ask->out, call_of(ask), ask->code, ask->why);
        ask->code = 0;
        return false;
    }
    mcp->inner = (ask_t){.in = ask->in, .request = ask->request, .world = ask->world,
                         .world_number = ask->world_number, .out = &mcp->result,
                         .method = methods_find(mcp->tool->method), .params = json_object_get(params, "arguments")};
    return true;
}

static int call_tool(ask_t *ask, const json_t *params)
{
    bool begun = ask->state != NULL;
    mcp_t *mcp = ask_state(ask, sizeof *mcp);
    if (mcp == NULL || (!begun && !begin_tool(ask, mcp, params)))
        return ASK_DONE;
    if (!begun && writer_room(ask->out, ANSWER_ROOM) == NULL)
        return ASK_DONE; /* nothing is changed of which the client could not be told */
    ask->out->length -= begun ? 0 : ANSWER_ROOM;
    mcp->inner.deadline_ns = ask->deadline_ns;
    int outcome = begun || ask_admit(&mcp->inner) ? mcp->inner.method->carry_out(&mcp->inner) : ASK_DONE;
    if (mcp->result.failed && mcp->inner.code == 0)
        ask_fail(&mcp->inner, RPC_INTERNAL, "out of memory");
    undo_end(&mcp->inner);
    if (outcome == ASK_MORE && mcp->inner.code == 0)
        return ASK_MORE;
    write_result(ask, mcp);
    return ASK_DONE;
}

/* --- messages ------------------------------------------------------------------------------------------------- */

static int answer(ask_t *ask)
{
    const rpc_body_t *body = &ask->request->body;
    const rpc_call_t *call = &body->calls[0];
    if (body->batch) {
        ask_fail(ask, RPC_INVALID_REQUEST, "this version of the protocol has no batches");
        return ASK_DONE;
    }
    if (body->notice) {
        ask->request->status = 202;
        return ASK_DONE;
    }
    if (call->code != 0) {
        rpc_error(ask->out, call, call->code, call->why);
    } else if (strcmp(call->method, "initialize") == 0) {
        initialize(ask, call->params);
    } else if (strcmp(call->method, "tools/list") == 0) {
        list_tools(ask);
    } else if (strcmp(call->method, "tools/call") == 0) {
        return call_tool(ask, call->params);
    } else if (strcmp(call->method, "ping") == 0) {
        rpc_begin(ask->out, call);
        writer_json(ask->out, "{}", 2);
        rpc_end(ask->out);
    } else {
        rpc_error(ask->out, call, RPC_NO_METHOD,
                  "this server has tools only: initialize, ping, tools/list, tools/call");
    }
    return ASK_DONE;
}

const method_t mcp_method = {"/mcp", "the Model Context Protocol", "", 0, answer, drop};
