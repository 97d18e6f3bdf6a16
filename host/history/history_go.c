/* history_go.c - going to another moment: a keyframe is brought back, and the steps behind it are computed again.
 *
 * Invariant: after a failure the host is where it was, on the line that it was on, or the log says that the way back
 * could not be computed either.
 *
 * Not here: what is kept, and the steps themselves (history.c); lines that were left (branches.c).
 */
#include "branches.h"
#include "history_inner.h"

#include "../os/os.h"

#include <inttypes.h>

/* The keyframe to go from. NULL: the host goes on from where it is, which is allowed where its present state is
 * `whole`; or the moment cannot be computed (*impossible). */
static const keyframe_t *start_of(const history_t *h, uint64_t moment, bool whole, bool *impossible)
{
    const keyframe_t *best = NULL;
    uint64_t barrier = 0; /* moment of the last call before `moment` that cannot be made again */
    bool any = false, with_calls = moment == h->last; /* those of the moment itself are to be made too */
    for (uint32_t i = 0; i < h->touch_count; i++) {
        const touch_t *touch = &h->touches[i];
        with_calls = with_calls || (touch->moment == moment && touch->lost);
        if (touch->unknown && (touch->moment < moment || (with_calls && touch->moment == moment))) {
            barrier = touch->moment;
            any = true;
        }
    }
    for (uint32_t i = 0; i < h->keyframes.count; i++) {
        const keyframe_t *k = &h->keyframes.items[i];
        if (k->moment < moment || (k->moment == moment && (!k->touched || with_calls)))
            best = k;
    }
    *impossible = best == NULL || (any && (best->moment < barrier || (best->moment == barrier && !best->touched)));
    bool from_here = whole && h->now <= moment && !*impossible && best->moment <= h->now && (!any || barrier < h->now);
    return from_here ? NULL : best;
}

const keyframe_t *history_keyframe(const history_t *h, uint64_t moment)
{
    bool impossible;
    const keyframe_t *found = start_of(h, moment, false, &impossible);
    return impossible ? NULL : found;
}

/* Compute from the present moment to another one; `came`: the calls of the present moment have been made already. */
static bp_result_t compute(history_t *h, uint64_t moment, bool came)
{
    for (;;) {
        bool comes = !came && (h->now < moment || moment == h->last);
        bp_result_t result = comes ? history_come_again(h) : BP_OK;
        if (result != BP_OK || h->now == moment)
            return result;
        if (!history_give_inputs(h))
            return error_memory(&h->parts.base->error, "giving plugins what they took from outside");
        result = h->step(h->context, taken_at(&h->taken, h->now));
        if (result != BP_OK)
            return result;
        h->now++;
        came = false;
    }
}

static bool has_output(const parts_t *parts)
{
    for (uint32_t w = 0; w < parts->destruction->world_count; w++) {
        const schedule_t *schedule = world_handle(parts->destruction->worlds[w])->schedule;
        for (uint32_t i = 0; i < schedule->count; i++) {
            const system_t *system = schedule->units[i]->system;
            if (system != NULL && system_is_output(system))
                return true;
        }
    }
    return false;
}

/* Can the host go forward to a moment by taking each step, as it has to where units are output and are to see every
 * step? False also where a call from outside in between cannot be made again and its keyframe is gone, and where a
 * step on the way is lost. */
static bool can_walk(const history_t *h, uint64_t moment)
{
    if (moment <= h->now || !has_output(&h->parts))
        return false;
    for (uint32_t i = 0; i < h->touch_count; i++) {
        const touch_t *touch = &h->touches[i];
        if (touch->lost && touch->moment > h->now && touch->moment <= moment)
            return false;
        if (touch->unknown && touch->moment >= h->now &&
            (touch->moment < moment || (touch->moment == moment && moment == h->last)) &&
            keyframes_touched(&h->keyframes, touch->moment) == NULL)
            return false;
    }
    return true;
}

/* Go to a moment from a keyframe, or from the present moment (NULL). After a failure *moved says whether the host has
 * left its state or is as it was. */
static bp_result_t go_from(history_t *h, const keyframe_t *start, uint64_t moment, bool *moved)
{
    bp_result_t result = start == NULL ? snapshot_suspend_outputs(&h->parts) : history_bring_back(h, start);
    *moved = result == BP_OK || h->astray;
    if (result != BP_OK)
        return result;
    h->now = start != NULL ? start->moment : h->now;
    *h->recomputing = true;
    result = compute(h, moment, start != NULL && start->touched);
    *h->recomputing = false;
    return result;
}

