/* bp_slots.h - storage of its own for a component, without writing what all such storages share.
 *
 * A manager with storage of its own (bp_storage_i) numbers its instances from 0 without gaps. This header keeps the
 * arrays that are indexed by those slots: it lets them grow together, ends instances by swap-erase, collects those of
 * the dead, brings instances into another order, and tells the world which instances have moved. The plugin decides
 * what an instance holds: it names the size of an item of each of its columns and reads and writes them as plain
 * arrays.
 *
 *     enum { TEXT = BP_SLOTS_FIRST, WIDTH, COLUMNS_END };
 *     static const uint32_t sizes[] = {sizeof(uint64_t), sizeof(float)};
 *     ...
 *     bp_slots_init(slots, sizes, COLUMNS_END - BP_SLOTS_FIRST);              in `start`
 *     result = bp_slots_reserve(m, slots, instance, count);                   in `create`; then
 *     first = bp_slots_append(slots, instance, entities, count, new_slots);   and fill own columns from first on
 *     BP_SLOTS(float, slots, WIDTH)[slot] = 2;                                anywhere
 *     bp_slots_destroy(m, slots, ended_slots, count, NULL);                   in `destroy`
 *     bp_slots_collect(m, slots, random, NULL);                               in `gc`
 *     bp_slots_free(m, slots);                                                in `stop`
 *
 * Each column is a block of memory of its own, so that large ones grow by remapping instead of copying. The name
 * that an instance bears in its entity is the same for all in most worlds; a column for names exists only from
 * the first instance on that has another one.
 *
 * All functions are [main] and need a manager that is at work, for its memory and for its world.
 *
 * What this header does not do: it is no part of the boundary between host and plugin. The header is compiled into
 * the plugin, the host knows nothing of it, and a later version may change it.
 */
#ifndef BP_SLOTS_H
#define BP_SLOTS_H

#include "../bp_api.h"
#include "../bp_plugin.h"

#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BP_SLOTS_COLUMNS = 20, /* most columns, including the two of this header: */
    BP_SLOTS_ENTITY = 0,   /* bp_entity_t: the entity that has the instance */
    BP_SLOTS_NAME = 1,     /* bp_name_t of the component in its entity; see bp_slots_name */
    BP_SLOTS_FIRST = 2     /* the plugin's own columns begin here */
};

enum {
    BP_SLOTS_FIRST_ROOM = 16,
    BP_SLOTS_MOVED = 64,          /* moves told to the world in one batch */
    BP_SLOTS_LIVING_IN_A_ROW = 4, /* random collecting ends after so many living instances in a row, */
    BP_SLOTS_LUCK = 64,           /* or after so many dead ones */
    BP_SLOTS_SWEEP_BLOCK = 64,    /* slots looked at together in a sweep */
    BP_SLOTS_SWEEP = 1024,        /* slots swept in a collection while a sweep is under way, ... */
    BP_SLOTS_SWEEP_SHARE = 96,    /* ... and one in so many of all slots beside */
    BP_SLOTS_STEADY_SHARE = 4,    /* most slots swept beside where instances come steadily: one in so many */
    BP_SLOTS_FEW_SHARE = 256,     /* a sweep that found fewer dead than one in so many is not followed by another */
    BP_SLOTS_RATES = 4,           /* instances come steadily where some came before each of so many collections */
    BP_SLOTS_ROOMY = 100,         /* memory is given back after so many collections with less than half of it needed, */
    BP_SLOTS_TRIM_SHARE = 64      /* one slot in so many at a time */
};

/* The largest number of instances: BP_NONE is no slot. */
#define BP_SLOTS_MAX (UINT32_MAX - 1)

typedef struct bp_slots_column_t {
    void *data;
    uint32_t item_size; /* 0: the column is not in use */
    uint32_t room;      /* items that fit */
} bp_slots_column_t;

