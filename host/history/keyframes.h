/* keyframes.h - whole states of a host in memory, in the order of time, and which of them are missed least.
 *
 * Keyframes of the same moment: that from before the calls from outside comes first, the touched one after it.
 *
 * Not here: the budget, and the steps and calls between keyframes (history.c).
 */
#ifndef HOST_HISTORY_KEYFRAMES_H
#define HOST_HISTORY_KEYFRAMES_H

#include "restore.h"

typedef struct keyframe_t {
    uint64_t moment;
    bool touched;   /* taken after a call from outside that cannot be made again */
    bytes_t bytes;
} keyframe_t;

typedef struct keyframes_t {
    memory_t *memory;
    keyframe_t *items;  /* in the order of time */
    uint32_t count, capacity;
    uint64_t bytes;     /* of all keyframes */
} keyframes_t;

void keyframes_init(keyframes_t *keyframes, memory_t *memory);
void keyframes_free(keyframes_t *keyframes);

/* Write down the host as it is now. The keyframe is the caller's until keyframes_put. Errors: those of a snapshot.
 * [main], between steps */
bp_result_t keyframe_take(keyframes_t *keyframes, const parts_t *parts, keyframe_t *keyframe);
void keyframe_free(keyframe_t *keyframe);

/* The bytes that a keyframe takes; and those of its state. */
uint64_t keyframe_room(const keyframe_t *keyframe);
uint64_t keyframe_size(const keyframe_t *keyframe);

/* Bring the host to the state of a keyframe. Errors: those of restoring. [main], between steps */
bp_result_t keyframe_bring_back(const parts_t *parts, const keyframe_t *keyframe);

/* Make sure that one more keyframe can be put in place. False when out of memory. */
bool keyframes_reserve(keyframes_t *keyframes);

/* Put a keyframe in its place, where there is room, and instead of one of the same moment and kind. Returns the place.
 * Cannot fail. */
uint32_t keyframes_put(keyframes_t *keyframes, const keyframe_t *keyframe);

void keyframes_drop(keyframes_t *keyframes, uint32_t at);

/* The keyframe that is missed least, seen from the moment `last`: the one whose neighbours are closest in relation to
 * its age; a touched one is missed more. The first keyframe, from which the rest can be computed, and the last one
 * stay; BP_NONE: there is no other. */
uint32_t keyframes_least_missed(const keyframes_t *keyframes, uint64_t last);

/* The touched keyframe of a moment; NULL: there is none. */
const keyframe_t *keyframes_touched(const keyframes_t *keyframes, uint64_t moment);

/* The last keyframe; NULL: there is none. */
static inline const keyframe_t *keyframes_last(const keyframes_t *keyframes)
{
    return keyframes->count > 0 ? &keyframes->items[keyframes->count - 1] : NULL;
}

#endif
