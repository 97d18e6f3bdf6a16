/* test_eras.c - going back and forth across reloads, in the past that a host remembers and in recordings: each moment
 * with the code that was at work then. */
#include "../reload/reload_support.h"
#include "../suites.h"
#include "../system/calls.h"
#include "engine/host.h"
#include "history/recording.h"
#include "recall.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 60, ENTITIES = 5 };

/* ThreadSanitizer defers signals, so that a crash is not ended. */
#if defined(__SANITIZE_THREAD__)
#define DEFERS_SIGNALS 1
#else
#define DEFERS_SIGNALS 0
#endif

/* On Windows calls of the system cannot be made to fail. */
#ifdef _WIN32
enum { CALLS_FAIL = false };
#else
enum { CALLS_FAIL = true };
#endif

static const char file[] = TEST_SCRATCH_DIR "/eras_recording", cut[] = TEST_SCRATCH_DIR "/eras_cut";

/* A host with the plugin "recall" of recall.h and the plugin "probe", whose versions differ in fields, in systems and
 * in how instances are stored. */
static bp_entity_t entities[ENTITIES];

static bp_host_o *open_host_with(rig_t *rig, uint64_t budget, const char *fixture, uint32_t flags)
{
    return recall_open_probes(rig, (recall_probes_t){fixture, budget, 1, ENTITIES, flags}, entities);
}

static bp_host_o *open_host(rig_t *rig, uint64_t budget)
{
    return open_host_with(rig, budget, "reload_probe_first", 0);
}

static void reload(bp_host_o *host, const char *fixture)
{
    static const char *const names[] = {"probe"};
    put_plugin(fixture, "probe");
    WORKS(host, bp_host_reload(host, names, 1, NULL));
}

/* Steps with calls from outside, and with reloads at some of them. */
static void run(bp_host_o *host, uint64_t hashes[STEPS + 1], const char *const *fixtures, uint32_t fixture_count,
                uint64_t seed)
{
    hashes[0] = recall_hash(host);
    for (uint64_t i = 0; i < STEPS; i++) {
        if (i % 3 == 1)
            recall_act(host, i, seed);
        if (i % (STEPS / (fixture_count + 1)) == 7 && i / (STEPS / (fixture_count + 1)) < fixture_count)
            reload(host, fixtures[i / (STEPS / (fixture_count + 1))]);
        if (i % 3 == 2)
            recall_act(host, i, seed + 1);
        WORKS(host, bp_host_step(host));
        hashes[i + 1] = recall_hash(host);
    }
}

static void visit(uint64_t seed, const char *const *fixtures, uint32_t count, uint32_t threads)
{
    uint64_t hashes[STEPS + 1], without[STEPS + 1], random = seed;
    rig_t rig;
    bp_host_o *host = open_host(&rig, 0);
    run(host, without, fixtures, count, seed);
    recall_close(&rig);
    host = recall_open_probes(&rig, (recall_probes_t){"reload_probe_first", UINT64_C(1) << 30, threads, ENTITIES, 0},
                              entities);
    run(host, hashes, fixtures, count, seed);
    EXPECT(memcmp(hashes, without, sizeof hashes) == 0, "on %u threads, with a past, it goes another way", threads);
    bp_history_t h = recall_history(host);
    EXPECT(h.first == 0 && h.last == STEPS, "the past begins at %llu", (unsigned long long)h.first);
    for (uint32_t v = 0; v < 40; v++) {
        uint64_t moment = bp_random_below(&random, STEPS + 1);
        WORKS(host, bp_host_go(host, moment));
        EXPECT(recall_hash(host) == hashes[moment], "seed %llu, visit %u: moment %llu is not what it was",
               (unsigned long long)seed, v, (unsigned long long)moment);
        for (uint32_t along = bp_random_below(&random, 12); along > 0 && moment < STEPS; along--) {
            WORKS(host, bp_host_step(host));
            moment++;
            EXPECT(recall_hash(host) == hashes[moment], "seed %llu, visit %u: along to %llu it is not what it was",
                   (unsigned long long)seed, v, (unsigned long long)moment);
        }
    }
    recall_close(&rig);
}

/* Fields that come, go and change, and versions with storage of their own; on 1, 2 and 4 threads. */
static const char *const fixtures_of[][3] = {
    {"reload_probe_faster", "reload_probe_reshaped", "reload_probe_first"},
    {"reload_probe_own_kept", "reload_probe_faster", "reload_probe_own_kept"},
    {"reload_probe_reordered", "reload_probe_own_kept", "reload_probe_other_texts"},
};

#if defined(BACKPLANE_SANITIZED)
enum { VISITS = 3 };
#else
enum { VISITS = 9 };
#endif

START_TEST(each_moment_has_its_code)
{
    visit(21 + (uint64_t)_i, fixtures_of[_i % 3], 3, recall_threads[(_i + _i / 3) % 3]);
}
END_TEST

/* Each allocation of beginning to remember fails once: nothing is remembered then, or all, the code of the first moment
 * among it. */
START_TEST(a_past_begins_with_its_code_or_not_at_all)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, 0);
    uint32_t refused = 0;
    for (uint64_t k = 1; k < 2000; k++) {
        uint64_t before = rig.heap.refused;
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        bp_result_t result = bp_host_remember(host, UINT64_C(1) << 30);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        bool all = rig.heap.refused == before;
        refused += all ? 0 : 1;
        bp_history_t h = recall_history(host);
        EXPECT((result == BP_OK) == (h.budget > 0), "request %llu: it is remembered by half", (unsigned long long)k);
        if (result == BP_OK) {
            uint64_t then = recall_hash(host);
            reload(host, "reload_probe_reshaped");
            WORKS(host, bp_host_step(host));
            result = bp_host_go(host, h.now);
            bool copied = result == BP_OK || strstr(bp_host_error(host), "no copy could be kept") == NULL;
            EXPECT(!copied || recall_hash(host) == then, "request %llu: the first moment has other code: %s",
                   (unsigned long long)k, bp_host_error(host));
            WORKS(host, bp_host_remember(host, 0));
            reload(host, "reload_probe_first");
        }
        if (all)
            break;
    }
    EXPECT(refused > 10, "%u requests were refused", refused);
    recall_close(&rig);
}
END_TEST

