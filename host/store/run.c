/* run.c - how the memory of a run is laid out and grows.
 *
 * Measured choices (bench/, docs/store.md): a run starts with one row and doubles; below RUN_SPLIT_BYTES its columns
 * share one block, which is copied when it grows; above, each column is a block of its own, and since large blocks
 * are pages (base/memory.h) doubling one remaps its pages and touches none. Columns of different runs and fields begin
 * at different places within a page, so that a loop over several columns does not have them fight for the same cache
 * sets.
 *
 * Invariants: columns[c] points into the block of column c (or the shared block) with room for `capacity` values
 * and is aligned as bp_run_t promises; a failed growth leaves every column where it was, with as much room at least.
 */
#include "run.h"

#include "../os/os.h"

/* --- run inner --------------------------------------------------------------------------------------------------- */

/* How a run's memory is laid out. */

/* Bytes of the arrays columns, fields and sizes for each column. */
#define RUN_COLUMN_BYTES (sizeof(void *) + sizeof(field_t *) + sizeof(uint32_t))

/* Bytes of the block that small runs share, of one column in it, and where its first column begins. */
static size_t run_shared_bytes(const run_t *run, uint32_t capacity);
static size_t run_column_bytes(const run_t *run, uint32_t column, uint32_t capacity);
static char *run_shared_start(char *block, uint32_t capacity);

/* Bytes of a column's own block, and where the column begins in it. */
static size_t run_split_bytes(const run_t *run, uint32_t column, uint32_t capacity);
static char *run_place(const run_t *run, uint32_t column, char *block);

/* Say anew what follows from `fields`: sizes, plain, has_counted. */
static void run_describe(run_t *run);

static const field_t entity_field = {.name = "entity", .type = BP_ENTITY, .size = 8, .initial_is_zero = true};

enum { LINE = 64, STAGGER_LINES = 5 };

static size_t align_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
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
    run->columns = (void **)(run + 1);
    run->fields = (const field_t **)(run->columns + column_count);
    run->sizes = (uint32_t *)(void *)(run->fields + column_count);
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

