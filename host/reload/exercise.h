/* exercise.h - every verb of a candidate is called at least once, in the copy of a trial.
 *
 * Steps alone call what the world happens to need. Entities are made of each component of the candidate, read, written,
 * taken apart and destroyed again; what the managers keep is saved, and loaded by a manager that begins anew; reports
 * are asked for.
 *
 * Not here: judging values; the caller looks for crashes. Only for a copy of the process, which nobody goes on with.
 */
#ifndef HOST_RELOAD_EXERCISE_H
#define HOST_RELOAD_EXERCISE_H

#include "reload.h"

/* Make, read, write, save, load, report. Returns NULL, or the fault where something was wrong though nothing crashed.
 * [main], between steps */
const char *exercise(reload_t *reload, plugin_t *const *candidates, uint32_t count);

/* Take the entities apart and destroy them, some steps later, when systems know them. */
void exercise_end(reload_t *reload, plugin_t *const *candidates, uint32_t count);

#endif
