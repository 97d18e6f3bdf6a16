/* compile_types.c - the component types that a scene may name: a sorted list, and a small hash table over it.
 *
 * Types are looked up by hash, since that is done for every component of every entity; fields are so few that comparing
 * the hashes of a type one after another is as fast as any table.
 */
#include "compile_inner.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const component_t *left = ((const json_type_t *)a)->component, *right = ((const json_type_t *)b)->component;
    int32_t first = left->spawn_order, second = right->spawn_order;
    return first != second ? (first < second ? -1 : 1) : strcmp(left->name, right->name);
}

static uint32_t *bucket_of(const json_types_t *types, bp_name_t hash)
{
    uint32_t i = (uint32_t)hash & (types->capacity - 1);
    while (types->buckets[i] != 0 && types->items[types->buckets[i] - 1].hash != hash)
        i = (i + 1) & (types->capacity - 1);
    return &types->buckets[i];
}

static bool reserve(json_types_t *types, uint32_t most)
{
    types->room = most + 1;
    types->capacity = 16;
    while (types->capacity < 2 * most)
        types->capacity *= 2;
    types->buckets = memory_new(types->memory, types->capacity * sizeof *types->buckets);
    types->items = memory_new(types->memory, types->room * sizeof *types->items);
    return types->buckets != NULL && types->items != NULL;
}

bp_result_t json_types_init(json_types_t *types, memory_t *memory, const registry_t *registry, error_text_t *error)
{
    *types = (json_types_t){.memory = memory};
    if (!reserve(types, registry->component_count)) {
        json_types_free(types);
        return error_memory(error, "compiling a scene");
    }
    for (uint32_t i = 0; i < registry->component_count; i++) {
        const component_t *c = registry->components[i];
        if (c->owner != NULL)
            types->items[types->count++] = (json_type_t){c, names_hash(c->name)};
    }
    qsort(types->items, types->count, sizeof *types->items, compare);
    for (uint32_t i = 0; i < types->count; i++)
        *bucket_of(types, types->items[i].hash) = i + 1;
    return BP_OK;
}

void json_types_free(json_types_t *types)
{
    memory_free(types->memory, types->buckets, types->capacity * sizeof *types->buckets);
    memory_free(types->memory, types->items, types->room * sizeof *types->items);
    types->buckets = NULL;
    types->items = NULL;
}

uint32_t json_types_find(const json_types_t *types, const char *name)
{
    uint32_t number = *bucket_of(types, names_hash(name));
    bool same = number > 0 && strcmp(types->items[number - 1].component->name, name) == 0;
    return same ? number - 1 : BP_NONE;
}

const char *json_types_hint(const json_types_t *types, const char *wanted, text_t *hint)
{
    nearest_t nearest = {.wanted = wanted};
    text_t near;
    for (uint32_t i = 0; i < types->count; i++)
        nearest_consider(&nearest, types->items[i].component->name);
    hint->length = 0;
    text_append(hint, "%s (%s", nearest_hint(&nearest, &near),
                types->count == 0 ? "no plugin with components is loaded" : "there are ");
    for (uint32_t i = 0; i < types->count; i++)
        text_append(hint, "%s%s", i > 0 ? ", " : "", types->items[i].component->name);
    text_append(hint, ")");
    return hint->chars;
}

uint32_t json_types_field(const component_t *component, const char *name)
{
    bp_name_t hash = names_hash(name);
    for (uint32_t i = 0; i < component->field_count; i++) {
        if (component->fields[i].hash == hash)
            return i;
    }
    return BP_NONE;
}

uint32_t json_types_former(const component_t *component, const char *name)
{
    for (uint32_t i = 0; i < component->field_count; i++) {
        if (component->fields[i].former_name[0] != '\0' && strcmp(component->fields[i].former_name, name) == 0)
            return i;
    }
    return BP_NONE;
}

const char *json_types_field_hint(const component_t *component, const char *wanted, text_t *hint)
{
    nearest_t nearest = {.wanted = wanted};
    text_t near;
    for (uint32_t i = 0; i < component->field_count; i++)
        nearest_consider(&nearest, component->fields[i].name);
    hint->length = 0;
    text_append(hint, "%s (it has ", nearest_hint(&nearest, &near));
    for (uint32_t i = 0; i < component->field_count; i++)
        text_append(hint, "%s%s", i > 0 ? ", " : "", component->fields[i].name);
    text_append(hint, "%s)", component->field_count == 0 ? "no properties" : "");
    return hint->chars;
}
