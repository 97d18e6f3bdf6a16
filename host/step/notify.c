/* notify.c - subscriptions for the units of a world, and telling them.
 *
 * When units change, subscriptions are made anew: signatures of all runs, by prototype. The matches of a term change
 * when its component leaves the world, comes again, or comes for the first time: then whole runs begin or cease to
 * match, and systems that had been told of matches are told of these.
 *
 * A system whose code and state a probation brings back was told of what matched until then (known_t), and of nothing
 * afterwards: it is told of the difference, so what it has been told stays exact. The same goes for a system that is
 * output: it is told of nothing while its world goes to another moment, and of the difference afterwards; and for one
 * whose plugin is set aside, once a sound version has its state.
 */
#include "../os/os.h"
#include "../store/notices.h"
#include "schedule_inner.h"
#include "trace.h"

#include <stdlib.h>

static bool asks(const unit_t *unit)
{
    return unit->system != NULL && unit->query != NULL &&
           (unit->system->table.entities_added != NULL || unit->system->table.entities_removed != NULL);
}

/* Does the unit say BP_SYSTEM_OUTPUT? No step depends on such a system, and such a system hears nothing of steps of the
 * past that are computed again. */
static bool is_output(const unit_t *unit)
{
    return unit->system != NULL && system_is_output(unit->system);
}

/* --- systems that are set aside ----------------------------------------------------------------------------------- */

/* Tell a unit, and note what it has not heard of, since its plugin is set aside by then: also where this very call has
 * crashed, since how far the call came is not known. */
static void call_told(unit_t *unit, bool added, const bp_entity_t *entities, uint32_t count)
{
    world_t *world = unit->schedule->world;
    unheard_t *u = &unit->unheard;
    unit_call_told(unit, added, entities, count);
    if (!plugin_is_aside(unit->system->owner))
        return;
    if (!memory_reserve(&world->memory, &u->items, &u->capacity, (uint64_t)u->count + count, sizeof *u->items)) {
        log_write(&world->base->log, BP_LOG_ERROR, "host",
                  "world '%s': out of memory; system '%s' is not told of all entities that come and go", world->name,
                  unit->name);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        u->items[u->count++] = (unheard_entity_t){entities[i], added};
}

static void tell(void *context, uint32_t subscription, bool added, const bp_entity_t *entities, uint32_t count)
{
    const schedule_t *schedule = context;
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (schedule->units[i]->subscription == subscription && schedule->units[i]->told)
            call_told(schedule->units[i], added, entities, count);
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
        call_told(unit, added, entities + first, end - first);
        told += end - first;
    }
    return told;
}

/* --- states that come back ---------------------------------------------------------------------------------------- */

/* What a system was told of last is what matches now, but for what is written down. */
typedef struct noting_t {
    known_t *known;
    memory_t *memory;
    const entities_t *entities;
    uint32_t subscription;
    bool good;
} noting_t;

enum { WORD = 64 /* bits */ };

/* Have the first WORD entities the indices of one word of bits, in their order, as entities that were made together
 * have? */
static bool fill_a_word(const bp_entity_t *entities)
{
    uint32_t first = bp_entity_index(entities[0]), others = first % WORD;
    for (uint32_t i = 1; i < WORD; i++)
        others |= bp_entity_index(entities[i]) ^ (first + i);
    return others == 0;
}

/* Set the bit of each entity. */
static void mark_known(known_t *known, const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count;) {
        uint32_t index = bp_entity_index(entities[i]);
        if (index % WORD == 0 && count - i >= WORD && fill_a_word(entities + i)) {
            known->living[index / WORD] = UINT64_MAX;
            i += WORD;
            continue;
        }
        known->living[index / WORD] |= UINT64_C(1) << index % WORD;
        i++;
    }
}

static void note_known(noting_t *n, const bp_entity_t *entities, uint32_t count)
{
    known_t *known = n->known;
    if (count == 0)
        return;
    if (known->living != NULL) {
        mark_known(known, entities, count);
        return;
    }
    n->good = n->good && memory_reserve(n->memory, &known->entities, &known->capacity, (uint64_t)known->count + count,
                                        sizeof *known->entities);
    if (!n->good)
        return;
    memcpy(known->entities + known->count, entities, count * sizeof *entities);
    known->count += count;
}

static void note_leaving(void *context, uint32_t subscription, bool added, const bp_entity_t *entities, uint32_t count)
{
    noting_t *n = context;
    if (added || subscription != n->subscription)
        return;
    for (uint32_t i = 0; i < count && n->known->living != NULL; i++) {
        bool lives = entities_is_alive(n->entities, entities[i]);
        if (lives)
            mark_known(n->known, &entities[i], 1);
        else
            n->known->entities[n->known->count++] = entities[i];
    }
    if (n->known->living == NULL)
        note_known(n, entities, count);
}

