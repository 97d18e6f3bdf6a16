/* registry.c - filling, finding and sweeping slots.
 *
 * Slots are separate allocations behind arrays of pointers: an array may grow, a slot never moves. Everything that a
 * plugin declares is checked and copied before its slot changes, so that a refused declaration leaves the slot as it
 * was, and nothing but function addresses points into the image afterwards.
 *
 * The do-nothing entries of a table that has lost its owner are one function that returns zero; it stands in for
 * entries of any type because a caller passes and cleans up all arguments itself on the platforms we know, and because
 * results are void, integers or pointers (bp_api.h).
 */
#include "registry_inner.h"

#include "../base/text.h"

void registry_init(registry_t *registry, base_t *base)
{
    memset(registry, 0, sizeof *registry);
    memory_init_child(&registry->memory, "registry", &base->memory);
    registry->base = base;
}

/* --- finding: the slot of a name, filled or not --------------------------------------------------------------- */

component_t *registry_component_slot(const registry_t *registry, const char *name)
{
    for (uint32_t i = 0; i < registry->component_count; i++) {
        if (strcmp(registry->components[i]->name, name) == 0)
            return registry->components[i];
    }
    return NULL;
}

system_t *registry_system_slot(const registry_t *registry, const char *name)
{
    for (uint32_t i = 0; i < registry->system_count; i++) {
        if (strcmp(registry->systems[i]->name, name) == 0)
            return registry->systems[i];
    }
    return NULL;
}

/* --- components ---------------------------------------------------------------------------------------------- */

static void free_fields(registry_t *registry, field_t *fields, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (fields[i].type == BP_STRING && fields[i].initial.string != NULL)
            strings_release(&registry->base->strings, fields[i].initial.string);
        field_free(&fields[i], &registry->memory);
    }
    memory_free(&registry->memory, fields, count * sizeof *fields);
}

/* Default strings are counted strings like any other, since rows begin by sharing them. */
static bp_result_t copy_field(registry_t *registry, field_t *field, const void *item, uint32_t item_size)
{
    bp_result_t result = field_init(field, &registry->memory, &registry->base->values, item, item_size, &registry->base->error);
    if (result != BP_OK || field->type != BP_STRING)
        return result;
    field->initial.string = strings_acquire(&registry->base->strings, field->initial_text);
    return field->initial.string != NULL ? BP_OK : error_memory(&registry->base->error, "copying declared fields");
}

static bp_result_t copy_fields(registry_t *registry, const bp_field_list_t *list, field_t **fields)
{
    error_text_t *error = &registry->base->error;
    *fields = NULL;
    if (list->count == 0)
        return BP_OK;
    if (list->count > REGISTRY_MAX_FIELDS)
        return error_set(error, BP_ERROR_LIMIT, "%u fields; at most %d are allowed", list->count, REGISTRY_MAX_FIELDS);
    if (list->items == NULL || list->item_size < offsetof(bp_field_t, initial))
        return error_set(error, BP_ERROR_ABI, "the list of fields says %u items of %u bytes; use BP_LIST", list->count,
                         list->item_size);
    field_t *copy = memory_new(&registry->memory, list->count * sizeof *copy);
    if (copy == NULL)
        return error_memory(error, "copying declared fields");
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < list->count && result == BP_OK; i++) {
        const char *item = (const char *)list->items + (size_t)i * list->item_size;
        result = copy_field(registry, &copy[i], item, list->item_size);
        for (uint32_t j = 0; j < i && result == BP_OK; j++) {
            if (copy[j].hash == copy[i].hash)
                result = error_set(error, BP_ERROR_EXISTS, "two fields are called '%s'", copy[i].name);
        }
    }
    if (result != BP_OK)
        free_fields(registry, copy, list->count);
    else
        *fields = copy;
    return result;
}

