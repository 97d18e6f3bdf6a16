/* spots.h - where the columns of properties lie, by prototype: what a look-up of one entity after another needs.
 *
 * A property that is resolved gets a number in its world, and the world a *line* for it: for each prototype a *spot*,
 * which is the address of the column's address in the run, or NULL where no look-up has found it yet. So an entity that
 * has other components than the one before costs two loads to the address of its column: the spot, and what is there.
 * Columns move as runs grow; the addresses of their addresses do not. Spots are those of one layout (world.h): when a
 * world gets another layout its spots are freed, or exchanged for those of the other side of a reload.
 *
 * A resolved property remembers a spot as if it were a run with a single column (bp_inline.h: only the address of the
 * columns is read). So spots are never moved: where there are more prototypes than a line is long, longer ones are made
 * and the shorter ones are kept. Only the first SPOTS_MOST prototypes have spots, and the first SPOTS_LINES properties:
 * others are found in the longer way.
 *
 * Lines are made where properties are resolved, and lengthened where runs are made [main]; spots are looked at, and
 * filled, in jobs too. A property that is kept over a reload has no line of the new layout until it, or another one of
 * the same field, is resolved anew.
 *
 * Not here: finding the column (prototypes.h).
 */
#ifndef HOST_STORE_SPOTS_H
#define HOST_STORE_SPOTS_H

#include "../base/base.h"

#include <stdatomic.h>

enum {
    SPOTS_SHORT = 16,  /* prototypes in the first lines */
    SPOTS_LONGER = 4,  /* how many times longer the next ones are */
    SPOTS_MOST = 4096, /* prototypes in the longest */
    SPOTS_LINES = 255  /* properties */
};

typedef _Atomic(void *const *) spot_t;

typedef struct spot_line_t {
    struct spot_line_t *shorter; /* the line that this one has taken the place of */
    uint32_t key, field;         /* of the property */
    uint32_t length;
    spot_t spots[];
} spot_line_t;

typedef struct spots_t {
    spot_line_t **lines; /* by number; that of number 0 is for properties without a line: all its spots are NULL */
    uint32_t length;     /* of every line; 0: there are none */
    uint32_t count, capacity;
} spots_t;

/* The number of a property, the field `field` of the component with that key, in a world with so many prototypes; 0
 * where it gets no line. [main] */
uint32_t spots_number(spots_t *spots, memory_t *memory, uint32_t key, uint32_t field, uint32_t prototypes);

/* The number that the property has already; 0: none. [job] */
uint32_t spots_find(const spots_t *spots, uint32_t key, uint32_t field);

/* There are so many prototypes now: lengthen the lines if need be. Without memory they stay as they are. [main] */
void spots_fit(spots_t *spots, memory_t *memory, uint32_t prototypes);

void spots_free(spots_t *spots, memory_t *memory);

/* The spot of a property with that number; NULL: there is none for the prototype. [job] */
static inline spot_t *spots_at(const spots_t *spots, uint32_t number, uint32_t prototype)
{
    return prototype < spots->length ? &spots->lines[number]->spots[prototype] : NULL;
}

/* What is known there. [job] */
static inline void *const *spot_known(spot_t *spot)
{
    return atomic_load_explicit(spot, memory_order_acquire);
}

/* A look-up has found where the column's address is. A spot is written once, since others may read it without a call
 * from then on. [job] */
static inline void spots_note(const spots_t *spots, uint32_t number, uint32_t prototype, void *const *column)
{
    void *const *unknown = NULL;
    spot_t *spot = number == 0 ? NULL : spots_at(spots, number, prototype);
    if (spot != NULL)
        atomic_compare_exchange_strong_explicit(spot, &unknown, column, memory_order_release, memory_order_relaxed);
}

#endif
