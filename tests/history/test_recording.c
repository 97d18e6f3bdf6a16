/* test_recording.c - a host in a file: computed again it is the same, and a file that is cut or damaged is good up to
 * there, or refused. */
#include "../suites.h"
#include "../unit/support.h"
#include "lies.h"
#include "recall.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* some of them, which take as long as all do else */
enum { CUTS = 400, FLIPS = 400, LIES = 300 };
#else
enum { CUTS = 2000, FLIPS = 2000, LIES = 1500 };
#endif
enum { STEPS = 40, SMALL_STEPS = 6 };

static const char file[] = TEST_SCRATCH_DIR "/recording", copy[] = TEST_SCRATCH_DIR "/recording_copy";

static uint32_t every_ms = 10000; /* from keyframe to keyframe */

/* What is done in each step goes by the number of the step and this one. */
static uint64_t other_acts;

static void open_host(rig_t *rig)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin};
    rig_open_with(rig, plugins, 1);
    recall_open(rig->host);
}

static void take_steps(bp_host_o *host, uint64_t from, uint64_t to, uint64_t *hashes)
{
    for (uint64_t i = from; i < to; i++) {
        recall_act(host, i + other_acts, 21);
        if (i % 7 == 3)
            bp_host_touched(host);
        WORKS(host, i % 5 == 4 ? bp_world_step(bp_host_api(host)->world->at(host, 1)) : bp_host_step(host));
        hashes[i + 1] = recall_hash(host);
    }
}

/* Record so many steps, and calls after the last. hashes[steps + 1] is the end. */
static void record(uint64_t steps, uint64_t *hashes, uint64_t budget)
{
    rig_t rig;
    open_host(&rig);
    WORKS(rig.host, bp_host_remember(rig.host, budget));
    recall_act(rig.host, 77, 1); /* is in the first keyframe, and nowhere else */
    hashes[0] = recall_hash(rig.host);
    bp_host_record_every(rig.host, every_ms);
    WORKS(rig.host, bp_host_record(rig.host, file, "a test"));
    FAILS(rig.host, BP_ERROR_STATE, "recorded already", bp_host_record(rig.host, file, NULL));
    take_steps(rig.host, 0, steps, hashes);
    recall_act(rig.host, steps, 21);
    hashes[steps + 1] = recall_hash(rig.host);
    WORKS(rig.host, bp_host_record_end(rig.host));
    WORKS(rig.host, bp_host_record_end(rig.host));
    recall_close(&rig);
}

static bp_recording_t info_of(const bp_recording_o *recording)
{
    bp_recording_t info = {.struct_size = sizeof info};
    bp_recording_info(recording, &info);
    return info;
}

START_TEST(what_is_recorded_is_computed_again)
{
    uint64_t hashes[STEPS + 2], random = 4;
    bp_recording_o *recording;
    rig_t rig;
    every_ms = _i == 2 ? 0 : 10000;
    record(STEPS, hashes, _i == 1 ? UINT64_C(1) << 30 : 0);
    every_ms = 10000;
    open_host(&rig);
    WORKS(rig.host, bp_recording_open(rig.host, file, &recording));
    bp_recording_t info = info_of(recording);
    EXPECT(info.first == 0 && info.last == STEPS && info.lost == 0, "moments, or bytes");
    EXPECT(strcmp(info.origin, "a test") == 0, "where it comes from");
    EXPECT(_i == 2 ? info.keyframes > STEPS : info.keyframes < STEPS, "%u keyframes", info.keyframes);
    EXPECT(bp_recording_keyframe(recording, 0) == 0, "the first keyframe");
    for (uint32_t k = 1; k <= info.keyframes; k++) {
        uint64_t before = bp_recording_keyframe(recording, k - 1), moment = bp_recording_keyframe(recording, k);
        EXPECT(before <= moment && moment <= STEPS && (_i != 2 || moment <= before + 1), "keyframe %u", k);
    }
    EXPECT(bp_recording_keyframe(recording, info.keyframes) == STEPS, "none behind the last one");
    const bp_playback_i checked = {.flags = BP_PLAY_CHECK | BP_PLAY_ALL};
    WORKS(rig.host, bp_recording_play(recording, STEPS, &checked));
    EXPECT(recall_hash(rig.host) == hashes[STEPS + 1], "the end is another one");
    for (uint32_t v = 0; v < 30; v++) {
        uint64_t moment = bp_random_below(&random, STEPS);
        WORKS(rig.host, bp_recording_play(recording, moment, v % 2 == 0 ? &checked : NULL));
        EXPECT(recall_hash(rig.host) == hashes[moment], "moment %u is not what it was", (uint32_t)moment);
    }
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "from 0 to 40 are", bp_recording_play(recording, STEPS + 1, NULL));
    bp_recording_close(recording);
    recall_close(&rig);
}
END_TEST

