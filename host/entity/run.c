/* run.c - how the memory of a run is laid out and grows.
 *
 * Measured choices (bench/, docs/store.md): a run starts with one row and doubles; below RUN_SPLIT_BYTES its columns
 * share one block, which is copied when it grows; above, each column is a block of its own, and since large blocks
 * are pages (memory.h) doubling one remaps its pages and touches none. Columns of different runs and fields begin at
 * different places within a page, so that a loop over several columns does not have them fight for the same cache
 * sets.
 *
 * Invariants: columns[c] points into the block of column c (or the shared block) with room for `capacity` values
 * and is aligned as bp_run_t promises; a failed growth leaves every column where it was, with as much room at least.
 */
#include "run_inner.h"

static const field_t entity_field = {.name = "entity", .type = BP_ENTITY, .size = 8, .initial_is_zero = true};

enum { LINE = 64, STAGGER_LINES = 5 };

static size_t align_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

run_t *run_create(memory_t *memory, uint32_t prototype, const field_t *const *fields, uint32_t column_count, uint16_t flags)
{
    size_t size = sizeof(run_t) + column_count * RUN_COLUMN_BYTES;
    run_t *run = memory_new(memory, size);
    if (run == NULL)
        return NULL;
    run->prototype = prototype;
    run->column_count = (uint16_t)column_count;
    run->flags = flags;
    run->version = 1;
    run->columns = (void **)(run + 1);
    run->fields = (const field_t **)(run->columns + column_count);
    run->sizes = (uint8_t *)(run->fields + column_count);
    run->inline_room = (uint16_t)column_count;
    run->fields[0] = &entity_field;
    for (uint32_t c = 1; c < column_count; c++)
        run->fields[c] = fields[c - 1];
    run_describe(run);
    return run;
}

void run_describe(run_t *run)
{
    run->plain = true;
    run->has_strings = false;
    for (uint32_t c = 0; c < run->column_count; c++) {
        run->sizes[c] = (uint8_t)run->fields[c]->size;
        run->plain = run->plain && run->fields[c]->type != BP_STRING && run->sizes[c] <= 16;
        run->has_strings = run->has_strings || run->fields[c]->type == BP_STRING;
    }
}

static uint32_t block_count(const run_t *run)
{
    return run->split ? run->column_count : 1;
}

static void free_blocks(memory_t *memory, run_block_t *blocks, uint32_t count, uint32_t room)
{
    if (blocks == NULL)
        return;
    for (uint32_t i = 0; i < count; i++)
        memory_free(memory, blocks[i].start, blocks[i].size);
    memory_free(memory, blocks, room * sizeof *blocks);
}

void run_free(run_t *run, memory_t *memory, strings_t *strings)
{
    if (run == NULL)
        return;
    for (uint32_t row = 0; row < run->count; row++)
        run_release_strings(run, 1, run->column_count, row, strings);
    free_blocks(memory, run->blocks, block_count(run), run->block_room);
    memory_free(memory, run->body, run->body_room * RUN_COLUMN_BYTES);
    memory_free(memory, run, sizeof(run_t) + run->inline_room * RUN_COLUMN_BYTES);
}

/* --- growth of small runs: one block for all columns ------------------------------------------------------------- */

char *run_shared_start(char *block, uint32_t capacity)
{
    return capacity >= RUN_ALIGNED_ROWS ? (char *)align_up((size_t)(uintptr_t)block, LINE) : block;
}

size_t run_column_bytes(const run_t *run, uint32_t column, uint32_t capacity)
{
    return align_up((size_t)run->sizes[column] * capacity + RUN_SLACK_BYTES, capacity >= RUN_ALIGNED_ROWS ? LINE : 16);
}

size_t run_shared_bytes(const run_t *run, uint32_t capacity)
{
    size_t bytes = capacity >= RUN_ALIGNED_ROWS ? LINE : 0;
    for (uint32_t c = 0; c < run->column_count; c++)
        bytes += run_column_bytes(run, c, capacity);
    return bytes;
}

