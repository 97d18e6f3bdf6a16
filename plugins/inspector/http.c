/* http.c - HTTP over libmicrohttpd, in a thread whose loop is ours (http.h).
 *
 * A turn of the loop waits, takes the answers that the stepping thread has put out, lets libmicrohttpd do what is due,
 * and cuts the connections that have taken too long. A connection goes through these phases:
 *
 *     WAITING --headers--> RECEIVING --body--> ASKED --answer--> SENDING --taken--> WAITING ...
 *                                                \---answer---> STREAMING --event, event ...
 *
 * While ASKED, and while a stream has nothing to send, the connection is suspended: libmicrohttpd does not look at it,
 * so whether a stream's other side has gone away is seen by loop_watch_end. libmicrohttpd is called from this thread
 * only, but for its start and its end, when the thread does not run; so nothing here needs a lock.
 *
 * The connection timeout of libmicrohttpd starts anew with each byte, so a slow client can stay for ever; so each phase
 * has a time limit of its own here, and a connection that exceeds the limit has its socket shut.
 */
#include "http.h"

#include "bundle.h"
#include "loop.h"

#include <microhttpd.h>
#include <stdio.h>

const http_limits_t http_limits = {
    .body = 1u << 20, .connections = 128, .rate = 2000, .waiting = 256, .streams = 16,
    .arrive_ms = 15000, .answer_ms = 20000, .take_ms = 15000,
};

enum { WAITING, RECEIVING, ASKED, SENDING, STREAMING };
enum { SWEEP_MS = 250, HEARTBEAT_MS = 15000, STREAM_BLOCK = 64 * 1024 };

typedef struct connection_t {
    struct connection_t *next, *previous;
    http_t *http;
    struct MHD_Connection *mhd;
    loop_socket_t descriptor;
    uint32_t phase;
    uint64_t since_ns;   /* begin of the phase; for a stream: when bytes last went out, or began to wait */
    request_t *request;  /* while RECEIVING, and again from the answer on; NULL while the stepping thread has it */
    uint64_t asked_id;   /* id of the request that the stepping thread has */
    request_t *asked;    /* that request; only its flag `abandoned` may be touched */
    size_t room;         /* of a body, where its size was told */
    writer_t body;
    writer_t unsent;     /* bytes of a stream that wait to be sent */
    size_t sent;         /* how many of `unsent` have been sent */
    bool suspended, over, gone;
    bool ended;          /* the other side sends nothing more */
    bool page;           /* the origin is one of those that are listed; told to its browser */
} connection_t;

struct http_t {
    http_setup_t setup;
    struct MHD_Daemon *daemon;
    loop_t *loop;
    connection_t *connections;
    handover_t answers;
    door_bucket_t bucket;
    uint64_t next_id, swept_ns, pulsed_ns;
    uint32_t waiting, streams;
    _Atomic(uint32_t) pulse_ms;
    loop_socket_t listening;
    bool stopping;
    bool some_closed; /* a connection has been closed since this was made false */
};

/* --- objects -------------------------------------------------------------------------------------------------- */

void request_free(const allocator_t *allocator, request_t *request)
{
    if (request == NULL)
        return;
    rpc_release(&request->body);
    writer_release(&request->answer);
    allocator_free(allocator, request, sizeof *request);
}

static void free_event(const allocator_t *allocator, event_t *event)
{
    writer_release(&event->text);
    allocator_free(allocator, event, sizeof *event);
}

static request_t *make_request(http_t *http, uint32_t kind)
{
    request_t *request = allocator_make(http->setup.allocator, sizeof *request);
    if (request == NULL)
        return NULL;
    request->parcel.kind = kind;
    request->id = ++http->next_id;
    request->status = MHD_HTTP_OK;
    request->type = "application/json";
    request->answer.allocator = http->setup.allocator;
    request->body.allocator = http->setup.allocator;
    return request;
}

static void enter(connection_t *connection, uint32_t phase)
{
    connection->phase = phase;
    connection->since_ns = loop_now_ns();
}

