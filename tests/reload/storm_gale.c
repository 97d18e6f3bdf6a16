/* storm_gale.c - tests/fixtures/gale.c once more, as plain arithmetic on the model: what its systems, messages,
 * notices, lists and commands come to in a step.
 *
 * Entities that its commands make are found in the world, and taken into the model in an order that the model alone
 * decides.
 */
#include "storm_model.h"

#include <string.h>

/* Parents that have had a child in the steps since the last storm_gale_born, by world. */
static struct {
    uint32_t parents[WORLDS][ENTITIES];
    bp_entity_t ids[WORLDS][ENTITIES]; /* of the parents: in the place of one that has died there may be a child soon */
    uint32_t count[WORLDS];
} births;

/* --- the file ----------------------------------------------------------------------------------------------------- */

static const struct { const char *name; uint32_t type, flags; } declared[GALE_FIELDS - 1] = {
    {"power", BP_I32, 0},
    {"heard", BP_U32, 0},
    {"sum", BP_I64, 0},
    {"child", BP_ENTITY, 0},
    {"trail", BP_I32, BP_FIELD_LIST},
};

static const uint32_t extras[] = {BP_F64, BP_U8, BP_VEC3, BP_STRING, BP_I64};

void storm_gale_open(void)
{
    memset(&births, 0, sizeof births);
    storm.now.gale = (gale_t){.rate = 1, .limit = 40, .modulus = 3, .initial = 4, .form = 1, .keeps = BP_KEEP_ANEW};
    storm_gale_put();
}

static void put_text(const char *what, uint32_t field, const char *text)
{
    char mark[GALE_TEXT];
    snprintf(mark, sizeof mark, "@gale %s %u@", what, field);
    storm_fixture_text(mark, text);
}

/* Fields in an order of the version's own; the one that nothing reads is the last of the declaration. */
static void put_fields(const gale_t *gale)
{
    char initial[GALE_TEXT];
    for (uint32_t i = 0; i < GALE_FIELDS - 1; i++) {
        uint32_t which = (i * (1 + gale->order % 4) + gale->order / 4) % (GALE_FIELDS - 1);
        snprintf(initial, sizeof initial, "%d", which == 0 ? gale->initial : 0);
        put_text("name", i, declared[which].name);
        put_text("init", i, which < 3 ? initial : "");
        storm_fixture_number(GALE_TYPE + i, declared[which].type);
        storm_fixture_number(GALE_FLAGS + i, declared[which].flags);
    }
    snprintf(initial, sizeof initial, "extra_%u", gale->extra);
    put_text("name", GALE_FIELDS - 1, initial);
    put_text("init", GALE_FIELDS - 1, "");
    storm_fixture_number(GALE_TYPE + GALE_FIELDS - 1, extras[gale->extra]);
    storm_fixture_number(GALE_FLAGS + GALE_FIELDS - 1, 0);
}

void storm_gale_put(void)
{
    const gale_t *gale = &storm.now.gale;
    gale_data_t data = {.mark = GALE_MARK, .rate = gale->rate, .limit = gale->limit, .modulus = gale->modulus};
    storm_fixture_open("gale");
    storm_fixture_put(GALE_MARK, strlen(GALE_MARK), &data, sizeof data);
    storm_fixture_wide(GALE_FORM, (uint64_t)gale->form << 32 | 8);
    storm_fixture_number(GALE_KEEPS, gale->keeps);
    put_fields(gale);
    storm_fixture_close("gale");
}

gale_t storm_gale_next(void)
{
    gale_t gale = storm.now.gale;
    gale.rate = 1 + (int32_t)storm_below(5);
    gale.limit = 30 + (int32_t)storm_below(40);
    gale.modulus = 2 + (int32_t)storm_below(4);
    gale.initial = (int32_t)storm_below(10);
    if (storm_below(2) == 0)
        gale.order = storm_below(20);
    if (storm_below(2) == 0)
        gale.extra = storm_below(COUNT(extras));
    if (storm_below(3) == 0)
        gale.form = 1 + storm_below(3);
    if (storm_below(3) == 0)
        gale.keeps = storm_below(2) == 0 ? BP_KEEP_ANEW : BP_KEEP_PLAIN;
    return gale;
}

bool storm_gale_like(const gale_t *a, const gale_t *b)
{
    return a->order == b->order && a->extra == b->extra && a->form == b->form && a->keeps == b->keeps;
}

/* --- a step ------------------------------------------------------------------------------------------------------- */