/* --- in a recording ----------------------------------------------------------------------------------------------- */

/* Record steps with three reloads. */
static void record(uint64_t seed, const char *const *fixtures, uint64_t budget, uint64_t hashes[STEPS + 1])
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, budget);
    bp_host_record_every(host, seed % 2 == 0 ? 0 : 10000);
    WORKS(host, bp_host_record(host, file, "a test"));
    run(host, hashes, fixtures, 3, seed);
    WORKS(host, bp_host_record_end(host));
    recall_close(&rig);
}

/* Played by a host that has the first version, and by one that has the last. */
START_TEST(a_recording_has_the_code_of_each_moment)
{
    uint64_t hashes[STEPS + 1], seed = 31 + (uint64_t)_i, random = seed;
    const char *const *fixtures = fixtures_of[_i % 3];
    const bp_playback_i checked = {.struct_size = sizeof checked, .flags = BP_PLAY_CHECK | BP_PLAY_ALL};
    bp_recording_o *recording;
    rig_t rig;
    record(seed, fixtures, _i < 3 ? 0 : UINT64_C(1) << 30, hashes);
    bp_host_o *host = open_host_with(&rig, 0, _i % 2 == 0 ? "reload_probe_first" : fixtures[2], 0);
    WORKS(host, bp_recording_open(host, file, &recording));
    WORKS(host, bp_recording_play(recording, STEPS, &checked));
    EXPECT(recall_hash(host) == hashes[STEPS], "the end is another one");
    for (uint32_t v = 0; v < 25; v++) {
        uint64_t moment = bp_random_below(&random, STEPS + 1), on = moment + bp_random_below(&random, 20);
        bp_snapshot_o *snapshot;
        WORKS(host, bp_recording_play(recording, moment, v % 3 == 0 ? &checked : NULL));
        EXPECT(recall_hash(host) == hashes[moment], "moment %u is not what it was", (uint32_t)moment);
        if (moment == STEPS) /* what came from outside there has been done */
            continue;
        WORKS(host, bp_host_snapshot(host, &snapshot));
        WORKS(host, bp_recording_play(recording, bp_random_below(&random, STEPS), NULL));
        WORKS(host, bp_recording_become(recording, moment));
        WORKS(host, bp_host_bring_back(host, snapshot));
        const bp_playback_i here = {.struct_size = sizeof here, .flags = BP_PLAY_HERE, .here = moment};
        on = on > STEPS ? STEPS : on;
        WORKS(host, bp_recording_play(recording, on, &here));
        EXPECT(recall_hash(host) == hashes[on], "from %u to %u it is another one", (uint32_t)moment, (uint32_t)on);
        bp_snapshot_free(snapshot);
    }
    bp_recording_close(recording);
    recall_close(&rig);
}
END_TEST

/* A host that resumes goes on with the versions that were at work at the end, and may be reloaded in turn. */
START_TEST(a_resumed_recording_goes_on_with_the_code_of_its_end)
{
    uint64_t hashes[STEPS + 1], more[11];
    const char *const *fixtures = fixtures_of[_i];
    bp_recording_o *recording;
    rig_t rig;
    record(5, fixtures, 0, hashes);
    bp_host_o *host = open_host(&rig, 0);
    WORKS(host, bp_recording_open(host, file, &recording));
    WORKS(host, bp_recording_resume(recording));
    bp_recording_close(recording);
    EXPECT(recall_hash(host) == hashes[STEPS], "the end is another one");
    for (uint64_t i = 0; i < 10; i++) {
        if (i == 5)
            reload(host, "reload_probe_faster");
        recall_act(host, i, 3);
        WORKS(host, bp_host_step(host));
        more[i + 1] = recall_hash(host);
    }
    WORKS(host, bp_host_record_end(host));
    recall_close(&rig);
    host = open_host_with(&rig, 0, fixtures[1], 0);
    WORKS(host, bp_recording_open(host, file, &recording));
    for (uint64_t i = 10; i > 0; i--) {
        WORKS(host, bp_recording_play(recording, STEPS + i, NULL));
        EXPECT(recall_hash(host) == more[i], "moment %u is not what it was", (uint32_t)(STEPS + i));
    }
    WORKS(host, bp_recording_play(recording, 20, NULL));
    EXPECT(recall_hash(host) == hashes[20], "moment 20 is not what it was");
    bp_recording_close(recording);
    recall_close(&rig);
}
END_TEST

/* More comes at the moment of a reload, which is put down on its own: the keyframe in place of the reload's is the only
 * one from which the moments behind it can be computed with their code, and stays as that one did. */
START_TEST(the_keyframe_of_a_reload_stays_where_another_one_takes_its_place)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    for (uint32_t i = 0; i < 5; i++)
        WORKS(host, bp_host_step(host));
    reload(host, "reload_probe_faster");
    for (uint32_t i = 0; i < 2; i++) {
        WORKS(host, bp_host_go(host, 5)); /* what came is put down */
        const keyframe_t *keyframe = keyframes_touched(&host->history.keyframes, 5);
        EXPECT(keyframe != NULL && keyframe->stays, "the keyframe %s", keyframe == NULL ? "is not there" : "may go");
        bp_host_touched(host);
    }
    recall_close(&rig);
}
END_TEST

