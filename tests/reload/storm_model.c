/* storm_model.c - every value of the model compared with the host's. */
#include "storm_model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

storm_t storm;

const char *const storm_types[KINDS] = {"patch", "patch", "flag", "keeper", "gust", "eddy",
                                          "den", "den", "crash_plain", "crash_own"};

void storm_broken(const char *format, ...)
{
    char text[1500];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (getenv("STORM_LOG") != NULL)
        fprintf(stderr, "%s\n", storm.rig.log.text); /* the beginning of what the host's log was told */
    storm.give_up(storm.event, text);
}

const char *storm_name_of(uint32_t kind)
{
    return kind == SECOND ? "second" : kind == LAIR ? "lair" : storm_types[kind];
}

void storm_mix(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        storm.hash = (storm.hash ^ at[i]) * UINT64_C(0x100000001b3);
}

static void compare_patch(bp_entity_t entity, uint32_t e, uint32_t w, uint32_t kind, bool mix)
{
    const place_t *place = &storm.now.places[e][w];
    for (uint32_t f = 0; f < storm.now.list.count; f++) {
        const patch_field_t *field = &storm.now.list.fields[f];
        const patch_value_t *known = &place->patch[kind].of[field->name];
        char name[PATCH_TEXT];
        bp_value_t value, packed;
        patch_name(field->name, name);
        DOES(storm.api->property->get_named(storm.worlds[w], entity, storm_name_of(kind), name, field->type, &value));
        SAYS(patch_same(known, field->type, &value), "%s.%s of entity %u in world %u is not %g '%s'",
             storm_name_of(kind), name, e, w, known->part[0], known->text);
        patch_pack(known, field->type, &packed);
        if (mix && field->type == BP_STRING)
            storm_mix(known->text, strlen(known->text));
        else if (mix)
            storm_mix(&packed, patch_size(field->type));
    }
}

void storm_compare_patches(bp_entity_t entity, uint32_t e, uint32_t w, bool mix)
{
    for (uint32_t kind = PATCH; kind <= SECOND; kind++) {
        if (storm.now.places[e][w].has[kind])
            compare_patch(entity, e, w, kind, mix);
    }
}

static void compare_keeper(uint32_t e, uint32_t w)
{
    const keeper_values_t *known = &storm.now.places[e][w].keeper;
    int32_t number, twice;
    const char *text;
    bp_entity_t entity = storm.now.entities[e];
    DOES(storm.api->property->get_named(storm.worlds[w], entity, "keeper", "number", BP_I32, &number));
    DOES(storm.api->property->get_named(storm.worlds[w], entity, "keeper", "twice", BP_I32, &twice));
    DOES(storm.api->property->get_named(storm.worlds[w], entity, "keeper", "text", BP_STRING, &text));
    SAYS(number == known->number && twice == 2 * number && strcmp(text, known->text) == 0,
         "keeper of entity %u in world %u is %d, %d, '%s' and not %d, '%s'", e, w, number, twice, text, known->number,
         known->text);
    storm_mix(&number, sizeof number);
    storm_mix(text, strlen(text));
}

float storm_x_of(uint32_t e, uint32_t w)
{
    float x = 0;
    DOES(storm.api->property->get_named(storm.worlds[w], storm.now.entities[e], "crash_plain", "x", BP_F32, &x));
    return x;
}

static void compare_place(uint32_t e, uint32_t w)
{
    const place_t *place = &storm.now.places[e][w];
    float x;
    storm_compare_patches(storm.now.entities[e], e, w, true);
    if (place->has[KEEPER])
        compare_keeper(e, w);
    else
        SAYS(storm.api->property->get_named(storm.worlds[w], storm.now.entities[e], "keeper", "share", BP_F64,
                                            &(double){0}) != BP_OK,
             "entity %u of world %u has a keeper", e, w);
    if (place->has[GUST])
        storm_gale_compare(e, w);
    for (uint32_t kind = DEN; kind <= LAIR; kind++) {
        if (place->has[kind])
            storm_den_compare(e, w, kind);
    }
    if (place->has[PLAIN]) {
        x = storm_x_of(e, w);
        SAYS(x == place->x, "crash_plain.x of entity %u in world %u is %g and not %g", e, w, (double)x,
             (double)place->x);
        storm_mix(&x, sizeof x);
    }
}

static void compare_count(uint32_t w, uint32_t kind)
{
    uint32_t wanted = 0;
    for (uint32_t e = 0; e < PLACES; e++) {
        const bool *has = storm.now.places[e][w].has;
        wanted += (e >= CROWD ? storm.now.crowd[e - CROWD] : 1u) *
                  ((has[kind] ? 1u : 0u) + (kind == PATCH && has[SECOND] ? 1u : 0u) +
                   (kind == DEN && has[LAIR] ? 1u : 0u));
    }
    uint32_t found = world_count(&storm.worlds[w]->rows, world_component(&storm.worlds[w]->rows, storm_types[kind]));
    /* `keeper` collects its dead when it likes, and so do some versions of `den`; the others have none, whatever was
     * before them. */
    bool more = kind == KEEPER || (kind == DEN && storm.now.den.collects) || (kind == OWN && storm.ghosts);
    SAYS(found == wanted || (more && found > wanted), "%u instances of %s in world %u, and not %u", found,
         storm_types[kind], w, wanted);
    storm_mix(&wanted, sizeof wanted);
}

/* No entities but those of the model, and those that bear what belongs to worlds. */
static void compare_living(void)
{
    uint32_t wanted = storm.host->entities.owned + storm.now.crowd[0] + storm.now.crowd[1];
    uint32_t found = storm.host->entities.living;
    for (uint32_t e = 0; e < ENTITIES; e++)
        wanted += storm.now.alive[e];
    SAYS(found == wanted, "%u entities live, and not %u", found, wanted);
}

void storm_compare(void)
{
    uint8_t alive;
    storm_past_look();
    storm_apart_look();
    compare_living();
    for (uint32_t e = 0; e < ENTITIES; e++) {
        storm.api->entity->alive(storm.host, &storm.now.entities[e], 1, &alive);
        SAYS(alive == storm.now.alive[e], "entity %u %s", e, alive ? "lives" : "is dead");
        EACH_WORLD(w)
            compare_place(e, w);
    }
    storm_crowd_compare();
    EACH_WORLD(w) {
        storm_gale_compare_world(w);
        for (uint32_t kind = 0; kind < KINDS; kind++) {
            if (kind != SECOND && kind != LAIR && (kind < OWN || !storm.aside) && (kind < PLAIN || storm.how->crashes))
                compare_count(w, kind);
        }
    }
    storm_handles_use();
    /* Both hold texts that no world has. */
    if (storm.snapshot == NULL && storm.host->reload.probation == NULL)
        check_host(storm.host);
}

