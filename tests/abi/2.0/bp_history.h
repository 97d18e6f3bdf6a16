/* bp_history.h - what a host remembers, for plugins: how far back, and going there.
 *
 *     const bp_history_api *history = (const bp_history_api *)api->registry->find(host, BP_HISTORY_API, 1);
 *     bp_past_t past = {.struct_size = sizeof past};
 *     history->read(host, &past);
 *     if (past.budget > 0)
 *         history->wish(host, past.now - 100);
 *
 * A host remembers where its program says so (`[host] history` in an ini, bp_host_remember). Moments are counted by
 * steps. To go to one takes steps, and brings back whole worlds: no verb may do that, since it would come back to
 * another world than it was called in. So a verb, most often a posted task, wishes it; the host goes there at the end
 * of the bp_host_poll or bp_host_wait that is under way, or else of the next one, and says afterwards how that went.
 *
 * What this header does not do: it gives no snapshots; embedders have them (bp_host_snapshot).
 */
#ifndef BP_HISTORY_H
#define BP_HISTORY_H

#include "bp_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_HISTORY_API "bp_history"

/* What is remembered, and what became of the last wish. */
typedef struct bp_past_t {
    uint32_t struct_size; /* sizeof(bp_past_t) */
    uint32_t keyframes;   /* whole states that are kept */
    uint64_t first;       /* the moments that are remembered ... */
    uint64_t now;         /* ... and where the host is among them */
    uint64_t last;
    uint64_t bytes;       /* that keyframes take */
    uint64_t budget;      /* 0: nothing is remembered */
    uint32_t wished;      /* 1: there is a wish that has not been carried out yet */
    bp_result_t result;   /* of the last wish that was; BP_OK before the first */
    const char *why;      /* the sentence for it, "" where it is BP_OK; good until the next poll */
} bp_past_t;

/* All entries: [main], at any time. */
typedef struct bp_history_api {
    uint32_t struct_size;
    uint32_t version;

    /* Write past->struct_size bytes, which the caller has set to its sizeof. */
    void (BP_CALL *read)(bp_host_o *host, bp_past_t *past);

    /* Go to a moment when the host polls. A wish replaces one that has not been carried out. Worlds that are stopped
     * stay so, and those that are not go on from there: along what was, until something comes from outside.
     * BP_ERROR_STATE where nothing is remembered, BP_ERROR_RANGE for a moment that is not; a moment that cannot be
     * computed any more shows when the wish is carried out. */
    bp_result_t (BP_CALL *wish)(bp_host_o *host, uint64_t moment);

    /* Forget what comes after now. From a step or a callback: BP_ERROR_STATE. */
    bp_result_t (BP_CALL *branch_off)(bp_host_o *host);
} bp_history_api;

#ifdef __cplusplus
}
#endif
#endif
