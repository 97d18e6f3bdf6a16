/* host_history.c - snapshots for embedders: taken, brought back, compared.
 *
 * A snapshot is the caller's: its memory is an account of its own on the allocator of the host that made it, so that
 * the snapshot may outlive the host.
 */
#include "../history/branches.h"
#include "../history/compare.h"
#include "../history/playback.h"
#include "host.h"
#include "makeup.h"

struct bp_snapshot_o {
    memory_t memory;
    bytes_t bytes;      /* names, then what was written down from `begin` on */
    size_t begin;
    snapshot_t read;
};

parts_t host_parts(bp_host_o *host)
{
    return (parts_t){&host->base,   &host->entities, &host->destruction,
                     &host->scenes, &host->loader,   &host->layouts, &host->history.outside};
}

static bp_snapshot_o *new_snapshot(bp_host_o *host)
{
    memory_t once;
    memory_init(&once, "snapshot", &host->base.memory.allocator);
    bp_snapshot_o *snapshot = memory_new(&once, sizeof *snapshot);
    if (snapshot == NULL) {
        error_memory(&host->base.error, "making a snapshot");
        return NULL;
    }
    memory_init(&snapshot->memory, "snapshot", &host->base.memory.allocator);
    bytes_init(&snapshot->bytes, &snapshot->memory);
    return snapshot;
}

void bp_snapshot_free(bp_snapshot_o *snapshot)
{
    if (snapshot == NULL)
        return;
    memory_t once;
    memory_init(&once, "snapshot", &snapshot->memory.allocator);
    snapshot_close(&snapshot->read);
    bytes_free(&snapshot->bytes);
    memory_free(&once, snapshot, sizeof *snapshot);
}

/* --- taking and reading ------------------------------------------------------------------------------------------- */

enum { HEAD = 16 }; /* the length of what follows, then zeros */

static bp_result_t take(bp_host_o *host, bool in_place, bp_snapshot_o **out)
{
    bp_snapshot_o *snapshot = new_snapshot(host);
    if (snapshot == NULL)
        return BP_ERROR_MEMORY;
    bytes_t *bytes = &snapshot->bytes;
    parts_t parts = host_parts(host);
    bytes_u64(bytes, 0);
    bytes_align(bytes, HEAD);
    bp_result_t result = in_place ? snapshot_take_in_place(&parts, bytes) : snapshot_take(&parts, bytes);
    uint64_t length = bytes->size - HEAD;
    if (result == BP_OK) {
        snapshot_put_names(&host->base, bytes);
        bytes_fit(bytes);
        result = bytes->failed ? error_memory(&host->base.error, "making a snapshot") : BP_OK;
    }
    if (result == BP_OK) {
        memcpy(bytes->start, &length, sizeof length);
        result = (in_place ? snapshot_open_in_place : snapshot_open_own)(
            &snapshot->read, &snapshot->memory, &host->base.error, bytes->start + HEAD, (size_t)length);
    }
    if (result == BP_OK)
        *out = snapshot;
    else
        bp_snapshot_free(snapshot);
    return result;
}

bp_result_t bp_host_snapshot(bp_host_o *host, bp_snapshot_o **out)
{
    bp_result_t result = host_refuse_from_verb(host);
    return result == BP_OK ? take(host, false, out) : result;
}

bp_result_t host_snapshot_in_place(bp_host_o *host, bp_snapshot_o **out)
{
    return take(host, true, out);
}

const void *bp_snapshot_bytes(const bp_snapshot_o *snapshot, size_t *size)
{
    *size = snapshot->bytes.size;
    return snapshot->bytes.start;
}

static bp_result_t read_bytes(bp_host_o *host, bp_snapshot_o *snapshot)
{
    bytes_t *bytes = &snapshot->bytes;
    reader_t r = reader_of(bytes->start, bytes->size);
    uint64_t length = reader_u64(&r);
    reader_align(&r, HEAD);
    const void *part = reader_take(&r, length);
    if (part == NULL)
        return error_set(&host->base.error, BP_ERROR_SYNTAX, "the bytes are no whole snapshot");
    bp_result_t result = snapshot_open(&snapshot->read, &snapshot->memory, &host->base.error, part, (size_t)length);
    if (result == BP_OK)
        result = snapshot_read_names(&host->base, &r);
    if (result == BP_OK && (r.failed || r.at != r.end))
        result = error_set(&host->base.error, BP_ERROR_SYNTAX, "the names of the snapshot are damaged");
    return result;
}