/* Where the chunk behind `at` ends, and of which kind it is. */
static size_t end_of_chunk(const char *bytes, size_t at, uint32_t *kind)
{
    chunk_t chunk;
    memcpy(&chunk, bytes + at, sizeof chunk);
    *kind = chunk.kind;
    return at + sizeof chunk + ((size_t)chunk.size + 15) / 16 * 16;
}

/* The host is killed after it has written its new code, and before the keyframe that is the first with it: a host that
 * resumes goes on with the code of before, and the file says so. */
START_TEST(a_recording_that_ends_with_code_goes_on_without_it)
{
    static const bp_playback_i checked = {.flags = BP_PLAY_CHECK | BP_PLAY_ALL};
    uint64_t hashes[STEPS + 1];
    enum { ROOM = 1 << 24, MORE = 8 };
    char *bytes = malloc(ROOM);
    uint32_t kind, cuts = 0;
    record(5, fixtures_of[_i], 0, hashes);
    FILE *in = fopen(file, "rb");
    ck_assert(bytes != NULL && in != NULL);
    size_t size = fread(bytes, 1, ROOM, in);
    ck_assert(size > 0 && size < ROOM);
    fclose(in);
    for (size_t at = 0; at < size;) {
        rig_t rig;
        bp_recording_o *recording;
        bp_recording_t info = {.struct_size = sizeof info};
        at = end_of_chunk(bytes, at, &kind);
        if (kind != CHUNK_PARTS)
            continue;
        FILE *out = fopen(cut, "wb");
        ck_assert(out != NULL && fwrite(bytes, 1, at, out) == at && fclose(out) == 0);
        bp_host_o *host = open_host(&rig, 0);
        WORKS(host, bp_recording_open(host, cut, &recording));
        bp_recording_info(recording, &info);
        uint64_t last = info.last;
        WORKS(host, bp_recording_resume(recording));
        bp_recording_close(recording);
        for (uint64_t i = 0; i < MORE; i++) {
            if (i == MORE / 2)
                reload(host, "reload_probe_reshaped");
            recall_act(host, i, 3);
            WORKS(host, bp_host_step(host));
        }
        uint64_t end = recall_hash(host);
        WORKS(host, bp_host_record_end(host));
        recall_close(&rig);
        host = open_host(&rig, 0);
        WORKS(host, bp_recording_open(host, cut, &recording));
        WORKS(host, bp_recording_play(recording, last + MORE, &checked));
        EXPECT(recall_hash(host) == end, "cut %u: the end is another one", cuts);
        WORKS(host, bp_recording_play(recording, last, NULL));
        WORKS(host, bp_recording_play(recording, last + MORE, NULL));
        EXPECT(recall_hash(host) == end, "cut %u: from a keyframe on the end is another one", cuts);
        bp_recording_close(recording);
        recall_close(&rig);
        cuts++;
    }
    ck_assert_uint_eq(cuts, 4); /* the code of the beginning, and of three reloads */
    free(bytes);
}
END_TEST

/* Cut anywhere, in the middle of a plugin's file too: good up to a moment. */
START_TEST(a_recording_with_code_may_be_cut_anywhere)
{
    uint64_t hashes[STEPS + 1], random = 8, most = 0;
    enum { ROOM = 1 << 24, CUTS = 60 };
    char *bytes = malloc(ROOM);
    rig_t rig;
    record(7, fixtures_of[0], 0, hashes);
    FILE *in = fopen(file, "rb");
    ck_assert(bytes != NULL && in != NULL);
    size_t size = fread(bytes, 1, ROOM, in);
    ck_assert(size > 0 && size < ROOM);
    fclose(in);
    for (uint32_t i = 0; i < CUTS; i++) {
        bp_recording_o *recording;
        bp_host_o *host = open_host(&rig, 0); /* a file without any reload is played by the version that is here */
        size_t length = bp_random_below(&random, (uint32_t)size);
        FILE *out = fopen(cut, "wb");
        ck_assert(out != NULL && fwrite(bytes, 1, length, out) == length && fclose(out) == 0);
        if (bp_recording_open(host, cut, &recording) != BP_OK) {
            recall_close(&rig);
            continue;
        }
        bp_recording_t info = {.struct_size = sizeof info};
        bp_recording_info(recording, &info);
        uint64_t moment = info.last > 0 ? info.last - 1 : 0;
        WORKS(host, bp_recording_play(recording, moment, NULL));
        EXPECT(recall_hash(host) == hashes[moment], "cut at %zu, moment %u is not what it was", length,
               (uint32_t)moment);
        most = moment > most ? moment : most;
        bp_recording_close(recording);
        recall_close(&rig);
    }
    EXPECT(most > 30, "no cut file was good beyond its beginning");
    free(bytes);
}
END_TEST

/* Each allocation fails once: played, or refused with a sentence, and played when there is memory again. */
START_TEST(no_memory_for_the_code_of_a_recording)
{
    uint64_t hashes[STEPS + 1], refused = 0;
    rig_t rig;
    record(9, fixtures_of[1], 0, hashes);
    bp_host_o *host = open_host(&rig, 0);
    for (uint64_t k = 1; k < 20000; k += 1 + k / 30) {
        bp_recording_o *recording = NULL;
        uint64_t before = rig.heap.refused;
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        bp_result_t result = bp_recording_open(host, file, &recording);
        if (result == BP_OK)
            result = bp_recording_play(recording, 40, NULL);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        EXPECT(result == BP_OK || bp_host_error(host)[0] != '\0', "it fails without a word");
        if (recording == NULL)
            WORKS(host, bp_recording_open(host, file, &recording));
        WORKS(host, bp_recording_play(recording, 40, NULL));
        EXPECT(recall_hash(host) == hashes[40], "request %u: moment 40 is not what it was", (uint32_t)k);
        bp_recording_close(recording);
        refused += rig.heap.refused != before;
        if (rig.heap.refused == before)
            break;
    }
    EXPECT(refused > 40, "%u requests were refused", (uint32_t)refused);
    recall_close(&rig);
}
END_TEST

