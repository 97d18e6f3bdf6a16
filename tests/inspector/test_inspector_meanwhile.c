/* test_inspector_meanwhile.c - what comes to pass while calls and streams are under way: worlds, entities, components
 * and sets that they are about go, clients go, and others ask for the same. A host that has no world at all is asked
 * everything.
 */
#define _POSIX_C_SOURCE 200809L

#include "served_stage.h"

#include "../suites.h"

#include <stdlib.h>
#include <time.h>

/* --- no world ----------------------------------------------------------------------------------------------------- */

/* A host that has an entity and no world. */
START_TEST(a_host_without_worlds_says_so)
{
    static const struct {
        const char *method, *params, *wanted;
    } rows[] = {
        {"backplane.info", "{}", "\"worlds\":[]"},
        {"backplane.worlds", "{}", "\"result\":[]"},
        {"backplane.types", "{}", "\"type\":\"point_mass\""},
        {"backplane.plugins", "{}", "\"name\":\"inspector\""},
        {"backplane.components", "{}", "this host has no world"},
        {"backplane.systems", "{}", "this host has no world"},
        {"backplane.ranks", "{}", "this host has no world"},
        {"backplane.names", "{\"entities\":[]}", "this host has no world"},
        {"backplane.find", "{}", "this host has no world"},
        {"backplane.query", "{}", "this host has no world"},
        {"backplane.entity", "{\"entity\":4294967296}", "this host has no world"},
        {"backplane.pause", "{}", "this host has no world"},
        {"backplane.run", "{}", "this host has no world"},
        {"backplane.step", "{}", "this host has no world"},
        {"backplane.speed", "{\"speed\":1}", "this host has no world"},
        {"backplane.watch+watch", "{}", "this host has no world"},
        {"world.get_components", "{\"entity\":4294967296,\"components\":[]}", "this host has no world"},
        {"world.get_components+watch", "{\"entity\":4294967296,\"components\":[]}", "this host has no world"},
        {"world.list_components", "{}", "this host has no world"},
        {"world.list_components", "{\"entity\":4294967296}", "this host has no world"},
        {"world.list_components+watch", "{\"entity\":4294967296}", "this host has no world"},
        {"world.query", "{\"data\":{}}", "this host has no world"},
        {"world.spawn_entity", "{\"components\":{}}", "this host has no world"},
        {"world.insert_components", "{\"entity\":4294967296,\"components\":{}}", "this host has no world"},
        {"world.remove_components", "{\"entity\":4294967296,\"components\":[]}", "this host has no world"},
        {"world.mutate_components", "{\"entity\":4294967296,\"component\":\"a\",\"path\":\"b\",\"value\":1}",
         "this host has no world"},
        {"world.reparent_entities", "{\"entities\":[4294967296]}", "this host has no world"},
        {"world.get_resources", "{\"resource\":\"a\"}", "this host has no world"},
        {"world.insert_resources", "{\"resource\":\"a\",\"value\":{}}", "this host has no world"},
        {"world.remove_resources", "{\"resource\":\"a\"}", "this host has no world"},
        {"world.mutate_resources", "{\"resource\":\"a\",\"path\":\"b\",\"value\":1}", "this host has no world"},
        {"world.list_resources", "{}", "this host has no world"},
        {"registry.schema", "{}", "\"point_mass\":{\"shortPath\":\"point_mass\""},
        {"schedule.list", "{}",
         "\"schedule_labels\":[],\"unavailable_schedule_labels\":[],\"empty_schedule_labels\":[]"},
        {"schedule.graph", "{\"schedule_label\":\"step\"}", "there is no schedule 'step'"},
        {"world.despawn_entity", "{\"entity\":\"nobody\"}", "no entity 'nobody' lives"},
        {"world.despawn_entity", "{\"entity\":4294967296}", "\"result\":null"},
        {"world.despawn_entity", "{\"entity\":4294967296}", "is dead"},
    };
    served_t served;
    bp_entity_t entity;
    open_bare_host(&served, NULL);
    must(&served, bp_host_api(served.host)->entity->create(served.host, &entity, 1));
    load(&served, "0.5");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ask(&served, rows[i].method, rows[i].params, rows[i].wanted);
    const char *points = whole(&served, send_body(&served, "/points", "{\"position\":\"a.b\"}"));
    ck_assert_msg(strstr(points, "400") != NULL && strstr(points, "this host has no world") != NULL, "%s", points);
    points = whole(&served, send_to(&served, "/world/main", "backplane.worlds", "{}"));
    ck_assert_msg(strstr(points, "there is no world 'main'") != NULL, "%s", points);
    close_host(&served);
}
END_TEST

