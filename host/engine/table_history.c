/* table_history.c - the table bp_history: the host's memory of the past, for plugins, and a plugin's wish for a moment.
 *
 * A wish is kept in the host until the next poll. Clocks come back with the moment. But a world that was stopped in
 * order to look at its past must stay stopped at the wished moment, so whether worlds are stopped is noted with the
 * wish.
 */
#include "host.h"

#include <bp_history.h>
#include <stdio.h>
#include <string.h>

static void read_past(bp_host_o *host, bp_past_t *past)
{
    const history_t *h = &host->history;
    uint32_t size = past->struct_size;
    bp_past_t now = {.struct_size = size,
                     .keyframes = h->keyframes.count,
                     .first = h->first,
                     .now = h->now,
                     .last = h->last,
                     .bytes = h->store.pieces.bytes,
                     .budget = h->budget,
                     .wished = host->wish.waits,
                     .result = host->wish.result,
                     .why = host->wish.why};
    memcpy(past, &now, size < sizeof now ? size : sizeof now);
}

static bp_result_t refuse_without_past(bp_host_o *host)
{
    return error_set(&host->base.error, BP_ERROR_STATE,
                     "the host remembers nothing; [host] history = 512 MiB in the ini says that it is to");
}

static bp_result_t wish(bp_host_o *host, uint64_t moment)
{
    const history_t *h = &host->history;
    if (h->budget == 0)
        return refuse_without_past(host);
    if (moment < h->first || moment > h->last)
        return error_set(&host->base.error, BP_ERROR_RANGE, "step %llu is not remembered; steps %llu to %llu are",
                         (unsigned long long)moment, (unsigned long long)h->first, (unsigned long long)h->last);
    host->wish.waits = true;
    host->wish.moment = moment;
    host->wish.left = 0;
    return BP_OK;
}

static uint32_t left(bp_host_o *host, uint32_t index, bp_left_t *out)
{
    uint32_t size = out->struct_size;
    bp_branch_t branch = {.struct_size = sizeof branch};
    if (bp_host_branch_at(host, index, &branch) == 0)
        return 0;
    bp_left_t now = {.struct_size = size,       .number = branch.number, .parent = branch.parent,
                     .fork = branch.fork,       .last = branch.last,     .bytes = branch.bytes};
    memcpy(out, &now, size < sizeof now ? size : sizeof now);
    return 1;
}

static bp_result_t wish_left(bp_host_o *host, uint64_t number)
{
    bp_branch_t branch = {.struct_size = sizeof branch};
    bool kept = false;
    if (host->history.budget == 0)
        return refuse_without_past(host);
    for (uint32_t i = 0; !kept && bp_host_branch_at(host, i, &branch) != 0; i++)
        kept = branch.number == number;
    if (!kept)
        return error_set(&host->base.error, BP_ERROR_NOT_FOUND, "no branch %llu is kept", (unsigned long long)number);
    host->wish.waits = true;
    host->wish.left = number;
    return BP_OK;
}

static bp_result_t mark(bp_host_o *host, const char *name)
{
    bp_result_t result = host_refuse_during_step(host);
    if (result == BP_OK && name == NULL)
        result = error_set(&host->base.error, BP_ERROR_ARGUMENT, "mark: the name is NULL");
    return result == BP_OK ? bp_host_mark(host, name) : result;
}

static bp_result_t marked(bp_host_o *host, const char *name, uint64_t *moment)
{
    if (name == NULL)
        return error_set(&host->base.error, BP_ERROR_ARGUMENT, "marked: the name is NULL");
    return bp_host_marked(host, name, moment);
}

const bp_history_api host_history_table = {
    .struct_size = sizeof host_history_table,
    .version = 4,
    .read = read_past,
    .wish = wish,
    .branch_off = bp_host_branch_off,
    .try_change = wished_change_try,
    .make_change = wished_change_make,
    .read_change = wished_change_read,
    .difference = wished_change_difference,
    .mark = mark,
    .marked = marked,
    .left = left,
    .wish_left = wish_left,
};

static clock_stand_t stand_of(const bp_world_o *world)
{
    return (clock_stand_t){.granted = world->clock.granted, .stopped = world->clock.stopped};
}

static void set_stand(bp_world_o *world, clock_stand_t stand)
{
    world->clock.stopped = stand.stopped;
    world->clock.granted = stand.granted;
}

static bool stand_as_in_the_past(const bp_host_o *host)
{
    bool same = true;
    for (uint32_t i = 0; i < host->destruction.world_count; i++) {
        const bp_world_o *world = host_world(host, i);
        same = same && world->clock.stopped == world->in_the_past.stopped &&
               world->clock.granted == world->in_the_past.granted;
    }
    return same;
}

void host_step_where_wished(bp_host_o *host)
{
    if (host->wish.at == host->history.now && host->wish.branch == host->history.branch && !host->history.touched &&
        !stand_as_in_the_past(host))
        history_touch_always(&host->history);
    host->wish.holds = false;
}

/* Going forward begins with the present state. Where the host has not been changed from outside since the last wish,
 * the clocks are set to those of the past first, so that its steps are taken. */
void host_go_where_wished(bp_host_o *host)
{
    if (!host->wish.waits)
        return;
    bool holds = host->wish.holds && host->wish.at == host->history.now &&
                 host->wish.branch == host->history.branch && !host->history.touched;
    for (uint32_t i = 0; i < host->destruction.world_count; i++) {
        bp_world_o *world = host_world(host, i);
        world->before = stand_of(world);
        if (holds)
            set_stand(world, world->in_the_past);
    }
    host->wish.waits = host->wish.holds = false;
    host->wish.result = host->wish.left != 0 ? bp_host_branch_to(host, host->wish.left)
                                             : bp_host_go(host, host->wish.moment);
    host->wish.why[0] = '\0';
    if (host->wish.result != BP_OK)
        snprintf(host->wish.why, sizeof host->wish.why, "%.255s", host->base.error.text);
    host->wish.holds = host->wish.result == BP_OK;
    host->wish.at = host->history.now;
    host->wish.branch = host->history.branch;
    for (uint32_t i = 0; i < host->destruction.world_count; i++) {
        bp_world_o *world = host_world(host, i);
        world->in_the_past = stand_of(world);
        if (host->wish.result == BP_OK)
            world->before.granted = 0;
        set_stand(world, world->before);
    }
}
