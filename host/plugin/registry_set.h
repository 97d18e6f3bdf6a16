/* registry_set.h - what a new version of a plugin brings, beside the slots that it will fill.
 *
 * Not here: when sets are prepared and exchanged (reload/).
 */
#ifndef HOST_PLUGIN_REGISTRY_SET_H
#define HOST_PLUGIN_REGISTRY_SET_H

#include "registry.h"

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

/* Put a checked declaration into a set; a table, for all slots of its name. */
bp_result_t registry_replace_component(registry_t *registry, registry_set_t *set, const bp_component_i *declared);
bp_result_t registry_replace_system(registry_t *registry, registry_set_t *set, const bp_system_i *declared);
bp_result_t registry_replace_table(registry_t *registry, registry_set_t *set, const bp_table_t *offered);

/* The contents of the slots and of the set change places; done once more, all is as before. Cannot fail. [main] */
void registry_exchange(registry_set_t *set);

/* For a set that has been exchanged back for good: properties resolved for fields that only the set has are led to the
 * fields of the slots that those values came from. */
void registry_set_withdraw(registry_set_t *set);

/* The slots give no promise any more to those who look for tables: the exchange stands. */
void registry_set_keep_promises(registry_set_t *set);

/* The set's content for a slot; NULL where the set does not have it. */
system_t *registry_set_system(const registry_set_t *set, const system_t *slot);

#endif