/* The host that plays has another list of plugins. */
START_TEST(a_recording_with_code_needs_the_plugins_that_it_was_made_with)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin};
    uint64_t hashes[STEPS + 1];
    bp_recording_o *recording;
    rig_t rig;
    record(11, fixtures_of[0], 0, hashes);
    rig_open_with(&rig, plugins, 1);
    recall_open(rig.host);
    WORKS(rig.host, bp_recording_open(rig.host, file, &recording));
    FAILS(rig.host, BP_ERROR_STATE, "the recorded host had the plugin 'probe' at place 2, and this one has not",
          bp_recording_play(recording, STEPS, NULL));
    bp_recording_close(recording);
    recall_close(&rig);
}
END_TEST

/* --- in the past that a host remembers ---------------------------------------------------------------------------- */

/* Systems that are dropped and come again, in the order of then. */
START_TEST(each_moment_has_its_systems)
{
    uint64_t hashes[41], random = 5;
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    bp_world_o *world = rig.api->world->at(host, 0);
    hashes[0] = recall_hash(host);
    for (uint64_t i = 0; i < 40; i++) {
        if (i == 11)
            WORKS(host, bp_world_drop_system(world, "watcher"));
        if (i == 14)
            WORKS(host, bp_world_drop_system(world, "reader"));
        if (i == 25)
            WORKS(host, bp_world_use_system(world, "watcher"));
        if (i == 33) { /* it begins anew, and there are as many systems as before */
            WORKS(host, bp_world_drop_system(world, "watcher"));
            WORKS(host, bp_world_use_system(world, "watcher"));
        }
        recall_act(host, i, 8);
        WORKS(host, bp_host_step(host));
        hashes[i + 1] = recall_hash(host);
    }
    EXPECT(recall_history(host).first == 0, "the past began anew");
    for (uint32_t v = 0; v < 60; v++) {
        uint64_t moment = bp_random_below(&random, 41);
        WORKS(host, bp_host_go(host, moment));
        EXPECT(recall_hash(host) == hashes[moment], "moment %llu is not what it was", (unsigned long long)moment);
    }
    recall_close(&rig);
}
END_TEST

/* A version that is taken back is one more change: later moments have the version before it again. */
START_TEST(a_version_that_is_taken_back_is_not_at_work_later)
{
    uint64_t hashes[31], random = 9;
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    host->reload.probation_steps = 20;
    hashes[0] = recall_hash(host);
    for (uint64_t i = 0; i < 30; i++) {
        if (i == 10)
            reload(host, "reload_probe_faster");
        if (i == 16)
            WORKS(host, host_take_versions_back(host));
        recall_act(host, i, 8);
        WORKS(host, bp_host_step(host));
        hashes[i + 1] = recall_hash(host);
    }
    EXPECT(recall_history(host).first == 0, "the past began anew");
    for (uint32_t v = 0; v < 40; v++) {
        uint64_t moment = bp_random_below(&random, 31);
        WORKS(host, bp_host_go(host, moment));
        EXPECT(recall_hash(host) == hashes[moment], "moment %llu is not what it was", (unsigned long long)moment);
    }
    recall_close(&rig);
}
END_TEST

/* A version that aborts in a step is set aside by the guard, and the version before it comes back: the moment right
 * behind that step is there as well as those after it, though its step ends in a crash whenever it is computed. */
START_TEST(the_step_in_which_a_version_has_crashed_can_be_gone_to)
{
    uint64_t hashes[21], random = 5;
    rig_t rig;
    bp_host_o *host = open_host_with(&rig, UINT64_C(1) << 30, "reload_probe_first", BP_HOST_CRASH_GUARD);
    host->reload.probation_steps = 20;
    if (_i == 1)
        bp_host_keyframe_every(host, 0);
    hashes[0] = recall_hash(host);
    for (uint64_t i = 0; i < 20; i++) {
        if (i == 10)
            reload(host, "reload_probe_crashes");
        WORKS(host, bp_host_step(host));
        hashes[i + 1] = recall_hash(host);
    }
    EXPECT(strstr(rig.log.text, "has crashed on probation") != NULL, "no crash: %s", rig.log.text);
    for (uint32_t v = 0; v < 60; v++) {
        uint64_t moment = bp_random_below(&random, 21);
        WORKS(host, bp_host_go(host, moment));
        EXPECT(recall_hash(host) == hashes[moment], "moment %llu is not what it was", (unsigned long long)moment);
        for (uint32_t along = bp_random_below(&random, 8); along > 0 && moment < 20; along--) {
            WORKS(host, bp_host_step(host)); /* and crashes, where it did then */
            moment++;
            EXPECT(recall_hash(host) == hashes[moment], "along to %llu it is not what it was",
                   (unsigned long long)moment);
        }
    }
    WORKS(host, bp_host_go(host, 5));
    WORKS(host, rig.api->property->set_named(rig.api->world->at(host, 0), entities[0], "probe", "count", BP_I32,
                                             &(int32_t){77})); /* another future: the one with the crash is a branch */
    WORKS(host, bp_host_step(host));
    bp_branch_t branch = {.struct_size = sizeof branch};
    EXPECT(bp_host_branch_at(host, 0, &branch) != 0 && branch.last == 20, "no branch is kept");
    WORKS(host, bp_host_branch_to(host, branch.number));
    EXPECT(recall_hash(host) == hashes[20], "the end of the branch is not what it was");
    for (uint64_t moment = 20; moment > 0; moment--) {
        WORKS(host, bp_host_go(host, moment));
        EXPECT(recall_hash(host) == hashes[moment], "back on the branch moment %u is not what it was",
               (uint32_t)moment);
    }
    recall_close(&rig);
}
END_TEST

/* Another future that begins right behind such a step has that moment as the host went on from it: the version that was
 * there before, and the state after the crash. */
