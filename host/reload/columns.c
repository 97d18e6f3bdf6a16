/* columns.c - declared fields: which old columns become which new ones, and with which values.
 *
 * Columns of unchanged fields are taken over without touching them, unless limits have become tighter and every value
 * must be checked. Added columns get their default, which costs nothing where it is zero and the memory fresh from the
 * system; converted columns are written beside the old ones.
 *
 * Where there will be a probation, a column without a place in the new list stays as a hidden column behind the list.
 * Hidden columns have the same rows as all others: they go along when entities come, go and change their components, so
 * that the columns can be brought back at any time.
 *
 * The columns of a large run are filled piece by piece, on the threads of the host. A piece is a stretch of rows of one
 * column; its values depend on nothing else. Texts and lists are counted, and their counts belong to one thread: such
 * columns are filled by the caller. Where they were made ready before (ahead.h), their cells hold something already.
 * The error is always about the first value that does not fit of the first such field, whichever piece finds one first.
 */
#include "ahead.h"
#include "../step/jobs.h"

enum { PIECE = 16384 /* rows: a few hundred microseconds at most */ };

/* --- the plan ----------------------------------------------------------------------------------------------------- */

static bool is_adopted(const component_change_t *c, uint32_t old)
{
    for (uint32_t i = 0; i < c->source_count; i++) {
        if (c->sources[i].old == old && c->sources[i].kind == CONVERT_SAME)
            return true;
    }
    return false;
}

static bool reserve_columns(reload_change_t *change, manager_change_t *m, uint32_t count)
{
    memory_t *memory = &world_of(m->manager->verb.handed.world)->memory;
    (void)change;
    m->column_count = m->pick_count = count;
    if (count == 0)
        return true;
    m->columns = memory_new(memory, count * sizeof *m->columns);
    m->picks = memory_new(memory, count * sizeof *m->picks);
    return m->columns != NULL && m->picks != NULL;
}

static void add_column(manager_change_t *m, uint32_t *at, const field_t *field, uint32_t from)
{
    m->columns[*at] = field;
    m->picks[(*at)++] = (run_pick_t){from, field};
}

