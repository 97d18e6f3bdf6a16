/* referrers.h - the entities that refer to an entity through a field: an index that follows by stamps (bp_refer.h).
 *
 * An index has a kept query with one term, which is bound, ended and checked at reloads as all kept queries are; the
 * index ends with its query.
 */
#ifndef HOST_STEP_REFERRERS_H
#define HOST_STEP_REFERRERS_H

#include "queries.h"

#include <bp_refer.h>

/* As the entries of bp_refer_api with the same names. [main] */
bp_result_t referrers_make(bp_world_o *world, const plugin_t *owner, const char *component, const char *field,
                           bp_refer_o **index);
void referrers_end(bp_refer_o *index);
bp_result_t referrers_ask(bp_refer_o *index, bp_entity_t target, const bp_entity_t **referrers, uint32_t *count);

#endif
