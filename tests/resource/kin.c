/* kin.c - one manager under two descriptions, swap-erase over an array of structs of fixed room. */
#include "kin.h"

#include "../unit/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bp_result_t start(bp_manager_t *m)
{
    kin_t *kin = m->api->memory->resize(m->plugin, NULL, 0, sizeof *kin);
    if (kin == NULL)
        return m->api->error->set(m->host, BP_ERROR_MEMORY, "kin: out of memory");
    memset(kin, 0, sizeof *kin);
    kin->refuse_after = BP_NONE;
    m->state = kin;
    return BP_OK;
}

static void stop(bp_manager_t *m)
{
    m->api->memory->resize(m->plugin, m->state, sizeof(kin_t), 0);
    m->state = NULL;
}

static bool refuses(bp_manager_t *m)
{
    kin_t *kin = m->state;
    if (kin->refuse_after == BP_NONE || kin->refuse_after-- > 0)
        return false;
    m->api->error->set(m->host, BP_ERROR_FAILED, "kin: told to refuse");
    return true;
}

static uint32_t others(bp_manager_t *m, const char *type)
{
    bp_manager_t *other = m->api->world->manager(m->world, m->api->world->component(m->world, type));
    return other == NULL ? 0 : ((const kin_t *)other->state)->count;
}

static bp_result_t begin(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                         uint32_t *slots)
{
    kin_t *kin = m->state;
    kin->create_calls++;
    EXPECT(count > 0 && instance != 0, "a batch of nobody, or without a name");
    EXPECT(m->api->entity->alive(m->host, entities, count, NULL) == count, "created for the dead");
    if (refuses(m))
        return BP_ERROR_FAILED;
    if (count > COUNT(kin->items) - kin->count)
        return m->api->error->set(m->host, BP_ERROR_LIMIT, "kin: the house is full");
    if (kin->count == 0)
        kin->at_create = others(m, "vault");
    for (uint32_t i = 0; i < count; i++) {
        slots[i] = kin->count;
        kin->items[kin->count++] =
            (kin_item_t){.entity = entities[i], .instance = instance, .weight = 2, .label = "nobody"};
    }
    return BP_OK;
}

static void destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    kin_t *kin = m->state;
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(slots[i] < kin->count && (i == 0 || slots[i] < slots[i - 1]), "slot %u of %u", slots[i], kin->count);
        kin_item_t last = kin->items[--kin->count];
        if (slots[i] == kin->count)
            continue;
        kin->items[slots[i]] = last;
        m->api->world->instances_moved(m, &last.entity, &last.instance, &slots[i], 1);
    }
}

static bp_result_t get(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                       size_t stride)
{
    const kin_t *kin = m->state;
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(slots[i] < kin->count, "slot %u of %u", slots[i], kin->count);
        const kin_item_t *item = &kin->items[slots[i]];
        const char *label = item->label;
        char *value = (char *)values + i * stride;
        uint32_t depth = m->api->entity->alive(m->host, &item->parent, 1, NULL);
        if (field == KIN_PARENT)
            memcpy(value, &item->parent, sizeof item->parent);
        else if (field == KIN_FRIEND)
            memcpy(value, &item->friend, sizeof item->friend);
        else if (field == KIN_LABEL)
            memcpy(value, &label, sizeof label);
        else if (field == KIN_WEIGHT)
            memcpy(value, &item->weight, sizeof item->weight);
        else
            memcpy(value, &depth, sizeof depth);
    }
    return BP_OK;
}

static void put(bp_manager_t *m, kin_item_t *item, uint32_t field, const char *value)
{
    const char *label;
    if (field == KIN_PARENT || field == KIN_FRIEND) {
        bp_entity_t *to = field == KIN_PARENT ? &item->parent : &item->friend;
        memcpy(to, value, sizeof *to);
        EXPECT(to->id == 0 || m->api->entity->alive(m->host, to, 1, NULL) == 1, "refers to the dead");
    } else if (field == KIN_LABEL) {
        memcpy(&label, value, sizeof label);
        snprintf(item->label, sizeof item->label, "%s", label);
    } else {
        EXPECT(field == KIN_WEIGHT, "field %u is set", field);
        memcpy(&item->weight, value, sizeof item->weight);
    }
}

