/* property.c - from names to cells.
 *
 * A resolved property caches the prototype it met last with the run and column that belong to it; prototypes, runs and
 * column numbers of a world never change while its layout does not, so a hit is one comparison. Batches have a file of
 * their own (batches.c).
 *
 * Writing is all or nothing: range, read-only and every entity are checked before the first cell changes.
 */
#include "property.h"

#include "batches.h"
#include "elements.h"

#include "../base/base.h"
#include "../base/error.h"
#include "../plugin/verbs.h"
#include "../store/hooks.h"

/* --- flags ------------------------------------------------------------------------------------------------------- */

/* In bp_property_t.flags beside those of property.h. */
#define OWN_STORAGE 0x80000000u
#define COUNTED 0x20000000u /* strings and lists; all values with limits but single f32; all where the component is told
                               of what is set */
#define ELEMENT 0x10000000u /* one element of an array or a list */

enum { BLOCK = 128 /* slots of own storage asked for at a time */ };

/* --- resolving --------------------------------------------------------------------------------------------------- */

static bp_result_t find_key_of_entity(world_t *world, bp_entity_t entity, const char *component, uint32_t *key)
{
    uint32_t column;
    if (!entities_is_alive(world->entities, entity))
        return entities_dead_error(world->entities, entity);
    const record_t *record = world_record(world, entity);
    *key = record == NULL ? BP_NONE
                          : prototypes_find_name(&world->prototypes, record->prototype, names_hash(component), &column);
    return *key == BP_NONE ? property_no_component(world, entity, component) : BP_OK;
}

static bp_result_t find_key_of_world(world_t *world, const char *component, uint32_t *key)
{
    const prototypes_t *p = &world->prototypes;
    bp_name_t name = names_hash(component);
    nearest_t nearest = {.wanted = component};
    text_t hint;
    *key = BP_NONE;
    for (uint32_t i = 0; i < p->key_count; i++) {
        if (!world_key_manager(world, i)->started)
            continue;
        nearest_consider(&nearest, names_text(&world->base->names, p->keys[i].name));
        if (p->keys[i].name != name)
            continue;
        if (*key != BP_NONE)
            return error_set(&world->base->error, BP_ERROR_ARGUMENT,
                             "'%s' is a %s in some entities of world '%s' and a %s in others; say which entity",
                             component, world_key_manager(world, *key)->component->name, world->name,
                             world_key_manager(world, i)->component->name);
        *key = i;
    }
    if (*key != BP_NONE)
        return BP_OK;
    return error_set(&world->base->error, BP_ERROR_NOT_FOUND, "no entity of world '%s' has had a component '%s'%s",
                     world->name, component, nearest_hint(&nearest, &hint));
}

static bp_result_t no_such_property(world_t *world, const component_t *component, const char *property)
{
    nearest_t nearest = {.wanted = property};
    text_t hint, known = {.length = 0};
    known.chars[0] = '\0';
    for (uint32_t i = 0; i < component->field_count; i++) {
        nearest_consider(&nearest, component->fields[i].name);
        text_append(&known, "%s%s", i > 0 ? ", " : "", component->fields[i].name);
    }
    return error_set(&world->base->error, BP_ERROR_NOT_FOUND, "no property '%s' in %s%s (it has %s)", property,
                     component->name, nearest_hint(&nearest, &hint), known.length > 0 ? known.chars : "none");
}

/* `number`: that of its line of spots (spots.h). */
static bp_property_t describe_property(const world_t *world, uint32_t key, const component_t *type, uint32_t index,
                                       uint32_t element, uint32_t number)
{
    const field_t *field = &type->fields[index];
    bool whole = element == BP_NONE, single_f32 = field->type == BP_F32 && field->elements == 0;
    bool counted = field_is_counted(field) || (field->limited && !single_f32) || type->rows.rows_set != NULL;
    uint32_t flags = field->flags & 0xffff;
    return (bp_property_t){
        .key = key,
        .field = index,
        .type = field->type,
        .flags = (whole ? flags : flags & ~(uint32_t)BP_FIELD_LIST) | (type->own_storage ? OWN_STORAGE : 0) |
                 (field->limited ? PROPERTY_LIMITED : 0) | (counted ? COUNTED : 0) | (whole ? 0 : ELEMENT),
        .size = whole ? field->size : field_item_size(field),
        .count = !whole || field_is_single(field) ? 1 : field->elements,
        .element = element,
        .padding = number, /* PROPERTY_NUMBER */
        .host.found = {.known = BP_INLINE_LAYOUT,
                       .layout = world->layout,
                       .prototype = BP_NONE,
                       .declared = type->bound[index]},
    };
}

