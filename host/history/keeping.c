/* keeping.c - keeping the present moment as a keyframe, and dropping keyframes where the budget is full.
 *
 * The least useful keyframes are dropped first (keyframes_least_missed), and at last the oldest past, with its steps
 * and calls.
 */
#include "branches.h"
#include "history_inner.h"

#include "../os/os.h"

#include <inttypes.h>

void history_say(const history_t *h, int32_t level, const char *why)
{
    log_write(&h->parts.base->log, level, "host", "history: %s", why);
}

void history_drop_calls(history_t *h, touch_t *touch)
{
    memory_free(&h->memory, touch->calls, touch->size);
    touch->calls = NULL;
    touch->size = 0;
}

static void drop_inputs(history_t *h, touch_t *touch)
{
    memory_free(&h->memory, touch->inputs, touch->input_size);
    touch->inputs = NULL;
    touch->input_size = 0;
}

void history_drop_touches(history_t *h, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        history_drop_calls(h, &h->touches[i]);
        drop_inputs(h, &h->touches[i]);
    }
    h->touch_count -= count;
    if (h->touch_count > first)
        memmove(h->touches + first, h->touches + first + count, (h->touch_count - first) * sizeof *h->touches);
}

void history_drop_marks(history_t *h)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < h->mark_count; i++) {
        if (h->marks[i].moment >= h->first)
            h->marks[left++] = h->marks[i];
    }
    h->mark_count = left;
}

/* Lists are as large as they were at most; where the budget is full, that room is wanted. */
static void give_back_lists(history_t *h)
{
    memory_t *m = &h->memory;
    memory_give_back(m, &h->taken.items, &h->taken.capacity, h->taken.count, sizeof *h->taken.items);
    memory_give_back(m, &h->touches, &h->touch_capacity, h->touch_count, sizeof *h->touches);
    memory_give_back(m, &h->marks, &h->mark_capacity, h->mark_count, sizeof *h->marks);
    memory_give_back(m, &h->stretches, &h->stretch_capacity, h->stretch_count, sizeof *h->stretches);
    memory_give_back(m, &h->branches, &h->branch_capacity, h->branch_count, sizeof *h->branches);
    memory_give_back(m, &h->keyframes.items, &h->keyframes.capacity, h->keyframes.count, sizeof *h->keyframes.items);
}

/* Drop the first keyframe, and the steps, touches and marks before the next one. */
static void drop_first(history_t *h)
{
    keyframes_drop(&h->keyframes, 0);
    uint64_t first = h->keyframes.count > 0 ? h->keyframes.items[0].moment : h->now;
    taken_drop(&h->taken, first);
    h->first = first;
    uint32_t touches = 0;
    while (touches < h->touch_count && h->touches[touches].moment < first)
        touches++;
    history_drop_touches(h, 0, touches);
    history_drop_marks(h);
    branches_drop_old(h);
    eras_drop_before(&h->eras, first);
}

/* The bytes that the past takes: all that the history's account holds, but spare pieces, which are given back where
 * there is no other room (pieces_trim); makeups; and stamps of rows, counted when a keyframe was taken last. */
static uint64_t used(const history_t *h)
{
    const memory_t *makeups = h->eras.makers.memory;
    return memory_bytes(&h->memory) - h->store.pieces.spare_bytes + h->stamp_bytes +
           (makeups == NULL ? 0 : memory_bytes(makeups));
}

/* Of these, what is not keyframes. */
static uint64_t beside_keyframes(const history_t *h)
{
    return used(h) - h->store.pieces.bytes;
}

static uint64_t count_stamps(const history_t *h)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < h->parts.destruction->world_count; i++)
        bytes += world_stamp_bytes(h->parts.destruction->worlds[i]);
    return bytes;
}

/* Does the first keyframe lie before the present moment, and the next one behind it? Then it stays while the host is in
 * its past: with it the present moment would go. */