static void hand_over(http_t *http, request_t *request)
{
    handover_put(http->setup.asked, &request->parcel.item);
    if (!http->stopping)
        http->setup.arrived(http->setup.context);
}

/* --- responses ------------------------------------------------------------------------------------------------ */

/* Add the headers that every response bears for the browser: nothing is loaded from elsewhere, nothing is guessed,
 * nothing is framed. */
static void add_headers(struct MHD_Response *response, const connection_t *connection)
{
    static const char *const headers[][2] = {
        {"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                                    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    if (!connection->page)
        return;
    const char *origin = MHD_lookup_connection_value(connection->mhd, MHD_HEADER_KIND, "Origin");
    MHD_add_response_header(response, "Access-Control-Allow-Origin", origin);
    MHD_add_response_header(response, "Access-Control-Allow-Headers",
                            "Authorization, Content-Type, Mcp-Protocol-Version");
    MHD_add_response_header(response, "Access-Control-Allow-Methods", "GET, POST");
    MHD_add_response_header(response, "Vary", "Origin");
}

static enum MHD_Result send_response(connection_t *connection, unsigned status, struct MHD_Response *response)
{
    if (response == NULL)
        return MHD_NO;
    add_headers(response, connection);
    enter(connection, SENDING);
    enum MHD_Result result = MHD_queue_response(connection->mhd, status, response);
    MHD_destroy_response(response);
    return result;
}

/* Answer with a sentence, and one more header where `header` is not NULL. */
static enum MHD_Result refuse(connection_t *connection, unsigned status, const char *header, const char *value,
                              const char *sentence)
{
    char text[HTTP_SENTENCE_MAX];
    int length = snprintf(text, sizeof text, "%s\n", sentence);
    size_t size = length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
    struct MHD_Response *response = MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_COPY);
    if (response == NULL)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", "text/plain; charset=utf-8");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    if (header != NULL)
        MHD_add_response_header(response, header, value);
    return send_response(connection, status, response);
}

static void free_answer(void *context)
{
    request_t *request = context;
    request_free(request->body.allocator, request);
}

/* Send the whole answer that stands in the request; the request is freed with it. */
static enum MHD_Result send_answer(connection_t *connection, request_t *request)
{
    struct MHD_Response *response;
    connection->request = NULL;
    if (request->answer.failed || request->answer.bytes == NULL)
        response = MHD_create_response_from_buffer_with_free_callback_cls(0, NULL, free_answer, request);
    else
        response = MHD_create_response_from_buffer_with_free_callback_cls(request->answer.length, request->answer.bytes,
                                                                          free_answer, request);
    if (response == NULL) {
        request_free(connection->http->setup.allocator, request);
        return MHD_NO;
    }
    MHD_add_response_header(response, "Content-Type", request->type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    return send_response(connection, request->answer.failed ? MHD_HTTP_INTERNAL_SERVER_ERROR : request->status,
                         response);
}

/* --- streams -------------------------------------------------------------------------------------------------- */

static void suspend(connection_t *connection)
{
    if (connection->suspended)
        return;
    MHD_suspend_connection(connection->mhd);
    connection->suspended = true;
    if (connection->phase ==
        STREAMING) /* a connection that waits for its answer has it soon, and may have shut its direction */
        loop_watch_end(connection->http->loop, connection->descriptor);
}

static void resume(connection_t *connection)
{
    if (!connection->suspended)
        return;
    connection->suspended = false;
    MHD_resume_connection(connection->mhd);
}

/* Give the request of a stream that has ended, or was never begun, back to the stepping thread. */
static void give_back(connection_t *connection)
{
    connection->request->parcel.kind = REQUEST_GONE;
    hand_over(connection->http, connection->request);
    connection->request = NULL;
}

/* Called by libmicrohttpd when the other side can take bytes. */
static ssize_t read_stream(void *context, uint64_t position, char *block, size_t most)
{
    connection_t *connection = context;
    size_t left = connection->unsent.length - connection->sent;
    (void)position;
    if (left == 0 && (connection->over || connection->gone))
        return MHD_CONTENT_READER_END_OF_STREAM;
    connection->since_ns = loop_now_ns();
    if (left == 0) {
        suspend(connection);
        return 0;
    }
    size_t size = left < most ? left : most;
    memcpy(block, connection->unsent.bytes + connection->sent, size);
    connection->sent += size;
    if (connection->sent == connection->unsent.length)
        connection->sent = connection->unsent.length = 0;
    atomic_store(&connection->request->unsent, connection->unsent.length - connection->sent);
    return (ssize_t)size;
}

/* Put an event behind the bytes that wait to be sent. */
static void add_event(connection_t *connection, const writer_t *text)
{
    if (text->failed) {
        connection->over = true;
        return;
    }
    if (connection->unsent.length == connection->sent)
        connection->since_ns = loop_now_ns(); /* nothing waited before */
    writer_plain(&connection->unsent, "data:");
    writer_bytes(&connection->unsent, text->bytes, text->length);
    writer_plain(&connection->unsent, "\n\n");
    connection->over |= connection->unsent.failed;
    if (connection->unsent.failed)
        connection->sent = 0;
    atomic_store(&connection->request->unsent, connection->unsent.length - connection->sent);
}

static enum MHD_Result begin_stream(connection_t *connection)
{
    http_t *http = connection->http;
    if (http->streams >= http->setup.limits.streams) {
        give_back(connection);
        return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "Retry-After", "5",
                      "as many event streams are open as the option `streams` allows; close one");
    }
    connection->unsent = (writer_t){.allocator = http->setup.allocator};
    connection->sent = 0;
    add_event(connection, &connection->request->answer);
    writer_release(&connection->request->answer);
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream,
                                                                      connection, NULL);
    http->streams++;
    enter(connection, STREAMING);
    if (response == NULL)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", "text/event-stream");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    enum MHD_Result result = send_response(connection, MHD_HTTP_OK, response);
    enter(connection, STREAMING);
    return result;
}

