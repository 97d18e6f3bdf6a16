/* property.h - get and set any property by name, by resolved key, and by column.
 *
 * A declared field is a property; a property of a component with storage of its own is served by its manager. Names
 * are resolved against what the world has: the instance name of a component ("body") finds its key, the key its
 * manager, the manager its fields.
 *
 * Three speeds: by two names (hash both, one probe of a cache in front of the look-up), by a resolved key that
 * remembers the prototype it met last, and by column, where stretches of entities that lie in a row are copied whole.
 *
 * Not here: paths with world and entity (path.h).
 */
#ifndef HOST_PROPERTY_PROPERTY_H
#define HOST_PROPERTY_PROPERTY_H

#include "../store/store.h"

/* Pairs of names of a world that were resolved before. The table is made when a property is first named. */
typedef struct property_cache_t {
    world_t *world;
    struct property_table_t *table;
    const struct property_recent_t *recent; /* of the table; before it is made an empty one, never NULL */
} property_cache_t;

void property_cache_init(property_cache_t *cache, world_t *world);
void property_cache_free(property_cache_t *cache);

#if defined(BACKPLANE_AUDIT)
/* Forget the addresses of names. These addresses are only compared, never read; but the audit, which searches memory
 * for addresses into an unloaded image, would report them. */
void property_cache_forget(property_cache_t *cache);
#endif

/* As the entries of bp_property_api with the same names. */
bp_result_t property_resolve(world_t *world, bp_entity_t entity, const char *component, const char *property,
                             bp_property_t *resolved);

/* Bring a property that was resolved before a reload up to date; any other property costs a comparison. Errors where
 * its field or component has gone, or has values of another type or number. Until then property_field may be NULL.
 * [main] */
bp_result_t property_refresh(world_t *world, bp_property_t *property);

/* The field as it is declared now. */
static inline const field_t *property_field(const bp_property_t *property)
{
    return ((const known_field_t *)property->host.found.declared)->field;
}

/* --- one value of four bytes -------------------------------------------------------------------------------------- */

/* In bp_property_t.flags: a single f32 with limits; and all bits that make setting a value more than a copy: those of
 * property.c, of world_t.care, and of base_t.attention. */
#define PROPERTY_LIMITED 0x40000000u
#define PROPERTY_SLOW (0xa0000000u | WORLD_SEALED | WORLD_STAMPED | BASE_REMEMBERED | BASE_ASKED)

/* Where look-ups of a property note the address of its column: a number of spots.h. The contract has no name for this
 * member. */
#define PROPERTY_NUMBER(p) ((p)->padding)

/* The record of a living entity with components, and its prototype, for a property that is up to date; else NULL. Two
 * members that lie side by side are read as one word: calls under way at a time are as many as their loads have places
 * for in the processor. */
static inline const record_t *property_record(const world_t *world, const bp_property_t *p, bp_entity_t e,
                                              uint32_t *prototype)
{
    uint64_t head; /* generation and prototype */
    uint32_t index = bp_entity_index(e), page = index / ENTITIES_PAGE - world->first_page;
    if (page >= world->page_count || p->host.found.layout != world->layout)
        return NULL;
    const record_t *record = &world->pages[page][index % ENTITIES_PAGE];
    memcpy(&head, record, sizeof head);
    *prototype = (uint32_t)(head >> 32);
    return (uint32_t)head == bp_entity_generation(e) ? record : NULL;
}

BP_STATIC_ASSERT(offsetof(record_t, generation) == 0 && offsetof(record_t, prototype) == 4,
                 "generation and prototype are one word");

/* The cell in an entity of the prototype met last. `run` is a run or a spot: both begin with the address of columns. */
static inline void *property_known_cell(const bp_property_t *p, const record_t *record, size_t size)
{
    const bp_inline_found_t *found = &p->host.found;
    return (char *)((const bp_run_head_t *)found->run)->columns[found->column] + record->row * size;
}

/* The cell in an entity of another prototype than the one met last, which becomes the one met last. NULL where the
 * world does not know the spot: then nothing has changed.
 *
 * Where calls go through the entities of many prototypes in turn, each prototype's records and cells are read in order,
 * but these are more streams than a processor follows by itself, so what comes next in both is fetched here. With fifty
 * prototypes of a million entities a value is then got by key in 6.2 ns instead of 17.6 (two cache lines ahead; one or
 * four take a little longer); random order takes as long as before. */
enum { PROPERTY_FETCH_AHEAD = 128 /* bytes */ };

