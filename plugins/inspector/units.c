/* units.c - the units of a world's step: backplane.systems, with the fields that units touch and the units that they
 * wait for; and the Bevy Remote Protocol's schedule.list and schedule.graph.
 *
 * A world has one schedule, its step, which is called "step". All units have an order that the host has settled, so
 * there are none of Bevy's conflicts (units that touch the same without an order between them): the graph has such
 * pairs as dependencies.
 */
#include "methods.h"

#include <stddef.h>

static const char *const SCHEDULE = "step";

/* Does the host's table have the entries that later headers have brought? */
static bool tells_access(const bp_look_api *look)
{
    return look->struct_size >= offsetof(bp_look_api, wait) + sizeof look->wait;
}

/* --- backplane.systems ---------------------------------------------------------------------------------------- */

static void write_access(const inspector_t *in, writer_t *w, bp_world_o *world, uint32_t place)
{
    static const char *const names[] = {"reads", "writes"};
    bp_look_access_t access = {.struct_size = sizeof access};
    char part[256];
    for (uint32_t flag = 0; flag < 2; flag++) {
        writer_key(w, names[flag]);
        writer_array(w);
        for (uint32_t cursor = 0; in->look->access(world, place, &cursor, &access);) {
            if ((access.flags & 1u << flag) == 0)
                continue;
            snprintf(part, sizeof part, access.field[0] == '\0' ? "%s" : "%s.%s", access.type, access.field);
            writer_text(w, part);
        }
        writer_array_end(w);
    }
}

/* The name of the unit at a place of the order; "" where there is none. */
static const char *name_of(const inspector_t *in, bp_world_o *world, uint32_t place)
{
    bp_look_unit_t unit = {.struct_size = sizeof unit};
    return in->look->unit(world, &place, &unit) ? unit.name : "";
}

static void write_waits(const inspector_t *in, writer_t *w, bp_world_o *world, uint32_t place)
{
    bp_look_wait_t wait = {.struct_size = sizeof wait};
    char part[256];
    writer_key(w, "waits_for");
    writer_array(w);
    for (uint32_t cursor = 0; in->look->wait(world, place, &cursor, &wait);) {
        snprintf(part, sizeof part, wait.field[0] == '\0' ? "%s" : "%s.%s", wait.type, wait.field);
        writer_object(w);
        writer_key_text(w, "unit", name_of(in, world, wait.unit));
        if (wait.type[0] != '\0')
            writer_key_text(w, "because_of", part);
        writer_object_end(w);
    }
    writer_array_end(w);
}

static void write_unit(const inspector_t *in, writer_t *w, bp_world_o *world, uint32_t place,
                       const bp_look_unit_t *unit)
{
    writer_object(w);
    writer_key_text(w, "name", unit->name);
    writer_key_text(w, "plugin", unit->plugin);
    writer_key_text(w, "kind", unit->flags & BP_LOOK_SYSTEM ? "system" : "component");
    writer_key_text(w, "doc", unit->doc);
    writer_key_count(w, "steps", unit->steps);
    writer_key_real(w, "seconds", (double)unit->nanoseconds / 1e9);
    writer_key_count(w, "rows", unit->rows);
    writer_key_count(w, "segment", unit->segment);
    writer_key_truth(w, "parallel", unit->flags & BP_LOOK_PARALLEL);
    writer_key_truth(w, "concurrent", unit->flags & BP_LOOK_CONCURRENT);
    writer_key_truth(w, "aside", unit->flags & BP_LOOK_ASIDE);
    if (tells_access(in->look)) {
        write_access(in, w, world, place);
        write_waits(in, w, world, place);
    }
    writer_object_end(w);
}

static int systems(ask_t *ask)
{
    bp_look_unit_t unit = {.struct_size = sizeof unit};
    bp_world_o *world;
    if (!ask_world(ask, &world))
        return ASK_DONE;
    writer_array(ask->out);
    for (uint32_t cursor = 0; ask->in->look->unit(world, &cursor, &unit);)
        write_unit(ask->in, ask->out, world, cursor - 1, &unit);
    writer_array_end(ask->out);
    return ASK_DONE;
}

/* --- schedule.list -------------------------------------------------------------------------------------------- */

static bool has_units(const inspector_t *in, bp_world_o *world)
{
    return world != NULL && name_of(in, world, 0)[0] != '\0';
}

static void write_labels(writer_t *w, const char *key, bool step)
{
    writer_key(w, key);
    writer_array(w);
    if (step)
        writer_text(w, SCHEDULE);
    writer_array_end(w);
}

static int list(ask_t *ask)
{
    bool units = has_units(ask->in, ask->world);
    writer_object(ask->out);
    write_labels(ask->out, "schedule_labels", units);
    write_labels(ask->out, "unavailable_schedule_labels", false);
    write_labels(ask->out, "empty_schedule_labels", ask->world != NULL && !units);
    writer_object_end(ask->out);
    return ASK_DONE;
}

/* --- schedule.graph ------------------------------------------------------------------------------------------- */

/* The number that a component type has in the graph: its number among the types of the host; UINT32_MAX where no
 * type has the name. */
static uint32_t number_of(const inspector_t *in, const char *name)
{
    bp_look_type_t type = {.struct_size = sizeof type};
    for (uint32_t cursor = 0, number = 0; in->look->type(in->host, &cursor, &type); number++)
        if (strcmp(type.name, name) == 0)
            return number;
    return UINT32_MAX;
}

