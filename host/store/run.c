/* run.c - how the memory of a run is laid out and grows.
 *
 * Measured choices (bench/, docs/store.md): a run starts with one row and doubles, or grows by less where there are
 * many of some ten KiB; below RUN_SPLIT_BYTES its columns share one block, in which they are moved apart when it grows;
 * above, each column is a block of its own, and since large blocks are pages (base/memory.h) growing one remaps its
 * pages and touches none. Columns of different runs and fields begin at different places within a page, so that a loop
 * over several columns does not have them fight for the same cache sets.
 *
 * Invariants: columns[c] points into the block of column c (or the shared block) with room for `capacity` values
 * and is aligned as bp_run_t promises; a failed growth leaves every column where it was, with as much room at least.
 */
#include "run_inner.h"

#include "../os/os.h"

static const field_t entity_field = {.name = "entity", .type = BP_ENTITY, .size = 8, .initial_is_zero = true};

enum { STAGGER_LINES = 5, FEW_LINES = 8 };

static size_t align_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* Columns and sizes lie side by side, since they are read together. */
void run_lay_out(run_t *run, void *body, uint32_t column_count)
{
    run->fields = body;
    run->columns = (void **)(void *)(run->fields + column_count);
    run->sizes = (uint32_t *)(void *)(run->columns + column_count);
}

run_t *run_create(memory_t *memory, uint32_t prototype, const field_t *const *fields, uint32_t column_count,
                  uint16_t flags)
{
    size_t size = sizeof(run_t) + column_count * RUN_COLUMN_BYTES;
    run_t *run = memory_new(memory, size);
    if (run == NULL)
        return NULL;
    run->prototype = prototype;
    run->column_count = (uint16_t)column_count;
    run->flags = flags;
    run->version = 1;
    run_lay_out(run, run + 1, column_count);
    run->inline_room = (uint16_t)column_count;
    run->fields[0] = &entity_field;
    for (uint32_t c = 1; c < column_count; c++)
        run->fields[c] = fields[c - 1];
    run_describe(run);
    return run;
}

/* May the 16 bytes at `initial` be copied as the default, and 16 bytes of a cell as the cell? */
static bool is_plain(const field_t *field)
{
    return !field_is_counted(field) && field->size <= 16 && (field->elements == 0 || field->initial_is_zero);
}

void run_describe(run_t *run)
{
    run->plain = run->stamps == NULL;
    run->has_counted = false;
    for (uint32_t c = 0; c < run->column_count; c++) {
        run->sizes[c] = run->fields[c]->size;
        run->plain = run->plain && is_plain(run->fields[c]);
        run->has_counted = run->has_counted || field_is_counted(run->fields[c]);
    }
    run_set_signature(run, run->signature);
}

bool run_keep_stamps(run_t *run, memory_t *memory, const uint64_t *now)
{
    run->stamps = stamps_create(memory, run->column_count, run->capacity, now);
    run_describe(run);
    return run->stamps != NULL;
}

void run_drop_stamps(run_t *run, memory_t *memory)
{
    stamps_free(run->stamps, memory);
    run->stamps = NULL;
    run_describe(run);
}

bool run_match_stamps(run_t *run, memory_t *memory, const uint64_t *now)
{
    if (now == NULL) {
        run_drop_stamps(run, memory);
        return true;
    }
    return run->stamps == NULL ? run_keep_stamps(run, memory, now)
                               : stamps_reserve(&run->stamps, memory, run->column_count, run->capacity);
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
        superblocks_free_block(memory, blocks[i].start, blocks[i].size);
    memory_free(memory, blocks, room * sizeof *blocks);
}

void run_free(run_t *run, memory_t *memory, const holdings_t *holdings)
{
    if (run == NULL)
        return;
    if (run->count > 0) /* an empty run may have left its world before a reload: its fields are gone then */
        run_release(run, 1, run->column_count, 0, run->count, holdings);
    free_blocks(memory, run->blocks, block_count(run), run->block_room);
    holes_free(&run->hole_set, memory);
    stamps_free(run->stamps, memory);
    memory_free(memory, run->body, run->body_room * RUN_COLUMN_BYTES);
    memory_free(memory, run, sizeof(run_t) + run->inline_room * RUN_COLUMN_BYTES);
}

/* --- growth of small runs: one block for all columns ------------------------------------------------------------- */

