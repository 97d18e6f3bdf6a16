/* zoo.c - the declared components of the zoo, and one own-storage manager under three descriptions.
 *
 * The own-storage manager is swap-erase over an array of structs. It holds what a plugin may hold: memory
 * from the host, nothing static.
 */
#include "zoo.h"

#include "support.h"

#include <helpers/bp_columns.h>

#include <string.h>

/* --- declared ------------------------------------------------------------------------------------------- */

static const bp_field_t body_fields[] = {
    [BODY_MASS] =
        {.name = "mass", .type = BP_F32, .initial = "1", .min = "0", .unit = "kg", .doc = "inertia"},
    [BODY_POSITION] = {.name = "position", .type = BP_VEC3, .unit = "m"},
    [BODY_VELOCITY] = {.name = "velocity", .type = BP_VEC3, .initial = "0 0 1", .unit = "m/s"},
    [BODY_ACCELERATION] = {.name = "acceleration", .type = BP_VEC3, .unit = "m/s^2"},
};

static void body_simulate(const bp_run_t *run, uint32_t count)
{
    float *position = BP_COLUMN(run, float, BODY_POSITION), *velocity = BP_COLUMN(run, float, BODY_VELOCITY);
    const float *acceleration = BP_COLUMN(run, const float, BODY_ACCELERATION);
    float dt = (float)run->step->dt;
    for (size_t i = 0; i < 3u * (size_t)count; i++) {
        velocity[i] += acceleration[i] * dt;
        position[i] += velocity[i] * dt;
    }
}

static const bp_field_t label_fields[] = {
    [LABEL_TEXT] = {.name = "text", .type = BP_STRING, .initial = "unnamed"},
    [LABEL_RANK] = {.name = "rank", .type = BP_I32, .min = "-10", .max = "10"},
    [LABEL_HOME] = {.name = "home", .type = BP_ENTITY},
    [LABEL_KIND] = {.name = "kind", .type = BP_NAME, .initial = "plain"},
};

static const bp_field_t fx_fields[] = {
    [FX_ENABLED] = {.name = "enabled", .type = BP_BOOL, .initial = "true"},
    [FX_COLOUR] = {.name = "colour", .type = BP_COLOUR, .initial = "#102030"},
    [FX_STRENGTH] = {.name = "strength", .type = BP_F64, .initial = "0.5", .min = "0", .max = "1"},
};

static const bp_field_t once_fields[] = {
    [ONCE_COUNT] = {.name = "count", .type = BP_U32, .initial = "7"},
    [ONCE_NOTE] = {.name = "note", .type = BP_STRING},
    [ONCE_HOUR] = {.name = "hour", .type = BP_I16, .initial = "-3"},
    [ONCE_PLACE] = {.name = "place", .type = BP_DVEC3, .initial = "1 2 3"},
};

static const bp_field_t mark_fields[] = {
    {.name = "value", .type = BP_U32},
};

static const bp_field_t sample_fields[] = {
    {.name = "a_bool", .type = BP_BOOL, .initial = "yes"},
    {.name = "a_i32", .type = BP_I32, .initial = "-7", .min = "-100", .max = "100"},
    {.name = "a_u32", .type = BP_U32, .initial = "7", .max = "1000"},
    {.name = "a_i64", .type = BP_I64, .initial = "-700000000000"},
    {.name = "a_f32", .type = BP_F32, .initial = "0.1"},
    {.name = "a_f64", .type = BP_F64, .initial = "0.1"},
    {.name = "a_vec2", .type = BP_VEC2, .initial = "1 2", .max = "50"},
    {.name = "a_vec3", .type = BP_VEC3, .initial = "1 2 3"},
    {.name = "a_vec4", .type = BP_VEC4, .initial = "1 2 3 4"},
    {.name = "a_quat", .type = BP_QUAT},
    {.name = "a_mat4", .type = BP_MAT4},
    {.name = "a_colour", .type = BP_COLOUR, .initial = "#ff8000", .min = "0"},
    {.name = "a_string", .type = BP_STRING, .initial = "sample"},
    {.name = "an_entity", .type = BP_ENTITY},
    {.name = "a_name", .type = BP_NAME, .initial = "sample"},
    {.name = "an_i8", .type = BP_I8, .initial = "-7", .max = "100"},
    {.name = "a_u8", .type = BP_U8, .initial = "7", .min = "1"},
    {.name = "an_i16", .type = BP_I16, .initial = "-700"},
    {.name = "a_u16", .type = BP_U16, .initial = "700", .max = "60000"},
    {.name = "a_u64", .type = BP_U64, .initial = "10000000000000000000"},
    {.name = "a_dvec2", .type = BP_DVEC2, .initial = "1 0.1", .min = "-1000"},
    {.name = "a_dvec3", .type = BP_DVEC3, .initial = "1 2 0.1"},
    {.name = "a_dvec4", .type = BP_DVEC4, .initial = "0.1 2 3 4"},
    {.name = "a_mood", .type = BP_U8, .values = "calm glad=5 cross", .initial = "glad"},
    {.name = "a_level", .type = BP_I16, .values = "low=-1, none, high"},
    {.name = "some_flags", .type = BP_U16, .flags = BP_FIELD_BITS, .values = "red green blue=9", .initial = "red|blue"},
    {.name = "a_reading", .type = BP_F32, .flags = BP_FIELD_READ_ONLY, .initial = "3"},
};