/* Slots 0 to count - 1 are in use. */
typedef struct bp_slots_t {
    uint32_t count;
    uint32_t capacity;     /* instances for which every column in use has room */
    uint32_t column_count;
    uint32_t sweep;        /* where the next sweep goes on, downwards */
    uint32_t left;         /* slots that are to be swept before it may end */
    uint32_t found;        /* dead that the sweep has found so far */
    uint32_t roomy;        /* collections since which less than half of the capacity has been needed */
    uint32_t came[BP_SLOTS_RATES]; /* instances since the last collections, the latest first */
    uint32_t padding;
    bp_name_t name;        /* of all instances, while the column for names is not in use */
    bp_slots_column_t columns[BP_SLOTS_COLUMNS];
} bp_slots_t;

/* A column as an array of `type`. Good until instances are created or ended, or a column is taken into use. */
#define BP_SLOTS(type, slots, column) ((type *)(slots)->columns[(column)].data)

/* What a plugin wants to do when instances end and move; either may be NULL. */
typedef struct bp_slots_hooks_t {
    /* The instance in `slot` ends; its columns are still there. Must not create or end others. */
    void (*ended)(bp_manager_t *m, uint32_t slot);
    /* What was in slot `from`, the last one, now lies in slot `to`; columns are copied, and `from` is no slot
     * any more. Here the plugin mends what refers to it by its slot. */
    void (*moved)(bp_manager_t *m, uint32_t from, uint32_t to);
} bp_slots_hooks_t;

/* --- begin and end ---------------------------------------------------------------------------------- */

/* Empty slots. `item_sizes` are those of the plugin's own columns; 0 for a column to be taken into use later
 * (bp_slots_use). Takes no memory. */
static inline void bp_slots_init(bp_slots_t *slots, const uint32_t *item_sizes, uint32_t count)
{
    memset(slots, 0, sizeof *slots);
    slots->column_count = BP_SLOTS_FIRST + count;
    slots->columns[BP_SLOTS_ENTITY].item_size = (uint32_t)sizeof(bp_entity_t);
    for (uint32_t i = 0; i < count && BP_SLOTS_FIRST + i < BP_SLOTS_COLUMNS; i++)
        slots->columns[BP_SLOTS_FIRST + i].item_size = item_sizes[i];
}

/* Give back all memory. What instances hold besides is for the plugin to release before. */
static inline void bp_slots_free(bp_manager_t *m, bp_slots_t *slots)
{
    for (uint32_t i = 0; i < slots->column_count; i++) {
        bp_slots_column_t *column = &slots->columns[i];
        size_t size = (size_t)column->room * column->item_size;
        if (size > 0)
            m->api->memory->resize(m->plugin, column->data, size, 0);
        column->data = NULL;
        column->room = 0;
    }
    slots->count = slots->capacity = slots->left = slots->roomy = 0;
}

/* --- room ------------------------------------------------------------------------------------------- */

/* Leave the error `code` with a sentence that begins with the plugin's name. */
static inline bp_result_t bp_slots_refuse(bp_manager_t *m, bp_result_t code, const char *why)
{
    char sentence[320];
    snprintf(sentence, sizeof sentence, "%.60s: %.240s", m->plugin->name, why);
    return m->api->error->set(m->host, code, sentence);
}

/* Let one column have room for `room` items. False when out of memory; it is then as it was. */
static inline int32_t bp_slots_widen(bp_manager_t *m, bp_slots_column_t *column, uint32_t room)
{
    if (column->item_size == 0 || room <= column->room)
        return 1;
    size_t old_size = (size_t)column->room * column->item_size;
    void *data = m->api->memory->resize(m->plugin, column->data, old_size, (size_t)room * column->item_size);
    if (data == NULL)
        return 0;
    column->data = data;
    column->room = room;
    return 1;
}

/* Take a column into use that was left out so far. Its items are not set. BP_ERROR_MEMORY leaves it out. */
static inline bp_result_t bp_slots_use(bp_manager_t *m, bp_slots_t *slots, uint32_t column, uint32_t item_size)
{
    bp_slots_column_t *c = &slots->columns[column];
    if (c->item_size != 0)
        return BP_OK;
    c->item_size = item_size;
    if (bp_slots_widen(m, c, slots->capacity))
        return BP_OK;
    c->item_size = 0;
    return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory for more of each instance");
}

