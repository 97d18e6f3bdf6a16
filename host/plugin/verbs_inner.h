/* verbs_inner.h - one call of a plugin under the crash guard.
 *
 * The guard runs a function of one argument, so each verb that is guarded has two halves: one packs the arguments into
 * a call_t, the other unpacks them and calls.
 *
 * Inner to verbs.c and verb_call.c; others include verbs.h.
 *
 * Not here: any particular verb.
 */
#ifndef HOST_PLUGIN_VERBS_INNER_H
#define HOST_PLUGIN_VERBS_INNER_H

#include "registry.h"
#include "verbs.h"

/* The arguments and the result of a verb: each verb uses its own part. */
typedef struct call_t {
    const component_t *component;
    const system_t *system;
    const bp_task_t *task;
    plugin_t *plugin;
    bp_manager_t *m;
    bp_system_t *s;
    const verb_place_t *place;    /* NULL: in no world */
    const bp_step_t *step;
    const void *in;               /* run, match(es), entities, slots to read, values to write, saved bytes */
    const void *more;             /* columns, data */
    void *out;                    /* slots, values, random, data, report */
    size_t *out_size;
    const uint32_t *slots;
    bp_name_t instance;
    size_t size;                  /* stride, or bytes */
    uint32_t count, number;       /* number: of a field, a version */
    uint32_t answer;
    uint32_t rows, prototype;     /* CALL_..., and of which rows (call_view_t) */
    const bp_entity_t *handed;    /* the first of `count` rows that lie one behind another, or NULL */
    bp_result_t result;
    void (*function)(void *data); /* of a table: called with `out` */
    const char *verb;             /* its name */
    bool rare;                    /* all surroundings are compared, not on trial alone */
    bool whole;                   /* the same, since it is its turn */
} call_t;

/* Call under the guard. false: the call was ended, or not made at all, as the plugin is set aside. */
bool verb_call(call_t *call, const char *verb, void (*function)(void *data));

/* The same, where the caller has to know which of both it was. */
verb_made_t verb_call_made(call_t *call, const char *verb, void (*function)(void *data));

/* Like verb_call, for verbs with a result, which are called on the main thread alone. */
bp_result_t verb_call_with_result(call_t *call, const char *verb, void (*function)(void *data));

#endif
