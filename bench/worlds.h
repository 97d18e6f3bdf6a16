/* worlds.h - hosts, worlds and entities for benchmarks, and the random orders in which they are visited.
 *
 * Whatever fails ends the program with a sentence: a benchmark cannot go on, and must not measure an error
 * path.
 *
 * What it does not do: it measures nothing.
 */
#ifndef BENCH_WORLDS_H
#define BENCH_WORLDS_H

#include "bench.h"

enum { WORLDS_MANY = 512, WORLDS_SYSTEMS = 64 }; /* what the static plugin has */

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

/* A host with a world that has point_mass, loaded from its library, and the first `many` components of a
 * static plugin: c0, c1 ..., each with one field `value`, a float, a double, a vec3 and a vec4 in turn. */
void worlds_create(bench_world_t *w, uint32_t many);

/* Likewise with memory from an embedder's allocator, which is borrowed and may be NULL, and the first
 * `systems` systems of that plugin. System s0 does, for all entities that have c0, c4 and c8, c0 += c4 *
 * c8; the others need one component each, the last ones of the first 32. */
void worlds_create_with(bench_world_t *w, uint32_t many, uint32_t systems, const bp_allocator_i *allocator);
/* Likewise in a host with the crash guard, and with no component but point_mass. */
void worlds_create_guarded(bench_world_t *w);
void worlds_destroy(bench_world_t *w);

/* The key of a component of the world under its own name. */
uint32_t worlds_key(const bench_world_t *w, const char *component);

/* Entities of the world's prototype, in bulk. */
bp_entity_t *worlds_entities(bench_world_t *w, uint32_t count);

/* Bytes on the host's account; on the world's. */
uint64_t worlds_host_bytes(const bench_world_t *w);
uint64_t worlds_world_bytes(const bench_world_t *w);

/* The numbers 0 to count - 1 in a random order; entities in a random order. */
uint32_t *worlds_order(uint32_t count, uint64_t seed);
void worlds_shuffle(bp_entity_t *entities, uint32_t count, uint64_t seed);

#endif
