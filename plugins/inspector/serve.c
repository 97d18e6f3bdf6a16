/* serve.c - requests, streams and sets in turn, between two steps (serve.h).
 *
 *     asked (from the serving thread) --> asks: answered call by call --> answers
 *                                             \--> streams: looked at when due, an event where something has changed
 *
 * The three take turns, each for a third of the budget at most, and go round until the budget is used up or nothing is
 * left to do; so neither a long search nor a flood of requests keeps the others waiting. The list of asks is a queue:
 * an ask that is not done goes to its end.
 */
#include "serve.h"

#include "look.h"
#include "loop.h"
#include "methods.h"
#include "sets.h"
#include "undo.h"

#include <stdio.h>

enum { SLICES = 3, LOGGED = 160, EVERY_LEAST_MS = 20 };

/* --- asks ----------------------------------------------------------------------------------------------------- */

static void forget_state(ask_t *ask)
{
    if (ask->state != NULL && ask->method->drop != NULL)
        ask->method->drop(ask);
    allocator_free(&ask->in->allocator, ask->state, ask->state_size);
    ask->state = NULL;
    writer_release(&ask->scratch);
}

/* Free an ask. The request of the ask is not freed: it belongs to the side that the caller has given it to. */
static void free_ask(ask_t *ask)
{
    forget_state(ask);
    allocator_free(&ask->in->allocator, ask, sizeof *ask);
}

static void append(ask_t **list, ask_t *ask)
{
    while (*list != NULL)
        list = &(*list)->next;
    ask->next = NULL;
    *list = ask;
}

static void begin_request(inspector_t *in, request_t *request)
{
    ask_t *ask = allocator_make(&in->allocator, sizeof *ask);
    if (ask == NULL) {
        request->answer.failed = true;
        http_answer(in->http, request);
        return;
    }
    ask->in = in;
    ask->request = request;
    ask->out = &request->answer;
    ask->scratch.allocator = &in->allocator;
    if (request->body.batch)
        writer_array(ask->out);
    append(&in->asks, ask);
}

/* The stream that this request opened has ended. */
static void end_stream(inspector_t *in, request_t *request)
{
    for (ask_t **at = &in->streams; *at != NULL; at = &(*at)->next)
        if ((*at)->request == request) {
            ask_t *ask = *at;
            *at = ask->next;
            free_ask(ask);
            break;
        }
    request_free(&in->allocator, request);
}

static void take_asked(inspector_t *in)
{
    handover_item_t *next;
    for (handover_item_t *item = handover_take(&in->asked); item != NULL; item = next) {
        next = item->next;
        request_t *request = (request_t *)item;
        if (request->parcel.kind == REQUEST_GONE)
            end_stream(in, request);
        else
            begin_request(in, request);
    }
}

/* --- one call ------------------------------------------------------------------------------------------------- */

/* The place that a writer is set back to when the text written behind it is not wanted. */
typedef struct mark_t {
    size_t length;
    uint64_t begun;
    uint32_t depth;
} mark_t;

static mark_t mark(const writer_t *w)
{
    return (mark_t){w->length, w->begun, w->depth};
}

static void back_to(writer_t *w, mark_t to)
{
    w->length = w->failed ? 0 : to.length;
    w->begun = to.begun;
    w->depth = to.depth;
    w->after_key = false;
}

static void log_change(const ask_t *ask)
{
    char text[LOGGED + 96];
    char *params = ask->params == NULL ? NULL : json_dumps(ask->params, JSON_COMPACT);
    size_t length = params == NULL ? 0 : strlen(params);
    snprintf(text, sizeof text, "%s %.*s%s", ask->method->name, LOGGED, params == NULL ? "" : params,
             length > LOGGED ? "..." : "");
    free(params);
    ask->in->api->error->log(ask->in->plugin, BP_LOG_INFO, text);
}

bool ask_admit(ask_t *ask)
{
    if ((ask->method->flags & METHOD_CHANGES) && inspector_option(ask->in, OPTION_READ_ONLY)->boolean)
        return ask_fail(ask, RPC_INTERNAL, "%s changes the world, and this inspector is read-only (option read_only)",
                        ask->method->name);
    if ((ask->method->flags & METHOD_STREAM) && ask->request->body.batch)
        return ask_fail(ask, RPC_INVALID_REQUEST, "%s answers with a stream, which has no place in a batch",
                        ask->method->name);
    if (ask->method->flags & METHOD_CHANGES)
        log_change(ask);
    return true;
}

