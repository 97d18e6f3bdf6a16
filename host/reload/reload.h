/* reload.h - new code for loaded plugins in a running host: all of it, or nothing.
 *
 * A change goes through four steps, and can be let go of after any but the last:
 *
 *   read      the plugins' files are read whole, judged, and copied under names of their own; none of their code has
 * run   prepare   the plugins are paused, the copies are opened, their descriptors judged, options read, `load` and
 * `start`             called beside the old ones, and every world's new columns made beside the old ones; whatever can
 * fail             fails here
 *   commit    slots, columns and managers change places; cannot fail
 *   finish    the old code stops, its image is closed and its columns freed: at once, or when the probation ends
 *
 * Until commit no visible state has changed, and while `prepare` calls the new code the worlds are sealed: calls from
 * there that would change them are refused (BP_ERROR_STATE). A prepared change must be committed or discarded before
 * anything else is done with the host.
 *
 * A trial (trial.h) is between read and prepare: a copy of the process prepares, commits, takes some steps, and
 * reports; this process goes on stepping meanwhile, and then prepares and commits for itself.
 *
 * On probation (reload_t.probation_steps above 0) the old code and the columns that went stay for so many steps of
 * worlds; reload_rollback brings them back. docs/reload.md says what a rollback gives back and what not.
 *
 * All functions are [main], between steps, outside callbacks.
 *
 * Not here: watching files (watch.h), forks (trial.h), catching crashes (plugin/guard.h).
 */
#ifndef HOST_RELOAD_RELOAD_H
#define HOST_RELOAD_RELOAD_H

#include "../plugin/loader.h"
#include "../step/schedule.h"
#include "../store/destruction.h"

typedef struct reload_change_t reload_change_t;

typedef struct reload_callback_t {
    bp_reloaded_callback callback;
    void *data;
} reload_callback_t;

/* What the host remembers of its last reloads, for tools (bp_look_reload_t). The room is part of the host, so that
 * remembering cannot fail; a text that is too long is cut. */
enum { RELOAD_PAST = 16, RELOAD_PAST_TEXT = 2000 };
typedef struct reload_told_t {
    bp_result_t result;
    uint64_t pause; /* nanoseconds */
    int64_t when;   /* seconds since 1970 */
    char text[RELOAD_PAST_TEXT];
} reload_told_t;

typedef struct reload_past_t {
    uint64_t count; /* reloads so far; number n (from 0) is told[n % RELOAD_PAST] */
    reload_told_t told[RELOAD_PAST];
} reload_past_t;

typedef struct reload_t {
    base_t *base;
    registry_t *registry;
    loader_t *loader;
    destruction_t *destruction;  /* knows the worlds */
    uint32_t *layouts;           /* the last number of a layout given to a world */
    memory_t memory;
    const bp_jobs_i *jobs;       /* the host's threads, for columns of large runs; NULL: one */
    void (*ask_for_reports)(bp_host_o *host); /* asks all units for reports, and drops these: for trials; may be NULL */
    uint32_t probation_steps;    /* 0: no probation */
    uint64_t most_missed;        /* deaths that are kept for versions that may come back (store/missed.h) */
    uint32_t pause_limit;        /* ms that worlds may stand still for one change (pause.c); 0: any */
    uint32_t changes;            /* changes made, and taken back, so far */
    reload_change_t *readies;    /* a change for which columns are made ready (ahead.h); or NULL */
    uint64_t slice_ns;           /* time spent on them between two steps */
    uint64_t readied;            /* columns taken over ready so far */
    reload_change_t *probation;  /* a committed change, while its old side is still there; or NULL */
    bp_reload_report_t last;     /* the report of the last change, or refusal */
    char *last_text;
    size_t last_size;
    bp_reload_field_t *last_fields;
    uint32_t last_field_capacity;
    char refusal[1500];
    reload_past_t past;
    reload_callback_t *callbacks;
    uint32_t callback_count, callback_capacity;
} reload_t;

enum {
    RELOAD_MAX_PLUGINS = 64,      /* in one change */
    RELOAD_MOST_MISSED = 4 << 20  /* most_missed, at first */
};

void reload_init(reload_t *reload, base_t *base, registry_t *registry, loader_t *loader, destruction_t *destruction,
                 uint32_t *layouts);