START_TEST(another_future_begins_behind_the_step_in_which_a_version_has_crashed)
{
    enum { BEHIND = PROBE_CRASH_STEP + 1, END = 30 };
    uint64_t hashes[END + 1], random = 5;
    rig_t rig;
    bp_host_o *host = open_host_with(&rig, UINT64_C(1) << 30, "reload_probe_first", BP_HOST_CRASH_GUARD);
    host->reload.probation_steps = 20;
    if (_i % 2 == 1)
        bp_host_keyframe_every(host, 0);
    hashes[0] = recall_hash(host);
    for (uint64_t i = 0; i < END; i++) {
        if (i == 10)
            reload(host, "reload_probe_crashes");
        WORKS(host, bp_host_step(host));
        hashes[i + 1] = recall_hash(host);
        EXPECT((strstr(rig.log.text, "has crashed on probation") != NULL) == (i + 1 >= BEHIND), "step %u", (uint32_t)i);
    }
    WORKS(host, bp_host_go(host, BEHIND));
    EXPECT(recall_hash(host) == hashes[BEHIND], "the moment behind the crash is not what it was");
    if (_i < 2)
        WORKS(host, rig.api->property->set_named(rig.api->world->at(host, 0), entities[0], "probe", "count", BP_I32,
                                                 &(int32_t){77}));
    else
        WORKS(host, bp_host_branch_off(host));
    for (uint64_t i = BEHIND; i < END; i++) {
        WORKS(host, bp_host_step(host));
        hashes[i + 1] = recall_hash(host);
    }
    for (uint32_t v = 0; v < 60; v++) {
        uint64_t moment = bp_random_below(&random, END);
        moment += moment >= BEHIND; /* which has the call, or not, as it is gone to */
        WORKS(host, bp_host_go(host, moment));
        EXPECT(recall_hash(host) == hashes[moment], "visit %u: moment %llu is not what it was", v,
               (unsigned long long)moment);
    }
    recall_close(&rig);
}
END_TEST

/* Without a version to come back the plugin is set aside, and its state is not kept. The past before the crash is
 * there; the moments after it have the plugin set aside again, and the present is one of these. */
START_TEST(a_host_with_a_crashed_plugin_goes_back_to_before_the_crash)
{
    uint64_t hashes[PROBE_CRASH_STEP + 1];
    rig_t rig;
    bp_host_o *host = open_host_with(&rig, UINT64_C(1) << 30, "reload_probe_first", BP_HOST_CRASH_GUARD);
    host->reload.probation_steps = 0;
    reload(host, "reload_probe_crashes");
    hashes[0] = recall_hash(host);
    for (uint64_t i = 0; i < 16; i++) {
        WORKS(host, bp_host_step(host));
        if (i < PROBE_CRASH_STEP)
            hashes[i + 1] = recall_hash(host);
    }
    for (uint64_t moment = PROBE_CRASH_STEP; moment > 0; moment--) {
        WORKS(host, bp_host_go(host, moment));
        EXPECT(recall_hash(host) == hashes[moment], "moment %llu is not what it was", (unsigned long long)moment);
        ck_assert_ptr_null(bp_host_plugin_crash(host, 1));
        WORKS(host, bp_host_go(host, 13 + moment % 4));
        ck_assert_ptr_nonnull(bp_host_plugin_crash(host, 1));
    }
    WORKS(host, bp_host_go(host, 4));
    reload(host, "reload_probe_faster"); /* another future, in which nothing crashes */
    for (uint64_t i = 0; i < 16; i++)
        WORKS(host, bp_host_step(host));
    EXPECT(recall_history(host).last == 20 && recall_history(host).branches == 1, "another future was begun");
    WORKS(host, bp_host_go(host, 3));
    EXPECT(recall_hash(host) == hashes[3], "moment 3 is not what it was");
    recall_close(&rig);
}
END_TEST

/* The host is killed after it has written the step in which a version crashed, or the version before that is at work
 * again, and before the keyframe behind that step: the file ends before the step, which can be computed no more. */
START_TEST(a_recording_does_not_end_with_a_step_in_which_a_version_has_crashed)
{
    enum { END = 20, CRASHED = PROBE_CRASH_STEP + 1, ROOM = 1 << 24 };
    uint64_t hashes[END + 1];
    uint32_t kind, cuts = 0;
    rig_t rig;
    char *bytes = malloc(ROOM);
    bp_host_o *host = open_host_with(&rig, 0, "reload_probe_first", BP_HOST_CRASH_GUARD);
    host->reload.probation_steps = END;
    WORKS(host, bp_host_record(host, file, "a test"));
    for (uint64_t i = 0; i < END; i++) {
        if (i == 10)
            reload(host, "reload_probe_crashes");
        hashes[i] = recall_hash(host);
        WORKS(host, bp_host_step(host));
    }
    EXPECT(strstr(rig.log.text, "has crashed on probation") != NULL, "no crash: %s", rig.log.text);
    WORKS(host, bp_host_record_end(host));
    recall_close(&rig);
    FILE *in = fopen(file, "rb");
    ck_assert(bytes != NULL && in != NULL);
    size_t size = fread(bytes, 1, ROOM, in);
    fclose(in);
    for (size_t at = 0; at < size;) {
        bp_recording_o *recording;
        bp_recording_t info = {.struct_size = sizeof info};
        chunk_t chunk = {.kind = 0};
        at = end_of_chunk(bytes, at, &kind);
        if (at < size)
            memcpy(&chunk, bytes + at, sizeof chunk);
        if (at == size || chunk.moment != CRASHED || kind == CHUNK_KEYFRAME || chunk.kind == CHUNK_STEPS)
            continue; /* the cut is not between the step and its keyframe */
        FILE *out = fopen(cut, "wb");
        ck_assert(out != NULL && fwrite(bytes, 1, at, out) == at && fclose(out) == 0);
        host = open_host(&rig, 0);
        WORKS(host, bp_recording_open(host, cut, &recording));
        bp_recording_info(recording, &info);
        EXPECT(info.last == CRASHED - 1 && info.lost > 0, "cut %u: it ends with moment %u", cuts, (uint32_t)info.last);
        WORKS(host, bp_recording_resume(recording));
        EXPECT(recall_hash(host) == hashes[info.last], "cut %u: the end is another one", cuts);
        bp_recording_close(recording);
        reload(host, "reload_probe_faster"); /* which does not crash */
        WORKS(host, bp_host_step(host));
        uint64_t end = recall_hash(host);
        WORKS(host, bp_host_record_end(host));
        recall_close(&rig);
        host = open_host(&rig, 0);
        WORKS(host, bp_recording_open(host, cut, &recording));
        WORKS(host, bp_recording_play(recording, CRASHED, NULL));
        EXPECT(recall_hash(host) == end, "cut %u: what was recorded behind it is another one", cuts);
        bp_recording_close(recording);
        recall_close(&rig);
        cuts++;
    }
    EXPECT(cuts > 0, "no place to cut");
    free(bytes);
}
END_TEST