static const bp_field_t bag_fields[] = {
    [BAG_SLOTS] = {.name = "slots", .type = BP_U16, .count = 5, .initial = "[1, 2, 3, 4, 5]"},
    [BAG_MARKS] = {.name = "marks", .type = BP_F32, .count = 3, .initial = "1", .min = "0"},
    [BAG_WORDS] = {.name = "words", .type = BP_STRING, .count = 2, .initial = "[\"a\", \"b, c\"]"},
    [BAG_KINDS] = {.name = "kinds", .type = BP_NAME, .count = 2, .initial = "plain"},
    [BAG_TARGETS] = {.name = "targets", .type = BP_ENTITY, .count = 3},
    [BAG_HITS] = {.name = "hits", .type = BP_F32, .flags = BP_FIELD_LIST, .max = "1000"},
    [BAG_TAGS] = {.name = "tags", .type = BP_STRING, .flags = BP_FIELD_LIST},
    [BAG_FRIENDS] = {.name = "friends", .type = BP_ENTITY, .flags = BP_FIELD_LIST},
    [BAG_PATH] = {.name = "path", .type = BP_DVEC3, .flags = BP_FIELD_LIST, .unit = "m"},
    [BAG_MOODS] = {.name = "moods", .type = BP_U8, .flags = BP_FIELD_LIST, .values = "calm cross=7"},
    [BAG_NAMES] = {.name = "names", .type = BP_NAME, .flags = BP_FIELD_LIST},
};

static const bp_component_i zoo_list[] = {
    {.name = "body",
     .doc = "moves",
     .version = 1,
     .flags = BP_COMPONENT_PARALLEL,
     .fields = BP_LIST(body_fields),
     .simulate = body_simulate},
    {.name = "label", .version = 1, .fields = BP_LIST(label_fields)},
    {.name = "fx", .version = 1, .fields = BP_LIST(fx_fields)},
    {.name = "flag", .version = 1},
    {.name = "mark", .version = 1, .fields = BP_LIST(mark_fields)},
    {.name = "once",
     .version = 1,
     .flags = BP_COMPONENT_AT_ONCE | BP_COMPONENT_SINGLE,
     .fields = BP_LIST(once_fields)},
    {.name = "sample", .version = 1, .fields = BP_LIST(sample_fields)},
    {.name = "bag", .version = 1, .fields = BP_LIST(bag_fields)},
};

static const bp_plugin_head_t zoo = BP_PLUGIN_HEAD("zoo", (&(const bp_plugin_desc_t){.version = "1.0",
                                     .doc = "declared components", .components = BP_LIST(zoo_list)}));

/* --- own storage ---------------------------------------------------------------------------------------- */

static bp_result_t out_of_memory(bp_manager_t *m)
{
    return m->api->error->set(m->host, BP_ERROR_MEMORY, "stock: out of memory");
}

static void *resize(bp_manager_t *m, void *old, size_t old_size, size_t new_size)
{
    return m->api->memory->resize(m->plugin, old, old_size, new_size);
}

static void drop_text(bp_manager_t *m, stock_item_t *item)
{
    if (item->text != NULL)
        resize(m, item->text, strlen(item->text) + 1, 0);
    item->text = NULL;
}

static bp_result_t start(bp_manager_t *m)
{
    stock_t *stock = resize(m, NULL, 0, sizeof *stock);
    if (stock == NULL)
        return out_of_memory(m);
    memset(stock, 0, sizeof *stock);
    m->state = stock;
    return BP_OK;
}

static void stop(bp_manager_t *m)
{
    stock_t *stock = m->state;
    for (uint32_t i = 0; i < stock->count; i++)
        drop_text(m, &stock->items[i]);
    if (stock->items != NULL)
        resize(m, stock->items, stock->capacity * sizeof *stock->items, 0);
    resize(m, stock, sizeof *stock, 0);
    m->state = NULL;
}

