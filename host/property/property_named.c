/* property_named.c - properties by two names, in one call.
 *
 * A pair of names is resolved once and then found again by one of two doors (world.h): by the addresses of the texts, since
 * most callers pass the same literals again, or by their hashes. What lies at an address may have changed, so the texts are
 * compared in any case. An entry is good for an entity that has the component by that name in the same place as the one it
 * was resolved for, which is one look at the entity's record; where it has not, the names are resolved anew.
 */
#include "property_cells.h"

static bool same_texts(const property_entry_t *entry, const char *component, const char *property)
{
    return strcmp(entry->component_text, component) == 0 && strcmp(entry->property_text, property) == 0;
}

static property_recent_t *recent_place(property_cache_t *cache, const char *component, const char *property)
{
    return &cache->recent[((uintptr_t)component ^ (uintptr_t)property >> 3) & (PROPERTY_RECENT - 1)];
}

/* Resolve through the hashes of the texts, and leave the result where it will be found next time. */
static property_entry_t *resolve_texts(bp_world_o *world, bp_entity_t entity, const char *component, const char *property,
                                       bp_result_t *result)
{
    bp_name_t c = names_hash(component), f = names_hash(property);
    property_entry_t *entry = &world->properties->entries[(c ^ f >> 7) & (PROPERTY_ENTRIES - 1)];
    if (entry->component != c || entry->property != f || bp_property_cell(world, &entry->resolved, entity) == NULL) {
        bp_property_t fresh;
        *result = entity.id == 0 ? entities_dead_error(world->entities, entity)
                                 : property_resolve(world, entity, component, property, &fresh);
        if (*result != BP_OK)
            return NULL;
        *entry = (property_entry_t){.component = c, .property = f, .resolved = fresh};
        if ((fresh.flags & OWN_STORAGE) == 0)
            find_cell(world, &entry->resolved, entity);
    }
    if (strlen(component) < PROPERTY_TEXT && strlen(property) < PROPERTY_TEXT) {
        memcpy(entry->component_text, component, strlen(component) + 1);
        memcpy(entry->property_text, property, strlen(property) + 1);
        *recent_place(world->properties, component, property) = (property_recent_t){component, property, entry};
    }
    return entry;
}

/* The property of a pair of names that was used lately, with the entity's cell; or NULL. */
static inline property_entry_t *find_recent(const bp_world_o *world, bp_entity_t entity, const char *component,
                                            const char *property, const void **cell)
{
    if (world->properties == NULL)
        return NULL;
    const property_recent_t *recent = recent_place(world->properties, component, property);
    if (recent->component != component || recent->property != property || !same_texts(recent->entry, component, property))
        return NULL;
    *cell = bp_property_cell(world, &recent->entry->resolved, entity);
    return *cell == NULL ? NULL : recent->entry;
}

/* The property of a pair of names, good for this entity, or NULL with `result`. */
NOT_INLINED static property_entry_t *resolve_named(bp_world_o *world, bp_entity_t entity, const char *component,
                                                   const char *property, uint32_t type, bp_result_t *result)
{
    const void *cell;
    if (world->properties == NULL)
        world->properties = memory_new(&world->memory, sizeof *world->properties);
    if (world->properties == NULL) {
        *result = error_memory(&world->base->error, "resolving a property");
        return NULL;
    }
    property_entry_t *entry = find_recent(world, entity, component, property, &cell);
    if (entry == NULL)
        entry = resolve_texts(world, entity, component, property, result);
    if (entry == NULL || entry->resolved.type == type)
        return entry;
    *result = error_set(&world->base->error, BP_ERROR_TYPE, "property '%s' is a %s, not a %s", property,
                        value_type_name(entry->resolved.type), value_type_name(type));
    return NULL;
}

bp_result_t property_get_named(bp_world_o *world, bp_entity_t entity, const char *component, const char *property, uint32_t type,
                               void *value)
{
    bp_result_t result = BP_OK;
    const void *cell;
    property_entry_t *entry = find_recent(world, entity, component, property, &cell);
    if (entry != NULL && entry->resolved.type == type) {
        value_copy(value, cell, entry->resolved.size);
        return BP_OK;
    }
    entry = resolve_named(world, entity, component, property, type, &result);
    return entry == NULL ? result : property_get(world, &entry->resolved, &entity, 1, value, entry->resolved.size);
}

bp_result_t property_set_named(bp_world_o *world, bp_entity_t entity, const char *component, const char *property, uint32_t type,
                               const void *value)
{
    bp_result_t result = BP_OK;
    const void *cell;
    property_entry_t *entry = find_recent(world, entity, component, property, &cell);
    if (entry != NULL && entry->resolved.type == type && may_copy(world, &entry->resolved, value)) {
        value_copy((void *)(uintptr_t)cell, value, entry->resolved.size);
        return BP_OK;
    }
    entry = resolve_named(world, entity, component, property, type, &result);
    return entry == NULL ? result : property_set(world, &entry->resolved, &entity, 1, value, entry->resolved.size);
}
