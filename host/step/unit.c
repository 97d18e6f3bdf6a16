/* unit.c - views of matches and of ranges of them.
 *
 * A view of whole runs borrows the run's own array of column addresses; a range that begins further down gets an array
 * of its own, on the stack of the thread that runs it. The calls that a thread makes in a row share one copy of the
 * step and, until something is recorded, one recorder of commands: both are made once for all of them, since matches
 * may be many and small.
 */
#include "../base/base.h"
#include "../plugin/verbs.h"
#include "schedule_inner.h"

enum {
    TASK_ROWS = 4096, /* small matches make up one task until they have so many rows */
    AHEAD = 2         /* matches */
};

/* Calls that one thread makes one after another: the calls share a copy of the step, the parts that are the same in all
 * views and, until a command is recorded, the recorder. */
typedef struct calls_t {
    unit_t *unit;
    bp_step_t step;
    struct bp_commands_o recorder;
    lists_call_t lists;
    bp_match_t match; /* a system is handed this, */
    bp_run_t run;     /* a manager this */
    void *const *columns[TERMS_MAX];
    const uint32_t *slots[TERMS_MAX];
} calls_t;

/* --- views ------------------------------------------------------------------------------------------------------ */

/* Columns of a component that is absent, and slots where no term has any. */
static void *const no_columns[TERMS_MAX_ASKED];
static const uint32_t *const no_slots[TERMS_MAX];

void *const *unit_absent_columns(void)
{
    return no_columns;
}

/* The columns that the unit asks for of one term, from `row` of a run on, where the component's columns begin at
 * `first`; 0: the entities lack the component. Returns the run's own addresses where the columns lie in the order asked
 * for, else `shifted`, filled. */
static void *const *term_columns(const binding_t *binding, const run_t *run, uint32_t first, uint32_t row,
                                 void **shifted)
{
    if (first == 0)
        return binding->absent;
    if (row == 0 && binding->in_row)
        return run->columns + first + binding->first;
    for (uint32_t k = 0; k < binding->count; k++)
        shifted[k] = binding->places[k] == TERM_ABSENT ? NULL : run_cell(run, first + binding->places[k], row);
    return shifted;
}

uint32_t bindings_columns(const binding_t *bindings, uint32_t term_count, const run_t *run, const query_cell_t *cells,
                          uint32_t row, void **shifted, void *const **columns, const uint32_t **slots)
{
    uint32_t used = 0;
    for (uint32_t t = 0; t < term_count; t++) {
        const binding_t *binding = &bindings[t];
        uint32_t first = cells[binding->place].column;
        columns[t] = term_columns(binding, run, first, row, shifted + used);
        used += columns[t] == shifted + used ? binding->count : 0;
        if (slots != NULL)
            slots[t] = binding->slots && first != 0 ? run_cell(run, first, row) : NULL;
    }
    return used;
}

/* --- what belongs to the world itself ----------------------------------------------------------------------------- */

binding_t binding_of(const uint16_t *places, uint32_t count, uint8_t place, bool own_storage)
{
    binding_t binding = {.place = place,
                         .first = count > 0 ? places[0] : 0,
                         .count = (uint16_t)count,
                         .in_row = true,
                         .slots = own_storage,
                         .places = places,
                         .absent = count > 0 ? unit_absent_columns() : NULL};
    for (uint32_t k = 0; k < count; k++)
        binding.in_row = binding.in_row && places[k] != TERM_ABSENT && places[k] == places[0] + k;
    return binding;
}

void binding_take_own(binding_t *binding, void **own)
{
    binding->own = own;
    binding->absent = own;
    binding->in_row = true; /* its columns are always those of `absent` */
}

run_t *binding_own_run(const world_t *world, const binding_t *binding, const query_term_t *terms, uint32_t *first)
{
    const prototypes_t *p = &world->prototypes;
    uint32_t at = world_record(world, world->own)->prototype;
    run_t *run = world_run(world, at);
    while (p->keys[p->items[at].key].manager != terms[binding->place].manager)
        at = p->items[at].base;
    *first = p->items[p->items[at].base].columns;
    return run;
}

