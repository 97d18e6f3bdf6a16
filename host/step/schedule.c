/* schedule.c - units that come into a world's step, and leave it.
 *
 * Invariants: units are separate allocations, since plugins hold &unit->verb.handed; `settled` means that every query
 * has its manager numbers and that `units` is in the order of the step. Adding or dropping a unit unsettles.
 */
#include "schedule.h"

#include "../base/error.h"
#include "../store/own.h"
#include "queries.h"
#include "schedule_inner.h"

static schedule_t *create_schedule(bp_world_o *world, destruction_t *destruction)
{
    base_t *base = world->rows.base;
    schedule_t *schedule = memory_new(&base->memory, sizeof *schedule);
    if (schedule == NULL) {
        error_memory(&base->error, "creating a world");
        return NULL;
    }
    schedule->world = &world->rows;
    schedule->clock = &world->clock;
    schedule->destruction = destruction;
    memory_init_child(&schedule->memory, "schedule", &base->memory);
    messages_init(&schedule->messages, &world->rows, &schedule->memory);
    commands_init(&schedule->commands, &world->rows, &schedule->messages, &schedule->memory);
    return schedule;
}

bp_world_o *schedule_create_world(const world_parts_t *parts, destruction_t *destruction, const char *name,
                                  double step_rate, uint32_t layout)
{
    memory_t *memory = &parts->base->memory;
    bp_world_o *world = memory_new(memory, sizeof *world);
    if (world == NULL || world_init(&world->rows, parts, name, &world->clock.steps, layout) != BP_OK) {
        memory_free(memory, world, sizeof *world);
        error_memory(&parts->base->error, "creating a world");
        return NULL;
    }
    world->clock.step_rate = step_rate;
    world->clock.speed = 1;
    world->names.world = &world->rows;
    world->wants.memory = &world->rows.memory;
    world->schedule = create_schedule(world, destruction);
    if (world->schedule != NULL)
        return world;
    world_end(&world->rows);
    memory_free(memory, world, sizeof *world);
    return NULL;
}

void schedule_free_unit(schedule_t *schedule, unit_t *unit)
{
    deaths_free(&unit->listener, &schedule->world->base->memory);
    memory_free(&schedule->memory, unit->matches, unit->match_capacity * sizeof *unit->matches);
    memory_free(&schedule->memory, unit->gathered, unit->gathered_capacity * sizeof *unit->gathered);
    memory_free(&schedule->memory, unit->slots, unit->slot_capacity * sizeof *unit->slots);
    memory_free(&schedule->memory, unit->bindings, unit->binding_capacity * sizeof *unit->bindings);
    memory_free(&schedule->memory, unit->own, unit->own_capacity * sizeof *unit->own);
    memory_free(&schedule->memory, unit->places, unit->place_capacity * sizeof *unit->places);
    memory_free(&schedule->memory, unit->columns, unit->column_capacity * sizeof *unit->columns);
    memory_free(&schedule->memory, unit->tasks, unit->task_capacity * sizeof *unit->tasks);
    memory_free(&schedule->memory, unit->access, unit->access_capacity * sizeof *unit->access);
    memory_free(&schedule->memory, unit->followers, unit->follower_capacity * sizeof *unit->followers);
    memory_free(&schedule->memory, unit, sizeof *unit);
}

static void free_schedule(schedule_t *schedule)
{
    schedule->world->entities->listeners++;
    for (uint32_t i = schedule->count; i > 0; i--) {
        unit_call_stop(schedule->units[i - 1]);
        schedule_free_unit(schedule, schedule->units[i - 1]);
    }
    schedule->count = 0;
    schedule_unsettle(schedule);
    world_stop(schedule->world); /* the world's managers may end queries of theirs meanwhile */
    queries_end_of(schedule, NULL, true);
    commands_free(&schedule->commands);
    messages_free(&schedule->messages);
    memory_free(&schedule->memory, schedule->units, schedule->capacity * sizeof *schedule->units);
    memory_free(&schedule->memory, schedule->queries, schedule->query_capacity * sizeof *schedule->queries);
    memory_free(&schedule->memory, schedule->segments, schedule->segment_capacity * sizeof *schedule->segments);
    memory_free(&schedule->world->base->memory, schedule, sizeof *schedule);
}