static bp_result_t check_component(error_text_t *error, const bp_component_i *declared)
{
    uint32_t known = BP_COMPONENT_OWN_STORAGE | BP_COMPONENT_AT_ONCE | BP_COMPONENT_PARALLEL | BP_COMPONENT_SINGLE |
                     BP_COMPONENT_CONCURRENT;
    bool own = (declared->flags & BP_COMPONENT_OWN_STORAGE) != 0;
    if ((declared->flags & ~known) != 0)
        return error_set(error, BP_ERROR_ABI, "unknown flags 0x%x", declared->flags & ~known);
    if (own && (declared->create == NULL || declared->destroy == NULL || declared->count == NULL))
        return error_set(error, BP_ERROR_ARGUMENT, "own storage needs the verbs create, destroy and count");
    if (own && declared->fields.count > 0 && declared->get == NULL)
        return error_set(error, BP_ERROR_ARGUMENT, "own storage with properties needs the verb get");
    if (!own && (declared->create != NULL || declared->destroy != NULL || declared->get != NULL || declared->gc != NULL))
        return error_set(error, BP_ERROR_ARGUMENT, "storage verbs are set, but BP_COMPONENT_OWN_STORAGE is not");
    return BP_OK;
}

component_t *registry_new_component_slot(registry_t *registry, const char *name)
{
    if (!memory_reserve(&registry->memory, &registry->components, &registry->component_capacity,
                        registry->component_count + 1u, sizeof *registry->components))
        return NULL;
    component_t *slot = memory_new(&registry->memory, sizeof *slot);
    if (slot == NULL)
        return NULL;
    slot->name = memory_copy_text(&registry->memory, name);
    if (slot->name == NULL) {
        memory_free(&registry->memory, slot, sizeof *slot);
        return NULL;
    }
    registry->components[registry->component_count++] = slot;
    return slot;
}

static void free_component_texts(registry_t *registry, component_t *slot)
{
    memory_free_text(&registry->memory, slot->doc);
    memory_free_text(&registry->memory, slot->reads);
    memory_free_text(&registry->memory, slot->writes);
    slot->doc = slot->reads = slot->writes = NULL;
}

static bool copy_component_texts(registry_t *registry, component_t *slot, const bp_component_i *declared)
{
    slot->doc = memory_copy_text(&registry->memory, declared->doc == NULL ? "" : declared->doc);
    slot->reads = memory_copy_text(&registry->memory, declared->reads == NULL ? "" : declared->reads);
    slot->writes = memory_copy_text(&registry->memory, declared->writes == NULL ? "" : declared->writes);
    return slot->doc != NULL && slot->reads != NULL && slot->writes != NULL;
}

void registry_empty_component(registry_t *registry, component_t *slot)
{
    free_fields(registry, slot->fields, slot->field_count);
    memory_free(&registry->memory, slot->bound, slot->bound == NULL ? 0 : slot->field_count * sizeof *slot->bound);
    free_component_texts(registry, slot);
    slot->fields = NULL;
    slot->bound = NULL;
    slot->field_count = 0;
    slot->owner = NULL;
    slot->own_storage = false;
    slot->table = (bp_component_i){.name = slot->name};
    for (uint32_t i = 0; i < slot->known_count; i++)
        slot->known[i]->field = NULL;
}

/* The record of a field's name, made where the name is new to the component. */
static known_field_t *know(registry_t *registry, component_t *slot, const field_t *field)
{
    for (uint32_t i = 0; i < slot->known_count; i++) {
        if (slot->known[i]->hash == field->hash)
            return slot->known[i];
    }
    if (!memory_reserve(&registry->memory, &slot->known, &slot->known_capacity, slot->known_count + 1u, sizeof *slot->known))
        return NULL;
    known_field_t *known = memory_new(&registry->memory, sizeof *known);
    if (known == NULL)
        return NULL;
    known->name = memory_copy_text(&registry->memory, field->name);
    known->hash = field->hash;
    if (known->name == NULL) {
        memory_free(&registry->memory, known, sizeof *known);
        return NULL;
    }
    slot->known[slot->known_count++] = known;
    return known;
}

static bool bind_fields(registry_t *registry, component_t *slot, const field_t *fields, uint32_t count, known_field_t ***bound)
{
    *bound = NULL;
    if (count == 0)
        return true;
    *bound = memory_new(&registry->memory, count * sizeof **bound);
    bool good = *bound != NULL;
    for (uint32_t i = 0; i < count && good; i++) {
        (*bound)[i] = know(registry, slot, &fields[i]);
        good = (*bound)[i] != NULL;
    }
    if (!good)
        memory_free(&registry->memory, *bound, *bound == NULL ? 0 : count * sizeof **bound);
    return good;
}

