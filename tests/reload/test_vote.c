/* test_vote.c - a plugin that votes on changes: they begin when it says so, and are made when it says so.
 *
 * The voter is linked into the test; what changes is tests/fixtures/service.h in two versions, without trials.
 */
#include "../fixtures/service.h"
#include "../suites.h"
#include "reload_support.h"

#include "engine/host.h"
#include "os/os.h"
#include "reload/change.h"
#include "reload/vote.h"

#include <bp_vote.h>
#include <string.h>

enum { NAP_NS = 3000000, PATIENCE = 3000 };

static struct {
    uint32_t is_ready, asked, withdrawn, voted;
    uint64_t change, other;   /* the number that it was asked with first, and last */
    bp_result_t mine, answer; /* of the last vote; what it came to */
} voter;

static uint32_t BP_CALL ready(const bp_plugin_t *plugin, uint64_t change)
{
    ck_assert_str_eq(plugin->name, "voting");
    voter.asked += change != 0;
    voter.withdrawn += change == 0;
    voter.change = voter.change == 0 ? change : voter.change;
    voter.other = change != 0 ? change : voter.other;
    return voter.is_ready;
}

static bp_result_t BP_CALL vote(const bp_plugin_t *plugin, uint64_t change, bp_result_t mine)
{
    voter.voted++;
    voter.mine = mine;
    ck_assert_uint_eq(change, voter.other);
    if (voter.answer == BP_OK)
        return mine;
    return plugin->api->error->set(plugin->host, voter.answer, "the others will not have it");
}

static const bp_voter_api table = {.ready = ready, .vote = vote};
static const bp_table_t tables[] = {BP_TABLE(BP_VOTER_API, 1, table, BP_VOTER_RETURNS)};
static const bp_plugin_head_t voting =
    BP_PLUGIN_HEAD("voting", (&(const bp_plugin_desc_t){.version = "1", .tables = BP_LIST(tables)}));
static const bp_plugin_head_t *const linked[] = {&voting};

static rig_t rig;
static bp_host_o *host;
static const service_api *service;
static const char *const names[] = {"service"};

static void begin(void)
{
    memset(&voter, 0, sizeof voter);
    rig_init(&rig);
    rig.desc.static_plugins = linked;
    rig.desc.static_plugin_count = 1;
    rig.desc.flags |= BP_HOST_HOT_RELOAD;
    rig_open(&rig);
    host = rig.host;
    WORKS(host, bp_host_load_plugin(host, "voting", NULL, 0));
    WORKS(host, bp_host_load_plugin(host, put_plugin("service_small", "service"), NULL, 0));
    service = bp_host_api(host)->registry->find(host, "service", 1);
    WORKS(host, bp_host_poll(host));
}

static void end(void)
{
    bp_host_destroy(host);
    EXPECT(rig.heap.bytes == 0, "%zu bytes in %zu blocks are left", rig.heap.bytes, rig.heap.blocks);
}

/* Poll until a count is no longer what it was. */
static void poll_until(const uint32_t *count, uint32_t above)
{
    for (int i = 0; i < PATIENCE && *count <= above; i++) {
        os_sleep_ns(NAP_NS);
        WORKS(host, bp_host_poll(host));
    }
    ck_assert_uint_gt(*count, above);
}

START_TEST(a_change_waits_until_it_may_begin)
{
    put_plugin("service_large", "service");
    poll_until(&voter.asked, 10);
    ck_assert_uint_eq(service->number(), 1);
    ck_assert_uint_eq(voter.voted, 0);
    voter.is_ready = 1;
    WORKS(host, bp_host_poll(host)); /* the very next one: it is counted */
    ck_assert_uint_eq(voter.voted, 1);
    ck_assert_int_eq(voter.mine, BP_OK);
    ck_assert_uint_eq(voter.change, voter.other);
    ck_assert_uint_eq(service->number(), 2);
}
END_TEST

