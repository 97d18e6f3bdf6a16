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
 * `exchange` is called by all ranks or by none, in the same order on each. A rank that fails does not come to the next
 * one: it leaves, and that ends all of them.
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
#define BP_PEERS_RETURNS "ccrnccrrc"

/* Receives what one rank has sent; `bytes` are aligned to 16 and good until it returns, NULL where size is 0. */
typedef void (BP_CALL *bp_peers_take)(void *data, uint32_t rank, const void *bytes, size_t size);

/* What a rank has packed of the worlds that ranks share. */
typedef struct bp_parcel_t {
    const void *bytes; /* aligned to 8 */
    size_t size;
} bp_parcel_t;

/* What a rank has of a shared world. */
typedef struct bp_part_t {
    uint32_t struct_size; /* sizeof(bp_part_t) */
    uint32_t padding;
    uint64_t step;        /* of the world, when the ranks compared: numbers are of then */
    uint64_t entities;    /* its own */
    uint64_t copies;      /* of others' */
    uint64_t sent;        /* bytes, to all others, from the beginning on */
    double low[3], high[3]; /* its part of space; infinite at the outside */
} bp_part_t;

typedef struct bp_peers_api {
    uint32_t struct_size;
    uint32_t version;

    /* The number of this process, from 0, and how many there are; 0 where the plugin has gone. [main] */
    uint32_t (BP_CALL *rank)(bp_host_o *host);
    uint32_t (BP_CALL *count)(bp_host_o *host);

    /* Send `size` bytes to every rank, this one among them, and receive those of all, rank by rank. Waits for all of
     * them. BP_ERROR_STATE where this process has left, or is a copy in which something is tried; BP_ERROR_MEMORY;
     * BP_ERROR_LIMIT beyond 2 GiB of all together; BP_ERROR_IO where the connection fails. `take` is called for none
     * then, and other ranks may be waiting: leave. [main] */
    bp_result_t (BP_CALL *exchange)(bp_host_o *host, const void *bytes, size_t size, bp_peers_take take, void *data);

    /* The last call: `failed` 0 waits for all others to leave as well. Else nobody is waited for, and when this process
     * ends the others are ended. Called by the host; a second call does nothing. [main] */
    void (BP_CALL *leave)(bp_host_o *host, uint32_t failed);

    /* --- since version 2 --- */

    /* Of a world that several ranks share: the number by which all of them know an entity that lives here, the same as
     * long as it lives, wherever it is. 0 where the world is not shared, or the entity dead. [main] */
    uint64_t (BP_CALL *durable)(bp_world_o *world, bp_entity_t entity);

    /* The handle here of the entity with that number, in `*entity`: one of this rank's own, the copy of another rank's,
     * or a stand-in that something here refers to it by; {0} where there is none, and then 0 is returned. [main] */
    uint32_t (BP_CALL *found)(bp_world_o *world, uint64_t durable, bp_entity_t *entity);

    /* For going on, on another number of ranks, with what was written down (`--resume`). `pack`: everything that this
     * rank has of worlds that are shared, as bytes that are good until the next call. `join`: this host has been
     * brought to what some rank of another job was, and becomes the rank that it is now. Where keeps_own is 0, what it
     * has of shared worlds is another rank's, and goes; then the entities of parcels come in; the next step deals them
     * out. All ranks call `join`. Between steps. BP_ERROR_STATE where the plugin is not at work. [main] */
    bp_result_t (BP_CALL *pack)(bp_host_o *host, const void **bytes, size_t *size);
    bp_result_t (BP_CALL *join)(bp_host_o *host, uint32_t keeps_own, const bp_parcel_t *parcels, uint32_t count);

    /* What a rank had of a shared world when the ranks last compared their parts, as all of them know it: writes
     * part->struct_size bytes, which the caller has set to its sizeof. 0 where the world is not shared, the ranks have
     * not compared yet, or there is no such rank. [main] */
    uint32_t (BP_CALL *part)(bp_world_o *world, uint32_t rank, bp_part_t *part);
} bp_peers_api;

#ifdef __cplusplus
}
#endif
#endif