static bool resize_shared(run_t *run, memory_t *memory, uint32_t capacity)
{
    size_t size = run_shared_bytes(run, capacity);
    run_block_t *blocks = run->blocks != NULL ? run->blocks : memory_new(memory, sizeof *blocks);
    char *block = blocks == NULL ? NULL : memory_resize(memory, NULL, 0, size);
    if (block == NULL) {
        if (run->blocks == NULL)
            memory_free(memory, blocks, sizeof *blocks);
        return false;
    }
    char *at = run_shared_start(block, capacity);
    for (uint32_t c = 0; c < run->column_count; c++) {
        if (run->count > 0)
            memcpy(at, run->columns[c], (size_t)run->count * run->sizes[c]);
        run->columns[c] = at;
        at += run_column_bytes(run, c, capacity);
    }
    memory_free(memory, blocks->start, blocks->size);
    *blocks = (run_block_t){block, size};
    run->block_room = run->blocks == NULL ? 1 : run->block_room;
    run->blocks = blocks;
    run->capacity = capacity;
    return true;
}

/* --- growth of large runs: a block for each column ---------------------------------------------------------------- */

/* Where in its block a column begins: on a line of its own, and not where its neighbours begin. */
char *run_place(const run_t *run, uint32_t column, char *block)
{
    size_t lines = (run->prototype * 7u + column) * STAGGER_LINES % LINE;
    return (char *)align_up((size_t)(uintptr_t)block, LINE) + lines * LINE;
}

size_t run_split_bytes(const run_t *run, uint32_t column, uint32_t capacity)
{
    return (size_t)run->sizes[column] * capacity + LINE * (LINE + 1);
}

static bool resize_column(run_t *run, memory_t *memory, uint32_t column, uint32_t capacity)
{
    run_block_t *block = &run->blocks[column];
    size_t size = run_split_bytes(run, column, capacity);
    size_t offset = (size_t)((char *)run->columns[column] - block->start);
    char *start = memory_resize(memory, block->start, block->size, size);
    if (start == NULL)
        return false;
    *block = (run_block_t){start, size};
    run->columns[column] = run_place(run, column, start);
    /* Another allocator may align differently than before. */
    if (run->columns[column] != start + offset)
        memmove(run->columns[column], start + offset, (size_t)run->count * run->sizes[column]);
    return true;
}

/* From one block to a block each. */
static bool split(run_t *run, memory_t *memory, uint32_t capacity)
{
    run_block_t *blocks = memory_new(memory, run->column_count * sizeof *blocks);
    if (blocks == NULL)
        return false;
    for (uint32_t c = 0; c < run->column_count; c++) {
        size_t size = run_split_bytes(run, c, capacity);
        blocks[c] = (run_block_t){memory_resize(memory, NULL, 0, size), size};
        if (blocks[c].start == NULL) {
            blocks[c].size = 0;
            free_blocks(memory, blocks, run->column_count, run->column_count);
            return false;
        }
    }
    for (uint32_t c = 0; c < run->column_count; c++) {
        char *at = run_place(run, c, blocks[c].start);
        if (run->count > 0)
            memcpy(at, run->columns[c], (size_t)run->count * run->sizes[c]);
        run->columns[c] = at;
    }
    free_blocks(memory, run->blocks, block_count(run), run->block_room);
    run->blocks = blocks;
    run->block_room = run->column_count;
    run->split = true;
    run->capacity = capacity;
    return true;
}

static bool resize(run_t *run, memory_t *memory, uint32_t capacity)
{
    run->version++;
    if (!run->split && run_shared_bytes(run, capacity) <= RUN_SPLIT_BYTES)
        return resize_shared(run, memory, capacity);
    if (!run->split)
        return split(run, memory, capacity);
    for (uint32_t c = 0; c < run->column_count; c++) {
        if (!resize_column(run, memory, c, capacity))
            return false;
    }
    run->capacity = capacity;
    return true;
}

bool run_reserve(run_t *run, memory_t *memory, uint32_t more)
{
    uint64_t needed = (uint64_t)run->count + more;
    if (needed <= run->capacity)
        return true;
    if (needed > UINT32_MAX / 2)
        return false;
    uint64_t capacity = (uint64_t)run->capacity * 2;
    return resize(run, memory, (uint32_t)(capacity < needed ? needed : capacity));
}

