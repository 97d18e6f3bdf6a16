/* debug_name.c - names of entities for people: the component, its slots and its verbs.
 *
 * Texts vary in length, so the component stores its instances itself: one array a part, indexed by slot, in
 * one buffer that doubles (names.c). A name may be borne by any number of entities; find gives them all.
 *
 * The component is collected lazily: nothing outside depends on a name's end, and find and name ask whether
 * an entity lives before they answer, so a dead one is never found although its slot may still be in use.
 */
#include "names.h"

#include <stdio.h>
#include <string.h>

static const bp_field_t fields[] = {
    [BP_DEBUG_NAME_NAME] = {.name = "name", .type = BP_STRING, .flags = BP_FIELD_LABEL,
                            .doc = "what people call the entity; need not be unique, at most 255 bytes"},
};

enum { LIVING_IN_A_ROW = 4, KEYS_ON_STACK = 64 };

static bp_result_t start(bp_manager_t *m)
{
    debug_name_names_t *names = m->api->memory->resize(m->plugin, NULL, 0, sizeof *names);
    if (names == NULL)
        return m->api->error->set(m->host, BP_ERROR_MEMORY, "debug_name: out of memory at its start");
    memset(names, 0, sizeof *names);
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
                          uint32_t *slots)
{
    debug_name_names_t *names = m->state;
    bp_result_t result = debug_name_reserve(m, names, count);
    if (result != BP_OK)
        return result;
    for (uint32_t i = 0; i < count; i++)
        slots[i] = debug_name_append(names, entities[i], instance);
    return BP_OK;
}

/* --- moved instances -------------------------------------------------------------------------- */

/* Slots that were filled by the last instance, not yet told to the world. Who lies in a slot is read when
 * it is told, so an instance that moved twice is told right, at most twice. */
enum { MOVED_ROOM = 64 };
typedef struct moved_t {
    uint32_t count;
    uint32_t slots[MOVED_ROOM];
} moved_t;

static void tell_moved(bp_manager_t *m, moved_t *moved)
{
    const debug_name_names_t *names = m->state;
    bp_entity_t entities[MOVED_ROOM];
    bp_name_t instances[MOVED_ROOM];
    uint32_t slots[MOVED_ROOM], count = 0;
    for (uint32_t i = 0; i < moved->count; i++) {
        uint32_t slot = moved->slots[i];
        if (slot >= names->count)
            continue; /* it moved on, and that was noted too */
        entities[count] = names->entity[slot];
        instances[count] = names->instance[slot];
        slots[count++] = slot;
    }
    if (count > 0)
        m->api->world->instances_moved(m, entities, instances, slots, count);
    moved->count = 0;
}

static void erase(bp_manager_t *m, uint32_t slot, moved_t *moved)
{
    debug_name_names_t *names = m->state;
    debug_name_erase(names, slot);
    if (slot == names->count)
        return; /* it was the last: nobody moved */
    moved->slots[moved->count++] = slot;
    if (moved->count == MOVED_ROOM)
        tell_moved(m, moved);
}

static void destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    moved_t moved;
    moved.count = 0;
    for (uint32_t i = 0; i < count; i++)
        erase(m, slots[i], &moved);
    tell_moved(m, &moved);
}

static bool is_alive(bp_manager_t *m, bp_entity_t entity)
{
    return m->api->entity->alive(m->host, &entity, 1, NULL) == 1;
}

static uint32_t gc(bp_manager_t *m, uint64_t *random)
{
    debug_name_names_t *names = m->state;
    moved_t moved;
    moved.count = 0;
    uint32_t ended = 0, living = 0;
    while (names->count > 0 && living < LIVING_IN_A_ROW) {
        uint32_t slot = bp_random_below(random, names->count);
        if (is_alive(m, names->entity[slot])) {
            living++;
            continue;
        }
        living = 0;
        erase(m, slot, &moved);
        ended++;
    }
    tell_moved(m, &moved);
    return ended;
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
    return ((const debug_name_names_t *)m->state)->count;
}

/* --- the table -------------------------------------------------------------------------------- */

static void swap(bp_entity_t *a, bp_entity_t *b)
{
    bp_entity_t c = *a;
    *a = *b;
    *b = c;
}

/* Let the entity at `i` sink in the heap whose root has the largest index. */
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

/* Of all that are found the caller gets those with the lowest indices, however little room it has: when
 * the room is full, it is made a heap, and a lower index takes the place of the root. */
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
    const debug_name_names_t *names = m->state;
    uint32_t found = 0;
    uint32_t slot = debug_name_first(m, names, text);
    for (; slot != BP_NONE; slot = debug_name_next(names, slot, text)) {
        if (is_alive(m, names->entity[slot]))
            keep_lowest(entities, capacity, found++, names->entity[slot]);
    }
    sort_by_index(entities, found < capacity ? found : capacity);
    return found;
}

/* The slot of the entity's debug name under one of its `count` keys. */
static uint32_t slot_under(bp_manager_t *m, bp_entity_t entity, const uint32_t *keys, uint32_t count)
{
    uint32_t slot = BP_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t component = BP_NONE;
        bp_name_t instance;
        if (m->api->world->key_info(m->world, keys[i], &component, &instance) == BP_OK &&
            component == m->component && m->api->world->slots(m->world, keys[i], &entity, 1, &slot) == 1)
            return slot;
    }
    return BP_NONE;
}

/* The world knows where an entity's instance lies; only its name within the entity is for us to find. */
static uint32_t slot_of(bp_manager_t *m, bp_entity_t entity)
{
    uint32_t few[KEYS_ON_STACK];
    uint32_t count = m->api->world->keys_of(m->world, entity, few, KEYS_ON_STACK);
    if (count <= KEYS_ON_STACK)
        return slot_under(m, entity, few, count);
    uint32_t *keys = m->api->memory->resize(m->plugin, NULL, 0, count * sizeof *keys);
    if (keys == NULL)
        return BP_NONE;
    uint32_t slot = slot_under(m, entity, keys, m->api->world->keys_of(m->world, entity, keys, count));
    m->api->memory->resize(m->plugin, keys, count * sizeof *keys, 0);
    return slot;
}

static const char *name(bp_manager_t *m, bp_entity_t entity)
{
    uint32_t slot = slot_of(m, entity);
    return slot == BP_NONE ? NULL : debug_name_text(m->state, slot);
}

static const bp_debug_name_api table = {
    .struct_size = sizeof(bp_debug_name_api),
    .version = 1,
    .find = find,
    .name = name,
};

static bp_result_t load(bp_plugin_t *plugin)
{
    return plugin->api->registry->offer(plugin, BP_DEBUG_NAME_API, &table);
}

static const bp_component_i components[] = {{
    .name = "debug_name",
    .doc = "a name for people",
    .version = 1,
    .flags = BP_COMPONENT_OWN_STORAGE | BP_COMPONENT_SINGLE,
    .fields = BP_LIST(fields),
    .start = start,
    .stop = stop,
    .create = create,
    .destroy = destroy,
    .get = get,
    .set = set,
    .count = count_instances,
    .gc = gc,
}};

BP_PLUGIN(debug_name) = {
    BP_PLUGIN_HEAD,
    .name = "debug_name",
    .version = "1.0",
    .doc = "names of entities for people, and entities by name",
    .components = BP_LIST(components),
    .load = load,
};