void bindings_find_own(const world_t *world, const binding_t *bindings, uint32_t count, const query_term_t *terms)
{
    for (uint32_t t = 0, first; t < count; t++) {
        const binding_t *binding = &bindings[t];
        if (binding->own == NULL)
            continue;
        const run_t *run = binding_own_run(world, binding, terms, &first);
        uint32_t row = world_record(world, world->own)->row;
        for (uint32_t k = 0; k < binding->count; k++)
            binding->own[k] =
                binding->places[k] == TERM_ABSENT ? NULL : run_cell(run, first + binding->places[k], row);
    }
}

/* --- views of a unit ---------------------------------------------------------------------------------------------- */

/* The same for a unit. */
static uint32_t find_columns(const unit_t *unit, uint32_t match, uint32_t row, void **shifted, void *const **columns,
                             const uint32_t **slots)
{
    return bindings_columns(unit->bindings, unit->query->term_count, unit->query->runs[match],
                            query_cells(unit->query, match), row, shifted, columns, unit->has_slots ? slots : NULL);
}

static void simulate_rows(calls_t *calls, uint32_t match, uint32_t first, uint32_t count)
{
    unit_t *unit = calls->unit;
    const run_t *run = unit->query->runs[match];
    const query_cell_t *cell = query_cells(unit->query, match);
    void *shifted[REGISTRY_MAX_FIELDS + 1];
    bp_run_t *view = &calls->run;
    view->count = count;
    view->first = first;
    view->range = calls->recorder.call - unit->first_call;
    view->prototype = run->prototype;
    view->entities = run_entities(run) + first;
    view->columns = term_columns(unit->bindings, run, cell->column, first, shifted);
    view->instance = unit->schedule->world->prototypes.keys[cell->key].name;
    unit_call_simulate(unit, view);
}

/* A whole run, for a unit that takes columns as they lie: only addresses within the run's own array. */
static void run_whole(calls_t *calls, const run_t *run, const query_cell_t *cells)
{
    unit_t *unit = calls->unit;
    bp_match_t *view = &calls->match;
    for (uint32_t t = 0, count = unit->query->term_count; t < count; t++) {
        const binding_t *binding = &unit->bindings[t];
        uint32_t first = cells[binding->place].column;
        calls->columns[t] = first == 0 ? binding->absent : run->columns + first + binding->first;
    }
    view->count = run->count;
    view->range = calls->recorder.call - unit->first_call;
    view->prototype = run->prototype;
    view->entities = run_entities(run);
    unit_call_run(unit, view);
}

static void run_rows(calls_t *calls, uint32_t match, uint32_t first, uint32_t count)
{
    unit_t *unit = calls->unit;
    const run_t *run = unit->query->runs[match];
    void *shifted[TERMS_MAX_ASKED];
    bp_match_t *view = &calls->match;
    find_columns(unit, match, first, shifted, calls->columns, calls->slots);
    view->count = count;
    view->first = first;
    view->range = calls->recorder.call - unit->first_call;
    view->prototype = run->prototype;
    view->entities = run_entities(run) + first;
    unit_call_run(unit, view);
    view->first = 0;
}

/* --- calls ------------------------------------------------------------------------------------------------------ */

/* Where other units may run at the same time: let the sentences of this thread belong to this unit's calls. */
static inline void enter_calls(const unit_t *unit, const uint32_t *call)
{
    const world_t *world = unit->schedule->world;
    if (world->base->error.shared)
        error_enter(&world->base->error, &(error_caller_t){.call = call,
                                                           .first = unit->first_call,
                                                           .part = unit->schedule->part,
                                                           .world = world->name,
                                                           .unit = unit->name});
}

static inline void leave_calls(const unit_t *unit)
{
    error_text_t *error = &unit->schedule->world->base->error;
    if (error->shared)
        error_leave(error);
}