/* The name that the instance in `slot` has in its entity. */
static inline bp_name_t bp_slots_name(const bp_slots_t *slots, uint32_t slot)
{
    return slots->columns[BP_SLOTS_NAME].item_size == 0 ? slots->name : BP_SLOTS(bp_name_t, slots, BP_SLOTS_NAME)[slot];
}

/* Be able to hold `instance` as a name. */
static inline bp_result_t bp_slots_admit_name(bp_manager_t *m, bp_slots_t *slots, bp_name_t instance)
{
    if (slots->columns[BP_SLOTS_NAME].item_size != 0 || (slots->count > 0 && slots->name == instance))
        return BP_OK;
    if (slots->count == 0) {
        slots->name = instance;
        return BP_OK;
    }
    bp_result_t result = bp_slots_use(m, slots, BP_SLOTS_NAME, (uint32_t)sizeof(bp_name_t));
    bp_name_t *names = BP_SLOTS(bp_name_t, slots, BP_SLOTS_NAME);
    for (uint32_t i = 0; result == BP_OK && i < slots->count; i++)
        names[i] = slots->name;
    return result;
}

/* Room for `more` instances named `instance` beside those there are. BP_ERROR_MEMORY, BP_ERROR_LIMIT: there are
 * as many as before, and nothing that can be seen has changed. */
static inline bp_result_t bp_slots_reserve(bp_manager_t *m, bp_slots_t *slots, bp_name_t instance, uint32_t more)
{
    if (more > BP_SLOTS_MAX - slots->count)
        return bp_slots_refuse(m, BP_ERROR_LIMIT, "more than 4294967294 instances");
    uint64_t needed = (uint64_t)slots->count + more;
    uint64_t capacity = slots->capacity == 0 ? (uint32_t)BP_SLOTS_FIRST_ROOM : slots->capacity;
    while (capacity < needed)
        capacity *= 2;
    if (capacity > BP_SLOTS_MAX)
        capacity = BP_SLOTS_MAX;
    for (uint32_t i = 0; needed > slots->capacity && i < slots->column_count; i++) {
        if (!bp_slots_widen(m, &slots->columns[i], (uint32_t)capacity))
            return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory for more instances");
    }
    if (needed > slots->capacity)
        slots->capacity = (uint32_t)capacity;
    return bp_slots_admit_name(m, slots, instance);
}

/* Append `count` instances, for which there must be room, and write their slots. Returns the first one; the rest
 * follows it. The plugin's own columns are not set. */
static inline uint32_t bp_slots_append(bp_slots_t *slots, bp_name_t instance, const bp_entity_t *entities,
                                       uint32_t count, uint32_t *new_slots)
{
    uint32_t first = slots->count;
    bp_name_t *names = BP_SLOTS(bp_name_t, slots, BP_SLOTS_NAME);
    if (count > 0)
        memcpy(BP_SLOTS(bp_entity_t, slots, BP_SLOTS_ENTITY) + first, entities, count * sizeof *entities);
    for (uint32_t i = 0; slots->columns[BP_SLOTS_NAME].item_size != 0 && i < count; i++)
        names[first + i] = instance;
    for (uint32_t i = 0; i < count; i++)
        new_slots[i] = first + i;
    slots->count += count;
    slots->came[0] += count;
    return first;
}

/* Give some memory back where less than half of it is needed. Columns that cannot shrink keep what they have. */
static inline void bp_slots_trim(bp_manager_t *m, bp_slots_t *slots)
{
    uint32_t needed = slots->count + slots->count / 4 + BP_SLOTS_FIRST_ROOM,
             fewer = slots->capacity / BP_SLOTS_TRIM_SHARE + BP_SLOTS_SWEEP;
    if (slots->count >= slots->capacity / 2 || needed >= slots->capacity)
        return;
    uint32_t room = slots->capacity > fewer && slots->capacity - fewer > needed ? slots->capacity - fewer : needed;
    slots->capacity = room;
    for (uint32_t i = 0; i < slots->column_count; i++) {
        bp_slots_column_t *c = &slots->columns[i];
        if (c->item_size == 0 || c->room <= room)
            continue;
        void *data =
            m->api->memory->resize(m->plugin, c->data, (size_t)c->room * c->item_size, (size_t)room * c->item_size);
        if (data == NULL)
            continue;
        c->data = data;
        c->room = room;
    }
}

