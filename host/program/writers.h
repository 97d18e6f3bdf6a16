/* writers.h - the units that write a property in a step, or change a count: for which entities, and the values before
 * and after.
 *
 * All values of the property, or the count, are read before the step and after each unit: as they lie, or as texts
 * where they cannot be read so (condition.h); those that are shown become texts. A value that differs from the reading
 * before has been written by that unit; a difference before the first unit comes from outside, one after the last unit
 * from commands or the other work after the units.
 *
 * Not here: which step (console_find.c, replay.c).
 */
#ifndef HOST_PROGRAM_WRITERS_H
#define HOST_PROGRAM_WRITERS_H

#include "condition.h"

enum { WRITERS_MOST = 32, WRITERS_SHOWN = 3, WRITERS_TEXT = 96 };

/* A value that was written. */
typedef struct written_t {
    bp_entity_t entity;
    char before[WRITERS_TEXT], after[WRITERS_TEXT]; /* may be cut; "" where there was none */
} written_t;

/* One unit, or what comes before or after all of them. */
typedef struct writer_t {
    char name[2 * WRITERS_TEXT]; /* "system gravity" */
    uint32_t count;              /* of entities */
    written_t first[WRITERS_SHOWN];
} writer_t;

typedef struct known_value_t {
    bp_entity_t entity;
    size_t at; /* where it begins in the bytes; 8-byte aligned */
    size_t size; /* of a value as it lies; 0: a text */
} known_value_t;

/* All values at one time. */
typedef struct values_t {
    known_value_t *items;
    char *bytes;
    size_t count, capacity, size, room;
} values_t;

typedef struct writers_t {
    const program_t *program;
    condition_t *condition; /* its world, and its property or the count */
    values_t before, now;
    bool any_unit;          /* a unit has run in this step */
    bool no_memory;
    writer_t writers[WRITERS_MOST];
    uint32_t count;
} writers_t;

/* Watch the steps of the host from now on; the last step before writers_end is reported. False when out of memory:
 * nothing is held. */
bool writers_begin(writers_t *writers, const program_t *program, condition_t *condition);

/* End the watch. False when out of memory meanwhile. */
bool writers_end(writers_t *writers);

/* Print a line for each writer. */
void writers_print(const writers_t *writers);

void writers_free(writers_t *writers);

#endif