/* Between two steps a snapshot comes back, or calls come, and then the host begins to remember, or ends that. */
START_TEST(what_came_before_the_host_began_to_remember_is_recorded)
{
    rig_t rig;
    bp_snapshot_o *earlier;
    bp_recording_o *recording;
    const bp_playback_i checked = {.flags = BP_PLAY_CHECK | BP_PLAY_ALL};
    open_host(&rig);
    WORKS(rig.host, bp_host_remember(rig.host, _i % 2 == 0 ? 0 : UINT64_C(1) << 30));
    WORKS(rig.host, bp_host_snapshot(rig.host, &earlier));
    WORKS(rig.host, bp_host_record(rig.host, file, "a test"));
    for (uint64_t i = 0; i < 3; i++) {
        recall_act(rig.host, i, 3);
        WORKS(rig.host, bp_host_step(rig.host));
    }
    if (_i < 2)
        WORKS(rig.host, bp_host_bring_back(rig.host, earlier));
    else
        recall_act(rig.host, 3, 3);
    WORKS(rig.host, bp_host_remember(rig.host, _i % 2 == 0 ? UINT64_C(1) << 30 : 0));
    WORKS(rig.host, bp_host_step(rig.host));
    uint64_t end = recall_hash(rig.host);
    EXPECT(strstr(rig.log.text, "history has room") == NULL, "a host that remembers nothing: %s", rig.log.text);
    WORKS(rig.host, bp_host_record_end(rig.host));
    bp_snapshot_free(earlier);
    recall_close(&rig);
    open_host(&rig);
    WORKS(rig.host, bp_recording_open(rig.host, file, &recording));
    WORKS(rig.host, bp_recording_play(recording, info_of(recording).last, &checked));
    EXPECT(recall_hash(rig.host) == end, "the end is another one");
    bp_recording_close(recording);
    recall_close(&rig);
}
END_TEST

/* A keyframe after each step, of many that move: what does not move is written once. */
START_TEST(keyframes_in_a_file_share_what_nobody_wrote)
{
    enum { MANY = 5000, MOVES = 20 };
    static bp_entity_t entities[MANY];
    uint64_t hashes[MOVES + 1];
    uint32_t key, prototype;
    bp_recording_o *recording;
    rig_t rig;
    rig_init(&rig);
    rig_open(&rig);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "zoo", NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main", .step_rate = 60});
    WORKS(rig.host, bp_world_use_component(world, "body"));
    EXPECT(rig.api->world->key(world, rig.api->world->component(world, "body"), 0, &key) == BP_OK, "key");
    EXPECT(rig.api->world->prototype(world, &key, 1, &prototype) == BP_OK, "prototype");
    WORKS(rig.host, rig.api->world->create(world, prototype, entities, MANY));
    bp_host_record_every(rig.host, 0);
    WORKS(rig.host, bp_host_record(rig.host, file, "a test"));
    hashes[0] = recall_hash(rig.host);
    for (uint32_t i = 0; i < MOVES; i++) {
        WORKS(rig.host, bp_host_step(rig.host));
        hashes[i + 1] = recall_hash(rig.host);
    }
    WORKS(rig.host, bp_host_record_end(rig.host));
    WORKS(rig.host, bp_recording_open(rig.host, file, &recording));
    bp_recording_t info = info_of(recording);
    EXPECT(info.keyframes > MOVES && info.bytes < (uint64_t)MANY * (4 * 48 + MOVES * 16),
           "%u keyframes in %llu bytes", info.keyframes, (unsigned long long)info.bytes);
    for (uint32_t i = 0; i <= MOVES; i++) {
        WORKS(rig.host, bp_recording_play(recording, (i * 7) % (MOVES + 1), NULL));
        EXPECT(recall_hash(rig.host) == hashes[(i * 7) % (MOVES + 1)], "moment %u", (i * 7) % (MOVES + 1));
    }
    bp_recording_close(recording);
    rig_close(&rig);
}
END_TEST

