/* save.h - a world becomes a blob that spawns it again, equal in every property.
 *
 * Saved are every entity with components in the world, grouped as the store has them (holes are passed over); every
 * declared field, read only or not; of managers with storage of their own every property that can be set, or, where
 * nothing can be set but the manager compiles, the bytes that it compiles of its properties. References to entities
 * become their numbers in the blob: references to living entities without a component in this world too, which are
 * saved as entities without components; references to dead entities become "none". The clock is saved as well.
 *
 * Not saved are derived properties (read only, of managers with storage of their own), random numbers of gc, the order
 * of a run's rows among its holes, and the components of the same entities in other worlds.
 *
 * The world is not changed.
 *
 * Not here: writing files.
 */
#ifndef HOST_SCENE_SAVE_H
#define HOST_SCENE_SAVE_H

#include "../step/schedule.h"

/* The blob is a block from `memory`, the caller's. Errors: MEMORY, LIMIT, or the error of a manager. [main] */
bp_result_t save_world(world_t *world, const world_clock_t *clock, memory_t *memory, void **bytes, size_t *size);

/* The same, and the entities in the order of their numbers: a list from `memory`, with room for *entity_count + 1.
 * [main] */
bp_result_t save_world_listed(world_t *world, const world_clock_t *clock, memory_t *memory, void **bytes, size_t *size,
                              bp_entity_t **entities, uint32_t *entity_count);

#endif