#if defined(__linux__)
START_TEST(a_change_that_waits_for_long_maps_its_file_no_more_often)
{
    put_plugin("service_large", "service");
    poll_until(&voter.asked, 1);
    uint32_t maps = count_maps("service");
    poll_until(&voter.asked, 10);
    ck_assert_uint_eq(count_maps("service"), maps);
}
END_TEST
#endif

START_TEST(a_change_that_is_voted_down_leaves_no_trace)
{
    voter.is_ready = 1;
    voter.answer = BP_ERROR_FAILED;
    put_plugin("service_large", "service");
    poll_until(&voter.voted, 0);
    ck_assert_uint_eq(service->number(), 1);
    ck_assert_ptr_nonnull(strstr(rig.log.text, "the others will not have it"));
    ck_assert_ptr_nonnull(strstr(rig.log.text, "it is tried again together with whatever is written anew next"));
    rig.log.text[0] = '\0';
    voter.answer = BP_OK;
    put_plugin("service_large", "service");
    poll_until(&voter.voted, 1);
    ck_assert_uint_eq(service->number(), 2);
}
END_TEST

START_TEST(what_cannot_be_prepared_is_voted_on_too)
{
    voter.is_ready = 1;
    put_plugin("refuses", "service");
    poll_until(&voter.voted, 0);
    ck_assert_int_ne(voter.mine, BP_OK);
    ck_assert_uint_eq(service->number(), 1);
    rig.log.text[0] = '\0';
}
END_TEST

START_TEST(what_is_written_anew_takes_the_place_of_what_waits)
{
    put_plugin("service_large", "service");
    poll_until(&voter.asked, 2);
    uint64_t first = voter.other, before = os_clock_ns() / 1000000;
    put_plugin("service_small", "service");
    poll_until(&voter.withdrawn, 0);
    ck_assert_uint_ge(host->hot.gathering_since, before); /* others that are being written have their time again */
    poll_until(&voter.asked, voter.asked);
    ck_assert_uint_ne(voter.other, first);
    put_plugin("service_large", "service");
    poll_until(&voter.withdrawn, 1);
    poll_until(&voter.asked, voter.asked);
    ck_assert_uint_eq(voter.other, first);
    ck_assert_uint_eq(voter.voted, 0);
}
END_TEST

static uint64_t number_of(const char *const *plugins, uint32_t count)
{
    reload_change_t *change;
    WORKS(host, reload_read(&host->reload, plugins, count, &change));
    ck_assert(!vote_may_begin(change));
    reload_discard(change);
    return voter.other;
}

/* Of the names and files of all its plugins, whatever order they are named in: hosts that vote together know by it that
 * they mean the same. */
START_TEST(a_change_is_asked_for_by_a_number_of_its_own)
{
    static const char *const both[] = {"service", "probe"}, *const swapped[] = {"probe", "service"};
    uint64_t numbers[6];
    WORKS(host, bp_host_load_plugin(host, put_plugin("reload_probe_first", "probe"), NULL, 0));
    numbers[0] = number_of(both, 1);
    numbers[1] = number_of(both, 2);
    put_plugin("service_large", "service");
    numbers[2] = number_of(both, 1);
    numbers[3] = number_of(both, 2);
    put_plugin("service_large", "probe"); /* the same bytes under two names */
    numbers[4] = number_of(swapped, 1);
    numbers[5] = number_of(both, 2);
    for (uint32_t i = 0; i < COUNT(numbers); i++) {
        ck_assert_uint_ne(numbers[i], 0);
        for (uint32_t k = 0; k < i; k++)
            EXPECT(numbers[i] != numbers[k], "%u and %u", i, k);
    }
    ck_assert_uint_eq(number_of(swapped, 2), numbers[5]);
    ck_assert_uint_eq(number_of(both, 1), numbers[2]);
    ck_assert_str_eq(rig.log.text, "");
}
END_TEST

