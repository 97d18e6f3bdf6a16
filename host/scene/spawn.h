/* spawn.h - a blob becomes entities of a world: all of it or nothing.
 *
 * In this order:
 *   1. every type finds its manager, every field of the manager its values (by name or former name, converted where the
 *      plugin has changed since), every value is checked against the declared range, every group finds its prototype;
 *   2. memory is taken for everything: runs, records, entities;
 *   3. all entities are created, and their rows appended; declared fields are copied column by column;
 *   4. managers with storage of their own create their instances, each for a whole part at once, smaller spawn_order
 *      first;
 *   5. when all entities exist, the fields of those managers that refer to entities are set, parents among them.
 * Up to 2 nothing in the world has changed. In 3 strings need memory, and in 4 and 5 a manager may refuse: then the
 * whole spawn is taken back.
 *
 * While managers are called the world holds its rows (WORLD_SPAWNING).
 *
 * Not here: opening files, lists of spawned entities (both scenes.h).
 */
#ifndef HOST_SCENE_SPAWN_H
#define HOST_SCENE_SPAWN_H

#include "../store/store.h"
#include "blob.h"

/* Spawn into a world; `entities` has room for all of the blob. `flags` are BP_SCENE_... `origin` is the blob's path,
 * for messages. Errors: NOT_FOUND, EXISTS or LIMIT where a component cannot be had, RANGE, TYPE, MEMORY, STATE in a
 * step, or the error of a manager. [main] */
bp_result_t spawn_blob(world_t *world, const blob_t *blob, const char *origin, uint32_t flags, bp_entity_t *entities);

/* The same where `given` of the entities live already, in other worlds: those that are not {0} when it is called. A
 * failure leaves these alive, and the array is of no use afterwards. What belongs to the world itself is spawned beside
 * what it has, onto the entity *own, {0} where the blob has none: own_replace or own_discard (store/own.h) has to
 * follow. [main] */
bp_result_t spawn_blob_onto(world_t *world, const blob_t *blob, const char *origin, uint32_t flags,
                            bp_entity_t *entities, uint32_t given, bp_entity_t *own);

/* Can all of 1 be done? What may fail later is not tried: memory, and managers that refuse. Nothing is logged. Without
 * `rows` only components and values are looked at, and nothing in the world has changed; with `rows` also what rows
 * need, and prototypes are made. Errors: as spawn_blob. [main] */
bp_result_t spawn_check(world_t *world, const blob_t *blob, const char *origin, uint32_t flags, bool rows);

#endif
