/* branches.h - futures that were left: each is kept, as far as there is room, and can be returned to.
 *
 *     moment    3 ------ 4 ------ 5 ------ 6 ------ 7
 *     the line  1        1        3        3             the host goes on here
 *     kept                        2        2        2    left at moment 4, and forks there
 *
 * The *line* is what the history holds itself: from its first moment to its last. Where the host goes on from the past,
 * what comes after that moment is taken off the line and kept as a branch: its keyframes, steps, calls, eras and marks.
 * Returning puts it back, and keeps in its place what was there. A branch may fork off another branch that is kept.
 *
 * Each stretch of a line has a number, which no other ever gets: number and moment together name one state for ever,
 * and tell whether a handle is of the present line. The number of a branch is that of its last stretch. Of stretches
 * that ended before what is remembered, the numbers of the last OLD_STRETCHES are known.
 *
 * Where memory of the budget is needed, branches are dropped before keyframes of the line, the branch that was left
 * first before the others.
 *
 * Invariants: a branch forks off at a moment that is remembered. Branches with `parent` 0 fork off the line.
 */
#ifndef HOST_HISTORY_BRANCHES_H
#define HOST_HISTORY_BRANCHES_H

#include "history.h"

enum { OLD_STRETCHES = 64 };

struct branch_t {
    uint64_t parent;     /* the branch that it forks off; 0: the line */
    uint64_t fork, last; /* moments */
    keyframes_t keyframes;
    taken_t taken;       /* the steps of moments fork to last - 1 */
    eras_t eras;
    touch_t *touches;
    history_mark_t *marks;
    stretch_t *stretches;
    uint32_t touch_count, mark_count, stretch_count;
};

static inline uint64_t branch_number(const branch_t *branch)
{
    return branch->stretches[branch->stretch_count - 1].number;
}

/* The number of the line at the present; 0 where nothing is remembered. */
static inline uint64_t branches_present(const history_t *history)
{
    return history->stretch_count > 0 ? history->stretches[history->stretch_count - 1].number : 0;
}

/* The bytes that a branch takes, without its keyframes. */
uint64_t branch_bytes(const branch_t *branch);

/* Take what comes after `moment`, which is not before the present one, off the line. Where nothing comes there, nothing
 * changes. Returns the number of the branch that is kept; 0: there was no memory, and it is forgotten, or nothing came
 * there. From `moment` on the line has a new number. */
uint64_t branches_cut(history_t *history, uint64_t moment);

/* Put a branch back on the line, and keep what is in its place. The present moment must not be after branches_root.
 * Where something is in the branch's place at that moment, the host's state does not belong to the line any more: a
 * keyframe has to be brought back. False without memory: the line is as it was, or what was in that place is kept as a
 * branch and can be put back. */
bool branches_return(history_t *history, uint64_t number);

/* The moment at which the way to a branch leaves the line. */
uint64_t branches_root(const history_t *history, const branch_t *branch);

branch_t *branches_find(const history_t *history, uint64_t number);

/* Forget a branch, and those that fork off it; all of them; the one that has been kept longest (false: there is
 * none). */
void branches_drop(history_t *history, uint64_t number);
void branches_forget(history_t *history);
bool branches_make_room(history_t *history);

/* An empty branch that forks off the line at `fork`; its contents belong to the history from branches_keep on. False
 * without memory. */
void branch_init(branch_t *branch, history_t *history, uint64_t fork, uint64_t last);
void branch_free(branch_t *branch, history_t *history);
bool branches_keep(history_t *history, const branch_t *branch);

/* Is the state of that number and moment on the line, and not after the present? False of numbers that are known no
 * more. */
bool branches_holds(const history_t *history, uint64_t number, uint64_t moment);

/* The line has a new number from the present moment on. */
void branches_begin(history_t *history);

/* Forget the numbers of stretches that ended before what is remembered, but for the last few (branches_holds). */
void branches_drop_old(history_t *history);

#endif
