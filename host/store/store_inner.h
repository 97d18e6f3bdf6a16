/* store_inner.h - what the files of the store share: records, runs and single rows.
 *
 * Inner to store*.c.
 */
#ifndef HOST_STORE_STORE_INNER_H
#define HOST_STORE_STORE_INNER_H

#include "../base/base.h"
#include "notices.h"

#include <assert.h>

enum {
    STORE_BLOCK = 256, /* rows that are worked on together: their data fits the stack */
    STORE_AHEAD = 12,  /* entities ahead for which records are prefetched */
    STORE_FEW_HOLES = 64, STORE_HOLES_SHARE = 128
};

/* Put the entity in front of the present error; returns `result`. */
bp_result_t store_about(world_t *world, bp_entity_t e, bp_result_t result);

/* The error of giving an entity, or taking from it, what belongs to the world itself. */
bp_result_t store_refuse_owned(world_t *world, uint32_t key);

/* Make sure that the next `count` entities created through this world need no memory for ids and records. */
bp_result_t store_reserve_entities(world_t *world, uint32_t count);

/* Have a record for an index that can be written to; false when out of memory. */
static inline bool store_reserve_record(world_t *world, uint32_t index)
{
    return world_has_record(world, index) || records_reserve(world, index / ENTITIES_PAGE, 1);
}

/* The run of a prototype other than 0, made where it is new. NULL when out of memory. */
run_t *store_need_run(world_t *world, uint32_t prototype);

/* Drop a row; its strings are released. Precondition: the record of its entity has been changed already. */
void store_erase_row(world_t *world, run_t *run, uint32_t row);

/* Consecutive rows that entities have left become holes, and are listed for collection. */
void store_leave_rows(world_t *world, run_t *run, uint32_t row, uint32_t count);

/* The same for rows in any order, each once. */
void store_leave_scattered(world_t *world, run_t *run, const uint32_t *rows, uint32_t count);

/* Put a run with holes on the list for collection. */
void store_list_holes(world_t *world, run_t *run);

static inline void store_note_holes(world_t *world, run_t *run)
{
    if (run->holes > 0 && !run->in_holes_list)
        store_list_holes(world, run);
}

/* The last row moves into the hole `row`. */
void store_fill_hole(world_t *world, run_t *run, uint32_t row);

/* Move the last rows of a run into its lowest holes, `most` rows at most, until no more than `left` holes are left.
 * Returns how many rows moved. */
uint32_t store_compact(world_t *world, run_t *run, uint32_t most, uint32_t left);

/* May entities leave holes in a run when they move to another one? */
static inline bool store_keeps_holes(const run_t *run)
{
    return (run->flags & KEY_AT_ONCE) == 0 && !run->has_counted;
}

/* How many holes they may leave: an entity that comes back finds its row free, and no other row has moved meanwhile. */
static inline uint32_t store_holes_allowed(const run_t *run)
{
    return store_keeps_holes(run) ? STORE_FEW_HOLES + run->count / STORE_HOLES_SHARE : 0;
}

/* Entities have gone from one run to another (NULL: no run): write that down for subscriptions whose sets change. */
static inline void store_moved(world_t *world, const run_t *from, const run_t *to, const bp_entity_t *entities,
                               uint32_t count)
{
    uint32_t before = from == NULL ? 0 : from->signature, after = to == NULL ? 0 : to->signature;
    if (before != after)
        notices_moved(world->notices, before, after, entities, count);
}

/* Make room for notices about entities that get their first components. False when out of memory. */
static inline bool store_reserve_notices(world_t *world, uint32_t count)
{
    return world->notices == NULL || notices_reserve(world->notices, count);
}

/* Is there room for them already, if one more entity gets its first components? Room is kept whether or not the run
 * that the entity comes to is subscribed to: the entity may go on to another run, and a move takes no new room. */
static inline bool store_has_notice_room(const world_t *world)
{
    return world->notices == NULL || notices_has_room(world->notices, world->occupied);
}

static inline void store_set_record(world_t *world, bp_entity_t e, uint32_t prototype, uint32_t row)
{
    *world_own_record(world, e) = (record_t){bp_entity_generation(e), prototype, row};
}

