/* unload.h - a plugin leaves its host: all worlds, and memory.
 *
 * What it does not do: it ends no probation and no trial, which may know the plugin.
 */
#ifndef HOST_RELOAD_UNLOAD_H
#define HOST_RELOAD_UNLOAD_H

#include "../plugin/loader.h"
#include "../step/schedule.h"
#include "../store/destruction.h"

/* Its instances leave their entities, its managers and systems stop, and it is unloaded and freed. The memory for
 * taking its components out of all worlds is taken before the first is touched, so this either happens or leaves
 * everything as it was. Errors: memory. [main], between steps */
bp_result_t unload_prepare(const destruction_t *destruction, const plugin_t *plugin); /* takes the memory alone */
bp_result_t unload_plugin(loader_t *loader, destruction_t *destruction, plugin_t *plugin);

#endif