static inline void begin_calls(calls_t *calls, unit_t *unit)
{
    calls->unit = unit;
    calls->step = unit->schedule->now;
    calls->step.moment = unit->moment;
    calls->step.commands = &calls->recorder;
    if (unit->system != NULL)
        calls->match = (bp_match_t){.struct_size = sizeof calls->match,
                                    .system = &unit->verb.handed,
                                    .step = &calls->step,
                                    .lists = &calls->lists.seen,
                                    .columns = calls->columns,
                                    .slots = unit->has_slots ? calls->slots : no_slots};
    else
        calls->run = (bp_run_t){.struct_size = sizeof calls->run,
                                .manager = &unit->manager->verb.handed,
                                .step = &calls->step,
                                .lists = &calls->lists.seen};
    lists_begin(&calls->lists, &unit->schedule->world->lists);
    commands_begin(&calls->recorder, &unit->schedule->commands, unit->name, 0);
    enter_calls(unit, &calls->recorder.call);
}

static void end_calls(calls_t *calls)
{
    lists_end(&calls->lists);
    leave_calls(calls->unit);
}

static inline void call_rows(calls_t *calls, uint32_t match, uint32_t first, uint32_t count, uint32_t call)
{
    calls->recorder.call = call;
    const run_t *run = calls->unit->query->runs[match];
    if (calls->unit->system == NULL)
        simulate_rows(calls, match, first, count);
    else if (calls->unit->as_they_lie && count == run->count)
        run_whole(calls, run, query_cells(calls->unit->query, match));
    else
        run_rows(calls, match, first, count);
    if (calls->recorder.first == NULL)
        return;
    commands_end(&calls->recorder);
    commands_begin(&calls->recorder, &calls->unit->schedule->commands, calls->unit->name, 0);
}

static uint32_t range_rows(const unit_t *unit, uint32_t rows)
{
    uint32_t range = (rows / 16 + 63) & ~63u, least = unit->schedule->least_range;
    if (!unit->parallel)
        return rows;
    if (rows / 16 <= least)
        return least;
    return range > SCHEDULE_RANGE_ROWS ? SCHEDULE_RANGE_ROWS : range;
}

static uint32_t range_count(uint32_t rows, uint32_t range)
{
    return rows == 0 ? 0 : (rows - 1) / range + 1;
}

/* All calls of matches `match` to `end` - 1, with so many rows; returns the number of the next call. */
static uint32_t call_matches(unit_t *unit, uint32_t match, uint32_t end, uint32_t call, uint64_t *row_count)
{
    calls_t calls;
    run_t *const *runs = unit->query->runs;
    begin_calls(&calls, unit);
    for (; match < end; match++) {
        uint32_t rows = runs[match]->count, first = 0;
        *row_count += rows;
        if (match + AHEAD < end) { /* fetch early what says where the columns of a later match are: the run, and the
                                      bytes behind it */
            PREFETCH(runs[match + AHEAD]);
            PREFETCH(runs[match + AHEAD] + 1);
        }
        for (uint32_t range = range_rows(unit, rows); rows - first > range; first += range)
            call_rows(&calls, match, first, range, call++);
        if (rows > first)
            call_rows(&calls, match, first, rows - first, call++);
    }
    end_calls(&calls);
    return call;
}

static void call_range(unit_t *unit, const task_t *task)
{
    calls_t calls;
    begin_calls(&calls, unit);
    call_rows(&calls, task->match, task->first, task->count, task->call);
    end_calls(&calls);
}

/* Does the unit say that it writes the k-th field of a term? A component without access in its own fields writes
 * all. */
static bool unit_writes(const unit_t *unit, uint32_t t, uint32_t k)
{
    if (unit->system != NULL)
        return (unit->system->terms[t].fields[k].access & BP_WRITE) != 0;
    uint32_t i = 0;
    while (unit->access[i].manager != unit->manager->number)
        i++;
    return (unit->access[i].writes[k / 64] >> k % 64 & 1) != 0;
}

/* A unit of one call a step: all matches in one, or a manager that goes over its own storage. */
static bool calls_once(const unit_t *unit)
{
    return unit_is_together(unit) || (unit->manager != NULL && unit->manager->component->own_storage);
}

