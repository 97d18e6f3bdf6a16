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

/* Join the others where this process was started by MPI; else this process is rank 0 of 1, and MPI is left alone. */
bp_result_t mpi_join(bp_plugin_t *plugin);

/* Can this host exchange data with other ranks: has it joined and not left? A clone of it, or a copy of its process in
 * which something is tried, has not. */
bool mpi_talks(const bp_host_o *host);

#endif