static bool reserve(bp_manager_t *m, stock_t *stock, uint32_t more)
{
    uint32_t needed = stock->count + more, capacity = stock->capacity * 2;
    if (needed <= stock->capacity)
        return true;
    if (capacity < needed)
        capacity = needed;
    stock_item_t *items = resize(m, stock->items, stock->capacity * sizeof *items, capacity * sizeof *items);
    if (items == NULL)
        return false;
    stock->items = items;
    stock->capacity = capacity;
    return true;
}

/* A manager may look at the entities that it is creating for. */
static uint32_t already_there(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities,
                              uint32_t count)
{
    uint32_t key;
    if (m->api->world->key(m->world, m->component, instance, &key) != BP_OK)
        return 0;
    return m->api->world->has(m->world, key, entities, count, NULL);
}

static void erase(bp_manager_t *m, uint32_t slot)
{
    stock_t *stock = m->state;
    EXPECT(slot < stock->count, "slot %u of %u", slot, stock->count);
    drop_text(m, &stock->items[slot]);
    stock_item_t last = stock->items[--stock->count];
    stock->ended++;
    if (slot == stock->count)
        return;
    stock->items[slot] = last;
    m->api->world->instances_moved(m, &last.entity, &last.instance, &slot, 1);
}

static void destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    stock_t *stock = m->state;
    EXPECT(count > 0, "a batch of nobody");
    for (uint32_t i = 1; i < count; i++)
        EXPECT(slots[i] < slots[i - 1], "slots do not descend");
    for (uint32_t i = 0; i < count; i++)
        erase(m, slots[i]);
    stock->destroy_calls++;
}

static uint32_t gc(bp_manager_t *m, uint64_t *random)
{
    stock_t *stock = m->state;
    uint32_t ended = 0, living = 0;
    while (stock->count > 0 && living < 4) {
        uint32_t slot = bp_random_below(random, stock->count);
        if (m->api->entity->alive(m->host, &stock->items[slot].entity, 1, NULL) == 1) {
            living++;
            continue;
        }
        living = 0;
        erase(m, slot);
        ended++;
    }
    return ended;
}

static uint32_t count_items(bp_manager_t *m)
{
    return ((const stock_t *)m->state)->count;
}

static void step(const bp_run_t *run, uint32_t count)
{
    EXPECT(count == 0 && run->count == 0 && run->entities == NULL && run->columns == NULL, "own storage has no rows");
    ((stock_t *)run->manager->state)->steps++;
}

static bp_result_t get(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                       size_t stride)
{
    const stock_t *stock = m->state;
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(slots[i] < stock->count, "slot %u of %u", slots[i], stock->count);
        const stock_item_t *item = &stock->items[slots[i]];
        const char *text = item->text == NULL ? "" : item->text;
        char *value = (char *)values + i * stride;
        if (field == STOCK_NUMBER)
            memcpy(value, &item->number, sizeof item->number);
        else if (field == STOCK_TEXT)
            memcpy(value, &text, sizeof text);
        else
            memcpy(value, &item->serial, sizeof item->serial);
    }
    return BP_OK;
}

