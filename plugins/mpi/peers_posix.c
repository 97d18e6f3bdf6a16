/* peers_posix.c - ranks by MPI: the table of bp_peers.h.
 *
 * MPI belongs to the process, not to a host, and can begin and end once in a process. So the plugin keeps no state
 * about it: MPI is asked each time. A copy of the process, in which a new version of some plugin is tried, has all of
 * MPI's memory and none of its threads and connections; the copy is recognised by its process id, which differs from
 * the one in the name of the communicator, and exchanges nothing with other ranks.
 *
 * A process that was not started by mpirun, srun or the like is not joined to anything: MPI_Init would look for a
 * daemon, and take half a second for it.
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "mpi_peers.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES_MOST ((size_t)INT32_MAX)

extern char **environ;

static bool begun(void)
{
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    return initialized && !finalized;
}

/* The name for the communicator of the process and the host that have joined. */
static void name_of_process(const bp_host_o *host, char name[MPI_MAX_OBJECT_NAME])
{
    snprintf(name, MPI_MAX_OBJECT_NAME, "backplane %ld %p", (long)getpid(), (const void *)host);
}

bool mpi_talks(const bp_host_o *host)
{
    char mine[MPI_MAX_OBJECT_NAME], joined[MPI_MAX_OBJECT_NAME];
    int length = 0;
    if (!begun() || MPI_Comm_get_name(MPI_COMM_WORLD, joined, &length) != MPI_SUCCESS)
        return false;
    name_of_process(host, mine);
    return strcmp(mine, joined) == 0;
}

static bool started_by_mpi(void)
{
    static const char *const told[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_FD"};
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
        if (getenv(told[i]) != NULL)
            return true;
    return false;
}

/* The environment as it was before MPI began. MPI leaves variables in the environment that programs started from here
 * would take for their own. NULL where there is no memory: then the variables stay. */
static char **copy_environment(void)
{
    size_t count = 0, copied = 0;
    while (environ != NULL && environ[count] != NULL)
        count++;
    char **copy = calloc(count + 1, sizeof *copy);
    for (; copy != NULL && copied < count && (copy[copied] = strdup(environ[copied])) != NULL; copied++)
        ;
    return copy;
}

/* The text of a variable that `assignment`, NAME=TEXT, is about, in `list`; NULL where it has none. */
static const char *text_of(char *const *list, const char *assignment)
{
    size_t length = strcspn(assignment, "=") + 1;
    for (; *list != NULL; list++)
        if (strncmp(*list, assignment, length) == 0)
            return *list + length;
    return NULL;
}

static void put_back_environment(char **copy)
{
    for (char **at = environ; *at != NULL;) {
        const char *before = text_of(copy, *at), *equals = strchr(*at, '=');
        char name[256];
        bool kept = equals == NULL || (size_t)(equals - *at) >= sizeof name ||
                    (before != NULL && strcmp(before, equals + 1) == 0);
        if (!kept) {
            memcpy(name, *at, (size_t)(equals - *at));
            name[equals - *at] = '\0';
            kept = before != NULL || unsetenv(name) != 0;
            if (before != NULL)
                setenv(name, before, 1);
        }
        at += kept; /* a variable that was taken out has left its place to the next one */
    }
}

static void free_environment(char **copy)
{
    for (char **at = copy; *at != NULL; at++)
        free(*at);
    free(copy);
}

bp_result_t mpi_join(bp_plugin_t *plugin)
{
    char name[MPI_MAX_OBJECT_NAME];
    int level, finalized = 0;
    MPI_Finalized(&finalized);
    if (begun() || finalized || !started_by_mpi())
        return BP_OK;
    char **environment = copy_environment();
    bool joined = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) == MPI_SUCCESS;
    if (environment != NULL) {
        put_back_environment(environment);
        free_environment(environment);
    }
    if (!joined)
        return plugin->api->error->set(plugin->host, BP_ERROR_IO, "mpi: this process cannot join the others");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    name_of_process(plugin->host, name);
    MPI_Comm_set_name(MPI_COMM_WORLD, name);
    return BP_OK;
}

static uint32_t BP_CALL rank(bp_host_o *host)
{
    int number = 0;
    (void)host;
    if (begun())
        MPI_Comm_rank(MPI_COMM_WORLD, &number);
    return (uint32_t)number;
}

static uint32_t BP_CALL count(bp_host_o *host)
{
    int number = 1;
    (void)host;
    if (begun())
        MPI_Comm_size(MPI_COMM_WORLD, &number);
    return (uint32_t)number;
}

/* How many bytes each rank sends, and where they lie in what comes: a multiple of 16. */
typedef struct parcels_t {
    int *sizes, *places;
    uint64_t all;
} parcels_t;

static bp_result_t ask_sizes(parcels_t *p, size_t size, int ranks)
{
    int mine = size > BYTES_MOST ? -1 : (int)size;
    if (MPI_Allgather(&mine, 1, MPI_INT, p->sizes, 1, MPI_INT, MPI_COMM_WORLD) != MPI_SUCCESS)
        return BP_ERROR_IO;
    p->all = 0;
    for (int i = 0; i < ranks; i++) {
        if (p->sizes[i] < 0 || p->all > BYTES_MOST)
            return BP_ERROR_LIMIT;
        p->places[i] = (int)p->all;
        p->all += ((uint64_t)p->sizes[i] + 15) / 16 * 16;
    }
    return p->all <= BYTES_MOST ? BP_OK : BP_ERROR_LIMIT;
}

static bp_result_t exchange_parcels(const void *bytes, size_t size, int ranks, bp_peers_take take, void *data)
{
    parcels_t p = {malloc((size_t)ranks * sizeof *p.sizes), malloc((size_t)ranks * sizeof *p.places), 0};
    bp_result_t result = p.sizes == NULL || p.places == NULL ? BP_ERROR_MEMORY : BP_OK;
    char *all = NULL;
    if (result == BP_OK)
        result = ask_sizes(&p, size, ranks);
    if (result == BP_OK && (all = malloc(p.all + 16)) == NULL)
        result = BP_ERROR_MEMORY;
    if (result == BP_OK && MPI_Allgatherv(size == 0 ? all : bytes, (int)size, MPI_BYTE, all, p.sizes, p.places,
                                          MPI_BYTE, MPI_COMM_WORLD) != MPI_SUCCESS)
        result = BP_ERROR_IO;
    for (int i = 0; i < ranks && result == BP_OK; i++)
        take(data, (uint32_t)i, p.sizes[i] == 0 ? NULL : all + p.places[i], (size_t)p.sizes[i]);
    free(all);
    free(p.sizes);
    free(p.places);
    return result;
}

static bp_result_t BP_CALL exchange(bp_host_o *host, const void *bytes, size_t size, bp_peers_take take, void *data)
{
    if (count(host) > 1)
        return mpi_talks(host) ? exchange_parcels(bytes, size, (int)count(host), take, data) : BP_ERROR_STATE;
    take(data, 0, size == 0 ? NULL : bytes, size);
    return BP_OK;
}

static void BP_CALL leave(bp_host_o *host, uint32_t failed)
{
    if (!mpi_talks(host))
        return;
    if (failed)
        MPI_Comm_set_name(MPI_COMM_WORLD, "left");
    else
        MPI_Finalize();
}

const bp_peers_api mpi_peers = {.rank = rank, .count = count, .exchange = exchange, .leave = leave};
