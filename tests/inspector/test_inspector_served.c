/* test_inspector_served.c - the inspector in a host, asked over a socket: its requests are posted, and answered by
 * bp_host_poll and bp_host_wait, also while all worlds are stopped; its thread comes and goes with the plugin.
 *
 * The test is the client (served_stage.h). This suite also runs under ThreadSanitizer. What a server does with
 * ill-meant clients is the subject of robust.py.
 */
#define _POSIX_C_SOURCE 200809L

#include "served_stage.h"

#include "../suites.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* --- tests -------------------------------------------------------------------------------------------------------- */

START_TEST(requests_are_answered_while_all_worlds_are_stopped)
{
    served_t served;
    bp_world_stats_t stats;
    open_host(&served);
    ask(&served, "backplane.pause", "{}", "\"result\":null");
    for (int i = 0; i < 3; i++) {
        must(&served, bp_host_step(served.host));
        ask(&served, "backplane.worlds", "{}", "\"name\":\"main\"");
    }
    bp_world_stats(served.world, &stats);
    ck_assert_uint_eq(stats.steps, 0);
    ask(&served, "backplane.step", "{\"steps\":2}", "\"result\":null");
    for (int i = 0; i < 5; i++)
        must(&served, bp_host_step(served.host));
    bp_world_stats(served.world, &stats);
    ck_assert_uint_eq(stats.steps, 2);
    close_host(&served);
}
END_TEST

#ifdef __linux__
/* The signals that a thread of this process blocks, as /proc shows them; 0 where there is no such thread. */
static unsigned long long blocked_by(const char *thread)
{
    char path[300], line[256];
    unsigned long long mask = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "SigBlk: %llx", &mask);
    if (file != NULL)
        fclose(file);
    return mask;
}

/* What stops a program has to come to its own threads. */
START_TEST(the_threads_of_the_server_leave_signals_to_others)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGWINCH, SIGUSR1};
    static char before[64][16];
    served_t served;
    uint32_t known = 0, added = 0;
    open_bare_host(&served, NULL);
    for (uint32_t turn = 0; turn < 2; turn++) {
        DIR *threads = opendir("/proc/self/task");
        ck_assert_ptr_nonnull(threads);
        for (const struct dirent *entry; (entry = readdir(threads)) != NULL;) {
            uint32_t i = 0;
            while (i < known && strcmp(before[i], entry->d_name) != 0)
                i++;
            if (turn == 0) {
                ck_assert_uint_lt(known, 64);
                snprintf(before[known++], sizeof before[0], "%.15s", entry->d_name);
            } else if (i == known) {
                unsigned long long mask = blocked_by(entry->d_name);
                for (size_t s = 0; s < sizeof signals / sizeof signals[0]; s++)
                    ck_assert_msg(mask >> (signals[s] - 1) & 1, "signal %d may come to thread %s", signals[s],
                                  entry->d_name);
                added++;
            }
        }
        closedir(threads);
        if (turn == 0)
            load(&served, "0.5");
    }
    ck_assert_uint_gt(added, 0);
    close_host(&served);
}
END_TEST
#endif

/* The answer comes by a poll and by nothing else: a step does not make it. */
START_TEST(nothing_is_answered_within_a_step)
{
    served_t served;
    char byte;
    open_host(&served);
    int client = send_call(&served, "backplane.worlds", "{}");
    struct timespec nap = {.tv_nsec = A_MILLISECOND};
    for (int i = 0; i < 50; i++) {
        must(&served, bp_host_step(served.host));
        nanosleep(&nap, NULL);
    }
    ck_assert_int_eq(recv(client, &byte, 1, MSG_DONTWAIT), -1);
    await(&served, client, "\"name\":\"main\"");
    close(client);
    close_host(&served);
}
END_TEST

/* A search over many rows with the smallest budget takes several polls, and other requests are answered meanwhile. */
START_TEST(what_takes_long_is_cut_into_budgets)
{
    enum { MANY = 300000 };
    served_t served;
    uint32_t key, prototype;
    bp_entity_t *entities = malloc(MANY * sizeof *entities);
    open_host(&served);
    must(&served, bp_host_unload_plugin(served.host, "inspector"));
    load(&served, "0.05");
    const bp_api_t *api = bp_host_api(served.host);
    must(&served, api->world->key(served.world, api->world->component(served.world, "point_mass"), 0, &key));
    must(&served, api->world->prototype(served.world, &key, 1, &prototype));
    must(&served, api->world->create(served.world, prototype, entities, MANY));
    int slow = send_call(&served, "backplane.query", "{\"where\":\"point_mass.mass > 0.5\",\"count\":0}");
    ask(&served, "backplane.info", "{}", "\"inspector\"");
    await(&served, slow, "\"count\":300000");
    close(slow);
    free(entities);
    close_host(&served);
}
END_TEST

/* Entities that get another component between two polls move to rows of another prototype, also to rows that the search
 * has been over already. The search finds all of them, each once. In round 1 the last rows have the first entities. */
