/* draft.h - a second host beside the first with something changed, from now on or from a moment of the past.
 *
 *     the host    ------- m ------------------ now ----->         goes on all the time
 *     the draft           C == what was done == now ----->        C: the change; then the same steps and calls
 *
 * The change is other versions of plugins, and what the caller's `alter` does to the clone. A version is tried in a
 * copy of the process first, and loaded into the clone only if it passes, since a stray write of its code in this
 * process could damage the host. The draft takes its steps between the host's own, at each poll, for a limited time,
 * until it is level with the host; then it follows. Calls that cannot be made in the draft, because they name entities
 * that do not exist there, are passed over and counted.
 *
 * Where the draft begins in the past, a third host, without the change, takes the same steps beside it until the first
 * one with different results, so that the unit that made the difference can be named.
 *
 * When a draft from now on is kept, its change is made in the host; a kept draft of the past becomes a branch of the
 * host's history (history/branches.h), and the host goes to its end.
 */
#ifndef HOST_ENGINE_DRAFT_H
#define HOST_ENGINE_DRAFT_H

#include "../base/bytes.h"
#include "../history/feed.h"
#include "../history/keyframes.h"
#include "../reload/trial.h"

#include <backplane.h>

typedef struct draft_t {
    uint32_t state;           /* BP_DRAFT_... */
    bp_host_o *clone, *same;  /* with the change, and without; NULL: not needed (any more) */
    char **plugins;           /* to be reloaded there, names */
    uint32_t plugin_count;
    uint64_t began, back;     /* the moment of the change; how many steps back that was */
    uint64_t steps;           /* to be taken beside the host; 0: until kept or dropped */
    bool automatic;           /* kept after it has taken all steps without a failure, else dropped */
    feed_t feed;
    const destruction_t *of;  /* the worlds of the host, whose numbers the calls of the feed have */
    uint32_t next;            /* of the feed: the step to be taken next */
    reload_change_t *change;  /* on trial */
    trial_t trial;
    bp_result_t (*alter)(void *context, bp_host_o *clone); /* the rest of the change; may be NULL */
    void *context;
    bool altering;            /* `alter` is being called: the draft cannot be freed now, ... */
    bool dropped;             /* ... and was to be meanwhile */
    keyframe_t changed;       /* after the change and the calls of its moment, for keeping */
    bool has_changed;         /* ... there is one */
    bytes_t states[2];        /* after the last step: without the change, and with it; while they are compared */
    uint64_t ns, timed;       /* that steps took, of so many */
    uint64_t taken, passed;   /* steps since the change, and what was passed over */
    uint64_t differs_at;      /* the first step with different results */
    char differs[512];        /* ... and a sentence about it; "": none yet */
    char passed_first[256];   /* the first thing that was passed over */
    char why[512];            /* why it failed */
} draft_t;

void draft_init(bp_host_o *host);
void draft_free(bp_host_o *host); /* drops it */

/* Drop the draft; where its change is being made, as soon as that is over. */
void draft_drop(bp_host_o *host);

/* Call the caller's `alter` for one of the hosts. */
bp_result_t draft_alter(draft_t *draft, bp_host_o *altered);

/* Go on for a while; called by each poll. [main], between steps */
void draft_go_on(bp_host_o *host);

/* End the draft and free what it holds; its state and texts stay, to be read. */
void draft_end(bp_host_o *host);

/* Write the state of a host to `state`, which is empty before. */
bp_result_t draft_write_state(bp_host_o *host, bytes_t *state);

/* Is there a draft? And is there something to be done at once? */
bool draft_is_on(const bp_host_o *host);
bool draft_is_busy(const bp_host_o *host);

/* Reload plugins that the watch of files has found changed, after a draft beside the host for so many steps. False,
 * with the error, where the draft cannot be begun. [main] */
bool draft_watched(bp_host_o *host, const char *const *names, uint32_t count, uint64_t steps);

/* Make the calls that came before a step and take the step, giving it the data that it took from outside. In the clone
 * calls that cannot be made are passed over, and counted where `tells`. Errors are those of `host`. */
bp_result_t draft_make_calls(draft_t *draft, bp_host_o *host, const feed_step_t *step, bool tells);
bp_result_t draft_take_step(bp_host_o *host, const feed_step_t *step);

/* Begin a draft (host_draft.c). */
bp_result_t draft_begin(bp_host_o *host, const bp_draft_i *what, bool automatic);

/* The number of fields that both states have and in which they differ. */
bp_result_t draft_compare_states(bp_host_o *host, const bytes_t *a, const bytes_t *b, uint64_t *fields);

/* The step has different results with and without the change: find the unit, the field and an entity, and write the
 * sentence. Both hosts take the step once more for that. States: of the host without the change, and of the clone. */
bp_result_t draft_find_unit(bp_host_o *host, draft_t *draft, const bytes_t before[2], const bytes_t after[2],
                            const feed_step_t *step);

#endif