/* Finish the change that is on probation and free the rest. To be called before worlds end. */
void reload_free(reload_t *reload);

/* BP_OK between steps, outside callbacks and other reloads; else BP_ERROR_STATE. */
bp_result_t reload_check_moment(const reload_t *reload);

/* The same refusal, for moments that the caller alone knows of. */
bp_result_t reload_refuse_moment(const reload_t *reload);

/* Begin a change of the named plugins. On failure there is no change, and the error says why. */
bp_result_t reload_read(reload_t *reload, const char *const *names, uint32_t count, reload_change_t **out);

/* A version of a plugin that was at work before; its file has been kept. */
typedef struct reload_kept_t {
    plugin_t *plugin;
    const char *file;         /* read and copied once more */
    const bp_option_t *given; /* the options of then */
    uint32_t given_count;
    uint64_t image;           /* plugin_t.image of that version */
} reload_kept_t;

/* Put former versions in the place of those at work, all of them or none, without a trial, a probation, or a call of
 * the callbacks for reloads. Rows and states are not carried over: columns have their defaults afterwards and instances
 * are missing, so that a snapshot of the time of these versions has to be brought back next (history/restore.h). Ends
 * an earlier probation. Errors: as those of reload_read and reload_prepare. */
bp_result_t reload_return(reload_t *reload, const reload_kept_t *kept, uint32_t count);

/* Allow the loss of values that cannot be brought back: it is reported, not refused. To be called before the trial of
 * the change, and before reload_prepare. */
void reload_allow_loss(reload_change_t *change);

/* Make columns ready before a change that has been tried is made, from what the trial has told: begin, and then go on
 * between steps until reload_make_ready says false (ahead.h). */
void reload_begin_readying(reload_change_t *change, const char *told, size_t size);
bool reload_make_ready(reload_change_t *change);

/* Begin the same where nothing was tried: where there are many instances, the next versions are opened, their
 * declarations read, and closed again; their `load` is not called. An error where one has crashed meanwhile; any other
 * fault is reported when the change is made. Between steps. */
bp_result_t reload_look_ahead(reload_change_t *change);

/* From now on large columns of texts and lists that go are let go of in slices (base/leavings.h), or, `later` false,
 * at once; those that have left before still go in slices. Go on letting go, between steps: returns whether some are
 * left. */
void reload_leave_later(reload_t *reload, bool later);
bool reload_let_leave(reload_t *reload);

/* On failure the change is as it was after reload_read, and an earlier probation goes on. */
bp_result_t reload_prepare(reload_change_t *change);

/* The change must be prepared. Afterwards it belongs to `reload`. Ends an earlier probation. */
void reload_commit(reload_change_t *change);

/* The plugins of a change, in the order in which they were loaded: at most RELOAD_MAX_PLUGINS. Returns how many. */
uint32_t reload_plugins(const reload_change_t *change, plugin_t **plugins);

/* How long the worlds have stood still for a change so far, in nanoseconds. */
uint64_t reload_stood_ns(const reload_change_t *change);

/* Let go of a change that is not committed. NULL is allowed. */
void reload_discard(reload_change_t *change);

/* Have every change and every refusal told, as bp_host_on_reload. */
bp_result_t reload_add_callback(reload_t *reload, bp_reloaded_callback callback, void *data);

/* Tell of a change that was refused; the reason is the present error. For callers that go through the steps of a change
 * themselves. */
void reload_tell_refusal(reload_t *reload, const char *const *names, uint32_t count, uint64_t nanoseconds,
                         bp_result_t result);

/* A world has done a step: the probation, where there is one, gets shorter, and ends. */
void reload_shorten_probation(reload_t *reload);
static inline void reload_step_done(reload_t *reload)
{
    if (reload->probation != NULL)
        reload_shorten_probation(reload);
}

/* End the probation now, for good. */
void reload_accept(reload_t *reload);

/* A world is about to end: a change that is on probation lets go of it, and stays on probation for the others. */
void reload_forget_world(reload_t *reload, const world_t *world);

/* Is this plugin on probation? */
bool reload_on_probation(const reload_t *reload, const plugin_t *plugin);

/* Bring back what was before the change that is on probation. BP_ERROR_STATE where there is none. On failure (of
 * memory, for instances made meanwhile in storage of their own) the change stays. */
bp_result_t reload_rollback(reload_t *reload);

#endif
