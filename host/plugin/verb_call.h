/* verb_call.h - one call of a plugin under the crash guard, and what is said where it crashes.
 *
 * Inner to verbs.c and verbs_system.c. The guard runs a function of one argument, so each verb that is guarded has two halves: one
 * packs the arguments into a call_t, the other unpacks them and calls.
 *
 * What it does not do: it knows no verb.
 */
#ifndef HOST_PLUGIN_VERB_CALL_H
#define HOST_PLUGIN_VERB_CALL_H

#include "registry.h"

/* What a verb was called with: each uses its own part. */
typedef struct call_t {
    const component_t *component;
    const system_t *system;
    plugin_t *plugin;
    bp_manager_t *m;
    bp_system_t *s;
    const bp_step_t *step;
    const void *in;               /* run, match(es), entities, slots to read, values to write, saved bytes */
    const void *more;             /* columns, data */
    const size_t *sizes;
    void *out;                    /* slots, values, random, data, report */
    size_t *out_size;
    const uint32_t *slots;
    bp_name_t instance;
    size_t size;                  /* stride, or bytes */
    uint32_t count, number;       /* number: of a field, a version */
    uint32_t answer;
    bp_result_t result;
    void (*function)(void *data); /* of a table: called with `out` */
} call_t;

/* Call under the guard. false: it was ended, or not called at all, the plugin being set aside. */
bool verb_call(call_t *call, const char *verb, void (*function)(void *data));

/* The same for verbs with a result, which are called on the main thread alone. */
bp_result_t verb_call_with_result(call_t *call, const char *verb, void (*function)(void *data));

#endif
