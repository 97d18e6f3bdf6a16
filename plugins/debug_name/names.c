/* names.c - texts and the index of the plugin debug_name.
 *
 * Texts lie one after another in one block, because a million names in blocks of their own would take a million
 * allocations and their headers. A text that is replaced or ended leaves garbage; when the block is full and half of it
 * is garbage, or the block must grow anyway, the living texts are copied to a new block in order of slots. Offset 0 is
 * the empty text of every new slot; offset 0 is never garbage.
 *
 * The index: buckets of slots, doubly linked, because a thousand entities may well have the same name and
 * taking one entity out must not cost a walk past the others. In most worlds entities are never searched by name, so
 * the first search makes the index; from then on it follows every change, until so many names come at once that making
 * it anew is cheaper.
 */
#include "names.h"

enum { FIRST_TEXTS = 256, FIRST_BUCKETS = 16, ANEW_SHARE = 4 };

static const uint32_t item_sizes[COLUMNS_END - BP_SLOTS_FIRST] = {[TEXT - BP_SLOTS_FIRST] = sizeof(uint64_t)};

void debug_name_begin(debug_name_names_t *names)
{
    memset(names, 0, sizeof *names);
    bp_slots_init(&names->slots, item_sizes, COLUMNS_END - BP_SLOTS_FIRST);
}

static void drop_index(bp_manager_t *m, debug_name_names_t *names)
{
    m->api->memory->resize(m->plugin, names->bucket, (size_t)names->bucket_count * sizeof *names->bucket, 0);
    names->bucket = NULL;
    names->bucket_count = 0;
}

void debug_name_free(bp_manager_t *m, debug_name_names_t *names)
{
    drop_index(m, names);
    bp_slots_free(m, &names->slots);
    m->api->memory->resize(m->plugin, names->texts, names->texts_capacity, 0);
    memset(names, 0, sizeof *names);
}

/* --- the index -------------------------------------------------------------------------------- */

static uint64_t *texts_of(const debug_name_names_t *names)
{
    return BP_SLOTS(uint64_t, &names->slots, TEXT);
}

static uint32_t *column_of(const debug_name_names_t *names, uint32_t column)
{
    return BP_SLOTS(uint32_t, &names->slots, column);
}

static uint32_t *bucket_of(const debug_name_names_t *names, uint32_t slot)
{
    return &names->bucket[column_of(names, HASH)[slot] & (names->bucket_count - 1)];
}

static bool is_indexed(const debug_name_names_t *names, uint32_t slot)
{
    return names->bucket_count > 0 && texts_of(names)[slot] != 0;
}

/* Put a slot that has a text into its bucket. */
static void link_slot(bp_manager_t *m, debug_name_names_t *names, uint32_t slot)
{
    if (!is_indexed(names, slot))
        return;
    column_of(names, HASH)[slot] = (uint32_t)m->api->name->hash(debug_name_text(names, slot));
    uint32_t *bucket = bucket_of(names, slot);
    column_of(names, PREVIOUS)[slot] = BP_NONE;
    column_of(names, NEXT)[slot] = *bucket;
    if (*bucket != BP_NONE)
        column_of(names, PREVIOUS)[*bucket] = slot;
    *bucket = slot;
}

/* Let the neighbours of `slot` refer to others in its place. */
static void relink(debug_name_names_t *names, uint32_t slot, uint32_t other_previous, uint32_t other_next)
{
    uint32_t previous = column_of(names, PREVIOUS)[slot], next = column_of(names, NEXT)[slot];
    if (previous == BP_NONE)
        *bucket_of(names, slot) = other_next;
    else
        column_of(names, NEXT)[previous] = other_next;
    if (next != BP_NONE)
        column_of(names, PREVIOUS)[next] = other_previous;
}

/* Make the index, with as many buckets as slots. False when out of memory: then the world has no index. */
static bool make_index(bp_manager_t *m, debug_name_names_t *names)
{
    uint32_t buckets = FIRST_BUCKETS;
    while (buckets < names->slots.count && buckets < UINT32_C(1) << 31)
        buckets *= 2;
    drop_index(m, names);
    for (uint32_t column = HASH; column <= PREVIOUS; column++) {
        if (bp_slots_use(m, &names->slots, column, sizeof(uint32_t)) != BP_OK)
            return false;
    }
    names->bucket = m->api->memory->resize(m->plugin, NULL, 0, (size_t)buckets * sizeof *names->bucket);
    if (names->bucket == NULL)
        return false;
    names->bucket_count = buckets;
    memset(names->bucket, 0xff, (size_t)buckets * sizeof *names->bucket);
    for (uint32_t slot = 0; slot < names->slots.count; slot++)
        link_slot(m, names, slot);
    return true;
}

/* The first slot from `slot` onwards with that text: in its bucket, or among all where there is no index. */
static uint32_t seek(const debug_name_names_t *names, uint32_t slot, uint32_t hash, const char *text)
{
    if (names->bucket_count == 0) {
        while (slot < names->slots.count &&
               (texts_of(names)[slot] == 0 || strcmp(debug_name_text(names, slot), text) != 0))
            slot++;
        return slot < names->slots.count ? slot : BP_NONE;
    }
    while (slot != BP_NONE &&
           (column_of(names, HASH)[slot] != hash || strcmp(debug_name_text(names, slot), text) != 0))
        slot = column_of(names, NEXT)[slot];
    return slot;
}

