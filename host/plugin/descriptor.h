/* descriptor.h - judging a plugin's descriptor as data, before any code of the plugin runs. */
#ifndef HOST_PLUGIN_DESCRIPTOR_H
#define HOST_PLUGIN_DESCRIPTOR_H

#include "../base/error.h"

#include <bp_plugin.h>

/* Was it built for this host, does it have a name, and are its lists lists? [any] */
bp_result_t descriptor_judge(error_text_t *error, const bp_plugin_desc_t *desc);

#endif