/* Entities are in consecutive rows from `row` on. */
static inline void store_set_records(world_t *world, const bp_entity_t *entities, uint32_t count, uint32_t prototype,
                                     uint32_t row)
{
    /* The index at which the present page begins; to begin with, one that is not the first entity's. Entities made one
     * after another mostly share a page. */
    uint32_t beginning = count == 0 ? 0 : bp_entity_index(entities[0]) + 1;
    record_t *page = NULL;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = bp_entity_index(entities[i]) - beginning;
        if (at >= ENTITIES_PAGE) {
            beginning = bp_entity_index(entities[i]) & ~(uint32_t)(ENTITIES_PAGE - 1);
            page = world->pages[beginning / ENTITIES_PAGE - world->first_page];
            at = bp_entity_index(entities[i]) - beginning;
        }
        page[at] = (record_t){bp_entity_generation(entities[i]), prototype, row + i};
    }
}

/* Make room for `count` entities, some of them in holes. False when out of memory. */
static inline bool store_reserve_rows(world_t *world, run_t *run, uint32_t count)
{
    return run_reserve(run, &world->memory, count < run->holes ? 0 : count - run->holes);
}

/* Is there a row for one more entity without asking for memory? */
static inline bool store_has_row(const run_t *run)
{
    return run->count < run->capacity || run->holes > 0;
}

/* A row of defaults for an entity that has had no components, in a plain run, where there is a row and room for a
   notice; the record is the entity's. */
static inline void store_append_one(world_t *world, run_t *run, record_t *record, bp_entity_t e)
{
    uint32_t row;
    if (run->holes == 0) {
        row = run->count++;
        run_fill_all_cells(run, row);
    } else {
        row = run_take_hole(run);
        run_fill(run, 1, run->column_count, row, 1);
    }
    run_entities(run)[row] = e;
    /* The order keeps a compiler from joining two of these stores, which would take longer than both. */
    record->generation = bp_entity_generation(e);
    world->occupied++;
    record->prototype = run->prototype;
    record->row = row;
    if (run->signature != 0)
        store_moved(world, NULL, run, &(bp_entity_t){e.id}, 1);
}

/* --- store move -------------------------------------------------------------------------------------------------- */

/* One component key added to, or taken from, rows that thereby move to other runs.
 *
 * Inner to store_change.c, store_move.c and store_one.c. The maker of a change first finds the transition of every
 * prototype concerned, counts the rows that each run will get (`touched`, run_t.pending), and takes the memory; the
 * moves then cannot fail.
 *
 * Not here: asking managers, judging batches (store_change.c).
 */

typedef struct store_change_t {
    world_t *world;
    uint32_t key;
    bool adding;
    uint32_t from, to, column; /* the transition found last */
    bool found;
    run_t *touched;            /* runs that will get rows */
    uint32_t *slots;           /* adding, own storage: slots of the new instances */
} store_change_t;

/* Where entities of a prototype go: c->to and c->column, its run made. Errors are those of the prototypes. */
bp_result_t store_look_up_transition(store_change_t *c, uint32_t from);

/* As store_look_up_transition, but first tries the transition found last: entities of a batch mostly take the same
 * one. */
static inline bp_result_t store_find_transition(store_change_t *c, uint32_t from)
{
    return c->found && c->from == from ? BP_OK : store_look_up_transition(c, from);
}

/* The same while rows move: the plan has found this transition, so its prototypes and its run are there, and it is
   found again. */
static inline void store_follow_transition(store_change_t *c, uint32_t from)
{
    bp_result_t result = store_find_transition(c, from);
    assert(result == BP_OK);
    (void)result;
}

/* Take the memory for all rows that were counted, and forget the counts. False when out of memory. */
bool store_reserve_touched(store_change_t *c);

/* As store_add, or store_remove, in all cases. */
bp_result_t store_change_any(world_t *world, uint32_t key, bool adding, const bp_entity_t *entities, uint32_t count);

/* The same for one entity, and a component without storage of its own that is not told of rows, in a world whose rows
 * may move. */
bp_result_t store_change_one(store_change_t *c, bp_entity_t e);

/* Move the rows of entities, and take the marks away. Preconditions: the transitions were found, and there is room for
 * the rows. */
void store_move_all(store_change_t *c, const bp_entity_t *entities, uint32_t count);

#endif