/* --- requests ------------------------------------------------------------------------------------------------- */

static const bundle_file_t *bundle_file(const char *url)
{
    if (strcmp(url, "/") == 0)
        url = "/index.html";
    for (size_t i = 0; i < inspector_bundle_count; i++)
        if (strcmp(inspector_bundle[i].path, url) == 0)
            return &inspector_bundle[i];
    return NULL;
}

static enum MHD_Result send_file(connection_t *connection, const bundle_file_t *file)
{
    const char *tag = MHD_lookup_connection_value(connection->mhd, MHD_HEADER_KIND, "If-None-Match");
    const char *takes = MHD_lookup_connection_value(connection->mhd, MHD_HEADER_KIND, "Accept-Encoding");
    bool known = tag != NULL && strcmp(tag, file->tag) == 0;
    if (takes == NULL || strstr(takes, "gzip") == NULL)
        return refuse(connection, MHD_HTTP_NOT_ACCEPTABLE, NULL, NULL,
                      "the page is kept compressed: ask with \"Accept-Encoding: gzip\" (curl --compressed)");
    struct MHD_Response *response = MHD_create_response_from_buffer(
        known ? 0 : file->size, (void *)(uintptr_t)file->bytes, MHD_RESPMEM_PERSISTENT);
    if (response == NULL)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", file->type);
    MHD_add_response_header(response, "Content-Encoding", "gzip");
    MHD_add_response_header(response, "Cache-Control", "no-cache");
    MHD_add_response_header(response, "ETag", file->tag);
    return send_response(connection, known ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, response);
}

/* The kind of request that a POST to this path is; 0: the path does not exist. `world` receives the name of
 * /world/NAME. */
