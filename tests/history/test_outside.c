/* test_outside.c - what plugins take from outside in a step is given again when the step is taken again: in the past,
 * in a recording, in a draft.
 */
#include "../suites.h"
#include "../unit/support.h"
#include "recall.h"

#include "history/recording.h"

#include <bp_outside.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 40, ROOM = 24 };

/* What comes from outside: never twice the same. */
static uint64_t source, asked;

static bp_result_t ask(void *context, void *bytes, size_t room, size_t *size)
{
    const uint64_t *kind = context;
    source += 3 + *kind;
    asked++;
    *size = source % 5 == 0 ? 0 : sizeof source;
    if (*size > 0 && room >= *size)
        memcpy(bytes, &source, *size);
    return source % 7 == 0 ? BP_ERROR_IO : BP_OK;
}

typedef struct heard_t {
    uint64_t sum;
} heard_t;

static bp_result_t start(bp_system_t *s)
{
    s->state = s->api->memory->resize(s->plugin, NULL, 0, sizeof(heard_t));
    if (s->state == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "hear");
    memset(s->state, 0, sizeof(heard_t));
    return BP_OK;
}

static void stop(bp_system_t *s)
{
    s->state = s->api->memory->resize(s->plugin, s->state, sizeof(heard_t), 0);
}

static void hear(bp_system_t *s, const char *name, uint64_t kind)
{
    const bp_outside_api *outside = (const bp_outside_api *)s->api->registry->find(s->host, BP_OUTSIDE_API, 1);
    bp_taking_i taking = {.struct_size = sizeof taking, .context = &kind, .take = ask};
    char bytes[ROOM] = "";
    uint64_t value = 0;
    size_t size;
    heard_t *heard = s->state;
    bp_result_t result = outside->take(s->host, name, &taking, bytes, sizeof bytes, &size);
    memcpy(&value, bytes, size);
    heard->sum = heard->sum * 31 + value + size + (uint64_t)result;
}

static rig_t *meddled; /* NULL: the second world takes its step too */

/* An entity of a new kind comes into the second world, which gets no memory to match it: its step fails. */
static void meddle(void)
{
    bp_entity_t e;
    bp_world_o *side = meddled->api->world->at(meddled->host, 1);
    uint32_t prototype = prototype_of(side, "body", "mark", NULL, NULL);
    WORKS(meddled->host, meddled->api->world->create(side, prototype, &e, 1));
    meddled->heap.refuse_first = meddled->heap.requests + 1;
    meddled->heap.refuse_last = UINT64_MAX;
    meddled = NULL;
}

static void run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)matches, (void)count;
    if (step->number % 4 == 3)
        return; /* nothing from outside in this one */
    hear(s, "hear.some", 1);
    hear(s, "hear.other", 2);
    hear(s, "hear.some", 1);
    if (meddled != NULL)
        meddle();
}

static const bp_system_i systems[] = {{.name = "hear", .start = start, .stop = stop, .run_all = run,
                                       .state_form = BP_STATE_FORM(heard_t, 1), .keeps = BP_KEEP_PLAIN}};
static const bp_plugin_desc_t desc = {.version = "1", .systems = BP_LIST(systems)};
static const bp_plugin_head_t hear_plugin = BP_PLUGIN_HEAD("hear", &desc);

static bp_host_o *open_host(rig_t *rig, uint64_t budget)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin, &hear_plugin};
    rig_open_with(rig, plugins, 2);
    recall_open(rig->host);
    WORKS(rig->host, bp_host_load_plugin(rig->host, "hear", NULL, 0));
    WORKS(rig->host, bp_world_use_system(rig->api->world->at(rig->host, 0), "hear"));
    if (budget > 0)
        WORKS(rig->host, bp_host_remember(rig->host, budget));
    return rig->host;
}

static void go_on(bp_host_o *host, uint64_t hashes[STEPS + 1])
{
    hashes[0] = recall_hash(host);
    for (uint64_t i = 0; i < STEPS; i++) {
        if (i % 3 == 0)
            recall_act(host, i, 6);
        WORKS(host, bp_host_step(host));
        hashes[i + 1] = recall_hash(host);
    }
}

START_TEST(each_step_is_given_what_it_took)
{
    rig_t rig;
    uint64_t hashes[STEPS + 1], random = 3;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    go_on(host, hashes);
    uint64_t before = asked;
    EXPECT(before == 90, "%llu times", (unsigned long long)before);
    for (uint32_t v = 0; v < 40; v++) {
        uint64_t moment = bp_random_below(&random, STEPS + 1);
        WORKS(host, bp_host_go(host, moment));
        EXPECT(recall_hash(host) == hashes[moment], "moment %llu is not what it was", (unsigned long long)moment);
        for (uint32_t along = bp_random_below(&random, 6); along > 0 && moment < STEPS; along--) {
            WORKS(host, bp_host_step(host));
            EXPECT(recall_hash(host) == hashes[++moment], "along to %llu it is not what it was",
                   (unsigned long long)moment);
        }
    }
    EXPECT(asked == before, "it has been asked outside again");
    WORKS(host, bp_host_go(host, STEPS));
    WORKS(host, bp_host_step(host));
    EXPECT(asked == before + 3, "the first step that is new asks outside");
    recall_close(&rig);
}
END_TEST

