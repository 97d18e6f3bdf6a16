/* journal.c - calls as bytes: a word for the kind, then the arguments of the call.
 *
 * Values of a property lie as in a column, but for texts, which lie in full, and lists, which are a count and their
 * items. When the call is made again, texts and items are read where they lie.
 */
#include "journal.h"

#include "numbers.h"
#include "outside.h"

#include "../property/path.h"
#include "../scene/spawn.h"

#include <stdio.h>

enum {
    CALL_ENTITIES = 1,
    CALL_DESTROY,
    CALL_KEY,
    CALL_PROTOTYPE,
    CALL_CREATE,
    CALL_ADD,
    CALL_REMOVE,
    CALL_CLOCK,
    CALL_SET,
    CALL_SET_TEXT,
    CALL_SPAWN,
    CALL_DESPAWN,
    CALL_RELEASE,
    CALL_INPUTS
};

enum { CALL_ALIGN = 16 };

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* Begin a call; returns where its length is to be written. */
static size_t begin(bytes_t *bytes, uint32_t kind, const bp_world_o *world)
{
    uint32_t number = 0;
    while (world != NULL && world->schedule->destruction->worlds[number] != &world->rows)
        number++;
    bytes_u32(bytes, kind);
    bytes_u32(bytes, number);
    bytes_u64(bytes, 0);
    return bytes->size - sizeof(uint64_t);
}

static void end(bytes_t *bytes, size_t begun)
{
    bytes_align(bytes, CALL_ALIGN);
    uint64_t length = bytes->size - begun - sizeof(uint64_t);
    if (!bytes->failed)
        memcpy((char *)bytes->start + begun, &length, sizeof length);
}

static void put_array(bytes_t *bytes, const void *items, uint32_t count, size_t size)
{
    bytes_u32(bytes, count);
    bytes_align(bytes, CALL_ALIGN);
    bytes_put(bytes, items, count * size);
}

/* A text that is NULL cannot be written. */
static void put_text(bytes_t *bytes, const char *text)
{
    if (text == NULL)
        bytes->failed = true;
    else
        bytes_text(bytes, text);
}

void journal_create_entities(bytes_t *bytes, uint32_t count)
{
    size_t begun = begin(bytes, CALL_ENTITIES, NULL);
    bytes_u32(bytes, count);
    end(bytes, begun);
}

void journal_destroy(bytes_t *bytes, const bp_entity_t *entities, uint32_t count)
{
    size_t begun = begin(bytes, CALL_DESTROY, NULL);
    put_array(bytes, entities, count, sizeof *entities);
    end(bytes, begun);
}

void journal_key(bytes_t *bytes, bp_world_o *world, uint32_t component, bp_name_t name)
{
    size_t begun = begin(bytes, CALL_KEY, world);
    bytes_u32(bytes, component);
    put_text(bytes, name == 0 ? "" : names_text(&world->rows.base->names, name));
    end(bytes, begun);
}

void journal_prototype(bytes_t *bytes, bp_world_o *world, const uint32_t *keys, uint32_t count)
{
    size_t begun = begin(bytes, CALL_PROTOTYPE, world);
    put_array(bytes, keys, count, sizeof *keys);
    end(bytes, begun);
}

void journal_create(bytes_t *bytes, bp_world_o *world, uint32_t prototype, uint32_t count)
{
    size_t begun = begin(bytes, CALL_CREATE, world);
    bytes_u32(bytes, prototype);
    bytes_u32(bytes, count);
    end(bytes, begun);
}

static void put_change(bytes_t *bytes, uint32_t kind, bp_world_o *world, uint32_t key, const bp_entity_t *entities,
                       uint32_t count)
{
    size_t begun = begin(bytes, kind, world);
    bytes_u32(bytes, key);
    put_array(bytes, entities, count, sizeof *entities);
    end(bytes, begun);
}

void journal_add(bytes_t *bytes, bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    put_change(bytes, CALL_ADD, world, key, entities, count);
}

void journal_remove(bytes_t *bytes, bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    put_change(bytes, CALL_REMOVE, world, key, entities, count);
}

