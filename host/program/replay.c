/* replay.c - `backplane replay` and `backplane bisect`: a recorded run computed again, and looked through.
 *
 * The recording says which ini it was made from; the host is set up from that, and then brought to where the recording
 * begins. The command prints the hash of the host at the end, which is the same on any machine and number of threads.
 */
#include "condition.h"
#include "json_output.h"
#include "output.h"
#include "program.h"
#include "writers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct replay_t {
    program_t program;
    bp_recording_t info;
    uint64_t from;
    uint64_t hash;
} replay_t;

static void show_step(void *context, uint64_t moment)
{
    replay_t *replay = context;
    progress_show(&replay->program.progress, moment - replay->from);
}

static bool take_hash(replay_t *replay)
{
    bp_snapshot_o *snapshot;
    if (bp_host_snapshot(replay->program.host, &snapshot) != BP_OK)
        return false;
    replay->hash = bp_snapshot_hash(snapshot, NULL);
    bp_snapshot_free(snapshot);
    return true;
}

static int print_as_json(const replay_t *replay, const arguments_t *arguments, uint64_t to)
{
    char hash[32];
    json_t *root = json_object();
    int bad = 0;
    snprintf(hash, sizeof hash, "%016" PRIx64, replay->hash);
    bad |= json_object_set_new(root, "backplane", json_output_text(BACKPLANE_VERSION));
    bad |= json_object_set_new(root, "recording", json_output_text(arguments->ini));
    bad |= json_object_set_new(root, "ini", json_output_text(replay->program.ini));
    bad |= json_object_set_new(root, "first", json_output_count(replay->info.first));
    bad |= json_object_set_new(root, "last", json_output_count(replay->info.last));
    bad |= json_object_set_new(root, "keyframes", json_output_count(replay->info.keyframes));
    bad |= json_object_set_new(root, "bytes", json_output_count(replay->info.bytes));
    bad |= json_object_set_new(root, "lost", json_output_count(replay->info.lost));
    bad |= json_object_set_new(root, "step", json_output_count(to));
    bad |= json_object_set_new(root, "hash", json_output_text(hash));
    bad |= json_object_set_new(root, "checked", json_boolean(arguments->check));
    return json_output_print(json_output_checked(root, bad));
}

static int print_for_people(const replay_t *replay, const arguments_t *arguments, uint64_t to)
{
    const bp_recording_t *info = &replay->info;
    printf("%s: steps %" PRIu64 " to %" PRIu64 "\n", arguments->ini, info->first, info->last);
    printf("step %" PRIu64 ": hash %016" PRIx64 "%s\n", to, replay->hash,
           arguments->check ? ", as recorded at each keyframe" : "");
    return STATUS_FINE;
}

static int play(replay_t *replay, bp_recording_o *recording, const arguments_t *arguments)
{
    const bp_playback_i playback = {.context = replay,
                                    .flags = arguments->check ? BP_PLAY_CHECK | BP_PLAY_ALL : 0u,
                                    .step = show_step,
                                    .differences = &program_differences};
    uint64_t to = arguments->has_to ? arguments->to : replay->info.last;
    bp_host_o *host = replay->program.host;
    if (replay->info.lost > 0)
        remark("%s: the last %" PRIu64 " bytes are not whole, and left out", arguments->ini, replay->info.lost);
    replay->from = replay->info.first;
    progress_begin(&replay->program.progress, to - (to < replay->from ? to : replay->from), !arguments->json);
    bp_result_t result = bp_recording_play(recording, to, &playback);
    progress_erase(&replay->program.progress);
    if (result != BP_OK || !take_hash(replay)) {
        complain("%s: %s", arguments->ini, bp_host_error(host));
        return result == BP_ERROR_NOT_FOUND ? STATUS_BAD_INPUT : STATUS_FAILED;
    }
    return arguments->json ? print_as_json(replay, arguments, to) : print_for_people(replay, arguments, to);
}

/* A host set up as the recorded one was, and its recording. Complains; where the status is not STATUS_FINE, nothing is
 * left to close. */
static int open_recorded(replay_t *replay, const char *file, const char *ini_of, bp_recording_o **recording)
{
    int status = program_create(&replay->program, file);
    if (status != STATUS_FINE)
        return status;
    bp_host_o *host = replay->program.host;
    if (bp_recording_open(host, file, recording) != BP_OK) {
        complain("%s", bp_host_error(host));
        return program_close(&replay->program, STATUS_BAD_INPUT);
    }
    bp_recording_info(*recording, &replay->info);
    const char *ini = ini_of != NULL ? ini_of : replay->info.origin;
    replay->program.ini = ini;
    if (bp_host_setup(host, ini) == BP_OK)
        return STATUS_FINE;
    complain("%s", bp_host_error(host));
    complain("%s was recorded from %s; where that lies elsewhere now, give --ini INI", file, replay->info.origin);
    bp_recording_close(*recording);
    return program_close(&replay->program, STATUS_BAD_INPUT);
}