/* What is played has a guard or not: the step that ended in a crash is not computed. */
START_TEST(a_recording_with_a_crash_on_probation_is_played_without_it)
{
    enum { END = 20, CRASHED = PROBE_CRASH_STEP + 1 };
    const bp_playback_i all = {.struct_size = sizeof all, .flags = BP_PLAY_CHECK | BP_PLAY_ALL};
    uint64_t hashes[END + 1], more[6];
    bp_recording_o *recording;
    rig_t rig;
    bp_host_o *host = open_host_with(&rig, _i % 2 == 0 ? 0 : UINT64_C(1) << 30, "reload_probe_first",
                                     BP_HOST_CRASH_GUARD);
    host->reload.probation_steps = END;
    bp_host_record_every(host, _i < 2 ? 0 : 10000);
    WORKS(host, bp_host_record(host, file, "a test"));
    hashes[0] = recall_hash(host);
    for (uint64_t i = 0; i < END; i++) {
        if (i == 10)
            reload(host, "reload_probe_crashes");
        if (i != CRASHED) /* what comes then is part of the moment */
            recall_act(host, i, 8);
        WORKS(host, bp_host_step(host));
        hashes[i + 1] = recall_hash(host);
    }
    EXPECT(strstr(rig.log.text, "has crashed on probation") != NULL, "no crash: %s", rig.log.text);
    WORKS(host, bp_host_record_end(host));
    recall_close(&rig);
    host = open_host(&rig, 0);
    WORKS(host, bp_recording_open(host, file, &recording));
    WORKS(host, bp_recording_play(recording, END, &all));
    for (uint64_t moment = 0; moment < END; moment++) {
        bp_snapshot_o *snapshot;
        WORKS(host, bp_recording_play(recording, moment, moment % 2 == 1 ? &all : NULL));
        EXPECT(recall_hash(host) == hashes[moment], "moment %u is not what it was", (uint32_t)moment);
        WORKS(host, bp_host_snapshot(host, &snapshot));
        WORKS(host, bp_recording_play(recording, END - moment, NULL));
        WORKS(host, bp_recording_become(recording, moment));
        ck_assert_str_eq(bp_host_plugin(host, 1, NULL)->desc->version, moment > 10 && moment < CRASHED ? "15" : "1");
        WORKS(host, bp_host_bring_back(host, snapshot));
        const bp_playback_i here = {.struct_size = sizeof here, .flags = BP_PLAY_HERE, .here = moment};
        WORKS(host, bp_recording_play(recording, END, &here));
        EXPECT(recall_hash(host) == hashes[END], "from %u to the end it is another one", (uint32_t)moment);
        bp_snapshot_free(snapshot);
    }
    EXPECT(bp_recording_cut(recording, CRASHED) == CRASHED, "cut");
    WORKS(host, bp_recording_resume(recording));
    bp_recording_close(recording);
    EXPECT(recall_hash(host) == hashes[CRASHED], "it goes on from another moment");
    for (uint64_t i = 0; i < 5; i++) {
        WORKS(host, bp_host_step(host));
        more[i + 1] = recall_hash(host);
    }
    WORKS(host, bp_host_record_end(host));
    WORKS(host, bp_recording_open(host, file, &recording));
    WORKS(host, bp_recording_play(recording, CRASHED + 5, &all));
    EXPECT(recall_hash(host) == more[5], "what was recorded behind the crash is another one");
    bp_recording_close(recording);
    recall_close(&rig);
}
END_TEST

/* A world, or a plugin, goes, and before the next step another one takes its place that looks the same: nothing of the
 * past can be brought back into it. */
START_TEST(what_takes_the_place_of_a_part_has_no_past)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "extra"});
    for (uint64_t moment = 4; moment <= 40; moment += 4) {
        for (uint32_t i = 0; i < 4; i++)
            WORKS(host, bp_host_step(host));
        if (moment % 8 == 0) {
            bp_world_destroy(world);
            world = bp_world_create(host, &(bp_world_desc_t){.name = "extra"});
        } else {
            const char *crier = put_plugin("crier_first", "crier");
            WORKS(host, bp_host_load_plugin(host, crier, NULL, 0));
            WORKS(host, bp_host_step(host));
            WORKS(host, bp_host_unload_plugin(host, "crier"));
            WORKS(host, bp_host_load_plugin(host, crier, NULL, 0));
        }
        uint64_t now = recall_history(host).now;
        WORKS(host, bp_host_step(host));
        EXPECT(recall_history(host).first == now, "the past begins with moment %llu, and not %llu",
               (unsigned long long)recall_history(host).first, (unsigned long long)now);
        if (moment % 8 != 0)
            WORKS(host, bp_host_unload_plugin(host, "crier"));
    }
    recall_close(&rig);
}
END_TEST

