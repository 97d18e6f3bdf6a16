/* settle.c - from the declarations of units to the numbers and tables that a step needs.
 *
 * Names become numbers of managers: the names of terms, which say what a unit is handed, and those of `reads` and
 * `writes`, which only say what else the unit touches. In `reads` and `writes` a component that no plugin brings is an
 * error, since a misspelt name would let units run side by side that must not; a component that a plugin brings and
 * only this world lacks is passed over.
 *
 * All of it is found out anew each time, since settling is rare. Invariant: `settled` is true only once queries,
 * bindings, accesses, order and segments are those of the present units.
 */
#include "schedule_inner.h"

#include "../base/error.h"
#include "queries.h"

/* --- terms and queries ------------------------------------------------------------------------------------------ */

static bp_result_t settle_term(world_t *world, const unit_t *unit, const term_t *term, query_term_t *settled)
{
    if ((term->flags & BP_TERM_BESIDE) != 0) { /* such a term does not change which entities match in this world */
        *settled = (query_term_t){.manager = BP_NONE, .flags = BP_TERM_OPTIONAL | BP_TERM_WORLD};
        return BP_OK;
    }
    settled->flags = term->flags & (BP_TERM_OPTIONAL | BP_TERM_EXCLUDE | BP_TERM_WORLD);
    settled->instance = term->instance;
    settled->manager = world_component(world, term->component);
    if (settled->manager == BP_NONE && (settled->flags & (BP_TERM_OPTIONAL | BP_TERM_EXCLUDE)) == 0)
        return error_set(&world->base->error, BP_ERROR_NOT_FOUND,
                         "system '%s' works on component '%s', which world '%s' lacks; add it to the world's "
                         "components",
                         unit->name, term->component, world->name);
    return BP_OK;
}

/* The query of these terms, made where it is new. NULL when out of memory. */
static query_t *need_query(schedule_t *schedule, const query_term_t *terms, uint32_t count)
{
    for (uint32_t i = 0; i < schedule->query_count; i++) {
        if (query_has_terms(schedule->queries[i], terms, count))
            return schedule->queries[i];
    }
    if (!memory_reserve(&schedule->memory, &schedule->queries, &schedule->query_capacity, schedule->query_count + 1u,
                        sizeof *schedule->queries))
        return NULL;
    query_t *query = memory_new(&schedule->memory, sizeof *query);
    if (query == NULL)
        return NULL;
    query_init(query, &schedule->memory);
    query->term_count = count;
    memcpy(query->terms, terms, count * sizeof *terms);
    schedule->queries[schedule->query_count++] = query;
    return query;
}

/* --- bindings --------------------------------------------------------------------------------------------------- */

/* `simulate` is a system of one term that asks for every field, in the order of declaration. */
static void bind_manager(unit_t *unit)
{
    const component_t *component = unit->manager->component;
    uint32_t count = component->own_storage ? 0 : component_columns(component);
    for (uint32_t i = 0; i < count; i++)
        unit->places[i] = (uint16_t)i;
    unit->bindings[0] = binding_of(unit->places, count, 0, component->own_storage);
}

static bp_result_t bind_system(world_t *world, unit_t *unit, const uint8_t *place, bool beside)
{
    uint16_t *places = unit->places;
    for (uint32_t t = 0; t < unit->system->term_count; t++) {
        const term_t *term = &unit->system->terms[t];
        uint32_t number = unit->query->terms[place[t]].manager;
        const component_t *component = number == BP_NONE ? NULL : world->managers[number]->component;
        for (uint32_t k = 0; k < term->field_count; k++)
            places[k] = TERM_ABSENT;
        bp_result_t result = component == NULL ? BP_OK : term_bind(&world->base->error, term, component, places);
        if (result != BP_OK)
            return error_prefix(&world->base->error, result, "world '%s': system '%s': ", world->name, unit->name);
        bool own_storage = component != NULL && component->own_storage;
        unit->bindings[t] = binding_of(places, term->field_count, place[t], own_storage);
        if (component != NULL && beside && (term->flags & BP_TERM_WORLD) != 0) {
            binding_take_own(&unit->bindings[t], unit->own + (places - unit->places));
            unit->has_own = unit->schedule->has_own = true;
        }
        unit->has_slots = unit->has_slots || unit->bindings[t].slots;
        unit->as_they_lie = unit->as_they_lie && unit->bindings[t].in_row && !unit->bindings[t].slots;
        places += term->field_count;
    }
    return BP_OK;
}

