/* durable.h - the numbers by which all ranks know the entities of a split world.
 *
 * A handle means an entity on one rank only. Where ranks talk of an entity they name its durable number, which stays
 * with it wherever it goes. Entities that all ranks have at the beginning have the same index on each, so their number
 * is the index and 1, and takes no memory. An entity that was made later gets a number when it is first asked for.
 *
 * For an entity with its components on another rank there may be a stand-in here: an entity without components in the
 * world that is split, to which references lead. A copy in the world of copies is such a stand-in with components
 * there.
 *
 * Invariants: a quarter of a byte for each index; 8 bytes, in pages of 64 indices, and 11 to 21 in the table that finds
 * them, for each number that is not its entity's index and 1. A number means at most one entity here.
 *
 * Not here: what is sent, MPI.
 */
#ifndef MPI_DURABLE_H
#define MPI_DURABLE_H

#include <bp_plugin.h>

#include <stdbool.h>

/* A place of the table. The hash is there so that looking for a number reads nothing else until it is found. */
typedef struct durable_slot {
    uint32_t entry; /* index and 1; 0: none */
    uint32_t hash;
} durable_slot;

typedef struct durable_t {
    const bp_plugin_t *plugin; /* its account has the memory */
    uint64_t **pages;          /* by index / 64: numbers with flags; NULL: none of these has one of its own */
    uint64_t *gone;            /* a bit for each index of the beginning: its entity is not there any more */
    uint32_t page_count;
    uint32_t initial;          /* indices below are those of the beginning */
    uint64_t page_bytes;
    durable_slot *slots;       /* by the hash of the number */
    uint32_t slot_count, used; /* a power of two, or 0 */
    uint64_t made;             /* numbers given on this rank */
} durable_t;

/* Begin with the entities that are there; false when out of memory. */
bool durable_begin(durable_t *d, const bp_plugin_t *plugin, bp_host_o *host);
void durable_free(durable_t *d);

/* The number of an entity that lives here, which gets one where it has none. 0 when out of memory. */
uint64_t durable_of(durable_t *d, bp_entity_t entity, uint32_t rank);

/* The number, where it has one; else 0. */
uint64_t durable_known(const durable_t *d, uint32_t index);

/* The index of the entity with that number here; BP_NONE where there is none. */
uint32_t durable_find(const durable_t *d, uint64_t id);

/* Prefetch for a later call with that index, or with that number: both lie scattered in memory. Does nothing for an
 * index or a number that is not there. */
void durable_expect_index(const durable_t *d, uint32_t index);
void durable_expect(const durable_t *d, uint64_t id);

/* From now on that number means the entity of that index; `elsewhere`: its components are on another rank. False when
 * out of memory. */
bool durable_set(durable_t *d, uint32_t index, uint64_t id, bool elsewhere);

/* Are the components of the entity of that index on another rank? */
bool durable_is_elsewhere(const durable_t *d, uint32_t index);

/* The entity of that index has gone, or is another one. */
void durable_forget(durable_t *d, uint32_t index);

/* The number of bytes held. */
uint64_t durable_bytes(const durable_t *d);

/* For keeping: the number and flags of the next index, from `*index` on, that has a number of its own, or 0; and back,
 * false when out of memory. `durable_gone` makes room for the bits of `gone`. */
uint64_t durable_next(const durable_t *d, uint32_t *index);
bool durable_put(durable_t *d, uint32_t index, uint64_t value);
bool durable_gone(durable_t *d, uint32_t initial);

static inline size_t durable_gone_bytes(const durable_t *d)
{
    return ((size_t)d->initial + 63) / 64 * sizeof(uint64_t);
}

#endif
