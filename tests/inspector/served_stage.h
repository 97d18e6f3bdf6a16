/* served_stage.h - what the tests of the served inspector share: a host with the inspector in it, and a client that
 * asks it over a socket.
 *
 * The test is the client: it sends, waits as a program would (bp_host_wait), and looks whether an answer has come. Each
 * test begins with `open_host` and finishes with `close_host`, which wants a log without warnings.
 *
 * What it does not do: other processes as clients, which the scripts beside it are. POSIX systems only.
 */
#ifndef TESTS_INSPECTOR_SERVED_STAGE_H
#define TESTS_INSPECTOR_SERVED_STAGE_H

#include "../unit/support.h"
#include "../unit/zoo.h"

#include <arpa/inet.h>
#include <backplane.h>
#include <check.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE = 20000, A_MILLISECOND = 1000000 };

typedef struct served_t {
    bp_host_o *host;
    bp_world_o *world;
    unsigned port;
    char warnings[1024];
    char remark[512]; /* the last one of the inspector that is no address */
} served_t;

/* What the log says; addresses are told as remarks. */
static inline void hear(void *context, int32_t level, const char *source, const char *text)
{
    served_t *served = context;
    size_t length = strlen(served->warnings);
    if (strcmp(source, "inspector") == 0 && sscanf(text, "http://127.0.0.1:%u", &served->port) == 1)
        return;
    if (level < BP_LOG_WARNING && strcmp(source, "inspector") == 0)
        snprintf(served->remark, sizeof served->remark, "%s", text);
    if (level >= BP_LOG_WARNING)
        snprintf(served->warnings + length, sizeof served->warnings - length, "%s: %s\n", source, text);
}

static inline void must(const served_t *served, bp_result_t result)
{
    ck_assert_msg(result == BP_OK, "%s", bp_host_error(served->host));
}

static inline void load(served_t *served, const char *budget)
{
    const bp_option_t options[] = {{.name = "port", .value = "0"}, {.name = "budget", .value = budget}};
    served->port = 0;
    must(served, bp_host_load_plugin(served->host, TEST_PLUGIN_DIR "/inspector" TEST_SO, options, 2));
    ck_assert_uint_eq(served->port, 0); /* who never polls has no port open */
    must(served, bp_host_poll(served->host));
    ck_assert_uint_ne(served->port, 0);
}

/* A host without worlds; its inspector is loaded by `load`. */
static inline void open_bare_host(served_t *served, const bp_allocator_i *allocator)
{
    *served = (served_t){0};
    bp_host_desc_t desc = {.struct_size = sizeof desc, .log = &(bp_log_i){.context = served, .write = hear},
                           .allocator = allocator, .static_plugins = zoo_plugins, .static_plugin_count = ZOO_PLUGINS};
    served->host = bp_host_create(&desc);
    ck_assert_ptr_nonnull(served->host);
    must(served, bp_host_load_plugin(served->host, TEST_PLUGIN_DIR "/point_mass" TEST_SO, NULL, 0));
}

static inline void open_host_in(served_t *served, const bp_allocator_i *allocator)
{
    open_bare_host(served, allocator);
    served->world = bp_world_create(served->host, &(bp_world_desc_t){.name = "main", .step_rate = 60});
    ck_assert_ptr_nonnull(served->world);
    must(served, bp_world_use_component(served->world, "point_mass"));
    load(served, "0.5");
}

static inline void open_host(served_t *served)
{
    open_host_in(served, NULL);
}

static inline void close_host(served_t *served)
{
    bp_host_destroy(served->host);
    ck_assert_str_eq(served->warnings, "");
}

/* --- a client ----------------------------------------------------------------------------------------------------- */

static inline int connect_to(unsigned port)
{
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int client = socket(AF_INET, SOCK_STREAM, 0);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (client >= 0 && connect(client, (const struct sockaddr *)&place, sizeof place) == 0)
        return client;
    close(client);
    return -1;
}

/* Send bytes as they are, most of them when the server has taken those before; the connection, which the caller
 * closes. */
static inline int send_bytes(const served_t *served, const char *bytes, size_t size)
{
    int client = connect_to(served->port), little = 4096;
    ck_assert_int_ge(client, 0);
    ck_assert_int_eq(setsockopt(client, SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
    ck_assert_int_eq(send(client, bytes, size, MSG_NOSIGNAL), (ssize_t)size);
    return client;
}

/* POST a body. */
static inline int send_body(const served_t *served, const char *place, const char *body)
{
    char request[9216];
    int length = snprintf(request, sizeof request,
                          "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n"
                          "Content-Length: %zu\r\n\r\n%s",
                          place, served->port, strlen(body), body);
    ck_assert_int_lt(length, (int)sizeof request);
    return send_bytes(served, request, (size_t)length);
}

static inline int send_to(const served_t *served, const char *place, const char *method, const char *params)
{
    char body[8192];
    int length = snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}", method,
                          params);
    ck_assert_int_lt(length, (int)sizeof body);
    return send_body(served, place, body);
}

