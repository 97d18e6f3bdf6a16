/* missed.h - deaths that a version of a plugin does not hear of, since another one is in its place, and that it is told
 * of where it comes back.
 *
 * On probation (reload/) each listener of the former version has a place here, with that version's request. What dies
 * is kept for it as for any other listener (deaths.h), and told when the version is back in its place. What the request
 * means is looked up in the world as it is meanwhile: where a component is not there, nothing is kept. A field that the
 * version in place has dropped or converted is looked for among the hidden columns.
 *
 * A listener whose state the new version has taken over hears of deaths *through* that version. Deaths that are
 * kept for such a listener are dropped as soon as all listeners in place have been told, unless the new version has
 * crashed: then its verbs are not called any more, and the state has not heard of these deaths.
 *
 * Where memory for an entity is lacking, the listener is not told of it, and the log says so. There is a bound too:
 * beyond it nothing is kept any more, and the probation ends (reload/), since steps may make and destroy any number of
 * entities.
 *
 * Not here: when a version goes and comes back (reload/), and the order of telling (destruction.h).
 */
#ifndef HOST_STORE_MISSED_H
#define HOST_STORE_MISSED_H

#include "deaths.h"

typedef struct missed_listener_t {
    listener_t listener;     /* with the request of the version that is out of its place. Without a world: of a plugin
                                that asks for all deaths; or of one that asks by a component or a field, whose
                                listeners for each world follow this one, which keeps no deaths */
    const deaths_t *back;    /* the request once the version is back */
    const plugin_t *through; /* the plugin whose version in place hears of deaths for this one's state; or NULL */
} missed_listener_t;

typedef struct missed_t {
    base_t *base;
    missed_listener_t *items; /* in the order in which they are told */
    uint32_t count, capacity;
    uint64_t most;            /* deaths that are kept for all listeners together */
    bool full;                /* there were more, so that not all of them are kept */
} missed_t;

/* Add a listener of a version that is still in its place: of a manager or a unit of `world`, or, with no world, of a
 * plugin. The request will be at `out` while the version is not in its place. False when out of memory. */
bool missed_add(missed_t *missed, const listener_t *listener, struct world_t *world, const deaths_t *out,
                const plugin_t *through);

/* Find what the requests mean in these worlds; worlds that have come since are looked at too. False where memory for
 * that is lacking. */
bool missed_find(missed_t *missed, struct world_t *const *worlds, uint32_t count);

/* As deaths_gather, for all listeners. */
void missed_gather(missed_t *missed, const bp_entity_t *dead, uint32_t count);

/* To be called when all gathered deaths have been told to the listeners in place: drops those kept for listeners that
 * hear of deaths through one of these. */
void missed_hear(missed_t *missed);

/* The versions are back in their places: tell the listeners one after another, in batches as they are told of deaths
 * that happen. */
void missed_tell(const missed_t *missed, uint32_t batch);

void missed_forget_world(missed_t *missed, const struct world_t *world);
void missed_free(missed_t *missed);

#endif
