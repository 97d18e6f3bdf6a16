/* save_plan.h - the parts of a world that are saved, and the way in which each field is: inner to save.c and
 * save_fields.c.
 *
 * The world is not changed by anything here.
 */
#ifndef HOST_SCENE_SAVE_PLAN_H
#define HOST_SCENE_SAVE_PLAN_H

#include "blob_write.h"
#include "save.h"

/* A run with living rows. */
typedef struct save_group_t {
    const run_t *run;
    uint32_t first_entity;
    uint32_t rows;       /* living */
    uint32_t first_part;
    uint32_t part_count;
    uint32_t *ranks;     /* where the run has holes: how many living rows come before each row; else NULL */
} save_group_t;

typedef struct save_part_t {
    uint32_t group;
    uint32_t component; /* in the blob */
    uint32_t column;    /* where its columns begin in the run */
    uint32_t first;     /* instance */
} save_part_t;

typedef enum save_fate_t { SAVE_NOT, SAVE_ONE, SAVE_COLUMN } save_fate_t;

typedef struct save_component_t {
    manager_t *manager;
    uint32_t first_part, part_count; /* in save_t.by_component */
    uint32_t instances;
    uint8_t *fates;         /* one for each field of the manager's component */
    uint32_t *blob_fields;  /* ... and its number in the blob */
    uint64_t *items;        /* ... and how many values its lists have */
    blob_field_desc_t *descs;
    uint32_t desc_count;
} save_component_t;

typedef struct save_t {
    world_t *world;
    const world_clock_t *clock;
    memory_t *memory;
    save_group_t *groups;
    uint32_t *group_of;     /* by prototype; BP_NONE */
    uint32_t prototype_count;
    save_part_t *parts;
    uint32_t *by_component;
    save_component_t *components;
    uint32_t *component_of; /* by manager; BP_NONE */
    uint32_t manager_count;
    uint32_t group_count, part_count, component_count;
    size_t part_room;
    uint32_t rows;          /* entities with components */
    bp_entity_t *extras;    /* entities without, in order of their first mention */
    uint32_t extra_count, extra_capacity;
    uint32_t *extra_slots;  /* as a set: number + 1, 0 free */
    uint32_t extra_slot_count;
    uint32_t *parents;      /* by entity; number + 1 */
    bool has_parents;
    char *scratch;          /* cells that a manager writes: SAVE_BLOCK of them, or as many as fit, ... */
    size_t scratch_size;    /* ... one at least */
    blob_writer_t writer;
} save_t;

enum { SAVE_BLOCK = 1024, SAVE_SCRATCH = SAVE_BLOCK * (int)sizeof(bp_value_t) };

/* Some cells of a field, one after another, of the plugin's type; of consecutive instances, which belong to consecutive
 * entities. False ends the walk. */
typedef struct save_values_t {
    const void *values;
    uint32_t count;
    uint32_t instance; /* of the first */
    uint32_t entity;   /* number of the first */
} save_values_t;
typedef bool (*save_visit_t)(save_t *s, const field_t *field, const save_values_t *values, void *context);

/* Visit all values of a field. `into` may be NULL, or where the values of all instances go: in that case, where their
 * form allows it, the values are put there straight away and nothing is visited. Errors: those of the manager. */
bp_result_t save_walk(save_t *s, const save_component_t *c, uint32_t field, void *into, save_visit_t visit,
                      void *context);

/* The number + 1 that an entity has in the blob; 0 for no entity and for dead ones. An entity without components must
 * have been noted (save_note_extra). */
uint32_t save_number(const save_t *s, bp_entity_t e);

/* Note an entity that has no components here. False when out of memory. */
bool save_note_extra(save_t *s, bp_entity_t e);

/* Decide how each field is saved, note the entities without components, find the parents, let managers compile. */
bp_result_t save_plan_fields(save_t *s);

#endif
