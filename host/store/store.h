/* store.h - changes of rows: creation in bulk, adding and removing components, death, collection; and look-up.
 *
 * All verbs take batches and are all or nothing: a batch is checked, and all memory for it taken, before the first
 * row moves. Row moves work column by column over blocks of rows, so the cost of finding the transition is paid once
 * for many rows that take the same one.
 *
 * Not here: values (property/), order of steps (step/).
 */
#ifndef HOST_STORE_STORE_H
#define HOST_STORE_STORE_H

#include "world.h"

/* As the entries of bp_world_api with the same names. [main] */
bp_result_t store_prototype(world_t *world, const uint32_t *keys, uint32_t count, uint32_t *prototype);
bp_result_t store_create(world_t *world, uint32_t prototype, bp_entity_t *entities, uint32_t count);
bp_result_t store_add(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count);
bp_result_t store_remove(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count);

/* Add, or remove, a component of those entities of a batch that store_add, or store_remove, would take, each once: the
 * dead, those that have the component already (or lack it) and second mentions are passed over. The array is used as
 * working space: it has the same entities afterwards, in another order. Errors: as those verbs'. [main] */
bp_result_t store_change_wanted(world_t *world, uint32_t key, bool adding, bp_entity_t *entities, uint32_t count);

uint32_t store_has(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count, uint8_t *has);
uint32_t store_slots(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count, uint32_t *slots);
uint32_t store_keys_of(world_t *world, bp_entity_t entity, uint32_t *keys, uint32_t capacity);
bp_entity_t store_next(const world_t *world, uint32_t *index);
void store_instances_moved(world_t *world, manager_t *manager, const bp_entity_t *entities,
                           const bp_name_t *names, const uint32_t *slots, uint32_t count);
void *store_ref(world_t *world, bp_ref_t *ref);

/* The same for writing: the cell counts as written. NULL also in a world that is sealed. [main] */
void *store_ref_write(world_t *world, bp_ref_t *ref);

/* The error of moving rows, or of changing anything, in a world that holds its rows; the sentence says why. */
bp_result_t store_refuse_held(world_t *world);

/* End instances of a manager with its own storage; slots in any order, and sorted by it. [main] */
void store_destroy_slots(world_t *world, manager_t *manager, uint32_t *slots, uint32_t count);

/* The fields of the columns of a prototype but for the entities', in `fields`, which has room for them. [main] */
void store_fields(const world_t *world, const prototypes_t *prototypes, uint32_t prototype, const field_t **fields);

/* Rows that a spawn adds: `count` entities of one prototype, in consecutive rows. */
typedef struct store_batch_t {
    uint32_t prototype;
    uint32_t count;
    uint32_t first_row; /* set by store_append; the rows stay there while nothing moves */
} store_batch_t;

/* Take all memory that appending the batches needs, `total` new entities among them all. [main] */
bp_result_t store_prepare_append(world_t *world, const store_batch_t *batches, uint32_t count, uint32_t total);

/* Records for entities that live already, and are appended too; {0} is passed over. False when out of memory. [main] */
bool store_reserve_living(world_t *world, const bp_entity_t *entities, uint32_t count);

/* Create entities through the world, without components: of the world's own indices where its host has several worlds.
 * Errors: memory, limit; none after store_prepare_append. [main] */
bp_result_t store_make_entities(world_t *world, bp_entity_t *out, uint32_t count);

/* Append the rows of entities that have just been created, to a batch that was prepared. The cells are undefined,
 * strings among them: the caller must fill all of them. Cannot fail. [main] */
void store_append(world_t *world, store_batch_t *batch, const bp_entity_t *entities);

/* Take appended rows, all columns filled, away again; the batch appended last first. Own storage is not told. [main] */
void store_retract(world_t *world, const store_batch_t *batch, const bp_entity_t *entities);

/* Take all components of this world away from living entities; their managers are told, those that collect lazily too.
 * Cannot fail: rows become holes. [main] */
void store_vacate(world_t *world, const bp_entity_t *entities, uint32_t count);

/* Entities that have just died: call `destroy` of managers that are told at once, and leave holes. Cannot fail.
 * [main] */
void store_forget(world_t *world, const bp_entity_t *entities, uint32_t count);

/* Collect holes and instances of the dead: one round of the lazy kind, or all there are. Returns the rows
 * collected. [main] */
uint32_t store_collect(world_t *world);
uint32_t store_collect_all(world_t *world);

/* Look at some pages of records whether they can be given back. A world with subscriptions does so after all notices
 * have been told, since an entity's page also has the place of the notice about it; any other world in store_collect.
 * [main] */
void store_tend_records(world_t *world);

/* Take all memory that is needed to take the components of a plugin's managers away, the last manager first, or of one
 * of them alone (`only`; NULL: all): store_strip of each then cannot fail, unless something changes in between.
 * [main] */
bp_result_t store_prepare_strip(world_t *world, const plugin_t *owner, const manager_t *only);

/* Take a manager's components away from all entities, living or dead; its own storage is not called. [main] */
bp_result_t store_strip(world_t *world, uint32_t manager);

#endif
