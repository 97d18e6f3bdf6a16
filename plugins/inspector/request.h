/* request.h - the messages between the serving thread and the thread that steps the worlds.
 *
 *     serving thread   asked: request_t (a body, read and parsed) ------------>  stepping thread
 *                      <------------ answers: the same request_t, answered; or event_t, for a stream that is open
 *
 * An object belongs to the side that has it: the side that puts an object into the list does not touch it any more. A
 * request that opens a stream by its answer stays with the serving thread as long as the stream, and is handed over
 * once more, with kind REQUEST_GONE, when the stream has ended: the stepping thread then stops watching, and frees it.
 *
 * Not here: requests that concern HTTP alone; http.c answers those without asking.
 */
#ifndef INSPECTOR_REQUEST_H
#define INSPECTOR_REQUEST_H

#include "handover.h"
#include "rpc.h"

enum {
    REQUEST_RPC = 1,    /* POST / and /world/NAME: the Bevy Remote Protocol and the methods beyond it */
    REQUEST_MCP = 2,    /* POST /mcp: the Model Context Protocol */
    REQUEST_POINTS = 3, /* POST /points: columns as bytes, for the view of the world */
    REQUEST_GONE = 4,   /* the stream that this request opened has ended */
    REQUEST_EVENT = 5   /* an event_t */
};

enum { REQUEST_WORLD_MAX = 64 };

/* The first member of everything that either list holds. */
typedef struct parcel_t {
    handover_item_t item;
    uint32_t kind; /* REQUEST_... */
    uint32_t padding;
} parcel_t;

typedef struct request_t {
    parcel_t parcel;
    uint64_t id;                    /* no other request has the same id */
    uint64_t arrived_ns;
    char world[REQUEST_WORLD_MAX];  /* "": the first */
    rpc_body_t body;
    uint32_t calls_done;            /* calls of the body that the stepping thread has answered */
    uint32_t status;                /* HTTP's number of the answer */
    const char *type;               /* Content-Type of the answer, a static text */
    writer_t answer;                /* bytes of the answer */
    bool stream;                    /* the answer is a stream's first event, and the stream stays open */
    atomic_bool abandoned;          /* no connection waits for the answer any more */
    atomic_size_t unsent; /* of a stream: bytes that its other side has not taken in. Both sides may look until
                             the stepping thread has met REQUEST_GONE */
    void *connection;               /* for the serving thread alone */
    void *work;                     /* of the stepping thread: the state of a call that takes several turns */
} request_t;

/* One event of a stream. */
typedef struct event_t {
    parcel_t parcel;
    uint64_t stream; /* the id of the request that opened the stream */
    writer_t text;
    bool last;       /* the stream ends behind this event */
} event_t;

#endif
