/* inspector.h - what the files of the plugin share on the thread that steps the worlds.
 *
 *     http.c        the serving thread: requests in, answers out; connection.c: one connection of it
 *     serve.c       the task `answer`: requests, streams and sets in turn, as far as the budget goes
 *     brp*.c, backplane*.c, mcp.c, points.c     the methods
 *     look.c, values.c, undo.c, condition.c, sets.c     the parts of methods: worlds, values, conditions, lists of
 *                                                  entities
 *
 * Not here: anything for other plugins.
 */
#ifndef INSPECTOR_INSPECTOR_H
#define INSPECTOR_INSPECTOR_H

#include "http.h"

#include <bp_clock.h>
#include <bp_history.h>
#include <bp_look.h>
#include <bp_plugin.h>
#include <bp_share.h>
#include <bp_task.h>

/* The options of the plugin, in the order of declaration. */
enum {
    OPTION_PORT,
    OPTION_ADDRESS,
    OPTION_TOKEN,
    OPTION_HOSTS,
    OPTION_ORIGINS,
    OPTION_READ_ONLY,
    OPTION_BUDGET,
    OPTION_RATE,
    OPTION_CONNECTIONS,
    OPTION_STREAMS
};

struct ask_t;
struct method_t;
struct set_t;

#define INSPECTOR_VERSION "1.0"

enum { SETS_MAX = 8 };

typedef struct inspector_t {
    const bp_plugin_t *plugin;
    const bp_api_t *api;
    const bp_look_api *look;
    const bp_clock_api *clocks;
    const bp_task_api *tasks;
    const bp_history_api *history; /* NULL: the host is older */
    bp_host_o *host;
    allocator_t allocator;
    http_t *http;              /* from resume to pause; in a copy of the process: the original's, or NULL */
    uint16_t port;             /* the port that the server had last; 0: none yet */
    handover_t asked;
    atomic_bool called;        /* the task `answer` has been posted, and has not begun */

    /* of the stepping thread: */
    struct ask_t *asks;        /* being answered; each is given a turn */
    struct ask_t *streams;     /* open streams, each looked at when it is due */
    struct set_t *sets[SETS_MAX];
    uint64_t next_set;
    const void *change;        /* state of the call that has wished a change and not seen its outcome; NULL: none has */
    const void *going;         /* likewise, of the call that goes to another step */
    uint64_t turns;            /* turns that the stepping thread has taken */
} inspector_t;

static inline const bp_value_t *inspector_option(const inspector_t *in, uint32_t option)
{
    return &in->plugin->options[option];
}

/* Have the stepping thread serve between two steps: posts the task `answer`. [any] */
void inspector_call(inspector_t *in);

#endif
