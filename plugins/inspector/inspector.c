/* inspector.c - the plugin inspector: a server through which a running host is seen and touched.
 *
 *     [plugin inspector]
 *     port = 15702
 *
 * `load` starts the server, `unload` ends it. Requests are taken in by a thread of the server, and answered on the
 * thread that steps the worlds, between two steps, a little at a time (serve.c).
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
                       .doc = "time between two steps that answers may take; the rest waits"},
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
    atomic_store(&in->called, true);
}

static void arrived(void *context)
{
    inspector_call(context);
}

static http_setup_t setup_of(inspector_t *in)
{
    http_setup_t setup = {
        .allocator = &in->allocator, .limits = http_limits, .asked = &in->asked, .context = in, .arrived = arrived};
    setup.door = (door_t){
        .address = inspector_option(in, OPTION_ADDRESS)->string, .hosts = inspector_option(in, OPTION_HOSTS)->string,
        .origins = inspector_option(in, OPTION_ORIGINS)->string, .token = inspector_option(in, OPTION_TOKEN)->string,
        .port = (uint16_t)inspector_option(in, OPTION_PORT)->u32};
    setup.limits.rate = inspector_option(in, OPTION_RATE)->u32;
    setup.limits.connections = inspector_option(in, OPTION_CONNECTIONS)->u32;
    setup.limits.streams = inspector_option(in, OPTION_STREAMS)->u32;
    return setup;
}

static bp_result_t load(bp_plugin_t *plugin)
{
    char text[HTTP_SENTENCE_MAX + 64];
    const bp_error_api *error = plugin->api->error;
    if (!door_is_loopback(plugin->options[OPTION_ADDRESS].string) && plugin->options[OPTION_TOKEN].string[0] == '\0')
        return error->set(plugin->host, BP_ERROR_ARGUMENT,
                          "an address other than the loopback's lets everybody in who can reach it; set `token` too");
    inspector_t *in = plugin->api->memory->resize(plugin, NULL, 0, sizeof *in);
    if (in == NULL)
        return error->set(plugin->host, BP_ERROR_MEMORY, "out of memory");
    memset(in, 0, sizeof *in);
    in->plugin = plugin;
    in->api = plugin->api;
    in->host = plugin->host;
    in->look = (const bp_look_api *)in->api->registry->find(in->host, BP_LOOK_API, 1);
    in->clocks = (const bp_clock_api *)in->api->registry->find(in->host, BP_CLOCK_API, 1);
    if (in->look == NULL || in->clocks == NULL) {
        plugin->api->memory->resize(plugin, in, sizeof *in, 0);
        return error->set(plugin->host, BP_ERROR_ABI, "this host has no bp_look or no bp_clock");
    }
    in->allocator = (allocator_t){in, resize};
    http_setup_t setup = setup_of(in);
    in->http = http_start(&setup, text);
    if (in->http == NULL) {
        plugin->api->memory->resize(plugin, in, sizeof *in, 0);
        return error->set(plugin->host, BP_ERROR_IO, text);
    }
    plugin->state = in;
    snprintf(text, sizeof text, "http://%s:%u", setup.door.address, (unsigned)http_port(in->http));
    error->log(plugin, BP_LOG_INFO, text);
    return BP_OK;
}

static void unload(bp_plugin_t *plugin)
{
    inspector_t *in = plugin->state;
    http_stop(in->http);
    in->http = NULL;
    serve_end(in);
    plugin->api->memory->resize(plugin, in, sizeof *in, 0);
    plugin->state = NULL;
}

static void run_all(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    inspector_t *in = s->plugin->state;
    (void)matches, (void)count, (void)step;
    if (atomic_load(&in->called))
        serve_turn(in, (uint64_t)((double)inspector_option(in, OPTION_BUDGET)->f32 * 1e6));
}

static const bp_system_i systems[] = {{.name = "inspector", .doc = "answers", .run_all = run_all}};

BP_PLUGIN(inspector) = {
    .version = INSPECTOR_VERSION,
    .doc = "a web page, JSON-RPC (Bevy Remote Protocol) and MCP, to look at a running host and to change it",
    .systems = BP_LIST(systems),
    .options = BP_LIST(options),
    .load = load,
    .keeps = BP_KEEP_NOTHING,
    .unload = unload,
};
