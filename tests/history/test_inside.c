/* test_inside.c - what an embedder may do to a host between steps, asked for from inside a step: refused with a
 * sentence, and the step comes to what it comes to anyway.
 */
#include "../suites.h"
#include "../unit/support.h"
#include "recall.h"

#include <string.h>

static bp_host_o *host;
static bp_snapshot_o *taken;
static bp_recording_o *recording;
static const char recorded[] = TEST_SCRATCH_DIR "/inside_recording", again[] = TEST_SCRATCH_DIR "/inside_again";

static bp_result_t change(void *context, bp_host_o *clone)
{
    (void)context, (void)clone;
    return BP_OK;
}

static void take(void *context, const bp_trace_slice_t *slices, uint32_t count, uint64_t lost)
{
    (void)context, (void)slices, (void)count, (void)lost;
}

/* Each gives what the call gives; one that answers with a pointer must give none. */
static bp_result_t begin_audit(void) { return bp_host_audit(host, BP_AUDIT_WRITES); }
static bp_result_t watch(void) { return bp_host_watch_units(host, NULL); }
static bp_result_t step_twice(void) { return bp_host_step_twice(host, 0, NULL); }
static bp_result_t step(void) { return bp_host_step(host); }
static bp_result_t step_world(void) { return bp_world_step(bp_host_api(host)->world->at(host, 0)); }
static bp_result_t trace(void) { return bp_host_trace(host, &(bp_trace_i){.slices = take}); }
static bp_result_t remember(void) { return bp_host_remember(host, 1 << 20); }
static bp_result_t forget(void) { return bp_host_remember(host, 0); }
static bp_result_t go(void) { return bp_host_go(host, 1); }
static bp_result_t branch_off(void) { return bp_host_branch_off(host); }
static bp_result_t branch_to(void) { return bp_host_branch_to(host, 1); }
static bp_result_t branch_forget(void) { return bp_host_branch_forget(host, 1); }
static bp_result_t record(void) { return bp_host_record(host, again, NULL); }
static bp_result_t record_end(void) { return bp_host_record_end(host); }
static bp_result_t play(void) { return bp_recording_play(recording, 1, NULL); }
static bp_result_t become(void) { return bp_recording_become(recording, 1); }
static bp_result_t resume(void) { return bp_recording_resume(recording); }
static bp_result_t bring_back(void) { return bp_host_bring_back(host, taken); }
static bp_result_t set_up(void) { return bp_host_setup(host, "inside.ini"); }
static bp_result_t set_up_again(void) { return bp_host_setup_again(host, "inside.ini", NULL); }
static bp_result_t load(void) { return bp_host_load_plugin(host, "recall", NULL, 0); }
static bp_result_t unload(void) { return bp_host_unload_plugin(host, "recall"); }
static bp_result_t reload(void) { return bp_host_reload(host, (const char *const[]){"recall"}, 1, NULL); }
static bp_result_t begin_reload(void) { return bp_host_begin_reload(host, (const char *const[]){"recall"}, 1, 0); }
static bp_result_t keep(void) { return bp_host_draft_keep(host); }
static bp_result_t compare(void) { return bp_host_draft_differences(host, &(bp_diff_i){.most = 1}); }
static bp_result_t use(void) { return bp_world_use_component(bp_host_api(host)->world->at(host, 0), "body"); }
static bp_result_t drop(void) { return bp_world_drop_component(bp_host_api(host)->world->at(host, 0), "body"); }

static bp_result_t draft(void)
{
    return bp_host_draft(host, &(bp_draft_i){.struct_size = sizeof(bp_draft_i), .change = change});
}

static bp_result_t try_it(void)
{
    const bp_host_try_i what = {.struct_size = sizeof what, .steps = 1, .change = change};
    return bp_host_try(host, &what, NULL);
}

static bp_result_t snapshot(void)
{
    bp_snapshot_o *made = NULL;
    bp_result_t result = bp_host_snapshot(host, &made);
    EXPECT(made == NULL || result == BP_OK, "a snapshot of a refusal");
    bp_snapshot_free(made);
    return result;
}

