/* storm_crowd.c - many entities at once: made, written, changed and ended by batch, beside the few that the storm knows
 * one by one.
 *
 * With them columns grow and are cut into blocks, rows move, holes are filled, and reloads convert many values. There
 * are two kinds, which take turns in the rows of the first world, so that a value that comes from another row shows.
 * All of a kind are alike, so the model has one place for them (storm.now.places[CROWD] and the next) and their number.
 * They are found by their component `mark`, which says their place: ids need not be remembered across what goes back or
 * is restored.
 *
 * Not here: the comparison of one entity with a place (storm_model.c).
 */
#include "storm_model.h"

#include <string.h>

enum { LEAST = 300, MOST = 2000 };

static bp_entity_t members[MOST];
static uint32_t places[MOST]; /* of each */

static uint32_t crowd(void)
{
    return storm.now.crowd[0] + storm.now.crowd[1];
}

/* All entities that are marked as of the crowd; how many of each kind there are is what the model says. */
static uint32_t need_members(void)
{
    bp_world_o *world = storm.worlds[0];
    uint32_t count = 0, of[CROWDS] = {0};
    bp_run_t run;
    for (uint32_t cursor = 0; next_run(world, world_component(&world->rows, "mark"), &cursor, &run) != 0;) {
        for (uint32_t i = 0; i < run.count; i++) {
            uint32_t mark = 0;
            if (run.entities[i].id == 0)
                continue;
            DOES(storm.api->property->get_named(world, run.entities[i], "mark", "value", BP_U32, &mark));
            if (mark < CROWD || mark >= PLACES)
                continue;
            SAYS(count < MOST, "the crowd has more than %u entities", count);
            of[mark - CROWD]++;
            places[count] = mark;
            members[count++] = run.entities[i];
        }
    }
    SAYS(of[0] == storm.now.crowd[0] && of[1] == storm.now.crowd[1], "the crowd has %u and %u entities, and not %u, %u",
         of[0], of[1], storm.now.crowd[0], storm.now.crowd[1]);
    return count;
}

/* The place of those that there are: all have the same components. */
static const place_t *some_place(void)
{
    return &storm.now.places[storm.now.crowd[0] > 0 ? CROWD : CROWD + 1][0];
}

/* One value for each kind, in one call: all or none have it. */
static void write_field(const patch_field_t *field)
{
    static bp_value_t values[MOST];
    patch_value_t next[CROWDS];
    for (uint32_t i = 0; i < CROWDS; i++)
        next[i] = patch_random_value(&storm.random, field->type);
    uint32_t count = need_members();
    bp_property_t property;
    char name[PATCH_TEXT];
    patch_name(field->name, name);
    for (uint32_t i = 0; i < count; i++)
        patch_pack(&next[places[i] - CROWD], field->type, &values[i]);
    DOES(storm.api->property->resolve(storm.worlds[0], members[0], "patch", name, &property));
    storm_break(8);
    if (!storm_done(storm.api->property->set(storm.worlds[0], &property, members, count, values, sizeof values[0]),
                    "set of a crowd"))
        return;
    for (uint32_t i = 0; i < CROWDS; i++)
        storm.now.places[CROWD + i][0].patch[PATCH].of[field->name] = next[i];
}

static void write_some(void)
{
    if (some_place()->has[PATCH] && storm.now.list.count > 0)
        write_field(&storm.now.list.fields[storm_below(storm.now.list.count)]);
}

static void come(void)
{
    uint32_t count = LEAST + storm_below(MOST - LEAST), prototype;
    uint32_t keys[] = {storm_key(0, PATCH), storm_key(0, FLAG), key_of(storm.worlds[0], "mark", "")};
    bp_property_t mark;
    DOES(storm.api->world->prototype(storm.worlds[0], keys, COUNT(keys), &prototype));
    storm_break(8);
    if (!storm_done(storm.api->world->create(storm.worlds[0], prototype, members, count), "create a crowd"))
        return;
    for (uint32_t i = 0; i < count; i++)
        storm.now.crowd[(places[i] = CROWD + i % CROWDS) - CROWD]++;
    DOES(storm.api->property->resolve(storm.worlds[0], members[0], "mark", "value", &mark));
    DOES(storm.api->property->set(storm.worlds[0], &mark, members, count, places, sizeof places[0]));
    storm.counts->crowds++;
    for (uint32_t e = CROWD; e < PLACES; e++) {
        storm_put_in(e, 0, PATCH);
        storm_put_in(e, 0, FLAG);
    }
    for (uint32_t f = 0; f < storm.now.list.count; f++)
        write_field(&storm.now.list.fields[f]);
}

/* Each n-th of them stays. */
static void wane(void)
{
    uint32_t count = need_members(), nth = storm_below(5), ending = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (nth != 0 && i % (nth + 1) == 0)
            continue;
        storm.now.crowd[places[i] - CROWD]--;
        members[ending++] = members[i];
    }
    storm_break(3); /* without memory too */
    uint32_t ended = storm.api->entity->destroy(storm.host, members, ending);
    storm_mend();
    SAYS(ended == ending, "%u of the crowd die, and not %u", ended, ending);
    storm.ghosts = storm.ghosts || storm.aside;
    storm.died = true;
    for (uint32_t i = 0; i < CROWDS; i++) {
        if (storm.now.crowd[i] == 0)
            memset(storm.now.places[CROWD + i], 0, sizeof storm.now.places[CROWD + i]);
    }
}

static void change(uint32_t kind)
{
    bool adds = !some_place()->has[kind];
    uint32_t count = need_members(), key = storm_key(0, kind);
    const bp_world_api *api = storm.api->world;
    storm_break(8);
    bp_result_t result = adds ? api->add(storm.worlds[0], key, members, count)
                              : api->remove(storm.worlds[0], key, members, count);
    if (!storm_done(result, "a component of a crowd"))
        return;
    for (uint32_t i = 0; i < CROWDS; i++) {
        if (storm.now.crowd[i] == 0)
            continue;
        if (adds)
            storm_put_in(CROWD + i, 0, kind);
        else
            storm_take_out(CROWD + i, 0, kind);
    }
}

void storm_crowd(void)
{
    if (crowd() == 0) {
        come();
        return;
    }
    switch (storm_below(5)) {
    case 0: wane(); break;
    case 1: change(PATCH); break;
    case 2: change(SECOND); break;
    case 3: change(FLAG); break;
    default: write_some(); break;
    }
}

void storm_crowd_compare(void)
{
    uint32_t count = need_members();
    for (uint32_t i = 0; i < count; i++)
        storm_compare_patches(members[i], places[i], 0, i == 0);
}