static void *read_whole(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    char *bytes = malloc(1 << 24);
    EXPECT(in != NULL && bytes != NULL, "%s", path);
    *size = fread(bytes, 1, 1 << 24, in);
    fclose(in);
    return bytes;
}

static void write_whole(const char *path, const void *bytes, size_t size)
{
    FILE *out = fopen(path, "wb");
    EXPECT(out != NULL && fwrite(bytes, 1, size, out) == size && fclose(out) == 0, "%s", path);
}

/* Whatever the bytes are: refused with a sentence, or good up to a moment, which is as it was. Returns the moment, or
 * -1. */
static int64_t try_file(bp_host_o *host, const uint64_t *hashes, uint64_t steps)
{
    bp_recording_o *recording;
    bp_result_t result = bp_recording_open(host, copy, &recording);
    if (result != BP_OK) {
        EXPECT(result == BP_ERROR_SYNTAX && strstr(bp_host_error(host), copy) != NULL, "%d: %s", result,
               bp_host_error(host));
        return -1;
    }
    uint64_t last = info_of(recording).last;
    WORKS(host, bp_recording_play(recording, last, NULL));
    uint64_t hash = recall_hash(host);
    EXPECT(hash == hashes[last] || (last == steps && hash == hashes[steps + 1]) || info_of(recording).lost > 0,
           "moment %u is not what it was", (uint32_t)last);
    bp_recording_close(recording);
    return (int64_t)last;
}

START_TEST(cut_at_any_length)
{
    uint64_t hashes[SMALL_STEPS + 2], random = 9;
    size_t size;
    rig_t rig;
    record(SMALL_STEPS, hashes, 0);
    char *bytes = read_whole(file, &size);
    open_host(&rig);
    int64_t most = -1;
    for (uint32_t i = 0; i < CUTS; i++) {
        size_t length = i < 100 ? i : i < 200 ? size - (i - 99) : bp_random_below(&random, (uint32_t)size);
        write_whole(copy, bytes, length);
        int64_t moment = try_file(rig.host, hashes, SMALL_STEPS);
        most = moment > most ? moment : most;
    }
    EXPECT(most >= 3, "no cut file was good beyond its beginning");
    recall_close(&rig);
    free(bytes);
}
END_TEST

START_TEST(with_any_byte_flipped)
{
    uint64_t hashes[SMALL_STEPS + 2], random = 10;
    size_t size;
    rig_t rig;
    record(SMALL_STEPS, hashes, 0);
    char *bytes = read_whole(file, &size);
    open_host(&rig);
    uint32_t shorter = 0;
    for (uint32_t i = 0; i < FLIPS; i++) {
        size_t at = i < 96 ? i : bp_random_below(&random, (uint32_t)size);
        bytes[at] = (char)(bytes[at] ^ (1 << bp_random_below(&random, 8)));
        write_whole(copy, bytes, size);
        bp_recording_o *recording;
        if (bp_recording_open(rig.host, copy, &recording) == BP_OK) {
            EXPECT(info_of(recording).lost > 0, "byte %zu was flipped, and nothing is lost", at);
            bp_recording_close(recording);
        }
        shorter += try_file(rig.host, hashes, SMALL_STEPS) < SMALL_STEPS;
        free(bytes);
        bytes = read_whole(file, &size);
    }
    EXPECT(shorter > FLIPS / 2, "%u", shorter);
    recall_close(&rig);
    free(bytes);
}
END_TEST

enum { PLACES = 4096 };

/* Lengths of a recording at which it is good for more than at any smaller one: where its chunks end. */
static uint32_t find_ends(bp_host_o *host, const char *bytes, size_t size, size_t *ends)
{
    int64_t most = -1;
    uint32_t count = 0;
    for (size_t length = 0; length <= size && count < PLACES; length++) {
        bp_recording_o *recording;
        if (length % 16 != 0 && length != size)
            continue;
        write_whole(copy, bytes, length);
        if (bp_recording_open(host, copy, &recording) != BP_OK)
            continue;
        bp_recording_t info = info_of(recording);
        if ((int64_t)info.last > most && info.lost == 0) {
            most = (int64_t)info.last;
            ends[count++] = length;
        }
        bp_recording_close(recording);
    }
    return count;
}

