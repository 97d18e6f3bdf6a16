/* notify.c - subscriptions for the units of a world, and telling them.
 *
 * When units change, subscriptions are made anew: signatures of all runs, by prototype. The matches of a term change
 * when its component leaves the world, comes again, or comes for the first time: then whole runs begin or cease to
 * match, and systems that had been told of matches are told of these.
 */
#include "../os/os.h"
#include "../store/notices.h"
#include "schedule_inner.h"
#include "trace.h"

static bool asks(const unit_t *unit)
{
    return unit->system != NULL && unit->query != NULL &&
           (unit->system->table.entities_added != NULL || unit->system->table.entities_removed != NULL);
}

static void tell(void *context, uint32_t subscription, bool added, const bp_entity_t *entities, uint32_t count)
{
    const schedule_t *schedule = context;
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (schedule->units[i]->subscription == subscription && schedule->units[i]->told)
            unit_call_told(schedule->units[i], added, entities, count);
    }
}

/* Tell one unit of a whole run, holes left out. Returns the number of entities. */
static uint32_t tell_run(unit_t *unit, bool added, const run_t *run)
{
    const bp_entity_t *entities = run_entities(run);
    uint32_t told = 0;
    for (uint32_t first = 0, end; first < run->count; first = end) {
        end = first + 1;
        if (entities[first].id == 0)
            continue;
        while (end < run->count && entities[end].id != 0)
            end++;
        unit_call_told(unit, added, entities + first, end - first);
        told += end - first;
    }
    return told;
}

/* --- making subscriptions ----------------------------------------------------------------------------------------- */

/* Subscribe the terms of all units that ask; `numbers` gets the number of each unit's subscription. *out is NULL,
 * without an error, where no unit asks. */
static bp_result_t make_subscriptions(schedule_t *schedule, uint32_t *numbers, notices_t **out)
{
    world_t *world = schedule->world;
    notices_t *n = NULL;
    *out = NULL;
    for (uint32_t i = 0; i < schedule->count; i++) {
        numbers[i] = BP_NONE;
        if (!asks(schedule->units[i]))
            continue;
        if (n == NULL && (n = notices_create(world)) == NULL)
            return BP_ERROR_MEMORY;
        numbers[i] = notices_subscribe(n, schedule->units[i]->query);
        if (numbers[i] == BP_NONE) {
            notices_free(n);
            return BP_ERROR_MEMORY;
        }
    }
    if (n != NULL && !notices_reserve(n, 0)) {
        notices_free(n);
        return BP_ERROR_MEMORY;
    }
    *out = n;
    return BP_OK;
}

static bool make_signatures(const world_t *world, notices_t *n, uint32_t *signatures)
{
    for (uint32_t r = 0; r < world->run_count; r++) {
        signatures[r] = n == NULL ? 0 : notices_signature(n, world->runs[r]->prototype);
        if (signatures[r] == BP_NONE)
            return false;
    }
    return n == NULL || notices_signature(n, 0) != BP_NONE;
}

/* Tell a unit that has been told before of the runs that have come to match, or no longer do. */
static void tell_difference(const world_t *world, unit_t *unit, const notices_t *next, uint32_t subscription,
                            const uint32_t *signatures)
{
    for (uint32_t added = 0; added < 2; added++) {
        for (uint32_t r = 0; r < world->run_count; r++) {
            bool before = notices_has(world->notices, world->runs[r]->signature, unit->subscription);
            bool after = notices_has(next, signatures[r], subscription);
            if (before != after && after == (added == 1))
                tell_run(unit, added == 1, world->runs[r]);
        }
    }
}

/* Do the same units ask for the same entities as before? Then the notices that have been written down are told in the
 * next step, as they are where units have not been settled anew meanwhile. A snapshot settles units, and no result may
 * depend on whether one is taken. */
static bool asks_alike(const schedule_t *schedule, const notices_t *next, const uint32_t *numbers,
                       const uint32_t *signatures)
{
    const world_t *world = schedule->world;
    const notices_t *n = world->notices;
    bool alike = n != NULL && n->count > 0 && next != NULL && next->words == n->words &&
                 next->subscription_count == n->subscription_count;
    for (uint32_t i = 0; alike && i < n->subscription_count; i++)
        alike = n->subscriptions[i].term_count == next->subscriptions[i].term_count &&
                memcmp(n->subscriptions[i].terms, next->subscriptions[i].terms,
                       n->subscriptions[i].term_count * sizeof(query_term_t)) == 0;
    for (uint32_t i = 0; i < schedule->count && alike; i++)
        alike = schedule->units[i]->subscription == numbers[i];
    for (uint32_t r = 0; r < world->run_count && alike; r++)
        alike = memcmp(n->signatures + (size_t)world->runs[r]->signature * n->words,
                       next->signatures + (size_t)signatures[r] * n->words, n->words * sizeof *n->signatures) == 0;
    return alike;
}

