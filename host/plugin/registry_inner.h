/* registry_inner.h - what the files of the registry share: slots by name, and what fills them.
 *
 * Inner to registry.c and registry_set.c.
 *
 * What it does not do: it is not for those who use the registry.
 */
#ifndef HOST_PLUGIN_REGISTRY_INNER_H
#define HOST_PLUGIN_REGISTRY_INNER_H

#include "registry.h"

/* The slot of a name, filled or not; NULL where there has never been one. */
component_t *registry_component_slot(const registry_t *registry, const char *name);
system_t *registry_system_slot(const registry_t *registry, const char *name);
table_slot_t *registry_table_slot(const registry_t *registry, const char *name);

/* An empty slot. NULL when out of memory. */
component_t *registry_new_component_slot(registry_t *registry, const char *name);
system_t *registry_new_system_slot(registry_t *registry, const char *name);
table_slot_t *registry_new_table_slot(registry_t *registry, const char *name, uint32_t size);

/* The slot where `owner` may put a component or system: empty, new, or its own. */
bp_result_t registry_component_place(registry_t *registry, const plugin_t *owner, const char *name, component_t **slot);
bp_result_t registry_system_place(registry_t *registry, const plugin_t *owner, const char *name, system_t **slot);

/* Copy a declaration, already checked, to `made`, which is empty and may be the slot itself. */
bp_result_t registry_make_component(registry_t *registry, plugin_t *owner, const bp_component_i *declared, component_t *slot,
                                    component_t *made);
bp_result_t registry_make_system(registry_t *registry, plugin_t *owner, const bp_system_i *declared, const system_t *slot,
                                 system_t *made);

/* Free what a slot, or what is to come into one, holds. */
void registry_empty_component(registry_t *registry, component_t *slot);
void registry_empty_system(registry_t *registry, system_t *slot);
void registry_empty_table(table_slot_t *slot);
void registry_free_table_slot(registry_t *registry, table_slot_t *slot);

/* Bring what is known of fields in step with what the slot declares; `before`: what it declared, or NULL. */
void registry_know_fields(component_t *slot, const component_t *before);

/* The do-nothing entry of tables. */
uint64_t registry_answer_zero(void);

/* Put a checked declaration into a set. */
bp_result_t registry_replace_component(registry_t *registry, registry_set_t *set, const bp_component_i *declared);
bp_result_t registry_replace_system(registry_t *registry, registry_set_t *set, const bp_system_i *declared);
bp_result_t registry_replace_table(registry_t *registry, registry_set_t *set, table_slot_t *slot, const void *table);

#endif
