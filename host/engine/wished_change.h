/* wished_change.h - a change of values and plugins that a plugin of the host wants to have tried, or made
 * (bp_history.h).
 *
 * A change is copied when it is wished, and carried out when the host polls: no verb may reload a plugin or take steps.
 * One change is kept at a time, with what became of it, until the next one is wished. A change that is wished while
 * another one is being carried out, by a verb that this calls, takes its place afterwards, and waits for the next poll.
 *
 * Not here: moving the host to another moment (table_history.c).
 */
#ifndef HOST_ENGINE_WISHED_CHANGE_H
#define HOST_ENGINE_WISHED_CHANGE_H

#include "../base/memory.h"

#include <bp_history.h>
#include <stdbool.h>

/* A difference with texts that belong to the change. */
typedef struct wished_difference_t {
    char *world, *component, *field, *text;
    bp_entity_t entity;
    uint64_t count;
    double largest;
} wished_difference_t;

typedef struct wished_change_t {
    uint32_t state;       /* BP_CHANGE_... */
    bool makes;           /* the change waits to be made in the host; else to be tried on a clone */
    bp_result_t result;
    char text[1024];      /* may be cut */
    char **plugins;       /* names */
    uint32_t plugin_count;
    char **values;        /* paths, each with its value behind it */
    uint32_t value_count; /* pairs */
    uint64_t steps, without, with;
    wished_difference_t *differences;
    uint32_t difference_count, difference_capacity;
    bool incomplete;      /* there was no memory for all differences */
    bool under_way;       /* it is being carried out; ... */
    bool once_more;       /* ... and is to be made afterwards */
} wished_change_t;

void wished_change_free(wished_change_t *wished, memory_t *memory);

/* Do what has been wished, where something has. [main], between steps */
void wished_change_carry_out(bp_host_o *host);

/* The entries of bp_history_api. */
bp_result_t wished_change_try(bp_host_o *host, const bp_change_t *change);
bp_result_t wished_change_make(bp_host_o *host, const bp_change_t *change);
void wished_change_read(bp_host_o *host, bp_changed_t *changed);
uint32_t wished_change_difference(bp_host_o *host, uint32_t index, bp_difference_t *difference);

#endif
