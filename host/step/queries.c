/* queries.c - kept queries: bound, walked, ended.
 *
 * Invariant: while a query is bound, its list has the runs that were looked at so far, and `places` says which of a
 * component's columns the query asks for. A query with BP_QUERY_CHANGES watches what its present binding needs: the
 * rows of the world, and the managers with storage of their own among its terms.
 */
#include "queries.h"

#include "../base/error.h"
#include "schedule_inner.h"

struct bp_query_o {
    bp_world_o *world;
    const plugin_t *owner; /* NULL: an embedder */
    bp_query_o *next;
    term_t *terms;
    uint32_t term_count, flags;

    query_t query;
    binding_t bindings[TERMS_MAX];
    uint16_t places[TERMS_MAX_ASKED];
    manager_t *watched[TERMS_MAX]; /* of each term with storage of its own; NULL: none */
    bool bound, has_slots, has_own, writes;
    void *own[TERMS_MAX_ASKED];    /* where the values of the world itself lie, by the numbers of `places` */
    uint32_t layout, roster;       /* of the world when it was bound */
    void *attached;                /* what ends with it, ... */
    void (*end_attached)(void *data); /* ... by this; NULL: nothing */

    uint64_t since;                /* the walk: */
    uint32_t match, row;
    bp_match_t view;
    void *const *columns[TERMS_MAX];
    const uint32_t *slots[TERMS_MAX];
    void *shifted[TERMS_MAX_ASKED];
};

/* --- binding ------------------------------------------------------------------------------------------------------ */

static void unwatch(bp_query_o *q)
{
    for (uint32_t t = 0; t < TERMS_MAX; t++) {
        if (q->watched[t] != NULL)
            world_release_slot_stamps(&q->world->rows, q->watched[t]);
        q->watched[t] = NULL;
    }
}

static void watch(bp_query_o *q)
{
    const world_t *world = &q->world->rows;
    for (uint32_t t = 0; t < q->term_count && (q->flags & BP_QUERY_CHANGES) != 0; t++) {
        if (!q->bindings[t].slots)
            continue;
        q->watched[t] = world->managers[q->query.terms[q->bindings[t].place].manager];
        world_keep_slot_stamps(&q->world->rows, q->watched[t]);
    }
}

static bp_result_t bind_term(bp_query_o *q, uint32_t t, uint32_t manager, uint8_t place, uint16_t *places)
{
    world_t *world = &q->world->rows;
    const term_t *term = &q->terms[t];
    const component_t *component = manager == BP_NONE ? NULL : world->managers[manager]->component;
    for (uint32_t k = 0; k < term->field_count; k++)
        places[k] = TERM_ABSENT;
    bp_result_t result = component == NULL ? BP_OK : term_bind(&world->base->error, term, component, places);
    if (result != BP_OK)
        return error_prefix(&world->base->error, result, "a query of world '%s': ", world->name);
    q->bindings[t] = binding_of(places, term->field_count, place, component != NULL && component->own_storage);
    if (component != NULL && (term->flags & BP_TERM_WORLD) != 0 &&
        !query_is_of_world(q->query.terms, q->term_count)) {
        binding_take_own(&q->bindings[t], q->own + (places - q->places));
        q->has_own = true;
    }
    q->has_slots = q->has_slots || q->bindings[t].slots;
    for (uint32_t k = 0; k < term->field_count; k++)
        q->writes = q->writes || (term->fields[k].access & BP_WRITE) != 0;
    return BP_OK;
}

static bp_result_t settle_terms(bp_query_o *q, query_term_t *terms)
{
    world_t *world = &q->world->rows;
    for (uint32_t t = 0; t < q->term_count; t++) {
        const term_t *term = &q->terms[t];
        terms[t].flags = term->flags & (BP_TERM_OPTIONAL | BP_TERM_EXCLUDE | BP_TERM_WORLD);
        terms[t].instance = term->instance;
        terms[t].manager = world_component(world, term->component);
        if (terms[t].manager == BP_NONE && (terms[t].flags & (BP_TERM_OPTIONAL | BP_TERM_EXCLUDE)) == 0)
            return error_set(&world->base->error, BP_ERROR_NOT_FOUND,
                             "a query asks for component '%s', which world '%s' lacks", term->component, world->name);
    }
    return BP_OK;
}