static bp_result_t clone(void)
{
    bp_host_o *made = NULL;
    bp_result_t result = bp_host_clone(host, &made);
    EXPECT(made == NULL || result == BP_OK, "a clone of a refusal");
    bp_host_destroy(made);
    return result;
}

static bp_result_t create_world(void)
{
    bp_world_o *made = bp_world_create(host, &(bp_world_desc_t){.name = "more"});
    return made != NULL ? BP_OK : BP_ERROR_STATE;
}

#define CALL(name) {#name, name}
static const struct { const char *name; bp_result_t (*call)(void); } calls[] = {
    CALL(begin_audit), CALL(watch), CALL(step_twice), CALL(step), CALL(step_world), CALL(trace), CALL(remember),
    CALL(forget), CALL(go), CALL(branch_off), CALL(branch_to), CALL(branch_forget), CALL(record), CALL(record_end),
    CALL(play), CALL(become), CALL(resume), CALL(bring_back), CALL(set_up), CALL(set_up_again), CALL(load),
    CALL(unload), CALL(reload), CALL(begin_reload), CALL(keep), CALL(compare), CALL(use), CALL(drop), CALL(draft),
    CALL(try_it), CALL(snapshot), CALL(clone), CALL(create_world),
};

static uint32_t next_call = UINT32_MAX, refused;

static void ask(bp_system_t *s, const bp_step_t *now, const bp_match_t *matches, uint32_t count)
{
    (void)now, (void)matches, (void)count;
    for (uint32_t i = next_call; i < COUNT(calls); i++) {
        s->api->error->set(host, BP_OK, "nothing was said");
        bp_result_t result = calls[i].call();
        EXPECT(result == BP_ERROR_STATE, "%s: %d: %s", calls[i].name, result, bp_host_error(host));
        EXPECT(strstr(bp_host_error(host), "not from inside") != NULL, "%s: %s", calls[i].name,
               bp_host_error(host));
        refused++;
    }
}

static const bp_system_i systems[] = {{.name = "asks", .run_all = ask, .keeps = BP_KEEP_NOTHING}};
static const bp_plugin_head_t asking =
    BP_PLUGIN_HEAD("asking", (&(const bp_plugin_desc_t){.version = "1", .systems = BP_LIST(systems)}));

static void open_host(rig_t *rig)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin, &asking};
    rig_open_with(rig, plugins, COUNT(plugins));
    host = rig->host;
    recall_open(host);
    WORKS(host, bp_host_load_plugin(host, "asking", NULL, 0));
    WORKS(host, bp_world_use_system(rig->api->world->at(host, 0), "asks"));
    WORKS(host, bp_host_remember(host, UINT64_C(1) << 28));
}

START_TEST(what_is_asked_for_from_inside_a_step_is_refused)
{
    rig_t rig;
    next_call = UINT32_MAX;
    open_host(&rig);
    for (uint32_t i = 0; i < 4; i++)
        WORKS(host, bp_host_step(host));
    uint64_t expected = recall_hash(host);
    recall_close(&rig);
    open_host(&rig);
    WORKS(host, bp_host_record(host, recorded, NULL));
    WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_record_end(host));
    WORKS(host, bp_recording_open(host, recorded, &recording));
    WORKS(host, bp_host_snapshot(host, &taken));
    refused = next_call = 0;
    WORKS(host, bp_host_step(host));
    next_call = UINT32_MAX;
    ck_assert_uint_ge(refused, COUNT(calls));
    WORKS(host, bp_host_step(host));
    EXPECT(recall_hash(host) == expected, "the step has come to something else");
    bp_history_t h = recall_history(host);
    EXPECT(h.first == 0 && h.now == 4 && h.last == 4 && h.branches == 0, "the past is another one");
    bp_snapshot_free(taken);
    bp_recording_close(recording);
    recall_close(&rig);
}
END_TEST

Suite *inside_suite(void)
{
    Suite *suite = suite_create("inside");
    TCase *tcase = tcase_create("inside");
    tcase_add_test(tcase, what_is_asked_for_from_inside_a_step_is_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