static uint32_t kind_of(const char *url, char world[REQUEST_WORLD_MAX])
{
    world[0] = '\0';
    if (strcmp(url, "/") == 0)
        return REQUEST_RPC;
    if (strcmp(url, "/mcp") == 0)
        return REQUEST_MCP;
    if (strcmp(url, "/points") == 0)
        return REQUEST_POINTS;
    if (strncmp(url, "/world/", 7) != 0 || url[7] == '\0' || strlen(url + 7) >= REQUEST_WORLD_MAX ||
        strchr(url + 7, '/') != NULL)
        return 0;
    strcpy(world, url + 7);
    return REQUEST_RPC;
}

static enum MHD_Result count_key(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
    uint32_t *counts = context;
    (void)kind, (void)value;
    static const char *const once[] = {"host", "origin", "content-length", "transfer-encoding"};
    for (size_t i = 0; i < 4; i++) {
        size_t at = 0;
        while (once[i][at] != '\0' && (key[at] | 0x20) == once[i][at])
            at++;
        counts[i] += once[i][at] == '\0' && key[at] == '\0';
    }
    return MHD_YES;
}

/* NULL where the request may come in; else the reason against it. */
static const char *stopped_at_the_door(connection_t *connection, unsigned *status)
{
    const door_t *door = &connection->http->setup.door;
    const char *host = MHD_lookup_connection_value(connection->mhd, MHD_HEADER_KIND, "Host");
    const char *origin = MHD_lookup_connection_value(connection->mhd, MHD_HEADER_KIND, "Origin");
    uint32_t counts[4] = {0};
    MHD_get_connection_values(connection->mhd, MHD_HEADER_KIND, count_key, counts);
    *status = MHD_HTTP_BAD_REQUEST;
    if (counts[0] > 1 || counts[1] > 1 || counts[2] > 1 || counts[3] > 1 || (counts[2] > 0 && counts[3] > 0))
        return "a header that may stand once stands twice, or the length of the body is told in two ways";
    *status = MHD_HTTP_FORBIDDEN;
    if (!door_host(door, host))
        return "the header Host names another server; call this one by its address, or list the name in the option "
               "`hosts`";
    int from = door_origin(door, origin, host);
    connection->page = from == DOOR_LISTED;
    if (from == DOOR_REFUSED)
        return "pages of other sites may not call this server; list their origin in the option `origins` to let them";
    return NULL;
}

/* Judge a request by its headers, before its body comes. */
static enum MHD_Result begin(connection_t *connection, const char *url, const char *method)
{
    http_t *http = connection->http;
    char world[REQUEST_WORLD_MAX];
    unsigned status;
    enter(connection, RECEIVING);
    connection->page = false;
    const char *refusal = stopped_at_the_door(connection, &status);
    if (refusal != NULL)
        return refuse(connection, status, NULL, NULL, refusal);
    bool post = strcmp(method, "POST") == 0, get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    const bundle_file_t *file = bundle_file(url);
    uint32_t kind = kind_of(url, world);
    if (file == NULL && kind == 0)
        return refuse(connection, MHD_HTTP_NOT_FOUND, NULL, NULL,
                      "there is /, the page and by POST the first world; /world/NAME; /mcp; and /points");
    if (strcmp(method, "OPTIONS") == 0 && connection->page)
        return send_response(connection, MHD_HTTP_NO_CONTENT,
                             MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT));
    if (get && file != NULL)
        return send_file(connection, file);
    if (!post || kind == 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "Allow",
                      file == NULL ? "POST"
                      : kind == 0  ? "GET, HEAD"
                                   : "GET, HEAD, POST",
                      "this path takes another method; the header Allow lists which");
    if (!door_token(&http->setup.door, MHD_lookup_connection_value(connection->mhd, MHD_HEADER_KIND, "Authorization")))
        return refuse(connection, MHD_HTTP_UNAUTHORIZED, "WWW-Authenticate", "Bearer",
                      "the option `token` is set: send it as \"Authorization: Bearer TOKEN\"");
    const char *length = MHD_lookup_connection_value(connection->mhd, MHD_HEADER_KIND, "Content-Length");
    if (length != NULL && (strlen(length) > 9 || strtoul(length, NULL, 10) > http->setup.limits.body))
        return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE, NULL, NULL, "a body has at most 1 MiB");
    connection->request = make_request(http, kind);
    if (connection->request == NULL)
        return MHD_NO;
    strcpy(connection->request->world, world);
    connection->body = (writer_t){.allocator = http->setup.allocator};
    return MHD_YES;
}

