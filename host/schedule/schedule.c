/* schedule.c - units in order, and a step.
 *
 * Invariants: units are separate allocations, since plugins hold &unit->seen; `settled` means that every query has its
 * manager numbers and that `units` is in the order of the step. Adding or dropping a unit unsettles.
 */
#include "schedule.h"

#include "../base/os.h"
#include "../base/text.h"
#include "../entity/store.h"

schedule_t *schedule_create(bp_world_o *world, destruction_t *destruction)
{
    schedule_t *schedule = memory_new(&world->base->memory, sizeof *schedule);
    if (schedule == NULL) {
        error_memory(&world->base->error, "creating a world");
        return NULL;
    }
    schedule->world = world;
    schedule->destruction = destruction;
    memory_init_child(&schedule->memory, "schedule", &world->base->memory);
    world->schedule = schedule;
    return schedule;
}

static void free_unit(schedule_t *schedule, unit_t *unit)
{
    memory_free(&schedule->memory, unit->matches, unit->match_capacity * sizeof *unit->matches);
    memory_free(&schedule->memory, unit->columns, unit->column_capacity * sizeof *unit->columns);
    query_free(&unit->query);
    memory_free(&schedule->memory, unit, sizeof *unit);
}

static void stop_unit(unit_t *unit)
{
    if (unit->system != NULL && unit->system->table.stop != NULL)
        unit->system->table.stop(&unit->seen);
}

void schedule_free(schedule_t *schedule)
{
    for (uint32_t i = schedule->count; i > 0; i--) {
        stop_unit(schedule->units[i - 1]);
        free_unit(schedule, schedule->units[i - 1]);
    }
    memory_free(&schedule->memory, schedule->units, schedule->capacity * sizeof *schedule->units);
    schedule->world->schedule = NULL;
    memory_free(&schedule->world->base->memory, schedule, sizeof *schedule);
}

/* --- units in and out --------------------------------------------------------------------------------------------- */

static unit_t *new_unit(schedule_t *schedule, const char *name)
{
    if (!memory_reserve(&schedule->memory, &schedule->units, &schedule->capacity, schedule->count + 1u, sizeof *schedule->units))
        return NULL;
    unit_t *unit = memory_new(&schedule->memory, sizeof *unit);
    if (unit == NULL)
        return NULL;
    unit->name = name;
    query_init(&unit->query, &schedule->memory);
    return unit;
}

static bp_result_t out_of_memory(schedule_t *schedule)
{
    return error_memory(&schedule->world->base->error, "bringing a unit into a step");
}

bp_result_t schedule_add_manager(schedule_t *schedule, manager_t *manager)
{
    schedule->settled = false; /* a term of a system may have waited for it */
    if (manager->component->table.simulate == NULL)
        return BP_OK;
    unit_t *unit = new_unit(schedule, manager->component->name);
    if (unit == NULL)
        return out_of_memory(schedule);
    unit->manager = manager;
    schedule->units[schedule->count++] = unit;
    schedule->settled = false;
    return BP_OK;
}

static bp_result_t start_system(schedule_t *schedule, unit_t *unit)
{
    bp_world_o *world = schedule->world;
    error_text_t *error = &world->base->error;
    unit->seen = (bp_system_t){
        .struct_size = sizeof(bp_system_t),
        .api = world->api,
        .host = world->host,
        .world = world,
        .plugin = &unit->system->owner->seen,
    };
    if (unit->system->table.start == NULL)
        return BP_OK;
    error->text[0] = '\0';
    bp_result_t result = unit->system->table.start(&unit->seen);
    if (result != BP_OK && error->text[0] == '\0')
        error_set(error, result, "it gave no reason (code %d)", result);
    return result == BP_OK ? BP_OK : error_prefix(error, result, "system '%s' did not start in world '%s': ", unit->name, world->name);
}