/* Each chunk is whole, and of the right moment, but what lies before it is not what it was written behind. */
START_TEST(chunks_of_another_recording_are_not_taken_for_its_own)
{
    uint64_t hashes[SMALL_STEPS + 2], other_hashes[SMALL_STEPS + 2];
    size_t size, other_size, ends[PLACES], other_ends[PLACES];
    rig_t rig;
    record(SMALL_STEPS, hashes, 0);
    char *bytes = read_whole(file, &size);
    other_acts = 1000;
    record(SMALL_STEPS, other_hashes, 0);
    other_acts = 0;
    char *other = read_whole(file, &other_size), *joined = malloc(size + other_size);
    open_host(&rig);
    uint32_t count = find_ends(rig.host, bytes, size, ends);
    EXPECT(joined != NULL && count == find_ends(rig.host, other, other_size, other_ends) && count > 3, "%u chunks",
           count);
    for (uint32_t i = 1; i + 1 < count; i++) {
        bp_recording_o *recording;
        memcpy(joined, bytes, ends[i]);
        memcpy(joined + ends[i], other + other_ends[i], other_size - other_ends[i]);
        write_whole(copy, joined, ends[i] + other_size - other_ends[i]);
        WORKS(rig.host, bp_recording_open(rig.host, copy, &recording));
        EXPECT(info_of(recording).lost > 0 && info_of(recording).last < SMALL_STEPS,
               "a file that goes on with another recording's chunks after %zu bytes is good up to step %u", ends[i],
               (uint32_t)info_of(recording).last);
        bp_recording_close(recording);
    }
    recall_close(&rig);
    free(bytes);
    free(other);
    free(joined);
}
END_TEST

START_TEST(a_recording_that_lies_is_refused_or_played_and_the_host_goes_on)
{
    uint64_t hashes[SMALL_STEPS + 2];
    every_ms = 0;
    record(SMALL_STEPS, hashes, 0);
    lies_told_t told = lies_tell(file, LIES, SMALL_STEPS);
    EXPECT(told.end == hashes[SMALL_STEPS] || told.end == hashes[SMALL_STEPS + 1], "the end is another one");
    ck_assert_uint_gt(told.refused, LIES / 4);
    ck_assert_uint_gt(told.played, LIES / 20);
}
END_TEST

/* Killed after the fifth step, in the middle of a chunk: a new host goes on, and comes to the same end; and the file is
 * that of the whole run. */
START_TEST(resumed_it_goes_on_to_the_bit)
{
    uint64_t hashes[STEPS + 2], again[STEPS + 2];
    bp_recording_o *recording;
    size_t size;
    rig_t rig;
    record(STEPS, hashes, 0);
    char *bytes = read_whole(file, &size);
    for (uint32_t part = 1; part < 12; part++) {
        write_whole(copy, bytes, size * part / 12);
        open_host(&rig);
        if (bp_recording_open(rig.host, copy, &recording) != BP_OK) {
            recall_close(&rig);
            continue;
        }
        uint64_t last = info_of(recording).last;
        WORKS(rig.host, bp_recording_play(recording, last, NULL));
        bool calls_have_come = recall_hash(rig.host) != hashes[last];
        bp_recording_close(recording);
        if (calls_have_come) { /* the cut was between calls and their step: who resumes must not make them again */
            recall_close(&rig);
            continue;
        }
        WORKS(rig.host, bp_recording_open(rig.host, copy, &recording));
        WORKS(rig.host, bp_recording_resume(recording));
        bp_recording_close(recording);
        take_steps(rig.host, last, STEPS, again);
        recall_act(rig.host, STEPS, 21);
        EXPECT(memcmp(again + last + 1, hashes + last + 1, (STEPS - last) * sizeof *hashes) == 0,
               "after %u steps it goes another way", (uint32_t)last);
        WORKS(rig.host, bp_host_record_end(rig.host));
        recall_close(&rig);
        open_host(&rig);
        WORKS(rig.host, bp_recording_open(rig.host, copy, &recording));
        EXPECT(info_of(recording).last == STEPS && info_of(recording).lost == 0, "it ends at %u",
               (uint32_t)info_of(recording).last);
        const bp_playback_i checked = {.flags = BP_PLAY_CHECK | BP_PLAY_ALL};
        WORKS(rig.host, bp_recording_play(recording, STEPS, &checked));
        EXPECT(recall_hash(rig.host) == hashes[STEPS + 1], "the end is another one");
        bp_recording_close(recording);
        recall_close(&rig);
    }
    free(bytes);
}
END_TEST

