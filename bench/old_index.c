/* old_index.c - one array of entries for each entity.
 *
 * Arrays double from one entry on, as the containers of that time did; the map is open addressing with
 * linear probing, half full at most, erased by shifting back. Both are faster than a general hash map would
 * have been: the index is slower because each entity has an array of its own, not because of its implementation.
 */
#include "old_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *resize(old_index_t *index, void *old, size_t old_bytes, size_t bytes)
{
    void *block = realloc(old, bytes);
    if (block == NULL) {
        fprintf(stderr, "bench: no memory for the old index\n");
        exit(1);
    }
    index->bytes += bytes - old_bytes;
    return block;
}

#define GROW(index, array, old_count, new_count) \
    ((array) = resize((index), (array), (old_count) * sizeof *(array), (new_count) * sizeof *(array)))

void old_index_init(old_index_t *index, uint32_t managers)
{
    memset(index, 0, sizeof *index);
    index->manager_count = managers;
    GROW(index, index->managers, 0, managers);
    memset(index->managers, 0, managers * sizeof *index->managers);
    index->table_size = 64;
    GROW(index, index->table, 0, index->table_size);
    memset(index->table, 0, index->table_size * sizeof *index->table);
    index->random = 1;
}

void old_index_free(old_index_t *index)
{
    for (uint32_t i = 0; i < index->list_count; i++)
        free(index->lists[i].entries);
    for (uint32_t i = 0; i < index->manager_count; i++) {
        free(index->managers[i].values);
        free(index->managers[i].free_slots);
    }
    free(index->generations);
    free(index->ring);
    free(index->lists);
    free(index->table);
    free(index->managers);
}

/* --- entities ----------------------------------------------------------------------------------------- */

static void grow_entities(old_index_t *index)
{
    uint32_t old = index->entity_capacity, capacity = old == 0 ? 256 : old * 2;
    GROW(index, index->generations, old, capacity);
    memset(index->generations + old, 0, (capacity - old) * sizeof *index->generations);
    uint32_t *ring = resize(index, NULL, 0, capacity * sizeof *ring);
    for (uint32_t i = 0; i < index->waiting; i++)
        ring[i] = index->ring[(index->head + i) % old];
    free(index->ring);
    index->bytes -= old * sizeof *ring;
    index->ring = ring;
    index->head = 0;
    index->entity_capacity = capacity;
}

bp_entity_t old_index_create(old_index_t *index)
{
    enum { MIN_FREE = 1024 };
    uint32_t at;
    if (index->waiting > MIN_FREE) {
        at = index->ring[index->head];
        index->head = index->head + 1 == index->entity_capacity ? 0 : index->head + 1;
        index->waiting--;
    } else {
        if (index->bound == index->entity_capacity)
            grow_entities(index);
        at = index->bound++;
    }
    return (bp_entity_t){(uint64_t)++index->generations[at] << 32 | at};
}

static bool is_alive(const old_index_t *index, bp_entity_t e)
{
    return index->generations[bp_entity_index(e)] == bp_entity_generation(e);
}

void old_index_destroy(old_index_t *index, bp_entity_t e)
{
    if (!is_alive(index, e))
        return;
    index->generations[bp_entity_index(e)]++;
    uint32_t at = index->head + index->waiting++;
    index->ring[at >= index->entity_capacity ? at - index->entity_capacity : at] = bp_entity_index(e);
}

/* --- entity -> array ---------------------------------------------------------------------------------- */

static uint32_t slot_of(const old_index_t *index, bp_entity_t e)
{
    uint64_t h = e.id * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(h >> 32) & (index->table_size - 1);
}

/* The slot where the entity is, or the free slot where it would go. */
static uint32_t probe(const old_index_t *index, bp_entity_t e)
{
    uint32_t slot = slot_of(index, e);
    while (index->table[slot] != 0 && index->lists[index->table[slot] - 1].entity.id != e.id)
        slot = (slot + 1) & (index->table_size - 1);
    return slot;
}