/* --- telling the world ------------------------------------------------------------------------------ */

/* Slots that other instances have moved into, not yet told to the world. Which instance lies in a slot is read when it
 * is told, so that an instance that moves twice is told right. Set count to 0 at first. */
typedef struct bp_slots_moved_t {
    uint32_t count;
    uint32_t slots[BP_SLOTS_MOVED];
} bp_slots_moved_t;

/* Tell the world which instances now lie in the slots noted. */
static inline void bp_slots_tell(bp_manager_t *m, const bp_slots_t *slots, bp_slots_moved_t *moved)
{
    bp_entity_t entities[BP_SLOTS_MOVED];
    bp_name_t names[BP_SLOTS_MOVED];
    uint32_t now[BP_SLOTS_MOVED], count = 0;
    for (uint32_t i = 0; i < moved->count; i++) {
        uint32_t slot = moved->slots[i];
        if (slot >= slots->count)
            continue; /* it moved on, and that was noted too */
        entities[count] = BP_SLOTS(const bp_entity_t, slots, BP_SLOTS_ENTITY)[slot];
        names[count] = bp_slots_name(slots, slot);
        now[count++] = slot;
    }
    if (count > 0)
        m->api->world->instances_moved(m, entities, names, now, count);
    moved->count = 0;
}

static inline void bp_slots_note(bp_manager_t *m, const bp_slots_t *slots, bp_slots_moved_t *moved, uint32_t slot)
{
    moved->slots[moved->count++] = slot;
    if (moved->count == BP_SLOTS_MOVED)
        bp_slots_tell(m, slots, moved);
}

/* --- ending ----------------------------------------------------------------------------------------- */

/* Copy one item; the usual sizes without a call. */
static inline void bp_slots_copy(char *to, const char *from, uint32_t size)
{
    switch (size) {
    case 1: *to = *from; break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    case 12: memcpy(to, from, 12); break;
    case 16: memcpy(to, from, 16); break;
    case 40: memcpy(to, from, 40); break;
    case 64: memcpy(to, from, 64); break;
    default: memcpy(to, from, size); break;
    }
}

/* End the instance in `slot`: the last one takes its place. */
static inline void bp_slots_end(bp_manager_t *m, bp_slots_t *slots, uint32_t slot, const bp_slots_hooks_t *hooks,
                                bp_slots_moved_t *moved)
{
    if (hooks != NULL && hooks->ended != NULL)
        hooks->ended(m, slot);
    uint32_t last = --slots->count;
    if (slot == last)
        return;
    for (uint32_t i = 0; i < slots->column_count; i++) {
        const bp_slots_column_t *c = &slots->columns[i];
        if (c->item_size != 0)
            bp_slots_copy((char *)c->data + (size_t)slot * c->item_size,
                          (const char *)c->data + (size_t)last * c->item_size, c->item_size);
    }
    if (hooks != NULL && hooks->moved != NULL)
        hooks->moved(m, last, slot);
    bp_slots_note(m, slots, moved, slot);
}

/* End the instances in `ended`, which are in descending order and without duplicates, as bp_component_i.destroy
 * gets them. */
static inline void bp_slots_destroy(bp_manager_t *m, bp_slots_t *slots, const uint32_t *ended, uint32_t count,
                                    const bp_slots_hooks_t *hooks)
{
    bp_slots_moved_t moved;
    moved.count = 0;
    for (uint32_t i = 0; i < count; i++)
        bp_slots_end(m, slots, ended[i], hooks, &moved);
    bp_slots_tell(m, slots, &moved);
    if (slots->count < slots->capacity / 4)
        bp_slots_trim(m, slots);
}

