/* test_peers.c - inis that several ranks read: values and worlds for each, refused where the ranks differ.
 *
 * No other process is needed: a plugin linked into the test says which rank this host is, and makes up what the others
 * send. tests/scripts/machines.sh does the same with processes and MPI.
 */
#include "../suites.h"
#include "../unit/support.h"

#include <backplane.h>
#include <bp_share.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t this_rank, all_ranks, left, left_failed;
static const char *other_text; /* what rank 2 has in place of "steps = 7"; NULL: the same */
static bp_result_t answer;

static uint32_t BP_CALL rank(bp_host_o *host)
{
    (void)host;
    return this_rank;
}

static uint32_t BP_CALL count(bp_host_o *host)
{
    (void)host;
    return all_ranks;
}

static bp_result_t BP_CALL exchange(bp_host_o *host, const void *bytes, size_t size, bp_peers_take take, void *data)
{
    (void)host;
    for (uint32_t i = 0; i < all_ranks && answer == BP_OK; i++) {
        char *text = calloc(1, size + 1);
        ck_assert_ptr_nonnull(text);
        memcpy(text, bytes, size);
        char *steps = i == 2 && other_text != NULL ? strstr(text, "steps = 7") : NULL;
        if (steps != NULL)
            memcpy(steps, other_text, strlen("steps = 7"));
        take(data, i, text, size);
        free(text);
    }
    return answer;
}

static void BP_CALL leave(bp_host_o *host, uint32_t failed)
{
    (void)host;
    left++;
    left_failed += failed != 0;
}

static const bp_peers_api peers = {.rank = rank, .count = count, .exchange = exchange, .leave = leave};

static uint64_t BP_CALL durable(const bp_plugin_t *plugin, bp_world_o *world, bp_entity_t entity)
{
    ck_assert_ptr_nonnull(plugin->api->world->find(plugin->host, plugin->api->world->name(world)));
    return bp_entity_index(entity) + 100u;
}

static uint32_t BP_CALL found(const bp_plugin_t *plugin, bp_world_o *world, uint64_t number, bp_entity_t *entity)
{
    (void)world;
    *entity = plugin->api->entity->at(plugin->host, (uint32_t)number - 100u);
    return entity->id != 0;
}

static uint32_t BP_CALL part(const bp_plugin_t *plugin, bp_world_o *world, uint32_t number, bp_part_t *out)
{
    (void)plugin, (void)world;
    out->entities = 7;
    return number < 3;
}

static bp_result_t BP_CALL pack(const bp_plugin_t *plugin, const void **bytes, size_t *size)
{
    *bytes = plugin;
    *size = sizeof *plugin;
    return BP_OK;
}

static bp_result_t BP_CALL join(const bp_plugin_t *plugin, uint32_t keeps_own, const bp_parcel_t *parcels,
                                uint32_t parcel_count)
{
    return parcels[0].bytes == plugin && keeps_own == 1 && parcel_count == 1 ? BP_OK : BP_ERROR_FAILED;
}

static const bp_sharer_api sharer = {.durable = durable, .found = found, .part = part, .pack = pack, .join = join};
static const bp_table_t tables[] = {BP_TABLE(BP_PEERS_API, 1, peers, BP_PEERS_RETURNS),
                                    BP_TABLE(BP_SHARER_API, 1, sharer, BP_SHARER_RETURNS)};
static const bp_plugin_head_t several =
    BP_PLUGIN_HEAD("several", (&(const bp_plugin_desc_t){.version = "1.0", .tables = BP_LIST(tables)}));

static const bp_field_t options[] = {{.name = "text", .type = BP_STRING}, {.name = "number", .type = BP_U32}};
static const bp_plugin_t *told;

static bp_result_t listen(bp_plugin_t *plugin)
{
    told = plugin;
    return BP_OK;
}

static const bp_plugin_head_t listener = BP_PLUGIN_HEAD(
    "listener", (&(const bp_plugin_desc_t){.version = "1.0", .options = BP_LIST(options), .load = listen}));