bp_result_t schedule_add_system(schedule_t *schedule, system_t *system)
{
    bp_world_o *world = schedule->world;
    if (world->stepping)
        return error_set(&world->base->error, BP_ERROR_STATE, "world '%s' is in the middle of a step", world->name);
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (schedule->units[i]->system == system)
            return error_set(&world->base->error, BP_ERROR_EXISTS, "world '%s' has system '%s' already", world->name, system->name);
    }
    unit_t *unit = new_unit(schedule, system->name);
    if (unit == NULL)
        return out_of_memory(schedule);
    unit->system = system;
    bp_result_t result = start_system(schedule, unit);
    if (result != BP_OK) {
        free_unit(schedule, unit);
        return result;
    }
    schedule->units[schedule->count++] = unit;
    schedule->settled = false;
    return BP_OK;
}

static void drop_unit(schedule_t *schedule, uint32_t at)
{
    unit_t *unit = schedule->units[at];
    memmove(schedule->units + at, schedule->units + at + 1, (schedule->count - at - 1) * sizeof *schedule->units);
    schedule->count--;
    schedule->settled = false;
    stop_unit(unit);
    free_unit(schedule, unit);
}

void schedule_drop_manager(schedule_t *schedule, const manager_t *manager)
{
    schedule->settled = false;
    for (uint32_t i = schedule->count; i > 0; i--) {
        if (schedule->units[i - 1]->manager == manager)
            drop_unit(schedule, i - 1);
    }
}

void schedule_drop_system(schedule_t *schedule, const system_t *system)
{
    for (uint32_t i = schedule->count; i > 0; i--) {
        if (schedule->units[i - 1]->system == system)
            drop_unit(schedule, i - 1);
    }
}

/* --- settling ------------------------------------------------------------------------------------------------------ */

static bp_result_t settle_term(bp_world_o *world, const unit_t *unit, const term_t *term, query_term_t *settled)
{
    settled->flags = term->flags;
    settled->instance = term->instance;
    settled->manager = world_component(world, term->component);
    if (settled->manager != BP_NONE)
        settled->width = world->managers[settled->manager]->column_count;
    else if ((term->flags & (BP_TERM_OPTIONAL | BP_TERM_EXCLUDE)) == 0)
        return error_set(&world->base->error, BP_ERROR_NOT_FOUND, "system '%s' works on component '%s', which world '%s' lacks; add it to the world's components",
                         unit->name, term->component, world->name);
    return BP_OK;
}

static bp_result_t settle_unit(bp_world_o *world, unit_t *unit)
{
    query_free(&unit->query);
    if (unit->manager != NULL) {
        unit->query.term_count = 1;
        unit->query.terms[0] = (query_term_t){.manager = unit->manager->seen.component, .width = unit->manager->column_count};
        return BP_OK;
    }
    bp_result_t result = BP_OK;
    unit->query.term_count = unit->system->term_count;
    for (uint32_t t = 0; t < unit->system->term_count && result == BP_OK; t++)
        result = settle_term(world, unit, &unit->system->terms[t], &unit->query.terms[t]);
    return result;
}

static bool lists(const char *list, const char *name)
{
    char word[64];
    while ((list = text_next_word(list, word, sizeof word)) != NULL) {
        if (strcmp(word, name) == 0)
            return true;
    }
    return false;
}

static bool known_somewhere(const bp_world_o *world, const char *name)
{
    const registry_t *r = world->registry;
    for (uint32_t i = 0; i < r->component_count; i++) {
        if (r->components[i]->owner != NULL && strcmp(r->components[i]->name, name) == 0)
            return true;
    }
    for (uint32_t i = 0; i < r->system_count; i++) {
        if (r->systems[i]->owner != NULL && strcmp(r->systems[i]->name, name) == 0)
            return true;
    }
    return false;
}

static bp_result_t check_names(const bp_world_o *world, const unit_t *unit, const char *list, const char *which)
{
    char word[64];
    while ((list = text_next_word(list, word, sizeof word)) != NULL) {
        if (!known_somewhere(world, word))
            return error_set(&world->base->error, BP_ERROR_NOT_FOUND, "system '%s' wants to run %s '%s', which no loaded plugin brings", unit->name,
                             which, word);
    }
    return BP_OK;
}