static void blow(gust_t *gust, world_state_t *next)
{
    gust->power += storm.now.gale.rate;
    if (gust->trail_count == GALE_LAST)
        memmove(gust->trail, gust->trail + 1, --gust->trail_count * sizeof *gust->trail);
    gust->trail[gust->trail_count++] = gust->power;
    if (gust->power % 5 != 0)
        return;
    next->messages++;
    next->said += gust->power;
}

/* Whether the entity ends. */
static bool divide(uint32_t e, uint32_t w)
{
    gust_t *gust = &storm.now.places[e][w].gust;
    if (gust->power < storm.now.gale.limit)
        return false;
    if (gust->heard % 2 == 1)
        return true;
    births.ids[w][births.count[w]] = storm.now.entities[e];
    births.parents[w][births.count[w]++] = e;
    gust->power = 0;
    return false;
}

void storm_gale_step(uint32_t w)
{
    world_state_t *own = &storm.now.own[w], next = {.steps = own->steps + 1, .recounted = own->recounted,
                                                  .unknown = own->recounted};
    for (uint32_t e = 0; e < ENTITIES; e++)
        next.present += storm.now.places[e][w].has[EDDY];
    storm_den_step(w);
    for (uint32_t e = 0; e < ENTITIES; e++) {
        place_t *place = &storm.now.places[e][w];
        if (!place->has[GUST])
            continue;
        blow(&place->gust, &next);
        storm_den_dig(e, w, place->gust.power);
        place->gust.heard += own->messages;
        place->gust.sum += own->said;
        bool eddy = place->gust.power % storm.now.gale.modulus == 0;
        if (eddy && !place->has[EDDY])
            storm_put_in(e, w, EDDY);
        place->has[EDDY] = eddy;
        if (divide(e, w))
            storm_die(e);
    }
    *own = next;
}

/* --- children ----------------------------------------------------------------------------------------------------- */

static bool is_known(bp_entity_t entity)
{
    for (uint32_t e = 0; e < ENTITIES; e++) {
        if (storm.now.alive[e] && storm.now.entities[e].id == entity.id)
            return true;
    }
    return false;
}

/* All entities of a world with a gust that the model does not know. */
static uint32_t find_unknown(uint32_t w, bp_entity_t *unknown, uint32_t most)
{
    uint32_t count = 0, component = world_component(&storm.worlds[w]->rows, "gust");
    bp_run_t run;
    for (uint32_t cursor = 0; next_run(storm.worlds[w], component, &cursor, &run) != 0;) {
        for (uint32_t i = 0; i < run.count; i++) {
            if (run.entities[i].id == 0 || is_known(run.entities[i]))
                continue;
            SAYS(count < most, "more than %u children were born in world %u", most, w);
            unknown[count++] = run.entities[i];
        }
    }
    return count;
}

static void take_in(bp_entity_t child, uint32_t w)
{
    uint32_t e = storm_free();
    if (e == ENTITIES) {
        SAYS(storm.api->entity->destroy(storm.host, &child, 1) == 1, "a child cannot be destroyed");
        return;
    }
    storm.now.entities[e] = child;
    storm.now.alive[e] = true;
    storm_mark(e);
    storm_put_in(e, w, GUST);
}

static void take_child(bp_entity_t *unknown, uint32_t count, uint32_t which, uint32_t w)
{
    SAYS(which < count, "a child is not in world %u", w);
    bp_entity_t child = unknown[which];
    unknown[which] = (bp_entity_t){0};
    take_in(child, w);
}

/* A parent that lives says who its child is; those of parents that have died in another world's step are like each
 * other. */
static void born_in(uint32_t w)
{
    bp_entity_t unknown[ENTITIES];
    uint32_t count = find_unknown(w, unknown, births.count[w]);
    SAYS(count == births.count[w], "%u children were born in world %u, and not %u", count, w, births.count[w]);
    for (uint32_t i = 0; i < births.count[w]; i++) {
        uint32_t parent = births.parents[w][i], which = 0;
        gust_t *gust = &storm.now.places[parent][w].gust;
        if (!storm.now.places[parent][w].has[GUST] || storm.now.entities[parent].id != births.ids[w][i].id)
            continue;
        DOES(storm.api->property->get_named(storm.worlds[w], storm.now.entities[parent], "gust", "child", BP_ENTITY,
                                            &gust->child));
        while (which < count && unknown[which].id != gust->child.id)
            which++;
        take_child(unknown, count, which, w);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (unknown[i].id != 0)
            take_in(unknown[i], w);
    }
    births.count[w] = 0;
}

