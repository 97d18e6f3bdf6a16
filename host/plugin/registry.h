/* registry.h - slots: what plugins have brought to a host, keyed by kind and name, each with its owner.
 *
 * A slot lives as long as the registry, at one address. Everyone who uses a component, a system or a table of another
 * plugin holds the slot; only the slot holds addresses inside a plugin's image. When a plugin goes, its slots stay,
 * with entries that do nothing and answer so; when the plugin comes again, its slots are filled again.
 *
 * Not here: loading (loader.h), and calls of a plugin's verbs (verbs.h).
 */
#ifndef HOST_PLUGIN_REGISTRY_H
#define HOST_PLUGIN_REGISTRY_H

#include "slots.h"

typedef struct registry_t {
    memory_t memory;
    base_t *base;
    component_t **components;
    system_t **systems;
    table_slot_t **tables;
    uint32_t component_count, component_capacity;
    uint32_t system_count, system_capacity;
    uint32_t table_count, table_capacity;
    struct registry_set_t *entered; /* sets that take what their owners register now (registry_set.h) */
} registry_t;

void registry_init(registry_t *registry, base_t *base);
void registry_free(registry_t *registry);

/* Empty all slots of an owner. [main] */
void registry_sweep(registry_t *registry, const plugin_t *owner);

/* The slot of a name that a plugin fills at present; else NULL, with an error that suggests the nearest name. [main] */
component_t *registry_component(registry_t *registry, const char *name);
system_t *registry_system(registry_t *registry, const char *name);

/* The table of a name with at least `version`, in its slot, or NULL without an error. [main] */
const void *registry_table(registry_t *registry, const char *name, uint32_t version);

/* The plugin that offers a table at present, or NULL. [main] */
plugin_t *registry_table_owner(const registry_t *registry, const char *name);

/* Let the tables of an owner refuse every call from now on, while the owner keeps its components and systems. [main] */
void registry_silence_tables(registry_t *registry, const plugin_t *owner);

/* --- for those who fill slots (registry.c, registry_set.c) ------------------------------------------------ */

/* The slot where `owner` may put a component or system: empty, new, or the owner's. */
bp_result_t registry_component_place(registry_t *registry, const plugin_t *owner, const char *name, component_t **slot);
bp_result_t registry_system_place(registry_t *registry, const plugin_t *owner, const char *name, system_t **slot);

/* --- registry add ------------------------------------------------------------------------------------------------ */

/* Declarations into slots: the one door through which a plugin registers what it brings.
 *
 * Declarations that a new version of a plugin registers while it is being prepared go into the set beside its slots
 * instead (registry_set.h). Errors name the component or system and what is wrong with it; a refused declaration has
 * changed nothing.
 */

/* A system's terms are checked against the components that are there by now. [main] */
bp_result_t registry_add_component(registry_t *registry, plugin_t *owner, const bp_component_i *declared);
bp_result_t registry_add_system(registry_t *registry, plugin_t *owner, const bp_system_i *declared);
/* `item_size` is the size of the declaration that the plugin's author knew. */
bp_result_t registry_offer(registry_t *registry, plugin_t *owner, const bp_table_t *offered, uint32_t item_size);

#endif