static bool comes_before(const unit_t *a, const unit_t *b)
{
    return (a->system != NULL && lists(a->system->table.before, b->name)) ||
           (b->system != NULL && lists(b->system->table.after, a->name));
}

/* The first unit, in the order given, that no other unplaced unit must precede. */
static uint32_t next_unit(const schedule_t *schedule)
{
    for (uint32_t i = 0; i < schedule->count; i++) {
        bool free = !schedule->units[i]->placed;
        for (uint32_t j = 0; j < schedule->count && free; j++)
            free = j == i || schedule->units[j]->placed || !comes_before(schedule->units[j], schedule->units[i]);
        if (free)
            return i;
    }
    return BP_NONE;
}

static bp_result_t circle(const schedule_t *schedule)
{
    text_t names = {.length = 0};
    names.chars[0] = '\0';
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (!schedule->units[i]->placed)
            text_append(&names, "%s%s", names.length > 0 ? ", " : "", schedule->units[i]->name);
    }
    return error_set(&schedule->world->base->error, BP_ERROR_STATE, "world '%s': the wishes of %s to run before and after each other form a circle",
                     schedule->world->name, names.chars);
}

static bp_result_t order(schedule_t *schedule)
{
    unit_t **ordered = memory_resize(&schedule->memory, NULL, 0, (schedule->count + 1u) * sizeof *ordered);
    if (ordered == NULL)
        return error_memory(&schedule->world->base->error, "ordering a step");
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < schedule->count; i++)
        schedule->units[i]->placed = false;
    for (uint32_t i = 0; i < schedule->count && result == BP_OK; i++) {
        uint32_t next = next_unit(schedule);
        if (next == BP_NONE) {
            result = circle(schedule);
        } else {
            ordered[i] = schedule->units[next];
            ordered[i]->placed = true;
        }
    }
    if (result == BP_OK && schedule->count > 0)
        memcpy(schedule->units, ordered, schedule->count * sizeof *ordered);
    memory_free(&schedule->memory, ordered, (schedule->count + 1u) * sizeof *ordered);
    return result;
}

bp_result_t schedule_settle(schedule_t *schedule)
{
    bp_result_t result = BP_OK;
    if (schedule->settled)
        return BP_OK;
    for (uint32_t i = 0; i < schedule->count && result == BP_OK; i++) {
        unit_t *unit = schedule->units[i];
        result = settle_unit(schedule->world, unit);
        if (result == BP_OK && unit->system != NULL)
            result = check_names(schedule->world, unit, unit->system->table.before, "before");
        if (result == BP_OK && unit->system != NULL)
            result = check_names(schedule->world, unit, unit->system->table.after, "after");
    }
    if (result == BP_OK)
        result = order(schedule);
    schedule->settled = result == BP_OK;
    return result;
}

/* --- running: runs and ranges of runs -------------------------------------------------------------------------------- */

typedef struct ranges_t {
    unit_t *unit;
    const bp_step_t *step;
    const bp_world_o *world;
    uint32_t match;
    uint32_t rows; /* of the run */
} ranges_t;

static bp_run_t run_view(const ranges_t *r)
{
    const run_t *run = r->unit->query.runs[r->match];
    const query_cell_t *cell = query_cells(&r->unit->query, r->match);
    return (bp_run_t){
        .struct_size = sizeof(bp_run_t),
        .count = r->rows,
        .entities = run_entities(run),
        .columns = run->columns + cell->column,
        .instance = r->world->prototypes.keys[cell->key].name,
    };
}

/* Columns of a range that begins at `row`: the run's, moved on. */
static void shift_columns(const run_t *run, uint32_t first_column, uint32_t count, uint32_t row, void **columns)
{
    for (uint32_t c = 0; c < count; c++)
        columns[c] = run_cell(run, first_column + c, row);
}

