/* outside.h - data that plugins have taken from outside in a step, written down, and given once more when the step is
 * taken again.
 *
 * An entry is found by the hash of its name; entries of one name are given in the order in which they were taken. So
 * units that run side by side may take data in any order, as long as each uses names of its own.
 *
 * Not here: keeping the data of each step (history.h), and the table for plugins (engine/tables.c).
 */
#ifndef HOST_HISTORY_OUTSIDE_H
#define HOST_HISTORY_OUTSIDE_H

#include "../base/bytes.h"

#include <bp_outside.h>
#include <stdatomic.h>

typedef struct outside_t {
    bytes_t taken;      /* in the step under way, where it is to be written down */
    bytes_t given;      /* to be given to the step under way; entries that have been given are marked */
    bytes_t *copy;      /* not NULL: what a step has taken is copied there when the step is over */
    atomic_bool locked;
    bool notes;         /* what is taken is written down */
} outside_t;

void outside_init(outside_t *outside, memory_t *memory);
void outside_free(outside_t *outside);

/* Give these bytes, which an earlier step has taken, to the next step. False when out of memory. [main] */
bool outside_give(outside_t *outside, const void *bytes, size_t size);

/* A step is over. [main] */
void outside_end(outside_t *outside);

/* Return the data that was written down under that name; where there is none, call taking->take, and write its data
 * down if `notes`. [any], within a step */
bp_result_t outside_take(outside_t *outside, const char *name, const bp_taking_i *taking, void *bytes, size_t room,
                         size_t *size);

#endif