static char *copy_text(bp_manager_t *m, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = resize(m, NULL, 0, size);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

/* All copies first, so that a failure changes nothing. */
static bp_result_t set_texts(bp_manager_t *m, const uint32_t *slots, uint32_t count, const char *values,
                             size_t stride)
{
    stock_t *stock = m->state;
    char **copies = resize(m, NULL, 0, count * sizeof *copies);
    uint32_t made = 0;
    for (; copies != NULL && made < count; made++) {
        const char *text;
        memcpy(&text, values + made * stride, sizeof text);
        copies[made] = copy_text(m, text);
        if (copies[made] == NULL)
            break;
    }
    for (uint32_t i = 0; i < made; i++) {
        stock_item_t unused = {.text = copies[i]};
        if (made < count) {
            drop_text(m, &unused);
            continue;
        }
        drop_text(m, &stock->items[slots[i]]);
        stock->items[slots[i]].text = copies[i];
    }
    if (copies != NULL)
        resize(m, copies, count * sizeof *copies, 0);
    return made == count ? BP_OK : out_of_memory(m);
}

static bp_result_t set(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count,
                       const void *values, size_t stride)
{
    stock_t *stock = m->state;
    EXPECT(field != STOCK_SERIAL, "a read-only property is set");
    for (uint32_t i = 0; i < count; i++)
        EXPECT(slots[i] < stock->count, "slot %u of %u", slots[i], stock->count);
    if (field == STOCK_TEXT)
        return set_texts(m, slots, count, values, stride);
    for (uint32_t i = 0; i < count; i++)
        memcpy(&stock->items[slots[i]].number, (const char *)values + i * stride, sizeof(int64_t));
    return BP_OK;
}

static const bp_field_t stock_fields[] = {
    [STOCK_NUMBER] = {.name = "number", .type = BP_I64, .initial = "5", .min = "-1000", .max = "1000"},
    [STOCK_TEXT] = {.name = "text", .type = BP_STRING},
    [STOCK_SERIAL] = {.name = "serial", .type = BP_U32, .flags = BP_FIELD_READ_ONLY | BP_FIELD_DERIVED},
};

/* An entity that is being created is neither destroyed nor changed by a manager that makes instances, and instances
 * that are not there yet belong to no entity. */
static void meddle(bp_manager_t *m, const bp_entity_t *entities, uint32_t count)
{
    const bp_world_api *api = m->api->world;
    bp_entity_t batch[2] = {entities[count - 1], entities[0]};
    static const char *const types[] = {"pool", "told", "body", "mute"};
    for (uint32_t i = 0; i < COUNT(types); i++) {
        int64_t number = 5;
        uint32_t key, slot, type = api->component(m->world, types[i]);
        if (type == BP_NONE)
            continue;
        EXPECT(api->key(m->world, type, 0, &key) == BP_OK, "a key");
        EXPECT(api->add(m->world, key, batch, 1) == BP_ERROR_STATE, "%s is added", types[i]);
        EXPECT(api->remove(m->world, key, batch, 1) == BP_ERROR_STATE, "%s is removed", types[i]);
        if (i == 2)
            continue;
        bp_result_t result =
            m->api->property->get_named(m->world, entities[0], types[i], "number", BP_I64, &number);
        EXPECT(number == 5, "%s: another's number", types[i]);
        EXPECT((api->slots(m->world, key, entities, 1, &slot) == 1) == (result == BP_OK), "%s: its slot", types[i]);
    }
    EXPECT(m->api->entity->destroy(m->host, batch, 2) == 0, "they are destroyed");
    EXPECT(strstr(m->api->error->last(m->host), "is being created") != NULL, "%s", m->api->error->last(m->host));
    stock_t *stock = m->state;
    stock->meddles++;
}

static bp_result_t create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                          const void *const *columns, uint32_t *slots)
{
    stock_t *stock = m->state;
    EXPECT(count > 0, "a batch of nobody");
    EXPECT(instance != 0, "no instance name");
    EXPECT(m->api->entity->alive(m->host, entities, count, NULL) == count, "created for the dead");
    if (stock->refuse_creates > 0) {
        stock->refuse_creates--;
        return m->api->error->set(m->host, BP_ERROR_FAILED, "stock: told to refuse");
    }
    if (stock->meddles > 0)
        meddle(m, entities, count);
    while (stock->convoy > 0) {
        bp_entity_t more[64];
        stock->convoy--;
        EXPECT(m->api->world->create(m->world, stock->convoy_prototype, more, COUNT(more)) == BP_OK, "a convoy");
    }
    if (!reserve(m, stock, count))
        return out_of_memory(m);
    stock->saw_components += already_there(m, instance, entities, count);
    for (uint32_t i = 0; i < count; i++) {
        slots[i] = stock->count;
        stock->items[stock->count++] = (stock_item_t){
            .entity = entities[i], .instance = instance, .number = 5, .serial = stock->next_serial++};
    }
    bp_result_t result = bp_columns_set(m, set, stock_fields, COUNT(stock_fields), columns, slots, count);
    if (result != BP_OK)
        stock->count -= count;
    else
        stock->created += count;
    return result;
}

#define STOCK_STORAGE                                                                                                  \
    .struct_size = sizeof(bp_storage_i), .create = create, .destroy = destroy, .get = get, .count = count_items

static const bp_storage_i pool_storage = {STOCK_STORAGE, .set = set, .gc = gc};
static const bp_storage_i told_storage = {STOCK_STORAGE, .set = set};
static const bp_storage_i mute_storage = {STOCK_STORAGE};

static const bp_component_i stock_list[] = {
    {.name = "pool",
     .version = 1,
     .fields = BP_LIST(stock_fields),
     .start = start,
     .stop = stop,
     .simulate = step,
     .storage = &pool_storage},
    {.name = "told",
     .version = 1,
     .fields = BP_LIST(stock_fields),
     .start = start,
     .stop = stop,
     .storage = &told_storage},
    {.name = "mute",
     .version = 1,
     .fields = BP_LIST(stock_fields),
     .start = start,
     .stop = stop,
     .storage = &mute_storage},
};

static const bp_plugin_head_t stocks = BP_PLUGIN_HEAD("stocks", (&(const bp_plugin_desc_t){.version = "1.0",
                                        .doc = "own storage", .components = BP_LIST(stock_list)}));

const bp_plugin_head_t *const zoo_plugins[ZOO_PLUGINS] = {&zoo, &stocks};
const char *const zoo_components[] = {"body",   "label", "fx",   "flag", "mark", "once",
                                      "sample", "bag",   "pool", "told", "mute", NULL};
