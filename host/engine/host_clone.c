/* host_clone.c - a second host like the first one, in the same process; and trying something there.
 *
 * A clone is made of what the first host has: its plugins in the versions that are at work, its worlds, and in each the
 * same components and systems in the same order. Then a snapshot of the first is brought back into it (restore.h),
 * which refuses a snapshot that does not fit. So the clone's later steps depend on the snapshot alone.
 *
 * Plugins and systems act outside of their worlds in the first host only (plugins_t.clone, crew_t.recomputing).
 */
#include "../base/error.h"
#include "../os/os.h"
#include "host.h"

#include <string.h>

/* --- making ------------------------------------------------------------------------------------------------------- */

static bp_result_t refuse_without_component(bp_host_o *clone, const world_t *world, const char *name)
{
    return error_set(&clone->base.error, BP_ERROR_STATE,
                     "world '%s' has had component '%s' of a plugin that is gone, and no other host can be made like "
                     "it", world->name, name);
}

/* A component that has been dropped keeps its number. */
static bp_result_t bring_component(bp_host_o *clone, bp_world_o *into, const world_t *world, const manager_t *manager)
{
    const char *name = manager->component->name;
    const component_t *there = registry_component(&clone->registry, name);
    if (there == NULL)
        return refuse_without_component(clone, world, name);
    bp_result_t result = bp_world_use_component(into, name);
    return result == BP_OK && !manager->started ? bp_world_drop_component(into, name) : result;
}

static bp_result_t fill_world(bp_host_o *clone, bp_world_o *into, const bp_world_o *from)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < from->wants.count; i++) {
        if (!wants_add(&into->wants, from->wants.items[i].name, from->wants.items[i].system))
            return error_memory(&clone->base.error, "making a world like another");
    }
    for (uint32_t i = 0; i < from->rows.manager_count && result == BP_OK; i++)
        result = bring_component(clone, into, &from->rows, from->rows.managers[i]);
    for (uint32_t i = 0; i < from->schedule->count && result == BP_OK; i++) {
        if (from->schedule->units[i]->system != NULL)
            result = bp_world_use_system(into, from->schedule->units[i]->name);
    }
    if (result == BP_OK && !schedule_arrange_like(into->schedule, from->schedule))
        result = error_set(&clone->base.error, BP_ERROR_STATE, "world '%s' has units that cannot be had a second time",
                           from->rows.name);
    return result;
}

static bp_result_t make_worlds(bp_host_o *clone, const bp_host_o *host)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < host->destruction.world_count && result == BP_OK; i++) {
        const bp_world_o *from = host_world(host, i);
        const bp_world_desc_t desc = {.struct_size = sizeof desc,
                                      .name = from->rows.name,
                                      .step_rate = from->clock.step_rate,
                                      .units = from->rows.units};
        bp_world_o *into;
        result = host_create_world(clone, &desc, &into);
        if (result == BP_OK)
            result = fill_world(clone, into, from);
    }
    return result;
}

static bp_result_t make_alike(bp_host_o *clone, const bp_host_o *host)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < host->loader.plugins.count && result == BP_OK; i++)
        result = loader_load_like(&clone->loader, host->loader.plugins.items[i]);
    return result == BP_OK ? make_worlds(clone, host) : result;
}

bp_result_t host_clone_parts(bp_host_o *host, bp_host_o **out)
{
    error_text_t *error = &host->base.error;
    if (host->ranks > 1)
        return error_set(error, BP_ERROR_STATE, "a host that is one of %u processes cannot be cloned", host->ranks);
    const bp_host_desc_t desc = {.struct_size = sizeof desc,
                                 .threads = 1,
                                 .allocator = &host->base.memory.allocator,
                                 .log = &host->base.log,
                                 .static_plugins = host->loader.static_plugins,
                                 .static_plugin_count = host->loader.static_count,
                                 .flags = (host->guarded ? BP_HOST_CRASH_GUARD | BP_HOST_WATCHFUL : 0u) |
                                          (uint32_t)BP_HOST_TRIAL |
                                          (host->hot.helper[0] != '\0' ? (uint32_t)BP_HOST_TRIAL_HELPER : 0u),
                                 .trial_helper = host->trial_helper,
                                 .call_limit = host->call_limit,
                                 .trial_deadline = host->hot.deadline_ms};
    bp_host_o *clone = bp_host_create(&desc);
    if (clone == NULL)
        return error_memory(error, "making a host like another");
    clone->loader.copies = host->loader.copies;
    clone->hot.sources.settings = host->hot.sources.settings;
    clone->loader.plugins.clone = clone->crew.recomputing = true;
    bp_result_t result = make_alike(clone, host);
    if (result == BP_OK) {
        *out = clone;
        return BP_OK;
    }
    error_set(error, result, "the host cannot be cloned: %s", clone->base.error.text);
    bp_host_destroy(clone);
    return result;
}

