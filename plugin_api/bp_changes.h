/* bp_changes.h - what has been written since one looked last, in blocks of rows.
 *
 *     const bp_changes_api *changes = api->registry->find(host, BP_CHANGES_API, 1);
 *     changes->keep(m);                          once: from now on the host knows
 *     ...
 *     uint64_t since = looked;                   0 the first time: everything
 *     looked = changes->look(world);
 *     for (uint32_t row = 0, count; (count = changes->rows(world, prototype, key, field, since, &row)) > 0;
 *          row += count)
 *         ... rows `row` to row + count - 1 of the field, or entities, may be others than when one looked last ...
 *
 * The host stamps blocks of BP_STAMP_ROWS rows with a moment, a number that grows: when a unit has run that says that
 * it writes the field, at `set`, and wherever rows have got other entities. Instances of a component with storage of
 * its own are stamped by slot: where they are made, ended, moved and set, and where their manager says
 * instances_changed. A stamp may be too late, never too early: what is not told has not changed, and what is told may
 * be as it was. Only what is written in ways that nobody declared is not seen. After a reload everything is told.
 *
 * Costs: nothing where nobody asks; where somebody does, a store for each column that a unit writes, and adding,
 * removing and setting for single entities go a longer way.
 *
 * What this header does not do: it keeps no former values.
 */
#ifndef BP_CHANGES_H
#define BP_CHANGES_H

#include "bp_component.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_CHANGES_API "bp_changes"

/* When the instances of a component with storage of its own were written last. Borrowed: good until the next change. */
typedef struct bp_slot_stamps_t {
    uint32_t struct_size;   /* the caller's sizeof, said by the caller: as many bytes are written */
    uint32_t padding;
    uint64_t latest;        /* of all of them */
    uint64_t rest;          /* of slots behind the last block */
    const uint64_t *blocks; /* by slot / BP_STAMP_ROWS */
    uint32_t block_count;
    uint32_t padding_2;
} bp_slot_stamps_t;

/* The stamp of one slot. [job] */
static inline uint64_t bp_slot_stamp(const bp_slot_stamps_t *stamps, uint32_t slot)
{
    uint32_t block = slot / BP_STAMP_ROWS;
    return block < stamps->block_count ? stamps->blocks[block] : stamps->rest;
}

typedef struct bp_changes_api {
    uint32_t struct_size;
    uint32_t version;

    /* The present moment, for whoever looks at values now: what is written from now on has a later stamp. Within a
     * step that is what later units write, and a unit that may run on another thread takes step->moment instead. [main]
     * */
    uint64_t (BP_CALL *look)(bp_world_o *world);

    /* Somebody asks for the stamps of a component in its world; until now all counts as written now. Ended by as many
     * calls of release. BP_ERROR_MEMORY; BP_ERROR_STATE while a reload is prepared. [main] */
    bp_result_t (BP_CALL *keep)(bp_manager_t *m);
    void (BP_CALL *release)(bp_manager_t *m);

    /* Rows of a prototype, from *row on, in which declared field `field` of the component `key` was written after the
     * moment `since`, or whose entities are others. *row becomes the first of them. Returns how many follow each other;
     * 0: there are no more. All rows while nobody keeps stamps. [job] while nothing changes structure, where the field
     * may be read */
    uint32_t (BP_CALL *rows)(bp_world_o *world, uint32_t prototype, uint32_t key, uint32_t field, uint64_t since,
                             uint32_t *row);

    /* The stamps of a component with storage of its own, which somebody keeps. [main] */
    void (BP_CALL *slots)(bp_manager_t *m, bp_slot_stamps_t *stamps);
} bp_changes_api;

#ifdef __cplusplus
}
#endif
#endif
