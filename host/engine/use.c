/* use.c - the components and systems that worlds have: brought in, dropped, and brought in again.
 *
 * A world keeps the names of all that it was told to use (step/wants.h). A wanted component or system that the world
 * lacks is looked for whenever plugins have come or changed. Systems that come with a reload are part of that change
 * (reload/worlds.c), so that they go with it.
 */
#include "host.h"

#include "../base/error.h"
#include "../store/own.h"
#include "../store/store.h"

static bp_result_t use_component(bp_world_o *world, component_t *component)
{
    bp_result_t result = schedule_admit_component(world->schedule, component);
    if (result == BP_OK)
        result = world_use_component(&world->rows, component);
    if (result != BP_OK)
        return result;
    manager_t *manager = world->rows.managers[world->rows.manager_count - 1];
    result = schedule_add_manager(world->schedule, manager);
    if (result == BP_OK && (result = own_bring(&world->rows, manager)) != BP_OK)
        schedule_drop_manager(world->schedule, manager);
    if (result != BP_OK)
        world_drop_manager(&world->rows, manager);
    return result;
}

/* A component or system that a world takes from a plugin on probation is of the plugin's new version alone, and could
 * not be taken back. So taking it ends the probation: refused where that may not be done at this moment. */
static bp_result_t refuse_on_probation(const bp_host_o *host, const plugin_t *owner)
{
    return reload_on_probation(&host->reload, owner) ? reload_check_moment(&host->reload) : BP_OK;
}

static void end_probation(bp_host_o *host, const plugin_t *owner)
{
    if (reload_on_probation(&host->reload, owner))
        reload_accept(&host->reload);
}

/* Begin to bring in or drop something: refused in a step, and from verbs that run while something comes or goes. */
static bp_result_t begin(bp_host_o *host)
{
    bp_result_t result = host_refuse_during_step(host);
    if (result == BP_OK && (host->using || host->loader.plugins.calling > 0))
        result = error_set(&host->base.error, BP_ERROR_STATE,
                           "not while a component or a system comes into a world, or is dropped");
    host->using = host->using || result == BP_OK;
    return result;
}

static bp_result_t end(bp_host_o *host, bp_result_t result)
{
    host->using = false;
    return result;
}

static bp_result_t use_wanted_component(bp_world_o *world, const char *type)
{
    component_t *component = registry_component(world->rows.registry, type);
    bp_result_t result =
        component == NULL ? BP_ERROR_NOT_FOUND : refuse_on_probation(world->rows.host, component->owner);
    if (result == BP_OK)
        result = use_component(world, component);
    if (result == BP_OK)
        end_probation(world->rows.host, component->owner);
    return result;
}

static bp_result_t use_wanted_system(bp_world_o *world, const char *name)
{
    system_t *system = registry_system(world->rows.registry, name);
    bp_result_t result = system == NULL ? BP_ERROR_NOT_FOUND : refuse_on_probation(world->rows.host, system->owner);
    if (result == BP_OK)
        result = schedule_add_system(world->schedule, system);
    if (result == BP_OK)
        end_probation(world->rows.host, system->owner);
    return result;
}

static manager_t *find_manager(const bp_world_o *world, const char *type)
{
    for (uint32_t i = 0; i < world->rows.manager_count; i++) {
        manager_t *manager = world->rows.managers[i];
        if (manager->started && strcmp(manager->component->name, type) == 0)
            return manager;
    }
    return NULL;
}

static const system_t *find_system(const bp_world_o *world, const char *name)
{
    for (uint32_t i = 0; i < world->schedule->count; i++) {
        const system_t *system = world->schedule->units[i]->system;
        if (system != NULL && strcmp(system->name, name) == 0)
            return system;
    }
    return NULL;
}

static bool is_there(const bp_world_o *world, const char *name, bool system)
{
    return system ? find_system(world, name) != NULL : find_manager(world, name) != NULL;
}

bool host_has(const bp_world_o *world, const char *name, bool system)
{
    return is_there(world, name, system);
}

void host_take_back(bp_world_o *world, const char *name, bool system)
{
    const system_t *found = system ? find_system(world, name) : NULL;
    manager_t *manager = system ? NULL : find_manager(world, name);
    if (found != NULL)
        schedule_drop_system(world->schedule, found);
    if (manager != NULL) {
        store_strip(&world->rows, manager->number); /* of the world itself; cannot fail */
        world_drop_manager(&world->rows, manager);
        schedule_drop_manager(world->schedule, manager);
    }
    wants_drop(&world->wants, name, system);
}

/* A component or system that came back by itself may be asked for once more: an embedder that loads a plugin then asks
 * for its parts, without knowing that they have come back.
 *
 * The name is noted as wanted first, since the order of wants is the order in the step. Where the component or system
 * cannot be had now, the name stays wanted only where it was wanted before. */
static bp_result_t use(bp_world_o *world, const char *name, bool system)
{
    bp_host_o *host = world->rows.host;
    bool before = wants_has(&world->wants, name, system);
    bp_result_t result = begin(host);
    if (result != BP_OK)
        return result;
    if (wants_take_again(&world->wants, name, system) && is_there(world, name, system))
        return end(host, BP_OK);
    if (!wants_add(&world->wants, name, system))
        return end(host, error_memory(&host->base.error, "bringing something into a world"));
    result = system ? use_wanted_system(world, name) : use_wanted_component(world, name);
    if (result != BP_OK && !before)
        wants_drop(&world->wants, name, system);
    return end(host, result);
}

