/* unload.c - a plugin taken out of every world, and unloaded.
 *
 * Nothing of a plugin may be in a world when it is unloaded.
 */
#include "unload.h"

#include "../plugin/registry.h"
#include "../step/queries.h"
#include "../store/store.h"

/* Take all that a plugin brought out of one world. The world's rows have been prepared, so this cannot fail for
 * them. */
static bp_result_t withdraw(bp_world_o *world, const plugin_t *plugin)
{
    schedule_t *schedule = world->schedule;
    for (uint32_t i = 0; i < world->rows.registry->system_count; i++) {
        if (world->rows.registry->systems[i]->owner == plugin)
            schedule_drop_system(schedule, world->rows.registry->systems[i]);
    }
    for (uint32_t i = world->rows.manager_count; i > 0; i--) {
        manager_t *manager = world->rows.managers[i - 1];
        if (!manager->started || manager->component->owner != plugin)
            continue;
        bp_result_t result = store_strip(&world->rows, manager->number);
        if (result != BP_OK)
            return result;
        world_drop_manager(&world->rows, manager);
        schedule_drop_manager(schedule, manager);
    }
    return BP_OK;
}

bp_result_t unload_prepare(const destruction_t *destruction, const plugin_t *plugin)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < destruction->world_count && result == BP_OK; i++)
        result = store_prepare_strip(destruction->worlds[i], plugin, NULL);
    return result;
}

bp_result_t unload_plugin(loader_t *loader, destruction_t *destruction, plugin_t *plugin)
{
    bp_result_t result = unload_prepare(destruction, plugin);
    if (result == BP_OK)
        loader_pause(plugin, BP_PAUSE_UNLOAD);
    for (uint32_t i = 0; i < destruction->world_count && result == BP_OK; i++)
        result = withdraw(world_handle(destruction->worlds[i]), plugin);
    if (result != BP_OK) {
        loader_resume_or_tell(loader, plugin, BP_PAUSE_UNLOAD);
        return result;
    }
    loader_unload(loader, plugin);
    for (uint32_t i = 0; i < destruction->world_count; i++) { /* what the plugin has left open */
        schedule_t *schedule = world_handle(destruction->worlds[i])->schedule;
        queries_end_of(schedule, plugin, false);
        messages_close_of(&schedule->messages, plugin);
    }
    return BP_OK;
}
