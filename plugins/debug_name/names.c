/* names.c - slots, texts and the index of the plugin debug_name.
 *
 * Texts lie one after another in one block, for a million names want neither a million allocations nor their
 * headers. A text that is replaced or ended leaves garbage; when the block is full and half of it is garbage,
 * or it must grow anyway, the living texts are copied to a new block in order of slots. Offset 0 is the empty
 * text of every new slot; it is never garbage.
 *
 * The index: buckets of slots, doubly linked, because a thousand entities may well have the same name and
 * taking one of them out must not cost a walk past the others. As many buckets as slots; empty names are in
 * none.
 */
#include "names.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_CAPACITY = 16, FIRST_TEXTS = 256 };
#define CAPACITY_MAX (UINT32_C(1) << 31)

enum { SLOT_BYTES = sizeof(bp_entity_t) + sizeof(bp_name_t) + sizeof(uint64_t) + 4 * sizeof(uint32_t) };

void debug_name_free(bp_manager_t *m, debug_name_names_t *names)
{
    m->api->memory->resize(m->plugin, names->buffer, (size_t)names->capacity * SLOT_BYTES, 0);
    m->api->memory->resize(m->plugin, names->texts, names->texts_capacity, 0);
    memset(names, 0, sizeof *names);
}

/* --- the index -------------------------------------------------------------------------------- */

static uint32_t *bucket_of(const debug_name_names_t *names, uint32_t slot)
{
    return &names->bucket[names->hash[slot] & (names->capacity - 1)];
}

static void link_slot(debug_name_names_t *names, uint32_t slot)
{
    uint32_t *bucket = bucket_of(names, slot);
    names->prev[slot] = BP_NONE;
    names->next[slot] = *bucket;
    if (*bucket != BP_NONE)
        names->prev[*bucket] = slot;
    *bucket = slot;
}

/* Let the neighbours of `slot` refer to `other` in its place. */
static void relink(debug_name_names_t *names, uint32_t slot, uint32_t other_prev, uint32_t other_next)
{
    uint32_t prev = names->prev[slot], next = names->next[slot];
    if (prev == BP_NONE)
        *bucket_of(names, slot) = other_next;
    else
        names->next[prev] = other_next;
    if (next != BP_NONE)
        names->prev[next] = other_prev;
}

static void unlink_slot(debug_name_names_t *names, uint32_t slot)
{
    relink(names, slot, names->prev[slot], names->next[slot]);
}

static bool is_indexed(const debug_name_names_t *names, uint32_t slot)
{
    return names->text[slot] != 0;
}

/* The first slot with that text from `slot` onwards in its bucket. */
static uint32_t seek(const debug_name_names_t *names, uint32_t slot, uint32_t hash, const char *text)
{
    while (slot != BP_NONE && (names->hash[slot] != hash || strcmp(debug_name_text(names, slot), text) != 0))
        slot = names->next[slot];
    return slot;
}

uint32_t debug_name_first(bp_manager_t *m, const debug_name_names_t *names, const char *text)
{
    if (names->capacity == 0)
        return BP_NONE;
    uint32_t hash = (uint32_t)m->api->name->hash(text);
    return seek(names, names->bucket[hash & (names->capacity - 1)], hash, text);
}

uint32_t debug_name_next(const debug_name_names_t *names, uint32_t slot, const char *text)
{
    return seek(names, names->next[slot], names->hash[slot], text);
}

/* --- slots ------------------------------------------------------------------------------------ */

static void lay_out(debug_name_names_t *names, void *buffer, uint32_t capacity)
{
    names->buffer = buffer;
    names->capacity = capacity;
    names->entity = buffer;
    names->instance = (bp_name_t *)(void *)(names->entity + capacity);
    names->text = names->instance + capacity;
    names->hash = (uint32_t *)(void *)(names->text + capacity);
    names->next = names->hash + capacity;
    names->prev = names->next + capacity;
    names->bucket = names->prev + capacity;
}

/* Take over the slots of `old` and index them anew, in the buckets that there are now. */
static void copy_slots(debug_name_names_t *names, const debug_name_names_t *old)
{
    memset(names->bucket, 0xff, names->capacity * sizeof *names->bucket);
    if (old->count == 0)
        return;
    memcpy(names->entity, old->entity, old->count * sizeof *old->entity);
    memcpy(names->instance, old->instance, old->count * sizeof *old->instance);
    memcpy(names->text, old->text, old->count * sizeof *old->text);
    memcpy(names->hash, old->hash, old->count * sizeof *old->hash);
    for (uint32_t slot = 0; slot < old->count; slot++) {
        if (is_indexed(names, slot))
            link_slot(names, slot);
    }
}

