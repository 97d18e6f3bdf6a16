/* deaths.h - listeners to deaths: the request of each, and the dead that the request is about.
 *
 * A listener is part of a manager or of a unit of a step. A plugin that asks for deaths itself has a listener for each
 * world (destruction.h). A plugin's request (bp_deaths_i) stands in the slot of its component or system, or in the
 * plugin_t, so that the request goes with the plugin and comes again with the plugin's next version. The manager and
 * the field that a request means in a world are looked up anew whenever a manager, a unit or a plugin has come or gone
 * (destruction.h).
 *
 * Whether an entity had a component, and which entities refer to it, must be looked up when it has died and before its
 * row is emptied: deaths_gather does so, and keeps the entities found until the batch is announced. Where memory for an
 * entity is lacking, the listener is not told of that entity, and the log says so.
 *
 * While the plugin of a listener is set aside, its deaths are held, of BP_DEATHS_ALL too, with those whose telling has
 * crashed the plugin, since how far that call came is not known. Held deaths are told when a sound version of the
 * plugin has the state (reload/). There is a bound, since that may be never.
 *
 * Not here: when a batch is announced, and in which order (destruction.h).
 */
#ifndef HOST_STORE_DEATHS_H
#define HOST_STORE_DEATHS_H

#include "../plugin/slots.h"

struct world_t;

enum { DEATHS_HELD_MOST = 1 << 20 /* of one listener */ };

typedef struct listener_t {
    void *who;                 /* the manager, the unit or the plugin */
    const deaths_t *asked;
    void (*tell)(void *who, const bp_death_t *batch);
    const plugin_t *owner;     /* of the code that is told */
    bool warned;               /* the log has been told that the component has no field as asked for */
    bool full;                 /* ... and that no more deaths are held */

    struct world_t *world;     /* set by deaths_find: the world in which the listener listens */
    uint32_t manager, field;   /* numbers in that world; BP_NONE: the world lacks the component */

    bp_entity_t *dead;         /* the deaths to be told of, */
    bp_entity_t *referrers;    /* ... and an entity that refers to each */
    uint32_t count, dead_capacity, referrer_capacity;
    uint32_t ready;            /* how many of `dead`, from the first on, belong to the batch that is announced at
                                  present */
} listener_t;

/* Find the manager and the field that the listener asked for in a world. */
void deaths_find(listener_t *listener, struct world_t *world);

/* Warn of a request about a component that no loaded plugin brings, once while that is so: `kind` and `who` say whose
 * request it is. To be called when all plugins that a world needs have been loaded. */
void deaths_check(deaths_t *asked, const struct world_t *world, const char *kind, const char *who);

/* Keep those of `dead` that the listener asked for. Precondition: the entities are dead, and the world still has their
 * records and rows. */
void deaths_gather(listener_t *listener, const bp_entity_t *dead, uint32_t count);

/* Tell the listener of the deaths that are ready (listener_t.ready). Where its plugin is set aside, they are held. */
void deaths_tell(listener_t *listener);

/* The same for a listener that asked for all deaths, with a batch that it does not have: `base` is the host's. */
void deaths_tell_all(listener_t *listener, base_t *base, const bp_death_t *batch);

/* Tell the listener of what has been held for it, in batches of `most`, if its plugin is sound now. */
void deaths_tell_held(listener_t *listener, base_t *base, uint32_t most);

void deaths_free(listener_t *listener, memory_t *memory);

#endif