void storm_gale_born(void)
{
    EACH_WORLD(w) {
        if (births.count[w] > 0)
            born_in(w);
    }
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static void set(uint32_t e, uint32_t w, const char *name, uint32_t type, const void *value)
{
    DOES(storm.api->property->set_named(storm.worlds[w], storm.now.entities[e], "gust", name, type, value));
}

static void write_trail(uint32_t e, uint32_t w)
{
    gust_t *gust = &storm.now.places[e][w].gust;
    gust->trail_count = storm_below(GALE_LAST + 1u);
    for (uint32_t i = 0; i < gust->trail_count; i++)
        gust->trail[i] = (int32_t)storm_below(1000) - 500;
    bp_list_t list = {.items = gust->trail, .count = gust->trail_count};
    bp_property_t property;
    DOES(storm.api->property->resolve(storm.worlds[w], storm.now.entities[e], "gust", "trail", &property));
    DOES(storm.api->property->set(storm.worlds[w], &property, &storm.now.entities[e], 1, &list, sizeof list));
}

void storm_gale_write(uint32_t e, uint32_t w)
{
    gust_t *gust = &storm.now.places[e][w].gust;
    switch (storm_below(4)) {
    case 0: set(e, w, "power", BP_I32, &(int32_t){gust->power = (int32_t)storm_below(60)}); break;
    case 1: set(e, w, "sum", BP_I64, &(int64_t){gust->sum = (int64_t)storm_below(1000000) << 20}); break;
    case 2: set(e, w, "child", BP_ENTITY, &(bp_entity_t){gust->child.id = storm.now.entities[e].id}); break;
    default: write_trail(e, w); break;
    }
}

static void get(uint32_t e, uint32_t w, const char *name, uint32_t type, void *value)
{
    DOES(storm.api->property->get_named(storm.worlds[w], storm.now.entities[e], "gust", name, type, value));
}

static void compare_trail(uint32_t e, uint32_t w, const gust_t *gust)
{
    bp_property_t property;
    bp_list_t list;
    DOES(storm.api->property->resolve(storm.worlds[w], storm.now.entities[e], "gust", "trail", &property));
    DOES(storm.api->property->get(storm.worlds[w], &property, &storm.now.entities[e], 1, &list, sizeof list));
    SAYS(list.count == gust->trail_count && (list.count == 0 || memcmp(list.items, gust->trail, list.count * 4) == 0),
         "the trail of entity %u in world %u has %u items, and not %u, or others", e, w, list.count, gust->trail_count);
    storm_mix(gust->trail, gust->trail_count * sizeof *gust->trail);
}

void storm_gale_compare(uint32_t e, uint32_t w)
{
    const gust_t *known = &storm.now.places[e][w].gust;
    gust_t is = {0};
    get(e, w, "power", BP_I32, &is.power);
    get(e, w, "heard", BP_U32, &is.heard);
    get(e, w, "sum", BP_I64, &is.sum);
    get(e, w, "child", BP_ENTITY, &is.child);
    SAYS(is.power == known->power && is.heard == known->heard && is.sum == known->sum,
         "gust of entity %u in world %u is %d, %u, %lld and not %d, %u, %lld", e, w, is.power, is.heard,
         (long long)is.sum, known->power, known->heard, (long long)known->sum);
    SAYS(is.child.id == known->child.id, "the child of entity %u in world %u is another", e, w);
    storm_mix(&is.power, sizeof is.power);
    storm_mix(&is.heard, sizeof is.heard);
    storm_mix(&is.sum, sizeof is.sum);
    compare_trail(e, w, known);
}

void storm_gale_compare_world(uint32_t w)
{
    const world_state_t *known = &storm.now.own[w];
    bp_entity_t own = storm.api->world->own(storm.worlds[w]);
    uint32_t steps = 0, present = 0;
    DOES(storm.api->property->get_named(storm.worlds[w], own, "tally", "steps", BP_U32, &steps));
    DOES(storm.api->property->get_named(storm.worlds[w], own, "tally", "present", BP_U32, &present));
    if (known->unknown)
        present = known->present;
    SAYS(steps == known->steps && present == known->present,
         "the tally of world %u is %u steps, %u eddies, and not %u, %u", w, steps, present, known->steps,
         known->present);
    storm_mix(&steps, sizeof steps);
    storm_mix(&present, sizeof present);
}