static enum MHD_Result receive(connection_t *connection, const char *bytes, size_t size)
{
    if (connection->request == NULL)
        return MHD_YES; /* refused already; bytes that still come are not kept */
    if (size > connection->http->setup.limits.body - connection->body.length)
        return MHD_NO;
    writer_bytes(&connection->body, bytes, size);
    return connection->body.failed ? MHD_NO : MHD_YES;
}

/* An answer to a body that is no call, in the shape of its protocol. */
static enum MHD_Result answer_malformed(connection_t *connection)
{
    request_t *request = connection->request;
    rpc_error(&request->answer, NULL, request->body.code, request->body.why);
    if (request->parcel.kind != REQUEST_RPC)
        request->status = MHD_HTTP_BAD_REQUEST;
    return send_answer(connection, request);
}

/* The body is whole: give it to the stepping thread. */
static enum MHD_Result ask(connection_t *connection)
{
    http_t *http = connection->http;
    request_t *request = connection->request;
    bool read = rpc_read(&request->body, http->setup.allocator,
                         connection->body.bytes == NULL ? "" : connection->body.bytes, connection->body.length);
    writer_release(&connection->body);
    if (!read)
        return MHD_NO;
    uint32_t calls = request->body.count > 0 ? request->body.count : 1;
    if (http->stopping) { /* no thread takes the request any more, and waiting connections could not be ended */
        connection->request = NULL;
        request_free(http->setup.allocator, request);
        return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "Retry-After", "1", "the inspector ends");
    }
    if (http->waiting >= http->setup.limits.waiting || !door_take(&http->bucket, loop_now_ns(), calls)) {
        connection->request = NULL;
        request_free(http->setup.allocator, request);
        return refuse(connection, MHD_HTTP_TOO_MANY_REQUESTS, "Retry-After", "1",
                      "more requests come than the option `rate` allows a second, or more than can wait");
    }
    if (request->body.code != 0)
        return answer_malformed(connection);
    enter(connection, ASKED);
    http->waiting++;
    request->arrived_ns = connection->since_ns;
    request->connection = connection;
    connection->asked = request;
    connection->asked_id = request->id;
    connection->request = NULL;
    suspend(connection);
    hand_over(http, request);
    return MHD_YES;
}

/* Answer a connection when the stepping thread has answered, or has not in time. */
static enum MHD_Result respond(connection_t *connection)
{
    request_t *request = connection->request;
    if (request == NULL)
        return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "Retry-After", "1",
                      connection->http->stopping ? "the inspector ends"
                                                 : "the host did not get round to an answer: it takes no steps and "
                                                   "does not poll, or is in one long step");
    if (request->stream)
        return begin_stream(connection);
    return send_answer(connection, request);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *mhd, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **seen)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    connection_t *connection = info == NULL ? NULL : info->socket_context;
    (void)context, (void)version;
    if (connection == NULL)
        return MHD_NO;
    if (*seen == NULL) {
        *seen = connection;
        return begin(connection, url, method);
    }
    if (*upload_size > 0) {
        size_t size = *upload_size;
        *upload_size = 0;
        return receive(connection, upload, size);
    }
    if (connection->phase == RECEIVING)
        return connection->request == NULL ? MHD_YES : ask(connection);
    if (connection->phase == ASKED)
        return connection->asked == NULL ? respond(connection) : MHD_YES;
    return MHD_YES;
}

/* --- connections ---------------------------------------------------------------------------------------------- */

/* Note that the request which the stepping thread has of this connection need not be answered any more. */
static void abandon(connection_t *connection)
{
    if (connection->asked == NULL)
        return;
    atomic_store(&connection->asked->abandoned, true);
    connection->asked = NULL;
    connection->http->waiting--;
}

