/* messages.c - channels and their ends.
 *
 * Records lie one behind the other, so that sending is a copy for each field and reading is none.
 *
 * A field lasts while an end names it, or a message that can be read has something in it. So a version of a plugin that
 * is refused leaves no field behind, and a plugin may change the type of a field that it alone names: while it is
 * reloaded both versions have ends, and the channel two fields of that name, until one of them closes its end.
 */
#include "messages.h"

#include "../base/error.h"
#include "schedule.h"

enum { MOST_ALIGNMENT = 8, MOST_COUNT = 65536 };

void messages_init(messages_t *messages, world_t *world, memory_t *memory)
{
    *messages = (messages_t){.memory = memory, .world = world};
}

static void free_records(const messages_t *all, message_records_t *records, uint32_t size)
{
    memory_free(all->memory, records->records, (size_t)records->capacity * size);
    *records = (message_records_t){NULL, 0, 0};
}

static void free_pipe(messages_t *all, pipe_t *pipe)
{
    free_records(all, &pipe->sent, pipe->size);
    free_records(all, &pipe->read, pipe->size);
    memory_free(all->memory, pipe->fields, pipe->field_capacity * sizeof *pipe->fields);
    memory_free_text(all->memory, pipe->name);
    memory_free(all->memory, pipe, sizeof *pipe);
}

void messages_free(messages_t *all)
{
    while (all->ends != NULL)
        messages_close(all->ends);
    for (uint32_t i = 0; i < all->count; i++)
        free_pipe(all, all->pipes[i]);
    memory_free(all->memory, all->pipes, all->capacity * sizeof *all->pipes);
    *all = (messages_t){.memory = all->memory, .world = all->world};
}

/* --- fields ------------------------------------------------------------------------------------------------------- */

uint32_t message_field_size(const message_field_t *field)
{
    return value_size(field->type) * field->count;
}

/* The alignment of a type; for a vector, the alignment of its parts. */
static uint32_t alignment_of(uint32_t type)
{
    switch (type) {
    case BP_VEC2:
    case BP_VEC3:
    case BP_VEC4:
    case BP_QUAT:
    case BP_MAT4:
    case BP_COLOUR: return 4;
    default: return value_size(type) < MOST_ALIGNMENT ? value_size(type) : MOST_ALIGNMENT;
    }
}

static uint32_t round_up(uint32_t size, uint32_t to)
{
    return (size + to - 1) / to * to;
}

message_field_t *messages_field(const pipe_t *pipe, const char *name)
{
    for (uint32_t i = 0; i < pipe->field_count; i++) {
        if (strcmp(pipe->fields[i].name, name) == 0)
            return &pipe->fields[i];
    }
    return NULL;
}

message_field_t *messages_field_like(const pipe_t *pipe, const message_field_t *like)
{
    for (uint32_t i = 0; i < pipe->field_count; i++) {
        message_field_t *field = &pipe->fields[i];
        if (strcmp(field->name, like->name) == 0 && field->type == like->type && field->count == like->count)
            return field;
    }
    return NULL;
}

/* The end of a record with the fields so far, without the padding behind the last one. */
static uint32_t end_of(const pipe_t *pipe)
{
    const message_field_t *last = pipe->field_count == 0 ? NULL : &pipe->fields[pipe->field_count - 1];
    return last == NULL ? 0 : last->offset + message_field_size(last);
}

pipe_t *messages_find(const messages_t *all, const char *name)
{
    for (uint32_t i = 0; i < all->count; i++) {
        if (strcmp(all->pipes[i]->name, name) == 0)
            return all->pipes[i];
    }
    return NULL;
}

static pipe_t *make_pipe(messages_t *all, const char *name)
{
    pipe_t *pipe = memory_new(all->memory, sizeof *pipe);
    if (pipe == NULL)
        return NULL;
    pipe->name = memory_copy_text(all->memory, name);
    if (pipe->name != NULL && memory_reserve(all->memory, &all->pipes, &all->capacity, all->count + 1u,
                                             sizeof *all->pipes)) {
        all->pipes[all->count++] = pipe;
        return pipe;
    }
    free_pipe(all, pipe);
    return NULL;
}