/* --- worlds that are destroyed ------------------------------------------------------------------------------------ */

enum { MANY = 20000 };

/* Entities of which looking at all takes more than one turn of the smallest budget. */
static void fill(const served_t *served)
{
    uint32_t key, prototype;
    bp_entity_t *entities = malloc(MANY * sizeof *entities);
    const bp_api_t *api = bp_host_api(served->host);
    ck_assert_ptr_nonnull(entities);
    must(served, api->world->key(served->world, api->world->component(served->world, "point_mass"), 0, &key));
    must(served, api->world->prototype(served->world, &key, 1, &prototype));
    must(served, api->world->create(served->world, prototype, entities, MANY));
    free(entities);
}

/* A host with many entities, and the least budget. */
static void open_full(served_t *served)
{
    open_host(served);
    must(served, bp_host_unload_plugin(served->host, "inspector"));
    load(served, "0.05");
    fill(served);
}

/* Destroy the world; and make another one of the same name and with the same component, which may lie in its place. */
static void end_world(served_t *served, bool anew)
{
    bp_world_destroy(served->world);
    if (!anew)
        return;
    served->world = bp_world_create(served->host, &(bp_world_desc_t){.name = "main"});
    ck_assert_ptr_nonnull(served->world);
    must(served, bp_world_use_component(served->world, "point_mass"));
}

/* Calls that take several turns, of which the world is destroyed after the first, and another one made, or not: they
 * say so, and touch nothing of the world. The connections are asked in one turn each, since a call is taken up when the
 * host polls. */
START_TEST(a_world_that_goes_ends_the_calls_about_it)
{
    static const struct {
        const char *place, *body, *wanted;
    } rows[] = {
        {"/", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"world.query\",\"params\":{\"data\":{\"option\":\"all\"}}}",
         "the world has gone while the call was being answered"},
        {"/points", "{\"position\":\"point_mass.position\",\"most\":2000000}",
         "the world has gone while the call was being answered"},
        {"/",
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"backplane.query\",\"params\":{\"where\":\"point_mass.mass > 0\"}}",
         "the world of this set has gone"},
    };
    /* On a busy machine the call may come when the world has gone already: then once more, with more time for it. */
    static const int waits[] = {20, 100, 500, 2500}; /* ms */
    enum { WAITS = sizeof waits / sizeof waits[0] };
    bool told = false;
    for (int n = 0; n < WAITS && !told; n++) {
        served_t served;
        open_full(&served);
        int client = send_body(&served, rows[_i / 2].place, rows[_i / 2].body);
        const struct timespec until_it_lies_there = {waits[n] / 1000, waits[n] % 1000 * A_MILLISECOND};
        nanosleep(&until_it_lies_there, NULL);
        must(&served, bp_host_poll(served.host));
        end_world(&served, _i % 2 == 1);
        const char *answer = whole(&served, client);
        told = strstr(answer, rows[_i / 2].wanted) != NULL;
        ck_assert_msg(told || n + 1 < WAITS, "instead of %s came %.1000s", rows[_i / 2].wanted, answer);
        close_host(&served);
    }
}
END_TEST

