/* playback.c - playing a recording chunk by chunk, from a keyframe on. */
#include "playback.h"

#include "compare.h"
#include "history_inner.h"

#include <inttypes.h>

typedef struct playing_t {
    history_t *history;
    const parts_t *parts;
    const recorded_t *recorded;
    const eras_t *eras;
    const bp_playback_i *playback;
    uint64_t now, to;
    bool check;
} playing_t;

static void tell_step(const playing_t *p)
{
    if (p->playback != NULL && p->playback->step != NULL)
        p->playback->step(p->playback->context, p->now);
}

/* The end of the chunk before the keyframe to begin with; the names in chunks before that place have to be interned
 * first. */
static size_t find_start(const recorded_t *recorded, uint64_t to, bool from_first)
{
    size_t at = 0, before = 0, best = 0;
    const chunk_t *chunk;
    bool any = false, to_end = to == recorded->last;
    while ((chunk = recorded_next(recorded, &at)) != NULL) {
        if (chunk->kind == CHUNK_KEYFRAME && !(from_first && any) &&
            (chunk->moment < to ||
             (chunk->moment == to && (to_end || !any || (chunk->flags & CHUNK_BRING_BACK) == 0)))) {
            best = before;
            any = true;
        }
        before = at;
    }
    return best;
}

static bp_result_t read_names(playing_t *p, const chunk_t *chunk)
{
    reader_t reader = reader_of(chunk_bytes(chunk), (size_t)chunk->size);
    bp_result_t result = snapshot_read_names(p->parts->base, &reader);
    if (result == BP_OK && reader.failed)
        result = error_set(&p->parts->base->error, BP_ERROR_SYNTAX, "the names of the recording are damaged");
    return result;
}

/* Read a keyframe; its bytes are in `bytes`, which the caller frees after the snapshot, also after a failure. */
static bp_result_t open_keyframe(playing_t *p, const chunk_t *chunk, bytes_t *bytes, snapshot_t *snapshot)
{
    error_text_t *error = &p->parts->base->error;
    memory_t *memory = &p->history->memory;
    bytes_init(bytes, memory);
    if ((chunk->flags & CHUNK_DELTA) == 0)
        return snapshot_open(snapshot, memory, error, chunk_bytes(chunk), (size_t)chunk->size);
    bp_result_t result = recorded_keyframe(p->recorded, chunk, bytes, error);
    return result == BP_OK ? snapshot_open(snapshot, memory, error, bytes->start, bytes->size) : result;
}

static bp_result_t bring_back(playing_t *p, const chunk_t *chunk)
{
    snapshot_t snapshot;
    bytes_t bytes;
    const era_t *era = recorded_era(p->recorded, p->eras, chunk);
    bool astray = false;
    bp_result_t result = history_make_up(p->parts, p->eras, era, &astray);
    if (result != BP_OK)
        return result;
    result = open_keyframe(p, chunk, &bytes, &snapshot);
    if (result == BP_OK) {
        result = snapshot_restore(p->parts, &snapshot);
        snapshot_close(&snapshot);
        p->now = chunk->moment;
    }
    bytes_free(&bytes);
    return result;
}

/* Tell how the host differs from a keyframe. */
static bp_result_t tell_difference(playing_t *p, const chunk_t *chunk, const snapshot_t *now)
{
    error_text_t *error = &p->parts->base->error;
    snapshot_t then;
    bytes_t bytes;
    bytes_init(&bytes, &p->history->memory);
    if (p->playback != NULL && p->playback->differences != NULL &&
        open_keyframe(p, chunk, &bytes, &then) == BP_OK) {
        snapshot_diff(p->parts->base, &then, now, p->playback->differences);
        snapshot_close(&then);
    }
    bytes_free(&bytes);
    return error_set(error, BP_ERROR_FAILED,
                     "at moment %" PRIu64 " what is computed differs from what was recorded: hash %016" PRIx64
                     " in place of %016" PRIx64,
                     chunk->moment, snapshot_hash(now), chunk->hash);
}

static bp_result_t compare(playing_t *p, const chunk_t *chunk)
{
    bytes_t bytes;
    snapshot_t now;
    bytes_init(&bytes, &p->history->memory);
    bp_result_t result = snapshot_take(p->parts, &bytes);
    if (result == BP_OK)
        result = snapshot_open(&now, &p->history->memory, &p->parts->base->error, bytes.start, bytes.size);
    if (result == BP_OK) {
        if (snapshot_hash(&now) != chunk->hash)
            result = tell_difference(p, chunk, &now);
        snapshot_close(&now);
    }
    bytes_free(&bytes);
    return result;
}

/* Take one step; a lost step is passed over, since the next keyframe has the state behind it. */
static bp_result_t take_step(playing_t *p, uint32_t world, bool lost)
{
    bp_result_t result = lost ? BP_OK : p->history->step(p->history->context, world);
    if (lost)
        outside_end(&p->history->outside);
    if (result != BP_OK)
        return result;
    p->now++;
    if (!lost)
        tell_step(p);
    return BP_OK;
}

