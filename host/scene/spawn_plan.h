/* spawn_plan.h - the plan of a spawn: which manager, which values, which prototype. Inner to spawn.c and spawn_plan.c.
 *
 * No entity, row or value changes; only names are interned and prototypes made.
 */
#ifndef HOST_SCENE_SPAWN_PLAN_H
#define HOST_SCENE_SPAWN_PLAN_H

#include "spawn.h"

/* Beside BP_SCENE_...: what is left out is not told; only components and values are looked at, so that no prototype is
 * made. */
enum { SPAWN_QUIET = 1u << 30, SPAWN_NO_ROWS = 1u << 29 };

typedef enum source_kind_t {
    SOURCE_DEFAULT, /* the plugin's default */
    SOURCE_COLUMN,  /* a value for each instance */
    SOURCE_ONE,     /* one value, other than the default */
    SOURCE_PARENTS  /* the entity's parent */
} source_kind_t;

/* Where the values of one field of a plugin's component come from. */
typedef struct source_t {
    source_kind_t kind;
    const void *values; /* of the field's type; strings as offsets, entities as numbers + 1; of all cells, one after
                           another */
    const uint64_t *starts; /* of lists: at which value each cell begins, and the end; NULL: every cell has ... */
    uint32_t each;          /* ... as many */
    void *converted;    /* the block that holds them where they had to be converted */
    size_t converted_size;
} source_t;

/* A component of the blob. */
typedef struct plan_component_t {
    manager_t *manager;  /* NULL: left out */
    source_t *sources;   /* one for each field of the manager's component */
    uint32_t first_part; /* in spawn_plan_t.by_component */
    uint32_t part_count;
    bool warned;
} plan_component_t;

/* A part of a group. */
typedef struct plan_part_t {
    uint32_t group;
    uint32_t key;    /* BP_NONE: left out */
    uint32_t column; /* where the component's columns begin in the group's run */
    bool created;    /* own storage: its instances exist */
    bool told;       /* the component has been told of its rows */
} plan_part_t;

typedef struct spawn_plan_t {
    world_t *world;
    const blob_t *blob;
    const char *origin;
    uint32_t flags;
    bp_entity_t *entities;
    plan_component_t *components;
    plan_part_t *parts;
    uint32_t *by_component; /* the parts of each component, in order of their instances */
    uint32_t *order;        /* components by spawn_order */
    store_batch_t *batches; /* one for each group */
    source_t *sources;
    uint32_t source_count;
    uint32_t own_group;     /* the group of what belongs to the world itself, one row; BP_NONE: there is none */
    uint32_t largest_type;  /* instances of the largest type of own storage */
} spawn_plan_t;

/* Make the plan. On failure nothing is kept. [main] */
bp_result_t spawn_plan(spawn_plan_t *plan, world_t *world, const blob_t *blob, const char *origin, uint32_t flags);
void spawn_plan_free(spawn_plan_t *plan);

/* About how many bytes carrying the plan out will write to: room that the world has already is not counted, and storage
 * of managers' own counts as much as the values take. [main] */
uint64_t spawn_plan_bytes(const spawn_plan_t *plan);

static inline const blob_group_t *plan_group(const spawn_plan_t *plan, const plan_part_t *part)
{
    return &plan->blob->groups[part->group];
}

static inline const blob_part_t *plan_blob_part(const spawn_plan_t *plan, const plan_part_t *part)
{
    return &plan->blob->parts[part - plan->parts];
}

/* The values of a cell of a source with values: `cell` is an instance, or 0 of SOURCE_ONE. `size` is that of a value in
   a blob. */
static inline const char *source_items(const source_t *source, uint32_t cell, uint32_t size, uint32_t *count)
{
    uint64_t first = source->starts == NULL ? (uint64_t)cell * source->each : source->starts[cell];
    *count = source->starts == NULL ? source->each : (uint32_t)(source->starts[cell + 1u] - first);
    return (const char *)source->values + first * size;
}

#endif
