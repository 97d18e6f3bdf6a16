/* tables_inner.h - what the files of tables share: whether a call is written down by the history, and the tables of
 * table_world.c.
 *
 * Inner to tables.c and table_world.c.
 */
#ifndef HOST_ENGINE_TABLES_INNER_H
#define HOST_ENGINE_TABLES_INNER_H

#include "host.h"

#include <bp_refer.h>

extern const bp_entity_api host_entity_table;
extern const bp_world_api host_world_table;
extern const bp_property_api host_property_table;
extern const bp_refer_api host_refer_table;

/* A call that changes something tells the host's history, and is refused in verbs that may only read and write values.
 * Calls that take a few dozen instructions test one word for both, and where it is not 0 another function makes the
 * call: so the usual calls save no registers. */
static inline bool needs_care(const bp_world_o *world)
{
    return world->rows.base->attention != 0;
}

/* Is the call made from `get`, `set` or `count` of storage, or from `save` or `load` of a state? */
static inline bool is_asked(const bp_host_o *host)
{
    return (host->base.attention & BASE_ASKED) != 0;
}

/* A call that history has written down is over. */
static inline bp_result_t called(history_t *history, bp_result_t result)
{
    history_called(history, result == BP_OK);
    return result;
}

static inline history_t *history_of(bp_world_o *world)
{
    return &world->rows.host->history;
}

#endif
