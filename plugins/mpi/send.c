/* send.c - the calls of MPI that a split world makes.
 *
 * Data from other ranks is taken through bp_outside: where a step is taken again (docs/history.md), MPI is not called,
 * and the data of the first time is returned. So a single rank can go back in time, or its recording be played. In a
 * host that the other ranks do not know of (a copy of the process in which a plugin is tried, a clone of the host)
 * nothing is sent, and the world goes on by itself.
 */
#include "split.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIECE = 8 * 1024 * 1024 }; /* bytes that are taken from outside at once */

void split_fail(split_t *split, const char *text)
{
    split->system->api->error->log(split->system->plugin, BP_LOG_ERROR, text);
    if (mpi_talks(split->system->host))
        MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1); /* a recording that is played: no other rank is there */
}

char *split_append(split_t *split, split_bytes *bytes, size_t size)
{
    if (bytes->size + size > bytes->room) {
        size_t room = bytes->room * 2 + size + 4096;
        bytes->at = split_resize(split, bytes->at, bytes->room, room);
        bytes->room = room;
    }
    bytes->size += size;
    return bytes->at + bytes->size - size;
}

void *split_resize(split_t *split, void *old, size_t old_size, size_t new_size)
{
    void *block = split->system->api->memory->resize(split->system->plugin, old, old_size, new_size);
    if (block == NULL && new_size > 0)
        split_fail(split, "out of memory for a split world");
    return block;
}

void split_done(split_t *split, bp_result_t result)
{
    if (result != BP_OK)
        split_fail(split, split->system->api->error->last(split->system->host));
}

void split_end(split_t *split, bp_entity_t entity)
{
    const bp_entity_api *api = split->system->api->entity;
    bp_host_o *host = split->system->host;
    if (api->destroy(host, &entity, 1) == 0 && api->alive(host, &entity, 1, NULL) == 1)
        split_fail(split, "out of memory for what ends here");
}

void split_know(split_t *split, uint32_t index, uint64_t id, bool elsewhere)
{
    if (!durable_set(&split->durable, index, id, elsewhere))
        split_fail(split, "out of memory for the numbers of entities");
}

uint64_t split_number(split_t *split, bp_entity_t entity)
{
    uint64_t id = durable_of(&split->durable, entity, split->rank);
    if (id == 0)
        split_fail(split, "out of memory for the numbers of entities");
    return id;
}

double split_seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void check(split_t *split, int result)
{
    if (result != MPI_SUCCESS)
        split_fail(split, "the connection to the other ranks has failed");
}

/* --- taking ------------------------------------------------------------------------------------------------------- */

/* A call of MPI that writes `size` bytes. */
typedef struct asking_t {
    split_t *split;
    void (*ask)(split_t *split, void *bytes, size_t size);
    bool asked;
} asking_t;

static bp_result_t BP_CALL ask(void *context, void *bytes, size_t room, size_t *size)
{
    asking_t *asking = context;
    if (!mpi_talks(asking->split->system->host))
        return BP_ERROR_STATE;
    if (asking->ask != NULL)
        asking->ask(asking->split, bytes, room);
    asking->asked = true;
    *size = room;
    return BP_OK;
}

/* Take that many bytes from the other ranks, or what came from them when this step was taken first. False where the
 * other ranks do not know of this host. `asked` receives whether they have been asked; it may be NULL. */
static bool take(split_t *split, const char *what, void (*call)(split_t *split, void *bytes, size_t size), void *bytes,
                 size_t size, bool *asked)
{
    char name[160];
    asking_t asking = {.split = split, .ask = call};
    const bp_taking_i taking = {.struct_size = sizeof taking, .context = &asking, .take = ask};
    snprintf(name, sizeof name, "mpi.%s.%s", split->system->api->world->name(split->world), what);
    for (size_t at = 0; at < size || at == 0; at += PIECE) {
        size_t piece = size - at < PIECE ? size - at : PIECE, got = 0;
        if (split->outside->take(split->system->host, name, &taking, (char *)bytes + at, piece, &got) != BP_OK)
            return false;
        if (got != piece)
            split_fail(split, "what came from other ranks in this step is not what is expected: the step was taken "
                              "with other code, and cannot be computed again");
    }
    if (asked != NULL)
        *asked = asking.asked;
    return true;
}

static void need(split_t *split, bool taken)
{
    if (!taken)
        split_fail(split, "this host has begun a step with the other ranks, and cannot go on with them");
}

/* --- bytes -------------------------------------------------------------------------------------------------------- */

static void ask_sizes(split_t *split, void *bytes, size_t size)
{
    uint64_t *sizes = split_resize(split, NULL, 0, size);
    for (uint32_t r = 0; r < split->ranks; r++)
        sizes[r] = split->out[r].size;
    check(split, MPI_Alltoall(sizes, 1, MPI_UINT64_T, bytes, 1, MPI_UINT64_T, MPI_COMM_WORLD));
    split_resize(split, sizes, size, 0);
}