/* What is known of a component's fields follows what it declares now. A field that has gone is known as what says that it was
 * called so, in the list that has come or in the one that has gone. */
void registry_know_fields(component_t *slot, const component_t *before)
{
    for (uint32_t i = 0; i < slot->known_count; i++)
        slot->known[i]->field = NULL;
    for (uint32_t i = 0; i < slot->field_count; i++) {
        slot->bound[i]->field = &slot->fields[i];
        slot->bound[i]->index = i;
        slot->bound[i]->renamed = NULL;
    }
    for (uint32_t i = 0; i < slot->known_count; i++) {
        known_field_t *gone = slot->known[i];
        for (uint32_t f = 0; f < slot->field_count && gone->field == NULL; f++) {
            if (strcmp(slot->fields[f].former_name, gone->name) == 0)
                gone->renamed = slot->bound[f];
        }
    }
    for (uint32_t f = 0; before != NULL && f < before->field_count; f++) {
        for (uint32_t i = 0; i < slot->field_count && before->bound[f]->field == NULL; i++) {
            if (strcmp(before->fields[f].former_name, slot->fields[i].name) == 0)
                before->bound[f]->renamed = slot->bound[i];
        }
    }
}

bp_result_t registry_make_component(registry_t *registry, plugin_t *owner, const bp_component_i *declared, component_t *slot,
                                    component_t *made)
{
    field_t *fields;
    known_field_t **bound = NULL;
    uint32_t count = declared->fields.count;
    bp_result_t result = copy_fields(registry, &declared->fields, &fields);
    if (result != BP_OK)
        return result;
    made->name = slot->name;
    if (!copy_component_texts(registry, made, declared) || !bind_fields(registry, slot, fields, count, &bound)) {
        free_fields(registry, fields, count);
        free_component_texts(registry, made);
        return error_memory(&registry->base->error, "registering a component");
    }
    made->table = *declared;
    made->table.name = made->name;
    made->table.doc = made->doc;
    made->table.reads = made->reads;
    made->table.writes = made->writes;
    made->table.fields = (bp_field_list_t){0};
    made->owner = owner;
    made->fields = fields;
    made->bound = bound;
    made->field_count = count;
    made->own_storage = (declared->flags & BP_COMPONENT_OWN_STORAGE) != 0;
    return BP_OK;
}

bp_result_t registry_component_place(registry_t *registry, const plugin_t *owner, const char *name, component_t **slot)
{
    error_text_t *error = &registry->base->error;
    *slot = registry_component_slot(registry, name);
    if (*slot != NULL && (*slot)->owner != NULL && (*slot)->owner != owner)
        return error_set(error, BP_ERROR_EXISTS, "plugin '%s' already brings a component of that name", plugin_name((*slot)->owner));
    if (registry_system_slot(registry, name) != NULL)
        return error_set(error, BP_ERROR_EXISTS, "a system has that name");
    if (*slot == NULL)
        *slot = registry_new_component_slot(registry, name);
    return *slot != NULL ? BP_OK : error_memory(error, "registering a component");
}

static bp_result_t fill_component(registry_t *registry, plugin_t *owner, const bp_component_i *declared)
{
    component_t *slot;
    bp_result_t result = registry_component_place(registry, NULL, declared->name, &slot);
    if (result != BP_OK)
        return result;
    result = registry_make_component(registry, owner, declared, slot, slot);
    if (result == BP_OK)
        registry_know_fields(slot, NULL);
    return result;
}

static bp_result_t check_name(registry_t *registry, const char *kind, const char *name, uint32_t item_size, size_t least)
{
    if (item_size < least)
        return error_set(&registry->base->error, BP_ERROR_ABI, "a %s of %u bytes is too small; use BP_LIST", kind, item_size);
    if (name == NULL || !names_is_word(name))
        return error_set(&registry->base->error, BP_ERROR_ARGUMENT, "a %s's name must be 1 to 63 letters, digits or underscores, not '%.40s'",
                         kind, name == NULL ? "" : name);
    return BP_OK;
}

