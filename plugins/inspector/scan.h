/* scan.h - going over the rows of a world's prototypes with a condition, where their columns lie.
 *
 * A column that a condition asks for is handed to it as it lies in the rows; a property of a component with storage of
 * its own, a list or an array is gathered first (gather.h). Prototypes that lack a component which the condition
 * requires (condition_certain) are passed over.
 *
 * Not here: collecting the entities that satisfy the condition (sets.c).
 */
#ifndef INSPECTOR_SCAN_H
#define INSPECTOR_SCAN_H

#include "condition.h"
#include "gather.h"
#include "inspector.h"

enum { SCAN_BLOCKS = 16 }; /* between two looks at the clock */

/* Where a scan stands. All zero: at the beginning. */
typedef struct scan_t {
    uint32_t prototype;  /* cursor of bp_look_api.prototype */
    uint32_t row;        /* of it */
    uint32_t structure;  /* of the world, when it was last looked at; rows have moved where it differs */
    bool begun;
    bool moved;          /* rows have moved since the scan began, so that some may have been missed */
    bool bound;          /* `fields` are those of the prototype that `binding` names; the caller sets it to false
                            whenever worlds may have changed since the last block */
    uint32_t binding;
    struct {
        const char *column;  /* of row 0; NULL: see `missing` */
        bool missing;        /* entities of the prototype lack it; else it has to be gathered */
    } fields[CONDITION_FIELDS_MAX];
} scan_t;

/* Rows that lie one behind another, at most CONDITION_ROWS. Their entities may be holes ({0}). */
typedef struct scan_block_t {
    const scan_t *scan;
    const bp_entity_t *entities;
    uint32_t first, count;
} scan_block_t;

/* The next rows; false past the last. `condition` NULL: all rows. `fields` are what the condition asks for. Addresses
 * are good until the world changes: a block is tested before the next turn. */
bool scan_next(const inspector_t *in, bp_world_o *world, scan_t *scan, const condition_t *condition,
               const gather_t *fields, scan_block_t *block);

/* mask[i] = 1 where entities[i] satisfies the condition. `block` NULL: the entities are no block of rows, and all their
 * properties are gathered. False when out of memory. */
bool scan_test(const inspector_t *in, bp_world_o *world, const condition_t *condition, const gather_t *fields,
               const condition_words_t *words, const scan_block_t *block, const bp_entity_t *entities, uint32_t count,
               uint8_t *mask);

#endif
