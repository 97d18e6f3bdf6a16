/* connection.c - one connection: receiving requests in their parts, and sending answers and streams (connection.h).
 *
 * Invariants: a request belongs either to its connection or to the stepping thread; while the stepping thread has one,
 * only its flag `abandoned` is touched here. A connection is suspended exactly while nothing can be sent for it.
 */
#include "connection.h"

#include "bundle.h"

#include <stdio.h>

enum {
    STREAM_BLOCK = 64 * 1024,
    PASSED_OVER = 2 /* times the largest body: of one that is larger, so much more is read, to answer */
};

void request_free(const allocator_t *allocator, request_t *request)
{
    if (request == NULL)
        return;
    rpc_release(&request->body);
    writer_release(&request->answer);
    allocator_free(allocator, request, sizeof *request);
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

void connection_hand_over(http_t *http, request_t *request)
{
    handover_put(http->setup.asked, &request->parcel.item);
    if (!http->stopping)
        http->setup.arrived(http->setup.context);
}

/* Add the headers for the browser to a response: pages load nothing from other sites, types are not guessed, and pages
 * cannot be framed. */
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

void connection_resume(connection_t *connection)
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
    connection_hand_over(connection->http, connection->request);
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

void connection_add_event(connection_t *connection, const writer_t *text)
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
    if (connection->request->answer.failed) {
        give_back(connection);
        return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, NULL, NULL, "out of memory");
    }
    connection->unsent = (writer_t){.allocator = http->setup.allocator};
    connection->sent = 0;
    connection_add_event(connection, &connection->request->answer);
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

/* NULL where the request is let in; else the reason for refusing it. */
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

static enum MHD_Result refuse_too_large(connection_t *connection)
{
    return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE, NULL, NULL, "a body has at most 1 MiB");
}

/* The length of the body, where a header tells it; else 0. */
static uint64_t told_length(const connection_t *connection)
{
    const char *length = MHD_lookup_connection_value(connection->mhd, MHD_HEADER_KIND, "Content-Length");
    return length == NULL ? 0 : strlen(length) > 9 ? UINT64_MAX : strtoul(length, NULL, 10);
}

/* Does the client send its body only when it is told to? */
static bool awaits_leave(const connection_t *connection)
{
    return MHD_lookup_connection_value(connection->mhd, MHD_HEADER_KIND, "Expect") != NULL;
}

/* Judge a request by its headers, before its body comes. A body that is a little too large is read before the answer,
 * which a client would lose with the connection if it were still sending. */
static enum MHD_Result begin(connection_t *connection, const char *url, const char *method)
{
    http_t *http = connection->http;
    char world[REQUEST_WORLD_MAX];
    unsigned status;
    enter(connection, RECEIVING);
    connection->page = connection->too_large = false;
    connection->passed_over = 0;
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
    uint64_t length = told_length(connection), most = http->setup.limits.body;
    if (length > PASSED_OVER * most || (length > most && awaits_leave(connection)))
        return refuse_too_large(connection);
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
    size_t most = connection->http->setup.limits.body;
    if (connection->too_large || size > most - connection->body.length) {
        connection->too_large = true; /* libmicrohttpd takes an answer when the body has been read: within arrive_ms */
        writer_release(&connection->body);
        connection->passed_over += size;
        return connection->passed_over <= PASSED_OVER * most ? MHD_YES : MHD_NO;
    }
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
    if (connection->too_large) {
        connection->request = NULL;
        request_free(http->setup.allocator, request);
        return refuse_too_large(connection);
    }
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
    connection_hand_over(http, request);
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

enum MHD_Result connection_handle(void *context, struct MHD_Connection *mhd, const char *url, const char *method,
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

void connection_abandon(connection_t *connection)
{
    if (connection->asked == NULL)
        return;
    atomic_store(&connection->asked->abandoned, true);
    connection->asked = NULL;
    connection->http->waiting--;
}

/* Called by libmicrohttpd when a request is over, with or without an error. */
void connection_complete(void *context, struct MHD_Connection *mhd, void **seen, enum MHD_RequestTerminationCode why)
{
    connection_t *connection = *seen;
    (void)context, (void)mhd, (void)why;
    if (connection == NULL)
        return;
    *seen = NULL;
    connection_abandon(connection);
    if (connection->phase == STREAMING) {
        connection->http->streams--;
        writer_release(&connection->unsent);
    }
    if (connection->request != NULL && connection->request->stream)
        give_back(connection); /* also where the other side has gone before its stream began */
    else
        request_free(connection->http->setup.allocator, connection->request);
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

void connection_notify(void *context, struct MHD_Connection *mhd, void **socket_context,
                       enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        open_connection(context, mhd, socket_context);
    else
        close_connection(context, *socket_context);
}

void connection_meet_end(void *context, loop_socket_t descriptor)
{
    http_t *http = context;
    for (connection_t *c = http->connections; c != NULL; c = c->next) {
        if (c->descriptor != descriptor)
            continue;
        c->ended = true;
        c->gone = c->phase == STREAMING;
        if (c->gone)
            connection_resume(c);
    }
}
