/* storm_handles.c - handles of every kind, taken when a world begins or at random, kept across everything that a storm
 * does, and used again after each event: entities that have died, keys, properties, references, queries, ends of
 * channels, a table.
 *
 * Queries, ends and the table are good as long as the world, whatever becomes of the plugin in between; keys and
 * properties as long as the component stays in it; a reference while its entity has had the component without a break.
 */
#include "storm_model.h"

#include <bp_message.h>
#include <bp_query.h>

#include <string.h>

enum { DEAD = 16 };

static struct {
    const bp_query_api *queries;
    const bp_message_api *messages;
    const gale_api *table;
    bp_entity_t dead[DEAD];
    uint32_t dead_count;
    struct {
        bool made;
        uint32_t keys[KINDS], sum_key, sum_field;
        bp_property_t power, weight; /* of columns; of storage of its own */
        bp_query_o *query;
        bp_channel_o *channel;
        bp_ref_t ref;
        uint32_t entity; /* of the reference */
        bool whole;      /* it has had the component since the reference was made */
    } in[WORLDS];
} kept;

void storm_handles_open(void)
{
    memset(&kept, 0, sizeof kept);
    kept.queries = storm.api->registry->find(storm.host, BP_QUERY_API, 1);
    kept.messages = storm.api->registry->find(storm.host, BP_MESSAGE_API, 1);
    kept.table = storm.api->registry->find(storm.host, "gale", 1);
    SAYS(kept.queries != NULL && kept.messages != NULL && kept.table != NULL, "a table is not there");
}

static const bp_term_field_t power_field[] = {{.name = "power", .type = BP_I32}};

static void open_channel(uint32_t w)
{
    const bp_term_field_list_t list = BP_LIST(power_field);
    DOES(kept.messages->open(storm.worlds[w], NULL, "gale", &list, &kept.in[w].channel));
}

static void make_query(uint32_t w)
{
    static const bp_term_t terms[] = {{.component = "gust", .fields = BP_LIST(power_field)}};
    const bp_term_list_t list = BP_LIST(terms);
    DOES(kept.queries->make(storm.worlds[w], NULL, &list, 0, &kept.in[w].query));
}

void storm_handles_make(uint32_t w)
{
    memset(&kept.in[w], 0, sizeof kept.in[w]);
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        if (kind < PLAIN || storm.how->crashes)
            kept.in[w].keys[kind] = storm_key(w, kind);
    }
    DOES(storm.api->property->resolve(storm.worlds[w], (bp_entity_t){0}, "gust", "power", &kept.in[w].power));
    DOES(storm.api->property->resolve(storm.worlds[w], (bp_entity_t){0}, "den", "weight", &kept.in[w].weight));
    make_query(w);
    open_channel(w);
    kept.in[w].entity = ENTITIES;
    kept.in[w].made = true;
}

void storm_handles_forget(uint32_t w)
{
    kept.in[w].made = false;
}

void storm_handles_died(uint32_t e)
{
    kept.dead[kept.dead_count++ % DEAD] = storm.now.entities[e];
}

void storm_handles_break(uint32_t e, uint32_t w)
{
    if (e == ENTITIES || kept.in[w].entity == e)
        kept.in[w].whole = false;
}

void storm_handles_went_back(void)
{
    kept.dead_count = 0;
    for (uint32_t w = 0; w < WORLDS; w++)
        kept.in[w].whole = false;
}

/* Another reference, to a field that each version has in another place. */
void storm_handles_refer(uint32_t e, uint32_t w)
{
    bp_property_t sum;
    if (!kept.in[w].made || !storm.now.places[e][w].has[GUST])
        return;
    DOES(storm.api->property->resolve(storm.worlds[w], storm.now.entities[e], "gust", "sum", &sum));
    kept.in[w].ref = (bp_ref_t){.entity = storm.now.entities[e], .field = sum.key << 8 | sum.field};
    kept.in[w].entity = e;
    kept.in[w].whole = true;
}

