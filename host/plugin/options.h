/* options.h - a plugin's options: what it declares, what it was given, and the values that come of both.
 *
 * What was given is kept as text, for the next version of the plugin to read in its own way.
 */
#ifndef HOST_PLUGIN_OPTIONS_H
#define HOST_PLUGIN_OPTIONS_H

#include "plugin.h"

/* Read `options`, as texts, by what the plugin's descriptor declares. On failure options_free tidies up; *located: the error says
 * already where it is (bp_option_t.origin). [main] */
bp_result_t options_read(base_t *base, memory_t *memory, plugin_t *plugin, const bp_option_t *options, uint32_t count, bool *located);

void options_free(memory_t *memory, plugin_t *plugin);

#endif
