/* history.c - keyframes, the steps between them, and going there. */
#include "history.h"

#include "../os/os.h"

#include <inttypes.h>

enum { MILLION = 1000000 };

void history_prepare(history_t *h, const parts_t *parts)
{
    *h = (history_t){.parts = *parts};
    memory_init_child(&h->memory, "history", &parts->base->memory);
}

static void drop_keyframe(history_t *h, uint32_t at)
{
    h->bytes -= h->keyframes[at].bytes.room;
    bytes_free(&h->keyframes[at].bytes);
    memmove(h->keyframes + at, h->keyframes + at + 1, (h->keyframe_count - at - 1) * sizeof *h->keyframes);
    h->keyframe_count--;
}

static void forget(history_t *h)
{
    while (h->keyframe_count > 0)
        drop_keyframe(h, h->keyframe_count - 1);
    h->touch_count = h->mark_count = 0;
    h->first = h->last = h->now;
    h->touched = false;
}

void history_add_world(const history_t *h, world_t *world)
{
    world->care = h->budget != 0 ? world->care | WORLD_REMEMBERED : world->care & ~WORLD_REMEMBERED;
}

static void set_budget(history_t *h, uint64_t budget)
{
    h->budget = budget;
    h->parts.entities->remembered = budget != 0;
    for (uint32_t i = 0; i < h->parts.destruction->world_count; i++)
        history_add_world(h, h->parts.destruction->worlds[i]);
}

void history_free(history_t *h)
{
    forget(h);
    memory_free(&h->memory, h->keyframes, h->keyframe_capacity * sizeof *h->keyframes);
    memory_free(&h->memory, h->steps, h->step_capacity * sizeof *h->steps);
    memory_free(&h->memory, h->touches, h->touch_capacity * sizeof *h->touches);
    memory_free(&h->memory, h->marks, h->mark_capacity * sizeof *h->marks);
    h->keyframes = NULL;
    h->steps = NULL;
    h->touches = NULL;
    h->marks = NULL;
    h->keyframe_capacity = h->step_capacity = h->touch_capacity = h->mark_capacity = 0;
    set_budget(h, 0);
}

/* --- what the host is made of ------------------------------------------------------------------------------------- */

static uint64_t shape_of(const parts_t *parts)
{
    const destruction_t *d = parts->destruction;
    uint64_t shape = parts->loader->plugins.count * UINT64_C(1000003) + d->world_count;
    for (uint32_t i = 0; i < d->world_count; i++) {
        const world_t *world = d->worlds[i];
        shape = shape * 31 + world->manager_count;
        shape = shape * 31 + world_handle(world)->schedule->count;
        shape = shape * 31 + (uintptr_t)world;
        for (uint32_t m = 0; m < world->manager_count; m++)
            shape = shape * 31 + world->managers[m]->started;
    }
    return shape;
}

/* --- keyframes ---------------------------------------------------------------------------------------------------- */

static void say(const history_t *h, int32_t level, const char *why)
{
    log_write(&h->parts.base->log, level, "host", "history: %s", why);
}

/* The keyframe that is missed least: its neighbours are close, for how long ago it was. The first, from which all can
 * be computed, and the last stay; BP_NONE: there is no other. One after a touch is missed more. */
static uint32_t least_missed(const history_t *h)
{
    uint32_t least = BP_NONE;
    double score = 0;
    for (uint32_t i = 1; i + 1 < h->keyframe_count; i++) {
        const keyframe_t *k = h->keyframes + i;
        double gap = (double)(k[1].moment - k[-1].moment) + 1, age = (double)(h->last - k->moment) + 1;
        double mine = gap / age * (k->touched ? 1000 : 1);
        if (least == BP_NONE || mine < score) {
            least = i;
            score = mine;
        }
    }
    return least;
}

/* The past is shorter by its first keyframe. */
static void drop_first(history_t *h)
{
    drop_keyframe(h, 0);
    uint64_t first = h->keyframe_count > 0 ? h->keyframes[0].moment : h->now;
    uint64_t gone = first - h->first;
    memmove(h->steps, h->steps + gone, (size_t)(h->last - first) * sizeof *h->steps);
    h->first = first;
    uint32_t touches = 0;
    while (touches < h->touch_count && h->touches[touches] < first)
        touches++;
    memmove(h->touches, h->touches + touches, (h->touch_count - touches) * sizeof *h->touches);
    h->touch_count -= touches;
}

static uint64_t used(const history_t *h)
{
    return h->bytes + (h->last - h->first) * sizeof *h->steps + h->touch_count * sizeof *h->touches;
}

static void make_room(history_t *h, uint64_t needed)
{
    while (h->keyframe_count > 0 && used(h) + needed > h->budget) {
        uint32_t least = least_missed(h);
        if (least != BP_NONE)
            drop_keyframe(h, least);
        else
            drop_first(h);
    }
}

