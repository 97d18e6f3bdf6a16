/* store_move.c - the moves of rows between runs when a component comes or goes.
 *
 * Rows move in one of two ways:
 *   - a stretch of entities that lie in consecutive rows moves as blocks of memory, and its gap is filled with the
 *     last rows in one more block (`move_stretch`);
 *   - scattered ones with the same origin go up to STORE_BLOCK at a time (`move_block`): the order of swap-erases is first
 *     played through on the entities column alone, which yields for each row where it was and which row filled its
 *     hole; every other column then repeats that sequence in a loop of its own, its value size known outside the loop.
 */
#include "store_move.h"

enum { LONG_STRETCH = 8 };

/* --- before: transitions and room ---------------------------------------------------------------------------------- */

bp_result_t store_look_up_transition(store_change_t *c, uint32_t from)
{
    prototypes_t *p = &c->world->prototypes;
    const transition_t *t = prototypes_cached(p, from, c->adding ? c->key : c->key | PROTOTYPES_WITHOUT);
    if (t != NULL && (t->to == 0 || p->items[t->to].run != NULL)) {
        c->to = t->to;
        c->column = t->column;
        c->from = from;
        c->found = true;
        return BP_OK;
    }
    bp_result_t result = c->adding ? prototypes_with(p, from, c->key, &c->to, &c->column)
                                   : prototypes_without(p, from, c->key, &c->to, &c->column);
    if (result == BP_OK && c->to != 0 && store_need_run(c->world, c->to) == NULL)
        result = error_memory(&c->world->base->error, "making a run");
    c->found = result == BP_OK;
    c->from = from;
    return result;
}

bool store_reserve_touched(store_change_t *c)
{
    bool good = true;
    for (run_t *run = c->touched; run != NULL; run = run->next_pending) {
        good = good && run_reserve(run, &c->world->memory, run->pending);
        run->pending = 0;
    }
    c->touched = NULL;
    return good;
}

/* --- scattered rows ------------------------------------------------------------------------------------------------- */

typedef struct block_t {
    run_t *from, *to; /* NULL: the empty prototype */
    uint32_t first;   /* of the new rows in `to` */
    uint32_t count;
    uint32_t rows[STORE_BLOCK];  /* where each row was ... */
    uint32_t lasts[STORE_BLOCK]; /* ... and the row that then filled its place; equal where it was the last */
} block_t;

/* Play the swap-erases on the entities alone, keeping records in step. */
static void play_entities(bp_world_o *world, block_t *b, uint32_t to_prototype, const bp_entity_t *entities)
{
    bp_entity_t *from = b->from != NULL ? run_entities(b->from) : NULL;
    bp_entity_t *to = b->to != NULL ? run_entities(b->to) + b->first : NULL;
    for (uint32_t i = 0; i < b->count; i++) {
        record_t *record = &world->records[bp_entity_index(entities[i])];
        if (from != NULL) {
            uint32_t row = record->row, last = --b->from->count;
            bp_entity_t filler = from[last];
            b->rows[i] = row;
            b->lasts[i] = last;
            from[row] = filler;
            if (row != last && filler.id != 0)
                world->records[bp_entity_index(filler)].row = row;
        }
        if (to != NULL) {
            to[i] = entities[i];
            store_set_record(world, entities[i], to_prototype, b->first + i);
        } else {
            *record = (record_t){0};
        }
    }
}

#define MOVE_CELLS(type)                                                    \
    do {                                                                    \
        type *f_ = (type *)(void *)from, *t_ = (type *)(void *)to;          \
        for (uint32_t i = 0; i < b->count; i++) {                           \
            uint32_t row = b->rows[i], last = b->lasts[i];                  \
            if (t_ != NULL)                                                 \
                t_[i] = f_[row];                                            \
            f_[row] = f_[last];                                             \
        }                                                                   \
    } while (0)

/* Repeat the sequence on one column; `to` NULL: the value goes. */
static void move_cells(const block_t *b, char *from, char *to, uint32_t size)
{
    switch (size) {
    case 1: MOVE_CELLS(uint8_t); break;
    case 4: MOVE_CELLS(uint32_t); break;
    case 8: MOVE_CELLS(uint64_t); break;
    case 12: MOVE_CELLS(bp_vec3_t); break;
    case 16: MOVE_CELLS(bp_vec4_t); break;
    default: MOVE_CELLS(bp_mat4_t); break;
    }
}

static void move_columns(const block_t *b, uint32_t from_column, uint32_t to_column, uint32_t count)
{
    for (uint32_t c = 0; c < count; c++) {
        char *to = b->to != NULL ? run_cell(b->to, to_column + c, b->first) : NULL;
        move_cells(b, b->from->columns[from_column + c], to, b->from->sizes[from_column + c]);
    }
}

static void drop_columns(bp_world_o *world, const block_t *b, uint32_t column, uint32_t count)
{
    for (uint32_t c = column; c < column + count; c++) {
        char *cells = b->from->columns[c];
        if (b->from->fields[c]->type == BP_STRING) {
            /* A row that fills a hole may itself leave later in the block, so this repeats the sequence too. */
            for (uint32_t i = 0; i < b->count; i++) {
                const char **strings = (const char **)(void *)cells;
                strings_release(&world->base->strings, strings[b->rows[i]]);
                strings[b->rows[i]] = strings[b->lasts[i]];
            }
        } else {
            move_cells(b, cells, NULL, b->from->sizes[c]);
        }
    }
}

