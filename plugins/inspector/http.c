/* http.c - HTTP over libmicrohttpd, in a thread with the loop of loop.h (http.h); its connections are in connection.c.
 *
 * A turn of the loop waits, takes the answers that the stepping thread has put out, lets libmicrohttpd do what is due,
 * and cuts the connections that have taken too long. A connection goes through these phases:
 *
 *     WAITING --headers--> RECEIVING --body--> ASKED --answer--> SENDING --taken--> WAITING ...
 *                                                \---answer---> STREAMING --event, event ...
 *
 * While ASKED, and while a stream has nothing to send, the connection is suspended: libmicrohttpd does not look at it,
 * so loop_watch_end finds out whether a stream's other side has gone away. libmicrohttpd is called from this thread
 * only, but for its start and its end, when the thread does not run; so nothing here needs a lock.
 *
 * The connection timeout of libmicrohttpd starts anew with each byte, so a slow client can stay for ever; so each phase
 * has a time limit of its own here, and a connection that exceeds the limit has its socket shut.
 */
#include "connection.h"

#include <stdio.h>

const http_limits_t http_limits = {
    .body = 1u << 20, .connections = 128, .rate = 2000, .waiting = 256, .streams = 16,
    .arrive_ms = 15000, .answer_ms = 20000, .take_ms = 15000,
};

enum { SWEEP_MS = 250, HEARTBEAT_MS = 15000 };

static void free_event(const allocator_t *allocator, event_t *event)
{
    writer_release(&event->text);
    allocator_free(allocator, event, sizeof *event);
}

/* --- answers -------------------------------------------------------------------------------------------------- */

static void take_answer(http_t *http, request_t *request)
{
    connection_t *connection = request->connection;
    if (!atomic_load(&request->abandoned)) {
        http->waiting--;
        connection->asked = NULL;
        connection->request = request;
        connection_resume(connection);
    } else if (request->stream) {
        request->parcel.kind = REQUEST_GONE;
        connection_hand_over(http, request);
    } else {
        request_free(http->setup.allocator, request);
    }
}

static void take_event(http_t *http, event_t *event)
{
    for (connection_t *c = http->connections; c != NULL; c = c->next) {
        if (c->phase != STREAMING || c->request->id != event->stream)
            continue;
        connection_add_event(c, &event->text);
        c->over |= event->last;
        connection_resume(c);
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
            connection_abandon(connection);
            connection_resume(connection);
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
            connection_resume(connection);
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
    loop_wait(http->loop, patience(http), connection_meet_end, http);
    take_answers(http);
    run_daemon(http);
    uint64_t now = loop_now_ns();
    sweep(http, now);
    pulse(http, now);
}

/* Leave paths as they are: no path of this server contains escapes. */
static size_t keep_escaped(void *context, struct MHD_Connection *mhd, char *text)
{
    (void)context, (void)mhd;
    return strlen(text);
}

static bool start_daemon(http_t *http)
{
    const http_limits_t *limits = &http->setup.limits;
    http->daemon = MHD_start_daemon(
        loop_daemon_flags() | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, connection_handle, http,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)http->listening,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)limits->connections,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(limits->arrive_ms / 1000 + 5),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32768,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escaped, NULL,
        MHD_OPTION_NOTIFY_CONNECTION, connection_notify, http,
        MHD_OPTION_NOTIFY_COMPLETED, connection_complete, http,
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
        connection_abandon(c);
        c->over = c->gone = true;
        connection_resume(c);
    }
    MHD_run(http->daemon);
    MHD_run(http->daemon);
    MHD_stop_daemon(http->daemon);
}

/* In a copy of the process, free this plugin's memory alone: libmicrohttpd would shut the sockets of the original too.
 * The memory of libmicrohttpd is freed with the process. */
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