void schedule_free_world(bp_world_o *world)
{
    base_t *base = world->rows.base;
    free_schedule(world->schedule);
    own_end(&world->rows);
    property_cache_free(&world->names);
    wants_free(&world->wants);
    world_end(&world->rows);
    memory_free(&base->memory, world, sizeof *world);
}

/* --- units in and out ------------------------------------------------------------------------------------------- */

static unit_t *new_unit(schedule_t *schedule, const char *name)
{
    if (!memory_reserve(&schedule->memory, &schedule->units, &schedule->capacity, schedule->count + 1u,
                        sizeof *schedule->units))
        return NULL;
    unit_t *unit = memory_new(&schedule->memory, sizeof *unit);
    if (unit == NULL)
        return NULL;
    unit->name = name;
    unit->schedule = schedule;
    unit->subscription = BP_NONE;
    return unit;
}

static bp_result_t out_of_memory(schedule_t *schedule)
{
    return error_memory(&schedule->world->base->error, "bringing a unit into a step");
}

bp_result_t schedule_add_manager(schedule_t *schedule, manager_t *manager)
{
    schedule->settled = false; /* a term of a system may have waited for this component */
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

/* Does `component` have all that the system asks for? */
static bp_result_t admit_terms(world_t *world, const system_t *system, const component_t *component)
{
    for (uint32_t t = 0; t < system->term_count; t++) {
        bp_result_t result = strcmp(system->terms[t].component, component->name) != 0
                                 ? BP_OK
                                 : term_bind(&world->base->error, &system->terms[t], component, NULL);
        if (result != BP_OK)
            return error_prefix(&world->base->error, result, "world '%s': system '%s': ", world->name, system->name);
    }
    return BP_OK;
}

static bp_result_t admit_system(world_t *world, const system_t *system)
{
    for (uint32_t i = 0; i < world->manager_count; i++) {
        bp_result_t result =
            world->managers[i]->started ? admit_terms(world, system, world->managers[i]->component) : BP_OK;
        if (result != BP_OK)
            return result;
    }
    return BP_OK;
}

bp_result_t schedule_admit_component(schedule_t *schedule, const component_t *component)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < schedule->count && result == BP_OK; i++) {
        if (schedule->units[i]->system != NULL)
            result = admit_terms(schedule->world, schedule->units[i]->system, component);
    }
    return result;
}

bp_result_t schedule_add_system(schedule_t *schedule, system_t *system)
{
    world_t *world = schedule->world;
    if (world_holds_rows(world))
        return error_set(&world->base->error, BP_ERROR_STATE, "world '%s' is in the middle of a step", world->name);
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (schedule->units[i]->system == system)
            return error_set(&world->base->error, BP_ERROR_EXISTS, "world '%s' has system '%s' already", world->name,
                             system->name);
    }
    bp_result_t result = admit_system(world, system);
    if (result != BP_OK)
        return result;
    unit_t *unit = new_unit(schedule, system->name);
    if (unit == NULL)
        return out_of_memory(schedule);
    unit->system = system;
    result = unit_call_start(unit, world);
    if (result != BP_OK) {
        schedule_free_unit(schedule, unit);
        return result;
    }
    schedule_put_in(schedule, unit, schedule_place(schedule, system->name));
    return BP_OK;
}

uint32_t schedule_place(const schedule_t *schedule, const char *name)
{
    const wants_t *wants = &world_handle(schedule->world)->wants;
    uint32_t place = wants_place(wants, name), at = 0;
    while (at < schedule->count && wants_place(wants, schedule->units[at]->name) <= place)
        at++;
    return at;
}