bp_result_t columns_plan(reload_change_t *change, world_change_t *w, manager_change_t *m)
{
    static const field_t old_slot = {.name = "slot_before", .type = BP_U32, .size = 4, .initial = {.u32 = BP_NONE}};
    const component_change_t *c = m->component;
    bool own = c->kept->own_storage, was_own = c->slot->own_storage;
    uint32_t visible = own ? 1 : component_columns(c->kept), old_count = world_visible(m->manager), at = 0, hidden = 0;
    for (uint32_t i = 0; i < old_count && change->hides; i++)
        hidden += was_own || own || !is_adopted(c, i);
    m->moves = true;
    if (!reserve_columns(change, m, visible + hidden))
        return error_memory(change_error(change), "making other columns");
    for (uint32_t i = 0; i < visible; i++) {
        bool adopted = !own && !was_own && c->sources[i].old != BP_NONE && c->sources[i].kind == CONVERT_SAME;
        add_column(m, &at, own ? &world_slot_field : &c->kept->fields[i], adopted ? c->sources[i].old : BP_NONE);
    }
    for (uint32_t i = 0; i < old_count && change->hides; i++) {
        if (was_own || own || !is_adopted(c, i))
            add_column(m, &at, was_own ? &old_slot : &c->slot->fields[i], i);
    }
    m->hidden = hidden;
    m->visible_count = visible;
    if (hidden == 0 || visible == 0)
        return BP_OK;
    m->visible = memory_new(&w->world->memory, visible * sizeof *m->visible);
    if (m->visible == NULL)
        return error_memory(change_error(change), "making other columns");
    memcpy(m->visible, m->columns, visible * sizeof *m->visible);
    return BP_OK;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

bp_result_t columns_refuse(reload_change_t *change, const world_change_t *w, const manager_change_t *m,
                           bp_entity_t entity, const field_t *old, const field_t *field, const void *value)
{
    char who[32];
    const value_context_t *values = &w->world->base->values;
    error_text_t *error = change_error(change);
    value_format(values, BP_ENTITY, &entity, who, sizeof who);
    bp_result_t result = convert_refuse(values, old, field, value, error);
    return error_prefix(error, result, "component '%s', world '%s', entity %s: ", m->component->slot->name,
                        w->world->name, who);
}

/* Is the block behind a new column made of fresh pages of the system, which come cleared? */
static bool is_clear(const run_shape_t *shape, const memory_t *memory, uint32_t column)
{
    return shape->kept.split && memory_is_pages(memory, shape->kept.blocks[column].size);
}

/* The new columns of a key in a run. */
typedef struct filling_t {
    const world_change_t *w;
    const manager_change_t *m;
    const reload_change_t *change;
    run_shape_t *shape;
    uint32_t key, old_first, new_first;
    uint32_t pieces;           /* of each column */
    _Atomic uint64_t first_bad; /* number of the field, and below it the row; NOTHING_BAD */
} filling_t;

#define NOTHING_BAD UINT64_MAX

static const field_t *old_field(const filling_t *f, uint32_t number)
{
    const component_change_t *c = f->m->component;
    return c->sources[number].old == BP_NONE ? NULL : &c->slot->fields[c->sources[number].old];
}

static char *new_cells(const filling_t *f, uint32_t number, uint32_t row)
{
    size_t size = f->m->component->kept->fields[number].size;
    return (char *)f->shape->kept.columns[f->new_first + number] + row * size;
}

/* Are the values made by the caller's thread alone? */
static bool is_counted(const filling_t *f, uint32_t number)
{
    const field_t *old = old_field(f, number);
    return field_is_counted(&f->m->component->kept->fields[number]) || (old != NULL && field_is_counted(old));
}

/* Fill rows of a column, whether it was made ready or not. Returns how many from `row` on are right;
 * CELLS_NO_MEMORY. */
static uint32_t fill_rows(const filling_t *f, uint32_t number, uint32_t row, uint32_t count)
{
    const convert_source_t *source = &f->m->component->sources[number];
    const field_t *field = &f->m->component->kept->fields[number], *old = old_field(f, number);
    const run_t *run = f->shape->run;
    void *cells = new_cells(f, number, row);
    if (old == NULL && field->initial_is_zero && is_clear(f->shape, &f->w->world->memory, f->new_first + number))
        return count;
    if (old == NULL)
        cells_fill_many(field, cells, count);
    else if (source->kind != CONVERT_SAME)
        return cells_convert(&f->w->world->holdings, old, run_cell(run, f->old_first + source->old, row), field, cells,
                             count, run_entities(run) + row);
    else if (source->check)
        return convert_check(field, cells, count, run_entities(run) + row);
    return count;
}

/* Fill rows of a column that was made ready: their cells hold the values of the time when they were made, or nothing.
 * On failure they hold nothing. */
static uint32_t refill_rows(const filling_t *f, uint32_t number, uint32_t row, uint32_t count)
{
    const field_t *field = &f->m->component->kept->fields[number];
    void *cells = new_cells(f, number, row);
    cells_release(&f->w->world->holdings, field, cells, count);
    uint32_t good = fill_rows(f, number, row, count);
    if (good != count && field_is_counted(field))
        cells_clear(field, cells, count);
    return good;
}

/* Fill those rows that are not ready. */
static uint32_t fill_stale(const filling_t *f, uint32_t number, uint32_t row, uint32_t count)
{
    const ahead_column_t *ready = ahead_taken(f->change, f->shape->run, f->key, number);
    if (ready == NULL)
        return fill_rows(f, number, row, count);
    uint32_t end = row + count, length, old = f->old_first + f->m->component->sources[number].old;
    for (uint32_t at = row; at < end; at += length) {
        at = ahead_next_stale(ready, f->shape->run, old, at, end - at, &length);
        uint32_t good = length == 0 ? 0 : refill_rows(f, number, at, length);
        if (good == CELLS_NO_MEMORY)
            return good;
        if (good < length)
            return at + good - row;
    }
    return count;
}

static void note_bad(filling_t *f, uint32_t number, uint32_t row)
{
    uint64_t bad = (uint64_t)number << 32 | row, first = atomic_load(&f->first_bad);
    while (bad < first && !atomic_compare_exchange_weak(&f->first_bad, &first, bad))
        ;
}

/* A job: one piece of one column. */
static void fill_piece(void *data, uint32_t index)
{
    filling_t *f = data;
    uint32_t number = index / f->pieces, row = index % f->pieces * PIECE, left = f->shape->run->count - row;
    uint32_t count = left < PIECE ? left : PIECE;
    if (is_counted(f, number))
        return;
    uint32_t good = fill_stale(f, number, row, count);
    if (good < count)
        note_bad(f, number, row + good);
}

/* Fill the columns that threads may fill: those with values that depend on the old columns alone. In the copy of a
 * trial there is one thread. */
static void fill_pieces(const reload_change_t *change, filling_t *f)
{
    const reload_t *reload = change->reload;
    const bp_jobs_i *jobs = reload->jobs;
    uint32_t count = f->pieces * f->m->component->source_count;
    if (f->pieces > 1 && jobs != NULL && jobs->threads > 1 && jobs->run != NULL && !reload->loader->on_trial) {
        jobs_run(jobs, fill_piece, f, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        fill_piece(f, i);
}

bp_result_t columns_fill(reload_change_t *change, const world_change_t *w, const manager_change_t *m,
                         run_shape_t *shape, uint32_t key, uint32_t old_first, uint32_t new_first)
{
    const component_change_t *c = m->component;
    const run_t *run = shape->run;
    filling_t f = {.w = w, .m = m, .change = change, .shape = shape, .key = key};
    f.old_first = old_first;
    f.new_first = new_first;
    f.pieces = (run->count + PIECE - 1) / PIECE;
    atomic_init(&f.first_bad, NOTHING_BAD);
    fill_pieces(change, &f);
    uint64_t first = atomic_load(&f.first_bad);
    for (uint32_t i = 0; i < c->source_count; i++) {
        uint32_t bad = run->count;
        if (i == (uint32_t)(first >> 32) && first != NOTHING_BAD)
            bad = (uint32_t)first;
        else if (run->count > 0 && is_counted(&f, i))
            bad = fill_stale(&f, i, 0, run->count);
        if (bad == CELLS_NO_MEMORY)
            return error_memory(change_error(change), "converting a column");
        if (bad < run->count)
            return columns_refuse(change, w, m, run_entities(run)[bad], old_field(&f, i), &c->kept->fields[i],
                                  run_cell(run, old_first + c->sources[i].old, bad));
        shape->filled[new_first + i] = true;
    }
    return BP_OK;
}