static uint32_t gather_matches(unit_t *unit, const bp_step_t *step, bp_lists_o *lists)
{
    uint32_t found = 0, terms = unit->query == NULL ? 0 : unit->query->term_count;
    void **gathered = unit->gathered;
    for (uint32_t m = 0; unit->query != NULL && m < unit->query->count && m < unit->match_room; m++) {
        const run_t *run = unit->query->runs[m];
        if (run->count == 0)
            continue;
        void *const **columns = unit->columns + (size_t)found * terms;
        const uint32_t **slots = unit->has_slots ? unit->slots + (size_t)found * terms : NULL;
        gathered += find_columns(unit, m, 0, gathered, columns, slots);
        unit->matches[found++] = (bp_match_t){.struct_size = sizeof(bp_match_t),
                                              .count = run->count,
                                              .prototype = run->prototype,
                                              .system = &unit->verb.handed,
                                              .step = step,
                                              .lists = lists,
                                              .entities = run_entities(run),
                                              .columns = columns,
                                              .slots = slots != NULL ? slots : no_slots};
    }
    return found;
}

static void call_once(unit_t *unit, uint32_t call)
{
    struct bp_commands_o recorder;
    lists_call_t lists;
    bp_step_t step = unit->schedule->now;
    step.moment = unit->moment;
    lists_begin(&lists, &unit->schedule->world->lists);
    commands_begin(&recorder, &unit->schedule->commands, unit->name, call);
    enter_calls(unit, &recorder.call);
    step.commands = &recorder;
    if (unit_is_together(unit))
        unit_call_run_all(unit, &step, unit->matches, gather_matches(unit, &step, &lists.seen));
    else
        unit_call_simulate(unit, &(bp_run_t){.struct_size = sizeof(bp_run_t),
                                             .manager = &unit->manager->verb.handed,
                                             .step = &step,
                                             .lists = &lists.seen});
    lists_end(&lists);
    commands_end(&recorder);
    leave_calls(unit);
}

uint64_t unit_run_rows(const unit_t *unit)
{
    uint64_t rows = 0;
    bool own = unit->manager != NULL && unit->manager->component->own_storage;
    for (uint32_t m = 0; unit->query != NULL && !own && m < unit->query->count; m++)
        rows += unit->query->runs[m]->count;
    return rows;
}

void unit_run(unit_t *unit)
{
    schedule_t *schedule = unit->schedule;
    uint64_t rows = 0;
    unit->first_call = schedule->calls;
    if (calls_once(unit)) {
        rows = unit_run_rows(unit);
        call_once(unit, schedule->calls++);
    } else {
        schedule->calls = call_matches(unit, 0, unit->query->count, schedule->calls, &rows);
    }
    unit->rows = rows;
}

/* --- stamps ------------------------------------------------------------------------------------------------------- */

static void stamp_columns(const run_t *run, uint32_t first, const unit_t *unit, uint32_t t, uint64_t moment)
{
    const binding_t *binding = &unit->bindings[t];
    for (uint32_t k = 0; k < binding->count && first != 0; k++) {
        if (binding->places[k] != TERM_ABSENT && unit_writes(unit, t, k))
            run->stamps->whole[first + binding->places[k]] = moment;
    }
}

/* Stamp the columns of a component in all runs, for a unit that names the component under `writes`. */
static void stamp_manager(const world_t *world, uint32_t manager, uint64_t moment)
{
    const prototypes_t *p = &world->prototypes;
    for (uint32_t i = 0; i < world->run_count; i++) {
        const run_t *run = world->runs[i];
        for (uint32_t at = run->prototype; at != 0; at = p->items[at].base) {
            const component_key_t *key = &p->keys[p->items[at].key];
            for (uint32_t c = 0; key->manager == manager && c < key->columns; c++)
                run->stamps->whole[p->items[p->items[at].base].columns + c] = moment;
        }
    }
}