static const bp_plugin_head_t *const plugins[] = {&several, &listener};

static bp_host_o *host;
static char path[256];

static void begin(void)
{
    this_rank = 1;
    all_ranks = 3;
    left = left_failed = 0;
    other_text = NULL;
    answer = BP_OK;
    host = bp_host_create(&(bp_host_desc_t){.static_plugins = plugins, .static_plugin_count = 2});
    snprintf(path, sizeof path, TEST_SCRATCH_DIR "/peers_%d.ini", (int)rand());
}

static void end(void)
{
    bp_host_destroy(host);
    remove(path);
}

static bp_result_t set_up(const char *head, const char *rest)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "[host]\nplugins = %s\nsteps = 7\n%s", head, rest);
    fclose(file);
    return bp_host_setup(host, path);
}

START_TEST(values_are_those_of_the_rank)
{
    ck_assert_int_eq(set_up("several listener",
                            "[plugin listener]\ntext = {rank} of {ranks}, {rank: a bb c} and {rant}, {\n"
                            "number = {rank: 10, 11, 12}\n"),
                     BP_OK);
    ck_assert_str_eq(told->options[0].string, "1 of 3, bb and {rant}, {");
    ck_assert_uint_eq(told->options[1].u32, 11);
    uint32_t number;
    ck_assert_uint_eq(bp_host_peers(host, &number), 3);
    ck_assert_uint_eq(number, 1);
}
END_TEST

START_TEST(a_host_alone_is_rank_0_of_1)
{
    ck_assert_int_eq(set_up("listener", "[world main]\nscenes = {rank: }\n"), BP_ERROR_ARGUMENT);
    ck_assert_int_eq(set_up("", "[world main]\nplace = rank 0\n[world other]\nplace = each\n"), BP_OK);
    ck_assert_ptr_nonnull(bp_host_api(host)->world->find(host, "main"));
    ck_assert_ptr_nonnull(bp_host_api(host)->world->find(host, "other"));
    ck_assert_uint_eq(bp_host_peers(host, NULL), 1);
}
END_TEST

static const struct { const char *head, *rest, *said; } braces[] = {
    {"", "[world main]\nscenes = {rank: a b}\n", ":5: scenes = {rank: a b}: 2 values for 1 rank; write one for each"},
    {"several listener", "[plugin listener]\nnumber = {rank: 10}\n", "number = {rank: 10}: 1 value for 3 ranks"},
    {"", "[world main]\nplace = split\n", ":5: place = split needs the plugin mpi, listed first"},
    {"", "[world main]\nplace = rank 1\n",
     "place = rank 1: there is 1, from rank 0 on; start the program with mpirun -n 2"},
    {"several listener", "[plugin listener]\nnumber = {rank: 1 2\n", "'{rank: 1 2' is not a whole number"},
};

START_TEST(braces_and_places_that_do_not_fit_are_told)
{
    ck_assert_int_ne(set_up(braces[_i].head, braces[_i].rest), BP_OK);
    ck_assert_msg(strstr(bp_host_error(host), braces[_i].said) != NULL, "%s", bp_host_error(host));
    ck_assert_ptr_null(bp_host_api(host)->world->at(host, 0));
}
END_TEST

static void BP_CALL take_own(void *data, uint32_t from, const void *bytes, size_t size)
{
    uint32_t *taken = data;
    ck_assert_uint_eq(from, 0);
    ck_assert_uint_eq(bytes == NULL ? 0 : 3, size);
    (*taken)++;
}

START_TEST(a_host_alone_exchanges_with_itself)
{
    uint32_t taken = 0;
    ck_assert_int_eq(bp_host_exchange(host, "abc", 3, take_own, &taken), BP_OK);
    ck_assert_int_eq(bp_host_exchange(host, "abc", 0, take_own, &taken), BP_OK);
    ck_assert_uint_eq(taken, 2);
}
END_TEST

