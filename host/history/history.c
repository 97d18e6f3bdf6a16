/* history.c - keyframes, the steps between them, and what came from outside before each step. */
#include "branches.h"
#include "history_inner.h"

#include "../os/os.h"

#include <inttypes.h>

enum { MILLION = 1000000 };

static const char other_parts[] = "the host is made of other parts now";

/* Prepare what the past is kept in. */
static void prepare_past(history_t *h)
{
    memory_init_child(&h->memory, "history", &h->parts.base->memory);
    eras_init(&h->eras, &h->memory);
    bytes_init(&h->calls, &h->memory);
    keyframe_store_init(&h->store, &h->memory);
    h->store.pieces.make_room = history_make_room_for_piece;
    h->store.pieces.context = h;
    keyframes_init(&h->keyframes, &h->store);
    taken_init(&h->taken, &h->memory);
}

void history_prepare(history_t *h, const parts_t *parts)
{
    *h = (history_t){.parts = *parts, .interval_ms = HISTORY_INTERVAL_MS, .record_ms = RECORDING_KEYFRAME_MS};
    prepare_past(h);
    memory_init_child(&h->recorder, "recording", &parts->base->memory);
    outside_init(&h->outside, &h->memory);
}

/* Empty the notes of calls that came since the last step, once the notes have been kept or are not wanted. */
static void end_touch(history_t *h)
{
    h->touched = h->unknown = h->remade = h->lost = h->left = false;
    h->calls.size = 0;
    h->calls.failed = false;
    if (h->calls.room > HISTORY_CALLS)
        bytes_free(&h->calls);
}

static void forget(history_t *h)
{
    while (h->keyframes.count > 0)
        keyframes_drop(&h->keyframes, h->keyframes.count - 1);
    taken_cut(&h->taken, 0);
    history_drop_touches(h, 0, h->touch_count);
    branches_forget(h);
    h->mark_count = h->stretch_count = 0;
    h->first = h->last = h->now;
    h->came = false;
    end_touch(h);
}

/* Ask for stamps in a world while anything is remembered, so that keyframes share what has not been written. */
static bp_result_t match_stamps(const history_t *h, world_t *world)
{
    bool wanted = h->budget != 0;
    if (wanted == world->kept_for_history)
        return BP_OK;
    bp_result_t result = BP_OK;
    if (wanted)
        result = world_keep_stamps(world);
    else
        world_release_stamps(world);
    world->kept_for_history = wanted && result == BP_OK;
    return result;
}

static bool is_wanted(const history_t *h)
{
    return h->budget != 0 || recording_is_on(&h->recording) || h->feed != NULL;
}

/* Set `on`, which says whether anything is remembered or recorded: while it is set, all calls that change something
 * tell the history. */
static void look_on(history_t *h)
{
    h->on = is_wanted(h);
    h->outside.notes = h->on;
    base_t *base = h->parts.base;
    base->attention = h->on ? base->attention | BASE_REMEMBERED : base->attention & ~(uint32_t)BASE_REMEMBERED;
    for (uint32_t i = 0; h->budget == 0 && i < h->parts.destruction->world_count; i++)
        match_stamps(h, h->parts.destruction->worlds[i]);
}

void history_add_world(history_t *h, world_t *world)
{
    match_stamps(h, world); /* without memory for stamps, keyframes compare all bytes of this world */
    keyframe_store_forget(&h->store);
}

/* Free all that the past is kept in. */
static void free_past(history_t *h)
{
    forget(h);
    eras_free(&h->eras);
    keyframes_free(&h->keyframes);
    keyframe_store_free(&h->store);
    taken_free(&h->taken);
    memory_free(&h->memory, h->touches, h->touch_capacity * sizeof *h->touches);
    memory_free(&h->memory, h->marks, h->mark_capacity * sizeof *h->marks);
    memory_free(&h->memory, h->stretches, h->stretch_capacity * sizeof *h->stretches);
    memory_free(&h->memory, h->branches, h->branch_capacity * sizeof *h->branches);
    h->stretches = NULL;
    h->branches = NULL;
    h->stretch_capacity = h->branch_capacity = 0;
    h->touches = NULL;
    h->marks = NULL;
    h->touch_capacity = h->mark_capacity = 0;
    bytes_free(&h->calls);
}

