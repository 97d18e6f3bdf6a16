/* commands_make.c - making what was recorded, call by call in the order of the step.
 *
 * Calls come as a list in any order and are sorted in place, so that ordering needs no memory. Placeholders are replaced
 * where they lie; then entities that a command does not concern any more are taken out, and the rest goes to the store as one
 * batch.
 */
#include "commands.h"

#include "../entity/store.h"
#include "../property/property.h"
#include "command_record.h"

typedef struct making_t {
    commands_t *commands;
    destruction_t *destruction;
    bp_world_o *world;
    const commands_chunk_t *call; /* first chunk of the present one */
    uint64_t failures;
} making_t;

/* --- order ------------------------------------------------------------------------------------------------------ */

static commands_chunk_t *merge(commands_chunk_t *a, commands_chunk_t *b)
{
    commands_chunk_t *head = NULL, **end = &head;
    while (a != NULL && b != NULL) {
        commands_chunk_t **lower = a->call < b->call ? &a : &b;
        *end = *lower;
        end = &(*lower)->next_call;
        *lower = (*lower)->next_call;
    }
    *end = a != NULL ? a : b;
    return head;
}

/* Merges lists of 1, 2, 4 ... calls, as many of each as a binary counter has. */
static commands_chunk_t *sort_calls(commands_chunk_t *calls)
{
    commands_chunk_t *sorted[32] = {NULL};
    while (calls != NULL) {
        commands_chunk_t *one = calls;
        uint32_t level = 0;
        calls = calls->next_call;
        one->next_call = NULL;
        for (; sorted[level] != NULL; level++) {
            one = merge(sorted[level], one);
            sorted[level] = NULL;
        }
        sorted[level] = one;
    }
    commands_chunk_t *all = NULL;
    for (uint32_t level = 0; level < 32; level++)
        all = merge(sorted[level], all);
    return all;
}

/* --- placeholders ----------------------------------------------------------------------------------------------- */

static const commands_created_t *find_call(const commands_t *commands, uint32_t call)
{
    uint32_t low = 0, high = commands->call_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (commands->calls[middle].call < call)
            low = middle + 1;
        else
            high = middle;
    }
    return low < commands->call_count && commands->calls[low].call == call ? &commands->calls[low] : NULL;
}

static bp_entity_t resolve(const commands_t *commands, bp_entity_t e)
{
    const commands_created_t *call = find_call(commands, (bp_entity_generation(e) >> 1) - 1);
    uint32_t index = bp_entity_index(e) & 0xffffff;
    bool known = call != NULL && bp_entity_index(e) >> 24 == (commands->made_step & 0xff) && index < call->count;
    return known ? commands->entities[call->first + index] : (bp_entity_t){0};
}

static void resolve_all(const commands_t *commands, bp_entity_t *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (command_is_placeholder(entities[i]))
            entities[i] = resolve(commands, entities[i]);
    }
}

uint32_t commands_created(const commands_t *commands, const bp_entity_t *placeholders, uint32_t count, bp_entity_t *entities)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        entities[i] = command_is_placeholder(placeholders[i]) ? resolve(commands, placeholders[i]) : (bp_entity_t){0};
        found += entities[i].id != 0;
    }
    return found;
}

/* --- one command ------------------------------------------------------------------------------------------------ */

static void fail(making_t *m)
{
    m->commands->failures++;
    if (m->failures++ < COMMANDS_MAX_LINES)
        log_write(&m->world->base->log, BP_LOG_WARNING, "host", "world '%s', a command of '%s': %s", m->world->name,
                  m->call->unit,
                  m->world->base->error.text);
}

static void make_create(making_t *m, const command_t *command)
{
    commands_t *c = m->commands;
    commands_created_t *call = c->call_count > 0 ? &c->calls[c->call_count - 1] : NULL;
    if (call == NULL || call->call != m->call->call) { /* there was no memory for them */
        error_memory(&m->world->base->error, "creating entities");
        fail(m);
        return;
    }
    bp_entity_t *entities = c->entities + call->first + call->count;
    call->count += command->count;
    if (store_create(m->world, command->key, entities, command->count) == BP_OK)
        return;
    memset(entities, 0, command->count * sizeof *entities);
    fail(m);
}