/* A file of another plugin comes in with what waits, or with it not at all. */
START_TEST(what_is_written_meanwhile_shares_the_fate_of_what_waits)
{
    bool refused = _i == 1;
    WORKS(host, bp_host_load_plugin(host, put_plugin("reload_probe_first", "probe"), NULL, 0));
    WORKS(host, bp_host_poll(host));
    put_plugin("service_large", "service");
    poll_until(&voter.asked, 2);
    put_plugin(refused ? "refuses" : "reload_probe_faster", "probe");
    poll_until(&voter.withdrawn, 0);
    voter.is_ready = 1;
    poll_until(&voter.voted, 0);
    ck_assert_int_eq(voter.mine == BP_OK, !refused);
    ck_assert_uint_eq(service->number(), refused ? 1 : 2);
    ck_assert_str_eq(bp_host_plugin(host, 2, NULL)->desc->version, refused ? "1" : "2");
    if (refused)
        ck_assert_ptr_nonnull(strstr(rig.log.text, "probe"));
    for (uint32_t i = 0; i < 20; i++) {
        os_sleep_ns(NAP_NS);
        WORKS(host, bp_host_poll(host));
    }
    ck_assert_uint_eq(voter.voted, 1);
    rig.log.text[0] = '\0';
}
END_TEST

/* Also where no file is watched. What is asked for once more is asked about once more. */
START_TEST(what_is_asked_for_waits_until_it_may_begin)
{
    if (_i == 1)
        hot_end(&host->hot);
    put_plugin("service_large", "service");
    WORKS(host, bp_host_begin_reload(host, names, 1, 0));
    poll_until(&voter.asked, 3);
    uint32_t asked = voter.asked;
    WORKS(host, bp_host_begin_reload(host, names, 1, 0));
    ck_assert_uint_eq(voter.withdrawn, 1);
    poll_until(&voter.asked, asked);
    ck_assert(service->number() == 1 && voter.voted == 0);
    voter.is_ready = 1;
    WORKS(host, bp_host_poll(host));
    ck_assert(service->number() == 2 && voter.voted == 1 && voter.withdrawn == 1);
}
END_TEST

START_TEST(a_change_by_hand_does_not_wait)
{
    put_plugin("service_large", "service");
    FAILS(host, BP_ERROR_STATE, "not for this host alone", bp_host_reload(host, names, 1, NULL));
    ck_assert_uint_eq(voter.withdrawn, 1);
    voter.is_ready = 1;
    voter.answer = BP_ERROR_FAILED;
    FAILS(host, BP_ERROR_FAILED, "the others will not have it", bp_host_reload(host, names, 1, NULL));
    ck_assert_uint_eq(service->number(), 1);
    voter.answer = BP_OK;
    WORKS(host, bp_host_reload(host, names, 1, NULL));
    ck_assert_uint_eq(service->number(), 2);
    rig.log.text[0] = '\0';
}
END_TEST

Suite *vote_suite(void)
{
    Suite *suite = suite_create("vote");
    TCase *tcase = tcase_create("vote");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_set_timeout(tcase, 20);
    tcase_add_test(tcase, a_change_waits_until_it_may_begin);
#if defined(__linux__)
    tcase_add_test(tcase, a_change_that_waits_for_long_maps_its_file_no_more_often);
#endif
    tcase_add_test(tcase, a_change_that_is_voted_down_leaves_no_trace);
    tcase_add_test(tcase, what_cannot_be_prepared_is_voted_on_too);
    tcase_add_test(tcase, what_is_written_anew_takes_the_place_of_what_waits);
    tcase_add_test(tcase, a_change_is_asked_for_by_a_number_of_its_own);
    tcase_add_loop_test(tcase, what_is_written_meanwhile_shares_the_fate_of_what_waits, 0, 2);
    tcase_add_loop_test(tcase, what_is_asked_for_waits_until_it_may_begin, 0, 2);
    tcase_add_test(tcase, a_change_by_hand_does_not_wait);
    suite_add_tcase(suite, tcase);
    return suite;
}
