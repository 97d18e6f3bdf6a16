/* hot.h - hot reload as it goes on by itself: files watched, sources rebuilt, candidates tried, changes made.
 *
 * Called between steps (hot_poll). What a call does is short but for two things: a fork, and the change itself; compiling and trying
 * go on beside the host.
 *
 * The trial: a copy of this process, with all worlds as they are, reads the candidate in, carries everything over, takes
 * HOT_TRIAL_STEPS steps of each world on its one thread, and reports. The host goes on with the old code meanwhile, and only makes
 * the change where the copy has come through it within the deadline.
 *
 * What it does not do: the change itself is reload.h's.
 */
#ifndef HOST_RELOAD_HOT_H
#define HOST_RELOAD_HOT_H

#include "build.h"
#include "reload.h"
#include "watch.h"

enum {
    HOT_POLL_MS = 2,        /* calls in between come back at once */
    HOT_TRIAL_STEPS = 3,
    HOT_DEADLINE_MS = 5000, /* of a trial, where nobody says otherwise */
    HOT_REASON = 1024
};

typedef struct hot_t {
    memory_t memory;
    reload_t *reload;
    base_t *base;
    bool watching, building, trying; /* which parts are on */
    uint32_t deadline_ms;
    file_watch_t watch;
    build_t build;
    reload_change_t *change; /* on trial, or NULL */
    process_t *child;
    uint64_t child_since, polled_at; /* ms */
    char candidate[64];      /* the plugin of the change */
    char said[HOT_REASON];   /* by the child so far */
    size_t said_size;
    uint64_t fork_ns;        /* what the last fork took: the only part of a trial for which the host stands still */
} hot_t;

void hot_init(hot_t *hot, reload_t *reload);
void hot_free(hot_t *hot); /* ends what has begun */

/* Watch the files of all plugins, loaded now or later. Trials where the system has them and `trying` says so: where the system has none
 * the log says that candidates come in untried. deadline_ms 0: HOT_DEADLINE_MS. [main] */
bp_result_t hot_begin(hot_t *hot, bool trying, uint32_t deadline_ms);

void hot_end(hot_t *hot);

/* Rebuild plugins whose sources are saved (build.h). [main] */
bp_result_t hot_build(hot_t *hot, const char *command, const char *sources);
void hot_end_build(hot_t *hot);

/* Whatever is to be done at present. [main], between steps */
void hot_poll(hot_t *hot);

/* Let go of a candidate on trial: before plugins come or go otherwise. [main] */
void hot_cancel(hot_t *hot);

#endif
