/* slack.h - what lies behind the last row of every column: filled before plugins are called, and looked at afterwards.
 *
 * Columns have room for rows to come. A loop that goes too far writes there, and nothing is seen of it until rows come
 * or the room ends. In the copy of a trial that room is filled with a pattern before each call; what has changed in it
 * afterwards was written by the call.
 *
 * What it does not do: it sees no reading, and no writing beyond that room; runs whose rows have moved during the call
 * are passed over.
 */
#ifndef HOST_STORE_SLACK_H
#define HOST_STORE_SLACK_H

#include "world.h"

enum { SLACK_ROWS = 16 /* at least so many behind the last row */ };

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
} slack_t;

/* Make room behind the rows of all runs: before they are handed to anybody. Where memory does not suffice less is
 * seen. */
void slack_make(slack_t *slack, memory_t *memory, world_t *const *worlds, uint32_t world_count);

/* Fill what lies behind the rows now. */
void slack_fill(slack_t *slack);

/* Is it as it was filled? Else `reason` says where it is not. */
bool slack_is_whole(const slack_t *slack, char *reason, size_t size);

void slack_free(slack_t *slack);

#endif
