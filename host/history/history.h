/* history.h - the past of a host: whole states now and then, and which steps were taken in between.
 *
 * Moments are counted by calls that take a step: of one world, or of all. A keyframe is a snapshot at a moment. Going
 * to a moment brings back the nearest keyframe before it, and takes the steps from there once more; units that say
 * BP_SYSTEM_OUTPUT are left out of that, and told at the end where their world is now.
 *
 * Calls from outside between two steps - of the embedder, from a line of the console, from a task posted - come
 * through the tables of the contract. A call that can be made again is written down (journal.h), and made again
 * wherever the past is computed. For a call that cannot be made again, the table calls history_touch: before the next
 * step a keyframe is taken, which holds the effect of the call and is part of the past from then on.
 *
 *     moment    3 ------ 4 ------ 5 ------ 6 ------ 7    steps of the world
 *     keyframes K                 KT                     T: after a call that cannot be made again
 *     calls              C                 C
 *
 * At a moment of the past the host is as the step before has left it; at the last moment the calls that came there have
 * been made too. A step in which a version crashed and was taken back for it, or in which a request for memory was not
 * met, cannot be computed again: there the moment behind it has a keyframe, which is its state, with what came there.
 *
 * While the host is in its past, steps follow the remembered ones: the calls from outside are made again at their
 * moments. The first other change from outside begins another future, and the remembered one is kept as a branch
 * (branches.h).
 *
 * The budget is the most bytes that the past may take: keyframes, calls, lists, makeups, and stamps of rows. Where the
 * budget is full, keyframes are dropped, first those with the closest neighbours in relation to their age. A moment
 * behind a call that cannot be made again cannot be computed any more once that call's keyframe is gone; going there is
 * refused.
 *
 * Where plugins are reloaded, or systems come or go, another era begins (eras.h), with a keyframe of the state after
 * that: at an earlier moment the host has the older code again. The past begins anew where worlds, components or
 * plugins come or go.
 *
 * A host is recorded by the same brackets: calls from outside go to the file as well as to the past.
 *
 * Not here: snapshots themselves (snapshot.h), files (recording.h).
 */
#ifndef HOST_HISTORY_HISTORY_H
#define HOST_HISTORY_HISTORY_H

#include "eras.h"
#include "feed.h"
#include "journal.h"
#include "keyframes.h"
#include "outside.h"
#include "recording.h"
#include "taken.h"

enum {
    HISTORY_INTERVAL_MS = 1000, /* from keyframe to keyframe, at least, unless said otherwise; and ... */
    HISTORY_SHARE = 40,         /* ... so many times what the last one took */
    HISTORY_CALLS = 64 * 1024,  /* bytes of calls at one moment; more than a keyframe takes gives way to a keyframe */
    HISTORY_NAME = 64
};

/* The calls that came from outside at a moment. */
typedef struct touch_t {
    uint64_t moment;
    char *calls;   /* of the journal; NULL where they cannot be made again: then a keyframe has their effect */
    size_t size;
    bool unknown; /* the calls cannot be made again */
    bool passes;  /* calls that cannot be made are passed over: they were made in another past */
    bool lost;    /* the step before cannot be computed again, since a version crashed in it and was taken back, or
                     since memory lacked in it: the moment's state is that of the keyframe */
    char *inputs; /* that plugins took from outside in the step after (outside.h) */
    size_t input_size;
} touch_t;

typedef struct history_mark_t {
    char name[HISTORY_NAME];
    uint64_t moment;
} history_mark_t;

/* A part of the line of moments that leads to the present, up to the next part (branches.h). */
typedef struct stretch_t {
    uint64_t number, from;
} stretch_t;

typedef struct branch_t branch_t;