static void grow_table(old_index_t *index)
{
    uint32_t old = index->table_size;
    index->table_size = old * 2;
    GROW(index, index->table, old, old * 2);
    memset(index->table, 0, index->table_size * sizeof *index->table);
    for (uint32_t i = 0; i < index->list_count; i++)
        index->table[probe(index, index->lists[i].entity)] = i + 1;
}

static old_list_t *need_list(old_index_t *index, bp_entity_t e)
{
    uint32_t slot = probe(index, e);
    if (index->table[slot] != 0)
        return &index->lists[index->table[slot] - 1];
    if (index->list_count == index->list_capacity) {
        uint32_t capacity = index->list_capacity == 0 ? 64 : index->list_capacity * 2;
        GROW(index, index->lists, index->list_capacity, capacity);
        index->list_capacity = capacity;
    }
    old_list_t *list = &index->lists[index->list_count++];
    *list = (old_list_t){.entity = e};
    index->table[slot] = index->list_count;
    if (index->list_count * 2 > index->table_size)
        grow_table(index);
    return list;
}

/* Close the gap at `slot`: entries behind it that would not be found any more move into it. */
static void erase_slot(old_index_t *index, uint32_t slot)
{
    uint32_t mask = index->table_size - 1, gap = slot;
    for (uint32_t at = (gap + 1) & mask; index->table[at] != 0; at = (at + 1) & mask) {
        uint32_t home = slot_of(index, index->lists[index->table[at] - 1].entity);
        if (((at - home) & mask) < ((at - gap) & mask))
            continue;
        index->table[gap] = index->table[at];
        gap = at;
    }
    index->table[gap] = 0;
}

/* --- components --------------------------------------------------------------------------------------- */

static uint32_t new_instance(old_index_t *index, old_manager_t *manager)
{
    if (manager->free_count > 0)
        return manager->free_slots[--manager->free_count];
    if (manager->count == manager->capacity) {
        uint32_t capacity = manager->capacity == 0 ? 64 : manager->capacity * 2;
        GROW(index, manager->values, manager->capacity, capacity);
        GROW(index, manager->free_slots, manager->capacity, capacity);
        manager->capacity = capacity;
    }
    return manager->count++;
}

void old_index_add(old_index_t *index, bp_entity_t e, uint32_t manager, uint32_t name)
{
    uint32_t instance = new_instance(index, &index->managers[manager]);
    index->managers[manager].values[instance] = (bp_vec4_t){0, 0, 0, 0};
    old_list_t *list = need_list(index, e);
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity == 0 ? 1 : list->capacity * 2;
        GROW(index, list->entries, list->capacity, capacity);
        list->capacity = capacity;
    }
    list->entries[list->count++] = (old_entry_t){.manager = manager, .instance = instance, .name = name};
}

bp_vec4_t *old_index_find(const old_index_t *index, bp_entity_t e, uint32_t name)
{
    uint32_t at = index->table[probe(index, e)];
    if (at == 0 || !is_alive(index, e))
        return NULL;
    const old_list_t *list = &index->lists[at - 1];
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->entries[i].name == name)
            return &index->managers[list->entries[i].manager].values[list->entries[i].instance];
    }
    return NULL;
}

/* --- collection --------------------------------------------------------------------------------------- */

static void drop_list(old_index_t *index, uint32_t at)
{
    old_list_t *list = &index->lists[at];
    for (uint32_t i = 0; i < list->count; i++) {
        old_manager_t *manager = &index->managers[list->entries[i].manager];
        manager->free_slots[manager->free_count++] = list->entries[i].instance;
    }
    free(list->entries);
    index->bytes -= list->capacity * sizeof *list->entries;
    erase_slot(index, probe(index, list->entity));
    uint32_t last = --index->list_count;
    if (at == last)
        return;
    index->table[probe(index, index->lists[last].entity)] = at + 1;
    *list = index->lists[last];
}

void old_index_collect(old_index_t *index)
{
    uint32_t alive_in_row = 0;
    while (index->list_count > 0 && alive_in_row < 4) {
        uint32_t at = bp_random_below(&index->random, index->list_count);
        if (is_alive(index, index->lists[at].entity)) {
            alive_in_row++;
            continue;
        }
        alive_in_row = 0;
        drop_list(index, at);
    }
}
