/* holdings.h - what plugins hold of the process: files, threads, processes and timers that came while one of them was
 * being loaded, started, stopped, paused, resumed or unloaded.
 *
 * What has come in such a call is written down as the plugin's, under the guard alone. A plugin may hold it for as long
 * as it is loaded; what is still there when it has been unloaded is told. A library in which threads still run is not
 * closed, since they would run on in memory that is no more there.
 *
 * Not here: settings of the process (os/surroundings.h); what has come in other calls, but for threads on trial.
 */
#ifndef HOST_PLUGIN_HOLDINGS_H
#define HOST_PLUGIN_HOLDINGS_H

#include "plugin.h"

/* Before a call, and after it: what the process has, and what of that is new, which is named in `came`, "1 file open";
 * false: nothing is. Where memory does not suffice, and where there is too much to be looked at, nothing is written
 * down. [main] */
void holdings_see(plugins_t *all, holdings_seen_t *seen);
bool holdings_note(plugins_t *all, plugin_t *plugin, holdings_seen_t *seen, char *came, size_t size);
void holdings_forget(plugins_t *all, holdings_seen_t *seen);

/* Have threads of the plugin not ended, though it is unloaded? Waits some ms for them. On trial every thread counts
 * that was not there at its beginning (plugins_t.known) and that no other plugin holds. [main] */
bool holdings_have_threads(const plugin_t *plugin);

/* Name what is still there, "2 files open, 1 process running". false: nothing is. [main] */
bool holdings_name(const plugin_t *plugin, char *text, size_t size);

#endif
