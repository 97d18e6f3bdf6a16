/* host_figures.c - what embedders see of a host at work: slices of steps, figures, reports.
 *
 * Nothing is measured for being asked: figures are counted as steps go, and slices put down only while somebody has a sink for them.
 */
#include "host.h"

#include "plugin/verbs.h"
#include "schedule/unit_call.h"

bp_result_t bp_host_trace(bp_host_o *host, const bp_trace_i *sink)
{
    bp_result_t result = host_refuse_during_step(host);
    if (result != BP_OK)
        return result;
    if (sink != NULL && sink->slices == NULL)
        return error_set(&host->base.error, BP_ERROR_ARGUMENT, "looking at steps needs a function that takes slices");
    trace_t *trace = sink == NULL ? NULL : trace_create(&host->base, sink);
    if (sink != NULL && trace == NULL)
        return error_memory(&host->base.error, "beginning to look at steps");
    if (host->crew.trace != NULL)
        trace_free(host->crew.trace, &host->base);
    host->crew.trace = trace;
    return BP_OK;
}

uint64_t bp_host_configured_steps(bp_host_o *host)
{
    return host->steps;
}

int32_t bp_host_unit_stats(bp_host_o *host, uint32_t index, bp_unit_stats_t *stats)
{
    for (uint32_t w = 0; w < host->destruction.world_count; w++) {
        const bp_world_o *world = host->destruction.worlds[w];
        const schedule_t *schedule = world->schedule;
        if (index >= schedule->count) {
            index -= schedule->count;
            continue;
        }
        const unit_t *unit = schedule->units[index];
        const plugin_t *owner = unit->system != NULL ? unit->system->owner : unit->manager->component->owner;
        *stats = (bp_unit_stats_t){world->name, unit->name, owner->name, unit->steps, unit->nanoseconds, unit->rows};
        return 1;
    }
    return 0;
}

void bp_world_stats(bp_world_o *world, bp_world_stats_t *stats)
{
    *stats = (bp_world_stats_t){
        .name = world->name,
        .steps = world->steps,
        .time = world->time,
        .nanoseconds = world->nanoseconds,
        .bytes = world_bytes(world),
        .entities = world->occupied,
        .prototypes = world->prototypes.count,
        .runs = world->run_count,
    };
    for (uint32_t i = 0; i < world->run_count; i++)
        stats->holes += world->runs[i]->holes;
}

static void report_world(bp_world_o *world, const bp_report_sink_i *sink)
{
    const schedule_t *schedule = world->schedule;
    bp_report_o report = {.sink = sink, .world = world->name};
    for (uint32_t i = 0; i < world->manager_count; i++) {
        manager_t *manager = world->managers[i];
        report.unit = manager->component->name;
        if (manager->started && manager->component->table.report != NULL)
            verb_report(manager->component, &manager->seen, &report);
    }
    for (uint32_t i = 0; i < schedule->count; i++) {
        unit_t *unit = schedule->units[i];
        report.unit = unit->name;
        unit_call_report(unit, &report);
    }
}

void bp_host_report(bp_host_o *host, const bp_report_sink_i *sink)
{
    for (uint32_t w = 0; w < host->destruction.world_count; w++)
        report_world(host->destruction.worlds[w], sink);
}
