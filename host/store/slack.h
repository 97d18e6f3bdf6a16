/* slack.h - the room behind the last row of every column: filled with a pattern before plugins are called, and compared
 * afterwards.
 *
 * Columns have room for rows to come. A loop that goes too far writes there, and the error is not seen until rows come
 * or the room ends. In the copy of a trial that room is filled with a pattern before each call; bytes of the pattern
 * that have changed afterwards were written by the call.
 *
 * Runs with rows that have moved during the call are passed over.
 *
 * Not here: reads beyond the last row, writes beyond that room.
 */
#ifndef HOST_STORE_SLACK_H
#define HOST_STORE_SLACK_H

#include "world.h"

enum { SLACK_ROWS = 16 /* rows of room that each run gets behind its last row, at least */ };

typedef struct slack_run_t {
    const run_t *run;
    const world_t *world;
    void *const *columns;
    uint32_t count, version;
} slack_run_t;

typedef struct slack_t {
    memory_t *memory;
    world_t *const *worlds;
    uint32_t world_count;
    slack_run_t *runs;
    uint32_t count, capacity;
    uint32_t most, turn; /* runs of a world that are looked at with one call; the next call begins with run `turn` */
} slack_t;

/* Watch the runs of these worlds: `most` runs of each with one call, others with the next. */
void slack_init(slack_t *slack, memory_t *memory, world_t *const *worlds, uint32_t world_count,
                uint32_t most);

/* Make room behind the rows of all runs, between calls of plugins. Where memory does not suffice, some runs have less
 * room to look at. */
void slack_make(const slack_t *slack);

/* Fill the room behind the present rows. */
void slack_fill(slack_t *slack);

/* Is the pattern as slack_fill left it? Else `reason` says where the pattern was overwritten. */
bool slack_is_whole(const slack_t *slack, char *reason, size_t size);

void slack_free(slack_t *slack);

#endif
