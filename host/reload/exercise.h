/* exercise.h - every verb of a candidate is called at least once, in the copy of a trial.
 *
 * Steps alone call what the world happens to need. Entities are made of each component of the candidate, read, written,
 * taken apart and destroyed again; what the managers keep is saved, and loaded by a manager that begins anew; reports
 * are asked for.
 *
 * What it does not do: it judges no value; whoever calls it looks for crashes. Only for a copy, which nobody goes on
 * with.
 */
#ifndef HOST_RELOAD_EXERCISE_H
#define HOST_RELOAD_EXERCISE_H

#include "reload.h"

/* Make, read, write, save, load, report. NULL, or what was wrong though nothing crashed. [main], between steps */
const char *exercise(reload_t *reload, plugin_t *const *candidates, uint32_t count);

/* Take apart and destroy, some steps later, when systems know what there is. */
void exercise_end(reload_t *reload, plugin_t *const *candidates, uint32_t count);

#endif
