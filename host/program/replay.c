/* replay.c - a recorded run computed again: `backplane replay`; and `backplane bisect`, which finds the first step of a
 * condition that holds from then on.
 *
 * The recording names the ini that it was made from; the host is set up from that, and then brought to the beginning of
 * the recording. `replay` prints the hash of the host at the end, which is the same on any machine and number of
 * threads.
 *
 * `bisect` searches by halving in three ranges, each within the one before: the keyframes in the file, which costs no
 * steps; the steps between two of them, which are computed once, up to the first kept state at which the condition
 * holds; and the steps between two of these states. Only one state is kept at a time: the last at which the condition
 * does not hold. The unit that writes the property is found by taking that one step again, unit by unit (writers.h).
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
    bp_recording_t info; /* its struct_size is set before open_recording */
    uint64_t from;       /* the moment from which progress is counted */
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
    const bp_playback_i playback = {.struct_size = sizeof playback,
                                    .context = replay,
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

/* Set a host up as the recorded one was, by the ini that the recording names or by `ini_of` where that is not NULL, and
 * open its recording. Complains; where the status is not STATUS_FINE, nothing is left to close. */
static int open_recording(replay_t *replay, const char *file, const char *ini_of, bp_recording_o **recording)
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
    int status = open_recording(&replay, arguments->ini, arguments->ini_of, &recording);
    if (status != STATUS_FINE)
        return status;
    status = play(&replay, recording, arguments);
    bp_recording_close(recording);
    return program_close(&replay.program, status);
}

/* --- bisect ------------------------------------------------------------------------------------------------------- */

enum { STRETCHES = 16 }; /* of the steps between two keyframes: after each the condition is tested and a state kept */

