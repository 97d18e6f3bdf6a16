/* replay.c - `backplane replay`: a recorded run computed again.
 *
 * The recording says which ini it was made from; the host is set up from that, and then brought to where the recording
 * begins. The command prints the hash of the host at the end, which is the same on any machine and number of threads.
 */
#include "replay.h"

#include "json_output.h"
#include "output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

int replay_open(replay_t *replay, const char *file, const char *ini_of, bp_recording_o **recording)
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
    int status = replay_open(&replay, arguments->ini, arguments->ini_of, &recording);
    if (status != STATUS_FINE)
        return status;
    status = play(&replay, recording, arguments);
    bp_recording_close(recording);
    return program_close(&replay.program, status);
}