/* Called by libmicrohttpd when a request is over, for whatever reason. */
static void complete(void *context, struct MHD_Connection *mhd, void **seen, enum MHD_RequestTerminationCode why)
{
    connection_t *connection = *seen;
    (void)context, (void)mhd, (void)why;
    if (connection == NULL)
        return;
    *seen = NULL;
    abandon(connection);
    if (connection->phase == STREAMING) {
        connection->http->streams--;
        writer_release(&connection->unsent);
        give_back(connection);
    } else {
        request_free(connection->http->setup.allocator, connection->request);
    }
    connection->request = NULL;
    connection->over = connection->gone = false;
    writer_release(&connection->body);
    enter(connection, WAITING);
}

static void open_connection(http_t *http, struct MHD_Connection *mhd, void **socket_context)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    connection_t *connection = allocator_make(http->setup.allocator, sizeof *connection);
    *socket_context = connection;
    if (connection == NULL)
        return; /* the connection's requests are refused */
    connection->http = http;
    connection->mhd = mhd;
    connection->descriptor = info == NULL ? LOOP_NONE : (loop_socket_t)info->connect_fd;
    connection->body.allocator = connection->unsent.allocator = http->setup.allocator;
    connection->next = http->connections;
    if (connection->next != NULL)
        connection->next->previous = connection;
    http->connections = connection;
    loop_watch_end(http->loop, connection->descriptor);
    enter(connection, WAITING);
}

static void close_connection(http_t *http, connection_t *connection)
{
    if (connection == NULL)
        return;
    if (connection->next != NULL)
        connection->next->previous = connection->previous;
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        http->connections = connection->next;
    http->some_closed = true;
    allocator_free(http->setup.allocator, connection, sizeof *connection);
}

static void notify(void *context, struct MHD_Connection *mhd, void **socket_context,
                   enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        open_connection(context, mhd, socket_context);
    else
        close_connection(context, *socket_context);
}

/* The other side of a connection has shut its direction: a stream has no reader any more, and a request that is not
 * whole by the next sweep will never be whole. */
static void meet_end(void *context, loop_socket_t descriptor)
{
    http_t *http = context;
    for (connection_t *c = http->connections; c != NULL; c = c->next) {
        if (c->descriptor != descriptor)
            continue;
        c->ended = true;
        c->gone = c->phase == STREAMING;
        if (c->gone)
            resume(c);
    }
}

/* --- answers -------------------------------------------------------------------------------------------------- */

static void take_answer(http_t *http, request_t *request)
{
    connection_t *connection = request->connection;
    if (!atomic_load(&request->abandoned)) {
        http->waiting--;
        connection->asked = NULL;
        connection->request = request;
        resume(connection);
    } else if (request->stream) {
        request->parcel.kind = REQUEST_GONE;
        hand_over(http, request);
    } else {
        request_free(http->setup.allocator, request);
    }
}

static void take_event(http_t *http, event_t *event)
{
    for (connection_t *c = http->connections; c != NULL; c = c->next) {
        if (c->phase != STREAMING || c->request->id != event->stream)
            continue;
        add_event(c, &event->text);
        c->over |= event->last;
        resume(c);
        break;
    }
    free_event(http->setup.allocator, event);
}

static void take_answers(http_t *http)
{
    handover_item_t *next;
    for (handover_item_t *item = handover_take(&http->answers); item != NULL; item = next) {
        next = item->next;
        parcel_t *parcel = (parcel_t *)item;
        if (parcel->kind == REQUEST_EVENT)
            take_event(http, (event_t *)parcel);
        else
            take_answer(http, (request_t *)parcel);
    }
}

/* --- time limits ---------------------------------------------------------------------------------------------- */

static bool late(const connection_t *connection, uint64_t now, uint32_t limit_ms)
{
    return now > connection->since_ns && now - connection->since_ns > (uint64_t)limit_ms * 1000000u;
}