bp_result_t host_clone(bp_host_o *host, const bp_snapshot_o *snapshot, bp_host_o **out)
{
    bp_host_o *clone;
    bp_result_t result = host_clone_parts(host, &clone);
    if (result != BP_OK)
        return result;
    result = host_bring_over(clone, snapshot);
    if (result == BP_OK) {
        *out = clone;
        return BP_OK;
    }
    error_set(&host->base.error, result, "the host cannot be cloned: %s", clone->base.error.text);
    bp_host_destroy(clone);
    return result;
}

bp_result_t bp_host_clone(bp_host_o *host, bp_host_o **clone)
{
    bp_snapshot_o *snapshot;
    bp_result_t result = host_refuse_change(host);
    if (result == BP_OK)
        result = host_snapshot_in_place(host, &snapshot);
    if (result != BP_OK)
        return result;
    destruction_seal(&host->destruction, true); /* the columns stay as they are while they are copied */
    result = host_clone(host, snapshot, clone);
    destruction_seal(&host->destruction, false);
    bp_snapshot_free(snapshot);
    return result;
}

/* --- trying ------------------------------------------------------------------------------------------------------- */

typedef struct trying_t {
    bp_host_o *host, *clone;
    bp_snapshot_o *before, *without, *with;
} trying_t;

/* A failure on the clone is told by the host. */
static bp_result_t pass_on(const trying_t *t, const char *when, bp_result_t result)
{
    return result == BP_OK ? BP_OK : error_set(&t->host->base.error, result, "%s: %s", when, t->clone->base.error.text);
}

static void let_run(bp_host_o *clone)
{
    bool stand = true;
    for (uint32_t i = 0; i < clone->destruction.world_count; i++) {
        const world_clock_t *clock = &host_world(clone, i)->clock;
        stand = stand && clock->stopped && clock->granted == 0;
    }
    for (uint32_t i = 0; stand && i < clone->destruction.world_count; i++)
        host_world(clone, i)->clock.stopped = false;
}

static bp_result_t take_steps(const trying_t *t, const char *when, uint64_t steps, uint64_t *nanoseconds,
                              bp_snapshot_o **after)
{
    bp_result_t result = BP_OK;
    let_run(t->clone);
    uint64_t began = os_clock_ns();
    for (uint64_t i = 0; i < steps && result == BP_OK; i++)
        result = bp_host_step(t->clone);
    *nanoseconds = os_clock_ns() - began;
    if (result == BP_OK)
        result = bp_host_snapshot(t->clone, after);
    return pass_on(t, when, result);
}

static bp_result_t try_both(trying_t *t, const bp_host_try_i *what, bp_host_tried_t *cost)
{
    bp_result_t result = take_steps(t, "without the change", what->steps, &cost->without, &t->without);
    if (result == BP_OK)
        result = pass_on(t, "back to the present", bp_host_bring_back(t->clone, t->before));
    if (result == BP_OK) { /* a reload there copies the process: no thread of a plugin may be at work here */
        loader_pause_all(&t->host->loader, BP_PAUSE_TRIAL);
        result = pass_on(t, "the change", what->change(what->context, t->clone));
        loader_resume_all(&t->host->loader, BP_PAUSE_TRIAL);
    }
    if (result == BP_OK)
        result = take_steps(t, "with the change", what->steps, &cost->with, &t->with);
    if (result == BP_OK && what->differences != NULL)
        result = pass_on(t, "telling the differences",
                         bp_snapshot_diff(t->clone, t->without, t->with, what->differences));
    return result;
}

bp_result_t bp_host_try(bp_host_o *host, const bp_host_try_i *what, bp_host_tried_t *tried)
{
    trying_t t = {.host = host};
    bp_host_tried_t cost = {.struct_size = sizeof cost};
    bp_result_t result = host_refuse_change(host);
    if (result == BP_OK)
        result = bp_host_snapshot(host, &t.before);
    if (result == BP_OK)
        result = host_clone(host, t.before, &t.clone);
    if (result == BP_OK)
        result = try_both(&t, what, &cost);
    bp_snapshot_free(t.with);
    bp_snapshot_free(t.without);
    bp_snapshot_free(t.before);
    bp_host_destroy(t.clone);
    if (result == BP_OK && tried != NULL) {
        uint32_t size = tried->struct_size;
        memcpy(tried, &cost, size < sizeof cost ? size : sizeof cost);
        tried->struct_size = size;
    }
    return result;
}
