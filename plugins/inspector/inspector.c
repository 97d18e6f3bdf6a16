/* inspector.c - the plugin inspector: a server for looking at a running host and changing it.
 *
 *     [plugin inspector]
 *     port = 15702
 *
 * Requests are taken in by a thread of the server, which posts the task `answer` (bp_task.h). The task answers the
 * requests on the main thread, between steps and while worlds are stopped, a little at a time (serve.c); where work is
 * left over the task is posted again. The server's thread touches no world.
 *
 * The server is started by the task `serve`, which `resume` posts: so a host that only asks what plugins bring, and
 * never polls, opens no port, and where the port is taken the log says so and the host goes on. `pause` ends the
 * server; for the copying of the process only the thread is ended, and the connections stay open. The plugin's state is
 * for requests that are under way, so nothing of it goes over to another version: clients connect again.
 */
#include "inspector.h"

#include "serve.h"

#include <stdio.h>

static const bp_field_t options[] = {
    [OPTION_PORT] = {.name = "port",
                     .type = BP_U32,
                     .initial = "15702",
                     .max = "65535",
                     .doc = "of the server; 0: any that is free"},
    [OPTION_ADDRESS] = {.name = "address",
                        .type = BP_STRING,
                        .initial = "127.0.0.1",
                        .doc = "that it listens on; one that is not of the loopback needs a token"},
    [OPTION_TOKEN] = {.name = "token",
                      .type = BP_STRING,
                      .doc = "what clients have to send as \"Authorization: Bearer TOKEN\""},
    [OPTION_HOSTS] = {.name = "hosts", .type = BP_STRING, .doc = "further names by which clients may call the server"},
    [OPTION_ORIGINS] = {.name = "origins", .type = BP_STRING, .doc = "origins of other sites whose pages may call"},
    [OPTION_READ_ONLY] = {.name = "read_only", .type = BP_BOOL, .doc = "looking is allowed, changing is not"},
    [OPTION_BUDGET] = {.name = "budget",
                       .type = BP_F32,
                       .initial = "0.5",
                       .min = "0.05",
                       .max = "1000",
                       .unit = "ms",
                       .doc = "time that answers may take at once, between two steps; the rest waits"},
    [OPTION_RATE] =
        {.name = "rate", .type = BP_U32, .initial = "2000", .min = "1", .doc = "requests a second that are taken in"},
    [OPTION_CONNECTIONS] = {.name = "connections",
                            .type = BP_U32,
                            .initial = "128",
                            .min = "1",
                            .max = "1000",
                            .doc = "connections at a time; further ones wait"},
    [OPTION_STREAMS] =
        {.name = "streams", .type = BP_U32, .initial = "16", .max = "256", .doc = "event streams at a time"},
};

static void *resize(void *context, void *old, size_t old_size, size_t new_size)
{
    const inspector_t *in = context;
    return in->api->memory->resize(in->plugin, old, old_size, new_size);
}

void inspector_call(inspector_t *in)
{
    if (!atomic_exchange(&in->called, true) && in->tasks->post(in->plugin, "answer", NULL, 0) != BP_OK)
        atomic_store(&in->called, false);
}

static void arrived(void *context)
{
    inspector_call(context);
}

static void answer(bp_plugin_t *plugin, const void *bytes, size_t size)
{
    inspector_t *in = plugin->state;
    (void)bytes, (void)size;
    atomic_store(&in->called, false);
    if (in->http != NULL)
        serve_turn(in, (uint64_t)((double)inspector_option(in, OPTION_BUDGET)->f32 * 1e6));
}

/* --- the server ------------------------------------------------------------------------------------------------- */

static http_setup_t setup_of(inspector_t *in)
{
    http_setup_t setup = {
        .allocator = &in->allocator, .limits = http_limits, .asked = &in->asked, .context = in, .arrived = arrived};
    setup.door = (door_t){
        .address = inspector_option(in, OPTION_ADDRESS)->string, .hosts = inspector_option(in, OPTION_HOSTS)->string,
        .origins = inspector_option(in, OPTION_ORIGINS)->string, .token = inspector_option(in, OPTION_TOKEN)->string,
        .port = in->port != 0 ? in->port : (uint16_t)inspector_option(in, OPTION_PORT)->u32};
    setup.limits.rate = inspector_option(in, OPTION_RATE)->u32;
    setup.limits.connections = inspector_option(in, OPTION_CONNECTIONS)->u32;
    setup.limits.streams = inspector_option(in, OPTION_STREAMS)->u32;
    return setup;
}