static bool is_of_present(const history_t *h)
{
    return h->now < h->last && (h->keyframes.count == 1 || h->keyframes.items[1].moment > h->now);
}

/* Drop keyframes until so many bytes more have room. Where lists and calls take more than half of the budget, the
 * oldest past goes, with its calls, rather than all keyframes in between. */
void history_make_room(history_t *h, uint64_t needed)
{
    pieces_t *pieces = &h->store.pieces;
    if (used(h) + needed > h->budget)
        give_back_lists(h);
    while (h->branch_count > 0 && used(h) + needed > h->budget) {
        branches_make_room(h);
        give_back_lists(h);
    }
    while (h->keyframes.count > 0 && used(h) + needed > h->budget) {
        bool oldest = h->keyframes.count > 1 && beside_keyframes(h) > h->budget / 2;
        uint32_t least = oldest ? BP_NONE : keyframes_least_missed(&h->keyframes, h->last);
        if (least == BP_NONE && is_of_present(h))
            break;
        if (least != BP_NONE)
            keyframes_drop(&h->keyframes, least);
        else
            drop_first(h);
        give_back_lists(h);
    }
    uint64_t others = used(h) + needed;
    if (others + pieces->spare_bytes > h->budget)
        pieces_trim(pieces, others < h->budget ? h->budget - others : 0);
}

bool history_make_room_for_piece(void *context, uint64_t bytes)
{
    history_t *h = context;
    history_make_room(h, bytes);
    return used(h) + bytes <= h->budget;
}

/* Keyframes may take what is left of the budget. */
static void set_most(history_t *h)
{
    uint64_t beside = beside_keyframes(h);
    h->store.pieces.most = h->budget > beside ? h->budget - beside : 0;
}

bp_result_t history_take_other(history_t *h, const parts_t *parts, keyframe_t *keyframe)
{
    set_most(h);
    h->store.doubted = true; /* the moments of stamps in the store are of another host */
    bp_result_t result = keyframe_take(&h->store, parts, keyframe);
    keyframe_store_forget(&h->store);
    h->store.doubted = true;
    return result;
}

/* Keep the present moment. Where its keyframe is the only one, nothing before it can be computed. */
bp_result_t history_keep(history_t *h, bool touched)
{
    uint64_t began = os_clock_ns();
    keyframe_t keyframe = {.moment = h->now, .touched = touched, .stays = touched && h->remade};
    if (!keyframes_reserve(&h->keyframes))
        return error_memory(&h->parts.base->error, "remembering a moment");
    h->stamp_bytes = count_stamps(h);
    history_make_room(h, 0);
    set_most(h);
    if (snapshot_measure(&h->parts) > h->budget)
        return error_set(&h->parts.base->error, BP_ERROR_LIMIT,
                         "a keyframe takes about %zu bytes, and history has room for %" PRIu64,
                         snapshot_measure(&h->parts), h->budget);
    bp_result_t result = keyframe_take(&h->store, &h->parts, &keyframe);
    if (result != BP_OK)
        return result;
    keyframes_put(&h->keyframes, &keyframe);
    if (h->keyframes.count == 1 && h->first < h->now) {
        taken_drop(&h->taken, h->now);
        h->first = h->now;
        history_drop_touches(h, 0, h->touch_count);
        history_drop_marks(h);
        branches_drop_old(h);
    }
    h->taken_at = os_clock_ns();
    h->took = h->taken_at - began;
    return BP_OK;
}

/* Take a keyframe; the log is told of a failure once, and again only after a keyframe has succeeded. */
void history_keep_or_say(history_t *h, bool touched)
{
    if (history_keep(h, touched) == BP_OK) {
        h->failing = false;
        return;
    }
    h->taken_at = os_clock_ns();
    if (!h->failing)
        history_say(h, BP_LOG_WARNING, h->parts.base->error.text);
    h->failing = true;
}
