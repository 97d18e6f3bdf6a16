/* unit_run.c - views of matches and of ranges of them.
 *
 * A view of whole runs borrows the run's own array of column addresses; a range that begins further down gets an array
 * of its own, on the stack of the thread that runs it.
 */
#include "unit_run.h"

#include "unit_call.h"

typedef struct ranges_t {
    unit_t *unit;
    const bp_step_t *step;
    const bp_world_o *world;
    uint32_t match;
    uint32_t rows; /* of the run */
} ranges_t;

/* --- views --------------------------------------------------------------------------------------------------------- */

/* The columns of one term of a match from `row` on: the run's own addresses, or `shifted`, filled with addresses moved on. NULL for
 * a term that is absent. */
static void *const *term_columns(const query_t *query, uint32_t match, uint32_t term, uint32_t row, void **shifted)
{
    const run_t *run = query->runs[match];
    uint32_t first = query_cells(query, match)[term].column;
    if (first == 0)
        return NULL;
    if (row == 0)
        return run->columns + first;
    for (uint32_t c = 0; c < query->terms[term].width; c++)
        shifted[c] = run_cell(run, first + c, row);
    return shifted;
}

static void simulate_rows(const ranges_t *r, uint32_t first, uint32_t count)
{
    const query_t *query = &r->unit->query;
    void *shifted[REGISTRY_MAX_FIELDS + 1];
    bp_run_t view = {
        .struct_size = sizeof view,
        .count = count,
        .entities = run_entities(query->runs[r->match]) + first,
        .columns = term_columns(query, r->match, 0, first, shifted),
        .instance = r->world->prototypes.keys[query_cells(query, r->match)->key].name,
    };
    unit_call_simulate(r->unit, r->step, &view);
}

static void run_rows(const ranges_t *r, uint32_t first, uint32_t count)
{
    const query_t *query = &r->unit->query;
    void *shifted[SCHEDULE_MAX_COLUMNS];
    void *const *columns[REGISTRY_MAX_TERMS];
    uint32_t used = 0;
    for (uint32_t t = 0; t < query->term_count; t++) {
        columns[t] = term_columns(query, r->match, t, first, shifted + used);
        used += columns[t] == shifted + used ? query->terms[t].width : 0;
    }
    bp_match_t match = {
        .struct_size = sizeof match, .count = count, .entities = run_entities(query->runs[r->match]) + first, .columns = columns};
    unit_call_run(r->unit, r->step, &match);
}

static void call_rows(const ranges_t *r, uint32_t first, uint32_t count)
{
    if (r->unit->system != NULL)
        run_rows(r, first, count);
    else
        simulate_rows(r, first, count);
}

/* --- ranges ---------------------------------------------------------------------------------------------------------- */

static void call_range(void *data, uint32_t index)
{
    const ranges_t *r = data;
    uint32_t first = index * SCHEDULE_RANGE_ROWS, rest = r->rows - first;
    call_rows(r, first, rest < SCHEDULE_RANGE_ROWS ? rest : SCHEDULE_RANGE_ROWS);
}

static bool may_cut(const unit_t *unit, const bp_jobs_i *jobs)
{
    uint32_t width = 0;
    for (uint32_t t = 0; t < unit->query.term_count; t++)
        width += unit->query.terms[t].width;
    bool parallel = unit->system != NULL ? (unit->system->table.flags & BP_SYSTEM_PARALLEL) != 0
                                         : (unit->manager->component->table.flags & BP_COMPONENT_PARALLEL) != 0;
    return parallel && jobs->threads > 1 && width <= SCHEDULE_MAX_COLUMNS;
}

static void run_each(const schedule_t *schedule, unit_t *unit, const bp_step_t *step, const bp_jobs_i *jobs)
{
    bool cut = may_cut(unit, jobs);
    for (uint32_t m = 0; m < unit->query.count; m++) {
        ranges_t r = {.unit = unit, .step = step, .world = schedule->world, .match = m, .rows = unit->query.runs[m]->count};
        unit->rows += r.rows;
        if (r.rows == 0)
            continue;
        if (cut && r.rows > SCHEDULE_RANGE_ROWS)
            jobs->run(jobs->context, call_range, &r, (r.rows + SCHEDULE_RANGE_ROWS - 1) / SCHEDULE_RANGE_ROWS);
        else
            call_rows(&r, 0, r.rows);
    }
}

/* --- all together ---------------------------------------------------------------------------------------------------- */

static void run_together(unit_t *unit, const bp_step_t *step)
{
    uint32_t found = 0;
    for (uint32_t m = 0; m < unit->query.count; m++) {
        const run_t *run = unit->query.runs[m];
        if (run->count == 0)
            continue;
        void *const **columns = unit->columns + (size_t)found * unit->query.term_count;
        for (uint32_t t = 0; t < unit->query.term_count; t++)
            columns[t] = term_columns(&unit->query, m, t, 0, NULL);
        unit->matches[found++] = (bp_match_t){
            .struct_size = sizeof(bp_match_t), .count = run->count, .entities = run_entities(run), .columns = columns};
        unit->rows += run->count;
    }
    unit_call_run_all(unit, step, unit->matches, found);
}

/* --- a unit ---------------------------------------------------------------------------------------------------------- */

static bool reserve_matches(schedule_t *schedule, unit_t *unit)
{
    uint64_t columns = (uint64_t)unit->query.count * unit->query.term_count;
    return memory_reserve(&schedule->memory, &unit->matches, &unit->match_capacity, unit->query.count, sizeof *unit->matches) &&
           memory_reserve(&schedule->memory, &unit->columns, &unit->column_capacity, columns, sizeof *unit->columns);
}

bool unit_run_prepare(schedule_t *schedule, unit_t *unit)
{
    bool together = unit->system != NULL && unit->system->table.run_all != NULL;
    if (unit->query.term_count > 0 && !query_refresh(&unit->query, schedule->world))
        return false;
    return !together || reserve_matches(schedule, unit);
}

void unit_run(const schedule_t *schedule, unit_t *unit, const bp_step_t *step, const bp_jobs_i *jobs)
{
    unit->rows = 0;
    if (unit->system != NULL && unit->system->table.run_all != NULL)
        run_together(unit, step);
    else if (unit->manager != NULL && unit->manager->component->own_storage)
        unit_call_simulate(unit, step, NULL);
    else
        run_each(schedule, unit, step, jobs);
}