void history_free(history_t *h)
{
    free_past(h);
    outside_free(&h->outside);
    h->budget = 0;
    look_on(h);
}

/* --- the parts of the host ------------------------------------------------------------------------------------- */

static uint64_t shape_of(const parts_t *parts)
{
    const destruction_t *d = parts->destruction;
    uint64_t shape = parts->loader->plugins.count * UINT64_C(1000003) + d->world_count;
    for (uint32_t i = 0; i < d->world_count; i++) {
        const world_t *world = d->worlds[i];
        shape = shape * 31 + world->manager_count;
        shape = shape * 31 + (uintptr_t)world;
        for (uint32_t m = 0; m < world->manager_count; m++)
            shape = shape * 31 + world->managers[m]->started;
    }
    return shape;
}

static uint64_t units_of(const parts_t *parts)
{
    uint64_t units = 0;
    for (uint32_t i = 0; i < parts->destruction->world_count; i++) {
        const schedule_t *schedule = world_handle(parts->destruction->worlds[i])->schedule;
        units = units * 1021 + schedule->count;
    }
    return units;
}

/* --- keyframes ---------------------------------------------------------------------------------------------------- */

void history_begin_anew(history_t *h)
{
    forget(h);
    h->shape = shape_of(&h->parts);
    h->units = units_of(&h->parts);
    if (h->budget == 0)
        return;
    if (!eras_begin(&h->eras, h->now)) {
        history_say(h, BP_LOG_WARNING, "no memory for what the host is made of: the past begins with the next step");
        h->shape = 0;
        return;
    }
    branches_begin(h);
    history_keep_or_say(h, false);
}

/* Begin a past in `h`, which has none, for the host as it is. */
static bp_result_t begin_past(history_t *h, uint64_t budget)
{
    const destruction_t *d = h->parts.destruction;
    bp_result_t result = BP_OK;
    h->now = h->first = h->last = d->world_count > 0 ? world_handle(d->worlds[0])->clock.steps : 0;
    h->budget = budget;
    h->shape = shape_of(&h->parts);
    h->units = units_of(&h->parts);
    if (!eras_begin(&h->eras, h->now))
        result = error_memory(&h->parts.base->error, "remembering");
    branches_begin(h);
    for (uint32_t i = 0; i < d->world_count && result == BP_OK; i++)
        result = match_stamps(h, d->worlds[i]);
    return result == BP_OK ? history_keep(h, false) : result;
}

/* Put the past of `next` in the place of that of `h`. */
static void move_past(history_t *h, history_t *next)
{
    size_t bytes = memory_bytes(&next->memory);
    free_past(h);
    memory_count(&next->memory, bytes, 0);
    memory_count(&h->memory, 0, bytes);
    h->eras = next->eras;
    h->store = next->store;
    h->keyframes = next->keyframes;
    h->stretches = next->stretches;
    h->stretch_count = next->stretch_count;
    h->stretch_capacity = next->stretch_capacity;
    h->numbers = next->numbers;
    h->eras.memory = h->store.pieces.memory = &h->memory;
    h->store.pieces.rest.memory = h->store.pieces.coded.memory = &h->memory;
    h->store.pieces.context = h;
    h->keyframes.store = &h->store;
    h->budget = next->budget;
    h->first = next->first;
    h->now = next->now;
    h->last = next->last;
    h->shape = next->shape;
    h->units = next->units;
    h->taken_at = next->taken_at;
    h->took = next->took;
    h->stamp_bytes = next->stamp_bytes;
    h->failing = false;
}

/* A recording and a draft go on, and are to know what has come since the last step. */
static void put_down_last(history_t *h)
{
    if (h->on)
        history_put_down(h, history_is_made_anew(h));
}

bp_result_t history_set_begin(history_t *h, uint64_t budget, history_t *next)
{
    *next = (history_t){.parts = h->parts, .numbers = h->numbers};
    prepare_past(next);
    next->eras.makers = h->eras.makers;
    if (budget == 0)
        return BP_OK;
    bp_result_t result = snapshot_moment(&h->parts);
    if (result == BP_OK)
        result = snapshot_check(&h->parts);
    if (result != BP_OK || h->budget == 0)
        return result;
    result = begin_past(next, budget);
    if (result != BP_OK)
        free_past(next);
    return result;
}

