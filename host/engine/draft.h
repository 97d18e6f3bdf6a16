/* draft.h - a second host beside the first with something changed, from now on or from a moment of the past.
 *
 *     the host    ------- m ------------------ now ----->         goes on all the time
 *     the draft           C == what was done == now ----->        C: the change; then the same steps and calls
 *
 * The change is other versions of plugins, and whatever the caller does to the clone. A version is tried in a copy of
 * the process first, and comes into the clone only when it has come through: its stray write would hit the host. The
 * draft takes its steps between the host's own, at each poll, for a limited time, until it is level with the host; then
 * it follows. What cannot be done in the draft - commands that name entities which never came to be there - is passed
 * over and told.
 *
 * Where the draft begins in the past, a third host, without the change, takes the same steps beside it until the first
 * one that comes to another end, so that the unit can be named which made the difference.
 *
 * Kept, a draft from now on is made in the host; one of the past becomes a branch of the host's history
 * (history/branches.h), and the host goes to its end.
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
    bool automatic;           /* kept where it comes through all steps, dropped where it does not */
    feed_t feed;
    uint32_t next;            /* of the feed: the step to be taken next */
    reload_change_t *change;  /* on trial */
    trial_t trial;
    bp_result_t (*alter)(void *context, bp_host_o *clone); /* the rest of the change; may be NULL */
    void *context;
    keyframe_t changed;       /* after the change and the calls of its moment, for keeping */
    bool has_changed;         /* ... there is one */
    bytes_t states[2];        /* after the last step: without the change, and with it; while they are compared */
    uint64_t ns, timed;       /* that steps took, of so many */
    uint64_t taken, passed;   /* steps since the change, and what was passed over */
    uint64_t differs_at;      /* the step that came to another end first */
    char differs[512];        /* ... and a sentence about it; "": none yet */
    char passed_first[256];   /* the first thing that was passed over */
    char why[512];            /* why it failed */
} draft_t;

void draft_init(bp_host_o *host);
void draft_free(bp_host_o *host); /* drops it */

/* Go on for a while; called by each poll. [main], between steps */
void draft_go_on(bp_host_o *host);

/* End the draft, with what it holds; what there is to tell stays, and so does the state. */
void draft_end(bp_host_o *host);

/* Append the state of a host to what is empty then. */
bp_result_t draft_write_state(bp_host_o *host, bytes_t *state);

/* Is there a draft? And is there something to be done at once? */
bool draft_is_on(const bp_host_o *host);
bool draft_is_busy(const bp_host_o *host);

/* Reload those, which the watch has found, by way of a draft beside the host for so many steps. False where that cannot
 * be begun, with the error. [main] */
bool draft_watched(bp_host_o *host, const char *const *names, uint32_t count, uint64_t steps);

/* Make the calls that came before a step, in the clone passing over what cannot be made (which is counted where
 * `tells`), and have the step given what it took from outside; and take it. Errors are those of `host`. */
bp_result_t draft_make_calls(draft_t *draft, bp_host_o *host, const feed_step_t *step, bool tells);
bp_result_t draft_take_step(bp_host_o *host, const feed_step_t *step);

/* Begin a draft (host_draft.c). */
bp_result_t draft_begin(bp_host_o *host, const bp_draft_i *what, bool automatic);

/* In how many fields two states differ that both have. */
bp_result_t draft_compare_states(bp_host_o *host, const bytes_t *a, const bytes_t *b, uint64_t *fields);

/* The step has come to another end in the clone than without the change: find the unit, the field and an entity, and
 * write the sentence. Both take the step once more. States: of the host without the change, and of the clone. */
bp_result_t draft_find_unit(bp_host_o *host, draft_t *draft, const bytes_t before[2], const bytes_t after[2],
                            const feed_step_t *step);

#endif
