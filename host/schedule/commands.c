/* commands.c - recording: short, without locks, and all or nothing.
 *
 * Commands that follow each other with the same kind and key become one, so that a loop that adds a component to one entity
 * after another is made as a few batches: a small command is given room for more.
 */
#include "commands.h"

#include "command_record.h"

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 18, LEAST_ROOM = 32, MOST_ROOM = 1024 };

void commands_init(commands_t *commands, bp_world_o *world, memory_t *parent)
{
    memset(commands, 0, sizeof *commands);
    commands->world = world;
    memory_init_child(&commands->memory, "commands", parent);
}

static void free_chunks(commands_t *commands, commands_chunk_t *chunk)
{
    while (chunk != NULL) {
        commands_chunk_t *next = chunk->next;
        memory_free(&commands->memory, chunk, chunk->size);
        chunk = next;
    }
}

void commands_free(commands_t *commands)
{
    commands_chunk_t *call = atomic_load(&commands->recorded);
    while (call != NULL) {
        commands_chunk_t *next = call->next_call;
        free_chunks(commands, call);
        call = next;
    }
    memory_free(&commands->memory, commands->calls, commands->call_capacity * sizeof *commands->calls);
    memory_free(&commands->memory, commands->entities, (size_t)commands->entity_capacity * sizeof *commands->entities);
}

void commands_keep(struct bp_commands_o *recorder)
{
    commands_chunk_t *first = recorder->first;
    first->created = recorder->created;
    first->next_call = atomic_load_explicit(&recorder->all->recorded, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&recorder->all->recorded, &first->next_call, first, memory_order_release,
                                                  memory_order_relaxed)) {
    }
}

/* --- room ------------------------------------------------------------------------------------------------------- */

static commands_chunk_t *new_chunk(bp_commands_o *r, size_t bytes)
{
    size_t size = r->last == NULL ? FIRST_CHUNK : r->last->size * 2;
    size = size > LARGEST_CHUNK ? LARGEST_CHUNK : size;
    size = size < sizeof(commands_chunk_t) + bytes ? sizeof(commands_chunk_t) + bytes : size;
    commands_chunk_t *chunk = memory_resize(&r->all->memory, NULL, 0, size);
    if (chunk == NULL)
        return NULL;
    *chunk = (commands_chunk_t){.unit = r->unit, .call = r->call, .size = size, .used = sizeof *chunk};
    if (r->last == NULL)
        r->first = chunk;
    else
        r->last->next = chunk;
    r->last = chunk;
    return chunk;
}

/* A command with room for `capacity` entities and values, and `more` bytes behind them. NULL when out of memory. */
static command_t *new_command(bp_commands_o *r, uint32_t kind, uint32_t key, uint32_t capacity, uint32_t size, size_t more)
{
    size_t bytes = sizeof(command_t) + (kind == COMMAND_CREATE ? 0 : (size_t)capacity * (sizeof(bp_entity_t) + size)) + more;
    bytes = (bytes + 7) & ~(size_t)7;
    commands_chunk_t *chunk = r->last;
    if ((chunk == NULL || chunk->size - chunk->used < bytes) && (chunk = new_chunk(r, bytes)) == NULL)
        return NULL;
    command_t *command = (command_t *)(void *)((char *)chunk + chunk->used);
    *command = (command_t){.kind = kind, .key = key, .capacity = capacity, .size = size, .bytes = bytes};
    chunk->used += bytes;
    r->open = command;
    return command;
}

/* A number of a field means another field where the property was resolved for another layout. */
static bool continues(const command_t *open, uint32_t kind, uint32_t key, const bp_property_t *property)
{
    return open != NULL && open->kind == kind && open->key == key &&
           (property == NULL || (open->property.field == property->field && open->property.layout == property->layout &&
                                 property->type != BP_STRING));
}

