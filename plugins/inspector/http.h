/* http.h - the server: HTTP on one thread of its own, over libmicrohttpd.
 *
 * Requests that need no world are answered here: the page, refusals, malformed requests. All others become a
 * request_t in `asked`; the owner of `asked` answers it with http_answer, and streams with http_event.
 *
 * Bounds, each of which ends or refuses something and never grows a queue: bytes of a body, connections, requests a
 * second, requests that wait, open streams, the time for a request to arrive, to be answered and to be taken in.
 *
 * Not here: worlds, and calls of the contract's verbs but the allocator.
 */
#ifndef INSPECTOR_HTTP_H
#define INSPECTOR_HTTP_H

#include "door.h"
#include "request.h"

typedef struct http_t http_t;

typedef struct http_limits_t {
    uint32_t body;         /* bytes of a body */
    uint32_t connections;
    uint32_t rate;         /* requests a second, calls of a batch counted one by one */
    uint32_t waiting;      /* requests that have not been answered */
    uint32_t streams;
    uint32_t arrive_ms;    /* from the first byte awaited to the last byte of a request */
    uint32_t answer_ms;    /* from the last byte of a request to the answer */
    uint32_t take_ms;      /* until the other side has taken in an answer, or something of a stream */
} http_limits_t;

extern const http_limits_t http_limits; /* the limits that hold unless tests ask for lower ones */

typedef struct http_setup_t {
    const allocator_t *allocator;
    door_t door;              /* texts borrowed for as long as the server; its port is filled in */
    http_limits_t limits;
    handover_t *asked;        /* where requests go */
    void *context;
    void (*arrived)(void *context); /* [loop] something lies in `asked`, or the pulse has come */
} http_setup_t;

enum { HTTP_SENTENCE_MAX = 512 };

/* Listen and serve. NULL with a sentence. [main] */
http_t *http_start(const http_setup_t *setup, char sentence[HTTP_SENTENCE_MAX]);

/* End the thread, close all connections, free all requests that were never answered. In a copy of the process
 * connections are left alone, since they are the original's. NULL is allowed. [main] */
void http_stop(http_t *http);

/* The port that the server listens on. */
uint16_t http_port(const http_t *http);

/* Send the answer that stands in the request; the request is the server's again. [main] */
void http_answer(http_t *http, request_t *request);

/* Send an event of a stream; takes `text` over. False when out of memory. [main] */
bool http_event(http_t *http, uint64_t stream, writer_t *text, bool last);

/* Call `arrived` every so many milliseconds, 0: only when something has arrived. [any] */
void http_pulse(http_t *http, uint32_t milliseconds);

/* End the thread, with all connections staying open, and start it again; false where the system has no thread left.
 * [main] */
void http_park(http_t *http);
bool http_unpark(http_t *http);

/* Free a request and all that it holds. */
void request_free(const allocator_t *allocator, request_t *request);

#endif