START_TEST(a_search_misses_nobody_who_moves_meanwhile)
{
    enum { MANY = 200000, SLICE = 4000 };
    served_t served;
    uint32_t keys[2], prototype;
    bp_entity_t *entities = malloc(MANY * sizeof *entities);
    open_host(&served);
    must(&served, bp_host_load_plugin(served.host, TEST_PLUGIN_DIR "/render_data" TEST_SO, NULL, 0));
    must(&served, bp_world_use_component(served.world, "render_data"));
    must(&served, bp_host_unload_plugin(served.host, "inspector"));
    load(&served, "0.05");
    const bp_api_t *api = bp_host_api(served.host);
    must(&served, api->world->key(served.world, api->world->component(served.world, "render_data"), 0, &keys[1]));
    must(&served, api->world->key(served.world, api->world->component(served.world, "point_mass"), 0, &keys[0]));
    must(&served, api->world->prototype(served.world, keys, 2, &prototype));
    must(&served, api->entity->create(served.host, entities, MANY));
    for (uint32_t i = 0; _i == 1 && i < MANY / 2; i++) {
        bp_entity_t e = entities[i];
        entities[i] = entities[MANY - 1 - i];
        entities[MANY - 1 - i] = e;
    }
    must(&served, api->world->add(served.world, keys[1], entities, 1));
    must(&served, api->world->add(served.world, keys[0], entities, 1)); /* this one is gone over first */
    must(&served, api->world->add(served.world, keys[0], entities + 1, MANY - 1));
    int client = send_call(&served, "backplane.query", "{\"where\":\"point_mass.mass > 0.5\",\"count\":0}");
    char text[4096] = "";
    ssize_t size = -1;
    for (uint32_t i = 0, from = MANY - SLICE; size < 0 && i < PATIENCE; i++, from = from < SLICE ? 1 : from - SLICE) {
        must(&served, bp_host_wait(served.host, A_MILLISECOND));
        if (from >= SLICE) /* the last rows go to where the search has been */
            must(&served, api->world->add(served.world, keys[1], entities + from, SLICE));
        size = recv(client, text, sizeof text - 1, MSG_DONTWAIT);
    }
    ck_assert_msg(strstr(text, "\"count\":200000") != NULL, "%s", text);
    close(client);
    free(entities);
    close_host(&served);
}
END_TEST

/* A task cannot go to another moment, so it wishes it; the host goes when its poll is over, and worlds stay stopped. */
START_TEST(the_past_is_gone_to_when_the_host_polls)
{
    served_t served;
    bp_world_stats_t stats;
    open_host(&served);
    ask(&served, "backplane.history", "{}", "\"result\":null");
    ask(&served, "backplane.go", "{\"step\":1}", "the host remembers nothing");
    must(&served, bp_host_remember(served.host, 1 << 24));
    for (int i = 0; i < 20; i++)
        must(&served, bp_host_step(served.host));
    ask(&served, "backplane.pause", "{}", "\"result\":null");
    ask(&served, "backplane.go", "{\"step\":5}", "\"first\":0,\"now\":5,\"last\":20");
    bp_world_stats(served.world, &stats);
    ck_assert_uint_eq(stats.steps, 5);
    must(&served, bp_host_step(served.host));
    ask(&served, "backplane.go", "{\"step\":21}", "step 21 is not remembered; steps 0 to 20 are");
    ask(&served, "backplane.go", "{\"step\":20}", "\"first\":0,\"now\":20,\"last\":20");
    bp_world_stats(served.world, &stats);
    ck_assert_uint_eq(stats.steps, 20);
    ask(&served, "backplane.go", "{\"step\":7}", "\"now\":7,\"last\":20");
    bp_world_stats(served.world, &stats);
    ck_assert_uint_eq(stats.steps, 7);
    ask(&served, "backplane.branch_off", "{}", "\"now\":7,\"last\":7");
    ask(&served, "backplane.run", "{}", "\"result\":null");
    must(&served, bp_host_step(served.host));
    ask(&served, "backplane.history", "{}", "\"now\":8,\"last\":8");
    close_host(&served);
}
END_TEST

/* Both are waiting before the host polls. */
START_TEST(each_of_two_that_go_to_the_past_at_once_is_told_of_its_own_step)
{
    served_t served;
    struct timespec nap = {.tv_nsec = 100 * A_MILLISECOND};
    open_host(&served);
    must(&served, bp_host_remember(served.host, 1 << 24));
    for (int i = 0; i < 20; i++)
        must(&served, bp_host_step(served.host));
    ask(&served, "backplane.pause", "{}", "\"result\":null");
    int first = send_call(&served, "backplane.go", "{\"step\":77}");
    int second = send_call(&served, "backplane.go", "{\"step\":9}");
    int third = send_call(&served, "backplane.go", "{\"step\":4}");
    nanosleep(&nap, NULL);
    await(&served, first, "step 77 is not remembered; steps 0 to 20 are");
    await(&served, second, "\"now\":9,\"last\":20");
    await(&served, third, "\"now\":4,\"last\":20");
    close(first);
    close(second);
    close(third);
    close_host(&served);
}
END_TEST