/* Where a keyframe of now belongs; one of the same moment and kind is replaced. */
static uint32_t place_of(history_t *h, bool touched)
{
    uint32_t at = h->keyframe_count;
    while (at > 0 && (h->keyframes[at - 1].moment > h->now ||
                      (h->keyframes[at - 1].moment == h->now && h->keyframes[at - 1].touched && !touched)))
        at--;
    if (at > 0 && h->keyframes[at - 1].moment == h->now && h->keyframes[at - 1].touched == touched)
        drop_keyframe(h, --at);
    return at;
}

static bp_result_t keep(history_t *h, bool touched)
{
    uint64_t began = os_clock_ns();
    keyframe_t keyframe = {.moment = h->now, .touched = touched};
    bytes_init(&keyframe.bytes, &h->memory);
    make_room(h, h->keyframe_count > 0 ? h->keyframes[h->keyframe_count - 1].bytes.room : 0);
    bp_result_t result = snapshot_take(&h->parts, &keyframe.bytes);
    if (result == BP_OK) {
        bytes_fit(&keyframe.bytes);
        if (keyframe.bytes.room > h->budget)
            result = error_set(&h->parts.base->error, BP_ERROR_LIMIT,
                               "a keyframe takes %zu bytes, and history has room for %" PRIu64, keyframe.bytes.room,
                               h->budget);
    }
    if (result == BP_OK && !memory_reserve(&h->memory, &h->keyframes, &h->keyframe_capacity, h->keyframe_count + 1u,
                                           sizeof *h->keyframes))
        result = error_memory(&h->parts.base->error, "remembering a moment");
    if (result != BP_OK) {
        bytes_free(&keyframe.bytes);
        return result;
    }
    make_room(h, keyframe.bytes.room);
    uint32_t at = place_of(h, touched);
    memmove(h->keyframes + at + 1, h->keyframes + at, (h->keyframe_count - at) * sizeof *h->keyframes);
    h->keyframes[at] = keyframe;
    h->keyframe_count++;
    h->bytes += keyframe.bytes.room;
    if (h->keyframe_count == 1 && at == 0 && h->first < h->now) { /* the only one: nothing before it can be computed */
        memmove(h->steps, h->steps + (h->now - h->first), (size_t)(h->last - h->now) * sizeof *h->steps);
        h->first = h->now;
        h->touch_count = 0;
    }
    h->taken_at = os_clock_ns();
    h->took = h->taken_at - began;
    return BP_OK;
}

/* What is wrong is told once, until it is right again. */
static void keep_or_say(history_t *h, bool touched)
{
    if (keep(h, touched) == BP_OK) {
        h->failing = false;
        return;
    }
    h->taken_at = os_clock_ns();
    if (!h->failing)
        say(h, BP_LOG_WARNING, h->parts.base->error.text);
    h->failing = true;
}

/* From here on nothing before is known. */
static void begin_anew(history_t *h)
{
    forget(h);
    h->shape = shape_of(&h->parts);
    keep_or_say(h, false);
}

bp_result_t history_set(history_t *h, uint64_t budget)
{
    history_free(h);
    if (budget == 0)
        return BP_OK;
    bp_result_t result = snapshot_moment(&h->parts);
    if (result == BP_OK)
        result = snapshot_check(&h->parts);
    if (result != BP_OK)
        return result;
    const destruction_t *d = h->parts.destruction;
    h->now = h->first = h->last = d->world_count > 0 ? world_handle(d->worlds[0])->clock.steps : 0;
    set_budget(h, budget);
    h->shape = shape_of(&h->parts);
    result = keep(h, false);
    if (result != BP_OK)
        history_free(h);
    return result;
}

void history_renew(history_t *h)
{
    if (h->budget == 0 || h->going)
        return;
    forget(h);
    h->shape = 0; /* the next step begins anew */
}

/* --- what comes from outside -------------------------------------------------------------------------------------- */

void history_cut(history_t *h)
{
    if (h->now == h->last)
        return;
    while (h->keyframe_count > 0 && h->keyframes[h->keyframe_count - 1].moment > h->now)
        drop_keyframe(h, h->keyframe_count - 1);
    while (h->touch_count > 0 && h->touches[h->touch_count - 1] >= h->now)
        h->touch_count--;
    while (h->keyframe_count > 0 && h->keyframes[h->keyframe_count - 1].moment == h->now &&
           h->keyframes[h->keyframe_count - 1].touched && !h->touched)
        drop_keyframe(h, h->keyframe_count - 1);
    for (uint32_t i = h->mark_count; i > 0; i--) {
        if (h->marks[i - 1].moment > h->now)
            h->marks[i - 1] = h->marks[--h->mark_count];
    }
    h->last = h->now;
}