bp_result_t bp_snapshot_read(bp_host_o *host, const void *given, size_t size, bp_snapshot_o **out)
{
    bp_snapshot_o *snapshot = new_snapshot(host);
    if (snapshot == NULL)
        return BP_ERROR_MEMORY;
    bytes_put(&snapshot->bytes, given, size);
    bp_result_t result = snapshot->bytes.failed ? error_memory(&host->base.error, "reading a snapshot")
                                                : read_bytes(host, snapshot);
    if (result == BP_OK)
        *out = snapshot;
    else
        bp_snapshot_free(snapshot);
    return result;
}

bp_result_t bp_host_bring_back(bp_host_o *host, const bp_snapshot_o *snapshot)
{
    parts_t parts = host_parts(host);
    bp_result_t result = host_refuse_from_verb(host);
    if (result != BP_OK)
        return result;
    hot_cancel(&host->hot);
    reload_accept(&host->reload);
    result = snapshot_restore(&parts, &snapshot->read);
    if (result != BP_OK)
        return result;
    host->history.branch++;
    history_renew(&host->history);
    snapshot_tell(&parts);
    return BP_OK;
}

bp_result_t host_bring_over(bp_host_o *host, const bp_snapshot_o *snapshot)
{
    size_t names = HEAD;
    uint64_t length;
    memcpy(&length, snapshot->bytes.start, sizeof length);
    names += (size_t)length;
    reader_t r = reader_of(snapshot->bytes.start + names, snapshot->bytes.size - names);
    bp_result_t result = snapshot_read_names(&host->base, &r);
    return result == BP_OK ? bp_host_bring_back(host, snapshot) : result;
}

uint64_t bp_host_branch(bp_host_o *host)
{
    return host->history.branch;
}

/* --- history ------------------------------------------------------------------------------------------------------ */

static bp_result_t step_again(void *context, uint32_t world)
{
    bp_host_o *host = context;
    return world == BP_NONE ? bp_host_step(host) : bp_world_step(host_world(host, world));
}

static void reloaded(void *data, const bp_reload_report_t *report)
{
    bp_host_o *host = data;
    if (report->result == BP_OK)
        history_remade(&host->history);
}

bp_result_t host_init_history(bp_host_o *host)
{
    parts_t parts = host_parts(host);
    history_prepare(&host->history, &parts);
    host->history.step = step_again;
    host->history.context = host;
    host->history.recomputing = &host->crew.recomputing;
    host->history.eras.makers = makeup_makers(host);
    return reload_add_callback(&host->reload, reloaded, host);
}

bp_result_t bp_host_remember(bp_host_o *host, uint64_t bytes)
{
    history_t next;
    bp_result_t result = host_refuse_during_step(host);
    if (result == BP_OK)
        result = history_set_begin(&host->history, bytes, &next);
    if (result != BP_OK)
        return result;
    if (host->draft.back > 0)
        draft_drop(host); /* the draft uses a part of the past that is forgotten now */
    return history_set_end(&host->history, bytes, &next);
}

void bp_host_keyframe_every(bp_host_o *host, uint32_t milliseconds)
{
    host->history.interval_ms = milliseconds;
}

void bp_host_record_every(bp_host_o *host, uint32_t milliseconds)
{
    host->history.record_ms = milliseconds;
}

void bp_host_history(bp_host_o *host, bp_history_t *history)
{
    const history_t *h = &host->history;
    uint32_t size = history->struct_size;
    bp_history_t now = {.struct_size = size,
                        .keyframes = h->keyframes.count,
                        .first = h->first,
                        .now = h->now,
                        .last = h->last,
                        .bytes = h->store.pieces.bytes,
                        .budget = h->budget,
                        .branch = branches_present(h),
                        .branches = h->branch_count};
    memcpy(history, &now, size < sizeof now ? size : sizeof now);
}