static void move_block(store_change_t *c, block_t *b, const bp_entity_t *entities, const uint32_t *slots)
{
    uint32_t width = c->world->prototypes.keys[c->key].columns;
    b->first = b->to != NULL ? b->to->count : 0;
    if (b->to != NULL)
        b->to->count += b->count;
    if (b->from != NULL)
        b->from->version++;
    play_entities(c->world, b, c->to, entities);
    if (c->adding) {
        if (b->from != NULL) {
            move_columns(b, 1, 1, c->column - 1);
            move_columns(b, c->column, c->column + width, b->from->column_count - c->column);
        }
        run_fill(b->to, c->column, c->column + width, b->first, b->count);
        if (slots != NULL)
            memcpy(run_cell(b->to, c->column, b->first), slots, b->count * sizeof *slots);
    } else {
        drop_columns(c->world, b, c->column, width);
        if (b->to != NULL) {
            move_columns(b, 1, 1, c->column - 1);
            move_columns(b, c->column + width, c->column, b->to->column_count - c->column);
        }
    }
}

/* --- stretches ----------------------------------------------------------------------------------------------------- */

/* A stretch of rows moves as it lies; `fill` rows from the end of `from` take its place. */
static void move_stretch_cells(run_t *from, uint32_t row, uint32_t count, uint32_t fill, uint32_t column, char *to)
{
    size_t size = from->sizes[column];
    char *cells = run_cell(from, column, row);
    if (to != NULL)
        memcpy(to, cells, count * size);
    memcpy(cells, run_cell(from, column, from->count - fill), fill * size);
}

static void release_stretch(bp_world_o *world, run_t *from, uint32_t first, uint32_t last, uint32_t row, uint32_t count)
{
    for (uint32_t i = 0; i < count && from->has_strings; i++)
        run_release_strings(from, first, last, row + i, &world->base->strings);
}

static void place_stretch(bp_world_o *world, run_t *from, uint32_t row, uint32_t fill, run_t *to, uint32_t first,
                          const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (to != NULL)
            store_set_record(world, entities[i], to->prototype, first + i);
        else
            world->records[bp_entity_index(entities[i])] = (record_t){0};
    }
    for (uint32_t i = 0; i < fill; i++) {
        bp_entity_t filler = run_entities(from)[row + i];
        if (filler.id != 0)
            world->records[bp_entity_index(filler)].row = row + i;
    }
}

static void move_stretch(store_change_t *c, run_t *from, uint32_t row, const bp_entity_t *entities, uint32_t count, const uint32_t *slots)
{
    run_t *to = world_run(c->world, c->to);
    uint32_t width = c->world->prototypes.keys[c->key].columns, first = to != NULL ? to->count : 0;
    uint32_t behind = from->count - (row + count), fill = behind < count ? behind : count;
    uint32_t dropped = c->adding ? 0 : width, inserted = c->adding ? width : 0;
    if (dropped > 0)
        release_stretch(c->world, from, c->column, c->column + width, row, count);
    for (uint32_t i = 0; i < from->column_count; i++) {
        bool kept = to != NULL && (i < c->column || i >= c->column + dropped);
        uint32_t at = i < c->column ? i : i + inserted - dropped;
        move_stretch_cells(from, row, count, fill, i, kept ? run_cell(to, at, first) : NULL);
    }
    if (inserted > 0)
        run_fill(to, c->column, c->column + width, first, count);
    if (slots != NULL)
        memcpy(run_cell(to, c->column, first), slots, count * sizeof *slots);
    place_stretch(c->world, from, row, fill, to, first, entities, count);
    from->count -= count;
    from->version++;
    if (to != NULL)
        to->count += count;
}

/* --- all ------------------------------------------------------------------------------------------------------------- */

/* Move scattered entities from the head of the list, all of one prototype. Returns how many. */
static uint32_t move_scattered(store_change_t *c, const bp_entity_t *entities, uint32_t count, const uint32_t *slots)
{
    bp_world_o *world = c->world;
    block_t b = {.from = world_run(world, c->from), .to = world_run(world, c->to)};
    while (b.count < STORE_BLOCK && b.count < count) {
        const record_t *record = &world->records[bp_entity_index(entities[b.count])];
        if ((record->prototype & ~STORE_MARK) != c->from)
            break;
        if (b.from != NULL)
            PREFETCH(run_entities(b.from) + record->row);
        b.count++;
    }
    move_block(c, &b, entities, slots);
    return b.count;
}

void store_move_all(store_change_t *c, const bp_entity_t *entities, uint32_t count)
{
    bp_world_o *world = c->world;
    for (uint32_t i = 0, n; i < count; i += n) {
        const record_t *record = &world->records[bp_entity_index(entities[i])];
        const uint32_t *slots = c->slots == NULL ? NULL : c->slots + i;
        store_find_transition(c, record->prototype & ~STORE_MARK);
        run_t *from = world_run(world, c->from);
        n = from == NULL ? 0 : run_stretch(from, record->row, entities + i, count - i);
        if (n >= LONG_STRETCH)
            move_stretch(c, from, record->row, entities + i, n, slots);
        else
            n = move_scattered(c, entities + i, count - i, slots);
        store_moved(world, from, world_run(world, c->to), entities + i, n);
        if (c->from == 0)
            world->occupied += n;
        if (c->to == 0)
            world->occupied -= n;
    }
}