/* A change is tried on a clone and then made; the server is there once. */
START_TEST(changes_are_tried_and_made)
{
    served_t served;
    uint32_t key, prototype;
    bp_entity_t entity;
    open_host(&served);
    const bp_api_t *api = bp_host_api(served.host);
    must(&served, api->world->key(served.world, api->world->component(served.world, "point_mass"), 0, &key));
    must(&served, api->world->prototype(served.world, &key, 1, &prototype));
    must(&served, api->world->create(served.world, prototype, &entity, 1));
    ask(&served, "backplane.keep", "{}", "no change has been tried");
    ask(&served, "backplane.try", "{}", "a change without plugins and values");
    ask(&served, "backplane.try", "{\"values\":[{\"path\":\"main/#0:1.point_mass.mass\"}]}", "a value is a number");
    ask(&served, "backplane.try", "{\"values\":[{\"path\":\"main/#9:9.point_mass.mass\",\"value\":1}]}", "#9:9");
    ask(&served, "backplane.try",
        "{\"values\":[{\"path\":\"main/#0:1.point_mass.mass\",\"value\":7.5},"
        "{\"path\":\"main/#0:1.point_mass.position\",\"value\":[1,2,3]}],\"steps\":3}",
        "\"field\":\"position\",\"entities\":1,\"largest\":");
    ask(&served, "backplane.get", "{\"path\":\"main/#0:1.point_mass.mass\"}", "\"value\":1,");
    ask(&served, "backplane.keep", "{}", "\"report\":\"\"");
    ask(&served, "backplane.get", "{\"path\":\"main/#0:1.point_mass.mass\"}", "7.5");
    ask(&served, "backplane.get", "{\"path\":\"main/#0:1.point_mass.position\"}", "[1,2,3]");
    ask(&served, "backplane.try", "{\"plugins\":[\"point_mass\"],\"steps\":2}", "\"differences\":[]");
    ask(&served, "backplane.reload", "{\"plugins\":[\"point_mass\"]}", "point_mass");
    ask(&served, "backplane.reload", "{\"plugins\":[\"nothing\"]}", "nothing");
    ask(&served, "backplane.reload", "{}", "the parameter \\\"plugins\\\" is missing");
    close_host(&served);
}
END_TEST

START_TEST(components_are_taken_from_entities_that_have_them)
{
    served_t served;
    open_host(&served);
    ask(&served, "world.spawn_entity", "{\"components\":{\"point_mass\":{}}}", "\"entity\":4294967296");
    ask(&served, "world.spawn_entity", "{\"components\":{\"point_mass\":{}}}", "\"entity\":4294967297");
    ask(&served, "world.despawn_entity", "{\"entity\":4294967297}", "\"result\":null");
    ask(&served, "world.remove_components", "{\"entity\":4294967297,\"components\":[\"point_mass\"]}",
        "-23401");
    ask(&served, "world.remove_components", "{\"entity\":4294967296,\"components\":[\"point_mass\"]}",
        "\"result\":null");
    ask(&served, "world.remove_components", "{\"entity\":4294967296,\"components\":[\"point_mass\"]}",
        "-23403");
    close_host(&served);
}
END_TEST

START_TEST(components_are_listed_read_and_changed)
{
    served_t served;
    open_host(&served);
    must(&served, bp_host_load_plugin(served.host, TEST_PLUGIN_DIR "/debug_name" TEST_SO, NULL, 0));
    must(&served, bp_world_use_component(served.world, "debug_name"));
    ask(&served, "world.spawn_entity", "{\"components\":{\"point_mass\":{},\"debug_name\":{\"name\":\"ball\"}}}",
        "\"entity\":4294967296");
    ask(&served, "world.list_components", "{\"entity\":4294967296}", "\"result\":[\"point_mass\",\"debug_name\"]}");
    ask(&served, "backplane.components", "{}", "\"result\":[{\"name\":\"point_mass\",");
    ask(&served, "world.mutate_components",
        "{\"entity\":4294967296,\"component\":\"point_mass\",\"path\":\".mass\",\"value\":8}", "\"result\":null");
    ask(&served, "world.mutate_components",
        "{\"entity\":4294967296,\"component\":\"point_mass\",\"path\":\".mass\"}", "\\\"value\\\" is missing");
    ask(&served, "world.get_components",
        "{\"entity\":4294967296,\"components\":[\"debug_name\",\"transform\"]}",
        "\"result\":{\"components\":{\"debug_name\":{\"name\":\"ball\"}},\"errors\":{\"transform\":{\"code\":");
    ask(&served, "world.get_components", "{\"entity\":4294967296,\"components\":[\"debug_name\",\"transform\"]}",
        "}}}}");
    ask(&served, "backplane.entity", "{\"entity\":\"ball\"}", "\"mass\":8");
    close_host(&served);
}
END_TEST

/* A value is set to `value`, and told as `wanted`; where `wanted` begins with '!' it is refused with the rest of it,
 * and is told as before. */
typedef struct setting_t {
    const char *component, *path, *value, *wanted;
} setting_t;

