/* plugin.c - whether a plugin is called.
 *
 * Any thread may ask while another writes down a crash: the sentence is complete before `aside` says that there is one.
 */
#include "plugin.h"

bool plugin_is_aside(const plugin_t *plugin)
{
    return atomic_load_explicit(&plugin->aside, memory_order_acquire) == PLUGIN_ASIDE;
}

const char *plugin_crash(const plugin_t *plugin)
{
    return plugin->crash;
}

void plugin_trust(plugin_t *plugin)
{
    plugin->seen_to = false;
    atomic_store(&plugin->aside, PLUGIN_SOUND);
}

void plugin_set_aside(plugin_t *plugin)
{
    plugin->seen_to = true;
    atomic_store(&plugin->aside, PLUGIN_ASIDE);
}