static bp_result_t settle_bindings(schedule_t *schedule, unit_t *unit, const uint8_t *place)
{
    uint32_t count = unit->query->term_count,
             fields = unit->manager != NULL ? component_columns(unit->manager->component) : 0;
    for (uint32_t t = 0; unit->system != NULL && t < count; t++)
        fields += unit->system->terms[t].field_count;
    if (!memory_reserve(&schedule->memory, &unit->bindings, &unit->binding_capacity, count, sizeof *unit->bindings) ||
        !memory_reserve(&schedule->memory, &unit->places, &unit->place_capacity, fields, sizeof *unit->places))
        return error_memory(&schedule->world->base->error, "settling a step");
    /* Where all terms are the world's they match its row as others match theirs. */
    bool beside = unit->system != NULL && !query_is_of_world(unit->query->terms, count);
    bool own = false;
    for (uint32_t t = 0; beside && t < count; t++)
        own = own || (unit->system->terms[t].flags & BP_TERM_WORLD) != 0;
    if (own && !memory_reserve(&schedule->memory, &unit->own, &unit->own_capacity, fields + 1u, sizeof *unit->own))
        return error_memory(&schedule->world->base->error, "settling a step");
    unit->as_they_lie = true;
    unit->has_slots = unit->has_own = false;
    if (unit->system != NULL)
        return bind_system(schedule->world, unit, place, beside);
    bind_manager(unit);
    return BP_OK;
}

/* The flags of the term that stands for a component's own loop. */
static uint32_t flags_of(const manager_t *manager)
{
    return (manager->component->table.flags & BP_COMPONENT_WORLD) != 0 ? BP_TERM_WORLD : 0;
}

/* Is the unit handed rows of its world? A system without terms is not, nor one with terms of other worlds only. */
static bool unit_matches_rows(const unit_t *unit)
{
    uint32_t own = unit->manager != NULL;
    for (uint32_t t = 0; unit->system != NULL && t < unit->system->term_count; t++)
        own += (unit->system->terms[t].flags & BP_TERM_BESIDE) == 0;
    return own > 0;
}

static bp_result_t settle_query(schedule_t *schedule, unit_t *unit)
{
    world_t *world = schedule->world;
    query_term_t terms[TERMS_MAX] = {{0}};
    uint8_t place[TERMS_MAX];
    uint32_t count = unit->manager != NULL ? 1 : unit->system->term_count;
    if (unit->manager != NULL)
        terms[0] = (query_term_t){.manager = unit->manager->number, .flags = flags_of(unit->manager)};
    for (uint32_t t = 0; t < count && unit->system != NULL; t++) {
        bp_result_t result = settle_term(world, unit, &unit->system->terms[t], &terms[t]);
        if (result != BP_OK)
            return result;
    }
    if (!unit_matches_rows(unit))
        return BP_OK;
    query_order(terms, count, place);
    unit->query = need_query(schedule, terms, count);
    if (unit->query == NULL)
        return error_memory(&world->base->error, "settling a step");
    unit->query->users++;
    return settle_bindings(schedule, unit, place);
}

void schedule_unsettle(schedule_t *schedule)
{
    for (uint32_t i = 0; i < schedule->count; i++) {
        schedule->units[i]->query = NULL;
        queries_end_beside(schedule->units[i]);
    }
    for (uint32_t i = 0; i < schedule->query_count; i++) {
        query_free(schedule->queries[i]);
        memory_free(&schedule->memory, schedule->queries[i], sizeof **schedule->queries);
    }
    schedule->query_count = 0;
    schedule->settled = schedule->subscribed = schedule->has_own = false;
}

/* --- names of other units --------------------------------------------------------------------------------------- */

static bool known_somewhere(const world_t *world, const char *name)
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

static bp_result_t check_names(const world_t *world, const unit_t *unit, const char *list, const char *which)
{
    char word[64];
    while ((list = text_next_word(list, word, sizeof word)) != NULL) {
        if (!known_somewhere(world, word))
            return error_set(&world->base->error, BP_ERROR_NOT_FOUND,
                             "system '%s' wants to run %s '%s', which no loaded plugin brings", unit->name,
                             which, word);
    }
    return BP_OK;
}

static bp_result_t check_wishes(const world_t *world, const unit_t *unit)
{
    if (unit->system == NULL)
        return BP_OK;
    bp_result_t result = check_names(world, unit, unit->system->table.before, "before");
    return result == BP_OK ? check_names(world, unit, unit->system->table.after, "after") : result;
}

/* --- accesses --------------------------------------------------------------------------------------------------- */