static bp_result_t set(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, const void *values,
                       size_t stride)
{
    kin_t *kin = m->state;
    kin->set_calls++;
    if (refuses(m))
        return BP_ERROR_FAILED;
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(slots[i] < kin->count, "slot %u of %u", slots[i], kin->count);
        put(m, &kin->items[slots[i]], field, (const char *)values + i * stride);
    }
    return BP_OK;
}

static bp_result_t create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                          const void *const *columns, uint32_t *slots)
{
    static const size_t sizes[] = {8, 8, 8, 4, 4};
    kin_t *kin = m->state;
    bp_result_t result = begin(m, instance, entities, count, slots);
    kin->with_calls += columns != NULL;
    for (uint32_t f = 0; columns != NULL && f < COUNT(sizes) && result == BP_OK; f++) {
        EXPECT(columns[f] == NULL || (f != KIN_PARENT && f != KIN_FRIEND && f != KIN_DEPTH),
               "field %u comes with creation", f);
        for (uint32_t i = 0; columns[f] != NULL && i < count; i++)
            put(m, &kin->items[slots[i]], f, (const char *)columns[f] + i * sizes[f]);
    }
    return result;
}

static uint32_t count_items(bp_manager_t *m)
{
    return ((const kin_t *)m->state)->count;
}

/* --- vault: a secret that only creation tells --------------------------------------------------------------------- */

static bp_result_t create_vault(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                                const void *const *columns, uint32_t *slots)
{
    kin_t *kin = m->state;
    bp_result_t result = begin(m, instance, entities, count, slots);
    kin->with_calls += columns != NULL;
    for (uint32_t i = 0; columns != NULL && columns[0] != NULL && i < count && result == BP_OK; i++)
        memcpy(&kin->items[slots[i]].secret, (const char *)columns[0] + i * sizeof(uint32_t), sizeof(uint32_t));
    return result;
}

static bp_result_t get_secret(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                              size_t stride)
{
    const kin_t *kin = m->state;
    (void)field;
    for (uint32_t i = 0; i < count; i++)
        memcpy((char *)values + i * stride, &kin->items[slots[i]].secret, sizeof(uint32_t));
    return BP_OK;
}

static const bp_field_t kin_fields[] = {
    [KIN_PARENT] = {.name = "parent", .type = BP_ENTITY, .flags = BP_FIELD_PARENT},
    [KIN_FRIEND] = {.name = "friend", .type = BP_ENTITY},
    [KIN_LABEL] = {.name = "label", .type = BP_STRING, .flags = BP_FIELD_LABEL, .initial = "nobody"},
    [KIN_WEIGHT] = {.name = "weight", .type = BP_F32, .initial = "2", .min = "0", .max = "500"},
    [KIN_DEPTH] = {.name = "depth", .type = BP_U32, .flags = BP_FIELD_READ_ONLY | BP_FIELD_DERIVED},
};

static const bp_field_t vault_fields[] = {{.name = "secret", .type = BP_U32}};

static const bp_field_t tag_fields[] = {
    {.name = "owner", .type = BP_ENTITY, .flags = BP_FIELD_PARENT},
    {.name = "reading", .type = BP_F64, .flags = BP_FIELD_READ_ONLY},
};

static const bp_storage_i kin_storage = {.struct_size = sizeof(bp_storage_i),
                                         .create = create,
                                         .destroy = destroy,
                                         .get = get,
                                         .set = set,
                                         .count = count_items};
static const bp_storage_i vault_storage = {.struct_size = sizeof(bp_storage_i),
                                           .create = create_vault,
                                           .destroy = destroy,
                                           .get = get_secret,
                                           .count = count_items};

static const bp_spawn_order_i early = {-5};
static const bp_extension_t early_extensions[] = {{BP_EXTENSION("bp_spawn_order", early)}};

static const bp_component_i components[] = {
    {.name = "kin",
     .version = 1,
     .fields = BP_LIST(kin_fields),
     .start = start,
     .stop = stop,
     .storage = &kin_storage,
     .extensions = BP_LIST(early_extensions)},
    {.name = "vault",
     .version = 3,
     .flags = BP_COMPONENT_SINGLE,
     .fields = BP_LIST(vault_fields),
     .start = start,
     .stop = stop,
     .storage = &vault_storage},
    {.name = "tag", .version = 1, .fields = BP_LIST(tag_fields)},
};

const bp_plugin_head_t kin_plugin =
    BP_PLUGIN_HEAD("kin", (&(const bp_plugin_desc_t){.version = "1.0",
                                                     .doc = "storage of its own, in scenes",
                                                     .components = BP_LIST(components)}));