START_TEST(a_value_too_few_is_told)
{
    ck_assert_int_eq(set_up("several listener", "[plugin listener]\nnumber = {rank: 10 11}\n"), BP_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(bp_host_error(host), ":5: number = {rank: 10 11}: 2 values for 3 ranks"));
    ck_assert_uint_eq(left_failed, 1);
}
END_TEST

START_TEST(a_world_is_where_it_is_placed)
{
    ck_assert_int_eq(set_up("several",
                            "[world here]\nplace = rank 1\n[world there]\nplace = rank 2\nscenes = none.json\n"
                            "[world all]\nplace = each\n[spawn there a]\ncount = 2\n[spawn here a]\ncount = 3\n"),
                     BP_OK);
    const bp_api_t *api = bp_host_api(host);
    ck_assert_ptr_nonnull(api->world->find(host, "here"));
    ck_assert_ptr_null(api->world->find(host, "there"));
    ck_assert_ptr_nonnull(api->world->find(host, "all"));
    ck_assert_uint_eq(api->entity->count(host), 3);
}
END_TEST

static const struct { const char *place, *said; } places[] = {
    {"rank 3", "place = rank 3: there are 3, from rank 0 on; start the program with mpirun -n 4"},
    {"rank", "place = rank; write each, split, or rank 0"},
    {"rank -1", "write each, split, or rank 0"},
    {"rank 99999999999999999999", "write each, split, or rank 0"},
    {"everywhere", "write each, split, or rank 0"},
    {"split", "split"}, /* the plugin here brings no such system */
};

START_TEST(a_place_that_is_none_is_told)
{
    char text[128];
    snprintf(text, sizeof text, "[world main]\nplace = %s\n", places[_i].place);
    ck_assert_int_ne(set_up("several", text), BP_OK);
    ck_assert_msg(strstr(bp_host_error(host), places[_i].said) != NULL, "%s", bp_host_error(host));
    ck_assert_ptr_nonnull(strstr(bp_host_error(host), ":5: "));
    ck_assert_ptr_null(bp_host_api(host)->world->at(host, 0));
}
END_TEST

START_TEST(ranks_with_another_ini_are_refused_with_what_differs)
{
    other_text = "steps = 8";
    ck_assert_int_eq(set_up("several", "[world main]\n"), BP_ERROR_ARGUMENT);
    ck_assert_str_eq(bp_host_error(host), "rank 2 was not started with what rank 0 was: '[host] steps = 8' there, "
                                          "'[host] steps = 7' on rank 0");
    ck_assert_uint_eq(left_failed, 1);
    ck_assert_ptr_null(bp_host_api(host)->world->at(host, 0));
    other_text = NULL;
    ck_assert_int_eq(set_up("several", "[world main]\n"), BP_OK);
}
END_TEST

/* Which ranks there are is settled at the start. */
START_TEST(ranks_do_not_come_later_and_read_no_ini_again)
{
    ck_assert_int_eq(set_up("listener", "[world main]\n"), BP_OK);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("[host]\nplugins = listener several\nsteps = 7\n[world main]\n", file);
    fclose(file);
    ck_assert_int_eq(bp_host_setup_again(host, path, NULL), BP_ERROR_STATE);
    ck_assert_ptr_nonnull(strstr(bp_host_error(host), ":2: ranks meet when a program starts, and not later"));
    ck_assert_ptr_null(bp_host_api(host)->registry->find(host, BP_PEERS_API, 1));
    ck_assert_uint_eq(bp_host_peers(host, NULL), 1);
    bp_host_destroy(host);
    begin();
    ck_assert_int_eq(set_up("several", "[world main]\n"), BP_OK);
    ck_assert_int_eq(bp_host_setup_again(host, path, NULL), BP_ERROR_STATE);
    ck_assert_ptr_nonnull(strstr(bp_host_error(host), "ranks that do an ini together read it when they start"));
    ck_assert_uint_eq(left, 0);
}
END_TEST

START_TEST(ranks_that_cannot_talk_are_no_ranks)
{
    answer = BP_ERROR_IO;
    ck_assert_int_eq(set_up("several", "[world main]\n"), BP_ERROR_IO);
    ck_assert_ptr_nonnull(strstr(bp_host_error(host), "they do not reach each other"));
    ck_assert_uint_eq(left_failed, 1);
}
END_TEST

