/* store_move.h - one component key added to, or taken from, rows that thereby move to other runs.
 *
 * Inner to store_move.c, store_change.c and store_strip.c. Who makes a change first finds the transition of every prototype
 * concerned, counts the rows that each run will get (`touched`, run_t.pending), and takes the memory; the moves then cannot fail.
 *
 * What it does not do: it asks no manager and judges no batch.
 */
#ifndef HOST_ENTITY_STORE_MOVE_H
#define HOST_ENTITY_STORE_MOVE_H

#include "store_rows.h"

/* In the prototype of a record while a batch that mentions its entity is planned, so that a second mention is seen. */
#define STORE_MARK 0x80000000u

typedef struct store_change_t {
    bp_world_o *world;
    uint32_t key;
    bool adding;
    uint32_t from, to, column; /* the transition found last */
    bool found;
    run_t *touched;            /* runs that will get rows */
    uint32_t *slots;           /* adding, own storage: slots of the new instances */
} store_change_t;

/* Where entities of a prototype go: c->to and c->column, its run made. Errors are those of the prototypes. */
bp_result_t store_look_up_transition(store_change_t *c, uint32_t from);

/* The same; entities of a batch mostly take the same one. */
static inline bp_result_t store_find_transition(store_change_t *c, uint32_t from)
{
    return c->found && c->from == from ? BP_OK : store_look_up_transition(c, from);
}

/* Take the memory for all rows that were counted, and forget the counts. False when out of memory. */
bool store_reserve_touched(store_change_t *c);

/* Move the rows of entities whose transitions were found and whose rows there is room for; marks go. */
void store_move_all(store_change_t *c, const bp_entity_t *entities, uint32_t count);

#endif
