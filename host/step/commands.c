/* commands.c - recording: short, without locks, and all or nothing.
 *
 * Commands that follow each other with the same kind and key become one, so that a loop that adds a component to one
 * entity after another is made as a few batches: a small command is given room for more. Since a command that fails
 * must not take others with it, only calls of one entity, or of as many created ones, are put together; where such a
 * batch fails, each call is made by itself.
 */
#include "commands.h"

#include "../property/property.h"
#include "../store/store.h"

/* --- record ------------------------------------------------------------------------------------------------------ */

/* The form of a recorded command.
 *
 * Commands lie one behind the other in chunks that never move, so that texts can be
 * pointed to.
 */

enum { COMMAND_CREATE, COMMAND_DESTROY, COMMAND_ADD, COMMAND_REMOVE, COMMAND_SET, COMMAND_SEND };

/* A command, followed by `capacity` entities (none of COMMAND_CREATE) and as many values (of COMMAND_SET); one of
 * COMMAND_SEND by `capacity` records of a channel. */
typedef struct command_t {
    uint32_t kind;
    uint32_t key;      /* or prototype */
    uint32_t count, capacity;
    uint32_t size;     /* of a value */
    uint32_t each;     /* entities of each of the calls that it was recorded by; of COMMAND_DESTROY and COMMAND_SEND,
                          which cannot fail in part, without meaning */
    size_t bytes;      /* all told */
    pipe_t *pipe;      /* of COMMAND_SEND */
    bp_property_t property;
} command_t;

struct commands_chunk_t {
    commands_chunk_t *next;      /* of the same call */
    commands_chunk_t *next_call; /* in the first chunk of a call: the next call's, ... */
    const char *unit;            /* ... and the unit that made the call */
    uint32_t call, created;
    size_t size, used;           /* bytes, this struct included */
};

BP_STATIC_ASSERT(sizeof(command_t) % 8 == 0 && sizeof(commands_chunk_t) % 8 == 0, "commands begin at multiples of 8");

static inline bp_entity_t *command_entities(command_t *command)
{
    return (bp_entity_t *)(void *)(command + 1);
}

static inline char *command_values(command_t *command)
{
    return (char *)(command_entities(command) + command->capacity);
}

/* Placeholders: an even generation, which counts calls from 1; an index of 8 bits of the step's number and 24 bits of
 * the placeholder's number in the call. */
static inline bp_entity_t command_placeholder(uint64_t step, uint32_t call, uint32_t index)
{
    return (bp_entity_t){(uint64_t)(call + 1) << 33 | (step & 0xff) << 24 | index};
}

static inline bool command_is_placeholder(bp_entity_t e)
{
    return (e.id >> 32 & 1) == 0 && e.id >> 32 != 0;
}

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = COMMANDS_KEPT_SIZE, LEAST_ROOM = 32, MOST_ROOM = 1024 };

