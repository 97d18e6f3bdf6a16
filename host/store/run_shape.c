/* run_shape.c - replacing the columns of a run by others.
 *
 * The run keeps its address: references and caches hold it. An exchange of shapes changes the arrays that describe the
 * run's columns, and the blocks that the columns lie in. A shape is another set of both, complete before anything of
 * the run changes; the two then change places. Where every column has a block of its own, columns that stay are the
 * same memory in both, so that no value moves, however many rows there are; small runs, in which all columns share a
 * block, are copied.
 *
 * Invariant: what run and shape share is marked in `adopted` on both sides, so that freeing either of them frees only
 * its own memory.
 */
#include "run_inner.h"

#include "../os/os.h"

static bool need_body(run_t *kept, memory_t *memory, uint32_t count)
{
    kept->body = memory_new(memory, count * RUN_COLUMN_BYTES);
    if (kept->body == NULL)
        return false;
    kept->body_room = (uint16_t)count;
    run_lay_out(kept, kept->body, count);
    return true;
}

static bool make_shared(run_shape_t *shape, memory_t *memory, const run_pick_t *picks)
{
    const run_t *run = shape->run;
    run_t *kept = &shape->kept;
    size_t size = run_shared_bytes(kept, run->capacity);
    kept->blocks = memory_new(memory, sizeof *kept->blocks);
    kept->block_room = kept->blocks == NULL ? 0 : 1;
    char *block = kept->blocks == NULL ? NULL : superblocks_resize(memory, NULL, 0, size);
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
    char *block = superblocks_resize(memory, NULL, 0, size);
    if (block != NULL && memory_is_pages(memory, size) && size >= MEMORY_HUGE / 2)
        os_pages_huge(block, size);
    return block;
}

bool run_make_column(run_made_t *made, const run_t *run, memory_t *memory, uint32_t column, uint32_t size)
{
    size_t cells = (size_t)size * run->capacity, bytes = run_block_bytes(cells);
    char *block = make_block(memory, bytes);
    if (block == NULL)
        return false;
    *made = (run_made_t){{block, bytes}, run_place(run, column, block, cells), run->capacity};
    return true;
}

bool run_fit_column(run_made_t *made, const run_t *run, memory_t *memory, uint32_t column, uint32_t size, uint32_t rows)
{
    size_t cells = (size_t)size * run->capacity, bytes = run_block_bytes(cells);
    if (made->capacity == run->capacity)
        return true;
    made->cells = run_move_up(&made->block, made->cells, (size_t)rows * size, bytes);
    size_t offset = (size_t)((char *)made->cells - made->block.start);
    char *block = superblocks_resize(memory, made->block.start, made->block.size, bytes);
    if (block == NULL)
        return false;
    *made = (run_made_t){{block, bytes}, run_place(run, column, block, cells), run->capacity};
    if (made->cells != block + offset)
        memmove(made->cells, block + offset, (size_t)rows * size);
    return true;
}

void run_free_column(run_made_t *made, memory_t *memory)
{
    superblocks_free_block(memory, made->block.start, made->block.size);
    *made = (run_made_t){.cells = NULL};
}

/* Columns that were made before become the shape's, with what their cells hold. */
static void take_over(run_shape_t *shape, run_made_t *const *made)
{
    run_t *kept = &shape->kept;
    for (uint32_t c = 0; c < kept->column_count; c++) {
        if (made[c] == NULL)
            continue;
        kept->blocks[c] = made[c]->block;
        kept->columns[c] = made[c]->cells;
        *made[c] = (run_made_t){.cells = NULL};
        shape->filled[c] = true;
    }
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
        if (made != NULL && made[c] != NULL)
            continue;
        size_t bytes = (size_t)kept->sizes[c] * run->capacity, size = run_block_bytes(bytes);
        char *block = make_block(memory, size);
        if (block == NULL)
            return false;
        kept->blocks[c] = (run_block_t){block, size};
        kept->columns[c] = run_place(kept, c, block, bytes);
    }
    if (made != NULL)
        take_over(shape, made);
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
    run_set_signature(run, run->signature);
    stamps_note_all(run->stamps);
    run->version++;
    shape->exchanged = !shape->exchanged;
}

/* Free a column that has `count` cells which hold something. */
static void free_column(const run_t *run, memory_t *memory, const holdings_t *holdings, uint32_t column, uint32_t count)
{
    const run_block_t *block = run->split ? &run->blocks[column] : NULL;
    if (block != NULL && count > 0 && holdings != NULL && holdings->leavings != NULL &&
        leavings_take(holdings->leavings, memory, run->fields[column], block->start, block->size,
                      run->columns[column], count))
        return;
    if (count > 0)
        cells_release(holdings, run->fields[column], run->columns[column], count);
    if (block != NULL)
        superblocks_free_block(memory, block->start, block->size);
}

void run_shape_free(run_shape_t *shape, memory_t *memory, const holdings_t *holdings)
{
    run_t *kept = &shape->kept;
    uint32_t count = kept->blocks == NULL ? 0 : kept->column_count;
    const uint8_t *adopted = shape->adopted == NULL ? NULL : shape->adopted + (shape->exchanged ? 0 : shape->old_count);
    for (uint32_t c = 0; c < count; c++) {
        uint32_t held = holdings != NULL && (shape->exchanged || shape->filled[c]) ? shape->run->count : 0;
        if (adopted[c] == 0)
            free_column(kept, memory, holdings, c, held);
    }
    if (kept->blocks != NULL && !kept->split)
        superblocks_free_block(memory, kept->blocks[0].start, kept->blocks[0].size);
    memory_free(memory, kept->blocks, kept->block_room * sizeof *kept->blocks);
    memory_free(memory, kept->body, kept->body_room * RUN_COLUMN_BYTES);
    memory_free(memory, shape->adopted, shape->old_count + shape->new_count);
    memory_free(memory, shape->filled, shape->new_count);
    memset(shape, 0, sizeof *shape);
}

/* --- in place ----------------------------------------------------------------------------------------------------- */

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
            free_column(run, memory, holdings, first + c, run->count);
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
