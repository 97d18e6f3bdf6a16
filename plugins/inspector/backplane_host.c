/* backplane_host.c - the parts of a host that run: plugins with their options, their reloads, worlds stopped, stepped,
 * faster, slower, and the past. */
#include "methods.h"

#include "look.h"
#include "views.h"

#include <stddef.h>

/* --- plugins -------------------------------------------------------------------------------------------------- */

/* The names of the things that a plugin brings to a world or to the host: its component types, or the units that are
 * its systems. */
static void write_types(const inspector_t *in, writer_t *w, const char *plugin)
{
    bp_look_type_t type = {.struct_size = sizeof type};
    writer_key(w, "components");
    writer_array(w);
    for (uint32_t cursor = 0; in->look->type(in->host, &cursor, &type);)
        if (strcmp(type.plugin, plugin) == 0)
            writer_text(w, type.name);
    writer_array_end(w);
}

static void write_systems(const inspector_t *in, writer_t *w, const char *plugin)
{
    bp_look_world_t world = {.struct_size = sizeof world};
    bp_look_unit_t unit = {.struct_size = sizeof unit};
    writer_key(w, "systems");
    writer_array(w);
    for (uint32_t cursor = 0; in->look->world(in->host, &cursor, &world);)
        for (uint32_t at = 0; in->look->unit(world.world, &at, &unit);)
            if ((unit.flags & BP_LOOK_SYSTEM) && strcmp(unit.plugin, plugin) == 0)
                writer_text(w, unit.name);
    writer_array_end(w);
}

static void write_options(const inspector_t *in, writer_t *w, const char *plugin)
{
    bp_look_option_t option = {.struct_size = sizeof option};
    writer_key(w, "options");
    writer_array(w);
    for (uint32_t cursor = 0; in->look->option(in->host, plugin, &cursor, &option);) {
        bool secret = strcmp(plugin, in->plugin->name) == 0 && strcmp(option.field.name, "token") == 0;
        writer_object(w);
        writer_key_text(w, "name", option.field.name);
        writer_key_text(w, "value", secret ? "" : option.value);
        if (option.field.doc != NULL)
            writer_key_text(w, "doc", option.field.doc);
        if (option.field.unit != NULL)
            writer_key_text(w, "unit", option.field.unit);
        writer_object_end(w);
    }
    writer_array_end(w);
}

static int plugins(ask_t *ask)
{
    const inspector_t *in = ask->in;
    writer_t *w = ask->out;
    bp_look_plugin_t plugin = {.struct_size = sizeof plugin};
    writer_array(w);
    for (uint32_t cursor = 0; in->look->plugin(in->host, &cursor, &plugin);) {
        writer_object(w);
        writer_key_text(w, "name", plugin.name);
        writer_key_text(w, "version", plugin.version);
        writer_key_text(w, "doc", plugin.doc);
        writer_key_text(w, "path", plugin.path);
        if (plugin.crash != NULL)
            writer_key_text(w, "crash", plugin.crash);
        write_types(in, w, plugin.name);
        write_systems(in, w, plugin.name);
        write_options(in, w, plugin.name);
        writer_object_end(w);
    }
    writer_array_end(w);
    return ASK_DONE;
}

static void write_corner(writer_t *w, const char *key, const double corner[3])
{
    writer_key(w, key);
    writer_array(w);
    for (uint32_t i = 0; i < 3; i++)
        writer_real(w, corner[i]);
    writer_array_end(w);
}

/* What each rank has of a world that several ranks share (bp_share.h); an empty list where they share none. */
static int ranks(ask_t *ask)
{
    const bp_share_api *shares =
        (const bp_share_api *)ask->in->api->registry->find(ask->in->host, BP_SHARE_API, 1);
    bp_part_t part = {.struct_size = sizeof part};
    bp_world_o *world;
    if (!ask_world(ask, &world))
        return ASK_DONE;
    writer_array(ask->out);
    for (uint32_t rank = 0; shares != NULL && shares->part(world, rank, &part) != 0; rank++) {
        writer_object(ask->out);
        writer_key_count(ask->out, "rank", rank);
        writer_key_count(ask->out, "step", part.step);
        writer_key_count(ask->out, "entities", part.entities);
        writer_key_count(ask->out, "copies", part.copies);
        writer_key_count(ask->out, "sent", part.sent);
        write_corner(ask->out, "low", part.low);
        write_corner(ask->out, "high", part.high);
        writer_object_end(ask->out);
    }
    writer_array_end(ask->out);
    return ASK_DONE;
}

/* The last reloads, the latest first, since users look for the result of their last change. */
static int reloads(ask_t *ask)
{
    enum { MOST = 64 };
    const bp_look_api *look = ask->in->look;
    bp_look_reload_t told[MOST];
    uint32_t count = 0;
    writer_array(ask->out);
    if (look->struct_size >= offsetof(bp_look_api, reload) + sizeof look->reload) {
        for (uint32_t i = 0; i < MOST; i++)
            told[i].struct_size = sizeof told[i];
        for (uint32_t cursor = 0; count < MOST && look->reload(ask->in->host, &cursor, &told[count]);)
            count++;
    }
    while (count-- > 0) {
        writer_object(ask->out);
        writer_key_count(ask->out, "number", told[count].number);
        writer_key_truth(ask->out, "done", told[count].result == BP_OK);
        writer_key(ask->out, "when");
        writer_integer(ask->out, told[count].when);
        writer_key_real(ask->out, "pause", (double)told[count].pause / 1e9);
        writer_key_text(ask->out, "text", told[count].text);
        writer_object_end(ask->out);
    }
    writer_array_end(ask->out);
    return ASK_DONE;
}

