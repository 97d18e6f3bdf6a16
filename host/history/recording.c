/* recording.c - chunks written one behind the other, and a file looked through.
 *
 * A file comes into its place with its head and its first keyframe, on the disk (file_replace); a recording that was
 * there before is whole until then. After that each chunk is handed to the system when it is complete; keyframes are
 * brought to the disk as well, so that a power cut costs only the chunks after the last keyframe.
 */
#include "recording.h"

#include "../base/file.h"
#include "../os/files.h"
#include "../os/os.h"
#include "compare.h"

#include <errno.h>
#include <inttypes.h>

enum { MILLION = 1000000, CHUNK_ALIGN = 16, STEPS_ROOM = 4096 };

#define BYTE_ORDER_MARK UINT32_C(0x01020304)

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* The checksum of a chunk behind one with the checksum `before`. */
static uint64_t sum_of(const chunk_t *chunk, const void *bytes, uint64_t before)
{
    chunk_t summed = *chunk;
    uint64_t words[2] = {0, chunk->size == 0 ? 0 : hash_bytes(bytes, (size_t)chunk->size)};
    summed.sum = before;
    words[0] = hash_bytes(&summed, sizeof summed);
    return hash_bytes(words, sizeof words);
}

static size_t padding_of(uint64_t size)
{
    return (size_t)((CHUNK_ALIGN - size % CHUNK_ALIGN) % CHUNK_ALIGN);
}

static void let_go(recording_t *r)
{
    bytes_free(&r->beginning);
    bytes_free(&r->steps);
    bytes_free(&r->keyframe);
    bytes_free(&r->before);
    bytes_free(&r->delta);
    memory_free_text(r->memory, r->path);
    if (r->makers->drop != NULL)
        r->makers->drop(r->makers->context, r->made);
    r->made = NULL;
    r->path = NULL;
    r->file = NULL;
}

/* End the recording after an error; the chunks that are in the file by now are good. */
static void give_up(recording_t *r)
{
    log_write(&r->parts->base->log, BP_LOG_ERROR, "host", "recording ends at moment %" PRIu64 ": %s", r->moment,
              r->parts->base->error.text);
    fclose(r->file);
    let_go(r);
}

/* Write to the file; while there is no file, append to `beginning`. The file is that of the process that has begun
 * the recording: a copy of it writes nothing. */
static bool put(recording_t *r, const void *bytes, size_t size)
{
    if (size == 0 || base_is_copied(r->parts->base))
        return true;
    if (r->file != NULL)
        return fwrite(bytes, size, 1, r->file) == 1;
    bytes_put(&r->beginning, bytes, size);
    return !r->beginning.failed;
}

static bp_result_t put_chunk(recording_t *r, chunk_t chunk, const void *bytes, bool to_disk)
{
    static const char zeros[CHUNK_ALIGN];
    memcpy(chunk.magic, RECORDING_MAGIC, sizeof chunk.magic);
    chunk.sum = sum_of(&chunk, bytes, r->sum);
    errno = 0;
    bool good = put(r, &chunk, sizeof chunk) && put(r, bytes, (size_t)chunk.size) &&
                put(r, zeros, padding_of(chunk.size));
    if (good && r->file != NULL)
        good = fflush(r->file) == 0 && (!to_disk || os_stream_sync(r->file));
    if (!good && r->beginning.failed)
        return error_memory(&r->parts->base->error, "recording");
    if (!good)
        return error_set(&r->parts->base->error, BP_ERROR_IO, "%s: cannot be written: %s", r->path,
                         errno != 0 ? strerror(errno) : "the system does not say why");
    r->sum = chunk.sum;
    if (to_disk)
        r->synced_at = os_clock_ns();
    return BP_OK;
}

static bp_result_t put_bytes(recording_t *r, uint32_t kind, const bytes_t *bytes)
{
    if (bytes->failed)
        return error_memory(&r->parts->base->error, "recording");
    return put_chunk(r, (chunk_t){.kind = kind, .moment = r->moment, .size = bytes->size}, bytes->start, false);
}