bp_result_t registry_add_component(registry_t *registry, plugin_t *owner, const bp_component_i *declared,
                                   uint32_t item_size)
{
    bp_component_i known = {0};
    memcpy(&known, declared, item_size < sizeof known ? item_size : sizeof known);
    bp_result_t result = check_name(registry, "component", known.name, item_size, offsetof(bp_component_i, create));
    if (result != BP_OK)
        return result;
    registry_set_t *set = plugin_replacement(owner);
    result = check_component(&registry->base->error, &known);
    if (result == BP_OK)
        result = set != NULL ? registry_replace_component(registry, set, &known) : fill_component(registry, owner, &known);
    return result == BP_OK ? BP_OK : error_prefix(&registry->base->error, result, "component '%s': ", known.name);
}

/* --- systems --------------------------------------------------------------------------------------------------- */

static void free_terms(registry_t *registry, term_t *terms, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t expected = terms[i].expected_count;
        memory_free(&registry->memory, terms[i].expected, terms[i].expected == NULL ? 0 : expected * sizeof *terms[i].expected);
        memory_free(&registry->memory, terms[i].order, terms[i].order == NULL ? 0 : expected);
        memory_free_text(&registry->memory, terms[i].component);
        memory_free_text(&registry->memory, terms[i].instance_text);
    }
    memory_free(&registry->memory, terms, count * sizeof *terms);
}

static bp_result_t copy_term(registry_t *registry, term_t *term, const bp_term_t *declared)
{
    error_text_t *error = &registry->base->error;
    uint32_t known = BP_TERM_WRITE | BP_TERM_OPTIONAL | BP_TERM_EXCLUDE;
    if (declared->component == NULL || !names_is_word(declared->component))
        return error_set(error, BP_ERROR_ARGUMENT, "a term names no component");
    if ((declared->flags & ~known) != 0 || (declared->flags & known) == (BP_TERM_EXCLUDE | BP_TERM_OPTIONAL))
        return error_set(error, BP_ERROR_ARGUMENT, "term '%s' has flags 0x%x, which mean nothing together", declared->component,
                         declared->flags);
    const char *instance = declared->instance == NULL ? "" : declared->instance;
    bp_result_t result = names_intern(&registry->base->names, instance, &term->instance, error);
    if (result != BP_OK)
        return result;
    term->flags = declared->flags;
    term->component = memory_copy_text(&registry->memory, declared->component);
    term->instance_text = memory_copy_text(&registry->memory, instance);
    if (term->component == NULL || term->instance_text == NULL)
        return error_memory(error, "registering a system");
    return BP_OK;
}

static bp_result_t copy_terms(registry_t *registry, const bp_term_list_t *list, term_t **terms)
{
    error_text_t *error = &registry->base->error;
    *terms = NULL;
    if (list->count == 0)
        return BP_OK;
    if (list->count > REGISTRY_MAX_TERMS)
        return error_set(error, BP_ERROR_LIMIT, "%u terms; at most %d are allowed", list->count, REGISTRY_MAX_TERMS);
    if (list->items == NULL || list->item_size < offsetof(bp_term_t, padding))
        return error_set(error, BP_ERROR_ABI, "the list of terms says %u items of %u bytes; use BP_LIST", list->count,
                         list->item_size);
    term_t *copy = memory_new(&registry->memory, list->count * sizeof *copy);
    if (copy == NULL)
        return error_memory(error, "registering a system");
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < list->count && result == BP_OK; i++) {
        const char *item = (const char *)list->items + (size_t)i * list->item_size;
        result = copy_term(registry, &copy[i], (const bp_term_t *)(const void *)item);
    }
    if (result != BP_OK)
        free_terms(registry, copy, list->count);
    else
        *terms = copy;
    return result;
}

static void free_system_texts(registry_t *registry, system_t *slot)
{
    free_terms(registry, slot->terms, slot->term_count);
    memory_free_text(&registry->memory, slot->doc);
    memory_free_text(&registry->memory, slot->before);
    memory_free_text(&registry->memory, slot->after);
    memory_free_text(&registry->memory, slot->reads);
    memory_free_text(&registry->memory, slot->writes);
    slot->terms = NULL;
    slot->term_count = 0;
    slot->doc = slot->before = slot->after = slot->reads = slot->writes = NULL;
}