uint32_t debug_name_first(bp_manager_t *m, debug_name_names_t *names, const char *text)
{
    if (names->slots.count == 0 || text[0] == '\0')
        return BP_NONE;
    if (names->bucket_count == 0 || names->bucket_count < names->slots.count / 2)
        make_index(m, names);
    if (names->bucket_count == 0)
        return seek(names, 0, 0, text);
    uint32_t hash = (uint32_t)m->api->name->hash(text);
    return seek(names, names->bucket[hash & (names->bucket_count - 1)], hash, text);
}

uint32_t debug_name_next(const debug_name_names_t *names, uint32_t slot, const char *text)
{
    if (names->bucket_count == 0)
        return seek(names, slot + 1, 0, text);
    return seek(names, column_of(names, NEXT)[slot], column_of(names, HASH)[slot], text);
}

/* --- texts ------------------------------------------------------------------------------------ */

const char *debug_name_text(const debug_name_names_t *names, uint32_t slot)
{
    uint64_t text = texts_of(names)[slot];
    return text == 0 ? "" : names->texts + text;
}

/* Leave a slot without a text. */
static void drop_text(debug_name_names_t *names, uint32_t slot)
{
    if (texts_of(names)[slot] == 0)
        return;
    if (names->bucket_count > 0)
        relink(names, slot, column_of(names, PREVIOUS)[slot], column_of(names, NEXT)[slot]);
    names->texts_garbage += strlen(debug_name_text(names, slot)) + 1;
    texts_of(names)[slot] = 0;
}

void debug_name_ended(bp_manager_t *m, uint32_t slot)
{
    drop_text(m->state, slot);
}

void debug_name_moved(bp_manager_t *m, uint32_t from, uint32_t to)
{
    (void)from;
    debug_name_names_t *names = m->state;
    if (is_indexed(names, to)) /* its own columns came along, and name the neighbours */
        relink(names, to, to, to);
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
    for (uint32_t slot = 0; slot < names->slots.count; slot++) {
        if (texts_of(names)[slot] == 0)
            continue;
        size_t size = strlen(debug_name_text(names, slot)) + 1;
        memcpy(texts + used, debug_name_text(names, slot), size);
        texts_of(names)[slot] = used;
        used += size;
    }
    names->texts = texts;
    names->texts_capacity = capacity;
    names->texts_used = used;
    names->texts_garbage = 0;
    return true;
}

static bp_result_t refuse_length(bp_manager_t *m, const char *text)
{
    char sentence[160];
    snprintf(sentence, sizeof sentence, "the name '%.40s...' is %zu bytes long; %d are the limit", text,
             strlen(text), DEBUG_NAME_MAX);
    return bp_slots_refuse(m, BP_ERROR_LIMIT, sentence);
}

/* Check texts and make room for all of them. `*old`, of `*old_size` bytes, is the block that must be freed
 * afterwards. */
static bp_result_t prepare_texts(bp_manager_t *m, debug_name_names_t *names, const void *values, size_t stride,
                                 uint32_t count, char **old, size_t *old_size)
{
    size_t more = 0;
    *old = NULL;
    *old_size = names->texts_capacity;
    for (uint32_t i = 0; i < count; i++) {
        const char *text = value_at(values, stride, i);
        size_t length = strlen(text);
        if (length > DEBUG_NAME_MAX)
            return refuse_length(m, text);
        more += length + 1;
    }
    if (more > names->texts_capacity - names->texts_used && !renew_texts(m, names, more, old))
        return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory for names");
    return BP_OK;
}

static void free_texts(bp_manager_t *m, char *old, size_t old_size)
{
    if (old != NULL)
        m->api->memory->resize(m->plugin, old, old_size, 0);
}

/* Append a text, for which there is room, to the block. Returns where it lies. */
static uint64_t append_text(debug_name_names_t *names, const char *text)
{
    size_t at = names->texts_used, size = strlen(text) + 1;
    if (size == 1)
        return 0;
    memcpy(names->texts + at, text, size);
    names->texts_used = at + size;
    return at;
}

bp_result_t debug_name_set(bp_manager_t *m, debug_name_names_t *names, const uint32_t *slots, uint32_t count,
                           const void *values, size_t stride)
{
    char *old;
    size_t old_size;
    bp_result_t result = prepare_texts(m, names, values, stride, count, &old, &old_size);
    for (uint32_t i = 0; result == BP_OK && i < count; i++) {
        const char *text = value_at(values, stride, i);
        drop_text(names, slots[i]);
        texts_of(names)[slots[i]] = append_text(names, text);
        link_slot(m, names, slots[i]);
    }
    free_texts(m, old, old_size);
    return result;
}

