/* hot.h - hot reload without calls of the embedder but bp_host_poll: files watched, sources rebuilt, candidates tried,
 * changes made.
 *
 * Called between steps (hot_poll). A call is short but for two things: a fork, and the change itself; compiling and
 * trying (trial.h) go on beside the host.
 *
 * Sets. Plugins that one build has written may depend on each other, so a finished file waits while others are still
 * being written (HOT_GATHER_MS at most), and all come in as one change: all of it, or nothing. Where one file finishes
 * much later than another, the first was perhaps refused for want of the second. So a refused plugin waits:
 *   - refused by a rule, or by its own verb, it is tried again together with the next file that is written;
 *   - refused in a set, for whatever reason, it is tried again when another plugin of that set is.
 * Where such a larger set is refused as well, the new files are tried without the plugins that waited, and only the
 * outcome of that is told.
 *
 * Not here: the change itself (reload.h).
 */
#ifndef HOST_RELOAD_HOT_H
#define HOST_RELOAD_HOT_H

#include "build.h"
#include "trial.h"
#include "watch.h"

enum {
    HOT_POLL_MS = 2,   /* calls within that time of the last one come back at once */
    HOT_GATHER_MS = 50,
    HOT_HANDLES = 2
};

typedef struct hot_name_t {
    char chars[64]; /* name of a plugin, which may have been unloaded meanwhile */
} hot_name_t;

/* A plugin, after its present file was refused. */
typedef struct hot_waiting_t {
    hot_name_t name;
    uint32_t set;  /* the number of the set that was refused; 0: the plugin was refused alone */
    bool refused;  /* neither crashed nor hung: perhaps it lacks another plugin */
} hot_waiting_t;

typedef struct hot_t {
    memory_t memory;
    reload_t *reload;
    base_t *base;
    bool watching, building, trying; /* which parts are on */
    uint32_t deadline_ms;
    bool deaf;               /* the log has been told that saved sources are not noticed */
    char helper[FILE_PATH_MAX]; /* the program that tries candidates; "": a copy of this process does */
    file_watch_t watch;
    build_t build;
    sources_t sources;       /* plugins given as their source */

    hot_name_t names[RELOAD_MAX_PLUGINS]; /* plugins that are to come: first those whose files are new, ... */
    uint32_t fresh, count;                /* ... then those that waited, while a change is under way */
    bool readies;                         /* columns are made ready for the change, which has passed its trial */
    bool leaves;                          /* columns that go are let go of in slices (base/leavings.h), ... */
    bool leaving;                         /* ... and some have left */
    bool waits;                           /* the change may not begin yet: the voter has not said yes */
    bool alone;                           /* refused with those that waited: to be tried without them */
    bool asked;                           /* asked for by hot_ask, ... */
    bool lossy;                           /* ... also where values are lost that cannot be brought back */
    uint64_t gathering_since;             /* ms */
    hot_waiting_t *waiting;
    uint32_t waiting_count, waiting_capacity;
    uint32_t sets;                        /* sets numbered so far */

    uint64_t beside_steps;   /* versions that are found run beside the host for so many steps first; 0: they come in */
    /* Begins such a draft. False, with the error, where that is not possible. */
    bool (*beside)(bp_host_o *host, const char *const *names, uint32_t count, uint64_t steps);

    reload_change_t *change; /* the change on trial, or NULL */
    trial_t trial;
    uint64_t polled_at;      /* ms */
} hot_t;

void hot_init(hot_t *hot, reload_t *reload);
/* Ends what has begun. The sources stay: sources_free removes them after the loader, whose copies may lie there. */
void hot_free(hot_t *hot);

/* Try candidates first: by the program `helper`; where that is NULL, in a copy of this process. Where the system has
 * none either the log says that candidates come in untried. deadline_ms 0: TRIAL_DEADLINE_MS. [main] */
void hot_try(hot_t *hot, uint32_t deadline_ms, const char *helper);

/* Watch the files of all plugins, loaded now or later. [main] */
bp_result_t hot_begin(hot_t *hot);

void hot_end(hot_t *hot); /* no watching, no trials */

/* Rebuild plugins whose sources are saved (build.h): the command runs in `folder`. [main] */
bp_result_t hot_build(hot_t *hot, const char *command, const char *folder, const char *sources);
void hot_end_build(hot_t *hot);

/* Load a plugin that is given as its source: compile it, load the library, and, where files are watched, compile the
 * source anew whenever it is saved. Errors: those of sources_compile and of loader_load. [main] */
bp_result_t hot_load_source(hot_t *hot, const char *path, const bp_option_t *options, uint32_t option_count);

/* Do the work that is due: take notices, follow builds and trials, make columns ready, make changes. [main], between
 * steps */
void hot_poll(hot_t *hot);

/* How many nanoseconds may pass before hot_poll has something to look at (UINT64_MAX: hot reload is off), unless one of
 * the handles that it listens to can be read. [main] */
uint64_t hot_sleep(const hot_t *hot, intptr_t handles[HOT_HANDLES], uint32_t *count);

/* How many nanoseconds until hot_poll does not come back at once. [main] */
uint64_t hot_due(const hot_t *hot);

/* Reload these plugins now, as one change, on trial first like those that are watched: waits for the trial, and before
 * that for the compilers of those that are given as their source. A change on trial at present is let go of, and tried
 * anew afterwards. `lossy`: values that cannot be brought back may be lost. [main], between steps */
bp_result_t hot_reload(hot_t *hot, const char *const *names, uint32_t count, bool lossy);

/* Reload these plugins as those whose files are watched: tried and made ready beside the steps, by hot_poll, also where
 * nothing is watched. Waits only for the compilers of those that are given as their source. The result is reported as
 * that of every reload. Together with them come files that have been found, and not tried yet. BP_ERROR_NOT_FOUND where
 * one is not loaded: then nothing is asked for. [main], between steps */
bp_result_t hot_ask(hot_t *hot, const char *const *names, uint32_t count, bool lossy);

/* Let go of the change on trial, before plugins come or go otherwise; the change is tried anew at the next poll.
 * [main] */
void hot_cancel(hot_t *hot);

#endif
