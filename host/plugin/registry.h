/* registry.h - slots: the components, systems and tables of a host's plugins, by kind and name, each with its owner;
 * and sets: the same of a new version of a plugin, beside the slots.
 *
 * A slot lives as long as the registry, at one address. Users of a component, a system or a table of another
 * plugin hold the slot; only the slot holds addresses inside a plugin's image. When a plugin goes, its slots stay, with
 * entries that do nothing and return an error, 0 or NULL; when the plugin comes again, its slots are filled again.
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
    struct registry_set_t *entered; /* sets that take what their owners register now (below) */
} registry_t;

void registry_init(registry_t *registry, base_t *base);
void registry_free(registry_t *registry); /* all plugins have been swept */

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

/* --- declarations ------------------------------------------------------------------------------------------------- */

/* Declarations into slots: all components, systems and tables of plugins are registered by these functions.
 *
 * Declarations that a new version of a plugin registers while it is being prepared go into the set beside its slots
 * instead (below). Errors name the component or system and what is wrong with it; a refused declaration has
 * changed nothing.
 */

/* A system's terms are checked against the components that are there by now. [main] */
bp_result_t registry_add_component(registry_t *registry, plugin_t *owner, const bp_component_i *declared);
bp_result_t registry_add_system(registry_t *registry, plugin_t *owner, const bp_system_i *declared);
/* `item_size` is the size of the declaration that the plugin's author knew. */
bp_result_t registry_offer(registry_t *registry, plugin_t *owner, const bp_table_t *offered, uint32_t item_size);

/* --- sets --------------------------------------------------------------------------------------------------------- */

/* The components, systems and tables of a new version of a plugin, beside the slots that it will fill. reload/ prepares
 * and exchanges sets. */

/* A slot, and the content it is to get; after an exchange, the content it had. */
typedef struct component_swap_t {
    component_t *slot, kept; /* kept.owner NULL: the slot is emptied */
    bool same_fields;         /* the slot keeps its fields: both lists say the same */
    bool exchanged;           /* `kept` is the content that the slot had */
} component_swap_t;
typedef struct system_swap_t { system_t *slot, kept; } system_swap_t;
typedef struct table_swap_t { table_slot_t *slot, kept; } table_swap_t;

typedef struct registry_set_t {
    registry_t *registry;
    plugin_t *owner;
    struct registry_set_t *next; /* in registry_t.entered */
    component_swap_t *components;
    system_swap_t *systems;
    table_swap_t *tables;
    uint32_t component_count, component_capacity;
    uint32_t system_count, system_capacity;
    uint32_t table_count, table_capacity;
} registry_set_t;

/* Make an empty set for a plugin: exchanged as it is, it would empty all slots that the plugin fills at present. False
 * when out of memory: nothing is held. */
bool registry_set_init(registry_t *registry, registry_set_t *set, plugin_t *owner);
void registry_set_free(registry_t *registry, registry_set_t *set);

/* From `enter` to `leave`, declarations that the owner registers go into the set instead of its slots. */
void registry_set_enter(registry_set_t *set);
void registry_set_leave(registry_set_t *set);

/* The entered set that takes what a plugin registers, or NULL. */
registry_set_t *registry_set_of(const registry_t *registry, const plugin_t *owner);

/* The contents of the slots and of the set change places; done once more, all is as before. Cannot fail. [main] */
void registry_exchange(registry_set_t *set);

/* For a set that has been exchanged back for good: properties that were resolved for fields that only the set has lead
 * to the fields of the slots from which those fields had their values. */
void registry_set_withdraw(registry_set_t *set);

/* End the promises of tables (slots.h: promised), which plugins find before an exchange: the exchange is final. */
void registry_set_keep_promises(registry_set_t *set);

/* The set's content for a slot; NULL where the set does not have it. */
system_t *registry_set_system(const registry_set_t *set, const system_t *slot);

#endif