/* Searches for which there was no place yet when their world was destroyed: they touch nothing of the world. There are
 * far more than there are sets, and a set takes several turns, since names are looked at. */
START_TEST(a_world_that_goes_ends_the_searches_that_wait_for_a_place)
{
    enum { SEARCHES = 40, TURNS = 12, FIRST = 12 };
    static const char gone[] = "the world has gone while the call was being answered";
    static const char *const wanted[] = {gone, "the world of this set has gone", "this host has no world"};
    served_t served;
    int clients[SEARCHES];
    uint32_t ended = 0;
    struct timespec nap = {.tv_nsec = 200 * A_MILLISECOND};
    open_full(&served);
    for (int i = 0; i < SEARCHES; i++)
        clients[i] = send_call(&served, i < FIRST || i % 2 == 0 ? "backplane.query" : "backplane.find",
                               "{\"name\":\"nobody\"}");
    nanosleep(&nap, NULL); /* until the calls lie there */
    for (int i = 0; i < TURNS; i++)
        must(&served, bp_host_poll(served.host));
    bp_world_destroy(served.world);
    for (int i = 0; i < SEARCHES; i++) {
        const char *answer = whole(&served, clients[i]);
        bool known = false;
        for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++)
            known = known || strstr(answer, wanted[k]) != NULL;
        ck_assert_msg(known || strstr(answer, "\"set\":") != NULL, "search %d: %.1000s", i, answer);
        ended += strstr(answer, gone) != NULL;
    }
    ck_assert_uint_gt(ended, 0);
    close_host(&served);
}
END_TEST

/* Streams about a world that goes: those of BRP end with an error, that of the page tells that the world is not there
 * any more, and goes on. */
START_TEST(a_world_that_goes_is_told_to_streams)
{
    served_t served;
    open_host(&served);
    ask(&served, "world.spawn_entity", "{\"components\":{\"point_mass\":{}}}", "\"entity\":4294967296");
    int list = send_call(&served, "world.list_components+watch", "{\"entity\":4294967296}");
    int values = send_call(&served, "world.get_components+watch",
                           "{\"entity\":4294967296,\"components\":[\"point_mass\"]}");
    int page = send_call(&served, "backplane.watch+watch", "{\"every_ms\":20,\"entity\":4294967296}");
    await(&served, list, "\"added\":[\"point_mass\"]");
    await(&served, values, "\"point_mass\":{\"mass\":1");
    await(&served, page, "\"name\":\"main\"");
    bp_world_destroy(served.world);
    const char *told = whole(&served, list);
    ck_assert_msg(strstr(told, "\"message\":\"the world has gone while") != NULL, "%s", told);
    told = whole(&served, values);
    ck_assert_msg(strstr(told, "\"message\":\"the world has gone while") != NULL, "%s", told);
    await(&served, page, "\"worlds\":[],");
    close(page);
    close_host(&served);
}
END_TEST

/* A set outlives its world as a number that leads to nothing; a set that is being built is given up. */
START_TEST(a_set_of_a_world_that_has_gone_is_told)
{
    served_t served;
    open_full(&served);
    ask(&served, "backplane.query", "{\"count\":0}", "\"count\":20000");
    ask_of_set(&served, "backplane.rows", "{\"set\":1,\"count\":2}", "\"entity\":4294967297");
    ask(&served, "backplane.set", "{\"path\":\"main/#12345:1.point_mass.mass\",\"value\":7}", "\"result\":null");
    ask(&served, "backplane.query", "{\"where\":\"point_mass.mass > 5\"}",
        "\"count\":1,\"progress\":1,\"built\":true,\"tree\":false,\"from\":0,\"rows\":[{\"entity\":4294979641,");
    end_world(&served, _i == 1);
    ask_of_set(&served, "backplane.progress", "{\"set\":1}", "\"count\":20000");
    ask_of_set(&served, "backplane.rows", "{\"set\":1}", "the world of this set has gone");
    ask(&served, "backplane.children", "{\"set\":1}", "the world of this set has gone");
    close_host(&served);
}
END_TEST