int command_replay(const arguments_t *arguments)
{
    replay_t replay = {.info = {.struct_size = sizeof replay.info}};
    bp_recording_o *recording;
    int status = open_recorded(&replay, arguments->ini, arguments->ini_of, &recording);
    if (status != STATUS_FINE)
        return status;
    status = play(&replay, recording, arguments);
    bp_recording_close(recording);
    return program_close(&replay.program, status);
}

/* --- bisect ------------------------------------------------------------------------------------------------------- */

enum { STATES = 32, STATE_BYTES = 512 * 1024 * 1024 };

/* A state of the host on the way. */
typedef struct state_t {
    uint64_t moment;
    bp_snapshot_o *snapshot;
} state_t;

typedef struct bisecting_t {
    replay_t replay;
    bp_recording_o *recording;
    const char *file, *ini_of;
    char line[CONDITION_VALUE]; /* the condition */
    condition_t condition;
    state_t states[STATES + 2]; /* in the order of time */
    uint32_t state_count, most_states;
    uint64_t stride, now;     /* from state to state; the moment at which the host is */
    bool collects, watches, watching;
    uint64_t watch_from;
    writers_t writers;
} bisecting_t;

static void look_at_step(void *context, uint64_t moment);

static bool misused(void)
{
    complain("usage: backplane bisect FILE CONDITION [--ini INI]");
    return false;
}

static bool read_bisect(bisecting_t *b, int count, char **texts)
{
    size_t length = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(texts[i], "--ini") == 0) {
            if (++i == count)
                return misused();
            b->ini_of = texts[i];
        } else if (b->file == NULL) {
            b->file = texts[i];
        } else {
            length += (size_t)snprintf(b->line + length, sizeof b->line - length, "%s ", texts[i]);
            if (length >= sizeof b->line)
                return misused();
        }
    }
    return (b->file != NULL && length > 0) || misused();
}

static bool fails(const bisecting_t *b)
{
    complain("%s: %s", b->file, bp_host_error(b->replay.program.host));
    return false;
}

/* Bring a state back, into a host that is made of what it was made of then. */
static bp_result_t return_to(bisecting_t *b, const state_t *state)
{
    bp_result_t result = bp_recording_become(b->recording, state->moment);
    return result == BP_OK ? bp_host_bring_back(b->replay.program.host, state->snapshot) : result;
}

/* Bring the host to a moment after that of the state `from`, which is brought back first where the host is not there.
 * Complains. */
static bool play_on(bisecting_t *b, const state_t *from, uint64_t moment)
{
    bp_playback_i playback = {.struct_size = sizeof playback, .flags = BP_PLAY_HERE, .context = b};
    playback.here = from->moment;
    playback.step = look_at_step;
    bp_result_t result = b->now == from->moment ? BP_OK : return_to(b, from);
    if (result == BP_OK)
        result = bp_recording_play(b->recording, moment, &playback);
    b->now = moment;
    return result == BP_OK || fails(b);
}

static bool is_so(bisecting_t *b)
{
    char value[CONDITION_VALUE];
    bp_entity_t entity;
    return condition_holds(&b->replay.program, &b->condition, &entity, value);
}

/* Keep the state in which the host is. */
static bool keep_state(bisecting_t *b, uint64_t moment)
{
    state_t *state = &b->states[b->state_count];
    size_t size;
    if (bp_host_snapshot(b->replay.program.host, &state->snapshot) != BP_OK)
        return fails(b);
    bp_snapshot_bytes(state->snapshot, &size);
    b->most_states = STATE_BYTES / size < STATES ? (uint32_t)(STATE_BYTES / size) + 2 : STATES;
    state->moment = moment;
    b->state_count++;
    return true;
}

/* While the recording is computed once: keep a state now and then, to go on from later. While the step that is looked
 * for is taken: look at its units. */
static void look_at_step(void *context, uint64_t moment)
{
    bisecting_t *b = context;
    if (b->collects && b->state_count < b->most_states &&
        moment - b->states[b->state_count - 1].moment >= b->stride && moment < b->replay.info.last)
        b->collects = keep_state(b, moment);
    if (b->watches && moment == b->watch_from)
        b->watching = writers_begin(&b->writers, &b->replay.program, &b->condition);
}