static void change_subscriptions(schedule_t *schedule, notices_t *next, const uint32_t *numbers,
                                 const uint32_t *signatures)
{
    world_t *world = schedule->world;
    if (asks_alike(schedule, next, numbers, signatures)) {
        notices_free(next);
        return;
    }
    if (world->notices != NULL)
        notices_deliver(world->notices, tell, schedule);
    for (uint32_t i = 0; i < schedule->count; i++) {
        unit_t *unit = schedule->units[i];
        if (unit->told && numbers[i] != BP_NONE && unit->subscription != BP_NONE)
            tell_difference(world, unit, next, numbers[i], signatures);
        unit->told = unit->told && numbers[i] != BP_NONE;
        unit->subscription = numbers[i];
    }
    for (uint32_t r = 0; r < world->run_count; r++)
        run_set_signature(world->runs[r], signatures[r]);
    notices_free(world->notices);
    world->notices = next;
}

bp_result_t notify_refresh_now(schedule_t *schedule)
{
    world_t *world = schedule->world;
    schedule->read = 0;
    memory_t *memory = &schedule->memory;
    size_t number_size = (schedule->count + 1u) * sizeof(uint32_t),
           signature_size = (world->run_count + 1u) * sizeof(uint32_t);
    uint32_t *numbers = memory_new(memory, number_size), *signatures = memory_new(memory, signature_size);
    notices_t *next = NULL;
    bp_result_t result =
        numbers == NULL || signatures == NULL ? BP_ERROR_MEMORY : make_subscriptions(schedule, numbers, &next);
    if (result == BP_OK && !make_signatures(world, next, signatures))
        result = BP_ERROR_MEMORY;
    if (result == BP_OK) {
        world->hold = WORLD_TELLING;
        destruction_begin_step(schedule->destruction);
        change_subscriptions(schedule, next, numbers, signatures);
        world->hold = WORLD_FREE;
        destruction_end_step(schedule->destruction);
        schedule->subscribed = true;
    } else {
        notices_free(next);
        error_memory(&world->base->error, "settling which unit is told of which entities");
    }
    memory_free(memory, numbers, numbers == NULL ? 0 : number_size);
    memory_free(memory, signatures, signatures == NULL ? 0 : signature_size);
    return result;
}

/* --- telling ------------------------------------------------------------------------------------------------------ */

/* Tell a unit that has just come of all entities that match. */
static uint32_t tell_newcomer(const world_t *world, unit_t *unit)
{
    uint32_t told = 0;
    for (uint32_t r = 0; r < world->run_count; r++) {
        if (notices_has(world->notices, world->runs[r]->signature, unit->subscription))
            told += tell_run(unit, true, world->runs[r]);
    }
    unit->told = true;
    return told;
}

void notify_subscribers(schedule_t *schedule)
{
    world_t *world = schedule->world;
    trace_t *trace = schedule->crew->trace;
    schedule->read = 0;
    uint64_t from = trace != NULL ? os_clock_ns() : 0;
    uint32_t told = world->notices->count > 0 ? notices_deliver(world->notices, tell, schedule) : 0;
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (schedule->units[i]->subscription != BP_NONE && !schedule->units[i]->told)
            told += tell_newcomer(world, schedule->units[i]);
    }
    if (trace != NULL && told > 0)
        trace_slice(trace, BP_SLICE_NOTICES, world, "notices", from, os_clock_ns(), told);
}

/* --- deaths ------------------------------------------------------------------------------------------------------ */

static void tell_unit(void *who, const bp_death_t *batch)
{
    unit_t *unit = who;
    const crew_t *crew = unit->schedule->crew;
    bool output = (unit->system->table.flags & BP_SYSTEM_OUTPUT) != 0;
    if (!output || crew == NULL || !crew->recomputing)
        verb_system_died(unit->system, &unit->verb, batch);
}

bool schedule_listener(world_t *world, uint32_t index, listener_t **listener)
{
    const schedule_t *schedule = world_handle(world)->schedule;
    *listener = NULL;
    if (schedule == NULL || index >= schedule->count)
        return false;
    unit_t *unit = schedule->units[index];
    if (unit->system == NULL || unit->system->deaths.died == NULL)
        return true;
    unit->listener.who = unit;
    unit->listener.asked = &unit->system->asked_deaths;
    unit->listener.tell = tell_unit;
    *listener = &unit->listener;
    return true;
}