typedef struct history_t {
    parts_t parts;
    memory_t memory;            /* of the past */
    memory_t recorder;          /* of a recording under way */
    /* Take the step of a world, or of all where `world` is BP_NONE. */
    bp_result_t (*step)(void *context, uint32_t world);
    void *context;
    bool *recomputing;          /* while the past is computed again */

    bool on;                    /* steps are remembered or recorded */
    recording_t recording;
    uint64_t budget;            /* bytes; 0: nothing is remembered */
    uint32_t interval_ms;       /* from keyframe to keyframe; 0: one after each step */
    uint32_t record_ms;         /* the same in a file */
    uint64_t first, now, last;  /* moments */
    uint64_t branch;            /* how often the host has gone to another moment */
    keyframe_store_t store;
    keyframes_t keyframes;
    taken_t taken;              /* the steps of moments first to last - 1 */
    touch_t *touches;           /* in the order of time */
    uint32_t touch_count, touch_capacity;
    history_mark_t *marks;
    uint32_t mark_count, mark_capacity;
    stretch_t *stretches;       /* in the order of time */
    uint32_t stretch_count, stretch_capacity;
    uint64_t numbers;           /* of stretches given out */
    branch_t *branches;         /* in the order in which they were left */
    uint32_t branch_count, branch_capacity;
    uint64_t shape;             /* a number made from the worlds, managers and plugins of the host */
    uint64_t units;             /* ... and from its units */
    eras_t eras;
    outside_t outside;          /* what plugins take from outside in a step */
    feed_t *feed;               /* a record for a second host (feed.h); or NULL */
    uint64_t taken_at, took;    /* ns: the last keyframe */
    bytes_t calls;              /* since the last step, and not yet kept */
    size_t call_begins;         /* where the call under way begins */
    uint64_t stamp_bytes;       /* of all worlds, when a keyframe was taken last */
    bool touched;               /* a call has come since the last step, and is not yet kept; ... */
    bool unknown;               /* ... such a call cannot be made again */
    bool remade;                /* ... and an era begins with it */
    bool lost;                  /* ... since the step before cannot be computed again */
    bool left;                  /* ... and the line on which it was taken has been left: no recorded step is lost */
    size_t refused;             /* requests for memory so far, when the step under way began */
    bool unseen;                /* the call under way has taken something from outside */
    bool came;                  /* the host is in its past, and the calls of the present moment have been made: the step
                                   that was to follow has failed */
    bool calling;               /* a call that is written down is under way */
    bool failing;               /* the last keyframe could not be had, and the log has been told */
    bool undoing;               /* parts go that are not of the past */
    bool going;
    bool astray;                /* the host has been given another makeup, and has no state yet */
} history_t;

void history_prepare(history_t *history, const parts_t *parts);
void history_free(history_t *history);

/* Remember from now on with that many bytes; 0 forgets. BP_ERROR_STATE names plugins that do not say how to be kept;
 * limit, where a keyframe is larger than the budget; memory. On an error all is as it was. Where there is a past, the
 * one that takes its place is made in `next` first; both calls have the same arguments, and history_set_end follows
 * where history_set_begin has succeeded. [main], between steps */
bp_result_t history_set_begin(history_t *history, uint64_t budget, history_t *next);
bp_result_t history_set_end(history_t *history, uint64_t budget, history_t *next);

/* Prepare a world that has just come into being: it keeps stamps, if steps are remembered. */
void history_add_world(history_t *history, world_t *world);

/* Record the host in a file from now on (recording.h); and end that recording. [main], between steps */
bp_result_t history_record(history_t *history, const char *path, const char *origin);
bp_result_t history_record_end(history_t *history);

/* Go on with a recording that has been played to its end in this host (playback.h). [main], between steps */
bp_result_t history_record_on(history_t *history, const char *path, const recorded_t *recorded);

/* A change comes from outside that cannot be made again. Within a call that is written down the change is part of that
 * call; with history_touch_always it is not. Calls that are made often ask for BASE_REMEMBERED first. */
void history_touch_slowly(history_t *history);
static inline void history_touch(history_t *history)
{
    if (history->on && !history->unknown)
        history_touch_slowly(history);
}
void history_touch_always(history_t *history);

/* A call from outside is about to be made that can be made again: where the answer is true, the caller writes it to
 * `history->calls` (journal.h), makes it, and says whether it was done. The effect of a call that failed is kept by a
 * keyframe, since it may have been made in part. */