static bp_result_t resolve_in_type(world_t *world, uint32_t key, const char *property, bp_property_t *resolved)
{
    const component_t *type = world_key_manager(world, key)->component;
    char name[64] = "";
    uint32_t element;
    if (!elements_split(property, name, sizeof name, &element))
        return error_set(&world->base->error, BP_ERROR_SYNTAX,
                         "'%.80s' is no property; an element is written like items[3]", property);
    const char *wanted = element == BP_NONE ? property : name;
    uint32_t index = component_find_field(type, names_hash(wanted), wanted);
    if (index == BP_NONE)
        return no_such_property(world, type, wanted);
    bp_result_t result =
        element == BP_NONE ? BP_OK : elements_check(&type->fields[index], element, &world->base->error);
    if (result != BP_OK)
        return result;
    uint32_t number = type->own_storage || element != BP_NONE
                          ? 0
                          : spots_number(&world->spots, &world->memory, key, index, world->prototypes.count);
    *resolved = describe_property(world, key, type, index, element, number);
    return BP_OK;
}

bp_result_t property_resolve(world_t *world, bp_entity_t entity, const char *component, const char *property,
                             bp_property_t *resolved)
{
    uint32_t key;
    bp_result_t result = entity.id == 0 ? find_key_of_world(world, component, &key)
                                        : find_key_of_entity(world, entity, component, &key);
    return result == BP_OK ? resolve_in_type(world, key, property, resolved) : result;
}

/* --- cells ------------------------------------------------------------------------------------------------------- */

/* Resolve a property again, by the name that it was resolved by, after its component has changed. In jobs too, which
 * may not take memory: so it gets a line of spots only where there is one already. */
static bp_result_t follow(world_t *world, bp_property_t *p)
{
    error_text_t *error = &world->base->error;
    if (!world_had_layout(world, p->host.found.layout) || p->host.found.layout == 0)
        return error_set(error, BP_ERROR_ARGUMENT, "the property was not resolved in world '%s'", world->name);
    const known_field_t *was = p->host.found.declared, *now = registry_follow(was);
    const component_t *type = world_key_manager(world, p->key)->component;
    if (now == NULL)
        return error_set(error, BP_ERROR_NOT_FOUND, "property '%s' of %s has gone with a reload", was->name,
                         type->name);
    if (now->field->type != p->type)
        return error_set(error, BP_ERROR_TYPE, "property '%s' of %s has become %s with a reload; resolve it again",
                         now->name, type->name, value_type_name(now->field->type));
    uint32_t number = type->own_storage || p->element != BP_NONE ? 0 : spots_find(&world->spots, p->key, now->index);
    bp_property_t present = describe_property(world, p->key, type, now->index, p->element, number);
    if (p->element == BP_NONE && (present.count != p->count || present.size != p->size))
        return error_set(error, BP_ERROR_TYPE,
                         "property '%s' of %s has another number of values after a reload; resolve it again", now->name,
                         type->name);
    bp_result_t result = p->element == BP_NONE ? BP_OK : elements_check(now->field, p->element, error);
    if (result == BP_OK)
        *p = present;
    return result;
}

bp_result_t property_refresh(world_t *world, bp_property_t *p)
{
    bp_result_t result = p->host.found.layout == world->layout ? BP_OK : follow(world, p);
    if (result == BP_OK && (world->prototypes.keys[p->key].flags & KEY_GONE) != 0)
        result = error_set(&world->base->error, BP_ERROR_NOT_FOUND, "component '%s' has left world '%s'",
                           names_text(&world->base->names, world->prototypes.keys[p->key].name), world->name);
    return result;
}

/* --- own storage: slots first, then the manager ------------------------------------------------------------------- */

static bp_result_t find_slots(world_t *world, const bp_property_t *p, const bp_entity_t *entities, uint32_t count,
                              uint32_t *slots)
{
    uint32_t prototype = 0, column = 0;
    for (uint32_t i = 0; i < count; i++) {
        const record_t *record = world_record(world, entities[i]);
        if (record != NULL && record->prototype != prototype) {
            prototype = record->prototype;
            column = prototypes_column(&world->prototypes, prototype, p->key);
        }
        if (record == NULL || column == 0)
            return property_absent(world, p, entities[i]);
        memcpy(&slots[i], run_cell(world_run(world, prototype), column, record->row), sizeof *slots);
        if (slots[i] == BP_NONE)
            return entities_refuse_making(world->entities, entities[i]);
    }
    return BP_OK;
}