/* --- entities that die -------------------------------------------------------------------------------------------- */

START_TEST(an_entity_that_dies_ends_its_streams_and_stays_in_sets_as_gone)
{
    served_t served;
    open_host(&served);
    ask(&served, "world.spawn_entity", "{\"components\":{\"point_mass\":{\"mass\":5}}}", "\"entity\":4294967296");
    ask(&served, "world.spawn_entity", "{\"components\":{\"point_mass\":{}}}", "\"entity\":4294967297");
    ask(&served, "backplane.query", "{\"values\":[\"point_mass.mass\"]}",
        "{\"entity\":4294967296,\"id\":\"#0:1\",\"values\":[5]}");
    int list = send_call(&served, "world.list_components+watch", "{\"entity\":4294967296}");
    int values = send_call(&served, "world.get_components+watch",
                           "{\"entity\":4294967296,\"components\":[\"point_mass\"],\"strict\":true}");
    int none = send_call(&served, "world.get_components+watch", "{\"entity\":4294967296,\"components\":[]}");
    int page = send_call(&served, "backplane.watch+watch",
                         "{\"every_ms\":20,\"entity\":4294967296,"
                         "\"values\":[{\"entity\":4294967296,\"property\":\"point_mass.mass\"}]}");
    await(&served, list, "\"added\":[\"point_mass\"]");
    ck_assert_ptr_null(strstr(await(&served, values, "\"removed\":[]"), "\"errors\""));
    await(&served, page, "\"values\":[5]");
    ask(&served, "world.despawn_entity", "{\"entity\":4294967296}", "\"result\":null");
    const char *told = whole(&served, list);
    ck_assert_msg(strstr(told, "entity 4294967296 (#0:1) is dead, or never lived") != NULL, "%s", told);
    told = whole(&served, values);
    ck_assert_msg(strstr(told, "entity 4294967296 (#0:1) is dead, or never lived") != NULL, "%s", told);
    told = whole(&served, none);
    ck_assert_msg(strstr(told, "entity 4294967296 (#0:1) is dead, or never lived") != NULL, "of none: %s", told);
    await(&served, page, "\"gone\":true,\"components\":[]},\"values\":[null]");
    close(page);
    ask_of_set(&served, "backplane.rows", "{\"set\":1,\"values\":[\"point_mass.mass\"]}",
        "\"rows\":[{\"entity\":4294967296,\"id\":\"#0:1\",\"gone\":true,\"values\":[null]},");
    ask(&served, "backplane.names", "{\"entities\":[4294967296,\"sun\",4294967297]}", "\"result\":[null,null,null]");
    close_host(&served);
}
END_TEST

/* Told once as gone, and anew when it is there again; what does not change is not told. */
START_TEST(a_component_that_goes_is_told_by_name)
{
    static const char one[] = "{\"entity\":4294967296,\"components\":[\"point_mass\"]}";
    served_t served;
    open_host(&served);
    ask(&served, "world.spawn_entity", "{\"components\":{\"point_mass\":{\"mass\":5}}}", "\"entity\":4294967296");
    int values = send_call(&served, "world.get_components+watch", one);
    await(&served, values, "\"components\":{\"point_mass\":{\"mass\":5,");
    ask(&served, "world.remove_components", one, "\"result\":null");
    await(&served, values, "\"result\":{\"components\":{},\"removed\":[\"point_mass\"],\"errors\":{}}");
    ask(&served, "world.insert_components", "{\"entity\":4294967296,\"components\":{\"point_mass\":{\"mass\":7}}}",
        "\"result\":null");
    await(&served, values, "\"components\":{\"point_mass\":{\"mass\":7,");
    close(values);
    close_host(&served);
}
END_TEST

