/* test_inspector_memory.c - each request for memory while a call is received, answered and sent is refused once, on
 * either thread. The client is told so, or its connection is closed; nothing is half done, the next call is answered,
 * and in the end all memory is back.
 */
#define _POSIX_C_SOURCE 200809L

#include "served_stage.h"

#include "../suites.h"

#include <pthread.h>
#include <stdlib.h>

/* --- memory that fails -------------------------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    size_t bytes;
    uint64_t until;   /* requests until one is refused, that one counted; 0: none is */
    uint64_t refused;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_refused(void)
{
    pthread_mutex_lock(&memory.lock);
    bool refused = memory.until == 1;
    memory.until -= memory.until > 0;
    memory.refused += refused;
    pthread_mutex_unlock(&memory.lock);
    return refused;
}

static void account(size_t less, size_t more)
{
    pthread_mutex_lock(&memory.lock);
    memory.bytes += more - less;
    pthread_mutex_unlock(&memory.lock);
}

static void *resize(void *context, void *old, size_t old_size, size_t new_size)
{
    (void)context;
    if (new_size == 0) {
        account(old_size, 0);
        free(old);
        return NULL;
    }
    void *block = is_refused() ? NULL : realloc(old, new_size);
    if (block != NULL)
        account(old_size, new_size);
    return block;
}

