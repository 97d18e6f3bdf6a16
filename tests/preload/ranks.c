/* ranks.c - a process is rank 0 of several, and the others are made up: a library for LD_PRELOAD in front of that of
 * MPI, which tests/scripts/made_up.sh builds.
 *
 * The others do what this one does: they say the same and have the same numbers. Of entities they send nothing; with
 * RANKS_ECHO what this rank sends to them comes back from them. RANKS_COUNT: how many there are. Then one thing may be
 * wrong:
 *
 *     RANKS_FAIL=N      the call of number N that exchanges data fails, or N = init: joining
 *     RANKS_LIE=WHAT    how many bytes rank 1 says it sends to all is negative, or large: 2 GiB; other: a message of it
 *                       that has 1024 bytes begins otherwise than this rank's
 *     RANKS_REFUSE=N    memory that the plugin mpi asks for is refused, at place N of those that ask in this run
 *
 * The file RANKS_TOLD is written where that has happened.
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

enum { PLACES = 1024, DEPTH = 12 };

static struct {
    bool begun, ended, looking;
    int count, calls, fail, refuse;
    char name[MPI_MAX_OBJECT_NAME];
    uintptr_t from, to; /* where the plugin lies */
    uint64_t places[PLACES];
    int place_count;
} ranks;

static const char *option(const char *name)
{
    const char *text = getenv(name);
    return text == NULL ? "" : text;
}

