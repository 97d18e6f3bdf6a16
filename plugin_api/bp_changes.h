/* bp_changes.h - which rows have been written since the caller looked last, in blocks of rows.
 *
 *     const bp_changes_api *changes = api->registry->find(host, BP_CHANGES_API, 1);
 *     changes->keep(m);                          once: from now on the host knows
 *     ...
 *     uint64_t since = looked;                   0 the first time: everything
 *     looked = changes->look(world);
 *     for (uint32_t row = 0, count; (count = changes->rows(world, prototype, key, field, since, &row)) > 0;
 *          row += count)
 *         ... rows `row` to row + count - 1 of the field, or entities, may have changed since that look ...
 *
 * The host stamps blocks of BP_STAMP_ROWS rows with a moment, a number that grows: when a unit has run that says that
 * it writes the field, at `set`, and wherever rows have got other entities. Instances of a component with storage of
 * its own are stamped by slot: where they are made, ended, moved and set, and where their manager says
 * instances_changed. A stamp may be later than the last write, never earlier: rows that are not reported have not
 * changed, and rows that are reported may hold the same values as before. A write by a unit that does not declare it is
 * not seen. After a reload all rows are reported.
 *
 * Costs: nothing while stamps are not kept (`keep`); while they are, a store for each column that a unit writes, and
 * adding, removing and setting for single entities go a longer way.
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

    /* The present moment, for a caller that reads values now: writes after this call have a later stamp. Within a step
     * those are the writes of later units; a unit that may run on another thread takes step->moment instead. [main]
     * */
    uint64_t (BP_CALL *look)(bp_world_o *world);

    /* Keep stamps of a component in its world from now on; everything before counts as written now. Each call is ended
     * by one call of `release`; one too many does nothing. BP_ERROR_MEMORY; BP_ERROR_STATE while a reload is prepared.
     * [main] */
    bp_result_t (BP_CALL *keep)(bp_manager_t *m);
    void (BP_CALL *release)(bp_manager_t *m);

    /* Rows of a prototype, from *row on, in which declared field `field` of the component `key` was written after the
     * moment `since`, or which got other entities after it. *row becomes the first of them. Returns how many follow
     * each other; 0: there are no more. All rows while no caller keeps stamps. [job] while nothing changes structure,
     * where the field may be read */
    uint32_t (BP_CALL *rows)(bp_world_o *world, uint32_t prototype, uint32_t key, uint32_t field, uint64_t since,
                             uint32_t *row);

    /* The stamps of a component with storage of its own. Precondition: `keep` was called and not yet ended by
     * `release`. [main] */
    void (BP_CALL *slots)(bp_manager_t *m, bp_slot_stamps_t *stamps);
} bp_changes_api;

#ifdef __cplusplus
}
#endif
#endif
