/* model.c - the naive model, and the comparison.
 *
 * The comparison asks the host in every way it can be asked: keys of each entity, each value by key, each
 * batch by `has`, the rows of all runs, the slots of own storage, and the figures.
 */
#include "model.h"

#include "step/schedule.h"
#include "zoo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const model_key_t model_keys[MODEL_KEYS] = {
    {"label", "title", false, 4}, {"body", "body", false, 4}, {"fx", "fog", false, 3},
    {"pool", "pool", false, 2},   {"flag", "flag", false, 0}, {"once", "once", true, 4},
    {"fx", "vignette", false, 3}, {"told", "told", false, 2}, {"pool", "spare", false, 2},
    {"label", "label", false, 4}, {"once", "other", true, 4},
};

typedef struct model_field_t {
    const char *name;
    uint32_t type;
    const char *text; /* default, where it is no number */
    float numbers[4]; /* default */
} model_field_t;

static const model_field_t body[] = {
    {"mass", BP_F32, NULL, {1}}, {"position", BP_VEC3, NULL, {0}}, {"velocity", BP_VEC3, NULL, {0, 0, 1}},
    {"acceleration", BP_VEC3, NULL, {0}},
};
static const model_field_t label[] = {
    {"text", BP_STRING, "unnamed", {0}}, {"rank", BP_I32, NULL, {0}}, {"home", BP_ENTITY, NULL, {0}},
    {"kind", BP_NAME, "plain", {0}},
};
static const model_field_t fx[] = {
    {"enabled", BP_BOOL, NULL, {1}}, {"colour", BP_COLOUR, NULL, {16.0f / 255, 32.0f / 255, 48.0f / 255, 1}},
    {"strength", BP_F64, NULL, {0.5f}},
};
static const model_field_t once[] = {
    {"count", BP_U32, NULL, {7}},
    {"note", BP_STRING, "", {0}},
    {"hour", BP_I16, NULL, {-3}},
    {"place", BP_DVEC3, NULL, {1, 2, 3}},
};
static const model_field_t stock[] = {{"number", BP_I64, NULL, {5}}, {"text", BP_STRING, "", {0}}};

static const model_field_t *field_of(uint32_t key, uint32_t field)
{
    static const struct { const char *type; const model_field_t *fields; } types[] = {
        {"body", body}, {"label", label}, {"fx", fx}, {"once", once}, {"pool", stock}, {"told", stock},
    };
    for (uint32_t i = 0; i < COUNT(types); i++) {
        if (strcmp(types[i].type, model_keys[key].type) == 0)
            return &types[i].fields[field];
    }
    ck_abort_msg("%s has no fields", model_keys[key].type);
    return NULL;
}

uint32_t model_type(uint32_t key, uint32_t field)
{
    return field_of(key, field)->type;
}

const char *model_field(uint32_t key, uint32_t field)
{
    return field_of(key, field)->name;
}

/* --- values --------------------------------------------------------------------------------------------- */

static void write_value(model_value_t *value, uint32_t type, const float *numbers, const char *text,
                        uint64_t bits)
{
    memset(value, 0, sizeof *value);
    switch (type) {
    case BP_BOOL: memcpy(value, &(uint8_t){numbers[0] != 0}, 1); break;
    case BP_I32: memcpy(value, &(int32_t){(int32_t)numbers[0]}, sizeof(int32_t)); break;
    case BP_U32: memcpy(value, &(uint32_t){(uint32_t)numbers[0]}, sizeof(uint32_t)); break;
    case BP_I64: memcpy(value, &(int64_t){(int64_t)numbers[0]}, sizeof(int64_t)); break;
    case BP_I16: memcpy(value, &(int16_t){(int16_t)numbers[0]}, sizeof(int16_t)); break;
    case BP_F64: memcpy(value, &(double){(double)numbers[0]}, sizeof(double)); break;
    case BP_DVEC3:
        memcpy(value, &(bp_dvec3_t){(double)numbers[0], (double)numbers[1], (double)numbers[2]}, sizeof(bp_dvec3_t));
        break;
    case BP_STRING: memcpy(value, &text, sizeof text); break;
    case BP_ENTITY: memcpy(value, &bits, sizeof bits); break;
    case BP_NAME: memcpy(value, &(bp_name_t){names_hash(text)}, sizeof(bp_name_t)); break;
    default: memcpy(value, numbers, value_size(type)); break;
    }
}