/* `notices` is NULL where moves that are written down count as told. */
static void note_run(noting_t *n, notices_t *notices, const run_t *run)
{
    const bp_entity_t *entities = run_entities(run);
    if ((notices == NULL || notices->count == 0) && run->holes == 0) {
        note_known(n, entities, run->count);
        return;
    }
    for (uint32_t first = 0, end; first < run->count; first = end + 1) {
        end = first;
        while (end < run->count && entities[end].id != 0 &&
               (notices == NULL || !notices_will_add(notices, n->subscription, entities[end])))
            end++;
        if (end > first)
            note_known(n, entities + first, end - first);
    }
}

static int by_id(const void *a, const void *b)
{
    const unheard_entity_t *x = a, *y = b;
    return x->entity.id < y->entity.id ? -1 : x->entity.id > y->entity.id;
}

/* Is it among those that have come to match, and the unit has not heard of it? `u` is in order. */
static bool came_unheard(const unheard_t *u, bp_entity_t e)
{
    const unheard_entity_t wanted = {.entity = e};
    const unheard_entity_t *found = bsearch(&wanted, u->items, u->count, sizeof *u->items, by_id);
    return found != NULL && found->added;
}

/* What a unit knows that has not heard of all: what matches now, but for that. From now on it is a unit whose state is
 * to be told of the difference, once its plugin is sound. Precondition: what was written down has been told. */
static void know_without(unit_t *unit)
{
    world_t *world = unit->schedule->world;
    unheard_t *u = &unit->unheard;
    known_t known = {.entities = NULL};
    noting_t n = {.known = &known, .memory = &world->memory, .good = true};
    qsort(u->items, u->count, sizeof *u->items, by_id);
    for (uint32_t r = 0; r < world->run_count && n.good && unit->subscription != BP_NONE; r++) {
        if (notices_has(world->notices, world->runs[r]->signature, unit->subscription))
            note_run(&n, NULL, world->runs[r]);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < known.count; i++) {
        if (!came_unheard(u, known.entities[i]))
            known.entities[kept++] = known.entities[i];
    }
    known.count = kept;
    for (uint32_t i = 0; i < u->count; i++) {
        if (!u->items[i].added)
            note_known(&n, &u->items[i].entity, 1);
    }
    if (!n.good)
        log_write(&world->base->log, BP_LOG_ERROR, "host",
                  "world '%s': out of memory; system '%s' is not told of all entities that come and go", world->name,
                  unit->name);
    known_free(n.good ? &unit->known : &known, world);
    if (n.good) {
        unit->known = known;
        unit->told = false;
    }
}

/* After units have been told. */
static void settle_unheard(schedule_t *schedule)
{
    for (uint32_t i = 0; i < schedule->count; i++) {
        unit_t *unit = schedule->units[i];
        unheard_t *u = &unit->unheard;
        if (u->capacity == 0)
            continue;
        if (u->count > 0)
            know_without(unit);
        memory_free(&schedule->world->memory, u->items, u->capacity * sizeof *u->items);
        *u = (unheard_t){.items = NULL};
    }
}

/* Note what is known, as a list, or by the bits of `known`. */
static bool note(known_t *known, unit_t *unit)
{
    world_t *world = unit->schedule->world;
    noting_t n = {.known = known, .memory = &world->memory, .entities = world->entities,
                  .subscription = unit->subscription, .good = true};
    if (!unit->told || unit->subscription == BP_NONE || world->notices == NULL) {
        note_known(&n, unit->known.entities, unit->known.count);
        return n.good;
    }
    for (uint32_t r = 0; r < world->run_count && n.good; r++) {
        if (notices_has(world->notices, world->runs[r]->signature, unit->subscription))
            note_run(&n, world->notices, world->runs[r]);
    }
    notices_look(world->notices, note_leaving, &n);
    return n.good;
}

bool known_note(known_t *known, unit_t *unit)
{
    return note(known, unit);
}

/* At most how many entities a unit knows. */
static uint64_t most_known(const unit_t *unit)
{
    const world_t *world = unit->schedule->world;
    uint64_t most = world->notices->count;
    for (uint32_t r = 0; r < world->run_count; r++) {
        if (notices_has(world->notices, world->runs[r]->signature, unit->subscription))
            most += world->runs[r]->count;
    }
    return most;
}

static size_t bytes_of_bits(const known_t *known)
{
    return (known->bound / WORD + (size_t)1) * sizeof *known->living;
}

bool known_mark(known_t *known, unit_t *unit)
{
    world_t *world = unit->schedule->world;
    if (!unit->told || unit->subscription == BP_NONE || world->notices == NULL)
        return note(known, unit);
    if (!memory_reserve(&world->memory, &known->entities, &known->capacity, most_known(unit), sizeof *known->entities))
        return false;
    known->bound = world->entities->bound;
    known->living = memory_new(&world->memory, bytes_of_bits(known));
    return known->living != NULL && note(known, unit);
}