void history_touch_slowly(history_t *h)
{
    if (h->going || h->parts.destruction->stepping != 0 || h->parts.entities->sealed)
        return;
    if (h->now < h->last) {
        history_cut(h);
        say(h, BP_LOG_INFO, "another future begins here; the one that was is forgotten");
    }
    h->touched = true;
}

static void keep_touch(history_t *h)
{
    if (h->touch_count == 0 || h->touches[h->touch_count - 1] != h->now) {
        if (!memory_reserve(&h->memory, &h->touches, &h->touch_capacity, h->touch_count + 1u, sizeof *h->touches)) {
            h->shape = 0;
            return;
        }
        h->touches[h->touch_count++] = h->now;
    }
    h->touched = false;
    keep_or_say(h, true);
}

static bool is_touch(const history_t *h, uint64_t moment)
{
    for (uint32_t i = h->touch_count; i > 0; i--) {
        if (h->touches[i - 1] == moment)
            return true;
    }
    return false;
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

static bp_result_t bring_back(history_t *h, const keyframe_t *keyframe)
{
    snapshot_t snapshot;
    bp_result_t result = snapshot_open(&snapshot, &h->memory, &h->parts.base->error, keyframe->bytes.start,
                                       keyframe->bytes.size);
    if (result != BP_OK)
        return result;
    result = snapshot_restore(&h->parts, &snapshot);
    snapshot_close(&snapshot);
    return result;
}

static const keyframe_t *touched_at(const history_t *h, uint64_t moment)
{
    for (uint32_t i = h->keyframe_count; i > 0; i--) {
        if (h->keyframes[i - 1].moment == moment && h->keyframes[i - 1].touched)
            return &h->keyframes[i - 1];
    }
    return NULL;
}

/* In the past: what came from outside comes again. */
static void go_along(history_t *h, uint32_t world)
{
    bool same = h->steps[h->now - h->first] == world;
    const keyframe_t *touched = is_touch(h, h->now) ? touched_at(h, h->now) : NULL;
    h->going = true;
    bool good = same && (!is_touch(h, h->now) || (touched != NULL && bring_back(h, touched) == BP_OK));
    h->going = false;
    if (good)
        return;
    say(h, BP_LOG_INFO, "this step is another one than then: another future begins here");
    history_cut(h);
}

void history_begin_step(history_t *h, uint32_t world)
{
    if (h->budget == 0 || h->going)
        return;
    if (h->shape != shape_of(&h->parts)) {
        say(h, BP_LOG_INFO, "the past begins anew here");
        begin_anew(h);
    }
    if (h->touched)
        keep_touch(h);
    else if (h->now < h->last)
        go_along(h, world);
}

void history_end_step(history_t *h, uint32_t world)
{
    if (h->budget == 0 || h->going)
        return;
    if (h->now < h->last) {
        h->now++;
        return;
    }
    if (h->keyframe_count == 0) { /* nothing to compute from: the past begins with the next keyframe */
        h->first = h->last = ++h->now;
        h->touch_count = 0;
    }
    uint64_t index = h->last - h->first;
    if (h->keyframe_count > 0 && !memory_reserve(&h->memory, &h->steps, &h->step_capacity, index + 1, sizeof
        *h->steps)) {
        h->shape = 0;
        return;
    }
    if (h->keyframe_count > 0) {
        h->steps[index] = world;
        h->now = ++h->last;
    }
    uint64_t passed = os_clock_ns() - h->taken_at;
    if (passed >= (uint64_t)HISTORY_INTERVAL_MS * MILLION && passed >= HISTORY_SHARE * h->took)
        keep_or_say(h, false);
}

/* --- going -------------------------------------------------------------------------------------------------------- */

/* The keyframe to go from; NULL: from where the host is, or not at all (*impossible). */
static const keyframe_t *start_of(const history_t *h, uint64_t moment, bool *impossible)
{
    const keyframe_t *best = NULL;
    uint64_t touch = 0;
    bool any_touch = false, to_end = moment == h->last;
    for (uint32_t i = 0; i < h->touch_count; i++) {
        if (h->touches[i] < moment || (to_end && h->touches[i] == moment)) {
            touch = h->touches[i];
            any_touch = true;
        }
    }
    for (uint32_t i = 0; i < h->keyframe_count; i++) {
        const keyframe_t *k = &h->keyframes[i];
        if (k->moment < moment || (k->moment == moment && (!k->touched || to_end)))
            best = k;
    }
    *impossible = best == NULL || (any_touch && (best->moment < touch || (best->moment == touch && !best->touched)));
    bool from_here = h->now <= moment && !*impossible && (best->moment < h->now || best->moment == h->now) &&
                     (!any_touch || touch < h->now);
    return from_here && !best->touched ? NULL : best;
}

static bp_result_t compute(history_t *h, uint64_t moment)
{
    bp_result_t result = BP_OK;
    *h->recomputing = true;
    while (h->now < moment && result == BP_OK) {
        result = h->step(h->context, h->steps[h->now - h->first]);
        h->now += result == BP_OK;
    }
    *h->recomputing = false;
    return result;
}

static bool has_output(const parts_t *parts)
{
    for (uint32_t w = 0; w < parts->destruction->world_count; w++) {
        const schedule_t *schedule = world_handle(parts->destruction->worlds[w])->schedule;
        for (uint32_t i = 0; i < schedule->count; i++) {
            const system_t *system = schedule->units[i]->system;
            if (system != NULL && (system->table.flags & BP_SYSTEM_OUTPUT) != 0)
                return true;
        }
    }
    return false;
}

/* Forward where units are output: they are to see every step, so each is taken. False where what came from outside in
 * between is not there any more; nothing has changed then. */
static bool can_walk(const history_t *h, uint64_t moment)
{
    if (moment <= h->now || !has_output(&h->parts))
        return false;
    for (uint32_t i = 0; i < h->touch_count; i++) {
        uint64_t touch = h->touches[i];
        if (touch >= h->now && (touch < moment || (touch == moment && moment == h->last)) &&
            touched_at(h, touch) == NULL)
            return false;
    }
    return true;
}

static bp_result_t walk(history_t *h, uint64_t moment)
{
    bp_result_t result = BP_OK;
    while (h->now <= moment && result == BP_OK) {
        if (is_touch(h, h->now) && (h->now < moment || moment == h->last))
            result = bring_back(h, touched_at(h, h->now));
        if (h->now == moment || result != BP_OK)
            break;
        result = h->step(h->context, h->steps[h->now - h->first]);
        h->now += result == BP_OK;
    }
    return result;
}

bp_result_t history_go(history_t *h, uint64_t moment)
{
    error_text_t *error = &h->parts.base->error;
    bool impossible;
    if (h->budget == 0)
        return error_set(error, BP_ERROR_STATE, "the host remembers nothing: give it a budget ([host] history)");
    if (h->shape != shape_of(&h->parts))
        begin_anew(h);
    if (moment < h->first || moment > h->last)
        return error_set(error, BP_ERROR_NOT_FOUND,
                         "moment %" PRIu64 " is not remembered; those from %" PRIu64 " to %" PRIu64 " are", moment,
                         h->first, h->last);
    bp_result_t result = snapshot_moment(&h->parts);
    if (result == BP_OK && h->touched)
        keep_touch(h);
    const keyframe_t *start = start_of(h, moment, &impossible);
    if (result == BP_OK && can_walk(h, moment)) {
        h->going = true;
        result = walk(h, moment);
        h->branch++;
        h->going = false;
        return result;
    }
    if (result == BP_OK && impossible)
        result = error_set(error, BP_ERROR_STATE,
                           "moment %" PRIu64 " cannot be computed any more: what came from outside before it had to be "
                           "forgotten for want of room",
                           moment);
    if (result != BP_OK)
        return result;
    h->going = true;
    if (start != NULL)
        result = bring_back(h, start);
    if (result == BP_OK) {
        h->now = start != NULL ? start->moment : h->now;
        result = compute(h, moment);
        h->branch++;
        snapshot_tell(&h->parts);
    }
    h->going = false;
    return result;
}

/* --- marks -------------------------------------------------------------------------------------------------------- */

bool history_find_mark(const history_t *h, const char *name, uint64_t *moment)
{
    for (uint32_t i = 0; i < h->mark_count; i++) {
        if (strcmp(h->marks[i].name, name) == 0) {
            *moment = h->marks[i].moment;
            return true;
        }
    }
    return false;
}

bp_result_t history_mark(history_t *h, const char *name)
{
    error_text_t *error = &h->parts.base->error;
    if (!names_is_word(name))
        return error_set(error, BP_ERROR_ARGUMENT, "a mark is 1 to 63 letters, digits or underscores, not '%.40s'",
            name);
    if (h->budget == 0)
        return error_set(error, BP_ERROR_STATE, "the host remembers nothing: give it a budget ([host] history)");
    uint32_t at = 0;
    while (at < h->mark_count && strcmp(h->marks[at].name, name) != 0)
        at++;
    if (at == h->mark_count &&
        !memory_reserve(&h->memory, &h->marks, &h->mark_capacity, h->mark_count + 1u, sizeof *h->marks))
        return error_memory(error, "marking a moment");
    h->mark_count += at == h->mark_count;
    snprintf(h->marks[at].name, sizeof h->marks[at].name, "%s", name);
    h->marks[at].moment = h->now;
    return BP_OK;
}