/* The first world has taken its step when that of the second fails. The next step of both takes something else. */
START_TEST(what_a_step_took_that_failed_is_not_given_to_the_next)
{
    enum { TAKEN = 12, FAILS_AT = 5 };
    rig_t rig;
    uint64_t hashes[TAKEN + 1];
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    for (uint64_t i = 0; i < TAKEN; i++) {
        hashes[i] = recall_hash(host);
        meddled = i == FAILS_AT ? &rig : NULL;
        bp_result_t result = bp_host_step(host);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        EXPECT((result == BP_OK) == (i != FAILS_AT), "step %u: %s", (uint32_t)i, bp_host_error(host));
        if (result != BP_OK)
            WORKS(host, bp_host_step(host));
    }
    hashes[TAKEN] = recall_hash(host);
    for (uint64_t moment = TAKEN; moment > 0; moment--) {
        WORKS(host, bp_host_go(host, moment));
        EXPECT(recall_hash(host) == hashes[moment], "moment %u is not what it was", (uint32_t)moment);
    }
    recall_close(&rig);
}
END_TEST

/* In the present, and in the past: each step asks once, and all that are taken for comparison are given the same. */
START_TEST(a_step_that_is_taken_again_to_be_looked_at_is_given_what_it_took)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, _i == 0 ? 0 : UINT64_C(1) << 30);
    uint64_t before = asked, end;
    for (uint64_t i = 0; i < 12; i++)
        WORKS(host, bp_host_step_twice(host, 0, NULL));
    EXPECT(asked == before + 27, "%llu times", (unsigned long long)(asked - before));
    end = recall_hash(host);
    if (_i == 1) {
        WORKS(host, bp_host_go(host, 5));
        while (recall_history(host).now < 12)
            WORKS(host, bp_host_step_twice(host, 0, NULL));
        EXPECT(recall_hash(host) == end, "the end is another one");
        EXPECT(asked == before + 27, "it has been asked outside again");
    }
    recall_close(&rig);
}
END_TEST

START_TEST(a_recording_has_what_was_taken)
{
    rig_t rig;
    bp_recording_o *recording;
    uint64_t hashes[STEPS + 1];
    bp_host_o *host = open_host(&rig, 0);
    WORKS(host, bp_host_record(host, TEST_SCRATCH_DIR "/outside.rec", NULL));
    go_on(host, hashes);
    WORKS(host, bp_host_record_end(host));
    recall_close(&rig);
    uint64_t before = asked;
    host = open_host(&rig, 0);
    WORKS(host, bp_recording_open(host, TEST_SCRATCH_DIR "/outside.rec", &recording));
    const bp_playback_i check = {.struct_size = sizeof check, .flags = BP_PLAY_CHECK | BP_PLAY_ALL};
    WORKS(host, bp_recording_play(recording, STEPS, &check));
    EXPECT(recall_hash(host) == hashes[STEPS], "the recording comes to another end");
    WORKS(host, bp_recording_play(recording, 17, &check));
    EXPECT(recall_hash(host) == hashes[17], "step 17 is another one");
    EXPECT(asked == before, "it has been asked outside again");
    bp_recording_close(recording);
    recall_close(&rig);
}
END_TEST

/* A copy of a recording, up to and with the last calls and inputs in it. */
static void cut_behind_inputs(const char *path, const char *copy)
{
    recorded_t recorded;
    error_text_t error = {.calls = NULL};
    const chunk_t *chunk;
    size_t at = 0, behind = 0;
    EXPECT(recorded_open(&recorded, path, &error) == BP_OK, "%s", error.text);
    while ((chunk = recorded_next(&recorded, &at)) != NULL)
        behind = chunk->kind == CHUNK_CALLS ? at : behind;
    FILE *to = fopen(copy, "wb");
    ck_assert(to != NULL && behind > 0 && fwrite(recorded.bytes, behind, 1, to) == 1 && fclose(to) == 0);
    recorded_close(&recorded);
}