static bp_result_t put_names(recording_t *r)
{
    bytes_t bytes;
    if (r->names == r->parts->base->names.count)
        return BP_OK;
    bytes_init(&bytes, r->memory);
    snapshot_put_names(r->parts->base, &bytes);
    bp_result_t result = put_bytes(r, CHUNK_NAMES, &bytes);
    bytes_free(&bytes);
    r->names = r->parts->base->names.count;
    return result;
}

static bp_result_t put_steps(recording_t *r)
{
    chunk_t chunk = {.kind = CHUNK_STEPS, .moment = r->steps_from, .size = r->steps.size};
    chunk.flags = r->step_lost ? CHUNK_LOST : 0;
    r->flushed_at = os_clock_ns();
    if (r->steps.size == 0)
        return BP_OK;
    bool to_disk = r->flushed_at - r->synced_at >= (uint64_t)RECORDING_SYNC_MS * MILLION;
    bp_result_t result = put_chunk(r, chunk, r->steps.start, to_disk);
    r->steps.size = 0;
    r->step_lost = false;
    return result;
}

static bp_result_t put_parts(recording_t *r, const makeup_t *makeup, const makeup_t *before, uint32_t flags)
{
    bytes_t bytes;
    bytes_init(&bytes, r->memory);
    bp_result_t result = r->makers->write(r->makers->context, makeup, before, &bytes);
    if (result == BP_OK)
        result = put_chunk(r, (chunk_t){.kind = CHUNK_PARTS, .flags = flags, .moment = r->moment, .size = bytes.size},
                           bytes.start, false);
    bytes_free(&bytes);
    return result;
}

/* Where the host's makeup differs from the last one in the file, write it. The files of plugins are written only from
 * the first such change on. */
static bp_result_t put_change(recording_t *r)
{
    makeup_t *now;
    if (r->made == NULL || r->makers->is(r->makers->context, r->made))
        return BP_OK;
    bp_result_t result = put_steps(r);
    if (result == BP_OK && !r->parts_written)
        result = put_parts(r, r->made, NULL, CHUNK_BEGINNING);
    if (result == BP_OK)
        result = r->makers->look(r->makers->context, r->made, &now);
    if (result != BP_OK)
        return result;
    const makeup_t *before = r->made;
    r->parts_written = true;
    result = put_parts(r, now, before, 0);
    r->makers->drop(r->makers->context, r->made);
    r->made = now;
    return result;
}

/* Write down what differs from the keyframe before. False where the keyframe is better written whole. */
static bool make_delta(recording_t *r)
{
    const bytes_t *a = &r->before, *b = &r->keyframe;
    bytes_t *delta = &r->delta;
    delta->size = 0;
    if (a->size != b->size || r->deltas >= RECORDING_DELTAS)
        return false;
    for (size_t at = 0; at < b->size;) {
        size_t end = at;
        while (end < b->size) {
            size_t size = b->size - end < RECORDING_BLOCK ? b->size - end : RECORDING_BLOCK;
            if (memcmp(a->start + end, b->start + end, size) == 0)
                break;
            end += size;
        }
        if (end > at) {
            bytes_u64(delta, at);
            bytes_u64(delta, end - at);
            bytes_put(delta, b->start + at, end - at);
        }
        at = end + RECORDING_BLOCK;
    }
    bool good = !delta->failed && delta->size < b->size / 4 * 3;
    delta->failed = false;
    return good;
}

/* The keyframe is in the file: the next one is compared with it. */
static void turn_keyframes(recording_t *r, bool delta)
{
    bytes_t room = r->before;
    r->before = r->keyframe;
    r->keyframe = room;
    r->deltas = delta ? r->deltas + 1 : 0;
    r->written = delta ? r->delta.size : r->before.size;
}

/* Write a keyframe of the host as it is now. Where no snapshot can be had, *taken is false and nothing has been
 * written. */
