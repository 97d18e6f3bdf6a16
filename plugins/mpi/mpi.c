/* mpi.c - the plugin mpi: one ini on many processes, and on many machines, by MPI (docs/machines.md). */
#include "mpi_peers.h"

static const bp_table_t tables[] = {BP_TABLE(BP_PEERS_API, 1, mpi_peers, BP_PEERS_RETURNS)};

BP_PLUGIN(mpi) = {
    .version = "1.0",
    .doc = "ranks of one job: started with mpirun, each process does its part of the same ini",
    .tables = BP_LIST(tables),
    .load = mpi_join,
    .keeps = BP_KEEP_NOTHING,
};
