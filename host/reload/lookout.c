/* lookout.c - the watcher of calls in a trial, and what a call may write.
 *
 * Code of the host that writes for a plugin - a value that is set, entities that are made - may write to every column:
 * the guard asks about an address that memory has refused to the host, and the column is opened (fence_permit).
 */
#include "lookout.h"

#include "../step/schedule.h"

#include <stdio.h>

enum {
    RUNS_LOOKED = 256, /* whose room is looked at with one call, in turn */
    PROBES = 16        /* places of the list of kinds that one is looked for in */
};

/* --- what a call may write ---------------------------------------------------------------------------------------- */

static const unit_t *unit_of(const call_view_t *call, const world_t *world)
{
    const schedule_t *schedule = world_handle(world)->schedule;
    for (uint32_t i = 0; i < schedule->count; i++) {
        const unit_t *unit = schedule->units[i];
        if (call->system != NULL ? unit->system == call->system
                                 : unit->manager != NULL && unit->manager->component == call->component)
            return unit;
    }
    return NULL;
}

static bool unit_may_write(const unit_t *unit, const fence_column_t *column)
{
    for (uint32_t i = 0; i < unit->access_count; i++) {
        const access_t *access = &unit->access[i];
        if (access->manager == column->manager)
            return access->named || (access->writes[column->field / 64] >> column->field % 64 & 1) != 0;
    }
    return false;
}

static bool may_write(const void *data, const fence_column_t *column)
{
    const call_view_t *call = data;
    const world_t *world = column->world;
    if (column->manager == BP_NONE || call->place != &world->place || call->rows == CALL_NO_ROWS)
        return false;
    if (call->rows == CALL_OWN_ROWS)
        return world->managers[column->manager]->component == call->component;
    const unit_t *unit = unit_of(call, world);
    return unit == NULL || unit_may_write(unit, column);
}

static const world_t *world_called_in(const lookout_t *lookout, const call_view_t *call)
{
    const destruction_t *d = lookout->reload->destruction;
    for (uint32_t w = 0; w < d->world_count && call->place != NULL; w++) {
        if (&d->worlds[w]->place == call->place)
            return d->worlds[w];
    }
    return NULL;
}

static fence_rights_t rights_of(const lookout_t *lookout, const call_view_t *call)
{
    return (fence_rights_t){.world = world_called_in(lookout, call), .prototype = call->prototype, .count = call->count,
                            .all = lookout->whole, .entities = call->entities, .may_write = may_write, .data = call};
}

/* --- the watcher -------------------------------------------------------------------------------------------------- */

static bool is_candidate(const lookout_t *lookout, const plugin_t *plugin)
{
    bool found = false;
    for (uint32_t i = 0; i < lookout->count; i++)
        found = found || lookout->candidates[i] == plugin;
    return found;
}

/* How many calls of this kind there have been. A kind that is called seldom must not be counted with one that is called
 * for each world, so kinds are compared and not hashed alone. */
static uint32_t *calls_like(lookout_t *lookout, const call_view_t *call)
{
    uint64_t hash = (uintptr_t)call->plugin;
    hash = (hash * 31 + (uintptr_t)call->component) * 31 + (uintptr_t)call->system;
    hash = (hash * 31 + call->rows) * UINT64_C(0x9E3779B97F4A7C15) >> 32;
    lookout_kind_t *kind = NULL;
    for (uint32_t i = 0; i < PROBES; i++) {
        kind = &lookout->kinds[(hash + i) % LOOKOUT_KINDS];
        if (kind->calls == 0)
            *kind = (lookout_kind_t){call->plugin, call->component, call->system, call->rows, 0};
        if (kind->plugin == call->plugin && kind->component == call->component && kind->system == call->system &&
            kind->rows == call->rows)
            break;
    }
    return &kind->calls;
}

