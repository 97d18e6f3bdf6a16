/* bp_refer.h - which entities refer to an entity: reverse look-up through a field.
 *
 *     const bp_refer_api *refer = api->registry->find(host, BP_REFER_API, 1);
 *     refer->make(world, plugin, "attached", "to", &attached);       once
 *     ...
 *     if (refer->ask(attached, ship, &who, &count) == BP_OK)
 *         for (uint32_t i = 0; i < count; i++) ... who[i] lives, and its attached.to is the ship ...
 *
 * `make` keeps an index of one declared field of type BP_ENTITY. The index follows by stamps (bp_changes.h): a question
 * looks at what has been written since the one before, in blocks of rows, and answers from a table. So the field may be
 * written in all ways that stamps know of (by `set`, by commands, by units that declare it, by structure), and writing
 * it costs nothing more between questions. The index goes on over reloads, as a query does (bp_query.h): a reload that
 * would leave it without its field is refused.
 *
 * What this header does not do: fields of components with storage of their own, arrays and lists have no such index;
 * and it tells of no deaths (BP_DEATHS_REFERRED of bp_component.h).
 */
#ifndef BP_REFER_H
#define BP_REFER_H

#include "bp_component.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_REFER_API "bp_refer"

typedef struct bp_refer_o bp_refer_o;

typedef struct bp_refer_api {
    uint32_t struct_size;
    uint32_t version;

    /* Keep an index of `field` of the component type `component`, under whichever name entities have it. `plugin` is
     * the one that asks, NULL for an embedder: with the plugin, or with the world, the index ends at the latest.
     * BP_ERROR_NOT_FOUND where the world lacks the component, or the component the field; BP_ERROR_TYPE where it is not
     * a declared field of type BP_ENTITY with a single value; BP_ERROR_MEMORY. [main] */
    bp_result_t (BP_CALL *make)(bp_world_o *world, const struct bp_plugin_t *plugin, const char *component,
                                const char *field, bp_refer_o **index);

    /* End it. NULL is allowed. [main] */
    void (BP_CALL *end)(bp_refer_o *index);

    /* The living entities that have `target` in the field, each once, in the order of their indices. `target` may be
     * dead, or {0}, which means no entity: *count is then 0 for {0}. *referrers is borrowed: good until the index is
     * asked again. BP_ERROR_NOT_FOUND, BP_ERROR_TYPE where the world has lost the component; BP_ERROR_MEMORY; *count is
     * 0 then. [main] */
    bp_result_t (BP_CALL *ask)(bp_refer_o *index, bp_entity_t target, const bp_entity_t **referrers, uint32_t *count);
} bp_refer_api;

#ifdef __cplusplus
}
#endif
#endif