void journal_clock(bytes_t *bytes, bp_world_o *world)
{
    size_t begun = begin(bytes, CALL_CLOCK, world);
    bytes_u32(bytes, world->clock.stopped);
    bytes_u64(bytes, world->clock.granted);
    bytes_put(bytes, &world->clock.speed, sizeof world->clock.speed);
    end(bytes, begun);
}

/* Is a value of this property a list, of which texts? */
static bool is_list(const bp_property_t *property)
{
    return property->element == BP_NONE && field_is_list(property_field(property));
}

static void put_items(bytes_t *bytes, uint32_t type, uint32_t count, const char *items)
{
    if (type != BP_STRING) {
        put_array(bytes, items, count, value_size(type));
        return;
    }
    bytes_u32(bytes, count);
    for (uint32_t i = 0; i < count; i++) {
        const char *text;
        memcpy(&text, items + i * sizeof text, sizeof text);
        put_text(bytes, text);
    }
}

static void put_value(bytes_t *bytes, const bp_property_t *property, const char *value)
{
    bp_list_t list;
    if (!is_list(property)) {
        put_items(bytes, property->type, property->size / value_size(property->type), value);
        return;
    }
    memcpy(&list, value, sizeof list);
    put_items(bytes, property->type, list.count, list.items);
}

/* Count the texts of all lists. When the call is made again, these texts need an array of addresses. */
static uint64_t count_list_texts(const bp_property_t *property, uint32_t count, const char *values, size_t stride)
{
    uint64_t texts = 0;
    for (uint32_t i = 0; i < count && property->type == BP_STRING && is_list(property); i++) {
        bp_list_t list;
        memcpy(&list, values + i * stride, sizeof list);
        texts += list.count;
    }
    return texts;
}

static void put_property(bytes_t *bytes, const world_t *world, const bp_property_t *property)
{
    put_text(bytes, names_text(&world->base->names, world->prototypes.keys[property->key].name));
    put_text(bytes, property_field(property)->name);
    bytes_u32(bytes, property->element);
    bytes_u32(bytes, property->type);
}

void journal_set(bytes_t *bytes, bp_world_o *world, bp_property_t *property, const bp_entity_t *entities,
                 uint32_t count, const void *values, size_t stride)
{
    if (count == 0 || property_refresh(&world->rows, property) != BP_OK)
        return;
    size_t begun = begin(bytes, CALL_SET, world);
    put_property(bytes, &world->rows, property);
    bytes_u64(bytes, count_list_texts(property, count, values, stride));
    put_array(bytes, entities, count, sizeof *entities);
    for (uint32_t i = 0; i < count && !bytes->failed; i++)
        put_value(bytes, property, (const char *)values + i * stride);
    end(bytes, begun);
}

void journal_set_named(bytes_t *bytes, bp_world_o *world, bp_entity_t entity, const char *component,
                       const char *property, uint32_t type, const void *value)
{
    bp_property_t resolved;
    if (property_resolve(&world->rows, entity, component, property, &resolved) == BP_OK && resolved.type == type)
        journal_set(bytes, world, &resolved, &entity, 1, value, resolved.size);
}

void journal_set_text(bytes_t *bytes, const bp_path_t *path, const char *text)
{
    bp_property_t property = path->property;
    if (property_refresh(&path->world->rows, &property) != BP_OK)
        return;
    size_t begun = begin(bytes, CALL_SET_TEXT, path->world);
    put_property(bytes, &path->world->rows, &property);
    bytes_u64(bytes, path->entity.id);
    put_text(bytes, text);
    end(bytes, begun);
}

void journal_spawn(bytes_t *bytes, const bp_scene_o *scene, bp_world_o *world, uint32_t flags, uint32_t list)
{
    size_t begun = begin(bytes, CALL_SPAWN, world);
    bytes_u32(bytes, flags);
    bytes_u32(bytes, list);
    bytes_text(bytes, scene->origin);
    bytes_u64(bytes, scene->blob.size);
    bytes_align(bytes, CALL_ALIGN);
    bytes_put(bytes, scene->blob.bytes, scene->blob.size);
    end(bytes, begun);
}

void journal_despawn(bytes_t *bytes, bp_spawn_t spawn)
{
    size_t begun = begin(bytes, CALL_DESPAWN, NULL);
    bytes_u64(bytes, spawn.id);
    end(bytes, begun);
}