/* From now on the `nth` request is refused; 0: none. Returns how many have been refused since the last call. */
static uint64_t refuse(uint64_t nth)
{
    pthread_mutex_lock(&memory.lock);
    uint64_t refused = memory.refused;
    memory.until = nth;
    memory.refused = 0;
    pthread_mutex_unlock(&memory.lock);
    return refused;
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

/* What comes until `wanted` has, or the connection is closed; the connection is closed then. */
static const char *outcome(const served_t *served, int client, const char *wanted)
{
    static char text[65536];
    size_t length = 0;
    ssize_t size = -1;
    text[0] = '\0';
    for (int i = 0; i < PATIENCE && size != 0 && strstr(text, wanted) == NULL; i++) {
        bp_host_wait(served->host, A_MILLISECOND);
        size = recv(client, text + length, sizeof text - 1 - length, MSG_DONTWAIT);
        length += size > 0 ? (size_t)size : 0;
        text[length] = '\0';
    }
    close(client);
    ck_assert_msg(size == 0 || strstr(text, wanted) != NULL, "no answer, and no end: %s", text);
    return text;
}

typedef struct call_t {
    const char *place, *body, *wanted;
    const char *back; /* a call that takes back what the call has changed; NULL: nothing has */
} call_t;

#define CALL(method, params) "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":" params "}"

static const call_t calls[] = {
    {"/", CALL("backplane.info", "{}"), "\"inspector\":", NULL},
    {"/", "[" CALL("backplane.worlds", "{}") "," CALL("backplane.history", "{}") "]", "\"result\":null}]", NULL},
    {"/", CALL("backplane.find", "{\"where\":\"point_mass.mass > 1\",\"tree\":true}"), "\"set\":", NULL},
    {"/", CALL("backplane.query", "{\"where\":\"label.kind ~ 'l' or bag.hits > 1\",\"values\":[\"label.text\"]}"),
     "\"count\":1,", NULL},
    {"/", CALL("backplane.get", "{\"path\":\"main/#2:1.bag.words\"}"), "\"value\":[\"a\",\"b, c\"]", NULL},
    {"/", CALL("backplane.set", "{\"path\":\"main/#2:1.bag.words\",\"value\":[\"x\",\"y\"]}"), "\"result\":null",
     CALL("backplane.set", "{\"path\":\"main/#2:1.bag.words\",\"value\":[\"a\",\"b, c\"]}")},
    {"/",
     CALL("world.insert_components",
          "{\"entity\":\"#2:1\",\"components\":{\"label\":{\"text\":\"new\"},"
          "\"bag\":{\"hits\":[1,2],\"tags\":[\"t\"]}}}"),
     "\"result\":null",
     "[" CALL("world.remove_components", "{\"entity\":\"#2:1\",\"components\":[\"label\"]}") ","
         CALL("world.insert_components",
              "{\"entity\":\"#2:1\",\"components\":{\"bag\":{\"hits\":[],\"tags\":[]}}}") "]"},
    {"/",
     CALL("world.remove_components",
          "{\"entity\":\"#1:1\",\"components\":[\"point_mass::ball\",\"debug_name\",\"debug_name\"]}"),
     "\"result\":null",
     CALL("world.insert_components",
          "{\"entity\":\"#1:1\",\"components\":{\"point_mass::ball\":{\"mass\":2},"
          "\"debug_name\":{\"name\":\"earth\"}}}")},
    {"/", CALL("world.query", "{\"data\":{\"option\":\"all\"}}"), "\"result\":[", NULL},
    {"/", CALL("world.get_components", "{\"entity\":\"sun\",\"components\":[\"point_mass\",\"bag\"]}"),
     "\"errors\":{\"bag\"", NULL},
    {"/", CALL("world.get_components+watch", "{\"entity\":\"sun\",\"components\":[\"point_mass\",\"bag\"]}"),
     "\"point_mass\":{", NULL},
    {"/", CALL("world.list_components+watch", "{\"entity\":\"sun\"}"), "\"added\":[", NULL},
    {"/",
     CALL("backplane.watch+watch",
          "{\"entity\":\"sun\",\"values\":[{\"entity\":\"sun\",\"property\":\"point_mass.mass\"}]}"),
     "\"values\":[8]", NULL},
    {"/", CALL("backplane.try", "{\"plugins\":[\"nothing\"]}"), "nothing", NULL},
    {"/", CALL("registry.schema", "{}"), "\"gravity_law\"", NULL},
    {"/points", "{\"position\":\"point_mass.position\",\"colour\":\"point_mass.mass\"}", "BPPT", NULL},
    {"/mcp", CALL("tools/call", "{\"name\":\"query\",\"arguments\":{}}"), "\"isError\":false", NULL},
    {"/mcp",
     CALL("tools/call", "{\"name\":\"set\",\"arguments\":{\"path\":\"main/sun.point_mass.mass\",\"value\":3}}"),
     "\"isError\":false", CALL("backplane.set", "{\"path\":\"main/sun.point_mass.mass\",\"value\":8}")},
    {"/", "{", "-32600", NULL},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* What the world is, as far as the calls change it; a text that the caller frees. */
static char *state_text(const served_t *served)
{
    int client = send_call(served, "world.query", "{\"data\":{\"option\":\"all\"}}");
    char *state = strdup(strstr(whole(served, client), "\r\n\r\n"));
    ck_assert_ptr_nonnull(state);
    return state;
}

/* Call again and again, with the first request for memory refused, then the second, and so on, until none is. */
START_TEST(a_call_without_memory_is_refused_whole)
{
    const call_t *call = &calls[_i];
    bp_allocator_i allocator = {.struct_size = sizeof allocator, .resize = resize};
    served_t served;
    uint64_t refusals = 0;
    open_scene_in(&served, &allocator);
    char *before = state_text(&served);
    for (uint64_t nth = 1;; nth++) {
        refuse(nth);
        const char *answer = outcome(&served, send_body(&served, call->place, call->body), call->wanted);
        bool done = strstr(answer, call->wanted) != NULL, last = refuse(0) == 0;
        ck_assert_msg(done || !last, "with all memory: %.1000s", answer);
        ck_assert_msg(done || answer[0] == '\0' || strstr(answer, "out of memory") != NULL ||
                          strncmp(answer, "HTTP/1.1 500 ", 13) == 0 || strstr(answer, "text/event-stream") != NULL,
                      "without memory: %.1000s", answer);
        if (done && call->back != NULL)
            outcome(&served, send_body(&served, "/", call->back), "\"result\":null");
        char *after = state_text(&served);
        ck_assert_msg(strcmp(before, after) == 0, "request %u: %.500s\nhas left\n%.1000s\n", (unsigned)nth, answer,
                      after);
        free(after);
        refusals += !last;
        if (last)
            break;
    }
    ck_assert_uint_gt(refusals, 2);
    free(before);
    bp_host_destroy(served.host);
    ck_assert_uint_eq(memory.bytes, 0);
}
END_TEST

/* A stream whose next event has no memory ends, or tells the event later; the host goes on. */
START_TEST(a_stream_without_memory_ends_or_goes_on)
{
    bp_allocator_i allocator = {.struct_size = sizeof allocator, .resize = resize};
    served_t served;
    char text[128];
    bool last = false;
    open_scene_in(&served, &allocator);
    for (uint64_t nth = 1; !last; nth++) {
        int stream = send_call(&served, "backplane.watch+watch",
                               "{\"every_ms\":20,\"values\":[{\"entity\":\"sun\",\"property\":\"point_mass.mass\"}]}");
        await(&served, stream, "\"values\":[");
        snprintf(text, sizeof text, "{\"path\":\"main/sun.point_mass.mass\",\"value\":%u}", 100 + (unsigned)nth);
        ask(&served, "backplane.set", text, "\"result\":null");
        refuse(nth);
        snprintf(text, sizeof text, "\"values\":[%u]", 100 + (unsigned)nth);
        const char *told = outcome(&served, stream, text);
        last = refuse(0) == 0;
        ck_assert_msg(!last || strstr(told, text) != NULL, "with all memory: %.1000s", told);
    }
    bp_host_destroy(served.host);
    ck_assert_uint_eq(memory.bytes, 0);
}
END_TEST

/* The plugin is not loaded, or its server not started, and the log says so; or all of it is there. */
START_TEST(a_server_without_memory_is_not_there_and_says_so)
{
    bp_allocator_i allocator = {.struct_size = sizeof allocator, .resize = resize};
    const bp_option_t options[] = {{.name = "port", .value = "0"}};
    served_t served;
    bool last = false;
    open_host_in(&served, &allocator);
    must(&served, bp_host_unload_plugin(served.host, "inspector"));
    for (uint64_t nth = 1; !last; nth++) {
        served.port = 0;
        served.warnings[0] = '\0';
        refuse(nth);
        bp_result_t result = bp_host_load_plugin(served.host, TEST_PLUGIN_DIR "/inspector" TEST_SO, options, 1);
        if (result == BP_OK)
            result = bp_host_poll(served.host);
        last = refuse(0) == 0;
        ck_assert_msg(result == BP_OK || strstr(bp_host_error(served.host), "memory") != NULL, "%s",
                      bp_host_error(served.host));
        ck_assert_msg(served.port != 0 || result != BP_OK || strstr(served.warnings, "memory") != NULL, "%s",
                      served.warnings);
        if (served.port != 0)
            ask(&served, "backplane.worlds", "{}", "\"name\":\"main\"");
        bp_host_unload_plugin(served.host, "inspector");
    }
    ck_assert_uint_ne(served.port, 0);
    bp_host_destroy(served.host);
    ck_assert_uint_eq(memory.bytes, 0);
}
END_TEST

Suite *inspector_memory_suite(void)
{
    Suite *suite = suite_create("inspector_memory");
    TCase *tcase = tcase_create("memory");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, a_call_without_memory_is_refused_whole, 0, CALLS);
    tcase_add_test(tcase, a_stream_without_memory_ends_or_goes_on);
    tcase_add_test(tcase, a_server_without_memory_is_not_there_and_says_so);
    suite_add_tcase(suite, tcase);
    return suite;
}
