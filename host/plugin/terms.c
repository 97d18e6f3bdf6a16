/* terms.c - terms copied, and their fields found by name. */
#include "terms.h"

#include "../base/error.h"
#include "../base/field.h"
#include "slots.h"

/* --- copies ----------------------------------------------------------------------------------------------------- */

static void free_fields(memory_t *memory, asked_field_t *fields, uint32_t count)
{
    for (uint32_t i = 0; i < count && fields != NULL; i++)
        memory_free_text(memory, fields[i].name);
    memory_free(memory, fields, fields == NULL ? 0 : count * sizeof *fields);
}

void terms_free(memory_t *memory, term_t *terms, uint32_t count)
{
    for (uint32_t i = 0; i < count && terms != NULL; i++) {
        free_fields(memory, terms[i].fields, terms[i].field_count);
        memory_free_text(memory, terms[i].component);
        memory_free_text(memory, terms[i].instance_text);
        memory_free_text(memory, terms[i].world);
    }
    memory_free(memory, terms, terms == NULL ? 0 : count * sizeof *terms);
}

static bp_result_t copy_field(base_t *base, memory_t *memory, const bp_term_field_t *declared, uint32_t number,
                              asked_field_t *field)
{
    error_text_t *error = &base->error;
    const uint32_t known = BP_TERM_FIELD_OPTIONAL | BP_FIELD_LIST;
    if (declared->name == NULL || !names_is_word(declared->name))
        return error_set(error, BP_ERROR_ARGUMENT, "field %u of what it asks for has no proper name", number);
    if (value_size(declared->type) == 0)
        return error_set(error, BP_ERROR_TYPE, "it asks for field '%s' as type %u, which is no type", declared->name,
                         declared->type);
    if ((declared->flags & BP_FLAGS_REQUIRED & ~known) != 0 || declared->access > (BP_READ | BP_WRITE))
        return error_set(error, BP_ERROR_ABI,
                         "it asks for field '%s' with flags 0x%x and access 0x%x, which this host does not know",
                         declared->name, declared->flags, declared->access);
    if (declared->column != 0 && declared->column != number + 1)
        return error_set(error, BP_ERROR_ARGUMENT,
                         "field '%s' is number %u of the list and number %u of its struct of columns; "
                         "bring them into one order",
                         declared->name, number + 1, declared->column);
    *field = (asked_field_t){.name = memory_copy_text(memory, declared->name),
                             .hash = names_hash(declared->name),
                             .type = declared->type,
                             .access = declared->access == 0 ? BP_READ : declared->access,
                             .elements = declared->count > 1 ? declared->count : 0,
                             .list = (declared->flags & BP_FIELD_LIST) != 0,
                             .optional = (declared->flags & BP_TERM_FIELD_OPTIONAL) != 0};
    return field->name != NULL ? BP_OK : error_memory(error, "copying terms");
}

static bp_result_t copy_fields(base_t *base, memory_t *memory, const bp_term_field_list_t *list, term_t *term)
{
    error_text_t *error = &base->error;
    if (list->count == 0)
        return BP_OK;
    if (list->count > TERMS_MAX_ASKED)
        return error_set(error, BP_ERROR_LIMIT, "it asks for %u fields; at most %d are allowed", list->count,
                         TERMS_MAX_ASKED);
    if (list->items == NULL || list->item_size < sizeof(bp_term_field_t))
        return error_set(error, BP_ERROR_ABI, "the list of fields says %u items of %u bytes; use BP_LIST", list->count,
                         list->item_size);
    if ((term->flags & BP_TERM_EXCLUDE) != 0)
        return error_set(error, BP_ERROR_ARGUMENT,
                         "a component that is left out has no columns; ask for no fields of it");
    term->fields = memory_new(memory, list->count * sizeof *term->fields);
    if (term->fields == NULL)
        return error_memory(error, "copying terms");
    term->field_count = list->count;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < list->count && result == BP_OK; i++) {
        bp_term_field_t known;
        memcpy(&known, (const char *)list->items + (size_t)i * list->item_size, sizeof known);
        result = copy_field(base, memory, &known, i, &term->fields[i]);
        for (uint32_t k = 0; k < i && result == BP_OK; k++) {
            if (term->fields[k].hash == term->fields[i].hash)
                result = error_set(error, BP_ERROR_EXISTS, "it asks for field '%s' twice", known.name);
        }
    }
    return result;
}

/* Can these flags stand together? A term with BP_TERM_EXCLUDE may be neither of the world itself nor optional. */
static bool means_something(uint32_t flags)
{
    flags &= ~(uint32_t)BP_TERM_BESIDE;
    return (flags & BP_TERM_EXCLUDE) == 0 || flags == BP_TERM_EXCLUDE;
}

