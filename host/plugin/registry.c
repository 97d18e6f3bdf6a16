/* registry.c - finding slots, making new ones, and sweeping them.
 *
 * Slots are separate allocations behind arrays of pointers: an array may grow, a slot never moves.
 */
#include "registry.h"

#include "../base/text.h"

void registry_init(registry_t *registry, base_t *base)
{
    memset(registry, 0, sizeof *registry);
    memory_init_child(&registry->memory, "registry", &base->memory);
    registry->base = base;
}

/* --- slots, filled or not ------------------------------------------------------------------------------------------ */

static component_t *component_slot(const registry_t *registry, const char *name)
{
    for (uint32_t i = 0; i < registry->component_count; i++) {
        if (strcmp(registry->components[i]->name, name) == 0)
            return registry->components[i];
    }
    return NULL;
}

static system_t *system_slot(const registry_t *registry, const char *name)
{
    for (uint32_t i = 0; i < registry->system_count; i++) {
        if (strcmp(registry->systems[i]->name, name) == 0)
            return registry->systems[i];
    }
    return NULL;
}

static table_slot_t *table_slot(const registry_t *registry, const char *name)
{
    for (uint32_t i = 0; i < registry->table_count; i++) {
        if (strcmp(registry->tables[i]->name, name) == 0)
            return registry->tables[i];
    }
    return NULL;
}

static component_t *add_component(registry_t *registry, const char *name)
{
    if (!memory_reserve(&registry->memory, &registry->components, &registry->component_capacity, registry->component_count + 1u, sizeof *registry->components))
        return NULL;
    component_t *slot = component_new(&registry->memory, name);
    if (slot != NULL)
        registry->components[registry->component_count++] = slot;
    return slot;
}

static system_t *add_system(registry_t *registry, const char *name)
{
    if (!memory_reserve(&registry->memory, &registry->systems, &registry->system_capacity, registry->system_count + 1u, sizeof *registry->systems))
        return NULL;
    system_t *slot = system_new(&registry->memory, name);
    if (slot != NULL)
        registry->systems[registry->system_count++] = slot;
    return slot;
}

static table_slot_t *add_table(registry_t *registry, const char *name, uint32_t size)
{
    if (!memory_reserve(&registry->memory, &registry->tables, &registry->table_capacity, registry->table_count + 1u, sizeof *registry->tables))
        return NULL;
    table_slot_t *slot = table_slot_new(&registry->memory, name, size);
    if (slot != NULL)
        registry->tables[registry->table_count++] = slot;
    return slot;
}

bp_result_t registry_component_place(registry_t *registry, const plugin_t *owner, const char *name, component_t **slot)
{
    error_text_t *error = &registry->base->error;
    *slot = component_slot(registry, name);
    if (*slot != NULL && (*slot)->owner != NULL && (*slot)->owner != owner)
        return error_set(error, BP_ERROR_EXISTS, "plugin '%s' already brings a component of that name", (*slot)->owner->name);
    if (system_slot(registry, name) != NULL)
        return error_set(error, BP_ERROR_EXISTS, "a system has that name");
    if (*slot == NULL)
        *slot = add_component(registry, name);
    return *slot != NULL ? BP_OK : error_memory(error, "registering a component");
}

bp_result_t registry_system_place(registry_t *registry, const plugin_t *owner, const char *name, system_t **slot)
{
    error_text_t *error = &registry->base->error;
    *slot = system_slot(registry, name);
    if (*slot != NULL && (*slot)->owner != NULL && (*slot)->owner != owner)
        return error_set(error, BP_ERROR_EXISTS, "plugin '%s' already brings a system of that name", (*slot)->owner->name);
    if (component_slot(registry, name) != NULL)
        return error_set(error, BP_ERROR_EXISTS, "a component has that name");
    if (*slot == NULL)
        *slot = add_system(registry, name);
    return *slot != NULL ? BP_OK : error_memory(error, "registering a system");
}

