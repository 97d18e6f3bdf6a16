/* request.h - what goes to and fro between the serving thread and the one that steps the worlds.
 *
 *     serving thread   asked: request_t (a body, read and parsed) ------------>  stepping thread
 *                      <------------ answers: the same request_t, answered; or event_t, for a stream that is open
 *
 * An object belongs to the side that has it: the one that puts it into the list lets go of it. A request whose answer
 * opens a stream stays with the serving thread as long as the stream, and goes over once more, with kind REQUEST_GONE,
 * when the stream has ended: the stepping thread then stops watching, and frees it.
 *
 * What this header does not do: it says nothing of HTTP's own matters; http.c answers those without asking.
 */
#ifndef INSPECTOR_REQUEST_H
#define INSPECTOR_REQUEST_H

#include "handover.h"
#include "rpc.h"

enum {
    REQUEST_RPC = 1,    /* POST / and /world/NAME: the Bevy Remote Protocol and what we have beyond it */
    REQUEST_MCP = 2,    /* POST /mcp: the Model Context Protocol */
    REQUEST_POINTS = 3, /* POST /points: columns as bytes, for the view of the world */
    REQUEST_GONE = 4,   /* the stream that this request opened has ended */
    REQUEST_EVENT = 5   /* an event_t */
};

enum { REQUEST_WORLD_MAX = 64 };

/* What either list holds begins with this. */
typedef struct parcel_t {
    handover_item_t item;
    uint32_t kind; /* REQUEST_... */
    uint32_t padding;
} parcel_t;

typedef struct request_t {
    parcel_t parcel;
    uint64_t id;                    /* never another request's */
    uint64_t arrived_ns;
    char world[REQUEST_WORLD_MAX];  /* "": the first */
    rpc_body_t body;
    uint32_t calls_done;            /* of the body's: how far the stepping thread has come */
    uint32_t status;                /* the answer: HTTP's number, ... */
    const char *type;               /* ... its Content-Type, static, ... */
    writer_t answer;                /* ... its bytes */
    bool stream;                    /* the answer is a stream's first event, and the stream stays open */
    atomic_bool abandoned;          /* nothing waits for the answer any more */
    atomic_size_t unsent; /* of a stream: bytes that its other side has not taken in. Both sides may look until
                             the stepping thread has met REQUEST_GONE */
    void *connection;               /* of the serving thread */
    void *work;                     /* of the stepping thread: what it remembers of a call that takes several turns */
} request_t;

/* One event of a stream. */
typedef struct event_t {
    parcel_t parcel;
    uint64_t stream; /* the id of the request that opened it */
    writer_t text;
    bool last;       /* the stream ends behind it */
} event_t;

#endif