void registry_empty_system(registry_t *registry, system_t *slot)
{
    free_system_texts(registry, slot);
    slot->owner = NULL;
    slot->table = (bp_system_i){.name = slot->name};
}

static bool copy_system_texts(registry_t *registry, system_t *slot, const bp_system_i *declared)
{
    slot->doc = memory_copy_text(&registry->memory, declared->doc == NULL ? "" : declared->doc);
    slot->before = memory_copy_text(&registry->memory, declared->before == NULL ? "" : declared->before);
    slot->after = memory_copy_text(&registry->memory, declared->after == NULL ? "" : declared->after);
    slot->reads = memory_copy_text(&registry->memory, declared->reads == NULL ? "" : declared->reads);
    slot->writes = memory_copy_text(&registry->memory, declared->writes == NULL ? "" : declared->writes);
    return slot->doc != NULL && slot->before != NULL && slot->after != NULL && slot->reads != NULL && slot->writes != NULL;
}

system_t *registry_new_system_slot(registry_t *registry, const char *name)
{
    if (!memory_reserve(&registry->memory, &registry->systems, &registry->system_capacity,
                        registry->system_count + 1u, sizeof *registry->systems))
        return NULL;
    system_t *slot = memory_new(&registry->memory, sizeof *slot);
    if (slot == NULL)
        return NULL;
    slot->name = memory_copy_text(&registry->memory, name);
    if (slot->name == NULL) {
        memory_free(&registry->memory, slot, sizeof *slot);
        return NULL;
    }
    registry->systems[registry->system_count++] = slot;
    return slot;
}

static bp_result_t check_system(error_text_t *error, const bp_system_i *declared)
{
    if ((declared->run == NULL) == (declared->run_all == NULL))
        return error_set(error, BP_ERROR_ARGUMENT, "exactly one of run and run_all must be set");
    if (declared->terms.count == 0 && declared->run != NULL)
        return error_set(error, BP_ERROR_ARGUMENT, "run needs terms; a system without terms has run_all");
    uint32_t known = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT | BP_SYSTEM_COMMANDS_FIRST;
    if ((declared->flags & ~known) != 0)
        return error_set(error, BP_ERROR_ABI, "unknown flags 0x%x", declared->flags & ~known);
    if (declared->terms.count == 0 && (declared->entities_added != NULL || declared->entities_removed != NULL))
        return error_set(error, BP_ERROR_ARGUMENT, "entities_added and entities_removed need terms to match");
    return BP_OK;
}

bp_result_t registry_system_place(registry_t *registry, const plugin_t *owner, const char *name, system_t **slot)
{
    error_text_t *error = &registry->base->error;
    *slot = registry_system_slot(registry, name);
    if (*slot != NULL && (*slot)->owner != NULL && (*slot)->owner != owner)
        return error_set(error, BP_ERROR_EXISTS, "plugin '%s' already brings a system of that name", plugin_name((*slot)->owner));
    if (registry_component_slot(registry, name) != NULL)
        return error_set(error, BP_ERROR_EXISTS, "a component has that name");
    if (*slot == NULL)
        *slot = registry_new_system_slot(registry, name);
    return *slot != NULL ? BP_OK : error_memory(error, "registering a system");
}

bp_result_t registry_make_system(registry_t *registry, plugin_t *owner, const bp_system_i *declared, const system_t *slot,
                                 system_t *made)
{
    made->name = slot->name;
    bp_result_t result = copy_terms(registry, &declared->terms, &made->terms);
    made->term_count = made->terms == NULL ? 0 : declared->terms.count;
    if (result == BP_OK && !copy_system_texts(registry, made, declared))
        result = error_memory(&registry->base->error, "registering a system");
    if (result != BP_OK) {
        registry_empty_system(registry, made);
        return result;
    }
    made->table = *declared;
    made->table.name = made->name;
    made->table.doc = made->doc;
    made->table.before = made->before;
    made->table.after = made->after;
    made->table.reads = made->reads;
    made->table.writes = made->writes;
    made->table.terms = (bp_term_list_t){0};
    made->owner = owner;
    return BP_OK;
}