/* Find out the method, world and parameters of a call. */
static bool begin_call(ask_t *ask, const rpc_call_t *call)
{
    const char *name = call->method, *near;
    ask->code = 0;
    ask->every_ns = (uint64_t)100 * 1000000;
    ask->params = call->params;
    ask_take_world(ask, look_world(ask->in, ask->request->world));
    if (call->code != 0)
        return ask_fail(ask, call->code, "%s", call->why);
    if (ask->request->world[0] != '\0' && ask->world == NULL)
        return ask_fail(ask, RPC_INVALID_REQUEST, "there is no world '%s'; backplane.worlds lists them",
                        ask->request->world);
    ask->method = methods_find(name);
    if (ask->method == NULL) {
        near = methods_near(name);
        return ask_fail(ask, RPC_NO_METHOD, "there is no method '%.64s'%s%s%s; rpc.discover lists all", name,
                        near == NULL ? "" : "; did you mean '", near == NULL ? "" : near, near == NULL ? "" : "'?");
    }
    if (ask->params != NULL && !json_is_object(ask->params))
        return ask_fail(ask, RPC_INVALID_PARAMS, "%s: \"params\" has to be an object", name);
    return ask_admit(ask);
}

/* Carry out one call of the body, or a part of it. Returns ASK_MORE where work is left in the call. */
static int carry_on(ask_t *ask)
{
    const rpc_call_t *call = &ask->request->body.calls[ask->request->calls_done];
    bool fine = ask->method != NULL || begin_call(ask, call);
    mark_t before = mark(ask->out);
    int outcome = ASK_DONE;
    if (fine)
        rpc_begin(ask->out, call);
    if (fine && !ask->out->failed) { /* nothing is changed of which the client could not be told */
        outcome = ask->method->carry_out(ask);
        undo_end(ask);
    }
    if (outcome == ASK_MORE && ask->code == 0) {
        back_to(ask->out, before);
        return ASK_MORE;
    }
    if (ask->code != 0) {
        back_to(ask->out, before);
        rpc_error(ask->out, call, ask->code, ask->why);
    } else {
        rpc_end(ask->out);
    }
    return ASK_DONE;
}

/* --- requests ------------------------------------------------------------------------------------------------- */

static void answer(ask_t *ask)
{
    inspector_t *in = ask->in;
    request_t *request = ask->request;
    if (request->body.batch)
        writer_array_end(ask->out);
    free_ask(ask);
    http_answer(in->http, request);
}

/* Open a stream: the answer is the first event, and the ask lives on with the stream. */
static void open_stream(ask_t *ask)
{
    inspector_t *in = ask->in;
    request_t *request = ask->request;
    request->stream = true;
    ask->due_ns = loop_now_ns() + ask->every_ns;
    ask->out = NULL;
    append(&in->streams, ask);
    http_answer(in->http, request);
}

/* POST /mcp and /points: one method, which frames its answer itself. True when done. */
static bool carry_on_whole(ask_t *ask, const method_t *method)
{
    if (ask->method == NULL) {
        ask->method = method;
        ask_take_world(ask, look_world(ask->in, ""));
        ask->params = ask->request->body.tree;
    }
    mark_t before = mark(ask->out);
    if (method->carry_out(ask) == ASK_MORE && ask->code == 0)
        return false;
    if (ask->code != 0) {
        back_to(ask->out, before);
        rpc_error(ask->out, NULL, ask->code, ask->why);
        ask->request->status = 400;
        ask->request->type = "application/json";
    }
    return true;
}

/* Go on with a request for a while. True when the request has been answered, and the ask is not to be touched any
 * more. */
static bool carry_request(ask_t *ask)
{
    request_t *request = ask->request;
    if (atomic_load(&request->abandoned)) {
        answer(ask);
        return true;
    }
    if (request->parcel.kind != REQUEST_RPC) {
        if (!carry_on_whole(ask, request->parcel.kind == REQUEST_MCP ? &mcp_method : &points_method))
            return false;
        answer(ask);
        return true;
    }
    while (request->calls_done < request->body.count) {
        if (carry_on(ask) == ASK_MORE)
            return false;
        if (ask->code == 0 && (ask->method->flags & METHOD_STREAM)) {
            open_stream(ask);
            return true;
        }
        request->calls_done++;
        if (ask->method != NULL)
            forget_state(ask);
        ask->method = NULL;
        if (ask_late(ask))
            break;
    }
    if (request->calls_done < request->body.count)
        return false;
    answer(ask);
    return true;
}