typedef struct bisecting_t {
    replay_t replay;
    bp_recording_o *recording;
    const char *file, *ini_of;
    char line[CONDITION_VALUE]; /* the condition */
    condition_t condition;
    bp_snapshot_o *state;       /* the host at `moment`, where the condition does not hold; NULL: none is kept */
    uint64_t moment;
    uint64_t now;               /* the moment at which the host is */
    bool watches, watching;
    uint64_t watch_from;
    writers_t writers;
} bisecting_t;

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
        } else if (strncmp(texts[i], "--ini=", 6) == 0) {
            b->ini_of = texts[i] + 6;
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

static bool fails(bisecting_t *b)
{
    progress_erase(&b->replay.program.progress);
    complain("%s: %s", b->file, bp_host_error(b->replay.program.host));
    return false;
}

/* During the step that was found: watch its units. */
static void look_at_step(void *context, uint64_t moment)
{
    bisecting_t *b = context;
    progress_show(&b->replay.program.progress, moment - b->replay.from);
    if (b->watches && moment == b->watch_from)
        b->watching = writers_begin(&b->writers, &b->replay.program, &b->condition);
}

/* Bring the host to a moment from where it is, or from the nearest keyframe before that moment. Complains. */
static bool play_until(bisecting_t *b, uint64_t moment, bool here)
{
    const bp_playback_i playback = {.struct_size = sizeof playback,
                                    .flags = here ? BP_PLAY_HERE : 0,
                                    .context = b,
                                    .step = look_at_step,
                                    .here = b->now};
    bp_result_t result = bp_recording_play(b->recording, moment, &playback);
    b->now = moment;
    return result == BP_OK || fails(b);
}

/* Bring the state back, after giving the host the makeup of that moment. */
static bool return_to_state(bisecting_t *b)
{
    bp_result_t result = bp_recording_become(b->recording, b->moment);
    if (result == BP_OK)
        result = bp_host_bring_back(b->replay.program.host, b->state);
    b->now = b->moment;
    return result == BP_OK || fails(b);
}

/* Bring the host to a moment after that of the state, which is brought back first where the host is not there. */
static bool play_from_state(bisecting_t *b, uint64_t moment)
{
    return (b->now == b->moment || return_to_state(b)) && play_until(b, moment, true);
}

static bool is_so(bisecting_t *b)
{
    char value[CONDITION_VALUE];
    bp_entity_t entity;
    return condition_holds(&b->replay.program, &b->condition, &entity, value);
}

/* Keep the state in which the host is, in place of the one before. */
static bool keep_state(bisecting_t *b)
{
    bp_snapshot_free(b->state);
    b->state = NULL;
    b->moment = b->now;
    return bp_host_snapshot(b->replay.program.host, &b->state) == BP_OK || fails(b);
}

/* Compute the steps from the present moment, at which the condition does not hold, up to `to`. The last tested state at
 * which it does not hold is kept, and *at becomes the next tested moment; UINT64_MAX where it does not hold at the end.
 * `known`: it holds at `to`, so the walk ends at the first tested moment at which it holds. */
static bool walk(bisecting_t *b, uint64_t to, bool known, uint64_t *at)
{
    uint64_t stride = (to - b->now) / STRETCHES + 1;
    bool so = false;
    *at = UINT64_MAX;
    if (!keep_state(b))
        return false;
    while (b->now < to && !(so && known)) {
        if (!play_until(b, to - b->now < stride ? to : b->now + stride, true))
            return false;
        bool was = so;
        so = is_so(b);
        if (so && !was)
            *at = b->now;
        if (!so && !keep_state(b))
            return false;
    }
    *at = so ? *at : UINT64_MAX;
    return true;
}

/* Take the step to `moment` once more, from the state, which is before that step, and tell who writes the property. */
static int tell_writers(bisecting_t *b, uint64_t moment)
{
    b->watches = true;
    b->watch_from = moment - 1;
    if (b->now != b->moment && !return_to_state(b))
        return STATUS_FAILED;
    if (b->now == b->watch_from)
        look_at_step(b, b->now);
    bool played = play_from_state(b, moment), whole = b->watching && writers_end(&b->writers);
    if (played && whole)
        writers_print(&b->writers);
    if (b->watching)
        writers_free(&b->writers);
    if (played && !whole)
        complain("%s: out of memory", b->file);
    return played && whole ? STATUS_FINE : STATUS_FAILED;
}

/* The step at `moment`, where the host is, is the first at which the condition holds; the state is of the step before,
 * if there is one. */
static int tell_step(bisecting_t *b, uint64_t moment)
{
    const program_t *program = &b->replay.program;
    char before[CONDITION_VALUE] = "";
    progress_erase(&b->replay.program.progress);
    bp_entity_t entity = console_print_first(program, &b->condition, moment, b->replay.info.last);
    if (moment == b->replay.info.first) {
        console_print_before(before);
        return STATUS_FINE;
    }
    if (!play_from_state(b, moment - 1))
        return STATUS_FAILED;
    condition_holds_for(program, &b->condition, entity, before);
    progress_erase(&b->replay.program.progress);
    console_print_before(before);
    return tell_writers(b, moment);
}

/* Halve between the state, at which the condition does not hold, and the moment `at`, at which it holds. A moment in
 * between at which it does not hold becomes the new state. */
static int halve(bisecting_t *b, uint64_t at)
{
    while (at - b->moment > 1) {
        uint64_t middle = b->moment + (at - b->moment) / 2;
        if (!play_from_state(b, middle))
            return STATUS_FAILED;
        if (is_so(b))
            at = middle;
        else if (!keep_state(b))
            return STATUS_FAILED;
    }
    return play_from_state(b, at) ? tell_step(b, at) : STATUS_FAILED;
}

static int never_so(bisecting_t *b)
{
    char fault[512];
    const char *why = condition_fault(&b->replay.program, &b->condition, fault, sizeof fault);
    progress_erase(&b->replay.program.progress);
    complain("%s: it is not so at the end, and so there is nothing to look for%s%s", b->file, why != NULL ? ": " : "",
             why != NULL ? why : "");
    return STATUS_FAILED;
}

/* The condition holds at the keyframe `at`, or at the end, but not at the first keyframe: find the last keyframe before
 * at which it does not hold, and search the steps from there. */
static int look_between_keyframes(bisecting_t *b, uint32_t at)
{
    uint64_t so_from = bp_recording_keyframe(b->recording, at);
    uint32_t before = 0;
    while (at - before > 1) {
        uint32_t middle = before + (at - before) / 2;
        uint64_t moment = bp_recording_keyframe(b->recording, middle);
        if (!play_until(b, moment, false))
            return STATUS_FAILED;
        if (is_so(b)) {
            at = middle;
            so_from = moment;
        } else {
            before = middle;
        }
    }
    uint64_t moment = bp_recording_keyframe(b->recording, before);
    if (!play_until(b, moment, false) || !walk(b, so_from, true, &so_from))
        return STATUS_FAILED;
    if (so_from != UINT64_MAX)
        return halve(b, so_from);
    progress_erase(&b->replay.program.progress);
    complain("%s: it was so at a keyframe, and is not where the steps before are computed again; see `backplane "
             "replay %s --check`", b->file, b->file);
    return STATUS_FAILED;
}

/* First the steps behind the last keyframe, to find out whether the condition holds at the end. */
static int look_for_step(bisecting_t *b)
{
    const bp_recording_t *info = &b->replay.info;
    uint32_t last = info->keyframes - 1;
    uint64_t at;
    console_t console = {.program = &b->replay.program, .interactive = true};
    if (!condition_read(&console, "bisect", b->line, &b->condition))
        return STATUS_BAD_INPUT;
    b->replay.from = info->first;
    progress_begin(&b->replay.program.progress, info->last - info->first, true);
    if (!play_until(b, bp_recording_keyframe(b->recording, last), false))
        return STATUS_FAILED;
    bool so = is_so(b), walks = b->now < info->last;
    if (!walk(b, info->last, false, &at))
        return STATUS_FAILED;
    if (walks ? at == UINT64_MAX : !so)
        return never_so(b);
    if (!so || b->moment != bp_recording_keyframe(b->recording, last))
        return halve(b, at);
    if (!play_until(b, info->first, false))
        return STATUS_FAILED;
    return is_so(b) ? tell_step(b, info->first) : look_between_keyframes(b, last);
}

int command_bisect(int count, char **texts)
{
    bisecting_t b = {.replay = {.info = {.struct_size = sizeof b.replay.info}}};
    if (!read_bisect(&b, count, texts))
        return STATUS_BAD_INPUT;
    int status = open_recording(&b.replay, b.file, b.ini_of, &b.recording);
    if (status != STATUS_FINE)
        return status;
    status = look_for_step(&b);
    bp_snapshot_free(b.state);
    bp_recording_close(b.recording);
    return program_close(&b.replay.program, status);
}