static bp_result_t bind(bp_query_o *q)
{
    world_t *world = &q->world->rows;
    query_term_t terms[TERMS_MAX] = {{0}};
    uint8_t place[TERMS_MAX];
    uint16_t *places = q->places;
    q->bound = q->has_slots = q->has_own = q->writes = false;
    unwatch(q);
    query_free(&q->query);
    bp_result_t result = settle_terms(q, terms);
    if (result != BP_OK)
        return result;
    query_order(terms, q->term_count, place);
    memcpy(q->query.terms, terms, sizeof terms);
    q->query.term_count = q->term_count;
    for (uint32_t t = 0; t < q->term_count; t++) {
        result = bind_term(q, t, terms[place[t]].manager, place[t], places);
        if (result != BP_OK)
            return result;
        places += q->terms[t].field_count;
    }
    watch(q);
    q->layout = world->layout;
    q->roster = world->roster;
    q->bound = true;
    return BP_OK;
}

/* --- begin and end ------------------------------------------------------------------------------------------------ */

static bp_result_t check_arguments(world_t *world, const bp_term_list_t *terms, uint32_t flags)
{
    if ((flags & ~(uint32_t)BP_QUERY_CHANGES) != 0)
        return error_set(&world->base->error, BP_ERROR_ARGUMENT, "a query has flags 0x%x, which mean nothing", flags);
    if (terms == NULL || terms->count == 0)
        return error_set(&world->base->error, BP_ERROR_ARGUMENT, "a query has no terms; it needs one at least");
    return BP_OK;
}

/* A query is made in the world that it is about. */
static bp_result_t check_worlds(world_t *world, const bp_query_o *q)
{
    for (uint32_t t = 0; t < q->term_count; t++) {
        if ((q->terms[t].flags & BP_TERM_BESIDE) != 0)
            return error_set(&world->base->error, BP_ERROR_ARGUMENT,
                             "term '%s' names world '%s', which terms of systems may; make the query in that world",
                             q->terms[t].component, q->terms[t].world);
    }
    return BP_OK;
}

bp_result_t queries_make(bp_world_o *handle, const plugin_t *owner, const bp_term_list_t *terms, uint32_t flags,
                         bp_query_o **query)
{
    world_t *world = &handle->rows;
    schedule_t *schedule = handle->schedule;
    *query = NULL;
    bp_result_t result = check_arguments(world, terms, flags);
    if (result != BP_OK)
        return result;
    bp_query_o *q = memory_new(&schedule->memory, sizeof *q);
    if (q == NULL)
        return error_memory(&world->base->error, "making a query");
    q->world = handle;
    q->owner = owner;
    query_init(&q->query, &schedule->memory);
    result = terms_copy(world->base, &schedule->memory, terms, &q->terms);
    q->term_count = result == BP_OK ? terms->count : 0;
    if (result == BP_OK)
        result = check_worlds(world, q);
    if (result != BP_OK)
        error_prefix(&world->base->error, result, "a query of world '%s': ", world->name);
    if (result == BP_OK && (flags & BP_QUERY_CHANGES) != 0)
        result = world_keep_stamps(world);
    if (result == BP_OK) {
        q->flags = flags;
        result = bind(q);
    }
    q->next = schedule->kept;
    schedule->kept = q;
    if (result != BP_OK)
        queries_end(q);
    else
        *query = q;
    return result;
}

void queries_end(bp_query_o *q)
{
    if (q == NULL)
        return;
    schedule_t *schedule = q->world->schedule;
    bp_query_o **at = &schedule->kept;
    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
    unwatch(q);
    if ((q->flags & BP_QUERY_CHANGES) != 0)
        world_release_stamps(&q->world->rows);
    query_free(&q->query);
    terms_free(&schedule->memory, q->terms, q->term_count);
    if (q->end_attached != NULL)
        q->end_attached(q->attached);
    memory_free(&schedule->memory, q, sizeof *q);
}