static bool serve_asks(inspector_t *in, uint64_t deadline)
{
    bool some = false;
    while (in->asks != NULL) {
        ask_t *ask = in->asks;
        in->asks = ask->next;
        ask->deadline_ns = deadline;
        some = true;
        if (!carry_request(ask))
            append(&in->asks, ask);
        if (loop_now_ns() >= deadline)
            break;
    }
    return some;
}

/* --- streams -------------------------------------------------------------------------------------------------- */

static void look_at_stream(ask_t *ask)
{
    const rpc_call_t *call = &ask->request->body.calls[0];
    writer_t text = {.allocator = &ask->in->allocator};
    ask->out = &text;
    ask->code = 0;
    rpc_begin(&text, call);
    size_t before = text.length;
    ask->method->carry_out(ask);
    bool nothing = ask->code == 0 && text.length == before && !text.failed;
    if (ask->code != 0) {
        writer_release(&text);
        rpc_error(&text, call, ask->code, ask->why);
    } else {
        rpc_end(&text);
    }
    ask->out = NULL;
    if (nothing)
        writer_release(&text);
    else
        http_event(ask->in->http, ask->request->id, &text, ask->code != 0);
}

/* Look at the streams that are due, the stream that has waited longest first. */
static bool serve_streams(inspector_t *in, uint64_t deadline)
{
    bool some = false;
    for (;;) {
        uint64_t now = loop_now_ns();
        ask_t *due = NULL;
        for (ask_t *ask = in->streams; ask != NULL; ask = ask->next)
            if (ask->code == 0 && ask->due_ns <= now && (due == NULL || ask->due_ns < due->due_ns))
                due = ask;
        if (due == NULL || now >= deadline)
            return some;
        due->due_ns = now + due->every_ns;
        due->deadline_ns = deadline;
        if (atomic_load(&due->request->unsent) > 0)
            continue; /* the client has not taken in the events told before */
        look_at_stream(due);
        some = true;
    }
}

static void set_pulse(inspector_t *in)
{
    uint64_t least = 0;
    for (ask_t *ask = in->streams; ask != NULL; ask = ask->next)
        if (ask->code == 0 && (least == 0 || ask->every_ns < least))
            least = ask->every_ns;
    uint32_t milliseconds = (uint32_t)(least / 1000000);
    http_pulse(in->http, least == 0 ? 0 : milliseconds < EVERY_LEAST_MS ? EVERY_LEAST_MS : milliseconds);
}

/* --- turns ---------------------------------------------------------------------------------------------------- */

void serve_turn(inspector_t *in, uint64_t budget_ns)
{
    uint64_t now = loop_now_ns(), end = now + budget_ns;
    bool some;
    in->turns++;
    do {
        take_asked(in);
        some = serve_asks(in, now + (end - now) / SLICES);
        now = loop_now_ns();
        some |= serve_streams(in, now < end ? now + (end - now) / 2 : end);
        some |= sets_build(in, end);
        now = loop_now_ns();
    } while (some && now < end);
    set_pulse(in);
    if (in->asks != NULL || sets_building(in) || !handover_empty(&in->asked))
        inspector_call(in);
}

void serve_end(inspector_t *in)
{
    handover_item_t *next;
    for (ask_t *ask; (ask = in->asks) != NULL;) {
        in->asks = ask->next;
        request_free(&in->allocator, ask->request);
        free_ask(ask);
    }
    for (handover_item_t *item = handover_take(&in->asked); item != NULL; item = next) {
        next = item->next;
        request_t *request = (request_t *)item;
        if (request->parcel.kind == REQUEST_GONE)
            end_stream(in, request);
        else
            request_free(&in->allocator, request);
    }
    for (ask_t *ask; (ask = in->streams) != NULL;) {
        in->streams = ask->next; /* in a copy of the process, where no stream has ended */
        free_ask(ask);
    }
    sets_free(in);
}