static const setting_t settings[] = {
    {"sample", "a_bool", "false", "\"a_bool\":false"},
    {"sample", "a_bool", "1", "!this is no bool"},
    {"sample", "an_i8", "-128", "\"an_i8\":-128"},
    {"sample", "an_i8", "-129", "!this is no i8"},
    {"sample", "an_i8", "101", "!-23402"},
    {"sample", "an_i8", "12.0", "\"an_i8\":12"},
    {"sample", "an_i8", "12.5", "!this is no i8"},
    {"sample", "an_i8", "1e17", "!this is no i8"},
    {"sample", "an_i8", "\"-9\"", "\"an_i8\":-9"},
    {"sample", "an_i8", "null", "!this is no i8"},
    {"sample", "a_u16", "59999", "\"a_u16\":59999"},
    {"sample", "a_u16", "65536", "!this is no u16"},
    {"sample", "a_u16", "-1", "!this is no u16"},
    {"sample", "a_u16", "true", "!this is no u16"},
    {"sample", "a_i64", "-9223372036854775808", "\"a_i64\":-9223372036854775808"},
    {"sample", "a_u64", "9223372036854775807", "\"a_u64\":9223372036854775807"},
    {"sample", "a_u64", "\"18446744073709551615\"", "\"a_u64\":18446744073709551615"},
    {"sample", "a_u64", "-1", "!this is no u64"},
    {"sample", "a_f64", "0.1", "\"a_f64\":0.1"},
    {"sample", "a_f64", "\"-inf\"", "\"a_f64\":\"-inf\""},
    {"sample", "a_f64", "[1]", "!this is no f64"},
    {"sample", "a_vec3", "[4,5,6]", "\"a_vec3\":[4,5,6]"},
    {"sample", "a_vec3", "[4,5]", "!write an array of its parts"},
    {"sample", "a_vec3", "[4,\"x\",6]", "!write an array of its parts"},
    {"sample", "a_vec3", "{\"y\":7}", "\"a_vec3\":[4,7,6]"},
    {"sample", "a_vec3", "{\"q\":7}", "!write an array of its parts"},
    {"sample", "a_vec3", "{\"x\":false}", "!write an array of its parts"},
    {"sample", "a_vec3", "\"1 2 3\"", "\"a_vec3\":[1,2,3]"},
    {"sample", "a_vec3", "3", "!write an array of its parts"},
    {"sample", "a_vec3.z", "9", "\"a_vec3\":[1,2,9]"},
    {"sample", "a_vec3[0]", "8", "\"a_vec3\":[8,2,9]"},
    {"sample", "a_vec3.x", "\"inf\"", "\"a_vec3\":[\"inf\",2,9]"},
    {"sample", "a_vec3.x", "\"nothing\"", "!this is no vec3"},
    {"sample", "a_vec3.q", "1", "!a vec3 has no part '.q'"},
    {"sample", "a_vec3.much_too_long", "1", "!a vec3 has no part"},
    {"sample", "a_colour.g", "0.25", "\"a_colour\":[1,0.25,0,1]"},
    {"sample", "a_f32", "\"inf\"", "\"a_f32\":\"inf\""},
    {"sample", "a_dvec2", "{\"y\":\"nan\"}", "!-23402"}, /* it has a least value */
    {"sample", "a_dvec3", "{\"y\":\"nan\"}", "\"a_dvec3\":[1,\"nan\",0.1]"},
    {"sample", "a_f64", "\"nothing\"", "!-23402"},
    {"sample", "a_string", "\"a \\\"text\\\"\"", "\"a_string\":\"a \\\"text\\\"\""},
    {"sample", "a_string", "5", "!this is no string"},
    {"sample", "a_name", "\"other\"", "\"a_name\":\"other\""},
    {"sample", "a_name", "5", "!this is no name"},
    {"sample", "an_entity", "4294967296", "\"an_entity\":4294967296"},
    {"sample", "an_entity", "77", "!-23401"},
    {"sample", "an_entity", "null", "\"an_entity\":null"},
    {"sample", "a_reading", "1", "!-23402"},
    {"sample", "nothing", "1", "!-23403"},
    {"bag", "slots", "[9,8,7,6,5]", "\"slots\":[9,8,7,6,5]"},
    {"bag", "slots", "[9,8]", "!this is no array of 5 u16"},
    {"bag", "slots", "{}", "!this is no array of 5 u16"},
    {"bag", "slots", "[9,8,7,6,70000]", "!this is no u16"},
    {"bag", "slots[1]", "4", "\"slots\":[9,4,7,6,5]"},
    {"bag", "slots[5]", "4", "!-23403"},
    {"bag", "marks", "[1,-1,1]", "!-23402"},
    {"bag", "words", "[\"x, y\",\"\"]", "\"words\":[\"x, y\",\"\"]"},
    {"bag", "targets", "[null,4294967296,null]", "\"targets\":[null,4294967296,null]"},
    {"bag", "hits", "[1,2.5]", "\"hits\":[1,2.5]"},
    {"bag", "hits", "[1,2000]", "!-23402"},
    {"bag", "hits", "1", "!this is no list of f32"},
    {"bag", "hits", "\"[3]\"", "\"hits\":[3]"},
    {"bag", "hits", "\"[3\"", "!-23402"},
    {"bag", "hits", "[]", "\"hits\":[]"},
    {"bag", "path", "[[1,2,3],{\"y\":5}]", "\"path\":[[1,2,3],[0,5,0]]"},
    {"bag", "path[1].z", "6", "\"path\":[[1,2,3],[0,5,6]]"},
    {"bag", "names", "[\"a\",\"b\"]", "\"names\":[\"a\",\"b\"]"},
    {"bag", "tags", "[\"a\",7]", "!this is no string"},
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

/* What a component is told as; a text that the caller frees. */
static char *told_of(const served_t *served, const char *component)
{
    char params[128];
    snprintf(params, sizeof params, "{\"entity\":4294967296,\"components\":[\"%s\"],\"strict\":true}", component);
    int client = send_call(served, "world.get_components", params);
    const char *text = await(served, client, "}}}");
    const char *body = strstr(text, "\r\n\r\n");
    char *copy = malloc(strlen(text) + 1);
    ck_assert(body != NULL && copy != NULL);
    strcpy(copy, body);
    close(client);
    return copy;
}

START_TEST(values_of_every_type_are_set_and_told_or_refused_whole)
{
    served_t served;
    open_host(&served);
    must(&served, bp_host_load_plugin(served.host, zoo_plugins[0]->name, NULL, 0));
    must(&served, bp_world_use_component(served.world, "sample"));
    must(&served, bp_world_use_component(served.world, "bag"));
    ask(&served, "world.spawn_entity", "{\"components\":{\"sample\":{},\"bag\":{}}}", "\"entity\":4294967296");
    for (int i = 0; i < SETTINGS; i++) {
        char params[256];
        const setting_t *row = &settings[i];
        bool refused = row->wanted[0] == '!';
        char *before = told_of(&served, row->component);
        snprintf(params, sizeof params, "{\"entity\":4294967296,\"component\":\"%s\",\"path\":\".%s\",\"value\":%s}",
                 row->component, row->path, row->value);
        ask(&served, "world.mutate_components", params, refused ? row->wanted + 1 : "\"result\":null");
        char *after = told_of(&served, row->component);
        ck_assert_msg(refused ? strcmp(before, after) == 0 : strstr(after, row->wanted) != NULL,
                      "%s = %s, wanted: %s, before:\n%s\nafter:\n%s", row->path, row->value, row->wanted, before,
                      after);
        free(before);
        free(after);
    }
    close_host(&served);
}
END_TEST

/* As a loop that writes its rows may leave a value, `set` refuses it, also where it is to be put back. */
START_TEST(a_value_that_cannot_be_put_back_is_told_with_the_refusal)
{
    served_t served;
    bp_path_t path;
    int8_t value;
    const int8_t left = 120;
    open_host(&served);
    must(&served, bp_host_load_plugin(served.host, zoo_plugins[0]->name, NULL, 0));
    must(&served, bp_world_use_component(served.world, "sample"));
    ask(&served, "world.spawn_entity", "{\"components\":{\"sample\":{}}}", "\"entity\":4294967296");
    const bp_property_api *property = bp_host_api(served.host)->property;
    must(&served, property->parse_path(served.host, "main/#0:1.sample.an_i8", &path));
    must(&served, property->get(path.world, &path.property, &path.entity, 1, &value, sizeof value));
    const void *cell = bp_property_cell(path.world, &path.property, path.entity);
    ck_assert_ptr_nonnull(cell);
    memcpy((void *)(uintptr_t)cell, &left, sizeof left);
    ask(&served, "world.insert_components",
        "{\"entity\":4294967296,\"components\":{\"sample\":{\"an_i8\":5,\"a_u16\":-1}}}",
        "; a value that the call has set stays, since its former one is refused: an_i8 = 120 is outside its range: "
        "at most 100");
    ask(&served, "backplane.get", "{\"path\":\"main/#0:1.sample.an_i8\"}", "\"value\":5,");
    const char *answer = whole(&served, send_call(&served, "world.insert_components",
        "{\"entity\":4294967296,\"components\":{\"sample\":{\"an_i8\":6,\"a_u16\":-1}}}"));
    ck_assert_msg(strstr(answer, "this is no u16") != NULL && strstr(answer, "stays") == NULL, "%s", answer);
    ask(&served, "backplane.get", "{\"path\":\"main/#0:1.sample.an_i8\"}", "\"value\":5,");
    close_host(&served);
}
END_TEST

/* Requests of BRP that say too little, or something else than what is asked for. */
START_TEST(requests_that_do_not_fit_are_told_what_is_wrong)
{
    static const struct {
        const char *method, *params, *wanted;
    } rows[] = {
        {"get_components", "{\"entity\":4294967296,\"components\":5}", "has to be an array of names"},
        {"get_components", "{\"entity\":4294967296,\"components\":[5]}", "has to be an array of names"},
        {"get_components", "{\"components\":[]}", "\\\"entity\\\" is missing"},
        {"get_components", "{\"entity\":4294967296,\"components\":[\"nothing\"],\"strict\":true}", "-23402"},
        {"query", "{\"data\":5}", "are objects"},
        {"query", "{\"data\":{},\"filter\":5}", "are objects"},
        {"query", "{\"data\":{\"components\":[\"nothing\"]},\"strict\":true}", "-23402"},
        {"query", "{\"data\":{\"components\":[\"nothing\"]}}", "\"result\":[]"},
        {"query", "{\"data\":{\"option\":\"all\"}}", "\"point_mass\":{"},
        {"query", "{\"data\":{\"has\":[\"point_mass\"]}}", "\"has\":{\"point_mass\":true}"},
        {"query", "{\"data\":{},\"filter\":{\"without\":[\"point_mass\"]}}", "\"result\":[]"},
        {"spawn_entity", "{\"components\":5}", "object of components"},
        {"spawn_entity", "{\"components\":{\"nothing\":{}}}", "nothing"},
        {"insert_components", "{\"entity\":4294967296,\"components\":5}", "object of components"},
        {"despawn_entity", "{}", "\\\"entity\\\" is missing"},
        {"despawn_entity", "{\"entity\":77}", "\"error\""},
        {"list_components", "{\"entity\":77}", "-23401"},
        {"list_components", "{}", "\"point_mass\""},
        {"reparent_entities", "{\"entities\":5}", "is an array of entities"},
        {"reparent_entities", "{\"entities\":[4294967296],\"parent\":4294967296}", "cannot be its own parent"},
        {"reparent_entities", "{\"entities\":[4294967296]}", "no component with a parent"},
        {"reparent_entities", "{\"entities\":[77]}", "\"error\""},
        {"remove_components", "{\"entity\":4294967296,\"components\":[5]}", "has to be an array of names"},
        {"mutate_components", "{\"entity\":4294967296,\"component\":\"nothing\",\"path\":\".x\",\"value\":1}",
         "-23402"},
        {"mutate_components", "{\"entity\":4294967296,\"component\":\"point_mass\",\"value\":1}",
         "\\\"path\\\" is missing"},
    };
    served_t served;
    open_host(&served);
    ask(&served, "world.spawn_entity", "{\"components\":{\"point_mass\":{}}}", "\"entity\":4294967296");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char method[64];
        snprintf(method, sizeof method, "world.%s", rows[i].method);
        ask(&served, method, rows[i].params, rows[i].wanted);
    }
    ask(&served, "world.query", "{\"data\":{}}", "\"result\":[{\"entity\":4294967296,\"components\":{}}]");
    close_host(&served);
}
END_TEST

