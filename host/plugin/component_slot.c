/* component_slot.c - a component's declaration copied into its slot, and what is known of its fields.
 *
 * A field's name is known for as long as the registry, because keys of properties and systems of other plugins refer to it while
 * the plugin changes its list. So what is known hangs on the slot and only points at the present declaration.
 */
#include "component_slot.h"

/* --- fields --------------------------------------------------------------------------------------------------------- */

static void free_fields(base_t *base, memory_t *memory, field_t *fields, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (fields[i].type == BP_STRING && fields[i].initial.string != NULL)
            strings_release(&base->strings, fields[i].initial.string);
        field_free(&fields[i], memory);
    }
    memory_free(memory, fields, count * sizeof *fields);
}

/* Default strings are counted strings like any other, since rows begin by sharing them. */
static bp_result_t copy_field(base_t *base, memory_t *memory, field_t *field, const void *item, uint32_t item_size)
{
    bp_result_t result = field_init(field, memory, &base->values, item, item_size, &base->error);
    if (result != BP_OK || field->type != BP_STRING)
        return result;
    field->initial.string = strings_acquire(&base->strings, field->initial_text);
    return field->initial.string != NULL ? BP_OK : error_memory(&base->error, "copying declared fields");
}

static bp_result_t copy_fields(base_t *base, memory_t *memory, const bp_field_list_t *list, field_t **fields)
{
    error_text_t *error = &base->error;
    *fields = NULL;
    if (list->count == 0)
        return BP_OK;
    if (list->count > REGISTRY_MAX_FIELDS)
        return error_set(error, BP_ERROR_LIMIT, "%u fields; at most %d are allowed", list->count, REGISTRY_MAX_FIELDS);
    if (list->items == NULL || list->item_size < offsetof(bp_field_t, initial))
        return error_set(error, BP_ERROR_ABI, "the list of fields says %u items of %u bytes; use BP_LIST", list->count,
                         list->item_size);
    field_t *copy = memory_new(memory, list->count * sizeof *copy);
    if (copy == NULL)
        return error_memory(error, "copying declared fields");
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < list->count && result == BP_OK; i++) {
        const char *item = (const char *)list->items + (size_t)i * list->item_size;
        result = copy_field(base, memory, &copy[i], item, list->item_size);
        for (uint32_t j = 0; j < i && result == BP_OK; j++) {
            if (copy[j].hash == copy[i].hash)
                result = error_set(error, BP_ERROR_EXISTS, "two fields are called '%s'", copy[i].name);
        }
    }
    if (result != BP_OK)
        free_fields(base, memory, copy, list->count);
    else
        *fields = copy;
    return result;
}

/* --- what is known of fields ---------------------------------------------------------------------------------------- */

/* The record of a field's name, made where the name is new to the component. */
static known_field_t *know(memory_t *memory, component_t *slot, const field_t *field)
{
    for (uint32_t i = 0; i < slot->known_count; i++) {
        if (slot->known[i]->hash == field->hash)
            return slot->known[i];
    }
    if (!memory_reserve(memory, &slot->known, &slot->known_capacity, slot->known_count + 1u, sizeof *slot->known))
        return NULL;
    known_field_t *known = memory_new(memory, sizeof *known);
    if (known == NULL)
        return NULL;
    known->name = memory_copy_text(memory, field->name);
    known->hash = field->hash;
    if (known->name == NULL) {
        memory_free(memory, known, sizeof *known);
        return NULL;
    }
    slot->known[slot->known_count++] = known;
    return known;
}

static bool bind_fields(memory_t *memory, component_t *slot, const field_t *fields, uint32_t count, known_field_t ***bound)
{
    *bound = NULL;
    if (count == 0)
        return true;
    *bound = memory_new(memory, count * sizeof **bound);
    bool good = *bound != NULL;
    for (uint32_t i = 0; i < count && good; i++) {
        (*bound)[i] = know(memory, slot, &fields[i]);
        good = (*bound)[i] != NULL;
    }
    if (!good)
        memory_free(memory, *bound, *bound == NULL ? 0 : count * sizeof **bound);
    return good;
}

/* What is known of a component's fields follows what it declares now. A field that has gone is known as what says that it was
 * called so, in the list that has come or in the one that has gone. */
void component_know_fields(component_t *slot, const component_t *before)
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

const known_field_t *registry_follow(const known_field_t *field)
{
    for (uint32_t hops = 0; field->field == NULL && field->renamed != NULL && hops < REGISTRY_MAX_FIELDS; hops++)
        field = field->renamed;
    return field->field != NULL ? field : NULL;
}

/* --- the slot ------------------------------------------------------------------------------------------------------- */

bp_result_t component_check(error_text_t *error, const bp_component_i *declared)
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

static void free_component_texts(memory_t *memory, component_t *slot)
{
    memory_free_text(memory, slot->doc);
    memory_free_text(memory, slot->reads);
    memory_free_text(memory, slot->writes);
    slot->doc = slot->reads = slot->writes = NULL;
}

static bool copy_component_texts(memory_t *memory, component_t *slot, const bp_component_i *declared)
{
    slot->doc = memory_copy_text(memory, declared->doc == NULL ? "" : declared->doc);
    slot->reads = memory_copy_text(memory, declared->reads == NULL ? "" : declared->reads);
    slot->writes = memory_copy_text(memory, declared->writes == NULL ? "" : declared->writes);
    return slot->doc != NULL && slot->reads != NULL && slot->writes != NULL;
}

void component_empty(base_t *base, memory_t *memory, component_t *slot)
{
    free_fields(base, memory, slot->fields, slot->field_count);
    memory_free(memory, slot->bound, slot->bound == NULL ? 0 : slot->field_count * sizeof *slot->bound);
    free_component_texts(memory, slot);
    slot->fields = NULL;
    slot->bound = NULL;
    slot->field_count = 0;
    slot->owner = NULL;
    slot->own_storage = false;
    slot->table = (bp_component_i){.name = slot->name};
    for (uint32_t i = 0; i < slot->known_count; i++)
        slot->known[i]->field = NULL;
}

bp_result_t component_declare(base_t *base, memory_t *memory, plugin_t *owner, const bp_component_i *declared, component_t *slot,
                                    component_t *made)
{
    field_t *fields;
    known_field_t **bound = NULL;
    uint32_t count = declared->fields.count;
    bp_result_t result = copy_fields(base, memory, &declared->fields, &fields);
    if (result != BP_OK)
        return result;
    made->name = slot->name;
    if (!copy_component_texts(memory, made, declared) || !bind_fields(memory, slot, fields, count, &bound)) {
        free_fields(base, memory, fields, count);
        free_component_texts(memory, made);
        return error_memory(&base->error, "registering a component");
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

component_t *component_new(memory_t *memory, const char *name)
{
    component_t *slot = memory_new(memory, sizeof *slot);
    if (slot == NULL)
        return NULL;
    slot->name = memory_copy_text(memory, name);
    if (slot->name != NULL)
        return slot;
    memory_free(memory, slot, sizeof *slot);
    return NULL;
}

void component_free(base_t *base, memory_t *memory, component_t *slot)
{
    component_empty(base, memory, slot);
    for (uint32_t i = 0; i < slot->known_count; i++) {
        memory_free_text(memory, slot->known[i]->name);
        memory_free(memory, slot->known[i], sizeof(known_field_t));
    }
    memory_free(memory, slot->known, slot->known_capacity * sizeof *slot->known);
    memory_free_text(memory, slot->name);
    memory_free(memory, slot, sizeof *slot);
}
