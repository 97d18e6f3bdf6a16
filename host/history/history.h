/* history.h - what a host remembers: whole states now and then, and which steps were taken in between.
 *
 * Moments are counted by calls that take a step: of one world, or of all. A keyframe is a snapshot at a moment. Going
 * to a moment brings back the nearest keyframe before it, and takes the steps from there once more; units that say
 * BP_SYSTEM_OUTPUT are left out of that, and told at the end where their world is now.
 *
 * What comes from outside between two steps - a call of the embedder, a line of the console, a task posted - is kept by
 * what it has done: whoever changes something through the tables of the contract says so (history_touch), and before
 * the next step there is a keyframe, which is part of the past from then on. So nothing that an embedder can do has to
 * be done again. Between such keyframes the past is computed.
 *
 *     moment    3 ------ 4 ------ 5 ------ 6        steps of the world
 *     keyframes K                 KT                T: after something had come from outside
 *
 * While the host is in its past, steps go along what was: touches come back as they were. The first change from outside
 * begins another future, and the one that was is forgotten.
 *
 * The budget holds bytes of keyframes. Where it is full, keyframes go that are missed least: those between close
 * neighbours, the closer the older they are. A moment that lies behind a touch whose keyframe is gone cannot be
 * computed any more, and going there is refused.
 *
 * The past begins anew where the host is made of other parts than before: worlds, components, systems or plugins that
 * come or go, and new code for a plugin.
 *
 * What it does not do: snapshots themselves (snapshot.h).
 */
#ifndef HOST_HISTORY_HISTORY_H
#define HOST_HISTORY_HISTORY_H

#include "restore.h"

enum {
    HISTORY_INTERVAL_MS = 1000, /* from keyframe to keyframe, at least; and ... */
    HISTORY_SHARE = 40,         /* ... so many times what the last one took */
    HISTORY_NAME = 64
};

typedef struct keyframe_t {
    uint64_t moment;
    bool touched;  /* taken after something had come from outside */
    bytes_t bytes;
} keyframe_t;

typedef struct history_mark_t {
    char name[HISTORY_NAME];
    uint64_t moment;
} history_mark_t;

typedef struct history_t {
    parts_t parts;
    memory_t memory;
    /* Take the step of a world, or of all where `world` is BP_NONE. */
    bp_result_t (*step)(void *context, uint32_t world);
    void *context;
    bool *recomputing;          /* while the past is computed again */

    uint64_t budget;            /* bytes; 0: nothing is remembered */
    uint64_t first, now, last;  /* moments */
    uint64_t branch;            /* how often the host has gone elsewhere */
    uint64_t bytes;             /* of keyframes */
    keyframe_t *keyframes;      /* in the order of time */
    uint32_t keyframe_count, keyframe_capacity;
    uint32_t *steps;            /* of moments first to last - 1: the world, or BP_NONE */
    uint32_t step_capacity;
    uint64_t *touches;          /* moments after which something came from outside, in order */
    uint32_t touch_count, touch_capacity;
    history_mark_t *marks;
    uint32_t mark_count, mark_capacity;
    uint64_t shape;             /* of what the host is made of */
    uint64_t taken_at, took;    /* ns: the last keyframe */
    bool touched;               /* since the last step, and not yet kept */
    bool failing;               /* the last keyframe could not be had, and the log has been told */
    bool going;
} history_t;

void history_prepare(history_t *history, const parts_t *parts);
void history_free(history_t *history);

/* Remember from now on with that many bytes; 0 forgets. BP_ERROR_STATE names plugins that do not say how to be kept;
 * limit, where a keyframe is larger than the budget. [main], between steps */
bp_result_t history_set(history_t *history, uint64_t budget);

/* A world that has just come into being: its tables tell of what comes from outside, if anything is remembered. */
void history_add_world(const history_t *history, world_t *world);

/* Something comes from outside. Calls that are made often ask WORLD_REMEMBERED in their world's `care` first. */
void history_touch_slowly(history_t *history);
static inline void history_touch(history_t *history)
{
    if (history->budget != 0 && !history->touched)
        history_touch_slowly(history);
}

/* The code of a plugin has changed, or what it is made of will: the past begins anew. */
void history_renew(history_t *history);

/* Brackets around a step that is about to be taken. */
void history_begin_step(history_t *history, uint32_t world);
void history_end_step(history_t *history, uint32_t world);

/* Go to a moment. Errors: not found, state where it cannot be computed, those of restoring; the host is then where it
 * was. [main], between steps */
bp_result_t history_go(history_t *history, uint64_t moment);

/* Forget what comes after now. */
void history_cut(history_t *history);

/* A name for now; and the moment of a name. */
bp_result_t history_mark(history_t *history, const char *name);
bool history_find_mark(const history_t *history, const char *name, uint64_t *moment);

#endif
