/* own.h - what belongs to a world and to none of its entities.
 *
 * A component with BP_COMPONENT_WORLD has one instance in a world, made when the world begins to use it and ended when
 * the world drops it. All of them are borne by one entity, world_t.own, whose rows are rows as any others: so
 * properties, references, stamps, reloads, snapshots and saves need nothing that is theirs alone. What is different is
 * who may change it: nobody but the functions here makes, destroys or changes that entity.
 *
 * Invariants
 *   - world_t.own is {0} just when the world has no component of its own;
 *   - its prototype has KEY_WORLD, no other entity's has, and none has keys of both kinds;
 *   - entities_t.owned counts the worlds of the host that have one.
 *
 * Not here: how units get at the columns (step/unit.c).
 */
#ifndef HOST_STORE_OWN_H
#define HOST_STORE_OWN_H

#include "world.h"

/* Give a world the instance of a manager that it has just got; nothing where the manager's component belongs to
 * entities. Errors: memory, limit; nothing has changed then. [main] */
bp_result_t own_bring(world_t *world, const manager_t *manager);

/* The components of a manager have been taken out of the world: end the entity where it has nothing left. [main] */
void own_settle(world_t *world);

/* Does an entity bear what belongs to a world? Looks only at worlds in which the entity or one of its neighbours is, or
 * has been. */
bool own_is(const entities_t *entities, bp_entity_t e);

/* Find the entity again among rows that have come from elsewhere: a snapshot. [main] */
void own_find(world_t *world);

/* End the entity, for a world that ends. Its row is left to the world. [main] */
void own_end(world_t *world);

/* Put the values of a new row of components of the world in place of those that world_t.own has, and end the entity of
 * that row; its prototype has none that the world lacks. Cannot fail. [main] */
void own_replace(world_t *world, bp_entity_t with);

/* End the entity of such a row, and leave what world_t.own has as it is. Cannot fail. [main] */
void own_discard(world_t *world, bp_entity_t row);

#endif