/* End the instances of the dead in a block of slots just below `end`. Returns how many. */
static inline uint32_t bp_slots_sweep_block(bp_manager_t *m, bp_slots_t *slots, uint32_t end, uint32_t size,
                                            const bp_slots_hooks_t *hooks, bp_slots_moved_t *moved)
{
    uint8_t alive[BP_SLOTS_SWEEP_BLOCK];
    uint32_t ended = 0;
    const bp_entity_t *entities = BP_SLOTS(const bp_entity_t, slots, BP_SLOTS_ENTITY) + (end - size);
    if (m->api->entity->alive(m->host, entities, size, alive) == size)
        return 0;
    for (uint32_t i = size; i-- > 0;) {
        if (!alive[i]) {
            bp_slots_end(m, slots, end - size + i, hooks, moved);
            ended++;
        }
    }
    return ended;
}

/* Sweep `most` slots, going on downwards where the last sweep ended, until `enough` of the dead have been found.
 * Returns how many were ended. */
static inline uint32_t bp_slots_sweep(bp_manager_t *m, bp_slots_t *slots, uint32_t most, uint32_t enough,
                                      const bp_slots_hooks_t *hooks, bp_slots_moved_t *moved)
{
    uint32_t swept = 0, ended = 0;
    while (swept < most && ended < enough && slots->count > 0) {
        uint32_t end = slots->sweep == 0 || slots->sweep > slots->count ? slots->count : slots->sweep;
        uint32_t size = end < BP_SLOTS_SWEEP_BLOCK ? end : (uint32_t)BP_SLOTS_SWEEP_BLOCK;
        ended += bp_slots_sweep_block(m, slots, end, size, hooks, moved);
        slots->sweep = end - size;
        swept += size;
    }
    slots->left -= swept < slots->left ? swept : slots->left;
    slots->found += ended;
    return ended;
}

/* The least number of instances that came before any of the last BP_SLOTS_RATES collections. */
static inline uint32_t bp_slots_rate(bp_slots_t *slots)
{
    uint32_t least = slots->came[0];
    for (uint32_t i = BP_SLOTS_RATES - 1; i > 0; i--) {
        least = slots->came[i] < least ? slots->came[i] : least;
        slots->came[i] = slots->came[i - 1];
    }
    slots->came[0] = 0;
    return least;
}

/* Collect instances of dead entities: random ones, until four living in a row. Where that finds any, a sweep of all
 * slots begins, some in each collection; where it has found many dead, another one follows. Where instances have come
 * steadily and fewer have ended in this collection, further slots are swept until as many have ended as came. The work
 * is measured in slots and not in time, so that it is the same in every run of a program. Returns how many were ended.
 */
static inline uint32_t bp_slots_collect(bp_manager_t *m, bp_slots_t *slots, uint64_t *random,
                                        const bp_slots_hooks_t *hooks)
{
    bp_slots_moved_t moved;
    uint32_t ended = 0, living = 0, rate = bp_slots_rate(slots);
    moved.count = 0;
    while (slots->count > 0 && living < BP_SLOTS_LIVING_IN_A_ROW && ended < BP_SLOTS_LUCK) {
        uint32_t slot = bp_random_below(random, slots->count);
        const bp_entity_t *entity = BP_SLOTS(const bp_entity_t, slots, BP_SLOTS_ENTITY) + slot;
        if (m->api->entity->alive(m->host, entity, 1, NULL) == 1) {
            living++;
            continue;
        }
        living = 0;
        bp_slots_end(m, slots, slot, hooks, &moved);
        ended++;
    }
    if (slots->left == 0 && (ended > 0 || slots->found > slots->count / BP_SLOTS_FEW_SHARE)) {
        slots->left = slots->count;
        slots->found = 0;
    }
    if (slots->left > 0)
        ended +=
            bp_slots_sweep(m, slots, slots->count / BP_SLOTS_SWEEP_SHARE + BP_SLOTS_SWEEP, UINT32_MAX, hooks, &moved);
    if (ended < rate)
        ended += bp_slots_sweep(m, slots, slots->count / BP_SLOTS_STEADY_SHARE + BP_SLOTS_SWEEP, rate - ended, hooks,
                                &moved);
    bp_slots_tell(m, slots, &moved);
    slots->roomy = slots->count < slots->capacity / 2 ? slots->roomy + 1 : 0;
    if (slots->roomy > BP_SLOTS_ROOMY)
        bp_slots_trim(m, slots);
    return ended;
}