void known_died(known_t *known, const bp_entity_t *dead, uint32_t count)
{
    for (uint32_t i = 0; i < count && known->living != NULL; i++) {
        uint32_t index = bp_entity_index(dead[i]);
        uint64_t bit = UINT64_C(1) << index % WORD;
        if (index >= known->bound || (known->living[index / WORD] & bit) == 0)
            continue;
        known->living[index / WORD] &= ~bit; /* another entity of that index is not known */
        known->entities[known->count++] = dead[i];
    }
}

/* Put the entities that have a bit into the list, which has room for all, and free the bits. */
static void list_living(known_t *known, world_t *world)
{
    for (uint32_t word = 0; known->living != NULL && word <= known->bound / WORD; word++) {
        for (uint64_t bits = known->living[word]; bits != 0; bits &= bits - 1)
            known->entities[known->count++] = entities_at(world->entities, word * WORD + lowest_bit(bits));
    }
    if (known->living != NULL)
        memory_free(&world->memory, known->living, bytes_of_bits(known));
    known->living = NULL;
}

void known_free(known_t *known, world_t *world)
{
    if (known->living != NULL)
        memory_free(&world->memory, known->living, bytes_of_bits(known));
    memory_free(&world->memory, known->entities, known->capacity * sizeof *known->entities);
    *known = (known_t){.entities = NULL};
}

void known_return(known_t *known, unit_t *unit)
{
    known_free(&unit->known, unit->schedule->world);
    list_living(known, unit->schedule->world);
    unit->known = *known;
    *known = (known_t){.entities = NULL};
    unit->schedule->subscribed = false;
}

/* Has the unit a state that has come back, and that is told of the difference as soon as subscriptions are made? */
static bool has_returned(const unit_t *unit)
{
    return unit->known.count > 0 && !is_output(unit) && !plugin_is_aside(unit->system->owner);
}

static bool knows_any(const schedule_t *schedule)
{
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (has_returned(schedule->units[i]))
            return true;
    }
    return false;
}

static bool matches_now(const world_t *world, uint32_t subscription, bp_entity_t e)
{
    const record_t *record = world_record(world, e);
    const run_t *run = record == NULL ? NULL : world_run(world, record->prototype);
    return run != NULL && notices_has(world->notices, run->signature, subscription);
}

/* Put the entities that do not match any more before the others; returns their number. */
static uint32_t part_gone(const world_t *world, const unit_t *unit)
{
    bp_entity_t *entities = unit->known.entities;
    uint32_t gone = 0;
    for (uint32_t i = 0; i < unit->known.count; i++) {
        bp_entity_t e = entities[i];
        if (matches_now(world, unit->subscription, e))
            continue;
        entities[i] = entities[gone];
        entities[gone++] = e;
    }
    return gone;
}

static bool is_known(const notices_t *n, const known_t *known, bp_entity_t e)
{
    uint32_t place = *notices_place(n, e);
    return place < known->count && known->entities[place].id == e.id;
}

static uint32_t tell_unknown(unit_t *unit, const run_t *run)
{
    const notices_t *n = unit->schedule->world->notices;
    const bp_entity_t *entities = run_entities(run);
    uint32_t told = 0;
    for (uint32_t first = 0, end; first < run->count; first = end) {
        end = first + 1;
        if (entities[first].id == 0 || is_known(n, &unit->known, entities[first]))
            continue;
        while (end < run->count && entities[end].id != 0 && !is_known(n, &unit->known, entities[end]))
            end++;
        call_told(unit, true, entities + first, end - first);
        told += end - first;
    }
    return told;
}

/* Tell a unit of the difference between what it knows and what matches now: of what does not match any more, and of
 * what it has not heard of. Each known entity that matches gets its number in the place where the list of moves has the
 * number of an entity's entry; that list is as it was afterwards. Returns how many entities were told. */
static uint32_t tell_since_known(world_t *world, unit_t *unit)
{
    known_t *known = &unit->known;
    uint32_t gone = part_gone(world, unit), told = gone;
    for (uint32_t i = gone; i < known->count; i++)
        *notices_place(world->notices, known->entities[i]) = i;
    if (gone > 0)
        call_told(unit, false, known->entities, gone);
    for (uint32_t r = 0; r < world->run_count; r++) {
        if (notices_has(world->notices, world->runs[r]->signature, unit->subscription))
            told += tell_unknown(unit, world->runs[r]);
    }
    notices_write_places(world->notices);
    return told;
}

/* Tell a unit of the difference while the list of moves is empty: from now on the unit is told as others are. */
static uint32_t tell_returned(world_t *world, unit_t *unit)
{
    uint32_t told = tell_since_known(world, unit);
    unit->told = true;
    known_free(&unit->known, world);
    return told;
}