void journal_release(bytes_t *bytes, bp_spawn_t spawn)
{
    size_t begun = begin(bytes, CALL_RELEASE, NULL);
    bytes_u64(bytes, spawn.id);
    end(bytes, begun);
}

void journal_inputs(bytes_t *bytes, const bytes_t *inputs)
{
    size_t begun = begin(bytes, CALL_INPUTS, NULL);
    bytes_u64(bytes, inputs->size);
    bytes_align(bytes, CALL_ALIGN);
    bytes_put(bytes, inputs->start, inputs->size);
    end(bytes, begun);
}

/* --- calls shared by engine and journal
   ------------------------------------------------------------------------------ */

bp_result_t journal_spawn_scene(scenes_t *scenes, const bp_scene_o *scene, world_t *world, uint32_t flags,
                                uint32_t list, bp_entity_t *entities, bp_spawn_t *spawn)
{
    uint32_t count = scene->blob.info->entity_count;
    bp_entity_t *made = entities;
    bp_spawn_t handle = {0};
    bp_result_t result = list == JOURNAL_UNLISTED ? BP_OK : scenes_new_spawn(scenes, count, &made, &handle);
    if (result == BP_OK) {
        result = spawn_blob(world, &scene->blob, scene->origin, flags, made);
        if (result != BP_OK && list != JOURNAL_UNLISTED)
            scenes_release(scenes, handle);
    }
    if (result != BP_OK)
        return result;
    if (entities != NULL && made != entities)
        memcpy(entities, made, count * sizeof *entities);
    if (list == JOURNAL_RELEASED)
        scenes_release(scenes, handle);
    else
        *spawn = handle;
    return BP_OK;
}

uint32_t journal_despawn_list(scenes_t *scenes, destruction_t *destruction, bp_spawn_t spawn)
{
    uint32_t count = 0; /* taken first: callbacks for the deaths may despawn too */
    bp_entity_t *entities = scenes_take(scenes, spawn, &count);
    uint32_t died = entities == NULL ? 0 : destruction_destroy(destruction, entities, count);
    scenes_free_list(scenes, entities, count);
    return died;
}

/* --- making again ------------------------------------------------------------------------------------------------- */

typedef struct making_t {
    const parts_t *parts;
    memory_t *memory;
    reader_t r;
    bp_world_o *world;
    const journal_pass_i *pass; /* what cannot be made is passed over; or NULL */
    const world_t *of;          /* whose numbers the call has; NULL: those of `world` */
} making_t;

static bp_result_t damaged(const making_t *m)
{
    return error_set(&m->parts->base->error, BP_ERROR_SYNTAX, "the journal of calls is damaged");
}

static const void *take_array(making_t *m, uint32_t *count, size_t size)
{
    *count = reader_count(&m->r, size);
    reader_align(&m->r, CALL_ALIGN);
    const void *items = reader_take(&m->r, (uint64_t)*count * size);
    *count = items == NULL ? 0 : *count;
    return items;
}

/* Where calls may be passed over: keep, of entities and of what goes with each (`items`, may be NULL), only those that
 * are alive, and say how many are not. Returns how many are left. */
static uint32_t keep_living(const making_t *m, bp_entity_t *entities, char *items, size_t stride, uint32_t count)
{
    uint32_t living = 0;
    char why[128];
    for (uint32_t i = 0; i < count; i++) {
        if (!entities_is_alive(m->parts->entities, entities[i]))
            continue;
        entities[living] = entities[i];
        if (items != NULL && living != i)
            memcpy(items + living * stride, items + i * stride, stride);
        living++;
    }
    if (living == count)
        return count;
    snprintf(why, sizeof why, "%u of %u entities are not there", count - living, count);
    m->pass->passed(m->pass->context, why);
    return living;
}

