/* wants.h - the names of the components and systems that a world was told to use, in that order.
 *
 * A name stays when its plugin goes, or no longer has the component or system, and the world uses the next one of that
 * name as soon as a plugin brings it (engine/, reload/). A name goes when the world is told to drop it.
 *
 * Not here: bringing components and systems in (engine/, reload/).
 */
#ifndef HOST_STEP_WANTS_H
#define HOST_STEP_WANTS_H

#include "../base/memory.h"

typedef struct want_t {
    char *name;
    bool system; /* else a component */
    bool again;  /* the component or system came back by itself since it was asked for */
} want_t;

/* All zero, but for the account: no names. */
typedef struct wants_t {
    memory_t *memory;
    want_t *items;
    uint32_t count, capacity;
    uint32_t changes; /* how often places of names that stay have changed */
} wants_t;

/* Add a name, where it is not wanted yet. false when out of memory. */
bool wants_add(wants_t *wants, const char *name, bool system);

/* Remove a name. false where it was not wanted. */
bool wants_drop(wants_t *wants, const char *name, bool system);
bool wants_has(const wants_t *wants, const char *name, bool system);

/* Bring the systems that are both wanted and in `list` (names between blanks or commas) into the order of that list;
 * whatever else is wanted keeps its place. */
void wants_order(wants_t *wants, const char *list);

/* Has the component or system come back by itself since it was asked for? From now on it counts as asked for. */
bool wants_take_again(wants_t *wants, const char *name, bool system);

/* The place of a name in the order; BP_NONE where it is not wanted. */
uint32_t wants_place(const wants_t *wants, const char *name);

/* Have what `other` has, which is empty from then on. */
void wants_become(wants_t *wants, wants_t *other);
void wants_free(wants_t *wants);

#endif
