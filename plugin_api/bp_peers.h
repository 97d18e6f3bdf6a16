/* bp_peers.h - several processes that do what one ini says together: ranks, and what they tell each other.
 *
 *     static const bp_peers_api peers = {.rank = rank, .count = count, .exchange = exchange, .leave = leave};
 *     static const bp_table_t tables[] = {BP_TABLE(BP_PEERS_API, 1, peers, BP_PEERS_RETURNS)};
 *
 *     const bp_peers_api *peers = api->registry->find(host, BP_PEERS_API, 1);
 *     if (peers != NULL && peers->count(host) > 1)
 *         peers->exchange(host, mine, size, take, data);
 *
 * A plugin that knows how its process was started offers this table (plugins/mpi); host, program and other plugins ask
 * for it by name. From the moment that such a plugin is loaded an ini is read for that rank: `{rank}` in a value is its
 * number, `place` says which worlds it has (docs/machines.md).
 *
 * `exchange` is called by all ranks or by none, in the same order on each. A rank that fails does not take part in the
 * next `exchange`: it calls `leave`, which ends all ranks.
 *
 * What this header does not do: it cuts no world in parts; that is a system's work.
 */
#ifndef BP_PEERS_H
#define BP_PEERS_H

#include "bp_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_PEERS_API "peers"
#define BP_PEERS_RETURNS "ccrn"

/* Receives what one rank has sent; `bytes` are aligned to 16 and good until it returns, NULL where size is 0. */
typedef void (BP_CALL *bp_peers_take)(void *data, uint32_t rank, const void *bytes, size_t size);

typedef struct bp_peers_api {
    uint32_t struct_size;
    uint32_t version;

    /* The number of this process, from 0, and how many there are; 0 where the plugin has gone. [main] */
    uint32_t (BP_CALL *rank)(bp_host_o *host);
    uint32_t (BP_CALL *count)(bp_host_o *host);

    /* Send `size` bytes to every rank, this one among them, and receive those of all, rank by rank. Waits for all of
     * them. BP_ERROR_STATE where this process has left, or is a copy in which something is tried; BP_ERROR_MEMORY;
     * BP_ERROR_LIMIT beyond 2 GiB of all together; BP_ERROR_IO where the connection fails. On an error `take` is not
     * called, and other ranks may be waiting: call `leave`. [main] */
    bp_result_t (BP_CALL *exchange)(bp_host_o *host, const void *bytes, size_t size, bp_peers_take take, void *data);

    /* The last call of this rank. `failed` 0 waits for all other ranks to leave as well. Not 0: returns without
     * waiting, and when this process ends the others are ended. Called by the host; a second call does nothing.
     * [main] */
    void (BP_CALL *leave)(bp_host_o *host, uint32_t failed);
} bp_peers_api;

#ifdef __cplusplus
}
#endif
#endif
