/* deaths.h - somebody who is told of deaths: what was asked for, and who has died that it was asked for.
 *
 * A listener is part of a manager or of a unit of a step. What a plugin asks for (bp_deaths_i) stands in its slot, so
 * that it goes with the plugin, and comes again with its next version. Which manager and field that means in a world is
 * found anew whenever somebody has come or gone (destruction.h).
 *
 * Whether an entity had a component, and who refers to it, must be looked up when it has died and before its row is
 * emptied: deaths_gather does so, and keeps what it finds until the batch is announced. Where memory is lacking for
 * that the listener is not told of that entity, and the log says so.
 *
 * Not here: when a batch is announced, and in which order (destruction.h).
 */
#ifndef HOST_STORE_DEATHS_H
#define HOST_STORE_DEATHS_H

#include "../plugin/slots.h"

struct world_t;

typedef struct listener_t {
    void *who;                 /* the manager or the unit */
    const deaths_t *asked;
    void (*tell)(void *who, const bp_death_t *batch);
    uint32_t told;             /* the last announcement that it has heard of */
    bool warned;               /* that there is no such field */

    struct world_t *world;     /* found: */
    uint32_t manager, field;   /* of the world; BP_NONE: it lacks the component */

    bp_entity_t *dead;         /* to be told of, */
    bp_entity_t *referrers;    /* ... and who refers to each */
    uint32_t count, dead_capacity, referrer_capacity;
    uint32_t ready;            /* of these, so many are of the batch that is announced now */
} listener_t;

/* Find what it asked for in a world. */
void deaths_find(listener_t *listener, struct world_t *world);

/* Keep which of `dead` it asked for. They are dead, and the world has not forgotten them yet. */
void deaths_gather(listener_t *listener, const bp_entity_t *dead, uint32_t count);

/* Tell what is ready. */
void deaths_tell(listener_t *listener);

void deaths_free(listener_t *listener, memory_t *memory);

#endif