START_TEST(a_stream_tells_which_components_came_and_went)
{
    served_t served;
    open_host(&served);
    ask(&served, "world.spawn_entity", "{\"components\":{\"point_mass\":{}}}", "\"entity\":4294967296");
    int stream = send_call(&served, "world.list_components+watch", "{\"entity\":4294967296}");
    await(&served, stream, "\"result\":{\"added\":[\"point_mass\"],\"removed\":[]}");
    ask(&served, "world.remove_components", "{\"entity\":4294967296,\"components\":[\"point_mass\"]}",
        "\"result\":null");
    await(&served, stream, "\"result\":{\"added\":[],\"removed\":[\"point_mass\"]}");
    close(stream);
    int bare = send_call(&served, "world.list_components+watch", "{\"entity\":4294967296}");
    await(&served, bare, "\"result\":{\"added\":[],\"removed\":[]}");
    for (int i = 0; i < 100; i++) /* in which nothing changes */
        must(&served, bp_host_wait(served.host, A_MILLISECOND));
    ask(&served, "world.insert_components", "{\"entity\":4294967296,\"components\":{\"point_mass\":{}}}",
        "\"result\":null");
    const char *told = await(&served, bare, "\"result\":{\"added\":[\"point_mass\"],\"removed\":[]}");
    ck_assert_msg(strstr(told, "\"added\":[]") == NULL, "%s", told);
    close(bare);
    close_host(&served);
}
END_TEST