static void use_reference(uint32_t w)
{
    uint32_t e = kept.in[w].entity;
    if (e == ENTITIES)
        return;
    for (uint32_t i = 0; i < ENTITIES; i++) { /* an id that comes once more is perhaps another entity's now */
        if (storm.now.alive[i] && storm.now.entities[i].id == kept.in[w].ref.entity.id)
            e = i;
    }
    const place_t *place = &storm.now.places[e][w];
    bool there = storm.now.alive[e] && storm.now.entities[e].id == kept.in[w].ref.entity.id && place->has[GUST];
    const int64_t *sum = bp_ref_get(storm.api->world, storm.worlds[w], &kept.in[w].ref);
    SAYS(sum == NULL || there, "a reference to entity %u in world %u outlives the component", e, w);
    SAYS(sum != NULL || !there || !kept.in[w].whole, "a reference to entity %u in world %u is lost", e, w);
    SAYS(sum == NULL || *sum == place->gust.sum, "a reference to entity %u in world %u finds %lld and not %lld", e, w,
         (long long)*sum, (long long)place->gust.sum);
}

static void use_property(uint32_t w)
{
    for (uint32_t e = 0; e < ENTITIES; e++) {
        int32_t power = 0;
        if (!storm.now.alive[e])
            continue;
        bool has = storm.now.places[e][w].has[GUST];
        bp_result_t result = storm.api->property->get(storm.worlds[w], &kept.in[w].power, &storm.now.entities[e], 1,
                                                      &power, sizeof power);
        SAYS(has ? result == BP_OK : result == BP_ERROR_NOT_FOUND,
             "a property of gust that was resolved before answers %d for entity %u in world %u, which has %s", result,
             e, w, has ? "one" : "none");
        SAYS(!has || power == storm.now.places[e][w].gust.power, "a property that was resolved before is %d and not %d",
             power, storm.now.places[e][w].gust.power);
    }
}

static void use_weight(uint32_t w)
{
    for (uint32_t e = 0; e < ENTITIES; e++) {
        double weight = 0;
        if (!storm.now.alive[e])
            continue;
        bool has = storm.now.places[e][w].has[DEN];
        bp_result_t result = storm.api->property->get(storm.worlds[w], &kept.in[w].weight, &storm.now.entities[e], 1,
                                                      &weight, sizeof weight);
        SAYS(has ? result == BP_OK && weight == storm.now.places[e][w].den[0].weight : result == BP_ERROR_NOT_FOUND,
             "a property of den that was resolved before answers %d and %g for entity %u in world %u, which has %s",
             result, weight, e, w, has ? "one" : "none");
    }
}

static void use_query(uint32_t w)
{
    const bp_match_t *match;
    int64_t wanted = 0, found = 0;
    for (uint32_t e = 0; e < ENTITIES; e++)
        wanted += storm.now.places[e][w].has[GUST] ? 1000 + storm.now.places[e][w].gust.power : 0;
    DOES(kept.queries->begin(kept.in[w].query, 0));
    while ((match = kept.queries->next(kept.in[w].query)) != NULL) {
        for (uint32_t i = 0; i < match->count; i++)
            found += match->entities[i].id != 0 ? 1000 + BP_TERM_COLUMN(match, const int32_t, 0, 0)[i] : 0;
    }
    SAYS(found == wanted, "a query of world %u that is kept finds %lld and not %lld", w, (long long)found,
         (long long)wanted);
}

/* What was said in the last step. */
static void use_channel(uint32_t w)
{
    bp_messages_t all = {.struct_size = sizeof all};
    int64_t said = 0;
    kept.messages->read(kept.in[w].channel, &all);
    for (uint32_t i = 0; i < all.count; i++)
        said += *(const int32_t *)bp_message_value(&all, i, 0);
    SAYS(all.count == storm.now.own[w].messages && said == storm.now.own[w].said,
         "an end of a channel in world %u that is kept reads %u messages that say %lld, and not %u, %lld", w, all.count,
         (long long)said, storm.now.own[w].messages, (long long)storm.now.own[w].said);
}