/* A term with BP_TERM_BESIDE, and no other, must name a world, and only reads its fields. */
static bp_result_t check_beside(error_text_t *error, const bp_term_t *declared, const term_t *term)
{
    bool names = declared->world != NULL && declared->world[0] != '\0';
    if (names != ((declared->flags & BP_TERM_BESIDE) != 0))
        return error_set(error, BP_ERROR_ARGUMENT,
                         names ? "it names world '%s' and does not say BP_TERM_BESIDE; set the flag"
                               : "it says BP_TERM_BESIDE and names no world%s; set .world",
                         names ? declared->world : "");
    for (uint32_t i = 0; i < term->field_count && names; i++) {
        if ((term->fields[i].access & BP_WRITE) != 0)
            return error_set(error, BP_ERROR_ARGUMENT,
                             "it writes field '%s' in world '%s', where a system of another world only reads; ask for "
                             "it with BP_READ",
                             term->fields[i].name, declared->world);
    }
    return BP_OK;
}

static bp_result_t copy_term(base_t *base, memory_t *memory, const bp_term_t *declared, term_t *term)
{
    error_text_t *error = &base->error;
    const uint32_t known = BP_TERM_OPTIONAL | BP_TERM_EXCLUDE | BP_TERM_WORLD | BP_TERM_BESIDE;
    if (declared->component == NULL || !names_is_word(declared->component))
        return error_set(error, BP_ERROR_ARGUMENT, "a term names no component");
    if ((declared->flags & BP_FLAGS_REQUIRED & ~known) != 0 || !means_something(declared->flags & known))
        return error_set(error, BP_ERROR_ARGUMENT, "term '%s' has flags 0x%x, which mean nothing together",
                         declared->component, declared->flags);
    const char *instance = declared->instance == NULL ? "" : declared->instance;
    if ((declared->flags & BP_TERM_WORLD) != 0 && instance[0] != '\0')
        return error_set(error, BP_ERROR_ARGUMENT,
                         "term '%s' names instance '%s' of what a world has once; leave the instance out",
                         declared->component, instance);
    bp_result_t result = names_intern(&base->names, instance, &term->instance, error);
    if (result != BP_OK)
        return result;
    term->flags = declared->flags & known;
    term->component = memory_copy_text(memory, declared->component);
    term->instance_text = memory_copy_text(memory, instance);
    term->world = memory_copy_text(memory, declared->world == NULL ? "" : declared->world);
    if (term->component == NULL || term->instance_text == NULL || term->world == NULL)
        return error_memory(error, "copying terms");
    result = copy_fields(base, memory, &declared->fields, term);
    if (result == BP_OK)
        result = check_beside(error, declared, term);
    return result == BP_OK ? BP_OK : error_prefix(error, result, "term '%s': ", declared->component);
}

/* Does a term exclude what another one requires? A term that excludes one instance leaves others of its component. */
static bool contradict(const term_t *required, const term_t *excluded)
{
    return (required->flags & (BP_TERM_OPTIONAL | BP_TERM_EXCLUDE)) == 0 && (excluded->flags & BP_TERM_EXCLUDE) != 0 &&
           strcmp(required->component, excluded->component) == 0 && strcmp(required->world, excluded->world) == 0 &&
           (excluded->instance_text[0] == '\0' || strcmp(required->instance_text, excluded->instance_text) == 0);
}

static bp_result_t check_together(error_text_t *error, const term_t *terms, uint32_t count)
{
    uint32_t asked = 0, of_world = 0, optional = 0, own = 0;
    for (uint32_t i = 0; i < count; i++) {
        asked += terms[i].field_count;
        of_world += (terms[i].flags & (BP_TERM_WORLD | BP_TERM_BESIDE)) == BP_TERM_WORLD;
        optional += (terms[i].flags & (BP_TERM_OPTIONAL | BP_TERM_BESIDE)) == BP_TERM_OPTIONAL;
        own += (terms[i].flags & BP_TERM_BESIDE) == 0;
        for (uint32_t k = 0; k < count; k++) {
            if (contradict(&terms[i], &terms[k]))
                return error_set(error, BP_ERROR_ARGUMENT,
                                 "its terms %u and %u require and exclude '%s', so nothing can ever match; "
                                 "leave one of them out",
                                 i, k, terms[i].component);
        }
    }
    if (of_world == own && optional == own && own > 0)
        return error_set(error, BP_ERROR_ARGUMENT,
                         "all its terms are the world's and optional, so that nothing says when it runs; "
                         "let one of them be required");
    if (asked > TERMS_MAX_ASKED)
        return error_set(error, BP_ERROR_LIMIT, "its terms ask for %u fields; at most %d are allowed", asked,
                         TERMS_MAX_ASKED);
    return BP_OK;
}

