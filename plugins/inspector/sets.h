/* sets.h - lists of entities that clients look at piece by piece: a whole world, or what a condition picks from it.
 *
 * A set is made at once and filled between the steps that follow, as the budget goes; its rows can be asked for from
 * the beginning. A set is not kept up to date: entities that have died since are reported as dead, new entities are not
 * in the set. There are SETS_MAX sets; a new set takes the place of the set that was not used for longest, of
 * those that no call waits for.
 *
 * A set may have a tree (by fields with BP_FIELD_PARENT): then its roots and the children of each entity can be asked
 * for likewise.
 *
 * Not here: keeping sets up to date; the client makes a new set.
 */
#ifndef INSPECTOR_SETS_H
#define INSPECTOR_SETS_H

#include "ask.h"
#include "condition.h"

typedef struct set_t set_t;

typedef struct set_info_t {
    uint64_t id;
    const char *world;
    uint64_t world_number; /* of the world of that name that the set is about (look_world_number) */
    uint32_t count;   /* entities found so far */
    uint32_t seen;    /* entities looked at so far */
    uint32_t bound;   /* entities to look at in all */
    bool built;
    bool tree;        /* children can be asked for */
    bool cut;         /* there are more entities than a set holds */
} set_info_t;

/* Is there a place for one more set? Not while searches wait for as many sets as there may be. */
bool sets_have_room(const inspector_t *in);

/* Begin a set, where there is a place: all entities of `world`, or those that satisfy `where` (a condition, or NULL)
 * and have `label` in their name (or NULL). NULL, with the error left in the ask, where the condition does not fit the
 * world. */
set_t *sets_make(ask_t *ask, bp_world_o *world, const char *where, const char *label, bool tree);

/* Keep the set until it is let go of, however many others are made meanwhile. A number that no set has is passed
 * over. */
void sets_hold(inspector_t *in, uint64_t id, bool held);

/* The set of that number; NULL, with the error left, where there is no such set. */
set_t *sets_find(ask_t *ask, uint64_t id);

bool sets_is_built(const set_t *set);
void sets_info(const set_t *set, set_info_t *info);

/* Up to `most` entities from place `from` on. Returns how many. */
uint32_t sets_rows(const set_t *set, uint32_t from, uint32_t most, bp_entity_t *entities);

/* For sets with a tree. sets_child_count: how many children the entity has, or for {0} how many roots there are.
 * sets_children: up to `most` of them from place `from` on. sets_parent: the entity's parent. */
uint32_t sets_child_count(const set_t *set, bp_entity_t parent);
uint32_t sets_children(const set_t *set, bp_entity_t parent, uint32_t from, uint32_t most, bp_entity_t *entities);
bp_entity_t sets_parent(const set_t *set, bp_entity_t entity);

/* Go on with the sets that are not built until `deadline_ns`. True where something was done. */
bool sets_build(inspector_t *in, uint64_t deadline_ns);
bool sets_building(const inspector_t *in);

void sets_free(inspector_t *in);

#endif