bp_result_t history_set_end(history_t *h, uint64_t budget, history_t *next)
{
    put_down_last(h);
    if (next->budget != 0) {
        move_past(h, next);
        return BP_OK;
    }
    history_free(h);
    if (budget == 0)
        return BP_OK;
    h->budget = budget;
    look_on(h);
    bp_result_t result = begin_past(h, budget);
    if (result != BP_OK)
        history_free(h);
    return result;
}

static void renew(history_t *h, const char *why)
{
    feed_break(h->feed, why);
    if (!h->on || h->going)
        return;
    forget(h);
    h->shape = 0; /* the next step begins a new past */
}

void history_renew(history_t *h)
{
    renew(h, "the host has gone to another time");
}

void history_lose_part(history_t *h)
{
    if (!h->undoing)
        renew(h, other_parts);
}

void history_undo_begin(history_t *h)
{
    h->undoing = true;
}

void history_undo_end(history_t *h, bool worlds)
{
    h->undoing = false;
    if (worlds || h->touched) /* ids have been given out, and calls may name what has gone */
        history_touch_always(h);
}

/* --- what comes from outside -------------------------------------------------------------------------------------- */

static touch_t *find_touch(const history_t *h, uint64_t moment)
{
    uint32_t begin = 0, end = h->touch_count;
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (h->touches[middle].moment < moment)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < h->touch_count && h->touches[begin].moment == moment ? &h->touches[begin] : NULL;
}

void history_cut(history_t *h)
{
    if (h->now == h->last)
        return;
    const touch_t *touch = find_touch(h, h->now);
    bool lost = touch != NULL && touch->lost;
    bool remade = lost && eras_of(&h->eras, h->now, true) != eras_of(&h->eras, h->now, false);
    uint64_t number = branches_cut(h, h->now);
    branches_begin(h);
    if (h->came) /* they are of the line that was left */
        h->touched = h->unknown = true;
    h->came = false;
    if (lost) { /* the line has lost the keyframe that is this moment's state, and keeps another one */
        h->touched = h->unknown = h->lost = h->left = true;
        h->remade = h->remade || remade;
    }
    if (number != 0)
        log_write(&h->parts.base->log, BP_LOG_INFO, "host",
                  "history: another future begins here; the one that was is kept as branch %" PRIu64, number);
    else
        history_say(h, BP_LOG_INFO, "another future begins here; the one that was is forgotten, since there was no "
                    "memory to keep it");
}

/* Does a call at present come from outside? Calls within steps, by reloads, and while the past is computed do not. */
static bool is_outside(const history_t *h)
{
    return !h->going && h->parts.destruction->stepping == 0 && !h->parts.entities->sealed;
}

static void touch(history_t *h)
{
    if (h->now < h->last) {
        history_cut(h);
    }
    h->touched = true;
}

static size_t refused_so_far(const history_t *h)
{
    return memory_refused(&h->parts.base->memory);
}

static void lose_calls(history_t *h)
{
    h->unknown = h->store.doubted = true;
    bytes_free(&h->calls);
}

void history_touch_always(history_t *h)
{
    if (!h->on || !is_outside(h))
        return;
    touch(h);
    lose_calls(h);
}

void history_remade(history_t *h)
{
    if (!h->on || h->going)
        return;
    touch(h);
    lose_calls(h);
    h->remade = true;
    h->units = units_of(&h->parts);
}

void history_taken_back(history_t *h)
{
    history_remade(h);
    h->lost = h->remade;
}

bool history_is_made_anew(history_t *h)
{
    if (h->shape != shape_of(&h->parts))
        return true;
    if (h->units != units_of(&h->parts))
        history_remade(h);
    return false;
}

void history_touch_slowly(history_t *h)
{
    if (!h->calling)
        history_touch_always(h);
}

bool history_call_slowly(history_t *h)
{
    if (h->calling || h->unknown || !is_outside(h))
        return false;
    touch(h);
    h->calling = true;
    h->unseen = false;
    h->call_begins = h->calls.size;
    return true;
}

/* The most bytes of calls that are kept at one moment; beyond these a keyframe is kept instead. */
static size_t most_calls(const history_t *h)
{
    const keyframe_t *last = keyframes_last(&h->keyframes);
    uint64_t size = last != NULL ? keyframe_size(last) : h->recording.keyframe_size;
    return size > HISTORY_CALLS ? (size_t)size : HISTORY_CALLS;
}

