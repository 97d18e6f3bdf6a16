/* rpc.h - JSON-RPC 2.0: from the bytes of a body to calls, and the frames of answers.
 *
 *     {"jsonrpc":"2.0","id":1,"method":"world.query","params":{...}}       one call
 *     [ ..., ... ]                                                         a batch: an array of answers
 *
 * As the Bevy Remote Protocol has it, `id` and `params` may be left out, and a call without id is answered too, with
 * the id null; other keys are refused. A call that is wrong has its error stored in it, so that a batch is answered
 * item by item.
 *
 * Not here: methods.
 */
#ifndef INSPECTOR_RPC_H
#define INSPECTOR_RPC_H

#include "writer.h"

#include <jansson.h>

/* Codes of errors: those of JSON-RPC, then those of the Bevy Remote Protocol. */
enum {
    RPC_INVALID_REQUEST = -32600, /* no JSON, or no call: also what JSON-RPC calls a parse error, as BRP has it */
    RPC_NO_METHOD = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL = -32603,
    RPC_NO_ENTITY = -23401,
    RPC_COMPONENT = -23402,
    RPC_ABSENT = -23403,
    RPC_OWN_PARENT = -23404,
    RPC_RESOURCE = -23501,
    RPC_NO_RESOURCE = -23502
};

enum { RPC_SENTENCE_MAX = 512, RPC_BATCH_MAX = 1000 };

typedef struct rpc_call_t {
    const char *method; /* in the tree; NULL where `code` is set */
    json_t *params;     /* an object or an array, NULL where there are none; borrowed from the tree */
    json_t *id;         /* NULL: none; borrowed */
    int32_t code;       /* not 0: the error in this call */
    const char *why;
} rpc_call_t;

typedef struct rpc_body_t {
    const allocator_t *allocator;
    json_t *tree;
    rpc_call_t *calls;
    uint32_t count, room;
    bool batch;         /* answered by an array */
    bool notice;        /* all calls are without id: MCP answers nothing then */
    int32_t code;       /* not 0: the error in the whole body, which has no calls then */
    char why[RPC_SENTENCE_MAX];
} rpc_body_t;

/* Read a body. False when out of memory; an error in the body itself is stored in it. */
bool rpc_read(rpc_body_t *body, const allocator_t *allocator, const char *bytes, size_t length);
void rpc_release(rpc_body_t *body);

/* Begin the answer to a call: up to and with "result":, behind which the caller writes one value; rpc_end closes the
 * answer. */
void rpc_begin(writer_t *w, const rpc_call_t *call);
void rpc_end(writer_t *w);

/* A whole answer that tells the error. `call` may be NULL: the id is null then. */
void rpc_error(writer_t *w, const rpc_call_t *call, int32_t code, const char *why);

#endif
