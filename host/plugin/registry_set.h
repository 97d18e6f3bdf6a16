/* registry_set.h - what a new version of a plugin brings, beside the slots that it will fill.
 *
 * What it does not do: it decides nothing; reload/ prepares sets, and exchanges them.
 */
#ifndef HOST_PLUGIN_REGISTRY_SET_H
#define HOST_PLUGIN_REGISTRY_SET_H

#include "registry.h"

/* A slot, and what it gets. */
typedef struct component_swap_t {
    component_t *slot, kept; /* kept.owner NULL: the slot is emptied */
    bool same_fields;         /* the slot keeps its fields: both lists say the same */
    bool exchanged;           /* `kept` is what the slot had */
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

/* An empty set for a plugin: all that it fills now would be emptied. False when out of memory: nothing is held. */
bool registry_set_init(registry_t *registry, registry_set_t *set, plugin_t *owner);
void registry_set_free(registry_t *registry, registry_set_t *set);

/* From `enter` to `leave` what the owner registers goes into the set instead of its slots. */
void registry_set_enter(registry_set_t *set);
void registry_set_leave(registry_set_t *set);

/* The set that takes what a plugin registers now, or NULL. */
registry_set_t *registry_set_of(const registry_t *registry, const plugin_t *owner);

/* Put a checked declaration into a set; of a table, for all slots of its name. */
bp_result_t registry_replace_component(registry_t *registry, registry_set_t *set, const bp_component_i *declared);
bp_result_t registry_replace_system(registry_t *registry, registry_set_t *set, const bp_system_i *declared);
bp_result_t registry_replace_table(registry_t *registry, registry_set_t *set, const bp_table_t *offered);

/* The slots and the set change places; doing it again brings back what was. Cannot fail. [main] */
void registry_exchange(registry_set_t *set);

/* Sides have been exchanged back for good: properties resolved for fields that only the set has find their values'
 * place in the slots. */
void registry_set_withdraw(registry_set_t *set);

/* Forget what was promised to those who looked for tables meanwhile. */
void registry_set_keep_promises(registry_set_t *set);

/* The set's content for a slot; NULL where the set does not have it. */
system_t *registry_set_system(const registry_set_t *set, const system_t *slot);

#endif