/* --- another order ---------------------------------------------------------------------------------- */

/* Bring the slots from `first` to `end` - 1 into another order: slot i gets what lies in slot order[i], for
 * every i from `first` on; all of order[first] to order[end - 1] lie in that range, each once. The world is told.
 * What refers to others by slots is for the plugin to mend. BP_ERROR_MEMORY: nothing has changed. */
static inline bp_result_t bp_slots_arrange(bp_manager_t *m, bp_slots_t *slots, const uint32_t *order, uint32_t first,
                                           uint32_t end)
{
    bp_slots_moved_t moved;
    size_t largest = 0;
    for (uint32_t i = 0; i < slots->column_count; i++)
        largest = slots->columns[i].item_size > largest ? slots->columns[i].item_size : largest;
    if (first >= end)
        return BP_OK;
    size_t size = largest * (end - first);
    char *copy = (char *)m->api->memory->resize(m->plugin, NULL, 0, size);
    if (copy == NULL)
        return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory for another order");
    for (uint32_t i = 0; i < slots->column_count; i++) {
        const bp_slots_column_t *c = &slots->columns[i];
        uint32_t item = c->item_size;
        for (uint32_t k = first; item != 0 && k < end; k++)
            bp_slots_copy(copy + (size_t)(k - first) * item, (const char *)c->data + (size_t)order[k] * item, item);
        if (item != 0)
            memcpy((char *)c->data + (size_t)first * item, copy, (size_t)(end - first) * item);
    }
    m->api->memory->resize(m->plugin, copy, size, 0);
    moved.count = 0;
    for (uint32_t k = first; k < end; k++) {
        if (order[k] != k)
            bp_slots_note(m, slots, &moved, k);
    }
    bp_slots_tell(m, slots, &moved);
    return BP_OK;
}

/* --- finding ---------------------------------------------------------------------------------------- */

/* The slot of one entity, under whatever name it bears this component; BP_NONE where it lacks it. */
static inline uint32_t bp_slots_search(bp_manager_t *m, bp_entity_t entity)
{
    enum { AT_ONCE = 64 };
    const bp_world_api *world = m->api->world;
    uint32_t few[AT_ONCE], *keys = few, slot = BP_NONE, component = BP_NONE;
    uint32_t count = world->keys_of(m->world, entity, few, AT_ONCE);
    size_t size = count * sizeof *keys;
    if (count > AT_ONCE)
        keys = (uint32_t *)m->api->memory->resize(m->plugin, NULL, 0, size);
    if (keys == NULL)
        return BP_NONE;
    if (keys != few)
        world->keys_of(m->world, entity, keys, count);
    for (uint32_t i = 0; i < count && slot == BP_NONE; i++) {
        bp_name_t name;
        if (world->key_info(m->world, keys[i], &component, &name) == BP_OK && component == m->component)
            world->slots(m->world, keys[i], &entity, 1, &slot);
    }
    if (keys != few)
        m->api->memory->resize(m->plugin, keys, size, 0);
    return slot;
}

/* The slots of entities that have at most one instance of this component each (BP_COMPONENT_SINGLE), under
 * whatever name; BP_NONE where an entity lacks it or is dead. Returns how many have it. */
static inline uint32_t bp_slots_find(bp_manager_t *m, const bp_slots_t *slots, const bp_entity_t *entities,
                                     uint32_t count, uint32_t *found)
{
    uint32_t key, having = 0;
    if (slots->count > 0 && m->api->world->key(m->world, m->component, slots->name, &key) == BP_OK)
        having = m->api->world->slots(m->world, key, entities, count, found);
    else
        memset(found, 0xff, count * sizeof *found);
    for (uint32_t i = 0; slots->columns[BP_SLOTS_NAME].item_size != 0 && i < count; i++) {
        if (found[i] == BP_NONE)
            found[i] = bp_slots_search(m, entities[i]);
        else
            continue;
        having += found[i] != BP_NONE;
    }
    return having;
}

/* --- as one block ----------------------------------------------------------------------------------- */