/* Of several components those are told that have gone or changed. A stream of another kind cannot be told to tell
 * something else. */
START_TEST(streams_tell_what_has_changed_of_several)
{
    static const char both[] = "{\"entity\":\"sun\",\"components\":[\"point_mass\",\"transform\",\"bag\"]}";
    char params[128];
    unsigned number = 0;
    served_t served;
    open_scene(&served);
    ask(&served, "world.insert_components", "{\"entity\":\"sun\",\"components\":{\"transform\":{}}}",
        "\"result\":null");
    int list = send_call(&served, "world.list_components+watch", "{\"entity\":\"sun\"}");
    await(&served, list, "\"added\":[\"point_mass\",\"debug_name\",\"transform\"],\"removed\":[]");
    int values = send_call(&served, "world.get_components+watch", both);
    await(&served, values, "\"transform\":{");
    int page = send_call(&served, "backplane.watch+watch", "{\"every_ms\":0}");
    const char *told = strstr(await(&served, page, "\"watch\":"), "\"watch\":");
    ck_assert_int_eq(sscanf(told, "\"watch\":%u", &number), 1);
    snprintf(params, sizeof params, "{\"watch\":%u}", number - 1); /* that of the values */
    ask(&served, "backplane.rewatch", params, "there is no such stream");
    snprintf(params, sizeof params, "{\"watch\":%u,\"every_ms\":-1}", number);
    ask(&served, "backplane.rewatch", params, "has to be a whole number from 0 to 60000");
    snprintf(params, sizeof params, "{\"watch\":%u,\"entity\":\"sun\",\"every_ms\":20}", number);
    ask(&served, "backplane.rewatch", params, "\"result\":null");
    await(&served, page, "\"entity\":{\"entity\":4294967296,");
    ask(&served, "world.remove_components", "{\"entity\":\"sun\",\"components\":[\"transform\"]}", "\"result\":null");
    await(&served, list, "\"result\":{\"added\":[],\"removed\":[\"transform\"]}");
    await(&served, values, "\"result\":{\"components\":{},\"removed\":[\"transform\"],");
    ask(&served, "backplane.set", "{\"path\":\"main/sun.point_mass.mass\",\"value\":3}", "\"result\":null");
    told = await(&served, values, "\"result\":{\"components\":{\"point_mass\":{\"mass\":3,");
    ck_assert_ptr_nonnull(strstr(told, "\"removed\":[],"));
    close(list);
    close(values);
    close(page);
    close_host(&served);
}
END_TEST

/* --- sets --------------------------------------------------------------------------------------------------------- */

/* Eight sets are kept: a ninth takes the place of the one that was not asked for for longest. */
START_TEST(the_set_that_was_not_asked_for_for_longest_makes_room)
{
    served_t served;
    open_host(&served);
    for (int i = 1; i <= 8; i++) {
        char wanted[32];
        snprintf(wanted, sizeof wanted, "\"set\":%d,", i);
        ask(&served, "backplane.find", "{}", wanted);
    }
    ask_of_set(&served, "backplane.progress", "{\"set\":1}", "\"built\":true");
    ask(&served, "backplane.find", "{}", "\"set\":9,");
    ask_of_set(&served, "backplane.progress", "{\"set\":1}", "\"built\":true");
    ask_of_set(&served, "backplane.progress", "{\"set\":2}", "this set is not kept any more");
    ask_of_set(&served, "backplane.progress", "{\"set\":3}", "\"progress\":1,\"built\":true,\"tree\":false");
    close_host(&served);
}
END_TEST

