/* views.c - pieces of answers that several methods share (views.h). */
#include "views.h"

#include "look.h"
#include "parts.h"
#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* --- worlds --------------------------------------------------------------------------------------------------- */

void views_worlds(const inspector_t *in, writer_t *w)
{
    bp_look_world_t world = {.struct_size = sizeof world};
    bp_clock_t clock = {.struct_size = sizeof clock};
    writer_array(w);
    for (uint32_t cursor = 0; in->look->world(in->host, &cursor, &world);) {
        in->clocks->read(world.world, &clock);
        writer_object(w);
        writer_key_text(w, "name", world.name);
        writer_key_count(w, "step", world.steps);
        writer_key_real(w, "time", world.time);
        writer_key_real(w, "dt", 1 / world.step_rate);
        writer_key_count(w, "entities", world.entities);
        writer_key_count(w, "structure", world.structure);
        writer_key_count(w, "bytes", world.bytes);
        writer_key_real(w, "spent", (double)world.nanoseconds / 1e9);
        writer_key_truth(w, "paused", clock.stopped != 0);
        writer_key_real(w, "speed", clock.speed);
        bp_entity_t own = in->api->world->own(world.world);
        if (own.id != 0) {
            writer_key(w, "own");
            look_write_entity(in, w, own);
        }
        writer_object_end(w);
    }
    writer_array_end(w);
}

void views_history(const inspector_t *in, writer_t *w)
{
    bp_past_t past = {.struct_size = sizeof past};
    if (in->history != NULL)
        in->history->read(in->host, &past);
    if (past.budget == 0) {
        writer_null(w);
        return;
    }
    writer_object(w);
    writer_key_count(w, "first", past.first);
    writer_key_count(w, "now", past.now);
    writer_key_count(w, "last", past.last);
    writer_key_count(w, "keyframes", past.keyframes);
    writer_key_count(w, "bytes", past.bytes);
    writer_key_count(w, "budget", past.budget);
    writer_object_end(w);
}

/* --- types ---------------------------------------------------------------------------------------------------- */

static void write_known_text(writer_t *w, const char *key, const char *text)
{
    if (text != NULL && text[0] != '\0')
        writer_key_text(w, key, text);
}

/* Write the unit as the world calls it, "au" where a field declares "m". */
static void write_unit(const inspector_t *in, writer_t *w, bp_world_o *world, const char *declared)
{
    char text[128];
    if (world != NULL && declared != NULL && in->look->unit_text(world, declared, text, sizeof text) < sizeof text)
        declared = text;
    write_known_text(w, "unit", declared);
}

static void write_field(const inspector_t *in, writer_t *w, bp_world_o *world, const bp_field_t *field)
{
    writer_object(w);
    writer_key_text(w, "name", field->name);
    char type[64];
    bool list = (field->flags & BP_FIELD_LIST) != 0, array = field->count > 1;
    if (array)
        snprintf(type, sizeof type, "array of %u %s", field->count, shape_of(field->type)->name);
    else
        snprintf(type, sizeof type, "%s%s", list ? "list of " : "", shape_of(field->type)->name);
    writer_key_text(w, "type", type);
    writer_key_count(w, "parts", list || array ? 1u : shape_of(field->type)->parts);
    write_unit(in, w, world, field->unit);
    write_known_text(w, "doc", field->doc);
    write_known_text(w, "initial", field->initial);
    write_known_text(w, "min", field->min);
    write_known_text(w, "max", field->max);
    if (!(field->flags & BP_FIELD_BITS))
        write_known_text(w, "values", field->values);
    if (field->flags & BP_FIELD_READ_ONLY)
        writer_key_truth(w, "readOnly", true);
    if (field->flags & BP_FIELD_PARENT)
        writer_key_truth(w, "parent", true);
    if (field->flags & BP_FIELD_LABEL)
        writer_key_truth(w, "label", true);
    writer_object_end(w);
}

