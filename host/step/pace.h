/* pace.h - is a piece of work faster on several threads? The answer is found by running the work both ways.
 *
 * The cost of threads cannot be told from the work alone: how long a wake-up takes, whether another program has the
 * other processors, whether rows that two processors write by turns move between their caches. So the way that is not
 * in use is tried now and then, for a few times in a row, and the better of the two stays. Where the answer remains the
 * same, trials become less and less frequent. Work that takes long is not tried the other way: threads that share it
 * share it by small tasks, so little can be lost, and a trial would be a step that stutters.
 *
 * Not here: a clock, running the work (the caller says how long the work took).
 */
#ifndef HOST_STEP_PACE_H
#define HOST_STEP_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PACE_WORTH_NS = 50000,    /* work that is expected to take less is not shared: waking a thread costs as much */
    PACE_LONG_NS = 1000000,   /* work that took longer is not tried the other way */
    PACE_TRIES = 8,           /* runs of a trial; the first, which wakes threads or lets them sleep, does not count */
    PACE_FIRST_TRIAL = 16,    /* runs before the first trial, and after one that changed the way; doubled after others
                                 that were close */
    PACE_LAST_TRIAL = 1024,   /* the most runs between trials */
    PACE_LAST_TRIAL_ALONE = 256
};

/* All zero: nothing is known yet. */
typedef struct pace_t {
    bool alone;       /* the way in use: without other threads */
    uint32_t tries;   /* left of a trial of the other way */
    uint32_t since;   /* runs since the last trial */
    uint32_t wait;    /* runs between trials */
    uint64_t last[7]; /* nanoseconds of the last runs of the way in use; 0: not yet */
    uint64_t best;    /* nanoseconds of the best run of the trial */
} pace_t;

/* Run the work on several threads this time? `expected` is what it will take in all, in nanoseconds. */
bool pace_share(pace_t *pace, uint64_t expected);

/* As pace_share where that says no, for work that is not worth sharing: when it grows again, it is treated as new. */
static inline void pace_forget(pace_t *pace)
{
    if (pace->wait != 0)
        *pace = (pace_t){.alone = false};
}

/* Note how long the work took, done the way that pace_share said. Not to be called for work that was not worth
 * sharing. */
void pace_note(pace_t *pace, uint64_t nanoseconds);

#endif