void queries_attach(bp_query_o *q, void *data, void (*end)(void *data))
{
    q->attached = data;
    q->end_attached = end;
}

void queries_end_of(schedule_t *schedule, const plugin_t *owner, bool all)
{
    for (bp_query_o *q = schedule->kept, *next; q != NULL; q = next) {
        next = q->next;
        if (all || (q->owner == owner && owner != NULL))
            queries_end(q);
    }
}

bp_result_t queries_admit(const schedule_t *schedule, const component_t *component, queries_going going,
                          const void *context)
{
    error_text_t *error = &schedule->world->base->error;
    for (const bp_query_o *q = schedule->kept; q != NULL; q = q->next) {
        if (q->owner != NULL && going != NULL && going(context, q->owner))
            continue;
        for (uint32_t t = 0; t < q->term_count; t++) {
            bp_result_t result = strcmp(q->terms[t].component, component->name) != 0
                                     ? BP_OK
                                     : term_bind(error, &q->terms[t], component, NULL);
            if (result != BP_OK)
                return error_prefix(error, result, "a query of %s%s in world '%s' cannot go on: ",
                                    q->owner == NULL ? "the program" : "plugin ",
                                    q->owner == NULL ? "" : q->owner->name, schedule->world->name);
        }
    }
    return BP_OK;
}

/* --- of systems, over other worlds -------------------------------------------------------------------------------- */

static bool same_world(const system_t *system, uint32_t a, uint32_t b)
{
    return (system->terms[b].flags & BP_TERM_BESIDE) != 0 &&
           strcmp(system->terms[a].world, system->terms[b].world) == 0;
}

/* Does the world have all components that the terms need? */
static bool has_needed(world_t *world, const system_t *system, uint32_t first)
{
    for (uint32_t t = first; t < system->term_count; t++) {
        const term_t *term = &system->terms[t];
        if (same_world(system, first, t) && (term->flags & (BP_TERM_OPTIONAL | BP_TERM_EXCLUDE)) == 0 &&
            world_component(world, term->component) == BP_NONE)
            return false;
    }
    return true;
}

/* Declare the terms that name the same world as term `first`, as terms of that world. `fields` has room for all fields
 * of the system. Returns their number. */
static uint32_t declare_terms(const system_t *system, uint32_t first, bp_term_t *terms, bp_term_field_t *fields)
{
    uint32_t count = 0;
    for (uint32_t t = first; t < system->term_count; t++) {
        const term_t *term = &system->terms[t];
        if (!same_world(system, first, t))
            continue;
        for (uint32_t k = 0; k < term->field_count; k++) {
            const asked_field_t *asked = &term->fields[k];
            fields[k] = (bp_term_field_t){.name = asked->name, .type = asked->type, .count = asked->elements};
            fields[k].flags = (asked->list ? BP_FIELD_LIST : 0u) |
                              (asked->optional ? (uint32_t)BP_TERM_FIELD_OPTIONAL : 0u);
        }
        terms[count++] = (bp_term_t){.component = term->component,
                                     .instance = term->instance_text,
                                     .flags = term->flags & ~(uint32_t)BP_TERM_BESIDE,
                                     .fields = {fields, term->field_count, (uint32_t)sizeof *fields}};
        fields += term->field_count;
    }
    return count;
}

static void forget_query(void *slot)
{
    *(bp_query_o **)slot = NULL;
}

static bp_result_t make_beside(unit_t *unit, uint32_t first, bp_world_o *world, bp_query_o **query)
{
    bp_term_t terms[TERMS_MAX];
    bp_term_field_t fields[TERMS_MAX_ASKED];
    const bp_term_list_t list = {terms, declare_terms(unit->system, first, terms, fields), (uint32_t)sizeof *terms};
    bp_result_t result = queries_make(world, unit->system->owner, &list, 0, query);
    if (result != BP_OK)
        return error_prefix(&world->rows.base->error, result, "system '%s': ", unit->name);
    unit->beside[first] = *query;
    queries_attach(*query, &unit->beside[first], forget_query);
    return BP_OK;
}