/* End a reload's probation and trial, which belong to the moment that the host leaves. */
static bp_result_t begin_going(bp_host_o *host)
{
    bp_result_t result = host_refuse_from_verb(host);
    if (result != BP_OK)
        return result;
    hot_cancel(&host->hot);
    reload_accept(&host->reload);
    return BP_OK;
}

bp_result_t bp_host_go(bp_host_o *host, uint64_t moment)
{
    bp_result_t result = begin_going(host);
    return result == BP_OK ? history_go(&host->history, moment) : result;
}

bp_result_t bp_host_branch_off(bp_host_o *host)
{
    bp_result_t result = host_refuse_during_step(host);
    if (result == BP_OK)
        history_cut(&host->history);
    return result;
}

uint32_t bp_host_branch_at(bp_host_o *host, uint32_t index, bp_branch_t *branch)
{
    const history_t *h = &host->history;
    uint32_t size = branch->struct_size;
    if (index >= h->branch_count)
        return 0;
    const branch_t *b = &h->branches[index];
    bp_branch_t now = {.struct_size = size,
                       .number = branch_number(b),
                       .parent = b->parent != 0 ? b->parent : branches_present(h),
                       .fork = b->fork,
                       .last = b->last,
                       .bytes = branch_bytes(b) + keyframes_own(&b->keyframes)};
    memcpy(branch, &now, size < sizeof now ? size : sizeof now);
    return 1;
}

bp_result_t bp_host_branch_to(bp_host_o *host, uint64_t number)
{
    bp_result_t result = begin_going(host);
    return result == BP_OK ? history_return(&host->history, number) : result;
}

bp_result_t bp_host_branch_forget(bp_host_o *host, uint64_t number)
{
    bp_result_t result = host_refuse_during_step(host);
    if (result == BP_OK && branches_find(&host->history, number) == NULL)
        result = error_set(&host->base.error, BP_ERROR_NOT_FOUND, "no branch %llu is kept",
                           (unsigned long long)number);
    if (result == BP_OK)
        branches_drop(&host->history, number);
    return result;
}

uint32_t bp_host_branch_leads_here(bp_host_o *host, uint64_t number, uint64_t moment)
{
    return branches_holds(&host->history, number, moment);
}

bp_result_t bp_host_mark(bp_host_o *host, const char *name)
{
    return history_mark(&host->history, name);
}

bp_result_t bp_host_marked(bp_host_o *host, const char *name, uint64_t *moment)
{
    if (history_find_mark(&host->history, name, moment))
        return BP_OK;
    return error_set(&host->base.error, BP_ERROR_NOT_FOUND, "no moment is marked '%.40s'", name);
}

void bp_host_touched(bp_host_o *host)
{
    history_touch_always(&host->history);
}

/* --- recordings --------------------------------------------------------------------------------------------------- */

struct bp_recording_o {
    bp_host_o *host;
    char *path;
    recorded_t recorded;
    eras_t eras;    /* of the recording; read when they are first needed */
    bool eras_read;
};

bp_result_t bp_host_record(bp_host_o *host, const char *path, const char *origin)
{
    bp_result_t result = host_refuse_during_step(host);
    if (result == BP_OK)
        result = host_refuse_in_copy(host);
    return result == BP_OK ? history_record(&host->history, path, origin == NULL ? "" : origin) : result;
}

bp_result_t bp_host_record_end(bp_host_o *host)
{
    bp_result_t result = host_refuse_during_step(host);
    return result == BP_OK ? history_record_end(&host->history) : result;
}

bp_result_t bp_recording_open(bp_host_o *host, const char *path, bp_recording_o **out)
{
    bp_recording_o *recording = memory_new(&host->base.memory, sizeof *recording);
    char *copy = recording == NULL ? NULL : memory_copy_text(&host->base.memory, path);
    bp_result_t result = copy == NULL ? error_memory(&host->base.error, "opening a recording")
                                      : recorded_open(&recording->recorded, path, &host->base.error);
    if (result == BP_OK) {
        recording->host = host;
        recording->path = copy;
        eras_init(&recording->eras, &host->history.memory);
        recording->eras.makers = host->history.eras.makers;
        *out = recording;
        return BP_OK;
    }
    if (copy != NULL)
        memory_free_text(&host->base.memory, copy);
    if (recording != NULL)
        memory_free(&host->base.memory, recording, sizeof *recording);
    return result;
}