static void start_server(inspector_t *in)
{
    char text[HTTP_SENTENCE_MAX + 64];
    http_setup_t setup = setup_of(in);
    bool six = strchr(setup.door.address, ':') != NULL;
    in->http = http_start(&setup, text);
    if (in->http == NULL) {
        in->api->error->log(in->plugin, BP_LOG_ERROR, text);
        return;
    }
    in->port = http_port(in->http);
    snprintf(text, sizeof text, six ? "http://[%s]:%u" : "http://%s:%u", setup.door.address, (unsigned)in->port);
    in->api->error->log(in->plugin, BP_LOG_INFO, text);
}

static void serve(bp_plugin_t *plugin, const void *bytes, size_t size)
{
    inspector_t *in = plugin->state;
    (void)bytes, (void)size;
    if (in->http == NULL)
        start_server(in);
}

static void end_server(inspector_t *in)
{
    http_stop(in->http);
    in->http = NULL;
    serve_end(in);
}

static const bp_task_t tasks[] = {{.name = "serve", .run = serve}, {.name = "answer", .run = answer}};

/* Does nothing for a snapshot, since this plugin's state is not saved. */
static void pause_server(bp_plugin_t *plugin, uint32_t reason)
{
    inspector_t *in = plugin->state;
    if (in->http == NULL || reason == BP_PAUSE_SNAPSHOT)
        return;
    if (reason == BP_PAUSE_TRIAL)
        http_park(in->http);
    else
        end_server(in);
}

static bp_result_t resume_server(bp_plugin_t *plugin, uint32_t reason)
{
    inspector_t *in = plugin->state;
    if (reason == BP_PAUSE_SNAPSHOT || reason == BP_PAUSE_COPY)
        return BP_OK;
    if (in->http == NULL) {
        atomic_store(&in->called, false);
        if (reason == BP_PAUSE_LOAD && in->tasks->post(plugin, "serve", NULL, 0) != BP_OK)
            return in->api->error->set(in->host, BP_ERROR_MEMORY, "out of memory");
        if (reason != BP_PAUSE_LOAD)
            start_server(in);
        return BP_OK;
    }
    if (!http_unpark(in->http)) {
        end_server(in);
        return in->api->error->set(in->host, BP_ERROR_LIMIT, "the system has no thread left for the server");
    }
    return BP_OK;
}

/* --- the plugin ------------------------------------------------------------------------------------------------- */

static bool find_tables(inspector_t *in)
{
    const bp_registry_api *registry = in->api->registry;
    in->look = (const bp_look_api *)registry->find(in->host, BP_LOOK_API, 1);
    in->clocks = (const bp_clock_api *)registry->find(in->host, BP_CLOCK_API, 1);
    in->tasks = (const bp_task_api *)registry->find(in->host, BP_TASK_API, 1);
    in->history = (const bp_history_api *)registry->find(in->host, BP_HISTORY_API, 1);
    return in->look != NULL && in->clocks != NULL && in->tasks != NULL;
}

static bp_result_t load(bp_plugin_t *plugin)
{
    const bp_error_api *error = plugin->api->error;
    if (!door_is_loopback(plugin->options[OPTION_ADDRESS].string) && plugin->options[OPTION_TOKEN].string[0] == '\0')
        return error->set(plugin->host, BP_ERROR_ARGUMENT,
                          "an address other than the loopback's lets other machines in; set `token` too");
    inspector_t *in = plugin->api->memory->resize(plugin, NULL, 0, sizeof *in);
    if (in == NULL)
        return error->set(plugin->host, BP_ERROR_MEMORY, "out of memory");
    memset(in, 0, sizeof *in);
    in->plugin = plugin;
    in->api = plugin->api;
    in->host = plugin->host;
    in->allocator = (allocator_t){in, resize};
    if (!find_tables(in)) {
        plugin->api->memory->resize(plugin, in, sizeof *in, 0);
        return error->set(plugin->host, BP_ERROR_ABI, "this host has no bp_look, no bp_clock or no bp_task");
    }
    plugin->state = in;
    return BP_OK;
}

/* In a copy of the process the original's server still exists, since it was not paused in the copy. */
static void unload(bp_plugin_t *plugin)
{
    inspector_t *in = plugin->state;
    end_server(in);
    plugin->api->memory->resize(plugin, in, sizeof *in, 0);
    plugin->state = NULL;
}

BP_PLUGIN(inspector) = {
    .version = INSPECTOR_VERSION,
    .doc = "a web page, JSON-RPC (Bevy Remote Protocol) and MCP, to look at a running host and to change it",
    .options = BP_LIST(options),
    .tasks = BP_LIST(tasks),
    .load = load,
    .keeps = BP_KEEP_NOTHING,
    .unload = unload,
    .pause = pause_server,
    .resume = resume_server,
};