bp_result_t queries_beside(unit_t *unit, uint32_t t, bp_world_o *world, bp_query_o **query)
{
    schedule_t *schedule = unit->schedule;
    uint32_t first = 0;
    while (!same_world(unit->system, t, first))
        first++;
    *query = NULL;
    if (unit->beside == NULL) {
        unit->beside = memory_new(&schedule->memory, unit->system->term_count * sizeof *unit->beside);
        if (unit->beside == NULL)
            return error_memory(&schedule->world->base->error, "making a query");
        unit->beside_count = unit->system->term_count;
    }
    if (!has_needed(&world->rows, unit->system, first))
        return BP_OK;
    *query = unit->beside[first]; /* of the world that has the name: with a world its queries end, and are forgotten */
    return *query != NULL ? BP_OK : make_beside(unit, first, world, query);
}

void queries_end_beside(unit_t *unit)
{
    for (uint32_t t = 0; t < unit->beside_count; t++)
        queries_end(unit->beside[t]);
    memory_free(&unit->schedule->memory, unit->beside, unit->beside_count * sizeof *unit->beside);
    unit->beside = NULL;
    unit->beside_count = 0;
}

/* --- walks -------------------------------------------------------------------------------------------------------- */

bool queries_write(const bp_query_o *q)
{
    for (uint32_t t = 0; t < q->term_count; t++) {
        for (uint32_t k = 0; k < q->terms[t].field_count; k++)
            if ((q->terms[t].fields[k].access & BP_WRITE) != 0)
                return true;
    }
    return false;
}

bp_world_o *queries_world(const bp_query_o *q)
{
    return q->world;
}

bp_result_t queries_begin(bp_query_o *q, uint64_t since)
{
    world_t *world = &q->world->rows;
    q->match = BP_NONE;
    if (since != 0 && (q->flags & BP_QUERY_CHANGES) == 0)
        return error_set(&world->base->error, BP_ERROR_ARGUMENT,
                         "the query was made without BP_QUERY_CHANGES and does not know what has changed");
    if (!q->bound || q->layout != world->layout || q->roster != world->roster) {
        bp_result_t result = bind(q);
        if (result != BP_OK)
            return result;
    }
    if (!query_refresh(&q->query, world))
        return error_memory(&world->base->error, "matching a query");
    q->since = since;
    q->match = q->row = 0;
    return BP_OK;
}

/* List the columns of a match that the query asks for: those that it writes (`written`), or all. Returns how many. */
static uint32_t asked_columns(const bp_query_o *q, const query_cell_t *cells, bool written, uint16_t *columns)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < q->term_count; t++) {
        const binding_t *binding = &q->bindings[t];
        uint32_t first = cells[binding->place].column;
        for (uint32_t k = 0; k < binding->count && first != 0; k++) {
            bool wanted = !written || (q->terms[t].fields[k].access & BP_WRITE) != 0;
            if (wanted && binding->places[k] != TERM_ABSENT)
                columns[count++] = (uint16_t)(first + binding->places[k]);
        }
    }
    return count;
}

/* Has an instance with storage of its own, of rows `row` to `end` - 1, been written since? */
static bool slots_changed(const bp_query_o *q, const run_t *run, const query_cell_t *cells, uint32_t row, uint32_t end)
{
    for (uint32_t t = 0; t < q->term_count; t++) {
        uint32_t column = cells[q->bindings[t].place].column;
        if (q->watched[t] == NULL || column == 0)
            continue;
        const slot_stamps_t *stamps = &q->watched[t]->stamps;
        const uint32_t *slots = run->columns[column];
        for (uint32_t i = row; i < end && stamps->latest > q->since; i++) {
            uint32_t block = slots[i] / BP_STAMP_ROWS;
            if (run_entities(run)[i].id != 0 &&
                (block < stamps->count ? stamps->blocks[block] : stamps->rest) > q->since)
                return true;
        }
    }
    return false;
}