/* Settle for a moment as if the component, or the system, had gone; then as before. */
bp_result_t schedule_check_without(schedule_t *schedule, manager_t *manager, const system_t *system)
{
    uint32_t at = 0;
    if (schedule_settle(schedule) != BP_OK)
        return BP_OK;
    while (at < schedule->count && (manager != NULL ? schedule->units[at]->manager != manager
                                                    : schedule->units[at]->system != system))
        at++;
    unit_t *unit = at < schedule->count ? schedule->units[at] : NULL;
    if (unit != NULL)
        schedule_take_out(schedule, unit);
    if (manager != NULL)
        manager->started = false;
    schedule->settled = false;
    bp_result_t result = schedule_settle(schedule);
    if (manager != NULL)
        manager->started = true;
    if (unit != NULL)
        schedule_put_in(schedule, unit, at);
    schedule_unsettle(schedule);
    return result;
}

/* See whether the units can be settled without those that leave: units that stay are put first and settled alone, then
 * the order is as before. */
bp_result_t schedule_check_leaving(schedule_t *schedule)
{
    world_t *world = schedule->world;
    uint32_t count = schedule->count, stay = 0, gone = 0;
    unit_t **kept = memory_resize(&schedule->memory, NULL, 0, (count + 1u) * sizeof *kept);
    if (kept == NULL)
        return error_memory(&world->base->error, "settling a step");
    for (uint32_t i = 0; i < count; i++) {
        kept[i] = schedule->units[i];
        if (!kept[i]->leaving && !(kept[i]->manager != NULL && kept[i]->manager->leaving))
            schedule->units[stay++] = kept[i];
    }
    for (uint32_t i = 0; i < world->manager_count; i++) {
        world->managers[i]->leaving = world->managers[i]->leaving && world->managers[i]->started;
        world->managers[i]->started = world->managers[i]->started && !world->managers[i]->leaving;
        gone += world->managers[i]->leaving;
    }
    schedule->count = stay;
    schedule->settled = schedule->settled && stay == count && gone == 0;
    bp_result_t result = schedule_settle(schedule);
    for (uint32_t i = 0; i < world->manager_count; i++)
        world->managers[i]->started = world->managers[i]->started || world->managers[i]->leaving;
    if (stay != count || gone > 0) {
        memcpy(schedule->units, kept, count * sizeof *kept);
        schedule->count = count;
        schedule_unsettle(schedule);
    }
    memory_free(&schedule->memory, kept, (count + 1u) * sizeof *kept);
    return result;
}

void schedule_sort(schedule_t *schedule)
{
    const wants_t *wants = &world_handle(schedule->world)->wants;
    for (uint32_t i = 1; i < schedule->count; i++) {
        unit_t *unit = schedule->units[i];
        uint32_t place = wants_place(wants, unit->name), at = i;
        for (; at > 0 && wants_place(wants, schedule->units[at - 1]->name) > place; at--)
            schedule->units[at] = schedule->units[at - 1];
        schedule->units[at] = unit;
    }
    schedule_unsettle(schedule);
    schedule->world->entities->listeners++;
}