void model_random_value(uint32_t key, uint32_t field, uint64_t *random, model_value_t *value)
{
    static const char *const texts[] = {
        "", "earth", "moon", "unnamed", "a text of more than sixteen bytes", "sun", "x", "y"};
    float numbers[4];
    const char *text = texts[bp_random_below(random, COUNT(texts))];
    for (uint32_t i = 0; i < 4; i++)
        numbers[i] = (float)bp_random_below(random, 11);
    if (model_type(key, field) == BP_F64)
        numbers[0] /= 16.0f; /* a strength: 0 to 1 */
    write_value(value, model_type(key, field), numbers, text, bp_random_next(random));
}

bool model_equal(uint32_t key, uint32_t field, const model_value_t *a, const model_value_t *b)
{
    uint32_t type = model_type(key, field);
    if (type != BP_STRING)
        return memcmp(a, b, value_size(type)) == 0;
    const char *x, *y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return strcmp(x, y) == 0;
}

/* --- entities ------------------------------------------------------------------------------------------- */

void model_open(model_t *model, rig_t *rig)
{
    static const char *const names[MODEL_WORLDS] = {"a", "b", "c"};
    memset(model, 0, sizeof *model);
    model->host = rig->host;
    model->api = rig->api;
    model->living = calloc(MODEL_LIVING, sizeof *model->living);
    model->place = malloc(MODEL_INDICES * sizeof *model->place);
    EXPECT(model->living != NULL && model->place != NULL, "no memory for the model");
    for (uint32_t i = 0; i < MODEL_INDICES; i++)
        model->place[i] = BP_NONE;
    for (uint32_t w = 0; w < MODEL_WORLDS; w++) {
        model->worlds[w] = rig_world(rig, names[w]);
        for (uint32_t k = 0; k < MODEL_KEYS; k++)
            model->keys[w][k] = key_of(model->worlds[w], model_keys[k].type, model_keys[k].name);
    }
}

void model_close(model_t *model)
{
    free(model->living);
    free(model->place);
}

model_entity_t *model_find(const model_t *model, bp_entity_t e)
{
    uint32_t index = bp_entity_index(e), place = index < MODEL_INDICES ? model->place[index] : BP_NONE;
    return place == BP_NONE || model->living[place].id.id != e.id ? NULL : &model->living[place];
}

model_entity_t *model_create(model_t *model, bp_entity_t e)
{
    uint32_t index = bp_entity_index(e);
    EXPECT(index < MODEL_INDICES && model->living_count < MODEL_LIVING, "too many entities for the model");
    EXPECT(model->place[index] == BP_NONE, "index %u is given out twice", index);
    model_entity_t *entity = &model->living[model->living_count];
    memset(entity, 0, sizeof *entity);
    entity->id = e;
    model->place[index] = model->living_count++;
    return entity;
}

void model_destroy(model_t *model, bp_entity_t e)
{
    model_entity_t *entity = model_find(model, e), *last = &model->living[model->living_count - 1];
    if (entity == NULL)
        return;
    model->place[bp_entity_index(last->id)] = model->place[bp_entity_index(e)];
    model->place[bp_entity_index(e)] = BP_NONE;
    *entity = *last;
    model->living_count--;
    model->dead[model->dead_count++ % MODEL_DEAD] = e;
}

void model_add(model_entity_t *entity, uint32_t world, uint32_t key)
{
    model_component_t *c = &entity->components[world][key];
    c->there = 1;
    for (uint32_t f = 0; f < model_keys[key].fields; f++) {
        const model_field_t *field = field_of(key, f);
        write_value(&c->values[f], field->type, field->numbers, field->text, 0);
    }
}

void model_remove(model_entity_t *entity, uint32_t world, uint32_t key)
{
    entity->components[world][key].there = 0;
}

bp_result_t model_may_add(const model_t *model, bp_entity_t e, uint32_t world, uint32_t key)
{
    const model_entity_t *entity = model_find(model, e);
    if (entity == NULL)
        return BP_ERROR_DEAD;
    for (uint32_t k = 0; k < MODEL_KEYS; k++) {
        if (entity->components[world][k].there == 0)
            continue;
        if (k == key || (model_keys[key].single && strcmp(model_keys[k].type, model_keys[key].type) == 0))
            return BP_ERROR_EXISTS;
    }
    return BP_OK;
}

