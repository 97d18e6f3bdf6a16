/* job.c - recordings of a run of several ranks (docs/machines.md).
 *
 * Rank 2 of 4 writes FILE.2of4; a process that is alone writes FILE. A set of files is good where each can be opened.
 * Resuming brings all ranks to the last moment that all of the files have: a step that all ranks had taken.
 *
 * On another number of ranks each rank brings its host to the state of one of the old ranks, and the entities of the
 * remaining old ranks are dealt out (bp_share_api.pack and join). The new ranks write a new set. The old set is removed
 * when each file of the new one has its first state on the disk; so at any moment one set is complete.
 */
#include "job.h"

#include "../os/files.h"
#include "output.h"

#include <bp_share.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 4096, RANKS = 4096 };

static void name_file(char name[PATH], const char *path, uint32_t rank, uint32_t ranks)
{
    if (ranks == 1)
        snprintf(name, PATH, "%s", path);
    else
        snprintf(name, PATH, "%s.%" PRIu32 "of%" PRIu32, path, rank, ranks);
}

static bool is_there(const char *path, uint32_t rank, uint32_t ranks, file_stamp_t *stamp)
{
    char name[PATH];
    name_file(name, path, rank, ranks);
    return file_stamp(name, stamp);
}

/* The number of ranks that wrote the newest set of files of which none is missing; 0: there is none. */
static uint32_t find_set(const char *path)
{
    uint32_t found = 0;
    uint64_t newest = 0;
    for (uint32_t ranks = 1; ranks <= RANKS; ranks++) {
        file_stamp_t first, stamp;
        bool whole = is_there(path, 0, ranks, &first);
        for (uint32_t r = 1; r < ranks && whole; r++)
            whole = is_there(path, r, ranks, &stamp) && stamp.size > 0;
        if (whole && first.size > 0 && (found == 0 || first.written > newest)) {
            found = ranks;
            newest = first.written;
        }
    }
    return found;
}

bool job_is_concerned(const program_t *program, const char *path)
{
    file_stamp_t stamp;
    return program->ranks > 1 || (!file_stamp(path, &stamp) && find_set(path) > 1);
}

/* --- numbers that ranks compare
 * ------------------------------------------------------------------------------------------ */

typedef struct told_t {
    uint64_t least, first; /* of all ranks; of rank 0 */
    bool any;
} told_t;

static void BP_CALL take_number(void *data, uint32_t rank, const void *bytes, size_t size)
{
    told_t *told = data;
    uint64_t number = 0;
    if (size == sizeof number)
        memcpy(&number, bytes, sizeof number);
    told->first = rank == 0 ? number : told->first;
    told->least = !told->any || number < told->least ? number : told->least;
    told->any = true;
}

/* The least number of all ranks and that of rank 0. False with a complaint. */
static bool tell_all(const program_t *program, uint64_t number, told_t *told)
{
    *told = (told_t){0};
    if (bp_host_exchange(program->host, &number, sizeof number, take_number, told) == BP_OK)
        return true;
    complain("the other ranks cannot be asked: %s", bp_host_error(program->host));
    return false;
}

/* --- files of the ranks before ------------------------------------------------------------------------------------ */

/* The files that this rank goes on with: its host gets the state of files[0]; the others are of old ranks that the new
 * run does not have. */
typedef struct resuming_t {
    const program_t *program;
    const char *path;
    uint32_t had;               /* ranks that wrote the files */
    bp_recording_o **files;
    uint32_t count;
    uint64_t moment;
    bp_parcel_t *parcels;       /* of all files but the first */
} resuming_t;

static void end_resuming(resuming_t *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        bp_recording_close(r->files[i]);
        if (r->parcels != NULL)
            free((void *)(uintptr_t)r->parcels[i].bytes);
    }
    free(r->files);
    free(r->parcels);
}

static int open_files(resuming_t *r)
{
    const program_t *p = r->program;
    uint32_t most = r->had / p->ranks + 1;
    r->files = calloc(most, sizeof(bp_recording_o *));
    r->parcels = calloc(most, sizeof *r->parcels);
    if (r->files == NULL || r->parcels == NULL) {
        complain("out of memory");
        return STATUS_FAILED;
    }
    for (uint32_t rank = p->rank % r->had; rank < r->had; rank += p->ranks) {
        char name[PATH];
        name_file(name, r->path, rank, r->had);
        if (bp_recording_open(p->host, name, &r->files[r->count]) != BP_OK) {
            complain("%s", bp_host_error(p->host));
            return STATUS_BAD_INPUT;
        }
        r->count++;
        if (p->rank >= r->had)
            break; /* another rank has the rest */
    }
    return STATUS_FINE;
}

