/* hooks.h - components that are told of their rows: of those that come, go, and are set (bp_rows_i).
 *
 * Rows that may be refused are made aside: in a run that no world knows, with the columns of one component alone. There
 * the component may write any value. If the component accepts the rows, their values are moved to the real rows; if it
 * refuses, they are freed, and the world is as before. So no change of a world has to be undone, and a batch is one
 * call, wherever its rows lie.
 *
 * Rows that go are told where they lie, one call for each stretch of consecutive ones, while their values are still
 * there.
 *
 * While a component is told, rows of its world stay where they are, and no entity dies (entities_t.told).
 *
 * While the component's plugin is set aside, rows that go are copied, and the component is told of the copies as soon
 * as a sound version has the state: the version before, brought back, or the next one. Rows whose telling has crashed
 * the plugin are among them, since how far that call came is not known.
 *
 * Not here: making and removing rows; the code that does so calls these functions.
 */
#ifndef HOST_STORE_HOOKS_H
#define HOST_STORE_HOOKS_H

#include "world.h"

static inline bool hooks_any(const component_t *component)
{
    return component->rows.rows_added != NULL || component->rows.rows_removed != NULL ||
           component->rows.rows_set != NULL;
}

/* New rows of `key` for entities that are about to come to `prototype` (BP_NONE: to several), with defaults, told. On
 * failure there is none. [main] */
bp_result_t hooks_make(world_t *world, uint32_t key, uint32_t prototype, const bp_entity_t *entities, uint32_t count,
                       run_t **rows);

/* Give the values of rows made aside to their entities, which have the component by now. NULL is allowed. [main] */
void hooks_put(world_t *world, uint32_t key, run_t *rows);

/* Free rows made aside that are not used, after telling the component that they go. NULL is allowed. [main] */
void hooks_take_back(world_t *world, uint32_t key, run_t *rows);

/* The same for all keys of a prototype that have components with bp_rows: `made` has room for `count` of hooks_count.
   [main] */
uint32_t hooks_count(const world_t *world, uint32_t prototype);
bp_result_t hooks_make_all(world_t *world, uint32_t prototype, const bp_entity_t *entities, uint32_t count,
                           run_t **made);
void hooks_put_all(world_t *world, uint32_t prototype, run_t **made);
void hooks_take_back_all(world_t *world, uint32_t prototype, run_t **made);

/* Consecutive rows of a run that have come, with the values that they have, where they can still be dropped. [main] */
bp_result_t hooks_added(world_t *world, uint32_t key, run_t *run, uint32_t row, uint32_t count);

/* Consecutive rows of a run are about to go. Fields that the component makes again have their defaults afterwards: the
 * row of an entity that dies may stay for a while, and such a field does not come back there when a host goes back.
 * [main] */
void hooks_removed(world_t *world, uint32_t key, run_t *run, uint32_t row, uint32_t count);

/* Tell a component of the rows that went while its plugin was set aside, if that is sound now. Between steps. [main] */
void hooks_tell_untold(world_t *world, manager_t *manager);
void hooks_forget_untold(world_t *world, manager_t *manager);

/* The components `key`, or BP_NONE: all of that manager, of entities are about to go; entities that lack them are
   passed over. [main] */
void hooks_leave(world_t *world, const manager_t *manager, uint32_t key, const bp_entity_t *entities, uint32_t count);

/* Set field p->field of entities, which have the component; values have been checked, single elements too. All or
   nothing. [main] */
bp_result_t hooks_set(world_t *world, const bp_property_t *p, const field_t *field, const bp_entity_t *entities,
                      uint32_t count, const char *values, size_t stride);

/* A component as it is now, or as it will be: its rows in one run. */
typedef struct hooked_rows_t {
    manager_t *manager;
    const component_t *component;
    const field_t *const *fields;
    uint32_t field_count;
    uint32_t key;
    const run_t *run;      /* entities */
    void *const *columns;  /* row 0 of each field */
} hooked_rows_t;

/* Tell a component with a new state of all living rows of a run. Of what the component writes only fields that are
 * rebuilt stay. Errors: the component's own, memory; nothing has changed then. [main] */
bp_result_t hooks_rebuild(world_t *world, const hooked_rows_t *rows);

/* The same for all rows of a manager, in the runs of its world. [main] */
bp_result_t hooks_rebuild_all(world_t *world, manager_t *manager);

#endif