static bool names_field(const bp_channel_o *end, const pipe_t *pipe, uint32_t field)
{
    for (uint32_t i = 0; i < end->field_count && end->pipe == pipe; i++) {
        if (end->places[i] == field)
            return true;
    }
    return false;
}

/* May the field get another type? Yes while the only plugin that names it is being reloaded. */
static bool may_change(const messages_t *all, const plugin_t *owner, const pipe_t *pipe, const char *name)
{
    bool alone = owner != NULL && owner->reloading;
    for (const bp_channel_o *end = all->ends; end != NULL && alone; end = end->next) {
        for (uint32_t f = 0; f < pipe->field_count; f++)
            alone = alone && (end->owner == owner || strcmp(pipe->fields[f].name, name) != 0 ||
                              !names_field(end, pipe, f));
    }
    return alone;
}

static bp_result_t check_fields(const messages_t *all, const plugin_t *owner, const pipe_t *pipe,
                                const message_field_t *fields, uint32_t count)
{
    error_text_t *error = &all->world->base->error;
    uint32_t more = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool there = pipe != NULL && messages_field_like(pipe, &fields[i]) != NULL;
        const message_field_t *known = pipe == NULL || there ? NULL : messages_field(pipe, fields[i].name);
        more += !there;
        if (known != NULL && !may_change(all, owner, pipe, known->name))
            return error_set(error, BP_ERROR_TYPE,
                             "channel '%s' of world '%s' has field '%s' as %u %s, not as %u %s", pipe->name,
                             all->world->name, known->name, known->count, value_type_name(known->type),
                             fields[i].count, value_type_name(fields[i].type));
    }
    if (more + (pipe == NULL ? 0 : pipe->field_count) > BP_MESSAGE_MOST_FIELDS)
        return error_set(error, BP_ERROR_LIMIT, "a channel has at most %u fields", BP_MESSAGE_MOST_FIELDS);
    return BP_OK;
}

/* Make records longer; the bytes added to each are zero. */
static bool widen(const messages_t *all, message_records_t *records, uint32_t from, uint32_t to)
{
    if (from == to || records->capacity == 0)
        return true;
    char *made = memory_resize_cleared(all->memory, NULL, 0, (size_t)records->capacity * to);
    if (made == NULL)
        return false;
    for (uint32_t i = 0; i < records->count; i++)
        memcpy(made + (size_t)i * to, records->records + (size_t)i * from, from);
    memory_free(all->memory, records->records, (size_t)records->capacity * from);
    records->records = made;
    return true;
}

/* Set anew where each end finds its fields in a record, after fields were added. */
static void find_offsets(messages_t *all)
{
    for (bp_channel_o *end = all->ends; end != NULL; end = end->next) {
        uint32_t bytes = 0;
        for (uint32_t i = 0; i < end->field_count; i++) {
            const message_field_t *field = &end->pipe->fields[end->places[i]];
            end->offsets[i] = field->offset;
            bytes += end->sizes[i] = message_field_size(field);
        }
        end->whole = bytes == end->pipe->size;
    }
}

/* Add the fields that a channel lacks. Precondition: room has been reserved. */
static bool add_fields(messages_t *all, pipe_t *pipe, const message_field_t *fields, uint32_t count)
{
    uint32_t before = pipe->field_count, size = pipe->size;
    for (uint32_t i = 0; i < count; i++) {
        if (messages_field_like(pipe, &fields[i]) != NULL)
            continue;
        uint32_t offset = round_up(end_of(pipe), alignment_of(fields[i].type));
        pipe->fields[pipe->field_count] = fields[i];
        pipe->fields[pipe->field_count++].offset = offset;
    }
    if (pipe->field_count == before)
        return true;
    uint32_t wider = round_up(end_of(pipe), MOST_ALIGNMENT);
    free_records(all, &pipe->sent, size); /* between steps the channel has no sent records */
    if (!widen(all, &pipe->read, size, wider)) {
        pipe->field_count = before;
        return false;
    }
    pipe->size = wider;
    return true;
}

/* --- fields that no end names any more ---------------------------------------------------------------------------- */

