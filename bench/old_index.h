/* old_index.h - the entity index that the prototype chains of the engine took the place of, for comparison.
 *
 * As the article "Rebuilding the Entity Index" describes it: entity -> array of {component manager,
 * instance id, name}, one array for each entity, nothing shared. Around it the least that the test needs:
 * an entity manager of generations, and component managers that keep one value an instance in a slot. A round of
 * collection looks at random entities and ends the dead ones, until it meets four living ones in a row, as is usual for
 * lazy collection.
 *
 * Not here: parts of the engine, checks of arguments.
 */
#ifndef BENCH_OLD_INDEX_H
#define BENCH_OLD_INDEX_H

#include <bp_types.h>
#include <stdbool.h>

typedef struct old_entry_t {
    uint32_t manager, instance, name, padding;
} old_entry_t;

typedef struct old_list_t {
    bp_entity_t entity;
    old_entry_t *entries;
    uint32_t count, capacity;
} old_list_t;

typedef struct old_manager_t {
    bp_vec4_t *values; /* by slot */
    uint32_t *free_slots;
    uint32_t count, free_count, capacity;
} old_manager_t;

typedef struct old_index_t {
    uint32_t *generations;   /* even: free */
    uint32_t *ring;          /* free indices; as many as generations */
    uint32_t entity_capacity, bound, head, waiting;
    old_list_t *lists;       /* dense, so that gc can pick one at random */
    uint32_t list_count, list_capacity;
    uint32_t *table;         /* open addressing by entity: place in lists + 1 */
    uint32_t table_size;
    old_manager_t *managers;
    uint32_t manager_count;
    uint64_t random;
    size_t bytes;            /* allocated, all told */
} old_index_t;

void old_index_init(old_index_t *index, uint32_t managers);
void old_index_free(old_index_t *index);

bp_entity_t old_index_create(old_index_t *index);
void old_index_destroy(old_index_t *index, bp_entity_t e);

/* Make an instance in a manager and register it under a name. */
void old_index_add(old_index_t *index, bp_entity_t e, uint32_t manager, uint32_t name);

/* The value of the component of that name; NULL where there is none. */
bp_vec4_t *old_index_find(const old_index_t *index, bp_entity_t e, uint32_t name);

/* One round of collection. */
void old_index_collect(old_index_t *index);

#endif