/* A number of a call as the world has it. False, with an error, where the world has nothing like it. */
static bool take_number(const making_t *m, uint32_t (*find)(const world_t *of, const world_t *in, uint32_t number),
                        const char *what, uint32_t *number)
{
    uint32_t meant = m->of == NULL ? *number : find(m->of, &m->world->rows, *number);
    if (meant == BP_NONE && find == numbers_key && m->pass->makes_keys)
        meant = numbers_need_key(m->of, &m->world->rows, *number);
    if (meant == BP_NONE)
        error_set(&m->parts->base->error, BP_ERROR_NOT_FOUND, "world '%s' does not have the %s number %u of then",
                  m->world->rows.name, what, *number);
    *number = meant;
    return meant != BP_NONE;
}

/* Change the composition of entities, or end them. */
static bp_result_t make_change(making_t *m, uint32_t kind, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    size_t size = (count + (size_t)1) * sizeof *entities;
    bp_entity_t *own = memory_resize(m->memory, NULL, 0, size);
    if (own == NULL)
        return error_memory(&m->parts->base->error, "making a call again");
    memcpy(own, entities, count * sizeof *own);
    if (m->pass != NULL && kind != CALL_DESTROY) /* destroying a dead entity has no effect, then and now */
        count = keep_living(m, own, NULL, 0, count);
    bp_result_t result = BP_OK;
    if (kind == CALL_DESTROY)
        destruction_destroy(m->parts->destruction, own, count);
    else if (count > 0)
        result = kind == CALL_ADD ? store_add(&m->world->rows, key, own, count)
                                  : store_remove(&m->world->rows, key, own, count);
    memory_free(m->memory, own, size);
    return result;
}

/* Create `count` entities. Their ids are not needed, so the memory for them is given back at once. */
static bp_result_t create(making_t *m, uint32_t prototype, uint32_t count)
{
    size_t size = (count + (size_t)1) * sizeof(bp_entity_t);
    bp_entity_t *entities = memory_resize(m->memory, NULL, 0, size);
    if (entities == NULL)
        return error_memory(&m->parts->base->error, "making a call again");
    bp_result_t result = m->world == NULL ? entities_create(m->parts->entities, entities, count)
                                          : store_create(&m->world->rows, prototype, entities, count);
    memory_free(m->memory, entities, size);
    return result;
}

static bp_result_t make_key(making_t *m)
{
    uint32_t component = reader_u32(&m->r), key;
    const char *text = reader_text(&m->r);
    bp_name_t name = 0;
    bp_result_t result = BP_OK;
    if (m->r.failed)
        return damaged(m);
    if (!take_number(m, numbers_component, "component", &component))
        return BP_ERROR_NOT_FOUND;
    if (text[0] != '\0')
        result = names_intern(&m->parts->base->names, text, &name, &m->parts->base->error);
    return result == BP_OK ? world_key(&m->world->rows, component, name, &key) : result;
}

static bp_result_t make_prototype(making_t *m, const uint32_t *keys, uint32_t count)
{
    uint32_t own[PROTOTYPES_MAX_KEYS], made;
    for (uint32_t i = 0; i < count && i < PROTOTYPES_MAX_KEYS; i++) {
        own[i] = keys[i];
        if (!take_number(m, numbers_key, "key", &own[i]))
            return BP_ERROR_NOT_FOUND;
    }
    return store_prototype(&m->world->rows, count <= PROTOTYPES_MAX_KEYS ? own : keys, count, &made);
}

static bp_result_t make_clock(making_t *m)
{
    uint32_t stopped = reader_u32(&m->r);
    uint64_t granted = reader_u64(&m->r);
    const void *taken = reader_take(&m->r, sizeof m->world->clock.speed);
    double speed = 0;
    if (taken != NULL)
        memcpy(&speed, taken, sizeof speed);
    if (!(speed >= SPEED_LEAST && speed <= SPEED_MOST))
        return damaged(m);
    m->world->clock.stopped = stopped != 0;
    m->world->clock.granted = granted;
    m->world->clock.speed = speed;
    return BP_OK;
}

static bp_result_t read_property(making_t *m, const char **component, const char **name, uint32_t *element,
                                 uint32_t *type)
{
    *component = reader_text(&m->r);
    *name = reader_text(&m->r);
    *element = reader_u32(&m->r);
    *type = reader_u32(&m->r);
    return m->r.failed ? damaged(m) : BP_OK;
}

