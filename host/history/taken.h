/* taken.h - which steps were taken between two moments: of which world, or of all.
 *
 * Steps of the same kind in a row are one entry, so that the steps of a week take a few bytes.
 *
 * Not here: the calls between the steps (journal.h), and the first and last moment of the past (history.h).
 */
#ifndef HOST_HISTORY_TAKEN_H
#define HOST_HISTORY_TAKEN_H

#include "../base/base.h"

/* From `moment` on, up to the next entry. */
typedef struct taken_steps_t {
    uint64_t moment;
    uint32_t world; /* BP_NONE: all */
    uint32_t padding;
} taken_steps_t;

typedef struct taken_t {
    memory_t *memory;
    taken_steps_t *items; /* in the order of time */
    uint32_t count, capacity;
} taken_t;

void taken_init(taken_t *taken, memory_t *memory);
void taken_free(taken_t *taken);

/* The step that was taken at `moment`. Precondition: one has been added for that moment, and not been forgotten. */
uint32_t taken_at(const taken_t *taken, uint64_t moment);

/* A step of `world` was taken at `moment`, the one after the last that was added. False when out of memory. */
bool taken_add(taken_t *taken, uint64_t moment, uint32_t world);

/* Forget the steps from `moment` on; and those before it. Cannot fail. */
void taken_cut(taken_t *taken, uint64_t moment);
void taken_drop(taken_t *taken, uint64_t moment);

/* Copy the steps from `moment` on, and before `end`, behind those of another list, of which the last was at `moment` -
 * 1, or which is empty. False when out of memory: nothing has changed. */
bool taken_copy(const taken_t *from, uint64_t moment, uint64_t end, taken_t *to);

/* The bytes that the list takes. */
static inline uint64_t taken_room(const taken_t *taken)
{
    return taken->capacity * sizeof *taken->items;
}

#endif