static bool is_named(const messages_t *all, const pipe_t *pipe, uint32_t field)
{
    const bp_channel_o *end = all->ends;
    while (end != NULL && !names_field(end, pipe, field))
        end = end->next;
    return end != NULL;
}

/* Would a message lose something if this field went? Not where another field has the same name, since readers find
 * fields by name and would never find this one. */
static bool is_wanted(const messages_t *all, const pipe_t *pipe, uint32_t field)
{
    const message_field_t *f = &pipe->fields[field];
    uint32_t size = message_field_size(f);
    if (is_named(all, pipe, field))
        return true;
    for (uint32_t i = 0; i < pipe->field_count; i++) {
        if (i != field && strcmp(pipe->fields[i].name, f->name) == 0)
            return false;
    }
    for (uint32_t m = 0; m < pipe->read.count; m++) {
        const char *value = pipe->read.records + (size_t)m * pipe->size + f->offset;
        for (uint32_t b = 0; b < size; b++) {
            if (value[b] != 0)
                return true;
        }
    }
    return false;
}

/* The messages that can be read, with the fields of `narrow` alone, which were number from[0], from[1], ... before.
 * false when out of memory: then all is as before. */
static bool narrow_messages(messages_t *all, pipe_t *pipe, const pipe_t *narrow, const uint32_t *from)
{
    uint32_t count = narrow->size == 0 ? 0 : pipe->read.count;
    char *made = count == 0 ? NULL : memory_resize_cleared(all->memory, NULL, 0, (size_t)count * narrow->size);
    if (count > 0 && made == NULL)
        return false;
    for (uint32_t f = 0; f < narrow->field_count; f++) {
        const message_field_t *old = &pipe->fields[from[f]], *now = &narrow->fields[f];
        for (uint32_t m = 0; m < count; m++)
            memcpy(made + (size_t)m * narrow->size + now->offset,
                   pipe->read.records + (size_t)m * pipe->size + old->offset, message_field_size(now));
    }
    free_records(all, &pipe->read, pipe->size);
    pipe->read = (message_records_t){.records = made, .count = count, .capacity = count};
    return true;
}

static void drop_unwanted(messages_t *all, pipe_t *pipe)
{
    message_field_t kept[BP_MESSAGE_MOST_FIELDS];
    pipe_t narrow = {.fields = kept};
    uint32_t from[BP_MESSAGE_MOST_FIELDS], to[BP_MESSAGE_MOST_FIELDS];
    for (uint32_t f = 0; f < pipe->field_count; f++) {
        if (!is_wanted(all, pipe, f))
            continue;
        kept[narrow.field_count] = pipe->fields[f];
        kept[narrow.field_count].offset = round_up(end_of(&narrow), alignment_of(pipe->fields[f].type));
        from[narrow.field_count] = f;
        to[f] = narrow.field_count++;
    }
    if (narrow.field_count == pipe->field_count || (narrow.field_count == 0 && pipe->read.count > 0))
        return; /* messages of zeros are messages: their fields go with them */
    narrow.size = round_up(end_of(&narrow), MOST_ALIGNMENT);
    free_records(all, &pipe->sent, pipe->size); /* between steps there are none */
    if (!narrow_messages(all, pipe, &narrow, from))
        return; /* the field goes when the next end is opened or closed */
    for (bp_channel_o *end = all->ends; end != NULL; end = end->next) {
        for (uint32_t i = 0; i < end->field_count && end->pipe == pipe; i++)
            end->places[i] = to[end->places[i]];
    }
    memcpy(pipe->fields, kept, narrow.field_count * sizeof *kept);
    pipe->field_count = narrow.field_count;
    pipe->size = narrow.size;
    find_offsets(all);
}

/* --- a channel with the fields that are asked for ----------------------------------------------------------------- */

static bp_result_t need(messages_t *all, const plugin_t *owner, const char *name, const message_field_t *fields,
                        uint32_t count, pipe_t **needed)
{
    pipe_t *pipe = messages_find(all, name);
    if (pipe != NULL)
        drop_unwanted(all, pipe); /* fields whose last message has gone since their last end was closed */
    bp_result_t result = check_fields(all, owner, pipe, fields, count);
    if (result != BP_OK)
        return result;
    if (pipe == NULL)
        pipe = make_pipe(all, name);
    if (pipe == NULL || !memory_reserve(all->memory, &pipe->fields, &pipe->field_capacity,
                                        (uint64_t)pipe->field_count + count, sizeof *pipe->fields) ||
        !add_fields(all, pipe, fields, count))
        return error_memory(&all->world->base->error, "opening a channel");
    find_offsets(all);
    *needed = pipe;
    return BP_OK;
}

