/* bp_vote.h - a say in changes of plugins: whether they may begin, and, when they are prepared, whether they are made.
 *
 *     static const bp_voter_api voter = {.ready = ready, .vote = vote};
 *     static const bp_table_t tables[] = {BP_TABLE(BP_VOTER_API, 1, voter, BP_VOTER_RETURNS)};
 *
 * For plugins that have to see to it that several hosts change together or not at all: all prepare, all say how that
 * went, and all make the change, or none (plugins/mpi). One plugin of a host may offer this table.
 *
 * What this header does not do: a trial in a copy of the process is not voted on; it comes before the vote.
 */
#ifndef BP_VOTE_H
#define BP_VOTE_H

#include "bp_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bp_plugin_t;

#define BP_VOTER_API "voter"
#define BP_VOTER_RETURNS "cr"

/* Both are called between steps, with the plugin that offers them. `change` is a number made of the names of the
 * plugins that are to change and of the bytes of their new files: the same in every host where these are. */
typedef struct bp_voter_api {
    uint32_t struct_size;
    uint32_t version;

    /* A change waits to be prepared; its trial, if there was one, has been passed. 1: let it begin now. 0: not yet; it
     * is asked again at each bp_host_poll. change 0: what waited does so no longer. A change that is asked for by
     * bp_host_reload does not wait: it is refused where the answer is 0. [main] */
    uint32_t (BP_CALL *ready)(const struct bp_plugin_t *plugin, uint64_t change);

    /* The change that was let begin is prepared, or could not be: `mine` says which. Returns BP_OK: the result stays
     * `mine`, so a change that is prepared is made. An error: the change is discarded, and the voter has left a
     * sentence that says why, or leaves that of `mine`. [main] */
    bp_result_t (BP_CALL *vote)(const struct bp_plugin_t *plugin, uint64_t change, bp_result_t mine);
} bp_voter_api;

#ifdef __cplusplus
}
#endif
#endif