void unit_stamp_writes(const unit_t *unit)
{
    const world_t *world = unit->schedule->world;
    uint64_t moment = unit->moment;
    for (uint32_t m = 0; unit->query != NULL && m < unit->query->count; m++) {
        const query_cell_t *cells = query_cells(unit->query, m);
        for (uint32_t t = 0; t < unit->query->term_count; t++)
            stamp_columns(unit->query->runs[m], cells[unit->bindings[t].place].column, unit, t, moment);
    }
    for (uint32_t t = 0, first; unit->has_own && t < unit->query->term_count; t++) {
        if (unit->bindings[t].own != NULL) {
            const run_t *run = binding_own_run(world, &unit->bindings[t], unit->query->terms, &first);
            stamp_columns(run, first, unit, t, moment);
        }
    }
    for (uint32_t i = 0; i < unit->access_count; i++) {
        if (unit->access[i].named && !world->managers[unit->access[i].manager]->component->own_storage)
            stamp_manager(world, unit->access[i].manager, moment);
    }
}

/* --- tasks ------------------------------------------------------------------------------------------------------ */

void unit_run_task(unit_t *unit, const task_t *task)
{
    uint64_t rows = 0;
    if (task->count > 0)
        call_range(unit, task);
    else if (calls_once(unit))
        call_once(unit, task->call);
    else
        call_matches(unit, task->match, task->end, task->call, &rows);
}

/* Ranges of one match, a task each. */
static void cut_match(unit_t *unit, uint32_t match, uint32_t rows, uint32_t range)
{
    for (uint32_t first = 0; first < rows; first += range) {
        uint32_t count = rows - first < range ? rows - first : range;
        unit->tasks[unit->task_count++] =
            (task_t){.match = match, .end = match + 1, .first = first, .count = count, .call = unit->schedule->calls++};
    }
}

void unit_run_cut(unit_t *unit)
{
    schedule_t *schedule = unit->schedule;
    uint32_t gathered = TASK_ROWS; /* rows of the task begun last */
    bool parallel = unit->parallel && !unit->starved; /* there is room for one task at least */
    unit->rows = unit_run_rows(unit);
    unit->first_call = schedule->calls;
    unit->task_count = 0;
    for (uint32_t m = 0; !calls_once(unit) && m < unit->query->count; m++) {
        uint32_t rows = unit->query->runs[m]->count, range = range_rows(unit, rows);
        if (rows == 0)
            continue;
        if (parallel && rows > range) {
            cut_match(unit, m, rows, range);
            gathered = TASK_ROWS;
            continue;
        }
        /* Calls of a unit that is not parallel must not be made at the same time. */
        if (unit->task_count == 0 || (parallel && gathered >= TASK_ROWS)) {
            unit->tasks[unit->task_count++] = (task_t){.match = m, .call = schedule->calls};
            gathered = 0;
        }
        unit->tasks[unit->task_count - 1].end = m + 1;
        gathered += rows;
        schedule->calls += range_count(rows, range);
    }
    if (unit->task_count == 0) {
        unit->tasks[unit->task_count++] = (task_t){.call = schedule->calls};
        schedule->calls += calls_once(unit);
    }
}

/* --- memory ----------------------------------------------------------------------------------------------------- */

static bool reserve_matches(schedule_t *schedule, unit_t *unit)
{
    uint64_t columns = (uint64_t)unit->query->count * unit->query->term_count, gathered = 0;
    for (uint32_t t = 0; t < unit->query->term_count; t++)
        gathered += unit->bindings[t].in_row ? 0 : (uint64_t)unit->query->count * unit->bindings[t].count;
    bool room =
        memory_reserve(&schedule->memory, &unit->gathered, &unit->gathered_capacity, gathered,
                       sizeof *unit->gathered) &&
        memory_reserve(&schedule->memory, &unit->matches, &unit->match_capacity, unit->query->count,
                       sizeof *unit->matches) &&
        memory_reserve(&schedule->memory, &unit->columns, &unit->column_capacity, columns, sizeof *unit->columns) &&
        (!unit->has_slots ||
         memory_reserve(&schedule->memory, &unit->slots, &unit->slot_capacity, columns, sizeof *unit->slots));
    unit->match_room = room ? unit->query->count : unit->match_room;
    return room;
}

