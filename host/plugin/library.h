/* library.h - the shared library of a plugin: opened with its descriptor found and its image guarded, and closed again. */
#ifndef HOST_PLUGIN_LIBRARY_H
#define HOST_PLUGIN_LIBRARY_H

#include "plugin.h"

/* Open the file at `path`, judged before, for a plugin whose path people know as plugin->path. Errors leave a library that was
 * opened for library_close. [main] */
bp_result_t library_open(loader_t *loader, plugin_t *plugin, const char *path, const bp_plugin_desc_t **desc);

void library_close(loader_t *loader, plugin_t *plugin);

#endif