START_TEST(a_stream_that_is_changed_tells_all_anew)
{
    static const char values[] = "\"values\":[{\"entity\":4294967296,\"property\":\"point_mass.mass\"}]";
    served_t served;
    char params[256];
    unsigned number = 0;
    open_host(&served);
    ask(&served, "world.spawn_entity", "{\"components\":{\"point_mass\":{\"mass\":8}}}", "\"entity\":4294967296");
    snprintf(params, sizeof params, "{%s}", values);
    int stream = send_call(&served, "backplane.watch+watch", params);
    const char *told = strstr(await(&served, stream, "\"values\":[8"), "\"watch\":");
    ck_assert_ptr_nonnull(told);
    ck_assert_int_eq(sscanf(told, "\"watch\":%u", &number), 1);
    snprintf(params, sizeof params, "{\"watch\":%u,%s}", number, values);
    ask(&served, "backplane.rewatch", params, "\"result\":null");
    await(&served, stream, "\"values\":[8");
    close(stream);
    close_host(&served);
}
END_TEST

START_TEST(what_changes_something_is_logged_and_what_only_asks_is_not)
{
    served_t served;
    open_host(&served);
    ask(&served, "backplane.worlds", "{}", "\"name\":\"main\"");
    ck_assert_str_eq(served.remark, "");
    ask(&served, "backplane.pause", "{\"world\":\"main\"}", "\"result\":null");
    ck_assert_msg(strstr(served.remark, "backplane.pause") != NULL, "%s", served.remark);
    close_host(&served);
}
END_TEST

