/* batches.h - the cells of a declared property: of one entity, and of many at a time.
 *
 * Not here: checks of values, elements, managers with storage of their own (property.c sees to these before it calls).
 * Other rooms include property.h, not this header.
 */
#ifndef HOST_PROPERTY_BATCHES_H
#define HOST_PROPERTY_BATCHES_H

#include "../store/store.h"

/* A column of a run, and the prototype for which it was found; BP_NONE: none yet. */
typedef struct column_t {
    run_t *run;
    uint32_t number;
    uint32_t prototype;
} column_t;

/* The column of a declared property in a prototype, which becomes the one that the property met last; false where it is
 * absent. `column` keeps what was found from call to call. */
static inline bool find_column(const world_t *world, bp_property_t *p, uint32_t prototype, column_t *column)
{
    if (column->prototype == prototype)
        return true;
    uint32_t first = prototypes_column(&world->prototypes, prototype, p->key);
    if (first == 0)
        return false;
    *column = (column_t){world_run(world, prototype), first + p->field, prototype};
    p->host.found.prototype = prototype;
    p->host.found.run = column->run;
    p->host.found.column = column->number;
    return true;
}

static inline void *find_cell(const world_t *world, bp_property_t *p, bp_entity_t e)
{
    const record_t *record = world_record(world, e);
    column_t column = {.prototype = BP_NONE};
    if (record == NULL || !find_column(world, p, record->prototype, &column))
        return NULL;
    return run_cell(column.run, column.number, record->row);
}

/* The sentence about an entity that has no component of that name, and the code for it; about one that lacks the
 * component of a property, or is dead. */
bp_result_t property_no_component(world_t *world, bp_entity_t entity, const char *component);
bp_result_t property_absent(world_t *world, const bp_property_t *property, bp_entity_t entity);

/* The same about a component with storage of its own that has no verb `set`. */
bp_result_t property_unsettable(world_t *world, const component_t *component);

/* As bp_property_api.get. [job] */
bp_result_t batches_get(world_t *world, bp_property_t *property, const bp_entity_t *entities, uint32_t count,
                        char *values, size_t stride);

/* Copy values into the cells of all the entities, or of none where one lacks the property. [main] */
bp_result_t batches_set(world_t *world, bp_property_t *property, const bp_entity_t *entities, uint32_t count,
                        const char *values, size_t stride);

/* Do all the entities have the property? [main] */
bp_result_t batches_check(world_t *world, bp_property_t *property, const bp_entity_t *entities, uint32_t count);

#endif