bool history_call_slowly(history_t *history);
static inline bool history_call(history_t *history)
{
    return history->on && history_call_slowly(history);
}
void history_called(history_t *history, bool done);

/* Begin the past anew: the host has gone to another time; or a world or a plugin is about to go, or has gone. Another
 * one that takes its place before the next step, with as many components, may not be told from it by shape_of. */
void history_renew(history_t *history);
void history_lose_part(history_t *history);

/* Around the end of worlds and plugins that have come since the last step, and are no part of the past: it stays.
 * `worlds`: there were worlds among them. */
void history_undo_begin(history_t *history);
void history_undo_end(history_t *history, bool worlds);

/* Plugins have other code now, or other options: another era begins. */
void history_remade(history_t *history);

/* A version has crashed in the step that is about to end, and the one before is at work again. To be called once that
 * one is there. */
void history_taken_back(history_t *history);

/* A plugin takes data from outside between steps, which is not written down: a call under way cannot be made again. */
static inline void history_take_unseen(history_t *history)
{
    history->unseen = true;
}

/* Record steps and calls in `feed` from now on; NULL ends that. */
void history_feed(history_t *history, feed_t *feed);

/* Put the steps and calls from `moment` on up to the present into a feed, without the calls at that moment where they
 * `came` already. Precondition: the moment is remembered, and nothing is pending (history_settle). */
void history_feed_past(const history_t *history, feed_t *feed, uint64_t moment, bool came);

/* Keep the changes from outside since the last step. [main], between steps */
void history_settle(history_t *history);

/* Write down another host, a clone of this one, as a keyframe of this history; the keyframe belongs to the caller; and
 * free such a keyframe. Errors are those of the other host. [main], between steps */
bp_result_t history_take_other(history_t *history, const parts_t *parts, keyframe_t *keyframe);

/* Add a branch that forks off at the moment `fork`: with the makeup `makeup`, the state `begins` before the next step,
 * the state `ends` at the moment `last`, which is not later than the present one, and the steps and calls of the
 * present line in between, with the numbers that the host `in` has for what they name (calls that cannot be made are
 * passed over). The makeup and the two keyframes belong to the history then, also where this fails. Returns the number;
 * 0 without memory, or where there is no room. [main] */
uint64_t history_add_future(history_t *history, uint64_t fork, uint64_t last, const parts_t *in, makeup_t *makeup,
                            keyframe_t begins, keyframe_t ends);

/* The last keyframe before `moment`, or of it, from which the moment can be computed; NULL: there is none. */
const keyframe_t *history_keyframe(const history_t *history, uint64_t moment);

/* Brackets around a step that is about to be taken. */
void history_begin_step(history_t *history, uint32_t world);
void history_end_step(history_t *history, uint32_t world);

/* Go to a moment. Errors: not found, state where it cannot be computed, those of restoring; the host is then where it
 * was. [main], between steps */
bp_result_t history_go(history_t *history, uint64_t moment);

/* Begin another future: the moments after the present one are kept as a branch, as far as there is room. */
void history_cut(history_t *history);

/* Go to the end of a branch, which is on the line from then on; the part of the line that it replaces is kept as a
 * branch. BP_ERROR_NOT_FOUND; else as history_go. [main], between steps */
bp_result_t history_return(history_t *history, uint64_t number);

/* Give the present moment a name; find the moment that a name was given to. */
bp_result_t history_mark(history_t *history, const char *name);
bool history_find_mark(const history_t *history, const char *name, uint64_t *moment);

/* For a step of all worlds that is compared with the same step elsewhere: in the past it begins with the calls that
 * came then. history_bring_calls makes these in that other host, which may be this one while it is `going`; errors are
 * those of a call. history_can_compare: all that the step begins and ends with are such calls. [main], between steps */
bool history_can_compare(const history_t *history);
bp_result_t history_bring_calls(const history_t *history, const parts_t *parts);

/* Have the step at the present moment given what it took from outside when it was taken first. False when out of
 * memory. [main], between steps */
bool history_give_inputs(history_t *history);

#endif
