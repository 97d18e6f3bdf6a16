/* destruction.h - the death of entities: in every world, and announcing it to listeners.
 *
 * A batch dies in this order: the entities stop being alive; the listeners that asked for deaths by a component or a
 * field pick theirs from the batch (deaths.h); each world calls `destroy` of the managers without lazy collection and
 * leaves holes in its runs; then the batch is announced to all that have the extension "bp_deaths": world by world
 * managers in the order in which they came, and systems in the order of the step; then plugins that ask themselves, in
 * the order in which they were loaded. Callbacks of embedders come last, in order of registration.
 *
 * Callbacks may destroy and create. Entities that callbacks destroy die at once, but are announced only when the
 * present batch has been announced to all: announcements never nest. While a world steps, a destruction waits for the
 * step's end.
 *
 * Batches are copied, since a caller's array may be the very column that changes; long ones are announced in parts of
 * DESTRUCTION_BATCH.
 *
 * No function address of a plugin is kept here: managers and systems are reached through their slots, so that they are
 * swept with their plugin and go on with its next version. An embedder's callback carries its owner, by which it is
 * dropped.
 *
 * While a change is on probation, what dies is also kept for the versions that may come back (missed.h).
 *
 * Not here: the table of living entities (entities.h).
 */
#ifndef HOST_STORE_DESTRUCTION_H
#define HOST_STORE_DESTRUCTION_H

#include "missed.h"
#include "world.h"

enum { DESTRUCTION_BATCH = 2048 };

typedef struct destroyed_callback_t {
    const void *owner; /* NULL: dropped */
    bp_destroyed_callback callback;
    void *data;
} destroyed_callback_t;

/* A plugin that asks for deaths by a component or a field, in one world. */
typedef struct plugin_listener_t {
    plugin_t *plugin;
    listener_t listener;
} plugin_listener_t;

typedef struct destruction_t {
    memory_t memory;
    base_t *base;
    entities_t *entities;
    world_t **worlds;  /* in order of creation; each has its place here as its number */
    bp_name_t *names;  /* hashes of their names, side by side: a name is found without a look at each world */
    uint32_t world_count, world_capacity, name_capacity;
    /* Find the `index`-th unit of a world's step: *listener is its listener, or NULL for a unit that does not listen.
     * Returns false past the last unit. A NULL function: worlds have no steps. */
    bool (*unit)(world_t *world, uint32_t index, listener_t **listener);
    const plugins_t *plugins; /* plugins that may ask for deaths themselves; without a host, an empty list */
    plugin_listener_t **plugin_listeners;
    uint32_t plugin_listener_count, plugin_listener_capacity;
    missed_t *missed;         /* listeners of versions that may come back; NULL: there are none */
    uint32_t asking;          /* plugins that ask for deaths, of whichever kind; one more where there are `missed` */
    listener_t **listeners; /* all other listeners; valid while the roster is `listened` */
    uint32_t listener_count, listener_capacity, listened;
    destroyed_callback_t *callbacks;
    uint32_t callback_count, callback_capacity;
    bp_entity_t *queue; /* dead, not yet announced */
    uint32_t queue_count, queue_capacity;
    bp_entity_t *waiting; /* to be destroyed at the end of the step */
    uint32_t waiting_count, waiting_capacity;
    uint32_t stepping; /* worlds in the middle of a step */
    bool announcing;
} destruction_t;

void destruction_init(destruction_t *destruction, base_t *base, entities_t *entities);
void destruction_free(destruction_t *destruction);

/* Worlds take part from their creation to their end. */
bp_result_t destruction_add_world(destruction_t *destruction, world_t *world);
void destruction_remove_world(destruction_t *destruction, const world_t *world);

/* The world of that name; NULL where there is none. [main] */
world_t *destruction_find_world(const destruction_t *destruction, const char *name);

/* Seal all worlds, so that no call changes a world and no entity is created or destroyed, while verbs of plugins are
 * called that must not change anything: `save`, or `load` of a second state. Precondition: no world is held. [main] */
void destruction_seal(destruction_t *destruction, bool sealed);

/* As bp_entity_api.destroy. [main] */
uint32_t destruction_destroy(destruction_t *destruction, const bp_entity_t *entities, uint32_t count);

/* Brackets around a step: in between, destructions wait. [main] */
void destruction_make_waiting(destruction_t *destruction);
static inline void destruction_begin_step(destruction_t *destruction)
{
    destruction->stepping++;
}
static inline void destruction_end_step(destruction_t *destruction)
{
    if (--destruction->stepping == 0 && destruction->waiting_count > 0)
        destruction_make_waiting(destruction);
}

/* Brackets around a part of a step in which no unit holds columns: in between, destructions are made at once; those
 * that waited before go on waiting. `resume` gets what `pause` returned. [main] */
uint32_t destruction_pause(destruction_t *destruction);
void destruction_resume(destruction_t *destruction, uint32_t stepping);

/* How the manager of a component that asks for deaths is told of them, and how a plugin is; the world is not set. */
listener_t destruction_manager_listener(manager_t *manager);
listener_t destruction_plugin_listener(plugin_t *plugin);

/* From now on keep what dies for these listeners; NULL: for none. [main] */
void destruction_set_missed(destruction_t *destruction, missed_t *missed);

/* Tell listeners, for which nothing is kept any more, of what has been kept, as of deaths that happen now. Between
 * steps, outside callbacks. [main] */
void destruction_tell_missed(destruction_t *destruction, const missed_t *missed);

/* Tell listeners whose plugin is sound again of the deaths that were held for them meanwhile (deaths.h), as of deaths
 * that happen now: between steps, outside callbacks. Forget those of the plugin itself. [main] */
void destruction_tell_held(destruction_t *destruction);
void destruction_forget_held(destruction_t *destruction, const plugin_t *plugin);

/* As bp_host_on_destroyed and bp_host_drop_owner. [main] */
bp_result_t destruction_add_callback(destruction_t *destruction, const void *owner, bp_destroyed_callback callback,
                                     void *data);
void destruction_drop_owner(destruction_t *destruction, const void *owner);

#endif
