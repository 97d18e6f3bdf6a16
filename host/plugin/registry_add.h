/* registry_add.h - declarations into slots: the one door through which a plugin registers what it brings.
 *
 * What a new version of a plugin registers while it is being prepared goes into the set beside its slots (plugin_t.set) instead.
 * Errors name the component or system and what is wrong with it; a refused declaration has changed nothing.
 */
#ifndef HOST_PLUGIN_REGISTRY_ADD_H
#define HOST_PLUGIN_REGISTRY_ADD_H

#include "registry.h"

/* `item_size` is the size of the declaration that the plugin's author knew. [main] */
bp_result_t registry_add_component(registry_t *registry, plugin_t *owner, const bp_component_i *declared,
                                   uint32_t item_size);
bp_result_t registry_add_system(registry_t *registry, plugin_t *owner, const bp_system_i *declared, uint32_t item_size);
bp_result_t registry_offer(registry_t *registry, plugin_t *owner, const char *name, const void *table);

#endif
