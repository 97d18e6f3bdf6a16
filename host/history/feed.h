/* feed.h - a record of a host's work from some moment on, for another host that is to do the same: the steps that it
 * takes, and the calls from outside before each.
 *
 * The past may be forgotten while the other host is still behind, so all is copied here. Where a change from outside
 * cannot be made again as a call, the entry says so (`unknown`), and the reader decides whether to go on.
 *
 * Not here: reading it (engine/draft.h).
 */
#ifndef HOST_HISTORY_FEED_H
#define HOST_HISTORY_FEED_H

#include "../base/bytes.h"

#include <bp_types.h>

/* One step, and what came before it. */
typedef struct feed_step_t {
    uint64_t moment;
    uint64_t calls, size; /* in the feed's bytes */
    uint64_t inputs, input_size; /* what plugins took from outside in the step (outside.h) */
    uint32_t world;       /* BP_NONE: all */
    uint32_t unknown;     /* a change came from outside that cannot be made again */
} feed_step_t;

typedef struct feed_t {
    memory_t *memory;
    feed_step_t *items;
    uint32_t count, capacity;
    bytes_t bytes;        /* calls, each call at a multiple of 16 */
    uint64_t begun;       /* where the calls since the last step begin */
    uint64_t skip;        /* bytes of the first calls that have been made already */
    bool unknown;         /* such a change came since the last step */
    const char *broken;   /* why the feed has ended; NULL: it goes on */
    uint64_t ns, steps;   /* that the first host took for its own steps since the feed began */
    uint64_t began_at;    /* ns: the step under way */
} feed_t;

void feed_init(feed_t *feed, memory_t *memory);
void feed_free(feed_t *feed);

/* Calls have come, or (`unknown`) a change that cannot be made again as a call. [main] */
void feed_calls(feed_t *feed, const void *calls, size_t size, bool unknown);

/* The same of calls of which some have been made already (`skip`). */
void feed_pending(feed_t *feed, const bytes_t *calls, bool unknown);

/* The host takes a step; it has been taken at `moment`, with what plugins took from outside in it. [main] */
void feed_begin_step(feed_t *feed);
void feed_step(feed_t *feed, uint64_t moment, uint32_t world, const void *inputs, size_t input_size, bool living);

/* All steps so far have been taken by the other host too, and are forgotten. [main] */
void feed_forget(feed_t *feed);

/* End the feed. `why` is a text that stays for ever. */
static inline void feed_break(feed_t *feed, const char *why)
{
    if (feed != NULL && feed->broken == NULL)
        feed->broken = why;
}

#endif
