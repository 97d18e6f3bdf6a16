/* run_shape.c - a run whose columns become others.
 *
 * The run keeps its address: references and caches hold it. What changes is what it holds: the arrays that describe its columns
 * and the blocks that these lie in. A shape is another set of both, complete before anything of the run changes; the two then
 * change places. Where every column has a block of its own, columns that stay are the same memory in both, so that
 * no value moves, however many rows there are; small runs, whose columns share a block, are copied.
 *
 * Invariant: what run and shape share is marked in `adopted` on both sides, so that whichever of them goes frees only what
 * is its own.
 */
#include "run_inner.h"

static bool need_body(run_t *other, memory_t *memory, uint32_t count)
{
    other->body = memory_new(memory, count * RUN_COLUMN_BYTES);
    if (other->body == NULL)
        return false;
    other->body_room = (uint16_t)count;
    other->columns = other->body;
    other->fields = (const field_t **)(void *)(other->columns + count);
    other->sizes = (uint8_t *)(other->fields + count);
    return true;
}

static bool make_shared(run_shape_t *shape, memory_t *memory, const run_pick_t *picks)
{
    const run_t *run = shape->run;
    run_t *other = &shape->other;
    size_t size = run_shared_bytes(other, run->capacity);
    other->blocks = memory_new(memory, sizeof *other->blocks);
    other->block_room = other->blocks == NULL ? 0 : 1;
    char *block = other->blocks == NULL ? NULL : memory_resize(memory, NULL, 0, size);
    if (block == NULL)
        return false;
    other->blocks[0] = (run_block_t){block, size};
    char *at = run_shared_start(block, run->capacity);
    for (uint32_t c = 0; c < other->column_count; c++) {
        if (picks[c].from != BP_NONE && run->count > 0)
            memcpy(at, run->columns[picks[c].from], (size_t)run->count * run->sizes[picks[c].from]);
        other->columns[c] = at;
        at += run_column_bytes(other, c, run->capacity);
    }
    return true;
}

static bool make_split(run_shape_t *shape, memory_t *memory, const run_pick_t *picks)
{
    const run_t *run = shape->run;
    run_t *other = &shape->other;
    other->blocks = memory_new(memory, other->column_count * sizeof *other->blocks);
    if (other->blocks == NULL)
        return false;
    other->block_room = other->column_count;
    for (uint32_t c = 0; c < other->column_count; c++) {
        uint32_t from = picks[c].from;
        if (from != BP_NONE) {
            other->blocks[c] = run->blocks[from];
            other->columns[c] = run->columns[from];
            continue;
        }
        size_t size = run_split_bytes(other, c, run->capacity);
        char *block = memory_resize(memory, NULL, 0, size);
        if (block == NULL)
            return false;
        other->blocks[c] = (run_block_t){block, size};
        other->columns[c] = run_place(other, c, block);
    }
    return true;
}

bool run_shape_init(run_shape_t *shape, run_t *run, memory_t *memory, const run_pick_t *picks, uint32_t count)
{
    *shape = (run_shape_t){.run = run, .old_count = run->column_count, .new_count = count};
    run_t *other = &shape->other;
    shape->adopted = memory_new(memory, run->column_count + count);
    shape->filled = memory_new(memory, count);
    if (shape->adopted == NULL || shape->filled == NULL || !need_body(other, memory, count)) {
        run_shape_free(shape, memory, NULL);
        return false;
    }
    other->prototype = run->prototype;
    other->column_count = (uint16_t)count;
    other->flags = run->flags;
    other->split = run->split;
    for (uint32_t c = 0; c < count; c++) {
        other->fields[c] = picks[c].field != NULL ? picks[c].field : run->fields[picks[c].from];
        shape->filled[c] = picks[c].from != BP_NONE;
        if (picks[c].from == BP_NONE)
            continue;
        shape->adopted[picks[c].from] = 1;
        shape->adopted[run->column_count + c] = 1;
    }
    run_describe(other);
    if (run->capacity == 0 || (run->split ? make_split(shape, memory, picks) : make_shared(shape, memory, picks)))
        return true;
    run_shape_free(shape, memory, NULL);
    return false;
}

#define EXCHANGE(type, a, b) do { type kept_ = (a); (a) = (b); (b) = kept_; } while (0)

/* Arrays that lie behind the run are found again by their address: they are never freed by themselves. */
void run_shape_exchange(run_shape_t *shape)
{
    run_t *run = shape->run, *other = &shape->other;
    EXCHANGE(void **, run->columns, other->columns);
    EXCHANGE(const field_t **, run->fields, other->fields);
    EXCHANGE(uint8_t *, run->sizes, other->sizes);
    EXCHANGE(run_block_t *, run->blocks, other->blocks);
    EXCHANGE(void *, run->body, other->body);
    EXCHANGE(uint16_t, run->block_room, other->block_room);
    EXCHANGE(uint16_t, run->body_room, other->body_room);
    EXCHANGE(uint16_t, run->column_count, other->column_count);
    EXCHANGE(uint16_t, run->flags, other->flags);
    EXCHANGE(bool, run->has_strings, other->has_strings);
    EXCHANGE(bool, run->plain, other->plain);
    run->version++;
    shape->exchanged = !shape->exchanged;
}

static void release_column(const run_t *other, uint32_t column, uint32_t count, strings_t *strings)
{
    const char *const *cells = other->columns[column];
    for (uint32_t row = 0; other->fields[column]->type == BP_STRING && row < count; row++)
        strings_release(strings, cells[row]);
}

void run_shape_free(run_shape_t *shape, memory_t *memory, strings_t *strings)
{
    run_t *other = &shape->other;
    uint32_t count = other->blocks == NULL ? 0 : other->column_count;
    const uint8_t *adopted = shape->adopted == NULL ? NULL : shape->adopted + (shape->exchanged ? 0 : shape->old_count);
    for (uint32_t c = 0; c < count; c++) {
        if (adopted[c] != 0)
            continue;
        if (strings != NULL && (shape->exchanged || shape->filled[c] != 0))
            release_column(other, c, shape->run->count, strings);
        if (other->split)
            memory_free(memory, other->blocks[c].start, other->blocks[c].size);
    }
    if (other->blocks != NULL && !other->split)
        memory_free(memory, other->blocks[0].start, other->blocks[0].size);
    memory_free(memory, other->blocks, other->block_room * sizeof *other->blocks);
    memory_free(memory, other->body, other->body_room * RUN_COLUMN_BYTES);
    memory_free(memory, shape->adopted, shape->adopted == NULL ? 0 : shape->old_count + shape->new_count);
    memory_free(memory, shape->filled, shape->filled == NULL ? 0 : shape->new_count);
    memset(shape, 0, sizeof *shape);
}

/* --- in place --------------------------------------------------------------------------------------------------------- */

static void drop_column(run_t *run, memory_t *memory, strings_t *strings, uint32_t column)
{
    release_column(run, column, run->count, strings);
    if (run->split)
        memory_free(memory, run->blocks[column].start, run->blocks[column].size);
}

void run_keep(run_t *run, memory_t *memory, strings_t *strings, uint32_t first, uint32_t width, const run_pick_t *picks, uint32_t count)
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
            drop_column(run, memory, strings, first + c);
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
    run->version++;
}
