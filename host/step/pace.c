/* pace.c - the way in use is compared with the other one by the best of seven runs each.
 *
 * The best and not the mean, since a disturbance only ever makes a run longer. The way changes only for some advantage,
 * so that two ways that are equally good do not take turns; a change to one thread needs an advantage of an eighth,
 * since another program that has the processors for a moment looks the same as work that cannot be shared. Where
 * threads save a fifth or more the answer is clear, and the next trial is put off for as long as possible; else the
 * next trial comes sooner.
 */
#include "pace.h"

#include <stddef.h>

enum { RUNS = sizeof((pace_t *)NULL)->last / sizeof(uint64_t), TO_SHARE = 16, TO_BE_ALONE = 8, CLEAR = 4 };

static uint64_t best_of_last(const pace_t *pace)
{
    uint64_t best = pace->last[0];
    for (int i = 1; i < RUNS; i++)
        best = pace->last[i] < best ? pace->last[i] : best;
    return best; /* 0 while fewer than seven runs have been measured */
}

static void begin_trial(pace_t *pace)
{
    pace->tries = PACE_TRIES;
    pace->best = UINT64_MAX;
}

static void end_trial(pace_t *pace)
{
    uint64_t best = best_of_last(pace), advantage = best / (pace->alone ? TO_SHARE : TO_BE_ALONE);
    uint32_t longest = pace->alone ? PACE_LAST_TRIAL_ALONE : PACE_LAST_TRIAL;
    bool other = pace->best < best - advantage, clear = !pace->alone && pace->best > best + best / CLEAR;
    pace->since = 0;
    pace->wait = other ? PACE_FIRST_TRIAL : clear || 2 * pace->wait > longest ? longest : 2 * pace->wait;
    if (!other)
        return;
    pace->alone = !pace->alone;
    for (int i = 0; i < RUNS; i++)
        pace->last[i] = pace->best;
}

bool pace_share(pace_t *pace, uint64_t expected)
{
    if (expected < PACE_WORTH_NS) {
        pace_forget(pace);
        return false;
    }
    if (pace->wait == 0)
        pace->wait = PACE_FIRST_TRIAL;
    uint64_t best = best_of_last(pace);
    if (pace->tries == 0 && pace->since >= pace->wait && best > 0 && best < PACE_LONG_NS)
        begin_trial(pace);
    return (pace->tries > 0) == pace->alone;
}

void pace_note(pace_t *pace, uint64_t nanoseconds)
{
    if (pace->tries == 0) {
        pace->last[pace->since++ % RUNS] = nanoseconds;
        return;
    }
    if (pace->tries < PACE_TRIES && nanoseconds < pace->best)
        pace->best = nanoseconds;
    if (--pace->tries == 0)
        end_trial(pace);
}
