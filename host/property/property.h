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
} property_cache_t;

void property_cache_free(property_cache_t *cache);

/* As the entries of bp_property_api with the same names. */
bp_result_t property_resolve(world_t *world, bp_entity_t entity, const char *component, const char *property,
                             bp_property_t *resolved);
bp_result_t property_get(world_t *world, bp_property_t *property, const bp_entity_t *entities, uint32_t count,
                         void *values, size_t stride);
bp_result_t property_set(world_t *world, bp_property_t *property, const bp_entity_t *entities, uint32_t count,
                         const void *values, size_t stride);

/* Bring a property that was resolved before a reload up to date; any other property costs a comparison. Errors where
 * its field or component has gone, or has values of another type or number. Until then property_field may be NULL.
 * [main] */
bp_result_t property_refresh(world_t *world, bp_property_t *property);

/* The field as it is declared now. */
static inline const field_t *property_field(const bp_property_t *property)
{
    return ((const known_field_t *)property->host.found.declared)->field;
}

bp_result_t property_get_named(property_cache_t *cache, bp_entity_t entity, const char *component, const char *property,
                               uint32_t type, void *value);
bp_result_t property_set_named(property_cache_t *cache, bp_entity_t entity, const char *component, const char *property,
                               uint32_t type, const void *value);

#endif
