/* holes.h - the holes of a run: rows that no entity is in any more.
 *
 * A bit a row. Above the words of bits lies a bit for each word that is not 0, and above these words once more: so the
 * lowest hole of ten million rows is three words away, and holes that lie close together are found one after another.
 *
 *     rows       0..63      64..127    128..191 ...
 *     words[0]   0          1000..     0              row 64 is a hole
 *     words[1]   bit 1                                word 1 is not 0
 *     words[2]   bit 0
 *
 * Up to 64 rows need no memory of their own, since most runs are small: `words` is then the address of `few`.
 *
 * Invariants: bits of rows behind the last row of the run are 0; a bit of a level is 1 wherever the word below is not
 * 0. The bit may still be 1 where the word has become 0: the next search for a hole clears such a bit, so that a row
 * which becomes a hole and is filled again and again costs one word.
 *
 * Not here: the rows themselves (run.h), the number of holes (run_t.holes).
 */
#ifndef HOST_STORE_HOLES_H
#define HOST_STORE_HOLES_H

#include "../base/base.h"

enum { HOLES_LEVELS = 3, HOLES_FEW = 64 };

typedef struct holes_t {
    uint64_t *words;              /* of all levels, the lowest first; up to HOLES_FEW rows &few; NULL: no rows yet */
    uint64_t few;
    uint32_t rows;                /* for which there are bits: a multiple of 64 */
    uint32_t lowest;              /* no row below is a hole */
    uint32_t level[HOLES_LEVELS]; /* where the words of each level begin */
} holes_t;

/* Bits for `rows` rows, more or fewer than there are now; those of rows that go are 0. False when out of memory:
 * nothing has changed. [main] */
bool holes_resize(holes_t *holes, memory_t *memory, uint32_t rows);
void holes_free(holes_t *holes, memory_t *memory);

/* No row below `rows` is a hole any more. */
void holes_clear(holes_t *holes, uint32_t rows);

/* Rows from `first` to `end` - 1 are no holes any more. */
void holes_drop(holes_t *holes, uint32_t first, uint32_t end);

/* Rows from `first` to `end` - 1, none of them a hole, become holes. */
void holes_fill(holes_t *holes, uint32_t first, uint32_t end);

/* The first hole at `row` or behind it; BP_NONE where there is none. [main] */
uint32_t holes_next(const holes_t *holes, uint32_t row);

/* The next hole after `row`, which is a hole itself; the next one is mostly near. */
static inline uint32_t holes_following(const holes_t *holes, uint32_t row)
{
    uint64_t behind = holes->words[row / 64] >> row % 64 >> 1;
    return behind != 0 ? row + 1 + lowest_bit(behind) : holes_next(holes, row + 1);
}

/* The last row below `end` that is no hole; BP_NONE where all are. */
uint32_t holes_last_filled(const holes_t *holes, uint32_t end);

/* Holes from `row` on that lie together, `row` among them: `most` of them at most. */
uint32_t holes_stretch(const holes_t *holes, uint32_t row, uint32_t most);

static inline uint64_t *holes_word(holes_t *holes, uint32_t row)
{
    return &holes->words[row / 64];
}

/* Set the bits of `row` in the levels above, since the word of `row` is 0 no more. */
void holes_note(holes_t *holes, uint32_t row);

/* `row` becomes a hole, which it was not. */
static inline void holes_add(holes_t *holes, uint32_t row)
{
    uint64_t *words = holes->words, before = words[row / 64];
    if (row < holes->lowest)
        holes->lowest = row;
    words[row / 64] = before | UINT64_C(1) << row % 64;
    if (before == 0 && holes->rows > HOLES_FEW &&
        (words[holes->level[1] + row / 64 / 64] >> row / 64 % 64 & 1) == 0)
        holes_note(holes, row);
}

/* `row`, which is a hole, becomes none. */
static inline void holes_remove(holes_t *holes, uint32_t row)
{
    *holes_word(holes, row) &= ~(UINT64_C(1) << row % 64);
}

/* Is the row at `lowest` a hole, so that no search is needed for the lowest one? */
static inline bool holes_know_lowest(const holes_t *holes)
{
    return (holes->words[holes->lowest / 64] >> holes->lowest % 64 & 1) != 0;
}

/* The hole at `lowest` becomes none. */
static inline uint32_t holes_take_known(holes_t *holes)
{
    uint32_t row = holes->lowest;
    holes_remove(holes, row);
    holes->lowest = row + 1 < holes->rows ? row + 1 : row;
    return row;
}

/* Where there is a hole, let `lowest` be the lowest one. */
static inline void holes_find_lowest(holes_t *holes)
{
    if (!holes_know_lowest(holes))
        holes->lowest = holes_next(holes, holes->lowest);
}

/* The lowest hole, where there is one, becomes none. */
static inline uint32_t holes_take(holes_t *holes)
{
    holes_find_lowest(holes);
    return holes_take_known(holes);
}

#endif
