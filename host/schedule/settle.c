/* settle.c - from what units declare to what a step needs to know.
 *
 * Names become numbers of managers: of terms, which say what a unit is handed, and of `reads` and `writes`, which only say
 * what else it touches. A component that no plugin brings is an error there, since a misspelt name would let units run side
 * by side that must not; one that this world lacks does no harm.
 *
 * Everything is found out anew each time, since it is rare.
 */
#include "schedule.h"

#include "../base/text.h"
#include "order.h"

/* --- terms and queries ------------------------------------------------------------------------------------------ */

static bp_result_t settle_term(bp_world_o *world, const unit_t *unit, const term_t *term, query_term_t *settled)
{
    settled->flags = term->flags & (BP_TERM_OPTIONAL | BP_TERM_EXCLUDE);
    settled->instance = term->instance;
    settled->manager = world_component(world, term->component);
    if (settled->manager != BP_NONE)
        settled->width = world_visible(world->managers[settled->manager]);
    else if (settled->flags == 0)
        return error_set(&world->base->error, BP_ERROR_NOT_FOUND,
                         "system '%s' works on component '%s', which world '%s' lacks; add it to the world's components",
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

static bp_result_t settle_query(schedule_t *schedule, unit_t *unit)
{
    bp_world_o *world = schedule->world;
    query_term_t terms[REGISTRY_MAX_TERMS] = {{0}};
    uint32_t count = unit->manager != NULL ? 1 : unit->system->term_count;
    if (unit->manager != NULL)
        terms[0] = (query_term_t){.manager = unit->manager->seen.component, .width = world_visible(unit->manager)};
    for (uint32_t t = 0; t < count && unit->system != NULL; t++) {
        bp_result_t result = settle_term(world, unit, &unit->system->terms[t], &terms[t]);
        if (result != BP_OK)
            return result;
    }
    if (count == 0)
        return BP_OK;
    query_order(terms, count, unit->place);
    unit->query = need_query(schedule, terms, count);
    if (unit->query == NULL)
        return error_memory(&world->base->error, "settling a step");
    unit->query->users++;
    return BP_OK;
}

void schedule_unsettle(schedule_t *schedule)
{
    for (uint32_t i = 0; i < schedule->count; i++)
        schedule->units[i]->query = NULL;
    for (uint32_t i = 0; i < schedule->query_count; i++) {
        query_free(schedule->queries[i]);
        memory_free(&schedule->memory, schedule->queries[i], sizeof **schedule->queries);
    }
    schedule->query_count = 0;
    schedule->settled = schedule->watched = false;
}

/* --- names of other units --------------------------------------------------------------------------------------- */

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
            return error_set(&world->base->error, BP_ERROR_NOT_FOUND,
                             "system '%s' wants to run %s '%s', which no loaded plugin brings", unit->name,
                             which, word);
    }
    return BP_OK;
}

static bp_result_t check_wishes(const bp_world_o *world, const unit_t *unit)
{
    if (unit->system == NULL)
        return BP_OK;
    bp_result_t result = check_names(world, unit, unit->system->table.before, "before");
    return result == BP_OK ? check_names(world, unit, unit->system->table.after, "after") : result;
}

/* --- accesses --------------------------------------------------------------------------------------------------- */

/* Kept in the order of managers, each once. */
static bp_result_t add_access(schedule_t *schedule, unit_t *unit, uint32_t manager, bool writes)
{
    uint32_t at = 0;
    while (at < unit->access_count && unit->access[at].manager < manager)
        at++;
    if (at < unit->access_count && unit->access[at].manager == manager) {
        unit->access[at].writes = unit->access[at].writes || writes;
        return BP_OK;
    }
    if (!memory_reserve(&schedule->memory, &unit->access, &unit->access_capacity, unit->access_count + 1u, sizeof *unit->access))
        return error_memory(&schedule->world->base->error, "settling a step");
    memmove(unit->access + at + 1, unit->access + at, (unit->access_count - at) * sizeof *unit->access);
    unit->access[at] = (access_t){manager, writes};
    unit->access_count++;
    return BP_OK;
}

static bp_result_t add_named(schedule_t *schedule, unit_t *unit, const char *list, bool writes)
{
    bp_world_o *world = schedule->world;
    bp_result_t result = BP_OK;
    char word[64];
    while (result == BP_OK && (list = text_next_word(list, word, sizeof word)) != NULL) {
        if (registry_component(world->registry, word) == NULL)
            return error_prefix(&world->base->error, BP_ERROR_NOT_FOUND, "%s '%s' says that it %s '%s': ",
                                unit->system != NULL ? "system" : "component",
                                unit->name, writes ? "writes" : "reads", word);
        uint32_t manager = world_component(world, word);
        if (manager != BP_NONE)
            result = add_access(schedule, unit, manager, writes);
    }
    return result;
}

static bp_result_t settle_accesses(schedule_t *schedule, unit_t *unit)
{
    bp_result_t result = BP_OK;
    unit->access_count = 0;
    if (unit->manager != NULL)
        result = add_access(schedule, unit, unit->manager->seen.component, true);
    for (uint32_t t = 0; unit->system != NULL && t < unit->system->term_count && result == BP_OK; t++) {
        uint32_t manager = unit->query->terms[unit->place[t]].manager, flags = unit->system->terms[t].flags;
        if (manager != BP_NONE && (flags & BP_TERM_EXCLUDE) == 0)
            result = add_access(schedule, unit, manager, (flags & BP_TERM_WRITE) != 0);
    }
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
    uint32_t width = 0;
    for (uint32_t t = 0; unit->query != NULL && t < unit->query->term_count; t++)
        width += unit->query->terms[t].width;
    unit->concurrent = (flags & (unit->system != NULL ? BP_SYSTEM_CONCURRENT : BP_COMPONENT_CONCURRENT)) != 0;
    unit->parallel = (flags & (unit->system != NULL ? BP_SYSTEM_PARALLEL : BP_COMPONENT_PARALLEL)) != 0 && each &&
                     width <= SCHEDULE_MAX_COLUMNS;
}

/* --- all -------------------------------------------------------------------------------------------------------- */

bp_result_t schedule_settle(schedule_t *schedule)
{
    bp_result_t result = BP_OK;
    if (schedule->settled)
        return BP_OK;
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
    schedule->settled = result == BP_OK;
    return result;
}
