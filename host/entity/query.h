/* query.h - which runs have a set of components: the match lists behind systems and simulate.
 *
 * A query is matched against prototypes, never against entities, and incrementally: a world only appends runs, so
 * each run is looked at once, when it is new. A term that names no instance and meets an entity with two components
 * of its type gives one match for each.
 *
 * What it does not do: it calls nothing (schedule/step.h does).
 */
#ifndef HOST_ENTITY_QUERY_H
#define HOST_ENTITY_QUERY_H

#include "world.h"

typedef struct query_term_t {
    uint32_t manager;   /* number in the world; BP_NONE where the world has none */
    bp_name_t instance; /* 0: any */
    uint32_t flags;     /* BP_TERM_... */
    uint32_t width;     /* columns of the component */
} query_term_t;

typedef struct query_cell_t {
    uint32_t column; /* where the component's columns begin in the run; 0: absent */
    uint32_t key;
} query_cell_t;

typedef struct query_t {
    memory_t *memory;
    query_term_t terms[REGISTRY_MAX_TERMS];
    uint32_t term_count;
    run_t **runs;        /* of each match */
    query_cell_t *cells; /* term_count for each match */
    uint32_t count, run_capacity, cell_capacity;
    uint32_t seen;       /* runs of the world looked at so far */
} query_t;

/* An empty query of no terms. */
void query_init(query_t *query, memory_t *memory);
void query_free(query_t *query);

/* Look at runs that are new since the last time. False when out of memory: the list is as before. [main] */
bool query_refresh(query_t *query, bp_world_o *world);

static inline const query_cell_t *query_cells(const query_t *query, uint32_t match)
{
    return query->cells + (size_t)match * query->term_count;
}

#endif