bp_result_t bp_world_use_component(bp_world_o *world, const char *type)
{
    return use(world, type, false);
}

bp_result_t bp_world_use_system(bp_world_o *world, const char *name)
{
    return use(world, name, true);
}

/* --- dropping ----------------------------------------------------------------------------------------------------- */

static bp_result_t refuse_absent(const bp_world_o *world, const char *kind, const char *name)
{
    nearest_t nearest = {.wanted = name};
    text_t hint;
    for (uint32_t i = 0; i < world->wants.count; i++)
        nearest_consider(&nearest, world->wants.items[i].name);
    return error_set(&world->rows.base->error, BP_ERROR_NOT_FOUND, "world '%s' has no %s '%s'%s", world->rows.name,
                     kind, name, nearest_hint(&nearest, &hint));
}

/* The world has been looked at without what is to go, with this result. */
static bp_result_t refuse_needed(const bp_world_o *world, const char *name, bp_result_t result)
{
    error_text_t *error = &world->rows.base->error;
    if (result == BP_ERROR_MEMORY)
        return result;
    return error_prefix(error, BP_ERROR_STATE, "world '%s' cannot step without '%s': ", world->rows.name, name);
}

static bp_result_t drop_component(bp_world_o *world, const char *type)
{
    manager_t *manager = find_manager(world, type);
    if (manager == NULL)
        return wants_drop(&world->wants, type, false) ? BP_OK : refuse_absent(world, "component", type);
    bp_result_t result = schedule_check_without(world->schedule, manager, NULL);
    if (result != BP_OK)
        return refuse_needed(world, type, result);
    result = store_prepare_strip(&world->rows, manager->component->owner, manager);
    if (result != BP_OK)
        return result;
    reload_accept(&world->rows.host->reload); /* a probation needs the present parts of the worlds */
    result = store_strip(&world->rows, manager->number);
    if (result != BP_OK)
        return result;
    world_drop_manager(&world->rows, manager);
    schedule_drop_manager(world->schedule, manager);
    wants_drop(&world->wants, type, false);
    return BP_OK;
}

static bp_result_t drop_system(bp_world_o *world, const char *name)
{
    const system_t *system = find_system(world, name);
    if (system == NULL)
        return wants_drop(&world->wants, name, true) ? BP_OK : refuse_absent(world, "system", name);
    bp_result_t result = schedule_check_without(world->schedule, NULL, system);
    if (result != BP_OK)
        return refuse_needed(world, name, result);
    reload_accept(&world->rows.host->reload);
    schedule_drop_system(world->schedule, system);
    wants_drop(&world->wants, name, true);
    history_remade(&world->rows.host->history); /* also where the system comes again, anew, before the next step */
    return BP_OK;
}

bp_result_t bp_world_drop_component(bp_world_o *world, const char *type)
{
    bp_result_t result = begin(world->rows.host);
    return result != BP_OK ? result : end(world->rows.host, drop_component(world, type));
}

bp_result_t bp_world_drop_system(bp_world_o *world, const char *name)
{
    bp_result_t result = begin(world->rows.host);
    return result != BP_OK ? result : end(world->rows.host, drop_system(world, name));
}

/* --- again -------------------------------------------------------------------------------------------------------- */

static bool is_offered(const registry_t *registry, const want_t *want)
{
    for (uint32_t i = 0; want->system && i < registry->system_count; i++) {
        if (registry->systems[i]->owner != NULL && strcmp(registry->systems[i]->name, want->name) == 0)
            return true;
    }
    for (uint32_t i = 0; !want->system && i < registry->component_count; i++) {
        if (registry->components[i]->owner != NULL && strcmp(registry->components[i]->name, want->name) == 0)
            return true;
    }
    return false;
}

static void bring_into(bp_host_o *host, bp_world_o *world, want_t *want)
{
    error_text_t *error = &host->base.error, kept = *error;
    if (is_there(world, want->name, want->system) || !is_offered(&host->registry, want) || begin(host) != BP_OK)
        return;
    bp_result_t result =
        want->system ? use_wanted_system(world, want->name) : use_wanted_component(world, want->name);
    end(host, result);
    want->again = result == BP_OK;
    if (result != BP_OK)
        log_write(&host->base.log, BP_LOG_WARNING, "host", "world '%s' wants '%s', and cannot have it: %s",
                  world->rows.name, want->name, error->text);
    *error = kept;
}

void host_bring_wanted(bp_host_o *host)
{
    host->wants_seen = host->reload.changes;
    for (uint32_t w = 0; w < host->destruction.world_count; w++) {
        bp_world_o *world = host_world(host, w);
        for (uint32_t pass = 0; pass < 2; pass++) { /* components first: systems may ask for them */
            for (uint32_t i = 0; i < world->wants.count; i++) {
                if (world->wants.items[i].system == (pass == 1))
                    bring_into(host, world, &world->wants.items[i]);
            }
        }
    }
}
