/* pace.c - the way in use is compared with the other one by the best of three runs each.
 *
 * The best and not the mean, since what disturbs a run only ever makes it longer. A change wants a sixteenth of advantage,
 * so that two ways that are equally good do not take turns.
 */
#include "pace.h"

#include <stddef.h>

enum { RUNS = sizeof((pace_t *)NULL)->last / sizeof(uint64_t), MARGIN = 16 };

static uint64_t best_of_last(const pace_t *pace)
{
    uint64_t best = pace->last[0];
    for (int i = 1; i < RUNS; i++)
        best = pace->last[i] < best ? pace->last[i] : best;
    return best; /* 0 while there are not enough of them */
}

static void begin_trial(pace_t *pace)
{
    pace->tries = PACE_TRIES;
    pace->best = UINT64_MAX;
}

static void end_trial(pace_t *pace)
{
    uint64_t best = best_of_last(pace);
    bool other = pace->best < best - best / MARGIN;
    pace->since = 0;
    pace->wait = other ? PACE_FIRST_TRIAL : 2 * pace->wait > PACE_LAST_TRIAL ? PACE_LAST_TRIAL : 2 * pace->wait;
    if (!other)
        return;
    pace->alone = !pace->alone;
    for (int i = 0; i < RUNS; i++)
        pace->last[i] = pace->best;
}

bool pace_share(pace_t *pace, uint64_t expected)
{
    if (expected < PACE_WORTH_NS) {
        *pace = (pace_t){.alone = false}; /* should it grow, it is as good as new */
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