/* Each allocation on the way over a reload fails once: the host is there, or where it was. */
START_TEST(the_present_is_never_lost_over_a_reload)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    uint64_t hashes[13] = {0}, refused = 0;
    for (uint64_t i = 0; i < 12; i++) {
        if (i == 6)
            reload(host, "reload_probe_own_kept");
        recall_act(host, i, 3);
        WORKS(host, bp_host_step(host));
        hashes[i + 1] = recall_hash(host);
    }
    for (uint64_t k = 1; k < 20000; k += 1 + k / 40) {
        uint64_t before = rig.heap.refused, now = recall_history(host).now, to = now == 12 ? 4 : 12;
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        bp_result_t result = bp_host_go(host, to);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        uint64_t expected = hashes[result == BP_OK ? to : now];
        EXPECT(recall_hash(host) == expected, "request %llu: neither here nor there: %s", (unsigned long long)k,
               bp_host_error(host));
        EXPECT(result == BP_OK || bp_host_error(host)[0] != '\0', "it fails without a word");
        refused += rig.heap.refused != before;
        if (rig.heap.refused == before)
            break;
    }
    EXPECT(refused > 40, "%llu requests were refused", (unsigned long long)refused);
    recall_close(&rig);
}
END_TEST

/* The versions of then are those of then, whatever lies at the plugin's path, and also where plugins are opened in
 * place. */
START_TEST(files_of_now_are_no_matter)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    WORKS(host, bp_host_step(host));
    reload(host, "reload_probe_reordered");
    uint64_t then = recall_hash(host);
    WORKS(host, bp_host_step(host));
    put_plugin("refuses", "probe");
    WORKS(host, bp_host_go(host, 0));
    ck_assert_str_eq(bp_host_plugin(host, 1, NULL)->name, "probe");
    bp_world_o *world = rig.api->world->at(host, 0);
    int32_t extra = 0;
    FAILS(host, BP_ERROR_NOT_FOUND, "extra",
          rig.api->property->get_named(world, entities[0], "probe", "extra", BP_I32, &extra));
    WORKS(host, bp_host_go(host, 2));
    WORKS(host, rig.api->property->get_named(world, entities[0], "probe", "extra", BP_I32, &extra));
    EXPECT(extra == 7 && recall_hash(host) != then, "the version of then");
    reload(host, "reload_probe_first"); /* a reload in the present, after all that going */
    WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_go(host, 1));
    reload(host, "reload_probe_faster"); /* and one in the past: another future */
    EXPECT(recall_history(host).last == 1, "a reload in the past begins another future");
    WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_go(host, 0));
    recall_close(&rig);
}
END_TEST

/* Begin to fail: the request for memory with this number, or the opening of a file. */
static void begin_to_fail(rig_t *rig, uint32_t nth, bool opening)
{
    (void)opening;
#ifndef _WIN32
    if (opening) {
        calls_begin_coded("open", nth, false, EACCES);
        return;
    }
#endif
    rig->heap.refuse_first = rig->heap.refuse_last = rig->heap.requests + nth;
}

/* Returns whether it has failed. */
static bool end_failing(rig_t *rig, uint64_t refused_before, bool opening)
{
    (void)opening;
    rig->heap.refuse_first = rig->heap.refuse_last = 0;
#ifndef _WIN32
    if (opening) {
        calls_end();
        return calls_failed() > 0;
    }
#endif
    return rig->heap.refused > refused_before;
}

/* Each request for memory on the way to another version fails in turn, or (_i == 1) each file that is opened: the host
 * stays where it is and says so, or it does without. */
START_TEST(a_version_of_then_that_cannot_come_is_told)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    uint64_t then = recall_hash(host);
    WORKS(host, bp_host_step(host));
    reload(host, "reload_probe_faster");
    WORKS(host, bp_host_step(host));
    uint64_t now = recall_hash(host);
    bool failed = true;
    uint32_t told = 0;
    for (uint32_t nth = 1; failed; nth++) {
        uint64_t before = rig.heap.refused;
        begin_to_fail(&rig, nth, _i == 1);
        bp_result_t result = bp_host_go(host, 0);
        failed = end_failing(&rig, before, _i == 1);
        EXPECT(recall_hash(host) == (result == BP_OK ? then : now), "%u: it is neither here nor there", nth);
        told += result != BP_OK && strncmp(bp_host_error(host), "the versions of then: ", 22) == 0;
        if (result == BP_OK)
            WORKS(host, bp_host_go(host, 2));
    }
    ck_assert_uint_gt(told, 0);
    recall_close(&rig);
}
END_TEST

/* A reference numbers fields as the version does that is at work when it is resolved, also where its rows lie in memory
 * that was those of others, in a future that was left before the versions changed. */