bp_result_t registry_table_place(registry_t *registry, const plugin_t *owner, const char *name, uint32_t size, table_slot_t **slot)
{
    error_text_t *error = &registry->base->error;
    *slot = table_slot(registry, name);
    if (*slot != NULL && (*slot)->owner != NULL && (*slot)->owner != owner)
        return error_set(error, BP_ERROR_EXISTS, "plugin '%s' already offers a table '%s'", (*slot)->owner->name, name);
    if (*slot != NULL && (*slot)->size < size)
        return error_set(error, BP_ERROR_LIMIT, "table '%s' has grown to %u bytes; its slot holds %zu", name, size, (*slot)->size);
    if (*slot == NULL)
        *slot = add_table(registry, name, size);
    return *slot != NULL ? BP_OK : error_memory(error, "offering a table");
}

/* --- slots that somebody fills -------------------------------------------------------------------------------------- */

component_t *registry_component(registry_t *registry, const char *name)
{
    component_t *slot = component_slot(registry, name);
    if (slot != NULL && slot->owner != NULL)
        return slot;
    nearest_t nearest = {.wanted = name};
    text_t hint;
    for (uint32_t i = 0; i < registry->component_count; i++) {
        if (registry->components[i]->owner != NULL)
            nearest_consider(&nearest, registry->components[i]->name);
    }
    error_set(&registry->base->error, BP_ERROR_NOT_FOUND, "no loaded plugin brings a component '%s'%s", name,
              nearest_hint(&nearest, &hint));
    return NULL;
}

system_t *registry_system(registry_t *registry, const char *name)
{
    system_t *slot = system_slot(registry, name);
    if (slot != NULL && slot->owner != NULL)
        return slot;
    nearest_t nearest = {.wanted = name};
    text_t hint;
    for (uint32_t i = 0; i < registry->system_count; i++) {
        if (registry->systems[i]->owner != NULL)
            nearest_consider(&nearest, registry->systems[i]->name);
    }
    error_set(&registry->base->error, BP_ERROR_NOT_FOUND, "no loaded plugin brings a system '%s'%s", name,
              nearest_hint(&nearest, &hint));
    return NULL;
}

const void *registry_table(registry_t *registry, const char *name, uint32_t version)
{
    const table_slot_t *slot = table_slot(registry, name);
    if (slot != NULL && slot->promised != 0 && slot->promised >= version)
        return slot->table;
    return slot != NULL && slot->owner != NULL && slot->table[1] >= version ? slot->table : NULL;
}

plugin_t *registry_table_owner(const registry_t *registry, const char *name)
{
    const table_slot_t *slot = table_slot(registry, name);
    return slot == NULL ? NULL : slot->owner;
}

/* --- emptying --------------------------------------------------------------------------------------------------------- */

void registry_silence_tables(registry_t *registry, const plugin_t *owner)
{
    for (uint32_t i = 0; i < registry->table_count; i++) {
        if (registry->tables[i]->owner == owner)
            table_slot_silence(registry->tables[i]);
    }
}

void registry_sweep(registry_t *registry, const plugin_t *owner)
{
    for (uint32_t i = 0; i < registry->component_count; i++) {
        if (registry->components[i]->owner == owner)
            component_empty(registry->base, &registry->memory, registry->components[i]);
    }
    for (uint32_t i = 0; i < registry->system_count; i++) {
        if (registry->systems[i]->owner == owner)
            system_empty(&registry->memory, registry->systems[i]);
    }
    registry_silence_tables(registry, owner);
}

void registry_free(registry_t *registry)
{
    memory_t *memory = &registry->memory;
    for (uint32_t i = 0; i < registry->component_count; i++)
        component_free(registry->base, memory, registry->components[i]);
    for (uint32_t i = 0; i < registry->system_count; i++)
        system_free(memory, registry->systems[i]);
    for (uint32_t i = 0; i < registry->table_count; i++)
        table_slot_free(memory, registry->tables[i]);
    memory_free(memory, registry->components, registry->component_capacity * sizeof *registry->components);
    memory_free(memory, registry->systems, registry->system_capacity * sizeof *registry->systems);
    memory_free(memory, registry->tables, registry->table_capacity * sizeof *registry->tables);
}