static bp_result_t resolve(making_t *m, bp_entity_t entity, const char *component, const char *name, uint32_t element,
                           uint32_t type, bp_property_t *property)
{
    char whole[NAMES_MAX_LENGTH + 32];
    if (element == BP_NONE)
        snprintf(whole, sizeof whole, "%s", name);
    else
        snprintf(whole, sizeof whole, "%s[%u]", name, element);
    bp_result_t result = property_resolve(&m->world->rows, entity, component, whole, property);
    if (result == BP_OK && property->type != type)
        result = error_set(&m->parts->base->error, BP_ERROR_TYPE, "%s.%s is of another type than when it was set",
                           component, whole);
    return result;
}

/* Items where they lie; of texts an array of addresses, taken from *texts. NULL where there are more texts than room
 * for them. */
static const void *take_items(making_t *m, uint32_t type, uint32_t *count, const char **texts, uint64_t *left)
{
    if (type != BP_STRING)
        return take_array(m, count, value_size(type));
    *count = reader_count(&m->r, sizeof(uint32_t) + 1);
    if (*count > *left)
        return NULL;
    for (uint32_t i = 0; i < *count && !m->r.failed; i++)
        texts[i] = reader_text(&m->r);
    *left -= m->r.failed ? 0 : *count;
    return texts;
}

/* One value, at `value`. False where the bytes are damaged (the reader has failed then), or the property has another
 * number of items by now, or is a list and was none. */
static bool take_value(making_t *m, const bp_property_t *property, char *value, const char ***texts, uint64_t *left)
{
    uint32_t count;
    uint64_t own = property->type == BP_STRING ? property->size / sizeof(char *) : 0;
    if (is_list(property)) {
        const void *items = take_items(m, property->type, &count, *texts, left);
        if (property->type == BP_STRING && items == NULL)
            return false;
        bp_list_t list = {count > 0 ? (void *)(uintptr_t)items : NULL, count, count};
        *texts += property->type == BP_STRING ? count : 0;
        memcpy(value, &list, sizeof list);
        return !m->r.failed;
    }
    const void *items = take_items(m, property->type, &count, (const char **)(void *)value, &own);
    if (m->r.failed || items == NULL || count * (uint64_t)value_size(property->type) != property->size)
        return false;
    if (property->type != BP_STRING)
        memcpy(value, items, property->size);
    return true;
}

static bp_result_t put_values(making_t *m, bp_property_t *property, const bp_entity_t *entities, uint32_t count,
                              char *values, size_t stride)
{
    size_t size = count * sizeof *entities;
    if (m->pass == NULL)
        return property_set(&m->world->rows, property, entities, count, values, stride);
    bp_entity_t *own = memory_resize(m->memory, NULL, 0, size);
    if (own == NULL)
        return error_memory(&m->parts->base->error, "making a call again");
    memcpy(own, entities, size);
    count = keep_living(m, own, values, stride, count);
    bp_result_t result = count > 0 ? property_set(&m->world->rows, property, own, count, values, stride) : BP_OK;
    memory_free(m->memory, own, size);
    return result;
}

static bp_result_t other_shape(const making_t *m, const bp_property_t *property)
{
    return error_set(&m->parts->base->error, BP_ERROR_TYPE, "%s is of another shape than when it was set",
                     property_field(property)->name);
}

static bp_result_t set_values(making_t *m, bp_property_t *property, const bp_entity_t *entities, uint32_t count,
                              uint64_t text_count)
{
    size_t stride = (property->size + 7u) & ~(size_t)7, size = count * stride + (size_t)text_count * sizeof(char *);
    char *values = memory_resize(m->memory, NULL, 0, size);
    if (values == NULL)
        return error_memory(&m->parts->base->error, "setting a property again");
    const char **texts = (const char **)(void *)(values + count * stride);
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++)
        good = take_value(m, property, values + i * stride, &texts, &text_count);
    bp_result_t result = good ? put_values(m, property, entities, count, values, stride)
                              : m->r.failed ? damaged(m) : other_shape(m, property);
    memory_free(m->memory, values, size);
    return result;
}