bp_result_t debug_name_create(bp_manager_t *m, debug_name_names_t *names, bp_name_t instance,
                              const bp_entity_t *entities, uint32_t count, const void *values, uint32_t *slots)
{
    char *old = NULL;
    size_t old_size = 0;
    bp_result_t result = bp_slots_reserve(m, &names->slots, instance, count);
    if (result == BP_OK && values != NULL)
        result = prepare_texts(m, names, values, sizeof(const char *), count, &old, &old_size);
    if (result != BP_OK)
        return result;
    uint32_t first = bp_slots_append(&names->slots, instance, entities, count, slots);
    uint64_t *text = texts_of(names) + first;
    if (values != NULL && count > names->bucket_count / ANEW_SHARE)
        drop_index(m, names);
    for (uint32_t i = 0; i < count; i++)
        text[i] = values == NULL ? 0 : append_text(names, value_at(values, sizeof(const char *), i));
    for (uint32_t i = 0; names->bucket_count > 0 && values != NULL && i < count; i++)
        link_slot(m, names, first + i);
    free_texts(m, old, old_size);
    return BP_OK;
}

/* --- as one block ----------------------------------------------------------------------------- */

/* In front: what is used of the block of texts, what of that is garbage, and how large the block is, since that decides
 * when it is made anew. Version 1 did not say how large. */
enum { TEXTS = 3, TEXTS_1 = 2 };

enum { SAVED = 1u << BP_SLOTS_ENTITY | 1u << BP_SLOTS_NAME | 1u << TEXT };

static const uint32_t saved_sizes[COLUMNS_END] = {
    [BP_SLOTS_ENTITY] = 8, [BP_SLOTS_NAME] = 8, [TEXT] = 8, [HASH] = 4, [NEXT] = 4, [PREVIOUS] = 4};

bp_result_t debug_name_save(bp_manager_t *m, void **data, size_t *size)
{
    const debug_name_names_t *names = m->state;
    uint64_t texts[TEXTS] = {names->texts_used, names->texts_garbage, names->texts_capacity};
    *size = sizeof texts + names->texts_used + bp_slots_written(&names->slots, SAVED);
    char *at = m->api->memory->resize(m->plugin, NULL, 0, *size);
    if (at == NULL)
        return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory for saving the names");
    *data = at;
    memcpy(at, texts, sizeof texts);
    at = bp_slots_write(&names->slots, SAVED, at + sizeof texts);
    if (names->texts_used > 0)
        memcpy(at, names->texts, names->texts_used);
    return BP_OK;
}

/* Do all texts end in the block, and is what no slot refers to garbage? A new block has room for the rest alone. */
static bool texts_hold(const debug_name_names_t *names)
{
    bool hold = names->texts_used == 0 || names->texts[names->texts_used - 1] == 0;
    uint64_t living = names->texts_used > 0; /* the empty text, which all slots share */
    for (uint32_t i = 0; i < names->slots.count && hold; i++) {
        uint64_t text = texts_of(names)[i];
        hold = text == 0 || text < names->texts_used;
        living += text > 0 && hold ? strlen(names->texts + text) + 1 : 0;
    }
    return hold && names->texts_garbage <= names->texts_used && living == names->texts_used - names->texts_garbage;
}

/* The block of texts, of which `from` holds what is used. */
static bp_result_t load_texts(bp_manager_t *m, debug_name_names_t *names, const uint64_t texts[TEXTS], const char *from)
{
    size_t used = (size_t)texts[0], capacity = (size_t)texts[2];
    names->texts = capacity == 0 ? NULL : m->api->memory->resize(m->plugin, NULL, 0, capacity);
    if (capacity > 0 && names->texts == NULL)
        return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory for the names");
    names->texts_used = used;
    names->texts_capacity = capacity;
    names->texts_garbage = (size_t)texts[1];
    if (used > 0)
        memcpy(names->texts, from, used);
    return texts_hold(names) ? BP_OK : bp_slots_refuse(m, BP_ERROR_FAILED, "what was saved of the names is damaged");
}

bp_result_t debug_name_load(bp_manager_t *m, uint32_t version, const void *data, size_t size)
{
    debug_name_names_t *names = m->state;
    uint64_t texts[TEXTS] = {0};
    size_t head = (version == 1 ? TEXTS_1 : TEXTS) * sizeof *texts;
    const char *end = (const char *)data + size;
    if ((version != 1 && version != 2) || size < head)
        return bp_slots_refuse(m, BP_ERROR_FAILED,
            "what was saved of the names is not of versions 1 and 2, which this one reads");
    memcpy(texts, data, head);
    texts[2] = version == 1 ? texts[0] : texts[2];
    const char *at = bp_slots_read(m, &names->slots, SAVED, saved_sizes, (const char *)data + head, end);
    if (at == NULL)
        return BP_ERROR_FAILED;
    if (texts[0] != (uint64_t)(end - at) || texts[2] < texts[0] || texts[2] / 8 > texts[0] + FIRST_TEXTS)
        return bp_slots_refuse(m, BP_ERROR_FAILED, "what was saved of the names is damaged");
    return load_texts(m, names, texts, at);
}