START_TEST(references_into_rows_that_come_back_after_a_change_of_version_stay_with_their_field)
{
    enum { MASS = 6, MORE = 200 };
    rig_t rig;
    bp_entity_t body, marked, more[MORE];
    float mass = 3;
    bp_host_o *host = open_host(&rig, 0);
    bp_world_o *world = rig.api->world->at(host, 0);
    WORKS(host, bp_world_drop_system(world, "scribe")); /* output, for which each step on the way forward is taken */
    bp_host_keyframe_every(host, 0);
    WORKS(host, bp_host_remember(host, UINT64_C(1) << 30));
    WORKS(host, bp_host_step(host));
    WORKS(host, rig.api->world->create(world, prototype_of(world, "body", NULL, NULL, NULL), &body, 1));
    WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_go(host, 1));
    WORKS(host, bp_host_branch_off(host));
    WORKS(host, bp_host_step(host));
    reload(host, "reload_probe_reordered");
    WORKS(host, bp_host_step(host));
    uint32_t prototype = prototype_of(world, "probe", "mark", NULL, NULL);
    WORKS(host, rig.api->world->create(world, prototype, &marked, 1));
    WORKS(host, rig.api->property->set_named(world, marked, "probe", "mass", BP_F32, &mass));
    for (uint64_t i = 0; i < 4; i++)
        WORKS(host, bp_host_step(host));
    for (uint64_t i = 0; i < 20; i++)
        WORKS(host, bp_host_go(host, i % 2)); /* the rows of the probes come and go */
    WORKS(host, bp_host_go(host, 6));
    bp_ref_t ref = {.entity = marked, .field = key_of(world, "probe", "") << 8 | MASS};
    const float *value = rig.api->world->ref(world, &ref);
    ck_assert(value != NULL && *value == 3);
    WORKS(host, rig.api->world->create(world, prototype, more, MORE)); /* rows move */
    value = bp_ref_get(rig.api->world, world, &ref);
    ck_assert_msg(value != NULL && *value == 3, "the reference is to %s", value == NULL ? "nothing" : "another field");
    recall_close(&rig);
}
END_TEST

/* A plugin that was opened in place, and whose file is another one since: remembering works, and says what is
 * missing. */
START_TEST(a_version_without_a_copy_is_told_of_when_remembering_begins)
{
    rig_t rig;
    rig_init(&rig);
    rig_open(&rig);
    bp_host_o *host = rig.host;
    WORKS(host, bp_host_load_plugin(host, put_plugin("reload_probe_first", "probe"), NULL, 0));
    put_plugin("reload_probe_faster", "probe");
    WORKS(host, bp_host_remember(host, UINT64_C(1) << 30));
    EXPECT(strstr(rig.log.text, "the file of plugin 'probe' could not be copied (it has been overwritten since it was "
                                "opened): once the plugin has another version, there is no going back to this one") !=
               NULL, "the log says: %s", rig.log.text);
    recall_close(&rig);
}
END_TEST

#ifndef _WIN32
/* A version's file is copied when the host is made of other versions next, where that could not be done when
 * remembering began. */
START_TEST(a_file_that_could_not_be_copied_is_copied_later)
{
    static const char *const keeper[] = {"keeper"};
    rig_t rig;
    bp_host_o *host = open_host_with(&rig, 0, "reload_probe_first", 0);
    WORKS(host, bp_host_load_plugin(host, put_plugin("keeper", "keeper"), NULL, 0));
    for (uint32_t nth = 1; strstr(rig.log.text, "the file of plugin 'probe' could not be copied") == NULL; nth++) {
        ck_assert_uint_lt(nth, 100);
        calls_begin_coded("open", nth, false, EACCES);
        WORKS(host, bp_host_remember(host, UINT64_C(1) << 30));
        calls_end();
    }
    uint64_t then = recall_hash(host);
    WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_reload(host, keeper, 1, NULL));
    WORKS(host, bp_host_step(host));
    reload(host, "reload_probe_faster");
    WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_go(host, recall_history(host).first));
    EXPECT(recall_hash(host) == then, "the version of then");
    recall_close(&rig);
}
END_TEST
#endif

Suite *eras_suite(void)
{
    Suite *suite = suite_create("eras");
    TCase *tcase = tcase_create("eras");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, each_moment_has_its_code, 0, VISITS);
    tcase_add_test(tcase, a_past_begins_with_its_code_or_not_at_all);
    tcase_add_loop_test(tcase, a_recording_has_the_code_of_each_moment, 0, 6);
    tcase_add_loop_test(tcase, a_resumed_recording_goes_on_with_the_code_of_its_end, 0, 3);
    tcase_add_test(tcase, a_recording_with_code_may_be_cut_anywhere);
    tcase_add_loop_test(tcase, a_recording_that_ends_with_code_goes_on_without_it, 0, 3);
    tcase_add_test(tcase, no_memory_for_the_code_of_a_recording);
    tcase_add_test(tcase, a_recording_with_code_needs_the_plugins_that_it_was_made_with);
    tcase_add_test(tcase, each_moment_has_its_systems);
    tcase_add_test(tcase, a_version_that_is_taken_back_is_not_at_work_later);
    tcase_add_test(tcase, what_takes_the_place_of_a_part_has_no_past);
    tcase_add_test(tcase, the_keyframe_of_a_reload_stays_where_another_one_takes_its_place);
    tcase_add_test(tcase, the_present_is_never_lost_over_a_reload);
    tcase_add_test(tcase, files_of_now_are_no_matter);
    tcase_add_loop_test(tcase, a_version_of_then_that_cannot_come_is_told, 0, CALLS_FAIL ? 2 : 1);
    tcase_add_test(tcase, references_into_rows_that_come_back_after_a_change_of_version_stay_with_their_field);
    tcase_add_test(tcase, a_version_without_a_copy_is_told_of_when_remembering_begins);
#ifndef _WIN32
    tcase_add_test(tcase, a_file_that_could_not_be_copied_is_copied_later);
#endif
    suite_add_tcase(suite, tcase);
    if (!DEFERS_SIGNALS) {
        TCase *crashes = tcase_create("crashes");
        tcase_set_timeout(crashes, 60);
        tcase_add_loop_test(crashes, the_step_in_which_a_version_has_crashed_can_be_gone_to, 0, 2);
        tcase_add_loop_test(crashes, another_future_begins_behind_the_step_in_which_a_version_has_crashed, 0, 4);
        tcase_add_test(crashes, a_host_with_a_crashed_plugin_goes_back_to_before_the_crash);
        tcase_add_loop_test(crashes, a_recording_with_a_crash_on_probation_is_played_without_it, 0, 4);
        tcase_add_test(crashes, a_recording_does_not_end_with_a_step_in_which_a_version_has_crashed);
        suite_add_tcase(suite, crashes);
    }
    return suite;
}
