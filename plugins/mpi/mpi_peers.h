/* mpi_peers.h - what the files of the plugin mpi share.
 *
 * Not here: declarations for other plugins, which find the table of bp_peers.h.
 */
#ifndef MPI_MPI_PEERS_H
#define MPI_MPI_PEERS_H

#include <bp_peers.h>
#include <bp_plugin.h>

#include <stdbool.h>

extern const bp_peers_api mpi_peers;

/* Entries of that table about worlds that are split (migrants.c, join.c). */
uint64_t BP_CALL mpi_durable(bp_world_o *world, bp_entity_t entity);
uint32_t BP_CALL mpi_found(bp_world_o *world, uint64_t durable, bp_entity_t *entity);
uint32_t BP_CALL mpi_part(bp_world_o *world, uint32_t rank, bp_part_t *part);
bp_result_t BP_CALL mpi_pack(bp_host_o *host, const void **bytes, size_t *size);
bp_result_t BP_CALL mpi_join_again(bp_host_o *host, uint32_t keeps_own, const bp_parcel_t *parcels, uint32_t count);

/* Join the others where this process was started by MPI; else this process is rank 0 of 1, and MPI is left alone. */
bp_result_t mpi_join(bp_plugin_t *plugin);

/* Can this host talk to others: has it joined and not left? A clone of it, or a copy of its process in which something
 * is tried, has not. */
bool mpi_talks(const bp_host_o *host);

#endif
