/* missed.h - deaths that a version of a plugin does not hear of, since another one is in its place, and that it is told
 * of where it comes back.
 *
 * On probation (reload/) each listener of the former version has a place here, with that version's request. What dies
 * is kept for it as for any other listener (deaths.h), and told when the version is back in its place. What the request
 * means is looked up in the world as it is meanwhile: where a component, or a field of it, is not there, nothing is
 * kept.
 *
 * A listener whose state the new version has taken over hears of deaths *through* that version. What is kept for it is
 * dropped as soon as all have been told, unless that version has crashed: then its verbs are not called any more, and
 * nobody has told the state.
 *
 * Where memory for an entity is lacking, the listener is not told of it, and the log says so.
 *
 * Not here: when a version goes and comes back (reload/), and the order of telling (destruction.h).
 */
#ifndef HOST_STORE_MISSED_H
#define HOST_STORE_MISSED_H

#include "deaths.h"

typedef struct missed_listener_t {
    listener_t listener;     /* its request is that of the version that is out of its place. No world: of a plugin that
                                asks for all deaths; or that asks in each world, and has a listener for each behind
                                this one */
    const deaths_t *back;    /* the request once the version is back */
    const plugin_t *through; /* the plugin whose version in place hears of deaths for this one's state; or NULL */
} missed_listener_t;

typedef struct missed_t {
    base_t *base;
    missed_listener_t *items; /* in the order in which they are told */
    uint32_t count, capacity;
} missed_t;

/* Add a listener of a version that is in its place still: of a manager or a unit of `world`, or, with no world, of a
 * plugin. The request will be at `out` while the version is not in its place. False when out of memory. */
bool missed_add(missed_t *missed, const listener_t *listener, struct world_t *world, const deaths_t *out,
                const plugin_t *through);

/* Find what the requests mean in these worlds; worlds that have come since are looked at too. False where memory for
 * that is lacking. */
bool missed_find(missed_t *missed, struct world_t *const *worlds, uint32_t count);

/* As deaths_gather, for all listeners. */
void missed_gather(missed_t *missed, const bp_entity_t *dead, uint32_t count);

/* All that has been gathered has been told to those in place. */
void missed_hear(missed_t *missed);

/* The versions are back in their places: tell the listeners one after another, in batches as they are told of deaths
 * that happen. */
void missed_tell(const missed_t *missed, uint32_t batch);

void missed_forget_world(missed_t *missed, const struct world_t *world);
void missed_free(missed_t *missed);

#endif