void run_trim(run_t *run, memory_t *memory)
{
    if (run->count == 0 && run->blocks != NULL) {
        free_blocks(memory, run->blocks, block_count(run), run->block_room);
        run->blocks = NULL;
        run->block_room = 0;
        run->split = false;
        run->capacity = 0;
        run->version++;
        memset(run->columns, 0, run->column_count * sizeof *run->columns);
    } else if (run->count < run->capacity / 4) {
        /* Less first: where shrinking fails, a column merely keeps more room than the run uses. */
        run->capacity = run->count * 2;
        resize(run, memory, run->capacity);
    }
}

/* --- rows ------------------------------------------------------------------------------------------------------------ */

#define FILL(type)                                  \
    do {                                            \
        type value_, *to_ = (type *)(void *)cells;  \
        memcpy(&value_, value, sizeof value_);      \
        for (uint32_t i = 0; i < count; i++)        \
            to_[i] = value_;                        \
    } while (0)

static void fill_cells(char *cells, const void *value, uint32_t size, uint32_t count)
{
    switch (size) {
    case 1: memset(cells, *(const unsigned char *)value, count); break;
    case 4: FILL(uint32_t); break;
    case 8: FILL(uint64_t); break;
    case 12: FILL(bp_vec3_t); break;
    case 16: FILL(bp_vec4_t); break;
    default:
        for (uint32_t i = 0; i < count; i++)
            memcpy(cells + (size_t)i * size, value, size);
        break;
    }
}

/* One row: the calls and loops of the general case would cost more than the row. */
static void fill_row(run_t *run, uint32_t first_column, uint32_t last_column, uint32_t row)
{
    for (uint32_t c = first_column; c < last_column; c++) {
        value_copy(run_cell(run, c, row), &run->fields[c]->initial, run->sizes[c]);
        if (run->fields[c]->type == BP_STRING)
            strings_retain(run->fields[c]->initial.string, 1);
    }
}

void run_fill(run_t *run, uint32_t first_column, uint32_t last_column, uint32_t first, uint32_t count)
{
    if (count == 1) {
        fill_row(run, first_column, last_column, first);
        return;
    }
    for (uint32_t c = first_column; c < last_column; c++) {
        const field_t *field = run->fields[c];
        char *cells = run_cell(run, c, first);
        if (field->initial_is_zero)
            memset(cells, 0, (size_t)field->size * count);
        else
            fill_cells(cells, &field->initial, field->size, count);
        if (field->type == BP_STRING)
            strings_retain(field->initial.string, count);
    }
}

void run_fill_with(run_t *run, uint32_t column, uint32_t first, uint32_t count, const void *value)
{
    fill_cells(run_cell(run, column, first), value, run->sizes[column], count);
}

void run_release_strings(run_t *run, uint32_t first_column, uint32_t last_column, uint32_t row, strings_t *strings)
{
    for (uint32_t c = first_column; c < last_column; c++) {
        if (run->fields[c]->type == BP_STRING) {
            const char **cell = run_cell(run, c, row);
            strings_release(strings, *cell);
        }
    }
}

void run_erase(run_t *run, uint32_t row)
{
    uint32_t last = --run->count;
    run->version++;
    if (row != last)
        run_copy_row(run, 0, last, run, 0, row, run->column_count);
}

/* Without a branch for each, which makes it wide: a row differs in some bit; a hole lacks the lowest bit of a generation, which
 * is odd for whoever lives. */
static bool lie_there(const bp_entity_t *rows, const bp_entity_t *entities)
{
    uint64_t different = 0, common = UINT64_MAX;
    for (uint32_t i = 0; i < RUN_LONG_STRETCH; i++) {
        different |= rows[i].id ^ entities[i].id;
        common &= rows[i].id;
    }
    return different == 0 && (common >> 32 & 1) != 0;
}

uint32_t run_long_stretch(const run_t *run, uint32_t row, const bp_entity_t *entities, uint32_t count, uint32_t known)
{
    const bp_entity_t *rows = run_entities(run) + row;
    while (count - known >= RUN_LONG_STRETCH && lie_there(rows + known, entities + known))
        known += RUN_LONG_STRETCH;
    while (known < count && rows[known].id == entities[known].id && rows[known].id != 0)
        known++;
    return known;
}
