/* outside.h - what plugins have taken from outside in a step, written down, and given once more when the step is taken
 * again.
 *
 * An entry is found by the hash of its name; entries of one name are given in the order in which they were taken. So
 * units that run side by side may take what they want in any order, as long as each has names of its own.
 *
 * Not here: what is kept of which step (history.h), and the table for plugins (engine/tables.c).
 */
#ifndef HOST_HISTORY_OUTSIDE_H
#define HOST_HISTORY_OUTSIDE_H

#include "../base/bytes.h"

#include <bp_outside.h>
#include <stdatomic.h>

typedef struct outside_t {
    bytes_t taken;      /* in the step under way, where it is to be written down */
    bytes_t given;      /* that the step under way is to be given; entries that have been given are marked there */
    bytes_t *copy;      /* not NULL: what a step has taken is copied there when the step is over */
    atomic_bool locked;
    bool notes;         /* what is taken is written down */
} outside_t;

void outside_init(outside_t *outside, memory_t *memory);
void outside_free(outside_t *outside);

/* The next step is to be given that, which an earlier step has taken. False when out of memory. [main] */
bool outside_give(outside_t *outside, const void *bytes, size_t size);

/* A step is over. [main] */
void outside_end(outside_t *outside);

/* Give what was written down under that name; or else take it, and write it down. [any], within a step */
bp_result_t outside_take(outside_t *outside, const char *name, const bp_taking_i *taking, void *bytes, size_t room,
                         size_t *size);

#endif
