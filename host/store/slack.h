/* slack.h - the room behind the last row of every column: filled with a pattern before plugins are called, and compared
 * afterwards.
 *
 * Columns have room for rows to come. A loop that goes too far writes there, and the error is not seen until rows come
 * or the room ends. In the copy of a trial that room is filled with a pattern before each call; bytes of the pattern
 * that have changed afterwards were written by the call.
 *
 * Runs with rows that have moved during the call are passed over. So that a call takes no longer where there are very
 * many runs, the one whose rows it is handed is looked at with each call, with those of its world where these are few,
 * and of the others so many, in turn.
 *
 * Not here: reads beyond the last row, writes beyond that room.
 */
#ifndef HOST_STORE_SLACK_H
#define HOST_STORE_SLACK_H

#include "fence.h"

enum {
    SLACK_ROWS = 16,               /* rows of room that each run gets behind its last row, at least */
    SLACK_FEW = 32,                /* runs of a world that has few */
    SLACK_BYTES = 32 * 1024 * 1024 /* of the runs that get room, which are copied for that */
};

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
    uint32_t most;       /* runs that are looked at with one call, besides those of its world */
    uint32_t world, run; /* with which the next call begins */
} slack_t;

/* Watch the runs of these worlds. */
void slack_init(slack_t *slack, memory_t *memory, world_t *const *worlds, uint32_t world_count, uint32_t most);

/* Make room behind the rows of the runs whose columns are not laid in the fence, between calls of plugins. Where memory
 * or SLACK_BYTES do not suffice, some runs have less room to look at. */
void slack_make(const slack_t *slack, const fence_t *fence);

/* Fill the room behind the present rows of the runs that are looked at. `world`: that the call is made in; NULL: in
 * none. `prototype`: of the rows there that it is handed; 0: of none. `all`: all runs are looked at. */
void slack_fill(slack_t *slack, const world_t *world, uint32_t prototype, bool all);

/* Is the pattern as slack_fill left it? Else `reason` says where the pattern was overwritten. */
bool slack_is_whole(const slack_t *slack, char *reason, size_t size);

void slack_free(slack_t *slack);

#endif
