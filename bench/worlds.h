/* worlds.h - hosts, worlds and entities for benchmarks, and the random orders in which they are visited.
 *
 * Whatever fails ends the program with a sentence: a benchmark cannot go on, and must not measure an error
 * path.
 *
 * Not here: measuring.
 */
#ifndef BENCH_WORLDS_H
#define BENCH_WORLDS_H

#include "bench.h"

#include "floors.h"

enum { WORLDS_MANY = 512, WORLDS_SYSTEMS = 64 }; /* components and systems of the static plugin */

/* A host with one world, one key and one prototype of it. */
typedef struct bench_world_t {
    bp_host_o *host;
    const bp_api_t *api;
    bp_world_o *world;
    uint32_t component, key, prototype;
} bench_world_t;

/* End the program where `result` is an error. */
void worlds_must(bp_host_o *host, bp_result_t result, const char *what);

/* Cleared memory, already touched; or the end of the program. */
void *worlds_memory(size_t count, size_t size);

/* worlds_group makes touched room for `size` rows in a floor's group; worlds_free_group frees it. */
void worlds_group(floor_group_t *group, uint32_t size);
void worlds_free_group(floor_group_t *group);

/* Step until dead rows are at most a hundredth of the living and WORLDS_FEW, at most 600 times; how many steps it
 * took. */
enum { WORLDS_FEW = 16, WORLDS_STEPS = 600 };
uint32_t worlds_collect(const bench_world_t *w);

/* A host with a world that has point_mass, loaded from its library, and the first `many` components of a
 * static plugin: c0, c1 ..., each with one field `value`, a float, a double, a vec3 and a vec4 in turn. */
void worlds_create(bench_world_t *w, uint32_t many);

/* Create as worlds_create does with memory from an embedder's allocator, which is borrowed and may be NULL, and the
 * first `systems` systems of that plugin. System s0 does, for all entities that have c0, c4 and c8, c0 += c4 * c8; the
 * others need one component each, the last ones of the first 32. */
void worlds_create_with(bench_world_t *w, uint32_t many, uint32_t systems, const bp_allocator_i *allocator);
/* Create as worlds_create does, in a host with the crash guard, and with no component but point_mass. */
void worlds_create_guarded(bench_world_t *w);
void worlds_destroy(bench_world_t *w);

/* A host with a world that has all components of a static plugin, and its systems from number `first` on, `systems` of
 * them, on `threads` threads. `plugin` has to outlive it. No prototype is made. */
void worlds_open(bench_world_t *w, const bp_plugin_head_t *plugin, uint32_t first, uint32_t systems, uint32_t threads);

/* A further world of the same host, with the components of `plugin`. */
bp_world_o *worlds_another(const bench_world_t *w, const bp_plugin_head_t *plugin, const char *name);

/* The rows of each prototype that has a declared component, as the host keeps them: begin with *cursor 0, stop when the
 * function returns 0. Floors work on the world's own columns. */
uint32_t worlds_next_run(bp_world_o *world, uint32_t component, uint32_t *cursor, bp_run_t *run);

/* The key of a component of the world under its own name. */
uint32_t worlds_key(const bench_world_t *w, const char *component);

/* The prototype of components that their types' names, separated by spaces, stand for. */
uint32_t worlds_prototype(const bench_world_t *w, const char *components);

/* Entities of the world's prototype, in bulk. */
bp_entity_t *worlds_entities(bench_world_t *w, uint32_t count);

/* Bytes on the host's account; bytes on the world's account. */
uint64_t worlds_host_bytes(const bench_world_t *w);
uint64_t worlds_world_bytes(const bench_world_t *w);

/* The numbers 0 to count - 1 in a random order; entities in a random order. */
uint32_t *worlds_order(uint32_t count, uint64_t seed);
void worlds_shuffle(bp_entity_t *entities, uint32_t count, uint64_t seed);

/* --- the verbs that cases measure: here alone their signatures are known ------------------------------- */

typedef bp_property_t bench_field_t;

static inline bp_result_t worlds_make(const bench_world_t *w, uint32_t prototype, bp_entity_t *entities, uint32_t count)
{
    return w->api->world->create(w->world, prototype, entities, count);
}

/* Entities without components. */
static inline bp_result_t worlds_make_bare(const bench_world_t *w, bp_entity_t *entities, uint32_t count)
{
    return w->api->entity->create(w->host, entities, count);
}

static inline uint32_t worlds_end(const bench_world_t *w, const bp_entity_t *entities, uint32_t count)
{
    return w->api->entity->destroy(w->host, entities, count);
}

static inline uint32_t worlds_alive(const bench_world_t *w, const bp_entity_t *entities, uint32_t count, uint8_t *alive)
{
    return w->api->entity->alive(w->host, entities, count, alive);
}

static inline bp_result_t worlds_add(const bench_world_t *w, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    return w->api->world->add(w->world, key, entities, count);
}

static inline bp_result_t worlds_remove(const bench_world_t *w, uint32_t key, const bp_entity_t *entities,
                                        uint32_t count)
{
    return w->api->world->remove(w->world, key, entities, count);
}

static inline uint32_t worlds_has(const bench_world_t *w, uint32_t key, const bp_entity_t *entities, uint32_t count,
                                  uint8_t *has)
{
    return w->api->world->has(w->world, key, entities, count, has);
}

/* A field of a component, for worlds_get and worlds_set; ends the program where the component has no such field. */
void worlds_field(const bench_world_t *w, const char *component, const char *name, bench_field_t *field);

static inline bp_result_t worlds_get(const bench_world_t *w, bench_field_t *field, const bp_entity_t *entities,
                                     uint32_t count,
                                     void *values, size_t stride)
{
    return w->api->property->get(w->world, field, entities, count, values, stride);
}

static inline bp_result_t worlds_set(const bench_world_t *w, bench_field_t *field, const bp_entity_t *entities,
                                     uint32_t count,
                                     const void *values, size_t stride)
{
    return w->api->property->set(w->world, field, entities, count, values, stride);
}

static inline bp_result_t worlds_get_float(const bench_world_t *w, bp_entity_t e, const char *component,
                                           const char *name, float *value)
{
    return w->api->property->get_named(w->world, e, component, name, BP_F32, value);
}

static inline bp_result_t worlds_set_float(const bench_world_t *w, bp_entity_t e, const char *component,
                                           const char *name,
                                           const float *value)
{
    return w->api->property->set_named(w->world, e, component, name, BP_F32, value);
}

static inline void worlds_step(const bench_world_t *w)
{
    worlds_must(w->host, bp_world_step(w->world), "a step");
}

/* Get a float of each entity with a call of its own; and as a caller would who has many values to read one at a time:
 * inline where possible, by a call otherwise. The loops take what they need as parameters, as the floors do, since a
 * compiler has to read members of a state anew after every call. */
bp_result_t worlds_get_singly(const bp_property_api *property, bp_world_o *world, bp_property_t *mass,
                              const bp_entity_t *entities, uint32_t count, float *values);
bp_result_t worlds_get_inline(const bp_property_api *property, bp_world_o *world, bp_property_t *mass,
                              const bp_entity_t *entities, uint32_t count, float *values);

/* Rows of the dead that are not collected yet; entities that have components. */
uint32_t worlds_dead_rows(const bench_world_t *w);
uint32_t worlds_living(const bench_world_t *w);

#endif
