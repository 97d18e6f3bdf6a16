/* query.h - the runs that have a set of components: the match lists behind systems and simulate.
 *
 * A query is matched against prototypes, never against entities, and incrementally: a world only appends runs, so
 * each run is looked at once, when it is new. A term that names no instance and meets an entity with two components
 * of its type gives one match for each.
 *
 * Two systems with the same requirements share one query, whatever the order in which they list them: terms are kept in
 * one canonical order (query_order), and each system remembers the place of its own.
 *
 * The components of the world itself lie in a run of their own (KEY_WORLD), which is matched only by queries with terms
 * of the world alone. In other queries a term of the world does not influence the matches and has no cell: the code
 * that hands out columns finds its row by world_t.own.
 *
 * Not here: calls of systems (step/).
 */
#ifndef HOST_STORE_QUERY_H
#define HOST_STORE_QUERY_H

#include "world.h"

typedef struct query_term_t {
    uint32_t manager;   /* number in the world; BP_NONE where the world has none */
    bp_name_t instance; /* 0: any */
    uint32_t flags;     /* BP_TERM_OPTIONAL, BP_TERM_EXCLUDE, BP_TERM_WORLD */
} query_term_t;

typedef struct query_cell_t {
    uint32_t column; /* where the component's columns begin in the run; 0: absent */
    uint32_t key;
} query_cell_t;

typedef struct query_t {
    memory_t *memory;
    query_term_t terms[TERMS_MAX];
    uint32_t term_count;
    run_t **runs;        /* of each match */
    query_cell_t *cells; /* term_count for each match */
    uint32_t count, run_capacity, cell_capacity;
    uint32_t looked_at;       /* runs of the world looked at so far */
    uint32_t users;      /* how many systems share the query; counted by the code that shares it (step/) */
} query_t;

/* An empty query of no terms. */
void query_init(query_t *query, memory_t *memory);
void query_free(query_t *query);

/* Look at runs that are new since the last time. False when out of memory: the list is as before. [main] */
bool query_look_at_new(query_t *query, world_t *world);
static inline bool query_refresh(query_t *query, world_t *world)
{
    return query->looked_at == world->run_count || query_look_at_new(query, world);
}

/* Bring terms into canonical order; place[t] says where the t-th has come to lie. */
void query_order(query_term_t *terms, uint32_t count, uint8_t *place);

/* Has the query these terms, in this order? */
bool query_has_terms(const query_t *query, const query_term_t *terms, uint32_t count);

/* Are all terms of the world itself? Then the query matches the one row of world_t.own, as any other row. */
bool query_is_of_world(const query_term_t *terms, uint32_t count);

/* Does a prototype match the terms? [main] */
bool query_matches(const prototypes_t *prototypes, const query_term_t *terms, uint32_t count, uint32_t prototype);

static inline const query_cell_t *query_cells(const query_t *query, uint32_t match)
{
    return query->cells + (size_t)match * query->term_count;
}

#endif