static inline int send_call(const served_t *served, const char *method, const char *params)
{
    return send_to(served, "/", method, params);
}

/* Wait, as a program with nothing to do does, until `wanted` has come from `client`; a text that is good until the next
 * call. */
static inline const char *await(const served_t *served, int client, const char *wanted)
{
    static char text[65536];
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < PATIENCE && strstr(text, wanted) == NULL; i++) {
        must(served, bp_host_wait(served->host, A_MILLISECOND));
        ssize_t size = recv(client, text + length, sizeof text - 1 - length, MSG_DONTWAIT);
        length += size > 0 ? (size_t)size : 0;
        text[length] = '\0';
        if (size == 0)
            break;
    }
    ck_assert_msg(strstr(text, wanted) != NULL, "instead of %s came %s", wanted, text);
    return text;
}

static inline void ask(const served_t *served, const char *method, const char *params, const char *wanted)
{
    int client = send_call(served, method, params);
    await(served, client, wanted);
    close(client);
}

/* The whole answer, from the line of the status on, to what has been sent; a text that is good until the next call. The
 * connection is closed. */
static inline const char *whole(const served_t *served, int client)
{
    enum { MOST = 1 << 20 };
    static char *text;
    text = text != NULL ? text : room_of(MOST);
    size_t length = 0;
    ssize_t size = -1;
    for (int i = 0; i < PATIENCE && size != 0; i++) {
        size = recv(client, text + length, MOST - 1 - length, MSG_DONTWAIT);
        length += size > 0 ? (size_t)size : 0;
        if (size < 0)
            must(served, bp_host_wait(served->host, A_MILLISECOND));
    }
    text[length] = '\0';
    close(client);
    ck_assert_msg(size == 0, "an answer that has no end: %s", text);
    return text;
}

/* Ask about a set until it has been built. */
static inline void ask_of_set(const served_t *served, const char *method, const char *params, const char *wanted)
{
    const char *answer;
    do
        answer = whole(served, send_call(served, method, params));
    while (strstr(answer, "\"built\":false") != NULL || strstr(answer, "this tree is not built yet") != NULL);
    ck_assert_msg(strstr(answer, wanted) != NULL, "%s %s: instead of %s came %.1000s", method, params, wanted, answer);
}

/* --- a scene ------------------------------------------------------------------------------------------------------ */

/* A world with something of everything:
 *
 *     #0:1  sun     point_mass                      #3:1  dead
 *     #1:1  earth   ball:point_mass, transform      #4:1  label, body, whose home is the sun
 *     #2:1          transform below earth, sample, bag
 */
static inline void open_scene_in(served_t *served, const bp_allocator_i *allocator)
{
    static const char *const files[] = {"debug_name", "transform", "gravity"};
    static const char *const components[] = {"debug_name", "transform", "sample", "bag", "label", "body"};
    static const char *const entities[] = {
        "{\"point_mass\":{\"mass\":8,\"position\":[1,2,3]},\"debug_name\":{\"name\":\"sun\"}}",
        "{\"point_mass::ball\":{\"mass\":2},\"debug_name\":{\"name\":\"earth\"},\"transform\":{}}",
        "{\"transform\":{\"parent\":\"earth\"},\"sample\":{},\"bag\":{}}",
        "{\"point_mass\":{}}",
        "{\"label\":{\"text\":\"some\",\"kind\":\"plain\",\"home\":\"sun\"},\"body\":{\"mass\":3}}",
    };
    char path[512], params[512];
    open_host_in(served, allocator);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, TEST_PLUGIN_DIR "/%s" TEST_SO, files[i]);
        must(served, bp_host_load_plugin(served->host, path, NULL, 0));
    }
    must(served, bp_host_load_plugin(served->host, zoo_plugins[0]->name, NULL, 0));
    for (size_t i = 0; i < sizeof components / sizeof components[0]; i++)
        must(served, bp_world_use_component(served->world, components[i]));
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        snprintf(params, sizeof params, "{\"components\":%s}", entities[i]);
        ask(served, "world.spawn_entity", params, "\"entity\":");
    }
    ask(served, "world.despawn_entity", "{\"entity\":\"#3:1\"}", "\"result\":null");
}

static inline void open_scene(served_t *served)
{
    open_scene_in(served, NULL);
}

#endif
