/* world_check.h - are the invariants of a world's store true?
 *
 * The heads of world.h, run.h, holes.h, prototypes.h and entities.h say what always holds between calls. Each of these
 * is checked here, for every row, record, run, list and prototype. Tests call the check; builds with BACKPLANE_AUDIT
 * (the sanitizer builds and AUDIT=1) make it after each step and each reload by themselves, so that a fault is reported
 * at the step that made it.
 *
 * Not here: mending, values in cells.
 */
#ifndef HOST_STORE_WORLD_CHECK_H
#define HOST_STORE_WORLD_CHECK_H

#include "world.h"

/* True where all invariants hold. Otherwise `text` receives a sentence that names the first that does not. The time is
 * that of a pass over all rows and records. Between calls that change the world only. [main] */
bool world_check(const world_t *world, char *text, size_t size);

/* The same of entities, for all worlds of a host. */
bool world_check_entities(const entities_t *entities, char *text, size_t size);

#if defined(BACKPLANE_AUDIT)

/* Make the check, with the host's first world that of entities too. A world in which an invariant does not hold ends
 * the process with that sentence in the log. Of a large world only some calls look: on an average a call looks at
 * about WORLD_CHECK_ROWS rows, records and indices. [main] */
enum { WORLD_CHECK_ROWS = 512 };
void world_assert(world_t *world);

#else

static inline void world_assert(world_t *world)
{
    (void)world;
}

#endif
#endif