static void drop_unit(schedule_t *schedule, uint32_t at)
{
    unit_t *unit = schedule->units[at];
    memmove(schedule->units + at, schedule->units + at + 1, (schedule->count - at - 1) * sizeof *schedule->units);
    schedule->count--;
    schedule->settled = false;
    schedule->world->entities->listeners++;
    unit_call_stop(unit);
    schedule_free_unit(schedule, unit);
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

/* --- for reloads -------------------------------------------------------------------------------------------------- */

unit_t *schedule_make_unit(schedule_t *schedule, manager_t *manager, uint32_t more)
{
    if (!memory_reserve(&schedule->memory, &schedule->units, &schedule->capacity, (uint64_t)schedule->count + more,
                        sizeof *schedule->units))
        return NULL;
    unit_t *unit = new_unit(schedule, manager->component->name);
    if (unit != NULL)
        unit->manager = manager;
    return unit;
}

unit_t *schedule_make_system_unit(schedule_t *schedule, system_t *system, const bp_plugin_t *plugin, uint32_t more)
{
    if (!memory_reserve(&schedule->memory, &schedule->units, &schedule->capacity, (uint64_t)schedule->count + more,
                        sizeof *schedule->units))
        return NULL;
    unit_t *unit = new_unit(schedule, system->name);
    if (unit == NULL)
        return NULL;
    unit->system = system;
    unit_call_ready(unit, schedule->world, plugin);
    return unit;
}

uint32_t schedule_take_out(schedule_t *schedule, const unit_t *unit)
{
    uint32_t at = 0;
    while (schedule->units[at] != unit)
        at++;
    memmove(schedule->units + at, schedule->units + at + 1, (schedule->count - at - 1) * sizeof *schedule->units);
    schedule->count--;
    schedule->settled = false;
    schedule->world->entities->listeners++;
    return at;
}

void schedule_put_in(schedule_t *schedule, unit_t *unit, uint32_t at)
{
    at = at < schedule->count ? at : schedule->count;
    memmove(schedule->units + at + 1, schedule->units + at, (schedule->count - at) * sizeof *schedule->units);
    schedule->units[at] = unit;
    schedule->count++;
    schedule->settled = false;
    schedule->world->entities->listeners++;
}

/* --- settle ------------------------------------------------------------------------------------------------------ */

/* From the declarations of units to the numbers and tables that a step needs.
 *
 * Names become numbers of managers: the names of terms, which say what a unit is handed, and those of `reads` and
 * `writes`, which only say what else the unit touches. A component that no plugin brings is an error there, since a
 * misspelt name would let units run side by side that must not; a component that only this world lacks does no harm.
 *
 * All of it is found out anew each time, since settling is rare.
 */

/* --- terms and queries ------------------------------------------------------------------------------------------ */

static bp_result_t settle_term(world_t *world, const unit_t *unit, const term_t *term, query_term_t *settled)
{
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
    if (count == 0)
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
    for (uint32_t i = 0; i < schedule->count; i++)
        schedule->units[i]->query = NULL;
    for (uint32_t i = 0; i < schedule->query_count; i++) {
        query_free(schedule->queries[i]);
        memory_free(&schedule->memory, schedule->queries[i], sizeof **schedule->queries);
    }
    schedule->query_count = 0;
    schedule->settled = schedule->subscribed = schedule->has_own = false;
}

/* Exchange a unit behind `place` with the one that is there. False where there is no such unit. */
static bool bring_to(schedule_t *schedule, uint32_t place, const char *name, bool system)
{
    uint32_t at = place;
    while (at < schedule->count && (strcmp(schedule->units[at]->name, name) != 0 ||
                                    (schedule->units[at]->system != NULL) != system))
        at++;
    if (at == schedule->count)
        return false;
    unit_t *unit = schedule->units[at];
    schedule->units[at] = schedule->units[place];
    schedule->units[place] = unit;
    return true;
}

bool schedule_arrange_like(schedule_t *schedule, const schedule_t *other)
{
    bool found = schedule->count == other->count;
    schedule_unsettle(schedule);
    for (uint32_t i = 0; i < other->count && found; i++)
        found = bring_to(schedule, i, other->units[i]->name, other->units[i]->system != NULL);
    return found;
}

bool schedule_arrange_by(schedule_t *schedule, const wants_t *units)
{
    bool found = schedule->count == units->count;
    schedule_unsettle(schedule);
    for (uint32_t i = 0; i < units->count && found; i++)
        found = bring_to(schedule, i, units->items[i].name, units->items[i].system);
    return found;
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
    schedule->world->entities->listeners++; /* listeners are told of deaths in the order of the step */
    return result;
}

/* --- order ------------------------------------------------------------------------------------------------------- */

/* Sorting units by their wishes, then by their conflicts.
 *
 * For every pair of units the table `before` (a byte each) says whether one must precede the other; from then on
 * placing a unit only counts down the units that wait for it.
 *
 * Units of one segment form a graph without circles, since every unit waits only for units before it in the order. A
 * unit that must be alone ends the segment before it and is a segment itself.
 */

static bool lists(const char *list, const char *name)
{
    char word[64];
    while ((list = text_next_word(list, word, sizeof word)) != NULL) {
        if (strcmp(word, name) == 0)
            return true;
    }
    return false;
}

static bool says_before(const unit_t *a, const unit_t *b)
{
    return a->system != NULL && lists(a->system->table.before, b->name);
}

static bool says_after(const unit_t *b, const unit_t *a)
{
    return b->system != NULL && lists(b->system->table.after, a->name);
}

static bool comes_before(const unit_t *a, const unit_t *b)
{
    return says_before(a, b) || says_after(b, a);
}

/* --- order ------------------------------------------------------------------------------------------------------ */

typedef struct wishes_t {
    unit_t *const *units;
    uint32_t count;
    uint8_t *before; /* before[i * count + k]: unit i precedes unit k */
    uint32_t *waits; /* for so many unplaced units; BP_NONE: placed */
} wishes_t;

static void ask_wishes(wishes_t *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        for (uint32_t k = 0; k < w->count; k++) {
            if (i == k || !comes_before(w->units[i], w->units[k]))
                continue;
            w->before[(size_t)i * w->count + k] = 1;
            w->waits[k]++;
        }
    }
}