static bp_result_t fill_system(registry_t *registry, plugin_t *owner, const bp_system_i *declared)
{
    system_t *slot;
    bp_result_t result = registry_system_place(registry, NULL, declared->name, &slot);
    return result != BP_OK ? result : registry_make_system(registry, owner, declared, slot, slot);
}

bp_result_t registry_add_system(registry_t *registry, plugin_t *owner, const bp_system_i *declared, uint32_t item_size)
{
    bp_system_i known = {0};
    memcpy(&known, declared, item_size < sizeof known ? item_size : sizeof known);
    bp_result_t result = check_name(registry, "system", known.name, item_size, offsetof(bp_system_i, before));
    if (result != BP_OK)
        return result;
    registry_set_t *set = plugin_replacement(owner);
    result = check_system(&registry->base->error, &known);
    if (result == BP_OK)
        result = set != NULL ? registry_replace_system(registry, set, &known) : fill_system(registry, owner, &known);
    return result == BP_OK ? BP_OK : error_prefix(&registry->base->error, result, "system '%s': ", known.name);
}

/* --- tables ------------------------------------------------------------------------------------------------------ */

uint64_t registry_answer_zero(void)
{
    return 0;
}

table_slot_t *registry_table_slot(const registry_t *registry, const char *name)
{
    for (uint32_t i = 0; i < registry->table_count; i++) {
        if (strcmp(registry->tables[i]->name, name) == 0)
            return registry->tables[i];
    }
    return NULL;
}

void registry_free_table_slot(registry_t *registry, table_slot_t *slot)
{
    memory_free_text(&registry->memory, slot->name);
    memory_free(&registry->memory, slot->table, slot->size);
    memory_free(&registry->memory, slot, sizeof *slot);
}

table_slot_t *registry_new_table_slot(registry_t *registry, const char *name, uint32_t size)
{
    if (!memory_reserve(&registry->memory, &registry->tables, &registry->table_capacity, registry->table_count + 1u,
                        sizeof *registry->tables))
        return NULL;
    table_slot_t *slot = memory_new(&registry->memory, sizeof *slot);
    if (slot == NULL)
        return NULL;
    slot->size = size < REGISTRY_TABLE_ROOM ? REGISTRY_TABLE_ROOM : size;
    slot->name = memory_copy_text(&registry->memory, name);
    slot->table = memory_new(&registry->memory, slot->size);
    if (slot->name == NULL || slot->table == NULL) {
        registry_free_table_slot(registry, slot);
        return NULL;
    }
    registry->tables[registry->table_count++] = slot;
    return slot;
}

bp_result_t registry_offer(registry_t *registry, plugin_t *owner, const char *name, const void *table)
{
    error_text_t *error = &registry->base->error;
    uint32_t size;
    memcpy(&size, table, sizeof size);
    if (size < 8 || size % 8 != 0 || size > REGISTRY_MAX_TABLE)
        return error_set(error, BP_ERROR_ABI, "table '%s' says it has %u bytes; struct_size must be its sizeof", name, size);
    table_slot_t *slot = registry_table_slot(registry, name);
    if (slot != NULL && slot->owner != NULL && slot->owner != owner)
        return error_set(error, BP_ERROR_EXISTS, "plugin '%s' already offers a table '%s'", plugin_name(slot->owner), name);
    if (slot != NULL && slot->size < size)
        return error_set(error, BP_ERROR_LIMIT, "table '%s' has grown to %u bytes; its slot holds %zu", name, size, slot->size);
    if (slot == NULL)
        slot = registry_new_table_slot(registry, name, size);
    if (slot == NULL)
        return error_memory(error, "offering a table");
    registry_set_t *set = plugin_replacement(owner);
    if (set != NULL)
        return registry_replace_table(registry, set, slot, table);
    memcpy(slot->table, table, size);
    slot->owner = owner;
    return BP_OK;
}

/* Entries become do-nothing; size and version stay, so that whoever holds the slot reads a table of the same form. */
void registry_empty_table(table_slot_t *slot)
{
    uint64_t (*stub)(void) = registry_answer_zero;
    slot->owner = NULL;
    for (size_t at = 8; at + sizeof stub <= slot->table[0]; at += sizeof stub)
        memcpy((char *)slot->table + at, &stub, sizeof stub);
}