static void run_describe(run_t *run)
{
    run->plain = run->stamps == NULL;
    run->has_counted = false;
    for (uint32_t c = 0; c < run->column_count; c++) {
        run->sizes[c] = run->fields[c]->size;
        run->plain = run->plain && is_plain(run->fields[c]);
        run->has_counted = run->has_counted || field_is_counted(run->fields[c]);
    }
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
        memory_free(memory, blocks[i].start, blocks[i].size);
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

static char *run_shared_start(char *block, uint32_t capacity)
{
    return capacity >= RUN_ALIGNED_ROWS ? (char *)align_up((size_t)(uintptr_t)block, LINE) : block;
}

static size_t run_column_bytes(const run_t *run, uint32_t column, uint32_t capacity)
{
    return align_up((size_t)run->sizes[column] * capacity + RUN_SLACK_BYTES, capacity >= RUN_ALIGNED_ROWS ? LINE : 16);
}

static size_t run_shared_bytes(const run_t *run, uint32_t capacity)
{
    size_t bytes = capacity >= RUN_ALIGNED_ROWS ? LINE : 0;
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
    char *block = blocks == NULL ? NULL : memory_resize(memory, NULL, 0, size);
    if (block == NULL) {
        if (!fits)
            memory_free(memory, blocks, blocks == NULL ? 0 : sizeof *blocks);
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
        memory_free(memory, blocks->start, blocks->size);
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

/* --- growth of large runs: a block for each column ---------------------------------------------------------------- */

/* Where in its block a column begins: on a line of its own, and not where its neighbours begin. */
static char *run_place(const run_t *run, uint32_t column, char *block)
{
    size_t lines = (run->prototype * 7u + column) * STAGGER_LINES % LINE;
    return (char *)align_up((size_t)(uintptr_t)block, LINE) + lines * LINE;
}

static size_t run_split_bytes(const run_t *run, uint32_t column, uint32_t capacity)
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

/* Move the columns from one shared block to a block each. */
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
    /* Pages of the system's grow without being copied, so a large run need not double its room. */
    bool large = memory_is_pages(memory, (size_t)run->capacity * sizeof(bp_entity_t));
    uint64_t capacity = (uint64_t)run->capacity + (large ? run->capacity / 4 : run->capacity);
    if (capacity < needed)
        capacity = needed;
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
    run_release(run, 1, run->column_count, 0, run->count, holdings);
    free_rows(run, memory);
    run->count = run->holes = run->pending = run->in_holes_list = run->roomy_since = run->signature = 0;
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
    run->fields[0] = &entity_field;
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

/* The last row is looked at before the bits are: mostly an entity is in it. */
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

/* --- run shape --------------------------------------------------------------------------------------------------- */

/* A run whose columns become others.
 *
 * The run keeps its address: references and caches hold it. An exchange of shapes changes the arrays that describe the
 * run's columns, and the blocks that the columns lie in. A shape is another set of both, complete before anything of
 * the run changes; the two then change places. Where every column has a block of its own, columns that stay are the
 * same memory in both, so that no value moves, however many rows there are; small runs, whose columns share a block,
 * are copied.
 *
 * Invariant: what run and shape share is marked in `adopted` on both sides, so that whichever of them goes frees only
 * what is its own.
 */

static bool need_body(run_t *kept, memory_t *memory, uint32_t count)
{
    kept->body = memory_new(memory, count * RUN_COLUMN_BYTES);
    if (kept->body == NULL)
        return false;
    kept->body_room = (uint16_t)count;
    kept->columns = kept->body;
    kept->fields = (const field_t **)(void *)(kept->columns + count);
    kept->sizes = (uint32_t *)(void *)(kept->fields + count);
    return true;
}

static bool make_shared(run_shape_t *shape, memory_t *memory, const run_pick_t *picks)
{
    const run_t *run = shape->run;
    run_t *kept = &shape->kept;
    size_t size = run_shared_bytes(kept, run->capacity);
    kept->blocks = memory_new(memory, sizeof *kept->blocks);
    kept->block_room = kept->blocks == NULL ? 0 : 1;
    char *block = kept->blocks == NULL ? NULL : memory_resize(memory, NULL, 0, size);
    if (block == NULL)
        return false;
    kept->blocks[0] = (run_block_t){block, size};
    char *at = run_shared_start(block, run->capacity);
    for (uint32_t c = 0; c < kept->column_count; c++) {
        if (picks[c].from != BP_NONE && run->count > 0)
            memcpy(at, run->columns[picks[c].from], (size_t)run->count * run->sizes[picks[c].from]);
        kept->columns[c] = at;
        at += run_column_bytes(kept, c, run->capacity);
    }
    return true;
}

/* Such a column is written as a whole, soon, so huge pages pay from smaller sizes on than in memory.c. */
static char *make_block(memory_t *memory, size_t size)
{
    char *block = memory_resize(memory, NULL, 0, size);
    if (block != NULL && memory_is_pages(memory, size) && size >= MEMORY_HUGE / 2)
        os_pages_huge(block, size);
    return block;
}

static size_t made_bytes(uint32_t size, uint32_t capacity)
{
    return (size_t)size * capacity + LINE * (LINE + 1);
}

bool run_make_column(run_made_t *made, const run_t *run, memory_t *memory, uint32_t column, uint32_t size)
{
    size_t bytes = made_bytes(size, run->capacity);
    char *block = make_block(memory, bytes);
    if (block == NULL)
        return false;
    *made = (run_made_t){.block = {block, bytes}, .cells = run_place(run, column, block), .capacity = run->capacity};
    return true;
}

bool run_fit_column(run_made_t *made, const run_t *run, memory_t *memory, uint32_t column, uint32_t size, uint32_t rows)
{
    size_t offset = (size_t)((char *)made->cells - made->block.start), bytes = made_bytes(size, run->capacity);
    if (made->capacity == run->capacity)
        return true;
    char *block = memory_resize(memory, made->block.start, made->block.size, bytes);
    if (block == NULL)
        return false;
    *made = (run_made_t){.block = {block, bytes}, .cells = run_place(run, column, block), .capacity = run->capacity};
    if (made->cells != block + offset)
        memmove(made->cells, block + offset, (size_t)rows * size);
    return true;
}

void run_free_column(run_made_t *made, memory_t *memory)
{
    memory_free(memory, made->block.start, made->block.size);
    *made = (run_made_t){.cells = NULL};
}

static bool make_split(run_shape_t *shape, memory_t *memory, const run_pick_t *picks, run_made_t *const *made)
{
    const run_t *run = shape->run;
    run_t *kept = &shape->kept;
    kept->blocks = memory_new(memory, kept->column_count * sizeof *kept->blocks);
    if (kept->blocks == NULL)
        return false;
    kept->block_room = kept->column_count;
    for (uint32_t c = 0; c < kept->column_count; c++) {
        uint32_t from = picks[c].from;
        if (from != BP_NONE) {
            kept->blocks[c] = run->blocks[from];
            kept->columns[c] = run->columns[from];
            continue;
        }
        if (made != NULL && made[c] != NULL) {
            kept->blocks[c] = made[c]->block;
            kept->columns[c] = made[c]->cells;
            *made[c] = (run_made_t){.cells = NULL};
            continue;
        }
        size_t size = run_split_bytes(kept, c, run->capacity);
        char *block = make_block(memory, size);
        if (block == NULL)
            return false;
        kept->blocks[c] = (run_block_t){block, size};
        kept->columns[c] = run_place(kept, c, block);
    }
    return true;
}

bool run_shape_init(run_shape_t *shape, run_t *run, memory_t *memory, const run_pick_t *picks, run_made_t *const *made,
                    uint32_t count)
{
    *shape = (run_shape_t){.run = run, .old_count = run->column_count, .new_count = count};
    run_t *kept = &shape->kept;
    shape->adopted = memory_new(memory, run->column_count + count);
    shape->filled = memory_new(memory, count);
    if (shape->adopted == NULL || shape->filled == NULL || !need_body(kept, memory, count) ||
        !stamps_reserve(&run->stamps, memory, count, run->capacity)) {
        run_shape_free(shape, memory, NULL);
        return false;
    }
    kept->prototype = run->prototype;
    kept->column_count = (uint16_t)count;
    kept->flags = run->flags;
    kept->split = run->split;
    kept->stamps = run->stamps; /* both point to the stamps, so that both know there are stamps; the run owns them */
    for (uint32_t c = 0; c < count; c++) {
        kept->fields[c] = picks[c].field != NULL ? picks[c].field : run->fields[picks[c].from];
        shape->filled[c] = picks[c].from != BP_NONE;
        if (picks[c].from == BP_NONE)
            continue;
        shape->adopted[picks[c].from] = 1;
        shape->adopted[run->column_count + c] = 1;
    }
    run_describe(kept);
    if (run->capacity == 0 || (run->split ? make_split(shape, memory, picks, made) : make_shared(shape, memory, picks)))
        return true;
    run_shape_free(shape, memory, NULL);
    return false;
}

#define EXCHANGE(type, a, b) do { type kept_ = (a); (a) = (b); (b) = kept_; } while (0)

/* Arrays that lie behind the run, and so are never freed by themselves, are recognised by their address. */
void run_shape_exchange(run_shape_t *shape)
{
    run_t *run = shape->run, *kept = &shape->kept;
    EXCHANGE(void **, run->columns, kept->columns);
    EXCHANGE(const field_t **, run->fields, kept->fields);
    EXCHANGE(uint32_t *, run->sizes, kept->sizes);
    EXCHANGE(run_block_t *, run->blocks, kept->blocks);
    EXCHANGE(void *, run->body, kept->body);
    EXCHANGE(uint16_t, run->block_room, kept->block_room);
    EXCHANGE(uint16_t, run->body_room, kept->body_room);
    EXCHANGE(uint16_t, run->column_count, kept->column_count);
    EXCHANGE(uint16_t, run->flags, kept->flags);
    EXCHANGE(bool, run->has_counted, kept->has_counted);
    EXCHANGE(bool, run->plain, kept->plain);
    stamps_note_all(run->stamps);
    run->version++;
    shape->exchanged = !shape->exchanged;
}

void run_shape_free(run_shape_t *shape, memory_t *memory, const holdings_t *holdings)
{
    run_t *kept = &shape->kept;
    uint32_t count = kept->blocks == NULL ? 0 : kept->column_count;
    const uint8_t *adopted = shape->adopted == NULL ? NULL : shape->adopted + (shape->exchanged ? 0 : shape->old_count);
    for (uint32_t c = 0; c < count; c++) {
        if (adopted[c] != 0)
            continue;
        if (holdings != NULL && (shape->exchanged || shape->filled[c] != 0))
            cells_release(holdings, kept->fields[c], kept->columns[c], shape->run->count);
        if (kept->split)
            memory_free(memory, kept->blocks[c].start, kept->blocks[c].size);
    }
    if (kept->blocks != NULL && !kept->split)
        memory_free(memory, kept->blocks[0].start, kept->blocks[0].size);
    memory_free(memory, kept->blocks, kept->block_room * sizeof *kept->blocks);
    memory_free(memory, kept->body, kept->body_room * RUN_COLUMN_BYTES);
    memory_free(memory, shape->adopted, shape->adopted == NULL ? 0 : shape->old_count + shape->new_count);
    memory_free(memory, shape->filled, shape->filled == NULL ? 0 : shape->new_count);
    memset(shape, 0, sizeof *shape);
}

/* --- in place ----------------------------------------------------------------------------------------------------- */

static void drop_column(run_t *run, memory_t *memory, const holdings_t *holdings, uint32_t column)
{
    cells_release(holdings, run->fields[column], run->columns[column], run->count);
    if (run->split)
        memory_free(memory, run->blocks[column].start, run->blocks[column].size);
}

void run_keep(run_t *run, memory_t *memory, const holdings_t *holdings, uint32_t first, uint32_t width,
              const run_pick_t *picks, uint32_t count)
{
    void *columns[RUN_KEEP_MOST];
    run_block_t blocks[RUN_KEEP_MOST];
    uint32_t behind = run->column_count - first - width;
    memcpy(columns, run->columns + first, width * sizeof *columns);
    if (run->split)
        memcpy(blocks, run->blocks + first, width * sizeof *blocks);
    for (uint32_t c = 0; c < width; c++) {
        bool kept = false;
        for (uint32_t i = 0; i < count && !kept; i++)
            kept = picks[i].from == c;
        if (!kept)
            drop_column(run, memory, holdings, first + c);
    }
    for (uint32_t i = 0; i < count; i++) {
        run->columns[first + i] = columns[picks[i].from];
        run->fields[first + i] = picks[i].field;
        if (run->split)
            run->blocks[first + i] = blocks[picks[i].from];
    }
    memmove(run->columns + first + count, run->columns + first + width, behind * sizeof *run->columns);
    memmove(run->fields + first + count, run->fields + first + width, behind * sizeof *run->fields);
    if (run->split)
        memmove(run->blocks + first + count, run->blocks + first + width, behind * sizeof *run->blocks);
    run->column_count = (uint16_t)(first + count + behind);
    run_describe(run);
    stamps_note_all(run->stamps);
    run->version++;
}

/* --- run sample -------------------------------------------------------------------------------------------------- */

/* A few rows of a large run, and a run that has only those.
 *
 * A sample is one block, laid out as the block of a small run with as many rows. So a run that takes it in place of its
 * own columns is a small run like any other, and grows and changes its columns as such.
 */

enum { STRETCH = 64 /* rows that lie together stay together: entities made together often refer to each other */ };

/* The numbers of at most RUN_SAMPLE_ROWS living rows, in stretches from all of the run. */
static uint32_t choose_rows(const run_t *run, uint32_t *rows)
{
    const uint32_t stretches = RUN_SAMPLE_ROWS / STRETCH;
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

static bool copy_rows(run_sample_t *sample, memory_t *memory)
{
    const run_t *run = sample->run;
    uint32_t rows[RUN_SAMPLE_ROWS];
    size_t size = run_shared_bytes(run, RUN_SAMPLE_ROWS);
    char *block = memory_resize(memory, NULL, 0, size);
    if (block == NULL)
        return false;
    sample->block = (run_block_t){block, size};
    sample->count = choose_rows(run, rows);
    char *at = run_shared_start(block, RUN_SAMPLE_ROWS);
    for (uint32_t c = 0; c < run->column_count; c++) {
        for (uint32_t i = 0; i < sample->count; i++)
            value_copy(at + (size_t)i * run->sizes[c], run_cell(run, c, rows[i]), run->sizes[c]);
        at += run_column_bytes(run, c, RUN_SAMPLE_ROWS);
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

bool run_sample_take(run_sample_t *sample, run_t *run, memory_t *memory)
{
    if (!run->split || run->count < RUN_SAMPLE_FROM || memory->allocator.resize != NULL)
        return false;
    sample->run = run;
    if (!copy_rows(sample, memory))
        return false;
    if (leave_out(run, memory))
        return true;
    memory_free(memory, sample->block.start, sample->block.size);
    return false;
}

void run_sample_give_back(run_sample_t *sample, memory_t *memory)
{
    inherit(sample->run, memory, sample->run->column_count);
    memory_free(memory, sample->block.start, sample->block.size);
}

void run_sample_enter(const run_sample_t *sample)
{
    run_t *run = sample->run;
    char *at = run_shared_start(sample->block.start, RUN_SAMPLE_ROWS);
    run->split = false;
    run->blocks[0] = sample->block;
    run->count = sample->count;
    run->capacity = RUN_SAMPLE_ROWS;
    holes_clear(&run->hole_set, run->hole_set.rows);
    run->holes = 0;
    run->version++;
    stamps_note_all(run->stamps);
    for (uint32_t c = 0; c < run->column_count; c++) {
        run->columns[c] = at;
        at += run_column_bytes(run, c, RUN_SAMPLE_ROWS);
    }
}