static bp_result_t make_set(making_t *m)
{
    const char *component, *name;
    uint32_t element, type, count;
    bp_property_t property;
    bp_result_t result = read_property(m, &component, &name, &element, &type);
    uint64_t texts = reader_u64(&m->r);
    const bp_entity_t *entities = take_array(m, &count, sizeof *entities);
    if (result != BP_OK || count == 0 || texts > reader_left(&m->r))
        return damaged(m);
    uint32_t first = 0;
    while (m->pass != NULL && first + 1 < count && !entities_is_alive(m->parts->entities, entities[first]))
        first++;
    result = resolve(m, entities[first], component, name, element, type, &property);
    return result == BP_OK ? set_values(m, &property, entities, count, texts) : result;
}

static bp_result_t make_set_text(making_t *m)
{
    const char *component, *name;
    uint32_t element, type;
    bp_path_t path = {.world = m->world};
    bp_result_t result = read_property(m, &component, &name, &element, &type);
    path.entity.id = reader_u64(&m->r);
    const char *text = reader_text(&m->r);
    if (result != BP_OK || m->r.failed)
        return damaged(m);
    result = resolve(m, path.entity, component, name, element, type, &path.property);
    return result == BP_OK ? path_set_text(&path, text) : result;
}

static bp_result_t make_spawn(making_t *m)
{
    uint32_t flags = reader_u32(&m->r), list = reader_u32(&m->r);
    const char *origin = reader_text(&m->r);
    uint64_t size = reader_u64(&m->r);
    reader_align(&m->r, CALL_ALIGN);
    const void *bytes = reader_take(&m->r, size);
    bp_scene_o *scene;
    bp_spawn_t spawn;
    if (bytes == NULL || list > JOURNAL_RELEASED)
        return damaged(m);
    bp_result_t result = scenes_borrow(m->parts->scenes, bytes, (size_t)size, origin, &scene);
    if (result != BP_OK)
        return result;
    uint32_t count = scene->blob.info->entity_count;
    size_t room = (count + (size_t)1) * sizeof(bp_entity_t);
    bp_entity_t *entities = memory_resize(m->memory, NULL, 0, room);
    result = entities == NULL
                 ? error_memory(&m->parts->base->error, "spawning a scene again")
                 : journal_spawn_scene(m->parts->scenes, scene, &m->world->rows, flags, list, entities, &spawn);
    if (entities != NULL)
        memory_free(m->memory, entities, room);
    scenes_close(scene);
    return result;
}

static bp_result_t make_one(making_t *m, uint32_t kind)
{
    uint32_t first, count;
    const void *items;
    switch (kind) {
    case CALL_ENTITIES:
        count = reader_u32(&m->r);
        m->world = NULL;
        return m->r.failed ? damaged(m) : create(m, 0, count);
    case CALL_DESTROY:
        items = take_array(m, &count, sizeof(bp_entity_t));
        return m->r.failed ? damaged(m) : make_change(m, kind, 0, items, count);
    case CALL_KEY: return make_key(m);
    case CALL_PROTOTYPE:
        items = take_array(m, &count, sizeof(uint32_t));
        return m->r.failed ? damaged(m) : make_prototype(m, items, count);
    case CALL_CREATE:
        first = reader_u32(&m->r);
        count = reader_u32(&m->r);
        if (m->r.failed)
            return damaged(m);
        return take_number(m, numbers_prototype, "prototype", &first) ? create(m, first, count) : BP_ERROR_NOT_FOUND;
    case CALL_ADD:
    case CALL_REMOVE:
        first = reader_u32(&m->r);
        items = take_array(m, &count, sizeof(bp_entity_t));
        if (m->r.failed)
            return damaged(m);
        return take_number(m, numbers_key, "key", &first) ? make_change(m, kind, first, items, count)
                                                         : BP_ERROR_NOT_FOUND;
    case CALL_CLOCK: return make_clock(m);
    case CALL_SET: return make_set(m);
    case CALL_SET_TEXT: return make_set_text(m);
    case CALL_SPAWN: return make_spawn(m);
    case CALL_DESPAWN:
    case CALL_RELEASE: {
        bp_spawn_t spawn = {reader_u64(&m->r)};
        if (kind == CALL_DESPAWN)
            journal_despawn_list(m->parts->scenes, m->parts->destruction, spawn);
        else
            scenes_release(m->parts->scenes, spawn);
        return BP_OK;
    }
    case CALL_INPUTS: {
        uint64_t size = reader_u64(&m->r);
        reader_align(&m->r, CALL_ALIGN);
        items = reader_take(&m->r, size);
        if (m->r.failed)
            return damaged(m);
        return outside_give(m->parts->outside, items, (size_t)size)
                   ? BP_OK
                   : error_memory(&m->parts->base->error, "giving plugins what they took from outside");
    }
    default: return damaged(m);
    }
}

