/* history_inner.h - what the files of the history share.
 *
 * Not here: functions for other rooms (history.h).
 */
#ifndef HOST_HISTORY_HISTORY_INNER_H
#define HOST_HISTORY_HISTORY_INNER_H

#include "history.h"

/* Write a line of the history's to the log. */
void history_say(const history_t *history, int32_t level, const char *why);

/* Forget the calls of one moment; and those of `count` moments. */
void history_drop_calls(history_t *history, touch_t *touch);
void history_drop_touches(history_t *history, uint32_t first, uint32_t count);

/* Forget the marks of moments that are not remembered any more. */
void history_drop_marks(history_t *history);

/* Drop branches and keyframes, the least useful first, until so many bytes more have room in the budget, or no keyframe
 * is left. */
void history_make_room(history_t *history, uint64_t needed);
bool history_make_room_for_piece(void *history, uint64_t needed); /* the same for keyframes (pieces.h) */

/* Forget the past, and begin a new one with a keyframe of the present moment. */
void history_begin_anew(history_t *history);

/* Are there other worlds, components or plugins than those of the past? Then the past has to begin anew. Where there
 * are other units only, an era begins. */
bool history_is_made_anew(history_t *history);

/* Put down the calls that came since the last step, at the present moment. history_put_down: also in the file of a
 * recording, and in the feed; `anew`: the past has begun anew for want of the same parts. */
void history_keep_touch(history_t *history);
void history_put_down(history_t *history, bool anew);

/* Give the host the makeup of an era (NULL: there are no eras), and open plugins anew that have crashed and are set
 * aside. *astray is set once something changes; the host's state is lost then. [main], between steps */
bp_result_t history_make_up(const parts_t *parts, const eras_t *eras, const era_t *era, bool *astray);

/* Bring a keyframe back. Precondition: the host has the makeup of the keyframe's time. */
bp_result_t history_bring_back(history_t *history, const keyframe_t *keyframe);

/* Make the calls again that came from outside at the present moment. */
bp_result_t history_come_again(history_t *history);

/* Keep the present moment. Errors: those of a snapshot; BP_ERROR_LIMIT, memory. history_keep_or_say: the log is told of
 * a failure once, and again only after a keyframe has succeeded. */
bp_result_t history_keep(history_t *history, bool touched);
void history_keep_or_say(history_t *history, bool touched);

#endif