static inline void *property_other_cell(const world_t *world, bp_property_t *p, const record_t *record,
                                        uint32_t prototype, size_t size)
{
    spot_t *spot = spots_at(&world->spots, PROPERTY_NUMBER(p), prototype);
    void *const *column = spot == NULL ? NULL : spot_known(spot);
    if (column == NULL)
        return NULL;
    uint64_t met = prototype; /* and column 0 */
    memcpy(&p->host.found.prototype, &met, sizeof met);
    p->host.found.run = spot;
    char *cell = (char *)*column + record->row * size;
    PREFETCH((const char *)record + PROPERTY_FETCH_AHEAD);
    PREFETCH(cell + PROPERTY_FETCH_AHEAD);
    return cell;
}

BP_STATIC_ASSERT(offsetof(bp_inline_found_t, column) == offsetof(bp_inline_found_t, prototype) + 4,
                 "prototype and column are one word");

/* Is setting this value no more than a copy, given the bits of `care`? Precondition: the property's cell was found.
 * False where the answer is not known at once. */
static inline bool property_may_copy(const bp_property_t *p, const void *value, uint32_t care)
{
    float number;
    uint32_t flags = p->flags | care;
    if ((flags & PROPERTY_SLOW) != 0)
        return false;
    if ((flags & PROPERTY_LIMITED) == 0)
        return true;
    const known_field_t *known = p->host.found.declared;
    memcpy(&number, value, sizeof number);
    return number >= known->min_f32 && number <= known->max_f32;
}

/* Of an entity of a prototype in which the world does not know the spot; its record is known. */
bp_result_t property_get_anew(world_t *world, bp_property_t *property, const bp_entity_t *entity,
                              const record_t *record, void *value);
bp_result_t property_set_anew(world_t *world, bp_property_t *property, const bp_entity_t *entity,
                              const record_t *record, const void *value);

/* Of any number of entities. */
bp_result_t property_get_any(world_t *world, bp_property_t *property, const bp_entity_t *entities, uint32_t count,
                             void *values, size_t stride);

/* As the entries of bp_property_api with the same names. A single value of four bytes, the usual size, is got and set
 * by code of its own, which callers have inline, so that it does not pay for what only other calls need. That code has
 * some forty instructions: the fewer there are, the more such calls a processor has under way at a time. */
static inline bp_result_t property_get(world_t *world, bp_property_t *property, const bp_entity_t *entities,
                                       uint32_t count, void *values, size_t stride)
{
    if (count != 1 || property->size != 4)
        return property_get_any(world, property, entities, count, values, stride);
    uint32_t prototype;
    const record_t *record = property_record(world, property, *entities, &prototype);
    if (record == NULL)
        return property_get_any(world, property, entities, 1, values, 4);
    const void *cell;
    if (prototype == property->host.found.prototype)
        cell = property_known_cell(property, record, 4);
    else if ((cell = property_other_cell(world, property, record, prototype, 4)) == NULL)
        return property_get_anew(world, property, entities, record, values);
    memcpy(values, cell, 4);
    return BP_OK;
}

/* Set one value of four bytes where that is no more than a copy. False where it is more: nothing has changed. */
static inline bool property_set_quickly(world_t *world, bp_property_t *p, const bp_entity_t *e, const void *value,
                                        bp_result_t *result)
{
    float number; /* or another value of four bytes */
    uint32_t prototype;
    void *cell;
    const record_t *record = property_record(world, p, *e, &prototype);
    memcpy(&number, value, sizeof number);
    if (record == NULL || !property_may_copy(p, &number, world->care | world->base->attention))
        return false;
    if (prototype == p->host.found.prototype)
        cell = property_known_cell(p, record, 4);
    else
        cell = property_other_cell(world, p, record, prototype, 4);
    if (cell == NULL)
        *result = property_set_anew(world, p, e, record, value);
    else
        memcpy(cell, &number, 4);
    return true;
}

bp_result_t property_set(world_t *world, bp_property_t *property, const bp_entity_t *entities, uint32_t count,
                         const void *values, size_t stride);

/* --- by two names ------------------------------------------------------------------------------------------------- */

bp_result_t property_get_named(property_cache_t *cache, bp_entity_t entity, const char *component, const char *property,
                               uint32_t type, void *value);
bp_result_t property_set_named(property_cache_t *cache, bp_entity_t entity, const char *component, const char *property,
                               uint32_t type, const void *value);

#endif