static bp_result_t put_keyframe(recording_t *r, uint32_t flags, bool *taken)
{
    uint64_t began = os_clock_ns();
    snapshot_t snapshot;
    r->keyframe.size = 0;
    *taken = false;
    bp_result_t result = snapshot_take(r->parts, &r->keyframe);
    if (result == BP_OK)
        result = snapshot_open_own(&snapshot, r->memory, &r->parts->base->error, r->keyframe.start, r->keyframe.size);
    if (result != BP_OK) {
        bytes_free(&r->keyframe);
        return result;
    }
    chunk_t chunk = {.kind = CHUNK_KEYFRAME,
                     .flags = flags,
                     .moment = r->moment,
                     .hash = snapshot_hash(&snapshot),
                     .size = r->keyframe.size};
    snapshot_close(&snapshot);
    *taken = true;
    result = put_steps(r);
    if (result == BP_OK)
        result = put_names(r);
    bool delta = result == BP_OK && make_delta(r);
    if (delta) {
        chunk.flags |= CHUNK_DELTA;
        chunk.size = r->delta.size;
    }
    if (result == BP_OK)
        result = put_chunk(r, chunk, delta ? r->delta.start : r->keyframe.start, true);
    r->keyframe_size = r->keyframe.size;
    if (result == BP_OK)
        turn_keyframes(r, delta);
    r->keyframe_at = os_clock_ns();
    r->took = r->keyframe_at - began;
    return result;
}

void recording_keyframe(recording_t *r, uint32_t flags)
{
    bool taken = false;
    bp_result_t result = flags != 0 ? put_change(r) : BP_OK;
    if (result == BP_OK)
        result = put_keyframe(r, flags, &taken);
    r->elsewhere = false;
    if (result != BP_OK && (taken || flags != 0))
        give_up(r);
    else if (result != BP_OK)
        r->keyframe_at = os_clock_ns(); /* the recording can do without this keyframe; the next one is tried later */
}

void recording_calls(recording_t *r, const bytes_t *calls)
{
    if (calls->size == 0)
        return;
    bp_result_t result = put_steps(r);
    if (result == BP_OK)
        result = put_names(r);
    if (result == BP_OK)
        result = put_bytes(r, CHUNK_CALLS, calls);
    if (result != BP_OK)
        give_up(r);
}

static void add_step(recording_t *r, uint32_t world)
{
    chunk_steps_t steps = {world, 1}, *last = NULL;
    if (r->steps.size == 0)
        r->steps_from = r->moment;
    else
        last = (chunk_steps_t *)(void *)(r->steps.start + r->steps.size - sizeof *last);
    if (last != NULL && last->world == world && last->count < UINT32_MAX)
        last->count++;
    else
        bytes_put(&r->steps, &steps, sizeof steps);
    r->moment++;
}

/* Is it time for a keyframe, so long after the last one? */
static bool is_due(const recording_t *r, uint64_t passed)
{
    return r->interval_ms == 0 ||
           (passed >= (uint64_t)r->interval_ms * MILLION && passed >= RECORDING_SHARE * r->took &&
            passed / 1000 >= r->written * MILLION / RECORDING_RATE);
}

void recording_step(recording_t *r, uint32_t world, bool lost)
{
    bp_result_t result = lost ? put_steps(r) : BP_OK; /* a lost step has a chunk of its own */
    add_step(r, world);
    r->step_lost = lost;
    uint64_t now = os_clock_ns();
    if (result == BP_OK && r->steps.failed)
        result = error_memory(&r->parts->base->error, "recording");
    if (result == BP_OK && !lost && is_due(r, now - r->keyframe_at)) {
        recording_keyframe(r, 0);
        return;
    }
    if (result == BP_OK && !lost &&
        (r->steps.size >= STEPS_ROOM || now - r->flushed_at >= (uint64_t)RECORDING_FLUSH_MS * MILLION))
        result = put_steps(r);
    if (result != BP_OK)
        give_up(r);
}