bp_result_t debug_name_reserve(bp_manager_t *m, debug_name_names_t *names, uint32_t more)
{
    if (more <= names->capacity - names->count)
        return BP_OK;
    if (more > CAPACITY_MAX - names->count)
        return m->api->error->set(m->host, BP_ERROR_LIMIT, "debug_name: more than 2147483648 instances");
    uint32_t capacity = names->capacity == 0 ? FIRST_CAPACITY : names->capacity;
    while (capacity < names->count + more)
        capacity *= 2;
    void *buffer = m->api->memory->resize(m->plugin, NULL, 0, (size_t)capacity * SLOT_BYTES);
    if (buffer == NULL)
        return m->api->error->set(m->host, BP_ERROR_MEMORY, "debug_name: out of memory for more instances");
    debug_name_names_t old = *names;
    lay_out(names, buffer, capacity);
    copy_slots(names, &old);
    m->api->memory->resize(m->plugin, old.buffer, (size_t)old.capacity * SLOT_BYTES, 0);
    return BP_OK;
}

uint32_t debug_name_append(debug_name_names_t *names, bp_entity_t entity, bp_name_t instance)
{
    uint32_t slot = names->count++;
    names->entity[slot] = entity;
    names->instance[slot] = instance;
    names->text[slot] = 0;
    names->hash[slot] = 0;
    names->next[slot] = names->prev[slot] = BP_NONE;
    return slot;
}

/* Take the slot's text away. */
static void drop_text(debug_name_names_t *names, uint32_t slot)
{
    if (!is_indexed(names, slot))
        return;
    unlink_slot(names, slot);
    names->texts_garbage += strlen(debug_name_text(names, slot)) + 1;
    names->text[slot] = 0;
}

void debug_name_erase(debug_name_names_t *names, uint32_t slot)
{
    drop_text(names, slot);
    uint32_t last = --names->count;
    if (slot == last)
        return;
    if (is_indexed(names, last))
        relink(names, last, slot, slot);
    names->entity[slot] = names->entity[last];
    names->instance[slot] = names->instance[last];
    names->text[slot] = names->text[last];
    names->hash[slot] = names->hash[last];
    names->next[slot] = names->next[last];
    names->prev[slot] = names->prev[last];
}

/* --- texts ------------------------------------------------------------------------------------ */

const char *debug_name_text(const debug_name_names_t *names, uint32_t slot)
{
    return names->text[slot] == 0 ? "" : names->texts + names->text[slot];
}

static const char *value_at(const void *values, size_t stride, uint32_t i)
{
    const char *text;
    memcpy(&text, (const char *)values + i * stride, sizeof text);
    return text;
}

/* A block of texts with room for `more` bytes, the living texts copied to its beginning. The old block is
 * handed back, not freed: the values to be set may lie in it. */
static bool renew_texts(bp_manager_t *m, debug_name_names_t *names, size_t more, char **old)
{
    size_t living = names->texts_used - names->texts_garbage, capacity = FIRST_TEXTS;
    while (capacity / 2 < living + more)
        capacity *= 2;
    char *texts = m->api->memory->resize(m->plugin, NULL, 0, capacity);
    if (texts == NULL)
        return false;
    *old = names->texts;
    size_t used = 1;
    texts[0] = '\0';
    for (uint32_t slot = 0; slot < names->count; slot++) {
        if (!is_indexed(names, slot))
            continue;
        size_t size = strlen(debug_name_text(names, slot)) + 1;
        memcpy(texts + used, debug_name_text(names, slot), size);
        names->text[slot] = used;
        used += size;
    }
    names->texts = texts;
    names->texts_capacity = capacity;
    names->texts_used = used;
    names->texts_garbage = 0;
    return true;
}

static void put_text(bp_manager_t *m, debug_name_names_t *names, uint32_t slot, const char *text)
{
    drop_text(names, slot);
    if (text[0] == '\0')
        return;
    size_t size = strlen(text) + 1;
    memcpy(names->texts + names->texts_used, text, size);
    names->text[slot] = names->texts_used;
    names->texts_used += size;
    names->hash[slot] = (uint32_t)m->api->name->hash(text);
    link_slot(names, slot);
}

static bp_result_t refuse_length(bp_manager_t *m, const char *text)
{
    char sentence[160];
    snprintf(sentence, sizeof sentence, "debug_name: the name '%.40s...' is %zu bytes long; %d are the limit",
             text, strlen(text), DEBUG_NAME_MAX);
    return m->api->error->set(m->host, BP_ERROR_LIMIT, sentence);
}

bp_result_t debug_name_set(bp_manager_t *m, debug_name_names_t *names, const uint32_t *slots, uint32_t count,
                           const void *values, size_t stride)
{
    size_t more = 0, old_capacity = names->texts_capacity;
    for (uint32_t i = 0; i < count; i++) {
        const char *text = value_at(values, stride, i);
        size_t length = strlen(text);
        if (length > DEBUG_NAME_MAX)
            return refuse_length(m, text);
        more += length + 1;
    }
    char *old = NULL;
    if (more > names->texts_capacity - names->texts_used && !renew_texts(m, names, more, &old))
        return m->api->error->set(m->host, BP_ERROR_MEMORY, "debug_name: out of memory for names");
    for (uint32_t i = 0; i < count; i++)
        put_text(m, names, slots[i], value_at(values, stride, i));
    if (old != NULL)
        m->api->memory->resize(m->plugin, old, old_capacity, 0);
    return BP_OK;
}