void history_called(history_t *h, bool done)
{
    h->calling = false;
    if (!done || h->unseen || h->calls.failed || h->calls.size > most_calls(h))
        lose_calls(h);
}

/* Keep the calls since the last step, behind earlier calls of the same moment. False without memory, and where there
 * are too many calls of that moment by now. */
static bool keep_calls(history_t *h, touch_t *touch)
{
    size_t size = h->calls.size;
    if (size > 0 && touch->size + size > most_calls(h))
        return false;
    char *calls = size == 0 ? touch->calls : memory_resize(&h->memory, touch->calls, touch->size, touch->size + size);
    if (size == 0)
        return true;
    if (calls == NULL)
        return false;
    memcpy(calls + touch->size, h->calls.start, size);
    touch->calls = calls;
    touch->size += size;
    history_make_room(h, 0);
    return true;
}

void history_keep_touch(history_t *h)
{
    touch_t *touch = find_touch(h, h->now);
    if (h->budget == 0) {
        end_touch(h);
        return;
    }
    if (touch == NULL) {
        if (!memory_reserve(&h->memory, &h->touches, &h->touch_capacity, h->touch_count + 1u, sizeof *h->touches)) {
            history_say(h, BP_LOG_WARNING, "no memory for what came since the last step: the past begins anew here");
            h->shape = 0;
            return;
        }
        touch = &h->touches[h->touch_count++];
        *touch = (touch_t){.moment = h->now};
    }
    touch->lost = touch->lost || h->lost;
    if (h->unknown || touch->unknown || !keep_calls(h, touch)) {
        history_drop_calls(h, touch);
        touch->unknown = true;
        history_keep_or_say(h, true);
    }
    if (h->remade && !eras_add(&h->eras, h->now)) {
        history_say(h, BP_LOG_WARNING, "no memory for another era: the past begins anew here");
        history_begin_anew(h);
    }
    end_touch(h);
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

bp_result_t history_make_up(const parts_t *parts, const eras_t *eras, const era_t *era, bool *astray)
{
    const plugin_t *crashed = snapshot_crashed(parts);
    if (eras_is(eras, era) && crashed == NULL)
        return BP_OK;
    if (era == NULL)
        return error_set(&parts->base->error, BP_ERROR_STATE,
                         "plugin '%s' has crashed and is set aside, and no version of it is remembered",
                         crashed->name);
    bp_result_t result = eras_check(eras, era);
    if (result != BP_OK)
        return result;
    *astray = true;
    return eras_become(eras, era);
}

bp_result_t history_bring_back(history_t *h, const keyframe_t *keyframe)
{
    const era_t *era = eras_of(&h->eras, keyframe->moment, keyframe->touched);
    bp_result_t result = history_make_up(&h->parts, &h->eras, era, &h->astray);
    if (h->astray)
        h->units = units_of(&h->parts);
    if (result == BP_OK)
        result = keyframe_bring_back(&h->store, &h->parts, keyframe);
    h->astray = h->astray && result != BP_OK;
    return result;
}

/* No line in the log: calls that were passed over in this past were reported when it was made. */
static void pass_over(void *context, const char *why)
{
    (void)context, (void)why;
}

bool history_give_inputs(history_t *h)
{
    const touch_t *touch = find_touch(h, h->now);
    return touch == NULL || touch->input_size == 0 ||
           outside_give(&h->outside, touch->inputs, touch->input_size);
}

bp_result_t history_come_again(history_t *h)
{
    const touch_t *touch = find_touch(h, h->now);
    if (touch == NULL)
        return BP_OK;
    static const journal_pass_i pass = {.passed = pass_over};
    if (!touch->unknown)
        return journal_make_most(&h->parts, touch->calls, touch->size, touch->passes ? &pass : NULL);
    const keyframe_t *keyframe = keyframes_touched(&h->keyframes, h->now);
    return keyframe != NULL ? history_bring_back(h, keyframe)
                            : error_set(&h->parts.base->error, BP_ERROR_STATE,
                                        "what came from outside had to be forgotten for want of room");
}

static bool repeats(const history_t *h, uint32_t world)
{
    return h->now < h->last && taken_at(&h->taken, h->now) == world;
}

bool history_can_compare(const history_t *h)
{
    const touch_t *touch = find_touch(h, h->now), *next = find_touch(h, h->now + 1);
    if (!repeats(h, BP_NONE))
        return true;
    bool comes = next != NULL && (next->lost || (h->now + 1 == h->last && (next->unknown || next->size > 0)));
    return !comes && (touch == NULL || !touch->unknown);
}

bp_result_t history_bring_calls(const history_t *h, const parts_t *parts)
{
    static const journal_pass_i pass = {.passed = pass_over};
    const touch_t *touch = repeats(h, BP_NONE) && !h->came ? find_touch(h, h->now) : NULL;
    return touch == NULL ? BP_OK
                         : journal_make_most(parts, touch->calls, touch->size, touch->passes ? &pass : NULL);
}

/* In the past: make the calls again that came from outside at this moment; where that fails, another future begins. */
static void go_along(history_t *h)
{
    if (find_touch(h, h->now) == NULL)
        return;
    h->going = true;
    bp_result_t result = history_come_again(h);
    h->going = false;
    h->recording.elsewhere = true;
    const touch_t *touch = find_touch(h, h->now);
    if (h->feed != NULL)
        feed_calls(h->feed, touch->calls, touch->size, touch->unknown);
    if (result == BP_OK)
        return;
    history_say(h, BP_LOG_WARNING, h->parts.base->error.text);
    history_cut(h);
    h->touched = h->unknown = true; /* some of the calls may have been made */
}

/* Write the calls that came since the last step to the file of the recording. */
static void record_touch(history_t *h, bool anew)
{
    if (!recording_is_on(&h->recording))
        return;
    if (anew || h->unknown || h->recording.elsewhere)
        recording_keyframe(&h->recording, h->lost && !h->left ? CHUNK_BRING_BACK | CHUNK_LOST : CHUNK_BRING_BACK);
    else if (h->touched)
        recording_calls(&h->recording, &h->calls);
    if (h->on != is_wanted(h))
        look_on(h);
}

/* A host that does the same (feed.h) is to know what has come since the last step, and whether this one is made of
 * other parts now: to be called before either is forgotten. */
static void tell_feed(history_t *h, bool anew)
{
    if (h->feed != NULL && h->touched)
        feed_pending(h->feed, &h->calls, h->unknown);
    if (anew)
        feed_break(h->feed, other_parts);
    if (h->remade)
        feed_break(h->feed, "plugins of the host have been reloaded");
}

void history_put_down(history_t *h, bool anew)
{
    record_touch(h, anew);
    tell_feed(h, anew);
    if (h->touched)
        history_keep_touch(h);
}

void history_begin_step(history_t *h, uint32_t world)
{
    if (!h->on || h->going)
        return;
    bool anew = history_is_made_anew(h);
    if (anew) {
        if (h->budget != 0)
            history_say(h, BP_LOG_INFO, "the past begins anew here");
        history_begin_anew(h);
    }
    if (repeats(h, world)) {
        if (!h->came)
            go_along(h);
        h->came = h->now < h->last;
    } else if (h->now < h->last) {
        history_say(h, BP_LOG_INFO, "this step is another one than then");
        history_cut(h);
    }
    history_put_down(h, anew);
    if (h->now < h->last && !history_give_inputs(h))
        history_say(h, BP_LOG_WARNING, "no memory for what plugins take from outside: this step takes it anew");
    if (h->feed != NULL)
        feed_begin_step(h->feed);
    h->refused = refused_so_far(h);
}

/* Keep what plugins have taken from outside in the step at the present moment. */
static void keep_inputs(history_t *h)
{
    size_t size = h->outside.taken.size;
    touch_t *touch = find_touch(h, h->now);
    if (touch != NULL && touch->input_size > 0)
        return; /* it has been given what was kept */
    char *inputs = h->outside.taken.failed ? NULL : memory_resize(&h->memory, NULL, 0, size);
    if (touch == NULL && inputs != NULL &&
        memory_reserve(&h->memory, &h->touches, &h->touch_capacity, h->touch_count + 1u, sizeof *h->touches)) {
        touch = &h->touches[h->touch_count++];
        *touch = (touch_t){.moment = h->now};
    }
    if (touch == NULL || inputs == NULL || h->now != h->last) {
        memory_free(&h->memory, inputs, inputs == NULL ? 0 : size);
        h->shape = 0; /* this step cannot be taken again */
        return;
    }
    memcpy(inputs, h->outside.taken.start, size);
    touch->inputs = inputs;
    touch->input_size = size;
    history_make_room(h, 0);
}

/* The step is over: whatever it took from outside is written down. */
static void end_inputs(history_t *h, uint32_t world)
{
    const bytes_t *taken = &h->outside.taken;
    if (h->feed != NULL && !h->going)
        feed_step(h->feed, h->now, world, taken->start, taken->size, true);
    if (taken->size == 0 || h->going)
        return;
    if (recording_is_on(&h->recording)) {
        bytes_t call;
        bytes_init(&call, &h->memory);
        journal_inputs(&call, taken);
        if (call.failed)
            h->recording.elsewhere = true;
        else
            recording_calls(&h->recording, &call);
        bytes_free(&call);
    }
    if (h->budget != 0)
        keep_inputs(h);
}

/* The list of steps has grown. Where nothing is left but that list, the past begins with the present moment: false. */
static bool make_room_for_steps(history_t *h)
{
    history_make_room(h, 0);
    if (h->keyframes.count > 0)
        return true;
    history_keep_or_say(h, false);
    return false;
}

/* Note that one more step has been taken. */
static void keep_step(history_t *h, uint32_t world)
{
    h->came = false;
    if (h->now < h->last) {
        const touch_t *touch = find_touch(h, ++h->now);
        if (h->now == h->last || (touch != NULL && touch->lost))
            go_along(h);
        return;
    }
    if (h->keyframes.count == 0) { /* no keyframe to compute from: the past begins with the next one */
        h->first = h->last = ++h->now;
        history_drop_touches(h, 0, h->touch_count);
        history_drop_marks(h);
        branches_drop_old(h);
    }
    uint32_t room = h->taken.capacity;
    if (h->keyframes.count > 0 && !taken_add(&h->taken, h->last, world)) {
        history_say(h, BP_LOG_WARNING, "no memory for another step: the past begins anew behind it");
        h->shape = 0;
        return;
    }
    if (h->keyframes.count > 0)
        h->now = ++h->last;
    if (h->taken.capacity != room && !make_room_for_steps(h))
        return;
    uint64_t passed = os_clock_ns() - h->taken_at;
    if (h->interval_ms == 0 || (passed >= (uint64_t)h->interval_ms * MILLION && passed >= HISTORY_SHARE * h->took))
        history_keep_or_say(h, false);
}

/* Apart from history_end_step, so that a step saves no registers for it where the history is off. */
static NOT_INLINED void end_remembered_step(history_t *h, uint32_t world)
{
    bool lacked = refused_so_far(h) != h->refused;
    end_inputs(h, world);
    outside_end(&h->outside);
    if (!h->on || h->going)
        return;
    if (recording_is_on(&h->recording))
        recording_step(&h->recording, world, h->lost || lacked);
    if (h->budget != 0)
        keep_step(h, world);
    if (lacked) {
        touch(h);
        lose_calls(h);
        h->lost = true;
    }
    if (h->on != is_wanted(h))
        look_on(h);
}

void history_end_step(history_t *h, uint32_t world)
{
    if (h->on || h->going)
        end_remembered_step(h, world);
}

/* --- recording ---------------------------------------------------------------------------------------------------- */

static bp_result_t may_record(history_t *h)
{
    if (recording_is_on(&h->recording))
        return error_set(&h->parts.base->error, BP_ERROR_STATE, "the host is being recorded already, in %s",
                         h->recording.path);
    bp_result_t result = snapshot_moment(&h->parts);
    return result == BP_OK ? snapshot_check(&h->parts) : result;
}

/* Record from here on: calls that came before are in the first keyframe. */
static void begin_recording(history_t *h)
{
    h->recording.interval_ms = h->record_ms;
    h->recording.elsewhere = h->touched; /* their effect is in the first keyframe */
    if (h->budget == 0) {
        if (h->feed != NULL)
            tell_feed(h, history_is_made_anew(h));
        h->shape = shape_of(&h->parts);
        h->units = units_of(&h->parts);
        end_touch(h);
    }
    look_on(h);
}

bp_result_t history_record(history_t *h, const char *path, const char *origin)
{
    const destruction_t *d = h->parts.destruction;
    uint64_t moment = d->world_count > 0 ? world_handle(d->worlds[0])->clock.steps : 0;
    bp_result_t result = may_record(h);
    if (result == BP_OK)
        result = recording_begin(&h->recording, &h->parts, &h->eras.makers, &h->recorder, path, origin, moment);
    if (result == BP_OK)
        begin_recording(h);
    return result;
}

bp_result_t history_record_on(history_t *h, const char *path, const recorded_t *recorded)
{
    bp_result_t result = may_record(h);
    if (result == BP_OK)
        result = recording_resume(&h->recording, &h->parts, &h->eras.makers, &h->recorder, path, recorded);
    if (result == BP_OK)
        begin_recording(h);
    return result;
}

bp_result_t history_record_end(history_t *h)
{
    if (!recording_is_on(&h->recording))
        return BP_OK;
    if (snapshot_moment(&h->parts) == BP_OK)
        record_touch(h, history_is_made_anew(h));
    bp_result_t result = recording_is_on(&h->recording) ? recording_finish(&h->recording) : BP_ERROR_IO;
    look_on(h);
    if (!h->on)
        end_touch(h);
    return result;
}

void history_settle(history_t *h)
{
    if (!h->on)
        return;
    bool anew = history_is_made_anew(h);
    if (anew)
        history_begin_anew(h);
    history_put_down(h, anew);
}

/* --- followed ----------------------------------------------------------------------------------------------------- */

void history_feed(history_t *h, feed_t *feed)
{
    if (feed != NULL && h->budget == 0 && !recording_is_on(&h->recording)) {
        h->shape = shape_of(&h->parts);
        h->units = units_of(&h->parts);
        end_touch(h);
    }
    h->feed = feed;
    if (feed != NULL)
        feed->skip = h->calls.size;
    look_on(h);
}

void history_feed_past(const history_t *h, feed_t *feed, uint64_t moment, bool came)
{
    for (bool more = true; more; moment++, came = false) {
        const touch_t *touch = find_touch(h, moment);
        more = moment < h->now;
        if (touch != NULL && !came && (more || moment == h->last || h->came))
            feed_calls(feed, touch->calls, touch->size, touch->unknown);
        if (more)
            feed_step(feed, moment, taken_at(&h->taken, moment), touch == NULL ? NULL : touch->inputs,
                      touch == NULL ? 0 : touch->input_size, false);
    }
}


/* --- marks -------------------------------------------------------------------------------------------------------- */

/* A future that was left may have come back with a mark of a name that a moment before it got meanwhile: the later
 * moment is meant. */
bool history_find_mark(const history_t *h, const char *name, uint64_t *moment)
{
    bool found = false;
    for (uint32_t i = 0; i < h->mark_count; i++) {
        if (strcmp(h->marks[i].name, name) != 0 || (found && h->marks[i].moment < *moment))
            continue;
        *moment = h->marks[i].moment;
        found = true;
    }
    return found;
}

static void drop_marks_of(history_t *h, const char *name)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < h->mark_count; i++) {
        if (strcmp(h->marks[i].name, name) != 0)
            h->marks[left++] = h->marks[i];
    }
    h->mark_count = left;
}

bp_result_t history_mark(history_t *h, const char *name)
{
    error_text_t *error = &h->parts.base->error;
    if (!names_is_word(name))
        return error_set(error, BP_ERROR_ARGUMENT, "a mark is 1 to 63 letters, digits or underscores, not '%.40s'",
            name);
    if (h->budget == 0)
        return error_set(error, BP_ERROR_STATE, "the host remembers nothing: give it a budget ([host] history)");
    if (h->shape != shape_of(&h->parts) && snapshot_between(&h->parts) == BP_OK)
        history_settle(h); /* the past that begins anew here would forget the mark with the next step */
    if (!memory_reserve(&h->memory, &h->marks, &h->mark_capacity, h->mark_count + 1u, sizeof *h->marks))
        return error_memory(error, "marking a moment");
    drop_marks_of(h, name);
    snprintf(h->marks[h->mark_count].name, sizeof h->marks->name, "%s", name);
    h->marks[h->mark_count++].moment = h->now;
    return BP_OK;
}
