/* bp_inline.h - where a value lies and whether an entity is alive, read without a call.
 *
 * bp_property_cell (bp_api.h) finds a value in a handful of instructions, because it knows how the host keeps the
 * records of a world and the columns of a run. That knowledge is no part of the contract: all of it is in this header,
 * and has one version number, BP_INLINE_LAYOUT. A host that keeps these things in another way raises BP_INLINE_LAYOUT
 * in its headers and writes that number into every property that it resolves; a plugin that was built with another
 * number then finds nothing inline, and calls bp_property_api.get, which always works. bp_is_alive asks in the same way
 * whether an entity lives, with the number in the bp_living_t that the host has filled.
 *
 * A change of one of the structs below needs another number (tests/abi checks that).
 *
 * Not here: what a plugin may rely on. Include bp_plugin.h, and leave these structs alone.
 */
#ifndef BP_INLINE_H
#define BP_INLINE_H

#include "bp_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number of the layout that this header knows. */
#define BP_INLINE_LAYOUT 1u

/* Records of 1 << BP_RECORDS_SHIFT entity indices lie together. */
enum { BP_RECORDS_SHIFT = 10 };

/* Where an entity is in a world. prototype 0: nowhere. */
typedef struct bp_record_t {
    uint32_t generation;
    uint32_t prototype;
    uint32_t row;
} bp_record_t;

/* The first members of every world. */
typedef struct bp_world_head_t {
    bp_record_t *const *pages; /* of records, ... */
    uint32_t page_count;
    uint32_t first_page;       /* ... the first of them of the indices from first_page << BP_RECORDS_SHIFT on */
    uint32_t layout;           /* number of the columns as they are: what was found for another one is found anew */
} bp_world_head_t;

/* The first members of every run. */
typedef struct bp_run_head_t {
    void *const *columns; /* the address of row 0 of each column */
    uint32_t count;
    uint32_t version;
} bp_run_head_t;

/* Where a host keeps which entities are alive. lives[index] is the generation of the entity at an index less `base` and
 * 1 while it lives, and odd while no entity lives at that index; indices run to `bound` - 1. */
typedef struct bp_inline_lives_t {
    uint32_t known;          /* BP_INLINE_LAYOUT of the host's headers; 0: ask */
    uint32_t padding;
    uint32_t *const *lives;
    const uint32_t *bound;
    const uint32_t *base;
} bp_inline_lives_t;

/* Where a property was found last. */
typedef struct bp_inline_found_t {
    uint32_t known;     /* BP_INLINE_LAYOUT of the host's headers */
    uint32_t layout;    /* the world's layout that it was resolved for */
    uint32_t prototype; /* the prototype met last, or BP_NONE, ... */
    uint32_t column;    /* ... the column of the field in its run, ... */
    void *run;          /* ... and that run */
    const void *declared;
} bp_inline_found_t;

/* The address of a value of `size` bytes, NULL where it cannot be found without asking. [job] while nothing changes
 * structure */
static inline const void *bp_inline_cell(const bp_world_o *world, const bp_inline_found_t *found, uint32_t size,
                                         bp_entity_t entity)
{
    if (found->known != BP_INLINE_LAYOUT)
        return NULL;
    const bp_world_head_t *head = (const bp_world_head_t *)(const void *)world;
    const bp_run_head_t *run = (const bp_run_head_t *)found->run;
    uint32_t index = bp_entity_index(entity), page = (index >> BP_RECORDS_SHIFT) - head->first_page;
    if (page >= head->page_count || found->layout != head->layout)
        return NULL;
    const bp_record_t *record = &head->pages[page][index & ((1u << BP_RECORDS_SHIFT) - 1)];
    if (record->generation != bp_entity_generation(entity) || record->prototype != found->prototype)
        return NULL;
    return (const char *)run->columns[found->column] + (size_t)record->row * size;
}

/* 1 where the entity lives, else 0. [job] */
static inline uint32_t bp_inline_lives(const bp_inline_lives_t *where, bp_entity_t entity)
{
    uint32_t index = bp_entity_index(entity), generation = bp_entity_generation(entity);
    return index < *where->bound && (*where->lives)[index] + 1 + *where->base == generation && (generation & 1) != 0;
}

#ifdef __cplusplus
}
#endif
#endif