static void tell(void)
{
    int file = open(option("RANKS_TOLD"), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    if (file >= 0)
        close(file);
}

__attribute__((constructor)) static void begin(void)
{
    void *callers[2];
    backtrace(callers, 2); /* it asks for memory when it is called first */
    ranks.count = atoi(option("RANKS_COUNT"));
    ranks.fail = atoi(option("RANKS_FAIL"));
    ranks.refuse = atoi(option("RANKS_REFUSE"));
}

/* Does this call fail? */
static bool fails(void)
{
    if (++ranks.calls != ranks.fail)
        return false;
    tell();
    return true;
}

static bool lies(const char *how)
{
    return strcmp(option("RANKS_LIE"), how) == 0;
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* The plugin's library is the one that calls MPI, whatever the name of its copy is. */
static int note_plugin(struct dl_phdr_info *image, size_t size, void *caller)
{
    (void)size;
    for (int i = 0; i < image->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &image->dlpi_phdr[i];
        uintptr_t from = image->dlpi_addr + part->p_vaddr, at = (uintptr_t)caller;
        if (part->p_type == PT_LOAD && at >= from && at < from + part->p_memsz) {
            ranks.from = from;
            ranks.to = from + part->p_memsz;
            return 1;
        }
    }
    return 0;
}

/* A place is which functions of the plugin wait for an answer. At the end a build that counts coverage asks too. */
static bool refused(void)
{
    void *callers[DEPTH];
    uint64_t hash = 14695981039346656037u;
    bool ours = false;
    if (ranks.refuse == 0 || ranks.to == 0 || ranks.ended || ranks.looking || ranks.place_count == PLACES)
        return false;
    ranks.looking = true;
    int depth = backtrace(callers, DEPTH), place = 0;
    for (int i = 0; i < depth; i++) {
        if ((uintptr_t)callers[i] >= ranks.from && (uintptr_t)callers[i] < ranks.to) {
            hash = (hash ^ (uintptr_t)callers[i]) * 1099511628211u;
            ours = true;
        }
    }
    while (ours && place < ranks.place_count && ranks.places[place] != hash)
        place++;
    bool is_new = ours && place == ranks.place_count;
    if (is_new)
        ranks.places[ranks.place_count++] = hash;
    if (is_new && place + 1 == ranks.refuse)
        tell();
    ranks.looking = false;
    errno = ENOMEM;
    return is_new && place + 1 == ranks.refuse;
}

void *malloc(size_t size)
{
    return refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refused() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return refused() ? NULL : __libc_realloc(block, size);
}

/* --- the calls of MPI --------------------------------------------------------------------------------------------- */

int MPI_Initialized(int *flag)
{
    *flag = ranks.begun;
    return MPI_SUCCESS;
}

int MPI_Finalized(int *flag)
{
    if (ranks.to == 0) /* the plugin's first call */
        dl_iterate_phdr(note_plugin, __builtin_return_address(0));
    *flag = ranks.ended;
    return MPI_SUCCESS;
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *provided)
{
    (void)argc, (void)argv;
    if (strcmp(option("RANKS_FAIL"), "init") == 0)
        return MPI_ERR_OTHER;
    ranks.begun = true;
    *provided = wanted;
    return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    ranks.ended = true;
    return MPI_SUCCESS;
}

int MPI_Abort(MPI_Comm comm, int status)
{
    (void)comm;
    _exit(status);
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    (void)comm, (void)handler;
    return MPI_SUCCESS;
}

int MPI_Comm_set_name(MPI_Comm comm, const char *name)
{
    (void)comm;
    strncpy(ranks.name, name, sizeof ranks.name - 1);
    return MPI_SUCCESS;
}

int MPI_Comm_get_name(MPI_Comm comm, char *name, int *length)
{
    (void)comm;
    strcpy(name, ranks.name);
    *length = (int)strlen(name);
    return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    (void)comm;
    *size = ranks.count;
    return MPI_SUCCESS;
}

static size_t size_of(MPI_Datatype type)
{
    return type == MPI_BYTE ? 1 : type == MPI_INT ? sizeof(int) : 8;
}

int MPI_Allgather(const void *mine, int count, MPI_Datatype type, void *all, int each, MPI_Datatype same, MPI_Comm comm)
{
    size_t size = (size_t)count * size_of(type);
    (void)each, (void)same, (void)comm;
    if (fails())
        return MPI_ERR_OTHER;
    for (int r = 0; r < ranks.count; r++) {
        memcpy((char *)all + (size_t)r * size, mine, size);
        if (type == MPI_INT && r == 1 && (lies("negative") || lies("large")))
            ((int *)all)[r] = lies("large") ? INT32_MAX : -1;
    }
    return MPI_SUCCESS;
}

int MPI_Allgatherv(const void *mine, int count, MPI_Datatype type, void *all, const int *counts, const int *places,
                   MPI_Datatype same, MPI_Comm comm)
{
    (void)same, (void)comm, (void)counts;
    if (fails())
        return MPI_ERR_OTHER;
    for (int r = 0; r < ranks.count; r++) {
        char *at = (char *)all + (size_t)places[r] * size_of(type);
        memcpy(at, mine, (size_t)count * size_of(type));
        if (r == 1 && count == 1024 && lies("other")) {
            at[0] ^= 1;
            tell();
        }
    }
    return MPI_SUCCESS;
}

int MPI_Allreduce(const void *mine, void *sums, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm)
{
    (void)mine, (void)type, (void)comm;
    if (fails())
        return MPI_ERR_OTHER;
    for (int i = 0; i < count && operation == MPI_SUM; i++)
        ((uint64_t *)sums)[i] *= (uint64_t)ranks.count;
    return MPI_SUCCESS;
}

int MPI_Alltoall(const void *out, int count, MPI_Datatype type, void *in, int each, MPI_Datatype same, MPI_Comm comm)
{
    size_t size = (size_t)ranks.count * (size_t)count * size_of(type);
    (void)each, (void)same, (void)comm;
    if (fails())
        return MPI_ERR_OTHER;
    memset(in, 0, size);
    if (option("RANKS_ECHO")[0] != '\0')
        memcpy(in, out, size);
    return MPI_SUCCESS;
}

int MPI_Alltoallv(const void *out, const int *counts, const int *places, MPI_Datatype type, void *in,
                  const int *in_counts, const int *in_places, MPI_Datatype same, MPI_Comm comm)
{
    (void)counts, (void)type, (void)same, (void)comm;
    if (fails())
        return MPI_ERR_OTHER;
    for (int r = 0; r < ranks.count; r++)
        if (in_counts[r] > 0)
            memcpy((char *)in + in_places[r], (const char *)out + places[r], (size_t)in_counts[r]);
    return MPI_SUCCESS;
}