/* An unplaced unit that precedes unit `k`. */
static uint32_t obstacle(const wishes_t *w, uint32_t k)
{
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->waits[i] != BP_NONE && w->before[(size_t)i * w->count + k] != 0)
            return i;
    }
    return BP_NONE;
}

static void say_wish(text_t *text, const unit_t *a, const unit_t *b)
{
    text_append(text, "%s'%s' runs before '%s' (%s of '%s')", text->length > 0 ? ", " : "", a->name, b->name,
                says_before(a, b) ? "before" : "after", says_before(a, b) ? a->name : b->name);
}

/* Walk from obstacle to obstacle until the walk has come into a circle; the error then names the units of the circle,
 * each once. */
static bp_result_t circle(const schedule_t *schedule, const wishes_t *w)
{
    text_t names = {.length = 0}, wishes = {.length = 0};
    names.chars[0] = wishes.chars[0] = '\0';
    uint32_t at = BP_NONE;
    for (uint32_t i = w->count; i > 0; i--) {
        if (w->waits[i - 1] != BP_NONE)
            at = i - 1;
    }
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->waits[i] != BP_NONE)
            text_append(&names, "%s%s", names.length > 0 ? ", " : "", w->units[i]->name);
        at = obstacle(w, at);
    }
    uint32_t start = at;
    do {
        uint32_t earlier = obstacle(w, at);
        say_wish(&wishes, w->units[earlier], w->units[at]);
        at = earlier;
    } while (at != start);
    return error_set(&schedule->world->base->error, BP_ERROR_STATE,
                     "world '%s': the wishes of %s to run before and after each other form a circle: %s",
                     schedule->world->name, names.chars, wishes.chars);
}

static bp_result_t place_all(const schedule_t *schedule, wishes_t *w, unit_t **ordered)
{
    for (uint32_t placed = 0; placed < w->count; placed++) {
        uint32_t next = 0;
        while (next < w->count && w->waits[next] != 0)
            next++;
        if (next == w->count)
            return circle(schedule, w);
        ordered[placed] = w->units[next];
        w->waits[next] = BP_NONE;
        for (uint32_t k = 0; k < w->count; k++)
            w->waits[k] -= w->before[(size_t)next * w->count + k];
    }
    return BP_OK;
}

bp_result_t order_units(schedule_t *schedule)
{
    memory_t *memory = &schedule->memory;
    uint32_t count = schedule->count;
    size_t pairs = (size_t)count * count + 1;
    wishes_t w = {.units = schedule->units, .count = count};
    w.before = memory_new(memory, pairs);
    w.waits = memory_new(memory, (count + 1u) * sizeof *w.waits);
    unit_t **ordered = memory_new(memory, (count + 1u) * sizeof *ordered);
    bp_result_t result;
    if (w.before != NULL && w.waits != NULL && ordered != NULL) {
        ask_wishes(&w);
        result = place_all(schedule, &w, ordered);
        if (result == BP_OK && count > 0)
            memcpy(schedule->units, ordered, count * sizeof *ordered);
    } else {
        result = error_memory(&schedule->world->base->error, "ordering a step");
    }
    memory_free(memory, w.before, w.before == NULL ? 0 : pairs);
    memory_free(memory, w.waits, w.waits == NULL ? 0 : (count + 1u) * sizeof *w.waits);
    memory_free(memory, ordered, ordered == NULL ? 0 : (count + 1u) * sizeof *ordered);
    return result;
}