static void set_bit(uint64_t *words, uint32_t bit)
{
    words[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* The entry for what the unit touches of a manager, made where it is new; entries are in the order of managers, each
 * manager once. NULL when out of memory. */
static access_t *need_access(schedule_t *schedule, unit_t *unit, uint32_t manager)
{
    uint32_t at = 0;
    while (at < unit->access_count && unit->access[at].manager < manager)
        at++;
    if (at < unit->access_count && unit->access[at].manager == manager)
        return &unit->access[at];
    if (!memory_reserve(&schedule->memory, &unit->access, &unit->access_capacity, unit->access_count + 1u,
                        sizeof *unit->access))
        return NULL;
    memmove(unit->access + at + 1, unit->access + at, (unit->access_count - at) * sizeof *unit->access);
    unit->access[at] = (access_t){.manager = manager};
    unit->access_count++;
    return &unit->access[at];
}

static bp_result_t out_of_settling(const schedule_t *schedule)
{
    return error_memory(&schedule->world->base->error, "settling a step");
}

/* All of a component: every field, and what else its manager has. */
static bp_result_t access_all(schedule_t *schedule, unit_t *unit, uint32_t manager, bool writes)
{
    access_t *access = need_access(schedule, unit, manager);
    if (access == NULL)
        return out_of_settling(schedule);
    memset(writes ? access->writes : access->reads, 0xff, sizeof access->reads);
    access->named = access->named || (writes && (unit->manager == NULL || unit->manager->number != manager));
    return BP_OK;
}

/* Note what `simulate` does with its own columns, as its fields say; where these say nothing, it writes all columns. */
static bp_result_t access_own(schedule_t *schedule, unit_t *unit)
{
    const component_t *component = unit->manager->component;
    bool says = false;
    for (uint32_t i = 0; i < component_columns(component); i++)
        says = says || component->fields[i].access != 0;
    if (!says || component->own_storage)
        return access_all(schedule, unit, unit->manager->number, true);
    access_t *access = need_access(schedule, unit, unit->manager->number);
    if (access == NULL)
        return out_of_settling(schedule);
    set_bit(access->writes, ACCESS_MANAGER);
    for (uint32_t i = 0; i < component_columns(component); i++) {
        if (component->fields[i].access != 0)
            set_bit((component->fields[i].access & BP_WRITE) != 0 ? access->writes : access->reads, i);
    }
    return BP_OK;
}

/* Note what a unit does with a term's fields. A term without fields asks for presence, which no unit changes, or for
 * slots, which lead to the manager's own storage. */
static bp_result_t access_term(schedule_t *schedule, unit_t *unit, uint32_t t)
{
    const term_t *term = &unit->system->terms[t];
    if ((term->flags & BP_TERM_BESIDE) != 0)
        return BP_OK; /* no unit beside others reads another world: system_declare */
    const binding_t *binding = &unit->bindings[t];
    uint32_t manager = unit->query->terms[binding->place].manager;
    if (manager == BP_NONE || (term->flags & BP_TERM_EXCLUDE) != 0)
        return BP_OK;
    if (binding->slots)
        return access_all(schedule, unit, manager, false);
    access_t *access = term->field_count == 0 ? NULL : need_access(schedule, unit, manager);
    if (access == NULL)
        return term->field_count == 0 ? BP_OK : out_of_settling(schedule);
    for (uint32_t k = 0; k < term->field_count; k++) {
        if (binding->places[k] != TERM_ABSENT)
            set_bit((term->fields[k].access & BP_WRITE) != 0 ? access->writes : access->reads, binding->places[k]);
    }
    return BP_OK;
}

static bp_result_t add_named(schedule_t *schedule, unit_t *unit, const char *list, bool writes)
{
    world_t *world = schedule->world;
    bp_result_t result = BP_OK;
    char word[64];
    while (result == BP_OK && (list = text_next_word(list, word, sizeof word)) != NULL) {
        if (registry_component(world->registry, word) == NULL)
            return error_prefix(&world->base->error, BP_ERROR_NOT_FOUND, "%s '%s' says that it %s '%s': ",
                                unit->system != NULL ? "system" : "component",
                                unit->name, writes ? "writes" : "reads", word);
        uint32_t manager = world_component(world, word);
        if (manager != BP_NONE)
            result = access_all(schedule, unit, manager, writes);
    }
    return result;
}

static bp_result_t settle_accesses(schedule_t *schedule, unit_t *unit)
{
    bp_result_t result = BP_OK;
    unit->access_count = 0;
    if (unit->manager != NULL)
        result = access_own(schedule, unit);
    for (uint32_t t = 0; unit->system != NULL && t < unit->system->term_count && result == BP_OK; t++)
        result = access_term(schedule, unit, t);
    const char *reads = unit->system != NULL ? unit->system->table.reads : unit->manager->component->table.reads;
    const char *writes = unit->system != NULL ? unit->system->table.writes : unit->manager->component->table.writes;
    if (result == BP_OK)
        result = add_named(schedule, unit, reads, false);
    return result == BP_OK ? add_named(schedule, unit, writes, true) : result;
}

static void settle_flags(unit_t *unit)
{
    uint32_t flags = unit->system != NULL ? unit->system->table.flags : unit->manager->component->table.flags;
    bool each = unit->system != NULL ? unit->system->table.run != NULL : !unit->manager->component->own_storage;
    unit->concurrent = (flags & (unit->system != NULL ? BP_SYSTEM_CONCURRENT : BP_COMPONENT_CONCURRENT)) != 0;
    unit->parallel = (flags & (unit->system != NULL ? BP_SYSTEM_PARALLEL : BP_COMPONENT_PARALLEL)) != 0 && each;
    unit->reserves = unit->concurrent || unit->parallel || unit_is_together(unit);
}

/* --- what a unit needs -------------------------------------------------------------------------------------------- */

static bp_result_t check_named(const world_t *world, const char *list)
{
    bp_result_t result = BP_OK;
    char word[64];
    while (result == BP_OK && (list = text_next_word(list, word, sizeof word)) != NULL)
        result = registry_component(world->registry, word) != NULL ? BP_OK : BP_ERROR_NOT_FOUND;
    return result;
}

bp_result_t schedule_check_system(const schedule_t *schedule, const unit_t *unit)
{
    world_t *world = schedule->world;
    const system_t *system = unit->system;
    bp_result_t result = check_wishes(world, unit);
    for (uint32_t t = 0; t < system->term_count && result == BP_OK; t++) {
        const term_t *term = &system->terms[t];
        query_term_t settled = {0};
        result = settle_term(world, unit, term, &settled);
        if (result == BP_OK && settled.manager != BP_NONE)
            result = term_bind(&world->base->error, term, world->managers[settled.manager]->component, NULL);
    }
    if (result == BP_OK)
        result = check_named(world, system->table.reads);
    return result == BP_OK ? check_named(world, system->table.writes) : result;
}

/* --- deaths ------------------------------------------------------------------------------------------------------ */

/* Look whether a plugin brings the components by which units, managers and plugins ask for deaths. */
static void check_deaths(const schedule_t *schedule)
{
    const world_t *world = schedule->world;
    const plugins_t *plugins = schedule->destruction->plugins;
    for (uint32_t i = 0; i < schedule->count; i++) {
        system_t *system = schedule->units[i]->system;
        if (system != NULL && system->deaths.died != NULL)
            deaths_check(&system->asked_deaths, world, "system", system->name);
    }
    for (uint32_t m = 0; m < world->manager_count; m++) {
        component_t *component = world->managers[m]->component;
        if (component->deaths.died != NULL)
            deaths_check(&component->asked_deaths, world, "component", component->name);
    }
    for (uint32_t i = 0; i < plugins->count; i++) {
        if (plugins->items[i]->deaths.died != NULL)
            deaths_check(&plugins->items[i]->asked_deaths, world, "plugin", plugins->items[i]->name);
    }
}

/* --- all -------------------------------------------------------------------------------------------------------- */

bp_result_t schedule_settle_anew(schedule_t *schedule)
{
    bp_result_t result = BP_OK;
    schedule->read = 0;
    schedule_unsettle(schedule);
    for (uint32_t i = 0; i < schedule->count && result == BP_OK; i++) {
        unit_t *unit = schedule->units[i];
        result = settle_query(schedule, unit);
        if (result == BP_OK)
            result = check_wishes(schedule->world, unit);
        if (result == BP_OK)
            result = settle_accesses(schedule, unit);
        if (result == BP_OK)
            settle_flags(unit);
    }
    if (result == BP_OK)
        result = order_units(schedule);
    if (result == BP_OK && !order_segments(schedule))
        result = error_memory(&schedule->world->base->error, "settling a step");
    if (result == BP_OK)
        check_deaths(schedule);
    schedule->settled = result == BP_OK;
    schedule->world->entities->listeners++; /* listeners are told of deaths in the order of the step */
    return result;
}