static void simulate_range(void *data, uint32_t index)
{
    const ranges_t *r = data;
    const run_t *run = r->unit->query.runs[r->match];
    uint32_t first = index * SCHEDULE_RANGE_ROWS;
    void *columns[REGISTRY_MAX_FIELDS + 1];
    bp_run_t view = run_view(r);
    shift_columns(run, query_cells(&r->unit->query, r->match)->column, r->unit->query.terms[0].width, first, columns);
    view.columns = columns;
    view.entities += first;
    view.count = r->rows - first < SCHEDULE_RANGE_ROWS ? r->rows - first : SCHEDULE_RANGE_ROWS;
    r->unit->manager->component->table.simulate(&r->unit->manager->seen, r->step, &view);
}

static uint32_t range_count(uint32_t rows)
{
    return (rows + SCHEDULE_RANGE_ROWS - 1) / SCHEDULE_RANGE_ROWS;
}

static void simulate_component(unit_t *unit, const bp_world_o *world, const bp_step_t *step, const bp_jobs_i *jobs)
{
    const bp_component_i *table = &unit->manager->component->table;
    bool cut = (table->flags & BP_COMPONENT_PARALLEL) != 0 && jobs->threads > 1;
    for (uint32_t m = 0; m < unit->query.count; m++) {
        ranges_t r = {.unit = unit, .step = step, .world = world, .match = m, .rows = unit->query.runs[m]->count};
        unit->rows += r.rows;
        if (r.rows == 0)
            continue;
        if (cut && r.rows > SCHEDULE_RANGE_ROWS) {
            jobs->run(jobs->context, simulate_range, &r, range_count(r.rows));
        } else {
            bp_run_t view = run_view(&r);
            table->simulate(&unit->manager->seen, step, &view);
        }
    }
}

static void set_term_columns(const unit_t *unit, uint32_t match, void *const **columns)
{
    const query_cell_t *cells = query_cells(&unit->query, match);
    for (uint32_t t = 0; t < unit->query.term_count; t++)
        columns[t] = cells[t].column == 0 ? NULL : unit->query.runs[match]->columns + cells[t].column;
}

static void run_range(void *data, uint32_t index)
{
    const ranges_t *r = data;
    const query_t *query = &r->unit->query;
    const run_t *run = query->runs[r->match];
    const query_cell_t *cells = query_cells(query, r->match);
    uint32_t first = index * SCHEDULE_RANGE_ROWS, used = 0;
    void *shifted[SCHEDULE_MAX_COLUMNS];
    void *const *columns[REGISTRY_MAX_TERMS];
    for (uint32_t t = 0; t < query->term_count; t++) {
        columns[t] = cells[t].column == 0 ? NULL : shifted + used;
        if (cells[t].column == 0)
            continue;
        shift_columns(run, cells[t].column, query->terms[t].width, first, shifted + used);
        used += query->terms[t].width;
    }
    bp_match_t match = {.struct_size = sizeof match, .entities = run_entities(run) + first, .columns = columns};
    match.count = r->rows - first < SCHEDULE_RANGE_ROWS ? r->rows - first : SCHEDULE_RANGE_ROWS;
    r->unit->system->table.run(&r->unit->seen, r->step, &match);
}

static bool may_cut(const unit_t *unit, const bp_jobs_i *jobs)
{
    uint32_t width = 0;
    for (uint32_t t = 0; t < unit->query.term_count; t++)
        width += unit->query.terms[t].width;
    return (unit->system->table.flags & BP_SYSTEM_PARALLEL) != 0 && jobs->threads > 1 && width <= SCHEDULE_MAX_COLUMNS;
}

static void run_each(unit_t *unit, const bp_world_o *world, const bp_step_t *step, const bp_jobs_i *jobs)
{
    bool cut = may_cut(unit, jobs);
    for (uint32_t m = 0; m < unit->query.count; m++) {
        ranges_t r = {.unit = unit, .step = step, .world = world, .match = m, .rows = unit->query.runs[m]->count};
        unit->rows += r.rows;
        if (r.rows == 0)
            continue;
        if (cut && r.rows > SCHEDULE_RANGE_ROWS) {
            jobs->run(jobs->context, run_range, &r, range_count(r.rows));
        } else {
            void *const *columns[REGISTRY_MAX_TERMS];
            set_term_columns(unit, m, columns);
            bp_match_t match = {
                .struct_size = sizeof match, .count = r.rows, .entities = run_entities(unit->query.runs[m]), .columns = columns};
            unit->system->table.run(&unit->seen, step, &match);
        }
    }
}