static void look_after(connection_t *connection, uint64_t now)
{
    const http_limits_t *limits = &connection->http->setup.limits;
    bool waits = connection->unsent.length > connection->sent;
    switch (connection->phase) {
    case WAITING:
    case RECEIVING:
        if (connection->ended || late(connection, now, limits->arrive_ms))
            loop_cut(connection->descriptor);
        break;
    case ASKED:
        if (late(connection, now, limits->answer_ms)) {
            abandon(connection);
            resume(connection);
        }
        break;
    case SENDING:
        if (late(connection, now, limits->take_ms))
            loop_cut(connection->descriptor);
        break;
    default:
        if (waits && late(connection, now, limits->take_ms))
            loop_cut(connection->descriptor);
        else if (!waits && late(connection, now, HEARTBEAT_MS)) {
            writer_plain(&connection->unsent, ":\n\n"); /* a comment: writing it fails where the connection is dead */
            resume(connection);
        }
    }
}

static void sweep(http_t *http, uint64_t now)
{
    if (now - http->swept_ns < (uint64_t)SWEEP_MS * 1000000u)
        return;
    http->swept_ns = now;
    for (connection_t *c = http->connections; c != NULL; c = c->next)
        look_after(c, now);
    if (http->waiting > 0)
        http->setup.arrived(http->setup.context); /* call once more: there may have been no memory for the first call */
}

static void pulse(http_t *http, uint64_t now)
{
    uint32_t every = atomic_load(&http->pulse_ms);
    if (every == 0 || now - http->pulsed_ns < (uint64_t)every * 1000000u)
        return;
    http->pulsed_ns = now;
    http->setup.arrived(http->setup.context);
}

/* --- the thread ----------------------------------------------------------------------------------------------- */

/* Milliseconds until something is due; -1: nothing is due. */
static int patience(http_t *http)
{
    MHD_UNSIGNED_LONG_LONG own;
    uint64_t now = loop_now_ns();
    uint32_t every = atomic_load(&http->pulse_ms);
    int wait = http->connections != NULL ? SWEEP_MS : -1;
    if (MHD_get_timeout(http->daemon, &own) == MHD_YES && (wait < 0 || own < (unsigned)wait))
        wait = (int)own;
    if (every > 0) {
        uint64_t due = http->pulsed_ns + (uint64_t)every * 1000000u;
        int until = due > now ? (int)((due - now) / 1000000u) + 1 : 0;
        wait = wait < 0 || until < wait ? until : wait;
    }
    return wait;
}

/* Run libmicrohttpd. Where as many connections were open as allowed, it listens again only when run once more. */
static void run_daemon(http_t *http)
{
    do {
        http->some_closed = false;
        MHD_run(http->daemon);
    } while (http->some_closed);
}

static void turn(void *context)
{
    http_t *http = context;
    loop_wait(http->loop, patience(http), meet_end, http);
    take_answers(http);
    run_daemon(http);
    uint64_t now = loop_now_ns();
    sweep(http, now);
    pulse(http, now);
}

/* Leave paths as they stand: no path of this server has anything to unescape. */
static size_t keep_escaped(void *context, struct MHD_Connection *mhd, char *text)
{
    (void)context, (void)mhd;
    return strlen(text);
}

static bool start_daemon(http_t *http)
{
    const http_limits_t *limits = &http->setup.limits;
    http->daemon = MHD_start_daemon(
        loop_daemon_flags() | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, http,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)http->listening,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)limits->connections,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(limits->arrive_ms / 1000 + 5),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32768,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escaped, NULL,
        MHD_OPTION_NOTIFY_CONNECTION, notify, http,
        MHD_OPTION_NOTIFY_COMPLETED, complete, http,
        MHD_OPTION_END);
    return http->daemon != NULL;
}

static bool start_loop(http_t *http)
{
    http->loop = loop_make(http->setup.allocator);
    if (http->loop == NULL)
        return false;
    if (!loop_watch_daemon(http->loop, http->daemon))
        return false;
    loop_turns(http->loop, turn, http);
    return loop_start(http->loop);
}