/* --- beginning and ending ----------------------------------------------------------------------------------------- */

static bp_result_t prepare(recording_t *r, const parts_t *parts, const makers_t *makers, memory_t *memory,
                           const char *path)
{
    *r = (recording_t){.parts = parts, .makers = makers, .memory = memory, .interval_ms = RECORDING_KEYFRAME_MS};
    bytes_init(&r->beginning, memory);
    bytes_init(&r->before, memory);
    bytes_init(&r->delta, memory);
    bytes_init(&r->steps, memory);
    bytes_init(&r->keyframe, memory);
    r->path = memory_copy_text(memory, path);
    if (r->path == NULL)
        return error_memory(&parts->base->error, "recording");
    if (makers->look != NULL && makers->look(makers->context, NULL, &r->made) != BP_OK) {
        let_go(r);
        return BP_ERROR_MEMORY;
    }
    return BP_OK;
}

/* Open the file to write on from that many bytes behind its beginning. */
static bp_result_t open_file(recording_t *r, const char *mode, uint64_t from)
{
    errno = 0;
    r->file = os_file_open(r->path, mode);
    if (r->file != NULL && (from == 0 || os_stream_seek(r->file, from)))
        return BP_OK;
    return error_set(&r->parts->base->error, BP_ERROR_IO, "%s: cannot be written%s: %s", r->path,
                     from > 0 ? " on" : "", strerror(errno));
}

/* End a recording that could not begin: close its file and free its memory. Returns `result`. */
static bp_result_t fail(recording_t *r, bp_result_t result)
{
    if (r->file != NULL)
        fclose(r->file);
    let_go(r);
    return result;
}

/* The file comes in one go, with its first keyframe in it: until then the one that is there stays whole. */
static bp_result_t put_beginning(recording_t *r)
{
    bp_result_t result = file_replace(r->path, r->beginning.start, r->beginning.size, &r->parts->base->error);
    if (result == BP_OK)
        result = open_file(r, "r+b", r->beginning.size);
    bytes_free(&r->beginning);
    r->synced_at = os_clock_ns();
    return result;
}

static bp_result_t put_head(recording_t *r, const char *origin)
{
    bytes_t bytes;
    bytes_init(&bytes, r->memory);
    bytes_u32(&bytes, RECORDING_VERSION);
    bytes_u32(&bytes, BYTE_ORDER_MARK);
    bytes_text(&bytes, origin);
    bp_result_t result = put_bytes(r, CHUNK_HEAD, &bytes);
    bytes_free(&bytes);
    return result;
}

bp_result_t recording_begin(recording_t *r, const parts_t *parts, const makers_t *makers, memory_t *memory,
                            const char *path, const char *origin, uint64_t moment)
{
    bool taken;
    bp_result_t result = prepare(r, parts, makers, memory, path);
    if (result != BP_OK)
        return result;
    r->moment = moment;
    if (os_path_is_special(path)) /* a pipe or a device has no old bytes to keep, and must not be replaced by a file */
        result = open_file(r, "wb", 0);
    if (result == BP_OK)
        result = put_head(r, origin);
    if (result == BP_OK)
        result = put_keyframe(r, true, &taken);
    if (result == BP_OK && r->file == NULL)
        result = put_beginning(r);
    return result == BP_OK ? BP_OK : fail(r, result);
}

bp_result_t recording_resume(recording_t *r, const parts_t *parts, const makers_t *makers, memory_t *memory,
                             const char *path, const recorded_t *recorded)
{
    bp_result_t result = prepare(r, parts, makers, memory, path);
    if (result != BP_OK)
        return result;
    result = open_file(r, "r+b", recorded->good);
    if (result != BP_OK)
        return fail(r, result);
    r->moment = recorded->last;
    r->sum = recorded->sum;
    r->parts_written = recorded->parts > 0; /* the host has been made what the last part says */
    r->keyframe_at = r->flushed_at = r->synced_at = os_clock_ns();
    return BP_OK;
}