/* The components that a unit reads, or writes, each once. A component that is read and written is listed as written
 * only, as in Bevy, where write access includes reading. */
static void write_numbers(const inspector_t *in, writer_t *w, bp_world_o *world, uint32_t place, bool writes)
{
    bp_look_access_t access = {.struct_size = sizeof access};
    char last[256] = "";
    uint32_t flags = 0;
    bool more = true;
    writer_key(w, writes ? "writes" : "reads");
    writer_array(w);
    for (uint32_t cursor = 0; more;) {
        more = in->look->access(world, place, &cursor, &access) != 0;
        if (last[0] != '\0' && (!more || strcmp(last, access.type) != 0)) { /* parts of one type come in a row */
            if (((flags & BP_LOOK_WRITES) != 0) == writes)
                writer_count(w, number_of(in, last));
            flags = 0;
        }
        if (more) {
            snprintf(last, sizeof last, "%s", access.type);
            flags |= access.flags;
        }
    }
    writer_array_end(w);
}

static void write_system(const inspector_t *in, writer_t *w, bp_world_o *world, uint32_t place,
                         const bp_look_unit_t *unit)
{
    static const char nothing[] = "[]";
    writer_object(w);
    writer_key_text(w, "name", unit->name);
    writer_key_truth(w, "apply_deferred", false);
    writer_key_truth(w, "exclusive", !(unit->flags & BP_LOOK_CONCURRENT));
    writer_key_truth(w, "deferred", unit->flags & BP_LOOK_SYSTEM); /* commands of a system are made after it */
    writer_key(w, "filtered_accesses");
    writer_array(w);
    writer_object(w);
    writer_key(w, "access");
    writer_object(w);
    write_numbers(in, w, world, place, false);
    write_numbers(in, w, world, place, true);
    writer_key_truth(w, "reads_inverted", false);
    writer_key_truth(w, "writes_inverted", false);
    writer_key(w, "archetypal");
    writer_json(w, nothing, strlen(nothing));
    writer_object_end(w);
    writer_key(w, "filter_sets");
    writer_json(w, nothing, strlen(nothing));
    writer_object_end(w);
    writer_array_end(w);
    writer_object_end(w);
}

static void write_systems(const inspector_t *in, writer_t *w, bp_world_o *world)
{
    bp_look_unit_t unit = {.struct_size = sizeof unit};
    writer_key(w, "systems");
    writer_array(w);
    for (uint32_t cursor = 0; in->look->unit(world, &cursor, &unit);)
        write_system(in, w, world, cursor - 1, &unit);
    writer_array_end(w);
}

static void write_place(writer_t *w, uint32_t place)
{
    writer_object(w);
    writer_key_count(w, "System", place);
    writer_object_end(w);
}

/* Pairs of units, the earlier first. */
static void write_dependencies(const inspector_t *in, writer_t *w, bp_world_o *world)
{
    bp_look_unit_t unit = {.struct_size = sizeof unit};
    bp_look_wait_t wait = {.struct_size = sizeof wait};
    writer_key(w, "dependency");
    writer_array(w);
    for (uint32_t place = 0; in->look->unit(world, &place, &unit);)
        for (uint32_t cursor = 0; in->look->wait(world, place - 1, &cursor, &wait);) {
            writer_array(w);
            write_place(w, wait.unit);
            write_place(w, place - 1);
            writer_array_end(w);
        }
    writer_array_end(w);
}

static void write_components(const inspector_t *in, writer_t *w)
{
    bp_look_type_t type = {.struct_size = sizeof type};
    writer_key(w, "components");
    writer_array(w);
    for (uint32_t cursor = 0; in->look->type(in->host, &cursor, &type);) {
        writer_object(w);
        writer_key_text(w, "name", type.name);
        writer_key(w, "required");
        writer_array(w);
        writer_array_end(w);
        writer_object_end(w);
    }
    writer_array_end(w);
}

static void write_nothing(writer_t *w, const char *key)
{
    writer_key(w, key);
    writer_array(w);
    writer_array_end(w);
}

static int graph(ask_t *ask)
{
    const char *label = NULL;
    writer_t *w = ask->out;
    if (!ask_text(ask, "schedule_label", true, &label))
        return ASK_DONE;
    if (ask->world == NULL || strcmp(label, SCHEDULE) != 0) {
        ask_fail(ask, RPC_RESOURCE, "there is no schedule '%.100s'; a world has one, 'step'", label);
        return ASK_DONE;
    }
    if (!tells_access(ask->in->look)) {
        ask_fail(ask, RPC_INTERNAL, "this host does not tell what units touch: it is older than the inspector");
        return ASK_DONE;
    }
    writer_object(w);
    writer_key(w, "schedule_data");
    writer_object(w);
    writer_key_text(w, "name", SCHEDULE);
    write_systems(ask->in, w, ask->world);
    write_nothing(w, "system_sets");
    write_nothing(w, "hierarchy");
    write_dependencies(ask->in, w, ask->world);
    write_components(ask->in, w);
    write_nothing(w, "conflicts");
    writer_object_end(w);
    writer_object_end(w);
    return ASK_DONE;
}

const method_t unit_methods[] = {
    {"backplane.systems", "the units of a world's step in their order, with their figures, and what they touch",
     "world?", 0, systems, NULL},
    {"schedule.list", "the schedules of a world: one, its step", "", 0, list, NULL},
    {"schedule.graph", "the units of a world's step, what they touch, and which waits for which", "schedule_label", 0,
     graph, NULL},
    {0},
};
