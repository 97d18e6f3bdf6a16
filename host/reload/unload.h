/* unload.h - a plugin leaves its host: all worlds, and memory.
 *
 * Not here: ending a probation or a trial, which may know the plugin.
 */
#ifndef HOST_RELOAD_UNLOAD_H
#define HOST_RELOAD_UNLOAD_H

#include "../plugin/loader.h"
#include "../step/schedule.h"
#include "../store/destruction.h"

/* Take a plugin's instances off their entities, stop its managers and systems, unload it and free it. The memory for
 * taking its components out of all worlds is taken before the first world is touched, so the plugin is either unloaded
 * or everything stays as it was. Errors: memory. [main], between steps */
bp_result_t unload_prepare(const destruction_t *destruction, const plugin_t *plugin); /* takes the memory alone */
bp_result_t unload_plugin(loader_t *loader, destruction_t *destruction, plugin_t *plugin);

#endif
