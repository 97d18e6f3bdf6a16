/* churn.c - how batches are chosen and what each operation does to both sides.
 *
 * Batches decide which paths of the store are taken: single ones, scattered ones, rows in the order in
 * which they lie (whole runs among them), and spoilt ones with the dead, with second mentions, and with
 * entities that have the component or lack it. What a batch should come to is asked of the model, entity by
 * entity, before the host sees it.
 */
#include "churn.h"

#include "step/schedule.h"
#include "zoo.h"

#include <stdlib.h>
#include <string.h>

static uint32_t below(churn_t *c, uint32_t bound)
{
    return bp_random_below(&c->random, bound);
}

void churn_open(churn_t *c, rig_t *rig, uint64_t seed, uint32_t aim)
{
    memset(c, 0, sizeof *c);
    c->random = seed;
    c->aim = aim;
    model_open(&c->model, rig);
}

void churn_close(churn_t *c)
{
    model_close(&c->model);
}

/* --- batches -------------------------------------------------------------------------------------------- */

static bp_entity_t random_living(churn_t *c)
{
    return c->model.living_count == 0 ? (bp_entity_t){0}
                                      : c->model.living[below(c, c->model.living_count)].id;
}

static bp_entity_t random_dead(churn_t *c)
{
    return c->model.dead[below(c, MODEL_DEAD)];
}

/* Different living entities in no order. */
static uint32_t scattered(churn_t *c, uint32_t most)
{
    uint32_t count = 0, living = c->model.living_count;
    if (living == 0)
        return 0;
    uint32_t stride = 1 + below(c, living), first = below(c, living), at = first;
    do {
        c->batch[count++] = c->model.living[at].id;
        at = (at + stride) % living;
    } while (count < most && at != first);
    return count;
}

/* Living entities of consecutive rows, from somewhere in a random run on. */
static uint32_t as_they_lie(churn_t *c, uint32_t world, uint32_t most)
{
    const bp_world_o *w = c->model.worlds[world];
    uint32_t count = 0;
    if (w->rows.run_count == 0)
        return 0;
    const run_t *run = w->rows.runs[below(c, w->rows.run_count)];
    uint32_t row = run->count > 1 && below(c, 2) == 0 ? below(c, run->count) : 0;
    for (; row < run->count && count < most; row++) {
        if (run_entities(run)[row].id != 0)
            c->batch[count++] = run_entities(run)[row];
    }
    return count;
}

static uint32_t choose(churn_t *c, uint32_t world)
{
    switch (below(c, 8)) {
    case 0: return as_they_lie(c, world, CHURN_BATCH);
    case 1: return as_they_lie(c, world, 1 + below(c, 40));
    case 2: return scattered(c, 1 + below(c, 400));
    case 3: return scattered(c, 1 + below(c, 40));
    default: return scattered(c, 1);
    }
}

/* Leave only those of the batch for which the change is possible. */
static uint32_t keep_possible(churn_t *c, uint32_t count, uint32_t world, uint32_t key, bool adding)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        bp_result_t result = adding ? model_may_add(&c->model, c->batch[i], world, key)
                                    : model_may_remove(&c->model, c->batch[i], world, key);
        if (result == BP_OK)
            c->batch[kept++] = c->batch[i];
    }
    return kept;
}

/* Put in one entity that spoils the batch: a dead one, a second mention, or any. */
static uint32_t spoil(churn_t *c, uint32_t count)
{
    if (count == 0 || count == CHURN_BATCH)
        return count;
    uint32_t at = below(c, count + 1), what = below(c, 4);
    bp_entity_t spoiler = what == 0   ? random_dead(c)
                          : what == 1 ? c->batch[below(c, count)]
                                      : random_living(c);
    if (what == 3)
        spoiler.id = below(c, 2) == 0 ? 0 : bp_random_next(&c->random);
    memmove(c->batch + at + 1, c->batch + at, (count - at) * sizeof *c->batch);
    c->batch[at] = spoiler;
    return count + 1;
}