/* What a step takes is in the file before the step itself is: a host may be killed in between. */
START_TEST(what_a_step_took_that_is_not_recorded_is_not_given_to_another)
{
    rig_t rig;
    bp_recording_o *recording;
    bp_recording_t info = {.struct_size = sizeof info};
    static const char whole[] = TEST_SCRATCH_DIR "/outside.rec", cut[] = TEST_SCRATCH_DIR "/outside_cut.rec";
    bp_host_o *host = open_host(&rig, 0);
    WORKS(host, bp_host_record(host, whole, NULL));
    for (uint32_t i = 0; i < 2; i++)
        WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_record_end(host));
    recall_close(&rig);
    cut_behind_inputs(whole, cut);
    host = open_host(&rig, 0);
    WORKS(host, bp_recording_open(host, cut, &recording));
    bp_recording_info(recording, &info);
    ck_assert_uint_eq(info.last, 1);
    WORKS(host, bp_recording_play(recording, 1, NULL));
    WORKS(host, bp_recording_resume(recording));
    uint64_t before = asked;
    WORKS(host, bp_host_step(host));
    ck_assert_uint_eq(asked, before + 3);
    uint64_t end = recall_hash(host);
    WORKS(host, bp_host_record_end(host));
    bp_recording_close(recording);
    recall_close(&rig);
    host = open_host(&rig, 0);
    const bp_playback_i check = {.struct_size = sizeof check, .flags = BP_PLAY_CHECK | BP_PLAY_ALL};
    WORKS(host, bp_recording_open(host, cut, &recording));
    WORKS(host, bp_recording_play(recording, 2, &check));
    EXPECT(recall_hash(host) == end, "the step is given what another one took");
    bp_recording_close(recording);
    recall_close(&rig);
}
END_TEST

static bp_result_t change_nothing(void *context, bp_host_o *clone)
{
    (void)context, (void)clone;
    return BP_OK;
}

START_TEST(a_draft_is_given_what_the_host_took)
{
    rig_t rig;
    bp_drafted_t drafted = {.struct_size = sizeof drafted};
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    for (uint32_t i = 0; i < 20; i++)
        WORKS(host, bp_host_step(host));
    uint64_t before = asked;
    for (uint32_t back = 0; back < 16; back += 15) {
        const bp_draft_i draft = {.struct_size = sizeof draft, .back = back, .change = change_nothing};
        WORKS(host, bp_host_draft(host, &draft));
        for (uint32_t i = 0; i < 8; i++)
            WORKS(host, bp_host_step(host));
        do {
            WORKS(host, bp_host_poll(host));
            bp_host_draft_read(host, &drafted);
        } while (drafted.state < BP_DRAFT_BESIDE);
        EXPECT(drafted.state == BP_DRAFT_BESIDE && drafted.taken == back + 8 && drafted.differs[0] == '\0', "%s%s",
               drafted.text, drafted.differs);
        uint64_t hash = recall_hash(host);
        if (back > 0) {
            WORKS(host, bp_host_draft_keep(host));
            EXPECT(recall_hash(host) == hash, "it was given something else");
        }
    }
    EXPECT(asked == before + 36, "%llu times", (unsigned long long)(asked - before));
    recall_close(&rig);
}
END_TEST

START_TEST(what_is_wrong_is_refused)
{
    rig_t rig;
    char bytes[ROOM];
    size_t size = 1;
    uint64_t kind = 1;
    bp_host_o *host = open_host(&rig, 0);
    const bp_outside_api *outside = (const bp_outside_api *)rig.api->registry->find(host, BP_OUTSIDE_API, 1);
    bp_taking_i taking = {.struct_size = sizeof taking, .context = &kind};
    FAILS(host, BP_ERROR_ARGUMENT, "with a name and a way", outside->take(host, "x", &taking, bytes, ROOM, &size));
    taking.take = ask;
    FAILS(host, BP_ERROR_ARGUMENT, "with a name and a way", outside->take(host, NULL, &taking, bytes, ROOM, &size));
    FAILS(host, BP_ERROR_LIMIT, "16777216 are the most", outside->take(host, "x", &taking, bytes, 1 << 25, &size));
    source = 0;
    WORKS(host, outside->take(host, "x", &taking, bytes, ROOM, &size)); /* between steps it is just taken */
    EXPECT(size == sizeof source && memcmp(bytes, &source, size) == 0, "%zu bytes", size);
    WORKS(host, outside->take(host, "x", &taking, bytes, sizeof source / 2, &size)); /* more than there is room for */
    ck_assert_uint_eq(size, sizeof source / 2);
    source = 3;
    ck_assert_int_eq(outside->take(host, "x", &taking, bytes, ROOM, &size), BP_ERROR_IO); /* which `ask` says of 7 */
    EXPECT(size == sizeof source && memcmp(bytes, &source, size) == 0, "%zu bytes of what failed", size);
    rig_close(&rig);
}
END_TEST

Suite *outside_suite(void)
{
    Suite *suite = suite_create("outside");
    TCase *tcase = tcase_create("outside");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, each_step_is_given_what_it_took);
    tcase_add_test(tcase, what_a_step_took_that_failed_is_not_given_to_the_next);
    tcase_add_loop_test(tcase, a_step_that_is_taken_again_to_be_looked_at_is_given_what_it_took, 0, 2);
    tcase_add_test(tcase, a_recording_has_what_was_taken);
    tcase_add_test(tcase, what_a_step_took_that_is_not_recorded_is_not_given_to_another);
    tcase_add_test(tcase, a_draft_is_given_what_the_host_took);
    tcase_add_test(tcase, what_is_wrong_is_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
