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
 * The columns of all worlds are filled together, piece by piece, on the threads of the host. A piece is a stretch of
 * rows of one column of a large run, or all columns of a small one; its values depend on nothing else. Texts and lists
 * are counted, and their counts belong to one thread: such columns are filled by the caller. Where they were made ready
 * before (ahead.h), their cells hold something already.
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
struct filling_t {
    const world_change_t *w;
    const manager_change_t *m;
    const reload_change_t *change;
    run_shape_t *shape;
    uint32_t key, old_first, new_first;
    uint32_t pieces;           /* of each column */
    uint32_t first_job;        /* the number of the first job for it */
    _Atomic uint64_t first_bad; /* number of the field, and below it the row; NOTHING_BAD */
};

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

static void fill_piece(filling_t *f, uint32_t number, uint32_t piece)
{
    uint32_t row = piece * PIECE, left = f->shape->run->count - row, count = left < PIECE ? left : PIECE;
    if (is_counted(f, number))
        return;
    uint32_t good = fill_stale(f, number, row, count);
    if (good < count)
        note_bad(f, number, row + good);
}

/* Of a large run there is a job for each piece of each column, of a small one a single job. */
static uint32_t job_count(const filling_t *f)
{
    return f->pieces > 1 ? f->pieces * f->m->component->source_count : 1;
}

/* The filling that a job is for: the last one whose first job has that number or a lower one. */
static filling_t *filling_of(const reload_change_t *change, uint32_t job)
{
    uint32_t low = 0, high = change->filling_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (change->fillings[middle].first_job <= job)
            low = middle;
        else
            high = middle;
    }
    return &change->fillings[low];
}

static void run_job(void *data, uint32_t index)
{
    const reload_change_t *change = data;
    filling_t *f = filling_of(change, index);
    uint32_t job = index - f->first_job;
    if (f->pieces > 1) {
        fill_piece(f, job / f->pieces, job % f->pieces);
        return;
    }
    for (uint32_t i = 0; i < f->m->component->source_count && f->pieces > 0; i++)
        fill_piece(f, i, 0);
}

bp_result_t columns_list(reload_change_t *change, const world_change_t *w, const manager_change_t *m,
                         run_shape_t *shape, uint32_t key, uint32_t old_first, uint32_t new_first)
{
    if (!memory_reserve(&change->reload->memory, &change->fillings, &change->filling_capacity,
                        change->filling_count + 1u, sizeof *change->fillings))
        return error_memory(change_error(change), "making other columns");
    uint32_t number = change->filling_count++;
    filling_t *f = &change->fillings[number];
    *f = (filling_t){.w = w, .m = m, .change = change, .shape = shape, .key = key, .old_first = old_first,
                     .new_first = new_first, .pieces = (shape->run->count + PIECE - 1) / PIECE};
    if (number > 0)
        f->first_job = change->fillings[number - 1].first_job + job_count(&change->fillings[number - 1]);
    atomic_init(&f->first_bad, NOTHING_BAD);
    return BP_OK;
}

/* Fill the columns that threads may fill: those with values that depend on the old columns alone. In the copy of a
 * trial there is one thread. */
void columns_fill(reload_change_t *change)
{
    const reload_t *reload = change->reload;
    const bp_jobs_i *jobs = reload->jobs;
    if (change->filling_count == 0)
        return;
    const filling_t *last = &change->fillings[change->filling_count - 1];
    uint32_t count = last->first_job + job_count(last);
    if (count > 1 && jobs != NULL && jobs->threads > 1 && jobs->run != NULL && !reload->loader->on_trial) {
        jobs_run(jobs, run_job, change, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        run_job(change, i);
}

/* Fill the columns of texts and lists; the first value of all that does not fit is an error. */
static bp_result_t end_filling(reload_change_t *change, filling_t *f)
{
    const component_change_t *c = f->m->component;
    const run_t *run = f->shape->run;
    uint64_t first = atomic_load(&f->first_bad);
    for (uint32_t i = 0; i < c->source_count; i++) {
        uint32_t bad = run->count;
        if (i == (uint32_t)(first >> 32) && first != NOTHING_BAD)
            bad = (uint32_t)first;
        else if (run->count > 0 && is_counted(f, i))
            bad = fill_stale(f, i, 0, run->count);
        if (bad == CELLS_NO_MEMORY)
            return error_memory(change_error(change), "converting a column");
        if (bad < run->count)
            return columns_refuse(change, f->w, f->m, run_entities(run)[bad], old_field(f, i), &c->kept->fields[i],
                                  run_cell(run, f->old_first + c->sources[i].old, bad));
        f->shape->filled[f->new_first + i] = true;
    }
    return BP_OK;
}

bp_result_t columns_end_fill(reload_change_t *change, const world_change_t *w)
{
    bp_result_t result = BP_OK;
    while (result == BP_OK && change->fillings_ended < change->filling_count &&
           change->fillings[change->fillings_ended].w == w)
        result = end_filling(change, &change->fillings[change->fillings_ended++]);
    return result;
}

void columns_free_list(reload_change_t *change)
{
    memory_free(&change->reload->memory, change->fillings, change->filling_capacity * sizeof *change->fillings);
    change->fillings = NULL;
    change->filling_count = change->filling_capacity = change->fillings_ended = 0;
}