static bool reserve_matches(schedule_t *schedule, unit_t *unit)
{
    uint64_t columns = (uint64_t)unit->query.count * unit->query.term_count;
    return memory_reserve(&schedule->memory, &unit->matches, &unit->match_capacity, unit->query.count, sizeof *unit->matches) &&
           memory_reserve(&schedule->memory, &unit->columns, &unit->column_capacity, columns, sizeof *unit->columns);
}

static void run_together(unit_t *unit, const bp_step_t *step)
{
    uint32_t found = 0;
    for (uint32_t m = 0; m < unit->query.count; m++) {
        const run_t *run = unit->query.runs[m];
        if (run->count == 0)
            continue;
        void *const **columns = unit->columns + (size_t)found * unit->query.term_count;
        set_term_columns(unit, m, columns);
        unit->matches[found++] = (bp_match_t){
            .struct_size = sizeof(bp_match_t), .count = run->count, .entities = run_entities(run), .columns = columns};
        unit->rows += run->count;
    }
    unit->system->table.run_all(&unit->seen, step, unit->matches, found);
}

/* --- a step ---------------------------------------------------------------------------------------------------------- */

/* All that can fail comes first: no run can come into being while units run. */
static bp_result_t match_units(schedule_t *schedule)
{
    for (uint32_t i = 0; i < schedule->count; i++) {
        unit_t *unit = schedule->units[i];
        bool together = unit->system != NULL && unit->system->table.run_all != NULL;
        if ((unit->query.term_count > 0 && !query_refresh(&unit->query, schedule->world)) ||
            (together && !reserve_matches(schedule, unit)))
            return error_memory(&schedule->world->base->error, "matching the units of a step");
    }
    return BP_OK;
}

static void run_unit(schedule_t *schedule, unit_t *unit, const bp_step_t *step, const bp_jobs_i *jobs)
{
    unit->rows = 0;
    if (unit->system != NULL && unit->system->table.run_all != NULL)
        run_together(unit, step);
    else if (unit->system != NULL)
        run_each(unit, schedule->world, step, jobs);
    else if (unit->manager->component->own_storage)
        unit->manager->component->table.simulate(&unit->manager->seen, step, NULL);
    else
        simulate_component(unit, schedule->world, step, jobs);
}

static void run_units(schedule_t *schedule, const bp_step_t *step, const bp_jobs_i *jobs)
{
    uint64_t before = os_clock_ns();
    for (uint32_t i = 0; i < schedule->count; i++) {
        unit_t *unit = schedule->units[i];
        run_unit(schedule, unit, step, jobs);
        uint64_t now = os_clock_ns();
        unit->nanoseconds += now - before;
        unit->steps++;
        before = now;
    }
}

bp_result_t schedule_prepare(schedule_t *schedule)
{
    bp_result_t result = schedule_settle(schedule);
    return result == BP_OK ? match_units(schedule) : result;
}

bp_result_t schedule_step(schedule_t *schedule, const bp_jobs_i *jobs)
{
    bp_world_o *world = schedule->world;
    if (world->stepping)
        return error_set(&world->base->error, BP_ERROR_STATE, "world '%s' is in the middle of a step", world->name);
    uint64_t began = os_clock_ns();
    bp_result_t result = schedule_prepare(schedule);
    if (result != BP_OK)
        return result;
    bp_step_t step = {
        .struct_size = sizeof step, .number = world->steps, .dt = 1.0 / world->step_rate, .time = world->time};
    world->stepping = true;
    destruction_begin_step(schedule->destruction);
    run_units(schedule, &step, jobs);
    world->stepping = false;
    destruction_end_step(schedule->destruction);
    world->steps++;
    world->time = (double)world->steps / world->step_rate;
    store_collect(world);
    world->nanoseconds += os_clock_ns() - began;
    return BP_OK;
}