/* --- creating and destroying ---------------------------------------------------------------------------- */

static uint32_t random_keys(churn_t *c, uint32_t world, uint32_t *numbers, uint32_t *chosen)
{
    uint32_t count = 0, mask = below(c, 1u << MODEL_KEYS) & below(c, 1u << MODEL_KEYS);
    bool single = false;
    for (uint32_t k = 0; k < MODEL_KEYS; k++) {
        if ((mask >> k & 1) == 0 || (model_keys[k].single && single))
            continue;
        single = single || model_keys[k].single;
        numbers[count] = c->model.keys[world][k];
        chosen[count++] = k;
    }
    return count;
}

static void create(churn_t *c, uint32_t world)
{
    static const uint32_t sizes[] = {1, 1, 1, 3, 20, 300, 700};
    uint32_t numbers[MODEL_KEYS], chosen[MODEL_KEYS], prototype;
    uint32_t count = 1 + below(c, sizes[below(c, COUNT(sizes))]);
    if (c->model.living_count + count > MODEL_LIVING)
        return;
    uint32_t keys = random_keys(c, world, numbers, chosen);
    WORKS(c->model.host, c->model.api->world->prototype(c->model.worlds[world], numbers, keys, &prototype));
    WORKS(c->model.host, c->model.api->world->create(c->model.worlds[world], prototype, c->batch, count));
    for (uint32_t i = 0; i < count; i++) {
        model_entity_t *entity = model_create(&c->model, c->batch[i]);
        for (uint32_t k = 0; k < keys; k++)
            model_add(entity, world, chosen[k]);
    }
}

void churn_wave(churn_t *c, uint32_t world)
{
    uint32_t numbers[MODEL_KEYS], chosen[MODEL_KEYS], prototype, keys = 0;
    while (keys == 0)
        keys = random_keys(c, world, numbers, chosen);
    WORKS(c->model.host, c->model.api->world->prototype(c->model.worlds[world], numbers, keys, &prototype));
    WORKS(c->model.host, c->model.api->world->create(c->model.worlds[world], prototype, c->wave, CHURN_WAVE));
    for (uint32_t i = 0; i < CHURN_WAVE; i++) {
        model_entity_t *entity = model_create(&c->model, c->wave[i]);
        for (uint32_t k = 0; k < keys; k++)
            model_add(entity, world, chosen[k]);
    }
}

void churn_ebb(churn_t *c)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < CHURN_WAVE; i++) {
        if (i % 4 != 0 && model_find(&c->model, c->wave[i]) != NULL)
            c->wave[count++] = c->wave[i];
    }
    ck_assert_uint_eq(c->model.api->entity->destroy(c->model.host, c->wave, count), count);
    for (uint32_t i = 0; i < count; i++)
        model_destroy(&c->model, c->wave[i]);
}

/* A manager that refuses: no entity is created, and none gets a component. */
static void create_refused(churn_t *c, uint32_t world)
{
    uint32_t key = below(c, 2) == 0 ? 3 : 7, numbers[2], prototype; /* pool, told */
    stock_t *items = state_of(c->model.worlds[world], model_keys[key].type);
    numbers[0] = c->model.keys[world][key];
    numbers[1] = c->model.keys[world][key == 3 ? 7 : 3];
    WORKS(c->model.host,
          c->model.api->world->prototype(c->model.worlds[world], numbers, 1 + below(c, 2), &prototype));
    items->refuse_creates = 1;
    SAID(c->model.host, BP_ERROR_FAILED, "stock: told to refuse",
         c->model.api->world->create(c->model.worlds[world], prototype, c->batch, 1 + below(c, 50)));
    c->refused++;
    uint32_t count = keep_possible(c, scattered(c, 30), world, key, true);
    if (count == 0)
        return;
    items->refuse_creates = 1;
    SAID(c->model.host, BP_ERROR_FAILED, "stock: told to refuse",
         c->model.api->world->add(c->model.worlds[world], numbers[0], c->batch, count));
}

