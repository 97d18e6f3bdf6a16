/* schedule.c - units that come into a world's step, and leave it; bringing them into a given order.
 *
 * Invariants: units are separate allocations, since plugins hold &unit->verb.handed; `settled` means that every query
 * has its manager numbers and that `units` is in the order of the step. Adding or dropping a unit unsettles.
 */
#include "schedule.h"

#include "../base/error.h"
#include "../store/own.h"
#include "queries.h"
#include "schedule_inner.h"

#include <stdio.h>
#include <string.h>

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
    schedule->least_range = SCHEDULE_LEAST_RANGE;
    memory_init_child(&schedule->memory, "schedule", &base->memory);
    messages_init(&schedule->messages, &world->rows, &schedule->memory);
    commands_init(&schedule->commands, &world->rows, &schedule->messages, &schedule->memory);
    return schedule;
}

bp_world_o *schedule_create_world(const world_parts_t *parts, destruction_t *destruction, const char *name,
                                  double step_rate, uint64_t seed, uint32_t layout)
{
    memory_t *memory = &parts->base->memory;
    bp_world_o *world = memory_new(memory, sizeof *world);
    if (world == NULL || world_init(&world->rows, parts, name, &world->clock.steps, seed, layout) != BP_OK) {
        memory_free(memory, world, sizeof *world);
        error_memory(&parts->base->error, "creating a world");
        return NULL;
    }
    world->clock.step_rate = step_rate;
    world->clock.speed = 1;
    property_cache_init(&world->names, &world->rows);
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
    queries_end_beside(unit);
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
    known_free(&unit->known, schedule->world);
    memory_free(&schedule->memory, unit, sizeof *unit);
}

static void free_schedule(schedule_t *schedule)
{
    schedule->world->entities->listeners++;
    while (schedule->count > 0) {
        unit_t *unit = schedule->units[--schedule->count];
        schedule->settled = false; /* what is known of units is by their places */
        unit_call_stop(unit);
        schedule_free_unit(schedule, unit);
    }
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

/* The place of a unit's name among what its world wants; looked for once, as long as places stay. */
static uint32_t place_of(const wants_t *wants, unit_t *unit)
{
    if (unit->placed == wants->changes + 1)
        return unit->place;
    unit->place = wants_place(wants, unit->name);
    unit->placed = unit->place == BP_NONE ? 0 : wants->changes + 1; /* a name that comes later has a place then */
    return unit->place;
}

uint32_t schedule_place(const schedule_t *schedule, const char *name)
{
    const wants_t *wants = &world_handle(schedule->world)->wants;
    uint32_t place = wants_place(wants, name), at = 0;
    while (at < schedule->count && place_of(wants, schedule->units[at]) <= place)
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
        uint32_t place = place_of(wants, unit), at = i;
        for (; at > 0 && place_of(wants, schedule->units[at - 1]) > place; at--)
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

bool schedule_reserve_units(schedule_t *schedule, uint32_t more)
{
    return memory_reserve(&schedule->memory, &schedule->units, &schedule->capacity, (uint64_t)schedule->count + more,
                          sizeof *schedule->units);
}

unit_t *schedule_make_unit(schedule_t *schedule, manager_t *manager, uint32_t more)
{
    if (!schedule_reserve_units(schedule, more))
        return NULL;
    unit_t *unit = new_unit(schedule, manager->component->name);
    if (unit != NULL)
        unit->manager = manager;
    return unit;
}

unit_t *schedule_make_system_unit(schedule_t *schedule, system_t *system, const bp_plugin_t *plugin, uint32_t more)
{
    if (!schedule_reserve_units(schedule, more))
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

/* --- units that need a plugin
 * ------------------------------------------------------------------------------------------- */

/* Used before a plugin is unloaded. A unit needs a plugin where one of its terms requires a component of it, or where
 * the unit names a component or system of the plugin under reads, writes, before or after: without that name the world
 * would refuse to step. */

static bool owns_component(const registry_t *registry, const plugin_t *plugin, const char *name)
{
    for (uint32_t i = 0; i < registry->component_count; i++) {
        if (registry->components[i]->owner == plugin && strcmp(registry->components[i]->name, name) == 0)
            return true;
    }
    return false;
}

static bool owns_system(const registry_t *registry, const plugin_t *plugin, const char *name)
{
    for (uint32_t i = 0; i < registry->system_count; i++) {
        if (registry->systems[i]->owner == plugin && strcmp(registry->systems[i]->name, name) == 0)
            return true;
    }
    return false;
}

/* The first name of a list that is the plugin's; systems count where `systems` says so. */
static bool names_one(const registry_t *registry, const plugin_t *plugin, const char *list, bool systems, char name[64])
{
    while ((list = text_next_word(list, name, 64)) != NULL) {
        if (owns_component(registry, plugin, name) || (systems && owns_system(registry, plugin, name)))
            return true;
    }
    return false;
}

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

const char *schedule_need(const unit_t *unit, const plugin_t *plugin, char name[64])
{
    const registry_t *registry = unit->schedule->world->registry;
    const system_t *system = unit->system;
    const component_t *component = unit->manager == NULL ? NULL : unit->manager->component;
    if ((system != NULL ? system->owner : component->owner) == plugin)
        return NULL;
    for (uint32_t i = 0; system != NULL && i < system->term_count; i++) {
        const term_t *term = &system->terms[i];
        if ((term->flags & (BP_TERM_OPTIONAL | BP_TERM_EXCLUDE | BP_TERM_BESIDE)) != 0 ||
            !owns_component(registry, plugin, term->component))
            continue;
        snprintf(name, 64, "%s", term->component);
        return "works on its component";
    }
    if (names_one(registry, plugin, or_empty(system != NULL ? system->table.reads : component->table.reads), false,
                  name))
        return "reads its component";
    if (names_one(registry, plugin, or_empty(system != NULL ? system->table.writes : component->table.writes), false,
                  name))
        return "writes its component";
    if (system != NULL && names_one(registry, plugin, or_empty(system->table.before), true, name))
        return "comes before its";
    if (system != NULL && names_one(registry, plugin, or_empty(system->table.after), true, name))
        return "comes after its";
    return NULL;
}