/* Send everything; in_at says what comes. */
static void exchange(split_t *split)
{
    size_t bytes = split->ranks * sizeof(int), sum = 0;
    int *out = split_resize(split, NULL, 0, 4 * bytes), *out_at = out + split->ranks, *in = out_at + split->ranks,
        *in_at = in + split->ranks;
    split_bytes all = {0};
    for (uint32_t r = 0; r < split->ranks; r++) {
        sum += split->out[r].size;
        if (sum > INT32_MAX || split->in_at[r + 1] > INT32_MAX)
            split_fail(split, "more than 2 GiB are sent or received at once");
        out[r] = (int)split->out[r].size;
        out_at[r] = (int)(sum - split->out[r].size);
        in[r] = (int)(split->in_at[r + 1] - split->in_at[r]);
        in_at[r] = (int)split->in_at[r];
        if (split->out[r].size > 0)
            memcpy(split_append(split, &all, split->out[r].size), split->out[r].at, split->out[r].size);
    }
    check(split, MPI_Alltoallv(all.at, out, out_at, MPI_BYTE, split->in.at, in, in_at, MPI_BYTE, MPI_COMM_WORLD));
    split_resize(split, all.at, all.room, 0);
    split_resize(split, out, 4 * bytes, 0);
}

void split_send(split_t *split)
{
    bool asked;
    size_t bytes = split->ranks * sizeof(uint64_t);
    uint64_t *sizes = split_resize(split, NULL, 0, bytes);
    need(split, take(split, "sizes", ask_sizes, sizes, bytes, &asked));
    split->in_at[0] = 0;
    for (uint32_t r = 0; r < split->ranks; r++) {
        split->in_at[r + 1] = split->in_at[r] + (size_t)sizes[r];
        split->sent += r == split->rank ? 0 : split->out[r].size;
    }
    split_resize(split, sizes, bytes, 0);
    split->in.size = 0;
    split_append(split, &split->in, split->in_at[split->ranks]);
    if (asked)
        exchange(split);
    need(split, take(split, "bytes", NULL, split->in.at, split->in.size, NULL));
}

/* --- numbers and points ------------------------------------------------------------------------------------------- */

static void ask_sums(split_t *split, void *bytes, size_t size)
{
    check(split, MPI_Allreduce(MPI_IN_PLACE, bytes, (int)(size / sizeof(uint64_t)), MPI_UINT64_T, MPI_SUM,
                               MPI_COMM_WORLD));
}

bool split_sum(split_t *split, uint64_t *sums, uint32_t count)
{
    return take(split, "sums", ask_sums, sums, count * sizeof *sums, NULL);
}

static void ask_figures(split_t *split, void *bytes, size_t size)
{
    const split_figures mine = split->figures[split->rank];
    (void)size;
    check(split, MPI_Allgather(&mine, sizeof mine, MPI_BYTE, bytes, sizeof mine, MPI_BYTE, MPI_COMM_WORLD));
}

void split_compare(split_t *split, const split_figures *mine)
{
    split->figures[split->rank] = *mine;
    need(split, take(split, "figures", ask_figures, split->figures, split->ranks * sizeof *split->figures, NULL));
    split->compared = split->steps + 1;
}

uint64_t split_greatest(split_t *split, uint64_t number)
{
    if (!mpi_talks(split->system->host))
        split_fail(split, "this host is no rank of a job");
    check(split, MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD));
    return number;
}

static void ask_counts(split_t *split, void *bytes, size_t size)
{
    uint64_t own = split->samples;
    (void)size;
    check(split, MPI_Allgather(&own, 1, MPI_UINT64_T, bytes, 1, MPI_UINT64_T, MPI_COMM_WORLD));
}

/* Every rank has as many points at most as space is cut by, so the numbers are small enough for an int. */
static void gather(split_t *split, const cut_point *mine, const uint64_t *counts, cut_point *points)
{
    size_t bytes = split->ranks * sizeof(int);
    int *parts = split_resize(split, NULL, 0, 2 * bytes), *places = parts + split->ranks, sum = 0;
    for (uint32_t r = 0; r < split->ranks; r++) {
        parts[r] = (int)counts[r] * 3;
        places[r] = sum;
        sum += parts[r];
    }
    check(split, MPI_Allgatherv(mine, parts[split->rank], MPI_DOUBLE, points, parts, places, MPI_DOUBLE,
                                MPI_COMM_WORLD));
    split_resize(split, parts, 2 * bytes, 0);
}

cut_point *split_gather(split_t *split, const cut_point *mine, uint64_t count, uint64_t *all)
{
    bool asked;
    size_t bytes = split->ranks * sizeof(uint64_t);
    uint64_t *counts = split_resize(split, NULL, 0, bytes), sum = 0;
    split->samples = count;
    need(split, take(split, "counts", ask_counts, counts, bytes, &asked));
    for (uint32_t r = 0; r < split->ranks; r++)
        sum += counts[r];
    cut_point *points = split_resize(split, NULL, 0, (size_t)sum * sizeof *points + 1);
    if (asked)
        gather(split, mine, counts, points);
    need(split, take(split, "points", NULL, points, (size_t)sum * sizeof *points, NULL));
    split_resize(split, counts, bytes, 0);
    *all = sum;
    return points;
}
