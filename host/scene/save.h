/* save.h - a world becomes a blob that spawns it again, equal in every property.
 *
 * What is saved: every entity with components in the world, grouped as the store has them (holes are passed over);
 * every declared field, read only or not; of managers with storage of their own every property that can be set, or,
 * where nothing can be set but the manager compiles, what it compiles of its properties. References to entities become
 * their numbers in the blob: those of living entities that have no component in this world too, which come along as
 * entities without components; those of dead ones become "none". The clock.
 *
 * What is not: derived properties (read only, of managers with storage of their own), random numbers of gc, the order
 * of a run's rows among its holes, and what other worlds hold of the same entities.
 *
 * What it does not do: it writes no file, and it changes nothing in the world.
 */
#ifndef HOST_SCENE_SAVE_H
#define HOST_SCENE_SAVE_H

#include "../step/schedule.h"

/* The blob is a block from `memory`, the caller's. Errors: MEMORY, LIMIT, or what a manager said. [main] */
bp_result_t save_world(world_t *world, const world_clock_t *clock, memory_t *memory, void **bytes, size_t *size);

#endif