/* A command for `count` more entities: the one recorded last where it goes on and has room, else a new one. */
static command_t *need_command(bp_commands_o *r, uint32_t kind, uint32_t key, uint32_t count, const bp_property_t *property,
                               size_t more)
{
    uint32_t room = count;
    if (continues(r->open, kind, key, property)) {
        if (r->open->capacity - r->open->count >= count)
            return r->open;
        room = 2 * r->open->capacity < MOST_ROOM ? 2 * r->open->capacity : MOST_ROOM;
    } else if (count > 0 && count < LEAST_ROOM && more == 0) {
        room = LEAST_ROOM;
    }
    command_t *command = new_command(r, kind, key, room < count ? count : room, property == NULL ? 0 : property->size, more);
    if (command != NULL && property != NULL)
        command->property = *property;
    return command;
}

/* --- the verbs -------------------------------------------------------------------------------------------------- */

bp_result_t commands_create(bp_commands_o *r, uint32_t prototype, bp_entity_t *entities, uint32_t count)
{
    if (r == NULL)
        return BP_ERROR_STATE;
    if (count > COMMANDS_MAX_CREATED - r->created)
        return BP_ERROR_LIMIT;
    bool more = r->open != NULL && r->open->kind == COMMAND_CREATE && r->open->key == prototype;
    command_t *command = more ? r->open : new_command(r, COMMAND_CREATE, prototype, 0, 0, 0);
    if (command == NULL)
        return BP_ERROR_MEMORY;
    command->count += count;
    for (uint32_t i = 0; i < count; i++)
        entities[i] = command_placeholder(r->all->step, r->call, r->created + i);
    r->created += count;
    return BP_OK;
}

static bp_result_t record(bp_commands_o *r, uint32_t kind, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    if (r == NULL)
        return BP_ERROR_STATE;
    if (count == 0)
        return BP_OK;
    command_t *command = need_command(r, kind, key, count, NULL, 0);
    if (command == NULL)
        return BP_ERROR_MEMORY;
    memcpy(command_entities(command) + command->count, entities, count * sizeof *entities);
    command->count += count;
    return BP_OK;
}

bp_result_t commands_destroy(bp_commands_o *r, const bp_entity_t *entities, uint32_t count)
{
    return record(r, COMMAND_DESTROY, 0, entities, count);
}

bp_result_t commands_add(bp_commands_o *r, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    return record(r, COMMAND_ADD, key, entities, count);
}

bp_result_t commands_remove(bp_commands_o *r, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    return record(r, COMMAND_REMOVE, key, entities, count);
}

static const char *text_at(const void *values, size_t stride, uint32_t i)
{
    const char *text;
    memcpy(&text, (const char *)values + i * stride, sizeof text);
    return text;
}

/* Texts are copied behind the values, which then point there. */
static void copy_texts(command_t *command, const void *values, size_t stride)
{
    char *to = command_values(command) + (size_t)command->count * sizeof(char *);
    for (uint32_t i = 0; i < command->count; i++) {
        const char *text = text_at(values, stride, i);
        size_t size = strlen(text) + 1;
        memcpy(to, text, size);
        memcpy(command_values(command) + i * sizeof to, &to, sizeof to);
        to += size;
    }
}

bp_result_t commands_set(bp_commands_o *r, const bp_property_t *property, const bp_entity_t *entities, uint32_t count,
                         const void *values, size_t stride)
{
    if (r == NULL)
        return BP_ERROR_STATE;
    if (count == 0)
        return BP_OK;
    size_t texts = 0;
    for (uint32_t i = 0; property->type == BP_STRING && i < count; i++)
        texts += strlen(text_at(values, stride, i)) + 1;
    command_t *command = need_command(r, COMMAND_SET, property->key, count, property, texts);
    if (command == NULL)
        return BP_ERROR_MEMORY;
    uint32_t first = command->count;
    memcpy(command_entities(command) + first, entities, count * sizeof *entities);
    command->count += count;
    if (property->type == BP_STRING) {
        copy_texts(command, values, stride);
        return BP_OK;
    }
    for (uint32_t i = 0; i < count; i++)
        value_copy(command_values(command) + (size_t)(first + i) * command->size, (const char *)values + i * stride,
                   command->size);
    return BP_OK;
}
