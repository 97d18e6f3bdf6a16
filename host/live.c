/* live.c - a host whose plugins may crash and change while it runs: the functions of backplane.h for that.
 *
 * The parts do the work: the guard ends calls (plugin/verbs.c), hot reload brings new versions (reload/hot.c). Here stands what a crash leads to,
 * since only the host sees both: within the probation of a reload the version before comes back; otherwise the plugin stays set
 * aside until a version comes that loads.
 */
#include "host.h"

#include "plugin/verbs.h"

static bp_result_t set_guard(bp_host_o *host, const bp_host_desc_t *desc)
{
    error_text_t *error = &host->base.error;
    bp_result_t result = guard_create(&host->base.memory, desc->call_limit, error, &host->loader.guard);
    if (result == BP_OK)
        host->reload.probation_steps = desc->probation;
    if (result != BP_ERROR_STATE)
        return result;
    log_write(&host->base.log, BP_LOG_WARNING, "host", "%s", error->text);
    return BP_OK;
}

bp_result_t host_set_live(bp_host_o *host, const bp_host_desc_t *desc)
{
    bp_result_t result = BP_OK;
    if ((desc->flags & BP_HOST_CRASH_GUARD) != 0 && host->loader.guard == NULL)
        result = set_guard(host, desc);
    if (result == BP_OK && (desc->flags & BP_HOST_TRIAL) != 0 && !host->hot.watching && !host->hot.trying)
        hot_try(&host->hot, desc->trial_deadline);
    if (result != BP_OK || (desc->flags & BP_HOST_HOT_RELOAD) == 0)
        return result;
    host->loader.copies = true;
    return hot_begin(&host->hot);
}

const char *bp_host_plugin_crash(bp_host_o *host, uint32_t index)
{
    bool aside = index < host->loader.count && plugin_is_aside(host->loader.plugins[index]);
    return aside ? plugin_crash(host->loader.plugins[index]) : NULL;
}

/* What the plugin offered to others, who call it without asking the host, becomes do-nothing as well. */
static void leave_aside(bp_host_o *host, plugin_t *plugin)
{
    plugin->seen_to = true;
    registry_silence_tables(&host->registry, plugin);
    log_write(&host->base.log, BP_LOG_WARNING, "host", "plugin '%s' is set aside: nothing of it is called any more, and its components stay as they are",
              plugin->name);
}

static bool bring_back(bp_host_o *host, const plugin_t *plugin)
{
    if (!reload_on_probation(&host->reload, plugin))
        return false;
    if (reload_rollback(&host->reload) == BP_OK) {
        log_write(&host->base.log, BP_LOG_WARNING, "host", "plugin '%s' has crashed on probation: the version before is back, with its columns", plugin->name);
        return true;
    }
    log_write(&host->base.log, BP_LOG_WARNING, "host", "the version before of plugin '%s' cannot be brought back: %s", plugin->name, host->base.error.text);
    return false;
}

void host_settle(bp_host_o *host)
{
#if defined(BACKPLANE_AUDIT)
    if (host->destruction.stepping == 0 && host->loader.retired.count > 0 && host->reload.probation == NULL)
        loader_audit(&host->loader);
#endif
    if (host->destruction.stepping != 0 || !atomic_exchange(&host->loader.crashes, false))
        return;
    for (uint32_t i = 0; i < host->loader.count; i++) {
        plugin_t *plugin = host->loader.plugins[i];
        if (plugin_is_aside(plugin) && !plugin->seen_to && !bring_back(host, plugin))
            leave_aside(host, plugin);
    }
}

bp_result_t bp_host_poll(bp_host_o *host)
{
    bp_result_t result = host_refuse_during_step(host);
    if (result != BP_OK)
        return result;
    host_settle(host);
    hot_poll(&host->hot);
    return BP_OK;
}
