/* host_plugins.c - plugins for embedders: loaded, unloaded, reloaded, listed.
 *
 * Nothing of a plugin may be in a world when it is unloaded. The memory for taking its components out of all worlds is taken
 * before the first is touched, so an unloading either happens or leaves everything as it was.
 */
#include "host.h"

#include "base/text.h"
#include "entity/store.h"
#include "plugin/loader.h"

bp_result_t bp_host_load_plugin(bp_host_o *host, const char *name_or_path, const bp_option_t *options, uint32_t option_count)
{
    bp_result_t result = host_refuse_during_step(host);
    return result != BP_OK ? result : loader_load(&host->loader, name_or_path, options, option_count);
}

static bp_result_t unknown_plugin(bp_host_o *host, const char *name)
{
    nearest_t nearest = {.wanted = name};
    text_t hint;
    for (uint32_t i = 0; i < host->loader.count; i++)
        nearest_consider(&nearest, host->loader.plugins[i]->name);
    return error_set(&host->base.error, BP_ERROR_NOT_FOUND, "no plugin '%s' is loaded%s", name, nearest_hint(&nearest, &hint));
}

/* Take all that a plugin brought out of one world. Its rows have been prepared, so nothing is in the way. */
static bp_result_t withdraw(bp_world_o *world, const plugin_t *plugin)
{
    schedule_t *schedule = world->schedule;
    for (uint32_t i = 0; i < world->registry->system_count; i++) {
        if (world->registry->systems[i]->owner == plugin)
            schedule_drop_system(schedule, world->registry->systems[i]);
    }
    for (uint32_t i = world->manager_count; i > 0; i--) {
        manager_t *manager = world->managers[i - 1];
        if (!manager->started || manager->component->owner != plugin)
            continue;
        bp_result_t result = store_strip(world, manager->seen.component);
        if (result != BP_OK)
            return result;
        world_drop_manager(world, manager);
        schedule_drop_manager(schedule, manager);
    }
    return BP_OK;
}

bp_result_t bp_host_unload_plugin(bp_host_o *host, const char *name)
{
    bp_result_t result = host_refuse_during_step(host);
    plugin_t *plugin = loader_find(&host->loader, name);
    if (plugin == NULL)
        return unknown_plugin(host, name);
    if (result == BP_OK) {
        hot_cancel(&host->hot);
        reload_accept(&host->reload);
    }
    for (uint32_t i = 0; i < host->destruction.world_count && result == BP_OK; i++)
        result = store_prepare_strip(host->destruction.worlds[i], plugin);
    for (uint32_t i = 0; i < host->destruction.world_count && result == BP_OK; i++)
        result = withdraw(host->destruction.worlds[i], plugin);
    if (result == BP_OK)
        loader_unload(&host->loader, plugin);
    return result;
}

static void copy_report(const reload_t *reload, bp_reload_report_t *report)
{
    if (report == NULL)
        return;
    uint32_t size = report->struct_size != 0 && report->struct_size < sizeof *report ? report->struct_size : sizeof *report;
    memcpy(report, &reload->last, size);
    report->struct_size = size;
}

bp_result_t bp_host_reload(bp_host_o *host, const char *const *names, uint32_t count, bp_reload_report_t *report)
{
    bp_result_t result = hot_reload(&host->hot, names, count);
    copy_report(&host->reload, report);
    if (host_refuse_during_step(host) == BP_OK)
        host_settle(host);
    return result;
}

bp_result_t bp_host_on_reload(bp_host_o *host, bp_reloaded_callback callback, void *data)
{
    return reload_add_callback(&host->reload, callback, data);
}

const bp_plugin_desc_t *bp_host_plugin(bp_host_o *host, uint32_t index, const char **path)
{
    if (index >= host->loader.count)
        return NULL;
    if (path != NULL)
        *path = host->loader.plugins[index]->path;
    return &host->loader.plugins[index]->desc;
}