static void destroy(churn_t *c, uint32_t world)
{
    uint32_t count = choose(c, world), before = c->model.living_count;
    if (below(c, 3) == 0)
        count = spoil(c, count);
    uint32_t died = c->model.api->entity->destroy(c->model.host, c->batch, count);
    for (uint32_t i = 0; i < count; i++)
        model_destroy(&c->model, c->batch[i]);
    EXPECT(died == before - c->model.living_count, "%u died instead of %u", died,
           before - c->model.living_count);
}

/* --- components come and go ----------------------------------------------------------------------------- */

/* What the whole batch should come to: the first entity that cannot, or that is mentioned before, decides. */
static bp_result_t foresee(churn_t *c, uint32_t count, uint32_t world, uint32_t key, bool adding)
{
    for (uint32_t i = 0; i < count; i++) {
        bp_result_t result = adding ? model_may_add(&c->model, c->batch[i], world, key)
                                    : model_may_remove(&c->model, c->batch[i], world, key);
        for (uint32_t j = 0; j < i && result != BP_ERROR_DEAD; j++) {
            if (c->batch[j].id == c->batch[i].id)
                return BP_ERROR_ARGUMENT;
        }
        if (result != BP_OK)
            return result;
    }
    return BP_OK;
}

static void change(churn_t *c, uint32_t world, bool adding)
{
    uint32_t key = below(c, MODEL_KEYS), count = choose(c, world), kind = below(c, 4);
    if (kind > 0)
        count = keep_possible(c, count, world, key, adding);
    if (kind < 2)
        count = spoil(c, count < 60 ? count : 60);
    bp_result_t wanted = foresee(c, count, world, key, adding);
    const bp_world_api *api = c->model.api->world;
    bp_result_t result = adding ? api->add(c->model.worlds[world], c->model.keys[world][key], c->batch, count)
                                : api->remove(c->model.worlds[world], c->model.keys[world][key], c->batch,
                                              count);
    EXPECT(result == wanted, "%d instead of %d: %s", result, wanted, bp_host_error(c->model.host));
    c->refused += wanted != BP_OK;
    for (uint32_t i = 0; i < count && wanted == BP_OK; i++) {
        if (adding)
            model_add(model_find(&c->model, c->batch[i]), world, key);
        else
            model_remove(model_find(&c->model, c->batch[i]), world, key);
    }
}

static void step(churn_t *c, uint32_t world)
{
    WORKS(c->model.host, bp_world_step(c->model.worlds[world]));
    model_step(&c->model, world, (float)(1.0 / c->model.worlds[world]->clock.step_rate));
}

/* --- values --------------------------------------------------------------------------------------------- */

static uint32_t random_field(churn_t *c, uint32_t *key)
{
    do
        *key = below(c, MODEL_KEYS);
    while (model_keys[*key].fields == 0);
    return below(c, model_keys[*key].fields);
}

static void set_values(churn_t *c, uint32_t world)
{
    static unsigned char values[CHURN_BATCH * 24];
    static const size_t strides[] = {0, 16, 24};
    uint32_t key, field = random_field(c, &key);
    uint32_t count = keep_possible(c, choose(c, world), world, key, false),
             size = value_size(model_type(key, field));
    if (count == 0)
        return;
    size_t stride = below(c, 2) == 0 ? size : strides[below(c, COUNT(strides))];
    for (uint32_t i = 0; i < count; i++) {
        model_value_t value;
        model_random_value(key, field, &c->random, &value);
        memcpy(values + i * stride, &value, size);
    }
    bp_property_t property;
    const bp_property_api *api = c->model.api->property;
    WORKS(c->model.host, api->resolve(c->model.worlds[world], c->batch[0], model_keys[key].name,
                                      model_field(key, field), &property));
    WORKS(c->model.host, api->set(c->model.worlds[world], &property, c->batch, count, values, stride));
    for (uint32_t i = 0; i < count; i++)
        memcpy(&model_find(&c->model, c->batch[i])->components[world][key].values[field], values + i * stride,
               size);
}