http_t *http_start(const http_setup_t *setup, char sentence[HTTP_SENTENCE_MAX])
{
    http_t *http = allocator_make(setup->allocator, sizeof *http);
    snprintf(sentence, HTTP_SENTENCE_MAX, "out of memory for the server");
    if (http == NULL)
        return NULL;
    http->setup = *setup;
    http->bucket = (door_bucket_t){.rate = setup->limits.rate, .content = setup->limits.rate};
    http->listening = loop_listen(setup->door.address, setup->door.port, &http->setup.door.port, sentence);
    if (http->listening != LOOP_NONE && !start_daemon(http)) {
        loop_close(http->listening);
        http->listening = LOOP_NONE;
        snprintf(sentence, HTTP_SENTENCE_MAX, "libmicrohttpd refuses to start");
    }
    if (http->listening != LOOP_NONE && start_loop(http))
        return http;
    http_stop(http);
    return NULL;
}

/* End all connections. The thread has ended, so the caller's thread may call libmicrohttpd, which cannot end while
 * connections are suspended. */
static void end_connections(http_t *http)
{
    http->stopping = true;
    if (MHD_quiesce_daemon(http->daemon) != MHD_INVALID_SOCKET) /* no further connection is taken in */
        loop_close(http->listening);
    take_answers(http);
    for (connection_t *c = http->connections; c != NULL; c = c->next) {
        abandon(c);
        c->over = c->gone = true;
        resume(c);
    }
    MHD_run(http->daemon);
    MHD_run(http->daemon);
    MHD_stop_daemon(http->daemon);
}

/* In a copy of the process, free our own memory alone: libmicrohttpd would shut the sockets for the original too. The
 * memory of libmicrohttpd goes with the process. */
static void leave_connections(http_t *http)
{
    connection_t *next;
    for (connection_t *c = http->connections; c != NULL; c = next) {
        next = c->next;
        writer_release(&c->body);
        writer_release(&c->unsent);
        request_free(http->setup.allocator, c->request);
        allocator_free(http->setup.allocator, c, sizeof *c);
    }
}

void http_stop(http_t *http)
{
    handover_item_t *next;
    if (http == NULL)
        return;
    bool copy = http->loop != NULL && loop_is_copy(http->loop);
    loop_end(http->loop);
    http->loop = NULL;
    if (copy)
        leave_connections(http);
    else if (http->daemon != NULL)
        end_connections(http);
    for (handover_item_t *item = handover_take(&http->answers); item != NULL; item = next) {
        next = item->next;
        if (((parcel_t *)item)->kind == REQUEST_EVENT)
            free_event(http->setup.allocator, (event_t *)item);
        else
            request_free(http->setup.allocator, (request_t *)item);
    }
    allocator_free(http->setup.allocator, http, sizeof *http);
}

uint16_t http_port(const http_t *http)
{
    return http->setup.door.port;
}

/* --- from the stepping thread --------------------------------------------------------------------------------- */

static void put_out(http_t *http, parcel_t *parcel)
{
    if (handover_put(&http->answers, &parcel->item))
        loop_wake(http->loop);
}

void http_answer(http_t *http, request_t *request)
{
    put_out(http, &request->parcel);
}

bool http_event(http_t *http, uint64_t stream, writer_t *text, bool last)
{
    event_t *event = allocator_make(http->setup.allocator, sizeof *event);
    if (event == NULL) {
        writer_release(text);
        return false;
    }
    event->parcel.kind = REQUEST_EVENT;
    event->stream = stream;
    event->text = *text;
    event->last = last;
    *text = (writer_t){.allocator = event->text.allocator};
    put_out(http, &event->parcel);
    return true;
}

void http_pulse(http_t *http, uint32_t milliseconds)
{
    if (atomic_exchange(&http->pulse_ms, milliseconds) != milliseconds)
        loop_wake(http->loop);
}

void http_park(http_t *http)
{
    loop_stop(http->loop);
}

bool http_unpark(http_t *http)
{
    return loop_start(http->loop);
}
