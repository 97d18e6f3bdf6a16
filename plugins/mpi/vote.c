/* vote.c - new versions of plugins come in on all ranks that share a world, or on none (bp_vote.h).
 *
 * Ranks find files that are new at different times, and try them for as long as it takes. So a rank that is ready says
 * so in the next step, along with the sums that a split world makes anyway. Once all ranks have said so in the same
 * step, all of them know it at the same time, and begin before the next step. Then each rank prepares the change, tells
 * the others how the preparation went, and follows the common result.
 *
 * Where no world is split the ranks have nothing in common, and each changes for itself.
 */
#include "split.h"

#include <stdio.h>
#include <string.h>

/* The message of a rank about a change that it has prepared, or could not prepare. */
typedef struct ballot_t {
    uint64_t change;
    int64_t result;
    char text[1008];
} ballot_t;

typedef struct count_t {
    const ballot_t *mine;
    bp_result_t result;
    char text[1200];
} count_t;

static bool together(const bp_plugin_t *plugin)
{
    const split_worlds *worlds = plugin->state;
    return worlds != NULL && worlds->first != NULL && mpi_peers.count(plugin->host) > 1 && mpi_talks(plugin->host);
}

static uint32_t BP_CALL ready(const bp_plugin_t *plugin, uint64_t change)
{
    split_worlds *worlds = plugin->state;
    if (!together(plugin))
        return 1;
    bool agreed = worlds->agreed && change != 0;
    worlds->waiting = change != 0 && !agreed;
    worlds->agreed = false;
    return agreed;
}

static void BP_CALL count_ballot(void *data, uint32_t rank, const void *bytes, size_t size)
{
    count_t *count = data;
    ballot_t ballot;
    if (size != sizeof ballot || count->result != BP_OK)
        return;
    memcpy(&ballot, bytes, sizeof ballot);
    ballot.text[sizeof ballot.text - 1] = '\0';
    if (ballot.result != BP_OK) {
        count->result = (bp_result_t)ballot.result;
        snprintf(count->text, sizeof count->text, "rank %u cannot take it, so no rank does: %s", rank, ballot.text);
    } else if (ballot.change != count->mine->change) {
        count->result = BP_ERROR_FAILED;
        snprintf(count->text, sizeof count->text, "rank %u has another file, so no rank takes it", rank);
    }
}

static bp_result_t BP_CALL vote(const bp_plugin_t *plugin, uint64_t change, bp_result_t mine)
{
    ballot_t ballot = {.change = change, .result = mine};
    count_t count = {.mine = &ballot};
    if (!together(plugin))
        return mine;
    if (mine != BP_OK)
        snprintf(ballot.text, sizeof ballot.text, "%s", plugin->api->error->last(plugin->host));
    bp_result_t result = mpi_peers.exchange(plugin->host, &ballot, sizeof ballot, count_ballot, &count);
    if (result != BP_OK)
        return plugin->api->error->set(plugin->host, result, "the other ranks cannot be asked");
    return count.result == BP_OK ? mine : plugin->api->error->set(plugin->host, count.result, count.text);
}

const bp_voter_api split_voter = {.ready = ready, .vote = vote};
