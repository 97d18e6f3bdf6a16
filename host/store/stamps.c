/* stamps.c - memory of stamps, and the search for what was written after a moment.
 *
 * Measured (bench stamps): blocks of 128 rows make 62 KB of stamps for a column of a million rows, which the search
 * goes through in a few microseconds: SCAN blocks at a time, without a branch for each. `since - stamp` has its highest
 * bit where the stamp is later: moments stay far below 2^63.
 */
#include "stamps.h"

enum { SCAN = 16 };

static size_t bytes_of(uint32_t columns, uint32_t room)
{
    return sizeof(stamps_t) + ((size_t)columns + (size_t)columns * room) * sizeof(uint64_t);
}

static stamps_t *allocate(memory_t *memory, uint32_t columns, uint32_t rows, const uint64_t *now)
{
    uint32_t room = stamps_block_count(rows);
    stamps_t *stamps = memory_resize_cleared(memory, NULL, 0, bytes_of(columns, room));
    if (stamps == NULL)
        return NULL;
    *stamps = (stamps_t){.now = now, .columns = columns, .room = room};
    stamps->whole = (uint64_t *)(void *)(stamps + 1);
    stamps->blocks = stamps->whole + columns;
    return stamps;
}

stamps_t *stamps_create(memory_t *memory, uint32_t columns, uint32_t rows, const uint64_t *now)
{
    stamps_t *stamps = allocate(memory, columns, rows, now);
    stamps_note_all(stamps);
    return stamps;
}

size_t stamps_bytes(const stamps_t *stamps)
{
    return stamps == NULL ? 0 : bytes_of(stamps->columns, stamps->room);
}

void stamps_free(stamps_t *stamps, memory_t *memory)
{
    memory_free(memory, stamps, stamps_bytes(stamps));
}

bool stamps_reserve(stamps_t **stamps, memory_t *memory, uint32_t columns, uint32_t rows)
{
    stamps_t *old = *stamps;
    if (old == NULL || (columns <= old->columns && stamps_block_count(rows) <= old->room))
        return true;
    uint32_t room_rows = rows > old->room * BP_STAMP_ROWS ? rows : old->room * BP_STAMP_ROWS;
    stamps_t *more = allocate(memory, columns > old->columns ? columns : old->columns, room_rows, old->now);
    if (more == NULL)
        return false;
    memcpy(more->whole, old->whole, old->columns * sizeof *old->whole);
    for (uint32_t c = 0; c < old->columns; c++)
        memcpy(stamps_blocks(more, c), stamps_blocks(old, c), old->room * sizeof *old->blocks);
    stamps_free(old, memory);
    *stamps = more;
    return true;
}

/* --- searching --------------------------------------------------------------------------------------------------- */

static bool is_later(const stamps_t *stamps, const uint16_t *columns, uint32_t column_count, uint64_t since,
                     uint32_t block)
{
    uint64_t later = since - stamps->blocks[block];
    for (uint32_t i = 0; i < column_count; i++)
        later |= since - stamps_blocks(stamps, columns[i])[block];
    return later >> 63 != 0;
}

/* Was one of SCAN blocks of a column written after `since`? */
static inline bool any_later(const uint64_t *blocks, uint64_t since)
{
    uint64_t later = 0;
    for (uint32_t i = 0; i < SCAN; i++)
        later |= since - blocks[i];
    return later >> 63 != 0;
}

/* The first block from `block` on that was written after `since`; `end` where there is none. */
static uint32_t find_later(const stamps_t *stamps, const uint16_t *columns, uint32_t column_count, uint64_t since,
                           uint32_t block, uint32_t end)
{
    while (block < end) {
        bool found = end - block < SCAN || any_later(stamps->blocks + block, since);
        for (uint32_t i = 0; i < column_count && !found; i++)
            found = any_later(stamps_blocks(stamps, columns[i]) + block, since);
        for (uint32_t i = 0; found && i < SCAN && block + i < end; i++) {
            if (is_later(stamps, columns, column_count, since, block + i))
                return block + i;
        }
        block = end - block < SCAN ? end : block + SCAN;
    }
    return end;
}

uint32_t stamps_next(const stamps_t *stamps, const uint16_t *columns, uint32_t column_count, uint64_t since,
                     uint32_t row, uint32_t end, uint32_t *count)
{
    if (row >= end)
        return BP_NONE;
    uint64_t whole = since - stamps->whole[0];
    for (uint32_t i = 0; i < column_count; i++)
        whole |= since - stamps->whole[columns[i]];
    *count = end - row;
    if (whole >> 63 != 0)
        return row;
    uint32_t blocks = stamps_block_count(end);
    uint32_t first = find_later(stamps, columns, column_count, since, row / BP_STAMP_ROWS, blocks), last = first;
    if (first == blocks)
        return BP_NONE;
    while (last < blocks && is_later(stamps, columns, column_count, since, last))
        last++;
    row = row > first * BP_STAMP_ROWS ? row : first * BP_STAMP_ROWS;
    *count = (last == blocks ? end : last * BP_STAMP_ROWS) - row;
    return row;
}

/* --- slots ------------------------------------------------------------------------------------------------------- */

/* Stamps of blocks up to that of `slot`, so far as there is memory for them. */
static bool need_block(slot_stamps_t *stamps, memory_t *memory, uint32_t slot, uint64_t now)
{
    uint32_t block = slot / BP_STAMP_ROWS;
    if (block < stamps->count)
        return true;
    if (!memory_reserve(memory, &stamps->blocks, &stamps->room, block + 1u, sizeof *stamps->blocks)) {
        stamps->rest = now;
        return false;
    }
    for (; stamps->count <= block; stamps->count++)
        stamps->blocks[stamps->count] = stamps->rest;
    return true;
}

void slot_stamps_note(slot_stamps_t *stamps, memory_t *memory, const uint32_t *slots, uint32_t count, uint64_t now)
{
    for (uint32_t i = 0; i < count && stamps->users > 0; i++) {
        if (need_block(stamps, memory, slots[i], now))
            stamps->blocks[slots[i] / BP_STAMP_ROWS] = now;
    }
    if (count > 0)
        stamps->latest = now;
}

void slot_stamps_note_range(slot_stamps_t *stamps, memory_t *memory, uint32_t first, uint32_t count, uint64_t now)
{
    if (stamps->users == 0 || count == 0)
        return;
    uint32_t last = (first + count - 1) / BP_STAMP_ROWS;
    need_block(stamps, memory, first + count - 1, now);
    for (uint32_t block = first / BP_STAMP_ROWS; block <= last && block < stamps->count; block++)
        stamps->blocks[block] = now;
    stamps->latest = now;
}

void slot_stamps_note_all(slot_stamps_t *stamps, uint64_t now)
{
    for (uint32_t i = 0; i < stamps->count; i++)
        stamps->blocks[i] = now;
    stamps->latest = stamps->rest = now;
}

void slot_stamps_free(slot_stamps_t *stamps, memory_t *memory)
{
    memory_free(memory, stamps->blocks, slot_stamps_bytes(stamps));
    *stamps = (slot_stamps_t){0};
}