static void use_dead(void)
{
    bp_entity_t *dead = kept.dead;
    uint32_t count = kept.dead_count < DEAD ? kept.dead_count : DEAD;
    uint8_t alive[DEAD];
    SAYS(count == 0 || storm.api->entity->alive(storm.host, dead, count, alive) == 0, "what has died lives");
    if (storm_past_is_behind())
        return; /* what follows comes from outside, and would begin another future */
    SAYS(count == 0 || storm.api->entity->destroy(storm.host, dead, count) == 0, "what has died dies again");
    for (uint32_t i = 0; i < count; i++) {
        SAYS(storm.api->world->add(storm.worlds[0], kept.in[0].keys[FLAG], &dead[i], 1) == BP_ERROR_DEAD,
             "a component is added to what has died");
        SAYS(storm.api->property->get_named(storm.worlds[0], dead[i], "gust", "power", BP_I32, &(int32_t){0}) ==
                 BP_ERROR_DEAD,
             "what has died has a value");
    }
}

void storm_handles_use(void)
{
    use_dead();
    SAYS(kept.table->rate() == storm.now.gale.rate, "the table is of another version: %d and not %d",
         kept.table->rate(), storm.now.gale.rate);
    EACH_WORLD(w) {
        for (uint32_t kind = 0; kind < KINDS; kind++)
            SAYS((kind >= PLAIN && (!storm.how->crashes || storm.aside)) ||
                     kept.in[w].keys[kind] == storm_key(w, kind),
                 "the key of %s in world %u is another", storm_name_of(kind), w);
        use_property(w);
        use_weight(w);
        use_reference(w);
        use_query(w);
        use_channel(w);
    }
}

/* Another manager has taken the place of one that has gone, under other keys: by the old ones nothing can be had. */
static void take_keys_again(uint32_t w, uint32_t first, uint32_t last)
{
    for (uint32_t kind = first; kind <= last; kind++) {
        uint32_t old = kept.in[w].keys[kind];
        for (uint32_t e = 0; e < ENTITIES; e++) {
            if (!storm.now.alive[e])
                continue;
            SAYS(storm.api->world->add(storm.worlds[w], old, &storm.now.entities[e], 1) != BP_OK,
                 "a component is added by the key of %s, which has gone", storm_name_of(kind));
            SAYS(storm.api->world->has(storm.worlds[w], old, &storm.now.entities[e], 1, NULL) == 0,
                 "an entity has %s, which has gone", storm_name_of(kind));
        }
        kept.in[w].keys[kind] = storm_key(w, kind);
    }
}

void storm_handles_came_again(uint32_t first, uint32_t last)
{
    EACH_WORLD(w) {
        take_keys_again(w, first, last);
        if (first == DEN)
            DOES(storm.api->property->resolve(storm.worlds[w], (bp_entity_t){0}, "den", "weight", &kept.in[w].weight));
        if (first != GUST)
            continue;
        for (uint32_t e = 0; e < ENTITIES; e++) {
            int32_t power;
            SAYS(!storm.now.alive[e] || storm.api->property->get(storm.worlds[w], &kept.in[w].power,
                                                                 &storm.now.entities[e], 1, &power, 4) != BP_OK,
                 "a property of a component that has gone has a value in world %u", w);
        }
        DOES(storm.api->property->resolve(storm.worlds[w], (bp_entity_t){0}, "gust", "power", &kept.in[w].power));
        storm_handles_break(ENTITIES, w);
    }
}

/* While the plugin is away. */
void storm_handles_alone(void)
{
    SAYS(kept.table->rate() == 0, "a table answers for a plugin that has gone");
    EACH_WORLD(w) {
        bp_result_t result = kept.queries->begin(kept.in[w].query, 0);
        SAYS(result == BP_ERROR_NOT_FOUND, "a query for a plugin that has gone answers %d", result);
    }
}
