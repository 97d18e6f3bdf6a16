/* store_move.c - the moves of rows between runs when a component comes or goes, and when a manager leaves a world.
 *
 * Rows are added behind those of `to`, after its holes have been filled. In `from` they leave holes, of which few may
 * stay (store_holes_allowed); the others are filled with the last rows when all have moved. So a row is copied once,
 * and once more only where it fills a hole that is left: a batch that empties a run fills none.
 *
 * Rows move in one of two ways:
 *   - a stretch of entities that lie in consecutive rows moves as blocks of memory (`move_stretch`);
 *   - scattered ones with the same origin go up to STORE_BLOCK at a time (`move_block`): each column in a loop of its
 *     own, its value size known outside the loop.
 *
 * Scattered entities come to `to` in the order of the batch, so that the same batch, when it goes back, is one stretch.
 * Measured: moved in the order of their rows instead, a batch of 10,000 shuffled entities that gets a component and
 * loses it took longer by a quarter, since both ways were scattered then.
 *
 * Not here: asking managers, judging batches (store_change.c).
 */
#include "store.h"
#include "hooks.h"
#include "own.h"
#include "store_inner.h"

enum { LONG_STRETCH = 8 };

/* --- before: transitions and room --------------------------------------------------------------------------------- */

bp_result_t store_look_up_transition(store_change_t *c, uint32_t from)
{
    prototypes_t *p = &c->world->prototypes;
    const transition_t *t = prototypes_cached(p, from, c->key, c->adding);
    if (t != NULL && (t->to == 0 || p->items[t->to].run != NULL)) {
        prototypes_link(p, from, c->key, c->adding);
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
    if (result == BP_OK)
        prototypes_link(p, from, c->key, c->adding);
    c->found = result == BP_OK;
    c->from = from;
    return result;
}

bool store_reserve_touched(store_change_t *c)
{
    bool good = true;
    for (run_t *run = c->touched; run != NULL; run = run->next_pending) {
        good = good && store_reserve_rows(c->world, run, run->pending);
        run->pending = 0;
    }
    c->touched = NULL;
    return good;
}

/* --- scattered rows ----------------------------------------------------------------------------------------------- */

/* Rows of one run that move together. */
typedef struct block_t {
    run_t *from, *to; /* NULL: the empty prototype */
    uint32_t first;   /* of the new rows in `to` */
    uint32_t count;
    uint32_t rows[STORE_BLOCK]; /* where each row is */
} block_t;

#define MOVE_CELLS(type)                                                    \
    do {                                                                    \
        const type *f_ = (const type *)(const void *)from;                  \
        type *restrict t_ = (type *)(void *)to;                             \
        for (uint32_t i = 0; i < b->count; i++)                             \
            t_[i] = f_[b->rows[i]];                                         \
    } while (0)

static void move_large_cells(const block_t *b, const char *from, char *to, size_t size)
{
    for (uint32_t i = 0; i < b->count; i++)
        memcpy(to + i * size, from + b->rows[i] * size, size);
}

static void move_cells(const block_t *b, const char *from, char *to, uint32_t size)
{
    switch (size) {
    case 1: MOVE_CELLS(uint8_t); break;
    case 2: MOVE_CELLS(uint16_t); break;
    case 4: MOVE_CELLS(uint32_t); break;
    case 8: MOVE_CELLS(uint64_t); break;
    case 12: MOVE_CELLS(bp_vec3_t); break;
    case 16: MOVE_CELLS(bp_vec4_t); break;
    default: move_large_cells(b, from, to, size); break;
    }
}

/* Copy columns; texts and lists go along, so that the hole holds none. */
static void move_columns(const block_t *b, uint32_t from_column, uint32_t to_column, uint32_t count)
{
    for (uint32_t c = 0; c < count && b->to != NULL; c++) {
        char *from = b->from->columns[from_column + c];
        move_cells(b, from, run_cell(b->to, to_column + c, b->first), b->from->sizes[from_column + c]);
        const field_t *field = b->from->fields[from_column + c];
        for (uint32_t i = 0; field_is_counted(field) && i < b->count; i++)
            cells_clear(field, from + (size_t)b->rows[i] * field->size, 1);
    }
}

static void drop_columns(world_t *world, const block_t *b, uint32_t column, uint32_t count)
{
    for (uint32_t c = column; c < column + count && b->from->has_counted; c++) {
        const field_t *field = b->from->fields[c];
        for (uint32_t i = 0; field_is_counted(field) && i < b->count; i++) {
            void *cell = run_cell(b->from, c, b->rows[i]);
            cells_release(&world->holdings, field, cell, 1);
            cells_clear(field, cell, 1);
        }
    }
}

static void move_values(store_change_t *c, const block_t *b, const uint32_t *slots)
{
    uint32_t width = c->world->prototypes.keys[c->key].columns;
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

/* Entities have come to consecutive rows of a run, from `first` on, or to no run. */
static void set_records(world_t *world, const run_t *to, uint32_t first, const bp_entity_t *entities, uint32_t count)
{
    if (to != NULL) {
        store_set_records(world, entities, count, to->prototype, first);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        *world_own_record(world, entities[i]) = (record_t){0};
}

/* Move scattered entities from the head of the list, all of one prototype. Returns how many. */
static uint32_t move_scattered(store_change_t *c, const bp_entity_t *entities, uint32_t count, const uint32_t *slots)
{
    world_t *world = c->world;
    block_t b = {.from = world_run(world, c->from), .to = world_run(world, c->to)};
    for (; b.count < STORE_BLOCK && b.count < count; b.count++) {
        const record_t *record = world_own_record(world, entities[b.count]);
        if ((record->prototype & ~RECORD_MARK) != c->from)
            break;
        b.rows[b.count] = record->row;
    }
    b.first = b.to != NULL ? b.to->count : 0;
    if (b.to != NULL) {
        b.to->count += b.count;
        stamps_note_rows(b.to->stamps, b.first, b.count);
    }
    move_values(c, &b, slots);
    if (b.to != NULL)
        memcpy(run_entities(b.to) + b.first, entities, b.count * sizeof *entities);
    set_records(world, b.to, b.first, entities, b.count);
    if (b.from != NULL)
        store_leave_scattered(world, b.from, b.rows, b.count);
    return b.count;
}

/* --- stretches ---------------------------------------------------------------------------------------------------- */

static void move_stretch_cells(world_t *world, run_t *from, uint32_t row, uint32_t count, uint32_t column, char *to)
{
    if (to != NULL)
        memcpy(to, run_cell(from, column, row), (size_t)count * from->sizes[column]);
    if (!field_is_counted(from->fields[column]))
        return;
    if (to == NULL)
        run_release(from, column, column + 1, row, count, &world->holdings);
    cells_clear(from->fields[column], run_cell(from, column, row), count);
}

static void move_stretch(store_change_t *c, run_t *from, uint32_t row, const bp_entity_t *entities, uint32_t count,
                         const uint32_t *slots)
{
    world_t *world = c->world;
    run_t *to = world_run(world, c->to);
    uint32_t width = world->prototypes.keys[c->key].columns, first = to != NULL ? to->count : 0;
    uint32_t dropped = c->adding ? 0 : width, inserted = c->adding ? width : 0;
    if (to != NULL) {
        to->count += count;
        stamps_note_rows(to->stamps, first, count);
    }
    for (uint32_t i = 0; i < from->column_count; i++) {
        bool kept = to != NULL && (i < c->column || i >= c->column + dropped);
        uint32_t at = i < c->column ? i : i + inserted - dropped;
        move_stretch_cells(world, from, row, count, i, kept ? run_cell(to, at, first) : NULL);
    }
    if (inserted > 0)
        run_fill(to, c->column, c->column + width, first, count);
    if (slots != NULL)
        memcpy(run_cell(to, c->column, first), slots, count * sizeof *slots);
    set_records(world, to, first, entities, count);
    store_leave_rows(world, from, row, count);
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

/* Holes of the run that entities come to are filled first, as many as there are entities, so that the added rows lie
   together. */
static void close_holes(world_t *world, run_t *to, uint32_t count)
{
    if (to != NULL && to->holes > 0)
        store_compact(world, to, UINT32_MAX, to->holes - (count < to->holes ? count : to->holes));
}

/* Entities of a batch that come one behind the other and have the same origin and destination. Returns how many
   moved. */
static uint32_t move_some(store_change_t *c, const bp_entity_t *entities, uint32_t count, const uint32_t *slots)
{
    world_t *world = c->world;
    const record_t *record = world_own_record(world, entities[0]);
    run_t *from = world_run(world, c->from);
    uint32_t n = from == NULL ? 0 : run_stretch(from, record->row, entities, count);
    if (n >= LONG_STRETCH) {
        close_holes(world, world_run(world, c->to), n);
        move_stretch(c, from, record->row, entities, n, slots);
        return n;
    }
    close_holes(world, world_run(world, c->to), count < STORE_BLOCK ? count : STORE_BLOCK);
    return move_scattered(c, entities, count, slots);
}

/* A run that entities have left keeps few holes. */
static void fill_left(world_t *world, run_t *run)
{
    if (run != NULL && run->holes > store_holes_allowed(run))
        store_compact(world, run, UINT32_MAX, store_holes_allowed(run));
}

void store_move_all(store_change_t *c, const bp_entity_t *entities, uint32_t count)
{
    world_t *world = c->world;
    run_t *from = NULL;
    for (uint32_t i = 0, n; i < count; i += n) {
        const record_t *record = world_own_record(world, entities[i]);
        store_follow_transition(c, record->prototype & ~RECORD_MARK);
        if (world_run(world, c->from) != from)
            fill_left(world, from);
        from = world_run(world, c->from);
        n = move_some(c, entities + i, count - i, c->slots == NULL ? NULL : c->slots + i);
        store_moved(world, from, world_run(world, c->to), entities + i, n);
        if (c->from == 0)
            world->occupied += n;
        if (c->to == 0)
            world->occupied -= n;
    }
    fill_left(world, from);
}

/* --- a manager leaves --------------------------------------------------------------------------------------------- */

/* Taking a manager's components out of a world: all rows of all runs that have them move.
 *
 * A plugin that goes must not fail half way. So the memory for all moves of all its managers is taken beforehand
 * (store_prepare_strip), counting each row into every run that it will pass through while one key after another goes.
 */

/* Take one key away from all rows of a run that has it. */
static bp_result_t strip_run(world_t *world, run_t *run, uint32_t key)
{
    store_change_t c = {.world = world, .key = key};
    store_compact(world, run, UINT32_MAX, 0);
    bp_result_t result = store_find_transition(&c, run->prototype);
    if (result == BP_OK && c.to != 0 && !store_reserve_rows(world, world_run(world, c.to), run->count))
        result = error_memory(&world->base->error, "taking a component out of a world");
    bool told = (world->prototypes.keys[key].flags & KEY_HOOKED) != 0 &&
                !plugin_is_aside(world_key_manager(world, key)->component->owner);
    if (result == BP_OK && told && run->count > 0)
        hooks_removed(world, key, run, 0, run->count);
    while (result == BP_OK && run->count > 0) {
        bp_entity_t last[STORE_BLOCK];
        uint32_t count = run->count < STORE_BLOCK ? run->count : STORE_BLOCK;
        memcpy(last, run_entities(run) + run->count - count, count * sizeof *last);
        store_move_all(&c, last, count);
    }
    if (result == BP_OK)
        run_trim(run, &world->memory, SIZE_MAX / 2); /* no entity can have these components again */
    return result;
}

static uint32_t key_of_manager(const world_t *world, uint32_t prototype, uint32_t manager)
{
    const prototypes_t *p = &world->prototypes;
    for (uint32_t at = prototype; at != 0; at = p->items[at].base) {
        if (p->keys[p->items[at].key].manager == manager)
            return p->items[at].key;
    }
    return BP_NONE;
}

/* Count the rows of a run into every run that they will pass through while one key after another goes. */
static bp_result_t plan_strip(store_change_t *c, const run_t *run, const plugin_t *owner, const manager_t *only)
{
    world_t *world = c->world;
    uint32_t at = run->prototype;
    for (uint32_t m = world->manager_count; m > 0; m--) {
        const manager_t *manager = world->managers[m - 1];
        bool goes = owner == NULL ? manager->leaving : manager->component->owner == owner;
        if (!manager->started || !goes || (only != NULL && manager != only))
            continue;
        while ((c->key = key_of_manager(world, at, m - 1)) != BP_NONE) {
            c->found = false;
            bp_result_t result = store_find_transition(c, at);
            if (result != BP_OK)
                return result;
            at = c->to;
            run_t *to = world_run(world, at);
            if (to == NULL)
                continue;
            if (to->pending == 0) {
                to->next_pending = c->touched;
                c->touched = to;
            }
            to->pending += run->count;
        }
    }
    return BP_OK;
}

bp_result_t store_prepare_strip(world_t *world, const plugin_t *owner, const manager_t *only)
{
    if (world_holds_rows(world))
        return store_refuse_held(world);
    store_change_t c = {.world = world};
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < world->run_count && result == BP_OK; i++) {
        if (world->runs[i]->count > 0)
            result = plan_strip(&c, world->runs[i], owner, only);
    }
    bool room = store_reserve_touched(&c);
    if (result == BP_OK && !room)
        result = error_memory(&world->base->error, "taking components out of a world");
    return result;
}

bp_result_t store_strip(world_t *world, uint32_t manager)
{
    if (world_holds_rows(world))
        return store_refuse_held(world);
    bp_result_t result = BP_OK;
    /* Rows lose one key in each move, and may come into a run that was looked at already. So all runs are looked at
     * again, as often as a run has keys of the manager. */
    for (bool moved = true; moved && result == BP_OK;) {
        moved = false;
        for (uint32_t i = 0; i < world->run_count && result == BP_OK; i++) {
            run_t *run = world->runs[i];
            uint32_t key = run->count > 0 ? key_of_manager(world, run->prototype, manager) : BP_NONE;
            if (key == BP_NONE)
                continue;
            result = strip_run(world, run, key);
            moved = true;
        }
    }
    own_settle(world);
    return result;
}