/* --- clocks --------------------------------------------------------------------------------------------------- */

static int pause_world(ask_t *ask)
{
    bp_world_o *world;
    if (!ask_world(ask, &world))
        return ASK_DONE;
    bp_clock_t clock = {.struct_size = sizeof clock};
    ask->in->clocks->read(world, &clock);
    if (!clock.stopped || clock.granted > 0) /* stopping a stopped world in its past would begin another future */
        ask->in->clocks->stop(world);
    writer_null(ask->out);
    return ASK_DONE;
}

static int run_world(ask_t *ask)
{
    bp_world_o *world;
    if (!ask_world(ask, &world))
        return ASK_DONE;
    ask->in->clocks->start(world);
    writer_null(ask->out);
    return ASK_DONE;
}

static int step_world(ask_t *ask)
{
    bp_world_o *world;
    uint64_t steps = 1;
    if (!ask_world(ask, &world) || !ask_count(ask, "steps", false, INT64_MAX, &steps))
        return ASK_DONE;
    ask->in->clocks->step(world, steps);
    writer_null(ask->out);
    return ASK_DONE;
}

static int set_speed(ask_t *ask)
{
    bp_world_o *world;
    double speed = 1;
    if (!ask_world(ask, &world) || !ask_number(ask, "speed", &speed))
        return ASK_DONE;
    if (ask->in->clocks->set_speed(world, speed) != BP_OK)
        ask_fail_host(ask, RPC_INVALID_PARAMS);
    else
        writer_null(ask->out);
    return ASK_DONE;
}

/* --- the past ------------------------------------------------------------------------------------------------- */

static int history(ask_t *ask)
{
    views_history(ask->in, ask->out);
    return ASK_DONE;
}

/* Ask the host to go to a step. The host goes when this turn is over, so the answer is known in the next turn. It keeps
 * the outcome of one journey, so those of several requests come one after the other. */
static int go(ask_t *ask)
{
    const inspector_t *in = ask->in;
    bp_past_t past = {.struct_size = sizeof past};
    uint64_t moment = 0;
    bool begun = ask->state != NULL;
    if (in->history == NULL) {
        ask_fail(ask, RPC_INTERNAL, "this host has no bp_history");
        return ASK_DONE;
    }
    in->history->read(in->host, &past);
    if (!begun && (past.wished || in->going != NULL))
        return ASK_MORE; /* another request goes */
    if (ask_state(ask, 1) == NULL || (!begun && !ask_count(ask, "step", true, INT64_MAX, &moment)))
        return ASK_DONE;
    if (!begun) {
        if (in->history->wish(in->host, moment) == BP_OK) {
            ask->in->going = ask->state;
            return ASK_MORE;
        }
        ask_fail_host(ask, RPC_INVALID_PARAMS);
        return ASK_DONE;
    }
    if (past.wished)
        return ASK_MORE;
    if (past.result != BP_OK)
        ask_fail(ask, RPC_INTERNAL, "%s", past.why);
    else
        views_history(in, ask->out);
    return ASK_DONE;
}

/* The outcome has been seen, or is not waited for any more: the next request may go. */
static void drop_go(ask_t *ask)
{
    if (ask->in->going == ask->state)
        ask->in->going = NULL;
}

static int branch_off(ask_t *ask)
{
    if (ask->in->history == NULL)
        ask_fail(ask, RPC_INTERNAL, "this host has no bp_history");
    else if (ask->in->history->branch_off(ask->in->host) != BP_OK)
        ask_fail_host(ask, RPC_INTERNAL);
    else
        views_history(ask->in, ask->out);
    return ASK_DONE;
}

const method_t backplane_host_methods[] = {
    {"backplane.plugins", "the plugins with what they bring, their options, and how they crashed", "", 0, plugins,
     NULL},
    {"backplane.reloads", "the last reloads, the latest first: what became of each field, or why there was none", "", 0,
     reloads, NULL},
    {"backplane.ranks", "what each rank has of a world that several share, and its part of space", "world?", 0, ranks,
     NULL},
    {"backplane.pause", "stops a world", "world?", METHOD_CHANGES, pause_world, NULL},
    {"backplane.run", "lets a stopped world go on", "world?", METHOD_CHANGES, run_world, NULL},
    {"backplane.step", "stops a world and has it take some steps", "world? steps?", METHOD_CHANGES, step_world, NULL},
    {"backplane.speed", "how fast a world follows real time; 1 is as fast", "world? speed", METHOD_CHANGES, set_speed,
     NULL},
    {"backplane.history", "the steps that the host remembers, and where it is among them", "", 0, history, NULL},
    {"backplane.go", "goes to a step that the host remembers", "step", METHOD_CHANGES, go, drop_go},
    {"backplane.branch_off", "forgets what comes after now", "", METHOD_CHANGES, branch_off, NULL},
    {0},
};