START_TEST(what_is_asked_of_shared_worlds_goes_to_the_plugin_that_shares_them)
{
    const bp_api_t *api = bp_host_api(host);
    bp_part_t mine = {.struct_size = sizeof mine};
    bp_parcel_t parcel;
    bp_entity_t e, same;
    const bp_share_api *shares = (const bp_share_api *)api->registry->find(host, BP_SHARE_API, 1);
    ck_assert_ptr_nonnull(shares);
    ck_assert_int_eq(shares->pack(host, &parcel.bytes, &parcel.size), BP_ERROR_STATE);
    ck_assert_ptr_nonnull(strstr(bp_host_error(host), "no plugin of this host shares worlds"));
    ck_assert_int_eq(shares->join(host, 1, NULL, 0), BP_ERROR_STATE);
    ck_assert_int_eq(set_up("several", "[world main]\n"), BP_OK);
    bp_world_o *world = api->world->find(host, "main");
    ck_assert_int_eq(api->entity->create(host, &e, 1), BP_OK);
    uint64_t number = shares->durable(world, e);
    ck_assert_uint_eq(number, bp_entity_index(e) + 100u);
    ck_assert_uint_eq(shares->found(world, number, &same), 1);
    ck_assert_uint_eq(same.id, e.id);
    ck_assert_uint_eq(shares->found(world, number + 50, &same), 0);
    ck_assert_uint_eq(shares->part(world, 2, &mine), 1);
    ck_assert_uint_eq(mine.entities, 7);
    ck_assert_uint_eq(shares->part(world, 3, &mine), 0);
    ck_assert_int_eq(shares->pack(host, &parcel.bytes, &parcel.size), BP_OK);
    ck_assert_int_eq(shares->join(host, 1, &parcel, 1), BP_OK);
    ck_assert_int_eq(shares->join(host, 0, &parcel, 1), BP_ERROR_FAILED);
    ck_assert_int_eq(bp_host_unload_plugin(host, "several"), BP_OK);
    ck_assert_uint_eq(shares->durable(world, e), 0);
    ck_assert_uint_eq(shares->found(world, number, &same), 0);
    ck_assert_uint_eq(same.id, 0);
    ck_assert_uint_eq(shares->part(world, 2, &mine), 0);
}
END_TEST

START_TEST(a_host_that_ends_leaves_in_good_order)
{
    ck_assert_int_eq(set_up("several", "[world main]\n"), BP_OK);
    bp_host_destroy(host);
    host = NULL;
    ck_assert_uint_eq(left, 1);
    ck_assert_uint_eq(left_failed, 0);
}
END_TEST

Suite *peers_suite(void)
{
    Suite *suite = suite_create("peers");
    TCase *tcase = tcase_create("peers");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, values_are_those_of_the_rank);
    tcase_add_test(tcase, a_host_alone_is_rank_0_of_1);
    tcase_add_loop_test(tcase, braces_and_places_that_do_not_fit_are_told, 0,
                        (int)(sizeof braces / sizeof braces[0]));
    tcase_add_test(tcase, a_host_alone_exchanges_with_itself);
    tcase_add_test(tcase, a_value_too_few_is_told);
    tcase_add_test(tcase, a_world_is_where_it_is_placed);
    tcase_add_loop_test(tcase, a_place_that_is_none_is_told, 0, (int)(sizeof places / sizeof places[0]));
    tcase_add_test(tcase, ranks_with_another_ini_are_refused_with_what_differs);
    tcase_add_test(tcase, ranks_do_not_come_later_and_read_no_ini_again);
    tcase_add_test(tcase, ranks_that_cannot_talk_are_no_ranks);
    tcase_add_test(tcase, what_is_asked_of_shared_worlds_goes_to_the_plugin_that_shares_them);
    tcase_add_test(tcase, a_host_that_ends_leaves_in_good_order);
    suite_add_tcase(suite, tcase);
    return suite;
}