bp_result_t model_may_remove(const model_t *model, bp_entity_t e, uint32_t world, uint32_t key)
{
    const model_entity_t *entity = model_find(model, e);
    if (entity == NULL)
        return BP_ERROR_DEAD;
    return entity->components[world][key].there != 0 ? BP_OK : BP_ERROR_NOT_FOUND;
}

uint32_t model_count(const model_t *model, uint32_t world, uint32_t key)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->living_count; i++)
        count += model->living[i].components[world][key].there;
    return count;
}

void model_step(model_t *model, uint32_t world, float dt)
{
    bool moves[MODEL_KEYS];
    for (uint32_t k = 0; k < MODEL_KEYS; k++)
        moves[k] = strcmp(model_keys[k].type, "body") == 0;
    for (uint32_t i = 0; i < model->living_count; i++) {
        for (uint32_t k = 0; k < MODEL_KEYS; k++) {
            model_component_t *c = &model->living[i].components[world][k];
            float position[3], velocity[3], acceleration[3];
            if (!moves[k] || c->there == 0)
                continue;
            memcpy(position, &c->values[BODY_POSITION], sizeof position);
            memcpy(velocity, &c->values[BODY_VELOCITY], sizeof velocity);
            memcpy(acceleration, &c->values[BODY_ACCELERATION], sizeof acceleration);
            for (uint32_t part = 0; part < 3; part++) {
                velocity[part] += acceleration[part] * dt;
                position[part] += velocity[part] * dt;
            }
            memcpy(&c->values[BODY_POSITION], position, sizeof position);
            memcpy(&c->values[BODY_VELOCITY], velocity, sizeof velocity);
        }
    }
}

/* --- the comparison ------------------------------------------------------------------------------------- */

static void compare_keys(const model_t *model, uint32_t w, const model_entity_t *entity)
{
    uint32_t told[MODEL_KEYS + 1], count = 0;
    uint32_t number = model->api->world->keys_of(model->worlds[w], entity->id, told, COUNT(told));
    for (uint32_t k = 0; k < MODEL_KEYS; k++) {
        bool listed = false;
        for (uint32_t i = 0; i < number && i < COUNT(told); i++)
            listed = listed || told[i] == model->keys[w][k];
        EXPECT(listed == (entity->components[w][k].there != 0), "world %u, %s is %s", w, model_keys[k].name,
               listed ? "there" : "missing");
        count += entity->components[w][k].there;
    }
    EXPECT(number == count, "world %u: %u components instead of %u", w, number, count);
}

/* All entities with the component at once, by column. */
static void compare_values(const model_t *model, uint32_t w, uint32_t k, uint32_t f)
{
    static bp_entity_t batch[MODEL_LIVING];
    static model_value_t values[MODEL_LIVING];
    static const model_value_t *wanted[MODEL_LIVING];
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->living_count; i++) {
        if (model->living[i].components[w][k].there == 0)
            continue;
        wanted[count] = &model->living[i].components[w][k].values[f];
        batch[count++] = model->living[i].id;
    }
    if (count == 0)
        return;
    bp_property_t property;
    const bp_property_api *api = model->api->property;
    WORKS(model->host,
          api->resolve(model->worlds[w], batch[0], model_keys[k].name, model_field(k, f), &property));
    WORKS(model->host, api->get(model->worlds[w], &property, batch, count, values, sizeof values[0]));
    for (uint32_t i = 0; i < count; i++)
        EXPECT(model_equal(k, f, wanted[i], &values[i]), "world %u, entity %u of %u: %s.%s differs", w, i,
               count, model_keys[k].name, model_field(k, f));
}

static void compare_has(const model_t *model, uint32_t w, uint32_t k)
{
    static bp_entity_t batch[MODEL_LIVING + MODEL_DEAD];
    static uint8_t has[MODEL_LIVING + MODEL_DEAD];
    uint32_t count = 0;
    for (uint32_t i = 0; i < MODEL_DEAD; i++)
        batch[count++] = model->dead[i];
    for (uint32_t i = 0; i < model->living_count; i++)
        batch[count++] = model->living[i].id;
    uint32_t found = model->api->world->has(model->worlds[w], model->keys[w][k], batch, count, has);
    EXPECT(found == model_count(model, w, k), "world %u: %u have %s", w, found, model_keys[k].name);
    for (uint32_t i = 0; i < count; i++) {
        const model_entity_t *entity = model_find(model, batch[i]);
        EXPECT(has[i] == (entity != NULL && entity->components[w][k].there != 0), "has is wrong");
    }
}