/* Is this call one that is looked at, and with everything? Counts it. */
static void choose_looks(lookout_t *lookout, const call_view_t *call)
{
    uint32_t number = (*calls_like(lookout, call))++;
    lookout->looks = lookout->all_calls++ < LOOKOUT_ALL || number < LOOKOUT_FIRST || number % LOOKOUT_EACH == 0;
    lookout->whole = number < LOOKOUT_WHOLE && call->rows == CALL_NO_ROWS && is_candidate(lookout, call->plugin);
}

static bool before_call(void *data, const call_view_t *call)
{
    lookout_t *lookout = data;
    choose_looks(lookout, call);
    if (!lookout->looks)
        return false;
    fence_rights_t rights = rights_of(lookout, call);
    slack_fill(&lookout->slack, rights.world, rights.prototype, lookout->whole);
    fence_fill(&lookout->fence, &rights);
    if (is_candidate(lookout, call->plugin))
        fence_shut(&lookout->fence, &rights);
    return true;
}

static void within_call(void *data, const call_view_t *call)
{
    lookout_t *lookout = data;
    if (!lookout->looks)
        return; /* all is open */
    fence_rights_t rights = rights_of(lookout, call);
    fence_open_for(&lookout->fence, &rights);
}

static bool after_call(void *data, char *reason, size_t size)
{
    lookout_t *lookout = data;
    if (!lookout->looks)
        return true;
    fence_open(&lookout->fence);
    return fence_is_whole(&lookout->fence, reason, size) && slack_is_whole(&lookout->slack, reason, size);
}

static void explain(void *data, guard_crash_t *crash)
{
    static const char *const did[] = {
        [GUARD_TOUCHED] = "wrote or read", [GUARD_READ] = "read", [GUARD_WROTE] = "wrote"};
    const lookout_t *lookout = data;
    char words[GUARD_REASON];
    if (crash->address == 0 || !fence_explain(&lookout->fence, crash->address, did[crash->access], words, sizeof words))
        return;
    snprintf(crash->reason, sizeof crash->reason, "%s", words);
    crash->harm = true;
}

static bool permit(void *data, const void *address)
{
    lookout_t *lookout = data;
    return fence_permit(&lookout->fence, address);
}

static void hands(void *data, void *values)
{
    permit(data, values);
}

/* --- beginning and end -------------------------------------------------------------------------------------------- */

void lookout_lay(lookout_t *lookout)
{
    const destruction_t *d = lookout->reload->destruction;
    fence_lay(&lookout->fence, d->worlds, d->world_count);
}

void lookout_lay_in(lookout_t *lookout, world_t *world)
{
    fence_lay_in(&lookout->fence, world);
}

void lookout_begin(lookout_t *lookout, reload_t *reload, plugin_t *const *candidates, uint32_t count)
{
    *lookout = (lookout_t){.reload = reload, .candidates = candidates, .count = count};
    const destruction_t *d = reload->destruction;
    slack_init(&lookout->slack, &reload->memory, d->worlds, d->world_count, RUNS_LOOKED);
    fence_init(&lookout->fence, &reload->memory, candidates, count);
    lookout->fence.most = FENCE_COLUMNS / 2; /* the change makes new columns */
    lookout_lay(lookout);
    slack_make(&lookout->slack, &lookout->fence);
    lookout->watch = (call_watch_t){
        .data = lookout, .before = before_call, .within = within_call, .after = after_call, .explain = explain};
    lookout->handing = (handing_t){.hands = hands, .data = lookout};
    reload->loader->plugins.watch = &lookout->watch;
    reload->base->handing = &lookout->handing;
    if (reload->loader->guard != NULL)
        guard_ask(reload->loader->guard, permit, lookout);
}

void lookout_lay_changed(lookout_t *lookout)
{
    lookout->fence.most = FENCE_COLUMNS;
    lookout_lay(lookout);
    slack_make(&lookout->slack, &lookout->fence);
}

void lookout_end(lookout_t *lookout)
{
    reload_t *reload = lookout->reload;
    if (reload->loader->guard != NULL)
        guard_ask(reload->loader->guard, NULL, NULL);
    reload->base->handing = NULL;
    reload->loader->plugins.watch = NULL;
    slack_free(&lookout->slack);
    fence_free(&lookout->fence);
}
