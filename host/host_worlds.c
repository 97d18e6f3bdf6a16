/* host_worlds.c - worlds for embedders: made, filled with components and systems, stepped.
 *
 * After each step the host sees to what happened in it: slices are handed out, crashes looked at, a probation counted.
 */
#include "host.h"

static bp_result_t check_world(bp_host_o *host, const bp_world_desc_t *desc)
{
    error_text_t *error = &host->base.error;
    bp_result_t result = host_refuse_during_step(host);
    if (result != BP_OK)
        return result;
    if (desc->name == NULL || !names_is_word(desc->name))
        return error_set(error, BP_ERROR_ARGUMENT, "a world's name must be 1 to 63 letters, digits or underscores, not '%.40s'",
                         desc->name == NULL ? "" : desc->name);
    for (uint32_t i = 0; i < host->destruction.world_count; i++) {
        if (strcmp(host->destruction.worlds[i]->name, desc->name) == 0)
            return error_set(error, BP_ERROR_EXISTS, "there is a world '%s' already", desc->name);
    }
    if (!(desc->step_rate >= 0.0) || desc->step_rate > 1e12)
        return error_set(error, BP_ERROR_RANGE, "world '%s': %g steps in a unit of time; the step rate lies above 0, up to 1e12", desc->name,
                         desc->step_rate);
    return BP_OK;
}

bp_result_t host_create_world(bp_host_o *host, const bp_world_desc_t *desc, bp_world_o **out)
{
    bp_world_desc_t known = {0};
    memcpy(&known, desc, desc->struct_size != 0 && desc->struct_size < sizeof known ? desc->struct_size : sizeof known);
    bp_result_t result = check_world(host, &known);
    if (result != BP_OK)
        return result;
    double rate = known.step_rate > 0.0 ? known.step_rate : 60.0;
    bp_world_o *world = world_create(&host->base, &host->entities, &host->registry, &host->api, host, known.name, rate, ++host->layouts);
    if (world == NULL)
        return BP_ERROR_MEMORY;
    result = schedule_create(world, &host->destruction) == NULL ? BP_ERROR_MEMORY : destruction_add_world(&host->destruction, world);
    if (result != BP_OK) {
        if (world->schedule != NULL)
            schedule_free(world->schedule);
        world_free(world);
        return result;
    }
    *out = world;
    return BP_OK;
}

bp_world_o *bp_world_create(bp_host_o *host, const bp_world_desc_t *desc)
{
    bp_world_o *world;
    return host_create_world(host, desc, &world) == BP_OK ? world : NULL;
}

void bp_world_destroy(bp_world_o *world)
{
    if (world == NULL)
        return;
    reload_accept(&world->host->reload);
    destruction_remove_world(&world->host->destruction, world);
    schedule_free(world->schedule);
    world_free(world);
}

bp_result_t bp_world_use_component(bp_world_o *world, const char *type)
{
    component_t *component = registry_component(world->registry, type);
    if (component == NULL)
        return BP_ERROR_NOT_FOUND;
    bp_result_t result = world_use_component(world, component);
    if (result != BP_OK)
        return result;
    manager_t *manager = world->managers[world->manager_count - 1];
    result = schedule_add_manager(world->schedule, manager);
    if (result != BP_OK)
        world_drop_manager(world, manager);
    return result;
}

bp_result_t bp_world_use_system(bp_world_o *world, const char *name)
{
    system_t *system = registry_system(world->registry, name);
    return system == NULL ? BP_ERROR_NOT_FOUND : schedule_add_system(world->schedule, system);
}

/* --- steps ----------------------------------------------------------------------------------------------------------- */

static bp_result_t after_step(bp_host_o *host, bp_result_t result)
{
    if (host->crew.trace != NULL)
        trace_flush(host->crew.trace);
    host_settle(host);
    if (result == BP_OK && host->destruction.stepping == 0)
        reload_step_done(&host->reload);
    return result;
}

bp_result_t bp_world_step(bp_world_o *world)
{
    return after_step(world->host, schedule_step(world->schedule, &world->host->crew));
}

/* May the units of all worlds run side by side? It must not depend on the number of threads. */
static bool may_step_together(const bp_host_o *host)
{
    bool together = host->destruction.world_count > 1;
    for (uint32_t i = 0; i < host->destruction.world_count; i++)
        together = together && ((const schedule_t *)host->destruction.worlds[i]->schedule)->all_concurrent;
    return together;
}

static bp_result_t step_together(bp_host_o *host)
{
    uint32_t count = host->destruction.world_count;
    schedule_t **schedules = memory_resize(&host->base.memory, NULL, 0, count * sizeof *schedules);
    if (schedules == NULL)
        return error_memory(&host->base.error, "stepping worlds side by side");
    for (uint32_t i = 0; i < count; i++)
        schedules[i] = host->destruction.worlds[i]->schedule;
    bp_result_t result = schedule_step_together(schedules, count, &host->crew);
    memory_free(&host->base.memory, schedules, count * sizeof *schedules);
    return result;
}

bp_result_t bp_host_step(bp_host_o *host)
{
    bp_result_t result = host_refuse_during_step(host);
    for (uint32_t i = 0; i < host->destruction.world_count && result == BP_OK; i++)
        result = schedule_prepare(host->destruction.worlds[i]->schedule);
    if (result == BP_OK && may_step_together(host))
        return after_step(host, step_together(host));
    for (uint32_t i = 0; i < host->destruction.world_count && result == BP_OK; i++)
        result = schedule_step(host->destruction.worlds[i]->schedule, &host->crew);
    return after_step(host, result);
}

/* --- destruction ----------------------------------------------------------------------------------------------------- */

bp_result_t bp_host_on_destroyed(bp_host_o *host, const void *owner, bp_destroyed_callback callback, void *data)
{
    return destruction_add_callback(&host->destruction, owner, callback, data);
}

void bp_host_drop_owner(bp_host_o *host, const void *owner)
{
    destruction_drop_owner(&host->destruction, owner);
}