bp_result_t messages_need(messages_t *all, const char *name, const message_field_t *fields, uint32_t count,
                          pipe_t **needed)
{
    return need(all, NULL, name, fields, count, needed);
}

/* --- ends --------------------------------------------------------------------------------------------------------- */

static bp_result_t read_field(const messages_t *all, const bp_term_field_t *given, message_field_t *field)
{
    error_text_t *error = &all->world->base->error;
    if (given->name == NULL || !names_is_word(given->name))
        return error_set(error, BP_ERROR_ARGUMENT,
                         "a field's name must be 1 to 63 letters, digits or underscores, not '%.40s'",
                         given->name == NULL ? "" : given->name);
    if (value_size(given->type) == 0 || given->type == BP_STRING || (given->flags & BP_FIELD_LIST) != 0)
        return error_set(error, BP_ERROR_TYPE,
                         "field '%s' of a message is of no type, a string or a list; messages have none of these",
                         given->name);
    if (given->count > MOST_COUNT)
        return error_set(error, BP_ERROR_LIMIT, "field '%s' has %u values; at most %d are allowed", given->name,
                         given->count, MOST_COUNT);
    *field = (message_field_t){.type = given->type, .count = given->count > 1 ? given->count : 1};
    snprintf(field->name, sizeof field->name, "%s", given->name);
    return BP_OK;
}

static bp_result_t read_fields(const messages_t *all, const bp_term_field_list_t *list, message_field_t *fields)
{
    error_text_t *error = &all->world->base->error;
    if (list == NULL || list->count == 0 || list->items == NULL || list->item_size < sizeof(bp_term_field_t))
        return error_set(error, BP_ERROR_ARGUMENT, "a channel is opened with a list of fields; use BP_LIST");
    if (list->count > BP_MESSAGE_MOST_FIELDS)
        return error_set(error, BP_ERROR_LIMIT, "a channel has at most %u fields", BP_MESSAGE_MOST_FIELDS);
    for (uint32_t i = 0; i < list->count; i++) {
        bp_term_field_t given;
        memcpy(&given, (const char *)list->items + (size_t)i * list->item_size, sizeof given);
        bp_result_t result = read_field(all, &given, &fields[i]);
        for (uint32_t k = 0; k < i && result == BP_OK; k++) {
            if (strcmp(fields[k].name, fields[i].name) == 0)
                result = error_set(error, BP_ERROR_EXISTS, "field '%s' is named twice", fields[i].name);
        }
        if (result != BP_OK)
            return result;
    }
    return BP_OK;
}

static bp_channel_o *make_end(messages_t *all, uint32_t count)
{
    bp_channel_o *end = memory_new(all->memory, sizeof *end);
    if (end == NULL)
        return NULL;
    *end = (bp_channel_o){.all = all, .field_count = count};
    end->places = memory_new(all->memory, 3 * (size_t)count * sizeof *end->places);
    if (end->places == NULL) {
        memory_free(all->memory, end, sizeof *end);
        return NULL;
    }
    end->offsets = end->places + count;
    end->sizes = end->offsets + count;
    return end;
}

static void free_end(messages_t *all, bp_channel_o *end)
{
    memory_free(all->memory, end->places, 3 * (size_t)end->field_count * sizeof *end->places);
    memory_free(all->memory, end, sizeof *end);
}

