/* queries.h - queries that plugins and embedders keep (bp_query.h).
 *
 * A kept query has terms like a system's, bound in the same way, and the same list of matching runs (store/query.h). A
 * query is bound for a layout of its world and for the managers that the world has; where one of these has changed the
 * query is bound anew when it is begun.
 *
 * Not here: calls in a step (unit.c).
 */
#ifndef HOST_STEP_QUERIES_H
#define HOST_STEP_QUERIES_H

#include "schedule.h"

#include <bp_query.h>

/* As the entries of bp_query_api with the same names. [main] */
bp_result_t queries_make(bp_world_o *world, const plugin_t *owner, const bp_term_list_t *terms, uint32_t flags,
                         bp_query_o **query);
void queries_end(bp_query_o *query);
bp_result_t queries_begin(bp_query_o *query, uint64_t since);
const bp_match_t *queries_next(bp_query_o *query);

/* As bp_query_api.beside, over the world that the term `t` of the unit's system names. The query ends with the world,
 * with the plugin, and when the unit is settled anew, at the latest. [main] */
bp_result_t queries_beside(unit_t *unit, uint32_t t, bp_world_o *world, bp_query_o **query);

/* End all such queries of a unit. [main] */
void queries_end_beside(unit_t *unit);

/* Bind `data` to the life of a query: when the query ends, `end` is called with `data`, once. */
void queries_attach(bp_query_o *query, void *data, void (*end)(void *data));

/* Does the query ask for columns to write to? In which world is the query? */
bool queries_write(const bp_query_o *query);
bp_world_o *queries_world(const bp_query_o *query);

/* End the queries of a plugin, or all queries (`all`). [main] */
void queries_end_of(schedule_t *schedule, const plugin_t *owner, bool all);

/* Does `component` have all that every query asks for? Queries of plugins for which `going` says yes are left out. The
 * error names the owner of a query that would lack something. [main] */
typedef bool (*queries_going)(const void *context, const plugin_t *owner);
bp_result_t queries_admit(const schedule_t *schedule, const component_t *component, queries_going going,
                          const void *context);

#endif