/* Keep the entities that have the property, and their values. */
static uint32_t sift_values(const making_t *m, command_t *command)
{
    uint32_t kept = 0;
    bp_entity_t *entities = command_entities(command);
    char *values = command_values(command);
    for (uint32_t i = 0; i < command->count; i++) {
        const record_t *record = world_record(m->world, entities[i]);
        if (record == NULL || prototypes_column(&m->world->prototypes, record->prototype, command->key) == 0)
            continue;
        entities[kept] = entities[i];
        memmove(values + (size_t)kept * command->size, values + (size_t)i * command->size, command->size);
        kept++;
    }
    return kept;
}

static bp_result_t make_set(making_t *m, command_t *command)
{
    uint32_t count = sift_values(m, command);
    if (command->property.type == BP_ENTITY)
        resolve_all(m->commands, (bp_entity_t *)(void *)command_values(command), count);
    if (count == 0)
        return BP_OK;
    return property_set(m->world, &command->property, command_entities(command), count, command_values(command), command->size);
}

static bp_result_t make_change(making_t *m, command_t *command)
{
    bp_entity_t *entities = command_entities(command);
    bool adding = command->kind == COMMAND_ADD;
    uint32_t count = store_sift(m->world, command->key, adding, entities, command->count);
    if (count == 0)
        return BP_OK;
    return adding ? store_add(m->world, command->key, entities, count) : store_remove(m->world, command->key, entities, count);
}

static void make_one(making_t *m, command_t *command)
{
    bp_result_t result = BP_OK;
    if (command->kind == COMMAND_CREATE) {
        make_create(m, command);
        return;
    }
    resolve_all(m->commands, command_entities(command), command->count);
    if (command->kind == COMMAND_DESTROY)
        destruction_destroy(m->destruction, command_entities(command), command->count);
    else
        result = command->kind == COMMAND_SET ? make_set(m, command) : make_change(m, command);
    if (result != BP_OK)
        fail(m);
}

/* --- all -------------------------------------------------------------------------------------------------------- */

static void make_call(making_t *m, commands_chunk_t *call)
{
    commands_t *c = m->commands;
    m->call = call;
    uint64_t entities = (uint64_t)c->entity_count + call->created;
    if (call->created > 0 && memory_reserve(&c->memory, &c->entities, &c->entity_capacity, entities, sizeof *c->entities) &&
        memory_reserve(&c->memory, &c->calls, &c->call_capacity, c->call_count + 1u, sizeof *c->calls)) {
        c->calls[c->call_count++] = (commands_created_t){.call = call->call, .first = c->entity_count};
        c->entity_count += call->created;
    }
    for (commands_chunk_t *chunk = call, *next; chunk != NULL; chunk = next) {
        for (size_t at = sizeof *chunk; at < chunk->used;) {
            command_t *command = (command_t *)(void *)((char *)chunk + at);
            at += command->bytes;
            make_one(m, command);
        }
        next = chunk->next;
    }
}

void commands_make(commands_t *commands, destruction_t *destruction)
{
    making_t m = {.commands = commands, .destruction = destruction, .world = commands->world};
    commands_chunk_t *calls = sort_calls(atomic_exchange(&commands->recorded, NULL));
    if (commands->made_step != commands->step) {
        commands->made_step = commands->step;
        commands->call_count = commands->entity_count = 0;
    }
    while (calls != NULL) {
        commands_chunk_t *next = calls->next_call;
        make_call(&m, calls);
        for (commands_chunk_t *chunk = calls, *following; chunk != NULL; chunk = following) {
            following = chunk->next;
            memory_free(&commands->memory, chunk, chunk->size);
        }
        calls = next;
    }
    if (m.failures > COMMANDS_MAX_LINES)
        log_write(&m.world->base->log, BP_LOG_WARNING, "host", "world '%s': %llu more commands failed", m.world->name,
                  (unsigned long long)(m.failures - COMMANDS_MAX_LINES));
}
