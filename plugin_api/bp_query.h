/* bp_query.h - the rows that have a set of components, outside systems: for tools, tables, reports, embedders.
 *
 *     static const bp_term_t terms[] = {{.component = "point_mass", .fields = BP_LIST(body)}};
 *     const bp_term_list_t list = BP_LIST(terms);
 *     const bp_query_api *queries = api->registry->find(host, BP_QUERY_API, 1);
 *     queries->make(world, plugin, &list, 0, &query);                once
 *     ...
 *     if (queries->begin(query, 0) == BP_OK)
 *         while ((match = queries->next(query)) != NULL) {
 *             BP_COLUMNS(struct body, c, match->columns[0]);
 *             for (uint32_t i = 0; i < match->count; i++) ...
 *
 * Terms are those of systems (bp_system.h), with fields by name and type. Terms are bound when the query is made, and
 * again when the world's components or their columns have changed: a reload that would leave a query without a field
 * that it asks for is refused, as it is for a system. A query is kept and begun again and again; `begin` looks only at
 * prototypes that have come since the last one.
 *
 * With BP_QUERY_CHANGES a query can be asked for rows written since the caller looked last (bp_changes.h): then it
 * returns ranges of rows, in blocks of BP_STAMP_ROWS, in which a field that it asks for, or the entities, may have
 * changed. Rows of fields that it asks for with BP_WRITE count as written once `next` has returned them.
 *
 * The queries of a system over another world need not be made: its terms with BP_TERM_BESIDE say what they ask for.
 *
 * What this header does not do: a query has no thread of its own and no place in the step.
 */
#ifndef BP_QUERY_H
#define BP_QUERY_H

#include "bp_system.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_QUERY_API "bp_query"

enum { BP_QUERY_CHANGES = 1u << 0 /* `since` may be asked for: the host keeps stamps for it */ };

typedef struct bp_query_o bp_query_o;

typedef struct bp_query_api {
    uint32_t struct_size;
    uint32_t version;

    /* Make a query; terms are copied. `plugin` is the one that asks, NULL for an embedder: with the plugin, or with
     * the world, the query ends at the latest. Errors are those of a system's terms; BP_ERROR_NOT_FOUND where the world
     * lacks a component; BP_ERROR_ARGUMENT for unknown flags and for no terms; BP_ERROR_MEMORY. [main] */
    bp_result_t (BP_CALL *make)(bp_world_o *world, const struct bp_plugin_t *plugin, const bp_term_list_t *terms,
                                uint32_t flags, bp_query_o **query);

    /* End it. NULL is allowed. [main] */
    void (BP_CALL *end)(bp_query_o *query);

    /* Begin a walk over all that matches, or over what was written after the moment `since`, where that is not 0
     * (bp_changes_api.look). BP_ERROR_NOT_FOUND, BP_ERROR_TYPE where the terms can no longer be bound;
     * BP_ERROR_ARGUMENT for a moment without BP_QUERY_CHANGES; BP_ERROR_STATE for terms that write, from verbs that may
     * not set properties and while a reload is prepared; BP_ERROR_MEMORY. No walk is begun then. [main] */
    bp_result_t (BP_CALL *begin)(bp_query_o *query, uint64_t since);

    /* The next rows, a whole run or a range of it, as systems get them, without system and step; NULL after the last.
     * Borrowed: good until the query is asked again, and until the structure of the world changes. A walk in which that
     * happens goes on with the rows as they are then: some may come twice, and some not at all. It ends where the
     * components of the world or their columns have changed, and where the host has gone to another time. [main] */
    const bp_match_t *(BP_CALL *next)(bp_query_o *query);

    /* Since version 2: the query of what a system asks for in another world: of all its terms that name the same world
     * as its term number `term`, in the order of the system's terms, so that columns[0] are those of the first of them.
     * The host makes the query when it is asked for first, and ends it: do not end it, and ask again in each step.
     * *query is NULL, and the result BP_OK, where there is no such world, or where that world lacks a component that is
     * not optional: there is nothing to walk then. BP_ERROR_ARGUMENT where the term does not say BP_TERM_BESIDE, and
     * for a system that is not at work (in `start` and `stop`); else the errors of `make`. [main] */
    bp_result_t (BP_CALL *beside)(const bp_system_t *system, uint32_t term, bp_query_o **query);
} bp_query_api;

#ifdef __cplusplus
}
#endif
#endif