void views_types(const inspector_t *in, writer_t *w, bp_world_o *world)
{
    look_type_t type;
    bp_field_t field;
    writer_array(w);
    for (uint32_t i = 0; look_type(in, i, &type); i++) {
        writer_object(w);
        writer_key_text(w, "type", type.name);
        write_known_text(w, "doc", type.doc);
        write_known_text(w, "plugin", type.plugin);
        writer_key_truth(w, "single", type.flags & BP_COMPONENT_SINGLE);
        if (type.flags & BP_COMPONENT_WORLD)
            writer_key_truth(w, "world", true);
        writer_key(w, "fields");
        writer_array(w);
        for (uint32_t f = 0; look_field(in, type.name, f, &field); f++)
            write_field(in, w, world, &field);
        writer_array_end(w);
        writer_object_end(w);
    }
    writer_array_end(w);
}

/* Mix a text into a hash by FNV-1a, which is enough to notice a difference. */
static void mix(uint64_t *hash, const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        *hash = (*hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    *hash = (*hash ^ 0xff) * UINT64_C(1099511628211);
}

uint64_t views_revision(const inspector_t *in)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    bp_look_plugin_t plugin = {.struct_size = sizeof plugin};
    look_type_t type;
    bp_field_t field;
    for (uint32_t cursor = 0; in->look->plugin(in->host, &cursor, &plugin);) {
        mix(&hash, plugin.name);
        mix(&hash, plugin.version);
        mix(&hash, plugin.crash);
    }
    for (uint32_t i = 0; look_type(in, i, &type); i++) {
        mix(&hash, type.name);
        for (uint32_t f = 0; look_field(in, type.name, f, &field); f++) {
            mix(&hash, field.name);
            mix(&hash, field.unit);
            mix(&hash, field.doc);
            mix(&hash, field.min);
            mix(&hash, field.max);
            hash = (hash ^ field.type ^ field.flags << 8 ^ (uint64_t)field.count << 40) * UINT64_C(1099511628211);
        }
    }
    return hash >> 12; /* exact as a number of JavaScript */
}

void views_components(const inspector_t *in, writer_t *w, bp_world_o *world)
{
    bp_look_component_t told = {.struct_size = sizeof told};
    char full[LOOK_NAME_MAX];
    writer_array(w);
    for (uint32_t cursor = 0; in->look->component(world, &cursor, &told);) {
        look_part_t part = {told.key, told.component, told.name, told.type};
        look_full_name(&part, full);
        writer_object(w);
        writer_key_text(w, "name", told.name);
        writer_key_text(w, "type", told.type);
        writer_key_text(w, "component", full);
        writer_key_count(w, "count", told.entities);
        writer_object_end(w);
    }
    writer_array_end(w);
}

/* --- entities ------------------------------------------------------------------------------------------------- */

void views_row(const inspector_t *in, writer_t *w, bp_world_o *world, bp_entity_t entity)
{
    char id[LOOK_ID_MAX];
    uint8_t alive = 0;
    in->api->entity->format(in->host, entity, id, sizeof id);
    in->api->entity->alive(in->host, &entity, 1, &alive);
    const char *label = alive ? look_label(in, world, entity) : NULL;
    writer_object(w);
    writer_key(w, "entity");
    look_write_entity(in, w, entity);
    writer_key_text(w, "id", id);
    if (label != NULL && label[0] != '\0')
        writer_key_text(w, "name", label);
    if (!alive)
        writer_key_truth(w, "gone", true);
}

void views_entity(const inspector_t *in, writer_t *w, bp_world_o *world, bp_entity_t entity)
{
    look_part_t parts[LOOK_PARTS_MAX];
    char full[LOOK_NAME_MAX];
    views_row(in, w, world, entity);
    uint32_t count = look_parts(in, world, entity, parts);
    writer_key(w, "components");
    writer_array(w);
    for (uint32_t i = 0; i < count; i++) {
        look_full_name(&parts[i], full);
        writer_object(w);
        writer_key_text(w, "name", parts[i].name);
        writer_key_text(w, "type", parts[i].type);
        writer_key_text(w, "component", full);
        writer_key(w, "values");
        parts_write(in, w, world, entity, &parts[i]);
        writer_object_end(w);
    }
    writer_array_end(w);
    writer_object_end(w);
}

void views_value(const inspector_t *in, writer_t *w, bp_world_o *world, const gather_t *gather, bp_entity_t entity)
{
    bp_value_t value;
    uint8_t has;
    if (gather_values(in, world, gather, &entity, 1, &value, &has) == 0)
        writer_null(w);
    else if (gather->part != CONDITION_WHOLE)
        writer_real32(w, (float)gather_number(gather, &value));
    else
        values_write(in, w, gather->type, &value);
}