char *run_shared_start(char *block, uint32_t capacity)
{
    return capacity >= RUN_ALIGNED_ROWS ? (char *)align_up((size_t)(uintptr_t)block, RUN_LINE) : block;
}

size_t run_column_bytes(const run_t *run, uint32_t column, uint32_t capacity)
{
    return align_up(run_cells_bytes(run->sizes[column], capacity), capacity >= RUN_ALIGNED_ROWS ? RUN_LINE : 16);
}

size_t run_shared_bytes(const run_t *run, uint32_t capacity)
{
    size_t bytes = capacity >= RUN_ALIGNED_ROWS ? RUN_LINE : 0;
    for (uint32_t c = 0; c < run->column_count; c++)
        bytes += run_column_bytes(run, c, capacity);
    return bytes;
}

/* Move the rows to one block that all columns share, from whatever blocks the rows lay in before. */
static bool resize_shared(run_t *run, memory_t *memory, uint32_t capacity)
{
    size_t size = run_shared_bytes(run, capacity);
    bool fits = run->blocks != NULL && !run->split;
    run_block_t *blocks = fits ? run->blocks : memory_new(memory, sizeof *blocks);
    char *block = blocks == NULL ? NULL : superblocks_resize(memory, NULL, 0, size);
    if (block == NULL) {
        if (!fits)
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
    if (fits) {
        superblocks_free_block(memory, blocks->start, blocks->size);
    } else {
        free_blocks(memory, run->blocks, block_count(run), run->block_room);
        run->block_room = 1;
        run->split = false;
    }
    *blocks = (run_block_t){block, size};
    run->blocks = blocks;
    run->capacity = capacity;
    return true;
}

/* Do the columns lie in their block one behind the other, as resize_shared lays them out? Where columns have gone or
 * changed their order in place (run_keep), and where they were laid elsewhere (run_lay), they do not. */
static bool is_laid_out(const run_t *run)
{
    const char *at = run_shared_start(run->blocks->start, run->capacity);
    bool right = run->blocks->size == run_shared_bytes(run, run->capacity);
    for (uint32_t c = 0; c < run->column_count && right; c++) {
        right = run->columns[c] == (const void *)at;
        at += run_column_bytes(run, c, run->capacity);
    }
    return right;
}

/* Are the columns to be moved apart in their block? Where the block would move too, they are copied once. */
static bool can_be_stretched(const run_t *run, const memory_t *memory, uint32_t capacity)
{
    return run->capacity >= RUN_ALIGNED_ROWS && is_laid_out(run) &&
           !superblocks_would_move(memory, run->blocks->start, run->blocks->size, run_shared_bytes(run, capacity));
}

/* More room in the block that the columns share. A block that can grow where it lies keeps its pages, and only the
 * columns are moved apart, the last one first. */
static bool stretch_shared(run_t *run, memory_t *memory, uint32_t capacity)
{
    size_t size = run_shared_bytes(run, capacity), shift = (size_t)((char *)run->columns[0] - run->blocks->start);
    size_t end = size - RUN_LINE, old_end = run->blocks->size - RUN_LINE;
    char *block = superblocks_resize(memory, run->blocks->start, run->blocks->size, size);
    if (block == NULL)
        return false;
    char *start = run_shared_start(block, capacity);
    if (start != block + shift)
        memmove(start, block + shift, old_end);
    for (uint32_t c = run->column_count; c-- > 0;) {
        end -= run_column_bytes(run, c, capacity);
        old_end -= run_column_bytes(run, c, run->capacity);
        memmove(start + end, start + old_end, (size_t)run->count * run->sizes[c]);
        run->columns[c] = start + end;
    }
    *run->blocks = (run_block_t){block, size};
    run->capacity = capacity;
    return true;
}

/* --- growth of large runs: a block for each column ---------------------------------------------------------------- */

/* How many lines there are to choose from, where a column of so many bytes begins. Blocks that are pages of the
 * system's all begin with a page; others lie anywhere, and room for a page would be much beside their rows. */
static size_t stagger(size_t bytes)
{
    return bytes < MEMORY_LARGE ? FEW_LINES : RUN_LINE;
}

char *run_place(const run_t *run, uint32_t column, char *block, size_t bytes)
{
    size_t lines = (run->prototype * 7u + column) * STAGGER_LINES % stagger(bytes);
    return (char *)align_up((size_t)(uintptr_t)block, RUN_LINE) + lines * RUN_LINE;
}

size_t run_block_bytes(size_t bytes)
{
    return bytes + RUN_LINE * (stagger(bytes) + 1);
}

char *run_move_up(const run_block_t *block, char *cells, size_t bytes, size_t size)
{
    if ((size_t)(cells - block->start) + bytes <= size)
        return cells;
    return memmove((char *)align_up((size_t)(uintptr_t)block->start, RUN_LINE), cells, bytes);
}

static bool resize_column(run_t *run, memory_t *memory, uint32_t column, uint32_t capacity)
{
    run_block_t *block = &run->blocks[column];
    size_t bytes = (size_t)run->sizes[column] * capacity, size = run_block_bytes(bytes);
    run->columns[column] = run_move_up(block, run->columns[column], (size_t)run->count * run->sizes[column], size);
    size_t offset = (size_t)((char *)run->columns[column] - block->start);
    char *start = superblocks_resize(memory, block->start, block->size, size);
    if (start == NULL)
        return false;
    *block = (run_block_t){start, size};
    run->columns[column] = run_place(run, column, start, bytes);
    /* Another allocator may align differently than before. */
    if (run->columns[column] != start + offset)
        memmove(run->columns[column], start + offset, (size_t)run->count * run->sizes[column]);
    return true;
}

/* Move the columns from one shared block to a block each. */
static bool split(run_t *run, memory_t *memory, uint32_t capacity)
{
    run_block_t *blocks = memory_new(memory, run->column_count * sizeof *blocks);
    if (blocks == NULL)
        return false;
    for (uint32_t c = 0; c < run->column_count; c++) {
        size_t size = run_block_bytes((size_t)run->sizes[c] * capacity);
        blocks[c] = (run_block_t){superblocks_resize(memory, NULL, 0, size), size};
        if (blocks[c].start == NULL) {
            free_blocks(memory, blocks, run->column_count, run->column_count);
            return false;
        }
    }
    for (uint32_t c = 0; c < run->column_count; c++) {
        char *at = run_place(run, c, blocks[c].start, (size_t)run->sizes[c] * capacity);
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
        return can_be_stretched(run, memory, capacity) ? stretch_shared(run, memory, capacity)
                                                       : resize_shared(run, memory, capacity);
    if (!run->split)
        return split(run, memory, capacity);
    for (uint32_t c = 0; c < run->column_count; c++) {
        if (!resize_column(run, memory, c, capacity))
            return false;
    }
    run->capacity = capacity;
    return true;
}

/* The new capacity of a run that needs room for so many rows. Pages of the system's grow without being copied, so a
 * large run does not double its room. Where superblocks are wanted, there are many runs of some ten KiB, which together
 * would have as much empty room as rows: these go through the sizes of 4 to 7 times a power of two, so that blocks have
 * few sizes, and one fits into the place of another. An eighth more than is needed, at least: where rows come in
 * portions, not every portion then copies all that came before. */
static uint64_t grown(const run_t *run, const memory_t *memory, uint64_t needed)
{
    uint32_t capacity = run->capacity;
    uint64_t wanted = (uint64_t)capacity * 2;
    if (memory_is_pages(memory, (size_t)capacity * sizeof(bp_entity_t)))
        wanted = (uint64_t)capacity + capacity / 4;
    else if (capacity >= 4 && superblocks_are_wanted(memory) && run_shared_bytes(run, capacity) >= SUPERBLOCKS_LEAST) {
        uint64_t step = (UINT64_C(1) << highest_bit(needed)) / 4;
        wanted = (needed + needed / 8 + step - 1) / step * step;
    }
    return wanted < needed ? needed : wanted;
}

bool run_reserve(run_t *run, memory_t *memory, uint32_t more)
{
    uint64_t needed = (uint64_t)run->count + more;
    if (needed <= run->capacity)
        return true;
    if (needed > UINT32_MAX / 2)
        return false;
    uint64_t capacity = grown(run, memory, needed);
    return holes_resize(&run->hole_set, memory, (uint32_t)capacity) &&
           stamps_reserve(&run->stamps, memory, run->column_count, (uint32_t)capacity) &&
           resize(run, memory, (uint32_t)capacity);
}

/* --- shrinking ---------------------------------------------------------------------------------------------------- */

static size_t held_bytes(const run_t *run)
{
    size_t bytes = 0;
    for (uint32_t i = 0; run->blocks != NULL && i < block_count(run); i++)
        bytes += run->blocks[i].size;
    return bytes;
}

static void shrink(run_t *run, memory_t *memory, uint32_t capacity)
{
    bool shared = !run->split || run_shared_bytes(run, capacity) <= RUN_SPLIT_BYTES / 2;
    run->version++;
    if (shared && !resize_shared(run, memory, capacity))
        return;
    /* Less first: where shrinking fails, a column merely keeps more room than the run uses. */
    run->capacity = capacity;
    for (uint32_t c = 0; !shared && c < run->column_count; c++)
        resize_column(run, memory, c, capacity);
    holes_resize(&run->hole_set, memory, capacity);
}

static void free_rows(run_t *run, memory_t *memory)
{
    free_blocks(memory, run->blocks, block_count(run), run->block_room);
    holes_free(&run->hole_set, memory);
    run->blocks = NULL;
    run->block_room = 0;
    run->split = false;
    run->capacity = 0;
    run->version++;
    memset(run->columns, 0, run->column_count * sizeof *run->columns);
}

const field_t run_gone_field = {.name = "gone", .type = BP_U32, .size = sizeof(uint32_t), .initial_is_zero = true};

void run_forget_fields(run_t *run, memory_t *memory, uint32_t first, uint32_t width)
{
    if (run->capacity > 0)
        free_rows(run, memory); /* the room of the rows was divided by the sizes of the cells, which change now */
    for (uint32_t c = first; c < first + width; c++)
        run->fields[c] = &run_gone_field;
    run_describe(run);
}

size_t run_trim(run_t *run, memory_t *memory, size_t most)
{
    size_t before = held_bytes(run), row = 0;
    for (uint32_t c = 0; c < run->column_count; c++)
        row += run->sizes[c];
    uint64_t wanted = (uint64_t)run->count + run->count / 4, rows = most / row + 1;
    uint32_t capacity = (uint32_t)(wanted + rows >= run->capacity ? wanted : run->capacity - rows);
    if (run->blocks != NULL && capacity == 0)
        free_rows(run, memory);
    else if (capacity < run->capacity)
        shrink(run, memory, capacity);
    return before - held_bytes(run);
}

void run_empty(run_t *run, memory_t *memory, const holdings_t *holdings)
{
    if (run->count > 0) /* else it may have no columns */
        run_release(run, 1, run->column_count, 0, run->count, holdings);
    free_rows(run, memory);
    run->count = run->holes = run->pending = run->in_holes_list = run->roomy_since = 0;
    run_set_signature(run, 0);
    run->next_pending = NULL;
    memset(run->left, 0, sizeof run->left);
}

bool run_renew(run_t *run, uint32_t prototype, const field_t *const *fields, uint32_t column_count, uint16_t flags)
{
    if (run->body != NULL || column_count > run->inline_room)
        return false;
    run->prototype = prototype;
    run->column_count = (uint16_t)column_count;
    run->flags = flags;
    run->version++;
    for (uint32_t c = 1; c < column_count; c++)
        run->fields[c] = fields[c - 1];
    for (uint32_t c = 0; c < column_count; c++)
        run->columns[c] = NULL;
    run_describe(run);
    return true;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

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
    case 2: FILL(uint16_t); break;
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

/* Write defaults to one row, apart from the general case: its calls and loops would cost more than the row. */
static void fill_row(run_t *run, uint32_t first_column, uint32_t last_column, uint32_t row)
{
    for (uint32_t c = first_column; c < last_column; c++) {
        const field_t *field = run->fields[c];
        if (!field_is_single(field)) {
            cells_fill(field, run_cell(run, c, row), 1);
            continue;
        }
        value_copy(run_cell(run, c, row), &field->initial, run->sizes[c]);
        if (field->type == BP_STRING)
            strings_retain(field->initial.string, 1);
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
        if (field->initial_is_zero || !field_is_single(field) || field->type == BP_STRING)
            cells_fill(field, cells, count);
        else
            fill_cells(cells, &field->initial, field->size, count);
    }
}

void run_fill_with(run_t *run, uint32_t column, uint32_t first, uint32_t count, const void *value)
{
    fill_cells(run_cell(run, column, first), value, run->sizes[column], count);
}

void run_release(run_t *run, uint32_t first_column, uint32_t last_column, uint32_t row, uint32_t count,
                 const holdings_t *holdings)
{
    for (uint32_t c = first_column; c < last_column && run->has_counted; c++)
        cells_release(holdings, run->fields[c], run_cell(run, c, row), count);
}

/* --- rows come and go --------------------------------------------------------------------------------------------- */

uint32_t run_take_rows(run_t *run, uint32_t most, uint32_t *first, const holdings_t *holdings)
{
    if (run->holes == 0) {
        *first = run->count;
        run->count += most;
        stamps_note_rows(run->stamps, *first, most);
        return most;
    }
    *first = holes_next(&run->hole_set, run->hole_set.lowest);
    uint32_t count = holes_stretch(&run->hole_set, *first, most);
    stamps_note_rows(run->stamps, *first, count);
    run_release(run, 1, run->column_count, *first, count, holdings);
    holes_drop(&run->hole_set, *first, *first + count);
    run->hole_set.lowest = *first;
    run->holes -= count;
    return count;
}

/* Drop the rows from `end` on, which are no longer marked as holes. */
static void cut(run_t *run, uint32_t end, const holdings_t *holdings)
{
    run_release(run, 1, run->column_count, end, run->count - end, holdings);
    run->count = end;
}

/* The last row is tested before the bits, since mostly an entity is in it. */
void run_cut_holes(run_t *run, const holdings_t *holdings)
{
    if (run->holes == 0 || run_entities(run)[run->count - 1].id != 0)
        return;
    uint32_t end = holes_last_filled(&run->hole_set, run->count) + 1;
    run->holes -= run->count - end;
    holes_drop(&run->hole_set, end, run->count);
    cut(run, end, holdings);
}

void run_leave_rows(run_t *run, uint32_t row, uint32_t count, const holdings_t *holdings)
{
    run->version++;
    run->left[0] += count;
    stamps_note_rows(run->stamps, row, count);
    if (row + count == run->count) {
        cut(run, row, holdings);
        run_cut_holes(run, holdings);
        return;
    }
    memset(run_entities(run) + row, 0, count * sizeof(bp_entity_t));
    holes_fill(&run->hole_set, row, row + count);
    run->holes += count;
}

void run_leave_scattered(run_t *run, const uint32_t *rows, uint32_t count, const holdings_t *holdings)
{
    bp_entity_t *entities = run_entities(run);
    run->version++;
    run->left[0] += count;
    run->holes += count;
    for (uint32_t i = 0; i < count; i++) {
        stamps_note_rows(run->stamps, rows[i], 1);
        entities[rows[i]] = (bp_entity_t){0};
        holes_add(&run->hole_set, rows[i]);
    }
    run_cut_holes(run, holdings);
}

void run_erase(run_t *run, uint32_t row, const holdings_t *holdings)
{
    uint32_t last = --run->count;
    run->version++;
    stamps_note_rows(run->stamps, row, 1);
    stamps_note_rows(run->stamps, last, 1);
    if (row != last)
        run_copy_row(run, 0, last, run, 0, row, run->column_count);
    run_cut_holes(run, holdings);
}

/* Compare rows with entities without a branch for each, so that the compiler can use vector instructions: a row of
 * another entity differs in some bit; a hole lacks the lowest bit of a generation, which is odd for every living
 * entity. */
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

/* --- run sample -------------------------------------------------------------------------------------------------- */

/* A few rows of a large run, and a run that has only those.
 *
 * A sample is one block, laid out as the block of a small run with as many rows. So a run that takes it in place of its
 * own columns is a small run like any other, and grows and changes its columns as such.
 */

/* Rows that lie together stay together: entities made together often refer to each other. */
enum { STRETCH = RUN_SAMPLE_FEW };

/* The numbers of at most `most` living rows, in stretches from all of the run. */
static uint32_t choose_rows(const run_t *run, uint32_t most, uint32_t *rows)
{
    const uint32_t stretches = most / STRETCH;
    uint32_t count = 0;
    for (uint32_t s = 0; s < stretches; s++) {
        uint32_t first = (uint32_t)((uint64_t)run->count * s / stretches);
        for (uint32_t row = first; row < first + STRETCH; row++) {
            if (run_entities(run)[row].id != 0)
                rows[count++] = row;
        }
    }
    return count;
}

static bool copy_rows(run_sample_t *sample, memory_t *memory, uint32_t most)
{
    const run_t *run = sample->run;
    uint32_t rows[RUN_SAMPLE_ROWS];
    size_t size = run_shared_bytes(run, most);
    char *block = superblocks_resize(memory, NULL, 0, size);
    if (block == NULL)
        return false;
    sample->block = (run_block_t){block, size};
    sample->room = most;
    sample->count = choose_rows(run, most, rows);
    char *at = run_shared_start(block, most);
    for (uint32_t c = 0; c < run->column_count; c++) {
        for (uint32_t i = 0; i < sample->count; i++)
            value_copy(at + (size_t)i * run->sizes[c], run_cell(run, c, rows[i]), run->sizes[c]);
        at += run_column_bytes(run, c, most);
    }
    return true;
}

static void inherit(const run_t *run, const memory_t *memory, uint32_t columns)
{
    for (uint32_t c = 0; c < columns; c++) {
        if (memory_is_pages(memory, run->blocks[c].size))
            os_pages_inherit(run->blocks[c].start, run->blocks[c].size, true);
    }
}

static bool leave_out(const run_t *run, const memory_t *memory)
{
    for (uint32_t c = 0; c < run->column_count; c++) {
        if (memory_is_pages(memory, run->blocks[c].size) &&
            !os_pages_inherit(run->blocks[c].start, run->blocks[c].size, false)) {
            inherit(run, memory, c);
            return false;
        }
    }
    return true;
}

bool run_can_be_left_out(const run_t *run, const memory_t *memory)
{
    return run->split && run->count >= RUN_SAMPLE_FROM && memory->allocator.resize == NULL;
}

bool run_sample_take(run_sample_t *sample, run_t *run, memory_t *memory, uint32_t most)
{
    if (!run_can_be_left_out(run, memory))
        return false;
    sample->run = run;
    if (!copy_rows(sample, memory, most))
        return false;
    if (leave_out(run, memory))
        return true;
    superblocks_free_block(memory, sample->block.start, sample->block.size);
    return false;
}

void run_sample_first(run_sample_t *sample, run_t *run, uint32_t most)
{
    *sample = (run_sample_t){.run = run, .count = run->count < most ? run->count : most};
}

void run_sample_give_back(run_sample_t *sample, memory_t *memory)
{
    if (sample->block.start == NULL)
        return;
    inherit(sample->run, memory, sample->run->column_count);
    superblocks_free_block(memory, sample->block.start, sample->block.size);
}

/* The first `count` rows stay, without holes at their end. */
static void keep_first(run_t *run, uint32_t count)
{
    holes_drop(&run->hole_set, count, run->count);
    while (count > 0 && run_entities(run)[count - 1].id == 0) {
        count--;
        holes_remove(&run->hole_set, count);
    }
    run->count = count;
    run->holes = 0;
    for (uint32_t row = 0; row < count; row++)
        run->holes += run_entities(run)[row].id == 0;
    run->version++;
    stamps_note_all(run->stamps);
}

void run_sample_enter(const run_sample_t *sample)
{
    run_t *run = sample->run;
    if (sample->block.start == NULL) {
        keep_first(run, sample->count);
        return;
    }
    char *at = run_shared_start(sample->block.start, sample->room);
    run->split = false;
    run->blocks[0] = sample->block;
    run->count = sample->count;
    run->capacity = sample->room;
    holes_clear(&run->hole_set, run->hole_set.rows);
    run->holes = 0;
    run->version++;
    stamps_note_all(run->stamps);
    for (uint32_t c = 0; c < run->column_count; c++) {
        run->columns[c] = at;
        at += run_column_bytes(run, c, sample->room);
    }
}

/* The run keeps its block of before, as one that its columns share: it has a block to give back when it grows. */
bool run_lay(run_t *run, memory_t *memory, void *const *places)
{
    if (run->split && !resize_shared(run, memory, run->capacity))
        return false;
    for (uint32_t c = 0; c < run->column_count; c++) {
        memcpy(places[c], run->columns[c], (size_t)run->count * run->sizes[c]);
        run->columns[c] = places[c];
    }
    run->capacity = run->count;
    run->version++;
    return true;
}