/* Go back to where the host was, when a step or a call could not be made again on the way. The error's text stays the
 * one of that failure. */
static void return_to(history_t *h, uint64_t moment)
{
    bool impossible, moved;
    char told[sizeof h->parts.base->error.text];
    memcpy(told, h->parts.base->error.text, sizeof told);
    const keyframe_t *start = start_of(h, moment, false, &impossible);
    if (impossible || go_from(h, start, moment, &moved) != BP_OK)
        history_say(h, BP_LOG_ERROR, "the way back to where the host was could not be computed either");
    memcpy(h->parts.base->error.text, told, sizeof told);
}

/* `whole`: the present state is one of the line; else a keyframe has to be brought back. */
static bp_result_t go(history_t *h, uint64_t moment, bool whole)
{
    error_text_t *error = &h->parts.base->error;
    bool impossible;
    if (h->budget == 0)
        return error_set(error, BP_ERROR_STATE, "the host remembers nothing: give it a budget ([host] history)");
    bool anew = history_is_made_anew(h);
    if (anew)
        history_begin_anew(h);
    if (moment < h->first || moment > h->last)
        return error_set(error, BP_ERROR_NOT_FOUND,
                         "moment %" PRIu64 " is not remembered; those from %" PRIu64 " to %" PRIu64 " are", moment,
                         h->first, h->last);
    bp_result_t result = snapshot_between(&h->parts);
    if (result != BP_OK)
        return result;
    history_put_down(h, anew);
    if (moment == h->now && moment == h->last && whole)
        return BP_OK;
    whole = whole && !h->came; /* else calls would be made once more on the way */
    const keyframe_t *start = start_of(h, moment, whole, &impossible);
    bool walk = whole && can_walk(h, moment);
    if (impossible && !walk)
        return error_set(error, BP_ERROR_STATE,
                         "moment %" PRIu64 " cannot be computed any more: what came from outside before it had to be "
                         "forgotten for want of room",
                         moment);
    uint64_t was = h->now;
    size_t refused = memory_refused(&h->parts.base->memory);
    bool moved = true;
    h->going = true;
    result = walk ? compute(h, moment, false) : go_from(h, start, moment, &moved);
    if (result == BP_OK && memory_refused(&h->parts.base->memory) != refused)
        result = error_memory(error, "computing the past"); /* a step goes on without a command that it has no room for:
                                                               that is another past */
    if (result != BP_OK && moved)
        return_to(h, was);
    h->branch += moved;
    h->came = h->came && !moved;
    if (moved)
        feed_break(h->feed, "the host has gone to another time");
    h->recording.elsewhere = h->recording.elsewhere || moved;
    if (moved && (!walk || result != BP_OK))
        snapshot_tell(&h->parts);
    h->going = false;
    return result;
}

bp_result_t history_go(history_t *h, uint64_t moment)
{
    return go(h, moment, true);
}

/* The host could not go to the branch: put the former part of the line back in its place. */
static bp_result_t put_back(history_t *h, uint64_t line, uint64_t root, uint64_t was, bp_result_t result)
{
    error_text_t told = h->parts.base->error;
    bool back = true;
    if (branches_find(h, line) != NULL)
        back = branches_return(h, line);
    else if (branches_present(h) != line)
        branches_cut(h, root);
    if (!back || go(h, was, false) != BP_OK)
        history_say(h, BP_LOG_ERROR, "the way back to where the host was could not be computed either");
    h->parts.base->error = told;
    return result;
}

bp_result_t history_return(history_t *h, uint64_t number)
{
    error_text_t *error = &h->parts.base->error;
    const branch_t *branch = branches_find(h, number);
    if (branch == NULL)
        return error_set(error, BP_ERROR_NOT_FOUND, "no branch %" PRIu64 " is kept", number);
    uint64_t root = branches_root(h, branch), was = h->now;
    bp_result_t result = go(h, was < root ? was : root, true);
    if (result != BP_OK)
        return result;
    uint64_t line = branches_present(h);
    if (history_is_made_anew(h)) /* there was no room for the calls since the last step */
        history_begin_anew(h);
    if (branches_find(h, number) == NULL) /* or it was dropped to make room for them */
        return error_set(error, BP_ERROR_NOT_FOUND, "branch %" PRIu64 " had to be forgotten for want of room", number);
    result = branches_return(h, number) ? go(h, h->last, false) : error_memory(error, "returning to a branch");
    return result == BP_OK ? BP_OK : put_back(h, line, root, was, result);
}