/* Compute the whole recording once, from its first moment to its last. */
static bool compute_once(bisecting_t *b)
{
    const bp_recording_t *info = &b->replay.info;
    if (bp_recording_play(b->recording, info->first, NULL) != BP_OK)
        return fails(b);
    b->now = info->first;
    if (!keep_state(b, info->first))
        return false;
    b->stride = (info->last - info->first) / b->most_states + 1;
    b->collects = true;
    bool computed = play_on(b, &b->states[0], info->last);
    b->collects = false;
    return computed;
}

/* Take the step to `moment` once more, from a state before that step, and tell who writes the property there. */
static int tell_writers(bisecting_t *b, const state_t *from, uint64_t moment)
{
    b->watches = true;
    b->watch_from = moment - 1;
    if (from->moment == b->watch_from) {
        if (return_to(b, from) != BP_OK)
            return fails(b) ? STATUS_FINE : STATUS_FAILED;
        b->now = from->moment;
        look_at_step(b, from->moment);
    }
    bool played = play_on(b, from, moment), whole = b->watching && writers_end(&b->writers);
    if (played && whole)
        writers_print(&b->writers);
    if (b->watching)
        writers_free(&b->writers);
    if (played && !whole)
        complain("%s: out of memory", b->file);
    return played && whole ? STATUS_FINE : STATUS_FAILED;
}

/* The step at `moment`, where the host is, is the first at which it is so; `from` is a state before. */
static int tell_step(bisecting_t *b, const state_t *from, uint64_t moment)
{
    const program_t *program = &b->replay.program;
    char before[CONDITION_VALUE] = "";
    bp_entity_t entity = console_print_first(program, &b->condition, moment, b->replay.info.last);
    if (moment == b->replay.info.first) {
        console_print_before(before);
        return STATUS_FINE;
    }
    if (!play_on(b, from, moment - 1))
        return STATUS_FAILED;
    condition_holds_for(program, &b->condition, entity, before);
    console_print_before(before);
    return tell_writers(b, from, moment);
}

/* Between the state `from`, in which it is not so, and the moment `at`, at which it is: halve. A moment in between at
 * which it is not so yet becomes the state to go on from. */
static int halve(bisecting_t *b, state_t *from, uint64_t at)
{
    while (at - from->moment > 1) {
        uint64_t middle = from->moment + (at - from->moment) / 2;
        if (!play_on(b, from, middle))
            return STATUS_FAILED;
        if (is_so(b)) {
            at = middle;
            continue;
        }
        bp_snapshot_free(from->snapshot);
        from->snapshot = NULL;
        if (bp_host_snapshot(b->replay.program.host, &from->snapshot) != BP_OK)
            return fails(b) ? STATUS_FINE : STATUS_FAILED;
        from->moment = middle;
    }
    return play_on(b, from, at) ? tell_step(b, from, at) : STATUS_FAILED;
}

static bool is_so_in(bisecting_t *b, const state_t *state, bool *so)
{
    if (return_to(b, state) != BP_OK)
        return fails(b);
    b->now = state->moment;
    *so = is_so(b);
    return true;
}

static int look_for_step(bisecting_t *b)
{
    console_t console = {.program = &b->replay.program, .interactive = true};
    bool so;
    if (!condition_read(&console, "bisect", b->line, &b->condition))
        return STATUS_BAD_INPUT;
    if (!compute_once(b))
        return STATUS_FAILED;
    if (!is_so(b)) {
        char fault[512];
        const char *why = condition_fault(&b->replay.program, &b->condition, fault, sizeof fault);
        complain("%s: it is not so at the end, and so there is nothing to look for%s%s", b->file,
                 why != NULL ? ": " : "", why != NULL ? why : "");
        return STATUS_FAILED;
    }
    if (!is_so_in(b, &b->states[0], &so))
        return STATUS_FAILED;
    if (so)
        return tell_step(b, &b->states[0], b->replay.info.first);
    uint32_t before = 0, at = b->state_count;
    while (at - before > 1) {
        uint32_t middle = before + (at - before) / 2;
        if (!is_so_in(b, &b->states[middle], &so))
            return STATUS_FAILED;
        *(so ? &at : &before) = middle;
    }
    return halve(b, &b->states[before], at == b->state_count ? b->replay.info.last : b->states[at].moment);
}

int command_bisect(int count, char **texts)
{
    bisecting_t b = {.replay = {.info = {.struct_size = sizeof b.replay.info}}};
    if (!read_bisect(&b, count, texts))
        return STATUS_BAD_INPUT;
    int status = open_recorded(&b.replay, b.file, b.ini_of, &b.recording);
    if (status != STATUS_FINE)
        return status;
    status = look_for_step(&b);
    for (uint32_t i = 0; i < b.state_count; i++)
        bp_snapshot_free(b.states[i].snapshot);
    bp_recording_close(b.recording);
    return program_close(&b.replay.program, status);
}
