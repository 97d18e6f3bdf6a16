/* keyframes.h - whole states of a host in memory, in the order of time, and choosing the one to drop.
 *
 * Keyframes of the same moment: that from before the calls from outside comes first, the touched one after it.
 *
 * A keyframe shares unchanged pieces with the one that was taken before it (pieces.h). The stamps of the store tell
 * which are unchanged, so the time for a keyframe grows with the bytes written since, not with the size of the host.
 * Where a write may have gone without a stamp, `doubted` says so, and the next keyframe compares all bytes.
 *
 * Not here: the budget, and the steps and calls between keyframes (history.c).
 */
#ifndef HOST_HISTORY_KEYFRAMES_H
#define HOST_HISTORY_KEYFRAMES_H

#include "restore.h"

typedef struct keyframe_t {
    uint64_t moment;
    bool touched;   /* taken after a call from outside that cannot be made again */
    bool stays;     /* later moments can be computed only from this keyframe: it is never dropped first */
    cut_t *cut;
} keyframe_t;

/* The pieces that keyframes share, in whichever list the keyframes are. */
typedef struct keyframe_store_t {
    pieces_t pieces;
    uint64_t *looks;        /* of each world, when the last keyframe was taken; 0: not yet */
    uint32_t look_capacity;
    bool doubted;           /* something may have been written without a stamp since the last keyframe */
} keyframe_store_t;

typedef struct keyframes_t {
    keyframe_store_t *store;
    keyframe_t *items;  /* in the order of time */
    uint32_t count, capacity;
} keyframes_t;

void keyframe_store_init(keyframe_store_t *store, memory_t *memory);

/* Precondition: no keyframe of the store is left. */
void keyframe_store_free(keyframe_store_t *store);

/* The next keyframe shares nothing with those before: the host is another one, or has another world. */
void keyframe_store_forget(keyframe_store_t *store);

/* Write down the host as it is now: the keyframe is the caller's until keyframes_put. Errors: those of a snapshot;
 * BP_ERROR_LIMIT where there is no room. [main], between steps */
bp_result_t keyframe_take(keyframe_store_t *store, const parts_t *parts, keyframe_t *keyframe);
void keyframe_free(keyframe_store_t *store, keyframe_t *keyframe);

/* The bytes of the state, shared or not. */
uint64_t keyframe_size(const keyframe_t *keyframe);

/* Bring the host to the state of a keyframe; the next keyframe is compared with this one. Errors: those of restoring.
 * [main], between steps */
bp_result_t keyframe_bring_back(keyframe_store_t *store, const parts_t *parts, const keyframe_t *keyframe);

void keyframes_init(keyframes_t *keyframes, keyframe_store_t *store);
void keyframes_free(keyframes_t *keyframes);

/* The bytes that the list takes, without its keyframes. */
static inline uint64_t keyframes_room(const keyframes_t *keyframes)
{
    return keyframes->capacity * sizeof *keyframes->items;
}

/* Make sure that one more keyframe can be put in place. False when out of memory. */
bool keyframes_reserve(keyframes_t *keyframes);

/* Put a keyframe in its place, where there is room, and instead of one of the same moment and kind; where that one
 * stays, this one does. Returns the place. Cannot fail. */
uint32_t keyframes_put(keyframes_t *keyframes, const keyframe_t *keyframe);

void keyframes_drop(keyframes_t *keyframes, uint32_t at);

/* The bytes of the states that no other keyframe has. */
uint64_t keyframes_own(const keyframes_t *keyframes);

/* Move the keyframes from number `first` on to the end of another list, where they belong in time. False when out of
 * memory: nothing has changed. */
bool keyframes_move(keyframes_t *from, uint32_t first, keyframes_t *to);

/* The keyframe to drop first, seen from the moment `last`: the one with the closest neighbours in relation to its age;
 * a touched one counts as further from them. The first keyframe, from which the rest can be computed, and the last one
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