bp_result_t recording_finish(recording_t *r)
{
    bool taken;
    bp_result_t result = put_keyframe(r, r->elsewhere ? CHUNK_BRING_BACK : 0, &taken);
    if (result != BP_OK && !taken)
        result = put_steps(r);
    errno = 0;
    if (fclose(r->file) != 0 && result == BP_OK)
        result = error_set(&r->parts->base->error, BP_ERROR_IO, "%s: cannot be written: %s", r->path, strerror(errno));
    let_go(r);
    return result;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

const chunk_t *recorded_next(const recorded_t *recorded, size_t *at)
{
    if (*at == recorded->good)
        return NULL;
    const chunk_t *chunk = (const chunk_t *)(const void *)(recorded->bytes + *at);
    *at += sizeof *chunk + (size_t)chunk->size + padding_of(chunk->size);
    return chunk;
}

bool recorded_lost(const recorded_t *recorded, size_t at)
{
    const chunk_t *chunk;
    while ((chunk = recorded_next(recorded, &at)) != NULL) {
        if (chunk->kind != CHUNK_PARTS && chunk->kind != CHUNK_NAMES)
            return chunk->kind == CHUNK_KEYFRAME && (chunk->flags & CHUNK_LOST) != 0;
    }
    return false;
}

bool recorded_lost_before(const recorded_t *recorded, uint64_t moment)
{
    const chunk_t *chunk;
    size_t at = 0;
    while ((chunk = recorded_next(recorded, &at)) != NULL) {
        if (chunk->kind == CHUNK_KEYFRAME && chunk->moment == moment && (chunk->flags & CHUNK_LOST) != 0)
            return true;
    }
    return false;
}

uint64_t recorded_keyframe_moment(const recorded_t *recorded, uint32_t index)
{
    const chunk_t *chunk;
    size_t at = 0;
    while ((chunk = recorded_next(recorded, &at)) != NULL) {
        if (chunk->kind == CHUNK_KEYFRAME && index-- == 0)
            return chunk->moment;
    }
    return recorded->last;
}

/* What came from outside at the moment itself is of the step after it, and passed over too. */
uint64_t recorded_cut(recorded_t *recorded, uint64_t moment)
{
    const chunk_t *chunk;
    recorded_t cut = *recorded;
    size_t at = 0, behind = 0;
    cut.keyframes = cut.parts = 0;
    while ((chunk = recorded_next(recorded, &at)) != NULL) {
        bool plain = chunk->kind == CHUNK_KEYFRAME && (cut.keyframes == 0 || (chunk->flags & CHUNK_BRING_BACK) == 0 ||
                                                       (chunk->flags & CHUNK_LOST) != 0);
        plain = plain || (chunk->kind == CHUNK_PARTS && recorded_lost(recorded, at));
        bool timeless = chunk->kind == CHUNK_NAMES || chunk->kind == CHUNK_HEAD;
        uint64_t end = chunk->moment;
        const chunk_steps_t *steps = chunk_bytes(chunk);
        for (size_t i = 0; chunk->kind == CHUNK_STEPS && i < chunk->size / sizeof *steps; i++)
            end += steps[i].count;
        if (cut.keyframes > 0 && !timeless && (end > moment || (chunk->moment >= moment && !plain)))
            break;
        if (!timeless)
            cut.last = end;
        cut.keyframes += chunk->kind == CHUNK_KEYFRAME;
        cut.parts += chunk->kind == CHUNK_PARTS;
        cut.sum = chunk->sum;
        behind = at;
    }
    cut.good = behind;
    *recorded = cut;
    return cut.last;
}

/* Copy the stretches that differ into their places. */
static bool apply_delta(const chunk_t *chunk, bytes_t *bytes)
{
    reader_t reader = reader_of(chunk_bytes(chunk), (size_t)chunk->size);
    while (!reader.failed && reader_left(&reader) > 0) {
        uint64_t at = reader_u64(&reader), size = reader_u64(&reader);
        const void *stretch = reader_take(&reader, size);
        if (stretch == NULL || at > bytes->size || size > bytes->size - at)
            return false;
        memcpy(bytes->start + at, stretch, (size_t)size);
    }
    return !reader.failed;
}

bp_result_t recorded_keyframe(const recorded_t *recorded, const chunk_t *keyframe, bytes_t *bytes, error_text_t *error)
{
    const chunk_t *chunk, *whole = NULL;
    size_t at = 0, from = 0;
    for (chunk = NULL; chunk != keyframe && (chunk = recorded_next(recorded, &at)) != NULL;) {
        if (chunk->kind == CHUNK_KEYFRAME && (chunk->flags & CHUNK_DELTA) == 0) {
            whole = chunk;
            from = at;
        }
    }
    bytes->size = 0;
    if (whole != NULL)
        bytes_put(bytes, chunk_bytes(whole), (size_t)whole->size);
    if (bytes->failed)
        return error_memory(error, "reading a keyframe");
    bool good = whole != NULL;
    for (chunk = whole; good && chunk != keyframe && (chunk = recorded_next(recorded, &from)) != NULL;) {
        if (chunk->kind == CHUNK_KEYFRAME)
            good = apply_delta(chunk, bytes);
    }
    return good ? BP_OK
                : error_set(error, BP_ERROR_SYNTAX, "a keyframe of the recording does not fit to the one before");
}

bp_result_t recorded_eras(const recorded_t *recorded, eras_t *eras, error_text_t *error)
{
    const chunk_t *chunk;
    size_t at = 0;
    bp_result_t result = BP_OK;
    while (result == BP_OK && eras->makers.read != NULL && (chunk = recorded_next(recorded, &at)) != NULL) {
        makeup_t *makeup;
        if (chunk->kind != CHUNK_PARTS)
            continue;
        reader_t reader = reader_of(chunk_bytes(chunk), (size_t)chunk->size);
        uint64_t moment = (chunk->flags & CHUNK_BEGINNING) != 0 ? recorded->first : chunk->moment;
        const makeup_t *before = eras->count == 0 ? NULL : eras->items[eras->count - 1].makeup;
        result = eras->makers.read(eras->makers.context, &reader, before, &makeup);
        if (result == BP_OK && !eras_put(eras, moment, makeup)) {
            eras->makers.drop(eras->makers.context, makeup);
            result = error_memory(error, "reading what the recorded host was made of");
        }
    }
    if (result != BP_OK)
        eras_free(eras);
    return result;
}

const era_t *recorded_era(const recorded_t *recorded, const eras_t *eras, const chunk_t *chunk)
{
    const chunk_t *before;
    uint32_t number = 0;
    size_t at = 0;
    while ((before = recorded_next(recorded, &at)) != NULL && before < chunk)
        number += before->kind == CHUNK_PARTS && (before->flags & CHUNK_BEGINNING) == 0;
    return number < eras->count ? &eras->items[number] : NULL;
}

/* The chunk behind the chunks known to be good, where that chunk is whole. */
static const chunk_t *whole_chunk(const recorded_t *r)
{
    size_t left = r->size - r->good;
    const chunk_t *chunk = (const chunk_t *)(const void *)(r->bytes + r->good);
    if (left < sizeof *chunk || memcmp(chunk->magic, RECORDING_MAGIC, sizeof chunk->magic) != 0 ||
        chunk->size > left - sizeof *chunk || padding_of(chunk->size) > left - sizeof *chunk - chunk->size)
        return NULL;
    const char *padding = (const char *)chunk_bytes(chunk) + chunk->size;
    for (size_t i = 0; i < padding_of(chunk->size); i++)
        if (padding[i] != 0)
            return NULL;
    return sum_of(chunk, chunk_bytes(chunk), r->sum) == chunk->sum ? chunk : NULL;
}

/* Does the chunk follow from the chunks before it? */
static bool continues(recorded_t *r, const chunk_t *chunk)
{
    const chunk_steps_t *steps = chunk_bytes(chunk);
    if (chunk->kind == CHUNK_KEYFRAME && r->keyframes == 0)
        r->first = r->last = chunk->moment;
    if (chunk->kind == CHUNK_NAMES)
        return true;
    if (chunk->moment != r->last || (r->keyframes == 0 && chunk->kind != CHUNK_KEYFRAME))
        return false;
    for (size_t i = 0; chunk->kind == CHUNK_STEPS && i < chunk->size / sizeof *steps; i++)
        r->last += steps[i].count;
    r->keyframes += chunk->kind == CHUNK_KEYFRAME;
    r->parts += chunk->kind == CHUNK_PARTS;
    return chunk->kind == CHUNK_KEYFRAME || chunk->kind == CHUNK_CALLS || chunk->kind == CHUNK_STEPS ||
           (chunk->kind == CHUNK_PARTS && ((chunk->flags & CHUNK_BEGINNING) != 0) == (r->parts == 1));
}

static bp_result_t read_head(recorded_t *r, const char *path, error_text_t *error)
{
    const chunk_t *chunk = whole_chunk(r);
    if (chunk == NULL || chunk->kind != CHUNK_HEAD)
        return error_set(error, BP_ERROR_SYNTAX, "%s: is no recording, or its first bytes are damaged", path);
    reader_t reader = reader_of(chunk_bytes(chunk), (size_t)chunk->size);
    uint32_t version = reader_u32(&reader), order = reader_u32(&reader);
    r->origin = reader_text(&reader);
    if (order != BYTE_ORDER_MARK || version < RECORDING_OLDEST || version > RECORDING_VERSION || reader.failed)
        return error_set(error, BP_ERROR_SYNTAX, "%s: was recorded %s; this program reads versions %d to %d of this "
                         "machine's order of bytes", path, order != BYTE_ORDER_MARK ? "on another kind of machine"
                                                                         : "by another version of this program",
                         RECORDING_OLDEST, RECORDING_VERSION);
    r->sum = chunk->sum;
    r->good = sizeof *chunk + (size_t)chunk->size + padding_of(chunk->size);
    return BP_OK;
}

/* Look at all chunks behind the head, up to the first that is not good. A file does not end with parts: the host has
 * them from the keyframe behind them on, so that one that resumes before that keyframe goes on with those of before.
 * Nor does it end with a step that cannot be computed again. */
static void look_through(recorded_t *r)
{
    const chunk_t *chunk;
    recorded_t good = *r;
    bool waits = false; /* for the keyframe behind parts, or behind a lost step */
    while ((chunk = whole_chunk(r)) != NULL && continues(r, chunk)) {
        r->sum = chunk->sum;
        r->good += sizeof *chunk + (size_t)chunk->size + padding_of(chunk->size);
        waits = chunk->kind == CHUNK_PARTS || (chunk->kind == CHUNK_STEPS && (chunk->flags & CHUNK_LOST) != 0) ||
                (waits && chunk->kind == CHUNK_NAMES);
        if (!waits)
            good = *r;
    }
    *r = good;
}

bp_result_t recorded_open(recorded_t *r, const char *path, error_text_t *error)
{
    const void *bytes;
    *r = (recorded_t){.size = 0};
    bp_result_t result = file_map(path, &bytes, &r->size, error);
    if (result != BP_OK)
        return result;
    r->bytes = bytes;
    result = read_head(r, path, error);
    if (result == BP_OK)
        look_through(r);
    if (result == BP_OK && r->keyframes == 0)
        result = error_set(error, BP_ERROR_SYNTAX, "%s: is damaged before its first keyframe is whole", path);
    if (result != BP_OK)
        recorded_close(r);
    return result;
}

void recorded_close(recorded_t *r)
{
    if (r->bytes != NULL)
        file_unmap(r->bytes, r->size);
    *r = (recorded_t){.size = 0};
}
