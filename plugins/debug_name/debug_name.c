/* debug_name.c - names of entities for people: the component and its verbs.
 *
 * Texts vary in length, so the component stores its instances itself: slots as bp_slots.h keeps them, and texts in
 * one block (names.c). Any number of entities may bear the same name; find gives all of them.
 *
 * The component is collected lazily: no other plugin has to know when a name ends, and find and name test whether an
 * entity lives, so a dead entity is never found although its slot may still be in use.
 */
#include "names.h"

static const bp_field_t fields[] = {
    [BP_DEBUG_NAME_NAME] = {.name = "name", .type = BP_STRING, .flags = BP_FIELD_LABEL,
                            .doc = "what people call the entity; need not be unique, at most 255 bytes"},
};

static const bp_slots_hooks_t hooks = {.ended = debug_name_ended, .moved = debug_name_moved};

static bp_result_t start(bp_manager_t *m)
{
    debug_name_names_t *names = m->api->memory->resize(m->plugin, NULL, 0, sizeof *names);
    if (names == NULL)
        return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory at its start");
    debug_name_begin(names);
    m->state = names;
    return BP_OK;
}

static void stop(bp_manager_t *m)
{
    debug_name_free(m, m->state);
    m->api->memory->resize(m->plugin, m->state, sizeof(debug_name_names_t), 0);
    m->state = NULL;
}

static bp_result_t create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                          const void *const *columns, uint32_t *slots)
{
    const void *texts = columns == NULL ? NULL : columns[BP_DEBUG_NAME_NAME];
    return debug_name_create(m, m->state, instance, entities, count, texts, slots);
}

static void destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    debug_name_names_t *names = m->state;
    bp_slots_destroy(m, &names->slots, slots, count, &hooks);
}

static uint32_t gc(bp_manager_t *m, uint64_t *random)
{
    debug_name_names_t *names = m->state;
    return bp_slots_collect(m, &names->slots, random, &hooks);
}

/* --- the property ----------------------------------------------------------------------------- */

static bp_result_t get(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                       size_t stride)
{
    (void)field;
    char *value = values;
    for (uint32_t i = 0; i < count; i++, value += stride) {
        const char *text = debug_name_text(m->state, slots[i]);
        memcpy(value, &text, sizeof text);
    }
    return BP_OK;
}

static bp_result_t set(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count,
                       const void *values, size_t stride)
{
    (void)field;
    return debug_name_set(m, m->state, slots, count, values, stride);
}

static uint32_t count_instances(bp_manager_t *m)
{
    return ((const debug_name_names_t *)m->state)->slots.count;
}

/* --- the table -------------------------------------------------------------------------------- */

static void swap(bp_entity_t *a, bp_entity_t *b)
{
    bp_entity_t c = *a;
    *a = *b;
    *b = c;
}

/* Let the entity at `i` sink in the heap, which has the largest index at its root. */
static void sink(bp_entity_t *heap, uint32_t count, uint32_t i)
{
    for (;;) {
        uint64_t child = (uint64_t)i * 2 + 1;
        if (child >= count)
            return;
        if (child + 1 < count && bp_entity_index(heap[child]) < bp_entity_index(heap[child + 1]))
            child++;
        if (bp_entity_index(heap[i]) >= bp_entity_index(heap[child]))
            return;
        swap(&heap[i], &heap[child]);
        i = (uint32_t)child;
    }
}

/* Put the largest index at the root. */
static void make_heap(bp_entity_t *entities, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;)
        sink(entities, count, i);
}

/* Keep the entities with the lowest indices of all that are found, as many as the caller has room for: when the room is
 * full, it is made a heap, and an entity with a lower index takes the place of the root. */
static void keep_lowest(bp_entity_t *entities, uint32_t capacity, uint32_t found, bp_entity_t entity)
{
    if (found < capacity) {
        entities[found] = entity;
        if (found + 1 == capacity)
            make_heap(entities, capacity);
    } else if (capacity > 0 && bp_entity_index(entity) < bp_entity_index(entities[0])) {
        entities[0] = entity;
        sink(entities, capacity, 0);
    }
}

static void sort_by_index(bp_entity_t *entities, uint32_t count)
{
    make_heap(entities, count);
    for (uint32_t left = count; left > 1; left--) {
        swap(&entities[0], &entities[left - 1]);
        sink(entities, left - 1, 0);
    }
}

static uint32_t find(bp_manager_t *m, const char *text, bp_entity_t *entities, uint32_t capacity)
{
    debug_name_names_t *names = m->state;
    const bp_entity_t *entity = BP_SLOTS(const bp_entity_t, &names->slots, BP_SLOTS_ENTITY);
    uint32_t found = 0;
    uint32_t slot = debug_name_first(m, names, text);
    for (; slot != BP_NONE; slot = debug_name_next(names, slot, text)) {
        if (m->api->entity->alive(m->host, &entity[slot], 1, NULL) == 1)
            keep_lowest(entities, capacity, found++, entity[slot]);
    }
    sort_by_index(entities, found < capacity ? found : capacity);
    return found;
}

static const char *name(bp_manager_t *m, bp_entity_t entity)
{
    const debug_name_names_t *names = m->state;
    uint32_t slot;
    return bp_slots_find(m, &names->slots, &entity, 1, &slot) == 0 ? NULL : debug_name_text(names, slot);
}

static const bp_debug_name_api table = {
    .find = find,
    .name = name,
};

static const bp_table_t tables[] = {BP_TABLE(BP_DEBUG_NAME_API, 1, table, BP_DEBUG_NAME_RETURNS)};

static const bp_storage_i storage = {
    .struct_size = sizeof(bp_storage_i),
    .create = create,
    .destroy = destroy,
    .get = get,
    .set = set,
    .count = count_instances,
    .gc = gc,
};

static const bp_save_i saving = {.save = debug_name_save, .load = debug_name_load};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_save", saving)}};

static const bp_component_i components[] = {{
    .doc = "a name for people",
    .version = 2,
    .flags = BP_COMPONENT_SINGLE,
    .fields = BP_LIST(fields),
    .start = start,
    .stop = stop,
    .storage = &storage,
    .state_form = DEBUG_NAME_FORM,
    .keeps = BP_KEEP_SAVED,
    .extensions = BP_LIST(extensions),
}};

BP_PLUGIN(debug_name) = {
    .version = "1.1",
    .doc = "names of entities for people, and entities by name",
    .components = BP_LIST(components),
    .tables = BP_LIST(tables),
};
