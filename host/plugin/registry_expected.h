/* registry_expected.h - columns that systems go on with after a component has changed without them.
 *
 * A system was compiled for the columns that a component had. registry_expect notes these before the component changes for the
 * first time, and registry_find_expected says after each change where they are now (term_t.order).
 *
 * What it does not do: it refuses no change; reload/plan.c does, where a column has gone.
 */
#ifndef HOST_PLUGIN_REGISTRY_EXPECTED_H
#define HOST_PLUGIN_REGISTRY_EXPECTED_H

#include "registry.h"

/* Note for every system whose plugin is not part of the present change what it takes the columns of `slot` to be. */
bp_result_t registry_expect(registry_t *registry, const component_t *slot);

/* Work out anew where expected columns are. After every exchange. */
void registry_find_expected(registry_t *registry);

#endif