/* One by two names, and read back through them and through its text. */
static void set_one(churn_t *c, uint32_t world)
{
    uint32_t key, field = random_field(c, &key), type = model_type(key, field);
    model_value_t value, back;
    if (keep_possible(c, scattered(c, 1), world, key, false) == 0)
        return;
    bp_world_o *w = c->model.worlds[world];
    const bp_property_api *api = c->model.api->property;
    model_random_value(key, field, &c->random, &value);
    WORKS(c->model.host,
          api->set_named(w, c->batch[0], model_keys[key].name, model_field(key, field), type, &value));
    memset(&back, 0, sizeof back);
    WORKS(c->model.host,
          api->get_named(w, c->batch[0], model_keys[key].name, model_field(key, field), type, &back));
    EXPECT(model_equal(key, field, &value, &back), "%s.%s was set otherwise", model_keys[key].name,
           model_field(key, field));
    model_find(&c->model, c->batch[0])->components[world][key].values[field] = value;
}

/* A reference kept for long: right as long as its entity has the field, NULL afterwards. */
static void look_at_ref(churn_t *c)
{
    churn_ref_t *r = &c->refs[below(c, CHURN_REFS)];
    bp_world_o *world = c->model.worlds[r->world];
    if (r->ref.entity.id != 0) {
        const model_entity_t *entity = model_find(&c->model, r->ref.entity);
        bool there = entity != NULL && entity->components[r->world][r->key].there != 0;
        const void *value = bp_ref_get(c->model.api->world, world, &r->ref);
        EXPECT((value != NULL) == there, "a reference to %s is %s", model_keys[r->key].name,
               there ? "lost" : "stale");
        model_value_t copy;
        memset(&copy, 0, sizeof copy);
        if (there)
            memcpy(&copy, value, value_size(model_type(r->key, r->field)));
        EXPECT(!there || model_equal(r->key, r->field, &copy,
                                     &entity->components[r->world][r->key].values[r->field]),
               "a reference sees another value");
        if (there && below(c, 8) > 0)
            return;
    }
    r->world = below(c, MODEL_WORLDS);
    do
        r->field = random_field(c, &r->key);
    while (strcmp(model_keys[r->key].type, "pool") == 0 || strcmp(model_keys[r->key].type, "told") == 0);
    memset(&r->ref, 0, sizeof r->ref);
    r->ref.entity = random_living(c);
    r->ref.field = c->model.keys[r->world][r->key] << 8 | r->field;
}

/* A property kept for long gives an address only where it is the right one. */
static void look_at_cell(churn_t *c)
{
    uint32_t w = below(c, MODEL_WORLDS), key;
    random_field(c, &key);
    bp_property_t *p = &c->properties[w][key];
    bp_entity_t e = below(c, 8) > 0 ? random_living(c) : below(c, 2) > 0 ? random_dead(c) : (bp_entity_t){0};
    const model_entity_t *entity = model_find(&c->model, e);
    bool there = entity != NULL && entity->components[w][key].there != 0;
    const bp_property_api *api = c->model.api->property;
    model_value_t value;
    memset(&value, 0, sizeof value);
    if (p->size == 0 && there)
        WORKS(c->model.host,
              api->resolve(c->model.worlds[w], e, model_keys[key].name, model_field(key, 0), p));
    if (p->size == 0)
        return;
    const void *cell = bp_property_cell(c->model.worlds[w], p, e);
    EXPECT(cell == NULL || there, "an address of what is not there");
    if (cell != NULL) {
        memcpy(&value, cell, p->size);
        EXPECT(model_equal(key, 0, &value, &entity->components[w][key].values[0]),
               "an address sees another value");
    }
    bp_result_t result = api->get(c->model.worlds[w], p, &e, 1, &value, sizeof value), wanted = BP_OK;
    if (!there)
        wanted = entity == NULL ? BP_ERROR_DEAD : BP_ERROR_NOT_FOUND;
    EXPECT(result == wanted, "%d instead of %d: %s", result, wanted, bp_host_error(c->model.host));
    EXPECT(!there || model_equal(key, 0, &value, &entity->components[w][key].values[0]), "got another value");
}