bp_result_t terms_copy(base_t *base, memory_t *memory, const bp_term_list_t *list, term_t **terms)
{
    error_text_t *error = &base->error;
    *terms = NULL;
    if (list->count == 0)
        return BP_OK;
    if (list->count > TERMS_MAX)
        return error_set(error, BP_ERROR_LIMIT, "%u terms; at most %d are allowed", list->count, TERMS_MAX);
    if (list->items == NULL || list->item_size < sizeof(bp_term_t))
        return error_set(error, BP_ERROR_ABI, "the list of terms says %u items of %u bytes; use BP_LIST", list->count,
                         list->item_size);
    term_t *copy = memory_new(memory, list->count * sizeof *copy);
    if (copy == NULL)
        return error_memory(error, "copying terms");
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < list->count && result == BP_OK; i++) {
        bp_term_t known;
        memcpy(&known, (const char *)list->items + (size_t)i * list->item_size, sizeof known);
        result = copy_term(base, memory, &known, &copy[i]);
    }
    if (result == BP_OK)
        result = check_together(error, copy, list->count);
    if (result != BP_OK)
        terms_free(memory, copy, list->count);
    else
        *terms = copy;
    return result;
}

/* --- binding ------------------------------------------------------------------------------------------------------ */

static bp_result_t refuse_missing(error_text_t *error, const component_t *component, const asked_field_t *asked)
{
    nearest_t nearest = {.wanted = asked->name};
    text_t hint;
    for (uint32_t i = 0; i < component->field_count; i++) {
        nearest_consider(&nearest, component->fields[i].name);
        if (component->fields[i].former_name[0] != '\0')
            nearest_consider(&nearest, component->fields[i].former_name);
    }
    return error_set(error, BP_ERROR_NOT_FOUND, "it asks for field '%s' of component '%s', which has no such field%s",
                     asked->name, component->name, nearest_hint(&nearest, &hint));
}

/* Has the field the type and the shape that the term asks for? */
static bool is_like(const asked_field_t *asked, const field_t *field)
{
    return asked->type == field->type && asked->elements == field->elements && asked->list == field_is_list(field);
}

static bp_result_t refuse_type(error_text_t *error, const component_t *component, const asked_field_t *asked,
                               const field_t *field)
{
    char wanted[64], is[64];
    return error_set(error, BP_ERROR_TYPE, "it asks for field '%s' of component '%s' as %s, but it is %s", asked->name,
                     component->name, field_shape(asked->type, asked->elements, asked->list, wanted, sizeof wanted),
                     field_shape(field->type, field->elements, field_is_list(field), is, sizeof is));
}

/* Does the term have BP_TERM_WORLD exactly where the component has BP_COMPONENT_WORLD? A loop over rows cannot read a
 * single value, nor the other way round. */
static bp_result_t check_owner(error_text_t *error, const term_t *term, const component_t *component)
{
    bool says = (term->flags & BP_TERM_WORLD) != 0, is = (component->table.flags & BP_COMPONENT_WORLD) != 0;
    if (says == is)
        return BP_OK;
    return error_set(error, BP_ERROR_TYPE,
                     is ? "component '%s' belongs to worlds, and the term asks for it in entities; say BP_TERM_WORLD"
                        : "component '%s' belongs to entities, and the term asks for it in the world; leave out "
                          "BP_TERM_WORLD",
                     component->name);
}

bp_result_t term_bind(error_text_t *error, const term_t *term, const component_t *component, uint16_t *places)
{
    bp_result_t result = check_owner(error, term, component);
    if (result != BP_OK)
        return result;
    if (term->field_count > 0 && component->own_storage)
        return error_set(error, BP_ERROR_TYPE,
                         "it asks for field '%s' of component '%s', which has storage of its own and so no columns; "
                         "ask for no fields of it, and go by slots",
                         term->fields[0].name, component->name);
    for (uint32_t i = 0; i < term->field_count; i++) {
        const asked_field_t *asked = &term->fields[i];
        uint32_t at = component_find_field(component, asked->hash, asked->name);
        if (at == BP_NONE && !asked->optional)
            return refuse_missing(error, component, asked);
        if (at != BP_NONE && !is_like(asked, &component->fields[at]))
            return refuse_type(error, component, asked, &component->fields[at]);
        if (places != NULL)
            places[i] = (uint16_t)(at == BP_NONE ? TERM_ABSENT : at);
    }
    return BP_OK;
}