/* `lost`: the last of the steps is lost. */
static bp_result_t take_steps(playing_t *p, const chunk_t *chunk, bool lost)
{
    const chunk_steps_t *steps = chunk_bytes(chunk);
    size_t count = chunk->size / sizeof *steps;
    bp_result_t result = BP_OK;
    uint64_t skipped = p->now - chunk->moment; /* where playing begins in the middle of the chunk */
    for (size_t i = 0; i < count && result == BP_OK; i++) {
        if (steps[i].world != BP_NONE && steps[i].world >= p->parts->destruction->world_count)
            return error_set(&p->parts->base->error, BP_ERROR_STATE,
                             "moment %" PRIu64 ": the recorded host had a world more than this one", p->now);
        uint32_t first = skipped < steps[i].count ? (uint32_t)skipped : steps[i].count;
        skipped -= first;
        for (uint32_t k = first; k < steps[i].count && p->now < p->to && result == BP_OK; k++)
            result = take_step(p, steps[i].world, lost && i + 1 == count && k + 1 == steps[i].count);
    }
    return result;
}

/* Play one chunk, which ends at `at`; *over is set where the rest of the recording is not wanted. */
static bp_result_t play(playing_t *p, const chunk_t *chunk, size_t at, bool *over)
{
    bool to_end = p->to == p->recorded->last;
    bool lost = chunk->kind == CHUNK_KEYFRAME && (chunk->flags & CHUNK_LOST) != 0;
    bool comes = p->now < p->to || to_end || lost; /* calls from outside at this moment are to be made */
    bp_result_t result;
    switch (chunk->kind) {
    case CHUNK_NAMES: return read_names(p, chunk);
    case CHUNK_STEPS: return take_steps(p, chunk, recorded_lost(p->recorded, at));
    case CHUNK_CALLS:
        *over = !comes;
        return comes ? journal_make(p->parts, chunk_bytes(chunk), (size_t)chunk->size) : BP_OK;
    case CHUNK_KEYFRAME:
        if ((chunk->flags & CHUNK_BRING_BACK) == 0)
            return p->check ? compare(p, chunk) : BP_OK;
        *over = !comes;
        result = comes ? bring_back(p, chunk) : BP_OK;
        if (result == BP_OK && lost)
            tell_step(p);
        return result;
    default: return BP_OK;
    }
}

/* The moment at the end of a chunk. */
static uint64_t end_of(const chunk_t *chunk)
{
    const chunk_steps_t *steps = chunk_bytes(chunk);
    uint64_t moment = chunk->moment;
    for (size_t i = 0; chunk->kind == CHUNK_STEPS && i < chunk->size / sizeof *steps; i++)
        moment += steps[i].count;
    return moment;
}

/* Play from the moment at which the host is; the calls of that moment have not been made. */
static bp_result_t play_on(playing_t *p)
{
    const chunk_t *chunk;
    size_t at = 0;
    bool over = false;
    bp_result_t result = BP_OK;
    while (result == BP_OK && !over && (chunk = recorded_next(p->recorded, &at)) != NULL &&
           (chunk->kind == CHUNK_NAMES || chunk->moment <= p->to)) {
        bool gone = chunk->kind == CHUNK_STEPS ? end_of(chunk) <= p->now : chunk->moment < p->now;
        if (chunk->kind == CHUNK_NAMES || (chunk->kind != CHUNK_HEAD && !gone))
            result = play(p, chunk, at, &over);
    }
    return result;
}

static bp_result_t play_from(playing_t *p, size_t start)
{
    const chunk_t *chunk;
    size_t at = 0;
    bool over = false;
    bp_result_t result = BP_OK;
    while (result == BP_OK && at < start && (chunk = recorded_next(p->recorded, &at)) != NULL) {
        if (chunk->kind == CHUNK_NAMES)
            result = read_names(p, chunk);
    }
    chunk = recorded_next(p->recorded, &at);
    if (result == BP_OK)
        result = bring_back(p, chunk);
    while (result == BP_OK && !over && (chunk = recorded_next(p->recorded, &at)) != NULL &&
           (chunk->moment <= p->to))
        result = play(p, chunk, at, &over);
    return result;
}

bp_result_t playback_to(history_t *h, const recorded_t *recorded, const eras_t *eras, uint64_t to,
                        const bp_playback_i *playback)
{
    uint32_t flags = playback != NULL ? playback->flags : 0;
    bool here = (flags & BP_PLAY_HERE) != 0;
    error_text_t *error = &h->parts.base->error;
    if (to < recorded->first || to > recorded->last)
        return error_set(error, BP_ERROR_NOT_FOUND,
                         "moment %" PRIu64 " is not recorded; those from %" PRIu64 " to %" PRIu64 " are", to,
                         recorded->first, recorded->last);
    if (here && (playback->here < recorded->first || playback->here > to))
        return error_set(error, BP_ERROR_ARGUMENT, "moment %" PRIu64 " does not lie before moment %" PRIu64,
                         playback->here, to);
    bp_result_t result = snapshot_between(&h->parts);
    if (result != BP_OK)
        return result;
    playing_t p = {.history = h, .parts = &h->parts, .recorded = recorded, .eras = eras,
                   .playback = playback, .to = to};
    p.check = (flags & BP_PLAY_CHECK) != 0;
    p.now = here ? playback->here : 0;
    size_t refused = memory_refused(&h->parts.base->memory);
    h->going = *h->recomputing = true;
    result = here ? play_on(&p) : play_from(&p, find_start(recorded, to, (flags & BP_PLAY_ALL) != 0));
    if (result == BP_OK && memory_refused(&h->parts.base->memory) != refused)
        result = error_memory(error, "playing a recording"); /* a step in which memory lacked is another one */
    outside_end(&h->outside); /* a recording may be cut between what a step took from outside and the step */
    h->branch++;
    snapshot_tell(&h->parts);
    h->going = *h->recomputing = false;
    history_renew(h);
    return result == BP_OK || result == BP_ERROR_FAILED ? result
                                                        : error_prefix(error, result, "moment %" PRIu64 ": ", p.now);
}
