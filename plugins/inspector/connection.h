/* connection.h - the connections of the serving thread: what http.c and connection.c share.
 *
 * A connection is libmicrohttpd's; the record here says in which phase it is (http.c has the picture), what it has sent
 * for, and what waits to be sent. The record lives as long as the connection.
 *
 * All functions are the serving thread's alone.
 */
#ifndef INSPECTOR_CONNECTION_H
#define INSPECTOR_CONNECTION_H

#include "http.h"

#include "loop.h"

#include <microhttpd.h>

enum { WAITING, RECEIVING, ASKED, SENDING, STREAMING };


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
    bool too_large;      /* the body is longer than allowed: the rest of it is read and not kept, then refused; */
    size_t passed_over;  /* ... so many bytes of it, until a bound at which the connection is closed */
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

/* libmicrohttpd's callbacks: a request comes in, in parts; a request is over; a connection begins or ends. */
enum MHD_Result connection_handle(void *context, struct MHD_Connection *mhd, const char *url, const char *method,
                                  const char *version, const char *upload, size_t *upload_size, void **seen);
void connection_complete(void *context, struct MHD_Connection *mhd, void **seen, enum MHD_RequestTerminationCode why);
void connection_notify(void *context, struct MHD_Connection *mhd, void **socket_context,
                       enum MHD_ConnectionNotificationCode what);

/* The other side of the connection at `descriptor` has shut its direction: a stream has no reader any more, and a
 * request that is not whole by the next sweep will never be whole. `context` is the http_t. */
void connection_meet_end(void *context, loop_socket_t descriptor);

/* Have libmicrohttpd look at the connection again; does nothing where it looks. */
void connection_resume(connection_t *connection);

/* Note that the request which the stepping thread has of this connection need not be answered any more. */
void connection_abandon(connection_t *connection);

/* Put an event behind the bytes that wait to be sent. */
void connection_add_event(connection_t *connection, const writer_t *text);

/* Hand a request to the stepping thread, which then owns it. */
void connection_hand_over(http_t *http, request_t *request);

#endif
