/* inspect.h - a host seen from inside: are its invariants kept, and is it as it was?
 *
 * What it does not do: it changes nothing, and takes no memory from the host.
 */
#ifndef TESTS_UNIT_INSPECT_H
#define TESTS_UNIT_INSPECT_H

#include "store/store.h"
#include "engine/host.h"

/* Everything that the heads of world.h, run.h, prototypes.h, entities.h and strings.h promise between two
 * calls; a broken promise fails the test. */
void check_host(const bp_host_o *host);

/* All that users can see of a host, as text: plugins, what they bring, worlds, their units, entities with
 * their components and values. The caller frees it. */
char *describe_host(bp_host_o *host);

/* Fails the test with both texts' first different line unless they are equal; frees both. */
void expect_same(char *before, char *after, const char *what);

#endif