START_TEST(a_past_that_is_gone_to_goes_on_in_the_file)
{
    uint64_t hashes[32];
    bp_recording_o *recording;
    rig_t rig;
    open_host(&rig);
    WORKS(rig.host, bp_host_remember(rig.host, UINT64_C(1) << 30));
    WORKS(rig.host, bp_host_record(rig.host, file, NULL));
    take_steps(rig.host, 0, 10, hashes);
    WORKS(rig.host, bp_host_go(rig.host, 4));
    for (uint32_t i = 0; i < 8; i++)
        WORKS(rig.host, bp_host_step(rig.host));
    take_steps(rig.host, 12, 16, hashes);
    uint64_t end = recall_hash(rig.host);
    WORKS(rig.host, bp_host_record_end(rig.host));
    recall_close(&rig);
    open_host(&rig);
    WORKS(rig.host, bp_recording_open(rig.host, file, &recording));
    EXPECT(info_of(recording).last == 22, "%u", (uint32_t)info_of(recording).last);
    const bp_playback_i checked = {.flags = BP_PLAY_CHECK | BP_PLAY_ALL};
    WORKS(rig.host, bp_recording_play(recording, 22, &checked));
    EXPECT(recall_hash(rig.host) == end, "the end is another one");
    bp_recording_close(recording);
    recall_close(&rig);
}
END_TEST

typedef struct told_t {
    uint32_t fields;
    char name[64];
} told_t;

static void tell_field(void *context, const bp_diff_field_t *field)
{
    told_t *told = context;
    if (told->fields++ == 0)
        snprintf(told->name, sizeof told->name, "%s", field->field);
}

/* Another host than the recorded one: something comes from outside while it is played. */
static void disturb(void *context, uint64_t moment)
{
    bp_host_o *host = context;
    const bp_api_t *api = bp_host_api(host);
    bp_world_o *world = api->world->at(host, 0);
    float y = 12345;
    for (uint32_t i = 0; moment == 5 && i < api->entity->bound(host); i++)
        api->property->set_named(world, api->entity->at(host, i), "body", "y", BP_F32, &y);
}

START_TEST(a_difference_is_named)
{
    bp_recording_o *recording;
    told_t told = {0};
    rig_t rig;
    open_host(&rig);
    for (uint64_t i = 0; i < 8; i++)
        recall_act(rig.host, i, 21);
    WORKS(rig.host, bp_host_record(rig.host, file, NULL));
    for (uint32_t i = 0; i < SMALL_STEPS; i++)
        WORKS(rig.host, bp_host_step(rig.host));
    WORKS(rig.host, bp_host_record_end(rig.host));
    recall_close(&rig);
    open_host(&rig);
    WORKS(rig.host, bp_recording_open(rig.host, file, &recording));
    const bp_diff_i sink = {.context = &told, .field = tell_field};
    const bp_playback_i disturbed = {.context = rig.host,
                                     .flags = BP_PLAY_CHECK | BP_PLAY_ALL,
                                     .step = disturb,
                                     .differences = &sink};
    FAILS(rig.host, BP_ERROR_FAILED, "at moment 6 what is computed differs",
          bp_recording_play(recording, SMALL_STEPS, &disturbed));
    EXPECT(told.fields > 0, "no field is told");
    bp_recording_close(recording);
    recall_close(&rig);
}
END_TEST

