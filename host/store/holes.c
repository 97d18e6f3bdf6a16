/* holes.c - the words of bits and the two levels above them. */
#include "holes.h"

static uint32_t words_of(uint32_t bits)
{
    return bits / 64 + (bits % 64 != 0);
}

/* Where the words of each level begin, for so many rows. Returns how many words there are in all. */
static uint32_t lay_out(uint32_t rows, uint32_t level[HOLES_LEVELS])
{
    uint32_t words = 0;
    for (uint32_t l = 0; l < HOLES_LEVELS; l++) {
        level[l] = words;
        rows = words_of(rows);
        words += rows;
    }
    return words;
}

static size_t words_bytes(const holes_t *holes)
{
    uint32_t level[HOLES_LEVELS];
    return lay_out(holes->rows, level) * sizeof *holes->words;
}

/* Make the levels above the lowest from the lowest. */
static void make_levels(holes_t *holes)
{
    for (uint32_t l = 1, words = words_of(holes->rows); l < HOLES_LEVELS; l++, words = words_of(words)) {
        const uint64_t *below = holes->words + holes->level[l - 1];
        uint64_t *above = holes->words + holes->level[l];
        for (uint32_t i = 0; i < words; i++)
            above[i / 64] |= (uint64_t)(below[i] != 0) << i % 64;
    }
}

bool holes_resize(holes_t *holes, memory_t *memory, uint32_t rows)
{
    uint64_t wanted = ((uint64_t)rows + 63) / 64 * 64;
    holes_t next = {.rows = wanted > UINT32_MAX ? UINT32_MAX / 64 * 64 : (uint32_t)(wanted == 0 ? HOLES_FEW : wanted)};
    if (next.rows == holes->rows)
        return true;
    const uint64_t *old = holes->rows == 0 ? &holes->few : holes->words;
    uint32_t words = lay_out(next.rows, next.level), kept = words_of(holes->rows < next.rows ? holes->rows : next.rows);
    if (next.rows <= HOLES_FEW) {
        next.few = kept == 0 ? 0 : old[0];
    } else {
        next.words = memory_new(memory, words * sizeof *next.words);
        if (next.words == NULL)
            return false;
        memcpy(next.words, old, kept * sizeof *old);
        make_levels(&next);
    }
    holes_free(holes, memory);
    *holes = next; /* `lowest` is 0 */
    if (next.rows <= HOLES_FEW)
        holes->words = &holes->few;
    return true;
}

void holes_free(holes_t *holes, memory_t *memory)
{
    if (holes->rows > HOLES_FEW)
        memory_free(memory, holes->words, words_bytes(holes));
    memset(holes, 0, sizeof *holes);
}

void holes_clear(holes_t *holes, uint32_t rows)
{
    holes->few = 0;
    for (uint32_t l = 0; l < HOLES_LEVELS && holes->rows > HOLES_FEW; l++) {
        rows = words_of(rows);
        memset(holes->words + holes->level[l], 0, rows * sizeof *holes->words);
    }
}

/* Call WHAT with `word` and `mask` for each word that has bits of rows `first` to `end` - 1. */
#define EACH_WORD(WHAT)                                                                                    \
    while (first < end) {                                                                                  \
        uint32_t in_word = 64 - first % 64, count = end - first < in_word ? end - first : in_word;         \
        uint64_t mask = count == 64 ? UINT64_MAX : ((UINT64_C(1) << count) - 1) << first % 64;             \
        uint64_t *word = holes_word(holes, first);                                                         \
        WHAT                                                                                               \
        first += count;                                                                                    \
    }

void holes_drop(holes_t *holes, uint32_t first, uint32_t end)
{
    EACH_WORD(*word &= ~mask;)
}

void holes_fill(holes_t *holes, uint32_t first, uint32_t end)
{
    holes->lowest = first < holes->lowest ? first : holes->lowest;
    EACH_WORD(
        if (*word == 0 && holes->rows > HOLES_FEW)
            holes_note(holes, first);
        *word |= mask;)
}

void holes_note(holes_t *holes, uint32_t row)
{
    uint32_t bit = row / 64;
    for (uint32_t l = 1; l < HOLES_LEVELS; l++, bit /= 64) {
        uint64_t *word = holes->words + holes->level[l] + bit / 64, before = *word;
        *word = before | UINT64_C(1) << bit % 64;
        if (before != 0)
            return;
    }
}

/* --- looking ------------------------------------------------------------------------------------------------------ */

/* The first bit that is 1 in a word from bit `from` on; 64 where there is none. */
static uint32_t bit_from(uint64_t word, uint32_t from)
{
    word &= UINT64_MAX << from;
    return word == 0 ? 64 : lowest_bit(word);
}

uint32_t holes_next(const holes_t *holes, uint32_t row)
{
    if (holes->rows <= HOLES_FEW) {
        uint32_t found = row < holes->rows ? bit_from(holes->few, row) : 64;
        return found == 64 ? BP_NONE : found;
    }
    const uint32_t bits[HOLES_LEVELS] = {holes->rows, words_of(holes->rows), words_of(words_of(holes->rows))};
    uint32_t l = 0, bit = row;
    while (bit < bits[l]) {
        uint64_t *word = holes->words + holes->level[l] + bit / 64;
        uint32_t found = bit_from(*word, bit % 64);
        uint32_t at = bit / 64 * 64 + found;
        if (found < 64 && l == 0)
            return at;
        if (found < 64 && holes->words[holes->level[l - 1] + at] == 0) {
            *word &= ~(UINT64_C(1) << found); /* the word below has become 0 meanwhile */
        } else if (found < 64) { /* down */
            l--;
            bit = at * 64;
        } else if (l + 1 < HOLES_LEVELS) { /* up */
            l++;
            bit = bit / 64 + 1;
        } else {
            bit = (bit / 64 + 1) * 64;
        }
    }
    return BP_NONE;
}

uint32_t holes_last_filled(const holes_t *holes, uint32_t end)
{
    const uint64_t *words = holes->words;
    for (; end > 0; end = (end - 1) / 64 * 64) {
        uint32_t at = (end - 1) / 64, last = (end - 1) % 64;
        uint64_t filled = ~words[at] & (UINT64_MAX >> (63 - last));
        if (filled != 0)
            return at * 64 + highest_bit(filled);
    }
    return BP_NONE;
}

uint32_t holes_stretch(const holes_t *holes, uint32_t row, uint32_t most)
{
    const uint64_t *words = holes->words;
    uint32_t count = 0;
    while (count < most && row + count < holes->rows) {
        uint32_t at = (row + count) % 64;
        uint64_t filled = ~words[(row + count) / 64] >> at;
        uint32_t together = filled == 0 ? 64 - at : lowest_bit(filled);
        count += together;
        if (together < 64 - at)
            break;
    }
    return count < most ? count : most;
}