bp_result_t messages_open(messages_t *all, const plugin_t *owner, const char *name,
                          const bp_term_field_list_t *list, bp_channel_o **channel)
{
    message_field_t fields[BP_MESSAGE_MOST_FIELDS];
    error_text_t *error = &all->world->base->error;
    if (name == NULL || !names_is_word(name))
        return error_set(error, BP_ERROR_ARGUMENT,
                         "a channel's name must be 1 to 63 letters, digits or underscores, not '%.40s'",
                         name == NULL ? "" : name);
    bp_result_t result = read_fields(all, list, fields);
    if (result != BP_OK)
        return result;
    bp_channel_o *end = make_end(all, list->count);
    if (end == NULL)
        return error_memory(error, "opening a channel");
    result = need(all, owner, name, fields, list->count, &end->pipe);
    if (result != BP_OK) {
        free_end(all, end);
        return result;
    }
    for (uint32_t i = 0; i < list->count; i++)
        end->places[i] = (uint32_t)(messages_field_like(end->pipe, &fields[i]) - end->pipe->fields);
    end->owner = owner;
    end->next = all->ends;
    all->ends = end;
    find_offsets(all);
    *channel = end;
    return BP_OK;
}

void messages_close(bp_channel_o *end)
{
    if (end == NULL)
        return;
    bp_channel_o **at = &end->all->ends;
    while (*at != end)
        at = &(*at)->next;
    *at = end->next;
    messages_t *all = end->all;
    pipe_t *pipe = end->pipe;
    free_end(all, end);
    if (world_handle(all->world)->schedule->crew == NULL) /* not within a step, where records have their form */
        drop_unwanted(all, pipe);
}

void messages_close_of(messages_t *all, const plugin_t *owner)
{
    for (bp_channel_o *end = all->ends, *next; end != NULL; end = next) {
        next = end->next;
        if (end->owner == owner && owner != NULL)
            messages_close(end);
    }
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

void messages_read(const bp_channel_o *end, bp_messages_t *messages)
{
    const pipe_t *pipe = end->pipe;
    uint32_t size = messages->struct_size;
    const bp_messages_t all = {.struct_size = size,
                               .count = pipe->read.count,
                               .stride = pipe->size,
                               .field_count = end->field_count,
                               .first = pipe->read.count > 0 ? pipe->read.records : NULL,
                               .offsets = end->offsets};
    memcpy(messages, &all, size < sizeof all ? size : sizeof all);
}

/* One field of all records; the usual sizes are known to the compiler. */
static void record_field(char *to, uint32_t stride, const char *from, uint32_t size, uint32_t count)
{
    if (size == 8) {
        for (uint32_t i = 0; i < count; i++)
            memcpy(to + (size_t)i * stride, from + (size_t)i * 8, 8);
    } else if (size == 4) {
        for (uint32_t i = 0; i < count; i++)
            memcpy(to + (size_t)i * stride, from + (size_t)i * 4, 4);
    } else {
        for (uint32_t i = 0; i < count; i++)
            memcpy(to + (size_t)i * stride, from + (size_t)i * size, size);
    }
}

void messages_record(const bp_channel_o *end, const void *const *values, char *records, uint32_t count)
{
    uint32_t stride = end->pipe->size;
    if (!end->whole)
        memset(records, 0, (size_t)count * stride);
    for (uint32_t i = 0; i < end->field_count; i++) {
        if (values[i] != NULL)
            record_field(records + end->offsets[i], stride, values[i], end->sizes[i], count);
        else
            for (uint32_t k = 0; k < count; k++)
                memset(records + (size_t)k * stride + end->offsets[i], 0, end->sizes[i]);
    }
}

void messages_put(messages_t *all, pipe_t *pipe, const char *records, uint32_t count)
{
    message_records_t *sent = &pipe->sent;
    if (!memory_reserve(all->memory, &sent->records, &sent->capacity, (uint64_t)sent->count + count, pipe->size)) {
        pipe->lost += count;
        return;
    }
    memcpy(sent->records + (size_t)sent->count * pipe->size, records, (size_t)count * pipe->size);
    sent->count += count;
}

void messages_turn(messages_t *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        pipe_t *pipe = all->pipes[i];
        message_records_t read = pipe->read;
        pipe->read = pipe->sent;
        pipe->sent = read;
        pipe->sent.count = 0;
        if (pipe->lost > 0)
            log_write(&all->world->base->log, BP_LOG_ERROR, "host",
                      "world '%s': out of memory; %u messages of channel '%s' are lost", all->world->name, pipe->lost,
                      pipe->name);
        pipe->lost = 0;
    }
}