/* --- segments --------------------------------------------------------------------------------------------------- */

static bool meet(const access_t *x, const access_t *y)
{
    uint64_t both = 0;
    for (uint32_t i = 0; i < ACCESS_WORDS; i++)
        both |= (x->writes[i] & (y->reads[i] | y->writes[i])) | (x->reads[i] & y->writes[i]);
    return both != 0;
}

static bool conflict(const unit_t *a, const unit_t *b)
{
    for (uint32_t i = 0, k = 0; i < a->access_count && k < b->access_count;) {
        const access_t *x = &a->access[i], *y = &b->access[k];
        if (x->manager == y->manager && meet(x, y))
            return true;
        i += x->manager <= y->manager;
        k += y->manager <= x->manager;
    }
    return false;
}

bool schedule_waits(const unit_t *a, const unit_t *b, uint32_t *manager, uint32_t *part)
{
    for (uint32_t i = 0, k = 0; i < a->access_count && k < b->access_count;) {
        const access_t *x = &a->access[i], *y = &b->access[k];
        for (uint32_t bit = 0; x->manager == y->manager && bit <= ACCESS_MANAGER; bit++) {
            uint32_t word = bit / 64;
            uint64_t both = (x->writes[word] & (y->reads[word] | y->writes[word])) | (x->reads[word] & y->writes[word]);
            if ((both >> bit % 64 & 1) == 0)
                continue;
            *manager = x->manager;
            *part = bit;
            return true;
        }
        i += x->manager <= y->manager;
        k += y->manager <= x->manager;
    }
    *manager = BP_NONE;
    *part = 0;
    return comes_before(a, b);
}

static bool add_follower(schedule_t *schedule, unit_t *unit, uint32_t follower)
{
    if (!memory_reserve(&schedule->memory, &unit->followers, &unit->follower_capacity, unit->follower_count + 1u,
                        sizeof *unit->followers))
        return false;
    unit->followers[unit->follower_count++] = follower;
    schedule->units[follower]->awaited++;
    return true;
}

/* Let the unit at `at` wait for those of its segment that come before it and conflict with it. */
static bool join_segment(schedule_t *schedule, const segment_t *segment, uint32_t at)
{
    for (uint32_t i = segment->first; i < at; i++) {
        unit_t *before = schedule->units[i], *unit = schedule->units[at];
        if ((conflict(before, unit) || comes_before(before, unit)) && !add_follower(schedule, before, at))
            return false;
    }
    return true;
}

static bool begins_segment(const schedule_t *schedule, uint32_t at, bool commands_first)
{
    return at == 0 || commands_first || !schedule->units[at]->concurrent || !schedule->units[at - 1]->concurrent;
}

bool order_segments(schedule_t *schedule)
{
    schedule->segment_count = 0;
    schedule->all_concurrent = schedule->count > 0;
    if (!memory_reserve(&schedule->memory, &schedule->segments, &schedule->segment_capacity, schedule->count,
                        sizeof *schedule->segments))
        return false;
    for (uint32_t i = 0; i < schedule->count; i++)
        schedule->units[i]->follower_count = schedule->units[i]->awaited = 0;
    for (uint32_t i = 0; i < schedule->count; i++) {
        const unit_t *unit = schedule->units[i];
        bool first = unit->system != NULL && (unit->system->table.flags & BP_SYSTEM_COMMANDS_FIRST) != 0;
        if (begins_segment(schedule, i, first))
            schedule->segments[schedule->segment_count++] =
                (segment_t){.first = i, .shared = unit->concurrent || unit->parallel, .commands_first = first};
        segment_t *segment = &schedule->segments[schedule->segment_count - 1];
        segment->count++;
        if (!join_segment(schedule, segment, i))
            return false;
        schedule->all_concurrent = schedule->all_concurrent && unit->concurrent && !first;
    }
    return true;
}