static bp_result_t get_own(world_t *world, const bp_property_t *p, const bp_entity_t *entities, uint32_t count,
                           char *values, size_t stride)
{
    manager_t *manager = world_key_manager(world, p->key);
    uint32_t slots[BLOCK];
    bp_result_t result = BP_OK;
    for (uint32_t done = 0; done < count && result == BP_OK; done += BLOCK) {
        uint32_t n = count - done < BLOCK ? count - done : BLOCK;
        result = find_slots(world, p, entities + done, n, slots);
        if (result == BP_OK)
            result = verb_get(manager->component, &manager->verb, p->field, slots, n, values + done * stride, stride);
    }
    return result;
}

static bp_result_t set_own(world_t *world, const bp_property_t *p, const bp_entity_t *entities, uint32_t count,
                           const char *values, size_t stride)
{
    manager_t *manager = world_key_manager(world, p->key);
    if (manager->component->storage.set == NULL)
        return property_unsettable(world, manager->component);
    uint32_t few[BLOCK], *slots = few;
    if (count > BLOCK)
        slots = memory_resize(&world->memory, NULL, 0, count * sizeof *slots);
    if (slots == NULL)
        return error_memory(&world->base->error, "setting a property");
    bp_result_t result = find_slots(world, p, entities, count, slots);
    if (result == BP_OK)
        result = verb_set(manager->component, &manager->verb, p->field, slots, count, values, stride);
    if (result == BP_OK)
        world_note_slots(world, manager, slots, count);
    if (slots != few)
        memory_free(&world->memory, slots, count * sizeof *slots);
    return result;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

NOT_INLINED static bp_result_t get_thoroughly(world_t *world, bp_property_t *p, const bp_entity_t *entities,
                                              uint32_t count, void *values, size_t stride)
{
    bp_result_t result = property_refresh(world, p);
    if (result != BP_OK)
        return result;
    if ((p->flags & ELEMENT) != 0)
        return elements_get(world, p, property_field(p), entities, count, values, stride);
    if ((p->flags & OWN_STORAGE) != 0)
        return get_own(world, p, entities, count, values, stride);
    if (count == 1) {
        const void *cell = find_cell(world, p, entities[0]);
        if (cell == NULL)
            return property_absent(world, p, entities[0]);
        value_copy(values, cell, p->size);
        return BP_OK;
    }
    return batches_get(world, p, entities, count, values, stride);
}

/* Find the property's column in a prototype, which becomes the one met last, and note the spot. False where the entity
 * lacks the component, or the value lies elsewhere. */
static bool meet(const world_t *world, bp_property_t *p, uint32_t prototype)
{
    column_t at = {.prototype = BP_NONE};
    if ((p->flags & (OWN_STORAGE | ELEMENT)) != 0 || !find_column(world, p, prototype, &at))
        return false;
    spots_note(&world->spots, PROPERTY_NUMBER(p), prototype, (void *const *)&at.run->columns[at.number]);
    return true;
}

/* The cell of a property that is up to date and lies in a column; else NULL. */
static inline void *recall_cell(const world_t *world, bp_property_t *p, bp_entity_t e)
{
    uint32_t prototype;
    const record_t *record = property_record(world, p, e, &prototype);
    if (record == NULL || (prototype != p->host.found.prototype && !meet(world, p, prototype)))
        return NULL;
    return property_known_cell(p, record, p->size);
}

bp_result_t property_get_anew(world_t *world, bp_property_t *p, const bp_entity_t *entity, const record_t *record,
                              void *value)
{
    if (!meet(world, p, record->prototype))
        return get_thoroughly(world, p, entity, 1, value, 4);
    memcpy(value, property_known_cell(p, record, 4), 4);
    return BP_OK;
}

bp_result_t property_get_any(world_t *world, bp_property_t *p, const bp_entity_t *entities, uint32_t count,
                             void *values, size_t stride)
{
    const void *cell = count == 1 ? recall_cell(world, p, entities[0]) : NULL;
    if (cell == NULL)
        return get_thoroughly(world, p, entities, count, values, stride);
    value_copy(values, cell, p->size);
    return BP_OK;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static bp_result_t check_values(world_t *world, const bp_property_t *p, const char *values, size_t stride,
                                uint32_t count)
{
    const field_t *field = property_field(p);
    if ((p->flags & BP_FIELD_READ_ONLY) != 0)
        return error_set(&world->base->error, BP_ERROR_ARGUMENT, "property '%s' is read only", field->name);
    bp_result_t result =
        (p->flags & ELEMENT) != 0 ? BP_OK : field_check_all(field, values, stride, count, &world->base->error);
    return field_in_units(field, world->units, result, &world->base->error);
}

/* A component with rows_set is told of the new values, and may refuse them. */
static bp_result_t set_told(world_t *world, bp_property_t *p, const bp_entity_t *entities, uint32_t count,
                            const char *values, size_t stride)
{
    const field_t *field = property_field(p);
    bp_property_t whole = *p; /* where its cell lies is not noted in `p`: that would be taken for the element's place */
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < count && (p->flags & ELEMENT) != 0 && field->limited && result == BP_OK; i++)
        result = field_check(field, values + i * stride, &world->base->error);
    field_in_units(field, world->units, result, &world->base->error);
    if (result == BP_OK)
        result = batches_check(world, &whole, entities, count);
    return result == BP_OK ? hooks_set(world, p, field, entities, count, values, stride) : result;
}

NOT_INLINED static bp_result_t set_any(world_t *world, bp_property_t *p, const bp_entity_t *entities, uint32_t count,
                                       const void *values, size_t stride)
{
    if (world->hold == WORLD_SEALED)
        return store_refuse_held(world);
    bp_result_t result = property_refresh(world, p);
    if (result == BP_OK)
        result = check_values(world, p, values, stride, count);
    if (result != BP_OK || count == 0)
        return result;
    if (world_key_manager(world, p->key)->component->rows.rows_set != NULL)
        return set_told(world, p, entities, count, values, stride);
    if ((p->flags & ELEMENT) != 0)
        return elements_set(world, p, property_field(p), entities, count, values, stride);
    if ((p->flags & OWN_STORAGE) != 0)
        return set_own(world, p, entities, count, values, stride);
    if (!field_is_counted(property_field(p)))
        return batches_set(world, p, entities, count, values, stride);
    result = batches_check(world, p, entities, count);
    return result == BP_OK ? elements_set_whole(world, p, property_field(p), entities, count, values, stride) : result;
}

bp_result_t property_set_anew(world_t *world, bp_property_t *p, const bp_entity_t *entity, const record_t *record,
                              const void *value)
{
    if (!meet(world, p, record->prototype))
        return set_any(world, p, entity, 1, value, 4);
    memcpy(property_known_cell(p, record, 4), value, 4);
    return BP_OK;
}

/* Set a cell of a world that keeps stamps. */
NOT_INLINED static bp_result_t set_stamped(const world_t *world, bp_property_t *p, bp_entity_t e, void *cell,
                                           const void *value)
{
    const record_t *record = world_record(world, e);
    column_t at = {.prototype = BP_NONE};
    value_copy(cell, value, p->size);
    if (find_column(world, p, record->prototype, &at))
        stamps_note(at.run->stamps, at.number, record->row, 1);
    return BP_OK;
}

bp_result_t property_set(world_t *world, bp_property_t *p, const bp_entity_t *entities, uint32_t count,
                         const void *values, size_t stride)
{
    void *cell = count == 1 ? recall_cell(world, p, entities[0]) : NULL;
    if (cell == NULL || !property_may_copy(p, values, world->care))
        return cell != NULL && property_may_copy(p, values, world->care & ~WORLD_STAMPED)
                   ? set_stamped(world, p, entities[0], cell, values)
                   : set_any(world, p, entities, count, values, stride);
    value_copy(cell, values, p->size);
    return BP_OK;
}

/* --- property named ---------------------------------------------------------------------------------------------- */

/* Properties by two names, in one call.
 *
 * A pair of names is resolved once and then found again in one of two ways: by the addresses of the texts, since most
 * callers pass the same literals again, or by their hashes. The bytes at an address may have changed, so the texts are
 * compared in any case. An entry is good for an entity that has the component by that name in the same place as the one
 * it was resolved for, which is one look at the entity's record; where the entity has not, the names are resolved anew.
 */

enum { PROPERTY_ENTRIES = 128, PROPERTY_RECENT = 64, PROPERTY_TEXT = 64 };

typedef struct property_entry_t {
    bp_name_t component, property;
    bp_property_t resolved;
    char component_text[PROPERTY_TEXT], property_text[PROPERTY_TEXT];
} property_entry_t;

typedef struct property_recent_t {
    const char *component, *property;
    property_entry_t *entry;
} property_recent_t;

typedef struct property_table_t {
    property_entry_t entries[PROPERTY_ENTRIES]; /* by the hashes of the texts */
    property_recent_t recent[PROPERTY_RECENT];  /* by their addresses */
} property_table_t;

static const property_recent_t nothing_recent[PROPERTY_RECENT];

void property_cache_init(property_cache_t *cache, world_t *world)
{
    *cache = (property_cache_t){.world = world, .recent = nothing_recent};
}

void property_cache_free(property_cache_t *cache)
{
    memory_free(&cache->world->memory, cache->table, sizeof *cache->table);
}

#if defined(BACKPLANE_AUDIT)
void property_cache_forget(property_cache_t *cache)
{
    if (cache->table != NULL)
        memset(cache->table->recent, 0, sizeof cache->table->recent);
}
#endif

static bool same_texts(const property_entry_t *entry, const char *component, const char *property)
{
    return strcmp(entry->component_text, component) == 0 && strcmp(entry->property_text, property) == 0;
}

static uint32_t recent_place(const char *component, const char *property)
{
    return ((uintptr_t)component ^ (uintptr_t)property >> 3) & (PROPERTY_RECENT - 1);
}

/* A caller by two names has room for one value. */
static bp_result_t refuse_whole(world_t *world, const char *property, const bp_property_t *p)
{
    const char *type = value_type_name(p->type);
    if ((p->flags & BP_FIELD_LIST) != 0)
        return error_set(&world->base->error, BP_ERROR_TYPE,
                         "property '%s' is a list of %s; resolve it, or name one of its values like %s[0]", property,
                         type, property);
    return error_set(&world->base->error, BP_ERROR_TYPE,
                     "property '%s' is an array of %u %s; resolve it, or name one of them like %s[0]", property,
                     p->count, type, property);
}

/* Resolve through the hashes of the texts, and note the result under the addresses of the texts for the next call. */
static property_entry_t *resolve_texts(const property_cache_t *cache, bp_entity_t entity, const char *component,
                                       const char *property, bp_result_t *result)
{
    world_t *world = cache->world;
    bp_name_t c = names_hash(component), f = names_hash(property);
    property_entry_t *entry = &cache->table->entries[(c ^ f >> 7) & (PROPERTY_ENTRIES - 1)];
    if (entry->component != c || entry->property != f ||
        recall_cell(world, &entry->resolved, entity) == NULL) {
        bp_property_t fresh;
        *result = entity.id == 0 ? entities_dead_error(world->entities, entity)
                                 : property_resolve(world, entity, component, property, &fresh);
        if (*result == BP_OK && !field_is_single(property_field(&fresh)) && fresh.element == BP_NONE)
            *result = refuse_whole(world, property, &fresh);
        if (*result != BP_OK)
            return NULL;
        *entry = (property_entry_t){.component = c, .property = f, .resolved = fresh};
        if ((fresh.flags & (OWN_STORAGE | ELEMENT)) == 0)
            find_cell(world, &entry->resolved, entity);
    }
    if (strlen(component) < PROPERTY_TEXT && strlen(property) < PROPERTY_TEXT) {
        memcpy(entry->component_text, component, strlen(component) + 1);
        memcpy(entry->property_text, property, strlen(property) + 1);
        cache->table->recent[recent_place(component, property)] = (property_recent_t){component, property, entry};
    }
    return entry;
}

NOT_INLINED static void *recall_new_cell(const world_t *world, bp_property_t *p, const record_t *record)
{
    return meet(world, p, record->prototype) ? property_known_cell(p, record, p->size) : NULL;
}

/* Written so that the walk along a prototype's chain is a call at the end: no register has to be kept over it. */
NOT_INLINED static void *recall_other_cell(const world_t *world, bp_property_t *p, const record_t *record,
                                           uint32_t prototype)
{
    void *cell = property_other_cell(world, p, record, prototype, p->size);
    return cell != NULL ? cell : recall_new_cell(world, p, record);
}

/* What was noted under the addresses of two names, if it has the type; or NULL. The texts may be others by now. */
static inline property_entry_t *find_recent(const property_cache_t *cache, const char *component, const char *property,
                                            uint32_t type)
{
    const property_recent_t *recent = &cache->recent[recent_place(component, property)];
    if (recent->component != component || recent->property != property)
        return NULL;
    return recent->entry->resolved.type == type ? recent->entry : NULL;
}

/* The cell of an entity, if the entry is good for it and was noted for the same texts. An entity has the same component
 * under the name where it has the key that the name was resolved to. Texts are compared last, so that few registers
 * have to be saved around the calls that compare them. */
static inline bool find_named_cell(const property_cache_t *cache, property_entry_t *entry, bp_entity_t entity,
                                   const char *component, const char *property, void **cell)
{
    bp_property_t *resolved = &entry->resolved;
    uint32_t prototype;
    const record_t *record = property_record(cache->world, resolved, entity, &prototype);
    if (record == NULL)
        return false;
    if (prototype == resolved->host.found.prototype)
        *cell = property_known_cell(resolved, record, resolved->size);
    else if ((*cell = recall_other_cell(cache->world, resolved, record, prototype)) == NULL)
        return false;
    return same_texts(entry, component, property);
}

/* The property of a pair of names, good for this entity, or NULL with `result`. */
NOT_INLINED static property_entry_t *resolve_named(property_cache_t *cache, bp_entity_t entity, const char *component,
                                                   const char *property, uint32_t type, bp_result_t *result)
{
    world_t *world = cache->world;
    if (cache->table == NULL)
        cache->table = memory_new(&world->memory, sizeof *cache->table);
    if (cache->table == NULL) {
        *result = error_memory(&world->base->error, "resolving a property");
        return NULL;
    }
    cache->recent = cache->table->recent;
    void *cell;
    property_entry_t *entry = find_recent(cache, component, property, type);
    if (entry == NULL || !find_named_cell(cache, entry, entity, component, property, &cell))
        entry = resolve_texts(cache, entity, component, property, result);
    if (entry == NULL || entry->resolved.type == type)
        return entry;
    *result = error_set(&world->base->error, BP_ERROR_TYPE, "property '%s' is a %s, not a %s", property,
                        value_type_name(entry->resolved.type), value_type_name(type));
    return NULL;
}

NOT_INLINED static bp_result_t get_anew(property_cache_t *cache, bp_entity_t entity, const char *component,
                                        const char *property, uint32_t type, void *value)
{
    bp_result_t result = BP_OK;
    property_entry_t *entry = resolve_named(cache, entity, component, property, type, &result);
    return entry == NULL ? result
                         : property_get(cache->world, &entry->resolved, &entity, 1, value, entry->resolved.size);
}

/* Keep in memory the variables that only the slower ways need after the texts have been compared: a register kept over
 * the calls that compare them costs three instructions, memory one. The entry's type is the one asked for, which need
 * not be kept. */
#define KEEP_NAMED(cache, entity, component)          \
    property_cache_t *volatile kept_cache = (cache);  \
    const bp_entity_t volatile kept_entity = (entity); \
    const char *volatile kept_component = (component)

bp_result_t property_get_named(property_cache_t *cache, bp_entity_t entity, const char *component, const char *property,
                               uint32_t type, void *value)
{
    KEEP_NAMED(cache, entity, component);
    void *cell;
    property_entry_t *entry = find_recent(cache, component, property, type);
    if (entry == NULL)
        return get_anew(cache, entity, component, property, type, value);
    if (!find_named_cell(cache, entry, entity, component, property, &cell))
        return get_anew(kept_cache, kept_entity, kept_component, property, entry->resolved.type, value);
    value_copy(value, cell, entry->resolved.size);
    return BP_OK;
}

NOT_INLINED static bp_result_t set_anew(property_cache_t *cache, bp_entity_t entity, const char *component,
                                        const char *property, uint32_t type, const void *value)
{
    bp_result_t result = BP_OK;
    property_entry_t *entry = resolve_named(cache, entity, component, property, type, &result);
    return entry == NULL ? result
                         : property_set(cache->world, &entry->resolved, &entity, 1, value, entry->resolved.size);
}

bp_result_t property_set_named(property_cache_t *cache, bp_entity_t entity, const char *component, const char *property,
                               uint32_t type, const void *value)
{
    KEEP_NAMED(cache, entity, component);
    void *cell;
    property_entry_t *entry = find_recent(cache, component, property, type);
    if (entry == NULL)
        return set_anew(cache, entity, component, property, type, value);
    if (!property_may_copy(&entry->resolved, value, cache->world->care) ||
        !find_named_cell(cache, entry, entity, component, property, &cell))
        return set_anew(kept_cache, kept_entity, kept_component, property, entry->resolved.type, value);
    value_copy(cell, value, entry->resolved.size);
    return BP_OK;
}