void commands_init(commands_t *commands, world_t *world, messages_t *messages, memory_t *parent)
{
    memset(commands, 0, sizeof *commands);
    commands->messages = messages;
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

/* Free the chunks that the last step left and this one did not take. [main] */
static void free_kept(commands_t *commands)
{
    for (uint32_t i = 0; i < COMMANDS_MAX_KEPT; i++) {
        commands_chunk_t *chunk = atomic_exchange_explicit(&commands->kept[i], NULL, memory_order_relaxed);
        if (chunk != NULL)
            memory_free(&commands->memory, chunk, chunk->size);
    }
}

void commands_free(commands_t *commands)
{
    free_kept(commands);
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
    while (!atomic_compare_exchange_weak_explicit(&recorder->all->recorded, &first->next_call, first,
                                                  memory_order_release, memory_order_relaxed)) {}
}

/* --- room ------------------------------------------------------------------------------------------------------- */

/* A kept chunk of `size` bytes or more, but not four times as many; NULL: none is there. A thread that takes a chunk
 * out of its place owns it alone, so that it may look at its size and put it back. */
static commands_chunk_t *take_kept(commands_t *commands, size_t size)
{
    for (uint32_t i = 0; i < COMMANDS_MAX_KEPT; i++) {
        if (atomic_load_explicit(&commands->kept[i], memory_order_relaxed) == NULL)
            continue;
        commands_chunk_t *chunk = atomic_exchange_explicit(&commands->kept[i], NULL, memory_order_acquire);
        if (chunk != NULL && chunk->size >= size && chunk->size / 4 < size)
            return chunk;
        if (chunk != NULL)
            atomic_store_explicit(&commands->kept[i], chunk, memory_order_release);
    }
    return NULL;
}

static commands_chunk_t *need_chunk(commands_t *commands, size_t size)
{
    commands_chunk_t *kept = size < COMMANDS_KEPT_SIZE ? NULL : take_kept(commands, size);
    if (kept != NULL)
        return kept;
    commands_chunk_t *chunk = memory_resize(&commands->memory, NULL, 0, size);
    if (chunk != NULL)
        chunk->size = size;
    return chunk;
}

static commands_chunk_t *new_chunk(bp_commands_o *r, size_t bytes)
{
    size_t size = r->last == NULL ? FIRST_CHUNK : r->last->size * 2;
    size = size > LARGEST_CHUNK ? LARGEST_CHUNK : size;
    size = size < sizeof(commands_chunk_t) + bytes ? sizeof(commands_chunk_t) + bytes : size;
    commands_chunk_t *chunk = need_chunk(r->all, size);
    if (chunk == NULL)
        return NULL;
    *chunk = (commands_chunk_t){.unit = r->unit, .call = r->call, .size = chunk->size, .used = sizeof *chunk};
    if (r->last == NULL)
        r->first = chunk;
    else
        r->last->next = chunk;
    r->last = chunk;
    return chunk;
}

/* A command with room for `capacity` entities and values, and `more` bytes behind them. NULL when out of memory. */
static command_t *new_command(bp_commands_o *r, uint32_t kind, uint32_t key, uint32_t capacity, uint32_t size,
                              size_t more)
{
    size_t bytes =
        sizeof(command_t) + (kind == COMMAND_CREATE ? 0 : (size_t)capacity * (sizeof(bp_entity_t) + size)) + more;
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

/* Do values of the property point to something that must be copied too: texts, or the items of lists? */
static bool holds_more(const bp_property_t *property)
{
    return property->type == BP_STRING || (property->flags & BP_FIELD_LIST) != 0;
}

/* Can an entity be added to the command recorded last? Properties are compared by layout too: the number of a field
 * means another field where the property was resolved for another layout. */
static bool continues(const command_t *open, uint32_t kind, uint32_t key, const bp_property_t *property)
{
    return open != NULL && open->kind == kind && open->key == key &&
           (property == NULL || (open->property.field == property->field &&
                                 open->property.host.found.layout == property->host.found.layout &&
                                 open->property.element == property->element && !holds_more(property)));
}

/* Room for the first of several that each take so many bytes; large ones get no more than they need. */
static uint32_t first_room(size_t bytes)
{
    return bytes * LEAST_ROOM <= LARGEST_CHUNK ? LEAST_ROOM : 1;
}

/* A command for `count` more entities: the command recorded last where the new one continues it and there is room, else
 * a new command. */
static command_t *need_command(bp_commands_o *r, uint32_t kind, uint32_t key, uint32_t count,
                               const bp_property_t *property, size_t more)
{
    uint32_t room = count;
    bool joins = count == 1 || kind == COMMAND_DESTROY; /* only such a command stays open for others */
    if (joins && continues(r->open, kind, key, property)) {
        if (r->open->capacity - r->open->count >= count)
            return r->open;
        room = 2 * r->open->capacity < MOST_ROOM ? 2 * r->open->capacity : MOST_ROOM;
    } else if (joins && count < LEAST_ROOM && more == 0) {
        room = first_room(sizeof(bp_entity_t) + (property == NULL ? 0 : property->size));
    }
    command_t *command =
        new_command(r, kind, key, room < count ? count : room, property == NULL ? 0 : property->size, more);
    if (!joins)
        r->open = NULL;
    if (command != NULL)
        command->each = count;
    if (command != NULL && property != NULL)
        command->property = *property;
    return command;
}

/* --- the verbs -------------------------------------------------------------------------------------------------- */

bp_result_t commands_create(bp_commands_o *r, uint32_t prototype, bp_entity_t *entities, uint32_t count)
{
    if (r == NULL)
        return BP_ERROR_STATE;
    if (count == 0)
        return BP_OK;
    if (count > COMMANDS_MAX_CREATED - r->created)
        return BP_ERROR_LIMIT;
    bool more = r->open != NULL && r->open->kind == COMMAND_CREATE && r->open->key == prototype &&
                r->open->each == count;
    command_t *command = more ? r->open : new_command(r, COMMAND_CREATE, prototype, 0, 0, 0);
    if (command == NULL)
        return BP_ERROR_MEMORY;
    command->each = count;
    command->count += count;
    for (uint32_t i = 0; i < count; i++)
        entities[i] = command_placeholder(r->all->step, r->call, r->created + i);
    r->created += count;
    return BP_OK;
}

NOT_INLINED static bp_result_t record_any(bp_commands_o *r, uint32_t kind, uint32_t key, const bp_entity_t *entities,
                                          uint32_t count)
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

/* Record that something happens to entities. The usual case is one more entity of the command recorded last. */
static inline bp_result_t record(bp_commands_o *r, uint32_t kind, uint32_t key, const bp_entity_t *entities,
                                 uint32_t count)
{
    command_t *open = r == NULL ? NULL : r->open;
    if (count != 1 || !continues(open, kind, key, NULL) || open->count == open->capacity)
        return record_any(r, kind, key, entities, count);
    command_entities(open)[open->count++] = *entities;
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

bp_result_t commands_send(bp_commands_o *r, const bp_channel_o *channel, const void *const *values, uint32_t count)
{
    if (r == NULL)
        return BP_ERROR_STATE;
    if (channel->all != r->all->messages)
        return BP_ERROR_ARGUMENT;
    if (count == 0)
        return BP_OK;
    pipe_t *pipe = channel->pipe;
    command_t *command = r->open;
    bool same = command != NULL && command->kind == COMMAND_SEND && command->pipe == pipe;
    if (!same || command->capacity - command->count < count) {
        uint32_t more = same && command->capacity < MOST_ROOM / 2 ? 2 * command->capacity : MOST_ROOM;
        uint32_t room = same ? more : first_room(pipe->size);
        room = room < count ? count : room;
        command = new_command(r, COMMAND_SEND, 0, 0, pipe->size, (size_t)room * pipe->size);
        if (command == NULL)
            return BP_ERROR_MEMORY;
        command->pipe = pipe;
        command->capacity = room;
    }
    char *records = (char *)(command + 1) + (size_t)command->count * pipe->size;
    messages_record(channel, values, records, count);
    command->count += count;
    return BP_OK;
}

/* --- values that hold more than their bytes ---------------------------------------------------------------------- */

static size_t align_8(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/* The values of the property that one value for `set` is, or holds. */
static const char *items_of(const bp_property_t *property, const char *value, uint32_t *count)
{
    bp_list_t list;
    *count = property->count;
    if ((property->flags & BP_FIELD_LIST) == 0)
        return value;
    memcpy(&list, value, sizeof list);
    *count = list.count;
    return list.items;
}

static const char *text_at(const char *items, uint32_t i)
{
    const char *text;
    memcpy(&text, items + i * sizeof text, sizeof text);
    return text;
}

/* Bytes that the copy of a value takes behind all values. */
static size_t measure(const bp_property_t *property, const char *value)
{
    uint32_t count;
    const char *items = items_of(property, value, &count);
    size_t size = (property->flags & BP_FIELD_LIST) != 0 ? align_8((size_t)count * value_size(property->type)) : 0;
    for (uint32_t i = 0; property->type == BP_STRING && i < count; i++)
        size += strlen(text_at(items, i)) + 1;
    return align_8(size);
}

/* Copy the text or the items that a value points to, to `more`, and make the copied value point there. Returns the
 * address behind them. */
static char *copy_more(const bp_property_t *property, char *value, char *more)
{
    uint32_t count;
    const char *items = items_of(property, value, &count);
    size_t size = (size_t)count * value_size(property->type);
    char *own = value, *to = more;
    if ((property->flags & BP_FIELD_LIST) != 0) {
        own = to;
        to += align_8(size);
        if (count > 0)
            memcpy(own, items, size);
        memcpy(value, &(bp_list_t){own, count, 0}, sizeof(bp_list_t));
    }
    for (uint32_t i = 0; property->type == BP_STRING && i < count; i++) {
        const char *text = text_at(own, i);
        size_t length = strlen(text) + 1;
        memcpy(to, text, length);
        memcpy(own + i * sizeof to, &to, sizeof to);
        to += length;
    }
    return more + align_8((size_t)(to - more));
}

bp_result_t commands_set(bp_commands_o *r, const bp_property_t *property, const bp_entity_t *entities, uint32_t count,
                         const void *values, size_t stride)
{
    if (r == NULL)
        return BP_ERROR_STATE;
    if (count == 0)
        return BP_OK;
    size_t more = 0;
    for (uint32_t i = 0; holds_more(property) && i < count; i++)
        more += measure(property, (const char *)values + i * stride);
    command_t *command = need_command(r, COMMAND_SET, property->key, count, property, more + (more > 0 ? 8 : 0));
    if (command == NULL)
        return BP_ERROR_MEMORY;
    uint32_t first = command->count;
    memcpy(command_entities(command) + first, entities, count * sizeof *entities);
    command->count += count;
    for (uint32_t i = 0; i < count; i++)
        value_copy(command_values(command) + (size_t)(first + i) * command->size, (const char *)values + i * stride,
                   command->size);
    char *to = command_values(command) + align_8((size_t)command->count * command->size);
    for (uint32_t i = 0; holds_more(property) && i < count; i++)
        to = copy_more(property, command_values(command) + (size_t)i * command->size, to);
    return BP_OK;
}

/* --- commands make ----------------------------------------------------------------------------------------------- */

/* Making the recorded commands, call by call in the order of the step.
 *
 * Calls come as a list in any order and are sorted in place, so that ordering needs no memory. Placeholders are
 * replaced where they lie; then entities that a command does not concern any more are taken out, and the rest goes to
 * the store as one batch.
 */

typedef struct making_t {
    commands_t *commands;
    destruction_t *destruction;
    world_t *world;
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

/* Placeholders hold the step's number modulo 256. Where commands were made last 256 steps ago, or a multiple of that,
 * placeholders of this step, for which no command has been made yet, would be taken for placeholders of that step. */
static bool holds_number_of_two(const commands_t *commands)
{
    return commands->step != commands->made_step && (commands->step & 0xff) == (commands->made_step & 0xff);
}

static bp_entity_t resolve(const commands_t *commands, bp_entity_t e)
{
    const commands_created_t *call = find_call(commands, (bp_entity_generation(e) >> 1) - 1);
    uint32_t index = bp_entity_index(e) & 0xffffff;
    bool known = call != NULL && bp_entity_index(e) >> 24 == (commands->made_step & 0xff) && index < call->count &&
                 !holds_number_of_two(commands);
    return known ? commands->entities[call->first + index] : (bp_entity_t){0};
}

static void resolve_all(const commands_t *commands, bp_entity_t *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (command_is_placeholder(entities[i]))
            entities[i] = resolve(commands, entities[i]);
    }
}

uint32_t commands_created(const commands_t *commands, const bp_entity_t *placeholders, uint32_t count,
                          bp_entity_t *entities)
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
    if (call == NULL || call->call != m->call->call) { /* there was no memory for this call's placeholders */
        error_memory(&m->world->base->error, "creating entities");
        fail(m);
        return;
    }
    bp_entity_t *entities = c->entities + call->first + call->count;
    call->count += command->count;
    if (store_create(m->world, command->key, entities, command->count) == BP_OK)
        return;
    bool several = command->count > command->each;
    for (uint32_t i = 0; i < command->count; i += command->each) {
        if (several && store_create(m->world, command->key, entities + i, command->each) == BP_OK)
            continue;
        memset(entities + i, 0, command->each * sizeof *entities);
        fail(m);
    }
}

/* Are there several calls of one entity in the command, of which one may have made the others fail? */
static bool is_of_several(const command_t *command, uint32_t count)
{
    return command->each == 1 && count > 1;
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
    for (uint32_t i = 0; command->property.type == BP_ENTITY && i < count; i++) {
        uint32_t entities;
        const char *items =
            items_of(&command->property, command_values(command) + (size_t)i * command->size, &entities);
        resolve_all(m->commands, (bp_entity_t *)(uintptr_t)items, entities); /* in the command's own copy */
    }
    if (count == 0)
        return BP_OK;
    bp_property_t *property = &command->property;
    const bp_entity_t *entities = command_entities(command);
    const char *values = command_values(command);
    bp_result_t result = property_set(m->world, property, entities, count, values, command->size);
    if (result == BP_OK || !is_of_several(command, count))
        return result;
    for (uint32_t i = 0; i < count; i++) {
        if (property_set(m->world, property, entities + i, 1, values + (size_t)i * command->size, command->size) !=
            BP_OK)
            fail(m);
    }
    return BP_OK;
}

/* Add or remove a component. */
static bp_result_t make_change(making_t *m, command_t *command)
{
    bp_entity_t *entities = command_entities(command);
    bool adding = command->kind == COMMAND_ADD;
    bp_result_t result = store_change_wanted(m->world, command->key, adding, entities, command->count);
    if (result == BP_OK || !is_of_several(command, command->count))
        return result;
    for (uint32_t i = 0; i < command->count; i++) {
        if (store_change_wanted(m->world, command->key, adding, entities + i, 1) != BP_OK)
            fail(m);
    }
    return BP_OK;
}

static void make_sent(making_t *m, command_t *command)
{
    const pipe_t *pipe = command->pipe;
    char *records = (char *)(command + 1);
    for (uint32_t f = 0; f < pipe->field_count; f++) {
        for (uint32_t i = 0; pipe->fields[f].type == BP_ENTITY && i < command->count; i++)
            resolve_all(m->commands,
                        (bp_entity_t *)(void *)(records + (size_t)i * pipe->size + pipe->fields[f].offset),
                        pipe->fields[f].count);
    }
    messages_put(m->commands->messages, command->pipe, records, command->count);
}

static void make_one(making_t *m, command_t *command)
{
    bp_result_t result = BP_OK;
    if (command->kind == COMMAND_SEND) {
        make_sent(m, command);
        return;
    }
    if (command->kind == COMMAND_CREATE) {
        make_create(m, command);
        return;
    }
    bp_entity_t *entities = command_entities(command);
    resolve_all(m->commands, entities, command->count);
    if (command->kind == COMMAND_DESTROY)
        destruction_destroy(m->destruction, entities, command->count);
    else if (command->kind == COMMAND_SET)
        result = make_set(m, command);
    else
        result = make_change(m, command);
    if (result != BP_OK)
        fail(m);
}

/* --- all -------------------------------------------------------------------------------------------------------- */

static void make_call(making_t *m, commands_chunk_t *call)
{
    commands_t *c = m->commands;
    m->call = call;
    uint64_t entities = (uint64_t)c->entity_count + call->created;
    if (call->created > 0 &&
        memory_reserve(&c->memory, &c->entities, &c->entity_capacity, entities, sizeof *c->entities) &&
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

/* Keep a chunk for the next step after its commands have been made, or free it. Places before `*place` are taken. */
static void end_chunk(commands_t *commands, commands_chunk_t *chunk, uint32_t *place)
{
    bool large = chunk->size >= COMMANDS_KEPT_SIZE;
    while (large && *place < COMMANDS_MAX_KEPT &&
           atomic_load_explicit(&commands->kept[*place], memory_order_relaxed) != NULL)
        (*place)++;
    if (!large || *place == COMMANDS_MAX_KEPT) {
        memory_free(&commands->memory, chunk, chunk->size);
        return;
    }
#if defined(BACKPLANE_AUDIT) /* the audit would report addresses in old commands, which are not used any more */
    memset(chunk + 1, 0, chunk->size - sizeof *chunk);
#endif
    chunk->unit = NULL;
    atomic_store_explicit(&commands->kept[*place], chunk, memory_order_relaxed);
}

void commands_forget_created(commands_t *commands)
{
    commands->call_count = commands->entity_count = 0;
}

void commands_make(commands_t *commands, destruction_t *destruction)
{
    uint32_t place = 0;
    making_t m = {.commands = commands, .destruction = destruction, .world = commands->world};
    commands_chunk_t *calls = sort_calls(atomic_exchange(&commands->recorded, NULL));
    if (commands->made_step != commands->step) {
        commands->made_step = commands->step;
        commands_forget_created(commands);
        free_kept(commands);
    }
    while (calls != NULL) {
        commands_chunk_t *next = calls->next_call;
        make_call(&m, calls);
        for (commands_chunk_t *chunk = calls, *following; chunk != NULL; chunk = following) {
            following = chunk->next;
            end_chunk(commands, chunk, &place);
        }
        calls = next;
    }
    if (m.failures > COMMANDS_MAX_LINES)
        log_write(&m.world->base->log, BP_LOG_WARNING, "host", "world '%s': %llu more commands failed", m.world->name,
                  (unsigned long long)(m.failures - COMMANDS_MAX_LINES));
}
