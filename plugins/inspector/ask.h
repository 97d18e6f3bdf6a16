/* ask.h - one call of one method, while it is being answered.
 *
 * A method writes its result to `out`, one JSON value, and returns ASK_DONE. A method that has much to do returns
 * ASK_MORE when `deadline_ns` has passed, and is called again after the next step with the state that it keeps in
 * `state`. A method that fails says so by ask_fail; everything it has written is dropped then.
 *
 *     static int carry_out(ask_t *ask)
 *     {
 *         bp_entity_t entity;
 *         if (!ask_entity(ask, "entity", &entity))
 *             return ASK_DONE;                              the error stands in the ask
 *         writer_null(ask->out);
 *         return ASK_DONE;
 *     }
 *
 * Not here: the methods that exist (methods.h).
 */
#ifndef INSPECTOR_ASK_H
#define INSPECTOR_ASK_H

#include "inspector.h"

enum { ASK_DONE, ASK_MORE };

enum {
    METHOD_CHANGES = 1u << 0, /* changes the world: refused where the inspector is read-only, and logged */
    METHOD_STREAM = 1u << 1 /* answers with a stream of events: carry_out is called again and again, and writes nothing
                               where there is nothing to tell */
};

typedef struct method_t {
    const char *name;
    const char *doc;          /* one sentence for people and for rpc.discover */
    const char *params;       /* names of the parameters, separated by spaces; those that may be left out end with ? */
    uint32_t flags;           /* METHOD_... */
    int (*carry_out)(struct ask_t *ask);
    void (*drop)(struct ask_t *ask); /* frees the memory that `state` refers to; NULL: there is none */
} method_t;

typedef struct ask_t {
    struct ask_t *next;
    inspector_t *in;
    request_t *request;
    const method_t *method;
    bp_world_o *world;        /* of the request's path; NULL where there is no world at all */
    uint64_t world_number;    /* of that world; one that is made in its place later has another */
    const json_t *params;     /* an object, or NULL */
    writer_t *out;
    void *state;              /* from ask_state, and kept between turns */
    size_t state_size;
    uint64_t deadline_ns;
    uint64_t due_ns, every_ns; /* when a stream is looked at next, and how often */
    int32_t code;             /* not 0: the error, one of rpc.h */
    char why[RPC_SENTENCE_MAX];
    writer_t scratch;         /* the text of a result that MCP wraps */
    struct undo_t *undo;      /* values that the call has replaced, while it is carried out (undo.h) */
} ask_t;

/* Leave the error of a failed call; returns false, for the end of a function that reads parameters. */
bool ask_fail(ask_t *ask, int32_t code, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Leave an error as ask_fail does, with the host's sentence of its last failure. */
bool ask_fail_host(ask_t *ask, int32_t code);

/* The state of a call that is kept between turns: cleared at the first call. NULL, with the error left, when out of
 * memory. */
void *ask_state(ask_t *ask, size_t size);

/* May the method be called, here and now? False, with the error left, where it may not. A method that changes something
 * is logged. */
bool ask_admit(ask_t *ask);

/* Is the time of this turn over? */
bool ask_late(const ask_t *ask);

/* Parameters. `required` ones that are missing, and parameters of another type, leave an error and give false or NULL.
 * A parameter that is left out leaves `*value` as it was. */
const json_t *ask_param(const ask_t *ask, const char *name);
bool ask_text(ask_t *ask, const char *name, bool required, const char **value);
bool ask_number(ask_t *ask, const char *name, double *value); /* required */
bool ask_count(ask_t *ask, const char *name, bool required, uint64_t most, uint64_t *value);
bool ask_truth(ask_t *ask, const char *name, bool *value);

/* JSON's null. */
const json_t *ask_null(void);

/* The world that `world` names; without such a parameter the world of the path. */
bool ask_world(ask_t *ask, bp_world_o **world);

/* Make a world, or NULL, that of the call. */
void ask_take_world(ask_t *ask, bp_world_o *world);

/* Does the world of the call still live? For calls that go on in a later turn, before which the program may have
 * destroyed it; false, with the error left, where it does not, or where there is none at all. */
bool ask_keeps_world(ask_t *ask);

/* A living entity, given as a number of BRP, as "#index:generation", or by the name that its label bears in `world`. */
bool ask_entity(ask_t *ask, const char *name, bp_entity_t *entity);
bool ask_entity_of(ask_t *ask, const json_t *value, bp_entity_t *entity);

#endif