/* Slots written to a block and read back, exactly: what "bp_save" with BP_KEEP_SAVED needs of them. `columns` has a bit
 * for each column that goes along where it is in use; others are left out of use by reading. */
typedef struct bp_slots_saved_t {
    uint32_t count, columns, sweep, left, found, padding;
    uint32_t came[BP_SLOTS_RATES];
    bp_name_t name;
} bp_slots_saved_t;

static inline uint32_t bp_slots_saved_columns(const bp_slots_t *slots, uint32_t columns)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < slots->column_count && i < BP_SLOTS_COLUMNS; i++)
        used |= (uint32_t)(slots->columns[i].item_size != 0) << i;
    return used & columns;
}

/* Bytes that bp_slots_write writes. */
static inline size_t bp_slots_written(const bp_slots_t *slots, uint32_t columns)
{
    size_t row = 0;
    columns = bp_slots_saved_columns(slots, columns);
    for (uint32_t i = 0; i < slots->column_count; i++)
        row += (columns >> i & 1) != 0 ? slots->columns[i].item_size : 0;
    return sizeof(bp_slots_saved_t) + row * slots->count;
}

/* Returns the end of what was written. */
static inline char *bp_slots_write(const bp_slots_t *slots, uint32_t columns, char *to)
{
    bp_slots_saved_t head;
    memset(&head, 0, sizeof head);
    head.count = slots->count;
    head.columns = bp_slots_saved_columns(slots, columns);
    head.sweep = slots->sweep;
    head.left = slots->left;
    head.found = slots->found;
    memcpy(head.came, slots->came, sizeof head.came);
    head.name = slots->name;
    memcpy(to, &head, sizeof head);
    to += sizeof head;
    for (uint32_t i = 0; i < slots->column_count; i++) {
        size_t size = (head.columns >> i & 1) != 0 ? (size_t)head.count * slots->columns[i].item_size : 0;
        if (size > 0)
            memcpy(to, slots->columns[i].data, size);
        to += size;
    }
    return to;
}

/* Into slots just initialised; `item_sizes` are those of all columns, this header's two among them. What is in use and
 * goes along must be in the block. Returns the end of what was read, NULL where it is no such block (BP_ERROR_FAILED)
 * or memory is lacking; the error says so. */
static inline const char *bp_slots_read(bp_manager_t *m, bp_slots_t *slots, uint32_t columns,
                                        const uint32_t *item_sizes, const char *from, const char *end)
{
    bp_slots_saved_t head;
    size_t row = 0;
    if ((size_t)(end - from) >= sizeof head)
        memcpy(&head, from, sizeof head);
    else
        memset(&head, 0xff, sizeof head);
    for (uint32_t i = 0; i < slots->column_count; i++)
        row += (head.columns >> i & 1) != 0 ? item_sizes[i] : 0;
    if ((head.columns & ~columns) != 0 || (bp_slots_saved_columns(slots, columns) & ~head.columns) != 0 ||
        (uint64_t)row * head.count > (uint64_t)(end - from) - sizeof head) {
        bp_slots_refuse(m, BP_ERROR_FAILED, "what was saved of the instances is damaged");
        return NULL;
    }
    for (uint32_t i = 0; i < slots->column_count; i++) {
        if ((head.columns >> i & 1) != 0 && bp_slots_use(m, slots, i, item_sizes[i]) != BP_OK)
            return NULL;
    }
    if (head.count > 0 && bp_slots_reserve(m, slots, head.name, head.count) != BP_OK)
        return NULL;
    from += sizeof head;
    for (uint32_t i = 0; i < slots->column_count; i++) {
        size_t size = (head.columns >> i & 1) != 0 ? (size_t)head.count * item_sizes[i] : 0;
        if (size > 0)
            memcpy(slots->columns[i].data, from, size);
        from += size;
    }
    slots->count = head.count;
    slots->sweep = head.sweep;
    slots->left = head.left;
    slots->found = head.found;
    memcpy(slots->came, head.came, sizeof head.came);
    slots->name = head.name;
    return from;
}

#ifdef __cplusplus
}
#endif
#endif