/* Rows of living entities under one key, walked through as plugins do. */
static void compare_runs(const model_t *model, uint32_t w, uint32_t k)
{
    uint32_t cursor = 0, rows = 0, all = 0,
             component = model->api->world->component(model->worlds[w], model_keys[k].type);
    bp_name_t name = model->api->name->hash(model_keys[k].name);
    bp_run_t run;
    while (next_run(model->worlds[w], component, &cursor, &run) != 0) {
        EXPECT(run.count > 0, "an empty run");
        for (uint32_t i = 0; i < run.count; i++)
            all += run.entities[i].id != 0;
        for (uint32_t i = 0; i < run.count && run.instance == name; i++)
            rows += run.entities[i].id != 0;
    }
    EXPECT(rows == model_count(model, w, k), "world %u: %u rows of %s", w, rows, model_keys[k].name);
    uint32_t number = model->api->world->count(model->worlds[w], component);
    EXPECT(number == all || model->worlds[w]->rows.managers[component]->component->own_storage,
           "%u instances, %u rows of the living", number, all);
}

static void compare_slots(const model_t *model, uint32_t w, const char *type)
{
    static uint8_t taken[2 * MODEL_LIVING];
    const stock_t *items = state_of(model->worlds[w], type);
    uint32_t count = 0;
    memset(taken, 0, sizeof taken);
    for (uint32_t k = 0; k < MODEL_KEYS; k++) {
        bp_name_t name = model->api->name->hash(model_keys[k].name);
        for (uint32_t i = 0; i < model->living_count && strcmp(model_keys[k].type, type) == 0; i++) {
            const model_entity_t *entity = &model->living[i];
            uint32_t slot = BP_NONE, there = entity->components[w][k].there;
            uint32_t found = model->api->world->slots(model->worlds[w], model->keys[w][k], &entity->id, 1,
                                                      &slot);
            EXPECT(found == there && (slot != BP_NONE) == (there != 0), "%s has slot %u", type, slot);
            if (there == 0)
                continue;
            EXPECT(slot < items->count && slot < COUNT(taken) && taken[slot] == 0, "slot %u of %u", slot,
                   items->count);
            EXPECT(items->items[slot].entity.id == entity->id.id && items->items[slot].instance == name,
                   "slot %u of %s belongs to another", slot, type);
            taken[slot] = 1;
            count++;
        }
    }
    bool lazy = strcmp(type, "pool") == 0;
    EXPECT(lazy ? items->count >= count : items->count == count, "%s keeps %u instances for %u", type,
           items->count, count);
    EXPECT(items->created - items->ended == items->count, "%s has lost count", type);
}

static void compare_world(const model_t *model, uint32_t w)
{
    uint32_t occupied = 0;
    bp_world_stats_t stats;
    for (uint32_t i = 0; i < model->living_count; i++) {
        const model_entity_t *entity = &model->living[i];
        uint32_t there = 0;
        compare_keys(model, w, entity);
        for (uint32_t k = 0; k < MODEL_KEYS; k++)
            there |= entity->components[w][k].there;
        occupied += there;
    }
    for (uint32_t k = 0; k < MODEL_KEYS; k++) {
        for (uint32_t f = 0; f < model_keys[k].fields; f++)
            compare_values(model, w, k, f);
        compare_has(model, w, k);
        compare_runs(model, w, k);
    }
    compare_slots(model, w, "pool");
    compare_slots(model, w, "told");
    bp_world_stats(model->worlds[w], &stats);
    EXPECT(stats.entities == occupied, "world %u: %u entities instead of %u", w, stats.entities, occupied);
}

void model_compare(const model_t *model)
{
    const bp_entity_api *entities = model->api->entity;
    EXPECT(entities->count(model->host) == model->living_count, "%u living", entities->count(model->host));
    EXPECT(entities->alive(model->host, model->dead, MODEL_DEAD, NULL) == 0, "a dead entity lives");
    for (uint32_t i = 0; i < model->living_count; i++)
        EXPECT(entities->alive(model->host, &model->living[i].id, 1, NULL) == 1, "a living entity is dead");
    for (uint32_t w = 0; w < MODEL_WORLDS; w++)
        compare_world(model, w);
}