/* More searches at once than there are sets: each is answered. */
START_TEST(more_searches_at_once_than_sets_are_all_answered)
{
    enum { SEARCHES = 20 };
    served_t served;
    int clients[SEARCHES];
    open_full(&served);
    for (int i = 0; i < SEARCHES; i++)
        clients[i] = send_call(&served, "backplane.query", "{\"where\":\"point_mass.mass > 0\",\"count\":0}");
    for (int i = 0; i < SEARCHES; i++) {
        const char *answer = whole(&served, clients[i]);
        ck_assert_msg(strstr(answer, "\"count\":20000") != NULL, "search %d: %.1000s", i, answer);
    }
    close_host(&served);
}
END_TEST

/* A host carries out one change at a time: each of several clients is told what became of its own. */
START_TEST(changes_that_are_tried_at_once_are_told_to_those_who_asked)
{
    enum { CLIENTS = 6, ROUNDS = 10 };
    served_t served;
    int clients[CLIENTS];
    char text[128];
    open_full(&served);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CLIENTS; i++) {
            snprintf(text, sizeof text,
                     "{\"values\":[{\"path\":\"main/#0:1.point_mass.mass\",\"value\":%d}],\"steps\":1}", 1 + (2 << i));
            clients[i] = send_call(&served, "backplane.try", text);
        }
        for (int i = 0; i < CLIENTS; i++) {
            const char *answer = whole(&served, clients[i]);
            snprintf(text, sizeof text, "\"field\":\"mass\",\"entities\":1,\"largest\":%d}", 2 << i);
            ck_assert_msg(strstr(answer, text) != NULL, "instead of %s came %s", text, answer);
        }
    }
    close_host(&served);
}
END_TEST

/* --- clients that go ---------------------------------------------------------------------------------------------- */

/* Clients that have gone when the host comes to their requests: what they asked for is made all the same or not at all,
 * and everything is given back, which close_host looks at. */
START_TEST(clients_that_have_gone_leave_nothing_behind)
{
    static const char *const asked[][2] = {
        {"backplane.worlds", "{}"},
        {"backplane.watch+watch", "{\"every_ms\":20,\"entity\":4294967297}"},
        {"world.query", "{\"data\":{\"option\":\"all\"}}"},
        {"backplane.query", "{\"where\":\"point_mass.mass > 0\"}"},
        {"world.list_components+watch", "{\"entity\":4294967297}"},
    };
    served_t served;
    open_full(&served);
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
            struct linger reset = {1, 0};
            int client = send_call(&served, asked[i][0], asked[i][1]);
            if (round % 2 != 0)
                must(&served, bp_host_wait(served.host, A_MILLISECOND));
            setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
            close(client);
        }
        must(&served, bp_host_wait(served.host, A_MILLISECOND));
    }
    ask(&served, "backplane.worlds", "{}", "\"entities\":20000");
    close_host(&served);
}
END_TEST

Suite *inspector_meanwhile_suite(void)
{
    Suite *suite = suite_create("inspector_meanwhile");
    TCase *tcase = tcase_create("meanwhile");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_host_without_worlds_says_so);
    tcase_add_loop_test(tcase, a_world_that_goes_ends_the_calls_about_it, 0, 6);
    tcase_add_test(tcase, a_world_that_goes_ends_the_searches_that_wait_for_a_place);
    tcase_add_test(tcase, a_world_that_goes_is_told_to_streams);
    tcase_add_loop_test(tcase, a_set_of_a_world_that_has_gone_is_told, 0, 2);
    tcase_add_test(tcase, an_entity_that_dies_ends_its_streams_and_stays_in_sets_as_gone);
    tcase_add_test(tcase, a_component_that_goes_is_told_by_name);
    tcase_add_test(tcase, streams_tell_what_has_changed_of_several);
    tcase_add_test(tcase, the_set_that_was_not_asked_for_for_longest_makes_room);
    tcase_add_test(tcase, more_searches_at_once_than_sets_are_all_answered);
    tcase_add_test(tcase, changes_that_are_tried_at_once_are_told_to_those_who_asked);
    tcase_add_test(tcase, clients_that_have_gone_leave_nothing_behind);
    suite_add_tcase(suite, tcase);
    return suite;
}