void bp_recording_info(const bp_recording_o *recording, bp_recording_t *info)
{
    const recorded_t *r = &recording->recorded;
    uint32_t size = info->struct_size;
    bp_recording_t now = {.struct_size = size,
                          .keyframes = r->keyframes,
                          .origin = r->origin,
                          .first = r->first,
                          .last = r->last,
                          .bytes = r->good,
                          .lost = r->size - r->good};
    memcpy(info, &now, size < sizeof now ? size : sizeof now);
}

uint64_t bp_recording_keyframe(const bp_recording_o *recording, uint32_t index)
{
    return recorded_keyframe_moment(&recording->recorded, index);
}

uint64_t bp_recording_cut(bp_recording_o *recording, uint64_t moment)
{
    eras_free(&recording->eras);
    recording->eras_read = false;
    return recorded_cut(&recording->recorded, moment);
}

void bp_recording_close(bp_recording_o *recording)
{
    if (recording == NULL)
        return;
    memory_t *memory = &recording->host->base.memory;
    recorded_close(&recording->recorded);
    eras_free(&recording->eras);
    memory_free_text(memory, recording->path);
    memory_free(memory, recording, sizeof *recording);
}

static bp_result_t need_eras(bp_recording_o *recording)
{
    bp_result_t result = recording->eras_read ? BP_OK
                                              : recorded_eras(&recording->recorded, &recording->eras,
                                                              &recording->host->base.error);
    recording->eras_read = result == BP_OK;
    return result;
}

bp_result_t bp_recording_become(bp_recording_o *recording, uint64_t moment)
{
    bp_host_o *host = recording->host;
    bp_result_t result = begin_going(host);
    if (result == BP_OK)
        result = need_eras(recording);
    if (result != BP_OK)
        return result;
    const era_t *era = eras_of(&recording->eras, moment, recorded_lost_before(&recording->recorded, moment));
    if (eras_is(&recording->eras, era))
        return BP_OK;
    result = eras_become(&recording->eras, era);
    history_renew(&host->history);
    return result;
}

bp_result_t bp_recording_play(bp_recording_o *recording, uint64_t moment, const bp_playback_i *playback)
{
    bp_result_t result = begin_going(recording->host);
    bp_playback_i known;
    bp_diff_i differences;
    host_read_part(&known, playback, sizeof known);
    host_read_part(&differences, known.differences, sizeof differences);
    known.differences = known.differences == NULL ? NULL : &differences;
    if (result == BP_OK)
        result = need_eras(recording);
    return result == BP_OK ? playback_to(&recording->host->history, &recording->recorded, &recording->eras, moment,
                                         &known)
                           : result;
}

bp_result_t bp_recording_resume(bp_recording_o *recording)
{
    bp_host_o *host = recording->host;
    bp_result_t result = host_refuse_in_copy(host);
    if (result == BP_OK)
        result = begin_going(host);
    if (result == BP_OK)
        result = need_eras(recording);
    if (result == BP_OK)
        result = playback_to(&host->history, &recording->recorded, &recording->eras, recording->recorded.last, NULL);
    return result == BP_OK ? history_record_on(&host->history, recording->path, &recording->recorded) : result;
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

uint64_t bp_snapshot_hash(const bp_snapshot_o *snapshot, const char *world)
{
    if (world == NULL)
        return snapshot_hash(&snapshot->read);
    for (uint32_t i = 0; i < snapshot->read.world_count; i++) {
        if (strcmp(snapshot->read.worlds[i].name, world) == 0)
            return snapshot_hash_world(&snapshot->read, i);
    }
    return 0;
}

bp_result_t bp_snapshot_diff(bp_host_o *host, const bp_snapshot_o *before, const bp_snapshot_o *after,
                             const bp_diff_i *sink)
{
    bp_diff_i known;
    host_read_part(&known, sink, sizeof known);
    return snapshot_diff(&host->base, &before->read, &after->read, &known)
               ? BP_OK
               : error_memory(&host->base.error, "comparing two snapshots");
}