static bool reserve_tasks(schedule_t *schedule, unit_t *unit)
{
    uint64_t tasks = 1;
    for (uint32_t m = 0; unit->query != NULL && m < unit->query->count; m++) {
        uint32_t rows = unit->query->runs[m]->count;
        tasks += 1u + (unit->parallel ? range_count(rows, range_rows(unit, rows)) : 0);
    }
    return memory_reserve(&schedule->memory, &unit->tasks, &unit->task_capacity, tasks, sizeof *unit->tasks);
}

bool unit_run_reserve(schedule_t *schedule, unit_t *unit)
{
    if (unit->query != NULL && unit_is_together(unit) && !reserve_matches(schedule, unit))
        return false;
    return !(unit->parallel || unit->concurrent) || reserve_tasks(schedule, unit);
}

/* --- unit call --------------------------------------------------------------------------------------------------- */

/* Calls into plugins that bring units.
 *
 * Verbs are reached through the slot of the system or the component at each call, so that a slot that has been filled
 * anew is seen at once.
 */

void unit_call_ready(unit_t *unit, world_t *world, const bp_plugin_t *plugin)
{
    unit->verb.place = &world->place;
    unit->verb.handed = (bp_system_t){
        .struct_size = sizeof(bp_system_t),
        .api = world->api,
        .host = world->host,
        .world = world_handle(world),
        .plugin = plugin,
        .user = unit->system->table.user,
    };
}

bp_result_t unit_call_start(unit_t *unit, world_t *world)
{
    error_text_t *error = &world->base->error;
    unit_call_ready(unit, world, &unit->system->owner->handed);
    if (unit->system->table.start == NULL)
        return BP_OK;
    error->text[0] = '\0';
    bp_result_t result = verb_system_start(unit->system, &unit->verb);
    if (result != BP_OK && error->text[0] == '\0')
        error_set(error, result, "it gave no reason (code %d)", result);
    return result == BP_OK
               ? BP_OK
               : error_prefix(error, result, "system '%s' did not start in world '%s': ", unit->name, world->name);
}

void unit_call_stop(unit_t *unit)
{
    if (unit->system != NULL && unit->system->table.stop != NULL)
        verb_system_stop(unit->system, &unit->verb);
}

void unit_call_simulate(unit_t *unit, const bp_run_t *run)
{
    verb_simulate(unit->manager->component, &unit->manager->verb, run);
}

static bool is_left_out(const unit_t *unit)
{
    return system_is_output(unit->system) &&
           (unit->schedule->crew->recomputing || unit->system->owner->all->clone);
}

void unit_call_run(unit_t *unit, const bp_match_t *match)
{
    if (!is_left_out(unit))
        verb_run(unit->system, &unit->verb, match);
}

void unit_call_run_all(unit_t *unit, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    if (!is_left_out(unit))
        verb_run_all(unit->system, &unit->verb, step, matches, count);
}

void unit_call_told(unit_t *unit, bool added, const bp_entity_t *entities, uint32_t count)
{
    const bp_system_i *table = &unit->system->table;
    if (added && table->entities_added != NULL)
        verb_entities_added(unit->system, &unit->verb, entities, count);
    else if (!added && table->entities_removed != NULL)
        verb_entities_removed(unit->system, &unit->verb, entities, count);
}

void unit_call_rewound(unit_t *unit)
{
    const world_clock_t *clock = unit->schedule->clock;
    bp_step_t now = {
        .struct_size = sizeof now, .number = clock->steps, .dt = 1.0 / clock->step_rate, .time = clock->time};
    if (unit->system != NULL && unit->system->rewinding.rewound != NULL)
        verb_rewound(unit->system, &unit->verb, &now);
}

void unit_call_report(unit_t *unit, bp_report_o *report)
{
    if (unit->system != NULL && unit->system->reporting.report != NULL)
        verb_system_report(unit->system, &unit->verb, report);
}