static bool is_of_world(uint32_t kind)
{
    return kind != CALL_ENTITIES && kind != CALL_DESTROY && kind != CALL_DESPAWN && kind != CALL_RELEASE &&
           kind != CALL_INPUTS;
}

/* Make the call that `m->r` is at the beginning of, and end behind it. */
static bp_result_t make_call(making_t *m, reader_t *all)
{
    uint32_t kind = reader_u32(all), world = reader_u32(all);
    uint64_t size = reader_u64(all);
    const void *bytes = reader_take(all, size);
    bool there = world < m->parts->destruction->world_count;
    if (bytes == NULL || size % CALL_ALIGN != 0 || (!there && is_of_world(kind)))
        return damaged(m);
    m->r = reader_of(bytes, (size_t)size);
    m->world = there ? world_handle(m->parts->destruction->worlds[world]) : NULL;
    m->of = there && m->pass != NULL && m->pass->of != NULL && world < m->pass->of->world_count
                ? m->pass->of->worlds[world]
                : NULL;
    bp_result_t result = make_one(m, kind);
    return result == BP_OK && m->r.failed ? damaged(m) : result;
}

bp_result_t journal_make(const parts_t *parts, const void *bytes, size_t size)
{
    return journal_make_most(parts, bytes, size, NULL);
}

bp_result_t journal_make_most(const parts_t *parts, const void *bytes, size_t size, const journal_pass_i *pass)
{
    making_t m = {.parts = parts, .memory = &parts->base->memory, .pass = pass};
    reader_t all = reader_of(bytes, size);
    bp_result_t result = BP_OK;
    while (result == BP_OK && reader_left(&all) > 0) {
        result = make_call(&m, &all);
        if (result == BP_OK || result == BP_ERROR_SYNTAX || result == BP_ERROR_MEMORY || pass == NULL)
            continue;
        pass->passed(pass->context, parts->base->error.text);
        result = BP_OK;
    }
    return result;
}

/* --- other numbers ------------------------------------------------------------------------------------------------ */

static void renumber(void *number, const world_t *of, const world_t *in,
                     uint32_t (*find)(const world_t *of, const world_t *in, uint32_t number))
{
    uint32_t value;
    memcpy(&value, number, sizeof value);
    value = find(of, in, value);
    memcpy(number, &value, sizeof value);
}

void journal_renumber(void *bytes, size_t size, const destruction_t *of, const destruction_t *in)
{
    reader_t all = reader_of(bytes, size);
    while (reader_left(&all) > 0 && !all.failed) {
        uint32_t kind = reader_u32(&all), world = reader_u32(&all);
        uint64_t length = reader_u64(&all);
        char *call = (char *)(uintptr_t)reader_take(&all, length);
        if (call == NULL || world >= of->world_count || world >= in->world_count)
            continue;
        if (kind == CALL_KEY)
            renumber(call, of->worlds[world], in->worlds[world], numbers_component);
        if (kind == CALL_CREATE)
            renumber(call, of->worlds[world], in->worlds[world], numbers_prototype);
        if (kind == CALL_ADD || kind == CALL_REMOVE)
            renumber(call, of->worlds[world], in->worlds[world], numbers_key);
        if (kind != CALL_PROTOTYPE)
            continue;
        making_t m = {.r = reader_of(call, (size_t)length)};
        uint32_t count;
        uint32_t *keys = (uint32_t *)(uintptr_t)take_array(&m, &count, sizeof *keys);
        for (uint32_t i = 0; i < count; i++)
            renumber(&keys[i], of->worlds[world], in->worlds[world], numbers_key);
    }
}