/* The next rows of the present match that were written since; BP_NONE: there are none. */
static uint32_t find_changed(const bp_query_o *q, const run_t *run, const query_cell_t *cells, uint32_t *count)
{
    uint16_t columns[TERMS_MAX_ASKED];
    uint32_t asked = asked_columns(q, cells, false, columns), first = BP_NONE, row = q->row, next;
    if (!q->has_slots)
        return stamps_next(run->stamps, columns, asked, q->since, row, run->count, count);
    for (; row < run->count; row = next) { /* block by block */
        next = (row / BP_STAMP_ROWS + 1) * BP_STAMP_ROWS;
        next = next < run->count ? next : run->count;
        bool changed = stamps_next(run->stamps, columns, asked, q->since, row, next, count) != BP_NONE ||
                       slots_changed(q, run, cells, row, next);
        if (changed && first == BP_NONE)
            first = row;
        if (!changed && first != BP_NONE)
            break;
    }
    *count = row - first;
    return first;
}

/* What belongs to the world itself: find its values, and stamp what the query writes of them. */
static void find_own(const bp_query_o *q)
{
    const world_t *world = &q->world->rows;
    bindings_find_own(world, q->bindings, q->term_count, q->query.terms);
    for (uint32_t t = 0, first; t < q->term_count; t++) {
        const binding_t *binding = &q->bindings[t];
        if (binding->own == NULL)
            continue;
        const run_t *run = binding_own_run(world, binding, q->query.terms, &first);
        for (uint32_t k = 0; k < binding->count; k++) {
            if ((q->terms[t].fields[k].access & BP_WRITE) != 0 && binding->places[k] != TERM_ABSENT)
                stamps_note(run->stamps, first + binding->places[k], world_record(world, world->own)->row, 1);
        }
    }
}

/* Tell of the columns that a query hands out for writing. */
static void tell_handed(const bp_query_o *q, const handing_t *handing)
{
    for (uint32_t t = 0; t < q->term_count; t++) {
        for (uint32_t k = 0; k < q->terms[t].field_count; k++) {
            if ((q->terms[t].fields[k].access & BP_WRITE) != 0 && q->columns[t][k] != NULL)
                handing->hands(handing->data, q->columns[t][k]);
        }
    }
}

static const bp_match_t *hand_out(bp_query_o *q, const run_t *run, const query_cell_t *cells, uint32_t first,
                                  uint32_t count)
{
    uint16_t columns[TERMS_MAX_ASKED];
    uint32_t written = q->writes && run->stamps != NULL ? asked_columns(q, cells, true, columns) : 0;
    for (uint32_t i = 0; i < written; i++)
        stamps_note(run->stamps, columns[i], first, count);
    if (q->has_own)
        find_own(q);
    bindings_columns(q->bindings, q->term_count, run, cells, first, q->shifted, q->columns,
                     q->has_slots ? q->slots : NULL);
    if (q->writes && q->world->rows.base->handing != NULL)
        tell_handed(q, q->world->rows.base->handing);
    q->view = (bp_match_t){.struct_size = sizeof q->view,
                           .count = count,
                           .first = first,
                           .prototype = run->prototype,
                           .entities = run_entities(run) + first,
                           .columns = q->columns,
                           .slots = q->slots,
                           .lists = &q->world->rows.lists.outside.seen};
    return &q->view;
}

const bp_match_t *queries_next(bp_query_o *q)
{
    const world_t *world = &q->world->rows;
    while (q->match < q->query.count && q->layout == world->layout && q->roster == world->roster) {
        const run_t *run = q->query.runs[q->match];
        const query_cell_t *cells = query_cells(&q->query, q->match);
        uint32_t first = q->row < run->count ? q->row : BP_NONE, count = run->count - q->row;
        if (first != BP_NONE && q->since != 0)
            first = find_changed(q, run, cells, &count);
        if (first != BP_NONE) {
            q->row = first + count;
            return hand_out(q, run, cells, first, count);
        }
        q->match++;
        q->row = 0;
    }
    return NULL;
}
