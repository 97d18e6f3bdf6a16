/* property_cells.h - what the files of property/ share: where the cell of a declared property is, and whether a value may be
 * copied into it as it is.
 *
 * What it does not do: it is not for other rooms, which read property.h.
 */
#ifndef HOST_PROPERTY_PROPERTY_CELLS_H
#define HOST_PROPERTY_PROPERTY_CELLS_H

#include "../base/compiler.h"
#include "property.h"

/* In bp_property_t.flags: what keeps a get or a set from being a plain copy. */
#define OWN_STORAGE 0x80000000u
#define LIMITED 0x40000000u
#define COUNTED 0x20000000u /* strings */

/* The column of a declared property in a prototype; false where it is absent. */
static inline bool find_column(const bp_world_o *world, bp_property_t *p, uint32_t prototype)
{
    if (p->prototype == prototype)
        return true;
    uint32_t column = prototypes_column(&world->prototypes, prototype, p->key);
    if (column == 0)
        return false;
    p->prototype = prototype;
    p->run = world_run(world, prototype);
    p->column = column + p->field;
    return true;
}

static inline void *find_cell(const bp_world_o *world, bp_property_t *p, bp_entity_t e)
{
    const record_t *record = world_record(world, e);
    if (record == NULL || !find_column(world, p, record->prototype))
        return NULL;
    return run_cell(p->run, p->column, record->row);
}

/* The field as it is declared now. */
static inline const field_t *declaration(const bp_property_t *p)
{
    return ((const known_field_t *)p->declared)->field;
}

/* A quick yes for a scalar within its limits; everything else takes the thorough way. */
static inline bool field_inside(const field_t *field, const void *value)
{
    float number;
    if (field->type != BP_F32)
        return false;
    memcpy(&number, value, sizeof number);
    return number >= field->min_f32 && number <= field->max_f32;
}

/* Is setting this value, of a property whose cell was found, no more than a copy? False where that is not known at once, and in a
 * world that is sealed. */
static inline bool may_copy(const bp_world_o *world, const bp_property_t *p, const void *value)
{
    if (world->sealed || (p->flags & (OWN_STORAGE | COUNTED | BP_FIELD_READ_ONLY)) != 0)
        return false;
    return (p->flags & LIMITED) == 0 || field_inside(declaration(p), value);
}

#endif