START_TEST(plugins_are_told_with_the_systems_that_worlds_use)
{
    served_t served;
    open_host(&served);
    ask(&served, "backplane.plugins", "{}", "\"systems\":[]");
    must(&served, bp_host_load_plugin(served.host, TEST_PLUGIN_DIR "/gravity" TEST_SO, NULL, 0));
    must(&served, bp_world_use_system(served.world, "gravity"));
    ask(&served, "backplane.plugins", "{}", "\"systems\":[\"gravity\"]");
    close_host(&served);
}
END_TEST

START_TEST(a_tool_answers_with_what_its_method_says_or_why_it_does_not)
{
    served_t served;
    open_host(&served);
    ask(&served, "world.spawn_entity", "{\"components\":{\"point_mass\":{}}}", "\"entity\":4294967296");
    int client = send_to(&served, "/mcp", "tools/call", "{\"name\":\"list_components\",\"arguments\":{}}");
    await(&served, client, "\"type\":\"text\",\"text\":\"[{\\\"name\\\":\\\"point_mass\\\"");
    close(client);
    client = send_to(&served, "/mcp", "tools/call", "{\"name\":\"no_such_tool\",\"arguments\":{}}");
    await(&served, client, "no_such_tool");
    close(client);
    close_host(&served);
}
END_TEST

/* What trees of entities hold is given back to the byte, which close_host looks at. */
START_TEST(trees_are_given_back)
{
    served_t served;
    open_host(&served);
    ask(&served, "backplane.query", "{\"name\":\"x\"}", "\"count\":0");
    for (int i = 0; i < 10; i++) /* more than are kept */
        ask(&served, "backplane.find", "{\"tree\":true}", "\"result\":{\"set\":");
    must(&served, bp_host_poll(served.host));
    close_host(&served);
}
END_TEST

/* A stream, requests that wait or are only just coming in, and a connection that says nothing, while the plugin goes:
 * it frees all of it. */
START_TEST(the_plugin_goes_in_the_middle_of_requests)
{
    served_t served;
    open_host(&served);
    int stream = send_call(&served, "backplane.watch+watch", "{}");
    await(&served, stream, "data:");
    int idle = connect_to(served.port), waiting[40];
    for (int i = 0; i < 40; i++)
        waiting[i] = send_call(&served, "backplane.worlds", "{}");
    unsigned before = served.port;
    must(&served, bp_host_unload_plugin(served.host, "inspector"));
    ck_assert_int_lt(connect_to(before), 0);
    served.warnings[0] = '\0'; /* that the request that waited was not carried out, if it had arrived */
    load(&served, "0.5");
    ask(&served, "backplane.worlds", "{}", "\"name\":\"main\"");
    close(stream);
    close(idle);
    for (int i = 0; i < 40; i++)
        close(waiting[i]);
    close_host(&served);
}
END_TEST

START_TEST(a_reload_of_the_inspector_serves_on)
{
    served_t served;
    const char *const names[] = {"inspector"};
    open_host(&served);
    ask(&served, "backplane.worlds", "{}", "\"name\":\"main\"");
    served.port = 0; /* any that is free, told anew */
    must(&served, bp_host_reload(served.host, names, 1, NULL));
    ck_assert_uint_ne(served.port, 0);
    ask(&served, "backplane.worlds", "{}", "\"name\":\"main\"");
    close_host(&served);
}
END_TEST

START_TEST(a_port_that_is_taken_is_told)
{
    served_t served, other = {0};
    char port[16];
    open_host(&served);
    snprintf(port, sizeof port, "%u", served.port);
    const bp_option_t options[] = {{.name = "port", .value = port}};
    bp_host_desc_t desc = {.struct_size = sizeof desc, .log = &(bp_log_i){.context = &other, .write = hear}};
    other.host = bp_host_create(&desc);
    must(&other, bp_host_load_plugin(other.host, TEST_PLUGIN_DIR "/inspector" TEST_SO, options, 1));
    must(&other, bp_host_poll(other.host));
    ck_assert_msg(strstr(other.warnings, "is taken; set `port` to another one") != NULL, "%s", other.warnings);
    bp_host_destroy(other.host);
    close_host(&served);
}
END_TEST