/* --- output ------------------------------------------------------------------------------------------------------- */

bp_result_t schedule_suspend_outputs(schedule_t *schedule)
{
    for (uint32_t i = 0; i < schedule->count; i++) {
        unit_t *unit = schedule->units[i];
        known_t known = {.entities = NULL};
        if (!unit->told || !is_output(unit))
            continue;
        if (!known_note(&known, unit)) {
            known_free(&known, schedule->world);
            return error_memory(&schedule->world->base->error, "keeping what a system was told");
        }
        unit->known = known;
        unit->told = false;
    }
    return BP_OK;
}

/* Tell a suspended unit of the difference. Afterwards it knows what matches now, and it stays suspended, since moves
 * are written down that it has heard of already. */
static void bring_up(unit_t *unit)
{
    world_t *world = unit->schedule->world;
    known_t next = {.entities = NULL};
    noting_t n = {.known = &next, .memory = &world->memory, .good = true};
    for (uint32_t r = 0; r < world->run_count && n.good; r++) {
        if (notices_has(world->notices, world->runs[r]->signature, unit->subscription))
            note_run(&n, NULL, world->runs[r]);
    }
    if (n.good)
        tell_since_known(world, unit);
    known_free(n.good ? &unit->known : &next, world);
    if (n.good)
        unit->known = next;
}

void schedule_tell_outputs(schedule_t *schedule)
{
    world_t *world = schedule->world;
    for (uint32_t i = 0; i < schedule->count && schedule->subscribed && world->notices != NULL; i++) {
        unit_t *unit = schedule->units[i];
        if (unit->told || unit->subscription == BP_NONE || !is_output(unit))
            continue;
        world->hold = WORLD_TELLING;
        destruction_begin_step(schedule->destruction);
        bring_up(unit);
        settle_unheard(schedule);
        world->hold = WORLD_FREE;
        destruction_end_step(schedule->destruction);
    }
}

/* --- after a probation -------------------------------------------------------------------------------------------- */

static bool knows_anything(const schedule_t *schedule)
{
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (schedule->units[i]->known.count > 0)
            return true;
    }
    return false;
}

void schedule_tell_returned(schedule_t *schedule)
{
    error_text_t *error = &schedule->world->base->error, kept = *error;
    if (!knows_anything(schedule))
        return;
    if (schedule_attune(schedule) != BP_OK)
        log_write(&schedule->world->base->log, BP_LOG_WARNING, "host",
                  "world '%s': systems that have come back are told later what has changed: %s",
                  schedule->world->name, error->text);
    *error = kept;
    schedule_tell_outputs(schedule);
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
    bool alike = n != NULL && n->count > 0 && !knows_any(schedule) && next != NULL && next->words == n->words &&
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
    settle_unheard(schedule);
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
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (has_returned(schedule->units[i]) && numbers[i] != BP_NONE)
            tell_returned(world, schedule->units[i]);
    }
    settle_unheard(schedule);
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
    bool good = numbers != NULL && signatures != NULL;
    bp_result_t result = good ? make_subscriptions(schedule, numbers, &next) : BP_ERROR_MEMORY;
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

/* Tell a unit that has just come of all entities that match; one that knows some of them, of the difference. */
static uint32_t tell_newcomer(world_t *world, unit_t *unit)
{
    uint32_t told = 0;
    if (unit->known.count > 0)
        return tell_returned(world, unit);
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
    notices_tend(world->notices);
    for (uint32_t i = 0; i < schedule->count; i++) {
        unit_t *unit = schedule->units[i];
        if (unit->subscription != BP_NONE && !unit->told && !(is_output(unit) && schedule->crew->recomputing) &&
            !plugin_is_aside(unit->system->owner))
            told += tell_newcomer(world, unit);
    }
    settle_unheard(schedule);
    if (trace != NULL && told > 0)
        trace_slice(trace, BP_SLICE_NOTICES, world, "notices", from, os_clock_ns(), told);
}

/* --- deaths ------------------------------------------------------------------------------------------------------ */

static void tell_unit(void *who, const bp_death_t *batch)
{
    unit_t *unit = who;
    const crew_t *crew = unit->schedule->crew;
    if (!is_output(unit) || crew == NULL || !crew->recomputing)
        verb_system_died(unit->system, &unit->verb, batch);
}

listener_t unit_listener(unit_t *unit)
{
    return (listener_t){.who = unit,
                        .owner = unit->system->owner,
                        .asked = &unit->system->asked_deaths,
                        .tell = tell_unit};
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
    listener_t own = unit_listener(unit);
    unit->listener.who = own.who;
    unit->listener.owner = own.owner;
    unit->listener.asked = own.asked;
    unit->listener.tell = own.tell;
    *listener = &unit->listener;
    return true;
}
