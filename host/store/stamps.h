/* stamps.h - when values were written last: of the columns of a run, and of the instances of a manager with storage of
 * its own.
 *
 * A stamp is a moment of the world: a number that grows with every unit of a step, and with every question for it
 * (world_look). Rows, and slots, have stamps in blocks of BP_STAMP_ROWS. Values that are written together get one
 * stamp: a unit of a step that says that it writes a column stamps the whole column with one store, whatever the number
 * of rows.
 *
 * Column 0 of a run, the entities, has the stamps of structure: where a row gets another entity, or a hole, all its
 * values are others. So the stamp of a block of a column is the latest of four: the column's and the entities' own,
 * each as a whole and of the block.
 *
 * All code that writes values notes the moment: units by the access of their fields (step/unit.c), properties
 * (property/), the verbs of the store, reloads. While stamps are not kept a run has none, and noting costs one test.
 *
 * Invariant: a stamp may be later than the moment of the write, never earlier.
 *
 * Not here: the values before a write.
 */
#ifndef HOST_STORE_STAMPS_H
#define HOST_STORE_STAMPS_H

#include "../base/base.h"

typedef struct stamps_t {
    const uint64_t *now; /* the world's present moment */
    uint32_t columns;    /* for which there is room */
    uint32_t room;       /* blocks of each of them */
    uint64_t *whole;     /* of each column; behind this struct, and behind it ... */
    uint64_t *blocks;    /* ... `room` of each column, one column after another */
} stamps_t;

/* Stamps that count all values as written now. NULL when out of memory. */
stamps_t *stamps_create(memory_t *memory, uint32_t columns, uint32_t rows, const uint64_t *now);
void stamps_free(stamps_t *stamps, memory_t *memory);

/* The bytes that stamps take; NULL is allowed. */
size_t stamps_bytes(const stamps_t *stamps);

/* Make room for so many columns and rows. False when out of memory: all is as it was. NULL is allowed, and stays. */
bool stamps_reserve(stamps_t **stamps, memory_t *memory, uint32_t columns, uint32_t rows);

static inline uint32_t stamps_block_count(uint32_t rows)
{
    return rows == 0 ? 0 : (rows - 1) / BP_STAMP_ROWS + 1;
}

static inline uint64_t *stamps_blocks(const stamps_t *stamps, uint32_t column)
{
    return stamps->blocks + (size_t)column * stamps->room;
}

/* Rows of a column have been written now. `stamps` may be NULL. */
static inline void stamps_note(const stamps_t *stamps, uint32_t column, uint32_t first, uint32_t count)
{
    if (stamps == NULL || count == 0)
        return;
    uint64_t *blocks = stamps_blocks(stamps, column);
    for (uint32_t block = first / BP_STAMP_ROWS; block <= (first + count - 1) / BP_STAMP_ROWS; block++)
        blocks[block] = *stamps->now;
}

/* Rows have got other entities, or none. */
static inline void stamps_note_rows(const stamps_t *stamps, uint32_t first, uint32_t count)
{
    stamps_note(stamps, 0, first, count);
}

/* All columns have been written, or have been replaced by other columns. */
static inline void stamps_note_all(const stamps_t *stamps)
{
    if (stamps != NULL)
        stamps->whole[0] = *stamps->now;
}

/* When a block of a column was written last. */
static inline uint64_t stamps_of_block(const stamps_t *stamps, uint32_t column, uint32_t block)
{
    uint64_t stamp = stamps->whole[0], of[3] = {stamps->whole[column], stamps->blocks[block],
                                                stamps_blocks(stamps, column)[block]};
    for (uint32_t i = 0; i < 3; i++)
        stamp = of[i] > stamp ? of[i] : stamp;
    return stamp;
}

/* Rows from `row` on, of the first `end`, in blocks in which one of `columns` was written after the moment `since`, or
 * the entities changed after that moment. Returns the first such row, and in *count how many such rows follow each
 * other; BP_NONE where there are none. Without columns only rows with changed entities are found. */
uint32_t stamps_next(const stamps_t *stamps, const uint16_t *columns, uint32_t column_count, uint64_t since,
                     uint32_t row, uint32_t end, uint32_t *count);

/* --- slots ------------------------------------------------------------------------------------------------------- */

/* Stamps of the instances of a manager with storage of its own, by slot. */
typedef struct slot_stamps_t {
    uint64_t latest;   /* of all */
    uint64_t rest;     /* of slots behind the last block */
    uint64_t *blocks;
    uint32_t count, room;
    uint32_t users;    /* how many users ask for these stamps; 0: no stamps are kept */
} slot_stamps_t;

/* Slots have been written at the moment `now`; does nothing where stamps are not kept. Cannot fail: without memory for
 * more blocks all slots behind the last one are stamped. */
void slot_stamps_note(slot_stamps_t *stamps, memory_t *memory, const uint32_t *slots, uint32_t count, uint64_t now);
void slot_stamps_note_range(slot_stamps_t *stamps, memory_t *memory, uint32_t first, uint32_t count, uint64_t now);
void slot_stamps_note_all(slot_stamps_t *stamps, uint64_t now);
void slot_stamps_free(slot_stamps_t *stamps, memory_t *memory);
static inline size_t slot_stamps_bytes(const slot_stamps_t *stamps)
{
    return stamps->room * sizeof *stamps->blocks;
}

#endif