/* Addresses that the server can listen on, and those that it cannot: the host goes on, and the log says why. */
START_TEST(an_address_that_is_none_is_told)
{
    static const struct {
        const char *address, *says;
    } rows[] = {
        {"localhost", NULL},
        {"127.0.0.300", "'127.0.0.300' is no address; write digits, like 127.0.0.1 or ::1"},
        {"127.x", "'127.x' is no address"},
        {"192.0.2.1", "cannot listen on 192.0.2.1, port 0: "},
        {"2001:db8::1", "cannot listen on 2001:db8::1, port 0: "},
    };
    served_t other = {0};
    const bp_option_t options[] = {{.name = "port", .value = "0"}, {.name = "token", .value = "secret"},
                                   {.name = "address", .value = rows[_i].address}};
    bp_host_desc_t desc = {.struct_size = sizeof desc, .log = &(bp_log_i){.context = &other, .write = hear}};
    other.host = bp_host_create(&desc);
    must(&other, bp_host_load_plugin(other.host, TEST_PLUGIN_DIR "/inspector" TEST_SO, options, 3));
    must(&other, bp_host_poll(other.host));
    if (rows[_i].says == NULL)
        ck_assert_msg(other.warnings[0] == '\0' && strstr(other.remark, "http://localhost:") != NULL, "%s%s",
                      other.warnings, other.remark);
    else
        ck_assert_msg(strstr(other.warnings, rows[_i].says) != NULL, "%s", other.warnings);
    must(&other, bp_host_poll(other.host));
    bp_host_destroy(other.host);
}
END_TEST

/* What the server tells as its place is where it listens, with brackets around an address of version 6. */
START_TEST(a_server_of_version_6_tells_where_it_is)
{
    static const char body[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}";
    served_t other = {0};
    const bp_option_t options[] = {{.name = "port", .value = "0"}, {.name = "address", .value = "::1"}};
    bp_host_desc_t desc = {.struct_size = sizeof desc, .log = &(bp_log_i){.context = &other, .write = hear}};
    other.host = bp_host_create(&desc);
    must(&other, bp_host_load_plugin(other.host, TEST_PLUGIN_DIR "/inspector" TEST_SO, options, 2));
    must(&other, bp_host_poll(other.host));
    const char *told = strstr(other.remark, "http://[::1]:");
    if (told != NULL) { /* not every machine has addresses of version 6 */
        struct sockaddr_in6 place = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
        char request[512], wanted[64];
        unsigned port = 0;
        ck_assert_int_eq(sscanf(told, "http://[::1]:%u", &port), 1);
        place.sin6_port = htons((uint16_t)port);
        int client = socket(AF_INET6, SOCK_STREAM, 0);
        ck_assert_int_eq(connect(client, (const struct sockaddr *)&place, sizeof place), 0);
        int length = snprintf(request, sizeof request,
                              "POST / HTTP/1.1\r\nHost: [::1]:%u\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
                              port, strlen(body), body);
        ck_assert_int_eq(send(client, request, (size_t)length, MSG_NOSIGNAL), length);
        snprintf(wanted, sizeof wanted, "\"url\":\"http://[::1]:%u\"", port);
        const char *answer = whole(&other, client);
        ck_assert_msg(strstr(answer, wanted) != NULL, "%.600s", answer);
    }
    bp_host_destroy(other.host);
}
END_TEST

Suite *inspector_served_suite(void)
{
    Suite *suite = suite_create("inspector_served");
    TCase *tcase = tcase_create("served");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, requests_are_answered_while_all_worlds_are_stopped);
#ifdef __linux__
    tcase_add_test(tcase, the_threads_of_the_server_leave_signals_to_others);
#endif
    tcase_add_test(tcase, nothing_is_answered_within_a_step);
    tcase_add_test(tcase, what_takes_long_is_cut_into_budgets);
    tcase_add_loop_test(tcase, a_search_misses_nobody_who_moves_meanwhile, 0, 2);
    tcase_add_test(tcase, components_are_taken_from_entities_that_have_them);
    tcase_add_test(tcase, components_are_listed_read_and_changed);
    tcase_add_test(tcase, values_of_every_type_are_set_and_told_or_refused_whole);
    tcase_add_test(tcase, requests_that_do_not_fit_are_told_what_is_wrong);
    tcase_add_test(tcase, a_stream_tells_which_components_came_and_went);
    tcase_add_test(tcase, a_stream_that_is_changed_tells_all_anew);
    tcase_add_test(tcase, what_changes_something_is_logged_and_what_only_asks_is_not);
    tcase_add_test(tcase, plugins_are_told_with_the_systems_that_worlds_use);
    tcase_add_test(tcase, a_tool_answers_with_what_its_method_says_or_why_it_does_not);
    tcase_add_test(tcase, trees_are_given_back);
    tcase_add_test(tcase, the_past_is_gone_to_when_the_host_polls);
    tcase_add_test(tcase, each_of_two_that_go_to_the_past_at_once_is_told_of_its_own_step);
    tcase_add_test(tcase, changes_are_tried_and_made);
    tcase_add_test(tcase, a_value_that_cannot_be_put_back_is_told_with_the_refusal);
    tcase_add_test(tcase, the_plugin_goes_in_the_middle_of_requests);
    tcase_add_test(tcase, a_reload_of_the_inspector_serves_on);
    tcase_add_test(tcase, a_port_that_is_taken_is_told);
    tcase_add_loop_test(tcase, an_address_that_is_none_is_told, 0, 5);
    tcase_add_test(tcase, a_server_of_version_6_tells_where_it_is);
    suite_add_tcase(suite, tcase);
    return suite;
}