/* Cut all files at the last moment that all files of all ranks have. */
static int find_moment(resuming_t *r)
{
    uint64_t mine = UINT64_MAX, wanted;
    told_t told;
    do {
        wanted = mine;
        for (uint32_t i = 0; i < r->count; i++) {
            uint64_t end = bp_recording_cut(r->files[i], wanted);
            mine = end < mine ? end : mine;
        }
        if (!tell_all(r->program, mine, &told))
            return STATUS_FAILED;
        mine = told.least;
        if (!tell_all(r->program, mine == wanted ? 1 : 0, &told))
            return STATUS_FAILED;
    } while (told.least == 0);
    r->moment = mine;
    return STATUS_FINE;
}

/* Bring the host to the state of an old rank, and pack that rank's entities. */
static int pack_file(resuming_t *r, uint32_t index, const bp_share_api *shares)
{
    const program_t *p = r->program;
    const void *bytes;
    size_t size;
    if (bp_recording_play(r->files[index], r->moment, NULL) != BP_OK || shares->pack(p->host, &bytes, &size) != BP_OK) {
        complain("%s", bp_host_error(p->host));
        return STATUS_FAILED;
    }
    void *copy = malloc(size + 1);
    if (copy == NULL) {
        complain("out of memory");
        return STATUS_FAILED;
    }
    if (size > 0)
        memcpy(copy, bytes, size);
    r->parcels[index] = (bp_parcel_t){copy, size};
    return STATUS_FINE;
}

/* --- going on ----------------------------------------------------------------------------------------------------- */

/* When all ranks record in files of this number of ranks, rank 0 removes the files of other numbers. */
static int keep_one_set(const program_t *program, const char *path)
{
    told_t told;
    if (!tell_all(program, 1, &told))
        return STATUS_FAILED;
    for (uint32_t ranks = 1; ranks <= RANKS && program->rank == 0; ranks++) {
        file_stamp_t stamp;
        char name[PATH];
        for (uint32_t r = 0; r < ranks && ranks != program->ranks && (r > 0 || is_there(path, 0, ranks, &stamp)); r++) {
            name_file(name, path, r, ranks);
            os_file_remove(name);
        }
    }
    return STATUS_FINE;
}

static int begin(const program_t *program, const char *path)
{
    char name[PATH];
    name_file(name, path, program->rank, program->ranks);
    if (bp_host_record(program->host, name, program->ini) == BP_OK)
        return keep_one_set(program, path);
    complain("%s", bp_host_error(program->host));
    return STATUS_BAD_INPUT;
}

/* On as many ranks as before: each goes on in its own file. */
static int go_on(resuming_t *r)
{
    if (bp_recording_resume(r->files[0]) == BP_OK)
        return STATUS_FINE;
    complain("%s: %s", r->path, bp_host_error(r->program->host));
    return STATUS_FAILED;
}

/* On another number of ranks: deal out the entities of the old ranks, and begin new files. */
static int deal_out(resuming_t *r)
{
    const program_t *p = r->program;
    const bp_share_api *shares = (const bp_share_api *)p->api->registry->find(p->host, BP_SHARE_API, 1);
    int status = STATUS_FINE;
    for (uint32_t i = 1; i < r->count && status == STATUS_FINE; i++)
        status = pack_file(r, i, shares);
    if (status != STATUS_FINE)
        return status;
    if (bp_recording_play(r->files[0], r->moment, NULL) != BP_OK ||
        shares->join(p->host, p->rank < r->had, r->parcels + 1, r->count - 1) != BP_OK) {
        complain("%s: %s", r->path, bp_host_error(p->host));
        return STATUS_FAILED;
    }
    return begin(p, r->path);
}

static int resume(resuming_t *r, uint64_t *done)
{
    const program_t *p = r->program;
    told_t told;
    if (!tell_all(p, p->rank == 0 ? find_set(r->path) : 0, &told))
        return STATUS_FAILED;
    r->had = (uint32_t)told.first;
    if (r->had == 0) {
        complain("%s: there is no recording of all ranks (%s.0of%" PRIu32 " and so on)", r->path, r->path, p->ranks);
        return STATUS_BAD_INPUT;
    }
    int status = open_files(r);
    if (status == STATUS_FINE)
        status = find_moment(r);
    if (status == STATUS_FINE)
        status = r->had == p->ranks ? go_on(r) : deal_out(r);
    *done = r->moment;
    if (status == STATUS_FINE && p->rank == 0)
        remark("%s: goes on behind step %" PRIu64 " of %" PRIu32 " rank%s", r->path, r->moment, r->had,
               r->had == 1 ? "" : "s");
    return status;
}

int job_begin_recording(program_t *program, const arguments_t *arguments, uint64_t *done)
{
    resuming_t r = {.program = program, .path = arguments->resume};
    if (arguments->record != NULL)
        return begin(program, arguments->record);
    int status = resume(&r, done);
    end_resuming(&r);
    return status;
}