/* --- plugins come and go --------------------------------------------------------------------------------- */

static bool of_stocks(const char *type)
{
    return strcmp(type, "pool") == 0 || strcmp(type, "told") == 0 || strcmp(type, "mute") == 0;
}

/* References and properties of a plugin that has gone find nothing any more. */
static void forget_resolved(churn_t *c, bool stocks)
{
    const bp_property_api *api = c->model.api->property;
    for (uint32_t i = 0; i < CHURN_REFS && !stocks; i++) {
        churn_ref_t *r = &c->refs[i];
        const void *value = bp_ref_get(c->model.api->world, c->model.worlds[r->world], &r->ref);
        EXPECT(value == NULL, "a reference into a plugin that has gone");
        memset(r, 0, sizeof *r);
    }
    for (uint32_t w = 0; w < MODEL_WORLDS; w++) {
        for (uint32_t k = 0; k < MODEL_KEYS; k++) {
            bp_property_t *p = &c->properties[w][k];
            bp_entity_t e = random_living(c);
            model_value_t value;
            if (of_stocks(model_keys[k].type) != stocks || p->size == 0)
                continue;
            memset(&value, 0, sizeof value);
            FAILS(c->model.host, BP_ERROR_NOT_FOUND, "", api->get(c->model.worlds[w], p, &e, 1, &value, 0));
            FAILS(c->model.host, BP_ERROR_NOT_FOUND, "", api->set(c->model.worlds[w], p, &e, 1, &value, 0));
            memset(p, 0, sizeof *p);
        }
    }
}

/* Unload one of the two plugins, which takes its components away, and load it again. */
static void reload(churn_t *c)
{
    bool stocks = below(c, 2) == 0;
    const char *plugin = stocks ? "stocks" : "zoo";
    WORKS(c->model.host, bp_host_unload_plugin(c->model.host, plugin));
    for (uint32_t i = 0; i < c->model.living_count; i++) {
        for (uint32_t k = 0; k < MODEL_WORLDS * MODEL_KEYS; k++) {
            if (of_stocks(model_keys[k % MODEL_KEYS].type) == stocks)
                model_remove(&c->model.living[i], k / MODEL_KEYS, k % MODEL_KEYS);
        }
    }
    forget_resolved(c, stocks);
    WORKS(c->model.host, bp_host_load_plugin(c->model.host, plugin, NULL, 0));
    for (uint32_t w = 0; w < MODEL_WORLDS; w++) {
        for (uint32_t i = 0; zoo_components[i] != NULL; i++) {
            if (of_stocks(zoo_components[i]) == stocks)
                WORKS(c->model.host, bp_world_use_component(c->model.worlds[w], zoo_components[i]));
        }
        for (uint32_t k = 0; k < MODEL_KEYS; k++)
            c->model.keys[w][k] = key_of(c->model.worlds[w], model_keys[k].type, model_keys[k].name);
    }
}

/* --- all ------------------------------------------------------------------------------------------------ */

void churn_once(churn_t *c)
{
    uint32_t world = below(c, MODEL_WORLDS), what = below(c, 100);
    bool crowded = c->model.living_count > c->aim;
    c->operations++;
    if (below(c, 2500) == 0)
        reload(c);
    if (what < (crowded ? 4 : 14))
        create(c, world);
    else if (what < 24)
        destroy(c, world);
    else if (what < 46)
        change(c, world, true);
    else if (what < 62)
        change(c, world, false);
    else if (what < 66)
        step(c, world);
    else if (what < 76)
        set_values(c, world);
    else if (what < 84)
        set_one(c, world);
    else if (what < 85)
        create_refused(c, world);
    else if (what < 93)
        look_at_ref(c);
    else
        look_at_cell(c);
}
