/* send.c - the calls of MPI that a split world makes. */
#include "split.h"

#include <mpi.h>
#include <string.h>

void split_fail(split_t *split, const char *text)
{
    split->system->api->error->log(split->system->plugin, BP_LOG_ERROR, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

char *split_append(split_t *split, split_bytes *bytes, size_t size)
{
    if (bytes->size + size > bytes->room) {
        size_t room = bytes->room * 2 + size + 4096;
        char *at = split->system->api->memory->resize(split->system->plugin, bytes->at, bytes->room, room);
        if (at == NULL)
            split_fail(split, "out of memory for what is sent to other ranks");
        bytes->at = at;
        bytes->room = room;
    }
    bytes->size += size;
    return bytes->at + bytes->size - size;
}

static void check(split_t *split, int result)
{
    if (result != MPI_SUCCESS)
        split_fail(split, "the connection to the other ranks has failed");
}

static void *numbers(split_t *split, size_t size)
{
    void *block = split->system->api->memory->resize(split->system->plugin, NULL, 0, size);
    if (block == NULL)
        split_fail(split, "out of memory for what is sent to other ranks");
    return block;
}

void split_send(split_t *split)
{
    size_t bytes = split->ranks * sizeof(int), sum = 0, coming = 0;
    int *out = numbers(split, 4 * bytes), *out_at = out + split->ranks, *in = out_at + split->ranks,
        *in_at = in + split->ranks;
    split_bytes all = {0};
    for (uint32_t r = 0; r < split->ranks; r++) {
        out[r] = (int)split->out[r].size;
        out_at[r] = (int)sum;
        sum += split->out[r].size;
        if (split->out[r].size > 0)
            memcpy(split_append(split, &all, split->out[r].size), split->out[r].at, split->out[r].size);
        split->sent += r == split->rank ? 0 : split->out[r].size;
    }
    if (sum > INT32_MAX)
        split_fail(split, "more than 2 GiB are to be sent at once");
    check(split, MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
    for (uint32_t r = 0; r < split->ranks; r++) {
        in_at[r] = (int)coming;
        coming += (size_t)in[r];
    }
    if (coming > INT32_MAX)
        split_fail(split, "more than 2 GiB are received at once");
    split->in.size = 0;
    split_append(split, &split->in, coming);
    check(split, MPI_Alltoallv(all.at, out, out_at, MPI_BYTE, split->in.at, in, in_at, MPI_BYTE, MPI_COMM_WORLD));
    split->system->api->memory->resize(split->system->plugin, all.at, all.room, 0);
    split->system->api->memory->resize(split->system->plugin, out, 4 * bytes, 0);
}

void split_sum(split_t *split, uint64_t *sums, int count)
{
    check(split, MPI_Allreduce(MPI_IN_PLACE, sums, count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD));
}

cut_point *split_gather(split_t *split, const cut_point *mine, uint64_t count, uint64_t *all)
{
    size_t bytes = split->ranks * sizeof(int);
    int *counts = numbers(split, 2 * bytes), *places = counts + split->ranks, own = (int)count * 3, sum = 0;
    check(split, MPI_Allgather(&own, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD));
    for (uint32_t r = 0; r < split->ranks; r++) {
        places[r] = sum;
        sum += counts[r];
    }
    cut_point *points = numbers(split, (size_t)sum / 3 * sizeof *points + 1);
    check(split, MPI_Allgatherv(mine, own, MPI_DOUBLE, points, counts, places, MPI_DOUBLE, MPI_COMM_WORLD));
    split->system->api->memory->resize(split->system->plugin, counts, 2 * bytes, 0);
    *all = (uint64_t)sum / 3;
    return points;
}