/* The present is never lost, and the file is good up to where memory was lacking. */
START_TEST(no_memory_while_recording)
{
    uint64_t hashes[SMALL_STEPS + 2];
    record(SMALL_STEPS, hashes, 0);
    for (uint64_t k = 1; k < 400; k += 9) {
        bp_recording_o *recording;
        rig_t rig;
        open_host(&rig);
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        bp_result_t result = bp_host_record(rig.host, copy, NULL);
        if (result == BP_OK)
            result = bp_host_step(rig.host);
        if (result == BP_OK)
            bp_host_record_end(rig.host);
        if (result == BP_OK && bp_recording_open(rig.host, file, &recording) == BP_OK) {
            bp_recording_play(recording, SMALL_STEPS, &(bp_playback_i){.flags = BP_PLAY_CHECK});
            bp_recording_close(recording);
        }
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        if (bp_recording_open(rig.host, copy, &recording) == BP_OK) {
            WORKS(rig.host, bp_recording_play(recording, info_of(recording).last, NULL));
            bp_recording_close(recording);
        }
        WORKS(rig.host, bp_host_step(rig.host));
        recall_close(&rig);
    }
}
END_TEST

/* Steps that lie between two keyframes are noted until they are written. Where
 * there is no memory for that the recording ends, with a word, and has the steps before. */
START_TEST(steps_that_cannot_be_noted_end_the_recording_with_a_word)
{
    enum { MANY = 6 };
    uint64_t ended = 0;
    bool refused = true;
    for (uint64_t k = 1; refused; k++) {
        bp_recording_o *recording;
        rig_t rig;
        open_host(&rig);
        for (uint32_t i = 0; i < 4; i++) /* the worlds are settled */
            WORKS(rig.host, bp_host_step(rig.host));
        WORKS(rig.host, bp_host_record(rig.host, copy, NULL));
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        rig.heap.refused = 0;
        uint64_t taken = 0;
        for (uint32_t i = 0; i < MANY; i++)
            taken += bp_world_step(bp_host_api(rig.host)->world->at(rig.host, i % 2)) == BP_OK;
        refused = rig.heap.refused > 0;
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        bool told = strstr(rig.log.text, "recording ends at moment ") != NULL;
        bp_host_record_end(rig.host);
        WORKS(rig.host, bp_recording_open(rig.host, copy, &recording));
        uint64_t recorded = info_of(recording).last - info_of(recording).first;
        EXPECT(told ? refused && recorded < taken : recorded == taken, "request %u: %u of %u steps%s", (uint32_t)k,
               (uint32_t)recorded, (uint32_t)taken, told ? ", and it is said to have ended" : "");
        ended += told;
        WORKS(rig.host, bp_recording_play(recording, info_of(recording).last, NULL));
        bp_recording_close(recording);
        recall_close(&rig);
    }
    EXPECT(ended > 0, "no recording has ended");
}
END_TEST

#ifndef _WIN32
START_TEST(a_full_disk_ends_the_recording_alone)
{
    rig_t rig;
    open_host(&rig);
    FAILS(rig.host, BP_ERROR_IO, "/dev/full: cannot be written", bp_host_record(rig.host, "/dev/full", NULL));
    FAILS(rig.host, BP_ERROR_IO, "no/such/folder: cannot be written",
          bp_host_record(rig.host, "no/such/folder", NULL));
    WORKS(rig.host, bp_host_step(rig.host));
    recall_close(&rig);
}
END_TEST
#endif

Suite *recording_suite(void)
{
    Suite *suite = suite_create("recording");
    TCase *tcase = tcase_create("recording");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, what_is_recorded_is_computed_again, 0, 3);
    tcase_add_loop_test(tcase, what_came_before_the_host_began_to_remember_is_recorded, 0, 4);
    tcase_add_test(tcase, keyframes_in_a_file_share_what_nobody_wrote);
    tcase_add_test(tcase, cut_at_any_length);
    tcase_add_test(tcase, with_any_byte_flipped);
    tcase_add_test(tcase, chunks_of_another_recording_are_not_taken_for_its_own);
    tcase_add_test(tcase, a_recording_that_lies_is_refused_or_played_and_the_host_goes_on);
    tcase_add_test(tcase, resumed_it_goes_on_to_the_bit);
    tcase_add_test(tcase, a_past_that_is_gone_to_goes_on_in_the_file);
    tcase_add_test(tcase, a_difference_is_named);
    tcase_add_test(tcase, no_memory_while_recording);
    tcase_add_test(tcase, steps_that_cannot_be_noted_end_the_recording_with_a_word);
#ifndef _WIN32
    tcase_add_test(tcase, a_full_disk_ends_the_recording_alone);
#endif
    suite_add_tcase(suite, tcase);
    return suite;
}
