/* own.h - components that belong to a world and to none of its entities.
 *
 * A component with BP_COMPONENT_WORLD has one instance in a world, made when the world begins to use it and ended when
 * the world drops it. One entity, world_t.own, has all of them, in rows like those of any other entity: so properties,
 * references, stamps, reloads, snapshots and saves need no code of their own for them. The difference: only the
 * functions here make, destroy or change that entity.
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

/* The components of a manager have been taken out of the world: end the entity where it has no component left.
 * [main] */
void own_settle(world_t *world);

/* Is an entity the world_t.own of a world? Looks only at worlds that have a page of records for its index. */
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
