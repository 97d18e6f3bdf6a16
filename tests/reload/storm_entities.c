/* storm_entities.c - entities that are made and ended, components that come and go, values that are written: in the
 * host and in the model.
 *
 * A request for memory may be refused meanwhile; then nothing has happened in either.
 */
#include "storm_model.h"

#include <string.h>

void storm_take_out(uint32_t e, uint32_t w, uint32_t kind)
{
    storm.now.places[e][w].has[kind] = false;
    if (kind == GUST)
        storm_handles_break(e, w);
}

void storm_put_in(uint32_t e, uint32_t w, uint32_t kind)
{
    place_t *place = &storm.now.places[e][w];
    place->has[kind] = place->since[kind] = true;
    if (kind == KEEPER)
        place->keeper = (keeper_values_t){.number = 5};
    if (kind == GUST)
        place->gust = (gust_t){.power = storm.now.gale.initial};
    if (kind == DEN || kind == LAIR)
        storm_den_begin(&place->den[kind - DEN]);
    if (kind == PLAIN)
        place->x = 1;
    for (uint32_t f = 0; f < storm.now.list.count && kind <= SECOND; f++)
        place->patch[kind].of[storm.now.list.fields[f].name] = storm.now.list.fields[f].initial;
}

static void add(uint32_t e, uint32_t w, uint32_t kind)
{
    uint32_t key = storm_key(w, kind);
    storm_break(8);
    if (storm_done(storm.api->world->add(storm.worlds[w], key, &storm.now.entities[e], 1), "add"))
        storm_put_in(e, w, kind);
}

uint32_t storm_free(void)
{
    uint32_t e = 0;
    while (e < ENTITIES && storm.now.alive[e])
        e++;
    return e;
}

void storm_die(uint32_t e)
{
    storm_handles_died(e);
    EACH_WORLD(w)
        storm_handles_break(e, w);
    storm.now.alive[e] = false;
    storm.ghosts = storm.ghosts || storm.aside;
    storm.died = true;
    memset(storm.now.places[e], 0, sizeof storm.now.places[e]);
}

void storm_create(void)
{
    uint32_t e = storm_free();
    if (e >= MADE)
        return;
    storm_break(3);
    if (!storm_done(storm.api->entity->create(storm.host, &storm.now.entities[e], 1), "create"))
        return;
    storm.now.alive[e] = true;
    storm_mark(e);
    EACH_WORLD(w) {
        for (uint32_t kind = 0; kind < KINDS; kind++) {
            bool wanted = storm_below(3) > 0;
            if (wanted && storm_may_have(kind))
                add(e, w, kind);
        }
    }
}

void storm_destroy(void)
{
    uint32_t e = storm_some_entity();
    if (e == ENTITIES)
        return;
    storm_break(3); /* without memory too */
    uint32_t ended = storm.api->entity->destroy(storm.host, &storm.now.entities[e], 1);
    storm_mend();
    SAYS(ended == 1, "entity %u did not live", e);
    storm_die(e);
}

void storm_add_or_remove(void)
{
    uint32_t e = storm_some_entity(), w = storm_some_world(), kind = storm_below(KINDS);
    if (e == ENTITIES || !storm_may_have(kind))
        return;
    if (!storm.now.places[e][w].has[kind]) {
        add(e, w, kind);
        return;
    }
    uint32_t key = storm_key(w, kind);
    storm_break(8);
    if (storm_done(storm.api->world->remove(storm.worlds[w], key, &storm.now.entities[e], 1), "remove"))
        storm_take_out(e, w, kind);
}

static void write_patch(uint32_t e, uint32_t w, uint32_t kind)
{
    if (storm.now.list.count == 0)
        return;
    const patch_field_t *field = &storm.now.list.fields[storm_below(storm.now.list.count)];
    patch_value_t *known = &storm.now.places[e][w].patch[kind].of[field->name];
    char name[PATCH_TEXT];
    bp_value_t value;
    patch_name(field->name, name);
    patch_value_t next = patch_random_value(&storm.random, field->type);
    patch_pack(&next, field->type, &value);
    storm_break(4);
    if (storm_done(storm.api->property->set_named(storm.worlds[w], storm.now.entities[e], storm_name_of(kind), name,
                                                      field->type, &value), "set"))
        *known = next;
}

static void write_keeper(uint32_t e, uint32_t w)
{
    keeper_values_t *known = &storm.now.places[e][w].keeper;
    bp_entity_t entity = storm.now.entities[e];
    const char *text = known->text;
    known->number = (int32_t)storm_below(2001) - 1000;
    snprintf(known->text, sizeof known->text, "text %u", storm_below(1000));
    DOES(storm.api->property->set_named(storm.worlds[w], entity, "keeper", "number", BP_I32, &known->number));
    DOES(storm.api->property->set_named(storm.worlds[w], entity, "keeper", "text", BP_STRING, &text));
    SAYS(storm.api->property->set_named(storm.worlds[w], entity, "keeper", "text", BP_STRING, &(const char *){"!"}) ==
             BP_ERROR_ARGUMENT,
         "a text is not refused");
}

void storm_write_value(void)
{
    for (uint32_t n = 1 + storm_below(6); n > 0; n--) {
        uint32_t e = storm_some_entity(), w = storm_some_world(), kind = storm_below(PLAIN + 1u);
        if (e == ENTITIES || !storm.now.places[e][w].has[kind])
            continue;
        if (kind <= SECOND)
            write_patch(e, w, kind);
        else if (kind == KEEPER)
            write_keeper(e, w);
        else if (kind == GUST)
            storm_gale_write(e, w);
        else if (kind == DEN || kind == LAIR)
            storm_den_write(e, w, kind);
        else if (kind == PLAIN)
            DOES(storm.api->property->set_named(storm.worlds[w], storm.now.entities[e], "crash_plain", "x", BP_F32,
                                                &(float){storm.now.places[e][w].x = (float)storm_below(50)}));
    }
}