const void *registry_table(registry_t *registry, const char *name, uint32_t version)
{
    const table_slot_t *slot = registry_table_slot(registry, name);
    if (slot != NULL && slot->promised != 0 && slot->promised >= version)
        return slot->table;
    return slot != NULL && slot->owner != NULL && slot->table[1] >= version ? slot->table : NULL;
}

plugin_t *registry_table_owner(const registry_t *registry, const char *name)
{
    const table_slot_t *slot = registry_table_slot(registry, name);
    return slot == NULL ? NULL : slot->owner;
}

void registry_silence_tables(registry_t *registry, const plugin_t *owner)
{
    for (uint32_t i = 0; i < registry->table_count; i++) {
        if (registry->tables[i]->owner == owner)
            registry_empty_table(registry->tables[i]);
    }
}

/* --- all --------------------------------------------------------------------------------------------------------- */

void registry_sweep(registry_t *registry, const plugin_t *owner)
{
    for (uint32_t i = 0; i < registry->component_count; i++) {
        if (registry->components[i]->owner == owner)
            registry_empty_component(registry, registry->components[i]);
    }
    for (uint32_t i = 0; i < registry->system_count; i++) {
        if (registry->systems[i]->owner == owner)
            registry_empty_system(registry, registry->systems[i]);
    }
    registry_silence_tables(registry, owner);
}

component_t *registry_component(registry_t *registry, const char *name)
{
    component_t *slot = registry_component_slot(registry, name);
    if (slot != NULL && slot->owner != NULL)
        return slot;
    nearest_t nearest = {.wanted = name};
    text_t hint;
    for (uint32_t i = 0; i < registry->component_count; i++) {
        if (registry->components[i]->owner != NULL)
            nearest_consider(&nearest, registry->components[i]->name);
    }
    error_set(&registry->base->error, BP_ERROR_NOT_FOUND, "no loaded plugin brings a component '%s'%s", name,
              nearest_hint(&nearest, &hint));
    return NULL;
}

system_t *registry_system(registry_t *registry, const char *name)
{
    system_t *slot = registry_system_slot(registry, name);
    if (slot != NULL && slot->owner != NULL)
        return slot;
    nearest_t nearest = {.wanted = name};
    text_t hint;
    for (uint32_t i = 0; i < registry->system_count; i++) {
        if (registry->systems[i]->owner != NULL)
            nearest_consider(&nearest, registry->systems[i]->name);
    }
    error_set(&registry->base->error, BP_ERROR_NOT_FOUND, "no loaded plugin brings a system '%s'%s", name,
              nearest_hint(&nearest, &hint));
    return NULL;
}

static void free_known(registry_t *registry, component_t *slot)
{
    for (uint32_t i = 0; i < slot->known_count; i++) {
        memory_free_text(&registry->memory, slot->known[i]->name);
        memory_free(&registry->memory, slot->known[i], sizeof(known_field_t));
    }
    memory_free(&registry->memory, slot->known, slot->known_capacity * sizeof *slot->known);
}

void registry_free(registry_t *registry)
{
    memory_t *memory = &registry->memory;
    for (uint32_t i = 0; i < registry->component_count; i++) {
        registry_empty_component(registry, registry->components[i]);
        free_known(registry, registry->components[i]);
        memory_free_text(memory, registry->components[i]->name);
        memory_free(memory, registry->components[i], sizeof(component_t));
    }
    for (uint32_t i = 0; i < registry->system_count; i++) {
        registry_empty_system(registry, registry->systems[i]);
        memory_free_text(memory, registry->systems[i]->name);
        memory_free(memory, registry->systems[i], sizeof(system_t));
    }
    for (uint32_t i = 0; i < registry->table_count; i++)
        registry_free_table_slot(registry, registry->tables[i]);
    memory_free(memory, registry->components, registry->component_capacity * sizeof *registry->components);
    memory_free(memory, registry->systems, registry->system_capacity * sizeof *registry->systems);
    memory_free(memory, registry->tables, registry->table_capacity * sizeof *registry->tables);
}
