/* model.h - a naive model of entities and their components in several worlds, to compare a host with.
 *
 * Nothing in it is clever: an entity is a list of components for each world, a component is a copy of its
 * values, and everything is found by looking at all there is. The tests do each thing twice, to the host
 * and to the model, and model_compare looks at every entity, key, value, row and slot.
 *
 * What it does not do: it calls no verb that changes a host.
 */
#ifndef TESTS_UNIT_MODEL_H
#define TESTS_UNIT_MODEL_H

#include "support.h"

enum {
    MODEL_WORLDS = 3,
    MODEL_KEYS = 11,   /* in each world */
    MODEL_FIELDS = 4,  /* compared of each component */
    MODEL_LIVING = 16000,
    MODEL_DEAD = 1000, /* ids of the dead that are remembered */
    MODEL_INDICES = 1 << 18
};

/* One key, the same in every world. */
typedef struct model_key_t {
    const char *type, *name; /* name: of the instance */
    bool single;
    uint32_t fields;         /* compared: the first so many */
} model_key_t;

extern const model_key_t model_keys[MODEL_KEYS];

/* A value of one of the fields; a string points to model_texts. */
typedef struct model_value_t { unsigned char bytes[24]; } model_value_t;

typedef struct model_component_t {
    uint32_t there;
    model_value_t values[MODEL_FIELDS];
} model_component_t;

typedef struct model_entity_t {
    bp_entity_t id;
    model_component_t components[MODEL_WORLDS][MODEL_KEYS];
} model_entity_t;

typedef struct model_t {
    bp_host_o *host;
    const bp_api_t *api;
    bp_world_o *worlds[MODEL_WORLDS];
    uint32_t keys[MODEL_WORLDS][MODEL_KEYS]; /* the host's numbers of the keys */
    model_entity_t *living;
    uint32_t living_count;
    uint32_t *place;                         /* by index: where in `living`, or BP_NONE */
    bp_entity_t dead[MODEL_DEAD];
    uint32_t dead_count;
} model_t;

/* Worlds "a", "b" and "c" of the rig's host, all with all components of zoo.h. */
void model_open(model_t *model, rig_t *rig);
void model_close(model_t *model);

/* The living entity of an id, or NULL. */
model_entity_t *model_find(const model_t *model, bp_entity_t e);

/* Entities come and go; components get their defaults. */
model_entity_t *model_create(model_t *model, bp_entity_t e);
void model_destroy(model_t *model, bp_entity_t e);
void model_add(model_entity_t *entity, uint32_t world, uint32_t key);
void model_remove(model_entity_t *entity, uint32_t world, uint32_t key);

/* What adding or removing should come to for one entity: BP_OK or the error. */
bp_result_t model_may_add(const model_t *model, bp_entity_t e, uint32_t world, uint32_t key);
bp_result_t model_may_remove(const model_t *model, bp_entity_t e, uint32_t world, uint32_t key);

/* Number of entities with a component. */
uint32_t model_count(const model_t *model, uint32_t world, uint32_t key);

/* A random value that the field may have, and whether two values of the field are equal. */
void model_random_value(uint32_t key, uint32_t field, uint64_t *random, model_value_t *value);
bool model_equal(uint32_t key, uint32_t field, const model_value_t *a, const model_value_t *b);

/* The type and the name of a field. */
uint32_t model_type(uint32_t key, uint32_t field);
const char *model_field(uint32_t key, uint32_t field);

/* What a step does to bodies: velocity += acceleration * dt, position += velocity * dt. */
void model_step(model_t *model, uint32_t world, float dt);

/* Host and model are the same in everything. */
void model_compare(const model_t *model);

#endif
