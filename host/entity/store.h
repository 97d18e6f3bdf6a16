/* store.h - what happens to rows: creation in bulk, adding and removing components, death, collection, look-up.
 *
 * All verbs take batches and are all or nothing: a batch is checked, and all memory for it taken, before the first
 * row moves. Row moves work column by column over blocks of rows, so the cost of finding out what to do is paid
 * once for many rows that go the same way.
 *
 * What it does not do: values (property/), order of steps (schedule/).
 */
#ifndef HOST_ENTITY_STORE_H
#define HOST_ENTITY_STORE_H

#include "world.h"

/* As the entries of bp_world_api with the same names. [main] */
bp_result_t store_prototype(bp_world_o *world, const uint32_t *keys, uint32_t count, uint32_t *prototype);
bp_result_t store_create(bp_world_o *world, uint32_t prototype, bp_entity_t *entities, uint32_t count);
bp_result_t store_add(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count);
bp_result_t store_remove(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count);
uint32_t store_has(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count, uint8_t *has);
uint32_t store_slots(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count, uint32_t *slots);
uint32_t store_keys_of(bp_world_o *world, bp_entity_t entity, uint32_t *keys, uint32_t capacity);
void store_instances_moved(bp_world_o *world, const manager_t *manager, const bp_entity_t *entities, const bp_name_t *names,
                           const uint32_t *slots, uint32_t count);
void *store_ref(bp_world_o *world, bp_ref_t *ref);

/* Entities that have just died: tell the managers that want to know at once, and leave holes. Cannot fail. [main] */
void store_forget(bp_world_o *world, const bp_entity_t *entities, uint32_t count);

/* Collect holes and instances of the dead: one round of the lazy kind, or all there are. Returns the rows
 * collected. [main] */
uint32_t store_collect(bp_world_o *world);
uint32_t store_collect_all(bp_world_o *world);

/* Take all memory that is needed to take the components of a plugin's managers away, the last manager first: store_strip
 * of each then cannot fail, unless something changes in between. [main] */
bp_result_t store_prepare_strip(bp_world_o *world, const plugin_t *owner);

/* Take a manager's components away from all entities, living or dead; its own storage is not called. [main] */
bp_result_t store_strip(bp_world_o *world, uint32_t manager);

#endif
