/* storm_crasher.c - the plugin crasher: where its next version crashes, and what is there after a crash.
 *
 * Version 1 adds 1 to x in each step, version 2 adds 100. A version that crashes on probation gives way to the one
 * before, any other is set aside.
 */
#define _GNU_SOURCE 1

#include "storm_model.h"

#include <stdlib.h>
#include <string.h>

int storm_crasher_version(void)
{
    const bp_plugin_head_t *head;
    for (uint32_t i = 0; (head = bp_host_plugin(storm.host, i, NULL)) != NULL; i++) {
        if (strcmp(head->name, "crasher") == 0) {
            storm.aside = bp_host_plugin_crash(storm.host, i) != NULL;
            return head->desc->version[0] - '0';
        }
    }
    return 0;
}

/* What has crashed has perhaps counted some of its rows before, and only in one of the worlds. */
static void read_x_again(uint32_t e, uint32_t w)
{
    place_t *place = &storm.now.places[e][w];
    if (!place->has[PLAIN])
        return;
    float x = storm_x_of(e, w);
    SAYS(x == place->x || x == place->x + 100, "x was %g before the crash, and is %g", (double)place->x, (double)x);
    place->x = x;
}

void storm_after_crash(bool may_come_back)
{
    storm.counts->crashes++;
    int version = storm_crasher_version();
    SAYS(storm.aside || (may_come_back && version == storm.former), "crasher %d goes on after a crash", version);
    storm.version = version;
    storm.ghosts = storm.ghosts || (storm.aside && storm.died); /* in this step, perhaps after the crash */
    if (!storm.aside)
        storm.counts->rollbacks++;
    if (!storm.aside)
        storm.probation = OF_NONE;
    for (uint32_t e = 0; e < ENTITIES; e++) {
        EACH_WORLD(w)
            read_x_again(e, w);
    }
}

void storm_tell_crasher(const char *where, const char *how)
{
    setenv("CRASHER_WHERE", where, 1);
    setenv("CRASHER_HOW", how, 1);
}

/* Where a version crashes so that it is refused: with a trial it may also be behind the commit. */
static const char *bad_place(void)
{
    static const char *const places[] = {"load", "plain_start", "report", "plain_stop", "unload"};
    return places[storm_below(storm.how->trial ? COUNT(places) : 2)];
}

static bool never(void)
{
    return false;
}

void storm_reload_crasher(void)
{
    static const char *const hows[] = {"null", "abort", "call"};
    bool to_next = storm_below(3) > 0, bad = to_next && storm_below(4) == 0;
    if (!storm.how->crashes)
        return;
    put_plugin(to_next ? "crasher_next" : "crasher", "crasher");
    if (bad)
        storm_tell_crasher(bad_place(), hows[storm_below(3)]);
    if (storm_reload("crasher", bad ? never : NULL)) {
        storm_begin_probation(OF_CRASHER);
        storm.aside = false;
        storm.version = to_next ? 2 : 1;
    }
    storm.armed = storm_below(2) == 0 && !storm.how->trial;
    storm_tell_crasher(storm.armed ? "simulate" : "nowhere", hows[storm_below(3)]);
}
